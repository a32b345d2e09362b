#pragma once
#include "read.h"
#include "shape.c"

/* ==========================================================================
 * >>read
 *
 * A state machine: the state says what may come, each function below eats as
 * much of a piece as it can and returns what is left. Open objects and lists
 * that have a shape are levels. Where there are more open containers than
 * levels we are in a value that has no shape of its own, or whose place is
 * wrong: it is recognised and nothing else.
 */

#ifndef TOOLCALL_NO_SHAPES

enum {
    /* between tokens, where white space may be */
    TCALL_READ_VALUE_,
    TCALL_READ_FIRST_VALUE_, /* or ']' */
    TCALL_READ_NAME_,
    TCALL_READ_FIRST_NAME_, /* or '}' */
    TCALL_READ_COLON_,
    TCALL_READ_NEXT_, /* ',' or a closing bracket */
    TCALL_READ_END_,  /* nothing */
    /* within a token */
    TCALL_READ_STRING_,
    TCALL_READ_ESCAPE_,
    TCALL_READ_HEX_,
    TCALL_READ_LITERAL_,
    TCALL_READ_NUMBER_,
    TCALL_READ_STOPPED_
};

/* What becomes of a string. */
enum {
    TCALL_INTO_NOTHING_,
    TCALL_INTO_TEXT_,
    TCALL_INTO_CHOICE_,
    TCALL_INTO_NAME_
};

/* Longer numbers are refused, so that places are counted in 16 bits; greater
 * exponents are no different from this one, which is beyond all of them. */
#define TCALL_NUMBER_DIGITS_ 1000
#define TCALL_NUMBER_POWER_  3000

static const tcall_shape tcall_any_ TCALL_FLASH_ = {
    TCALL_SHAPE_ANY, TCALL_KIND_ANY, 0, 0, 0, TCALL_NOWHERE, 0, 0, NULL};

/* The object that is read; which one is said by the first level. */
static const tcall_shape tcall_root_ TCALL_FLASH_ = {
    TCALL_SHAPE_OBJECT, TCALL_KIND_OBJECT, 0, 0, 0, 0, 0, 0, NULL};

/* For holes: what is to be read there is this object. Returns its shape. */
TCALL_SHARED_ const tcall_shape *
tcall_decoder_object_(tcall_decoder *decoder, const tcall_object *object)
{
    decoder->level[decoder->levels].what = object;
    return &tcall_root_;
}

/* ---- what is wrong ---- */

/* Ends the reading. Returns where. */
static const char *tcall_read_stop_(tcall_decoder *decoder, int error,
                                    const char *at)
{
    decoder->state = TCALL_READ_STOPPED_;
    decoder->error = error;
    return at;
}

/* Notes a misfit of the value that the first levels lead to. Returns it, or
 * NULL when there is no room for it. */
static tcall_misfit *tcall_read_note_(tcall_decoder *decoder, uint8_t code,
                                      uint8_t levels)
{
    tcall_misfit *misfit = NULL;
    uint8_t i;
    if (decoder->error == TCALL_OK)
        decoder->error = TCALL_E_INVALID;
    if (decoder->misfit_count < TOOLCALL_MAX_FAULTS) {
        misfit = &decoder->misfits[decoder->misfit_count];
        misfit->code = code;
        misfit->steps = levels;
        for (i = 0; i < levels; i++)
            misfit->trail[i] = decoder->level[i].index;
    }
    if (decoder->misfit_count < 255)
        decoder->misfit_count++;
    return misfit;
}

/* Notes a misfit of the value that is read. */
static tcall_misfit *tcall_read_misfit_(tcall_decoder *decoder, uint8_t code)
{
    return tcall_read_note_(decoder, code, decoder->levels);
}

/* ---- where we are ---- */

/* Returns whether the innermost open container has a shape. */
static bool tcall_read_shaped_(const tcall_decoder *decoder)
{
    return decoder->depth == decoder->levels;
}

static tcall_level_ *tcall_read_level_(tcall_decoder *decoder)
{
    return &decoder->level[decoder->levels - 1];
}

static uint8_t tcall_read_kind_(const tcall_decoder *decoder)
{
    return (uint8_t)TCALL_BYTE_(&decoder->shape->kind);
}

/* Returns where the value that is read is kept, or NULL. */
static char *tcall_read_place_(const tcall_decoder *decoder,
                               const tcall_shape *shape)
{
    if (!decoder->base || shape->offset == TCALL_NOWHERE)
        return NULL;
    return decoder->base + shape->offset;
}

/* The value is complete. */
static void tcall_read_value_end_(tcall_decoder *decoder)
{
    decoder->state = decoder->depth ? TCALL_READ_NEXT_ : TCALL_READ_END_;
    if (tcall_read_shaped_(decoder))
        decoder->keeping = false;
}

