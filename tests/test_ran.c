/* Needs: AGENT. */
/* Has it run? What is said of a call whose tool has run and that failed after
 * it, what an agent does when the model makes it again, and what nobody reads:
 * secrets that a hook injected. */
#include "canned.h"
#include "check.h"

#define PARAMETERS                                                        \
    "{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":"    \
    "{\"type\":\"integer\",\"maximum\":9},\"key\":{\"type\":\"string\"}," \
    "\"deep\":{\"type\":\"object\"}}}"

static char block[1 << 15], result[4096], log_text[4096], heard[8192];
static tcall tc;
static tcall_agent agent;
static tcall_desc desc;
static tcall_agent_desc agent_desc;
static tcall_tool tools[2];
static uint32_t now;
static int runs, asked;
static const char *says; /* what the tool answers */

static int work(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    runs++;
    return tcall_write_text(out, says);
}

static int fails(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    runs++;
    tcall_write_text(out, "no power");
    return TCALL_E_FAILED;
}

static int slow(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)args, (void)out;
    if (cx->stop < 0)
        return cx->stop;
    runs++;
    return tcall_wait_ms(&cx->wait, 10);
}

static int asks_first(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    int error = tcall_approval(cx);
    return error < 0 ? error : work(cx, args, out);
}

static uint32_t clock_ms(void *user)
{
    (void)user;
    return now += 7;
}

static int log_sink(void *user, const char *bytes, size_t len)
{
    (void)user;
    strncat(log_text, bytes, len);
    return (int)len;
}

static tcall_verdict deny(void *user, const tcall_call *call)
{
    (void)user, (void)call;
    asked++;
    return TCALL_VERDICT_DENY;
}

/* Keeps all that is told; provenance too. */
static void hear(void *user, const tcall_event *event)
{
    size_t len = strlen(heard);
    tcall_writer out;
    (void)user;
    tcall_writer_init(&out, heard + len, sizeof heard - 1 - len);
    tcall_write_str(&out, event->text);
    if (event->call && event->kind == TCALL_EVENT_END)
        tcall_write_provenance(&out, &tc, event->call);
    heard[len + out.fill] = '\0';
}

static void prepare(void)
{
    int i;
    memset(&desc, 0, sizeof desc);
    memset(&agent_desc, 0, sizeof agent_desc);
    memset(tools, 0, sizeof tools);
    for (i = 0; i < 2; i++) {
        tools[i].name = i ? "look" : "fire";
        tools[i].description = "Does it";
        tools[i].parameters = tcall_schema_text_of(PARAMETERS);
        tools[i].run = work;
        tools[i].permissions = i ? TCALL_READ : TCALL_ACTUATE;
    }
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = sizeof block;
    desc.tools = tools;
    desc.tool_count = 2;
    desc.stages = &tcall_stages;
    desc.allow = TCALL_READ | TCALL_ACTUATE;
    desc.now_ms = clock_ms;
    agent_desc.tc = &tc;
    agent_desc.provider = &tcall_openai;
    agent_desc.model = "m";
    agent_desc.transport = canned_transport();
    runs = asked = 0;
    says = "{}";
    heard[0] = log_text[0] = '\0';
}

/* Makes one call, whose context stays to be looked at. */
static int ask(tcall_call *call, const char *name, const char *args)
{
    tcall_writer out;
    int error;
    tcall_init(&tc, &desc);
    tcall_writer_init(&out, result, sizeof result - 1);
    error =
        tcall_execute(&tc, tcall_str_of(name), tcall_str_of(args), &out, call);
    result[out.fill] = '\0';
    return error;
}

static bool in(const char *text, const char *what)
{
    return strstr(text, what) != NULL;
}

static int breaks(tcall_ctx *cx, void *user)
{
    (void)cx, (void)user;
    return TCALL_E_CLOSED;
}

