/* One LED and one tool with schema text, called by its name, and nothing else:
 * what a program carries that names no more. */
#include "fw_tool.h"

static char block[4096];
static char result[256];

int main(void)
{
    static tcall tc;
    const tcall_desc desc = {
        .block = block,
        .block_size = sizeof block,
        .tools = tools,
        .tool_count = TCALL_ARRAY_LEN(tools),
        .allow = TCALL_WRITE,
    };
    tcall_writer out;

    if (tcall_init(&tc, &desc) < 0)
        return 1;
    tcall_writer_init(&out, result, sizeof result);
    return tcall_execute(&tc, tcall_str_of("set_led"),
                         tcall_str_of("{\"on\": true}"), &out, NULL);
}
