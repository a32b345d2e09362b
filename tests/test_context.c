/* Needs: SENTENCES. */
/* What a call gives to hooks and tools: services, memory, time, its input and
 * output, and what becomes of its result. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/invoke.c"
#endif
#include "check.h"
#include "result_log.h"
#include "stages.h"

/* ---- services ---- */

static int clock_service, session_service;
static tcall_service bound = {"clock", &session_service, NULL};

static int bind_clock(tcall_ctx *cx, void *user)
{
    return tcall_bind_service(cx, &bound, *(tcall_scope *)user);
}

static void *got;

static int get_clock(tcall_ctx *cx, void *user)
{
    (void)user;
    got = tcall_require_service(cx, "clock");
    return TCALL_OK;
}

static void test_services(void)
{
    static const tcall_service global[] = {{"radio", &quota, NULL},
                                           {"clock", &clock_service, NULL}};
    static tcall_scope scope;
    static tcall_session session;
    prepare();
    set_hook(&hooks[0], TCALL_WILL_EXECUTE, get_clock, NULL);
    set_hook(&hooks[1], TCALL_WILL_BIND_SERVICES, bind_clock, &scope);
    desc.hook_count = 1;
    CHECK(once("{}") == TCALL_E_SERVICE && says("clock") && says("service"));
    CHECK(world.runs == 0);
    desc.services = global;
    desc.service_count = 2;
    CHECK(once("{}") == TCALL_OK && got == &clock_service);
    desc.hook_count = 2;
    scope = TCALL_SCOPE_CALL;
    CHECK(once("{}") == TCALL_OK && got == &session_service);
    desc.hook_count = 1;
    CHECK(once("{}") == TCALL_OK && got == &clock_service);
    desc.hook_count = 2;
    scope = TCALL_SCOPE_SESSION;
    CHECK(once("{}") == TCALL_E_USAGE);
    desc.session = &session;
    CHECK(once("{}") == TCALL_OK && got == &session_service);
    desc.hook_count = 1;
    CHECK(once("{}") == TCALL_OK && got == &session_service);
    desc.hook_count = 2;
    CHECK(once("{}") == TCALL_OK && got == &session_service);
    CHECK(session.services == &bound && !bound.next);
    desc.hook_count = 1;
    tcall_unbind_service(&session, &bound);
    CHECK(once("{}") == TCALL_OK && got == &clock_service);
    desc.hook_count = 2;
    scope = TCALL_SCOPE_CALL;
    bound.next = (tcall_service *)&got;
    CHECK(once("{}") == TCALL_OK && got == &session_service);
    CHECK(bound.next == (tcall_service *)&got);
}

/* Services of a session come and go in any order, and one that is not there is
 * not missed. */
static void test_session(void)
{
    static tcall_service rows[3] = {
        {"a", &rows[0], NULL}, {"b", &rows[1], NULL}, {"c", &rows[2], NULL}};
    tcall_session session;
    tcall_service nameless = {NULL, NULL, NULL};
    tcall_ctx cx;
    int i;
    memset(&session, 0, sizeof session);
    memset(&cx, 0, sizeof cx);
    cx.session = &session;
    for (i = 0; i < 3; i++)
        CHECK(tcall_bind_service(&cx, &rows[i], TCALL_SCOPE_SESSION) ==
              TCALL_OK);
    tcall_unbind_service(&session, &rows[0]); /* the last of the list */
    tcall_unbind_service(&session, &rows[0]);
    CHECK(session.services == &rows[2] && rows[2].next == &rows[1]);
    CHECK(!rows[1].next);
    tcall_unbind_service(&session, &rows[2]);
    CHECK(session.services == &rows[1]);
    CHECK(tcall_bind_service(&cx, &nameless, TCALL_SCOPE_SESSION) ==
          TCALL_E_USAGE);
    nameless.next = session.services; /* added by hand */
    session.services = &nameless;
    cx.tc = &tc;
    CHECK(tcall_require_service(&cx, "b") == &rows[1]);
}

/* What a call failed of stays its reason, whatever later hooks lack. */
static void test_missing_later(void)
{
    prepare();
    set_hook(&hooks[0], TCALL_WILL_EXECUTE, record, NULL);
    set_hook(&hooks[1], TCALL_ON_ERROR, get_clock, NULL);
    desc.hook_count = 2;
    world.act = ABORT;
    world.stage = TCALL_WILL_EXECUTE;
    CHECK(once("{}") == TCALL_E_ABORTED && says("not today"));
    CHECK(!says("clock") && count('%') == 1);
    CHECK(says(stage_names[TCALL_WILL_EXECUTE]));
}

static int remember(tcall_ctx *cx, void *user)
{
    int *n = (int *)tcall_scratch(cx, "n", sizeof *n);
    (void)user;
    if (!n)
        return TCALL_E_MEMORY;
    see((char)('0' + (*n)++));
    return TCALL_OK;
}

