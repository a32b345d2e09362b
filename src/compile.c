#pragma once
#include "compile.h"
#include "node.c"
#include "pattern.c"
#include "syntax.c"
#include "write.c"

/* ==========================================================================
 * >>compile: schemas become nodes
 *
 * The text is walked once, from bracket to bracket. Each schema of it gets a
 * node, and a mark with its place at the end of the memory; rows are made in
 * the order of the text. Without memory, or when it does not do, all is
 * counted. When all nodes are there, $refs are followed along the rows, rows
 * are brought into their order, and the frames that each node needs are
 * counted. Names, bounds and enums stay in the text.
 */

/* A number, or the largest size where sizes are of 16 bits. */
#define TCALL_SIZE_(number) \
    ((size_t)((number) < SIZE_MAX ? (number) : SIZE_MAX))

static const struct {
    const char *uri;
    uint8_t draft;
} tcall_dialects_[] = {
    {"https://json-schema.org/draft/2020-12/schema", TCALL_DRAFT_2020},
    {"https://json-schema.org/draft/2019-09/schema", TCALL_DRAFT_2019},
    {"http://json-schema.org/draft-07/schema", TCALL_DRAFT_7},
    {"http://json-schema.org/draft-06/schema", TCALL_DRAFT_6},
    {"http://json-schema.org/draft-04/schema", TCALL_DRAFT_4}};

/* The types in the order of their bits. */
static const char *const tcall_type_words_[] = {
    "null", "boolean", "integer", "number", "string", "array", "object"};

/* How a schema is compiled, and who is told each fault of it. */
typedef struct tcall_author_ {
    tcall_draft draft;
    void (*tell)(void *user, const tcall_schema *fault); /* may be NULL */
    void *user;
} tcall_author_;

/* Tells of a place in the text: what is wrong, and what the author can do. */
TCALL_SHARED_ void tcall_schema_remark_(const tcall_schema *s,
                                        const tcall_author_ *author, size_t at,
                                        const char *reason, const char *remedy)
{
    tcall_schema told = *s;
    told.reason = reason;
    told.remedy = remedy;
    told.at = at;
    if (author->tell)
        author->tell(author->user, &told);
}

/* Tells of a fault. The first one stays in the schema, and refuses it. */
TCALL_SHARED_ void tcall_schema_fault_(tcall_schema *s,
                                       const tcall_author_ *author, size_t at,
                                       const char *reason, const char *remedy)
{
    if (!s->reason) {
        s->reason = reason;
        s->remedy = remedy;
        s->at = at;
    }
    tcall_schema_remark_(s, author, at, reason, remedy);
}

/* A schema of the text, while it is compiled. */
typedef struct tcall_mark_ {
    const char *at; /* the name in front of it, else the schema */
    tcall_node *node;
    uint16_t rows; /* that it has; then the frames that it needs */
    uint16_t back; /* the mark around it, while it is open; then the one that
                    * waits for it */
} tcall_mark_;

#define TCALL_MARKS_MAX_ 0xFFF0

typedef struct tcall_sc_ {
    tcall_schema *out;
    const tcall_author_ *author;
    char *mem;
    uint32_t size, low; /* low: what is taken from the beginning */
    uint32_t marks;     /* that there are */
    int32_t steps;
    int draft;
    const char *embedded; /* a subschema's own $id */
    uint16_t open;        /* the mark of the innermost open schema */
    bool full;            /* memory did not do: all is only counted */
    tcall_row spare;      /* is written then */
    int depth;
    uint8_t kind[TOOLCALL_MAX_DEPTH + 2]; /* of all that are open: a keyword
                                           * whose schemas come; 0: a schema */
} tcall_sc_;

/* ---- faults ---- */

/* Refuses the schema, but compiles on, so that all faults are found. Returns
 * the end of the value at p. */
