/* Registries whose tables are wrong, or that never started: each fault is a
 * sentence, and every entry answers an error. */
#include "toolcall.h"
#include "check.h"

static char block[8192], report[2048], result[1024];
static tcall_writer faults, out;

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    (void)cx, (void)args;
    return tcall_write_text(w, "done");
}

static int hook_run(tcall_ctx *cx, void *user)
{
    (void)cx, (void)user;
    return TCALL_OK;
}

/* A row and a registry that work; each test spoils something. */
static tcall_tool tool;
static tcall_desc desc;

static void prepare(void)
{
    memset(&tool, 0, sizeof tool);
    tool.name = "set_led";
    tool.parameters = tcall_schema_text_of("{\"type\":\"object\"}");
    tool.run = run;
    tool.permissions = TCALL_WRITE;
    memset(&desc, 0, sizeof desc);
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = sizeof block;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.stages = &tcall_stages;
    desc.allow = TCALL_WRITE;
    desc.report = &tcall_report;
    desc.faults = &faults;
    memset(report, 0, sizeof report);
    tcall_writer_init(&faults, report, sizeof report - 1);
}

static int start(tcall *tc)
{
    return tcall_init(tc, &desc);
}

static void refused(int line, const char *sentence)
{
    tcall tc;
    bool good = start(&tc) == TCALL_E_TOOL && strcmp(report, sentence) == 0;
    if (!good)
        printf("line %d: %s", line, report);
    CHECK(good);
}

#define REFUSED(sentence) refused(__LINE__, sentence)

static void test_rows(void)
{
    prepare();
    tool.name = "9lives";
    REFUSED("9lives: the name must begin with a letter or _ and have 1 to 64 "
            "of A-Z a-z 0-9 _ -\n");
    prepare();
    tool.name = NULL;
    REFUSED("(no name): the name must begin with a letter or _ and have 1 to "
            "64 of A-Z a-z 0-9 _ -\n");
    prepare();
    tool.run = NULL;
    tool.parameters = tcall_schema_text_of(NULL);
    tool.strict = true; /* all that is wrong, not the first only */
    tool.safe = 9;
    CHECK(tool.permissions == TCALL_WRITE);
    {
        tcall tc;
        CHECK(start(&tc) == TCALL_E_TOOL);
        CHECK(strstr(report, "set_led: run is missing: name the function that "
                             "does the work\n"));
        CHECK(strstr(report, "set_led: parameters is missing: give a JSON "
                             "Schema, or a shape, or set allow_no_schema\n"));
        CHECK(strstr(report, "set_led: strict needs parameters to hold the "
                             "model to\n"));
        CHECK(strstr(report, "set_led: safe is none of tcall_safety\n"));
    }
    prepare();
    tool.no_schema_mode = 3;
    REFUSED("set_led: no_schema_mode is none of tcall_no_schema\n");
    prepare();
    tool.permissions = 64;
    REFUSED("set_led: permissions has a bit that is none of TCALL_READ ... "
            "TCALL_ACTUATE\n");
    prepare();
    tool.hook_count = 0;
    tool.hooks = (const tcall_hook *)(const void *)block;
    REFUSED("set_led: hooks and hook_count belong together: give both\n");
}

static void test_registry(void)
{
    static const tcall_validator nothing =
        TCALL_VALIDATOR("mine", "1", NULL, NULL);
    static const tcall_service service = {"clock", NULL, NULL};
    static const tcall_service nameless = {NULL, NULL, NULL};
    static tcall_tool rows[1];
    prepare();
    desc.tools = NULL;
    REFUSED("tcall_desc: tool_count needs tools: the table\n");
    prepare();
    desc.rows = rows;
    REFUSED("tcall_desc: rows and row_count belong together: give both\n"
            "tcall_desc: rows has less room than tools needs\n");
    prepare();
    desc.validator = &nothing;
    REFUSED("tcall_desc: validator needs check: write "
            "TCALL_VALIDATOR(name, version, check, user)\n");
    prepare();
    desc.services = &service;
    REFUSED("tcall_desc: services and service_count belong together: give "
            "both\n");
    prepare();
    desc.services = &nameless;
    desc.service_count = 1;
    REFUSED("tcall_desc: services has one without a name: nobody could find "
            "it\n");
    prepare();
    desc.tool_count = 65536;
    desc.tools = NULL;
    REFUSED("tcall_desc: tool_count needs tools: the table\n"
            "tcall_desc: there are more than 65535 tools\n");
}

static void test_hooks(void)
{
    tcall_hook hook = {"limit", TCALL_STAGE_COUNT, 0, hook_run, NULL, NULL};
    prepare();
    desc.hooks = &hook;
    REFUSED("tcall_desc: hooks and hook_count belong together: give both\n");
    prepare();
    desc.hooks = &hook;
    desc.hook_count = 1;
    REFUSED("tcall_desc: hook limit: its stage is none of TCALL_STAGES\n");
    prepare();
    hook.stage = TCALL_WILL_AUTHORIZE;
    hook.run = NULL;
    tool.hooks = &hook;
    tool.hook_count = 1;
    REFUSED("set_led: hook limit: run is missing: name the function to "
            "call\n");
    prepare();
    desc.stages = NULL;
    desc.hooks = tool.hooks = &hook;
    desc.hook_count = tool.hook_count = 1;
    REFUSED("tcall_desc: hooks need stages: set it to &tcall_stages\n"
            "set_led: hooks need tcall_desc.stages: set it to "
            "&tcall_stages\n");
}

