/* The decoder of shapes: what it accepts, stores, notes, and where. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/read.c"
#endif
#include "check.h"
#include "fuzz.h"

#define UNIT(WORD, me) WORD(me, celsius) WORD(me, kelvin) WORD(me, kelvins)
TCALL_CHOICE(unit, UNIT)

#define SPAN(WORD, me) \
    WORD(me, hour, "1 hour") WORD(me, none, "") WORD(me, e, "\xC3\xA9")
TCALL_CHOICE_AS(span, SPAN)

#define LIMIT(ROW, me)                                            \
    ROW(me, required, fixed(1, -40, 125.5), value, "Temperature") \
    ROW(me, optional, or_null(boolean), above, "Or below")
TCALL_SHAPE(limit, LIMIT)
TCALL_LIST(limits, object(limit), 1, 3)
TCALL_LIST(row, integer(-9, 9), 0, 3)
TCALL_LIST(rows, list(row), 0, 2)
TCALL_OPEN_LIST(names, text(0, 4), 0, 2)

#define INNER(ROW, me) ROW(me, defaults(7), integer(0, 9), depth, "Deep")
TCALL_OPEN_SHAPE(inner, INNER)

#define ALL(ROW, me)                                                       \
    ROW(me, required, text(1, 8), city, "Where")                           \
    ROW(me, optional, choice(unit), unit, "Unit")                          \
    ROW(me, defaults(3), integer(-5, 7), days, "Days")                     \
    ROW(me, optional, list(limits), limits, "Limits")                      \
    ROW(me, optional, list(rows), rows, "Lists of lists")                  \
    ROW(me, optional, characters(2, 3), letters, "Letters")                \
    ROW(me, optional, string(0, 5), note, "Note")                          \
    ROW(me, optional, json(12), any, "Anything")                           \
    ROW(me, optional, one_of(TCALL_SHAPE_INTEGER | TCALL_SHAPE_STRING, 9), \
        some, "Some")                                                      \
    ROW(me, optional, or_null(integer(INT32_MIN, INT32_MAX)), whole, "")   \
    ROW(me, optional, named("@long name", choice(span)), span, "Time")     \
    ROW(me, optional, object(inner), inner, "Inside")                      \
    ROW(me, optional, list(names), names, "Names")                         \
    ROW(me, optional, fixed(6, -1, 1), micro, "Small")
TCALL_SHAPE(all, ALL)

/* Reads a text in pieces of this length. */
static tcall_decoder decoder;
static struct all all;

static int read_in(const char *text, size_t len, size_t piece)
{
    size_t at;
    memset(&all, 0x5A, sizeof all);
    tcall_decoder_init(&decoder, &all_shape, &all);
    for (at = 0; at < len; at += piece)
        tcall_decoder_feed(&decoder, text + at,
                           len - at < piece ? len - at : piece);
    return tcall_decoder_end(&decoder);
}

static int read_whole(const char *text)
{
    return read_in(text, strlen(text), strlen(text) + 1);
}

/* What must come of a member: {"city":"x","name":value}. */
static int read_value(const char *member, const char *value)
{
    static char text[4096];
    sprintf(text, "{\"city\":\"x\",\"%s\":%s}", member, value);
    return read_whole(text);
}

static bool refused(const char *member, const char *value, int code)
{
    return read_value(member, value) == TCALL_E_INVALID &&
           decoder.misfit_count == 1 && decoder.misfits[0].code == code &&
           decoder.at > 0;
}

/* "/2/0" */
static const char *trail(void)
{
    static char text[64];
    int i;
    text[0] = 0;
    for (i = 0; i < decoder.misfits[0].steps; i++)
        sprintf(text + strlen(text), "/%u", decoder.misfits[0].trail[i]);
    return text;
}

