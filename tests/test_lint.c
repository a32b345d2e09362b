/* Lint: each kind of finding, and that good definitions have none. */
#include "toolcall.h"
#include "tools/lint.h"
#include "check.h"

static char told[4096];

static void found(void *user, const ttool_finding *f)
{
    size_t n = strlen(told);
    CHECK(user == told && f->tool);
    snprintf(told + n, sizeof told - n, "%s%s %s %.*s: %.*s\n",
             f->note ? "(note) " : "", f->code, f->provider ? f->provider : "-",
             (int)f->pointer.len, f->pointer.ptr, (int)f->text.len,
             f->text.ptr);
}

static int lint(const tcall_tool *tools, size_t n)
{
    told[0] = '\0';
    return ttool_lint(tools, n, found, told);
}

static bool says(const char *text)
{
    bool good = strstr(told, text) != NULL;
    if (!good)
        printf("not told: %s\nbut: %s\n", text, told);
    return good;
}

static const char good[] = TCALL_TEXT({
    "type" : "object",
    "properties" :
        {"pin" : {"type" : "integer", "description" : "Number of the line"}},
    "required" : ["pin"],
    "additionalProperties" : false
});

static tcall_tool tool(const char *name, const char *parameters)
{
    tcall_tool t;
    memset(&t, 0, sizeof t);
    t.name = name;
    t.description = "Read the level of one input line of the board, 0 or 1.";
    t.parameters = tcall_schema_text_of(parameters);
    return t;
}

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args, (void)out;
    return TCALL_OK;
}

static void test_names(void)
{
    static const struct {
        const char *name;
        int count;
        const char *whose;
    } rows[] = {{"read_pin", 0, ""},  {"read-pin-2", 0, ""},
                {"_x", 0, ""},        {"2nd", 2, "gemini"},
                {"a.b", 4, "openai"}, {"a/b", 5, "gemini"},
                {"a:b", 5, "mcp"},    {"", 6, "anthropic"},
                {NULL, 6, "openai"},  {"b\xC3\xA4r", 6, "mcp"}};
    static char name[131];
    tcall_tool two[2];
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        tcall_tool t = tool(rows[i].name, good);
        CHECK(lint(&t, 1) == rows[i].count);
        CHECK(strstr(told, rows[i].whose) && !(!rows[i].count && *told));
    }
    for (i = 1; i < 131; i++) {
        tcall_tool t = tool(name, good);
        name[i - 1] = 'a';
        CHECK(lint(&t, 1) == (i <= 64 ? 0 : i <= 128 ? 3 : 6));
    }
    two[0] = two[1] = tool("same", good);
    CHECK(lint(two, 2) == 1 &&
          says("name - /name: another tool has this name"));
    two[0].name = "other";
    CHECK(lint(two, 2) == 0);
}

/* Lengths at both ends of what they should be, for each kind of tool. */
static void test_lengths(void)
{
    static const char one[] = TCALL_TEXT(
        {"type" : "object", "properties" : {"a" : {"description" : "x"}}});
    static const char two[] = TCALL_TEXT({
        "type" : "object",
        "properties" :
            {"a" : {"description" : "x"}, "b" : {"description" : "x"}}
    });
    static const char nested[] = TCALL_TEXT({
        "type" : "object",
        "properties" : {
            "a" : {
                "description" : "x",
                "items" : {"properties" : {"b" : {"description" : "x"}}}
            }
        }
    });
    static const char five[] = TCALL_TEXT({
        "type" : "object",
        "properties" : {
            "a" : {"description" : "x"},
            "b" : {"description" : "x"},
            "c" : {"description" : "x"},
            "d" : {"description" : "x"},
            "e" : {"description" : "x"}
        }
    });
    static const struct {
        const char *schema;
        size_t least, most;
    } rows[] = {{one, 10, 20}, {two, 10, 40}, {nested, 25, 40}, {five, 25, 40}};
    static char words[200];
    size_t i, n;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++)
        for (n = 0; n < 45; n++) {
            tcall_tool t = tool("x", rows[i].schema);
            memset(words, 'x', sizeof words);
            words[n * 4] = '\0';
            t.description = words;
            CHECK(lint(&t, 1) == (n < rows[i].least || n > rows[i].most));
        }
    {
        tcall_tool t = tool("x", good);
        t.description = NULL;
        CHECK(lint(&t, 1) == 1);
        CHECK(says("description - /description: has about 0 tokens, should "
                   "have 10 to 20"));
    }
}

