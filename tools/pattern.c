/* pattern.c - see pattern.h */
#include "tools/gnu.h"

#include "tools/pattern.h"
#include "tools/text.h"

#include <string.h>

/* -- Writing them as patterns --------------------------------------------- */

typedef struct ttool_dialect_ {
    const char *at, *end; /* what is read */
    char *out;            /* what is written */
    size_t len, cap;
    const char *reason; /* why it is refused, or NULL */
} ttool_dialect_;

static void ttool_put_(ttool_dialect_ *d, const char *text, size_t len)
{
    if (d->len + len <= d->cap)
        memcpy(d->out + d->len, text, len);
    d->len += len;
}

static bool ttool_starts_(const ttool_dialect_ *d, const char *text)
{
    size_t len = strlen(text);
    return (size_t)(d->end - d->at) >= len && memcmp(d->at, text, len) == 0;
}

/* Writes something else instead of a text that comes next; false: something
 * else comes. */
static bool ttool_instead_(ttool_dialect_ *d, const char *text,
                           const char *other)
{
    if (!ttool_starts_(d, text))
        return false;
    d->at += strlen(text);
    ttool_put_(d, other, strlen(other));
    return true;
}

static void ttool_copy_(ttool_dialect_ *d, size_t len)
{
    ttool_put_(d, d->at, len);
    d->at += len;
}

static const char *const ttool_named_[][2] = {
    {"[:digit:]", "0-9"},        {"[:alpha:]", "A-Za-z"},
    {"[:alnum:]", "0-9A-Za-z"},  {"[:space:]", "\\s"},
    {"[:upper:]", "A-Z"},        {"[:lower:]", "a-z"},
    {"[:xdigit:]", "0-9A-Fa-f"}, {"[:punct:]", "!-/:-@\\[-`{-~"},
    {"[:blank:]", "\\t "},       {"[:word:]", "\\w"}};

/* A class: ']' first is itself, [:alpha:] is A-Za-z. */
static void ttool_class_(ttool_dialect_ *d, bool glob)
{
    size_t i;
    ttool_copy_(d, 1);
    if (ttool_instead_(d, "^", "^") || (glob && ttool_instead_(d, "!", "^")))
        ttool_put_(d, "/", glob);
    ttool_instead_(d, "]", "\\]");
    while (d->at < d->end && *d->at != ']') {
        for (i = 0; i < TCALL_ARRAY_LEN(ttool_named_); i++)
            if (ttool_instead_(d, ttool_named_[i][0], ttool_named_[i][1]))
                break;
        if (ttool_starts_(d, "[:") || ttool_starts_(d, "[.") ||
            ttool_starts_(d, "[="))
            d->reason = "no such class of characters";
        if (i == TCALL_ARRAY_LEN(ttool_named_))
            ttool_copy_(d, *d->at == '\\' && d->end - d->at > 1 ? 2 : 1);
    }
    ttool_instead_(d, "]", "]");
}

/* Whether { begins a count. */
static bool ttool_counts_(const ttool_dialect_ *d)
{
    const char *p = d->at + 1;
    bool digits = false;
    for (; p < d->end && ((*p >= '0' && *p <= '9') || *p == ','); p++)
        digits = digits || *p != ',';
    return digits && p < d->end && *p == '}';
}

