#pragma once
#include "schema_check.c"

/* ==========================================================================
 * >>schema_errors: what is wrong with a value or a schema, in sentences
 */

/* -- Pieces of sentences -------------------------------------------------- */

/* Longer values are cut in what the model reads. */
#define TCALL_SHOWN_ 160

/* All of these write into the content of a JSON string. */
static void tcall_say_(tcall_writer *w, const char *text)
{
    tcall_write_content_(w, tcall_str_of(text));
}

/* Bytes, cut when they are many. */
static void tcall_say_str_(tcall_writer *w, tcall_str text)
{
    bool cut = text.len > TCALL_SHOWN_;
    if (cut)
        text.len = tcall_utf8_cut_(text.ptr, TCALL_SHOWN_);
    tcall_write_content_(w, text);
    if (cut)
        tcall_say_(w, "...");
}

static void tcall_say_quoted_(tcall_writer *w, tcall_str text)
{
    tcall_say_(w, "\"");
    tcall_say_str_(w, text);
    tcall_say_(w, "\"");
}

/* The JSON text at p. */
static void tcall_say_json_(tcall_writer *w, const char *p)
{
    tcall_say_str_(w, tcall_text_verbatim_(p));
}

static void tcall_say_count_(tcall_writer *w, uint32_t count)
{
    char digits[10], *p = digits + sizeof digits;
    do {
        *--p = (char)('0' + count % 10);
        count /= 10;
    } while (count);
    tcall_write_content_(w,
                         tcall_slice_(p, (size_t)(digits + sizeof digits - p)));
}

/* A value that was sent: a scalar as it is, of others what they are. */
static void tcall_say_value_(tcall_writer *w, tcall_json value)
{
    tcall_type type = tcall_json_type(value);
    if (value.tok->type & TCALL_KEY_)
        tcall_say_(w, "the property name ");
    if (type == TCALL_STRING)
        tcall_say_quoted_(w, tcall_tok_str_(value.text, value.tok));
    else if (type < TCALL_ARRAY)
        tcall_say_str_(w, tcall_tok_str_(value.text, value.tok));
    else
        tcall_say_(w, type == TCALL_ARRAY ? "the array" : "the object");
}

/* One step of a JSON Pointer: the name of a member, or the index of an element.
 */
static void tcall_say_step_(tcall_writer *w, tcall_json value, uint32_t index)
{
    tcall_str name = tcall_json_key(value);
    size_t i;
    tcall_say_(w, "/");
    if (!(value.tok->type & TCALL_MEMBER_))
        tcall_say_count_(w, index);
    for (i = 0; i < name.len; i++) {
        const char *escape = tcall_pointer_escape_(name.ptr[i]);
        size_t from = i;
        while (!escape && i + 1 < name.len &&
               !tcall_pointer_escape_(name.ptr[i + 1]))
            i++;
        if (escape)
            tcall_say_(w, escape);
        else
            tcall_write_content_(w,
                                 tcall_slice_(name.ptr + from, i + 1 - from));
    }
}

/* The JSON Pointer of a token; of a name that of its value. */
static void tcall_say_pointer_(tcall_writer *w, tcall_json value,
                               const tcall_tok *tok)
{
    if (tok->type & TCALL_KEY_)
        tok++;
    while (value.tok < tok) {
        uint32_t index = 0;
        value = tcall_json_first(value);
        for (; value.tok + value.tok->span <= tok; index++)
            value = tcall_json_next(value);
        tcall_say_step_(w, value, index);
    }
}

/* "path": the JSON Pointer of a token. */
static void tcall_write_path_(tcall_writer *w, tcall_json value,
                              const tcall_tok *tok)
{
    tcall_write_key(w, "path");
    tcall_write_char_(w, '"');
    tcall_say_pointer_(w, value, tok);
    tcall_write_char_(w, '"');
}

/* -- What is wrong, and what to send instead ------------------------------ */

/* One error with all that its sentence may name. */
typedef struct tcall_fault_ {
    const tcall_schema *schema;
    tcall_json root, value; /* what was checked; what is wrong within */
    uint32_t node, parent;  /* the keyword's node, and its schema's */
    uint32_t end;           /* the node after that schema */
    uint32_t count;
    int keyword, applied; /* what failed; the op of the node */
} tcall_fault_;

