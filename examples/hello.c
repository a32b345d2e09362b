/* hello.c - a language model switches a light: OpenAI's, with the key in
 * OPENAI_API_KEY; `hello URL` asks another server with the same format. */
#include "port/port.h"
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include <stdio.h>
#include <stdlib.h>

#define LIGHT(ROW, me) ROW(me, required, boolean, on, "Whether it is to be on")
TCALL_SHAPE(light, LIGHT)

static int set_light(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const struct light *light = cx->bound;
    (void)args;
    puts(light->on ? "The light is on." : "The light is off.");
    return tcall_write_text(out, "done");
}

static const tcall_tool tools[] = {{
    .name = "set_light",
    .description = "Switch the light of this room on or off.",
    .shape = &light_shape,
    .run = set_light,
    .permissions = TCALL_ACTUATE,
}};

int main(int argc, char **argv)
{
    static char block[16 * 1024];
    static tport port;
    static tcall tc;
    static tcall_agent agent;
    const char *key = getenv("OPENAI_API_KEY");
    const tport_desc net = {.url =
                                argc > 1 ? argv[1] : "https://api.openai.com"};
    const tcall_desc registry = {.block = block,
                                 .block_size = sizeof block,
                                 .tools = tools,
                                 .tool_count = 1,
                                 .allow = TCALL_ACTUATE};
    tcall_agent_desc desc = {
        .tc = &tc, .provider = &tcall_openai, .model = "gpt-5.4", .key = key};
    int error = tport_init(&port, &net);
    desc.transport = tport_transport(&port);
    error = error ? error : tcall_init(&tc, &registry);
    error = error ? error : tcall_agent_init(&agent, &desc);
    error = error ? error : tcall_agent_run(&agent, tcall_str_of("Light on!"));
    tcall_str said = tcall_agent_text(&agent);
    printf("%.*s\n", (int)said.len, said.ptr);
    if (error)
        printf("%s %s\n", tcall_error_text(error), tport_error(&port));
    tport_free(&port);
    return error != 0;
}
