#pragma once
#include "say.h"
#include "read.c"
#include "machine.c"
#include "compile.c"

/* ==========================================================================
 * >>say
 *
 * A sentence is a text in flash in which % and a letter stand for what differs
 * from one fault to the next. Those in TCALL_MISFITS are said of shapes and of
 * schemas, by the bare decoder, which has no text any more, too; what only
 * schemas say is in a second table that only their reader names.
 */

/* ---- numbers and lists ---- */

/* Writes a decimal number without zeros at its end: (2150, 2) is 21.5. */
static void tcall_put_number_(tcall_writer *writer, tcall_int value,
                              int decimals)
{
    for (; decimals && value % 10 == 0; decimals--)
        value /= 10;
    tcall_write_decimal_(writer, value, decimals);
}

/* Writes what stands between two of a list, before the last `left` of them. */
static void tcall_say_or_(tcall_writer *writer, uint32_t left)
{
    if (left)
        tcall_write_flash(writer, left > 1 ? TCALL_FLASH_TEXT_(", ")
                                           : TCALL_FLASH_TEXT_(" or "));
}

/* Writes the types of a set: "a string, a number or null". */
static void tcall_say_types_(tcall_writer *writer, unsigned types)
{
    static const char words[] TCALL_FLASH_ =
        "null\0a boolean\0\0a number\0a string\0an array\0an object\0"
        "an integer\0";
    int index = 7;
    if (types & TCALL_SHAPE_INTEGER) /* is said first */
        types ^= TCALL_SHAPE_INTEGER | 1u << 7;
    for (; types; index--)
        if (types >> index & 1) {
            types ^= 1u << index;
            tcall_write_flash(writer, tcall_word_at_(words, index));
            tcall_say_or_(writer, types ? 1 + (types & (types - 1)) : 0);
        }
}

/* Returns the types without those that others include: every integer is a
 * number. */
static unsigned tcall_types_of_(unsigned types)
{
    return types & TCALL_SHAPE_NUMBER ? types & ~(unsigned)TCALL_SHAPE_INTEGER
                                      : types;
}

/* Writes words of a list: "celsius", "fahrenheit" or "kelvin". */
static void tcall_say_words_(tcall_writer *writer, const char *word,
                             uint32_t count)
{
    for (; count; word = tcall_word_next_(word)) {
        tcall_write_char_(writer, '"');
        tcall_write_flash(writer, word);
        tcall_write_char_(writer, '"');
        tcall_say_or_(writer, --count);
    }
}

/* ---- limits ---- */

/* A limit of a value: one end of its shape, or a row of its schema. */
typedef struct tcall_limit_ {
    tcall_int number; /* in units of the last digit */
    uint8_t digits;
    uint8_t how;    /* TCALL_LIMIT_... */
    tcall_str text; /* as a schema spells it, instead of the number */
} tcall_limit_;

enum { TCALL_LIMIT_NONE_, TCALL_LIMIT_BEYOND_, TCALL_LIMIT_WITHIN_ };

/* What is limited, which says keywords and nouns. */
enum {
    TCALL_LIMITS_NONE_,
    TCALL_LIMITS_VALUE_,
    TCALL_LIMITS_LENGTH_,
    TCALL_LIMITS_ITEMS_,
    TCALL_LIMITS_PROPERTIES_
};

/* Returns what a kind of shapes limits. */
TCALL_SHARED_ uint8_t tcall_limits_of_(uint8_t kind)
{
    return kind == TCALL_KIND_TEXT   ? TCALL_LIMITS_LENGTH_
           : kind == TCALL_KIND_LIST ? TCALL_LIMITS_ITEMS_
           : kind >= TCALL_KIND_INTEGER && kind <= TCALL_KIND_NUMBER
               ? TCALL_LIMITS_VALUE_
               : TCALL_LIMITS_NONE_;
}

/* Returns what a keyword limits. */
static uint8_t tcall_limits_by_(unsigned keyword)
{
    return keyword < TCALL_ON_MINIMUM_ || keyword == TCALL_ON_MULTIPLE_ ||
                   keyword > TCALL_ON_MAX_PROPERTIES_
               ? (uint8_t)TCALL_LIMITS_NONE_
           : keyword < TCALL_ON_MULTIPLE_
               ? (uint8_t)TCALL_LIMITS_VALUE_
               : (uint8_t)(TCALL_LIMITS_LENGTH_ +
                           (keyword - TCALL_ON_MIN_LENGTH_) / 2);
}

/* Gives the low or the high limit of a shape. */
TCALL_NOINLINE_ TCALL_SHARED_ void
tcall_limit_of_(tcall_limit_ *limit, const tcall_shape *shape, bool high)
{
    const uint8_t of = tcall_limits_of_(shape->kind);
    tcall_int none = high                        ? INT32_MAX
                     : of == TCALL_LIMITS_VALUE_ ? INT32_MIN
                                                 : 0;
    memset(limit, 0, sizeof *limit);
    limit->number = high ? shape->high : shape->low;
#ifndef TOOLCALL_NO_INT64
    if (shape->kind == TCALL_KIND_INTEGER64 ||
        shape->kind == TCALL_KIND_NUMBER) {
        TCALL_FETCH_(tcall_range, range, shape->more);
        limit->number = high ? range->high : range->low;
        none = high ? INT64_MAX : INT64_MIN;
    }
#endif
    if (of == TCALL_LIMITS_VALUE_)
        limit->digits = shape->digits;
    if (of && limit->number != none &&
        !(high && shape->flags & TCALL_MEMBER_UNSAID))
        limit->how =
            shape->flags & (high ? TCALL_MEMBER_UNDER : TCALL_MEMBER_OVER)
                ? TCALL_LIMIT_BEYOND_
                : TCALL_LIMIT_WITHIN_;
}

