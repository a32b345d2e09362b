/* Recogniser, values and writer. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/text.c"
#include "../src/write.c"
#endif
#include "check.h"

/* ---------------------------------------------------------- recogniser */

static int check(const char *text, size_t len)
{
    tcall_str all;
    all.ptr = text;
    all.len = len;
    return tcall_json_check(all);
}

static const struct {
    const char *text;
    int error;
} grammar[] = {
    {"{}", 0},
    {" [ ] \r\n\t", 0},
    {"0", 0},
    {"-0.5e+10", 0},
    {"1E400", 0},
    {"true", 0},
    {"null", 0},
    {"\"\"", 0},
    {"[1,-2.5,true,false,null,\"a\",[],{}]", 0},
    {"{\"\":{\"a\":[{}]},\"b\":\"\\u00e9\\ud83d\\ude00\\n\"}", 0},
    {"\"\xF4\x8F\xBF\xBF\xED\x9F\xBF\x7F\"", 0},
    {"", TCALL_E_TRUNCATED},
    {" ", TCALL_E_TRUNCATED},
    {"{", TCALL_E_TRUNCATED},
    {"[1,", TCALL_E_TRUNCATED},
    {"{\"a\"", TCALL_E_TRUNCATED},
    {"\"\\u12", TCALL_E_TRUNCATED},
    {"\"\\ud800", TCALL_E_TRUNCATED},
    {"tru", TCALL_E_TRUNCATED},
    {"-", TCALL_E_TRUNCATED},
    {"1e", TCALL_E_TRUNCATED},
    {"01", TCALL_E_TRAILING},
    {"[01]", TCALL_E_MISSING_COMMA},
    {"+1", TCALL_E_BAD_VALUE},
    {".5", TCALL_E_BAD_VALUE},
    {"[1.]", TCALL_E_BAD_VALUE},
    {"nul ", TCALL_E_BAD_VALUE},
    {"nan", TCALL_E_BAD_VALUE},
    {"[1,]", TCALL_E_BAD_VALUE},
    {"[,1]", TCALL_E_BAD_VALUE},
    {"{\"a\":1,}", TCALL_E_BAD_KEY},
    {"{a:1}", TCALL_E_BAD_KEY},
    {"{\"a\" 1}", TCALL_E_MISSING_COLON},
    {"[1 2]", TCALL_E_MISSING_COMMA},
    {"{\"a\":1 \"b\":2}", TCALL_E_MISSING_COMMA},
    {"[1}", TCALL_E_BRACKETS},
    {"{\"a\":1]", TCALL_E_BRACKETS},
    {"{}{}", TCALL_E_TRAILING},
    {"1 2", TCALL_E_TRAILING},
    {"\"\\x\"", TCALL_E_BAD_ESCAPE},
    {"\"\\u12g4\"", TCALL_E_BAD_ESCAPE},
    {"\"\\ud800\"", TCALL_E_BAD_ESCAPE},
    {"\"\\ud800\\n\"", TCALL_E_BAD_ESCAPE},
    {"\"\\udc00\"", TCALL_E_BAD_ESCAPE},
    {"\"a\nb\"", TCALL_E_BAD_VALUE},
    {"\"\x80\"", TCALL_E_UTF8},
    {"\"\xC0\xAF\"", TCALL_E_UTF8},
    {"\"\xE0\x80\x80\"", TCALL_E_UTF8},
    {"\"\xED\xA0\x80\"", TCALL_E_UTF8},
    {"\"\xF4\x90\x80\x80\"", TCALL_E_UTF8},
    {"\"\xC3\"", TCALL_E_UTF8},
    {"\xEF\xBB\xBF{}", TCALL_E_BAD_VALUE},
};

static void test_grammar(void)
{
    size_t i;
    for (i = 0; i < sizeof grammar / sizeof grammar[0]; i++) {
        const char *t = grammar[i].text;
        int r = check(t, strlen(t));
        CHECK(r == grammar[i].error);
        if (r != grammar[i].error)
            printf("    %s: %s\n", t, tcall_error_code(r));
    }
    CHECK(check("\"a\0b\"", 5) == TCALL_E_NUL);
    CHECK(check("{}\0", 3) < 0);
}

static const char answer[] =
    "{\"x\":{\"choices\":[{\"text\":\"no\"}]},\"choices\":[{\"text\":"
    "\"a\\u00e9\\ud83d\\ude00\\n\xC3\xA9\",\"args\":{\"k\":[1,\"}\"],\"n\":2}},"
    "{\"text\":\"second\",\"args\":[3]}],\"n\":-12.5e3 ,\"u\":true}";

