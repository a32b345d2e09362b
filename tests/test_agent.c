/* Needs: AGENT. */
/* The agent over a transport that plays scripted answers: whole turns, limits,
 * pauses at every byte, and blocks of every size. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/agent_loop.c"
#include "../src/servers.c"
#endif
#include "check.h"

static int runs;

static int add(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    runs++;
    return tcall_write_int(out,
                           tcall_json_int(tcall_json_get(args, "a"), 0) +
                               tcall_json_int(tcall_json_get(args, "b"), 0));
}

static tcall_tool tools[1];

static void set_tools(void)
{
    tools[0].name = "add";
    tools[0].description = "Add two integers.";
    tools[0].parameters = tcall_schema_text_of(TCALL_TEXT({
        "type" : "object",
        "required" : [ "a", "b" ],
        "properties" : {"a" : {"type" : "integer"}, "b" : {"type" : "integer"}}
    }));
    tools[0].run = add;
    tools[0].permissions = TCALL_READ;
}

/* The scripted server. */
typedef struct script {
    const char *const *answers;
    int status;
    int round;
    size_t read_at;
    size_t piece; /* bytes given at once */
    bool pauses;  /* answers again before everything it does */
    bool paused;
    int opened, closed;
    size_t wanted, got;
    char sent[8192]; /* the last request */
    uint32_t clock, tick;
} script;

static bool pause_now(script *s)
{
    s->paused = s->pauses && !s->paused;
    return s->paused;
}

static int open_(void *user, const tcall_request *req, tcall_response *res)
{
    script *s = (script *)user;
    if (pause_now(s))
        return TCALL_E_AGAIN;
    s->opened++;
    s->wanted = req->body_len;
    s->got = s->read_at = 0;
    res->status = s->status;
    return TCALL_OK;
}

static int write_(void *user, const char *bytes, size_t len)
{
    script *s = (script *)user;
    if (pause_now(s))
        return TCALL_E_AGAIN;
    len = len < s->piece ? len : s->piece;
    if (s->got + len < sizeof s->sent)
        memcpy(s->sent + s->got, bytes, len);
    s->got += len;
    if (s->got < sizeof s->sent)
        s->sent[s->got] = 0;
    return (int)len;
}

static int read_(void *user, char *bytes, size_t cap)
{
    script *s = (script *)user;
    const char *answer = s->answers[s->round] ? s->answers[s->round] : "";
    size_t n = strlen(answer) - s->read_at;
    if (pause_now(s))
        return TCALL_E_AGAIN;
    n = n < s->piece ? n : s->piece;
    n = n < cap ? n : cap;
    memcpy(bytes, answer + s->read_at, n);
    s->read_at += n;
    return (int)n;
}

static void close_(void *user)
{
    script *s = (script *)user;
    s->closed++;
    s->round++;
}

static uint32_t now_(void *user)
{
    script *s = (script *)user;
    return s->clock += s->tick;
}

static void wait_(void *user, const tcall_wait *wait)
{
    ((script *)user)->clock += wait->ms;
}

#define CALL(id, args)                                                         \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"add\"," \
    "\"arguments\":\"" args "\"}}"
#define CALLS(calls)                                                  \
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"," \
    "\"content\":null,\"tool_calls\":[" calls "]},"                   \
    "\"finish_reason\":\"tool_calls\"}],"                             \
    "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":8}}"
#define TEXT(text)                                                    \
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"," \
    "\"content\":\"" text "\"},\"finish_reason\":\"stop\"}]}"

#define ADD_2_3 CALL("c1", "{\\\"a\\\":2,\\\"b\\\":3}")
#define ADD_BAD CALL("c2", "{\\\"a\\\":\\\"x\\\"}")
#define ADD_CUT CALL("c3", "{\\\"a\\\":2,\\\"b\\\":3")

static const char *const two_rounds[] = {CALLS(ADD_2_3 "," ADD_BAD),
                                         TEXT("It is 5."), NULL};
static const char *const cut_call[] = {CALLS(ADD_CUT), TEXT("Sorry."), NULL};
static const char *const words[] = {TEXT("Hello."), TEXT("Bye."), NULL};
static const char *const forever[] = {CALLS(ADD_2_3), CALLS(ADD_2_3),
                                      CALLS(ADD_2_3), CALLS(ADD_2_3), NULL};
static const char *const broken[] = {"{\"choices\":[{\"message\":{\"cont",
                                     NULL};
