#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

static int set_led(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    board_led(tcall_json_bool(tcall_json_get(args, "on"), false));
    return tcall_write_text(out, "done");
}

static const tcall_tool tools[] = {{
    .name        = "set_led",
    .description = "Switch the board's LED on or off.",
    .parameters  = TCALL_JSON({"type": "object", "required": ["on"],
                               "properties": {"on": {"type": "boolean"}}}),
    .run         = set_led,
    .permissions = TCALL_WRITE,
}};

static char block[8192];

int main(void)
{
    tcall tc;
    tcall_agent agent;
    tcall_init(&tc, &(tcall_desc){.block = block, .block_size = sizeof block,
                                  .tools = tools, .tool_count = TCALL_ARRAY_LEN(tools),
                                  .allow = TCALL_WRITE});
    tcall_agent_init(&agent, &(tcall_agent_desc){.tc = &tc,
                                  .provider = &tcall_openai, .model = "gpt-5.4",
                                  .key = KEY, .transport = my_transport});
    tcall_agent_run(&agent, tcall_str_of("turn the light on"));
}
