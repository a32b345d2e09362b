/* Needs: SENTENCES. */
/* Definitions, hydrate and invoke: what may run, what may not, and what the
 * model is told. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/invoke.c"
#endif
#include "check.h"

static int runs; /* of any tool */
static char events[512];
static tcall_verdict verdict;

static int set_led(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    runs++;
    tcall_write_text(out, tcall_json_bool(tcall_json_get(args, "on"), false)
                              ? "led on, level "
                              : "led off, level ");
    return tcall_write_int(out,
                           tcall_json_int(tcall_json_get(args, "level"), 50));
}

static int fails(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    runs++;
    tcall_write_text(out, "the \"relay\" is stuck");
    return TCALL_E_FAILED;
}

static int slow(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    int *left = (int *)cx->user;
    (void)args;
    tcall_emit(cx, tcall_str_of("tick"));
    tcall_progress(cx, tcall_str_of("ticking"));
    tcall_write_text(out, "half");
    if ((*left)-- > 0)
        return TCALL_E_AGAIN;
    return tcall_write_text(out, " done");
}

static int floods(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    int i;
    (void)cx;
    (void)args;
    for (i = 0; i < 10000; i++)
        tcall_write_text(out, "\xC3\xA9");
    return out->cap & 1 ? out->error : TCALL_OK; /* it is cut both ways */
}

static int slow_left;

#define LED                                                                 \
    TCALL_TEXT({                                                            \
        "type" : "object",                                                  \
        "required" : ["on"],                                                \
        "properties" : {                                                    \
            "on" : {"type" : "boolean"},                                    \
            "level" : {"type" : "integer", "minimum" : 0, "maximum" : 100}, \
            "mode" : {"enum" : [ "steady", "blink" ]}                       \
        },                                                                  \
        "additionalProperties" : false                                      \
    })

#define NOTHING TCALL_TEXT({"type" : "object", "properties" : {}})

enum { LED_TOOL, FAILS, SLOW, FLOODS, OPEN, CONFIRM, LOOSE };

static tcall_tool tools[7];

static void set_tools(void)
{
    memset(tools, 0, sizeof tools);
    tools[LED_TOOL].name = "set_led";
    tools[LED_TOOL].description = "Switch the LED.";
    tools[LED_TOOL].parameters = tcall_schema_text_of(LED);
    tools[LED_TOOL].run = set_led;
    tools[LED_TOOL].permissions = TCALL_WRITE;
    tools[FAILS].name = "fails";
    tools[FAILS].parameters = tcall_schema_text_of(NOTHING);
    tools[FAILS].run = fails;
    tools[FAILS].permissions = TCALL_READ;
    tools[SLOW].name = "slow";
    tools[SLOW].parameters = tcall_schema_text_of(NOTHING);
    tools[SLOW].run = slow;
    tools[SLOW].permissions = TCALL_READ;
    tools[SLOW].user = &slow_left;
    tools[FLOODS].name = "floods";
    tools[FLOODS].parameters = tcall_schema_text_of(NOTHING);
    tools[FLOODS].run = floods;
    tools[FLOODS].permissions = TCALL_READ;
    tools[OPEN].name = "undeclared";
    tools[OPEN].parameters = tcall_schema_text_of(NOTHING);
    tools[OPEN].run = fails;
    tools[CONFIRM].name = "confirm";
    tools[CONFIRM].parameters = tcall_schema_text_of(NOTHING);
    tools[CONFIRM].run = set_led;
    tools[CONFIRM].permissions = TCALL_READ;
    tools[CONFIRM].confirm = true;
    tools[LOOSE].name = "loose";
    tools[LOOSE].allow_no_schema = true;
    tools[LOOSE].run = set_led;
    tools[LOOSE].permissions = TCALL_WRITE;
}

static void note(void *user, const tcall_event *event)
{
    static const char letters[] = "HRASOETQWVPXYK";
    size_t n = strlen(events);
    (void)user;
    if (n + 1 < sizeof events)
        events[n] = letters[event->kind];
}

static tcall_verdict answer(void *user, const tcall_call *call)
{
    (void)user;
    (void)call;
    return verdict;
}

static char block[32768], report[4096], result[1024];
static tcall_writer out;

