/* Needs: BIND. */
/* Arguments as C structs: TCALL_ARGS, tables by hand, and what is refused. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/call.c"
#endif
#include "check.h"

#define POINT (required, fixed(2), x, "East"), (optional, fixed(2), y, "North")

TCALL_ARGS(point, POINT);

TCALL_ARGS(everything,
           (required, string, name,
            "A name "
            "in two literals"),
           (required, choice("red", "green", "dark blue"), colour, "A colour"),
           (defaults, integer, count, "-3", "How many"),
           (defaults, string, language, "en", "A language"),
           (defaults, boolean, loud, "true", "Loud?"),
           (defaults, choice("a", "b"), letter, "b", "A letter"),
           (defaults, fixed(1), share, "0.5", "A share"),
           (optional, int64, id, "An id"), (optional, number, ratio, "A ratio"),
           (optional, json, any, "Anything"),
           (optional, array(integer, 3), list, "Numbers"),
           (optional, array(boolean, 5), flags, "Flags"),
           (optional, array(string, 2), words, "Words"),
           (optional, object(point, POINT), at, "Where"),
           (optional, array(object(point, POINT), 2), path, "From to"));

TCALL_ARGS(lone, (optional, string, only, "Alone"));

/* As many rows as there can be. */
TCALL_ARGS(many, (optional, integer, a0, ""), (optional, integer, a1, ""),
           (optional, integer, a2, ""), (optional, integer, a3, ""),
           (optional, integer, a4, ""), (optional, integer, a5, ""),
           (optional, integer, a6, ""), (optional, integer, a7, ""),
           (optional, integer, a8, ""), (optional, integer, a9, ""),
           (optional, integer, a10, ""), (optional, integer, a11, ""),
           (optional, integer, a12, ""), (optional, integer, a13, ""),
           (optional, integer, a14, ""), (optional, integer, a15, ""),
           (optional, integer, a16, ""), (optional, integer, a17, ""),
           (optional, integer, a18, ""), (optional, integer, a19, ""),
           (optional, integer, a20, ""), (optional, integer, a21, ""),
           (optional, integer, a22, ""), (optional, integer, a23, ""),
           (optional, integer, a24, ""), (optional, integer, a25, ""),
           (optional, integer, a26, ""), (optional, integer, a27, ""),
           (optional, integer, a28, ""), (optional, integer, a29, ""),
           (optional, integer, a30, ""), (required, integer, a31, ""));

/* A table by hand: a path that needs escapes, and objects inside objects. */
struct leaf {
    int n;
};
struct level3 {
    struct leaf leaf[2];
    int leaves;
};
struct level2 {
    struct level3 three;
};
struct level1 {
    struct level2 two;
};
static const tcall_field leaf_fields[] = {
    {"a/b~c", NULL, true, offsetof(struct leaf, n), sizeof(int), 0, 0,
     tcall_field_integer_, NULL, TCALL_NUMBER, 0},
    {NULL, NULL, false, 0, 0, 0, 0, NULL, NULL, 0, 0}};
static const tcall_field level3_fields[] = {
    {"leaf", NULL, true, offsetof(struct level3, leaf), sizeof(struct leaf),
     offsetof(struct level3, leaves), 2, NULL, leaf_fields, TCALL_OBJECT, 0},
    {NULL, NULL, false, 0, 0, 0, 0, NULL, NULL, 0, 0}};
static const tcall_field level2_fields[] = {
    {"three", NULL, true, offsetof(struct level2, three), sizeof(struct level3),
     0, 0, NULL, level3_fields, TCALL_OBJECT, 0},
    {NULL, NULL, false, 0, 0, 0, 0, NULL, NULL, 0, 0}};
static const tcall_field level1_fields[] = {
    {"two", NULL, true, offsetof(struct level1, two), sizeof(struct level2), 0,
     0, NULL, level2_fields, TCALL_OBJECT, 0},
    {NULL, NULL, false, 0, 0, 0, 0, NULL, NULL, 0, 0}};
/* Turns in itself: the depth ends it. */
static const tcall_field endless_fields[] = {
    {"o", NULL, true, 0, 1, 0, 0, NULL, endless_fields, TCALL_OBJECT, 0},
    {NULL, NULL, false, 0, 0, 0, 0, NULL, NULL, 0, 0}};

static char mem[4096];

static tcall_json args_of(const char *text)
{
    tcall_arguments args;
    CHECK(tcall_parse_arguments(&args, tcall_str_of(text), true, mem,
                                sizeof mem) > 0);
    return args.root;
}

