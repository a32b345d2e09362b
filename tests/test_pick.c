/* Needs: AGENT. */
/* Picking: ranking, options, filters, other scorers, reports. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/pick.c"
#include "../src/synonyms.c"
#include "../src/invoke.c"
#endif

#include "check.h"

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    return tcall_write_text(out, "done");
}

#define ANY TCALL_TEXT({"type" : "object"})
#define ROW(n, d)                                                      \
    .name = n, .description = d, .parameters = TCALL_SCHEMA_TEXT(ANY), \
    .run = run

static const tcall_tool tools[] = {
    {ROW("get_weather", "Forecast for a city."), .permissions = TCALL_READ},
    {ROW("set_lamp", "Switch a light on or off."),
     .permissions = TCALL_ACTUATE},
    {ROW("readTemperature",
         "Measure how warm the r\xC3\xB6om is. \xE7\x81\xAF"),
     .permissions = TCALL_READ, .streaming = true},
    {ROW("send_mail", "Send an email."), .permissions = TCALL_NETWORK},
    {.name = "convert",
     .title = "Currency exchange",
     .run = run,
     .description = "Convert an amount.",
     .tags = "finance money",
     .parameters = TCALL_JSON({
         "type" : "object",
         "properties" :
             {"from" : {"enum" : [ "EUR", "USD" ], "description" : "Zloty too"}}
     }),
     .permissions = TCALL_READ,
     .roles = 2,
     .groups = 4,
     .cost = 9},
    {ROW("help", "Explain what can be done here."), .pinned = true,
     .permissions = TCALL_READ},
};

static char block[65536];
static tcall tc;

static uint16_t user_roles = 2;

static void start(const tcall_tool *table, size_t count, size_t size)
{
    tcall_desc d = {0};
    d.block = block;
    d.block_size = size;
    d.tools = table;
    d.tool_count = count;
    d.allow = TCALL_EVERYTHING;
    d.roles = user_roles;
    d.lazy_schemas = true;
    CHECK(tcall_init(&tc, &d) == TCALL_OK);
}

/* The names picked, as "a b c". */
static const char *pick(const char *input, const tcall_pick_opts *opts)
{
    static char names[512];
    tcall_picked picks[8];
    int i, n = tcall_pick(&tc, tcall_str_of(input), opts, picks, 8);
    names[0] = 0;
    if (n < 0)
        return tcall_error_code(n);
    for (i = 0; i < n; i++) {
        strcat(names, i ? " " : "");
        strcat(names, picks[i].tool->name);
    }
    return names;
}

static bool is(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return true;
    printf("\"%s\" instead of \"%s\"\n", a, b);
    return false;
}

