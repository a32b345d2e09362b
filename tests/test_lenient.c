/* Needs: LENIENT. */
/* Arguments as models write them: what is rewritten, and what never is. */
#ifdef TEST_LINKED
#define TOOLCALL_STATIC /* private functions are called, too */
#endif
#include "../src/lenient.c"
#include "check.h"
#include "fuzz.h"
#include "timed.h"

static int scan_text(const char *text, size_t len)
{
    tcall_scan s;
    tcall_scan_init(&s, NULL, NULL, NULL);
    tcall_scan_feed(&s, text, len);
    return tcall_scan_end(&s);
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

/* The second reading alone. Returns the length of the JSON text. */
static int rewrite(tcall_str text, char *out, size_t cap, tcall_rewritten_ *m,
                   tcall_lenient_result_ *result)
{
    int error = tcall_rewrite_(m, text, out, cap, result);
    CHECK(error < 0 || m->len <= 6 * text.len + 2);
    if (error < 0)
        return error;
    return out && m->len > cap ? TCALL_E_MEMORY : (int)m->len;
}

static tcall_syntax_ *begun(tcall_syntax_ *s)
{
    tcall_syntax_begin_(s, &tcall_rewritten_user_);
    return s;
}

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
    {"{\"a\":[1, \"b c\"]}\n{ \"a\" : [1,\n\"b c\"] }", "{\"a\":[1,\"b c\"]}",
     BIT(REPEATED)},
    {"{'a':'\\'', }{'a': '\\'',}", "{\"a\":\"'\"}",
     BIT(REPEATED) | BIT(SINGLE_QUOTE) | BIT(APOSTROPHE) | BIT(TRAILING_COMMA)},
    {"``` json\n{\"a\":1}\n```", "{\"a\":1}", BIT(FENCE)},
    {"```  python\n'{}'\n```", "{}",
     BIT(FENCE) | BIT(SINGLE_QUOTE) | BIT(DOUBLE_ENCODED)},
    {"``` null", "{}", BIT(FENCE) | BIT(NULL)},
    {"``` {\"a\":1}", "{\"a\":1}", BIT(FENCE)},
    {"{\"a\":1}<\xEF\xBD\x9Ctool\xE2\x96\x81"
     "call\xE2\x96\x81"
     "end\xEF\xBD\x9C>",
     "{\"a\":1}", BIT(TAG)},
    {"<\xEF\xBD\x9Ctool\xE2\x96\x81sep\xEF\xBD\x9C>\n```json\n{}\n```", "{}",
     BIT(TAG) | BIT(FENCE)},
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
    {"{\"a\":tru", TCALL_E_TRUNCATED, 8},
    {"{\"a\":Tr", TCALL_E_TRUNCATED, 7},
    {"{\"a\":n", TCALL_E_TRUNCATED, 6},
    {"{\"a\":No", TCALL_E_TRUNCATED, 7},
    {"{\"a\":tru}", TCALL_E_BARE_WORD, 5},
    {"{\"a\":truc", TCALL_E_BARE_WORD, 5},
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
    {"{\\n}\\", TCALL_E_TRUNCATED, 1},
    {"{1: 2}", TCALL_E_BAD_KEY, 1},
    {"{,}", TCALL_E_BAD_KEY, 1},
    {"{\"a\":1,,}", TCALL_E_BAD_KEY, 7},
    {"{\\\"a\\\": 1} x", TCALL_E_BAD_KEY, 1},
    {"{\"a\":[1}", TCALL_E_BRACKETS, 7},
    {"{\"a\":1]", TCALL_E_BRACKETS, 6},
    {"{\"a\":1} ok", TCALL_E_TRAILING, 8},
    {"{\"a\":1}, {\"a\":1}", TCALL_E_TRAILING, 9},
    {"{\"a\":1} {\"a\":2}", TCALL_E_MULTIPLE, 8},
    {"{\"a\":12}{\"a\":1 2}", TCALL_E_MULTIPLE, 8},
    {"{\"a\":\"x y\"}{\"a\":\"xy\"}", TCALL_E_MULTIPLE, 11},
    {"{\"a\":\"\\\" x\"}{\"a\":\"\\\"x\"}", TCALL_E_MULTIPLE, 12},
    {"{\xE2\x80\x9C"
     "a\xE2\x80\x9D:\xE2\x80\x9C x\xE2\x80\x9D}{\xE2\x80\x9C"
     "a\xE2\x80\x9D:\xE2\x80\x9Cx\xE2\x80\x9D}",
     TCALL_E_MULTIPLE, 18},
    {"{/*'*/a:'x y'}{/*'*/a:'xy'}", TCALL_E_MULTIPLE, 14},
    {"{\"a\":1}{\"a\": 1", TCALL_E_MULTIPLE, 7},
    {"``` json", TCALL_E_BARE_WORD, 4},
    {"```\njson\n{}", TCALL_E_BARE_WORD, 4},
    {"{\"a\":1}<\xEF\xBD\x9C|>", TCALL_E_TRAILING, 7},
    {"{\"a\":1}<|\xE2\x96|>", TCALL_E_TRAILING, 7},
    {"{\"a\":1}<\xEF\xBD\x9C"
     "end|>",
     TCALL_E_TRAILING, 7},
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
static int read_args(tcall_arguments *args, const char *in, size_t len,
                     bool strict, void **mem)
{
    char *copy = (char *)malloc(len ? len : 1);
    int r;
    *mem = NULL;
    memcpy(copy, in, len);
    r = tcall_parse_arguments(args, (tcall_str){copy, len}, strict, NULL, 0);
    if (r == TCALL_E_MEMORY) {
        *mem = malloc(args->used);
        r = tcall_parse_arguments(args, (tcall_str){copy, len}, strict, *mem,
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
        tcall_rewritten_ m;
        tcall_lenient_result_ res;
        tcall_arguments args;
        void *mem;
        int r = rewrite(in, out, sizeof out - 1, &m, &res);
        out[r < 0 ? 0 : r] = 0;
        CHECK(r == (int)want && strcmp(out, safe[i].out) == 0);
        CHECK(res.fixes == safe[i].fixes && m.len == want);
        if (strcmp(out, safe[i].out) || res.fixes != safe[i].fixes)
            printf("    %s: %s %d, fixes %lx\n", in.ptr, out, r,
                   (unsigned long)res.fixes);
        CHECK(rewrite(in, NULL, 0, &m, &res) == (int)want);
        CHECK(rewrite(in, out, want - 1, &m, &res) == TCALL_E_MEMORY);
        r = read_args(&args, in.ptr, in.len, false, &mem);
        CHECK(r == (int)m.scan.tokens && args.fixes == safe[i].fixes);
        CHECK(args.used == m.scan.tokens * sizeof(tcall_tok_) + n + 1);
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
        tcall_arguments args;
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
    tcall_arguments args;
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
    CHECK(tcall_parse_arguments(&args, tcall_str_of(NULL), false, NULL, 0) ==
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
                tcall_arguments args;
                int r;
                memset(mem, 0x5A, shift + size + 1);
                r = tcall_parse_arguments(&args, tcall_str_of(texts[i]), false,
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
 * nor of one that could be repaired. */
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
            tcall_arguments args;
            void *mem;
            CHECK(read_args(&args, texts[i], n, false, &mem) < 0);
            free(mem);
        }
    }
}

/* Returns what a text is refused for, 0: it is not. */
static int error_of(const char *text)
{
    tcall_arguments args;
    void *mem;
    int r = read_args(&args, text, strlen(text), false, &mem);
    free(mem);
    return r < 0 ? r : 0;
}

/* Writes the text as the inside of a string. */
static void escape(const char *text, size_t len, char *out)
{
    size_t i;
    for (i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\')
            *out++ = '\\';
        *out++ = text[i];
    }
    *out = '\0';
}

/* Whatever is cut is called that, be it inside a number, a word, a string in a
 * string, or before what was put around it. */
static void test_cut(void)
{
    static const char *const texts[] = {
        "{\"a\":{\"b\":[1,-2.5e+3,true,false,null,\"x\\\"\\\\\\u00e9\"]},"
        "\"c\":[[-0.5],{}],\"d\":\"{\\\"d\\\":1}\", \"e\" : -1.5E-7 }",
        "{'a': [1, .5, -.5, True], \"b\": None, c: {d: False}}"};
    static const char *const ends[] = {"", "\n```", "</tool_call>",
                                       " <|im_end|>\n", "\n```\n</s>"};
    size_t i, end, n;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (n = 1; n < strlen(texts[i]); n++) {
            char text[400], inside[300];
            for (end = 0; end < sizeof ends / sizeof *ends; end++) {
                snprintf(text, sizeof text, "%.*s%s", (int)n, texts[i],
                         ends[end]);
                /* what follows half an escape may be its other half */
                CHECK(error_of(text) == TCALL_E_TRUNCATED ||
                      (end && error_of(text) == TCALL_E_BAD_ESCAPE));
                if (error_of(text) != TCALL_E_TRUNCATED && !end)
                    printf("    %s: %s\n", text,
                           tcall_error_code(error_of(text)));
            }
            if (i)
                continue; /* the inside of a string is to be strict */
            escape(texts[i], n, inside);
            snprintf(text, sizeof text, "\"%s\"", inside);
            CHECK(error_of(text) == TCALL_E_TRUNCATED);
            if (error_of(text) != TCALL_E_TRUNCATED)
                printf("    %s: %s\n", text, tcall_error_code(error_of(text)));
            for (end = 0; n > 1 && end < 2; end++) {
                CHECK(error_of(inside) == TCALL_E_TRUNCATED);
                if (error_of(inside) != TCALL_E_TRUNCATED)
                    printf("    %s: %s\n", inside,
                           tcall_error_code(error_of(inside)));
                inside[strlen(inside) - 1] = '\0';
            }
        }
    }
    CHECK(error_of("{\"a\": <b>}") == TCALL_E_BAD_VALUE);
    CHECK(error_of("{\"a\": ```x```}") == TCALL_E_BAD_VALUE);
    CHECK(error_of("{\"a\": \"x\" ``` \"b\"}") == TCALL_E_UNESCAPED_QUOTE);
    CHECK(error_of("\"\"") == TCALL_E_NOT_OBJECT);
    CHECK(error_of("\"tru\"") == TCALL_E_NOT_OBJECT);
    CHECK(error_of("\"{x}\"") == TCALL_E_NOT_OBJECT);
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
            char *text = repeat(shapes[i].unit,
                                (size_t)(turn ? 400000 : 50000) / CHECK_EVERY,
                                shapes[i].end);
            clock_t start = clock();
            tcall_rewritten_ m;
            tcall_lenient_result_ res;
            int r = rewrite(tcall_str_of(text), NULL, 0, &m, &res);
            took[turn] = (long)(clock() - start);
            CHECK(r < 0 || r == 2 || r == 7);
            CHECK(res.at <= strlen(text));
            free(text);
        }
        CHECK(
            in_time(ms_of_clocks(took[1]), 0, ms_of_clocks(took[0] * 24) + 50));
    }
}

