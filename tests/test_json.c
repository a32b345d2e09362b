/* Needs: LENIENT, MEND. */
/* Scanner, values, writer, and tolerant reading of arguments. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/call.c"
#endif
#include "check.h"
#include <time.h>

/* ------------------------------------------------------------- scanner */

static int scan_text(const char *text, size_t len)
{
    tcall_scan s;
    tcall_scan_init(&s, NULL, NULL, NULL);
    tcall_scan_feed(&s, text, len);
    return tcall_scan_end(&s);
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
        int r = scan_text(t, strlen(t));
        CHECK(r == grammar[i].error);
        if (r != grammar[i].error)
            printf("    %s: %s\n", t, tcall_error_code(r));
    }
    CHECK(scan_text("\"a\0b\"", 5) == TCALL_E_NUL);
    CHECK(scan_text("{}\0", 3) < 0);
}

/* Reported values, as text that can be compared. */
static char seen[512];
static size_t seen_len;

static int saw(void *user, int field, tcall_scan_event event, tcall_str bytes)
{
    (void)user;
    if (event == TCALL_SCAN_BEGIN)
        seen[seen_len++] = (char)('0' + field);
    if (event == TCALL_SCAN_BEGIN)
        seen[seen_len++] = '=';
    if (event == TCALL_SCAN_DATA)
        memcpy(seen + seen_len, bytes.ptr, bytes.len);
    if (event == TCALL_SCAN_DATA)
        seen_len += bytes.len;
    if (event == TCALL_SCAN_END)
        seen[seen_len++] = ';';
    seen[seen_len] = 0;
    return TCALL_OK;
}

#define OUTLINE(X)                  \
    X(1, 0, 0, "choices")           \
    X(2, 0, 0, "0")                 \
    X(3, 1, 0, "text")              \
    X(3, 2, TCALL_PATH_RAW, "args") \
    X(2, 0, 0, "*") X(3, 3, 0, "text") X(1, 4, 0, "n") X(1, 5, 0, "u")

TCALL_OUTLINE(outline, OUTLINE)

static const char answer[] =
    "{\"x\":{\"choices\":[{\"text\":\"no\"}]},\"choices\":[{\"text\":"
    "\"a\\u00e9\\ud83d\\ude00\\n\xC3\xA9\",\"args\":{\"k\":[1,\"}\"],\"n\":2}},"
    "{\"text\":\"second\",\"args\":[3]}],\"n\":-12.5e3 ,\"u\":true}";

static void test_split(void)
{
    static const char want[] = "1=a\xC3\xA9\xF0\x9F\x98\x80\n\xC3\xA9;"
                               "2={\"k\":[1,\"}\"],\"n\":2};3=second;"
                               "4=-12.5e3;5=true;";
    size_t len = strlen(answer), at, piece;
    tcall_scan s;
    for (at = 0; at <= len; at++) {
        seen_len = 0;
        tcall_scan_init(&s, &outline, saw, NULL);
        tcall_scan_feed(&s, answer, at);
        tcall_scan_feed(&s, answer + at, len - at);
        CHECK(tcall_scan_end(&s) == TCALL_OK && strcmp(seen, want) == 0);
    }
    for (piece = 1; piece < 8; piece++) {
        seen_len = 0;
        tcall_scan_init(&s, &outline, saw, NULL);
        for (at = 0; at < len; at += piece) {
            size_t n = len - at < piece ? len - at : piece;
            char *copy = (char *)malloc(n); /* no byte beyond is read */
            memcpy(copy, answer + at, n);
            tcall_scan_feed(&s, copy, n);
            free(copy);
        }
        CHECK(tcall_scan_end(&s) == TCALL_OK && strcmp(seen, want) == 0);
    }
    for (at = 0; at < len; at++)
        CHECK(scan_text(answer, at) == TCALL_E_TRUNCATED);
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
        CHECK(scan_text(text, strlen(text)) == TCALL_E_DEPTH);
        free(text);
    }
    text = (char *)malloc(2 * TOOLCALL_MAX_DEPTH + 2);
    memset(text, '[', TOOLCALL_MAX_DEPTH + 1);
    memset(text + TOOLCALL_MAX_DEPTH + 1, ']', TOOLCALL_MAX_DEPTH + 1);
    CHECK(scan_text(text + 1, 2 * TOOLCALL_MAX_DEPTH) == TCALL_OK);
    CHECK(scan_text(text, 2 * TOOLCALL_MAX_DEPTH + 2) == TCALL_E_DEPTH);
    free(text);
}

