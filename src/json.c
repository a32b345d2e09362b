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

TCALL_SHARED_ tcall_json tcall_json_none_(void)
{
    tcall_json v;
    v.text = NULL;
    v.tok = NULL;
    return v;
}

TCALL_SHARED_ tcall_json tcall_json_cursor_(const char *text,
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

TCALL_SHARED_ tcall_str tcall_tok_str_(const char *text, const tcall_tok *tok)
{
    return tcall_slice_(text + tok->start, (size_t)(tok->end - tok->start));
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
static tcall_tok *tcall_find_duplicate_key_(const char *text, tcall_tok *object)
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

/* A scalar or a key that is not as plain as most. */
static int tcall_json_decode_(char *text, tcall_tok *t, bool refuse_nul)
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
TCALL_SHARED_ int tcall_json_finish_(char *text, tcall_tok *tok, int count,
                                     bool refuse_nul, size_t *at)
{
    tcall_tok *t = tok + count, *twice;
    int r = TCALL_OK;
    while (t > tok) {
        int type = (--t)->type & TCALL_TYPE_;
        if (type == TCALL_OBJECT && t->span > 3) {
            twice = tcall_find_duplicate_key_(text, t);
            if (twice) {
                t = twice;
                r = TCALL_E_DUPLICATE;
                break;
            }
        } else if (type < TCALL_ARRAY) {
            if (t->type & TCALL_NEEDS_DECODE_)
                r = tcall_json_decode_(text, t, refuse_nul);
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
    r = tcall_scan_tokenize_(&scan, tcall_slice_(text, len), tok, cap);
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

double tcall_json_double(tcall_json v, double fallback)
{
    tcall_num_ n;
    double out;
    if (tcall_json_type(v) != TCALL_NUMBER)
        return fallback;
    n = tcall_num_read_(tcall_json_str(v));
    return tcall_num_double_(&n, &out) ? out : fallback;
}
