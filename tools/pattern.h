/*
 * pattern.h - regular expressions and globs, searched in linear time
 *
 *     ttool_pattern p;
 *     r = ttool_pattern_compile(&p, text, TTOOL_LINES, memory, sizeof memory);
 *     r < 0: p.reason at p.at
 *     end = ttool_pattern_find(&p, bytes, bytes + n);
 *
 * A pattern becomes a small program of byte ranges and forks (Thompson's
 * construction); the sets of instructions that are active together become
 * states of an automaton, made when they are first met and kept in the
 * caller's memory as long as there is room. A byte then costs one look into a
 * table, and a byte that needs a new state costs no more than the size of the
 * pattern. Nothing ever backs up, whatever the pattern is.
 *
 * Syntax: . [a-z] [^a-z] [[:alpha:]] \d \w \s \D \W \S \b \B ^ $ (a|b) (?:a)
 * a* a+ a? a{2} a{2,} a{2,5}, lazy forms of these, \t \n \r \f \v \0 \xHH
 * \uHHHH, (?i) at the start. A { that begins no count is itself. Characters
 * are those of UTF-8; what is not UTF-8 is matched by nothing. Back references
 * and look-around are refused: they have no linear time.
 *
 * Needs _GNU_SOURCE before the first system header (memmem, memrchr).
 */
#ifndef TTOOL_PATTERN_H
#define TTOOL_PATTERN_H

#include "tools/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Most instructions of one pattern, counted repetitions written out. */
#ifndef TTOOL_MAX_PATTERN
#define TTOOL_MAX_PATTERN 4096
#endif

/* Memory for so many. With less, as little as TTOOL_PATTERN_LEAST, a pattern
 * has to be smaller: one instruction for each 32 bytes above 8 KB. */
#define TTOOL_PATTERN_MEMORY (TTOOL_MAX_PATTERN * 32 + 8192)
#define TTOOL_PATTERN_LEAST  (16 * 1024)

enum {
    TTOOL_LINES = 1, /* text is lines: ^ and $ are their ends */
    TTOOL_GLOB = 2,  /* of paths: * ? ** [a-z] {a,b}; the whole must match */
    TTOOL_FOLD = 4   /* A to Z are a to z */
};

typedef struct ttool_inst_ {
    uint8_t op, low, high, unused;
    int16_t x, y; /* where to go on, relative; x of a set: its index */
} ttool_inst_;

typedef struct ttool_pattern {
    const char *reason; /* why it was refused, or NULL */
    size_t at;          /* where in the text */
    /* private */
    unsigned flags;
    ttool_inst_ *code;
    uint32_t (*sets)[4]; /* of ASCII characters */
    uint16_t most, count, set_count, kinds, closure_count;
    uint16_t *marks, *closure, *stack; /* count of each */
    uint8_t kind[256];                 /* bytes that no instruction parts */
    bool words, begins;                /* \b or ^ occurs */
    bool only_literal;
    char literal[64]; /* bytes that are in every match */
    size_t literal_len;
    uint32_t *states, capacity, used, start, round;
    uint32_t state; /* behind the last piece */
    uint32_t heads[256];
} ttool_pattern;

/* TCALL_OK, TCALL_E_INVALID with reason and at, or TCALL_E_MEMORY. p and
 * memory belong together and must not move. */
int ttool_pattern_compile(ttool_pattern *p, tcall_str text, unsigned flags,
                          void *memory, size_t size);
/* Where the first match in [from, to) ends, as early as that is certain; with
 * TTOOL_LINES it lies in one line. NULL: no match. */
const char *ttool_pattern_find(ttool_pattern *p, const char *from,
                               const char *to);
/* The same for a line that comes in pieces; ends: this one is its last. p is
 * not used for anything else between them. */
const char *ttool_pattern_piece(ttool_pattern *p, const char *from,
                                const char *to, bool begins, bool ends);

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_PATTERN_H */

#if defined TTOOL_IMPLEMENTATION && !defined TTOOL_PATTERN_IMPLEMENTED_
#define TTOOL_PATTERN_IMPLEMENTED_

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TTOOL_RANGE_, /* a byte from low to high */
    TTOOL_SET_,   /* an ASCII character of a set */
    TTOOL_FORK_,
    TTOOL_JUMP_,
    TTOOL_BEGIN_,
    TTOOL_END_,
    TTOOL_WORD_,
    TTOOL_NOT_WORD_,
    TTOOL_MATCH_
};

/* -- Parsing -------------------------------------------------------------- */

#define TTOOL_GROUPS_ 32   /* that may be open at once */
#define TTOOL_RANGES_ 64   /* in one [...] */
#define TTOOL_SETS_   64   /* different ones of ASCII characters */
#define TTOOL_REPEAT_ 1000 /* largest count */
#define TTOOL_LAST_   0x10FFFF

