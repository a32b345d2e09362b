/* lint.c - see lint.h */
#include "tools/gnu.h"

#include "tools/lint.h"

#include <stdlib.h>
#include <string.h>

enum { TTOOL_LINT_TEXT_ = 160, TTOOL_LINT_LEVELS_ = 8 };

typedef struct ttool_lint_ {
    void (*found)(void *user, const ttool_finding *finding);
    void *user;
    const tcall_tool *tools; /* all of them */
    const tcall_tool *tool;  /* the one at hand */
    tcall_json schema;       /* all of its parameters */
    int count;
    tcall_writer pointer;
    char pointer_text[190];
} ttool_lint_;

static void ttool_lint_report_(ttool_lint_ *lint, const char *code,
                               const char *provider, bool note,
                               const char *text)
{
    ttool_finding finding;
    finding.code = code;
    finding.provider = provider;
    finding.tool = lint->tool;
    finding.pointer.ptr = lint->pointer_text;
    finding.pointer.len = lint->pointer.fill;
    finding.text = tcall_str_of(text);
    finding.note = note;
    lint->count += !note;
    lint->found(lint->user, &finding);
}

/* Points at one member of the tool. */
static void ttool_lint_at_(ttool_lint_ *lint, const char *member)
{
    tcall_writer_init(&lint->pointer, lint->pointer_text,
                      sizeof lint->pointer_text);
    tcall_write_text(&lint->pointer, member);
}

/* Points at a member of what was pointed at: RFC 6901, section 3. */
static void ttool_lint_step_(ttool_lint_ *lint, tcall_str key)
{
    size_t i;
    tcall_write_text(&lint->pointer, "/");
    for (i = 0; i < key.len; i++)
        if (key.ptr[i] == '~' || key.ptr[i] == '/')
            tcall_write_text(&lint->pointer, key.ptr[i] == '~' ? "~0" : "~1");
        else
            tcall_write_bytes(&lint->pointer, key.ptr + i, 1);
}

size_t ttool_lint_tokens(size_t bytes)
{
    return (bytes + 3) / 4;
}

/* -- Names -- */