/* Whatever comes in: what is accepted is strict JSON and an object, and is not
 * rewritten again; else an error is told, at a place in the text. */
static bool holds(const char *in, size_t len)
{
    char *copy = (char *)malloc(len + 1);
    char *out = (char *)malloc(6 * len + 2);
    tcall_rewritten_ m;
    tcall_lenient_result_ res;
    tcall_syntax_ again;
    bool fine;
    int r;
    memcpy(copy, in, len);
    r = rewrite((tcall_str){copy, len}, out, 6 * len + 2, &m, &res);
    fine = res.at <= len && res.error == (r < 0 ? r : 0);
    if (r >= 0) {
        tcall_lenient_feed_(tcall_syntax_feed_, begun(&again), out, (size_t)r);
        fine = fine && tcall_syntax_end_(&again) == TCALL_OK &&
               again.open[0] & 1 && r == (int)m.len &&
               scan_text(out, (size_t)r) == TCALL_OK;
        fine = fine &&
               tcall_lenient_read_(&res, (tcall_str){out, (size_t)r},
                                   begun(&again),
                                   tcall_syntax_feed_) == TCALL_OK &&
               !res.fixes;
    }
    free(copy);
    free(out);
    return fine;
}

static const char *const seeds[] = {
    "{'a': True, \"b\": [None, .5, +1, 2.,],} // x",
    "```json\n{\"a\": \"it\\'s\\n\"}\n```</s>",
    "\"{\\\"a\\\": [\\\"\\\\u00e9\\\"]}\"",
    "{\\\"a\\\": 1}",
    "<|x|>{a: /* b */ \xE2\x80\x9Cq\xE2\x80\x9D}{a:1}}",
    "{\"a\":1} {\"a\": 1}<\xEF\xBD\x9Ctool\xE2\x96\x81"
    "end\xEF\xBD\x9C>"};

FUZZ(seeds, (void)0, holds)

/* Beginnings of what the fuzzer begins with. */
static void test_pieces(void)
{
    size_t i, n;
    for (i = 0; i < sizeof seeds / sizeof *seeds; i++)
        for (n = 0; n <= strlen(seeds[i]); n++)
            CHECK(holds(seeds[i], n));
}

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
        char in[256];
        tcall_rewritten_ m;
        tcall_lenient_result_ res;
        size_t n = 0;
        int i;
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
        CHECK(holds(in, n));
        accepted += rewrite((tcall_str){in, n}, NULL, 0, &m, &res) >= 0;
    }
    CHECK(accepted > 100 / CHECK_EVERY);
}

static void test_names(void)
{
    CHECK(!strcmp(tcall_fix_name(0), "empty-args"));
    CHECK(!strcmp(tcall_fix_name(TCALL_FIX_COUNT - 1), "repeated"));
    CHECK(!tcall_fix_name(TCALL_FIX_COUNT) && !tcall_fix_name(-1));
}

int main(void)
{
    test_safe();
    test_unsafe();
    test_refused();
    test_memory();
    test_prefixes();
    test_cut();
    test_hostile();
    test_pieces();
    test_noise();
    test_names();
    return check_sum("test_lenient");
}
