#pragma once
#include "shape_text.h"
#include "write.c"
#include "text.c"
#include "read.c"

/* ==========================================================================
 * >>shape_text
 *
 * A schema, a struct and a sentence are all made from the same nodes. What is
 * written is a piece of flash at a time, since on an AVR texts are read from
 * there by instructions of their own.
 */

/* For whom a schema is written. */
enum {
    TCALL_VIEW_WHOLE_,  /* all that the shape says */
    TCALL_VIEW_BRIEF_,  /* no bounds, no defaults, no word of further members */
    TCALL_VIEW_CLOSED_, /* brief, and no object has further members */
    TCALL_VIEW_ALL_     /* closed, and every member is required: an optional
                           one may be null */
};

/* How a schema is written, and what was met on the way. */
typedef struct tcall_shape_view_ {
    tcall_writer *out;
    uint8_t mode;              /* TCALL_VIEW_..._ */
    uint8_t level, levels;     /* of schemas: at hand, the deepest */
    bool vague;                /* a value has no type, or none of its parts */
    uint16_t optional, unions; /* so many there are */
} tcall_shape_view_;

/* ---- texts in flash ---- */

/* Writes a text from flash as the content of a JSON string. On an AVR it goes
 * by the byte; those of longer characters are written as they are, for the
 * writer knows UTF-8 only by whole characters. */
static void tcall_put_content_(tcall_writer *writer, const char *text)
{
#ifdef __AVR__
    char byte;
    while ((byte = TCALL_BYTE_(text++)) != '\0') {
        if (byte & 0x80)
            tcall_write_out_(writer, &byte, 1);
        else
            tcall_write_content_(writer, tcall_slice_(&byte, 1));
    }
#else
    tcall_write_content_(writer, tcall_str_of(text));
#endif
}

/* Writes a JSON string. */
static void tcall_put_string_(tcall_writer *writer, const char *text)
{
    tcall_write_comma_(writer);
    tcall_write_char_(writer, '"');
    tcall_put_content_(writer, text);
    tcall_write_char_(writer, '"');
}

static void tcall_put_key_(tcall_writer *writer, const char *key)
{
    tcall_put_string_(writer, key);
    tcall_write_char_(writer, ':');
}

/* Writes a decimal number without zeros at its end: (2150, 2) is 21.5. */
static void tcall_put_number_(tcall_writer *writer, tcall_int value,
                              int decimals)
{
    for (; decimals && value % 10 == 0; decimals--)
        value /= 10;
    tcall_write_decimal_(writer, value, decimals);
}

/* ---- nodes ---- */

/* The bounds of a value that its schema says. */
typedef struct tcall_said_ {
    tcall_int low, high;
    bool has_low, has_high;
    uint8_t group; /* TCALL_SAID_... */
} tcall_said_;

/* What bounds are of: their keywords, and their nouns. */
enum { TCALL_SAID_VALUE_, TCALL_SAID_LENGTH_, TCALL_SAID_ITEMS_ };

static tcall_said_ tcall_said_of_(const tcall_shape *node)
{
    tcall_said_ said = {node->low, node->high, node->low > INT32_MIN,
                        node->high < INT32_MAX, TCALL_SAID_VALUE_};
#ifndef TOOLCALL_NO_INT64
    if (node->kind == TCALL_KIND_INTEGER64 || node->kind == TCALL_KIND_NUMBER) {
        TCALL_FETCH_(tcall_range, range, node->more);
        said.low = range->low;
        said.high = range->high;
        said.has_low = range->low > INT64_MIN;
        said.has_high = range->high < INT64_MAX;
    }
#endif
    if (node->kind < TCALL_KIND_TEXT)
        return said;
    said.group =
        node->kind == TCALL_KIND_LIST ? TCALL_SAID_ITEMS_ : TCALL_SAID_LENGTH_;
    said.has_low = node->low > 0;
    said.has_high = !(node->flags & TCALL_MEMBER_UNSAID);
    return said;
}

/* Returns whether the kind says its types itself; else the node lists them. */
static bool tcall_kind_is_one_type_(const tcall_shape *node)
{
    return node->kind != TCALL_KIND_ANY && node->kind != TCALL_KIND_JSON &&
           node->kind != TCALL_KIND_HOLE;
}

/* Returns whether the kind has bounds that are said. */
static bool tcall_kind_has_bounds_(const tcall_shape *node)
{
    return tcall_kind_is_one_type_(node) && node->kind != TCALL_KIND_BOOLEAN &&
           node->kind != TCALL_KIND_CHOICE && node->kind != TCALL_KIND_OBJECT;
}

/* Returns the types without those that others include: every integer is a
 * number. */
