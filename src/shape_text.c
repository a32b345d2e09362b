#pragma once
#include "shape_text.h"
#include "say.c"

/* ==========================================================================
 * >>shape_text
 *
 * A schema, a struct and a sentence are all made from the same nodes. What is
 * written is a piece of flash at a time, since on an AVR texts are read from
 * there by instructions of their own.
 */

/* ---- texts in flash ---- */

/* Writes a JSON string. */
static void tcall_put_string_(tcall_writer *writer, const char *text)
{
    tcall_write_quote(writer);
    tcall_write_flash(writer, text);
    tcall_write_unquote(writer);
}

/* Writes JSON text, which need not be whole, after the comma that is due. */
static void tcall_put_text_(tcall_writer *writer, const char *json)
{
    tcall_write_comma_(writer);
    tcall_write_flash(writer, json);
}
#define TCALL_PUT_(writer, literal) \
    tcall_put_text_(writer, TCALL_FLASH_TEXT_(literal))

static void tcall_put_key_(tcall_writer *writer, const char *key)
{
    tcall_put_string_(writer, key);
    tcall_write_char_(writer, ':');
}

/* Writes it as a value of a node. */
static void tcall_put_decimal_(tcall_writer *writer, tcall_int value,
                               const tcall_shape *node)
{
    tcall_write_comma_(writer);
    tcall_put_number_(writer, value, node->digits);
}

/* ---- all of a shape ---- */

/* An object or list that is open. */
typedef struct tcall_walk_level_ {
    const void *more; /* its tcall_object, or the tcall_shape of an item */
    const char *name; /* object: of the member at hand; */
    const char *text; /* its description. The user of the walk moves both. */
    const char *at;   /* its struct, or the next item; NULL: there is none */
    uint16_t next;    /* index of the member or item after the one at hand */
    uint16_t count;   /* of all */
    uint16_t size;    /* of an item */
    bool list;
    bool marked; /* keeps the mark of the walk */
} tcall_walk_level_;

/* A walk over the nodes of a shape, and over the values of a struct if there is
 * one; else a list has one item. There is no recursion: it goes as deep as the
 * decoder does. */
typedef struct tcall_shape_walk_ {
    const tcall_shape *node;   /* at hand, in flash; NULL: what was left */
    const char *at;            /* its value, or NULL */
    tcall_walk_level_ *around; /* what it is in; once entered, itself */
    uint8_t depth;             /* of what is open; 0: the walk has ended */
    bool marked;               /* is the user's, for the value at hand */
    bool deep;                 /* some values lie too deep, and were left out */
    tcall_walk_level_ open[TOOLCALL_SHAPE_LEVELS];
} tcall_shape_walk_;

/* Opens an object or list that the value at hand is. */
static void tcall_walk_open_(tcall_shape_walk_ *walk, const void *more,
                             bool list)
{
    tcall_walk_level_ *level = &walk->open[walk->depth++];
    level->more = more;
    level->at = walk->at;
    level->next = 0;
    level->count = 1;
    level->list = list;
    level->marked = walk->marked;
    if (!list) {
        TCALL_FETCH_(tcall_object, object, more);
        level->name = object->names;
        level->text = object->descriptions;
        level->count = object->count;
    }
    walk->around = level;
}

/* Begins in an object. args: its struct, or NULL. */
static void tcall_walk_begin_(tcall_shape_walk_ *walk,
                              const tcall_object *shape, const void *args)
{
    walk->at = (const char *)args;
    walk->depth = 0;
    walk->marked = walk->deep = false;
    tcall_walk_open_(walk, shape, false);
}

/* Enters the value at hand. Returns false where it has no parts or they lie too
 * deep. */
static bool tcall_walk_enter_(tcall_shape_walk_ *walk)
{
    TCALL_FETCH_(tcall_shape, node, walk->node);
    bool list = node->kind == TCALL_KIND_LIST;
    if (!list && node->kind != TCALL_KIND_OBJECT)
        return false;
    walk->deep |= walk->depth == TOOLCALL_SHAPE_LEVELS;
    if (walk->deep)
        return false;
    tcall_walk_open_(walk, node->more, list);
    if (list && walk->at) {
        memcpy(&walk->around->count, walk->at, sizeof walk->around->count);
        walk->around->at += node->digits;
        walk->around->size = node->size;
    }
    return true;
}

