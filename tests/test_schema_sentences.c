/* Needs: SENTENCES. */
/* What a model reads when its arguments are wrong, for each keyword. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/say.c"
#include "../src/rows.c"
#include "../src/compile.c"
#include "../src/text.c"
#endif

#include "check.h"

/* The errors of a value, each as a line "path: message". */
typedef struct row {
    const char *schema, *value, *lines;
} row;

/* 120 characters. */
#define LONG                                                         \
    "a name that is so long that a list of a few such names is too " \
    "much for one sentence, so that the rest of them are left "

static const row rows[] = {
    {"{'type':'integer'}", "'x'", ": 'x' is a string; send an integer"},
    {"{'type':['integer','null']}", "[1]",
     ": the array is not allowed here; send an integer or null"},
    {"{'type':['string','number','boolean']}", "null",
     ": null is not allowed here; send a string, a number or a boolean"},
    {"{'type':'integer'}", "5.5", ": 5.5 is a number; send an integer"},
    {"{'type':'object'}", "true", ": true is a boolean; send an object"},
    {"{'enum':['celsius','fahrenheit',3]}", "'kelvin'",
     ": 'kelvin' is not one of the allowed values; send 'celsius', "
     "'fahrenheit' or 3"},
    {"{'const':'a'}", "7",
     ": 7 is not the only value that is allowed; send 'a'"},
    {"{'minimum':1,'maximum':7}", "9",
     ": 9 is over the maximum 7; send a number from 1 to 7"},
    {"{'minimum':1}", "0",
     ": 0 is under the minimum 1; send a number of at least 1"},
    {"{'type':'integer','maximum':7}", "8",
     ": 8 is over the maximum 7; send an integer of at most 7"},
    {"{'exclusiveMinimum':0,'maximum':1.5}", "0",
     ": 0 is not greater than 0; send a number greater than 0 and at most "
     "1.5"},
    {"{'exclusiveMaximum':10,'minimum':2}", "10",
     ": 10 is not less than 10; send a number of at least 2 and less than 10"},
    {"{'multipleOf':5}", "7",
     ": 7 is not a multiple of 5; send a multiple of it"},
    {"{'minLength':3,'maxLength':10}", "'\xC3\xA9t'",
     ": '\xC3\xA9t' has 2 characters, under the minimum 3; send 3 to 10 "
     "characters"},
    {"{'maxLength':1}", "'ab'",
     ": 'ab' has 2 characters, over the maximum 1; send at most 1 character"},
    {"{'pattern':'^\\\\d+$'}", "'a'",
     ": 'a' does not match the pattern ^\\d+$; send a string that does"},
    {"{'minItems':2}", "[1]",
     ": the array has 1 element, under the minimum 2; send at least 2 "
     "elements"},
    {"{'minItems':1,'maxItems':1}", "[1,2]",
     ": the array has 2 elements, over the maximum 1; send 1 element"},
    {"{'uniqueItems':true}", "[1,'a',2,'a']",
     ": 'a' is in the array twice; send each value once"},
    {"{'contains':{'const':1}}", "[2]",
     ": 0 elements of the array match {'const':1}; send at least 1 of them"},
    {"{'contains':{'const':1},'minContains':2}", "[1]",
     ": 1 element of the array matches {'const':1}; send at least 2 of them"},
    {"{'contains':{'const':1},'maxContains':1}", "[1,1]",
     ": 2 elements of the array match {'const':1}; send at most 1 of them"},
    {"{'items':{'type':'null'}}", "[null,5]", "/1: 5 is a number; send null"},
    {"{'prefixItems':[{}],'items':false}", "[1,2]",
     "/1: this element is one too many; leave it out"},
    {"{'$schema':'http://json-schema.org/draft-07/schema#','items':[{}],"
     "'additionalItems':false}",
     "[1,2]", "/1: this element is one too many; leave it out"},
    {"{'prefixItems':[{},{'minimum':2}]}", "[1,1]",
     "/1: 1 is under the minimum 2; send a number of at least 2"},
    {"{'properties':{'a':{'maximum':3}}}", "{'a':4}",
     "/a: 4 is over the maximum 3; send a number of at most 3"},
    {"{'properties':{'a':false}}", "{'a':4}",
     "/a: 'a' is not allowed; leave it out"},
    {"{'patternProperties':{'^x':{'type':'null'}}}", "{'xy':1}",
     "/xy: 1 is a number; send null"},
    {"{'properties':{'city':{},'days':{}},'additionalProperties':false}",
     "{'a/b':1}",
     "/a~1b: 'a/b' is not a property here; use one of 'city' or 'days' or leave "
     "it out"},
    {"{'properties':{'" LONG "a':{},'" LONG "b':{},'" LONG "c':{},'" LONG
     "d':{}},'additionalProperties':false}",
     "{'b':1}",
     "/b: 'b' is not a property here; use one of '" LONG "a', '" LONG
     "b', '" LONG "c', ... or leave it out"},
    {"{'additionalProperties':false}", "{'b':1}",
     "/b: 'b' is not a property here; leave it out"},
    {"{'properties':{},'additionalProperties':false}", "{'b':1}",
     "/b: 'b' is not a property here; leave it out"},
    /* beyond ASCII, however the schema spells it */
    {"{'properties':{'\\u00e9':{}},'additionalProperties':false}",
     "{'\xC3\xBC~':1}",
     "/\xC3\xBC~0: '\xC3\xBC~' is not a property here; use one of "
     "'\xC3\xA9' or leave it out"},
    {"{'properties':{'\xC3\xA9/':{'enum':['\\ud83d\\ude00','\xC3\xA4']}}}",
     "{'\xC3\xA9/':'a'}",
     "/\xC3\xA9~1: 'a' is not one of the allowed values; send "
     "'\xF0\x9F\x98\x80' or '\xC3\xA4'"},
    {"{'items':{'const':'\\u20ac'}}", "['$']",
     "/0: '$' is not the only value that is allowed; send '\xE2\x82\xAC'"},
    {"{'required':['\\u20ac']}", "{}",
     ": the property '\xE2\x82\xAC' is missing; add it"},
    {"{'additionalProperties':{'type':'string'}}", "{'b':1}",
     "/b: 1 is a number; send a string"},
    {"{'propertyNames':{'maxLength':1}}", "{'ab':1}",
     "/ab: the property name 'ab' has 2 characters, over the maximum 1; send "
     "at most 1 character"},
    {"{'propertyNames':false}", "{'ab':1}",
     "/ab: the property name 'ab' is not allowed; leave it out"},
    {"{'minProperties':1}", "{}",
     ": the object has 0 properties, under the minimum 1; send at least 1 "
     "property"},
    {"{'maxProperties':1}", "{'a':1,'b':2}",
     ": the object has 2 properties, over the maximum 1; send at most 1 "
     "property"},
    {"{'required':['city']}", "{}", ": the property 'city' is missing; add it"},
    {"{'dependentRequired':{'a':['b']}}", "{'a':1}",
     ": the property 'b' is missing, which 'a' needs; add it or leave out 'a'"},
    {"{'dependentSchemas':{'a':{'required':['b']}}}", "{'a':1}",
     ": the property 'b' is missing; add it"},
    {"{'$schema':'http://json-schema.org/draft-07/schema#','dependencies':"
     "{'a':['b']}}",
     "{'a':1}",
     ": the property 'b' is missing, which 'a' needs; add it or leave out 'a'"},
    {"{'not':{'const':1}}", "1",
     ": 1 matches what is forbidden, {'const':1}; send a value that does not"},
    {"{'anyOf':[{'type':'null'},{'type':'integer'}]}", "'x'",
     ": 'x' fits no alternative of anyOf; send what fits one of "
     "[{'type':'null'},{'type':'integer'}]"},
    {"{'oneOf':[{'type':'null'},{'type':'integer'}]}", "'x'",
     ": 'x' fits no alternative of oneOf; send what fits exactly one of "
     "[{'type':'null'},{'type':'integer'}]"},
    {"{'oneOf':[{'minimum':1},{'maximum':5}]}", "3",
     ": 3 fits several alternatives of oneOf; send what fits exactly one of "
     "[{'minimum':1},{'maximum':5}]"},
    {"{'allOf':[{'minimum':1},{'maximum':5}]}", "7",
     ": 7 is over the maximum 5; send a number of at most 5"},
    {"{'if':{'minimum':1},'then':{'maximum':5},'else':{'maximum':0}}", "7",
     ": 7 is over the maximum 5; send a number of at most 5"},
    {"{'if':{'minimum':1},'else':{'maximum':0}}", "0.5",
     ": 0.5 is over the maximum 0; send a number of at most 0"},
    {"{'$ref':'#/$defs/a','$defs':{'a':{'type':'null'}}}", "1",
     ": 1 is a number; send null"},
    {"false", "1", ": no value is allowed here; leave it out"},
};

