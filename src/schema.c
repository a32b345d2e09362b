#pragma once
#include "schema.h"
#include "text.c"
#include "block.c"
#include "write.c"
#include "pattern.c"

/* ==========================================================================
 * >>schema: schemas become programs
 *
 * The program is the schema's outline in preorder: one node for each schema,
 * for each keyword, and for each list or map of schemas or names. The node of a
 * schema says what it is for (one of properties, one of anyOf, items ...) and
 * how many nodes are within, so that stepping over it is one addition. Names,
 * bounds and enums are compared where they stand, in the text.
 */

#ifndef TOOLCALL_NO_SCHEMA

/* A number, or the largest size where sizes are of 16 bits. */
#define TCALL_SIZE_(number) \
    ((size_t)((number) < SIZE_MAX ? (number) : SIZE_MAX))

/* What a keyword applies its schemas to. */
enum {
    TCALL_TO_VALUE_,    /* the value itself */
    TCALL_TO_PRESENT_,  /* the value itself, if it has the named member */
    TCALL_TO_EACH_,     /* each element of an array, or name of an object */
    TCALL_TO_CHILDREN_, /* the members or elements that are for it */
    TCALL_TO_NOTHING_,  /* schemas that others refer to */
    TCALL_ASSERTS_      /* it has no schemas, it is true or false */
};

/* Which side of its number a keyword accepts. */
enum { TCALL_NO_BOUND_, TCALL_AT_LEAST_, TCALL_AT_MOST_ };

/* Sets of drafts, one bit for each tcall_draft: all; 2020-12; all others; from
 * 2019-09 on. */
enum {
    TCALL_IN_ALL_ = 0x1F,
    TCALL_IN_NEW_ = 0x01,
    TCALL_IN_OLD_ = 0x1E,
    TCALL_IN_LATE_ = 0x03
};

/* X(op, keyword, how its value begins, drafts, what it applies to, the type of
 * value it looks at (MISSING: any), its bound). How it begins: s: a schema,
 * *: anything, !: it is refused. */
#define TCALL_KEYWORDS_(X)                                                    \
    X(ANYOF, "anyOf", '[', ALL, TO_VALUE, MISSING, NO_BOUND)                  \
    X(ONEOF, "oneOf", '[', ALL, TO_VALUE, MISSING, NO_BOUND)                  \
    X(IF, "if", 's', ALL, TO_VALUE, MISSING, NO_BOUND)                        \
    X(ALLOF, "allOf", '[', ALL, TO_VALUE, MISSING, NO_BOUND)                  \
    X(NOT, "not", 's', ALL, TO_VALUE, MISSING, NO_BOUND)                      \
    X(REF, "$ref", '"', ALL, TO_VALUE, MISSING, NO_BOUND)                     \
    X(DEPENDENCIES, "dependencies", '{', ALL, TO_PRESENT, OBJECT, NO_BOUND)   \
    X(DEPENDENT_SCHEMAS, "dependentSchemas", '{', LATE, TO_PRESENT, OBJECT,   \
      NO_BOUND)                                                               \
    X(DEPENDENT_REQUIRED, "dependentRequired", '{', LATE, TO_PRESENT, OBJECT, \
      NO_BOUND)                                                               \
    X(PROPERTIES, "properties", '{', ALL, TO_CHILDREN, OBJECT, NO_BOUND)      \
    X(PATTERNS, "patternProperties", '{', ALL, TO_CHILDREN, OBJECT, NO_BOUND) \
    X(ADDITIONAL, "additionalProperties", 's', ALL, TO_CHILDREN, OBJECT,      \
      NO_BOUND)                                                               \
    X(NAMES, "propertyNames", 's', ALL, TO_EACH, OBJECT, NO_BOUND)            \
    X(PREFIX, "prefixItems", '[', NEW, TO_CHILDREN, ARRAY, NO_BOUND)          \
    X(REST, "items", 's', ALL, TO_CHILDREN, ARRAY, NO_BOUND)                  \
    X(EXTRA, "additionalItems", 's', OLD, TO_CHILDREN, ARRAY, NO_BOUND)       \
    X(CONTAINS, "contains", 's', ALL, TO_EACH, ARRAY, NO_BOUND)               \
    X(THEN, "then", 's', ALL, TO_NOTHING, MISSING, NO_BOUND)                  \
    X(ELSE, "else", 's', ALL, TO_NOTHING, MISSING, NO_BOUND)                  \
    X(DEFS, "$defs", '{', ALL, TO_NOTHING, MISSING, NO_BOUND)                 \
    X(DEFINITIONS, "definitions", '{', ALL, TO_NOTHING, MISSING, NO_BOUND)    \
    X(PATTERN, "pattern", '"', ALL, ASSERTS, STRING, NO_BOUND)                \
    X(CONST, "const", '*', ALL, ASSERTS, MISSING, NO_BOUND)                   \
    X(ENUM, "enum", '[', ALL, ASSERTS, MISSING, NO_BOUND)                     \
    X(REQUIRED, "required", '[', ALL, ASSERTS, OBJECT, NO_BOUND)              \
    X(MULTIPLE, "multipleOf", '0', ALL, ASSERTS, NUMBER, NO_BOUND)            \
    X(MINIMUM, "minimum", '0', ALL, ASSERTS, NUMBER, AT_LEAST)                \
    X(MAXIMUM, "maximum", '0', ALL, ASSERTS, NUMBER, AT_MOST)                 \
    X(ABOVE, "exclusiveMinimum", '0', ALL, ASSERTS, NUMBER, AT_LEAST)         \
    X(BELOW, "exclusiveMaximum", '0', ALL, ASSERTS, NUMBER, AT_MOST)          \
    X(MIN_LENGTH, "minLength", '0', ALL, ASSERTS, STRING, AT_LEAST)           \
    X(MAX_LENGTH, "maxLength", '0', ALL, ASSERTS, STRING, AT_MOST)            \
    X(MIN_ITEMS, "minItems", '0', ALL, ASSERTS, ARRAY, AT_LEAST)              \
    X(MAX_ITEMS, "maxItems", '0', ALL, ASSERTS, ARRAY, AT_MOST)               \
    X(MIN_PROPERTIES, "minProperties", '0', ALL, ASSERTS, OBJECT, AT_LEAST)   \
    X(MAX_PROPERTIES, "maxProperties", '0', ALL, ASSERTS, OBJECT, AT_MOST)    \
    X(MIN_CONTAINS, "minContains", '0', LATE, ASSERTS, MISSING, AT_LEAST)     \
    X(MAX_CONTAINS, "maxContains", '0', LATE, ASSERTS, MISSING, AT_MOST)      \
    X(UNIQUE, "uniqueItems", 't', ALL, ASSERTS, ARRAY, NO_BOUND)              \
    X(TYPE, "type", '*', ALL, ASSERTS, MISSING, NO_BOUND)                     \
    X(DRAFT, "$schema", '"', ALL, ASSERTS, MISSING, NO_BOUND)                 \
    X(ID, "$id", '*', ALL, ASSERTS, MISSING, NO_BOUND)                        \
    X(OLD_ID, "id", '*', ALL, ASSERTS, MISSING, NO_BOUND)                     \
    X(DYNAMIC_REF, "$dynamicRef", '!', ALL, ASSERTS, MISSING, NO_BOUND)       \
    X(RECURSIVE_REF, "$recursiveRef", '!', ALL, ASSERTS, MISSING, NO_BOUND)   \
    X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", '!', ALL, ASSERTS,     \
      MISSING, NO_BOUND)                                                      \
    X(UNEVALUATED_ITEMS, "unevaluatedItems", '!', ALL, ASSERTS, MISSING,      \
      NO_BOUND)

