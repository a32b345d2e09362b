/* What examples/trace.h writes is JSON Lines without a secret, and a replay of
 * it is the same turn again: for every size of the pieces that arrive. Nor is a
 * secret, or a character that a terminal would obey, in what else goes out: the
 * terminal, approvals, messages of errors, audit, provenance. */
#define _POSIX_C_SOURCE 200809L
#include "toolcall.h"

#include "examples/trace.h"

#include "check.h"

#define KEY "sk-canary-0123456789"
/* as JSON may write it, in a string and in a string of that */
#define ESCAPED "sk\\u002Dc\\u0061nary-0123456789"
#define TWICE   "sk\\\\u002dc\\\\u0061nary-012345678\\\\u0039"

/* What a terminal would obey, or not show: C0, C1, directions, no width, tags.
 */
static const unsigned kinds[] = {
    0x01,   0x02,   0x03,    0x04,   0x05,   0x06,   0x07,   0x08,   0x0B,
    0x0C,   0x0D,   0x0E,    0x0F,   0x10,   0x14,   0x18,   0x1A,   0x1B,
    0x1C,   0x1F,   0x7F,    0x80,   0x84,   0x85,   0x8D,   0x90,   0x98,
    0x9B,   0x9C,   0x9D,    0x9E,   0x9F,   0x61C,  0x200B, 0x200E, 0x200F,
    0x2028, 0x2029, 0x202A,  0x202B, 0x202D, 0x202E, 0x2060, 0x2066, 0x2069,
    0xFEFF, 0xFFF9, 0xE0001, 0xE0041};

static char complaint[2048], answer[8192];

/* The server repeats the key in the middle of its answers. */
static const struct {
    int status;
    int error; /* instead of the end */
    const char *body;
} plan[] = {
    {503, 0, complaint},
    {200, 0, answer},
    {0, TCALL_E_CLOSED, ""},
    {200, 0,
     "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
     "\"content\":\"Done. \xF0\x9F\x98\x80\"},\"finish_reason\":\"stop\"}]}"},
};

/* Each kind after a y, in JSON, where C0 has to be escaped. */
static void write_kinds(char *to, const char *slash)
{
    size_t n = 0, i;
    for (i = 0; i < TCALL_ARRAY_LEN(kinds); i++) {
        unsigned c = kinds[i];
        to[n++] = 'y';
        if (c < 0x20)
            n += (size_t)sprintf(to + n, "%su%04x", slash, c);
        else
            n += (size_t)ttool_utf8_((uint8_t *)to + n, (int32_t)c);
    }
    to[n] = '\0';
}

static void make_answers(void)
{
    static char once[1024], twice[1024];
    write_kinds(once, "\\");
    write_kinds(twice, "\\\\");
    snprintf(complaint, sizeof complaint,
             "{\"error\":{\"message\":\"not you, " KEY "!%s\",\"type\":\"x\"}}",
             once);
    snprintf(answer, sizeof answer,
             "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
             "\"content\":\"sk-ca " KEY KEY " " ESCAPED
             " \xE2\x82\xAC%s\",\"tool_calls\":[{\"id\":"
             "\"c1\",\"type\":\"function\",\"function\":{\"name\":\"add\","
             "\"arguments\":\"{\\\"a\\\":\\\"" KEY " " TWICE
             "%s\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}",
             once, twice);
}

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

/* -- The ways out --------------------------------------------------------- */

/* What a person sees goes through both filters, as in examples/agent.c. What
 * the library writes itself has no mask of ours in front: that it does not show
 * the key is the default. */
enum { TERMINAL, APPROVAL, MESSAGES, AUDIT, PROVENANCE, WAYS };

static const struct {
    const char *name;
    bool masked; /* by us */
    bool json;
    bool whole; /* nothing is cut from it */
} of_way[WAYS] = {{"terminal", true, false, true},
                  {"approval", true, false, true},
                  {"messages", false, false, false},
                  {"audit", false, true, true},
                  {"provenance", false, true, true}};

typedef struct way {
    tcall_mask mask;
    ttool_shown shown;
    char text[1 << 14];
    size_t len;
} way;

static way ways[WAYS];

