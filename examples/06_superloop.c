/* 06_superloop.c - the agent in a loop that has other things to do: each step
 * is short, a slow tool says when it wants to go on. Compiling: 01_hello.c. */
#include "port/port.h"
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include <stdio.h>
#include <stdlib.h>

static int waits; /* a sensor that takes 300 ms */
static int measure(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)args;
    if (!cx->stop && waits++ < 3)
        return tcall_wait_ms(&cx->wait, 100); /* TCALL_E_AGAIN */
    waits = 0;
    return tcall_write_text(out, "21.5 degrees");
}

static const tcall_tool tools[] = {
    {.name = "measure_temperature",
     .description = "Measure the temperature of this room, in degrees.",
     .parameters = TCALL_NO_PARAMETERS,
     .run = measure,
     .permissions = TCALL_READ}};

int main(int argc, char **argv)
{
    static char block[16 * 1024];
    static tport port;
    static tcall tc;
    static tcall_agent agent;
    const char *url = argc > 1 ? argv[1] : "https://api.openai.com";
    int error, steps = 0;
    tport_init(&port, &(tport_desc){.url = url});
    tcall_init(&tc, &(tcall_desc){block, sizeof block, tools, 1, &tcall_lenient,
                                  &tcall_report, .allow = TCALL_READ});
    tcall_agent_init(&agent,
                     &(tcall_agent_desc){.tc = &tc,
                                         .transport = tport_transport(&port),
                                         .max_ms = 60000,
                                         .provider = &tcall_openai,
                                         .model = "gpt-5.4",
                                         .key = getenv("OPENAI_API_KEY")});
    error = tcall_agent_say(&agent, tcall_str_of("Measure the temperature!"));
    for (; error == TCALL_OK || error == TCALL_E_AGAIN; steps++) {
        /* Here is room for the other things. */
        error = tcall_agent_step(&agent);
        if (error != TCALL_E_AGAIN)
            break;
        tcall_agent_wait(&agent); /* or sleep until an interrupt comes */
    }
    tcall_str said = tcall_agent_text(&agent);
    printf("%.*s (%d steps)\n", (int)said.len, said.ptr, steps);
    if (error)
        printf("%s %s\n", tcall_error_text(error), tport_error(&port));
    tport_free(&port);
    return error != 0;
}
