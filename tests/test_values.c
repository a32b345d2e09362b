/* Values are text, in which getters decode strings where they lie: whatever was
 * decoded, in whatever order, every getter, writer and hash says the same. */
#include "check.h"
#include "timed.h"
#include "toolcall.h"

static unsigned seed = 1;

static unsigned roll(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

/* ---- random texts, and what their strings hold ---- */

enum { TEXT = 1 << 14, STRINGS = 512 };

static char text[TEXT], held[TEXT];
static size_t fill, held_fill;
static tcall_str strings[STRINGS];
static size_t string_count;
static bool nuls; /* U+0000 may come */

static void put(const char *more)
{
    strcpy(text + fill, more);
    fill += strlen(more);
}

static void hold(const char *bytes, size_t len)
{
    memcpy(held + held_fill, bytes, len);
    held_fill += len;
}

static void grow_string(unsigned name)
{
    static const struct {
        const char *written, *bytes;
    } parts[] = {{"a", "a"},
                 {"word", "word"},
                 {"\\n", "\n"},
                 {"\\\"", "\""},
                 {"\\\\", "\\"},
                 {"\\/", "/"},
                 {"\\u00e9", "\xC3\xA9"},
                 {"\xC3\xA9", "\xC3\xA9"},
                 {"\\u20AC", "\xE2\x82\xAC"},
                 {"\\ud83d\\uDE00", "\xF0\x9F\x98\x80"},
                 {"\\u001f", "\x1F"},
                 {"'", "'"},
                 {",", ","},
                 {" ", " "},
                 {"}", "}"},
                 {"\xEF\xBF\xBD", "\xEF\xBF\xBD"},
                 {"\\u0000", ""}};
    tcall_str *it = &strings[string_count++];
    unsigned i, n = roll(6);
    char tail[12];
    it->ptr = held + held_fill;
    put("\"");
    for (i = 0; i < n; i++) {
        unsigned part = roll(TCALL_ARRAY_LEN(parts) - !nuls);
        put(parts[part].written);
        hold(parts[part].bytes, part == TCALL_ARRAY_LEN(parts) - 1
                                    ? 1
                                    : strlen(parts[part].bytes));
    }
    if (name) { /* no two of an object are the same */
        sprintf(tail, "%u", name);
        put(tail);
        hold(tail, strlen(tail));
    }
    put("\"");
    it->len = (size_t)(held + held_fill - it->ptr);
    hold("", 1);
}

static void space(void)
{
    static const char *const spaces[] = {"", "", "", " ", "\n\t"};
    put(spaces[roll(5)]);
}

static void grow(int depth)
{
    static const char *const scalars[] = {"0",    "-1.5e3", "12", "true",
                                          "null", "false",  "7.0"};
    unsigned kind = roll(depth < 4 ? 4 : 2), i, n = roll(5);
    if (fill > TEXT / 2 || string_count > STRINGS / 2)
        kind = 0;
    space();
    if (kind == 0) {
        put(scalars[roll(7)]);
    } else if (kind == 1) {
        grow_string(0);
    } else {
        put(kind == 2 ? "[" : "{");
        for (i = 0; i < n; i++) {
            put(i ? "," : "");
            if (kind == 3) {
                space();
                grow_string(i + 1);
                space();
                put(":");
            }
            grow(depth + 1);
        }
        space();
        put(kind == 2 ? "]" : "}");
    }
    space();
}

/* ---- two values of one text: one is fresh each time ---- */

static char memory[TEXT + 1], other[TEXT + 1], first[TEXT], again[TEXT];
static size_t first_len;
static char block[1 << 14];
static tcall tc;

static tcall_json parsed(char *to)
{
    char *exact = (char *)memmove(to, text, fill); /* nothing ends it yet */
    tcall_json v;
    to[fill] = 'x';
    CHECK(tcall_json_parse(&v, exact, fill, NULL) == TCALL_OK);
    return v;
}

static size_t written(tcall_json v, char *to)
{
    tcall_writer w;
    tcall_writer_init(&w, to, TEXT);
    CHECK(tcall_write_json(&w, v) == TCALL_OK);
    return w.fill;
}

/* Returns what a call with these arguments would do. */
static uint64_t hash_of(tcall_json args)
{
    static const tcall_tool tool = {.name = "t"};
    tcall_attempt asked;
    tcall_call call;
    memset(&asked, 0, sizeof asked);
    memset(&call, 0, sizeof call);
    asked.args = args;
    call.asked = &asked;
    call.tool = &tool;
    return tcall_call_what(&tc, &call);
}

static bool stays(tcall_json v)
{
    size_t len = written(v, again);
    return len == first_len && !memcmp(first, again, len) &&
           hash_of(v) == hash_of(parsed(other));
}

/* Goes to a random value within, by whatever getters. */
static tcall_json somewhere(tcall_json v)
{
    unsigned steps = roll(6);
    while (steps-- && tcall_json_count(v)) {
        unsigned i, n = roll((unsigned)tcall_json_count(v));
        tcall_json in = tcall_json_first(v);
        for (i = 0; i < n; i++)
            in = tcall_json_next(in);
        if (tcall_json_type(v) == TCALL_ARRAY) {
            CHECK(tcall_json_at(v, (int)n).at == in.at);
        } else if (roll(2)) {
            char name[64];
            tcall_str key = tcall_json_key(in);
            memcpy(name, key.ptr, key.len);
            name[key.len] = 0;
            if (!memchr(name, 0, key.len))
                CHECK(tcall_json_get(v, name).at == in.at);
        }
        v = in;
    }
    return v;
}

static void look(tcall_json v)
{
    const char *string;
    tcall_str is;
    switch (roll(4)) {
    case 0: tcall_json_key(v); break;
    case 1: tcall_json_str(v); break;
    case 2:
        is = tcall_json_str(v);
        string = tcall_json_string(v, NULL);
        CHECK(!string == (tcall_json_type(v) != TCALL_STRING));
        CHECK(!string || (!memcmp(string, is.ptr, is.len) && !string[is.len]));
        break;
    default: tcall_json_int(v, 0); break;
    }
}

/* Do the strings of the value, in their order, hold what was written? */
static void compare(tcall_json v, size_t *next)
{
    tcall_json in;
    if (tcall_json_type(v) == TCALL_STRING)
        CHECK(tcall_str_eq(tcall_json_str(v), strings[(*next)++]));
    for (in = tcall_json_first(v); in.at; in = tcall_json_next(in)) {
        if (tcall_json_type(v) == TCALL_OBJECT)
            CHECK(tcall_str_eq(tcall_json_key(in), strings[(*next)++]));
        compare(in, next);
    }
}

static void test_forms(void)
{
    int round, i;
    for (round = 0; round < 1000 / CHECK_EVERY; round++) {
        tcall_json v;
        size_t next = 0;
        nuls = round % 4 == 0;
        fill = held_fill = string_count = 0;
        grow(0);
        v = parsed(memory);
        first_len = written(v, first);
        CHECK(stays(v));
        for (i = 0; i < 6; i++) {
            look(somewhere(v));
            CHECK(stays(v));
        }
        compare(v, &next);
        CHECK(next == string_count && stays(v));
        /* what was written is read as the same again */
        memcpy(text, first, first_len);
        fill = first_len;
        v = parsed(memory);
        CHECK(strlen(memory) == first_len && !memcmp(memory, first, first_len));
        CHECK(stays(v));
        next = 0;
        compare(v, &next);
        CHECK(next == string_count);
    }
}

/* ---- names that stand twice ---- */

/* Whichever two of so many names are the same. */
static void test_twice(void)
{
    static const int counts[] = {2, 3, 47, 48, 49, 50, 96, 97, 98, 200};
    size_t at, i;
    for (i = 0; i < TCALL_ARRAY_LEN(counts); i++) {
        int n = counts[i], round, k;
        for (round = 0; round < 40 / CHECK_EVERY; round++) {
            int one = (int)roll((unsigned)n), two = (int)roll((unsigned)n);
            tcall_json v;
            fill = 0;
            put("[{\"in\":{");
            for (k = 0; k < n; k++) {
                char name[40];
                sprintf(name,
                        k == two && round % 2 ? "%s\"\\u006b%d\":[%d]"
                                              : "%s\"k%d\":[%d]",
                        k ? "," : "", k == two ? one : k, k);
                put(name);
            }
            put("}}]");
            memcpy(memory, text, fill);
            CHECK(tcall_json_parse(&v, memory, fill, &at) ==
                  (one == two ? TCALL_OK : TCALL_E_DUPLICATE));
            CHECK(one == two || (!v.at && at > 8 && at < fill));
        }
    }
}

/* ---- a value reads no more than it passes over ---- */

static long wide_time(int n)
{
    char *wide = (char *)malloc((size_t)n * 24 + 3), *p = wide;
    clock_t start;
    tcall_json v, i;
    int count = 0, sum = 0;
    *p++ = '{';
    for (count = 0; count < n; count++)
        p += sprintf(p, "%s\"k\\u0061%06d\":1", count ? "," : "", count);
    strcpy(p++, "}");
    CHECK(tcall_json_parse(&v, wide, (size_t)(p - wide), NULL) == TCALL_OK);
    start = clock();
    for (i = tcall_json_first(v); i.at; i = tcall_json_next(i))
        sum += tcall_json_int(i, 0) * (int)tcall_json_key(i).len;
    count = tcall_json_count(v);
    start = clock() - start;
    CHECK(count == n && sum == 8 * n);
    free(wide);
    return (long)start;
}

static void test_wide(void)
{
    long small = wide_time(4000 / CHECK_EVERY);
    long large = wide_time(32000 / CHECK_EVERY);
    CHECK(in_time(ms_of_clocks(large), 0, ms_of_clocks(small * 24) + 20));
}

int main(void)
{
    tcall_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = sizeof block;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    test_forms();
    test_twice();
    test_wide();
    return check_sum("test_values");
}