static char ttool_lint_lower_(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* Are these the same letters, in either case? */
static bool ttool_lint_same_(tcall_str first, tcall_str second)
{
    size_t i;
    for (i = 0; i < first.len && i < second.len; i++)
        if (ttool_lint_lower_(first.ptr[i]) != ttool_lint_lower_(second.ptr[i]))
            return false;
    return first.len == second.len;
}

/* What names may hold beside A-Z a-z 0-9 _ and -, and how long they may be. */
typedef struct ttool_name_rule_ {
    const char *provider;
    const char *more;
    size_t max;
    bool letter_first; /* or _ */
} ttool_name_rule_;

static bool ttool_lint_fits_(const ttool_name_rule_ *rule, const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz_";
    size_t length = strlen(name), i;
    for (i = 0; i < length; i++) {
        bool letter = strchr(letters, name[i]) != NULL;
        bool other = strchr("0123456789-", name[i]) != NULL ||
                     strchr(rule->more, name[i]) != NULL;
        if (!letter && (!other || (i == 0 && rule->letter_first)))
            return false;
    }
    return length > 0 && length <= rule->max;
}

static void ttool_lint_rule_(ttool_lint_ *lint, const ttool_name_rule_ *rule)
{
    char text[TTOOL_LINT_TEXT_];
    tcall_writer writer;
    tcall_writer_init(&writer, text, sizeof text - 1);
    tcall_write_text(&writer, "must be 1 to ");
    tcall_write_int(&writer, (tcall_int)rule->max);
    tcall_write_text(&writer, " of A-Z a-z 0-9 _ -");
    if (*rule->more)
        tcall_write_text(&writer, " ");
    tcall_write_text(&writer, rule->more);
    if (rule->letter_first)
        tcall_write_text(&writer, " and begin with a letter or _");
    text[writer.fill] = '\0';
    ttool_lint_report_(lint, "name", rule->provider, false, text);
}

static void ttool_lint_name_(ttool_lint_ *lint)
{
    static const ttool_name_rule_ rules[] = {
        {"openai", "", 64, false},     {"responses", "", 128, false},
        {"anthropic", "", 128, false}, {"gemini", ".:", 128, true},
        {"mcp", "./", 64, false},
    };
    const char *name = lint->tool->name ? lint->tool->name : "";
    const tcall_tool *other;
    size_t i;
    ttool_lint_at_(lint, "/name");
    for (i = 0; i < TCALL_ARRAY_LEN(rules); i++)
        if (!ttool_lint_fits_(&rules[i], name))
            ttool_lint_rule_(lint, &rules[i]);
    for (other = lint->tools; other < lint->tool; other++)
        if (ttool_lint_same_(tcall_str_of(other->name), tcall_str_of(name))) {
            bool same = strcmp(other->name ? other->name : "", name) == 0;
            ttool_lint_report_(lint, same ? "name" : "case", NULL, !same,
                               same ? "another tool has this name"
                                    : "differs from the name of another tool "
                                      "only in capitals, which models confuse");
            return;
        }
}

/* -- Parameters and the description -- */

/* Visits the parameters of a schema and, level by level, theirs. Returns how
 * many the schema has itself. */
static int ttool_lint_parameters_(ttool_lint_ *lint, tcall_json schema,
                                  int level, bool *nested)
{
    tcall_json parameter =
        tcall_json_first(tcall_json_get(schema, "properties"));
    int count = 0;
    if (level == TTOOL_LINT_LEVELS_)
        return 0;
    for (; parameter.at; parameter = tcall_json_next(parameter), count++) {
        tcall_writer here = lint->pointer;
        tcall_json inner = parameter;
        *nested = *nested || level > 0;
        tcall_write_text(&lint->pointer, "/properties");
        ttool_lint_step_(lint, tcall_json_key(parameter));
        if (tcall_json_str(tcall_json_get(parameter, "description")).len == 0)
            ttool_lint_report_(lint, "parameter", NULL, false,
                               "has no description: say what it is, its unit "
                               "and its range");
        while (tcall_json_get(inner, "items").at) {
            tcall_write_text(&lint->pointer, "/items");
            inner = tcall_json_get(inner, "items");
        }
        ttool_lint_parameters_(lint, inner, level + 1, nested);
        lint->pointer = here;
    }
    return count;
}

/* -- Words that look misspelt -- */

/* What the value of a keyword holds: schemas that are its members or elements,
 * one schema, or none. */
typedef enum ttool_holds_ {
    TTOOL_HOLDS_MANY_,
    TTOOL_HOLDS_ONE_,
    TTOOL_HOLDS_NONE_
} ttool_holds_;

static const struct ttool_word_ {
    const char *name;
    ttool_holds_ holds;
} ttool_words_[] = {{"properties", TTOOL_HOLDS_MANY_},
                    {"patternProperties", TTOOL_HOLDS_MANY_},
                    {"dependencies", TTOOL_HOLDS_MANY_},
                    {"dependentSchemas", TTOOL_HOLDS_MANY_},
                    {"$defs", TTOOL_HOLDS_MANY_},
                    {"definitions", TTOOL_HOLDS_MANY_},
                    {"allOf", TTOOL_HOLDS_MANY_},
                    {"anyOf", TTOOL_HOLDS_MANY_},
                    {"oneOf", TTOOL_HOLDS_MANY_},
                    {"prefixItems", TTOOL_HOLDS_MANY_},
                    {"items", TTOOL_HOLDS_ONE_},
                    {"additionalItems", TTOOL_HOLDS_ONE_},
                    {"additionalProperties", TTOOL_HOLDS_ONE_},
                    {"propertyNames", TTOOL_HOLDS_ONE_},
                    {"contains", TTOOL_HOLDS_ONE_},
                    {"not", TTOOL_HOLDS_ONE_},
                    {"if", TTOOL_HOLDS_ONE_},
                    {"then", TTOOL_HOLDS_ONE_},
                    {"else", TTOOL_HOLDS_ONE_},
                    {"type", TTOOL_HOLDS_NONE_},
                    {"enum", TTOOL_HOLDS_NONE_},
                    {"const", TTOOL_HOLDS_NONE_},
                    {"required", TTOOL_HOLDS_NONE_},
                    {"dependentRequired", TTOOL_HOLDS_NONE_},
                    {"pattern", TTOOL_HOLDS_NONE_},
                    {"format", TTOOL_HOLDS_NONE_},
                    {"minimum", TTOOL_HOLDS_NONE_},
                    {"maximum", TTOOL_HOLDS_NONE_},
                    {"exclusiveMinimum", TTOOL_HOLDS_NONE_},
                    {"exclusiveMaximum", TTOOL_HOLDS_NONE_},
                    {"multipleOf", TTOOL_HOLDS_NONE_},
                    {"minLength", TTOOL_HOLDS_NONE_},
                    {"maxLength", TTOOL_HOLDS_NONE_},
                    {"minItems", TTOOL_HOLDS_NONE_},
                    {"maxItems", TTOOL_HOLDS_NONE_},
                    {"uniqueItems", TTOOL_HOLDS_NONE_},
                    {"minContains", TTOOL_HOLDS_NONE_},
                    {"maxContains", TTOOL_HOLDS_NONE_},
                    {"minProperties", TTOOL_HOLDS_NONE_},
                    {"maxProperties", TTOOL_HOLDS_NONE_},
                    {"unevaluatedProperties", TTOOL_HOLDS_ONE_},
                    {"unevaluatedItems", TTOOL_HOLDS_ONE_},
                    {"title", TTOOL_HOLDS_NONE_},
                    {"description", TTOOL_HOLDS_NONE_},
                    {"default", TTOOL_HOLDS_NONE_},
                    {"examples", TTOOL_HOLDS_NONE_},
                    {"example", TTOOL_HOLDS_NONE_},
                    {"nullable", TTOOL_HOLDS_NONE_},
                    {"deprecated", TTOOL_HOLDS_NONE_},
                    {"readOnly", TTOOL_HOLDS_NONE_},
                    {"writeOnly", TTOOL_HOLDS_NONE_},
                    {"contentEncoding", TTOOL_HOLDS_NONE_},
                    {"contentMediaType", TTOOL_HOLDS_NONE_},
                    {"contentSchema", TTOOL_HOLDS_ONE_}};

static tcall_str ttool_lint_rest_(tcall_str text, size_t skip)
{
    text.ptr += skip;
    text.len -= skip;
    return text;
}

/* Is a word nearly another one, in either case of letters? What is left of both
 * without their common beginning and end is one letter, of long words two, or
 * two neighbours that are exchanged. */
static bool ttool_lint_close_(tcall_str word, tcall_str other)
{
    size_t most = word.len < 8 ? 1 : 2;
    while (word.len && other.len &&
           ttool_lint_lower_(*word.ptr) == ttool_lint_lower_(*other.ptr)) {
        word = ttool_lint_rest_(word, 1);
        other = ttool_lint_rest_(other, 1);
    }
    while (word.len && other.len &&
           ttool_lint_lower_(word.ptr[word.len - 1]) ==
               ttool_lint_lower_(other.ptr[other.len - 1])) {
        word.len--;
        other.len--;
    }
    return (word.len <= most && other.len <= most) ||
           (word.len == 2 && other.len == 2 && word.ptr[0] == other.ptr[1] &&
            word.ptr[1] == other.ptr[0]);
}

/* Reports a member of a schema that is no keyword, if it looks like one, or
 * like a parameter in the wrong place. Short words are like too many others. */
static void ttool_lint_unknown_(ttool_lint_ *lint, tcall_json member)
{
    char text[TTOOL_LINT_TEXT_];
    tcall_str word = tcall_json_key(member);
    tcall_writer writer;
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(ttool_words_); i++) {
        tcall_str known = tcall_str_of(ttool_words_[i].name);
        if (known.len < 4 || word.len < 4 || !ttool_lint_close_(word, known))
            continue;
        tcall_writer_init(&writer, text, sizeof text - 1);
        tcall_write_text(&writer, "is no keyword of JSON Schema: was ");
        tcall_write_text(&writer, ttool_words_[i].name);
        tcall_write_text(&writer, " meant?");
        text[writer.fill] = '\0';
        ttool_lint_report_(lint, "keyword", NULL, true, text);
        return;
    }
    if (tcall_json_get(member, "type").at)
        ttool_lint_report_(lint, "keyword", NULL, true,
                           "is no keyword of JSON Schema: a parameter belongs "
                           "into properties");
}

