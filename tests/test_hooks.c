/* Needs: SENTENCES. */
/* The ready-made hooks, events, approvals that come later, loops. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/hooks.c"
#endif
#include "check.h"

static int runs, failures;
static uint32_t now_ms;

static int work(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    runs++;
    if (failures-- > 0) {
        tcall_write_text(out, "no answer");
        return TCALL_E_FAILED;
    }
    tcall_write_int(out, runs);
    tcall_write_text(out, " ");
    return tcall_write_json(out, args);
}

static int echo(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    (void)cx;
    runs++;
    return tcall_write_json(w, args);
}

/* Its argument s has the things that it is about, a letter each. */
static int concerned(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    tcall_str things = tcall_json_str(tcall_json_get(args, "s"));
    for (; things.len; things.ptr++, things.len--)
        tcall_concerns(cx, tcall_str_of(*things.ptr == 'a' ? "a" : "b"));
    return failures > 0 ? work(cx, args, w) : echo(cx, args, w);
}

static uint32_t now(void *user)
{
    (void)user;
    return now_ms;
}

static tcall_tool tools[2];
static char block[12288], result[1024];
static tcall tc;
static tcall_call call;
static tcall_turn turn;
static tcall_desc desc;
static tcall_writer out;

static void start(const tcall_hook *hooks, size_t n, unsigned permission)
{
    int i;
    memset(tools, 0, sizeof tools);
    for (i = 0; i < 2; i++) {
        tools[i].name = i ? "other" : "work";
        tools[i].parameters = tcall_schema_text_of(TCALL_TEXT({
            "type" : "object",
            "properties" : {"n" : {"type" : "integer"}, "s" : {}}
        }));
        tools[i].run = work;
        tools[i].permissions = (uint8_t)permission;
    }
    memset(&desc, 0, sizeof desc);
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = sizeof block;
    desc.tools = tools;
    desc.tool_count = 2;
    desc.allow = (uint8_t)permission;
    desc.hooks = hooks;
    desc.hook_count = (uint16_t)n;
    desc.stages = &tcall_stages;
    desc.now_ms = now;
    runs = failures = 0;
    now_ms = 1000;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
}

static int again(void)
{
    int r = tcall_invoke(&tc, &call, &out);
    result[out.fill] = 0;
    if (r != TCALL_E_AGAIN && r != TCALL_E_APPROVAL) {
        tcall_release(&tc, &call);
        CHECK(tc.block.high == 0);
    }
    return r;
}

static int ask(const char *id, const char *name, const char *arguments)
{
    memset(&call, 0, sizeof call);
    call.id = tcall_str_of(id);
    call.name = tcall_str_of(name);
    call.arguments = tcall_str_of(arguments);
    call.turn = &turn;
    tcall_writer_init(&out, result, sizeof result - 1);
    tcall_hydrate(&tc, &call);
    return again();
}

/* What was under way has not ended, but for the rows of a ledger. */
static void lose_power(void)
{
    tcall_desc same = tc.desc;
    memset(&call, 0, sizeof call);
    CHECK(tcall_init(&tc, &same) == TCALL_OK);
}

static int decide(tcall_ledger *ledger, const char *id, tcall_verdict verdict)
{
    tcall_call waits;
    uint64_t key, what = 1;
    size_t i;
    memset(&waits, 0, sizeof waits);
    waits.id = tcall_str_of(id);
    key = tcall_call_key(&tc, &waits);
    for (i = 0; i < ledger->count; i++)
        if (ledger->rows[i].state && ledger->rows[i].key == key)
            what = ledger->rows[i].what;
    return tcall_ledger_decide(ledger, key, what, verdict);
}

static bool says(const char *text)
{
    return strstr(result, text) != NULL;
}

/* ---- hashes ---- */

/* Returns what a call of a tool would do. */
static uint64_t what_of(const tcall_tool *tool, const tcall_attempt *asked)
{
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of(tool->name);
    call.tool = tool;
    call.asked = asked;
    return tcall_call_what(&tc, &call);
}

static uint64_t hash_of(const char *text)
{
    static char copy[512];
    tcall_attempt read;
    tcall_json v;
    size_t len = strlen(text);
    memcpy(copy, text, len);
    CHECK(tcall_json_parse(&v, copy, len, NULL) == TCALL_OK);
    memset(&read, 0, sizeof read);
    read.args = v;
    return what_of(&tools[0], &read);
}

static void test_hash(void)
{
    static const uint64_t another_key[] = {0, 1};
    /* Of the reference implementation: key 00 01 ... 0f, input 00 01 ... */
    static const uint64_t key[] = {0x0706050403020100u, 0x0F0E0D0C0B0A0908u};
    static const char input[] = {0, 1, 2,  3,  4,  5,  6, 7,
                                 8, 9, 10, 11, 12, 13, 14};
    static const char *const same[][2] = {
        {"{\"a\":1,\"b\":[1,2]}", "{ \"b\" : [1.0, 2e0], \"a\" : 10e-1 }"},
        {"{\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{\"y\":2,\"x\":1}}"},
        {"[0]", "[-0.0]"},
        {"\"\\u0041\"", "\"A\""},
    };
    static const char *const different[] = {
        "{}",
        "[]",
        "null",
        "0",
        "1",
        "-1",
        "10",
        "0.1",
        "1.0000000000000001",
        "false",
        "true",
        "\"\"",
        "\"1\"",
        "\"null\"",
        "[1,2]",
        "[2,1]",
        "[[1],2]",
        "[[1,2]]",
        "[[],[]]",
        "[[[]]]",
        "{\"a\":1}",
        "{\"b\":1}",
        "{\"a\":2}",
        "{\"a\":[]}",
        "{\"a\":{}}",
        "{\"a\":1,\"b\":2}",
        "{\"a\":2,\"b\":1}",
        "{\"a\":{\"b\":1}}",
        "{\"a\":{},\"b\":1}",
        "{\"ab\":1}",
        "[1]",
        "[1,1]",
        "[1,1,1]",
        "{\"a\":\"b\"}",
        "{\"b\":\"a\"}",
        "9007199254740993",
        "9007199254740992",
        "1e300",
        "1e301",
        "12345678901234567890123456789012345",
        "12345678901234567890123456789012346"};
    enum { COUNT = TCALL_ARRAY_LEN(different) };
    uint64_t h[COUNT];
    tcall_str s = {input, 0};
    size_t i, k;
    CHECK(tcall_hash(key, s) == 0x726FDB47DD0E0E31u);
    s.len = 1;
    CHECK(tcall_hash(key, s) == 0x74F839C593DC67FDu);
    s.len = 15;
    CHECK(tcall_hash(key, s) == 0xA129CA6149BE45E5u);
    start(NULL, 0, TCALL_READ);
    for (i = 0; i < TCALL_ARRAY_LEN(same); i++)
        CHECK(hash_of(same[i][0]) == hash_of(same[i][1]));
    for (i = 0; i < COUNT; i++)
        h[i] = hash_of(different[i]);
    for (i = 0; i < COUNT; i++)
        for (k = i + 1; k < COUNT; k++)
            CHECK(h[i] != h[k]);
    for (i = 0; i < 2; i++) { /* whatever lay in the block before */
        memset(block, i ? 0xFF : 0x01, sizeof block);
        for (k = 0; k < COUNT; k++)
            CHECK(h[k] == hash_of(different[k]));
    }
    tc.desc.hash_key = another_key;
    CHECK(hash_of("{}") != h[0]);
}

