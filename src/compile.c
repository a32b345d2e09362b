#pragma once
#include "compile.h"
#include "node.c"
#include "pattern.c"
#include "syntax.c"
#include "write.c"

/* ==========================================================================
 * >>compile: schemas become nodes
 *
 * The recogniser checks that the text is JSON. Then one walk over it makes all
 * nodes; where they do not fit, it is made once more, and only adds up what
 * they take.
 *
 * Members and rows are put on a stack. When the schemas of a keyword are over,
 * their members are one array at its top, and when a schema is over, so are its
 * rows: the array moves to the other end of the memory, where it stays. When
 * all are made, $refs are followed along the rows, and the frames that each
 * node needs are counted. Names, bounds and enums stay in the text.
 */

/* ---- keywords ---- */

/* The keywords in the order of their lengths, and where each length begins. */
static const uint8_t tcall_keywords_by_length_[] = {TCALL_ON_IF_,
                                                    TCALL_ON_OLD_ID_,
                                                    TCALL_ON_NOT_,
                                                    TCALL_ON_ID_,
                                                    TCALL_ON_REF_,
                                                    TCALL_ON_THEN_,
                                                    TCALL_ON_ELSE_,
                                                    TCALL_ON_ENUM_,
                                                    TCALL_ON_TYPE_,
                                                    TCALL_ON_ALLOF_,
                                                    TCALL_ON_ANYOF_,
                                                    TCALL_ON_ONEOF_,
                                                    TCALL_ON_ITEMS_,
                                                    TCALL_ON_CONST_,
                                                    TCALL_ON_DEFS_,
                                                    TCALL_ON_PATTERN_,
                                                    TCALL_ON_MINIMUM_,
                                                    TCALL_ON_MAXIMUM_,
                                                    TCALL_ON_SCHEMA_,
                                                    TCALL_ON_CONTAINS_,
                                                    TCALL_ON_MIN_ITEMS_,
                                                    TCALL_ON_MAX_ITEMS_,
                                                    TCALL_ON_REQUIRED_,
                                                    TCALL_ON_MIN_LENGTH_,
                                                    TCALL_ON_MAX_LENGTH_,
                                                    TCALL_ON_PROPERTIES_,
                                                    TCALL_ON_MULTIPLE_,
                                                    TCALL_ON_PREFIX_,
                                                    TCALL_ON_MIN_CONTAINS_,
                                                    TCALL_ON_MAX_CONTAINS_,
                                                    TCALL_ON_UNIQUE_,
                                                    TCALL_ON_DEFINITIONS_,
                                                    TCALL_ON_DYNAMIC_REF_,
                                                    TCALL_ON_DEPENDENCIES_,
                                                    TCALL_ON_NAMES_,
                                                    TCALL_ON_MIN_PROPERTIES_,
                                                    TCALL_ON_MAX_PROPERTIES_,
                                                    TCALL_ON_RECURSIVE_REF_,
                                                    TCALL_ON_EXTRA_,
                                                    TCALL_ON_DEPENDENT_,
                                                    TCALL_ON_ABOVE_,
                                                    TCALL_ON_BELOW_,
                                                    TCALL_ON_UNEVALUATED_ITEMS_,
                                                    TCALL_ON_PATTERNS_,
                                                    TCALL_ON_NEEDED_,
                                                    TCALL_ON_OTHERS_,
                                                    TCALL_ON_UNEVALUATED_};
static const uint8_t tcall_length_begins_[] = {0,  0,  0,  2,  4,  9,  15, 15,
                                               19, 23, 25, 27, 33, 34, 38, 38,
                                               39, 43, 45, 45, 45, 46, 47};
enum { TCALL_KEYWORD_MAX_ = sizeof tcall_length_begins_ - 2 };