static int gather(void *user, const char *bytes, size_t len)
{
    way *to = (way *)user;
    if (len >= sizeof to->text - to->len)
        return TCALL_E_LIMIT;
    memcpy(to->text + to->len, bytes, len);
    to->len += len;
    return (int)len;
}

static int leave(void *user, const char *bytes, size_t len)
{
    return tcall_mask_put(&((way *)user)->mask, bytes, len);
}

static void open_ways(void)
{
    int i;
    memset(ways, 0, sizeof ways);
    for (i = 0; i < WAYS; i++) {
        ways[i].mask.secret = of_way[i].masked ? KEY : NULL;
        ways[i].mask.sink = ttool_shown_put;
        ways[i].mask.user = &ways[i].shown;
        ways[i].shown.sink = gather;
        ways[i].shown.user = &ways[i];
        ways[i].shown.json = of_way[i].json;
    }
}

/* No kind is there as it is; nor is the key, or the end of it. */
static bool is_harmless(const char *text)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(kinds); i++) {
        char raw[8];
        raw[ttool_utf8_((uint8_t *)raw, (int32_t)kinds[i])] = '\0';
        if (strstr(text, raw))
            return false;
    }
    return !strstr(text, "anary");
}

/* Each kind is shown, as an escape of ours, of JSON, or of JSON in JSON. */
static bool shows_kinds(const char *text)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(kinds); i++) {
        unsigned c = kinds[i];
        char form[5][16];
        snprintf(form[0], sizeof form[0], "y\\x%02x", c);
        snprintf(form[1], sizeof form[1], "y\\U%08x", c);
        snprintf(form[4], sizeof form[4], "y\\%c",
                 c == '\b'   ? 'b'
                 : c == '\f' ? 'f'
                 : c == '\r' ? 'r'
                             : '!');
        c = c < 0x10000 ? c : 0xD7C0 + (c >> 10);
        snprintf(form[2], sizeof form[2], "y\\u%04x", c);
        snprintf(form[3], sizeof form[3], "y\\\\u%04x", c);
        if (!strstr(text, form[0]) && !strstr(text, form[1]) &&
            !strstr(text, form[2]) && !strstr(text, form[3]) &&
            !strstr(text, form[4]))
            return false;
    }
    return true;
}

static void check_ways(void)
{
    int i;
    for (i = 0; i < WAYS; i++) {
        way *from = &ways[i];
        bool good;
        CHECK(tcall_mask_end(&from->mask) == TCALL_OK);
        CHECK(ttool_shown_end(&from->shown) == TCALL_OK);
        from->text[from->len] = '\0';
        good = is_harmless(from->text) && strstr(from->text, "***") &&
               (!of_way[i].whole || shows_kinds(from->text));
        CHECK(good);
        if (!good)
            printf("%s, in pieces of %lu: %s\n", of_way[i].name,
                   (unsigned long)piece, from->text);
    }
}

static tcall_writer writer_to(int to)
{
    static char buf[64];
    tcall_writer w;
    tcall_writer_init(&w, buf, sizeof buf);
    tcall_writer_sink(&w, leave, &ways[to]);
    return w;
}

static tcall_audit audit = {leave, &ways[AUDIT]};
static const tcall_hook hooks[] = {TCALL_AUDIT(&audit), TRACE_RESULTS(&tracer)};
static bool with_results;
static const char *said = "go";

/* What somebody is asked about. */
static tcall_verdict approve(void *user, const tcall_call *call)
{
    tcall_writer w = writer_to(APPROVAL);
    (void)user;
    tcall_write_json(&w, call->asked->args);
    CHECK(tcall_writer_flush(&w) == TCALL_OK);
    return TCALL_VERDICT_ALLOW;
}

static void on_event(void *user, const tcall_event *e)
{
    tcall_writer w;
    (void)user;
    retries += e->kind == TCALL_EVENT_RETRY;
    trace_event(&tracer, e);
    if (e->kind == TCALL_EVENT_TEXT)
        leave(&ways[TERMINAL], e->text.ptr, e->text.len);
    if (e->kind == TCALL_EVENT_RETRY)
        leave(&ways[MESSAGES], agent.answer.message,
              strlen(agent.answer.message));
    if (e->kind == TCALL_EVENT_END) {
        w = writer_to(PROVENANCE);
        tcall_write_provenance(&w, &tc, e->call);
        CHECK(tcall_writer_flush(&w) == TCALL_OK);
    }
}

