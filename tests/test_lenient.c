/* Arguments as models write them: what is rewritten, and what never is. */
#ifdef TEST_LINKED
#define TOOLCALL_STATIC /* private functions are called, too */
#endif
#include "../src/lenient.c"
#include "check.h"
#include "fuzz.h"
#include "timed.h"

static char *repeat(const char *text, size_t times, const char *end)
{
    size_t n = strlen(text), i;
    char *out = (char *)malloc(n * times + strlen(end) + 1);
    for (i = 0; i < times; i++)
        memcpy(out + i * n, text, n);
    strcpy(out + n * times, end);
    return out;
}

/* What a text is read as. */
typedef struct rewritten {
    uint32_t fixes;
    size_t at;
    int error;
} rewritten;

/* Reads a text leniently, into out as far as it has room. Returns the length of
 * the checked text, or the error. */
static int rewrite(tcall_str text, char *out, size_t cap, rewritten *result)
{
    static char arena[8192];
    tcall_machine machine;
    tcall_machine_desc desc;
    int r;
    memset(&desc, 0, sizeof desc);
    desc.size = 6 * text.len + 3;
    desc.text = (char *)malloc(desc.size);
    desc.arena = arena;
    desc.arena_size = sizeof arena;
    desc.object = true;
    r = result->error =
        tcall_read_arguments(&machine, &desc, text, false, &result->fixes);
    result->at = machine.at;
    if (r == TCALL_OK) {
        CHECK(machine.len <= 6 * text.len + 2 && *machine.text == '{');
        if (cap)
            memcpy(out, machine.text, machine.len < cap ? machine.len : cap);
        r = (int)machine.len;
    }
    free(desc.text);
    return r;
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
    {"{'say': 'a \"b\" \\'c\\' \\n'}", "{\"say\":\"a \\\"b\\\" 'c' \\n\"}",
     BIT(SINGLE_QUOTE) | BIT(APOSTROPHE)},
    {"{\"a\": \"it\\'s\"}", "{\"a\":\"it's\"}", BIT(APOSTROPHE)},
    {"{\xE2\x80\x9C"
     "a\xE2\x80\x9D: \xE2\x80\x98"
     "b \xE2\x82\xAC\xE2\x80\x99}",
     "{\"a\":\"b \xE2\x82\xAC\"}", BIT(SMART_QUOTE)},
    {"{\"a\": \"x\n\ty\"}", "{\"a\":\"x\\n\\ty\"}", BIT(CONTROL)},
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
     "{\"a\":\"\\n \xF0\x9F\x98\x80\"}", BIT(DOUBLE_ENCODED)},
    {"'{\"a\": 1}'", "{\"a\":1}", BIT(DOUBLE_ENCODED) | BIT(SINGLE_QUOTE)},
    {"```json\n\"{}\"```", "{}", BIT(DOUBLE_ENCODED) | BIT(FENCE)},
    {"{\\\"a\\\": \\\"x \\\\\\\" y\\\"}", "{\"a\":\"x \\\" y\"}",
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
    {"[{\"a\":1,\"a\":1}]", TCALL_E_NOT_OBJECT, -1},
    {"[{\"a\":1]", TCALL_E_BRACKETS, 7},
    {"{\"a\": '\xFF'}", TCALL_E_UTF8, 7},
    {"{\"a\": '\xC3(')}", TCALL_E_UTF8, 8},
};

/* Reads arguments in memory of exactly these sizes; the checked text is at hand
 * until the next. */
static tcall_machine machine;
static uint32_t fixes;

static int read_in(const char *in, size_t len, bool strict, size_t size,
                   size_t arena_size)
{
    static char *text;
    static void *arena;
    tcall_machine_desc desc;
    char *copy = (char *)malloc(len ? len : 1);
    int r;
    free(text);
    free(arena);
    text = (char *)malloc(size ? size : 1);
    arena = malloc(arena_size ? arena_size : 1);
    memset(&desc, 0, sizeof desc);
    desc.text = text;
    desc.size = size;
    desc.arena = arena;
    desc.arena_size = arena_size;
    desc.object = desc.for_c = true;
    memcpy(copy, in, len);
    r = tcall_read_arguments(&machine, &desc, tcall_slice_(copy, len), strict,
                             &fixes);
    free(copy);
    return r;
}

static int read_args(const char *in, size_t len, bool strict)
{
    return read_in(in, len, strict, 6 * len + 3, 4096);
}

