/*
 * machine.c - see machine.h
 *
 * The schema of a tool says what arguments there are. What reaches its function
 * has been checked against it, so the functions check nothing again.
 */
#define _GNU_SOURCE
#include "examples/agent/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int tool_function(tcall_ctx *cx, tcall_json args, tcall_writer *out);
static tool_function get_time, get_system_status, get_temperature, read_gpio,
    write_gpio, convert_unit;

#define GPIO_LINES 28
static bool simulated_lines[GPIO_LINES];

/* Arguments as a C struct: this gives struct conversion and conversion_shape.
 * The other tools bring their schema as JSON. */
#define UNIT(WORD, me)           \
    WORD(me, millimetre)         \
    WORD(me, centimetre)         \
    WORD(me, metre)              \
    WORD(me, kilometre)          \
    WORD(me, inch)               \
    WORD(me, foot)               \
    WORD(me, yard)               \
    WORD(me, mile)               \
    WORD(me, gram)               \
    WORD(me, kilogram)           \
    WORD(me, ounce)              \
    WORD(me, pound)              \
    WORD(me, millilitre)         \
    WORD(me, litre)              \
    WORD(me, gallon)             \
    WORD(me, metre_per_second)   \
    WORD(me, kilometre_per_hour) \
    WORD(me, mile_per_hour)      \
    WORD(me, knot)               \
    WORD(me, celsius)            \
    WORD(me, fahrenheit)         \
    WORD(me, kelvin)
TCALL_CHOICE(unit, UNIT)
#define CONVERSION(ROW, me)                                              \
    ROW(me, required, number(TCALL_NO_MINIMUM, TCALL_NO_MAXIMUM), value, \
        "What to convert")                                               \
    ROW(me, required, choice(unit), from, "Unit of the value")           \
    ROW(me, required, choice(unit), to, "Unit of the result")
TCALL_SHAPE(conversion, CONVERSION)

/* clang-format off */

const tcall_tool machine_tools[MACHINE_TOOLS] = {
    {
        .name = "get_time",
        .description = "Date and time, local or at an offset from UTC.",
        .parameters = TCALL_JSON({
            "type": "object",
            "properties": {
                "utc_offset": {
                    "type": "number", "minimum": -12, "maximum": 14,
                    "description": "Hours east of UTC. Leave out: local time."
                }
            },
            "additionalProperties": false
        }),
        .run = get_time,
        .permissions = TCALL_READ,
        .allow_repeat = true, /* it changes by itself */
    },
    {
        .name = "get_system_status",
        .description = "Load, free memory and uptime of this machine.",
        .parameters = TCALL_JSON({
            "type": "object", "properties": {}, "additionalProperties": false
        }),
        .run = get_system_status,
        .permissions = TCALL_READ,
        .allow_repeat = true, /* it changes by itself */
    },
    {
        .name = "get_temperature",
        .description = "How warm this machine's processor is.",
        .parameters = TCALL_JSON({
            "type": "object",
            "properties": {
                "unit": {
                    "type": "string", "enum": ["celsius", "fahrenheit"],
                    "description": "Of the result. Leave out: celsius."
                }
            },
            "additionalProperties": false
        }),
        .run = get_temperature,
        .permissions = TCALL_READ,
        .allow_repeat = true, /* it changes by itself */
    },
    {
        .name = "read_gpio",
        .description = "Read whether a GPIO line is on or off.",
        .parameters = TCALL_JSON({
            "type": "object",
            "properties": {
                "pin": {
                    "type": "integer", "minimum": 0, "maximum": 27,
                    "description": "Number of the line"
                }
            },
            "required": ["pin"],
            "additionalProperties": false
        }),
        .run = read_gpio,
        .user = simulated_lines,
        .permissions = TCALL_READ,
        .allow_repeat = true, /* it changes by itself */
    },
    {
        .name = "write_gpio",
        .description = "Switch a GPIO line of this machine on or off.",
        .parameters = TCALL_JSON({
            "type": "object",
            "properties": {
                "pin": {
                    "type": "integer", "minimum": 0, "maximum": 27,
                    "description": "Number of the line"
                },
                "on": {"type": "boolean", "description": "true: on"}
            },
            "required": ["pin", "on"],
            "additionalProperties": false
        }),
        .run = write_gpio,
        .user = simulated_lines,
        .permissions = TCALL_ACTUATE,
        .confirm = true, /* somebody is asked before it runs */
    },
    {
        .name = "convert_unit",
        .description = "Convert a value between units of length, mass, volume, "
                       "speed or temperature.",
        .parameters = TCALL_STRUCT(conversion),
        .run = convert_unit,
        .permissions = TCALL_READ,
    },
};