/* Keeps a part of the value's text. What it has no room for is noted when it
 * is complete. */
static void tcall_read_keep_(tcall_decoder *decoder, const char *bytes,
                             size_t len)
{
    TCALL_FETCH_(tcall_shape, shape, decoder->shape);
    char *to = tcall_read_place_(decoder, shape);
    if (len < (size_t)(shape->size - decoder->kept)) {
        memcpy(to + decoder->kept, bytes, len);
        decoder->kept = (uint16_t)(decoder->kept + len);
    } else {
        decoder->kept = shape->size;
    }
    if (decoder->keeping)
        return;
    if (decoder->kept == shape->size) { /* half a value is none */
        tcall_read_misfit_(decoder, TCALL_MISFIT_ROOM);
        decoder->kept = 0;
    }
    to[decoder->kept] = 0;
}

/* ---- words ----
 *
 * A name or a word of a choice is compared in flash as it comes: the candidate
 * agrees with all of it so far, so it is also what the next candidate has to
 * agree with. Names are tried in a circle from the expected one on.
 */

/* Looks for another candidate, which goes on with this byte. */
static void tcall_read_candidate_(tcall_decoder *decoder, char c)
{
    tcall_string_ *string = &decoder->now.string;
    const char *word = string->word;
    do {
        if (--string->left == 0) {
            string->word = NULL;
            return;
        }
        word = tcall_word_next_(word);
        if (++string->index == string->count) { /* names: choices end here */
            TCALL_FETCH_(tcall_object, object,
                         tcall_read_level_(decoder)->what);
            word = object->names;
            string->index = 0;
        }
    } while (!tcall_word_agrees_(word, string->word, string->len) ||
             TCALL_BYTE_(word + string->len) != c);
    string->word = word;
    string->len++;
}

static void tcall_read_word_(tcall_decoder *decoder, const char *bytes,
                             size_t len)
{
    tcall_string_ *string = &decoder->now.string;
    for (; len && string->word; bytes++, len--) {
        if (TCALL_BYTE_(string->word + string->len) == *bytes)
            string->len++;
        else
            tcall_read_candidate_(decoder, *bytes);
    }
}

/* Returns whether the word that came is a candidate as a whole. */
static bool tcall_read_word_known_(tcall_decoder *decoder)
{
    tcall_read_word_(decoder, "", 1);
    return decoder->now.string.word != NULL;
}

static void tcall_read_bit_set_(char *bits, uint16_t index)
{
    bits[index / 8] = (char)(bits[index / 8] | 1 << index % 8);
}

/* A name that is known: its value is expected, and then the next name. */
static void tcall_read_member_(tcall_decoder *decoder,
                               const tcall_object *object)
{
    tcall_level_ *level = tcall_read_level_(decoder);
    uint8_t index = decoder->now.string.index;
    char *given = level->base, *came = given + (object->count + 7) / 8;
    level->index = index;
    level->next = decoder->now.string.word + decoder->now.string.len;
    if (TCALL_BIT_OF_(came, index)) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_DUPLICATE);
        return;
    }
    tcall_read_bit_set_(came, index);
    tcall_read_bit_set_(given, index);
    decoder->shape = object->members + index;
    decoder->base = level->base;
}

static void tcall_read_name_end_(tcall_decoder *decoder)
{
    tcall_level_ *level = tcall_read_level_(decoder);
    uint16_t before = level->index;
    TCALL_FETCH_(tcall_object, object, level->what);
    decoder->shape = &tcall_any_;
    if (tcall_read_word_known_(decoder)) {
        tcall_read_member_(decoder, object);
    } else if (!object->open) {
        level->index = 0xFFFF;
        tcall_read_misfit_(decoder, TCALL_MISFIT_UNKNOWN);
        level->index = before;
    }
}

/* ---- strings ---- */

static void tcall_read_string_begin_(tcall_decoder *decoder, uint8_t use)
{
    memset(&decoder->now.string, 0, sizeof decoder->now.string);
    decoder->use = use;
    decoder->state = TCALL_READ_STRING_;
}

/* Those after the last name come before the first one. */
static void tcall_read_name_begin_(tcall_decoder *decoder)
{
    tcall_string_ *string = &decoder->now.string;
    tcall_read_string_begin_(decoder, TCALL_INTO_NAME_);
    if (tcall_read_shaped_(decoder)) {
        const tcall_level_ *level = tcall_read_level_(decoder);
        uint16_t index = (uint16_t)(level->index + 1);
        TCALL_FETCH_(tcall_object, object, level->what);
        if (object->count == 0)
            return;
        string->count = string->left = object->count;
        string->word = index < object->count ? level->next : object->names;
        string->index = index < object->count ? (uint8_t)index : 0;
    }
}