static void test_ran(void)
{
    static tcall_audit audit;
    tcall_hook hooks[] = {
        TCALL_AUDIT(&audit),
        {"late", TCALL_WILL_TRANSFORM_OUTPUT, 0, breaks, 0, 0},
        TCALL_TIMEOUT(50)};
    tcall_call call;
    int tool;
    audit.sink = log_sink;
    for (tool = 0; tool < 2; tool++) {
        const char *name = tool ? "look" : "fire";
        prepare();
        desc.hooks = hooks;
        desc.hook_count = 1;
        desc.on_event = hear;
        desc.events = &tcall_events;
        tools[tool].output = tcall_schema_text_of("{\"type\":\"object\"}");
        says = "42";
        CHECK(ask(&call, name, "{\"n\":1}") == TCALL_E_OUTPUT && runs == 1);
        CHECK(call.cx.result.ran && call.cx.failure.ran);
        CHECK(in(log_text, "\"ran\":true") && in(heard, "\"ran\":true"));
        CHECK(in(result, "\"ran\":true") == !tool);
        CHECK(in(result, "do not repeat") == !tool);
#ifndef TOOLCALL_NO_SENTENCES
        CHECK(in(result, "42 is a number"));
#endif
        CHECK(!in(result, "send"));
        says = "done";
        CHECK(ask(&call, name, "{\"n\":1}") == TCALL_E_OUTPUT);
        CHECK(in(result, "no JSON") && in(result, "\"ran\":true") == !tool);
        says = "{}";
        CHECK(ask(&call, name, "{\"n\":1}") == TCALL_OK);
        CHECK(call.cx.result.ran && strcmp(result, "{}") == 0);
        desc.hook_count = 2;
        CHECK(ask(&call, name, "{\"n\":1}") == TCALL_E_CLOSED);
        CHECK(in(result, "do not repeat") == !tool && call.cx.failure.ran);
    }
    prepare();
    desc.hooks = hooks;
    desc.hook_count = 1;
    tools[0].run = fails; /* it has said why */
    CHECK(ask(&call, "fire", "{\"n\":1}") == TCALL_E_FAILED);
    CHECK(in(result, "no power") && in(result, "\"ran\":true"));
    CHECK(!in(result, "repeat") && call.cx.failure.ran);
    tools[0].run = slow;
    desc.hook_count = 1;
    desc.hooks = hooks + 2; /* the time-out */
    desc.wait = NULL;
    tcall_init(&tc, &desc);
    {
        tcall_writer out;
        int error, i;
        memset(&call, 0, sizeof call);
        call.name = tcall_str_of("fire");
        call.arguments = tcall_str_of("{\"n\":1}");
        tcall_hydrate(&tc, &call);
        for (i = 0, error = TCALL_E_AGAIN; error == TCALL_E_AGAIN && i < 99;
             i++) {
            tcall_writer_init(&out, result, sizeof result - 1);
            error = tcall_invoke(&tc, &call, &out);
        }
        result[out.fill] = '\0';
        CHECK(error == TCALL_E_TIMEOUT && call.cx.failure.ran);
        CHECK(in(result, "had begun") && in(result, "\"ran\":true"));
        tcall_release(&tc, &call);
    }
}

/* Whose tool did not run, of that nobody says so. */
static void test_did_not_run(void)
{
    tcall_call call;
    prepare();
    desc.on_event = hear;
    desc.events = &tcall_events;
    desc.approve = deny;
    CHECK(ask(&call, "fire", "{\"n\":10}") == TCALL_E_INVALID);
    CHECK(!call.cx.result.ran && !in(result, "ran"));
    tools[0].confirm = true;
    CHECK(ask(&call, "fire", "{\"n\":1}") == TCALL_E_DENIED && asked == 1);
    CHECK(!call.cx.failure.ran && !in(result, "\"ran\""));
    tools[0].looks_first = true;
    tools[0].run = asks_first;
    CHECK(ask(&call, "fire", "{\"n\":1}") == TCALL_E_DENIED && asked == 2);
    CHECK(!call.cx.result.ran && !in(result, "\"ran\"") && runs == 0);
    CHECK(in(heard, "\"ran\":false") && !in(heard, "\"ran\":true"));
}

/* Provenance names a validator where one was asked. */
static void test_validator(void)
{
    static const struct {
        const char *name, *args;
        bool asked;
    } rows[] = {{"fire", "{\"n\":1}", true},
                {"fire", "{\"n\":10}", true},
                {"fire", "{\"n\":", false},
                {"ghost", "{}", false},
                {"look", "{\"n\":1}", false}};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        tcall_call call;
        prepare();
        desc.on_event = hear;
        desc.events = &tcall_events;
        tools[1].parameters = tcall_schema_text_of(NULL); /* nobody checks it */
        tools[1].allow_no_schema = true;
        ask(&call, rows[i].name, rows[i].args);
        CHECK(in(heard, "\"validator\"") == rows[i].asked);
        CHECK(in(heard, "\"arguments\""));
    }
}

/* ---- the model makes it again ---- */

static int talk(const char *const *answers)
{
    canned = answers;
    runs = asked = 0;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    CHECK(tcall_agent_init(&agent, &agent_desc) == TCALL_OK);
    return tcall_agent_run(&agent, tcall_str_of("go"));
}