static void test_ranking(void)
{
    static const tcall_pick_opts all = {
        .allow_unsafe = true, .max = 1, .synonyms = tcall_synonyms};
    start(tools, TCALL_ARRAY_LEN(tools), sizeof block);
    CHECK(is(pick("What is the weather in Oslo?", &all), "get_weather help"));
    CHECK(is(pick("please turn the lamps on", &all), "set_lamp help"));
    CHECK(is(pick("TEMPERATURES", &all), "readTemperature help"));
    CHECK(is(pick("read_temperature", &all), "readTemperature help"));
    CHECK(is(pick("currency", &all), "convert help"));
    CHECK(is(pick("finances", &all), "convert help"));
    CHECK(is(pick("some \xC5\x81\xC3\x93"
                  "D\xC5\xB9 or z\xC5\x82oty?",
                  &all),
             "help"));
    CHECK(is(pick("zl\xC3\xB3ty", &all), "convert help")); /* accents */
    CHECK(is(pick("pay in USD", &all), "convert help"));
    CHECK(is(pick("bulb", &all), "set_lamp help")); /* a synonym */
    CHECK(is(pick("{\"task\": \"weather\", \"mail\": 3}", &all),
             "get_weather help")); /* keys weigh less than values */
    CHECK(is(pick("{\"mail\" : \"weather\"}", &all), "get_weather help"));
    CHECK(is(pick("[{\"mail\"\n:\"weather\"}]", &all), "get_weather help"));
    /* Escapes of JSON are what they mean, also within a word. */
    CHECK(is(pick("[\"some\\nweather\\tnow\"]", &all), "get_weather help"));
    CHECK(is(pick("[\"zl\\u00f3ty\"]", &all), "convert help"));
    CHECK(is(pick("[\"\\u0057EATHER\"]", &all), "get_weather help"));
    CHECK(is(pick("{\"a\": \"\\\"mail\\\": weather\"}", &all),
             "send_mail help")); /* such quotes make no key */
    CHECK(is(pick("[\"\\u00", &all), "help"));
    /* What only begins as JSON is text: its backslashes are signs. */
    CHECK(is(pick("[\"wea\\u0074her\"]", &all), "get_weather help"));
    CHECK(is(pick("[\"wea\\u0074her\"", &all), "help"));
    /* What a character is known by is not what stood before it. */
    CHECK(is(pick("d\xC3\xA9lai \xE7\x81\xAF", &all), "readTemperature help"));
    CHECK(is(pick("qwxz", &all), "help"));
    CHECK(is(pick("", &all), "help"));
    CHECK(is(pick("the of and", &all), "help"));
    CHECK(is(pick("\xFF\xC3(\xE2\x82 weather \xF8\x88", &all),
             "get_weather help"));
}

static void test_synonyms(void)
{
    static const char *const own[] = {"gizmo weather\nblob mail", "foo zloty",
                                      NULL};
    static const char *const none[] = {NULL};
    tcall_pick_opts o = {.allow_unsafe = true, .max = 1};
    o.synonyms = own;
    CHECK(is(pick("gizmos", &o), "get_weather help"));
    CHECK(is(pick("blob", &o), "send_mail help"));
    CHECK(is(pick("foo", &o), "convert help"));
    CHECK(is(pick("bulb", &o), "help"));
    o.synonyms = none;
    CHECK(is(pick("gizmo", &o), "help"));
}

static void test_filters(void)
{
    tcall_pick_opts o = {.max = 1};
    CHECK(is(pick("lamp", &o), "help")); /* not safe */
    o.allow_unsafe = true;
    CHECK(is(pick("lamp", &o), "set_lamp help"));
    tc.desc.allow = TCALL_READ;
    CHECK(is(pick("lamp", &o), "help"));
    tc.desc.roles = 1;
    CHECK(is(pick("currency", &o), "help"));
    tc.desc.roles = 3;
    CHECK(is(pick("currency", &o), "convert help"));
    o.max_cost = 8;
    CHECK(is(pick("currency", &o), "help"));
    o.max_cost = 9;
    CHECK(is(pick("currency", &o), "convert help"));
    tc.desc.groups = 3;
    CHECK(is(pick("currency", &o), "help"));
    CHECK(is(pick("weather", &o), "get_weather help"));
    tc.desc.groups = 12;
    CHECK(is(pick("currency", &o), "convert help"));
    o.streaming = true;
    CHECK(is(pick("weather and temperature", &o), "readTemperature"));
    tc.desc.allow = 0;
    CHECK(is(pick("weather", &o), ""));
}

