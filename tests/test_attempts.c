/* Needs: SENTENCES. */
/* What came and its repair: two attempts, each with memory of its own, and what
 * is told of them when one or both are refused. What the block gets back is
 * overwritten here, so that who still reads it is seen. */
#include "freed.h"
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/invoke.c"
#endif
#include "check.h"

static char block[12288], result[4096], told[4096];
static tcall tc;
static tcall_call call;
static tcall_writer out;
static int runs, asked, again, hooks_failed, repair_error;

static int set(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    runs++;
    if (tcall_json_int(tcall_json_get(args, "n"), 0) == 7)
        return tcall_write_text(w, "all seven motors are set, as you asked");
    if (tcall_json_int(tcall_json_get(args, "n"), 0) != 13)
        return tcall_write_text(w, "set");
    tcall_write_text(w, "the motor is stuck");
    (void)cx;
    return TCALL_E_FAILED;
}

static const tcall_tool tools[] = {
    {.name = "set",
     .parameters = TCALL_JSON({
         "type" : "object",
         "required" : [ "n", "m" ],
         "properties" : {"n" : {"type" : "integer"}, "m" : {"type" : "integer"}}
     }),
     .run = set,
     .permissions = TCALL_READ}};

/* Writes what it is given, after it was asked so often in vain. */
static int repair(void *user, const tcall_call *refused, tcall_writer *w)
{
    asked++;
    CHECK(refused->error < 0 && !refused->repaired);
    if (again-- > 0)
        return TCALL_E_AGAIN;
    tcall_write_text(w, (const char *)user);
    return repair_error;
}

static const tcall_repair repairs = TCALL_REPAIR(repair);

static void hear(void *user, const tcall_event *event)
{
    (void)user;
    if (event->kind == TCALL_EVENT_ERROR) {
        size_t len = event->text.len;
        memcpy(told, event->text.ptr, len);
        told[len] = '\0';
        CHECK(event->error == event->call->cx.failure.error);
    }
    hooks_failed += event->kind == TCALL_EVENT_HOOK;
}

/* Returns whether a text is one JSON value. */
static bool is_json(const char *text, size_t len)
{
    static char copy[sizeof result + 1];
    tcall_json value;
    memcpy(copy, text, len);
    return tcall_json_parse(&value, copy, len, NULL) >= 0;
}

static const tcall_hook *hooks;
static uint16_t hook_count;
static size_t block_size = sizeof block;

static void begin(const char *repaired, const char *arguments)
{
    tcall_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = block_size;
    desc.tools = tools;
    desc.tool_count = 1;
    desc.allow = TCALL_READ;
    desc.hooks = hooks;
    desc.hook_count = hook_count;
    desc.stages = &tcall_stages;
    desc.on_event = hear;
    desc.events = &tcall_events;
    desc.repair = repaired ? &repairs : NULL;
    desc.user = (void *)(uintptr_t)repaired;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    memset(&call, 0, sizeof call);
    memset(result, 0, sizeof result);
    memset(told, 0, sizeof told);
    call.id = tcall_str_of("id1");
    call.name = tcall_str_of("set");
    call.arguments = tcall_str_of(arguments);
    tcall_writer_init(&out, result, sizeof result - 1);
    runs = asked = hooks_failed = 0;
}

static bool says(const char *text)
{
    return strstr(result, text) != NULL;
}

static void provenance(void)
{
    tcall_writer_init(&out, result, sizeof result - 1);
    memset(result, 0, sizeof result);
    CHECK(tcall_write_provenance(&out, &tc, &call) == TCALL_OK);
    CHECK(is_json(result, out.fill));
}

/* A repair that is refused too: the model is told what was wrong with what it
 * sent, and provenance has both. */