/* What Perl and grep write in another way, or what is refused. */
static const struct ttool_perl_ {
    const char *text;
    const char *other;  /* what is written instead, or NULL */
    const char *reason; /* why it is refused */
} ttool_perl_[] = {
    {"\\A", "^", NULL},
    {"\\Z", "$", NULL},
    {"\\z", "$", NULL},
    {"\\<", "\\b", NULL},
    {"\\>", "\\b", NULL},
    {"\\h", "[\\t ]", NULL},
    {"\\_", "_", NULL},
    {"{,", "{0,", NULL},
    {"\\p", NULL, "properties of Unicode (\\p) are not supported"},
    {"\\P", NULL, "properties of Unicode (\\P) are not supported"},
    {"\\Q", NULL, "quoting by \\Q is not supported"},
    {"\\K", NULL, "\\K is not supported"},
    {"\\G", NULL, "\\G is not supported"},
    {"\\R", NULL, "\\R is not supported: a match lies in one line"},
    {"\\k", NULL, "back references are not supported"},
    {"\\g", NULL, "back references are not supported"},
    {"(?=", NULL, "look-ahead is not supported"},
    {"(?!", NULL, "look-ahead is not supported"},
    {"(?<=", NULL, "look-behind is not supported"},
    {"(?<!", NULL, "look-behind is not supported"},
    {"(?<", NULL, "named groups are not supported: use (?:...)"},
    {"(?P", NULL, "named groups are not supported: use (?:...)"},
    {"(?'", NULL, "named groups are not supported: use (?:...)"},
    {"(?>", NULL, "atomic groups are not supported: use (?:...)"},
    {"(?#", NULL, "comments are not supported"},
    {"(?:", "(?:", NULL},
    {"(?", NULL, "flags are supported at the start only, and of them i, m, s"},
    {"(*", NULL, "verbs such as (*SKIP) are not supported"},
};

/* Writes what comes next in our way if that is another; false: it is not. */
static bool ttool_perl_next_(ttool_dialect_ *d)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(ttool_perl_); i++) {
        const struct ttool_perl_ *row = &ttool_perl_[i];
        if (!ttool_starts_(d, row->text) ||
            (*row->text == '{' && !ttool_counts_(d)))
            continue;
        d->reason = row->reason;
        return row->reason || ttool_instead_(d, row->text, row->other);
    }
    return false;
}

/* (?i), (?m), (?s) at the start. A match lies in one line, so that only i
 * makes a difference. */
static void ttool_flags_(ttool_dialect_ *d, unsigned *flags)
{
    while (ttool_starts_(d, "(?")) {
        const char *p = d->at + 2;
        while (p < d->end && (*p == 'i' || *p == 'm' || *p == 's'))
            p++;
        if (p == d->at + 2 || p == d->end || *p != ')')
            return;
        if (memchr(d->at, 'i', (size_t)(p - d->at)))
            *flags |= TTOOL_FOLD;
        d->at = p + 1;
    }
}

static void ttool_grep_dialect_(ttool_dialect_ *d)
{
    bool repeats = false; /* a repetition came before */
    while (d->at < d->end && !d->reason) {
        char c = *d->at;
        bool count = c == '{' && ttool_counts_(d);
        if (repeats && c == '+')
            d->reason = "possessive repetition (++, *+) is not supported";
        else if (c == '[')
            ttool_class_(d, false);
        else if (c == '{' && !count)
            ttool_instead_(d, "{", "\\{");
        else if (!ttool_perl_next_(d))
            ttool_copy_(d, c == '\\' && d->end - d->at > 1 ? 2 : 1);
        repeats = c == '*' || c == '+' || c == '?' || count;
        while (count && d->at < d->end && d->at[-1] != '}')
            ttool_copy_(d, 1);
    }
}

static void ttool_glob_dialect_(ttool_dialect_ *d)
{
    const char *from = d->at;
    int braces = 0;
    ttool_put_(d, "^(?:", 4);
    while (d->at < d->end) {
        size_t left = (size_t)(d->end - d->at);
        bool start = d->at == from || d->at[-1] == '/';
        if ((start && ttool_instead_(d, "**/", "(?:[^]*/)?")) ||
            ttool_instead_(d, "**", "[^]*") ||
            ttool_instead_(d, "*", "[^/]*") || ttool_instead_(d, "?", "[^/]"))
            continue;
        if (*d->at == '[' && memchr(d->at, ']', left)) {
            ttool_class_(d, true);
        } else if (ttool_instead_(d, "{", "(?:")) {
            braces++;
        } else if (braces && ttool_instead_(d, "}", ")")) {
            braces--;
        } else if (!braces || !ttool_instead_(d, ",", "|")) {
            if (*d->at == '\\' && left > 1)
                d->at++;
            if (strchr(".+^$()|[]{}*?\\", *d->at))
                ttool_put_(d, "\\", 1);
            ttool_copy_(d, 1);
        }
    }
    ttool_put_(d, ")$", 2);
}