/* Reports a name that an earlier member has in other letters. */
static void ttool_lint_cases_(ttool_lint_ *lint, tcall_json first,
                              tcall_json member)
{
    tcall_str name = tcall_json_key(member);
    for (; first.at != member.at; first = tcall_json_next(first))
        if (ttool_lint_same_(tcall_json_key(first), name)) {
            ttool_lint_report_(lint, "case", NULL, true,
                               "differs from another name only in capitals, "
                               "which models confuse");
            return;
        }
}

static void ttool_lint_words_(ttool_lint_ *lint, tcall_json schema);

/* Visits the schemas that the value of a keyword holds. */
static void ttool_lint_held_(ttool_lint_ *lint, tcall_json value,
                             ttool_holds_ holds)
{
    bool object = tcall_json_type(value) == TCALL_OBJECT;
    tcall_json first = tcall_json_first(value), each = first;
    int index = 0;
    if (holds == TTOOL_HOLDS_ONE_)
        ttool_lint_words_(lint, value);
    for (; holds == TTOOL_HOLDS_MANY_ && each.at;
         each = tcall_json_next(each), index++) {
        tcall_writer here = lint->pointer;
        if (object) {
            ttool_lint_step_(lint, tcall_json_key(each));
            ttool_lint_cases_(lint, first, each);
        } else {
            tcall_write_text(&lint->pointer, "/");
            tcall_write_int(&lint->pointer, index);
        }
        ttool_lint_words_(lint, each);
        lint->pointer = here;
    }
}

