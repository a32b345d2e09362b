/*
 * tools.h - three tools of an Arduino Uno, for any board
 *
 * The board gives board_led, board_celsius10 (tenths of a degree) and
 * board_relay; uno.ino and ../profiles/uno.c are two. The LED, the relays of
 * channels 1 to 4 and a thermometer are called by any MCP client: see
 * README.md.
 */
#ifndef TOOLCALL_NO_AGENT /* of the library only what a server needs */
#define TOOLCALL_NO_AGENT
#endif
#ifndef TOOLCALL_NO_INT64
#define TOOLCALL_NO_INT64
#endif
#define TOOLCALL_MAX_FAULTS 1
#define TOOLCALL_MAX_DEPTH  32
#define TOOLCALL_MCP_NAME   16
#define TOOLCALL_MCP_PIECE  8
#ifndef TOOLCALL_MCP_ID
#define TOOLCALL_MCP_ID 48 /* a word and a UUID */
#endif
#define TOOLCALL_MCP_STASH 80
#ifndef TOOLCALL_MCP_TOKEN
#define TOOLCALL_MCP_TOKEN 0 /* nothing waits: nobody is told of progress */
#endif
#define TOOLCALL_MISFIT_TEXT 0
#ifndef TOOLCALL_SHAPE_LEVELS
#define TOOLCALL_SHAPE_LEVELS 4 /* message, parameters, arguments, channels */
#endif
#define TOOLCALL_IMPLEMENTATION
#define TOOLCALL_STATIC
#include "toolcall.h"

static void board_led(bool on);
static int32_t board_celsius10(void);
static void board_relay(uint8_t channel, bool on, int32_t seconds);

#define LED(ROW, me) ROW(me, required, boolean, on, "true: lit")
TCALL_SHAPE(led, LED)

#define UNIT(WORD, me) WORD(me, celsius) WORD(me, fahrenheit) WORD(me, kelvin)
TCALL_CHOICE(unit, UNIT)
#define THERMOMETER(ROW, me)                                                  \
    ROW(me, defaults(unit_celsius), choice(unit), unit, "Unit of the answer") \
    ROW(me, optional, fixed(1, -9.9, 9.9), offset,                            \
        "Correction in degrees Celsius")
TCALL_SHAPE(thermometer, THERMOMETER)

#define TIMER(ROW, me)                                       \
    ROW(me, required, integer(1, 3600), seconds, "How long") \
    ROW(me, optional, or_null(text(1, 12)), label, "Name of the timer")
TCALL_SHAPE(timer, TIMER)
TCALL_LIST(channels, integer(1, 4), 1, 4)
#define RELAY(ROW, me)                                                      \
    ROW(me, required, list(channels), channels, "Relays to switch, 1 to 4") \
    ROW(me, required, boolean, on, "true: closed")                          \
    ROW(me, optional, object(timer), timer, "Switches back after this time")
TCALL_SHAPE(relay, RELAY)

static int led_run(tcall_ctx *cx, tcall_json none, tcall_writer *out)
{
    const struct led *args = (const struct led *)cx->bound;
    (void)none;
    board_led(args->on);
    if (args->on)
        return TCALL_SAY(out, "LED is on");
    return TCALL_SAY(out, "LED is off");
}

static int thermometer_run(tcall_ctx *cx, tcall_json none, tcall_writer *out)
{
    const struct thermometer *args = (const struct thermometer *)cx->bound;
    int32_t tenths = board_celsius10() + args->offset;
    (void)none;
    if (args->unit == unit_fahrenheit)
        tenths = tenths * 9 / 5 + 320;
    else if (args->unit == unit_kelvin)
        tenths += 2732;
    tcall_write_fixed(out, tenths, 1);
    if (args->unit == unit_fahrenheit)
        return TCALL_SAY(out, " fahrenheit");
    if (args->unit == unit_kelvin)
        return TCALL_SAY(out, " kelvin");
    return TCALL_SAY(out, " celsius");
}

static int relay_run(tcall_ctx *cx, tcall_json none, tcall_writer *out)
{
    const struct relay *args = (const struct relay *)cx->bound;
    bool timed = TCALL_GIVEN(args, relay, timer);
    uint16_t i;
    (void)none;
    for (i = 0; i < args->channels.count; i++) {
        board_relay((uint8_t)args->channels.items[i], args->on,
                    timed ? args->timer.seconds : 0);
        TCALL_SAY(out, "relay ");
        tcall_write_fixed(out, args->channels.items[i], 0);
        TCALL_SAY(out, " ");
    }
    if (args->on)
        TCALL_SAY(out, "closed");
    else
        TCALL_SAY(out, "open");
    if (timed) {
        TCALL_SAY(out, " for ");
        tcall_write_fixed(out, args->timer.seconds, 0);
        TCALL_SAY(out, " s");
    }
    if (timed && TCALL_GIVEN(&args->timer, timer, label)) {
        TCALL_SAY(out, ", timer ");
        tcall_write_text(out, args->timer.label);
    }
    return TCALL_OK;
}

#define BOARD(TOOL, me)                                                  \
    TOOL(me, led, TCALL_ACTUATE, false, "Switches the LED of the board") \
    TOOL(me, thermometer, TCALL_READ, false, "Reads the temperature")    \
    TOOL(me, relay, TCALL_ACTUATE, false,                                \
         "Opens or closes relays, for a time if wanted")
TCALL_TOOLS(board, BOARD)

static tcall_mcp server;

static int board_start(tcall_sink sink)
{
    static const char name[] TCALL_FLASH_ = "uno";
    static union board_room room;
    tcall_mcp_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = name;
    desc.tools = board_tools;
    desc.tool_count = TCALL_ARRAY_LEN(board_tools);
    desc.allow = TCALL_READ | TCALL_ACTUATE;
    desc.room = &room;
    desc.room_size = sizeof room;
    desc.sink = sink;
    return tcall_mcp_init(&server, &desc);
}
