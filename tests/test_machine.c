/* Needs: INT64. */
/* The machine: what it accepts, writes, stores, coerces and notes, in pieces of
 * any length and in memories of any size. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include <float.h>
#include <limits.h>
#include <string.h>
#include "../src/rows.c"
#include "../src/compile.c"
#include "../src/read.c"
#endif
#include "check.h"
#include "fuzz.h"

/* ---- texts and schemas ---- */

static char block[1 << 16];
static tcall_machine machine;

enum { COERCE = 1, FOR_C = 2, OBJECT = 4, ARGUMENTS = 7 };

/* Reads a text into memories of exactly these sizes, in pieces; 0: as one that
 * lies whole, which is by jsmn's tokens where the program has them. Returns the
 * verdict; the checked text is at hand until the next. */
static char *text;
static int read_into(const tcall_target *target, const char *json, size_t len,
                     size_t piece, int how, size_t text_size, size_t arena_size)
{
    static void *arena, *before; /* what was found last lies in that */
    static tcall_machine_desc desc;
    size_t at;
    memset(&desc, 0, sizeof desc);
    free(text);
    free(before);
    before = arena;
    text = (char *)malloc(text_size ? text_size : 1);
    arena = malloc(arena_size ? arena_size : 1);
    if (target)
        desc.target = *target;
    desc.text = text;
    desc.size = text_size;
    desc.arena = arena;
    desc.arena_size = arena_size;
    desc.coerce = how & COERCE ? tcall_coerce : NULL;
    desc.for_c = (how & FOR_C) != 0;
    desc.object = (how & OBJECT) != 0;
#ifndef TEST_LINKED
    if (!piece)
        return tcall_machine_read_(&machine, &desc, tcall_slice_(json, len));
#endif
    tcall_machine_init(&machine, &desc);
    for (at = 0; at < len; at += piece ? piece : len)
        tcall_machine_feed(&machine, json + at,
                           !piece || len - at < piece ? len - at : piece);
    return tcall_machine_end(&machine);
}

/* Returns the coercions that a machine keeps in front of its faults. */
static const tcall_coercion *coercions_of(const tcall_machine *m, size_t *count)
{
    *count = m->coercion_count < TCALL_COERCIONS_ ? m->coercion_count
                                                  : TCALL_COERCIONS_;
    return (const tcall_coercion *)(const void *)m->faults - *count;
}

/* Whether two machines found the same, each in its text. */
static bool are_alike(const tcall_machine *a, const tcall_machine *b,
                      const char *text_of_a)
{
    size_t count;
    const tcall_coercion *one = coercions_of(a, &count);
    const tcall_coercion *other = coercions_of(b, &count);
    int i;
    bool alike = a->error == b->error && a->at == b->at && a->len == b->len &&
                 a->fault_count == b->fault_count &&
                 a->coercion_count == b->coercion_count &&
                 (!a->len || memcmp(text_of_a, b->text, a->len) == 0);
    for (i = 0; i < a->fault_count && i < TOOLCALL_MAX_FAULTS; i++)
        alike = alike && a->faults[i].keyword == b->faults[i].keyword &&
                a->faults[i].count == b->faults[i].count &&
                a->faults[i].at == b->faults[i].at &&
                a->faults[i].node == b->faults[i].node &&
                a->faults[i].row == b->faults[i].row &&
                a->faults[i].shape == b->faults[i].shape;
    for (i = 0; i < (int)count; i++)
        alike = alike && one[i].at == other[i].at &&
                one[i].how == other[i].how && one[i].name == other[i].name;
    return alike;
}

/* The same in memories that do, in pieces of three lengths, and whole: all must
 * agree. */
static int read_as(const tcall_target *target, const char *json, int how)
{
    static const size_t pieces[] = {1, 7, 1 << 20, 0};
    size_t len = strlen(json), at = 0;
    int i, r = 0;
    char *first = NULL;
    for (i = 0; i < 4; i++) {
        int now =
            read_into(target, json, len, pieces[i], how, len + 1, 1 << 14);
        CHECK(i == 0 || (now == r && machine.at == at));
        CHECK(i == 0 || now != TCALL_OK || strcmp(first, text) == 0);
        r = now;
        at = machine.at;
        if (!first)
            first = strcpy((char *)malloc(len + 2), now ? "" : text);
    }
    free(first);
    return r;
}

static tcall_schema schema;

static tcall_target compiled(const char *of)
{
    tcall_target target;
    memset(&target, 0, sizeof target);
    CHECK(tcall_schema_compile(&schema, tcall_str_of(of), block, sizeof block,
                               TCALL_DRAFT_2020) >= 0);
    target.node = schema.root;
    target.rows = &tcall_schema_rows;
    return target;
}

static int check(const char *of, const char *json, int how)
{
    tcall_target target = compiled(of);
    return read_as(&target, json, how);
}

static bool becomes(const char *json, const char *want)
{
    return read_as(NULL, json, 0) == TCALL_OK && strcmp(text, want) == 0 &&
           machine.len == strlen(want);
}

static void test_text(void)
{
    CHECK(becomes(" { \"a\" : [ 1 , -2.50e+3,true,false , null ] } \r\n",
                  "{\"a\":[1,-2.50e+3,true,false,null]}"));
    CHECK(becomes("\"\\u0041\\/\\u00e9\\ud83d\\ude00\"",
                  "\"A/\xC3\xA9\xF0\x9F\x98\x80\""));
    CHECK(becomes("\"\\u0000\\u000a\\t\\u001F\\u0022\\\\\\u005c\x7F\"",
                  "\"\\u0000\\n\\t\\u001f\\\"\\\\\\\\\x7F\""));
    CHECK(becomes("{\"\":{},\"\\u0061\":[]}", "{\"\":{},\"a\":[]}"));
    CHECK(becomes("0", "0") && becomes("-0.0", "-0.0") && becomes("[]", "[]"));
}

