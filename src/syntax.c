#pragma once
#include "syntax.h"
#include "base.c"

/* ==========================================================================
 * >>syntax
 */

enum { /* where it is; between tokens white space may be */
       TCALL_AT_VALUE_,
       TCALL_AT_FIRST_,
       TCALL_AT_NAME_,
       TCALL_AT_FIRST_NAME_,
       TCALL_AT_COLON_,
       TCALL_AT_NEXT_,
       TCALL_AT_DONE_,
       TCALL_AT_STRING_,
       TCALL_AT_ESCAPE_,
       TCALL_AT_HEX_,
       TCALL_AT_HALF_,
       TCALL_AT_LITERAL_,
       TCALL_AT_NUMBER_
};

static const char *tcall_syntax_fail_(tcall_syntax_ *s, int error,
                                      const char *at)
{
    s->error = error;
    s->halt = true;
    return at;
}

static void tcall_syntax_raw_ends_(tcall_syntax_ *s, const char *at)
{
    if (at > s->from)
        s->user->data(s, s->from, (size_t)(at - s->from));
}

/* The value before at is complete. */
static inline void tcall_syntax_value_ends_(tcall_syntax_ *s, const char *at)
{
    s->state = s->depth ? TCALL_AT_NEXT_ : TCALL_AT_DONE_;
    s->halt = !s->depth;
    if (!s->quiet) {
        s->user->end(s);
    } else if (s->quiet == s->depth + 1) {
        s->quiet = 0;
        if (s->raw) {
            tcall_syntax_raw_ends_(s, at);
            s->raw = false;
            s->user->end(s);
        }
    }
}

static const char *tcall_syntax_open_(tcall_syntax_ *s, const char *at)
{
    uint8_t bit = (uint8_t)(1 << (s->depth & 7)),
            *open = &s->open[s->depth >> 3];
    if (s->depth == TOOLCALL_MAX_DEPTH)
        return tcall_syntax_fail_(s, TCALL_E_DEPTH, at);
    s->object = *at == '{';
    *open = (uint8_t)(s->object ? *open | bit : *open & ~bit);
    s->depth++;
    s->state = s->object ? TCALL_AT_FIRST_NAME_ : TCALL_AT_FIRST_;
    return at + 1;
}

static const char *tcall_syntax_close_(tcall_syntax_ *s, const char *at)
{
    unsigned up;
    if (*at != (s->object ? '}' : ']'))
        return tcall_syntax_fail_(
            s,
            *at == '}' || *at == ']' ? TCALL_E_BRACKETS : TCALL_E_MISSING_COMMA,
            at);
    s->depth--;
    up = s->depth - 1u;
    s->object = s->depth && s->open[up >> 3] >> (up & 7) & 1;
    tcall_syntax_value_ends_(s, at + 1);
    return at + 1;
}

/* ---- strings ---- */

/* Runs over bytes that stand for themselves, a word at a time. */
static inline const char *tcall_syntax_ascii_(const char *at, const char *end)
{
    const size_t ones = (size_t)-1 / 255;
    while (sizeof ones > 2 && (size_t)(end - at) >= sizeof ones) {
        size_t word, quotes, slashes, marks;
        memcpy(&word, at, sizeof word);
        quotes = word ^ ones * '"';
        slashes = word ^ ones * '\\';
        marks =
            ((word - ones * 0x20) | (quotes - ones) | (slashes - ones) | word) &
            ones * 0x80;
#if defined __GNUC__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        if (marks) /* the lowest is right: a borrow only goes up */
            return at + (__builtin_ctzll(marks) >> 3);
#endif
        if (marks)
            break;
        at += sizeof word;
    }
    return tcall_plain_run_(at, end);
}

/* The same with characters of several bytes. */
static const char *tcall_syntax_plain_(tcall_syntax_ *s, const char *at,
                                       const char *end)
{
    for (;; at++) {
        if (!s->utf.left) {
            at = tcall_syntax_ascii_(at, end);
            if (at == end || (unsigned char)*at < 0x80)
                return at;
        }
        if (at == end)
            return at;
        if (!tcall_utf8_step_(&s->utf, (unsigned char)*at))
            return tcall_syntax_fail_(s, TCALL_E_UTF8, at);
        s->wide = true;
    }
}

/* Decoded bytes of a string. */
static void tcall_syntax_decoded_(tcall_syntax_ *s, const char *bytes,
                                  size_t len)
{
    if (s->named)
        s->user->name(s, bytes, len, false);
    else
        s->user->data(s, bytes, len);
}

static inline void tcall_syntax_named_(tcall_syntax_ *s, const char *name,
                                       size_t len)
{
    s->state = TCALL_AT_COLON_;
    if (!s->quiet && !s->user->name(s, name, len, true))
        s->quiet = (uint8_t)(s->depth + 1);
}