static void test_parameters(void)
{
    static const char schema[] = TCALL_TEXT({
        "type" : "object",
        "properties" : {
            "description" : {"type" : "string"},
            "a/b~c" : {"type" : "string", "description" : ""},
            "list" : {
                "type" : "array",
                "description" : "All of them",
                "items" : {
                    "type" : "array",
                    "items" : {
                        "type" : "object",
                        "properties" : {
                            "x" : {"type" : "integer"},
                            "y" : {"type" : "integer", "description" : "y"}
                        }
                    }
                }
            },
            "last" : true
        }
    });
    static char deep[2000];
    tcall_tool t = tool("x", schema);
    int i;
    t.description = "Reads what there is and says it once more, in words that "
                    "are long enough to be told from a short text like this.";
    CHECK(lint(&t, 1) == 4);
    CHECK(says("parameter - /parameters/properties/description: has no"));
    CHECK(says("parameter - /parameters/properties/a~1b~0c: has no"));
    CHECK(says("parameter - "
               "/parameters/properties/list/items/items/properties/x: has no"));
    CHECK(says("parameter - /parameters/properties/last: has no"));
    /* Deeper than it looks, and longer than it tells: no harm. */
    for (i = 0; i < 20; i++)
        strcat(deep, "{\"properties\":{\"a_rather_long_name\":");
    strcat(deep, "{}");
    for (i = 0; i < 20; i++)
        strcat(deep, "}}");
    t.parameters = tcall_schema_text_of(deep);
    CHECK(lint(&t, 1) == 8);
}

static void test_schemas(void)
{
    static const char closed[] =
        TCALL_TEXT({"type" : "object", "additionalProperties" : {}});
    tcall_tool t = tool("x", "{\"type\":\"dict\"}");
    CHECK(lint(&t, 1) == 1 &&
          says("schema - /parameters: /type: unknown type"));
    t = tool("x", "{\"properties\":{\"a");
    CHECK(lint(&t, 1) == 1 && says("schema - /parameters: "));
    t = tool("x", "");
    CHECK(lint(&t, 1) == 1);
    t = tool("x", NULL);
    CHECK(lint(&t, 1) == 1 && says("row - : parameters is missing"));
    t.allow_no_schema = true;
    CHECK(lint(&t, 1) == 0);
    t = tool("x", closed);
    CHECK(lint(&t, 1) == 0 && says("(note) strict openai /parameters: "));
    t.strict = true;
    CHECK(lint(&t, 1) == 2 && says("\nstrict anthropic /parameters: "));
}

/* Lint and tcall_init with its report judge alike, whatever a definition was
 * made into. */
static void test_as_init(void)
{
    static const char *const schemas[] = {
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\","
        "\"minimum\":1,\"maximum\":30},\"b\":{\"enum\":[\"x\",\"y\"],"
        "\"default\":\"x\"}},\"required\":[\"a\"],"
        "\"additionalProperties\":false}",
        "{\"$ref\":\"#/$defs/o\",\"$defs\":{\"o\":{\"type\":\"object\","
        "\"properties\":{\"n\":{\"type\":[\"array\",\"null\"],\"items\":"
        "{\"$ref\":\"#/$defs/o\"},\"minItems\":1,\"maxItems\":9},"
        "\"s\":{\"pattern\":\"^a+$\",\"minLength\":2,\"maxLength\":7}}}}}",
        "{\"type\":\"object\",\"allOf\":[{\"required\":[\"p\"]},{\"not\":"
        "{\"required\":[\"q\"]}}],\"properties\":{\"p\":{\"anyOf\":[{"
        "\"type\":\"string\",\"format\":\"date\"},{\"multipleOf\":0.5}]}}}"};
    static char text[400];
    uint32_t chance = 1;
    size_t i, refused = 0;
    for (i = 0; i < 1000; i++) {
        tcall_tool two[2];
        tcall_desc desc;
        tcall tc;
        static char block[1 << 16];
        size_t n, edits = i % 4;
        int r;
        strcpy(text, schemas[i % 3]);
        while (edits--) { /* a character becomes another one of the text */
            chance = chance * 1664525u + 1013904223u;
            n = strlen(text);
            text[(chance >> 8) % n] = text[(chance >> 17) % n];
        }
        two[0] = tool("first", good);
        two[1] = tool(i % 11 ? "second" : i % 2 ? "first" : "con", text);
        two[1].safe = i % 17 ? 0 : 9;
        memset(&desc, 0, sizeof desc);
        desc.block = block;
        desc.lenient = &tcall_lenient;
        desc.patterns = &tcall_patterns;
        desc.report = &tcall_report;
        desc.block_size = sizeof block;
        desc.tools = two;
        desc.tool_count = 2;
        two[0].run = two[1].run = run;
        r = tcall_init(&tc, &desc);
        refused += r < 0;
        lint(two, 2);
        CHECK((r < 0) == (strstr(told, "row - ") == told ||
                          strstr(told, "\nrow - ") != NULL ||
                          strstr(told, "schema - ") == told ||
                          strstr(told, "\nschema - ") != NULL ||
                          strstr(told, "another tool has this name") != NULL));
    }
    CHECK(refused > 300 && refused < 900);
}

