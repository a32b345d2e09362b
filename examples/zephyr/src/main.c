/*
 * main.c - a call, as a line on the console, switches the board's LED
 *
 *     {"on": true}
 *
 * The core alone: what a model sent is read, checked against the schema and
 * run. With CONFIG_TOOLCALL_PORT the whole agent runs over Zephyr's sockets,
 * as in examples/agent.c. Not run on hardware.
 */
#include <zephyr/console/console.h>
#include <zephyr/drivers/gpio.h>
#include <zephyr/sys/printk.h>

#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

static const struct gpio_dt_spec led = GPIO_DT_SPEC_GET(DT_ALIAS(led0), gpios);

static int set_led(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    bool on = tcall_json_bool(tcall_json_get(args, "on"), false);

    (void)cx;
    if (gpio_pin_set_dt(&led, on) < 0) {
        tcall_write_text(out, "the LED's pin does not answer");
        return TCALL_E_FAILED;
    }
    return tcall_write_text(out, on ? "The LED is on." : "The LED is off.");
}

/* clang-format off */
static const tcall_tool tools[] = {{
    .name = "set_led",
    .description = "Switch the LED of the board on or off.",
    .parameters = TCALL_JSON({
        "type": "object",
        "properties": {"on": {"type": "boolean", "description": "true: on"}},
        "required": ["on"], "additionalProperties": false
    }),
    .run = set_led,
    .permissions = TCALL_ACTUATE,
}};
/* clang-format on */

static char block[4096];

int main(void)
{
    static tcall tc;
    const tcall_desc d = {.block = block,
                          .block_size = sizeof block,
                          .tools = tools,
                          .tool_count = TCALL_ARRAY_LEN(tools),
                          .allow = TCALL_ACTUATE};

    if (gpio_pin_configure_dt(&led, GPIO_OUTPUT_INACTIVE) < 0 ||
        tcall_init(&tc, &d) < 0)
        return 1;
    console_getline_init();
    for (;;) {
        static tcall_call call;
        static char result[256];
        tcall_writer out;

        memset(&call, 0, sizeof call);
        call.name = tcall_str_of("set_led");
        call.arguments = tcall_str_of(console_getline());
        tcall_writer_init(&out, result, sizeof result);
        tcall_hydrate(&tc, &call);
        tcall_invoke(&tc, &call, &out);
        tcall_release(&tc, &call);
        printk("%.*s\n", (int)out.fill, result);
    }
}
