#pragma once
#include "syntax.h"
#include "shape.c"

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
       TCALL_AT_BARE_
};

/* Ends the reading with an error at a place. The first error stays. */
TCALL_NOINLINE_ static const char *tcall_syntax_fail_(tcall_syntax_ *s,
                                                      int error, const char *at)
{
    s->error = s->error ? s->error : error;
    s->halt = true;
    return at;
}

static void tcall_syntax_raw_ends_(tcall_syntax_ *s, const char *at)
{
    if (at > s->from)
        TCALL_USER_(s, data)(s, s->from, (size_t)(at - s->from));
}

/* The value before at is complete. */
static inline void tcall_syntax_value_ends_(tcall_syntax_ *s, const char *at)
{
    s->state = s->depth ? TCALL_AT_NEXT_ : TCALL_AT_DONE_;
    s->halt = !s->depth;
    if (!s->quiet) {
        s->from = at;
        TCALL_USER_(s, end)(s);
    } else if (s->quiet == s->depth + 1) {
        s->quiet = 0;
        if (s->raw) {
            tcall_syntax_raw_ends_(s, at);
            s->raw = false;
            TCALL_USER_(s, end)(s);
        }
    }
}

/* An object or array opens. */
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

/* A bracket closes the innermost one, if it is the right one. */
static const char *tcall_syntax_close_(tcall_syntax_ *s, const char *at)
{
    if (*at != (s->object ? '}' : ']'))
        return tcall_syntax_fail_(
            s,
            *at == '}' || *at == ']' ? TCALL_E_BRACKETS : TCALL_E_MISSING_COMMA,
            at);
    s->depth--;
    s->object = s->depth && TCALL_BIT_OF_(s->open, s->depth - 1u);
    tcall_syntax_value_ends_(s, at + 1);
    return at + 1;
}

/* ---- strings ---- */

/* Runs over bytes that stand for themselves, and characters of several. */
static const char *tcall_syntax_plain_(tcall_syntax_ *s, const char *at,
                                       const char *end)
{
    for (;; at++) {
        if (!s->utf.left) {
            at = tcall_plain_(at, end);
            if (at == end || (unsigned char)*at < 0x80)
                return at;
        }
        if (at == end)
            return at;
        if (!tcall_utf8_step_(&s->utf, (unsigned char)*at))
            return tcall_syntax_fail_(s, TCALL_E_UTF8, at);
        s->followed += ((unsigned char)*at & 0xC0) == 0x80;
    }
}

/* Tells a part of a name or value, if anybody asked for it. */
static void tcall_syntax_part_(tcall_syntax_ *s, const char *from,
                               const char *at)
{
    if (s->quiet || at == from)
        return;
    if (s->named)
        TCALL_USER_(s, name)(s, from, (size_t)(at - from), false);
    else
        TCALL_USER_(s, data)(s, from, (size_t)(at - from));
}

/* A name ends with this part; mostly it is all of it. */
static void tcall_syntax_named_(tcall_syntax_ *s, const char *from,
                                const char *at)
{
    s->state = TCALL_AT_COLON_;
    if (!s->quiet && !TCALL_USER_(s, name)(s, from, (size_t)(at - from), true))
        s->quiet = (uint8_t)(s->depth + 1);
}

/* Eats a string up to its end, an escape, or the end of the piece. */
static const char *tcall_syntax_string_(tcall_syntax_ *s, const char *from,
                                        const char *end)
{
    const char *at = tcall_syntax_plain_(s, from, end);
    if (s->halt)
        return at;
    if (s->named && at < end && *at == '"') {
        tcall_syntax_named_(s, from, at);
        return at + 1;
    }
    tcall_syntax_part_(s, from, at);
    if (at == end || s->halt)
        return at;
    if (*at == '"')
        tcall_syntax_value_ends_(s, at + 1);
    else if (*at == '\\')
        s->state = TCALL_AT_ESCAPE_;
    else
        return tcall_syntax_fail_(s, *at ? TCALL_E_BAD_VALUE : TCALL_E_NUL, at);
    return at + 1;
}

/* A string begins. */
TCALL_NOINLINE_ static const char *tcall_syntax_quote_(tcall_syntax_ *s,
                                                       const char *at,
                                                       const char *end,
                                                       bool named)
{
    s->state = TCALL_AT_STRING_;
    s->named = named;
    s->followed = 0;
    if (!s->quiet)
        s->from = at;
    return tcall_syntax_string_(s, at + 1, end);
}

/* Tells of a character that was escaped. */
static void tcall_syntax_character_(tcall_syntax_ *s, uint32_t code)
{
    char bytes[4];
    size_t len = tcall_utf8_(bytes, code);
    s->state = TCALL_AT_STRING_;
    s->followed += len - 1;
    tcall_syntax_part_(s, bytes, bytes + len);
}