/* Is there a value of this name? */
static bool ttool_lint_has_(tcall_json object, const char *name)
{
    return tcall_json_type(tcall_json_get(object, name)) != TCALL_MISSING;
}

/* Are members that properties does not name forbidden? */
static bool ttool_lint_is_closed_(tcall_json schema)
{
    return !tcall_json_bool(tcall_json_get(schema, "additionalProperties"),
                            true) &&
           !ttool_lint_has_(schema, "patternProperties");
}

/* Reports required names that are no properties, where there are any or
 * nothing else is allowed. */
static void ttool_lint_required_(ttool_lint_ *lint, tcall_json schema)
{
    tcall_json properties = tcall_json_get(schema, "properties");
    tcall_json name = tcall_json_first(tcall_json_get(schema, "required"));
    bool closed = ttool_lint_is_closed_(schema);
    int index = 0;
    if (!closed && !ttool_lint_has_(schema, "properties"))
        return;
    for (; tcall_json_type(name) != TCALL_MISSING;
         name = tcall_json_next(name), index++) {
        tcall_writer here = lint->pointer;
        tcall_json property = tcall_json_first(properties);
        while (tcall_json_type(property) != TCALL_MISSING &&
               !tcall_str_eq(tcall_json_key(property), tcall_json_str(name)))
            property = tcall_json_next(property);
        if (tcall_json_type(property) != TCALL_MISSING)
            continue;
        tcall_write_text(&lint->pointer, "/required/");
        tcall_write_int(&lint->pointer, index);
        ttool_lint_report_(
            lint, "keyword", NULL, true,
            closed ? "is a required name that additionalProperties forbids: "
                     "add it to properties"
                   : "is a required name that properties does not have");
        lint->pointer = here;
    }
}

/* -- What no value is right for, and what is not checked -- */

/* Reports at a keyword of the schema that is pointed at. */
static void ttool_lint_remark_(ttool_lint_ *lint, const char *keyword,
                               const char *text)
{
    tcall_writer here = lint->pointer;
    ttool_lint_step_(lint, tcall_str_of(keyword));
    ttool_lint_report_(lint, "keyword", NULL, true, text);
    lint->pointer = here;
}

