#pragma once
#include "read.h"
#include "syntax.c"
#include "store.c"

/* ==========================================================================
 * >>read
 *
 * The recogniser tells of the members and items of open objects and lists that
 * have a shape, the levels. What has none, or is not in its place, is not asked
 * for: it is recognised and nothing else.
 */

/* What becomes of the value that is read, as a set. */
enum {
    TCALL_INTO_TEXT_ = 1,
    TCALL_INTO_CHOICE_ = 2,
    TCALL_INTO_NUMBER_ = 4,
    TCALL_INTO_JSON_ = 8,
    TCALL_INTO_NAME_ = 16 /* it is the name of a value */
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

/* Notes a misfit of the value that the first levels lead to. Returns it, or
 * NULL when there is no room for it. */
static tcall_misfit *tcall_read_note_(tcall_decoder *decoder, uint8_t code,
                                      uint8_t levels)
{
    tcall_misfit *misfit = NULL;
    uint8_t i;
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

/* Notes a misfit of the value that is read, if there is one. */
static tcall_misfit *tcall_read_misfit_(tcall_decoder *decoder, uint8_t code)
{
    return code ? tcall_read_note_(decoder, code, decoder->levels) : NULL;
}

/* Returns where the value that is read is kept, or NULL. */
static char *tcall_read_place_(const tcall_decoder *decoder)
{
    return tcall_store_place_(decoder->shape, decoder->base);
}

/* ---- names and words ---- */

static void tcall_read_words_(tcall_decoder *decoder, uint8_t into,
                              const char *list, uint8_t count)
{
    decoder->into = into;
#if TOOLCALL_MISFIT_TEXT
    decoder->now.words.kept = 0;
#endif
    tcall_words_begin_(&decoder->now.words, list, count);
}

/* A part of a name or word. */
static void tcall_read_word_(tcall_decoder *decoder, const char *bytes,
                             size_t len)
{
    tcall_words_take_(&decoder->now.words, bytes, len);
#if TOOLCALL_MISFIT_TEXT
    for (; len && decoder->now.words.kept < TOOLCALL_MISFIT_TEXT; len--)
        decoder->now.words.text[decoder->now.words.kept++] = *bytes++;
#endif
}

/* Notes a misfit of the name or word that came. */
static void tcall_read_unknown_(tcall_decoder *decoder, uint8_t code)
{
    tcall_misfit *misfit = tcall_read_misfit_(decoder, code);
#if TOOLCALL_MISFIT_TEXT
    if (misfit) {
        misfit->text_len = decoder->now.words.kept;
        memcpy(misfit->text, decoder->now.words.text, misfit->text_len);
    }
#endif
    (void)misfit;
}

/* The name is complete. Returns whether its value has a shape. */
static bool tcall_read_name_end_(tcall_decoder *decoder)
{
    tcall_level_ *level = decoder->level;
    const tcall_object *object = (const tcall_object *)level->what;
    uint16_t before = level->index;
    decoder->into = 0;
    if (!tcall_words_end_(&decoder->now.words)) {
        if (!TCALL_FETCH_8_(&object->open)) {
            level->index = 0xFFFF;
            tcall_read_unknown_(decoder, TCALL_MISFIT_UNKNOWN);
            level->index = before;
        }
        return false;
    }
    level->index = decoder->now.words.index;
    decoder->next = decoder->now.words.word + decoder->now.words.len + 1;
    if (!tcall_store_member_(object, level->base, decoder->now.words.index)) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_DUPLICATE);
        return false;
    }
    decoder->shape =
        TCALL_FETCH_POINTER_(const tcall_shape *, &object->members) +
        level->index;
    decoder->base = level->base;
    return true;
}

/* A name begins: mostly it is the one after the last. */
static void tcall_read_name_begin_(tcall_decoder *decoder)
{
    const tcall_object *object = (const tcall_object *)decoder->level->what;
    uint16_t index = (uint16_t)(decoder->level->index + 1);
    tcall_read_words_(decoder, TCALL_INTO_NAME_,
                      TCALL_FETCH_POINTER_(const char *, &object->names),
                      TCALL_FETCH_8_(&object->count));
    if (decoder->next && index < decoder->now.words.count) {
        decoder->now.words.word = decoder->next;
        decoder->now.words.index = (uint8_t)index;
    }
}

static bool tcall_read_name_(tcall_syntax_ *syntax, const char *name,
                             size_t len, bool last)
{
    tcall_decoder *decoder = (tcall_decoder *)syntax;
    if (decoder->into != TCALL_INTO_NAME_)
        tcall_read_name_begin_(decoder);
    tcall_read_word_(decoder, name, len);
    return last && tcall_read_name_end_(decoder);
}