/* The keywords that have no sentence of their own: what they apply has. */
static const char others[] =
    " $schema $id id $dynamicRef $recursiveRef unevaluatedProperties "
    "unevaluatedItems definitions ";

static const char *json(char *out, const char *text)
{
    char *p = out;
    while ((*p = *text++) != 0)
        if (*p++ == '\'')
            p[-1] = '"';
    return out;
}

/* "path: message" of each error that was written. */
static void lines(tcall_writer *w, tcall_json errors)
{
    tcall_json error = tcall_json_first(errors);
    for (; error.at; error = tcall_json_next(error)) {
        tcall_str path = tcall_json_str(tcall_json_get(error, "path"));
        tcall_str text = tcall_json_str(tcall_json_get(error, "message"));
        tcall_write_bytes(w, path.ptr, path.len);
        tcall_write_text(w, ": ");
        tcall_write_bytes(w, text.ptr, text.len);
        if (tcall_json_next(error).at)
            tcall_write_text(w, "\n");
    }
}

/* Reads a value against a schema: its text is in the machine. */
static int misses(tcall_machine *machine, const char *schema_text,
                  const char *value)
{
    static char text[1000];
    static uint64_t nodes[500], arena[500];
    tcall_schema schema;
    tcall_machine_desc desc;
    int r = tcall_schema_compile(&schema, tcall_str_of(schema_text), nodes,
                                 sizeof nodes, TCALL_DRAFT_2020);
    if (r < 0)
        return r;
    memset(&desc, 0, sizeof desc);
    desc.target.node = schema.root;
    desc.target.rows = &tcall_schema_rows;
    desc.text = text;
    desc.size = sizeof text;
    desc.arena = arena;
    desc.arena_size = sizeof arena;
    tcall_machine_init(machine, &desc);
    tcall_machine_feed(machine, value, strlen(value));
    return tcall_machine_end(machine);
}

