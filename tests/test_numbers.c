/* Numbers as JSON: integers of 64 bits, fixed point, and doubles, which must
 * read back as what they were, in as few digits as any. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/text.c"
#include "../src/write.c"
#endif
#include "check.h"
#include <float.h>
#include <math.h>

static char text[64];

static const char *done(const tcall_writer *w)
{
    text[w->fill] = 0;
    return w->error ? tcall_error_code(w->error) : text;
}

static const char *of_int(tcall_int value)
{
    tcall_writer w;
    tcall_writer_init(&w, text, sizeof text - 1);
    tcall_write_int(&w, value);
    return done(&w);
}

static const char *of_uint(tcall_uint value)
{
    tcall_writer w;
    tcall_writer_init(&w, text, sizeof text - 1);
    tcall_write_uint(&w, value);
    return done(&w);
}

static const char *of_fixed(tcall_int value, int decimals)
{
    tcall_writer w;
    tcall_writer_init(&w, text, sizeof text - 1);
    tcall_write_fixed(&w, value, decimals);
    return done(&w);
}

static bool is(const char *a, const char *b)
{
    if (strcmp(a, b) != 0)
        printf("    %s instead of %s\n", a, b);
    return strcmp(a, b) == 0;
}

static void test_integers(void)
{
    CHECK(is(of_int(0), "0"));
    CHECK(is(of_int(-1), "-1"));
    CHECK(is(of_int(10), "10"));
    CHECK(is(of_int(INT32_MIN), "-2147483648"));
    CHECK(is(of_uint(0), "0"));
#ifdef TOOLCALL_NO_INT64
    CHECK(is(of_int(INT32_MAX), "2147483647"));
    CHECK(is(of_uint(UINT32_MAX), "4294967295"));
#else
    CHECK(is(of_int(INT64_MAX), "9223372036854775807"));
    CHECK(is(of_int(INT64_MIN), "-9223372036854775808"));
    CHECK(is(of_uint(UINT64_MAX), "18446744073709551615"));
    CHECK(is(of_uint((uint64_t)1 << 32), "4294967296"));
#endif
}

static void test_fixed(void)
{
    CHECK(is(of_fixed(2150, 2), "21.50"));
    CHECK(is(of_fixed(-5, 3), "-0.005"));
    CHECK(is(of_fixed(0, 2), "0.00"));
    CHECK(is(of_fixed(7, 0), "7"));
    CHECK(is(of_fixed(INT32_MIN, 9), "-2.147483648"));
    CHECK(is(of_fixed(INT32_MIN, 20), "-0.00000000002147483648"));
    CHECK(is(of_fixed(1, 60), "range"));
#ifndef TOOLCALL_NO_INT64
    CHECK(is(of_fixed(INT64_MIN, 18), "-9.223372036854775808"));
    CHECK(is(of_fixed(INT64_MIN, 20), "-0.09223372036854775808"));
#endif
}

/* Doubles: some targets have no floating point. */
#ifndef CHECK_NO_DOUBLE

static const char *of_double(double value)
{
    tcall_writer w;
    tcall_writer_init(&w, text, sizeof text - 1);
    tcall_write_double(&w, value);
    return done(&w);
}

#ifndef WIRE_FILES
/* Fewest digits of all that read back the same, by printf and strtod. */
static int digits_needed(double value)
{
    char out[40];
    int n = 1;
    for (; n < 17; n++) {
        snprintf(out, sizeof out, "%.*e", n - 1, value);
        if (strtod(out, NULL) == value)
            break;
    }
    return n;
}
#endif

static int digits_in(const char *number)
{
    int count = 0, zeros = 0;
    for (; *number && *number != 'e'; number++)
        if (*number >= '0' && *number <= '9' && (count || *number != '0')) {
            count++;
            zeros = *number == '0' ? zeros + 1 : 0;
        }
    return count - zeros;
}