/* Reports lower bounds that leave nothing under the upper ones. */
static void ttool_lint_bounds_(ttool_lint_ *lint, tcall_json schema)
{
    static const struct {
        const char *least, *most;
        bool open; /* both in one are too few */
    } pairs[] = {{"minimum", "maximum", false},
                 {"minimum", "exclusiveMaximum", true},
                 {"exclusiveMinimum", "maximum", true},
                 {"exclusiveMinimum", "exclusiveMaximum", true},
                 {"minLength", "maxLength", false},
                 {"minItems", "maxItems", false},
                 {"minProperties", "maxProperties", false},
                 {"minContains", "maxContains", false}};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(pairs); i++) {
        tcall_json least = tcall_json_get(schema, pairs[i].least);
        tcall_json most = tcall_json_get(schema, pairs[i].most);
        double low = tcall_json_double(least, 0);
        double high = tcall_json_double(most, 0);
        if (tcall_json_type(least) == TCALL_NUMBER &&
            tcall_json_type(most) == TCALL_NUMBER &&
            (low > high || (pairs[i].open && low >= high)))
            ttool_lint_remark_(lint, pairs[i].least,
                               "is a lower bound that leaves nothing under the "
                               "upper one: change one of them");
    }
}

/* Reports keywords that others may check: here they say nothing. */
static void ttool_lint_unchecked_(ttool_lint_ *lint, tcall_json schema)
{
    if (tcall_json_bool(tcall_json_get(schema, "nullable"), false))
        ttool_lint_remark_(lint, "nullable",
                           "is not checked: give null as one of its types");
    if (tcall_json_type(tcall_json_get(schema, "format")) == TCALL_STRING)
        ttool_lint_remark_(lint, "format",
                           "is not checked: say it by pattern or enum, or "
                           "check it in the tool");
}

/* Writes an object whose member v is the value. */
static void ttool_lint_write_v_(tcall_writer *writer, tcall_json value)
{
    tcall_write_open(writer, '{');
    tcall_write_key(writer, "v");
    tcall_write_json(writer, value);
    tcall_write_close(writer, '}');
}

/* Writes parameters of which v has the schema; what it may refer to comes
 * along. */
static void ttool_lint_write_holder_(tcall_writer *writer, tcall_json schema,
                                     tcall_json root)
{
    static const char *const along[] = {"$schema", "$defs", "definitions"};
    size_t i;
    tcall_write_open(writer, '{');
    tcall_write_key(writer, "properties");
    ttool_lint_write_v_(writer, schema);
    for (i = 0; i < TCALL_ARRAY_LEN(along); i++)
        if (ttool_lint_has_(root, along[i])) {
            tcall_write_key(writer, along[i]);
            tcall_write_json(writer, tcall_json_get(root, along[i]));
        }
    tcall_write_close(writer, '}');
}

/* What a definition lacks until a program gives it. */
static int ttool_lint_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    (void)out;
    return TCALL_OK;
}

/* Registers a tool alone, in as much memory as that takes. The caller frees
 * desc->block. */
static int ttool_lint_init_(tcall *tc, tcall_desc *desc, tcall_tool *row)
{
    int r = TCALL_E_MEMORY;
    if (!row->run)
        row->run = ttool_lint_run_;
    desc->tools = row;
    desc->tool_count = 1;
    desc->patterns = &tcall_patterns;
    desc->allow = TCALL_EVERYTHING;
    desc->block_size = 1 << 16;
    for (; r == TCALL_E_MEMORY && desc->block_size; desc->block_size *= 4) {
        free(desc->block);
        desc->block = malloc(desc->block_size);
        if (!desc->block)
            break;
        if (desc->faults)
            tcall_writer_init(desc->faults, desc->faults->buf,
                              desc->faults->cap);
        r = tcall_init(tc, desc);
    }
    return r;
}

/* Does this schema refuse its own default? text has room for both. */
static bool ttool_lint_refuses_(const ttool_lint_ *lint, tcall_json schema,
                                char *text, size_t cap)
{
    tcall_writer writer;
    tcall_desc desc;
    tcall_tool row;
    tcall_call call;
    tcall tc;
    memset(&desc, 0, sizeof desc);
    memset(&row, 0, sizeof row);
    memset(&call, 0, sizeof call);
    tcall_writer_init(&writer, text, cap);
    ttool_lint_write_holder_(&writer, schema, lint->schema);
    tcall_write_bytes(&writer, "", 1);
    row.name = "lint";
    row.parameters = tcall_schema_text_of(text);
    call.name = tcall_str_of(row.name);
    call.arguments.ptr = text + writer.fill;
    tcall_writer_init(&writer, text + writer.fill, cap - writer.fill);
    ttool_lint_write_v_(&writer, tcall_json_get(schema, "default"));
    call.arguments.len = writer.fill;
    if (!writer.error && ttool_lint_init_(&tc, &desc, &row) == TCALL_OK)
        tcall_hydrate(&tc, &call);
    free(desc.block);
    return call.error == TCALL_E_INVALID;
}

