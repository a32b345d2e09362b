/* Compiling schemas to nodes: what is refused and in which words, how much
 * memory it takes, what grows, and random bytes as schemas. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include <float.h>
#include <limits.h>
#include <string.h>

#include "../src/rows.c"
#include "../src/say.c"
#endif

#include "check.h"
#include "fuzz.h"

/* Schemas that are taken: each has something of its own. */
static const char *const schemas[] = {
    "true",
    " false ",
    "{}",
    "{\"type\":\"integer\"}",
    "{\"type\":[\"string\",\"null\"],\"minLength\":3}",
    "{\"minimum\":-3,\"exclusiveMaximum\":1e400,\"multipleOf\":0.01}",
    "{\"maximum\":32767,\"exclusiveMinimum\":-32768.0}",
    "{\"minItems\":0,\"maxItems\":99999999999999999999,\"uniqueItems\":true}",
    "{\"uniqueItems\":false}",
    "{\"enum\":[]}",
    "{\"enum\":[1,\"a\",{\"x\":[1,2.0]}],\"const\":{\"a\":[]}}",
    "{\"properties\":{}}",
    "{\"properties\":{\"a\":true,\"b\":{\"type\":\"null\"}},\"required\":[\"b\"]}",
    "{\"properties\":{\"a\":{}},\"required\":[\"a\",\"z\",\"a\"],"
    "\"additionalProperties\":false}",
    "{\"required\":[]}",
    "{\"allOf\":[{\"minimum\":3},true]}",
    "{\"anyOf\":[{\"type\":\"string\"},{\"maximum\":7}],\"oneOf\":[{}]}",
    "{\"not\":{\"not\":{\"not\":false}}}",
    "{\"if\":{\"const\":1},\"then\":{\"type\":\"integer\"},\"else\":false}",
    "{\"else\":{\"minimum\":1},\"if\":{},\"title\":\"x\"}",
    "{\"then\":{\"$ref\":\"#/else\"},\"else\":{\"minLength\":2}}",
    "{\"items\":{\"items\":{\"items\":{\"type\":\"number\"}}}}",
    "{\"prefixItems\":[{},{\"type\":\"string\"}],\"items\":false}",
    "{\"contains\":{\"const\":1},\"minContains\":0,\"maxContains\":2}",
    "{\"propertyNames\":{\"maxLength\":4}}",
    "{\"dependentRequired\":{\"a\":[\"b\"],\"c\":[]}}",
    "{\"dependentSchemas\":{\"a\":{\"required\":[\"b\"]}}}",
    "{\"dependencies\":{\"a\":[\"b\"],\"c\":{\"minProperties\":2}}}",
    "{\"dependencies\":{}}",
    "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"type\":\"string\"}}}",
    "{\"properties\":{\"kids\":{\"items\":{\"$ref\":\"#\"}}}}",
    "{\"$ref\":\"#/$defs/a~1~0b%25\",\"$defs\":{\"a/~b%\":{\"items\":"
    "{\"$ref\":\"#\"}}}}",
    "{\"allOf\":[{\"$ref\":\"#/allOf/1\"},{\"minimum\":3}]}",
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"items\":[{},"
    "{\"$ref\":\"#/items/0\"}],\"additionalItems\":{\"type\":\"null\"}}",
    "{\"additionalItems\":{\"$ref\":\"#/items\"},\"items\":{},"
    "\"$schema\":\"http://json-schema.org/draft-06/schema\"}",
    "{\"$schema\":\"http://json-schema.org/draft-04/schema#\",\"id\":\"x\","
    "\"definitions\":{\"a\":{\"id\":\"#b\"}}}",
    "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\","
    "\"dependencies\":{\"a\":true},\"dependentSchemas\":{\"b\":true},"
    "\"dependentRequired\":{\"c\":[]}}",
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$ref\":"
    "\"#/definitions/a\",\"definitions\":{\"a\":{}},\"properties\":{}}",
    "{\"$id\":\"http://x/y\",\"$anchor\":\"here\",\"$comment\":\"no\"}",
    "{\"$defs\":{\"unused\":{\"properties\":{\"a\":{\"type\":\"array\"}}}}}",
    "{\"nullable\":true,\"format\":\"date\",\"default\":{\"type\":5},"
    "\"x-mine\":[{\"type\":\"dict\"}],\"examples\":[1]}",
    "{\"properties\":{\"\\u00e9\":{},\"\xC3\xA9\xF0\x9F\x98\x80\":{},"
    "\"a\\\"b\":{},\"\":{}},\"required\":[\"\xC3\xA9\",\"\"]}",
    "{\"properties\":{\"type\":{\"type\":\"string\"},\"$ref\":{},"
    "\"required\":{\"const\":0}}}",
    "{\"properties\":{\"a\":{\"$ref\":\"#/properties/b\"},\"b\":{\"$ref\":"
    "\"#/properties/c\"},\"c\":{\"type\":\"string\"}}}",
    "{\"properties\":{\"c\":{\"type\":\"string\"},\"b\":{\"$ref\":"
    "\"#/properties/c\"},\"a\":{\"$ref\":\"#/properties/b\"}}}",
    "{\"properties\":{\"p01\":{},\"p02\":{},\"p03\":{},\"p04\":{},\"p05\":{},"
    "\"p06\":{},\"p07\":{},\"p08\":{},\"p09\":{},\"p10\":{},\"p11\":{},"
    "\"p12\":{},\"p13\":{},\"p14\":{},\"p15\":{},\"p16\":{},\"p17\":{}},"
    "\"required\":[\"p17\",\"p01\"],\"items\":{\"$ref\":\"#/properties/p17\"}}",
    "\t{ \"type\" : \"object\" ,\n \"properties\" : { \"a\" : { } } } \r\n",
    "{\"oneOf\":[{\"anyOf\":[{\"allOf\":[{\"not\":{\"$ref\":\"#/$defs/a\"}}]}]}],"
    "\"$defs\":{\"a\":{\"minimum\":1},\"b\":false}}",
    "{\"definitions\":{\"a\":{\"definitions\":{\"b\":{\"type\":\"null\"}}}},"
    "\"items\":{\"$ref\":\"#/definitions/a/definitions/b\"}}",
    "{\"items\":{\"$ref\":\"#/if\"},\"if\":{\"minItems\":1},\"then\":{\"$ref\":"
    "\"#/contains\"},\"contains\":{\"$ref\":\"#/propertyNames\"},"
    "\"propertyNames\":{\"maxLength\":3}}",
    "{\"maxLength\":0,\"minLength\":1e2,\"maximum\":1E-400,\"minimum\":-0}",
    "{\"const\":\"\\ud83d\\ude00\",\"enum\":[[[[[]]]],null]}",
    "{\"description\":\"a } ] \\\" b\",\"title\":\"\\\\\",\"type\":\"string\"}",
    "{\"$schema\":\"http://json-schema.org/draft-07/schema\",\"dependencies\":"
    "{\"a\":{\"$ref\":\"#/dependencies/b\"},\"b\":{\"required\":[\"c\"]},"
    "\"c\":[\"d\"]},\"items\":[true],\"$comment\":1}",
    "{\"properties\":{\"a\":{\"properties\":{\"a\":{\"properties\":{\"a\":"
    "{\"properties\":{\"a\":{\"type\":[\"boolean\"]}}}},\"required\":[\"a\"]}}}}}",
    "{\"additionalProperties\":{\"$ref\":\"#\"},\"minProperties\":1}",
    "{\"pattern\":\"^a+$\"}",
    "{\"pattern\":\"\\\\d{2,5}\",\"type\":\"string\",\"maxLength\":9}",
    "{\"patternProperties\":{\"^a\":{\"type\":\"null\"},\"b$\":"
    "{\"pattern\":\"[a-z]\"}},\"additionalProperties\":{\"$ref\":"
    "\"#/patternProperties/%5Ea\"}}",
    "{\"properties\":{\"a\":{}},\"patternProperties\":{\"x\":false}}",
};