static const char *tcall_fault_at_(const tcall_fault_ *f)
{
    return tcall_node_at_(f->schema, f->node);
}

/* The argument of another keyword of the same schema, NULL: it has none. */
static uint32_t tcall_fault_other_(const tcall_fault_ *f, int op)
{
    return tcall_node_child_(f->schema->program, f->parent, f->end, op);
}

/* Words for the types, in the order of tcall_type_names_. */
static const char *const tcall_type_words_[] = {
    "null",     "a boolean", "a number",  "a string",
    "an array", "an object", "an integer"};

/* The types that a schema allows: "a string, a number or null". */
static void tcall_say_types_(tcall_writer *w, uint32_t types)
{
    int i, left = 0;
    for (i = 0; i < 7; i++)
        left += (int)(types >> i & 1);
    for (i = 6; i >= 0; i--) {
        if (!(types >> i & 1))
            continue;
        tcall_say_(w, tcall_type_words_[i]);
        if (--left)
            tcall_say_(w, left == 1 ? " or " : ", ");
    }
}

static void tcall_say_type_(tcall_writer *w, const tcall_fault_ *f)
{
    uint32_t types = f->schema->program[f->node].arg >> TCALL_TYPES_ & 0x7F;
    tcall_type type = tcall_json_type(f->value);
    if (type == TCALL_NULL) {
        tcall_say_(w, "null is not allowed here");
    } else {
        tcall_say_value_(w, f->value);
        tcall_say_(w, " is ");
        tcall_say_(w, type >= TCALL_ARRAY
                          ? "not allowed here"
                          : tcall_type_words_[type - TCALL_NULL]);
    }
    tcall_say_(w, "; send ");
    tcall_say_types_(w, types);
}

/* "celsius", "fahrenheit" or "kelvin", as far as they fit. */
static void tcall_say_list_(tcall_writer *w, const char *array)
{
    size_t room = w->len + 2 * TCALL_SHOWN_;
    const char *p = tcall_text_next_(array + 1), *next;
    for (; *p != ']'; p = next) {
        next = tcall_text_next_(tcall_text_skip_(p));
        tcall_say_json_(w, p);
        if (*next == ']')
            break;
        tcall_say_(w, *tcall_text_next_(tcall_text_skip_(next)) == ']' ? " or "
                                                                       : ", ");
        if (w->len > room) {
            tcall_say_(w, "...");
            break;
        }
    }
}

/* A bound of a number: " at least 1", from the word and a keyword's node. */
static void tcall_say_bound_(tcall_writer *w, const tcall_fault_ *f,
                             const char *words, uint32_t node)
{
    tcall_say_(w, words);
    tcall_say_json_(w, tcall_node_at_(f->schema, node));
}

/* "send a number from 1 to 7": of both bounds that the schema has. */
static void tcall_say_range_(tcall_writer *w, const tcall_fault_ *f)
{
    uint32_t types = f->schema->program[f->parent].arg >> TCALL_TYPES_ & 0x7F;
    uint32_t min = tcall_fault_other_(f, TCALL_K_MINIMUM_);
    uint32_t max = tcall_fault_other_(f, TCALL_K_MAXIMUM_);
    uint32_t above = tcall_fault_other_(f, TCALL_K_ABOVE_);
    uint32_t below = tcall_fault_other_(f, TCALL_K_BELOW_);
    bool integer = types >> 6 && !(types >> (TCALL_NUMBER - 1) & 1);
    tcall_say_(w, integer ? "; send an integer" : "; send a number");
    if (min && max && !above && !below) {
        tcall_say_bound_(w, f, " from ", min);
        tcall_say_bound_(w, f, " to ", max);
        return;
    }
    if (above)
        tcall_say_bound_(w, f, " greater than ", above);
    else if (min)
        tcall_say_bound_(w, f, " of at least ", min);
    if ((above || min) && (below || max))
        tcall_say_(w, " and");
    if (below)
        tcall_say_bound_(w, f, " less than ", below);
    else if (max)
        tcall_say_bound_(w, f, above || min ? " at most " : " of at most ",
                         max);
}