static int start(tcall *tc, tcall_desc *desc)
{
    static tcall_writer faults;
    tcall_writer_init(&faults, report, sizeof report - 1);
    memset(report, 0, sizeof report);
    memset(events, 0, sizeof events);
    if (!desc->block) {
        desc->block = block;
        desc->lenient = &tcall_lenient;
        desc->block_size = sizeof block;
    }
    if (!desc->tools) {
        set_tools();
        desc->tools = tools;
        desc->tool_count = TCALL_ARRAY_LEN(tools);
    }
    desc->on_event = note;
    desc->events = &tcall_events;
    desc->report = &tcall_report;
    desc->faults = &faults;
    runs = 0;
    return tcall_init(tc, desc);
}

/* One call through everything; its result is in result. */
static tcall_attempt was; /* the one that counted, before its release */

static int call_tool(tcall *tc, tcall_call *call, const char *name,
                     const char *arguments)
{
    int r;
    memset(call, 0, sizeof *call);
    call->id = tcall_str_of("id1");
    call->name = tcall_str_of(name);
    call->arguments = tcall_str_of(arguments);
    call->provider = "test";
    tcall_writer_init(&out, result, sizeof result - 1);
    memset(result, 0, sizeof result);
    tcall_hydrate(tc, call);
    r = tcall_invoke(tc, call, &out);
    was = *call->asked;
    tcall_release(tc, call);
    return r;
}

static bool says(const char *text)
{
    return strstr(result, text) != NULL;
}

static void test_definitions(void)
{
    static tcall_tool bad[8];
    tcall tc;
    tcall_desc desc;
    memset(&desc, 0, sizeof desc);
    /* A table that is right, though nobody can call its tools: notes. */
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(strstr(report, "set_led: note: nobody can call it: tcall_desc lacks "
                         "its permissions\n"));
    CHECK(strstr(report, "confirm: note: confirm needs tcall_desc.approve"));
    desc.allow = TCALL_EVERYTHING;
    desc.approve = answer;
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(report[0] == 0);
    tools[LED_TOOL].roles = 2;
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(strstr(report, "set_led: note: nobody can call it: tcall_desc lacks "
                         "its roles\n"));
    tools[LED_TOOL].roles = 0;
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(tcall_find(&tc, tcall_str_of("slow")) == &tools[SLOW]);
    CHECK(tcall_find(&tc, tcall_str_of("slo")) == NULL);

    memset(bad, 0, sizeof bad);
    bad[0].name = "no_schema";
    bad[1].name = "9 lives";
    bad[2].name = "twice";
    bad[3].name = "twice";
    bad[4].name = "broken";
    bad[5].name = "remote";
    bad[6].name = "dict";
    bad[7].name = "future";
    bad[1].parameters = bad[2].parameters = bad[3].parameters =
        tcall_schema_text_of(NOTHING);
    bad[4].parameters = tcall_schema_text_of("{\"type\":");
    bad[5].parameters =
        tcall_schema_text_of("{\"$ref\":\"https://example.com/s.json\"}");
    bad[6].parameters = tcall_schema_text_of("{\"type\":\"dict\"}");
    bad[7].parameters =
        tcall_schema_text_of("{\"unevaluatedProperties\":false}");
    desc.tools = bad;
    desc.tool_count = 8;
    CHECK(start(&tc, &desc) == TCALL_E_TOOL);
    CHECK(
        strstr(report, "no_schema: parameters is missing: give a JSON Schema"));
    CHECK(strstr(report, "9 lives: the name"));
    CHECK(strstr(report, "twice: another tool has this name"));
    CHECK(strstr(report, "broken: parameters"));
    CHECK(strstr(report, "remote: parameters"));
    CHECK(strstr(report, "dict: parameters"));
    CHECK(strstr(report, "future: parameters"));
    CHECK(strstr(report, "run is missing"));
    CHECK(tcall_find(&tc, tcall_str_of("twice")) == NULL);
}