static void test_errors(void)
{
    static const struct {
        const char *json;
        int error;
    } cases[] = {
        {"", TCALL_E_TRUNCATED},
        {" ", TCALL_E_TRUNCATED},
        {"{\"a\":", TCALL_E_TRUNCATED},
        {"{\"a\"", TCALL_E_TRUNCATED},
        {"{\"a\":1", TCALL_E_TRUNCATED},
        {"[1", TCALL_E_TRUNCATED},
        {"[1]", TCALL_E_NOT_OBJECT},
        {"5", TCALL_E_NOT_OBJECT},
        {"\"abc\"", TCALL_E_NOT_OBJECT},
        {"\"[1]\"", TCALL_E_NOT_OBJECT},
        {"{\"a\":1,\"a\":2}", TCALL_E_DUPLICATE},
        {"{\"a\":1,\"b\":{\"x\":1,\"\\u0078\":2}}", TCALL_E_DUPLICATE},
        {"{\"a\":1e309}", TCALL_E_RANGE},
        {"{\"a\":-1.8e308}", TCALL_E_RANGE},
        {"{\"a\":1e308}", TCALL_OK},
        {"{\"a\":1e-999}", TCALL_OK},
        {"{\"a\":\"\\u0000\"}", TCALL_E_NUL},
        {"{\"\\u0000\":1}", TCALL_E_NUL},
        {"{\"a\":1,}", TCALL_E_BAD_KEY},
        {"{\"a\" 1}", TCALL_E_MISSING_COLON},
        {"{\"a\":1 \"b\":2}", TCALL_E_MISSING_COMMA},
        {"{\"a\":1]", TCALL_E_BRACKETS},
        {"{\"a\":tru}", TCALL_E_BAD_VALUE},
        {"{\"a\":01}", TCALL_E_MISSING_COMMA},
        {"{\"a\":1.}", TCALL_E_BAD_VALUE},
        {"{\"a\":\"\\x\"}", TCALL_E_BAD_ESCAPE},
        {"{\"a\":\"\\ud800\"}", TCALL_E_BAD_ESCAPE},
        {"{\"a\":\"\xC3\"}", TCALL_E_UTF8},
        {"{\"a\":\"\xC3", TCALL_E_TRUNCATED},
        {"{\"a\":\"\n\"}", TCALL_E_BAD_VALUE},
        {"{} {}", TCALL_E_TRAILING},
    };
    char deep[300];
    size_t i;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        int r = read_as(NULL, cases[i].json, FOR_C | OBJECT);
        if (r != cases[i].error)
            printf("%s: %s\n", cases[i].json, tcall_error_code(r));
        CHECK(r == cases[i].error);
    }
    memset(deep, '[', sizeof deep);
    deep[TOOLCALL_MAX_DEPTH + 1] = '\0';
    CHECK(read_as(NULL, deep, 0) == TCALL_E_DEPTH);
    deep[TOOLCALL_MAX_DEPTH] = '\0';
    CHECK(read_as(NULL, deep, 0) == TCALL_E_TRUNCATED);
    memset(deep + TOOLCALL_MAX_DEPTH, ']', TOOLCALL_MAX_DEPTH);
    deep[2 * TOOLCALL_MAX_DEPTH] = '\0';
    CHECK(read_as(NULL, deep, 0) == TCALL_OK);
}

/* A descriptor that cannot work is refused, and nothing is read. */
static void test_usage(void)
{
    static void *arena[64];
    static const tcall_node node = {TCALL_SHAPE_ANY, TCALL_KIND_ROWS_, 0, 0,
                                    NULL};
    char room[16];
    tcall_machine_desc desc;
    memset(&desc, 0, sizeof desc);
    CHECK(tcall_machine_init(&machine, &desc) == TCALL_E_USAGE);
    CHECK(tcall_machine_feed(&machine, "1", 1) == TCALL_E_USAGE);
    CHECK(tcall_machine_end(&machine) == TCALL_E_USAGE);
    desc.text = room;
    desc.size = sizeof room;
    desc.arena = arena;
    CHECK(tcall_machine_init(&machine, &desc) == TCALL_E_MEMORY);
    desc.arena_size = sizeof arena;
    CHECK(tcall_machine_init(&machine, &desc) == TCALL_OK);
    desc.target.node = &node; /* and nothing says what its rows do */
    CHECK(tcall_machine_init(&machine, &desc) == TCALL_E_USAGE);
    desc.target.node = NULL;
    desc.size = 0;
    CHECK(tcall_machine_init(&machine, &desc) == TCALL_E_MEMORY);
}

/* The fault i is of a keyword at a place in the checked text. */
static bool fault(int i, int keyword, size_t at)
{
    return machine.fault_count > i && machine.faults[i].keyword == keyword &&
           machine.faults[i].at == at;
}