/* clang-format on */

/* A tool writes its result as JSON (or text) and returns TCALL_OK. */
static int get_time(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    tcall_json offset = tcall_json_get(args, "utc_offset");
    long minutes = tcall_json_fixed(offset, 2, 0) * 60 / 100;
    time_t now = time(NULL) + (offset.at ? minutes * 60 : 0);
    struct tm *t = offset.at ? gmtime(&now) : localtime(&now);
    char text[64];

    (void)cx;
    strftime(text, sizeof text, "%A, %Y-%m-%d %H:%M:%S", t);
    tcall_write_open(out, '{');
    tcall_write_key(out, "time");
    tcall_write_string(out, text);
    tcall_write_key(out, "zone");
    if (offset.at)
        snprintf(text, sizeof text, "UTC%+03ld:%02ld", minutes / 60,
                 labs(minutes % 60));
    else
        strftime(text, sizeof text, "local, UTC%z", t);
    tcall_write_string(out, text);
    return tcall_write_close(out, '}');
}

/* The first line of a file that begins with prefix, without it. */
static bool read_line(const char *path, const char *prefix, char *out, int cap)
{
    FILE *f = fopen(path, "r");
    bool found = false;

    while (f && !found && fgets(out, cap, f))
        found = strncmp(out, prefix, strlen(prefix)) == 0;
    if (f)
        fclose(f);
    if (found) {
        memmove(out, out + strlen(prefix), strlen(out + strlen(prefix)) + 1);
        out[strcspn(out, "\n")] = '\0';
    }
    return found;
}

static long read_number(const char *path, const char *prefix, long fallback)
{
    char line[128];

    return read_line(path, prefix, line, sizeof line) ? strtol(line, NULL, 10)
                                                      : fallback;
}

static int get_system_status(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    long up = read_number("/proc/uptime", "", -1);
    char text[128];

    (void)cx, (void)args;
    if (up < 0) {
        /* What is written before an error is the reason that the model sees. */
        tcall_write_text(out, "there is no /proc on this system");
        return TCALL_E_FAILED;
    }
    tcall_write_open(out, '{');
    tcall_write_key(out, "load");
    read_line("/proc/loadavg", "", text, sizeof text);
    tcall_write_str(out, (tcall_str){text, strcspn(text, " ")});
    tcall_write_key(out, "memory_total_mb");
    tcall_write_int(out, read_number("/proc/meminfo", "MemTotal:", 0) / 1024);
    tcall_write_key(out, "memory_free_mb");
    tcall_write_int(out,
                    read_number("/proc/meminfo", "MemAvailable:", 0) / 1024);
    tcall_write_key(out, "uptime");
    snprintf(text, sizeof text, "%ld days %ld hours %ld minutes", up / 86400,
             up / 3600 % 24, up / 60 % 60);
    tcall_write_string(out, text);
    return tcall_write_close(out, '}');
}

/* Numbers with a fraction need no floating point: 42.50 is (4250, 2). */
static int get_temperature(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const char *unit =
        tcall_json_string(tcall_json_get(args, "unit"), "celsius");
    long milli =
        read_number("/sys/class/thermal/thermal_zone0/temp", "", -300000);
    bool simulated = milli == -300000;

    (void)cx;
    if (simulated)
        milli = 41000 + (long)(time(NULL) % 60) * 100;
    if (strcmp(unit, "fahrenheit") == 0)
        milli = milli * 9 / 5 + 32000;
    tcall_write_open(out, '{');
    tcall_write_key(out, "temperature");
    tcall_write_fixed(out, milli / 10, 2);
    tcall_write_key(out, "unit");
    tcall_write_string(out, unit);
    tcall_write_key(out, "simulated");
    tcall_write_bool(out, simulated);
    return tcall_write_close(out, '}');
}