static void test_arguments(void)
{
    tcall tc;
    tcall_desc desc;
    tcall_call call;
    int lazy;
    for (lazy = 0; lazy < 2; lazy++) {
        memset(&desc, 0, sizeof desc);
        desc.allow = TCALL_WRITE;
        desc.lazy_schemas = lazy;
        CHECK(start(&tc, &desc) == TCALL_OK);

        CHECK(call_tool(&tc, &call, "set_led", "{\"on\":true}") == TCALL_OK);
        CHECK(says("led on, level 50") && runs == 1);
        CHECK(was.validated && was.fixes == 0 && was.coercions == 0);
        CHECK(strcmp(events, "HSE") == 0);

        CHECK(call_tool(&tc, &call, "set_led",
                        "{'on': 'true', level: \"7\", \"mode\": null,}") ==
              TCALL_OK);
        CHECK(says("led on, level 7") && runs == 2);
        CHECK(was.fixes != 0 && was.coercions == 3);

        CHECK(call_tool(&tc, &call, "set_led", "{\"level\":101,\"x\":1}") ==
              TCALL_E_INVALID);
        CHECK(runs == 2 && says("\"success\":false") && says("validation"));
        CHECK(says("/level") && says("maximum") && says("required") &&
              says("additionalProperties"));
        CHECK(says("\"error\":\"set_led: /level: "));

        CHECK(call_tool(&tc, &call, "set_led", "{\"on\":tr") < 0);
        CHECK(call_tool(&tc, &call, "set_led", "{\"on\":true") ==
              TCALL_E_TRUNCATED);
        CHECK(says(
            "\"error\":\"the JSON text ends too early")); /* there is no call to
                                                             show */
        CHECK(call_tool(&tc, &call, "set_led", "{\"on\":true,\"on\":false}") ==
              TCALL_E_DUPLICATE);
        CHECK(call_tool(&tc, &call, "set_led", "[]") == TCALL_E_NOT_OBJECT);
        CHECK(call_tool(&tc, &call, "set_led", "") == TCALL_E_INVALID);
        CHECK(runs == 2);
        CHECK(call_tool(&tc, &call, "nobody", "{}") == TCALL_E_UNKNOWN);
        CHECK(says("available") && says("set_led") && !says("fails"));
    }
    memset(&desc, 0, sizeof desc);
    desc.allow = TCALL_WRITE;
    CHECK(start(&tc, &desc) == TCALL_OK);
    tc.desc.lenient = NULL;
    CHECK(call_tool(&tc, &call, "set_led", "{\"on\":\"true\"}") ==
          TCALL_E_INVALID);
    CHECK(call_tool(&tc, &call, "set_led", "{'on':true}") < 0);
    CHECK(runs == 0);
}

/* Models may be sent another schema: calls are checked by parameters. */
static void test_provider_schema(void)
{
    tcall tc;
    tcall_desc desc;
    tcall_call call;
    int lazy;
    memset(&desc, 0, sizeof desc);
    desc.allow = TCALL_WRITE;
    set_tools();
    tools[LED_TOOL].provider_schema = tcall_schema_text_of(NOTHING);
    desc.tools = tools;
    desc.tool_count = TCALL_ARRAY_LEN(tools);
    for (lazy = 0; lazy < 2; lazy++) {
        desc.lazy_schemas = lazy;
        CHECK(start(&tc, &desc) == TCALL_OK);
        CHECK(call_tool(&tc, &call, "set_led", "{\"on\":true,\"level\":101}") ==
              TCALL_E_INVALID);
        CHECK(says("maximum") && runs == 0);
        CHECK(call_tool(&tc, &call, "set_led", "{\"on\":true}") == TCALL_OK);
        CHECK(was.validated && runs == 1);
    }
}

static int asks(tcall_ctx *cx, tcall_json args, tcall_writer *to)
{
    (void)args;
    runs++;
    return tcall_write_text(
        to, tcall_is_granted(cx, TCALL_READ | TCALL_WRITE) ? "both" : "reads");
}