static void test_faults(void)
{
    CHECK(check("{\"properties\":{\"a\":{\"maximum\":7},\"b\":{\"type\":"
                "\"string\",\"minLength\":2}},\"required\":[\"a\",\"c\"],"
                "\"additionalProperties\":false}",
                "{\"b\": \"\\u00e9\", \"a\": 8, \"z\": 1}",
                0) == TCALL_E_INVALID);
    CHECK(machine.fault_count == 4);
    CHECK(fault(0, TCALL_ON_MIN_LENGTH_, 5) && machine.faults[0].count == 1);
    CHECK(fault(1, TCALL_ON_MAXIMUM_, 14));
    CHECK(fault(2, TCALL_ON_TYPE_, 20) &&
          machine.faults[2].row->on == TCALL_ON_OTHERS_);
    CHECK(fault(3, TCALL_ON_REQUIRED_, 0) && machine.faults[3].count == 1);
    /* of alternatives the first fault of the one that came furthest counts */
    CHECK(check("{\"anyOf\":[{\"type\":\"string\"},{\"properties\":{\"a\":"
                "{\"properties\":{\"b\":{\"maximum\":5}}}}}]}",
                "{\"a\":{\"b\":9}}", 0) == TCALL_E_INVALID);
    CHECK(machine.fault_count == 1 && fault(0, TCALL_ON_MAXIMUM_, 10));
    CHECK(check("{\"items\":{\"type\":\"integer\"}}",
                "[1,\"a\",2.0,2.5,\"b\",\"c\",\"d\",\"e\"]",
                0) == TCALL_E_INVALID);
    CHECK(machine.fault_count == 6 && fault(3, TCALL_ON_TYPE_, 19));
    CHECK(check("{\"not\":{\"required\":[\"a\"]}}", "{\"a\":1}", 0) ==
          TCALL_E_INVALID);
    CHECK(check("{\"uniqueItems\":true}",
                "[{\"a\":1,\"b\":[2]},1,true,"
                "{\"b\":[2.0],\"a\":1}]",
                0) == TCALL_E_INVALID);
    CHECK(fault(0, TCALL_ON_UNIQUE_, 0) && machine.faults[0].count == 3);
    CHECK(check("{\"pattern\":\"^\\\\u00e9.\\n$\"}", "\"\\u00e9x\\n\"", 0) ==
          TCALL_OK);
}

/* What a member of {"a":...} becomes with its schema, NULL: it is refused. */
static bool coerced(const char *of, const char *value, const char *want)
{
    static char properties[500], json[500], object[500];
    int r;
    sprintf(properties, "{\"type\":\"object\",\"properties\":{\"a\":%s}}", of);
    sprintf(json, "{\"a\":%s}", value);
    sprintf(object, *want ? "{\"a\":%s}" : "{%s}", want);
    r = check(properties, json, ARGUMENTS);
    return r == TCALL_OK && strcmp(text, object) == 0;
}

static void test_coercion(void)
{
    static const char *const rows[][3] = {
        {"{\"type\":\"integer\"}", "\"5\"", "5"},
        {"{\"type\":\"integer\"}", "\"-5.0\"", "-5.0"},
        {"{\"type\":\"number\"}", "\"1e3\"", "1e3"},
        {"{\"type\":\"boolean\"}", "\"true\"", "true"},
        {"{\"type\":\"boolean\"}", "\"False\"", "false"},
        {"{\"type\":\"array\"}", "\"[1, \\\"a\\\\n\\\"]\"", "[1,\"a\\n\"]"},
        {"{\"type\":\"object\"}", "\"{\\\"x\\\" : {}}\"", "{\"x\":{}}"},
        {"{\"type\":\"object\"}", "\"\\u007b}\"", "{}"},
        {"{\"type\":\"integer\"}", "null", ""},
        {"{\"type\":[\"string\",\"integer\"]}", "\"5\"", "\"5\""},
        {"{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}", "\"5\"",
         "5"},
        {"{\"enum\":[5,6]}", "\"6\"", "6"},
        {"{\"enum\":[\"5\",6]}", "\"5\"", "\"5\""},
        {"{\"const\":true}", "\"true\"", "true"},
        {"{\"type\":\"string\"}", "\"[1]\"", "\"[1]\""},
    };
    static const char *const not_so[][2] = {
        {"{\"type\":\"integer\"}", "\" 5\""},
        {"{\"type\":\"integer\"}", "\"5 \""},
        {"{\"type\":\"integer\"}", "\"05\""},
        {"{\"type\":\"integer\"}", "\"5.5\""},
        {"{\"type\":\"integer\"}", "\"1e3\""},
        {"{\"type\":\"number\"}", "\"1e999\""},
        {"{\"type\":\"boolean\"}", "\"TRUE\""},
        {"{\"type\":\"boolean\"}", "\"\""},
        {"{\"type\":\"null\"}", "\"null\""},
        {"{\"type\":\"integer\"}", "\"{}\""},
        {"{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}",
         "\"[\\\"5\\\"]\""},
        {"{\"type\":\"array\"}", "\"[1\""},
        {"{\"type\":\"array\"}", "\"[1] 2\""},
        {"{\"type\":\"integer\",\"maximum\":4}", "\"5\""},
        {"{\"enum\":[5,\"x\"]}", "\"7\""},
    };
    size_t i, count;
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!coerced(rows[i][0], rows[i][1], rows[i][2]))
            check_fails(__FILE__, __LINE__, rows[i][1]);
    for (i = 0; i < sizeof not_so / sizeof *not_so; i++)
        if (coerced(not_so[i][0], not_so[i][1], "") ||
            machine.error != TCALL_E_INVALID)
            check_fails(__FILE__, __LINE__, not_so[i][1]);
    /* a whole object as a string is for who reads arguments leniently */
    CHECK(check("{\"type\":\"object\",\"required\":[\"a\"],\"properties\":"
                "{\"a\":{\"type\":\"integer\"}}}",
                "\"{\\\"a\\\":5}\"", ARGUMENTS) == TCALL_E_NOT_OBJECT);
    CHECK(read_as(NULL, "\"{\\\"a\\\":5}\"", ARGUMENTS) == TCALL_E_NOT_OBJECT);
    /* null: of what only branches know, and require; of what one place knows
     * and another requires */
    CHECK(check("{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"integer\"}}}]}",
                "{\"a\":null}", ARGUMENTS) == TCALL_OK &&
          strcmp(text, "{}") == 0);
    CHECK(check("{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"integer\"}},"
                "\"required\":[\"a\"]}]}",
                "{\"a\":null}", ARGUMENTS) == TCALL_E_INVALID &&
          strcmp(text, "{\"a\":null}") == 0);
    CHECK(
        check(
            "{\"properties\":{\"a\":{\"type\":\"integer\"}},\"anyOf\":["
            "{\"properties\":{\"a\":{\"maximum\":3}},\"required\":[\"a\"]},{}]}",
            "{\"a\":null}", ARGUMENTS) == TCALL_OK &&
        strcmp(text, "{}") == 0);
    CHECK(check("{\"properties\":{\"a\":{\"type\":\"integer\"}},"
                "\"allOf\":[{\"required\":[\"a\"]}]}",
                "{\"a\":null}", ARGUMENTS) == TCALL_E_INVALID &&
          fault(0, TCALL_ON_REQUIRED_, 0));
    /* null: required in one place, a name that stays free for another value */
    CHECK(check("{\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":"
                "\"integer\"}}}",
                "{\"a\":null}", ARGUMENTS) == TCALL_E_INVALID);
    CHECK(machine.faults[0].keyword == TCALL_ON_TYPE_);
    CHECK(check("{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{}}}",
                "{\"b\":1,\"a\":null,\"c\":2}", ARGUMENTS) == TCALL_OK);
    CHECK(strcmp(text, "{\"b\":1,\"c\":2}") == 0 &&
          coercions_of(&machine, &count)->how == TCALL_COERCED_ABSENT_ &&
          count == 1);
    CHECK(check("{\"properties\":{\"a\":{\"type\":\"integer\"}}}",
                "{\"a\":null,\"a\":\"7\"}", ARGUMENTS) == TCALL_OK);
    CHECK(strcmp(text, "{\"a\":7}") == 0);
    CHECK(check("{\"properties\":{\"b\":{},\"a\":{\"type\":\"integer\"}}}",
                "{\"a\":null,\"a\":\"7\"}", ARGUMENTS) == TCALL_OK);
    CHECK(strcmp(text, "{\"a\":7}") == 0);
}

