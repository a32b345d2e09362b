#pragma once
#include "schema_check.c"

/* ==========================================================================
 * >>schema_errors: what is wrong with a value or a schema, in sentences
 */

/* -- Pieces of sentences -------------------------------------------------- */

/* Longer values are cut in what the model reads. */
#define TCALL_SHOWN_ 160

/* All of these write into the content of a JSON string. */
static void tcall_say_(tcall_writer *writer, const char *text)
{
    tcall_write_content_(writer, tcall_str_of(text));
}

/* Bytes, cut when they are many. */
static void tcall_say_str_(tcall_writer *writer, tcall_str text)
{
    bool cut = text.len > TCALL_SHOWN_;
    if (cut)
        text.len = tcall_utf8_cut_(text.ptr, TCALL_SHOWN_);
    tcall_write_content_(writer, text);
    if (cut)
        tcall_say_(writer, "...");
}

/* A string as a reader sees it: its quotes, nothing escaped within. */
static void tcall_say_quoted_(tcall_writer *writer, tcall_str text)
{
    tcall_say_(writer, "\"");
    tcall_say_str_(writer, text);
    tcall_say_(writer, "\"");
}

/* The JSON text at p. */
static void tcall_say_json_(tcall_writer *writer, const char *p)
{
    tcall_say_str_(writer, tcall_text_verbatim_(p));
}

/* A number that we counted. */
static void tcall_say_count_(tcall_writer *writer, uint32_t count)
{
    char digits[10], *p = digits + sizeof digits;
    do {
        *--p = (char)('0' + count % 10);
        count /= 10;
    } while (count);
    tcall_write_content_(writer,
                         tcall_slice_(p, (size_t)(digits + sizeof digits - p)));
}

/* A value that was sent: a scalar as it is, of others what they are. */
static void tcall_say_value_(tcall_writer *writer, tcall_json value)
{
    tcall_type type = tcall_json_type(value);
    if (value.tok->type & TCALL_KEY_)
        tcall_say_(writer, "the property name ");
    if (type == TCALL_STRING)
        tcall_say_quoted_(writer, tcall_tok_str_(value.text, value.tok));
    else if (type < TCALL_ARRAY)
        tcall_say_str_(writer, tcall_tok_str_(value.text, value.tok));
    else
        tcall_say_(writer, type == TCALL_ARRAY ? "the array" : "the object");
}

/* One step of a JSON Pointer: the name of a member, or the index of an element.
 */
static void tcall_say_step_(tcall_writer *writer, tcall_json value,
                            uint32_t index)
{
    tcall_str name = tcall_json_key(value);
    size_t i;
    tcall_say_(writer, "/");
    if (!(value.tok->type & TCALL_MEMBER_))
        tcall_say_count_(writer, index);
    for (i = 0; i < name.len; i++) {
        const char *escape = tcall_pointer_escape_(name.ptr[i]);
        size_t from = i;
        while (!escape && i + 1 < name.len &&
               !tcall_pointer_escape_(name.ptr[i + 1]))
            i++;
        if (escape)
            tcall_say_(writer, escape);
        else
            tcall_write_content_(writer,
                                 tcall_slice_(name.ptr + from, i + 1 - from));
    }
}

/* The JSON Pointer of a token; of a name that of its value. */
static void tcall_say_pointer_(tcall_writer *writer, tcall_json value,
                               const tcall_tok *tok)
{
    if (tok->type & TCALL_KEY_)
        tok++;
    while (value.tok < tok) {
        uint32_t index = 0;
        value = tcall_json_first(value);
        for (; value.tok + value.tok->span <= tok; index++)
            value = tcall_json_next(value);
        tcall_say_step_(writer, value, index);
    }
}