static void test_limits(void)
{
    static const tcall_tool same[] = {
        {ROW("a_light", "x"), .permissions = TCALL_READ},
        {ROW("b_light", "x"), .permissions = TCALL_READ},
        {ROW("c_light", "x"), .permissions = TCALL_READ},
        {ROW("d_light", "x light lamp"), .permissions = TCALL_READ},
        {ROW("other", "y"), .permissions = TCALL_READ}};
    tcall_pick_opts o = {0};
    tcall_picked picks[8];
    start(same, TCALL_ARRAY_LEN(same), sizeof block);
    CHECK(is(pick("light lamp", NULL), "d_light a_light b_light"));
    o.stable = true;
    CHECK(is(pick("light lamp", &o), "a_light b_light d_light"));
    o.max = 8;
    CHECK(is(pick("light", &o), "a_light b_light c_light d_light"));
    o.relative = 100;
    CHECK(is(pick("light lamp", &o), "d_light"));
    o.relative = 0;
    o.min_score = 1000;
    CHECK(is(pick("light and much more of unknown things", &o), ""));
    CHECK(tcall_pick(&tc, tcall_str_of("light"), NULL, picks, 2) == 2);
    CHECK(tcall_pick(&tc, tcall_str_of("light"), NULL, picks, 0) ==
          TCALL_E_USAGE);
}

/* Scores lie between 0 and 1000, rise with each word found, and fall with each
 * one that is not. */
static void test_scores(void)
{
    static const char *const inputs[] = {
        "frobnicate quux weather xyzzy", "frobnicate weather", "weather",
        "weather city", "weather forecast city"};
    tcall_picked picks[8];
    unsigned last = 0;
    size_t i;
    start(tools, TCALL_ARRAY_LEN(tools), sizeof block);
    for (i = 0; i < TCALL_ARRAY_LEN(inputs); i++) {
        int n = tcall_pick(&tc, tcall_str_of(inputs[i]), NULL, picks, 8);
        CHECK(n > 0 && picks[0].index == 0);
        CHECK(picks[0].score >= last && picks[0].score <= 1000);
        last = picks[0].score;
    }
    CHECK(last > 900);
    CHECK(tcall_pick(&tc, tcall_str_of(inputs[0]), NULL, picks, 8) > 0 &&
          picks[0].score < 500);
}

/* In a sentence, one more word of the tool that covers most never lowers the
 * best score, whatever else has it; one that no tool has never raises it. */
static void test_monotone(void)
{
    static const char *const words[] = {
        "lamp",   "bulb",   "lights",   "weather", "forecast", "city",
        "wind",   "garden", "watering", "plants",  "pump",     "measure",
        "degree", "email",  "message",  "money",   "currency", "music",
        "songs",  "player", "open",     "closing", "doors",    "heating"};
    enum { TOOLS = 12, TEXT = 96 };
    static char names[TOOLS][TEXT], texts[TOOLS][TEXT], input[256];
    static tcall_tool some[TOOLS];
    unsigned seed = 1, round, i, k, n;
    for (round = 0; round < 300; round += 1 + CHECK_EVERY / 10) {
        tcall_picked picks[TOOLS];
        unsigned last = 0;
        memset(some, 0, sizeof some);
        for (i = 0; i < TOOLS; i++) {
            names[i][0] = texts[i][0] = 0;
            for (k = 0; k < 6; k++) {
                seed = seed * 1103515245u + 12345;
                strcat(k < 2 ? names[i] : texts[i],
                       words[(seed >> 16) % TCALL_ARRAY_LEN(words)]);
                strcat(k < 2 ? names[i] : texts[i], k ? " " : "_");
            }
            some[i].name = names[i];
            some[i].description = texts[i];
            some[i].permissions = TCALL_READ;
        }
        memset(&tc, 0, sizeof tc);
        tc.desc.tools = some;
        tc.desc.tool_count = TOOLS;
        tc.desc.allow = TCALL_READ;
        tcall_block_init(&tc.block, block, sizeof block);
        /* Words of one tool and two that none has, one after the other. */
        strcpy(input, "quux ");
        for (n = 0; n < 6; n++) {
            const char *all = n < 4 ? texts[round % TOOLS] : "frob xyzzy";
            const char *word = all;
            for (k = 0; k < n % 4; k++)
                word = strchr(word, ' ') + 1;
            strncat(input, word, strcspn(word, " "));
            strcat(input, " ");
            k = tcall_pick(&tc, tcall_str_of(input), NULL, picks, 3) > 0
                    ? picks[0].score
                    : 0;
            CHECK(k <= 1000 && (n < 4 ? k >= last : k <= last));
            last = k;
        }
    }
}

