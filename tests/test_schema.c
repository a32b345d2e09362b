/* Compiling schemas and checking values against them. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/say.c"
#include "../src/rows.c"
#include "../src/compile.c"
#include "../src/text.c"
#endif

#include "check.h"
#include "timed.h"

#include <time.h>

/* One reading, all of its memory of exactly the size it asks for. */
typedef struct run {
    tcall_schema schema;
    tcall_machine machine;
    char *value, *text, *out;
    void *nodes, *arena;
    int compiled, result;
} run;

static void *block(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        exit(2);
    return p;
}

static void run_value(run *r, const char *value)
{
    size_t len = strlen(value);
    r->value = (char *)block(len + 1);
    memcpy(r->value, value, len + 1);
}

/* Reads the value with an arena of that size. The less it is, the more steps
 * it takes to compare the items of a large value. */
static int run_in(run *r, bool coerce, size_t size)
{
    tcall_machine_desc desc;
    size_t len = strlen(r->value);
    memset(&desc, 0, sizeof desc);
    free(r->text);
    free(r->arena);
    desc.target.node = r->schema.root;
    desc.target.rows = &tcall_schema_rows;
    desc.text = r->text = (char *)block(len + 1);
    desc.size = len + 1;
    desc.arena = r->arena = block(size);
    desc.arena_size = size;
    desc.coerce = coerce ? tcall_coerce : NULL;
    tcall_machine_init(&r->machine, &desc);
    tcall_machine_feed(&r->machine, r->value, len);
    return r->result = tcall_machine_end(&r->machine);
}

static void run_check(run *r, bool coerce)
{
    int result = run_in(r, coerce, 2000);
    if (result == TCALL_E_MEMORY || result == TCALL_E_BUDGET)
        run_in(r, coerce, 1 << 20);
}

static void run_schema(run *r, const char *schema, tcall_draft draft)
{
    tcall_str text = tcall_str_of(schema);
    memset(r, 0, sizeof *r);
    r->compiled = tcall_schema_compile(&r->schema, text, NULL, 0, draft);
    r->nodes = block(r->schema.need);
    if (r->compiled < 0) /* a refusal must not depend on the memory */
        r->compiled = tcall_schema_compile(&r->schema, text, r->nodes,
                                           r->schema.need, draft);
}

static void run_end(run *r)
{
    free(r->value);
    free(r->text);
    free(r->nodes);
    free(r->arena);
    free(r->out);
}

static const char *run_text(run *r, void (*write)(tcall_writer *, const run *))
{
    tcall_writer w;
    tcall_writer_init(&w, NULL, 0);
    write(&w, r);
    free(r->out);
    r->out = (char *)block(w.len + 1);
    tcall_writer_init(&w, r->out, w.len);
    write(&w, r);
    r->out[w.fill] = 0;
    return r->out;
}

static void write_refusal(tcall_writer *w, const run *r)
{
    tcall_write_schema_error(w, &r->schema);
}

static void write_faults(tcall_writer *w, const run *r)
{
    size_t i, n = r->machine.fault_count;
    tcall_write_open(w, '[');
    for (i = 0; i < n && i < TOOLCALL_MAX_FAULTS; i++)
        tcall_write_fault(w, r->machine.text, &r->machine.faults[i]);
    tcall_write_close(w, ']');
}

static void write_coercions(tcall_writer *w, const run *r)
{
    tcall_write_coercions(w, &r->machine);
}

/* 1 valid, 0 invalid, -1 the schema was refused, -2 anything else. */
static int verdict_in(tcall_draft draft, const char *schema, const char *value)
{
    run r;
    int answer = -1;
    run_schema(&r, schema, draft);
    if (r.compiled >= 0) {
        run_value(&r, value);
        run_check(&r, false);
        answer = r.result == TCALL_OK          ? 1
                 : r.result == TCALL_E_INVALID ? 0
                                               : -2;
    }
    run_end(&r);
    return answer;
}

static int verdict(const char *schema, const char *value)
{
    return verdict_in(TCALL_DRAFT_2020, schema, value);
}

static bool refused(const char *schema, const char *line)
{
    run r;
    bool same;
    run_schema(&r, schema, TCALL_DRAFT_2020);
    same = r.compiled == TCALL_E_SCHEMA &&
           strcmp(run_text(&r, write_refusal), line) == 0;
    if (!same)
        printf("%s: %d %s\n", schema, r.compiled, run_text(&r, write_refusal));
    run_end(&r);
    return same;
}

/* Where the build has no sentences, places and keywords are still the same. */
static bool same_faults(const char *said, const char *text)
{
#ifdef TOOLCALL_NO_SENTENCES
    static const char mark[] = "\"message\":\"";
    const char *a, *b;
    while ((a = strstr(said, mark)) != NULL &&
           (b = strstr(text, mark)) != NULL) {
        if (a - said != b - text || memcmp(said, text, (size_t)(a - said)) != 0)
            return false;
        said = strstr(a, "\"}");
        text = strstr(b, "\"}");
    }
#endif
    return strcmp(said, text) == 0;
}

static bool faults(const char *schema, const char *value, const char *text)
{
    run r;
    bool same;
    run_schema(&r, schema, TCALL_DRAFT_2020);
    run_value(&r, value);
    run_check(&r, false);
    same = r.result == TCALL_E_INVALID &&
           same_faults(run_text(&r, write_faults), text);
    if (!same)
        printf("%s\n%s: %d %s\n", schema, value, r.result,
               run_text(&r, write_faults));
    run_end(&r);
    return same;
}

/* to: the text that was meant, or NULL: not accepted. */
static bool coerced(const char *schema, const char *from, const char *to)
{
    run r;
    bool same;
    run_schema(&r, schema, TCALL_DRAFT_2020);
    run_value(&r, from);
    run_check(&r, true);
    same = to ? r.result == TCALL_OK && strcmp(r.machine.text, to) == 0
              : r.result == TCALL_E_INVALID;
    if (!same)
        printf("%s\n%s: %d %s\n", schema, from, r.result, r.machine.text);
    run_end(&r);
    return same;
}

