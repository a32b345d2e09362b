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
 *
 * Most bytes are in strings, so tcall_decoder_feed eats runs of them itself,
 * one byte or many. What begins and ends values is TCALL_NOINLINE_: else the
 * compiler makes one function of all, in whose loop small processors have no
 * register left.
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
    TCALL_READ_HALF_,
    TCALL_READ_LITERAL_,
    TCALL_READ_NUMBER_
};

/* A value is kept as its text: not, on from here, up to here. */
enum { TCALL_KEEP_NONE_, TCALL_KEEP_MORE_, TCALL_KEEP_LAST_ };

/* What becomes of a string. */
enum {
    TCALL_INTO_NOTHING_,
    TCALL_INTO_TEXT_,
    TCALL_INTO_CHOICE_,
    TCALL_INTO_NAME_
};

/* Longer numbers are refused, so that places are counted in 16 bits; greater
 * exponents are no different from this one, which is beyond all of them. */
#define TCALL_NUMBER_LENGTH_ 1000
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
    decoder->open_levels[decoder->levels].what = object;
    return &tcall_root_;
}

/* ---- what is wrong ---- */

/* Returns whether reading goes on, also after misfits. */
static bool tcall_read_going_(const tcall_decoder *decoder)
{
    return decoder->error == TCALL_OK || decoder->error == TCALL_E_INVALID;
}

/* Ends the reading. Returns where. */
static const char *tcall_read_stop_(tcall_decoder *decoder, int error,
                                    const char *at)
{
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
            misfit->trail[i] = decoder->open_levels[i].index;
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

static uint8_t tcall_read_kind_(const tcall_decoder *decoder)
{
    return TCALL_FETCH_8_(&decoder->shape->kind);
}

/* Returns where the value that is read is kept, or NULL. */
static char *tcall_read_place_(const tcall_decoder *decoder,
                               const tcall_shape *shape)
{
    uint16_t offset = TCALL_FETCH_16_(&shape->offset);
    if (!decoder->base || offset == TCALL_NOWHERE)
        return NULL;
    return decoder->base + offset;
}

/* A value of these types begins. Returns its shape: after holes were filled,
 * and when another type was expected, one that takes anything. */
static const tcall_shape *tcall_read_admit_(tcall_decoder *decoder,
                                            unsigned types)
{
    if (!tcall_read_shaped_(decoder))
        return &tcall_any_;
    if (tcall_read_kind_(decoder) == TCALL_KIND_HOLE && decoder->hole)
        decoder->hole(decoder, &decoder->shape, &decoder->base);
    if (!(TCALL_FETCH_8_(&decoder->shape->types) & types)) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_TYPE);
        decoder->shape = &tcall_any_;
    }
    if (tcall_read_kind_(decoder) == TCALL_KIND_JSON) {
        decoder->keeping = TCALL_KEEP_MORE_;
        decoder->kept = 0;
    }
    return decoder->shape;
}

/* The value is complete. */
static void tcall_read_value_end_(tcall_decoder *decoder)
{
    decoder->state = decoder->depth ? TCALL_READ_NEXT_ : TCALL_READ_END_;
    if (decoder->keeping && tcall_read_shaped_(decoder))
        decoder->keeping = TCALL_KEEP_LAST_;
}

/* Keeps a part of the value's text. What it has no room for is noted when it
 * is complete. */
static void tcall_read_keep_(tcall_decoder *decoder, const char *bytes,
                             size_t len)
{
    char *to = tcall_read_place_(decoder, decoder->shape);
    uint16_t size = TCALL_FETCH_16_(&decoder->shape->size);
    if (len < (size_t)(size - decoder->kept)) {
        memcpy(to + decoder->kept, bytes, len);
        decoder->kept = (uint16_t)(decoder->kept + len);
    } else {
        decoder->kept = size;
    }
    if (decoder->keeping == TCALL_KEEP_MORE_)
        return;
    decoder->keeping = TCALL_KEEP_NONE_;
    if (decoder->kept == size) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_ROOM);
        decoder->kept = 0; /* half a value is none */
    }
    to[decoder->kept] = 0;
}

/* ---- words ----
 *
 * A name or a word of a choice is compared in flash as it comes: the candidate
 * agrees with all of it so far, so it is also what the next candidate has to
 * agree with. Names are tried in a circle from the expected one on.
 */

