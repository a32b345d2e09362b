/* Doubles: both readers make the nearest one of a decimal, as strtod does, of
 * ordinary numbers and of the hardest: the middle of two doubles in all its
 * digits, one digit more or less, cut off, and so far behind that nobody else
 * looks. What is written reads back as itself. */
#include "toolcall.h"
#include "check.h"
#include <float.h>
#include <math.h>

#if defined CHECK_NO_DOUBLE || DBL_MANT_DIG != 53

int main(void)
{
    return check_sum("test_doubles");
}

#else

#define ONE(ROW, me) \
    ROW(me, required, number(TCALL_NO_MINIMUM, TCALL_NO_MAXIMUM), n, "")
#ifndef TOOLCALL_NO_INT64
TCALL_SHAPE(one, ONE)
#endif

static uint64_t seed = 88172645463325252u;

static uint64_t roll(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static double of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- the two readers ---- */

/* Returns false where it is refused. */
static bool read_json(const char *number, double *out)
{
    static char text[2000];
    tcall_json value;
    size_t len = (size_t)sprintf(text, "{\"n\":%s}", number);
    if (tcall_json_parse(&value, text, len, NULL) < 0)
        return false;
    value = tcall_json_get(value, "n");
    *out = tcall_json_double(value, 1);
    return same(*out, tcall_json_double(value, 2));
}

/* Returns the misfit; 255: it is no JSON. */
static int read_shape(const char *number, size_t piece, double *out)
{
#ifdef TOOLCALL_NO_INT64
    (void)piece;
    return read_json(number, out) ? TCALL_FITS : TCALL_MISFIT_ROOM;
#else
    static char text[2000];
    struct one one;
    tcall_decoder decoder;
    size_t at, len = (size_t)sprintf(text, "{\"n\":%s}", number);
    tcall_decoder_init(&decoder, &one_shape, &one);
    for (at = 0; at < len; at += piece)
        tcall_decoder_feed(&decoder, text + at,
                           len - at < piece ? len - at : piece);
    tcall_decoder_end(&decoder);
    *out = one.n;
    return decoder.error == TCALL_OK          ? TCALL_FITS
           : decoder.error == TCALL_E_INVALID ? decoder.misfits[0].code
                                              : 255;
#endif
}

/* The nearest double. The C library of firmware does not find it always: there
 * the readers are compared with each other, and with what was written. */
static double nearest(const char *number)
{
#ifdef WIRE_FILES
    double value = 0;
    return read_json(number, &value) ? value : HUGE_VAL;
#else
    return strtod(number, NULL);
#endif
}

static int refused_long;

static bool reads(const char *number, size_t piece)
{
    double want = nearest(number), json = 0, shape = 0;
    bool fits = read_json(number, &json);
    int misfit = read_shape(number, piece, &shape);
    bool good;
    if (want > DBL_MAX || want < -DBL_MAX) {
        good = !fits && misfit == TCALL_MISFIT_ROOM;
    } else {
        good = fits && same(json, want);
#ifndef TOOLCALL_NO_INT64
        /* where not all digits are kept, the hardest are refused */
        if (misfit == TCALL_MISFIT_ROOM && TOOLCALL_NUMBER_DIGITS < 768 &&
            strlen(number) > TOOLCALL_NUMBER_DIGITS)
            refused_long++;
        else
            good = good && misfit == TCALL_FITS && same(shape, want);
#endif
    }
    if (!good)
        printf("    %s: %.17g, not %d %.17g and %d %.17g\n", number, want, fits,
               json, misfit, shape);
    return good;
}

/* ---- ordinary numbers ---- */

static bool returns(double value, size_t piece)
{
    char text[64];
    tcall_writer writer;
    double json = 0, shape = 0;
    tcall_writer_init(&writer, text, sizeof text - 1);
    tcall_write_double(&writer, value);
    text[writer.fill] = 0;
    return nearest(text) == value && read_json(text, &json) &&
           same(json, value) && read_shape(text, piece, &shape) == TCALL_FITS &&
           same(shape, value);
}

static void test_ordinary(void)
{
    static const int counts[] = {17, 15, 9, 21};
    static const size_t pieces[] = {4000, 1, 7};
    char text[400];
    int i;
    for (i = 0; i < 200000; i += CHECK_EVERY) {
        size_t piece = pieces[i % 3];
        double value = of_bits(roll());
        if (i % 4 == 1) /* of ordinary size */
            value = (double)(int64_t)(roll() % 20000000000) / 1e4 - 1e6;
        if (i % 4 == 2)
            value = (double)(roll() >> 11) / 9007199254740992.0;
        if (value - value != 0)
            continue;
        CHECK(returns(value, piece));
        if (i / 4 % 5 == 4)
            snprintf(text, sizeof text, "%.3f", value);
        else
            snprintf(text, sizeof text, "%.*g", counts[i / 4 % 5], value);
        CHECK(reads(text, piece));
    }
}

/* ---- hard numbers ----
 *
 * An exact decimal: digits from the lowest on, nine in each limb, the last
 * point of them before the first.
 */

typedef struct big {
    uint32_t limb[130];
    int count;
} big;

static void times(big *number, uint32_t factor)
{
    uint64_t carry = 0;
    int i;
    for (i = 0; i < number->count || carry; i++) {
        carry += i < number->count ? (uint64_t)number->limb[i] * factor : 0;
        number->limb[i] = (uint32_t)(carry % 1000000000);
        carry /= 1000000000;
    }
    number->count = i > number->count ? i : number->count;
}

/* Writes the digits of fraction * 2^exponent. Returns the power of ten of the
 * last one. */
static int digits_of(char *to, uint64_t fraction, int exponent)
{
    big number = {{0}, 0};
    int left = exponent < 0 ? -exponent : exponent, i;
    for (; fraction; fraction /= 1000000000)
        number.limb[number.count++] = (uint32_t)(fraction % 1000000000);
    for (; left >= 12; left -= 12)
        times(&number, exponent < 0 ? 244140625 : 4096);
    for (; left; left--)
        times(&number, exponent < 0 ? 5 : 2);
    to += sprintf(to, "%u", (unsigned)number.limb[number.count - 1]);
    for (i = number.count - 2; i >= 0; i--)
        to += sprintf(to, "%09u", (unsigned)number.limb[i]);
    return exponent < 0 ? exponent : 0;
}

/* Writes digits * 10^power in one of some forms. */
static void form(char *to, const char *digits, int power, int which)
{
    int count = (int)strlen(digits), zeros;
    if (which % 3 == 0) {
        sprintf(to, "%se%d", digits, power);
    } else if (which % 3 == 1 || power > 0 || count - power > 900) {
        sprintf(to, "-%c.%s0E%+d", digits[0], digits + 1, power + count - 1);
    } else {
        zeros = power + count > 0 ? 0 : 1 - power - count;
        memset(to, '0', (size_t)zeros);
        strcpy(to + zeros, digits);
        if (power < 0) {
            char *point = to + zeros + count + power;
            memmove(point + 1, point, strlen(point) + 1);
            *point = '.';
        }
    }
}

/* The middle above a double, and numbers beside it. */
static void around(uint64_t bits, int which, size_t piece)
{
    static char digits[1200], text[2400];
    const uint64_t one = (uint64_t)1 << 52;
    int exponent = (int)(bits / one) - 1075, count;
    uint64_t fraction = bits % one;
    int power = digits_of(
        digits, 2 * (exponent == -1075 ? fraction : fraction + one) + 1,
        exponent == -1075 ? -1075 : exponent - 1);
    count = (int)strlen(digits);
    switch (which % 6) {
    case 0: break;
    case 1:
        strcpy(digits + count, "1");
        power--;
        break;
    case 2:
        while (digits[--count] == '0')
            digits[count] = '9';
        digits[count]--;
        break;
    case 3: /* a digit far behind */
        memset(digits + count, '0', 40);
        strcpy(digits + count + 40, "7");
        power -= 41;
        break;
    default: /* cut off */
        if (count > 20 + which % 7 * 10) {
            power += count - (20 + which % 7 * 10);
            digits[20 + which % 7 * 10] = 0;
        }
        if (which % 6 == 5 && digits[strlen(digits) - 1] < '9')
            digits[strlen(digits) - 1]++;
    }
    form(text, digits, power, which / 6);
    CHECK(reads(text, piece));
}

static void test_hard(void)
{
    const uint64_t most = (uint64_t)2047 << 52;
    int i;
    for (i = 0; i < 10000; i += CHECK_EVERY) {
        uint64_t bits = roll() % most;
        if (i % 5 == 1)
            bits %= (uint64_t)1 << (1 + roll() % 53); /* subnormal */
        if (i % 5 == 2) /* around a power of two */
            bits = (bits & most) - roll() % 2;
        if (i % 5 >= 3) /* from 2^-60 to 2^60 */
            bits = bits % ((uint64_t)120 << 52) + ((uint64_t)963 << 52);
        around(bits % most, (int)(roll() % 1260),
               i % 2 ? 1 : (size_t)(1 + roll() % 2000));
    }
}

/* ---- edges ---- */

static void test_edges(void)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "-0.0e5",
        "0e999",
        "5e-324",
        "-5e-324",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.5e-324",
        "2.4703282292062327208e-324",
        "3e-324",
        "1e-323",
        "1e-325",
        "1e-400",
        "-1e-400",
        "1e-999",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        ("2.225073858507201136057409796709131975934819546351645648023426109724e"
         "-308"),
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.797693134862315807e308",
        "1.797693134862315808e308",
        "-1.797693134862315808e308",
        "1.7976931348623159e308",
        "1.8e308",
        "1e309",
        "-1e309",
        "1e999",
        "9007199254740993",
        "9007199254740992.9",
        "9007199254740993.00000000000000000000000000000000000000000000001",
        "9007199254740991.5",
        "9007199254740992.5",
        "1e22",
        "1e23",
        "8.5e22",
        "0.1",
        "0.3",
        "0.30000000000000004",
        "1e0",
        "1e+1",
        "12345e-1",
        "123456789012345678",
        "1234567890123456789",
        "12345678901234567890",
        "18446744073709551615",
        "18446744073709551616",
        "9223372036854775807.5",
        "0.1234567890123456789012345678901234567890",
        "3.141592653589793238462643383279502884197",
        "-4340010200777.3413",
        "6.8985e-314",
        "1.0000000000000001110223024625156540",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203126",
        "1.00000000000000011102230246251565404236316680908203124"};
    size_t i, piece;
    for (i = 0; i < sizeof texts / sizeof *texts; i++)
        for (piece = 1; piece < 100; piece *= 3)
            CHECK(reads(texts[i], piece));
}