static void test_required(void)
{
    tcall_tool t = tool("x", "{\"properties\":{\"a\":{\"description\":\"x\"}},"
                             "\"required\":[\"a\",\"b\"],\"propertys\":{}}");
    CHECK(lint(&t, 1) == 0);
    CHECK(says("(note) keyword - /parameters/required/1: is a required name"));
    CHECK(says("/parameters/propertys: is no keyword of JSON Schema: was "
               "properties meant?"));
    t = tool("x", "{\"properties\":{\"a\":{\"description\":\"x\",\"minimum\":"
                  "9,\"maximum\":3}},\"required\":[\"a\",\"b\"],"
                  "\"additionalProperties\":false}");
    CHECK(lint(&t, 1) == 0);
    CHECK(says("/parameters/properties/a/minimum: is a lower bound"));
    CHECK(says("/parameters/required/1: is a required name that "
               "additionalProperties forbids"));
}

/* What tcall_init takes, and no value, or none that was meant, is right for. */
static void test_remarks(void)
{
#define BOUND     "is a lower bound that leaves nothing under the upper one"
#define FORBIDDEN "is a required name that additionalProperties forbids"
#define REFUSED   "is a default that its own schema refuses"
#define UNCHECKED "is not checked: "
    static const char *const rows[][3] = {
        /* schema, below which place, says; NULL: nothing */
        {"{'required':['a'],'properties':{},'additionalProperties':false}",
         "required/0", FORBIDDEN ": add it to properties"},
        {"{'required':['a'],'additionalProperties':false}", "required/0",
         FORBIDDEN},
        {"{'required':['a'],'properties':{'a':{}},"
         "'additionalProperties':false}",
         NULL, NULL},
        {"{'required':['a'],'patternProperties':{'a':{}},"
         "'additionalProperties':false}",
         NULL, NULL},
        {"{'required':['a'],'additionalProperties':{}}", NULL, NULL},
        {"{'properties':{'o':{'type':'array','items':{'required':['x','y'],"
         "'properties':{'x':{}},'additionalProperties':false}}}}",
         "properties/o/items/required/1", FORBIDDEN},

        {"{'properties':{'n':{'minimum':5,'maximum':3}}}",
         "properties/n/minimum", BOUND ": change one of them"},
        {"{'properties':{'n':{'minimum':3,'maximum':3}}}", NULL, NULL},
        {"{'properties':{'n':{'minimum':3.0,'exclusiveMaximum':3}}}",
         "properties/n/minimum", BOUND},
        {"{'properties':{'n':{'exclusiveMinimum':3,'maximum':3e0}}}",
         "properties/n/exclusiveMinimum", BOUND},
        {"{'properties':{'n':{'exclusiveMinimum':3,'exclusiveMaximum':3}}}",
         "properties/n/exclusiveMinimum", BOUND},
        {"{'properties':{'n':{'exclusiveMinimum':-3,'maximum':-2.9}}}", NULL,
         NULL},
        {"{'properties':{'n':{'maxLength':3,'minLength':4}}}",
         "properties/n/minLength", BOUND},
        {"{'properties':{'n':{'minLength':3,'maxItems':2}}}", NULL, NULL},
        {"{'properties':{'n':{'minItems':1,'maxItems':0}}}",
         "properties/n/minItems", BOUND},
        {"{'minProperties':2,'maxProperties':1}", "minProperties", BOUND},
        {"{'$defs':{'d':{'minContains':2,'maxContains':1}}}",
         "$defs/d/minContains", BOUND},

        {"{'properties':{'n':{'type':'integer','default':1}}}", NULL, NULL},
        {"{'properties':{'n':{'type':'integer','default':'1'}}}",
         "properties/n/default", REFUSED ": change one of them"},
        {"{'properties':{'n':{'enum':['a','b'],'default':'c'}}}",
         "properties/n/default", REFUSED},
        {"{'properties':{'n':{'type':'boolean','default':null}}}", NULL, NULL},
        {"{'properties':{'n':{'$ref':'#/$defs/d','default':{'a':[7]}}},"
         "'$defs':{'d':{'properties':{'a':{'items':{'maximum':6}}}}}}",
         "properties/n/default", REFUSED},
        {"{'properties':{'n':{'$ref':'#/definitions/d','default':[7]}},"
         "'definitions':{'d':{'items':{'maximum':6}}}}",
         "properties/n/default", REFUSED},
        {"{'properties':{'n':{'$ref':'#/$defs/d','default':{'a':[6]}}},"
         "'$defs':{'d':{'properties':{'a':{'items':{'maximum':6}}}}}}",
         NULL, NULL},
        {"{'properties':{'m':{'type':'array'},'n':{'default':7,"
         "'$ref':'#/properties/m'}}}",
         NULL, NULL}, /* not followed, see lint.c */
        {"{'properties':{'n':{'minLength':3,'default':'\\u00e4\\n'}}}",
         "properties/n/default", REFUSED},
        {"{'properties':{'default':{'type':'integer'}}}", NULL, NULL},
        {"{'default':7}", NULL, NULL},
        {"{'type':'object','default':7}", "default", REFUSED},

        {"{'properties':{'n':{'type':'string','nullable':true}}}",
         "properties/n/nullable", UNCHECKED "give null as one of"},
        {"{'properties':{'n':{'type':'string','nullable':false}}}", NULL, NULL},
        {"{'properties':{'a':{'items':{'anyOf':[{'format':'date'}]}}}}",
         "properties/a/items/anyOf/0/format", UNCHECKED "say it by pattern"},
        {"{'properties':{'format':{'enum':['nullable']}}}", NULL, NULL}};
    char text[400], line[200];
    size_t i, j;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        tcall_tool t;
        for (j = 0; rows[i][0][j]; j++)
            text[j] = rows[i][0][j] == '\'' ? '"' : rows[i][0][j];
        text[j] = '\0';
        t = tool("x", text);
        lint(&t, 1);
        CHECK(!strstr(told, "schema - ") && !strstr(told, "row - "));
        if (!rows[i][2]) {
            if (strstr(told, "(note) keyword"))
                printf("row %u: %s\n", (unsigned)i, told);
            CHECK(!strstr(told, "(note) keyword"));
            continue;
        }
        snprintf(line, sizeof line, "(note) keyword - /parameters/%s: %s",
                 rows[i][1], rows[i][2]);
        CHECK(says(line));
    }
}