/* Goes on to the next member or item of what is open. Returns false at its end,
 * when it has to be left. */
static bool tcall_walk_next_(tcall_shape_walk_ *walk)
{
    tcall_walk_level_ *level = walk->around;
    if (level->next == level->count)
        return false;
    walk->at = level->at;
    if (level->list) {
        walk->node = (const tcall_shape *)level->more;
        if (walk->at)
            level->at += level->size;
    } else {
        TCALL_FETCH_(tcall_object, object, level->more);
        walk->node = object->members + level->next;
        if (walk->at)
            walk->at += TCALL_FETCH_16_(&walk->node->offset);
    }
    level->next++;
    return true;
}

/* Leaves what is open, which is the value at hand again. */
static void tcall_walk_leave_(tcall_shape_walk_ *walk)
{
    walk->marked = walk->around->marked;
    walk->node = NULL;
    walk->depth--;
    walk->around = walk->open + walk->depth - 1;
}

/* Goes on to the next node of all, each before what is in it. Returns false
 * after the last one. */
static bool tcall_walk_on_(tcall_shape_walk_ *walk)
{
    while (walk->depth && !tcall_walk_next_(walk))
        tcall_walk_leave_(walk);
    if (!walk->depth)
        return false;
    tcall_walk_enter_(walk);
    return true;
}

/* Returns a list of words as one text, each ended by NUL. */
static tcall_str tcall_words_text_(const char *words, unsigned count)
{
    return tcall_slice_(words,
                        (size_t)(tcall_word_at_(words, (int)count) - words));
}

/* Returns one of the texts in which the shape's meaning is: names,
 * descriptions, words of choices, of this object and those within. They are in
 * flash, and end with a NUL each. An index past the last gives an empty one. */
TCALL_SHARED_ tcall_str tcall_shape_words_(const tcall_object *shape,
                                           unsigned index)
{
    const void *entered = shape;
    tcall_shape_walk_ walk;
    tcall_walk_begin_(&walk, shape, NULL);
    do {
        if (entered) {
            TCALL_FETCH_(tcall_object, object, entered);
            if (object->count && index < 2)
                return tcall_words_text_(index ? object->descriptions
                                               : object->names,
                                         object->count);
            index -= object->count ? 2 : 0;
        } else {
            TCALL_FETCH_(tcall_shape, node, walk.node);
            if (node->kind == TCALL_KIND_CHOICE && index-- == 0)
                return tcall_words_text_((const char *)node->more,
                                         (unsigned)node->high + 1);
        }
        if (!tcall_walk_on_(&walk))
            return tcall_slice_(NULL, 0);
        entered =
            walk.around->next || walk.around->list ? NULL : walk.around->more;
    } while (true);
}

/* ---- nodes ---- */

/* Returns whether the kind says its types itself; else the node lists them. */
static bool tcall_kind_is_one_type_(const tcall_shape *node)
{
    return node->kind != TCALL_KIND_ANY && node->kind != TCALL_KIND_JSON &&
           node->kind != TCALL_KIND_HOLE;
}

/* ---- values of a struct ---- */

#ifndef TOOLCALL_NO_INT64

/* Returns a default of kind number in millionths; it has no more decimals. It
 * is taken apart as an IEEE 754 double: a program that has no use for the
 * arithmetic of doubles does not get it for this. */