/* What takes too many steps is refused; what is large is not. */
static void test_large(void)
{
    static char json[200000], of[300000];
    size_t len = 0, n = 0;
    int i;
    tcall_target target;
    static char large[1 << 19];
    len = (size_t)sprintf(json, "{");
    n = (size_t)sprintf(of, "{\"required\":[");
    for (i = 0; i < 2000; i++)
        n += (size_t)sprintf(of + n, "%s\"name%d\"", i ? "," : "", i);
    n += (size_t)sprintf(of + n, "],\"properties\":{");
    for (i = 0; i < 2000; i++) {
        n += (size_t)sprintf(of + n, "%s\"name%d\":{}", i ? "," : "", i);
        len += (size_t)sprintf(json + len, "%s\"name%d\":%d", i ? "," : "",
                               1999 - i, i);
    }
    sprintf(json + len, "}");
    sprintf(of + n, "},\"additionalProperties\":false}");
    memset(&target, 0, sizeof target);
    CHECK(tcall_schema_compile(&schema, tcall_str_of(of), large, sizeof large,
                               TCALL_DRAFT_2020) >= 0);
    target.node = schema.root;
    target.rows = &tcall_schema_rows;
    CHECK(read_into(&target, json, len + 1, len, 0, len + 2, 1 << 16) ==
          TCALL_OK);
    /* two alike far apart, whatever the arena: found, or it is too small */
    len += (size_t)sprintf(json + len, ",\"name1500\":0}");
    for (n = 64; n < (1 << 16); n *= 2) {
        int r = read_into(NULL, json, len, len, 0, len + 1, n);
        CHECK(r == TCALL_E_DUPLICATE || r == TCALL_E_MEMORY ||
              r == TCALL_E_BUDGET);
        CHECK(n < 4096 || r == TCALL_E_DUPLICATE);
    }
    /* one of the keywords whose cost is a product */
    target = compiled("{\"items\":{\"enum\":[[1,2,3,4,5,6,7,8,9,10,11,12,13,"
                      "14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29]]}}");
    for (i = 0, len = (size_t)sprintf(json, "["); i < 2000; i++)
        len += (size_t)sprintf(json + len,
                               "%s[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,"
                               "18,19,20,21,22,23,24,25,26,27,28,29]",
                               i ? "," : "");
    len += (size_t)sprintf(json + len, "]");
    CHECK(len < sizeof json);
    CHECK(read_into(&target, json, len, len, 0, len + 1, 1 << 14) == TCALL_OK);
}

/* ---- memories ---- */