/* The block has to have what it says it needs, to the byte, and gets all of it
 * back; how large it is makes no difference. */
static void test_memory(void)
{
    static const char *const inputs[] = {
        "weather in the city. switch the light off! send an email; money",
        "temperature",
        "lights and mails",
        "",
        "an explanation",
        "convert, conversion, converting lights",
        "cyty"};
    static const char *const own[] = {"explanation weather\nlight mail city",
                                      NULL};
    static const tcall_pick_opts plain[] = {
        {.allow_unsafe = true, .max = 8, .min_score = 1},
        {.max = 8, .min_score = 1}, /* some tools are barred */
        {.allow_unsafe = true, .max = 8, .min_score = 1, .synonyms = own}};
    tcall_picked a[8], b[8];
    size_t i, o, need;
    int n, m, k;
    start(tools, TCALL_ARRAY_LEN(tools), 512);
    CHECK(tcall_pick(&tc, tcall_str_of("x"), plain, a, 8) == TCALL_E_MEMORY);
    need = tc.block.need;
    CHECK(need <= 2112 + 24 * TCALL_ARRAY_LEN(tools));
    start(tools, TCALL_ARRAY_LEN(tools), need - 8);
    CHECK(tcall_pick(&tc, tcall_str_of("x"), plain, a, 8) == TCALL_E_MEMORY);
    CHECK(tc.block.high == 0);
    for (o = 0; o < TCALL_ARRAY_LEN(plain); o++)
        for (i = 0; i < TCALL_ARRAY_LEN(inputs); i++) {
            user_roles = o == 0 ? 2 : 1;
            start(tools, TCALL_ARRAY_LEN(tools), need);
            n = tcall_pick(&tc, tcall_str_of(inputs[i]), &plain[o], a, 8);
            CHECK(n >= 0 && tcall_peak(&tc) == need && tc.block.high == 0);
            start(tools, TCALL_ARRAY_LEN(tools), sizeof block);
            m = tcall_pick(&tc, tcall_str_of(inputs[i]), &plain[o], b, 8);
            CHECK(m == n && tcall_peak(&tc) == need);
            for (k = 0; k < n && k < m; k++)
                CHECK(a[k].tool == b[k].tool && a[k].score == b[k].score);
        }
    user_roles = 2;
}

/* A text is read in strides where most words are not wanted. The same words
 * have to be found wherever the strides fall, whatever stands beside them, and
 * whatever remains behind the last whole stride. */
static void test_strides(void)
{
    static const char *const parts[] = {
        "lamp",    "lamps",       "Lamp",        "LAMP",
        "aLamp",   "lampX",       "X",           "XY",
        "a",       "in",          "temperature", "Temperature",
        "4",       "42",          " ",           " ",
        "_",       "\":\"",       "[",           "\\",
        "\\u0061", "\\n",         "\xC3\xA9",    "\xE7\x81\xAF",
        "\xFF",    "{",           "lampshades",  "PDFs",
        "^",       "/",           ":",           "`",
        "@",       "illumination"};
    static const tcall_pick_opts plain = {.max = 8, .min_score = 1};
    tcall_tool table[8];
    char texts[8][160], moved[8][176], names[8][8];
    uint32_t seed = 1;
    int round, i;
    for (round = 0; round < 1000 / CHECK_EVERY; round++) {
        tcall_picked a[8], b[8];
        size_t blanks;
        int n;
        memset(table, 0, sizeof table);
        for (i = 0; i < 8; i++) {
            int left = round / 7 % 5 + 3;
            memcpy(names[i], "tool_0", 7);
            names[i][5] = (char)('a' + i);
            table[i].name = names[i];
            table[i].permissions = TCALL_READ;
            *(i % 2 ? &table[i].parameters.text : &table[i].description) =
                texts[i];
            for (texts[i][0] = 0; left-- > 0;
                 seed = seed * 1664525 + 1013904223)
                strcat(texts[i], parts[(seed >> 16) % TCALL_ARRAY_LEN(parts)]);
        }
        memset(&tc, 0, sizeof tc);
        tc.desc.tools = table;
        tc.desc.tool_count = 8;
        tc.desc.allow = TCALL_READ;
        tcall_block_init(&tc.block, block, sizeof block);
        n = tcall_pick(&tc, tcall_str_of("lamp temperature illumination X"),
                       &plain, a, 8);
        for (blanks = 1; blanks < 8; blanks += 1 + (size_t)round % 3) {
            for (i = 0; i < 8; i++) {
                memset(moved[i], ' ', blanks);
                memcpy(moved[i] + blanks, texts[i], sizeof texts[i]);
                *(i % 2 ? &table[i].parameters.text : &table[i].description) =
                    moved[i];
            }
            CHECK(n == tcall_pick(
                           &tc, tcall_str_of("lamp temperature illumination X"),
                           &plain, b, 8));
            for (i = 0; i < n; i++)
                CHECK(a[i].tool == b[i].tool && a[i].score == b[i].score);
        }
    }
}

