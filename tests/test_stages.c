/* Needs: SENTENCES. */
/* The life of a call: the order of its stages for every outcome, what hooks
 * do at each, and who goes first. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/invoke.c"
#endif
#include "check.h"
#include "stages.h"

/* The ways through, without a control. */
static void test_outcomes(void)
{
    prepare();
    CHECK(once("{}") == TCALL_OK && strcmp(result, "\"done\"") == 0);
    check_order("success", "<ABCDEFGHIJKLMNPQR*SVWXYabcdef>");
    CHECK(call.cx.failure.error == TCALL_OK && call.cx.attempt == 1);

    prepare();
    world.hit = 1;
    CHECK(once("{}") == TCALL_OK && strcmp(result, "\"cached\"") == 0);
    check_order("cache hit", "<ABCDEFGHIJKLMNOVWXYabcdef>");

    prepare();
    world.failures = 1;
    CHECK(once("{}") == TCALL_E_FAILED && says("it is stuck"));
    check_order("tool error", "<ABCDEFGHIJKLMNPQR*UZabcdef!>");

    prepare();
    world.failures = 1;
    world.attempts = 3;
    CHECK(once("{}") == TCALL_OK && strcmp(result, "\"done\"") == 0);
    check_order("retry succeeds", "<ABCDEFGHIJKLMNPQR*~TR*SVWXYabcdef>");
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
    check_order("granted later", "<ABCDE?=FGHIJKLMNPQR*SVWXYabcdef>");

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
    check_order("unknown tool, answered", "<ABCDVWXYabcdef>");

    prepare();
    tools[0].output =
        tcall_schema_text_of("{\"type\":\"string\",\"maxLength\":3}");
    CHECK(once("{}") == TCALL_E_OUTPUT &&
          says("does not match its schema: \\\"done\\\" has 4 characters, "
               "over the maximum 3\","));
    check_order("output invalid", "<ABCDEFGHIJKLMNPQR*SVWXZabcdef!>");
    prepare();
    tools[0].output =
        tcall_schema_text_of("{\"type\":\"string\",\"maxLength\":4}");
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
    check_order("polled", "<ABCDEFGHIJKLMNPQR*Q*Q*SVWXYabcdef>");

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
    check_order("cancelled", "<ABCDEFGHIJKLMNPQR*Q*UZabcdef!>");

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
    check_order("cancelled while asked", "<ABCDE?Zabcdef=!>");
}

/* Every control at every stage. What is not in the row follows the rule: an
 * answer goes on behind the run, an error goes to the stages that always are.
 * Where a stage is only reached by a cache hit or a failing tool, so be it. */
