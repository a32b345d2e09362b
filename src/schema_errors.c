#pragma once
#include "schema_check.c"

/* ==========================================================================
 * >>schema_errors: what is wrong with a value or a schema, in sentences
 *
 * A sentence is a text in flash in which %v and the like stand for what differs
 * from one error to the next; a table says which keyword has which.
 */

#ifndef TOOLCALL_NO_SCHEMA

/* -- Pieces of sentences -------------------------------------------------- */

/* Longer values are cut in what the model reads. */
#define TCALL_SHOWN_ 160

/* Bytes, cut when they are many. */
static void tcall_say_str_(tcall_writer *writer, tcall_str text)
{
    bool cut = text.len > TCALL_SHOWN_;
    tcall_write_bytes(writer, text.ptr,
                      cut ? tcall_utf8_cut_(text.ptr, TCALL_SHOWN_) : text.len);
    if (cut)
        tcall_write_text(writer, "...");
}

/* A string as a reader sees it: its quotes, nothing escaped within. */
static void tcall_say_quoted_(tcall_writer *writer, tcall_str text)
{
    tcall_write_text(writer, "\"");
    tcall_say_str_(writer, text);
    tcall_write_text(writer, "\"");
}

/* The JSON text at p; characters beyond ASCII as they are, however the schema
 * spells them. */
static void tcall_say_json_(tcall_writer *writer, const char *p)
{
    size_t room = writer->len + TCALL_SHOWN_;
    if (*p != '"') {
        tcall_say_str_(writer, tcall_text_verbatim_(p));
        return;
    }
    tcall_write_text(writer, "\"");
    for (p++; *p != '"' && writer->len < room;) {
        const char *from = p;
        char bytes[4];
        size_t len = tcall_text_character_(&p, bytes);
        if (len == 1)
            tcall_write_bytes(writer, from, (size_t)(p - from));
        else
            tcall_write_bytes(writer, bytes, len);
    }
    tcall_write_text(writer, *p == '"' ? "\"" : "...\"");
}

/* A number that we counted. */
static void tcall_say_count_(tcall_writer *writer, uint32_t count)
{
    writer->last = 0; /* there are no commas in a sentence */
    tcall_write_uint(writer, count);
}

/* A count with its noun, for strings, arrays and objects. */
static void tcall_say_counted_(tcall_writer *writer, uint32_t count,
                               tcall_type type)
{
    static const char *const nouns[][2] = {{" character", " characters"},
                                           {" element", " elements"},
                                           {" property", " properties"}};
    tcall_say_count_(writer, count);
    tcall_write_text(writer, nouns[type - TCALL_STRING][count != 1]);
}

/* A value that was sent: a scalar as it is, of others what they are. */
static void tcall_say_value_(tcall_writer *writer, tcall_tree_ value)
{
    tcall_type type = tcall_tree_type_(value);
    tcall_str text = tcall_tok_str_(value.text, value.tok);
    if (value.tok->type & TCALL_KEY_)
        tcall_write_text(writer, "the property name ");
    if (type == TCALL_STRING)
        tcall_say_quoted_(writer, text);
    else if (type < TCALL_ARRAY)
        tcall_say_str_(writer, text);
    else
        tcall_write_text(writer,
                         type == TCALL_ARRAY ? "the array" : "the object");
}

/* -- JSON Pointers -------------------------------------------------------- */

/* A part of a name. */
static void tcall_say_name_(tcall_writer *writer, tcall_str part)
{
    size_t from = 0, i;
    for (i = 0; i < part.len; i++) {
        const char *escape = tcall_pointer_escape_(part.ptr[i]);
        if (!escape)
            continue;
        tcall_write_bytes(writer, part.ptr + from, i - from);
        tcall_write_text(writer, escape);
        from = i + 1;
    }
    tcall_write_bytes(writer, part.ptr + from, part.len - from);
}

/* That of a token; of a name that of its value. */
static void tcall_say_pointer_(tcall_writer *writer, tcall_tree_ value,
                               const tcall_tok_ *tok)
{
    if (tok->type & TCALL_KEY_)
        tok++;
    while (value.tok && value.tok < tok) {
        uint32_t index = 0;
        value = tcall_tree_first_(value);
        for (; value.tok && value.tok + value.tok->span <= tok; index++)
            value = tcall_tree_next_(value);
        tcall_write_text(writer, "/");
        if (value.tok->type & TCALL_MEMBER_)
            tcall_say_name_(writer, tcall_tree_key_(value));
        else
            tcall_say_count_(writer, index);
    }
}

