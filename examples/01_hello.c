/* 01_hello.c - a language model calls a C function. The key of OpenAI is in
 * OPENAI_API_KEY; `01_hello URL` asks another server with the same format.
 *     cc -I. examples/01_hello.c port/p*.c port/http.c port/tls.c \
 *         -lmbedtls -lmbedx509 -lmbedcrypto -o 01_hello */
#include "port/port.h"
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include <stdio.h>
#include <stdlib.h>

/* The arguments have been checked against the schema when this runs. */
static int set_light(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    puts(tcall_json_bool(tcall_json_get(args, "on"), false)
             ? "The light is on."
             : "The light is off.");
    return tcall_write_text(out, "done");
}

static const tcall_tool tools[] = {{
    .name = "set_light",
    .description = "Switch the light of this room on or off.",
    /* clang-format off */
    .parameters = TCALL_JSON({"type": "object", "required": ["on"], "properties":
        {"on": {"type": "boolean", "description": "true: lit"}}}),
    /* clang-format on */
    .run = set_light,
    .permissions = TCALL_ACTUATE,
}};

int main(int argc, char **argv)
{
    static char block[16 * 1024]; /* all the memory that the library uses */
    static tport port;
    static tcall tc;
    static tcall_agent agent;
    const char *url = argc > 1 ? argv[1] : "https://api.openai.com";
    tport_init(&port, &(tport_desc){.url = url});
    tcall_init(&tc, &(tcall_desc){.block = block,
                                  .block_size = sizeof block,
                                  .tools = tools,
                                  .tool_count = TCALL_ARRAY_LEN(tools),
                                  .allow = TCALL_ACTUATE});
    tcall_agent_init(&agent,
                     &(tcall_agent_desc){.tc = &tc,
                                         .transport = tport_transport(&port),
                                         .provider = &tcall_openai,
                                         .model = "gpt-5.4",
                                         .key = getenv("OPENAI_API_KEY")});
    /* What failed before, this says too. */
    int error = tcall_agent_run(&agent, tcall_str_of("Light on!"));
    tcall_str said = tcall_agent_text(&agent);
    printf("%.*s\n", (int)said.len, said.ptr);
    if (error)
        printf("%s %s\n", tcall_error_text(error), tport_error(&port));
    tport_free(&port);
    return error != 0;
}
