/* Tools that have a shape in place of a schema, in the whole library. */
#include "toolcall.h"

#include "check.h"

#define UNIT(WORD, me) WORD(me, celsius) WORD(me, kelvin)
TCALL_CHOICE(unit, UNIT)
TCALL_LIST(limits, fixed(1, -50, 50), 0, 3)
#define WEATHER(ROW, me)                                        \
    ROW(me, required, text(1, 20), city, "City to look at")     \
    ROW(me, required, choice(unit), unit, "Unit of the answer") \
    ROW(me, defaults(3), integer(1, 7), days, "Days ahead")     \
    ROW(me, optional, list(limits), limits, "Thresholds")       \
    ROW(me, optional, or_null(text(0, 9)), note, "")
TCALL_SHAPE(weather, WEATHER)

#define WEATHER_SCHEMA                                                         \
    "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\","      \
    "\"minLength\":1,\"maxLength\":20,\"description\":\"City to look at\"},"   \
    "\"unit\":{\"type\":\"string\",\"enum\":[\"celsius\",\"kelvin\"],"         \
    "\"description\":\"Unit of the answer\"},\"days\":{\"type\":\"integer\","  \
    "\"minimum\":1,\"maximum\":7,\"description\":\"Days ahead\",\"default\":"  \
    "3},\"limits\":{\"type\":\"array\",\"maxItems\":3,\"items\":{\"type\":"    \
    "\"number\",\"minimum\":-50,\"maximum\":50},\"description\":"              \
    "\"Thresholds\"},\"note\":{\"anyOf\":[{\"type\":\"string\",\"maxLength\":" \
    "9},{\"type\":\"null\"}]}},\"required\":[\"city\",\"unit\"],"              \
    "\"additionalProperties\":false}"

static int runs;

static int weather_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const struct weather *in = (const struct weather *)cx->bound;
    runs++;
    (void)args;
    tcall_write_text(out, in->city);
    tcall_write_text(out, in->unit == unit_kelvin ? " K " : " C ");
    tcall_write_int(out, in->days);
    return TCALL_OK;
}

static int echo_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    return tcall_write_json(out, args);
}

static tcall_tool tools[2];

static void set_tools(void)
{
    memset(tools, 0, sizeof tools);
    tools[0].name = "weather";
    tools[0].description = "Forecast.";
    tools[0].run = weather_run;
    tools[0].parameters = (tcall_schema_text)TCALL_STRUCT(weather);
    tools[0].permissions = TCALL_READ;
    tools[1].name = "echo";
    tools[1].description = "Echo.";
    tools[1].run = echo_run;
    tools[1].parameters =
        tcall_schema_text_of("{\"type\":\"object\",\"properties\":{\"days\":{"
                             "\"type\":\"integer\",\"maximum\":7}}}");
    tools[1].permissions = TCALL_READ;
}

static uint64_t block[1024];
static char out_text[2000];

static int start(tcall *tc, tcall_desc *desc)
{
    desc->block = block;
    desc->lenient = &tcall_lenient;
    desc->block_size = sizeof block;
    desc->tools = tools;
    desc->tool_count = 2;
    desc->stages = &tcall_stages;
    desc->allow = TCALL_EVERYTHING;
    return tcall_init(tc, desc);
}

/* Calls a tool and returns the output. */
static const char *answer(tcall *tc, const char *name, const char *args)
{
    tcall_writer out;
    tcall_writer_init(&out, out_text, sizeof out_text - 1);
    tcall_execute(tc, tcall_str_of(name), tcall_str_of(args), &out, NULL);
    out_text[out.fill] = '\0';
    return out_text;
}

/* Whether the text is in the answer. */
static bool says(const char *text)
{
    bool found = strstr(out_text, text) != NULL;
    if (!found)
        printf("not in %s\n", out_text);
    return found;
}

static void test_calls(void)
{
    tcall tc;
    tcall_desc desc;
    set_tools();
    memset(&desc, 0, sizeof desc);
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(!strcmp(answer(&tc, "weather",
                         "{\"unit\":\"kelvin\",\"city\":\"Br\\u00fcgge\"}"),
                  "Br\xC3\xBCgge K 3"));
    CHECK(!strcmp(answer(&tc, "echo", "{\"days\":2}"), "{\"days\":2}"));
    /* lenient reading and coercion come first */
    CHECK(!strcmp(answer(&tc, "weather",
                         "{'unit':'celsius','city':'X','days':\"5\","
                         "'limits':\"[1.5]\",}"),
                  "X C 5"));
    CHECK(!strcmp(answer(&tc, "weather",
                         "{\"unit\":\"celsius\",\"city\":\"X\",\"days\":null}"),
                  "X C 3"));
    CHECK(tc.block.high == 0);
}