static int64_t tcall_millionths_(double number)
{
    const uint64_t one = (uint64_t)1 << 52;
    uint64_t bits, rest, whole = 0;
    int below; /* places after the binary point */
    if (sizeof number != sizeof bits)
        return (int64_t)(number * 1e6 + (number < 0 ? -0.5 : 0.5));
    memcpy(&bits, &number, sizeof number);
    below = 1075 - (int)(bits >> 52 & 0x7FF);
    rest = (bits & (one - 1)) | one;
    if (below <= 0) {
        whole = below < -10 ? INT64_MAX / 1000000 : rest << -below;
        rest = 0;
    } else if (below < 64) {
        whole = rest >> below;
        rest -= whole << below;
    }
    if (below > 103)
        rest = 0;
    /* forty places are more than six decimals need */
    if (rest)
        rest = below > 40 ? rest >> (below - 40) : rest << (40 - below);
    whole = whole * 1000000 + ((rest * 1000000 + (one >> 13)) >> 40);
    return bits >> 63 ? -(int64_t)whole : (int64_t)whole;
}

#endif

/* Writes a value that has no parts. A default lies in flash, and has at most
 * six decimals. */
TCALL_NOINLINE_ static void tcall_put_leaf_(tcall_writer *writer,
                                            const tcall_shape *node,
                                            const char *at, bool flash)
{
    static const uint8_t sizes[] TCALL_FLASH_ = {0, 1, 4, 8, sizeof(double),
                                                 0, 1};
    size_t size = node->kind <= TCALL_KIND_CHOICE
                      ? TCALL_FETCH_8_(sizes + node->kind)
                      : 0u;
    union {
        uint8_t byte;
        int32_t narrow;
#ifndef TOOLCALL_NO_INT64
        int64_t wide;
        double number;
#endif
    } is;
    if (flash)
        TCALL_COPY_(&is, at, size);
    else
        memcpy(&is, at, size);
    if (node->kind == TCALL_KIND_BOOLEAN)
        tcall_put_text_(writer, is.byte ? TCALL_FLASH_TEXT_("true")
                                        : TCALL_FLASH_TEXT_("false"));
    else if (node->kind == TCALL_KIND_CHOICE)
        tcall_put_string_(writer,
                          tcall_word_at_((const char *)node->more, is.byte));
    else if (node->kind == TCALL_KIND_TEXT && flash)
        tcall_put_string_(writer, at);
    else if (node->kind == TCALL_KIND_TEXT)
        tcall_write_string(writer, at);
    else if (node->kind == TCALL_KIND_JSON)
        tcall_write_verbatim(writer, tcall_str_of(at));
    else if (node->kind == TCALL_KIND_INTEGER)
        tcall_put_decimal_(writer, is.narrow, node);
#ifndef TOOLCALL_NO_INT64
    else if (node->kind == TCALL_KIND_INTEGER64)
        tcall_put_decimal_(writer, is.wide, node);
    else if (node->kind == TCALL_KIND_NUMBER && flash)
        tcall_put_decimal_(writer, tcall_millionths_(is.number), node);
    else if (node->kind == TCALL_KIND_NUMBER)
        tcall_write_double(writer, is.number);
#endif
    else
        tcall_write_null(writer);
}

/* ---- JSON Schema ---- */

/* How a schema is written, and what it takes of what a strict mode limits. */
typedef struct tcall_view_ {
    tcall_writer *out;
    uint8_t mode;              /* TCALL_STRICT_...; NONE: all that it says */
    bool unfit;                /* it cannot be strict */
    uint16_t optional, unions; /* so many there are */
} tcall_view_;

/* Strict modes accept so many levels of schemas below the first. */
#define TCALL_STRICT_LEVELS_ 10

static const char tcall_type_list_[] TCALL_FLASH_ =
    "null\0boolean\0integer\0number\0string\0array\0object\0";

/* Writes the types of a set: several as anyOf, since not everyone accepts a
 * list of types; all of them by saying nothing. */
static void tcall_view_types_(tcall_view_ *view, unsigned types)
{
    const unsigned all = TCALL_SHAPE_ANY & ~(unsigned)TCALL_SHAPE_INTEGER;
    bool several = (types & (types - 1)) != 0;
    int index;
    if ((types & all) == all)
        return;
    view->unions = (uint16_t)(view->unions + several);
    if (several)
        TCALL_PUT_(view->out, "\"anyOf\":[{");
    for (index = 0; types >> index; index++) {
        if (!(types >> index & 1))
            continue;
        TCALL_PUT_(view->out, "\"type\":");
        tcall_put_string_(view->out, tcall_word_at_(tcall_type_list_, index));
        if (several)
            tcall_write_flash(view->out, types >> index > 1
                                             ? TCALL_FLASH_TEXT_("},{")
                                             : TCALL_FLASH_TEXT_("}]"));
    }
}