/* More than there is, up to more than there are addresses. */
static int ask_too_much(tcall_ctx *cx, void *user)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    size_t i;
    (void)user;
    for (i = 0; i < 100; i++)
        CHECK(!tcall_scratch(cx, names[i % 4], SIZE_MAX - i));
    CHECK(!tcall_scratch(cx, "half", SIZE_MAX / 2));
    CHECK(tcall_scratch(cx, "nothing", 0)); /* a mark has no size */
    return TCALL_OK;
}

static void test_scratch(void)
{
    prepare();
    set_hook(&hooks[0], TCALL_WILL_AUTHORIZE, ask_too_much, NULL);
    desc.hook_count = 1;
    CHECK(once("{}") == TCALL_OK);
    prepare();
    desc.on_event = NULL;
    set_hook(&hooks[0], TCALL_WILL_AUTHORIZE, remember, NULL);
    set_hook(&hooks[1], TCALL_DID_EXECUTE, remember, NULL);
    set_hook(&hooks[2], TCALL_WILL_FINALIZE, remember, NULL);
    desc.hook_count = 3;
    CHECK(once("{}") == TCALL_OK && strcmp(seen, "0*12") == 0);
    CHECK(once("{}") == TCALL_OK && strcmp(seen, "0*12") == 0);
}

/* When it began and ended, for hooks and for who listens. */
static struct {
    uint32_t started, finished, ms;
    bool named;
} heard;

static void listen(void *user, const tcall_event *e)
{
    (void)user;
    if (e->kind != TCALL_EVENT_END)
        return;
    heard.started = e->call->cx.started;
    heard.finished = e->call->cx.finished;
    heard.ms = e->ms;
    heard.named = tcall_str_eq(e->call->id, tcall_str_of("id1")) &&
                  e->call->tool == &tools[0];
}

static int take_time(tcall_ctx *cx, void *user)
{
    (void)user;
    CHECK(cx->started == 7);
    CHECK(cx->finished == (cx->stage == TCALL_WILL_FINALIZE ? 217u : 0u));
    world.clock += 10;
    return TCALL_OK;
}

static int work_long(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    (void)cx;
    (void)args;
    world.clock += 100;
    return world.waits-- > 0 ? TCALL_E_AGAIN : tcall_write_text(w, "done");
}

static void test_times(void)
{
    static tcall_listener listener = {listen, NULL, 0, NULL};
    prepare();
    world.clock = 7;
    world.waits = 1;
    tools[0].run = work_long;
    set_hook(&hooks[0], TCALL_WILL_BIND_SERVICES, take_time, NULL);
    set_hook(&hooks[1], TCALL_WILL_FINALIZE, take_time, NULL);
    desc.hook_count = 2;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    tcall_subscribe(&tc, &listener);
    ask("work", "{}");
    CHECK(invoke() == TCALL_E_AGAIN && call.cx.finished == 0);
    CHECK(invoke() == TCALL_OK && heard.named);
    CHECK(heard.started == 7 && heard.finished == 217 && heard.ms == 200);
}

/* Of several deadlines the earliest counts. */
static int hurry(tcall_ctx *cx, void *user)
{
    (void)user;
    tcall_deadline(cx, 50);
    CHECK(tcall_time_left(cx) == 50);
    tcall_deadline(cx, 90);
    CHECK(tcall_time_left(cx) == 50);
    tcall_deadline(cx, 20);
    CHECK(tcall_time_left(cx) == 20);
    return TCALL_OK;
}

static void test_deadlines(void)
{
    prepare();
    set_hook(&hooks[0], TCALL_WILL_EXECUTE, hurry, NULL);
    desc.hook_count = 1;
    CHECK(once("{}") == TCALL_OK);
}

/* ---- input and output ---- */

static const char *other;

static int change(tcall_ctx *cx, void *user)
{
    (void)user;
    if (cx->hook->stage > TCALL_WILL_EXECUTE)
        return tcall_set_output(cx, tcall_str_of(other));
    return tcall_set_input(cx, tcall_str_of(other));
}

static int echo(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    (void)cx;
    world.runs++;
    return tcall_write_json(w, args);
}

/* It is repaired like what a model sent. */
#define ALMOST_JSON "{'n': \"7\"}"