static void tcall_read_text_begin_(tcall_decoder *decoder,
                                   const tcall_shape *shape)
{
    tcall_string_ *string = &decoder->now.string;
    tcall_read_string_begin_(decoder, TCALL_INTO_NOTHING_);
    if (shape->kind == TCALL_KIND_TEXT) {
        decoder->use = TCALL_INTO_TEXT_;
        string->to = tcall_read_place_(decoder, shape);
    } else if (shape->kind == TCALL_KIND_CHOICE) {
        decoder->use = TCALL_INTO_CHOICE_;
        string->word = (const char *)shape->more;
        string->count = string->left = (uint8_t)(shape->high + 1);
    }
}

/* A part of a text, which is stored as far as there is room. */
static void tcall_read_text_(tcall_decoder *decoder, const char *bytes,
                             size_t len)
{
    tcall_string_ *string = &decoder->now.string;
    if (string->to) {
        TCALL_FETCH_(tcall_shape, shape, decoder->shape);
        if (len < shape->size && string->len < shape->size - len)
            memcpy(string->to + string->len, bytes, len);
    }
    string->len =
        len < INT32_MAX - string->len ? string->len + (uint32_t)len : INT32_MAX;
}

/* Decoded bytes of a string. */
static void tcall_read_bytes_(tcall_decoder *decoder, const char *bytes,
                              size_t len)
{
    if (decoder->use == TCALL_INTO_TEXT_)
        tcall_read_text_(decoder, bytes, len);
    else
        tcall_read_word_(decoder, bytes, len);
}

static void tcall_read_text_end_(tcall_decoder *decoder)
{
    const tcall_string_ *string = &decoder->now.string;
    uint32_t count = string->len;
    uint8_t code = TCALL_FITS;
    TCALL_FETCH_(tcall_shape, shape, decoder->shape);
    if (shape->flags & TCALL_MEMBER_CHARACTERS)
        count -= string->followed;
    if ((int32_t)count < shape->low)
        code = TCALL_MISFIT_MIN_LENGTH;
    if (string->to && string->len >= shape->size)
        code = TCALL_MISFIT_ROOM;
    else if (string->to)
        string->to[string->len] = 0;
    if ((int32_t)count > shape->high && !(shape->flags & TCALL_MEMBER_UNSAID))
        code = TCALL_MISFIT_MAX_LENGTH;
    if (code)
        tcall_read_misfit_(decoder, code);
}

static void tcall_read_choice_end_(tcall_decoder *decoder)
{
    TCALL_FETCH_(tcall_shape, shape, decoder->shape);
    char *to = tcall_read_place_(decoder, shape);
    uint8_t index = 255;
    if (tcall_read_word_known_(decoder))
        index = decoder->now.string.index;
    else if (!(shape->flags & TCALL_MEMBER_OTHERS))
        tcall_read_misfit_(decoder, TCALL_MISFIT_ENUM);
    if (to)
        *to = (char)index;
}

static void tcall_read_string_end_(tcall_decoder *decoder)
{
    if (decoder->use == TCALL_INTO_NAME_) {
        if (tcall_read_shaped_(decoder))
            tcall_read_name_end_(decoder);
        decoder->state = TCALL_READ_COLON_;
        return;
    }
    if (decoder->use == TCALL_INTO_TEXT_)
        tcall_read_text_end_(decoder);
    else if (decoder->use == TCALL_INTO_CHOICE_)
        tcall_read_choice_end_(decoder);
    tcall_read_value_end_(decoder);
}

/* Returns the end of a run of bytes that stand for themselves. */
static const char *tcall_read_run_(tcall_decoder *decoder, const char *at,
                                   const char *end)
{
    tcall_string_ *string = &decoder->now.string;
    for (; at < end; at++) {
        unsigned char c = (unsigned char)*at;
        if (!string->utf.left) {
            while (at < end && tcall_is_plain_(*at))
                at++;
            if (at == end || (c = (unsigned char)*at) < 0x80)
                break;
        }
        if (!tcall_utf8_step_(&string->utf, c))
            return tcall_read_stop_(decoder, TCALL_E_UTF8, at);
        string->followed += (c & 0xC0) == 0x80;
    }
    return at;
}

static const char *tcall_read_string_(tcall_decoder *decoder, const char *at,
                                      const char *end)
{
    const char *from = at;
    if (decoder->now.string.high && *at != '\\')
        return tcall_read_stop_(decoder, TCALL_E_BAD_ESCAPE, at);
    at = tcall_read_run_(decoder, at, end);
    if (decoder->state == TCALL_READ_STOPPED_)
        return at;
    tcall_read_bytes_(decoder, from, (size_t)(at - from));
    if (at == end)
        return at;
    if (*at == '\\')
        decoder->state = TCALL_READ_ESCAPE_;
    else if (*at == '"')
        tcall_read_string_end_(decoder);
    else
        return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
    return at + 1;
}