/* -------------------------------------------------------------- values */

/* One text at a time, in memory of exactly its size. */
static char *parse_text;
static tcall_tok *parse_tok;
static int parse_result;
static size_t parse_need;

static tcall_json parse(const char *text)
{
    tcall_json v;
    size_t len = strlen(text);
    free(parse_text);
    free(parse_tok);
    parse_text = (char *)malloc(len + 1);
    memcpy(parse_text, text, len);
    parse_need = 0;
    parse_result = tcall_json_parse(&v, parse_text, len, NULL, 0, &parse_need);
    parse_tok = NULL;
    if (parse_result != TCALL_E_MEMORY)
        return v;
    parse_tok = (tcall_tok *)malloc(parse_need * sizeof *parse_tok);
    parse_result =
        tcall_json_parse(&v, parse_text, len, parse_tok, parse_need, NULL);
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
    CHECK(parse_result == 20 && tcall_json_type(v) == TCALL_OBJECT);
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
    CHECK(!tcall_json_at(tcall_json_get(v, "l"), 3).tok);
    CHECK(!tcall_json_at(tcall_json_get(v, "l"), -1).tok);
    CHECK(!tcall_json_at(v, 0).tok && !tcall_json_get(v, "x").tok);
    CHECK(tcall_json_int(tcall_json_get(tcall_json_get(v, "k\n"), "x"), 0) ==
          -7);
    CHECK(
        !tcall_json_get(tcall_json_get(tcall_json_get(v, "a"), "b"), "c").tok);
    for (i = tcall_json_first(v); i.tok; i = tcall_json_next(i))
        n += (int)tcall_json_key(i).len;
    CHECK(n == 7);
    CHECK(!tcall_json_first(tcall_json_at(tcall_json_get(v, "l"), 2)).tok);
    CHECK(tcall_json_key(v).len == 0);
}

static void test_numbers(void)
{
    CHECK(tcall_json_int64(value_of("{\"a\":9007199254740993}"), 0) ==
          INT64_C(9007199254740993));
    CHECK(tcall_json_int64(value_of("{\"a\":9223372036854775807}"), 0) ==
          INT64_MAX);
    CHECK(tcall_json_int64(value_of("{\"a\":-9223372036854775808}"), 0) ==
          INT64_MIN);
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
    CHECK(parse_result == 3);
    value_of("{\"a\":1e400}");
    CHECK(parse_result == TCALL_E_RANGE);
    value_of("{\"a\":-1e400}");
    CHECK(parse_result == TCALL_E_RANGE);
    value_of("{\"a\":1e-400}");
    CHECK(parse_result == TCALL_E_RANGE);
    value_of("{\"a\":0e400}");
    CHECK(parse_result == 3);
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
    CHECK(parse_result == 11);
}

/* An object with n keys; twice: the last key is the first once more. loose: in
 * need of mending. */
static char *wide(int n, bool loose, bool twice)
{
    char *text = (char *)malloc((size_t)n * 40 + 40), *p = text;
    int i;
    *p++ = '{';
    for (i = 0; i < n; i++) {
        if (i)
            *p++ = ',';
        if (loose)
            p += sprintf(p, "'k%d' : %d // x\n", i, i);
        else
            p += sprintf(p, "\"key%d\":%d", twice && i == n - 1 ? 0 : i, i);
    }
    *p++ = '}';
    *p = 0;
    return text;
}

