/* The one tool of the measured programs. */
#include "toolcall.h"

static volatile bool led;

static int set_led(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    led = tcall_json_bool(tcall_json_get(args, "on"), false);
    return tcall_write_text(out, "done");
}

static const tcall_tool tools[] = {{
    .name = "set_led",
    .description = "Switch the board's LED on or off.",
    .parameters = TCALL_JSON({
        "type" : "object",
        "required" : ["on"],
        "properties" : {"on" : {"type" : "boolean"}}
    }),
    .run = set_led,
    .permissions = TCALL_WRITE,
}};