static const char *tcall_syntax_string_(tcall_syntax_ *s, const char *at,
                                        const char *end)
{
    for (;;) {
        const char *from = at;
        char c;
        at = tcall_syntax_plain_(s, at, end);
        if (at > from && !s->quiet)
            tcall_syntax_decoded_(s, from, (size_t)(at - from));
        if (at == end || s->halt)
            return at;
        c = *at++;
        if (c == '"') {
            if (s->named)
                tcall_syntax_named_(s, at, 0);
            else
                tcall_syntax_value_ends_(s, at);
            return at;
        }
        if (c != '\\')
            return tcall_syntax_fail_(s, c ? TCALL_E_BAD_VALUE : TCALL_E_NUL,
                                      at - 1);
        c = at < end ? tcall_unescape_(*at) : 0;
        if (!c) {
            s->state = TCALL_AT_ESCAPE_;
            return at;
        }
        if (!s->quiet)
            tcall_syntax_decoded_(s, &c, 1);
        at++;
    }
}

static void tcall_syntax_character_(tcall_syntax_ *s, uint32_t code)
{
    char bytes[4];
    size_t len = tcall_utf8_(bytes, code);
    s->state = TCALL_AT_STRING_;
    s->wide |= len > 1;
    if (!s->quiet)
        tcall_syntax_decoded_(s, bytes, len);
}

static const char *tcall_syntax_escape_(tcall_syntax_ *s, const char *at)
{
    char c = tcall_unescape_(*at);
    if (s->state == TCALL_AT_HALF_) {
        if (*at != '\\')
            return tcall_syntax_fail_(s, TCALL_E_BAD_ESCAPE, at);
        s->state = TCALL_AT_ESCAPE_;
    } else if (*at == 'u') {
        s->state = TCALL_AT_HEX_;
        s->hex = 4;
    } else if (!c || s->high) {
        return tcall_syntax_fail_(s, TCALL_E_BAD_ESCAPE, at);
    } else {
        tcall_syntax_character_(s, (unsigned char)c);
    }
    return at + 1;
}

static const char *tcall_syntax_hex_(tcall_syntax_ *s, const char *at)
{
    int digit = tcall_hex_(*at);
    bool low;
    s->unit = (uint16_t)(s->unit << 4 | digit);
    if (digit < 0)
        return tcall_syntax_fail_(s, TCALL_E_BAD_ESCAPE, at);
    if (--s->hex)
        return at + 1;
    low = (s->unit & 0xFC00) == 0xDC00;
    if (low != (s->high != 0))
        return tcall_syntax_fail_(s, TCALL_E_BAD_ESCAPE, at);
    if ((s->unit & 0xFC00) == 0xD800) {
        s->high = s->unit;
        s->state = TCALL_AT_HALF_;
        return at + 1;
    }
    tcall_syntax_character_(s, low ? 0x10000 +
                                         ((uint32_t)(s->high & 0x3FF) << 10) +
                                         (s->unit & 0x3FF)
                                   : s->unit);
    s->high = 0;
    return at + 1;
}

/* ---- numbers, literals, values ---- */

/* A part of a number or literal. */
static void tcall_syntax_part_(tcall_syntax_ *s, const char *from,
                               const char *at)
{
    if (at > from && !s->quiet)
        s->user->data(s, from, (size_t)(at - from));
}

static const char *tcall_syntax_literal_(tcall_syntax_ *s, const char *from,
                                         const char *end)
{
    const char *at = from;
    for (; at < end && TCALL_BYTE_(s->literal); at++, s->literal++)
        if (*at != TCALL_BYTE_(s->literal))
            return tcall_syntax_fail_(s, *at ? TCALL_E_BAD_VALUE : TCALL_E_NUL,
                                      at);
    tcall_syntax_part_(s, from, at);
    if (!TCALL_BYTE_(s->literal))
        tcall_syntax_value_ends_(s, at);
    return at;
}

static const char *tcall_syntax_number_(tcall_syntax_ *s, const char *from,
                                        const char *end)
{
    const char *at = from;
    uint8_t state = s->number, next = state;
    for (; at < end; at++) {
        next = tcall_number_next_(state, *at);
        if (!next)
            break;
        state = next;
    }
    s->number = state;
    if (!next && !tcall_number_ends_(state))
        return tcall_syntax_fail_(s, TCALL_E_BAD_VALUE, at);
    tcall_syntax_part_(s, from, at);
    if (!next)
        tcall_syntax_value_ends_(s, at);
    return at;
}

static const char *tcall_syntax_value_(tcall_syntax_ *s, const char *at,
                                       const char *end)
{
    char c = *at;
    if (c == ']' && s->state == TCALL_AT_FIRST_)
        return tcall_syntax_close_(s, at);
    if (!s->quiet) {
        tcall_ask_ ask;
        s->from = at;
        ask = s->user->begin(s, c);
        if (ask != TCALL_HEAR_)
            s->quiet = (uint8_t)(s->depth + 1);
        s->raw = ask == TCALL_RAW_;
    }
    if (c == '"') {
        s->state = TCALL_AT_STRING_;
        s->named = s->wide = false;
        return tcall_syntax_string_(s, at + 1, end);
    }
    if (c == '{' || c == '[')
        return tcall_syntax_open_(s, at);
    if (c == '-' || tcall_is_digit_(c)) {
        s->state = TCALL_AT_NUMBER_;
        s->number = TCALL_N_START_;
        return tcall_syntax_number_(s, at, end);
    }
    s->state = TCALL_AT_LITERAL_;
    s->literal = tcall_literal_(c);
    return tcall_syntax_literal_(s, at, end);
}