static void test_refused(void)
{
    static const struct {
        const char *repaired, *outcome;
    } rows[] = {{"{\"n\":", "truncated"},
                {"", "invalid"},
                {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "bare-word"},
                {"{\"n\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                 "truncated"},
                {"{\"n\":1}", "invalid"},
                {"{\"n\":1,\"m\":[[[[[1]]]]]}", "invalid"}};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        begin(rows[i].repaired, "{\"n\":true,\"m\":1}");
        CHECK(tcall_hydrate(&tc, &call) == TCALL_E_INVALID && asked == 1);
        CHECK(!call.repaired && !call.asked->validated &&
              call.asked->faults == 1);
        provenance();
        CHECK(says("\"by\":\"model\"") && says("\"by\":\"repair\""));
        CHECK(!says("\"value\"") && says("\"repaired\":false"));
        CHECK(says(rows[i].outcome) && says("\"path\":\"/n\""));
        tcall_writer_init(&out, result, sizeof result - 1);
        CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_INVALID && runs == 0);
        CHECK(is_json(result, out.fill) && says("/n: "));
        CHECK(strstr(told, "set: /n: ") != NULL);
        tcall_release(&tc, &call);
        CHECK(!call.asked->args.at && !call.attempts && tc.block.high == 0);
    }
}

/* Complains of all that is not {"n":1}. */
static int complain(void *user, const tcall_tool *tool, tcall_json args,
                    tcall_writer *why)
{
    (void)user;
    (void)tool;
    if (tcall_json_int(tcall_json_get(args, "n"), 0) == 1)
        return TCALL_OK;
    tcall_write_text(why, "n: an unknown number");
    return TCALL_E_INVALID;
}

/* What another validator said of what came is said of that alone. */
static void test_complaint(void)
{
    static const tcall_validator other =
        TCALL_VALIDATOR("other", "1", complain, NULL);
    begin("{\"n\":", "{\"n\":2}");
    tc.desc.validator = &other;
    CHECK(tcall_hydrate(&tc, &call) == TCALL_E_INVALID);
    CHECK(tcall_str_eq(call.asked->complaint,
                       tcall_str_of("n: an unknown number")));
    CHECK(call.attempts->next &&
          call.attempts->next->error == TCALL_E_TRUNCATED);
    CHECK(call.attempts->next && !call.attempts->next->complaint.len);
    provenance();
    CHECK(says("an unknown number") && says("\"near\":\"\""));
    tcall_release(&tc, &call);
}

/* The key of the provider is in no record, wherever it comes from. */
static void test_key(void)
{
    static const char key[] = "sk-0123456789abcdef";
    begin("{\"n\":1,\"m\":2,\"s\":\"sk-0123456789abcdef\"}",
          "{\"n\":true,\"s\":\"a sk-0123456789abcdef b\"}");
    tc.key = key;
    CHECK(tcall_hydrate(&tc, &call) == TCALL_OK);
    provenance();
    CHECK(says("***") && !says("0123456789"));
    tcall_release(&tc, &call);
}

/* One that fits runs, and what came is still there to be shown. */
static void test_accepted(void)
{
    begin("{\"n\":1,\"m\":2}", "{'n':true,\"m\":1}");
    CHECK(tcall_hydrate(&tc, &call) == TCALL_OK && call.repaired);
    CHECK(
        tcall_str_eq(call.attempts->came, tcall_str_of("{'n':true,\"m\":1}")));
    CHECK(call.attempts->faults == 1 &&
          call.attempts->error == TCALL_E_INVALID);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK && runs == 1);
    provenance();
    CHECK(says("\"repaired\":true") && says("single-quote") &&
          says("\"path\":\"/n\"") && says("\"outcome\":\"ok\""));
    CHECK(says("\"value\":{\"n\":1,\"m\":2}"));
    CHECK(says("{\"by\":\"repair\",\"arguments\":\"{\\\"n\\\":1,"));
    tcall_release(&tc, &call);
}

/* One for which there is no room: the call fails for that, and a block of the
 * size that it says would do. */