static void test_faults(void)
{
    tcall tc;
    tcall_desc desc;
    set_tools();
    memset(&desc, 0, sizeof desc);
    CHECK(start(&tc, &desc) == TCALL_OK);
    runs = 0;
    answer(&tc, "weather", "{\"unit\":\"c\",\"days\":9,\"limits\":[1,50.01]}");
#ifndef TOOLCALL_NO_SENTENCES
    CHECK(
        says("\"error\":\"weather: /unit: \\\"c\\\" is not one of the allowed "
             "values; send \\\"celsius\\\" or \\\"kelvin\\\". /days: 9 is "
             "over the maximum 7; send an integer from 1 to 7. /limits/1: "));
    CHECK(says(" is over the maximum 50; send a number from -50 to 50. the "
               "property \\\"city\\\" is missing; add it\""));
    CHECK(says("{\"path\":\"/days\",\"keyword\":\"maximum\",\"message\":\"9 is "
               "over the maximum 7; send an integer from 1 to 7\"}"));
    CHECK(says("{\"path\":\"\",\"keyword\":\"required\""));
#endif
    CHECK(says("\"suggestion\":\"Example: weather(city=\\\"value\\\", "
               "unit=\\\"celsius\\\")\""));
    CHECK(says("\"code\":\"invalid\""));
    answer(&tc, "weather", "{\"unit\":\"kelvin\",\"city\":\"X\",\"when\":1}");
    CHECK(says("additionalProperties"));
#ifndef TOOLCALL_NO_SENTENCES
    CHECK(says("\\\"when\\\" is not a property here; use \\\"city\\\", "));
    /* whole, also where it is more than a decoder keeps */
    answer(
        &tc, "weather",
        "{\"unit\":\"kelvin-and-more\",\"city\":\"X\",\"12345678901234\xC3\xA9"
        " and more\":1,\"\\u00fc\":2}");
    CHECK(says("\\\"kelvin-and-more\\\" is not one of the allowed values; "));
    CHECK(says("\\\"12345678901234\xC3\xA9 and more\\\" is not a property"));
    CHECK(says("\\\"\xC3\xBC\\\" is not a property here"));
#endif
    answer(&tc, "weather", "{\"unit\":\"kelvin\",\"city\":\"X\"");
    CHECK(says("truncated"));
    answer(&tc, "weather", "{\"unit\":null,\"city\":\"X\"}");
    CHECK(says("\"keyword\":\"type\""));
    CHECK(runs == 0);
    CHECK(start(&tc, &desc) == TCALL_OK);
    tc.desc.lenient = &tcall_lenient_text;
    answer(&tc, "weather",
           "{\"unit\":\"kelvin\",\"city\":\"X\",\"days\":\"5\"}");
    CHECK(says("/days") && runs == 0);
}

static void heard(void *user, const tcall_event *event)
{
    (void)user, (void)event;
}

static int mended(void *user, const tcall_call *call, tcall_writer *out)
{
    CHECK(call->asked->faults == 1 &&
          call->asked->fault[0].keyword == TCALL_ON_REQUIRED_);
    return tcall_write_text(out, (const char *)user);
}

static const tcall_repair mending = TCALL_REPAIR(mended);

static tcall_verdict allow(void *user, const tcall_call *call)
{
    const struct weather *in = (const struct weather *)call->cx.bound;
    (void)user;
    return in && in->days < 5 ? TCALL_VERDICT_ALLOW : TCALL_VERDICT_DENY;
}

/* What was coerced is counted, and the arguments are what was understood. */
static void test_coerced(void)
{
    tcall tc;
    tcall_desc desc;
    tcall_call call;
    set_tools();
    memset(&desc, 0, sizeof desc);
    CHECK(start(&tc, &desc) == TCALL_OK);
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("weather");
    call.arguments = tcall_str_of("{\"unit\":\"kelvin\",\"city\":\"X\","
                                  "\"days\":\"5\",\"limits\":\"[1.5]\"}");
    CHECK(tcall_hydrate(&tc, &call) == TCALL_OK && call.asked->coercions == 2);
    CHECK(tcall_json_type(tcall_json_get(call.asked->args, "days")) ==
          TCALL_NUMBER);
    CHECK(tcall_json_type(tcall_json_get(call.asked->args, "limits")) ==
          TCALL_ARRAY);
    CHECK(call.asked->coercion != NULL);
    tcall_release(&tc, &call);
}

