#pragma once
#include "read.h"
#include "machine.c"

/* ==========================================================================
 * >>read
 *
 * What a value does to its place: it is compared, checked and stored, kind by
 * kind. A machine has the text of a value when it does so; the decoder keeps
 * none, and does not ask for what has no shape, or is not in its place.
 */

/* For values that are read over. */
static const tcall_shape tcall_any_ TCALL_FLASH_ = {
    TCALL_SHAPE_ANY, TCALL_KIND_ANY, 0, 0, 0, TCALL_NOWHERE, 0, 0, NULL};

/* An object that only its tcall_object describes. */
static const tcall_shape tcall_root_ TCALL_FLASH_ = {
    TCALL_SHAPE_OBJECT, TCALL_KIND_OBJECT, 0, 0, 0, 0, 0, 0, NULL};

/* ---- words ----
 *
 * A name or a word of a choice is compared in flash as it comes.
 */

/* Returns whether the first len bytes of two words are the same. */
static bool tcall_word_agrees_(const char *word, const char *other, size_t len)
{
    while (len && TCALL_BYTE_(word) == TCALL_BYTE_(other)) {
        word++;
        other++;
        len--;
    }
    return len == 0;
}

/* Looks for the first word that begins with what came and goes on with c. */
static void tcall_words_find_(tcall_words_ *words, size_t len, char c)
{
    const char *word = words->list;
    uint8_t i;
    for (i = 0; i < words->count; i++) {
        if (tcall_word_agrees_(word, words->word, len) &&
            TCALL_BYTE_(word + len) == c) {
            words->word = word;
            words->index = i;
            return;
        }
        word = tcall_word_next_(word);
    }
    words->word = NULL;
}

/* Goes on with a part of what came. */
static void tcall_words_take_(tcall_words_ *words, size_t came,
                              const char *bytes, size_t len)
{
    for (; words->word && len; len--, bytes++, came++) {
        if (!*bytes) /* no word has it in it */
            words->word = NULL;
        else if (TCALL_BYTE_(words->word + came) != *bytes)
            tcall_words_find_(words, came, *bytes);
    }
}

/* Returns whether all that came is a word: the one at index. */
static bool tcall_words_end_(tcall_words_ *words, size_t len)
{
    if (words->word && TCALL_BYTE_(words->word + len))
        tcall_words_find_(words, len, '\0');
    return words->word != NULL;
}

/* ---- members ----
 *
 * A struct begins with two sets of bits, one bit a member: those that have a
 * value, and those that came.
 */

/* Returns the set of those that came. */
TCALL_NOINLINE_ static char *tcall_came_(const tcall_object *object, char *base)
{
    return base + (TCALL_FETCH_8_(&object->count) + 7) / 8;
}

/* Puts a member into a set. Returns whether it was there before. */
TCALL_NOINLINE_ static bool tcall_bit_set_(char *set, uint16_t index)
{
    bool before = TCALL_BIT_OF_(set, index) != 0;
    set[index / 8] = (char)(set[index / 8] | 1 << index % 8);
    return before;
}

/* Takes a member out of a set. */
static void tcall_bit_clear_(char *set, uint16_t index)
{
    set[index / 8] = (char)(set[index / 8] & ~(1 << index % 8));
}

/* A value with a shape comes next, in a struct that begins at base. */
static void tcall_place_set_(tcall_place_ *place, const tcall_shape *shape,
                             char *base)
{
    uint16_t offset = TCALL_FETCH_16_(&shape->offset);
    place->what = shape;
    place->base = base && offset != TCALL_NOWHERE ? base + offset : NULL;
}

/* Returns the kind of its shape. */
static uint8_t tcall_place_kind_(const tcall_place_ *place)
{
    return TCALL_FETCH_8_(&((const tcall_shape *)place->what)->kind);
}

