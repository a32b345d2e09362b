#pragma once
#include "json.h"
#include "scan.c"

/* ==========================================================================
 * >>json
 *
 * The scanner makes the tokens while it recognises the text. What is left to
 * do goes over the tokens once: strings are decoded where they lie, scalars
 * get a NUL behind them, keys that stand twice are found.
 */

static tcall_json tcall_json_none_(void)
{
    tcall_json v;
    v.text = NULL;
    v.tok = NULL;
    return v;
}

static inline tcall_json tcall_json_cursor_(const char *text,
                                            const tcall_tok *tok)
{
    tcall_json v;
    v.text = text;
    v.tok = tok;
    return v;
}

tcall_type tcall_json_type(tcall_json v)
{
    return v.tok ? (tcall_type)(v.tok->type & TCALL_TYPE_) : TCALL_MISSING;
}

static inline tcall_str tcall_tok_str_(const char *text, const tcall_tok *tok)
{
    return tcall_slice_(text + tok->start, (size_t)(tok->end - tok->start));
}

/* Four hex digits. */
static uint32_t tcall_unit_(const char *p)
{
    uint32_t unit = 0;
    int i;
    for (i = 0; i < 4; i++)
        unit = unit << 4 | (uint32_t)tcall_hex_(p[i]);
    return unit;
}

/* Decodes the escapes of a string that the scanner accepted; new length. */
static size_t tcall_decode_(char *out, const char *p, const char *end)
{
    char *to = out;
    while (p < end) {
        const char *run = (const char *)memchr(p, '\\', (size_t)(end - p));
        size_t n = (size_t)((run ? run : end) - p);
        uint32_t cp;
        memmove(to, p, n);
        to += n;
        if (!run)
            break;
        p = run + 2;
        if (p[-1] != 'u') {
            *to++ = tcall_unescape_(p[-1]);
            continue;
        }
        cp = tcall_unit_(p);
        p += 4;
        if (cp >= 0xD800 && cp <= 0xDBFF) {
            cp = 0x10000 + ((cp - 0xD800) << 10) + tcall_unit_(p + 2) - 0xDC00;
            p += 6;
        }
        to += tcall_utf8_(to, cp);
    }
    return (size_t)(to - out);
}

/* Larger or smaller numbers would be infinity or 0 to most readers. */
static bool tcall_num_in_range_(tcall_str text)
{
    tcall_num_ n = tcall_num_read_(text);
    return !n.sign || (n.top <= 308 && n.top >= -308);
}

static uint32_t tcall_hash_(tcall_str s)
{
    uint32_t h = 2166136261u;
    size_t i;
    for (i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.ptr[i]) * 16777619u;
    return h;
}

/* Whether two keys, the first of len bytes, are the same. */
static inline bool tcall_json_same_(const char *text, const tcall_tok *key,
                                    int len, const tcall_tok *other)
{
    return len == other->end - other->start &&
           memcmp(text + key->start, text + other->start, (size_t)len) == 0;
}

/* The key that stands twice. The marks of the object's own tokens serve as the
 * hash table: there are at least twice as many of them as keys. Too many
 * collisions count as a duplicate: they do not come by chance. */
static tcall_tok *tcall_json_twice_(const char *text, tcall_tok *object)
{
    tcall_tok *first = object + 1, *end = object + object->span, *key, *slot;
    int probes = 32;
    for (key = first; key < end; key += 1 + key[1].span) {
        int len = key->end - key->start;
        slot = first +
               tcall_hash_(tcall_tok_str_(text, key)) % (uint32_t)(end - first);
        for (probes += 8; slot->mark; probes--) {
            if (probes == 0 ||
                tcall_json_same_(text, key, len, object + slot->mark))
                return key;
            if (++slot == end)
                slot = first;
        }
        slot->mark = (int)(key - object);
    }
    for (slot = first; slot < end; slot++)
        slot->mark = 0;
    return NULL;
}

/* The same, faster, for few keys: each is held against those before it, unless
 * none of them is alike at first sight. */
static tcall_tok *tcall_json_twin_(const char *text, tcall_tok *object)
{
    tcall_tok *end = object + object->span, *key, *other;
    uint32_t seen = 0;
    for (key = object + 1; key < end; key += 1 + key[1].span) {
        int len = key->end - key->start;
        const char *name = text + key->start;
        unsigned look = (unsigned)(len + name[0] + (len ? name[len - 1] : 0));
        for (other = object + 1; seen >> (look & 31) & 1 && other < key;
             other += 1 + other[1].span)
            if (tcall_json_same_(text, key, len, other))
                return key;
        seen |= (uint32_t)1 << (look & 31);
    }
    return NULL;
}

/* A scalar or a key that is not as plain as most. */
static int tcall_json_odd_(char *text, tcall_tok *t, bool refuse_nul)
{
    char *p = text + t->start;
    size_t len = (size_t)(t->end - t->start);
    if ((t->type & TCALL_TYPE_) == TCALL_NUMBER)
        return tcall_num_in_range_(tcall_slice_(p, len)) ? TCALL_OK
                                                         : TCALL_E_RANGE;
    len = tcall_decode_(p, p, p + len);
    t->end = t->start + (int)len;
    return refuse_nul && memchr(p, 0, len) ? TCALL_E_NUL : TCALL_OK;
}