static const char *tcall_sc_refuse_(tcall_sc_ *c, const char *p,
                                    const char *reason, const char *remedy)
{
    size_t at = (size_t)(p - c->out->text);
    tcall_schema_fault_(c->out, c->author, at, reason, remedy);
    c->steps -= (int32_t)at + 1; /* whoever tells it reads up to there */
    return c->depth ? tcall_text_skip_(p) : p;
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

/* ---- memory ---- */

static tcall_mark_ *tcall_sc_mark_(const tcall_sc_ *c, uint32_t i)
{
    return (tcall_mark_ *)(void *)(c->mem + c->size) - 1 - i;
}

static uint32_t tcall_sc_room_(const tcall_sc_ *c)
{
    uint32_t taken = c->low + c->marks * (uint32_t)sizeof(tcall_mark_);
    return c->full || taken > c->size ? 0 : c->size - taken;
}

/* Takes memory as it is. Returns NULL when it does not do. */
static void *tcall_sc_grow_(tcall_sc_ *c, size_t count, size_t size)
{
    const uint32_t word = sizeof(void *);
    char *at = c->mem + (c->full ? 0 : c->low);
    uint32_t bytes = (uint32_t)count * (uint32_t)size;
    bytes = (bytes + word - 1) / word * word;
    c->full = c->full || bytes > tcall_sc_room_(c);
    c->low += bytes;
    return c->full ? NULL : at;
}

static void *tcall_sc_take_(tcall_sc_ *c, size_t count, size_t size)
{
    void *at = tcall_sc_grow_(c, count, size);
    if (at)
        memset(at, 0, count * size);
    return at;
}

/* ---- rows ---- */

/* How the rows of a keyword have their nodes. */
enum {
    TCALL_HAS_NONE_,
    TCALL_HAS_ONE_,
    TCALL_HAS_LIST_,
    TCALL_HAS_MEMBERS_,
    TCALL_HAS_MATCHES_
};

static int tcall_row_has_(uint8_t on)
{
    switch (on) {
    case TCALL_ON_NOT_:
    case TCALL_ON_CONTAINS_:
    case TCALL_ON_OTHERS_:
    case TCALL_ON_ITEMS_:
    case TCALL_ON_NAMES_:
    case TCALL_ON_THEN_:
    case TCALL_ON_ELSE_:
    case TCALL_ON_EXTRA_:
    case TCALL_ON_REF_: return TCALL_HAS_ONE_;
    case TCALL_ON_ALLOF_:
    case TCALL_ON_ANYOF_:
    case TCALL_ON_ONEOF_:
    case TCALL_ON_IF_: return TCALL_HAS_LIST_;
    case TCALL_ON_PROPERTIES_:
    case TCALL_ON_PREFIX_:
    case TCALL_ON_DEPENDENT_:
    case TCALL_ON_DEPENDENCIES_:
    case TCALL_ON_DEFS_:
    case TCALL_ON_DEFINITIONS_: return TCALL_HAS_MEMBERS_;
    case TCALL_ON_PATTERNS_: return TCALL_HAS_MATCHES_;
    default: return TCALL_HAS_NONE_;
    }
}

/* Returns a node of a row, or NULL. */
static tcall_node *tcall_row_node_(const tcall_row *row, uint16_t i)
{
    const tcall_node *node = NULL;
    if (i < row->count)
        switch (tcall_row_has_(row->on)) {
        case TCALL_HAS_ONE_: node = row->of.node; break;
        case TCALL_HAS_LIST_: node = row->of.nodes[i]; break;
        case TCALL_HAS_MEMBERS_: node = &row->of.members[i].node; break;
        case TCALL_HAS_MATCHES_: node = &row->of.match[i].node; break;
        default: break;
        }
    return (tcall_node *)(uintptr_t)node;
}

/* The row that was made last of the open schema. */
static tcall_row *tcall_sc_row_(tcall_sc_ *c)
{
    const tcall_mark_ *mark;
    if (c->full)
        return &c->spare;
    mark = tcall_sc_mark_(c, c->open);
    return (tcall_row *)(uintptr_t)&mark->node->rows[mark->rows - 1];
}

/* Makes a row of the open schema. */
static tcall_row *tcall_sc_row_add_(tcall_sc_ *c, uint8_t on, const char *text)
{
    tcall_row *row;
    if (!c->full)
        tcall_sc_mark_(c, c->open)->rows++;
    row = tcall_sc_row_(c);
    row->on = on;
    row->count = 0;
    row->of.text = text;
    return row;
}

/* Returns the number of members or elements. */
static uint16_t tcall_sc_count_(tcall_sc_ *c, const char *p)
{
    bool object = *p == '{';
    const char *at = p;
    uint32_t count = 0;
    for (p = tcall_text_next_(p + 1); !tcall_text_closes_(p); count++) {
        p = object ? tcall_text_value_(p) : p;
        p = tcall_text_next_(tcall_text_skip_(p));
    }
    if (count > TCALL_MARKS_MAX_)
        tcall_sc_refuse_(c, at, "too many members", "split the schema");
    return (uint16_t)count;
}

/* Makes the row of a keyword that has schemas, and room for them. */
static void tcall_sc_open_(tcall_sc_ *c, uint8_t on, const char *p)
{
    tcall_row *row = tcall_sc_row_add_(c, on, NULL);
    int has = tcall_row_has_(on);
    uint32_t count = on == TCALL_ON_IF_       ? 3
                     : has >= TCALL_HAS_LIST_ ? tcall_sc_count_(c, p)
                                              : 0;
    uint32_t slots = count > TCALL_FEW_ && *p == '{' ? count + count / 2 : 0;
    uint32_t table = slots * sizeof(uint16_t);
    if (has == TCALL_HAS_LIST_)
        row->of.nodes = (const tcall_node **)tcall_sc_take_(
            c, count, sizeof *row->of.nodes);
    else if (has == TCALL_HAS_MATCHES_)
        row->of.match =
            (tcall_match *)tcall_sc_take_(c, count, sizeof *row->of.match);
    else if (has == TCALL_HAS_MEMBERS_)
        row->of.members = (tcall_member *)tcall_sc_take_(
            c, 1, count * sizeof *row->of.members + table);
}

/* ---- patterns ---- */

#ifndef TOOLCALL_NO_PATTERN

/* Compiles the pattern in the string at a quote. */
static void tcall_sc_pattern_(tcall_sc_ *c, tcall_match *match,
                              const char *quote)
{
    uint32_t room = tcall_sc_room_(c);
    char *mem = room ? c->mem + c->low : NULL;
    tcall_pattern pattern;
    int r = tcall_pattern_compile(&pattern, tcall_text_inner_(quote),
                                  TCALL_PATTERN_ESCAPED, mem, room);
    if (r == TCALL_E_INVALID)
        tcall_sc_refuse_(c, quote, pattern.reason, "change the pattern");
    tcall_sc_grow_(c, 1, pattern.need);
    if (c->out->search < tcall_pattern_memory(&pattern))
        c->out->search = (uint32_t)tcall_pattern_memory(&pattern);
    if (c->full)
        return;
    match->text = quote;
    match->program = mem;
    match->count = pattern.count;
    match->states = pattern.states;
}

#else

static void tcall_sc_pattern_(tcall_sc_ *c, tcall_match *match,
                              const char *quote)
{
    (void)match;
    tcall_sc_refuse_(c, quote, "patterns are left out of this program",
                     "build it without TOOLCALL_NO_PATTERN");
}

#endif

/* ---- schemas ---- */

/* The node of the next schema of a keyword; NULL when it is only counted. */
static tcall_node *tcall_sc_node_(tcall_sc_ *c, uint8_t on, const char *at)
{
    int has = tcall_row_has_(on);
    tcall_node *node = NULL;
    tcall_row *row;
    if (has < TCALL_HAS_MEMBERS_)
        node = (tcall_node *)tcall_sc_take_(c, 1, sizeof *node);
    if (has == TCALL_HAS_NONE_)
        return node;
    row = tcall_sc_row_(c);
    if (has == TCALL_HAS_MATCHES_)
        tcall_sc_pattern_(
            c, (tcall_match *)(uintptr_t)(row->of.match + row->count), at);
    if (c->full)
        return NULL;
    if (has == TCALL_HAS_LIST_)
        ((const tcall_node **)(uintptr_t)row->of.nodes)[row->count] = node;
    else if (has == TCALL_HAS_ONE_)
        row->of.node = node;
    else if (has == TCALL_HAS_MEMBERS_)
        ((tcall_member *)(uintptr_t)row->of.members)[row->count].name =
            *at == '"' ? at : NULL;
    row->count++;
    return tcall_row_node_(row, (uint16_t)(row->count - 1));
}

/* Marks a schema, whose node is there. */
static void tcall_sc_begin_(tcall_sc_ *c, const char *at, tcall_node *node)
{
    tcall_mark_ *mark;
    c->full = c->full || tcall_sc_room_(c) < sizeof *mark;
    c->marks++;
    if (c->marks == TCALL_MARKS_MAX_) {
        tcall_sc_refuse_(c, at, "too many schemas", "split the schema");
        c->full = true;
    }
    if (c->full)
        return;
    mark = tcall_sc_mark_(c, c->marks - 1);
    mark->at = at;
    mark->node = node;
    mark->rows = 0;
    mark->back = c->open;
    node->digits = (uint8_t)(c->marks - 1); /* for now: its mark */
    node->flags = (uint8_t)((c->marks - 1) >> 8);
}

static bool tcall_is_schema_(const char *p)
{
    return *p == '{' || *p == 't' || *p == 'f';
}

/* How a value begins, as TCALL_KEYWORDS_ has it. */
static char tcall_begins_(const char *p)
{
    return *p == '-' || tcall_is_digit_(*p) ? '0' : *p == 'f' ? 't' : *p;
}

/* The keyword whose row a keyword of this draft makes. */
static uint8_t tcall_sc_meant_(const tcall_sc_ *c, uint8_t on, const char *p)
{
    bool list = on == TCALL_ON_ITEMS_ && *p == '[';
    return list && c->draft != TCALL_DRAFT_2020 ? (uint8_t)TCALL_ON_PREFIX_
                                                : on;
}

/* Whether the draft has a keyword. */
static bool tcall_sc_knows_(const tcall_sc_ *c, uint8_t on)
{
    switch (on) {
    case TCALL_ON_PREFIX_: return c->draft == TCALL_DRAFT_2020;
    case TCALL_ON_EXTRA_: return c->draft != TCALL_DRAFT_2020;
    case TCALL_ON_DEPENDENT_:
    case TCALL_ON_NEEDED_:
    case TCALL_ON_MIN_CONTAINS_:
    case TCALL_ON_MAX_CONTAINS_: return c->draft <= TCALL_DRAFT_2019;
    default: return true;
    }
}

/* Whether a keyword counts beside a $ref up to draft 7. */
static bool tcall_is_beside_(uint8_t on, const char *p)
{
    bool list = *p == '{' || *p == '[';
    bool empty = list && tcall_text_closes_(tcall_text_space_(p + 1));
    return on != TCALL_ON_REF_ && on != TCALL_ON_SCHEMA_ &&
           on != TCALL_ON_ID_ && on != TCALL_ON_OLD_ID_ &&
           on != TCALL_ON_DEFS_ && on != TCALL_ON_DEFINITIONS_ && !empty;
}

/* Looks over the keywords of the schema that opens at p, and takes memory for
 * their rows. Up to draft 7 nothing beside a $ref counts: whoever wrote it
 * meant it. */
static void tcall_sc_rows_(tcall_sc_ *c, const char *p, tcall_node *node)
{
    uint8_t seen[TCALL_KEYWORD_COUNT_ / 8 + 1] = {0};
    bool ref = c->draft >= TCALL_DRAFT_7 && tcall_text_get_(p, "$ref");
    const tcall_row *rows;
    uint16_t count = 0;
    for (p = tcall_text_next_(p + 1); !tcall_text_closes_(p);) {
        const char *key = p;
        uint8_t on = tcall_keyword_of_(tcall_text_inner_(key)), bit;
        p = tcall_text_value_(key);
        on = tcall_sc_meant_(c, on, p);
        bit = (uint8_t)(1 << (on & 7));
        if (on && seen[on >> 3] & bit) {
            tcall_sc_refuse_(c, key, "keyword given twice", "keep one");
            c->full = true; /* there may be any number */
        }
        if (on && ref && tcall_is_beside_(on, p) && tcall_sc_knows_(c, on))
            tcall_sc_refuse_(c, p,
                             "keyword beside $ref, which this draft ignores",
                             "put both into allOf, or use draft 2020-12");
        seen[on >> 3] |= bit;
        count = (uint16_t)(count +
                           (on && (on < TCALL_ON_TYPE_ || tcall_row_has_(on))));
        count = (uint16_t)(count + (on == TCALL_ON_DEPENDENCIES_));
        p = tcall_text_next_(tcall_text_skip_(p));
    }
    rows = (const tcall_row *)tcall_sc_take_(c, count, sizeof *rows);
    if (!c->full && count)
        node->rows = rows;
}

/* Whether all elements of the array at p are strings. */
static uint16_t tcall_sc_names_(tcall_sc_ *c, const char *p)
{
    uint16_t count = tcall_sc_count_(c, p);
    for (p = tcall_text_next_(p + 1); *p == '"';)
        p = tcall_text_next_(tcall_text_skip_(p));
    if (*p != ']')
        tcall_sc_malformed_(c, p, '"');
    return count;
}

/* A schema of a keyword starts at p; at: its name, or p. Returns where to go
 * on. */
static const char *tcall_sc_schema_(tcall_sc_ *c, uint8_t on, const char *at,
                                    const char *p)
{
    tcall_node *node;
    if (*p == '[' && (on == TCALL_ON_NEEDED_ || on == TCALL_ON_DEPENDENCIES_)) {
        tcall_sc_names_(c, p);
        return tcall_text_skip_(p);
    }
    if (on == TCALL_ON_NEEDED_)
        return tcall_sc_refuse_(c, p, "wrong kind of value",
                                "use an array of names");
    if (!tcall_is_schema_(p))
        return tcall_sc_malformed_(c, p, 's');
    node = tcall_sc_node_(c, on, at);
    tcall_sc_begin_(c, at, node);
    if (!c->full) {
        node->kind = TCALL_KIND_ROWS_;
        node->types = *p == 'f' ? 0 : TCALL_SHAPE_ANY;
    }
    if (*p != '{')
        return c->depth ? tcall_text_skip_(p) : p;
    if (!c->full)
        c->open = (uint16_t)(c->marks - 1);
    c->kind[c->depth++] = TCALL_ON_NOTHING_;
    tcall_sc_rows_(c, p, node);
    return p + 1;
}

/* All members of the row at hand are there: more than a few go into its hash
 * table. */
static void tcall_sc_close_members_(tcall_sc_ *c)
{
    tcall_row *row = tcall_sc_row_(c);
    uint16_t count = row->count, i;
    bool few = count <= TCALL_FEW_, twice;
    if (c->full || tcall_row_has_(row->on) != TCALL_HAS_MEMBERS_)
        return;
    for (i = 0; i < count && row->of.members[i].name && c->steps > 0; i++) {
        const char *quote = row->of.members[i].name;
        tcall_text_bytes_ name = tcall_text_bytes_of_(quote);
        if (few) {
            twice = tcall_member_named_(row, name) < i;
        } else {
            uint16_t *slot = tcall_member_slot_(row, name, &c->steps);
            twice = *slot != 0;
            *slot = (uint16_t)(i + 1);
        }
        if (twice)
            tcall_sc_refuse_(c, quote, "name given twice", "keep one");
    }
}

/* ---- keywords ---- */

/* One type or an array of them, into the open schema's node. */
static void tcall_sc_type_(tcall_sc_ *c, const char *p)
{
    const char *at = p;
    uint8_t types = 0, i;
    if (*p == '[')
        p = tcall_text_next_(p + 1);
    do {
        for (i = 0; i < 7 && !tcall_text_is_(p, tcall_type_words_[i]);)
            i++;
        if (i == 7) {
            tcall_sc_refuse_(c, *p == ']' ? at : p, "unknown type",
                             "use object, array, string, number, integer, "
                             "boolean or null");
            return;
        }
        types |= (uint8_t)(1 << i);
        p = tcall_text_next_(tcall_text_skip_(p));
    } while (*at == '[' && *p != ']');
    if (!c->full)
        tcall_sc_mark_(c, c->open)->node->types = types;
}

#define TCALL_NEVER_ 0xFFFFFFFFu

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

/* Bounds stay in the text, small whole ones also in count; counts are read. */
TCALL_NOINLINE_ static void tcall_sc_number_(tcall_sc_ *c, uint8_t on,
                                             const char *p)
{
    tcall_row *row = tcall_sc_row_add_(c, on, p);
    tcall_num_ n = tcall_num_read_(tcall_text_verbatim_(p));
    bool whole = tcall_num_integral_(&n), counts = on >= TCALL_ON_MIN_LENGTH_;
    uint32_t value = tcall_num_digits_value_(&n, n.top + 1);
    if (whole && value <= INT16_MAX) {
        row->count = (uint16_t)(n.sign < 0 ? 0 - value : value);
        row->flags |= TCALL_ROW_SMALL_;
    }
    if (counts) {
        row->of.number = value;
        if (!whole || n.sign < 0)
            tcall_sc_refuse_(c, p, "impossible count",
                             "use a whole number, 0 or more");
    } else if (on == TCALL_ON_MULTIPLE_ &&
               (n.sign <= 0 || n.top < -308 || n.top > 308 ||
                tcall_num_digits_value_(&n, tcall_num_digits_(&n)) ==
                    TCALL_NEVER_)) {
        tcall_sc_refuse_(c, p, "unsupported divisor",
                         "use a number over 0 with at most 8 digits");
    }
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
static bool tcall_sc_usable_(tcall_sc_ *c, uint8_t on, char begins,
                             const char *key)
{
    if (begins == '!')
        tcall_sc_refuse_(c, key, "unsupported keyword", "leave it out");
    else if (!tcall_sc_knows_(c, on))
        tcall_sc_refuse_(c, key, "keyword of another draft",
                         "name its draft in $schema");
    return begins != '!' && tcall_sc_knows_(c, on);
}

/* A keyword that has no schemas; p: its value. */
static void tcall_sc_assert_(tcall_sc_ *c, uint8_t on, const char *key,
                             const char *p)
{
    tcall_row *row;
    switch (on) {
    case TCALL_ON_PATTERN_:
        row = tcall_sc_row_add_(c, on, NULL);
        row->count = 1;
        row->of.match =
            (tcall_match *)tcall_sc_take_(c, 1, sizeof *row->of.match);
        tcall_sc_pattern_(c, (tcall_match *)(uintptr_t)row->of.match, p);
        break;
    case TCALL_ON_REQUIRED_:
        row = tcall_sc_row_add_(c, on, p);
        row->count = tcall_sc_names_(c, p);
        break;
    case TCALL_ON_TYPE_: tcall_sc_type_(c, p); break;
    case TCALL_ON_SCHEMA_:
        if (tcall_sc_draft_of_(p) != c->draft)
            tcall_sc_refuse_(c, p, "unknown $schema",
                             "use https://json-schema.org/draft/2020-12/schema "
                             "or http://json-schema.org/draft-07/schema");
        break;
    case TCALL_ON_OLD_ID_:
        if (c->draft != TCALL_DRAFT_4)
            break; /* fall through */
    case TCALL_ON_ID_:
        if (c->depth > 1 && *p == '"' && p[1] != '#')
            c->embedded = key;
        break;
    case TCALL_ON_UNIQUE_:
        if (*p == 't')
            tcall_sc_row_add_(c, on, p);
        break;
    case TCALL_ON_REF_:
    case TCALL_ON_ENUM_:
    case TCALL_ON_CONST_: tcall_sc_row_add_(c, on, p); break;
    default: tcall_sc_number_(c, on, p);
    }
}

/* How the value of each keyword begins. */
static const char tcall_keyword_begins_[] = {0,
#define TCALL_X_(NAME, keyword, begins) begins,
                                             TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
};

/* One keyword of the schema that is open; p: its value. Returns where to go
 * on. */
static const char *tcall_sc_keyword_(tcall_sc_ *c, const char *key,
                                     const char *p)
{
    tcall_str name = tcall_text_inner_(key);
    uint8_t on = tcall_keyword_of_(name);
    char begins = tcall_keyword_begins_[on];
    if (memchr(name.ptr, '\\', name.len))
        tcall_sc_refuse_(c, key, "keyword with escapes", "write it plainly");
    if (!on || !tcall_sc_usable_(c, on, begins, key))
        return tcall_text_skip_(p);
    on = tcall_sc_meant_(c, on, p);
    begins = tcall_keyword_begins_[on];
    if (begins != '*' && begins != 's' && begins != tcall_begins_(p))
        return tcall_sc_malformed_(c, p, begins);
    if (on == TCALL_ON_NEEDED_ || on == TCALL_ON_DEPENDENCIES_)
        tcall_sc_row_add_(c, TCALL_ON_NEEDED_, p);
    else if (on == TCALL_ON_REF_ || !tcall_row_has_(on))
        return tcall_sc_assert_(c, on, key, p), tcall_text_skip_(p);
    if (*p == '[' && begins == '[' && !tcall_text_first_(p))
        tcall_sc_malformed_(c, p, '[');
    if (on != TCALL_ON_NEEDED_)
        tcall_sc_open_(c, on, p);
    if (begins == 's')
        return tcall_sc_schema_(c, on, p, p);
    c->kind[c->depth++] = on;
    return p + 1;
}

/* From one bracket or comma to the next, all the way through. */
static void tcall_sc_walk_(tcall_sc_ *c, const char *p)
{
    p = tcall_sc_schema_(c, TCALL_ON_NOTHING_, p, p);
    while (c->depth && c->steps > 0) {
        uint8_t kind = c->kind[c->depth - 1];
        const char *key = p = tcall_text_next_(p);
        if (tcall_text_closes_(p)) {
            c->depth--;
            p++;
            if (kind)
                tcall_sc_close_members_(c);
            else if (!c->full)
                c->open = tcall_sc_mark_(c, c->open)->back;
            continue;
        }
        if (!kind || tcall_keyword_begins_[kind] == '{')
            p = tcall_text_value_(key);
        p = kind ? tcall_sc_schema_(c, kind, key, p)
                 : tcall_sc_keyword_(c, key, p);
    }
}

/* ---- $ref ---- */

static tcall_mark_ *tcall_sc_mark_of_(const tcall_sc_ *c,
                                      const tcall_node *node)
{
    return tcall_sc_mark_(c, (uint32_t)(node->digits | node->flags << 8));
}

/* The index that a name of a pointer is in an array, or NO_MEMBER. */
static uint16_t tcall_index_of_(tcall_str name)
{
    uint32_t index = 0;
    size_t i;
    if (!name.len || name.len > 5 || (*name.ptr == '0' && name.len > 1))
        return TCALL_NO_MEMBER_;
    for (i = 0; i < name.len; i++) {
        if (!tcall_is_digit_(name.ptr[i]))
            return TCALL_NO_MEMBER_;
        index = index * 10 + (uint32_t)(name.ptr[i] - '0');
    }
    return (uint16_t)(index < TCALL_NO_MEMBER_ ? index : TCALL_NO_MEMBER_);
}

/* The node of a row that a name of a pointer leads to, or NULL. */
static const tcall_node *tcall_row_named_(const tcall_row *row, tcall_str name)
{
    bool named = tcall_keyword_begins_[row->on] == '{';
    uint16_t i = named ? 0 : tcall_index_of_(name);
    if (row->on == TCALL_ON_PATTERNS_)
        while (i < row->count && !tcall_text_same_(row->of.match[i].text, name))
            i++;
    else if (named)
        i = tcall_member_named_(row, tcall_text_bytes_in_(name));
    return tcall_row_node_(row, i);
}

/* The row that a name of a pointer leads to, or NULL. */
static const tcall_row *
tcall_sc_row_named_(const tcall_sc_ *c, const tcall_node *node, tcall_str name)
{
    uint8_t on = tcall_keyword_of_(name);
    const tcall_row *row = node->rows;
    uint16_t left = tcall_sc_mark_of_(c, node)->rows;
    bool items = on == TCALL_ON_ITEMS_ && c->draft != TCALL_DRAFT_2020;
    for (; left && on && on != TCALL_ON_REF_; left--, row++)
        if (row->on == on || (items && row->on == TCALL_ON_PREFIX_))
            return tcall_row_has_(on) ? row : NULL;
    return NULL;
}

/* The node that the fragment of a URI leads to, or NULL. */
static const tcall_node *tcall_sc_target_(const tcall_sc_ *c, const char *p)
{
    const tcall_node *node = c->out->root;
    const tcall_row *row = NULL;
    while (*p == '/') {
        char bytes[TCALL_NAME_MAX_];
        int len;
        tcall_str name;
        p++;
        len = tcall_pointer_step_(&p, bytes);
        if (len < 0)
            return NULL;
        name = tcall_slice_(bytes, (size_t)len);
        if (row) {
            node = tcall_row_named_(row, name);
            row = NULL;
        } else {
            row = tcall_sc_row_named_(c, node, name);
            if (!row)
                return NULL;
            if (tcall_keyword_begins_[row->on] != 's')
                continue;
            node = tcall_row_node_(row, 0);
            row = NULL;
        }
        if (!node)
            return NULL;
    }
    return row ? NULL : node;
}

/* Finds the schema that a $ref means. */
static void tcall_sc_resolve_(tcall_sc_ *c, tcall_row *row)
{
    const char *at = row->of.text, *p = at + 2;
    const tcall_node *node = NULL;
    if (c->embedded)
        tcall_sc_refuse_(c, c->embedded, "$id within a schema that has $refs",
                         "leave it out");
    c->embedded = NULL;
    if (at[1] != '#' || (*p != '"' && *p != '/'))
        tcall_sc_refuse_(c, at, "$ref to another document",
                         "use a JSON Pointer such as #/$defs/name");
    else if (!(node = tcall_sc_target_(c, p)))
        tcall_sc_refuse_(c, at, "$ref that leads to no schema",
                         "define one there");
    row->of.node = node;
    row->count = 1;
    c->steps--;
}

static void tcall_sc_refs_(tcall_sc_ *c)
{
    uint32_t i;
    uint16_t k;
    for (i = 0; i < c->marks; i++) {
        const tcall_mark_ *mark = tcall_sc_mark_(c, i);
        tcall_row *rows = (tcall_row *)(uintptr_t)mark->node->rows;
        for (k = 0; k < mark->rows && c->steps > 0; k++)
            if (rows[k].on == TCALL_ON_REF_)
                tcall_sc_resolve_(c, &rows[k]);
    }
}

/* ---- order ---- */

/* Brings the rows of a schema, now that no $ref is followed along them, to what
 * they mean, and into their order. What means nothing by itself is behind the
 * last one. */
static void tcall_sc_settle_(tcall_node *node, uint16_t count)
{
    tcall_row *rows = (tcall_row *)(uintptr_t)node->rows;
    const tcall_node *parts[2] = {NULL, NULL};
    bool list = false;
    uint16_t i, k;
    for (i = 0; i < count; i++) {
        if (rows[i].on == TCALL_ON_THEN_ || rows[i].on == TCALL_ON_ELSE_)
            parts[rows[i].on == TCALL_ON_ELSE_] = rows[i].of.node;
        list = list || rows[i].on == TCALL_ON_PREFIX_;
    }
    for (i = 0; i < count; i++) {
        tcall_row row = rows[i];
        if (row.on == TCALL_ON_EXTRA_ && list)
            row.on = TCALL_ON_ITEMS_;
        if (row.on == TCALL_ON_DEPENDENCIES_)
            row.on = TCALL_ON_DEPENDENT_;
        if (row.on == TCALL_ON_IF_) {
            memcpy((void *)(uintptr_t)(row.of.nodes + 1), parts, sizeof parts);
            row.count = 3;
        }
        for (k = i; k && rows[k - 1].on > row.on; k--)
            rows[k] = rows[k - 1];
        rows[k] = row;
    }
    for (k = count; k && rows[k - 1].on >= TCALL_ON_TYPE_;)
        k--;
    if (k)
        rows[k - 1].flags |= TCALL_ROW_LAST_;
    else
        node->rows = NULL;
}

/* ---- how many frames ---- */

#define TCALL_OPEN_   0xFFFF /* its frames are being counted */
#define TCALL_FRAMES_ 0xFFFE /* as deep as the value, or too many */

/* Refuses schemas that lead back to themselves without going into the value: no
 * check would ever end. Tells of the last of the $refs that do. */
static void tcall_sc_circle_(tcall_sc_ *c, uint16_t from, const tcall_mark_ *to)
{
    const char *last = NULL;
    for (;;) {
        const tcall_mark_ *mark = tcall_sc_mark_(c, from);
        const char *at = mark->at, *ref;
        at = *at == '"' ? tcall_text_value_(at) : at;
        ref = tcall_text_get_(at, "$ref");
        last = ref && (!last || ref > last) ? ref : last;
        if (mark == to)
            break;
        from = mark->back;
    }
    tcall_sc_refuse_(c, last, "$ref that leads to itself",
                     "let it go through properties or items");
}

/* Adds the frames of a row's nodes, for the value or for those within it.
 * Returns a mark that has to be counted before, or NULL. */
static tcall_mark_ *tcall_sc_count_row_(tcall_sc_ *c, const tcall_row *row,
                                        bool deep, uint16_t from,
                                        uint32_t sum[2])
{
    /* of groups */
    static const uint8_t own[] = {0, 0, 0, 2, 2, 1, 3, 1, 0};
    bool inner = row->on > TCALL_ON_DEPENDENT_ || row->on == TCALL_ON_CONTAINS_;
    uint16_t i;
    sum[0] += row->on <= TCALL_ON_DEPENDENT_ ? own[row->on] : 0;
    for (i = 0; i < row->count && (deep || !inner); i++) {
        const tcall_node *node = tcall_row_node_(row, i);
        tcall_mark_ *mark = node ? tcall_sc_mark_of_(c, node) : NULL;
        uint32_t frames;
        if (!mark)
            continue;
        if (!mark->rows)
            return mark;
        if (mark->rows == TCALL_OPEN_ && !deep && !c->out->reason)
            tcall_sc_circle_(c, from, mark);
        frames = mark->rows;
        if (inner)
            sum[1] = sum[1] < frames ? frames : sum[1];
        else
            sum[0] += frames + (row->on == TCALL_ON_DEPENDENT_ ? 2 : 0);
    }
    return NULL;
}

/* Counts the frames of one schema; deep: also of all within it. */
static void tcall_sc_count_from_(tcall_sc_ *c, uint16_t from, bool deep)
{
    uint16_t i = from;
    for (;;) {
        tcall_mark_ *mark = tcall_sc_mark_(c, i), *first = NULL;
        const tcall_row *row = mark->node->rows;
        uint32_t sum[2] = {1, 0};
        mark->rows = TCALL_OPEN_;
        for (; row && row->on <= TCALL_ON_NAMES_ && !first;
             row = tcall_row_next_(row))
            first = tcall_sc_count_row_(c, row, deep, i, sum);
        if (first) {
            first->back = i;
            i = (uint16_t)(tcall_sc_mark_(c, 0) - first);
            continue;
        }
        sum[0] += sum[1];
        mark->rows =
            (uint16_t)(sum[0] < TCALL_FRAMES_ ? sum[0] : TCALL_FRAMES_);
        if (i == from)
            return;
        i = mark->back;
    }
}

static void tcall_sc_frames_(tcall_sc_ *c, bool deep)
{
    uint32_t i;
    for (i = 0; i < c->marks; i++)
        tcall_sc_mark_(c, i)->rows = 0;
    for (i = c->marks; i-- > 0 && !c->out->reason;)
        if (!tcall_sc_mark_(c, i)->rows)
            tcall_sc_count_from_(c, (uint16_t)i, deep);
}

/* Counts the frames of a value, and of all values at a time. */
static void tcall_sc_measure_(tcall_sc_ *c)
{
    uint32_t i;
    tcall_sc_frames_(c, false);
    for (i = c->marks; i-- > 0 && !c->out->reason;) {
        const tcall_mark_ *mark = tcall_sc_mark_(c, i);
        if (mark->rows > TOOLCALL_MAX_FRAMES)
            tcall_sc_refuse_(c, mark->at, "too many alternatives at one value",
                             "use fewer");
        if (c->out->width < mark->rows)
            c->out->width = mark->rows;
    }
    tcall_sc_frames_(c, true);
    c->out->frames = tcall_sc_mark_(c, 0)->rows;
    if (c->out->frames == TCALL_FRAMES_)
        c->out->frames = 0xFFFF;
}

/* ---- names ---- */

/* Notes the lengths of the names of properties, and marks those that are
 * required: mostly all that are. */
static void tcall_sc_names_done_(tcall_node *node)
{
    tcall_row *row =
        (tcall_row *)(uintptr_t)tcall_row_of_(node, TCALL_ON_REQUIRED_);
    const tcall_row *list = tcall_row_of_(node, TCALL_ON_PROPERTIES_);
    tcall_member *members;
    const char *name;
    uint16_t i;
    if (!list)
        return;
    members = (tcall_member *)(uintptr_t)list->of.members;
    for (i = 0; i < list->count; i++) {
        tcall_str plain = tcall_text_inner_(members[i].name);
        if (plain.len + 2 <= UINT8_MAX && !memchr(plain.ptr, '\\', plain.len))
            members[i].node.digits = (uint8_t)(plain.len + 2);
    }
    if (list == node->rows && !tcall_row_of_(node, TCALL_ON_PATTERNS_) &&
        !tcall_row_of_(node, TCALL_ON_NAMES_))
        node->flags |= TCALL_NODE_FIELDS_;
    if (!row)
        return;
    row->flags |= TCALL_ROW_MUSTS_;
    for (i = 0, name = tcall_text_next_(row->of.text + 1); *name == '"';
         name = tcall_text_next_(tcall_text_skip_(name))) {
        i = tcall_member_of_(list, i, name, 0);
        if (i < list->count)
            members[i].node.flags |= TCALL_NODE_MUST_;
        else /* those that came are counted: see tcall_frame_.met */
            row->flags &= (uint8_t)~TCALL_ROW_MUSTS_;
        i = (uint16_t)(i < list->count ? i + 1 : 0);
    }
}

/* ---- entry ---- */

/* The nodes are all there. */
static void tcall_sc_finish_(tcall_sc_ *c)
{
    uint32_t i;
    tcall_sc_refs_(c);
    if (c->out->reason || c->steps <= 0)
        return;
    for (i = 0; i < c->marks; i++)
        tcall_sc_settle_(tcall_sc_mark_(c, i)->node,
                         tcall_sc_mark_(c, i)->rows);
    tcall_sc_measure_(c);
    for (i = 0; i < c->marks; i++)
        tcall_sc_mark_(c, i)->node->digits = tcall_sc_mark_(c, i)->node->flags =
            0;
    for (i = 0; i < c->marks; i++)
        tcall_sc_names_done_(tcall_sc_mark_(c, i)->node);
}

/* The root's $schema counts from the beginning, wherever it stands. */
static void tcall_sc_run_(tcall_sc_ *c)
{
    const char *root = tcall_text_space_(c->out->text);
    const char *dialect = tcall_text_get_(root, "$schema");
    int draft = dialect ? tcall_sc_draft_of_(dialect) : -1;
    if (draft >= 0)
        c->draft = draft;
    c->out->root = (const tcall_node *)(const void *)c->mem;
    tcall_sc_walk_(c, root);
    if (!c->full && c->marks)
        tcall_sc_finish_(c);
    if (c->steps <= 0 && !c->out->reason)
        tcall_sc_refuse_(c, root, "too many steps to compile",
                         "use fewer $refs that lead to each other");
}

/* Compiles text that is one JSON value. Apart from the check that comes first,
 * so that not both need their stack at the same time. */
TCALL_NOINLINE_ static int tcall_sc_compile_(tcall_schema *out, void *mem,
                                             size_t size,
                                             const tcall_author_ *author)
{
    const size_t word = sizeof(void *), most = TCALL_SIZE_(0x7FFFFFF0);
    size_t pad = (0 - (size_t)(uintptr_t)mem) % word;
    uint32_t need;
    tcall_sc_ c;
    memset(&c, 0, sizeof c);
    c.out = out;
    c.author = author;
    c.full = !mem || size <= pad;
    if (!c.full) {
        size -= pad;
        c.size = (uint32_t)((size < most ? size : most) / word * word);
        c.mem = (char *)mem + pad;
    }
    c.steps = TOOLCALL_MAX_STEPS;
    c.draft = (int)author->draft;
    tcall_sc_run_(&c);
    need = c.low + c.marks * (uint32_t)sizeof(tcall_mark_);
    out->need = (size_t)need == need ? (size_t)need + pad : SIZE_MAX;
    out->used = c.low + pad;
    if (out->reason || c.full)
        out->root = NULL; /* nothing is checked against the rest */
    return out->reason ? TCALL_E_SCHEMA
           : c.full    ? TCALL_E_MEMORY
                       : (int)out->used;
}

/* Returns whether text is one JSON value, or what is wrong. */
TCALL_NOINLINE_ TCALL_SHARED_ int tcall_syntax_whole_(tcall_str text)
{
    tcall_syntax_ s;
    size_t eaten;
    tcall_syntax_begin_(&s, NULL);
    s.quiet = 1; /* nobody is told */
    eaten = tcall_syntax_feed_(&s, text.ptr, text.len);
    tcall_syntax_feed_(&s, text.ptr + eaten, text.len - eaten);
    return tcall_syntax_end_(&s);
}

/* Compiles a schema as its author wants it. */
TCALL_SHARED_ int tcall_schema_compile_for_(tcall_schema *out, tcall_str text,
                                            void *mem, size_t size,
                                            const tcall_author_ *author)
{
    int r = tcall_syntax_whole_(text);
    memset(out, 0, sizeof *out);
    if (r == TCALL_OK && text.len >= TCALL_SIZE_(0xFFFFFF))
        r = TCALL_E_LIMIT;
    if (r < 0) {
        tcall_schema_fault_(out, author, 0, tcall_error_text(r), NULL);
        return TCALL_E_SCHEMA;
    }
    out->text = text.ptr;
    out->len = text.len;
    return tcall_sc_compile_(out, mem, size, author);
}

int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                         size_t size, tcall_draft draft)
{
    tcall_author_ author = {draft, NULL, NULL};
    return tcall_schema_compile_for_(out, text, mem, size, &author);
}

/* ---- why a schema was refused ---- */

/* Longer values are cut. */
#define TCALL_SHOWN_ 160

/* The string at a quote, or up to an end, with its characters as they are,
 * however the schema spells them; escape: as a name of a JSON Pointer. */
static void tcall_refusal_string_(tcall_writer *writer, const char *p,
                                  bool name)
{
    size_t room = writer->len + TCALL_SHOWN_;
    while (*p != '"' && (name || writer->len < room)) {
        const char *from = p, *escape;
        char bytes[4];
        size_t len = tcall_text_character_(&p, bytes);
        escape = name && len == 1 ? tcall_pointer_escape_(*bytes) : NULL;
        if (escape)
            tcall_write_text(writer, escape);
        else if (len == 1 && !name)
            tcall_write_bytes(writer, from, (size_t)(p - from));
        else
            tcall_write_bytes(writer, bytes, len);
    }
    if (*p != '"')
        tcall_write_text(writer, "...");
}

/* The JSON Pointer of the value, or of the member whose name begins, at a place
 * in JSON text. */
static void tcall_refusal_place_(tcall_writer *writer, const char *text,
                                 const char *place)
{
    const char *value = tcall_text_space_(text), *member = value;
    while (member < place && (*value == '{' || *value == '[')) {
        bool object = *value == '{';
        uint32_t index = 0;
        for (member = tcall_text_next_(value + 1);; index++) {
            const char *next;
            value = object ? tcall_text_value_(member) : member;
            next = tcall_text_next_(tcall_text_skip_(value));
            if (next > place || tcall_text_closes_(next))
                break;
            member = next;
        }
        tcall_write_text(writer, "/");
        if (object) {
            tcall_refusal_string_(writer, member + 1, true);
        } else {
            writer->last = 0; /* there are no commas in a sentence */
            tcall_write_uint(writer, index);
        }
        member = value > place ? place : value;
    }
}

/* The JSON text at p, which ends before an end. */
static void tcall_refusal_value_(tcall_writer *writer, const char *p,
                                 const char *end)
{
    size_t len;
    if (*p == '"') {
        tcall_write_text(writer, "\"");
        tcall_refusal_string_(writer, p + 1, false);
        tcall_write_text(writer, "\"");
        return;
    }
    len = (size_t)(end - p);
    tcall_write_bytes(
        writer, p, len > TCALL_SHOWN_ ? tcall_utf8_cut_(p, TCALL_SHOWN_) : len);
    if (len > TCALL_SHOWN_)
        tcall_write_text(writer, "...");
}

int tcall_write_schema_error(tcall_writer *writer, const tcall_schema *schema)
{
    const char *text = schema->text, *place, *end;
    if (!schema->reason)
        return tcall_write_text(writer, "ok");
    if (!text) {
        tcall_write_text(writer, schema->reason);
    } else {
        place = text + schema->at;
        end = text + schema->len;
        if (place == tcall_text_space_(text)) {
            tcall_write_text(writer, "the schema");
            while (tcall_is_space_(end[-1]))
                end--;
        } else {
            end = tcall_text_skip_(place);
        }
        tcall_refusal_place_(writer, text, place);
        tcall_write_text(writer, ": ");
        tcall_write_text(writer, schema->reason);
        tcall_write_text(writer, " ");
        tcall_refusal_value_(writer, place, end);
    }
    if (schema->remedy) {
        tcall_write_text(writer, "; ");
        tcall_write_text(writer, schema->remedy);
    }
    return writer->error;
}

