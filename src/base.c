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
    tcall_str slice = {ptr, len};
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

/* Returns one of several texts that stand behind each other, each ended by NUL.
 * So a table that nobody names is left out with its texts: compilers pool the
 * literals that tables of pointers are made of, and linkers keep all or none.
 */
TCALL_SHARED_ const char *tcall_nth_(const char *texts, unsigned index)
{
    for (; index; index--)
        texts += strlen(texts) + 1;
    return texts;
}

/* ---- errors ---- */

/* The sentence of a row, and of one whose sentence was left out. */
#define TCALL_SAID_(name, code, sentence)   sentence "\0"
#define TCALL_UNSAID_(name, code, sentence) "\0"
#ifdef TOOLCALL_NO_SENTENCES
#define TCALL_CALL_ROW_ TCALL_UNSAID_
#else
#define TCALL_CALL_ROW_ TCALL_SAID_
#endif
#ifdef TOOLCALL_NO_AGENT
#define TCALL_AGENT_ROW_ TCALL_UNSAID_
#else
#define TCALL_AGENT_ROW_ TCALL_CALL_ROW_
#endif

/* Text -error: the first is success, the last any number that is no error. */
static const char tcall_error_codes_[] =
#define TCALL_X_(name, code, sentence) code "\0"
    "ok\0" TCALL_ERRORS(TCALL_X_) "?";
#undef TCALL_X_

/* Of errors that a call may end with, and of those that only agents report:
 * who has no use for these does not carry them. */
static const char tcall_call_sentences_[] =
    "\0" TCALL_ERRORS_CALL(TCALL_CALL_ROW_) TCALL_ERRORS_SCHEMA(TCALL_CALL_ROW_)
        TCALL_ERRORS_HOOKS(TCALL_CALL_ROW_);
static const char tcall_agent_sentences_[] =
    TCALL_ERRORS_AGENT(TCALL_AGENT_ROW_) "unknown error";

static unsigned tcall_error_row_(int error)
{
    if (error > TCALL_OK)
        return 0;
    return error < -TCALL_I_COUNT ? TCALL_I_COUNT + 1 : (unsigned)-error;
}

const char *tcall_error_code(int error)
{
    return tcall_nth_(tcall_error_codes_, tcall_error_row_(error));
}

/* Returns the sentence of an error that a call may end with; the code of any
 * other. */
TCALL_SHARED_ const char *tcall_call_error_text_(int error)
{
    unsigned row = tcall_error_row_(error);
    const char *text =
        row <= TCALL_I_PROVIDER ? tcall_nth_(tcall_call_sentences_, row) : "";
    return *text ? text : tcall_error_code(error);
}

const char *tcall_error_text(int error)
{
    unsigned row = tcall_error_row_(error);
    const char *text =
        row > TCALL_I_PROVIDER
            ? tcall_nth_(tcall_agent_sentences_, row - TCALL_I_PROVIDER - 1)
            : "";
    return *text ? text : tcall_call_error_text_(error);
}

const char *tcall_error_type(int error)
{
    static const struct {
        int8_t error;
        char type[11];
    } types[] = {
        {TCALL_E_DENIED, "permission"},   {TCALL_E_ABORTED, "permission"},
        {TCALL_E_APPROVAL, "permission"}, {TCALL_E_TWICE, "security"},
        {TCALL_E_FAILED, "user"},         {TCALL_E_LOOP, "user"},
        {TCALL_E_STALE, "user"},          {TCALL_E_UNREAD, "user"},
        {TCALL_E_NOT_FOUND, "user"},      {TCALL_E_CANCELLED, "cancelled"},
        {TCALL_E_TIMEOUT, "timeout"},     {TCALL_E_UNKNOWN, "validation"},
        {TCALL_E_CUT, "validation"}};
    size_t i;
    for (i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].error == error)
            return types[i].type;
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

/* Returns whether JSON wants a character of a string escaped. */
TCALL_SHARED_ bool tcall_is_escaped_(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

/* Returns the end of a run of bytes of a string that stand for themselves. */
TCALL_SHARED_ const char *tcall_plain_run_(const char *at, const char *end)
{
    for (; at < end; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte > '\\' ? byte >= 0x80 /* most letters are tested once */
                        : tcall_is_escaped_(*at))
            break;
    }
    return at;
}