static const char *const refused[] = {
    "{\"error\":{\"message\":\"bad key\",\"type\":\"x\"}}", NULL};

static char block[16384];

static const tcall_hook *hooks; /* of the registry */
static uint16_t hook_count;
static int side_by_side; /* calls */

static int begin(tcall *tc, tcall_agent *a, script *s,
                 const char *const *answers, size_t size)
{
    tcall_desc d;
    tcall_agent_desc ad;
    int r;
    set_tools();
    memset(&d, 0, sizeof d);
    d.block = block;
    d.lenient = &tcall_lenient;
    d.block_size = size;
    d.tools = tools;
    d.tool_count = 1;
    d.allow = TCALL_READ;
    d.hooks = hooks;
    d.hook_count = hook_count;
    d.stages = &tcall_stages;
    memset(s, 0, sizeof *s);
    s->answers = answers;
    s->status = 200;
    s->piece = 100;
    memset(&ad, 0, sizeof ad);
    ad.tc = tc;
    ad.provider = &tcall_openai;
    ad.model = "m";
    ad.io_size = 64;
    ad.parallel = side_by_side;
    ad.max_rounds = 4;
    ad.transport.open = open_;
    ad.transport.write = write_;
    ad.transport.read = read_;
    ad.transport.close = close_;
    ad.transport.now_ms = now_;
    ad.transport.wait = wait_;
    ad.transport.user = s;
    runs = 0;
    r = tcall_init(tc, &d);
    return r < 0 ? r : tcall_agent_init(a, &ad);
}

static bool is(tcall_str s, const char *text)
{
    return tcall_str_eq(s, tcall_str_of(text));
}

static bool body_has(const script *s, const char *text)
{
    return strstr(s->sent, text) != NULL;
}

static int items(const tcall_agent *a, int kind)
{
    tcall_item item;
    size_t at = 0;
    int n = 0;
    while (tcall_chat_next(&a->chat, &at, &item))
        n += item.kind == kind;
    return n;
}

static void test_turn(void)
{
    tcall tc;
    tcall_agent a;
    script s;
    CHECK(begin(&tc, &a, &s, two_rounds, sizeof block) == TCALL_OK);
    CHECK(tcall_agent_run(&a, tcall_str_of("2+3?")) == TCALL_OK);
    CHECK(is(tcall_agent_text(&a), "It is 5."));
    CHECK(runs == 1 && s.opened == 2 && s.closed == 2);
    CHECK(s.wanted == s.got);
    CHECK(body_has(&s, "\"tool_call_id\":\"c1\""));
    CHECK(body_has(&s, "\"tool_call_id\":\"c2\""));
    CHECK(body_has(&s, "success"));
    CHECK(items(&a, TCALL_ITEM_CALL) == 2 && items(&a, TCALL_ITEM_RESULT) == 2);
    CHECK(tc.block.high == 0);
    CHECK(tcall_peak(&tc) > 0 && tcall_peak(&tc) < sizeof block);

    CHECK(begin(&tc, &a, &s, cut_call, sizeof block) == TCALL_OK);
    CHECK(tcall_agent_run(&a, tcall_str_of("2+3?")) == TCALL_OK);
    CHECK(runs == 0 && is(tcall_agent_text(&a), "Sorry."));
}

static void test_pauses(void)
{
    size_t piece;
    for (piece = 1; piece < 90; piece += 7) {
        tcall tc;
        tcall_agent a;
        script s;
        CHECK(begin(&tc, &a, &s, two_rounds, sizeof block) == TCALL_OK);
        s.pauses = true;
        s.piece = piece;
        CHECK(tcall_agent_run(&a, tcall_str_of("2+3?")) == TCALL_OK);
        CHECK(is(tcall_agent_text(&a), "It is 5.") && runs == 1);
        CHECK(s.wanted == s.got && s.opened == 2);
    }
}