static void test_values(void)
{
    CHECK(read_whole(" {\t\"city\" : \"Oslo\" , \"days\":5,\"unit\":\"kelvin\","
                     "\"limits\":[{\"value\":1.5},{\"above\":null,"
                     "\"value\":-40}],\"rows\":[[],[1,-2,3]]}\r\n") ==
          TCALL_OK);
    CHECK(strcmp(all.city, "Oslo") == 0 && all.days == 5 &&
          all.unit == unit_kelvin);
    CHECK(all.limits.count == 2 && all.limits.items[0].value == 15 &&
          all.limits.items[1].value == -400);
    CHECK(!TCALL_GIVEN(&all.limits.items[0], limit, above) &&
          !TCALL_CAME(&all.limits.items[0], limit, above));
    CHECK(!TCALL_GIVEN(&all.limits.items[1], limit, above) &&
          TCALL_CAME(&all.limits.items[1], limit, above));
    CHECK(all.rows.count == 2 && all.rows.items[0].count == 0 &&
          all.rows.items[1].count == 3 && all.rows.items[1].items[1] == -2);
    CHECK(TCALL_GIVEN(&all, all, city) && !TCALL_GIVEN(&all, all, note) &&
          !TCALL_CAME(&all, all, micro));

    CHECK(read_whole("{\"unit\":\"kelvins\",\"city\":\"\\u00e9\\n\"}") ==
          TCALL_OK);
    CHECK(strcmp(all.city, "\xC3\xA9\n") == 0 && all.unit == unit_kelvins);
    CHECK(all.days == 3 && !TCALL_GIVEN(&all, all, days));
    CHECK(all.limits.count == 0 && all.inner.depth == 0);

    CHECK(read_value("inner", "{}") == TCALL_OK && all.inner.depth == 7);
    CHECK(read_value("inner", "{\"a\":{\"depth\":[1]},\"depth\":2}") ==
          TCALL_OK);
    CHECK(all.inner.depth == 2);
    CHECK(read_value("@long name", "\"1 hour\"") == TCALL_OK &&
          all.span == span_hour);
    CHECK(read_value("@long name", "\"\"") == TCALL_OK &&
          all.span == span_none);
    CHECK(read_value("@long name", "\"\xC3\xA9\"") == TCALL_OK &&
          all.span == span_e);
    CHECK(read_value("@long name", "\"\\u00E9\"") == TCALL_OK &&
          all.span == span_e);
    CHECK(read_value("\\u006eote", "\"\\ud83d\\ude00\"") == TCALL_OK &&
          strcmp(all.note, "\xF0\x9F\x98\x80") == 0);
    CHECK(read_value("names", "[\"a\",\"\"]") == TCALL_OK &&
          all.names.count == 2 && strcmp(all.names.items[0], "a") == 0);
}

/* Numbers are exact decimals: 5.0 is whole, what is cut off still counts. */
static void test_numbers(void)
{
    static const struct {
        const char *text;
        int32_t days;
        int code;
    } rows[] = {
        {"7", 7, 0},
        {"-5", -5, 0},
        {"5.0", 5, 0},
        {"50e-1", 5, 0},
        {"0.5e1", 5, 0},
        {"5e0", 5, 0},
        {"-0", 0, 0},
        {"0e9999999999999999999", 0, 0},
        {"0.0000000000000000000000004e25", 4, 0},
        {"4000000000000000000000000e-24", 4, 0},
        {"8", 0, TCALL_MISFIT_MAXIMUM},
        {"-6", 0, TCALL_MISFIT_MINIMUM},
        {"7.0000000000000000000001", 0, TCALL_MISFIT_TYPE},
        {"5.5", 0, TCALL_MISFIT_TYPE},
        {"1e-999", 0, TCALL_MISFIT_TYPE},
        {"1e999", 0, TCALL_MISFIT_MAXIMUM},
        {"-1e30000", 0, TCALL_MISFIT_MINIMUM},
        {"99999999999999999999999", 0, TCALL_MISFIT_MAXIMUM},
        {"123456789012345678901234567890e-29", 0, TCALL_MISFIT_TYPE},
        {"true", 0, TCALL_MISFIT_TYPE},
        {"\"5\"", 0, TCALL_MISFIT_TYPE},
        {"null", 0, TCALL_MISFIT_TYPE},
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].code)
            CHECK(refused("days", rows[i].text, rows[i].code));
        else
            CHECK(read_value("days", rows[i].text) == TCALL_OK &&
                  all.days == rows[i].days);
    }
    CHECK(refused("days", "8", TCALL_MISFIT_MAXIMUM) &&
          decoder.misfits[0].exact && decoder.misfits[0].got == 8);
    CHECK(refused("micro", "1.0000001", TCALL_MISFIT_MAXIMUM) &&
          !decoder.misfits[0].exact && decoder.misfits[0].got == 1000000);
    CHECK(read_value("micro", "0.1234569") == TCALL_OK && all.micro == 123456);
    CHECK(read_value("micro", "-0.9999999") == TCALL_OK &&
          all.micro == -999999);
    CHECK(
        refused("micro", "-1.0000000000000000000000001", TCALL_MISFIT_MINIMUM));
    CHECK(read_value("whole", "-2147483648") == TCALL_OK &&
          all.whole == INT32_MIN);
    CHECK(read_value("whole", "2147483647.000") == TCALL_OK &&
          all.whole == INT32_MAX);
    CHECK(refused("whole", "2147483648", TCALL_MISFIT_MAXIMUM));
    CHECK(refused("whole", "-2147483649", TCALL_MISFIT_MINIMUM));
    CHECK(refused("whole", "9e18", TCALL_MISFIT_MAXIMUM));
    CHECK(read_value("whole", "null") == TCALL_OK &&
          !TCALL_GIVEN(&all, all, whole) && TCALL_CAME(&all, all, whole));
}

