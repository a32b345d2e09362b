#pragma once
#include "schema.h"
#include "text.c"
#include "block.c"
#include "write.c"

/* ==========================================================================
 * >>schema
 *
 * The program is the schema's outline in preorder: one node for each schema
 * and one for each keyword, nothing for lists and maps. The node of a schema
 * says what it is for (one of properties, one of anyOf, items ...) and how many
 * nodes are within, so that stepping over it is one addition. Names, bounds and
 * enums are compared where they stand, in the text.
 *
 * Checking is one loop over a stack of small frames, one per schema that is at
 * work on a value. Each turn looks at the next node of the top frame: an
 * assertion is decided at once, a schema is applied to the next value that it
 * is for, which may push a frame; what that says is counted or is a fault.
 * Quiet frames (in anyOf, not, if ...) stop at the first fault and report none.
 */

/* Keywords that no tool definition was seen to use can be left out; schemas
 * that have them are then refused. */
#ifdef TOOLCALL_NO_RARE
#define TCALL_RARE_ 0
#else
#define TCALL_RARE_ 1
#endif

/* X(op, keyword, the upper 24 bits of its tcall_hash_, what its value starts
 * with, the drafts that have it). s: a schema; *: anything. Drafts: ALL; NEW,
 * 2020-12 only; OLD, all others; LATE, from 2019-09. The order is relied upon:
 * what applies schemas to the same value, to members and to elements; schemas
 * that are only kept; then what applies none. */
#define TCALL_KEYWORDS_(X)                                    \
    X(ANYOF, "anyOf", 0x5F988D, '[', ALL)                     \
    X(ONEOF, "oneOf", 0x957F34, '[', ALL)                     \
    X(IF, "if", 0x39386E, 's', ALL)                           \
    X(ALLOF, "allOf", 0xBF6211, '[', ALL)                     \
    X(NOT, "not", 0x29B19C, 's', ALL)                         \
    X(DEPEND, "dependencies", 0x653D9D, '{', ALL)             \
    X(REF, "$ref", 0x94C365, '"', ALL)                        \
    X(PROPERTIES, "properties", 0x11DE6C, '{', ALL)           \
    X(PATTERNS, "patternProperties", 0xEB4BB2, '{', ALL)      \
    X(ADDITIONAL, "additionalProperties", 0x1C9C30, 's', ALL) \
    X(NAMES, "propertyNames", 0x22B1E1, 's', ALL)             \
    X(PREFIX, "prefixItems", 0x328C49, '[', NEW)              \
    X(REST, "items", 0x3A7933, 's', ALL)                      \
    X(EXTRA, "additionalItems", 0x7A4724, 's', OLD)           \
    X(CONTAINS, "contains", 0x6CCAF1, 's', ALL)               \
    X(THEN, "then", 0xE522E9, 's', ALL)                       \
    X(ELSE, "else", 0xBDBF5B, 's', ALL)                       \
    X(DEFS, "$defs", 0x94EE77, '{', ALL)                      \
    X(PATTERN, "pattern", 0x873D01, '"', ALL)                 \
    X(KEY, "", 0, '"', ALL)                                   \
    X(CONST, "const", 0x664FD1, '*', ALL)                     \
    X(ENUM, "enum", 0x816CB0, '[', ALL)                       \
    X(REQUIRED, "required", 0x848C86, '[', ALL)               \
    X(MULTIPLE, "multipleOf", 0xAD1DFB, '0', ALL)             \
    X(MINIMUM, "minimum", 0x938122, '0', ALL)                 \
    X(MAXIMUM, "maximum", 0x5BF2F6, '0', ALL)                 \
    X(ABOVE, "exclusiveMinimum", 0x720625, '0', ALL)          \
    X(BELOW, "exclusiveMaximum", 0x64F7C2, '0', ALL)          \
    X(MINLENGTH, "minLength", 0xB0443B, '0', ALL)             \
    X(MAXLENGTH, "maxLength", 0xD23308, '0', ALL)             \
    X(MINITEMS, "minItems", 0x13F0FB, '0', ALL)               \
    X(MAXITEMS, "maxItems", 0xFCFB37, '0', ALL)               \
    X(MINPROPS, "minProperties", 0x5F8287, '0', ALL)          \
    X(MAXPROPS, "maxProperties", 0x93E8C8, '0', ALL)          \
    X(MINCONTAINS, "minContains", 0xBC1B2E, '0', LATE)        \
    X(MAXCONTAINS, "maxContains", 0x05F6A4, '0', LATE)        \
    X(UNIQUE, "uniqueItems", 0xD1F6A6, 't', ALL)              \
    X(TYPE, "type", 0x5127F1, '*', ALL)                       \
    X(DRAFT, "$schema", 0x1083C5, '"', ALL)                   \
    X(ID, "$id", 0x124D65, '*', ALL)                          \
    X(REFUSED, "$dynamicRef", 0xB21B47, '*', ALL)

enum {
#define TCALL_X_(op, name, hash, shape, drafts) TCALL_K_##op##_,
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
        TCALL_K_ATOM_, /* the steps of a pattern */
    TCALL_K_ASSERT_,
    TCALL_K_FORK_,
    TCALL_K_JUMP_,
    TCALL_K_NULL_, /* the types, in their order, integer last */
    TCALL_K_NONE_ = 0x3F,
    TCALL_IN_ALL_ = 0, /* added to an op: one of tcall_drafts_ */
    TCALL_IN_NEW_ = 0x40,
    TCALL_IN_OLD_ = 0x80,
    TCALL_IN_LATE_ = 0xC0
};

/* Sets of drafts, one bit for each tcall_draft. */
static const uint8_t tcall_drafts_[] = {0x1F, 0x01, 0x1E, 0x03};

/* The rare ones. */
#define TCALL_BIT_(op) ((uint64_t)1 << TCALL_K_##op##_)
#define TCALL_RARE_OPS_                                                \
    (TCALL_BIT_(DEPEND) | TCALL_BIT_(IF) | TCALL_BIT_(THEN) |          \
     TCALL_BIT_(ELSE) | TCALL_BIT_(PATTERNS) | TCALL_BIT_(PREFIX) |    \
     TCALL_BIT_(EXTRA) | TCALL_BIT_(CONTAINS) | TCALL_BIT_(MULTIPLE) | \
     TCALL_BIT_(MINCONTAINS) | TCALL_BIT_(MAXCONTAINS) | TCALL_BIT_(UNIQUE))

static const char tcall_shapes_[] = {
#define TCALL_X_(op, name, hash, shape, drafts) shape,
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
};

/* The words of a schema: hash, drafts and op. */
static const uint32_t tcall_words_[] = {
#define TCALL_X_(op, name, hash, shape, drafts) \
    (uint32_t) hash << 8 | TCALL_IN_##drafts##_ | TCALL_K_##op##_,
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
#define TCALL_X_(op, hash) (uint32_t) hash << 8 | (op)
        TCALL_X_(TCALL_K_DEFS_, 0xBF0E20),                /* definitions */
    TCALL_X_(TCALL_K_DEPEND_ | TCALL_IN_LATE_, 0xB4B403), /* dependentSchemas */
    TCALL_X_(TCALL_K_DEPEND_ | TCALL_IN_LATE_,
             0x86D897),                   /* dependentRequired */
    TCALL_X_(TCALL_K_ID_, 0x37386A),      /* id */
    TCALL_X_(TCALL_K_REFUSED_, 0x30CAA3), /* $recursiveRef */
    TCALL_X_(TCALL_K_REFUSED_, 0x595BD9), /* unevaluatedProperties */
    TCALL_X_(TCALL_K_REFUSED_, 0x39C254), /* unevaluatedItems */
    TCALL_X_(TCALL_K_NULL_, 0x77074B),
    TCALL_X_(TCALL_K_NULL_ + 1, 0x65F46E), /* boolean */
    TCALL_X_(TCALL_K_NULL_ + 2, 0x1BD670), /* number */
    TCALL_X_(TCALL_K_NULL_ + 3, 0x17C165), /* string */
    TCALL_X_(TCALL_K_NULL_ + 4, 0x8A58AD), /* array */
    TCALL_X_(TCALL_K_NULL_ + 5, 0xB8C60C), /* object */
    TCALL_X_(TCALL_K_NULL_ + 6, 0xBFD2C4)  /* integer */
#undef TCALL_X_
};

/* In arg of a node that has a span: the span; the length of its name when that
 * is short and plain; its types, one bit each in the order of tcall_type,
 * integer last. */
#define TCALL_SPAN_      0xFFFFFu
#define TCALL_LENGTH_    20
#define TCALL_TYPES_ANY_ 0x7F000000u
#define TCALL_MARKED_    0x80000000u
#define TCALL_TYPES_     24
#define TCALL_ANY_       0x3F000000u
#define TCALL_INTEGER_   0x40u
#define TCALL_NEVER_     0xFFFFFFFFu

/* The op that a word means and its drafts. */
static int tcall_word_(tcall_str word)
{
    uint32_t hash = tcall_hash_(word) >> 8;
    size_t i = sizeof tcall_words_ / sizeof *tcall_words_;
    while (i--)
        if (tcall_words_[i] >> 8 == hash)
            return (int)(tcall_words_[i] & 0xFF);
    return TCALL_K_NONE_;
}

static int tcall_node_op_(const tcall_node_ *node)
{
    return (int)(node->word & 0xFF);
}

/* What it stands for in the schema's text: the name in front of a member of a
 * map, else the value. */
static const char *tcall_node_at_(const tcall_schema *s, uint32_t node)
{
    return s->text + (s->program[node].word >> 8);
}