static void test_ask(void)
{
    tcall tc;
    tcall_agent a;
    script s;
    tcall_call call;
    int r;
    CHECK(begin(&tc, &a, &s, two_rounds, sizeof block) == TCALL_OK);
    CHECK(tcall_agent_plan(&a, tcall_str_of("2+3?"), NULL, 0) == 2);
    CHECK(runs == 0 && s.opened == 1);
    CHECK(tcall_agent_call(&a, 0, &call) == TCALL_OK);
    CHECK(tcall_json_int(tcall_json_get(call.asked->args, "b"), 0) == 3);
    CHECK(tcall_agent_result(&a, &call, tcall_str_of("5"), false) == TCALL_OK);
    tcall_release(&tc, &call);
    CHECK(tcall_agent_call(&a, 1, &call) == TCALL_E_INVALID);
    CHECK(tcall_agent_result(&a, &call, tcall_str_of("bad"), true) == TCALL_OK);
    tcall_release(&tc, &call);
    CHECK(tcall_agent_call(&a, 2, &call) == TCALL_E_USAGE);
    while ((r = tcall_agent_step(&a)) == TCALL_E_AGAIN)
        tcall_agent_wait(&a);
    CHECK(r == TCALL_OK && is(tcall_agent_text(&a), "It is 5."));
}

static void test_limits(void)
{
    tcall tc;
    tcall_agent a;
    script s;
    CHECK(begin(&tc, &a, &s, forever, sizeof block) == TCALL_OK);
    CHECK(tcall_agent_run(&a, tcall_str_of("2+3?")) == TCALL_E_LIMIT);
    CHECK(s.opened == 4 && body_has(&s, "\"tool_choice\":\"none\""));
    CHECK(items(&a, TCALL_ITEM_CALL) == items(&a, TCALL_ITEM_RESULT));

    CHECK(begin(&tc, &a, &s, forever, sizeof block) == TCALL_OK);
    a.desc.max_ms = 50;
    s.tick = 10;
    CHECK(tcall_agent_run(&a, tcall_str_of("2+3?")) == TCALL_E_TIMEOUT);
    CHECK(s.opened == s.closed && tc.block.high == 0);
    CHECK(items(&a, TCALL_ITEM_CALL) == items(&a, TCALL_ITEM_RESULT));

    CHECK(begin(&tc, &a, &s, forever, sizeof block) == TCALL_OK);
    CHECK(tcall_agent_say(&a, tcall_str_of("2+3?")) == TCALL_OK);
    CHECK(tcall_agent_step(&a) == TCALL_E_AGAIN);
    tcall_agent_cancel(&a);
    CHECK(tcall_agent_step(&a) == TCALL_E_CANCELLED);
    CHECK(s.opened == 1 && s.closed == 1 && items(&a, TCALL_ITEM_USER) == 0);
}

/* Tokens of the turn: 17 each round. */
static void test_tokens(void)
{
    static const struct {
        uint32_t most;
        int opened, error;
    } rows[] = {{17, 1, TCALL_E_LIMIT},
                {18, 2, TCALL_E_LIMIT},
                {34, 2, TCALL_E_LIMIT},
                {35, 3, TCALL_E_LIMIT},
                {0, 4, TCALL_E_LIMIT}};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        tcall tc;
        tcall_agent a;
        script s;
        CHECK(begin(&tc, &a, &s, forever, sizeof block) == TCALL_OK);
        a.desc.max_turn_tokens = rows[i].most;
        CHECK(tcall_agent_run(&a, tcall_str_of("2+3?")) == rows[i].error);
        CHECK(s.opened == rows[i].opened &&
              a.turn.tokens == 17u * (uint32_t)s.opened);
        CHECK(items(&a, TCALL_ITEM_CALL) == items(&a, TCALL_ITEM_RESULT));
    }
}

/* More tokens than a number holds are the most that it does. */
static void test_most_tokens(void)
{
#define COUNTED(message, stop)                                                \
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"," message \
    "},\"finish_reason\":\"" stop "\"}],\"usage\":{"                          \
    "\"prompt_tokens\":999999999,\"completion_tokens\":999999999}}"
    static const char *const counted[] = {
        COUNTED("\"content\":null,\"tool_calls\":[" ADD_2_3 "]", "tool_calls"),
        COUNTED("\"content\":null,\"tool_calls\":[" CALL(
                    "c4", "{\\\"a\\\":4,\\\"b\\\":5}") "]",
                "tool_calls"),
        COUNTED("\"content\":\"Done.\"", "stop"), NULL};
    tcall tc;
    tcall_agent a;
    script s;
    CHECK(begin(&tc, &a, &s, counted, sizeof block) == TCALL_OK);
    CHECK(tcall_agent_run(&a, tcall_str_of("2+3?")) == TCALL_OK);
    CHECK(s.opened == 3 && a.turn.tokens == UINT32_MAX);
}

/* Of two calls in an answer one is too many: it gets its result, which says so,
 * and the model is asked for words. */