/* A name is complete: its member comes next. Returns what is wrong with it. */
static uint8_t tcall_fit_member_(tcall_fit_ *fit)
{
    tcall_place_ *around = fit->place - 1;
    const tcall_object *object = (const tcall_object *)around->what;
    const tcall_words_ *words = &fit->now.words;
    fit->place->what = NULL;
    fit->next = NULL;
    around->index = TCALL_NO_MEMBER_;
    if (!tcall_words_end_(&fit->now.words, fit->length))
        return TCALL_FETCH_8_(&object->open) ? TCALL_FITS
                                             : TCALL_MISFIT_UNKNOWN;
    around->index = words->index;
    if (words->index + 1 < words->count)
        fit->next = words->word + fit->length + 1;
    if (tcall_bit_set_(tcall_came_(object, around->base), words->index))
        return TCALL_MISFIT_DUPLICATE;
    tcall_bit_set_(around->base, words->index);
    tcall_place_set_(
        fit->place,
        TCALL_FETCH_POINTER_(const tcall_shape *, &object->members) +
            words->index,
        around->base);
    return TCALL_FITS;
}

/* ---- scalars ---- */

/* Returns which bound the number is beyond, or TCALL_FITS. Flags exclude a
 * bound. */
static uint8_t tcall_units_misfit_(const tcall_units_ *units, tcall_int low,
                                   tcall_int high, uint8_t flags)
{
    int rest = units->rest; /* what is excluded is as if less were there */
    if (units->value < low ||
        (units->value == low && rest - !!(flags & TCALL_MEMBER_OVER) < 0))
        return TCALL_MISFIT_MINIMUM;
    if (units->value > high ||
        (units->value == high && rest + !!(flags & TCALL_MEMBER_UNDER) > 0))
        return TCALL_MISFIT_MAXIMUM;
    return TCALL_FITS;
}

#ifndef TOOLCALL_NO_INT64
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

/* A text of so many characters is complete. Returns what is wrong with it. */
static uint8_t tcall_place_text_(const tcall_place_ *place,
                                 const tcall_fit_ *fit, size_t count)
{
    const tcall_shape *shape = (const tcall_shape *)place->what;
    bool room = fit->length < TCALL_FETCH_16_(&shape->size);
    if (place->base) /* half a text is none */
        place->base[room ? fit->length : 0] = '\0';
    if (fit->nul && place->base) /* it ends a text in C */
        return TCALL_MISFIT_NUL;
    if (count < (uint32_t)TCALL_FETCH_32_(&shape->low))
        return TCALL_MISFIT_MIN_LENGTH;
    if (count > (uint32_t)TCALL_FETCH_32_(&shape->high) &&
        !(TCALL_FETCH_8_(&shape->flags) & TCALL_MEMBER_UNSAID))
        return TCALL_MISFIT_MAX_LENGTH;
    return place->base && !room ? TCALL_MISFIT_ROOM : TCALL_FITS;
}

/* A word is complete. Returns what is wrong with it. */
static uint8_t tcall_place_choice_(const tcall_place_ *place, tcall_fit_ *fit)
{
    bool is = tcall_words_end_(&fit->now.words, fit->length);
    if (place->base)
        *place->base = (char)(is ? fit->now.words.index : 255);
    return is || TCALL_FETCH_8_(&((const tcall_shape *)place->what)->flags) &
                       TCALL_MEMBER_OTHERS
               ? TCALL_FITS
               : TCALL_MISFIT_ENUM;
}

/* ---- a struct, as the recogniser tells of its text ---- */