/* The node behind this one and all that belongs to it. */
static uint32_t tcall_node_after_(const tcall_node_ *program, uint32_t i)
{
    int op = tcall_node_op_(&program[i]);
    bool spans = op != TCALL_K_REF_ && op <= TCALL_K_KEY_;
    return i + (spans ? program[i].arg & TCALL_SPAN_ : 1);
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

/* -- Patterns ------------------------------------------------------------- */

/* One node for an atom with its count, one for a fork, a jump and an assertion.
 * While matching, each has a byte that says whether it is active; an atom that
 * repeats has one for each count. So a character costs time proportional to the
 * size of the pattern, whatever the pattern is, and nothing ever backs up. */
#ifndef TOOLCALL_NO_PATTERN

#define TCALL_COUNT_MAX_ 1000

/* What an escape was, when it was not one character. */
enum { TCALL_C_BAD_ = -1, TCALL_C_OUT_ = -2, TCALL_C_IN_ = -3 };

/* \d, \w, \s and what ends a line, as ranges. */
static const uint16_t tcall_re_sets_[] = {
    '0',    '9',    0,      '0',    '9',    'A',    'Z',    '_',
    '_',    'a',    'z',    0,      9,      13,     ' ',    ' ',
    0xA0,   0xA0,   0x1680, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029,
    0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000, 0xFEFF, 0xFEFF,
    0,      '\n',   '\n',   '\r',   '\r',   0x2028, 0x2029, 0};

static bool tcall_re_in_(int set, int32_t c)
{
    const uint16_t *p = tcall_re_sets_;
    while (set)
        set -= !*p++;
    for (; *p; p += 2)
        if (c >= p[0] && c <= p[1])
            return true;
    return false;
}

/* The next character of a pattern, -1 at its end and where it has an escape of
 * JSON that does not stand for itself. */
static int32_t tcall_re_char_(const char **at)
{
    if (**at == '"' || (**at == '\\' && !strchr("\\\"/", *++*at)))
        return -1;
    return tcall_utf8_next_(at);
}

/* Behind the backslash: the character it means, or for a class whether ch is
 * in it, or TCALL_C_BAD_. */
static int32_t tcall_re_escape_(const char **at, int32_t ch)
{
    int32_t c = tcall_re_char_(at), v = 0;
    int set = (c | 0x20) == 'd' ? 0 : (c | 0x20) == 'w' ? 1 : 2, digits;
    if (c >= 0x80 || !tcall_re_in_(1, c))
        return c; /* or the end, which is as bad */
    if (set < 2 || (c | 0x20) == 's')
        return tcall_re_in_(set, ch) == (c >= 'a') ? TCALL_C_IN_ : TCALL_C_OUT_;
    if (c != 'x' && c != 'u') {
        v = c == 'b' ? 0 : tcall_unescape_((char)c);
        return v ? v : (int32_t)TCALL_C_BAD_;
    }
    for (digits = c == 'x' ? 2 : 4; digits; digits--) {
        int h = tcall_hex_((char)tcall_re_char_(at));
        if (h < 0)
            return TCALL_C_BAD_;
        v = v << 4 | h;
    }
    return v >> 11 == 0x1B ? (int32_t)TCALL_C_BAD_ : v;
}

/* A member of a [...]: as tcall_re_escape_. */
static int32_t tcall_re_member_(const char **at, int32_t ch)
{
    int32_t c = tcall_re_char_(at);
    return c == '\\' ? tcall_re_escape_(at, ch) : c;
}

/* Behind '[': 1 when ch is in, 0 when not, -1 when it is malformed. */
static int tcall_re_class_(const char **at, int32_t ch)
{
    bool negated = **at == '^', in = false;
    *at += negated;
    while (**at != ']') {
        int32_t low = tcall_re_member_(at, ch), high = low;
        if (low >= 0 && **at == '-' && (*at)[1] != ']') {
            ++*at;
            high = tcall_re_member_(at, ch);
            if (high < low)
                return -1; /* [a-\d] or [z-a] */
        }
        if (low == TCALL_C_BAD_)
            return -1;
        in |= low == TCALL_C_IN_ || (low <= ch && ch <= high);
    }
    ++*at;
    return in != negated;
}

/* Steps over an atom: 1 when ch matches it, 0 when not, -1: malformed. */
static int tcall_re_atom_(const char **at, int32_t ch)
{
    int32_t c = tcall_re_char_(at);
    if (c == '.')
        return !tcall_re_in_(3, ch);
    if (c == '[')
        return tcall_re_class_(at, ch);
    if (c == '\\') {
        c = tcall_re_escape_(at, ch);
        if (c < 0)
            return c == TCALL_C_BAD_ ? -1 : c == TCALL_C_IN_;
    }
    return c == ch;
}

/* A count in braces, at most TCALL_COUNT_MAX_ + 1; NEVER: none there. */
static uint32_t tcall_re_number_(const char **at)
{
    uint32_t n = TCALL_NEVER_;
    for (; tcall_is_digit_(**at); ++*at) {
        n = (n == TCALL_NEVER_ ? 0 : n * 10) + (uint32_t)(**at - '0');
        if (n > TCALL_COUNT_MAX_)
            n = TCALL_COUNT_MAX_ + 1;
    }
    return n;
}

/* arg of each step: its cells, which for an atom are one for each count below
 * its maximum, and no more than one when that is open above its minimum; the
 * minimum; whether it is open. */
#define TCALL_CELLS_(arg) ((arg)&0xFFF)
#define TCALL_LEAST_(arg) ((arg) >> 12 & 0xFFF)
#define TCALL_OPEN_END_   ((uint32_t)1 << 24)
#define TCALL_ONCE_       (1u | 1u << 12)

/* Steps over a quantifier, if one is there: arg of the atom in front of it,
 * NEVER when it is malformed. */
static uint32_t tcall_re_quantifier_(const char **at)
{
    const char *p = *at;
    bool open = *p == '*' || *p == '+';
    uint32_t min = *p == '+', max = 1;
    if (*p == '{') {
        p++;
        min = max = tcall_re_number_(&p);
        if (*p == ',') {
            open = *++p == '}';
            max = open ? min + !min : tcall_re_number_(&p);
        }
        if (*p != '}' || max < min || max > TCALL_COUNT_MAX_)
            return TCALL_NEVER_;
    } else if (!open && *p != '?') {
        return TCALL_ONCE_;
    }
    *at = p + 1 + (p[1] == '?');
    return max | min << 12 | (open ? TCALL_OPEN_END_ : 0);
}

/* Follows all that takes no character. */
static void tcall_re_spread_(const tcall_node_ *first, const tcall_node_ *last,
                             uint8_t *cells, int32_t before, int32_t next)
{
    const tcall_node_ *n;
    bool again;
    do {
        uint8_t *c = cells, *to;
        again = false;
        for (n = first; n < last; n++) {
            int op = tcall_node_op_(n);
            uint32_t value = n->word >> 8, width = TCALL_CELLS_(n->arg), k;
            for (k = TCALL_LEAST_(n->arg); k < width; k++) {
                if (!c[k] || (op == TCALL_K_ASSERT_ &&
                              (value == '^' ? before : next) >= 0))
                    continue;
                if (op != TCALL_K_JUMP_)
                    c[width] = 1;
                if (op < TCALL_K_FORK_ || !value)
                    continue;
                to = cells + value;
                if (!*to && to < c)
                    again = true;
                *to = 1;
            }
            c += width;
        }
    } while (again);
}

/* Takes one character, from the last node to the first. */
static void tcall_re_step_(const char *text, const tcall_node_ *first,
                           const tcall_node_ *n, uint8_t *c, int32_t ch)
{
    while (n-- > first) {
        uint32_t k = TCALL_CELLS_(n->arg);
        bool stays = n->arg & TCALL_OPEN_END_; /* in the last cell */
        for (; k--; stays = false) {
            const char *at = text + (n->word >> 8);
            bool hit = *--c && tcall_node_op_(n) == TCALL_K_ATOM_ &&
                       tcall_re_atom_(&at, ch) > 0;
            c[0] = hit && stays;
            c[1] |= hit;
        }
    }
}

/* Does the pattern occur in str? cells: scratch. */
static bool tcall_re_search_(const tcall_schema *s, uint32_t pattern,
                             tcall_str str, uint8_t *cells, int32_t *steps)
{
    const tcall_node_ *first = s->program + pattern + 1;
    const tcall_node_ *last =
        s->program + tcall_node_after_(s->program, pattern) - 1;
    const char *p = str.ptr, *end = p + str.len;
    uint32_t size =
        last->word >> 8; /* the last says how many cells there are */
    int32_t before = -1, next;
    memset(cells, 0, size + 1);
    for (;; before = next) {
        next = p < end ? tcall_utf8_next_(&p) : -1;
        *steps -= 1 + (int32_t)size / 16;
        cells[0] = 1;
        tcall_re_spread_(first, last, cells, before, next);
        if (cells[size] || next < 0 || *steps < 0)
            return cells[size] && *steps >= 0;
        tcall_re_step_(s->text, first, last, cells + size, next);
    }
}

#endif /* TOOLCALL_NO_PATTERN */

/* -- Compiling ------------------------------------------------------------ */

typedef struct tcall_sc_ {
    tcall_schema *out;
    const char *text;
    tcall_node_ *node;
    uint32_t cap, n;
    int32_t steps;
    int draft;
    const char *embedded; /* a subschema's own $id */
    uint32_t open; /* schema being built; its span is the one around it yet */
    int depth;
    uint8_t kind[TOOLCALL_MAX_DEPTH + 2]; /* of all that are open: the op of a
                                           * list or map, 0xFF: a schema */
} tcall_sc_;

#define TCALL_OPEN_ 0xFF

/* The first refusal stays. Gives p, so that it can be returned. */
static const char *tcall_sc_refuse_(tcall_sc_ *c, const char *p,
                                    const char *reason)
{
    if (!c->out->reason) {
        c->out->reason = reason;
        c->out->at = (size_t)(p - c->text);
    }
    return p;
}

static const char *tcall_sc_malformed_(tcall_sc_ *c, const char *p)
{
    return tcall_sc_refuse_(c, p, "a value of the wrong kind");
}

/* Nodes that do not fit are counted only. */
static uint32_t tcall_sc_node_(tcall_sc_ *c, uint32_t word, uint32_t arg)
{
    if (c->n < c->cap) {
        c->node[c->n].word = word;
        c->node[c->n].arg = arg;
    }
    return c->n++;
}

static uint32_t tcall_sc_emit_(tcall_sc_ *c, int op, const char *at,
                               uint32_t arg)
{
    return tcall_sc_node_(c, (uint32_t)(at - c->text) << 8 | (uint32_t)op, arg);
}

#ifndef TOOLCALL_NO_PATTERN

/* Leads node i, if it is one of those that lead to a cell, to that. */
static void tcall_sc_lead_(tcall_sc_ *c, uint32_t i, int op, uint32_t cell)
{
    if (i < c->cap && tcall_node_op_(&c->node[i]) == op)
        c->node[i].word |= cell << 8;
}

/* Nesting of groups in a pattern. */
#define TCALL_GROUPS_ 8

/* A group that is open; its text is read once for each copy that its
 * quantifier asks for. Each alternative begins with a fork to the next one and
 * ends with a jump to the end of the one behind it. */
typedef struct tcall_re_open_ {
    const char *body;
    uint32_t copies; /* made so far */
    uint32_t first;  /* cell of this copy's first fork */
    uint32_t fork;   /* node of the last alternative's, behind the jump */
} tcall_re_open_;

/* Compiles the pattern in the string at. */
TCALL_APART_ static void tcall_sc_pattern_(tcall_sc_ *c, int op, const char *at)
{
    tcall_re_open_ group[TCALL_GROUPS_ + 1], *g = group;
    uint32_t start = tcall_sc_emit_(c, op, at, 1), cells = 0, close, count;
    const char *p;
    g->body = at + 1;
begin:
    g->copies = 0;
copy:
    p = g->body;
    g->first = cells++;
    g->fork = tcall_sc_node_(c, TCALL_K_FORK_, 1);
    while (cells <= TOOLCALL_MAX_PATTERN) {
        const char *piece = p;
        int32_t ch = tcall_re_char_(&p);
        if (ch == '(') {
            if (*p == '?') {
                if (p[1] != ':')
                    break;
                p += 2;
            }
            if (++g == group + TCALL_GROUPS_)
                break;
            g->body = p;
            goto begin;
        }
        if (ch == '^' || ch == '$') {
            tcall_sc_node_(c, (uint32_t)ch << 8 | TCALL_K_ASSERT_, 1);
            cells++;
        } else if (ch >= 0 && ch != '|' && ch != ')') {
            p = piece;
            if (strchr("*+?{", *p) || tcall_re_atom_(&p, 0) < 0)
                break;
            count = tcall_re_quantifier_(&p);
            if (count == TCALL_NEVER_)
                break;
            tcall_sc_emit_(c, TCALL_K_ATOM_, piece, count);
            cells += TCALL_CELLS_(count);
        } else {
            tcall_sc_lead_(c, g->fork - 1, TCALL_K_JUMP_, cells);
            if (ch == '|') {
                tcall_sc_lead_(c, g->fork, TCALL_K_FORK_, cells + 1);
                tcall_sc_node_(c, TCALL_K_JUMP_, 1);
                g->fork = tcall_sc_node_(c, TCALL_K_FORK_, 1);
                cells += 2;
                continue;
            }
            close = tcall_sc_node_(c, TCALL_K_FORK_, 1);
            if (g == group) {
                if (*piece != '"')
                    break;
                tcall_sc_lead_(c, close, TCALL_K_FORK_, cells);
                if (c->out->cells <= cells)
                    c->out->cells = cells + 1;
                if (start < c->cap)
                    c->node[start].arg = c->n - start;
                return;
            }
            cells++;
            count = ch < 0 ? TCALL_NEVER_ : tcall_re_quantifier_(&p);
            if (count == TCALL_NEVER_ || !TCALL_CELLS_(count))
                break;
            if (g->copies++ >= TCALL_LEAST_(count))
                tcall_sc_lead_(c, g->fork, TCALL_K_FORK_, cells);
            if (g->copies < TCALL_CELLS_(count))
                goto copy;
            if (count & TCALL_OPEN_END_)
                tcall_sc_lead_(c, close, TCALL_K_FORK_, g->first);
            g--;
        }
    }
    tcall_sc_refuse_(c, at, "not supported in a pattern");
}

#else

static void tcall_sc_pattern_(tcall_sc_ *c, int op, const char *p)
{
    (void)op;
    tcall_sc_refuse_(c, p, "patterns were left out of this build");
}

#endif /* TOOLCALL_NO_PATTERN */

/* Marks the properties that are required. Where all that are required are
 * among them the first of the names says how many: counting will do then. */
static void tcall_sc_require_(tcall_sc_ *c, uint32_t schema)
{
    tcall_node_ *node = c->node;
    uint32_t first = tcall_node_child_(node, schema, c->n, TCALL_K_REQUIRED_);
    uint32_t i = first, k;
    for (; i && i < c->n && tcall_node_op_(&node[i]) == TCALL_K_REQUIRED_;
         i++) {
        tcall_str name = tcall_text_verbatim_(tcall_node_at_(c->out, i));
        for (k = schema + 1; k < c->n; k = tcall_node_after_(node, k))
            if (tcall_node_op_(&node[k]) == TCALL_K_PROPERTIES_ &&
                --c->steps > 0 &&
                tcall_str_eq(tcall_text_verbatim_(tcall_node_at_(c->out, k)),
                             name))
                break;
        if (k >= c->n || node[k].arg >> 31 || i - first > 126)
            return;
        node[k].arg |= TCALL_MARKED_;
    }
    if (first)
        node[first].arg |= (i - first) << TCALL_TYPES_;
}

static void tcall_sc_close_(tcall_sc_ *c)
{
    uint32_t i = c->open, k, parent;
    if (c->n > c->cap)
        return;
    parent = c->node[i].arg & TCALL_SPAN_;
    c->node[i].arg += c->n - i - parent;
    c->open = parent;
    if (!TCALL_LEAN_)
        tcall_sc_require_(c, i);
    /* up to draft 7 what stands beside a $ref does not count */
    k = tcall_node_child_(c->node, i, c->n, TCALL_K_REF_);
    if (k && c->draft >= TCALL_DRAFT_7)
        for (k = i + 1; k < c->n; k = tcall_node_after_(c->node, k)) {
            int op = tcall_node_op_(&c->node[k]);
            if ((op != TCALL_K_REF_ && op != TCALL_K_DEFS_) ||
                (c->node[i].arg & TCALL_TYPES_ANY_) != TCALL_ANY_)
                tcall_sc_refuse_(c, tcall_node_at_(c->out, k),
                                 "what is beside a $ref does not count");
        }
}

/* The length of the name at the quote p, where it is short and plain. */
static uint32_t tcall_sc_plain_(const char *p)
{
    uint32_t len = 0;
    if (!TCALL_LEAN_ && *p == '"')
        for (len = 1; len < 16 && p[len] != '"' && p[len] != '\\';)
            len++;
    return len && p[len] == '"' ? (len - 1) << TCALL_LENGTH_ : 0;
}

/* required: a node for each name. */
static void tcall_sc_names_(tcall_sc_ *c, const char *p)
{
    for (p = tcall_text_next_(p + 1); *p == '"';
         p = tcall_text_next_(tcall_text_skip_(p)))
        tcall_sc_emit_(c, TCALL_K_REQUIRED_, p, tcall_sc_plain_(p));
    if (*p != ']')
        tcall_sc_malformed_(c, p);
}

/* A schema starts at p. */
static const char *tcall_sc_schema_(tcall_sc_ *c, int op, const char *at,
                                    const char *p)
{
    bool names = TCALL_RARE_ && op == TCALL_K_DEPEND_ && *p == '[';
    if (*p != '{' && *p != 't' && *p != 'f' && !names)
        return tcall_sc_malformed_(c, p);
    c->open = tcall_sc_emit_(c, op, at,
                             (*p == 'f' ? 0 : TCALL_ANY_) |
                                 tcall_sc_plain_(at) | c->open);
    if (TCALL_RARE_ && op == TCALL_K_PATTERNS_)
        tcall_sc_pattern_(c, TCALL_K_KEY_, at);
    if (*p == '{') {
        c->kind[c->depth++] = TCALL_OPEN_;
        return p + 1;
    }
    if (names)
        tcall_sc_names_(c, p);
    tcall_sc_close_(c);
    return tcall_text_skip_(p);
}

/* One type or an array of them, into the schema's own node. */
static void tcall_sc_type_(tcall_sc_ *c, const char *p)
{
    tcall_node_ *node;
    const char *at = p;
    uint32_t types = 0;
    if (*p == '[')
        p = tcall_text_next_(p + 1);
    do {
        int type = *p == '"' ? tcall_word_(tcall_text_inner_(p)) : 0;
        if (type < TCALL_K_NULL_ || type >= TCALL_K_NONE_) {
            tcall_sc_refuse_(c, *p == ']' ? at : p, "unknown type");
            return;
        }
        types |= 1u << (type - TCALL_K_NULL_);
        p = tcall_text_next_(tcall_text_skip_(p));
    } while (*at == '[' && *p != ']');
    if (c->open >= c->cap)
        return;
    node = &c->node[c->open];
    if ((node->arg & TCALL_TYPES_ANY_) != TCALL_ANY_)
        tcall_sc_refuse_(c, at, "a second time");
    node->arg ^= TCALL_ANY_ ^ types << TCALL_TYPES_;
}

/* The first digits as an integer; NEVER where ten times that is too much. */
static uint32_t tcall_num_digits_value_(const tcall_num_ *n, int digits)
{
    const char *p = n->first;
    uint32_t v = 0;
    for (; digits > 0 && n->sign; digits--) {
        if (v >= 42000000)
            return TCALL_NEVER_;
        v = v * 10 + (uint32_t)tcall_num_digit_(n, &p);
    }
    return v;
}

/* Bounds stay in the text, their length is kept; counts are read. */
static void tcall_sc_number_(tcall_sc_ *c, int op, const char *p)
{
    tcall_str text = tcall_text_verbatim_(p);
    tcall_num_ n = tcall_num_read_(text);
    uint32_t arg = (uint32_t)text.len;
    bool ok = true;
    if (op >= TCALL_K_MINLENGTH_) {
        arg = tcall_num_digits_value_(&n, n.top + 1);
        ok = tcall_num_integral_(&n) && n.sign >= 0;
    } else if (TCALL_RARE_ && op == TCALL_K_MULTIPLE_) {
        ok = n.sign > 0 &&
             tcall_num_digits_value_(&n, tcall_num_digits_(&n)) !=
                 TCALL_NEVER_ &&
             n.top >= -308 && n.top <= 308;
    }
    if (!ok)
        tcall_sc_refuse_(c, p, "a number that is not supported here");
    tcall_sc_emit_(c, op, p, arg);
}

/* The dialect that the string at p names, by the digit before "/schema" and
 * perhaps '#'; draft: none that is known. */
static int tcall_sc_draft_of_(const char *p, int draft)
{
    static const char digits[] = "29764";
    tcall_str s = tcall_text_inner_(p);
    const char *found;
    if (*p != '"')
        return draft;
    s.len -= s.len && s.ptr[s.len - 1] == '#';
    if (s.len < 33 || memcmp(s.ptr + s.len - 7, "/schema", 7) != 0)
        return draft;
    found = strchr(digits, s.ptr[s.len - 8]);
    return found ? (int)(found - digits) : draft;
}

/* One keyword of the schema that is open; p: its value. */
static const char *tcall_sc_take_(tcall_sc_ *c, const char *key, const char *p)
{
    tcall_str name = tcall_text_inner_(key);
    int word = tcall_word_(name), op = word & TCALL_K_NONE_;
    const char *shape;
    /* a word of another draft: who wrote it means it */
    if (memchr(name.ptr, '\\', name.len) || op == TCALL_K_REFUSED_ ||
        (!TCALL_RARE_ && TCALL_RARE_OPS_ >> op & 1) ||
        !(tcall_drafts_[word >> 6] >> c->draft & 1))
        return tcall_sc_refuse_(c, key, "not supported");
    if (op > TCALL_K_REFUSED_)
        return tcall_text_skip_(p);
    if (TCALL_RARE_ && op == TCALL_K_REST_ && *p == '[' && c->draft)
        op = TCALL_K_PREFIX_;
    shape = &tcall_shapes_[op];
    if (*shape != 's' && *shape != '*' &&
        tcall_type_at_(shape) != tcall_type_at_(p))
        return tcall_sc_malformed_(c, p);
    if (c->n <= c->cap && tcall_node_child_(c->node, c->open, c->n, op))
        return tcall_sc_refuse_(c, key, "a second time");
    if (*shape == 's')
        return tcall_sc_schema_(c, op, p, p);
    if (op <= TCALL_K_DEFS_ && op != TCALL_K_REF_) {
        if (*p == '[' && !tcall_text_first_(p))
            tcall_sc_malformed_(c, p);
        c->kind[c->depth++] = (uint8_t)op;
        return p + 1;
    }
    if (op == TCALL_K_PATTERN_) {
        tcall_sc_pattern_(c, op, p);
    } else if (op == TCALL_K_REQUIRED_) {
        tcall_sc_names_(c, p);
    } else if (op == TCALL_K_TYPE_) {
        tcall_sc_type_(c, p);
    } else if (op == TCALL_K_DRAFT_) {
        if (tcall_sc_draft_of_(p, -1) != c->draft)
            tcall_sc_refuse_(c, p, "unknown $schema");
    } else if (op == TCALL_K_ID_) {
        if (c->depth > 1 && *p == '"' && p[1] != '#' &&
            (*name.ptr == '$' || c->draft == TCALL_DRAFT_4))
            c->embedded = key;
    } else if (*shape == '0') {
        tcall_sc_number_(c, op, p);
    } else if (op != TCALL_K_UNIQUE_ || *p == 't') {
        tcall_sc_emit_(c, op, p, TCALL_MARKED_); /* counts for a $ref */
    }
    return tcall_text_skip_(p);
}

/* From one bracket or comma to the next, all the way through. */
static void tcall_sc_outline_(tcall_sc_ *c, const char *p)
{
    p = tcall_sc_schema_(c, TCALL_K_ALLOF_, p, p);
    while (c->depth && !c->out->reason) {
        int kind = c->kind[c->depth - 1];
        const char *key = p = tcall_text_next_(p);
        if (tcall_text_closes_(p)) {
            c->depth--;
            if (kind == TCALL_OPEN_)
                tcall_sc_close_(c);
            p++;
            continue;
        }
        if (kind == TCALL_OPEN_ || tcall_shapes_[kind] == '{')
            p = tcall_text_value_(key);
        p = kind == TCALL_OPEN_ ? tcall_sc_take_(c, key, p)
                                : tcall_sc_schema_(c, kind, key, p);
    }
}

/* The next name of a JSON Pointer, decoded, from behind its '/' on: its length,
 * -1 when it is malformed or too long. */
static int tcall_sc_step_(const char **at, char *name, int cap)
{
    const char *p = *at;
    int n = 0;
    for (; *p != '/' && *p != '"'; n++) {
        char ch = *p++;
        if (n == cap)
            return -1;
        if (ch == '%') {
            int high = tcall_hex_(*p), low = high < 0 ? -1 : tcall_hex_(p[1]);
            if (low < 0)
                return -1;
            ch = (char)(high << 4 | low);
            p += 2;
        }
        if (ch == '~')
            ch = *p++ == '1' ? '/' : '~';
        if (ch == '\\' || p[-1] == '"')
            return -1;
        name[n] = ch;
    }
    *at = p;
    return n;
}

/* Finds what a $ref means: first in the text, then the node of that place. */
TCALL_APART_ static void tcall_sc_resolve_(tcall_sc_ *c, tcall_node_ *ref)
{
    const char *at = c->text + (ref->word >> 8), *p = at + 2;
    const char *value = tcall_text_space_(c->text), *to = value;
    uint32_t i;
    if (c->embedded)
        tcall_sc_refuse_(c, c->embedded, "an inner $id beside $refs");
    if (at[1] != '#' || (*p != '"' && *p != '/')) {
        tcall_sc_refuse_(c, at, "only $refs like #/... are supported");
        return;
    }
    while (to && *p == '/') {
        char name[64];
        int n = (p++, tcall_sc_step_(&p, name, sizeof name));
        to = n < 0 ? NULL
                   : tcall_text_member_(value, tcall_slice_(name, (size_t)n));
        if (to)
            value = *value == '{' ? tcall_text_value_(to) : to;
    }
    for (i = 0; to && i < c->n && --c->steps > 0; i++) {
        const char *here = tcall_node_at_(c->out, i);
        int op = tcall_node_op_(&c->node[i]);
        if (op != TCALL_K_REF_ && op <= TCALL_K_DEFS_ &&
            (here == value || here == to)) {
            ref->arg = i | TCALL_MARKED_;
            c->steps -= (int32_t)(value - c->text) / 16;
            return;
        }
    }
    tcall_sc_refuse_(c, at,
                     c->steps > 0 ? "leads to no schema" : "too many $refs");
}

/* The first $ref that applies to the same value as the schema at i, directly
 * or through anyOf, if and the like, and that is marked; 0: none. */
static uint32_t tcall_sc_marked_(tcall_sc_ *c, uint32_t i)
{
    uint32_t end = tcall_node_after_(c->node, i);
    for (i++; i < end && --c->steps > 0;) {
        int op = tcall_node_op_(&c->node[i]);
        bool same = op < TCALL_K_PROPERTIES_ || op == TCALL_K_THEN_ ||
                    op == TCALL_K_ELSE_;
        if (op == TCALL_K_REF_ && c->node[i].arg & TCALL_MARKED_)
            return i;
        i = same ? i + 1 : tcall_node_after_(c->node, i);
    }
    return 0;
}

/* Finds what $refs mean, and refuses those that lead back to themselves without
 * going into the value: no check would ever end. Each is marked until all that
 * it leads to are known to end. */
static void tcall_sc_refs_(tcall_sc_ *c)
{
    uint32_t i, left;
    bool more;
    do {
        more = false;
        left = 0;
        for (i = 0; i < c->out->nodes && !c->out->reason; i++) {
            tcall_node_ *ref = &c->node[i];
            if (tcall_node_op_(ref) != TCALL_K_REF_ || ref->arg < TCALL_MARKED_)
                continue;
            if (ref->arg == TCALL_MARKED_)
                tcall_sc_resolve_(c, ref);
            if (tcall_sc_marked_(c, ref->arg & TCALL_SPAN_)) {
                left = i;
            } else {
                ref->arg &= TCALL_SPAN_;
                more = true;
            }
        }
    } while (more && left && c->steps > 0);
    if (left || c->steps <= 0)
        tcall_sc_refuse_(c, tcall_node_at_(c->out, left),
                         left ? "leads to itself" : "too many $refs");
}

/* The root's $schema counts from the beginning, wherever it stands. */
int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                         size_t size, tcall_draft draft)
{
    size_t pad = (0 - (size_t)(uintptr_t)mem) & 3;
    int r = tcall_scan_whole_(text);
    const char *root, *dialect;
    tcall_sc_ c;
    memset(out, 0, sizeof *out);
    if (r < 0 || text.len >= 0xFFFFFF) {
        out->reason = tcall_error_text(r < 0 ? r : TCALL_E_LIMIT);
        return TCALL_E_SCHEMA;
    }
    memset(&c, 0, sizeof c);
    c.out = out;
    c.text = out->text = text.ptr;
    if (mem && size > pad) {
        size = (size - pad) / sizeof *c.node;
        c.cap = (uint32_t)(size < TCALL_SPAN_ ? size : TCALL_SPAN_);
        c.node = (tcall_node_ *)(void *)((char *)mem + pad);
    }
    c.steps = TOOLCALL_MAX_STEPS;
    c.draft = (int)draft;
    out->program = c.node;
    root = tcall_text_space_(text.ptr);
    dialect = tcall_text_get_(root, "$schema");
    if (dialect)
        c.draft = tcall_sc_draft_of_(dialect, c.draft);
    tcall_sc_outline_(&c, root);
    if (!c.n)
        out->text = NULL;
    out->need = c.n * sizeof *c.node + pad;
    if (c.n > TCALL_SPAN_)
        tcall_sc_refuse_(&c, root, "too large");
    if (c.n <= c.cap) {
        out->nodes = c.n;
        tcall_sc_refs_(&c);
    }
    return out->reason  ? TCALL_E_SCHEMA
           : out->nodes ? (int)out->need
                        : TCALL_E_MEMORY;
}