/* Returns whether a keyword excludes its limit. */
static bool tcall_is_beyond_(unsigned keyword)
{
    return keyword == TCALL_ON_ABOVE_ || keyword == TCALL_ON_BELOW_;
}

/* Gives the limit that a row says. */
static void tcall_limit_by_(tcall_limit_ *limit, const tcall_row *row)
{
    limit->how =
        tcall_is_beyond_(row->on) ? TCALL_LIMIT_BEYOND_ : TCALL_LIMIT_WITHIN_;
    if (row->on >= TCALL_ON_MIN_LENGTH_)
        limit->number = (tcall_int)row->of.number;
    else
        limit->text = tcall_text_verbatim_(row->of.text);
}

/* Returns whether a keyword is the upper one of two. */
static bool tcall_is_upper_(unsigned keyword)
{
    return (keyword - (keyword < TCALL_ON_MIN_LENGTH_
                           ? (unsigned)TCALL_ON_MINIMUM_
                           : (unsigned)TCALL_ON_MIN_LENGTH_)) %
           2;
}

/* Writes so many of what the limits are of: "1 character", "5 elements". */
static void tcall_say_count_(tcall_writer *writer, tcall_int count, uint8_t of)
{
    static const char nouns[] TCALL_FLASH_ =
        "\0\0\0\0 character\0 characters\0 element\0 elements\0"
        " property\0 properties\0";
    tcall_put_number_(writer, count, 0);
    tcall_write_flash(writer, tcall_word_at_(nouns, of * 2 + (count != 1)));
}

/* ---- a fault, and all that its sentence may name ---- */

/* Writes the value that came, or its type. Returns whether it is known. */
struct tcall_said_fault_;
typedef bool (*tcall_say_came_)(const struct tcall_said_fault_ *said,
                                bool type);

typedef struct tcall_said_fault_ {
    tcall_writer *out;
    /* Writes what a letter stands for. */
    void (*part)(struct tcall_said_fault_ *said, char letter);
    tcall_say_came_ came;
    const tcall_fault *is;
    const tcall_misfit *misfit; /* of a decoder; NULL: of checked text */
    const char *value;          /* in the text, or NULL */
    const char *key;            /* of the member at the place, or NULL */
    const tcall_shape *shape;   /* that is missed, or NULL: a node is */
    unsigned types;             /* what to send: of these, */
    uint8_t of;                 /* in limits of these: TCALL_LIMITS_... */
    uint8_t keyword;            /* TCALL_ON_...; of a schema that is false the
                                 * one that brought it */
    bool remedy;                /* what to send is said, too */
    tcall_limit_ limits[2];     /* the low and the high one */
} tcall_said_fault_;

/* Begins to say a fault, with its value, where there is a text; without a
 * remedy it is of what nobody can send anew. It is filled in its place: GCC for
 * AVR copies a struct that is returned. */
static void tcall_said_of_(tcall_said_fault_ *said, tcall_writer *writer,
                           tcall_say_came_ came, const char *text,
                           const tcall_fault *is, bool remedy)
{
    memset(said, 0, sizeof *said);
    said->out = writer;
    said->came = came;
    said->is = is;
    said->value = text ? text + is->at : NULL;
    said->keyword = is->keyword;
    if (is->node && is->keyword == TCALL_ON_TYPE_ &&
        (is->row || !is->node->types))
        said->keyword = is->row && is->row->on >= TCALL_ON_PROPERTIES_
                            ? is->row->on
                            : (uint8_t)TCALL_ON_ALLOF_;
    said->remedy = remedy;
}

static void tcall_say_letter_(void *of, char letter)
{
    tcall_said_fault_ *said = (tcall_said_fault_ *)of;
    said->part(said, letter);
}

static void tcall_say_text_(tcall_said_fault_ *said, const char *flash)
{
    tcall_write_parts_(said->out, flash, tcall_say_letter_, said);
}

/* ---- texts ---- */

/* Longer values are cut in what the model reads. */
#define TCALL_SHOWN_ 160

/* How a string is shown: as a reader sees it; as its author spells it, but for
 * characters beyond ASCII; as it is, without quotes and never cut. */
enum { TCALL_SAY_SENT_, TCALL_SAY_SPELLED_, TCALL_SAY_WHOLE_ };