/* Asks for events that nobody makes: it is said who does. */
static void test_left_out(void)
{
    tcall tc;
    tcall_desc desc;
    tcall_writer report;
    set_tools();
    memset(&desc, 0, sizeof desc);
    tcall_writer_init(&report, out_text, sizeof out_text - 1);
    desc.report = &tcall_report;
    desc.faults = &report;
    desc.on_event = heard;
    CHECK(start(&tc, &desc) == TCALL_E_TOOL);
    out_text[report.fill] = '\0';
    CHECK(says("tcall_desc: on_event needs events: set it to &tcall_events\n"));
}

static void test_repair_and_approval(void)
{
    tcall tc;
    tcall_desc desc;
    char text[] = "{\"city\":\"Y\",\"unit\":\"kelvin\",\"days\":2}";
    set_tools();
    memset(&desc, 0, sizeof desc);
    desc.repair = &mending;
    desc.user = text;
    tools[0].confirm = true;
    desc.approve = allow;
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(!strcmp(answer(&tc, "weather", "{\"city\":\"Y\"}"), "Y K 2"));
    runs = 0;
    answer(&tc, "weather", "{\"city\":\"Y\",\"unit\":\"kelvin\",\"days\":6}");
    CHECK(says("denied") && runs == 0);
}

static int replace(tcall_ctx *cx, void *user)
{
    return tcall_set_input(cx, tcall_str_of((const char *)user));
}

static void test_hooks(void)
{
    tcall tc;
    tcall_desc desc;
    tcall_call call;
    tcall_writer out;
    char text[] = "{\"city\":\"Z\",\"unit\":\"celsius\",\"days\":1}";
    tcall_hook hook;
    set_tools();
    memset(&desc, 0, sizeof desc);
    memset(&hook, 0, sizeof hook);
    hook.name = "replace";
    hook.stage = TCALL_WILL_NORMALIZE_INPUT;
    hook.run = replace;
    hook.user = text;
    tools[0].hooks = &hook;
    tools[0].hook_count = 1;
    CHECK(start(&tc, &desc) == TCALL_OK);
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("weather");
    call.arguments = tcall_str_of("{\"city\":\"A\",\"unit\":\"kelvin\"}");
    CHECK(tcall_hydrate(&tc, &call) == TCALL_OK && call.asked->validated);
    tcall_writer_init(&out, out_text, sizeof out_text - 1);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK);
    CHECK(!strncmp(out_text, "Z C 1", 5));
    CHECK(call.attempts->next && call.attempts->args.at);
    tcall_writer_init(&out, out_text, sizeof out_text - 1);
    tcall_write_provenance(&out, &tc, &call);
    out_text[out.fill] = '\0';
    CHECK(says("\"mode\":\"shape\"") && says("\"validated\":true"));
    CHECK(says("\"definition\":\""));
    tcall_release(&tc, &call);
    text[1] = 'x'; /* what is refused never runs */
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("weather");
    call.arguments = tcall_str_of("{\"city\":\"A\",\"unit\":\"kelvin\"}");
    CHECK(tcall_hydrate(&tc, &call) == TCALL_OK);
    runs = 0;
    tcall_writer_init(&out, out_text, sizeof out_text - 1);
    CHECK(tcall_invoke(&tc, &call, &out) < 0 && runs == 0);
    tcall_release(&tc, &call);
}

/* A validator of the user's may read the arguments, strings of which are
 * decoded where they lie then; the shape decides all the same. */
static int agrees(void *user, const tcall_tool *tool, tcall_json args,
                  tcall_writer *why)
{
    const char *city = tcall_json_string(tcall_json_get(args, "city"), "");
    (void)user;
    if (!tool->parameters.text)
        return strchr(city, '\\') ? TCALL_E_INVALID : TCALL_OK;
    tcall_write_text(why, "no");
    return TCALL_E_INVALID;
}

static void test_validator(void)
{
    static const tcall_validator validator =
        TCALL_VALIDATOR("mine", "1", agrees, NULL);
    tcall tc;
    tcall_desc desc;
    set_tools();
    memset(&desc, 0, sizeof desc);
    desc.validator = &validator;
    CHECK(start(&tc, &desc) == TCALL_OK);
    CHECK(
        !strcmp(answer(&tc, "weather", "{\"unit\":\"celsius\",\"city\":\"V\"}"),
                "V C 3"));
    CHECK(!strcmp(
        answer(&tc, "weather", "{\"city\":\"\\u0056\",\"unit\":\"celsius\"}"),
        "V C 3"));
    answer(&tc, "weather", "{\"unit\":\"celsius\",\"city\":\"\"}");
    CHECK(says("/city"));
    answer(&tc, "echo", "{}");
    CHECK(says("no"));
}