enum { SCHEMAS = sizeof schemas / sizeof *schemas };

/* A schema in memory of its own, of exactly its size, without a NUL. */
typedef struct run {
    tcall_schema schema;
    tcall_str text;
    char *copy, *mem;
    int result;
} run;

static void *block(size_t size)
{
    void *memory = malloc(size ? size : 1);
    if (!memory)
        exit(2);
    return memory;
}

static void run_begin(run *r, const char *text, size_t len)
{
    memset(r, 0, sizeof *r);
    r->copy = (char *)block(len);
    if (len)
        memcpy(r->copy, text, len);
    r->text.ptr = r->copy;
    r->text.len = len;
}

static int run_in(run *r, size_t size, tcall_draft draft)
{
    free(r->mem);
    r->mem = (char *)block(size);
    r->result = tcall_schema_compile(&r->schema, r->text, r->mem, size, draft);
    return r->result;
}

/* Compiles in just the memory that it asks for. */
static void run_whole(run *r, tcall_draft draft)
{
    r->result = tcall_schema_compile(&r->schema, r->text, NULL, 0, draft);
    if (r->result == TCALL_E_MEMORY)
        run_in(r, r->schema.need, draft);
}

static void run_end(run *r)
{
    free(r->copy);
    free(r->mem);
}