/* Longer numbers are refused, but only where they mean something. */
static void test_long_numbers(void)
{
    static char text[2100];
    memset(text, '0', sizeof text);
    memcpy(text, "0.", 2);
    memcpy(text + 2000, "1e1998", 7);
    CHECK(refused("days", text, TCALL_MISFIT_ROOM));
    CHECK(refused("any", text, TCALL_MISFIT_ROOM)); /* of its own text */
    CHECK(read_value("inner", "{\"x\":1e99999}") == TCALL_OK);
}

static void test_misfits(void)
{
    CHECK(refused("unit", "\"kelvi\"", TCALL_MISFIT_ENUM));
    CHECK(refused("unit", "\"kelvinss\"", TCALL_MISFIT_ENUM));
    CHECK(refused("unit", "\"\"", TCALL_MISFIT_ENUM));
    CHECK(refused("unit", "\"kelvin\\u0000\"", TCALL_MISFIT_ENUM));
    CHECK(refused("city", "\"y\"", TCALL_MISFIT_DUPLICATE));
    CHECK(refused("cit\\u0079", "\"y\"", TCALL_MISFIT_DUPLICATE));
    CHECK(refused("cit", "\"y\"", TCALL_MISFIT_UNKNOWN));
    CHECK(strcmp(trail(), "/65535") == 0);
    CHECK(refused("city\\u0000", "[{\"days\":8}]", TCALL_MISFIT_UNKNOWN));
    CHECK(refused("", "0", TCALL_MISFIT_UNKNOWN));
    CHECK(refused("letters", "\"\xC3\xA9\"", TCALL_MISFIT_MIN_LENGTH));
    CHECK(read_value("letters", "\"\xC3\xA9\xE2\x82\xAC\\ud83d\\ude00\"") ==
          TCALL_OK);
    CHECK(strcmp(all.letters, "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80") == 0);
    CHECK(refused("letters", "\"abcd\"", TCALL_MISFIT_MAX_LENGTH));
    CHECK(refused("letters", "\"a\\u0000\"", TCALL_MISFIT_NUL));
    CHECK(refused("note", "\"123456\"", TCALL_MISFIT_ROOM));
    CHECK(refused("note", "\"\xE2\x82\xAC\xE2\x82\xAC\"", TCALL_MISFIT_ROOM));
    CHECK(refused("limits", "[]", TCALL_MISFIT_MIN_ITEMS));
    CHECK(strcmp(trail(), "/3") == 0);
    CHECK(refused("rows", "[[],[],[],[]]", TCALL_MISFIT_MAX_ITEMS));
    CHECK(strcmp(trail(), "/4") == 0);
    CHECK(refused("rows", "[[],[1,10]]", TCALL_MISFIT_MAXIMUM));
    CHECK(strcmp(trail(), "/4/1/1") == 0);
    CHECK(refused("names", "[\"\",\"\",\"\"]", TCALL_MISFIT_ROOM));
    CHECK(refused("limits", "[{\"value\":0},{}]", TCALL_MISFIT_REQUIRED));
    CHECK(strcmp(trail(), "/3/1/0") == 0);
    CHECK(refused("limits", "[{\"value\":0,\"value\":0}]",
                  TCALL_MISFIT_DUPLICATE));
    CHECK(refused("limits", "{\"value\":0}", TCALL_MISFIT_TYPE));
    CHECK(refused("inner", "[1]", TCALL_MISFIT_TYPE));
    CHECK(read_whole("{}") == TCALL_E_INVALID && decoder.misfit_count == 1 &&
          decoder.misfits[0].code == TCALL_MISFIT_REQUIRED);
    CHECK(read_whole("[{\"city\":1}]") == TCALL_E_INVALID &&
          decoder.misfits[0].code == TCALL_MISFIT_TYPE &&
          decoder.misfits[0].steps == 0);
    CHECK(read_whole("{\"days\":9,\"x\":1,\"limits\":3}") == TCALL_E_INVALID &&
          decoder.misfit_count == 4 &&
          decoder.misfits[0].code == TCALL_MISFIT_MAXIMUM);
    CHECK(read_whole("{\"days\":9,\"x\":1,\"limits\":3") == TCALL_E_TRUNCATED);
}

