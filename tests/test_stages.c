/* Needs: HOOKS, SENTENCES. */
/* The life of a call: the order of its stages for every outcome, what hooks
 * may do at each, services, and blocks of every size. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/invoke.c"
#endif
#include "check.h"
#include "result_log.h"

/* One letter for each stage, in the order of TCALL_STAGES: A is
 * will_bind_services, Q around_execute, Z will_audit, a did_audit, f
 * will_finalize. Besides: * the tool runs; events: < start, > end, ! error,
 * ? approval is asked for, = verdict, ~ retry. */
static char letter(int stage)
{
    return (char)(stage < 26 ? 'A' + stage : 'a' + stage - 26);
}

static char seen[512];

static void see(char c)
{
    size_t n = strlen(seen);
    if (n + 1 < sizeof seen)
        seen[n] = c;
}

/* What happens, and where. */
typedef enum act { NOTHING, RESPOND, ABORT, RETRY_AFTER, FAIL, AGAIN } act;
static struct {
    act act;
    int stage;                    /* where the act is done */
    int hit;                      /* will_read_cache answers */
    int failures;                 /* so many runs of the tool fail */
    int waits;                    /* so many times it answers again */
    int attempts;                 /* of the hook around it that retries */
    int acquired, released, held; /* quota and semaphore */
    int runs, lasts;
    uint32_t clock;
} world;

static int act_at(tcall_ctx *cx)
{
    switch (world.act) {
    case RESPOND: return tcall_respond(cx, tcall_str_of("\"instead\""));
    case ABORT: return tcall_abort(cx, "not today", "closed", 403);
    case RETRY_AFTER: return tcall_retry_after(cx, 1500, "come back");
    case FAIL: return TCALL_E_CLOSED;
    case AGAIN: world.act = NOTHING; return TCALL_E_AGAIN;
    default: return TCALL_OK;
    }
}

static int record(tcall_ctx *cx, void *user)
{
    int stage = cx->hook->stage;
    (void)user;
    see(letter(stage));
    if (world.act && world.stage == stage)
        return act_at(cx);
    if (stage == TCALL_WILL_READ_CACHE && world.hit)
        return tcall_respond(cx, tcall_str_of("\"cached\""));
    return stage == TCALL_AROUND_EXECUTE ? tcall_next(cx) : TCALL_OK;
}

static int acquire(tcall_ctx *cx, void *user)
{
    (void)cx;
    (void)user;
    world.acquired++;
    world.held++;
    return TCALL_OK;
}

static int release(tcall_ctx *cx, void *user)
{
    (void)cx;
    (void)user;
    world.released++;
    world.held--;
    return TCALL_OK;
}

static int retry(tcall_ctx *cx, void *user)
{
    int r = tcall_next(cx);
    (void)user;
    while (r < 0 && r != TCALL_E_AGAIN && cx->attempt < world.attempts)
        r = tcall_next(cx);
    return r;
}

static char quota, semaphore;
static tcall_hook hooks[TCALL_STAGE_COUNT + 8];
static tcall_tool tools[2];

static int tool_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)args;
    see('*');
    world.runs++;
    if (cx->stop < 0) {
        world.lasts++;
        return TCALL_OK;
    }
    if (world.waits-- > 0)
        return TCALL_E_AGAIN;
    if (world.failures-- > 0) {
        tcall_write_text(out, "it is stuck");
        return TCALL_E_FAILED;
    }
    return tcall_write_string(out, "done");
}

static void set_hook(tcall_hook *h, int stage,
                     int (*run)(tcall_ctx *cx, void *user), void *user)
{
    memset(h, 0, sizeof *h);
    h->name = tcall_stage_name(stage);
    h->stage = (uint8_t)stage;
    h->run = run;
    h->user = user;
}

static void note(void *user, const tcall_event *event)
{
    static const char letters[] = "  ?<.>   =.!~ ";
    (void)user;
    if (letters[event->kind] != ' ')
        see(letters[event->kind]);
}

static tcall_verdict verdict;
static tcall_verdict approve(void *user, const tcall_call *call)
{
    (void)user;
    (void)call;
    return verdict;
}

static uint32_t now(void *user)
{
    (void)user;
    return world.clock;
}

static char block[16384], result[1024];
static tcall tc;
static tcall_call call;
static tcall_desc desc;
static tcall_writer out;