static void test_safe(void)
{
    char out[256];
    size_t i;
    for (i = 0; i < sizeof safe / sizeof *safe; i++) {
        tcall_str in = tcall_str_of(safe[i].in);
        size_t want = strlen(safe[i].out);
        rewritten res;
        char *once;
        int r = rewrite(in, out, sizeof out - 1, &res);
        out[r < 0 ? 0 : r] = 0;
        CHECK(r == (int)want && strcmp(out, safe[i].out) == 0);
        CHECK(res.fixes == safe[i].fixes);
        if (strcmp(out, safe[i].out) || res.fixes != safe[i].fixes)
            printf("    %s: %s %d, fixes %lx\n", in.ptr, out, r,
                   (unsigned long)res.fixes);
        CHECK(read_args(in.ptr, in.len, false) == TCALL_OK);
        CHECK(fixes == safe[i].fixes && machine.text[machine.len] == 0);
        once = strcpy((char *)malloc(machine.len + 1), machine.text);
        /* as if it had come */
        CHECK(read_args(safe[i].out, want, true) == TCALL_OK && fixes == 0);
        CHECK(strcmp(machine.text, once) == 0);
        free(once);
        r = read_args(in.ptr, in.len, true);
        CHECK((r < 0) == (safe[i].fixes != 0) && r != TCALL_E_MEMORY);
    }
}

static void test_unsafe(void)
{
    size_t i;
    for (i = 0; i < sizeof unsafe / sizeof *unsafe; i++) {
        const char *in = unsafe[i].in;
        int strict, r = 0;
        for (strict = 0; strict < 2; strict++) {
            r = read_args(in, strlen(in), strict);
            CHECK(r == unsafe[i].error && fixes == 0);
            CHECK(unsafe[i].at < 0 || machine.at == (size_t)unsafe[i].at);
        }
        if (r != unsafe[i].error || (int)machine.at != unsafe[i].at)
            if (unsafe[i].at >= 0 || r != unsafe[i].error)
                printf("    %s: %s at %d\n", in, tcall_error_code(r),
                       (int)machine.at);
    }
}

static void test_refused(void)
{
    CHECK(read_args("{\"a\":\"b\0c\"}", 11, false) == TCALL_E_NUL);
    CHECK(read_args("{\"a\":1}\0{}", 10, false) == TCALL_E_TRAILING);
    CHECK(read_args("{\"a\":\"b\\u0000c\"}", 16, false) == TCALL_E_NUL);
    CHECK(read_args("{\"a\\u0000\":1,}", 14, false) == TCALL_E_NUL);
    CHECK(read_args("{\"a\":1,\"a\":2}", 13, false) == TCALL_E_DUPLICATE);
    CHECK(read_args("{a:1,a:2}", 9, false) == TCALL_E_DUPLICATE);
    CHECK(read_args("{\"a\":1e400}", 11, false) == TCALL_E_RANGE);
    /* strict: where the tolerant reading finds nothing wrong, the error of the
     * strict one */
    CHECK(read_args("{\"a\":1,}", 8, true) == TCALL_E_BAD_KEY);
    CHECK(machine.at == 7);
    CHECK(read_args("", 0, true) == TCALL_E_TRUNCATED);
    CHECK(read_args("null", 4, true) == TCALL_E_NOT_OBJECT);
    CHECK(read_args("", 0, false) == TCALL_OK && fixes == TCALL_FIX_EMPTY);
}

/* Every size of both memories: the right answer or a lack of memory, and no
 * byte outside (the sanitizer sees to that). */
static void test_memory(void)
{
    static const char *const texts[] = {
        "{\"city\": \"Par\\u00eds\", \"days\": [1, 2.5, {\"x\": null}]}",
        "{'city': 'Par\\u00eds', days: [+1, 2.5, {\"x\": None}]}",
        "\"{\\\"a\\\": [1, \\\"b\\\"]}\"", "{\\\"a\\\": [1, \\\"b\\\"]}", ""};
    size_t i, size;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *in = texts[i];
        size_t len = strlen(in), text, arena;
        for (text = 0; read_in(in, len, false, text, 4096) != TCALL_OK; text++)
            CHECK(machine.error == TCALL_E_MEMORY && text < 400);
        for (arena = 0; read_in(in, len, false, 400, arena) != TCALL_OK;
             arena++)
            CHECK(machine.error == TCALL_E_MEMORY && arena < 4096);
        CHECK(text <= 6 * len + 3);
        for (size = 0; size < 100; size += CHECK_EVERY)
            CHECK(read_in(in, len, false, text + size, arena + size) ==
                  TCALL_OK);
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
            CHECK(read_args(texts[i], n, false) < 0);
        }
    }
}

/* Returns what a text is refused for, 0: it is not. */
static int error_of(const char *text)
{
    return read_args(text, strlen(text), false);
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
            rewritten res;
            int r = rewrite(tcall_str_of(text), NULL, 0, &res);
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
    rewritten res;
    bool fine;
    int r;
    memcpy(copy, in, len);
    r = rewrite(tcall_slice_(copy, len), out, 6 * len + 2, &res);
    fine = res.at <= len && res.error == (r < 0 ? r : 0);
    if (r >= 0)
        fine = fine &&
               rewrite(tcall_slice_(out, (size_t)r), NULL, 0, &res) >= 0 &&
               !res.fixes;
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
    ("{\"a\":1} {\"a\": 1}<\xEF\xBD\x9Ctool\xE2\x96\x81"
     "end\xEF\xBD\x9C>")};

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
        rewritten res;
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
        accepted += rewrite(tcall_slice_(in, n), NULL, 0, &res) >= 0;
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