static unsigned tcall_types_of_(const tcall_shape *node)
{
    unsigned types = node->types;
    if (types & TCALL_SHAPE_NUMBER)
        types &= ~(unsigned)TCALL_SHAPE_INTEGER;
    return types;
}

/* Returns which of a set of types comes first. */
static int tcall_lowest_type_(unsigned types)
{
    int index = 1; /* null is said apart */
    while (index < 6 && !(types >> index & 1))
        index++;
    return index;
}

static const char tcall_type_list_[] TCALL_FLASH_ =
    "null\0boolean\0integer\0number\0string\0array\0object\0";

/* ---- JSON Schema ---- */

static void tcall_view_type_(tcall_shape_view_ *view, int index)
{
    tcall_put_key_(view->out, TCALL_FLASH_TEXT_("type"));
    tcall_put_string_(view->out, tcall_word_at_(tcall_type_list_, index));
}

/* Writes the types of a set: several as anyOf, since not everyone accepts a
 * list of types; all of them by saying nothing. */
static void tcall_view_types_(tcall_shape_view_ *view, unsigned types)
{
    const unsigned all = TCALL_SHAPE_ANY & ~(unsigned)TCALL_SHAPE_INTEGER;
    bool several = (types & (types - 1)) != 0;
    int index;
    view->vague |= (types & (TCALL_SHAPE_ARRAY | TCALL_SHAPE_OBJECT)) != 0;
    if ((types & all) == all)
        return;
    if (several) {
        view->unions++;
        tcall_put_key_(view->out, TCALL_FLASH_TEXT_("anyOf"));
        tcall_write_open(view->out, '[');
    }
    for (index = 0; index < 7; index++) {
        if (!(types >> index & 1))
            continue;
        if (several)
            tcall_write_open(view->out, '{');
        tcall_view_type_(view, index);
        if (several)
            tcall_write_close(view->out, '}');
    }
    if (several)
        tcall_write_close(view->out, ']');
}

static void tcall_view_words_(tcall_shape_view_ *view, const tcall_shape *node)
{
    const char *word = (const char *)node->more;
    int32_t left = node->high;
    tcall_put_key_(view->out, TCALL_FLASH_TEXT_("enum"));
    tcall_write_open(view->out, '[');
    for (; left >= 0; left--, word = tcall_word_next_(word))
        tcall_put_string_(view->out, word);
    tcall_write_close(view->out, ']');
}

TCALL_NOINLINE_ static void tcall_view_bounds_(tcall_shape_view_ *view,
                                               const tcall_shape *node)
{
    static const char keys[] TCALL_FLASH_ =
        "minimum\0maximum\0minLength\0maxLength\0minItems\0maxItems\0"
        "exclusiveMinimum\0exclusiveMaximum\0";
    tcall_said_ said = tcall_said_of_(node);
    int decimals = node->kind < TCALL_KIND_TEXT ? node->digits : 0;
    if (view->mode != TCALL_VIEW_WHOLE_)
        return;
    if (said.has_low) {
        int group = node->flags & TCALL_MEMBER_OVER ? 3 : said.group;
        tcall_put_key_(view->out, tcall_word_at_(keys, group * 2));
        tcall_put_number_(view->out, said.low, decimals);
    }
    if (said.has_high) {
        int group = node->flags & TCALL_MEMBER_UNDER ? 3 : said.group;
        tcall_put_key_(view->out, tcall_word_at_(keys, group * 2 + 1));
        tcall_put_number_(view->out, said.high, decimals);
    }
}

/* Begins the members of a value's schema. Returns whether null has to be
 * written after it, as the other one of two. */
TCALL_NOINLINE_ static bool
tcall_view_begin_(tcall_shape_view_ *view, const tcall_shape *node, bool null)
{
    unsigned types = tcall_types_of_(node);
    bool one = tcall_kind_is_one_type_(node), nullable = null && one;
    if (++view->level > view->levels)
        view->levels = view->level;
    if (nullable) {
        view->unions++;
        tcall_put_key_(view->out, TCALL_FLASH_TEXT_("anyOf"));
        tcall_write_open(view->out, '[');
        tcall_write_open(view->out, '{');
    }
    if (one)
        tcall_view_type_(view, tcall_lowest_type_(types));
    else
        tcall_view_types_(view, null ? types | TCALL_SHAPE_NULL : types);
    if (tcall_kind_has_bounds_(node))
        tcall_view_bounds_(view, node);
    if (node->kind == TCALL_KIND_CHOICE)
        tcall_view_words_(view, node);
    return nullable;
}

/* Ends them. */
static void tcall_view_end_(tcall_shape_view_ *view, bool nullable)
{
    view->level--;
    if (!nullable)
        return;
    tcall_write_close(view->out, '}');
    tcall_write_open(view->out, '{');
    tcall_view_type_(view, 0);
    tcall_write_close(view->out, '}');
    tcall_write_close(view->out, ']');
}