/* Begins to fill the struct of an object. */
static void tcall_fit_init_(tcall_fit_ *fit, tcall_place_ *places,
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
static bool tcall_fit_name_(tcall_syntax_ *s, tcall_fit_ *fit, const char *name,
                            size_t len, bool last)
{
    const tcall_place_ *around = fit->place - 1;
    const tcall_object *object = (const tcall_object *)around->what;
    tcall_words_ *words = &fit->now.words;
    if (fit->types) {
        words->list = TCALL_FETCH_POINTER_(const char *, &object->names);
        words->count = TCALL_FETCH_8_(&object->count);
        words->word = fit->next ? fit->next : words->list;
        words->index = fit->next ? (uint8_t)(around->index + 1) : 0;
        fit->types = 0;
        fit->length = 0;
    }
    tcall_words_take_(words, fit->length, name, len);
    fit->length += len;
    if (!last)
        return false;
    fit->types = TCALL_SHAPE_ANY;
    tcall_fit_note_(s, tcall_fit_member_(fit), fit->levels);
    return fit->place->what != NULL;
}

/* A value comes next: an item finds its place now, a member has it. Items
 * behind the last that a list may have have no shape; only the first of them is
 * noted. */
static void tcall_fit_next_(tcall_syntax_ *s, tcall_fit_ *fit)
{
    tcall_place_ *around = fit->place - 1;
    const tcall_shape *list;
    uint16_t most;
    if (!fit->levels || s->object)
        return;
    list = (const tcall_shape *)around->what;
    most = (uint16_t)TCALL_FETCH_32_(&list->high);
    fit->place->what = NULL;
    if (around->index == most)
        return;
    if (++around->index < most)
        tcall_place_set_(
            fit->place, TCALL_FETCH_POINTER_(const tcall_shape *, &list->more),
            around->base
                ? around->base + TCALL_FETCH_8_(&list->digits) +
                      (size_t)around->index * TCALL_FETCH_16_(&list->size)
                : NULL);
    else
        tcall_fit_note_(s,
                        TCALL_FETCH_8_(&list->flags) & TCALL_MEMBER_UNSAID
                            ? TCALL_MISFIT_ROOM
                            : TCALL_MISFIT_MAX_ITEMS,
                        (uint8_t)(fit->levels - 1));
}

/* An object or list opens, and what is in it comes next; a struct is what it is
 * at first. */
static void tcall_fit_opens_(tcall_fit_ *fit)
{
    tcall_place_ *place = fit->place++;
    const tcall_shape *shape = (const tcall_shape *)place->what;
    const tcall_object *object = fit->object;
    fit->levels++;
    fit->next = NULL;
    place->index = TCALL_NO_MEMBER_; /* the first one comes next */
    if (TCALL_FETCH_8_(&shape->kind) != TCALL_KIND_OBJECT)
        return;
    if (TCALL_FETCH_POINTER_(const void *, &shape->more))
        object = TCALL_FETCH_POINTER_(const tcall_object *, &shape->more);
    place->what = object;
    TCALL_COPY_(place->base,
                TCALL_FETCH_POINTER_(const void *, &object->initial),
                TCALL_FETCH_16_(&object->size));
}

/* A value of these types begins. Returns what is asked of it; what is heard of
 * as an object or list, has opened. A scalar of a wrong type shows at its end:
 * it may mean another one. */
static tcall_ask_ tcall_fit_begin_(tcall_syntax_ *s, tcall_fit_ *fit,
                                   uint8_t types, uint8_t most)
{
    const tcall_shape *shape = (const tcall_shape *)fit->place->what;
    uint8_t kind, wrong = TCALL_FITS;
    bool shaped;
    fit->types = types;
    fit->length = 0;
    fit->nul = false;
    memset(&fit->now, 0, sizeof fit->now);
    if (!shape)
        return TCALL_SKIP_;
    kind = TCALL_FETCH_8_(&shape->kind);
    if (types & (TCALL_SHAPE_OBJECT | TCALL_SHAPE_ARRAY)) {
        shaped = kind == TCALL_KIND_OBJECT || kind == TCALL_KIND_LIST;
        if (!(TCALL_FETCH_8_(&shape->types) & types))
            wrong = TCALL_MISFIT_TYPE;
        else if (shaped && fit->levels == most)
            wrong = TCALL_MISFIT_LEVELS;
        tcall_fit_note_(s, wrong, fit->levels);
        if (wrong || !(shaped || kind == TCALL_KIND_JSON))
            return TCALL_SKIP_;
        if (shaped)
            tcall_fit_opens_(fit);
    }
    if (kind == TCALL_KIND_CHOICE && types == TCALL_SHAPE_STRING) {
        fit->now.words.word = fit->now.words.list =
            TCALL_FETCH_POINTER_(const char *, &shape->more);
        fit->now.words.count = (uint8_t)(TCALL_FETCH_32_(&shape->high) + 1);
    }
    return kind == TCALL_KIND_JSON ? TCALL_RAW_ : TCALL_HEAR_;
}

/* Takes a part of a scalar. A text is stored, as far as there is room. */
static void tcall_fit_data_(tcall_fit_ *fit, const char *bytes, size_t len)
{
    const tcall_place_ *place = fit->place;
    uint8_t kind = tcall_place_kind_(place);
    uint16_t size = TCALL_FETCH_16_(&((const tcall_shape *)place->what)->size);
    bool string = fit->types == TCALL_SHAPE_STRING;
    if (kind == TCALL_KIND_CHOICE && string)
        tcall_words_take_(&fit->now.words, fit->length, bytes, len);
    if ((kind == TCALL_KIND_JSON || (kind == TCALL_KIND_TEXT && string)) &&
        place->base && len < size && fit->length < size - len)
        memcpy(place->base + fit->length, bytes, len);
    fit->nul = fit->nul || !*bytes;
    fit->length = len < SIZE_MAX - fit->length ? fit->length + len : SIZE_MAX;
}

/* The value at hand is null: a member has no value then. An item is zero. */
static void tcall_place_null_(const tcall_place_ *place, bool object)
{
    const tcall_place_ *around = place - 1;
    if (object)
        tcall_bit_clear_(around->base, around->index);
    else if (place->base)
        memset(place->base, 0,
               TCALL_FETCH_16_(&((const tcall_shape *)around->what)->size));
}

/* A scalar of these types is complete, or a value that is kept as its text: it
 * is checked and stored. Returns what is wrong with it. */
TCALL_NOINLINE_ static uint8_t tcall_fit_ends_(const tcall_syntax_ *s,
                                               tcall_fit_ *fit, uint8_t types,
                                               const tcall_num_ *number)
{
    const tcall_place_ *place = fit->place;
    uint8_t kind = tcall_place_kind_(place);
    bool json = kind == TCALL_KIND_JSON;
    if (!(TCALL_FETCH_8_(&((const tcall_shape *)place->what)->types) & types)) {
        if (json && place->base)
            *place->base = '\0';
        return TCALL_MISFIT_TYPE;
    }
    if (json)
        return tcall_place_text_(place, fit, fit->length);
    if (types == TCALL_SHAPE_NULL)
        tcall_place_null_(place, s->object);
    else if (kind == TCALL_KIND_BOOLEAN && place->base)
        *place->base = s->within == TCALL_N_TRUE_;
    else if (kind == TCALL_KIND_TEXT)
        return tcall_place_text_(place, fit, fit->length - s->followed);
    else if (kind == TCALL_KIND_CHOICE)
        return tcall_place_choice_(place, fit);
    else if (kind >= TCALL_KIND_INTEGER && kind <= TCALL_KIND_NUMBER)
        return tcall_place_number_(place, number, &fit->now.units);
    return TCALL_FITS;
}

/* The innermost object or list is complete. */
static void tcall_fit_closes_(tcall_syntax_ *s, tcall_fit_ *fit, bool is_object)
{
    tcall_place_ *place = fit->place - 1;
    uint8_t above = (uint8_t)(fit->levels - 1);
    if (is_object) {
        const tcall_object *object = (const tcall_object *)place->what;
        const tcall_shape *member =
            TCALL_FETCH_POINTER_(const tcall_shape *, &object->members);
        const char *came = tcall_came_(object, place->base);
        const uint8_t count = TCALL_FETCH_8_(&object->count);
        for (place->index = 0; place->index < count; place->index++, member++)
            if (TCALL_FETCH_8_(&member->flags) & TCALL_MEMBER_REQUIRED &&
                !TCALL_BIT_OF_(came, place->index))
                tcall_fit_note_(s, TCALL_MISFIT_REQUIRED, fit->levels);
    } else {
        const tcall_shape *list = (const tcall_shape *)place->what;
        const uint16_t count = (uint16_t)(place->index + 1);
        if (place->base)
            memcpy(place->base, &count, sizeof count);
        if (count < (uint16_t)TCALL_FETCH_32_(&list->low))
            tcall_fit_note_(s, TCALL_MISFIT_MIN_ITEMS, above);
    }
    fit->next = NULL;
    fit->levels = above;
    fit->place = place;
}

/* ---- a machine that fills a struct ----
 *
 * The shape is for values that lie in its own objects and lists alone: as many
 * as are open there are open in the text, too.
 */

static bool tcall_shaped_(const tcall_machine *m)
{
    return m->syntax.depth == m->fit->levels;
}

/* A value begins: an object or list of its own opens. */
static void tcall_shaped_begins_(tcall_machine *m)
{
    if (!m->syntax.depth) {
        m->fit = (tcall_fit_ *)(void *)m->slot;
        memset(m->fit, 0, sizeof *m->fit);
        m->fit->object = m->is->target.object;
        tcall_fit_init_(m->fit, (tcall_place_ *)(void *)(m->fit + 1),
                        &tcall_root_, m->is->target.out);
    }
    if (!tcall_shaped_(m))
        return;
    if (!m->inner)
        tcall_fit_next_(&m->syntax, m->fit);
    m->heard = m->fit->place->what != NULL;
    if (tcall_machine_is_container_(m->types))
        m->heard = tcall_fit_begin_(&m->syntax, m->fit, m->types, UINT8_MAX) !=
                   TCALL_SKIP_;
}

/* A name is complete: the words of the object are searched for it. */
static bool tcall_shaped_name_(tcall_machine *m)
{
    tcall_text_bytes_ bytes = tcall_text_bytes_of_(m->text + m->token);
    if (!tcall_shaped_(m))
        return false;
    do {
        tcall_str run = tcall_text_run_(&bytes);
        tcall_fit_name_(&m->syntax, m->fit, run.ptr, run.len,
                        bytes.at == bytes.end);
    } while (bytes.at < bytes.end);
    return (m->fit->place - 1)->index != TCALL_NO_MEMBER_;
}

/* A value is complete: an object or list closes, what else has a shape is
 * checked and stored. */
static void tcall_shaped_ends_(tcall_machine *m, uint8_t types)
{
    tcall_str text = tcall_machine_hand_(m), run;
    tcall_text_bytes_ bytes = tcall_text_bytes_in_(text);
    tcall_num_ number = {NULL, NULL, 0, 0, 0, false};
    tcall_ask_ ask = TCALL_RAW_;
    if (m->syntax.depth < m->fit->levels) {
        tcall_fit_closes_(&m->syntax, m->fit, types == TCALL_SHAPE_OBJECT);
        return;
    }
    if (!tcall_shaped_(m) || !m->heard)
        return;
    if (!tcall_machine_is_container_(types)) /* else it has begun */
        ask = tcall_fit_begin_(&m->syntax, m->fit, types, UINT8_MAX);
    if (types == TCALL_SHAPE_STRING && ask != TCALL_RAW_)
        bytes = tcall_text_bytes_of_(text.ptr);
    if (types & TCALL_SHAPE_NUMBER)
        number = tcall_num_read_(text);
    while ((run = tcall_text_run_(&bytes)).len > 0)
        tcall_fit_data_(m->fit, run.ptr, run.len);
    tcall_fit_note_(&m->syntax,
                    tcall_fit_ends_(&m->syntax, m->fit, types, &number),
                    m->fit->levels);
}

static uint8_t tcall_shaped_admitted_(tcall_machine *m)
{
    const tcall_shape *shape = (const tcall_shape *)m->fit->place->what;
    uint8_t types;
    if (!tcall_shaped_(m) || !m->heard)
        return TCALL_SHAPE_ANY;
    types = TCALL_FETCH_8_(&shape->types);
    return types & TCALL_SHAPE_NUMBER ? types | TCALL_SHAPE_INTEGER : types;
}

/* The member at hand may be absent where it is not required. */
static const char *tcall_shaped_drop_(tcall_machine *m)
{
    const tcall_place_ *around = m->fit->place - 1;
    const tcall_object *object = (const tcall_object *)around->what;
    const tcall_shape *members =
        TCALL_FETCH_POINTER_(const tcall_shape *, &object->members);
    uint16_t index = around->index;
    if (index == TCALL_NO_MEMBER_ ||
        TCALL_FETCH_8_(&members[index].flags) & TCALL_MEMBER_REQUIRED)
        return NULL;
    tcall_bit_clear_(around->base, index);
    tcall_bit_clear_(tcall_came_(object, around->base), index);
    return tcall_word_at_(TCALL_FETCH_POINTER_(const char *, &object->names),
                          index);
}

TCALL_DATA_ const tcall_rows tcall_shape_rows = {
    tcall_shaped_begins_, tcall_shaped_name_, tcall_shaped_ends_,
    tcall_shaped_admitted_, tcall_shaped_drop_};

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
    if (code == TCALL_MISFIT_MINIMUM || code == TCALL_MISFIT_MAXIMUM) {
        const tcall_units_ *units = &decoder->fit.now.units;
        misfit->got = units->value < INT32_MIN   ? INT32_MIN
                      : units->value > INT32_MAX ? INT32_MAX
                                                 : (int32_t)units->value;
        misfit->exact = !units->rest && misfit->got == units->value;
    }
#if TOOLCALL_MISFIT_TEXT
    misfit->text_len = 0;
    if (code == TCALL_MISFIT_UNKNOWN || code == TCALL_MISFIT_ENUM)
        misfit->text_len = (uint8_t)(decoder->fit.length < TOOLCALL_MISFIT_TEXT
                                         ? decoder->fit.length
                                         : TOOLCALL_MISFIT_TEXT);
    memcpy(misfit->text, decoder->text, misfit->text_len);
#endif
}