/* Values that are kept as their text. */
static void test_kept(void)
{
    CHECK(read_value("any", "{ \"a\" : [1 , \"b c\" ] }") == TCALL_E_INVALID);
    CHECK(read_value("any", "{ \"a\" :[1, 2 ] }") == TCALL_OK &&
          strcmp(all.any, "{\"a\":[1,2]}") == 0);
    CHECK(read_value("any", " -1.5e3 ") == TCALL_OK &&
          strcmp(all.any, "-1.5e3") == 0);
    CHECK(read_value("any", "\"a \\n\\u20ac\"") == TCALL_OK &&
          strcmp(all.any, "\"a \\n\\u20ac\"") == 0);
    CHECK(read_value("any", "null") == TCALL_OK &&
          strcmp(all.any, "null") == 0 && TCALL_GIVEN(&all, all, any));
    CHECK(read_value("any", "[[[[[[]]]]]]") == TCALL_OK);
    CHECK(refused("any", "[[[[[[1]]]]]]", TCALL_MISFIT_ROOM));
    CHECK(read_value("some", "12.0") == TCALL_OK &&
          strcmp(all.some, "12.0") == 0);
    CHECK(refused("some", "12.5", TCALL_MISFIT_TYPE));
    CHECK(refused("some", "[]", TCALL_MISFIT_TYPE));
    CHECK(read_value("some", "123e99999") == TCALL_OK);
}

/* Wrong syntax ends it, with the place. */
static void test_syntax(void)
{
    static const struct {
        const char *text;
        int error;
        unsigned at;
    } rows[] = {
        {"{\"city\":\"x\"}x", TCALL_E_TRAILING, 12},
        {"{\"city\":\"x\",}", TCALL_E_BAD_VALUE, 12},
        {"{\"city\":\"x\"]", TCALL_E_BAD_VALUE, 11},
        {"{\"city\":\"\x01\"}", TCALL_E_BAD_VALUE, 9},
        {"{\"city\":\"\xC3(\"}", TCALL_E_UTF8, 10},
        {"{\"city\":\"\xED\xA0\x80\"}", TCALL_E_UTF8, 10},
        {"{\"city\":\"\xC3\"}", TCALL_E_UTF8, 10},
        {"{\"city\":\"\\x\"}", TCALL_E_BAD_ESCAPE, 10},
        {"{\"city\":\"\\ud800\"}", TCALL_E_BAD_ESCAPE, 15},
        {"{\"city\":\"\\ud800\\n\"}", TCALL_E_BAD_ESCAPE, 16},
        {"{\"city\":\"\\ud800\\ud800\"}", TCALL_E_BAD_ESCAPE, 20},
        {"{\"city\":\"\\udc00\"}", TCALL_E_BAD_ESCAPE, 14},
        {"{\"city\":\"\\u00g0\"}", TCALL_E_BAD_ESCAPE, 13},
        {"{\"x\":01}", TCALL_E_BAD_VALUE, 6},
        {"{\"x\":1.}", TCALL_E_BAD_VALUE, 7},
        {"{\"x\":nul}", TCALL_E_BAD_VALUE, 8},
        {"{\"x\":nulll}", TCALL_E_BAD_VALUE, 9},
        {"{\"x\" 1}", TCALL_E_BAD_VALUE, 5},
        {"{x:1}", TCALL_E_BAD_VALUE, 1},
        {"{\"a\":1 \"b\":2}", TCALL_E_BAD_VALUE, 7},
        {"", TCALL_E_TRUNCATED, 0},
        {" ", TCALL_E_TRUNCATED, 1},
        {"{\"city\":\"x\\", TCALL_E_TRUNCATED, 11},
        {"\xFF", TCALL_E_BAD_VALUE, 0},
        {"{\"city\":\"\xFF\"}", TCALL_E_UTF8, 9},
    };
    static char deep[2 * TOOLCALL_MAX_DEPTH + 64];
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(read_whole(rows[i].text) == rows[i].error &&
              decoder.at == rows[i].at);
    /* the object around it is a level, too */
    for (i = 0; i < TOOLCALL_MAX_DEPTH - 1; i++) {
        deep[i] = '[';
        deep[TOOLCALL_MAX_DEPTH - 1 + i] = ']';
    }
    CHECK(refused("any", deep, TCALL_MISFIT_ROOM));
    memmove(deep + 1, deep, strlen(deep) + 1);
    strcat(deep, "]");
    CHECK(read_value("any", deep) == TCALL_E_DEPTH);
}