typedef struct ttool_parse_ {
    ttool_pattern *out;
    const char *from, *at, *end;
    int depth;
    char run[64]; /* the literal that is growing */
    size_t run_len;
} ttool_parse_;

/* Code points in pairs, from and to; or all others. */
typedef struct ttool_class_ {
    int32_t range[TTOOL_RANGES_ * 2];
    int count;
    bool others;
} ttool_class_;

static void ttool_refuse_(ttool_parse_ *s, const char *reason)
{
    if (!s->out->reason) {
        s->out->reason = reason;
        s->out->at = (size_t)(s->at - s->from);
    }
    s->at = s->end; /* ends all loops */
}

static ttool_inst_ *ttool_insert_(ttool_parse_ *s, uint16_t at, int op)
{
    ttool_pattern *p = s->out;
    ttool_inst_ *i = &p->code[at];
    if (p->count >= p->most) {
        ttool_refuse_(s, "the pattern is too large");
        p->count = at;
        return &p->code[p->most];
    }
    memmove(i + 1, i, (size_t)(p->count - at) * sizeof *i);
    memset(i, 0, sizeof *i);
    i->op = (uint8_t)op;
    p->count++;
    return i;
}

static ttool_inst_ *ttool_emit_(ttool_parse_ *s, int op)
{
    return ttool_insert_(s, s->out->count, op);
}

static void ttool_emit_range_(ttool_parse_ *s, int low, int high)
{
    ttool_inst_ *i = ttool_emit_(s, TTOOL_RANGE_);
    i->low = (uint8_t)low;
    i->high = (uint8_t)high;
}

/* What begins at start, or what begins at second. Code is relative, so it can
 * be moved: that is how the fork gets in front. */
static void ttool_either_(ttool_parse_ *s, uint16_t start, uint16_t second)
{
    ttool_inst_ *i = ttool_insert_(s, start, TTOOL_FORK_);
    i->x = 1;
    i->y = (int16_t)(second - start + 2);
    second++;
    i = ttool_insert_(s, second, TTOOL_JUMP_);
    i->x = (int16_t)(s->out->count - second);
}

/* -- Characters ----------------------------------------------------------- */

/* The next character of the pattern, -1 at its end. */
static int32_t ttool_next_(ttool_parse_ *s)
{
    uint8_t c, more;
    int32_t cp;
    if (s->at >= s->end)
        return -1;
    c = (uint8_t)*s->at++;
    more = c < 0xC0 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
    cp = more ? c & (0x3F >> more) : c;
    for (; more && s->at < s->end; more--)
        cp = cp << 6 | (*s->at++ & 0x3F);
    return cp;
}

static bool ttool_take_char_(ttool_parse_ *s, char c)
{
    bool there = s->at < s->end && *s->at == c;
    s->at += there;
    return there;
}

static void ttool_class_add_(ttool_parse_ *s, ttool_class_ *c, int32_t low,
                             int32_t high)
{
    if (c->count == TTOOL_RANGES_) {
        ttool_refuse_(s, "too many characters in [...]");
        return;
    }
    c->range[c->count * 2] = low;
    c->range[c->count++ * 2 + 1] = high;
}

/* Sorted, and neighbours joined. */
static void ttool_class_sort_(ttool_class_ *c)
{
    int i, k, n = 0;
    int32_t *r = c->range;
    for (i = 1; i < c->count; i++)
        for (k = i; k > 0 && r[k * 2] < r[k * 2 - 2]; k--) {
            int32_t low = r[k * 2], high = r[k * 2 + 1];
            r[k * 2] = r[k * 2 - 2], r[k * 2 + 1] = r[k * 2 - 1];
            r[k * 2 - 2] = low, r[k * 2 - 1] = high;
        }
    for (i = 0; i < c->count; i++) {
        if (n && r[i * 2] <= r[n * 2 - 1] + 1) {
            if (r[i * 2 + 1] > r[n * 2 - 1])
                r[n * 2 - 1] = r[i * 2 + 1];
            continue;
        }
        r[n * 2] = r[i * 2];
        r[n++ * 2 + 1] = r[i * 2 + 1];
    }
    c->count = n;
}

/* All characters but those of `set`, which is sorted. */
static void ttool_class_others_(ttool_parse_ *s, ttool_class_ *c,
                                const ttool_class_ *set)
{
    int32_t from = 0;
    int i;
    for (i = 0; i < set->count; i++) {
        if (set->range[i * 2] > from)
            ttool_class_add_(s, c, from, set->range[i * 2] - 1);
        from = set->range[i * 2 + 1] + 1;
    }
    if (from <= TTOOL_LAST_)
        ttool_class_add_(s, c, from, TTOOL_LAST_);
}