/* The second half of parsing, when the scanner has made the tokens; from the
 * end, so that what is within an object comes first. *at: where an error
 * stands. */
static int tcall_json_finish_(char *text, tcall_tok *tok, int count,
                              bool refuse_nul, size_t *at)
{
    tcall_tok *t = tok + count, *twice;
    int r = TCALL_OK;
    while (t > tok) {
        int type = (--t)->type & TCALL_TYPE_;
        if (type == TCALL_OBJECT && t->span > 3) {
            twice = t->span > 32 || TCALL_LEAN_ ? tcall_json_twice_(text, t)
                                                : tcall_json_twin_(text, t);
            if (twice) {
                t = twice;
                r = TCALL_E_DUPLICATE;
                break;
            }
        } else if (type < TCALL_ARRAY) {
            if (t->type & TCALL_ODD_)
                r = tcall_json_odd_(text, t, refuse_nul);
            if (r < 0)
                break;
            text[t->end] = 0;
        }
    }
    if (r < 0)
        *at = (size_t)t->start;
    return r;
}

int tcall_json_parse(tcall_json *out, char *text, size_t len, tcall_tok *tok,
                     size_t cap, size_t *need)
{
    tcall_scan scan;
    size_t at;
    int r;
    *out = tcall_json_none_();
    tcall_scan_init(&scan, NULL, NULL, NULL);
    tcall_scan_tokens(&scan, text, tok, cap);
    tcall_scan_feed(&scan, text, len);
    r = tcall_scan_end(&scan);
    at = scan.pos;
    if (r == TCALL_OK && (scan.tokens > cap || len >= INT_MAX)) {
        r = TCALL_E_MEMORY;
        at = scan.tokens;
    }
    if (r == TCALL_OK)
        r = tcall_json_finish_(text, tok, (int)scan.tokens, false, &at);
    if (need)
        *need = at;
    if (r < 0)
        return r;
    *out = tcall_json_cursor_(text, tok);
    return (int)scan.tokens;
}

tcall_json tcall_json_first(tcall_json v)
{
    tcall_type type = tcall_json_type(v);
    if (type < TCALL_ARRAY || v.tok->span == 1)
        return tcall_json_none_();
    return tcall_json_cursor_(v.text, v.tok + (type == TCALL_OBJECT ? 2 : 1));
}

tcall_json tcall_json_next(tcall_json v)
{
    if (!v.tok || v.tok->type & TCALL_LAST_)
        return tcall_json_none_();
    return tcall_json_cursor_(
        v.text, v.tok + v.tok->span + (v.tok->type & TCALL_MEMBER_ ? 1 : 0));
}

tcall_str tcall_json_key(tcall_json v)
{
    if (!v.tok || !(v.tok->type & TCALL_MEMBER_))
        return tcall_slice_(NULL, 0);
    return tcall_tok_str_(v.text, v.tok - 1);
}

static tcall_json tcall_json_find_(tcall_json object, tcall_str key)
{
    const tcall_tok *t = object.tok, *end;
    if (tcall_json_type(object) == TCALL_OBJECT)
        for (end = t + t->span, t++; t < end; t += 1 + t[1].span)
            if (tcall_str_eq(tcall_tok_str_(object.text, t), key))
                return tcall_json_cursor_(object.text, t + 1);
    return tcall_json_none_();
}

tcall_json tcall_json_get(tcall_json object, const char *key)
{
    return tcall_json_find_(object, tcall_str_of(key));
}

tcall_json tcall_json_at(tcall_json array, int index)
{
    const tcall_tok *t = array.tok, *end;
    if (tcall_json_type(array) == TCALL_ARRAY)
        for (end = t + t->span, t++; t < end; t += t->span)
            if (index-- == 0)
                return tcall_json_cursor_(array.text, t);
    return tcall_json_none_();
}

int tcall_json_count(tcall_json v)
{
    tcall_json i;
    int n = 0;
    for (i = tcall_json_first(v); i.tok; i = tcall_json_next(i))
        n++;
    return n;
}

tcall_str tcall_json_str(tcall_json v)
{
    tcall_type type = tcall_json_type(v);
    if (type == TCALL_MISSING || type > TCALL_STRING)
        return tcall_slice_(NULL, 0);
    return tcall_tok_str_(v.text, v.tok);
}

const char *tcall_json_string(tcall_json v, const char *fallback)
{
    return tcall_json_type(v) == TCALL_STRING ? v.text + v.tok->start
                                              : fallback;
}

bool tcall_json_bool(tcall_json v, bool fallback)
{
    if (tcall_json_type(v) != TCALL_BOOL)
        return fallback;
    return v.text[v.tok->start] == 't';
}

int64_t tcall_json_int64(tcall_json v, int64_t fallback)
{
    tcall_num_ n;
    int64_t out;
    if (tcall_json_type(v) != TCALL_NUMBER)
        return fallback;
    n = tcall_num_read_(tcall_json_str(v));
    if (!tcall_num_integral_(&n) || !tcall_num_int64_(&n, 0, &out))
        return fallback;
    return out;
}

int tcall_json_int(tcall_json v, int fallback)
{
    int64_t n = tcall_json_int64(v, fallback);
    return n < INT_MIN || n > INT_MAX ? fallback : (int)n;
}