static const char *tcall_read_names_(const tcall_level_ *level)
{
    const tcall_object *object = (const tcall_object *)level->what;
    return TCALL_FETCH_POINTER_(const char *, &object->names);
}

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
            word = tcall_read_names_(decoder->level);
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
    const char *end = bytes + len;
    while (string->word) {
        const char *word = string->word + string->len, *from = bytes;
        for (; bytes < end && TCALL_BYTE_(word) == *bytes; bytes++)
            word++;
        string->len += (size_t)(bytes - from);
        if (bytes == end)
            return;
        tcall_read_candidate_(decoder, *bytes++);
    }
}

#if TOOLCALL_MISFIT_TEXT

/* Keeps the beginning of a name or word, which may turn out to be unknown. */
static void tcall_read_remember_(tcall_decoder *decoder, const char *bytes,
                                 size_t len)
{
    tcall_string_ *string = &decoder->now.string;
    for (; len && string->kept < TOOLCALL_MISFIT_TEXT; len--)
        string->text[string->kept++] = *bytes++;
}

/* Notes a misfit of the name or word that came. */
static void tcall_read_unknown_(tcall_decoder *decoder, uint8_t code)
{
    const tcall_string_ *string = &decoder->now.string;
    tcall_misfit *misfit = tcall_read_misfit_(decoder, code);
    if (!misfit)
        return;
    misfit->text_len = string->kept;
    memcpy(misfit->text, string->text, string->kept);
}

#else

static void tcall_read_remember_(tcall_decoder *decoder, const char *bytes,
                                 size_t len)
{
    (void)decoder;
    (void)bytes;
    (void)len;
}

static void tcall_read_unknown_(tcall_decoder *decoder, uint8_t code)
{
    tcall_read_misfit_(decoder, code);
}

#endif

/* Returns whether the word that came is a candidate as a whole. */
static bool tcall_read_word_known_(tcall_decoder *decoder)
{
    tcall_read_word_(decoder, "", 1);
    return decoder->now.string.word != NULL;
}

/* Members that came are a set of bits after those that were given. */
static char *tcall_read_came_(const tcall_level_ *level)
{
    const tcall_object *object = (const tcall_object *)level->what;
    return level->base + (TCALL_FETCH_8_(&object->count) + 7) / 8;
}

/* A name that is known: its value is expected, and then the next name. */
static void tcall_read_member_(tcall_decoder *decoder)
{
    tcall_level_ *level = decoder->level;
    const tcall_object *object = (const tcall_object *)level->what;
    uint8_t index = decoder->now.string.index, bit = (uint8_t)(1 << index % 8);
    char *given = level->base + index / 8;
    char *came = tcall_read_came_(level) + index / 8;
    level->index = index;
    level->next = decoder->now.string.word + decoder->now.string.len;
    if (*came & bit) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_DUPLICATE);
        return;
    }
    *came = (char)(*came | bit);
    *given = (char)(*given | bit);
    decoder->shape =
        TCALL_FETCH_POINTER_(const tcall_shape *, &object->members) + index;
    decoder->base = level->base;
}

static void tcall_read_name_end_(tcall_decoder *decoder)
{
    tcall_level_ *level = decoder->level;
    const tcall_object *object = (const tcall_object *)level->what;
    uint16_t before = level->index;
    decoder->shape = &tcall_any_;
    if (tcall_read_word_known_(decoder)) {
        tcall_read_member_(decoder);
    } else if (!TCALL_FETCH_8_(&object->open)) {
        level->index = 0xFFFF;
        tcall_read_unknown_(decoder, TCALL_MISFIT_UNKNOWN);
        level->index = before;
    }
}

/* ---- strings ---- */

static void tcall_read_string_begin_(tcall_decoder *decoder, uint8_t use)
{
    tcall_string_ *string = &decoder->now.string;
    string->utf.left = 0;
    string->high = 0;
    string->word = NULL;
    string->to = NULL;
    string->len = string->followed = 0;
#if TOOLCALL_MISFIT_TEXT
    string->kept = 0;
#endif
    decoder->use = use;
    decoder->state = TCALL_READ_STRING_;
}

/* After the last name the first one comes. */
static void tcall_read_name_begin_(tcall_decoder *decoder)
{
    tcall_string_ *string = &decoder->now.string;
    const tcall_level_ *level = decoder->level;
    uint8_t count;
    tcall_read_string_begin_(decoder, TCALL_INTO_NAME_);
    if (!tcall_read_shaped_(decoder))
        return;
    count = TCALL_FETCH_8_(&((const tcall_object *)level->what)->count);
    string->count = string->left = count;
    string->index = (uint8_t)(level->index + 1);
    string->word = count ? level->next : NULL;
    if (count && string->index == count) {
        string->index = 0;
        string->word = tcall_read_names_(level);
    }
}