/* "path": that of a token. */
static void tcall_write_path_(tcall_writer *writer, tcall_tree_ value,
                              const tcall_tok_ *tok)
{
    tcall_write_key(writer, "path");
    tcall_write_quote(writer);
    tcall_say_pointer_(writer, value, tok);
    tcall_write_unquote(writer);
}

/* That of the value, or of the member whose name begins, at a place in JSON
 * text. */
static void tcall_say_place_(tcall_writer *writer, const char *text,
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
        tcall_write_text(writer, "/");
        if (!object)
            tcall_say_count_(writer, index);
        else
            for (member++; *member != '"';) {
                char bytes[4];
                size_t len = tcall_text_character_(&member, bytes);
                tcall_say_name_(writer, tcall_slice_(bytes, len));
            }
        member = value > place ? place : value;
    }
}

/* -- What is wrong, and what to send instead ------------------------------ */

/* One error with all that its sentence may name. */
typedef struct tcall_fault_ {
    tcall_writer *out; /* of the sentence */
    const tcall_schema *schema;
    tcall_tree_ root, value; /* what was checked; what is wrong within */
    uint32_t node, parent;   /* the keyword's node, and its schema's */
    uint32_t end;            /* the node after that schema */
    uint32_t count;
    int keyword, applied; /* what failed; the op of the node */
} tcall_fault_;

/* The schema that a keyword's node belongs to. */
static uint32_t tcall_node_parent_(const tcall_node_ *program, uint32_t node)
{
    uint32_t i = node;
    if (!i)
        return 0;
    do
        i--;
    while (tcall_node_after_(program, i) <= node ||
           program[i].word & TCALL_IS_LIST_);
    return i;
}

