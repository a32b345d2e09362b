/* Needs: AGENT. */
/* Requests that are tried again, streams that are seen as they arrive, and
 * what stops them: the agent over a script, with a clock that only a wait
 * moves. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/agent_loop.c"
#include "../src/servers.c"
#endif
#include "check.h"

#define KEY "sk-canary-0123456789"

/* One exchange. The error comes at the given place: nothing, a whole answer
 * and then the error instead of the end, or only the error. */
typedef struct exchange {
    int status;       /* 0: 200 */
    long retry_after; /* milliseconds; 0: not said, -1: at once */
    int should;
    int open_error, write_error, read_error;
    const char *body;
} exchange;

typedef struct server {
    const exchange *plan;
    int at, opened, closed, reads;
    size_t given;
    size_t piece; /* bytes of each read; 0: all */
    size_t sent;
    uint32_t clock;
    bool no_clock;
    /* what the agent's events said */
    int retries;
    uint32_t waits[16];
    int last_status, last_error;
    char text[256], pieces[256], seen[4096];
    size_t first_text_at, first_piece_at; /* bytes that were read by then */
    int cancel_at;                        /* TEXT events until it cancels */
} server;

static server srv;
static tcall tc;
static tcall_agent agent;
static int runs;

static int open_(void *user, const tcall_request *req, tcall_response *res)
{
    server *s = (server *)user;
    const exchange *e = &s->plan[s->at];
    (void)req;
    s->opened++;
    s->given = s->sent = 0;
    if (e->open_error)
        return e->open_error;
    res->status = 0;
    return TCALL_OK;
}

static int write_(void *user, const char *bytes, size_t len)
{
    server *s = (server *)user;
    (void)bytes;
    if (s->plan[s->at].write_error) { /* in the middle of the body */
        if (s->sent)
            return s->plan[s->at].write_error;
        len = 20;
    }
    s->sent += len;
    return (int)len;
}

static int read_(void *user, char *bytes, size_t cap)
{
    server *s = (server *)user;
    const exchange *e = &s->plan[s->at];
    size_t n = e->body ? strlen(e->body) - s->given : 0;
    s->reads++;
    if (e->body || !e->read_error) {
        agent.response.status = e->status ? e->status : 200;
        agent.response.should_retry = e->should;
    }
    if (e->retry_after)
        agent.response.retry_after_ms = e->retry_after < 0 ? 0 : e->retry_after;
    if (n == 0)
        return e->read_error;
    n = n < cap ? n : cap;
    n = s->piece && s->piece < n ? s->piece : n;
    memcpy(bytes, e->body + s->given, n);
    s->given += n;
    return (int)n;
}

static void close_(void *user)
{
    server *s = (server *)user;
    s->closed++;
    s->at++;
}

static uint32_t now_(void *user)
{
    return ((server *)user)->clock;
}

static void wait_(void *user, const tcall_wait *wait)
{
    ((server *)user)->clock += wait->ms;
}

static void append(char *to, size_t cap, tcall_str s)
{
    size_t n = strlen(to);
    if (s.len && n + s.len < cap) {
        memcpy(to + n, s.ptr, s.len);
        to[n + s.len] = 0;
    }
}

static void on_event(void *user, const tcall_event *e)
{
    server *s = (server *)user;
    append(s->seen, sizeof s->seen, e->text);
    if (e->kind == TCALL_EVENT_RETRY) {
        CHECK(s->retries < 16);
        s->waits[s->retries++ % 16] = e->ms;
        s->last_status = e->status;
        s->last_error = e->error;
    } else if (e->kind == TCALL_EVENT_TEXT) {
        if (!*s->text)
            s->first_text_at = s->given;
        append(s->text, sizeof s->text, e->text);
        if (s->cancel_at && --s->cancel_at == 0)
            tcall_agent_cancel(&agent);
    } else if (e->kind == TCALL_EVENT_PIECE) {
        if (!*s->pieces)
            s->first_piece_at = s->given;
        append(s->pieces, sizeof s->pieces, e->item->name);
        append(s->pieces, sizeof s->pieces, e->item->text);
        append(s->pieces, sizeof s->pieces, tcall_str_of("|"));
    }
}