static void tcall_put_scalar_(tcall_writer *writer, const tcall_shape *node,
                              const char *at, bool flash);

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

/* Writes a default. */
TCALL_NOINLINE_ static void tcall_view_default_(tcall_shape_view_ *view,
                                                const tcall_shape *node,
                                                const char *at)
{
#ifndef TOOLCALL_NO_INT64
    double number;
    if (node->kind == TCALL_KIND_NUMBER) {
        TCALL_COPY_(&number, at, sizeof number);
        tcall_write_comma_(view->out);
        tcall_put_number_(view->out, tcall_millionths_(number), node->digits);
        return;
    }
#endif
    tcall_put_scalar_(view->out, node, at, true);
}

/* Begins a property. Returns whether its value may be null. */
static bool tcall_view_member_(tcall_shape_view_ *view, const tcall_shape *node,
                               const char *name)
{
    bool optional = !(TCALL_FETCH_8_(&node->flags) & TCALL_MEMBER_REQUIRED);
    view->optional = (uint16_t)(view->optional + optional);
    tcall_put_key_(view->out, name);
    tcall_write_open(view->out, '{');
    return TCALL_FETCH_8_(&node->types) & TCALL_SHAPE_NULL ||
           (view->mode == TCALL_VIEW_ALL_ && optional);
}

/* Ends it: what it is for, and its default. */
TCALL_NOINLINE_ static void tcall_view_member_end_(tcall_shape_view_ *view,
                                                   const tcall_shape *from,
                                                   const char *description,
                                                   const void *initial)
{
    TCALL_FETCH_(tcall_shape, node, from);
    if (TCALL_BYTE_(description)) {
        tcall_put_key_(view->out, TCALL_FLASH_TEXT_("description"));
        tcall_put_string_(view->out, description);
    }
    if (node->flags & TCALL_MEMBER_DEFAULT && view->mode == TCALL_VIEW_WHOLE_) {
        tcall_put_key_(view->out, TCALL_FLASH_TEXT_("default"));
        tcall_view_default_(view, node, (const char *)initial + node->offset);
    }
    tcall_write_close(view->out, '}');
}

static void tcall_view_required_(tcall_shape_view_ *view,
                                 const tcall_object *object)
{
    const char *name = object->names;
    bool first = true;
    unsigned i;
    for (i = 0; i < object->count; i++, name = tcall_word_next_(name)) {
        uint8_t flags = (uint8_t)TCALL_BYTE_(&object->members[i].flags);
        if (!(flags & TCALL_MEMBER_REQUIRED) && view->mode != TCALL_VIEW_ALL_)
            continue;
        if (first) {
            tcall_put_key_(view->out, TCALL_FLASH_TEXT_("required"));
            tcall_write_open(view->out, '[');
        }
        first = false;
        tcall_put_string_(view->out, name);
    }
    if (!first)
        tcall_write_close(view->out, ']');
}

/* Writes what the schema of an object says after its properties. */
TCALL_NOINLINE_ static void tcall_view_rest_(tcall_shape_view_ *view,
                                             const tcall_object *object)
{
    tcall_write_close(view->out, '}');
    tcall_view_required_(view, object);
    if (view->mode == TCALL_VIEW_BRIEF_ ||
        (view->mode == TCALL_VIEW_WHOLE_ && object->open))
        return;
    tcall_put_key_(view->out, TCALL_FLASH_TEXT_("additionalProperties"));
    TCALL_SAY(view->out, "false");
}

static void tcall_view_value_(tcall_shape_view_ *view, const void *from,
                              bool null);

/* Writes what the schema of an object says beside its type. */
static void tcall_view_object_(tcall_shape_view_ *view, const void *from)
{
    TCALL_FETCH_(tcall_object, object, from);
    const char *name = object->names, *description = object->descriptions;
    unsigned i;
    tcall_put_key_(view->out, TCALL_FLASH_TEXT_("properties"));
    tcall_write_open(view->out, '{');
    for (i = 0; i < object->count; i++) {
        const tcall_shape *node = object->members + i;
        tcall_view_value_(view, node, tcall_view_member_(view, node, name));
        tcall_view_member_end_(view, node, description, object->initial);
        name = tcall_word_next_(name);
        description = tcall_word_next_(description);
    }
    tcall_view_rest_(view, object);
}

/* Writes the members of a value's schema, which may be null as well. This and
 * the function above are all that takes stack once for each level. */