/* A count with its noun, for strings, arrays and objects. */
static void tcall_say_counted_(tcall_writer *w, uint32_t count, tcall_type type)
{
    bool one = count == 1;
    tcall_say_count_(w, count);
    tcall_say_(w, type == TCALL_STRING  ? one ? " character" : " characters"
                  : type == TCALL_ARRAY ? one ? " element" : " elements"
                  : one                 ? " property"
                                        : " properties");
}

/* The node of the same schema that limits the same count, 0: none. */
static uint32_t tcall_fault_limit_(const tcall_fault_ *f, int bound)
{
    int op, type = tcall_keywords_[f->keyword].type;
    for (op = 0; op < TCALL_K_COUNT_; op++)
        if (tcall_keyword_counts_(op) && tcall_keywords_[op].type == type &&
            tcall_keywords_[op].bound == bound)
            return tcall_fault_other_(f, op);
    return 0;
}

/* "send 2 to 5 elements" */
static void tcall_say_limits_(tcall_writer *w, const tcall_fault_ *f)
{
    const tcall_node_ *program = f->schema->program;
    tcall_type type = (tcall_type)tcall_keywords_[f->keyword].type;
    uint32_t min = tcall_fault_limit_(f, TCALL_AT_LEAST_);
    uint32_t max = tcall_fault_limit_(f, TCALL_AT_MOST_);
    tcall_say_(w, "; send ");
    if (!max)
        tcall_say_(w, "at least ");
    if (!min)
        tcall_say_(w, "at most ");
    if (min && max && program[min].arg != program[max].arg) {
        tcall_say_count_(w, program[min].arg);
        tcall_say_(w, " to ");
    }
    tcall_say_counted_(w, program[max ? max : min].arg, type);
}

static void tcall_say_length_(tcall_writer *w, const tcall_fault_ *f)
{
    const tcall_keyword_ *keyword = &tcall_keywords_[f->keyword];
    tcall_type type = (tcall_type)keyword->type;
    tcall_say_value_(w, f->value);
    tcall_say_(w, " has ");
    tcall_say_counted_(w, f->count, type);
    tcall_say_(w, keyword->bound == TCALL_AT_MOST_ ? ", over the maximum "
                                                   : ", under the minimum ");
    tcall_say_count_(w, f->schema->program[f->node].arg);
    tcall_say_limits_(w, f);
}

/* contains, minContains, maxContains. */
static void tcall_say_contains_(tcall_writer *w, const tcall_fault_ *f)
{
    uint32_t contains = tcall_fault_other_(f, TCALL_K_CONTAINS_);
    bool most = f->keyword == TCALL_K_MAX_CONTAINS_;
    uint32_t limit =
        f->keyword == TCALL_K_CONTAINS_ ? 1 : f->schema->program[f->node].arg;
    tcall_say_counted_(w, f->count, TCALL_ARRAY);
    tcall_say_(w, f->count == 1 ? " of the array matches "
                                : " of the array match ");
    tcall_say_json_(w, tcall_node_at_(f->schema, contains));
    tcall_say_(w, most ? "; send at most " : "; send at least ");
    tcall_say_count_(w, limit);
    tcall_say_(w, " of them");
}

/* The property that is required stands in the schema's text. */
static void tcall_say_required_(tcall_writer *w, const tcall_fault_ *f)
{
    const char *at = tcall_node_at_(f->schema, f->parent);
    bool depends = f->applied == TCALL_K_DEPENDENT_REQUIRED_ ||
                   f->applied == TCALL_K_DEPENDENCIES_;
    tcall_say_(w, "the property ");
    tcall_say_json_(w, tcall_fault_at_(f));
    tcall_say_(w, " is missing");
    if (depends) {
        tcall_say_(w, ", which ");
        tcall_say_json_(w, at);
        tcall_say_(w, " needs");
    }
    tcall_say_(w, "; add it");
    if (depends) {
        tcall_say_(w, " or leave out ");
        tcall_say_json_(w, at);
    }
}

