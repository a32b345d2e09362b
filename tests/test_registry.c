/* Tools that come and go at run time, calls without a model, kept results. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/invoke.c"
#endif
#include "check.h"
#include "result_log.h"

TCALL_EMPTY_SHAPE(nothing)

static char block[8192], result[512], report[2048];
static tcall tc;
static tcall_writer out, faults;
static tcall_tool rows[4];

static int echo(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    tcall_write_text(w, (const char *)cx->user);
    return tcall_write_int(w, tcall_json_int(tcall_json_get(args, "n"), 0));
}

static int endless(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    (void)args;
    (void)w;
    return cx->stop ? cx->stop : TCALL_E_AGAIN;
}

#define SCHEMA                                       \
    TCALL_TEXT({                                     \
        "type" : "object",                           \
        "properties" : {"n" : {"type" : "integer"}}, \
        "required" : ["n"]                           \
    })

/* A function that makes a definition. */
static tcall_tool made(const char *name)
{
    static char user[] = "made ";
    tcall_tool t;
    memset(&t, 0, sizeof t);
    t.name = name;
    t.description = "Says a number again.";
    t.parameters = tcall_schema_text_of(SCHEMA);
    t.run = echo;
    t.user = user;
    t.permissions = TCALL_READ;
    return t;
}

static tcall_tool fixed[2];

/* A registry of two tools, with room for that many. */
static int begin(bool lazy, size_t row_count)
{
    tcall_desc d;
    memset(&d, 0, sizeof d);
    fixed[0] = made("first");
    fixed[1] = made("second");
    fixed[1].permissions = TCALL_WRITE;
    tcall_writer_init(&faults, report, sizeof report);
    d.block = block;
    d.lenient = &tcall_lenient;
    d.patterns = &tcall_patterns;
    d.block_size = sizeof block;
    d.tools = fixed;
    d.tool_count = 2;
    d.allow = 0xFF;
    d.lazy_schemas = lazy;
    d.approve = NULL;
    d.report = &tcall_report;
    d.faults = &faults;
    d.rows = row_count ? rows : NULL;
    d.row_count = row_count;
    return tcall_init(&tc, &d);
}

static void start(bool lazy, size_t row_count)
{
    CHECK(begin(lazy, row_count) == TCALL_OK);
}

static int execute(const char *name, const char *arguments)
{
    int r;
    memset(result, 0, sizeof result);
    tcall_writer_init(&out, result, sizeof result - 1);
    r = tcall_execute(&tc, tcall_str_of(name), tcall_str_of(arguments), &out,
                      NULL);
    CHECK(tc.block.high == 0);
    return r;
}

static bool says(const char *text)
{
    return strstr(result, text) != NULL;
}

static int add(const char *name)
{
    tcall_tool t = made(name);
    return tcall_add(&tc, &t);
}

/* Names that may be seen, behind each other. */
static const char *names(unsigned allow)
{
    static char list[128];
    size_t i;
    list[0] = '\0';
    for (i = 0; i < tc.desc.tool_count; i++) {
        if (!tcall_enabled(&tc.desc.tools[i], allow))
            continue;
        strcat(list, tc.desc.tools[i].name);
        strcat(list, " ");
    }
    return list;
}