/* d, w, s, and names in [[:...:]]; ranges as pairs of characters. */
static const struct ttool_named_ {
    char name[8];
    char ranges[14];
} ttool_named_[] = {
    {"d", "09"},          {"w", "09AZ__az"},     {"s", "\t\r  "},
    {"digit", "09"},      {"alpha", "AZaz"},     {"alnum", "09AZaz"},
    {"space", "\t\r  "},  {"upper", "AZ"},       {"lower", "az"},
    {"xdigit", "09AFaf"}, {"punct", "!/:@[`{~"}, {"blank", "\t\t  "},
};

/* False: there is no class of this name. */
static bool ttool_class_named_(ttool_parse_ *s, ttool_class_ *c,
                               const char *name, size_t len, bool others)
{
    ttool_class_ set;
    size_t i;
    const char *r;
    int before = c->count;
    set.count = 0;
    for (i = 0; i < TCALL_ARRAY_LEN(ttool_named_); i++)
        if (strlen(ttool_named_[i].name) == len &&
            memcmp(ttool_named_[i].name, name, len) == 0)
            for (r = ttool_named_[i].ranges; *r; r += 2)
                ttool_class_add_(s, others ? &set : c, r[0], r[1]);
    if (others)
        ttool_class_others_(s, c, &set);
    return c->count > before;
}

static int32_t ttool_hex_(ttool_parse_ *s, int digits)
{
    int32_t v = 0;
    for (; digits; digits--) {
        int32_t d = ttool_next_(s), low = d | 0x20;
        if (d >= '0' && d <= '9')
            v = v << 4 | (d - '0');
        else if (low >= 'a' && low <= 'f')
            v = v << 4 | (low - 'a' + 10);
        else
            ttool_refuse_(s, "\\x needs two, \\u four hexadecimal digits");
    }
    return v;
}

/* Behind a backslash: one character, or -1 and the class has become more. */
static int32_t ttool_escape_(ttool_parse_ *s, ttool_class_ *c)
{
    static const char controls[] = "t\tn\nr\rf\fv\v";
    int32_t ch = ttool_next_(s);
    const char *p;
    char low = (char)(ch | 0x20);
    if (ch < 0) {
        ttool_refuse_(s, "a backslash ends the pattern");
        return 0;
    }
    if (ch < 0x80 && (low == 'd' || low == 'w' || low == 's')) {
        ttool_class_named_(s, c, &low, 1, ch != low);
        return -1;
    }
    for (p = controls; *p; p += 2)
        if (ch == *p)
            return p[1];
    if (ch == '0')
        return 0;
    if (ch == 'x' || ch == 'u')
        return ttool_hex_(s, ch == 'x' ? 2 : 4);
    if (ch >= '1' && ch <= '9')
        ttool_refuse_(s, "back references are not supported");
    else if (ch < 0x80 && low >= 'a' && low <= 'z')
        ttool_refuse_(s, "unknown escape");
    return ch;
}

/* Behind '['. */
static void ttool_parse_class_(ttool_parse_ *s, ttool_class_ *c)
{
    bool glob = s->out->flags & TTOOL_GLOB, first = true;
    c->others = ttool_take_char_(s, '^') || (glob && ttool_take_char_(s, '!'));
    if (glob && c->others)
        ttool_class_add_(s, c, '/', '/');
    for (; first || s->at >= s->end || *s->at != ']'; first = false) {
        int32_t low, high;
        if (s->end - s->at > 1 && s->at[0] == '[' && s->at[1] == ':') {
            const char *name = s->at + 2;
            const char *close =
                (const char *)memmem(name, (size_t)(s->end - name), ":]", 2);
            if (close &&
                ttool_class_named_(s, c, name, (size_t)(close - name), false)) {
                s->at = close + 2;
                continue;
            }
        }
        low = ttool_next_(s);
        if (low < 0) {
            ttool_refuse_(s, "[ without ]");
            return;
        }
        if (low == '\\')
            low = ttool_escape_(s, c);
        if (low < 0)
            continue;
        high = low;
        if (s->end - s->at > 1 && s->at[0] == '-' && s->at[1] != ']') {
            s->at++;
            high = ttool_next_(s);
            if (high == '\\')
                high = ttool_escape_(s, c);
            if (high < low)
                ttool_refuse_(s, "a range in [...] runs backwards");
        }
        ttool_class_add_(s, c, low, high);
    }
    s->at++;
}

/* -- Characters as bytes -------------------------------------------------- */

static void ttool_emit_set_(ttool_parse_ *s, const uint32_t set[4])
{
    ttool_pattern *p = s->out;
    uint16_t i;
    for (i = 0; i < p->set_count; i++)
        if (memcmp(p->sets[i], set, sizeof p->sets[i]) == 0)
            break;
    if (i == TTOOL_SETS_) {
        ttool_refuse_(s, "too many different [...]");
        return;
    }
    if (i == p->set_count)
        memcpy(p->sets[p->set_count++], set, sizeof p->sets[i]);
    ttool_emit_(s, TTOOL_SET_)->x = (int16_t)i;
}