/* Returns the number of a keyword, or NOTHING. */
static uint8_t tcall_keyword_of_(tcall_str word)
{
    size_t len = word.len <= TCALL_KEYWORD_MAX_ ? word.len : 0, i;
    for (i = tcall_length_begins_[len]; i < tcall_length_begins_[len + 1];
         i++) {
        uint8_t on = tcall_keywords_by_length_[i];
        const char *known = tcall_keyword_word_(on);
        if (*known == *word.ptr && memcmp(known, word.ptr, len) == 0)
            return on;
    }
    return TCALL_ON_NOTHING_;
}

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

/* Returns whether the row of a keyword has schemas of its own. */
static bool tcall_row_has_(uint8_t on)
{
    return (on && on <= TCALL_ON_NAMES_ && on != TCALL_ON_REF_) ||
           (on >= TCALL_ON_DEPENDENCIES_ && on <= TCALL_ON_DEFINITIONS_);
}

/* Returns whether a row has schemas by their names, which are all different. */
static bool tcall_row_is_map_(uint8_t on)
{
    return tcall_keywords_[on].begins == '{' && on != TCALL_ON_PATTERNS_;
}

static uint32_t tcall_whole_words_(uint32_t bytes)
{
    const uint32_t word = sizeof(void *);
    return (bytes + word - 1) / word * word;
}

/* Returns the bytes of the hash table that follows so many members. */
static uint32_t tcall_table_bytes_(uint8_t on, uint32_t count)
{
    bool few = !tcall_row_is_map_(on) || count <= TCALL_FEW_;
    uint32_t slots = few ? 0 : count + count / 2;
    return tcall_whole_words_(slots * (uint32_t)sizeof(uint16_t));
}

/* ---- what is made ---- */

#define TCALL_SCHEMAS_MAX_ 0xFFF0

/* A schema, when all are made: those within others come after them. */
typedef struct tcall_sc_mark_ {
    tcall_member *member; /* in which its node lies */
    uint16_t next;        /* the schema that waits for its frames */
    uint16_t width;       /* the frames that it needs; 0: not counted yet */
} tcall_sc_mark_;

/* What is open at each depth: the schemas of a keyword, by its number, or a
 * schema. */
enum {
    TCALL_SC_SCHEMA_ = 0x40, /* one of several */
    TCALL_SC_ONLY_ = 0x80    /* the only one of its keyword */
};

typedef struct tcall_sc_ {
    tcall_schema *out;
    const tcall_author_ *author;
    char *top;  /* of the stack, which grows up; NULL: all is only counted */
    char *high; /* where that begins which stays; it grows down */
    char *base; /* on the stack: the rows of the schema that is open, which its
                 * member is before, or the members of the list that is open,
                 * which its row is before; that has the base around it */
    uint32_t bytes; /* of all */
    uint32_t marks; /* schemas */
    tcall_sc_mark_ *mark;
    const char *embedded; /* a subschema's own $id */
    int32_t steps;
    bool wrong; /* it has a fault, perhaps one that is known already */
    uint8_t draft, depth;
    union {
        tcall_member member;
        tcall_row row;
        tcall_match match;
    } spare; /* in place of what is only counted */
    uint8_t open[TOOLCALL_MAX_DEPTH + 2];
} tcall_sc_;

/* Refuses the schema. Of its faults the one that stands first in the text is
 * told. */