static const char *const programs[][2] = {
    {"true", "1"},
    {"false", "1"},
    {"{\"type\":\"object\"}", "{\"a\":{\"b\":[1,2,{\"c\":null}]}}"},
    {"{\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"]}",
     "{\"a\":1,\"b\":2}"},
    {"{\"properties\":{\"a\":{\"type\":\"integer\"}}}", "{\"a\":\"15\"}"},
    {"{\"properties\":{\"a\":{\"type\":\"object\"}}}",
     "{\"a\":\"{\\\"x\\\":[1,2]}\"}"},
    {"{\"properties\":{\"a\":{\"type\":\"integer\"}}}", "{\"a\":null}"},
    {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":"
     "{\"maximum\":3}}]}",
     "[1,2,3]"},
    {"{\"oneOf\":[{\"minimum\":3},{\"maximum\":5}]}", "4"},
    {"{\"allOf\":[{\"minimum\":3},{\"not\":{\"maximum\":5}}]}", "7"},
    {"{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]},\"else\":"
     "{\"required\":[\"c\"]}}",
     "{\"a\":1}"},
    {"{\"contains\":{\"const\":2},\"minContains\":2}", "[2,1,2]"},
    {"{\"dependentSchemas\":{\"a\":{\"required\":[\"b\"]}}}",
     "{\"a\":1,\"b\":2}"},
    {"{\"dependentRequired\":{\"a\":[\"b\",\"c\"]}}", "{\"a\":1,\"b\":2}"},
    {"{\"patternProperties\":{\"^a+$\":{\"type\":\"string\"}}}",
     "{\"aa\":\"x\",\"b\":1}"},
    {"{\"propertyNames\":{\"maxLength\":2}}", "{\"ab\":1,\"abc\":2}"},
    {"{\"prefixItems\":[{\"const\":1}],\"items\":{\"const\":[2]}}",
     "[1,[2],[2]]"},
    {"{\"uniqueItems\":true}", "[1,\"1\",[1],{\"a\":1},{\"a\":[1]},true]"},
    {"{\"uniqueItems\":true}", "[{\"a\":[1,{}]},{\"a\":[1,{}]}]"},
    {"{\"enum\":[{\"a\":[1,2,{\"b\":[]}]}]}", "{\"a\":[1,2,{\"b\":[]}]}"},
    {"{\"pattern\":\"(a|b)+c{2,3}$\"}", "\"ababcc\""},
    {"{\"$ref\":\"#/$defs/x\",\"$defs\":{\"x\":{\"items\":{\"$ref\":"
     "\"#/$defs/x\"}}}}",
     "[[[[]]],[]]"},
    {"{\"additionalProperties\":{\"multipleOf\":0.01}}",
     "{\"k1\":19.99,\"k2\":1e2,\"k3\":0.001}"},
    {"{}", "{\"n1\":1,\"n2\":2,\"n3\":3,\"n4\":4,\"n5\":5,\"n6\":6,\"n7\":7,"
           "\"n8\":8,\"n9\":9}"},
};

/* With each byte less there is the same verdict, or that memory is short; it is
 * never the wrong one, and with all of it it is right. */
static void test_memories(void)
{
    size_t i, size;
    int how;
    for (i = 0; i < sizeof programs / sizeof *programs; i++)
        for (how = 0; how < 8; how += COERCE) {
            const char *json = programs[i][1];
            size_t len = strlen(json);
            tcall_target target = compiled(programs[i][0]);
            int want = read_into(&target, json, len, 3, how, len + 1, 4096);
            CHECK(want == TCALL_OK || want == TCALL_E_INVALID ||
                  want == TCALL_E_NOT_OBJECT);
            for (size = 0; size <= len; size++) {
                int r = read_into(&target, json, len, 3, how, size, 4096);
                CHECK(r == want || r == TCALL_E_MEMORY);
            }
            for (size = 0; size < 1500; size += 1 + size % 7) {
                int r = read_into(&target, json, len, 3, how, len + 1, size);
                CHECK(r == want || r == TCALL_E_MEMORY || r == TCALL_E_BUDGET);
            }
#ifndef TEST_LINKED /* what a call asks its block for */
            read_into(&target, json, len, 3, how, len + 1, 4096);
            size = tcall_machine_used_(&machine);
            CHECK(size < 4096 || strstr(programs[i][0], "unique"));
            CHECK(read_into(&target, json, len, 3, how, len + 1, size) == want);
#endif
        }
}

/* Names that are required and no properties: in the order in which they come,
 * and with one that does not. */
static void test_required(void)
{
    static char of[60000], json[60000];
    static char nodes[1 << 12];
    tcall_target target;
    size_t i, at = 0, to = 0;
    to = (size_t)sprintf(of, "{\"required\":[");
    at = (size_t)sprintf(json, "{");
    for (i = 0; i < 4000; i++) {
        to += (size_t)sprintf(of + to, "\"n%d\",", (int)i);
        at += (size_t)sprintf(json + at, "\"n%d\":0,", (int)i);
    }
    sprintf(of + to, "\"n0\"]}");
    strcpy(json + at - 1, "}");
    memset(&target, 0, sizeof target);
    CHECK(tcall_schema_compile(&schema, tcall_str_of(of), nodes, sizeof nodes,
                               TCALL_DRAFT_2020) >= 0);
    target.node = schema.root;
    target.rows = &tcall_schema_rows;
    CHECK(read_into(&target, json, at, 9999, 0, at + 1, 1 << 17) == TCALL_OK);
    json[2] = 'x';
    CHECK(read_into(&target, json, at, 9999, 0, at + 1, 1 << 17) ==
          TCALL_E_INVALID);
    CHECK(machine.fault_count == 2 && machine.faults[0].count == 0);
}

/* ---- a text that lies whole ---- */

/* Whether a text is read alike in one piece and whole, where an arena of this
 * size does for the first. */
static bool is_whole(const tcall_target *target, const char *json, size_t len,
                     int how, size_t arena_size)
{
    char copy[600] = "";
    tcall_machine fed;
    read_into(target, json, len, len + 1, how, len + 1, arena_size);
    fed = machine;
    memcpy(copy, text, len + 1);
    read_into(target, json, len, 0, how, len + 1, arena_size);
    return are_alike(&fed, &machine, copy);
}