/* The names that the schema around has properties for. */
static void tcall_say_names_(tcall_writer *w, const tcall_fault_ *f)
{
    const tcall_node_ *program = f->schema->program;
    size_t room = w->len + 2 * TCALL_SHOWN_;
    uint32_t i = tcall_fault_other_(f, TCALL_K_PROPERTIES_);
    const char *before = "; use one of ";
    for (; i && i < f->end && w->len < room &&
           tcall_node_op_(&program[i]) == TCALL_K_PROPERTIES_;
         i = tcall_node_after_(program, i)) {
        tcall_say_(w, before);
        tcall_say_json_(w, tcall_node_at_(f->schema, i));
        before = ", ";
    }
    tcall_say_(w, *before == ';' ? "; leave it out" : " or leave it out");
}

/* A schema that is false: what it was applied by says what is wrong. */
static void tcall_say_never_(tcall_writer *w, const tcall_fault_ *f)
{
    unsigned applies = tcall_keywords_[f->applied].applies;
    if (f->applied == TCALL_K_NAMES_) {
        tcall_say_value_(w, f->value);
        tcall_say_(w, " is not allowed; leave it out");
    } else if (applies == TCALL_TO_MEMBERS_) {
        tcall_say_quoted_(w, tcall_json_key(f->value));
        if (f->applied != TCALL_K_ADDITIONAL_) {
            tcall_say_(w, " is not allowed; leave it out");
            return;
        }
        tcall_say_(w, " is not a property here");
        tcall_say_names_(w, f);
    } else if (applies == TCALL_TO_ELEMENTS_) {
        tcall_say_(w, "this element is one too many; leave it out");
    } else {
        tcall_say_(w, "no value is allowed here; leave it out");
    }
}

/* anyOf and oneOf: none of the alternatives was accepted, or several. */
static void tcall_say_choice_(tcall_writer *w, const tcall_fault_ *f)
{
    const char *array = tcall_fault_at_(f);
    while (*array != '[')
        array--;
    tcall_say_value_(w, f->value);
    tcall_say_(w, f->count ? " fits several alternatives of "
                           : " fits no alternative of ");
    tcall_say_(w, tcall_keywords_[f->keyword].name);
    tcall_say_(w, f->keyword == TCALL_K_ONEOF_
                      ? "; send what fits exactly one of "
                      : "; send what fits one of ");
    tcall_say_json_(w, array);
}

/* What is wrong with a value in view of the keyword's own, and what to send. */
static const struct tcall_sentence_ {
    uint8_t keyword;
    const char *wrong, *remedy;
} tcall_sentences_[] = {
    {TCALL_K_MINIMUM_, " is under the minimum ", NULL},
    {TCALL_K_MAXIMUM_, " is over the maximum ", NULL},
    {TCALL_K_ABOVE_, " is not greater than ", NULL},
    {TCALL_K_BELOW_, " is not less than ", NULL},
    {TCALL_K_MULTIPLE_, " is not a multiple of ", "; send a multiple of it"},
    {TCALL_K_CONST_, " is not the only value that is allowed; send ", ""},
    {TCALL_K_NOT_, " matches what is forbidden, ",
     "; send a value that does not"}};

/* The sentence of a keyword that holds a value against its own. */
static void tcall_say_compared_(tcall_writer *w, const tcall_fault_ *f)
{
    const struct tcall_sentence_ *row = tcall_sentences_;
    while (row->keyword != f->keyword)
        row++;
    tcall_say_value_(w, f->value);
    tcall_say_(w, row->wrong);
    tcall_say_json_(w, tcall_fault_at_(f));
    if (row->remedy)
        tcall_say_(w, row->remedy);
    else
        tcall_say_range_(w, f);
}