/* ---- refusals ---- */

static const struct {
    tcall_draft draft;
    const char *schema, *line;
} refusals[] = {
    {TCALL_DRAFT_2020, "{\"properties\":{\"x\":{\"type\":\"dict\"}}}",
     "/properties/x/type: unknown type \"dict\"; use object, array, string, "
     "number, integer, boolean or null"},
    {TCALL_DRAFT_2020, "{\"type\":[]}",
     "/type: unknown type []; use object, array, string, number, integer, "
     "boolean or null"},
    {TCALL_DRAFT_2020, "{\"type\":[\"null\",\"Null\"]}",
     "/type/1: unknown type \"Null\"; use object, array, string, number, "
     "integer, boolean or null"},
    {TCALL_DRAFT_2020, "5",
     "the schema: wrong kind of value 5; use a schema: an object, true or "
     "false"},
    {TCALL_DRAFT_2020, " [ 1 ] ",
     "the schema: wrong kind of value [ 1 ]; use a schema: an object, true or "
     "false"},
    {TCALL_DRAFT_2020, "{\"items\":[{}]}",
     "/items: wrong kind of value [{}]; use a schema: an object, true or "
     "false"},
    {TCALL_DRAFT_7, "{\"items\":[{},1]}",
     "/items/1: wrong kind of value 1; use a schema: an object, true or false"},
    {TCALL_DRAFT_2020, "{\"anyOf\":[]}",
     "/anyOf: wrong kind of value []; use an array that is not empty"},
    {TCALL_DRAFT_2020, "{\"properties\":[]}",
     "/properties: wrong kind of value []; use an object"},
    {TCALL_DRAFT_2020, "{\"minLength\":\"1\"}",
     "/minLength: wrong kind of value \"1\"; use a number"},
    {TCALL_DRAFT_2020, "{\"minLength\":2.5}",
     "/minLength: impossible count 2.5; use a whole number, 0 or more"},
    {TCALL_DRAFT_2020, "{\"maxItems\":-1}",
     "/maxItems: impossible count -1; use a whole number, 0 or more"},
    {TCALL_DRAFT_2020, "{\"multipleOf\":0}",
     "/multipleOf: unsupported divisor 0; use a number over 0 with at most 8 "
     "digits"},
    {TCALL_DRAFT_2020, "{\"multipleOf\":1234567890.5}",
     "/multipleOf: unsupported divisor 1234567890.5; use a number over 0 with "
     "at most 8 digits"},
    {TCALL_DRAFT_4, "{\"minimum\":1,\"exclusiveMinimum\":true}",
     "/exclusiveMinimum: wrong kind of value true; use a number"},
    {TCALL_DRAFT_2020, "{\"required\":[\"a\",1]}",
     "/required/1: wrong kind of value 1; use a string"},
    {TCALL_DRAFT_2020, "{\"dependentRequired\":{\"a\":{}}}",
     "/dependentRequired/a: wrong kind of value {}; use an array of names"},
    {TCALL_DRAFT_2020, "{\"dependencies\":{\"a\":[\"b\",null]}}",
     "/dependencies/a/1: wrong kind of value null; use a string"},
    {TCALL_DRAFT_2020, "{\"dependentSchemas\":{\"a\":[]}}",
     "/dependentSchemas/a: wrong kind of value []; use a schema: an object, "
     "true or false"},
    {TCALL_DRAFT_2020, "{\"uniqueItems\":1}",
     "/uniqueItems: wrong kind of value 1; use true or false"},
    {TCALL_DRAFT_2020, "{\"unevaluatedProperties\":false}",
     "/unevaluatedProperties: unsupported keyword \"unevaluatedProperties\"; "
     "leave it out"},
    {TCALL_DRAFT_2020, "{\"additionalItems\":false}",
     "/additionalItems: keyword of another draft \"additionalItems\"; name its "
     "draft in $schema"},
    {TCALL_DRAFT_7, "{\"prefixItems\":[{}]}",
     "/prefixItems: keyword of another draft \"prefixItems\"; name its draft "
     "in $schema"},
    {TCALL_DRAFT_6, "{\"dependentRequired\":{}}",
     "/dependentRequired: keyword of another draft \"dependentRequired\"; name "
     "its draft in $schema"},
    {TCALL_DRAFT_2020, "{\"t\\u0079pe\":\"string\"}",
     "/type: keyword with escapes \"t\\u0079pe\"; write it plainly"},
    {TCALL_DRAFT_2020, "{\"minimum\":1,\"minimum\":2}",
     "/minimum: keyword given twice \"minimum\"; keep one"},
    {TCALL_DRAFT_2019,
     "{\"dependentRequired\":{},\"dependencies\":{},"
     "\"dependentRequired\":{}}",
     "/dependentRequired: keyword given twice \"dependentRequired\"; keep "
     "one"},
#ifndef TOOLCALL_NO_SENTENCES
    {TCALL_DRAFT_2020, "{\"type\":\"string\"} x",
     "text follows the JSON value: send only the value"},
    {TCALL_DRAFT_2020, "{\"minimum\":5x}",
     "a comma is missing between two values"},
#endif
    {TCALL_DRAFT_2020, "{\"type\":\"null\",\"type\":\"null\"}",
     "/type: keyword given twice \"type\"; keep one"},
    {TCALL_DRAFT_2020, "{\"properties\":{\"a\":{},\"b\":{},\"\\u0061\":{}}}",
     "/properties/a: name given twice \"\\u0061\"; keep one"},
    {TCALL_DRAFT_2020, "{\"$schema\":\"http://example.com/x\"}",
     "/$schema: unknown $schema \"http://example.com/x\"; use "
     "https://json-schema.org/draft/2020-12/schema or "
     "http://json-schema.org/draft-07/schema"},
    {TCALL_DRAFT_7,
     "{\"$ref\":\"#/definitions/a\",\"definitions\":{\"a\":{}},"
     "\"minimum\":5}",
     "/minimum: keyword beside $ref, which this draft ignores 5; put both into "
     "allOf, or use draft 2020-12"},
    {TCALL_DRAFT_2020,
     "{\"minimum\":5,\"$ref\":\"#/definitions/a\","
     "\"definitions\":{\"a\":{}},\"$schema\":"
     "\"http://json-schema.org/draft-07/schema\"}",
     "/minimum: keyword beside $ref, which this draft ignores 5; put both into "
     "allOf, or use draft 2020-12"},
    {TCALL_DRAFT_2020, "{\"$ref\":\"#\"}",
     "/$ref: $ref that leads to itself \"#\"; let it go through properties or "
     "items"},
    {TCALL_DRAFT_2020,
     "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},"
     "\"b\":{\"if\":{},\"then\":{\"$ref\":\"#/$defs/a\"}}}}",
     "/$defs/b/then/$ref: $ref that leads to itself \"#/$defs/a\"; let it go "
     "through properties or items"},
    {TCALL_DRAFT_2020, "{\"$ref\":\"#/$defs/b\"}",
     "/$ref: $ref that leads to no schema \"#/$defs/b\"; define one there"},
    {TCALL_DRAFT_2020, "{\"$ref\":\"#/$defs\",\"$defs\":{}}",
     "/$ref: $ref that leads to no schema \"#/$defs\"; define one there"},
    {TCALL_DRAFT_2020, "{\"$ref\":\"#/enum/0\",\"enum\":[{}]}",
     "/$ref: $ref that leads to no schema \"#/enum/0\"; define one there"},
    {TCALL_DRAFT_2020, "{\"$ref\":\"#/allOf/01\",\"allOf\":[{},{}]}",
     "/$ref: $ref that leads to no schema \"#/allOf/01\"; define one there"},
    {TCALL_DRAFT_2020, "{\"$ref\":\"http://x/y\"}",
     "/$ref: $ref to another document \"http://x/y\"; use a JSON Pointer such "
     "as #/$defs/name"},
    {TCALL_DRAFT_2020,
     "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$id\":\"b\"}}}",
     "/$defs/a/$id: $id within a schema that has $refs \"$id\"; leave it out"},
    {TCALL_DRAFT_2020,
     "{\"properties\":{\"\\u00e9/\xF0\x9F\x98\x80~\":{\"type\":\"dict\"}}}",
     "/properties/\xC3\xA9~1\xF0\x9F\x98\x80~0/type: unknown type \"dict\"; "
     "use object, array, string, number, integer, boolean or null"},
    {TCALL_DRAFT_2020, "{\"pattern\":\"(?=a)\"}",
     "/pattern: look-around and named groups are not supported \"(?=a)\"; change the pattern"},
};

