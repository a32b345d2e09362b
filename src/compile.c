#pragma once
#include "compile.h"
#include "node.c"
#include "pattern.c"
#include "syntax.c"
#include "write.c"

/* ==========================================================================
 * >>compile: schemas become nodes
 *
 * The compiler is a user of the recogniser, so the text is read once. Each
 * schema of it has a mark at the end of the memory, below which lie the rows of
 * all that are open; where one closes, its rows go to the beginning, and where
 * a list of schemas closes, their nodes. Without memory, or when it does not
 * do, all is counted. When all nodes are there, $refs are followed along the
 * rows, and the frames that each node needs are counted. Names, bounds and
 * enums stay in the text.
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
static const struct {
    const char *word;
    uint8_t len;
} tcall_type_words_[] = {{"null", 4},   {"boolean", 7}, {"integer", 7},
                         {"number", 6}, {"string", 6},  {"array", 5},
                         {"object", 6}};

/* How a schema is compiled, and who is told each fault of it. */
typedef struct tcall_author_ {
    tcall_draft draft;
    void (*tell)(void *user, const tcall_schema *fault); /* may be NULL */
    void *user;
} tcall_author_;

/* Tells of a fault at a place in the text. The first one stays in the schema,
 * and refuses it. */
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

/* A schema of the text, while it is compiled. */
typedef struct tcall_sc_spot_ {
    const char *at;   /* the name in front of it, else the schema */
    const void *made; /* its rows; then its node */
    uint16_t span;    /* marks within, its own too; then its frames */
    uint16_t back;    /* its types; then the mark that waits for it */
} tcall_sc_spot_;

#define TCALL_MARKS_MAX_ 0xFFF0

/* An object or array that is open. */
typedef struct tcall_opened_ {
    uint8_t kind;   /* a keyword whose parts come; SCHEMA: a schema, and the
                     * keyword that it alone is for, or 0 */
    uint8_t rows;   /* of a schema */
    uint16_t count; /* of the parts; of a schema, its mark */
} tcall_opened_;

#define TCALL_SCHEMA_ 0x80

typedef struct tcall_sc_ {
    tcall_syntax_ syntax;
    tcall_schema *out;
    char *mem;
    uint32_t faults, which;    /* so far; the one that is kept */
    uint32_t size, need;       /* of the memory */
    uint32_t low, rows, marks; /* bytes from the beginning; rows that are open;
                                * marks from the end */
    uint32_t later;            /* bytes that open lists will take */
    int32_t steps;
    const char *embedded; /* a subschema's own $id */
    const char *key,
        *at;           /* the name at hand; a string or number that is read */
    const char *list;  /* of types */
    tcall_str number;  /* at hand */
    uint8_t draft, on; /* on: the keyword at hand */
    uint8_t types;     /* that came of a list */
    bool piece;        /* the name at hand has escapes or is not ASCII */
    bool again;        /* for another draft */
    bool dialect;      /* the root's $schema gave the draft */
    bool full;         /* memory did not do: all is only counted */
    uint8_t depth;
    tcall_row spare; /* is written when it is full */
    tcall_opened_ open[TOOLCALL_MAX_DEPTH + 1];
} tcall_sc_;

/* ---- faults ---- */

/* Refuses the schema, but compiles on, so that all faults are found. */
static void tcall_sc_refuse_(tcall_sc_ *c, const char *p, const char *reason,
                             const char *remedy)
{
    if (c->faults++ != c->which)
        return;
    c->out->reason = reason;
    c->out->remedy = remedy;
    c->out->at = (size_t)(p - c->out->text);
}

/* Refuses a value that does not begin as its keyword asks for. */
static void tcall_sc_malformed_(tcall_sc_ *c, const char *p, char begins)
{
    const char *remedy = begins == '['   ? "use an array that is not empty"
                         : begins == '{' ? "use an object"
                         : begins == '"' ? "use a string"
                         : begins == '0' ? "use a number"
                         : begins == 't'
                             ? "use true or false"
                             : "use a schema: an object, true or false";
    tcall_sc_refuse_(c, p, "wrong kind of value", remedy);
}

/* ---- memory ---- */

/* Notes what is taken. Returns whether it does. */
static bool tcall_sc_fits_(tcall_sc_ *c)
{
    uint32_t taken = c->low + c->later + c->rows * (uint32_t)sizeof(tcall_row) +
                     c->marks * (uint32_t)sizeof(tcall_sc_spot_);
    c->need = taken;
    c->full = c->full || taken > c->size;
    return !c->full;
}

/* Takes zeroed memory that stays, NULL: it did not do. */
static void *tcall_sc_take_(tcall_sc_ *c, size_t count, size_t size)
{
    const uint32_t word = sizeof(void *);
    uint32_t bytes = (uint32_t)count * (uint32_t)size, from = c->low;
    c->low += (bytes + word - 1) / word * word;
    return tcall_sc_fits_(c) ? memset(c->mem + from, 0, bytes) : NULL;
}

static tcall_sc_spot_ *tcall_sc_mark_(const tcall_sc_ *c, uint32_t i)
{
    return (tcall_sc_spot_ *)(void *)(c->mem + c->size) - 1 - i;
}

/* The rows that are open, the last one first. */
static tcall_row *tcall_sc_row_(tcall_sc_ *c)
{
    return c->full || !c->marks
               ? &c->spare
               : (tcall_row *)(void *)tcall_sc_mark_(c, c->marks - 1) - c->rows;
}

