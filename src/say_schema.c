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
 * that a value is in; the outermost has 1.
 */

/* ---- values of a struct ---- */

#ifndef TOOLCALL_NO_INT64
/* Writes a default of kind number, which its range has: a program that has no
 * use for the arithmetic of doubles does not get it for this. */
static void tcall_put_default_(tcall_writer *writer, const tcall_shape *node)
{
    TCALL_FETCH_(tcall_range, range, node->more);
    tcall_put_decimal_(writer, range->initial, node->digits);
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
        tcall_put_decimal_(writer, is.narrow, node->digits);
#ifndef TOOLCALL_NO_INT64
    else if (node->kind == TCALL_KIND_INTEGER64)
        tcall_put_decimal_(writer, is.wide, node->digits);
    else if (node->kind == TCALL_KIND_NUMBER && flash)
        tcall_put_default_(writer, node);
    else if (node->kind == TCALL_KIND_NUMBER)
        tcall_write_double(writer, is.number);
#endif
    else
        tcall_write_null(writer);
}

/* Writes a value that has no parts: the one at a place, or one that fits. */
typedef void (*tcall_put_)(tcall_writer *writer, const tcall_shape *shape,
                           const char *at);

static void tcall_put_object_(tcall_writer *writer, const tcall_object *from,
                              const char *args, tcall_put_ put, int depth);

/* Writes the value at a place; where that is NULL, as little as is required. */
static void tcall_put_value_(tcall_writer *writer, const tcall_shape *from,
                             const char *at, tcall_put_ put, int depth)
{
    TCALL_FETCH_(tcall_shape, shape, from);
    uint16_t i, count = (uint16_t)shape->low;
    if (shape->kind != TCALL_KIND_LIST && shape->kind != TCALL_KIND_OBJECT) {
        put(writer, shape, at);
    } else if (depth == TOOLCALL_SHAPE_LEVELS) {
        tcall_writer_fail_(writer, TCALL_E_DEPTH);
    } else if (shape->kind == TCALL_KIND_OBJECT) {
        tcall_put_object_(writer, (const tcall_object *)shape->more, at, put,
                          depth + 1);
    } else {
        if (at)
            memcpy(&count, at, sizeof count);
        tcall_write_open(writer, '[');
        for (i = 0; i < count; i++)
            tcall_put_value_(writer, (const tcall_shape *)shape->more,
                             at ? at + shape->digits + (size_t)i * shape->size
                                : NULL,
                             put, depth + 1);
        tcall_write_close(writer, ']');
    }
}

/* Writes the members that came or have a default; without a struct those that
 * are required. */
static void tcall_put_object_(tcall_writer *writer, const tcall_object *from,
                              const char *args, tcall_put_ put, int depth)
{
    TCALL_FETCH_(tcall_object, object, from);
    const uint8_t *given = (const uint8_t *)args;
    unsigned i;
    tcall_write_open(writer, '{');
    for (i = 0; i < object->count; i++) {
        const tcall_shape *member = object->members + i;
        uint16_t offset = TCALL_FETCH_16_(&member->offset);
        uint8_t flags = TCALL_FETCH_8_(&member->flags);
        bool null =
            args && !TCALL_BIT_OF_(given, i) && !(flags & TCALL_MEMBER_DEFAULT);
        if (args ? offset == TCALL_NOWHERE ||
                       (null &&
                        !TCALL_BIT_OF_(given + (object->count + 7) / 8, i))
                 : !(flags & TCALL_MEMBER_REQUIRED))
            continue;
        tcall_put_key_(writer, tcall_word_at_(object->names, (int)i));
        if (null)
            tcall_write_null(writer);
        else
            tcall_put_value_(writer, member, args ? args + offset : NULL, put,
                             depth);
    }
    tcall_write_close(writer, '}');
}

static void tcall_put_stored_(tcall_writer *writer, const tcall_shape *shape,
                              const char *at)
{
    tcall_put_leaf_(writer, shape, at, false);
}

int tcall_write_struct(tcall_writer *writer, const tcall_object *shape,
                       const void *args)
{
    tcall_put_object_(writer, shape, (const char *)args, tcall_put_stored_, 1);
    return writer->error;
}

