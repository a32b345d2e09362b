/* The life of a call: the order of its stages for every outcome, what hooks
 * may do at each, services, and blocks of every size. */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include "check.h"

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
    desc.run_hooks = tcall_run_hooks;
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
    verdict = TCALL_DENY;
    CHECK(once("{}") == TCALL_E_DENIED);
    check_order("denied", "<ABCDE?=Zabcdef!>");

    prepare();
    tools[0].confirm = true;
    verdict = TCALL_LATER;
    CHECK(once("{}") == TCALL_E_APPROVAL && out.fill == 0);
    CHECK(strcmp(seen, "<ABCDE?") == 0);
    CHECK(invoke() == TCALL_E_APPROVAL); /* still nobody has answered */
    verdict = TCALL_ALLOW;
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
    tools[0].output = "{\"type\":\"string\",\"maxLength\":3}";
    tools[0].check_output = tcall_check_output;
    CHECK(once("{}") == TCALL_E_OUTPUT && says("output"));
    check_order("output invalid", "<ABCDEFGHIJKLMNPQR*SVWXZabcdef!>");
    prepare();
    tools[0].output = "{\"type\":\"string\",\"maxLength\":4}";
    tools[0].check_output = tcall_check_output;
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
    CHECK(says("timeout") && world.runs == 3);
    check_ends("time-out");

    prepare();
    tools[0].confirm = true;
    verdict = TCALL_LATER;
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

int main(void)
{
    test_outcomes();
    test_again();
    test_controls();
    test_hook_waits();
    return check_sum("test_stages");
}