static void tcall_view_value_(tcall_shape_view_ *view, const void *from,
                              bool null)
{
    TCALL_FETCH_(tcall_shape, node, from);
    bool nullable = tcall_view_begin_(view, node, null);
    if (node->kind == TCALL_KIND_LIST) {
        const tcall_shape *item = (const tcall_shape *)node->more;
        tcall_put_key_(view->out, TCALL_FLASH_TEXT_("items"));
        tcall_write_open(view->out, '{');
        tcall_view_value_(
            view, item, (TCALL_FETCH_8_(&item->types) & TCALL_SHAPE_NULL) != 0);
        tcall_write_close(view->out, '}');
    } else if (node->kind == TCALL_KIND_OBJECT) {
        tcall_view_object_(view, node->more);
    }
    tcall_view_end_(view, nullable);
}

/* Writes the schema of an object as the view wants it. */
TCALL_SHARED_ void tcall_view_shape_(tcall_shape_view_ *view,
                                     const tcall_object *shape)
{
    tcall_write_open(view->out, '{');
    tcall_view_type_(view, 6);
    tcall_view_object_(view, shape);
    tcall_write_close(view->out, '}');
}

int tcall_write_shape(tcall_writer *writer, const tcall_object *shape)
{
    tcall_shape_view_ view;
    memset(&view, 0, sizeof view);
    view.out = writer;
    tcall_view_shape_(&view, shape);
    return writer->error;
}

/* ---- all of a shape ---- */

/* A walk over the nodes of a shape, each before what is in it: those of members
 * and of items. It goes as deep as the decoder does. */
typedef struct tcall_shape_walk_ {
    const tcall_shape *node;     /* at hand, in flash; NULL: the root */
    const tcall_object *entered; /* the object that begins here, or NULL */
    uint8_t depth;
    struct {
        const tcall_object *object;
        uint8_t next; /* of its members */
    } open[TOOLCALL_SHAPE_LEVELS];
} tcall_shape_walk_;

static void tcall_walk_enter_(tcall_shape_walk_ *walk,
                              const tcall_object *object)
{
    walk->entered = object;
    if (walk->depth == TOOLCALL_SHAPE_LEVELS)
        return;
    walk->open[walk->depth].object = object;
    walk->open[walk->depth++].next = 0;
}

/* Begins at the root. */
TCALL_SHARED_ void tcall_walk_begin_(tcall_shape_walk_ *walk,
                                     const tcall_object *shape)
{
    walk->node = NULL;
    walk->depth = 0;
    tcall_walk_enter_(walk, shape);
}

/* Returns the next member of the open objects, or NULL. */
static const tcall_shape *tcall_walk_member_(tcall_shape_walk_ *walk)
{
    while (walk->depth) {
        uint8_t level = (uint8_t)(walk->depth - 1);
        uint8_t next = walk->open[level].next;
        TCALL_FETCH_(tcall_object, object, walk->open[level].object);
        if (next < object->count) {
            walk->open[level].next++;
            return object->members + next;
        }
        walk->depth = level;
    }
    return NULL;
}

/* Goes on to the next node; returns false at the end. */
TCALL_SHARED_ bool tcall_walk_next_(tcall_shape_walk_ *walk)
{
    const tcall_shape *node = walk->node;
    uint8_t kind;
    if (node && TCALL_FETCH_8_(&node->kind) == TCALL_KIND_LIST)
        node = TCALL_FETCH_POINTER_(const tcall_shape *, &node->more);
    else
        node = tcall_walk_member_(walk);
    walk->node = node;
    walk->entered = NULL;
    if (!node)
        return false;
    kind = TCALL_FETCH_8_(&node->kind);
    if (kind == TCALL_KIND_OBJECT)
        tcall_walk_enter_(
            walk, TCALL_FETCH_POINTER_(const tcall_object *, &node->more));
    return true;
}

/* Returns a list of words as one text, each ended by NUL. */
TCALL_SHARED_ tcall_str tcall_words_text_(const char *words, unsigned count)
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
    tcall_shape_walk_ walk;
    tcall_walk_begin_(&walk, shape);
    do {
        if (walk.entered) {
            TCALL_FETCH_(tcall_object, object, walk.entered);
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
    } while (tcall_walk_next_(&walk));
    return tcall_slice_(NULL, 0);
}

/* ---- a struct as JSON ---- */

/* Loads a value of a struct, which lies in flash where it is a default. */
static void tcall_load_(void *to, const char *from, size_t size, bool flash)
{
    if (flash)
        TCALL_COPY_(to, from, size);
    else
        memcpy(to, from, size);
}

/* Writes an integer of a struct, or one that stands for a decimal number. */
static void tcall_put_stored_(tcall_writer *writer, const tcall_shape *node,
                              const char *at, bool flash)
{
    tcall_int value = 0;
    int32_t narrow;
#ifndef TOOLCALL_NO_INT64
    if (node->kind == TCALL_KIND_INTEGER64)
        tcall_load_(&value, at, sizeof value, flash);
#endif
    if (node->kind == TCALL_KIND_INTEGER) {
        tcall_load_(&narrow, at, sizeof narrow, flash);
        value = narrow;
    }
    tcall_write_comma_(writer);
    tcall_put_number_(writer, value, node->digits);
}