/* Time for one object of n keys, the best of three. */
static long wide_time(int n, bool loose)
{
    char *text = wide(n, loose, false);
    tcall_str raw = tcall_str_of(text);
    tcall_args args;
    long best = LONG_MAX;
    void *mem;
    int i, r = tcall_args_read(&args, raw, false, NULL, 0);
    CHECK(r == TCALL_E_MEMORY);
    mem = malloc(args.used);
    for (i = 0; i < 3; i++) {
        clock_t start = clock();
        long took;
        r = tcall_args_read(&args, raw, false, mem, args.used);
        took = (long)(clock() - start);
        best = took < best ? took : best;
    }
    CHECK(r == 2 * n + 1);
    CHECK(tcall_json_count(args.root) == n);
    free(mem);
    free(text);
    return best;
}

static void test_wide(void)
{
    char *text = wide(10000 / CHECK_EVERY, false, true);
    int i;
    parse(text);
    CHECK(parse_result == TCALL_E_DUPLICATE);
    free(text);
    for (i = 0; i < 2; i++) {
        long small = wide_time(10000 / CHECK_EVERY, i);
        long large = wide_time(80000 / CHECK_EVERY, i);
        /* quadratic would be 64 times as long */
        CHECK(CHECK_EVERY > 1 || large < small * 24 + CLOCKS_PER_SEC / 50);
    }
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
    tcall_writer_init(&w, small, sizeof small);
    tcall_writer_sink(&w, refuse, NULL);
    write_all(&w);
    CHECK(w.error == TCALL_E_CLOSED && w.len == len);
    CHECK(scan_text(written, len) == TCALL_OK);
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

/* ----------------------------------------------------- tolerant reading */

#define BIT(name) TCALL_FIX_##name

static const struct {
    const char *in, *out;
    uint32_t fixes;
} safe[] = {
    {"", "{}", BIT(EMPTY)},
    {" \n", "{}", BIT(EMPTY)},
    {"null", "{}", BIT(NULL)},
    {" None ", "{}", BIT(NULL) | BIT(PYTHON)},
    {"{'a': True, 'b': None, 'c': False}",
     "{\"a\":true,\"b\":null,\"c\":false}", BIT(SINGLE_QUOTE) | BIT(PYTHON)},
    {"{'say': 'a \"b\" \\'c\\' \\n'}",
     "{\"say\":\"a \\u0022b\\u0022 'c' \\n\"}",
     BIT(SINGLE_QUOTE) | BIT(APOSTROPHE)},
    {"{\"a\": \"it\\'s\"}", "{\"a\":\"it's\"}", BIT(APOSTROPHE)},
    {"{\xE2\x80\x9C"
     "a\xE2\x80\x9D: \xE2\x80\x98"
     "b \xE2\x82\xAC\xE2\x80\x99}",
     "{\"a\":\"b \xE2\x82\xAC\"}", BIT(SMART_QUOTE)},
    {"{\"a\": \"x\n\ty\"}", "{\"a\":\"x\\u000A\\u0009y\"}", BIT(CONTROL)},
    {"\xEF\xBB\xBF{\"a\":\xC2\xA0"
     "1,\xE3\x80\x80\"b\":\xE2\x80\x83\"\xC2\xA0\"}",
     "{\"a\":1,\"b\":\"\xC2\xA0\"}", BIT(SPACE)},
    {"// first\n{\"a\" /* x */: 1, # y\n \"b//\": \"#\"} // z",
     "{\"a\":1,\"b//\":\"#\"}", BIT(COMMENT)},
    {"{\"a\": [1, 2, ], \"b\": {\"c\": 1 , } ,}",
     "{\"a\":[1,2],\"b\":{\"c\":1}}", BIT(TRAILING_COMMA)},
    {"{a: 1, $b_2: {true: 2}}", "{\"a\":1,\"$b_2\":{\"true\":2}}",
     BIT(UNQUOTED_KEY)},
    {"{\"a\": +5, \"b\": .5, \"c\": 5., \"d\": -.5, \"e\": 1.e3}",
     "{\"a\":5,\"b\":0.5,\"c\":5.0,\"d\":-0.5,\"e\":1.0e3}", BIT(NUMBER)},
    {"```json\n{\"a\":1}\n```", "{\"a\":1}", BIT(FENCE)},
    {"```\n{\"a\":1}", "{\"a\":1}", BIT(FENCE)},
    {"{\"a\":1}\n```\n", "{\"a\":1}", BIT(FENCE)},
    {"<tool_call>\n{\"a\":1}\n</tool_call><|im_end|>", "{\"a\":1}", BIT(TAG)},
    {"{\"a\":1}</s>", "{\"a\":1}", BIT(TAG)},
    {"{\"a\":1}}]}", "{\"a\":1}", BIT(EXTRA_CLOSER)},
    {"{\"a\":1} ,", "{\"a\":1}", BIT(PUNCTUATION)},
    {"\"{\\\"a\\\": \\\"\\\\n \\ud83d\\ude00\\\"}\"",
     "{\"a\": \"\\n \xF0\x9F\x98\x80\"}", BIT(DOUBLE_ENCODED)},
    {"'{\"a\": 1}'", "{\"a\": 1}", BIT(DOUBLE_ENCODED) | BIT(SINGLE_QUOTE)},
    {"```json\n\"{}\"```", "{}", BIT(DOUBLE_ENCODED) | BIT(FENCE)},
    {"{\\\"a\\\": \\\"x \\\\\\\" y\\\"}", "{\"a\": \"x \\\" y\"}",
     BIT(ESCAPED_OBJECT)},
    {"{\"a\":[1]} {\"a\":[1]}\n{\"a\":[1]}", "{\"a\":[1]}", BIT(REPEATED)},
    {"{}{}", "{}", BIT(REPEATED)},
    {"{'a':1,}", "{\"a\":1}", BIT(SINGLE_QUOTE) | BIT(TRAILING_COMMA)},
    {"{\"a\":[]}", "{\"a\":[]}", 0},
};

static const struct {
    const char *in;
    int error;
    int at;
} unsafe[] = {
    {"{", TCALL_E_TRUNCATED, 1},
    {"{\"a\":1", TCALL_E_TRUNCATED, 6},
    {"{\"a\":\"x", TCALL_E_TRUNCATED, 7},
    {"{\"a\":\"x\\", TCALL_E_TRUNCATED, 8},
    {"{\"a\":\"\\u12", TCALL_E_TRUNCATED, 10},
    {"{\"a\":\"\\ud83d", TCALL_E_TRUNCATED, 12},
    {"{'a': 'x}", TCALL_E_TRUNCATED, 9},
    {"{\"a\": [1, 2, ", TCALL_E_TRUNCATED, 13},
    {"{\"a\": 1} /* x", TCALL_E_TRUNCATED, 13},
    {"# no call", TCALL_E_TRUNCATED, 9},
    {"//\n", TCALL_E_TRUNCATED, 3},
    {"{\"a\":1 // }", TCALL_E_TRUNCATED, 11},
    {"<tool_call>", TCALL_E_TRUNCATED, 11},
    {"{\"a\": Paris}", TCALL_E_BARE_WORD, 6},
    {"{\"a\": trueish}", TCALL_E_BARE_WORD, 6},
    {"{\"a\": \xC3\xA9t\xC3\xA9}", TCALL_E_BARE_WORD, 6},
    {"Here it is: {\"a\":1}", TCALL_E_BARE_WORD, 0},
    {"f({\"a\":1})", TCALL_E_BARE_WORD, 0},
    {"{\"a\": NaN}", TCALL_E_BARE_WORD, 6},
    {"{\"a\":}", TCALL_E_BAD_VALUE, 5},
    {"[,1]", TCALL_E_BAD_VALUE, 1},
    {"{\"a\": 01}", TCALL_E_BAD_VALUE, 6},
    {"{\"a\": 0x1F}", TCALL_E_BAD_VALUE, 6},
    {"{\"a\": 1_000}", TCALL_E_BAD_VALUE, 6},
    {"{\"a\": 1.2.3}", TCALL_E_BAD_VALUE, 6},
    {"{\"a\": -}", TCALL_E_BAD_VALUE, 6},
    {"{\"a\": +-5}", TCALL_E_BAD_VALUE, 6},
    {"{\"a\": ++5}", TCALL_E_BAD_VALUE, 6},
    {"{\"a\": .}", TCALL_E_BAD_VALUE, 6},
    {"{\"a\": 1e}", TCALL_E_BAD_VALUE, 6},
    {"{\"a\": 6*7}", TCALL_E_BAD_VALUE, 6},
    {"{\"a\": 1/6}", TCALL_E_MISSING_COMMA, 7},
    {"{\"a\": 1 \"b\": 2}", TCALL_E_MISSING_COMMA, 8},
    {"{\"a\": [1 2]}", TCALL_E_MISSING_COMMA, 9},
    {"{\"a\" 1}", TCALL_E_UNESCAPED_QUOTE, 3},
    {"{\"a\"}", TCALL_E_MISSING_COLON, 4},
    {"{a 1}", TCALL_E_MISSING_COLON, 3},
    {"{\"a\": \"say \"hi\" now\"}", TCALL_E_UNESCAPED_QUOTE, 11},
    {"{'a': 'it's'}", TCALL_E_UNESCAPED_QUOTE, 9},
    {"{\"a\": \"x\" \"b\": 1}", TCALL_E_UNESCAPED_QUOTE, 8},
    {"{\"a\": \"C:\\Users\"}", TCALL_E_BAD_ESCAPE, -1},
    {"{\"a\": \"\\u12x4\"}", TCALL_E_BAD_ESCAPE, -1},
    {"{\"a\": \"\\ud83d x\"}", TCALL_E_BAD_ESCAPE, -1},
    {"{\"a\":\"\\ud83d\1\"}", TCALL_E_BAD_ESCAPE, 12},
    {"{\"a\": \"\\u12\"}", TCALL_E_BAD_ESCAPE, -1},
    {"{1: 2}", TCALL_E_BAD_KEY, 1},
    {"{,}", TCALL_E_BAD_KEY, 1},
    {"{\"a\":1,,}", TCALL_E_BAD_KEY, 7},
    {"{\\\"a\\\": 1} x", TCALL_E_BAD_KEY, 1},
    {"{\"a\":[1}", TCALL_E_BRACKETS, 7},
    {"{\"a\":1]", TCALL_E_BRACKETS, 6},
    {"{\"a\":1} ok", TCALL_E_TRAILING, 8},
    {"{\"a\":1}, {\"a\":1}", TCALL_E_TRAILING, 9},
    {"{\"a\":1} {\"a\":2}", TCALL_E_MULTIPLE, 8},
    {"{\"a\":1}{\"a\":1}{\"b\":1}", TCALL_E_MULTIPLE, 14},
    {"[1]", TCALL_E_NOT_OBJECT, 0},
    {" 5", TCALL_E_NOT_OBJECT, 1},
    {"\"hello\"", TCALL_E_NOT_OBJECT, 0},
    {"\"[1]\"", TCALL_E_NOT_OBJECT, 0},
    {"\"\\\"{}\\\"\"", TCALL_E_NOT_OBJECT, 0},
    {"[{\"a\":1,\"a\":1}]", TCALL_E_NOT_OBJECT, 0},
    {"[{\"a\":1]", TCALL_E_BRACKETS, 7},
    {"{\"a\": '\xFF'}", TCALL_E_UTF8, 7},
    {"{\"a\": '\xC3(')}", TCALL_E_UTF8, 8},
};

/* Into memory of exactly the size that is needed. The caller frees it. */
static int read_args(tcall_args *args, const char *in, size_t len, bool strict,
                     void **mem)
{
    char *copy = (char *)malloc(len ? len : 1);
    int r;
    *mem = NULL;
    memcpy(copy, in, len);
    r = tcall_args_read(args, (tcall_str){copy, len}, strict, NULL, 0);
    if (r == TCALL_E_MEMORY) {
        *mem = malloc(args->used);
        r = tcall_args_read(args, (tcall_str){copy, len}, strict, *mem,
                            args->used);
    }
    free(copy);
    return r;
}

static void test_safe(void)
{
    char out[256];
    size_t i;
    for (i = 0; i < sizeof safe / sizeof *safe; i++) {
        tcall_str in = tcall_str_of(safe[i].in);
        size_t want = strlen(safe[i].out), n = safe[i].fixes ? want : in.len;
        tcall_mend m;
        tcall_args args;
        void *mem;
        int r = tcall_args_mend(in, out, sizeof out - 1, &m);
        out[r < 0 ? 0 : r] = 0;
        CHECK(r == (int)want && strcmp(out, safe[i].out) == 0);
        CHECK(m.fixes == safe[i].fixes && m.need == want);
        if (strcmp(out, safe[i].out) || m.fixes != safe[i].fixes)
            printf("    %s: %s %d, fixes %lx\n", in.ptr, out, r,
                   (unsigned long)m.fixes);
        CHECK(tcall_args_mend(in, NULL, 0, &m) == (int)want);
        CHECK(tcall_args_mend(in, out, want - 1, &m) == TCALL_E_MEMORY);
        r = read_args(&args, in.ptr, in.len, false, &mem);
        CHECK(r == (int)m.tokens && args.fixes == safe[i].fixes);
        CHECK(args.used == m.tokens * sizeof(tcall_tok) + n + 1);
        free(mem);
        r = read_args(&args, in.ptr, in.len, true, &mem);
        CHECK((r < 0) == (safe[i].fixes != 0) && r != TCALL_E_MEMORY);
        free(mem);
    }
}

static void test_unsafe(void)
{
    size_t i;
    for (i = 0; i < sizeof unsafe / sizeof *unsafe; i++) {
        const char *in = unsafe[i].in;
        tcall_args args;
        void *mem;
        int strict, r = 0;
        for (strict = 0; strict < 2; strict++) {
            r = read_args(&args, in, strlen(in), strict, &mem);
            CHECK(r == unsafe[i].error && !args.root.tok);
            CHECK(unsafe[i].at < 0 || args.at == (size_t)unsafe[i].at);
            free(mem);
        }
        if (r != unsafe[i].error || (int)args.at != unsafe[i].at)
            if (unsafe[i].at >= 0)
                printf("    %s: %s at %d\n", in, tcall_error_code(r),
                       (int)args.at);
    }
}

static void test_refused(void)
{
    tcall_args args;
    void *mem;
    CHECK(read_args(&args, "{\"a\":\"b\0c\"}", 11, false, &mem) == TCALL_E_NUL);
    free(mem);
    CHECK(read_args(&args, "{\"a\":1}\0{}", 10, false, &mem) ==
          TCALL_E_TRAILING);
    free(mem);
    CHECK(read_args(&args, "{\"a\":\"b\\u0000c\"}", 16, false, &mem) ==
          TCALL_E_NUL);
    free(mem);
    CHECK(read_args(&args, "{\"a\\u0000\":1,}", 14, false, &mem) ==
          TCALL_E_NUL);
    free(mem);
    CHECK(read_args(&args, "{\"a\":1,\"a\":2}", 13, false, &mem) ==
          TCALL_E_DUPLICATE);
    CHECK(args.at == 8);
    free(mem);
    CHECK(read_args(&args, "{a:1,a:2}", 9, false, &mem) == TCALL_E_DUPLICATE);
    free(mem);
    CHECK(read_args(&args, "{\"a\":1e400}", 11, false, &mem) == TCALL_E_RANGE);
    free(mem);
    /* strict: where the tolerant reading finds nothing wrong, the scanner's
     * error */
    CHECK(read_args(&args, "{\"a\":1,}", 8, true, &mem) == TCALL_E_BAD_KEY);
    CHECK(args.at == 7);
    CHECK(read_args(&args, "", 0, true, &mem) == TCALL_E_TRUNCATED);
    CHECK(read_args(&args, "null", 4, true, &mem) == TCALL_E_NOT_OBJECT);
    CHECK(tcall_args_read(&args, tcall_str_of(NULL), false, NULL, 0) ==
              TCALL_E_MEMORY &&
          args.fixes == TCALL_FIX_EMPTY);
}

/* Every size of memory, also unaligned: the right answer or what is needed,
 * and no byte outside (the sanitizer sees to that). */
static void test_memory(void)
{
    static const char *const texts[] = {
        "{\"city\": \"Par\\u00eds\", \"days\": [1, 2.5, {\"x\": null}]}",
        "{'city': 'Par\\u00eds', days: [+1, 2.5, {\"x\": None}]}",
        "\"{\\\"a\\\": [1, \\\"b\\\"]}\"", "{\\\"a\\\": [1, \\\"b\\\"]}", ""};
    size_t i, size, shift;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (shift = 0; shift < 5; shift++) {
            bool fits = false;
            for (size = 0; size < 400; size += 1 + CHECK_EVERY / 10) {
                char *mem = (char *)malloc(shift + size + 1);
                tcall_args args;
                int r;
                memset(mem, 0x5A, shift + size + 1);
                r = tcall_args_read(&args, tcall_str_of(texts[i]), false,
                                    mem + shift, size);
                CHECK(r > 0 || r == TCALL_E_MEMORY);
                CHECK((r > 0) == (args.used <= size));
                fits = fits || r > 0;
                CHECK(fits == (r > 0) && mem[shift + size] == 0x5A);
                free(mem);
            }
            CHECK(fits);
        }
    }
}