static void tcall_view_words_(tcall_view_ *view, const tcall_shape *node)
{
    const char *word = (const char *)node->more;
    int32_t left = node->high;
    TCALL_PUT_(view->out, "\"enum\":[");
    for (; left >= 0; left--, word = tcall_word_next_(word))
        tcall_put_string_(view->out, word);
    TCALL_SAY(view->out, "]");
}

/* Writes one bound, if there is one and the view has it. */
TCALL_NOINLINE_ static void tcall_view_bound_(tcall_view_ *view,
                                              const tcall_limits_ *limits,
                                              const tcall_limit_ *limit)
{
    static const char keys[] TCALL_FLASH_ =
        "minimum\0maximum\0minLength\0maxLength\0minItems\0maxItems\0"
        "exclusiveMinimum\0exclusiveMaximum\0";
    int group = limit->how == TCALL_LIMIT_BEYOND_ ? 3 : limits->of - 1;
    /* Anthropic takes an array of at least one */
    bool few = view->mode == TCALL_STRICT_ANTHROPIC &&
               limits->of == TCALL_LIMITS_ITEMS_ && limit == &limits->low &&
               limit->number <= 1;
    if (!limit->how || (view->mode && !few))
        return;
    tcall_put_key_(view->out,
                   tcall_word_at_(keys, group * 2 + (limit == &limits->high)));
    tcall_put_number_(view->out, limit->number, limits->digits);
}

/* Writes the default of the member at hand, if it has one. */
TCALL_NOINLINE_ static void tcall_view_default_(tcall_view_ *view,
                                                const tcall_shape_walk_ *walk)
{
    TCALL_FETCH_(tcall_object, object, walk->around->more);
    TCALL_FETCH_(tcall_shape, node, walk->node);
    if (!(node->flags & TCALL_MEMBER_DEFAULT))
        return;
    TCALL_PUT_(view->out, "\"default\":");
    tcall_put_leaf_(view->out, node,
                    (const char *)object->initial + node->offset, true);
}

/* Begins the schema of the value at hand. */
TCALL_NOINLINE_ static void tcall_view_begin_(tcall_view_ *view,
                                              tcall_shape_walk_ *walk)
{
    const tcall_walk_level_ *around = walk->around;
    TCALL_FETCH_(tcall_shape, node, walk->node);
    tcall_limits_ limits = tcall_limits_of_(node);
    bool optional = !around->list && !(node->flags & TCALL_MEMBER_REQUIRED);
    bool one = tcall_kind_is_one_type_(node);
    unsigned types = tcall_types_of_(node->types);
    view->optional = (uint16_t)(view->optional + optional);
    view->unfit |= walk->depth > TCALL_STRICT_LEVELS_ ||
                   (!one && types & (TCALL_SHAPE_ARRAY | TCALL_SHAPE_OBJECT));
    if (optional && view->mode == TCALL_STRICT_OPENAI)
        types |= TCALL_SHAPE_NULL;
    tcall_put_key_(view->out,
                   around->list ? TCALL_FLASH_TEXT_("items") : around->name);
    TCALL_SAY(view->out, "{");
    walk->marked = one && types & TCALL_SHAPE_NULL;
    if (walk->marked) {
        view->unions++;
        types ^= TCALL_SHAPE_NULL;
        TCALL_PUT_(view->out, "\"anyOf\":[{");
    }
    tcall_view_types_(view, types);
    tcall_view_bound_(view, &limits, &limits.low);
    tcall_view_bound_(view, &limits, &limits.high);
    if (node->kind == TCALL_KIND_CHOICE)
        tcall_view_words_(view, node);
}

/* Ends it: null, where that is the other one of two; what a member is for, and
 * its default. */
