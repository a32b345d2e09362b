#pragma once
#include "say.h"
#include "machine.c"
#include "compile.c"
#include "shape_text.c"

/* ==========================================================================
 * >>say
 *
 * A sentence is a text in flash in which %v and the like stand for what differs
 * from one fault to the next; those of shapes are in TCALL_MISFITS, and shared
 * with whoever reads shapes alone.
 */

/* ---- misfits of shapes: where ---- */

/* Returns the keyword of a misfit's code, in flash. */
TCALL_SHARED_ const char *tcall_misfit_keyword_(int code)
{
    static const char keywords[] TCALL_FLASH_ =
#define TCALL_X_(NAME, keyword, sentence) keyword "\0"
        TCALL_MISFITS(TCALL_X_);
#undef TCALL_X_
    return tcall_word_at_(keywords, code - 1);
}

/* A misfit that is said, and where it is: the value, and the object or list
 * around it. */
typedef struct tcall_misplaced_ {
    tcall_writer *out;          /* where it is said */
    const tcall_misfit *misfit; /* NULL: it was found in checked text */
    const tcall_shape *node;    /* of the value */
    const char *name;           /* of the member; NULL: an item */
    const tcall_object *object; /* around the value, or the value */
    const char *came; /* the value or name in text that was checked, or NULL */
    void (*show)(tcall_writer *writer, const char *came); /* then: writes it */
    tcall_limits_ limits;                                 /* of the value */
} tcall_misplaced_;

/* Writes a name as a step of a JSON Pointer. */
static void tcall_put_step_(tcall_writer *writer, const char *name)
{
    char bytes[4];
    size_t len = 0;
    while ((bytes[len] = TCALL_BYTE_(name)) != '\0') {
        const char *escape = tcall_pointer_escape_(bytes[len]);
        name++;
        if (++len < sizeof bytes && (TCALL_BYTE_(name) & 0xC0) == 0x80)
            continue;
        tcall_write_bytes(writer, escape ? escape : bytes, escape ? 2 : len);
        len = 0;
    }
}

/* Walks the trail from an object to the place, writing the steps from `from` on
 * as a JSON Pointer. What is absent or unknown has no place of its own: that is
 * the object. */
static void tcall_say_place_(tcall_misplaced_ *place, uint8_t from)
{
    const tcall_misfit *misfit = place->misfit;
    uint8_t i;
    for (i = from; i < misfit->steps; i++) {
        uint16_t step = misfit->trail[i];
        TCALL_FETCH_(tcall_object, object, place->object);
        TCALL_FETCH_(tcall_shape, node, place->node);
        bool list = node->kind == TCALL_KIND_LIST;
        if (!list && (node->kind != TCALL_KIND_OBJECT || step >= object->count))
            return;
        place->node =
            list ? (const tcall_shape *)node->more : object->members + step;
        place->name = list ? NULL : tcall_word_at_(object->names, step);
        if (i + 1 < misfit->steps || misfit->code != TCALL_MISFIT_REQUIRED) {
            tcall_write_char_(place->out, '/');
            if (list)
                tcall_put_number_(place->out, step, 0);
            else
                tcall_put_step_(place->out, place->name);
        }
        if (TCALL_FETCH_8_(&place->node->kind) == TCALL_KIND_OBJECT)
            place->object =
                TCALL_FETCH_POINTER_(const tcall_object *, &place->node->more);
    }
}

/* ---- and in words ---- */

/* Writes the types of a set: "a string, a number or null". */
static void tcall_tell_types_(tcall_writer *writer, unsigned types)
{
    static const char words[] TCALL_FLASH_ =
        "null\0a boolean\0\0a number\0a string\0an array\0an object\0"
        "an integer\0";
    int index = 8;
    if (types & TCALL_SHAPE_INTEGER) /* is said first */
        types ^= TCALL_SHAPE_INTEGER | 1u << 7;
    while (index-- > 0) {
        if (!(types >> index & 1))
            continue;
        tcall_write_flash(writer, tcall_word_at_(words, index));
        types &= ~(1u << index);
        if (types)
            tcall_write_flash(writer, types & (types - 1)
                                          ? TCALL_FLASH_TEXT_(", ")
                                          : TCALL_FLASH_TEXT_(" or "));
    }
}

/* Writes so many of what the limits are of: "1 character", "5 elements". */
static void tcall_tell_count_(tcall_writer *writer, tcall_int count, uint8_t of)
{
    static const char nouns[] TCALL_FLASH_ =
        "\0\0 character\0 characters\0 element\0 elements\0"
        " property\0 properties\0";
    tcall_put_number_(writer, count, 0);
    tcall_write_flash(writer, tcall_word_at_(nouns, of * 2 + (count != 1)));
}