/* Anthropic takes 20 strict tools in one request. */
static void test_strict_limit(void)
{
    static char names[21][4];
    static tcall_tool many[21];
    int i;
    for (i = 0; i < 21; i++) {
        names[i][0] = (char)('a' + i);
        many[i] = tool(names[i], good);
        many[i].strict = true;
    }
    CHECK(lint(many, 20) == 0);
    CHECK(lint(many, 21) == 1 && says("strict anthropic"));
}

static const tcall_provider *const all[] = {&tcall_responses, &tcall_ollama,
                                            &tcall_gemini, &tcall_openai,
                                            &tcall_anthropic};

static void test_cost(void)
{
    tcall_tool two[2];
    size_t i;
    two[0] = tool("one", good);
    two[1] = tool("two", good);
    for (i = 0; i < TCALL_ARRAY_LEN(all); i++) {
        size_t first = ttool_lint_bytes(all[i], two, 1);
        size_t text = strlen(good) + strlen(two[0].description) + 3;
        size_t both = ttool_lint_bytes(all[i], two, 2);
        CHECK(ttool_lint_bytes(all[i], two, 0) == 0);
        CHECK(first > text && first < text + 150);
        CHECK(both > first + text && both <= 2 * first + 1);
    }
    CHECK(ttool_lint_tokens(0) == 0 && ttool_lint_tokens(9) == 3);
}

/* ---- described texts: the same door, what a model gets to read */

static const char *described(const tcall_provider *p, const char *text,
                             const tcall_variable *variables)
{
    static char body[1024];
    tcall_tool t = tool("x", good);
    static char empty[8];
    tcall_block none;
    tcall_chat chat;
    tcall_chat_request ask;
    tcall_writer w;
    const char *at;
    t.description = text;
    memset(&ask, 0, sizeof ask);
    memset(&chat, 0, sizeof chat);
    tcall_block_init(&none, empty, sizeof empty);
    tcall_chat_init(&chat, &none);
    ask.chat = &chat;
    ask.model = "m";
    ask.tools = &t;
    ask.tool_count = 1;
    ask.allow = TCALL_EVERYTHING;
    ask.variables = variables;
    tcall_writer_init(&w, body, sizeof body - 1);
    CHECK(p->write(p, &w, &ask) == TCALL_OK);
    body[w.fill] = '\0';
    at = strstr(body, "\"description\":");
    return at ? at + 14 : "";
}