/* What was emitted since `second` is one more choice of what is at start. */
static void ttool_choice_(ttool_parse_ *s, uint16_t start, uint16_t second)
{
    if (second > start && !s->out->reason)
        ttool_either_(s, start, second);
}

/* All characters from low to high, none of them ASCII. They are split until
 * the bytes of each part are ranges that do not depend on each other. */
static void ttool_emit_wide_(ttool_parse_ *s, uint16_t start, int32_t low,
                             int32_t high)
{
    uint8_t a[4], b[4];
    uint16_t second = s->out->count;
    int i, n;
    int32_t ends[] = {0x7FF, 0xFFFF}, part;
    for (i = 0; i < 2; i++)
        if (low <= ends[i] && high > ends[i]) {
            ttool_emit_wide_(s, start, low, ends[i]);
            ttool_emit_wide_(s, start, ends[i] + 1, high);
            return;
        }
    for (part = 0x3F; part < high; part = part << 6 | 0x3F) {
        if ((low | part) == (high | part))
            break;
        if (low & part) {
            ttool_emit_wide_(s, start, low, low | part);
            ttool_emit_wide_(s, start, (low | part) + 1, high);
            return;
        }
        if ((high & part) != part) {
            ttool_emit_wide_(s, start, low, (high & ~part) - 1);
            ttool_emit_wide_(s, start, high & ~part, high);
            return;
        }
    }
    n = ttool_utf8_(a, low);
    ttool_utf8_(b, high);
    for (i = 0; i < n; i++)
        ttool_emit_range_(s, a[i], b[i]);
    ttool_choice_(s, start, second);
}

/* The same for all of them: a continuation byte that cannot follow its lead
 * byte passes here, which is shorter and harms nobody. */
static void ttool_emit_all_wide_(ttool_parse_ *s, uint16_t start)
{
    static const uint8_t leads[][2] = {
        {0xC2, 0xDF}, {0xE0, 0xEF}, {0xF0, 0xF4}};
    int i, k;
    for (i = 0; i < 3; i++) {
        uint16_t second = s->out->count;
        ttool_emit_range_(s, leads[i][0], leads[i][1]);
        for (k = 0; k <= i; k++)
            ttool_emit_range_(s, 0x80, 0xBF);
        ttool_choice_(s, start, second);
    }
    if (s->out->flags & TTOOL_GLOB) { /* names may be any bytes */
        uint16_t second = s->out->count;
        ttool_emit_range_(s, 0x80, 0xFF);
        ttool_choice_(s, start, second);
    }
}

static void ttool_emit_class_(ttool_parse_ *s, ttool_class_ *c)
{
    uint16_t start = s->out->count;
    uint32_t set[4] = {0, 0, 0, 0};
    ttool_class_ others;
    int i, k;
    ttool_class_sort_(c);
    for (i = 0; i < c->count; i++)
        for (k = c->range[i * 2]; k <= c->range[i * 2 + 1] && k < 0x80; k++)
            set[k >> 5] |= (uint32_t)1 << (k & 31);
    if (s->out->flags & TTOOL_FOLD) { /* of both words the bits of letters */
        uint32_t letters = (set[2] | set[3]) & 0x07FFFFFE;
        set[2] |= letters;
        set[3] |= letters;
    }
    if (c->others) {
        for (i = 0; i < 4; i++)
            set[i] = ~set[i];
        others.count = 0;
        ttool_class_others_(s, &others, c);
        c = &others;
    }
    if (s->out->flags & TTOOL_LINES)
        set[0] &= ~((uint32_t)1 << '\n');
    if (set[0] | set[1] | set[2] | set[3])
        ttool_emit_set_(s, set);
    for (i = 0; i < c->count && !s->out->reason; i++) {
        int32_t low = c->range[i * 2], high = c->range[i * 2 + 1];
        low = low < 0x80 ? 0x80 : low;
        if (low == 0x80 && high == TTOOL_LAST_)
            ttool_emit_all_wide_(s, start);
        else if (low <= high)
            ttool_emit_wide_(s, start, low, high);
    }
    if (s->out->count == start)
        ttool_emit_range_(s, 1, 0); /* matches nothing */
}

/* -- Expressions ---------------------------------------------------------- */

static void ttool_parse_either_(ttool_parse_ *s);

static void ttool_literal_break_(ttool_parse_ *s)
{
    ttool_pattern *p = s->out;
    if (s->run_len > p->literal_len) {
        memcpy(p->literal, s->run, s->run_len);
        p->literal_len = s->run_len;
    }
    s->run_len = 0;
}

static void ttool_parse_char_(ttool_parse_ *s, int32_t ch)
{
    uint8_t bytes[4];
    int n = ttool_utf8_(bytes, ch), i;
    if (ch == '\n' && s->out->flags & TTOOL_LINES)
        ttool_refuse_(s, "lines are searched one by one: no \\n");
    for (i = 0; i < n; i++)
        ttool_emit_range_(s, bytes[i], bytes[i]);
}