/* U+0000 ends a text in C, and words in flash. */
static void tcall_read_nul_(tcall_decoder *decoder)
{
    if (decoder->now.string.to)
        tcall_read_misfit_(decoder, TCALL_MISFIT_NUL);
    decoder->now.string.word = NULL;
}

/* A character that was escaped. */
static void tcall_read_escaped_(tcall_decoder *decoder, uint32_t code)
{
    char bytes[4];
    size_t len = tcall_utf8_(bytes, code);
    decoder->state = TCALL_READ_STRING_;
    if (code == 0)
        tcall_read_nul_(decoder);
    decoder->now.string.followed += (uint32_t)(len - 1);
    tcall_read_bytes_(decoder, bytes, len);
}

static const char *tcall_read_escape_(tcall_decoder *decoder, const char *at)
{
    char c = tcall_unescape_(*at);
    if (*at == 'u') {
        decoder->state = TCALL_READ_HEX_;
        decoder->now.string.hex_left = 4;
        return at + 1;
    }
    if (!c || decoder->now.string.high)
        return tcall_read_stop_(decoder, TCALL_E_BAD_ESCAPE, at);
    tcall_read_escaped_(decoder, (unsigned char)c);
    return at + 1;
}

/* \uXXXX is complete: a character, or half of one. Returns false when the
 * halves do not come in their order. */
static bool tcall_read_unit_(tcall_decoder *decoder)
{
    tcall_string_ *string = &decoder->now.string;
    uint32_t code = string->unit;
    bool low = code >> 10 == 0xDC00 >> 10;
    if (low != (string->high != 0))
        return false;
    if (code >> 10 == 0xD800 >> 10) {
        string->high = string->unit;
        decoder->state = TCALL_READ_STRING_;
        return true;
    }
    if (low)
        code = 0x10000 + ((uint32_t)(string->high - 0xD800) << 10) +
               (code - 0xDC00);
    string->high = 0;
    tcall_read_escaped_(decoder, code);
    return true;
}

static const char *tcall_read_hex_(tcall_decoder *decoder, const char *at)
{
    tcall_string_ *string = &decoder->now.string;
    int digit = tcall_hex_(*at);
    string->unit = (uint16_t)(string->unit << 4 | digit);
    if (digit < 0 || (--string->hex_left == 0 && !tcall_read_unit_(decoder)))
        return tcall_read_stop_(decoder, TCALL_E_BAD_ESCAPE, at);
    return at + 1;
}

/* ---- numbers ----
 *
 * Exact decimals: zeros are not appended to the digits before another digit
 * follows, so 5.0 is 5, and it is known of every number whether it is whole.
 */

#ifdef TOOLCALL_NO_INT64
#define TCALL_DIGITS_MAX_ UINT32_MAX
#define TCALL_WHOLE_MAX_  INT32_MAX
#define TCALL_WHOLE_MIN_  INT32_MIN
#else
#define TCALL_DIGITS_MAX_ UINT64_MAX
#define TCALL_WHOLE_MAX_  INT64_MAX
#define TCALL_WHOLE_MIN_  INT64_MIN
#endif

static void tcall_number_digit_(tcall_number_ *number, char c)
{
    if (number->tail < TCALL_NUMBER_DIGITS_) {
        number->tail++;
        number->zeros++;
    }
    if (c == '0')
        return;
    number->zeros = 0;
    while (number->tail && !number->rest) {
        if (number->digits > (TCALL_DIGITS_MAX_ - 9) / 10) {
            number->rest = true;
        } else {
            number->digits *= 10;
            number->tail--;
        }
    }
    if (!number->rest)
        number->digits += (tcall_number_digits_)(c - '0');
}

/* Takes the byte that led to the state. */
static void tcall_number_take_(tcall_number_ *number, char c)
{
    switch (number->state) {
    case TCALL_N_MINUS_: number->minus = true; break;
    case TCALL_N_FRACTION_:
        if (number->places < TCALL_NUMBER_DIGITS_)
            number->places++; /* fall through */
    case TCALL_N_ZERO_:
    case TCALL_N_INTEGER_: tcall_number_digit_(number, c); break;
    case TCALL_N_SIGN_: number->small = c == '-'; break;
    case TCALL_N_EXPONENT_:
        if (number->power < TCALL_NUMBER_POWER_)
            number->power = (int16_t)(number->power * 10 + (c - '0'));
        break;
    default: break;
    }
}

#ifdef TOOLCALL_NO_INT64
/* Divides by ten. Returns the rest. */
static unsigned tcall_number_tenth_(tcall_number_digits_ *digits)
{
    unsigned rest = (unsigned)(*digits % 10);
    *digits /= 10;
    return rest;
}
#else
/* The same in parts of 16 bits: a division of 64 bits is a large function on
 * small machines. */