/* Random slips in the programs above and in what jsmn lets pass. */
static void test_whole(void)
{
    static const char *const odd[] = {"{\"a\":1:2}",
                                      "[1:2]",
                                      "[\"a\":1]",
                                      "{\"a\",\"b\":1}",
                                      "{\"a\"}",
                                      "{\"a\":1 \"b\":2}",
                                      "{\"a\":1,,\"b\":2}",
                                      "[1,]",
                                      "[,1]",
                                      "{,}",
                                      "{\"a\":[]:1}",
                                      "[[]:1]",
                                      "{\"a\":{}}[]",
                                      "{}{}",
                                      "[1 2]",
                                      "{\"a\":1}]",
                                      "{\"a\" \"b\"}",
                                      "{:1}",
                                      "{\"a\"::1}",
                                      "[nul,t,-,01,1.,1e,--1]",
                                      "{\"a\":\"\x01\"}",
                                      "{\"a\":\"\\ud800\"}",
                                      "{\"a\":\"\xC3\"}",
                                      "{\"\\u0061\" : [ \"\\n\" , {} ] } "};
    static const char slips[] = "{}[]\",:0e-.tn\\ u\x01\xC3";
    uint32_t seed = 1;
    size_t i, k, count = sizeof programs / sizeof *programs;
#if defined TOOLCALL_JSMN && !defined TEST_LINKED
    CHECK(is_whole(NULL, "{\"a\":[1]}", 9, 0, 4096));
    CHECK((void *)machine.slot != machine.is->arena); /* behind the tokens */
#endif
    for (i = 0; i < sizeof odd / sizeof *odd; i++)
        CHECK(is_whole(NULL, odd[i], strlen(odd[i]), OBJECT, 4096));
    for (i = 0; i < 60 * count; i++) {
        char json[500];
        tcall_target target = compiled(programs[i % count][0]);
        size_t len = strlen(programs[i % count][1]);
        memcpy(json, programs[i % count][1], len + 1);
        for (k = i / count % 4; k && len; k--) {
            seed = seed * 1664525 + 1013904223;
            json[(seed >> 8) % len] = slips[(seed >> 24) % sizeof slips];
        }
        CHECK(is_whole(&target, json, len, (int)(i & ARGUMENTS), 4096));
        CHECK(is_whole(&target, json, len, (int)(i & ARGUMENTS), i % 1500));
    }
}

/* ---- shapes ---- */

#define UNIT(WORD, me) WORD(me, celsius) WORD(me, kelvin) WORD(me, kelvins)
TCALL_CHOICE(unit, UNIT)
#define SPAN(WORD, me)       \
    WORD(me, hour, "1 hour") \
    WORD(me, none, "") WORD(me, e, "\xC3\xA9") WORD(me, quoted, "a\"b\\")
TCALL_CHOICE_AS(span, SPAN)
#define LIMIT(ROW, me)                                            \
    ROW(me, required, fixed(1, -40, 125.5), value, "Temperature") \
    ROW(me, optional, or_null(boolean), above, "Or below")
TCALL_SHAPE(limit, LIMIT)
TCALL_LIST(limits, object(limit), 1, 3)
TCALL_LIST(row, integer(-9, 9), 0, 3)
TCALL_LIST(rows, list(row), 0, 2)
TCALL_LIST(nulls, or_null(integer(-9, 9)), 1, 3)
TCALL_OPEN_LIST(names, text(0, 4), 0, 2)
#define INNER(ROW, me) ROW(me, defaults(7), integer(0, 9), depth, "Deep")
TCALL_OPEN_SHAPE(inner, INNER)
#define ALL(ROW, me)                                                        \
    ROW(me, required, text(1, 8), city, "Where")                            \
    ROW(me, optional, choice(unit), unit, "Unit")                           \
    ROW(me, defaults(3), integer(-5, 7), days, "Days")                      \
    ROW(me, optional, list(limits), limits, "Limits")                       \
    ROW(me, optional, list(rows), rows, "Lists of lists")                   \
    ROW(me, optional, list(nulls), nulls, "Numbers or null")                \
    ROW(me, optional, characters(2, 3), letters, "Letters")                 \
    ROW(me, optional, string(0, 5), note, "Note")                           \
    ROW(me, optional, json(12), any, "Anything")                            \
    ROW(me, optional, one_of(TCALL_SHAPE_INTEGER | TCALL_SHAPE_STRING, 9),  \
        some, "Some")                                                       \
    ROW(me, optional, or_null(integer(INT32_MIN, INT32_MAX)), whole, "")    \
    ROW(me, optional, or_null(text(0, 3)), short_one, "")                   \
    ROW(me, optional, named("a \"name\"", choice(span)), span, "Time")      \
    ROW(me, optional, object(inner), inner, "Inside")                       \
    ROW(me, optional, list(names), names, "Names")                          \
    ROW(me, optional, integer64(-5000000000, INT64_MAX), wide, "")          \
    ROW(me, optional, integer64(-5, 700), narrow, "")                       \
    ROW(me, optional, number(-1.5, 2.5), number, "")                        \
    ROW(me, optional, over(under(number(0, 100))), between, "")             \
    ROW(me, optional, number(TCALL_NO_MINIMUM, TCALL_NO_MAXIMUM), free_one, \
        "")                                                                 \
    ROW(me, optional, boolean, yes, "")                                     \
    ROW(me, optional, fixed(6, -1, 1), micro, "Small")
TCALL_SHAPE(all, ALL)

static struct all out, beside;