/* Writes a string, which may have been decoded where it lies. */
static void tcall_say_string_(tcall_writer *writer, const char *string, int how)
{
    tcall_text_bytes_ bytes = tcall_text_bytes_of_(string);
    const char *quote = how == TCALL_SAY_WHOLE_ ? "" : "\"";
    bool cut = *quote && bytes.end - bytes.at > TCALL_SHOWN_;
    if (cut)
        bytes.end = bytes.at + tcall_utf8_cut_(bytes.at, TCALL_SHOWN_);
    tcall_write_text(writer, quote);
    while (bytes.at < bytes.end) {
        const char *from = bytes.at;
        tcall_str run = tcall_text_run_(&bytes);
        if (how == TCALL_SAY_SPELLED_ && run.len == 1) /* an escape, maybe */
            run = tcall_slice_(from, (size_t)(bytes.at - from));
        tcall_write_bytes(writer, run.ptr, run.len);
    }
    tcall_write_text(writer, cut ? "..." : "");
    tcall_write_text(writer, quote);
}

/* Writes JSON text of this length. */
static void tcall_say_json_(tcall_writer *writer, tcall_str json, int how)
{
    bool cut = json.len > TCALL_SHOWN_;
    if (json.len && tcall_text_is_string_(json.ptr)) {
        tcall_say_string_(writer, json.ptr, how);
        return;
    }
    tcall_write_bytes(writer, json.ptr,
                      cut ? tcall_utf8_cut_(json.ptr, TCALL_SHOWN_) : json.len);
    tcall_write_text(writer, cut ? "..." : "");
}

/* Writes the value at p as a schema spells it. */
static void tcall_say_spelled_(tcall_writer *writer, const char *p)
{
    tcall_say_json_(writer, tcall_text_verbatim_(p), TCALL_SAY_SPELLED_);
}

/* Writes a value that was sent; of an array or object what it is: it may be
 * long, and the path says which one it is. */
static void tcall_say_sent_(tcall_writer *writer, const char *value)
{
    if (*value == '{' || *value == '[')
        tcall_write_text(writer, *value == '{' ? "the object" : "the array");
    else
        tcall_say_json_(writer, tcall_text_verbatim_(value), TCALL_SAY_SENT_);
}

/* ---- places: JSON Pointers ---- */

/* Writes a byte of a name. */
static void tcall_say_pointed_(tcall_writer *writer, char c)
{
    if (c == '~' || c == '/')
        tcall_write_text(writer, c == '~' ? "~0" : "~1");
    else if (c & 0x80) /* of a character, all of which comes */
        tcall_write_out_(writer, &c, 1);
    else
        tcall_write_char_(writer, c);
}

/* Writes a name in flash as a step. */
static void tcall_say_step_(tcall_writer *writer, const char *name)
{
    tcall_write_char_(writer, '/');
    for (; TCALL_BYTE_(name); name++)
        tcall_say_pointed_(writer, TCALL_BYTE_(name));
}

/* Writes a name that is a JSON string as a step. */
static void tcall_say_name_(tcall_writer *writer, const char *name)
{
    tcall_text_bytes_ bytes = tcall_text_bytes_of_(name);
    tcall_write_char_(writer, '/');
    while (bytes.at < bytes.end) {
        tcall_str run = tcall_text_run_(&bytes);
        for (; run.len; run.len--)
            tcall_say_pointed_(writer, *run.ptr++);
    }
}

/* Writes the index of an item as a step. */
static void tcall_say_index_(tcall_writer *writer, uint32_t index)
{
    tcall_write_char_(writer, '/');
    tcall_put_number_(writer, (tcall_int)index, 0);
}

/* Writes the pointer of the value, or of the member whose name begins, at a
 * place in JSON text, which is not read behind the place: once for each level
 * that the place is in. Returns the quote of the last name, or NULL where the
 * last step is an index. */
static const char *tcall_say_pointer_(tcall_writer *writer, const char *text,
                                      const char *place)
{
    const char *p, *name = NULL, *last = NULL;
    unsigned level, depth;
    uint32_t index = 0;
    bool object = false;
    for (level = 1;; level++, last = name) {
        for (p = text, depth = 0; p < place;
             p = tcall_text_is_string_(p) ? tcall_text_string_end_(p) : p + 1) {
            bool opens = *p == '{' || *p == '[';
            depth += opens;
            if (depth == level && (opens || *p == ',')) {
                object = opens ? *p == '{' : object;
                index = opens ? 0 : index + 1;
                name = NULL;
            } else if (depth == level && !name && tcall_text_is_string_(p)) {
                name = p;
            }
            depth -= depth && (*p == '}' || *p == ']');
        }
        if (depth == level && object && !name && tcall_text_is_string_(place))
            name = place;
        if (depth < level || (object && !name))
            return last;
        if (object) {
            tcall_say_name_(writer, name);
        } else {
            tcall_say_index_(writer, index);
            name = NULL;
        }
    }
}

/* Returns whether a fault of a shape is of its object, not of a value. */
static bool tcall_is_of_names_(const tcall_fault *is)
{
    return is->keyword == TCALL_ON_OTHERS_ ||
           is->keyword == TCALL_ON_REQUIRED_ ||
           is->keyword == TCALL_ON_DUPLICATE_;
}

/* Walks the way of a misfit from an object to its place, writing the steps from
 * `from` on, and makes it a fault. What is absent or unknown has no place of
 * its own: that is the object. */
