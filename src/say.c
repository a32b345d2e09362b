#pragma once
#include "say.h"
#include "machine.c"
#include "shape_text.c"

/* ==========================================================================
 * >>say
 *
 * A sentence is a text in flash in which %v and the like stand for what differs
 * from one fault to the next; a table says which keyword has which.
 */

/* -- Pieces of sentences -------------------------------------------------- */

/* Longer values are cut in what the model reads. */
#define TCALL_SHOWN_ 160

/* The JSON text at p; characters beyond ASCII as they are, however the schema
 * spells them. */
static void tcall_say_json_(tcall_writer *writer, const char *p)
{
    size_t room = writer->len + TCALL_SHOWN_;
    tcall_str text;
    if (*p == '"') {
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
        return;
    }
    text = tcall_text_verbatim_(p);
    if (text.len > TCALL_SHOWN_) {
        tcall_write_bytes(writer, p, tcall_utf8_cut_(p, TCALL_SHOWN_));
        tcall_write_text(writer, "...");
    } else {
        tcall_write_bytes(writer, p, text.len);
    }
}

/* Decodes the next character of a string, which may have been decoded where it
 * lies, and moves *at past it. Returns its bytes. */
static size_t tcall_said_character_(const char *string, const char **at,
                                    char bytes[4])
{
    size_t len = 0;
    if (*string == '"')
        return tcall_text_character_(at, bytes);
    do
        bytes[len++] = *(*at)++;
    while (len < 4 && (**at & 0xC0) == 0x80);
    return len;
}

/* The content of a string, its escapes decoded, cut when it is long. */
static void tcall_say_content_(tcall_writer *writer, const char *string)
{
    tcall_str inner = tcall_text_inner_(string);
    const char *at = inner.ptr, *end = at + inner.len;
    size_t shown = 0;
    while (at < end && shown < TCALL_SHOWN_) {
        char bytes[4];
        size_t len = tcall_said_character_(string, &at, bytes);
        if (shown + len <= TCALL_SHOWN_)
            tcall_write_bytes(writer, bytes, len);
        shown += len;
    }
    if (at < end || shown > TCALL_SHOWN_)
        tcall_write_text(writer, "...");
}

/* A value that was sent: a scalar as it is, a string as a reader sees it, of
 * others what they are. */
static void tcall_say_value_(tcall_writer *writer, const char *value)
{
    if (*value == '{' || *value == '[') {
        tcall_write_text(writer, *value == '{' ? "the object" : "the array");
    } else if (tcall_text_is_string_(value)) {
        tcall_write_text(writer, "\"");
        tcall_say_content_(writer, value);
        tcall_write_text(writer, "\"");
    } else {
        tcall_say_json_(writer, value);
    }
}

/* A number that we counted. */
static void tcall_say_count_(tcall_writer *writer, uint32_t count)
{
    writer->last = 0; /* there are no commas in a sentence */
    tcall_write_uint(writer, count);
}

/* A count with its noun, for strings, arrays and objects. */
static void tcall_say_counted_(tcall_writer *writer, uint32_t count,
                               uint8_t keyword)
{
    static const char *const nouns[][2] = {{" character", " characters"},
                                           {" element", " elements"},
                                           {" property", " properties"}};
    tcall_say_count_(writer, count);
    tcall_write_text(
        writer,
        nouns[keyword >= TCALL_ON_MIN_CONTAINS_ || keyword == TCALL_ON_CONTAINS_
                  ? 1
                  : (keyword - TCALL_ON_MIN_LENGTH_) / 2][count != 1]);
}

/* -- JSON Pointers -------------------------------------------------------- */

static void tcall_say_name_(tcall_writer *writer, const char *name)
{
    tcall_str inner = tcall_text_inner_(name);
    const char *at = inner.ptr, *end = at + inner.len;
    while (at < end) {
        char bytes[4];
        size_t len = tcall_said_character_(name, &at, bytes);
        const char *escape = len == 1 ? tcall_pointer_escape_(*bytes) : NULL;
        tcall_write_bytes(writer, escape ? escape : bytes, escape ? 2 : len);
    }
}