/* -- What each match holds ------------------------------------------------ */

/* Returns where an atom of a pattern ends: a character, a class or a group. */
static const char *ttool_atom_end_(const char *at, const char *end)
{
    int depth = 0;
    do {
        char c = *at++;
        if (c == '\\')
            at += *at == 'x' ? 3 : *at == 'u' ? 5 : 1;
        if (c == '[')
            while (*at++ != ']')
                at += at[-1] == '\\';
        depth += (c == '(') - (c == ')');
    } while (depth > 0 && at < end);
    return at;
}

/* Returns where a quantifier ends, or at if there is none. */
static const char *ttool_quantifier_end_(const char *at, const char *end)
{
    const char *from = at;
    if (at < end && *at == '{')
        at = (const char *)memchr(at, '}', (size_t)(end - at));
    else if (at == end || (*at != '*' && *at != '+' && *at != '?'))
        return from;
    at++;
    return at + (at < end && *at == '?');
}

/* Whether an atom is one character of ASCII, which it sets *c to. */
static bool ttool_plain_(const char *atom, char *c)
{
    bool escaped = *atom == '\\', word;
    *c = atom[escaped];
    word = (*c >= '0' && *c <= '9') ||
           (ttool_lower_(*c) >= 'a' && ttool_lower_(*c) <= 'z');
    return (unsigned char)*c < 0x80 && (escaped ? !word : !strchr("([.^$", *c));
}

/* The most bytes that an atom takes with the quantifier between its end and
 * `to`; SIZE_MAX: any number. */
static size_t ttool_atom_most_(const char *atom, const char *end,
                               const char *to)
{
    size_t most = 0;
    if (*atom == '(' || (end < to && (*end == '*' || *end == '+')))
        return SIZE_MAX;
    if (end == to || *end != '{')
        return 4;
    for (end++; *end >= '0' && *end <= '9'; end++)
        most = most * 10 + (size_t)(*end - '0');
    if (*end == ',')
        for (end++, most = 0; *end >= '0' && *end <= '9'; end++)
            most = most * 10 + (size_t)(*end - '0');
    return end[-1] == ',' ? SIZE_MAX : most * 4;
}

/* Finds the longest text that is outside of groups and repetitions: where it is
 * missing nothing matches, and to look for it is quicker. */
static void ttool_hold_(ttool_pattern *p, const char *at, const char *end)
{
    char run[TTOOL_HELD], c;
    size_t len = 0, reach = 0, before = 0, most;
    while (at < end && *at != '|') {
        const char *next = ttool_atom_end_(at, end), *atom = at;
        bool plain = ttool_plain_(at, &c);
        at = ttool_quantifier_end_(next, end);
        before = len ? before : reach;
        most = ttool_atom_most_(atom, next, at);
        reach = reach > SIZE_MAX - most ? SIZE_MAX : reach + most;
        if (!plain || at > next || len == TTOOL_HELD) {
            len = 0;
            continue;
        }
        run[len++] = p->flags & TTOOL_FOLD ? ttool_lower_(c) : c;
        if (len > p->held_len) {
            memcpy(p->held, run, len);
            p->held_len = len;
            p->reach = before;
        }
    }
    if (at < end) /* one alternative may hold something else */
        p->held_len = 0;
}

/* Returns where that text comes next, or NULL. */
static const char *ttool_next_held_(const ttool_pattern *p, const char *from,
                                    const char *to)
{
    size_t i, len = (size_t)(to - from);
    if (!(p->flags & TTOOL_FOLD))
        return (const char *)memmem(from, len, p->held, p->held_len);
    for (; len >= p->held_len; from++, len--) {
        for (i = 0; i < p->held_len; i++)
            if (ttool_lower_(from[i]) != p->held[i])
                break;
        if (i == p->held_len)
            return from;
    }
    return NULL;
}