static int by_length(void *user, tcall_str input, const tcall_tool *tool,
                     size_t index)
{
    (void)input;
    (void)index;
    ++*(int *)user;
    return (int)strlen(tool->name) * 10;
}

static int refuses(void *user, tcall_str input, const tcall_tool *tool,
                   size_t index)
{
    (void)user;
    (void)input;
    (void)tool;
    (void)index;
    return TCALL_E_FAILED;
}

static uint32_t clock_ms;
static uint32_t now_ms(void *user)
{
    (void)user;
    return clock_ms += 10;
}

/* A user's scorer by meaning: the cosine of two vectors. */
static int by_meaning(void *user, tcall_str input, const tcall_tool *tool,
                      size_t index)
{
    static const long vectors[6][2] = {{100, 0},  {0, 100}, {1, 1},
                                       {-100, 0}, {0, 0},   {0, 1}};
    const long *asked = (const long *)user, *v = vectors[index];
    long dot = asked[0] * v[0] + asked[1] * v[1];
    long lengths = (asked[0] * asked[0] + asked[1] * asked[1]) *
                   (v[0] * v[0] + v[1] * v[1]);
    (void)input;
    (void)tool;
    return dot > 0 ? (int)(1000 * dot * dot / lengths) : 0; /* squared */
}