/* Eats what follows a backslash, or the backslash of the second half of a
 * character. */
static const char *tcall_syntax_escape_(tcall_syntax_ *s, const char *at)
{
    char c = tcall_unescape_(*at);
    if (s->state == TCALL_AT_HALF_) {
        if (*at != '\\')
            return tcall_syntax_fail_(s, TCALL_E_BAD_ESCAPE, at);
        s->state = TCALL_AT_ESCAPE_;
    } else if (*at == 'u') {
        s->state = TCALL_AT_HEX_;
        s->within = 4;
    } else if (!c || s->high) {
        return tcall_syntax_fail_(s, TCALL_E_BAD_ESCAPE, at);
    } else {
        tcall_syntax_character_(s, (unsigned char)c);
    }
    return at + 1;
}

/* Eats a digit of a \u escape. */
static const char *tcall_syntax_hex_(tcall_syntax_ *s, const char *at)
{
    int digit = tcall_hex_(*at);
    uint16_t unit = (uint16_t)(s->unit << 4 | digit), half = unit & 0xFC00;
    uint32_t code = unit;
    s->unit = unit;
    if (digit < 0 ||
        (--s->within == 0 && !s->halves && (half == 0xDC00) != (s->high != 0)))
        return tcall_syntax_fail_(s, TCALL_E_BAD_ESCAPE, at);
    if (s->within)
        return at + 1;
    if (half == 0xD800 && !s->halves) {
        s->high = unit;
        s->state = TCALL_AT_HALF_;
        return at + 1;
    }
    if (s->high) /* both halves begin with what is none of the character */
        code += ((uint32_t)s->high << 10) - 0x35FDC00;
    s->high = 0;
    tcall_syntax_character_(s, code);
    return at + 1;
}

/* ---- numbers and literals ---- */

/* Where a number is, or a literal, of which the offset is added. It may end
 * where nothing of it need follow: after what is marked, and a literal. */
enum {
    TCALL_N_NONE_, /* in neither */
    TCALL_N_START_,
    TCALL_N_MINUS_,
    TCALL_N_POINT_,
    TCALL_N_E_,
    TCALL_N_SIGN_,     /* of the exponent */
    TCALL_N_ZERO_,     /* a 0 before the point; may end, */
    TCALL_N_INTEGER_,  /* digits before the point; may end, */
    TCALL_N_FRACTION_, /* digits after the point; may end, */
    TCALL_N_EXPONENT_, /* its digits; may end */
    TCALL_N_LITERAL_,
    TCALL_N_TRUE_ = TCALL_N_LITERAL_ + 4 /* all of it */
};

/* What follows by the class of the next character, NONE: it is none of it. */
static const uint8_t tcall_number_grammar_[][6] TCALL_FLASH_ = {
    /* 0  1-9  .  e  +  - */
    {0, 0, 0, 0, 0, 0}, /* none */
    {6, 7, 0, 0, 0, 2}, /* start */
    {6, 7, 0, 0, 0, 0}, /* minus */
    {8, 8, 0, 0, 0, 0}, /* point */
    {9, 9, 0, 0, 5, 5}, /* e */
    {9, 9, 0, 0, 0, 0}, /* sign */
    {0, 0, 3, 4, 0, 0}, /* zero */
    {7, 7, 3, 4, 0, 0}, /* integer */
    {8, 8, 0, 4, 0, 0}, /* fraction */
    {9, 9, 0, 0, 0, 0}, /* exponent */
};
static const char tcall_literals_[] TCALL_FLASH_ = "true\0false\0null";

/* Returns where it is after this character, NONE where that is none of it. */
static uint8_t tcall_bare_next_(uint8_t at, char c)
{
    const uint8_t *next;
    if (at >= TCALL_N_LITERAL_)
        return c && TCALL_BYTE_(&tcall_literals_[at - TCALL_N_LITERAL_]) == c
                   ? (uint8_t)(at + 1)
                   : (uint8_t)TCALL_N_NONE_;
    next = tcall_number_grammar_[at];
    if (tcall_is_digit_(c))
        next += c != '0';
    else if (c == '.')
        next += 2;
    else if ((c | 0x20) == 'e')
        next += 3;
    else if (c == '+' || c == '-')
        next += c == '+' ? 4 : 5;
    else
        return TCALL_N_NONE_;
    return TCALL_FETCH_8_(next);
}

static bool tcall_bare_ends_(uint8_t at)
{
    return at >= TCALL_N_LITERAL_
               ? !TCALL_BYTE_(&tcall_literals_[at - TCALL_N_LITERAL_])
               : at >= TCALL_N_ZERO_;
}