/* -- Checking ------------------------------------------------------------- */

/* A schema at work on a value. */
typedef struct tcall_ev_frame_ {
    uint8_t flags;
    uint8_t type;    /* of the value, as the schema sees it */
    uint8_t n;       /* of anyOf, oneOf: how many hold, 2: more than one */
    uint8_t have;    /* required properties that were met */
    uint32_t schema; /* its node */
    uint32_t end;    /* the node behind it */
    uint32_t pc;     /* the keyword that is at work */
    uint32_t tok;    /* the value */
    uint32_t cur;    /* the value that pc was applied to last, or NEVER */
    uint32_t hint;   /* the key where the search for the next name begins */
    uint32_t seen;   /* tokens of the members that properties named */
    uint32_t edge;   /* the schema that decides: then, else, one of anyOf */
    uint32_t rank;   /* how far it came; of contains: how many hold */
} tcall_ev_frame_;

enum {
    TCALL_F_BAD_ = 1,
    TCALL_F_QUIET_ = 2,  /* stop at the first fault, report none */
    TCALL_F_STRICT_ = 4, /* no coercion */
    TCALL_F_DRY_ = 8,    /* coerce, but mark nothing */
    TCALL_F_ALIKE_ = 14, /* what a schema hands down */
    TCALL_F_TEST_ = 6,   /* what it hands down to ask a question */
    TCALL_F_RETRY_ = 16, /* choices: once more, with coercion */
    TCALL_F_LAST_ = 32,  /* the edge is at work and decides */
    TCALL_F_ABSENT_ = 64 /* the null at cur may count as absent */
};

