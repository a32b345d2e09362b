/* The same with a struct in place of schema text. */
#include "toolcall.h"

static char block[4096];
static char result[256];
static volatile bool led;

#define LED(ROW, me) ROW(me, required, boolean, on, "")
TCALL_SHAPE(led_args, LED)

static int set_led(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const struct led_args *given = (const struct led_args *)cx->bound;
    (void)args;
    led = given->on;
    return tcall_write_text(out, "done");
}

static const tcall_tool tools[] = {{
    .name = "set_led",
    .description = "Switch the board's LED on or off.",
    .parameters = TCALL_STRUCT(led_args),
    .run = set_led,
    .permissions = TCALL_WRITE,
}};

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