/* Returns where a value ends, or NULL: the place lies in it. The text may end
 * behind the place. */
static const char *tcall_end_before_(const char *value, const char *place)
{
    unsigned depth = 0;
    if (*value != '{' && *value != '[')
        return tcall_text_skip_(value);
    while (value < place) {
        depth += *value == '{' || *value == '[';
        depth -= *value == '}' || *value == ']';
        value =
            tcall_text_is_string_(value) ? tcall_text_skip_(value) : value + 1;
        if (!depth)
            return value;
    }
    return NULL;
}

/* The pointer to the value, or to the member whose name, is at an offset.
 * Returns the quote of the last name, or NULL. */
static const char *tcall_say_pointer_(tcall_writer *writer, const char *text,
                                      uint32_t at)
{
    const char *place = text + at, *p = text, *key = NULL;
    while (p < place) {
        bool object = *p++ == '{';
        uint32_t index = 0;
        const char *value, *end;
        for (;; p = tcall_text_space_(end) + 1, index++) {
            value = object ? tcall_text_value_(p) : p;
            end = p == place || value == place
                      ? NULL
                      : tcall_end_before_(value, place);
            if (!end)
                break;
        }
        tcall_write_text(writer, "/");
        if (object)
            tcall_say_name_(writer, p);
        else
            tcall_say_count_(writer, index);
        key = object ? p : NULL;
        p = p == place ? place : value;
    }
    return key;
}

/* -- What is wrong, and what to send instead ------------------------------ */

/* One fault with all that its sentence may name. */
typedef struct tcall_said_fault_ {
    tcall_writer *out;
    const tcall_fault *is;
    const char *text, *value;
    const char *key; /* of the member at the place, or NULL */
    uint8_t keyword;
} tcall_said_fault_;

/* Returns the row of another keyword of the same node, or NULL. */
static const tcall_row *tcall_fault_row_(const tcall_said_fault_ *fault,
                                         uint8_t keyword)
{
    return tcall_row_of_(fault->is->node, keyword);
}

/* The elements of an array, "celsius", "fahrenheit" or "kelvin", as far as they
 * fit. */
static void tcall_say_words_(tcall_writer *writer, const char *list)
{
    size_t room = writer->len + 2 * TCALL_SHOWN_;
    const char *p = tcall_text_first_(list), *next;
    for (; p; p = next) {
        next = tcall_text_after_(tcall_text_skip_(p));
        tcall_say_json_(writer, p);
        if (!next)
            return;
        tcall_write_text(
            writer, tcall_text_after_(tcall_text_skip_(next)) ? ", " : " or ");
        if (writer->len > room) {
            tcall_write_text(writer, "...");
            return;
        }
    }
}

/* The names of properties, as far as they fit. */
static void tcall_say_names_(tcall_writer *writer, const tcall_row *row)
{
    size_t room = writer->len + 2 * TCALL_SHOWN_;
    uint16_t i;
    for (i = 0; i < row->count; i++) {
        tcall_write_text(writer, i ? ", " : "");
        if (writer->len > room) {
            tcall_write_text(writer, "...");
            return;
        }
        tcall_say_json_(writer, row->of.members[i].name);
    }
}

/* The limit on one side, of two keywords; where both are there, the one that
 * excludes its number. */
static const tcall_row *tcall_fault_limit_(const tcall_said_fault_ *fault,
                                           bool most)
{
    uint8_t low;
    const tcall_row *row;
    if (fault->keyword >= TCALL_ON_MIN_LENGTH_) {
        low = (uint8_t)(fault->keyword -
                        (fault->keyword - TCALL_ON_MIN_LENGTH_) % 2);
        return tcall_fault_row_(fault, (uint8_t)(low + most));
    }
    row = tcall_fault_row_(fault, most ? TCALL_ON_BELOW_ : TCALL_ON_ABOVE_);
    return row ? row
               : tcall_fault_row_(fault,
                                  most ? TCALL_ON_MAXIMUM_ : TCALL_ON_MINIMUM_);
}

/* How a side is limited: not, by a number that is excluded, or by one that is
 * included. */