static void test_come_and_go(bool lazy)
{
    tcall_tool t = made("x");
    tcall_call call;
    int i;
    start(lazy, 0);
    CHECK(add("third") == TCALL_E_USAGE);
    CHECK(tcall_remove(&tc, tcall_str_of("first")) == TCALL_E_UNKNOWN);
    CHECK(begin(lazy, 1) == TCALL_E_TOOL);
    tcall_write_bytes(&faults, "", 1);
    CHECK(strcmp(report, "tcall_desc: rows has less room than tools needs\n") ==
          0);
    start(lazy, 4);
    CHECK(execute("first", "{\"n\":1}") == TCALL_OK && says("made 1"));

    CHECK(add("third") == 2 && add("fourth") == 3);
    CHECK(add("fifth") == TCALL_E_MEMORY);
    CHECK(execute("third", "{\"n\":3}") == TCALL_OK && says("made 3"));
    CHECK(execute("third", "{\"n\":true}") == TCALL_E_INVALID);
    CHECK(execute("fifth", "{\"n\":3}") == TCALL_E_UNKNOWN && says("fourth"));
    CHECK(strcmp(names(TCALL_READ), "first third fourth ") == 0);
    CHECK(strcmp(names(0xFF), "first second third fourth ") == 0);

    memset(&call, 0, sizeof call); /* removed while a call of it waits */
    call.name = tcall_str_of("first");
    call.arguments = tcall_str_of("{\"n\":1}");
    CHECK(tcall_hydrate(&tc, &call) == TCALL_OK);
    CHECK(tcall_remove(&tc, tcall_str_of("first")) == TCALL_OK);
    CHECK(tcall_remove(&tc, tcall_str_of("first")) == TCALL_E_UNKNOWN);
    memset(result, 0, sizeof result);
    tcall_writer_init(&out, result, sizeof result - 1);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_DENIED);
    CHECK(says("this tool was removed\""));
    tcall_release(&tc, &call);
    CHECK(execute("first", "{\"n\":1}") == TCALL_E_UNKNOWN);
    CHECK(!says("\"\""));
    CHECK(execute("", "{\"n\":1}") == TCALL_E_UNKNOWN);
    CHECK(strcmp(names(0xFF), "second third fourth ") == 0);

    /* What is wrong is refused, and told. */
    CHECK(add("third") == TCALL_E_TOOL);
    CHECK(add("no good") == TCALL_E_TOOL && add("") == TCALL_E_TOOL);
    CHECK(strcmp(names(0xFF), "second third fourth ") == 0);
    t.permissions = 0xFF;
    CHECK(tcall_add(&tc, &t) == TCALL_E_TOOL);
    t = made("bad");
    t.parameters = tcall_schema_text_of("{\"type\":\"dict\"}");
    CHECK(tcall_add(&tc, &t) == TCALL_E_TOOL);
    for (i = 0; i < 2; i++) { /* no shape fills a struct of these */
        t = made("shaped");
        *(i ? &t.output : &t.provider_schema) =
            (tcall_schema_text)TCALL_STRUCT(nothing);
        CHECK(tcall_add(&tc, &t) == TCALL_E_TOOL);
    }
    t = made("unread"); /* its row is for a server without a registry */
    t.parameters = (tcall_schema_text)TCALL_STRUCT(nothing);
    t.parameters.reader = NULL;
    CHECK(tcall_add(&tc, &t) == TCALL_E_TOOL);
    for (i = 0; i < 3; i++) { /* text that nothing reads */
        t = made("unread");
        (i == 0   ? &t.parameters
         : i == 1 ? &t.output
                  : &t.provider_schema)
            ->text = "{}";
        t.parameters.reader = i ? t.parameters.reader : NULL;
        CHECK(tcall_add(&tc, &t) == TCALL_E_TOOL);
    }
    tcall_write_bytes(&faults, "", 1);
    CHECK(strstr(report, "third: another tool has this name\n"));
    CHECK(strstr(report, "bad: parameters: /type: unknown type"));
    CHECK(strstr(report, "shaped: only parameters may be a TCALL_STRUCT"));
    CHECK(strstr(report, "unread: a schema has no reader: write "
                         "TCALL_JSON({...}), "));

    /* Another schema in the row of one that was compiled. */
    t = made("fifth");
    t.parameters = tcall_schema_text_of(
        TCALL_TEXT({"type" : "object", "required" : ["m"]}));
    CHECK(tcall_add(&tc, &t) == 0);
    CHECK(execute("fifth", "{\"n\":1}") == TCALL_E_INVALID);
    CHECK(execute("fifth", "{\"m\":1}") == TCALL_OK);

    /* The row of a call that is under way is not used for another tool. */
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("fourth");
    call.arguments = tcall_str_of("{\"n\":4}");
    CHECK(tcall_hydrate(&tc, &call) == TCALL_OK);
    CHECK(tcall_remove(&tc, tcall_str_of("fourth")) == TCALL_OK);
    CHECK(add("sixth") == TCALL_E_MEMORY);
    tcall_writer_init(&out, result, sizeof result);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_DENIED);
    tcall_release(&tc, &call);
    CHECK(add("sixth") == 3);
    CHECK(execute("sixth", "{\"n\":6}") == TCALL_OK && says("made 6"));
}

/* A tool that takes itself out while it runs, and while it waits. */
static int polls;