/* No answer yet: a frame is at work on it. */
#define TCALL_PUSHED_ (-1)

typedef struct tcall_ev_ {
    const tcall_schema *s;
    const tcall_node_ *program;
    tcall_check *check;
    const char *text; /* of the value */
    tcall_tok *tok;   /* the value's own is the first */
    tcall_ev_frame_ *frame;
    size_t pad, size; /* of the scratch memory */
    uint32_t depth;   /* frames */
    int32_t steps;
    int error;
    uint32_t rank;    /* of the last fault, reported or not: its token, and
                       * what failed was not the type */
    uint32_t num_tok; /* the token that num was read from */
    tcall_num_ num;
} tcall_ev_;

static tcall_str tcall_ev_of_(const tcall_ev_ *e, uint32_t tok)
{
    return tcall_tok_str_(e->text, &e->tok[tok]);
}

static unsigned tcall_ev_kind_(const tcall_ev_ *e, uint32_t tok)
{
    return (unsigned)e->tok[tok].type & TCALL_TYPE_;
}

static uint32_t tcall_ev_after_(const tcall_ev_ *e, uint32_t tok)
{
    return tok + (uint32_t)e->tok[tok].span;
}

/* The number at hand, read once for all keywords that look at it. */
static const tcall_num_ *tcall_ev_num_(tcall_ev_ *e, uint32_t tok)
{
    if (TCALL_LEAN_ || e->num_tok != tok)
        e->num = tcall_num_read_(tcall_ev_of_(e, tok));
    e->num_tok = tok;
    return &e->num;
}

