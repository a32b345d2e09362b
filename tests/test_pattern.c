/* Regular expressions: what they match, in pieces, in any memory. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/pattern.c"
#endif

#include "check.h"

static uint32_t program[4000];
static unsigned char states[5000];

/* 1: it occurs in the text, 0: it does not, -1: it was refused. */
static int occurs(const char *text, unsigned flags, const char *in, bool pieces)
{
    tcall_pattern p;
    tcall_search search;
    tcall_str piece;
    const char *end = in + strlen(in);
    memset(&search, 0, sizeof search);
    if (tcall_pattern_compile(&p, tcall_str_of(text), flags, program,
                              sizeof program) < 0 ||
        tcall_pattern_memory(&p) > sizeof states)
        return -1;
    search.memory = states;
    piece.ptr = in;
    piece.len = (size_t)(end - in);
    if (!pieces)
        return tcall_pattern_find(&p, &search, piece, true) != NULL;
    for (; in < end; in += piece.len) { /* a character at a time */
        for (piece.len = 1; (in[piece.len] & 0xC0) == 0x80;)
            piece.len++;
        piece.ptr = in;
        if (tcall_pattern_find(&p, &search, piece, false))
            return 1;
    }
    piece.ptr = end;
    piece.len = 0;
    return tcall_pattern_find(&p, &search, piece, true) != NULL;
}

static void test_rows(void)
{
    static const struct {
        const char *pattern, *text;
        unsigned flags;
        int result;
    } rows[] = {
        {"", "", 0, 1},
        {"b", "abc", 0, 1},
        {"^b", "abc", 0, 0},
        {"a$", "ab", 0, 0},
        {"^(a|bc|)d$", "bcd", 0, 1},
        {"^(a|bc|)d$", "bd", 0, 0},
        {"^(?:x(?:y(?:z)?)?)?$", "xy", 0, 1},
        {"^(a*)*$", "aaab", 0, 0},
        {"^(a|ab)(c|bcd)(d*)$", "abcd", 0, 1},
        {"^((ab){2}c){1,2}$", "ababcababc", 0, 1},
        {"^((ab){2}c){1,2}$", "ababcabc", 0, 0},
        {"^a{3,}$", "aa", 0, 0},
        {"^a{3,}$", "aaaa", 0, 1},
        {"^(a{2,3}){2}$", "aaaaaaa", 0, 0},
        {"^(a{2,3}){2}$", "aaaaa", 0, 1},
        {"^.$", "\xF0\x9F\x98\x80", 0, 1},
        {"^.$", "\n", 0, 0},
        {"^[^x]$", "\n", 0, 1},
        {"^[\\d\\-_a-c]+$", "1-_b", 0, 1},
        {"^[a-]+$", "a-a", 0, 1},
        {"^[^\\W]$", "_", 0, 1},
        {"^\\S+\\s\\S+$",
         "a\xC2\xA0"
         "b",
         0, 1},
        {"\\bfoo\\b", "a foo b", 0, 1},
        {"\\bfoo\\b", "afoo", 0, 0},
        {"\\Boo\\b", "foo", 0, 1},
        {"\\b", "", 0, 0},
        {"^[\\b]$", "\b", 0, 1},
        {"^\\x41\\u00e9\\/\\.$", "A\xC3\xA9/.", 0, 1},
        {"^HeL[k-m]O$", "hello", TCALL_PATTERN_FOLD, 1},
        {"[^a]", "A", TCALL_PATTERN_FOLD, 0},
        {"^\\\\d$", "7", TCALL_PATTERN_ESCAPED, 1},
        {"^a\\u002bb$", "aab", TCALL_PATTERN_ESCAPED, 1},
        {"^\\\"$", "\"", TCALL_PATTERN_ESCAPED, 1},
        {"^\\ud83d\\ude00$", "\xF0\x9F\x98\x80", TCALL_PATTERN_ESCAPED, 1},
        {".", "\xE9", 0, 0},
        {"\\W", "\xE9", 0, 0},
        {"[^a]", "\xE9", 0, 1},
        {"(?=a)", "a", 0, -1},
        {"(?<n>a)", "a", 0, -1},
        {"(a)\\1", "aa", 0, -1},
        {"\\p{L}", "a", 0, -1},
        {"(a", "a", 0, -1},
        {"a)", "a", 0, -1},
        {"[a", "a", 0, -1},
        {"[b-a]", "a", 0, -1},
        {"a{2,1}", "a", 0, -1},
        {"a{1001}", "a", 0, -1},
        {"a**", "a", 0, -1},
        {"^*", "a", 0, -1},
        {"*", "a", 0, -1},
        {"{", "{", 0, -1},
        {"\\", "a", 0, -1},
        {"\\uD83D", "a", 0, -1},
        {"\\q", "q", 0, -1},
        {"((a{1000}){1000}){1000}", "a", 0, -1},
        {"((){1000}){1000}", "a", 0, -1},
        {"((((((((((((((((((", "a", 0, -1},
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        int whole = occurs(rows[i].pattern, rows[i].flags, rows[i].text, false);
        int pieces = occurs(rows[i].pattern, rows[i].flags, rows[i].text, true);
        if (whole != rows[i].result || pieces != rows[i].result)
            printf("%s in %s: %d, in pieces %d\n", rows[i].pattern,
                   rows[i].text, whole, pieces);
        CHECK(whole == rows[i].result);
        CHECK(pieces == rows[i].result);
    }
}

/* Where it ends: as early as that is certain. */
static void test_place(void)
{
    static const char text[] = "xxabbb";
    tcall_pattern p;
    tcall_search search;
    memset(&search, 0, sizeof search);
    search.memory = states;
    CHECK(tcall_pattern_compile(&p, tcall_str_of("ab+"), 0, program,
                                sizeof program) > 0);
    CHECK(tcall_pattern_find(&p, &search, tcall_str_of(text), true) ==
          text + 4);
}

/* Refused for its memory, or the same program. */
static void test_memory(void)
{
    static const char text[] = "^(a|[b-d]{2,3}|\\d)+x?$";
    tcall_pattern p;
    size_t need, size;
    CHECK(tcall_pattern_compile(&p, tcall_str_of(text), 0, NULL, 0) ==
          TCALL_E_MEMORY);
    need = p.need;
    for (size = 0; size <= need; size++) {
        void *mem = malloc(size ? size : 1);
        int r = tcall_pattern_compile(&p, tcall_str_of(text), 0, mem, size);
        CHECK(r == (size < need ? TCALL_E_MEMORY : (int)need));
        CHECK(p.need == need);
        free(mem);
    }
}

/* What ruins engines that try again. */
static void test_cost(void)
{
    static char text[10001], stars[300];
    int i;
    memset(text, 'a', sizeof text - 1);
    CHECK(occurs("^(a|a)*b$", 0, text, false) == 0);
    CHECK(occurs("^(([a-z])+.)+[A-Z]([a-z])+$", 0, text, false) == 0);
    for (i = 0; i < 64; i++)
        strcat(stars, "a.*");
    CHECK(occurs(stars, 0, text, false) == 1);
}

int main(void)
{
    test_rows();
    test_place();
    test_memory();
    test_cost();
    return check_sum("test_pattern");
}