static void tcall_read_text_begin_(tcall_decoder *decoder)
{
    const tcall_shape *shape = tcall_read_admit_(decoder, TCALL_SHAPE_STRING);
    tcall_string_ *string = &decoder->now.string;
    uint8_t kind = TCALL_FETCH_8_(&shape->kind);
    tcall_read_string_begin_(decoder, TCALL_INTO_NOTHING_);
    if (kind == TCALL_KIND_TEXT) {
        decoder->use = TCALL_INTO_TEXT_;
        string->to = tcall_read_place_(decoder, shape);
    } else if (kind == TCALL_KIND_CHOICE) {
        decoder->use = TCALL_INTO_CHOICE_;
        string->word = TCALL_FETCH_POINTER_(const char *, &shape->more);
        string->index = 0;
        string->count = (uint8_t)(TCALL_FETCH_32_(&shape->high) + 1);
        string->left = string->count;
    }
}

/* A part of a text, which is stored as far as there is room. */
static void tcall_read_text_(tcall_decoder *decoder, const char *bytes,
                             size_t len)
{
    tcall_string_ *string = &decoder->now.string;
    if (string->to) {
        uint16_t size = TCALL_FETCH_16_(&decoder->shape->size);
        if (len < size && string->len < size - len)
            memcpy(string->to + string->len, bytes, len);
    }
    string->len = len < SIZE_MAX - string->len ? string->len + len : SIZE_MAX;
}

/* Decoded bytes of a string. */
static void tcall_read_bytes_(tcall_decoder *decoder, const char *bytes,
                              size_t len)
{
    if (decoder->use == TCALL_INTO_TEXT_) {
        tcall_read_text_(decoder, bytes, len);
    } else if (decoder->use != TCALL_INTO_NOTHING_) {
        tcall_read_remember_(decoder, bytes, len);
        tcall_read_word_(decoder, bytes, len);
    }
}

static void tcall_read_text_end_(tcall_decoder *decoder)
{
    const tcall_string_ *string = &decoder->now.string;
    const tcall_shape *shape = decoder->shape;
    uint8_t flags = TCALL_FETCH_8_(&shape->flags), code = TCALL_FITS;
    size_t count = string->len - string->followed; /* of characters */
    if (count < (uint32_t)TCALL_FETCH_32_(&shape->low))
        code = TCALL_MISFIT_MIN_LENGTH;
    else if (count > (uint32_t)TCALL_FETCH_32_(&shape->high) &&
             !(flags & TCALL_MEMBER_UNSAID))
        code = TCALL_MISFIT_MAX_LENGTH;
    else if (string->to && string->len >= TCALL_FETCH_16_(&shape->size))
        code = TCALL_MISFIT_ROOM;
    if (code)
        tcall_read_misfit_(decoder, code);
    else if (string->to)
        string->to[string->len] = 0;
}

static void tcall_read_choice_end_(tcall_decoder *decoder)
{
    char *to = tcall_read_place_(decoder, decoder->shape);
    uint8_t index = 255;
    if (tcall_read_word_known_(decoder))
        index = decoder->now.string.index;
    else if (!(TCALL_FETCH_8_(&decoder->shape->flags) & TCALL_MEMBER_OTHERS))
        tcall_read_unknown_(decoder, TCALL_MISFIT_ENUM);
    if (to)
        *to = (char)index;
}

TCALL_NOINLINE_ static void tcall_read_string_end_(tcall_decoder *decoder)
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

/* Eats bytes that stand for themselves, if any. Returns where they end. */
static const char *tcall_read_run_(tcall_decoder *decoder, const char *from,
                                   const char *end)
{
    tcall_string_ *string = &decoder->now.string;
    const char *at = from;
    for (; at < end; at++) {
        unsigned char c = (unsigned char)*at;
        if (!string->utf.left) {
            at = tcall_plain_run_(at, end);
            if (at == end || (c = (unsigned char)*at) < 0x80)
                break;
        }
        if (!tcall_utf8_step_(&string->utf, c))
            break;
        string->followed += (c & 0xC0) == 0x80;
    }
    tcall_read_bytes_(decoder, from, (size_t)(at - from));
    return at;
}