static int leaves(tcall_ctx *cx, tcall_json args, tcall_writer *w)
{
    (void)args;
    if (polls++ == 0) {
        CHECK(tcall_remove(cx->tc, cx->call->name) == TCALL_OK);
        CHECK(add("late") == TCALL_E_MEMORY); /* its row is not free yet */
        return TCALL_E_AGAIN;
    }
    return tcall_write_text(w, (const char *)cx->user);
}

static void test_leaves(bool lazy)
{
    tcall_tool t = made("leaves");
    tcall_call call;
    start(lazy, 3);
    t.run = leaves;
    polls = 0;
    CHECK(tcall_add(&tc, &t) == 2);
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("leaves");
    call.arguments = tcall_str_of("{\"n\":1}");
    CHECK(tcall_hydrate(&tc, &call) == TCALL_OK);
    memset(result, 0, sizeof result);
    tcall_writer_init(&out, result, sizeof result - 1);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_E_AGAIN);
    CHECK(tcall_find(&tc, tcall_str_of("leaves")) == NULL);
    CHECK(tcall_invoke(&tc, &call, &out) == TCALL_OK && says("made "));
    tcall_release(&tc, &call);
    CHECK(add("late") == 2);
    CHECK(execute("late", "{\"n\":2}") == TCALL_OK && says("made 2"));
}

/* Every size of block: extended or "needs N bytes", never outside of it. */
static void test_sizes(void)
{
    char *aligned = block + ((0 - (uintptr_t)block) & 7);
    size_t size, works = 0;
    for (size = 0; size < 1024; size += 4) {
        tcall_desc d;
        size_t i;
        start(false, 4);
        d = tc.desc;
        d.tool_count = 2;
        d.block = aligned;
        d.lenient = &tcall_lenient;
        d.block_size = size;
        memset(aligned + size, 0x5A, 64);
        if (tcall_init(&tc, &d) == TCALL_OK && add("third") == 2)
            works++;
        else
            CHECK(tc.block.need > size);
        for (i = 0; i < 64 && aligned[size + i] == 0x5A; i++)
            ;
        CHECK(i == 64);
    }
    CHECK(works > 50);
}

static void test_execute(void)
{
    static char user[] = "";
    tcall_tool t = made("endless");
    start(false, 4);
    t.run = endless;
    t.user = user;
    CHECK(tcall_add(&tc, &t) == 2);
    CHECK(execute("endless", "{\"n\":1}") == TCALL_E_CANCELLED);
    CHECK(says("\"success\":false"));
    t = made("asks");
    t.confirm = true;
    CHECK(tcall_add(&tc, &t) == 3);
    CHECK(execute("asks", "{\"n\":1}") == TCALL_E_DENIED);
}

/* Tools of one registry in another. */
static void test_provided(void)
{
    static char other_block[2048];
    static tcall_tool theirs[2];
    tcall other;
    tcall_desc d;
    tcall_call call;
    size_t i;
    memset(&d, 0, sizeof d);
    theirs[0] = made("look");
    theirs[1] = made("listen");
    d.block = other_block;
    d.lenient = &tcall_lenient;
    d.patterns = &tcall_patterns;
    d.block_size = sizeof other_block;
    d.tools = theirs;
    d.tool_count = 2;
    CHECK(tcall_init(&other, &d) == TCALL_OK);
    start(false, 4);
    for (i = 0; i < other.desc.tool_count; i++) {
        tcall_tool row = other.desc.tools[i];
        row.provided_by = "other";
        CHECK(tcall_add(&tc, &row) >= 0);
    }
    CHECK(execute("listen", "{\"n\":7}") == TCALL_OK && says("made 7"));
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("look");
    call.arguments = tcall_str_of("{\"n\":4}");
    CHECK(tcall_hydrate(&tc, &call) == TCALL_OK);
    memset(result, 0, sizeof result);
    tcall_writer_init(&out, result, sizeof result - 1);
    tcall_write_provenance(&out, &tc, &call);
    CHECK(says("\"provided_by\":\"other\"") && says("\"mode\":\"lazy\""));
    tcall_release(&tc, &call);
}

