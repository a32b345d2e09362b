#pragma once
#include "say.c"
#include "tools.h"

/* ==========================================================================
 * >>say: schemas
 *
 * The schema of a tool is written as its provider wants it: from the text of
 * its author, or from its shape, as a struct and an example are. What is
 * written of shapes is a piece of flash at a time, since on an AVR texts are
 * read from there by instructions of their own.
 */

/* Returns the shape that the arguments are read by, or NULL. */
TCALL_SHARED_ const tcall_object *tcall_tool_shape_(const tcall_tool *tool)
{
    return tool->parameters.text ? NULL
                                 : (const tcall_object *)tool->parameters.made;
}

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

/* Writes value / 10^digits as a value. */
static void tcall_put_decimal_(tcall_writer *writer, tcall_int value,
                               int digits)
{
    tcall_write_comma_(writer);
    tcall_put_number_(writer, value, digits);
}

/* ---- all of a shape ----
 *
 * What goes over the values of a shape calls itself for each object and list
 * within, as deep as the decoder goes. `depth` is that of the object or list
 * that a value is in; the outermost, which has no shape of its own, is in 0.
 */

/* ---- values of a struct ---- */

/* Writes a value that has no parts; of a number its default. That lies in
 * flash, and is written without the arithmetic of doubles. */