static tcall_opened_ *tcall_sc_top_(tcall_sc_ *c)
{
    return &c->open[c->depth - 1];
}

/* Makes a row of the schema that is open. */
static tcall_row *tcall_sc_row_add_(tcall_sc_ *c, uint8_t on, const char *text)
{
    tcall_row *row;
    c->rows++;
    if (++tcall_sc_top_(c)->rows == UINT8_MAX) {
        tcall_sc_refuse_(c, c->key, "too many keywords", "split the schema");
        c->full = true;
    }
    tcall_sc_fits_(c);
    row = tcall_sc_row_(c);
    memset(row, 0, sizeof *row);
    row->on = on;
    row->of.text = text;
    return row;
}

/* ---- rows and nodes ---- */

/* Whether the rows of a keyword have schemas. */
static bool tcall_row_has_(uint8_t on)
{
    return (on && on <= TCALL_ON_NAMES_ && on != TCALL_ON_REF_) ||
           (on >= TCALL_ON_DEPENDENCIES_ && on <= TCALL_ON_DEFINITIONS_);
}

/* Returns a node of a row that has some, or NULL. */
static tcall_node *tcall_row_node_(const tcall_row *row, uint16_t i)
{
    return i < row->count ? (tcall_node *)(uintptr_t)&row->of.members[i].node
                          : NULL;
}

/* Gives a schema its node. */
static tcall_node *tcall_sc_place_(tcall_sc_ *c, uint32_t i, tcall_node *node)
{
    tcall_sc_spot_ *mark = tcall_sc_mark_(c, i);
    node->types = (uint8_t)mark->back;
    node->kind = TCALL_KIND_ROWS_;
    node->digits = (uint8_t)i; /* for now: its mark */
    node->flags = (uint8_t)(i >> 8);
    node->rows = (const tcall_row *)mark->made;
    mark->made = node;
    return node;
}

/* Marks a schema. */
static void tcall_sc_mark_add_(tcall_sc_ *c, const char *at, uint8_t types)
{
    tcall_row *rows = tcall_sc_row_(c);
    tcall_sc_spot_ *mark;
    if (++c->marks == TCALL_MARKS_MAX_) {
        tcall_sc_refuse_(c, at, "too many schemas", "split the schema");
        c->full = true;
    }
    if (!tcall_sc_fits_(c))
        return;
    if (c->rows)
        memmove((char *)rows - sizeof *mark, rows, c->rows * sizeof *rows);
    mark = tcall_sc_mark_(c, c->marks - 1);
    mark->at = at;
    mark->made = NULL;
    mark->span = 1;
    mark->back = types;
}

/* How the value of each keyword begins. */
static const char tcall_keyword_begins_[] = {0,
#define TCALL_X_(NAME, keyword, begins) begins,
                                             TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
};

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

/* ---- patterns ---- */

#ifndef TOOLCALL_NO_PATTERN

/* Compiles the pattern in the string at a quote; match NULL: its size only is
 * noted, for later. */
static void tcall_sc_pattern_(tcall_sc_ *c, tcall_match *match,
                              const char *quote)
{
    char *mem = match ? c->mem + c->low : NULL;
    tcall_pattern pattern;
    int r = tcall_pattern_compile(&pattern, tcall_text_inner_(quote),
                                  TCALL_PATTERN_ESCAPED, mem,
                                  match ? c->size - c->need + c->later : 0);
    const size_t word = sizeof(void *);
    uint32_t need = (uint32_t)((pattern.need + word - 1) / word * word);
    if (r == TCALL_E_INVALID && !match)
        tcall_sc_refuse_(c, quote, pattern.reason, "change the pattern");
    c->later += match ? 0 - need : need;
    c->low += match ? need : 0;
    if (!tcall_sc_fits_(c) || !match)
        return;
    match->text = quote;
    match->program = mem;
    match->count = pattern.count;
    match->states = pattern.states;
}

#else

/* Compiles the pattern of a string, behind what is taken so far. */
static void tcall_sc_pattern_(tcall_sc_ *c, tcall_match *match,
                              const char *quote)
{
    if (!match)
        tcall_sc_refuse_(c, quote, "patterns are left out of this program",
                         "build it without TOOLCALL_NO_PATTERN");
}

#endif

/* ---- the end of a list ---- */