long tcall_json_fixed(tcall_json v, int decimals, long fallback)
{
    tcall_num_ n;
    int64_t out;
    if (tcall_json_type(v) != TCALL_NUMBER)
        return fallback;
    n = tcall_num_read_(tcall_json_str(v));
    if (!tcall_num_int64_(&n, decimals, &out) || out < LONG_MIN ||
        out > LONG_MAX)
        return fallback;
    return (long)out;
}

/* The first 19 digits, scaled. Off by a few units in the last place. */
double tcall_json_double(tcall_json v, double fallback)
{
    tcall_num_ n;
    const char *p;
    double out = 0;
    int digits, scale;
    if (tcall_json_type(v) != TCALL_NUMBER)
        return fallback;
    n = tcall_num_read_(tcall_json_str(v));
    if (!n.sign)
        return 0;
    p = n.first;
    for (digits = 0; digits < 19 && p <= n.last; digits++)
        out = out * 10 + tcall_num_digit_(&n, &p);
    for (scale = n.top - digits + 1; scale > 0; scale--)
        out *= 10;
    for (; scale < 0; scale++)
        out /= 10;
    return n.sign < 0 ? -out : out;
}

/* Tolerant reading. It has no grammar of its own: what it writes is fed to a
 * scanner, whose state says what must come next and which refuses what would
 * not be JSON. */

/* All in one string, as the errors are. */
static const char tcall_fixes_[] =
#define TCALL_X_(name, text) text "\0"
    TCALL_FIXES(TCALL_X_)
#undef TCALL_X_
    ;

const char *tcall_fix_name(int i)
{
    const char *p = tcall_fixes_;
    if (i < 0 || i >= TCALL_FIX_COUNT)
        return NULL;
    while (i-- > 0)
        p += strlen(p) + 1;
    return p;
}

typedef struct tcall_mend_ {
    const char *start, *p, *end; /* the text, and how far it is read */
    int c;                       /* the byte at p, -1 at the end */
    bool inner; /* the content of a valid string is written, decoded */
    char *out;
    size_t cap, len;
    size_t at; /* of the error, else of the first fix */
    uint32_t fixes;
    int error;
    tcall_scan scan; /* of what is written */
} tcall_mend_;

/* Whether the scanner saw one whole object: the bit of the outermost level
 * stays when it is closed. */
static bool tcall_scan_is_object_(tcall_scan *s)
{
    return tcall_scan_end(s) == TCALL_OK && s->open[0] & 1;
}

#ifdef TOOLCALL_NO_MEND

/* What is wrong stays wrong. */
static void tcall_mend_run_(tcall_mend_ *m)
{
    (void)m;
}

#else

/* Errors and fixes stand where m->p is. */
static void tcall_mend_fail_(tcall_mend_ *m, int error)
{
    if (!m->error)
        m->at = (size_t)(m->p - m->start);
    if (!m->error)
        m->error = error;
}

static void tcall_mend_fix_(tcall_mend_ *m, uint32_t fix)
{
    if (!m->fixes && !m->error)
        m->at = (size_t)(m->p - m->start);
    m->fixes |= fix;
}

/* A piece of JSON text goes out, and through the scanner. Of the content of a
 * string it is not known beforehand that it is JSON: that is no error here. */
static void tcall_mend_put_(tcall_mend_ *m, const char *p, size_t n)
{
    size_t from = m->scan.pos;
    if (tcall_scan_feed(&m->scan, p, n) < 0 && !m->inner) {
        tcall_mend_fail_(m, m->scan.error);
        if (p == m->p)
            m->at += m->scan.pos - from;
    }
    if (m->len + n <= m->cap)
        memcpy(m->out + m->len, p, n);
    m->len += n;
}

static void tcall_mend_char_(tcall_mend_ *m, char c)
{
    tcall_mend_put_(m, &c, 1);
}

/* The next n bytes as they are. */
static void tcall_mend_copy_(tcall_mend_ *m, size_t n)
{
    tcall_mend_put_(m, m->p, n);
    m->p += n;
}

static bool tcall_mend_same_(const tcall_mend_ *m, const char *p, size_t n)
{
    return (size_t)(m->end - m->p) >= n && memcmp(m->p, p, n) == 0;
}

static bool tcall_mend_at_(const tcall_mend_ *m, const char *text)
{
    return tcall_mend_same_(m, text, strlen(text));
}

/* Steps over the first word of list that stands here, which is the fix named;
 * its index, or -1. Every word of the list ends with NUL, the list with one
 * more. */
static int tcall_mend_skip_(tcall_mend_ *m, const char *list, uint32_t fix)
{
    int i;
    for (i = 0; *list; i++, list += strlen(list) + 1) {
        if (tcall_mend_at_(m, list)) {
            tcall_mend_fix_(m, fix);
            m->p += strlen(list);
            return i;
        }
    }
    return -1;
}

/* Behind the start of a comment: over its end. */
static void tcall_mend_comment_(tcall_mend_ *m, const char *end)
{
    for (; tcall_mend_skip_(m, end, 0) < 0; m->p++)
        if (m->p == m->end) {
            if (*end == '*')
                tcall_mend_fail_(m, TCALL_E_TRUNCATED);
            return;
        }
}

/* Skips white space and comments. m->c becomes the byte that follows, or -1 at
 * the end. */
