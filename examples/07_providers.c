/* 07_providers.c - one conversation, answered by several providers in turn; the
 * reasoning of each stays with it. Compiling: see 01_hello.c. */
#include "port/port.h"
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include <stdio.h>
#include <stdlib.h>

static int get_time(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    return tcall_write_text(out, "a quarter past nine");
}

static const tcall_tool tools[] = {
    {.name = "get_time",
     .description = "Tell the time, as people here would say it.",
     .parameters = TCALL_NO_PARAMETERS,
     .run = get_time,
     .permissions = TCALL_READ}};

static const struct {
    const tcall_provider *provider;
    const char *url, *model, *key;
} services[] = {
    {&tcall_openai, "https://api.openai.com", "gpt-5.4", "OPENAI_API_KEY"},
    {&tcall_anthropic, "https://api.anthropic.com", "claude-sonnet-5-5",
     "ANTHROPIC_API_KEY"},
    {&tcall_ollama, "http://127.0.0.1:11434", "qwen3", "OLLAMA_KEY"}};

int main(int argc, char **argv)
{
    static char block[32 * 1024];
    static tport ports[3];
    static tcall tc;
    static tcall_agent agent;
    int error = tcall_init(&tc, &(tcall_desc){block, sizeof block, tools, 1,
                                              &tcall_lenient, &tcall_report,
                                              .allow = TCALL_READ});
    for (int i = 0; i < 3 && !error; i++) {
        const char *url = argc > 1 ? argv[1] : services[i].url;
        tport_init(&ports[i], &(tport_desc){.url = url});
        const tcall_agent_desc desc = {.tc = &tc,
                                       .transport = tport_transport(&ports[i]),
                                       .provider = services[i].provider,
                                       .model = services[i].model,
                                       .key = getenv(services[i].key)};
        error = i ? tcall_agent_use(&agent, &desc)
                  : tcall_agent_init(&agent, &desc);
        if (!error)
            error = tcall_agent_run(&agent, tcall_str_of("Tell the time!"));
        tcall_str said = tcall_agent_text(&agent);
        printf("%s: %.*s %s\n", desc.provider->name, (int)said.len, said.ptr,
               error ? tport_error(&ports[i]) : "");
    }
    for (int i = 0; i < 3;)
        tport_free(&ports[i++]);
    return error != 0;
}
