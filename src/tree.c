#pragma once
#include "tree.h"
#include "json.c"
#include "scan.c"

/* ==========================================================================
 * >>tree
 *
 * The scanner makes the tokens while it recognises the text. What is left to
 * do goes over the tokens once: strings are decoded where they lie, scalars
 * get a NUL behind them, keys that stand twice are found.
 */

TCALL_SHARED_ tcall_tree_ tcall_tree_none_(void)
{
    tcall_tree_ v;
    v.text = NULL;
    v.tok = NULL;
    return v;
}

TCALL_SHARED_ tcall_tree_ tcall_tree_cursor_(const char *text,
                                             const tcall_tok_ *tok)
{
    tcall_tree_ v;
    v.text = text;
    v.tok = tok;
    return v;
}

tcall_type tcall_tree_type_(tcall_tree_ v)
{
    return v.tok ? (tcall_type)(v.tok->type & TCALL_TYPE_) : TCALL_MISSING;
}

TCALL_SHARED_ tcall_str tcall_tok_str_(const char *text, const tcall_tok_ *tok)
{
    return tcall_slice_(text + tok->start, (size_t)(tok->end - tok->start));
}

/* Whether two keys, the first of len bytes, are the same. */
static inline bool tcall_tree_same_(const char *text, const tcall_tok_ *key,
                                    int len, const tcall_tok_ *other)
{
    return len == other->end - other->start &&
           memcmp(text + key->start, text + other->start, (size_t)len) == 0;
}

/* The key that stands twice. The marks of the object's own tokens serve as the
 * hash table: there are at least twice as many of them as keys. Too many
 * collisions count as a duplicate: they do not come by chance. */
static tcall_tok_ *tcall_find_duplicate_key_(const char *text,
                                             tcall_tok_ *object)
{
    tcall_tok_ *first = object + 1, *end = object + object->span, *key, *slot;
    int probes = 32;
    for (key = first; key < end; key += 1 + key[1].span) {
        int len = key->end - key->start;
        slot = first +
               tcall_hash_(tcall_tok_str_(text, key)) % (uint32_t)(end - first);
        for (probes += 8; slot->mark; probes--) {
            if (probes == 0 ||
                tcall_tree_same_(text, key, len, object + slot->mark))
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
static int tcall_tree_decode_(char *text, tcall_tok_ *t, bool refuse_nul)
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
TCALL_SHARED_ int tcall_tree_finish_(char *text, tcall_tok_ *tok, int count,
                                     bool refuse_nul, size_t *at)
{
    tcall_tok_ *t = tok + count, *twice;
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
                r = tcall_tree_decode_(text, t, refuse_nul);
            if (r < 0)
                break;
            text[t->end] = 0;
        }
    }
    if (r < 0)
        *at = (size_t)t->start;
    return r;
}

int tcall_tree_parse_(tcall_tree_ *out, char *text, size_t len, tcall_tok_ *tok,
                      size_t cap, size_t *need)
{
    tcall_scan scan;
    size_t at;
    int r;
    *out = tcall_tree_none_();
    r = tcall_scan_tokenize_(&scan, tcall_slice_(text, len), tok, cap);
    at = scan.pos;
    if (r == TCALL_OK && (scan.tokens > cap || len >= INT_MAX)) {
        r = TCALL_E_MEMORY;
        at = scan.tokens;
    }
    if (r == TCALL_OK)
        r = tcall_tree_finish_(text, tok, (int)scan.tokens, false, &at);
    if (need)
        *need = at;
    if (r < 0)
        return r;
    *out = tcall_tree_cursor_(text, tok);
    return (int)scan.tokens;
}

tcall_tree_ tcall_tree_first_(tcall_tree_ v)
{
    tcall_type type = tcall_tree_type_(v);
    if (type < TCALL_ARRAY || v.tok->span == 1)
        return tcall_tree_none_();
    return tcall_tree_cursor_(v.text, v.tok + (type == TCALL_OBJECT ? 2 : 1));
}

tcall_tree_ tcall_tree_next_(tcall_tree_ v)
{
    if (!v.tok || v.tok->type & TCALL_LAST_)
        return tcall_tree_none_();
    return tcall_tree_cursor_(
        v.text, v.tok + v.tok->span + (v.tok->type & TCALL_MEMBER_ ? 1 : 0));
}

tcall_str tcall_tree_key_(tcall_tree_ v)
{
    if (!v.tok || !(v.tok->type & TCALL_MEMBER_))
        return tcall_slice_(NULL, 0);
    return tcall_tok_str_(v.text, v.tok - 1);
}

static tcall_tree_ tcall_tree_find_(tcall_tree_ object, tcall_str key)
{
    const tcall_tok_ *t = object.tok, *end;
    if (tcall_tree_type_(object) == TCALL_OBJECT)
        for (end = t + t->span, t++; t < end; t += 1 + t[1].span)
            if (tcall_str_eq(tcall_tok_str_(object.text, t), key))
                return tcall_tree_cursor_(object.text, t + 1);
    return tcall_tree_none_();
}

tcall_tree_ tcall_tree_get_(tcall_tree_ object, const char *key)
{
    return tcall_tree_find_(object, tcall_str_of(key));
}

tcall_str tcall_tree_str_(tcall_tree_ v)
{
    tcall_type type = tcall_tree_type_(v);
    if (type == TCALL_MISSING || type > TCALL_STRING)
        return tcall_slice_(NULL, 0);
    return tcall_tok_str_(v.text, v.tok);
}

int tcall_tree_count_(tcall_tree_ v)
{
    tcall_tree_ i;
    int n = 0;
    for (i = tcall_tree_first_(v); i.tok; i = tcall_tree_next_(i))
        n++;
    return n;
}
