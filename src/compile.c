#pragma once
#include "compile.h"
#include "node.c"
#include "pattern.c"
#include "syntax.c"
#include "write.c"

/* ==========================================================================
 * >>compile: schemas become nodes
 *
 * The text is read twice. First the recogniser checks that it is JSON; it notes
 * where each schema in it ends, and adds up what all of them take. So nothing
 * is begun that there is no memory for. Then each schema in turn becomes a node
 * with rows, and the schemas that are values of its keywords get nodes that
 * wait for their own turn: those of one keyword lie in one array. When all are
 * made, $refs are followed along the rows, and the frames that each node needs
 * are counted. Names, bounds and enums stay in the text.
 */

/* Returns a number, or the largest size where sizes are of 16 bits. */
static size_t tcall_size_(uint32_t number)
{
    return (size_t)number == number ? (size_t)number : SIZE_MAX;
}

static const struct {
    const char *uri;
    int draft; /* a tcall_draft */
} tcall_drafts_[] = {
    {"https://json-schema.org/draft/2020-12/schema", TCALL_DRAFT_2020},
    {"https://json-schema.org/draft/2019-09/schema", TCALL_DRAFT_2019},
    {"http://json-schema.org/draft-07/schema", TCALL_DRAFT_7},
    {"http://json-schema.org/draft-06/schema", TCALL_DRAFT_6},
    {"http://json-schema.org/draft-04/schema", TCALL_DRAFT_4}};

/* The types in the order of their bits. */
#define TCALL_TYPES_ 7
static const char *const tcall_type_words_[TCALL_TYPES_] = {
    "null", "boolean", "integer", "number", "string", "array", "object"};

/* How a schema is compiled, and who is told each fault of it. */
typedef struct tcall_author_ {
    tcall_draft draft;
    bool end; /* the nodes are to lie at the end of the memory */
    void (*tell)(void *user, const tcall_schema *fault); /* may be NULL */
    void *user;
} tcall_author_;

/* Tells of a fault at a place in the text. The one that stands first there
 * stays in the schema, and refuses it. */
TCALL_SHARED_ void tcall_schema_fault_(tcall_schema *s,
                                       const tcall_author_ *author, size_t at,
                                       const char *reason, const char *remedy)
{
    tcall_schema told = *s;
    told.reason = reason;
    told.remedy = remedy;
    told.at = at;
    if (!s->reason || at < s->at)
        *s = told;
    if (author->tell)
        author->tell(author->user, &told);
}

/* ---- keywords and what they take ---- */

/* How the value of each keyword begins. */
static const char tcall_keyword_begins_[] = {0,
#define TCALL_X_(NAME, keyword, begins) begins,
                                             TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
};

/* Whether the row of a keyword has schemas of its own. */
static bool tcall_row_has_(uint8_t on)
{
    return (on && on <= TCALL_ON_NAMES_ && on != TCALL_ON_REF_) ||
           (on >= TCALL_ON_DEPENDENCIES_ && on <= TCALL_ON_DEFINITIONS_);
}

/* Returns the rows that a keyword makes whose value begins so. */
static uint8_t tcall_rows_made_(uint8_t on, char first)
{
    if (on == TCALL_ON_DEPENDENCIES_)
        return 2; /* of names, and of schemas */
    return on && on <= TCALL_ON_DEFINITIONS_ && on != TCALL_ON_TYPE_ &&
           (on != TCALL_ON_UNIQUE_ || first != 'f');
}

/* Returns the slots of the hash table that follows so many members. */
static uint32_t tcall_slots_of_(uint32_t count)
{
    return count > TCALL_FEW_ ? count + count / 2 : 0;
}

static uint32_t tcall_whole_words_(uint32_t bytes)
{
    const uint32_t word = sizeof(void *);
    return (bytes + word - 1) / word * word;
}

#ifndef TOOLCALL_NO_PATTERN

/* Compiles the pattern in the string at a quote. */
static int tcall_sc_program_(tcall_pattern *out, const char *quote, void *mem,
                             size_t size)
{
    return tcall_pattern_compile(out, tcall_text_inner_(quote),
                                 TCALL_PATTERN_ESCAPED, mem, size);
}

#endif

/* Returns the bytes that a pattern takes. */
static uint32_t tcall_match_bytes_(const char *quote)
{
    uint32_t program = 0;
#ifndef TOOLCALL_NO_PATTERN
    tcall_pattern pattern;
    tcall_sc_program_(&pattern, quote, NULL, 0);
    program = tcall_whole_words_((uint32_t)pattern.need);
#else
    (void)quote;
#endif
    return (uint32_t)sizeof(tcall_match) + program;
}

/* ---- how much memory ---- */

#define TCALL_SCHEMAS_MAX_ 0xFFF0

/* A schema of the text, in the order in which they begin there. */
typedef struct tcall_sc_mark_ {
    const char *end;      /* of an object: where it ends */
    tcall_member *member; /* in which its node lies, or NULL */
    uint16_t next;  /* the first mark after those within it; then the one that
                     * waits for its frames */
    uint16_t width; /* the frames that it needs; 0: not counted yet */
} tcall_sc_mark_;