/* Writes a value that has no parts, all that a default can be. */
static void tcall_put_scalar_(tcall_writer *writer, const tcall_shape *node,
                              const char *at, bool flash)
{
    uint8_t byte = 0;
    switch (node->kind) {
    case TCALL_KIND_BOOLEAN:
        tcall_load_(&byte, at, sizeof byte, flash);
        tcall_write_comma_(writer);
        tcall_write_flash(writer, byte ? TCALL_FLASH_TEXT_("true")
                                       : TCALL_FLASH_TEXT_("false"));
        return;
    case TCALL_KIND_CHOICE:
        tcall_load_(&byte, at, sizeof byte, flash);
        tcall_put_string_(writer,
                          tcall_word_at_((const char *)node->more, byte));
        return;
    case TCALL_KIND_TEXT:
        if (flash)
            tcall_put_string_(writer, at);
        else
            tcall_write_string(writer, at);
        return;
    default: tcall_put_stored_(writer, node, at, flash); return;
    }
}

/* Writes a value that has no parts of its own. */
TCALL_NOINLINE_ static void
tcall_put_leaf_(tcall_writer *writer, const tcall_shape *node, const char *at)
{
#ifndef TOOLCALL_NO_INT64
    double number;
#endif
    switch (node->kind) {
#ifndef TOOLCALL_NO_INT64
    case TCALL_KIND_NUMBER:
        memcpy(&number, at, sizeof number);
        tcall_write_double(writer, number);
        return;
#endif
    case TCALL_KIND_JSON:
        tcall_write_verbatim(writer, tcall_str_of(at));
        return;
    case TCALL_KIND_ANY:
    case TCALL_KIND_HOLE: tcall_write_null(writer); return;
    default: tcall_put_scalar_(writer, node, at, false); return;
    }
}

/* An object or list of a struct that is written. */
typedef struct tcall_put_level_ {
    const void *more;      /* its tcall_object, or the tcall_shape of an item */
    const char *at;        /* its struct, or the next item */
    uint16_t index, count; /* of the next member or item; of all */
    uint16_t size;         /* of an item */
    bool list;
} tcall_put_level_;

/* Opens a value that has parts; returns false of any other. */
static bool tcall_put_open_(tcall_writer *writer, tcall_put_level_ *level,
                            const tcall_shape *node, const char *at)
{
    level->more = node->more;
    level->at = at;
    level->index = 0;
    level->list = node->kind == TCALL_KIND_LIST;
    if (level->list) {
        memcpy(&level->count, at, sizeof level->count);
        level->at += node->digits;
        level->size = node->size;
    } else if (node->kind == TCALL_KIND_OBJECT) {
        TCALL_FETCH_(tcall_object, object, node->more);
        level->count = object->count;
    } else {
        return false;
    }
    tcall_write_open(writer, level->list ? '[' : '{');
    return true;
}

/* Writes the key of the next member that came or has a default. Gives where it
 * lies, NULL of one that came as null. Returns its node, or NULL. */
static const tcall_shape *tcall_put_member_(tcall_writer *writer,
                                            tcall_put_level_ *level,
                                            const char **at)
{
    TCALL_FETCH_(tcall_object, object, level->more);
    const uint8_t *given = (const uint8_t *)level->at;
    const uint8_t *came = given + (level->count + 7) / 8;
    while (level->index < level->count) {
        unsigned i = level->index++;
        TCALL_FETCH_(tcall_shape, node, object->members + i);
        bool holds =
            TCALL_BIT_OF_(given, i) || node->flags & TCALL_MEMBER_DEFAULT;
        if (node->offset == TCALL_NOWHERE ||
            (!holds && !TCALL_BIT_OF_(came, i)))
            continue;
        tcall_put_key_(writer, tcall_word_at_(object->names, (int)i));
        *at = holds ? level->at + node->offset : NULL;
        return object->members + i;
    }
    return NULL;
}

/* The same of items. */
static const tcall_shape *tcall_put_item_(tcall_put_level_ *level,
                                          const char **at)
{
    if (level->index == level->count)
        return NULL;
    level->index++;
    *at = level->at;
    level->at += level->size;
    return (const tcall_shape *)level->more;
}