static bool reads_back(double value)
{
    const char *written = of_double(value);
    double again = strtod(written, NULL);
#ifdef WIRE_FILES /* the C library of firmware may miss the nearest by one */
    bool good = fabs(again - value) <= fabs(value) * (2 * DBL_EPSILON) &&
                (value == 0 || digits_in(written) <= 17);
#else
    bool good = memcmp(&again, &value, sizeof value) == 0 &&
                (value == 0 || digits_in(written) <= digits_needed(value));
#endif
    good = good && tcall_json_check(tcall_str_of(written)) == TCALL_OK;
    if (!good)
        printf("    %.17g is written %s\n", value, written);
    return good;
}

static uint64_t seed = 88172645463325252u;

static uint64_t roll(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static bool neighbours(double value)
{
    uint64_t bits;
    double below, above;
    memcpy(&bits, &value, sizeof bits);
    bits--;
    memcpy(&below, &bits, sizeof bits);
    bits += 2;
    memcpy(&above, &bits, sizeof bits);
    return reads_back(value) && reads_back(below) && reads_back(above);
}

static void test_doubles(void)
{
    static const double some[] = {0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.1,
                                  0.2,
                                  0.3,
                                  1.0 / 3,
                                  2.5,
                                  100,
                                  1e15,
                                  1e16,
                                  1e17,
                                  123456789012345680.0,
                                  1e21,
                                  1e22,
                                  1e23,
                                  9007199254740992.0,
                                  9007199254740993.0,
                                  0.001,
                                  0.0001,
                                  0.00001,
                                  5e-324,
                                  1e-323,
                                  DBL_MIN,
                                  DBL_MIN / 2,
                                  DBL_MAX,
                                  -DBL_MAX,
                                  DBL_EPSILON,
                                  4.35,
                                  21.5,
                                  2.2250738585072011e-308,
                                  9.5e-323,
                                  1.7976931348623155e308};
    const double step = CHECK_EVERY > 1 ? 128 : 2;
    size_t i;
    double power;
    for (i = 0; i < sizeof some / sizeof *some; i++)
        CHECK(reads_back(some[i]));
    /* powers of two have uneven neighbours */
    for (power = 1; power > 0; power /= step)
        CHECK(neighbours(power));
    for (power = 1; power < DBL_MAX / step; power *= step)
        CHECK(neighbours(power));
    for (i = 0; i < 100000; i += CHECK_EVERY) {
        uint64_t bits = roll();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (value - value == 0)
            CHECK(reads_back(value));
        CHECK(reads_back((double)(int64_t)(roll() % 2000000) / 1000));
    }
}

static void test_forms(void)
{
    CHECK(is(of_double(0), "0"));
    CHECK(is(of_double(-0.0), "-0"));
    CHECK(is(of_double(3), "3"));
    CHECK(is(of_double(-21.5), "-21.5"));
    CHECK(is(of_double(0.1), "0.1"));
    CHECK(is(of_double(1e16), "10000000000000000"));
    CHECK(is(of_double(1e17), "1e17"));
    CHECK(is(of_double(1.5e300), "1.5e300"));
    CHECK(is(of_double(0.0001), "0.0001"));
    CHECK(is(of_double(0.00001), "1e-5"));
    CHECK(is(of_double(5e-324), "5e-324"));
    CHECK(is(of_double(DBL_MAX), "1.7976931348623157e308"));
    CHECK(is(of_double(HUGE_VAL), "range"));
    CHECK(is(of_double(-HUGE_VAL), "range"));
    CHECK(is(of_double(HUGE_VAL - HUGE_VAL), "range"));
}

/* Commas are those of any value. */
static void test_commas(void)
{
    tcall_writer w;
    tcall_writer_init(&w, text, sizeof text - 1);
    tcall_write_open(&w, '[');
    tcall_write_double(&w, 1e-9);
    tcall_write_int(&w, -3);
    tcall_write_double(&w, 2.5e20);
    tcall_write_uint(&w, 4);
    tcall_write_close(&w, ']');
    CHECK(is(done(&w), "[1e-9,-3,2.5e20,4]"));
}

#endif

int main(void)
{
    test_integers();
    test_fixed();
#ifndef CHECK_NO_DOUBLE
    test_doubles();
    test_forms();
    test_commas();
#endif
    return check_sum("test_numbers");
}