TCALL_NOINLINE_ static tcall_fault tcall_say_way_(tcall_writer *writer,
                                                  const tcall_misfit *misfit,
                                                  const tcall_object *from,
                                                  uint8_t first)
{
    const tcall_shape *at = &tcall_root_;
    tcall_fault fault = {
        0,    TCALL_FETCH_8_(tcall_misfit_keys_ + misfit->code),
        0,    0,
        NULL, NULL,
        NULL};
    uint8_t i;
    for (i = first; i < misfit->steps; i++) {
        uint16_t step = misfit->trail[i];
        TCALL_FETCH_(tcall_object, object, from);
        TCALL_FETCH_(tcall_shape, shape, at);
        bool list = shape->kind == TCALL_KIND_LIST;
        fault.count = step;
        if ((!list &&
             (shape->kind != TCALL_KIND_OBJECT || step >= object->count)) ||
            (misfit->code == TCALL_MISFIT_REQUIRED && i + 1 == misfit->steps))
            break;
        at = list ? (const tcall_shape *)shape->more : object->members + step;
        if (list)
            tcall_say_index_(writer, step);
        else
            tcall_say_step_(writer, tcall_word_at_(object->names, step));
        if (TCALL_FETCH_8_(&at->kind) == TCALL_KIND_OBJECT)
            from = TCALL_FETCH_POINTER_(const tcall_object *, &at->more);
    }
    fault.shape = tcall_is_of_names_(&fault) ? (const void *)from : at;
    return fault;
}

/* ---- what a letter stands for ---- */

/* Of a checked text the value is known. */
static bool tcall_say_found_(const tcall_said_fault_ *said, bool type)
{
    tcall_type is = said->value ? tcall_text_type_(said->value) : TCALL_MISSING;
    if (is == TCALL_MISSING)
        return false;
    if (!type)
        tcall_say_sent_(said->out, said->value);
    else if (is < TCALL_BOOL || is > TCALL_STRING)
        TCALL_SAY(said->out, "not allowed here");
    else
        tcall_say_types_(said->out, is == TCALL_BOOL
                                        ? (unsigned)TCALL_SHAPE_BOOLEAN
                                        : 1u << is);
    return true;
}

/* A decoder has no text: a number may be known, or the beginning of a name or
 * word. */
static bool tcall_say_kept_(const tcall_said_fault_ *said, bool type)
{
    const tcall_misfit *misfit = said->misfit;
    if (type)
        return false;
    if (misfit->exact)
        tcall_put_number_(said->out, misfit->got, said->shape->digits);
#if TOOLCALL_MISFIT_TEXT
    else if (misfit->text_len && (said->keyword == TCALL_ON_ENUM_ ||
                                  said->keyword == TCALL_ON_OTHERS_)) {
        size_t len = misfit->text_len;
        bool cut = len == TOOLCALL_MISFIT_TEXT;
        /* in plain text, too, no ends of lines, nothing for terminals */
        uint8_t quoted = said->out->quoted;
        tcall_write_char_(said->out, '"');
        said->out->quoted = 1;
        tcall_write_bytes(said->out, misfit->text,
                          cut ? tcall_utf8_cut_(misfit->text, len - 1) : len);
        said->out->quoted = quoted;
        tcall_write_text(said->out, cut ? "...\"" : "\"");
    }
#endif
    else
        return false;
    return true;
}

/* Writes a limit; bare: as a mere number. */
static void tcall_say_limit_(const tcall_said_fault_ *said,
                             const tcall_limit_ *limit, bool bare)
{
    if (limit->text.len)
        tcall_write_bytes(said->out, limit->text.ptr, limit->text.len);
    else if (said->of > TCALL_LIMITS_VALUE_ && !bare)
        tcall_say_count_(said->out, limit->number, said->of);
    else
        tcall_put_number_(said->out, limit->number, limit->digits);
}

/* Writes what to send: "an integer from 1 to 7"; of counts without what is
 * counted, and so without the " of " before it. */
static void tcall_say_wanted_(tcall_said_fault_ *said)
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
        " from %l to %h\0"
        " of %c to %h\0"
        " of %h\0";
    const tcall_limit_ *low = said->limits, *high = said->limits + 1;
    const tcall_shape *shape = said->shape;
    int range = low->how * 3 + high->how;
    bool word = shape && shape->kind == TCALL_KIND_CHOICE;
    unsigned null_last = word || range ? said->types & TCALL_SHAPE_NULL : 0;
    if (range == 8)
        range +=
            low->number == high->number && tcall_str_eq(low->text, high->text)
                ? 2
                : said->of > TCALL_LIMITS_VALUE_;
    if (word)
        tcall_say_words_(said->out, (const char *)shape->more,
                         (uint32_t)shape->high + 1);
    else
        tcall_say_types_(said->out, said->types & ~null_last);
    tcall_say_text_(said, tcall_word_at_(ranges, range) +
                              (said->types & ~null_last ? 0 : 4));
    if (null_last)
        TCALL_SAY(said->out, " or null");
}

/* Returns whether is->count says how many of what is limited there are. */
static bool tcall_is_counted_(const tcall_said_fault_ *said)
{
    return said->value && (said->of == TCALL_LIMITS_LENGTH_ ||
                           (said->of > TCALL_LIMITS_LENGTH_ && !said->shape));
}

