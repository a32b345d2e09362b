/* 01_hello.c - a language model calls a C function. The key of OpenAI is in
 * OPENAI_API_KEY; `01_hello URL` asks another server with the same format.
 *     cc -I. examples/01_hello.c port/p*.c port/http.c port/tls.c \
 *         -lmbedtls -lmbedx509 -lmbedcrypto -o 01_hello */
#include "port/port.h"
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include <stdio.h>
#include <stdlib.h>

static void board_led(bool on)
{
    puts(on ? "The light is on." : "The light is off.");
}

static int set_led(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    board_led(tcall_json_bool(tcall_json_get(args, "on"), false));
    return tcall_write_text(out, "done");
}

/* clang-format off */
static const tcall_tool tools[] = {{
    .name        = "set_led",
    .description = "Switch the LED of the board on or off.",
    .parameters  = TCALL_JSON({"type": "object", "required": ["on"], "properties":
                               {"on": {"type": "boolean", "description": "true: on"}}}),
    .run         = set_led,
    .permissions = TCALL_WRITE,
}};

static char block[16 * 1024]; /* all the memory that the library uses */

int main(int argc, char **argv)
{
    tport port;
    tcall tc;
    tcall_agent agent;
    tport_desc server = {.url = argc > 1 ? argv[1] : "https://api.openai.com"};
    tport_init(&port, &server);
    tcall_desc desc = {.block = block, .block_size = sizeof block, .tools = tools,
                       .tool_count = 1, .lenient = &tcall_lenient,
                       .report = &tcall_report, .allow = TCALL_WRITE};
    tcall_agent_desc model = {.tc = &tc, .provider = &tcall_openai,
                              .transport = tport_transport(&port), .model = "gpt-5.4",
                              .key = getenv("OPENAI_API_KEY")};
    tcall_init(&tc, &desc);
    tcall_agent_init(&agent, &model);
    int error = tcall_agent_run(&agent, tcall_str_of("turn the light on"));
    tcall_str said = tcall_agent_text(&agent);
    printf("%.*s\n", (int)said.len, said.ptr);
    if (error < 0) /* what failed before, this says too */
        printf("%s %s\n", agent.problem ? agent.problem : tcall_error_text(error),
               tport_error(&port));
    /* clang-format on */
    tport_free(&port);
    return error < 0;
}