static const char *const texts[] = {
    "{\"city\":\"Oslo\",\"days\":5,\"unit\":\"kelvin\",\"limits\":"
    "[{\"value\":1.5,\"above\":true},{\"value\":-4e1}]}",
    "{\"any\": {\"a\" : [1, tru\x65]} , \"note\":\"\xE2\x82\xAC\\ud83d"
    "\\ude00\", \"city\":\"\\\"\\\\\\/\"}",
    "{\"any\":[true , false ,null], \"some\":-0.0e+2,\"city\" :\"abc\"}",
    "{\"cite\":1,\"rows\":[[1,2,3,4]],\"days\":7.0000001,\"city\":\"\"}",
    "{\"city\":\"a\",\"names\":[\"\",\"abcd\"],\"inner\":{\"depth\":1,"
    "\"x\":[]},\"@long name\":\"1 hour\",\"whole\":null}",
    "{\"city\":\"a\",\"note\":\"\xC3(\"}",
};

/* Returns whether the outcome in pieces is that of the whole text. */
static bool agrees(const char *text, size_t len, size_t piece)
{
    int error = read_in(text, len, len + 1);
    struct all want = all;
    tcall_decoder state = decoder;
    return read_in(text, len, piece) == error &&
           (error || memcmp(&want, &all, sizeof all) == 0) &&
           decoder.at == state.at &&
           decoder.misfit_count == state.misfit_count &&
           memcmp(decoder.misfits, state.misfits, sizeof state.misfits) == 0;
}

/* However a text is cut into pieces, the outcome is the same; cut off anywhere
 * it is never accepted. */
static void test_pieces(void)
{
    size_t i, k, n;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t len = strlen(texts[i]), at;
        for (n = 1; n < len; n += CHECK_EVERY)
            CHECK(agrees(texts[i], len, n));
        at = decoder.at;
        for (k = 0; k < len; k += CHECK_EVERY) {
            CHECK(read_in(texts[i], k, len) ==
                  (k > at || at < len ? decoder.error : TCALL_E_TRUNCATED));
            CHECK(decoder.error < 0 && decoder.error != TCALL_E_INVALID);
        }
    }
}

/* Whatever comes, pieces make no difference, and what is noted is not lost: a
 * text with misfits is never accepted. */
static bool holds(const char *text, size_t len)
{
    size_t piece = len ? 1 + (unsigned char)text[len / 2] % 7 : 1;
    return agrees(text, len, piece) &&
           (decoder.misfit_count != 0) <= (decoder.error < 0) &&
           (decoder.error != TCALL_E_INVALID || decoder.misfit_count);
}

FUZZ(texts, (void)0, holds)

/* ---- what the caller adds ---- */