/* Shapes, each of which says something else than all the others. */
#define ON_OFF(WORD, me) WORD(me, on) WORD(me, off)
#define ON_OUT(WORD, me) WORD(me, on) WORD(me, out)
TCALL_CHOICE(on_off, ON_OFF)
TCALL_CHOICE(on_out, ON_OUT)
TCALL_LIST(to_nine, integer(0, 9), 0, 2)
TCALL_LIST(to_eight, integer(0, 8), 0, 2)
#define SHAPE_FIRST(ROW, me) ROW(me, required, integer(0, 9), n, "N")
#define SHAPE_ROLE(ROW, me)  ROW(me, optional, integer(0, 9), n, "N")
#define SHAPE_BOUND(ROW, me) ROW(me, required, integer(0, 8), n, "N")
#define SHAPE_NAME(ROW, me)  ROW(me, required, integer(0, 9), m, "N")
#define SHAPE_TEXT(ROW, me)  ROW(me, required, integer(0, 9), n, "M")
#define SHAPE_THREE(ROW, me) ROW(me, defaults(3), integer(0, 9), n, "N")
#define SHAPE_FOUR(ROW, me)  ROW(me, defaults(4), integer(0, 9), n, "N")
#if defined CHECK_NO_DOUBLE || defined TOOLCALL_NO_INT64
#define SHAPE_HALF(ROW, me)  ROW(me, required, integer(0, 5), n, "N")
#define SHAPE_THIRD(ROW, me) ROW(me, required, integer(0, 3), n, "N")
#else
#define SHAPE_HALF(ROW, me)  ROW(me, required, number(0, 0.5), n, "N")
#define SHAPE_THIRD(ROW, me) ROW(me, required, number(0, 0.3), n, "N")
#endif
#define SHAPE_OFF(ROW, me)   ROW(me, required, choice(on_off), n, "N")
#define SHAPE_OUT(ROW, me)   ROW(me, required, choice(on_out), n, "N")
#define SHAPE_NINE(ROW, me)  ROW(me, required, list(to_nine), n, "N")
#define SHAPE_EIGHT(ROW, me) ROW(me, required, list(to_eight), n, "N")
TCALL_SHAPE(first, SHAPE_FIRST)
TCALL_OPEN_SHAPE(open_one, SHAPE_FIRST)
TCALL_SHAPE(role, SHAPE_ROLE)
TCALL_SHAPE(bound, SHAPE_BOUND)
TCALL_SHAPE(name, SHAPE_NAME)
TCALL_SHAPE(text, SHAPE_TEXT)
TCALL_SHAPE(three, SHAPE_THREE)
TCALL_SHAPE(four, SHAPE_FOUR)
TCALL_SHAPE(half, SHAPE_HALF)
TCALL_SHAPE(third, SHAPE_THIRD)
TCALL_SHAPE(off, SHAPE_OFF)
TCALL_SHAPE(out_of, SHAPE_OUT)
TCALL_SHAPE(nine, SHAPE_NINE)
TCALL_SHAPE(eight, SHAPE_EIGHT)
#define SHAPE_WITH_FIRST(ROW, me) ROW(me, required, object(first), n, "N")
#define SHAPE_WITH_BOUND(ROW, me) ROW(me, required, object(bound), n, "N")
TCALL_SHAPE(with_first, SHAPE_WITH_FIRST)
TCALL_SHAPE(with_bound, SHAPE_WITH_BOUND)
TCALL_SHAPE(same_as_first, SHAPE_FIRST)

static uint64_t definition_of(tcall_schema_text shape)
{
    tcall_attempt nothing;
    memset(&nothing, 0, sizeof nothing);
    tools[0].parameters = shape;
    return what_of(&tools[0], &nothing);
}

/* A person who agreed to one definition has not agreed to another. */
static void test_definitions(void)
{
    static const tcall_schema_text shapes[] = {
        TCALL_STRUCT(first),      TCALL_STRUCT(open_one),
        TCALL_STRUCT(role),       TCALL_STRUCT(bound),
        TCALL_STRUCT(name),       TCALL_STRUCT(text),
        TCALL_STRUCT(three),      TCALL_STRUCT(four),
        TCALL_STRUCT(half),       TCALL_STRUCT(third),
        TCALL_STRUCT(off),        TCALL_STRUCT(out_of),
        TCALL_STRUCT(nine),       TCALL_STRUCT(eight),
        TCALL_STRUCT(with_first), TCALL_STRUCT(with_bound)};
    static const tcall_schema_text same = TCALL_STRUCT(same_as_first);
    enum { COUNT = TCALL_ARRAY_LEN(shapes) };
    uint64_t what[COUNT];
    size_t i, k;
    start(NULL, 0, TCALL_READ);
    for (i = 0; i < COUNT; i++)
        what[i] = definition_of(shapes[i]);
    for (i = 0; i < COUNT; i++)
        for (k = i + 1; k < COUNT; k++)
            CHECK(what[i] != what[k]);
    CHECK(definition_of(same) == what[0]);
}

/* ---- rate, limit, time-out, retry ---- */

static void test_rate(void)
{
    tcall_rate rate = {2, 100, 0, 0};
    const tcall_hook hooks[] = {TCALL_RATE(&rate)};
    start(hooks, 1, TCALL_READ);
    CHECK(ask("1", "work", "{}") == TCALL_OK);
    CHECK(ask("2", "work", "{}") == TCALL_OK);
    now_ms += 30;
    CHECK(ask("3", "work", "{}") == TCALL_E_RATE);
    CHECK(says("\"retry_after_ms\":70") && runs == 2);
    now_ms += 70;
    CHECK(ask("3", "work", "{}") == TCALL_OK);
    CHECK(ask("4", "work", "{}") == TCALL_E_RATE);
    now_ms += 1000; /* no more than the burst is saved up */
    CHECK(ask("4", "work", "{}") == TCALL_OK);
    CHECK(ask("5", "work", "{}") == TCALL_OK);
    CHECK(ask("6", "work", "{}") == TCALL_E_RATE);
}

/* Without an interval there is still one, of a millisecond. */
static void test_rate_zero(void)
{
    tcall_rate rate = {1, 0, 0, 0};
    const tcall_hook hooks[] = {TCALL_RATE(&rate)};
    start(hooks, 1, TCALL_READ);
    CHECK(ask("1", "work", "{}") == TCALL_OK);
    CHECK(ask("2", "work", "{}") == TCALL_E_RATE);
    CHECK(says("\"retry_after_ms\":1"));
    now_ms += 1;
    CHECK(ask("3", "work", "{}") == TCALL_OK && runs == 2);
}

static void test_limit(void)
{
    tcall_concurrency limit = {1, 1};
    const tcall_hook hooks[] = {TCALL_CONCURRENCY(&limit), TCALL_TIMEOUT(50)};
    start(hooks, 3, TCALL_READ);
    CHECK(ask("1", "work", "{}") == TCALL_E_AGAIN && again() == TCALL_E_AGAIN);
    limit.running = 0;
    CHECK(again() == TCALL_OK && limit.running == 0 && runs == 1);
    limit.running = 1;
    CHECK(ask("1", "work", "{}") == TCALL_E_AGAIN);
    now_ms += 50;
    CHECK(again() == TCALL_E_TIMEOUT && limit.running == 1 && runs == 1);
    CHECK(says("timeout"));
}

/* Hooks between attempts, and after the last, see how it failed. */
static int see_failure(tcall_ctx *cx, void *user)
{
    ++*(int *)user;
    CHECK(cx->failure.error == TCALL_E_FAILED && cx->failure.reason.len);
    return TCALL_OK;
}

static char told[64];

static void on_retry(void *user, const tcall_event *e)
{
    (void)user;
    if (e->kind == TCALL_EVENT_RETRY)
        snprintf(told, sizeof told, "%.*s", (int)e->text.len, e->text.ptr);
}