static void ttool_parse_group_(ttool_parse_ *s)
{
    if (ttool_take_char_(s, '?') && !ttool_take_char_(s, ':')) {
        ttool_refuse_(s, "only (?:...) is supported, and (?i) at the start; "
                         "no look-around");
        return;
    }
    if (++s->depth > TTOOL_GROUPS_) {
        ttool_refuse_(s, "groups are nested too deeply");
        return;
    }
    ttool_parse_either_(s);
    s->depth--;
    if (!ttool_take_char_(s, ')'))
        ttool_refuse_(s, "( without )");
}

/* The literal character that was parsed, else -1. */
static int32_t ttool_parse_atom_(ttool_parse_ *s)
{
    ttool_class_ c;
    int32_t ch = ttool_next_(s);
    c.count = 0;
    c.others = false;
    switch (ch) {
    case '(': ttool_parse_group_(s); return -1;
    case '[':
        ttool_parse_class_(s, &c);
        ch = -1;
        break;
    case '.':
        c.others = true;
        ch = -1;
        break;
    case '^': ttool_emit_(s, TTOOL_BEGIN_); return -1;
    case '$': ttool_emit_(s, TTOOL_END_); return -1;
    case '*':
    case '+':
    case '?': ttool_refuse_(s, "nothing to repeat"); return -1;
    case '\\':
        if (s->at < s->end && (*s->at | 0x20) == 'b') {
            ttool_emit_(s, *s->at == 'b' ? TTOOL_WORD_ : TTOOL_NOT_WORD_);
            s->at++;
            return -1;
        }
        ch = ttool_escape_(s, &c);
        break;
    default: break;
    }
    if (ch >= 0 && (ch >= 0x80 || !(s->out->flags & TTOOL_FOLD))) {
        ttool_parse_char_(s, ch);
        return ch;
    }
    if (ch >= 0)
        ttool_class_add_(s, &c, ch, ch);
    ttool_emit_class_(s, &c);
    return -1;
}

static int ttool_number_(const char **at, const char *end)
{
    int n = -1;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
        n = n > TTOOL_REPEAT_ ? n : (n < 0 ? 0 : n * 10) + (**at - '0');
    return n;
}

/* Steps over a quantifier; false: there is none. max < 0: no end. */
static bool ttool_quantifier_(ttool_parse_ *s, int *min, int *max)
{
    const char *p = s->at;
    char c = p < s->end ? *p : '\0';
    if (c == '*' || c == '+' || c == '?') {
        *min = c == '+';
        *max = c == '?' ? 1 : -1;
    } else if (c == '{') {
        p++;
        *min = *max = ttool_number_(&p, s->end);
        if (*min >= 0 && p < s->end && *p == ',') {
            p++;
            *max = ttool_number_(&p, s->end);
        }
        if (*min < 0 || p >= s->end || *p != '}')
            return false; /* an ordinary brace */
        if ((*max >= 0 && *max < *min) || *min > TTOOL_REPEAT_ ||
            *max > TTOOL_REPEAT_) {
            ttool_refuse_(s, "a count in {} is too large, or runs backwards");
            return false;
        }
    } else {
        return false;
    }
    s->at = p + 1;
    ttool_take_char_(s, '?');
    return true;
}

/* The code from start on, min to max times. */
static void ttool_repeat_(ttool_parse_ *s, uint16_t start, int min, int max)
{
    ttool_pattern *p = s->out;
    uint16_t size = (uint16_t)(p->count - start);
    int copies = max > min ? max : min > 0 ? min : 1, i;
    if (size == 0)
        return;
    if (max == 0) {
        p->count = start;
        return;
    }
    if ((size_t)(size + 2) * (size_t)copies + start > p->most) {
        ttool_refuse_(s, "the pattern is too large");
        return;
    }
    for (i = 1; i < copies; i++, p->count = (uint16_t)(p->count + size))
        memcpy(&p->code[start + i * size], &p->code[start],
               size * sizeof p->code[0]);
    if (max < 0) { /* the last copy again and again */
        uint16_t last = (uint16_t)(p->count - size);
        ttool_inst_ *f = ttool_emit_(s, TTOOL_FORK_);
        f->x = 1;
        f->y = (int16_t)-size;
        if (min == 0) {
            f = ttool_insert_(s, last, TTOOL_FORK_);
            f->x = 1;
            f->y = (int16_t)(size + 2);
        }
        return;
    }
    for (i = copies; i > min; i--) { /* from the last copy to the first */
        uint16_t copy = (uint16_t)(start + (i - 1) * size);
        ttool_inst_ *f = ttool_insert_(s, copy, TTOOL_FORK_);
        f->x = 1;
        f->y = (int16_t)(p->count - copy);
    }
}