/* Keeps the beginning of a name or word, of which so much came. */
static void tcall_decoder_keep_(tcall_decoder *decoder, size_t came,
                                const char *bytes, size_t len)
{
    const size_t room = TOOLCALL_MISFIT_TEXT; /* which may be 0 */
    for (; len && came < room; len--)
        decoder->text[came++] = *bytes++;
}

static bool tcall_decoder_name_(tcall_syntax_ *s, const char *name, size_t len,
                                bool last)
{
    tcall_decoder *decoder = (tcall_decoder *)s;
    tcall_fit_ *fit = &decoder->fit;
    tcall_decoder_keep_(decoder, fit->types ? 0 : fit->length, name, len);
    return tcall_fit_name_(s, fit, name, len, last);
}

static tcall_ask_ tcall_decoder_begin_(tcall_syntax_ *s, char first)
{
    tcall_decoder *decoder = (tcall_decoder *)s;
    tcall_place_ *place = decoder->fit.place;
    (void)first;
    tcall_fit_next_(s, &decoder->fit);
    if (place->what && decoder->hole &&
        tcall_place_kind_(place) == TCALL_KIND_HOLE) {
        const tcall_shape *shape = (const tcall_shape *)place->what;
        decoder->hole(decoder, &shape, &place->base);
        tcall_place_set_(place, shape, place->base);
    }
    return tcall_fit_begin_(s, &decoder->fit, s->types, TOOLCALL_SHAPE_LEVELS);
}