static void test_changes(void)
{
    int stage;
    for (stage = 0; stage <= TCALL_WILL_EXECUTE; stage++) {
        /* What is injected is nobody's but the tool's. */
        bool asked = stage != TCALL_WILL_INJECT_SECRETS;
        const tcall_attempt *made;
        if (stage == TCALL_AROUND_EXECUTE || stage == TCALL_DID_CACHE_HIT)
            continue;
        prepare();
        tools[0].run = echo;
        set_hook(&hooks[0], stage, change, NULL);
        desc.hook_count = 1;
        other = ALMOST_JSON;
        CHECK(tcall_init(&tc, &desc) == TCALL_OK);
        ask("work", "{\"n\":3}");
        CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK &&
              strcmp(result, "{\"n\":7}") == 0);
        CHECK((asked ? call.attempts->next != NULL : call.runs != NULL) &&
              !call.asked->next);
        made = asked ? call.asked : call.runs;
        CHECK(made->stage == stage);
        CHECK(strcmp(made->by, stage_names[stage]) == 0);
        tcall_release(&tc, &call);
        other = "{\"n\":77}"; /* checked like the first */
        CHECK(once("{\"n\":3}") == TCALL_E_INVALID &&
              asked == (strstr(result, "maximum") != NULL));
        CHECK(world.runs == 1);
        if (stage <= TCALL_WILL_VALIDATE_INPUT &&
            stage != TCALL_WILL_AUTHORIZE) {
            other = "{\"n\":7}"; /* and may mend them */
            CHECK(once("{\"n\":") == TCALL_OK && world.runs == 2);
            CHECK(tcall_init(&tc, &desc) == TCALL_OK);
            memset(&call, 0, sizeof call);
            call.name = tcall_str_of("work");
            call.arguments = tcall_str_of("{\"n\":1}");
            call.incomplete = TCALL_E_CUT;
            tcall_writer_init(&out, result, sizeof result - 1);
            CHECK(tcall_hydrate(&tc, &call) == TCALL_E_CUT);
            CHECK(invoke() == TCALL_E_CUT && world.runs == 2);
        }
        /* Who approved the former ones is asked for the new ones. */
        tools[0].confirm = true;
        other = "{\"n\":8}";
        verdict = TCALL_VERDICT_ALLOW;
        CHECK(once("{\"n\":3}") == TCALL_OK);
        CHECK(count('?') ==
              (stage > TCALL_WILL_CHECK_CONSENT && asked ? 2 : 1));
        CHECK(count('?') == count('='));
        CHECK(tc.block.high == 0);
    }
    for (stage = TCALL_DID_EXECUTE; stage < TCALL_STAGE_COUNT; stage++) {
        bool complete = stage >= TCALL_WILL_AUDIT; /* too late to change */
        if (stage >= TCALL_ON_RETRY && stage <= TCALL_ON_GIVE_UP)
            continue;
        if (stage == TCALL_ON_ERROR)
            continue;
        prepare();
        set_hook(&hooks[0], stage, change, NULL);
        desc.hook_count = 1;
        other = "another";
        CHECK(tcall_init(&tc, &desc) == TCALL_OK);
        ask("work", "{}");
        CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK);
        CHECK(tcall_str_eq(call.cx.result.output,
                           tcall_str_of(complete ? "\"done\"" : "another")));
        CHECK(complete == !call.attempts->next);
        CHECK(complete || (tcall_str_eq(call.attempts->next->came,
                                        tcall_str_of("\"done\"")) &&
                           !call.attempts->next->next));
        tcall_release(&tc, &call);
    }
}

/* When the tool has run, or will not, there is no input to change. */
static int too_late(tcall_ctx *cx, void *user)
{
    (void)user;
    see(letter(cx->hook->stage));
    CHECK(tcall_set_input(cx, tcall_str_of("{\"n\":7}")) == TCALL_E_USAGE);
    CHECK(!cx->call->attempts->next);
    return TCALL_OK;
}

static void test_too_late(void)
{
    int stage, way;
    for (stage = TCALL_DID_EXECUTE; stage < TCALL_STAGE_COUNT; stage++)
        for (way = 0; way < 3; way++) {
            prepare();
            hooks[stage].run = too_late;
            world.act = way == 0 ? NOTHING : way == 1 ? RESPOND : FAIL;
            world.stage = TCALL_WILL_AUTHORIZE;
            CHECK(once("{}") == (way == 2 ? TCALL_E_CLOSED : TCALL_OK));
            CHECK(count(letter(stage)) == 1 || stage < TCALL_WILL_AUDIT ||
                  stage == TCALL_ON_ERROR);
        }
}

/* What a tool replaces itself is told as its work, whatever is around it. */
static int hesitates(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    (void)args;
    (void)w;
    tcall_set_output(cx, tcall_str_of("first"));
    return tcall_set_output(cx, tcall_str_of("second"));
}

static void test_by(void)
{
    const tcall_attempt *c;
    prepare();
    tools[0].run = hesitates;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("work", "{}");
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK);
    c = call.attempts->next;
    CHECK(c && strcmp(c->by, "work") == 0 && c->stage == TCALL_AROUND_EXECUTE);
    CHECK(c && tcall_str_eq(c->came, tcall_str_of("first")) && !c->next);
    tcall_release(&tc, &call);
}

