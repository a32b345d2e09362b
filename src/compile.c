#pragma once
#include "compile.h"
#include "node.c"
#include "pattern.c"
#include "syntax.c"
#include "write.c"

/* ==========================================================================
 * >>compile: schemas become nodes
 *
 * The recogniser checks that the text is JSON, and one look over it counts what
 * its nodes take at most. Then each schema that is met is a wish: a member with
 * a place in the text. Wishes are granted in the order in which they were made,
 * and what is granted wishes for more. What is made lies at one end of the
 * memory, the list of wishes at the other. In the end $refs are followed along
 * the rows, and the frames that each node needs are counted. Names, bounds and
 * enums stay in the text.
 */

/* Returns a number, or the largest size where sizes are of 16 bits. */
static size_t tcall_size_(uint32_t number)
{
    return (size_t)number == number ? (size_t)number : SIZE_MAX;
}

/* The drafts in the order of tcall_draft. */
static const char *const tcall_drafts_[] = {
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-04/schema"};

/* The types in the order of their bits. */
#define TCALL_TYPES_ 7
static const char *const tcall_type_words_[TCALL_TYPES_] = {
    "null", "boolean", "integer", "number", "string", "array", "object"};

/* How a schema is compiled. */
typedef struct tcall_author_ {
    tcall_str text;
    const void *made; /* its nodes, where it has some already */
    void *mem;
    size_t size;
    const struct tcall_patterns_ *patterns; /* NULL: none are read */
    tcall_draft draft;
    bool end;     /* the nodes are to lie at the end of the memory */
    size_t after; /* faults before this place are known already */
} tcall_author_;

/* ---- keywords and what they take ---- */

/* How the value of each keyword begins, and the drafts that have it. */
static const struct {
    char begins;
    uint8_t drafts; /* bits of tcall_draft */
} tcall_keywords_[] = {{0, 0},
#define TCALL_X_(NAME, keyword, begins, drafts) {begins, TCALL_IN_##drafts##_},
                       TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
};

/* Returns whether a row has schemas of its own. */
static bool tcall_row_has_(uint8_t on)
{
    return (on <= TCALL_ON_NAMES_ && on != TCALL_ON_REF_) ||
           on == TCALL_ON_EXTRA_ || on == TCALL_ON_DEFS_;
}

static size_t tcall_whole_words_(size_t bytes)
{
    const size_t word = sizeof(void *);
    return (bytes + word - 1) / word * word;
}

/* Returns the bytes that follow the members of a row: patterns, or the hash
 * table of more than a few names. */
static size_t tcall_row_tail_(const tcall_row *row)
{
    if (row->on == TCALL_ON_PATTERNS_)
        return row->count * sizeof(tcall_match);
    return tcall_keywords_[row->on].begins == '{' && row->count > TCALL_FEW_
               ? (row->count + row->count / 2u) * sizeof(uint16_t)
               : 0;
}

/* ---- what is made ---- */

#define TCALL_SCHEMAS_MAX_ 0xFFF0

/* A schema that is wished for, and later made: those within others come after
 * them. */
typedef struct tcall_sc_wish_ {
    tcall_member *member; /* in which its node lies */
    uint16_t next;        /* the schema that waits for its frames */
    uint16_t width;       /* the frames that it needs; 0: not counted yet */
} tcall_sc_wish_;

typedef struct tcall_sc_ {
    tcall_schema *out;
    const tcall_author_ *author;
    char *low, *high; /* what is free; what is made is moved from its beginning
                       * to where it stays */
    tcall_sc_wish_ *wish;
    uint32_t wishes;
    const char *embedded; /* a subschema's own $id */
    int32_t steps;
    bool wrong;  /* it has a fault, perhaps one that is known already */
    bool beside; /* keywords of the schema at hand are ignored for its $ref */
    uint8_t draft;
    uint16_t count;   /* rows of the schema at hand */
    tcall_row *rows;  /* these */
    tcall_node *node; /* its node */
    const char *text; /* and where it begins */
} tcall_sc_;

/* Refuses the schema, and goes on: of its faults the one that stands first in
 * the text is told. */
static void tcall_sc_refuse_(tcall_sc_ *c, const char *p, const char *reason,
                             const char *remedy)
{
    tcall_schema *out = c->out;
    size_t at = (size_t)(p - c->author->text.ptr);
    c->wrong = true;
    if (at < c->author->after || (out->reason && out->at <= at))
        return;
    out->reason = reason;
    out->remedy = remedy;
    out->at = at;
}

/* Refuses a value that does not begin as its keyword asks for. */
TCALL_NOINLINE_ static void tcall_sc_malformed_(tcall_sc_ *c, const char *p,
                                                char begins)
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

static bool tcall_sc_is_schema_(const char *p)
{
    return *p == '{' || *p == 't' || *p == 'f';
}

/* Moves the first bytes of what is free to where they stay. */
static void *tcall_sc_keep_(tcall_sc_ *c, size_t bytes)
{
    char *at = c->low;
    bytes = tcall_whole_words_(bytes);
    if (c->author->end) {
        c->high -= bytes;
        return memmove(c->high, at, bytes);
    }
    c->low += bytes;
    return at;
}

/* Makes the member of the schema at p. name: its quote, or p. */
static void tcall_sc_member_(tcall_member *member, const char *name,
                             const char *p)
{
    tcall_str word =
        name == p ? tcall_slice_(p, UINT8_MAX) : tcall_text_inner_(name);
    bool plain = word.len + 2 <= UINT8_MAX && !tcall_has_escapes_(word);
    uint8_t digits = (uint8_t)(plain ? word.len + 2 : 0);
    uint8_t types = *p == 'f' ? 0 : TCALL_SHAPE_ANY;
    const tcall_member made = {name, {types, 0, digits, 0, NULL}};
    *member = made;
}

/* Returns the text of a schema. */
static const char *tcall_sc_text_(const tcall_member *member)
{
    return *member->name == '"' ? tcall_text_value_(member->name)
                                : member->name;
}

/* ---- the keywords of a schema ---- */

/* Returns which of the words it is; of none count. */
static int tcall_sc_which_(tcall_str word, const char *const words[], int count)
{
    int i = 0;
    while (i < count && !tcall_str_eq(tcall_str_of(words[i]), word))
        i++;
    return i;
}

/* Returns the inside of the string at p, empty where none begins there. */
static tcall_str tcall_sc_string_(const char *p)
{
    return *p == '"' ? tcall_text_inner_(p) : tcall_slice_(p, 0);
}

/* Returns the draft that the value of a $schema names, -1: none that is known.
 */
static int tcall_sc_draft_of_(const char *p)
{
    tcall_str uri = tcall_sc_string_(p);
    int draft;
    if (uri.len && uri.ptr[uri.len - 1] == '#') /* an empty fragment */
        uri.len--;
    draft = tcall_sc_which_(uri, tcall_drafts_, TCALL_DRAFT_4 + 1);
    return draft <= TCALL_DRAFT_4 ? draft : -1;
}

/* Returns the draft of a schema: the one of its $schema, or the other. */
static uint8_t tcall_sc_draft_(const char *root, tcall_draft other)
{
    const char *p =
        tcall_text_get_(root, tcall_keyword_word_(TCALL_ON_SCHEMA_));
    int draft = p ? tcall_sc_draft_of_(p) : -1;
    return (uint8_t)(draft < 0 ? (int)other : draft);
}

/* Returns the bit of the type that a value names, or 0. */
TCALL_SHARED_ uint8_t tcall_sc_type_(const char *p)
{
    int i =
        tcall_sc_which_(tcall_sc_string_(p), tcall_type_words_, TCALL_TYPES_);
    return (uint8_t)(i < TCALL_TYPES_ ? 1 << i : 0);
}

/* One type, or a list of them. */
static void tcall_sc_types_(tcall_sc_ *c, const char *p)
{
    const char *first = *p == '[' ? tcall_text_first_(p) : NULL,
               *at = first ? first : p;
    uint8_t types = 0;
    for (; at; at = first ? tcall_text_sibling_(at) : NULL) {
        uint8_t type = tcall_sc_type_(at);
        if (!type)
            tcall_sc_refuse_(c, at, "unknown type",
                             "use object, array, string, number, integer, "
                             "boolean or null");
        types |= type;
    }
    c->node->types = types;
}

/* ---- rows ---- */

/* Returns the row that the schema at hand has of a keyword, or NULL. */
static tcall_row *tcall_sc_row_(const tcall_sc_ *c, uint8_t keyword)
{
    uint16_t i;
    for (i = 0; i < c->count; i++)
        if (tcall_row_keyword_(&c->rows[i]) == keyword)
            return &c->rows[i];
    return NULL;
}

/* Begins a row, in the order of their numbers; flags: OLD where the keyword has
 * another name. */
static void tcall_sc_row_add_(tcall_sc_ *c, uint8_t on, uint8_t flags,
                              const char *p)
{
    const tcall_row made = {on, flags, 0, {p}};
    tcall_row *row = c->rows + c->count++;
    for (; row > c->rows && row[-1].on > on; row--)
        *row = row[-1];
    *row = made;
}

/* Takes what a keyword says: most have a row. */
static void tcall_sc_says_(tcall_sc_ *c, uint8_t on, const char *key,
                           const char *p)
{
    const char *items;
    switch (on) {
    case TCALL_ON_TYPE_: tcall_sc_types_(c, p); break;
    case TCALL_ON_SCHEMA_:
        if (tcall_sc_draft_of_(p) != c->draft)
            tcall_sc_refuse_(c, p, "unknown $schema",
                             "use https://json-schema.org/draft/2020-12/schema "
                             "or http://json-schema.org/draft-07/schema");
        break;
    case TCALL_ON_ID_:
    case TCALL_ON_OLD_ID_:
        if ((on == TCALL_ON_ID_ || c->draft == TCALL_DRAFT_4) &&
            c->node != &c->wish->member->node && *p == '"' && p[1] != '#')
            c->embedded = key;
        break;
    case TCALL_ON_DEPENDENCIES_:
        tcall_sc_row_add_(c, TCALL_ON_DEPENDENT_, TCALL_ROW_OLD_, p);
        tcall_sc_row_add_(c, TCALL_ON_NEEDED_, TCALL_ROW_OLD_, p);
        break;
    case TCALL_ON_EXTRA_:
        items = tcall_text_get_(c->text, tcall_keyword_word_(TCALL_ON_ITEMS_));
        if (items && *items == '[')
            tcall_sc_row_add_(c, TCALL_ON_ITEMS_, TCALL_ROW_OLD_, p);
        else
            tcall_sc_row_add_(c, on, 0, p);
        break;
    case TCALL_ON_DEFINITIONS_:
        tcall_sc_row_add_(c, TCALL_ON_DEFS_, TCALL_ROW_OLD_, p);
        break;
    default:
        if (on == TCALL_ON_ITEMS_ && *p == '[')
            tcall_sc_row_add_(c, TCALL_ON_PREFIX_, TCALL_ROW_OLD_, p);
        else if (on != TCALL_ON_UNIQUE_ || *p == 't')
            tcall_sc_row_add_(c, on, 0, p);
    }
}

/* Returns whether the value of a keyword is as it asks for. */
static bool tcall_sc_fits_(uint8_t on, const char *p)
{
    char begins = tcall_keywords_[on].begins;
    char begun = *p == '-' || tcall_is_digit_(*p) ? '0' : *p == 'f' ? 't' : *p;
    if (begins == 's')
        return tcall_sc_is_schema_(p);
    if (begins == '[' && tcall_row_has_(on) && !tcall_text_first_(p))
        return false;
    return begins == '*' || begins == begun;
}

/* Reads a keyword of the schema at hand, or a name that is not known. One of
 * another draft is refused, and so is one that is ignored: whoever wrote it
 * meant it. */
TCALL_NOINLINE_ static void tcall_sc_keyword_(tcall_sc_ *c, const char *key)
{
    tcall_str word = tcall_text_inner_(key);
    const char *p = tcall_text_value_(key);
    uint8_t on = tcall_keyword_of_(word);
    bool prefix =
        on == TCALL_ON_ITEMS_ && *p == '[' && c->draft != TCALL_DRAFT_2020;
    uint8_t today = prefix ? (uint8_t)TCALL_ON_PREFIX_ : on;
    if (!on && tcall_has_escapes_(word))
        tcall_sc_refuse_(c, key, "keyword with escapes", "write it plainly");
    if (!on)
        return;
    if (tcall_keywords_[on].begins == '!')
        tcall_sc_refuse_(c, key, "unsupported keyword", "leave it out");
    else if (!(tcall_keywords_[on].drafts >> c->draft & 1))
        tcall_sc_refuse_(c, key, "keyword of another draft",
                         "name its draft in $schema");
    else if (tcall_sc_row_(c, on) ||
             (on == TCALL_ON_TYPE_ && c->node->types != TCALL_SHAPE_ANY))
        tcall_sc_refuse_(c, key, "keyword given twice", "keep one");
    else if (!tcall_sc_fits_(today, p))
        tcall_sc_malformed_(c, p, tcall_keywords_[today].begins);
    else if (c->beside && on != TCALL_ON_REF_ && on < TCALL_ON_DEFS_ &&
             ((*p != '{' && *p != '[') || tcall_text_first_(p)))
        tcall_sc_refuse_(c, p, "keyword beside $ref, which this draft ignores",
                         "put both into allOf, or use draft 2020-12");
    else if (!c->author->patterns &&
             (on == TCALL_ON_PATTERN_ || on == TCALL_ON_PATTERNS_))
        tcall_sc_refuse_(c, p, "pattern without a reader",
                         "set tcall_desc.patterns to &tcall_patterns");
    else
        tcall_sc_says_(c, on, key, p);
}

/* Flags the last of all rows; further ones than the last that is visible are
 * for $refs. */
#define TCALL_ROW_END_ 8

/* ---- what rows have ---- */

/* Looks for names that came twice: their hash table follows them, though that
 * of a few is not kept. */
static void tcall_sc_twice_(tcall_sc_ *c, const tcall_row *row)
{
    const tcall_member *member = row->of.members;
    uint16_t i;
    memset((void *)(uintptr_t)(member + row->count), 0,
           (row->count + row->count / 2u) * sizeof(uint16_t));
    for (i = 0; i < row->count && c->steps > 0; i++, member++) {
        uint16_t *slot = tcall_member_slot_(
            row, tcall_text_bytes_of_(member->name), &c->steps);
        if (*slot)
            tcall_sc_refuse_(c, member->name, "name given twice", "keep one");
        *slot = (uint16_t)(i + 1);
    }
}

/* Compiles the pattern in the string at a quote. */
static void tcall_sc_pattern_(tcall_sc_ *c, tcall_match *match,
                              const char *quote)
{
    tcall_pattern pattern;
    match->text = quote;
    match->by = c->author->patterns;
    if (match->by->compile(&pattern, tcall_text_inner_(quote),
                           TCALL_PATTERN_ESCAPED, c->low,
                           (size_t)(c->high - c->low)) < 0)
        tcall_sc_refuse_(c, quote, pattern.reason, "change the pattern");
    match->program = tcall_sc_keep_(c, pattern.need);
    match->count = pattern.count;
    match->states = pattern.states;
}

/* Makes the members of a row, and wishes for their rows. Until all is made each
 * node has the number of its wish. */
static void tcall_sc_members_(tcall_sc_ *c, tcall_row *row)
{
    char begins = tcall_keywords_[row->on].begins;
    bool patterns = row->on == TCALL_ON_PATTERNS_;
    bool names = tcall_row_keyword_(row) == TCALL_ON_DEPENDENCIES_;
    const char *at = row->of.text;
    tcall_member *member = (tcall_member *)(void *)c->low;
    uint16_t i;
    row->of.members = member;
    if (begins != 's')
        at = tcall_text_first_(at);
    for (; at; at = begins == 's' ? NULL : tcall_text_sibling_(at)) {
        const char *p = begins == '{' ? tcall_text_value_(at) : at;
        if (tcall_sc_is_schema_(p))
            tcall_sc_member_(&member[row->count++], at, p);
        else if (!names || *p != '[')
            tcall_sc_malformed_(c, p, 's');
    }
    if (begins == '{' && !patterns)
        tcall_sc_twice_(c, row);
    member = (tcall_member *)tcall_sc_keep_(c, row->count * sizeof *member +
                                                   tcall_row_tail_(row));
    row->of.members = member;
    for (i = 0; i < row->count; i++, member++) {
        if (patterns)
            tcall_sc_pattern_(
                c, (tcall_match *)(uintptr_t)tcall_row_match_(row) + i,
                member->name);
        member->node.kind = (uint8_t)c->wishes;
        member->node.flags = (uint8_t)(c->wishes >> 8);
        c->wish[c->wishes++].member = member;
    }
}

/* Bounds stay in the text, small whole ones also in count; counts are read. */
static void tcall_sc_number_(tcall_sc_ *c, tcall_row *row)
{
    const char *p = row->of.text;
    tcall_num_ n = tcall_text_number_(p);
    tcall_int value;
    int rest;
    bool fits =
        tcall_num_whole_(&n, 0, &value, &rest) && !((tcall_uint)value >> 31);
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

/* Counts the names in a list. */
static uint16_t tcall_sc_names_(tcall_sc_ *c, const char *list)
{
    const char *at = tcall_text_first_(list);
    uint16_t count = 0;
    for (; at; at = tcall_text_sibling_(at), count++)
        if (*at != '"')
            tcall_sc_malformed_(c, at, '"');
    return count;
}

/* The lists of names of dependentRequired; those of dependencies may be among
 * schemas. */
static void tcall_sc_needed_(tcall_sc_ *c, const tcall_row *row)
{
    const char *key = tcall_text_first_(row->of.text);
    for (; key; key = tcall_text_sibling_(key)) {
        const char *p = tcall_text_value_(key);
        if (*p == '[')
            tcall_sc_names_(c, p);
        else if (!(row->flags & TCALL_ROW_OLD_))
            tcall_sc_refuse_(c, p, "wrong kind of value",
                             "use an array of names");
    }
}

/* Reads the value of a row. */
static void tcall_sc_read_(tcall_sc_ *c, tcall_row *row)
{
    const char *p = row->of.text;
    tcall_match *match;
    if (tcall_row_has_(row->on)) {
        tcall_sc_members_(c, row);
    } else if (row->on == TCALL_ON_PATTERN_) {
        match = (tcall_match *)tcall_sc_keep_(c, sizeof *match);
        tcall_sc_pattern_(c, match, p);
        row->of.match = match;
        row->count = 1;
    } else if (row->on == TCALL_ON_REQUIRED_) {
        row->count = tcall_sc_names_(c, p);
    } else if (row->on == TCALL_ON_NEEDED_) {
        tcall_sc_needed_(c, row);
    } else if (tcall_keywords_[row->on].begins == '0') {
        tcall_sc_number_(c, row);
    }
}

/* Grants a wish: makes the rows of a schema. */
TCALL_NOINLINE_ static void tcall_sc_grant_(tcall_sc_ *c, tcall_member *member)
{
    const char *key;
    uint16_t i;
    c->text = tcall_sc_text_(member);
    c->node = &member->node;
    c->rows = (tcall_row *)(void *)c->low;
    c->count = 0;
    c->beside = c->draft >= TCALL_DRAFT_7 &&
                tcall_text_get_(c->text, tcall_keyword_word_(TCALL_ON_REF_));
    for (key = tcall_text_first_(c->text); key; key = tcall_text_sibling_(key))
        tcall_sc_keyword_(c, key);
    if (!c->count)
        return;
    c->rows = (tcall_row *)tcall_sc_keep_(c, c->count * sizeof *c->rows);
    c->node->rows = c->rows;
    for (i = 0; i < c->count; i++)
        tcall_sc_read_(c, &c->rows[i]);
    c->rows[--i].flags |= TCALL_ROW_END_;
    while (i && c->rows[i].on >= TCALL_ON_TYPE_)
        i--;
    c->rows[i].flags |= TCALL_ROW_LAST_;
}

/* ---- how much it takes ---- */

/* Returns the bytes of a pattern and its program. */
static uint32_t tcall_sc_need_pattern_(const tcall_sc_ *c, const char *quote)
{
    tcall_pattern pattern;
    c->author->patterns->compile(&pattern, tcall_text_inner_(quote),
                                 TCALL_PATTERN_ESCAPED, NULL, 0);
    return (uint32_t)(sizeof(tcall_match) + pattern.need);
}

/* Returns the bytes of the rows and patterns of a keyword; 0 for other names.
 */
static uint32_t tcall_sc_need_key_(const tcall_sc_ *c, const char *key)
{
    uint8_t on = tcall_keyword_of_(tcall_text_inner_(key));
    const char *p = tcall_text_value_(key);
    bool has = on && on <= TCALL_ON_DEFINITIONS_ && on != TCALL_ON_TYPE_;
    uint32_t bytes = has ? (uint32_t)sizeof(tcall_row) : 0;
    if (on == TCALL_ON_DEPENDENCIES_)
        bytes *= 2;
    if (on == TCALL_ON_PATTERN_ && c->author->patterns && *p == '"')
        bytes += tcall_sc_need_pattern_(c, p);
    if (on == TCALL_ON_PATTERNS_ && c->author->patterns && *p == '{')
        for (p = tcall_text_first_(p); p; p = tcall_text_sibling_(p))
            bytes += tcall_sc_need_pattern_(c, p);
    return bytes;
}

/* Returns at most how many bytes the nodes of a text and their wishes take: all
 * that begin as schemas and keywords do are counted, wherever they stand. */
static uint32_t tcall_sc_need_(tcall_sc_ *c)
{
    /* a slot and a half of a hash table are less than 4 bytes */
    const uint32_t each = sizeof(tcall_member) + sizeof(tcall_sc_wish_) + 4;
    const char *p = c->out->text, *end = p + c->out->len;
    uint32_t bytes = 0;
    while (p < end) {
        if (tcall_sc_is_schema_(p) && c->wishes++ == TCALL_SCHEMAS_MAX_)
            tcall_sc_refuse_(c, p, "too many schemas", "split the schema");
        if (*p == '"' && tcall_text_is_key_(p))
            bytes += tcall_sc_need_key_(c, p);
        p = *p == '"' ? tcall_text_string_end_(p) : p + 1;
    }
    return (uint32_t)tcall_whole_words_(bytes + c->wishes * each);
}

/* ---- $ref ---- */

/* Returns the index that a name of a pointer is in an array, or NO_MEMBER. */
TCALL_SHARED_ uint16_t tcall_index_of_(tcall_str name)
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

/* Returns which member of a row a name of a pointer leads to, or what none is.
 */
static uint16_t tcall_row_named_(const tcall_row *row, tcall_str name)
{
    return tcall_keywords_[row->on].begins == '{'
               ? tcall_member_named_(row, tcall_text_bytes_in_(name))
               : tcall_index_of_(name);
}

/* Returns the row that a name of a pointer leads to, or NULL. */
static const tcall_row *tcall_sc_row_named_(const tcall_node *node,
                                            tcall_str name)
{
    uint8_t on = tcall_keyword_of_(name);
    const tcall_row *row = node->rows;
    while (row && (tcall_row_keyword_(row) != on || !tcall_row_has_(row->on)))
        row = row->flags & TCALL_ROW_END_ ? NULL : row + 1;
    return row;
}

/* Reads the next name of a pointer; of one that cannot be read, a name that is
 * in no text. */
static tcall_str tcall_sc_step_(const char **p, char name[TCALL_NAME_MAX_])
{
    int len = -1;
    if (**p == '/') {
        ++*p;
        len = tcall_pointer_step_(p, name);
    }
    return len < 0 ? tcall_str_of("\377") : tcall_slice_(name, (size_t)len);
}

/* Returns the member that the fragment of a URI leads to, or NULL. */
static const tcall_member *tcall_sc_target_(const tcall_sc_ *c, const char *p)
{
    const tcall_member *member = c->wish->member;
    char name[TCALL_NAME_MAX_];
    while (member && *p == '/') {
        const tcall_row *row =
            tcall_sc_row_named_(&member->node, tcall_sc_step_(&p, name));
        uint16_t i = 0;
        if (row && tcall_keywords_[row->on].begins != 's')
            i = tcall_row_named_(row, tcall_sc_step_(&p, name));
        member = row && i < row->count ? &row->of.members[i] : NULL;
    }
    return member;
}

/* Gives a $ref the member of the place that it points to. */
static void tcall_sc_resolve_(tcall_sc_ *c, tcall_row *row)
{
    const char *at = row->of.text;
    const tcall_member *member = NULL;
    if (c->embedded)
        tcall_sc_refuse_(c, c->embedded, "$id within a schema that has $refs",
                         "leave it out");
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
static void tcall_sc_circle_(tcall_sc_ *c, const tcall_sc_wish_ *from,
                             const tcall_sc_wish_ *to)
{
    const char *last = NULL;
    for (;; from = &c->wish[from->next]) {
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
static tcall_sc_wish_ *tcall_sc_count_(tcall_sc_ *c, tcall_sc_wish_ *mark)
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
            tcall_sc_wish_ *first =
                &c->wish[same->kind | (uint32_t)same->flags << 8];
            if (!first->width)
                return first;
            if (first->width == TCALL_OPEN_ && !c->wrong)
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
    uint32_t i = c->wishes;
    while (i-- > 0) {
        tcall_sc_wish_ *end = &c->wish[i];
        tcall_sc_wish_ *mark = end->width ? NULL : end, *first;
        while (mark && !c->wrong) {
            first = tcall_sc_count_(c, mark);
            if (first)
                first->next = (uint16_t)(mark - c->wish);
            else if (mark->width > TOOLCALL_MAX_FRAMES && !c->wrong)
                tcall_sc_refuse_(c, mark->member->name,
                                 "too many alternatives at one value",
                                 "use fewer");
            else if (c->out->width < mark->width)
                c->out->width = mark->width;
            mark = first ? first : mark == end ? NULL : &c->wish[mark->next];
        }
    }
}

/* ---- names ---- */

/* Marks the properties that are required: mostly all that are. */
static void tcall_sc_required_(tcall_node *node)
{
    tcall_row *row =
        (tcall_row *)(uintptr_t)tcall_row_of_(node, TCALL_ON_REQUIRED_);
    const tcall_row *list = tcall_row_of_(node, TCALL_ON_PROPERTIES_);
    const char *name = row && list ? tcall_text_first_(row->of.text) : NULL;
    uint16_t i = 0;
    if (list && list == node->rows &&
        !tcall_row_of_(node, TCALL_ON_PATTERNS_) &&
        !tcall_row_of_(node, TCALL_ON_NAMES_))
        node->flags |= TCALL_NODE_FIELDS_;
    if (row && list)
        row->flags |= TCALL_ROW_MUSTS_;
    while (name) {
        i = tcall_member_of_(list, i, name, 0);
        if (i < list->count)
            ((tcall_member *)(uintptr_t)list->of.members)[i++].node.flags |=
                TCALL_NODE_MUST_;
        else /* those that came are counted: see tcall_frame_.met */
            row->flags &= (uint8_t)~TCALL_ROW_MUSTS_;
        name = tcall_text_sibling_(name);
    }
}

/* All members and rows are there. */
TCALL_NOINLINE_ static void tcall_sc_finish_(tcall_sc_ *c)
{
    uint32_t i;
    for (i = 0; i < c->wishes && c->steps > 0; i++) {
        const tcall_row *row =
            tcall_row_of_(&c->wish[i].member->node, TCALL_ON_REF_);
        if (row)
            tcall_sc_resolve_(c, (tcall_row *)(uintptr_t)row);
    }
    if (c->steps <= 0 && !c->wrong)
        tcall_sc_refuse_(c, tcall_text_space_(c->out->text),
                         "too many steps to compile",
                         "use fewer $refs that lead to each other");
    if (!c->wrong)
        tcall_sc_measure_(c);
    for (i = c->wishes; i-- > 0 && !c->wrong;) {
        tcall_node *node = &c->wish[i].member->node;
        node->kind = TCALL_KIND_ROWS_;
        node->flags = 0;
        if (node->rows && node->rows->on >= TCALL_ON_TYPE_)
            node->rows = NULL;
        tcall_sc_required_(node);
    }
}

/* ---- may it be an object? ---- */

/* How deep $ref and allOf are followed. */
enum { TCALL_ROOT_DEPTH_ = 4 };

/* Returns whether an object is among the values that enum or const lists. */
static bool tcall_row_has_object_(const tcall_row *row)
{
    bool several = row->on == TCALL_ON_ENUM_;
    const char *value =
        several ? tcall_text_first_(row->of.text) : row->of.text;
    while (value && *value != '{')
        value = several ? tcall_text_sibling_(value) : NULL;
    return value != NULL;
}

/* Returns whether an object may be right for a node: only what says so whatever
 * is in the object counts. */
TCALL_SHARED_ bool tcall_takes_objects_(const tcall_node *node, int depth)
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
        if (row->on == TCALL_ON_CONST_ || row->on == TCALL_ON_ENUM_)
            takes = tcall_row_has_object_(row);
    }
    return takes;
}

/* ---- entry ---- */

/* Reads a text that fits into the memory: the list of wishes lies where its
 * nodes do not. */
static void tcall_sc_make_(tcall_sc_ *c, const char *root)
{
    size_t bytes = c->wishes * sizeof *c->wish;
    tcall_row row = {TCALL_ON_NOT_, 0, 0, {root}};
    uint32_t i;
    if (!c->author->end)
        c->high -= bytes;
    c->wish = (tcall_sc_wish_ *)(void *)(c->author->end ? c->low : c->high);
    if (c->author->end)
        c->low += bytes;
    memset(c->wish, 0, bytes);
    c->wishes = 0;
    tcall_sc_members_(c, &row); /* as a keyword has it that takes one schema */
    for (i = 0; i < c->wishes; i++)
        tcall_sc_grant_(c, c->wish[i].member);
    tcall_sc_finish_(c);
}

/* Compiles a schema as its author wants it. With end, out->used bytes are used
 * at the end of the memory. Where all its faults are known already, it is
 * refused without a reason. */
TCALL_SHARED_ int tcall_schema_compile_for_(tcall_schema *out,
                                            const tcall_author_ *author)
{
    const tcall_str text = author->text;
    char *mem = (char *)author->mem;
    size_t pad = (0 - (size_t)(uintptr_t)mem) % sizeof mem;
    int r = text.len < tcall_size_(0xFFFFFF) ? tcall_json_check(text)
                                             : TCALL_E_LIMIT;
    const char *root;
    tcall_sc_ c;
    memset(out, 0, sizeof *out);
    memset(&c, 0, sizeof c);
    c.out = out;
    c.author = author;
    c.steps = TOOLCALL_MAX_STEPS;
    if (r < 0) {
        tcall_sc_refuse_(&c, text.ptr, tcall_call_error_text_(r), NULL);
        return TCALL_E_SCHEMA;
    }
    out->text = text.ptr;
    out->len = text.len;
    root = tcall_text_space_(text.ptr);
    if (tcall_sc_is_schema_(root))
        out->need = tcall_size_(tcall_sc_need_(&c) + (uint32_t)pad);
    else
        tcall_sc_malformed_(&c, root, 's');
    if (c.wrong)
        return TCALL_E_SCHEMA;
    if (!mem || author->size < out->need)
        return TCALL_E_MEMORY;
    c.low = mem + pad;
    c.high = c.low + (author->size - pad) / sizeof mem * sizeof mem;
    c.draft = tcall_sc_draft_(root, author->draft);
    tcall_sc_make_(&c, root);
    if (c.wrong)
        return TCALL_E_SCHEMA;
    out->used = author->end ? author->size - (size_t)(c.high - mem)
                            : (size_t)(c.low - mem);
    out->root = &c.wish->member->node;
    return (int)out->used;
}

int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                         size_t size, tcall_draft draft)
{
    const tcall_author_ author = {text,  NULL,  mem, size, &tcall_patterns,
                                  draft, false, 0};
    return tcall_schema_compile_for_(out, &author);
}