/* What is optional is given where it is allowed, and counts as much then. */
static void test_optional(void)
{
    static const struct {
        uint8_t allow, optional;
        bool no_schema;
        int result;
        const char *says;
    } rows[] = {
        {TCALL_READ, 0, false, TCALL_OK, "reads"},
        {TCALL_READ | TCALL_WRITE, 0, false, TCALL_OK, "reads"},
        {TCALL_READ, TCALL_WRITE, false, TCALL_OK, "reads"},
        {TCALL_READ | TCALL_WRITE, TCALL_WRITE, false, TCALL_OK, "both"},
        {TCALL_READ, TCALL_WRITE, true, TCALL_OK, "reads"},
        {TCALL_READ | TCALL_WRITE, TCALL_WRITE, true, TCALL_E_DENIED, "denied"},
        {TCALL_WRITE, TCALL_WRITE, false, TCALL_E_DENIED, "needs read"}};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        tcall tc;
        tcall_tool tool;
        tcall_desc desc;
        tcall_call call;
        memset(&tool, 0, sizeof tool);
        memset(&desc, 0, sizeof desc);
        tool.name = "asks";
        tool.run = asks;
        tool.permissions = TCALL_READ;
        tool.optional_permissions = rows[i].optional;
        tool.allow_no_schema = rows[i].no_schema;
        tool.parameters =
            tcall_schema_text_of(rows[i].no_schema ? NULL : NOTHING);
        desc.tools = &tool;
        desc.tool_count = 1;
        desc.allow = rows[i].allow;
        CHECK(start(&tc, &desc) == TCALL_OK);
        CHECK(call_tool(&tc, &call, "asks", "{}") == rows[i].result);
        CHECK(says(rows[i].says));
        CHECK(runs == (rows[i].result == TCALL_OK));
    }
}

static void test_permissions(void)
{
    tcall tc;
    tcall_desc desc;
    tcall_call call;
    memset(&desc, 0, sizeof desc);
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(call_tool(&tc, &call, "set_led", "{\"on\":true}") == TCALL_E_DENIED);
    CHECK(says("permission") && runs == 0);
    desc.allow = TCALL_WRITE; /* what is optional need not be given */
    CHECK(start(&tc, &desc) == TCALL_OK);
    tools[LED_TOOL].optional_permissions = TCALL_NETWORK;
    CHECK(tcall_enabled(&tools[LED_TOOL], TCALL_WRITE));
    CHECK(!tcall_enabled(&tools[LED_TOOL], TCALL_NETWORK));
    CHECK(call_tool(&tc, &call, "set_led", "{\"on\":true}") == TCALL_OK);
    /* A tool is for those who have one of its roles. */
    tools[LED_TOOL].roles = 6;
    tc.desc.roles = 9;
    CHECK(call_tool(&tc, &call, "set_led", "{\"on\":true}") == TCALL_E_DENIED);
    CHECK(says("is not for this user: roles\""));
    CHECK(call_tool(&tc, &call, "nothing", "{}") == TCALL_E_UNKNOWN);
    CHECK(!says("set_led"));
    tc.desc.roles = 4;
    CHECK(call_tool(&tc, &call, "set_led", "{\"on\":true}") == TCALL_OK);
    tools[LED_TOOL].groups = 3;
    tc.desc.groups = 4;
    CHECK(call_tool(&tc, &call, "set_led", "{\"on\":true}") == TCALL_E_DENIED);
    CHECK(says("is not for this user: groups\""));
    tools[LED_TOOL].roles = tools[LED_TOOL].groups = 0;
    runs = 0;
    desc.allow = TCALL_EVERYTHING & ~TCALL_ACTUATE;
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(call_tool(&tc, &call, "undeclared", "{}") == TCALL_E_DENIED);
    CHECK(call_tool(&tc, &call, "confirm", "{}") == TCALL_E_DENIED);
    CHECK(call_tool(&tc, &call, "loose", "{}") == TCALL_E_DENIED);
    CHECK(runs == 0);
    desc.approve = answer;
    CHECK(start(&tc, &desc) == TCALL_OK);
    verdict = (tcall_verdict)77;
    CHECK(call_tool(&tc, &call, "confirm", "{}") == TCALL_E_DENIED);
    CHECK(runs == 0);
    verdict = TCALL_VERDICT_ALLOW;
    CHECK(call_tool(&tc, &call, "confirm", "{}") == TCALL_OK && runs == 1);
    CHECK(call_tool(&tc, &call, "loose", "{\"a\":1}") == TCALL_OK);
    CHECK(!call.asked->validated && runs == 2);
    tools[LOOSE].no_schema_mode = TCALL_NO_SCHEMA_FULL;
    verdict = TCALL_VERDICT_DENY;
    CHECK(call_tool(&tc, &call, "loose", "{\"a\":1}") == TCALL_OK);
    verdict = TCALL_VERDICT_LATER;
    CHECK(call_tool(&tc, &call, "confirm", "{}") == TCALL_E_APPROVAL);
    CHECK(runs == 3 && result[0] == 0);
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("confirm");
    call.arguments = tcall_str_of("{}");
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_USAGE); /* not hydrated */
    CHECK(runs == 3);
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("confirm");
    call.arguments = tcall_str_of("{}");
    CHECK(tcall_hydrate(&tc, &call) == TCALL_OK);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_APPROVAL && runs == 3);
    call.approved = true;
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK && runs == 4);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_USAGE && runs == 4);
    tcall_release(&tc, &call);
}