/* The byte that ends a run. */
static const char *tcall_read_string_(tcall_decoder *decoder, const char *at)
{
    if (decoder->now.string.utf.left || (unsigned char)*at >= 0x80)
        return tcall_read_stop_(decoder, TCALL_E_UTF8, at);
    if (*at == '\\')
        decoder->state = TCALL_READ_ESCAPE_;
    else if (*at == '"')
        tcall_read_string_end_(decoder);
    else
        return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
    return at + 1;
}

/* After the first half of a character as \uXXXX. */
static const char *tcall_read_half_(tcall_decoder *decoder, const char *at)
{
    if (*at != '\\')
        return tcall_read_stop_(decoder, TCALL_E_BAD_ESCAPE, at);
    decoder->state = TCALL_READ_ESCAPE_;
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
    decoder->now.string.followed += len - 1;
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
    uint16_t unit = string->unit, high = string->high;
    bool low = (unit & 0xFC00) == 0xDC00;
    uint32_t code = unit;
    if (low != (high != 0))
        return false;
    string->high = (unit & 0xFC00) == 0xD800 ? unit : 0;
    if (low)
        code = 0x10000 + ((uint32_t)(high & 0x3FF) << 10) + (unit & 0x3FF);
    if (string->high)
        decoder->state = TCALL_READ_HALF_;
    else
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

static void tcall_number_digit_(tcall_number_ *number, char c)
{
    number->zeros++;
    if (c == '0')
        return;
    if (!number->count)
        number->zeros = 1;
    for (; number->zeros; number->count++) {
        number->zeros--;
        if (number->count < TOOLCALL_NUMBER_DIGITS)
            number->text[number->count] = number->zeros ? '0' : c;
    }
}

/* Takes a byte. Returns false when it is none of the number. */
static bool tcall_number_take_(tcall_number_ *number, char c)
{
    uint8_t state = tcall_number_next_(number->state, c);
    if (!state)
        return false;
    number->state = state;
    if (state == TCALL_N_MINUS_) {
        number->minus = true;
    } else if (state == TCALL_N_SIGN_) {
        number->negative = c == '-';
    } else if (state == TCALL_N_EXPONENT_) {
        if (number->power < TCALL_NUMBER_POWER_)
            number->power = (int16_t)(number->power * 10 + (c - '0'));
    } else if (tcall_is_digit_(c) && number->length < TCALL_NUMBER_LENGTH_) {
        number->length++;
        number->places =
            (int16_t)(number->places + (state == TCALL_N_FRACTION_));
        tcall_number_digit_(number, c);
    }
    return true;
}

/* Returns the number as a whole one, where its last digit counts 10^exponent,
 * or the end of the range that it is beyond. Notes whether digits were cut off.
 * So many that some were not kept are beyond all ranges. */
static tcall_int tcall_number_whole_(tcall_number_ *number, int exponent)
{
    const tcall_uint most = (tcall_uint)-1 / 2, end = most + number->minus;
    int digits = number->count ? number->count + exponent : 0, i;
    tcall_uint sum = 0;
    bool beyond = false;
    for (i = 0; i < digits && !beyond; i++) {
        beyond = sum > most / 10;
        sum *= 10;
        if (i < number->count && i < TOOLCALL_NUMBER_DIGITS)
            sum += (tcall_uint)(number->text[i] - '0');
        beyond = beyond || sum > end;
    }
    number->lost = beyond || i < number->count;
    if (beyond)
        sum = end;
    return number->minus ? (tcall_int)(0 - sum) : (tcall_int)sum;
}

/* Returns < 0, 0 or > 0. A number that was cut off lies beyond what is left of
 * it. */
static int tcall_number_order_(const tcall_number_ *number, tcall_int value,
                               tcall_int bound)
{
    if (value != bound)
        return value < bound ? -1 : 1;
    return !number->lost ? 0 : number->minus ? -1 : 1;
}

/* Notes a number that is out of bounds. Flags exclude a bound. */
static void tcall_read_bounds_(tcall_decoder *decoder, tcall_int value,
                               tcall_int low, tcall_int high, uint8_t flags)
{
    const tcall_number_ *number = &decoder->now.number;
    int over = flags & TCALL_MEMBER_OVER ? 1 : 0;
    int under = flags & TCALL_MEMBER_UNDER ? 1 : 0;
    tcall_misfit *misfit = NULL;
    if (tcall_number_order_(number, value, low) < over)
        misfit = tcall_read_misfit_(decoder, TCALL_MISFIT_MINIMUM);
    else if (tcall_number_order_(number, value, high) > -under)
        misfit = tcall_read_misfit_(decoder, TCALL_MISFIT_MAXIMUM);
    if (misfit) {
        misfit->got = value < INT32_MIN   ? INT32_MIN
                      : value > INT32_MAX ? INT32_MAX
                                          : (int32_t)value;
        misfit->exact = !number->lost && misfit->got == value;
    }
}

#ifndef TOOLCALL_NO_INT64
bool tcall_store_double_(void *to, const struct tcall_num_ *number)
{
    return tcall_num_double_(number, to);
}

/* Returns the number, whose last digit counts 10^exponent. */
static tcall_num_ tcall_number_num_(const tcall_number_ *number, int exponent)
{
    tcall_num_ num;
    int count = number->count;
    num.cut = count > TOOLCALL_NUMBER_DIGITS;
    num.first = number->text;
    num.last = num.first + (num.cut ? TOOLCALL_NUMBER_DIGITS : count) - 1;
    num.top = exponent + count - 1;
    num.minus = number->minus;
    num.sign = !count ? 0 : num.minus ? -1 : 1;
    return num;
}

/* Stores an int64_t or a double. A double that has no bound on that side may
 * be beyond what millionths can say. */
static void tcall_read_wide_(tcall_decoder *decoder, int64_t value,
                             int exponent)
{
    char *to = tcall_read_place_(decoder, decoder->shape);
    tcall_num_ num = tcall_number_num_(&decoder->now.number, exponent);
    TCALL_FETCH_(tcall_range, range,
                 TCALL_FETCH_POINTER_(const void *, &decoder->shape->more));
    if (!range->store || value != (num.minus ? INT64_MIN : INT64_MAX) ||
        value != (num.minus ? range->low : range->high))
        tcall_read_bounds_(decoder, value, range->low, range->high,
                           TCALL_FETCH_8_(&decoder->shape->flags));
    if (!to)
        return;
    if (!range->store)
        memcpy(to, &value, sizeof value);
    else if (!range->store(to, &num))
        tcall_read_misfit_(decoder, TCALL_MISFIT_ROOM);
}
#endif

/* The last digit of the number counts 10^exponent. */
static void tcall_read_number_store_(tcall_decoder *decoder, int exponent)
{
    const tcall_shape *shape = decoder->shape;
    char *to = tcall_read_place_(decoder, shape);
    tcall_number_ *number = &decoder->now.number;
    tcall_int whole =
        tcall_number_whole_(number, exponent + TCALL_FETCH_8_(&shape->digits));
    int32_t value = (int32_t)whole;
#ifndef TOOLCALL_NO_INT64
    if (TCALL_FETCH_8_(&shape->kind) != TCALL_KIND_INTEGER) {
        tcall_read_wide_(decoder, whole, exponent);
        return;
    }
#endif
    tcall_read_bounds_(decoder, whole, TCALL_FETCH_32_(&shape->low),
                       TCALL_FETCH_32_(&shape->high), 0);
    if (to)
        memcpy(to, &value, sizeof value);
}

/* Only what has bounds, or must be whole, is looked at. */
TCALL_NOINLINE_ static void tcall_read_number_end_(tcall_decoder *decoder)
{
    const tcall_number_ *number = &decoder->now.number;
    int power = number->negative ? -number->power : number->power;
    uint8_t kind = TCALL_FETCH_8_(&decoder->shape->kind);
    bool any = TCALL_FETCH_8_(&decoder->shape->types) & TCALL_SHAPE_NUMBER;
    bool stored = kind >= TCALL_KIND_INTEGER && kind <= TCALL_KIND_NUMBER;
    if (any && !stored)
        return;
    power += number->zeros - number->places; /* that of the last digit not 0 */
    if (number->length == TCALL_NUMBER_LENGTH_)
        tcall_read_misfit_(decoder, TCALL_MISFIT_ROOM);
    else if (!any && number->count && power < 0)
        tcall_read_misfit_(decoder, TCALL_MISFIT_TYPE);
    else if (stored)
        tcall_read_number_store_(decoder, power);
}

static void tcall_read_number_begin_(tcall_decoder *decoder)
{
    tcall_number_ *number = &decoder->now.number;
    tcall_read_admit_(decoder, TCALL_SHAPE_NUMBER | TCALL_SHAPE_INTEGER);
    number->state = TCALL_N_START_;
    number->minus = number->negative = false;
    number->zeros = number->places = number->length = 0;
    number->power = number->count = 0;
    decoder->state = TCALL_READ_NUMBER_;
}

TCALL_NOINLINE_ static const char *
tcall_read_number_(tcall_decoder *decoder, const char *at, const char *end)
{
    tcall_number_ *number = &decoder->now.number;
    while (at < end && tcall_number_take_(number, *at))
        at++;
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

static void tcall_read_literal_begin_(tcall_decoder *decoder, char c)
{
    decoder->state = TCALL_READ_LITERAL_;
    decoder->now.string.word = tcall_literal_(c);
}

/* A member that is null is not given, unless null is what it keeps. */
static void tcall_read_null_begin_(tcall_decoder *decoder)
{
    const tcall_shape *shape = tcall_read_admit_(decoder, TCALL_SHAPE_NULL);
    const tcall_level_ *level = decoder->level;
    uint8_t kind = TCALL_FETCH_8_(&shape->kind);
    if (kind != TCALL_KIND_ANY && kind != TCALL_KIND_JSON) {
        if (decoder->object)
            level->base[level->index / 8] &= (char)~(1 << level->index % 8);
        else if (decoder->base) /* an item, which nothing else sets */
            memset(decoder->base, 0,
                   TCALL_FETCH_16_(&((const tcall_shape *)level->what)->size));
    }
    tcall_read_literal_begin_(decoder, 'n');
}

static void tcall_read_boolean_begin_(tcall_decoder *decoder, char c)
{
    const tcall_shape *shape = tcall_read_admit_(decoder, TCALL_SHAPE_BOOLEAN);
    char *to = tcall_read_place_(decoder, shape);
    if (to && TCALL_FETCH_8_(&shape->kind) == TCALL_KIND_BOOLEAN)
        *to = c == 't';
    tcall_read_literal_begin_(decoder, c);
}

/* ---- objects and arrays ---- */

/* The root's object is in its level already. No member has come. */
static void tcall_read_object_begin_(tcall_level_ *level,
                                     const tcall_shape *shape)
{
    const tcall_object *object =
        TCALL_FETCH_POINTER_(const tcall_object *, &shape->more);
    if (object)
        level->what = object;
    level->next = tcall_read_names_(level);
    memset(level->base, 0, 2 * (size_t)(tcall_read_came_(level) - level->base));
}

/* An object or list with a shape is a level of its own. */
static void tcall_read_level_open_(tcall_decoder *decoder,
                                   const tcall_shape *shape)
{
    tcall_level_ *level = &decoder->open_levels[decoder->levels];
    if (decoder->levels == TOOLCALL_SHAPE_LEVELS) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_LEVELS);
        return;
    }
    decoder->levels++;
    decoder->level = level;
    level->base = tcall_read_place_(decoder, shape);
    level->index = 0xFFFF; /* the first one comes next */
    if (TCALL_FETCH_8_(&shape->kind) == TCALL_KIND_OBJECT)
        tcall_read_object_begin_(level, shape);
    else
        level->what = shape;
}