static unsigned tcall_number_tenth_(tcall_number_digits_ *digits)
{
    tcall_number_digits_ tenth = 0;
    uint32_t rest = 0;
    int shift;
    for (shift = 48; shift >= 0; shift -= 16) {
        rest = rest << 16 | (uint32_t)(*digits >> shift & 0xFFFF);
        tenth = tenth << 16 | rest / 10;
        rest %= 10;
    }
    *digits = tenth;
    return (unsigned)rest;
}
#endif

/* Returns the number * 10^exponent as a whole one. What is cut off, also at
 * the ends of the range, is marked as the rest. */
static tcall_whole_ tcall_number_whole_(tcall_number_ *number, int exponent)
{
    tcall_number_digits_ digits = number->digits, max = TCALL_WHOLE_MAX_;
    for (; exponent > 0 && digits && digits <= max; exponent--)
        digits = digits > max / 10 ? max + 2 : digits * 10;
    for (; exponent < 0 && digits; exponent++)
        number->rest = tcall_number_tenth_(&digits) || number->rest;
    if (digits > max + number->minus) {
        number->rest = true;
        return number->minus ? TCALL_WHOLE_MIN_ : TCALL_WHOLE_MAX_;
    }
    return number->minus ? (tcall_whole_)(0 - digits) : (tcall_whole_)digits;
}

/* Notes a number that is out of bounds. One that was cut off lies beyond what
 * is left of it; one that was not may be a bound that is excluded. */
static void tcall_read_bounds_(tcall_decoder *decoder, tcall_whole_ value,
                               tcall_whole_ low, tcall_whole_ high)
{
    const tcall_number_ *number = &decoder->now.number;
    bool cut = number->rest, minus = number->minus;
    uint8_t flags = (uint8_t)TCALL_BYTE_(&decoder->shape->flags);
    bool below =
        value < low ||
        (value == low && (cut ? minus : (flags & TCALL_MEMBER_OVER) != 0));
    bool above =
        value > high ||
        (value == high && (cut ? !minus : (flags & TCALL_MEMBER_UNDER) != 0));
    tcall_misfit *misfit = NULL;
    if (below || above)
        misfit = tcall_read_misfit_(decoder, below ? TCALL_MISFIT_MINIMUM
                                                   : TCALL_MISFIT_MAXIMUM);
    if (misfit) {
        misfit->got = value < INT32_MIN   ? INT32_MIN
                      : value > INT32_MAX ? INT32_MAX
                                          : (int32_t)value;
        misfit->exact = !cut && misfit->got == value;
    }
}

#ifndef TOOLCALL_NO_INT64
static void tcall_read_integer64_(tcall_decoder *decoder, int exponent,
                                  const tcall_shape *shape, char *to)
{
    int64_t value = tcall_number_whole_(&decoder->now.number, exponent);
    TCALL_FETCH_(tcall_range, range, shape->more);
    tcall_read_bounds_(decoder, value, range->low, range->high);
    if (to)
        memcpy(to, &value, sizeof value);
}

/* A number beyond the range is out of bounds only where there is a bound. */
static void tcall_read_double_(tcall_decoder *decoder, int exponent,
                               const tcall_shape *shape, char *to)
{
    tcall_number_ *number = &decoder->now.number;
    double value = tcall_decimal_(number->digits, exponent);
    int64_t millionths = tcall_number_whole_(number, exponent + 6);
    TCALL_FETCH_(tcall_range, range, shape->more);
    if (millionths != INT64_MIN
            ? millionths != INT64_MAX || range->high != INT64_MAX
            : range->low != INT64_MIN)
        tcall_read_bounds_(decoder, millionths, range->low, range->high);
    if (value > DBL_MAX)
        tcall_read_misfit_(decoder, TCALL_MISFIT_ROOM);
    value = number->minus ? -value : value;
    if (to)
        memcpy(to, &value, sizeof value);
}
#endif

static void tcall_read_integer_(tcall_decoder *decoder, int exponent,
                                const tcall_shape *shape, char *to)
{
    tcall_whole_ whole =
        tcall_number_whole_(&decoder->now.number, exponent + shape->digits);
    int32_t value = (int32_t)whole;
    tcall_read_bounds_(decoder, whole, shape->low, shape->high);
    if (to)
        memcpy(to, &value, sizeof value);
}

/* Stores a number that is complete. */
static void tcall_read_number_store_(tcall_decoder *decoder, int exponent,
                                     const tcall_shape *shape)
{
    char *to = tcall_read_place_(decoder, shape);
    if (shape->kind == TCALL_KIND_INTEGER)
        tcall_read_integer_(decoder, exponent, shape, to);
#ifndef TOOLCALL_NO_INT64
    else if (shape->kind == TCALL_KIND_INTEGER64)
        tcall_read_integer64_(decoder, exponent, shape, to);
    else if (shape->kind == TCALL_KIND_NUMBER)
        tcall_read_double_(decoder, exponent, shape, to);
#endif
}