static void test_results(void)
{
    static kept_result kept[3];
    static result_log results;
    static const char *const ids[] = {"a", "b", "", "c", "b"};
    static char long_id[2][80];
    static char user[300];
    const kept_result *row;
    size_t i;
    start(false, 0);
    results.rows = kept;
    results.row_count = 3;
    result_log_begin(&tc, &results);
    CHECK(result_log_get(&results, tcall_str_of("a")) == NULL);
    for (i = 0; i < 5; i++) {
        tcall_call call;
        char arguments[] = "{\"n\":0}";
        arguments[5] = (char)('0' + i);
        memset(&call, 0, sizeof call);
        call.id = tcall_str_of(ids[i]);
        call.name = tcall_str_of(i == 3 ? "none" : "first");
        call.arguments = tcall_str_of(arguments);
        tcall_writer_init(&out, result, sizeof result);
        tcall_hydrate(&tc, &call);
        tcall_invoke(&tc, &call, &out);
        tcall_release(&tc, &call);
    }
    CHECK(result_log_get(&results, tcall_str_of("a")) == NULL);
    row = result_log_get(&results, tcall_str_of("b"));
    CHECK(row && row->error == TCALL_OK && strcmp(row->text, "made 4") == 0);
    row = result_log_get(&results, tcall_str_of("c"));
    CHECK(row && row->error == TCALL_E_UNKNOWN && row->len > 0);
    CHECK(result_log_get(&results, tcall_str_of("")) != NULL);
    /* Long ids that differ at their end, and a long result. */
    for (i = 0; i < sizeof user - 3; i += 3)
        memcpy(user + i, "\xE2\x82\xAC", 3);
    fixed[0].user = user;
    for (i = 0; i < 2; i++) {
        tcall_call call;
        memset(long_id[i], 'x', 79);
        long_id[i][78] = (char)('0' + i);
        memset(&call, 0, sizeof call);
        call.id = tcall_str_of(long_id[i]);
        call.name = tcall_str_of("first");
        call.arguments = tcall_str_of(i ? "{}" : "{\"n\":1}");
        tcall_writer_init(&out, result, sizeof result);
        tcall_hydrate(&tc, &call);
        tcall_invoke(&tc, &call, &out);
        tcall_release(&tc, &call);
    }
    row = result_log_get(&results, tcall_str_of(long_id[0]));
    CHECK(row && row->error == TCALL_OK && row->len == 298);
    CHECK(row && strlen(row->text) == 159 && row->text[157] == '\x82');
    row = result_log_get(&results, tcall_str_of(long_id[1]));
    CHECK(row && row->error == TCALL_E_INVALID);
    CHECK(!result_log_get(&results, tcall_str_of(long_id[0] + 1)));
    tcall_unsubscribe(&tc, &results.listener);
    CHECK(execute("first", "{\"n\":1}") == TCALL_OK && results.next == 7);
}

/* ---- listeners ---- */

static tcall_listener *list[3];
static char told[64];

/* Each writes its letter; the first to be told removes and frees the others,
 * or begins a call of its own. */
static void tell(void *user, const tcall_event *event)
{
    const char *letter = (const char *)user;
    size_t at = strlen(told), i;
    (void)event;
    told[at] = *letter;
    told[at + 1] = '\0';
    for (i = 0; *letter == 'c' && i < 2; i++)
        if (list[i]) {
            tcall_unsubscribe(&tc, list[i]);
            memset(list[i], 0xDD, sizeof *list[i]); /* as when it is freed */
            list[i] = NULL;
        }
    if (*letter == 'd' && at < 8) {
        tcall_writer nothing;
        tcall_writer_init(&nothing, NULL, 0);
        tcall_execute(&tc, tcall_str_of("first"), tcall_str_of("{\"n\":1}"),
                      &nothing, NULL);
    }
}

static void test_listeners(void)
{
    static char letters[] = "abcd";
    static tcall_listener three[3], nested, deaf; /* no function: not told */
    size_t i;
    start(false, 0);
    tcall_subscribe(&tc, &deaf);
    for (i = 0; i < 3; i++) {
        list[i] = &three[i];
        list[i]->on_event = tell;
        list[i]->user = letters + i;
        list[i]->kinds = 1u << TCALL_EVENT_START;
        tcall_subscribe(&tc, list[i]);
        tcall_subscribe(&tc, list[i]); /* twice is once */
    }
    told[0] = '\0';
    letters[2] = 'x';
    CHECK(execute("first", "{\"n\":1}") == TCALL_OK);
    CHECK(strcmp(told, "xba") == 0);
    told[0] = '\0';
    nested.on_event = tell;
    nested.user = letters + 3;
    nested.kinds = 1u << TCALL_EVENT_START;
    tcall_unsubscribe(&tc, list[2]);
    tcall_subscribe(&tc, list[2]); /* the latest is told first */
    tcall_subscribe(&tc, &nested);
    letters[2] = 'c';
    CHECK(execute("first", "{\"n\":1}") == TCALL_OK);
    CHECK(strcspn(told, "ab") == strlen(told) && strchr(told, 'd'));
    CHECK(!list[0] && !list[1]);
    tcall_unsubscribe(&tc, &nested);
    tcall_unsubscribe(&tc, list[2]);
}