static int tcall_fault_side_(const tcall_said_fault_ *fault, bool most)
{
    const tcall_row *row = tcall_fault_limit_(fault, most);
    return !row                                                       ? 0
           : row->on == TCALL_ON_ABOVE_ || row->on == TCALL_ON_BELOW_ ? 1
                                                                      : 2;
}

/* Which number to send, by how it is limited below and above. */
static const char *tcall_fault_range_(const tcall_said_fault_ *fault)
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
    return tcall_word_at_(ranges, tcall_fault_side_(fault, false) * 3 +
                                      tcall_fault_side_(fault, true));
}

/* How many to send. */
static const char *tcall_fault_counts_(const tcall_said_fault_ *fault)
{
    const tcall_row *low = tcall_fault_limit_(fault, false);
    const tcall_row *high = tcall_fault_limit_(fault, true);
    if (!high)
        return TCALL_FLASH_TEXT_("at least %L");
    if (!low)
        return TCALL_FLASH_TEXT_("at most %H");
    return low->of.number == high->of.number ? TCALL_FLASH_TEXT_("%H")
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

/* The sentence of a keyword, and whether its own word is told: a node that is
 * false is known by the row that brought it. */
static const struct {
    uint8_t keyword, says, named;
} tcall_sentences_[] = {
#define TCALL_SAY_(on, says, named)                   \
    {                                                 \
        TCALL_ON_##on##_, TCALL_SAYS_##says##_, named \
    }
    TCALL_SAY_(TYPE, TYPE, 1),
    TCALL_SAY_(MINIMUM, MINIMUM, 1),
    TCALL_SAY_(MAXIMUM, MAXIMUM, 1),
    TCALL_SAY_(ABOVE, ABOVE, 1),
    TCALL_SAY_(BELOW, BELOW, 1),
    TCALL_SAY_(MULTIPLE, MULTIPLE, 1),
    TCALL_SAY_(CONST, CONST, 1),
    TCALL_SAY_(ENUM, ENUM, 1),
    TCALL_SAY_(NOT, NOT, 1),
    TCALL_SAY_(PATTERN, PATTERN, 1),
    TCALL_SAY_(MIN_LENGTH, FEW, 1),
    TCALL_SAY_(MIN_ITEMS, FEW, 1),
    TCALL_SAY_(MIN_PROPERTIES, FEW, 1),
    TCALL_SAY_(MAX_LENGTH, MANY, 1),
    TCALL_SAY_(MAX_ITEMS, MANY, 1),
    TCALL_SAY_(MAX_PROPERTIES, MANY, 1),
    TCALL_SAY_(UNIQUE, UNIQUE, 1),
    TCALL_SAY_(CONTAINS, CONTAINS, 1),
    TCALL_SAY_(MIN_CONTAINS, MIN_CONTAINS, 1),
    TCALL_SAY_(MAX_CONTAINS, MAX_CONTAINS, 1),
    TCALL_SAY_(ANYOF, ANYOF, 1),
    TCALL_SAY_(ONEOF, ONEOF, 1),
    TCALL_SAY_(NEEDED, NEEDED, 1),
    TCALL_SAY_(REQUIRED, REQUIRED, 1),
    TCALL_SAY_(OTHERS, UNKNOWN, 1),
    TCALL_SAY_(PROPERTIES, MEMBER, 0),
    TCALL_SAY_(PATTERNS, MEMBER, 0),
    TCALL_SAY_(NAMES, NAME, 1),
    TCALL_SAY_(PREFIX, ELEMENT, 0),
    TCALL_SAY_(ITEMS, ELEMENT, 1),
    TCALL_SAY_(NOTHING, NEVER, 0),
#undef TCALL_SAY_
};

/* Returns the row of a fault; the last is of what has none of its own. */
static unsigned tcall_sentence_of_(uint8_t keyword)
{
    unsigned i = 0;
    while (tcall_sentences_[i].keyword != keyword &&
           tcall_sentences_[i].keyword != TCALL_ON_NOTHING_)
        i++;
    return i;
}

/* Returns the value of a keyword in the schema's text. */
static const char *tcall_row_text_(const tcall_row *row)
{
    const char *text;
    if (row->on > TCALL_ON_CONTAINS_)
        return row->of.text;
    text = row->of.members->name;
    if (row->on == TCALL_ON_ANYOF_ || row->on == TCALL_ON_ONEOF_)
        while (*text != '[') /* before its first element is but white space */
            text--;
    return text;
}

/* What a row of the schema says, as its text or count. */
static void tcall_say_own_(tcall_writer *writer, const tcall_row *row)
{
    if (row->on >= TCALL_ON_MIN_LENGTH_ && row->on <= TCALL_ON_MAX_CONTAINS_)
        tcall_say_count_(writer, row->of.number);
    else
        tcall_say_json_(writer, tcall_row_text_(row));
}

/* Writes a limit: a number, or a count with its noun. */
static void tcall_say_limit_(const tcall_said_fault_ *fault, bool most,
                             bool noun)
{
    const tcall_row *row = tcall_fault_limit_(fault, most);
    if (noun)
        tcall_say_counted_(fault->out, row->of.number, fault->keyword);
    else
        tcall_say_own_(fault->out, row);
}

/* A pattern, whose escapes are those of the string that is being written. */
static void tcall_say_pattern_(const tcall_said_fault_ *fault)
{
    tcall_str pattern = tcall_text_inner_(fault->is->row->of.match->text);
    fault->out->quoted--;
    tcall_write_bytes(fault->out, pattern.ptr, pattern.len);
    fault->out->quoted++;
}

/* What a value is. What an array or object holds is not shown: it may be long,
 * and the path says which one it is. */
static const char *tcall_fault_type_(const char *value)
{
    switch (tcall_text_type_(value)) {
    case TCALL_STRING: return "a string";
    case TCALL_BOOL: return "a boolean";
    case TCALL_NUMBER: return "a number";
    default: return "not allowed here";
    }
}

/* The name that is required: the one of its number. */
static const char *tcall_fault_name_(const tcall_said_fault_ *fault)
{
    const char *name = tcall_text_first_(fault->is->row->of.text);
    uint16_t i;
    for (i = 0; name && i < fault->is->count; i++)
        name = tcall_text_after_(tcall_text_skip_(name));
    return name;
}

/* Of dependentRequired: the member whose names are needed. */
static const char *tcall_fault_needs_(const tcall_said_fault_ *fault)
{
    const char *text = fault->is->row->of.text, *key = tcall_text_first_(text);
    const char *place = text + fault->is->count, *end;
    for (;; key = tcall_text_after_(end)) {
        end = tcall_text_skip_(tcall_text_value_(key));
        if (end > place)
            return key;
    }
}

static void tcall_say_part_(void *of, char letter);

static void tcall_say_text_(tcall_said_fault_ *fault, const char *text)
{
    tcall_write_parts_(fault->out, text, tcall_say_part_, fault);
}

/* What stands in a sentence for %o. */
static void tcall_say_rule_(const tcall_said_fault_ *fault)
{
    if (fault->keyword == TCALL_ON_REQUIRED_)
        tcall_say_json_(fault->out, tcall_fault_name_(fault));
    else if (fault->keyword == TCALL_ON_NEEDED_)
        tcall_say_json_(fault->out, fault->is->row->of.text + fault->is->count);
    else
        tcall_say_own_(fault->out, fault->is->row);
}

/* What to do about a name that is no property: whether there are others. */
static void tcall_say_others_(const tcall_said_fault_ *fault)
{
    const tcall_row *row = tcall_fault_row_(fault, TCALL_ON_PROPERTIES_);
    if (row && row->count) {
        tcall_write_text(fault->out, "use one of ");
        tcall_say_names_(fault->out, row);
        tcall_write_text(fault->out, " or ");
    }
    tcall_write_text(fault->out, "leave it out");
}

/* Writes what stands in a sentence for % and this letter. */
static void tcall_say_part_(void *of, char letter)
{
    tcall_said_fault_ *fault = (tcall_said_fault_ *)of;
    tcall_writer *writer = fault->out;
    const tcall_fault *is = fault->is;
    switch (letter) {
    case 'v':
        if (fault->key == fault->value)
            tcall_write_text(writer, "the property name ");
        tcall_say_value_(writer, fault->value);
        break;
    case 'k':
        tcall_say_value_(writer, fault->key ? fault->key : fault->value);
        break;
    case 't': tcall_write_text(writer, tcall_fault_type_(fault->value)); break;
    case 'T':
        tcall_tell_types_(writer,
                          is->node->types & TCALL_SHAPE_NUMBER
                              ? is->node->types & ~(unsigned)TCALL_SHAPE_INTEGER
                              : is->node->types);
        break;
    case 'n': tcall_say_counted_(writer, is->count, fault->keyword); break;
    case 'o': tcall_say_rule_(fault); break;
    case 'l': tcall_say_limit_(fault, false, false); break;
    case 'h': tcall_say_limit_(fault, true, false); break;
    case 'L': tcall_say_limit_(fault, false, true); break;
    case 'H': tcall_say_limit_(fault, true, true); break;
    case 'c': tcall_say_text_(fault, tcall_fault_counts_(fault)); break;
    case 'r':
        tcall_write_text(writer, is->node->types & TCALL_SHAPE_NUMBER
                                     ? "a number"
                                     : "an integer");
        tcall_say_text_(fault, tcall_fault_range_(fault));
        break;
    case 'e': tcall_say_words_(writer, is->row->of.text); break;
    case 'x': tcall_say_pattern_(fault); break;
    case 'w':
        if (is->count == UINT16_MAX) /* or more */
            tcall_write_text(writer, "a value");
        else
            tcall_say_value_(writer, fault->value + is->count);
        break;
    case 'm':
        tcall_write_text(writer, is->count == 1 ? "matches " : "match ");
        tcall_say_own_(writer, tcall_fault_row_(fault, TCALL_ON_CONTAINS_));
        break;
    case 'f':
        tcall_write_text(writer,
                         is->count ? "several alternatives" : "no alternative");
        break;
    case 'p': tcall_say_json_(writer, tcall_fault_needs_(fault)); break;
    default: tcall_say_others_(fault); break; /* N */
    }
}

/* -- Faults of shapes ----------------------------------------------------- */

/* A fault of a shape as the misfit that the decoder notes for the same. */
static void tcall_say_shape_(const tcall_said_fault_ *fault)
{
    const tcall_fault *is = fault->is;
    tcall_misfit misfit;
    tcall_misplaced_ place;
    uint8_t code = 1;
    while (TCALL_FETCH_8_(tcall_misfit_keys_ + code) != fault->keyword)
        code++;
    memset(&misfit, 0, sizeof misfit);
    misfit.code = code;
    place.misfit = &misfit;
    place.node = is->shape;
    place.name = NULL;
    place.object = is->object;
    place.came = fault->value;
    place.show = tcall_say_value_;
    if (fault->keyword == TCALL_ON_REQUIRED_)
        place.name = tcall_word_at_(
            TCALL_FETCH_POINTER_(const char *, &is->object->names), is->count);
    tcall_tell_misfit_(fault->out, &place);
}

/* -- Whole faults --------------------------------------------------------- */

static tcall_said_fault_ tcall_said_of_fault_(tcall_writer *writer,
                                              const char *text,
                                              const tcall_fault *is)
{
    tcall_said_fault_ fault;
    fault.out = writer;
    fault.is = is;
    fault.text = text;
    fault.value = text + is->at;
    fault.key = NULL;
    fault.keyword = is->keyword;
    if (is->keyword == TCALL_ON_TYPE_ && is->node &&
        (is->row || !is->node->types)) /* a node that is false */
        fault.keyword = is->row ? is->row->on : TCALL_ON_NOTHING_;
    return fault;
}

/* Says what is wrong, and to a model what to send instead. */
static void tcall_say_sentence_(tcall_said_fault_ *fault, bool remedy)
{
    int says;
    if (!fault->is->node) {
        tcall_say_shape_(fault);
        return;
    }
    says = 2 * tcall_sentences_[tcall_sentence_of_(fault->keyword)].says;
    tcall_say_text_(fault, tcall_word_at_(tcall_sentence_texts_, says));
    if (remedy)
        tcall_say_text_(fault, tcall_word_at_(tcall_sentence_texts_, says + 1));
}

/* Into a string that is open: "/days: 9 is over the maximum 7; ..." Without a
 * remedy it is of what nobody can send anew. */
TCALL_SHARED_ void tcall_say_fault_(tcall_writer *writer, const char *text,
                                    const tcall_fault *is, bool remedy)
{
    tcall_said_fault_ fault = tcall_said_of_fault_(writer, text, is);
    fault.key = tcall_say_pointer_(writer, text, is->at);
    tcall_write_text(writer, is->at ? ": " : "");
    tcall_say_sentence_(&fault, remedy);
}

/* Returns the word of the keyword that failed. */
static const char *tcall_fault_word_(const tcall_said_fault_ *fault)
{
    unsigned row = tcall_sentence_of_(fault->keyword);
    return tcall_sentences_[row].named || !fault->is->node
               ? tcall_keyword_words_[fault->keyword]
               : "false";
}

int tcall_write_fault(tcall_writer *writer, const char *text,
                      const tcall_fault *is)
{
    tcall_said_fault_ fault = tcall_said_of_fault_(writer, text, is);
    tcall_write_open(writer, '{');
    tcall_write_key(writer, "path");
    tcall_write_quote(writer);
    fault.key = tcall_say_pointer_(writer, text, is->at);
    tcall_write_unquote(writer);
    tcall_write_key(writer, "keyword");
    tcall_write_string(writer, tcall_fault_word_(&fault));
    tcall_write_key(writer, "message");
    tcall_write_quote(writer);
    tcall_say_sentence_(&fault, true);
    tcall_write_unquote(writer);
    return tcall_write_close(writer, '}');
}

/* -- Coercions ------------------------------------------------------------ */

/* What a value was: the text that it is, as a string. */
static void tcall_write_came_(tcall_writer *writer, const char *value,
                              uint8_t how)
{
    tcall_str text = tcall_text_verbatim_(value);
    tcall_write_quote(writer);
    if (how == TCALL_COERCED_WORD_)
        tcall_write_text(writer, *value == 't' ? "True" : "False");
    else if (text.len > TCALL_SHOWN_)
        tcall_write_bytes(writer, value, tcall_utf8_cut_(value, TCALL_SHOWN_));
    else
        tcall_write_bytes(writer, value, text.len);
    if (text.len > TCALL_SHOWN_)
        tcall_write_text(writer, "...");
    tcall_write_unquote(writer);
}

static void tcall_write_coercion_(tcall_writer *writer, const char *text,
                                  const tcall_coercion *coercion)
{
    tcall_write_open(writer, '{');
    tcall_write_key(writer, "path");
    tcall_write_quote(writer);
    tcall_say_pointer_(writer, text, coercion->at);
    tcall_write_unquote(writer);
    tcall_write_key(writer, "from");
    if (coercion->how == TCALL_COERCED_ABSENT_) {
        tcall_write_null(writer);
    } else {
        tcall_write_came_(writer, text + coercion->at, coercion->how);
        tcall_write_key(writer, "to");
        tcall_write_verbatim(writer, tcall_text_verbatim_(text + coercion->at));
    }
    tcall_write_close(writer, '}');
}

int tcall_write_coercions(tcall_writer *writer, const tcall_machine *machine)
{
    unsigned i, count = machine->coercion_count;
    tcall_write_open(writer, '[');
    for (i = 0; i < count && i < TCALL_COERCIONS_; i++)
        tcall_write_coercion_(writer, machine->text, &machine->coercions[i]);
    if (count > TCALL_COERCIONS_) {
        tcall_write_open(writer, '{');
        tcall_write_key(writer, "more");
        tcall_write_int(writer, (tcall_int)(count - TCALL_COERCIONS_));
        tcall_write_close(writer, '}');
    }
    return tcall_write_close(writer, ']');
}