static void test_too_many(void)
{
    static const char *const two_calls[] = {
        CALLS(ADD_2_3 "," CALL("c4", "{\\\"a\\\":4,\\\"b\\\":5}")),
        TEXT("It is 5."), NULL};
    int way;
    for (way = 0; way < 2; way++) {
        tcall tc;
        tcall_agent a;
        script s;
        CHECK(begin(&tc, &a, &s, two_calls, sizeof block) == TCALL_OK);
        if (way == 0)
            a.desc.max_calls = 1;
        else
            a.desc.no_parallel = true;
        CHECK(tcall_agent_run(&a, tcall_str_of("2+3?")) == TCALL_OK);
        CHECK(runs == 1 && items(&a, TCALL_ITEM_RESULT) == 2);
        CHECK(body_has(&s, tcall_error_code(TCALL_E_LIMIT)));
        CHECK(body_has(&s, "\"tool_choice\":\"none\"") == (way == 0));
    }
}

/* A call that came without an id gets one that all providers take. */
static void test_made_id(void)
{
    static const char *const nameless[] = {
        CALLS(CALL("", "{\\\"a\\\":2,\\\"b\\\":3}")), TEXT("It is 5."), NULL};
    tcall tc;
    tcall_agent a;
    script s;
    CHECK(begin(&tc, &a, &s, nameless, sizeof block) == TCALL_OK);
    CHECK(tcall_agent_run(&a, tcall_str_of("2+3?")) == TCALL_OK && runs == 1);
    CHECK(body_has(&s, "\"id\":\"call00001\""));
    CHECK(body_has(&s, "\"tool_call_id\":\"call00001\""));
}

/* What is no answer is not read to its end. */
static void test_garbage(void)
{
    static const char *const garbage[] = {
        "{]]]] and much more of the same that nobody has to read", NULL};
    tcall tc;
    tcall_agent a;
    script s;
    CHECK(begin(&tc, &a, &s, garbage, sizeof block) == TCALL_OK);
    a.desc.max_tries = 1;
    s.piece = 4;
    CHECK(tcall_agent_run(&a, tcall_str_of("hi")) < 0);
    CHECK(s.closed == 1 && s.read_at < 20);
    CHECK(items(&a, TCALL_ITEM_TEXT) == 0);
}

/* A tool that comes between two turns is in the next request, and the
 * conversation is what it was. */
static int do_nothing(tcall_ctx *cx, void *user)
{
    (void)cx;
    (void)user;
    return TCALL_OK;
}

static void test_added(void)
{
    static const tcall_hook hook = {.stage = TCALL_WILL_AUDIT,
                                    .run = do_nothing};
    static tcall_tool rows[4];
    tcall tc;
    tcall_agent a;
    script s;
    tcall_desc d;
    tcall_agent_desc ad;
    CHECK(begin(&tc, &a, &s, words, sizeof block) == TCALL_OK);
    d = tc.desc;
    ad = a.desc;
    tools[0].name = "first";
    d.block = block;
    d.lenient = &tcall_lenient;
    d.block_size = sizeof block;
    d.tools = NULL;
    d.tool_count = 0;
    d.rows = rows;
    d.row_count = TCALL_ARRAY_LEN(rows);
    CHECK(tcall_init(&tc, &d) == TCALL_OK);
    CHECK(tcall_add(&tc, &tools[0]) >= 0);
    CHECK(tcall_agent_init(&a, &ad) == TCALL_OK);
    CHECK(tcall_agent_run(&a, tcall_str_of("one")) == TCALL_OK);
    CHECK(body_has(&s, "\"first\"") && !body_has(&s, "\"second\""));
    tools[0].name = "second";
    CHECK(tcall_add(&tc, &tools[0]) >= 0);
    CHECK(tcall_agent_run(&a, tcall_str_of("two")) == TCALL_OK);
    CHECK(body_has(&s, "\"first\"") && body_has(&s, "\"second\""));
    CHECK(body_has(&s, "one") && body_has(&s, "Hello."));
    CHECK(is(tcall_agent_text(&a), "Bye."));
    /* One that is removed in a turn is not sent any more. */
    s.round = 0;
    CHECK(tcall_agent_say(&a, tcall_str_of("three")) == TCALL_OK);
    CHECK(tcall_agent_text(&a).len == 0);
    CHECK(tcall_remove(&tc, tcall_str_of("first")) == TCALL_OK);
    while (tcall_agent_step(&a) == TCALL_E_AGAIN)
        continue;
    CHECK(body_has(&s, "\"second\"") && !body_has(&s, "\"name\":\"\""));
    CHECK(is(tcall_agent_text(&a), "Hello."));
    tools[0].name = "third"; /* hooks take no memory below it */
    tools[0].hooks = &hook;
    tools[0].hook_count = 1;
    tc.desc.stages = &tcall_stages;
    CHECK(tcall_add(&tc, &tools[0]) >= 0);
}