static void ttool_parse_sequence_(ttool_parse_ *s)
{
    while (s->at < s->end && *s->at != '|' && *s->at != ')') {
        uint16_t start = s->out->count;
        int32_t ch = ttool_parse_atom_(s);
        int min = 1, max = 1;
        bool counted = !s->out->reason && ttool_quantifier_(s, &min, &max);
        if (counted)
            ttool_repeat_(s, start, min, max);
        if (s->depth)
            continue;
        if (ch < 0 || counted || s->run_len + 4 > sizeof s->run)
            ttool_literal_break_(s);
        if (ch >= 0 && !counted)
            s->run_len +=
                (size_t)ttool_utf8_((uint8_t *)s->run + s->run_len, ch);
    }
}

static void ttool_parse_either_(ttool_parse_ *s)
{
    uint16_t start = s->out->count;
    ttool_parse_sequence_(s);
    while (ttool_take_char_(s, '|')) {
        uint16_t second = s->out->count;
        ttool_parse_sequence_(s);
        if (!s->depth) /* nothing is in every match */
            s->run_len = s->out->literal_len = 0;
        if (!s->out->reason)
            ttool_either_(s, start, second);
    }
}

/* A glob of paths as an expression. Stars stop at a slash, two of them do
 * not, and a leading dot is a character like any other. */
static size_t ttool_glob_(char *out, size_t cap, tcall_str glob)
{
    size_t n = 0, i = 0;
    int braces = 0;
    bool set = false;
    while (i < glob.len && n + 8 < cap) {
        const char *p = glob.ptr + i, *add = NULL;
        size_t left = glob.len - i, took = 1;
        bool start = i == 0 || p[-1] == '/';
        if (set) {
            set = *p != ']';
        } else if (start && left > 2 && memcmp(p, "**/", 3) == 0) {
            add = "(.*/)?", took = 3;
        } else if (left > 1 && p[0] == '*' && p[1] == '*') {
            add = ".*", took = 2;
        } else if (*p == '*') {
            add = "[^/]*";
        } else if (*p == '?') {
            add = "[^/]";
        } else if (*p == '{') {
            add = "(", braces++;
        } else if (*p == '}' && braces) {
            add = ")", braces--;
        } else if (*p == ',' && braces) {
            add = "|";
        } else if (*p == '[' && memchr(p, ']', left)) {
            set = true;
        } else if (*p == '\\' && left > 1) {
            out[n++] = *p++;
            took = 2;
        } else if (strchr(".+^$()|[{}", *p)) {
            out[n++] = '\\';
        }
        if (add) {
            memcpy(out + n, add, strlen(add));
            n += strlen(add);
        } else {
            out[n++] = *p;
        }
        i += took;
    }
    return i < glob.len ? cap : n;
}

/* -- The automaton -------------------------------------------------------- */

/* A state in p->states: this head, a word for each kind of byte and one for
 * the end of the text, then its instructions, two to a word. A word is the
 * state that comes next; 0: not known yet. */
enum { TTOOL_LINK_, TTOOL_HASH_, TTOOL_SIZE_, TTOOL_BEFORE_, TTOOL_HEAD_ };
enum { TTOOL_OTHER_BEFORE_, TTOOL_WORD_BEFORE_, TTOOL_START_BEFORE_ };
#define TTOOL_FOUND_ 0x80000000u

static bool ttool_is_word_(unsigned c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= 'a' && c <= 'z');
}

static bool ttool_takes_(const ttool_pattern *p, const ttool_inst_ *i,
                         unsigned byte)
{
    if (i->op == TTOOL_SET_)
        return byte < 0x80 && p->sets[i->x][byte >> 5] >> (byte & 31) & 1;
    return i->op == TTOOL_RANGE_ && i->low <= byte && byte <= i->high;
}

/* Bytes that all instructions treat alike get the same number. */
static void ttool_kinds_(ttool_pattern *p)
{
    unsigned b;
    uint16_t i;
    p->kinds = 0;
    for (b = 0; b < 256; b++) {
        bool part = b == 0 || (p->flags & TTOOL_LINES && b - '\n' < 2) ||
                    (p->words && ttool_is_word_(b) != ttool_is_word_(b - 1));
        for (i = 0; i < p->count && !part; i++)
            part = ttool_takes_(p, &p->code[i], b) !=
                   ttool_takes_(p, &p->code[i], b - 1);
        p->kinds = (uint16_t)(p->kinds + part);
        p->kind[b] = (uint8_t)(p->kinds - 1);
    }
}

static void ttool_forget_(ttool_pattern *p)
{
    p->used = 1;
    p->start = 0;
    p->round++;
    memset(p->heads, 0, sizeof p->heads);
}

/* The state with the instructions that are marked: it is there, or is made.
 * Without room all others are forgotten. */