/* What some letters stand for, in which others may stand: %e is how many there
 * are, %w all names of an object, %b the bytes that there is room for. */
static const char tcall_phrases_[] TCALL_FLASH_ =
    "\0"
    "is\0has %e,\0"
    "a property is not known here\0 is not a property here\0"
    "this\0this number\0the string\0the array\0"
    "under the minimum %p\0over the maximum %p\0"
    "not greater than %p\0not less than %p\0"
    "at most %b bytes\0%s\0at most %b bytes\0at most %h\0"
    "use %w or \0"
    "of another type\0";
enum {
    TCALL_PHRASE_NOTHING_,
    TCALL_PHRASE_IS_,          /* or has so many */
    TCALL_PHRASE_UNKNOWN_ = 3, /* or is, after the name */
    TCALL_PHRASE_VALUE_ = 5,   /* by TCALL_LIMITS_... */
    TCALL_PHRASE_PASSED_ = 9,  /* + 1 the upper one, + 2 excluding itself */
    TCALL_PHRASE_ROOM_ = 13,   /* by TCALL_LIMITS_... */
    TCALL_PHRASE_USE_ = 17,
    TCALL_PHRASE_TYPE_,
    TCALL_PHRASE_NONE_ = -1 /* the letter stands for no phrase */
};

/* Returns the phrase that a letter in TCALL_MISFITS stands for, after writing
 * the value if it is known. */
static int tcall_say_phrase_(const tcall_said_fault_ *said, char letter)
{
    const void *object = said->is->shape;
    const bool upper = tcall_is_upper_(said->keyword);
    switch (letter) {
    case 'v':
        return said->came(said, false) ? TCALL_PHRASE_NOTHING_
               : said->keyword == TCALL_ON_TYPE_
                   ? TCALL_PHRASE_VALUE_
                   : TCALL_PHRASE_VALUE_ + said->of;
    case 't':
        return said->came(said, true) ? TCALL_PHRASE_NOTHING_
                                      : TCALL_PHRASE_TYPE_;
    case 'x': return TCALL_PHRASE_UNKNOWN_ + said->came(said, false);
    case 'n': return TCALL_PHRASE_IS_ + tcall_is_counted_(said);
    case 'u':
        return TCALL_PHRASE_PASSED_ + upper +
               2 * (said->shape ? said->limits[upper].how == TCALL_LIMIT_BEYOND_
                                : tcall_is_beyond_(said->keyword));
    case 'r': return TCALL_PHRASE_ROOM_ + said->of;
    case 'k':
        return TCALL_FETCH_8_(&((const tcall_object *)object)->count)
                   ? TCALL_PHRASE_USE_
                   : TCALL_PHRASE_NOTHING_;
    default: return TCALL_PHRASE_NONE_;
    }
}

/* Writes what a letter in TCALL_MISFITS stands for, or in the texts above. */
static void tcall_say_part_(tcall_said_fault_ *said, char letter)
{
    tcall_writer *out = said->out;
    const tcall_fault *is = said->is;
    const tcall_object *object = (const tcall_object *)is->shape;
    int phrase = tcall_say_phrase_(said, letter);
    if (phrase != TCALL_PHRASE_NONE_) {
        tcall_say_text_(said, tcall_word_at_(tcall_phrases_, phrase));
    } else if (letter == 'm' || letter == 'w') {
        tcall_say_words_(
            out,
            tcall_word_at_(TCALL_FETCH_POINTER_(const char *, &object->names),
                           letter == 'm' ? is->count : 0),
            letter == 'm' ? 1 : TCALL_FETCH_8_(&object->count));
    } else if (letter == 'e') {
        tcall_say_count_(out, is->count,
                         said->of ? said->of : (uint8_t)TCALL_LIMITS_ITEMS_);
    } else if (letter == 'b') {
        tcall_put_number_(out, said->shape->size - 1, 0);
    } else if (letter == 's') {
        tcall_say_wanted_(said);
    } else if (letter == 'p') {
        tcall_say_limit_(said, &said->limits[tcall_is_upper_(said->keyword)],
                         tcall_is_counted_(said));
    } else {
        tcall_say_limit_(said, &said->limits[letter == 'h'], letter == 'c');
    }
}

/* ---- sentences of shapes ---- */

/* Says the sentence at an index, from 1; one that is empty is as before. */
static void tcall_say_sentence_(tcall_said_fault_ *said, const char *sentences,
                                int index)
{
    const char *text;
    do
        text = tcall_word_at_(sentences, 2 * --index);
    while (index && !TCALL_BYTE_(text));
    tcall_say_text_(said, text);
    if (said->remedy)
        tcall_say_text_(said, tcall_word_next_(text));
}

/* What is said of a row of TCALL_MISFITS. */
#ifdef TOOLCALL_NO_SENTENCES
#define TCALL_MISFIT_TEXTS_(NAME, keyword, wrong, remedy) keyword "\0\0"
#else
#define TCALL_MISFIT_TEXTS_(NAME, keyword, wrong, remedy) wrong "\0" remedy "\0"
#endif