static void test_values(void)
{
    CHECK(verdict("true", "5") == 1);
    CHECK(verdict("false", "5") == 0);
    CHECK(verdict("{\"type\":\"integer\"}", "5.0") == 1);
    CHECK(verdict("{\"type\":\"integer\"}", "5.5") == 0);
    CHECK(verdict("{\"type\":[\"string\",\"null\"]}", "null") == 1);
    CHECK(verdict("{\"type\":[\"string\",\"null\"]}", "1") == 0);
    CHECK(verdict("{\"enum\":[1,\"a\",{\"x\":[1,2.0]}]}", "{\"x\":[1.0,2]}") ==
          1);
    CHECK(verdict("{\"enum\":[[1,2]]}", "[1]") == 0);
    CHECK(verdict("{\"enum\":[[1]]}", "[1,2]") == 0);
    CHECK(verdict("{\"enum\":[[],{}]}", "{}") == 1);
    CHECK(verdict("{\"enum\":[[[]],[{}]]}", "[{}]") == 1);
    CHECK(verdict("{\"const\":{\"a\":{\"b\":1},\"c\":[{}]}}",
                  "{\"c\":[{}],\"a\":{\"b\":1}}") == 1);
    CHECK(verdict("{\"const\":{\"a\":1}}", "{\"b\":1}") == 0);
    CHECK(verdict("{\"const\":{\"a\":1,\"a\":1}}", "{\"a\":1,\"b\":1}") == 0);
    CHECK(verdict("{\"const\":{\"a\":1,\"b\":1}}", "{\"a\":1}") == 0);
    CHECK(verdict("{\"const\":[{\"b\":[ 1 , {} ],\"a\":{}}, 2 ]}",
                  "[{\"a\":{},\"b\":[1,{}]},2]") == 1);
    CHECK(verdict("{\"const\":[{\"b\":[1,{}],\"a\":{}},2]}",
                  "[{\"a\":{},\"b\":[1,{\"c\":0}]},2]") == 0);
    CHECK(verdict("{\"const\":false}", "0") == 0);
    CHECK(verdict("{\"const\":\"a\\u0000b\"}", "\"a\\u0000b\"") == 1);
    CHECK(verdict("{\"const\":\"a\\u0000b\"}", "\"a\"") == 0);
    CHECK(verdict("{\"const\":\"\\u00e9\\ud83d\\ude00\"}",
                  "\"\xC3\xA9\xF0\x9F\x98\x80\"") == 1);
    CHECK(verdict("{\"t\\u0079pe\":\"string\"}", "1") == -1);
    CHECK(verdict("{\"properties\":{\"a\\\"b\":{\"type\":\"null\"}}}",
                  "{\"a\\\"b\":1}") == 0);
    CHECK(verdict("{\"minimum\":9007199254740993}", "9007199254740992") == 0);
    CHECK(verdict("{\"maximum\":0.1}", "0.10") == 1);
    /* what follows the point, against bounds that are whole */
    CHECK(verdict("{\"maximum\":5}", "5.00") == 1);
    CHECK(verdict("{\"maximum\":5}", "4.99") == 1);
    CHECK(verdict("{\"maximum\":5}", "5.001") == 0);
    CHECK(verdict("{\"maximum\":5}", "50e-1") == 1);
    CHECK(verdict("{\"maximum\":5}", "5.0e1") == 0);
    CHECK(verdict("{\"minimum\":0}", "-0.0") == 1);
    CHECK(verdict("{\"minimum\":0}", "-0.5") == 0);
    CHECK(verdict("{\"minimum\":-3}", "-3.1") == 0);
    CHECK(verdict("{\"minimum\":-3}", "-2.9") == 1);
    CHECK(verdict("{\"exclusiveMinimum\":3}", "3.000") == 0);
    CHECK(verdict("{\"exclusiveMinimum\":3}", "3.01") == 1);
    CHECK(verdict("{\"maximum\":32767}", "999999999.5") == 0);
    CHECK(verdict("{\"maximum\":32767}", "1000000000") == 0);
    CHECK(verdict("{\"minimum\":-32768}", "-99999999999.5") == 0);
    CHECK(verdict("{\"maximum\":1,\"exclusiveMaximum\":true}", "1") == -1);
    CHECK(verdict("{\"exclusiveMinimum\":true}", "1") == -1);
    CHECK(verdict("{\"exclusiveMinimum\":1}", "1") == 0);
    CHECK(verdict("{\"maxLength\":1}", "\"\xF0\x9F\x98\x80\"") == 1);
    CHECK(verdict("{\"minLength\":2.0}", "\"\xF0\x9F\x98\x80\"") == 0);
    CHECK(verdict("{\"minLength\":4}", "\"\xF0\x9F\x98\x80\"") == 0);
    CHECK(verdict("{\"maxLength\":3}", "\"\xC3\xA9\xC3\xA9\"") == 1);
    CHECK(verdict("{\"maxItems\":2}", "[1,2,3]") == 0);
    CHECK(verdict("{\"minProperties\":1}", "{}") == 0);
    CHECK(verdict("{\"required\":[\"a\",\"b\"]}", "{\"b\":1,\"a\":2}") == 1);
    CHECK(verdict("{\"required\":[\"a\"]}", "{}") == 0);
    CHECK(verdict("{\"items\":{\"type\":\"null\"}}", "[null,1]") == 0);
    CHECK(verdict("{\"additionalProperties\":false,\"properties\":{\"a\":{}}}",
                  "{\"a\":1}") == 1);
    CHECK(verdict("{\"additionalProperties\":false,\"properties\":{\"a\":{}}}",
                  "{\"a\":1,\"b\":1}") == 0);
    CHECK(verdict("{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}") == 0);
    CHECK(verdict("{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2}]}",
                  "3") == 0);
    CHECK(verdict("{\"not\":{\"type\":\"integer\"}}", "3") == 0);
    CHECK(verdict("{\"x-mine\":[{\"type\":5}],\"title\":1}", "3") == 1);
    CHECK(verdict_in(TCALL_DRAFT_4,
                     "{\"$schema\":\"http://json-schema.org/draft-04/schema#\","
                     "\"minimum\":1}",
                     "1") == 1);
}