/* A line that was exported to /sys is real; the others are simulated. */
static FILE *open_line(int pin, const char *mode)
{
    char path[64];

    snprintf(path, sizeof path, "/sys/class/gpio/gpio%d/value", pin);
    return access(path, F_OK) == 0 ? fopen(path, mode) : NULL;
}

static bool line_is_real(int pin)
{
    FILE *f = open_line(pin, "r");

    if (f)
        fclose(f);
    return f != NULL;
}

static int say_line(tcall_writer *out, int pin, bool on, bool simulated)
{
    tcall_write_open(out, '{');
    tcall_write_key(out, "pin");
    tcall_write_int(out, pin);
    tcall_write_key(out, "on");
    tcall_write_bool(out, on);
    tcall_write_key(out, "simulated");
    tcall_write_bool(out, simulated);
    return tcall_write_close(out, '}');
}

static int read_gpio(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const bool *lines = cx->user; /* .user of the tool */
    int pin = tcall_json_int(tcall_json_get(args, "pin"), 0);
    bool on = lines[pin];
    FILE *f = open_line(pin, "r");

    if (f) {
        on = fgetc(f) == '1';
        fclose(f);
    }
    return say_line(out, pin, on, !f);
}

static int write_gpio(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    bool *lines = cx->user;
    int pin = tcall_json_int(tcall_json_get(args, "pin"), 0);
    bool on = tcall_json_bool(tcall_json_get(args, "on"), false);
    bool real = line_is_real(pin), done = true;
    FILE *f = real ? open_line(pin, "w") : NULL;

    if (f) {
        done = fputc(on ? '1' : '0', f) != EOF;
        done = fclose(f) == 0 && done;
    }
    if (real && !(f && done)) {
        tcall_write_text(out, "the line is not an output, or not ours");
        return TCALL_E_FAILED;
    }
    lines[pin] = on;
    return say_line(out, pin, on, !real);
}

#define UNIT_NAME(me, word) #word,
static const char *const unit_names[] = {UNIT(UNIT_NAME, )};
static const struct unit { /* in that order */
    char kind;
    double scale, zero; /* in the kind's own unit: value * scale + zero */
} units[] = {
    {'l', 0.001, 0},
    {'l', 0.01, 0},
    {'l', 1, 0},
    {'l', 1000, 0},
    {'l', 0.0254, 0},
    {'l', 0.3048, 0},
    {'l', 0.9144, 0},
    {'l', 1609.344, 0},
    {'m', 1, 0},
    {'m', 1000, 0},
    {'m', 28.349523125, 0},
    {'m', 453.59237, 0},
    {'v', 1, 0},
    {'v', 1000, 0},
    {'v', 3785.411784, 0},
    {'s', 1, 0},
    {'s', 1 / 3.6, 0},
    {'s', 0.44704, 0},
    {'s', 1852 / 3600.0, 0},
    {'t', 1, 273.15},
    {'t', 5 / 9.0, 273.15 - 32 * 5 / 9.0},
    {'t', 1, 0},
};

/* The arguments are in a struct, the units as indices into their names. */
static int convert_unit(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const struct conversion *a = cx->bound;
    const struct unit *from = &units[a->from], *to = &units[a->to];
    double result =
        (a->value * from->scale + from->zero - to->zero) / to->scale;
    char text[64];

    (void)args;
    if (from->kind != to->kind || !isfinite(result)) {
        tcall_write_text(out, unit_names[a->from]);
        tcall_write_text(out, " cannot be converted to ");
        tcall_write_text(out, unit_names[a->to]);
        return TCALL_E_FAILED;
    }
    if (fabs(result) < 1e-9) /* what rounding left over */
        result = 0;
    tcall_write_open(out, '{');
    tcall_write_key(out, "value");
    snprintf(text, sizeof text, "%.7g", result);
    tcall_write_verbatim(out, tcall_str_of(text));
    tcall_write_key(out, "unit");
    tcall_write_string(out, unit_names[a->to]);
    return tcall_write_close(out, '}');
}
