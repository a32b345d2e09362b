/* jsmn's tokens of a value, for whoever wants a tree. */
#include "toolcall.h"

#include "check.h"

#include <string.h>

#ifdef TOOLCALL_JSMN

/* Counts what a value has in all, as jsmn does: names are tokens, too. */
static int count(tcall_json v)
{
    tcall_json i;
    int n = 1;
    for (i = tcall_json_first(v); i.at; i = tcall_json_next(i))
        n += (i.key != NULL) + count(i);
    return n;
}

static void test_tree(const char *json)
{
    char text[512], other[512];
    jsmntok_t tok[64];
    tcall_json v, again;
    int n, i;
    strcpy(text, json);
    strcpy(other, json);
    CHECK(tcall_json_parse(&v, text, strlen(text), NULL) == TCALL_OK);
    CHECK(tcall_json_parse(&again, other, strlen(other), NULL) == TCALL_OK);
    n = tcall_tree(v, tok, 64);
    CHECK(n == count(again));
    for (i = 0; i < n; i++) {
        CHECK(tok[i].start >= 0 && tok[i].end >= tok[i].start);
        CHECK((size_t)tok[i].end <= strlen(text));
        CHECK(tok[i].parent < i && (tok[i].parent >= 0 || i == 0));
    }
    for (i = 0; i < n; i++)
        CHECK(tcall_tree(v, tok, (unsigned)i) == TCALL_E_MEMORY);
}

int main(void)
{
    jsmntok_t tok[8];
    tcall_json none, v;
    char text[] = "{\"a\": [\"b\\n\", 1.5e3, {\"c\": null}]}";
    memset(&none, 0, sizeof none);
    CHECK(tcall_tree(none, tok, 8) == TCALL_E_USAGE);
    test_tree("{}");
    test_tree("[]");
    test_tree("-12.5e2");
    test_tree("true");
    test_tree("\"a \\u00e9 b\"");
    test_tree(
        " { \"a\" : [ 1 , { \"b\" : [] } , null ] , \"\\u0061b\" : \"\" }");
    /* one member of a larger value */
    CHECK(tcall_json_parse(&v, text, strlen(text), NULL) == TCALL_OK);
    CHECK(tcall_tree(tcall_json_get(v, "a"), tok, 8) == 6);
    CHECK(tok[0].type == JSMN_ARRAY && tok[2].type == JSMN_PRIMITIVE);
    /* a string that was decoded is no JSON text any more */
    CHECK(
        strcmp(tcall_json_string(tcall_json_at(tcall_json_get(v, "a"), 0), ""),
               "b\n") == 0);
    CHECK(tcall_tree(v, tok, 8) == TCALL_E_USAGE);
    return check_sum("test_tree");
}

#else

int main(void)
{
    CHECK(true);
    return check_sum("test_tree");
}

#endif