static void test_outcomes(void)
{
    tcall tc;
    tcall_desc desc;
    tcall_call call;
    size_t room;
    memset(&desc, 0, sizeof desc);
    desc.allow = TCALL_READ;
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(call_tool(&tc, &call, "fails", "{}") == TCALL_E_FAILED);
    CHECK(says("the \\\"relay\\\" is stuck") && says("\"user\""));
    CHECK(call_tool(&tc, &call, "floods", "{}") == TCALL_OK);
    CHECK(says("output cut") && out.len == out.fill);
    for (room = 0; room < 120; room++) { /* whole characters, and how many */
        static const char notice[] =
            "\n[output cut: all of it are 20000 bytes]";
        size_t kept = room - (sizeof notice - 1);
        memset(&call, 0, sizeof call);
        call.name = tcall_str_of("floods");
        memset(result, '#', sizeof result);
        tcall_writer_init(&out, result, room);
        CHECK(tcall_hydrate(&tc, &call) == TCALL_OK);
        CHECK(tcall_invoke(&tc, &call, &out) ==
                  (room < sizeof notice - 1 ? TCALL_E_MEMORY : TCALL_OK) &&
              !out.error);
        CHECK(
            tcall_str_eq(call.cx.result.output, (tcall_str){result, out.fill}));
        CHECK(result[room] == '#');
        tcall_release(&tc, &call);
        if (room < sizeof notice - 1) { /* not even the notice fits */
            CHECK(out.fill == 0 || result[0] == '{');
            continue;
        }
        kept -= kept & 1; /* of two bytes each */
        CHECK(out.fill == kept + sizeof notice - 1);
        CHECK(memcmp(result + kept, notice, sizeof notice - 1) == 0);
        CHECK(!kept || memcmp(result + kept - 2, "\xC3\xA9", 2) == 0);
    }
    slow_left = 2;
    memset(events, 0, sizeof events);
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("slow");
    call.arguments = tcall_str_of("");
    tcall_writer_init(&out, result, sizeof result);
    CHECK(tcall_hydrate(&tc, &call) == TCALL_OK);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_AGAIN && out.fill == 0);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_AGAIN);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK);
    CHECK(out.fill == 9 && memcmp(result, "half done", 9) == 0);
    CHECK(strcmp(events, "HSOPOPOPE") == 0); /* what is done, and a piece */
    tcall_release(&tc, &call);
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("slow");
    call.arguments = tcall_str_of("{}");
    call.incomplete = true;
    CHECK(tcall_hydrate(&tc, &call) == TCALL_E_CUT);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_CUT);
}

static int mend(void *user, const tcall_call *call, tcall_writer *w)
{
    (void)call;
    return tcall_write_text(w, (const char *)user);
}

static const tcall_repair mending = TCALL_REPAIR(mend);

static void test_repair(void)
{
    static char led[] = "{\"on\":true}", still[] = "{\"on\":3}";
    tcall tc;
    tcall_desc desc;
    tcall_call call;
    memset(&desc, 0, sizeof desc);
    desc.allow = TCALL_WRITE;
    desc.repair = &mending;
    desc.user = led;
    desc.approve = answer;
    verdict = TCALL_VERDICT_ALLOW;
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(call_tool(&tc, &call, "set_led", "{\"on\":true") == TCALL_OK);
    CHECK(call.repaired && runs == 1 && says("led on") && tc.repairs == 1);
    CHECK(strcmp(events, "RHSAVE") == 0);
    verdict = TCALL_VERDICT_DENY; /* repaired arguments are untrusted */
    CHECK(call_tool(&tc, &call, "set_led", "{\"on\":1}") == TCALL_E_DENIED);
    CHECK(runs == 1 && tc.repairs == 2);
    desc.user = still;
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(call_tool(&tc, &call, "set_led", "{\"on\":1}") == TCALL_E_INVALID);
    CHECK(runs == 0 && tc.repairs == 1); /* one try, no more */
}