/* The words for a failure: of who failed last, the strongest first. */
static int try_words(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    int way = tcall_json_int(tcall_json_get(args, "n"), 0);
    tcall_write_text(w, "half of it");
    if (way == 1)
        return tcall_abort(cx, "a better reason", NULL, 0);
    if (way == 2) {
        tcall_require_service(cx, "radio");
        return TCALL_OK;
    }
    if (way == 3 && cx->attempt == 2) {
        *cx->out = *cx->out_start;
        return TCALL_E_TIMEOUT;
    }
    return TCALL_E_FAILED;
}

static int fail_first(tcall_ctx *cx, void *user)
{
    (void)user;
    return cx->attempt == 1 ? TCALL_E_CLOSED : TCALL_OK;
}

static void test_words(void)
{
    prepare();
    tools[0].run = try_words;
    CHECK(once("{}") == TCALL_E_FAILED && says("work(): half of it"));
    CHECK(once("{\"n\":1}") == TCALL_E_ABORTED);
    CHECK(says("work(n=1): a better reason") && !says("half"));
    CHECK(once("{\"n\":2}") == TCALL_E_SERVICE);
    CHECK(says("work(n=2): radio: a service that the tool needs is missing") &&
          !says("half"));
    world.attempts = 2;
    CHECK(once("{\"n\":3}") == TCALL_E_TIMEOUT);
    CHECK(says("it took longer than allowed") && !says("half"));
    hooks[TCALL_WILL_EXECUTE].run = fail_first;
    CHECK(once("{}") == TCALL_E_FAILED && says("work(): half of it"));
}

/* Long words are kept as far as there is room, in whole characters; with none
 * the error speaks for itself. */
static int long_words(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    int i, n = tcall_json_int(tcall_json_get(args, "n"), 0);
    (void)cx;
    for (i = 0; i < n; i++)
        tcall_write_text(w, i == 1 ? "x" : "\xC3\xA9");
    return TCALL_E_FAILED;
}

static void test_long_words(void)
{
    static const struct {
        const char *arguments;
        size_t len;
    } rows[] = {{"{\"n\":64}", 127}, {"{\"n\":999}", 127}, {"{\"n\":2}", 3}};
    size_t i;
    prepare();
    tools[0].parameters = tcall_schema_text_of("{\"type\":\"object\"}");
    tools[0].run = long_words;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        ask("work", rows[i].arguments);
        CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_FAILED);
        CHECK(call.cx.failure.reason.len == rows[i].len);
        CHECK(says("): \xC3\xA9x"));
        tcall_release(&tc, &call);
    }
    CHECK(once("{\"n\":0}") == TCALL_E_FAILED);
    CHECK(says(tcall_error_text(TCALL_E_FAILED)));
}

/* After the run a hook may wait, but not for approval. */
static int ask_late(tcall_ctx *cx, void *user)
{
    (void)cx, (void)user;
    return TCALL_E_APPROVAL;
}

static void test_late_approval(void)
{
    prepare();
    set_hook(&hooks[0], TCALL_WILL_TRANSFORM_OUTPUT, ask_late, NULL);
    desc.hook_count = 1;
    CHECK(once("{}") == TCALL_E_USAGE && world.runs == 1);
    set_hook(&hooks[0], TCALL_ON_GIVE_UP, ask_late, NULL);
    tools[0].run = long_words;
    CHECK(once("{\"n\":3}") == TCALL_E_FAILED);
}

/* What a tool has written is its output, whatever was there before. */
static int looks_back(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    (void)args;
    CHECK(tcall_output(cx).len == 0);
    tcall_write_text(w, "ab");
    CHECK(tcall_str_eq(tcall_output(cx), tcall_str_of("ab")));
    return tcall_set_output(cx, tcall_str_of("cd"));
}

static void test_after_others(void)
{
    prepare();
    tools[0].run = looks_back;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("work", "{}");
    tcall_write_text(&out, "before ");
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK);
    CHECK(strcmp(result, "before cd") == 0);
    tcall_release(&tc, &call);
}

/* A tool that has taken all memory: whatever it asks for is refused, and its
 * failure is told in the words of the error. */
static int takes_all(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    static char names[64][3];
    size_t i, size = 1024;
    (void)args;
    for (i = 0; i < 64; i++) {
        names[i][0] = (char)('0' + i / 8);
        names[i][1] = (char)('0' + i % 8);
        while (size && !tcall_scratch(cx, names[i], size))
            size /= 2;
    }
    CHECK(tc.block.size - tc.block.high - tc.block.low < 48);
    CHECK(tcall_set_result(cx,
                           tcall_str_of("a title that is longer than what "
                                        "is left of the memory by far"),
                           tcall_str_of("{}")) == TCALL_E_MEMORY);
    CHECK(!cx->result.metadata.len);
    tcall_bind_service(cx, &bound,
                       TCALL_SCOPE_CALL); /* there may be one left */
    CHECK(tcall_bind_service(cx, &bound, TCALL_SCOPE_CALL) == TCALL_E_MEMORY);
    tcall_write_text(w, "a word");
    CHECK(tcall_set_output(cx, tcall_str_of("x")) == TCALL_E_MEMORY);
    return TCALL_E_FAILED;
}