static void tcall_say_sentence_(tcall_writer *w, const tcall_fault_ *f)
{
    tcall_str pattern;
    switch (f->keyword) {
    case TCALL_K_TYPE_: tcall_say_type_(w, f); break;
    case TCALL_K_NEVER_: tcall_say_never_(w, f); break;
    case TCALL_K_REQUIRED_: tcall_say_required_(w, f); break;
    case TCALL_K_ANYOF_:
    case TCALL_K_ONEOF_: tcall_say_choice_(w, f); break;
    case TCALL_K_CONTAINS_:
    case TCALL_K_MIN_CONTAINS_:
    case TCALL_K_MAX_CONTAINS_: tcall_say_contains_(w, f); break;
    case TCALL_K_ENUM_:
        tcall_say_value_(w, f->value);
        tcall_say_(w, " is not one of the allowed values; send ");
        tcall_say_list_(w, tcall_fault_at_(f));
        break;
    case TCALL_K_PATTERN_:
        tcall_say_value_(w, f->value);
        tcall_say_(w, " does not match the pattern ");
        /* its escapes are those of the string that is being written */
        pattern = tcall_text_inner_(tcall_fault_at_(f));
        tcall_write_bytes(w, pattern.ptr, pattern.len);
        tcall_say_(w, "; send a string that does");
        break;
    case TCALL_K_UNIQUE_:
        tcall_say_value_(
            w, tcall_json_cursor_(f->root.text, f->root.tok + f->count));
        tcall_say_(w, " is in the array twice; send each value once");
        break;
    default:
        if (tcall_keyword_counts_(f->keyword))
            tcall_say_length_(w, f);
        else
            tcall_say_compared_(w, f);
    }
}

/* What the object says is the keyword. */
static const char *tcall_fault_keyword_(const tcall_fault_ *f)
{
    if (f->keyword == TCALL_K_REQUIRED_ &&
        tcall_keywords_[f->applied].applies == TCALL_TO_PRESENT_ &&
        f->applied != TCALL_K_DEPENDENT_SCHEMAS_)
        return tcall_keywords_[f->applied].name;
    if (f->keyword != TCALL_K_NEVER_)
        return tcall_keywords_[f->keyword].name;
    if (f->applied == TCALL_K_ADDITIONAL_ || f->applied == TCALL_K_NAMES_ ||
        f->applied == TCALL_K_REST_ || f->applied == TCALL_K_EXTRA_)
        return tcall_keywords_[f->applied].name;
    return "false";
}

/* The schema that a keyword's node belongs to. */
static uint32_t tcall_node_parent_(const tcall_node_ *program, uint32_t node)
{
    uint32_t i = node;
    if (!i)
        return 0;
    do
        i--;
    while (tcall_node_after_(program, i) <= node);
    return i;
}

static tcall_fault_ tcall_fault_of_(const tcall_schema *schema,
                                    tcall_json value,
                                    const tcall_validation_error *error)
{
    const tcall_node_ *program = schema->program;
    tcall_fault_ f;
    f.schema = schema;
    f.root = value;
    f.value = tcall_json_cursor_(value.text, value.tok + error->tok);
    f.node = error->node;
    f.count = error->count;
    f.keyword = (int)error->keyword;
    f.parent = tcall_node_parent_(program, error->node);
    f.end = tcall_node_after_(program, f.parent);
    f.applied = tcall_node_op_(
        &program[f.keyword == TCALL_K_REQUIRED_ ? f.parent : f.node]);
    return f;
}

/* Into a string that is open: "/days: 9 is over the maximum 7; ..." */
TCALL_SHARED_ void tcall_say_error_(tcall_writer *w, const tcall_schema *schema,
                                    tcall_json value,
                                    const tcall_validation_error *error)
{
    tcall_fault_ f = tcall_fault_of_(schema, value, error);
    tcall_say_pointer_(w, value, f.value.tok);
    tcall_say_(w, f.value.tok > value.tok ? ": " : "");
    tcall_say_sentence_(w, &f);
}

int tcall_write_validation_error(tcall_writer *w, const tcall_schema *schema,
                                 tcall_json value,
                                 const tcall_validation_error *error)
{
    tcall_fault_ f = tcall_fault_of_(schema, value, error);
    tcall_write_open(w, '{');
    tcall_write_path_(w, value, f.value.tok);
    tcall_write_key(w, "keyword");
    tcall_write_string(w, tcall_fault_keyword_(&f));
    tcall_write_key(w, "message");
    tcall_write_char_(w, '"');
    tcall_say_sentence_(w, &f);
    tcall_write_char_(w, '"');
    return tcall_write_close(w, '}');
}

int tcall_write_validation_errors(tcall_writer *w, const tcall_schema *schema,
                                  tcall_json value, const tcall_check *check)
{
    size_t i;
    tcall_write_open(w, '[');
    for (i = 0; i < check->error_count && i < check->error_cap; i++)
        tcall_write_validation_error(w, schema, value, &check->errors[i]);
    return tcall_write_close(w, ']');
}