/* at: in the schema's text. */
static void tcall_ev_fault_(tcall_ev_ *e, unsigned flags, uint32_t node,
                            uint32_t tok, const char *at)
{
    tcall_check *c = e->check;
    e->rank = 2 * tok + 1;
    if (!(flags & TCALL_F_QUIET_) && c->fault_count++ < c->fault_cap &&
        c->faults) {
        tcall_fault *f = &c->faults[c->fault_count - 1];
        f->node = node;
        f->at = (uint32_t)(at - e->s->text);
        f->tok = tok;
    }
}

/* The frame's value fails at a node. */
static void tcall_ev_fails_(tcall_ev_ *e, tcall_ev_frame_ *f, uint32_t node)
{
    tcall_ev_fault_(e, f->flags, node, f->tok, tcall_node_at_(e->s, node));
    f->flags |= TCALL_F_BAD_;
}

/* Scratch above the frames. NULL, with the error, when there is too little. */
static void *tcall_ev_scratch_(tcall_ev_ *e, size_t size)
{
    size_t frames = e->pad + e->depth * sizeof *e->frame;
    if (e->check->need < frames + size)
        e->check->need = frames + size;
    if (frames + size <= e->size)
        return (char *)e->check->memory + frames;
    if (!e->error)
        e->error = TCALL_E_MEMORY;
    return NULL;
}

TCALL_APART_ static bool tcall_ev_match_(tcall_ev_ *e, uint32_t pattern,
                                         uint32_t tok)
{
#ifndef TOOLCALL_NO_PATTERN
    uint8_t *cells = (uint8_t *)tcall_ev_scratch_(e, e->s->cells);
    if (cells)
        return tcall_re_search_(e->s, pattern, tcall_ev_of_(e, tok), cells,
                                &e->steps);
#else
    (void)e, (void)pattern, (void)tok;
#endif
    return false;
}

/* Does the node stand for the name that is this token? */
static inline bool tcall_ev_named_(const tcall_ev_ *e, uint32_t node,
                                   uint32_t tok)
{
    tcall_str name = tcall_ev_of_(e, tok);
    const char *p = tcall_node_at_(e->s, node);
    uint32_t len = e->program[node].arg >> TCALL_LENGTH_ & 15;
    return len && !TCALL_LEAN_
               ? len == name.len && memcmp(p + 1, name.ptr, len) == 0
               : tcall_text_same_(p, name);
}

/* Has the frame's schema a child with this op for the name? */
static bool tcall_ev_lists_(tcall_ev_ *e, const tcall_ev_frame_ *f, int op,
                            uint32_t name)
{
    uint32_t i;
    for (i = f->schema + 1; i < f->end; i = tcall_node_after_(e->program, i))
        if (e->steps--, tcall_node_op_(&e->program[i]) == op &&
                            (TCALL_RARE_ && op == TCALL_K_PATTERNS_
                                 ? tcall_ev_match_(e, i + 1, name)
                                 : tcall_ev_named_(e, i, name)))
            return true;
    return false;
}

/* The value of the frame's member that its node at pc names, 0: none. The
 * search begins at the key where the last one ended: names tend to come in
 * order. */
static uint32_t tcall_ev_find_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    uint32_t end = tcall_ev_after_(e, f->tok), key = f->hint, value;
    if (f->type != TCALL_OBJECT || f->tok + 1 == end || e->steps < 0)
        return 0;
    do {
        bool found = tcall_ev_named_(e, f->pc, key);
        e->steps--;
        value = key + 1;
        key = tcall_ev_after_(e, value);
        if (key == end)
            key = f->tok + 1;
        if (found) {
            f->hint = key;
            return value;
        }
    } while (key != f->hint);
    return 0;
}

/* Is the value like the JSON text at p, but for what is within them? type: what
 * the value counts as. */
static bool tcall_ev_alike_(tcall_ev_ *e, uint32_t tok, unsigned type,
                            const char *p)
{
    tcall_str s = tcall_ev_of_(e, tok);
    tcall_num_ n;
    if (--e->steps < 0 || tcall_type_at_(p) != type)
        return false;
    if (type == TCALL_STRING)
        return tcall_text_same_(p, s);
    if (type != TCALL_NUMBER)
        return type >= TCALL_ARRAY || *p == (*s.ptr | 0x20);
    n = tcall_num_read_(tcall_text_verbatim_(p));
    return tcall_num_compare_(tcall_ev_num_(e, tok), &n) == 0;
}

/* Is the value equal to the JSON text at p? While they are compared the mark of
 * a container says where in that text its like begins. */
static bool tcall_ev_is_(tcall_ev_ *e, uint32_t tok, unsigned type,
                         const char *p)
{
    uint32_t i = tok, end;
    bool same;
    if (!TCALL_LEAN_ && *p == '"')
        return type == TCALL_STRING &&
               tcall_text_same_(p, tcall_ev_of_(e, tok));
    same = tcall_ev_alike_(e, tok, type, p);
    for (end = tcall_ev_after_(e, tok); i < end; i++) {
        unsigned kind = tcall_ev_kind_(e, i), object = kind - TCALL_ARRAY;
        uint32_t x = i + 1 + object, stop = tcall_ev_after_(e, i);
        const char *all, *y, *next;
        bool closes;
        if (kind < TCALL_ARRAY)
            continue;
        all = p + e->tok[i].mark;
        e->tok[i].mark = TCALL_MARK_NONE_;
        for (next = all + 1; same; x = tcall_ev_after_(e, x) + object) {
            y = next = tcall_text_next_(next);
            closes = tcall_text_closes_(y);
            same = closes == (x >= stop);
            if (closes || !same)
                break;
            if (object) {
                next = tcall_text_value_(y);
                y = tcall_text_member_(all, tcall_ev_of_(e, x - 1));
                y = y ? tcall_text_value_(y) : all;
                e->steps -= (int32_t)(y - all) / 16;
            }
            same = y > all && tcall_ev_alike_(e, x, tcall_ev_kind_(e, x), y);
            if (same && tcall_ev_kind_(e, x) >= TCALL_ARRAY)
                e->tok[x].mark = (int)(y - p);
            next = tcall_text_skip_(next);
        }
    }
    return same;
}