static void tcall_mend_blank_(tcall_mend_ *m)
{
    /* byte order mark, no-break, quads to hair space, line and paragraph
     * separator, narrow no-break, mathematical, ideographic */
    static const char spaces[] =
        "\xEF\xBB\xBF\0\xC2\xA0\0\xE2\x80\x80\0\xE2\x80\x81\0\xE2\x80\x82\0"
        "\xE2\x80\x83\0\xE2\x80\x84\0\xE2\x80\x85\0\xE2\x80\x86\0\xE2\x80\x87\0"
        "\xE2\x80\x88\0\xE2\x80\x89\0\xE2\x80\x8A\0\xE2\x80\xA8\0\xE2\x80\xA9\0"
        "\xE2\x80\xAF\0\xE2\x81\x9F\0\xE3\x80\x80\0";
    for (;;) {
        int comment;
        m->c = m->p == m->end ? -1 : (unsigned char)*m->p;
        if (m->c >= 0 && tcall_is_space_((char)m->c)) {
            m->p++;
            continue;
        }
        comment = tcall_mend_skip_(m, "#\0//\0/*\0", TCALL_FIX_COMMENT);
        if (comment >= 0)
            tcall_mend_comment_(m, comment < 2 ? "\n\0" : "*/\0");
        else if (m->c < 0x80 ||
                 tcall_mend_skip_(m, spaces, TCALL_FIX_SPACE) < 0)
            return;
    }
}

/* Whether one of the characters in set follows, or the end. */
static bool tcall_mend_ends_(const tcall_mend_ *m, const char *set)
{
    return m->c < 0 || (m->c && strchr(set, m->c));
}

/* The quote that closes the one that follows; NULL: there is none. */
static const char *tcall_mend_quote_(const tcall_mend_ *m)
{
    static const char quotes[][2][4] = {
        {"\"", "\""},
        {"'", "'"},
        {"\xE2\x80\x9C", "\xE2\x80\x9D"},
        {"\xE2\x80\x98", "\xE2\x80\x99"},
    };
    int i;
    for (i = 0; i < 4; i++)
        if (tcall_mend_at_(m, quotes[i][0]))
            return quotes[i][1];
    return NULL;
}

/* A byte that JSON wants escaped and that came without. */
static void tcall_mend_escape_(tcall_mend_ *m)
{
    char out[6] = {'\\', 'u', '0', '0', '0', '0'}, c = *m->p;
    if (c != '"')
        tcall_mend_fix_(m, TCALL_FIX_CONTROL);
    if (!c)
        tcall_mend_fail_(m, TCALL_E_NUL);
    out[4] = (char)('0' + (c >> 4));
    out[5] = "0123456789ABCDEF"[c & 15];
    if (m->inner)
        tcall_mend_char_(m, c);
    else
        tcall_mend_put_(m, out, 6);
    m->p++;
}

/* A valid escape, decoded; two of them where they are surrogates. */
static void tcall_mend_decode_(tcall_mend_ *m)
{
    const char *p = m->p;
    char out[4];
    m->p += p[1] == 'u' ? 6 : 2;
    if (p[1] == 'u' && (p[2] | 0x20) == 'd' && tcall_hex_(p[3]) >= 8)
        m->p += 6;
    tcall_mend_put_(m, out, tcall_decode_(out, p, m->p));
}

/* The content of a string up to its closing quote or the end. */
static void tcall_mend_content_(tcall_mend_ *m, const char *quote)
{
    while (m->p < m->end && !m->error && !tcall_mend_at_(m, quote)) {
        if (tcall_mend_at_(m, "\\'")) {
            tcall_mend_fix_(m, TCALL_FIX_APOSTROPHE);
            m->p++;
            tcall_mend_copy_(m, 1);
        } else if (*m->p == '"' || (unsigned char)*m->p < 0x20) {
            tcall_mend_escape_(m);
        } else if (m->inner && *m->p == '\\') {
            tcall_mend_decode_(m);
        } else {
            /* one byte or an escape, then all that is plain */
            const char *run = m->p;
            run += *run == '\\' && run + 1 < m->end ? 2 : 1;
            while (!TCALL_LEAN_ && run < m->end && *run != *quote &&
                   *run != '"' && *run != '\\' && (unsigned char)*run >= 0x20)
                run++;
            tcall_mend_copy_(m, (size_t)(run - m->p));
        }
    }
}

/* A whole string, and what follows it: only a comma, a colon, a bracket or the
 * end can. Anything else means that the quote did not close it. */
static void tcall_mend_string_(tcall_mend_ *m, const char *quote)
{
    size_t n = strlen(quote);
    const char *closed;
    if (*quote == '\'')
        tcall_mend_fix_(m, TCALL_FIX_SINGLE_QUOTE);
    else if (*quote != '"')
        tcall_mend_fix_(m, TCALL_FIX_SMART_QUOTE);
    if (!m->inner)
        tcall_mend_char_(m, '"');
    m->p += n;
    tcall_mend_content_(m, quote);
    closed = m->p;
    if (tcall_mend_at_(m, quote))
        m->p += n;
    else
        tcall_mend_fail_(m, TCALL_E_TRUNCATED);
    if (!m->inner)
        tcall_mend_char_(m, '"');
    tcall_mend_blank_(m);
    if (!tcall_mend_ends_(m, ",:]}") &&
        !(m->scan.depth == 0 && tcall_mend_at_(m, "```"))) {
        m->p = closed;
        tcall_mend_fail_(m, TCALL_E_UNESCAPED_QUOTE);
    }
}