static void test_rare(void)
{
    CHECK(verdict("{\"uniqueItems\":true}", "[1,[2],{\"a\":1},[2.0]]") == 0);
    CHECK(verdict("{\"uniqueItems\":true}",
                  "[\"a\\\"\",\"a\",[1],[true],{\"a\":1},{\"b\":1}]") == 1);
    CHECK(
        verdict("{\"uniqueItems\":true}",
                "[{\"a\":[1,{}],\"b\":null},2,3,{\"b\":null,\"a\":[1,{}]}]") ==
        0);
    CHECK(verdict("{\"multipleOf\":0.01}", "1e300") == 1);
    CHECK(verdict("{\"multipleOf\":0.123456789}", "1e308") == 0);
    CHECK(verdict("{\"multipleOf\":0.0001}", "0.00751") == 0);
    CHECK(verdict("{\"multipleOf\":0.0001}", "-0.0075") == 1);
    CHECK(verdict("{\"multipleOf\":400000009}", "800000018") == 1);
    CHECK(verdict("{\"multipleOf\":400000009}", "800000019") == 0);
    CHECK(verdict("{\"prefixItems\":[true,false]}", "[1]") == 1);
    CHECK(verdict("{\"prefixItems\":[{}],\"items\":false}", "[1,2]") == 0);
    /* what is for members says nothing of elements */
    CHECK(verdict("{\"patternProperties\":{\"a\":false},\"properties\":{},"
                  "\"prefixItems\":[{}],\"items\":{\"type\":\"null\"}}",
                  "[1,null,null]") == 1);
    /* nothing is ignored beside a $ref where there is nothing */
    CHECK(verdict_in(TCALL_DRAFT_7,
                     "{\"$ref\":\"#/definitions/a\",\"required\":[],"
                     "\"properties\":{},\"definitions\":{\"a\":{}}}",
                     "1") == 1);
    CHECK(verdict_in(TCALL_DRAFT_7,
                     "{\"items\":[{}],\"additionalItems\":false}",
                     "[1,2]") == 0);
    CHECK(verdict("{\"contains\":{\"const\":1},\"maxContains\":1}", "[1,1]") ==
          0);
    /* words of another draft */
    CHECK(verdict("{\"additionalItems\":false}", "[]") < 0);
    CHECK(verdict_in(TCALL_DRAFT_2019, "{\"prefixItems\":[{}]}", "[]") < 0);
    CHECK(verdict_in(TCALL_DRAFT_7, "{\"minContains\":2}", "[]") < 0);
    CHECK(verdict_in(TCALL_DRAFT_7, "{\"dependentRequired\":{}}", "{}") < 0);
    CHECK(verdict_in(TCALL_DRAFT_7, "{\"dependencies\":{}}", "{}") == 1);
    CHECK(verdict("{\"items\":[{}],\"additionalItems\":false,\"$schema\":"
                  "\"http://json-schema.org/draft-07/schema#\"}",
                  "[1,2]") == 0);
    CHECK(verdict("{\"if\":{\"const\":1},\"else\":false}", "2") == 0);
    CHECK(verdict("{\"patternProperties\":{\"^a\":{\"type\":\"null\"},"
                  "\"b$\":{\"type\":\"integer\"}}}",
                  "{\"ab\":null}") == 0);
    CHECK(verdict("{\"patternProperties\":{\"a{2\":true},\"required\":[]}",
                  "{}") == -1);
    CHECK(verdict("{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}") == 0);
    CHECK(verdict("{\"dependencies\":{\"a\":{\"required\":[\"b\"]}}}",
                  "{\"a\":1,\"b\":2}") == 1);
    CHECK(faults(
        "{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
        "[{\"path\":\"\",\"keyword\":\"dependentRequired\",\"message\":\"the property \\\"b\\\" is missing, which \\\"a\\\" needs; add it or leave out \\\"a\\\"\"}]"));
}

static void test_refs(void)
{
    const char *tree = "{\"$ref\":\"#/$defs/a~1~0b%25\","
                       "\"$defs\":{\"a/~b%\":{\"type\":\"object\","
                       "\"properties\":{\"kids\":{\"items\":{\"$ref\":\"#\"}}"
                       "}}}}";
    CHECK(verdict(tree, "{\"kids\":[{\"kids\":[]}]}") == 1);
    CHECK(verdict(tree, "{\"kids\":[{\"kids\":[5]}]}") == 0);
    CHECK(verdict("{\"properties\":{\"a\":{\"items\":{\"type\":\"null\"}},"
                  "\"b\":{\"$ref\":\"#/properties/a/items\"}}}",
                  "{\"b\":1}") == 0);
    CHECK(verdict("{\"allOf\":[{\"$ref\":\"#/allOf/1\"},{\"minimum\":3}]}",
                  "2") == 0);
    CHECK(verdict_in(TCALL_DRAFT_7,
                     "{\"$ref\":\"#/definitions/a\",\"minimum\":5,"
                     "\"definitions\":{\"a\":{\"type\":\"integer\"}}}",
                     "1") == -1);
    /* the dialect counts wherever it stands */
    CHECK(verdict("{\"$ref\":\"#/definitions/a\",\"minimum\":5,"
                  "\"definitions\":{\"a\":{}},\"$schema\":"
                  "\"http://json-schema.org/draft-07/schema#\"}",
                  "1") == -1);
    CHECK(verdict("{\"type\":\"string\",\"minLength\":2,\"$schema\":"
                  "\"http://json-schema.org/draft-07/schema\"}",
                  "\"ab\"") == 1);
    CHECK(refused(
        "{\"$ref\":\"#\"}",
        "/$ref: $ref that leads to itself \"#\"; let it go through properties or items"));
    CHECK(refused(
        "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":"
        "\"#/$defs/b\"},\"b\":{\"if\":{},\"then\":"
        "{\"$ref\":\"#/$defs/a\"}}}}",
        "/$defs/b/then/$ref: $ref that leads to itself \"#/$defs/a\"; let it go through properties or items"));
    CHECK(verdict("{\"$ref\":\"#/$defs/b\",\"$defs\":{\"a\":{\"minimum\":2,"
                  "\"properties\":{\"x\":{\"$ref\":\"#/$defs/b\"}}},"
                  "\"b\":{\"anyOf\":[{\"$ref\":\"#/$defs/a\"}]}}}",
                  "{\"x\":{\"x\":1}}") == 0);
    CHECK(refused(
        "{\"anyOf\":[{\"$ref\":\"#/$defs/a\"}],\"$defs\":{\"a\":"
        "{\"not\":{\"$ref\":\"#\"}}}}",
        "/$defs/a/not/$ref: $ref that leads to itself \"#\"; let it go through properties or items"));
    CHECK(refused(
        "{\"$ref\":\"#/$defs/b\"}",
        "/$ref: $ref that leads to no schema \"#/$defs/b\"; define one there"));
    CHECK(refused(
        "{\"$ref\":\"#/$defs\",\"$defs\":{}}",
        "/$ref: $ref that leads to no schema \"#/$defs\"; define one there"));
    CHECK(refused(
        "{\"$ref\":\"http://x/y\"}",
        "/$ref: $ref to another document \"http://x/y\"; use a JSON Pointer such as #/$defs/name"));
    CHECK(refused(
        "{\"$ref\":\"#here\",\"$defs\":{\"a\":{\"$anchor\":\"here\"}}}",
        "/$ref: $ref to another document \"#here\"; use a JSON Pointer such as #/$defs/name"));
}