/* The members, each with values that it takes, mostly. */
static const char *const members[][7] = {
    {"city", "\"Oslo\"", "\"x\"", "\"\\u00e9\"", "\"12345678\"", "\"\"",
     "\"123456789\""},
    {"unit", "\"kelvin\"", "\"celsius\"", "\"k\\u0065lvins\"", "\"kelvi\"",
     "\"kelvinss\"", "\"kel\\u0000\""},
    {"days", "1", "-5", "7", "3.0", "8", "3.5"},
    {"limits", "[{\"value\":1.5}]", "[{\"above\":null,\"value\":-40}]",
     "[{\"value\":0},{\"value\":0},{\"value\":0.05}]", "[]", "[{},{}]",
     "[{\"value\":1},{\"value\":1},{\"value\":1},{\"value\":1},2]"},
    {"rows", "[[1,2],[3]]", "[]", "[[],[]]", "[[9]]", "[[1,2,3,4]]",
     "[[1],[],[]]"},
    {"nulls", "[null,1]", "[null]", "[2,null,null]", "[]", "null", "[10]"},
    {"letters", "\"ab\"", "\"\xC3\xA9\xC3\xA9\"", "\"\xF0\x9F\x98\x80z\"",
     "\"a\\nb\"", "\"a\"", "\"abcd\""},
    {"note", "\"\"", "\"12345\"", "\"\\\"\"", "\"123456\"", "\"a\\u0000b\"",
     "1"},
    {"any", "{\"a\":[1]}", "null", "\"x\"", "12", "[1,2,3,4,5,6]", "true"},
    {"some", "5", "\"abc\"", "-5", "1e2", "1.5", "\"abcdefgh\""},
    {"whole", "null", "5", "-2147483648", "2147483647", "2147483648", "1e30"},
    {"short_one", "null", "\"abc\"", "\"\"", "\"a\"", "\"abcd\"", "{}"},
    {"a \\\"name\\\"", "\"1 hour\"", "\"\"", "\"\\u00e9\"", "\"a\\\"b\\\\\"",
     "\"2 hours\"", "null"},
    {"inner", "{}", "{\"depth\":3}", "{\"x\":1,\"depth\":9}",
     "{\"y\":{\"depth\":[1]}}", "{\"depth\":10}", "[]"},
    {"names", "[\"a\",\"b\"]", "[]", "[\"abcd\"]", "[\"\"]",
     "[\"a\",\"b\",\"c\"]", "[\"abcde\"]"},
    {"wide", "9223372036854775807", "-5000000000", "1e9", "5",
     "9223372036854775808", "-5000000001"},
    {"narrow", "1", "-5", "7e2", "699", "701", "-6"},
    {"number", "-1.5", "2.5", "0.1", "1e-5", "2.5000001", "-2"},
    {"between", "0.001", "99.9", "1e1", "50", "0", "100.0"},
    {"free_one", "1e300", "-1e-300", "0.1", "1e40", "1e400", "1e-400"},
    {"yes", "true", "false", "true", "false", "\"true\"", "null"},
    {"micro", "0.000001", "-1", "1", "0.1234567", "1.0000001", "\"1\""},
    {"unknown", "1", "{\"city\":\"x\"}", "[[]]", "null", "\"\\\\\"", "0"},
};

static uint32_t seed = 1;

static unsigned dice(unsigned sides)
{
    seed = seed * 1664525u + 1013904223u;
    return (unsigned)(seed >> 16) % sides;
}

/* Makes an object of some members (JSON texts, 8 and 9, without escapes: the
 * machine keeps them as checked text), now and then with a value that is wrong,
 * or cut off. Returns its length. */
static size_t make_line(char *to, bool wrong)
{
    unsigned count = sizeof members / sizeof *members - 1, i = dice(count);
    unsigned left = dice(count);
    size_t len = (size_t)sprintf(to, "{\"city\":%s", members[0][1 + dice(4)]);
    for (; left; left--, i = i + 1 < count ? i + 1 : 0) {
        unsigned value = 1 + dice(4);
        if (!i)
            continue;
        if (wrong && dice(8) == 0)
            value = 5 + dice(2);
        len += (size_t)sprintf(to + len, ",\"%s\":%s", members[i][0],
                               members[i][value]);
    }
    if (wrong && dice(4) == 0) {
        i = dice(count + 1);
        len += (size_t)sprintf(
            to + len, ",\"%s\":%s", members[i][0],
            members[i == 8 || i == 9 ? i : dice(count)][1 + dice(6)]);
    }
    len += (size_t)sprintf(to + len, "}");
    return wrong && dice(12) == 0 ? dice((unsigned)len) : len;
}

/* The keyword of a misfit. */
static int keyword_of(int code)
{
#define TCALL_ON_UNKNOWN_ TCALL_ON_OTHERS_
    static const uint8_t keywords[] = {0,
#define X(NAME, keyword, wrong, remedy) TCALL_ON_##NAME##_,
                                       TCALL_MISFITS(X)
#undef X
    };
    return keywords[code];
}

static tcall_decoder decoder;

/* The decoder and the machine must agree: verdict, faults, bytes. */
static bool agree(const char *json, size_t len, size_t piece)
{
    tcall_target target;
    size_t at;
    int want, r, i;
    memset(&target, 0, sizeof target);
    target.object = &all_shape;
    target.rows = &tcall_shape_rows;
    target.out = &out;
    memset(&out, 0x5A, sizeof out);
    memset(&beside, 0x5A, sizeof beside);
    r = read_into(&target, json, len, piece, 0, len + 1, 2048);
    tcall_decoder_init(&decoder, &all_shape, &beside);
    for (at = 0; at < len; at += piece)
        tcall_decoder_feed(&decoder, json + at,
                           len - at < piece ? len - at : piece);
    want = tcall_decoder_end(&decoder);
    if (r != want)
        return false;
    if (r == TCALL_OK)
        return memcmp(&out, &beside, sizeof out) == 0;
    if (machine.fault_count != decoder.misfit_count)
        return false;
    for (i = 0; i < machine.fault_count && i < TOOLCALL_MAX_FAULTS; i++)
        if (machine.faults[i].keyword != keyword_of(decoder.misfits[i].code))
            return false;
    return true;
}

