/*
 * pi.c - an agent for a Raspberry Pi, or any Linux with GPIO lines
 *
 *     pi --url https://api.openai.com --model MODEL switch line 17 on
 *
 *     --ca FILE    trusted certificates; default: the system's
 *     PI_KEY       environment: the key
 *
 * Lines go through the kernel's character device (/dev/gpiochip0, version 2 of
 * its interface), the room sensor is an LM75 or TMP102 on I2C (/dev/i2c-1,
 * address 0x48), the processor's temperature is that of its thermal zone.
 * What is not there is simulated, and the results say so. Lines that it has
 * switched stay as they are until it ends.
 */
#define _DEFAULT_SOURCE 1
#include "port/port.h"

#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include <fcntl.h>
#include <linux/gpio.h>
#include <linux/i2c-dev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* --------------------------------------------------------------------------
 * The hardware
 */

enum { LINES = 28 };

static struct {
    int fd; /* of the line, once it was asked for; 0: not yet */
    bool output;
    bool simulated;
    bool on; /* of one that is simulated */
} lines[LINES];

/* Ask the kernel for a line, as an input or as an output. A line that is an
 * output already stays one. */
static int line_open(int pin, bool output)
{
    struct gpio_v2_line_request q;
    int chip;

    if (lines[pin].fd > 0 && (lines[pin].output || !output))
        return lines[pin].fd;
    if (lines[pin].fd > 0)
        close(lines[pin].fd);
    lines[pin].fd = 0;
    chip = open("/dev/gpiochip0", O_RDWR | O_CLOEXEC);
    lines[pin].simulated = chip < 0;
    if (chip < 0)
        return -1;
    memset(&q, 0, sizeof q);
    q.offsets[0] = (unsigned)pin;
    q.num_lines = 1;
    q.config.flags =
        output ? GPIO_V2_LINE_FLAG_OUTPUT : GPIO_V2_LINE_FLAG_INPUT;
    strcpy(q.consumer, "toolcall pi");
    if (ioctl(chip, GPIO_V2_GET_LINE_IOCTL, &q) == 0) {
        lines[pin].fd = q.fd;
        lines[pin].output = output;
    }
    close(chip);
    return lines[pin].fd > 0 ? lines[pin].fd : -1;
}

/* 0 or 1, or < 0: the kernel does not give the line. */
static int line_read(int pin)
{
    struct gpio_v2_line_values v = {.mask = 1};
    int fd = line_open(pin, false);

    if (lines[pin].simulated)
        return lines[pin].on;
    if (fd < 0 || ioctl(fd, GPIO_V2_LINE_GET_VALUES_IOCTL, &v) != 0)
        return -1;
    return (int)(v.bits & 1);
}

static int line_write(int pin, bool on)
{
    struct gpio_v2_line_values v = {.mask = 1, .bits = on};
    int fd = line_open(pin, true);

    lines[pin].on = on;
    if (lines[pin].simulated)
        return 0;
    return fd < 0 ? -1 : ioctl(fd, GPIO_V2_LINE_SET_VALUES_IOCTL, &v);
}

/* Hundredths of a degree Celsius; false: there is no such sensor. */
static bool room_temperature(long *hundredths)
{
    int fd = open("/dev/i2c-1", O_RDWR | O_CLOEXEC);
    unsigned char raw[2] = {0, 0}; /* register 0, high byte first */
    bool read_it = fd >= 0 && ioctl(fd, I2C_SLAVE, 0x48) == 0 &&
                   write(fd, raw, 1) == 1 && read(fd, raw, 2) == 2;

    if (fd >= 0)
        close(fd);
    /* 16 bits, two's complement, in 1/256 of a degree */
    *hundredths = (long)(int16_t)(raw[0] << 8 | raw[1]) * 100 / 256;
    return read_it;
}

static bool processor_temperature(long *hundredths)
{
    FILE *f = fopen("/sys/class/thermal/thermal_zone0/temp", "r");
    bool read_it = f && fscanf(f, "%ld", hundredths) == 1;

    if (f)
        fclose(f);
    *hundredths /= 10;
    return read_it;
}

/* --------------------------------------------------------------------------
 * The tools
 */

static int say_line(tcall_writer *out, int pin, int on)
{
    if (on < 0) {
        tcall_write_text(out, "the kernel does not give this line: it is in "
                              "use, or it needs more rights");
        return TCALL_E_FAILED;
    }
    tcall_write_open(out, '{');
    tcall_write_key(out, "line");
    tcall_write_int(out, pin);
    tcall_write_key(out, "on");
    tcall_write_bool(out, on);
    tcall_write_key(out, "simulated");
    tcall_write_bool(out, lines[pin].simulated);
    return tcall_write_close(out, '}');
}

static int read_line(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    int pin = tcall_json_int(tcall_json_get(args, "line"), 0);

    (void)cx;
    return say_line(out, pin, line_read(pin));
}

static int switch_line(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    int pin = tcall_json_int(tcall_json_get(args, "line"), 0);
    bool on = tcall_json_bool(tcall_json_get(args, "on"), false);

    (void)cx;
    return say_line(out, pin, line_write(pin, on) < 0 ? -1 : on);
}