static void test_no_memory(void)
{
    prepare();
    desc.lenient = &tcall_lenient;
    desc.block_size = 4096;
    desc.hooks = NULL;
    desc.hook_count = 0;
    tools[0].run = takes_all;
    CHECK(once("{}") == TCALL_E_FAILED);
    CHECK(says(tcall_error_text(TCALL_E_FAILED)) && !says("a word"));
    CHECK(tc.block.high == 0);
}

/* New output may lie in the room of the old one, or right after it. */
static int shifts(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    tcall_str part;
    (void)args;
    tcall_write_text(w, "abcdefgh");
    part = tcall_output(cx);
    part.ptr += 1;
    part.len = 6;
    CHECK(tcall_set_output(cx, part) == TCALL_OK);
    CHECK(tcall_str_eq(tcall_output(cx), tcall_str_of("bcdefg")));
    strcpy(result + 100, "after");
    return tcall_set_output(cx, tcall_str_of(result + 100));
}

/* A hook that waits again after it has changed the output finds the new one. */
static int changes_and_waits(tcall_ctx *cx, void *user)
{
    int *times = (int *)user;
    if (++*times == 2)
        CHECK(tcall_set_output(cx, tcall_str_of("xy")) == TCALL_OK);
    if (*times > 2)
        CHECK(tcall_str_eq(tcall_output(cx), tcall_str_of("xy")));
    return *times < 4 ? TCALL_E_AGAIN : TCALL_OK;
}

static void test_waits_twice(void)
{
    int times = 0;
    prepare();
    set_hook(&hooks[0], TCALL_WILL_TRANSFORM_OUTPUT, changes_and_waits, &times);
    desc.hook_count = 1;
    CHECK(once("{}") == TCALL_E_AGAIN && out.fill == 0);
    CHECK(invoke() == TCALL_E_AGAIN && invoke() == TCALL_E_AGAIN);
    CHECK(invoke() == TCALL_OK && strcmp(result, "xy") == 0);
}

/* There is nobody yet, or nobody any more, to change the arguments for. */
static int no_tool_yet(tcall_ctx *cx, void *user)
{
    (void)user;
    CHECK(tcall_set_input(cx, tcall_str_of("{}")) == TCALL_E_USAGE);
    return TCALL_OK;
}

static void test_shifts(void)
{
    prepare();
    tools[0].run = shifts;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("work", "{}");
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK);
    CHECK(strncmp(result, "after", out.fill) == 0 && out.fill == 5);
    {
        static char text[960];
        tcall_writer w;
        tcall_writer_init(&w, text, sizeof text - 1);
        CHECK(tcall_write_provenance(&w, &tc, &call) == TCALL_OK);
        CHECK(!strstr(text, "after")); /* it is no attempt at arguments */
    }
    tcall_release(&tc, &call);
    prepare();
    set_hook(&hooks[0], TCALL_DID_CREATE_CONTEXT, no_tool_yet, NULL);
    desc.hook_count = 1;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("nobody", "{}");
    CHECK(invoke() == TCALL_E_UNKNOWN);
}

/* Two calls that wait at once: each has its own memory and its own services,
 * whichever goes on first. */
static int own_name(tcall_ctx *cx, void *user)
{
    char *name = (char *)tcall_scratch(cx, "owner", 2);
    (void)user;
    if (!name)
        return TCALL_E_MEMORY;
    name[0] = cx->call->id.ptr[0];
    return tcall_bind_service(cx, &bound, TCALL_SCOPE_CALL);
}

static int say_name(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    int *times = (int *)tcall_scratch(cx, "times", sizeof *times);
    (void)args;
    if ((*times)++ == 0)
        return TCALL_E_AGAIN;
    CHECK(tcall_require_service(cx, "clock") == &session_service);
    return tcall_write_text(w,
                            (const char *)tcall_require_service(cx, "owner"));
}