/* ---- an example of what is allowed ----
 *
 * Whether it is, somebody looks later: of several rules some may not be met.
 */

/* Returns the number within a low and a high limit that is nearest to one that
 * is liked, as a multiple of step; all in units of the last digit. */
static tcall_int tcall_nearest_(const tcall_limit_ limits[2], tcall_int value,
                                tcall_int one, tcall_int step)
{
    tcall_int low = limits[0].number, high = limits[1].number;
    low += limits[0].how == TCALL_LIMIT_BEYOND_ ? one : 0;
    high -= limits[1].how == TCALL_LIMIT_BEYOND_ ? one : 0;
    if (limits[0].how && value < low)
        value = low;
    value += (step - value % step) % step;
    if (limits[1].how && value > high)
        value = high - (high % step + step) % step;
    if (limits[0].how && value < low) /* 0.5, not 1 */
        value = limits[0].number / 2 + limits[1].number / 2;
    return value;
}

/* Writes a value of one of these types, which has no parts. */
TCALL_NOINLINE_ static void tcall_put_near_(tcall_writer *out, unsigned types,
                                            const tcall_limit_ limits[2],
                                            tcall_int step)
{
    tcall_int one = 1, len, i;
    if (types & TCALL_SHAPE_STRING) {
        len = tcall_nearest_(limits, 5, 1, 1);
        tcall_write_quote(out);
        for (i = 0; i < len && !out->error; i++)
            tcall_write_char_(out, "value"[i % 5]);
        tcall_write_unquote(out);
    } else if (types & TCALL_SHAPE_BOOLEAN) {
        tcall_write_bool(out, true);
    } else if (types == TCALL_SHAPE_NULL) {
        tcall_write_null(out);
    } else {
        for (i = 0; i < limits->digits; i++)
            one *= 10;
        tcall_put_decimal_(out,
                           tcall_nearest_(limits,
                                          limits->how ? limits->number : one,
                                          one, step ? step : one),
                           limits->digits);
    }
}

/* Writes a value that a node allows. */
static void tcall_put_fitting_(tcall_writer *out, const tcall_shape *node,
                               const char *at)
{
    tcall_limit_ limits[2];
    (void)at;
    tcall_limit_of_(&limits[0], node, false);
    tcall_limit_of_(&limits[1], node, true);
    if (node->kind == TCALL_KIND_CHOICE)
        tcall_put_string_(out, (const char *)node->more);
    else
        tcall_put_near_(out, node->types, limits, 1);
}

/* Writes arguments that a shape allows: all that is required. */
TCALL_SHARED_ void tcall_write_shape_example_(tcall_writer *out,
                                              tcall_schema_text source)
{
    tcall_put_object_(out, (const tcall_object *)source.made, NULL,
                      tcall_put_fitting_, 1);
}

/* ---- an example of what the text of a schema allows ---- */

/* So many decimals of its numbers count. */
enum { TCALL_EXAMPLE_DIGITS_ = sizeof(tcall_int) > 4 ? 3 : 1 };

/* Returns the value of a keyword in units of the last of so many decimals,
 * rounded up; 0 where it has none. A tenth of all numbers is in reach, so that
 * sums of them are numbers, too. */
static tcall_int tcall_example_units_(const char *schema, uint8_t on,
                                      int digits)
{
    const char *at = tcall_text_get_(schema, tcall_keyword_word_(on));
    tcall_num_ number = tcall_text_number_(at ? at : "0");
    tcall_int value;
    int rest;
    tcall_num_whole_(&number, digits + 1, &value, &rest);
    return value / 10 + (value % 10 > 0 || rest > 0);
}