TCALL_NOINLINE_ static void tcall_put_leaf_(tcall_writer *writer,
                                            const tcall_shape *node,
                                            const char *at, bool flash)
{
    static const uint8_t sizes[] TCALL_FLASH_ = {0, 1, 4, 8, 0, 0, 1};
    size_t size = node->kind <= TCALL_KIND_CHOICE
                      ? TCALL_FETCH_8_(sizes + node->kind)
                      : 0u;
    union {
        uint8_t byte;
        int32_t narrow;
#ifndef TOOLCALL_NO_INT64
        int64_t wide;
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
        tcall_put_decimal_(writer, is.narrow, node->digits);
#ifndef TOOLCALL_NO_INT64
    else if (node->kind == TCALL_KIND_INTEGER64)
        tcall_put_decimal_(writer, is.wide, node->digits);
    else if (node->kind == TCALL_KIND_NUMBER) {
        TCALL_FETCH_(tcall_range, range, node->more);
        tcall_put_decimal_(writer, range->initial, node->digits);
    }
#endif
    else
        tcall_write_null(writer);
}

/* How the values of a shape are written. */
typedef struct tcall_put_ {
    tcall_writer *out;
    const tcall_object *root;
    /* Writes a value that has no parts: the one at a place, or one that fits.
     */
    void (*leaf)(tcall_writer *out, const tcall_shape *shape, const char *at);
} tcall_put_;

/* Begins a member that came or has a default; without a struct one that is
 * required. Returns its shape; NULL: it has no value, or null. */
TCALL_NOINLINE_ static const tcall_shape *
tcall_put_member_(const tcall_put_ *put, const tcall_object *from,
                  const char *args, int i)
{
    TCALL_FETCH_(tcall_object, object, from);
    const tcall_shape *member = object->members + i;
    const uint8_t *given = (const uint8_t *)args;
    uint8_t flags = TCALL_FETCH_8_(&member->flags);
    bool null =
        args && !TCALL_BIT_OF_(given, i) && !(flags & TCALL_MEMBER_DEFAULT);
    if (args ? TCALL_FETCH_16_(&member->offset) == TCALL_NOWHERE ||
                   (null && !TCALL_BIT_OF_(given + (object->count + 7) / 8, i))
             : !(flags & TCALL_MEMBER_REQUIRED))
        return NULL;
    tcall_put_key_(put->out, tcall_word_at_(object->names, i));
    if (null)
        tcall_write_null(put->out);
    return null ? NULL : member;
}

/* Writes the value at a place; where that is NULL, as little as is required. */
static void tcall_put_value_(const tcall_put_ *put, const tcall_shape *from,
                             const char *at, int depth)
{
    TCALL_FETCH_(tcall_shape, shape, from);
    const tcall_object *object =
        shape->more ? (const tcall_object *)shape->more : put->root;
    const tcall_shape *part = (const tcall_shape *)shape->more;
    uint16_t i, count = (uint16_t)shape->low;
    if (shape->kind != TCALL_KIND_LIST && shape->kind != TCALL_KIND_OBJECT) {
        put->leaf(put->out, shape, at);
    } else if (depth == TOOLCALL_SHAPE_LEVELS) {
        tcall_writer_fail_(put->out, TCALL_E_DEPTH);
    } else if (shape->kind == TCALL_KIND_LIST) {
        if (at)
            memcpy(&count, at, sizeof count);
        tcall_write_open(put->out, '[');
        for (i = 0; i < count; i++)
            tcall_put_value_(put, part,
                             at ? at + shape->digits + (size_t)i * shape->size
                                : NULL,
                             depth + 1);
        tcall_write_close(put->out, ']');
    } else {
        tcall_write_open(put->out, '{');
        for (i = 0; i < TCALL_FETCH_8_(&object->count); i++) {
            part = tcall_put_member_(put, object, at, i);
            if (part)
                tcall_put_value_(
                    put, part, at ? at + TCALL_FETCH_16_(&part->offset) : NULL,
                    depth + 1);
        }
        tcall_write_close(put->out, '}');
    }
}

static void tcall_put_stored_(tcall_writer *writer, const tcall_shape *shape,
                              const char *at)
{
#ifndef TOOLCALL_NO_INT64
    double number;
    if (shape->kind == TCALL_KIND_NUMBER) {
        memcpy(&number, at, sizeof number);
        tcall_write_double(writer, number);
        return;
    }
#endif
    tcall_put_leaf_(writer, shape, at, false);
}

int tcall_write_struct(tcall_writer *writer, const tcall_object *shape,
                       const void *args)
{
    const tcall_put_ put = {writer, shape, tcall_put_stored_};
    tcall_put_value_(&put, &tcall_root_, (const char *)args, 0);
    return writer->error;
}

/* ---- an example of what is allowed ----
 *
 * Whether it is, somebody looks later: of several rules some may not be met.
 */

/* Writes a string of about five characters, within its limits. */
static void tcall_example_string_(tcall_writer *out, int32_t least,
                                  int32_t most)
{
    int32_t len = most < 5 ? most : 5, i;
    if (len < least)
        len = least;
    tcall_write_quote(out);
    for (i = 0; i < len && !out->error; i++)
        tcall_write_char_(out, "value"[i % 5]);
    tcall_write_unquote(out);
}

/* ---- an example of a shape ---- */

/* Writes a value that a node allows: of numbers one at a limit. */
static void tcall_put_fitting_(tcall_writer *out, const tcall_shape *node,
                               const char *at)
{
    tcall_limit_ limit;
    bool high;
    (void)at;
    tcall_limit_of_(&limit, node, false);
    high = limit.how == TCALL_LIMIT_NONE_;
    if (high)
        tcall_limit_of_(&limit, node, true);
    if (node->kind == TCALL_KIND_CHOICE)
        tcall_put_string_(out, (const char *)node->more);
    else if (node->types & TCALL_SHAPE_STRING)
        tcall_example_string_(out, node->low,
                              node->kind == TCALL_KIND_TEXT ? node->high : 5);
    else if (node->types & TCALL_SHAPE_BOOLEAN)
        tcall_write_bool(out, true);
    else if (node->types == TCALL_SHAPE_NULL)
        tcall_write_null(out);
    else if (limit.how == TCALL_LIMIT_NONE_)
        tcall_write_int(out, 1);
    else
        tcall_put_decimal_(out,
                           limit.number + (limit.how == TCALL_LIMIT_WITHIN_ ? 0
                                           : high                           ? -1
                                                  : 1),
                           limit.digits);
}

/* Writes arguments that a shape allows: all that is required. */
TCALL_SHARED_ void tcall_write_shape_example_(tcall_writer *out,
                                              tcall_schema_text source)
{
    const tcall_put_ put = {out, (const tcall_object *)source.made,
                            tcall_put_fitting_};
    tcall_put_value_(&put, &tcall_root_, NULL, 0);
}

/* ---- an example of the text of a schema ---- */

/* Values that are nested deeper are left out. */
enum { TCALL_EXAMPLE_DEPTH_ = 3 };

/* Returns a value that a schema names, in the order of how likely it does what
 * the user wants, NULL: it names none. Of a number it is a limit. */
TCALL_NOINLINE_ static const char *tcall_example_named_(const char *schema)
{
    static const char keywords[][11] = {"enum",    "examples", /* lists */
                                        "const",   "default",  "multipleOf",
                                        "minimum", "maximum"};
    const char *value = NULL;
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(keywords) && !value; i++) {
        value = tcall_text_get_(schema, keywords[i]);
        if (i < 2)
            value = tcall_text_first_(value);
    }
    return value;
}

/* Returns what a schema says of a keyword, as far as it is a whole number, and
 * of a size that can be counted with. */
TCALL_NOINLINE_ static int32_t
tcall_example_whole_(const char *schema, const char *keyword, int32_t otherwise)
{
    const int32_t most = (int32_t)1 << 30;
    const char *at = tcall_text_get_(schema, keyword);
    tcall_num_ number = tcall_text_number_(at ? at : "1e99");
    tcall_int value;
    int rest;
    return tcall_num_whole_(&number, 0, &value, &rest) && value < most &&
                   value > -most
               ? (int32_t)value
               : otherwise;
}

/* Writes a value that a schema may allow: of an object what it requires, of an
 * array as many elements as it wants. */
