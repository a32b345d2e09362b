#pragma once
#include "store.h"
#include "shape.c"

/* ==========================================================================
 * >>store
 */

/* Returns the types that a value may have which begins with this character. */
TCALL_SHARED_ uint8_t tcall_store_types_(char first)
{
    switch (first) {
    case '"': return TCALL_SHAPE_STRING;
    case '{': return TCALL_SHAPE_OBJECT;
    case '[': return TCALL_SHAPE_ARRAY;
    case 'n': return TCALL_SHAPE_NULL;
    case 't':
    case 'f': return TCALL_SHAPE_BOOLEAN;
    default: return TCALL_SHAPE_NUMBER | TCALL_SHAPE_INTEGER;
    }
}

/* Returns where the value is kept of a struct that begins at base, or NULL. */
TCALL_SHARED_ char *tcall_store_place_(const tcall_shape *shape, char *base)
{
    uint16_t offset = TCALL_FETCH_16_(&shape->offset);
    return base && offset != TCALL_NOWHERE ? base + offset : NULL;
}

/* ---- words ----
 *
 * A name or a word of a choice is compared in flash as it comes: the word that
 * agrees with all of it so far is also what the next one has to agree with.
 * They are tried in a circle.
 */

/* Begins to look for a word in a list of so many. */
TCALL_SHARED_ void tcall_words_begin_(tcall_words_ *words, const char *list,
                                      uint8_t count)
{
    words->list = list;
    words->word = count ? list : NULL;
    words->len = 0;
    words->index = 0;
    words->count = words->left = count;
}

/* Looks for another one, which goes on with this byte. */
static void tcall_words_other_(tcall_words_ *words, char c)
{
    const char *word = words->word;
    do {
        if (--words->left == 0) {
            words->word = NULL;
            return;
        }
        word = tcall_word_next_(word);
        if (++words->index == words->count) {
            words->index = 0;
            word = words->list;
        }
    } while (!tcall_word_agrees_(word, words->word, words->len) ||
             TCALL_BYTE_(word + words->len) != c);
    words->word = word;
}

/* Goes on with a part of what came. */
TCALL_SHARED_ void tcall_words_take_(tcall_words_ *words, const char *bytes,
                                     size_t len)
{
    const char *end = bytes + len;
    while (words->word) {
        const char *word = words->word + words->len, *from = bytes;
        for (; bytes < end && *bytes && TCALL_BYTE_(word) == *bytes; bytes++)
            word++;
        words->len += (size_t)(bytes - from);
        if (bytes == end)
            return;
        if (*bytes)
            tcall_words_other_(words, *bytes);
        else /* no word has it in it */
            words->word = NULL;
    }
}

/* Returns whether all that came is a word: the one at index. */
TCALL_SHARED_ bool tcall_words_end_(tcall_words_ *words)
{
    if (words->word && TCALL_BYTE_(words->word + words->len))
        tcall_words_other_(words, '\0');
    return words->word != NULL;
}

/* ---- texts ---- */

/* Stores a part of it, as far as there is room. */
TCALL_SHARED_ void tcall_store_text_(const tcall_shape *shape,
                                     tcall_text_into_ *text, const char *bytes,
                                     size_t len)
{
    uint16_t size = TCALL_FETCH_16_(&shape->size);
    size_t i;
    if (text->to && len < size && text->len < size - len)
        memcpy(text->to + text->len, bytes, len);
    for (i = 0; i < len; i++)
        text->followed += (bytes[i] & 0xC0) == 0x80;
    text->len = len < SIZE_MAX - text->len ? text->len + len : SIZE_MAX;
}

/* Ends it. Returns what is wrong with it, or TCALL_FITS. */
TCALL_SHARED_ uint8_t tcall_store_text_end_(const tcall_shape *shape,
                                            const tcall_text_into_ *text)
{
    size_t count = text->len - text->followed; /* of characters */
    if (count < (uint32_t)TCALL_FETCH_32_(&shape->low))
        return TCALL_MISFIT_MIN_LENGTH;
    if (count > (uint32_t)TCALL_FETCH_32_(&shape->high) &&
        !(TCALL_FETCH_8_(&shape->flags) & TCALL_MEMBER_UNSAID))
        return TCALL_MISFIT_MAX_LENGTH;
    if (text->to && text->len >= TCALL_FETCH_16_(&shape->size))
        return TCALL_MISFIT_ROOM;
    if (text->to)
        text->to[text->len] = '\0';
    return TCALL_FITS;
}

/* ---- numbers ---- */

/* A number in units of the last digit that counts. */
typedef struct tcall_units_ {
    tcall_int value; /* surplus digits are cut off; or the end of the range that
                        it is beyond */
    int rest;        /* the sign of what was left out, or 0 */
} tcall_units_;

/* Returns < 0, 0 or > 0. */
static int tcall_units_order_(const tcall_units_ *units, tcall_int bound)
{
    if (units->value != bound)
        return units->value < bound ? -1 : 1;
    return units->rest;
}

/* Returns which bound the number is beyond, or TCALL_FITS. Flags exclude a
 * bound. */