/* Looks for names that came twice; more than a few go into their hash table. */
static void tcall_sc_names_(tcall_sc_ *c, const tcall_row *row)
{
    uint16_t i;
    bool twice;
    for (i = 0; i < row->count && c->steps > 0; i++) {
        const char *quote = row->of.members[i].name;
        tcall_text_bytes_ name = tcall_text_bytes_of_(quote);
        if (row->count <= TCALL_FEW_) {
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

/* Gives the schemas of a keyword their nodes, in the last row. */
static void tcall_sc_list_ends_(tcall_sc_ *c, uint8_t on, uint16_t count)
{
    bool named = tcall_keyword_begins_[on] == '{';
    tcall_row *row = tcall_sc_row_(c);
    uint32_t mark = row->of.number;
    uint32_t slots = named && count > TCALL_FEW_ ? count + count / 2u : 0;
    size_t each = sizeof(tcall_member) +
                  (on == TCALL_ON_PATTERNS_ ? sizeof(tcall_match) : 0);
    tcall_member *members = (tcall_member *)tcall_sc_take_(
        c, 1, count * each + slots * sizeof(uint16_t));
    uint16_t i;
    if (c->full)
        return;
    row->of.members = members;
    row->count = count;
    for (i = 0; i < count; i++) {
        const tcall_sc_spot_ *at = tcall_sc_mark_(c, mark);
        members[i].name = at->at;
        if (on == TCALL_ON_PATTERNS_)
            tcall_sc_pattern_(
                c, (tcall_match *)(uintptr_t)tcall_row_match_(row) + i, at->at);
        tcall_sc_place_(c, mark, &members[i].node);
        mark += at->span;
    }
    if (named && on != TCALL_ON_PATTERNS_)
        tcall_sc_names_(c, row);
}

/* ---- the end of a schema ---- */

/* Whether a keyword counts beside a $ref up to draft 7. */
static bool tcall_is_beside_(uint8_t on, const char *p)
{
    bool list = *p == '{' || *p == '[';
    bool empty = list && tcall_text_closes_(tcall_text_space_(p + 1));
    return on != TCALL_ON_REF_ && on != TCALL_ON_SCHEMA_ &&
           on != TCALL_ON_ID_ && on != TCALL_ON_OLD_ID_ &&
           on != TCALL_ON_DEFS_ && on != TCALL_ON_DEFINITIONS_ && !empty;
}

/* Tells of what stands beside a $ref up to draft 7, where it does not count:
 * whoever wrote it meant it. */
static void tcall_sc_beside_(tcall_sc_ *c, const char *p)
{
    p = *p == '"' ? tcall_text_value_(p) : p;
    for (p = tcall_text_next_(p + 1); !tcall_text_closes_(p);) {
        uint8_t on = tcall_keyword_of_(tcall_text_inner_(p));
        p = tcall_text_value_(p);
        if (on && tcall_is_beside_(on, p) && tcall_sc_knows_(c, on))
            tcall_sc_refuse_(c, p,
                             "keyword beside $ref, which this draft ignores",
                             "put both into allOf, or use draft 2020-12");
        p = tcall_text_next_(tcall_text_skip_(p));
    }
}

/* Flags the last of all rows; further ones than the last that is visible are
 * for the compiler. */
#define TCALL_ROW_END_ 8

/* Flags the rows of a schema, which are in order. */
static void tcall_sc_settle_(tcall_row *rows, uint8_t count)
{
    rows[count - 1].flags |= TCALL_ROW_END_;
    while (count && rows[count - 1].on >= TCALL_ON_TYPE_)
        count--;
    rows[count ? count - 1 : 0].flags |= TCALL_ROW_LAST_;
}

/* Brings the rows of a schema to their place, in their order. */
static void tcall_sc_rows_(tcall_sc_ *c, uint32_t mark, uint8_t count)
{
    tcall_row *from = tcall_sc_row_(c), *rows, row;
    bool list = false, ref = false;
    uint8_t i, k;
    c->rows -= count;
    c->low += count * (uint32_t)sizeof row;
    if (!tcall_sc_fits_(c) || !count)
        return;
    rows = (tcall_row *)(void *)(c->mem + c->low) - count;
    memmove(rows, from, count * sizeof row);
    for (i = 0; i < count; i++) {
        list = list || rows[i].on == TCALL_ON_PREFIX_;
        ref = ref || rows[i].on == TCALL_ON_REF_;
    }
    for (i = 0; i < count; i++) {
        row = rows[i];
        if (row.on == TCALL_ON_EXTRA_ && list) {
            row.on = TCALL_ON_ITEMS_;
            row.flags |= TCALL_ROW_OLD_;
        }
        if (row.on == TCALL_ON_DEPENDENCIES_)
            row.on = TCALL_ON_DEPENDENT_;
        for (k = i; k && rows[k - 1].on > row.on; k--)
            rows[k] = rows[k - 1];
        rows[k] = row;
    }
    tcall_sc_settle_(rows, count);
    tcall_sc_mark_(c, mark)->made = rows;
    if (ref && c->draft >= TCALL_DRAFT_7)
        tcall_sc_beside_(c, tcall_sc_mark_(c, mark)->at);
}

/* A schema is complete: its mark and those within it are the last ones. Of a
 * list it gets its node with the others; on: the keyword that it alone is for,
 * 0: it is the root. */
static void tcall_sc_schema_ends_(tcall_sc_ *c, uint32_t mark, uint8_t on)
{
    tcall_member *root;
    if (!c->full)
        tcall_sc_mark_(c, mark)->span = (uint16_t)(c->marks - mark);
    if (c->depth && !(tcall_sc_top_(c)->kind & TCALL_SCHEMA_)) {
        tcall_sc_top_(c)->count++;
    } else if (on) {
        tcall_sc_row_add_(c, on, NULL)->of.number = mark;
        tcall_sc_list_ends_(c, on, 1);
    } else {
        root = (tcall_member *)tcall_sc_take_(c, 1, sizeof *root);
        if (root)
            c->out->root = tcall_sc_place_(c, mark, &root->node);
    }
}

/* ---- strings and numbers ---- */

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
TCALL_NOINLINE_ static void tcall_sc_number_(tcall_sc_ *c, const char *p)
{
    tcall_row *row = tcall_sc_row_add_(c, c->on, p);
    tcall_num_ n = tcall_num_read_(c->number);
    bool whole = tcall_num_integral_(&n);
    uint32_t value = tcall_num_digits_value_(&n, n.top + 1);
    if (whole && value <= INT16_MAX) {
        row->count = (uint16_t)(n.sign < 0 ? 0 - value : value);
        row->flags |= TCALL_ROW_SMALL_;
    }
    if (c->on >= TCALL_ON_MIN_LENGTH_) {
        row->of.number = value;
        if (!whole || n.sign < 0)
            tcall_sc_refuse_(c, p, "impossible count",
                             "use a whole number, 0 or more");
    } else if (c->on == TCALL_ON_MULTIPLE_ &&
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

/* A type that is none is remembered, so that it is told once. */
#define TCALL_WRONG_TYPE_ 0x80

/* Tells of a type that is none. */
static void tcall_sc_no_type_(tcall_sc_ *c, const char *p)
{
    c->types |= TCALL_WRONG_TYPE_;
    tcall_sc_refuse_(c, p, "unknown type",
                     "use object, array, string, number, integer, boolean or "
                     "null");
}

/* A type, or one of a list of them. */
static void tcall_sc_type_(tcall_sc_ *c, const char *p)
{
    tcall_str word = tcall_text_inner_(p);
    uint8_t i = 0;
    while (i < 7 &&
           (tcall_type_words_[i].len != word.len ||
            memcmp(tcall_type_words_[i].word, word.ptr, word.len) != 0))
        i++;
    if (i == 7)
        tcall_sc_no_type_(c, p);
    else
        c->types |= (uint8_t)(1 << i);
}

/* All types of the open schema are there. */
static void tcall_sc_types_end_(tcall_sc_ *c)
{
    if (!c->types)
        tcall_sc_no_type_(c, c->list);
    if (!c->full)
        tcall_sc_mark_(c, tcall_sc_top_(c)->count)->back =
            c->types & TCALL_SHAPE_ANY;
}

/* The root's $schema counts from the beginning, wherever it stands. */
static void tcall_sc_draft_(tcall_sc_ *c, const char *p)
{
    int draft = tcall_sc_draft_of_(p);
    if (draft == c->draft)
        return;
    if (c->depth > 1 || draft < 0 || c->dialect) {
        tcall_sc_refuse_(c, p, "unknown $schema",
                         "use https://json-schema.org/draft/2020-12/schema "
                         "or http://json-schema.org/draft-07/schema");
        return;
    }
    c->draft = (uint8_t)draft;
    c->dialect = c->again = c->syntax.halt = true;
    c->syntax.error = TCALL_E_SCHEMA;
}

/* A string or number of a keyword that is known. */
static void tcall_sc_scalar_(tcall_sc_ *c, const char *p)
{
    tcall_match *match;
    switch (c->on) {
    case TCALL_ON_PATTERN_:
        match = (tcall_match *)tcall_sc_take_(c, 1, sizeof *match);
        tcall_sc_pattern_(c, NULL, p);
        if (match && !c->full)
            tcall_sc_pattern_(c, match, p);
        tcall_sc_row_add_(c, c->on, NULL)->of.match = match;
        tcall_sc_row_(c)->count = 1;
        break;
    case TCALL_ON_TYPE_:
        tcall_sc_type_(c, p);
        if (tcall_sc_top_(c)->kind != TCALL_ON_TYPE_)
            tcall_sc_types_end_(c);
        break;
    case TCALL_ON_SCHEMA_: tcall_sc_draft_(c, p); break;
    case TCALL_ON_ID_:
    case TCALL_ON_OLD_ID_:
        if (c->depth > 1 && p[1] != '#')
            c->embedded = c->key;
        break;
    case TCALL_ON_REF_: tcall_sc_row_add_(c, c->on, p); break;
    default: tcall_sc_number_(c, p);
    }
}

/* ---- what the recogniser tells ---- */

static tcall_opened_ *tcall_sc_open_(tcall_sc_ *c, uint8_t kind, uint32_t count)
{
    tcall_opened_ *top = &c->open[c->depth++];
    top->kind = kind;
    top->rows = 0;
    top->count = (uint16_t)count;
    return top;
}

/* Whether the array at p has nothing in it. */
static bool tcall_sc_is_empty_(const tcall_sc_ *c, const char *p)
{
    const char *end = c->out->text + c->out->len;
    for (p++; p < end && tcall_is_space_(*p);)
        p++;
    return p < end && *p == ']';
}

/* A schema begins at p; at: the name in front of it, or p; kind: that of a list
 * it is in, else its keyword and SCHEMA. */
static tcall_ask_ tcall_sc_schema_(tcall_sc_ *c, uint8_t kind, const char *at,
                                   const char *p)
{
    uint8_t only = kind & TCALL_SCHEMA_ ? kind : TCALL_SCHEMA_;
    if (*p == '[' &&
        (kind == TCALL_ON_NEEDED_ || kind == TCALL_ON_DEPENDENCIES_)) {
        tcall_sc_open_(c, TCALL_ON_REQUIRED_, 0);
        return TCALL_HEAR_;
    }
    if (kind == TCALL_ON_NEEDED_) {
        tcall_sc_refuse_(c, p, "wrong kind of value", "use an array of names");
        return TCALL_SKIP_;
    }
    if (*p != '{' && *p != 't' && *p != 'f') {
        tcall_sc_malformed_(c, p, 's');
        return TCALL_SKIP_;
    }
    if (kind == TCALL_ON_PATTERNS_)
        tcall_sc_pattern_(c, NULL, at);
    tcall_sc_mark_add_(c, at, *p == 'f' ? 0 : TCALL_SHAPE_ANY);
    if (*p == '{') {
        tcall_sc_open_(c, only, c->marks - 1);
        return TCALL_HEAR_;
    }
    tcall_sc_schema_ends_(c, c->marks - 1, only & (TCALL_SCHEMA_ - 1));
    return TCALL_SKIP_;
}

/* Whether the open schema has the keyword at hand already. */
static bool tcall_sc_is_second_(tcall_sc_ *c)
{
    const tcall_opened_ *top = tcall_sc_top_(c);
    const tcall_row *row = tcall_sc_row_(c);
    uint8_t i;
    if (c->full)
        return false;
    for (i = 0; i < top->rows; i++)
        if (row[i].on == c->on &&
            (!i || row[i - 1].on != TCALL_ON_DEPENDENCIES_)) /* made both */
            return true;
    return c->on == TCALL_ON_TYPE_ &&
           tcall_sc_mark_(c, top->count)->back != TCALL_SHAPE_ANY;
}

/* The value of a keyword that says no more about where it stands. */
static tcall_ask_ tcall_sc_part_(tcall_sc_ *c, const char *p)
{
    switch (c->on) {
    case TCALL_ON_TYPE_:
        c->types = 0;
        c->list = p;
        if (*p == '[' || *p == '"')
            break;
        tcall_sc_no_type_(c, p);
        tcall_sc_types_end_(c);
        return TCALL_SKIP_;
    case TCALL_ON_ID_:
    case TCALL_ON_OLD_ID_:
        if (*p != '"' ||
            (c->on == TCALL_ON_OLD_ID_ && c->draft != TCALL_DRAFT_4))
            return TCALL_SKIP_;
        break;
    case TCALL_ON_UNIQUE_:
        if (*p == 'f')
            return TCALL_SKIP_; /* fall through */
    case TCALL_ON_ENUM_:
    case TCALL_ON_CONST_: tcall_sc_row_add_(c, c->on, p); return TCALL_SKIP_;
    case TCALL_ON_DEPENDENCIES_:
    case TCALL_ON_NEEDED_:
        tcall_sc_row_add_(c, TCALL_ON_NEEDED_, p)->flags =
            c->on == TCALL_ON_NEEDED_ ? 0 : TCALL_ROW_OLD_;
        break;
    case TCALL_ON_REQUIRED_: tcall_sc_row_add_(c, c->on, p); break;
    default: break;
    }
    if (*p != '[' && *p != '{') { /* its end is waited for */
        c->at = p;
        return TCALL_HEAR_;
    }
    if (tcall_row_has_(c->on)) {
        if (*p == '[' && tcall_sc_is_empty_(c, p))
            tcall_sc_malformed_(c, p, '[');
        tcall_sc_row_add_(c, c->on, NULL)->of.number = c->marks;
    }
    tcall_sc_open_(c, c->on, 0);
    return TCALL_HEAR_;
}

/* The value of a keyword. */
static tcall_ask_ tcall_sc_value_(tcall_sc_ *c, const char *p)
{
    char begins, begun = *p == '-' || tcall_is_digit_(*p) ? '0'
                         : *p == 'f'                      ? 't'
                                                          : *p;
    if (c->on == TCALL_ON_ITEMS_ && *p == '[' && c->draft != TCALL_DRAFT_2020)
        c->on = TCALL_ON_PREFIX_; /* as it was called then */
    begins = tcall_keyword_begins_[c->on];
    if (tcall_sc_is_second_(c))
        tcall_sc_refuse_(c, c->key, "keyword given twice", "keep one");
    else if (begins == 's')
        return tcall_sc_schema_(c, c->on | TCALL_SCHEMA_, p, p);
    else if (begins != '*' && begins != begun)
        tcall_sc_malformed_(c, p, begins);
    else
        return tcall_sc_part_(c, p);
    return TCALL_SKIP_;
}

/* Whether the keyword at hand can be used here, and refuses it if not. A
 * keyword of another draft was meant by whoever wrote it. */
static bool tcall_sc_usable_(tcall_sc_ *c)
{
    bool known = tcall_sc_knows_(c, c->on);
    if (tcall_keyword_begins_[c->on] == '!')
        tcall_sc_refuse_(c, c->key, "unsupported keyword", "leave it out");
    else if (!known)
        tcall_sc_refuse_(c, c->key, "keyword of another draft",
                         "name its draft in $schema");
    return known && tcall_keyword_begins_[c->on] != '!';
}

/* A name comes: of a schema it is a keyword, of properties a member. */
static bool tcall_sc_name_(tcall_syntax_ *s, const char *name, size_t len,
                           bool last)
{
    tcall_sc_ *c = (tcall_sc_ *)s;
    tcall_str word = tcall_slice_(name, len);
    if (!c->piece)
        c->key = s->from;
    else if (last)
        word = tcall_text_inner_(c->key);
    c->piece = !last;
    if (!last || !(tcall_sc_top_(c)->kind & TCALL_SCHEMA_))
        return true;
    if (memchr(word.ptr, '\\', word.len))
        tcall_sc_refuse_(c, c->key, "keyword with escapes", "write it plainly");
    c->on = tcall_keyword_of_(word);
    return c->on && tcall_sc_usable_(c);
}

/* A value begins: what it may be was said by its keyword. */
static tcall_ask_ tcall_sc_begin_(tcall_syntax_ *s, char first)
{
    tcall_sc_ *c = (tcall_sc_ *)s;
    const char *at = s->from;
    uint8_t kind = c->depth ? tcall_sc_top_(c)->kind : (uint8_t)TCALL_SCHEMA_;
    if (!c->depth)
        return tcall_sc_schema_(c, kind, at, at);
    if (kind & TCALL_SCHEMA_)
        return tcall_sc_value_(c, at);
    if (kind == TCALL_ON_REQUIRED_) {
        tcall_sc_top_(c)->count++;
        if (first != '"')
            tcall_sc_malformed_(c, at, '"');
        return TCALL_SKIP_;
    }
    if (kind == TCALL_ON_TYPE_) {
        c->at = first == '"' ? at : NULL;
        if (!c->at)
            tcall_sc_no_type_(c, at);
        return c->at ? TCALL_HEAR_ : TCALL_SKIP_;
    }
    return tcall_sc_schema_(
        c, kind, tcall_keyword_begins_[kind] == '{' ? c->key : at, at);
}

/* A number comes in one piece, for the whole text is there. */
static void tcall_sc_data_(tcall_syntax_ *s, const char *bytes, size_t len)
{
    ((tcall_sc_ *)s)->number = tcall_slice_(bytes, len);
}

/* A value is complete: the schema, list or map that it is gets its rows. */
static void tcall_sc_end_(tcall_syntax_ *s)
{
    tcall_sc_ *c = (tcall_sc_ *)s;
    tcall_opened_ top;
    const char *at = c->at;
    c->at = NULL;
    if (at) {
        tcall_sc_scalar_(c, at);
        return;
    }
    top = *tcall_sc_top_(c);
    c->depth--;
    if (top.kind & TCALL_SCHEMA_) {
        tcall_sc_rows_(c, top.count, top.rows);
        tcall_sc_schema_ends_(c, top.count, top.kind & (TCALL_SCHEMA_ - 1));
    } else if (top.kind == TCALL_ON_TYPE_) {
        tcall_sc_types_end_(c);
    } else if (tcall_row_has_(top.kind)) {
        tcall_sc_list_ends_(c, top.kind, top.count);
    } else if (tcall_sc_top_(c)->kind & TCALL_SCHEMA_) {
        tcall_sc_row_(c)->count = top.count; /* required */
    }
}

/* ---- $ref ---- */

static tcall_sc_spot_ *tcall_sc_mark_of_(const tcall_sc_ *c,
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
        while (i < row->count &&
               !tcall_text_same_(row->of.members[i].name, name))
            i++;
    else if (named)
        i = tcall_member_named_(row, tcall_text_bytes_in_(name));
    return tcall_row_node_(row, i);
}

/* The row that a name of a pointer leads to, or NULL. */
static const tcall_row *
tcall_sc_row_named_(const tcall_sc_ *c, const tcall_node *node, tcall_str name)
{
    uint8_t on = tcall_keyword_of_(name), other = on;
    const tcall_row *row = node->rows, *found = NULL;
    if (c->draft != TCALL_DRAFT_2020 && on == TCALL_ON_ITEMS_)
        other = TCALL_ON_PREFIX_;
    if (on == TCALL_ON_DEPENDENCIES_)
        on = other = TCALL_ON_DEPENDENT_;
    if (!on || on == TCALL_ON_REF_ || !tcall_row_has_(on))
        return NULL;
    for (; row && !found; row = row->flags & TCALL_ROW_END_ ? NULL : row + 1)
        if (row->on == on || row->on == other)
            found = row;
    return found;
}

/* The node that the fragment of a URI leads to, or NULL. */
static const tcall_node *tcall_sc_target_(const tcall_sc_ *c, const char *p)
{
    const tcall_node *node = c->out->root;
    const tcall_row *row = NULL;
    while (*p == '/') {
        char bytes[TCALL_NAME_MAX_];
        bool list = row != NULL;
        int len;
        tcall_str name;
        p++;
        len = tcall_pointer_step_(&p, bytes);
        if (len < 0 || !node)
            return NULL;
        name = tcall_slice_(bytes, (size_t)len);
        row = list ? row : tcall_sc_row_named_(c, node, name);
        if (row && !list && tcall_keyword_begins_[row->on] != 's')
            continue;
        node = list  ? tcall_row_named_(row, name)
               : row ? tcall_row_node_(row, 0)
                     : NULL;
        row = NULL;
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
    if (node) /* it lies in a member */
        row->of.text = (const char *)node - offsetof(tcall_member, node);
    row->count = node != NULL;
    c->steps--;
}

/* Gives each $ref the node of the place that it points to. */
static void tcall_sc_refs_(tcall_sc_ *c)
{
    uint32_t i;
    for (i = 0; i < c->marks && c->steps > 0; i++) {
        const tcall_node *node = (const tcall_node *)tcall_sc_mark_(c, i)->made;
        const tcall_row *row = node->rows;
        if (row && row->on == TCALL_ON_ALLOF_)
            row = tcall_row_next_(row);
        if (row && row->on == TCALL_ON_REF_)
            tcall_sc_resolve_(c, (tcall_row *)(uintptr_t)row);
    }
}

/* ---- how many frames ---- */

#define TCALL_OPEN_ 0xFFFF /* its frames are being counted */

/* Refuses schemas that lead back to themselves without going into the value: no
 * check would ever end. Tells of the last of the $refs that do. */
static void tcall_sc_circle_(tcall_sc_ *c, uint16_t from,
                             const tcall_sc_spot_ *to)
{
    const char *last = NULL;
    for (;;) {
        const tcall_sc_spot_ *mark = tcall_sc_mark_(c, from);
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

/* Adds the frames of the schemas that a row brings for the same value. Returns
 * the mark of one that has to be counted before, or NULL. */
static tcall_sc_spot_ *tcall_sc_count_row_(tcall_sc_ *c, const tcall_row *row,
                                           uint16_t from, uint32_t *frames)
{
    /* of groups */
    static const uint8_t own[] = {0, 0, 0, 2, 2, 1, 3, 0, 0, 1, 0};
    uint16_t i;
    *frames += own[row->on];
    for (i = 0; i < row->count && row->on != TCALL_ON_CONTAINS_; i++) {
        tcall_sc_spot_ *mark = tcall_sc_mark_of_(c, tcall_row_node_(row, i));
        if (!mark->span)
            return mark;
        if (mark->span == TCALL_OPEN_ && !c->faults)
            tcall_sc_circle_(c, from, mark);
        *frames += mark->span + (row->on == TCALL_ON_DEPENDENT_ ? 2u : 0u);
    }
    return NULL;
}

/* Counts the frames of one schema. */
static void tcall_sc_count_(tcall_sc_ *c, uint16_t from)
{
    uint16_t i = from;
    for (;;) {
        tcall_sc_spot_ *mark = tcall_sc_mark_(c, i), *first = NULL;
        const tcall_node *node = (const tcall_node *)mark->made;
        bool chosen = tcall_row_of_(node, TCALL_ON_IF_) != NULL;
        const tcall_row *row = node->rows;
        uint32_t frames = 1;
        mark->span = TCALL_OPEN_;
        for (; row && row->on <= TCALL_ON_DEPENDENT_ && !first;
             row = tcall_row_next_(row))
            if (chosen || row->on < TCALL_ON_THEN_ || row->on > TCALL_ON_ELSE_)
                first = tcall_sc_count_row_(c, row, i, &frames);
        if (first) {
            first->back = i;
            i = (uint16_t)(tcall_sc_mark_(c, 0) - first);
            continue;
        }
        mark->span =
            (uint16_t)(frames < TCALL_OPEN_ ? frames : TCALL_OPEN_ - 1);
        if (i == from)
            return;
        i = mark->back;
    }
}

/* Counts the frames of all schemas, and refuses those with too many. */
static void tcall_sc_measure_(tcall_sc_ *c)
{
    uint32_t i;
    for (i = 0; i < c->marks; i++)
        tcall_sc_mark_(c, i)->span = 0;
    for (i = c->marks; i-- > 0 && !c->faults;) {
        const tcall_sc_spot_ *mark = tcall_sc_mark_(c, i);
        if (!mark->span)
            tcall_sc_count_(c, (uint16_t)i);
        if (mark->span > TOOLCALL_MAX_FRAMES && !c->faults)
            tcall_sc_refuse_(c, mark->at, "too many alternatives at one value",
                             "use fewer");
        if (c->out->width < mark->span)
            c->out->width = mark->span;
    }
}

/* ---- names ---- */

/* Notes the lengths of the names of properties, and marks those that are
 * required: mostly all that are. */
static void tcall_sc_members_(tcall_node *node)
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

/* ---- all nodes are there ---- */

static tcall_node *tcall_sc_made_(const tcall_sc_ *c, uint32_t i)
{
    return (tcall_node *)(uintptr_t)tcall_sc_mark_(c, i)->made;
}

/* The nodes are all there. */
TCALL_NOINLINE_ static void tcall_sc_finish_(tcall_sc_ *c)
{
    uint32_t i;
    tcall_sc_refs_(c);
    if (c->faults || c->steps <= 0)
        return;
    tcall_sc_measure_(c);
    for (i = 0; i < c->marks; i++) {
        tcall_node *node = tcall_sc_made_(c, i);
        node->digits = node->flags = 0;
        if (node->rows && node->rows->on >= TCALL_ON_TYPE_)
            node->rows = NULL;
    }
    for (i = 0; i < c->marks; i++)
        tcall_sc_members_(tcall_sc_made_(c, i));
}

/* ---- moving ---- */

static const void *tcall_moved_(const void *from, size_t by)
{
    return from ? (const char *)from + by : NULL;
}

/* Moves what a row points to by so many bytes. */
static void tcall_row_move_(tcall_row *row, size_t by)
{
    bool one = row->on == TCALL_ON_PATTERN_;
    tcall_match *match = (tcall_match *)(uintptr_t)tcall_row_match_(row);
    uint16_t i;
    for (i = 0; i < row->count && (one || row->on == TCALL_ON_PATTERNS_); i++)
        match[i].program = tcall_moved_(match[i].program, by);
    if (one || row->on == TCALL_ON_REF_ || tcall_row_has_(row->on))
        row->of.text = (const char *)tcall_moved_(row->of.text, by);
}

/* Moves the nodes to the end of the memory, and what points at them. Returns
 * where they begin. */
static size_t tcall_sc_move_(tcall_sc_ *c)
{
    size_t by = c->size - c->low;
    uint32_t i;
    for (i = 0; i < c->marks; i++) {
        tcall_node *node = tcall_sc_made_(c, i);
        const tcall_row *row = node->rows;
        for (; row; row = tcall_row_next_(row))
            tcall_row_move_((tcall_row *)(uintptr_t)row, by);
        node->rows = (const tcall_row *)tcall_moved_(node->rows, by);
    }
    c->out->root = (const tcall_node *)tcall_moved_(c->out->root, by);
    memmove(c->mem + by, c->mem, c->low);
    return by;
}

/* ---- entry ---- */

static const tcall_syntax_user_ tcall_sc_user_ TCALL_FLASH_ = {
    tcall_sc_name_, tcall_sc_begin_, tcall_sc_data_, tcall_sc_end_};

/* Reads the text, all that is in the compiler but how to compile forgotten.
 * Returns what is wrong with it as JSON. */
static int tcall_sc_read_(tcall_sc_ *c)
{
    tcall_str text = tcall_slice_(c->out->text, c->out->len);
    size_t eaten;
    c->full = c->again = c->piece = false;
    c->need = c->low = c->rows = c->marks = c->later = 0;
    c->steps = TOOLCALL_MAX_STEPS;
    c->embedded = c->at = NULL;
    c->depth = 0;
    c->faults = 0;
    c->out->reason = c->out->remedy = NULL;
    tcall_syntax_begin_(&c->syntax, &tcall_sc_user_);
    eaten = tcall_syntax_feed_(&c->syntax, text.ptr, text.len);
    tcall_syntax_feed_(&c->syntax, text.ptr + eaten, text.len - eaten);
    return tcall_syntax_end_(&c->syntax);
}

/* Reads once, and again for the draft that the root names. */
static int tcall_sc_run_(tcall_sc_ *c)
{
    int r = tcall_sc_read_(c);
    if (c->again)
        r = tcall_sc_read_(c);
    if (r < 0)
        return r;
    if (!c->full)
        tcall_sc_finish_(c);
    if (c->steps <= 0 && !c->faults)
        tcall_sc_refuse_(c, tcall_text_space_(c->out->text),
                         "too many steps to compile",
                         "use fewer $refs that lead to each other");
    return TCALL_OK;
}

/* Compiles into memory; end: the nodes are moved to its end. which: the fault
 * that refuses it, where there are several. */
static int tcall_sc_compile_(tcall_schema *out, void *mem, size_t size,
                             tcall_draft draft, uint32_t which, bool end)
{
    const size_t word = sizeof(void *), most = TCALL_SIZE_(0x7FFFFFF0);
    size_t pad = (0 - (size_t)(uintptr_t)mem) % word;
    tcall_sc_ c;
    int r;
    memset(&c, 0, sizeof c);
    c.out = out;
    c.draft = (uint8_t)draft;
    c.which = which;
    if (mem && size > pad) {
        c.size =
            (uint32_t)((size - pad < most ? size - pad : most) / word * word);
        c.mem = (char *)mem + pad;
    }
    r = tcall_sc_run_(&c);
    out->need = (size_t)c.need == c.need ? (size_t)c.need + pad : SIZE_MAX;
    out->used = c.low + pad;
    if (c.faults || c.full || r < 0)
        out->root = NULL; /* nothing is checked against the rest */
    else if (end)
        out->used = size - pad - tcall_sc_move_(&c);
    return r < 0         ? r
           : out->reason ? TCALL_E_SCHEMA
           : c.full      ? TCALL_E_MEMORY
                         : (int)out->used;
}

/* Each fault is told of the schema compiled anew for it, and the first again:
 * it stays. There are not more than what the steps do for. */
static int tcall_sc_start_(tcall_schema *out, tcall_str text, void *mem,
                           size_t size, const tcall_author_ *author, bool end)
{
    uint32_t which = 0;
    int r = TCALL_E_LIMIT;
    memset(out, 0, sizeof *out);
    out->text = text.ptr;
    out->len = text.len;
    if (text.len < TCALL_SIZE_(0xFFFFFF))
        r = tcall_sc_compile_(out, mem, size, author->draft, 0, end);
    while (r == TCALL_E_SCHEMA && author->tell &&
           which < TOOLCALL_MAX_STEPS / (text.len + 1)) {
        author->tell(author->user, out);
        r = tcall_sc_compile_(out, mem, size, author->draft, ++which, end);
    }
    if (which)
        r = tcall_sc_compile_(out, mem, size, author->draft, 0, end);
    if (r >= 0 || r == TCALL_E_SCHEMA || r == TCALL_E_MEMORY)
        return r;
    memset(out, 0, sizeof *out);
    tcall_schema_fault_(out, author, 0, tcall_error_text(r), NULL);
    return TCALL_E_SCHEMA;
}

/* Compiles a schema as its author wants it. */
TCALL_SHARED_ int tcall_schema_compile_for_(tcall_schema *out, tcall_str text,
                                            void *mem, size_t size,
                                            const tcall_author_ *author)
{
    return tcall_sc_start_(out, text, mem, size, author, false);
}

/* Compiles a schema whose nodes are to lie at the end of the memory. Returns
 * the bytes there. */
TCALL_SHARED_ int tcall_schema_compile_end_(tcall_schema *out, tcall_str text,
                                            void *mem, size_t size)
{
    const tcall_author_ nobody = {TCALL_DRAFT_2020, NULL, NULL};
    return tcall_sc_start_(out, text, mem, size, &nobody, true);
}

int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                         size_t size, tcall_draft draft)
{
    tcall_author_ author = {draft, NULL, NULL};
    return tcall_schema_compile_for_(out, text, mem, size, &author);
}