static bool tcall_ev_enum_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                           const char *p)
{
    for (p = tcall_text_next_(p + 1); *p != ']' && e->steps >= 0;
         p = tcall_text_next_(tcall_text_skip_(p)))
        if (tcall_ev_is_(e, f->tok, f->type, p))
            return true;
    return false;
}

/* Each element is written as text, which those before it are held against. */
TCALL_APART_ static bool tcall_ev_unique_(tcall_ev_ *e,
                                          const tcall_ev_frame_ *f)
{
    uint32_t i, k, end = tcall_ev_after_(e, f->tok);
    char *text = (char *)tcall_ev_scratch_(e, 0);
    for (i = f->tok + 1; i < end; i = tcall_ev_after_(e, i)) {
        tcall_writer w;
        tcall_writer_init(&w, text,
                          (size_t)((char *)e->check->memory + e->size - text));
        tcall_write_json(&w, tcall_json_cursor_(e->text, &e->tok[i]));
        tcall_write_char_(&w, ' '); /* where a number ends */
        e->steps -= (int32_t)(w.len / 16);
        if (!tcall_ev_scratch_(e, w.len))
            return false;
        for (k = f->tok + 1; k < i; k = tcall_ev_after_(e, k))
            if (e->steps < 0 || tcall_ev_is_(e, k, tcall_ev_kind_(e, k), text))
                return false;
    }
    return true;
}

/* Both are scaled so that the divisor is an integer; then the remainder is
 * carried through the digits. */
static bool tcall_ev_multiple_(const tcall_num_ *n, const tcall_num_ *by)
{
    const char *p = n->first;
    int digits = tcall_num_digits_(by), left = n->top - by->top + digits;
    uint32_t m = tcall_num_digits_value_(by, digits), rest = 0;
    if (!n->sign || left < tcall_num_digits_(n))
        return !n->sign;
    for (; left > 0; left--)
        rest = (rest * 10 + (uint32_t)tcall_num_digit_(n, &p)) % m;
    return rest == 0;
}

TCALL_APART_ static bool tcall_ev_bound_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                                         int op)
{
    const tcall_num_ *n = tcall_ev_num_(e, f->tok);
    tcall_num_ bound = tcall_num_read_(
        tcall_slice_(tcall_node_at_(e->s, f->pc), e->program[f->pc].arg));
    int order;
    if (TCALL_RARE_ && op == TCALL_K_MULTIPLE_)
        return tcall_ev_multiple_(n, &bound);
    order = tcall_num_compare_(n, &bound);
    if ((op - TCALL_K_MINIMUM_) & 1)
        order = -order;
    return order > (op >= TCALL_K_ABOVE_ ? 0 : -1);
}

/* Length in characters, elements or members. */
static bool tcall_ev_within_(const tcall_ev_ *e, const tcall_ev_frame_ *f,
                             int op)
{
    uint32_t n = 0, limit = e->program[f->pc].arg;
    tcall_str s = tcall_ev_of_(e, f->tok);
    bool most = (op - TCALL_K_MINLENGTH_) & 1;
    if (f->type != TCALL_STRING) {
        n = (uint32_t)tcall_json_count(
            tcall_json_cursor_(e->text, &e->tok[f->tok]));
    } else {
        n = (uint32_t)s.len;
        if (TCALL_LEAN_ || (n >= limit + most &&
                            n / 4 <= limit)) /* characters have up to 4 bytes */
            for (n = 0; s.len--;)
                n += ((unsigned char)s.ptr[s.len] & 0xC0) != 0x80;
    }
    return n == limit || (n < limit) == most;
}

/* A keyword that applies no schema. */
static void tcall_ev_assert_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    const char *at = tcall_node_at_(e->s, f->pc);
    uint32_t count;
    unsigned type = f->type;
    bool ok = true;
    switch (op) {
    case TCALL_K_PATTERN_:
        if (type == TCALL_STRING)
            ok = tcall_ev_match_(e, f->pc, f->tok);
        break;
    case TCALL_K_CONST_: ok = tcall_ev_is_(e, f->tok, type, at); break;
    case TCALL_K_ENUM_: ok = tcall_ev_enum_(e, f, at); break;
    case TCALL_K_MULTIPLE_:
    case TCALL_K_MINIMUM_:
    case TCALL_K_MAXIMUM_:
    case TCALL_K_ABOVE_:
    case TCALL_K_BELOW_:
        if (type == TCALL_NUMBER)
            ok = tcall_ev_bound_(e, f, op);
        break;
    case TCALL_K_UNIQUE_:
        if (TCALL_RARE_ && type == TCALL_ARRAY)
            ok = tcall_ev_unique_(e, f);
        break;
    case TCALL_K_REQUIRED_:
        count = e->program[f->pc].arg >> TCALL_TYPES_;
        if (!TCALL_LEAN_ && count && count == f->have)
            f->pc += count - 1; /* and so are the others */
        else
            ok = type != TCALL_OBJECT || tcall_ev_find_(e, f);
        break;
    default: /* lengths: pairs for strings, arrays and objects */
        if (op >= TCALL_K_MINLENGTH_ && op <= TCALL_K_MAXPROPS_ &&
            type == TCALL_STRING + ((unsigned)op - TCALL_K_MINLENGTH_) / 2)
            ok = tcall_ev_within_(e, f, op);
    }
    if (!ok)
        tcall_ev_fails_(e, f, f->pc);
}

static void tcall_ev_mark_(tcall_ev_ *e, uint32_t tok, int mark, unsigned flags)
{
    if (flags & TCALL_F_DRY_)
        return;
    e->check->coerced += e->tok[tok].mark == TCALL_MARK_NONE_;
    e->tok[tok].mark = mark;
}

/* The string may stand for a value of another type: that type, or 0. What is
 * inside a container is checked when it was parsed. */
TCALL_APART_ static unsigned tcall_ev_coerced_(tcall_ev_ *e, uint32_t types,
                                               uint32_t tok, unsigned flags)
{
    tcall_str s = tcall_ev_of_(e, tok);
    unsigned type = TCALL_BOOL;
    int mark = TCALL_MARK_LITERAL_;
    if (!tcall_text_same_("\"True\"", s) && !tcall_text_same_("\"False\"", s)) {
        tcall_scan *scan = (tcall_scan *)tcall_ev_scratch_(e, sizeof *scan);
        if (!scan || tcall_scan_text_(scan, s) != TCALL_OK ||
            tcall_is_space_(*s.ptr))
            return 0;
        type = tcall_type_at_(s.ptr);
        mark = TCALL_MARK_JSON_;
        if (type == TCALL_NULL ||
            (type < TCALL_ARRAY && tcall_is_space_(s.ptr[s.len - 1])))
            return 0;
        if (type == TCALL_NUMBER) {
            if (!tcall_num_in_range_(s))
                return 0;
            if (types & TCALL_INTEGER_ &&
                tcall_num_integral_(tcall_ev_num_(e, tok)) &&
                !memchr(s.ptr, 'e', s.len) && !memchr(s.ptr, 'E', s.len))
                types |= 1u << (TCALL_NUMBER - 1);
        }
    }
    if (!(types >> (type - 1) & 1))
        return 0;
    tcall_ev_mark_(e, tok, mark, flags);
    return type;
}

/* The type that a value counts as which is not of the types wanted, 0: that is
 * a fault. */
static unsigned tcall_ev_retype_(tcall_ev_ *e, uint32_t schema, uint32_t tok,
                                 unsigned flags)
{
    uint32_t types = e->program[schema].arg >> TCALL_TYPES_ & 0x7F;
    unsigned type = tcall_ev_kind_(e, tok), as = 0;
    if (type == TCALL_NUMBER && types & TCALL_INTEGER_)
        as = tcall_num_integral_(tcall_ev_num_(e, tok)) ? type : 0;
    else if (type == TCALL_STRING && types && !(flags & TCALL_F_STRICT_))
        as = tcall_ev_coerced_(e, types, tok, flags);
    if (!as) {
        tcall_ev_fault_(e, flags, schema, tok, tcall_node_at_(e->s, schema));
        e->rank--;
    }
    return as;
}

/* Decides the assertions of the frame on top, up to the next keyword that
 * applies schemas: TCALL_PUSHED_. When there is none the frame goes, with the
 * answer. */
static int tcall_ev_resume_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    const tcall_node_ *program = e->program;
    f->cur = TCALL_NEVER_;
    while (f->pc < f->end && (f->flags & 3) != 3) {
        int op = tcall_node_op_(&program[f->pc]);
        if (op <= TCALL_K_CONTAINS_)
            return TCALL_PUSHED_;
        e->steps--;
        tcall_ev_assert_(e, f, op);
        f->pc = tcall_node_after_(program, f->pc);
    }
    e->depth--;
    return !(f->flags & TCALL_F_BAD_);
}

/* Applies a schema to a value: 1 it holds, 0 it does not, TCALL_PUSHED_: a
 * frame is at work on it. */