/* No proper prefix of a valid object is ever accepted, but for the empty one,
 * nor of one that could be mended. */
static void test_prefixes(void)
{
    static const char *const texts[] = {
        ("{\"a\":{\"b\":[1,-2.5e3,true,false,null,\"x\\\"\\\\\\u00e9\"]},"
         "\"c\":\"{\\\"d\\\":1}\",\"e\":[{},[],\"// # /* '\"]}"),
        "{\"url\": \"http://x/#y\", \"re\": \"a/*b*/\", \"n\": 0}",
        "```json\n{'a': [1, .5, True], \"b\": None}",
        "<tool_call>{\"a\": \"</tool_call>\"}"};
    size_t i, n;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (n = 1; n < strlen(texts[i]); n++) {
            tcall_args args;
            void *mem;
            CHECK(read_args(&args, texts[i], n, false, &mem) < 0);
            free(mem);
        }
    }
}

static void test_hostile(void)
{
    static const struct {
        const char *unit, *end;
    } shapes[] = {{"[", ""},          {"{a:", ""},
                  {"{\"a\":", ""},    {"[{", ""},
                  {" ", ""},          {"/**/", ""},
                  {"/*", ""},         {"//\n", ""},
                  {"\xC2\xA0", "x"},  {"{}", ""},
                  {"{}", "x"},        {"{},", ""},
                  {"{\"a\":1}", "{"}, {"<s>", ""},
                  {"<|a", ""},        {"```", ""},
                  {"\xE2\x80", ""},   {"\"\\", ""},
                  {"{\\\"", ""},      {"\\\"", ""},
                  {"'", ""},          {"{'\xE2\x80\x9C", ""},
                  {"1", ""},          {"+", ""},
                  {"a", ""},          {"]", ""},
                  {",", ""},          {"{\"a\":\"\\ud800", ""},
                  {"{\"", ""},        {"\x80", ""}};
    size_t i;
    for (i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        long took[2];
        int turn;
        for (turn = 0; turn < 2; turn++) {
            char *text =
                repeat(shapes[i].unit, (turn ? 400000 : 50000) / CHECK_EVERY,
                       shapes[i].end);
            clock_t start = clock();
            tcall_mend m;
            int r = tcall_args_mend(tcall_str_of(text), NULL, 0, &m);
            took[turn] = (long)(clock() - start);
            CHECK(r < 0 || r == 2 || r == 7);
            CHECK(m.at <= strlen(text));
            free(text);
        }
        CHECK(CHECK_EVERY > 1 || took[1] < took[0] * 24 + CLOCKS_PER_SEC / 20);
    }
}