TCALL_NOINLINE_ static void tcall_view_end_(tcall_view_ *view,
                                            tcall_shape_walk_ *walk)
{
    tcall_walk_level_ *around = walk->around;
    if (walk->marked)
        TCALL_SAY(view->out, "},{\"type\":\"null\"}]");
    if (!around->list) {
        if (TCALL_BYTE_(around->text)) {
            TCALL_PUT_(view->out, "\"description\":");
            tcall_put_string_(view->out, around->text);
        }
        if (walk->node && !view->mode)
            tcall_view_default_(view, walk);
        around->name = tcall_word_next_(around->name);
        around->text = tcall_word_next_(around->text);
    }
    TCALL_SAY(view->out, "}");
}

/* Writes which members of an object have to be there. */
static void tcall_view_required_(tcall_view_ *view, const tcall_object *object)
{
    const char *name = object->names;
    bool any = false;
    unsigned i;
    for (i = 0; i < object->count; i++, name = tcall_word_next_(name)) {
        uint8_t flags = (uint8_t)TCALL_BYTE_(&object->members[i].flags);
        if (!(flags & TCALL_MEMBER_REQUIRED) &&
            view->mode != TCALL_STRICT_OPENAI)
            continue;
        if (!any)
            TCALL_PUT_(view->out, "\"required\":[");
        any = true;
        tcall_put_string_(view->out, name);
    }
    if (any)
        TCALL_SAY(view->out, "]");
}

/* Writes what the schema of an object says after its properties. */
TCALL_NOINLINE_ static void tcall_view_rest_(tcall_view_ *view,
                                             const void *from)
{
    TCALL_FETCH_(tcall_object, object, from);
    TCALL_SAY(view->out, "}");
    tcall_view_required_(view, object);
    if (view->mode != TCALL_STRICT_OLLAMA && (view->mode || !object->open))
        TCALL_PUT_(view->out, "\"additionalProperties\":false");
}

/* Writes the schema of an object as the view wants it. */
TCALL_SHARED_ int tcall_view_shape_(tcall_view_ *view,
                                    const tcall_object *shape)
{
    tcall_shape_walk_ walk;
    tcall_walk_begin_(&walk, shape, NULL);
    tcall_write_open(view->out, '{');
    TCALL_SAY(view->out, "\"type\":\"object\",\"properties\":{");
    for (;;) {
        if (tcall_walk_next_(&walk)) {
            tcall_view_begin_(view, &walk);
            if (tcall_walk_enter_(&walk)) {
                if (!walk.around->list)
                    TCALL_PUT_(view->out, "\"properties\":{");
                continue;
            }
        } else {
            if (!walk.around->list)
                tcall_view_rest_(view, walk.around->more);
            tcall_walk_leave_(&walk);
            if (!walk.depth)
                break;
        }
        tcall_view_end_(view, &walk);
    }
    tcall_write_close(view->out, '}');
    return walk.deep ? tcall_writer_fail_(view->out, TCALL_E_DEPTH)
                     : view->out->error;
}

int tcall_write_shape(tcall_writer *writer, const tcall_object *shape)
{
    tcall_view_ view = {writer, TCALL_STRICT_NONE, false, 0, 0};
    return tcall_view_shape_(&view, shape);
}

/* ---- a struct as JSON ---- */

/* Writes the key of a member that came or has a default; without a struct, of
 * one that is required. Returns false of any other; marks one that came as
 * null. */
static bool tcall_put_member_(tcall_writer *writer, tcall_shape_walk_ *walk)
{
    TCALL_FETCH_(tcall_object, object, walk->around->more);
    TCALL_FETCH_(tcall_shape, node, walk->node);
    const uint8_t *given = (const uint8_t *)walk->around->at;
    const uint8_t *came = given ? given + (object->count + 7) / 8 : NULL;
    unsigned i = walk->around->next - 1u;
    walk->marked = given && !TCALL_BIT_OF_(given, i) &&
                   !(node->flags & TCALL_MEMBER_DEFAULT);
    if (given ? node->offset == TCALL_NOWHERE ||
                    (walk->marked && !TCALL_BIT_OF_(came, i))
              : !(node->flags & TCALL_MEMBER_REQUIRED))
        return false;
    tcall_put_key_(writer, tcall_word_at_(object->names, (int)i));
    return true;
}