static int tcall_ev_enter_(tcall_ev_ *e, uint32_t schema, uint32_t tok,
                           unsigned flags)
{
    uint32_t arg = e->program[schema].arg;
    unsigned type = tcall_ev_kind_(e, tok);
    tcall_ev_frame_ *f;
    if (!(arg >> (type + TCALL_TYPES_ - 1) & 1)) {
        type = tcall_ev_retype_(e, schema, tok, flags);
        if (!type || type >= TCALL_ARRAY)
            return type != 0;
    }
    if ((arg & TCALL_SPAN_) == 1)
        return 1;
    f = (tcall_ev_frame_ *)tcall_ev_scratch_(e, sizeof *f);
    if (e->depth == TOOLCALL_MAX_FRAMES)
        e->error = TCALL_E_DEPTH;
    if (e->error)
        return 0;
    e->depth++;
    f->schema = schema;
    f->end = schema + (arg & TCALL_SPAN_);
    f->pc = schema + 1;
    f->tok = tok;
    f->hint = tok + 1;
    f->seen = f->edge = f->rank = 0;
    f->n = f->have = 0;
    f->type = (uint8_t)type;
    f->flags = (uint8_t)flags;
    return tcall_ev_resume_(e, f);
}

TCALL_APART_ static uint32_t tcall_ev_child_(const tcall_ev_ *e,
                                             const tcall_ev_frame_ *f, int op)
{
    return tcall_node_child_(e->program, f->schema, f->end, op);
}

/* Is this member or element none that the keyword is for? */
static bool tcall_ev_spared_(tcall_ev_ *e, const tcall_ev_frame_ *f, int op,
                             uint32_t value)
{
    uint32_t key = value - 1;
    if (op == TCALL_K_ADDITIONAL_)
        return tcall_ev_lists_(e, f, TCALL_K_PROPERTIES_, key) ||
               (TCALL_RARE_ && tcall_ev_lists_(e, f, TCALL_K_PATTERNS_, key));
    return TCALL_RARE_ && op == TCALL_K_PATTERNS_ &&
           !tcall_ev_match_(e, f->pc + 1, key);
}

/* The first element that is not for a prefixItems before node end. */
static uint32_t tcall_ev_rest_(tcall_ev_ *e, const tcall_ev_frame_ *f, int op)
{
    uint32_t end = op == TCALL_K_PREFIX_ ? f->pc : f->end;
    uint32_t i, tok = f->tok + 1, stop = tcall_ev_after_(e, f->tok);
    for (i = f->schema + 1; i < end && tok < stop && --e->steps >= 0;
         i = tcall_node_after_(e->program, i))
        if (tcall_node_op_(&e->program[i]) == TCALL_K_PREFIX_)
            tok = tcall_ev_after_(e, tok);
    return op == TCALL_K_EXTRA_ && tok == f->tok + 1 ? stop : tok;
}

/* The next value that the schema at pc is for, NEVER: there is none left. */
static uint32_t tcall_ev_next_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    uint32_t end = tcall_ev_after_(e, f->tok), cur = f->cur;
    bool object = op < TCALL_K_PREFIX_;
    if (op < TCALL_K_PROPERTIES_)
        return TCALL_RARE_ && op == TCALL_K_DEPEND_ && !tcall_ev_find_(e, f)
                   ? TCALL_NEVER_
                   : f->tok;
    if (f->type != (object ? TCALL_OBJECT : TCALL_ARRAY) ||
        (!TCALL_LEAN_ && op == TCALL_K_ADDITIONAL_ &&
         f->tok + 1 + f->seen == end))
        return TCALL_NEVER_;
    do {
        if (cur != TCALL_NEVER_)
            cur = tcall_ev_after_(e, cur) + object;
        else if (object || (TCALL_RARE_ && op == TCALL_K_CONTAINS_))
            cur = f->tok + 1 + object;
        else
            cur = tcall_ev_rest_(e, f, op);
        if (cur >= end || --e->steps < 0 || e->error)
            return TCALL_NEVER_;
    } while (tcall_ev_spared_(e, f, op, cur));
    return cur;
}

/* What the schema at pc said about cur. */
static void tcall_ev_answer_(tcall_ev_ *e, tcall_ev_frame_ *f, int op, bool r)
{
    if (f->flags & TCALL_F_LAST_)
        op = TCALL_K_ALLOF_;
    if (op <= TCALL_K_ONEOF_) {
        if (r) {
            f->n = (uint8_t)(f->n + (f->n < 2));
            f->edge = f->pc;
        } else if (!f->n && e->rank > 2 * f->tok && e->rank >= f->rank) {
            f->edge = e->rank > f->rank ? f->pc : 0;
            f->rank = e->rank;
        }
    } else if (op == TCALL_K_IF_) {
        f->edge = tcall_ev_child_(e, f, r ? TCALL_K_THEN_ : TCALL_K_ELSE_);
    } else if (op == TCALL_K_CONTAINS_) {
        f->rank += r;
    } else if (op == TCALL_K_NOT_ && r) {
        tcall_ev_fails_(e, f, f->pc);
    } else if (op != TCALL_K_NOT_ && !r) {
        f->flags |= TCALL_F_BAD_;
    }
}

/* All alternatives have answered. First they are asked strictly; when none
 * holds and coercion is allowed, again to see how many would then; the one that
 * alone would, or that came furthest, runs last and decides. True: go on with
 * that. */
static bool tcall_ev_choose_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    bool retry = f->flags & TCALL_F_RETRY_;
    bool once = f->n == 1; /* of anyOf no more are asked strictly */
    uint32_t first = tcall_ev_child_(e, f, op);
    const char *at = tcall_node_at_(e->s, first);
    if (!f->n && !(f->flags & (TCALL_F_RETRY_ | TCALL_F_STRICT_))) {
        f->flags |= TCALL_F_RETRY_;
        f->pc = first;
        f->edge = f->rank = 0;
        return true;
    }
    if (once ? retry : !f->n && f->edge && !(f->flags & TCALL_F_QUIET_)) {
        f->flags |= TCALL_F_LAST_;
        return true;
    }
    if (!once) {
        while (*at != '[')
            at--;
        tcall_ev_fault_(e, f->flags, first, f->tok, at);
        f->flags |= TCALL_F_BAD_;
    }
    return false;
}

/* The schema at pc has been applied to all that it is for: to the next. */
static void tcall_ev_done_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    const tcall_node_ *program = e->program;
    uint32_t next = tcall_node_after_(program, f->pc), min, max;
    if (!(f->flags & TCALL_F_LAST_)) {
        if (op == TCALL_K_IF_ && f->edge) {
            f->flags |= TCALL_F_LAST_;
            return;
        }
        if (op == TCALL_K_ANYOF_ || op == TCALL_K_ONEOF_) {
            for (; next < f->end && tcall_node_op_(&program[next]) == op;
                 next = tcall_node_after_(program, next))
                if (!f->n || op == TCALL_K_ONEOF_ ||
                    f->flags & TCALL_F_RETRY_) {
                    f->pc = next;
                    return;
                }
            if (tcall_ev_choose_(e, f, op))
                return;
        }
    }
    if (TCALL_RARE_ && op == TCALL_K_CONTAINS_ && f->type == TCALL_ARRAY) {
        min = tcall_ev_child_(e, f, TCALL_K_MINCONTAINS_);
        max = tcall_ev_child_(e, f, TCALL_K_MAXCONTAINS_);
        if (f->rank < (min ? program[min].arg : 1))
            tcall_ev_fails_(e, f, min ? min : f->pc);
        if (max && f->rank > program[max].arg)
            tcall_ev_fails_(e, f, max);
    }
    f->pc = next;
    f->edge = f->rank = 0;
    f->n = 0;
    f->flags &= (uint8_t) ~(TCALL_F_LAST_ | TCALL_F_RETRY_);
}

/* What only asks its schemas: they report no faults. */
#define TCALL_TESTS_                                                   \
    (1u << TCALL_K_ANYOF_ | 1u << TCALL_K_ONEOF_ | 1u << TCALL_K_IF_ | \
     1u << TCALL_K_NOT_ | 1u << TCALL_K_CONTAINS_)

/* Applies the schema at pc, or the edge, to cur. */
static int tcall_ev_apply_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    unsigned flags = f->flags & TCALL_F_ALIKE_;
    uint32_t schema = f->pc, tok = f->cur;
    if (f->flags & TCALL_F_LAST_)
        return tcall_ev_enter_(e, f->edge, tok, flags);
    if ((1u << op) & TCALL_TESTS_)
        flags |= TCALL_F_DRY_ |
                 (f->flags & TCALL_F_RETRY_ ? TCALL_F_QUIET_ : TCALL_F_TEST_);
    if (op == TCALL_K_NAMES_) { /* a name stays a string */
        tok--;
        flags |= TCALL_F_STRICT_;
    }
    if (op == TCALL_K_REF_)
        schema = e->program[schema].arg;
    return tcall_ev_enter_(e, schema, tok, flags);
}

/* properties, where most of the time is spent. A null may count as absent where
 * coercion is allowed and the property is not required. r: what the schema at
 * pc said, or TCALL_PUSHED_. */
static int tcall_ev_members_(tcall_ev_ *e, tcall_ev_frame_ *f, int r)
{
    const tcall_node_ *program = e->program;
    do {
        unsigned flags = f->flags & TCALL_F_ALIKE_;
        if (r < 0) {
            f->cur = tcall_ev_find_(e, f);
            f->flags &= (uint8_t)~TCALL_F_ABSENT_;
            r = 1;
            if (f->cur) {
                if (!TCALL_LEAN_) {
                    f->seen += 1 + (uint32_t)e->tok[f->cur].span;
                    f->have = (uint8_t)(f->have + (program[f->pc].arg >> 31));
                }
                if (tcall_ev_kind_(e, f->cur) == TCALL_NULL &&
                    !(flags & TCALL_F_STRICT_) &&
                    !tcall_ev_lists_(e, f, TCALL_K_REQUIRED_, f->cur - 1)) {
                    f->flags |= TCALL_F_ABSENT_;
                    flags |= TCALL_F_TEST_;
                }
                r = tcall_ev_enter_(e, f->pc, f->cur, flags);
                if (r < 0)
                    return r;
            }
        }
        if (!r && f->flags & TCALL_F_ABSENT_)
            tcall_ev_mark_(e, f->cur, TCALL_MARK_DROP_, f->flags);
        else if (!r)
            f->flags |= TCALL_F_BAD_;
        f->pc += program[f->pc].arg & TCALL_SPAN_;
        r = TCALL_PUSHED_;
    } while (!TCALL_LEAN_ && f->pc < f->end && (f->flags & 3) != 3 &&
             tcall_node_op_(&program[f->pc]) == TCALL_K_PROPERTIES_);
    return tcall_ev_resume_(e, f);
}