static void test_retry_seen(void)
{
    tcall_backoff retry = {3, 10, 15};
    int seen = 0;
    const tcall_hook hooks[] = {
        TCALL_RETRY(&retry),
        {.stage = TCALL_ON_RETRY, .run = see_failure, .user = &seen},
        {.stage = TCALL_ON_GIVE_UP, .run = see_failure, .user = &seen}};
    start(hooks, 3, TCALL_READ);
    tc.desc.now_ms = NULL;
    tc.desc.on_event = on_retry;
    tc.desc.events = &tcall_events;
    told[0] = 0;
    failures = 9;
    CHECK(ask("1", "work", "{}") == TCALL_E_FAILED && runs == 3 && seen == 3);
    CHECK(strcmp(told, "no answer") == 0);
}

static void test_retry(void)
{
    tcall_backoff retry = {4, 10, 15};
    const tcall_hook hooks[] = {TCALL_RETRY(&retry)};
    start(hooks, 1, TCALL_READ);
    failures = 3;
    CHECK(ask("1", "work", "{}") == TCALL_E_AGAIN && runs == 1);
    now_ms += 9;
    CHECK(again() == TCALL_E_AGAIN && runs == 1);
    now_ms += 1;
    CHECK(again() == TCALL_E_AGAIN && runs == 2);
    now_ms += 14; /* twice as long, but not more than 15 */
    CHECK(again() == TCALL_E_AGAIN && runs == 2);
    now_ms += 1;
    CHECK(again() == TCALL_E_AGAIN && runs == 3);
    now_ms += 15;
    CHECK(again() == TCALL_OK && runs == 4 && says("4 {}"));
    tc.desc.now_ms = NULL;
    failures = 9;
    CHECK(ask("1", "work", "{}") == TCALL_E_FAILED && runs == 8);
    start(hooks, 1, TCALL_WRITE);
    failures = 9;
    CHECK(ask("1", "work", "{}") == TCALL_E_FAILED && runs == 1);
    tools[0].idempotent = true;
    tc.desc.now_ms = NULL;
    CHECK(ask("1", "work", "{}") == TCALL_E_FAILED && runs == 5);
}

/* The tool may ask for more time than the pause has, not for less. */
static uint32_t wanted_ms;

static int busy(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    runs++;
    (void)args;
    return runs > 2 ? tcall_write_text(w, "done")
                    : tcall_retry_after(cx, wanted_ms, "busy");
}

static void test_retry_asked(void)
{
    static const uint32_t asked[] = {5, 1000};
    tcall_backoff retry = {4, 10, 0};
    const tcall_hook hooks[] = {TCALL_RETRY(&retry)};
    size_t i;
    for (i = 0; i < 2; i++) {
        wanted_ms = asked[i];
        start(hooks, 1, TCALL_READ);
        tools[0].run = busy;
        CHECK(ask("1", "work", "{}") == TCALL_E_AGAIN && runs == 1);
        CHECK(call.cx.wait.ms == (i ? 1000u : 10u));
        now_ms += i ? 1000 : 10;
        CHECK(again() == TCALL_E_AGAIN && runs == 2);
        CHECK(call.cx.wait.ms == (i ? 2000u : 20u));
        now_ms += 2000;
        CHECK(again() == TCALL_OK && runs == 3);
    }
}

/* ---- cache, audit ---- */

/* An empty result is one, and what has no room is not kept. */
static int mute(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    (void)cx, (void)args, (void)w;
    runs++;
    return TCALL_OK;
}

static void test_cache_room(void)
{
    typedef struct head { /* of an entry, as the library has it */
        uint64_t key;
        uint32_t thing, made, len;
    } head;
    static char memory[sizeof(head) + 8];
    tcall_cache cache = {memory, 0, 0, 0};
    const tcall_hook hooks[] = {TCALL_CACHE(&cache)};
    size_t size;
    for (size = 0; size <= sizeof memory; size++) {
        int before;
        cache.size = size;
        cache.used = 0;
        start(hooks, 3, TCALL_READ);
        tools[0].run = mute;
        CHECK(ask("1", "work", "{\"n\":1}") == TCALL_OK && out.fill == 0);
        before = runs;
        CHECK(cache.used <= size);
        CHECK(ask("2", "work", "{\"n\":1}") == TCALL_OK && out.fill == 0);
        CHECK((runs == before) == (cache.used > 0));
        CHECK((cache.used > 0) == (size >= sizeof(head)));
        CHECK(ask("3", "other", "{\"n\":1}") == TCALL_OK && out.fill == 9);
        CHECK(cache.used <= sizeof(head));
    }
}

static void test_cache(void)
{
    static char memory[128];
    tcall_cache cache = {memory, sizeof memory, 100, 0};
    const tcall_hook hooks[] = {TCALL_CACHE(&cache)};
    tcall_session session;
    int i;
    start(hooks, 3, TCALL_READ);
    CHECK(ask("1", "work", "{\"n\":1}") == TCALL_OK && says("1 {"));
    CHECK(ask("2", "work", "{\"n\":1.0}") == TCALL_OK && says("1 {"));
    CHECK(runs == 1);
    CHECK(ask("3", "other", "{\"n\":1}") == TCALL_OK && runs == 2);
    CHECK(ask("4", "work", "{\"n\":2}") == TCALL_OK && runs == 3);
    CHECK(ask("5", "work", "{\"n\":1}") == TCALL_OK && runs == 3);
    now_ms += 100;
    CHECK(ask("5", "work", "{\"n\":1}") == TCALL_OK && runs == 3);
    now_ms += 1;
    CHECK(ask("6", "work", "{\"n\":1}") == TCALL_OK && runs == 4);
    memset(&session, 0, sizeof session);
    session.user = tcall_str_of("somebody else");
    tc.desc.session = &session;
    CHECK(ask("7", "work", "{\"n\":1}") == TCALL_OK && runs == 5);
    for (i = 0; i < 50; i++) { /* of any length; the oldest make room */
        static const char digits[] =
            "01234567890123456789012345678901234567890123456789";
        char args[80];
        sprintf(args, "{\"s\":\"%s\"}", digits + 50 - i);
        CHECK(ask("8", "work", args) == TCALL_OK && runs == 6 + i);
        CHECK(ask("8", "work", args) == TCALL_OK && runs == 6 + i);
    }
    CHECK(cache.used <= sizeof memory);
    start(hooks, 3, TCALL_WRITE); /* what has an effect is never cached */
    CHECK(ask("1", "work", "{}") == TCALL_OK);
    CHECK(ask("2", "work", "{}") == TCALL_OK && runs == 2);
}

/* What stood in for a result is none, and is not kept as one. */
static void test_cache_loops(void)
{
    static char memory[128];
    tcall_cache cache = {memory, sizeof memory, 0, 0};
    tcall_loops loops;
    const tcall_hook hooks[] = {TCALL_CACHE(&cache), TCALL_LOOPS(&loops)};
    memset(&loops, 0, sizeof loops);
    start(hooks, TCALL_ARRAY_LEN(hooks), TCALL_READ);
    CHECK(ask("1", "work", "{}") == TCALL_OK && says("1 {}"));
    cache.used = 0;
    CHECK(ask("2", "work", "{}") == TCALL_OK && says("before in this turn"));
    CHECK(cache.used == 0);
    turn.id++;
    CHECK(ask("3", "work", "{}") == TCALL_OK && says("2 {}") && cache.used);
    failures = 1; /* nor is a failure */
    CHECK(ask("4", "other", "{}") == TCALL_E_FAILED);
    turn.id++;
    CHECK(ask("5", "other", "{}") == TCALL_OK && says("4 {}"));
}