static void tcall_example_value_(tcall_writer *out, const char *schema,
                                 int depth)
{
    const char *named = tcall_example_named_(schema);
    const char *type = tcall_text_get_(schema, "type"),
               *any = tcall_text_get_(schema, "anyOf"),
               *name = tcall_text_first_(tcall_text_get_(schema, "required"));
    int32_t count = tcall_example_whole_(schema, "minItems", 0);
    unsigned types = TCALL_SHAPE_STRING;
    any = tcall_text_first_(any ? any : tcall_text_get_(schema, "oneOf"));
    if (type)
        types = tcall_sc_type_(*type == '[' ? tcall_text_first_(type) : type);
    if (named) {
        tcall_write_verbatim(out, tcall_text_verbatim_(named));
    } else if (!type && any && depth) {
        tcall_example_value_(out, any, depth - 1);
    } else if (types == TCALL_SHAPE_OBJECT && depth) {
        tcall_write_open(out, '{');
        for (; name && !out->error; name = tcall_text_sibling_(name)) {
            const char *property = tcall_text_find_(
                tcall_text_first_(tcall_text_get_(schema, "properties")), name);
            tcall_write_verbatim(out, tcall_text_verbatim_(name));
            tcall_write_char_(out, ':');
            tcall_example_value_(
                out, property ? tcall_text_value_(property) : NULL, depth - 1);
        }
        tcall_write_close(out, '}');
    } else if (types == TCALL_SHAPE_ARRAY && depth) {
        tcall_write_open(out, '[');
        for (; count > 0 && !out->error; count--)
            tcall_example_value_(out, tcall_text_get_(schema, "items"),
                                 depth - 1);
        tcall_write_close(out, ']');
    } else if (types & TCALL_SHAPE_STRING) {
        tcall_example_string_(out, tcall_example_whole_(schema, "minLength", 0),
                              tcall_example_whole_(schema, "maxLength", 5));
    } else if (types & TCALL_SHAPE_BOOLEAN) {
        tcall_write_bool(out, true);
    } else if (types == TCALL_SHAPE_NULL) {
        tcall_write_null(out);
    } else { /* a number, which is not one of its limits */
        tcall_write_int(
            out, tcall_text_get_(schema, "exclusiveMinimum")
                     ? tcall_example_whole_(schema, "exclusiveMinimum", 0) + 1
                     : tcall_example_whole_(schema, "exclusiveMaximum", 2) - 1);
    }
}

TCALL_SHARED_ void tcall_write_schema_example_(tcall_writer *out,
                                               tcall_schema_text source)
{
    tcall_example_value_(out, tcall_text_space_(source.text),
                         TCALL_EXAMPLE_DEPTH_);
}

/* ---- JSON Schema ---- */

/* How a schema is written, and what it takes of what a strict mode limits. */
typedef struct tcall_view_ {
    tcall_writer *out;
    uint8_t mode;              /* TCALL_STRICT_...; NONE: all that it says */
    bool unfit;                /* it cannot be strict */
    uint16_t optional, unions; /* so many there are */
    const tcall_object *root;  /* the shape, or NULL: it has a text */
} tcall_view_;

/* Strict modes accept so many levels of schemas below the first. */
#define TCALL_STRICT_LEVELS_ 10

/* Writes the first type of a set, null last; returns the others. */
static unsigned tcall_view_type_(tcall_writer *out, unsigned types)
{
    static const char words[] TCALL_FLASH_ =
        "null\0boolean\0integer\0number\0string\0array\0object\0";
    int index = types > TCALL_SHAPE_NULL;
    while (!(types >> index & 1))
        index++;
    TCALL_PUT_(out, "\"type\":");
    tcall_put_string_(out, tcall_word_at_(words, index));
    return types & ~(1u << index);
}

/* Writes the low or the high bound, if there is one and the view has it. */
TCALL_NOINLINE_ static void
tcall_view_bound_(tcall_view_ *view, const tcall_shape *shape, bool high)
{
    static const char keys[] TCALL_FLASH_ =
        "exclusiveMinimum\0exclusiveMaximum\0minimum\0maximum\0"
        "minLength\0maxLength\0minItems\0maxItems\0";
    tcall_limit_ limit;
    const uint8_t of = tcall_limits_of_(shape->kind);
    tcall_limit_of_(&limit, shape, high);
    /* OpenAI knows no lengths of strings, Anthropic arrays of at least one */
    if (!limit.how ||
        (view->mode == TCALL_STRICT_OPENAI && of == TCALL_LIMITS_LENGTH_) ||
        (view->mode == TCALL_STRICT_ANTHROPIC &&
         (of != TCALL_LIMITS_ITEMS_ || high || limit.number > 1)) ||
        view->mode == TCALL_STRICT_OLLAMA)
        return;
    tcall_put_key_(view->out,
                   tcall_word_at_(keys, limit.how == TCALL_LIMIT_BEYOND_
                                            ? high
                                            : of * 2 + high));
    tcall_put_number_(view->out, limit.number, limit.digits);
}

/* Begins the schema of a value with its first type, which says all that is not
 * in it: not everyone accepts a list of types. Returns the other types. All of
 * them are said by saying nothing. OpenAI wants all members to be there: one
 * that is optional may be null. */