static void test_no_room(void)
{
    static char long_text[3000];
    int r;
    strcpy(long_text, "{\"n\":1,\"m\":2,\"s\":\"");
    memset(long_text + 18, 'x', sizeof long_text - 21);
    strcpy(long_text + sizeof long_text - 3, "\"}");
    block_size = 1024;
    begin(long_text, "{\"n\":true,\"m\":1}");
    r = tcall_hydrate(&tc, &call);
    CHECK(r == TCALL_E_MEMORY && call.error == r && !call.repaired);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_MEMORY && runs == 0);
    CHECK(is_json(result, out.fill) && tc.block.need > sizeof long_text);
    while (r == TCALL_E_MEMORY && tc.block.need + 7 > block_size &&
           tc.block.need + 7 <= sizeof block) {
        block_size = tc.block.need + 7; /* it may not be aligned to 8 */
        begin(long_text, "{\"n\":true,\"m\":1}");
        r = tcall_hydrate(&tc, &call);
    }
    CHECK(r == TCALL_OK && call.repaired);
    tcall_release(&tc, &call);
    block_size = sizeof block;
}

/* One that asks a model without blocking: tcall_hydrate and tcall_invoke both
 * go on with it, and it can be cancelled. */
static void test_again(void)
{
    begin("{\"n\":1,\"m\":2}", "{\"n\":true,\"m\":1}");
    again = 3;
    CHECK(tcall_hydrate(&tc, &call) == TCALL_E_AGAIN);
    CHECK(tcall_hydrate(&tc, &call) == TCALL_E_AGAIN && tc.repairs == 0);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_AGAIN && out.fill == 0);
    CHECK(call.cx.wait.ms > 0 && runs == 0);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK);
    CHECK(asked == 4 && runs == 1 && tc.repairs == 1 && call.repaired);
    tcall_release(&tc, &call);
    CHECK(tc.block.high == 0);

    begin("{\"n\":1,\"m\":2}", "{\"n\":true,\"m\":1}");
    again = 9;
    CHECK(tcall_hydrate(&tc, &call) == TCALL_E_AGAIN);
    tcall_cancel(&call, TCALL_E_CANCELLED);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_CANCELLED && asked == 1);
    CHECK(is_json(result, out.fill) && runs == 0);
    tcall_release(&tc, &call);
    again = 0;
}

/* A call that was cut is never run, whoever mends it. */
static int mends(tcall_ctx *cx, void *user)
{
    (void)user;
    return tcall_set_input(cx, tcall_str_of("{\"n\":1,\"m\":2}"));
}

static void test_cut(void)
{
    static const tcall_hook rows[] = {
        {.name = "mends", .stage = TCALL_WILL_PARSE_INPUT, .run = mends}};
    begin("{\"n\":1,\"m\":2}", "{\"n\":1,\"m\":2}");
    call.incomplete = TCALL_E_CUT;
    CHECK(tcall_hydrate(&tc, &call) == TCALL_E_CUT && asked == 0);
    CHECK(call.asked->fixes == 0); /* nothing was read */
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_CUT && runs == 0);
    tcall_release(&tc, &call);
    hooks = rows;
    hook_count = 1;
    begin(NULL, "{\"n\":1,\"m\":2}");
    call.incomplete = TCALL_E_CUT;
    tcall_hydrate(&tc, &call);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_CUT && runs == 0);
    tcall_release(&tc, &call);
    begin(NULL, "{\"n\":3,\"m\":4}"); /* and who replaced it is told */
    tcall_hydrate(&tc, &call);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK && runs == 1);
    provenance();
    CHECK(says("\"attempts\":[{\"by\":\"model\",\"arguments\":\"{\\\"n\\\":3,"
               "\\\"m\\\":4}\",\"fixes\":[],\"outcome\":\"ok\"},"
               "{\"by\":\"mends\",\"arguments\":\"{\\\"n\\\":1,"));
    tcall_release(&tc, &call);
    hooks = NULL;
    hook_count = 0;
}

/* ---- failures ---- */

/* The result of a failure is JSON in any room, and so is its record. */
static void test_rooms(void)
{
    static const char *const calls[] = {"{\"n\":13,\"m\":1}", "{\"n\":true}",
                                        "{\"n\":"};
    static char record[4096];
    size_t way, room, whole = sizeof result - 1;
    for (way = 0; way < TCALL_ARRAY_LEN(calls); way++)
        for (room = 0; room <= whole; room++) {
            tcall_writer writer;
            int r;
            begin(NULL, calls[way]);
            tcall_writer_init(&out, result, room);
            tcall_hydrate(&tc, &call);
            r = tcall_invoke(&tc, &call, &out);
            CHECK(r < 0 && r != TCALL_E_MEMORY && !out.error);
            CHECK(room < 17 ? out.fill == 0 : is_json(result, out.fill));
            CHECK(way || room < 18 || strcmp(told, "the motor is stuck") == 0);
            tcall_writer_init(&writer, record, sizeof record);
            CHECK(tcall_write_provenance(&writer, &tc, &call) == TCALL_OK);
            CHECK(is_json(record, writer.fill));
            tcall_release(&tc, &call);
            if (room > 1000)
                break;
        }
}

