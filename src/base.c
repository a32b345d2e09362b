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
    TCALL_ERRORS_CALL(TCALL_CALL_ROW_) TCALL_ERRORS_HOOKS(TCALL_HOOKS_ROW_)
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
    case TCALL_E_BUDGET:
    case TCALL_E_SCHEMA: return "system";
    default: break;
    }
    /* Everything else that reading and checking arguments reports. */
    return error <= TCALL_E_TRUNCATED && error >= TCALL_E_INVALID ? "validation"
                                                                  : "system";
}

/* ---- characters ---- */

TCALL_SHARED_ bool tcall_is_digit_(char c)
{
    return c >= '0' && c <= '9';
}

/* White space as JSON has it. */
TCALL_SHARED_ bool tcall_is_space_(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Returns the value of a hex digit, or -1. */
TCALL_SHARED_ int tcall_hex_(char digit)
{
    if (tcall_is_digit_(digit))
        return digit - '0';
    digit = (char)(digit | 0x20); /* to lower case */
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
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