/* What the request says may not change while it is sent: it would not be as
 * long as was promised. */
static void test_changed(void)
{
    tcall tc;
    tcall_agent a;
    script s;
    CHECK(begin(&tc, &a, &s, words, sizeof block) == TCALL_OK);
    CHECK(tcall_agent_say(&a, tcall_str_of("hi")) == TCALL_OK);
    CHECK(tcall_agent_step(&a) == TCALL_E_AGAIN && s.opened == 1);
    tools[0].description = "Add.";
    while (tcall_agent_step(&a) == TCALL_E_AGAIN)
        continue;
    CHECK(s.closed == 1 && s.got < s.wanted);
    CHECK(tcall_agent_run(&a, tcall_str_of("hi")) == TCALL_OK);
    CHECK(is(tcall_agent_text(&a), "Bye."));
}

/* What a transport waits for is what the agent waits for. */
static void wants(void *user, tcall_wait *wait)
{
    (void)user;
    tcall_wait_ms(wait, 7);
}

static void test_wants(void)
{
    int told;
    for (told = 0; told < 2; told++) {
        tcall tc;
        tcall_agent a;
        script s;
        CHECK(begin(&tc, &a, &s, words, sizeof block) == TCALL_OK);
        s.pauses = true;
        a.desc.transport.wants = told ? wants : NULL;
        CHECK(tcall_agent_say(&a, tcall_str_of("hi")) == TCALL_OK);
        CHECK(tcall_agent_step(&a) == TCALL_E_AGAIN);
        CHECK(a.wait.ms == (told ? 7u : (uint32_t)TCALL_WAIT_POLL_MS));
    }
}

static int open_fails(void *user, const tcall_request *req, tcall_response *res)
{
    (void)user;
    (void)req;
    (void)res;
    return TCALL_E_CERTIFICATE;
}

static int open_waits(void *user, const tcall_request *req, tcall_response *res)
{
    (void)open_fails(user, req, res);
    return TCALL_E_AGAIN;
}

/* What was opened is closed once, also when opening failed or never ended. */
static void test_close(void)
{
    tcall tc;
    tcall_agent a;
    script s;
    CHECK(begin(&tc, &a, &s, two_rounds, sizeof block) == TCALL_OK);
    CHECK(tcall_agent_say(&a, tcall_str_of("hi")) == TCALL_OK);
    tcall_agent_cancel(&a);
    CHECK(tcall_agent_step(&a) == TCALL_E_CANCELLED && s.closed == 0);
    a.desc.transport.open = open_fails;
    CHECK(tcall_agent_run(&a, tcall_str_of("hi")) == TCALL_E_CERTIFICATE);
    CHECK(s.closed == 1);
    a.desc.transport.open = open_waits;
    CHECK(tcall_agent_say(&a, tcall_str_of("hi")) == TCALL_OK);
    CHECK(tcall_agent_step(&a) == TCALL_E_AGAIN);
    tcall_agent_cancel(&a);
    CHECK(tcall_agent_step(&a) == TCALL_E_CANCELLED && s.closed == 2);
    a.desc.max_ms = 50;
    s.tick = 10;
    CHECK(tcall_agent_run(&a, tcall_str_of("hi")) == TCALL_E_TIMEOUT);
    CHECK(s.closed == 3);
}

static size_t end_text;

static void on_end(void *user, const tcall_event *event)
{
    (void)user;
    if (event->kind == TCALL_EVENT_TURN_END)
        end_text = event->text.len;
}