/* Writes a value of one of these types, which has no parts. */
TCALL_NOINLINE_ static void tcall_write_schema_scalar_(tcall_writer *out,
                                                       const char *schema,
                                                       unsigned types)
{
    bool text = types & TCALL_SHAPE_STRING, whole = types & TCALL_SHAPE_INTEGER;
    tcall_int step =
        tcall_example_units_(schema, TCALL_ON_MULTIPLE_, TCALL_EXAMPLE_DIGITS_);
    const uint8_t of = text ? TCALL_LIMITS_LENGTH_ : TCALL_LIMITS_VALUE_;
    tcall_limit_ limits[2];
    uint8_t on;
    memset(limits, 0, sizeof limits);
    limits->digits = text ? 0 : TCALL_EXAMPLE_DIGITS_;
    for (on = TCALL_ON_MINIMUM_; on <= TCALL_ON_MAX_LENGTH_; on++)
        if (tcall_limits_by_(on) == of &&
            tcall_text_get_(schema, tcall_keyword_word_(on))) {
            tcall_limit_ *limit = &limits[tcall_is_upper_(on)];
            limit->number = tcall_example_units_(schema, on, limits->digits);
            limit->how = tcall_limit_how_(on);
        }
    tcall_put_near_(out, types, limits, step > 0 || whole ? step : 1);
}

/* Returns a value that a schema names, in the order of how likely it does what
 * the user wants; NULL where it names none. */
TCALL_NOINLINE_ static const char *tcall_example_named_(const char *schema)
{
    static const char *const keywords[] = {"enum", "examples", /* lists */
                                           "const", "default"};
    const char *value = NULL;
    size_t i;
    for (i = 0; i < sizeof keywords / sizeof *keywords && !value; i++) {
        value = tcall_text_get_(schema, keywords[i]);
        if (i < 2)
            value = tcall_text_first_(value);
    }
    return value;
}

static void tcall_write_schema_value_(tcall_writer *out, const char *schema,
                                      int depth);

/* Writes an object with what its schema requires. */
static void tcall_write_schema_object_(tcall_writer *out, const char *schema,
                                       int depth)
{
    const char *first =
        tcall_text_first_(tcall_text_get_(schema, "properties"));
    const char *name = tcall_text_first_(tcall_text_get_(schema, "required"));
    tcall_write_open(out, '{');
    for (; name && !out->error; name = tcall_text_sibling_(name)) {
        const char *property = tcall_text_find_(first, name);
        tcall_write_verbatim(out, tcall_text_verbatim_(name));
        tcall_write_char_(out, ':');
        tcall_write_schema_value_(
            out, property ? tcall_text_value_(property) : NULL, depth);
    }
    tcall_write_close(out, '}');
}

/* Writes an array of as many elements as its schema wants. */
static void tcall_write_schema_array_(tcall_writer *out, const char *schema,
                                      int depth)
{
    tcall_int count = tcall_example_units_(schema, TCALL_ON_MIN_ITEMS_, 0);
    tcall_write_open(out, '[');
    for (; count > 0 && !out->error; count--)
        tcall_write_schema_value_(out, tcall_text_get_(schema, "items"), depth);
    tcall_write_close(out, ']');
}

/* Writes a value that a schema may allow. */
static void tcall_write_schema_value_(tcall_writer *out, const char *schema,
                                      int depth)
{
    const char *named = tcall_example_named_(schema);
    const char *type = tcall_text_get_(schema, "type");
    const char *any = tcall_text_get_(schema, "anyOf");
    unsigned types = TCALL_SHAPE_STRING;
    any = tcall_text_first_(any ? any : tcall_text_get_(schema, "oneOf"));
    if (type)
        types = tcall_sc_type_(*type == '[' ? tcall_text_first_(type) : type);
    if (named)
        tcall_write_verbatim(out, tcall_text_verbatim_(named));
    else if (!type && any && depth)
        tcall_write_schema_value_(out, any, depth - 1);
    else if (types == TCALL_SHAPE_OBJECT && depth)
        tcall_write_schema_object_(out, schema, depth - 1);
    else if (types == TCALL_SHAPE_ARRAY && depth)
        tcall_write_schema_array_(out, schema, depth - 1);
    else
        tcall_write_schema_scalar_(out, schema, types);
}

/* Values that are nested deeper are left out. */
enum { TCALL_EXAMPLE_DEPTH_ = 3 };

