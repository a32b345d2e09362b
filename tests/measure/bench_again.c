/*
 * bench_again.c - what it costs that a transport takes 512 bytes at a time
 *
 * bench_again (blocking | pausing) TOOLS: a registry of so many tools is set
 * up and one request is sent, by a transport that takes all there is, or by
 * one that answers TCALL_E_AGAIN after each 512 bytes.
 */
#include "toolcall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOOLS = 1000, TAKEN = 512 };

static bool pausing, paused;
static size_t sent, read_at;

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    return tcall_write_text(out, "ok");
}

static int net_open(void *user, const tcall_request *req, tcall_response *res)
{
    (void)user, (void)req;
    res->status = 200;
    return TCALL_OK;
}

static int net_write(void *user, const char *bytes, size_t len)
{
    (void)user, (void)bytes;
    paused = pausing && !paused;
    if (paused)
        return TCALL_E_AGAIN;
    len = len < TAKEN ? len : TAKEN;
    sent += len;
    return (int)len;
}

static int net_read(void *user, char *bytes, size_t cap)
{
    static const char answer[] =
        "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"hi\"},"
        "\"finish_reason\":\"stop\"}]}";
    size_t left = sizeof answer - 1 - read_at;
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

int region(const tcall_desc *registry, tcall_agent_desc *desc);
__attribute__((noinline)) int region(const tcall_desc *registry,
                                     tcall_agent_desc *desc)
{
    static tcall_agent agent;
    int error = tcall_init(desc->tc, registry);
    if (error == TCALL_OK)
        error = tcall_agent_init(&agent, desc);
    if (error == TCALL_OK)
        error = tcall_agent_run(&agent, tcall_str_of("hello"));
    return error;
}

int main(int argc, char **argv)
{
    static tcall_tool tools[MOST_TOOLS];
    static char names[MOST_TOOLS][8], block[2 * 1024 * 1024];
    static tcall tc;
    tcall_desc registry = {.lenient = &tcall_lenient,
                           .block = block,
                           .block_size = sizeof block,
                           .tools = tools,
                           .allow = TCALL_READ};
    tcall_agent_desc desc = {
        .tc = &tc, .provider = &tcall_openai, .model = "m", .key = "k"};

    if (argc != 3)
        return 2;
    pausing = strcmp(argv[1], "pausing") == 0;
    registry.tool_count = (size_t)atoi(argv[2]);
    for (size_t i = 0; i < registry.tool_count && i < MOST_TOOLS; i++) {
        snprintf(names[i], sizeof names[i], "t%zu", i);
        tools[i].name = names[i];
        tools[i].description = "Does something useful with a device at home.";
        tools[i].parameters = tcall_schema_text_of(TCALL_TEXT({
            "type" : "object",
            "required" : [ "room", "level" ],
            "properties" : {
                "room" : {
                    "type" : "string",
                    "description" : "The room of the device, by its name"
                },
                "level" : {
                    "type" : "integer",
                    "minimum" : 0,
                    "maximum" : 100,
                    "description" : "Brightness in percent of the maximum"
                },
                "mode" : {
                    "type" : "string",
                    "enum" : [ "steady", "blink", "fade" ],
                    "description" : "How the change is made"
                }
            },
            "additionalProperties" : false
        }));
        tools[i].run = run;
        tools[i].permissions = TCALL_READ;
    }
    desc.transport = (tcall_transport){.open = net_open,
                                       .write = net_write,
                                       .read = net_read,
                                       .close = net_close};
    printf("%d %zu\n", region(&registry, &desc), sent);
    return 0;
}
