#pragma once
#include <float.h>
#include <limits.h>
#include <string.h>
#include "base.h"

/* ==========================================================================
 * >>base
 */

/* ---- slices ---- */

TCALL_SHARED_ tcall_str tcall_slice_(const char *ptr, size_t len)
{
    tcall_str slice;
    slice.ptr = ptr;
    slice.len = len;
    return slice;
}

tcall_str tcall_str_of(const char *text)
{
    return tcall_slice_(text, text ? strlen(text) : 0);
}

bool tcall_str_eq(tcall_str a, tcall_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* ---- errors ---- */

/* A row with its sentence, and one whose sentence was left out. */
#define TCALL_SAID_(name, code, sentence)   {code, sentence},
#define TCALL_UNSAID_(name, code, sentence) {code, code},
#ifdef TOOLCALL_NO_SENTENCES
#define TCALL_CALL_ROW_ TCALL_UNSAID_
#else
#define TCALL_CALL_ROW_ TCALL_SAID_
#endif
#ifdef TOOLCALL_NO_SCHEMA
#define TCALL_SCHEMA_ROW_ TCALL_UNSAID_
#else
#define TCALL_SCHEMA_ROW_ TCALL_CALL_ROW_
#endif
#ifdef TOOLCALL_NO_HOOKS
#define TCALL_HOOKS_ROW_ TCALL_UNSAID_
#else
#define TCALL_HOOKS_ROW_ TCALL_CALL_ROW_
#endif
#ifdef TOOLCALL_NO_AGENT
#define TCALL_AGENT_ROW_ TCALL_UNSAID_
#else
#define TCALL_AGENT_ROW_ TCALL_CALL_ROW_
#endif

/* Row -error: the first is success, the last any number that is no error. */
static const struct {
    const char *code, *sentence;
} tcall_errors_[] = {
    {"ok", "ok"},
    TCALL_ERRORS_CALL(TCALL_CALL_ROW_) TCALL_ERRORS_SCHEMA(TCALL_SCHEMA_ROW_)
        TCALL_ERRORS_HOOKS(TCALL_HOOKS_ROW_)
            TCALL_ERRORS_AGENT(TCALL_AGENT_ROW_){"?", "unknown error"}};

static int tcall_error_row_(int error)
{
    if (error > TCALL_OK)
        return 0;
    return error < -TCALL_I_COUNT ? TCALL_I_COUNT + 1 : -error;
}

const char *tcall_error_code(int error)
{
    return tcall_errors_[tcall_error_row_(error)].code;
}

const char *tcall_error_text(int error)
{
    return tcall_errors_[tcall_error_row_(error)].sentence;
}

const char *tcall_error_type(int error)
{
    switch (error) {
    case TCALL_E_DENIED:
    case TCALL_E_ABORTED:
    case TCALL_E_APPROVAL: return "permission";
    case TCALL_E_TWICE: return "security";
    case TCALL_E_FAILED:
    case TCALL_E_LOOP:
    case TCALL_E_STALE:
    case TCALL_E_UNREAD:
    case TCALL_E_NOT_FOUND: return "user";
    case TCALL_E_CANCELLED: return "cancelled";
    case TCALL_E_TIMEOUT: return "timeout";
    case TCALL_E_UNKNOWN:
    case TCALL_E_CUT: return "validation";
    default: break;
    }
    /* Everything else that reading and checking arguments reports. */
    return error <= TCALL_E_INVALID && error >= TCALL_E_RANGE ? "validation"
                                                              : "system";
}

/* ---- characters ---- */

TCALL_SHARED_ bool tcall_is_digit_(char c)
{
    return c >= '0' && c <= '9';
}

TCALL_SHARED_ char tcall_to_lower_(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* White space as JSON has it. */
TCALL_SHARED_ bool tcall_is_space_(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Returns the end of a run of bytes of a string that stand for themselves. */
TCALL_SHARED_ const char *tcall_plain_run_(const char *at, const char *end)
{
    for (; at < end; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte > '\\' ? byte >= 0x80 /* most letters are tested once */
                        : byte < 0x20 || byte == '"' || byte == '\\')
            break;
    }
    return at;
}

/* Returns the value of a hex digit, or -1. */
TCALL_SHARED_ int tcall_hex_(char digit)
{
    if (tcall_is_digit_(digit))
        return digit - '0';
    digit = (char)(digit | 0x20); /* to lower case */
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* First or following byte of a multi-byte character. */
TCALL_SHARED_ bool tcall_utf8_step_(tcall_utf_ *u, unsigned char c)
{
    if (u->left) {
        if (c < u->low || c > u->high)
            return false;
        u->left--;
        u->low = 0x80;
        u->high = 0xBF;
        return true;
    }
    if (c < 0xC2 || c > 0xF4)
        return false;
    u->left = (uint8_t)(c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3);
    u->low = (uint8_t)(c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80);
    u->high = (uint8_t)(c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF);
    return true;
}

static const char tcall_literals_[] TCALL_FLASH_ = "true\0false\0null";

/* Returns the literal that begins with c, in flash; null if there is none. */
TCALL_SHARED_ const char *tcall_literal_(char c)
{
    return tcall_literals_ + (c == 't' ? 0 : c == 'f' ? 5 : 11);
}

/* Writes a code point as UTF-8, 1 to 4 bytes, and returns how many. */
TCALL_SHARED_ size_t tcall_utf8_(char *out, uint32_t code)
{
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    size_t i;
    for (i = len - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(first[len] | code);
    return len;
}

#if !defined TOOLCALL_NO_PATTERN || !defined TOOLCALL_NO_PICK
/* Returns the code point at *at of valid UTF-8, and moves *at past it. */
TCALL_SHARED_ int32_t tcall_utf8_next_(const char **at)
{
    unsigned char first = (unsigned char)*(*at)++;
    int more = first < 0xC0 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    int32_t code = more ? first & (0x3F >> more) : first;
    for (; more; more--)
        code = code << 6 | (*(*at)++ & 0x3F);
    return code;
}
#endif

/* Returns len or a little less, so that text is not cut inside a character.
 * text[len] must be readable. */
TCALL_SHARED_ size_t tcall_utf8_cut_(const char *text, size_t len)
{
    while (len && ((unsigned char)text[len] & 0xC0) == 0x80)
        len--;
    return len;
}

/* Returns the character that an escape of one letter means, or 0. */
TCALL_SHARED_ char tcall_unescape_(char letter)
{
    switch (letter) {
    case '"':
    case '\\':
    case '/': return letter;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
    }
}

/* ---- the grammar of numbers ---- */

/* States of a number. After those marked it may end. */
enum {
    TCALL_N_NONE_, /* no number */
    TCALL_N_START_,
    TCALL_N_MINUS_,
    TCALL_N_ZERO_,    /* a 0 before the point; may end */
    TCALL_N_INTEGER_, /* digits before the point; may end */
    TCALL_N_POINT_,
    TCALL_N_FRACTION_, /* digits after the point; may end */
    TCALL_N_E_,
    TCALL_N_SIGN_,    /* of the exponent */
    TCALL_N_EXPONENT_ /* its digits; may end */
};

/* The grammar of numbers: the next state by class of the next character, 0
 * where it is none of the number. */
static const uint8_t tcall_number_grammar_[][6] TCALL_FLASH_ = {
    /* 0  1-9  .  e  +  - */
    {0, 0, 0, 0, 0, 0}, /* none */
    {3, 4, 0, 0, 0, 2}, /* start */
    {3, 4, 0, 0, 0, 0}, /* minus */
    {0, 0, 5, 7, 0, 0}, /* zero */
    {4, 4, 5, 7, 0, 0}, /* integer */
    {6, 6, 0, 0, 0, 0}, /* point */
    {6, 6, 0, 7, 0, 0}, /* fraction */
    {9, 9, 0, 0, 8, 8}, /* e */
    {9, 9, 0, 0, 0, 0}, /* sign */
    {9, 9, 0, 0, 0, 0}, /* exponent */
};

TCALL_SHARED_ uint8_t tcall_number_next_(uint8_t state, char c)
{
    const uint8_t *next = tcall_number_grammar_[state];
    switch (c) {
    case '.': next += 2; break;
    case 'e':
    case 'E': next += 3; break;
    case '+': next += 4; break;
    case '-': next += 5; break;
    default:
        if (!tcall_is_digit_(c))
            return 0;
        next += c != '0';
    }
    return (uint8_t)TCALL_BYTE_(next);
}

TCALL_SHARED_ bool tcall_number_ends_(uint8_t state)
{
    return state == TCALL_N_ZERO_ || state == TCALL_N_INTEGER_ ||
           state == TCALL_N_FRACTION_ || state == TCALL_N_EXPONENT_;
}

/* ---- decimal numbers ----
 *
 * Numbers stay text and are compared exactly: no floating point, nothing is
 * rounded. The significant digits are those from first to last, where a point
 * between them does not count; the first one is worth digit * 10^top.
 */
typedef struct tcall_num_ {
    const char *first, *last; /* neither is 0; both NULL: the number is 0 */
    int top;
    int sign; /* -1, 0, 1 */
} tcall_num_;

/* Greater exponents are no different from this one. Ten times it fits an int
 * of 16 bits, too. */
#define TCALL_EXPONENT_MAX_ (INT_MAX < 32768 ? 1638 : 1000000)

/* Returns the exponent that text, "e+5" or nothing, holds. */
static int tcall_num_exponent_(const char *at, const char *end)
{
    bool minus = false;
    int exponent = 0;
    for (; at < end; at++) {
        if (*at == '-')
            minus = true;
        else if (tcall_is_digit_(*at) && exponent < TCALL_EXPONENT_MAX_)
            exponent = exponent * 10 + (*at - '0');
    }
    return minus ? -exponent : exponent;
}

/* Reads a number that the scanner accepted. */
TCALL_SHARED_ tcall_num_ tcall_num_read_(tcall_str text)
{
    const char *at = text.ptr, *end = at + text.len, *point = NULL;
    bool minus = *at == '-';
    tcall_num_ number;
    number.first = number.last = NULL;
    number.sign = 0;
    for (at += minus; at < end && (*at | 0x20) != 'e'; at++) {
        if (*at == '.') {
            point = at;
        } else if (*at != '0') {
            number.first = number.first ? number.first : at;
            number.last = at;
            number.sign = minus ? -1 : 1;
        }
    }
    if (!point)
        point = at;
    number.top = tcall_num_exponent_(at, end);
    if (number.first) /* a digit before the point is one place nearer to it */
        number.top +=
            (int)(point - number.first) - (number.first < point ? 1 : 0);
    return number;
}

/* Returns the next significant digit from *at on, 0 after the last. The point
 * between the digits is stepped over. */
TCALL_SHARED_ int tcall_num_digit_(const tcall_num_ *number, const char **at)
{
    if (*at <= number->last && **at == '.')
        ++*at;
    if (*at > number->last)
        return 0;
    return *(*at)++ - '0';
}

/* Returns the number of significant digits. */
TCALL_SHARED_ int tcall_num_digits_(const tcall_num_ *number)
{
    const char *at;
    int count = 0;
    if (!number->sign)
        return 0;
    for (at = number->first; at <= number->last; at++)
        count += *at != '.';
    return count;
}

/* True for 5, 5.0 and 5e3, false for 5.5. */
TCALL_SHARED_ bool tcall_num_integral_(const tcall_num_ *number)
{
    return !number->sign || number->top - tcall_num_digits_(number) + 1 >= 0;
}

/* Returns < 0, 0 or > 0. */
TCALL_SHARED_ int tcall_num_compare_(const tcall_num_ *a, const tcall_num_ *b)
{
    const char *at_a = a->first, *at_b = b->first;
    int order = a->sign - b->sign;
    if (order || !a->sign)
        return order;
    order = a->top - b->top;
    while (!order && (at_a <= a->last || at_b <= b->last))
        order = tcall_num_digit_(a, &at_a) - tcall_num_digit_(b, &at_b);
    return a->sign * order;
}

/* Gives number * 10^decimals as an integer; surplus digits are cut off.
 * Returns false when it does not fit. */
TCALL_SHARED_ bool tcall_num_int64_(const tcall_num_ *number, int decimals,
                                    int64_t *out)
{
    const char *at = number->first;
    int left = number->top + decimals; /* digits to come, less one */
    uint64_t sum = 0, limit = (uint64_t)INT64_MAX + (number->sign < 0);
    *out = 0;
    if (!number->sign || left < 0)
        return true;
    if (left > 18) /* more digits than 64 bits hold */
        return false;
    for (; left >= 0; left--) {
        sum = sum * 10 + (uint64_t)tcall_num_digit_(number, &at);
        if (sum > limit)
            return false;
    }
    *out = number->sign < 0 ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

/* Returns digits * 10^exponent. It is the nearest double for up to 2^53 and
 * 10^22, which doubles hold exactly; else it may be off by a few units in the
 * last place. */
TCALL_SHARED_ double tcall_decimal_(uint64_t digits, int exponent)
{
    double value = (double)digits, power;
    int steps = exponent < 0 ? -exponent : exponent, i;
    for (; steps > 0 && value > 0 && value <= DBL_MAX; steps -= 22) {
        power = 1;
        for (i = 0; i < 22 && i < steps; i++)
            power *= 10;
        value = exponent < 0 ? value / power : value * power;
    }
    return value;
}

/* ---- hash ---- */

/* FNV-1a: the hash of a text is that of its parts, one after the other. */
#define TCALL_HASH_EMPTY_ 2166136261u

TCALL_SHARED_ uint32_t tcall_hash_more_(uint32_t hash, tcall_str part)
{
    size_t i;
    for (i = 0; i < part.len; i++)
        hash = (hash ^ (unsigned char)part.ptr[i]) * 16777619u;
    return hash;
}

TCALL_SHARED_ uint32_t tcall_hash_(tcall_str text)
{
    return tcall_hash_more_(TCALL_HASH_EMPTY_, text);
}