static void test_scorers(void)
{
    static long asked[2] = {10, 0}; /* products fit 32 bits */
    int calls = 0;
    tcall_scorer s[2] = {{"length", by_length, NULL, 0, 0},
                         {"words", NULL, NULL, 0, 0}};
    tcall_pick_opts o = {.allow_unsafe = true, .max = 2};
    tcall_picked picks[8];
    start(tools, TCALL_ARRAY_LEN(tools), sizeof block);
    s[0].user = &calls;
    o.scorers = s;
    o.scorer_count = 1; /* another one alone */
    CHECK(is(pick("mail", &o), "readTemperature get_weather help"));
    CHECK(calls == 5);
    o.scorer_count = 2; /* both */
    CHECK(is(pick("mail", &o), "send_mail readTemperature help"));
    s[0].weight = 200;
    CHECK(is(pick("mail", &o), "readTemperature get_weather help"));
    s[0].weight = 20; /* the best two by words, then by length */
    s[0].top = 2;
    calls = 0;
    CHECK(is(pick("send weather", &o), "get_weather send_mail help"));
    CHECK(calls == 2);
    o.max = 3; /* it wants to see fewer than could be picked */
    s[0].top = 1;
    CHECK(is(pick("send weather", &o), "send_mail help"));
    s[0].top = 200; /* or more than there is room for */
    memset(picks, 0xAA, sizeof picks);
    CHECK(tcall_pick(&tc, tcall_str_of("send weather"), &o, picks, 2) == 2);
    CHECK(picks[1].pinned && picks[2].index == 0xAAAA);
    o.max = 2;
    s[0].top = 0;
    s[0].score = refuses; /* then the others decide */
    CHECK(is(pick("mail", &o), "send_mail help"));
    s[0].score = by_meaning;
    s[0].user = asked;
    o.scorer_count = 1;
    CHECK(tcall_pick(&tc, tcall_str_of("?"), &o, picks, 8) == 3);
    CHECK(picks[0].index == 0 && picks[0].score == 1000);
    CHECK(picks[1].index == 2 && picks[1].score == 500);

    o.scorer_count = 0; /* time runs out */
    o.timeout_ms = 25;
    tc.desc.now_ms = now_ms;
    CHECK(tcall_pick(&tc, tcall_str_of("mail"), &o, picks, 8) == 3);
    CHECK(picks[0].index == 0 && picks[0].timed_out && picks[0].score == 0);
    CHECK(picks[1].index == 1 && picks[1].timed_out && !picks[2].timed_out);
    o.timeout_ms = 2500;
    CHECK(tcall_pick(&tc, tcall_str_of("mail"), &o, picks, 8) == 2);
    CHECK(picks[0].index == 3 && !picks[0].timed_out);
    s[0].score = by_length; /* it runs out after the first tool is ranked */
    s[0].user = &calls;
    o.scorer_count = 2; /* by one of both */
    o.timeout_ms = 80;
    CHECK(tcall_pick(&tc, tcall_str_of("mail"), &o, picks, 8) == 3);
    CHECK(picks[0].index == 0 && picks[0].score == 110 && !picks[0].timed_out);
    CHECK(picks[1].index == 1 && picks[1].score == 0 && picks[1].timed_out);
    o.scorer_count = 0;
    o.timeout_ms = 1; /* without a clock there is all the time */
    tc.desc.now_ms = NULL;
    CHECK(tcall_pick(&tc, tcall_str_of("mail"), &o, picks, 8) == 2);
    CHECK(picks[0].index == 3 && !picks[0].timed_out);
}

/* The bytes that so many of the picks save, as the report says. */
static int saved(tcall_pick_report *report, int count)
{
    static char text[2048];
    const char *at;
    tcall_writer w;
    report->count = count;
    tcall_writer_init(&w, text, sizeof text - 1);
    CHECK(tcall_write_picks(&w, &tc, report) == TCALL_OK);
    text[w.fill] = '\0';
    at = strstr(text, "\"bytes_saved\":");
    CHECK(at != NULL);
    return at ? atoi(at + 14) : 0;
}

static void test_reports(void)
{
    static char text[2048];
    tcall_pick_opts o = {.max = 1};
    tcall_str input = tcall_str_of("The weather in which city? Now!");
    tcall_pick_report report = {.input = input, .opts = &o};
    tcall_picked picks[8];
    tcall_writer w;
    int n;
    start(tools, TCALL_ARRAY_LEN(tools), sizeof block);
    tc.desc.roles = 1;
    n = tcall_pick(&tc, input, &o, picks, 8);
    CHECK(n == 2);
    tcall_writer_init(&w, text, sizeof text);
    report.picks = picks;
    report.count = n;
    CHECK(tcall_write_picks(&w, &tc, &report) == TCALL_OK);
    text[w.fill] = 0;
    CHECK(strstr(text, "{\"word\":\"weather\",\"tools\":1,\"weight\":"));
    CHECK(strstr(text, "\"reason\":\"matched weather, city\""));
    CHECK(strstr(text, "\"reason\":\"pinned\""));
    CHECK(strstr(text, "{\"tool\":\"set_lamp\",\"reason\":\"unsafe\"}"));
    CHECK(strstr(text, "{\"tool\":\"convert\",\"reason\":\"roles\"}"));
    CHECK(strstr(text, "\"tokens_saved\":"));
    CHECK(strstr(text, "{\"tool\":\"get_weather\",\"score\":"));
    picks[0].timed_out = true;
    text[0] = 0;
    tcall_writer_init(&w, text, sizeof text);
    CHECK(tcall_write_picks(&w, &tc, &report) == TCALL_OK);
    text[w.fill] = 0;
    CHECK(strstr(text, "\"reason\":\"timed out\""));
    CHECK(saved(&report, n) > 150);
    CHECK(saved(&report, 0) - saved(&report, 1) ==
          (int)(strlen("get_weather") + strlen("Forecast for a city.") +
                strlen(ANY)));
}