TCALL_NOINLINE_ static unsigned
tcall_view_begin_(tcall_view_ *view, const tcall_shape *shape, bool member)
{
    const unsigned all = tcall_types_of_(TCALL_SHAPE_ANY);
    unsigned types = tcall_types_of_(shape->types);
    if (member && !(shape->flags & TCALL_MEMBER_REQUIRED)) {
        view->optional++;
        if (view->mode == TCALL_STRICT_OPENAI)
            types |= TCALL_SHAPE_NULL;
    }
    if (types == all)
        types = 0;
    if (types & (types - 1)) {
        TCALL_PUT_(view->out, "\"anyOf\":[{");
        view->unions++;
    }
    if (types)
        types = tcall_view_type_(view->out, types);
    tcall_view_bound_(view, shape, false);
    tcall_view_bound_(view, shape, true);
    if (shape->kind == TCALL_KIND_CHOICE) {
        const char *word = (const char *)shape->more;
        int32_t left = shape->high;
        TCALL_PUT_(view->out, "\"enum\":[");
        for (; left >= 0; left--, word = tcall_word_next_(word))
            tcall_put_string_(view->out, word);
        TCALL_SAY(view->out, "]");
    }
    return types;
}

/* Begins the schema of a member. Returns its shape. */
TCALL_NOINLINE_ static const tcall_shape *
tcall_view_member_(tcall_view_ *view, const tcall_object *from, int i)
{
    TCALL_FETCH_(tcall_object, object, from);
    tcall_put_key_(view->out, tcall_word_at_(object->names, i));
    TCALL_SAY(view->out, "{");
    return object->members + i;
}

/* Ends it with what it says besides: what the member is for, and its default.
 */
TCALL_NOINLINE_ static void tcall_view_end_(tcall_view_ *view,
                                            const tcall_object *from, int i)
{
    TCALL_FETCH_(tcall_object, object, from);
    TCALL_FETCH_(tcall_shape, shape, object->members + i);
    const char *text = tcall_word_at_(object->descriptions, i);
    if (TCALL_BYTE_(text)) {
        TCALL_PUT_(view->out, "\"description\":");
        tcall_put_string_(view->out, text);
    }
    if (shape->flags & TCALL_MEMBER_DEFAULT && !view->mode) {
        TCALL_PUT_(view->out, "\"default\":");
        tcall_put_leaf_(view->out, shape,
                        (const char *)object->initial + shape->offset, true);
    }
    TCALL_SAY(view->out, "}");
}

/* Writes what the schema of an object says after its properties: which of them
 * have to be there, for OpenAI all, and that there are no others. */
TCALL_NOINLINE_ static void tcall_view_close_(tcall_view_ *view,
                                              const tcall_object *from)
{
    TCALL_FETCH_(tcall_object, object, from);
    bool any = false;
    int i;
    for (i = 0; i < object->count; i++)
        if (view->mode == TCALL_STRICT_OPENAI ||
            TCALL_FETCH_8_(&object->members[i].flags) & TCALL_MEMBER_REQUIRED) {
            if (!any)
                TCALL_PUT_(view->out, "\"required\":[");
            any = true;
            tcall_put_string_(view->out, tcall_word_at_(object->names, i));
        }
    if (any)
        TCALL_SAY(view->out, "]");
    if (view->mode != TCALL_STRICT_OLLAMA && (view->mode || !object->open))
        TCALL_PUT_(view->out, "\"additionalProperties\":false");
}

/* Writes the schema of a value but for its braces. */
static void tcall_view_value_(tcall_view_ *view, const tcall_shape *from,
                              bool member, int depth)
{
    TCALL_FETCH_(tcall_shape, shape, from);
    const tcall_object *object =
        shape->more ? (const tcall_object *)shape->more : view->root;
    const bool list = shape->kind == TCALL_KIND_LIST,
               nests = list || shape->kind == TCALL_KIND_OBJECT;
    unsigned others = tcall_view_begin_(view, shape, member);
    int i;
    view->unfit |=
        depth > TCALL_STRICT_LEVELS_ ||
        (!nests && shape->types & (TCALL_SHAPE_ARRAY | TCALL_SHAPE_OBJECT));
    if (nests && depth == TOOLCALL_SHAPE_LEVELS) {
        tcall_writer_fail_(view->out, TCALL_E_DEPTH);
    } else if (list) {
        TCALL_PUT_(view->out, "\"items\":{");
        tcall_view_value_(view, (const tcall_shape *)shape->more, false,
                          depth + 1);
        TCALL_SAY(view->out, "}");
    } else if (nests) {
        TCALL_PUT_(view->out, "\"properties\":{");
        for (i = 0; i < TCALL_FETCH_8_(&object->count); i++) {
            tcall_view_value_(view, tcall_view_member_(view, object, i), true,
                              depth + 1);
            tcall_view_end_(view, object, i);
        }
        TCALL_SAY(view->out, "}");
        tcall_view_close_(view, object);
    }
    if (!others)
        return;
    do {
        TCALL_SAY(view->out, "},{");
        others = tcall_view_type_(view->out, others);
    } while (others);
    TCALL_SAY(view->out, "}]");
}