/* Says a keyword that TCALL_MISFITS has. Returns false where it does not. */
static bool tcall_say_misfit_(tcall_said_fault_ *said, unsigned keyword)
{
    static const char sentences[] TCALL_FLASH_ =
        TCALL_MISFITS(TCALL_MISFIT_TEXTS_);
    int code = (int)sizeof tcall_misfit_keys_ - 1;
    while (code && TCALL_FETCH_8_(tcall_misfit_keys_ + code) != keyword)
        code--;
    if (keyword == TCALL_ON_OTHERS_ && said->key)
        said->value = said->key;
    if (code)
        tcall_say_sentence_(said, sentences, code);
    return code != 0;
}

/* Says a fault of a shape. */
TCALL_SHARED_ void tcall_say_shape_(tcall_said_fault_ *said)
{
    const tcall_fault *is = said->is;
    TCALL_FETCH_(tcall_shape, shape,
                 tcall_is_of_names_(is) ? &tcall_root_ : is->shape);
    said->part = tcall_say_part_;
    said->shape = shape;
    said->types = tcall_types_of_(shape->types);
    said->of = tcall_limits_of_(shape->kind);
    tcall_limit_of_(&said->limits[0], shape, false);
    tcall_limit_of_(&said->limits[1], shape, true);
    tcall_say_misfit_(said, is->keyword);
}

int tcall_write_misfit(tcall_writer *writer, const tcall_misfit *misfit,
                       const tcall_object *shape, uint8_t from)
{
    size_t before = writer->len;
    tcall_fault fault = tcall_say_way_(writer, misfit, shape, from);
    tcall_said_fault_ said;
    tcall_said_of_(&said, writer, tcall_say_kept_, NULL, &fault, true);
    said.misfit = misfit;
    if (writer->len > before)
        TCALL_SAY(writer, ": ");
    tcall_say_shape_(&said);
    return writer->error;
}

/* ---- sentences of schemas ---- */

/* X(keyword, what is wrong, what to do about it): in the order of the keywords;
 * what is empty is as before, or in TCALL_MISFITS. Those of members and items
 * are for a schema that is false, the first one for any other that is. %o is
 * the rule, %a the name, %e how many, %y match it, %f alternatives fit, %w the
 * value that came twice, %q the pattern, %d the name that needs another. */
#define TCALL_SENTENCES_(X)                                                    \
    X(ALLOF, "no value is allowed here", "; leave it out")                     \
    X(REF, "", "")                                                             \
    X(ANYOF, "%v fits %f of anyOf", "; send what fits one of %o")              \
    X(ONEOF, "%v fits %f of oneOf", "; send what fits exactly one of %o")      \
    X(NOT, "%v matches what is forbidden, %o", "; send a value that does not") \
    X(IF, "", "")                                                              \
    X(THEN, "", "")                                                            \
    X(ELSE, "", "")                                                            \
    X(CONTAINS, "%e of the array %y", "; send at least 1 of them")             \
    X(DEPENDENT, "", "")                                                       \
    X(PROPERTIES, "%a is not allowed", "; leave it out")                       \
    X(PATTERNS, "", "")                                                        \
    X(OTHERS, "", "")                                                          \
    X(PREFIX, "this element is one too many", "; leave it out")                \
    X(ITEMS, "", "")                                                           \
    X(NAMES, "%v is not allowed", "; leave it out")                            \
    X(ENUM, "", "")                                                            \
    X(CONST, "%v is not the only value that is allowed", "; send %o")          \
    X(PATTERN, "%v does not match the pattern %q",                             \
      "; send a string that does")                                             \
    X(MINIMUM, "", "")                                                         \
    X(MAXIMUM, "", "")                                                         \
    X(ABOVE, "", "")                                                           \
    X(BELOW, "", "")                                                           \
    X(MULTIPLE, "%v is not a multiple of %o", "; send a multiple of it")       \
    X(MIN_LENGTH, "", "")                                                      \
    X(MAX_LENGTH, "", "")                                                      \
    X(MIN_ITEMS, "", "")                                                       \
    X(MAX_ITEMS, "", "")                                                       \
    X(MIN_PROPERTIES, "", "")                                                  \
    X(MAX_PROPERTIES, "", "")                                                  \
    X(MIN_CONTAINS, "%e of the array %y", "; send at least %o of them")        \
    X(MAX_CONTAINS, "%e of the array %y", "; send at most %o of them")         \
    X(UNIQUE, "%w is in the array twice", "; send each value once")            \
    X(REQUIRED, "", "")                                                        \
    X(NEEDED, "the property %m is missing, which %d needs",                    \
      "; add it or leave out %d")

/* Returns the word of the schema that a person would look for. */
static const char *tcall_fault_word_(const tcall_said_fault_ *said)
{
    unsigned on = said->keyword;
    const tcall_row *row = said->is->row;
    if (on != said->is->keyword && on != TCALL_ON_OTHERS_ &&
        on != TCALL_ON_ITEMS_ && on != TCALL_ON_NAMES_)
        return "false";
    if (row && row->flags & TCALL_ROW_OLD_)
        on = tcall_row_keyword_(row);
    return tcall_keyword_word_((uint8_t)on);
}