static void prepare(void)
{
    int i, n = TCALL_STAGE_COUNT;
    memset(&world, 0, sizeof world);
    memset(hooks, 0, sizeof hooks);
    memset(tools, 0, sizeof tools);
    for (i = 0; i < n; i++)
        set_hook(&hooks[i], i, record, &hooks[i]);
    set_hook(&hooks[n++], TCALL_WILL_ACQUIRE_QUOTA, acquire, &quota);
    set_hook(&hooks[n++], TCALL_WILL_ACQUIRE_SEMAPHORE, acquire, &semaphore);
    set_hook(&hooks[n++], TCALL_DID_RELEASE_QUOTA, release, &quota);
    set_hook(&hooks[n++], TCALL_DID_RELEASE_SEMAPHORE, release, &semaphore);
    set_hook(&hooks[n++], TCALL_AROUND_EXECUTE, retry, NULL);
    tools[0].name = "work";
    tools[0].parameters = TCALL_JSON({
        "type" : "object",
        "properties" : {"n" : {"type" : "integer", "maximum" : 9}}
    });
    tools[0].run = tool_run;
    tools[0].permissions = TCALL_READ;
    memset(&desc, 0, sizeof desc);
    desc.block = block;
    desc.block_size = sizeof block;
    desc.tools = tools;
    desc.tool_count = 1;
    desc.allow = TCALL_READ;
    desc.hooks = hooks;
    desc.hook_count = (uint16_t)n;
    desc.on_event = note;
    desc.approve = approve;
    desc.now_ms = now;
}

static void ask(const char *name, const char *arguments)
{
    memset(&call, 0, sizeof call);
    memset(seen, 0, sizeof seen);
    memset(result, 0, sizeof result);
    call.id = tcall_str_of("id1");
    call.name = tcall_str_of(name);
    call.arguments = tcall_str_of(arguments);
    tcall_writer_init(&out, result, sizeof result - 1);
    tcall_hydrate(&tc, &call);
}

static int invoke(void)
{
    int r = tcall_invoke(&tc, &call, &out);
    result[out.fill] = 0;
    if (r != TCALL_E_AGAIN && r != TCALL_E_APPROVAL)
        tcall_release(&tc, &call);
    return r;
}

static int once(const char *arguments)
{
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("work", arguments);
    return invoke();
}

static bool says(const char *text)
{
    return strstr(result, text) != NULL;
}

static int count(char c)
{
    int n = 0;
    const char *p;
    for (p = seen; *p; p++)
        n += *p == c;
    return n;
}

/* What holds for every call that has its result. */
static void check_ends(const char *what)
{
    bool good = count('f') == 1 && count('<') == 1 && count('>') == 1 &&
                count('?') == count('=') && world.held == 0 &&
                world.acquired == world.released && tc.block.high == 0 &&
                count('Z') == 1 && count('a') == 1 && count('b') == 1;
    CHECK(good);
    if (!good)
        printf("  in %s: %s\n", what, seen);
}

static void check_order(const char *what, const char *wanted)
{
    CHECK(strcmp(seen, wanted) == 0);
    if (strcmp(seen, wanted) != 0)
        printf("  %s: %s\n  wanted: %s\n", what, seen, wanted);
    check_ends(what);
}