static void tcall_read_number_end_(tcall_decoder *decoder)
{
    const tcall_number_ *number = &decoder->now.number;
    int power = number->small ? -number->power : number->power;
    TCALL_FETCH_(tcall_shape, shape, decoder->shape);
    bool any = (shape->types & TCALL_SHAPE_NUMBER) != 0;
    if (any && shape->kind - TCALL_KIND_INTEGER >
                   TCALL_KIND_NUMBER - TCALL_KIND_INTEGER)
        return;
    if (number->tail == TCALL_NUMBER_DIGITS_ ||
        number->places == TCALL_NUMBER_DIGITS_)
        tcall_read_misfit_(decoder, TCALL_MISFIT_ROOM);
    else if (!any && number->digits &&
             number->zeros - number->places + power < 0)
        tcall_read_misfit_(decoder, TCALL_MISFIT_TYPE);
    else
        tcall_read_number_store_(decoder, number->tail - number->places + power,
                                 shape);
}

static const char *tcall_read_number_(tcall_decoder *decoder, const char *at,
                                      const char *end)
{
    tcall_number_ *number = &decoder->now.number;
    for (; at < end; at++) {
        uint8_t next = tcall_number_next_(number->state, *at);
        if (!next)
            break;
        number->state = next;
        tcall_number_take_(number, *at);
    }
    if (at == end)
        return at;
    if (!tcall_number_ends_(number->state))
        return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
    if (tcall_read_shaped_(decoder))
        tcall_read_number_end_(decoder);
    tcall_read_value_end_(decoder);
    return at;
}

/* ---- true, false, null ---- */

static const char *tcall_read_literal_(tcall_decoder *decoder, const char *at,
                                       const char *end)
{
    const char **word = &decoder->now.string.word;
    for (; at < end && TCALL_BYTE_(*word); at++, ++*word)
        if (*at != TCALL_BYTE_(*word))
            return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
    if (!TCALL_BYTE_(*word))
        tcall_read_value_end_(decoder);
    return at;
}

/* A member that is null is not given, unless null is what it keeps. */
static void tcall_read_null_(tcall_decoder *decoder, const tcall_shape *shape)
{
    if (shape->kind != TCALL_KIND_ANY && shape->kind != TCALL_KIND_JSON &&
        decoder->object) {
        const tcall_level_ *level = tcall_read_level_(decoder);
        char *bits = level->base + level->index / 8;
        *bits = (char)(*bits & ~(1 << level->index % 8));
    }
}

static void tcall_read_literal_begin_(tcall_decoder *decoder, char c,
                                      const tcall_shape *shape)
{
    char *to = tcall_read_place_(decoder, shape);
    tcall_read_string_begin_(decoder, TCALL_INTO_NOTHING_);
    decoder->state = TCALL_READ_LITERAL_;
    decoder->now.string.word = tcall_literal_(c);
    if (c == 'n')
        tcall_read_null_(decoder, shape);
    else if (shape->kind == TCALL_KIND_BOOLEAN && to)
        *to = c == 't';
}

/* ---- objects and arrays ---- */

/* An object or list with a shape: a level of its own. */
static void tcall_read_level_open_(tcall_decoder *decoder,
                                   const tcall_shape *shape)
{
    tcall_level_ *level = &decoder->level[decoder->levels];
    if (decoder->levels == TOOLCALL_SHAPE_LEVELS) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_LEVELS);
        return;
    }
    decoder->levels++;
    level->base = tcall_read_place_(decoder, shape);
    level->index = 0;
    if (shape->kind == TCALL_KIND_LIST) {
        level->what = decoder->shape;
        return;
    }
    if (shape->more)
        level->what = shape->more;
    level->index = 0xFFFF; /* the first one comes next */
    {
        TCALL_FETCH_(tcall_object, object, level->what);
        level->next = object->names;
        TCALL_COPY_(level->base, object->initial, object->size);
    }
}

static const char *tcall_read_open_(tcall_decoder *decoder, const char *at,
                                    const tcall_shape *shape)
{
    uint8_t depth = decoder->depth, bit = (uint8_t)(1 << depth % 8);
    if (depth == TOOLCALL_MAX_DEPTH)
        return tcall_read_stop_(decoder, TCALL_E_DEPTH, at);
    if (shape->kind == TCALL_KIND_OBJECT || shape->kind == TCALL_KIND_LIST)
        tcall_read_level_open_(decoder, shape);
    decoder->object = *at == '{';
    decoder->state =
        decoder->object ? TCALL_READ_FIRST_NAME_ : TCALL_READ_FIRST_VALUE_;
    decoder->open[depth / 8] = (uint8_t)(decoder->open[depth / 8] & ~bit);
    if (decoder->object)
        decoder->open[depth / 8] = (uint8_t)(decoder->open[depth / 8] | bit);
    decoder->depth++;
    return at + 1;
}