/* Reports a default that its schema refuses. JSON Schema asks nothing of
 * defaults, and many that are published are wrong. A null is what generators
 * write for none. References but to definitions are not followed. */
static void ttool_lint_default_(ttool_lint_ *lint, tcall_json schema)
{
    tcall_json value = tcall_json_get(schema, "default");
    tcall_writer writer;
    char *text;
    if (tcall_json_type(value) == TCALL_MISSING ||
        tcall_json_type(value) == TCALL_NULL)
        return;
    tcall_writer_init(&writer, NULL, 0);
    ttool_lint_write_holder_(&writer, schema, lint->schema);
    ttool_lint_write_v_(&writer, value);
    text = (char *)malloc(writer.len + 1);
    if (text && ttool_lint_refuses_(lint, schema, text, writer.len + 1))
        ttool_lint_remark_(
            lint, "default",
            "is a default that its own schema refuses: change one of them");
    free(text);
}

/* Visits the keywords of a schema and of those within. The parser limits how
 * deep they are. */
static void ttool_lint_words_(ttool_lint_ *lint, tcall_json schema)
{
    tcall_json member;
    if (tcall_json_type(schema) != TCALL_OBJECT)
        return;
    ttool_lint_required_(lint, schema);
    ttool_lint_bounds_(lint, schema);
    ttool_lint_unchecked_(lint, schema);
    ttool_lint_default_(lint, schema);
    for (member = tcall_json_first(schema); member.at;
         member = tcall_json_next(member)) {
        tcall_writer here = lint->pointer;
        tcall_str word = tcall_json_key(member);
        size_t i = 0;
        ttool_lint_step_(lint, word);
        while (i < TCALL_ARRAY_LEN(ttool_words_) &&
               !tcall_str_eq(word, tcall_str_of(ttool_words_[i].name)))
            i++;
        if (i == TCALL_ARRAY_LEN(ttool_words_))
            ttool_lint_unknown_(lint, member);
        else
            ttool_lint_held_(lint, member, ttool_words_[i].holds);
        lint->pointer = here;
    }
}

static void ttool_lint_description_(ttool_lint_ *lint, int parameters,
                                    bool nested)
{
    char text[TTOOL_LINT_TEXT_];
    size_t tokens =
        ttool_lint_tokens(tcall_str_of(lint->tool->description).len);
    size_t least = nested || parameters > 4 ? 25 : 10;
    size_t most = nested || parameters > 1 ? 40 : 20;
    tcall_writer writer;
    ttool_lint_at_(lint, "/description");
    if (tokens >= least && tokens <= most)
        return;
    tcall_writer_init(&writer, text, sizeof text - 1);
    tcall_write_text(&writer, "has about ");
    tcall_write_int(&writer, (tcall_int)tokens);
    tcall_write_text(&writer, " tokens, should have ");
    tcall_write_int(&writer, (tcall_int)least);
    tcall_write_text(&writer, " to ");
    tcall_write_int(&writer, (tcall_int)most);
    tcall_write_text(&writer, ": what it does and when to use it");
    text[writer.fill] = '\0';
    ttool_lint_report_(lint, "description", NULL, false, text);
}

/* -- What a request holds -- */

/* Counts how often a text comes by in what is written. */
typedef struct ttool_count_ {
    const char *wanted; /* its first character occurs in it only once */
    size_t matched, found;
} ttool_count_;

static int ttool_count_bytes_(void *user, const char *bytes, size_t len)
{
    ttool_count_ *count = (ttool_count_ *)user;
    size_t i;
    for (i = 0; i < len; i++) {
        if (bytes[i] != count->wanted[count->matched])
            count->matched = 0;
        if (bytes[i] == count->wanted[count->matched])
            count->matched++;
        if (!count->wanted[count->matched]) {
            count->found++;
            count->matched = 0;
        }
    }
    return (int)len;
}