static int add(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    runs++;
    return tcall_write_int(out, tcall_json_int(tcall_json_get(args, "a"), 0));
}

static tcall_tool tools[1];

static void begin(const exchange *plan, bool stream)
{
    static char block[16384];
    tcall_desc d;
    tcall_agent_desc ad;
    memset(tools, 0, sizeof tools);
    tools[0].name = "add";
    tools[0].description = "Add.";
    tools[0].parameters = tcall_schema_text_of("{\"type\":\"object\"}");
    tools[0].run = add;
    tools[0].permissions = TCALL_WRITE;
    memset(&d, 0, sizeof d);
    d.block = block;
    d.lenient = &tcall_lenient;
    d.block_size = sizeof block;
    d.tools = tools;
    d.tool_count = 1;
    d.allow = TCALL_WRITE;
    d.on_event = on_event;
    d.events = &tcall_events;
    d.user = &srv;
    memset(&srv, 0, sizeof srv);
    srv.plan = plan;
    srv.clock = 0xFFFFFF00u; /* it wraps in the middle of things */
    memset(&ad, 0, sizeof ad);
    ad.tc = &tc;
    ad.provider = &tcall_openai;
    ad.model = "m";
    ad.key = KEY;
    ad.stream = stream;
    ad.seed = 7;
    ad.transport.open = open_;
    ad.transport.write = write_;
    ad.transport.read = read_;
    ad.transport.close = close_;
    ad.transport.now_ms = now_;
    ad.transport.wait = wait_;
    ad.transport.user = &srv;
    runs = 0;
    CHECK(tcall_init(&tc, &d) == TCALL_OK);
    ad.allow_repeat = true;
    CHECK(tcall_agent_init(&agent, &ad) == TCALL_OK);
}

static int run(void)
{
    int r = tcall_agent_run(&agent, tcall_str_of("go"));
    CHECK(srv.opened == srv.closed);
    CHECK(!strstr(srv.seen, "canary") &&
          !strstr(agent.answer.message, "canary"));
    return r;
}

#define ONE_CALL                                                             \
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","        \
    "\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\"," \
    "\"function\":{\"name\":\"add\",\"arguments\":\"{\\\"a\\\":1}\"}}]},"    \
    "\"finish_reason\":\"tool_calls\"}]}"
#define DONE                                            \
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":" \
    "\"assistant\",\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}"
#define HALF                                            \
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":" \
    "\"assistant\",\"content\":\"Do"
#define ERROR_(text) "{\"error\":{\"message\":\"" text "\",\"type\":\"x\"}}"
#define OK_ANSWER              \
    {                          \
        0, 0, 0, 0, 0, 0, DONE \
    }

/* What one failure leads to: a second try after so many milliseconds, or the
 * error. */