/* Writes into line why the schema was refused. */
static void say(const run *r, char *line, size_t size)
{
    tcall_writer writer;
    tcall_writer_init(&writer, line, size - 1);
    tcall_write_schema_error(&writer, &r->schema);
    line[writer.fill] = 0;
}

static void test_refusals(void)
{
    char line[600];
    size_t i;
    for (i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        bool same;
        run r;
        run_begin(&r, refusals[i].schema, strlen(refusals[i].schema));
        run_whole(&r, refusals[i].draft);
        say(&r, line, sizeof line);
        same =
            r.result == TCALL_E_SCHEMA && strcmp(line, refusals[i].line) == 0;
        if (!same)
            printf("%s: %d %s\n", refusals[i].schema, r.result, line);
        CHECK(same);
        run_end(&r);
    }
}

/* ---- nodes ---- */

/* What the machine need not look up is marked. */
static void test_nodes(void)
{
    const char *text =
        "{\"required\":[\"b\",\"\\u0061\"],\"maximum\":70000,\"minimum\":-7,"
        "\"properties\":{\"a\":{},\"\\u0062\":{\"type\":\"null\"},\"\xC3\xA9\":"
        "false},\"type\":[\"object\",\"integer\"]}";
    const tcall_row *row;
    run r;
    run_begin(&r, text, strlen(text));
    run_whole(&r, TCALL_DRAFT_2020);
    CHECK(r.result > 0 && r.schema.width == 1);
    CHECK(r.schema.root->types == (TCALL_SHAPE_OBJECT | TCALL_SHAPE_INTEGER));
    CHECK(r.schema.root->flags == TCALL_NODE_FIELDS_);
    row = r.schema.root->rows;
    CHECK(row->on == TCALL_ON_PROPERTIES_ && row->count == 3 && !row->flags);
    CHECK(row->of.members[0].node.digits == 3);
    CHECK(row->of.members[0].node.flags == TCALL_NODE_MUST_);
    CHECK(row->of.members[1].node.digits == 0);
    CHECK(row->of.members[1].node.flags == TCALL_NODE_MUST_);
    CHECK(row->of.members[1].node.types == TCALL_SHAPE_NULL);
    CHECK(row->of.members[2].node.digits == 4 &&
          !row->of.members[2].node.flags && !row->of.members[2].node.types);
    row++;
    CHECK(row->on == TCALL_ON_MINIMUM_ && row->flags == TCALL_ROW_SMALL_ &&
          (int16_t)row->count == -7);
    row++;
    CHECK(row->on == TCALL_ON_MAXIMUM_ && !row->flags);
    CHECK(strncmp(row->of.text, "70000", 5) == 0);
    row++;
    CHECK(row->on == TCALL_ON_REQUIRED_ && row->count == 2 &&
          row->flags & TCALL_ROW_MUSTS_ && row->flags & TCALL_ROW_LAST_);
    run_end(&r);
}