static const char *tcall_read_open_(tcall_decoder *decoder, const char *at)
{
    bool object = *at == '{';
    const tcall_shape *shape = tcall_read_admit_(
        decoder, object ? TCALL_SHAPE_OBJECT : TCALL_SHAPE_ARRAY);
    uint8_t depth = decoder->depth, bit = (uint8_t)(1 << depth % 8);
    uint8_t *open = &decoder->open[depth / 8];
    uint8_t kind = TCALL_FETCH_8_(&shape->kind);
    if (depth == TOOLCALL_MAX_DEPTH)
        return tcall_read_stop_(decoder, TCALL_E_DEPTH, at);
    if (kind == TCALL_KIND_OBJECT || kind == TCALL_KIND_LIST)
        tcall_read_level_open_(decoder, shape);
    decoder->object = object;
    decoder->state = object ? TCALL_READ_FIRST_NAME_ : TCALL_READ_FIRST_VALUE_;
    *open = (uint8_t)(object ? *open | bit : *open & ~bit);
    decoder->depth++;
    return at + 1;
}

/* Returns how many bytes make a member what it is at first: of a text without
 * a default its NUL, of a list its count. */
static size_t tcall_read_initial_size_(const tcall_shape *member)
{
    static const uint8_t sizes[] TCALL_FLASH_ = {
        /* by kind; double has four bytes on an AVR */
        0,
        sizeof(bool),
        sizeof(int32_t),
        sizeof(int64_t),
        sizeof(double),
        1,
        1,
        sizeof(uint16_t),
        0,
        1,
        0};
    uint8_t kind = TCALL_FETCH_8_(&member->kind);
    if (kind == TCALL_KIND_TEXT &&
        TCALL_FETCH_8_(&member->flags) & TCALL_MEMBER_DEFAULT)
        return TCALL_FETCH_16_(&member->size);
    if (kind == TCALL_KIND_OBJECT)
        return TCALL_FETCH_16_(
            &TCALL_FETCH_POINTER_(const tcall_object *, &member->more)->size);
    return TCALL_FETCH_8_(sizes + kind);
}

