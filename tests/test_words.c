/* Words: how texts of all scripts are cut, folded and stemmed. TEST_LINKED or
 * not, the chapter is compiled here, since all of it is private. */
#define TOOLCALL_STATIC
#include "../src/pick.c"
#include "../src/chat.c"
#include "../src/invoke.c"
#include "check.h"

static bool is(const char *text, const char *found, const char *wanted)
{
    if (strcmp(found, wanted) == 0)
        return true;
    printf("%s: \"%s\" instead of \"%s\"\n", text, found, wanted);
    return false;
}

/* The words of an input, "a b", with | before each that begins a sentence and
 * : after each that stands in a key. */
static const char *words_of(const char *text)
{
    static char found[512];
    tcall_split_ words;
    const char *sentence = text;
    size_t length = 0;
    tcall_split_init_(&words, tcall_str_of(text));
    words.parted = true;
    for (; tcall_split_next_(&words); sentence = words.sentence)
        length += (size_t)snprintf(
            found + length, sizeof found - length, "%s%s%.*s%s",
            length ? " " : "", words.sentence != sentence ? "|" : "",
            (int)words.length, words.word, words.in_key ? ":" : "");
    found[length] = 0;
    return found;
}

static void test_cuts(void)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"", ""},
        {" ,-/ ", ""},
        {"lamp", "lamp"},
        {"Lamp_on x2", "lamp on x 2"},
        {"lampOn HTTPServer PDFs aB", "lamp on http server pdfs a b"},
        {"1.5 v2 4711", "1 5 v 2 4711"},
        {"it's", "it s"},
        {"d\xC3\xA9tail \xC3\x89T\xC3\x89", "detail ete"},
        {"e\xCC\x81t\xC3\xA9", "ete"}, /* a mark of its own */
        {"\xC5\x81\xC3\x93"
         "D\xC5\xB9 \xC5\xBA",
         "\xC5\x82od\xC5\xBA \xC5\xBA"},
        {"\xC4\xB9 \xC4\xBA \xC4\x8C \xC4\x8D",
         "\xC4\xBA \xC4\xBA \xC4\x8D \xC4\x8D"},
        {"\xCE\xA6\xCE\xA9\xCE\xA3 \xD0\x9C\xD0\x98\xD0\xA0",
         "\xCF\x86\xCF\x89\xCF\x83 \xD0\xBC\xD0\xB8\xD1\x80"},
        {"\xEF\xBC\xAC\xEF\xBD\x81\xEF\xBD\x8D\xEF\xBD\x90", "lamp"},
        {"\xE7\x81\xAF", "\xE7\x81\xAF"},
        {"\xE5\xA4\xA9\xE6\xB0\x94\xE9\xA2\x84",
         "\xE5\xA4\xA9\xE6\xB0\x94 \xE6\xB0\x94\xE9\xA2\x84"},
        {"a\xE7\x81\xAF b", "a \xE7\x81\xAF b"},
        {"\xFFlamp\xC3(on\xE2\x82", "lamp on"},
        {"lamp\\u0041", "lamp u 0041"}, /* no JSON: no escapes */
        {"[\"lamp\\u0041x\\nOn\\\"e\"]", "lamp ax |on e"},
        {"on. Off! 1.5 x.y", "on |off |1 5 x y"},
        {"on\noff; up\xE3\x80\x82"
         "down",
         "on |off |up |down"},
        {"{\"a b\": \"c\", \"d\":[\"e: f\"]}", "|a: b: c |d: e f"},
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(is(rows[i].text, words_of(rows[i].text), rows[i].words));
}

/* Of the copy only the numbers are good. */
static tcall_split_ word_of(const char *text)
{
    tcall_split_ words;
    tcall_split_init_(&words, tcall_str_of(text));
    CHECK(tcall_split_next_(&words));
    return words;
}