/* The middle above the largest double is infinite; just below it is not. Of
 * more digits than any middle has, all count. */
static void test_longest(void)
{
    static char digits[1200], text[2400];
    const uint64_t largest = ((uint64_t)2047 << 52) - 1;
    int which, power, count;
    double out;
    for (which = 0; which < 1260; which++)
        around(largest, which, 1);
    for (which = 0; which < 1260; which++)
        around((uint64_t)1 << which % 52, which, 1);
    power = digits_of(digits, ((uint64_t)1 << 54) - 1, -1075);
    count = (int)strlen(digits);
    CHECK(count == 768); /* no middle has more */
    sprintf(text, "%se%d", digits, power);
    CHECK(reads(text, 1));
    memset(digits + count, '0', 200);
    strcpy(digits + count + 200, "1");
    sprintf(text, "%se%d", digits, power - 201);
    CHECK(reads(text, 1));
    /* more than a thousand digits are refused by one, right for the other */
    memset(text, '1', 1500);
    strcpy(text + 1500, "e-1499");
    CHECK(read_json(text, &out) && same(out, nearest(text)));
#ifndef TOOLCALL_NO_INT64
    CHECK(read_shape(text, 1, &out) == TCALL_MISFIT_ROOM);
#endif
}

int main(void)
{
    test_ordinary();
    test_hard();
    test_edges();
    test_longest();
    if (refused_long)
        printf("test_doubles: of more digits than are kept, %d refused\n",
               refused_long);
    return check_sum("test_doubles");
}

#endif