/* Writes a value that has no parts: the one at a place, or one that fits. */
typedef void (*tcall_put_)(tcall_writer *writer, const tcall_shape *node,
                           const char *at);

/* Writes a struct; without one, as little as the shape requires. */
static int tcall_put_values_(tcall_writer *writer, const tcall_object *shape,
                             const void *args, tcall_put_ put)
{
    tcall_shape_walk_ walk;
    tcall_walk_begin_(&walk, shape, args);
    tcall_write_open(writer, '{');
    while (walk.depth) {
        if (!tcall_walk_next_(&walk)) {
            tcall_write_close(writer, walk.around->list ? ']' : '}');
            tcall_walk_leave_(&walk);
            continue;
        }
        walk.marked = false;
        if (!walk.around->list && !tcall_put_member_(writer, &walk))
            continue;
        if (walk.marked) {
            tcall_write_null(writer);
        } else if (tcall_walk_enter_(&walk)) {
            tcall_write_open(writer, walk.around->list ? '[' : '{');
            if (walk.around->list && !args)
                walk.around->count = (uint16_t)TCALL_FETCH_32_(&walk.node->low);
        } else {
            TCALL_FETCH_(tcall_shape, node, walk.node);
            put(writer, node, walk.at);
        }
    }
    return walk.deep ? tcall_writer_fail_(writer, TCALL_E_DEPTH)
                     : writer->error;
}

static void tcall_put_stored_(tcall_writer *writer, const tcall_shape *node,
                              const char *at)
{
    tcall_put_leaf_(writer, node, at, false);
}

int tcall_write_struct(tcall_writer *writer, const tcall_object *shape,
                       const void *args)
{
    return tcall_put_values_(writer, shape, args, tcall_put_stored_);
}

/* ---- an example of what a shape allows ---- */

/* Writes a text with as many characters as a schema wants. */
TCALL_NOINLINE_ TCALL_SHARED_ void
tcall_write_example_text_(tcall_writer *out, tcall_int low, tcall_int high)
{
    tcall_int len = low > 5 ? low : high < 5 ? high : 5, i;
    tcall_write_quote(out);
    for (i = 0; i < len && !out->error; i++)
        tcall_write_bytes(out, &"value"[i % 5], 1);
    tcall_write_unquote(out);
}

/* Writes a number near the bounds of a node, 1 without any. */
static void tcall_put_number_near_(tcall_writer *out, const tcall_shape *node)
{
    const tcall_limits_ is = tcall_limits_of_(node);
    tcall_int value = 1;
    int i;
    for (i = 0; i < node->digits; i++)
        value *= 10;
    if (is.low.how == TCALL_LIMIT_BEYOND_ && is.high.how)
        value = is.low.number / 2 + is.high.number / 2;
    else if (is.low.how)
        value = is.low.number + (is.low.how == TCALL_LIMIT_BEYOND_ ? value : 0);
    else if (is.high.how && value > is.high.number)
        value =
            is.high.number - (is.high.how == TCALL_LIMIT_BEYOND_ ? value : 0);
    tcall_put_decimal_(out, value, node);
}

/* Writes a value that a node allows. */
static void tcall_put_fitting_(tcall_writer *out, const tcall_shape *node,
                               const char *at)
{
    (void)at;
    if (node->kind == TCALL_KIND_CHOICE)
        tcall_put_string_(out, (const char *)node->more);
    else if (node->kind == TCALL_KIND_TEXT)
        tcall_write_example_text_(out, node->low, node->high);
    else if (node->types & TCALL_SHAPE_STRING)
        tcall_write_example_text_(out, 0, 5);
    else if (node->types & TCALL_SHAPE_BOOLEAN)
        tcall_write_bool(out, true);
    else
        tcall_put_number_near_(out, node);
}

/* Writes arguments that a shape allows: all that is required. */
TCALL_SHARED_ int tcall_write_shape_example_(tcall_writer *out,
                                             const tcall_object *shape)
{
    return tcall_put_values_(out, shape, NULL, tcall_put_fitting_);
}