/* Writes a request with these tools; its length. */
static size_t ttool_lint_request_(const tcall_provider *provider,
                                  const tcall_tool *tools, size_t tool_count,
                                  ttool_count_ *count)
{
    char empty[8], piece[256];
    tcall_block none;
    tcall_chat chat;
    tcall_chat_request request;
    tcall_writer writer;
    memset(&request, 0, sizeof request);
    tcall_block_init(&none, empty, sizeof empty);
    tcall_chat_init(&chat, &none);
    request.chat = &chat;
    request.model = "";
    request.allow = TCALL_EVERYTHING;
    request.tools = tools;
    request.tool_count = tool_count;
    tcall_writer_init(&writer, piece, sizeof piece);
    tcall_writer_sink(&writer, ttool_count_bytes_, count);
    provider->write(provider, &writer, &request);
    tcall_writer_flush(&writer);
    return writer.len;
}

size_t ttool_lint_bytes(const tcall_provider *provider, const tcall_tool *tools,
                        size_t tool_count)
{
    ttool_count_ count = {",", 0, 0};
    return ttool_lint_request_(provider, tools, tool_count, &count) -
           ttool_lint_request_(provider, tools, 0, &count);
}

/* How many of the tools, the last of which is made strict or not, are sent in
 * strict mode. */
static size_t ttool_lint_strict_tools_(const tcall_provider *provider,
                                       tcall_tool *tools, size_t tool_count,
                                       bool strict)
{
    ttool_count_ count = {",\"strict\":true", 0, 0};
    tools[tool_count - 1].strict = strict;
    ttool_lint_request_(provider, tools, tool_count, &count);
    return count.found;
}

/* strict: the tools before this one that ask for strict mode, since a request
 * allows only so many, and room for one more. */
static void ttool_lint_strict_(ttool_lint_ *lint, tcall_tool *strict,
                               size_t strict_count)
{
    static const struct {
        const char *name;
        const tcall_provider *provider;
    } providers[] = {{"openai", &tcall_openai},
                     {"anthropic", &tcall_anthropic}};
    size_t i;
    ttool_lint_at_(lint, "/parameters");
    strict[strict_count] = *lint->tool;
    for (i = 0; i < TCALL_ARRAY_LEN(providers); i++) {
        const tcall_provider *provider = providers[i].provider;
        if (ttool_lint_strict_tools_(provider, strict, strict_count + 1,
                                     true) ==
            ttool_lint_strict_tools_(provider, strict, strict_count + 1, false))
            ttool_lint_report_(lint, "strict", providers[i].name,
                               !lint->tool->strict,
                               "is sent without strict mode, which cannot say "
                               "it or has reached a limit");
    }
    strict[strict_count].strict = lint->tool->strict;
}

/* -- All of a tool -- */

static tcall_verdict ttool_lint_approve_(void *user, const tcall_call *call)
{
    (void)user;
    (void)call;
    return TCALL_VERDICT_DENY;
}

/* Registers the row alone, with all that it may ask for, in as much memory as
 * that takes. Returns what tcall_init says; its report is in text. */
static int ttool_lint_register_(const tcall_tool *tool, char *text, size_t cap)
{
    tcall_tool row = *tool;
    tcall_writer report;
    tcall_desc desc;
    tcall tc;
    int r;
    memset(&desc, 0, sizeof desc);
    desc.roles = row.roles;
    desc.groups = row.groups;
    desc.approve = ttool_lint_approve_;
    desc.report = &tcall_report;
    desc.faults = &report;
    tcall_writer_init(&report, text, cap - 1);
    r = ttool_lint_init_(&tc, &desc, &row);
    text[report.fill] = '\0';
    free(desc.block);
    return r;
}

/* Reports one line of what tcall_init says, without the tool's name: which of
 * its schemas it is about, and the words. */