static uint8_t tcall_units_misfit_(const tcall_units_ *units, tcall_int low,
                                   tcall_int high, uint8_t flags)
{
    if (tcall_units_order_(units, low) < (flags & TCALL_MEMBER_OVER ? 1 : 0))
        return TCALL_MISFIT_MINIMUM;
    if (tcall_units_order_(units, high) > (flags & TCALL_MEMBER_UNDER ? -1 : 0))
        return TCALL_MISFIT_MAXIMUM;
    return TCALL_FITS;
}

#ifndef TOOLCALL_NO_INT64
bool tcall_store_double_(void *to, const struct tcall_num_ *number)
{
    return tcall_num_double_(number, to);
}

/* The same of an int64_t or a double. A double that has no bound on that side
 * may be beyond what millionths can say. */
static uint8_t tcall_wide_misfit_(const tcall_shape *shape,
                                  const tcall_units_ *units)
{
    TCALL_FETCH_(tcall_range, range,
                 TCALL_FETCH_POINTER_(const void *, &shape->more));
    bool minus = units->value < 0;
    if (range->store && units->value == (minus ? INT64_MIN : INT64_MAX) &&
        units->value == (minus ? range->low : range->high))
        return TCALL_FITS;
    return tcall_units_misfit_(units, range->low, range->high,
                               TCALL_FETCH_8_(&shape->flags));
}

/* Stores it. Returns false where there is no room for it. */
static bool tcall_wide_store_(const tcall_shape *shape,
                              const tcall_num_ *number,
                              const tcall_units_ *units, char *to)
{
    TCALL_FETCH_(tcall_range, range,
                 TCALL_FETCH_POINTER_(const void *, &shape->more));
    if (range->store)
        return range->store(to, number);
    memcpy(to, &units->value, sizeof units->value);
    return true;
}
#endif

/* Gives a number in the units of its shape, of a kind that stores numbers.
 * Returns which bound it is beyond, or TCALL_FITS. */
TCALL_SHARED_ uint8_t tcall_store_units_(const tcall_shape *shape,
                                         const tcall_num_ *number,
                                         tcall_units_ *units)
{
    tcall_num_whole_(number, TCALL_FETCH_8_(&shape->digits), &units->value,
                     &units->rest);
#ifndef TOOLCALL_NO_INT64
    if (TCALL_FETCH_8_(&shape->kind) != TCALL_KIND_INTEGER)
        return tcall_wide_misfit_(shape, units);
#endif
    return tcall_units_misfit_(units, TCALL_FETCH_32_(&shape->low),
                               TCALL_FETCH_32_(&shape->high), 0);
}

/* Stores it. Returns TCALL_FITS, or that there is no room for it. */
TCALL_SHARED_ uint8_t tcall_store_number_(const tcall_shape *shape,
                                          const tcall_num_ *number,
                                          const tcall_units_ *units, char *to)
{
    int32_t value = (int32_t)units->value;
#ifndef TOOLCALL_NO_INT64
    if (TCALL_FETCH_8_(&shape->kind) != TCALL_KIND_INTEGER)
        return tcall_wide_store_(shape, number, units, to) ? TCALL_FITS
                                                           : TCALL_MISFIT_ROOM;
#endif
    (void)shape;
    (void)number;
    memcpy(to, &value, sizeof value);
    return TCALL_FITS;
}

/* ---- members ----
 *
 * A struct begins with two sets of bits, one bit a member: those that have a
 * value, and those that came.
 */

/* Returns the set of those that came. */
TCALL_SHARED_ char *tcall_store_came_(const tcall_object *object, char *base)
{
    return base + (TCALL_FETCH_8_(&object->count) + 7) / 8;
}

/* Begins an object: no member has come. */
TCALL_SHARED_ void tcall_store_object_(const tcall_object *object, char *base)
{
    memset(base, 0, 2 * (size_t)(tcall_store_came_(object, base) - base));
}

/* A member comes. Returns false where it came before. */
TCALL_SHARED_ bool tcall_store_member_(const tcall_object *object, char *base,
                                       uint8_t index)
{
    char *came = tcall_store_came_(object, base) + index / 8;
    char bit = (char)(1 << index % 8);
    if (*came & bit)
        return false;
    *came = (char)(*came | bit);
    base[index / 8] = (char)(base[index / 8] | bit);
    return true;
}

/* A member that is null has no value. */
TCALL_SHARED_ void tcall_store_null_(char *base, uint8_t index)
{
    base[index / 8] = (char)(base[index / 8] & ~(1 << index % 8));
}

/* Returns how many bytes make a member what it is at first: of a text without
 * a default its NUL, of a list its count. */
static size_t tcall_store_initial_size_(const tcall_shape *member)
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

/* Ends a member of an object: one without a value becomes what it is at first.
 * Returns false where it is required and did not come. */
TCALL_SHARED_ bool tcall_store_member_end_(const tcall_object *object,
                                           char *base, uint8_t index)
{
    const tcall_shape *member =
        TCALL_FETCH_POINTER_(const tcall_shape *, &object->members) + index;
    char *to = tcall_store_place_(member, base);
    const char *initial = TCALL_FETCH_POINTER_(const char *, &object->initial);
    if (TCALL_BIT_OF_(base, index))
        return true;
    if (to)
        TCALL_COPY_(to, initial + (to - base),
                    tcall_store_initial_size_(member));
    return !(TCALL_FETCH_8_(&member->flags) & TCALL_MEMBER_REQUIRED) ||
           TCALL_BIT_OF_(tcall_store_came_(object, base), index);
}