/* A name begins. Mostly it is all there and plain, and needs no memory. */
static const char *tcall_syntax_name_(tcall_syntax_ *s, const char *at,
                                      const char *end)
{
    const char *quote = tcall_syntax_ascii_(at, end);
    if (!s->quiet)
        s->from = at - 1;
    if (quote < end && *quote == '"') {
        tcall_syntax_named_(s, at, (size_t)(quote - at));
        return quote + 1;
    }
    s->state = TCALL_AT_STRING_;
    s->named = true;
    s->wide = false;
    return at;
}

/* What stands between tokens, and what follows it at once: a member is one
 * turn. */
static const char *tcall_syntax_turn_(tcall_syntax_ *s, const char *at,
                                      const char *end)
{
    if ((unsigned char)*at <= ' ' && tcall_is_space_(*at)) {
        s->halt = s->lines && *at == '\n';
        if (s->raw)
            tcall_syntax_raw_ends_(s, at);
        s->from = at + 1;
        return at + 1;
    }
    switch (s->state) {
    case TCALL_AT_FIRST_NAME_:
        if (*at == '}')
            return tcall_syntax_close_(s, at);
        /* fall through */
    case TCALL_AT_NAME_:
        if (*at != '"')
            return tcall_syntax_fail_(s, TCALL_E_BAD_KEY, at);
        at = tcall_syntax_name_(s, at + 1, end);
        if (s->state != TCALL_AT_COLON_ || at == end || *at != ':')
            return at;
        /* fall through */
    case TCALL_AT_COLON_:
        if (*at != ':')
            return tcall_syntax_fail_(s, TCALL_E_MISSING_COLON, at);
        s->state = TCALL_AT_VALUE_;
        at++;
        if (at == end || (unsigned char)*at <= ' ')
            return at;
        /* fall through */
    case TCALL_AT_FIRST_:
    case TCALL_AT_VALUE_:
        at = tcall_syntax_value_(s, at, end);
        if (s->state != TCALL_AT_NEXT_ || at == end || *at != ',')
            return at;
        /* fall through */
    case TCALL_AT_NEXT_:
        if (*at != ',')
            return tcall_syntax_close_(s, at);
        s->state = s->object ? TCALL_AT_NAME_ : TCALL_AT_VALUE_;
        return at + 1;
    default: return tcall_syntax_fail_(s, TCALL_E_TRAILING, at);
    }
}

/* The short way of bytes that come one by one: false for all but a string's. */
TCALL_SHARED_ inline bool tcall_syntax_plain_byte_(tcall_syntax_ *s,
                                                   const char *byte)
{
    if (s->state != TCALL_AT_STRING_ || s->utf.left || s->raw || s->halt ||
        tcall_plain_run_(byte, byte + 1) == byte)
        return false;
    if (!s->quiet)
        tcall_syntax_decoded_(s, byte, 1);
    return true;
}

/* Eats a piece. Returns how many bytes: all, or up to where it halts. */
TCALL_SHARED_ size_t tcall_syntax_feed_(tcall_syntax_ *s, const char *bytes,
                                        size_t len)
{
    const char *at = bytes, *end = bytes + len;
    s->from = bytes;
    s->halt = s->error != TCALL_OK;
    while (at < end && !s->halt) {
        switch (s->state) {
        case TCALL_AT_STRING_: at = tcall_syntax_string_(s, at, end); break;
        case TCALL_AT_ESCAPE_:
        case TCALL_AT_HALF_: at = tcall_syntax_escape_(s, at); break;
        case TCALL_AT_HEX_: at = tcall_syntax_hex_(s, at); break;
        case TCALL_AT_LITERAL_: at = tcall_syntax_literal_(s, at, end); break;
        case TCALL_AT_NUMBER_: at = tcall_syntax_number_(s, at, end); break;
        default: at = tcall_syntax_turn_(s, at, end);
        }
    }
    if (s->raw)
        tcall_syntax_raw_ends_(s, at);
    return (size_t)(at - bytes);
}

/* Ends the text; a number at the root ends only here. Returns the error. */
TCALL_SHARED_ int tcall_syntax_end_(tcall_syntax_ *s)
{
    if (!s->error && s->state == TCALL_AT_NUMBER_ && !s->depth)
        tcall_syntax_feed_(s, " ", 1);
    if (!s->error && s->state != TCALL_AT_DONE_)
        tcall_syntax_fail_(s, TCALL_E_TRUNCATED, NULL);
    return s->error;
}

TCALL_SHARED_ void tcall_syntax_begin_(tcall_syntax_ *s,
                                       const tcall_syntax_user_ *user)
{
    memset(s, 0, sizeof *s);
    s->user = user;
}