/* Eats a number or literal, as far as it is there: where it ends shows behind
 * it. */
static const char *tcall_syntax_bare_(tcall_syntax_ *s, const char *from,
                                      const char *end)
{
    const char *at = from;
    uint8_t within = s->within, next = within;
    while (at < end && (next = tcall_bare_next_(within, *at)) != 0) {
        within = next;
        at++;
        if (within > TCALL_N_ZERO_ && within < TCALL_N_LITERAL_)
            while (at < end && tcall_is_digit_(*at))
                at++;
    }
    s->within = within;
    tcall_syntax_part_(s, from, at);
    if (next)
        return at;
    if (!tcall_bare_ends_(within))
        return tcall_syntax_fail_(s, TCALL_E_BAD_VALUE, at);
    tcall_syntax_value_ends_(s, at);
    return at;
}

/* ---- values ---- */

/* Returns the types that a value may have which begins with this character; 0:
 * none does. */
TCALL_NOINLINE_ TCALL_SHARED_ uint8_t tcall_types_from_(char first)
{
    switch (first) {
    case '"': return TCALL_SHAPE_STRING;
    case '{': return TCALL_SHAPE_OBJECT;
    case '[': return TCALL_SHAPE_ARRAY;
    case 'n': return TCALL_SHAPE_NULL;
    case 't':
    case 'f': return TCALL_SHAPE_BOOLEAN;
    default:
        return first == '-' || tcall_is_digit_(first)
                   ? TCALL_SHAPE_NUMBER | TCALL_SHAPE_INTEGER
                   : 0;
    }
}

/* A value begins: the user says whether it is heard. */
static const char *tcall_syntax_value_(tcall_syntax_ *s, const char *at,
                                       const char *end)
{
    const char c = *at;
    const uint8_t types = tcall_types_from_(c);
    if (!types)
        return c == ']' && s->state == TCALL_AT_FIRST_
                   ? tcall_syntax_close_(s, at)
                   : tcall_syntax_fail_(s, TCALL_E_BAD_VALUE, at);
    if (!s->quiet) {
        tcall_ask_ ask;
        s->types = types;
        s->from = at;
        ask = TCALL_USER_(s, begin)(s, c);
        if (ask != TCALL_HEAR_)
            s->quiet = (uint8_t)(s->depth + 1);
        s->raw = ask == TCALL_RAW_;
    }
    if (types & (TCALL_SHAPE_OBJECT | TCALL_SHAPE_ARRAY))
        return tcall_syntax_open_(s, at);
    if (types == TCALL_SHAPE_STRING)
        return tcall_syntax_quote_(s, at, end, false);
    s->named = false;
    s->state = TCALL_AT_BARE_;
    s->within = (uint8_t)(types & TCALL_SHAPE_NUMBER ? TCALL_N_START_
                          : c == 't'                 ? TCALL_N_LITERAL_
                          : c == 'f'                 ? TCALL_N_LITERAL_ + 5
                                                     : TCALL_N_LITERAL_ + 11);
    return tcall_syntax_bare_(s, at, end);
}

/* Eats what comes next; mostly a comma or colon with what follows it. */
static const char *tcall_syntax_turn_(tcall_syntax_ *s, const char *at,
                                      const char *end)
{
    const char c = *at;
    if ((unsigned char)c <= ' ' && s->state <= TCALL_AT_DONE_ &&
        tcall_is_space_(c)) {
        s->halt = s->lines && (c == '\n' || c == '\r');
        if (s->raw)
            tcall_syntax_raw_ends_(s, at);
        s->from = at + 1;
        return at + 1;
    }
    switch (s->state) {
    case TCALL_AT_FIRST_NAME_:
        if (c == '}')
            return tcall_syntax_close_(s, at);
        /* fall through */
    case TCALL_AT_NAME_:
        if (c != '"')
            return tcall_syntax_fail_(s, TCALL_E_BAD_KEY, at);
        return tcall_syntax_quote_(s, at, end, true);
    case TCALL_AT_COLON_:
        if (c != ':')
            return tcall_syntax_fail_(s, TCALL_E_MISSING_COLON, at);
        s->state = TCALL_AT_VALUE_;
        at++;
        if (at == end || (unsigned char)*at <= ' ')
            return at;
        /* fall through */
    case TCALL_AT_FIRST_:
    case TCALL_AT_VALUE_: return tcall_syntax_value_(s, at, end);
    case TCALL_AT_NEXT_:
        if (c != ',')
            return tcall_syntax_close_(s, at);
        s->state = s->object ? TCALL_AT_NAME_ : TCALL_AT_VALUE_;
        at++;
        if (!s->object || at == end || *at != '"')
            return at;
        return tcall_syntax_quote_(s, at, end, true);
    case TCALL_AT_DONE_: return tcall_syntax_fail_(s, TCALL_E_TRAILING, at);
    case TCALL_AT_STRING_: return tcall_syntax_string_(s, at, end);
    case TCALL_AT_HEX_: return tcall_syntax_hex_(s, at);
    case TCALL_AT_BARE_: return tcall_syntax_bare_(s, at, end);
    default: return tcall_syntax_escape_(s, at);
    }
}