static void test_errors(void)
{
    tcall tc;
    tcall_agent a;
    script s;
    CHECK(begin(&tc, &a, &s, broken, sizeof block) == TCALL_OK);
    CHECK(tcall_agent_run(&a, tcall_str_of("hi")) < 0);
    CHECK(s.closed == 1 && runs == 0 && items(&a, TCALL_ITEM_TEXT) == 0);
    CHECK(begin(&tc, &a, &s, refused, sizeof block) == TCALL_OK);
    s.status = 401;
    CHECK(tcall_agent_run(&a, tcall_str_of("hi")) == TCALL_E_AUTH);
    CHECK(strcmp(a.answer.message, "bad key") == 0);
    CHECK(begin(&tc, &a, &s, words, sizeof block) == TCALL_OK);
    CHECK(tcall_agent_run(&a, tcall_str_of("hi")) == TCALL_OK);
    CHECK(is(tcall_agent_text(&a), "Hello."));
    CHECK(tcall_agent_run(&a, tcall_str_of("bye")) == TCALL_OK);
    CHECK(is(tcall_agent_text(&a), "Bye."));
    CHECK(items(&a, TCALL_ITEM_USER) == 2);
    /* A turn that failed has no text, and so not that of the one before. */
    tc.desc.on_event = on_end;
    tc.desc.events = &tcall_events;
    end_text = 1;
    s.status = 401;
    CHECK(tcall_agent_run(&a, tcall_str_of("hi")) < 0);
    CHECK(items(&a, TCALL_ITEM_USER) == 2);
    CHECK(end_text == 0);
    CHECK(tcall_agent_text(&a).len == 0);
}

static char trail[64];

/* Takes so many polls as its argument a says. */
static int slow(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    int *polls = (int *)tcall_scratch(cx, "polls", sizeof *polls);
    int a = tcall_json_int(tcall_json_get(args, "a"), 0);
    size_t n = strlen(trail);
    if (!polls)
        return TCALL_E_MEMORY;
    if (n + 1 < sizeof trail)
        trail[n] = (char)(cx->stop ? 'x' : '0' + a);
    return ++*polls < a ? TCALL_E_AGAIN : tcall_write_int(out, a * 11);
}

static int held;

static int hold(tcall_ctx *cx, void *user)
{
    (void)user;
    held += cx->hook->stage == TCALL_WILL_ACQUIRE_QUOTA ? 1 : -1;
    return TCALL_OK;
}

static const tcall_hook holding[] = {
    {"hold", TCALL_WILL_ACQUIRE_QUOTA, 0, hold, NULL, NULL},
    {"hold", TCALL_DID_RELEASE_QUOTA, 0, hold, NULL, NULL}};

#define SLOW(id, n) CALL(id, "{\\\"a\\\":" n ",\\\"b\\\":0}")
static const char *const slow_first[] = {
    CALLS(SLOW("c1", "3") "," SLOW("c2", "1") "," SLOW("c3", "2")),
    TEXT("Done."), NULL};
static const char *const slow_next[] = {
    CALLS(SLOW("c1", "1") "," SLOW("c2", "3") "," SLOW("c3", "2")),
    TEXT("Done."), NULL};

static int begin_slowly(tcall *tc, tcall_agent *a, script *s,
                        const char *const *answers, int parallel, size_t size)
{
    int r;
    hooks = holding;
    hook_count = 2;
    side_by_side = parallel;
    r = begin(tc, a, s, answers, size);
    hooks = NULL;
    hook_count = 0;
    side_by_side = 0;
    tools[0].run = slow;
    memset(trail, 0, sizeof trail);
    held = 0;
    return r;
}

static int slowly(tcall *tc, tcall_agent *a, script *s,
                  const char *const *answers, int parallel)
{
    return begin_slowly(tc, a, s, answers, parallel, sizeof block);
}

static bool in_order(const script *s)
{
    const char *one = strstr(s->sent, "\"tool_call_id\":\"c1\""),
               *two = strstr(s->sent, "\"tool_call_id\":\"c2\""),
               *three = strstr(s->sent, "\"tool_call_id\":\"c3\"");
    return one && two && three && one < two && two < three;
}