static void test_cut(void)
{
    size_t len = strlen(answer), at;
    CHECK(check(answer, len) == TCALL_OK);
    for (at = 0; at < len; at++)
        CHECK(check(answer, at) == TCALL_E_TRUNCATED);
}

static char *repeat(const char *text, size_t times, const char *end)
{
    size_t n = strlen(text), i;
    char *out = (char *)malloc(n * times + strlen(end) + 1);
    for (i = 0; i < times; i++)
        memcpy(out + i * n, text, n);
    strcpy(out + n * times, end);
    return out;
}

static void test_depth(void)
{
    static const char *const opens[] = {"[", "{\"a\":", "[{\"a\":["};
    char *text;
    size_t i;
    for (i = 0; i < 3; i++) {
        text = repeat(opens[i], 10000 / CHECK_EVERY + 100, "");
        CHECK(check(text, strlen(text)) == TCALL_E_DEPTH);
        free(text);
    }
    text = (char *)malloc(2 * TOOLCALL_MAX_DEPTH + 2);
    memset(text, '[', TOOLCALL_MAX_DEPTH + 1);
    memset(text + TOOLCALL_MAX_DEPTH + 1, ']', TOOLCALL_MAX_DEPTH + 1);
    CHECK(check(text + 1, 2 * TOOLCALL_MAX_DEPTH) == TCALL_OK);
    CHECK(check(text, 2 * TOOLCALL_MAX_DEPTH + 2) == TCALL_E_DEPTH);
    free(text);
}

/* -------------------------------------------------------------- values */

/* One text at a time, in memory of exactly its size. */
static char *parse_text;
static int parse_result;
static size_t parse_need;

static tcall_json parse(const char *text)
{
    tcall_json v;
    size_t len = strlen(text);
    free(parse_text);
    parse_text = (char *)malloc(len + 1);
    memcpy(parse_text, text, len);
    parse_result = tcall_json_parse(&v, parse_text, len, &parse_need);
    return v;
}

static tcall_json value_of(const char *text)
{
    return tcall_json_get(parse(text), "a");
}

static void test_getters(void)
{
    tcall_json v = parse("{\"s\":\"a\\u0020b\",\"n\":5e2,\"t\":true,\"z\":null,"
                         "\"l\":[1,[2,3],{}],\"k\\n\":{\"x\":-7}}");
    tcall_json i;
    int n = 0;
    CHECK(parse_result == TCALL_OK && tcall_json_type(v) == TCALL_OBJECT);
    CHECK(tcall_json_count(v) == 6);
    CHECK(!strcmp(tcall_json_string(tcall_json_get(v, "s"), "?"), "a b"));
    CHECK(!strcmp(tcall_json_string(tcall_json_get(v, "n"), "?"), "?"));
    CHECK(!strcmp(tcall_json_string(tcall_json_get(v, "q"), "?"), "?"));
    CHECK(tcall_json_int(tcall_json_get(v, "n"), 1) == 500);
    CHECK(tcall_json_int(tcall_json_get(v, "s"), 1) == 1);
    CHECK(tcall_json_bool(tcall_json_get(v, "t"), false));
    CHECK(tcall_json_bool(tcall_json_get(v, "z"), true));
    CHECK(tcall_json_type(tcall_json_get(v, "z")) == TCALL_NULL);
    CHECK(tcall_json_int(
              tcall_json_at(tcall_json_at(tcall_json_get(v, "l"), 1), 1), 0) ==
          3);
    CHECK(!tcall_json_at(tcall_json_get(v, "l"), 3).at);
    CHECK(!tcall_json_at(tcall_json_get(v, "l"), -1).at);
    CHECK(!tcall_json_at(v, 0).at && !tcall_json_get(v, "x").at);
    CHECK(tcall_json_int(tcall_json_get(tcall_json_get(v, "k\n"), "x"), 0) ==
          -7);
    CHECK(!tcall_json_get(tcall_json_get(tcall_json_get(v, "a"), "b"), "c").at);
    for (i = tcall_json_first(v); i.at; i = tcall_json_next(i))
        n += (int)tcall_json_key(i).len;
    CHECK(n == 7);
    CHECK(!tcall_json_first(tcall_json_at(tcall_json_get(v, "l"), 2)).at);
    CHECK(tcall_json_key(v).len == 0);
}