/* -- Coercions ------------------------------------------------------------ */

/* A value that was sent, as a JSON string or a scalar that is not too long. */
static void tcall_write_found_(tcall_writer *w, tcall_json value)
{
    tcall_str text = tcall_tok_str_(value.text, value.tok);
    if (tcall_json_type(value) != TCALL_STRING && text.len <= TCALL_SHOWN_) {
        tcall_write_verbatim(w, text);
        return;
    }
    tcall_write_comma_(w);
    tcall_write_char_(w, '"');
    tcall_say_str_(w, text);
    tcall_write_char_(w, '"');
}

int tcall_write_coercions(tcall_writer *w, tcall_json value)
{
    int i;
    tcall_write_open(w, '[');
    for (i = 0; value.tok && i < value.tok->span; i++) {
        const tcall_tok *tok = value.tok + i;
        if (tok->mark == TCALL_MARK_NONE_)
            continue;
        tcall_write_open(w, '{');
        tcall_write_path_(w, value, tok);
        tcall_write_key(w, "from");
        tcall_write_found_(w, tcall_json_cursor_(value.text, tok));
        if (tok->mark != TCALL_MARK_DROP_) {
            tcall_write_key(w, "to");
            tcall_write_comma_(w);
            tcall_write_scalar_(w, value.text, tok);
        }
        tcall_write_close(w, '}');
    }
    return tcall_write_close(w, ']');
}

/* -- Schema errors -------------------------------------------------------- */

/* JSON text as it is, cut when it is long. */
static void tcall_write_shown_(tcall_writer *w, tcall_str json)
{
    bool cut = json.len > TCALL_SHOWN_;
    tcall_write_bytes(w, json.ptr,
                      cut ? tcall_utf8_cut_(json.ptr, TCALL_SHOWN_) : json.len);
    if (cut)
        tcall_write_text(w, "...");
}

/* A name of a JSON Pointer; quote: the name in JSON text. */
static void tcall_write_pointer_name_(tcall_writer *w, const char *quote)
{
    tcall_write_text(w, "/");
    for (quote++; *quote != '"';) {
        char bytes[4];
        size_t len = tcall_text_char_(&quote, bytes);
        const char *escape = tcall_pointer_escape_(*bytes);
        if (escape)
            tcall_write_text(w, escape);
        else
            tcall_write_bytes(w, bytes, len);
    }
}

/* The JSON Pointer of the value, or of the member whose name begins, at a place
 * in JSON text. */
static void tcall_write_place_(tcall_writer *w, const char *text,
                               const char *place)
{
    const char *value = tcall_text_space_(text), *member = value;
    while (member < place && (*value == '{' || *value == '[')) {
        bool object = *value == '{';
        uint32_t index = 0;
        for (member = tcall_text_next_(value + 1);; index++) {
            const char *next;
            value = object ? tcall_text_value_(member) : member;
            next = tcall_text_next_(tcall_text_skip_(value));
            if (next > place || tcall_text_closes_(next))
                break;
            member = next;
        }
        if (object) {
            tcall_write_pointer_name_(w, member);
        } else {
            tcall_write_text(w, "/");
            tcall_say_count_(w, index);
        }
        member = value > place ? place : value;
    }
}

int tcall_write_schema_error(tcall_writer *w, const tcall_schema *schema)
{
    if (!schema->reason)
        return tcall_write_text(w, "ok");
    if (schema->text) {
        const char *place = schema->text + schema->at;
        if (place == tcall_text_space_(schema->text))
            tcall_write_text(w, "the schema");
        tcall_write_place_(w, schema->text, place);
        tcall_write_text(w, ": ");
        tcall_write_text(w, schema->reason);
        tcall_write_text(w, " ");
        tcall_write_shown_(w, tcall_text_verbatim_(place));
    } else {
        tcall_write_text(w, schema->reason);
    }
    if (schema->remedy) {
        tcall_write_text(w, "; ");
        tcall_write_text(w, schema->remedy);
    }
    return w->error;
}