/* Calls of one answer side by side; their results stay in order. */
static void test_parallel(void)
{
    static const char *const trails[] = {"333122", "333122", "313322", "312323",
                                         "312323"};
    int parallel;
    for (parallel = 0; parallel < 5; parallel++) {
        tcall tc;
        tcall_agent a;
        script s;
        CHECK(slowly(&tc, &a, &s, slow_next, parallel) == TCALL_OK);
        CHECK(tcall_agent_run(&a, tcall_str_of("go")) == TCALL_OK);
        CHECK(in_order(&s) && body_has(&s, "\"33\"") &&
              body_has(&s, "\"11\"") && body_has(&s, "\"22\""));
        CHECK(slowly(&tc, &a, &s, slow_first, parallel) == TCALL_OK);
        CHECK(tcall_agent_run(&a, tcall_str_of("go")) == TCALL_OK);
        CHECK(strcmp(trail, trails[parallel]) == 0 || (puts(trail), 0));
        CHECK(in_order(&s));
        CHECK(body_has(&s, "\"33\"") && body_has(&s, "\"11\"") &&
              body_has(&s, "\"22\""));
        CHECK(tc.block.high == 0 && held == 0);
        /* Cancelled in the middle: each gets its last turn, all is released. */
        CHECK(slowly(&tc, &a, &s, slow_first, parallel) == TCALL_OK);
        CHECK(tcall_agent_say(&a, tcall_str_of("go")) == TCALL_OK);
        while (!trail[0])
            CHECK(tcall_agent_step(&a) == TCALL_E_AGAIN);
        tcall_agent_cancel(&a);
        while (tcall_agent_step(&a) == TCALL_E_AGAIN)
            continue;
        CHECK(strcmp(trail, "3x") == 0 && held == 0 && tc.block.high == 0);
        CHECK(items(&a, TCALL_ITEM_CALL) == items(&a, TCALL_ITEM_RESULT));
    }
}

/* Calls side by side with so much memory: whatever comes of it, all is
 * released. */
static int parallel_within(size_t size)
{
    tcall tc;
    tcall_agent a;
    script s;
    int r = begin_slowly(&tc, &a, &s, slow_first, 3, size);
    if (r == TCALL_OK)
        r = tcall_agent_run(&a, tcall_str_of("go"));
    CHECK(r == TCALL_OK || r == TCALL_E_MEMORY);
    CHECK(held == 0 && tc.block.high == 0);
    return r;
}

/* Where memory ends in the middle of them: from the most that is too little
 * down, for there they have begun. */
static void test_parallel_memory(void)
{
    const size_t step = 8 * CHECK_EVERY;
    size_t enough = 8000, size = 1200, ended = 0;
    CHECK(parallel_within(enough) == TCALL_OK);
    while (enough - size > 8) {
        size_t middle = size + (enough - size) / 16 * 8;
        if (parallel_within(middle) == TCALL_OK)
            enough = middle;
        else
            size = middle;
    }
    for (;; size -= step) {
        ended += parallel_within(size) == TCALL_E_MEMORY && trail[0];
        if (size < 1200 + step)
            break;
    }
    CHECK(ended > 0);
}

static bool granted;

static tcall_verdict first_later(void *user, const tcall_call *call)
{
    (void)user;
    return is(call->id, "c1") && !granted ? TCALL_VERDICT_LATER
                                          : TCALL_VERDICT_ALLOW;
}

/* One call waits for approval: the others go on and end meanwhile, and only
 * then the turn waits. */
static void test_parallel_approval(void)
{
    tcall tc;
    tcall_agent a;
    script s;
    int r, steps;
    CHECK(slowly(&tc, &a, &s, slow_first, 3) == TCALL_OK);
    tools[0].confirm = true;
    tc.desc.approve = first_later;
    granted = false;
    CHECK(tcall_agent_say(&a, tcall_str_of("go")) == TCALL_OK);
    while ((r = tcall_agent_step(&a)) == TCALL_E_AGAIN)
        tcall_agent_wait(&a);
    CHECK(r == TCALL_E_APPROVAL && strcmp(trail, "122") == 0);
    CHECK(a.wait.ms == TCALL_WAIT_NEVER && a.wait.count == 0);
    CHECK(s.opened == 1 && held == 0);
    for (steps = 0; steps < 5; steps++)
        CHECK(tcall_agent_step(&a) == TCALL_E_APPROVAL);
    granted = true;
    while ((r = tcall_agent_step(&a)) == TCALL_E_AGAIN)
        tcall_agent_wait(&a);
    CHECK(r == TCALL_OK && strcmp(trail, "122333") == 0);
    CHECK(in_order(&s));
    CHECK(body_has(&s, "\"33\"") && body_has(&s, "\"11\""));
    CHECK(tc.block.high == 0 && held == 0);
    tools[0].confirm = false;
}

static size_t told; /* bytes that the tool answers */
static const tcall_agent *at_work;
static int heard; /* items when it runs that the user has said */

static int tell(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    size_t i;
    (void)cx, (void)args;
    heard = items(at_work, TCALL_ITEM_USER);
    tcall_write_quote(out);
    for (i = 0; i < told; i++)
        tcall_write_text(out, "x");
    return tcall_write_unquote(out);
}