static void test_which(void)
{
    static const struct {
        exchange first;
        int r;
        uint32_t least, most;
    } t[] = {
        {{408, 0, 0, 0, 0, 0, ERROR_("x")}, 0, 250, 500},
        {{409, 0, 0, 0, 0, 0, ERROR_("x")}, 0, 250, 500},
        {{429, 0, 0, 0, 0, 0, ERROR_("x")}, 0, 250, 500},
        {{500, 0, 0, 0, 0, 0, ERROR_("x")}, 0, 250, 500},
        {{502, 0, 0, 0, 0, 0, "<html>Bad Gateway</html>"}, 0, 250, 500},
        {{503, 0, 0, 0, 0, 0, ""}, 0, 250, 500},
        {{529, 0, 0, 0, 0, 0, ERROR_("overloaded")}, 0, 250, 500},
        {{503, 0, 0, 0, 0, TCALL_E_CLOSED, "{\"err"}, 0, 250, 500},
        /* as told, up to the cap */
        {{429, 2000, 0, 0, 0, 0, ERROR_("x")}, 0, 2000, 2000},
        {{429, 70, 0, 0, 0, 0, ERROR_("x")}, 0, 70, 70},
        {{529, -1, 0, 0, 0, 0, ERROR_("x")}, 0, 0, 0},
        {{429, 0x7fffffff, 0, 0, 0, 0, ERROR_("x")}, 0, 60000, 60000},
        /* what the server says of it */
        {{429, 0, -1, 0, 0, 0, ERROR_("x")}, TCALL_E_RATE, 0, 0},
        {{500, 0, -1, 0, 0, 0, ERROR_("x")}, TCALL_E_PROVIDER, 0, 0},
        {{400, 0, 1, 0, 0, 0, ERROR_("x")}, 0, 250, 500},
        /* no use */
        {{400, 0, 0, 0, 0, 0, ERROR_("x")}, TCALL_E_REQUEST, 0, 0},
        {{401, 0, 0, 0, 0, 0, ERROR_("wrong key " KEY)}, TCALL_E_AUTH, 0, 0},
        {{403, 5, 0, 0, 0, 0, ERROR_("x")}, TCALL_E_DENIED, 0, 0},
        {{403, 0, 0, 0, 0, 0, ERROR_("no such API key")}, TCALL_E_AUTH, 0, 0},
        {{404, 0, 0, 0, 0, 0, ERROR_("x")}, TCALL_E_NOT_FOUND, 0, 0},
        {{413, 0, 0, 0, 0, 0, ERROR_("x")}, -1000, 0, 0},
        {{307, 0, 0, 0, 0, 0, ""}, -1000, 0, 0},
        /* before a byte of the answer */
        {{0, 0, 0, TCALL_E_CONNECT, 0, 0, NULL}, 0, 250, 500},
        {{0, 0, 0, TCALL_E_RESOLVE, 0, 0, NULL}, 0, 250, 500},
        {{0, 0, 0, TCALL_E_TIMEOUT, 0, 0, NULL}, 0, 250, 500},
        {{0, 0, 0, 0, TCALL_E_CLOSED, 0, NULL}, 0, 250, 500},
        {{0, 0, 0, 0, 0, TCALL_E_CLOSED, NULL}, 0, 250, 500},
        {{0, -1, 0, 0, 0, TCALL_E_CLOSED, NULL}, 0, 0, 0}, /* dead, reused */
        {{0, 0, 0, 0, 0, TCALL_E_TIMEOUT, NULL}, TCALL_E_TIMEOUT, 0, 0},
        {{0, 0, 0, TCALL_E_TLS, 0, 0, NULL}, TCALL_E_TLS, 0, 0},
        {{0, 0, 0, TCALL_E_CLOCK, 0, 0, NULL}, TCALL_E_CLOCK, 0, 0},
        {{0, 0, 0, TCALL_E_CERTIFICATE, 0, 0, NULL}, TCALL_E_CERTIFICATE, 0, 0},
        {{0, 0, 0, TCALL_E_USAGE, 0, 0, NULL}, TCALL_E_USAGE, 0, 0},
        /* in the middle of an answer that began well */
        {{0, 0, 1, 0, 0, TCALL_E_CLOSED, "{\"choices\":[{\"in"},
         TCALL_E_CLOSED,
         0,
         0},
        {{0, 0, 0, 0, 0, 0, "{\"choices\":[{\"in"}, TCALL_E_TRUNCATED, 0, 0},
        {{0, 0, 0, 0, 0, TCALL_E_CLOSED, HALF}, TCALL_E_CLOSED, 0, 0},
        {{0, 0, 0, 0, 0, 0, ERROR_("overloaded")}, -1000, 0, 0},
    };
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(t); i++) {
        exchange plan[3] = {{0, 0, 0, 0, 0, 0, NULL}, OK_ANSWER, OK_ANSWER};
        int r;
        plan[0] = t[i].first;
        begin(plan, false);
        r = run();
        if (t[i].r == 0 ? r != 0 : r >= 0 || (t[i].r != -1000 && r != t[i].r))
            printf("case %d: %d\n", (int)i, r);
        CHECK(t[i].r == 0 ? r == 0 : r < 0 && (t[i].r == -1000 || r == t[i].r));
        CHECK(srv.retries == (t[i].r == 0));
        CHECK(srv.opened == 1 + srv.retries);
        CHECK(srv.waits[0] >= t[i].least && srv.waits[0] <= t[i].most);
        CHECK(srv.clock - 0xFFFFFF00u == srv.waits[0]);
        CHECK(!srv.retries || srv.last_error < 0);
        if (r == 0)
            CHECK(
                tcall_str_eq(tcall_agent_text(&agent), tcall_str_of("Done.")));
        else /* nothing stays of it */
            CHECK(tc.block.low == agent.chat.start);
    }
}