/* Sets a member that was not given to what it is at first. */
static void tcall_read_initial_(const tcall_level_ *level,
                                const tcall_shape *member)
{
    const tcall_object *object = (const tcall_object *)level->what;
    const char *initial = TCALL_FETCH_POINTER_(const char *, &object->initial);
    uint16_t offset = TCALL_FETCH_16_(&member->offset);
    if (offset != TCALL_NOWHERE)
        TCALL_COPY_(level->base + offset, initial + offset,
                    tcall_read_initial_size_(member));
}

/* Looks after the members that were not given. */
static void tcall_read_object_end_(tcall_decoder *decoder)
{
    tcall_level_ *level = decoder->level;
    const tcall_object *object = (const tcall_object *)level->what;
    const tcall_shape *member =
        TCALL_FETCH_POINTER_(const tcall_shape *, &object->members);
    const char *given = level->base, *came = tcall_read_came_(level);
    uint8_t i, count = TCALL_FETCH_8_(&object->count);
    for (i = 0; i < count; i++, member++) {
        if (TCALL_BIT_OF_(given, i))
            continue;
        tcall_read_initial_(level, member);
        if (TCALL_FETCH_8_(&member->flags) & TCALL_MEMBER_REQUIRED &&
            !TCALL_BIT_OF_(came, i)) {
            level->index = i;
            tcall_read_misfit_(decoder, TCALL_MISFIT_REQUIRED);
        }
    }
}