/* Each keyword is known: null is the value of none that checks its value. */
static void test_keywords(void)
{
    static const char *const words[] = {
#define TCALL_X_(NAME, keyword, begins, drafts) keyword,
        TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
    };
    char text[60];
    size_t i;
    for (i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = words[i];
        bool any = strcmp(word, "const") == 0 || strcmp(word, "$id") == 0 ||
                   strcmp(word, "id") == 0;
        run r;
        run_begin(&r, text, (size_t)sprintf(text, "{\"%s\":null}", word));
        run_whole(&r, TCALL_DRAFT_2020);
        CHECK(any ? r.result > 0 : r.result == TCALL_E_SCHEMA);
        run_end(&r);
        run_begin(&r, text,
                  (size_t)sprintf(text, "{\"%.*s\":null}",
                                  (int)strlen(word) - 1, word));
        run_whole(&r, TCALL_DRAFT_2020);
        CHECK(r.result > 0);
        run_end(&r);
        run_begin(&r, text, (size_t)sprintf(text, "{\"%s_\":null}", word));
        run_whole(&r, TCALL_DRAFT_2020);
        CHECK(r.result > 0);
        run_end(&r);
    }
}

/* Wrong JSON is refused, cut at each byte; nothing is read beyond it. */
static void test_cut(void)
{
    size_t i, len;
    for (i = 2; i < SCHEMAS; i += CHECK_EVERY)
        for (len = 0; len < strcspn(schemas[i], "}"); len++) {
            run r;
            run_begin(&r, schemas[i], len);
            run_whole(&r, TCALL_DRAFT_2020);
            CHECK(r.result == TCALL_E_SCHEMA && r.schema.reason);
            run_end(&r);
        }
}

