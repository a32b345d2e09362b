/*
 * main.c - lines on the console switch the board's LED
 *
 *     {"on": true}
 *
 * The core alone: what a model sent is read, checked against the schema and
 * run. With overlay-port.conf a line is what a user says, "light on, please",
 * and an agent asks a model, over Zephyr's sockets and mbedTLS: set
 * CONFIG_LED_KEY and CONFIG_LED_CA. Not run on hardware.
 */
#include <zephyr/console/console.h>
#include <zephyr/drivers/gpio.h>
#include <zephyr/sys/printk.h>

#ifdef CONFIG_TOOLCALL_PORT
#include "port/port.h"
#endif
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

static char block[8192];
static tcall tc;

#ifdef CONFIG_TOOLCALL_PORT

static tport port;
static tcall_agent agent;

#ifdef LED_CA /* made of the file that CONFIG_LED_CA names */
static const char ca_pem[] = {
#include "ca.inc"
    0};
#else
static const char ca_pem[] = "";
#endif

static int begin(void)
{
    const tport_desc net = {.url = "https://api.openai.com", .ca_pem = ca_pem};
    tcall_agent_desc desc = {.tc = &tc,
                             .provider = &tcall_openai,
                             .model = "gpt-5.4",
                             .key = CONFIG_LED_KEY};
    int error = tport_init(&port, &net);

    desc.transport = tport_transport(&port);
    if (error < 0) {
        printk("%s\n", tport_error(&port));
        return error;
    }
    return tcall_agent_init(&agent, &desc);
}

static void answer(tcall_str line)
{
    int error = tcall_agent_run(&agent, line);
    tcall_str text = tcall_agent_text(&agent);

    if (error < 0)
        printk("%s %s\n", tcall_error_text(error), tport_error(&port));
    else
        printk("%.*s\n", (int)text.len, text.ptr);
}

#else

static int begin(void)
{
    return TCALL_OK;
}

static void answer(tcall_str line)
{
    static tcall_call call;
    static char result[256];
    tcall_writer out;

    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("set_led");
    call.arguments = line;
    tcall_writer_init(&out, result, sizeof result);
    tcall_hydrate(&tc, &call);
    tcall_invoke(&tc, &call, &out);
    tcall_release(&tc, &call);
    printk("%.*s\n", (int)out.fill, result);
}

#endif

int main(void)
{
    const tcall_desc desc = {.lenient = &tcall_lenient,
                             .report = &tcall_report,
                             .block = block,
                             .block_size = sizeof block,
                             .tools = tools,
                             .tool_count = TCALL_ARRAY_LEN(tools),
                             .allow = TCALL_ACTUATE};

    if (gpio_pin_configure_dt(&led, GPIO_OUTPUT_INACTIVE) < 0 ||
        tcall_init(&tc, &desc) < 0 || begin() < 0)
        return 1;
    console_getline_init();
    for (;;)
        answer(tcall_str_of(console_getline()));
}