/* Longer numbers, in bytes, are refused, so that places are counted in 16 bits;
 * greater exponents are no different from this one, which is beyond all of
 * them. */
#define TCALL_NUMBER_LENGTH_ 1024
#define TCALL_NUMBER_POWER_  3000
/* No middle of two doubles has so many digits. */
#define TCALL_EVERY_DIGIT_ 769

/* Takes a byte of a number, whose first digits are kept. */
static void tcall_numeral_take_(tcall_numeral_ *number, char *digits, char c)
{
    if (c == '.') {
        number->point = true;
    } else if ((c | 0x20) == 'e') {
        number->exponent = true;
    } else if (number->exponent) {
        if (c == '-')
            number->under = true;
        else if (c != '+' && number->power < TCALL_NUMBER_POWER_)
            number->power = number->power * 10 + (c - '0');
    } else if (c == '-') {
        number->minus = true;
    } else if (c == '0' && !number->count) {
        number->places -= number->point;
    } else {
        number->places += !number->point;
        if (number->count < TOOLCALL_NUMBER_DIGITS)
            digits[number->count] = c;
        number->count++;
        if (c != '0')
            number->last = number->count;
    }
}

static void tcall_decoder_data_(tcall_syntax_ *s, const char *bytes, size_t len)
{
    tcall_decoder *decoder = (tcall_decoder *)s;
    size_t i;
    if (!(decoder->fit.types & TCALL_SHAPE_NUMBER))
        tcall_decoder_keep_(decoder, decoder->fit.length, bytes, len);
    else
        for (i = 0; i < len && i + decoder->fit.length < TCALL_NUMBER_LENGTH_;
             i++)
            tcall_numeral_take_(&decoder->fit.now.number, decoder->text,
                                bytes[i]);
    tcall_fit_data_(&decoder->fit, bytes, len);
}

