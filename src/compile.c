#pragma once
#include "compile.h"
#include "node.c"
#include "pattern.c"

/* ==========================================================================
 * >>compile: schemas become nodes
 *
 * Every schema that is met is a wish: a place in the text and the node to be
 * made of it. Wishes are granted in their order and lie at the end of the block
 * meanwhile; what is granted wishes for more. A $ref is the wish for a place,
 * which may have been granted already: so recursion needs nothing. Names,
 * bounds, enums stay in the text.
 */

#ifndef TOOLCALL_NO_SCHEMA

static const char *const tcall_words_[] = {"",
#define TCALL_X_(NAME, keyword, begins) keyword,
                                           TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
};

#define TCALL_NONE_ 0xFFFF /* TCALL_NO_MEMBER_ */
static const char *tcall_wc_space_(const char *p)
{
    while (tcall_is_space_(*p))
        p++;
    return p;
}

/* Returns what follows the string at a quote. */
static const char *tcall_wc_string_end_(const char *p)
{
    for (p++; *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

/* Returns what follows a value. */
static const char *tcall_wc_end_(const char *p)
{
    unsigned depth = 0;
    if (*p == '"')
        return tcall_wc_string_end_(p);
    do {
        if (*p == '"') {
            p = tcall_wc_string_end_(p);
            continue;
        }
        depth += *p == '{' || *p == '[';
        depth -= *p == '}' || *p == ']';
        p++;
        if (!depth) /* a number or a literal, or the last bracket */
            while ((*p > ' ' && *p != ',' && *p != '}' && *p != ']' &&
                    *p != ':') &&
                   p[-1] != '}' && p[-1] != ']')
                p++;
    } while (depth);
    return p;
}

/* Returns the first key or item, or NULL. */
static const char *tcall_wc_first_(const char *p)
{
    p = tcall_wc_space_(p + 1);
    return *p == '}' || *p == ']' ? NULL : p;
}

/* Returns the next one after the value that ends here, or NULL. */
static const char *tcall_wc_next_(const char *end)
{
    end = tcall_wc_space_(end);
    return *end == ',' ? tcall_wc_space_(end + 1) : NULL;
}

static const char *tcall_wc_value_(const char *key)
{
    return tcall_wc_space_(tcall_wc_space_(tcall_wc_string_end_(key)) + 1);
}

/* Decodes the character at *p, and moves it on. */
static size_t tcall_wc_char_(const char **p, char out[4])
{
    const char *at = *p;
    uint32_t unit = 0;
    int i, half;
    if (*at != '\\') {
        *out = *at;
        *p = at + 1;
        return 1;
    }
    if (at[1] != 'u') {
        *out = tcall_unescape_(at[1]);
        *p = at + 2;
        return 1;
    }
    for (half = 0; half < 2; half++, at += 6) {
        uint32_t high = unit;
        for (unit = 0, i = 2; i < 6; i++)
            unit = unit << 4 | (uint32_t)tcall_hex_(at[i]);
        if (half)
            unit = 0x10000 + ((high & 0x3FF) << 10) + (unit & 0x3FF);
        if ((unit & 0xFC00) != 0xD800 || unit > 0xFFFF)
            break;
    }
    *p = at + 6;
    return tcall_utf8_(out, unit);
}

/* Whether two strings, from quote to quote, mean the same. */
static bool tcall_wc_same_(const char *a, const char *b)
{
    char x[4], y[4];
    while (*a == *b && *a != '\\') {
        if (*++a == '"' || *b == 0)
            return b[1] == '"';
        b++;
    }
    while (*a != '"' && *b != '"' && (*a == '\\' || *b == '\\' || *a == *b)) {
        size_t n = tcall_wc_char_(&a, x), k = tcall_wc_char_(&b, y);
        while (n < k) /* one is escaped, of the other a byte came */
            n += tcall_wc_char_(&a, x + n);
        while (k < n)
            k += tcall_wc_char_(&b, y + k);
        if (memcmp(x, y, n) != 0)
            return false;
    }
    return *a == '"' && *b == '"';
}

/* Returns the key of this name, or NULL. */
static const char *tcall_wc_find_(const char *object, const char *name)
{
    const char *key = tcall_wc_first_(object);
    while (key && !tcall_wc_same_(key, name))
        key = tcall_wc_next_(tcall_wc_end_(tcall_wc_value_(key)));
    return key;
}

/* Returns the value of a member of a schema, or NULL. */
static const char *tcall_wc_get_(const char *object, const char *quoted)
{
    const char *key = tcall_wc_find_(object, quoted);
    return key ? tcall_wc_value_(key) : NULL;
}

static tcall_num_ tcall_wc_num_(const char *p)
{
    return tcall_num_read_(tcall_slice_(p, (size_t)(tcall_wc_end_(p) - p)));
}

static char tcall_wc_type_(const char *p)
{
    return *p == '-' || tcall_is_digit_(*p) ? '0' : *p == 'f' ? 't' : *p;
}

/* Returns the number of members or items. */
static uint32_t tcall_wc_count_(const char *p)
{
    bool object = *p == '{';
    uint32_t count = 0;
    for (p = tcall_wc_first_(p); p;
         p = tcall_wc_next_(tcall_wc_end_(object ? tcall_wc_value_(p) : p)))
        count++;
    return count;
}

static int32_t tcall_wc_whole_(const tcall_num_ *n, bool *beyond)
{
    const char *at = n->first;
    int32_t value = 0;
    int i;
    *beyond = !tcall_num_integral_(n) || n->top > 8;
    for (i = 0; n->sign && !*beyond && i <= n->top; i++)
        value = value * 10 + tcall_num_digit_(n, &at);
    return *beyond ? INT32_MAX : n->sign < 0 ? -value : value;
}
#define TCALL_PASSES_ 64

typedef struct tcall_wc_wish_ {
    const char *at;
    tcall_node *node;
    uint16_t width, frames;
} tcall_wc_wish_;

typedef struct tcall_wc_compiler_ {
    tcall_schema *out;
    char *block;
    size_t low, high, size;
    uint32_t wishes;
    int draft;
    bool full;
    const char *embedded, *ref;
} tcall_wc_compiler_;

/* The first fault stays. */
static void tcall_wc_refuse_(tcall_wc_compiler_ *c, const char *at,
                             const char *reason)
{
    if (c->out->reason)
        return;
    c->out->reason = reason;
    c->out->at = (size_t)(at - c->out->text);
}

static tcall_wc_wish_ *tcall_wc_wish_at_(const tcall_wc_compiler_ *c,
                                         uint32_t i)
{
    return (tcall_wc_wish_ *)(void *)(c->block + c->size) - 1 - i;
}

static size_t tcall_wc_whole_words_(size_t size)
{
    return (size + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
}

static void *tcall_wc_alloc_(tcall_wc_compiler_ *c, size_t size)
{
    void *at = c->block + c->low;
    size = tcall_wc_whole_words_(size);
    if (c->high - c->low < size || c->full) {
        c->full = true;
        return NULL;
    }
    c->low += size;
    memset(at, 0, size);
    return at;
}

static void tcall_wc_wants_(tcall_wc_compiler_ *c, const char *at,
                            tcall_node *node)
{
    if (c->high - c->low < sizeof(tcall_wc_wish_) || c->wishes == TCALL_NONE_)
        c->full = true;
    if (c->full)
        return;
    c->high -= sizeof(tcall_wc_wish_);
    tcall_wc_wish_at_(c, c->wishes)->at = at;
    tcall_wc_wish_at_(c, c->wishes)->node = node;
    node->digits = (uint8_t)c->wishes; /* while it is compiled: its wish */
    node->flags = (uint8_t)(c->wishes >> 8);
    c->wishes++;
}

static tcall_node *tcall_wc_want_(tcall_wc_compiler_ *c, const char *at)
{
    tcall_node *node = (tcall_node *)tcall_wc_alloc_(c, sizeof *node);
    if (node)
        tcall_wc_wants_(c, at, node);
    return node;
}

static tcall_node *tcall_wc_want_same_(tcall_wc_compiler_ *c, const char *at)
{
    uint32_t i;
    for (i = 0; i < c->wishes; i++)
        if (tcall_wc_wish_at_(c, i)->at == at)
            return tcall_wc_wish_at_(c, i)->node;
    return tcall_wc_want_(c, at);
}

/* ---- $ref ---- */

/* Returns the next byte of a token of a JSON Pointer in a URI, -1 at its end,
 * -2: it is none. */
static int tcall_wc_pointer_byte_(const char **p)
{
    const char *at = *p;
    int c = (unsigned char)*at++;
    if (c == '/' || c == '"')
        return -1;
    if (c == '\\')
        return -2;
    if (c == '%') {
        if (tcall_hex_(at[0]) < 0 || tcall_hex_(at[1]) < 0)
            return -2;
        c = tcall_hex_(at[0]) << 4 | tcall_hex_(at[1]);
        at += 2;
    }
    if (c == '~') {
        if (*at != '0' && *at != '1')
            return -2;
        c = *at++ == '0' ? '~' : '/';
    }
    *p = at;
    return c;
}

/* Whether the token is the name at a quote. */
static bool tcall_wc_pointer_names_(const char *token, const char *quote)
{
    const char *at = quote + 1;
    while (*at != '"') {
        char bytes[4];
        size_t n = tcall_wc_char_(&at, bytes), i;
        for (i = 0; i < n; i++)
            if (tcall_wc_pointer_byte_(&token) != (unsigned char)bytes[i])
                return false;
    }
    return tcall_wc_pointer_byte_(&token) == -1;
}

/* Returns what the pointer at p leads to, or NULL. */
static const char *tcall_wc_pointed_(const char *at, const char *p)
{
    while (at && *p == '/') {
        uint32_t index = 0;
        const char *token = ++p;
        for (; *p != '/' && *p != '"'; p++)
            index = index < 100000 ? index * 10 + (uint32_t)(*p - '0') : index;
        if (*at == '{') {
            for (at = tcall_wc_first_(at);
                 at && !tcall_wc_pointer_names_(token, at);)
                at = tcall_wc_next_(tcall_wc_end_(tcall_wc_value_(at)));
            at = at ? tcall_wc_value_(at) : NULL;
        } else if (*at == '[' && p > token) {
            for (at = tcall_wc_first_(at); at && index; index--)
                at = tcall_wc_next_(tcall_wc_end_(at));
        } else {
            return NULL;
        }
    }
    return at;
}

/* ---- keywords ---- */

static uint8_t tcall_wc_keyword_(const char *key)
{
    uint8_t op;
    for (op = 1; op < TCALL_KEYWORD_COUNT_; op++) {
        const char *word = tcall_words_[op], *at = key + 1;
        while (*word && *word == *at) {
            word++;
            at++;
        }
        if (!*word && *at == '"')
            return op;
    }
    return 0;
}

static char tcall_wc_begins_(uint8_t op)
{
    static const char begins[] = {0,
#define TCALL_X_(NAME, keyword, begins) begins,
                                  TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
    };
    return begins[op];
}

static bool tcall_wc_is_schema_(const char *p)
{
    return *p == '{' || *p == 't' || *p == 'f';
}

static uint8_t tcall_wc_type_named_(const char *p)
{
    static const char *const names[] = {
        "\"null\"",   "\"boolean\"", "\"integer\"", "\"number\"",
        "\"string\"", "\"array\"",   "\"object\""};
    uint8_t i;
    for (i = 0; i < 7; i++)
        if (*p == '"' && tcall_wc_same_(names[i], p))
            return (uint8_t)(1 << i);
    return 0;
}

static void tcall_wc_types_(tcall_wc_compiler_ *c, tcall_node *node,
                            const char *p)
{
    const char *at = *p == '[' ? tcall_wc_first_(p) : p;
    node->types = 0;
    while (at) {
        uint8_t type = tcall_wc_type_named_(at);
        if (!type)
            tcall_wc_refuse_(
                c, at,
                "unknown type: use object, array, string, number, integer, boolean or null");
        node->types |= type;
        at = *p == '[' ? tcall_wc_next_(tcall_wc_end_(at)) : NULL;
    }
    if (!node->types)
        tcall_wc_refuse_(c, p, "no type: name one");
}

static tcall_node *tcall_wc_want_schema_(tcall_wc_compiler_ *c, const char *p)
{
    if (!tcall_wc_is_schema_(p))
        tcall_wc_refuse_(c, p, "wrong kind of value: use a schema");
    return tcall_wc_want_(c, p);
}

static void tcall_wc_nodes_(tcall_wc_compiler_ *c, tcall_row *row,
                            const char *p)
{
    uint16_t i = 0;
    const tcall_node **nodes;
    row->count = (uint16_t)tcall_wc_count_(p);
    nodes = (const tcall_node **)tcall_wc_alloc_(c, row->count * sizeof *nodes);
    row->of.nodes = nodes;
    if (!row->count)
        tcall_wc_refuse_(c, p,
                         "wrong kind of value: use an array that is not empty");
    for (p = tcall_wc_first_(p); p && nodes;
         p = tcall_wc_next_(tcall_wc_end_(p)))
        nodes[i++] = tcall_wc_want_schema_(c, p);
}

/* Of properties, dependentSchemas and prefixItems. */
static void tcall_wc_members_(tcall_wc_compiler_ *c, tcall_row *row,
                              const char *p)
{
    bool named = *p == '{';
    tcall_member *members;
    uint16_t i = 0;
    row->count = (uint16_t)tcall_wc_count_(p);
    members = (tcall_member *)tcall_wc_alloc_(c, row->count * sizeof *members);
    row->of.members = members;
    for (p = tcall_wc_first_(p); p && members;
         p = tcall_wc_next_(tcall_wc_end_(named ? tcall_wc_value_(p) : p))) {
        const char *value = named ? tcall_wc_value_(p) : p;
        if (row->on == TCALL_ON_DEPENDENT_ && *value == '[')
            continue; /* of dependencies: that is for NEEDED */
        if (!tcall_wc_is_schema_(value))
            tcall_wc_refuse_(c, value, "wrong kind of value: use a schema");
        members[i].name = named ? p : NULL;
        tcall_wc_wants_(c, value, &members[i++].node);
    }
    row->count = i;
}

static void tcall_wc_pattern_(tcall_wc_compiler_ *c, tcall_match *match,
                              const char *quote)
{
    tcall_str text = tcall_slice_(
        quote + 1, (size_t)(tcall_wc_string_end_(quote) - quote) - 2);
    tcall_pattern pattern;
    int r = tcall_pattern_compile(&pattern, text, TCALL_PATTERN_ESCAPED,
                                  c->block + c->low, c->high - c->low);
    match->text = quote;
    match->program = c->block + c->low;
    match->count = pattern.count;
    match->states = pattern.states;
    if (r == TCALL_E_INVALID)
        tcall_wc_refuse_(c, quote, pattern.reason);
    else if (r < 0)
        c->full = true;
    else
        c->low += tcall_wc_whole_words_((size_t)r);
    if (c->out->search < tcall_pattern_memory(&pattern))
        c->out->search = (uint32_t)tcall_pattern_memory(&pattern);
}

static void tcall_wc_patterns_(tcall_wc_compiler_ *c, tcall_row *row,
                               const char *p)
{
    bool one = row->on == TCALL_ON_PATTERN_;
    tcall_match *match;
    uint16_t i = 0;
    row->count = one ? 1 : (uint16_t)tcall_wc_count_(p);
    match = (tcall_match *)tcall_wc_alloc_(c, row->count * sizeof *match);
    row->of.match = match;
    if (one && match)
        tcall_wc_pattern_(c, match, p);
    for (p = one ? NULL : tcall_wc_first_(p); p && match;
         p = tcall_wc_next_(tcall_wc_end_(tcall_wc_value_(p)))) {
        tcall_wc_pattern_(c, &match[i], p);
        if (!tcall_wc_is_schema_(tcall_wc_value_(p)))
            tcall_wc_refuse_(c, p, "wrong kind of value: use a schema");
        tcall_wc_wants_(c, tcall_wc_value_(p), &match[i++].node);
    }
}

static void tcall_wc_number_of_(tcall_wc_compiler_ *c, tcall_row *row,
                                const char *p)
{
    tcall_num_ num = tcall_wc_num_(p);
    bool beyond;
    int32_t whole = tcall_wc_whole_(&num, &beyond);
    row->of.text = p;
    if (!beyond && whole == (int16_t)whole) {
        row->count = (uint16_t)whole;
        row->flags |= TCALL_ROW_SMALL_;
    }
    if (row->on >= TCALL_ON_MIN_LENGTH_) {
        row->of.number = (uint32_t)whole;
        if (!tcall_num_integral_(&num) || num.sign < 0)
            tcall_wc_refuse_(c, p,
                             "impossible count: use a whole number, 0 or more");
    } else if (row->on == TCALL_ON_MULTIPLE_ &&
               (num.sign <= 0 || tcall_num_digits_(&num) > 8)) {
        tcall_wc_refuse_(
            c, p,
            "unsupported divisor: use a number over 0 with at most 8 digits");
    }
}

static void tcall_wc_ref_(tcall_wc_compiler_ *c, tcall_row *row, const char *p)
{
    const char *to = NULL;
    c->ref = p;
    if (p[1] == '#' && (p[2] == '"' || p[2] == '/'))
        to = tcall_wc_pointed_(tcall_wc_space_(c->out->text), p + 2);
    if (!to || !tcall_wc_is_schema_(to))
        tcall_wc_refuse_(
            c, p,
            "$ref to nothing here: use a JSON Pointer such as #/$defs/name");
    else
        row->of.node = tcall_wc_want_same_(c, to);
}

static void tcall_wc_strings_(tcall_wc_compiler_ *c, const char *list)
{
    const char *p = *list == '[' ? tcall_wc_first_(list) : NULL;
    if (*list != '[')
        tcall_wc_refuse_(c, list, "wrong kind of value: use an array of names");
    for (; p; p = tcall_wc_next_(tcall_wc_end_(p)))
        if (*p != '"')
            tcall_wc_refuse_(c, p, "wrong kind of value: use a string");
}

static void tcall_wc_if_(tcall_wc_compiler_ *c, tcall_row *row,
                         const char *schema, const char *p)
{
    const tcall_node **nodes =
        (const tcall_node **)tcall_wc_alloc_(c, 3 * sizeof *nodes);
    const char *then = tcall_wc_get_(schema, "\"then\""),
               *other = tcall_wc_get_(schema, "\"else\"");
    row->of.nodes = nodes;
    if (!nodes)
        return;
    nodes[0] = tcall_wc_want_schema_(c, p);
    nodes[1] = then ? tcall_wc_want_schema_(c, then) : NULL;
    nodes[2] = other ? tcall_wc_want_schema_(c, other) : NULL;
}

/* Fills the row of one keyword. */
static void tcall_wc_fill_(tcall_wc_compiler_ *c, tcall_row *row,
                           const char *schema, const char *p)
{
    const char *key;
    switch (row->on) {
    case TCALL_ON_ALLOF_:
    case TCALL_ON_ANYOF_:
    case TCALL_ON_ONEOF_: tcall_wc_nodes_(c, row, p); break;
    case TCALL_ON_REF_: tcall_wc_ref_(c, row, p); break;
    case TCALL_ON_IF_: tcall_wc_if_(c, row, schema, p); break;
    case TCALL_ON_NOT_:
    case TCALL_ON_CONTAINS_:
    case TCALL_ON_OTHERS_:
    case TCALL_ON_ITEMS_:
    case TCALL_ON_NAMES_: row->of.node = tcall_wc_want_schema_(c, p); break;
    case TCALL_ON_DEPENDENT_:
    case TCALL_ON_PROPERTIES_:
    case TCALL_ON_PREFIX_: tcall_wc_members_(c, row, p); break;
    case TCALL_ON_PATTERNS_:
    case TCALL_ON_PATTERN_: tcall_wc_patterns_(c, row, p); break;
    case TCALL_ON_REQUIRED_:
        row->count = (uint16_t)tcall_wc_count_(p);
        tcall_wc_strings_(c, p);
        row->of.text = p;
        break;
    case TCALL_ON_NEEDED_:
        for (key = tcall_wc_first_(p); key;
             key = tcall_wc_next_(tcall_wc_end_(tcall_wc_value_(key))))
            if (*tcall_wc_value_(key) == '[')
                tcall_wc_strings_(c, tcall_wc_value_(key));
        row->of.text = p;
        break;
    case TCALL_ON_ENUM_:
    case TCALL_ON_CONST_:
    case TCALL_ON_UNIQUE_: row->of.text = p; break;
    default: tcall_wc_number_of_(c, row, p);
    }
}

/* The row that a keyword makes: 0: none. *also: one more. */
static uint8_t tcall_wc_row_op_(const tcall_wc_compiler_ *c, uint8_t op,
                                const char *p, const char *schema,
                                uint8_t *also)
{
    const char *items;
    *also = 0;
    switch (op) {
    case TCALL_ON_DEPENDENCIES_:
        *also = TCALL_ON_NEEDED_;
        return TCALL_ON_DEPENDENT_;
    case TCALL_ON_ITEMS_:
        return *p == '[' && c->draft == TCALL_DRAFT_7 ? TCALL_ON_PREFIX_ : op;
    case TCALL_ON_EXTRA_:
        items = tcall_wc_get_(schema, "\"items\"");
        return c->draft == TCALL_DRAFT_7 && items && *items == '['
                   ? TCALL_ON_ITEMS_
                   : 0;
    case TCALL_ON_PREFIX_: return c->draft == TCALL_DRAFT_7 ? 0 : op;
    case TCALL_ON_UNIQUE_: return *p == 't' ? op : 0;
    case TCALL_ON_DEPENDENT_:
    case TCALL_ON_NEEDED_:
    case TCALL_ON_MIN_CONTAINS_:
    case TCALL_ON_MAX_CONTAINS_: return c->draft == TCALL_DRAFT_7 ? 0 : op;
    default: return op < TCALL_ON_TYPE_ ? op : 0;
    }
}

/* Whether a $schema is one of json-schema.org. */
static bool tcall_wc_is_known_(const char *p)
{
    static const char host[] = "//json-schema.org/";
    const char *end = tcall_wc_string_end_(p);
    while (p < end && strncmp(p, host, sizeof host - 1) != 0)
        p++;
    return p < end;
}

/* What a keyword says that has no row; and what is refused. */
static void tcall_wc_check_keyword_(tcall_wc_compiler_ *c, tcall_node *node,
                                    const char *key, uint8_t op, const char *p)
{
    char begins = tcall_wc_begins_(op), type = tcall_wc_type_(p);
    bool list = op == TCALL_ON_ITEMS_ && *p == '[' && c->draft == TCALL_DRAFT_7;
    if (begins == '!')
        tcall_wc_refuse_(c, key, "unsupported keyword: leave it out");
    else if (begins == 's' ? !tcall_wc_is_schema_(p) && !list
                           : begins != '*' && begins != type)
        tcall_wc_refuse_(c, p, "wrong kind of value for this keyword");
    else if (op == TCALL_ON_TYPE_)
        tcall_wc_types_(c, node, p);
    else if (op == TCALL_ON_ID_ && tcall_wc_wish_at_(c, 0)->node != node &&
             *p == '"' && p[1] != '#')
        c->embedded = key;
    else if (op == TCALL_ON_SCHEMA_ && !tcall_wc_is_known_(p))
        tcall_wc_refuse_(
            c, p,
            "unknown $schema: use https://json-schema.org/draft/2020-12/schema");
}

/* Adds a row in the order of the keywords. */
static void tcall_wc_add_(tcall_row *rows, uint16_t count, const tcall_row *row)
{
    while (count && rows[count - 1].on > row->on) {
        rows[count] = rows[count - 1];
        count--;
    }
    rows[count] = *row;
}

/* Grants a wish. */
static void tcall_wc_grant_(tcall_wc_compiler_ *c, const tcall_wc_wish_ *wish)
{
    const char *schema = wish->at, *key, *ref;
    tcall_node *node = wish->node;
    uint16_t count = 0, filled = 0;
    tcall_row *rows = NULL, row;
    uint8_t op, also;
    node->types = *schema == 'f' ? 0 : TCALL_SHAPE_ANY;
    node->kind = TCALL_KIND_ROWS_;
    if (*schema != '{')
        return;
    ref = c->draft == TCALL_DRAFT_7 ? tcall_wc_find_(schema, "\"$ref\"") : NULL;
    for (key = ref ? ref : tcall_wc_first_(schema); key;
         key = ref ? NULL
                   : tcall_wc_next_(tcall_wc_end_(tcall_wc_value_(key)))) {
        op = tcall_wc_keyword_(key);
        if (!op)
            continue;
        tcall_wc_check_keyword_(c, node, key, op, tcall_wc_value_(key));
        count = (uint16_t)(count +
                           (tcall_wc_row_op_(c, op, tcall_wc_value_(key),
                                             schema, &also) != 0) +
                           (also != 0));
    }
    if (c->out->reason || !count)
        return;
    rows = (tcall_row *)tcall_wc_alloc_(c, count * sizeof *rows);
    for (key = ref ? ref : tcall_wc_first_(schema); key && rows;
         key = ref ? NULL
                   : tcall_wc_next_(tcall_wc_end_(tcall_wc_value_(key)))) {
        op = tcall_wc_keyword_(key);
        row.on =
            op ? tcall_wc_row_op_(c, op, tcall_wc_value_(key), schema, &also)
               : 0;
        row.flags = 0;
        row.count = 0;
        if (row.on) {
            tcall_wc_fill_(c, &row, schema, tcall_wc_value_(key));
            tcall_wc_add_(rows, filled++, &row);
        }
        if (row.on && also) {
            row.on = also;
            tcall_wc_fill_(c, &row, schema, tcall_wc_value_(key));
            tcall_wc_add_(rows, filled++, &row);
        }
    }
    if (rows)
        rows[count - 1].flags |= TCALL_ROW_LAST_;
    node->rows = rows;
}

/* ---- how many frames ---- */

static tcall_wc_wish_ *tcall_wc_wish_of_(const tcall_wc_compiler_ *c,
                                         const tcall_node *node)
{
    return tcall_wc_wish_at_(c, (uint32_t)(node->digits | node->flags << 8));
}

/* How many nodes a row has, and which. */
static uint16_t tcall_wc_row_nodes_(const tcall_row *row)
{
    switch (row->on) {
    case TCALL_ON_IF_: return 3;
    case TCALL_ON_REF_:
    case TCALL_ON_NOT_:
    case TCALL_ON_CONTAINS_:
    case TCALL_ON_OTHERS_:
    case TCALL_ON_ITEMS_:
    case TCALL_ON_NAMES_: return 1;
    default: return row->count;
    }
}

static const tcall_node *tcall_wc_row_node_(const tcall_row *row, uint16_t k)
{
    switch (row->on) {
    case TCALL_ON_ALLOF_:
    case TCALL_ON_ANYOF_:
    case TCALL_ON_ONEOF_:
    case TCALL_ON_IF_: return row->of.nodes[k];
    case TCALL_ON_DEPENDENT_:
    case TCALL_ON_PROPERTIES_:
    case TCALL_ON_PREFIX_: return &row->of.members[k].node;
    case TCALL_ON_PATTERNS_: return &row->of.match[k].node;
    default: return row->of.node;
    }
}

/* What a row adds: frames of the same value, and the most of one within it. */
static void tcall_wc_measure_row_(const tcall_wc_compiler_ *c,
                                  const tcall_row *row, uint32_t *width,
                                  uint32_t *frames, uint32_t *within)
{
    static const uint8_t own[] = {0, 0, 0, 2, 2,
                                  1, 3, 1, 0}; /* slots of groups */
    uint16_t k, each = row->on == TCALL_ON_DEPENDENT_ ? 2 : 0;
    if (row->on > TCALL_ON_NAMES_)
        return;
    *width += row->on <= TCALL_ON_DEPENDENT_ ? own[row->on] : 0;
    *frames += row->on <= TCALL_ON_DEPENDENT_ ? own[row->on] : 0;
    for (k = 0; k < tcall_wc_row_nodes_(row); k++) {
        const tcall_node *node = tcall_wc_row_node_(row, k);
        const tcall_wc_wish_ *wish = node ? tcall_wc_wish_of_(c, node) : NULL;
        if (!wish)
            continue;
        if (row->on > TCALL_ON_DEPENDENT_ || row->on == TCALL_ON_CONTAINS_) {
            *within = *within < wish->frames ? wish->frames : *within;
        } else {
            *width += wish->width + each;
            *frames += wish->frames + each;
        }
    }
}

static bool tcall_wc_measure_(tcall_wc_compiler_ *c, bool widths)
{
    bool changed = false;
    uint32_t i = c->wishes;
    while (i--) {
        tcall_wc_wish_ *wish = tcall_wc_wish_at_(c, i);
        uint32_t width = 1, frames = 1, within = 0;
        const tcall_row *row = wish->node->rows;
        for (; row; row = tcall_row_next_(row))
            tcall_wc_measure_row_(c, row, &width, &frames, &within);
        frames = frames + within < TCALL_NONE_ ? frames + within : TCALL_NONE_;
        width = width < TCALL_NONE_ ? width : TCALL_NONE_;
        changed =
            changed || (widths ? width != wish->width : frames != wish->frames);
        wish->width = (uint16_t)width;
        wish->frames = (uint16_t)frames;
    }
    return changed;
}

static void tcall_wc_measure_all_(tcall_wc_compiler_ *c)
{
    uint32_t i;
    int passes = 0;
    while (tcall_wc_measure_(c, true) && passes < TCALL_PASSES_)
        passes++;
    for (i = 0; i < c->wishes; i++) {
        const tcall_wc_wish_ *wish = tcall_wc_wish_at_(c, i);
        if (passes == TCALL_PASSES_ && wish->width > TCALL_PASSES_)
            tcall_wc_refuse_(
                c, wish->at,
                "this schema applies to itself: give it a property or items between");
        if (wish->width > TOOLCALL_MAX_FRAMES)
            tcall_wc_refuse_(c, wish->at,
                             "too many alternatives at one value: use fewer");
        if (c->out->width < wish->width)
            c->out->width = wish->width;
    }
    for (passes = 0; tcall_wc_measure_(c, false) && passes < TCALL_PASSES_;)
        passes++;
    c->out->frames =
        passes == TCALL_PASSES_ ? TCALL_NONE_ : tcall_wc_wish_at_(c, 0)->frames;
}

/* Notes the lengths of the names of properties. */
static void tcall_wc_measure_names_(const tcall_row *list)
{
    uint16_t i;
    for (i = 0; list && i < list->count; i++) {
        tcall_member *member = (tcall_member *)(uintptr_t)&list->of.members[i];
        size_t len =
            (size_t)(tcall_wc_string_end_(member->name) - member->name);
        if (len <= UINT8_MAX && !memchr(member->name, '\\', len))
            member->node.digits = (uint8_t)len;
    }
}

/* Notes the lengths of the names of properties, and marks those that are
 * required: mostly all that are. */
static void tcall_wc_mark_required_(tcall_node *node)
{
    tcall_row *row =
        (tcall_row *)(uintptr_t)tcall_row_of_(node, TCALL_ON_REQUIRED_);
    const tcall_row *list = tcall_row_of_(node, TCALL_ON_PROPERTIES_);
    const char *name = row ? tcall_wc_first_(row->of.text) : NULL;
    uint16_t i = TCALL_NONE_;
    tcall_wc_measure_names_(list);
    if (list && list == node->rows &&
        !tcall_row_of_(node, TCALL_ON_PATTERNS_) &&
        !tcall_row_of_(node, TCALL_ON_NAMES_))
        node->flags |= TCALL_NODE_FIELDS_;
    for (; name && list; name = tcall_wc_next_(tcall_wc_end_(name))) {
        i = tcall_member_of_(list, (uint16_t)(i + 1), name, 0);
        if (i >= 32)
            return;
        ((tcall_member *)(uintptr_t)list->of.members)[i].node.flags |=
            TCALL_NODE_MUST_;
    }
    if (row && list)
        row->flags |= TCALL_ROW_MUSTS_;
}

int tcall_schema_compile(tcall_schema *out, tcall_str str, void *block,
                         size_t size, tcall_draft draft)
{
    const char *text = str.ptr;
    tcall_wc_compiler_ c;
    uint32_t i;
    memset(&c, 0, sizeof c);
    memset(out, 0, sizeof *out);
    out->text = text;
    c.out = out;
    c.block = (char *)block;
    c.size = c.high = size / sizeof(void *) * sizeof(void *);
    c.draft = draft >= TCALL_DRAFT_7 ? TCALL_DRAFT_7 : TCALL_DRAFT_2020;
    out->root = tcall_wc_want_schema_(&c, tcall_wc_space_(text));
    for (i = 0; i < c.wishes && !c.full && !out->reason; i++)
        tcall_wc_grant_(&c, tcall_wc_wish_at_(&c, i));
    if (c.ref && c.embedded)
        tcall_wc_refuse_(&c, c.embedded,
                         "$id within a schema that has $refs: leave it out");
    if (!c.full && !out->reason)
        tcall_wc_measure_all_(&c);
    out->used = c.low;
    out->need = size - c.high + c.low;
    for (i = 0; i < c.wishes; i++)
        tcall_wc_wish_at_(&c, i)->node->digits =
            tcall_wc_wish_at_(&c, i)->node->flags = 0;
    for (i = 0; i < c.wishes && !c.full && !out->reason; i++)
        tcall_wc_mark_required_(tcall_wc_wish_at_(&c, i)->node);
    return out->reason ? TCALL_E_SCHEMA
           : c.full    ? TCALL_E_MEMORY
                       : (int)out->used;
}

#endif /* TOOLCALL_NO_SCHEMA */