static void test_provenance(void)
{
    tcall tc;
    tcall_desc desc;
    tcall_call call;
    memset(&desc, 0, sizeof desc);
    desc.allow = TCALL_WRITE;
    CHECK(start(&tc, &desc) == TCALL_OK);
    memset(&call, 0, sizeof call);
    call.id = tcall_str_of("call_1");
    call.name = tcall_str_of("set_led");
    call.arguments = tcall_str_of("{'on': \"true\"}");
    call.provider = "openai";
    CHECK(tcall_hydrate(&tc, &call) == TCALL_OK);
    tcall_writer_init(&out, result, sizeof result - 1);
    memset(result, 0, sizeof result);
    CHECK(tcall_write_provenance(&out, &tc, &call) == TCALL_OK);
    CHECK(says("\"provider\":\"openai\"") && says("\"call_id\":\"call_1\""));
    CHECK(says("{'on': \\\"true\\\"}") && says("single-quote"));
    CHECK(says("\"validated\":true") && says("\"repaired\":false"));
    CHECK(says("\"coercions\":[{\"path\":\"/on\"") && says("builtin"));
    CHECK(says("\"step\":\"done\"") && says("\"outcome\":\"ok\""));
    CHECK(says("\"fixes\":[\"single-quote\"]"));
    CHECK(says("\"value\":{\"on\":true}"));
    CHECK(strchr(result, '\n') == NULL);
    tcall_release(&tc, &call);
}

static void provenance_of(tcall *tc, tcall_call *call, const char *name,
                          const char *arguments)
{
    memset(call, 0, sizeof *call);
    call->id = tcall_str_of("call_1");
    call->name = tcall_str_of(name);
    call->arguments = tcall_str_of(arguments);
    tcall_hydrate(tc, call);
    tcall_writer_init(&out, result, sizeof result - 1);
    memset(result, 0, sizeof result);
    CHECK(tcall_write_provenance(&out, tc, call) == TCALL_OK);
    tcall_release(tc, call);
}

/* What was coerced is checked once more, as it is meant: a null that counts as
 * absent may be too little, and "1" the same as 1. */
static void test_checked_again(void)
{
    static const char *const rows[][3] = {
        {"{\"type\":\"object\",\"minProperties\":1,\"properties\":"
         "{\"a\":{\"type\":\"integer\"}}}",
         "{\"a\":null}", "{\"a\":\"7\"}"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\","
         "\"uniqueItems\":true,\"items\":{\"type\":\"integer\"}}}}",
         "{\"a\":[\"1\",1]}", "{\"a\":[\"1\",2]}"}};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        tcall tc;
        tcall_desc desc;
        tcall_call call;
        tcall_tool tool;
        memset(&tool, 0, sizeof tool);
        memset(&desc, 0, sizeof desc);
        tool.name = "t";
        tool.parameters = tcall_schema_text_of(rows[i][0]);
        tool.permissions = TCALL_READ;
        tool.run = fails;
        desc.allow = TCALL_READ;
        desc.tools = &tool;
        desc.tool_count = 1;
        CHECK(start(&tc, &desc) == TCALL_OK);
        CHECK(call_tool(&tc, &call, "t", rows[i][1]) == TCALL_E_INVALID);
        CHECK(!was.validated && was.coercions == 1);
        CHECK(call_tool(&tc, &call, "t", rows[i][2]) == TCALL_E_FAILED);
        CHECK(was.validated && was.coercions == 1);
    }
}

/* The hash of a definition, as provenance tells it, or "". */
static const char *definition_of(const tcall_tool *tool)
{
    static char text[17];
    const char *hash;
    tcall tc;
    tcall_desc desc;
    tcall_call call;
    memset(&desc, 0, sizeof desc);
    desc.allow = TCALL_READ;
    desc.tools = tool;
    desc.tool_count = 1;
    CHECK(start(&tc, &desc) == TCALL_OK);
    provenance_of(&tc, &call, tool->name, "{}");
    hash = strstr(result, "\"definition\":\"");
    snprintf(text, sizeof text, "%s", hash ? hash + 14 : "");
    return text;
}

/* The hash of a tool's definition does not hang on how its schema is
 * written. */