/* What there is to say of the arguments does not fit: that is an error. */
static void test_errors_cut(void)
{
    static const char *const calls[] = {"{\"n\":true}", "{\"n\":"};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(calls); i++) {
        begin(NULL, calls[i]);
        tcall_hydrate(&tc, &call);
        tcall_writer_init(&out, result, 30);
        tcall_write_open(&out, '{');
        CHECK(tcall_write_call_errors(&out, &call) == TCALL_E_MEMORY);
        tcall_release(&tc, &call);
    }
}

/* A hook that waits after a call has failed: what it failed with is still JSON
 * where there is less room than before. */
static int waits_once(tcall_ctx *cx, void *user)
{
    (void)cx, (void)user;
    return again-- > 0 ? TCALL_E_AGAIN : TCALL_OK;
}

static void test_less_room(void)
{
    static const tcall_hook rows[] = {
        {.name = "audit", .stage = TCALL_WILL_AUDIT, .run = waits_once}};
    size_t room;
    hooks = rows;
    hook_count = 1;
    for (room = 0; room < 200; room++) {
        begin(NULL, "{\"n\":13,\"m\":1}");
        again = 1;
        tcall_hydrate(&tc, &call);
        CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_AGAIN && !out.fill);
        tcall_writer_init(&out, result, room);
        CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_FAILED && runs == 1);
        CHECK(room < 17 ? out.fill == 0 : is_json(result, out.fill));
        tcall_release(&tc, &call);
        begin(NULL, "{\"n\":1,\"m\":1}"); /* nor becomes a success one */
        again = 1;
        tcall_hydrate(&tc, &call);
        CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_AGAIN && !out.fill);
        tcall_writer_init(&out, result, room);
        CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK && runs == 1);
        CHECK(room < 3 ? out.fill == 0 : says("set"));
        tcall_release(&tc, &call);
        begin(NULL, "{\"n\":7,\"m\":1}"); /* nor a failure that was none */
        again = 1;
        tcall_hydrate(&tc, &call);
        CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_AGAIN && !out.fill);
        tcall_writer_init(&out, result, room);
        CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK && runs == 1);
        CHECK(!says("success"));
        tcall_release(&tc, &call);
    }
    again = 0;
    hooks = NULL;
    hook_count = 0;
}

/* What a repair wrote before it failed is no repair. */
static void test_failed_repair(void)
{
    repair_error = TCALL_E_CLOSED;
    begin("{\"n\":1,\"m\":1}", "{\"n\":true,\"m\":1}");
    CHECK(tcall_hydrate(&tc, &call) == TCALL_E_INVALID && asked == 1);
    CHECK(!call.repaired && !call.attempts->next);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_INVALID && runs == 0);
    tcall_release(&tc, &call);
    repair_error = 0;
}

/* Metadata is JSON or refused. */
static int describe(tcall_ctx *cx, void *user)
{
    tcall_str none = tcall_str_of("");
    (void)user;
    CHECK(tcall_set_result(cx, none, tcall_str_of("{broken")) < 0);
    CHECK(tcall_set_result(cx, none, tcall_str_of("{} {}")) < 0);
    CHECK(cx->result.metadata.len == 0);
    CHECK(tcall_set_result(cx, none, tcall_str_of("{\"a\":1}")) == TCALL_OK);
    return TCALL_OK;
}