/* There is no recursion: what is open is a list of levels. */
int tcall_write_struct(tcall_writer *writer, const tcall_object *shape,
                       const void *args)
{
    /* what is in the last one lies too deep */
    tcall_put_level_ levels[TOOLCALL_SHAPE_LEVELS + 1], *level = levels;
    tcall_shape root;
    memset(&root, 0, sizeof root);
    root.kind = TCALL_KIND_OBJECT;
    root.more = shape;
    tcall_put_open_(writer, level, &root, (const char *)args);
    for (;;) {
        const char *at = NULL;
        const tcall_shape *next = level->list
                                      ? tcall_put_item_(level, &at)
                                      : tcall_put_member_(writer, level, &at);
        if (next && level == levels + TOOLCALL_SHAPE_LEVELS)
            return tcall_writer_fail_(writer, TCALL_E_DEPTH);
        if (!next) {
            tcall_write_close(writer, level->list ? ']' : '}');
            if (level == levels)
                return writer->error;
            level--;
        } else if (!at) {
            tcall_write_null(writer);
        } else {
            TCALL_FETCH_(tcall_shape, node, next);
            if (tcall_put_open_(writer, level + 1, node, at))
                level++;
            else
                tcall_put_leaf_(writer, node, at);
        }
    }
}

/* ---- where a misfit is ---- */

/* Returns the keyword of a misfit, in flash. */
TCALL_SHARED_ const char *tcall_misfit_keyword_(const tcall_misfit *misfit)
{
    static const char keywords[] TCALL_FLASH_ =
#define TCALL_X_(NAME, keyword, sentence) keyword "\0"
        TCALL_MISFITS(TCALL_X_);
#undef TCALL_X_
    return tcall_word_at_(keywords, misfit->code - 1);
}

/* Where a misfit is: the value, and the object or list around it. All of it is
 * in flash. */
typedef struct tcall_misplaced_ {
    const tcall_misfit *misfit;
    const tcall_shape *node;    /* of the value */
    const char *name;           /* of the member; NULL: an item */
    const tcall_object *object; /* around the value, or the value */
    const char *came; /* the value or name in text that was checked, or NULL */
    void (*show)(tcall_writer *writer, const char *came); /* then: writes it */
} tcall_misplaced_;

/* Begins at the object that all lies in. */
static void tcall_place_init_(tcall_misplaced_ *place,
                              const tcall_misfit *misfit,
                              const tcall_object *shape)
{
    place->misfit = misfit;
    place->node = &tcall_root_;
    place->name = NULL;
    place->object = shape;
    place->came = NULL;
}

/* Goes one step down the trail. Returns false where no shape is below. */
static bool tcall_place_step_(tcall_misplaced_ *place, uint16_t step)
{
    uint8_t kind = TCALL_FETCH_8_(&place->node->kind);
    if (kind == TCALL_KIND_LIST) {
        place->name = NULL;
        place->node =
            TCALL_FETCH_POINTER_(const tcall_shape *, &place->node->more);
        return true;
    }
    if (kind != TCALL_KIND_OBJECT ||
        step >= TCALL_FETCH_8_(&place->object->count))
        return false;
    place->name = tcall_word_at_(
        TCALL_FETCH_POINTER_(const char *, &place->object->names), step);
    place->node =
        TCALL_FETCH_POINTER_(const tcall_shape *, &place->object->members) +
        step;
    return true;
}

/* Enters the object that the value is. */
static void tcall_place_enter_(tcall_misplaced_ *place)
{
    if (TCALL_FETCH_8_(&place->node->kind) == TCALL_KIND_OBJECT)
        place->object =
            TCALL_FETCH_POINTER_(const tcall_object *, &place->node->more);
}

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

/* Walks the trail, writing the steps from `from` on as a JSON Pointer. What is
 * absent or unknown has no place of its own: that is the object. */
TCALL_SHARED_ void tcall_write_misplaced_(tcall_writer *writer,
                                          tcall_misplaced_ *place, uint8_t from)
{
    const tcall_misfit *misfit = place->misfit;
    uint8_t i;
    for (i = from; i < misfit->steps; i++) {
        bool absent =
            i + 1 == misfit->steps && misfit->code == TCALL_MISFIT_REQUIRED;
        if (!tcall_place_step_(place, misfit->trail[i]))
            return;
        if (!absent) {
            tcall_write_char_(writer, '/');
            if (place->name)
                tcall_put_step_(writer, place->name);
            else
                tcall_put_number_(writer, misfit->trail[i], 0);
        }
        tcall_place_enter_(place);
    }
}

/* ---- sentences ---- */

/* Writes the types of a set: "a string, a number or null". */
TCALL_SHARED_ void tcall_tell_types_(tcall_writer *writer, unsigned types)
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

#ifndef TOOLCALL_NO_SENTENCES

/* A sentence that is being written. */
typedef struct tcall_telling_ {
    tcall_writer *out;
    const tcall_misplaced_ *place;
    const tcall_shape *node; /* of the place */
    tcall_said_ said;
} tcall_telling_;

static void tcall_tell_part_(void *of, char letter);

static void tcall_tell_text_(tcall_telling_ *tell, const char *text)
{
    tcall_write_parts_(tell->out, text, tcall_tell_part_, tell);
}