int ttool_pattern_compile(ttool_pattern *p, tcall_str text, unsigned flags,
                          void *memory, size_t size)
{
    ttool_dialect_ d;
    tcall_str written;
    char *program, *end = (char *)memory + size;
    int r;
    memset(p, 0, sizeof *p);
    p->flags = flags;
    d.at = text.ptr;
    d.end = text.ptr + text.len;
    d.out = (char *)memory;
    d.len = 0;
    d.cap = size / 2;
    d.reason = NULL;
    if (flags & TTOOL_GLOB) {
        ttool_glob_dialect_(&d);
    } else {
        ttool_flags_(&d, &p->flags);
        ttool_grep_dialect_(&d);
    }
    if (!d.reason && d.len > d.cap)
        d.reason = "the pattern is too large";
    if (d.reason) {
        p->reason = d.reason;
        p->at = (size_t)(d.at - text.ptr);
        return TCALL_E_INVALID;
    }
    /* the program after the text, then the states of a search */
    program = d.out + d.len;
    program += (0 - (uintptr_t)program) & 7;
    written.ptr = d.out;
    written.len = d.len;
    r = tcall_pattern_compile(&p->pattern, written,
                              p->flags & TTOOL_FOLD ? TCALL_PATTERN_FOLD : 0,
                              program, (size_t)(end - program));
    p->reason = p->pattern.reason;
    p->at = p->pattern.at;
    p->search.memory = program + p->pattern.need;
    if (r >= 0 && (size_t)(end - program) <
                      p->pattern.need + tcall_pattern_memory(&p->pattern))
        return TCALL_E_MEMORY;
    if (r >= 0)
        ttool_hold_(p, written.ptr, written.ptr + written.len);
    return r < 0 ? r : TCALL_OK;
}

/* -- Searching ------------------------------------------------------------ */

static const char *ttool_search_(ttool_pattern *p, const char *from,
                                 const char *to, bool last)
{
    tcall_str piece;
    piece.ptr = from;
    piece.len = (size_t)(to - from);
    return tcall_pattern_find(&p->pattern, &p->search, piece, last);
}

/* How many bytes at the end of a piece begin a character that it cuts. */
static size_t ttool_cut_(const char *from, const char *to)
{
    size_t count;
    for (count = 1; count < 4 && count <= (size_t)(to - from); count++) {
        unsigned char c = (unsigned char)*(to - count);
        size_t wide = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        if ((c & 0xC0) != 0x80)
            return wide > count ? count : 0;
    }
    return 0;
}

const char *ttool_pattern_held(const ttool_pattern *p, const char *from,
                               const char *to)
{
    return ttool_next_held_(p, from, to);
}

const char *ttool_pattern_piece(ttool_pattern *p, const char *from,
                                const char *to, bool begins, bool ends)
{
    size_t cut = 0;
    if (begins) {
        p->search.begun = false;
        p->rest_len = 0;
    }
    if (p->rest_len) { /* the rest of the character comes first */
        while (from < to && p->rest_len < sizeof p->rest &&
               (*from & 0xC0) == 0x80)
            p->rest[p->rest_len++] = *from++;
        if (ttool_search_(p, p->rest, p->rest + p->rest_len, false))
            return from;
    }
    if (!ends)
        cut = ttool_cut_(from, to);
    memcpy(p->rest, to - cut, cut);
    p->rest_len = cut;
    return ttool_search_(p, from, to - cut, ends);
}

const char *ttool_pattern_find(ttool_pattern *p, const char *from,
                               const char *to)
{
    bool lines = p->flags & TTOOL_LINES;
    for (;;) {
        const char *held = ttool_next_held_(p, from, to), *end, *found;
        if (!held)
            return NULL;
        if (lines)
            from = ttool_line_start_(from, held);
        end = lines ? (const char *)memchr(from, '\n', (size_t)(to - from))
                    : NULL;
        found = ttool_pattern_piece(p, from, end ? end : to, true, true);
        if (found || !end)
            return found;
        from = end + 1;
    }
}