/* Google says in the body how long to wait. */
static void test_body_tells(void)
{
    static const exchange plan[] = {
        {429, 0, 0, 0, 0, 0,
         "{\"error\":{\"code\":429,\"message\":\"quota\",\"status\":"
         "\"RESOURCE_EXHAUSTED\",\"details\":[{\"@type\":\"type.googleapis.com/"
         "google.rpc.RetryInfo\",\"retryDelay\":\"3.5s\"}]}}"},
        {0, 0, 0, 0, 0, 0,
         "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":"
         "[{\"text\":\"Done.\"}]},\"finishReason\":\"STOP\"}]}"}};
    begin(plan, false);
    agent.desc.provider = &tcall_gemini;
    CHECK(run() == TCALL_OK);
    CHECK(srv.retries == 1 && srv.waits[0] == 3500 && srv.last_status == 429);
}

/* Attempts and time have budgets, and a tool runs once whatever happens to the
 * requests around it. */
static void test_budgets(void)
{
    static const exchange busy = {503, 0, 0, 0, 0, 0, ""};
    static const exchange ok = OK_ANSWER;
    exchange plan[16];
    int i, tries;
    for (tries = 1; tries < 10; tries++) {
        for (i = 0; i < 16; i++)
            plan[i] = busy;
        begin(plan, false);
        agent.desc.max_tries = tries;
        CHECK(run() < 0);
        CHECK(srv.opened == tries && srv.retries == tries - 1);
        for (i = 0; i < srv.retries; i++) {
            uint32_t base = 500u << (i < 4 ? i : 4);
            CHECK(srv.waits[i] >= base / 2 && srv.waits[i] <= base);
        }
        plan[tries - 1] = ok;
        begin(plan, false);
        agent.desc.max_tries = tries;
        CHECK(run() == TCALL_OK && srv.opened == tries);
    }
    begin(plan, false); /* by default 3 */
    CHECK(run() < 0 && srv.opened == 3);

    for (i = 0; i < 16; i++) {
        plan[i] = busy;
        plan[i].retry_after = 3000;
    }
    begin(plan, false);
    agent.desc.max_tries = 100;
    agent.desc.max_ms = 10000;
    CHECK(run() < 0); /* no wait is begun that ends too late */
    CHECK(srv.opened == 4 && srv.clock - 0xFFFFFF00u == 9000);
    begin(plan, false);
    agent.desc.max_wait_ms = 100;
    CHECK(run() < 0 && srv.waits[0] == 100 && srv.waits[1] == 100);
    begin(plan, false);
    agent.desc.transport.now_ms = NULL; /* nobody knows when a wait is over */
    CHECK(run() < 0 && srv.opened == 1);
    begin(plan, false);
    agent.desc.max_tries = 1;
    CHECK(run() < 0 && srv.opened == 1 && srv.retries == 0);

    /* A tool's effect, with failures of all kinds around it. */
    memset(plan, 0, sizeof plan);
    plan[0] = busy;
    plan[1].body = ONE_CALL;
    plan[2].write_error = TCALL_E_CLOSED;
    plan[3] = busy;
    plan[4].body = ONE_CALL; /* the model wants it once more */
    plan[5].read_error = TCALL_E_CLOSED;
    plan[5].retry_after = -1;
    plan[6] = busy;
    plan[7].open_error = TCALL_E_CONNECT;
    plan[8] = ok;
    begin(plan, false);
    CHECK(run() == TCALL_OK && runs == 2 && srv.opened == 9);
    /* Whoever says for ever that a connection was dead is not believed. */
    for (i = 0; i < 16; i++)
        plan[i] = plan[5];
    begin(plan, false);
    CHECK(run() == TCALL_E_CLOSED && srv.opened == 4);
}

