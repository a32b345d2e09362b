/*
 * main.c - an agent as firmware, without an RTOS and without a heap
 *
 * A Cortex-M3 that a language model can talk to: a lamp, a sensor and a relay
 * as tools; lwIP, mbedTLS and our HTTP below them; one loop that polls the
 * network and takes one step of the agent. make firmware-run runs it in QEMU
 * against the stand-in model.
 *
 * From top to bottom: the tools, the way to the network, the console, the
 * loop, and a list of what is said and what must come of it. A product keeps
 * all but the last.
 */
#include "board.h"
#include "lan9118.h"
#include "port/http.h"
#include "port/lwip.h"
#include "port/tls.h"

#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include <lwip/init.h>
#include <lwip/timeouts.h>
#include <mbedtls/memory_buffer_alloc.h>
#include <string.h>

#include "ca.h" /* static const char ca[]: whom to trust, made by the build */

/* --------------------------------------------------------------------------
 * The tools
 */

/* The relay's heater must not run on a hot plate. The limit is compiled in:
 * no model, prompt or argument reaches it. */
#define RELAY_LIMIT 6000 /* hundredths of a degree Celsius */

static struct {
    bool led, relay;
    long temperature; /* of the plate, in hundredths of a degree Celsius */
} board = {false, false, 2150};

static int set_led(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    board.led = tcall_json_bool(tcall_json_get(args, "on"), false);
    return tcall_write_text(out,
                            board.led ? "The LED is on." : "The LED is off.");
}

static int get_temperature(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    tcall_write_open(out, '{');
    tcall_write_key(out, "celsius");
    tcall_write_fixed(out, board.temperature, 2);
    return tcall_write_close(out, '}');
}

static int set_relay(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    bool on = tcall_json_bool(tcall_json_get(args, "on"), false);

    (void)cx;
    if (on && board.temperature > RELAY_LIMIT) {
        tcall_write_text(out, "interlock: the plate is too hot for the relay; "
                              "wait until it is below 60 degrees");
        return TCALL_E_FAILED;
    }
    board.relay = on;
    return tcall_write_text(out, on ? "The relay is on." : "The relay is off.");
}

#define ON_OFF                                                         \
    TCALL_JSON({                                                       \
        "type" : "object",                                             \
        "properties" :                                                 \
            {"on" : {"type" : "boolean", "description" : "true: on"}}, \
        "required" : ["on"],                                           \
        "additionalProperties" : false                                 \
    })

static const tcall_tool tools[] = {
    {
        .name = "set_led",
        .description = "Switch the LED of the board on or off.",
        .parameters = ON_OFF,
        .run = set_led,
        .permissions = TCALL_ACTUATE,
    },
    {
        .name = "get_temperature",
        .description = "Read the temperature of the plate, in degrees Celsius.",
        .parameters = TCALL_JSON({"type" : "object", "properties" : {}}),
        .run = get_temperature,
        .permissions = TCALL_READ,
    },
    {
        .name = "set_relay",
        .description = "Switch the relay of the heater on or off.",
        .parameters = ON_OFF,
        .run = set_relay,
        .permissions = TCALL_ACTUATE,
    },
};

/* --------------------------------------------------------------------------
 * The way to the network: lwIP, TLS, HTTP
 */

static struct netif netif;
static tport_lwip net;
static tport_tls tls;
static tport_http http;
static unsigned char tls_heap[48 * 1024];

/* How much stack the agent takes is to be told apart from what TLS takes. So
 * between HTTP and TLS stands a stream that measures: before a call it looks
 * how far the stack was used, after it the traces of the call are painted
 * over. Nothing but these figures needs it. */
static tport_stream below;
static size_t stack_agent, stack_tls;

static void note(size_t *most)
{
    size_t used = board_stack_used();

    *most = used > *most ? used : *most;
    board_paint();
}

#define MEASURED(call)  \
    note(&stack_agent); \
    r = call;           \
    note(&stack_tls);   \
    return r

static int measured_connect(void *user)
{
    int r;

    MEASURED(below.connect(user));
}

static int measured_read(void *user, char *bytes, size_t cap)
{
    int r;

    MEASURED(below.read(user, bytes, cap));
}

static int measured_write(void *user, const char *bytes, size_t len)
{
    int r;

    MEASURED(below.write(user, bytes, len));
}

static void measured_close(void *user)
{
    note(&stack_agent);
    below.close(user);
    note(&stack_tls);
}

static tport_stream measured(tport_stream s)
{
    below = s;
    s.connect = measured_connect;
    s.read = measured_read;
    s.write = measured_write;
    s.close = measured_close;
    return s;
}