/* ---- memory ---- */

/* What it asks for is enough, and not a byte less is; nothing is written
 * beyond. Where it lies makes no difference. */
static void test_memory(void)
{
    size_t i, size, need;
    for (i = 0; i < SCHEMAS; i += CHECK_EVERY) {
        run r;
        bool less = true;
        char *mem;
        run_begin(&r, schemas[i], strlen(schemas[i]));
        CHECK(tcall_schema_compile(&r.schema, r.text, NULL, 0,
                                   TCALL_DRAFT_2020) == TCALL_E_MEMORY);
        need = r.schema.need;
        CHECK(run_in(&r, need, TCALL_DRAFT_2020) > 0);
        if (r.result < 0)
            printf("%s: %d %s\n", schemas[i], r.result,
                   r.schema.reason ? r.schema.reason : "");
        CHECK(r.schema.need == need && (size_t)r.result <= need);
        CHECK(r.result % (int)sizeof(void *) == 0);
        for (size = 0; size < need; size++)
            less = less &&
                   run_in(&r, size, TCALL_DRAFT_2020) == TCALL_E_MEMORY &&
                   r.schema.need == need;
        CHECK(less);
        size = need + sizeof(void *);
        mem = (char *)block(size);
        r.result = tcall_schema_compile(&r.schema, r.text, mem + 1, size - 1,
                                        TCALL_DRAFT_2020);
        CHECK(r.result > 0 && r.schema.need == need + sizeof(void *) - 1);
        free(mem);
        run_end(&r);
    }
}

#ifndef TEST_LINKED
/* Whether a value is right. */
static int verdict(const tcall_schema *schema, const char *value)
{
    static char text[200];
    static void *arena[600];
    tcall_machine_desc desc;
    tcall_machine machine;
    memset(&desc, 0, sizeof desc);
    desc.target.node = schema->root;
    desc.target.rows = &tcall_schema_rows;
    desc.text = text;
    desc.size = sizeof text;
    desc.arena = arena;
    desc.arena_size = sizeof arena;
    tcall_machine_init(&machine, &desc);
    tcall_machine_feed(&machine, value, strlen(value));
    return tcall_machine_end(&machine);
}

/* Nodes that were moved to the end mean the same, and what is around them
 * nothing. */
