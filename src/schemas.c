#pragma once
#include "schemas.h"
#include "text.c"
#include "rows.c"
#include "compile.c"
#include "say.c"
#include "say_schema.c"
#include "memory.c"
#include "tools.c"

/* ==========================================================================
 * >>schemas
 */

/* ---- at the start ---- */

/* Reports a fault of a schema, in its own words. */
static void tcall_schema_tell_(void *user, const tcall_schema *fault)
{
    const tcall_judged_ *judged = (const tcall_judged_ *)user;
    tcall_writer *out = tcall_report_(judged->tc, judged->tool->name);
    if (judged->tc->desc.report && !judged->tc->problem)
        judged->tc->problem = fault->reason;
    if (out) {
        tcall_write_text(out, judged->which);
        tcall_write_text(out, ": ");
        tcall_write_schema_error(out, fault);
        tcall_write_text(out, "\n");
    }
}

/* How deep $ref and allOf are followed. */
enum { TCALL_ROOT_DEPTH_ = 4 };

/* Returns whether a list of values in JSON text has an object. */
static bool tcall_lists_object_(const char *list)
{
    const char *at = tcall_text_next_(list + 1);
    while (*at != ']' && *at != '{')
        at = tcall_text_next_(tcall_text_skip_(at));
    return *at == '{';
}

/* Returns whether an object may be right for a node: only what says so whatever
 * is in the object counts. */
static bool tcall_takes_objects_(const tcall_node *node, int depth)
{
    bool takes = node->types & TCALL_SHAPE_OBJECT;
    const tcall_row *row = depth ? node->rows : NULL;
    uint16_t i;
    for (; takes && row; row = tcall_row_next_(row)) {
        bool all = row->on == TCALL_ON_REF_ || row->on == TCALL_ON_ALLOF_;
        for (i = 0; all && takes && i < row->count; i++)
            takes = tcall_takes_objects_(&row->of.members[i].node, depth - 1);
        if (row->on == TCALL_ON_NOT_) /* of all objects, not of some */
            takes = row->of.members->node.rows ||
                    !tcall_takes_objects_(&row->of.members->node, 0);
        if (row->on == TCALL_ON_CONST_)
            takes = *row->of.text == '{';
        if (row->on == TCALL_ON_ENUM_)
            takes = tcall_lists_object_(row->of.text);
    }
    return takes;
}

/* A schema of a row must compile, into the free part of the block, at whose
 * beginning its nodes are not held yet; parameters must take an object. A
 * validator of the user's decides itself what it can check. */
TCALL_SHARED_ int tcall_schema_judge_(const tcall_judged_ *judged,
                                      tcall_schema *schema,
                                      tcall_schema_text source)
{
    tcall_block *block = &judged->tc->block;
    tcall_author_ author = {TCALL_DRAFT_2020, false, tcall_schema_tell_, NULL,
                            judged->tc->desc.patterns};
    int r;
    author.user = (void *)(uintptr_t)judged;
    if (judged->tc->desc.validator && !source.made) {
        if (tcall_json_check(tcall_str_of(source.text)) >= 0)
            return TCALL_OK;
        tcall_schema_fault_(schema, &author, 0, "is not JSON", NULL);
        return TCALL_E_SCHEMA;
    }
    r = source.reader->compile(schema, source, tcall_block_gap_(block),
                               tcall_block_free_(block), &author);
    if ((r == TCALL_E_MEMORY || r >= 0) &&
        !tcall_block_room_(block, r < 0 ? schema->need : (size_t)r))
        return TCALL_E_MEMORY;
    if (r < 0 || schema->text != judged->tool->parameters.text ||
        tcall_takes_objects_(schema->root, TCALL_ROOT_DEPTH_))
        return r < 0 ? r : TCALL_OK;
    tcall_schema_fault_(
        schema, &author,
        (size_t)(tcall_text_space_(schema->text) - schema->text),
        "parameters must take an object:", "arguments are one");
    return TCALL_E_SCHEMA;
}

TCALL_SHARED_ int tcall_schema_make_(tcall_schema *out,
                                     tcall_schema_text source, void *mem,
                                     size_t size, const tcall_author_ *author)
{
    return tcall_schema_compile_for_(out, tcall_str_of(source.text), mem, size,
                                     author);
}

/* Nodes that were made before stay where they are. */
TCALL_SHARED_ int tcall_nodes_take_(tcall_schema *out, tcall_schema_text source,
                                    void *mem, size_t size,
                                    const tcall_author_ *author)
{
    (void)mem;
    (void)size;
    (void)author;
    *out = *(const tcall_schema *)source.made;
    return TCALL_OK;
}

