/*
 * turn.h - a turn of an agent, over HTTP, for the tests: did its call run?
 */
#include "toolcall.h"

#include "script.h"

/* Calls of fire with the right argument. */
static int runs;

/* All that was told of the turn: texts of events, of errors, of the layers. */
static char shown[1 << 16];

/* Bytes of its result beside "done", and whether it fails when they do not
 * fit. */
static size_t result_size;
static bool result_strict = true;

/* Requests of one turn; the next one is not sent: it answers TCALL_E_LIMIT. The
 * agent may send one more, for what the last one brings is not run. */
static int max_rounds = 1;
static const tcall_agent *turn_agent;
static int (*turn_opens)(void *user, const tcall_request *req,
                         tcall_response *res);

static int turn_open(void *user, const tcall_request *req, tcall_response *res)
{
    return turn_agent->turn.rounds < max_rounds ? turn_opens(user, req, res)
                                                : TCALL_E_LIMIT;
}

static int fire(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    runs += tcall_json_int(tcall_json_get(args, "n"), 0) == 12345;
    for (size_t i = 0; i < result_size; i++)
        tcall_write_text(out, "x");
    tcall_write_text(out, "done");
    return result_strict ? out->error : TCALL_OK;
}

static inline void tell(tcall_str s)
{
    size_t n = strlen(shown), room = sizeof shown - 1 - n;

    if (s.len > room)
        s.len = room;
    if (s.len)
        memcpy(shown + n, s.ptr, s.len);
    shown[n + s.len] = '\0';
}

static void turn_event(void *user, const tcall_event *e)
{
    (void)user;
    tell(e->text);
}

static inline const tcall_tool *turn_tools(void)
{
    static tcall_tool t[1];

    t[0].name = "fire";
    t[0].description = "Fire.";
    t[0].parameters =
        tcall_schema_text_of("{\"type\":\"object\",\"required\":[\"n\"],"
                             "\"properties\":{\"n\":{\"type\":\"integer\"}}}");
    t[0].run = fire;
    t[0].permissions = TCALL_READ;
    return t;
}

/* A turn against the script. Answers its error; runs says what ran. */
static int turn(script *s, const tcall_provider *provider, bool stream)
{
    static char block[24000];
    static tport_http h;
    tcall tc;
    tcall_agent a;
    tcall_desc d;
    tcall_agent_desc ad;
    int r;

    memset(&d, 0, sizeof d);
    d.block = block;
    d.lenient = &tcall_lenient;
    d.block_size = sizeof block;
    d.tools = turn_tools();
    d.tool_count = 1;
    d.allow = TCALL_READ;
    d.on_event = turn_event;
    d.events = &tcall_events;
    memset(&ad, 0, sizeof ad);
    ad.tc = &tc;
    ad.provider = provider;
    ad.model = "m";
    ad.key = "sk-canary";
    ad.stream = stream;
    ad.max_rounds = max_rounds + 1;
    tport_http_init(&h, script_stream(s), "host", "");
    ad.transport = tport_http_transport(&h);
    turn_agent = &a;
    turn_opens = ad.transport.open;
    ad.transport.open = turn_open;
    runs = 0;
    shown[0] = '\0';
    if (tcall_init(&tc, &d) < 0 || tcall_agent_init(&a, &ad) < 0)
        return TCALL_E_USAGE;
    r = tcall_agent_run(&a, tcall_str_of("now"));
    tell(tcall_agent_text(&a));
    tell(tcall_str_of(a.answer.message));
    tell(tcall_str_of(a.answer.stop_text));
    tell(tcall_str_of(tport_http_why(&h)));
    tport_http_drop(&h);
    return r;
}