static tcall_fault_ tcall_fault_of_(const tcall_schema *schema,
                                    tcall_tree_ value,
                                    const tcall_validation_error *error)
{
    const tcall_node_ *program = schema->program;
    tcall_fault_ fault;
    fault.out = NULL;
    fault.schema = schema;
    fault.root = value;
    fault.value = tcall_tree_cursor_(value.text, value.tok + error->tok);
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

/* The types that a schema's node allows, one bit each. */
static uint32_t tcall_fault_types_(const tcall_fault_ *fault, uint32_t schema)
{
    return fault->schema->program[schema].arg >> TCALL_TYPES_ & 0x7F;
}

/* "a string, a number or null". */
static void tcall_say_types_(tcall_writer *writer, uint32_t types)
{
    int i;
    for (i = 6; i >= 0; i--) {
        uint32_t left = types & (((uint32_t)1 << i) - 1);
        if (!(types >> i & 1))
            continue;
        tcall_write_text(writer, tcall_type_words_[i]);
        if (left) /* one, or several */
            tcall_write_text(writer, left & (left - 1) ? ", " : " or ");
    }
}

/* What a value is. What an array or object holds is not shown: it may be long,
 * and the path says which one it is. */
static const char *tcall_fault_is_(const tcall_fault_ *fault)
{
    tcall_type type = tcall_tree_type_(fault->value);
    return type == TCALL_NULL || type >= TCALL_ARRAY
               ? "not allowed here"
               : tcall_type_words_[type - TCALL_NULL];
}

/* The elements of an array, "celsius", "fahrenheit" or "kelvin", or the names
 * in an object, as far as they fit. */
static void tcall_say_list_(tcall_writer *writer, const char *list)
{
    size_t room = writer->len + 2 * TCALL_SHOWN_;
    bool object = *list == '{';
    const char *p = tcall_text_next_(list + 1), *next;
    while (!tcall_text_closes_(p)) {
        bool last;
        next = object ? tcall_text_value_(p) : p;
        next = tcall_text_next_(tcall_text_skip_(next));
        tcall_say_json_(writer, p);
        p = next;
        if (tcall_text_closes_(p))
            return;
        last = !object &&
               tcall_text_closes_(tcall_text_next_(tcall_text_skip_(p)));
        tcall_write_text(writer, last ? " or " : ", ");
        if (writer->len > room) {
            tcall_write_text(writer, "...");
            return;
        }
    }
}

/* What to do about a name that is no property: whether there are others. */
static const char *tcall_fault_names_(const tcall_fault_ *fault)
{
    uint32_t map = tcall_fault_other_(fault, TCALL_K_PROPERTIES_);
    return map && tcall_node_after_(fault->schema->program, map) > map + 1
               ? TCALL_FLASH_TEXT_("use one of %P or leave it out")
               : TCALL_FLASH_TEXT_("leave it out");
}

/* What a keyword's node comes from: a count, or other JSON text. */
static void tcall_say_own_(tcall_writer *writer, const tcall_fault_ *fault,
                           uint32_t node)
{
    const tcall_node_ *keyword = &fault->schema->program[node];
    if (tcall_keyword_counts_(tcall_node_op_(keyword)))
        tcall_say_count_(writer, keyword->arg);
    else
        tcall_say_json_(writer, tcall_node_at_(fault->schema, node));
}

/* The node of the schema that limits the same on one side, 0: none. Where two
 * do, the one that excludes its number. */
static uint32_t tcall_fault_limit_(const tcall_fault_ *fault, int bound)
{
    const tcall_keyword_ *own = &tcall_keywords_[fault->keyword];
    uint32_t limit = 0;
    int op;
    for (op = 0; op < TCALL_K_COUNT_; op++) {
        const tcall_keyword_ *keyword = &tcall_keywords_[op];
        uint32_t node = keyword->bound == bound && keyword->type == own->type
                            ? tcall_fault_other_(fault, op)
                            : 0;
        limit = node ? node : limit;
    }
    return limit;
}

/* How a side is limited: not, by a number that is excluded, or by one that is
 * included. */
static int tcall_fault_side_(const tcall_fault_ *fault, int bound)
{
    uint32_t limit = tcall_fault_limit_(fault, bound);
    int op = tcall_node_op_(&fault->schema->program[limit]);
    return !limit ? 0 : op == TCALL_K_ABOVE_ || op == TCALL_K_BELOW_ ? 1 : 2;
}

/* Which number to send, by how it is limited below and above. */
static const char *tcall_fault_range_(const tcall_fault_ *fault)
{
    static const char ranges[] TCALL_FLASH_ =
        "\0"
        " less than %h\0"
        " of at most %h\0"
        " greater than %l\0"
        " greater than %l and less than %h\0"
        " greater than %l and at most %h\0"
        " of at least %l\0"
        " of at least %l and less than %h\0"
        " from %l to %h\0";
    int below = tcall_fault_side_(fault, TCALL_AT_LEAST_);
    return tcall_word_at_(ranges,
                          below * 3 + tcall_fault_side_(fault, TCALL_AT_MOST_));
}

/* How many to send. */
static const char *tcall_fault_counts_(const tcall_fault_ *fault)
{
    const tcall_node_ *program = fault->schema->program;
    uint32_t low = tcall_fault_limit_(fault, TCALL_AT_LEAST_);
    uint32_t high = tcall_fault_limit_(fault, TCALL_AT_MOST_);
    if (!high)
        return TCALL_FLASH_TEXT_("at least %L");
    if (!low)
        return TCALL_FLASH_TEXT_("at most %H");
    return program[low].arg == program[high].arg
               ? TCALL_FLASH_TEXT_("%H")
               : TCALL_FLASH_TEXT_("%l to %H");
}

/* X(NAME, text): the sentences: what is wrong, then what to do about it. */
#define TCALL_SENTENCES_(X)                                                    \
    X(TYPE, "%v is %t\0; send %T")                                             \
    X(MINIMUM, "%v is under the minimum %o\0; send %r")                        \
    X(MAXIMUM, "%v is over the maximum %o\0; send %r")                         \
    X(ABOVE, "%v is not greater than %o\0; send %r")                           \
    X(BELOW, "%v is not less than %o\0; send %r")                              \
    X(MULTIPLE, "%v is not a multiple of %o\0; send a multiple of it")         \
    X(CONST, "%v is not the only value that is allowed\0; send %o")            \
    X(ENUM, "%v is not one of the allowed values\0; send %e")                  \
    X(NOT, "%v matches what is forbidden, %o\0; send a value that does not")   \
    X(PATTERN, "%v does not match the pattern %x\0; send a string that does")  \
    X(FEW, "%v has %n, under the minimum %o\0; send %c")                       \
    X(MANY, "%v has %n, over the maximum %o\0; send %c")                       \
    X(UNIQUE, "%w is in the array twice\0; send each value once")              \
    X(CONTAINS, "%n of the array %m\0; send at least 1 of them")               \
    X(MIN_CONTAINS, "%n of the array %m\0; send at least %o of them")          \
    X(MAX_CONTAINS, "%n of the array %m\0; send at most %o of them")           \
    X(ANYOF, "%v fits %f of anyOf\0; send what fits one of %o")                \
    X(ONEOF, "%v fits %f of oneOf\0; send what fits exactly one of %o")        \
    X(NEEDED, "the property %o is missing, which %p needs\0; add it or leave " \
              "out %p")                                                        \
    X(REQUIRED, "the property %o is missing\0; add it")                        \
    X(UNKNOWN, "%k is not a property here\0; %N")                              \
    X(MEMBER, "%k is not allowed\0; leave it out")                             \
    X(NAME, "%v is not allowed\0; leave it out")                               \
    X(ELEMENT, "this element is one too many\0; leave it out")                 \
    X(NEVER, "no value is allowed here\0; leave it out")

enum {
#define TCALL_X_(NAME, text) TCALL_SAYS_##NAME##_,
    TCALL_SENTENCES_(TCALL_X_)
#undef TCALL_X_
        TCALL_SENTENCE_COUNT_
};

static const char tcall_sentence_texts_[] TCALL_FLASH_ =
#define TCALL_X_(NAME, text) text "\0"
    TCALL_SENTENCES_(TCALL_X_);
#undef TCALL_X_

/* Any keyword that applied the schema; no keyword, but the word false. */
#define TCALL_K_ANY_ 0xFF

/* The sentence of a keyword that failed, and the word of the schema that a
 * person would look for: required within dependentRequired is no keyword. A
 * schema that is false is known by what it was applied by. */
static const struct tcall_sentence_ {
    uint8_t keyword, applied, word, says;
} tcall_sentences_[] = {
#define TCALL_SAY_(op, says)                                                 \
    {                                                                        \
        TCALL_K_##op##_, TCALL_K_ANY_, TCALL_K_##op##_, TCALL_SAYS_##says##_ \
    }
#define TCALL_SAY_BY_(op, applied, word, says)                    \
    {                                                             \
        TCALL_K_##op##_, TCALL_K_##applied##_, TCALL_K_##word##_, \
            TCALL_SAYS_##says##_                                  \
    }
    TCALL_SAY_(TYPE, TYPE),
    TCALL_SAY_(MINIMUM, MINIMUM),
    TCALL_SAY_(MAXIMUM, MAXIMUM),
    TCALL_SAY_(ABOVE, ABOVE),
    TCALL_SAY_(BELOW, BELOW),
    TCALL_SAY_(MULTIPLE, MULTIPLE),
    TCALL_SAY_(CONST, CONST),
    TCALL_SAY_(ENUM, ENUM),
    TCALL_SAY_(NOT, NOT),
    TCALL_SAY_(PATTERN, PATTERN),
    TCALL_SAY_(MIN_LENGTH, FEW),
    TCALL_SAY_(MIN_ITEMS, FEW),
    TCALL_SAY_(MIN_PROPERTIES, FEW),
    TCALL_SAY_(MAX_LENGTH, MANY),
    TCALL_SAY_(MAX_ITEMS, MANY),
    TCALL_SAY_(MAX_PROPERTIES, MANY),
    TCALL_SAY_(UNIQUE, UNIQUE),
    TCALL_SAY_(CONTAINS, CONTAINS),
    TCALL_SAY_(MIN_CONTAINS, MIN_CONTAINS),
    TCALL_SAY_(MAX_CONTAINS, MAX_CONTAINS),
    TCALL_SAY_(ANYOF, ANYOF),
    TCALL_SAY_(ONEOF, ONEOF),
    TCALL_SAY_BY_(REQUIRED, DEPENDENT_REQUIRED, DEPENDENT_REQUIRED, NEEDED),
    TCALL_SAY_BY_(REQUIRED, DEPENDENCIES, DEPENDENCIES, NEEDED),
    TCALL_SAY_(REQUIRED, REQUIRED),
    TCALL_SAY_BY_(NEVER, ADDITIONAL, ADDITIONAL, UNKNOWN),
    TCALL_SAY_BY_(NEVER, PROPERTIES, NEVER, MEMBER),
    TCALL_SAY_BY_(NEVER, PATTERNS, NEVER, MEMBER),
    TCALL_SAY_BY_(NEVER, NAMES, NAMES, NAME),
    TCALL_SAY_BY_(NEVER, PREFIX, NEVER, ELEMENT),
    TCALL_SAY_BY_(NEVER, REST, REST, ELEMENT),
    TCALL_SAY_BY_(NEVER, EXTRA, EXTRA, ELEMENT),
    TCALL_SAY_(NEVER, NEVER),
#undef TCALL_SAY_
#undef TCALL_SAY_BY_
};

static const struct tcall_sentence_ *
tcall_fault_sentence_(const tcall_fault_ *fault)
{
    const struct tcall_sentence_ *row = tcall_sentences_;
    while (row->keyword != fault->keyword ||
           (row->applied != TCALL_K_ANY_ && row->applied != fault->applied))
        row++;
    return row;
}

/* Whether a schema allows no number but integers. */
static bool tcall_fault_integer_(const tcall_fault_ *fault)
{
    uint32_t types = tcall_fault_types_(fault, fault->parent);
    return types & TCALL_INTEGER_ && !(types >> (TCALL_NUMBER - 1) & 1);
}

/* Writes a limit of what failed: a number, or a count with its noun. */
static void tcall_say_limit_(tcall_writer *writer, const tcall_fault_ *fault,
                             int bound, bool noun)
{
    uint32_t limit = tcall_fault_limit_(fault, bound);
    if (noun)
        tcall_say_counted_(writer, fault->schema->program[limit].arg,
                           tcall_tree_type_(fault->value));
    else
        tcall_say_own_(writer, fault, limit);
}

/* A pattern, whose escapes are those of the string that is being written. */
static void tcall_say_pattern_(tcall_writer *writer, const tcall_fault_ *fault)
{
    tcall_str pattern = tcall_text_inner_(tcall_fault_at_(fault));
    writer->quoted--;
    tcall_write_bytes(writer, pattern.ptr, pattern.len);
    writer->quoted++;
}

static void tcall_say_part_(void *of, char letter);

static void tcall_say_text_(tcall_fault_ *fault, const char *text)
{
    tcall_write_parts_(fault->out, text, tcall_say_part_, fault);
}

/* Writes what stands in a sentence for % and this letter. */
static void tcall_say_part_(void *of, char letter)
{
    tcall_fault_ *fault = (tcall_fault_ *)of;
    tcall_writer *writer = fault->out;
    const char *at = tcall_fault_at_(fault);
    tcall_tree_ value = fault->value;
    switch (letter) {
    case 'v': tcall_say_value_(writer, value); break;
    case 'k': tcall_say_quoted_(writer, tcall_tree_key_(value)); break;
    case 't': tcall_write_text(writer, tcall_fault_is_(fault)); break;
    case 'T':
        tcall_say_types_(writer, tcall_fault_types_(fault, fault->node));
        break;
    case 'n':
        tcall_say_counted_(writer, fault->count, tcall_tree_type_(value));
        break;
    case 'o': tcall_say_own_(writer, fault, fault->node); break;
    case 'l': tcall_say_limit_(writer, fault, TCALL_AT_LEAST_, false); break;
    case 'h': tcall_say_limit_(writer, fault, TCALL_AT_MOST_, false); break;
    case 'L': tcall_say_limit_(writer, fault, TCALL_AT_LEAST_, true); break;
    case 'H': tcall_say_limit_(writer, fault, TCALL_AT_MOST_, true); break;
    case 'c': tcall_say_text_(fault, tcall_fault_counts_(fault)); break;
    case 'r':
        tcall_write_text(writer, tcall_fault_integer_(fault) ? "an integer"
                                                             : "a number");
        tcall_say_text_(fault, tcall_fault_range_(fault));
        break;
    case 'e': tcall_say_list_(writer, at); break;
    case 'x': tcall_say_pattern_(writer, fault); break;
    case 'w':
        value.tok = fault->root.tok + fault->count;
        tcall_say_value_(writer, value);
        break;
    case 'm':
        tcall_write_text(writer, fault->count == 1 ? "matches " : "match ");
        tcall_say_own_(writer, fault,
                       tcall_fault_other_(fault, TCALL_K_CONTAINS_));
        break;
    case 'f':
        tcall_write_text(writer, fault->count ? "several alternatives"
                                              : "no alternative");
        break;
    case 'p': tcall_say_own_(writer, fault, fault->parent); break;
    case 'N': tcall_say_text_(fault, tcall_fault_names_(fault)); break;
    case 'P':
        tcall_say_list_(
            writer,
            tcall_node_at_(fault->schema,
                           tcall_fault_other_(fault, TCALL_K_PROPERTIES_)));
        break;
    }
}

/* Says what is wrong, and to a model what to send instead. */
static void tcall_say_sentence_(tcall_writer *writer, tcall_fault_ *fault,
                                bool remedy)
{
    int says = 2 * tcall_fault_sentence_(fault)->says;
    fault->out = writer;
    tcall_say_text_(fault, tcall_word_at_(tcall_sentence_texts_, says));
    if (remedy)
        tcall_say_text_(fault, tcall_word_at_(tcall_sentence_texts_, says + 1));
}

/* Into a string that is open: "/days: 9 is over the maximum 7; ..." Without a
 * remedy it is of what nobody can send anew. */
TCALL_SHARED_ void tcall_say_error_(tcall_writer *writer,
                                    const tcall_schema *schema,
                                    tcall_tree_ value,
                                    const tcall_validation_error *error,
                                    bool remedy)
{
    tcall_fault_ fault = tcall_fault_of_(schema, value, error);
    tcall_say_pointer_(writer, value, fault.value.tok);
    tcall_write_text(writer, fault.value.tok > value.tok ? ": " : "");
    tcall_say_sentence_(writer, &fault, remedy);
}

int tcall_write_validation_error(tcall_writer *writer,
                                 const tcall_schema *schema, tcall_tree_ value,
                                 const tcall_validation_error *error)
{
    tcall_fault_ fault = tcall_fault_of_(schema, value, error);
    int word = tcall_fault_sentence_(&fault)->word;
    tcall_write_open(writer, '{');
    tcall_write_path_(writer, value, fault.value.tok);
    tcall_write_key(writer, "keyword");
    tcall_write_string(
        writer, word == TCALL_K_NEVER_ ? "false" : tcall_keywords_[word].name);
    tcall_write_key(writer, "message");
    tcall_write_quote(writer);
    tcall_say_sentence_(writer, &fault, true);
    tcall_write_unquote(writer);
    return tcall_write_close(writer, '}');
}

int tcall_write_validation_errors(tcall_writer *writer,
                                  const tcall_schema *schema, tcall_tree_ value,
                                  const tcall_check *check)
{
    size_t i;
    tcall_write_open(writer, '[');
    for (i = 0; i < check->error_count && i < check->error_cap; i++)
        tcall_write_validation_error(writer, schema, value, &check->errors[i]);
    return tcall_write_close(writer, ']');
}

int tcall_write_coercions(tcall_writer *writer, tcall_tree_ value)
{
    int i;
    tcall_write_open(writer, '[');
    for (i = 0; value.tok && i < value.tok->span; i++) {
        const tcall_tok_ *tok = value.tok + i;
        if (tok->mark == TCALL_MARK_NONE_)
            continue;
        tcall_write_open(writer, '{');
        tcall_write_path_(writer, value, tok);
        tcall_write_key(writer, "from");
        if (tok->mark == TCALL_MARK_DROP_) {
            tcall_write_null(writer);
        } else { /* a string */
            tcall_write_quote(writer);
            tcall_say_str_(writer, tcall_tok_str_(value.text, tok));
            tcall_write_unquote(writer);
            tcall_write_key(writer, "to");
            tcall_write_comma_(writer);
            tcall_write_scalar_(writer, value.text, tok);
        }
        tcall_write_close(writer, '}');
    }
    return tcall_write_close(writer, ']');
}

int tcall_write_schema_error(tcall_writer *writer, const tcall_schema *schema)
{
    if (!schema->reason)
        return tcall_write_text(writer, "ok");
    if (schema->text) {
        const char *place = schema->text + schema->at;
        if (place == tcall_text_space_(schema->text))
            tcall_write_text(writer, "the schema");
        tcall_say_place_(writer, schema->text, place);
        tcall_write_text(writer, ": ");
    }
    tcall_write_text(writer, schema->reason);
    if (schema->text) {
        tcall_write_text(writer, " ");
        tcall_say_json_(writer, schema->text + schema->at);
    }
    if (schema->remedy) {
        tcall_write_text(writer, "; ");
        tcall_write_text(writer, schema->remedy);
    }
    return writer->error;
}

#endif /* TOOLCALL_NO_SCHEMA */