/* Seeds give different waits; the same seed the same. */
static void test_jitter(void)
{
    static const exchange plan[] = {{503, 0, 0, 0, 0, 0, ""}, OK_ANSWER};
    uint32_t waits[64], sum = 0;
    int i, k, same = 0;
    for (i = 0; i < 64; i++) {
        begin(plan, false);
        agent.desc.seed = agent.random = (uint32_t)i + 1;
        CHECK(run() == TCALL_OK);
        waits[i] = srv.waits[0];
        sum += waits[i];
        for (k = 0; k < i; k++)
            same += waits[i] == waits[k];
    }
    CHECK(same < 30);                        /* 8 of 250 values: chance */
    CHECK(sum / 64 > 330 && sum / 64 < 420); /* in the middle: 375 */
    begin(plan, false);
    agent.desc.seed = agent.random = 1;
    CHECK(run() == TCALL_OK && srv.waits[0] == waits[0]);
}

/* A super-loop learns how long it may sleep; a cancel ends the wait. */
static void test_steps(void)
{
    static const exchange plan[] = {{503, 700, 0, 0, 0, 0, ""}, OK_ANSWER};
    int r, i;
    for (i = 0; i < 2; i++) {
        begin(plan, false);
        CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
        do {
            CHECK(agent.wait.ms == 0);
            r = tcall_agent_step(&agent);
        } while (r == TCALL_E_AGAIN && !agent.wait.ms);
        CHECK(r == TCALL_E_AGAIN && agent.wait.ms == 700);
        CHECK(srv.opened == 1 && srv.closed == 1);
        srv.clock += 300;
        CHECK(tcall_agent_step(&agent) == TCALL_E_AGAIN);
        CHECK(agent.wait.ms == 400 && srv.opened == 1);
        if (i == 0) {
            tcall_agent_cancel(&agent);
            CHECK(tcall_agent_step(&agent) == TCALL_E_CANCELLED);
            CHECK(srv.opened == 1 && srv.closed == 1 && agent.wait.ms == 0);
            continue;
        }
        srv.clock += 400;
        while ((r = tcall_agent_step(&agent)) == TCALL_E_AGAIN)
            CHECK(agent.wait.ms == 0);
        CHECK(r == TCALL_OK && srv.opened == 2);
    }
}

#define DELTA(text) \
    "data: {\"choices\":[{\"index\":0,\"delta\":{" text "}}]}\n\n"
#define STREAM                                                         \
    DELTA("\"content\":\"Let \"")                                      \
    DELTA("\"content\":\"me see.\"")                                   \
    DELTA("\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":"       \
          "\"function\",\"function\":{\"name\":\"add\",\"arguments\":" \
          "\"\"}}]")                                                   \
    DELTA("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":"  \
          "\"{\\\"a\\\"\"}}]")                                         \
    DELTA("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":"  \
          "\":1}\"}}]")                                                \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":" \
    "\"tool_calls\"}]}\n\ndata: [DONE]\n\n"

/* Text and pieces of calls are seen as soon as their event is complete, and
 * after a cancel nothing more is read. */
static void test_stream(void)
{
    static const exchange plan[] = {{0, 0, 0, 0, 0, 0, STREAM}, OK_ANSWER};
    size_t piece, first = strlen(DELTA("\"content\":\"Let \""));
    size_t call = (size_t)(strstr(STREAM, "tool_calls") - STREAM);
    for (piece = 1; piece < 40; piece += 3) {
        begin(plan, true);
        srv.piece = piece;
        CHECK(run() == TCALL_OK && runs == 1);
        CHECK(strcmp(srv.text, "Let me see.Done.") == 0);
        CHECK(strcmp(srv.pieces, "add|{\"a\"|:1}|") == 0);
        CHECK(srv.first_text_at <= first + piece);
        CHECK(srv.first_piece_at > call && srv.first_piece_at < call + 170);

        begin(plan, true);
        srv.piece = piece;
        srv.cancel_at = 1;
        CHECK(run() == TCALL_E_CANCELLED && runs == 0);
        CHECK(srv.given <= first + piece && srv.opened == 1);
    }
}

int main(void)
{
    test_which();
    test_body_tells();
    test_budgets();
    test_jitter();
    test_steps();
    test_stream();
    return check_sum("test_retry");
}