/* lwIP's clock: it alone is called from another file. */
__attribute__((externally_visible)) u32_t sys_now(void);
u32_t sys_now(void)
{
    return board_ms();
}

static uint32_t now_ms(void *user)
{
    (void)user;
    return board_ms();
}

static int network_init(void)
{
    tport_tls_desc d = {.host = "localhost", .ca_pem = ca};
    ip4_addr_t address, mask, gateway;
    int r;

    lwip_init();
    IP4_ADDR(&address, 10, 0, 2, 15);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    IP4_ADDR(&gateway, 10, 0, 2, 2);
    if (!netif_add(&netif, &address, &mask, &gateway, NULL, lan9118_init,
                   netif_input))
        return TCALL_E_CONNECT;
    netif_set_default(&netif);
    netif_set_up(&netif);

    mbedtls_memory_buffer_alloc_init(tls_heap, sizeof tls_heap);
    tport_lwip_init(&net, d.host, 8443);
    r = tport_tls_init(&tls, &d, tport_lwip_stream(&net));
    tport_http_init(&http, measured(tport_tls_stream(&tls)), d.host, "");
    return r;
}

/* --------------------------------------------------------------------------
 * The console
 */

static int to_console(void *user, const char *bytes, size_t len)
{
    (void)user;
    board_print(bytes, len);
    return (int)len;
}

/* A line: a word, and what comes after it. */
static void line(tcall_writer *w, char buffer[64], const char *word)
{
    tcall_writer_init(w, buffer, 64);
    tcall_writer_sink(w, to_console, NULL);
    tcall_write_text(w, word);
}

static void end(tcall_writer *w)
{
    tcall_write_text(w, "\n");
    tcall_writer_flush(w);
}

static void say(const char *word, tcall_str a, const char *between, tcall_str b)
{
    tcall_writer w;
    char buffer[64];

    line(&w, buffer, word);
    tcall_write_bytes(&w, a.ptr, a.len);
    tcall_write_text(&w, between);
    tcall_write_bytes(&w, b.ptr, b.len);
    end(&w);
}

static void figure(const char *word, size_t n)
{
    tcall_writer w;
    char buffer[64];

    line(&w, buffer, word);
    tcall_write_int(&w, (long)n);
    end(&w);
}

static void on_event(void *user, const tcall_event *e)
{
    (void)user;
    switch (e->kind) {
    case TCALL_EVENT_REQUEST:
        figure("  tools    ", e->tools);
        figure("  request  ", e->bytes);
        break;
    case TCALL_EVENT_HYDRATED:
        say("  call     ", e->call->name, " ", e->call->arguments);
        break;
    case TCALL_EVENT_END:
        say("  result   ", e->text, "", (tcall_str){0});
        break;
    default: break;
    }
}

/* --------------------------------------------------------------------------
 * The loop
 */

static char block[8 * 1024];
static tcall tc;
static tcall_agent agent;

/* No call takes longer than this. The agent has limits of its own for how many
 * requests and calls there are in a turn. */
static const tcall_hook hooks[] = {TCALL_TIMEOUT(2000)};

/* Of many tools only those that fit what was said are sent. */
static const tcall_pick_opts picking = {
    .max = 8,
    .relative = 50,
    .allow_unsafe = true,
    .stable = true,
    .synonyms = tcall_synonyms,
};

/* The tools that fit what was said, best first. */
static bool show_picks(const char *text)
{
    static const tcall_pick_opts opts = {
        .max = 2, .allow_unsafe = true, .synonyms = tcall_synonyms};
    tcall_picked picks[2];
    int i, n = tcall_pick(&tc, tcall_str_of(text), &opts, picks, 2);

    for (i = 0; i < n; i++)
        say("  pick     ", tcall_str_of(picks[i].tool->name), "",
            (tcall_str){NULL, 0});
    return n > 0;
}

/* One turn; a product does its other work in the same loop. */
static int turn(const char *text)
{
    int r = tcall_agent_say(&agent, tcall_str_of(text));

    if (r == TCALL_OK)
        do {
            lan9118_poll(&netif);
            sys_check_timeouts();
            r = tcall_agent_step(&agent);
            board_idle();
        } while (r == TCALL_E_AGAIN);
    return r;
}