/* Notes a misfit of the list itself. */
static void tcall_read_list_misfit_(tcall_decoder *decoder, uint8_t code)
{
    tcall_read_note_(decoder, code, (uint8_t)(decoder->levels - 1));
}

static void tcall_read_list_end_(tcall_decoder *decoder)
{
    const tcall_level_ *level = decoder->level;
    const tcall_shape *list = (const tcall_shape *)level->what;
    uint16_t count = (uint16_t)(level->index + 1);
    if (count < TCALL_FETCH_32_(&list->low))
        tcall_read_list_misfit_(decoder, TCALL_MISFIT_MIN_ITEMS);
    if (level->base)
        memcpy(level->base, &count, sizeof count);
}

/* An item of a list begins. The first one too many is noted. */
static void tcall_read_item_(tcall_decoder *decoder)
{
    tcall_level_ *level = decoder->level;
    const tcall_shape *list = (const tcall_shape *)level->what;
    int32_t left;
    if (level->index != 0xFFFE) /* and then all are one */
        level->index++;
    left = TCALL_FETCH_32_(&list->high) - level->index;
    decoder->shape = &tcall_any_;
    decoder->base = level->base;
    if (left > 0)
        decoder->shape = TCALL_FETCH_POINTER_(const tcall_shape *, &list->more);
    if (left > 0 && level->base)
        decoder->base += TCALL_FETCH_8_(&list->digits) +
                         (size_t)level->index * TCALL_FETCH_16_(&list->size);
    if (left == 0)
        tcall_read_list_misfit_(decoder, TCALL_FETCH_8_(&list->flags) &
                                                 TCALL_MEMBER_UNSAID
                                             ? TCALL_MISFIT_ROOM
                                             : TCALL_MISFIT_MAX_ITEMS);
}

static const char *tcall_read_close_(tcall_decoder *decoder, const char *at)
{
    if (*at != (decoder->object ? '}' : ']'))
        return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
    if (tcall_read_shaped_(decoder)) {
        if (decoder->object)
            tcall_read_object_end_(decoder);
        else
            tcall_read_list_end_(decoder);
        if (--decoder->levels)
            decoder->level--;
    }
    decoder->depth--;
    decoder->object =
        decoder->depth && TCALL_BIT_OF_(decoder->open, decoder->depth - 1);
    tcall_read_value_end_(decoder);
    return at + 1;
}

