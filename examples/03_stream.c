/* 03_stream.c - the answer appears while the model writes it, and each call
 * with what came of it. Key, URL and how to compile it: see 01_hello.c. */
#include "port/port.h"
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include <stdio.h>
#include <stdlib.h>

static int read_tank(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    return tcall_write_text(out, "37 percent full");
}

static const tcall_tool tools[] = {
    {.name = "read_tank",
     .description = "Say how full the tank of water is, in percent.",
     .parameters = TCALL_NO_PARAMETERS,
     .run = read_tank,
     .permissions = TCALL_READ}};

/* A terminal obeys control characters: none that came from outside is shown. */
static void on_event(void *user, const tcall_event *event)
{
    const tcall_str text = event->text;
    (void)user;
    if (event->kind == TCALL_EVENT_TEXT || event->kind == TCALL_EVENT_END)
        for (size_t i = 0; i < text.len; i++)
            putchar(text.ptr[i] > 0 && text.ptr[i] < ' ' ? ' ' : text.ptr[i]);
    if (event->kind == TCALL_EVENT_END)
        printf(" <- %s\n", event->call->tool ? event->call->tool->name : "?");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static char block[16 * 1024];
    static tport port;
    static tcall tc;
    static tcall_agent agent;
    const char *url = argc > 1 ? argv[1] : "https://api.openai.com";
    tport_init(&port, &(tport_desc){.url = url});
    tcall_init(&tc,
               &(tcall_desc){block, sizeof block, tools, 1, &tcall_lenient,
                             &tcall_report, .allow = TCALL_READ,
                             .on_event = on_event, .events = &tcall_events});
    tcall_agent_init(&agent,
                     &(tcall_agent_desc){.tc = &tc,
                                         .transport = tport_transport(&port),
                                         .stream = true,
                                         .provider = &tcall_openai,
                                         .model = "gpt-5.4",
                                         .key = getenv("OPENAI_API_KEY")});
    int error = tcall_agent_run(&agent, tcall_str_of("How full is the tank?"));
    printf("\n%s%s", error ? tcall_error_text(error) : "", tport_error(&port));
    tport_free(&port);
    return error != 0;
}