/* Writes a limit: %l the lower one, %h the upper one, %c the lower one as a
 * mere number. */
static void tcall_limit_part_(void *of, char letter)
{
    const tcall_limits_ *is = (const tcall_limits_ *)of;
    const tcall_limit_ *limit = letter == 'h' ? &is->high : &is->low;
    if (limit->text.len)
        tcall_write_bytes(is->out, limit->text.ptr, limit->text.len);
    else if (is->of && letter != 'c')
        tcall_tell_count_(is->out, limit->number, is->of);
    else
        tcall_put_number_(is->out, limit->number, is->digits);
}

/* Writes which values are within the limits; bare: without the " of " before a
 * count. */
static void tcall_tell_range_(tcall_limits_ *is, bool bare)
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
    int range = is->low.how * 3 + is->high.how;
    if (range == 8 && is->low.number == is->high.number &&
        tcall_str_eq(is->low.text, is->high.text))
        range = 10;
    else if (range == 8 && is->of)
        range = 9;
    tcall_write_parts_(is->out, tcall_word_at_(ranges, range) + (bare ? 4 : 0),
                       tcall_limit_part_, is);
}

#ifndef TOOLCALL_NO_SENTENCES

/* Writes words of a list: "celsius", "fahrenheit" or "kelvin". */
static void tcall_tell_list_(tcall_writer *writer, const char *word,
                             int32_t count)
{
    for (; count > 0; count--, word = tcall_word_next_(word)) {
        tcall_write_char_(writer, '"');
        tcall_write_flash(writer, word);
        tcall_write_char_(writer, '"');
        if (count > 1)
            tcall_write_flash(writer, count > 2 ? TCALL_FLASH_TEXT_(", ")
                                                : TCALL_FLASH_TEXT_(" or "));
    }
}

/* Writes what to send: "an integer from 1 to 7". */
static void tcall_tell_wanted_(tcall_misplaced_ *place)
{
    const tcall_shape *node = place->node;
    unsigned types = tcall_types_of_(node);
    bool null_last = types & TCALL_SHAPE_NULL && tcall_kind_is_one_type_(node);
    if (node->kind == TCALL_KIND_CHOICE)
        tcall_tell_list_(place->out, (const char *)node->more, node->high + 1);
    else
        tcall_tell_types_(place->out, null_last
                                          ? types & ~(unsigned)TCALL_SHAPE_NULL
                                          : types);
    tcall_tell_range_(&place->limits, false);
    if (null_last)
        TCALL_SAY(place->out, " or null");
}

/* Writes for how much the struct has room. */
static void tcall_tell_room_(tcall_misplaced_ *place)
{
    const tcall_shape *node = place->node;
    if (place->limits.of == TCALL_LIMITS_VALUE_) {
        tcall_tell_wanted_(place);
        return;
    }
    TCALL_SAY(place->out, "at most ");
    if (place->limits.of == TCALL_LIMITS_ITEMS_) {
        tcall_tell_count_(place->out, node->high, TCALL_LIMITS_ITEMS_);
    } else {
        tcall_put_number_(place->out, node->size - 1, 0);
        TCALL_SAY(place->out, " bytes");
    }
}

/* Writes which members there are instead of one that is not known. */
static void tcall_tell_known_(const tcall_misplaced_ *place)
{
    const tcall_object *object = place->object;
    uint8_t count = TCALL_FETCH_8_(&object->count);
    if (!count)
        return;
    TCALL_SAY(place->out, "use ");
    tcall_tell_list_(place->out,
                     TCALL_FETCH_POINTER_(const char *, &object->names), count);
    TCALL_SAY(place->out, " or ");
}

/* Writes a name or word that came, in quotes and escaped as in JSON, cut where
 * it was too long to be shown. Returns false where none was kept. */
static bool tcall_tell_came_(const tcall_misplaced_ *place)
{
    if (place->came) {
        place->show(place->out, place->came);
        return true;
    }
#if TOOLCALL_MISFIT_TEXT
    const tcall_misfit *misfit = place->misfit;
    size_t len = misfit->text_len;
    bool cut = len == TOOLCALL_MISFIT_TEXT;
    uint8_t quoted = place->out->quoted;
    if (!len)
        return false;
    tcall_write_char_(place->out, '"');
    if (!quoted) /* a plain text: no ends of lines, nothing for terminals */
        place->out->quoted = 1;
    tcall_write_bytes(place->out, misfit->text,
                      cut ? tcall_utf8_cut_(misfit->text, len - 1) : len);
    place->out->quoted = quoted;
    tcall_write_text(place->out, cut ? "...\"" : "\"");
    return true;
#else
    return false;
#endif
}

