/* The scanner's tokens are those of jsmn: same order, same extent, same
 * nesting, on every valid text. jsmn itself is the judge. */
#ifdef TEST_LINKED
#define TOOLCALL_STATIC /* private functions are called, too */
#endif
#include "../src/write.c"
#ifdef TEST_LINKED
#include "../src/read.c"
#endif
#include "check.h"
#ifndef TOOLCALL_JSMN
#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#include "jsmn.h"
#endif

enum { MAX = 4096, TYPE = 7, KEY = 32 }; /* parts of tcall_tok_.type */
static jsmntok_t theirs[MAX];
static tcall_tok_ ours[MAX];

static bool same_type(const jsmntok_t *a, const tcall_tok_ *b)
{
    int type = b->type & TYPE;
    switch (a->type) {
    case JSMN_OBJECT: return type == TCALL_OBJECT;
    case JSMN_ARRAY: return type == TCALL_ARRAY;
    case JSMN_STRING: return type == TCALL_STRING;
    default: return type >= TCALL_NULL && type <= TCALL_NUMBER;
    }
}

/* The tokens of the whole value at i, by parent links; a key of jsmn holds its
 * value, ours stands alone before it. */
static int extent(int i, int count)
{
    int end = i + 1;
    while (end < count && theirs[end].start < theirs[i].end)
        end++;
    return end - i;
}

static bool same(const char *text)
{
    size_t len = strlen(text);
    tcall_scan scan;
    jsmn_parser parser;
    int count, i;
    jsmn_init(&parser);
    count = jsmn_parse(&parser, text, len, theirs, MAX);
    if (tcall_scan_tokenize_(&scan, tcall_slice_(text, len), ours, MAX) < 0 ||
        count != (int)scan.tokens)
        return false;
    for (i = 0; i < count; i++) {
        bool key = (ours[i].type & KEY) != 0;
        int up = theirs[i].parent;
        if (!same_type(&theirs[i], &ours[i]) ||
            theirs[i].start != ours[i].start || theirs[i].end != ours[i].end ||
            key != (up >= 0 && theirs[up].type == JSMN_OBJECT) ||
            ours[i].span != (key ? 1 : extent(i, count)) || ours[i].mark != 0)
            return false;
    }
    return true;
}

/* A random valid text. */
static unsigned seed = 1;

static unsigned roll(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

static void grow(tcall_writer *w, int depth)
{
    static const char *const words[] = {
        "0", "-1.5e3", "true", "false", "null", "12345678901234567890"};
    static const char *const texts[] = {"", "a", "long enough for a word",
                                        "q\"b\\s\n\t\x01", "\xC3\xA9"};
    unsigned i, n = roll(5), kind = depth > 4 ? 2 + roll(2) : roll(4);
    if (kind == 2) {
        tcall_write_verbatim(w, tcall_str_of(words[roll(6)]));
    } else if (kind == 3) {
        tcall_write_string(w, texts[roll(5)]);
    } else {
        tcall_write_open(w, kind ? '{' : '[');
        for (i = 0; i < n; i++) {
            char key[2] = {(char)('a' + i), 0};
            char last = w->last; /* white space does not change what is due */
            tcall_write_bytes(w, " \n", roll(3));
            w->last = last;
            if (kind)
                tcall_write_key(w, key);
            grow(w, depth + 1);
        }
        tcall_write_close(w, kind ? '}' : ']');
    }
}

int main(void)
{
    static char text[1 << 16];
    static const char *const some[] = {
        "{}",
        "[]",
        "[[],{}]",
        "{\"a\":{\"b\":[1,2,{\"c\":\"\\\"\"}]},\"d\":0}",
        " [ 1 , \"\\u00e9\" , null ] ",
        "\"root\"",
        "true ", /* jsmn wants something after a word */
        "-0 "};
    size_t i;
    for (i = 0; i < sizeof some / sizeof *some; i++)
        CHECK(same(some[i]));
    for (i = 0; i < 2000; i++) {
        tcall_writer w;
        tcall_writer_init(&w, text, sizeof text - 2);
        grow(&w, 0);
        strcpy(text + w.fill, " ");
        CHECK(w.error || same(text));
    }
    return check_sum("test_tokens");
}