/* What a text takes, while it is recognised. */
typedef struct tcall_sizes_ {
    tcall_syntax_ syntax;
    tcall_sc_mark_ *mark;
    uint32_t most;       /* marks that there is room for */
    uint32_t schemas;    /* so many there are */
    uint32_t bytes;      /* of what stays */
    const char *key;     /* the name at hand */
    const char *pattern; /* the string that came last is one */
    const char *beyond;  /* the first schema that is too much, or NULL */
    const char *draft;   /* the root's $schema, or NULL */
    uint8_t on;          /* the keyword at hand */
    bool piece;          /* the name at hand comes in pieces */
    struct {        /* around the value at each depth, and in the deepest one */
        uint8_t on; /* whose schemas come; NOTHING: keywords of a schema */
        uint16_t count; /* of the schemas; of a schema its mark */
    } open[TOOLCALL_MAX_DEPTH + 2];
} tcall_sizes_;

/* The pattern that came last is complete, and can be compiled. */
static void tcall_sizes_pattern_(tcall_sizes_ *sizes)
{
    if (sizes->pattern)
        sizes->bytes += tcall_match_bytes_(sizes->pattern);
    sizes->pattern = NULL;
}

static bool tcall_sizes_name_(tcall_syntax_ *s, const char *name, size_t len,
                              bool last)
{
    tcall_sizes_ *sizes = (tcall_sizes_ *)s;
    tcall_str word = tcall_slice_(name, len);
    tcall_sizes_pattern_(sizes);
    if (!sizes->piece)
        sizes->key = s->from;
    else if (last)
        word = tcall_text_inner_(sizes->key);
    sizes->piece = !last;
    if (!last || sizes->open[s->depth].on)
        return true;
    sizes->on = tcall_keyword_of_(word);
    return sizes->on != TCALL_ON_NOTHING_;
}

/* The value of a keyword begins. Returns whether it is a list of schemas. */
static bool tcall_sizes_value_(tcall_sizes_ *sizes, char first)
{
    uint8_t on = sizes->on;
    sizes->bytes += tcall_rows_made_(on, first) * (uint32_t)sizeof(tcall_row);
    if (on == TCALL_ON_PATTERN_ && first == '"')
        sizes->pattern = sizes->syntax.from;
    if (on == TCALL_ON_SCHEMA_ && sizes->syntax.depth == 1 && !sizes->draft)
        sizes->draft = sizes->syntax.from;
    sizes->open[sizes->syntax.depth + 1].on = on;
    sizes->open[sizes->syntax.depth + 1].count = 0;
    return tcall_row_has_(on) && (first == '{' || first == '[');
}

/* A schema begins. */
static void tcall_sizes_mark_(tcall_sizes_ *sizes, const char *at)
{
    uint32_t i = sizes->schemas++;
    if (i == TCALL_SCHEMAS_MAX_)
        sizes->beyond = at;
    if (i < sizes->most) {
        sizes->mark[i].end = at + 1;
        sizes->mark[i].member = NULL;
        sizes->mark[i].next = (uint16_t)(i + 1);
        sizes->mark[i].width = 0;
    }
    sizes->open[sizes->syntax.depth + 1].on = TCALL_ON_NOTHING_;
    sizes->open[sizes->syntax.depth + 1].count = (uint16_t)i;
}

/* A value begins: a schema, or what a keyword says. */
static tcall_ask_ tcall_sizes_begin_(tcall_syntax_ *s, char first)
{
    tcall_sizes_ *sizes = (tcall_sizes_ *)s;
    uint8_t on = sizes->open[s->depth].on;
    if (!on) {
        bool list = tcall_sizes_value_(sizes, first);
        on = sizes->on;
        if (tcall_keyword_begins_[on] != 's' || first == '[')
            return list ? TCALL_HEAR_ : TCALL_SKIP_;
    }
    if (on == TCALL_ON_DEPENDENCIES_ && first == '[')
        return TCALL_SKIP_; /* names */
    if (sizes->open[s->depth].on)
        sizes->open[s->depth].count++;
    tcall_sizes_mark_(sizes, s->from);
    sizes->bytes += (uint32_t)sizeof(tcall_member);
    if (on == TCALL_ON_PATTERNS_)
        sizes->bytes += tcall_match_bytes_(sizes->key);
    return first == '{' ? TCALL_HEAR_ : TCALL_SKIP_;
}

/* A schema or a list of them ends. */
static void tcall_sizes_end_(tcall_syntax_ *s)
{
    tcall_sizes_ *sizes = (tcall_sizes_ *)s;
    uint8_t on = sizes->open[s->depth + 1].on;
    uint16_t count = sizes->open[s->depth + 1].count;
    tcall_sizes_pattern_(sizes);
    if (!on && count < sizes->most) {
        sizes->mark[count].end = s->from;
        sizes->mark[count].next = (uint16_t)sizes->schemas;
    } else if (tcall_keyword_begins_[on] == '{' && on != TCALL_ON_PATTERNS_) {
        sizes->bytes += tcall_whole_words_(tcall_slots_of_(count) *
                                           (uint32_t)sizeof(uint16_t));
    }
}