TCALL_SHARED_ void tcall_write_schema_example_(tcall_writer *out,
                                               tcall_schema_text source)
{
    tcall_write_schema_value_(out, tcall_text_space_(source.text),
                              TCALL_EXAMPLE_DEPTH_);
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
 * them are said by saying nothing. */
TCALL_NOINLINE_ static unsigned
tcall_view_begin_(tcall_view_ *view, const tcall_shape *shape, bool null)
{
    const unsigned all = TCALL_SHAPE_ANY & ~(unsigned)TCALL_SHAPE_INTEGER;
    unsigned types = tcall_types_of_(shape->types);
    if (null)
        types |= TCALL_SHAPE_NULL;
    if ((types & all) == all)
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

static void tcall_view_object_(tcall_view_ *view, const tcall_object *from,
                               int depth);

/* Writes the schema of a value but for its braces. null: may be null, too. */
static void tcall_view_value_(tcall_view_ *view, const tcall_shape *from,
                              bool null, int depth)
{
    TCALL_FETCH_(tcall_shape, shape, from);
    bool list = shape->kind == TCALL_KIND_LIST;
    bool any = shape->kind == TCALL_KIND_ANY || shape->kind == TCALL_KIND_JSON;
    unsigned others = tcall_view_begin_(view, shape, null);
    view->unfit |=
        depth > TCALL_STRICT_LEVELS_ ||
        (any && shape->types & (TCALL_SHAPE_ARRAY | TCALL_SHAPE_OBJECT));
    if ((list || shape->kind == TCALL_KIND_OBJECT) &&
        depth == TOOLCALL_SHAPE_LEVELS) {
        tcall_writer_fail_(view->out, TCALL_E_DEPTH);
    } else if (list) {
        TCALL_PUT_(view->out, "\"items\":{");
        tcall_view_value_(view, (const tcall_shape *)shape->more, false,
                          depth + 1);
        TCALL_SAY(view->out, "}");
    } else if (shape->kind == TCALL_KIND_OBJECT) {
        tcall_view_object_(view, (const tcall_object *)shape->more, depth + 1);
    }
    if (!others)
        return;
    do {
        TCALL_SAY(view->out, "},{");
        others = tcall_view_type_(view->out, others);
    } while (others);
    TCALL_SAY(view->out, "}]");
}

/* Writes what the schema of a member says besides: what it is for, and its
 * default. */
TCALL_NOINLINE_ static void tcall_view_member_(tcall_view_ *view,
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
}

/* Writes the schema of an object but for its braces: its properties, which of
 * them have to be there, and that there are no others. OpenAI wants all of them
 * to be there, or null. */
static void tcall_view_object_(tcall_view_ *view, const tcall_object *from,
                               int depth)
{
    TCALL_FETCH_(tcall_object, object, from);
    bool all = view->mode == TCALL_STRICT_OPENAI, any = false;
    int i;
    TCALL_PUT_(view->out, "\"properties\":{");
    for (i = 0; i < object->count; i++) {
        bool optional = !(TCALL_FETCH_8_(&object->members[i].flags) &
                          TCALL_MEMBER_REQUIRED);
        view->optional = (uint16_t)(view->optional + optional);
        tcall_put_key_(view->out, tcall_word_at_(object->names, i));
        TCALL_SAY(view->out, "{");
        tcall_view_value_(view, object->members + i, all && optional, depth);
        tcall_view_member_(view, from, i);
        TCALL_SAY(view->out, "}");
    }
    TCALL_SAY(view->out, "}");
    for (i = 0; i < object->count; i++) {
        if (!all && !(TCALL_FETCH_8_(&object->members[i].flags) &
                      TCALL_MEMBER_REQUIRED))
            continue;
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

/* Writes the schema of an object as the view wants it. */
static int tcall_view_shape_(tcall_view_ *view, const tcall_object *shape)
{
    tcall_write_open(view->out, '{');
    TCALL_SAY(view->out, "\"type\":\"object\"");
    tcall_view_object_(view, shape, 1);
    return tcall_write_close(view->out, '}');
}

int tcall_write_shape(tcall_writer *writer, const tcall_object *shape)
{
    tcall_view_ view = {writer, TCALL_STRICT_NONE, false, 0, 0};
    return tcall_view_shape_(&view, shape);
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
    TCALL_STRICT_CONST_, /* a value, which becomes an enum of one */
    TCALL_STRICT_ONEOF_, /* an array of schemas, which is written as anyOf */
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

/* X(keyword, TCALL_STRICT_..._, the modes that have it, those that cannot say
 * it: the tool is not strict). What is not listed is left out everywhere, and
 * checked when a call comes. */
#define TCALL_STRICT_KEYWORDS_(X)                 \
    X("type", COPY, ALL, NONE)                    \
    X("description", COPY, ALL, NONE)             \
    X("title", COPY, ANTHROPIC, NONE)             \
    X("enum", COPY, ALL, NONE)                    \
    X("const", COPY, BOTH, NONE)                  \
    X("const", CONST, OLLAMA, NONE)               \
    X("format", FORMAT, BOTH, NONE)               \
    X("pattern", PATTERN, OPENAI, NONE)           \
    X("minimum", NUMBER, OPENAI, NONE)            \
    X("maximum", NUMBER, OPENAI, NONE)            \
    X("exclusiveMinimum", NUMBER, OPENAI, NONE)   \
    X("exclusiveMaximum", NUMBER, OPENAI, NONE)   \
    X("multipleOf", NUMBER, OPENAI, NONE)         \
    X("minItems", NUMBER, BOTH, NONE)             \
    X("maxItems", NUMBER, OPENAI, NONE)           \
    X("properties", PROPERTIES, ALL, NONE)        \
    X("required", COPY, OTHERS, NONE)             \
    X("items", SCHEMA, ALL, NONE)                 \
    X("anyOf", LIST, ALL, NONE)                   \
    X("oneOf", ONEOF, ALL, NONE)                  \
    X("allOf", LIST, ANTHROPIC, OPENAI)           \
    X("$ref", COPY, BOTH, NONE)                   \
    X("$defs", MAP, BOTH, NONE)                   \
    X("definitions", MAP, OPENAI, ANTHROPIC)      \
    X("additionalProperties", CLOSED, NONE, NONE) \
    X("patternProperties", COPY, NONE, BOTH)      \
    X("prefixItems", COPY, NONE, BOTH)            \
    X("dependentSchemas", COPY, NONE, BOTH)       \
    X("if", COPY, NONE, BOTH)

static const char tcall_strict_names_[] =
#define TCALL_X_(name, value, kept, unfit) name "\0"
    TCALL_STRICT_KEYWORDS_(TCALL_X_);
#undef TCALL_X_

typedef struct tcall_strict_keyword_ {
    uint8_t value, kept, unfit;
} tcall_strict_keyword_;

static const tcall_strict_keyword_ tcall_strict_keywords_[] = {
#define TCALL_X_(name, value, kept, unfit) \
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

/* Returns whether it is what strict modes refuse: a value of any kind, an
 * object of any members, an array of anything. */
static bool tcall_strict_vague_(const char *schema)
{
    static const char kinds[][6] = {"type", "anyOf", "oneOf", "allOf",
                                    "$ref", "enum",  "const"};
    size_t i = 0;
    while (i < TCALL_ARRAY_LEN(kinds) && !tcall_text_get_(schema, kinds[i]))
        i++;
    return i == TCALL_ARRAY_LEN(kinds) ||
           (tcall_strict_type_(schema, "object") &&
            !tcall_text_get_(schema, "properties")) ||
           (tcall_strict_type_(schema, "array") &&
            !tcall_text_get_(schema, "items"));
}

/* Copies the value at p and returns its end. */
static const char *tcall_strict_copy_(tcall_strict_walk_ *walk, const char *p)
{
    tcall_str value = tcall_text_verbatim_(p);
    tcall_write_verbatim(walk->view->out, value);
    return p + value.len;
}

/* Enters the bracket at p; returns the next byte to look at. */
static const char *tcall_strict_enter_(tcall_strict_walk_ *walk, const char *p,
                                       uint8_t value, bool nullable)
{
    tcall_view_ *view = walk->view;
    tcall_strict_open_ *open = &walk->open[walk->depth];
    if (value == TCALL_STRICT_SCHEMA_ && *p == '{') {
        const char *type = tcall_text_get_(p, "type");
        view->unions = (uint16_t)(view->unions + (type && *type == '['));
        view->unfit |=
            walk->level > TCALL_STRICT_LEVELS_ || tcall_strict_vague_(p);
    }
    if (*p != (value == TCALL_STRICT_LIST_ ? '[' : '{') ||
        walk->depth == TCALL_STRICT_DEPTH_) {
        view->unfit = true;
        return tcall_strict_copy_(walk, p);
    }
    tcall_write_open(view->out, *p);
    memset(open, 0, sizeof *open);
    open->from = p;
    open->value = value;
    open->nullable = nullable;
    walk->depth++;
    walk->level = (uint8_t)(walk->level + (value == TCALL_STRICT_SCHEMA_));
    return p + 1;
}

/* Ends the members of a schema: strict objects are closed, and OpenAI wants
 * every property to be required. */
static void tcall_strict_close_schema_(const tcall_strict_walk_ *walk,
                                       const tcall_strict_open_ *open)
{
    tcall_writer *out = walk->view->out;
    const char *properties = tcall_text_get_(open->from, "properties");
    const char *name = tcall_text_first_(properties);
    if (walk->depth == 0 && !(open->seen & 1)) /* the first row is the type */
        TCALL_PUT_(out, "\"type\":\"object\"");
    if (!properties || walk->view->mode == TCALL_STRICT_OLLAMA)
        return;
    TCALL_PUT_(out, "\"additionalProperties\":false");
    if (walk->view->mode != TCALL_STRICT_OPENAI)
        return;
    TCALL_PUT_(out, "\"required\":["); /* as they are escaped */
    for (; name; name = tcall_text_sibling_(name))
        tcall_write_verbatim(out, tcall_text_verbatim_(name));
    TCALL_SAY(out, "]");
}

/* Returns the schema in the same text that a $ref names, or NULL. One that is
 * open already would lead into itself. */
static const char *tcall_strict_target_(const tcall_strict_walk_ *walk,
                                        const char *ref)
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

/* Returns the row of a keyword, whose quotes are included, for a mode; -1:
 * there is none. */
static int tcall_strict_find_(uint8_t mode, const char *key, const char **name)
{
    int i;
    *name = tcall_strict_names_;
    for (i = 0; i < (int)TCALL_ARRAY_LEN(tcall_strict_keywords_);
         i++, *name += strlen(*name) + 1)
        if (((tcall_strict_keywords_[i].kept |
              tcall_strict_keywords_[i].unfit) &
                 mode ||
             tcall_strict_keywords_[i].value == TCALL_STRICT_CLOSED_) &&
            tcall_text_is_(key, *name))
            return i;
    return -1;
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

/* Returns whether the mode takes this value of a keyword that it has. */
static bool tcall_strict_takes_(uint8_t mode, uint8_t kind, const char *value)
{
    const char *formats =
        "[\"uri\",\"date-time\",\"time\",\"date\",\"duration\",\"email\","
        "\"hostname\",\"ipv4\",\"ipv6\",\"uuid\"]";
    bool text = *value == '"', digit = tcall_is_digit_(*value);
    if (kind == TCALL_STRICT_NUMBER_)
        return mode == TCALL_STRICT_OPENAI
                   ? digit || *value == '-'
                   : digit && *value <= '1' &&
                         tcall_text_verbatim_(value).len == 1;
    if (kind == TCALL_STRICT_PATTERN_)
        return text && !tcall_strict_looks_(value);
    return kind != TCALL_STRICT_FORMAT_ ||
           (text && tcall_strict_has_(formats, tcall_text_bytes_of_(value)) &&
            (mode == TCALL_STRICT_ANTHROPIC || !tcall_text_is_(value, "uri")));
}

/* A member of a schema. Returns the next byte to look at. */
static const char *tcall_strict_member_(tcall_strict_walk_ *walk,
                                        const char *key)
{
    tcall_view_ *view = walk->view;
    tcall_strict_open_ *open = &walk->open[walk->depth - 1];
    const char *value = tcall_text_value_(key), *next = tcall_text_skip_(value);
    const char *name, *as;
    int i = tcall_strict_find_(view->mode, key, &name);
    const tcall_strict_keyword_ *row = &tcall_strict_keywords_[i < 0 ? 0 : i];
    uint8_t kind = row->value;
    bool constant = kind == TCALL_STRICT_CONST_, doubled;
    if (i < 0 || open->seen >> i & 1)
        return next;
    open->seen |= (uint32_t)1 << i;
    as = constant ? "enum" : kind == TCALL_STRICT_ONEOF_ ? "anyOf" : name;
    doubled = as != name && tcall_text_get_(open->from, as);
    view->unfit |= doubled || row->unfit & view->mode ||
                   (kind == TCALL_STRICT_CLOSED_ && *value != 'f');
    if (doubled || !(row->kept & view->mode) ||
        !tcall_strict_takes_(view->mode, kind, value))
        return next;
    tcall_write_key(view->out, as);
    if (kind == TCALL_STRICT_ONEOF_)
        kind = TCALL_STRICT_LIST_;
    view->unions = (uint16_t)(view->unions + (kind == TCALL_STRICT_LIST_));
    if (kind >= TCALL_STRICT_SCHEMA_ && kind <= TCALL_STRICT_PROPERTIES_)
        return tcall_strict_enter_(walk, value, kind, false);
    tcall_write_text(view->out, constant ? "[" : "");
    tcall_strict_copy_(walk, value);
    tcall_write_text(view->out, constant ? "]" : "");
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
        tcall_strict_copy_(walk, p);
        tcall_write_char_(view->out, ':');
        p = tcall_text_value_(p);
    }
    if (nullable)
        TCALL_PUT_(view->out, "{\"anyOf\":[");
    return tcall_strict_enter_(walk, p, TCALL_STRICT_SCHEMA_, nullable);
}

/* Writes the schema again. What is open decides what comes next: keywords, or
 * schemas in a list or by name. */
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
}

/* Writes a schema as it is, to the byte, but for the type that every provider
 * insists on. */
static void tcall_strict_plain_(tcall_writer *out, const char *schema)
{
    const char *end = tcall_text_skip_(schema);
    if (!tcall_text_get_(schema, "type")) {
        tcall_write_text(out, "{\"type\":\"object\"");
        if (!tcall_text_get_(schema, "properties"))
            tcall_write_text(out, ",\"properties\":{}");
        schema = tcall_text_space_(schema + 1);
        if (*schema != '}')
            tcall_write_text(out, ",");
    }
    tcall_write_bytes(out, schema, (size_t)(end - schema));
}

/* ---- the schema of a tool ---- */

/* Returns the text of the schema that is sent of a tool, or NULL: it is written
 * from its shape. */
static const char *tcall_tool_schema_(const tcall_tool *tool)
{
    const char *text = tool->provider_schema.text ? tool->provider_schema.text
                                                  : tool->parameters.text;
    if (!text && tool->parameters.made)
        return NULL;
    text = text ? tcall_text_space_(text) : "";
    return *text == '{' ? text : "{\"type\":\"object\",\"properties\":{}}";
}

/* Writes the schema of a tool as the mode wants it. */
TCALL_SHARED_ tcall_view_ tcall_strict_tool_(tcall_writer *out,
                                             const tcall_tool *tool,
                                             uint8_t mode)
{
    const char *text = tcall_tool_schema_(tool);
    tcall_view_ view = {out, mode, false, 0, 0};
    if (!text)
        tcall_view_shape_(&view, tcall_tool_shape_(tool));
    else if (mode)
        tcall_strict_text_(&view, text);
    else
        tcall_strict_plain_(out, text);
    if (text) /* of an object, and not of one of several */
        view.unfit |= !tcall_strict_type_(text, "object") ||
                      tcall_text_get_(text, "anyOf") ||
                      tcall_text_get_(text, "oneOf") ||
                      tcall_text_get_(text, "allOf");
    return view;
}