static void test_shapes(void)
{
    static const size_t pieces[] = {1, 7, 1 << 20};
    static char line[4096];
    int i;
    for (i = 0; i < 6000; i += CHECK_EVERY) {
        size_t len = make_line(line, i & 1);
        if (!agree(line, len, pieces[i % 3])) {
            printf("%.*s\n", (int)len, line);
            check_fails(__FILE__, __LINE__, "decoder and machine agree");
        } else {
            check_passed++;
        }
    }
}

/* What the machine does with a struct that the decoder does not. */
static void test_struct(void)
{
    tcall_target target;
    memset(&target, 0, sizeof target);
    target.object = &all_shape;
    target.rows = &tcall_shape_rows;
    target.out = &out;
    CHECK(read_as(&target,
                  "{\"city\":\"x\",\"days\":\"6\",\"narrow\":null,\"yes\":"
                  "\"True\",\"rows\":\"[[1],[2, 3]]\",\"whole\":null,"
                  "\"any\" : [ 1 , 2 ]}",
                  ARGUMENTS) == TCALL_OK);
    CHECK(strcmp(text, "{\"city\":\"x\",\"days\":6,\"yes\":true,\"rows\":"
                       "[[1],[2,3]],\"whole\":null,\"any\":[1,2]}") == 0);
    CHECK(out.days == 6 && out.yes && out.rows.items[1].items[1] == 3 &&
          strcmp(out.any, "[1,2]") == 0);
    CHECK(!TCALL_CAME(&out, all, narrow) && TCALL_CAME(&out, all, whole) &&
          !TCALL_GIVEN(&out, all, whole) && machine.coercion_count == 4);
    /* an object in a string is read where it stands */
    CHECK(read_as(&target,
                  "{\"city\":\"x\",\"inner\":\"{\\\"zz\\\":[1],"
                  "\\\"depth\\\":2}\",\"limits\":\"[{\\\"value\\\":1.5,"
                  "\\\"above\\\":true}]\"}",
                  ARGUMENTS) == TCALL_OK);
    CHECK(out.inner.depth == 2 && out.limits.items[0].value == 15 &&
          out.limits.items[0].above && machine.coercion_count == 2);
    CHECK(read_as(&target, "{\"city\":null}", ARGUMENTS) == TCALL_E_INVALID);
    CHECK(fault(0, TCALL_ON_TYPE_, 8) && machine.faults[0].shape &&
          !machine.faults[0].node);
    CHECK(read_as(&target, "{\"days\":1,\"zzz\":2}", 0) == TCALL_E_INVALID);
    CHECK(fault(0, TCALL_ON_OTHERS_, 10) && fault(1, TCALL_ON_REQUIRED_, 0) &&
          machine.faults[1].count == 0 &&
          machine.faults[1].shape == &all_shape);
}

/* ---- a schema, a line feed, a text ---- */

/* Whatever comes, pieces and memories change no verdict, unless they are short;
 * what was accepted is accepted again, and stays as it is. */
static bool holds(const char *both, size_t len)
{
    static char first[1000];
    const char *feed = (const char *)memchr(both, '\n', len);
    size_t in = feed ? (size_t)(feed - both) : 0, of = len - in - 1, size;
    const char *json = both + in + 1;
    int how = len % 2 ? COERCE : 0, want, r;
    tcall_target target;
    tcall_str given;
    given.ptr = both;
    given.len = in;
    memset(&target, 0, sizeof target);
    if (!feed || of >= sizeof first ||
        tcall_schema_compile(&schema, given, block, sizeof block,
                             TCALL_DRAFT_2020) < 0)
        return true;
    target.node = schema.root;
    target.rows = &tcall_schema_rows;
    want = read_into(&target, json, of, of + 1, how, of + 1, 1 << 14);
    strcpy(first, want ? "" : text);
    for (size = 0; size < 1200; size += 97) {
        r = read_into(&target, json, of, 1 + size % 5, how,
                      size % 2 ? of + 1 : size, size % 3 ? 1200 : size);
        if (r != want && r != TCALL_E_MEMORY && r != TCALL_E_BUDGET)
            return false;
    }
    if (want)
        return true;
    in = strlen(first);
    return read_into(&target, first, in, 2, 0, in + 1, 1 << 14) == TCALL_OK &&
           strcmp(text, first) == 0;
}

static const char *const pairs[] = {
    "{\"anyOf\":[{\"type\":\"string\"},{\"items\":{\"maximum\":3}}]}\n[1,2]",
    "{\"properties\":{\"a\":{\"type\":\"integer\"}}}\n{\"a\":\"5\",\"b\":null}",
    "{\"uniqueItems\":true,\"contains\":{\"enum\":[1,\"x\"]}}\n[1,2.0,\"x\"]",
    "{\"if\":{\"required\":[\"a\"]},\"then\":{\"maxProperties\":1},\"else\":"
    "{\"propertyNames\":{\"pattern\":\"^b\"}}}\n{\"b\":\"\\u00e9\\n\"}",
    "{\"oneOf\":[{\"multipleOf\":0.1},{\"const\":{\"a\":[1]}}],\"not\":{"
    "\"type\":\"null\"}}\n{\"a\":[1.0]}",
    "{\"$ref\":\"#/$defs/x\",\"$defs\":{\"x\":{\"items\":{\"$ref\":"
    "\"#/$defs/x\"},\"type\":\"array\"}}}\n[[],\"[[]]\"]",
};

FUZZ(pairs, (void)0, holds)

static void test_pairs(void)
{
    size_t i;
    for (i = 0; i < sizeof pairs / sizeof *pairs; i++)
        CHECK(holds(pairs[i], strlen(pairs[i])));
}

int main(void)
{
    test_pairs();
    test_text();
    test_errors();
    test_usage();
    test_faults();
    test_coercion();
    test_large();
    test_memories();
    test_required();
    test_whole();
    test_shapes();
    test_struct();
    free(text);
    return check_sum("machine");
}
