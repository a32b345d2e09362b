/* Needs: OPENAI, HOOKS. */
/* What examples/trace.h writes is JSON Lines without a secret, and a replay of
 * it is the same turn again: for every size of the pieces that arrive. Nor is a
 * secret in what else goes out: audit, provenance, messages of errors. */
#define _POSIX_C_SOURCE 200809L
#include "toolcall.h"

#include "examples/trace.h"

#include "check.h"

#define KEY "sk-canary-0123456789"
/* as JSON may write it, in a string and in a string of that */
#define ESCAPED "sk\\u002Dc\\u0061nary-0123456789"
#define TWICE   "sk\\\\u002dc\\\\u0061nary-012345678\\\\u0039"

/* C1, directions, tags: what a terminal would obey, or not show */
#define CONTROLS "\xC2\x9B\xE2\x80\xAE\xF3\xA0\x80\x81\x7F"

/* The server repeats the key in the middle of its answers. */
static const struct {
    int status;
    int error; /* instead of the end */
    const char *body;
} plan[] = {
    {503, 0, "{\"error\":{\"message\":\"not you, " KEY "!\",\"type\":\"x\"}}"},
    {200, 0,
     "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
     "\"content\":\"sk-ca " KEY KEY " " ESCAPED " \xE2\x82\xAC" CONTROLS
     "\",\"tool_calls\":[{\"id\":"
     "\"c1\",\"type\":\"function\",\"function\":{\"name\":\"add\","
     "\"arguments\":\"{\\\"a\\\":\\\"" KEY " " TWICE
     "\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}"},
    {0, TCALL_E_CLOSED, ""},
    {200, 0,
     "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
     "\"content\":\"Done. \xF0\x9F\x98\x80\"},\"finish_reason\":\"stop\"}]}"},
};

static size_t at, given, piece;
static uint32_t now;
static int runs, retries;
static tcall_response *response;
static trace tracer;

static int open_(void *user, const tcall_request *req, tcall_response *res)
{
    (void)user;
    (void)req;
    response = res;
    given = 0;
    return at < TCALL_ARRAY_LEN(plan) ? TCALL_OK : TCALL_E_CONNECT;
}

static int write_(void *user, const char *bytes, size_t len)
{
    (void)user;
    (void)bytes;
    return (int)(len < piece ? len : piece);
}

static int read_(void *user, char *bytes, size_t cap)
{
    size_t n = strlen(plan[at].body) - given;
    (void)user;
    response->status = plan[at].status;
    if (n == 0)
        return plan[at].error;
    n = n < cap ? n : cap;
    n = n < piece ? n : piece;
    memcpy(bytes, plan[at].body + given, n);
    given += n;
    return (int)n;
}

static void close_(void *user)
{
    (void)user;
    at++;
}

static uint32_t now_(void *user)
{
    (void)user;
    return now++;
}

static void wait_(void *user, const tcall_wait *wait)
{
    (void)user;
    now += wait->ms;
}

static int add(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    runs++;
    return tcall_write_text(out, "the key is " KEY);
}

static tcall tc;
static tcall_agent agent;

/* What has left by the hook for audits and by tcall_write_provenance, each
 * behind a mask. */
static char left[1 << 16];
static size_t left_len;

static int leave(void *user, const char *bytes, size_t len)
{
    (void)user;
    memcpy(left + left_len, bytes, len);
    left_len += len;
    return (int)len;
}

/* No mask of ours in front of audit and provenance: that they do not show the
 * key is the default. */
static tcall_audit audit = {leave, NULL};
static const tcall_hook hooks[] = {TCALL_AUDIT(&audit), TRACE_RESULTS(&tracer)};
static bool with_results;
static const char *said = "go";

static void write_provenance(const tcall_call *call)
{
    char buf[64];
    tcall_writer w;
    tcall_writer_init(&w, buf, sizeof buf);
    tcall_writer_sink(&w, leave, NULL);
    tcall_write_provenance(&w, &tc, call);
    CHECK(tcall_writer_flush(&w) == TCALL_OK);
}