/* ---- rows that can never work ---- */

static void test_rows(void)
{
    static const struct {
        const char *name, *parameters, *says;
    } cases[] = {{"ok", SCHEMA, NULL},
                 {"CON", SCHEMA, "taken by"},
                 {"nul", SCHEMA, "taken by"},
                 {"Lpt9", SCHEMA, "taken by"},
                 {"com1", SCHEMA, "taken by"},
                 {"com0", SCHEMA, NULL},
                 {"com10", SCHEMA, NULL},
                 {"contact", SCHEMA, NULL},
                 {"__proto__", SCHEMA, "taken by"},
                 {"constructor", SCHEMA, "taken by"},
                 {"prototype", SCHEMA, "taken by"}};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(cases); i++) {
        tcall_desc desc;
        begin(false, 0);
        fixed[1].name = cases[i].name;
        fixed[1].parameters = tcall_schema_text_of(cases[i].parameters);
        desc = tc.desc;
        memset(report, 0, sizeof report);
        tcall_writer_init(&faults, report, sizeof report - 1);
        CHECK(tcall_init(&tc, &desc) == (cases[i].says ? TCALL_E_TOOL : 0));
        if (cases[i].says && !strstr(report, cases[i].says))
            printf("row %u: %s\n", (unsigned)i, report);
        CHECK(cases[i].says ? strstr(report, cases[i].says) != NULL
                            : report[0] == '\0');
    }
}

/* ---- parameters that cannot be an object ---- */

/* Registers a tool with these parameters in a block of size bytes. */
static int review(const char *parameters, size_t size)
{
    tcall_desc desc;
    begin(false, 0);
    fixed[1].name = "a";
    fixed[1].parameters = tcall_schema_text_of(parameters);
    desc = tc.desc;
    if (size)
        desc.block_size = size;
    memset(report, 0, sizeof report);
    tcall_writer_init(&faults, report, sizeof report - 1);
    return tcall_init(&tc, &desc);
}

#define OBJECT "the schema: parameters must take an object:"

/* Without a report, only what could do harm is refused: what would run
 * unchecked, or could not run. */
static void test_harm(void)
{
    static const tcall_hook hook = {"h", TCALL_WILL_EXECUTE, 0, NULL, NULL,
                                    NULL};
    static const tcall_service service = {"s", NULL, NULL};
    static const tcall_validator validator =
        TCALL_VALIDATOR("v", NULL, NULL, NULL);
    unsigned i;
    for (i = 0; i < 17; i++) {
        tcall_desc desc;
        begin(false, 0);
        desc = tc.desc;
        desc.report = NULL;
        switch (i) {
        case 0: fixed[1].run = NULL; break;
        case 1: fixed[1].name = NULL; break;
        case 2: fixed[1].name = ""; break;
        case 3: fixed[1].name = "first"; break;
        case 4: fixed[1].parameters.text = NULL; break;
        case 5: fixed[1].parameters.reader = NULL; break;
        case 6: fixed[1].output.text = "{}"; break;
        case 7: fixed[1].provider_schema.text = "{}"; break;
        case 8:
            fixed[1].hooks = &hook;
            fixed[1].hook_count = 1;
            break;
        case 9:
            desc.hooks = &hook;
            desc.hook_count = 1;
            break;
        case 10:
            desc.hook_count = 1;
            desc.stages = &tcall_stages;
            break;
        case 11: desc.tools = NULL; break;
        case 12:
            desc.rows = rows;
            desc.row_count = 1;
            break;
        case 13: desc.service_count = 1; break;
        case 14: desc.validator = &validator; break;
        case 15: desc.row_count = 65536; break;
        default: desc.services = &service; break;
        }
        CHECK(tcall_init(&tc, &desc) == (i < 16 ? TCALL_E_TOOL : TCALL_OK));
        CHECK(!tc.problem &&
              !tcall_find(&tc, tcall_str_of("first")) == (i < 16));
    }
}