static void tcall_sc_fault_(tcall_sc_ *c, const char *p, const char *reason,
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

/* Refuses the schema, unless all is only counted; the rest of it is looked at,
 * too. */
static void tcall_sc_refuse_(tcall_sc_ *c, const char *p, const char *reason,
                             const char *remedy)
{
    if (c->top)
        tcall_sc_fault_(c, p, reason, remedy);
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

/* Puts so many bytes on the stack. Where they do not fit, all is only counted
 * from then on. */
static void *tcall_sc_push_(tcall_sc_ *c, uint32_t bytes)
{
    void *at = c->top;
    c->bytes += bytes;
    if (!at || bytes > (size_t)(c->high - c->top)) {
        c->top = NULL;
        return &c->spare;
    }
    c->top += bytes;
    return at;
}

/* Moves the last bytes of the stack to where they stay. */
static void *tcall_sc_settle_(tcall_sc_ *c, uint32_t bytes)
{
    if (!c->top)
        return &c->spare;
    c->top -= bytes;
    c->high -= bytes;
    return memmove(c->high, c->top, (size_t)bytes);
}

/* Returns the member of the schema at hand. */
static tcall_member *tcall_sc_of_(const tcall_sc_ *c)
{
    return (tcall_member *)(void *)c->base - 1;
}

/* Returns the row that the schema at hand has of a keyword, or NULL. That of
 * the names of dependencies is beside one of the keyword itself. */
static tcall_row *tcall_sc_row_(const tcall_sc_ *c, uint8_t on)
{
    tcall_row *row = (tcall_row *)(void *)c->base;
    for (; row < (tcall_row *)(void *)c->top; row++)
        if (row->on == on && !(row->flags & TCALL_ROW_OLD_))
            return row;
    return NULL;
}

/* Makes a row of a keyword. */
static tcall_row *tcall_sc_row_add_(tcall_sc_ *c, uint8_t on, const char *p,
                                    uint8_t flags)
{
    const tcall_row made = {on, flags, 0, {p}};
    tcall_row *row = (tcall_row *)tcall_sc_push_(c, sizeof *row);
    *row = made;
    return row;
}

/* Reads the name at a quote. Returns its value. */
static const char *tcall_sc_name_(const char *quote, tcall_str *name)
{
    const char *colon;
    *name = tcall_text_inner_(quote);
    colon = tcall_text_space_(name->ptr + name->len + 1);
    return tcall_text_space_(colon + 1);
}

/* Returns the length of a name as tcall_node.digits has it. */
static uint8_t tcall_sc_digits_(tcall_str name)
{
    bool plain = name.len + 2 <= UINT8_MAX && !tcall_has_escapes_(name);
    return (uint8_t)(plain ? name.len + 2 : 0);
}

/* Returns the text of a schema. */
static const char *tcall_sc_text_(const tcall_member *member)
{
    return *member->name == '"' ? tcall_text_value_(member->name)
                                : member->name;
}

/* Compiles the pattern in the string at a quote. */
static void tcall_sc_pattern_(tcall_sc_ *c, tcall_match *match,
                              const char *quote)
{
    const struct tcall_patterns_ *by = c->author->patterns;
    tcall_pattern pattern;
    size_t size = c->top ? (size_t)(c->high - c->top) : 0;
    uint32_t bytes;
    if (!by) {
        tcall_sc_refuse_(c, quote, "pattern without a reader",
                         "set tcall_desc.patterns to &tcall_patterns");
        return;
    }
    if (by->compile(&pattern, tcall_text_inner_(quote), TCALL_PATTERN_ESCAPED,
                    c->top, size) == TCALL_E_INVALID)
        tcall_sc_refuse_(c, quote, pattern.reason, "change the pattern");
    bytes = tcall_whole_words_((uint32_t)pattern.need);
    tcall_sc_push_(c, bytes);
    match->text = quote;
    match->by = by;
    match->program = tcall_sc_settle_(c, bytes);
    match->count = pattern.count;
    match->states = pattern.states;
}

/* Compiles the patterns of the members on the stack, which are to follow them.
 */
static void tcall_sc_patterns_(tcall_sc_ *c, uint16_t count)
{
    const uint32_t bytes = count * (uint32_t)sizeof(tcall_match);
    const tcall_member *member = (tcall_member *)(void *)c->top - count;
    tcall_match *match = (tcall_match *)tcall_sc_push_(c, bytes);
    for (; count && c->top; count--)
        tcall_sc_pattern_(c, match++, (member++)->name);
    tcall_sc_settle_(c, bytes);
}

/* Looks for names that came twice; more than a few go into their hash table. */
static void tcall_sc_twice_(tcall_sc_ *c, const tcall_row *row)
{
    const tcall_member *member = row->of.members;
    uint32_t table = tcall_table_bytes_(row->on, row->count);
    uint16_t i;
    memset((void *)(uintptr_t)(member + row->count), 0, (size_t)table);
    for (i = 0; i < row->count && c->steps > 0; i++, member++) {
        bool twice;
        if (table) {
            uint16_t *slot = tcall_member_slot_(
                row, tcall_text_bytes_of_(member->name), &c->steps);
            twice = *slot != 0;
            *slot = (uint16_t)(i + 1);
        } else { /* the search comes back to itself in the end */
            twice = tcall_member_of_(row, (uint16_t)(i + 1), member->name,
                                     member->node.digits) < i;
        }
        if (twice)
            tcall_sc_refuse_(c, member->name, "name given twice", "keep one");
    }
}

/* The schemas of a keyword are over, so many bytes of members: its row, which
 * is before them, gets them. */
static void tcall_sc_list_(tcall_sc_ *c, uint32_t bytes)
{
    tcall_row *row = (tcall_row *)(void *)(c->top - bytes) - 1;
    uint32_t table;
    c->base = (char *)(uintptr_t)row->of.text;
    row->count = (uint16_t)(bytes / sizeof(tcall_member));
    table = tcall_table_bytes_(row->on, row->count);
    tcall_sc_push_(c, table);
    tcall_sc_settle_(c, table);
    if (row->on == TCALL_ON_PATTERNS_)
        tcall_sc_patterns_(c, row->count);
    row->of.members = (tcall_member *)tcall_sc_settle_(c, bytes);
    if (tcall_row_is_map_(row->on) && c->top)
        tcall_sc_twice_(c, row);
}

/* Begins a list of schemas, or a schema. */
static void tcall_sc_open_(tcall_sc_ *c, uint8_t what)
{
    c->open[++c->depth] = what;
    c->base = c->top;
}

/* Makes the member of the schema at p. name: its quote, or p; what: it is one
 * of several, or the only one of its keyword. Returns whether its keywords are
 * read next. */
static bool tcall_sc_member_(tcall_sc_ *c, const char *name, uint8_t digits,
                             const char *p, uint8_t what)
{
    const uint8_t types = *p == 'f' ? 0 : TCALL_SHAPE_ANY;
    const tcall_row *around = (const tcall_row *)(const void *)c->base;
    const tcall_member made = {
        name, {types, 0, digits, 0, *p == '{' ? around : NULL}};
    *(tcall_member *)tcall_sc_push_(c, sizeof made) = made;
    if (*p != '{' && *p != 't' && *p != 'f')
        tcall_sc_malformed_(c, p, 's');
    if (c->marks++ == TCALL_SCHEMAS_MAX_) /* no memory is enough for it */
        tcall_sc_fault_(c, p, "too many schemas", "split the schema");
    if (*p == '{')
        tcall_sc_open_(c, what);
    return *p == '{';
}

/* Reads what comes next in a list of schemas. Returns where reading goes on. */
static const char *tcall_sc_item_(tcall_sc_ *c, const char *at)
{
    uint8_t on = c->open[c->depth], digits = 0;
    const char *p = at;
    if (tcall_keywords_[on].begins == '{') {
        tcall_str name;
        p = tcall_sc_name_(at, &name);
        digits = tcall_sc_digits_(name);
    }
    if (on == TCALL_ON_PATTERNS_ && !c->top)
        tcall_sc_pattern_(
            c, (tcall_match *)tcall_sc_push_(c, sizeof(tcall_match)), at);
    if (on == TCALL_ON_DEPENDENCIES_ && *p == '[')
        return tcall_text_skip_(p); /* names */
    if (tcall_sc_member_(c, at, digits, p, TCALL_SC_SCHEMA_))
        return p + 1;
    return tcall_text_skip_(p);
}

/* ---- the keywords of a schema ---- */

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

/* Returns the draft of a schema: the one of its $schema, or the other. */
TCALL_NOINLINE_ static uint8_t tcall_sc_draft_(tcall_str text,
                                               tcall_draft other)
{
    bool none = !memchr(text.ptr, '$', text.len); /* mostly so, and cheap */
    const char *root = none ? NULL : tcall_text_space_(text.ptr);
    const char *p =
        tcall_text_get_(root, tcall_keyword_word_(TCALL_ON_SCHEMA_));
    int draft = p ? tcall_sc_draft_of_(p) : -1;
    return (uint8_t)(draft < 0 ? (int)other : draft);
}

/* Returns the bit of the type that a value names, or 0. */
TCALL_SHARED_ uint8_t tcall_sc_type_(const char *p)
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
    tcall_sc_of_(c)->node.types = types;
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

/* The lists of names of dependentRequired; old: of dependencies, which may have
 * schemas, too. */
static void tcall_sc_needed_(tcall_sc_ *c, const char *p, bool old)
{
    const char *key = tcall_text_first_(p);
    tcall_str name;
    for (; key; key = tcall_text_sibling_(p)) {
        p = tcall_sc_name_(key, &name);
        if (*p == '[')
            tcall_sc_names_(c, p);
        else if (!old)
            tcall_sc_refuse_(c, p, "wrong kind of value",
                             "use an array of names");
    }
}

/* Looks at what a keyword says that has no row, or lists of names. */
static void tcall_sc_look_(tcall_sc_ *c, const char *key, uint8_t on,
                           const char *p)
{
    bool id = on == TCALL_ON_ID_ ||
              (on == TCALL_ON_OLD_ID_ && c->draft == TCALL_DRAFT_4);
    if (on == TCALL_ON_TYPE_)
        tcall_sc_types_(c, p);
    if (on == TCALL_ON_NEEDED_ || on == TCALL_ON_DEPENDENCIES_)
        tcall_sc_needed_(c, p, on != TCALL_ON_NEEDED_);
    if (id && c->depth > 1 && *p == '"' && p[1] != '#')
        c->embedded = key;
    if (on == TCALL_ON_SCHEMA_ && tcall_sc_draft_of_(p) != c->draft)
        tcall_sc_refuse_(c, p, "unknown $schema",
                         "use https://json-schema.org/draft/2020-12/schema or "
                         "http://json-schema.org/draft-07/schema");
}

/* Returns the keyword that one with this value is called today. */
static uint8_t tcall_sc_today_(const tcall_sc_ *c, uint8_t on, const char *p)
{
    bool prefix =
        on == TCALL_ON_ITEMS_ && *p == '[' && c->draft != TCALL_DRAFT_2020;
    return prefix ? (uint8_t)TCALL_ON_PREFIX_ : on;
}

/* Returns whether a keyword can be used here; else it is refused. A keyword of
 * another draft was meant by whoever wrote it. */
static bool tcall_sc_admits_(tcall_sc_ *c, const char *key, uint8_t on,
                             const char *p)
{
    uint8_t today = tcall_sc_today_(c, on, p);
    char begins = tcall_keywords_[today].begins;
    char begun = *p == '-' || tcall_is_digit_(*p) ? '0' : *p == 'f' ? 't' : *p;
    bool fits = begins == 's' ? begun == '{' || begun == 't'
                              : begins == '*' || begins == begun;
    if (begins == '[' && tcall_row_has_(on))
        fits = fits && tcall_text_first_(p);
    if (begins == '!')
        tcall_sc_refuse_(c, key, "unsupported keyword", "leave it out");
    else if (!(tcall_keywords_[on].drafts >> c->draft & 1))
        tcall_sc_refuse_(c, key, "keyword of another draft",
                         "name its draft in $schema");
    else if (tcall_sc_row_(c, today) ||
             (on == TCALL_ON_TYPE_ &&
              tcall_sc_of_(c)->node.types != TCALL_SHAPE_ANY))
        tcall_sc_refuse_(c, key, "keyword given twice", "keep one");
    else if (!fits)
        tcall_sc_malformed_(c, p, begins);
    else
        return true;
    return false;
}

/* Makes the row of a keyword that needs no schemas. */
static void tcall_sc_says_(tcall_sc_ *c, uint8_t on, const char *p)
{
    tcall_row *row;
    tcall_match *match;
    if (on >= TCALL_ON_TYPE_ || (on == TCALL_ON_UNIQUE_ && *p == 'f'))
        return;
    row = tcall_sc_row_add_(c, on, p, 0);
    if (on == TCALL_ON_PATTERN_ && *p == '"') {
        match = (tcall_match *)tcall_sc_push_(c, sizeof *match);
        tcall_sc_pattern_(c, match, p);
        row->of.match = (tcall_match *)tcall_sc_settle_(c, sizeof *match);
        row->count = 1;
    } else if (c->top && on == TCALL_ON_REQUIRED_) {
        row->count = tcall_sc_names_(c, p);
    } else if (c->top && tcall_keywords_[on].begins == '0') {
        tcall_sc_number_(c, row);
    }
}

/* Counts the schemas in an object. */
static uint32_t tcall_sc_schemas_(const char *p)
{
    const char *key = tcall_text_first_(p);
    uint32_t count = 0;
    for (; key; key = tcall_text_sibling_(key))
        count += *tcall_text_value_(key) != '[';
    return count;
}

/* Reads a name of the schema at hand: a keyword, or nothing that is known.
 * Returns where reading goes on: a list or a schema is read next. */
static const char *tcall_sc_keyword_(tcall_sc_ *c, const char *key)
{
    tcall_str word;
    const char *p = tcall_sc_name_(key, &word);
    uint8_t on = tcall_keyword_of_(word);
    if (!on && tcall_has_escapes_(word))
        tcall_sc_refuse_(c, key, "keyword with escapes", "write it plainly");
    if (!on || (c->top && !tcall_sc_admits_(c, key, on, p)))
        return tcall_text_skip_(p);
    if (c->top)
        tcall_sc_look_(c, key, on, p);
    if (on == TCALL_ON_DEPENDENCIES_)
        tcall_sc_row_add_(c, TCALL_ON_NEEDED_, p, TCALL_ROW_OLD_);
    on = tcall_sc_today_(c, on, p);
    if (!tcall_row_has_(on)) {
        tcall_sc_says_(c, on, p);
        return tcall_text_skip_(p);
    }
    tcall_sc_row_add_(c, on, c->base, 0);
    if (*p == (tcall_keywords_[on].begins == '{' ? '{' : '[')) {
        if (!c->top && tcall_row_is_map_(on))
            c->bytes += tcall_table_bytes_(on, tcall_sc_schemas_(p));
        tcall_sc_open_(c, on);
        return p + 1;
    }
    if (tcall_sc_member_(c, p, 0, p, TCALL_SC_ONLY_))
        return p + 1;
    if (c->top)
        tcall_sc_list_(c, sizeof(tcall_member));
    return tcall_text_skip_(p);
}

/* Refuses what is beside a $ref up to draft 7, which ignores it: whoever wrote
 * it meant it. What is empty, names the schema or only defines others counts
 * not. */
static void tcall_sc_beside_(tcall_sc_ *c, const char *schema)
{
    const char *key = tcall_text_first_(schema), *p;
    tcall_str word;
    for (; key; key = tcall_text_sibling_(p)) {
        uint8_t on;
        p = tcall_sc_name_(key, &word);
        on = tcall_keyword_of_(word);
        if (on != TCALL_ON_REF_ && on < TCALL_ON_DEFS_ &&
            tcall_keywords_[on].drafts >> c->draft & 1 &&
            ((*p != '{' && *p != '[') || tcall_text_first_(p)))
            tcall_sc_refuse_(c, p,
                             "keyword beside $ref, which this draft ignores",
                             "put both into allOf, or use draft 2020-12");
    }
}

/* Flags the last of all rows; further ones than the last that is visible are
 * for $refs. */
#define TCALL_ROW_END_ 8

/* Puts rows in the order of their keywords, and flags the last. */
static void tcall_sc_order_(tcall_row *rows, uint16_t count)
{
    uint16_t i, k;
    for (i = 0; i < count; i++) {
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

/* A schema is over: it gets its rows. */
static void tcall_sc_schema_(tcall_sc_ *c)
{
    tcall_row *row = tcall_sc_row_(c, TCALL_ON_EXTRA_);
    tcall_member *member = tcall_sc_of_(c);
    uint32_t bytes = (uint32_t)(c->top - c->base);
    if (row && tcall_sc_row_(c, TCALL_ON_PREFIX_)) {
        row->on = TCALL_ON_ITEMS_;
        row->flags = TCALL_ROW_OLD_;
    }
    row = tcall_sc_row_(c, TCALL_ON_DEPENDENCIES_);
    if (row)
        row->on = TCALL_ON_DEPENDENT_;
    if (c->draft >= TCALL_DRAFT_7 && tcall_sc_row_(c, TCALL_ON_REF_))
        tcall_sc_beside_(c, tcall_sc_text_(member));
    c->base = (char *)(uintptr_t)member->node.rows;
    member->node.rows = NULL;
    if (!bytes)
        return;
    row = (tcall_row *)tcall_sc_settle_(c, bytes);
    tcall_sc_order_(row, (uint16_t)(bytes / sizeof *row));
    member->node.rows = row;
}

/* A list or a schema is over. */
static void tcall_sc_close_(tcall_sc_ *c)
{
    uint8_t what = c->open[c->depth--];
    if (c->top && what >= TCALL_SC_SCHEMA_)
        tcall_sc_schema_(c);
    if (c->top && what != TCALL_SC_SCHEMA_)
        tcall_sc_list_(c, what == TCALL_SC_ONLY_
                              ? (uint32_t)sizeof(tcall_member)
                              : (uint32_t)(c->top - c->base));
}

/* Walks over the text. */
TCALL_NOINLINE_ static void tcall_sc_walk_(tcall_sc_ *c)
{
    const char *p = tcall_text_space_(c->out->text);
    c->bytes = c->marks = 0;
    tcall_sc_member_(c, p, 0, p, TCALL_SC_SCHEMA_);
    for (p++; c->depth;) {
        p = tcall_text_next_(p);
        if (tcall_text_closes_(p)) {
            tcall_sc_close_(c);
            p++;
        } else {
            p = c->open[c->depth] < TCALL_SC_SCHEMA_ ? tcall_sc_item_(c, p)
                                                     : tcall_sc_keyword_(c, p);
        }
    }
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
    uint16_t i = 0;
    if (tcall_keywords_[row->on].begins != '{')
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
    const tcall_member *member = c->mark->member;
    char name[TCALL_NAME_MAX_];
    while (member && *p == '/') {
        const tcall_row *row =
            tcall_sc_row_named_(c, &member->node, tcall_sc_step_(&p, name));
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

/* Lines all schemas up, each behind the one that it is in, and resolves their
 * $refs. */
static void tcall_sc_line_up_(tcall_sc_ *c)
{
    uint32_t i, count = 1;
    for (i = 0; i < count; i++) {
        const tcall_row *row = c->mark[i].member->node.rows;
        for (; row; row = row->flags & TCALL_ROW_END_ ? NULL : row + 1) {
            tcall_member *member = (tcall_member *)(uintptr_t)row->of.members;
            uint16_t left = tcall_row_has_(row->on) ? row->count : 0;
            if (row->on == TCALL_ON_REF_ && c->steps > 0)
                tcall_sc_resolve_(c, (tcall_row *)(uintptr_t)row);
            for (; left; left--, member++, count++) {
                member->node.kind = (uint8_t)count; /* for now: its mark */
                member->node.flags = (uint8_t)(count >> 8);
                c->mark[count].member = member;
                c->mark[count].width = 0;
            }
        }
    }
    c->marks = count;
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
                &c->mark[same->kind | (uint32_t)same->flags << 8];
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
    uint32_t i = c->marks;
    while (i-- > 0) {
        tcall_sc_mark_ *end = &c->mark[i];
        tcall_sc_mark_ *mark = end->width ? NULL : end, *first;
        while (mark && !c->wrong) {
            first = tcall_sc_count_(c, mark);
            if (first)
                first->next = (uint16_t)(mark - c->mark);
            else if (mark->width > TOOLCALL_MAX_FRAMES && !c->wrong)
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
        tcall_str word = tcall_text_inner_(name);
        i = tcall_member_of_(list, i, name, tcall_sc_digits_(word));
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
    tcall_sc_line_up_(c);
    if (c->steps <= 0 && !c->wrong)
        tcall_sc_refuse_(c, tcall_text_space_(c->out->text),
                         "too many steps to compile",
                         "use fewer $refs that lead to each other");
    if (!c->wrong)
        tcall_sc_measure_(c);
    for (i = c->marks; i-- > 0 && !c->wrong;) {
        tcall_node *node = &c->mark[i].member->node;
        node->kind = TCALL_KIND_ROWS_;
        node->flags = 0;
        if (node->rows && node->rows->on >= TCALL_ON_TYPE_)
            node->rows = NULL;
        tcall_sc_required_(node);
    }
}

/* Moves what stays down, and whatever points to it. */
static void tcall_sc_lower_(tcall_sc_ *c, size_t by)
{
    uint32_t i;
    for (i = 0; i < c->marks; i++) {
        tcall_node *node = &c->mark[i].member->node;
        tcall_row *row = (tcall_row *)(uintptr_t)node->rows;
        if (row)
            node->rows = (tcall_row *)(void *)((char *)row - by);
        for (; row; row = (tcall_row *)(uintptr_t)tcall_row_next_(row)) {
            bool one = row->on == TCALL_ON_PATTERN_;
            bool matches = one || row->on == TCALL_ON_PATTERNS_;
            tcall_match *match =
                (tcall_match *)(uintptr_t)tcall_row_match_(row);
            uint16_t left = matches ? row->count : 0;
            for (; left; left--, match++)
                match->program = (const char *)match->program - by;
            if (one || row->on == TCALL_ON_REF_ || tcall_row_has_(row->on))
                row->of.text -= by; /* of each pointer */
        }
    }
    c->high = (char *)memmove(c->high - by, c->high, (size_t)c->bytes);
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
    tcall_sc_ c;
    memset(out, 0, sizeof *out);
    memset(&c, 0, sizeof c);
    c.out = out;
    c.author = author;
    if (r < 0) {
        tcall_sc_fault_(&c, text.ptr, tcall_call_error_text_(r), NULL);
        return TCALL_E_SCHEMA;
    }
    out->text = text.ptr;
    out->len = text.len;
    c.steps = TOOLCALL_MAX_STEPS;
    c.draft = tcall_sc_draft_(text, author->draft);
    if (mem && author->size > pad) {
        c.top = mem + pad;
        c.high = c.top + (author->size - pad) / sizeof mem * sizeof mem;
        tcall_sc_walk_(&c);
    }
    if (!c.top)
        tcall_sc_walk_(&c);
    out->need = tcall_size_(c.bytes + c.marks * (uint32_t)sizeof *c.mark +
                            (uint32_t)pad);
    if (!c.top || author->size < out->need)
        return c.wrong ? TCALL_E_SCHEMA : TCALL_E_MEMORY;
    c.mark = (tcall_sc_mark_ *)(void *)(mem + pad);
    c.mark->member = (tcall_member *)tcall_sc_settle_(&c, sizeof(tcall_member));
    c.mark->width = 0;
    tcall_sc_finish_(&c);
    if (c.wrong)
        return TCALL_E_SCHEMA;
    if (!author->end)
        tcall_sc_lower_(&c, (size_t)(c.high - mem) - pad);
    out->used = author->end ? author->size - (size_t)(c.high - mem)
                            : pad + (size_t)c.bytes;
    out->root = &((tcall_member *)(void *)c.high)->node;
    return (int)out->used;
}

int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                         size_t size, tcall_draft draft)
{
    const tcall_author_ author = {text,  NULL,  mem, size, &tcall_patterns,
                                  draft, false, 0};
    return tcall_schema_compile_for_(out, &author);
}