static int agent_init(void)
{
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
        .now_ms = now_ms,
        .hooks = hooks,
        .hook_count = TCALL_ARRAY_LEN(hooks),
        .stages = &tcall_stages,
    };
    tcall_agent_desc a = {
        .tc = &tc,
        .provider = &tcall_openai,
        .transport = tport_http_transport(&http),
        .model = "stand-in",
        .key = "none",
        .stream = true,
        .max_ms = 8000,
        .pick = tcall_pick, /* of more than TCALL_AGENT_ALL tools */
        .pick_opts = &picking,
    };
    int r = tcall_init(&tc, &d);

    a.transport.now_ms = now_ms;
    return r < 0 ? r : tcall_agent_init(&agent, &a);
}

/* --------------------------------------------------------------------------
 * What is said, and what must come of it
 *
 * The run script puts servers at these ports: the stand-in, one whose
 * certificate a stranger signed, one that is cut off inside its answer, one
 * that stops in the middle of it.
 */

enum { GOOD = 8443, STRANGER = 8444, CUT = 8445, STALLED = 8446 };

static const struct {
    const char *say;
    uint16_t port;
    int result;
    long temperature;
    bool led, relay;    /* after the turn */
    const char *answer; /* holds this */
} steps[] = {
    {"switch the LED on", GOOD, TCALL_OK, 2150, true, false, "LED is on"},
    {"what is the temperature?", GOOD, TCALL_OK, 4125, true, false, "41.25"},
    {"switch the relay on, switch the LED off", GOOD, TCALL_OK, 4125, false,
     true, "relay is on"},
    {"switch the relay off", GOOD, TCALL_OK, 7150, false, false, "is off"},
    {"switch the relay on", GOOD, TCALL_OK, 7150, false, false, "interlock"},
    {"switch the LED on", STRANGER, TCALL_E_CERTIFICATE, 2150, false, false,
     ""},
    {"switch the LED on", GOOD, TCALL_OK, 2150, true, false, "LED is on"},
    {"switch the LED off", CUT, TCALL_E_CLOSED, 2150, true, false, ""},
    {"switch the LED off", GOOD, TCALL_OK, 2150, false, false, "LED is off"},
    {"switch the LED on", STALLED, TCALL_E_TIMEOUT, 2150, false, false, ""},
    {"switch the LED on", GOOD, TCALL_OK, 2150, true, false, "LED is on"},
};

static bool holds(tcall_str text, const char *part)
{
    size_t n = strlen(part), i;

    for (i = 0; i + n <= text.len; i++)
        if (memcmp(text.ptr + i, part, n) == 0)
            return true;
    return false;
}

static bool step(size_t i)
{
    tcall_str answer = {NULL, 0};
    bool picked;
    int r;

    if (net.port != steps[i].port)
        tport_http_drop(&http);
    net.port = steps[i].port;
    board.temperature = steps[i].temperature;
    say("\nuser       ", tcall_str_of(steps[i].say), "", answer);
    picked = show_picks(steps[i].say);
    r = turn(steps[i].say);
    if (r == TCALL_OK)
        answer = tcall_agent_text(&agent);
    else
        say("error      ", tcall_str_of(tcall_error_code(r)), ": ",
            tcall_str_of(r == TCALL_E_TIMEOUT ? "" : tport_http_why(&http)));
    say("model      ", answer, "", (tcall_str){NULL, 0});
    if (picked && r == steps[i].result && board.led == steps[i].led &&
        board.relay == steps[i].relay && holds(answer, steps[i].answer))
        return true;
    figure("FAILED     step ", i + 1);
    return false;
}

int main(void)
{
    size_t i, passed = 0, heap, blocks;
    int r = network_init();

    if (r == TCALL_OK)
        r = agent_init();
    if (r < 0) {
        say("cannot begin: ", tcall_str_of(tcall_error_text(r)), ": ",
            tcall_str_of(tport_tls_why(&tls)));
        return 1;
    }
    for (i = 0; i < TCALL_ARRAY_LEN(steps); i++)
        passed += step(i);

    mbedtls_memory_buffer_alloc_max_get(&heap, &blocks);
    note(&stack_agent);
    figure("\nflash                 ", board_flash());
    figure("static RAM            ", board_ram());
    figure("  of it the block     ", sizeof block);
    figure("  of it TLS heap      ", sizeof tls_heap);
    figure("peak of the block     ", tcall_peak(&tc));
    figure("peak of the TLS heap  ", heap);
    figure("stack outside TLS     ", stack_agent);
    figure("stack with TLS        ", stack_tls);
    figure("passed                ", passed);
    figure("failed                ", TCALL_ARRAY_LEN(steps) - passed);
    return passed == TCALL_ARRAY_LEN(steps) && stack_agent <= 4096 ? 0 : 1;
}