/* Without a report a wrong table is refused all the same; with one, and no room
 * for lines, its first fault is known. */
static void test_report(void)
{
    tcall_desc desc;
    begin(false, 0);
    desc = tc.desc;
    desc.report = NULL;
    fixed[1].run = NULL;
    fixed[1].permissions = 0xFF;
    memset(report, 0, sizeof report);
    tcall_writer_init(&faults, report, sizeof report - 1);
    CHECK(tcall_init(&tc, &desc) == TCALL_E_TOOL && !tc.problem && !report[0]);
    CHECK(tcall_find(&tc, tcall_str_of("first")) == NULL);
    desc.report = &tcall_report;
    desc.faults = NULL;
    CHECK(tcall_init(&tc, &desc) == TCALL_E_TOOL && !report[0]);
    CHECK(tc.problem && strstr(tc.problem, "run is missing: name the"));
    fixed[1].run = fixed[0].run;
    fixed[1].permissions = TCALL_READ;
    fixed[1].parameters = tcall_schema_text_of("{\"type\":\"dict\"}");
    CHECK(tcall_init(&tc, &desc) == TCALL_E_TOOL);
    CHECK(tc.problem && strstr(tc.problem, "type"));
    begin(false, 0);
    CHECK(!tc.problem);
}

static void test_review(void)
{
    static const struct {
        const char *parameters, *says; /* NULL: nothing */
    } cases[] = {
        {"{}", NULL},
        {" false", OBJECT " false; arguments are one"},
        {"{'type':'string'}", OBJECT},
        {"{'type':['string','null']}", OBJECT},
        {"{'type':['null','object']}", NULL},
        {"{'$ref':'#/$defs/s','$defs':{'s':{'type':'string'}}}", OBJECT},
        {"{'$ref':'#/$defs/s','$defs':{'s':{'type':'object'}}}", NULL},
        {"{'allOf':[{},{'type':'array'}]}", OBJECT},
        {"{'anyOf':[{'required':['a']},{'required':['b']}]}", NULL},
        {"{'enum':['a',{'b':1},'c']}", NULL},
        {"{'enum':['a',1]}", OBJECT},
        {"{'enum':[]}", OBJECT},
        {"{'const':{'a':1}}", NULL},
        {"{'const':[{}]}", OBJECT},
        {"{'not':{'type':'object'}}", OBJECT},
        {"{'not':{'type':'object','maxProperties':0}}", NULL},
        {"{'not':true}", OBJECT},
        {"{'if':{'required':['a']},'else':false}", NULL},
        {"{'if':{'required':['a']},'else':{'allOf':[false]}}", NULL},
        {"{'minProperties':1,'required':['a']}", NULL},
        /* what is never right, but may be an object, is lint's to tell */
        {"{'required':['a'],'additionalProperties':false}", NULL},
        {"{'minProperties':2,'maxProperties':1}", NULL},
        {"{'type':'object','default':7}", NULL}};
    char text[400];
    size_t i, j;
    for (i = 0; i < TCALL_ARRAY_LEN(cases); i++) {
        int r;
        for (j = 0; cases[i].parameters[j]; j++)
            text[j] =
                cases[i].parameters[j] == '\'' ? '"' : cases[i].parameters[j];
        text[j] = '\0';
        r = review(text, 0);
        CHECK(r == (cases[i].says ? TCALL_E_TOOL : TCALL_OK));
        CHECK(cases[i].says ? strstr(report, cases[i].says) != NULL
                            : report[0] == '\0');
        if (cases[i].says ? !strstr(report, cases[i].says) : report[0])
            printf("review %u: %s\n", (unsigned)i, report);
    }
}