static uint32_t ttool_state_(ttool_pattern *p, unsigned before)
{
    uint32_t hash = before * 31u, at, need, *s;
    uint16_t n = 0, i;
    for (i = 0; i < p->count; i++)
        if (p->marks[i]) {
            p->closure[n++] = i;
            hash = (hash ^ i) * 0x01000193u;
        }
    hash ^= hash >> 15;
    for (at = p->heads[hash & 255]; at; at = s[TTOOL_LINK_]) {
        s = p->states + at;
        if (s[TTOOL_HASH_] == hash && s[TTOOL_SIZE_] == n &&
            s[TTOOL_BEFORE_] == before &&
            memcmp(s + TTOOL_HEAD_ + p->kinds + 1, p->closure, n * 2u) == 0)
            return at;
    }
    need = TTOOL_HEAD_ + p->kinds + 1u + (n + 1u) / 2;
    if (p->used + need > p->capacity)
        ttool_forget_(p);
    at = p->used;
    p->used += need;
    s = p->states + at;
    memset(s, 0, need * sizeof *s);
    s[TTOOL_LINK_] = p->heads[hash & 255];
    s[TTOOL_HASH_] = hash;
    s[TTOOL_SIZE_] = n;
    s[TTOOL_BEFORE_] = before;
    memcpy(s + TTOOL_HEAD_ + p->kinds + 1, p->closure, n * 2u);
    p->heads[hash & 255] = at;
    return at;
}

/* Marks what follows from instruction i without taking a byte. True when the
 * match is among it. */
static bool ttool_spread_(ttool_pattern *p, uint16_t i, unsigned before,
                          bool word, bool end)
{
    uint16_t n = 0;
    bool found = false, is_word = before == TTOOL_WORD_BEFORE_;
    p->stack[n++] = i;
    while (n) {
        const ttool_inst_ *c;
        bool on = true;
        i = p->stack[--n];
        if (p->marks[i])
            continue;
        p->marks[i] = 1;
        c = &p->code[i];
        switch (c->op) {
        case TTOOL_MATCH_: found = true; continue;
        case TTOOL_RANGE_:
        case TTOOL_SET_: p->closure[p->closure_count++] = i; continue;
        case TTOOL_FORK_:
            p->stack[n++] = (uint16_t)(i + c->y); /* fall through */
        case TTOOL_JUMP_: p->stack[n++] = (uint16_t)(i + c->x); continue;
        case TTOOL_BEGIN_: on = before == TTOOL_START_BEFORE_; break;
        case TTOOL_END_: on = end; break;
        case TTOOL_WORD_: on = is_word != word; break;
        default: on = is_word == word; break;
        }
        if (on)
            p->stack[n++] = (uint16_t)(i + 1);
    }
    return found;
}

static void ttool_start_(ttool_pattern *p)
{
    unsigned before =
        p->begins || p->words ? TTOOL_START_BEFORE_ : TTOOL_OTHER_BEFORE_;
    memset(p->marks, 0, p->count * sizeof p->marks[0]);
    p->marks[0] = 1;
    p->start = ttool_state_(p, before);
}

/* Makes the step of a state over a byte, 256: the end of the text. */
static uint32_t ttool_step_(ttool_pattern *p, uint32_t state, unsigned byte)
{
    const uint32_t *s = p->states + state;
    const char *core = (const char *)(s + TTOOL_HEAD_ + p->kinds + 1);
    uint32_t size = s[TTOOL_SIZE_], round = p->round, next, i;
    unsigned before = s[TTOOL_BEFORE_];
    bool lines = p->flags & TTOOL_LINES, end = byte == 256;
    bool line = lines && byte == '\n', found = false;
    uint16_t n;
    memset(p->marks, 0, p->count * sizeof p->marks[0]);
    p->closure_count = 0;
    for (i = 0; i < size; i++) {
        memcpy(&n, core + i * 2, 2);
        if (ttool_spread_(p, n, before, ttool_is_word_(byte), end || line))
            found = true;
    }
    if (end || line) {
        if (!p->start)
            ttool_start_(p);
        next = p->start;
    } else {
        uint16_t taken = p->closure_count;
        memset(p->marks, 0, p->count * sizeof p->marks[0]);
        for (n = 0; n < taken; n++)
            if (ttool_takes_(p, &p->code[p->closure[n]], byte))
                p->marks[p->closure[n] + 1] = 1;
        if (!(p->flags & TTOOL_GLOB))
            p->marks[0] = 1; /* a match may begin anywhere */
        before = p->words && ttool_is_word_(byte) ? TTOOL_WORD_BEFORE_
                                                  : TTOOL_OTHER_BEFORE_;
        next = ttool_state_(p, before);
    }
    next |= found ? TTOOL_FOUND_ : 0;
    if (p->round == round) /* else the state itself is gone */
        p->states[state + TTOOL_HEAD_ + (end ? p->kinds : p->kind[byte])] =
            next;
    return next;
}