static void test_again(void)
{
    static const char *const answers[] = {ASKS(CALL("a", "1")),
                                          ASKS(CALL("b", "1")), SAYS("Done.")};
    static const char *const six[] = {
        ASKS(CALL("a", "1")), ASKS(CALL("b", "1")), ASKS(CALL("c", "1")),
        ASKS(CALL("d", "1")), ASKS(CALL("e", "1")), SAYS("Done.")};
    static const char *const other[] = {ASKS(CALL("a", "1")),
                                        ASKS(CALL("b", "2")), SAYS("Done.")};
    static tcall_loops loops;
    tcall_hook hooks[] = {TCALL_LOOPS(&loops)};
    prepare();
    CHECK(talk(answers) == TCALL_OK && runs == 1);
    CHECK(in(request, "Made before"));
    CHECK(talk(other) == TCALL_OK && runs == 2);
    tools[0].output = tcall_schema_text_of(
        "{\"type\":\"array\"}"); /* it fails after it has run */
    CHECK(talk(answers) == TCALL_OK && runs == 1);
    CHECK(in(request, "do not repeat") && in(request, "Made before"));
    desc.hooks = hooks; /* one mechanism, whatever else is there */
    desc.hook_count = 2;
    CHECK(talk(answers) == TCALL_OK && runs == 1 && loops.next == 0);
    agent_desc.allow_repeat = true; /* now it is the hook's */
    CHECK(talk(answers) == TCALL_OK && runs == 1 && loops.next == 1);
    desc.hooks = NULL;
    desc.hook_count = 0;
    CHECK(talk(answers) == TCALL_OK && runs == 2);
    prepare();
    tools[0].allow_repeat = true;
    CHECK(talk(answers) == TCALL_OK && runs == 2);
    prepare();
    tools[0].run = fails; /* which may work the next time */
    CHECK(talk(answers) == TCALL_OK && runs == 2);
    prepare();
    tools[0].confirm = true;
    desc.approve = deny;
    CHECK(talk(six) == TCALL_OK && runs == 0 && asked == 2);
    prepare(); /* the next turn begins anew */
    CHECK(talk(answers) == TCALL_OK && runs == 1);
    canned = answers;
    CHECK(tcall_agent_run(&agent, tcall_str_of("go")) == TCALL_OK && runs == 2);
}

/* ---- what hooks injected ---- */

#define SECRET "sk-INJECTED-1234"
#define DEEP   "deep-\\\"secret\\\"-5678"
#define ASKED  "known-to-the-model"

static int inject(tcall_ctx *cx, void *user)
{
    (void)user;
    return tcall_set_input(cx, tcall_str_of("{\"n\":1,\"key\":\"" SECRET
                                            "\",\"deep\":{\"a\":[\"" DEEP
                                            "\",\"" ASKED "\"]}}"));
}

static int leak_as; /* the way that it fails, if it does */

static int leaks(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    static char all[400];
    const char *key = tcall_json_string(tcall_json_get(args, "key"), "");
    tcall_writer json;
    CHECK(strcmp(key, SECRET) == 0);
    tcall_writer_init(&json, all, sizeof all - 1);
    tcall_write_json(&json, args);
    all[json.fill] = '\0';
    tcall_emit(cx, tcall_str_of(all));
    tcall_progress(cx, tcall_str_of(key));
    CHECK(tcall_set_result(cx, tcall_str_of(key), tcall_str_of(all)) ==
          TCALL_OK);
    tcall_write_text(out, "bad key ");
    tcall_write_text(out, all);
    return leak_as == 0   ? TCALL_OK
           : leak_as == 1 ? TCALL_E_FAILED
           : leak_as == 2 ? tcall_abort(cx, key, "no", 401)
                          : tcall_retry_after(cx, 5, all);
}

static void test_secrets(void)
{
    static const char *const answers[] = {ASKS(CALL("a", "1")), SAYS("Done.")};
    static tcall_audit audit;
    tcall_hook hooks[] = {
        {"inject", TCALL_WILL_INJECT_SECRETS, 0, inject, 0, 0},
        TCALL_AUDIT(&audit)};
    tcall_call call;
    audit.sink = log_sink;
    for (leak_as = 0; leak_as < 4; leak_as++) {
        const char *const all[] = {result, heard, log_text, request};
        size_t i;
        prepare();
        desc.hooks = hooks;
        desc.hook_count = 2;
        desc.on_event = hear;
        desc.events = &tcall_events;
        tools[0].run = leaks;
        ask(&call, "fire", "{\"n\":1,\"deep\":{\"b\":\"" ASKED "\"}}");
        CHECK(in(result, "***") && in(heard, "***"));
        CHECK(leak_as || in(result, ASKED));
        CHECK(talk(answers) == TCALL_OK && in(request, "***"));
        for (i = 0; i < TCALL_ARRAY_LEN(all); i++)
            CHECK(!in(all[i], "INJECTED") && !in(all[i], "deep-") &&
                  !in(all[i], "5678"));
    }
}

int main(void)
{
    test_secrets();
    test_ran();
    test_did_not_run();
    test_validator();
    test_again();
    return check_sum("ran");
}