/* The same, a word at a time while all bytes of it are plain. */
TCALL_SHARED_ const char *tcall_plain_(const char *at, const char *end)
{
    const size_t ones = (size_t)-1 / 255;
    /* words of two bytes are not worth it */
    while (sizeof ones > 2 && (size_t)(end - at) >= sizeof ones) {
        size_t word, quotes, slashes, marks;
        memcpy(&word, at, sizeof word);
        quotes = word ^ ones * '"';
        slashes = word ^ ones * '\\';
        marks =
            ((word - ones * 0x20) | (quotes - ones) | (slashes - ones) | word) &
            ones * 0x80;
        /* A byte that is not plain has its mark set. A borrow can set that of
         * a byte above it as well, so the lowest mark is right. */
#if defined __GNUC__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        if (marks)
            return at +
                   ((sizeof marks > sizeof(long) ? __builtin_ctzll(marks)
                                                 : __builtin_ctzl(marks)) >>
                    3);
#endif
        if (marks)
            break;
        at += sizeof word;
    }
    return tcall_plain_run_(at, end);
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
    bool first = !u->left;
    if (c < (first ? 0xC2 : u->low) || c > (first ? 0xF4 : u->high))
        return false;
    u->left = (uint8_t)(!first ? u->left - 1 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3);
    u->low = (uint8_t)(!first      ? 0x80
                       : c == 0xE0 ? 0xA0
                       : c == 0xF0 ? 0x90
                                   : 0x80);
    u->high = (uint8_t)(!first      ? 0xBF
                        : c == 0xED ? 0x9F
                        : c == 0xF4 ? 0x8F
                                    : 0xBF);
    return true;
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

/* Returns the code point at *at, and moves *at past it; of a byte that is not
 * UTF-8, -1. */
TCALL_SHARED_ int32_t tcall_utf8_next_(const char **at, const char *end)
{
    tcall_utf_ state = {0, 0, 0};
    const char *next = *at + 1;
    int32_t code = (unsigned char)*(*at)++;
    if (code < 0x80)
        return code;
    if (!tcall_utf8_step_(&state, (unsigned char)code))
        return -1;
    code &= 0x3F >> state.left;
    while (state.left) {
        if (next == end || !tcall_utf8_step_(&state, (unsigned char)*next))
            return -1;
        code = code << 6 | (*next++ & 0x3F);
    }
    *at = next;
    return code;
}

/* Returns len or a little less, so that text is not cut inside a character.
 * text[len] must be readable. */
TCALL_SHARED_ size_t tcall_utf8_cut_(const char *text, size_t len)
{
    while (len && ((unsigned char)text[len] & 0xC0) == 0x80)
        len--;
    return len;
}

/* Returns whether a string of JSON has escapes. */
TCALL_SHARED_ bool tcall_has_escapes_(tcall_str string)
{
    return memchr(string.ptr, '\\', string.len) != NULL;
}

/* Returns the character that an escape of one letter means, or 0. */
TCALL_SHARED_ char tcall_unescape_(char letter)
{
    static const char escapes[] TCALL_FLASH_ = "\"\"\\\\//b\bf\fn\nr\rt\t";
    const char *at = escapes;
    while (TCALL_BYTE_(at) && TCALL_BYTE_(at) != letter)
        at += 2;
    return TCALL_BYTE_(at) ? TCALL_BYTE_(at + 1) : (char)0;
}

/* Returns the digit for 0 to 15. */
TCALL_SHARED_ char tcall_hex_digit_(int value)
{
    return (char)(value < 10 ? '0' + value : 'a' + value - 10);
}

/* Writes the escape of a byte, 6 characters at most, and returns its length. A
 * byte that is not UTF-8 becomes U+FFFD. */
TCALL_SHARED_ size_t tcall_escape_(char *out, char c)
{
    const char *letter = "\"\\bfnrt";
    while (*letter && tcall_unescape_(*letter) != c)
        letter++;
    memcpy(out, c & 0x80 ? "\\ufffd" : "\\u0000", 6);
    if (*letter) {
        out[1] = *letter;
    } else if (!(c & 0x80)) {
        out[4] = tcall_hex_digit_(c >> 4);
        out[5] = tcall_hex_digit_(c & 15);
    }
    return *letter ? 2 : 6;
}

/* ---- decimal numbers ----
 *
 * Numbers stay text and are compared exactly: no floating point, nothing is
 * rounded. The significant digits are those from first to last, where a point
 * between them does not count; the first one is worth digit * 10^top, the last
 * one digit * 10^low.
 */
typedef struct tcall_num_ {
    const char *first, *last; /* neither is 0; both NULL: the number is 0 */
    int top, low;
    int sign;   /* -1, 0, 1 */
    bool minus; /* also of -0 */
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
    tcall_num_ number = {NULL, NULL, 0, 0, 0, minus};
    int exponent;
    for (at += minus; at < end && *at <= '9'; at++) { /* e is more */
        if (*at > '0') {
            number.first = number.first ? number.first : at;
            number.last = at;
        } else if (*at == '.') {
            point = at;
        }
    }
    if (!number.first)
        return number;
    exponent = tcall_num_exponent_(at, end);
    number.sign = minus ? -1 : 1;
    point = point ? point : at;
    /* a digit before the point is one place nearer to it */
    number.top =
        exponent + (int)(point - number.first) - (number.first < point);
    number.low = exponent + (int)(point - number.last) - (number.last < point);
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
    return number->sign ? number->top - number->low + 1 : 0;
}

/* True for 5, 5.0 and 5e3, false for 5.5. */
TCALL_SHARED_ bool tcall_num_integral_(const tcall_num_ *number)
{
    return number->low >= 0;
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

/* Larger numbers would be infinity to most readers: from hardly less on that is
 * the nearest double. */
TCALL_SHARED_ bool tcall_num_in_range_(const tcall_num_ *n)
{
    static const char digits[] = "1797693134862315808";
    const tcall_num_ most = {
        digits, digits + sizeof digits - 2, 308, 0, n->sign, false};
    return n->sign * tcall_num_compare_(n, &most) <= 0;
}

/* Gives number * 10^decimals as an integer, and the sign of what was cut off, 0
 * where it is exactly that. Returns false when it does not fit: then it is the
 * end of the range that it is beyond. */
TCALL_SHARED_ bool tcall_num_whole_(const tcall_num_ *number, int decimals,
                                    tcall_int *out, int *rest)
{
    const tcall_uint most = (tcall_uint)-1 / 2, end = most + (number->sign < 0);
    const char *at = number->first;
    int left = number->sign ? number->top + decimals : -1;
    tcall_uint sum = 0;
    bool fits = true;
    for (; left >= 0 && fits; left--) {
        fits = sum <= most / 10;
        sum = sum * 10 + (tcall_uint)tcall_num_digit_(number, &at);
        fits = fits && sum <= end;
    }
    if (!fits)
        sum = end;
    *out = number->sign < 0 ? (tcall_int)(0 - sum) : (tcall_int)sum;
    *rest = !fits || at <= number->last ? number->sign : 0;
    return fits;
}

/* ---- doubles ----
 *
 * A decimal becomes the nearest double; of two that are as near, the even one.
 * It is sought upwards from one that is a little less: all digits of the
 * decimal are compared with the exact digits of the middle between that and the
 * next. A double is written with its own exact digits.
 *
 * The exact digits of fraction * 2^exponent are worked out in limbs, the lowest
 * first: those of its whole part, and then, by times ten, those behind the
 * point.
 */

/* A double as an integer; on an AVR it has four bytes. */
#if DBL_MANT_DIG == 24
typedef uint32_t tcall_bits_;
#else
typedef uint64_t tcall_bits_;
#endif
#define TCALL_INFINITE_ \
    ((tcall_bits_)(2 * DBL_MAX_EXP - 1) << (DBL_MANT_DIG - 1))

enum {
    TCALL_LEAST_EXPONENT_ = DBL_MIN_EXP - DBL_MANT_DIG, /* of the last bit */
    TCALL_LIMBS_ = (32 - TCALL_LEAST_EXPONENT_) / 32 /* of the middle below */
};

/* Returns a limb of fraction * 2^shift, without what is less than 1. A function
 * of its own: avr-gcc 5.4 shifts 64 bits wrongly within the loops below. */
TCALL_NOINLINE_ static uint32_t tcall_limb_(uint64_t fraction, int shift,
                                            int index)
{
    int drop = 32 * index - shift;
    return drop >= 64 || drop <= -32 ? 0
           : drop < 0                ? (uint32_t)(fraction << -drop)
                                     : (uint32_t)(fraction >> drop);
}

/* Multiplies the limbs by ten and adds a digit. Returns the digit that leaves
 * them. */
static int tcall_limbs_ten_(uint32_t *limb, int count, int digit)
{
    uint64_t sum = (uint64_t)digit;
    for (; count > 0; count--, sum >>= 32) {
        sum += (uint64_t)*limb * 10;
        *limb++ = (uint32_t)sum;
    }
    return (int)sum;
}

/* Fills limbs with fraction * 2^shift. */
static void tcall_limbs_set_(uint32_t *limb, int count, uint64_t fraction,
                             int shift)
{
    while (count-- > 0)
        limb[count] = tcall_limb_(fraction, shift, count);
}

/* Returns how many limbs hold so many bits. */
static int tcall_limbs_for_(int bits)
{
    return bits > 0 ? (bits + 31) / 32 : 0;
}

/* Divides the limbs by ten, in halves: a division of 64 bits is a large
 * function on small machines. Returns the digit that is left over. */
TCALL_SHARED_ int tcall_limbs_tenth_(uint32_t *limb, int count)
{
    uint32_t rest = 0;
    while (count-- > 0) {
        uint32_t high = rest << 16 | limb[count] >> 16;
        uint32_t low = high % 10 << 16 | (uint16_t)limb[count];
        limb[count] = high / 10 << 16 | low / 10;
        rest = low % 10;
    }
    return (int)rest;
}

/* Compares a positive number with fraction * 2^exponent, which is near: < 0, 0
 * or > 0. */
TCALL_NOINLINE_ static int tcall_num_beside_(const tcall_num_ *number,
                                             uint64_t fraction, int exponent)
{
    const int limbs = tcall_limbs_for_(exponent + DBL_MANT_DIG + 4);
    const char *at = number->first;
    uint32_t limb[TCALL_LIMBS_];
    int parts = tcall_limbs_for_(-exponent), i, order = 0;
    memset(limb, 0, sizeof limb);
    for (i = number->top; i >= 0; i--)
        tcall_limbs_ten_(limb, limbs, tcall_num_digit_(number, &at));
    for (i = limbs; i-- > 0 && !order;)
        order = (limb[i] > tcall_limb_(fraction, exponent, i)) -
                (limb[i] < tcall_limb_(fraction, exponent, i));
    tcall_limbs_set_(limb, parts, fraction, exponent + 32 * parts);
    for (i = -1; !order && at <= number->last; i--)
        order = (i <= number->top ? tcall_num_digit_(number, &at) : 0) -
                tcall_limbs_ten_(limb, parts, 0);
    while (parts > 0 && !limb[parts - 1])
        parts--;
    return order ? order : -(parts > 0);
}

/* Gives the first bits of a positive number: it is fraction * 2^*exponent, or a
 * little more; the fraction has 63 bits, and is right in nearly all of them. */
static uint64_t tcall_num_binary_(const tcall_num_ *number, int *exponent)
{
    const char *at = number->first;
    uint64_t fraction = 0;
    int count = 0, left;
    for (; count < 18 && at <= number->last; count++)
        fraction = fraction * 10 + (uint64_t)tcall_num_digit_(number, &at);
    *exponent = left = number->top - count + 1;
    for (;; left += left < 0 ? 1 : -1) {
        for (; !(fraction >> 62); --*exponent)
            fraction <<= 1;
        if (left == 0)
            return fraction;
        fraction = left < 0 ? fraction / 5 : fraction / 8 * 5;
        *exponent += left < 0 ? 0 : 3;
    }
}

/* Returns the bits of the nearest double of a positive number that is within
 * their decimal places. */
static uint64_t tcall_num_round_(const tcall_num_ *number)
{
    int exponent, drop = 63 - DBL_MANT_DIG, order;
    uint64_t fraction = tcall_num_binary_(number, &exponent);
    if (drop < TCALL_LEAST_EXPONENT_ - exponent)
        drop = TCALL_LEAST_EXPONENT_ - exponent;
    for (; drop > 63; drop--, exponent++)
        fraction >>= 1;
    exponent += drop;
    fraction = (fraction + ((uint64_t)1 << (drop - 1)) - 1) >> drop;
    for (;; fraction++) {               /* a few times */
        if (fraction >> DBL_MANT_DIG) { /* from here on each is worth two */
            fraction /= 2;
            exponent++;
        }
        order = tcall_num_beside_(number, fraction * 2 + 1, exponent - 1);
        if (order < 0 || (order == 0 && !(fraction & 1)))
            break;
    }
    /* above the least exponent the highest bit adds one to the exponent */
    return fraction +
           ((uint64_t)(exponent - TCALL_LEAST_EXPONENT_) << (DBL_MANT_DIG - 1));
}

/* Stores the nearest double; of what is too small, 0. Returns false where it is
 * too large. */
TCALL_SHARED_ bool tcall_num_double_(const tcall_num_ *number, void *to)
{
    uint64_t bits = 0;
    tcall_bits_ out;
    if (number->sign && number->top > DBL_MAX_10_EXP)
        return false;
    if (number->sign && number->top >= DBL_MIN_10_EXP - DBL_DIG - 3)
        bits = tcall_num_round_(number);
    if (bits >= TCALL_INFINITE_)
        return false;
    out = (tcall_bits_)bits;
    out |= (tcall_bits_)number->minus << (8 * sizeof out - 1);
    memcpy(to, &out, sizeof out);
    return true;
}

enum { TCALL_DOUBLE_DIGITS_ = 17 }; /* so many always read back as the same */

/* Gives the exact digits of a double, one more than are ever written. Returns
 * how much the first one is worth, as a power of ten. Those of the whole part
 * come from its end. */
TCALL_NOINLINE_ static int tcall_num_exact_(char *to, tcall_bits_ bits)
{
    const tcall_bits_ one = (tcall_bits_)1 << (DBL_MANT_DIG - 1);
    int exponent = (int)(bits / one), whole, parts, i, top = -1;
    uint32_t limb[TCALL_LIMBS_];
    bits = exponent ? bits % one + one : bits;
    exponent += TCALL_LEAST_EXPONENT_ - (exponent > 0);
    whole = tcall_limbs_for_(exponent + DBL_MANT_DIG);
    tcall_limbs_set_(limb, whole, bits, exponent);
    for (; whole > 0; whole -= !limb[whole - 1]) {
        memmove(to + 1, to, TCALL_DOUBLE_DIGITS_);
        *to = (char)('0' + tcall_limbs_tenth_(limb, whole));
        top++;
    }
    parts = tcall_limbs_for_(-exponent);
    tcall_limbs_set_(limb, parts, bits, exponent + 32 * parts);
    for (i = top + 1; i <= TCALL_DOUBLE_DIGITS_; i += *to != '0') {
        to[i] = (char)('0' + tcall_limbs_ten_(limb, parts, 0));
        top -= *to == '0';
    }
    return top;
}

/* Rounds exact digits to count of them, without those that become 0. */
static void tcall_num_rounded_(char *to, const char *exact, int count,
                               tcall_num_ *number)
{
    bool up = exact[count] >= '5';
    while (count > 1 && exact[count - 1] == (up ? '9' : '0'))
        count--;
    memcpy(to, exact, (size_t)count);
    to[count - 1] = (char)(to[count - 1] + up);
    if (*to > '9') {
        *to = '1';
        number->top++;
    }
    number->first = to;
    number->last = to + count - 1;
}

/* Gives the fewest digits that read back as the same double. Of one that has
 * all its bits a decimal of DBL_DIG digits is found as it was. */
TCALL_SHARED_ tcall_num_ tcall_num_shortest_(char *to, tcall_bits_ bits)
{
    char exact[TCALL_DOUBLE_DIGITS_ + 1];
    int top = tcall_num_exact_(exact, bits);
    int count = bits >> (DBL_MANT_DIG - 1) ? DBL_DIG : 1;
    tcall_num_ number = {NULL, NULL, 0, 0, 1, false};
    tcall_bits_ again;
    do {
        number.top = top;
        tcall_num_rounded_(to, exact, count, &number);
    } while (count++ < TCALL_DOUBLE_DIGITS_ &&
             !(tcall_num_double_(&number, &again) && again == bits));
    return number;
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
