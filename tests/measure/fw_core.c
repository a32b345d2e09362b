/* The core: one call arrives as text, is read, checked against the schema of
 * its tool and run, and its result is written. */
#include "fw_tool.h"

static char block[4096];
static char arguments[256] = "{\"on\": true}"; /* as if received */
static char result[256];

int main(void)
{
    static tcall tc;
    static tcall_call call;
    const tcall_desc desc = {
        .lenient = &tcall_lenient,
        .patterns = &tcall_patterns,
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
    call.name = tcall_str_of("set_led");
    call.arguments = tcall_str_of(arguments);
    tcall_hydrate(&tc, &call);
    return tcall_invoke(&tc, &call, &out);
}