static void test_definition(void)
{
    tcall_tool tool, other;
    char first[17];
    memset(&tool, 0, sizeof tool);
    tool.name = "mix";
    tool.title = "Mixer";
    tool.description = "Mixes \"it\".";
    tool.parameters =
        tcall_schema_text_of(" {\"type\":\"object\", \"minProperties\":0} ");
    tool.output = tcall_schema_text_of("{\"type\": \"string\"}");
    tool.permissions = TCALL_READ;
    tool.run = fails;
    other = tool;
    strcpy(first, definition_of(&tool));
    CHECK(strlen(first) == 16 &&
          strspn(first, "0123456789abcdef") == strlen(first));
    other.parameters =
        tcall_schema_text_of("{\"minProperties\":0,\"type\":\"object\"}");
    CHECK(strcmp(first, definition_of(&other)) == 0);
    other.description = "Mixes.";
    CHECK(strcmp(first, definition_of(&other)) != 0);
}

/* What it says of a tool without a schema, of another validator, and of what
 * hooks have changed. */
static int agrees(void *user, const tcall_tool *tool, tcall_json args,
                  tcall_writer *why)
{
    (void)user, (void)tool, (void)args, (void)why;
    return TCALL_OK;
}

static void test_provenance_of_others(void)
{
    static const tcall_validator validator =
        TCALL_VALIDATOR("theirs", "2.5", agrees, NULL);
    static tcall_tool bare[1];
    tcall tc;
    tcall_desc desc;
    tcall_call call;
    memset(&desc, 0, sizeof desc);
    desc.validator = &validator;
    desc.allow = TCALL_WRITE;
    CHECK(start(&tc, &desc) == TCALL_OK);
    provenance_of(&tc, &call, "set_led", "{}");
    CHECK(says("{\"name\":\"theirs\",\"version\":\"2.5\","
               "\"mode\":\"foreign\"}"));
    memset(&desc, 0, sizeof desc);
    desc.allow = TCALL_WRITE;
    CHECK(start(&tc, &desc) == TCALL_OK);
    provenance_of(&tc, &call, "set_led", "{}");
    provenance_of(&tc, &call, "set_led", "");
    CHECK(says("\"fixes\":[\"empty-args\"]"));
    provenance_of(&tc, &call, "set_led", "{}");
    CHECK(says("\"fixes\":[]") && says("\"outcome\":\"invalid\""));
    CHECK(says("\"errors\":[{\"path\":\"\",\"keyword\":\"required\""));
    memset(&desc, 0, sizeof desc);
    bare[0].name = "bare";
    bare[0].run = fails;
    bare[0].allow_no_schema = true;
    bare[0].no_schema_mode = TCALL_NO_SCHEMA_APPROVAL;
    bare[0].permissions = TCALL_READ;
    bare[0].provided_by = "a \"plugin\"";
    desc.tools = bare;
    desc.tool_count = 1;
    desc.allow = TCALL_READ;
    CHECK(start(&tc, &desc) == TCALL_OK);
    provenance_of(&tc, &call, "bare", "{}");
    CHECK(says("\"no_schema_mode\":\"human-approval\""));
    CHECK(says("\"provided_by\":\"a \\\"plugin\\\"\""));
    provenance_of(&tc, &call, "nobody", "{}");
    CHECK(says("\"step\":\"find\"") && !says("\"validator\""));
    CHECK(!says("no_schema_mode"));
}

/* A validator of one's own decides instead of the schema. */
static int seven(void *user, const tcall_tool *tool, tcall_json args,
                 tcall_writer *why)
{
    (*(int *)user)++;
    if (tool->run == set_led &&
        tcall_json_int(tcall_json_get(args, "level"), 0) == 7)
        return TCALL_OK;
    tcall_write_text(why, "level must be 7");
    return TCALL_E_INVALID;
}

static void test_validator(void)
{
    static int asked;
    static const tcall_validator own =
        TCALL_VALIDATOR("sevens", "1.0", seven, &asked);
    static tcall_tool beyond[1];
    tcall tc;
    tcall_desc desc;
    tcall_call call;
    memset(&desc, 0, sizeof desc);
    desc.allow = TCALL_WRITE;
    desc.validator = &own;
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(call_tool(&tc, &call, "set_led", "{\"level\":7}") == TCALL_OK);
    CHECK(was.validated && runs == 1 && asked == 1);
    CHECK(call_tool(&tc, &call, "set_led", "{\"on\":true}") == TCALL_E_INVALID);
    CHECK(says("level must be 7") && runs == 1);
    /* It may know what the built-in one refuses; JSON it must be. */
    beyond[0] = tools[LED_TOOL];
    beyond[0].parameters =
        tcall_schema_text_of("{\"unevaluatedProperties\":false}");
    desc.tools = beyond;
    desc.tool_count = 1;
    CHECK(start(&tc, &desc) == TCALL_OK);
    beyond[0].parameters = tcall_schema_text_of("{\"type\":");
    CHECK(start(&tc, &desc) == TCALL_E_TOOL);
}