/* Writes the words of an enum, "celsius", "fahrenheit" or "kelvin", or the
 * names of properties, as far as they fit. */
static void tcall_say_list_(tcall_writer *writer, const tcall_row *row)
{
    size_t room = writer->len + 2 * TCALL_SHOWN_;
    const char *next = row->on == TCALL_ON_ENUM_
                           ? tcall_text_first_(row->of.text)
                           : row->of.members->name;
    while (next) {
        tcall_say_spelled_(writer, next);
        next = tcall_text_sibling_(next);
        if (next && writer->len > room) {
            tcall_write_text(writer, ", ...");
            break;
        }
        tcall_say_or_(writer, next ? 1u + !!tcall_text_sibling_(next) : 0);
    }
}

/* Writes a row's value as its schema spells it. */
static void tcall_say_rule_(tcall_writer *writer, const tcall_row *row)
{
    const char *text = row->of.text;
    if (row->on >= TCALL_ON_MIN_LENGTH_ && row->on <= TCALL_ON_MAX_CONTAINS_) {
        tcall_put_number_(writer, (tcall_int)row->of.number, 0);
        return;
    }
    if (row->on <= TCALL_ON_CONTAINS_) { /* of schemas the first is known */
        text = row->of.members->name;
        if (*text == '"')
            text = tcall_text_value_(text);
        while (row->on <= TCALL_ON_ONEOF_ && *text != '[')
            text--;
    }
    tcall_say_spelled_(writer, text);
}

/* Returns the member of dependentRequired whose list has a name. */
static const char *tcall_fault_needs_(const tcall_row *row, const char *name)
{
    const char *key = tcall_text_first_(row->of.text);
    while (tcall_text_skip_(tcall_text_value_(key)) <= name)
        key = tcall_text_sibling_(key);
    return key;
}

/* Writes what a letter of a schema's sentence stands for. */
static void tcall_say_row_part_(tcall_said_fault_ *said, char letter)
{
    tcall_writer *out = said->out;
    const tcall_fault *is = said->is;
    const tcall_row *row = is->row;
    if (letter == 'v' && said->key == said->value)
        tcall_write_text(out, "the property name ");
    if (strchr("yki", letter)) {
        row = tcall_row_of_(is->node, letter == 'y' ? TCALL_ON_CONTAINS_
                                                    : TCALL_ON_PROPERTIES_);
        if (!row || !row->count)
            return;
    }
    if (letter == 'o' || letter == 'p') /* counts are said of the value */
        tcall_say_rule_(out, row);
    else if (letter == 'a')
        tcall_say_sent_(out, said->key ? said->key : said->value);
    else if (letter == 'f')
        tcall_write_text(out,
                         is->count ? "several alternatives" : "no alternative");
    else if (letter == 'q')
        tcall_say_string_(out, row->of.match->text, TCALL_SAY_WHOLE_);
    else if (letter == 'w' && is->count == UINT16_MAX) /* or more */
        tcall_write_text(out, "a value");
    else if (letter == 'w')
        tcall_say_sent_(out, tcall_text_at_(said->value, is->count));
    else if (letter == 'd')
        tcall_say_spelled_(out,
                           tcall_fault_needs_(row, row->of.text + is->count));
    else if (letter == 'm')
        tcall_say_spelled_(out, said->keyword == TCALL_ON_NEEDED_
                                    ? row->of.text + is->count
                                    : tcall_text_at_(row->of.text, is->count));
    else if (letter == 'y') {
        tcall_write_text(out, is->count == 1 ? "matches " : "match ");
        tcall_say_rule_(out, row);
    } else if (letter == 'k')
        tcall_say_text_(said, TCALL_FLASH_TEXT_("use one of %i or "));
    else if (letter == 'i' ||
             (letter == 's' && said->keyword == TCALL_ON_ENUM_))
        tcall_say_list_(out, row);
    else
        tcall_say_part_(said, letter);
}

/* Says a misfit of a schema. */
TCALL_SHARED_ void tcall_say_node_(tcall_said_fault_ *said)
{
    static const char sentences[] =
#define TCALL_X_(NAME, wrong, remedy) wrong "\0" remedy "\0"
        TCALL_SENTENCES_(TCALL_X_);
#undef TCALL_X_
    const tcall_row *row = said->is->node->rows;
    unsigned keyword = said->keyword;
    said->part = tcall_say_row_part_;
    said->of = tcall_limits_by_(keyword);
    if (said->of <= TCALL_LIMITS_VALUE_) /* counts are said alone */
        said->types = tcall_types_of_(said->is->node->types) &
                      (said->of ? TCALL_SHAPE_NUMBER | TCALL_SHAPE_INTEGER
                                : TCALL_SHAPE_ANY);
    for (; row && said->of; row = tcall_row_next_(row))
        if (tcall_limits_by_(row->on) == said->of) /* the last one counts */
            tcall_limit_by_(&said->limits[tcall_is_upper_(row->on)], row);
    if (keyword == TCALL_ON_ABOVE_ || keyword == TCALL_ON_BELOW_ ||
        said->of == TCALL_LIMITS_PROPERTIES_)
        keyword -= 2; /* is said like the one before */
    if (!tcall_say_misfit_(said, keyword))
        tcall_say_sentence_(said, sentences, (int)keyword);
}