/* What failed, and where, is the same for all who read it. */
static int reads(tcall_ctx *cx, void *user)
{
    const tcall_failure *failure = &cx->failure;
    (void)user;
    runs += 100;
    CHECK(failure->error == TCALL_E_FAILED && failure->attempt == 1);
    CHECK(failure->stage == TCALL_AROUND_EXECUTE && !failure->by);
    CHECK(tcall_str_eq(failure->reason, tcall_str_of("the motor is stuck")));
    return cx->stage == TCALL_WILL_AUDIT ? TCALL_E_CLOSED : TCALL_OK;
}

static int mended(tcall_ctx *cx, void *user)
{
    (void)user;
    return tcall_respond(cx, tcall_str_of("by hand"));
}

static int notes(tcall_ctx *cx, void *user)
{
    (void)cx, (void)user;
    runs += 10000;
    return TCALL_OK;
}

static int after(tcall_ctx *cx, void *user)
{
    (void)user;
    runs += 1000;
    CHECK(cx->failure.error == TCALL_OK && cx->result.error == TCALL_OK);
    CHECK(tcall_str_eq(cx->result.output, tcall_str_of("by hand")));
    return TCALL_OK;
}

static void test_failure(void)
{
    static const tcall_hook all[] = {
        {.name = "describe", .stage = TCALL_WILL_EXECUTE, .run = describe},
        {.name = "gives up", .stage = TCALL_ON_GIVE_UP, .run = reads},
        {.name = "error", .stage = TCALL_ON_ERROR, .run = reads},
        {.name = "audit", .stage = TCALL_WILL_AUDIT, .run = reads}};
    static const tcall_hook host[] = {
        {.name = "host", .stage = TCALL_ON_ERROR, .run = mended},
        {.name = "sees it, too", .stage = TCALL_ON_ERROR, .run = notes},
        {.name = "audit", .stage = TCALL_WILL_AUDIT, .run = after}};
    hooks = all;
    hook_count = TCALL_ARRAY_LEN(all);
    begin(NULL, "{\"n\":13,\"m\":1}");
    tcall_hydrate(&tc, &call);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_FAILED && runs == 301);
    CHECK(hooks_failed == 1 && says("the motor is stuck"));
    tcall_release(&tc, &call);
    hooks = host;
    hook_count = TCALL_ARRAY_LEN(host);
    begin(NULL, "{\"n\":13,\"m\":1}");
    tcall_hydrate(&tc, &call);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK && runs == 11001);
    CHECK(tcall_str_eq(call.cx.result.output, tcall_str_of("by hand")));
    tcall_release(&tc, &call);
    hooks = NULL;
    hook_count = 0;
}

/* Calls are released in any order: the others stay as they are, and memory is
 * free once those after it are released too. */
static void test_order(void)
{
    static const uint8_t orders[][3] = {{2, 1, 0}, {0, 1, 2}, {1, 0, 2},
                                        {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
    tcall_call calls[3];
    size_t high, o;
    int i, k;
    for (o = 0; o < TCALL_ARRAY_LEN(orders); o++) {
        bool gone[3] = {false, false, false};
        begin("", "{\"n\":1}");
        for (i = 0; i < 3; i++) {
            calls[i] = call;
            if (i == 1 && o % 2) /* holds next to nothing */
                calls[i].name = tcall_str_of("no tool");
            tcall_hydrate(&tc, &calls[i]);
        }
        for (i = 0; i < 3; i++) {
            tcall_call *its = &calls[orders[o][i]];
            CHECK(tcall_release(&tc, its) == TCALL_OK && !its->asked->args.at);
            CHECK(tcall_release(&tc, its) == TCALL_OK); /* nothing more */
            gone[orders[o][i]] = true;
            high = tc.block.high;
            CHECK((high == 0) == (gone[0] && gone[1] && gone[2]));
            for (k = 0; k < 3; k++)
                if (!gone[k] && calls[k].error == TCALL_OK)
                    CHECK(tcall_json_int(
                              tcall_json_get(calls[k].asked->args, "n"), 0) ==
                          1);
        }
    }
}

int main(void)
{
    test_order();
    test_refused();
    test_complaint();
    test_key();
    test_accepted();
    test_no_room();
    test_again();
    test_cut();
    test_rooms();
    test_errors_cut();
    test_less_room();
    test_failed_repair();
    test_failure();
    return check_sum("test_attempts");
}