static void test_end(void)
{
    static const char *const values[] = {
        "null",
        "5",
        "-7.5",
        "\"aab\"",
        "[]",
        "[1,\"a\",{}]",
        "{}",
        "{\"a\":null,\"b\":null}",
        "{\"a\":1,\"kids\":[{\"kids\":5}]}",
        "{\"c\":\"x\",\"p17\":0,\"p01\":1,\"type\":2}"};
    size_t i, k;
    for (i = 0; i < SCHEMAS; i += CHECK_EVERY) {
        tcall_author_ end = {{NULL, 0},        NULL, NULL, 0, &tcall_patterns,
                             TCALL_DRAFT_2020, true, 0};
        bool same = true;
        tcall_schema moved;
        char *mem;
        run r;
        int used;
        run_begin(&r, schemas[i], strlen(schemas[i]));
        run_whole(&r, TCALL_DRAFT_2020);
        mem = (char *)block(r.schema.need + 16);
        end.text = r.text;
        end.mem = mem;
        end.size = r.schema.need - 1;
        CHECK(tcall_schema_compile_for_(&moved, &end) == TCALL_E_MEMORY);
        end.size = r.schema.need + 11;
        used = tcall_schema_compile_for_(&moved, &end);
        CHECK(used > 0 && (size_t)used < (size_t)r.result + sizeof(void *));
        memset(mem, 0xA5, r.schema.need + 11 - (size_t)used);
        for (k = 0; k < sizeof values / sizeof *values; k++)
            same = same &&
                   verdict(&r.schema, values[k]) == verdict(&moved, values[k]);
        CHECK(same);
        free(mem);
        run_end(&r);
    }
}
#endif

/* ---- growth ---- */

/* Writes a part; @ is a number, & another. */
static char *put(char *to, const char *part, int number, int other)
{
    for (; *part; part++)
        if (*part == '@' || *part == '&')
            to += sprintf(to, "%d", *part == '@' ? number : other);
        else
            *to++ = *part;
    *to = 0;
    return to;
}

/* Writes a schema with count parts of a kind, in order or not. */
static char *many(const char *begin, const char *part, const char *end,
                  int count, int shuffle)
{
    size_t size =
        strlen(begin) + strlen(end) + 1 + (size_t)count * (strlen(part) + 12);
    char *text = (char *)block(size), *to = put(text, begin, 0, 0);
    int i;
    for (i = 0; i < count; i++) {
        int name = shuffle ? (int)((long)i * 7919 % count) : i;
        if (i)
            *to++ = ',';
        to = put(to, part, name, (name + shuffle) % count);
    }
    put(to, end, 0, 0);
    return text;
}

/* Whether the text compiles, or is refused for this reason. */
static bool ends(char *text, const char *reason)
{
    run r;
    bool right;
    run_begin(&r, text, strlen(text));
    run_whole(&r, TCALL_DRAFT_2020);
    right = reason ? r.schema.reason && strcmp(r.schema.reason, reason) == 0
                   : r.result > 0;
    if (!right)
        printf("%.60s...: %d %s\n", text, r.result,
               r.schema.reason ? r.schema.reason : "");
    run_end(&r);
    free(text);
    return right;
}

