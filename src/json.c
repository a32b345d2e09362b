#pragma once
#include "json.h"
#include "syntax.c"
#include "text.c"

/* ==========================================================================
 * >>json
 */

TCALL_SHARED_ tcall_json tcall_json_of_(const char *at, const char *key)
{
    tcall_json v;
    v.at = at;
    v.key = key;
    return v;
}

TCALL_SHARED_ tcall_json tcall_json_none_(void)
{
    return tcall_json_of_(NULL, NULL);
}

/* Returns the value at a place where the key of a member or an element may be.
 */
TCALL_SHARED_ tcall_json tcall_json_here_(const char *at, bool member)
{
    return member && at ? tcall_json_of_(tcall_text_value_(at), at)
                        : tcall_json_of_(at, NULL);
}

/* ---- parsing ---- */

enum { TCALL_SEEN_SLOTS_ = 64 }; /* of a table on the stack */

/* Puts a hash into the table. Returns whether it was there. */
static bool tcall_json_seen_(uint32_t seen[TCALL_SEEN_SLOTS_], uint32_t hash,
                             bool add)
{
    unsigned slot = (unsigned)hash % TCALL_SEEN_SLOTS_;
    while (seen[slot] && seen[slot] != hash)
        slot = (slot + 1) % TCALL_SEEN_SLOTS_;
    if (seen[slot])
        return true;
    seen[slot] = add ? hash : 0;
    return false;
}

static const char *tcall_json_after_(const char *key)
{
    return tcall_text_after_(tcall_text_skip_(tcall_text_value_(key)));
}

/* Returns the first key of the object that stands in it before. The hashes of
 * some are compared with those of all that follow, pass by pass. */
static const char *tcall_json_twice_(const char *object)
{
    const char *from = tcall_text_first_(object), *key, *rest;
    for (; from; from = rest) {
        uint32_t seen[TCALL_SEEN_SLOTS_] = {0};
        int room = TCALL_SEEN_SLOTS_ * 3 / 4;
        for (key = from, rest = NULL; key; key = tcall_json_after_(key)) {
            uint32_t hash = tcall_text_hash_(tcall_text_bytes_of_(key)) | 1;
            if (!room && !rest)
                rest = key;
            if (tcall_json_seen_(seen, hash, room > 0)) {
                if (tcall_text_find_(tcall_text_first_(object), key) != key)
                    return key;
            } else if (room) {
                room--;
            }
        }
    }
    return NULL;
}

/* Refuses what is JSON and yet no value: returns the error, and its place. */
static int tcall_json_odd_(const char *at, const char *end, const char **where)
{
    const char *next, *twice;
    for (; at < end; at = next) {
        bool scalar = tcall_text_scalar_(at, at + 1) == at;
        next = scalar ? tcall_text_skip_(at) : at + 1;
        *where = at;
        if (scalar && tcall_text_type_(at) == TCALL_NUMBER) {
            tcall_num_ num = tcall_text_number_(at);
            if (!tcall_num_in_range_(&num))
                return TCALL_E_RANGE;
        }
        twice = *at == '{' ? tcall_json_twice_(at) : NULL;
        if (twice) {
            *where = twice + 1;
            return TCALL_E_DUPLICATE;
        }
    }
    return TCALL_OK;
}

/* Takes the white space out of a text and ends it. */
static void tcall_json_compact_(char *text, const char *end)
{
    const char *at = text;
    while (at < end) {
        const char *to = *at == '"' ? tcall_text_skip_(at) : at + 1;
        size_t len = (size_t)(to - at);
        if (!tcall_is_space_(*at)) {
            memmove(text, at, len);
            text += len;
        }
        at = to;
    }
    *text = 0;
}

/* Recognises a text, of which nobody hears. Returns where it stops to be JSON,
 * or its end; the error is in s. */
TCALL_SHARED_ const char *
tcall_json_recognise_(tcall_syntax_ *s, const char *text, const char *end)
{
    tcall_syntax_begin_(s, &tcall_syntax_nobody_);
    while (text < end && !s->error)
        text += tcall_syntax_feed_(s, text, (size_t)(end - text));
    tcall_syntax_end_(s);
    return text;
}

int tcall_json_check(tcall_str text)
{
    tcall_syntax_ syntax;
    tcall_json_recognise_(&syntax, text.ptr, text.ptr + text.len);
    return syntax.error;
}

int tcall_json_parse(tcall_json *out, char *text, size_t len, size_t *at)
{
    tcall_syntax_ syntax;
    char *end = text + len;
    const char *where = tcall_json_recognise_(&syntax, text, end);
    int r = syntax.error;
    *out = tcall_json_none_();
    if (r == TCALL_OK) {
        *end = 0;
        r = tcall_json_odd_(text, end, &where);
    }
    if (at)
        *at = (size_t)(where - text);
    if (r < 0)
        return r;
    tcall_json_compact_(text, end);
    *out = tcall_json_of_(text, NULL);
    return TCALL_OK;
}

/* ---- getters ---- */

tcall_type tcall_json_type(tcall_json v)
{
    return v.at ? tcall_text_type_(v.at) : TCALL_MISSING;
}

tcall_json tcall_json_first(tcall_json v)
{
    return tcall_json_here_(tcall_text_first_(v.at), v.at && *v.at == '{');
}

tcall_json tcall_json_next(tcall_json v)
{
    if (!v.at)
        return v;
    return tcall_json_here_(tcall_text_after_(tcall_text_skip_(v.at)), v.key);
}

tcall_str tcall_json_key(tcall_json v)
{
    return v.key ? tcall_text_decode_(v.key) : tcall_slice_(NULL, 0);
}

tcall_json tcall_json_get(tcall_json object, const char *key)
{
    bool has = tcall_json_type(object) == TCALL_OBJECT;
    return tcall_json_here_(
        has ? tcall_text_member_(object.at, tcall_str_of(key)) : NULL, true);
}

tcall_json tcall_json_at(tcall_json array, int index)
{
    tcall_json v = tcall_json_none_();
    if (index >= 0 && tcall_json_type(array) == TCALL_ARRAY)
        for (v = tcall_json_first(array); v.at && index; index--)
            v = tcall_json_next(v);
    return v;
}

int tcall_json_count(tcall_json v)
{
    return v.at ? (int)tcall_text_count_(v.at) : 0;
}

tcall_str tcall_json_str(tcall_json v)
{
    tcall_type type = tcall_json_type(v);
    if (type == TCALL_MISSING || type > TCALL_STRING)
        return tcall_slice_(NULL, 0);
    return type == TCALL_STRING ? tcall_text_decode_(v.at)
                                : tcall_text_verbatim_(v.at);
}

const char *tcall_json_string(tcall_json v, const char *fallback)
{
    return tcall_json_type(v) == TCALL_STRING ? tcall_text_decode_(v.at).ptr
                                              : fallback;
}

bool tcall_json_bool(tcall_json v, bool fallback)
{
    if (tcall_json_type(v) != TCALL_BOOL)
        return fallback;
    return *v.at == 't';
}

int64_t tcall_json_int64(tcall_json v, int64_t fallback)
{
    tcall_num_ n;
    int64_t out;
    if (tcall_json_type(v) != TCALL_NUMBER)
        return fallback;
    n = tcall_text_number_(v.at);
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
    n = tcall_text_number_(v.at);
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
    n = tcall_text_number_(v.at);
    return tcall_num_double_(&n, &out) ? out : fallback;
}