/* The ways through, without a control. */
static void test_outcomes(void)
{
    prepare();
    CHECK(once("{}") == TCALL_OK && strcmp(result, "\"done\"") == 0);
    check_order("success", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf>");
    CHECK(call.cx.error == TCALL_OK && call.cx.attempt == 1);

    prepare();
    world.hit = 1;
    CHECK(once("{}") == TCALL_OK && strcmp(result, "\"cached\"") == 0);
    check_order("cache hit", "<ABCDEFGHIJKLMNOVWXYZabcdf>");

    prepare();
    world.failures = 1;
    CHECK(once("{}") == TCALL_E_FAILED && says("it is stuck"));
    check_order("tool error", "<ABCDEFGHIJKLMNPQR*Zabcdef!>");

    prepare();
    world.failures = 1;
    world.attempts = 3;
    CHECK(once("{}") == TCALL_OK && strcmp(result, "\"done\"") == 0);
    check_order("retry succeeds", "<ABCDEFGHIJKLMNPQR*~TR*SVWXYZabcdf>");
    CHECK(call.cx.attempt == 2);

    prepare();
    world.failures = 9;
    world.attempts = 3;
    CHECK(once("{}") == TCALL_E_FAILED && says("it is stuck"));
    check_order("retries exhausted", "<ABCDEFGHIJKLMNPQR*~TR*~TR*UZabcdef!>");

    prepare();
    world.failures = 9;
    world.attempts = 3;
    tools[0].permissions = desc.allow = TCALL_WRITE;
    CHECK(once("{}") == TCALL_E_FAILED && world.runs == 1);
    CHECK(count('~') == 0); /* it might have its effect twice */

    prepare();
    desc.allow = TCALL_WRITE;
    CHECK(once("{}") == TCALL_E_DENIED && says("permission"));
    check_order("no permission", "<ABCDZabcdef!>");

    prepare();
    tools[0].confirm = true;
    verdict = TCALL_VERDICT_DENY;
    CHECK(once("{}") == TCALL_E_DENIED);
    check_order("denied", "<ABCDE?=Zabcdef!>");

    prepare();
    tools[0].confirm = true;
    verdict = TCALL_VERDICT_LATER;
    CHECK(once("{}") == TCALL_E_APPROVAL && out.fill == 0);
    CHECK(strcmp(seen, "<ABCDE?") == 0);
    CHECK(invoke() == TCALL_E_APPROVAL); /* still nobody has answered */
    verdict = TCALL_VERDICT_ALLOW;
    CHECK(invoke() == TCALL_OK);
    check_order("granted later", "<ABCDE?=FGHIJKLMNPQR*SVWXYZabcdf>");

    prepare();
    CHECK(once("{\"n\":10}") == TCALL_E_INVALID && says("maximum"));
    check_order("arguments invalid", "<ABCDEFGHIJZabcdef!>");

    prepare();
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("nobody", "{}");
    CHECK(invoke() == TCALL_E_UNKNOWN && says("work"));
    check_order("unknown tool", "<ABCDZabcdef!>");

    prepare();
    world.act = RESPOND;
    world.stage = TCALL_WILL_AUTHORIZE;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("nobody", "{}");
    CHECK(invoke() == TCALL_OK && says("instead"));
    check_order("unknown tool, answered", "<ABCDVWXYZabcdf>");

    prepare();
    tools[0].output = "{\"type\":\"string\",\"maxLength\":3}";
    CHECK(once("{}") == TCALL_E_OUTPUT && says("output"));
    check_order("output invalid", "<ABCDEFGHIJKLMNPQR*SVWXZabcdef!>");
    prepare();
    tools[0].output = "{\"type\":\"string\",\"maxLength\":4}";
    CHECK(once("{}") == TCALL_OK && strcmp(result, "\"done\"") == 0);
}

/* Waiting, and what ends it. */
static void test_again(void)
{
    prepare();
    world.waits = 2;
    CHECK(once("{}") == TCALL_E_AGAIN && out.fill == 0);
    CHECK(invoke() == TCALL_E_AGAIN && invoke() == TCALL_OK);
    CHECK(invoke() == TCALL_E_USAGE); /* it has its result */
    check_order("polled", "<ABCDEFGHIJKLMNPQR*Q*Q*SVWXYZabcdf>");

    prepare();
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("work", "{}");
    tcall_cancel(&call, TCALL_E_CANCELLED);
    CHECK(invoke() == TCALL_E_CANCELLED && says("cancelled"));
    check_order("cancelled before", "<Zabcdef!>");

    prepare();
    world.waits = 9;
    CHECK(once("{}") == TCALL_E_AGAIN);
    tcall_cancel(&call, TCALL_E_CANCELLED);
    CHECK(invoke() == TCALL_E_CANCELLED && world.lasts == 1);
    check_order("cancelled", "<ABCDEFGHIJKLMNPQR*Q*Zabcdef!>");

    prepare();
    world.waits = 9;
    world.attempts = 5; /* a call that is over is not retried */
    CHECK(once("{}") == TCALL_E_AGAIN);
    tcall_deadline(&call.cx, 100);
    tcall_deadline(&call.cx, 200); /* the earlier one holds */
    world.clock = 99;
    CHECK(invoke() == TCALL_E_AGAIN && tcall_time_left(&call.cx) == 1);
    world.clock = 100;
    CHECK(invoke() == TCALL_E_TIMEOUT && world.lasts == 1);
    CHECK(says("timeout") && world.runs == 3 && count('~') == 0);
    check_order("time-out", "<ABCDEFGHIJKLMNPQR*Q*Q*UZabcdef!>");

    prepare();
    tools[0].confirm = true;
    verdict = TCALL_VERDICT_LATER;
    CHECK(once("{}") == TCALL_E_APPROVAL);
    tcall_cancel(&call, TCALL_E_CANCELLED);
    CHECK(invoke() == TCALL_E_CANCELLED);
    check_order("cancelled while asked", "<ABCDE?Zabcde"
                                         "f=!>");
}

/* Every control at every stage. What is not in the row follows the rule: an
 * answer goes on behind the run, an error goes to the stages that always are.
 * Where a stage is only reached by a cache hit or a failing tool, so be it. */
static const struct {
    const char *way; /* what leads there: "", "hit", "fails", "retries" */
    const char *respond, *fail;
} rows[TCALL_STAGE_COUNT] = {
    {"", "<AVWXYZabcdf>", "<AZabcdef!>"},
    {"", "<ABVWXYZabcdf>", "<ABZabcdef!>"},
    {"", "<ABCVWXYZabcdf>", "<ABCZabcdef!>"},
    {"", "<ABCDVWXYZabcdf>", "<ABCDZabcdef!>"},
    {"", "<ABCDEVWXYZabcdf>", "<ABCDEZabcdef!>"},
    {"", "<ABCDEFVWXYZabcdf>", "<ABCDEFZabcdef!>"},
    {"", "<ABCDEFGVWXYZabcdf>", "<ABCDEFGZabcdef!>"},
    {"", "<ABCDEFGHVWXYZabcdf>", "<ABCDEFGHZabcdef!>"},
    {"", "<ABCDEFGHIVWXYZabcdf>", "<ABCDEFGHIZabcdef!>"},
    {"", "<ABCDEFGHIJVWXYZabcdf>", "<ABCDEFGHIJZabcdef!>"},
    {"", "<ABCDEFGHIJKVWXYZabcdf>", "<ABCDEFGHIJKZabcdef!>"},
    {"", "<ABCDEFGHIJKLVWXYZabcdf>", "<ABCDEFGHIJKLZabcdef!>"},
    {"", "<ABCDEFGHIJKLMVWXYZabcdf>", "<ABCDEFGHIJKLMZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNOVWXYZabcdf>", "<ABCDEFGHIJKLMNZabcdef!>"},
    {"hit", "<ABCDEFGHIJKLMNOVWXYZabcdf>", "<ABCDEFGHIJKLMNOZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPVWXYZabcdf>", "<ABCDEFGHIJKLMNPZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQVWXYZabcdf>", "<ABCDEFGHIJKLMNPQZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQRVWXYZabcdf>", "<ABCDEFGHIJKLMNPQRZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf>", "<ABCDEFGHIJKLMNPQR*SZabcdef!>"},
    {"retries", "<ABCDEFGHIJKLMNPQR*~TVWXYZabcdf>",
     "<ABCDEFGHIJKLMNPQR*~T~TUZabcdef!>"},
    {"retries", "<ABCDEFGHIJKLMNPQR*~TR*~TR*UVWXYZabcdf>",
     "<ABCDEFGHIJKLMNPQR*~TR*~TR*UZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf>", "<ABCDEFGHIJKLMNPQR*SVZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf>", "<ABCDEFGHIJKLMNPQR*SVWZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf>", "<ABCDEFGHIJKLMNPQR*SVWXZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf>",
     "<ABCDEFGHIJKLMNPQR*SVWXYZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf>",
     "<ABCDEFGHIJKLMNPQR*SVWXYZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf>",
     "<ABCDEFGHIJKLMNPQR*SVWXYZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf>",
     "<ABCDEFGHIJKLMNPQR*SVWXYZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf>",
     "<ABCDEFGHIJKLMNPQR*SVWXYZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf>",
     "<ABCDEFGHIJKLMNPQR*SVWXYZabcdef!>"},
    {"fails", "<ABCDEFGHIJKLMNPQR*Zabcdef>", "<ABCDEFGHIJKLMNPQR*Zabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf>", "<ABCDEFGHIJKLMNPQR*SVWXYZabcdf!>"},
};

static int control(int stage, act what)
{
    prepare();
    world.act = what;
    world.stage = stage;
    world.hit = strcmp(rows[stage].way, "hit") == 0;
    world.attempts = strcmp(rows[stage].way, "retries") == 0 ? 3 : 1;
    world.failures = world.attempts > 1                      ? 9
                     : strcmp(rows[stage].way, "fails") == 0 ? 1
                                                             : 0;
    return once("{}");
}

static void test_controls(void)
{
    int stage;
    for (stage = 0; stage < TCALL_STAGE_COUNT; stage++) {
        const char *name = tcall_stage_name(stage);
        bool tool = stage == TCALL_ON_ERROR || stage == TCALL_ON_GIVE_UP;
        CHECK(control(stage, RESPOND) == TCALL_OK);
        CHECK(strcmp(result, "\"instead\"") == 0);
        check_order(name, rows[stage].respond);
        /* The first error counts: of these stages that is the tool's. */
        CHECK(control(stage, ABORT) ==
              (tool ? TCALL_E_FAILED : TCALL_E_ABORTED));
        CHECK(tool || (says("not today") && says("\"closed\"") &&
                       call.cx.status == 403));
        check_order(name, rows[stage].fail);
        CHECK(control(stage, RETRY_AFTER) ==
              (tool ? TCALL_E_FAILED : TCALL_E_RATE));
        CHECK(tool || (says("come back") && says("\"retry_after_ms\":1500")));
        check_order(name, rows[stage].fail);
        CHECK(control(stage, FAIL) == (tool ? TCALL_E_FAILED : TCALL_E_CLOSED));
        CHECK(tool || stage == TCALL_AROUND_EXECUTE || says(name));
        check_order(name, rows[stage].fail);
    }
    CHECK(tcall_stage_name(TCALL_STAGE_COUNT) == NULL);
}

/* A hook may wait as long as there is no output, and goes on where it was. */
static void test_hook_waits(void)
{
    int stage;
    for (stage = 0; stage < TCALL_STAGE_COUNT; stage++) {
        int r = control(stage, AGAIN);
        if (stage <= TCALL_WILL_EXECUTE && stage != TCALL_DID_CACHE_HIT) {
            CHECK(r == TCALL_E_AGAIN &&
                  seen[strlen(seen) - 1] == letter(stage));
            CHECK(invoke() == TCALL_OK && strcmp(result, "\"done\"") == 0);
            CHECK(count(letter(stage)) == 2);
            CHECK(count('A') == (stage == 0 ? 2 : 1));
        } else {
            CHECK(r < 0 && r != TCALL_E_AGAIN);
        }
        check_ends(tcall_stage_name(stage));
    }
}

/* ---- priority, filter, tools with hooks of their own ---- */

static int say(tcall_ctx *cx, void *user)
{
    (void)cx;
    see(*(const char *)user);
    return TCALL_OK;
}

static int wrap(tcall_ctx *cx, void *user)
{
    int r;
    see(*(const char *)user);
    r = tcall_next(cx);
    see(*(const char *)user);
    return r;
}

static bool odd(const tcall_ctx *cx, void *user)
{
    (void)user;
    return tcall_json_int(tcall_json_get(cx->call->args, "n"), 0) & 1;
}

static char letters[] = "12345678";

static void hook_row(tcall_hook *h, int stage, int priority, int which)
{
    set_hook(h, stage, stage == TCALL_AROUND_EXECUTE ? wrap : say,
             &letters[which - 1]);
    h->priority = (int16_t)priority;
}

static void test_priority(void)
{
    static tcall_hook own[3];
    prepare();
    desc.on_event = NULL;
    hook_row(&hooks[0], TCALL_WILL_AUTHORIZE, -32768, 1);
    hook_row(&hooks[1], TCALL_WILL_AUTHORIZE, 32767, 2);
    hook_row(&hooks[2], TCALL_WILL_AUTHORIZE, 0, 3);
    hook_row(&own[0], TCALL_WILL_AUTHORIZE, 0, 4);
    hook_row(&own[1], TCALL_WILL_AUTHORIZE, 5, 5);
    desc.hook_count = 3;
    tools[0].hooks = own;
    tools[0].hook_count = 2;
    CHECK(once("{}") == TCALL_OK && strcmp(seen, "25341*") == 0);
    hooks[0].stage = hooks[1].stage = hooks[2].stage = own[0].stage =
        own[1].stage = TCALL_DID_EXECUTE; /* the other way round */
    CHECK(once("{}") == TCALL_OK && strcmp(seen, "*13452") == 0);
    hooks[0].stage = hooks[1].stage = TCALL_AROUND_EXECUTE;
    hooks[0].run = hooks[1].run = wrap;
    CHECK(once("{}") == TCALL_OK && strcmp(seen, "21*34512") == 0);
    hooks[1].filter = odd;
    CHECK(once("{\"n\":2}") == TCALL_OK && strcmp(seen, "1*3451") == 0);
    CHECK(once("{\"n\":3}") == TCALL_OK && strcmp(seen, "21*34512") == 0);
}

/* Hooks around it that are too many, that keep silent, that call too late. */
static int silent(tcall_ctx *cx, void *user)
{
    (void)user;
    tcall_next(cx);
    return TCALL_OK;
}

static int never(tcall_ctx *cx, void *user)
{
    (void)cx;
    (void)user;
    return TCALL_OK;
}

static void test_around(void)
{
    int i;
    prepare();
    desc.on_event = NULL;
    for (i = 0; i < TOOLCALL_MAX_AROUND + 1; i++)
        hook_row(&hooks[i], TCALL_AROUND_EXECUTE, 0, 1);
    desc.hook_count = TOOLCALL_MAX_AROUND;
    CHECK(once("{}") == TCALL_OK && world.runs == 1);
    desc.hook_count++;
    CHECK(once("{}") == TCALL_E_USAGE && world.runs == 1);
    set_hook(&hooks[0], TCALL_AROUND_EXECUTE, silent, NULL);
    desc.hook_count = 1;
    world.failures = 1;
    CHECK(once("{}") == TCALL_E_FAILED && says("it is stuck"));
    CHECK(once("{}") == TCALL_OK);
    hooks[0].run = never;
    CHECK(once("{}") == TCALL_E_USAGE && says("success\":false"));
    set_hook(&hooks[0], TCALL_WILL_AUTHORIZE, wrap, letters);
    CHECK(once("{}") == TCALL_E_USAGE);
}

/* A quota that is not had is not given back, one that is had always is. */
static int full(tcall_ctx *cx, void *user)
{
    (void)user;
    return tcall_retry_after(cx, 10, "full");
}

static void test_release(void)
{
    prepare();
    set_hook(&hooks[0], TCALL_WILL_ACQUIRE_QUOTA, acquire, &quota);
    set_hook(&hooks[1], TCALL_WILL_ACQUIRE_SEMAPHORE, full, &semaphore);
    set_hook(&hooks[2], TCALL_DID_RELEASE_SEMAPHORE, release, &semaphore);
    set_hook(&hooks[3], TCALL_DID_RELEASE_QUOTA, release, &quota);
    desc.hook_count = 4;
    CHECK(once("{}") == TCALL_E_RATE && says("\"retry_after_ms\":10"));
    CHECK(world.acquired == 1 && world.released == 1 && world.runs == 0);
    /* A release that nobody acquired for always runs. */
    hooks[3].user = &hooks[3];
    CHECK(once("{}") == TCALL_E_RATE && world.released == 2);
}

/* Pairs that share a user, and each can be had or not. */
static int maybe(tcall_ctx *cx, void *user)
{
    return world.acquired == world.failures ? full(cx, user)
                                            : acquire(cx, user);
}

static void test_shared(void)
{
    int stage, pairs, fails;
    for (stage = TCALL_WILL_ACQUIRE_QUOTA;
         stage <= TCALL_WILL_ACQUIRE_SEMAPHORE; stage++)
        for (pairs = 1; pairs < 4; pairs++)
            for (fails = 0; fails <= pairs; fails++) {
                int i;
                prepare();
                for (i = 0; i < pairs; i++) {
                    set_hook(&hooks[2 * i], stage, maybe, NULL);
                    set_hook(&hooks[2 * i + 1],
                             stage == TCALL_WILL_ACQUIRE_QUOTA
                                 ? TCALL_DID_RELEASE_QUOTA
                                 : TCALL_DID_RELEASE_SEMAPHORE,
                             release, NULL);
                }
                desc.hook_count = (uint16_t)(2 * pairs);
                world.failures = fails < pairs ? fails : -1;
                CHECK(once("{}") == (fails < pairs ? TCALL_E_RATE : TCALL_OK));
                CHECK(world.acquired == fails && world.released == fails);
            }
}

/* Ended by somebody else while the walk is on: before the tool, not behind. */
static int end_it(tcall_ctx *cx, void *user)
{
    (void)user;
    see(letter(cx->hook->stage));
    tcall_cancel(cx->call, TCALL_E_CANCELLED);
    return cx->hook->stage == TCALL_AROUND_EXECUTE ? tcall_next(cx) : TCALL_OK;
}

static void test_ended(void)
{
    int stage;
    for (stage = 0; stage < TCALL_STAGE_COUNT; stage++) {
        bool before = stage <= TCALL_WILL_EXECUTE;
        int r;
        if (stage == TCALL_DID_CACHE_HIT || stage == TCALL_ON_RETRY ||
            stage == TCALL_ON_GIVE_UP || stage == TCALL_ON_ERROR)
            continue;
        prepare();
        hooks[stage].run = end_it;
        r = once("{}");
        CHECK(r == (before ? TCALL_E_CANCELLED : TCALL_OK));
        CHECK(world.runs == !before && count(letter(stage)) == 1);
        check_ends(tcall_stage_name(stage));
    }
    prepare(); /* between two attempts */
    hooks[TCALL_ON_RETRY].run = end_it;
    world.failures = 9;
    world.attempts = 5;
    CHECK(once("{}") == TCALL_E_CANCELLED && world.runs == 1);
    check_ends("on_retry");
}

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
    got = user ? tcall_find_service(cx, "clock")
               : tcall_require_service(cx, "clock");
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
    hooks[0].user = &quota; /* tcall_find_service */
    CHECK(once("{}") == TCALL_OK && got == NULL && world.runs == 1);
    hooks[0].user = NULL;
    desc.services = global;
    desc.service_count = 2;
    CHECK(once("{}") == TCALL_OK && got == &clock_service);
    desc.hook_count = 2;
    scope = TCALL_SCOPE_CALL;
    CHECK(once("{}") == TCALL_OK && got == &session_service);
    desc.hook_count = 1; /* it was of that call only */
    CHECK(once("{}") == TCALL_OK && got == &clock_service);
    desc.hook_count = 2;
    scope = TCALL_SCOPE_SESSION;
    CHECK(once("{}") == TCALL_E_USAGE);
    desc.session = &session;
    CHECK(once("{}") == TCALL_OK && got == &session_service);
    desc.hook_count = 1;
    CHECK(once("{}") == TCALL_OK && got == &session_service);
    tcall_unbind_service(&session, &bound);
    CHECK(once("{}") == TCALL_OK && got == &clock_service);
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

static void test_scratch(void)
{
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
    CHECK(cx->finished == 0 && cx->started == 7);
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
    CHECK(heard.started == 7 && heard.finished == 227 && heard.ms == 200);
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

static void test_changes(void)
{
    int stage;
    for (stage = 0; stage <= TCALL_WILL_EXECUTE; stage++) {
        if (stage == TCALL_AROUND_EXECUTE || stage == TCALL_DID_CACHE_HIT)
            continue;
        prepare();
        tools[0].run = echo;
        set_hook(&hooks[0], stage, change, NULL);
        desc.hook_count = 1;
        other = "{'n': \"7\"}";
        CHECK(once("{\"n\":3}") == TCALL_OK &&
              strcmp(result, "{\"n\":7}") == 0);
        CHECK(call.cx.history && call.cx.history->stage == stage);
        CHECK(strcmp(call.cx.history->by, tcall_stage_name(stage)) == 0);
        other = "{\"n\":77}"; /* checked like the first */
        CHECK(once("{\"n\":3}") == TCALL_E_INVALID && says("maximum"));
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
            CHECK(invoke() == TCALL_OK && world.runs == 3);
        }
        /* Who approved the former ones is asked for the new ones. */
        tools[0].confirm = true;
        other = "{\"n\":8}";
        verdict = TCALL_VERDICT_ALLOW;
        CHECK(once("{\"n\":3}") == TCALL_OK);
        CHECK(count('?') == (stage > TCALL_WILL_CHECK_CONSENT ? 2 : 1));
        CHECK(count('?') == count('='));
        CHECK(tc.block.high == 0);
    }
    for (stage = TCALL_DID_EXECUTE; stage < TCALL_STAGE_COUNT; stage++) {
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
        CHECK(tcall_str_eq(call.cx.result.output, tcall_str_of("another")));
        CHECK(call.cx.history &&
              tcall_str_eq(call.cx.history->output, tcall_str_of("\"done\"")));
        CHECK(!call.cx.history->before);
        tcall_release(&tc, &call);
    }
}

/* When the tool has run, or will not, there is no input to change. */
static int too_late(tcall_ctx *cx, void *user)
{
    (void)user;
    see(letter(cx->hook->stage));
    CHECK(tcall_set_input(cx, tcall_str_of("{\"n\":7}")) == TCALL_E_USAGE);
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
            CHECK(!call.cx.history);
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
    const tcall_change *c;
    prepare();
    tools[0].run = hesitates;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("work", "{}");
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK);
    c = call.cx.history;
    CHECK(c && strcmp(c->by, "work") == 0 && c->stage == TCALL_AROUND_EXECUTE);
    CHECK(c && tcall_str_eq(c->output, tcall_str_of("first")) && !c->before);
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
        return TCALL_E_CLOSED;
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
    CHECK(once("{\"n\":3}") == TCALL_E_CLOSED);
    CHECK(says("the connection ended before the answer did") && !says("half"));
    hooks[TCALL_WILL_EXECUTE].run = fail_first;
    CHECK(once("{}") == TCALL_E_FAILED && says("work(): half of it"));
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
    static char text[512];
    static const char deep[] =
        "{\"n\":3,\"path\":\"/a/very/long/path/that/nobody/wants/to/read/"
        "\xC3\xA9\"}";
    tcall_writer w;
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
    tcall_writer_init(&w, text, sizeof text - 1);
    CHECK(tcall_write_result(&w, res) == TCALL_OK);
    text[w.fill] = 0;
    CHECK(strcmp(text, "{\"success\":true,\"error\":\"\","
                       "\"title\":\"Two lines\",\"metadata\":{\"lines\":2},"
                       "\"output\":\"one\\ntwo\\n\",\"attachments\":[{"
                       "\"type\":\"image/png\",\"name\":\"a.png\","
                       "\"bytes\":4}]}") == 0);
    tcall_release(&tc, &call);
    world.failures = 1;
    ask("work", deep);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_FAILED);
    result[out.fill] = 0;
    CHECK(says("work(n=3, path=\\\"/a/very/long/path/that/nobody"));
    CHECK(says("...): one\\ntwo") && !says("/read/"));
    CHECK(says("\"suggestion\":\"try another file\""));
    tcall_writer_init(&w, text, sizeof text - 1);
    CHECK(tcall_write_result(&w, res) == TCALL_OK);
    text[w.fill] = 0;
    CHECK(strstr(text, "\"success\":false") && strstr(text, "Two lines"));
    CHECK(!strstr(text, "\"output\""));
    tcall_release(&tc, &call);
}

