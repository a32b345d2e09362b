/* Instructions of one turn of an agent after TURNS of history: a question, a
 * call, its result and an answer, over a transport in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolcall.h"

static const char asks[] =
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
    "null,\"tool_calls\":[{\"id\":\"call_0123456789abcdefghijklmn\",\"type\":"
    "\"function\",\"function\":{\"name\":\"set_lamp\",\"arguments\":"
    "\"{\\\"room\\\":\\\"kitchen\\\",\\\"level\\\":70}\"}}]},\"finish_reason\":"
    "\"tool_calls\"}]}";
static const char says[] =
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
    "\"The lamp in the kitchen shines at the level that you asked for. Is there "
    "anything else that I can do for you?\"},\"finish_reason\":\"stop\"}]}";

static const char *answer;
static size_t read_at;

static int set_lamp(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    return tcall_write_text(out, "done: the lamp in the kitchen is on");
}

static int net_open(void *user, const tcall_request *req, tcall_response *res)
{
    (void)user, (void)req;
    res->status = 200;
    answer = answer == asks ? says : asks;
    read_at = 0;
    return TCALL_OK;
}

static int net_write(void *user, const char *bytes, size_t len)
{
    (void)user, (void)bytes;
    return (int)len;
}

static int net_read(void *user, char *bytes, size_t cap)
{
    size_t left = strlen(answer) - read_at;
    (void)user;
    left = left < cap ? left : cap;
    memcpy(bytes, answer + read_at, left);
    read_at += left;
    return (int)left;
}

static void net_close(void *user)
{
    (void)user;
}

/* What callgrind counts. */
int region(tcall_agent *agent);
int region(tcall_agent *agent)
{
    return tcall_agent_run(
        agent, tcall_str_of("please switch on the lamp in the kitchen"));
}

/* The same, which it does not. */
static int turn(tcall_agent *agent)
{
    return tcall_agent_run(
        agent, tcall_str_of("please switch on the lamp in the kitchen"));
}

int main(int argc, char **argv)
{
    static const tcall_tool tools[] = {
        {.name = "set_lamp",
         .description = "Set the lamp of a room.",
         .parameters = TCALL_JSON({
             "type" : "object",
             "required" : [ "room", "level" ],
             "properties" : {
                 "room" : {"type" : "string"},
                 "level" : {"type" : "integer", "minimum" : 0, "maximum" : 100}
             }
         }),
         .run = set_lamp,
         .permissions = TCALL_READ},
    };
    static char block[1 << 20];
    static tcall tc;
    static tcall_agent agent;
    const tcall_desc desc = {.block = block,
                             .block_size = sizeof block,
                             .tools = tools,
                             .tool_count = 1,
                             .allow = TCALL_READ};
    const tcall_agent_desc agent_desc = {.tc = &tc,
                                         .provider = &tcall_openai,
                                         .model = "m",
                                         .transport = {.open = net_open,
                                                       .write = net_write,
                                                       .read = net_read,
                                                       .close = net_close}};
    int turns = argc > 1 ? atoi(argv[1]) : 0;
    if (tcall_init(&tc, &desc) < 0 || tcall_agent_init(&agent, &agent_desc) < 0)
        return 1;
    while (turns-- > 0)
        if (turn(&agent) < 0)
            return 1;
    printf("%d\n", region(&agent));
    return 0;
}