static int run(tcall_transport transport)
{
    static char block[16384];
    static tcall_tool tool;
    tcall_desc d;
    tcall_agent_desc ad;
    memset(&tool, 0, sizeof tool);
    tool.name = "add";
    tool.parameters = tcall_schema_text_of("{\"type\":\"object\"}");
    tool.run = add;
    tool.permissions = TCALL_READ;
    tool.confirm = true;
    memset(&d, 0, sizeof d);
    d.block = block;
    d.lenient = &tcall_lenient;
    d.block_size = sizeof block;
    d.tools = &tool;
    d.tool_count = 1;
    d.allow = TCALL_READ;
    d.on_event = on_event;
    d.events = &tcall_events;
    d.approve = approve;
    d.hooks = hooks;
    d.hook_count = (uint16_t)(with_results ? 2 : 1);
    d.stages = &tcall_stages;
    open_ways();
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
    tcall_json v;
    int lines = 0;
    rewind(f);
    for (; fgets(line, sizeof line, f); lines++) {
        CHECK(is_harmless(line));
        CHECK(tcall_json_parse(&v, line, strlen(line), NULL) == TCALL_OK);
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

/* What examples/trace.c makes a page of: picks with their scores, the checks of
 * a call, and the memory in use. */
static void check_events(void)
{
    static tcall_tool tools[2];
    static const char *const expected[] = {
        "{\"ms\":1,\"round\":0,\"event\":\"pick\",\"picks\":{\"lamp\":812,"
        "\"pump\":40},\"saved\":99,\"tools\":2,\"used\":30,\"peak\":50}\n",
        "{\"ms\":2,\"round\":0,\"event\":\"hydrated\",\"id\":\"\",\"name\":"
        "\"lamp\",\"arguments\":\"{}\",\"checks\":\"valid, fixed code-fence, "
        "values converted: 2\",\"took_ms\":7,\"used\":30,\"peak\":50}\n"};
    tcall_transport t = {open_, write_, read_, close_, now_, wait_, NULL, NULL};
    FILE *f = tmpfile();
    tcall_picked picks[2];
    tcall_block block;
    tcall_event e;
    tcall_attempt asked;
    tcall_call call;
    char line[512];
    size_t i;

    memset(picks, 0, sizeof picks);
    memset(&block, 0, sizeof block);
    memset(&e, 0, sizeof e);
    memset(&call, 0, sizeof call);
    memset(&asked, 0, sizeof asked);
    tools[0].name = "lamp";
    tools[1].name = "pump";
    picks[0].tool = &tools[0];
    picks[0].score = 812;
    picks[1].tool = &tools[1];
    picks[1].score = 40;
    block.low = 10;
    block.high = 20;
    block.peak = 50;
    now = 0;
    t = trace_record(&tracer, f, t);
    tracer.block = &block;
    e.kind = TCALL_EVENT_PICK;
    e.picks = picks;
    e.tools = 2;
    e.bytes = 99;
    trace_event(&tracer, &e);
    memset(&e, 0, sizeof e);
    call.name = tcall_str_of("lamp");
    call.arguments = tcall_str_of("{}");
    asked.fixes = TCALL_FIX_FENCE;
    asked.coercions = 2;
    call.asked = &asked;
    e.kind = TCALL_EVENT_HYDRATED;
    e.call = &call;
    e.ms = 7;
    trace_event(&tracer, &e);
    rewind(f);
    for (i = 0; i < TCALL_ARRAY_LEN(expected); i++)
        CHECK(fgets(line, sizeof line, f) && strcmp(line, expected[i]) == 0);
    fclose(f);
}

int main(void)
{
    check_events();
    make_answers();
    for (piece = 1; piece < 600; piece += piece < 60 ? 1 : 97) {
        tcall_transport t = {open_, write_, read_, close_,
                             now_,  wait_,  NULL,  NULL};
        FILE *f = tmpfile();
        if (!f)
            break;
        CHECK(run(trace_record(&tracer, f, t)) == TCALL_OK);
        CHECK(runs == 1 && retries == 2);
        CHECK(!strstr(agent.answer.message, "canary"));
        check_ways();
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
