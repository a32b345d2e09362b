#pragma once
#include "read.h"
#include "shape.c"
#include "syntax.c"

/* ==========================================================================
 * >>read
 *
 * What a value does to its place: it is compared, checked and stored, kind by
 * kind. The machine does the same; the decoder below keeps no text, and what
 * has no shape, or is not in its place, it does not ask for.
 */

/* For values that are read over. */
static const tcall_shape tcall_any_ TCALL_FLASH_ = {
    TCALL_SHAPE_ANY, TCALL_KIND_ANY, 0, 0, 0, TCALL_NOWHERE, 0, 0, NULL};

/* An object that only its tcall_object describes. */
static const tcall_shape tcall_root_ TCALL_FLASH_ = {
    TCALL_SHAPE_OBJECT, TCALL_KIND_OBJECT, 0, 0, 0, 0, 0, 0, NULL};

/* Returns the types that a value may have which begins with this character. */
TCALL_SHARED_ uint8_t tcall_types_from_(char first)
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

/* The same of an int64_t or a double, which is stored if it fits. A double that
 * has no bound on that side may be beyond what millionths can say. */
static uint8_t tcall_place_wide_(const tcall_place_ *place,
                                 const tcall_num_ *number,
                                 const tcall_units_ *units)
{
    const tcall_shape *shape = (const tcall_shape *)place->what;
    TCALL_FETCH_(tcall_range, range,
                 TCALL_FETCH_POINTER_(const void *, &shape->more));
    bool minus = units->value < 0;
    uint8_t code = TCALL_FITS;
    if (!range->store || units->value != (minus ? INT64_MIN : INT64_MAX) ||
        units->value != (minus ? range->low : range->high))
        code = tcall_units_misfit_(units, range->low, range->high,
                                   TCALL_FETCH_8_(&shape->flags));
    if (code || !place->base)
        return code;
    if (range->store)
        return range->store(place->base, number) ? TCALL_FITS
                                                 : TCALL_MISFIT_ROOM;
    memcpy(place->base, &units->value, sizeof units->value);
    return TCALL_FITS;
}
#endif

/* A number is complete: it is checked and stored in the units of its shape.
 * Returns what is wrong with it. */
static uint8_t tcall_place_number_(const tcall_place_ *place,
                                   const tcall_num_ *number,
                                   tcall_units_ *units)
{
    const tcall_shape *shape = (const tcall_shape *)place->what;
    int32_t value;
    tcall_num_whole_(number, TCALL_FETCH_8_(&shape->digits), &units->value,
                     &units->rest);
#ifndef TOOLCALL_NO_INT64
    if (TCALL_FETCH_8_(&shape->kind) != TCALL_KIND_INTEGER)
        return tcall_place_wide_(place, number, units);
#endif
    value = (int32_t)units->value;
    if (place->base)
        memcpy(place->base, &value, sizeof value);
    return tcall_units_misfit_(units, TCALL_FETCH_32_(&shape->low),
                               TCALL_FETCH_32_(&shape->high), 0);
}

/* ---- members ----
 *
 * A struct begins with two sets of bits, one bit a member: those that have a
 * value, and those that came.
 */

/* Returns the set of those that came. */
static char *tcall_store_came_(const tcall_object *object, char *base)
{
    return base + (TCALL_FETCH_8_(&object->count) + 7) / 8;
}

/* Begins an object: no member has come. */
static void tcall_store_object_(const tcall_object *object, char *base)
{
    memset(base, 0, 2 * (size_t)(tcall_store_came_(object, base) - base));
}