#ifndef TOOLCALL_NO_INT64
/* Whether digits that were cut off decide between two doubles: the last one
 * that is kept stands for them, once for less and once for more than they are.
 */
static bool tcall_decoder_torn_(tcall_decoder *decoder, const tcall_num_ *num)
{
    double least = 0, most = 0;
    decoder->text[TOOLCALL_NUMBER_DIGITS - 1] = '0';
    tcall_num_double_(num, &least);
    decoder->text[TOOLCALL_NUMBER_DIGITS - 1] = '9' + 1; /* a digit of ten */
    tcall_num_double_(num, &most);
    return memcmp(&least, &most, sizeof least) != 0;
}
#endif

/* A scalar is complete, or a value that is kept as its text. */
static void tcall_decoder_scalar_(tcall_syntax_ *s, tcall_decoder *decoder)
{
    tcall_fit_ *fit = &decoder->fit;
    const tcall_numeral_ *number = &fit->now.number;
    const uint8_t kind = tcall_place_kind_(fit->place);
    const bool cut = fit->types & TCALL_SHAPE_NUMBER &&
                     number->last > TOOLCALL_NUMBER_DIGITS;
    uint8_t types = fit->types, code;
    tcall_num_ num = {NULL, NULL, 0, 0, 0, false};
    if (types & TCALL_SHAPE_NUMBER) {
        int kept = cut ? TOOLCALL_NUMBER_DIGITS : number->last;
        num.minus = number->minus;
        num.top = number->places - 1 +
                  (number->under ? -number->power : number->power);
        if (kept) {
            num.first = decoder->text;
            num.last = num.first + kept - 1;
            num.low = num.top - kept + 1;
            num.sign = num.minus ? -1 : 1;
        }
        if (cut) /* a digit for all that follow: they are not 0 */
            decoder->text[kept - 1] = '1';
        if (number->last > num.top + 1)
            types = TCALL_SHAPE_NUMBER;
    }
    code = tcall_fit_ends_(s, fit, types, &num);
    if (types & TCALL_SHAPE_NUMBER && fit->length > TCALL_NUMBER_LENGTH_ &&
        kind != TCALL_KIND_ANY && kind != TCALL_KIND_JSON)
        code = TCALL_MISFIT_ROOM;
#ifndef TOOLCALL_NO_INT64
    if (TOOLCALL_NUMBER_DIGITS < TCALL_EVERY_DIGIT_ && cut && !code &&
        kind == TCALL_KIND_NUMBER && tcall_decoder_torn_(decoder, &num))
        code = TCALL_MISFIT_ROOM;
#endif
    tcall_fit_note_(s, code, fit->levels);
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
        decoder->error =
            (int16_t)(s->error == TCALL_E_NUL || s->error < TCALL_E_DEPTH
                          ? TCALL_E_BAD_VALUE
                          : s->error);
    return decoder->error;
}

int tcall_decoder_end(tcall_decoder *decoder)
{
    tcall_syntax_ *s = &decoder->syntax;
    if (!s->error && tcall_syntax_end_(s) < 0)
        decoder->error = (int16_t)s->error;
    return decoder->error;
}

void tcall_decoder_poison(tcall_decoder *decoder)
{
    if (!decoder->syntax.error)
        decoder->syntax.error = decoder->error = TCALL_E_TRUNCATED;
}

void tcall_decoder_init(tcall_decoder *decoder, const tcall_object *shape,
                        void *out)
{
    memset(decoder, 0, sizeof *decoder);
    tcall_syntax_begin_(&decoder->syntax, &tcall_decoder_user_.syntax);
    decoder->fit.object = shape;
    tcall_fit_init_(&decoder->fit, decoder->places, &tcall_root_, out);
}