/* Writes the schema of an object as the view wants it. */
static int tcall_view_shape_(tcall_view_ *view)
{
    tcall_write_open(view->out, '{');
    tcall_view_value_(view, &tcall_root_, false, 0);
    return tcall_write_close(view->out, '}');
}

int tcall_write_shape(tcall_writer *writer, const tcall_object *shape)
{
    tcall_view_ view = {writer, TCALL_STRICT_NONE, false, 0, 0, shape};
    return tcall_view_shape_(&view);
}

/* ---- the text of a schema, as a mode has it ---- */

/* What the value of a keyword is. */
enum {
    TCALL_STRICT_COPY_,   /* data, copied as it is */
    TCALL_STRICT_SCHEMA_, /* a schema */
    TCALL_STRICT_LIST_,   /* an array of schemas */
    TCALL_STRICT_MAP_,    /* schemas by names that are no keywords */
    TCALL_STRICT_PROPERTIES_,
    TCALL_STRICT_FORMAT_,
    TCALL_STRICT_NUMBER_, /* where it is one; Anthropic knows 0 and 1 */
    TCALL_STRICT_PATTERN_,
    TCALL_STRICT_CLOSED_ /* additionalProperties */
};

/* Modes, for short. */
enum {
    TCALL_FOR_NONE_ = 0,
    TCALL_FOR_OPENAI_ = TCALL_STRICT_OPENAI,
    TCALL_FOR_ANTHROPIC_ = TCALL_STRICT_ANTHROPIC,
    TCALL_FOR_OLLAMA_ = TCALL_STRICT_OLLAMA,
    TCALL_FOR_BOTH_ = TCALL_STRICT_OPENAI | TCALL_STRICT_ANTHROPIC,
    TCALL_FOR_OTHERS_ = TCALL_STRICT_ANTHROPIC | TCALL_STRICT_OLLAMA,
    TCALL_FOR_ALL_ = TCALL_FOR_BOTH_ | TCALL_STRICT_OLLAMA
};

/* X(NAME, keyword, TCALL_STRICT_..._, the modes that have it, those that cannot
 * say it: the tool is not strict). What is not listed is left out everywhere,
 * and checked when a call comes. ONLY becomes an enum of one, ONEOF anyOf. */
#define TCALL_STRICT_KEYWORDS_(X)                         \
    X(TYPE, "type", COPY, ALL, NONE)                      \
    X(DESCRIPTION, "description", COPY, ALL, NONE)        \
    X(TITLE, "title", COPY, ANTHROPIC, NONE)              \
    X(ENUM, "enum", COPY, ALL, NONE)                      \
    X(CONST, "const", COPY, BOTH, NONE)                   \
    X(ONLY, "const", COPY, OLLAMA, NONE)                  \
    X(FORMAT, "format", FORMAT, BOTH, NONE)               \
    X(PATTERN, "pattern", PATTERN, OPENAI, NONE)          \
    X(MINIMUM, "minimum", NUMBER, OPENAI, NONE)           \
    X(MAXIMUM, "maximum", NUMBER, OPENAI, NONE)           \
    X(ABOVE, "exclusiveMinimum", NUMBER, OPENAI, NONE)    \
    X(BELOW, "exclusiveMaximum", NUMBER, OPENAI, NONE)    \
    X(MULTIPLE, "multipleOf", NUMBER, OPENAI, NONE)       \
    X(MIN_ITEMS, "minItems", NUMBER, BOTH, NONE)          \
    X(MAX_ITEMS, "maxItems", NUMBER, OPENAI, NONE)        \
    X(PROPERTIES, "properties", PROPERTIES, ALL, NONE)    \
    X(REQUIRED, "required", COPY, OTHERS, NONE)           \
    X(ITEMS, "items", SCHEMA, ALL, NONE)                  \
    X(ANYOF, "anyOf", LIST, ALL, NONE)                    \
    X(ONEOF, "oneOf", LIST, ALL, NONE)                    \
    X(ALLOF, "allOf", LIST, ANTHROPIC, OPENAI)            \
    X(REF, "$ref", COPY, BOTH, NONE)                      \
    X(DEFS, "$defs", MAP, BOTH, NONE)                     \
    X(DEFINITIONS, "definitions", MAP, OPENAI, ANTHROPIC) \
    X(CLOSED, "additionalProperties", CLOSED, ALL, NONE)  \
    X(PATTERNS, "patternProperties", COPY, NONE, BOTH)    \
    X(PREFIX, "prefixItems", COPY, NONE, BOTH)            \
    X(DEPENDENT, "dependentSchemas", COPY, NONE, BOTH)    \
    X(IF, "if", COPY, NONE, BOTH)

/* Their rows. */
enum {
#define TCALL_X_(NAME, keyword, value, kept, unfit) TCALL_SEES_##NAME##_,
    TCALL_STRICT_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
        TCALL_STRICT_ROWS_
};