static void tcall_read_choice_end_(tcall_decoder *decoder)
{
    char *to = tcall_read_place_(decoder);
    uint8_t index = 255;
    if (tcall_words_end_(&decoder->now.words))
        index = decoder->now.words.index;
    else if (!(TCALL_FETCH_8_(&decoder->shape->flags) & TCALL_MEMBER_OTHERS))
        tcall_read_unknown_(decoder, TCALL_MISFIT_ENUM);
    if (to)
        *to = (char)index;
}

/* ---- numbers ---- */

/* Takes a byte of a number. */
static void tcall_read_digit_(tcall_numeral_ *digits, char c)
{
    if (c == '-') {
        digits->minus[digits->e] = true;
    } else if (c == '.') {
        digits->point = true;
    } else if ((c | 0x20) == 'e') {
        digits->e = true;
    } else if (c == '+' || digits->length == TCALL_NUMBER_LENGTH_) {
        /* the sign that goes without saying; too long */
    } else if (digits->e) {
        if (digits->power < TCALL_NUMBER_POWER_)
            digits->power = (int16_t)(digits->power * 10 + (c - '0'));
    } else {
        digits->length++;
        if (c == '0' && !digits->count) {
            digits->places = (int16_t)(digits->places - digits->point);
            return;
        }
        digits->places = (int16_t)(digits->places + !digits->point);
        if (digits->count < TOOLCALL_NUMBER_DIGITS)
            digits->text[digits->count] = c;
        digits->count++;
        if (c != '0')
            digits->last = digits->count;
    }
}

/* Returns the number that came. */
static tcall_num_ tcall_read_num_(const tcall_numeral_ *digits)
{
    tcall_num_ num;
    num.cut = digits->last > TOOLCALL_NUMBER_DIGITS;
    num.first = digits->text;
    num.last =
        num.first + (num.cut ? TOOLCALL_NUMBER_DIGITS : digits->last) - 1;
    num.top = digits->places - 1 +
              (digits->minus[1] ? -digits->power : digits->power);
    num.minus = digits->minus[0];
    num.sign = !digits->last ? 0 : num.minus ? -1 : 1;
    return num;
}

/* Checks and stores a number of a kind that is kept as one. */
static void tcall_read_units_(tcall_decoder *decoder, const tcall_num_ *num)
{
    char *to = tcall_read_place_(decoder);
    tcall_units_ units;
    tcall_misfit *misfit = tcall_read_misfit_(
        decoder, tcall_store_units_(decoder->shape, num, &units));
    if (misfit) {
        misfit->got = units.value < INT32_MIN   ? INT32_MIN
                      : units.value > INT32_MAX ? INT32_MAX
                                                : (int32_t)units.value;
        misfit->exact = !units.rest && misfit->got == units.value;
    }
    if (to)
        tcall_read_misfit_(
            decoder, tcall_store_number_(decoder->shape, num, &units, to));
}

TCALL_NOINLINE_ static void tcall_read_number_end_(tcall_decoder *decoder)
{
    const tcall_numeral_ *digits = &decoder->now.digits;
    uint8_t kind = TCALL_FETCH_8_(&decoder->shape->kind);
    bool any = TCALL_FETCH_8_(&decoder->shape->types) & TCALL_SHAPE_NUMBER;
    bool stored = kind >= TCALL_KIND_INTEGER && kind <= TCALL_KIND_NUMBER;
    tcall_num_ num = tcall_read_num_(digits);
    if (any && !stored)
        return;
    if (digits->length == TCALL_NUMBER_LENGTH_)
        tcall_read_misfit_(decoder, TCALL_MISFIT_ROOM);
    else if (!any && digits->last > num.top + 1 && digits->last)
        tcall_read_misfit_(decoder, TCALL_MISFIT_TYPE);
    else if (stored)
        tcall_read_units_(decoder, &num);
}

/* ---- texts, and values that are kept as their text ---- */

static void tcall_read_text_begin_(tcall_decoder *decoder, char *to)
{
    decoder->into = TCALL_INTO_TEXT_;
    decoder->now.text.to = to;
    decoder->now.text.len = decoder->now.text.followed = 0;
}

static void tcall_read_text_(tcall_decoder *decoder, const char *bytes,
                             size_t len)
{
    if (decoder->now.text.to && !*bytes) /* it ends a text in C */
        tcall_read_misfit_(decoder, TCALL_MISFIT_NUL);
    tcall_store_text_(decoder->shape, &decoder->now.text, bytes, len);
}

/* What it has no room for is noted when it is complete. */
static void tcall_read_json_(tcall_decoder *decoder, const char *bytes,
                             size_t len)
{
    uint16_t size = TCALL_FETCH_16_(&decoder->shape->size);
    if (len < (size_t)(size - decoder->kept)) {
        memcpy(tcall_read_place_(decoder) + decoder->kept, bytes, len);
        decoder->kept = (uint16_t)(decoder->kept + len);
    } else {
        decoder->kept = size;
    }
}