#define ANSWER(ROW, me)                             \
    ROW(me, optional, text(0, 8), name, "Its name") \
    ROW(me, optional, json(4), args, "Filled in")
TCALL_SHAPE(answer, ANSWER)

#ifndef __AVR__ /* the shape would have to be in flash */
static tcall_shape answer_members_holed[2];
static tcall_object answer_holed;
static const tcall_shape limit_node = {
    TCALL_SHAPE_OBJECT, TCALL_KIND_OBJECT, 0, 0, 0, 0, 0, 0, &limit_shape};

static void fill(tcall_decoder *reading, const tcall_shape **shape, char **out)
{
    *shape = &limit_node;
    *out = (char *)reading->user;
}
#endif

static void test_caller(void)
{
    struct answer answer;
#ifndef __AVR__
    static const char text[] = "{\"args\": {\"value\":2},\"name\":\"x\"}";
    struct limit limit;
    memcpy(answer_members_holed, answer_members_, sizeof answer_members_);
    answer_holed = answer_shape;
    answer_holed.members = answer_members_holed;
    answer_members_holed[1].kind = TCALL_KIND_HOLE;
    tcall_decoder_init(&decoder, &answer_holed, &answer);
    decoder.hole = fill;
    decoder.user = &limit;
    CHECK(tcall_decoder_feed(&decoder, text, strlen(text)) == TCALL_OK);
    CHECK(tcall_decoder_end(&decoder) == TCALL_OK && limit.value == 20);
#endif
    tcall_decoder_init(&decoder, &answer_shape, &answer);
    tcall_decoder_feed(&decoder, "{\"name\":\"x\"}", 12);
    tcall_decoder_poison(&decoder);
    CHECK(tcall_decoder_end(&decoder) == TCALL_E_TRUNCATED);
    CHECK(tcall_decoder_feed(&decoder, " ", 1) == TCALL_E_TRUNCATED);
}

#ifndef TOOLCALL_NO_INT64
#define WIDE(ROW, me)                                                      \
    ROW(me, optional, integer64(-9000000000, INT64_MAX), a, "A")           \
    ROW(me, optional, number(-0.5, 1e6), b, "B")                           \
    ROW(me, optional, number(TCALL_NO_MINIMUM, TCALL_NO_MAXIMUM), c, "C")  \
    ROW(me, optional, integer64(INT64_MIN, 5), d, "D")                     \
    ROW(me, optional, number(0, TCALL_NO_MAXIMUM), e, "E")                 \
    ROW(me, optional, over(number(0, 1)), f, "F")                          \
    ROW(me, optional, under(number(0, 1)), g, "G")                         \
    ROW(me, optional, over(under(number(-0.5, TCALL_NO_MAXIMUM))), h, "H") \
    ROW(me, defaults(1), under(or_null(over(integer64(0, 9)))), i, "I")
TCALL_SHAPE(wide, WIDE)

static int read_wide(struct wide *wide, const char *text)
{
    tcall_decoder_init(&decoder, &wide_shape, wide);
    tcall_decoder_feed(&decoder, text, strlen(text));
    return tcall_decoder_end(&decoder);
}

/* Bounds that are excluded. Returns the code of the misfit. */
static int misfit_of(const char *text)
{
    struct wide wide;
    return read_wide(&wide, text) ? decoder.misfits[0].code : TCALL_FITS;
}

static void test_excluded(void)
{
    CHECK(misfit_of("{\"f\":0}") == TCALL_MISFIT_MINIMUM);
    CHECK(misfit_of("{\"f\":-0.0e9}") == TCALL_MISFIT_MINIMUM);
    CHECK(misfit_of("{\"f\":-1e-9}") == TCALL_MISFIT_MINIMUM);
    CHECK(misfit_of("{\"f\":1e-9}") == TCALL_FITS);
    CHECK(misfit_of("{\"f\":1.0}") == TCALL_FITS);
    CHECK(misfit_of("{\"f\":1.000000001}") == TCALL_MISFIT_MAXIMUM);
    CHECK(misfit_of("{\"g\":0}") == TCALL_FITS);
    CHECK(misfit_of("{\"g\":0.9999999999}") == TCALL_FITS);
    CHECK(misfit_of("{\"g\":10e-1}") == TCALL_MISFIT_MAXIMUM);
    CHECK(misfit_of("{\"h\":-0.5}") == TCALL_MISFIT_MINIMUM);
    CHECK(misfit_of("{\"h\":-0.49999999}") == TCALL_FITS);
    CHECK(misfit_of("{\"h\":1e30}") == TCALL_FITS);
    CHECK(misfit_of("{\"i\":0}") == TCALL_MISFIT_MINIMUM);
    CHECK(misfit_of("{\"i\":1}") == TCALL_FITS);
    CHECK(misfit_of("{\"i\":null}") == TCALL_FITS);
    CHECK(misfit_of("{\"i\":8e0}") == TCALL_FITS);
    CHECK(misfit_of("{\"i\":9.0}") == TCALL_MISFIT_MAXIMUM);
}

