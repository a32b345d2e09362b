#pragma once
#include <float.h>
#include <limits.h>
#include <string.h>
#include "base.h"

/* ==========================================================================
 * >>base
 */

tcall_str tcall_str_of(const char *text)
{
    tcall_str s;
    s.ptr = text;
    s.len = text ? strlen(text) : 0;
    return s;
}

TCALL_SHARED_ tcall_str tcall_slice_(const char *ptr, size_t len)
{
    tcall_str s;
    s.ptr = ptr;
    s.len = len;
    return s;
}

bool tcall_str_eq(tcall_str a, tcall_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* The n-th of texts that stand one behind the other, each ended by NUL: a
 * table of pointers would double their size, and be linked with all of them. */
TCALL_SHARED_ const char *tcall_nth_(const char *texts, int n)
{
    while (n-- > 0)
        texts += strlen(texts) + 1;
    return texts;
}

#ifdef TOOLCALL_NO_SENTENCES
#define TCALL_X_(name, code, sentence) {code, code},
#else
#define TCALL_X_(name, code, sentence) {code, sentence},
#endif
/* Row -error: the first is success, the last any number that is no error. */
static const struct {
    const char *code, *sentence;
} tcall_errors_[] = {{"ok", "ok"},
                     TCALL_ERRORS(TCALL_X_){"?", "unknown error"}};
#undef TCALL_X_

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

TCALL_SHARED_ bool tcall_is_digit_(char c)
{
    return c >= '0' && c <= '9';
}

TCALL_SHARED_ bool tcall_is_space_(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Value of a hex digit, -1 when it is none. */
TCALL_SHARED_ int tcall_hex_(char c)
{
    if (tcall_is_digit_(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Writes a code point as UTF-8, 1 to 4 bytes. */
TCALL_SHARED_ size_t tcall_utf8_(char *out, uint32_t cp)
{
    size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4, i;
    if (n == 1) {
        out[0] = (char)cp;
        return 1;
    }
    for (i = n - 1; i > 0; i--, cp >>= 6)
        out[i] = (char)(0x80 | (cp & 0x3F));
    out[0] = (char)((0xF00 >> n & 0xF0) | cp);
    return n;
}

#if !defined TOOLCALL_NO_PATTERN || !defined TOOLCALL_NO_PICK
/* The code point at *at, which moves behind it. */
TCALL_SHARED_ int32_t tcall_utf8_next_(const char **at)
{
    unsigned char c = (unsigned char)*(*at)++;
    int more = c < 0xC0 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
    int32_t cp = more ? c & (0x3F >> more) : c;
    for (; more; more--)
        cp = cp << 6 | (*(*at)++ & 0x3F);
    return cp;
}
#endif

/* n or a little less: so that p is not cut inside a character. p[n] is there.
 */
TCALL_SHARED_ size_t tcall_utf8_cut_(const char *p, size_t n)
{
    while (n && ((unsigned char)p[n] & 0xC0) == 0x80)
        n--;
    return n;
}

/* The control character or quote that an escape stands for, 0: no escape. */
TCALL_SHARED_ char tcall_unescape_(char c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/': return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
    }
}

/* Decimal text, compared exactly: no floating point, nothing rounded. The
 * significant digits are those from first to last, a point between them does
 * not count; the first of them stands for digit * 10^top. */
typedef struct tcall_num_ {
    const char *first, *last;
    int top;
    int sign; /* -1, 0, 1 */
} tcall_num_;

/* Exponents beyond this are no different from it; ten times it fits an int
 * of 16 bits too. */
#define TCALL_EXPONENT_MAX_ (INT_MAX < 32768 ? 1638 : 1000000)

TCALL_SHARED_ tcall_num_ tcall_num_read_(tcall_str text)
{
    const char *p = text.ptr, *end = p + text.len, *point = NULL;
    tcall_num_ n;
    int exponent = 0;
    bool minus = *p == '-';
    n.first = n.last = NULL;
    n.sign = 0;
    for (p += minus; p < end && (*p | 0x20) != 'e'; p++) {
        if (*p == '.') {
            point = p;
        } else if (*p != '0') {
            n.first = n.first ? n.first : p;
            n.last = p;
            n.sign = minus ? -1 : 1;
        }
    }
    if (!point)
        point = p;
    minus = false;
    for (; p < end; p++) {
        if (*p == '-')
            minus = true;
        else if (tcall_is_digit_(*p) && exponent < TCALL_EXPONENT_MAX_)
            exponent = exponent * 10 + (*p - '0');
    }
    n.top = minus ? -exponent : exponent;
    if (n.first)
        n.top += (int)(point - n.first) - (n.first < point);
    return n;
}

/* The next significant digit from *p on, 0 behind the last. */
TCALL_SHARED_ int tcall_num_digit_(const tcall_num_ *n, const char **p)
{
    if (**p == '.' && *p <= n->last)
        ++*p;
    if (*p > n->last)
        return 0;
    return *(*p)++ - '0';
}

/* Number of significant digits. */
TCALL_SHARED_ int tcall_num_digits_(const tcall_num_ *n)
{
    const char *p;
    int count = 0;
    if (!n->sign)
        return 0;
    for (p = n->first; p <= n->last; p++)
        count += *p != '.';
    return count;
}

/* True for 5, 5.0 and 5e3, false for 5.5. */
TCALL_SHARED_ bool tcall_num_integral_(const tcall_num_ *n)
{
    return !n->sign || n->top - tcall_num_digits_(n) + 1 >= 0;
}

TCALL_SHARED_ int tcall_num_compare_(const tcall_num_ *a, const tcall_num_ *b)
{
    const char *p = a->first, *q = b->first;
    int order = a->sign - b->sign;
    if (order || !a->sign)
        return order;
    order = a->top - b->top;
    while (!order && (p <= a->last || q <= b->last))
        order = tcall_num_digit_(a, &p) - tcall_num_digit_(b, &q);
    return a->sign * order;
}

/* value * 10^decimals as an integer; surplus digits are cut off. False when
 * it does not fit. */
TCALL_SHARED_ bool tcall_num_int64_(const tcall_num_ *n, int decimals,
                                    int64_t *out)
{
    const char *p = n->first;
    int left = n->top + decimals;
    uint64_t v = 0, limit = (uint64_t)INT64_MAX + (n->sign < 0);
    *out = 0;
    if (!n->sign || left < 0)
        return true;
    if (left > 18)
        return false;
    for (; left >= 0; left--) {
        v = (v << 3) + (v << 1) + (uint64_t)tcall_num_digit_(n, &p);
        if (v > limit)
            return false;
    }
    *out = n->sign < 0 ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

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