/* The byte n behind, 0 beyond the end. */
static char tcall_mend_ahead_(const tcall_mend_ *m, size_t n)
{
    return (size_t)(m->end - m->p) > n ? m->p[n] : (char)0;
}

/* A number, in JSON's form or as +5, .5 or 5. would have it. */
static void tcall_mend_number_(tcall_mend_ *m)
{
    const char *from = m->p, *to;
    uint8_t state = 1, next;
    if (tcall_mend_skip_(m, "+\0", TCALL_FIX_NUMBER) == 0)
        state = 2;
    for (;;) {
        char c = tcall_mend_ahead_(m, 0);
        /* digits are missing before the point or behind it */
        bool before = c == '.' && state < 3;
        if (before ? tcall_is_digit_(tcall_mend_ahead_(m, 1))
                   : state == 5 && !tcall_is_digit_(c)) {
            tcall_mend_fix_(m, TCALL_FIX_NUMBER);
            tcall_mend_char_(m, '0');
            state = before ? 3 : 6;
        }
        next = tcall_number_next_(state, c);
        if (!next)
            break;
        tcall_mend_copy_(m, 1);
        state = next;
    }
    to = m->p;
    if (tcall_number_ends_(state)) {
        tcall_scan_feed(&m->scan, " ", 1);
        tcall_mend_blank_(m);
        if (m->p > to || tcall_mend_ends_(m, ",:]}/"))
            return;
    }
    m->p = from;
    tcall_mend_fail_(m, TCALL_E_BAD_VALUE);
}