/* Writes what passed a limit: of a number that itself, where it is known. */
static void tcall_tell_value_(const tcall_misplaced_ *place)
{
    const tcall_misfit *misfit = place->misfit;
    if (place->limits.of == TCALL_LIMITS_LENGTH_)
        TCALL_SAY(place->out, "the string");
    else if (place->limits.of == TCALL_LIMITS_ITEMS_)
        TCALL_SAY(place->out, "the array");
    else if (place->came)
        place->show(place->out, place->came);
    else if (misfit->exact)
        tcall_put_number_(place->out, misfit->got, place->node->digits);
    else
        TCALL_SAY(place->out, "this number");
}

/* Writes what a letter in a sentence stands for: see TCALL_MISFITS. */
static void tcall_tell_part_(void *of, char letter)
{
    tcall_misplaced_ *place = (tcall_misplaced_ *)of;
    tcall_limits_ *limits = &place->limits;
    switch (letter) {
    case 'v': tcall_tell_value_(place); break;
    case 'u':
        tcall_write_parts_(place->out,
                           limits->low.how == TCALL_LIMIT_BEYOND_
                               ? TCALL_FLASH_TEXT_("not greater than %l")
                               : TCALL_FLASH_TEXT_("under the minimum %l"),
                           tcall_limit_part_, limits);
        break;
    case 'o':
        tcall_write_parts_(place->out,
                           limits->high.how == TCALL_LIMIT_BEYOND_
                               ? TCALL_FLASH_TEXT_("not less than %h")
                               : TCALL_FLASH_TEXT_("over the maximum %h"),
                           tcall_limit_part_, limits);
        break;
    case 's': tcall_tell_wanted_(place); break;
    case 'r': tcall_tell_room_(place); break;
    case 'k': tcall_tell_known_(place); break;
    case 'w':
        if (!tcall_tell_came_(place))
            TCALL_SAY(place->out, "this");
        break;
    case 'x':
        tcall_write_flash(
            place->out,
            tcall_tell_came_(place)
                ? TCALL_FLASH_TEXT_(" is not a property here")
                : TCALL_FLASH_TEXT_("a property is not known here"));
        break;
    default: tcall_write_flash(place->out, place->name); break; /* n */
    }
}

/* Writes what is wrong, and what to send instead. */
static void tcall_tell_misfit_(tcall_misplaced_ *place, int code)
{
    static const char sentences[] TCALL_FLASH_ =
#define TCALL_X_(NAME, keyword, sentence) sentence "\0"
        TCALL_MISFITS(TCALL_X_);
#undef TCALL_X_
    TCALL_FETCH_(tcall_shape, node, place->node);
    place->node = node;
    place->limits = tcall_limits_of_(node);
    place->limits.out = place->out;
    tcall_write_parts_(place->out, tcall_word_at_(sentences, code - 1),
                       tcall_tell_part_, place);
}

#else

/* Writes what is wrong as the keyword alone. */
static void tcall_tell_misfit_(tcall_misplaced_ *place, int code)
{
    tcall_write_flash(place->out, tcall_misfit_keyword_(code));
}

#endif /* TOOLCALL_NO_SENTENCES */

int tcall_write_misfit(tcall_writer *writer, const tcall_misfit *misfit,
                       const tcall_object *shape, uint8_t from)
{
    tcall_misplaced_ place;
    size_t before = writer->len;
    memset(&place, 0, sizeof place);
    place.out = writer;
    place.misfit = misfit;
    place.node = &tcall_root_;
    place.object = shape;
    tcall_say_place_(&place, from);
    if (writer->len > before)
        TCALL_SAY(writer, ": ");
    tcall_tell_misfit_(&place, misfit->code);
    return writer->error;
}

/* ---- texts ---- */

/* Longer values are cut in what the model reads. */
#define TCALL_SHOWN_ 160

/* How a string is shown: as a reader sees it; as its author spells it, but for
 * characters beyond ASCII; as a step of a JSON Pointer; as it is. The last two
 * are never cut. */
enum { TCALL_SAY_SENT_, TCALL_SAY_SPELLED_, TCALL_SAY_STEP_, TCALL_SAY_WHOLE_ };

/* Writes a string, of steps and what is whole only the content. It may have
 * been decoded where it lies. */