/* Everything that takes a tcall, with one that cannot be used. */
static void answers_errors(tcall *tc, int error)
{
    static tcall_listener listener;
    static tcall_tool other;
    tcall_call call;
    other = tool;
    other.name = "other";
    CHECK(tcall_find(tc, tcall_str_of("set_led")) == NULL);
    CHECK(tc->desc.tool_count == 0);
    CHECK(tcall_add(tc, &other) == error);
    CHECK(tcall_remove(tc, tcall_str_of("set_led")) == TCALL_E_UNKNOWN);
    CHECK(tcall_peak(tc) <= sizeof block);
    tcall_subscribe(tc, &listener);
    tcall_unsubscribe(tc, &listener);
    tcall_writer_init(&out, result, sizeof result - 1);
    CHECK(tcall_execute(tc, tcall_str_of("set_led"), tcall_str_of("{}"), &out,
                        NULL) == error);
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("set_led");
    call.arguments = tcall_str_of("{}");
    CHECK(tcall_hydrate(tc, &call) == error);
    CHECK(tcall_write_provenance(&out, tc, &call) == TCALL_OK);
    tcall_writer_init(&out, result, sizeof result - 1);
    memset(result, 0, sizeof result);
    CHECK(tcall_invoke(tc, &call, &out) == error);
    CHECK(strstr(result, "\"success\":false"));
    CHECK(strstr(result, tcall_error_text(error)));
    CHECK(tcall_invoke(tc, &call, &out) == TCALL_E_USAGE);
    tcall_release(tc, &call);
    memset(&call, 0, sizeof call); /* hydrated by nobody */
    tcall_writer_init(&out, result, sizeof result - 1);
    CHECK(tcall_invoke(tc, &call, &out) == error);
}

static void test_unusable(void)
{
    tcall tc;
    memset(&tc, 0, sizeof tc);
    answers_errors(&tc, TCALL_E_USAGE);
    prepare();
    tool.run = NULL;
    CHECK(start(&tc) == TCALL_E_TOOL);
    answers_errors(&tc, TCALL_E_TOOL);
    prepare();
    desc.lenient = &tcall_lenient;
    desc.block_size = 16;
    CHECK(start(&tc) == TCALL_E_MEMORY && tc.block.need > tc.block.size);
    answers_errors(&tc, TCALL_E_MEMORY);
    prepare();
    desc.block = NULL;
    CHECK(start(&tc) == TCALL_E_MEMORY);
    answers_errors(&tc, TCALL_E_MEMORY);
}

/* What the model reads of a permission that is missing, and the developer. */
static char told[256];

static void note(void *user, const tcall_event *event)
{
    (void)user;
    if (event->kind == TCALL_EVENT_ERROR && event->text.len < sizeof told) {
        memcpy(told, event->text.ptr, event->text.len);
        told[event->text.len] = '\0';
    }
}

static void denied(unsigned needs, unsigned allow, const char *model,
                   const char *developer)
{
    tcall tc;
    prepare();
    tool.permissions = (uint8_t)needs;
    desc.allow = (uint8_t)allow;
    desc.on_event = note;
    desc.events = &tcall_events;
    told[0] = '\0';
    CHECK(start(&tc) == TCALL_OK);
    memset(result, 0, sizeof result);
    tcall_writer_init(&out, result, sizeof result - 1);
    CHECK(tcall_execute(&tc, tcall_str_of("set_led"), tcall_str_of("{}"), &out,
                        NULL) == TCALL_E_DENIED);
    CHECK(strstr(result, model));
    CHECK(strcmp(told, developer) == 0);
}

static void test_permissions(void)
{
    denied(TCALL_WRITE, TCALL_READ,
           "\"error\":\"set_led(): needs write; the registry allows read\"",
           "set_led needs write; the registry allows read: add TCALL_WRITE to "
           "tcall_desc.allow");
    denied(TCALL_READ | TCALL_WRITE | TCALL_ACTUATE, TCALL_READ | TCALL_NETWORK,
           "needs read and write and actuate; the registry allows read and "
           "network\"",
           "set_led needs read and write and actuate; the registry allows read "
           "and network: add TCALL_WRITE | TCALL_ACTUATE to tcall_desc.allow");
    denied(0, 0,
           "needs everything, as it declares no permissions; the registry "
           "allows nothing\"",
           "set_led needs everything, as it declares no permissions; the "
           "registry allows nothing: add TCALL_READ | TCALL_WRITE | "
           "TCALL_EXECUTE | TCALL_NETWORK | TCALL_ACTUATE to "
           "tcall_desc.allow");
}

int main(void)
{
    test_rows();
    test_registry();
    test_hooks();
    test_unusable();
    test_permissions();
    return check_sum("test_bad_input_call");
}
