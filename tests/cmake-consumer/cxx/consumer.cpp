#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#define LED(ROW, me) ROW(me, required, boolean, on, "true: on")
TCALL_SHAPE(led, LED)

static int set_led(tcall_ctx *cx, tcall_json, tcall_writer *out)
{
    const struct led *args = static_cast<const struct led *>(cx->bound);
    return tcall_write_text(out, args->on ? "on" : "off");
}

int main()
{
    static char block[4096];
    char text[64];
    tcall_tool tool = tcall_tool();
    tcall_desc desc = tcall_desc();
    tcall_writer out;
    tcall tc;
    tool.name = "set_led";
    tool.parameters = TCALL_STRUCT(led);
    tool.run = set_led;
    tool.permissions = TCALL_ACTUATE;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.allow = TCALL_ACTUATE;
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.report = &tcall_report;
    desc.block_size = sizeof block;
    tcall_writer_init(&out, text, sizeof text);
    return tcall_init(&tc, &desc) ||
           tcall_execute(&tc, tcall_str_of("set_led"),
                         tcall_str_of("{\"on\":true}"), &out, NULL) ||
           out.len != 2;
}