/* Notes each required member that did not come. */
static void tcall_read_object_end_(tcall_decoder *decoder)
{
    tcall_level_ *level = tcall_read_level_(decoder);
    TCALL_FETCH_(tcall_object, object, level->what);
    const char *came = level->base + (object->count + 7) / 8;
    uint8_t i;
    for (i = 0; i < object->count; i++) {
        uint8_t flags = (uint8_t)TCALL_BYTE_(&object->members[i].flags);
        if (flags & TCALL_MEMBER_REQUIRED && !TCALL_BIT_OF_(came, i)) {
            level->index = i;
            tcall_read_misfit_(decoder, TCALL_MISFIT_REQUIRED);
        }
    }
}

static void tcall_read_list_end_(tcall_decoder *decoder)
{
    tcall_level_ *level = tcall_read_level_(decoder);
    TCALL_FETCH_(tcall_shape, list, level->what);
    if (level->index < list->low)
        tcall_read_note_(decoder, TCALL_MISFIT_MIN_ITEMS,
                         (uint8_t)(decoder->levels - 1));
    if (level->base)
        memcpy(level->base, &level->index, sizeof level->index);
}

/* The next item of a list is expected. */
static void tcall_read_item_(tcall_decoder *decoder)
{
    const tcall_level_ *level = tcall_read_level_(decoder);
    TCALL_FETCH_(tcall_shape, list, level->what);
    decoder->shape = &tcall_any_;
    if (level->index < list->high) {
        decoder->shape = (const tcall_shape *)list->more;
        decoder->base = level->base ? level->base + list->digits +
                                          (size_t)level->index * list->size
                                    : NULL;
    } else if (level->index == list->high) {
        tcall_read_note_(decoder,
                         list->flags & TCALL_MEMBER_UNSAID
                             ? TCALL_MISFIT_ROOM
                             : TCALL_MISFIT_MAX_ITEMS,
                         (uint8_t)(decoder->levels - 1));
    }
}

static const char *tcall_read_close_(tcall_decoder *decoder, const char *at)
{
    if (decoder->object != (*at == '}'))
        return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
    if (tcall_read_shaped_(decoder)) {
        if (decoder->object)
            tcall_read_object_end_(decoder);
        else
            tcall_read_list_end_(decoder);
        decoder->levels--;
    }
    decoder->depth--;
    decoder->object =
        decoder->depth && TCALL_BIT_OF_(decoder->open, decoder->depth - 1);
    tcall_read_value_end_(decoder);
    return at + 1;
}

/* ---- values ---- */

/* Returns the types of the value that begins with c, or 0. */
static unsigned tcall_read_types_(char c)
{
    switch (c) {
    case '{': return TCALL_SHAPE_OBJECT;
    case '[': return TCALL_SHAPE_ARRAY;
    case '"': return TCALL_SHAPE_STRING;
    case 't':
    case 'f': return TCALL_SHAPE_BOOLEAN;
    case 'n': return TCALL_SHAPE_NULL;
    default:
        return tcall_is_digit_(c) || c == '-'
                   ? TCALL_SHAPE_INTEGER | TCALL_SHAPE_NUMBER
                   : 0;
    }
}

/* Has holes filled. A value of another type is only recognised. */
static void tcall_read_admit_(tcall_decoder *decoder, unsigned types)
{
    if (tcall_read_kind_(decoder) == TCALL_KIND_HOLE && decoder->hole)
        decoder->hole(decoder, &decoder->shape, &decoder->base);
    if (!((uint8_t)TCALL_BYTE_(&decoder->shape->types) & types)) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_TYPE);
        decoder->shape = &tcall_any_;
    }
    if (tcall_read_kind_(decoder) == TCALL_KIND_JSON) {
        decoder->keeping = true;
        decoder->kept = 0;
    }
}

/* Numbers and literals are eaten from their first byte on. */
static const char *tcall_read_value_(tcall_decoder *decoder, const char *at)
{
    unsigned types = tcall_read_types_(*at);
    const tcall_shape *expected = &tcall_any_;
    if (!types)
        return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
    if (tcall_read_shaped_(decoder)) {
        tcall_read_admit_(decoder, types);
        expected = decoder->shape;
    }
    {
        TCALL_FETCH_(tcall_shape, shape, expected);
        if (types & (TCALL_SHAPE_OBJECT | TCALL_SHAPE_ARRAY))
            return tcall_read_open_(decoder, at, shape);
        if (types & TCALL_SHAPE_STRING) {
            tcall_read_text_begin_(decoder, shape);
            return at + 1;
        }
        if (!(types & TCALL_SHAPE_NUMBER)) {
            tcall_read_literal_begin_(decoder, *at, shape);
            return at;
        }
    }
    memset(&decoder->now.number, 0, sizeof decoder->now.number);
    decoder->now.number.state = TCALL_N_START_;
    decoder->state = TCALL_READ_NUMBER_;
    return at;
}