/* The faults of a schema are reported in the order of its text, 16 at most. */
static void test_faults(void)
{
    char text[700];
    int count;
    for (count = 1; count <= 17; count++) {
        char *to = text + sprintf(text, "{\"required\":[3],\"properties\":{");
        const char *at = report;
        int i, lines = 0;
        for (i = 1; i < count; i++)
            to += sprintf(to, "%s\"p%02d\":{\"type\":\"t%d\"}",
                          i > 1 ? "," : "", i, i);
        strcpy(to, "}}");
        CHECK(review(text, 0) == TCALL_E_TOOL);
        for (; (at = strstr(at, "a: parameters: ")) != NULL; at++, lines++) {
            char place[40];
            sprintf(place, lines ? "/properties/p%02d/type: " : "/required/0: ",
                    lines);
            CHECK(strncmp(at + 15, place, strlen(place)) == 0);
        }
        CHECK(lines == (count < 16 ? count : 16));
    }
}

/* A schema with patterns needs somebody who reads them: also one that is
 * compiled for each call. */
static void test_patterns(void)
{
    static const char *const schemas[] = {
        "{\"properties\":{\"n\":{\"pattern\":\"^a\"}}}",
        "{\"patternProperties\":{\"^n\":{\"enum\":[\"a\"]}}}"};
    unsigned i;
    for (i = 0; i < 4; i++) {
        tcall_desc desc;
        begin(i / 2, 0);
        fixed[0].parameters = tcall_schema_text_of(schemas[i % 2]);
        desc = tc.desc;
        CHECK(tcall_init(&tc, &desc) == TCALL_OK);
        CHECK(execute("first", "{\"n\":\"b\"}") == TCALL_E_INVALID);
        CHECK(execute("first", "{\"n\":\"a\"}") == TCALL_OK);
        desc.patterns = NULL;
        tcall_writer_init(&faults, report, sizeof report);
        CHECK(tcall_init(&tc, &desc) == TCALL_E_TOOL);
        report[faults.fill] = '\0';
        CHECK(strstr(report, "/pattern") &&
              strstr(report, "; set tcall_desc.patterns to &tcall_patterns"));
        desc.report = NULL;
        CHECK(tcall_init(&tc, &desc) == TCALL_E_TOOL);
    }
}

/* All that is wrong is told, and less memory never makes it right. */
static void test_all_faults(void)
{
    static const char schema[] =
        "{\"type\":\"dict\",\"oneOf\":[],\"properties\":{"
        "\"a\":{\"type\":\"int\"},\"b\":7,\"c\":{\"minLength\":-1,"
        "\"unevaluatedItems\":false},\"d\":{\"$ref\":\"#/none\"},"
        "\"e\":{\"required\":\"x\",\"pattern\":\"(\"}},"
        "\"$ref\":\"other\"}";
    static const char *const places[] = {
        "a: parameters: /type: ",      "parameters: /oneOf: ",
        "/properties/a/type: unknown", "/properties/b: wrong kind",
        "/properties/c/minLength: ",   "/properties/c/unevaluatedItems: ",
        "/properties/d/$ref: ",        "/properties/e/required: ",
        "parameters: /$ref: "};
    static const char two[] =
        "{\"enum\":[\"a\",1],\"properties\":{\"n\":{\"type\":\"array\","
        "\"minItems\":1,\"items\":{\"type\":[\"string\",\"null\"]}}}}";
    size_t i, lines = 0;
    bool well = false;
    CHECK(review(schema, 0) == TCALL_E_TOOL);
    for (i = 0; i < TCALL_ARRAY_LEN(places); i++)
        CHECK(strstr(report, places[i]) != NULL);
    for (i = 0; report[i]; i++)
        lines += report[i] == '\n';
    CHECK(lines == TCALL_ARRAY_LEN(places) + 1);
    CHECK(review(two, 0) == TCALL_E_TOOL);
    CHECK(strstr(report, OBJECT));
    for (i = 8; i <= 2048; i += 8) { /* memory first, then the verdict */
        int r = review(two, i);
        CHECK(r == TCALL_E_TOOL || (r == TCALL_E_MEMORY && !well));
        /* memory that is not aligned to 8 loses some */
        CHECK(r == TCALL_E_TOOL || tc.block.need + 8 > i);
        well = well || r == TCALL_E_TOOL;
    }
    CHECK(well);
}

int main(void)
{
    test_review();
    test_faults();
    test_harm();
    test_report();
    test_all_faults();
    test_patterns();
    test_listeners();
    test_rows();
    test_come_and_go(false);
    test_come_and_go(true);
    test_leaves(false);
    test_leaves(true);
    test_sizes();
    test_execute();
    test_provided();
    test_results();
    return check_sum("test_registry");
}