/* Writes a bound: a number, or as many things as there may be, "1 character",
 * "5 elements". */
static void tcall_tell_bound_(const tcall_telling_ *tell, tcall_int bound)
{
    static const char nouns[] TCALL_FLASH_ = "\0 character\0 element\0";
    uint8_t group = tell->said.group;
    bool value = group == TCALL_SAID_VALUE_;
    tcall_put_number_(tell->out, bound, value ? tell->node->digits : 0);
    if (value)
        return;
    tcall_write_flash(tell->out, tcall_word_at_(nouns, group));
    if (bound != 1)
        tcall_write_char_(tell->out, 's');
}

/* Returns how the bounds of a value are said. */
static const char *tcall_tell_range_(const tcall_telling_ *tell)
{
    const tcall_said_ *said = &tell->said;
    if (!tcall_kind_has_bounds_(tell->node) ||
        !(said->has_low || said->has_high))
        return TCALL_FLASH_TEXT_("");
#ifndef TOOLCALL_NO_INT64
    if (tell->node->flags & TCALL_MEMBER_OVER)
        return !said->has_high ? TCALL_FLASH_TEXT_(" over %l")
               : tell->node->flags & TCALL_MEMBER_UNDER
                   ? TCALL_FLASH_TEXT_(" over %l and under %h")
                   : TCALL_FLASH_TEXT_(" over %l and of at most %h");
    if (tell->node->flags & TCALL_MEMBER_UNDER)
        return said->has_low ? TCALL_FLASH_TEXT_(" of at least %l and under %h")
                             : TCALL_FLASH_TEXT_(" under %h");
#endif
    if (!said->has_low)
        return TCALL_FLASH_TEXT_(" of at most %h");
    if (!said->has_high)
        return TCALL_FLASH_TEXT_(" of at least %l");
    if (said->low == said->high)
        return TCALL_FLASH_TEXT_(" of %h");
    return said->group == TCALL_SAID_VALUE_
               ? TCALL_FLASH_TEXT_(" from %l to %h")
               : TCALL_FLASH_TEXT_(" of %c to %h");
}

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
static void tcall_tell_wanted_(tcall_telling_ *tell)
{
    const tcall_shape *node = tell->node;
    unsigned types = tcall_types_of_(node);
    bool null_last = types & TCALL_SHAPE_NULL && tcall_kind_is_one_type_(node);
    if (node->kind == TCALL_KIND_CHOICE)
        tcall_tell_list_(tell->out, (const char *)node->more, node->high + 1);
    else
        tcall_tell_types_(
            tell->out, null_last ? types & ~(unsigned)TCALL_SHAPE_NULL : types);
    tcall_tell_text_(tell, tcall_tell_range_(tell));
    if (null_last)
        TCALL_SAY(tell->out, " or null");
}

/* Writes for how much the struct has room. */
static void tcall_tell_room_(tcall_telling_ *tell)
{
    const tcall_shape *node = tell->node;
    if (tell->said.group == TCALL_SAID_VALUE_) {
        tcall_tell_wanted_(tell);
        return;
    }
    TCALL_SAY(tell->out, "at most ");
    if (tell->said.group == TCALL_SAID_ITEMS_) {
        tcall_tell_bound_(tell, node->high);
    } else {
        tcall_put_number_(tell->out, node->size - 1, 0);
        TCALL_SAY(tell->out, " bytes");
    }
}

/* Writes which members there are instead of one that is not known. */
static void tcall_tell_known_(const tcall_telling_ *tell)
{
    const tcall_object *object = tell->place->object;
    uint8_t count = TCALL_FETCH_8_(&object->count);
    if (!count)
        return;
    TCALL_SAY(tell->out, "use ");
    tcall_tell_list_(tell->out,
                     TCALL_FETCH_POINTER_(const char *, &object->names), count);
    TCALL_SAY(tell->out, " or ");
}

/* Writes a name or word that came, in quotes and escaped as in JSON, cut where
 * it was too long to be shown, and a text after it; where none was kept, a text
 * in place of both. */
static void tcall_tell_came_(const tcall_telling_ *tell, const char *after,
                             const char *unkept)
{
    const tcall_misplaced_ *place = tell->place;
    if (place->came) {
        place->show(tell->out, place->came);
        tcall_write_flash(tell->out, after);
        return;
    }
#if TOOLCALL_MISFIT_TEXT
    const tcall_misfit *misfit = place->misfit;
    size_t len = misfit->text_len;
    bool cut = len == TOOLCALL_MISFIT_TEXT;
    if (len) {
        uint8_t quoted = tell->out->quoted;
        tcall_write_char_(tell->out, '"');
        if (!quoted) /* a plain text: no ends of lines, nothing for terminals */
            tell->out->quoted = 1;
        tcall_write_bytes(tell->out, misfit->text,
                          cut ? tcall_utf8_cut_(misfit->text, len - 1) : len);
        tell->out->quoted = quoted;
        tcall_write_text(tell->out, cut ? "...\"" : "\"");
        unkept = after;
    }
#endif
    tcall_write_flash(tell->out, unkept);
}