/* A tool that comes at run time, in blocks of every size: it runs as a whole
 * or not at all, and says how much it needs. */
static void test_memory(void)
{
    static uint64_t small[512];
    tcall_tool rows[2];
    tcall tc;
    tcall_desc desc;
    size_t size, ran = 0;
    set_tools();
    for (size = 64; size <= sizeof small; size += 8) {
        tcall_writer out;
        int r;
        memset(&desc, 0, sizeof desc);
        desc.block = small;
        desc.lenient = &tcall_lenient;
        desc.block_size = size;
        desc.rows = rows;
        desc.row_count = 2;
        desc.allow = TCALL_EVERYTHING;
        if (tcall_init(&tc, &desc) < 0 || tcall_add(&tc, &tools[0]) < 0)
            continue;
        runs = 0;
        tcall_writer_init(&out, out_text, sizeof out_text - 1);
        r = tcall_execute(&tc, tcall_str_of("weather"),
                          tcall_str_of("{\"unit\":\"kelvin\",\"city\":\"M\","
                                       "\"days\":\"4\"}"),
                          &out, NULL);
        CHECK(r == TCALL_OK || (r == TCALL_E_MEMORY && tc.block.need > size));
        CHECK(runs == (r == TCALL_OK));
        CHECK(r == TCALL_OK || ran == 0);
        ran += r == TCALL_OK;
    }
    CHECK(ran > 0);
}

/* What is missing comes with a call that would do, made from the shape. */
#define LEVEL(WORD, me) WORD(me, low) WORD(me, high)
TCALL_CHOICE(level, LEVEL)
#define PART(ROW, me) ROW(me, optional, boolean, on, "")
TCALL_SHAPE(part, PART)
TCALL_LIST(some, integer(3, 9), 2, 3)
TCALL_LIST(any, boolean, 0, 3)
#if defined CHECK_NO_DOUBLE || defined TOOLCALL_NO_INT64
#define NEGATIVE(ROW, me) ROW(me, required, integer(-9, 0), negative, "")
#define BEYOND            ""
#else
#define NEGATIVE(ROW, me)                           \
    ROW(me, required, number(-9, 0), negative, "")  \
    ROW(me, required, over(number(2, 9)), over, "") \
    ROW(me, required, under(integer64(INT64_MIN, 9)), under, "")
#define BEYOND "over=2.000001, under=8, "
#endif
#define SAMPLE(ROW, me)                                       \
    ROW(me, required, integer(3, 9), three, "")               \
    ROW(me, required, integer(-5, 5), least, "")              \
    NEGATIVE(ROW, me)                                         \
    ROW(me, required, boolean, flag, "")                      \
    ROW(me, required, text(1, 9), word, "")                   \
    ROW(me, required, choice(level), level, "")               \
    ROW(me, required, list(some), some, "")                   \
    ROW(me, required, list(any), any, "")                     \
    ROW(me, required, object(part), part, "")                 \
    ROW(me, required, integer(INT32_MIN, 1), upto, "")        \
    ROW(me, required, integer(INT32_MIN, 0), most, "")        \
    ROW(me, required, integer(INT32_MIN, INT32_MAX), one, "") \
    ROW(me, optional, integer(1, 2), absent, "")
TCALL_SHAPE(sample, SAMPLE)

static void test_example(void)
{
    tcall tc;
    tcall_desc desc;
    set_tools();
    memset(&desc, 0, sizeof desc);
    tools[0].parameters = (tcall_schema_text)TCALL_STRUCT(sample);
    CHECK(start(&tc, &desc) == TCALL_OK);
    answer(&tc, "weather", "{}");
    CHECK(says("Example: weather(three=3, least=-5, negative=-9, " BEYOND
               "flag=true, "
               "word=\\\"value\\\", level=\\\"low\\\", some=[3,3], any=[], "
               "part={}, upto=1, most=0, one=1)"));
}

/* What a row may not say. */
static void test_registry(void)
{
    static const char *const sentences[] = {
        "echo: parameters is missing: give a JSON Schema, or a shape"};
    tcall tc;
    tcall_desc desc;
    tcall_writer report;
    size_t i;
    set_tools();
    tools[1].parameters = tcall_schema_text_of(NULL);
    memset(&desc, 0, sizeof desc);
    tcall_writer_init(&report, out_text, sizeof out_text - 1);
    desc.report = &tcall_report;
    desc.faults = &report;
    CHECK(start(&tc, &desc) == TCALL_E_TOOL);
    out_text[report.fill] = '\0';
    for (i = 0; i < TCALL_ARRAY_LEN(sentences); i++)
        CHECK(says(sentences[i]));
}