static const struct {
    const char *way; /* what leads there: "", "hit", "fails", "retries" */
    const char *respond, *fail;
} rows[TCALL_STAGE_COUNT] = {
    {"", "<AVWXYabcdef>", "<AZabcdef!>"},
    {"", "<ABVWXYabcdef>", "<ABZabcdef!>"},
    {"", "<ABCVWXYabcdef>", "<ABCZabcdef!>"},
    {"", "<ABCDVWXYabcdef>", "<ABCDZabcdef!>"},
    {"", "<ABCDEVWXYabcdef>", "<ABCDEZabcdef!>"},
    {"", "<ABCDEFVWXYabcdef>", "<ABCDEFZabcdef!>"},
    {"", "<ABCDEFGVWXYabcdef>", "<ABCDEFGZabcdef!>"},
    {"", "<ABCDEFGHVWXYabcdef>", "<ABCDEFGHZabcdef!>"},
    {"", "<ABCDEFGHIVWXYabcdef>", "<ABCDEFGHIZabcdef!>"},
    {"", "<ABCDEFGHIJVWXYabcdef>", "<ABCDEFGHIJZabcdef!>"},
    {"", "<ABCDEFGHIJKVWXYabcdef>", "<ABCDEFGHIJKZabcdef!>"},
    {"", "<ABCDEFGHIJKLVWXYabcdef>", "<ABCDEFGHIJKLZabcdef!>"},
    {"", "<ABCDEFGHIJKLMVWXYabcdef>", "<ABCDEFGHIJKLMZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNOVWXYabcdef>", "<ABCDEFGHIJKLMNZabcdef!>"},
    {"hit", "<ABCDEFGHIJKLMNOVWXYabcdef>", "<ABCDEFGHIJKLMNOZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPVWXYabcdef>", "<ABCDEFGHIJKLMNPZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQVWXYabcdef>", "<ABCDEFGHIJKLMNPQZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQRVWXYabcdef>", "<ABCDEFGHIJKLMNPQRUZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYabcdef>", "<ABCDEFGHIJKLMNPQR*SUZabcdef!>"},
    {"retries", "<ABCDEFGHIJKLMNPQR*~TVWXYabcdef>",
     "<ABCDEFGHIJKLMNPQR*~T~TUZabcdef!>"},
    {"retries", "<ABCDEFGHIJKLMNPQR*~TR*~TR*UVWXYabcdef>",
     "<ABCDEFGHIJKLMNPQR*~TR*~TR*U%Zabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYabcdef>", "<ABCDEFGHIJKLMNPQR*SVZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYabcdef>", "<ABCDEFGHIJKLMNPQR*SVWZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYabcdef>", "<ABCDEFGHIJKLMNPQR*SVWXZabcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYabcdef>",
     "<ABCDEFGHIJKLMNPQR*SVWXYZabcdef!>"},
    {"fails", "<ABCDEFGHIJKLMNPQR*UZabcdef>", "<ABCDEFGHIJKLMNPQR*UZ%abcdef!>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYa%bcdef>",
     "<ABCDEFGHIJKLMNPQR*SVWXYa%bcdef>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYab%cdef>",
     "<ABCDEFGHIJKLMNPQR*SVWXYab%cdef>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYabc%def>",
     "<ABCDEFGHIJKLMNPQR*SVWXYabc%def>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYabcd%ef>",
     "<ABCDEFGHIJKLMNPQR*SVWXYabcd%ef>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYabcde%f>",
     "<ABCDEFGHIJKLMNPQR*SVWXYabcde%f>"},
    {"", "<ABCDEFGHIJKLMNPQR*SVWXYabcdef%>",
     "<ABCDEFGHIJKLMNPQR*SVWXYabcdef%>"},
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

/* How a call ends when hooks at a stage fail with this: from WILL_AUDIT on the
 * result is complete, and where the tool has failed that counts. */
static int ending(int stage, int error)
{
    if (stage >= TCALL_WILL_AUDIT)
        return TCALL_OK;
    return stage == TCALL_ON_ERROR || stage == TCALL_ON_GIVE_UP ? TCALL_E_FAILED
                                                                : error;
}

static void test_controls(void)
{
    int stage;
    for (stage = 0; stage < TCALL_STAGE_COUNT; stage++) {
        const char *name = stage_names[stage];
        bool counts = ending(stage, 1) == 1;
        CHECK(control(stage, RESPOND) == TCALL_OK);
        CHECK(strcmp(result, stage < TCALL_WILL_AUDIT ? "\"instead\""
                                                      : "\"done\"") == 0);
        check_order(name, rows[stage].respond);
        CHECK(control(stage, ABORT) == ending(stage, TCALL_E_ABORTED));
        CHECK(!counts || (says("not today") && says("\"closed\"") &&
                          call.cx.failure.status == 403 &&
                          call.cx.failure.stage == stage));
        check_order(name, rows[stage].fail);
        CHECK(control(stage, RETRY_AFTER) == ending(stage, TCALL_E_RATE));
        CHECK(!counts ||
              (says("come back") && says("\"retry_after_ms\":1500")));
        check_order(name, rows[stage].fail);
        CHECK(control(stage, FAIL) == ending(stage, TCALL_E_CLOSED));
        CHECK(!counts || stage == TCALL_AROUND_EXECUTE || says(name));
        check_order(name, rows[stage].fail);
    }
}

/* A hook may wait at each stage, and the call goes on where it was: what the
 * tool has written by then is still its output. */
static void test_hook_waits(void)
{
    int stage;
    for (stage = 0; stage < TCALL_STAGE_COUNT; stage++) {
        bool fails;
        int times;
        CHECK(control(stage, AGAIN) == TCALL_E_AGAIN && out.fill == 0);
        CHECK(seen[strlen(seen) - 1] == letter(stage));
        seen[strlen(seen) - 1] = '\0'; /* it comes again */
        fails = world.attempts > 1 || strcmp(rows[stage].way, "fails") == 0;
        times = world.hit ? 0 : world.attempts;
        CHECK(invoke() == (fails ? TCALL_E_FAILED : TCALL_OK));
        CHECK(fails
                  ? says("it is stuck")
                  : strcmp(result, world.hit ? "\"cached\"" : "\"done\"") == 0);
        CHECK(world.runs == times && count('A') == 1);
        check_ends(stage_names[stage]);
    }
}

/* Where one that waits after the run is cancelled, or the block has no room for
 * the output, the hook has failed; the tool has not. */
static void test_waits_no_longer(void)
{
    int stage;
    for (stage = TCALL_WILL_AUDIT; stage < TCALL_STAGE_COUNT; stage++) {
        CHECK(control(stage, AGAIN) == TCALL_E_AGAIN);
        seen[strlen(seen) - 1] = '\0';
        world.act = AGAIN;
        tcall_cancel(&call, TCALL_E_CANCELLED);
        CHECK(invoke() == TCALL_OK && strcmp(result, "\"done\"") == 0);
        CHECK(count('%') == 1);
        check_ends(stage_names[stage]);
    }
    CHECK(control(TCALL_WILL_REDACT_OUTPUT, AGAIN) == TCALL_E_AGAIN);
    world.act = AGAIN;
    tcall_cancel(&call, TCALL_E_CANCELLED); /* what was not redacted stays in */
    CHECK(invoke() == TCALL_E_CANCELLED && !says("done"));
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
    return tcall_json_int(tcall_json_get(cx->call->asked->args, "n"), 0) & 1;
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

/* One that releases and waits is called again, until it has released. */
static int releases;

static int slow_release(tcall_ctx *cx, void *user)
{
    if (releases++ < 2)
        return tcall_wait_ms(&cx->wait, 5);
    return release(cx, user);
}

static void test_slow_release(void)
{
    int i;
    prepare();
    set_hook(&hooks[0], TCALL_WILL_ACQUIRE_QUOTA, acquire, &quota);
    set_hook(&hooks[1], TCALL_DID_RELEASE_QUOTA, slow_release, &quota);
    desc.hook_count = 2;
    releases = 0;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("work", "{}");
    for (i = 0; i < 2; i++)
        CHECK(invoke() == TCALL_E_AGAIN && world.released == 0);
    CHECK(invoke() == TCALL_OK && world.released == 1 && world.held == 0);
    CHECK(world.runs == 1 && says("done"));
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
        check_ends(stage_names[stage]);
    }
    prepare(); /* between two attempts */
    hooks[TCALL_ON_RETRY].run = end_it;
    world.failures = 9;
    world.attempts = 5;
    CHECK(once("{}") == TCALL_E_CANCELLED && world.runs == 1);
    check_ends("on_retry");
}

/* There are bits for 32 of what a call may hold; the next is refused, and all
 * that was had is given back. */
static void test_many_held(void)
{
    enum { MOST = 32 };
    static tcall_hook own[MOST + 1];
    int i;
    prepare();
    for (i = 0; i <= MOST; i++)
        set_hook(&own[i], TCALL_WILL_ACQUIRE_QUOTA, acquire, &quota);
    for (i = 0; i < MOST; i++)
        set_hook(&hooks[i], TCALL_DID_RELEASE_QUOTA, release, &quota);
    tools[0].hooks = own;
    desc.hook_count = MOST;
    tools[0].hook_count = MOST;
    CHECK(once("{}") == TCALL_OK && world.acquired == MOST);
    CHECK(world.released == MOST);
    tools[0].hook_count = MOST + 1;
    world.acquired = world.released = 0;
    CHECK(once("{}") == TCALL_E_LIMIT && world.runs == 1);
    CHECK(world.acquired == MOST + 1 && world.released == MOST);
}

/* The call's own session comes before that of the registry. */
static tcall_session *met;

static int meet(tcall_ctx *cx, void *user)
{
    (void)user;
    met = cx->session;
    return TCALL_OK;
}

static void test_session(void)
{
    static tcall_session ours, its;
    prepare();
    set_hook(&hooks[0], TCALL_WILL_EXECUTE, meet, NULL);
    desc.hook_count = 1;
    desc.session = &ours;
    CHECK(once("{}") == TCALL_OK && met == &ours);
    ask("work", "{}");
    call.session = &its;
    CHECK(invoke() == TCALL_OK && met == &its);
}

/* A hook that knows better why a tool is not permitted is the one to be read;
 * a tool that looks first is not asked for before it has. */
static int withdraw(tcall_ctx *cx, void *user)
{
    (void)user;
    tcall_abort(cx, "the key is turned", NULL, 0);
    return TCALL_OK;
}

static void test_denials(void)
{
    prepare();
    set_hook(&hooks[0], TCALL_WILL_AUTHORIZE, withdraw, NULL);
    desc.hook_count = 1;
    desc.allow = TCALL_WRITE;
    CHECK(once("{}") == TCALL_E_DENIED && says("the key is turned"));
    CHECK(world.runs == 0);
    prepare();
    set_hook(&hooks[0], TCALL_WILL_VALIDATE_INPUT, withdraw, NULL);
    desc.hook_count = 1;
    CHECK(once("{\"n\":77}") == TCALL_E_INVALID && says("the key is turned"));
    prepare();
    world.act = FAIL; /* a hook fails before anybody has looked for the tool */
    world.stage = 0;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("nobody", "{}");
    CHECK(invoke() == TCALL_E_CLOSED);
    prepare();
    verdict = TCALL_VERDICT_DENY;
    tools[0].confirm = tools[0].looks_first = true;
    CHECK(once("{}") == TCALL_OK && count('?') == 0);
}

/* Without a schema: who may run unasked. */
static void test_unchecked(void)
{
    static const struct {
        uint8_t mode, permissions;
        int error;
    } modes[] = {
        {TCALL_NO_SCHEMA_READ_ONLY, TCALL_READ, TCALL_OK},
        {TCALL_NO_SCHEMA_READ_ONLY, TCALL_WRITE, TCALL_E_DENIED},
        {TCALL_NO_SCHEMA_APPROVAL, TCALL_READ, TCALL_E_DENIED},
        {TCALL_NO_SCHEMA_FULL, TCALL_WRITE, TCALL_OK},
    };
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(modes); i++) {
        prepare();
        verdict = TCALL_VERDICT_DENY;
        tools[0].parameters = tcall_schema_text_of(NULL);
        tools[0].allow_no_schema = true;
        tools[0].no_schema_mode = modes[i].mode;
        tools[0].permissions = desc.allow = modes[i].permissions;
        CHECK(once("{}") == modes[i].error);
        CHECK(count('?') == (modes[i].error < 0));
    }
}

int main(void)
{
    test_outcomes();
    test_again();
    test_controls();
    test_hook_waits();
    test_waits_no_longer();
    test_priority();
    test_around();
    test_release();
    test_slow_release();
    test_shared();
    test_ended();
    test_many_held();
    test_session();
    test_denials();
    test_unchecked();
    return check_sum("test_stages");
}