/* Sets of rows: what says which values there may be, and groups. */
#define TCALL_SEES_(NAME) ((uint32_t)1 << TCALL_SEES_##NAME##_)
#define TCALL_SEES_GROUP_ \
    (TCALL_SEES_(ANYOF) | TCALL_SEES_(ONEOF) | TCALL_SEES_(ALLOF))
#define TCALL_SEES_VALUES_                                      \
    (TCALL_SEES_GROUP_ | TCALL_SEES_(TYPE) | TCALL_SEES_(REF) | \
     TCALL_SEES_(ENUM) | TCALL_SEES_(CONST))

static const char tcall_strict_names_[] =
#define TCALL_X_(NAME, keyword, value, kept, unfit) keyword "\0"
    TCALL_STRICT_KEYWORDS_(TCALL_X_);
#undef TCALL_X_

static const struct {
    uint8_t value, kept, unfit;
} tcall_strict_keywords_[] = {
#define TCALL_X_(NAME, keyword, value, kept, unfit) \
    {TCALL_STRICT_##value##_, TCALL_FOR_##kept##_, TCALL_FOR_##unfit##_},
    TCALL_STRICT_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
};

/* Deeper brackets are copied as they are. */
#define TCALL_STRICT_DEPTH_ 24

/* So many schemas of one tool are written where a $ref names them. */
#define TCALL_STRICT_REFS_ 32

/* A bracket that is open. */
typedef struct tcall_strict_open_ {
    const char *from; /* it, or what its $ref names */
    const char *next; /* what is next after it, where its $ref was followed */
    uint32_t seen;    /* set of rows of keywords */
    uint8_t value;    /* TCALL_STRICT_..._ */
    bool nullable;
} tcall_strict_open_;

/* Writes a schema again, without recursion. */
typedef struct tcall_strict_walk_ {
    tcall_view_ *view;
    const char *root;
    uint8_t depth, level; /* of brackets, of schemas */
    uint8_t refs;         /* so many were followed */
    tcall_strict_open_ open[TCALL_STRICT_DEPTH_];
} tcall_strict_walk_;

/* Returns whether a string is the name, or an array has it. Names may be
 * escaped in one place and not in the other. */
static bool tcall_strict_has_(const char *text, tcall_text_bytes_ name)
{
    const char *at = text && *text == '"' ? text : tcall_text_first_(text);
    for (; at && *at == '"'; at = at == text ? NULL : tcall_text_sibling_(at))
        if (tcall_text_match_(at, name))
            return true;
    return false;
}

/* Returns whether the schema's type allows this one. */
static bool tcall_strict_type_(const char *schema, const char *word)
{
    return tcall_strict_has_(tcall_text_get_(schema, "type"),
                             tcall_text_bytes_in_(tcall_str_of(word)));
}

/* Enters the bracket at p; returns the next byte to look at. */
static const char *tcall_strict_enter_(tcall_strict_walk_ *walk, const char *p,
                                       uint8_t value, bool nullable)
{
    tcall_strict_open_ *open = &walk->open[walk->depth];
    if (*p != (value == TCALL_STRICT_LIST_ ? '[' : '{') ||
        walk->depth == TCALL_STRICT_DEPTH_) {
        walk->view->unfit = true;
        tcall_write_verbatim(walk->view->out, tcall_text_verbatim_(p));
        return tcall_text_skip_(p);
    }
    tcall_write_open(walk->view->out, *p);
    memset(open, 0, sizeof *open);
    open->from = p;
    open->value = value;
    open->nullable = nullable;
    walk->depth++;
    walk->level = (uint8_t)(walk->level + (value == TCALL_STRICT_SCHEMA_));
    return p + 1;
}

/* Ends the members of a schema: strict objects are closed, and OpenAI wants
 * every property to be required. Strict modes refuse a value of any kind, an
 * object of any members, an array of anything. */
static void tcall_strict_close_schema_(const tcall_strict_walk_ *walk,
                                       const tcall_strict_open_ *open)
{
    tcall_view_ *view = walk->view;
    const char *properties = tcall_text_get_(open->from, "properties");
    const char *name = tcall_text_first_(properties);
    view->unfit |= walk->level > TCALL_STRICT_LEVELS_ ||
                   !(open->seen & TCALL_SEES_VALUES_) ||
                   (!properties && tcall_strict_type_(open->from, "object")) ||
                   (!(open->seen & TCALL_SEES_(ITEMS)) &&
                    tcall_strict_type_(open->from, "array"));
    if (walk->depth == 0 && !(open->seen & TCALL_SEES_(TYPE)))
        TCALL_PUT_(view->out, "\"type\":\"object\"");
    if (!properties || view->mode == TCALL_STRICT_OLLAMA)
        return;
    TCALL_PUT_(view->out, "\"additionalProperties\":false");
    if (view->mode != TCALL_STRICT_OPENAI)
        return;
    TCALL_PUT_(view->out, "\"required\":["); /* as they are escaped */
    for (; name; name = tcall_text_sibling_(name))
        tcall_write_verbatim(view->out, tcall_text_verbatim_(name));
    TCALL_SAY(view->out, "]");
}

/* Returns the schema in the same text that a $ref names, or NULL. One that is
 * open already would lead into itself. */
TCALL_NOINLINE_ static const char *
tcall_strict_target_(const tcall_strict_walk_ *walk, const char *ref)
{
    const char *at = walk->root, *p = ref ? ref + 2 : NULL;
    char name[TCALL_NAME_MAX_];
    tcall_str step;
    int i = walk->depth, len;
    if (!ref || ref[0] != '"' || ref[1] != '#')
        return NULL;
    while (at && *p == '/') {
        p++;
        len = tcall_pointer_step_(&p, name);
        step = tcall_slice_(name, (size_t)(len < 0 ? 0 : len));
        if (len < 0)
            at = NULL;
        else if (*at == '[')
            at = tcall_text_at_(at, tcall_index_of_(step));
        else if ((at = tcall_text_member_(at, step)))
            at = tcall_text_value_(at);
    }
    while (at && i-- > 0)
        if (walk->open[i].from == at)
            at = NULL;
    return at && *p == '"' && *at == '{' ? at : NULL;
}

/* Leaves the bracket that ends at p; returns the next byte to look at. Ollama
 * knows no $ref: the members of what it names follow those of the schema. */
static const char *tcall_strict_close_(tcall_strict_walk_ *walk, const char *p)
{
    tcall_strict_open_ *open = &walk->open[walk->depth - 1];
    bool schema = open->value == TCALL_STRICT_SCHEMA_;
    const char *more = NULL;
    if (schema && walk->view->mode == TCALL_STRICT_OLLAMA &&
        walk->refs < TCALL_STRICT_REFS_)
        more = tcall_strict_target_(walk, tcall_text_get_(open->from, "$ref"));
    if (!open->next)
        open->next = p + 1;
    if (more) {
        walk->refs++;
        open->from = more;
        return more + 1;
    }
    walk->depth--;
    walk->level = (uint8_t)(walk->level - schema);
    if (schema)
        tcall_strict_close_schema_(walk, open);
    tcall_write_close(walk->view->out, *p);
    if (open->nullable)
        TCALL_PUT_(walk->view->out, "{\"type\":\"null\"}]}");
    return open->next;
}

/* Returns the row of a keyword, whose quotes are included, for a mode; the
 * number of rows: there is none. */
static int tcall_strict_find_(uint8_t mode, const char *key, const char **name)
{
    int i = 0;
    for (*name = tcall_strict_names_; i < TCALL_STRICT_ROWS_;
         i++, *name = tcall_nth_(*name, 1))
        if ((tcall_strict_keywords_[i].kept | tcall_strict_keywords_[i].unfit) &
                mode &&
            tcall_text_is_(key, *name))
            break;
    return i;
}

/* Returns whether a pattern looks around, or may do so. */
static bool tcall_strict_looks_(const char *pattern)
{
    const char *end = tcall_text_skip_(pattern) - 2;
    for (; pattern < end; pattern++)
        if (pattern[0] == '(' && pattern[1] == '?' && pattern[2] != ':')
            return true;
    return false;
}

/* Returns whether the view takes this value of a keyword that it has. Of
 * objects it says itself that they are closed. */
static bool tcall_strict_takes_(tcall_view_ *view, uint8_t kind,
                                const char *value)
{
    const char *formats =
        "[\"uri\",\"date-time\",\"time\",\"date\",\"duration\",\"email\","
        "\"hostname\",\"ipv4\",\"ipv6\",\"uuid\"]";
    bool text = *value == '"', digit = tcall_is_digit_(*value);
    if (kind == TCALL_STRICT_NUMBER_)
        return view->mode == TCALL_STRICT_OPENAI
                   ? digit || *value == '-'
                   : digit && *value <= '1' &&
                         tcall_text_verbatim_(value).len == 1;
    view->unfit |= kind == TCALL_STRICT_CLOSED_ && *value != 'f';
    if (kind == TCALL_STRICT_PATTERN_)
        return text && !tcall_strict_looks_(value);
    if (kind != TCALL_STRICT_FORMAT_)
        return kind != TCALL_STRICT_CLOSED_;
    return text && tcall_strict_has_(formats, tcall_text_bytes_of_(value)) &&
           (view->mode == TCALL_STRICT_ANTHROPIC ||
            !tcall_text_is_(value, "uri"));
}

/* A member of a schema. Returns the next byte to look at. */
static const char *tcall_strict_member_(tcall_strict_walk_ *walk,
                                        const char *key)
{
    tcall_view_ *view = walk->view;
    tcall_strict_open_ *open = &walk->open[walk->depth - 1];
    const char *value = tcall_text_value_(key), *next = tcall_text_skip_(value);
    const char *name, *as;
    const int i = tcall_strict_find_(view->mode, key, &name);
    bool only = i == TCALL_SEES_ONLY_, fits;
    uint8_t kind;
    if (i == TCALL_STRICT_ROWS_ || open->seen >> i & 1)
        return next;
    open->seen |= (uint32_t)1 << i;
    kind = tcall_strict_keywords_[i].value;
    as = only ? "enum" : i == TCALL_SEES_ONEOF_ ? "anyOf" : name;
    fits = tcall_strict_keywords_[i].kept & view->mode &&
           (as == name || !tcall_text_get_(open->from, as));
    view->unfit |= !fits;
    if (!fits || !tcall_strict_takes_(view, kind, value))
        return next;
    view->unions =
        (uint16_t)(view->unions + (kind == TCALL_STRICT_LIST_ ||
                                   (i == TCALL_SEES_TYPE_ && *value == '[')));
    tcall_write_key(view->out, as);
    if (kind >= TCALL_STRICT_SCHEMA_ && kind <= TCALL_STRICT_PROPERTIES_)
        return tcall_strict_enter_(walk, value, kind, false);
    tcall_write_text(view->out, only ? "[" : "");
    tcall_write_verbatim(view->out, tcall_text_verbatim_(value));
    tcall_write_text(view->out, only ? "]" : "");
    return next;
}

/* An element of a list of schemas, or a schema with its name. An optional
 * property is required for OpenAI, and may be null; Anthropic counts them for
 * the whole request. */
static const char *tcall_strict_schema_(tcall_strict_walk_ *walk, const char *p)
{
    tcall_view_ *view = walk->view;
    const tcall_strict_open_ *open = &walk->open[walk->depth - 1];
    bool nullable = false;
    if (open->value == TCALL_STRICT_PROPERTIES_ &&
        !tcall_strict_has_(tcall_text_get_(open[-1].from, "required"),
                           tcall_text_bytes_of_(p))) {
        view->optional++;
        nullable = view->mode == TCALL_STRICT_OPENAI;
    }
    if (open->value != TCALL_STRICT_LIST_) {
        tcall_write_verbatim(view->out, tcall_text_verbatim_(p));
        tcall_write_char_(view->out, ':');
        p = tcall_text_value_(p);
    }
    if (nullable)
        TCALL_PUT_(view->out, "{\"anyOf\":[");
    return tcall_strict_enter_(walk, p, TCALL_STRICT_SCHEMA_, nullable);
}

/* Writes the schema again. What is open decides what comes next: keywords, or
 * schemas in a list or by name. The first one is to be of an object, and not of
 * one of several. */
TCALL_NOINLINE_ static void tcall_strict_text_(tcall_view_ *view, const char *p)
{
    tcall_strict_walk_ walk;
    memset(&walk, 0, sizeof walk);
    walk.view = view;
    walk.root = p;
    p = tcall_strict_enter_(&walk, p, TCALL_STRICT_SCHEMA_, false);
    while (walk.depth && *(p = tcall_text_next_(p)))
        p = tcall_text_closes_(p) ? tcall_strict_close_(&walk, p)
            : walk.open[walk.depth - 1].value == TCALL_STRICT_SCHEMA_
                ? tcall_strict_member_(&walk, p)
                : tcall_strict_schema_(&walk, p);
    view->unfit |= walk.open->seen & TCALL_SEES_GROUP_ ||
                   !tcall_strict_type_(walk.root, "object");
}

/* Writes a schema as it is, to the byte, but for the type that every provider
 * insists on. */
static void tcall_strict_plain_(tcall_writer *out, const char *schema)
{
    const char *end = tcall_text_skip_(schema);
    if (!tcall_text_get_(schema, "type")) {
        tcall_write_text(out, tcall_text_get_(schema, "properties")
                                  ? "{\"type\":\"object\""
                                  : "{\"type\":\"object\",\"properties\":{}");
        schema = tcall_text_space_(schema + 1);
        if (*schema != '}')
            tcall_write_text(out, ",");
    }
    tcall_write_bytes(out, schema, (size_t)(end - schema));
}

/* ---- the schema of a tool ---- */

/* Writes the schema of a tool as the mode wants it: from its text, or from its
 * shape. */
TCALL_SHARED_ tcall_view_ tcall_strict_tool_(tcall_writer *out,
                                             const tcall_tool *tool,
                                             uint8_t mode)
{
    const char *text = tool->provider_schema.text ? tool->provider_schema.text
                                                  : tool->parameters.text;
    tcall_view_ view = {out, mode, false, 0, 0, NULL};
    if (!text)
        view.root = tcall_tool_shape_(tool);
    text = tcall_text_space_(text ? text : "");
    if (*text != '{')
        text = "{\"type\":\"object\",\"properties\":{}}";
    if (view.root)
        tcall_view_shape_(&view);
    else if (mode)
        tcall_strict_text_(&view, text);
    else
        tcall_strict_plain_(out, text);
    return view;
}