static char log_text[1024];
static int log_error;

static int log_sink(void *user, const char *bytes, size_t len)
{
    (void)user;
    strncat(log_text, bytes, len);
    return log_error ? log_error : (int)len;
}

static int mends(void *user, const tcall_call *refused, tcall_writer *to)
{
    (void)user, (void)refused;
    return tcall_write_text(to, "{\"n\":3}");
}

static const tcall_repair mending = TCALL_REPAIR(mends);

/* What a hook said of a failure that it did not return is not the outcome. */
static int changes_its_mind(tcall_ctx *cx, void *user)
{
    (void)user;
    tcall_abort(cx, "forget it", NULL, 0);
    return TCALL_OK;
}

static int says_why_not(tcall_ctx *cx, void *user)
{
    (void)user;
    return tcall_abort(cx, "not at night", "closed", 403);
}

/* Why a call was refused stands in the line about it. */
static void test_audit_reason(void)
{
    tcall_audit audit = {log_sink, NULL};
    const tcall_hook hooks[] = {
        {.stage = TCALL_WILL_EXECUTE, .run = says_why_not},
        TCALL_AUDIT(&audit)};
    start(hooks, 2, TCALL_READ);
    log_text[0] = 0;
    CHECK(ask("c1", "work", "{\"n\":3}") < 0);
    CHECK(strstr(log_text, "\"ran\":false,") &&
          strstr(log_text, ",\"reason\":\"not at night\"}\n"));
    log_text[0] = 0;
}

static void test_audit(void)
{
    tcall_audit audit = {log_sink, NULL};
    const tcall_hook hooks[] = {
        {.stage = TCALL_DID_EXECUTE, .run = changes_its_mind},
        TCALL_AUDIT(&audit)};
    tcall_session session;
    start(hooks, 2, TCALL_READ);
    memset(&session, 0, sizeof session);
    session.user = tcall_str_of("eve");
    tc.desc.session = &session;
    CHECK(ask("c1", "work", "{'n':\"3\"}") == TCALL_OK);
    CHECK(strcmp(log_text,
                 "{\"call_id\":\"c1\",\"tool\":\"work\",\"session\":\"\","
                 "\"request\":\"\",\"agent\":\"\",\"user\":\"eve\","
                 "\"arguments\":{\"n\":3},\"validated\":true,"
                 "\"repaired\":false,\"attempts\":1,"
                 "\"ran\":true,\"ms\":0,"
                 "\"approved\":false,\"outcome\":\"ok\"}\n") == 0);
    log_text[0] = 0;
    CHECK(ask("c2", "nobody", "[1") == TCALL_E_UNKNOWN);
    CHECK(strstr(log_text, "\"arguments\":\"[1\"") &&
          strstr(log_text, "\"outcome\":\"unknown-tool\"}\n"));
    CHECK(strstr(log_text, "\"validated\":false,\"repaired\":false,"));
    log_text[0] = 0;
    tc.desc.repair = &mending;
    CHECK(ask("c5", "work", "{\"n\":true}") == TCALL_OK);
    CHECK(strstr(log_text, "\"validated\":true,\"repaired\":true,"));
    log_text[0] = 0;
    tools[0].parameters = tcall_schema_text_of(NULL);
    tools[0].allow_no_schema = true;
    tools[0].no_schema_mode = TCALL_NO_SCHEMA_FULL;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    CHECK(ask("c4", "work", "{\"n\":3}") == TCALL_OK);
    CHECK(strstr(log_text, "\"validated\":false,\"no_schema_mode\":\"full\","));
    log_error = TCALL_E_CLOSED;
    CHECK(ask("c3", "work", "{}") == TCALL_OK); /* it has run */
    log_error = 0;
}

static int hook_error;

static void on_hook(void *user, const tcall_event *e)
{
    (void)user;
    if (e->kind != TCALL_EVENT_HOOK)
        return;
    hook_error = e->error;
    CHECK(e->call == &call && !e->turn && !e->item && !e->status);
    CHECK(tcall_str_eq(e->text, tcall_str_of("audit")));
}

/* What the user of a hook forgot is told at the first call. */
static void test_forgotten(void)
{
    static tcall_audit nobody;
    static const tcall_hook audit[] = {TCALL_AUDIT(&nobody)};
    static char memory[256];
    tcall_rate rate = {1, 10, 0, 0}, no_rate = {0, 10, 0, 0};
    tcall_concurrency none = {0, 0};
    tcall_cache cache = {memory, sizeof memory, 100, 0};
    const tcall_hook hooks[][3] = {{TCALL_RATE(&rate)},
                                   {TCALL_TIMEOUT(5)},
                                   {TCALL_CACHE(&cache)},
                                   {TCALL_RATE(&no_rate)},
                                   {TCALL_CONCURRENCY(&none)}};
    static const char *const missing[] = {"now_ms", "now_ms", "now_ms", "burst",
                                          "max"};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(missing); i++) {
        start(hooks[i], i == 2 ? 3 : i == 4 ? 2 : 1, TCALL_READ);
        if (i < 3)
            tc.desc.now_ms = NULL;
        CHECK(ask("1", "work", "{}") == TCALL_E_USAGE && runs == 0);
        CHECK(says(missing[i]));
        CHECK(call.cx.failure.status == 0);
    }
    start(audit, 1, TCALL_READ); /* it is only told, as the tool has run */
    tc.desc.on_event = on_hook;
    tc.desc.events = &tcall_events;
    CHECK(ask("1", "work", "{}") == TCALL_OK && runs == 1);
    CHECK(hook_error == TCALL_E_USAGE);
}

/* ---- approval later ---- */

static int asked, given;
static void on_event(void *user, const tcall_event *e)
{
    (void)user;
    asked += e->kind == TCALL_EVENT_APPROVAL;
    given += e->kind == TCALL_EVENT_VERDICT;
    if (e->kind == TCALL_EVENT_APPROVAL || e->kind == TCALL_EVENT_VERDICT)
        CHECK(e->call == &call && !e->text.ptr && !e->turn && !e->error);
}