static void test_two_calls(void)
{
    static tcall_call two[2];
    int first, i;
    for (first = 0; first < 2; first++) {
        prepare();
        set_hook(&hooks[0], TCALL_WILL_BIND_SERVICES, own_name, NULL);
        desc.hook_count = 1;
        tools[0].run = say_name;
        CHECK(tcall_init(&tc, &desc) == TCALL_OK);
        for (i = 0; i < 2; i++) {
            ask("work", "{}");
            two[i] = call;
            two[i].id = tcall_str_of(i ? "B" : "A");
        }
        for (i = 0; i < 2; i++)
            CHECK(tcall_invoke(&tc, &two[i], &out) == TCALL_E_AGAIN);
        for (i = 0; i < 2; i++) {
            tcall_writer_init(&out, result, sizeof result - 1);
            CHECK(tcall_invoke(&tc, &two[first ^ i], &out) == TCALL_OK);
            CHECK(out.fill == 1 && result[0] == "AB"[first ^ i]);
        }
        tcall_release(&tc, &two[1]);
        tcall_release(&tc, &two[0]);
        CHECK(tc.block.high == 0);
    }
}

/* ---- results ---- */

static int rich(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    static tcall_attachment picture = {"image/png", "a.png", {"1234", 4}, NULL};
    (void)args;
    tcall_set_result(cx, tcall_str_of("Two lines"),
                     tcall_str_of("{\"lines\":2}"));
    cx->result.attached = &picture;
    cx->result.suggestion = "try another file";
    tcall_write_text(w, "one\ntwo\n");
    return world.failures-- > 0 ? TCALL_E_FAILED : TCALL_OK;
}

static void test_result(void)
{
    static const char deep[] =
        "{\"n\":3,\"path\":\"/a/very/long/path/that/nobody/wants/to/read/"
        "\xC3\xA9\"}";
    tcall_result *res = &call.cx.result;
    prepare();
    tools[0].run = rich;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("work", "{}");
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK && !res->error);
    CHECK(strcmp(result, "one\ntwo\n") == 0);
    CHECK(tcall_str_eq(result_preview(res, 1), tcall_str_of("one")));
    CHECK(tcall_str_eq(result_preview(res, 2), tcall_str_of("one\ntwo")));
    CHECK(tcall_str_eq(result_preview(res, 9), tcall_str_of("one\ntwo")));
    CHECK(result_preview(res, 0).len == 0);
    CHECK(tcall_str_eq(res->title, tcall_str_of("Two lines")));
    CHECK(tcall_str_eq(res->metadata, tcall_str_of("{\"lines\":2}")));
    CHECK(res->attached && res->attached->bytes.len == 4);
    tcall_release(&tc, &call);
    world.failures = 1;
    ask("work", deep);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_FAILED);
    result[out.fill] = 0;
    CHECK(says("work(n=3, path=\\\"/a/very/long/path/that/nobody"));
    CHECK(says("...): one\\ntwo") && !says("/read/"));
    CHECK(says("\"suggestion\":\"try another file\""));
    CHECK(says("\"success\":false") && !says("\"output\""));
    CHECK(tcall_str_eq(res->title, tcall_str_of("Two lines")));
    tcall_release(&tc, &call);
}

/* Metadata that is no JSON is refused, and not shown. */
static int wrong_metadata(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    (void)args;
    CHECK(tcall_set_result(cx, tcall_str_of("A title"), tcall_str_of("{1:")) <
          0);
    CHECK(tcall_set_result(cx, tcall_str_of(""), tcall_str_of("[1]")) ==
          TCALL_OK);
    CHECK(tcall_set_result(cx, tcall_str_of("Title"), tcall_str_of("")) ==
          TCALL_OK);
    return tcall_write_text(w, "done");
}

static void test_metadata(void)
{
    prepare();
    tools[0].run = wrong_metadata;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("work", "{}");
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK);
    CHECK(tcall_str_eq(call.cx.result.title, tcall_str_of("Title")));
    CHECK(tcall_str_eq(call.cx.result.metadata, tcall_str_of("[1]")));
    tcall_release(&tc, &call);
}

/* A call is told in passing: long names are left out, long values and what is
 * beyond a line are cut. */