/* A result so long that an older turn is dropped while this one goes on: its
 * answer is found nevertheless. */
static void test_dropped_within(void)
{
    int dropped = 0;
    char first[300];
    memset(first, 'h', sizeof first);
    first[sizeof first - 1] = '\0';
    for (told = 0; told < 2400; told += 40) {
        tcall tc;
        tcall_agent a;
        script s;
        int r;
        CHECK(begin(&tc, &a, &s, words, 4400) == TCALL_OK);
        tools[0].run = tell;
        at_work = &a;
        CHECK(tcall_agent_run(&a, tcall_str_of(first)) == TCALL_OK);
        s.answers = two_rounds;
        s.round = 0;
        r = tcall_agent_run(&a, tcall_str_of("2+3?"));
        if (r == TCALL_OK)
            CHECK(is(tcall_agent_text(&a), "It is 5."));
        dropped +=
            r == TCALL_OK && heard == 2 && items(&a, TCALL_ITEM_USER) == 1;
    }
    CHECK(dropped > 0);
}

/* What is dropped are the oldest turns, as a whole, and so many that it happens
 * seldom: a third of what the conversation may use is free then. */
static void test_dropped(void)
{
    tcall tc;
    tcall_agent a;
    script s;
    int turn, before = 0, drops = 0;
    CHECK(begin(&tc, &a, &s, words, 4400) == TCALL_OK);
    for (turn = 0; turn < 99; turn++) {
        tcall_item item;
        size_t at = 0;
        int users;
        s.round = 0;
        CHECK(tcall_agent_say(&a, tcall_str_of("go")) == TCALL_OK);
        users = items(&a, TCALL_ITEM_USER);
        if (users <= before) {
            size_t room = tc.block.size - tc.block.low - tc.block.high;
            CHECK(3 * room >= tc.block.size - a.chat.start - tc.block.high);
            drops++;
        }
        before = users;
        CHECK(tcall_chat_next(&a.chat, &at, &item));
        CHECK(item.kind == TCALL_ITEM_USER);
        CHECK(items(&a, TCALL_ITEM_TEXT) == users - 1);
        while (tcall_agent_step(&a) == TCALL_E_AGAIN)
            continue;
        CHECK(a.turn.tokens == 0); /* nobody has counted them */
    }
    CHECK(drops > 1);
}

/* History is dropped by whole turns, and every size of block is survived. What
 * an agent needs lies in itself or in its block: both have 6 KB at the most. */
static void test_memory(void)
{
    const size_t most = 6144 - sizeof(tcall_agent);
    size_t size, works = 0;
    for (size = 0; size < most; size += 3 * CHECK_EVERY) {
        tcall tc;
        tcall_agent a;
        script s;
        int r = begin(&tc, &a, &s, two_rounds, size), turn;
        memset(block + size, 0x5A, 64);
        if (r == TCALL_OK)
            r = tcall_agent_run(&a, tcall_str_of("2+3?"));
        CHECK(r == TCALL_OK
                  ? is(tcall_agent_text(&a), "It is 5.") || a.answer.text_cut
                  : r == TCALL_E_MEMORY && tc.block.need + 16 > size);
        works += r == TCALL_OK;
        for (turn = 0; r == TCALL_OK && turn < 20; turn++) {
            s.round = 0;
            r = tcall_agent_run(&a, tcall_str_of("and 2+3 once more?"));
            CHECK(r == TCALL_OK ? is(tcall_agent_text(&a), "It is 5.") ||
                                      a.answer.text_cut
                                : r == TCALL_E_MEMORY);
            CHECK(items(&a, TCALL_ITEM_CALL) == items(&a, TCALL_ITEM_RESULT));
        }
        for (turn = 0; turn < 64; turn++)
            if (block[size + (size_t)turn] != 0x5A)
                break;
        CHECK(turn == 64);
    }
    CHECK(works > 500 / CHECK_EVERY);
}

int main(void)
{
    test_turn();
    test_pauses();
    test_ask();
    test_limits();
    test_tokens();
    test_most_tokens();
    test_too_many();
    test_made_id();
    test_garbage();
    test_added();
    test_changed();
    test_wants();
    test_close();
    test_errors();
    test_parallel();
    test_parallel_memory();
    test_parallel_approval();
    test_dropped_within();
    test_dropped();
    test_memory();
    return check_sum("test_agent");
}