/* ---- between tokens ---- */

static void tcall_read_item_end_(tcall_decoder *decoder)
{
    tcall_level_ *level = tcall_read_level_(decoder);
    if (level->index < 0xFFFE)
        level->index++;
}

/* After a value: a comma or a closing bracket. */
static const char *tcall_read_next_(tcall_decoder *decoder, const char *at)
{
    if (!decoder->object && tcall_read_shaped_(decoder))
        tcall_read_item_end_(decoder);
    if (*at == '}' || *at == ']')
        return tcall_read_close_(decoder, at);
    if (*at != ',')
        return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
    decoder->state = decoder->object ? TCALL_READ_NAME_ : TCALL_READ_VALUE_;
    if (!decoder->object && tcall_read_shaped_(decoder))
        tcall_read_item_(decoder);
    return at + 1;
}

static const char *tcall_read_mark_(tcall_decoder *decoder, const char *at)
{
    switch (decoder->state) {
    case TCALL_READ_FIRST_VALUE_:
        if (*at == ']')
            return tcall_read_close_(decoder, at);
        if (tcall_read_shaped_(decoder))
            tcall_read_item_(decoder); /* fall through */
    case TCALL_READ_VALUE_: return tcall_read_value_(decoder, at);
    case TCALL_READ_FIRST_NAME_:
        if (*at == '}')
            return tcall_read_close_(decoder, at); /* fall through */
    case TCALL_READ_NAME_:
        if (*at != '"')
            break;
        tcall_read_name_begin_(decoder);
        return at + 1;
    case TCALL_READ_COLON_:
        if (*at != ':')
            break;
        decoder->state = TCALL_READ_VALUE_;
        return at + 1;
    case TCALL_READ_NEXT_: return tcall_read_next_(decoder, at);
    default: return tcall_read_stop_(decoder, TCALL_E_TRAILING, at);
    }
    return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
}

static const char *tcall_read_token_(tcall_decoder *decoder, const char *at,
                                     const char *end)
{
    switch (decoder->state) {
    case TCALL_READ_STRING_: return tcall_read_string_(decoder, at, end);
    case TCALL_READ_ESCAPE_: return tcall_read_escape_(decoder, at);
    case TCALL_READ_HEX_: return tcall_read_hex_(decoder, at);
    case TCALL_READ_LITERAL_: return tcall_read_literal_(decoder, at, end);
    case TCALL_READ_NUMBER_: return tcall_read_number_(decoder, at, end);
    default: return tcall_read_mark_(decoder, at);
    }
}

int tcall_decoder_feed(tcall_decoder *decoder, const char *bytes, size_t len)
{
    const char *at = bytes, *end = bytes + len;
    int error;
    while (at < end && decoder->state != TCALL_READ_STOPPED_) {
        const char *from = at;
        bool keeping = decoder->keeping;
        if (decoder->state <= TCALL_READ_END_ && tcall_is_space_(*at)) {
            at++;
            continue;
        }
        at = tcall_read_token_(decoder, at, end);
        if (keeping || decoder->keeping)
            tcall_read_keep_(decoder, from, (size_t)(at - from));
    }
    decoder->at += (size_t)(at - bytes);
    if (decoder->sink && at > bytes) {
        error = decoder->sink(decoder->user, bytes, (size_t)(at - bytes));
        if (error < 0 && decoder->state != TCALL_READ_STOPPED_)
            tcall_read_stop_(decoder, error, at);
    }
    return decoder->error;
}

int tcall_decoder_end(tcall_decoder *decoder)
{
    if (decoder->state < TCALL_READ_STOPPED_ &&
        decoder->state != TCALL_READ_END_)
        tcall_decoder_poison(decoder);
    return decoder->error;
}

void tcall_decoder_poison(tcall_decoder *decoder)
{
    if (decoder->state != TCALL_READ_STOPPED_)
        tcall_read_stop_(decoder, TCALL_E_TRUNCATED, NULL);
}

void tcall_decoder_init(tcall_decoder *decoder, const tcall_object *shape,
                        void *out)
{
    memset(decoder, 0, sizeof *decoder);
    decoder->shape = &tcall_root_;
    decoder->base = (char *)out;
    decoder->level[0].what = shape;
}

#endif /* TOOLCALL_NO_SHAPES */