TCALL_NOINLINE_ static const char *tcall_read_value_(tcall_decoder *decoder,
                                                     const char *at)
{
    if (!decoder->object && tcall_read_shaped_(decoder) && decoder->levels)
        tcall_read_item_(decoder);
    switch (*at) {
    case '{':
    case '[': return tcall_read_open_(decoder, at);
    case '"': tcall_read_text_begin_(decoder); return at + 1;
    case 'n': tcall_read_null_begin_(decoder); break;
    case 't':
    case 'f': tcall_read_boolean_begin_(decoder, *at); break;
    default: tcall_read_number_begin_(decoder);
    }
    return at; /* these are eaten from their first byte on, if they are one */
}

/* ---- between tokens ---- */

static const char *tcall_read_mark_(tcall_decoder *decoder, const char *at)
{
    switch (decoder->state) {
    case TCALL_READ_FIRST_VALUE_:
        if (*at == ']')
            return tcall_read_close_(decoder, at); /* fall through */
    case TCALL_READ_VALUE_: return tcall_read_value_(decoder, at);
    case TCALL_READ_COLON_:
        if (*at != ':')
            break;
        decoder->state = TCALL_READ_VALUE_;
        return at + 1;
    case TCALL_READ_NEXT_:
        if (*at != ',')
            return tcall_read_close_(decoder, at);
        decoder->state = decoder->object ? TCALL_READ_NAME_ : TCALL_READ_VALUE_;
        return at + 1;
    case TCALL_READ_FIRST_NAME_:
        if (*at != '"')
            return tcall_read_close_(decoder, at); /* fall through */
    case TCALL_READ_NAME_:
        if (*at != '"')
            break;
        tcall_read_name_begin_(decoder);
        return at + 1;
    default: return tcall_read_stop_(decoder, TCALL_E_TRAILING, at);
    }
    return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
}

/* A byte at which no run of a string goes on. */
static const char *tcall_read_token_(tcall_decoder *decoder, const char *at,
                                     const char *end)
{
    switch (decoder->state) {
    case TCALL_READ_STRING_: return tcall_read_string_(decoder, at);
    case TCALL_READ_ESCAPE_: return tcall_read_escape_(decoder, at);
    case TCALL_READ_HEX_: return tcall_read_hex_(decoder, at);
    case TCALL_READ_HALF_: return tcall_read_half_(decoder, at);
    case TCALL_READ_LITERAL_: return tcall_read_literal_(decoder, at, end);
    case TCALL_READ_NUMBER_: return tcall_read_number_(decoder, at, end);
    default: return tcall_read_mark_(decoder, at);
    }
}

int tcall_decoder_feed(tcall_decoder *decoder, const char *bytes, size_t len)
{
    const char *at = bytes, *end = bytes + len;
    int error;
    while (at < end && tcall_read_going_(decoder)) {
        const char *from = at;
        if (decoder->state == TCALL_READ_STRING_) {
            at = tcall_read_run_(decoder, at, end);
        } else if (decoder->state <= TCALL_READ_END_ &&
                   (unsigned char)*at <= ' ' && tcall_is_space_(*at)) {
            at++;
            continue;
        }
        if (at < end)
            at = tcall_read_token_(decoder, at, end);
        if (decoder->keeping)
            tcall_read_keep_(decoder, from, (size_t)(at - from));
    }
    decoder->at += (size_t)(at - bytes);
    if (decoder->sink && at > bytes) {
        error = decoder->sink(decoder->user, bytes, (size_t)(at - bytes));
        if (error < 0 && tcall_read_going_(decoder))
            tcall_read_stop_(decoder, error, at);
    }
    return decoder->error;
}

int tcall_decoder_end(tcall_decoder *decoder)
{
    if (decoder->state != TCALL_READ_END_)
        tcall_decoder_poison(decoder);
    return decoder->error;
}

void tcall_decoder_poison(tcall_decoder *decoder)
{
    if (tcall_read_going_(decoder))
        tcall_read_stop_(decoder, TCALL_E_TRUNCATED, NULL);
}

void tcall_decoder_init(tcall_decoder *decoder, const tcall_object *shape,
                        void *out)
{
    memset(decoder, 0, sizeof *decoder);
    decoder->shape = &tcall_root_;
    decoder->base = (char *)out;
    decoder->open_levels[0].what = shape;
}

#endif /* TOOLCALL_NO_SHAPES */