static void test_growth(void)
{
    char text[2000], *to = text;
    int i;
    /* names in order and not, and found again */
    CHECK(ends(many("{\"properties\":{", "\"p@\":{\"type\":\"string\"}", "}}",
                    10000, 0),
               NULL));
    CHECK(ends(many("{\"properties\":{", "\"p@\":{}",
                    "},\"required\":[\"p5\",\"p3\"]}", 10000, 1),
               NULL));
    CHECK(ends(many("{\"$defs\":{",
                    "\"d@\":{\"items\":{\"$ref\":\"#/$defs/d&\"}}",
                    "},\"$ref\":\"#/$defs/d7\"}", 10000, 0),
               NULL));
    CHECK(ends(many("{\"$defs\":{",
                    "\"d@\":{\"items\":{\"$ref\":\"#/$defs/d&\"}}", "}}", 10000,
                    1),
               NULL));
    /* a chain, forth and back, is no circle */
    for (i = 0; i < 2; i++) {
        char *chain = (char *)block(200000), *at = chain;
        int k;
        at += sprintf(at, "{\"$defs\":{");
        for (k = 0; k < 3000; k++)
            at +=
                i ? sprintf(at, "\"d%d\":{\"$ref\":\"#/$defs/d%d\"},", k + 1, k)
                  : sprintf(at, "\"d%d\":{\"$ref\":\"#/$defs/d%d\"},", 3000 - k,
                            3000 - k - 1);
        sprintf(at, "\"d0\":{\"type\":\"null\"}},\"$ref\":\"#/$defs/d%d\"}",
                900);
        CHECK(ends(chain, "too many alternatives at one value"));
    }
    CHECK(ends(
        many("{\"$defs\":{", "\"d@\":{\"$ref\":\"#/$defs/d&\"}", "}}", 3000, 1),
        "$ref that leads to itself"));
    /* fans of $refs: 2 to the 30th */
    to += sprintf(to, "{\"$ref\":\"#/$defs/d30\",\"$defs\":{\"d0\":{}");
    for (i = 1; i <= 30; i++)
        to += sprintf(to,
                      ",\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{"
                      "\"$ref\":\"#/$defs/d%d\"}]}",
                      i, i - 1, i - 1);
    sprintf(to, "}}");
    to = (char *)block(sizeof text);
    memcpy(to, text, sizeof text);
    CHECK(ends(to, "too many alternatives at one value"));
    /* too many, and too many schemas */
    CHECK(ends(many("{\"anyOf\":[", "{\"const\":@}", "]}", 1000, 0), NULL));
    CHECK(ends(many("{\"anyOf\":[", "{\"const\":@}", "]}", 1100, 0),
               "too many alternatives at one value"));
    CHECK(ends(many("{\"properties\":{", "\"@\":true", "}}", 70000, 0),
               "too many schemas"));
}

/* ---- random bytes ---- */

static uint32_t seed = 1;

static uint32_t any(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* Whatever the bytes and the memory: it ends, writes nothing beyond its memory,
 * and is consistent. */
static bool holds(const char *text, size_t len)
{
    run r;
    char line[600];
    bool right;
    tcall_draft draft = (tcall_draft)any(5);
    run_begin(&r, text, len);
    run_whole(&r, draft);
    right = r.result > 0 || (r.result == TCALL_E_SCHEMA && r.schema.reason);
    say(&r, line, sizeof line);
    run_in(&r, any((uint32_t)r.schema.need + 9), draft);
    right = right && (r.result > 0 || r.result == TCALL_E_MEMORY ||
                      r.result == TCALL_E_SCHEMA);
    say(&r, line, sizeof line);
    if (!right)
        printf("%.*s: %d\n", (int)len, text, r.result);
    run_end(&r);
    return right;
}

static void test_random(void)
{
    static const char *const words[] = {
        "\"type\":",     "\"$ref\":\"#", "\"items\":[", "{}",      "true,",
        "\"allOf\":[",   "\"a\":{",      "]}",          "\"if\":", "5",
        "\"required\":", "\"$defs\":{",  "\"then\":",   "}",       "[",
        "\\u0041",       "\xC3\xA9",     "null",        "\"\"",    ","};
    char text[1200];
    int times;
    for (times = 0; times < 20000 / CHECK_EVERY; times++) {
        const char *from = schemas[any(SCHEMAS)];
        size_t len = strlen(from), i;
        uint32_t changes = 1 + any(4);
        memcpy(text, from, len);
        for (; changes--;) {
            const char *word = words[any(sizeof words / sizeof *words)];
            size_t at = len ? any((uint32_t)len) : 0, n = strlen(word);
            if (any(3) == 0) {
                memmove(text + at + n, text + at, len - at);
                memcpy(text + at, word, n);
                len += n;
            } else if (any(2) && len) {
                i = any((uint32_t)(len - at)) / 4;
                memmove(text + at, text + at + i, len - at - i);
                len -= i;
            } else if (len) {
                text[at] = (char)any(256);
            }
        }
        CHECK(holds(text, len));
    }
}

FUZZ(schemas, (void)0, holds)

int main(void)
{
    test_refusals();
    test_nodes();
    test_keywords();
    test_cut();
    test_memory();
#ifndef TEST_LINKED
    test_end();
#endif
    test_growth();
    test_random();
    return check_sum("compile");
}