static void ttool_lint_line_(ttool_lint_ *lint, char *line, bool refused)
{
    static const char *const schemas[] = {"/parameters", "/output",
                                          "/provider_schema"};
    const char *text = line, *code = "row";
    bool note = strncmp(text, "note: ", 6) == 0;
    size_t i;
    text += note ? 6 : 0;
    ttool_lint_at_(lint, "");
    for (i = 0; i < TCALL_ARRAY_LEN(schemas); i++) {
        size_t length = strlen(schemas[i] + 1);
        if (strncmp(text, schemas[i] + 1, length) || text[length] != ':')
            continue;
        ttool_lint_at_(lint, schemas[i]);
        code = "schema";
        text += length + 2;
        break;
    }
    ttool_lint_report_(lint, code, NULL, note || !refused, text);
}

/* Reports what tcall_init says of the row. */
static void ttool_lint_row_(ttool_lint_ *lint)
{
    enum { CAP = 1 << 16 };
    const char *name = lint->tool->name ? lint->tool->name : "(no name)";
    char *text = (char *)malloc(CAP), *line = text, *end;
    int r = text ? ttool_lint_register_(lint->tool, text, CAP) : TCALL_OK;
    for (; line && *line; line = end + 1) {
        end = strchr(line, '\n');
        if (!end)
            break; /* more than there is room for: the first lines will do */
        *end = '\0';
        ttool_lint_line_(lint, line + strlen(name) + 2, r < 0);
    }
    free(text);
}

/* Parses the schema into memory that the caller frees; false: it is no JSON. */
static bool ttool_lint_parse_(const char *text, tcall_json *schema,
                              void **memory)
{
    size_t length = strlen(text);
    *memory = malloc(length + 1);
    if (!*memory)
        return false;
    memcpy(*memory, text, length + 1);
    return tcall_json_parse(schema, (char *)*memory, length, NULL) == TCALL_OK;
}

/* Writes the schema that the arguments are checked against. */
static void ttool_lint_write_(tcall_writer *writer, const tcall_tool *tool)
{
    const tcall_schema_text *source = &tool->parameters;
    if (source->text)
        tcall_write_text(writer, source->text);
    else if (source->made)
        tcall_write_shape(writer, (const tcall_object *)source->made);
}

/* Returns the same as text that the caller frees; NULL: there is none. */
static char *ttool_lint_text_(const tcall_tool *tool)
{
    tcall_writer writer;
    char *text;
    tcall_writer_init(&writer, NULL, 0);
    ttool_lint_write_(&writer, tool);
    text = writer.len ? (char *)malloc(writer.len + 1) : NULL;
    if (!text)
        return NULL;
    tcall_writer_init(&writer, text, writer.len);
    ttool_lint_write_(&writer, tool);
    text[writer.fill] = '\0';
    return text;
}

static void ttool_lint_tool_(ttool_lint_ *lint, tcall_tool *strict,
                             size_t strict_count)
{
    void *memory = NULL;
    bool nested = false;
    int parameters = 0;
    char *text = ttool_lint_text_(lint->tool);
    ttool_lint_name_(lint);
    ttool_lint_row_(lint);
    if (text && ttool_lint_parse_(text, &lint->schema, &memory)) {
        ttool_lint_at_(lint, "/parameters");
        parameters = ttool_lint_parameters_(lint, lint->schema, 0, &nested);
        ttool_lint_words_(lint, lint->schema);
        ttool_lint_strict_(lint, strict, strict_count);
    }
    free(memory);
    free(text);
    ttool_lint_description_(lint, parameters, nested);
}

int ttool_lint(const tcall_tool *tools, size_t tool_count,
               void (*found)(void *user, const ttool_finding *finding),
               void *user)
{
    tcall_tool *strict =
        (tcall_tool *)malloc((tool_count + 1) * sizeof(tcall_tool));
    size_t strict_count = 0, i;
    ttool_lint_ lint;
    memset(&lint, 0, sizeof lint);
    lint.found = found;
    lint.user = user;
    lint.tools = tools;
    for (i = 0; strict && i < tool_count; i++) {
        lint.tool = &tools[i];
        ttool_lint_tool_(&lint, strict, strict_count);
        strict_count += tools[i].strict &&
                        (tools[i].parameters.text || tools[i].parameters.made);
    }
    free(strict);
    return lint.count;
}