static void test_ledger(void)
{
    static tcall_ledger_row rows[5]; /* the last is not of the ledger */
    tcall_ledger ledger = {rows, 4};
    const tcall_hook hooks[] = {TCALL_LEDGER(&ledger)};
    int i;
    start(hooks, TCALL_ARRAY_LEN(hooks), TCALL_WRITE);
    tools[0].confirm = true;
    tc.desc.on_event = on_event;
    tc.desc.events = &tcall_events;
    CHECK(ask("a", "work", "{\"n\":1}") == TCALL_E_APPROVAL && runs == 0);
    CHECK(again() == TCALL_E_APPROVAL && asked == 1 && given == 0);
    CHECK(decide(&ledger, "b", TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
    CHECK(decide(&ledger, "a", TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(decide(&ledger, "a", TCALL_VERDICT_DENY) == TCALL_E_UNKNOWN);
    CHECK(again() == TCALL_OK && runs == 1 && asked == 1 && given == 1);
    /* Once: neither with the same nor with other arguments. */
    CHECK(ask("a", "work", "{\"n\":1}") == TCALL_E_TWICE && runs == 1);
    CHECK(ask("a", "work", "{\"n\":2}") == TCALL_E_TWICE && runs == 1);
    CHECK(ask("a", "other", "{}") == TCALL_E_TWICE && runs == 1);

    /* Bound to the arguments: others have to be asked for. */
    CHECK(ask("b", "work", "{\"n\":1}") == TCALL_E_APPROVAL);
    lose_power();
    CHECK(decide(&ledger, "b", TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(ask("b", "work", "{\"n\":2}") == TCALL_E_APPROVAL && runs == 1);
    lose_power();
    CHECK(decide(&ledger, "b", TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(ask("b", "work", "{\"n\":2.0}") == TCALL_OK && runs == 2);

    /* Bound to the definition. */
    CHECK(ask("c", "work", "{}") == TCALL_E_APPROVAL);
    lose_power();
    CHECK(decide(&ledger, "c", TCALL_VERDICT_ALLOW) == TCALL_OK);
    tools[0].description = "Now it does something else.";
    CHECK(ask("c", "work", "{}") == TCALL_E_APPROVAL && runs == 2);
    CHECK(decide(&ledger, "c", TCALL_VERDICT_DENY) == TCALL_OK);
    CHECK(again() == TCALL_E_DENIED && runs == 2);
    CHECK(ask("c", "work", "{}") == TCALL_E_TWICE && runs == 2);

    /* Without confirmation too an effect happens once for an id. */
    CHECK(ask("d", "other", "{}") == TCALL_OK && runs == 3);
    CHECK(ask("d", "other", "{}") == TCALL_E_TWICE && runs == 3);
    CHECK(ask("", "other", "{}") == TCALL_E_USAGE && runs == 3);
    tools[1].idempotent = true;
    CHECK(ask("d", "other", "{}") == TCALL_OK && runs == 4);

    /* Those that wait are not given up for new ones. */
    memset(rows, 0, sizeof rows);
    for (i = 0; i < 5; i++) {
        static const char *const ids[] = {"p", "q", "r", "s", "t"};
        CHECK(ask(ids[i], "work", "{}") ==
              (i < 4 ? TCALL_E_APPROVAL : TCALL_E_LIMIT));
        lose_power();
    }
    CHECK(runs == 4 && rows[4].state == 0);
    CHECK(ask("u", "other", "{}") == TCALL_OK);
    tools[1].idempotent = false;
    CHECK(ask("u", "other", "{}") == TCALL_E_LIMIT && runs == 5);
    /* What was refused is, and what ran, the oldest first. */
    CHECK(decide(&ledger, "q", TCALL_VERDICT_DENY) == TCALL_OK);
    CHECK(ask("u", "other", "{}") == TCALL_OK && runs == 6);
    CHECK(ask("u", "other", "{}") == TCALL_E_TWICE && runs == 6);
    CHECK(ask("v", "other", "{}") == TCALL_OK && runs == 7);
    CHECK(ask("q", "work", "{}") == TCALL_E_APPROVAL); /* asked anew */
    CHECK(rows[4].state == 0);
}

static tcall_verdict verdict;
static int questions;

static tcall_verdict answer(void *user, const tcall_call *c)
{
    (void)user;
    (void)c;
    questions++;
    return verdict;
}

/* desc.approve is asked first, and once; the ledger has what it leaves open. */
static int careful(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    int r = tcall_approval(cx);
    return r == TCALL_OK ? echo(cx, args, w) : r;
}

static void test_ledger_asks(void)
{
    static tcall_ledger_row rows[4];
    tcall_ledger ledger = {rows, 4};
    const tcall_hook hooks[] = {TCALL_LEDGER(&ledger)};
    start(hooks, TCALL_ARRAY_LEN(hooks), TCALL_WRITE);
    tools[0].confirm = true;
    tc.desc.on_event = on_event;
    tc.desc.events = &tcall_events;
    tc.desc.approve = answer;
    asked = given = questions = 0;
    verdict = TCALL_VERDICT_ALLOW;
    CHECK(ask("a", "work", "{}") == TCALL_OK && runs == 1);
    CHECK(questions == 1 && asked == 1 && given == 1);
    CHECK(ask("a", "work", "{}") == TCALL_E_TWICE && questions == 1);
    verdict = TCALL_VERDICT_DENY;
    CHECK(ask("b", "work", "{}") == TCALL_E_DENIED && runs == 1);
    CHECK(questions == 2 && asked == 2 && given == 2);
    verdict = TCALL_VERDICT_LATER;
    CHECK(ask("c", "work", "{}") == TCALL_E_APPROVAL && questions == 3);
    verdict = TCALL_VERDICT_ALLOW; /* too late: it is the ledger's now */
    CHECK(again() == TCALL_E_APPROVAL && questions == 3);
    CHECK(asked == 3 && given == 2 && runs == 1);
    CHECK(decide(&ledger, "c", TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(again() == TCALL_OK && runs == 2 && questions == 3);
    CHECK(asked == 3 && given == 3);
    /* Nobody is asked twice for what was agreed to. */
    tools[0].run = careful;
    CHECK(ask("d", "work", "{}") == TCALL_OK && questions == 4);
}

/* ---- loops ---- */

static void test_loops(void)
{
    tcall_loops loops;
    const tcall_hook hooks[] = {TCALL_LOOPS(&loops)};
    int i;
    memset(&loops, 0, sizeof loops);
    start(hooks, 2, TCALL_READ);
    CHECK(ask("1", "work", "{\"n\":1}") == TCALL_OK && runs == 1);
    CHECK(ask("2", "work", "{\"n\":1.0}") == TCALL_OK && runs == 1);
    CHECK(says("before in this turn"));
    CHECK(ask("3", "work", "{\"n\":2}") == TCALL_OK && runs == 2);
    tools[0].allow_repeat = true;
    CHECK(ask("4", "work", "{\"n\":2}") == TCALL_OK && runs == 3);
    tools[0].allow_repeat = false;

    tools[0].allow_repeat = true;
    for (i = 0; i < 4; i++)
        CHECK(ask("5", "work", "{}") == TCALL_OK);
    tools[0].allow_repeat = false;
    CHECK(runs == 7);

    for (i = 0; i < 4; i++, turn.id++) /* other turns are others */
        CHECK(ask("5", "work", "{}") == TCALL_OK);
    CHECK(runs == 11);

    failures = 9; /* what failed may be tried again, once */
    for (i = 0; i < 4; i++)
        CHECK(ask("5", "work", "{}") ==
              (i < 2 ? TCALL_E_FAILED : TCALL_E_LOOP));
    CHECK(runs == 13 && says("\"code\":\"loop\""));

    turn.id++;
    for (i = 0; i < 5; i++) /* two in turns */
        CHECK(ask("6", i & 1 ? "work" : "other", "{}") ==
              (i < 4 ? TCALL_E_FAILED : TCALL_E_LOOP));
    CHECK(runs == 17);
    failures = 0;

    turn.id++;
    for (i = 0; i < 4; i++) /* refused again and again */
        CHECK(ask("7", "work", "{\"n\":\"x\"}") ==
              (i < 2 ? TCALL_E_INVALID : TCALL_E_LOOP));
    CHECK(ask("8", "work", "{}") == TCALL_OK);
    CHECK(ask("9", "work", "{\"n\":\"x\"}") == TCALL_E_INVALID);
    for (i = 0; i < 4; i++) /* not there, whatever the arguments */
        CHECK(ask("7", "nobody", i & 1 ? "{}" : "{\"n\":1}") ==
              (i < 2 ? TCALL_E_UNKNOWN : TCALL_E_LOOP));
}

/* What a call may have changed is not answered from before. */
static void test_stale(void)
{
    static char memory[512];
    static tcall_cache cache = {memory, sizeof memory, 0, 0};
    static tcall_loops loops;
    static const tcall_hook both[] = {TCALL_LOOPS(&loops), TCALL_CACHE(&cache)};
    int kept, i;
    for (kept = 0; kept < 2; kept++) { /* in the turn; in the cache */
        start(both + 2 * kept, kept ? 3 : 2, TCALL_READ | TCALL_WRITE);
        tools[0].permissions = TCALL_READ;
        tools[0].run = tools[1].run = concerned;
        tools[0].output =
            tcall_schema_text_of("{}"); /* it is not held against the notice */
        for (i = 0; i < 2; i++) {
            ask("1", "work", "{\"s\":\"a\"}");
            ask("2", "work", "{\"s\":\"b\"}");
            ask("3", "work", "{}");
            CHECK(runs == 3 && call.error == TCALL_OK);
        }
        ask("4", "other", "{\"s\":\"a\"}"); /* changes a: b is as it was */
        ask("5", "work", "{\"s\":\"b\"}");
        CHECK(runs == 4);
        ask("6", "work", "{\"s\":\"a\"}");
        CHECK(runs == 5);
        ask("7", "work", "{}"); /* may be about a */
        CHECK(runs == 6);
        ask("8", "other", "{\"s\":\"ab\"}"); /* two: who knows */
        ask("9", "work", "{\"s\":\"b\"}");
        CHECK(runs == 8);
        failures = 1; /* what failed may have changed something */
        CHECK(ask("10", "other", "{}") == TCALL_E_FAILED);
        ask("11", "work", "{\"s\":\"b\"}");
        CHECK(runs == 10);
    }
}

/* More calls than are remembered: the oldest are forgotten. */
static void test_many(void)
{
    static tcall_loops loops;
    static const tcall_hook hooks[] = {TCALL_LOOPS(&loops)};
    char args[32];
    int i, round;
    start(hooks, 2, TCALL_READ);
    for (round = 0; round < 2; round++)
        for (i = 0; i < TOOLCALL_LOOP_CALLS + 1; i++) {
            sprintf(args, "{\"n\":%d}", i);
            CHECK(ask("1", "work", args) == TCALL_OK);
        }
    CHECK(runs == 2 * (TOOLCALL_LOOP_CALLS + 1));
    CHECK(ask("1", "work", "{\"n\":9}") == TCALL_OK && says("before"));
}

static tcall_verdict deny(void *user, const tcall_call *denied)
{
    (void)user, (void)denied;
    asked++;
    return TCALL_VERDICT_DENY;
}

/* Who was denied twice is not asked for a third time. */
static void test_denied(void)
{
    static tcall_loops loops;
    static const tcall_hook hooks[] = {TCALL_LOOPS(&loops)};
    int i;
    start(hooks, 2, TCALL_READ);
    tc.desc.approve = deny;
    tools[0].confirm = true;
    asked = 0;
    for (i = 0; i < 5; i++)
        CHECK(ask("1", "work", i & 1 ? "{}" : "{\"n\":1}") ==
              (i < 2 ? TCALL_E_DENIED : TCALL_E_LOOP));
    CHECK(asked == 2 && runs == 0);
    turn.id++; /* but in the next turn */
    CHECK(ask("1", "work", "{}") == TCALL_E_DENIED && asked == 3);
}

/* Ids that meet: of sub-agents, and of sessions. */
static void test_keys(void)
{
    static tcall_ledger_row rows[4];
    tcall_ledger ledger = {rows, 4};
    const tcall_hook hooks[] = {TCALL_LEDGER(&ledger)};
    tcall_call parent, other;
    tcall_session session;
    tcall_turn sub;
    uint64_t top, what;
    start(hooks, 3, TCALL_ACTUATE);
    tools[0].confirm = true;
    memset(&parent, 0, sizeof parent);
    parent.id = tcall_str_of("c1");
    memset(&sub, 0, sizeof sub);
    sub.parent = &parent;
    CHECK(ask("c1", "work", "{}") == TCALL_E_APPROVAL);
    other = call;
    other.turn = &sub;
    top = tcall_call_key(&tc, &call);
    CHECK(top != tcall_call_key(&tc, &other));
    what = tcall_call_what(&tc, &call);
    CHECK(tcall_ledger_decide(&ledger, tcall_call_key(&tc, &other), what,
                              TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
    CHECK(tcall_ledger_decide(&ledger, top, what + 1, TCALL_VERDICT_ALLOW) ==
          TCALL_E_UNKNOWN);
    CHECK(again() == TCALL_E_APPROVAL && runs == 0);
    CHECK(tcall_ledger_decide(&ledger, top, what, TCALL_VERDICT_ALLOW) ==
          TCALL_OK);
    memset(&session, 0, sizeof session);
    session.agent = tcall_str_of("second");
    other = call;
    other.session = &session;
    CHECK(top != tcall_call_key(&tc, &other));
    parent.id = tcall_str_of("c2");
    call.turn = &sub; /* the grant is for the call above, not for this one */
    CHECK(top != tcall_call_key(&tc, &call));
    call.turn = &turn;
    CHECK(again() == TCALL_OK && runs == 1);
}

/* ---- events ---- */

static tcall_listener all, ends;
static int heard[2];

static void hear(void *user, const tcall_event *e)
{
    int *n = (int *)user;
    CHECK(e->call && e->call == &call);
    ++*n;
    if (n == &heard[1])
        tcall_unsubscribe(&tc, &ends);
}

static void hear_end(void *user, const tcall_event *e)
{
    CHECK(e->call == &call);
    ++*(int *)user;
    if (e->kind == TCALL_EVENT_END)
        tcall_unsubscribe(&tc, &ends);
}

static void hear_and_add(void *user, const tcall_event *e)
{
    hear(user, e);
    if (e->kind == TCALL_EVENT_HYDRATED) {
        ends.on_event = hear_end;
        tcall_subscribe(&tc, &ends);
    }
}

static void test_events(void)
{
    start(NULL, 0, TCALL_READ);
    all.on_event = ends.on_event = hear;
    all.user = &heard[0];
    ends.user = &heard[1];
    ends.kinds = 1u << TCALL_EVENT_END;
    tcall_subscribe(&tc, &all);
    tcall_subscribe(&tc, &ends);
    CHECK(ask("1", "work", "{}") == TCALL_OK);
    CHECK(heard[0] == 3 && heard[1] == 1); /* hydrated, start, end */
    CHECK(ask("2", "work", "{}") == TCALL_OK);
    CHECK(heard[0] == 6 && heard[1] == 1);
    /* Who subscribes while it is told hears from the next event on. */
    tcall_unsubscribe(&tc, &all);
    all.on_event = hear_and_add;
    tcall_subscribe(&tc, &all);
    heard[0] = heard[1] = 0;
    ends.kinds = 0;
    CHECK(ask("3", "work", "{}") == TCALL_OK);
    CHECK(heard[0] == 3 && heard[1] == 2);
    tcall_unsubscribe(&tc, &all);
    tcall_unsubscribe(&tc, &all);
    CHECK(ask("4", "work", "{}") == TCALL_OK && heard[0] == 3);
}

/* ---- blocks of every size ---- */

static tcall_rate rate;
static tcall_concurrency limit;
static tcall_cache cache;
static tcall_backoff backoff;
static tcall_audit audit = {log_sink, NULL};
static tcall_loops loops;
static tcall_ledger_row tickets[6];
static tcall_ledger ledger = {tickets, 6};
static const tcall_hook everything[] = {
    TCALL_RATE(&rate),     TCALL_CONCURRENCY(&limit), TCALL_CACHE(&cache),
    TCALL_RETRY(&backoff), TCALL_TIMEOUT(5000),       TCALL_AUDIT(&audit),
    TCALL_LOOPS(&loops),   TCALL_LEDGER(&ledger)};

static int starts, stops;

static void balance(void *user, const tcall_event *e)
{
    (void)user;
    starts += e->kind == TCALL_EVENT_START;
    stops += e->kind == TCALL_EVENT_END;
    asked += e->kind == TCALL_EVENT_APPROVAL;
    given += e->kind == TCALL_EVENT_VERDICT;
}

/* What a call needs to come to its end: a verdict, or time. */
static int whole(const char *id, const char *name, const char *arguments)
{
    int r = ask(id, name, arguments), i;
    for (i = 0; i < 9 && (r == TCALL_E_AGAIN || r == TCALL_E_APPROVAL); i++) {
        if (r == TCALL_E_APPROVAL)
            CHECK(tcall_ledger_decide(&ledger, tcall_call_key(&tc, &call),
                                      tcall_call_what(&tc, &call),
                                      TCALL_VERDICT_ALLOW) == TCALL_OK);
        now_ms += 100;
        r = again();
    }
    log_text[0] = '\0';
    CHECK(r == TCALL_OK || says("\"success\":false"));
    return r;
}

/* Calls with every ready-made hook at work, in a block of this size: TCALL_OK,
 * each went as it should; TCALL_E_MEMORY, one did not. */
static size_t left; /* bytes that the calls have; 0: all */

static int lifecycle(char *memory, size_t size)
{
    static char kept[256];
    static const struct {
        const char *id, *name, *arguments, *result;
        int error;
    } calls[] = {
        {"1", "work", "{'n': \"1\"}", "2 {\"n\":1}", TCALL_OK},
        {"2", "work", "{\"n\":1.0}", "2 {\"n\":1}", TCALL_OK}, /* cached */
        {"3", "work", "{\"n\":true}", "validation", TCALL_E_INVALID},
        {"4", "other", "{\"s\":[]}", "{\"s\":[]}", TCALL_OK},
        {"4", "other", "{\"s\":{}}", "must not run twice", TCALL_E_TWICE},
        {"5", "work", "{}", "too many calls", TCALL_E_RATE}};
    size_t i;
    int worst = TCALL_OK;
    start(everything, TCALL_ARRAY_LEN(everything), TCALL_READ | TCALL_ACTUATE);
    memset(&rate, 0, sizeof rate);
    memset(&limit, 0, sizeof limit);
    memset(&cache, 0, sizeof cache);
    memset(tickets, 0, sizeof tickets);
    memset(&loops, 0, sizeof loops);
    rate.burst = 5;
    rate.interval_ms = 100000;
    limit.max = 1;
    cache.memory = kept;
    cache.size = sizeof kept;
    backoff.attempts = 3;
    backoff.first_ms = 50;
    tools[0].permissions = TCALL_READ;
    tools[0].confirm = true;
    tools[1].permissions = TCALL_ACTUATE;
    tools[1].output =
        tcall_schema_text_of("{\"type\":\"object\",\"required\":[\"s\"]}");
    tools[1].run = echo;
    desc.block = memory;
    desc.lenient = &tcall_lenient;
    desc.block_size = size;
    desc.on_event = balance;
    desc.events = &tcall_events;
    starts = stops = asked = given = 0;
    worst = tcall_init(&tc, &desc);
    if (left)
        tc.block.size = ((tc.block.low + 7) & ~(size_t)7) + left;
    failures = 1;
    for (i = 0; worst != TCALL_E_TOOL && tc.desc.tool_count &&
                i < TCALL_ARRAY_LEN(calls);
         i++) {
        int before = runs;
        int r = whole(calls[i].id, calls[i].name, calls[i].arguments);
        turn.id++;
        CHECK(starts == stops && asked == given && limit.running == 0);
        CHECK(worst < 0 || runs - before <= (calls[i].error ? 0 : 2));
        if (r == TCALL_E_MEMORY) {
            worst = r;
            continue;
        }
        if (worst == TCALL_OK) { /* all before went well */
            CHECK(r == calls[i].error);
            if (i == 1 && runs > before)
                continue; /* there was no room to find it in the cache */
            CHECK(says(calls[i].result));
        }
    }
    return worst;
}

static void test_sizes(void)
{
    enum { GUARD = 16 };
    char guard[GUARD], *aligned = block + ((0 - (uintptr_t)block) & 7);
    size_t size, works = 0, need = 0;
    int rounds = 0;
    memset(guard, 0x5A, GUARD);
    for (size = 0; size < 6000; size += CHECK_EVERY) {
        char *exact = (char *)malloc(size + 2 * GUARD);
        int r;
        memcpy(exact, guard, GUARD);
        memcpy(exact + GUARD + size, guard, GUARD);
        r = lifecycle(exact + GUARD, size);
        CHECK(r == TCALL_OK || (r == TCALL_E_MEMORY && tc.block.need > size));
        CHECK(r == TCALL_OK || !works); /* enough stays enough */
        works += r == TCALL_OK;
        CHECK(memcmp(exact, guard, GUARD) == 0 &&
              memcmp(exact + GUARD + size, guard, GUARD) == 0);
        free(exact);
    }
    CHECK(works > 1000 / CHECK_EVERY);
    /* Who gives what is said to be needed gets there, of aligned memory. */
    while (lifecycle(aligned, need) != TCALL_OK && ++rounds < 100 &&
           tc.block.need > need && tc.block.need <= sizeof block - 8)
        need = tc.block.need;
    CHECK(rounds > 1 && rounds < 100 && need > 200 && need < 4000);
    CHECK(lifecycle(aligned, need) == TCALL_OK);
}

/* The same with less for the calls than the registry took to begin. */
static void test_left(void)
{
    enum { STEP = CHECK_EVERY > 50 ? 400 : 8 * CHECK_EVERY };
    size_t works = 0;
    for (left = 8; left < 3000; left += STEP) {
        int r = lifecycle(block, sizeof block);
        CHECK(r == TCALL_OK ||
              (r == TCALL_E_MEMORY && tc.block.need > tc.block.size));
        CHECK(r == TCALL_OK || !works);
        works += r == TCALL_OK;
    }
    CHECK(works > 0);
    left = 0;
}

/* ---- a call by name ---- */

/* No memory is left to compare the call with what was agreed to. */
static int take_all(tcall_ctx *cx, void *user)
{
    static char names[64][3];
    size_t i, size = 1024;
    (void)user;
    for (i = 0; i < 64; i++) {
        snprintf(names[i], sizeof names[i], "%02u", (unsigned)i);
        while (size && !tcall_scratch(cx, names[i], size))
            size /= 2;
    }
    return TCALL_OK;
}

static void test_ledger_memory(void)
{
    const tcall_hook hooks[] = {
        {.name = "all", .stage = TCALL_WILL_AUTHORIZE, .run = take_all},
        TCALL_LEDGER(&ledger)};
    memset(tickets, 0, sizeof tickets);
    start(hooks, TCALL_ARRAY_LEN(hooks), TCALL_ACTUATE);
    tools[0].confirm = true;
    CHECK(ask("1", "work", "{\"s\":[[[[[[1]]]]]]}") == TCALL_E_APPROVAL);
    CHECK(runs == 0);
    CHECK(decide(&ledger, "1", TCALL_VERDICT_ALLOW) == TCALL_OK);
}

/* A tool that asked in the middle of its run and was cancelled may have had its
 * effect: its row is not free for a second run. */
static void test_ledger_cancelled(void)
{
    const tcall_hook hooks[] = {TCALL_LEDGER(&ledger)};
    memset(tickets, 0, sizeof tickets);
    start(hooks, TCALL_ARRAY_LEN(hooks), TCALL_ACTUATE);
    tools[0].run = careful;
    CHECK(ask("1", "work", "{}") == TCALL_E_APPROVAL && runs == 0);
    tcall_cancel(&call, TCALL_E_CANCELLED);
    CHECK(again() == TCALL_E_CANCELLED && runs == 0);
    CHECK(decide(&ledger, "1", TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
    CHECK(ask("1", "work", "{}") == TCALL_E_TWICE && runs == 0);
}

/* A hook that answers for a tool that nobody knows does so each time. */
static int stands_in(tcall_ctx *cx, void *user)
{
    (void)user;
    return cx->call->tool ? TCALL_OK : tcall_respond(cx, tcall_str_of("by me"));
}

static void test_loops_unknown(void)
{
    const tcall_hook hooks[] = {
        TCALL_LOOPS(&loops),
        {.name = "host", .stage = TCALL_ON_ERROR, .run = stands_in}};
    memset(&loops, 0, sizeof loops);
    start(hooks, TCALL_ARRAY_LEN(hooks), TCALL_READ);
    CHECK(ask("1", "nobody", "{}") == TCALL_OK && says("by me"));
    CHECK(loops.done[0] == 0);
    CHECK(ask("2", "nobody", "{}") == TCALL_OK && says("by me"));
}

static int endless(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    (void)args;
    tcall_write_text(w, "not yet");
    runs += cx->stop == 0;
    return TCALL_E_AGAIN;
}

static tcall_verdict later(void *user, const tcall_call *c)
{
    (void)user;
    (void)c;
    return TCALL_VERDICT_LATER;
}

static void test_execute(void)
{
    static const struct {
        tcall_run run;
        bool confirm;
        int error, runs;
        const char *says;
    } rows[] = {{work, false, TCALL_OK, 1, "1 {}"},
                {work, true, TCALL_E_APPROVAL, 0, "\"code\":\"approval\""},
                {careful, false, TCALL_E_APPROVAL, 0, "waits for approval"},
                {endless, false, TCALL_E_CANCELLED, 1, "cancelled"}};
    static const tcall_hook hooks[] = {TCALL_CONCURRENCY(&limit),
                                       TCALL_AUDIT(&audit)};
    size_t i, k;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        start(hooks, TCALL_ARRAY_LEN(hooks), TCALL_WRITE);
        limit.max = 1;
        limit.running = 0;
        tools[0].run = rows[i].run;
        tools[0].confirm = rows[i].confirm;
        tc.desc.approve = later;
        tc.desc.on_event = balance;
        tc.desc.events = &tcall_events;
        for (k = 0; k < 3; k++) {
            starts = stops = asked = given = runs = 0;
            log_text[0] = '\0';
            tcall_writer_init(&out, result, sizeof result - 1);
            CHECK(tcall_execute(&tc, tcall_str_of("work"), tcall_str_of("{}"),
                                &out, NULL) == rows[i].error);
            result[out.fill] = '\0';
            CHECK(says(rows[i].says) && runs == rows[i].runs);
            CHECK(starts == 1 && stops == 1 && asked == given);
            CHECK(limit.running == 0 && tc.block.high == 0);
            CHECK(strchr(log_text, '\n'));
        }
    }
}

/* A hook may refuse a call as invalid before its tool is looked for, and there
 * may be none. */
static int refuses(tcall_ctx *cx, void *user)
{
    (void)user;
    CHECK(!cx->call->tool);
    return TCALL_E_INVALID;
}

static void test_no_tool(void)
{
    static const tcall_hook hook = {
        "gate", TCALL_WILL_BIND_SERVICES, 0, refuses, NULL, NULL};
    start(&hook, 1, TCALL_READ);
    tcall_writer_init(&out, result, sizeof result - 1);
    CHECK(tcall_execute(&tc, tcall_str_of("nobody"), tcall_str_of("{}"), &out,
                        NULL) == TCALL_E_INVALID);
    result[out.fill] = '\0';
    CHECK(strstr(result, "\"code\":\"invalid\""));
}

static uint32_t slept;

static void wait_for(void *user, const tcall_wait *wait)
{
    (void)user;
    CHECK(wait->ms && wait->ms <= TCALL_WAIT_MOST_MS);
    now_ms += wait->ms;
    slept += wait->ms;
}

/* Ready after a second; has a title. */
static int slow(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    if (cx->stop < 0)
        return cx->stop;
    if (now_ms - cx->started < 1000)
        return tcall_wait_ms(&cx->wait, 1000 - (now_ms - cx->started));
    tcall_set_result(cx, tcall_str_of("Slow"), tcall_str_of("{\"n\":1}"));
    return echo(cx, args, w);
}

/* Where somebody can wait, tools that take their time run by name, too. */
static void test_execute_waits(void)
{
    tcall_backoff retry = {3, 400, 0};
    const tcall_hook hooks[] = {TCALL_RETRY(&retry)};
    start(hooks, 1, TCALL_READ);
    tc.desc.wait = wait_for;
    tools[0].run = slow;
    slept = 0;
    tcall_writer_init(&out, result, sizeof result - 1);
    CHECK(tcall_execute(&tc, tcall_str_of("work"), tcall_str_of("{}"), &out,
                        &call) == TCALL_OK);
    CHECK(slept == 1000 && tc.block.high > 0);
    CHECK(tcall_str_eq(call.cx.result.title, tcall_str_of("Slow")));
    CHECK(tcall_str_eq(call.cx.result.output, tcall_str_of("{}")));
    CHECK(tcall_str_eq(call.cx.result.metadata, tcall_str_of("{\"n\":1}")));
    tcall_release(&tc, &call);
    CHECK(tc.block.high == 0);

    tools[0].run = work; /* further attempts */
    failures = 2;
    slept = 0;
    tcall_writer_init(&out, result, sizeof result - 1);
    CHECK(tcall_execute(&tc, tcall_str_of("work"), tcall_str_of("{}"), &out,
                        NULL) == TCALL_OK);
    CHECK(slept == 1200 && tc.block.high == 0);

    tools[0].run = endless; /* the wait has an end */
    slept = 0;
    tcall_writer_init(&out, result, sizeof result - 1);
    CHECK(tcall_execute(&tc, tcall_str_of("work"), tcall_str_of("{}"), &out,
                        NULL) == TCALL_E_TIMEOUT);
    CHECK(slept == TCALL_EXECUTE_MS);
    tc.desc.max_wait_ms = 70;
    slept = 0;
    tcall_writer_init(&out, result, sizeof result - 1);
    CHECK(tcall_execute(&tc, tcall_str_of("work"), tcall_str_of("{}"), &out,
                        NULL) == TCALL_E_TIMEOUT);
    CHECK(slept == 70 && tc.block.high == 0);
    tc.desc.now_ms = NULL; /* without a clock nobody waits */
    slept = 0;
    tcall_writer_init(&out, result, sizeof result - 1);
    CHECK(tcall_execute(&tc, tcall_str_of("work"), tcall_str_of("{}"), &out,
                        NULL) == TCALL_E_CANCELLED);
    CHECK(slept == 0 && tc.block.high == 0);
}

int main(void)
{
    test_no_tool();
    test_hash();
    test_definitions();
    test_rate();
    test_rate_zero();
    test_limit();
    test_retry();
    test_retry_seen();
    test_retry_asked();
    test_cache();
    test_cache_room();
    test_cache_loops();
    test_audit_reason();
    test_audit();
    test_forgotten();
    test_ledger();
    test_ledger_asks();
    test_loops();
    test_ledger_cancelled();
    test_loops_unknown();
    test_stale();
    test_many();
    test_denied();
    test_keys();
    test_events();
    test_sizes();
    test_left();
    test_ledger_memory();
    test_execute();
    test_execute_waits();
    return check_sum("test_hooks");
}