static void test_refusals(void)
{
    CHECK(refused(
        "{\"properties\":{\"a\":{\"type\":\"dict\"}}}",
        "/properties/a/type: unknown type \"dict\"; use object, array, string, number, integer, boolean or null"));
    CHECK(refused(
        "{\"type\":[]}",
        "/type: unknown type []; use object, array, string, number, integer, boolean or null"));
    CHECK(refused(
        "{\"items\":[{}]}",
        "/items: wrong kind of value [{}]; use a schema: an object, true or false"));
    CHECK(refused(
        "{\"anyOf\":[]}",
        "/anyOf: wrong kind of value []; use an array that is not empty"));
    CHECK(refused(
        "{\"anyOf\":[1]}",
        "/anyOf/0: wrong kind of value 1; use a schema: an object, true or false"));
    CHECK(refused(
        "{\"minLength\":-1}",
        "/minLength: impossible count -1; use a whole number, 0 or more"));
    CHECK(refused("{\"properties\":{\"\xC3\xA9\":{\"type\":\"dict\"}}}",
                  "/properties/\xC3\xA9/type: unknown type \"dict\"; use "
                  "object, array, string, number, integer, boolean or null"));
    CHECK(refused(
        "{\"properties\":{\"\\u00e9/\xF0\x9F\x98\x80~\":{\"type\":\"dict\"}}}",
        "/properties/\xC3\xA9~1\xF0\x9F\x98\x80~0/type: unknown "
        "type \"dict\"; use object, array, string, number, integer, "
        "boolean or null"));
    CHECK(refused("{\"minLength\":\"1\"}",
                  "/minLength: wrong kind of value \"1\"; use a number"));
    CHECK(refused("{\"required\":[\"a\",1]}",
                  "/required/1: wrong kind of value 1; use a string"));
    CHECK(refused(
        "{\"unevaluatedProperties\":false}",
        "/unevaluatedProperties: unsupported keyword \"unevaluatedProperties\"; leave it out"));
    CHECK(refused(
        "{\"$schema\":\"http://example.com/x\"}",
        "/$schema: unknown $schema \"http://example.com/x\"; use https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema"));
    CHECK(refused(
        "5",
        "the schema: wrong kind of value 5; use a schema: an object, true or false"));
    CHECK(refused("{\"minimum\":1,\"minimum\":2}",
                  "/minimum: keyword given twice \"minimum\"; keep one"));
    CHECK(refused("{\"type\":\"null\",\"type\":\"null\"}",
                  "/type: keyword given twice \"type\"; keep one"));
    CHECK(refused("{\"type\":}", tcall_error_text(TCALL_E_BAD_VALUE)));
    CHECK(refused("{\"type\":\"string\"", tcall_error_text(TCALL_E_TRUNCATED)));
    CHECK(verdict("{\"$id\":\"http://x\",\"$ref\":\"#/$defs/a\",\"$defs\":"
                  "{\"a\":{}}}",
                  "1") == 1);
    CHECK(verdict("{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$id\":\"b\"}}}",
                  "1") == -1);
}

static bool matches(const char *pattern, const char *text)
{
    char schema[300], value[300];
    snprintf(schema, sizeof schema, "{\"pattern\":\"%s\"}", pattern);
    snprintf(value, sizeof value, "\"%s\"", text);
    return verdict(schema, value) == 1;
}

static bool not_a_pattern(const char *pattern)
{
    char schema[300];
    snprintf(schema, sizeof schema, "{\"pattern\":\"%s\"}", pattern);
    return verdict(schema, "\"\"") == -1;
}