static bool tcall_mend_alpha_(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

/* Whether a word can begin or go on here. Beyond ASCII most characters are
 * letters; those below are signs, by their first bytes. */
static bool tcall_mend_letter_(const tcall_mend_ *m)
{
    char c = tcall_mend_ahead_(m, 0), d = tcall_mend_ahead_(m, 1);
    unsigned lead = (unsigned)(unsigned char)c << 8 | (unsigned char)d;
    if (lead < 0x8000)
        return tcall_mend_alpha_(c) || tcall_is_digit_(c);
    return lead >= 0xC300 && lead < 0xEF00 && lead >> 8 != 0xE2 &&
           lead != 0xE380 && lead != 0xE1A0;
}

/* true, false, null and what Python makes of them. null for all arguments
 * means that there are none. */
static void tcall_mend_literal_(tcall_mend_ *m)
{
    const char *from = m->p, *word = "{}";
    int i = tcall_mend_skip_(m, tcall_literals_, 0);
    if (i < 0)
        i = tcall_mend_skip_(m, "True\0False\0None\0", TCALL_FIX_PYTHON);
    if (i < 0 || tcall_mend_letter_(m)) {
        m->p = from;
        tcall_mend_fail_(m, TCALL_E_BARE_WORD);
        return;
    }
    if (i == 2 && m->scan.depth == 0)
        tcall_mend_fix_(m, TCALL_FIX_NULL);
    else
        word = tcall_literals_ + (i < 2 ? 5 * i : 11);
    tcall_mend_put_(m, word, strlen(word));
}

/* A key without quotes. */
static void tcall_mend_key_(tcall_mend_ *m)
{
    size_t n = 1;
    char c;
    while (c = tcall_mend_ahead_(m, n),
           tcall_mend_alpha_(c) || tcall_is_digit_(c) || c == '$')
        n++;
    tcall_mend_fix_(m, TCALL_FIX_UNQUOTED_KEY);
    tcall_mend_char_(m, '"');
    tcall_mend_copy_(m, n);
    tcall_mend_char_(m, '"');
}

/* A comma is written only when it is known that no bracket follows it. */
static void tcall_mend_comma_(tcall_mend_ *m)
{
    m->p++;
    tcall_mend_blank_(m);
    if (m->c == (m->scan.object ? '}' : ']'))
        tcall_mend_fix_(m, TCALL_FIX_TRAILING_COMMA);
    else
        tcall_mend_char_(m, ',');
}

/* One piece. What needs no mending is left to the scanner, right or wrong. */
static void tcall_mend_step_(tcall_mend_ *m)
{
    uint8_t state = m->scan.state;
    bool value = state == TCALL_S_VALUE_ || state == TCALL_S_FIRST_;
    bool key = state == TCALL_S_KEY_ || state == TCALL_S_FIRST_KEY_;
    const char *quote = tcall_mend_quote_(m);
    if (m->c < 0)
        tcall_mend_fail_(m, TCALL_E_TRUNCATED);
    else if (quote)
        tcall_mend_string_(m, quote);
    else if (value && !m->c)
        tcall_mend_fail_(m, TCALL_E_BAD_VALUE);
    else if (value && strchr("+-.0123456789", m->c))
        tcall_mend_number_(m);
    else if (value && tcall_mend_letter_(m))
        tcall_mend_literal_(m);
    else if (key && (m->c == '$' || tcall_mend_alpha_((char)m->c)))
        tcall_mend_key_(m);
    else if (state == TCALL_S_NEXT_ && m->c == ',')
        tcall_mend_comma_(m);
    else
        tcall_mend_copy_(m, 1);
}

/* Steps over a tag that a chat template put around the call. */
static bool tcall_mend_tag_(tcall_mend_ *m)
{
    static const char tags[] = "<tool_call>\0</tool_call>\0<function_call>\0"
                               "</function_call>\0<s>\0</s>\0";
    size_t n = 2;
    if (tcall_mend_at_(m, "<|")) {
        while (tcall_mend_alpha_(tcall_mend_ahead_(m, n)))
            n++;
        if (n > 2 && tcall_mend_ahead_(m, n) == '|' &&
            tcall_mend_ahead_(m, n + 1) == '>') {
            tcall_mend_fix_(m, TCALL_FIX_TAG);
            m->p += n + 2;
            return true;
        }
    }
    return tcall_mend_skip_(m, tags, TCALL_FIX_TAG) >= 0;
}

static bool tcall_mend_fence_(tcall_mend_ *m)
{
    return tcall_mend_skip_(m, "```\0", TCALL_FIX_FENCE) == 0;
}

/* What may stand before the root: tags, and one fence with its language. */
static void tcall_mend_lead_(tcall_mend_ *m)
{
    do {
        tcall_mend_blank_(m);
        if (!(m->fixes & TCALL_FIX_FENCE) && tcall_mend_fence_(m)) {
            while (tcall_mend_letter_(m))
                m->p++;
            tcall_mend_blank_(m);
        }
    } while (tcall_mend_tag_(m));
}

/* What may stand behind the root: the root itself, once more and the same,
 * and what closes nothing. */
static void tcall_mend_tail_(tcall_mend_ *m, tcall_str root)
{
    bool apart = false;
    for (;;) {
        tcall_mend_blank_(m);
        if (m->c < 0)
            return;
        if (!apart && m->c == '{' && tcall_mend_same_(m, root.ptr, root.len)) {
            tcall_mend_fix_(m, TCALL_FIX_REPEATED);
            m->p += root.len;
        } else if (tcall_mend_ends_(m, "]},")) {
            tcall_mend_fix_(m, m->c == ',' ? TCALL_FIX_PUNCTUATION
                                           : TCALL_FIX_EXTRA_CLOSER);
            m->p++;
            apart = true;
        } else if (tcall_mend_tag_(m)) {
            apart = true;
        } else if (!tcall_mend_fence_(m)) {
            break;
        }
    }
    tcall_mend_fail_(m, !apart && (tcall_mend_ends_(m, "{[-0123456789") ||
                                   tcall_mend_quote_(m))
                            ? TCALL_E_MULTIPLE
                            : TCALL_E_TRAILING);
}

/* Begins to write once more, from a place in the text on. */
static void tcall_mend_again_(tcall_mend_ *m, const char *from)
{
    m->p = from;
    m->len = 0;
    m->error = TCALL_OK;
    tcall_scan_init(&m->scan, NULL, NULL, NULL);
}

/* {\"a\":1}, an object with every quote escaped, as if it stood inside a
 * string: taken only if it is one as a whole, else the error stays. */
static void tcall_mend_escaped_(tcall_mend_ *m, const char *from)
{
    int error = m->error;
    size_t at = m->at;
    tcall_mend_again_(m, from);
    tcall_mend_char_(m, '"');
    tcall_mend_content_(m, "\"");
    tcall_mend_char_(m, '"');
    if (!m->error && m->p == m->end && tcall_scan_done(&m->scan)) {
        m->inner = true;
        tcall_mend_again_(m, from);
        tcall_mend_content_(m, "\"");
        m->p = from;
        if (tcall_scan_is_object_(&m->scan)) {
            tcall_mend_fix_(m, TCALL_FIX_ESCAPED_OBJECT);
            return;
        }
    }
    m->error = error;
    m->at = at;
}

/* Reads one value between what may stand around it. */
static void tcall_mend_root_(tcall_mend_ *m)
{
    const char *from = m->p, *to, *quote = tcall_mend_quote_(m);
    do {
        tcall_mend_blank_(m);
        tcall_mend_step_(m);
        to = m->p;
    } while (!m->error && !tcall_scan_done(&m->scan));
    if (m->error == TCALL_E_BAD_KEY && m->scan.tokens == 1 &&
        m->start[m->at] == '\\') {
        tcall_mend_escaped_(m, from);
        return;
    }
    if (!m->error)
        tcall_mend_tail_(m, tcall_slice_(from, (size_t)(to - from)));
    if (!m->error && quote) {
        m->inner = true;
        tcall_mend_again_(m, from);
        tcall_mend_string_(m, quote);
    }
    m->p = from;
    if (!m->error && !tcall_scan_is_object_(&m->scan))
        tcall_mend_fail_(m, TCALL_E_NOT_OBJECT);
    else if (m->inner)
        tcall_mend_fix_(m, TCALL_FIX_DOUBLE_ENCODED);
}

/* Reads the text: m->error, or an object of m->len bytes is written. */
static void tcall_mend_run_(tcall_mend_ *m)
{
    m->at = 0;
    m->fixes = 0;
    m->inner = false;
    tcall_mend_again_(m, m->start);
    tcall_mend_lead_(m);
    if (m->c >= 0 || m->fixes & ~(uint32_t)TCALL_FIX_SPACE) {
        tcall_mend_root_(m);
    } else {
        tcall_mend_fix_(m, TCALL_FIX_EMPTY);
        tcall_mend_put_(m, "{}", 2);
    }
}

#endif /* TOOLCALL_NO_MEND */

static void tcall_mend_open_(tcall_mend_ *m, tcall_str text)
{
    m->start = text.ptr ? text.ptr : "";
    m->end = m->start + text.len;
    m->out = NULL;
    m->cap = 0;
}

#ifndef TOOLCALL_NO_MEND
int tcall_args_mend(tcall_str text, char *out, size_t cap, tcall_mend *report)
{
    tcall_mend_ m;
    tcall_mend_open_(&m, text);
    m.out = out;
    m.cap = cap;
    tcall_mend_run_(&m);
    report->fixes = m.fixes;
    report->at = m.at;
    report->need = m.len;
    report->tokens = m.scan.tokens;
    if (m.error)
        return m.error;
    if (m.len > INT_MAX)
        return TCALL_E_LIMIT;
    return out && m.len > cap ? TCALL_E_MEMORY : (int)m.len;
}
#endif

/* Strictly first: m->len bytes of JSON, m->scan.tokens tokens, of which those
 * that fit are made if the text needs no mending. */
static int tcall_args_measure_(tcall_mend_ *m, bool strict, tcall_tok *tok,
                               size_t cap)
{
    int error;
    size_t at;
    m->len = (size_t)(m->end - m->start);
    m->fixes = 0;
    m->at = 0;
    tcall_scan_init(&m->scan, NULL, NULL, NULL);
    tcall_scan_tokens(&m->scan, m->start, tok, cap);
    tcall_scan_feed(&m->scan, m->start, m->len);
    if (tcall_scan_is_object_(&m->scan))
        return TCALL_OK;
    error = m->scan.error ? m->scan.error : TCALL_E_NOT_OBJECT;
    at = m->scan.error ? m->scan.pos : 0;
    m->error = error;
    m->at = at;
    tcall_mend_run_(m);
    if (!strict || m->error)
        return m->error;
    m->at = at;
    return error;
}

int tcall_args_read(tcall_args *out, tcall_str text, bool strict, void *mem,
                    size_t size)
{
    tcall_mend_ m;
    size_t pad = (size_t)(0 - (uintptr_t)mem) % sizeof(int);
    size_t cap = mem && size > pad ? (size - pad) / sizeof(tcall_tok) : 0;
    size_t count;
    tcall_tok *tok = mem ? (tcall_tok *)(void *)((char *)mem + pad) : NULL;
    int r;
    memset(out, 0, sizeof *out);
    tcall_mend_open_(&m, text);
    r = tcall_args_measure_(&m, strict, tok, cap);
    count = m.scan.tokens;
    if (r == TCALL_OK && (m.len >= INT_MAX || count > INT_MAX / sizeof *tok))
        r = TCALL_E_LIMIT;
    if (r == TCALL_OK) {
        out->fixes = m.fixes;
        out->used = pad + count * sizeof *tok + m.len + 1;
        r = out->used > size ? TCALL_E_MEMORY : TCALL_OK;
    }
    if (r == TCALL_OK) {
        m.out = (char *)(tok + count);
        m.cap = m.len;
        if (m.fixes) {
            tcall_mend_run_(&m);
            tcall_scan_init(&m.scan, NULL, NULL, NULL);
            tcall_scan_tokens(&m.scan, m.out, tok, count);
            tcall_scan_feed(&m.scan, m.out, m.len);
        } else {
            memcpy(m.out, m.start, m.len);
        }
        r = tcall_json_finish_(m.out, tok, (int)count, true, &m.at);
        out->root = tcall_json_cursor_(m.out, tok);
    }
    out->at = m.at;
    if (r < 0)
        out->root = tcall_json_none_();
    return r < 0 ? r : (int)count;
}

/* Arguments as a C struct. The functions that store a value are named by the
 * table only, so what no table uses is not linked. */

int tcall_field_string(void *out, tcall_json v, const tcall_field *f)
{
    tcall_str s = tcall_json_str(v);
    (void)f;
    if (s.len && memchr(s.ptr, 0, s.len))
        return TCALL_E_NUL;
    *(const char **)out = s.ptr;
    return TCALL_OK;
}

/* min <= value * 10^decimals <= max. whole: no fraction, 5.0 has none. */
static int tcall_field_long_(int64_t *out, tcall_json v, int decimals,
                             bool whole)
{
    tcall_num_ n = tcall_num_read_(tcall_json_str(v));
    if (whole && !tcall_num_integral_(&n))
        return TCALL_E_INVALID;
    return tcall_num_int64_(&n, decimals, out) ? TCALL_OK : TCALL_E_RANGE;
}

int tcall_field_int64(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    return tcall_field_long_((int64_t *)out, v, 0, true);
}

int tcall_field_integer(void *out, tcall_json v, const tcall_field *f)
{
    int64_t n = 0;
    int r = tcall_field_long_(&n, v, 0, true);
    (void)f;
    if (n < INT_MIN || n > INT_MAX)
        r = TCALL_E_RANGE;
    if (r == TCALL_OK)
        *(int *)out = (int)n;
    return r;
}

int tcall_field_fixed(void *out, tcall_json v, const tcall_field *f)
{
    int64_t n = 0;
    int r = tcall_field_long_(&n, v, f->decimals, false);
    if (n < LONG_MIN || n > LONG_MAX)
        r = TCALL_E_RANGE;
    if (r == TCALL_OK)
        *(long *)out = (long)n;
    return r;
}

int tcall_field_number(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(double *)out = tcall_json_double(v, 0);
    return TCALL_OK;
}

int tcall_field_boolean(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(bool *)out = tcall_json_bool(v, false);
    return TCALL_OK;
}

int tcall_field_choice(void *out, tcall_json v, const tcall_field *f)
{
    const char *p = (const char *)f->more;
    tcall_str s = tcall_json_str(v);
    int i;
    for (i = 0; (p = strchr(p, '"')) != NULL; i++) {
        const char *name = p + 1;
        p = strchr(name, '"');
        if (!p)
            break;
        if (tcall_str_eq(s, tcall_slice_(name, (size_t)(p - name)))) {
            *(int *)out = i;
            return TCALL_OK;
        }
        p++;
    }
    return TCALL_E_INVALID;
}

int tcall_field_json(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(tcall_json *)out = v;
    return TCALL_OK;
}

typedef struct tcall_bind_ {
    char *path; /* grows at its front, from the value up to the root */
    size_t cap, len;
} tcall_bind_;

static void tcall_bind_put_(tcall_bind_ *b, char c)
{
    if (b->len + 1 >= b->cap) {
        if (b->len == 0)
            return;
        b->len--; /* the tail goes, the root stays */
    }
    memmove(b->path + 1, b->path, b->len);
    b->path[0] = c;
    b->path[++b->len] = 0;
}

/* One step of the path, from its last character to its first. */
TCALL_APART_ static void tcall_bind_name_(tcall_bind_ *b, const char *name)
{
    size_t i = strlen(name);
    while (i-- > 0) {
        char c = name[i];
        if (c == '~' || c == '/') {
            tcall_bind_put_(b, c == '~' ? '0' : '1');
            c = '~';
        }
        tcall_bind_put_(b, c);
    }
    tcall_bind_put_(b, '/');
}

TCALL_APART_ static void tcall_bind_index_(tcall_bind_ *b, int i)
{
    do {
        tcall_bind_put_(b, (char)('0' + i % 10));
        i /= 10;
    } while (i);
    tcall_bind_put_(b, '/');
}

/* The default: text as if the model had sent it. */
TCALL_APART_ static int tcall_bind_text_(char *at, const tcall_field *f)
{
    tcall_tok tok;
    memset(&tok, 0, sizeof tok);
    tok.type = f->type;
    tok.end = (int)strlen(f->text);
    tok.span = 1;
    return f->read(at, tcall_json_cursor_(f->text, &tok), f);
}

/* Objects within objects recurse, TCALL_BIND_DEPTH times at most. */
static int tcall_bind_object_(tcall_bind_ *b, char *out, tcall_json object,
                              const tcall_field *f, int depth)
{
    int r = TCALL_OK;
    for (; f->name && r == TCALL_OK; f++) {
        tcall_json v = tcall_json_get(object, f->name), item = v;
        tcall_type type = tcall_json_type(v);
        char *at = out + f->offset;
        int i = 0, end = f->capacity ? f->capacity : 1;
        memset(at, 0, (size_t)f->size * (size_t)end);
        if (f->capacity) {
            item = tcall_json_first(v);
            memset(out + f->count_at, 0, sizeof(int));
        }
        if (type == TCALL_MISSING || (type == TCALL_NULL && f->type)) {
            if (f->required)
                r = TCALL_E_INVALID;
            else if (f->text)
                r = tcall_bind_text_(at, f);
            item.tok = NULL;
        } else if (f->capacity && type != TCALL_ARRAY) {
            r = TCALL_E_INVALID;
        }
        for (; item.tok && r == TCALL_OK; i++, at += f->size) {
            if (i == end)
                r = TCALL_E_RANGE;
            else if (f->type && tcall_json_type(item) != (tcall_type)f->type)
                r = TCALL_E_INVALID;
            else if (f->read)
                r = f->read(at, item, f);
            else if (depth == TCALL_BIND_DEPTH)
                r = TCALL_E_DEPTH;
            else
                r = tcall_bind_object_(b, at, item,
                                       (const tcall_field *)f->more, depth + 1);
            if (r < 0 && f->capacity)
                tcall_bind_index_(b, i);
            item = f->capacity ? tcall_json_next(item) : tcall_json_none_();
        }
        if (f->capacity && r == TCALL_OK)
            memcpy(out + f->count_at, &i, sizeof i);
        if (r < 0)
            tcall_bind_name_(b, f->name);
    }
    return r;
}

int tcall_bind(void *out, tcall_json args, const tcall_field *fields,
               char *path, size_t cap)
{
    tcall_bind_ b;
    b.path = path;
    b.cap = path ? cap : 0;
    b.len = 0;
    if (b.cap)
        *path = 0;
    if (tcall_json_type(args) != TCALL_OBJECT)
        return TCALL_E_INVALID;
    return tcall_bind_object_(&b, (char *)out, args, fields, 1);
}