/* ---- an example of what a schema allows ---- */

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

/* Returns the whole part of a number in a schema; where there is none, what
 * stands for it. */
static tcall_int tcall_example_whole_(const char *schema, const char *keyword,
                                      tcall_int none)
{
    const char *at = tcall_text_get_(schema, keyword);
    bool minus = at && *at == '-';
    tcall_int value = 0;
    if (!at)
        return none;
    for (at += minus; tcall_is_digit_(*at) && value < 10000000; at++)
        value = value * 10 + *at - '0';
    return minus ? -value : value;
}

/* Writes a number near the bounds of a schema, 1 without any. */
TCALL_NOINLINE_ static void tcall_write_example_number_(tcall_writer *out,
                                                        const char *schema)
{
    const char *least = tcall_text_get_(schema, "minimum");
    const char *most = tcall_text_get_(schema, "maximum");
    tcall_int above = tcall_example_whole_(schema, "exclusiveMinimum", 0);
    tcall_int value = tcall_example_whole_(schema, "minimum", above + 1);
    tcall_int below =
        tcall_example_whole_(schema, "exclusiveMaximum", 1000000000);
    tcall_int high = tcall_example_whole_(schema, "maximum", below - 1);
    tcall_int step = tcall_example_whole_(schema, "multipleOf", 1);
    step = step > 0 ? step : 1;
    value += (step - value % step) % step; /* up to a multiple */
    if (least && step == 1)
        tcall_write_verbatim(out, tcall_text_verbatim_(least));
    else if (value <= high)
        tcall_write_int(out, value);
    else if (tcall_text_get_(schema, "exclusiveMinimum")) /* 0.5, not 1 */
        tcall_write_decimal_(out, value * 10 - 5, 1);
    else if (most && step == 1)
        tcall_write_verbatim(out, tcall_text_verbatim_(most));
    else
        tcall_write_int(out, value - (value - high + step - 1) / step * step);
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
    for (; name && !out->error;
         name = tcall_text_after_(tcall_text_skip_(name))) {
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
    tcall_int count = tcall_example_whole_(schema, "minItems", 0);
    tcall_write_open(out, '[');
    for (; count > 0 && !out->error; count--)
        tcall_write_schema_value_(out, tcall_text_get_(schema, "items"), depth);
    tcall_write_close(out, ']');
}

/* Writes a value that a schema may allow: which it does is looked at later. */
static void tcall_write_schema_value_(tcall_writer *out, const char *schema,
                                      int depth)
{
    const char *named = tcall_example_named_(schema);
    const char *type = tcall_text_get_(schema, "type");
    const char *any = tcall_text_get_(schema, "anyOf");
    any = tcall_text_first_(any ? any : tcall_text_get_(schema, "oneOf"));
    if (type && *type == '[')
        type = tcall_text_first_(type);
    if (named)
        tcall_write_verbatim(out, tcall_text_verbatim_(named));
    else if (type && tcall_text_is_(type, "null"))
        tcall_write_null(out);
    else if (!type && any && depth)
        tcall_write_schema_value_(out, any, depth - 1);
    else if (!type || tcall_text_is_(type, "string"))
        tcall_write_example_text_(
            out, (int32_t)tcall_example_whole_(schema, "minLength", 0),
            (int32_t)tcall_example_whole_(schema, "maxLength", 5));
    else if (tcall_text_is_(type, "boolean"))
        tcall_write_bool(out, true);
    else if (tcall_text_is_(type, "object") && depth)
        tcall_write_schema_object_(out, schema, depth - 1);
    else if (tcall_text_is_(type, "array") && depth)
        tcall_write_schema_array_(out, schema, depth - 1);
    else
        tcall_write_example_number_(out, schema);
}

/* Values that are nested deeper are left out. */
enum { TCALL_EXAMPLE_DEPTH_ = 3 };

TCALL_SHARED_ void tcall_write_schema_example_(tcall_writer *out,
                                               tcall_schema_text source)
{
    tcall_write_schema_value_(out, tcall_text_space_(source.text),
                              TCALL_EXAMPLE_DEPTH_);
}

/* ---- shapes ---- */

static void tcall_write_struct_example_(tcall_writer *out,
                                        tcall_schema_text source)
{
    tcall_write_shape_example_(out, (const tcall_object *)source.made);
}

TCALL_DATA_ const struct tcall_schema_reader_ tcall_shape_reader = {
    NULL,
    NULL,
    &tcall_shape_rows,
    tcall_say_shape_,
    tcall_write_struct_example_,
    NULL,
    NULL};