/* Writes a request of this provider. */
static bool asks(const tcall_provider *provider, const char *text)
{
    tcall_chat_request request;
    tcall_chat chat;
    tcall_item item;
    tcall_block room;
    tcall_writer out;
    static uint64_t memory[128];
    memset(&request, 0, sizeof request);
    tcall_block_init(&room, memory, sizeof memory);
    tcall_chat_init(&chat, &room);
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_USER;
    item.text = tcall_str_of("hello");
    CHECK(tcall_chat_add(&chat, &item) >= 0);
    request.model = "m";
    request.chat = &chat;
    request.tools = tools;
    request.tool_count = 2;
    request.allow = TCALL_EVERYTHING;
    tcall_writer_init(&out, out_text, sizeof out_text - 1);
    CHECK(provider->write(provider, &out, &request) == TCALL_OK);
    out_text[out.fill] = '\0';
    return says(text);
}

/* OpenAI's strict mode: no lengths of strings, all required, the optional ones
 * nullable. */
#define WEATHER_STRICT                                                          \
    "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\","       \
    "\"description\":\"City to look at\"},\"unit\":{\"type\":\"string\","       \
    "\"enum\":[\"celsius\",\"kelvin\"],\"description\":\"Unit of the "          \
    "answer\"},\"days\":{\"anyOf\":[{\"type\":\"integer\",\"minimum\":1,"       \
    "\"maximum\":7},{\"type\":\"null\"}],\"description\":\"Days ahead\"},"      \
    "\"limits\":{\"anyOf\":[{\"type\":\"array\",\"maxItems\":3,\"items\":{"     \
    "\"type\":\"number\",\"minimum\":-50,\"maximum\":50}},{\"type\":\"null\"}]" \
    ",\"description\":\"Thresholds\"},\"note\":{\"anyOf\":[{\"type\":"          \
    "\"string\"},{\"type\":\"null\"}]}},\"required\":[\"city\",\"unit\","       \
    "\"days\",\"limits\",\"note\"],\"additionalProperties\":false}"

static void test_requests(void)
{
    set_tools();
    CHECK(asks(&tcall_openai, "\"parameters\":" WEATHER_SCHEMA "}"));
    CHECK(asks(&tcall_responses, "\"parameters\":" WEATHER_SCHEMA));
    CHECK(asks(&tcall_anthropic, "\"input_schema\":" WEATHER_SCHEMA));
    CHECK(asks(&tcall_gemini, "\"parametersJsonSchema\":" WEATHER_SCHEMA));
    CHECK(asks(&tcall_ollama, "\"required\":[\"city\",\"unit\"]}"));
    tools[0].strict = true;
    CHECK(asks(&tcall_openai,
               "\"parameters\":" WEATHER_STRICT ",\"strict\":true"));
    CHECK(asks(&tcall_anthropic, "\"strict\":true"));
    CHECK(says("\"required\":[\"city\",\"unit\"],\"additionalProperties\":"
               "false}"));
    tools[0].provider_schema =
        tcall_schema_text_of("{\"type\":\"object\",\"properties\":{}}");
    CHECK(asks(&tcall_gemini, "\"parametersJsonSchema\":{\"type\":\"object\","
                              "\"properties\":{}}"));
}

/* The words of a shape are found as those of a schema are. */
static void test_pick(void)
{
    static const char *const inputs[] = {"which thresholds", "in kelvin"};
    tcall tc;
    tcall_desc desc;
    tcall_picked picks[2];
    size_t i;
    set_tools();
    memset(&desc, 0, sizeof desc);
    CHECK(start(&tc, &desc) == TCALL_OK);
    for (i = 0; i < 2; i++) {
        tcall_pick_opts opts;
        int count;
        memset(&opts, 0, sizeof opts);
        count = tcall_pick(&tc, tcall_str_of(inputs[i]), &opts, picks, 2);
        CHECK(count > 0 && picks[0].tool == &tools[0]);
    }
}

int main(void)
{
    test_calls();
    test_faults();
    test_coerced();
    test_left_out();
    test_repair_and_approval();
    test_hooks();
    test_validator();
    test_memory();
    test_example();
    test_registry();
    test_requests();
    test_pick();
    return check_sum("test_shape_tool");
}