static void write_faults(tcall_writer *w, const tcall_machine *machine)
{
    size_t i;
    tcall_write_open(w, '[');
    for (i = 0; i < machine->fault_count && i < 4; i++)
        tcall_write_fault(w, machine->text, &machine->faults[i]);
    tcall_write_close(w, ']');
}

static bool reads(const row *r, bool quoted)
{
    static char schema_text[1000], value_text[1000], out[4000], said[2000],
        want[1000];
    tcall_machine machine;
    tcall_json list;
    tcall_writer w;
    int i, result;
    json(schema_text, r->schema);
    json(value_text, r->value);
    json(want, r->lines);
    result = misses(&machine, schema_text, value_text);
    if (result != TCALL_E_INVALID) {
        printf("%s\n%s\n  is %d\n", r->schema, r->value, result);
        return false;
    }
    tcall_writer_init(&w, out, sizeof out);
    if (quoted)
        tcall_write_quote(&w);
    write_faults(&w, &machine);
    if (quoted)
        tcall_write_unquote(&w);
    for (i = 0; i <= (int)quoted; i++) { /* a string: the text within */
        if (tcall_json_parse(&list, out, w.fill, NULL) < 0)
            return false;
        if (quoted && i == 0) {
            tcall_str inner = tcall_json_str(list);
            memmove(out, inner.ptr, inner.len);
            w.fill = inner.len;
        }
    }
    tcall_writer_init(&w, said, sizeof said - 1);
    lines(&w, list);
    said[w.fill] = 0;
    if (strcmp(said, want) != 0)
        printf("%s\n%s\n  says %s\n", r->schema, r->value, said);
    return strcmp(said, want) == 0;
}

static void test_sentences(void)
{
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(reads(&rows[i], false));
        CHECK(reads(&rows[i], true));
    }
}

/* Each keyword is in a row above. */
static void test_complete(void)
{
    static const char *const keywords[] = {
#define NAME(NAME, keyword, begins, drafts) keyword,
        TCALL_KEYWORDS_(NAME)
#undef NAME
    };
    size_t i, k;
    for (k = 0; k < sizeof keywords / sizeof *keywords; k++) {
        char word[40];
        bool found = false;
        sprintf(word, "'%s'", keywords[k]);
        for (i = 0; i < sizeof rows / sizeof *rows; i++)
            found = found || strstr(rows[i].schema, word);
        if (!found) {
            sprintf(word, " %s ", keywords[k]);
            found = strstr(others, word);
        }
        if (!found)
            printf("no sentence for %s\n", keywords[k]);
        CHECK(found);
    }
}

int main(void)
{
    test_sentences();
    test_complete();
    return check_sum("test_schema_sentences");
}