static void test_definition(void)
{
    static char text[8192];
    static tcall_tok tok[512];
    tcall_json v, p;
    CHECK(strlen(everything_schema) < sizeof text);
    strcpy(text, everything_schema);
    CHECK(tcall_json_parse(&v, text, strlen(text), tok, 512, NULL) > 0);
    CHECK(!tcall_json_bool(tcall_json_get(v, "additionalProperties"), true));
    CHECK(tcall_json_count(tcall_json_get(v, "required")) == 2);
    CHECK(tcall_json_count(tcall_json_get(v, "properties")) == 15);
    p = tcall_json_get(tcall_json_get(v, "properties"), "name");
    CHECK(!strcmp(tcall_json_string(tcall_json_get(p, "description"), ""),
                  "A name in two literals"));
    p = tcall_json_get(tcall_json_get(v, "properties"), "colour");
    CHECK(!strcmp(
        tcall_json_string(tcall_json_at(tcall_json_get(p, "enum"), 2), ""),
        "dark blue"));
    p = tcall_json_get(tcall_json_get(v, "properties"), "path");
    CHECK(tcall_json_int(tcall_json_get(p, "maxItems"), 0) == 2);
    p = tcall_json_get(tcall_json_get(p, "items"), "required");
    CHECK(tcall_json_count(p) == 1);
    CHECK(sizeof everything_fields / sizeof *everything_fields == 16);
    CHECK(sizeof many_fields / sizeof *many_fields == 33);
    CHECK(!strcmp(lone_schema,
                  "{\"type\":\"object\",\"properties\":{\"only\":{\"type\":"
                  "\"string\",\"description\":\"Alone\"}},\"required\":[],"
                  "\"additionalProperties\":false}"));
}

static void test_fill(void)
{
    struct everything e;
    struct many m;
    char path[64];
    memset(&e, 0xAA, sizeof e);
    CHECK(tcall_bind(&e,
                     args_of("{\"name\":\"Z\\u00fcrich\",\"colour\":\"dark "
                             "blue\",\"count\":7,\"language\":\"\",\"loud\":"
                             "false,\"letter\":\"a\",\"share\":1.25,\"id\":"
                             "9007199254740993,\"ratio\":0.25,\"any\":{\"x\":"
                             "[1]},\"list\":[1,2.0,-3],\"flags\":[true,false],"
                             "\"words\":[\"a\",\"b\"],\"at\":{\"x\":1,\"y\":"
                             "-2.5},\"path\":[{\"x\":3},{\"x\":4,\"y\":5}]}"),
                     everything_fields, path, sizeof path) == TCALL_OK);
    CHECK(!*path && !strcmp(e.name, "Z\xC3\xBCrich") && e.colour == 2);
    CHECK(e.count == 7 && !*e.language && !e.loud && e.letter == 0);
    CHECK(e.share == 12 && e.id == INT64_C(9007199254740993));
    CHECK(e.ratio > 0.2499 && e.ratio < 0.2501);
    CHECK(tcall_json_count(tcall_json_get(e.any, "x")) == 1);
    CHECK(e.list.count == 3 && e.list.items[1] == 2 && e.list.items[2] == -3);
    CHECK(e.flags.count == 2 && e.flags.items[0] && !e.flags.items[1]);
    CHECK(e.words.count == 2 && !strcmp(e.words.items[1], "b"));
    CHECK(e.at.x == 100 && e.at.y == -250 && e.path.count == 2);
    CHECK(e.path.items[0].x == 300 && e.path.items[0].y == 0);
    CHECK(e.path.items[1].x == 400 && e.path.items[1].y == 500);
    memset(&e, 0xAA, sizeof e);
    CHECK(tcall_bind(&e,
                     args_of("{\"name\":\"\",\"colour\":\"red\",\"id\":null,"
                             "\"count\":null,\"list\":null,\"at\":null}"),
                     everything_fields, NULL, 0) == TCALL_OK);
    CHECK(!*e.name && e.colour == 0 && e.count == -3 && e.loud);
    CHECK(!strcmp(e.language, "en") && e.letter == 1 && e.share == 5);
    CHECK(e.id == 0 && !e.any.tok && e.list.count == 0 && e.path.count == 0);
    CHECK(e.at.x == 0 && e.list.items[2] == 0);
    CHECK(tcall_bind(&m, args_of("{\"a0\":10,\"a31\":31,\"a30\":30}"),
                     many_fields, NULL, 0) == TCALL_OK);
    CHECK(m.a0 == 10 && m.a1 == 0 && m.a30 == 30 && m.a31 == 31);
}