/* A member comes. Returns false where it came before. */
static bool tcall_store_member_(const tcall_object *object, char *base,
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

/* Returns where a value is kept of a struct that begins at base, or NULL. */
static char *tcall_store_place_(const tcall_shape *shape, char *base)
{
    uint16_t offset = TCALL_FETCH_16_(&shape->offset);
    return base && offset != TCALL_NOWHERE ? base + offset : NULL;
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
static bool tcall_store_member_end_(const tcall_object *object, char *base,
                                    uint8_t index)
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

/* ---- values ---- */

/* A value with a shape comes next, in a struct that begins at base. */
static void tcall_place_set_(tcall_place_ *place, const tcall_shape *shape,
                             char *base)
{
    place->what = shape;
    place->base = tcall_store_place_(shape, base);
}

/* Returns the kind of its shape. */
TCALL_SHARED_ uint8_t tcall_place_kind_(const tcall_place_ *place)
{
    return TCALL_FETCH_8_(&((const tcall_shape *)place->what)->kind);
}

/* Gives the place of the member at hand, if any. */
static void tcall_place_at_(const tcall_place_ *around, tcall_place_ *place)
{
    const tcall_object *object = (const tcall_object *)around->what;
    place->what = NULL;
    if (around->index != TCALL_NO_MEMBER_)
        tcall_place_set_(
            place,
            TCALL_FETCH_POINTER_(const tcall_shape *, &object->members) +
                around->index,
            around->base);
}

/* A name is complete: its member comes next. Returns what is wrong with it. */
static uint8_t tcall_place_member_(tcall_place_ *around, tcall_fit_ *fit)
{
    const tcall_object *object = (const tcall_object *)around->what;
    tcall_words_ *words = &fit->now.words;
    around->index = TCALL_NO_MEMBER_;
    fit->place->what = NULL;
    fit->next = NULL;
    if (!tcall_words_end_(words))
        return TCALL_FETCH_8_(&object->open) ? TCALL_FITS
                                             : TCALL_MISFIT_UNKNOWN;
    around->index = words->index;
    fit->next = words->word + words->len + 1;
    if (!tcall_store_member_(object, around->base, words->index))
        return TCALL_MISFIT_DUPLICATE;
    tcall_place_at_(around, fit->place);
    return TCALL_FITS;
}

/* An item of a list comes next; those behind the last that it may have have no
 * shape. Returns what is wrong with the list: only the first one too many is.
 */
static uint8_t tcall_place_item_(tcall_place_ *around, tcall_place_ *place)
{
    const tcall_shape *list = (const tcall_shape *)around->what;
    uint16_t most = (uint16_t)TCALL_FETCH_32_(&list->high);
    char *base = around->base;
    place->what = NULL;
    if (around->index != TCALL_NO_MEMBER_ - 1) /* and then all are one */
        around->index++;
    if (around->index == most)
        return TCALL_FETCH_8_(&list->flags) & TCALL_MEMBER_UNSAID
                   ? TCALL_MISFIT_ROOM
                   : TCALL_MISFIT_MAX_ITEMS;
    if (around->index > most)
        return TCALL_FITS;
    if (base)
        base += TCALL_FETCH_8_(&list->digits) +
                (size_t)around->index * TCALL_FETCH_16_(&list->size);
    tcall_place_set_(
        place, TCALL_FETCH_POINTER_(const tcall_shape *, &list->more), base);
    return TCALL_FITS;
}

/* An object is complete: looks after the members that were not given, from
 * behind the one at hand. Returns whether one is missing, which is at hand
 * then. */
static bool tcall_place_lacks_(tcall_place_ *place)
{
    const tcall_object *object = (const tcall_object *)place->what;
    while (++place->index < TCALL_FETCH_8_(&object->count))
        if (!tcall_store_member_end_(object, place->base,
                                     (uint8_t)place->index))
            return true;
    return false;
}

/* Takes the member at hand back, if it may be absent. Returns its name, a word
 * in flash, or NULL. */
TCALL_SHARED_ const char *tcall_place_drop_(const tcall_place_ *around)
{
    const tcall_object *object = (const tcall_object *)around->what;
    uint8_t index = (uint8_t)around->index;
    tcall_place_ member;
    tcall_place_at_(around, &member);
    if (!member.what ||
        TCALL_FETCH_8_(&((const tcall_shape *)member.what)->flags) &
            TCALL_MEMBER_REQUIRED)
        return NULL;
    tcall_store_null_(around->base, index);
    tcall_store_null_(tcall_store_came_(object, around->base), index);
    return tcall_word_at_(TCALL_FETCH_POINTER_(const char *, &object->names),
                          index);
}

/* A list is complete. Returns what is wrong with it. */
static uint8_t tcall_place_list_(const tcall_place_ *place)
{
    const tcall_shape *list = (const tcall_shape *)place->what;
    uint16_t count = (uint16_t)(place->index + 1);
    if (place->base)
        memcpy(place->base, &count, sizeof count);
    return count < (uint16_t)TCALL_FETCH_32_(&list->low)
               ? TCALL_MISFIT_MIN_ITEMS
               : TCALL_FITS;
}

/* A member that is null has no value. */
static void tcall_place_null_(const tcall_place_ *place, bool object)
{
    const tcall_place_ *around = place - 1;
    if (object)
        tcall_store_null_(around->base, (uint8_t)around->index);
    else if (place->base) /* an item, which nothing else sets */
        memset(place->base, 0,
               TCALL_FETCH_16_(&((const tcall_shape *)around->what)->size));
}

/* A scalar begins with this character. */
static void tcall_place_begin_(tcall_fit_ *fit, bool object, char first)
{
    const tcall_place_ *place = fit->place;
    const tcall_shape *shape = (const tcall_shape *)place->what;
    uint8_t kind = TCALL_FETCH_8_(&shape->kind);
    fit->length = fit->followed = 0;
    fit->nul = false;
    if (first == 'n' && fit->levels && kind != TCALL_KIND_JSON &&
        TCALL_FETCH_8_(&shape->types) & TCALL_SHAPE_NULL)
        tcall_place_null_(place, object);
    else if (kind == TCALL_KIND_BOOLEAN && place->base)
        *place->base = first == 't';
    else if (kind == TCALL_KIND_CHOICE)
        tcall_words_begin_(&fit->now.words,
                           TCALL_FETCH_POINTER_(const char *, &shape->more),
                           (uint8_t)(TCALL_FETCH_32_(&shape->high) + 1));
}

/* Takes a part of a scalar. A text is stored, as far as there is room. */
TCALL_SHARED_ void tcall_fit_data_(tcall_fit_ *fit, const char *bytes,
                                   size_t len)
{
    const tcall_place_ *place = fit->place;
    uint8_t kind = tcall_place_kind_(place);
    uint16_t size = TCALL_FETCH_16_(&((const tcall_shape *)place->what)->size);
    size_t i;
    if (kind == TCALL_KIND_CHOICE)
        tcall_words_take_(&fit->now.words, bytes, len);
    if ((kind == TCALL_KIND_TEXT || kind == TCALL_KIND_JSON) && place->base &&
        len < size && fit->length < size - len)
        memcpy(place->base + fit->length, bytes, len);
    for (i = 0; i < len; i++)
        fit->followed += (bytes[i] & 0xC0) == 0x80;
    fit->nul = fit->nul || !*bytes;
    fit->length = len < SIZE_MAX - fit->length ? fit->length + len : SIZE_MAX;
}

/* A text is complete. Returns what is wrong with it. */
static uint8_t tcall_place_text_end_(const tcall_place_ *place,
                                     const tcall_fit_ *fit)
{
    const tcall_shape *shape = (const tcall_shape *)place->what;
    size_t count = fit->length - fit->followed; /* of characters */
    bool room = fit->length < TCALL_FETCH_16_(&shape->size);
    if (place->base) /* half a text is none */
        place->base[room ? fit->length : 0] = '\0';
    if (fit->nul && place->base) /* it ends a text in C */
        return TCALL_MISFIT_NUL;
    if (count < (uint32_t)TCALL_FETCH_32_(&shape->low))
        return TCALL_MISFIT_MIN_LENGTH;
    if (count > (uint32_t)TCALL_FETCH_32_(&shape->high) &&
        TCALL_FETCH_8_(&shape->kind) == TCALL_KIND_TEXT &&
        !(TCALL_FETCH_8_(&shape->flags) & TCALL_MEMBER_UNSAID))
        return TCALL_MISFIT_MAX_LENGTH;
    return place->base && !room ? TCALL_MISFIT_ROOM : TCALL_FITS;
}

/* A word is complete. Returns what is wrong with it. */
static uint8_t tcall_place_choice_(const tcall_place_ *place,
                                   tcall_words_ *words)
{
    bool is = tcall_words_end_(words);
    if (place->base)
        *place->base = (char)(is ? words->index : 255);
    return is || TCALL_FETCH_8_(&((const tcall_shape *)place->what)->flags) &
                       TCALL_MEMBER_OTHERS
               ? TCALL_FITS
               : TCALL_MISFIT_ENUM;
}

/* A scalar of these types is complete. Returns what is wrong with it; of a
 * number that is out of bounds also its units. */
static uint8_t tcall_place_ends_(tcall_fit_ *fit, uint8_t types,
                                 const tcall_num_ *number, tcall_units_ *units)
{
    const tcall_place_ *place = fit->place;
    uint8_t kind = tcall_place_kind_(place);
    if (!(TCALL_FETCH_8_(&((const tcall_shape *)place->what)->types) & types))
        return TCALL_MISFIT_TYPE;
    if (kind == TCALL_KIND_JSON ||
        (kind == TCALL_KIND_TEXT && types == TCALL_SHAPE_STRING))
        return tcall_place_text_end_(place, fit);
    if (kind == TCALL_KIND_CHOICE && types == TCALL_SHAPE_STRING)
        return tcall_place_choice_(place, &fit->now.words);
    if (kind >= TCALL_KIND_INTEGER && kind <= TCALL_KIND_NUMBER &&
        types & TCALL_SHAPE_NUMBER)
        return tcall_place_number_(place, number, units);
    return TCALL_FITS;
}

/* ---- a struct, as the recogniser tells of its text ---- */

/* Begins to fill the struct of an object. */
TCALL_SHARED_ void tcall_fit_init_(tcall_fit_ *fit, tcall_place_ *places,
                                   const tcall_shape *shape, void *out)
{
    fit->place = places;
    fit->types = TCALL_SHAPE_ANY;
    tcall_place_set_(places, shape, (char *)out);
}

/* Notes what is wrong, if anything is. */
static void tcall_fit_note_(tcall_syntax_ *s, uint8_t code, uint8_t levels)
{
    const tcall_fit_user_ *user =
        (const tcall_fit_user_ *)(const void *)s->user;
    if (code)
        TCALL_FETCH_POINTER_(tcall_note_, &user->note)(s, code, levels);
}

/* Returns whether the value of a name has a shape. Mostly the name is the one
 * after the last. */
TCALL_SHARED_ bool tcall_fit_name_(tcall_syntax_ *s, tcall_fit_ *fit,
                                   const char *name, size_t len, bool last)
{
    tcall_place_ *around = fit->place - 1;
    const tcall_object *object = (const tcall_object *)around->what;
    tcall_words_ *words = &fit->now.words;
    uint16_t after = (uint16_t)(around->index + 1);
    if (fit->types) {
        tcall_words_begin_(words,
                           TCALL_FETCH_POINTER_(const char *, &object->names),
                           TCALL_FETCH_8_(&object->count));
        if (fit->next && after < words->count) {
            words->word = fit->next;
            words->index = (uint8_t)after;
        }
    }
    fit->types = 0;
    tcall_words_take_(words, name, len);
    if (!last)
        return false;
    fit->types = TCALL_SHAPE_ANY;
    tcall_fit_note_(s, tcall_place_member_(around, fit), fit->levels);
    return fit->place->what != NULL;
}

/* A value comes next: an item finds its place now, a member has it. */
TCALL_SHARED_ void tcall_fit_next_(tcall_syntax_ *s, tcall_fit_ *fit)
{
    if (fit->levels && !s->object)
        tcall_fit_note_(s, tcall_place_item_(fit->place - 1, fit->place),
                        (uint8_t)(fit->levels - 1));
}

/* An object or list with a shape opens, and what is in it comes next. */
static void tcall_fit_opens_(tcall_fit_ *fit)
{
    tcall_place_ *place = fit->place;
    const tcall_shape *shape = (const tcall_shape *)place->what;
    fit->levels++;
    fit->place++;
    fit->next = NULL;
    place->index = TCALL_NO_MEMBER_; /* the first one comes next */
    if (TCALL_FETCH_8_(&shape->kind) != TCALL_KIND_OBJECT)
        return;
    place->what = TCALL_FETCH_POINTER_(const void *, &shape->more);
    if (!place->what)
        place->what = fit->object;
    tcall_store_object_((const tcall_object *)place->what, place->base);
}

/* A value begins with this character. Returns what is asked of it; what is
 * heard of as an object or list, has opened. */
TCALL_SHARED_ tcall_ask_ tcall_fit_begin_(tcall_syntax_ *s, tcall_fit_ *fit,
                                          char first, uint8_t most)
{
    const tcall_shape *shape = (const tcall_shape *)fit->place->what;
    uint8_t types = tcall_types_from_(first), kind;
    bool wrong, open = types & (TCALL_SHAPE_OBJECT | TCALL_SHAPE_ARRAY);
    if (!shape)
        return TCALL_SKIP_;
    kind = TCALL_FETCH_8_(&shape->kind);
    wrong = !(TCALL_FETCH_8_(&shape->types) & types);
    fit->types = types;
    open = open && (kind == TCALL_KIND_OBJECT || kind == TCALL_KIND_LIST);
    if (wrong &&
        !(fit->late && types & (TCALL_SHAPE_STRING | TCALL_SHAPE_NULL))) {
        tcall_fit_note_(s, TCALL_MISFIT_TYPE, fit->levels);
        return TCALL_SKIP_;
    }
    if (open && fit->levels == most) {
        tcall_fit_note_(s, TCALL_MISFIT_LEVELS, fit->levels);
        return TCALL_SKIP_;
    }
    if (open)
        tcall_fit_opens_(fit);
    else
        tcall_place_begin_(fit, s->object, first);
    if (kind == TCALL_KIND_JSON)
        return TCALL_RAW_;
    return open || wrong || types & (TCALL_SHAPE_STRING | TCALL_SHAPE_NUMBER)
               ? TCALL_HEAR_
               : TCALL_SKIP_;
}

/* The innermost object or list is complete. */
TCALL_SHARED_ void tcall_fit_closes_(tcall_syntax_ *s, tcall_fit_ *fit,
                                     bool object)
{
    tcall_place_ *place = fit->place - 1;
    uint8_t above = (uint8_t)(fit->levels - 1);
    if (object) {
        place->index = TCALL_NO_MEMBER_;
        while (tcall_place_lacks_(place))
            tcall_fit_note_(s, TCALL_MISFIT_REQUIRED, fit->levels);
    } else {
        tcall_fit_note_(s, tcall_place_list_(place), above);
    }
    fit->next = NULL;
    fit->levels = above;
    fit->place = place;
}

/* A scalar is complete. Returns what is wrong with it, which is noted. */
TCALL_SHARED_ uint8_t tcall_fit_ends_(tcall_syntax_ *s, tcall_fit_ *fit,
                                      uint8_t types, const tcall_num_ *number,
                                      tcall_units_ *units)
{
    uint8_t code = tcall_place_ends_(fit, types, number, units);
    tcall_fit_note_(s, code, fit->levels);
    return code;
}

/* ---- the decoder ---- */

/* A hole becomes an object. */
TCALL_SHARED_ const tcall_shape *
tcall_decoder_object_(tcall_decoder *decoder, const tcall_object *object)
{
    decoder->fit.object = object;
    return &tcall_root_;
}

/* Notes what is wrong, with the way to it. */
static void tcall_decoder_note_(tcall_syntax_ *s, uint8_t code, uint8_t levels)
{
    tcall_decoder *decoder = (tcall_decoder *)s;
    tcall_misfit *misfit = decoder->misfits;
    uint8_t i;
    decoder->error = TCALL_E_INVALID;
    if (decoder->misfit_count < 255)
        decoder->misfit_count++;
    if (decoder->misfit_count > TOOLCALL_MAX_FAULTS)
        return;
    misfit += decoder->misfit_count - 1;
    misfit->code = code;
    misfit->steps = levels;
    for (i = 0; i < levels; i++)
        misfit->trail[i] = decoder->places[i].index;
#if TOOLCALL_MISFIT_TEXT
    misfit->text_len = 0;
    if (code == TCALL_MISFIT_UNKNOWN || code == TCALL_MISFIT_ENUM)
        misfit->text_len = (uint8_t)(decoder->fit.length < TOOLCALL_MISFIT_TEXT
                                         ? decoder->fit.length
                                         : TOOLCALL_MISFIT_TEXT);
    memcpy(misfit->text, decoder->text, misfit->text_len);
#endif
}

/* Keeps the beginning of a name or word. */
static void tcall_decoder_keep_(tcall_decoder *decoder, const char *bytes,
                                size_t len)
{
    const size_t room = TOOLCALL_MISFIT_TEXT; /* which may be 0 */
    size_t i = decoder->fit.length;
    for (; len && i < room; len--)
        decoder->text[i++] = *bytes++;
}

static bool tcall_decoder_name_(tcall_syntax_ *s, const char *name, size_t len,
                                bool last)
{
    tcall_decoder *decoder = (tcall_decoder *)s;
    if (decoder->fit.types)
        decoder->fit.length = 0;
    tcall_decoder_keep_(decoder, name, len);
    decoder->fit.length += len;
    return tcall_fit_name_(s, &decoder->fit, name, len, last);
}

static tcall_ask_ tcall_decoder_begin_(tcall_syntax_ *s, char first)
{
    tcall_decoder *decoder = (tcall_decoder *)s;
    tcall_place_ *place = decoder->fit.place;
    const tcall_shape *shape;
    tcall_ask_ ask;
    tcall_fit_next_(s, &decoder->fit);
    if (place->what && decoder->hole &&
        tcall_place_kind_(place) == TCALL_KIND_HOLE) {
        shape = (const tcall_shape *)place->what;
        decoder->hole(decoder, &shape, &place->base);
        tcall_place_set_(place, shape, place->base);
    }
    ask = tcall_fit_begin_(s, &decoder->fit, first, TOOLCALL_SHAPE_LEVELS);
    if (decoder->fit.types & TCALL_SHAPE_NUMBER)
        memset(&decoder->fit.now.number, 0, sizeof decoder->fit.now.number);
    return ask;
}

/* Longer numbers, in bytes, are refused, so that places are counted in 16 bits;
 * greater exponents are no different from this one, which is beyond all of
 * them. */
#define TCALL_NUMBER_LENGTH_ 1024
#define TCALL_NUMBER_POWER_  3000

/* Takes a digit before the exponent. */
static void tcall_decoder_digit_(tcall_decoder *decoder, char c)
{
    tcall_numeral_ *number = &decoder->fit.now.number;
    if (c == '0' && !number->count) {
        number->places = (int16_t)(number->places - number->point);
        return;
    }
    number->places = (int16_t)(number->places + !number->point);
    if (number->count < TOOLCALL_NUMBER_DIGITS)
        decoder->text[number->count] = c;
    number->count++;
    if (c != '0')
        number->last = number->count;
}

/* Takes a byte of a number. */
static void tcall_decoder_number_(tcall_decoder *decoder, char c)
{
    tcall_numeral_ *number = &decoder->fit.now.number;
    if (c == '-' && number->exponent)
        number->under = true;
    else if (c == '-')
        number->minus = true;
    else if (c == '.')
        number->point = true;
    else if ((c | 0x20) == 'e')
        number->exponent = true;
    else if (tcall_is_digit_(c) && !number->exponent)
        tcall_decoder_digit_(decoder, c);
    else if (tcall_is_digit_(c) && number->power < TCALL_NUMBER_POWER_)
        number->power = (int16_t)(number->power * 10 + (c - '0'));
}

/* Returns the number that came. */
static tcall_num_ tcall_decoder_num_(const tcall_decoder *decoder)
{
    const tcall_numeral_ *number = &decoder->fit.now.number;
    tcall_num_ num = {NULL, NULL, 0, 0, number->minus, false};
    num.top =
        number->places - 1 + (number->under ? -number->power : number->power);
    if (!number->last)
        return num;
    num.cut = number->last > TOOLCALL_NUMBER_DIGITS;
    num.first = decoder->text;
    num.last =
        num.first + (num.cut ? TOOLCALL_NUMBER_DIGITS : number->last) - 1;
    num.sign = num.minus ? -1 : 1;
    return num;
}

static void tcall_decoder_data_(tcall_syntax_ *s, const char *bytes, size_t len)
{
    tcall_decoder *decoder = (tcall_decoder *)s;
    size_t i;
    if (decoder->fit.types & TCALL_SHAPE_NUMBER)
        for (i = 0; i < len && i + decoder->fit.length < TCALL_NUMBER_LENGTH_;
             i++)
            tcall_decoder_number_(decoder, bytes[i]);
    else
        tcall_decoder_keep_(decoder, bytes, len);
    tcall_fit_data_(&decoder->fit, bytes, len);
}

/* Whether a number came that is too long, and not merely kept as its text. */
static bool tcall_decoder_too_long_(const tcall_decoder *decoder)
{
    const tcall_shape *shape = (const tcall_shape *)decoder->fit.place->what;
    uint8_t kind = TCALL_FETCH_8_(&shape->kind);
    return decoder->fit.types & TCALL_SHAPE_NUMBER &&
           decoder->fit.length > TCALL_NUMBER_LENGTH_ &&
           (!(TCALL_FETCH_8_(&shape->types) & TCALL_SHAPE_NUMBER) ||
            (kind != TCALL_KIND_ANY && kind != TCALL_KIND_JSON));
}

/* A scalar is complete, or a value that is kept as its text. */
static void tcall_decoder_scalar_(tcall_syntax_ *s, tcall_decoder *decoder)
{
    uint8_t types = decoder->fit.types, code;
    tcall_misfit *misfit;
    tcall_units_ units = {0, 0};
    tcall_num_ number = {NULL, NULL, 0, 0, false, false};
    if (tcall_decoder_too_long_(decoder)) {
        tcall_decoder_note_(s, TCALL_MISFIT_ROOM, decoder->fit.levels);
        return;
    }
    if (types & TCALL_SHAPE_NUMBER)
        number = tcall_decoder_num_(decoder);
    if (number.sign && decoder->fit.now.number.last > number.top + 1)
        types = TCALL_SHAPE_NUMBER;
    code = tcall_fit_ends_(s, &decoder->fit, types, &number, &units);
    if ((code == TCALL_MISFIT_MINIMUM || code == TCALL_MISFIT_MAXIMUM) &&
        decoder->misfit_count <= TOOLCALL_MAX_FAULTS) {
        misfit = &decoder->misfits[decoder->misfit_count - 1];
        misfit->got = units.value < INT32_MIN   ? INT32_MIN
                      : units.value > INT32_MAX ? INT32_MAX
                                                : (int32_t)units.value;
        misfit->exact = !units.rest && misfit->got == units.value;
    }
}

static void tcall_decoder_ends_(tcall_syntax_ *s)
{
    tcall_decoder *decoder = (tcall_decoder *)s;
    if (s->depth < decoder->fit.levels)
        tcall_fit_closes_(s, &decoder->fit,
                          TCALL_BIT_OF_(s->open, s->depth) != 0);
    else
        tcall_decoder_scalar_(s, decoder);
}

static const tcall_fit_user_ tcall_decoder_user_ TCALL_FLASH_ = {
    {tcall_decoder_name_, tcall_decoder_begin_, tcall_decoder_data_,
     tcall_decoder_ends_},
    tcall_decoder_note_};

/* Ends the reading, if nothing has ended it yet. */
static void tcall_decoder_stop_(tcall_decoder *decoder, int error)
{
    if (decoder->syntax.error)
        return;
    decoder->syntax.error = decoder->error = error;
}

/* Returns an error of the recogniser as those who read are told. */
static int tcall_decoder_error_(int error)
{
    return error == TCALL_E_NUL || error < TCALL_E_DEPTH ? TCALL_E_BAD_VALUE
                                                         : error;
}

int tcall_decoder_feed(tcall_decoder *decoder, const char *bytes, size_t len)
{
    tcall_syntax_ *s = &decoder->syntax;
    size_t at = 0;
    if (s->error)
        return decoder->error;
    while (at < len && !s->error) /* it halts at the end of the object */
        at += tcall_syntax_feed_(s, bytes + at, len - at);
    decoder->at += at;
    if (s->error)
        decoder->error = tcall_decoder_error_(s->error);
    return decoder->error;
}

int tcall_decoder_end(tcall_decoder *decoder)
{
    if (decoder->syntax.state != TCALL_AT_DONE_)
        tcall_decoder_poison(decoder);
    return decoder->error;
}

void tcall_decoder_poison(tcall_decoder *decoder)
{
    tcall_decoder_stop_(decoder, TCALL_E_TRUNCATED);
}

void tcall_decoder_init(tcall_decoder *decoder, const tcall_object *shape,
                        void *out)
{
    memset(decoder, 0, sizeof *decoder);
    tcall_syntax_begin_(&decoder->syntax, &tcall_decoder_user_.syntax);
    decoder->fit.object = shape;
    tcall_fit_init_(&decoder->fit, decoder->places, &tcall_root_, out);
}