static int get_temperature(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const char *of = tcall_json_string(tcall_json_get(args, "of"), "room");
    bool room = strcmp(of, "room") == 0;
    long hundredths = 0;
    bool real = room ? room_temperature(&hundredths)
                     : processor_temperature(&hundredths);

    (void)cx;
    if (!real)
        hundredths = room ? 2150 : 4875;
    tcall_write_open(out, '{');
    tcall_write_key(out, "celsius");
    tcall_write_fixed(out, hundredths, 2);
    tcall_write_key(out, "simulated");
    tcall_write_bool(out, !real);
    return tcall_write_close(out, '}');
}

/* clang-format off */
static const tcall_tool tools[] = {
    {
        .name = "read_line",
        .description = "Read whether a GPIO line is on or off.",
        .parameters = TCALL_JSON({
            "type": "object",
            "properties": {
                "line": {
                    "type": "integer", "minimum": 0, "maximum": 27,
                    "description": "Number of the line"
                }
            },
            "required": ["line"], "additionalProperties": false
        }),
        .run = read_line,
        .permissions = TCALL_READ,
    },
    {
        .name = "switch_line",
        .description = "Switch a GPIO line of the board on or off.",
        .parameters = TCALL_JSON({
            "type": "object",
            "properties": {
                "line": {
                    "type": "integer", "minimum": 0, "maximum": 27,
                    "description": "Number of the line"
                },
                "on": {"type": "boolean", "description": "true: on"}
            },
            "required": ["line", "on"], "additionalProperties": false
        }),
        .run = switch_line,
        .permissions = TCALL_ACTUATE,
    },
    {
        .name = "get_temperature",
        .description = "Read the temperature of the room or of the processor.",
        .parameters = TCALL_JSON({
            "type": "object",
            "properties": {
                "of": {
                    "type": "string", "enum": ["room", "processor"],
                    "description": "Which of the two"
                }
            },
            "required": ["of"], "additionalProperties": false
        }),
        .run = get_temperature,
        .permissions = TCALL_READ,
    },
};
/* clang-format on */

/* --------------------------------------------------------------------------
 * The agent
 */

static void on_event(void *user, const tcall_event *e)
{
    (void)user;
    if (e->kind == TCALL_EVENT_END)
        fprintf(stderr, "%.*s -> %.*s\n", (int)e->call->name.len,
                e->call->name.ptr, (int)e->text.len, e->text.ptr);
}

static int run(tport *port, const char *model, const char *text)
{
    static char block[16 * 1024];
    static tcall tc;
    static tcall_agent agent;
    const tcall_desc d = {
        .lenient = &tcall_lenient,
        .report = &tcall_report,
        .block = block,
        .block_size = sizeof block,
        .tools = tools,
        .tool_count = TCALL_ARRAY_LEN(tools),
        .allow = TCALL_READ | TCALL_ACTUATE,
        .on_event = on_event,
        .events = &tcall_events,
    };
    const tcall_agent_desc a = {
        .tc = &tc,
        .provider = &tcall_openai,
        .transport = tport_transport(port),
        .model = model,
        .key = getenv("PI_KEY"),
    };
    tcall_str said;
    int r = tcall_init(&tc, &d);

    if (r == TCALL_OK)
        r = tcall_agent_init(&agent, &a);
    if (r == TCALL_OK)
        r = tcall_agent_run(&agent, tcall_str_of(text));
    if (r < 0) {
        fprintf(stderr, "pi: %s %s %s\n", tcall_error_code(r),
                tport_error(port), agent.answer.message);
        return 1;
    }
    said = tcall_agent_text(&agent);
    printf("%.*s\n", (int)said.len, said.ptr);
    return 0;
}

int main(int argc, char **argv)
{
    static tport port;
    tport_desc d = {.url = "https://api.openai.com"};
    const char *model = "gpt-5.4";
    char text[1024] = "";
    int i, r;

    for (i = 1; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2)
        if (strcmp(argv[i], "--url") == 0)
            d.url = argv[i + 1];
        else if (strcmp(argv[i], "--ca") == 0)
            d.ca_file = argv[i + 1];
        else if (strcmp(argv[i], "--model") == 0)
            model = argv[i + 1];
        else
            break;
    for (; i < argc; i++) {
        strncat(text, argv[i], sizeof text - strlen(text) - 1);
        strncat(text, " ", sizeof text - strlen(text) - 1);
    }
    if (!text[0] || strncmp(text, "--", 2) == 0) {
        i = strcmp(text, "--help ") != 0; /* else it was asked for */
        fprintf(i ? stderr : stdout,
                "use: pi [--url URL] [--model MODEL] [--ca FILE] what to do\n");
        return 2 * i;
    }
    if (tport_init(&port, &d) < 0) {
        fprintf(stderr, "pi: %s\n", tport_error(&port));
        return 1;
    }
    r = run(&port, model, text);
    tport_free(&port);
    return r;
}