/* Each line has forms of one word, which no other line has. */
static void test_stems(void)
{
    static const char *const lines[][5] = {
        {"light", "lights", "lighting", "lighted", "LIGHTS"},
        {"city", "cities", "City", NULL, NULL},
        {"stop", "stops", "stopped", "stopping", NULL},
        {"translate", "translated", "translation", "translating", NULL},
        {"bus", "bus", NULL, NULL, NULL},
        {"glass", NULL, NULL, NULL, NULL},
        {"ring", "rings", NULL, NULL, NULL}, /* no vowel would remain */
        {"red", NULL, NULL, NULL, NULL},
        {"see", "sees", NULL, NULL, NULL},
        {"sing", NULL, NULL, NULL, NULL}};
    size_t i, k;
    for (i = 0; i < sizeof lines / sizeof *lines; i++) {
        tcall_split_ first = word_of(lines[i][0]);
        for (k = 1; k < 5 && lines[i][k]; k++) {
            tcall_split_ other = word_of(lines[i][k]);
            CHECK(first.stem == other.stem && first.prefix == other.prefix);
            CHECK(first.initials == other.initials);
        }
        for (k = 0; k < i; k++)
            CHECK(word_of(lines[k][0]).stem != first.stem);
    }
    CHECK(word_of("illuminate").prefix == word_of("illumine").prefix);
    CHECK(word_of("illuminate").prefix != word_of("illumi").stem);
    CHECK(word_of("lamp").prefix == 0);
}

static bool stops(const char *text)
{
    tcall_split_ words;
    tcall_split_init_(&words, tcall_str_of(text));
    return tcall_split_next_(&words) && tcall_split_stops_(&words);
}

/* Stop words are compared as words: those that share a hash with one, as all of
 * four letters do here in 16 bits, and those that begin like one, are none. */
static void test_stop_words(void)
{
    char word[5] = "aaaa", list[32];
    unsigned alike = 0, i;
    CHECK(stops("the") && stops("The") && stops("a") && stops("your"));
    CHECK(stops("additionally") && stops("would") && stops("at"));
    CHECK(!stops("th") && !stops("thei") && !stops("on") && !stops("all"));
    CHECK(!stops("zebra") && !stops("4") && !stops("\xC3\x9C") && !stops("x"));
    for (i = 0; i < 26 * 26 * 26 * 26; i += CHECK_EVERY) {
        unsigned left = i, k;
        for (k = 0; k < 4; k++, left /= 26)
            word[k] = (char)('a' + left % 26);
        alike += stops(word);
    }
    CHECK(CHECK_EVERY > 1 || alike == 54);
    for (i = 0; i < 26; i++) { /* in order, and below their letter */
        const char *at = tcall_nth_(tcall_stop_words_, i);
        list[0] = 0;
        while (*at) {
            size_t length = strcspn(at, " ");
            snprintf(word, sizeof word, "%c", 'a' + (int)i);
            CHECK(*at == *word && length < sizeof list);
            CHECK(strncmp(list, at, length) < 0 || strlen(list) > length);
            snprintf(list, sizeof list, "%.*s", (int)length, at);
            at += length;
            at += *at == ' ';
        }
    }
}

/* Unwanted words are counted, and no more. */
static void test_wanted(void)
{
    uint8_t wanted[128] = {0};
    tcall_split_ words, lamp = word_of("lamp");
    tcall_set_bit_(wanted, lamp.initials, true);
    tcall_split_init_(&words, tcall_str_of("turn on 2 Lamps, l\xC3\xA1mpo!"));
    words.wanted = wanted;
    CHECK(tcall_split_next_(&words) && words.stem == lamp.stem);
    CHECK(words.count == 4);
    CHECK(tcall_split_next_(&words) && words.stem != lamp.stem);
    CHECK(!tcall_split_next_(&words) && words.count == 5);
}

int main(void)
{
    test_cuts();
    test_stems();
    test_stop_words();
    test_wanted();
    return check_sum("words");
}