static void test_numbers(void)
{
#ifndef TOOLCALL_NO_INT64
    CHECK(tcall_json_int64(value_of("{\"a\":9007199254740993}"), 0) ==
          INT64_C(9007199254740993));
    CHECK(tcall_json_int64(value_of("{\"a\":9223372036854775807}"), 0) ==
          INT64_MAX);
    CHECK(tcall_json_int64(value_of("{\"a\":-9223372036854775808}"), 0) ==
          INT64_MIN);
#else
    CHECK(tcall_json_int64(value_of("{\"a\":2147483647}"), 7) == 2147483647);
    CHECK(tcall_json_int64(value_of("{\"a\":2147483648}"), 7) == 7);
#endif
    CHECK(tcall_json_int64(value_of("{\"a\":9223372036854775808}"), 7) == 7);
    CHECK(tcall_json_int64(value_of("{\"a\":-9223372036854775809}"), 7) == 7);
    CHECK(tcall_json_int(value_of("{\"a\":2147483648}"), 7) == 7);
    CHECK(tcall_json_int(value_of("{\"a\":-2147483648}"), 7) ==
          (INT_MAX > 32767 ? INT32_MIN : 7));
    CHECK(tcall_json_int(value_of("{\"a\":5.0}"), 7) == 5);
    CHECK(tcall_json_int(value_of("{\"a\":0.5e1}"), 7) == 5);
    CHECK(tcall_json_int(value_of("{\"a\":5.5}"), 7) == 7);
    CHECK(tcall_json_int(value_of("{\"a\":-0e9}"), 7) == 0);
    CHECK(tcall_json_fixed(value_of("{\"a\":21.5}"), 2, 0) == 2150);
    CHECK(tcall_json_fixed(value_of("{\"a\":-0.019}"), 2, 0) == -1);
    CHECK(tcall_json_fixed(value_of("{\"a\":1e300}"), 2, 7) == 7);
    value_of("{\"a\":1e308}");
    CHECK(parse_result == TCALL_OK);
    value_of("{\"a\":1e400}");
    CHECK(parse_result == TCALL_E_RANGE);
    value_of("{\"a\":-1e400}");
    CHECK(parse_result == TCALL_E_RANGE);
    value_of("{\"a\":1e-400}");
    CHECK(parse_result == TCALL_OK);
    value_of("{\"a\":-1.797693134862315807e308}");
    CHECK(parse_result == TCALL_OK);
    value_of("{\"a\":-1.797693134862315809e308}");
    CHECK(parse_result == TCALL_E_RANGE);
    value_of("{\"a\":0e400}");
    CHECK(parse_result == TCALL_OK);
    value_of("{\"a\":1e99999999999999999999}");
    CHECK(parse_result == TCALL_E_RANGE);
}

/* The one getter that needs floating point, which some targets lack. */
static void test_double(void)
{
#ifndef CHECK_NO_DOUBLE
    double d = tcall_json_double(value_of("{\"a\":0.1}"), 0);
    double least = sizeof d < 8 ? 1e-7 : 1e-16;
    CHECK(d > 0.1 - least && d < 0.1 + least);
    CHECK(tcall_json_double(value_of("{\"a\":-1.5e3}"), 0) == -1500);
#endif
}

static void test_duplicates(void)
{
    parse("{\"a\":1,\"b\":2,\"a\":3}");
    CHECK(parse_result == TCALL_E_DUPLICATE);
    parse("{\"a\":1,\"\\u0061\":3}");
    CHECK(parse_result == TCALL_E_DUPLICATE);
    parse("[{\"x\":{\"\":1,\"\":2}}]");
    CHECK(parse_result == TCALL_E_DUPLICATE);
    parse("{\"a\":{\"a\":{\"a\":1}},\"A\":1,\"a \":1}");
    CHECK(parse_result == TCALL_OK);
}

/* An object with n keys, of which the last is the first once more. */
static void test_wide(void)
{
    enum { MANY = 10000 / CHECK_EVERY };
    char *text = (char *)malloc((size_t)MANY * 20), *p = text;
    int i;
    for (i = 0; i < MANY; i++)
        p += sprintf(p, "%s\"key%d\":%d", i ? "," : "{", i == MANY - 1 ? 0 : i,
                     i);
    sprintf(p, "}");
    parse(text);
    CHECK(parse_result == TCALL_E_DUPLICATE);
    free(text);
}

/* -------------------------------------------------------------- writer */