static void test_wide(void)
{
    struct wide wide;
    CHECK(read_wide(&wide, "{\"a\":9223372036854775807,\"d\":-922337203685477"
                           "5808}") == TCALL_OK);
    CHECK(wide.a == INT64_MAX && wide.d == INT64_MIN);
    CHECK(read_wide(&wide, "{\"a\":9223372036854775808}") == TCALL_E_INVALID &&
          decoder.misfits[0].code == TCALL_MISFIT_MAXIMUM);
    CHECK(read_wide(&wide, "{\"d\":-9223372036854775809}") == TCALL_E_INVALID &&
          decoder.misfits[0].code == TCALL_MISFIT_MINIMUM);
    CHECK(read_wide(&wide, "{\"a\":-9000000001}") == TCALL_E_INVALID &&
          !decoder.misfits[0].exact);
    CHECK(read_wide(&wide, "{\"a\":1234567890123456789.0}") == TCALL_OK &&
          wide.a == 1234567890123456789);
    CHECK(read_wide(&wide, "{\"a\":12345678901234567890123.5}") ==
              TCALL_E_INVALID &&
          decoder.misfits[0].code == TCALL_MISFIT_TYPE);
#ifndef CHECK_NO_DOUBLE
    CHECK(read_wide(&wide, "{\"b\":0.1,\"c\":-1.5e30,\"e\":1e22}") == TCALL_OK);
    CHECK(wide.b > 0.0999999 && wide.b < 0.1000001 && wide.e > 9e21);
#ifndef __AVR__ /* whose double has 32 bits */
    CHECK(wide.e == 1e22 && wide.c > -1.50001e30 && wide.c < -1.49999e30);
#endif
    CHECK(read_wide(&wide, "{\"b\":1000000.0000001}") == TCALL_E_INVALID &&
          decoder.misfits[0].code == TCALL_MISFIT_MAXIMUM);
    CHECK(read_wide(&wide, "{\"b\":-0.50000000000000000001}") ==
              TCALL_E_INVALID &&
          decoder.misfits[0].code == TCALL_MISFIT_MINIMUM);
    CHECK(read_wide(&wide, "{\"e\":-1e-300}") == TCALL_E_INVALID &&
          decoder.misfits[0].code == TCALL_MISFIT_MINIMUM);
    CHECK(read_wide(&wide, "{\"c\":1e400}") == TCALL_E_INVALID &&
          decoder.misfits[0].code == TCALL_MISFIT_ROOM);
    CHECK(read_wide(&wide, "{\"c\":1e-400}") == TCALL_OK && wide.c == 0);
#endif
}
#endif

int main(void)
{
    /* With one misfit, as in the least profile, 200 bytes, and the beginning of
     * an unknown name or word twice, which that profile does not keep: while it
     * is read and in the misfit, each with its length. */
    CHECK(sizeof(void *) != 4 ||
          offsetof(tcall_decoder, misfits) + sizeof(tcall_misfit) <=
              200 +
                  (TOOLCALL_MISFIT_TEXT ? 2 * (TOOLCALL_MISFIT_TEXT + 4) : 0));
    test_values();
    test_numbers();
    test_long_numbers();
    test_misfits();
    test_kept();
    test_syntax();
    test_pieces();
    CHECK(holds(texts[0], strlen(texts[0])));
    test_caller();
#ifndef TOOLCALL_NO_INT64
    test_wide();
    test_excluded();
#endif
    return check_sum("test_read");
}