/* ---- whole faults ---- */

/* What says the fault of a schema, or of a shape. */
typedef void (*tcall_say_)(struct tcall_said_fault_ *said);

/* Says a fault into a string that is open: "/days: 9 is over the maximum 7;
 * ..." */
TCALL_SHARED_ void tcall_say_fault_(tcall_writer *writer, tcall_say_ say,
                                    const char *text, const tcall_fault *is,
                                    bool remedy)
{
    tcall_said_fault_ said;
    tcall_said_of_(&said, writer, tcall_say_found_, text, is, remedy);
    said.key = tcall_say_pointer_(writer, text, said.value);
    tcall_write_text(writer, is->at ? ": " : "");
    say(&said);
}

TCALL_SHARED_ int tcall_write_fault_(tcall_writer *writer, tcall_say_ say,
                                     const char *text, const tcall_fault *is)
{
    tcall_said_fault_ said;
    tcall_said_of_(&said, writer, tcall_say_found_, text, is, true);
    tcall_write_open(writer, '{');
    tcall_write_quote(tcall_keyed_(writer, "path"));
    said.key = tcall_say_pointer_(writer, text, said.value);
    tcall_write_unquote(writer);
    tcall_write_string(tcall_keyed_(writer, "keyword"),
                       tcall_fault_word_(&said));
    tcall_write_quote(tcall_keyed_(writer, "message"));
    say(&said);
    tcall_write_unquote(writer);
    return tcall_write_close(writer, '}');
}

int tcall_write_fault(tcall_writer *writer, const char *text,
                      const tcall_fault *is)
{
    return tcall_write_fault_(
        writer, is->node ? tcall_say_node_ : tcall_say_shape_, text, is);
}

/* ---- coercions ---- */

/* Writes where a value was, what it was, a string of the text that it is, and
 * what it is, which getters may have decoded. */
static void tcall_write_coercion_(tcall_writer *writer, const char *text,
                                  const tcall_coercion *coercion)
{
    const char *value = text + coercion->at;
    const tcall_json is = tcall_json_of_(value, NULL);
    tcall_write_open(writer, '{');
    tcall_write_quote(tcall_keyed_(writer, "path"));
    tcall_say_pointer_(writer, text, value);
    if (coercion->how == TCALL_COERCED_LEFT_)
        tcall_say_step_(writer, coercion->name);
    else if (coercion->name)
        tcall_say_name_(writer, coercion->name);
    tcall_write_unquote(writer);
    tcall_write_key(writer, "from");
    if (coercion->name) {
        tcall_write_null(writer);
    } else {
        tcall_write_quote(writer);
        if (coercion->how == TCALL_COERCED_WORD_)
            tcall_write_text(writer, *value == 't' ? "True" : "False");
        else
            tcall_write_json(writer, is);
        tcall_write_unquote(writer);
        tcall_write_json(tcall_keyed_(writer, "to"), is);
    }
    tcall_write_close(writer, '}');
}

/* Writes the coercions of a checked text, of which there may be more than are
 * kept. */
TCALL_SHARED_ void tcall_write_coerced_(tcall_writer *writer, const char *text,
                                        const tcall_coercion *coercion,
                                        unsigned count)
{
    unsigned left = count < TCALL_COERCIONS_ ? count : TCALL_COERCIONS_;
    count -= left;
    tcall_write_open(writer, '[');
    for (; left; left--)
        tcall_write_coercion_(writer, text, coercion++);
    if (count) {
        tcall_write_open(writer, '{');
        tcall_write_int(tcall_keyed_(writer, "more"), (tcall_int)count);
        tcall_write_close(writer, '}');
    }
    tcall_write_close(writer, ']');
}

int tcall_write_coercions(tcall_writer *writer, const tcall_machine *machine)
{
    size_t kept;
    tcall_write_coerced_(writer, machine->text,
                         tcall_machine_coercions_(machine, &kept),
                         machine->coercion_count);
    return writer->error;
}

/* ---- why a schema was refused ---- */

int tcall_write_schema_error(tcall_writer *writer, const tcall_schema *schema)
{
    const char *text = schema->text, *end;
    const char *place = text ? text + schema->at : NULL;
    if (!schema->reason)
        return tcall_write_text(writer, "ok");
    if (text) {
        if (place == tcall_text_space_(text))
            tcall_write_text(writer, "the schema");
        tcall_say_pointer_(writer, text, place);
        tcall_write_text(writer, ": ");
    }
    tcall_write_text(writer, schema->reason);
    if (text) {
        end = place == tcall_text_space_(text) ? text + schema->len
                                               : tcall_text_skip_(place);
        while (tcall_is_space_(end[-1]))
            end--;
        tcall_write_text(writer, " ");
        tcall_say_json_(writer, tcall_slice_(place, (size_t)(end - place)),
                        TCALL_SAY_SPELLED_);
    }
    if (schema->remedy) {
        tcall_write_text(writer, "; ");
        tcall_write_text(writer, schema->remedy);
    }
    return writer->error;
}