static void test_patterns(void)
{
    static const char *const bad[] = {"(?=a)",
                                      "(?<!a)",
                                      "\\\\1",
                                      "\\\\p{L}",
                                      "(a",
                                      "a)",
                                      "*",
                                      "a**",
                                      "[b-a]",
                                      "[a",
                                      "a{2,1}",
                                      "a{1001}",
                                      "\\\\",
                                      "a{,2}",
                                      "(?<n>a)",
                                      "\\\\k",
                                      "\\\\uD83D",
                                      "^*",
                                      "((a{1000}){1000}){1000}",
                                      "((){1000}){1000}"};
    size_t i;
    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(not_a_pattern(bad[i]));
    CHECK(matches("", ""));
    CHECK(matches("b", "abc") && !matches("^b", "abc"));
    CHECK(matches("^a.c$", "a\xC3\xA9"
                           "c") &&
          !matches("^a.c$", "a\\nc"));
    CHECK(matches("^(a|bc|)d$", "d") && matches("^(a|bc|)d$", "bcd") &&
          !matches("^(a|bc|)d$", "bd"));
    CHECK(matches("^[^0-9\\\\s]+$", "ab") && !matches("^[^0-9\\\\s]+$", "a1"));
    CHECK(matches("^\\\\d{2,3}$", "12") && matches("^\\\\d{2,3}$", "123") &&
          !matches("^\\\\d{2,3}$", "1") && !matches("^\\\\d{2,3}$", "1234"));
    CHECK(matches("^a{3,}$", "aaaaa") && !matches("^a{3,}$", "aa"));
    CHECK(matches("^(ab){2}$", "abab") && !matches("^(ab){2}$", "ababab"));
    CHECK(matches("^(a|b){0,2}c$", "c") && matches("^(a|b){0,2}c$", "abc") &&
          !matches("^(a|b){0,2}c$", "abac"));
    CHECK(matches("^(a*)*$", "aaa") && !matches("^(a*)*$", "ab"));
    CHECK(matches("^(a+?)+b??$", "aab"));
    CHECK(matches("^(.|a+)+$", "bcab") && matches("^(.|a+)*$", "bcab"));
    CHECK(matches("\\\\bfoo", "a foo") && !matches("\\\\bfoo", "afoo"));
    CHECK(matches("^\\\\u00e9\\\\x41[\\\\w.-]$", "\xC3\xA9"
                                                 "A-"));
    CHECK(!matches("^[]$", "a") && matches("^[^]$", "a"));
    CHECK(matches("^(?:x(?:y(?:z)?)?)?$", "xy"));
    CHECK(matches("^a{0}b$", "b") && not_a_pattern("^(a){0}b$"));
    CHECK(matches("^a\\u002bb$", "aab") && !matches("^a\\u002bb$", "a+b"));
    /* what ruins engines that back up */
    CHECK(!matches("^(a|a)*$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
    CHECK(!matches("^(([a-z])+.)+[A-Z]([a-z])+$",
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static void test_faults(void)
{
    const char *schema =
        "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},"
        "\"unit\":{\"enum\":[\"celsius\",\"fahrenheit\"]},\"days\":{\"type\":"
        "[\"integer\",\"null\"],\"minimum\":1}},\"required\":[\"city\"],"
        "\"additionalProperties\":false}";
    CHECK(
        faults(schema, "{\"unit\":\"kelvin\",\"days\":\"x\",\"a/b\":[]}",
               "[{\"path\":\"/unit\",\"keyword\":\"enum\",\"message\":"
               "\"\\\"kelvin\\\" is not one of the allowed values; send "
               "\\\"celsius\\\" or \\\"fahrenheit\\\"\"},"
               "{\"path\":\"/days\",\"keyword\":\"type\",\"message\":"
               "\"\\\"x\\\" is a string; send an integer or null\"},"
               "{\"path\":\"/a~1b\",\"keyword\":\"additionalProperties\","
               "\"message\":\"\\\"a/b\\\" is not a property here; use one of "
               "\\\"city\\\", \\\"unit\\\" or \\\"days\\\" or leave it out\"},"
               "{\"path\":\"\",\"keyword\":\"required\",\"message\":"
               "\"the property \\\"city\\\" is missing; add it\"}]"));
    /* in the order of the value */
    CHECK(faults("{\"properties\":{\"a\":{\"type\":\"null\"}},"
                 "\"additionalProperties\":{\"type\":\"null\"}}",
                 "{\"b\":1,\"a\":2}",
                 "[{\"path\":\"/b\",\"keyword\":\"type\",\"message\":"
                 "\"1 is a number; send null\"},"
                 "{\"path\":\"/a\",\"keyword\":\"type\",\"message\":"
                 "\"2 is a number; send null\"}]"));
    CHECK(faults(
        "{\"items\":{\"maximum\":3}}", "[1,7]",
        "[{\"path\":\"/1\",\"keyword\":\"maximum\",\"message\":\"7 is over the maximum 3; send a number of at most 3\"}]"));
    /* one alternative was meant: what is wrong with that */
    CHECK(faults(
        "{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"integer\","
        "\"minimum\":3}]}",
        "2",
        "[{\"path\":\"\",\"keyword\":\"minimum\",\"message\":\"2 is under the minimum 3; send an integer of at least 3\"}]"));
    CHECK(faults(
        "{\"oneOf\":[{\"properties\":{\"k\":{\"const\":\"a\"},\"x\":"
        "{\"type\":\"null\"}}},{\"properties\":{\"k\":{\"const\":"
        "\"b\"}}}]}",
        "{\"k\":\"a\",\"x\":1}",
        "[{\"path\":\"/x\",\"keyword\":\"type\",\"message\":\"1 is a number; send null\"}]"));
    /* none was: all of them */
    CHECK(faults(
        "{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"integer\"}]}", "\"x\"",
        "[{\"path\":\"\",\"keyword\":\"anyOf\",\"message\":\"\\\"x\\\" fits no alternative of anyOf; send what fits one of [{\\\"type\\\":\\\"null\\\"},"
        "{\\\"type\\\":\\\"integer\\\"}]\"}]"));
    CHECK(faults(
        "false", "1",
        "[{\"path\":\"\",\"keyword\":\"false\",\"message\":\"no value is allowed here; leave it out\"}]"));
}

static void test_coercion(void)
{
    const char *integer = "{\"items\":{\"type\":\"integer\",\"maximum\":9}}";
    CHECK(coerced(integer, "[\"5\"]", "[5]"));
    CHECK(coerced(integer, "[\"5.0\"]", "[5.0]"));
    CHECK(coerced(integer, "[\"10\"]", NULL));
    CHECK(coerced(integer, "[\" 5\"]", NULL));
    CHECK(coerced(integer, "[\"5 \"]", NULL));
    CHECK(coerced(integer, "[\"05\"]", NULL));
    CHECK(coerced(integer, "[\"+5\"]", NULL));
    CHECK(coerced(integer, "[\"1e0\"]", NULL));
    CHECK(coerced(integer, "[\"5.5\"]", NULL));
    CHECK(coerced(integer, "[\"\"]", NULL));
    CHECK(coerced(integer, "[true]", NULL));
    CHECK(coerced("{\"items\":{\"type\":\"number\"}}", "[\"1e3\"]", "[1e3]"));
    CHECK(coerced("{\"items\":{\"type\":\"number\"}}", "[\"1e999\"]", NULL));
    CHECK(coerced("{\"items\":{\"type\":\"boolean\"}}",
                  "[\"true\",\"False\",\"True\"]", "[true,false,true]"));
    CHECK(coerced("{\"items\":{\"type\":\"boolean\"}}", "[\"yes\"]", NULL));
    CHECK(coerced("{\"items\":{\"type\":\"boolean\"}}", "[1]", NULL));
    CHECK(coerced("{\"items\":{\"type\":\"array\"}}", "[\"[1]\"]", "[[1]]"));
    CHECK(coerced("{\"items\":{\"type\":\"array\"}}", "[\"{}\"]", NULL));
    CHECK(coerced("{\"items\":{\"type\":\"array\"}}", "[\"[1\"]", NULL));
    CHECK(coerced("{\"items\":{\"type\":[\"integer\",\"string\"]}}", "[\"5\"]",
                  "[\"5\"]"));
    CHECK(coerced("{\"items\":{\"type\":\"string\"}}", "[5]", NULL));
    CHECK(coerced("{\"propertyNames\":{\"type\":\"integer\"}}", "{\"5\":1}",
                  NULL));
    CHECK(coerced("{\"items\":{\"enum\":[1,2],\"type\":\"integer\"}}",
                  "[\"2\"]", "[2]"));
    CHECK(coerced("{\"items\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":"
                  "\"null\"}]}}",
                  "[\"2\"]", "[2]"));
    CHECK(coerced("{\"items\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":"
                  "\"number\"}]}}",
                  "[\"2\"]", "[2]"));
    CHECK(coerced("{\"properties\":{\"a\":{\"type\":\"string\"},"
                  "\"b\":{\"type\":\"null\"},\"c\":{}},\"required\":[\"c\"]}",
                  "{\"a\":null,\"b\":null,\"c\":null}",
                  "{\"b\":null,\"c\":null}"));
    CHECK(coerced("{\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":"
                  "[\"a\"]}",
                  "{\"a\":null}", NULL));
    {
        run r;
        run_schema(&r,
                   "{\"properties\":{\"n\":{\"type\":\"integer\"},\"s\":"
                   "{\"type\":\"string\"}}}",
                   TCALL_DRAFT_2020);
        run_value(&r, "{\"n\":\"5\",\"s\":null}");
        run_check(&r, true);
        CHECK(r.result == TCALL_OK && r.machine.coercion_count == 2);
        CHECK(strcmp(run_text(&r, write_coercions),
                     "[{\"path\":\"/n\",\"from\":\"5\",\"to\":5},"
                     "{\"path\":\"/s\",\"from\":null}]") == 0);
        run_end(&r);
    }
}

/* Every size of both memories: the right answer, or a clear one. */
static void test_memory(void)
{
    static const char schema[] =
        "{\"properties\":{\"a\":{\"items\":{\"anyOf\":[{\"type\":\"null\"},"
        "{\"$ref\":\"#/$defs/x\"}]}}},\"$defs\":{\"x\":{\"const\":[[1],{\"b\":"
        "2}]}},\"required\":[\"a\"]}";
    run r;
    size_t size, need, top;
    int bad = 0;
    run_schema(&r, schema, TCALL_DRAFT_2020);
    need = r.schema.need;
    run_value(&r, "{\"a\":[null,[[1],{\"b\":2}]]}");
    run_check(&r, false);
    CHECK(r.compiled > 0 && r.compiled <= (int)need && r.result == TCALL_OK);
    for (top = 0; run_in(&r, false, top) == TCALL_E_MEMORY; top++)
        continue;
    CHECK(r.result == TCALL_OK);
    for (size = top; size < top + 300; size++) /* and not once less */
        if (run_in(&r, false, size) != TCALL_OK)
            bad++;
    CHECK(bad == 0);
    for (size = 0; size < need + 30; size++) {
        tcall_schema s;
        void *mem = block(size);
        int n = tcall_schema_compile(&s, tcall_str_of(schema), mem, size,
                                     TCALL_DRAFT_2020);
        if (n != (size < need ? TCALL_E_MEMORY : r.compiled) || s.need != need)
            bad++;
        free(mem);
    }
    CHECK(bad == 0);
    run_end(&r);
}

/* A word that hashes like another one (FNV-1a) is another word all the same.
 * Half of such a word is run forwards from "x-", half backwards from the hash,
 * until both halves meet. */
static const char letters[] =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-";

static uint32_t hash_on(uint32_t hash, uint32_t n, int count)
{
    for (; count; count--, n >>= 6)
        hash = (hash ^ (unsigned char)letters[n & 63]) * 16777619u;
    return hash;
}

static void alike(char out[16], const char *word)
{
    enum { BITS = CHECK_EVERY > 1 ? 14 : 16 };
    static uint32_t forward[1 << BITS];
    uint32_t inverse = 16777619u, want = 2166136261u, start, n, hash = 0, half;
    int i;
    for (i = 0; i < 4; i++) /* of the prime, modulo 2^32 */
        inverse *= 2 - 16777619u * inverse;
    start = ((want ^ 'x') * 16777619u ^ '-') * 16777619u;
    for (; *word; word++)
        want = (want ^ (unsigned char)*word) * 16777619u;
    for (n = 0; n < 4 << BITS; n++)
        forward[hash_on(start, n, 3) & ((1u << BITS) - 1)] = n;
    for (n = 0;; n++) {
        for (hash = want, i = 18; i >= 0; i -= 6)
            hash = hash * inverse ^ (unsigned char)letters[n >> i & 63];
        half = forward[hash & ((1u << BITS) - 1)];
        if (hash_on(start, half, 3) == hash)
            break;
    }
    sprintf(out, "x-%c%c%c%c%c%c%c", letters[half & 63],
            letters[half >> 6 & 63], letters[half >> 12], letters[n & 63],
            letters[n >> 6 & 63], letters[n >> 12 & 63], letters[n >> 18 & 63]);
    CHECK(hash_on(hash_on(start, half, 3), n, 4) == want);
}

static void test_words(void)
{
    static const char *const keywords[] = {"anyOf",
                                           "oneOf",
                                           "if",
                                           "allOf",
                                           "not",
                                           "$ref",
                                           "dependencies",
                                           "dependentSchemas",
                                           "dependentRequired",
                                           "properties",
                                           "patternProperties",
                                           "additionalProperties",
                                           "propertyNames",
                                           "prefixItems",
                                           "items",
                                           "additionalItems",
                                           "contains",
                                           "then",
                                           "else",
                                           "$defs",
                                           "definitions",
                                           "pattern",
                                           "const",
                                           "enum",
                                           "required",
                                           "multipleOf",
                                           "minimum",
                                           "maximum",
                                           "exclusiveMinimum",
                                           "exclusiveMaximum",
                                           "minLength",
                                           "maxLength",
                                           "minItems",
                                           "maxItems",
                                           "minProperties",
                                           "maxProperties",
                                           "minContains",
                                           "maxContains",
                                           "uniqueItems",
                                           "type",
                                           "$schema",
                                           "$id",
                                           "$dynamicRef",
                                           "$recursiveRef",
                                           "unevaluatedProperties",
                                           "unevaluatedItems"};
    static const char *const types[] = {"null",  "boolean", "number", "string",
                                        "array", "object",  "integer"};
    /* refused or wrong at once where they were the keyword */
    static const char *const values[] = {"5",  "\"x\"", "[\"q\"]", "false",
                                         "[]", "{}",    "null",    "[5]"};
    static const char *const samples[] = {"1", "\"x\"", "[1,1]", "{\"a\":1}"};
    /* found before by two pairs of words: read as if they were the keyword */
    static const char *const met[] = {
        "x-minimum-encode", "x-memberLaunch",  "posts_true",
        "x-resources-list", "x-lark-calendar", "unit_feet",
        "x-ef45fc",         "x-27012e6",       "x-d04f08"};
    char schema[100], word[16];
    size_t i, k, v;
    for (i = 0; i < sizeof keywords / sizeof *keywords; i += CHECK_EVERY) {
        alike(word, keywords[i]);
        for (k = 0; k < sizeof values / sizeof *values; k++) {
            sprintf(schema, "{\"%s\":%s}", word, values[k]);
            for (v = 0; v < sizeof samples / sizeof *samples; v++)
                CHECK(verdict(schema, samples[v]) == 1);
        }
    }
    for (i = 0; i < sizeof met / sizeof *met; i++)
        for (k = 0; k < sizeof values / sizeof *values; k++) {
            sprintf(schema, "{\"%s\":%s}", met[i], values[k]);
            for (v = 0; v < sizeof samples / sizeof *samples; v++)
                CHECK(verdict(schema, samples[v]) == 1);
        }
    for (i = 0; i < sizeof types / sizeof *types; i += CHECK_EVERY) {
        alike(word, types[i]);
        sprintf(schema, "{\"type\":\"%s\"}", word);
        CHECK(verdict(schema, "1") == -1);
    }
    CHECK(verdict("{\"type\":\"music_storage\"}", "{}") == -1);
    CHECK(verdict("{\"type\":\"popular_cover\"}", "\"x\"") == -1);
    CHECK(verdict("{\"type\":\"x-536c34\"}", "\"x\"") == -1);
    CHECK(verdict("{\"type\":\"x-2daac9c\"}", "1") == -1);
}

static void test_dialects(void)
{
    static const char *const known[] = {
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema",
        "http://json-schema.org/draft-06/schema",
        "http://json-schema.org/draft-04/schema"};
    static const char *const unknown[] = {
        "https://example.com/my-own-dialect-2/schema",
        "https://example.com/my-own-dialect-v7/schema",
        "http://json-schema.org/draft-03/schema",
        "http://json-schema.org/draft-07/schema##",
        "http://json-schema.org/draft-07/schema#/x",
        "http://json-schema.org/draft-07/schem",
        "xhttp://json-schema.org/draft-07/schema",
        "http://json-schema.org/schema",
        "",
        "#"};
    char schema[100];
    size_t i;
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        sprintf(schema, "{\"$schema\":\"%s\",\"minimum\":2}", known[i]);
        CHECK(verdict(schema, "2") == 1 && verdict(schema, "1") == 0);
        sprintf(schema, "{\"$schema\":\"%s#\",\"minimum\":2}", known[i]);
        CHECK(verdict(schema, "2") == 1 && verdict(schema, "1") == 0);
    }
    for (i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        sprintf(schema, "{\"$schema\":\"%s\"}", unknown[i]);
        CHECK(verdict(schema, "1") == -1);
    }
    /* the right draft */
    CHECK(verdict("{\"$schema\":\"https://json-schema.org/draft/2019-09/"
                  "schema\",\"prefixItems\":[{}]}",
                  "[]") == -1);
    CHECK(verdict("{\"$schema\":\"http://json-schema.org/draft-06/schema#\","
                  "\"minContains\":1}",
                  "[]") == -1);
    CHECK(verdict("{\"$ref\":\"#/$defs/a~2b\",\"$defs\":{\"a~b\":{}}}", "1") ==
          -1);
    CHECK(verdict("{\"$ref\":\"#/$defs/a~\",\"$defs\":{\"a~\":{}}}", "1") ==
          -1);
}

/* What was refused accepts nothing. */
static void test_refused(void)
{
    static const char *const schemas[] = {"{\"unevaluatedProperties\":false}",
                                          "{\"$ref\":\"#/$defs/none\"}",
                                          "{\"$ref\":\"#\"}",
                                          "{\"type\":\"dict\"}",
                                          "5",
                                          "{\"type\"",
                                          ""};
    size_t i;
    run r;
    for (i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        run_schema(&r, schemas[i], TCALL_DRAFT_2020);
        run_value(&r, "{\"b\":1}");
        run_check(&r, false);
        CHECK(r.compiled == TCALL_E_SCHEMA && r.result == TCALL_E_SCHEMA);
        run_end(&r);
    }
    /* and so does what did not fit its memory */
    run_schema(&r, "{\"minimum\":3}", TCALL_DRAFT_2020);
    CHECK(tcall_schema_compile(&r.schema, tcall_str_of("{\"minimum\":3}"), NULL,
                               0, TCALL_DRAFT_2020) == TCALL_E_MEMORY);
    run_value(&r, "4");
    run_check(&r, false);
    CHECK(r.result == TCALL_E_SCHEMA);
    run_end(&r);
}

/* Many properties, in any order, and many $refs: each costs its own steps. */
static void test_growth(void)
{
    enum { MANY = 4000 / CHECK_EVERY };
    static char schema[MANY * 60 + 1000], value[MANY * 20 + 100];
    char *p, *list;
    int i, first, order;
    for (first = 0; first < 2; first++) { /* required before or after */
        list = schema + sprintf(schema, "{\"type\":\"object\"");
        for (i = 0; i < 2; i++) {
            int k;
            p = list + sprintf(list, i == first ? ",\"required\":["
                                                : ",\"properties\":{");
            for (k = 0; k < MANY; k++)
                p += sprintf(p, i == first ? "%s\"k%d\"" : "%s\"k%d\":{}",
                             k ? "," : "", k);
            list = p + sprintf(p, i == first ? "]" : "}");
        }
        sprintf(list, ",\"additionalProperties\":false}");
        for (order = 0; order < 3; order++) {
            p = value + sprintf(value, "{");
            for (i = 0; i < MANY; i++)
                p += sprintf(p, "%s\"k%d\":1", i ? "," : "",
                             order == 0   ? i
                             : order == 1 ? MANY - 1 - i
                                          : (int)((unsigned)i * 2039u % MANY));
            sprintf(p, "}");
            CHECK(verdict(schema, value) == 1);
            sprintf(p, ",\"other\":1}");
            CHECK(verdict(schema, value) == 0);
        }
    }
    p = schema + sprintf(schema, "{\"properties\":{");
    for (i = 0; i < MANY; i++)
        p += sprintf(p, "%s\"k%d\":{\"$ref\":\"#/$defs/d%d\"}", i ? "," : "", i,
                     MANY - 1 - i);
    p += sprintf(p, "},\"$defs\":{");
    for (i = 0; i < MANY; i++)
        p += sprintf(p, "%s\"d%d\":{\"minimum\":1}", i ? "," : "", i);
    sprintf(p, "}}");
    sprintf(value, "{\"k%d\":1,\"k%d\":1}", MANY / 2, MANY - 1);
    CHECK(verdict(schema, value) == 1);
    sprintf(value, "{\"k%d\":1,\"k%d\":0}", MANY / 2, MANY - 1);
    CHECK(verdict(schema, value) == 0);
}

/* Schemas that are made to cost. */
static void test_bombs(void)
{
    enum { MANY = 20000 / CHECK_EVERY };
    static char text[400000];
    char *p = text, last[16];
    int i;
    p += sprintf(p, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (i = 0; i < 30; i++)
        p += sprintf(p,
                     "\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":"
                     "\"#/$defs/d%d\"}]},",
                     i, i + 1, i + 1);
    sprintf(p, "\"d30\":{\"type\":\"integer\"}}}");
    CHECK(verdict(text, "1") == -1);
    memset(text, '[', 200000);
    text[200000] = 0;
    CHECK(verdict(text, "1") == -1);
    for (p = text, i = 0; i < 10000; i++)
        p += sprintf(p, "{\"not\":");
    *p = 0;
    CHECK(verdict(text, "1") == -1);
    p = text + sprintf(text, "{\"enum\":[\"a\"");
    for (i = 0; i < MANY; i++)
        p += sprintf(p, ",\"v%d\"", i);
    sprintf(p, "]}");
    sprintf(last, "\"v%d\"", MANY - 1);
    CHECK(verdict(text, last) == 1);
    CHECK(verdict(text, "\"w\"") == 0);
    p = text + sprintf(text, "[0");
    for (i = 1; i < 3000; i++)
        p += sprintf(p, ",%d", i);
    sprintf(p, "]");
    CHECK(verdict("{\"uniqueItems\":true}", text) == 1);
    CHECK(verdict("{\"not\":{\"uniqueItems\":true}}", text) == 0);
}

/* Returns the processor time of a verdict, which is to be this one, in any
 * unit. */
static long cost(const char *schema, const char *value, int want)
{
    clock_t before = clock();
    CHECK(verdict(schema, value) == want);
    return (long)(clock() - before) + 1;
}

/* Writes a list of texts: k0 to the last, or the other way round. */
static char *list(char *p, const char *begin, const char *after, int count,
                  bool reversed, const char *end)
{
    int i;
    p += sprintf(p, "%s", begin);
    for (i = 0; i < count; i++) {
        if (i)
            *p++ = ',';
        p += sprintf(p, "\"k%d\"%s", reversed ? count - 1 - i : i, after);
    }
    return p + sprintf(p, "%s", end);
}

/* Once the steps are used up an answer comes soon, whatever is left: what was
 * refused costs no more than some times as much as what can be accepted. */
static void test_after_the_budget(void)
{
    enum { MANY = CHECK_EVERY > 1 ? 3000 : 30000 };
    static char schema[MANY * 12 + 200], value[MANY * 12 + 200];
    static const struct {
        const char *begin, *item, *end;     /* of the schema */
        const char *opens, *value, *closes; /* of the value */
    } cases[] = {
        {"{\"required\":[", "", "]}", "{", ":1", "}"},
        {"{\"dependentRequired\":{\"k0\":[", "", "]}}", "{", ":1", "}"},
        {"{\"propertyNames\":{\"enum\":[", "", "]}}", "{", ":1", "}"},
        {"{\"items\":{\"enum\":[", "", "]}}", "[", "", "]"},
        {"{\"contains\":{\"enum\":[", "",
         "]},\"minContains\":"
         "20000}",
         "[", "", "]"},
        {"{\"const\":{", ":1", "}}", "{", ":1", "}"},
        {"{\"not\":{\"required\":[", "", "]}}", "{", ":1", "}"},
    };
    long least;
    size_t i;
    list(schema, "{\"required\":[", "", MANY, false, "]}");
    list(value, "{", ":1", MANY, false, "}");
    CHECK(verdict(schema, value) == 1); /* in order names are found at once */
    list(value, "{", ":1", MANY, true, "}");
    least = cost(schema, value, -2);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        long refused;
        list(schema, cases[i].begin, cases[i].item, MANY, false, cases[i].end);
        list(value, cases[i].opens, cases[i].value, MANY, true,
             cases[i].closes);
        refused = cost(schema, value, -2);
        CHECK(in_time(ms_of_clocks(refused), 0, ms_of_clocks(30 * least) + 50));
    }
}

int main(void)
{
    test_values();
    test_rare();
    test_refs();
    test_refusals();
    test_patterns();
    test_faults();
    test_coercion();
    test_words();
    test_dialects();
    test_refused();
    test_growth();
    test_memory();
    test_bombs();
    test_after_the_budget();
    return check_sum("test_schema");
}