/* "path": the JSON Pointer of a token. */
static void tcall_write_path_(tcall_writer *writer, tcall_json value,
                              const tcall_tok *tok)
{
    tcall_write_key(writer, "path");
    tcall_write_char_(writer, '"');
    tcall_say_pointer_(writer, value, tok);
    tcall_write_char_(writer, '"');
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

/* Where in the schema the keyword that failed comes from. */
static const char *tcall_fault_at_(const tcall_fault_ *fault)
{
    return tcall_node_at_(fault->schema, fault->node);
}

/* The node of another keyword of the same schema, 0: it has none. */
static uint32_t tcall_fault_other_(const tcall_fault_ *fault, int op)
{
    return tcall_node_child_(fault->schema->program, fault->parent, fault->end,
                             op);
}

/* Words for the types, in the order of tcall_type_names_. */
static const char *const tcall_type_words_[] = {
    "null",     "a boolean", "a number",  "a string",
    "an array", "an object", "an integer"};

/* The types that a schema allows: "a string, a number or null". */
static void tcall_say_types_(tcall_writer *writer, uint32_t types)
{
    int i, left = 0;
    for (i = 0; i < 7; i++)
        left += (int)(types >> i & 1);
    for (i = 6; i >= 0; i--) {
        if (!(types >> i & 1))
            continue;
        tcall_say_(writer, tcall_type_words_[i]);
        if (--left)
            tcall_say_(writer, left == 1 ? " or " : ", ");
    }
}

/* "x" is a string; send an integer or null. What an array or object holds is
 * not shown: it may be long, and the path says which one it is. */
static void tcall_say_type_(tcall_writer *writer, const tcall_fault_ *fault)
{
    uint32_t types =
        fault->schema->program[fault->node].arg >> TCALL_TYPES_ & 0x7F;
    tcall_type type = tcall_json_type(fault->value);
    if (type == TCALL_NULL) {
        tcall_say_(writer, "null is not allowed here");
    } else {
        tcall_say_value_(writer, fault->value);
        tcall_say_(writer, " is ");
        tcall_say_(writer, type >= TCALL_ARRAY
                               ? "not allowed here"
                               : tcall_type_words_[type - TCALL_NULL]);
    }
    tcall_say_(writer, "; send ");
    tcall_say_types_(writer, types);
}

/* "celsius", "fahrenheit" or "kelvin", as far as they fit. */
static void tcall_say_list_(tcall_writer *writer, const char *array)
{
    size_t room = writer->len + 2 * TCALL_SHOWN_;
    const char *p = tcall_text_next_(array + 1), *next;
    for (; *p != ']'; p = next) {
        next = tcall_text_next_(tcall_text_skip_(p));
        tcall_say_json_(writer, p);
        if (*next == ']')
            break;
        tcall_say_(writer, *tcall_text_next_(tcall_text_skip_(next)) == ']'
                               ? " or "
                               : ", ");
        if (writer->len > room) {
            tcall_say_(writer, "...");
            break;
        }
    }
}

/* A bound of a number: " at least 1", from the word and a keyword's node. */
static void tcall_say_bound_(tcall_writer *writer, const tcall_fault_ *fault,
                             const char *words, uint32_t node)
{
    tcall_say_(writer, words);
    tcall_say_json_(writer, tcall_node_at_(fault->schema, node));
}

/* "send a number from 1 to 7": of both bounds that the schema has. */
static void tcall_say_range_(tcall_writer *writer, const tcall_fault_ *fault)
{
    uint32_t types =
        fault->schema->program[fault->parent].arg >> TCALL_TYPES_ & 0x7F;
    uint32_t min = tcall_fault_other_(fault, TCALL_K_MINIMUM_);
    uint32_t max = tcall_fault_other_(fault, TCALL_K_MAXIMUM_);
    uint32_t above = tcall_fault_other_(fault, TCALL_K_ABOVE_);
    uint32_t below = tcall_fault_other_(fault, TCALL_K_BELOW_);
    bool integer = types >> 6 && !(types >> (TCALL_NUMBER - 1) & 1);
    tcall_say_(writer, integer ? "; send an integer" : "; send a number");
    if (min && max && !above && !below) {
        tcall_say_bound_(writer, fault, " from ", min);
        tcall_say_bound_(writer, fault, " to ", max);
        return;
    }
    if (above)
        tcall_say_bound_(writer, fault, " greater than ", above);
    else if (min)
        tcall_say_bound_(writer, fault, " of at least ", min);
    if ((above || min) && (below || max))
        tcall_say_(writer, " and");
    if (below)
        tcall_say_bound_(writer, fault, " less than ", below);
    else if (max)
        tcall_say_bound_(writer, fault,
                         above || min ? " at most " : " of at most ", max);
}

/* A count with its noun, for strings, arrays and objects. */
static void tcall_say_counted_(tcall_writer *writer, uint32_t count,
                               tcall_type type)
{
    bool one = count == 1;
    tcall_say_count_(writer, count);
    tcall_say_(writer, type == TCALL_STRING ? one ? " character" : " characters"
                       : type == TCALL_ARRAY ? one ? " element" : " elements"
                       : one                 ? " property"
                                             : " properties");
}

/* The node of the same schema that limits the same count, 0: none. */
static uint32_t tcall_fault_limit_(const tcall_fault_ *fault, int bound)
{
    int op, type = tcall_keywords_[fault->keyword].type;
    for (op = 0; op < TCALL_K_COUNT_; op++)
        if (tcall_keyword_counts_(op) && tcall_keywords_[op].type == type &&
            tcall_keywords_[op].bound == bound)
            return tcall_fault_other_(fault, op);
    return 0;
}

/* "send 2 to 5 elements" */
static void tcall_say_limits_(tcall_writer *writer, const tcall_fault_ *fault)
{
    const tcall_node_ *program = fault->schema->program;
    tcall_type type = (tcall_type)tcall_keywords_[fault->keyword].type;
    uint32_t min = tcall_fault_limit_(fault, TCALL_AT_LEAST_);
    uint32_t max = tcall_fault_limit_(fault, TCALL_AT_MOST_);
    tcall_say_(writer, "; send ");
    if (!max)
        tcall_say_(writer, "at least ");
    if (!min)
        tcall_say_(writer, "at most ");
    if (min && max && program[min].arg != program[max].arg) {
        tcall_say_count_(writer, program[min].arg);
        tcall_say_(writer, " to ");
    }
    tcall_say_counted_(writer, program[max ? max : min].arg, type);
}

/* "ab" has 2 characters, under the minimum 3; send 3 to 10 characters. */
static void tcall_say_length_(tcall_writer *writer, const tcall_fault_ *fault)
{
    const tcall_keyword_ *keyword = &tcall_keywords_[fault->keyword];
    tcall_type type = (tcall_type)keyword->type;
    tcall_say_value_(writer, fault->value);
    tcall_say_(writer, " has ");
    tcall_say_counted_(writer, fault->count, type);
    tcall_say_(writer, keyword->bound == TCALL_AT_MOST_
                           ? ", over the maximum "
                           : ", under the minimum ");
    tcall_say_count_(writer, fault->schema->program[fault->node].arg);
    tcall_say_limits_(writer, fault);
}

/* contains, minContains and maxContains count the same matches. */
static void tcall_say_contains_(tcall_writer *writer, const tcall_fault_ *fault)
{
    uint32_t contains = tcall_fault_other_(fault, TCALL_K_CONTAINS_);
    bool most = fault->keyword == TCALL_K_MAX_CONTAINS_;
    uint32_t limit = fault->keyword == TCALL_K_CONTAINS_
                         ? 1
                         : fault->schema->program[fault->node].arg;
    tcall_say_counted_(writer, fault->count, TCALL_ARRAY);
    tcall_say_(writer, fault->count == 1 ? " of the array matches "
                                         : " of the array match ");
    tcall_say_json_(writer, tcall_node_at_(fault->schema, contains));
    tcall_say_(writer, most ? "; send at most " : "; send at least ");
    tcall_say_count_(writer, limit);
    tcall_say_(writer, " of them");
}

/* A property that is required, always or because another one is there: then
 * the parent is the member of dependentRequired. */
static void tcall_say_required_(tcall_writer *writer, const tcall_fault_ *fault)
{
    const char *at = tcall_node_at_(fault->schema, fault->parent);
    bool depends = fault->applied == TCALL_K_DEPENDENT_REQUIRED_ ||
                   fault->applied == TCALL_K_DEPENDENCIES_;
    tcall_say_(writer, "the property ");
    tcall_say_json_(writer, tcall_fault_at_(fault));
    tcall_say_(writer, " is missing");
    if (depends) {
        tcall_say_(writer, ", which ");
        tcall_say_json_(writer, at);
        tcall_say_(writer, " needs");
    }
    tcall_say_(writer, "; add it");
    if (depends) {
        tcall_say_(writer, " or leave out ");
        tcall_say_json_(writer, at);
    }
}

/* The names that the schema around has properties for. */
static void tcall_say_names_(tcall_writer *writer, const tcall_fault_ *fault)
{
    const tcall_node_ *program = fault->schema->program;
    size_t room = writer->len + 2 * TCALL_SHOWN_;
    uint32_t i = tcall_fault_other_(fault, TCALL_K_PROPERTIES_);
    const char *before = "; use one of ";
    for (; i && i < fault->end && writer->len < room &&
           tcall_node_op_(&program[i]) == TCALL_K_PROPERTIES_;
         i = tcall_node_after_(program, i)) {
        tcall_say_(writer, before);
        tcall_say_json_(writer, tcall_node_at_(fault->schema, i));
        before = ", ";
    }
    tcall_say_(writer, *before == ';' ? "; leave it out" : " or leave it out");
}

/* A schema that is false: what it was applied by says what is wrong. */
static void tcall_say_never_(tcall_writer *writer, const tcall_fault_ *fault)
{
    unsigned applies = tcall_keywords_[fault->applied].applies;
    if (fault->applied == TCALL_K_NAMES_) {
        tcall_say_value_(writer, fault->value);
        tcall_say_(writer, " is not allowed; leave it out");
    } else if (applies == TCALL_TO_MEMBERS_) {
        tcall_say_quoted_(writer, tcall_json_key(fault->value));
        if (fault->applied != TCALL_K_ADDITIONAL_) {
            tcall_say_(writer, " is not allowed; leave it out");
            return;
        }
        tcall_say_(writer, " is not a property here");
        tcall_say_names_(writer, fault);
    } else if (applies == TCALL_TO_ELEMENTS_) {
        tcall_say_(writer, "this element is one too many; leave it out");
    } else {
        tcall_say_(writer, "no value is allowed here; leave it out");
    }
}

/* anyOf and oneOf: none of the alternatives was accepted, or several. */
static void tcall_say_choice_(tcall_writer *writer, const tcall_fault_ *fault)
{
    const char *array = tcall_fault_at_(fault);
    while (*array != '[')
        array--;
    tcall_say_value_(writer, fault->value);
    tcall_say_(writer, fault->count ? " fits several alternatives of "
                                    : " fits no alternative of ");
    tcall_say_(writer, tcall_keywords_[fault->keyword].name);
    tcall_say_(writer, fault->keyword == TCALL_K_ONEOF_
                           ? "; send what fits exactly one of "
                           : "; send what fits one of ");
    tcall_say_json_(writer, array);
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
static void tcall_say_compared_(tcall_writer *writer, const tcall_fault_ *fault)
{
    const struct tcall_sentence_ *row = tcall_sentences_;
    while (row->keyword != fault->keyword)
        row++;
    tcall_say_value_(writer, fault->value);
    tcall_say_(writer, row->wrong);
    tcall_say_json_(writer, tcall_fault_at_(fault));
    if (row->remedy)
        tcall_say_(writer, row->remedy);
    else
        tcall_say_range_(writer, fault);
}

/* Which sentence belongs to which keyword. What is not named here counts, or
 * compares with a value. */
static void tcall_say_sentence_(tcall_writer *writer, const tcall_fault_ *fault)
{
    tcall_str pattern;
    switch (fault->keyword) {
    case TCALL_K_TYPE_: tcall_say_type_(writer, fault); break;
    case TCALL_K_NEVER_: tcall_say_never_(writer, fault); break;
    case TCALL_K_REQUIRED_: tcall_say_required_(writer, fault); break;
    case TCALL_K_ANYOF_:
    case TCALL_K_ONEOF_: tcall_say_choice_(writer, fault); break;
    case TCALL_K_CONTAINS_:
    case TCALL_K_MIN_CONTAINS_:
    case TCALL_K_MAX_CONTAINS_: tcall_say_contains_(writer, fault); break;
    case TCALL_K_ENUM_:
        tcall_say_value_(writer, fault->value);
        tcall_say_(writer, " is not one of the allowed values; send ");
        tcall_say_list_(writer, tcall_fault_at_(fault));
        break;
    case TCALL_K_PATTERN_:
        tcall_say_value_(writer, fault->value);
        tcall_say_(writer, " does not match the pattern ");
        /* its escapes are those of the string that is being written */
        pattern = tcall_text_inner_(tcall_fault_at_(fault));
        tcall_write_bytes(writer, pattern.ptr, pattern.len);
        tcall_say_(writer, "; send a string that does");
        break;
    case TCALL_K_UNIQUE_:
        tcall_say_value_(writer,
                         tcall_json_cursor_(fault->root.text,
                                            fault->root.tok + fault->count));
        tcall_say_(writer, " is in the array twice; send each value once");
        break;
    default:
        if (tcall_keyword_counts_(fault->keyword))
            tcall_say_length_(writer, fault);
        else
            tcall_say_compared_(writer, fault);
    }
}

/* The word of the schema that a person would look for. required within
 * dependentRequired is no keyword, and false has none where it is a property's
 * schema. */
static const char *tcall_fault_keyword_(const tcall_fault_ *fault)
{
    if (fault->keyword == TCALL_K_REQUIRED_ &&
        tcall_keywords_[fault->applied].applies == TCALL_TO_PRESENT_ &&
        fault->applied != TCALL_K_DEPENDENT_SCHEMAS_)
        return tcall_keywords_[fault->applied].name;
    if (fault->keyword != TCALL_K_NEVER_)
        return tcall_keywords_[fault->keyword].name;
    if (fault->applied == TCALL_K_ADDITIONAL_ ||
        fault->applied == TCALL_K_NAMES_ || fault->applied == TCALL_K_REST_ ||
        fault->applied == TCALL_K_EXTRA_)
        return tcall_keywords_[fault->applied].name;
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
    tcall_fault_ fault;
    fault.schema = schema;
    fault.root = value;
    fault.value = tcall_json_cursor_(value.text, value.tok + error->tok);
    fault.node = error->node;
    fault.count = error->count;
    fault.keyword = (int)error->keyword;
    fault.parent = tcall_node_parent_(program, error->node);
    fault.end = tcall_node_after_(program, fault.parent);
    fault.applied = tcall_node_op_(
        &program[fault.keyword == TCALL_K_REQUIRED_ ? fault.parent
                                                    : fault.node]);
    return fault;
}

/* Into a string that is open: "/days: 9 is over the maximum 7; ..." */
TCALL_SHARED_ void tcall_say_error_(tcall_writer *writer,
                                    const tcall_schema *schema,
                                    tcall_json value,
                                    const tcall_validation_error *error)
{
    tcall_fault_ fault = tcall_fault_of_(schema, value, error);
    tcall_say_pointer_(writer, value, fault.value.tok);
    tcall_say_(writer, fault.value.tok > value.tok ? ": " : "");
    tcall_say_sentence_(writer, &fault);
}

int tcall_write_validation_error(tcall_writer *writer,
                                 const tcall_schema *schema, tcall_json value,
                                 const tcall_validation_error *error)
{
    tcall_fault_ fault = tcall_fault_of_(schema, value, error);
    tcall_write_open(writer, '{');
    tcall_write_path_(writer, value, fault.value.tok);
    tcall_write_key(writer, "keyword");
    tcall_write_string(writer, tcall_fault_keyword_(&fault));
    tcall_write_key(writer, "message");
    tcall_write_char_(writer, '"');
    tcall_say_sentence_(writer, &fault);
    tcall_write_char_(writer, '"');
    return tcall_write_close(writer, '}');
}

int tcall_write_validation_errors(tcall_writer *writer,
                                  const tcall_schema *schema, tcall_json value,
                                  const tcall_check *check)
{
    size_t i;
    tcall_write_open(writer, '[');
    for (i = 0; i < check->error_count && i < check->error_cap; i++)
        tcall_write_validation_error(writer, schema, value, &check->errors[i]);
    return tcall_write_close(writer, ']');
}

/* -- Coercions ------------------------------------------------------------ */

/* A value that was sent, as a JSON string or a scalar that is not too long. */
static void tcall_write_found_(tcall_writer *writer, tcall_json value)
{
    tcall_str text = tcall_tok_str_(value.text, value.tok);
    if (tcall_json_type(value) != TCALL_STRING && text.len <= TCALL_SHOWN_) {
        tcall_write_verbatim(writer, text);
        return;
    }
    tcall_write_comma_(writer);
    tcall_write_char_(writer, '"');
    tcall_say_str_(writer, text);
    tcall_write_char_(writer, '"');
}

int tcall_write_coercions(tcall_writer *writer, tcall_json value)
{
    int i;
    tcall_write_open(writer, '[');
    for (i = 0; value.tok && i < value.tok->span; i++) {
        const tcall_tok *tok = value.tok + i;
        if (tok->mark == TCALL_MARK_NONE_)
            continue;
        tcall_write_open(writer, '{');
        tcall_write_path_(writer, value, tok);
        tcall_write_key(writer, "from");
        tcall_write_found_(writer, tcall_json_cursor_(value.text, tok));
        if (tok->mark != TCALL_MARK_DROP_) {
            tcall_write_key(writer, "to");
            tcall_write_comma_(writer);
            tcall_write_scalar_(writer, value.text, tok);
        }
        tcall_write_close(writer, '}');
    }
    return tcall_write_close(writer, ']');
}

/* -- Schema errors -------------------------------------------------------- */

/* JSON text as it is, cut when it is long. */
static void tcall_write_shown_(tcall_writer *writer, tcall_str json)
{
    bool cut = json.len > TCALL_SHOWN_;
    tcall_write_bytes(writer, json.ptr,
                      cut ? tcall_utf8_cut_(json.ptr, TCALL_SHOWN_) : json.len);
    if (cut)
        tcall_write_text(writer, "...");
}

/* A name of a JSON Pointer; quote: the name in JSON text. */
static void tcall_write_pointer_name_(tcall_writer *writer, const char *quote)
{
    tcall_write_text(writer, "/");
    for (quote++; *quote != '"';) {
        char bytes[4];
        size_t len = tcall_text_char_(&quote, bytes);
        const char *escape = tcall_pointer_escape_(*bytes);
        if (escape)
            tcall_write_text(writer, escape);
        else
            tcall_write_bytes(writer, bytes, len);
    }
}

/* The JSON Pointer of the value, or of the member whose name begins, at a place
 * in JSON text. */
static void tcall_write_place_(tcall_writer *writer, const char *text,
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
            tcall_write_pointer_name_(writer, member);
        } else {
            tcall_write_text(writer, "/");
            tcall_say_count_(writer, index);
        }
        member = value > place ? place : value;
    }
}

int tcall_write_schema_error(tcall_writer *writer, const tcall_schema *schema)
{
    if (!schema->reason)
        return tcall_write_text(writer, "ok");
    if (schema->text) {
        const char *place = schema->text + schema->at;
        if (place == tcall_text_space_(schema->text))
            tcall_write_text(writer, "the schema");
        tcall_write_place_(writer, schema->text, place);
        tcall_write_text(writer, ": ");
        tcall_write_text(writer, schema->reason);
        tcall_write_text(writer, " ");
        tcall_write_shown_(writer, tcall_text_verbatim_(place));
    } else {
        tcall_write_text(writer, schema->reason);
    }
    if (schema->remedy) {
        tcall_write_text(writer, "; ");
        tcall_write_text(writer, schema->remedy);
    }
    return writer->error;
}