static void on_event(void *user, const tcall_event *e)
{
    (void)user;
    retries += e->kind == TCALL_EVENT_RETRY;
    trace_event(&tracer, e);
    if (e->kind == TCALL_EVENT_END)
        write_provenance(e->call);
}

static int run(tcall_transport transport)
{
    static char block[16384];
    static tcall_tool tool;
    tcall_desc d;
    tcall_agent_desc ad;
    memset(&tool, 0, sizeof tool);
    tool.name = "add";
    tool.parameters = "{\"type\":\"object\"}";
    tool.run = add;
    tool.permissions = TCALL_READ;
    memset(&d, 0, sizeof d);
    d.block = block;
    d.block_size = sizeof block;
    d.tools = &tool;
    d.tool_count = 1;
    d.allow = TCALL_READ;
    d.on_event = on_event;
    d.hooks = hooks;
    d.hook_count = (uint16_t)(with_results ? 2 : 1);
    left_len = 0;
    memset(&ad, 0, sizeof ad);
    ad.tc = &tc;
    ad.provider = &tcall_openai;
    ad.model = "m";
    ad.key = KEY;
    ad.transport = transport;
    at = given = 0;
    runs = retries = 0;
    CHECK(tcall_init(&tc, &d) == TCALL_OK);
    CHECK(tcall_agent_init(&agent, &ad) == TCALL_OK);
    return tcall_agent_run(&agent, tcall_str_of(said));
}

/* Each line is an object, none has the key; returns their number. */
static int read_trace(FILE *f)
{
    static char line[1 << 16];
    static tcall_tok tok[64];
    tcall_json v;
    int lines = 0;
    rewind(f);
    for (; fgets(line, sizeof line, f); lines++) {
        CHECK(!strstr(line, "anary"));
        CHECK(!strpbrk(line, "\xC2\x7F") && !strstr(line, "\xE2\x80") &&
              !strchr(line, '\xF3'));
        CHECK(tcall_json_parse(&v, line, strlen(line), tok, 64, NULL) > 0);
        CHECK(tcall_json_type(v) == TCALL_OBJECT);
    }
    rewind(f);
    return lines;
}

/* Goes on where the file is now. */
static tcall_transport tracer_again(FILE *f)
{
    trace_free(&tracer);
    return trace_replay(&tracer, f);
}

int main(void)
{
    for (piece = 1; piece < 600; piece += piece < 60 ? 1 : 97) {
        tcall_transport t = {open_, write_, read_, close_,
                             now_,  wait_,  NULL,  NULL};
        FILE *f = tmpfile();
        if (!f)
            break;
        CHECK(run(trace_record(&tracer, f, t)) == TCALL_OK);
        CHECK(runs == 1 && retries == 2);
        CHECK(!strstr(agent.answer.message, "canary"));
        CHECK(left_len > 200 && left_len < sizeof left);
        left[left_len] = '\0';
        CHECK(strstr(left, "***") && !strstr(left, "anary"));
        CHECK(read_trace(f) > 10);

        CHECK(run(trace_replay(&tracer, f)) == TCALL_OK);
        CHECK(at == 0 && runs == 1 && retries == 2);
        CHECK(tcall_str_eq(tcall_agent_text(&agent),
                           tcall_str_of("Done. \xF0\x9F\x98\x80")));
        CHECK(tracer.differs == 2);      /* the key is in them */
        CHECK(run(tracer_again(f)) < 0); /* the trace is over */
        CHECK(runs == 0);

        with_results = true; /* no tool runs, and all is as it was */
        rewind(f);
        CHECK(run(tracer_again(f)) == TCALL_OK);
        CHECK(runs == 0 && retries == 2 && tracer.differs == 0);
        said = "go, go";
        rewind(f);
        CHECK(run(tracer_again(f)) == TCALL_OK);
        CHECK(runs == 0 && tracer.differs == 4);
        with_results = false;
        said = "go";
        trace_free(&tracer);
        fclose(f);
    }
    CHECK(piece >= 600);
    return check_sum("test_trace");
}