static const tcall_syntax_user_ tcall_sizes_user_ TCALL_FLASH_ = {
    tcall_sizes_name_, tcall_sizes_begin_, NULL, tcall_sizes_end_};

/* ---- what is made ---- */

typedef struct tcall_sc_ {
    tcall_schema *out;
    const tcall_author_ *author;
    char *low;     /* memory for what stays: rows are taken from its end, all */
    uint32_t left; /* else from its beginning */
    tcall_sc_mark_ *mark;
    uint32_t marks;
    tcall_sc_mark_ *next; /* the mark of the schema that begins next */
    tcall_node *node;     /* the schema at hand, and its rows, the last first */
    tcall_row *row;
    uint8_t rows;
    uint8_t draft;
    bool beside;          /* it has a $ref, beside which nothing counts */
    const char *embedded; /* a subschema's own $id */
    const char *beyond;   /* the first schema that is too much, or NULL */
    int32_t steps;
} tcall_sc_;

/* Refuses the schema; the rest of it is looked at, too. */
static void tcall_sc_refuse_(tcall_sc_ *c, const char *p, const char *reason,
                             const char *remedy)
{
    tcall_schema_fault_(c->out, c->author, (size_t)(p - c->out->text), reason,
                        remedy);
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

/* Takes zeroed memory that stays. There is as much as was added up; NULL where
 * the text is refused. */
static void *tcall_sc_take_(tcall_sc_ *c, uint32_t bytes)
{
    void *at = c->low;
    bytes = tcall_whole_words_(bytes);
    if (bytes > c->left)
        return NULL;
    c->low += bytes;
    c->left -= bytes;
    return at;
}

/* Makes the member of the schema at p, which waits for its rows. name: its
 * quote, or p. Returns where it ends, NULL: that is not known. */
static const char *tcall_sc_member_(tcall_sc_ *c, tcall_row *row,
                                    const char *name, const char *p)
{
    tcall_member *member = NULL;
    uint32_t i;
    if (*p == '{' || *p == 't' || *p == 'f')
        member = (tcall_member *)tcall_sc_take_(c, sizeof *member);
    else
        tcall_sc_malformed_(c, p, 's');
    if (!member)
        return NULL;
    while (c->next->end <= p) /* within what was refused */
        c->next++;
    i = (uint32_t)(c->next - c->mark);
    member->name = name;
    member->node.types = *p == 'f' ? 0 : TCALL_SHAPE_ANY;
    member->node.kind = TCALL_KIND_ROWS_;
    member->node.digits = (uint8_t)i; /* for now: its mark */
    member->node.flags = (uint8_t)(i >> 8);
    row->count++;
    c->mark[i].member = member;
    c->next = &c->mark[c->mark[i].next];
    return *p == '{' ? c->mark[i].end : NULL;
}

/* Returns the text of a schema. */
static const char *tcall_sc_text_(const tcall_member *member)
{
    return *member->name == '"' ? tcall_text_value_(member->name)
                                : member->name;
}

/* ---- the keywords of a schema ---- */

/* Returns the row that the schema at hand has of a keyword, or NULL. That of
 * the names of dependencies is beside one of the keyword itself. */
static tcall_row *tcall_sc_row_(tcall_sc_ *c, uint8_t on)
{
    uint8_t i;
    for (i = 0; i < c->rows; i++)
        if (c->row[i].on == on && !(c->row[i].flags & TCALL_ROW_OLD_))
            return &c->row[i];
    return NULL;
}

/* Makes a row of a keyword. Returns NULL where the text is refused. */
static tcall_row *tcall_sc_row_add_(tcall_sc_ *c, uint8_t on, const char *p,
                                    uint8_t flags)
{
    if (c->left < sizeof *c->row)
        return NULL;
    c->left -= (uint32_t)sizeof *c->row;
    c->rows++;
    c->row--;
    c->row->on = on;
    c->row->flags = flags;
    c->row->of.text = p;
    return c->row;
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

/* Returns the draft that the value of a $schema names, -1: none that is known.
 */
static int tcall_sc_draft_of_(const char *p)
{
    tcall_str uri = *p == '"' ? tcall_text_inner_(p) : tcall_slice_(p, 0);
    size_t i;
    if (uri.len && uri.ptr[uri.len - 1] == '#') /* an empty fragment */
        uri.len--;
    for (i = 0; i < sizeof tcall_drafts_ / sizeof *tcall_drafts_; i++)
        if (tcall_str_eq(tcall_str_of(tcall_drafts_[i].uri), uri))
            return (int)tcall_drafts_[i].draft;
    return -1;
}

/* Returns the bit of the type that a value names, or 0. */
static uint8_t tcall_sc_type_(const char *p)
{
    tcall_str word = *p == '"' ? tcall_text_inner_(p) : tcall_slice_(p, 0);
    uint8_t i = 0;
    while (i < TCALL_TYPES_ &&
           (*word.ptr != *tcall_type_words_[i] ||
            !tcall_str_eq(tcall_str_of(tcall_type_words_[i]), word)))
        i++;
    return (uint8_t)(i < TCALL_TYPES_ ? 1 << i : 0);
}

/* One type, or a list of them. */
static void tcall_sc_types_(tcall_sc_ *c, const char *p)
{
    const char *first = *p == '[' ? tcall_text_first_(p) : NULL;
    const char *at = first ? first : p;
    c->node->types = 0;
    for (; at; at = first ? tcall_text_after_(tcall_text_skip_(at)) : NULL) {
        uint8_t type = tcall_sc_type_(at);
        if (!type)
            tcall_sc_refuse_(c, at, "unknown type",
                             "use object, array, string, number, integer, "
                             "boolean or null");
        c->node->types |= type;
    }
}

/* ---- what they say ---- */

/* Bounds stay in the text, small whole ones also in count; counts are read. */
static void tcall_sc_number_(tcall_sc_ *c, tcall_row *row)
{
    const char *p = row->of.text;
    tcall_num_ n = tcall_text_number_(p);
    tcall_int value;
    int rest;
    bool fits = tcall_num_whole_(&n, 0, &value, &rest);
    fits = fits && !((tcall_uint)value >> 31);
    if (!rest && value <= INT16_MAX && value >= -INT16_MAX) {
        row->count = (uint16_t)value;
        row->flags |= TCALL_ROW_SMALL_;
    }
    if (row->on >= TCALL_ON_MIN_LENGTH_) {
        row->of.number = fits ? (uint32_t)value : UINT32_MAX;
        if (!tcall_num_integral_(&n) || n.sign < 0)
            tcall_sc_refuse_(c, p, "impossible count",
                             "use a whole number, 0 or more");
    } else if (row->on == TCALL_ON_MULTIPLE_ &&
               (n.sign <= 0 || n.top < -308 || n.top > 308 ||
                !tcall_num_whole_(&n, tcall_num_digits_(&n) - 1 - n.top, &value,
                                  &rest) ||
                value >= 420000000)) { /* ten times it fits 32 bits */
        tcall_sc_refuse_(c, p, "unsupported divisor",
                         "use a number over 0 with at most 8 digits");
    }
}

/* Counts the names in a list. Returns where it ends. */
static const char *tcall_sc_names_(tcall_sc_ *c, const char *list,
                                   uint16_t *count)
{
    const char *at = tcall_text_next_(list + 1);
    for (*count = 0; *at != ']'; ++*count) {
        if (*at != '"')
            tcall_sc_malformed_(c, at, '"');
        at = tcall_text_next_(tcall_text_skip_(at));
    }
    return at + 1;
}

/* The lists of names of dependentRequired; old: of dependencies, which may have
 * schemas, too. */
static void tcall_sc_needed_(tcall_sc_ *c, const char *p, bool old)
{
    const char *key = tcall_text_first_(p);
    uint16_t count;
    for (; key; key = tcall_text_after_(tcall_text_skip_(p))) {
        p = tcall_text_value_(key);
        if (*p == '[')
            tcall_sc_names_(c, p, &count);
        else if (!old)
            tcall_sc_refuse_(c, p, "wrong kind of value",
                             "use an array of names");
    }
}

/* Compiles the pattern in the string at a quote. */
static void tcall_sc_pattern_(tcall_sc_ *c, tcall_match *match,
                              const char *quote)
{
#ifndef TOOLCALL_NO_PATTERN
    tcall_pattern pattern;
    if (tcall_sc_program_(&pattern, quote, c->low, c->left) == TCALL_E_INVALID)
        tcall_sc_refuse_(c, quote, pattern.reason, "change the pattern");
    match->text = quote;
    match->program = tcall_sc_take_(c, (uint32_t)pattern.need);
    match->count = pattern.count;
    match->states = pattern.states;
#else
    (void)match;
    tcall_sc_refuse_(c, quote, "patterns are left out of this program",
                     "build it without TOOLCALL_NO_PATTERN");
#endif
}

/* Looks for names that came twice; more than a few go into their hash table. */
static void tcall_sc_twice_(tcall_sc_ *c, const tcall_row *row)
{
    uint32_t slots = tcall_slots_of_(row->count);
    bool table = tcall_sc_take_(c, slots * (uint32_t)sizeof(uint16_t)) && slots;
    uint16_t i;
    for (i = 0; i < row->count && c->steps > 0; i++) {
        const char *quote = row->of.members[i].name;
        tcall_text_bytes_ name = tcall_text_bytes_of_(quote);
        bool twice;
        if (table) {
            uint16_t *slot = tcall_member_slot_(row, name, &c->steps);
            twice = *slot != 0;
            *slot = (uint16_t)(i + 1);
        } else {
            twice = tcall_member_named_(row, name) < i;
        }
        if (twice)
            tcall_sc_refuse_(c, quote, "name given twice", "keep one");
    }
}

/* Gives the schemas of a keyword their members. Returns the end of its value.
 */
static const char *tcall_sc_list_(tcall_sc_ *c, tcall_row *row, const char *p)
{
    bool map = *p == '{';
    const char *at = tcall_text_next_(p + 1);
    tcall_match *match;
    uint16_t i;
    while (!tcall_text_closes_(at)) {
        const char *value = map ? tcall_text_value_(at) : at, *end = NULL;
        if (row->on != TCALL_ON_DEPENDENCIES_ || *value != '[')
            end = tcall_sc_member_(c, row, at, value);
        at = tcall_text_next_(end ? end : tcall_text_skip_(value));
    }
    if (row->on == TCALL_ON_PATTERNS_) {
        match = (tcall_match *)tcall_sc_take_(c, row->count *
                                                     (uint32_t)sizeof *match);
        for (i = 0; match && i < row->count; i++)
            tcall_sc_pattern_(c, &match[i], row->of.members[i].name);
    } else if (map) {
        tcall_sc_twice_(c, row);
    }
    return at + 1;
}

/* Gives a row what it has of the value at p. Returns where that ends, NULL: it
 * is not known. */
static const char *tcall_sc_fill_(tcall_sc_ *c, tcall_row *row, const char *p)
{
    tcall_match *match;
    if (row->on == TCALL_ON_REQUIRED_)
        return tcall_sc_names_(c, p, &row->count);
    if (row->on == TCALL_ON_PATTERN_) {
        match = (tcall_match *)tcall_sc_take_(c, sizeof *match);
        if (match)
            tcall_sc_pattern_(c, match, p);
        row->of.match = match;
        row->count = 1;
    }
    if (tcall_keyword_begins_[row->on] == '0')
        tcall_sc_number_(c, row);
    if (!tcall_row_has_(row->on))
        return NULL;
    row->of.members = (const tcall_member *)(const void *)c->low;
    return tcall_keyword_begins_[row->on] == 's'
               ? tcall_sc_member_(c, row, p, p)
               : tcall_sc_list_(c, row, p);
}

/* What a keyword says that can be used here. Returns the end of its value,
 * NULL: that is not known. */
static const char *tcall_sc_says_(tcall_sc_ *c, const char *key, uint8_t on,
                                  const char *p)
{
    tcall_row *row = NULL;
    switch (on) {
    case TCALL_ON_TYPE_: tcall_sc_types_(c, p); break;
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
        if (c->node != c->out->root && *p == '"' && p[1] != '#')
            c->embedded = key;
        break;
    case TCALL_ON_NEEDED_: tcall_sc_needed_(c, p, false); break;
    case TCALL_ON_DEPENDENCIES_:
        tcall_sc_needed_(c, p, true);
        tcall_sc_row_add_(c, TCALL_ON_NEEDED_, p, TCALL_ROW_OLD_);
        break;
    default: break;
    }
    if (tcall_rows_made_(on, *p))
        row = tcall_sc_row_add_(c, on, p, 0);
    return row ? tcall_sc_fill_(c, row, p) : NULL;
}

/* Whether a keyword counts beside a $ref up to draft 7: whoever wrote it meant
 * it. */
static bool tcall_is_beside_(uint8_t on, const char *p)
{
    bool empty = (*p == '{' || *p == '[') && !tcall_text_first_(p);
    return on != TCALL_ON_REF_ && on != TCALL_ON_SCHEMA_ &&
           on != TCALL_ON_ID_ && on != TCALL_ON_OLD_ID_ &&
           on != TCALL_ON_DEFS_ && on != TCALL_ON_DEFINITIONS_ && !empty;
}

/* A name of the schema at hand: a keyword, or nothing that is known. A keyword
 * of another draft was meant by whoever wrote it. Returns the end of the value.
 */
static const char *tcall_sc_keyword_(tcall_sc_ *c, const char *key)
{
    tcall_str word = tcall_text_inner_(key);
    const char *colon = tcall_text_space_(word.ptr + word.len + 1);
    const char *p = tcall_text_space_(colon + 1), *end = NULL;
    char begun = *p == '-' || tcall_is_digit_(*p) ? '0' : *p == 'f' ? 't' : *p;
    uint8_t on = tcall_keyword_of_(word);
    bool known = tcall_sc_knows_(c, on);
    char begins;
    if (!on && memchr(word.ptr, '\\', word.len))
        tcall_sc_refuse_(c, key, "keyword with escapes", "write it plainly");
    if (!on)
        return tcall_text_skip_(p);
    if (on == TCALL_ON_ITEMS_ && *p == '[' && c->draft != TCALL_DRAFT_2020)
        on = TCALL_ON_PREFIX_; /* as it was called then */
    begins = tcall_keyword_begins_[on];
    if (begins == '!')
        tcall_sc_refuse_(c, key, "unsupported keyword", "leave it out");
    else if (!known)
        tcall_sc_refuse_(c, key, "keyword of another draft",
                         "name its draft in $schema");
    else if (tcall_sc_row_(c, on) ||
             (on == TCALL_ON_TYPE_ && c->node->types != TCALL_SHAPE_ANY))
        tcall_sc_refuse_(c, key, "keyword given twice", "keep one");
    else if ((begins != 's' && begins != '*' && begins != begun) ||
             (begins == '[' && tcall_row_has_(on) && !tcall_text_first_(p)))
        tcall_sc_malformed_(c, p, begins);
    else
        end = tcall_sc_says_(c, key, on, p);
    if (c->beside && known && tcall_is_beside_(on, p))
        tcall_sc_refuse_(c, p, "keyword beside $ref, which this draft ignores",
                         "put both into allOf, or use draft 2020-12");
    return end ? end : tcall_text_skip_(p);
}

/* Flags the last of all rows; further ones than the last that is visible are
 * for $refs. */
#define TCALL_ROW_END_ 8

/* Puts rows in the order of their keywords, and flags the last. */
static void tcall_sc_order_(tcall_row *rows, uint8_t count)
{
    uint8_t i, k;
    for (i = 1; i < count; i++) {
        tcall_row row = rows[i];
        for (k = i; k && rows[k - 1].on > row.on; k--)
            rows[k] = rows[k - 1];
        rows[k] = row;
    }
    rows[count - 1].flags |= TCALL_ROW_END_;
    while (count > 1 && rows[count - 1].on >= TCALL_ON_TYPE_)
        count--;
    rows[count - 1].flags |= TCALL_ROW_LAST_;
}

/* Gives a schema its rows. */
static void tcall_sc_schema_(tcall_sc_ *c, tcall_sc_mark_ *mark)
{
    const char *schema = tcall_sc_text_(mark->member);
    const char *key = tcall_text_first_(schema);
    tcall_row *row;
    c->node = &mark->member->node;
    c->next = mark + 1;
    c->row = (tcall_row *)(void *)(c->low + c->left);
    c->rows = 0;
    c->beside = c->draft >= TCALL_DRAFT_7 &&
                tcall_text_get_(schema, tcall_keyword_word_(TCALL_ON_REF_));
    while (key)
        key = tcall_text_after_(tcall_sc_keyword_(c, key));
    row = tcall_sc_row_(c, TCALL_ON_EXTRA_);
    if (row && tcall_sc_row_(c, TCALL_ON_PREFIX_)) {
        row->on = TCALL_ON_ITEMS_;
        row->flags = TCALL_ROW_OLD_;
    }
    row = tcall_sc_row_(c, TCALL_ON_DEPENDENCIES_);
    if (row)
        row->on = TCALL_ON_DEPENDENT_;
    if (!c->rows)
        return;
    tcall_sc_order_(c->row, c->rows);
    c->node->rows = c->row;
}

/* ---- $ref ---- */

/* Returns the index that a name of a pointer is in an array, or NO_MEMBER. */
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

/* Returns which member of a row a name of a pointer leads to, or NO_MEMBER. */
static uint16_t tcall_row_named_(const tcall_row *row, tcall_str name)
{
    uint16_t i = 0;
    if (tcall_keyword_begins_[row->on] != '{')
        return tcall_index_of_(name);
    if (row->on != TCALL_ON_PATTERNS_)
        return tcall_member_named_(row, tcall_text_bytes_in_(name));
    while (i < row->count && !tcall_text_same_(row->of.members[i].name, name))
        i++;
    return i;
}

/* Returns the row that a name of a pointer leads to, or NULL. */
static const tcall_row *
tcall_sc_row_named_(const tcall_sc_ *c, const tcall_node *node, tcall_str name)
{
    uint8_t on = tcall_keyword_of_(name), other = on;
    const tcall_row *row = tcall_row_has_(on) ? node->rows : NULL;
    if (c->draft != TCALL_DRAFT_2020 && on == TCALL_ON_ITEMS_)
        other = TCALL_ON_PREFIX_;
    if (on == TCALL_ON_DEPENDENCIES_)
        on = other = TCALL_ON_DEPENDENT_;
    while (row && row->on != on && row->on != other)
        row = row->flags & TCALL_ROW_END_ ? NULL : row + 1;
    return row;
}

/* Returns the member that the fragment of a URI leads to, or NULL. */
static const tcall_member *tcall_sc_target_(const tcall_sc_ *c, const char *p)
{
    const tcall_member *member = c->mark->member;
    const tcall_row *row = NULL; /* a keyword that has several schemas */
    while (member && *p == '/') {
        char bytes[TCALL_NAME_MAX_];
        int len;
        uint16_t i = 0;
        tcall_str name;
        p++;
        len = tcall_pointer_step_(&p, bytes);
        name = tcall_slice_(bytes, (size_t)(len < 0 ? 0 : len));
        if (row) {
            i = tcall_row_named_(row, name);
        } else {
            row = tcall_sc_row_named_(c, &member->node, name);
            if (row && tcall_keyword_begins_[row->on] != 's')
                continue;
        }
        member = row && len >= 0 && i < row->count ? &row->of.members[i] : NULL;
        row = NULL;
    }
    return row ? NULL : member;
}

/* Gives a $ref the member of the place that it points to. */
static void tcall_sc_resolve_(tcall_sc_ *c, tcall_row *row)
{
    const char *at = row->of.text;
    const tcall_member *member = NULL;
    if (c->embedded)
        tcall_sc_refuse_(c, c->embedded, "$id within a schema that has $refs",
                         "leave it out");
    c->embedded = NULL;
    if (at[1] != '#' || (at[2] != '"' && at[2] != '/'))
        tcall_sc_refuse_(c, at, "$ref to another document",
                         "use a JSON Pointer such as #/$defs/name");
    else if (!(member = tcall_sc_target_(c, at + 2)))
        tcall_sc_refuse_(c, at, "$ref that leads to no schema",
                         "define one there");
    row->of.members = member;
    row->count = member != NULL;
    c->steps--;
}

/* ---- how many frames ---- */

#define TCALL_OPEN_ 0xFFFF /* its frames are being counted */

/* Refuses schemas that lead back to themselves without going into the value: no
 * check would ever end. Tells of the last of the $refs that do. */
static void tcall_sc_circle_(tcall_sc_ *c, const tcall_sc_mark_ *from,
                             const tcall_sc_mark_ *to)
{
    const char *last = NULL;
    for (;; from = &c->mark[from->next]) {
        const char *ref = tcall_text_get_(tcall_sc_text_(from->member),
                                          tcall_keyword_word_(TCALL_ON_REF_));
        last = ref && (!last || ref > last) ? ref : last;
        if (from == to)
            break;
    }
    tcall_sc_refuse_(c, last, "$ref that leads to itself",
                     "let it go through properties or items");
}

/* Counts the frames of a schema, those of what its rows bring for the same
 * value included. Returns a schema that has to be counted before, or NULL. */
static tcall_sc_mark_ *tcall_sc_count_(tcall_sc_ *c, tcall_sc_mark_ *mark)
{
    /* of the groups of keywords */
    static const uint8_t own[] = {0, 0, 0, 2, 2, 1, 3, 0, 0, 1, 0};
    const tcall_node *node = &mark->member->node;
    bool chosen = tcall_row_of_(node, TCALL_ON_IF_) != NULL;
    const tcall_row *row = node->rows;
    uint32_t frames = 1;
    uint16_t i;
    mark->width = TCALL_OPEN_;
    for (; row && row->on <= TCALL_ON_DEPENDENT_; row = tcall_row_next_(row)) {
        if (!chosen && (row->on == TCALL_ON_THEN_ || row->on == TCALL_ON_ELSE_))
            continue;
        frames += own[row->on];
        for (i = 0; i < row->count && row->on != TCALL_ON_CONTAINS_; i++) {
            const tcall_node *same = &row->of.members[i].node;
            tcall_sc_mark_ *first =
                &c->mark[same->digits | (uint32_t)same->flags << 8];
            if (!first->width)
                return first;
            if (first->width == TCALL_OPEN_ && !c->out->reason)
                tcall_sc_circle_(c, mark, first);
            frames += first->width + (row->on == TCALL_ON_DEPENDENT_ ? 2u : 0u);
        }
    }
    mark->width = (uint16_t)(frames < TCALL_OPEN_ ? frames : TCALL_OPEN_ - 1);
    return NULL;
}

/* Counts the frames of all schemas, those within others mostly first, and
 * refuses a schema that needs too many. */
static void tcall_sc_measure_(tcall_sc_ *c)
{
    uint32_t i = c->marks;
    while (i-- > 0) {
        tcall_sc_mark_ *end = &c->mark[i];
        tcall_sc_mark_ *mark = end->width ? NULL : end, *first;
        while (mark && !c->out->reason) {
            first = tcall_sc_count_(c, mark);
            if (first)
                first->next = (uint16_t)(mark - c->mark);
            else if (mark->width > TOOLCALL_MAX_FRAMES && !c->out->reason)
                tcall_sc_refuse_(c, mark->member->name,
                                 "too many alternatives at one value",
                                 "use fewer");
            else if (c->out->width < mark->width)
                c->out->width = mark->width;
            mark = first ? first : mark == end ? NULL : &c->mark[mark->next];
        }
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
    for (i = 0, name = tcall_text_first_(row->of.text); name;
         name = tcall_text_after_(tcall_text_skip_(name))) {
        i = tcall_member_of_(list, i, name, 0);
        if (i < list->count)
            members[i].node.flags |= TCALL_NODE_MUST_;
        else /* those that came are counted: see tcall_frame_.met */
            row->flags &= (uint8_t)~TCALL_ROW_MUSTS_;
        i = (uint16_t)(i < list->count ? i + 1 : 0);
    }
}

/* All nodes are there. Those within others come after them. */
static void tcall_sc_finish_(tcall_sc_ *c)
{
    uint32_t i;
    for (i = 0; i < c->marks && c->steps > 0; i++) {
        const tcall_member *member = c->mark[i].member;
        const tcall_row *row =
            member ? tcall_row_of_(&member->node, TCALL_ON_REF_) : NULL;
        if (row)
            tcall_sc_resolve_(c, (tcall_row *)(uintptr_t)row);
    }
    if (c->steps <= 0 && !c->out->reason)
        tcall_sc_refuse_(c, tcall_text_space_(c->out->text),
                         "too many steps to compile",
                         "use fewer $refs that lead to each other");
    if (!c->out->reason)
        tcall_sc_measure_(c);
    for (i = c->marks; i-- > 0 && !c->out->reason;) {
        tcall_node *node = &c->mark[i].member->node;
        node->digits = node->flags = 0;
        if (node->rows && node->rows->on >= TCALL_ON_TYPE_)
            node->rows = NULL;
        tcall_sc_members_(node);
    }
}

/* ---- entry ---- */

/* Reads the text for the first time. Returns what is wrong with it as JSON. */
TCALL_NOINLINE_ static int tcall_sc_sizes_(tcall_sc_ *c, size_t size)
{
    const tcall_schema *out = c->out;
    tcall_sizes_ sizes;
    size_t eaten;
    int r, draft;
    memset(&sizes, 0, sizeof sizes);
    sizes.mark = c->mark;
    sizes.most = (uint32_t)(size / sizeof *c->mark);
    sizes.open[0].on = TCALL_ON_DEFS_;
    tcall_syntax_begin_(&sizes.syntax, &tcall_sizes_user_);
    eaten = tcall_syntax_feed_(&sizes.syntax, out->text, out->len);
    if (eaten < out->len)
        tcall_syntax_feed_(&sizes.syntax, out->text + eaten, out->len - eaten);
    r = tcall_syntax_end_(&sizes.syntax);
    if (r < 0)
        return r;
    draft = sizes.draft ? tcall_sc_draft_of_(sizes.draft) : -1;
    c->draft = (uint8_t)(draft < 0 ? (int)c->author->draft : draft);
    c->left = sizes.bytes;
    c->marks = sizes.schemas;
    c->beyond = sizes.beyond;
    return r;
}

/* Reads it again, and makes all nodes. */
TCALL_NOINLINE_ static void tcall_sc_make_(tcall_sc_ *c)
{
    const char *root = tcall_text_space_(c->out->text);
    tcall_row row; /* only counts */
    uint32_t i;
    memset(&row, 0, sizeof row);
    c->steps = TOOLCALL_MAX_STEPS;
    c->next = c->mark;
    tcall_sc_member_(c, &row, root, root);
    if (row.count)
        c->out->root = &c->mark->member->node;
    for (i = 0; i < c->marks; i++)
        if (c->mark[i].member)
            tcall_sc_schema_(c, &c->mark[i]);
    tcall_sc_finish_(c);
    if (c->out->reason)
        c->out->root = NULL; /* nothing is checked against the rest */
}

/* Compiles a schema as its author wants it. With end, out->used bytes are used
 * at the end of the memory. */
TCALL_SHARED_ int tcall_schema_compile_for_(tcall_schema *out, tcall_str text,
                                            void *mem, size_t size,
                                            const tcall_author_ *author)
{
    const size_t word = sizeof(void *);
    size_t pad = (0 - (size_t)(uintptr_t)mem) % word, from = 0;
    uint32_t marks, stays;
    tcall_sc_ c;
    int r = TCALL_E_LIMIT;
    memset(out, 0, sizeof *out);
    memset(&c, 0, sizeof c);
    out->text = text.ptr;
    out->len = text.len;
    c.out = out;
    c.author = author;
    c.low = mem ? (char *)mem + pad : NULL;
    c.mark = (tcall_sc_mark_ *)(void *)c.low;
    size = mem && size > pad ? size - pad : 0;
    if (text.len < tcall_size_(0xFFFFFF))
        r = tcall_sc_sizes_(&c, size);
    if (r < 0) {
        memset(out, 0, sizeof *out);
        tcall_schema_fault_(out, author, 0, tcall_call_error_text_(r), NULL);
    }
    if (c.beyond)
        tcall_sc_refuse_(&c, c.beyond, "too many schemas", "split the schema");
    if (out->reason)
        return TCALL_E_SCHEMA;
    stays = c.left;
    marks = c.marks * (uint32_t)sizeof *c.mark;
    out->need = tcall_size_(stays + marks + (uint32_t)pad);
    if (size + pad < out->need)
        return TCALL_E_MEMORY;
    if (author->end) {
        from = size / word * word - stays;
        c.low += from;
    } else {
        c.mark = (tcall_sc_mark_ *)memmove(c.low + stays, c.low, marks);
    }
    memset(c.low, 0, stays);
    out->used = author->end ? size - from : pad + stays;
    tcall_sc_make_(&c);
    return out->reason ? TCALL_E_SCHEMA : (int)out->used;
}

int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                         size_t size, tcall_draft draft)
{
    tcall_author_ author = {draft, false, NULL, NULL};
    return tcall_schema_compile_for_(out, text, mem, size, &author);
}