const char *ttool_pattern_piece(ttool_pattern *p, const char *at,
                                const char *to, bool begins, bool ends)
{
    uint32_t state, next;
    if (!p->start && begins)
        ttool_start_(p);
    state = begins ? p->start : p->state;
    for (; at < to; at++) {
        uint8_t byte = (uint8_t)*at;
        next = p->states[state + TTOOL_HEAD_ + p->kind[byte]];
        if (next - 1 >= TTOOL_FOUND_ - 1) { /* 0, or found */
            if (!next)
                next = ttool_step_(p, state, byte);
            if (next & TTOOL_FOUND_)
                return at;
        }
        state = next;
    }
    p->state = state;
    if (!ends)
        return NULL;
    next = p->states[state + TTOOL_HEAD_ + p->kinds];
    if (!next)
        next = ttool_step_(p, state, 256);
    return next & TTOOL_FOUND_ ? to : NULL;
}

/* A match in text that begins at the start of a line. */
static const char *ttool_run_(ttool_pattern *p, const char *from,
                              const char *to)
{
    return ttool_pattern_piece(p, from, to, true, true);
}

const char *ttool_pattern_find(ttool_pattern *p, const char *from,
                               const char *to)
{
    const char *at, *line, *end, *found;
    if (!p->literal_len)
        return ttool_run_(p, from, to);
    while (at = (const char *)memmem(from, (size_t)(to - from), p->literal,
                                     p->literal_len),
           at) {
        if (p->only_literal)
            return at + p->literal_len;
        line = (const char *)memrchr(from, '\n', (size_t)(at - from));
        line = line ? line + 1 : from;
        end = (const char *)memchr(at, '\n', (size_t)(to - at));
        end = end ? end : to;
        found = ttool_run_(p, line, end);
        if (found || end == to)
            return found;
        from = end + 1;
    }
    return NULL;
}

static void *ttool_part_(char **memory, size_t n)
{
    void *part = *memory;
    *memory += (n + 7) & ~(size_t)7;
    return part;
}

int ttool_pattern_compile(ttool_pattern *p, tcall_str text, unsigned flags,
                          void *memory, size_t size)
{
    char *at = (char *)memory, *end = at + (size & ~(size_t)7), *glob = end;
    ttool_parse_ s;
    uint16_t i;
    memset(p, 0, sizeof *p);
    memset(&s, 0, sizeof s);
    if (size < TTOOL_PATTERN_LEAST)
        return TCALL_E_MEMORY;
    p->most = (uint16_t)(size < TTOOL_PATTERN_MEMORY ? (size - 8192) / 32
                                                     : TTOOL_MAX_PATTERN);
    at += (size_t) - (uintptr_t)at & 7;
    p->flags = flags;
    p->code = (ttool_inst_ *)ttool_part_(&at, (p->most + 1u) * sizeof *p->code);
    p->sets = (uint32_t(*)[4])ttool_part_(&at, TTOOL_SETS_ * sizeof *p->sets);
    s.out = p;
    s.from = s.at = text.ptr;
    s.end = s.from + text.len;
    if (flags & TTOOL_GLOB) {
        size_t cap = 8 * 1024, n = ttool_glob_(at, cap, text);
        glob = at; /* the rest of the memory is not in use yet */
        s.from = s.at = glob;
        s.end = glob + n;
        if (n == cap)
            ttool_refuse_(&s, "the pattern is too long");
    }
    if (s.end - s.at > 3 && memcmp(s.at, "(?i)", 4) == 0) {
        p->flags |= TTOOL_FOLD;
        s.at += 4;
    }
    ttool_parse_either_(&s);
    if (s.at < s.end)
        ttool_refuse_(&s, ") without (");
    ttool_literal_break_(&s);
    if (flags & TTOOL_GLOB)
        ttool_emit_(&s, TTOOL_END_), p->literal_len = 0;
    ttool_emit_(&s, TTOOL_MATCH_);
    if (p->reason)
        return TCALL_E_INVALID;
    p->only_literal = p->count == p->literal_len + 1;
    for (i = 0; i < p->count; i++) {
        p->begins |= p->code[i].op == TTOOL_BEGIN_;
        p->words |=
            p->code[i].op == TTOOL_WORD_ || p->code[i].op == TTOOL_NOT_WORD_;
    }
    p->marks = (uint16_t *)ttool_part_(&at, p->count * 2u);
    p->closure = (uint16_t *)ttool_part_(&at, p->count * 2u);
    p->stack = (uint16_t *)ttool_part_(&at, p->count * 4u + 16);
    p->states = (uint32_t *)(void *)at;
    p->capacity = (uint32_t)((size_t)(end - at) / sizeof *p->states);
    ttool_kinds_(p);
    ttool_forget_(p);
    return TCALL_OK;
}

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_IMPLEMENTATION */