#define PART(ROW, me) ROW(me, required, boolean, on, "Is it on?")
TCALL_SHAPE(part, PART)

/* What is sent of a tool: the provider's own schema, or that of its shape. */
static void test_saved(void)
{
    static const tcall_tool own[] = {
        {ROW("a", "b"), .provider_schema = TCALL_SCHEMA_TEXT("{}")}};
    static const tcall_tool shaped[] = {
        {.name = "a", .parameters = TCALL_STRUCT(part), .run = run}};
    tcall_pick_report report = {{NULL, 0}, NULL, NULL, 0};
    tcall_writer w;
    start(own, 1, sizeof block);
    CHECK(saved(&report, 0) == 1 + 1 + 2);
    start(shaped, 1, sizeof block);
    tcall_writer_init(&w, NULL, 0);
    tcall_write_shape(&w, &part_shape);
    CHECK(saved(&report, 0) == 1 + (int)w.len);
}

/* Ten thousand tools, a megabyte of input: tests/pick.py holds the time. */
static void test_large(void)
{
    enum {
        UNIT = 14, /* of the text below: it ends with a whole word */
        SIZE = (1L << 20) / CHECK_EVERY / UNIT * UNIT,
        TOOLS = 10000
    };
    char *text = (char *)malloc(SIZE), *names = (char *)malloc(TOOLS * 12);
    char *room = (char *)malloc(TOOLS * 24 + 4096);
    tcall_tool *many = (tcall_tool *)malloc(TOOLS * sizeof *many);
    tcall_picked picks[3];
    tcall_str input;
    int i;
    memset(many, 0, TOOLS * sizeof *many);
    for (i = 0; i < TOOLS; i++) {
        int n = i, k;
        char *name = names + 12 * i;
        memcpy(name, "tool_bbbbbb", 12);
        for (k = 10; n > 0; n /= 10)
            name[k--] = "bcdfghklmn"[n % 10];
        many[i].name = name;
        many[i].description = "All of them say the same.";
        many[i].permissions = TCALL_READ;
    }
    memset(&tc, 0, sizeof tc);
    tc.desc.tools = many;
    tc.desc.tool_count = TOOLS;
    tc.desc.allow = TCALL_READ;
    tcall_block_init(&tc.block, room, TOOLS * 24 + 4096);
    CHECK(tcall_pick(&tc, tcall_str_of("bblngf"), NULL, picks, 3) == 1);
    CHECK(picks[0].index == 7943);
    input.ptr = text;
    input.len = SIZE;
    memset(text, 'x', SIZE);
    CHECK(tcall_pick(&tc, input, NULL, picks, 3) == 0);
    for (i = 0; i < SIZE; i++)
        text[i] = (char)("lamp bblngf \xE7\xFF"[i % UNIT]);
    CHECK(tcall_pick(&tc, input, NULL, picks, 3) == 1);
    memset(text, '"', SIZE);
    memcpy(text, "{bblngf", 7);
    CHECK(tcall_pick(&tc, input, NULL, picks, 3) == 1);
    free(text);
    free(names);
    free(many);
    free(room);
}

int main(void)
{
    test_ranking();
    test_synonyms();
    test_filters();
    test_limits();
    test_scores();
    test_monotone();
    test_memory();
    test_strides();
    test_scorers();
    test_reports();
    test_saved();
    test_large();
    return check_sum("pick");
}