static void test_glance(void)
{
    prepare();
    tools[0].parameters = tcall_schema_text_of("{\"type\":\"object\"}");
    world.failures = 4;
    CHECK(once("{\"a_name_that_is_longer_than_32_chars\":1,\"b\":2}") ==
          TCALL_E_FAILED);
    CHECK(says("work(=1, b=2): it is stuck"));
    world.failures = 2;
    CHECK(once("{\"a_name_that_is_of_32_characters_\":1}") < 0);
    CHECK(says("work(=1): "));
    CHECK(once("{\"a_name_that_has_only_31_letters\":1}") < 0);
    CHECK(says("work(a_name_that_has_only_31_letters=1): "));
    world.failures = 3;
    CHECK(
        once("{\"a\":\"12345678901234567890123456789\",\"b\":[1,{\"c\":2}]}") ==
        TCALL_E_FAILED);
    CHECK(
        says("a=\\\"12345678901234567890123456789\\\", b=[1,{\\\"c\\\":2}])"));
    CHECK(once("{\"a\":\"123456789012345678901234567890123\",\"b\":3}") ==
          TCALL_E_FAILED);
    CHECK(says("a=\\\"123456789012345678901234567890..., b=3): "));
    CHECK(once("{\"a\":\"1234567890123456789012345\",\"b\":"
               "\"1234567890123456789012345\",\"c\":"
               "\"1234567890123456789012345\",\"d\":"
               "\"1234567890123456789012345\",\"e\":"
               "\"1234567890123456789012345\",\"f\":1,\"g\":2}") ==
          TCALL_E_FAILED);
    CHECK(says("e=\\\"1234567890123456789012345\\\", ...): it is stuck"));
    world.failures = 1; /* what is shown has 160 bytes, and no room for f */
    CHECK(once("{\"a\":1234567890123456789012345678,"
               "\"b\":1234567890123456789012345678,"
               "\"c\":1234567890123456789012345678,"
               "\"d\":12345678901234567890123456789,"
               "\"e\":12345678901234567890123456789,\"f\":1}") ==
          TCALL_E_FAILED);
    CHECK(says("e=12345678901234567890123456789, ...): it is stuck"));
}

/* A hook may shorten what had no room: then nothing was cut. */
static int floods(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    int i;
    (void)cx, (void)args;
    for (i = 0; i < 9999; i++)
        tcall_write_text(w, "more ");
    return TCALL_OK;
}

static int shortens(tcall_ctx *cx, void *user)
{
    (void)user;
    return tcall_set_output(cx, tcall_str_of("{\"a\":1}"));
}

static void test_shortened(void)
{
    prepare();
    tools[0].run = floods;
    tools[0].output = tcall_schema_text_of("{\"type\":\"object\"}");
    CHECK(once("{}") == TCALL_E_MEMORY);
    set_hook(&hooks[0], TCALL_DID_EXECUTE, shortens, NULL);
    desc.hook_count = 1;
    CHECK(once("{}") == TCALL_OK && strcmp(result, "{\"a\":1}") == 0);
}

#define LONG_NAME                                                    \
    "a_name_of_a_property_that_is_much_longer_than_any_that_a_model" \
    "_would_like"

/* What is missing comes with a call that would do, made from the schema. */
static void test_example(void)
{
    static const char schema[] = TCALL_TEXT({
        "type" : "object",
        "required" : [ "path", "mode", "lines", "deep", "list", "map", "x" ],
        "properties" : {
            "path" : {"type" : "string"},
            "mode" : {"enum" : [ "fast", "slow" ]},
            "lines" : {"type" : "integer", "minimum" : 5},
            "deep" : {"type" : "boolean"},
            "list" : {"type" : "array"},
            "map" : {"type" : "object", "default" : {"a" : 1}},
            "x" : {"type" : "number"},
            "free" : {"type" : "string"}
        }
    });
    static const char example[] =
        "{\"path\":\"value\",\"mode\":\"fast\",\"lines\":5,\"deep\":true,"
        "\"list\":[],\"map\":{\"a\":1},\"x\":1}";
    prepare();
    tools[0].parameters = tcall_schema_text_of(schema);
    CHECK(once("{}") == TCALL_E_INVALID);
    CHECK(says("\"suggestion\":\"Example: work(path=\\\"value\\\", "
               "mode=\\\"fast\\\", lines=5, deep=true, list=[], "
               "map={\\\"a\\\":1}, x=1)\""));
    CHECK(once(example) == TCALL_OK); /* it would do indeed */
    prepare(); /* limits, which are met where that is easy */
    tools[0].parameters = tcall_schema_text_of(TCALL_TEXT({
        "type" : "object",
        "required" : [ "over", "under", "by", "most", "none", "long", "short" ],
        "properties" : {
            "over" : {"type" : "number", "exclusiveMinimum" : -2.5},
            "under" : {"exclusiveMaximum" : 2, "type" : [ "number", "null" ]},
            "by" : {"type" : "integer", "multipleOf" : 7, "minimum" : 2},
            "most" : {"type" : "number", "maximum" : -1.50},
            "none" : {"oneOf" : [ {"type" : "null"}, {"type" : "string"} ]},
            "long" : {"type" : "string", "minLength" : 7, "maxLength" : 8},
            "short" : {"type" : "string", "minLength" : 1, "maxLength" : 3}
        }
    }));
    CHECK(once("{}") == TCALL_E_INVALID);
    CHECK(says("Example: work(over=-1, under=1, by=7, most=-1.50, none=null, "
               "long=\\\"valueva\\\", short=\\\"val\\\")"));
    prepare();
    tools[0].parameters = tcall_schema_text_of(
        " {\"type\":\"object\",\"required\":[\"a\",\"" LONG_NAME "\"],"
        "\"properties\":{\"a\":{\"const\":4},\"b\":{},\"" LONG_NAME
        "\":{\"type\":\"integer\"}}}");
    CHECK(once("{}") == TCALL_E_INVALID);
    CHECK(says("\"Example: work(a=4, " LONG_NAME "=1)\""));
    prepare(); /* as many items as there must be */
    tools[0].parameters = tcall_schema_text_of(TCALL_TEXT({
        "type" : "object",
        "required" : [ "one", "two", "any", "many" ],
        "properties" : {
            "one" : {"type" : "integer"},
            "two" :
                {"type" : "array", "minItems" : 2, "items" : {"enum" : [7]}},
            "any" : {"type" : "array", "minItems" : 1},
            "many" : {
                "type" : "array",
                "minItems" : 4000000000,
                "items" : {"type" : "string"}
            }
        }
    }));
    CHECK(once("{}") == TCALL_E_INVALID);
    CHECK(!says("Example")); /* none that is whole would be short */
    tools[0].parameters = tcall_schema_text_of(TCALL_TEXT({
        "type" : "object",
        "required" : [ "one", "two", "any", "deep" ],
        "properties" : {
            "one" : {"type" : "integer", "exclusiveMinimum" : 4},
            "two" :
                {"type" : "array", "minItems" : 2, "items" : {"enum" : [7]}},
            "any" : {"type" : "array", "minItems" : 1},
            "deep" : {
                "type" : "object",
                "required" : [ "x", "y" ],
                "properties" : {
                    "y" : {"type" : "number", "maximum" : -2.5},
                    "x" : {"type" : "string", "minLength" : 7}
                }
            }
        }
    }));
    CHECK(once("{}") == TCALL_E_INVALID);
    CHECK(says("Example: work(one=5, two=[7,7], any=[\\\"value\\\"], "
               "deep={\\\"x\\\":\\\"valueva\\\",\\\"y\\\":-2.5})"));
}