TCALL_LIST(rooms, text(0, 9), 0, 2)
#define LAMP(ROW, me)                                                      \
    ROW(me, required, boolean, on, "on or off")                            \
    ROW(me, defaults(40), integer(0, 100), level, "brightness in percent") \
    ROW(me, optional, list(rooms), rooms, "where")
TCALL_SHAPE(lamp, LAMP)

static int set_lamp(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    const struct lamp *lamp = (const struct lamp *)cx->bound;
    (void)args;
    runs++;
    tcall_write_text(w, lamp->on ? "on " : "off ");
    tcall_write_int(w, lamp->level);
    if (lamp->rooms.count)
        tcall_write_text(w, lamp->rooms.items[lamp->rooms.count - 1]);
    return TCALL_OK;
}

/* One list gives the struct, its schema and its check. */
static void test_struct(void)
{
    static tcall_tool lamps[1];
    tcall tc;
    tcall_desc desc;
    tcall_call call;
    memset(&desc, 0, sizeof desc);
    lamps[0].name = "set_lamp";
    lamps[0].parameters = (tcall_schema_text)TCALL_STRUCT(lamp);
    lamps[0].run = set_lamp;
    lamps[0].permissions = TCALL_ACTUATE;
    desc.tools = lamps;
    desc.tool_count = 1;
    desc.allow = TCALL_ACTUATE;
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(call_tool(&tc, &call, "set_lamp", "{\"on\":true}") == TCALL_OK);
    CHECK(says("on 40") && !call.cx.bound); /* it is released with the call */
    CHECK(call_tool(&tc, &call, "set_lamp",
                    "{\"on\":false,\"level\":\"7\",\"rooms\":[\"a\",\"b\"]}") ==
          TCALL_OK);
    CHECK(says("off 7b") && runs == 2);
    CHECK(call_tool(&tc, &call, "set_lamp",
                    "{\"on\":true,\"level\":99999999999}") < 0);
    CHECK(was.step == TCALL_STEP_VALIDATE && says("/level") && runs == 2);
    CHECK(call_tool(&tc, &call, "set_lamp", "{\"on\":true,\"x\":1}") ==
          TCALL_E_INVALID);
}

/* Any size of block: the right outcome or an error that says what it needs,
 * and no byte outside is touched (the sanitizers see to that). */
static void test_block_sweep(void)
{
    size_t size, works = 0;
    for (size = 0; size < 6000; size += CHECK_EVERY) {
        char *exact = (char *)malloc(size ? size : 1);
        tcall tc;
        tcall_desc desc;
        tcall_call call;
        int r;
        memset(&desc, 0, sizeof desc);
        desc.allow = TCALL_WRITE;
        desc.block = exact;
        desc.lenient = &tcall_lenient;
        desc.block_size = size;
        r = start(&tc, &desc);
        if (r == TCALL_OK) {
            r = call_tool(&tc, &call, "set_led",
                          "{'on': 'true', level: \"7\", \"mode\": null,}");
            works += r == TCALL_OK;
            CHECK(r == TCALL_OK ? says("led on, level 7")
                                : r == TCALL_E_MEMORY && runs == 0);
        }
        if (r != TCALL_OK &&
            (r != TCALL_E_MEMORY || tc.block.need <= size - 16))
            CHECK(r == TCALL_E_MEMORY && tc.block.need + 16 > size);
        free(exact);
    }
    CHECK(works > 3000 / CHECK_EVERY);
}

int main(void)
{
    test_definitions();
    test_arguments();
    test_provider_schema();
    test_permissions();
    test_optional();
    test_outcomes();
    test_repair();
    test_provenance();
    test_definition();
    test_checked_again();
    test_provenance_of_others();
    test_validator();
    test_struct();
    test_block_sweep();
    return check_sum("test_invoke");
}