static void tcall_read_json_end_(tcall_decoder *decoder)
{
    if (decoder->kept == TCALL_FETCH_16_(&decoder->shape->size)) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_ROOM);
        decoder->kept = 0; /* half a value is none */
    }
    tcall_read_place_(decoder)[decoder->kept] = 0;
}

/* ---- objects and lists ---- */

/* An object or list with a shape is a level of its own. The root's object is in
 * it already. */
static tcall_ask_ tcall_read_open_(tcall_decoder *decoder, bool object)
{
    tcall_level_ *level = &decoder->open_levels[decoder->levels];
    const void *what = decoder->shape;
    if (decoder->levels == TOOLCALL_SHAPE_LEVELS) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_LEVELS);
        return TCALL_SKIP_;
    }
    decoder->levels++;
    decoder->level = level;
    level->base = tcall_read_place_(decoder);
    level->index = 0xFFFF; /* the first one comes next */
    decoder->next = NULL;
    if (object)
        what = TCALL_FETCH_POINTER_(const void *, &decoder->shape->more);
    if (what)
        level->what = what;
    if (object)
        tcall_store_object_((const tcall_object *)level->what, level->base);
    return TCALL_HEAR_;
}

/* Looks after the members that were not given. */
TCALL_NOINLINE_ static void tcall_read_object_end_(tcall_decoder *decoder)
{
    tcall_level_ *level = decoder->level;
    const tcall_object *object = (const tcall_object *)level->what;
    uint8_t i, count = TCALL_FETCH_8_(&object->count);
    for (i = 0; i < count; i++) {
        level->index = i;
        if (!tcall_store_member_end_(object, level->base, i))
            tcall_read_misfit_(decoder, TCALL_MISFIT_REQUIRED);
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
    uint16_t count = (uint16_t)(level->index + 1);
    const tcall_shape *list = (const tcall_shape *)level->what;
    if (count < (uint16_t)TCALL_FETCH_32_(&list->low))
        tcall_read_list_misfit_(decoder, TCALL_MISFIT_MIN_ITEMS);
    if (level->base)
        memcpy(level->base, &count, sizeof count);
}

/* An item of a list begins. The first one too many is noted. */
static void tcall_read_item_(tcall_decoder *decoder)
{
    tcall_level_ *level = decoder->level;
    const tcall_shape *list = (const tcall_shape *)level->what;
    uint16_t most = (uint16_t)TCALL_FETCH_32_(&list->high);
    if (level->index != 0xFFFE) /* and then all are one */
        level->index++;
    decoder->shape = &tcall_any_;
    decoder->base = level->base;
    if (level->index < most)
        decoder->shape = TCALL_FETCH_POINTER_(const tcall_shape *, &list->more);
    if (level->index < most && level->base)
        decoder->base += TCALL_FETCH_8_(&list->digits) +
                         (size_t)level->index * TCALL_FETCH_16_(&list->size);
    if (level->index == most)
        tcall_read_list_misfit_(decoder, TCALL_FETCH_8_(&list->flags) &
                                                 TCALL_MEMBER_UNSAID
                                             ? TCALL_MISFIT_ROOM
                                             : TCALL_MISFIT_MAX_ITEMS);
}

/* A member that is null is not given. */
static void tcall_read_null_(tcall_decoder *decoder)
{
    const tcall_level_ *level = decoder->level;
    if (decoder->syntax.object)
        tcall_store_null_(level->base, (uint8_t)level->index);
    else if (decoder->base) /* an item, which nothing else sets */
        memset(decoder->base, 0,
               TCALL_FETCH_16_(&((const tcall_shape *)level->what)->size));
}

/* ---- values ---- */

/* A value begins that its shape allows. Returns what is asked of it. */
static tcall_ask_ tcall_read_value_(tcall_decoder *decoder, uint8_t types,
                                    char first)
{
    const tcall_shape *shape = decoder->shape;
    uint8_t kind = TCALL_FETCH_8_(&shape->kind);
    char *to = tcall_read_place_(decoder);
    if (types & TCALL_SHAPE_NUMBER) {
        memset(&decoder->now.digits, 0, offsetof(tcall_numeral_, text));
        decoder->into = TCALL_INTO_NUMBER_;
    }
    if (kind == TCALL_KIND_JSON) {
        decoder->into |= TCALL_INTO_JSON_;
        decoder->kept = 0;
        return TCALL_RAW_;
    }
    if (types == TCALL_SHAPE_NULL && kind != TCALL_KIND_ANY)
        tcall_read_null_(decoder);
    else if (kind == TCALL_KIND_OBJECT || kind == TCALL_KIND_LIST)
        return tcall_read_open_(decoder, kind == TCALL_KIND_OBJECT);
    else if (kind == TCALL_KIND_BOOLEAN && to)
        *to = first == 't';
    else if (kind == TCALL_KIND_TEXT)
        tcall_read_text_begin_(decoder, to);
    else if (kind == TCALL_KIND_CHOICE)
        tcall_read_words_(decoder, TCALL_INTO_CHOICE_,
                          TCALL_FETCH_POINTER_(const char *, &shape->more),
                          (uint8_t)(TCALL_FETCH_32_(&shape->high) + 1));
    return decoder->into ? TCALL_HEAR_ : TCALL_SKIP_;
}

static tcall_ask_ tcall_read_begin_(tcall_syntax_ *syntax, char first)
{
    tcall_decoder *decoder = (tcall_decoder *)syntax;
    uint8_t types = tcall_store_types_(first);
    if (decoder->levels && !syntax->object)
        tcall_read_item_(decoder);
    if (TCALL_FETCH_8_(&decoder->shape->kind) == TCALL_KIND_HOLE &&
        decoder->hole)
        decoder->hole(decoder, &decoder->shape, &decoder->base);
    decoder->into = 0;
    if (TCALL_FETCH_8_(&decoder->shape->types) & types)
        return tcall_read_value_(decoder, types, first);
    tcall_read_misfit_(decoder, TCALL_MISFIT_TYPE);
    return TCALL_SKIP_;
}

static void tcall_read_data_(tcall_syntax_ *syntax, const char *bytes,
                             size_t len)
{
    tcall_decoder *decoder = (tcall_decoder *)syntax;
    size_t i;
    if (decoder->into & TCALL_INTO_TEXT_)
        tcall_read_text_(decoder, bytes, len);
    if (decoder->into & TCALL_INTO_CHOICE_)
        tcall_read_word_(decoder, bytes, len);
    if (decoder->into & TCALL_INTO_JSON_)
        tcall_read_json_(decoder, bytes, len);
    if (decoder->into & TCALL_INTO_NUMBER_)
        for (i = 0; i < len; i++)
            tcall_read_digit_(&decoder->now.digits, bytes[i]);
}

static void tcall_read_end_(tcall_syntax_ *syntax)
{
    tcall_decoder *decoder = (tcall_decoder *)syntax;
    if (syntax->depth < decoder->levels) {
        if (TCALL_BIT_OF_(syntax->open, syntax->depth))
            tcall_read_object_end_(decoder);
        else
            tcall_read_list_end_(decoder);
        if (--decoder->levels)
            decoder->level--;
        decoder->next = NULL;
        return;
    }
    if (decoder->into & TCALL_INTO_NUMBER_)
        tcall_read_number_end_(decoder);
    if (decoder->into & TCALL_INTO_JSON_)
        tcall_read_json_end_(decoder);
    if (decoder->into & TCALL_INTO_TEXT_)
        tcall_read_misfit_(
            decoder, tcall_store_text_end_(decoder->shape, &decoder->now.text));
    if (decoder->into & TCALL_INTO_CHOICE_)
        tcall_read_choice_end_(decoder);
}

static const tcall_syntax_user_ tcall_read_user_ TCALL_FLASH_ = {
    tcall_read_name_, tcall_read_begin_, tcall_read_data_, tcall_read_end_};

/* ---- the decoder ---- */

/* Ends the reading, if nothing has ended it yet. */
static void tcall_read_stop_(tcall_decoder *decoder, int error)
{
    if (decoder->syntax.error)
        return;
    decoder->syntax.error = decoder->error = error;
}

/* Returns an error of the recogniser as those who read are told. */
static int tcall_read_error_(int error)
{
    return error == TCALL_E_NUL || error < TCALL_E_DEPTH ? TCALL_E_BAD_VALUE
                                                         : error;
}

int tcall_decoder_feed(tcall_decoder *decoder, const char *bytes, size_t len)
{
    tcall_syntax_ *syntax = &decoder->syntax;
    size_t at = 0;
    int error;
    if (syntax->error)
        return decoder->error;
    while (at < len && !syntax->error) /* it halts at the end of the object */
        at += tcall_syntax_feed_(syntax, bytes + at, len - at);
    decoder->at += at;
    if (syntax->error)
        decoder->error = tcall_read_error_(syntax->error);
    if (decoder->sink && at) {
        error = decoder->sink(decoder->user, bytes, at);
        if (error < 0)
            tcall_read_stop_(decoder, error);
    }
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
    tcall_read_stop_(decoder, TCALL_E_TRUNCATED);
}

void tcall_decoder_init(tcall_decoder *decoder, const tcall_object *shape,
                        void *out)
{
    memset(decoder, 0, sizeof *decoder);
    tcall_syntax_begin_(&decoder->syntax, &tcall_read_user_);
    decoder->shape = &tcall_root_;
    decoder->base = (char *)out;
    decoder->open_levels[0].what = shape;
}