/* A tool that nobody checks says itself what is wrong. */
static int refuses(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    (void)cx, (void)args;
    tcall_write_text(w, "no such lamp");
    return TCALL_E_INVALID;
}

static void test_unchecked(void)
{
    prepare();
    tools[0].parameters = tcall_schema_text_of(NULL);
    tools[0].allow_no_schema = true;
    tools[0].no_schema_mode = TCALL_NO_SCHEMA_FULL;
    tools[0].run = refuses;
    CHECK(once("{}") == TCALL_E_INVALID && says("no such lamp"));
    CHECK(!says("Example"));
}

/* Any size of block: the right outcome or an error that says what it needs,
 * and nothing outside is touched. */
static void test_sizes(void)
{
    static const char arguments[] = "{'n':\"3\"}";
    size_t size, i, works = 0;
    for (size = 0; size < 5000; size += CHECK_EVERY | 1) {
        char *exact = (char *)malloc(size + 16);
        int r;
        prepare();
        desc.block = exact;
        desc.lenient = &tcall_lenient;
        desc.block_size = size;
        memset(exact + size, 0x5A, 16);
        hooks[TCALL_WILL_NORMALIZE_INPUT].run = change;
        hooks[TCALL_WILL_TRANSFORM_OUTPUT].run = change;
        hooks[TCALL_WILL_INJECT_SECRETS].run = remember;
        hooks[TCALL_DID_CREATE_CONTEXT].run = remember;
        tools[0].run = size & 1 ? echo : rich;
        tools[0].output =
            tcall_schema_text_of("{\"type\":[\"string\",\"object\"]}");
        if (!(size & 1))
            tools[0].output = tcall_schema_text_of(NULL);
        other = "{\"n\":7}";
        r = tcall_init(&tc, &desc);
        if (r == TCALL_OK) {
            ask("work", arguments);
            r = invoke();
            CHECK(r == TCALL_OK ? strcmp(result, "{\"n\":7}") == 0
                                : r == TCALL_E_MEMORY);
            check_ends("a small block");
            works += r == TCALL_OK;
        }
        CHECK(r == TCALL_OK ||
              (r == TCALL_E_MEMORY && tc.block.need + 16 > size));
        for (i = 0; i < 16 && exact[size + i] == 0x5A; i++)
            continue;
        CHECK(i == 16);
        free(exact);
    }
    CHECK(works > 2000 / (CHECK_EVERY | 1));
}

int main(void)
{
    test_services();
    test_session();
    test_missing_later();
    test_scratch();
    test_times();
    test_deadlines();
    test_changes();
    test_too_late();
    test_by();
    test_words();
    test_long_words();
    test_late_approval();
    test_after_others();
    test_no_memory();
    test_shifts();
    test_waits_twice();
    test_two_calls();
    test_result();
    test_metadata();
    test_glance();
    test_shortened();
    test_example();
    test_unchecked();
    test_sizes();
    return check_sum("test_context");
}
