/* 10_plan.c - plan only: each call of the model is checked, and nothing runs.
 * The caller answers it or drops the plan. Key, URL, compiling: 01_hello.c. */
#include "port/port.h"
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include <stdio.h>
#include <stdlib.h>

#define RELAY(ROW, me)                                             \
    ROW(me, required, integer(1, 9), relay, "Number of the relay") \
    ROW(me, required, boolean, on, "Whether it is to be on")
TCALL_SHAPE(relay, RELAY)

static int set_relay(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    return tcall_write_text(out, "done"); /* never comes to pass here */
}

static const tcall_tool tools[] = {
    {.name = "set_relay",
     .description = "Switch one of the nine relays on or off.",
     .parameters = TCALL_STRUCT(relay),
     .run = set_relay,
     .permissions = TCALL_ACTUATE}};

int main(int argc, char **argv)
{
    static char block[16 * 1024];
    static tport port;
    static tcall tc;
    static tcall_agent agent;
    const char *url = argc > 1 ? argv[1] : "https://api.openai.com";
    tport_init(&port, &(tport_desc){.url = url});
    tcall_init(&tc, &(tcall_desc){block, sizeof block, tools, 1, &tcall_lenient,
                                  &tcall_report, .allow = TCALL_ACTUATE});
    tcall_agent_init(&agent,
                     &(tcall_agent_desc){.tc = &tc,
                                         .transport = tport_transport(&port),
                                         .provider = &tcall_openai,
                                         .model = "gpt-5.4",
                                         .key = getenv("OPENAI_API_KEY")});
    const tcall_str text = tcall_str_of("Switch relay 7 on!");
    int count = tcall_agent_plan(&agent, text, NULL, 0);
    for (int i = 0; i < count; i++) {
        tcall_call call;
        int error = tcall_agent_call(&agent, i, &call);
        printf("%.*s %.*s: %s\n", (int)call.name.len, call.name.ptr,
               (int)call.arguments.len, call.arguments.ptr,
               error ? tcall_error_text(error) : "could run");
        tcall_agent_result(&agent, &call, tcall_str_of("not today"), true);
        tcall_release(&tc, &call);
    }
    if (count <= 0)
        printf("no call: %s %s\n", tcall_error_text(count), tport_error(&port));
    tport_free(&port);
    return count < 0;
}