/* Whatever comes in: what is accepted is strict JSON and an object. */
static void test_noise(void)
{
    static const char *const words[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        ":",
                                        ",",
                                        "\"",
                                        "'",
                                        "\\",
                                        "\\\"",
                                        "\\u00e9",
                                        "a",
                                        "\"a\"",
                                        "\"b\":",
                                        "1",
                                        "-.5",
                                        "True",
                                        "null",
                                        "//",
                                        "/*",
                                        "*/",
                                        "\n",
                                        " ",
                                        "#",
                                        "```",
                                        "<s>",
                                        "<|x|>",
                                        "\xC2\xA0",
                                        "\xE2\x80\x9C",
                                        "\xE2\x80\x9D",
                                        "\xC3",
                                        "\xFF",
                                        "\x01",
                                        "+",
                                        "e5",
                                        "{\"a\":1}"};
    uint32_t seed = 1;
    int turn, accepted = 0;
    for (turn = 0; turn < 40000 / CHECK_EVERY; turn++) {
        char in[256], out[1024];
        size_t n = 0;
        int i, r;
        tcall_mend m;
        for (i = 0; i < 12; i++) {
            const char *w;
            seed = seed * 1664525 + 1013904223;
            w = words[(seed >> 16) % (sizeof words / sizeof *words)];
            if (i == 0 && turn % 2)
                w = "{";
            memcpy(in + n, w, strlen(w));
            n += strlen(w);
            seed = seed * 1664525 + 1013904223;
            if (seed >> 29 == 0)
                break;
        }
        r = tcall_args_mend((tcall_str){in, n}, out, sizeof out, &m);
        if (r >= 0) {
            tcall_args args;
            void *mem;
            accepted++;
            CHECK(out[0] == '{' && scan_text(out, (size_t)r) == TCALL_OK);
            r = read_args(&args, out, (size_t)r, true, &mem);
            CHECK(r == (int)m.tokens || r == TCALL_E_DUPLICATE);
            free(mem);
        }
    }
    CHECK(accepted > 100 / CHECK_EVERY);
}

static void test_names(void)
{
    CHECK(!strcmp(tcall_fix_name(0), "empty-args"));
    CHECK(!strcmp(tcall_fix_name(TCALL_FIX_COUNT - 1), "repeated"));
    CHECK(!tcall_fix_name(TCALL_FIX_COUNT) && !tcall_fix_name(-1));
    CHECK(!strcmp(tcall_error_code(TCALL_E_TRUNCATED), "truncated"));
    CHECK(!strcmp(tcall_error_code(TCALL_OK), "ok"));
    CHECK(!strcmp(tcall_error_code(-1000), "?"));
}

int main(void)
{
    test_grammar();
    test_split();
    test_depth();
    test_getters();
    test_numbers();
    test_double();
    test_duplicates();
    test_wide();
    test_writer();
    test_round_trip();
    test_safe();
    test_unsafe();
    test_refused();
    test_memory();
    test_prefixes();
    test_hostile();
    test_noise();
    test_names();
    free(parse_text);
    free(parse_tok);
    return check_sum("test_json");
}