/* Writes what passed a bound: of a number that itself, where it is known. */
static void tcall_tell_value_(const tcall_telling_ *tell)
{
    const tcall_misfit *misfit = tell->place->misfit;
    if (tell->said.group == TCALL_SAID_LENGTH_)
        TCALL_SAY(tell->out, "the string");
    else if (tell->said.group == TCALL_SAID_ITEMS_)
        TCALL_SAY(tell->out, "the array");
    else if (tell->place->came)
        tell->place->show(tell->out, tell->place->came);
    else if (misfit->exact)
        tcall_put_number_(tell->out, misfit->got, tell->node->digits);
    else
        TCALL_SAY(tell->out, "this number");
}

/* Returns how the minimum is said that was passed. */
static const char *tcall_tell_under_(const tcall_shape *node)
{
#ifndef TOOLCALL_NO_INT64
    if (node->flags & TCALL_MEMBER_OVER)
        return TCALL_FLASH_TEXT_("not over %l");
#endif
    (void)node;
    return TCALL_FLASH_TEXT_("under the minimum %l");
}

static const char *tcall_tell_over_(const tcall_shape *node)
{
#ifndef TOOLCALL_NO_INT64
    if (node->flags & TCALL_MEMBER_UNDER)
        return TCALL_FLASH_TEXT_("not under %h");
#endif
    (void)node;
    return TCALL_FLASH_TEXT_("over the maximum %h");
}

/* Writes what a letter in a sentence stands for: see TCALL_MISFITS. Further
 * ones are %l and %h, the bounds, and %c, the lower one as a mere number. */
static void tcall_tell_part_(void *of, char letter)
{
    tcall_telling_ *tell = (tcall_telling_ *)of;
    const tcall_shape *node = tell->node;
    switch (letter) {
    case 'v': tcall_tell_value_(tell); break;
    case 'u': tcall_tell_text_(tell, tcall_tell_under_(node)); break;
    case 'o': tcall_tell_text_(tell, tcall_tell_over_(node)); break;
    case 'l': tcall_tell_bound_(tell, tell->said.low); break;
    case 'h': tcall_tell_bound_(tell, tell->said.high); break;
    case 'c': tcall_put_number_(tell->out, tell->said.low, 0); break;
    case 's': tcall_tell_wanted_(tell); break;
    case 'r': tcall_tell_room_(tell); break;
    case 'k': tcall_tell_known_(tell); break;
    case 'w':
        tcall_tell_came_(tell, TCALL_FLASH_TEXT_(""),
                         TCALL_FLASH_TEXT_("this"));
        break;
    case 'x':
        tcall_tell_came_(tell, TCALL_FLASH_TEXT_(" is not a property here"),
                         TCALL_FLASH_TEXT_("a property is not known here"));
        break;
    case 'n':
        if (tell->place->name)
            tcall_write_flash(tell->out, tell->place->name);
        break;
    default: break;
    }
}

/* Writes what is wrong, and what to send instead. */
TCALL_SHARED_ void tcall_tell_misfit_(tcall_writer *writer,
                                      const tcall_misplaced_ *place)
{
    static const char sentences[] TCALL_FLASH_ =
#define TCALL_X_(NAME, keyword, sentence) sentence "\0"
        TCALL_MISFITS(TCALL_X_);
#undef TCALL_X_
    tcall_telling_ tell;
    TCALL_FETCH_(tcall_shape, node, place->node);
    tell.out = writer;
    tell.place = place;
    tell.node = node;
    tell.said = tcall_said_of_(node);
    tcall_tell_text_(&tell, tcall_word_at_(sentences, place->misfit->code - 1));
}

#else

/* Writes what is wrong as the keyword alone. */
TCALL_SHARED_ void tcall_tell_misfit_(tcall_writer *writer,
                                      const tcall_misplaced_ *place)
{
    tcall_write_flash(writer, tcall_misfit_keyword_(place->misfit));
}

#endif /* TOOLCALL_NO_SENTENCES */

int tcall_write_misfit(tcall_writer *writer, const tcall_misfit *misfit,
                       const tcall_object *shape, uint8_t from)
{
    tcall_misplaced_ place;
    size_t before = writer->len;
    tcall_place_init_(&place, misfit, shape);
    tcall_write_misplaced_(writer, &place, from);
    if (writer->len > before)
        TCALL_SAY(writer, ": ");
    tcall_tell_misfit_(writer, &place);
    return writer->error;
}