static void tcall_say_string_(tcall_writer *writer, const char *string, int how)
{
    size_t room = writer->len + TCALL_SHOWN_, sent = 0;
    const char *at = string + 1, *end = NULL;
    bool cut = false, quotes = how <= TCALL_SAY_SPELLED_;
    tcall_write_text(writer, quotes ? "\"" : "");
    if (*string != '"')
        end = at + tcall_text_inner_(string).len;
    while ((end ? at < end : *at != '"') && !cut) {
        const char *from = at, *escape = NULL;
        bool plain = end && *at == '\\'; /* no escape any more */
        char bytes[4] = "\\";
        size_t len = plain ? 1 : tcall_text_character_(&at, bytes);
        at += plain;
        sent += len;
        cut = how == TCALL_SAY_SENT_ ? sent > TCALL_SHOWN_
                                     : quotes && writer->len >= room;
        if (how == TCALL_SAY_STEP_ && len == 1)
            escape = tcall_pointer_escape_(*bytes);
        if (cut || escape)
            tcall_write_text(writer, cut ? "..." : escape);
        else if (how == TCALL_SAY_SPELLED_ && len == 1)
            tcall_write_bytes(writer, from, (size_t)(at - from));
        else
            tcall_write_bytes(writer, bytes, len);
    }
    tcall_write_text(writer, quotes ? "\"" : "");
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

/* Writes a number that we counted. */
static void tcall_say_count_(tcall_writer *writer, uint32_t count)
{
    writer->last = 0; /* there are no commas in a sentence */
    tcall_write_uint(writer, count);
}

/* Returns what the counts of a value are of. */
static uint8_t tcall_counts_of_(const char *value)
{
    return tcall_text_is_string_(value) ? TCALL_LIMITS_LENGTH_
           : *value == '['              ? TCALL_LIMITS_ITEMS_
                                        : TCALL_LIMITS_PROPERTIES_;
}

/* ---- places ---- */

/* Writes the JSON Pointer of the value, or of the member whose name begins, at
 * a place in JSON text, which is read once and not behind the place. Returns
 * the quote of the last name, or NULL where the last step is an index. */
static const char *tcall_say_pointer_(tcall_writer *writer, const char *text,
                                      const char *place)
{
    /* 2 * index of an item; 1 + 2 * offset of a name, 1: it comes next */
    uint32_t steps[TOOLCALL_MAX_DEPTH + 1], *step = steps, *at;
    const char *p;
    *step = 0;
    for (p = text; p < place;
         p = tcall_text_is_string_(p) ? tcall_text_string_end_(p) : p + 1) {
        if (*step == 1 && tcall_text_is_string_(p))
            *step = 1 + 2 * (uint32_t)(p - text);
        else if (*p == ',')
            *step = *step & 1 ? 1 : *step + 2;
        else if ((*p == '}' || *p == ']') && step > steps)
            step--;
        else if ((*p == '{' || *p == '[') && step < steps + TOOLCALL_MAX_DEPTH)
            *++step = *p == '{';
    }
    if (*step == 1) {
        if (tcall_text_is_string_(place))
            *step = 1 + 2 * (uint32_t)(place - text);
        else
            step--;
    }
    for (at = steps + 1; at <= step; at++) {
        tcall_write_text(writer, "/");
        if (*at & 1)
            tcall_say_string_(writer, text + *at / 2, TCALL_SAY_STEP_);
        else
            tcall_say_count_(writer, *at / 2);
    }
    return *step & 1 ? text + *step / 2 : NULL;
}

/* ---- what is wrong, and what to send instead ---- */

/* X(keyword, what is wrong, what to do about it): in the order of the keywords;
 * what is empty is as before. Those of members and items are for a schema that
 * is false, the first one for any other that is. */
#define TCALL_SENTENCES_(X)                                                    \
    X(ALLOF, "no value is allowed here", "; leave it out")                     \
    X(REF, "", "")                                                             \
    X(ANYOF, "%v fits %f of anyOf", "; send what fits one of %o")              \
    X(ONEOF, "%v fits %f of oneOf", "; send what fits exactly one of %o")      \
    X(NOT, "%v matches what is forbidden, %o", "; send a value that does not") \
    X(IF, "", "")                                                              \
    X(THEN, "", "")                                                            \
    X(ELSE, "", "")                                                            \
    X(CONTAINS, "%n of the array %m", "; send at least 1 of them")             \
    X(DEPENDENT, "", "")                                                       \
    X(PROPERTIES, "%k is not allowed", "; leave it out")                       \
    X(PATTERNS, "", "")                                                        \
    X(OTHERS, "%k is not a property here", "; %N")                             \
    X(PREFIX, "this element is one too many", "; leave it out")                \
    X(ITEMS, "", "")                                                           \
    X(NAMES, "%v is not allowed", "; leave it out")                            \
    X(ENUM, "%v is not one of the allowed values", "; send %e")                \
    X(CONST, "%v is not the only value that is allowed", "; send %o")          \
    X(PATTERN, "%v does not match the pattern %x",                             \
      "; send a string that does")                                             \
    X(MINIMUM, "%v is %u %o", "; send %r")                                     \
    X(MAXIMUM, "", "")                                                         \
    X(ABOVE, "%v is not greater than %o", "; send %r")                         \
    X(BELOW, "%v is not less than %o", "; send %r")                            \
    X(MULTIPLE, "%v is not a multiple of %o", "; send a multiple of it")       \
    X(MIN_LENGTH, "%v has %n, %u %o", "; send %r")                             \
    X(MAX_LENGTH, "", "")                                                      \
    X(MIN_ITEMS, "", "")                                                       \
    X(MAX_ITEMS, "", "")                                                       \
    X(MIN_PROPERTIES, "", "")                                                  \
    X(MAX_PROPERTIES, "", "")                                                  \
    X(MIN_CONTAINS, "%n of the array %m", "; send at least %o of them")        \
    X(MAX_CONTAINS, "%n of the array %m", "; send at most %o of them")         \
    X(UNIQUE, "%w is in the array twice", "; send each value once")            \
    X(REQUIRED, "the property %o is missing", "; add it")                      \
    X(NEEDED, "the property %o is missing, which %p needs",                    \
      "; add it or leave out %p")                                              \
    X(TYPE, "%v is %t", "; send %T")

/* Returns what is wrong where a keyword is missed; half 1: what to do. */
static const char *tcall_sentence_(unsigned keyword, int half)
{
    static const char texts[] TCALL_FLASH_ =
#define TCALL_X_(NAME, wrong, remedy) wrong "\0" remedy "\0"
        TCALL_SENTENCES_(TCALL_X_);
#undef TCALL_X_
    const char *text;
    do {
        keyword--;
        text = tcall_word_at_(texts, 2 * (int)keyword + half);
    } while (keyword && !TCALL_BYTE_(text));
    return text;
}

/* One fault with all that its sentence may name. */
typedef struct tcall_said_fault_ {
    tcall_writer *out;
    const tcall_fault *is;
    const char *value;
    const char *key; /* of the member at the place, or NULL */
    bool never;      /* it misses a schema that is false */
    uint8_t keyword; /* of that the one that brought it, or ALLOF */
} tcall_said_fault_;

static tcall_said_fault_ tcall_said_of_fault_(tcall_writer *writer,
                                              const char *text,
                                              const tcall_fault *is)
{
    bool never = is->node && is->keyword == TCALL_ON_TYPE_ &&
                 (is->row || !is->node->types);
    tcall_said_fault_ fault = {writer, is,    text + is->at,
                               NULL,   never, is->keyword};
    if (never)
        fault.keyword = is->row && is->row->on >= TCALL_ON_PROPERTIES_
                            ? is->row->on
                            : (uint8_t)TCALL_ON_ALLOF_;
    return fault;
}

/* Returns the word of the schema that a person would look for. */
static const char *tcall_fault_word_(const tcall_said_fault_ *fault)
{
    unsigned on = fault->keyword;
    bool old = fault->is->row && fault->is->row->flags & TCALL_ROW_OLD_;
    if (fault->never && on != TCALL_ON_OTHERS_ && on != TCALL_ON_ITEMS_ &&
        on != TCALL_ON_NAMES_)
        return "false";
    if (old)
        on = on == TCALL_ON_ITEMS_ ? TCALL_ON_EXTRA_ : TCALL_ON_DEPENDENCIES_;
    return tcall_keyword_words_[on];
}

/* Returns the row of another keyword of the same node, or NULL. */
static const tcall_row *tcall_fault_row_(const tcall_said_fault_ *fault,
                                         int keyword)
{
    return tcall_row_of_(fault->is->node, (uint8_t)keyword);
}

/* Writes the words of an enum, "celsius", "fahrenheit" or "kelvin", or the
 * names of properties, as far as they fit. */
static void tcall_say_list_(tcall_writer *writer, const tcall_row *row)
{
    size_t room = writer->len + 2 * TCALL_SHOWN_;
    bool words = row->on == TCALL_ON_ENUM_;
    const char *p =
        words ? tcall_text_first_(row->of.text) : row->of.members->name;
    const char *next;
    for (; p; p = next) {
        tcall_say_spelled_(writer, p);
        next = tcall_text_after_(
            tcall_text_skip_(words ? p : tcall_text_value_(p)));
        if (!next)
            break;
        tcall_write_text(writer,
                         !words || tcall_text_after_(tcall_text_skip_(next))
                             ? ", "
                             : " or ");
        if (writer->len > room) {
            tcall_write_text(writer, "...");
            break;
        }
    }
}

/* Returns the limit on one side, 1: the upper one, of what a fault is about; of
 * two the one that excludes its number. */
static tcall_limit_ tcall_fault_limit_(const tcall_said_fault_ *fault, int most)
{
    int low = fault->keyword - (fault->keyword - TCALL_ON_MIN_LENGTH_) % 2;
    bool counts = low >= TCALL_ON_MIN_LENGTH_;
    const tcall_row *row =
        tcall_fault_row_(fault, (counts ? low : TCALL_ON_ABOVE_) + most);
    bool beyond = row && !counts;
    tcall_limit_ limit;
    memset(&limit, 0, sizeof limit);
    if (!counts && !row)
        row = tcall_fault_row_(fault, TCALL_ON_MINIMUM_ + most);
    if (!row)
        return limit;
    limit.how = beyond ? TCALL_LIMIT_BEYOND_ : TCALL_LIMIT_WITHIN_;
    if (counts)
        limit.number = (tcall_int)row->of.number;
    else
        limit.text = tcall_text_verbatim_(row->of.text);
    return limit;
}

/* Writes which numbers to send, or how many of what a value has. */
static void tcall_say_range_(const tcall_said_fault_ *fault, bool number)
{
    bool counts = fault->keyword >= TCALL_ON_MIN_LENGTH_;
    tcall_limits_ is;
    is.out = fault->out;
    is.digits = 0;
    is.of =
        counts ? tcall_counts_of_(fault->value) : (uint8_t)TCALL_LIMITS_VALUE_;
    is.low = tcall_fault_limit_(fault, 0);
    is.high = tcall_fault_limit_(fault, 1);
    if (!counts)
        tcall_write_text(fault->out, number ? "a number" : "an integer");
    tcall_tell_range_(&is, counts);
}

/* Writes what a row says, as its schema spells it. */
static void tcall_say_rule_(tcall_writer *writer, const tcall_row *row)
{
    const char *text = row->of.text;
    if (row->on >= TCALL_ON_MIN_LENGTH_ && row->on <= TCALL_ON_MAX_CONTAINS_) {
        tcall_say_count_(writer, row->of.number);
        return;
    }
    if (row->on <= TCALL_ON_CONTAINS_) { /* of schemas the first is known */
        text = row->of.members->name;
        if (*text == '"')
            text = tcall_text_value_(text);
        if (row->on <= TCALL_ON_ONEOF_)
            while (*text != '[')
                text--;
    }
    tcall_say_spelled_(writer, text);
}

/* Returns the item of an array of this index, of so many as there are. */
static const char *tcall_fault_item_(const char *array, uint32_t index)
{
    const char *item = tcall_text_first_(array), *next = item;
    for (; index && next; index--) {
        item = next;
        next = tcall_text_after_(tcall_text_skip_(item));
    }
    return next ? next : item;
}

/* Returns the member of dependentRequired whose list has a name. */
static const char *tcall_fault_needs_(const tcall_row *row, const char *name)
{
    const char *key = tcall_text_first_(row->of.text), *end;
    for (;; key = tcall_text_after_(end)) {
        end = tcall_text_skip_(tcall_text_value_(key));
        if (end > name)
            return key;
    }
}

/* Returns what a value is. */
static const char *tcall_fault_type_(const char *value)
{
    switch (tcall_text_type_(value)) {
    case TCALL_BOOL: return "a boolean";
    case TCALL_NUMBER: return "a number";
    case TCALL_STRING: return "a string";
    default: return "not allowed here";
    }
}

static void tcall_say_part_(void *of, char letter);

static void tcall_say_text_(tcall_said_fault_ *fault, const char *text)
{
    tcall_write_parts_(fault->out, text, tcall_say_part_, fault);
}

/* Writes what stands in a sentence for %o: the rule, or the missing name. */
static void tcall_say_own_(const tcall_said_fault_ *fault)
{
    const tcall_row *row = fault->is->row;
    if (fault->keyword == TCALL_ON_REQUIRED_)
        tcall_say_spelled_(fault->out,
                           tcall_fault_item_(row->of.text, fault->is->count));
    else if (fault->keyword == TCALL_ON_NEEDED_)
        tcall_say_spelled_(fault->out, row->of.text + fault->is->count);
    else
        tcall_say_rule_(fault->out, row);
}

/* Writes what to do about a name that is no property: whether there are others.
 */
static void tcall_say_others_(const tcall_said_fault_ *fault)
{
    const tcall_row *row = tcall_fault_row_(fault, TCALL_ON_PROPERTIES_);
    if (row && row->count) {
        tcall_write_text(fault->out, "use one of ");
        tcall_say_list_(fault->out, row);
        tcall_write_text(fault->out, " or ");
    }
    tcall_write_text(fault->out, "leave it out");
}

/* Returns how a limit is said that was passed. */
static const char *tcall_fault_passed_(const tcall_said_fault_ *fault)
{
    bool most = fault->keyword == TCALL_ON_MAXIMUM_ ||
                (fault->keyword >= TCALL_ON_MIN_LENGTH_ &&
                 (fault->keyword - TCALL_ON_MIN_LENGTH_) % 2);
    return most ? "over the maximum" : "under the minimum";
}

/* Writes what stands in a sentence for % and this letter. */
static void tcall_say_part_(void *of, char letter)
{
    tcall_said_fault_ *fault = (tcall_said_fault_ *)of;
    tcall_writer *writer = fault->out;
    const tcall_fault *is = fault->is;
    const tcall_row *row = is->row;
    unsigned types = is->node->types;
    bool number = types & TCALL_SHAPE_NUMBER;
    switch (letter) {
    case 'v':
        if (fault->key == fault->value)
            tcall_write_text(writer, "the property name ");
        tcall_say_sent_(writer, fault->value);
        break;
    case 'k':
        tcall_say_sent_(writer, fault->key ? fault->key : fault->value);
        break;
    case 't': tcall_write_text(writer, tcall_fault_type_(fault->value)); break;
    case 'T':
        tcall_tell_types_(
            writer, number ? types & ~(unsigned)TCALL_SHAPE_INTEGER : types);
        break;
    case 'n':
        tcall_tell_count_(writer, (tcall_int)is->count,
                          tcall_counts_of_(fault->value));
        break;
    case 'u': tcall_write_text(writer, tcall_fault_passed_(fault)); break;
    case 'o': tcall_say_own_(fault); break;
    case 'r': tcall_say_range_(fault, number); break;
    case 'e': tcall_say_list_(writer, row); break;
    case 'x':
        tcall_say_string_(writer, row->of.match->text, TCALL_SAY_WHOLE_);
        break;
    case 'w':
        if (is->count == UINT16_MAX) /* or more */
            tcall_write_text(writer, "a value");
        else
            tcall_say_sent_(writer, tcall_fault_item_(fault->value, is->count));
        break;
    case 'm':
        tcall_write_text(writer, is->count == 1 ? "matches " : "match ");
        tcall_say_rule_(writer, tcall_fault_row_(fault, TCALL_ON_CONTAINS_));
        break;
    case 'f':
        tcall_write_text(writer,
                         is->count ? "several alternatives" : "no alternative");
        break;
    case 'p':
        tcall_say_spelled_(writer,
                           tcall_fault_needs_(row, row->of.text + is->count));
        break;
    default: tcall_say_others_(fault); break; /* N */
    }
}

/* Says a fault of a shape in the words for the misfit that it is. */
static void tcall_say_shape_(const tcall_said_fault_ *fault)
{
    const tcall_fault *is = fault->is;
    tcall_misplaced_ place;
    int code = 1;
    while (TCALL_FETCH_8_(tcall_misfit_keys_ + code) != fault->keyword)
        code++;
    memset(&place, 0, sizeof place);
    place.out = fault->out;
    place.node = (const tcall_shape *)is->shape;
    place.came = fault->value;
    place.show = tcall_say_sent_;
    if (fault->keyword == TCALL_ON_OTHERS_ ||
        fault->keyword == TCALL_ON_REQUIRED_ ||
        fault->keyword == TCALL_ON_DUPLICATE_) {
        place.node = &tcall_root_;
        place.object = (const tcall_object *)is->shape;
    }
    if (fault->keyword == TCALL_ON_REQUIRED_)
        place.name = tcall_word_at_(
            TCALL_FETCH_POINTER_(const char *, &place.object->names),
            is->count);
    tcall_tell_misfit_(&place, code);
}

/* ---- whole faults ---- */

/* What says the fault of a node; NULL where there are but shapes. */
typedef void (*tcall_say_)(struct tcall_said_fault_ *fault, bool remedy);

/* Says what is wrong, and to a model what to send instead. */
TCALL_SHARED_ void tcall_say_node_(tcall_said_fault_ *fault, bool remedy)
{
    int half;
    for (half = 0; half <= (int)remedy; half++)
        tcall_say_text_(fault, tcall_sentence_(fault->keyword, half));
}

static void tcall_say_sentence_(tcall_said_fault_ *fault, tcall_say_ say,
                                bool remedy)
{
    if (!fault->is->node)
        tcall_say_shape_(fault);
    else if (say)
        say(fault, remedy);
}

/* Says a fault into a string that is open: "/days: 9 is over the maximum 7;
 * ..." Without a remedy it is of what nobody can send anew. */
TCALL_SHARED_ void tcall_say_fault_(tcall_writer *writer, tcall_say_ say,
                                    const char *text, const tcall_fault *is,
                                    bool remedy)
{
    tcall_said_fault_ fault = tcall_said_of_fault_(writer, text, is);
    fault.key = tcall_say_pointer_(writer, text, fault.value);
    tcall_write_text(writer, is->at ? ": " : "");
    tcall_say_sentence_(&fault, say, remedy);
}

/* Writes "path", with the member that a coercion left out, or NULL. Returns the
 * last name. */
static const char *tcall_write_path_(tcall_writer *writer, const char *text,
                                     uint32_t at,
                                     const tcall_coercion *coercion)
{
    const char *key;
    tcall_write_key(writer, "path");
    tcall_write_quote(writer);
    key = tcall_say_pointer_(writer, text, text + at);
    if (coercion && coercion->name)
        tcall_write_text(writer, "/");
    if (coercion && coercion->how == TCALL_COERCED_ABSENT_)
        tcall_say_string_(writer, coercion->name, TCALL_SAY_STEP_);
    else if (coercion && coercion->name)
        tcall_put_step_(writer, coercion->name);
    tcall_write_unquote(writer);
    return key;
}

TCALL_SHARED_ int tcall_write_fault_(tcall_writer *writer, tcall_say_ say,
                                     const char *text, const tcall_fault *is)
{
    tcall_said_fault_ fault = tcall_said_of_fault_(writer, text, is);
    tcall_write_open(writer, '{');
    fault.key = tcall_write_path_(writer, text, is->at, NULL);
    tcall_write_key(writer, "keyword");
    tcall_write_string(writer, tcall_fault_word_(&fault));
    tcall_write_key(writer, "message");
    tcall_write_quote(writer);
    tcall_say_sentence_(&fault, say, true);
    tcall_write_unquote(writer);
    return tcall_write_close(writer, '}');
}

int tcall_write_fault(tcall_writer *writer, const char *text,
                      const tcall_fault *is)
{
    return tcall_write_fault_(writer, tcall_say_node_, text, is);
}

/* ---- coercions ---- */

/* Writes what a value was, a string of the text that it is, and what it is. */
static void tcall_write_coercion_(tcall_writer *writer, const char *text,
                                  const tcall_coercion *coercion)
{
    const char *value = text + coercion->at;
    tcall_write_open(writer, '{');
    tcall_write_path_(writer, text, coercion->at, coercion);
    tcall_write_key(writer, "from");
    if (coercion->name) {
        tcall_write_null(writer);
    } else {
        tcall_write_quote(writer);
        if (coercion->how == TCALL_COERCED_WORD_)
            tcall_write_text(writer, *value == 't' ? "True" : "False");
        else
            tcall_say_spelled_(writer, value);
        tcall_write_unquote(writer);
        tcall_write_key(writer, "to");
        tcall_write_verbatim(writer, tcall_text_verbatim_(value));
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

/* ---- why a schema was refused ---- */

int tcall_write_schema_error(tcall_writer *writer, const tcall_schema *schema)
{
    const char *text = schema->text, *place, *end;
    if (!schema->reason)
        return tcall_write_text(writer, "ok");
    if (!text) {
        tcall_write_text(writer, schema->reason);
    } else {
        place = text + schema->at;
        end = text + schema->len;
        if (place == tcall_text_space_(text)) {
            tcall_write_text(writer, "the schema");
            while (tcall_is_space_(end[-1]))
                end--;
        } else {
            end = tcall_text_skip_(place);
        }
        tcall_say_pointer_(writer, text, place);
        tcall_write_text(writer, ": ");
        tcall_write_text(writer, schema->reason);
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