enum {
#define TCALL_X_(op, name, begins, drafts, applies, type, bound) \
    TCALL_K_##op##_,
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
        TCALL_K_COUNT_,                     /* of keywords; other nodes: */
    TCALL_K_NAME_PATTERN_ = TCALL_K_COUNT_, /* of one of patternProperties */
    TCALL_K_INDEX_,                         /* a hash table of names */
    TCALL_K_SLOT_,
    TCALL_K_NEVER_ /* no node, but an error: a schema that is false */
};

typedef struct tcall_keyword_ {
    const char *name;
    char begins;
    uint8_t applies, type;
    unsigned drafts : 5, bound : 2;
} tcall_keyword_;

static const tcall_keyword_ tcall_keywords_[] = {
#define TCALL_X_(op, name, begins, drafts, applies, type, bound) \
    {name,                                                       \
     begins,                                                     \
     TCALL_##applies##_,                                         \
     TCALL_##type,                                               \
     TCALL_IN_##drafts##_,                                       \
     TCALL_##bound##_},
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
    /* TCALL_K_NAME_PATTERN_ */
    {"pattern", '"', TCALL_TO_NOTHING_, TCALL_MISSING, 0, TCALL_NO_BOUND_}};

/* The types in the order of tcall_type, and integer. */
static const char *const tcall_type_names_[] = {
    "null", "boolean", "number", "string", "array", "object", "integer"};

static const struct {
    const char *uri;
    uint8_t draft;
} tcall_dialects_[] = {
    {"https://json-schema.org/draft/2020-12/schema", TCALL_DRAFT_2020},
    {"https://json-schema.org/draft/2019-09/schema", TCALL_DRAFT_2019},
    {"http://json-schema.org/draft-07/schema", TCALL_DRAFT_7},
    {"http://json-schema.org/draft-06/schema", TCALL_DRAFT_6},
    {"http://json-schema.org/draft-04/schema", TCALL_DRAFT_4}};

/* In arg of a node that has a span: the span; the length of its name when that
 * is short and plain; its types, one bit each in the order of tcall_type,
 * integer last; for one of properties: whether it is required. */
#define TCALL_SPAN_      0xFFFFFu
#define TCALL_LENGTH_    20
#define TCALL_TYPES_     24
#define TCALL_TYPES_ANY_ 0x7F000000u
#define TCALL_ANY_       0x3F000000u
#define TCALL_INTEGER_   0x40u
#define TCALL_MARKED_    0x80000000u
#define TCALL_NEVER_     0xFFFFFFFFu

/* The op of a keyword, TCALL_K_COUNT_: it is none. */
static int tcall_keyword_of_(tcall_str word)
{
    int op = 0;
    while (op < TCALL_K_COUNT_ &&
           !tcall_str_eq(tcall_str_of(tcall_keywords_[op].name), word))
        op++;
    return op;
}

/* The bit of a type in a schema's node, 0: there is no such type. */
static uint32_t tcall_type_bit_(tcall_str word)
{
    uint32_t i;
    for (i = 0; i < sizeof tcall_type_names_ / sizeof *tcall_type_names_; i++)
        if (tcall_str_eq(tcall_str_of(tcall_type_names_[i]), word))
            return (uint32_t)1 << (TCALL_TYPES_ + i);
    return 0;
}

/* In word: the op, whether it is a list or map, whether arg is a span, and
 * where in the schema's text it comes from. */
#define TCALL_OP_      0x3F
#define TCALL_IS_LIST_ 0x40
#define TCALL_SPANS_   0x80
#define TCALL_AT_      8

static int tcall_node_op_(const tcall_node_ *node)
{
    return (int)(node->word & TCALL_OP_);
}

/* Where in the schema's text it comes from: the name in front of a member of a
 * map, else the value. */
static const char *tcall_node_at_(const tcall_schema *s, uint32_t node)
{
    return s->text + (s->program[node].word >> TCALL_AT_);
}

/* Its value: no schema is a string. */
static const char *tcall_node_value_(const tcall_schema *s, uint32_t node)
{
    const char *at = tcall_node_at_(s, node);
    return *at == '"' ? tcall_text_value_(at) : at;
}

/* The node after this one and all that belongs to it. */
static uint32_t tcall_node_after_(const tcall_node_ *program, uint32_t i)
{
    return i +
           (program[i].word & TCALL_SPANS_ ? program[i].arg & TCALL_SPAN_ : 1);
}

/* The next node in the order of the text; the program of a pattern is none. */
static uint32_t tcall_node_into_(const tcall_node_ *program, uint32_t i)
{
    int op = tcall_node_op_(&program[i]);
    bool pattern = op == TCALL_K_PATTERN_ || op == TCALL_K_NAME_PATTERN_;
    return pattern ? tcall_node_after_(program, i) : i + 1;
}

/* The first child with this op, 0: none. (No child can be node 0.) */
static uint32_t tcall_node_child_(const tcall_node_ *program, uint32_t i,
                                  uint32_t end, int op)
{
    for (i++; i < end; i = tcall_node_after_(program, i))
        if (tcall_node_op_(&program[i]) == op)
            return i;
    return 0;
}

/* -- Names ---------------------------------------------------------------- */

/* Whether the member of a map at a node has this name. */
static inline bool tcall_node_named_(const tcall_schema *s, uint32_t node,
                                     const tcall_text_bytes_ *name)
{
    const char *quote = tcall_node_at_(s, node);
    uint32_t len = s->program[node].arg >> TCALL_LENGTH_ & 15;
    if (len && name->end) /* both are plain */
        return len == (size_t)(name->end - name->at) &&
               memcmp(quote + 1, name->at, len) == 0;
    return tcall_text_match_(tcall_text_bytes_of_(quote), *name);
}

/* Maps of more than a few members begin with a hash table: a header and one
 * node for each slot, whose arg says how far after the header the node of a
 * member is, 0: free. Names that hash alike are compared: it decides nothing
 * but time. Returns the slot that a name is in, or the free one for it. */
static uint32_t tcall_node_slot_(const tcall_schema *s, uint32_t index,
                                 const tcall_text_bytes_ *name, int32_t *steps)
{
    const tcall_node_ *program = s->program;
    uint32_t slots = (program[index].arg & TCALL_SPAN_) - 1;
    uint32_t i = tcall_text_hash_(*name) % slots;
    while (program[index + 1 + i].arg && --*steps >= 0 &&
           !tcall_node_named_(s, index + program[index + 1 + i].arg, name))
        i = (i + 1) % slots;
    return index + 1 + i;
}

/* The member of a map with this name, 0: none. Without an index the search
 * begins at next, after the member that was found last: names tend to come in
 * order. */
static uint32_t tcall_node_find_(const tcall_schema *s, uint32_t map,
                                 uint32_t next, const tcall_text_bytes_ *name,
                                 int32_t *steps)
{
    const tcall_node_ *program = s->program;
    uint32_t first = map + 1, end = tcall_node_after_(program, map), member;
    if (first == end)
        return 0;
    if (tcall_node_op_(&program[first]) == TCALL_K_INDEX_) {
        member = program[tcall_node_slot_(s, first, name, steps)].arg;
        return member ? first + member : 0;
    }
    member = next = next < end ? next : first;
    do {
        if (--*steps >= 0 && tcall_node_named_(s, member, name))
            return member;
        member = tcall_node_after_(program, member);
        if (member == end)
            member = first;
    } while (member != next);
    return 0;
}

/* -- Compiling ------------------------------------------------------------ */

/* Lists and maps with more members than this get an index. */
#define TCALL_FEW_ 16

/* The op of an open schema on the compiler's stack; others are lists and maps.
 */
#define TCALL_OPEN_ 0xFF

/* How a schema is compiled, and who is told each fault of it. */
typedef struct tcall_author_ {
    tcall_draft draft;
    void (*tell)(void *user, const tcall_schema *fault); /* may be NULL */
    void *user;
} tcall_author_;

/* Tells of a fault at a place in the text: what is wrong, and what the author
 * can do. The first one stays in the schema, and refuses it. */
TCALL_SHARED_ void tcall_schema_fault_(tcall_schema *s,
                                       const tcall_author_ *author, size_t at,
                                       const char *reason, const char *remedy)
{
    tcall_schema told = *s;
    told.reason = reason;
    told.remedy = remedy;
    told.at = at;
    if (!s->reason)
        *s = told;
    if (author->tell)
        author->tell(author->user, &told);
}

typedef struct tcall_sc_ {
    tcall_schema *out;
    const tcall_author_ *author;
    const char *text;
    tcall_node_ *node;
    uint32_t cap, count; /* nodes that fit, and that there are */
    int32_t steps;
    int draft;
    const char *embedded; /* a subschema's own $id */
    uint32_t open; /* the schema, list or map that is being built; its span is
                    * the one around it yet */
    int depth;
    uint8_t kind[TOOLCALL_MAX_DEPTH + 2]; /* of all that are open */
} tcall_sc_;

/* Refuses the schema, but compiles on, so that all faults are found. Returns
 * what comes after the value at p. */
static const char *tcall_sc_refuse_(tcall_sc_ *c, const char *p,
                                    const char *reason, const char *remedy)
{
    size_t at = (size_t)(p - c->text);
    tcall_schema_fault_(c->out, c->author, at, reason, remedy);
    c->steps -= (int32_t)at + 1; /* whoever tells it reads up to there */
    return tcall_text_skip_(p);
}

/* Refuses a value that does not begin as its keyword asks for. */
static const char *tcall_sc_malformed_(tcall_sc_ *c, const char *p, char begins)
{
    const char *remedy = begins == '['   ? "use an array that is not empty"
                         : begins == '{' ? "use an object"
                         : begins == '"' ? "use a string"
                         : begins == '0' ? "use a number"
                         : begins == 't'
                             ? "use true or false"
                             : "use a schema: an object, true or false";
    return tcall_sc_refuse_(c, p, "wrong kind of value", remedy);
}

/* Nodes that do not fit are only counted. */
static uint32_t tcall_sc_emit_(tcall_sc_ *c, int op, const char *at,
                               uint32_t arg)
{
    if (c->count < c->cap) {
        c->node[c->count].word = (uint32_t)(at - c->text) << 8 | (uint32_t)op;
        c->node[c->count].arg = arg;
    }
    return c->count++;
}

/* A node that others will be within. */
static void tcall_sc_open_(tcall_sc_ *c, int op, const char *at, uint32_t arg)
{
    c->open = tcall_sc_emit_(c, op | TCALL_SPANS_, at, arg | c->open);
}

/* Gives the node that is open its span. */
static void tcall_sc_close_(tcall_sc_ *c)
{
    uint32_t open = c->open, parent;
    if (c->count > c->cap)
        return;
    parent = c->node[open].arg & TCALL_SPAN_;
    c->node[open].arg += c->count - open - parent;
    c->open = parent;
}

/* -- Patterns ------------------------------------------------------------- */

#ifndef TOOLCALL_NO_PATTERN

/* Compiles the pattern in the string at a quote; its program comes after its
 * node. */
static void tcall_sc_pattern_(tcall_sc_ *c, int op, const char *quote)
{
    uint32_t node = tcall_sc_emit_(c, op | TCALL_SPANS_, quote, 1);
    size_t room = c->count < c->cap ? c->cap - c->count : 0;
    tcall_pattern pattern;
    int r = tcall_pattern_compile(
        &pattern, tcall_text_inner_(quote), TCALL_PATTERN_ESCAPED,
        room ? c->node + c->count : NULL, room * sizeof *c->node);
    if (r == TCALL_E_INVALID)
        tcall_sc_refuse_(c, quote, pattern.reason, "change the pattern");
    c->count += pattern.count;
    if (node < c->cap)
        c->node[node].arg += pattern.count;
    if (c->out->search < tcall_pattern_memory(&pattern))
        c->out->search = (uint32_t)tcall_pattern_memory(&pattern);
}

#else

static void tcall_sc_pattern_(tcall_sc_ *c, int op, const char *quote)
{
    (void)op;
    tcall_sc_refuse_(c, quote, "patterns are left out of this program",
                     "build it without TOOLCALL_NO_PATTERN");
}

#endif

/* -- Lists and maps ------------------------------------------------------- */

/* Emits an empty index for a map, if it has more than a few members. */
TCALL_NOINLINE_ static void tcall_sc_index_(tcall_sc_ *c, const char *map)
{
    const char *key;
    uint32_t members = 0, slots;
    for (key = tcall_text_next_(map + 1); !tcall_text_closes_(key);
         key = tcall_text_next_(tcall_text_skip_(tcall_text_value_(key))))
        members++;
    if (members <= TCALL_FEW_)
        return;
    slots = members + members / 2;
    tcall_sc_emit_(c, TCALL_K_INDEX_ | TCALL_SPANS_, map, slots + 1);
    while (slots--)
        tcall_sc_emit_(c, TCALL_K_SLOT_, map, 0);
}

/* All members of the open list or map are there: they go into its index, if it
 * has one. */
static void tcall_sc_close_list_(tcall_sc_ *c)
{
    uint32_t index = c->open + 1, i;
    tcall_sc_close_(c);
    if (c->count > c->cap || index == c->count ||
        tcall_node_op_(&c->node[index]) != TCALL_K_INDEX_)
        return;
    for (i = tcall_node_after_(c->node, index); i < c->count && c->steps > 0;
         i = tcall_node_after_(c->node, i)) {
        const char *quote = tcall_node_at_(c->out, i);
        tcall_text_bytes_ name = tcall_text_bytes_of_(quote);
        uint32_t slot = tcall_node_slot_(c->out, index, &name, &c->steps);
        if (c->node[slot].arg)
            tcall_sc_refuse_(c, quote, "name given twice", "keep one");
        c->node[slot].arg = i - index;
    }
}

/* Marks the properties that are required: they are counted when they are met.
 */
static void tcall_sc_require_(tcall_sc_ *c, uint32_t schema)
{
    tcall_node_ *node = c->node;
    uint32_t map =
        tcall_node_child_(node, schema, c->count, TCALL_K_PROPERTIES_);
    uint32_t list =
        tcall_node_child_(node, schema, c->count, TCALL_K_REQUIRED_);
    uint32_t i = list + 1, next = map + 1;
    for (; map && list && i < tcall_node_after_(node, list); i++) {
        tcall_text_bytes_ name =
            tcall_text_bytes_of_(tcall_node_at_(c->out, i));
        uint32_t property =
            tcall_node_find_(c->out, map, next, &name, &c->steps);
        if (!property)
            continue;
        node[property].arg |= TCALL_MARKED_;
        next = tcall_node_after_(node, property);
    }
}

/* Up to draft 7 nothing beside a $ref counts: whoever wrote it meant it. */
static void tcall_sc_beside_(tcall_sc_ *c, uint32_t schema)
{
    uint32_t i;
    bool typed = (c->node[schema].arg & TCALL_TYPES_ANY_) != TCALL_ANY_;
    if (c->draft < TCALL_DRAFT_7 ||
        !tcall_node_child_(c->node, schema, c->count, TCALL_K_REF_))
        return;
    for (i = schema + 1; i < c->count; i = tcall_node_after_(c->node, i)) {
        int op = tcall_node_op_(&c->node[i]);
        bool empty = c->node[i].word & TCALL_IS_LIST_ &&
                     tcall_node_after_(c->node, i) == i + 1;
        bool kept = empty || op == TCALL_K_REF_ || op == TCALL_K_DEFS_ ||
                    op == TCALL_K_DEFINITIONS_;
        if (!kept || typed)
            tcall_sc_refuse_(c, tcall_node_at_(c->out, i),
                             "keyword beside $ref, which this draft ignores",
                             "put both into allOf, or use draft 2020-12");
    }
}

/* All of the open schema's nodes are there. */
static void tcall_sc_close_schema_(tcall_sc_ *c)
{
    uint32_t schema = c->open;
    tcall_sc_close_(c);
    if (c->count > c->cap)
        return;
    tcall_sc_require_(c, schema);
    tcall_sc_beside_(c, schema);
}

/* The length of the name at a quote, where it is short and plain. */
static uint32_t tcall_sc_plain_(const char *quote)
{
    uint32_t len = 0;
    if (*quote != '"')
        return 0;
    while (len < 15 && quote[len + 1] != '"' && quote[len + 1] != '\\')
        len++;
    return quote[len + 1] == '"' ? len << TCALL_LENGTH_ : 0;
}

/* required: a node for each name. */
static void tcall_sc_names_(tcall_sc_ *c, const char *p)
{
    tcall_sc_open_(c, TCALL_K_REQUIRED_ | TCALL_IS_LIST_, p, 0);
    for (p = tcall_text_next_(p + 1); *p == '"';
         p = tcall_text_next_(tcall_text_skip_(p)))
        tcall_sc_emit_(c, TCALL_K_REQUIRED_, p, tcall_sc_plain_(p));
    if (*p != ']')
        tcall_sc_malformed_(c, p, '"');
    tcall_sc_close_(c);
}

/* A schema starts at p; at is where its node says it comes from. */
static const char *tcall_sc_schema_(tcall_sc_ *c, int op, const char *at,
                                    const char *p)
{
    bool schema = *p == '{' || *p == 't' || *p == 'f';
    bool names = *p == '[' && (op == TCALL_K_DEPENDENT_REQUIRED_ ||
                               op == TCALL_K_DEPENDENCIES_);
    if (op == TCALL_K_DEPENDENT_REQUIRED_ ? !names : !schema && !names)
        return tcall_sc_malformed_(c, p, names || schema ? '[' : 's');
    tcall_sc_open_(c, op, at,
                   (*p == 'f' ? 0 : TCALL_ANY_) | tcall_sc_plain_(at));
    if (op == TCALL_K_PATTERNS_)
        tcall_sc_pattern_(c, TCALL_K_NAME_PATTERN_, at);
    if (*p == '{') {
        c->kind[c->depth++] = TCALL_OPEN_;
        return p + 1;
    }
    if (names)
        tcall_sc_names_(c, p);
    tcall_sc_close_schema_(c);
    return tcall_text_skip_(p);
}

/* -- Keywords ------------------------------------------------------------- */

/* One type or an array of them, into the schema's own node. */
TCALL_NOINLINE_ static void tcall_sc_type_(tcall_sc_ *c, const char *p)
{
    tcall_node_ *node;
    const char *at = p;
    uint32_t types = 0;
    if (*p == '[')
        p = tcall_text_next_(p + 1);
    do {
        uint32_t bit = *p == '"' ? tcall_type_bit_(tcall_text_inner_(p)) : 0;
        if (!bit) {
            tcall_sc_refuse_(c, *p == ']' ? at : p, "unknown type",
                             "use object, array, string, number, integer, "
                             "boolean or null");
            return;
        }
        types |= bit;
        p = tcall_text_next_(tcall_text_skip_(p));
    } while (*at == '[' && *p != ']');
    if (c->open >= c->cap)
        return;
    node = &c->node[c->open];
    if ((node->arg & TCALL_TYPES_ANY_) != TCALL_ANY_)
        tcall_sc_refuse_(c, at, "keyword given twice", "keep one");
    node->arg ^= TCALL_ANY_ ^ types;
}

/* The first digits as an integer; NEVER where ten times that is too much. */
static uint32_t tcall_num_digits_value_(const tcall_num_ *n, int digits)
{
    const char *p = n->first;
    uint32_t value = 0;
    for (; digits > 0 && n->sign; digits--) {
        if (value >= 42000000)
            return TCALL_NEVER_;
        value = value * 10 + (uint32_t)tcall_num_digit_(n, &p);
    }
    return value;
}

/* Whether the keyword's number counts something. */
static bool tcall_keyword_counts_(int op)
{
    const tcall_keyword_ *keyword = &tcall_keywords_[op];
    return keyword->begins == '0' && keyword->type != TCALL_NUMBER;
}

/* Bounds stay in the text, their length is kept; counts are read. */
TCALL_NOINLINE_ static void tcall_sc_number_(tcall_sc_ *c, int op,
                                             const char *p)
{
    tcall_str text = tcall_text_verbatim_(p);
    tcall_num_ n = tcall_num_read_(text);
    uint32_t arg = (uint32_t)text.len;
    if (tcall_keyword_counts_(op)) {
        arg = tcall_num_digits_value_(&n, n.top + 1);
        if (!tcall_num_integral_(&n) || n.sign < 0)
            tcall_sc_refuse_(c, p, "impossible count",
                             "use a whole number, 0 or more");
    } else if (op == TCALL_K_MULTIPLE_ &&
               (n.sign <= 0 || n.top < -308 || n.top > 308 ||
                tcall_num_digits_value_(&n, tcall_num_digits_(&n)) ==
                    TCALL_NEVER_)) {
        tcall_sc_refuse_(c, p, "unsupported divisor",
                         "use a number over 0 with at most 8 digits");
    }
    tcall_sc_emit_(c, op, p, arg);
}

/* The draft that the value of a $schema names, -1: none that is known. */
static int tcall_sc_draft_of_(const char *p)
{
    tcall_str uri = *p == '"' ? tcall_text_inner_(p) : tcall_slice_(p, 0);
    size_t i;
    if (uri.len && uri.ptr[uri.len - 1] == '#') /* an empty fragment */
        uri.len--;
    for (i = 0; i < sizeof tcall_dialects_ / sizeof *tcall_dialects_; i++)
        if (tcall_str_eq(tcall_str_of(tcall_dialects_[i].uri), uri))
            return tcall_dialects_[i].draft;
    return -1;
}

/* Whether the keyword at key can be used here, and refuses it if not. A keyword
 * of another draft was meant by whoever wrote it. */
static bool tcall_sc_usable_(tcall_sc_ *c, int op, const char *key)
{
    const tcall_keyword_ *keyword = &tcall_keywords_[op];
    bool known = keyword->drafts >> c->draft & 1;
    if (keyword->begins == '!')
        tcall_sc_refuse_(c, key, "unsupported keyword", "leave it out");
    else if (!known)
        tcall_sc_refuse_(c, key, "keyword of another draft",
                         "name its draft in $schema");
    return known && keyword->begins != '!';
}

/* A keyword that has no schemas; p: its value. */
static void tcall_sc_assert_(tcall_sc_ *c, int op, const char *key,
                             const char *p)
{
    switch (op) {
    case TCALL_K_PATTERN_: tcall_sc_pattern_(c, op, p); break;
    case TCALL_K_REQUIRED_: tcall_sc_names_(c, p); break;
    case TCALL_K_TYPE_: tcall_sc_type_(c, p); break;
    case TCALL_K_DRAFT_:
        if (tcall_sc_draft_of_(p) != c->draft)
            tcall_sc_refuse_(c, p, "unknown $schema",
                             "use https://json-schema.org/draft/2020-12/schema "
                             "or http://json-schema.org/draft-07/schema");
        break;
    case TCALL_K_OLD_ID_:
        if (c->draft != TCALL_DRAFT_4)
            break; /* fall through */
    case TCALL_K_ID_:
        if (c->depth > 1 && *p == '"' && p[1] != '#')
            c->embedded = key;
        break;
    case TCALL_K_UNIQUE_:
        if (*p == 't')
            tcall_sc_emit_(c, op, p, 0);
        break;
    case TCALL_K_REF_: /* its target is found when all nodes are there */
        tcall_sc_emit_(c, op, p, TCALL_MARKED_);
        break;
    default:
        if (tcall_keywords_[op].begins == '0')
            tcall_sc_number_(c, op, p);
        else
            tcall_sc_emit_(c, op, p, 0);
    }
}

/* One keyword of the schema that is open; p: its value. */
static const char *tcall_sc_keyword_(tcall_sc_ *c, const char *key,
                                     const char *p)
{
    tcall_str name = tcall_text_inner_(key);
    int op = tcall_keyword_of_(name);
    char begins;
    if (memchr(name.ptr, '\\', name.len))
        tcall_sc_refuse_(c, key, "keyword with escapes", "write it plainly");
    if (op == TCALL_K_COUNT_ || !tcall_sc_usable_(c, op, key))
        return tcall_text_skip_(p);
    if (op == TCALL_K_REST_ && *p == '[' && c->draft != TCALL_DRAFT_2020)
        op = TCALL_K_PREFIX_; /* as it was called then */
    if (c->count <= c->cap &&
        tcall_node_child_(c->node, c->open, c->count, op)) {
        tcall_sc_refuse_(c, key, "keyword given twice", "keep one");
        return tcall_text_skip_(p);
    }
    begins = tcall_keywords_[op].begins;
    if (begins == 's')
        return tcall_sc_schema_(c, op, p, p);
    if (begins != '*' && tcall_text_type_(&begins) != tcall_text_type_(p))
        return tcall_sc_malformed_(c, p, begins);
    if (tcall_keywords_[op].applies == TCALL_ASSERTS_ || op == TCALL_K_REF_) {
        tcall_sc_assert_(c, op, key, p);
        return tcall_text_skip_(p);
    }
    if (*p == '[' && !tcall_text_first_(p))
        tcall_sc_malformed_(c, p, '[');
    tcall_sc_open_(c, op | TCALL_IS_LIST_, p, 0);
    if (*p == '{')
        tcall_sc_index_(c, p);
    c->kind[c->depth++] = (uint8_t)op;
    return p + 1;
}

/* From one bracket or comma to the next, all the way through. */
static void tcall_sc_outline_(tcall_sc_ *c, const char *p)
{
    p = tcall_sc_schema_(c, TCALL_K_ALLOF_, p, p);
    while (c->depth && c->steps > 0) {
        int kind = c->kind[c->depth - 1];
        const char *key = p = tcall_text_next_(p);
        if (tcall_text_closes_(p)) {
            c->depth--;
            if (kind == TCALL_OPEN_)
                tcall_sc_close_schema_(c);
            else
                tcall_sc_close_list_(c);
            p++;
            continue;
        }
        if (kind == TCALL_OPEN_ || tcall_keywords_[kind].begins == '{')
            p = tcall_text_value_(key);
        p = kind == TCALL_OPEN_ ? tcall_sc_keyword_(c, key, p)
                                : tcall_sc_schema_(c, kind, key, p);
    }
}

/* -- $ref ----------------------------------------------------------------- */

/* The element of a list, 0: none. */
static uint32_t tcall_sc_element_(tcall_sc_ *c, uint32_t list, tcall_str name)
{
    uint32_t index = 0, end = tcall_node_after_(c->node, list), i;
    size_t digit;
    if (!name.len || name.len > 5 || (*name.ptr == '0' && name.len > 1))
        return 0;
    for (digit = 0; digit < name.len; digit++) {
        if (!tcall_is_digit_(name.ptr[digit]))
            return 0;
        index = index * 10 + (uint32_t)(name.ptr[digit] - '0');
    }
    for (i = list + 1; i < end; i = tcall_node_after_(c->node, i))
        if (!index-- || --c->steps <= 0)
            return i;
    return 0;
}

/* The node that a name of a JSON Pointer leads to: from a list or map to one of
 * its schemas, from a schema to the schema or list of a keyword; 0: none. */
static uint32_t tcall_sc_follow_(tcall_sc_ *c, uint32_t from, tcall_str name)
{
    const tcall_node_ *node = c->node;
    uint32_t end = tcall_node_after_(node, from), to;
    tcall_text_bytes_ bytes = tcall_text_bytes_in_(name);
    int op = tcall_keyword_of_(name);
    if (node[from].word & TCALL_IS_LIST_)
        return *tcall_node_at_(c->out, from) == '['
                   ? tcall_sc_element_(c, from, name)
                   : tcall_node_find_(c->out, from, from + 1, &bytes,
                                      &c->steps);
    if (op == TCALL_K_COUNT_ || op == TCALL_K_REF_ ||
        tcall_keywords_[op].applies == TCALL_ASSERTS_)
        return 0;
    to = tcall_node_child_(node, from, end, op);
    if (!to && op == TCALL_K_REST_ && c->draft != TCALL_DRAFT_2020)
        to = tcall_node_child_(node, from, end, TCALL_K_PREFIX_);
    return to;
}

/* The schema that the fragment of a URI leads to; false: none. */
static bool tcall_sc_target_(tcall_sc_ *c, const char *p, uint32_t *schema)
{
    const char *value;
    *schema = 0;
    while (*p == '/') {
        char name[TCALL_NAME_MAX_];
        int len;
        p++;
        len = tcall_pointer_step_(&p, name);
        if (len >= 0)
            *schema =
                tcall_sc_follow_(c, *schema, tcall_slice_(name, (size_t)len));
        if (len < 0 || !*schema)
            return false;
    }
    value = tcall_node_value_(c->out, *schema);
    return !(c->node[*schema].word & TCALL_IS_LIST_) && *value != '[';
}

/* Finds the schema that a $ref means. */
static void tcall_sc_resolve_(tcall_sc_ *c, tcall_node_ *ref)
{
    const char *at = c->text + (ref->word >> TCALL_AT_), *p = at + 2;
    uint32_t schema;
    if (c->embedded)
        tcall_sc_refuse_(c, c->embedded, "$id within a schema that has $refs",
                         "leave it out");
    c->embedded = NULL;
    if (at[1] != '#' || (*p != '"' && *p != '/'))
        tcall_sc_refuse_(c, at, "$ref to another document",
                         "use a JSON Pointer such as #/$defs/name");
    else if (!tcall_sc_target_(c, p, &schema))
        tcall_sc_refuse_(c, at, "$ref that leads to no schema",
                         "define one there");
    else
        ref->arg = schema | TCALL_MARKED_;
    c->steps--;
}

/* The first $ref that applies to the same value as the schema at i, directly
 * or through anyOf, if and the like, and that is marked; 0: none. */
static uint32_t tcall_sc_marked_(tcall_sc_ *c, uint32_t i)
{
    uint32_t end = tcall_node_after_(c->node, i);
    for (i++; i < end && --c->steps > 0;) {
        int op = tcall_node_op_(&c->node[i]);
        bool same = op == TCALL_K_THEN_ || op == TCALL_K_ELSE_ ||
                    (op < TCALL_K_COUNT_ &&
                     tcall_keywords_[op].applies <= TCALL_TO_PRESENT_);
        if (op == TCALL_K_REF_ && c->node[i].arg & TCALL_MARKED_)
            return i;
        i = same ? i + 1 : tcall_node_after_(c->node, i);
    }
    return 0;
}

/* Finds what $refs mean, and refuses those that lead back to themselves without
 * going into the value: no check would ever end. Each is marked until all that
 * it leads to are known to end. */
TCALL_NOINLINE_ static void tcall_sc_refs_(tcall_sc_ *c)
{
    uint32_t i, left;
    bool more;
    for (i = 0; i < c->count && c->steps > 0; i = tcall_node_into_(c->node, i))
        if (tcall_node_op_(&c->node[i]) == TCALL_K_REF_)
            tcall_sc_resolve_(c, &c->node[i]);
    do {
        more = false;
        left = 0;
        for (i = 0; i < c->count && !c->out->reason;
             i = tcall_node_into_(c->node, i)) {
            tcall_node_ *ref = &c->node[i];
            if (tcall_node_op_(ref) != TCALL_K_REF_ || ref->arg < TCALL_MARKED_)
                continue;
            if (tcall_sc_marked_(c, ref->arg & TCALL_SPAN_)) {
                left = i;
            } else {
                ref->arg &= TCALL_SPAN_;
                more = true;
            }
        }
    } while (more && left && c->steps > 0);
    if (left && !c->out->reason && c->steps > 0)
        tcall_sc_refuse_(c, tcall_node_at_(c->out, left),
                         "$ref that leads to itself",
                         "let it go through properties or items");
}

/* -- Entry ---------------------------------------------------------------- */

/* The root's $schema counts from the beginning, wherever it stands. */
static void tcall_sc_run_(tcall_sc_ *c)
{
    const char *root = tcall_text_space_(c->text);
    const char *dialect = tcall_text_get_(root, "$schema");
    int draft = dialect ? tcall_sc_draft_of_(dialect) : -1;
    if (draft >= 0)
        c->draft = draft;
    tcall_sc_outline_(c, root);
    if (c->count > TCALL_SPAN_)
        tcall_sc_refuse_(c, root, "too many keywords", "split the schema");
    if (c->count <= c->cap && c->steps > 0)
        tcall_sc_refs_(c);
    if (c->steps <= 0 && !c->out->reason)
        tcall_sc_refuse_(c, root, "too many steps to compile",
                         "use fewer $refs that lead to each other");
}

/* Compiles text that is one JSON value. Apart from the scan that comes first,
 * so that not both need their stack at the same time. */
TCALL_NOINLINE_ static int tcall_sc_compile_(tcall_schema *out, void *mem,
                                             size_t size,
                                             const tcall_author_ *author)
{
    size_t pad = (0 - (size_t)(uintptr_t)mem) & 3;
    tcall_sc_ c;
    memset(&c, 0, sizeof c);
    c.out = out;
    c.author = author;
    c.text = out->text;
    if (mem && size > pad) {
        const size_t most = TCALL_SIZE_(TCALL_SPAN_);
        size = (size - pad) / sizeof *c.node;
        c.cap = (uint32_t)(size < most ? size : most);
        c.node = (tcall_node_ *)(void *)((char *)mem + pad);
    }
    c.steps = TOOLCALL_MAX_STEPS;
    c.draft = (int)author->draft;
    out->program = c.node;
    tcall_sc_run_(&c);
    out->need = c.count * sizeof *c.node + pad;
    if (out->reason)
        return TCALL_E_SCHEMA;
    if (c.count > c.cap)
        return TCALL_E_MEMORY;
    out->nodes = c.count; /* only now: nothing is checked against the rest */
    return (int)out->need;
}

/* Compiles a schema as its author wants it. */
TCALL_SHARED_ int tcall_schema_compile_for_(tcall_schema *out, tcall_str text,
                                            void *mem, size_t size,
                                            const tcall_author_ *author)
{
    int r = tcall_scan_whole_(text);
    memset(out, 0, sizeof *out);
    if (r == TCALL_OK && text.len >= TCALL_SIZE_(0xFFFFFF))
        r = TCALL_E_LIMIT;
    if (r < 0) {
        tcall_schema_fault_(out, author, 0, tcall_error_text(r), NULL);
        return TCALL_E_SCHEMA;
    }
    out->text = text.ptr;
    return tcall_sc_compile_(out, mem, size, author);
}

int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                         size_t size, tcall_draft draft)
{
    tcall_author_ author = {draft, NULL, NULL};
    return tcall_schema_compile_for_(out, text, mem, size, &author);
}

#endif /* TOOLCALL_NO_SCHEMA */