static void write_all(tcall_writer *w)
{
    tcall_write_open(w, '{');
    tcall_write_key(w, "a \"quoted\" \\ key\n");
    tcall_write_string(w, "\x01\x1f\t\r\n\b\f/\x7f\xC3\xA9\"");
    tcall_write_key(w, "list");
    tcall_write_open(w, '[');
    tcall_write_int(w, -42);
    tcall_write_fixed(w, 2150, 2);
    tcall_write_fixed(w, -5, 3);
    tcall_write_bool(w, true);
    tcall_write_null(w);
    tcall_write_open(w, '{');
    tcall_write_close(w, '}');
    tcall_write_verbatim(w, tcall_str_of("[1, 2]"));
    tcall_write_str(w, tcall_str_of(NULL));
    tcall_write_close(w, ']');
    tcall_write_key(w, "quoted");
    tcall_write_quote(w);
    tcall_write_open(w, '{');
    tcall_write_key(w, "k");
    tcall_write_string(w, "a\"b\\c\n\xC3\xA9\1");
    tcall_write_close(w, '}');
    tcall_write_unquote(w);
    tcall_write_key(w, "last");
    tcall_write_int(w, 1);
    tcall_write_close(w, '}');
}

static const char written[] =
    "{\"a \\\"quoted\\\" \\\\ key\\n\":\"\\u0001\\u001f\\t\\r\\n\\b\\f/\x7f"
    "\xC3\xA9\\\"\",\"list\":[-42,21.50,-0.005,true,null,{},[1, 2],\"\"],"
    "\"quoted\":\"{\\\"k\\\":\\\"a\\\\\\\"b\\\\\\\\c\\\\n"
    "\xC3\xA9\\\\u0001\\\"}\",\"last\":1}";

static size_t sink_chunk;

static int sink(void *user, const char *bytes, size_t len)
{
    char *all = (char *)user;
    size_t n = len < sink_chunk ? len : sink_chunk;
    strncat(all, bytes, n);
    return (int)n;
}

static int refuse(void *user, const char *bytes, size_t len)
{
    (void)user;
    (void)bytes;
    (void)len;
    return TCALL_E_CLOSED;
}

static void test_writer(void)
{
    size_t len = strlen(written), cap;
    char all[1024], small[7];
    tcall_writer w;
    tcall_writer_init(&w, NULL, 0);
    write_all(&w);
    CHECK(w.len == len && w.error == TCALL_OK);
    for (cap = 0; cap <= len + 1; cap++) {
        char *buf = (char *)malloc(cap ? cap : 1);
        tcall_writer_init(&w, buf, cap);
        write_all(&w);
        CHECK(w.len == len && w.error == (cap < len ? TCALL_E_MEMORY : 0));
        CHECK(memcmp(buf, written, w.fill) == 0);
        free(buf);
    }
    for (sink_chunk = 1; sink_chunk < 9; sink_chunk++) {
        for (cap = 1; cap <= sizeof small; cap++) {
            all[0] = 0;
            tcall_writer_init(&w, small, cap);
            tcall_writer_sink(&w, sink, all);
            write_all(&w);
            CHECK(tcall_writer_flush(&w) == TCALL_OK);
            CHECK(w.len == len && strcmp(all, written) == 0);
        }
    }
    for (cap = 0; cap <= sizeof small; cap++) {
        tcall_writer_init(&w, cap ? small : NULL, cap);
        tcall_writer_sink(&w, refuse, NULL);
        write_all(&w);
        CHECK(w.error == (cap ? TCALL_E_CLOSED : TCALL_E_MEMORY));
        CHECK(w.len == len);
    }
    CHECK(check(written, len) == TCALL_OK);
}

/* What is no JSON is told by the writer. */
static void test_misuse(void)
{
    tcall_writer w;
    char buf[20];
    tcall_writer_init(&w, buf, sizeof buf);
    CHECK(tcall_write_close(&w, '}') == TCALL_E_USAGE && w.len == 0);
    tcall_writer_init(&w, buf, sizeof buf);
    tcall_write_open(&w, '{');
    tcall_write_key(&w, "a");
    CHECK(tcall_write_close(&w, '}') == TCALL_E_USAGE && w.len == 5);
}

static void test_round_trip(void)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "null",
        "\"\\u0001\\\"\"",
        "[[],{},[{}]]",
        "{\"a\":[1,-2.50,1e5,true,false,null,\"x\\n\"],\"b\":{\"c\":{}}}"};
    char out[256];
    size_t i;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        tcall_writer w;
        tcall_writer_init(&w, out, sizeof out - 1);
        CHECK(tcall_write_json(&w, parse(texts[i])) == TCALL_OK);
        out[w.fill] = 0;
        CHECK(strcmp(out, texts[i]) == 0);
    }
}

int main(void)
{
    test_grammar();
    test_cut();
    test_depth();
    test_getters();
    test_numbers();
    test_double();
    test_duplicates();
    test_wide();
    test_writer();
    test_misuse();
    test_round_trip();
    free(parse_text);
    return check_sum("test_json");
}