static const struct {
    const char *args;
    int error;
    const char *path;
} wrong[] = {
    {"{}", TCALL_E_INVALID, "/name"},
    {"{\"name\":null,\"colour\":\"red\"}", TCALL_E_INVALID, "/name"},
    {"{\"name\":1,\"colour\":\"red\"}", TCALL_E_INVALID, "/name"},
    {"{\"name\":\"\",\"colour\":\"pink\"}", TCALL_E_INVALID, "/colour"},
    {"{\"name\":\"\",\"colour\":\"re\"}", TCALL_E_INVALID, "/colour"},
    {"{\"name\":\"\",\"colour\":\", \"}", TCALL_E_INVALID, "/colour"},
    {"{\"name\":\"\",\"colour\":\"red\",\"count\":1.5}", TCALL_E_INVALID,
     "/count"},
    {"{\"name\":\"\",\"colour\":\"red\",\"count\":2147483648}", TCALL_E_RANGE,
     "/count"},
    {"{\"name\":\"\",\"colour\":\"red\",\"count\":-2147483649}", TCALL_E_RANGE,
     "/count"},
    {"{\"name\":\"\",\"colour\":\"red\",\"id\":9223372036854775808}",
     TCALL_E_RANGE, "/id"},
    {"{\"name\":\"\",\"colour\":\"red\",\"share\":1e30}", TCALL_E_RANGE,
     "/share"},
    {"{\"name\":\"\",\"colour\":\"red\",\"list\":5}", TCALL_E_INVALID, "/list"},
    {"{\"name\":\"\",\"colour\":\"red\",\"list\":[1,2,3,4]}", TCALL_E_RANGE,
     "/list/3"},
    {"{\"name\":\"\",\"colour\":\"red\",\"list\":[1,\"2\"]}", TCALL_E_INVALID,
     "/list/1"},
    {"{\"name\":\"\",\"colour\":\"red\",\"list\":[null]}", TCALL_E_INVALID,
     "/list/0"},
    {"{\"name\":\"\",\"colour\":\"red\",\"path\":[{\"x\":1},{\"y\":2}]}",
     TCALL_E_INVALID, "/path/1/x"},
    {"{\"name\":\"\",\"colour\":\"red\",\"at\":[]}", TCALL_E_INVALID, "/at"},
};

static void test_errors(void)
{
    static char text[] = "{\"name\":\"a\\u0000b\",\"colour\":\"red\"}";
    struct everything e;
    struct level1 one;
    tcall_tok tok[16];
    tcall_json v;
    char path[64], *small;
    size_t i, cap;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        v = args_of(wrong[i].args);
        CHECK(tcall_bind(&e, v, everything_fields, path, sizeof path) ==
              wrong[i].error);
        CHECK(!strcmp(path, wrong[i].path));
        CHECK(tcall_bind(&e, v, everything_fields, NULL, 0) == wrong[i].error);
    }
    CHECK(tcall_json_parse(&v, text, strlen(text), tok, 16, NULL) == 5);
    CHECK(tcall_bind(&e, v, everything_fields, path, sizeof path) ==
              TCALL_E_NUL &&
          !strcmp(path, "/name"));
    CHECK(tcall_bind(&e, tcall_json_get(v, "name"), everything_fields, path,
                     sizeof path) == TCALL_E_INVALID &&
          !*path);
    v = args_of(
        "{\"two\":{\"three\":{\"leaf\":[{\"a/b~c\":1},{\"a/b~c\":2}]}}}");
    CHECK(tcall_bind(&one, v, level1_fields, NULL, 0) == TCALL_OK);
    CHECK(one.two.three.leaves == 2 && one.two.three.leaf[1].n == 2);
    v = args_of("{\"two\":{\"three\":{\"leaf\":[{\"a/b~c\":1},{}]}}}");
    for (cap = 0; cap < 40; cap++) {
        static const char whole[] = "/two/three/leaf/1/a~1b~0c";
        small = (char *)malloc(cap ? cap : 1);
        CHECK(tcall_bind(&one, v, level1_fields, small, cap) ==
              TCALL_E_INVALID);
        if (cap)
            CHECK(strlen(small) ==
                      (cap < sizeof whole ? cap : sizeof whole) - 1 &&
                  !strncmp(small, whole, strlen(small)));
        free(small);
    }
    v = args_of("{\"o\":{\"o\":{\"o\":{\"o\":{\"o\":{\"o\":1}}}}}}");
    CHECK(tcall_bind(&one, v, endless_fields, path, sizeof path) ==
              TCALL_E_DEPTH &&
          !strcmp(path, "/o/o/o/o"));
}

int main(void)
{
    test_definition();
    test_fill();
    test_errors();
    return check_sum("test_bind");
}