/* The short way of bytes that come one by one: false for all but a string's. */
TCALL_SHARED_ inline bool tcall_syntax_plain_byte_(tcall_syntax_ *s,
                                                   const char *byte)
{
    if (s->state != TCALL_AT_STRING_ || s->utf.left || s->halt ||
        tcall_plain_run_(byte, byte + 1) == byte)
        return false;
    if (s->raw)
        TCALL_USER_(s, data)(s, byte, 1);
    else
        tcall_syntax_part_(s, byte, byte + 1);
    return true;
}

/* Eats a piece. Returns how many bytes: all, or up to where it halts. */
TCALL_NOINLINE_ TCALL_SHARED_ size_t tcall_syntax_feed_(tcall_syntax_ *s,
                                                        const char *bytes,
                                                        size_t len)
{
    const char *at = bytes, *end = bytes + len;
    s->from = bytes;
    s->halt = s->error != TCALL_OK;
    while (at < end && !s->halt)
        at = tcall_syntax_turn_(s, at, end);
    if (s->raw)
        tcall_syntax_raw_ends_(s, at);
    return (size_t)(at - bytes);
}

/* Ends the text; a number or literal at the root ends only here. Returns the
 * error. */
TCALL_SHARED_ int tcall_syntax_end_(tcall_syntax_ *s)
{
    if (!s->error && s->state == TCALL_AT_BARE_ && !s->depth &&
        tcall_bare_ends_(s->within))
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

#ifdef TOOLCALL_JSMN

/* ---- a text that jsmn has tokenised ----
 *
 * jsmn lets pass what JSON does not allow between two strings, and within them.
 * So the recogniser reads what is between them, and tells of a string as jsmn
 * found it where nothing in it is escaped.
 */

/* Reads up to an end. */
static void tcall_tokens_eat_(tcall_syntax_ *s, const char *at, const char *end)
{
    while (at < end && !s->error)
        at = tcall_syntax_turn_(s, at, end);
}

/* Tells of the string between these quotes. */
static void tcall_tokens_string_(tcall_syntax_ *s, const char *from,
                                 const char *to)
{
    const char *text = from + 1;
    if (s->state > TCALL_AT_FIRST_NAME_ || tcall_plain_(text, to) != to) {
        tcall_tokens_eat_(s, from, to + 1);
        return;
    }
    s->from = from;
    s->followed = 0;
    s->named = s->state >= TCALL_AT_NAME_;
    if (s->named) {
        tcall_syntax_named_(s, text, to);
        return;
    }
    s->types = TCALL_SHAPE_STRING;
    TCALL_USER_(s, begin)(s, '"');
    tcall_syntax_part_(s, text, to);
    tcall_syntax_value_ends_(s, to + 1);
}

/* Tells all of a text to the user, who has just begun and asks for all. Returns
 * whether it went well: else the text is no JSON, or the user found an error,
 * and may have been told a part. */
TCALL_SHARED_ bool tcall_syntax_tokens_(tcall_syntax_ *s, tcall_str text,
                                        const jsmntok_t *tok, int count)
{
    const char *at = text.ptr;
    for (; count-- > 0 && !s->error; tok++) {
        const char *from = text.ptr + tok->start - 1;
        if (tok->type != JSMN_STRING)
            continue;
        tcall_tokens_eat_(s, at, from);
        at = text.ptr + tok->end;
        if (!s->error)
            tcall_tokens_string_(s, from, at);
        at++;
    }
    tcall_tokens_eat_(s, at, text.ptr + text.len);
    return !s->error && s->state == TCALL_AT_DONE_;
}

#endif

/* ---- a user that hears nothing ---- */

static tcall_ask_ tcall_syntax_skip_(tcall_syntax_ *s, char first)
{
    (void)s;
    (void)first;
    return TCALL_SKIP_;
}

/* For a text that is only to be recognised. */
TCALL_UNUSED_ static const tcall_syntax_user_ tcall_syntax_nobody_
    TCALL_FLASH_ = {NULL, tcall_syntax_skip_, NULL, NULL};