/* Any other keyword that applies schemas. */
static int tcall_ev_walk_(tcall_ev_ *e, tcall_ev_frame_ *f, int op, int r)
{
    if (r < 0) {
        f->cur = tcall_ev_next_(e, f, op);
        if (f->cur != TCALL_NEVER_)
            return tcall_ev_apply_(e, f, op);
    } else {
        tcall_ev_answer_(e, f, op, r);
        if (op >= TCALL_K_PATTERNS_ && op <= TCALL_K_CONTAINS_ &&
            op != TCALL_K_PREFIX_ && (f->flags & 3) != 3)
            return TCALL_PUSHED_; /* to the next member or element */
    }
    if (!TCALL_LEAN_ && op > TCALL_K_IF_ && op != TCALL_K_CONTAINS_)
        f->pc = tcall_node_after_(e->program, f->pc); /* nothing to settle */
    else
        tcall_ev_done_(e, f, op);
    return tcall_ev_resume_(e, f);
}

/* The machine: until the root's schema has answered. */
static int tcall_ev_run_(tcall_ev_ *e)
{
    int r = tcall_ev_enter_(e, 0, 0,
                            e->check->coerce ? 0 : (unsigned)TCALL_F_STRICT_);
    while (e->depth && !e->error && --e->steps >= 0) {
        tcall_ev_frame_ *f = &e->frame[e->depth - 1];
        int op = tcall_node_op_(&e->program[f->pc]);
        r = op == TCALL_K_PROPERTIES_ ? tcall_ev_members_(e, f, r)
                                      : tcall_ev_walk_(e, f, op, r);
    }
    return r;
}

static void tcall_ev_unmark_(tcall_ev_ *e)
{
    int i;
    for (i = 0; i < e->tok->span; i++)
        e->tok[i].mark = TCALL_MARK_NONE_;
    e->check->coerced = 0;
}

int tcall_schema_check(const tcall_schema *s, tcall_json value,
                       tcall_check *check)
{
    tcall_ev_ e;
    int ok;
    check->fault_count = check->coerced = check->need = 0;
    if (!s->nodes || !value.tok)
        return TCALL_E_USAGE;
    memset(&e, 0, sizeof e);
    e.s = s;
    e.program = s->program;
    e.check = check;
    e.text = value.text;
    /* tokens lie in the caller's memory; only marks are written */
    e.tok = (tcall_tok *)(uintptr_t)value.tok;
    e.num_tok = TCALL_NEVER_;
    e.pad = (0 - (size_t)(uintptr_t)check->memory) & 3;
    e.size = check->memory ? check->size : 0;
    e.frame = (tcall_ev_frame_ *)(void *)((char *)check->memory + e.pad);
    e.steps = TOOLCALL_MAX_STEPS;
    tcall_ev_unmark_(&e);
    ok = tcall_ev_run_(&e);
    if (!e.error && e.steps < 0)
        e.error = TCALL_E_BUDGET;
    else if (!e.error && !ok)
        e.error = TCALL_E_INVALID;
    if (e.error)
        tcall_ev_unmark_(&e);
    return e.error;
}

/* -- Telling what is wrong ------------------------------------------------ */

/* Longer values are cut in what the model reads. */
#define TCALL_SHOWN_ 160

/* A value: a string of which s is the content, else JSON text. */
static void tcall_show_(tcall_writer *w, tcall_str s, bool string)
{
    bool cut = s.len > TCALL_SHOWN_;
    tcall_write_comma_(w);
    if (cut)
        s.len = tcall_utf8_cut_(s.ptr, TCALL_SHOWN_);
    if (!cut && !string) {
        tcall_write_bytes(w, s.ptr, s.len);
        return;
    }
    tcall_write_char_(w, '"');
    tcall_write_content_(w, s);
    tcall_write_text(w, cut ? "...\"" : "\"");
}

static void tcall_show_found_(tcall_writer *w, const char *text,
                              const tcall_tok *t)
{
    int type = t->type & TCALL_TYPE_;
    tcall_str s = tcall_tok_str_(text, t);
    if (type >= TCALL_ARRAY)
        s = tcall_str_of(type == TCALL_ARRAY ? "an array" : "an object");
    tcall_show_(w, s, type >= TCALL_STRING);
}

/* "path": the JSON Pointer of a token; of a key that of its value. */
static void tcall_show_path_(tcall_writer *w, tcall_json v,
                             const tcall_tok *tok)
{
    const tcall_tok *t = v.tok;
    tcall_write_texts_(w, "'path':'", NULL, NULL);
    while (t < tok) {
        const char *p, *from, *end;
        int i = 0;
        for (t++; t += (t->type & TCALL_KEY_) != 0, t + t->span <= tok; i++)
            t += t->span;
        tcall_write_char_(w, '/');
        if (!(t->type & TCALL_MEMBER_)) {
            w->last = 0; /* no comma */
            tcall_write_int(w, i);
            continue;
        }
        from = v.text + t[-1].start;
        end = v.text + t[-1].end;
        for (p = from;; p++) {
            if (p < end && *p != '/' && *p != '~')
                continue;
            tcall_write_content_(w, tcall_slice_(from, (size_t)(p - from)));
            if (p == end)
                break;
            tcall_write_text(w, *p == '/' ? "~1" : "~0");
            from = p + 1;
        }
    }
    tcall_write_char_(w, '"');
}

/* The names that the schema around a node has properties for. */
static void tcall_show_names_(tcall_writer *w, const tcall_schema *s,
                              uint32_t node)
{
    const tcall_node_ *program = s->program;
    size_t room = w->len + 2 * TCALL_SHOWN_;
    uint32_t i = node, end;
    do
        i--;
    while (tcall_node_after_(program, i) <= node);
    end = tcall_node_after_(program, i);
    tcall_write_open(w, '[');
    for (i++; i < end && w->len < room; i = tcall_node_after_(program, i))
        if (tcall_node_op_(&program[i]) == TCALL_K_PROPERTIES_)
            tcall_write_verbatim(w, tcall_text_verbatim_(tcall_node_at_(s, i)));
    tcall_write_close(w, ']');
}

int tcall_write_fault(tcall_writer *w, const tcall_schema *s, tcall_json value,
                      const tcall_fault *fault)
{
    const tcall_tok *found = value.tok + fault->tok;
    int op = tcall_node_op_(&s->program[fault->node]);
    const char *at = s->text + fault->at, *p = at, *message = "not satisfied";
    tcall_str keyword = tcall_slice_(NULL, 0);
    if (op == TCALL_K_REQUIRED_) {
        keyword = tcall_slice_("required", 8);
        message = "missing property";
    } else if (op <= TCALL_K_DEFS_ && *at != '[' && op != TCALL_K_NOT_ &&
               op != TCALL_K_CONTAINS_) {
        at = *at == '"' ? tcall_text_value_(at) : at;
        message = "not allowed";
        if (*at == '{') { /* what stands there is a schema: its type */
            at = p = tcall_text_get_(at, "type");
            message = "wrong type";
        } else if (op != TCALL_K_ADDITIONAL_) {
            keyword = tcall_slice_(at, 5); /* false */
        }
    }
    if (!keyword.ptr) { /* it stands in front of the value */
        while (*--p != '"')
            ;
        keyword.ptr = p;
        while (*--keyword.ptr != '"')
            ;
        keyword.len = (size_t)(p - ++keyword.ptr);
    }
    tcall_write_open(w, '{');
    tcall_show_path_(w, value, found);
    tcall_write_key(w, "keyword");
    tcall_write_str(w, keyword);
    tcall_write_texts_(w, "'message':'%','expected':", message, NULL);
    if (op == TCALL_K_ADDITIONAL_ && *at == 'f')
        tcall_show_names_(w, s, fault->node);
    else
        tcall_show_(w, tcall_text_verbatim_(at), false);
    if (op != TCALL_K_REQUIRED_) {
        tcall_write_key(w, "found");
        tcall_show_found_(w, value.text, found);
    }
    return tcall_write_close(w, '}');
}

int tcall_write_faults(tcall_writer *w, const tcall_schema *s, tcall_json value,
                       const tcall_check *check)
{
    size_t i;
    tcall_write_open(w, '[');
    for (i = 0; i < check->fault_count && i < check->fault_cap; i++)
        tcall_write_fault(w, s, value, &check->faults[i]);
    return tcall_write_close(w, ']');
}

int tcall_write_coercions(tcall_writer *w, tcall_json value)
{
    int i;
    tcall_write_open(w, '[');
    for (i = 0; value.tok && i < value.tok->span; i++) {
        const tcall_tok *tok = value.tok + i;
        if (tok->mark == TCALL_MARK_NONE_)
            continue;
        tcall_write_open(w, '{');
        tcall_show_path_(w, value, tok);
        tcall_write_key(w, "from");
        tcall_show_found_(w, value.text, tok);
        if (tok->mark != TCALL_MARK_DROP_) {
            tcall_write_key(w, "to");
            tcall_write_comma_(w);
            tcall_write_scalar_(w, value.text, tok);
        }
        tcall_write_close(w, '}');
    }
    return tcall_write_close(w, ']');
}

int tcall_write_refusal(tcall_writer *w, const tcall_schema *s)
{
    tcall_write_text(w, s->reason ? s->reason : "ok");
    if (s->reason && s->text) {
        tcall_write_text(w, " at ");
        w->last = 0;
        tcall_write_int(w, (long)s->at);
        tcall_write_text(w, ": ");
        w->last = 0;
        tcall_show_(w, tcall_text_verbatim_(s->text + s->at), false);
    }
    return w->error;
}