/* What is missing comes with a call that would do, made from the schema. */
static void test_example(void)
{
    static const char schema[] = TCALL_JSON({
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
    tools[0].parameters = schema;
    CHECK(once("{}") == TCALL_E_INVALID);
    CHECK(says("\"suggestion\":\"Example: work(path=\\\"value\\\", "
               "mode=\\\"fast\\\", lines=5, deep=true, list=[], "
               "map={\\\"a\\\" : 1}, x=1)\""));
    CHECK(once(example) == TCALL_OK); /* it would do indeed */
}

/* Any size of block: the right outcome or an error that says what it needs,
 * and nothing outside is touched. */
static void test_sizes(void)
{
    size_t size, i, works = 0;
    for (size = 0; size < 5000; size += CHECK_EVERY | 1) {
        char *exact = (char *)malloc(size + 16);
        int r;
        prepare();
        desc.block = exact;
        desc.block_size = size;
        memset(exact + size, 0x5A, 16);
        hooks[TCALL_WILL_NORMALIZE_INPUT].run = change;
        hooks[TCALL_WILL_TRANSFORM_OUTPUT].run = change;
        hooks[TCALL_WILL_INJECT_SECRETS].run = remember;
        hooks[TCALL_DID_CREATE_CONTEXT].run = remember;
        tools[0].run = size & 1 ? echo : rich;
        tools[0].output = "{\"type\":[\"string\",\"object\"]}";
        if (!(size & 1))
            tools[0].output = NULL;
        other = "{\"n\":7}";
        r = tcall_init(&tc, &desc);
        if (r == TCALL_OK) {
            ask("work", "{'n':\"3\"}");
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
    test_outcomes();
    test_again();
    test_controls();
    test_hook_waits();
    test_priority();
    test_around();
    test_release();
    test_shared();
    test_ended();
    test_services();
    test_scratch();
    test_times();
    test_changes();
    test_too_late();
    test_by();
    test_words();
    test_result();
    test_example();
    test_sizes();
    return check_sum("test_stages");
}