static void test_described(void)
{
    static const tcall_variable variables[] = {{"workspace", "/home/\"me\""},
                                               {"cwd", "${workspace}"},
                                               {"none", ""},
                                               {"board", "B\n1"},
                                               {NULL, NULL}};
    static const char *const rows[][2] = {
        {"plain", "\"plain\","},
        {"in ${workspace}.", "\"in /home/\\\"me\\\".\","},
        {"${cwd}", "\"${workspace}\","},
        {"${none}${board}|", "\"B\\n1|\","},
        {"a ${other} ${", "\"a ${other} ${\","},
        {"${${board}}", "\"${B\\n1}\","},
        {"$board} {cwd} ${} ${cw}", "\"$board} {cwd} ${} ${cw}\","}};
    size_t i, k;
    for (k = 0; k < TCALL_ARRAY_LEN(all); k++) {
        CHECK(!strncmp(described(all[k], "${cwd}", NULL), "\"${cwd}\",", 9));
        CHECK(!strncmp(described(all[k], NULL, NULL), "\"\",", 3));
        CHECK(!strncmp(described(all[k], NULL, variables), "\"\",", 3));
        for (i = 0; i < TCALL_ARRAY_LEN(rows); i++)
            CHECK(!strncmp(described(all[k], rows[i][0], variables), rows[i][1],
                           strlen(rows[i][1])));
    }
}

/* A schema of which each note is told, and nothing else. */
static void notes(const char *schema, const char *const *texts, size_t count)
{
    tcall_tool t = tool("x", schema);
    size_t i, lines = 0;
    t.description = "Read the level of one input line of the board, 0 or 1, "
                    "and wait until it has been the same for a while.";
    CHECK(lint(&t, 1) == 0);
    for (i = 0; i < count; i++)
        CHECK(says(texts[i]));
    for (i = 0; told[i]; i++)
        lines += strncmp(told + i, "(note) keyword", 14) == 0 ||
                 strncmp(told + i, "(note) case", 11) == 0;
    CHECK(lines == count);
}

static void test_words(void)
{
    static const char bad[] = TCALL_TEXT({
        "type" : "object",
        "requird" : ["a"],
        "location" : {"type" : "string"},
        "x-order" : 1,
        "properties" : {
            "a" : {"description" : "x", "minlength" : 1, "tpye" : "string"},
            "requird" : {"description" : "x", "defualt" : 1, "enums" : [1]},
            "A" : {
                "description" : "x",
                "anyOf" : [ {}, {"additionalPropertes" : false} ],
                "default" : {"requird" : 1}
            },
            "b" : {"description" : "x", "items" : {"maxItens" : 1}}
        },
        "$defs" : {"d" : {"unit" : "m", "iff" : {}, "node" : 1}}
    });
    static const char *const told_of[] = {
        "keyword - /parameters/requird: is no keyword of JSON Schema: was "
        "required meant?",
        "keyword - /parameters/location: is no keyword of JSON Schema: a "
        "parameter belongs into properties",
        "/parameters/properties/a/minlength: is no keyword of JSON Schema: was "
        "minLength meant?",
        "/parameters/properties/a/tpye: is no keyword of JSON Schema: was type",
        "/parameters/properties/requird/defualt: is no keyword of JSON Schema: "
        "was default",
        "/parameters/properties/requird/enums: is no keyword of JSON Schema: "
        "was enum",
        "/parameters/properties/A: differs from another name only in capitals",
        "/parameters/properties/A/anyOf/1/additionalPropertes: is no keyword",
        "/parameters/properties/b/items/maxItens: is no keyword"};
    tcall_tool two[2];
    notes(bad, told_of, TCALL_ARRAY_LEN(told_of));
    two[0] = tool("readPin", good);
    two[1] = tool("readpin", good);
    CHECK(lint(two, 2) == 0 &&
          says("(note) case - /name: differs from the name of another tool"));
    two[1].name = "readPim";
    CHECK(lint(two, 2) == 0 && !*told);
}

int main(void)
{
    test_words();
    test_described();
    test_names();
    test_lengths();
    test_parameters();
    test_schemas();
    test_as_init();
    test_required();
    test_remarks();
    test_strict_limit();
    test_cost();
    return check_sum("test_lint");
}
