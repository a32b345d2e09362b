/* Needs: SENTENCES. */
/*
 * The MCP server on a line, with the tools of the Arduino Uno: lines of both
 * eras, ids, cuts, losses, floods, duplicates, and whatever libFuzzer finds.
 */
#define TOOLCALL_MCP_ID    386 /* the default */
#define TOOLCALL_MCP_TOKEN 64
#include "../examples/uno/tools.h"

#include "check.h"
#include "fuzz.h"

/* ---- the board and its line ---- */

static char got[1 << 16]; /* what the server sent */
static size_t got_len;
static int runs; /* how often a tool reached the board */
static int sink_error;

static void board_led(bool on)
{
    unsigned char byte;
    memcpy(&byte, &on, 1);
    CHECK(byte <= 1);
    runs++;
}

static int32_t board_celsius10(void)
{
    runs++;
    return 215;
}

static void board_relay(uint8_t channel, bool on, int32_t seconds)
{
    unsigned char byte;
    memcpy(&byte, &on, 1);
    CHECK(channel >= 1 && channel <= 4 && byte <= 1 && seconds >= 0 &&
          seconds <= 3600);
    runs++;
}

static int sink(void *user, const char *bytes, size_t len)
{
    (void)user;
    if (sink_error)
        return sink_error;
    if (len > sizeof got - 1 - got_len)
        len = sizeof got - 1 - got_len;
    memcpy(got + got_len, bytes, len);
    got_len += len;
    return (int)len;
}

static void clear(void)
{
    got_len = 0;
    runs = 0;
}

static const char *said(void)
{
    got[got_len] = 0;
    return got;
}

static void feed(const char *text)
{
    tcall_mcp_feed(&server, text, strlen(text));
}

/* Returns the answer to one line, without its end. */
static const char *ask(const char *line)
{
    clear();
    feed(line);
    feed("\n");
    if (got_len && got[got_len - 1] == '\n')
        got_len--;
    return said();
}

static bool is(const char *line, const char *answer)
{
    bool same = strcmp(ask(line), answer) == 0;
    if (!same)
        printf("%s\n  gave   %s\n  wanted %s\n", line, got, answer);
    return same;
}

static bool has(const char *line, const char *part)
{
    bool found = strstr(ask(line), part) != NULL;
    if (!found)
        printf("%s\n  gave  %s\n  wants %s\n", line, got, part);
    return found;
}

/* ---- answers ---- */

#define META                                                  \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":" \
    "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define INFO       "\"serverInfo\":{\"name\":\"uno\",\"version\":\"1\"}"
#define RESULT(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{"
#define MODERN(id)                                       \
    RESULT(id)                                           \
    "\"resultType\":\"complete\",\"_meta\":"             \
    "{\"io.modelcontextprotocol/serverInfo\":{\"name\":" \
    "\"uno\",\"version\":\"1\"}},"
#define TEXT(text) "\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]"
#define CALL(id, name, args)                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\"," \
    "\"params\":{\"name\":\"" name "\",\"arguments\":" args "}}"
#define ERROR(id, code, text)                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code \
    ",\"message\":\"" text "\"}}"
#define NOT_JSON ERROR("null", "-32700", "this is not JSON")
#define PING     "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}"
#define PONG     RESULT("7") "}}"

static void test_legacy(void)
{
    CHECK(is("{\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
             "\"2024-11-05\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\""
             "}},\"jsonrpc\":\"2.0\",\"id\":0}",
             RESULT("0") "\"protocolVersion\":\"2024-11-05\",\"capabilities\":"
                         "{\"tools\":{}}," INFO "}}"));
    CHECK(has("{\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
              "\"2030-01-01\"},\"jsonrpc\":\"2.0\",\"id\":0}",
              "\"protocolVersion\":\"2025-11-25\""));
    CHECK(has("{\"method\":\"initialize\",\"jsonrpc\":\"2.0\",\"id\":0}",
              "\"protocolVersion\":\"2025-11-25\""));
    CHECK(is("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
             ""));
    CHECK(is(PING, PONG));
    CHECK(is(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
        "\"params\":{}}",
        RESULT(
            "1") "\"tools\":[{\"name\":\"led\",\"description\":\"Switches the LED "
                 "of the board\",\"inputSchema\":{\"type\":\"object\","
                 "\"properties\":{\"on\":{\"type\":\"boolean\",\"description\":"
                 "\"true: lit\"}},\"required\":[\"on\"],\"additionalProperties\":"
                 "false}},{\"name\":\"thermometer\",\"description\":\"Reads the "
                 "temperature\",\"inputSchema\":{\"type\":\"object\",\"properties\""
                 ":{\"unit\":{\"type\":\"string\",\"enum\":[\"celsius\","
                 "\"fahrenheit\",\"kelvin\"],\"description\":\"Unit of the answer\""
                 ",\"default\":\"celsius\"},\"offset\":{\"type\":\"number\","
                 "\"minimum\":-9.9,\"maximum\":9.9,\"description\":\"Correction in "
                 "degrees Celsius\"}},\"additionalProperties\":false},"
                 "\"annotations\":{\"readOnlyHint\":true}},{\"name\":\"relay\","
                 "\"description\":\"Opens or closes relays, for a time if wanted\","
                 "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"channels\""
                 ":{\"type\":\"array\",\"minItems\":1,\"maxItems\":4,\"items\":{"
                 "\"type\":\"integer\",\"minimum\":1,\"maximum\":4},\"description\""
                 ":\"Relays to switch, 1 to 4\"},\"on\":{\"type\":\"boolean\","
                 "\"description\":\"true: closed\"},\"timer\":{\"type\":\"object\","
                 "\"properties\":{\"seconds\":{\"type\":\"integer\",\"minimum\":1,"
                 "\"maximum\":3600,\"description\":\"How long\"},\"label\":{"
                 "\"anyOf\":[{\"type\":\"string\",\"minLength\":1,\"maxLength\":12}"
                 ",{\"type\":\"null\"}],\"description\":\"Name of the timer\"}},"
                 "\"required\":[\"seconds\"],\"additionalProperties\":false,"
                 "\"description\":\"Switches back after this time\"}},\"required\":"
                 "[\"channels\",\"on\"],\"additionalProperties\":false}}]}}"));
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
              "\"params\":{\"cursor\":\"x\"}}",
              "-32602"));
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
              "\"params\":{\"cursor\":null}}",
              "\"tools\":["));
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/list\"}",
              "-32601"));
}

static void test_modern(void)
{
    CHECK(is("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\","
             "\"params\":{" META "}}",
             MODERN("1") "\"supportedVersions\":[\"2026-07-28\",\"2025-11-25\"]"
                         ",\"capabilities\":{\"tools\":{}},\"ttlMs\":3600000,"
                         "\"cacheScope\":\"public\"}}"));
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
              "\"params\":{" META "}}",
              "]," /* ... */ "\"ttlMs\":3600000,\"cacheScope\":\"public\"}}"));
    CHECK(is("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
             "\"params\":{" META ",\"name\":\"led\",\"arguments\":{\"on\":true}"
             "}}",
             MODERN("1") TEXT("LED is on") "}}"));
    CHECK(has(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{" META
        "}}",
        "-32601"));
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
              "\"params\":{" META "}}",
              "-32601"));
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}",
              "-32602"));
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
              "\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
              "protocolVersion\":\"2026-07-28\"}}}",
              "-32602"));
    CHECK(
        has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
            "\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
            "protocolVersion\":\"20\\\"\",\"io.modelcontextprotocol/"
            "clientCapabilities\":{}}}}",
            "{\"code\":-32022,\"message\":\"unsupported protocol version\","
            "\"data\":{\"supported\":[\"2026-07-28\"],\"requested\":\"20\\\"\""
            "}}}"));
}

static void test_calls(void)
{
    CHECK(is(CALL("1", "led", "{\"on\":true}"),
             RESULT("1") TEXT("LED is on") "}}"));
    CHECK(runs == 1);
    CHECK(is(CALL("1", "thermometer", "{\"unit\":\"kelvin\",\"offset\":1.5}"),
             RESULT("1") TEXT("296.2 kelvin") "}}"));
    CHECK(is("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
             "\"params\":{\"name\":\"thermometer\"}}",
             RESULT("2") TEXT("21.5 celsius") "}}"));
    CHECK(is(CALL("1", "relay",
                  "{\"on\":true,\"channels\":[1,4],\"timer\":{\"label\":"
                  "\"caf\xC3\xA9 \\\"\\n\",\"seconds\":60}}"),
             RESULT("1") TEXT("relay 1 relay 4 closed for 60 s, timer "
                              "caf\xC3\xA9 \\\"\\n") "}}"));
    CHECK(runs == 2);
    CHECK(is(CALL("1", "relay", "{\"on\":true,\"channels\":[1,9]}"),
             RESULT("1") TEXT("/channels/1: 9 is over the maximum 4; send an "
                              "integer from 1 to 4") ",\"isError\":true}}"));
    CHECK(is(
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
        "\"params\":{\"name\":\"led\"}}",
        RESULT("2") TEXT(
            "the property \\\"on\\\" is missing; add it") ",\"isError\":true}}"));
    CHECK(has(CALL("3", "nope", "{\"on\":true}"), "-32602"));
    CHECK(has(CALL("3", "le", "{\"on\":true}"), "-32602"));
    CHECK(has(CALL("3", "ledd", "{\"on\":true}"), "-32602"));
    CHECK(has(CALL("3", "a_name_that_no_tool_has", "{}"), "-32602"));
    CHECK(is(CALL("3", "led", "[]"),
             RESULT("3")
                 TEXT("/params/arguments: this is of another type; send an "
                      "object") ",\"isError\":true}}") &&
          runs == 0);
    CHECK(has(CALL("3", "led", "null"), "\"isError\":true") && runs == 0);
    CHECK(has(CALL("3", "led", "{\"on\":true,\"colour\":1}"),
              "\"isError\":true") &&
          runs == 0);
    CHECK(has(CALL("3", "nope", "[]"), "there is no such tool"));
    CHECK(is("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\"}",
             ERROR("2", "-32602", "params has no name of a tool")));
    CHECK(is("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
             "\"params\":{\"arguments\":{}}}",
             ERROR("2", "-32602", "params has no name of a tool")));
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
              "\"params\":{\"name\":7,\"arguments\":{}}}",
              "\"code\":-32602,\"message\":\"/params/name: "));
    CHECK(is("{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":"
             "{\"name\":\"led\",\"arguments\":{\"on\":true}}}",
             "") &&
          runs == 0);
}

/* ---- what frames a message ---- */

/* Answers to an id of a character, so many times, in quotes. */
static void try_long_id(const char *character, size_t times, bool comes_back)
{
    static char line[4096], answer[4096], id[2048];
    size_t len = strlen(character), i;
    id[0] = '"';
    for (i = 0; i < times; i++)
        memcpy(id + 1 + i * len, character, len);
    memcpy(id + 1 + times * len, "\"", 2);
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"id\":%s,"
             "\"params\":{\"name\":\"led\",\"arguments\":{\"on\":true}}}",
             id);
    snprintf(answer, sizeof answer, "{\"jsonrpc\":\"2.0\",\"id\":%s,",
             comes_back ? id : "null");
    CHECK(has(line, answer) && runs == comes_back);
    CHECK(comes_back || strstr(got, "-32600"));
}

/* 128 bytes, however they are spelt. */
static void test_long_ids(void)
{
    try_long_id("a", 128, true);
    try_long_id("\\\"", 128, true);
    try_long_id("\\\\", 64, true);
    try_long_id("\xC3\xA9", 64, true);
    try_long_id("\\u00e9", 64, true);
    try_long_id("\\ud83d\\ude00", 32, true);
    try_long_id("a", TOOLCALL_MCP_ID - 2, true);
    try_long_id("a", TOOLCALL_MCP_ID - 1, false);
    try_long_id("\\u0041", 300, false);
    try_long_id("a", 2000, false);
}

static void test_ids(void)
{
    static const char *const good[] = {
        "0",
        "-1",
        "123456789012345678901234567890",
        "1.50",
        "1e2",
        "\"\"",
        "\"a\"",
        "\"\\u00e9\\n\\\"\\\\\"",
        "\"\xF0\x9F\x98\x80\"",
        "\"01234567890123456789012345678901234567\"",
        "\"client-123e4567-e89b-12d3-a456-426614174000\""};
    static const char *const bad[] = {"null", "true", "[]",
                                      "{}",   "[1]",  "{\"a\":\"b\"}"};
    char line[256], answer[256];
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(good); i++) {
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\": %s }",
                 good[i]);
        snprintf(answer, sizeof answer,
                 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", good[i]);
        CHECK(is(line, answer));
    }
    for (i = 0; i < TCALL_ARRAY_LEN(bad); i++) {
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\","
                 "\"params\":{\"name\":\"led\",\"arguments\":{\"on\":true}}}",
                 bad[i]);
        CHECK(has(line, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":"
                        "-32600"));
        CHECK(runs == 0);
        snprintf(line, sizeof line,
                 "{\"method\":7,\"jsonrpc\":\"2.0\",\"params\":[],\"id\":%s}",
                 bad[i]);
        CHECK(has(line, "\"id\":null,\"error\":{\"code\":-32600"));
    }
}

static void test_frames(void)
{
    CHECK(is("", "") && is("   \t \r", ""));
    CHECK(is(PING "\r", PONG));
    CHECK(is("{}", ERROR("null", "-32600", "this is no JSON-RPC 2.0 message")));
    CHECK(has("[" PING "]", "-32600"));
    CHECK(has("[]", "-32600") && has("\"x\"", "-32600"));
    CHECK(is("5", ERROR("null", "-32600",
                        "this is of another type; send an object")));
    CHECK(has("-0", "-32600") && has("null", "-32600") && is("-", NOT_JSON));
    CHECK(is("\xEF\xBB\xBF" PING,
             ERROR("null", "-32700", "this begins with a byte order mark")));
    CHECK(is(PING, PONG));
    CHECK(is(PING PING, NOT_JSON) && is("x", NOT_JSON) && is("{", NOT_JSON));
    CHECK(
        is("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"pi\xFFng\"}", NOT_JSON));
    CHECK(has("{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"ping\"}", "-32600"));
    CHECK(has("{\"id\":7,\"method\":\"ping\"}", "\"id\":7,\"error\""));
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":7}", "-32600"));
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}", "-32600"));
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":5}",
              "-32602"));
    /* responses and notifications are not answered */
    CHECK(is("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}", ""));
    CHECK(is("{\"jsonrpc\":\"2.0\",\"id\":[7],\"error\":{}}", ""));
    CHECK(is("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
             "\"params\":{\"requestId\":3,\"reason\":\"x\"}}",
             ""));
    CHECK(is("{\"jsonrpc\":\"2.0\",\"method\":\"tools/list\",\"params\":[]}",
             ""));
    clear();
    feed(PING "\n" PING "\n\n" PING "\n");
    CHECK(strcmp(said(), PONG "\n" PONG "\n" PONG "\n") == 0);
}

/* ---- any order, any pieces ---- */

static const char *const calls[] = {
    CALL("1", "led", "{\"on\":true}"),
    CALL("\"a\\\"b\"", "relay",
         "{\"channels\":[1,4],\"on\":false,\"timer\":{\"seconds\":60,\"label\":"
         "\"caf\\u00e9\"}}"),
    CALL("-3", "thermometer", "{\"unit\":\"kelvin\",\"offset\":-9.9}"),
    CALL("4", "relay", "{\"channels\":[7],\"on\":false}"),
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META
    "}}"};

static void test_pieces(void)
{
    char whole[4096];
    size_t i, cut, len;
    for (i = 0; i < TCALL_ARRAY_LEN(calls); i++) {
        len = (size_t)snprintf(whole, sizeof whole, "%.4000s\n", ask(calls[i]));
        CHECK(len < 4000);
        len = strlen(calls[i]);
        for (cut = 0; cut <= len; cut++) {
            clear();
            tcall_mcp_feed(&server, calls[i], cut);
            tcall_mcp_feed(&server, calls[i] + cut, len - cut);
            feed("\n");
            CHECK(strcmp(said(), whole) == 0);
        }
        clear();
        for (cut = 0; cut < len; cut++)
            tcall_mcp_feed(&server, calls[i] + cut, 1);
        feed("\n");
        CHECK(strcmp(said(), whole) == 0);
    }
}

/* Bytes behind those that came are not read. */
static void test_lines(void)
{
    static const char lines[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                                "\"ping\"}\n";
    char three[3 * sizeof lines], one[256], two[512];
    size_t len = sizeof lines - 1;
    snprintf(three, sizeof three, "%s%s%s", lines, lines, lines);
    clear();
    feed(lines);
    snprintf(one, sizeof one, "%.200s", said());
    snprintf(two, sizeof two, "%s%s", one, one);
    clear();
    tcall_mcp_feed(&server, three, 2 * len);
    CHECK(one[0] && strcmp(said(), two) == 0);
}

static void test_order(void)
{
    static const char *const outer[] = {"\"jsonrpc\":\"2.0\"", "\"id\":1",
                                        "\"method\":\"tools/call\""};
    static const char *const inner[] = {
        "\"name\":\"thermometer\"",
        "\"arguments\":{\"unit\":\"kelvin\",\"offset\" : 0.1}", META};
    char whole[1024], line[1024], params[400];
    int i, k;
    snprintf(whole, sizeof whole, "%.1000s",
             ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                 "\"params\":{\"name\":\"thermometer\",\"arguments\":{\"unit\":"
                 "\"kelvin\",\"offset\":0.1}," META "}}"));
    CHECK(strstr(whole, "294.8 kelvin") != NULL);
    for (k = 0; k < 6; k++) {
        snprintf(params, sizeof params, "\"params\":{%s,%s,%s}", inner[k % 3],
                 inner[(k + 1 + k / 3) % 3], inner[(k + 2 - k / 3) % 3]);
        for (i = 0; i < 12; i++) {
            const char *a = outer[i % 3], *b = outer[(i + 1 + i / 3 % 2) % 3],
                       *c = outer[(i + 2 - i / 3 % 2) % 3];
            if (i < 6)
                snprintf(line, sizeof line, "{%s,%s,%s,%s}", params, a, b, c);
            else
                snprintf(line, sizeof line, "{%s,%s,%s,%s}", a, b, params, c);
            CHECK(is(line, whole));
        }
    }
}

/* Arguments before the name: as long as the stash, and longer. */
static void test_stash(void)
{
    char line[1024];
    int i;
    for (i = 0; i < 200; i++) {
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                 "\"params\":{\"arguments\":{\"on\"  : true,\"%0*d\":1},"
                 "\"name\":\"led\"}}",
                 i, 0);
        ask(line);
        CHECK(runs == 0);
        /* {"on":true,"":1} has 16 bytes */
        CHECK(strstr(
            got,
            (i ? i : 1) + 16 <= TOOLCALL_MCP_STASH
                ? "is not known here"
                : "/params/arguments: there is no room for all of this; send at most 80 bytes"));
        CHECK(strstr(got, "\"isError\":true}}"));
    }
    CHECK(is(
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
        "\"params\":{\"arguments\":{\"on\":5},\"name\":\"led\"}}",
        RESULT("2") TEXT(
            "/on: this is of another type; send a boolean") ",\"isError\":true}}"));
    CHECK(is("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
             "\"params\":{\"arguments\":{\"on\":true},\"name\":\"led\"}}",
             RESULT("2") TEXT("LED is on") "}}") &&
          runs == 1);
}

/* ---- what must not run ---- */

static void test_duplicates(void)
{
    static const char *const params[] = {
        "\"arguments\":{\"on\":true},\"name\":\"led\",\"arguments\":{\"on\":"
        "false}",
        "\"arguments\":{\"on\":true},\"name\":\"led\",\"arguments\":{}",
        "\"arguments\":{\"on\":true},\"name\":\"led\",\"arguments\":5",
        "\"arguments\":{\"on\":true},\"arguments\":{\"on\":true},\"name\":"
        "\"led\"",
        "\"name\":\"led\",\"arguments\":{\"on\":true},\"arguments\":{\"on\":"
        "true}",
        "\"name\":\"led\",\"arguments\":{\"on\":1},\"arguments\":{\"on\":true}",
        "\"name\":\"led\",\"name\":\"led\",\"arguments\":{\"on\":true}",
        "\"name\":\"relay\",\"name\":\"led\",\"arguments\":{\"on\":true}",
        "\"name\":\"led\",\"arguments\":{\"on\":true},\"name\":\"led\"",
        "\"name\":\"led\",\"arguments\":{\"on\":true},\"name\":5",
        "\"arguments\":{\"on\":true},\"name\":\"led\",\"name\":\"led\"",
        "\"name\":\"led\",\"arguments\":{\"on\":true,\"on\":true}",
        "\"name\":\"led\",\"arguments\":{\"on\":true,\"\\u006fn\":true}",
        "\"arguments\":{\"on\":true,\"on\":false},\"name\":\"led\"",
        "\"arg\\u0075ments\":{\"on\":true},\"name\":\"led\",\"arguments\":"
        "{\"on\":true}",
        "\"name\":5,\"name\":\"led\",\"arguments\":{\"on\":true}",
        "\"name\":\"\",\"arguments\":{\"on\":true},\"name\":\"led\"",
        "\"name\":\"led\\u0000\",\"arguments\":{\"on\":true}",
        "\"_meta\":5,\"name\":\"led\",\"arguments\":{\"on\":true}",
        "\"_meta\":{},\"_meta\":{},\"name\":\"led\",\"arguments\":{\"on\":"
        "true}"};
    static const char *const messages[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"led\",\"arguments\":{\"on\":true}},\"params\":{\"name\":"
        "\"led\",\"arguments\":{\"on\":false}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,\"method\":\"tools/call\","
        "\"params\":{\"name\":\"led\",\"arguments\":{\"on\":true}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{"
        "\"name\":\"led\",\"arguments\":{\"on\":true}},\"method\":"
        "\"tools/call\"}"};
    char line[512];
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(params); i++) {
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                 "\"params\":{%s}}",
                 params[i]);
        ask(line);
        CHECK(runs == 0);
        CHECK(strstr(got, "\"error\"") || strstr(got, "\"isError\":true"));
    }
    for (i = 0; i < TCALL_ARRAY_LEN(messages); i++) {
        ask(messages[i]);
        CHECK(runs == 0);
        CHECK(strstr(got, "\"error\"") || strstr(got, "\"isError\":true"));
    }
}

/* A line that is cut anywhere runs nothing, and the next one works. */
static void test_cuts(void)
{
    size_t i, cut;
    for (i = 0; i < 3; i++)
        for (cut = 1; cut < strlen(calls[i]); cut++) {
            clear();
            tcall_mcp_feed(&server, calls[i], cut);
            feed("\n");
            CHECK(runs == 0 && strcmp(said(), NOT_JSON "\n") == 0);
            CHECK(is(PING, PONG));
        }
}

/* A byte that the driver lost, said by a call or by a byte that no JSON has. */
static void test_losses(void)
{
    size_t i, lost;
    int way;
    for (i = 0; i < 3; i++)
        for (lost = 0; lost < strlen(calls[i]); lost++)
            for (way = 0; way < 2; way++) {
                clear();
                tcall_mcp_feed(&server, calls[i], lost);
                if (way)
                    tcall_mcp_poison(&server);
                else
                    feed("\xFF");
                feed(calls[i] + lost + 1);
                feed("\n");
                CHECK(runs == 0 && strcmp(said(), NOT_JSON "\n") == 0);
                CHECK(is(PING, PONG));
            }
    clear();
    tcall_mcp_poison(&server);
    feed("\n");
    CHECK(strcmp(said(), NOT_JSON "\n") == 0);
}

/* ---- floods ---- */

static void flood(const char *before, const char *again, int times,
                  const char *after)
{
    clear();
    feed(before);
    while (times--)
        feed(again);
    feed(after);
    feed("\n");
}

static void test_floods(void)
{
    flood("", "{", 10000, "");
    CHECK(strcmp(said(), NOT_JSON "\n") == 0);
    flood("", "\xFF\x01garbage", 10000, "");
    CHECK(strcmp(said(), NOT_JSON "\n") == 0);
    flood("{\"jsonrpc\":\"2.0\",\"id\":\"", "0123456789", 10000,
          "\",\"method\":\"ping\"}");
    CHECK(strstr(said(), "\"id\":null,\"error\":{\"code\":-32600") != NULL);
    flood("{\"jsonrpc\":\"2.0\",\"id\":7,\"x\":[0", ",0", 10000,
          "],\"method\":\"ping\"}");
    CHECK(strcmp(said(), PONG "\n") == 0);
    flood("{\"jsonrpc\":\"2.0\",\"id\":7,\"x\":", "[", 40,
          "],\"method\":\"ping\"}");
    CHECK(strcmp(said(),
                 ERROR("7", "-32600", "this is nested too deeply") "\n") == 0);
    flood("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":{\"x\":", "[",
          300, "]}}");
    CHECK(strcmp(said(), ERROR("null", "-32600",
                               "this is nested too deeply") "\n") == 0);
    flood("{\"jsonrpc\":\"2.0\",\"id\":7", ",\"x\":\"\\u0041\"", 10000,
          ",\"method\":\"ping\"}");
    CHECK(strcmp(said(), PONG "\n") == 0);
    flood("", "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n", 10000, "");
    CHECK(got_len == 0);
    flood("", "\n", 10000, PING);
    CHECK(strcmp(said(), PONG "\n") == 0);
    flood("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{"
          "\"name\":\"relay\",\"arguments\":{\"on\":true,\"channels\":[1",
          ",1", 70000, "]}}}");
    CHECK(runs == 0 && strstr(said(), "isError") != NULL);
}

/* ---- whatever comes ---- */

TCALL_OPEN_EMPTY_SHAPE(anything)

/* Whatever is sent are lines, each one JSON object. */
static bool sent_lines(void)
{
    struct anything none;
    tcall_decoder decoder;
    const char *at = said(), *end;
    for (; *at; at = end + 1) {
        end = strchr(at, '\n');
        if (!end)
            return false;
        tcall_decoder_init(&decoder, &anything_shape, &none);
        tcall_decoder_feed(&decoder, at, (size_t)(end - at));
        if (tcall_decoder_end(&decoder) != TCALL_OK ||
            strncmp(at, "{\"jsonrpc\":\"2.0\",\"id\":", 22) != 0)
            return false;
    }
    return true;
}

/* Feeds it in pieces. Returns whether each line got one answer at most, and
 * the next line, as every answer is one line of JSON, its own. */
static bool holds(const char *text, size_t len)
{
    size_t done = 0, step = 0;
    int answers = 0;
    const char *at;
    clear();
    for (; done < len; step++) {
        size_t piece = 1 + (step * 7 + (unsigned char)text[done]) % 40;
        piece = piece > len - done ? len - done : piece;
        tcall_mcp_feed(&server, text + done, piece);
        done += piece;
    }
    feed("\n");
    for (at = said(); *at; at++)
        answers += *at == '\n';
    for (at = text; at < text + len; at++)
        answers -= *at == '\n';
    return answers <= 1 && sent_lines() && strcmp(ask(PING), PONG) == 0;
}

static void test_whatever(void)
{
    size_t i, len;
    for (i = 0; i < TCALL_ARRAY_LEN(calls); i++)
        for (len = strlen(calls[i]); len; len--)
            CHECK(holds(calls[i], len));
}

FUZZ(calls, board_start(sink), holds)

/* ---- rows by hand, permissions, and others that make the calls ---- */

static bool allowed;

static bool approve(void *user, const tcall_tool *tool, const void *args)
{
    (void)user;
    CHECK(strcmp(tool->name, "led") == 0);
    CHECK(((const struct led *)args)->on);
    return allowed;
}

static int fail(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)args;
    if (cx->user)
        tcall_write_text(out, (const char *)cx->user);
    return TCALL_E_FAILED;
}

static char reason[] = "the wire is\n\"cut\"";
static const char text_schema[] = "{\"type\":\n  \"object\"}";
static tcall_tool rows[] = {
    TCALL_TOOL_("led", "L\"ED", &led_shape, led_run, TCALL_ACTUATE, true),
    TCALL_TOOL_("fail", "fails", &led_shape, fail, TCALL_READ, false),
    TCALL_TOOL_("why", "says why", &led_shape, fail, TCALL_READ, false),
    TCALL_TOOL_("run", "is not allowed", &led_shape, led_run, TCALL_EXECUTE,
                false),
    /* what declares nothing may do everything */
    TCALL_TOOL_("any", "is not allowed", &led_shape, led_run, 0, false)};

static tcall_mcp_desc hand_desc(void)
{
    static union board_room room;
    tcall_mcp_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "hand";
    desc.version = "2\"";
    desc.tools = rows;
    desc.tool_count = TCALL_ARRAY_LEN(rows);
    desc.allow = TCALL_READ | TCALL_ACTUATE;
    desc.room = &room;
    desc.room_size = sizeof room;
    desc.sink = sink;
    rows[2].user = reason;
    rows[2].title = "Why?";
    return desc;
}

static void test_permissions(void)
{
    tcall_mcp_desc desc = hand_desc();
    CHECK(tcall_mcp_init(&server, &desc) == TCALL_OK);
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
              "\"description\":\"L\\\"ED\"") &&
          strstr(got, "\"title\":\"Why?\"") && !strstr(got, "not allowed"));
    CHECK(has(CALL("1", "run", "{\"on\":true}"),
              "this tool is not allowed here\"}],\"isError\":true}}") &&
          runs == 0);
    CHECK(has(CALL("1", "any", "{\"on\":true}"),
              "this tool is not allowed here\"}],\"isError\":true}}") &&
          runs == 0);
    CHECK(has(CALL("1", "led", "{\"on\":true}"),
              "nobody can be asked here\"}],\"isError\":true}}") &&
          runs == 0);
    desc.approve = approve;
    CHECK(tcall_mcp_init(&server, &desc) == TCALL_OK);
    CHECK(has(CALL("1", "led", "{\"on\":true}"),
              "and did not\"}],\"isError\":true}}") &&
          runs == 0);
    allowed = true;
    CHECK(has(CALL("1", "led", "{\"on\":true}"), "LED is on") && runs == 1);
    CHECK(is(CALL("1", "fail", "{\"on\":true}"),
             RESULT("1") TEXT("the tool failed") ",\"isError\":true}}"));
    CHECK(is(CALL("1", "why", "{\"on\":true}"),
             RESULT("1")
                 TEXT("the wire is\\n\\\"cut\\\"") ",\"isError\":true}}"));
}

/* ---- the context of a tool ---- */

/* X(NAME, expression): each function that takes a context, and what is true of
 * its answer where there is no registry: it works, or says TCALL_E_USAGE, or
 * gives what its contract gives where there is nothing. */
#define CONTEXT_FUNCTIONS(X)                                                  \
    X(tcall_emit, (tcall_emit(cx, text), true))                               \
    X(tcall_progress, (tcall_progress(cx, text), true))                       \
    X(tcall_set_result,                                                       \
      tcall_set_result(cx, text, tcall_str_of("{}")) == TCALL_E_USAGE &&      \
          tcall_set_result(cx, nothing, tcall_str_of("{}")) == TCALL_E_USAGE) \
    X(tcall_is_granted, !tcall_is_granted(cx, TCALL_READ))                    \
    X(tcall_require_service, !tcall_require_service(cx, "clock"))             \
    X(tcall_bind_service,                                                     \
      tcall_bind_service(cx, &service, TCALL_SCOPE_CALL) == TCALL_E_USAGE &&  \
          tcall_bind_service(cx, &service, TCALL_SCOPE_SESSION) ==            \
              TCALL_E_USAGE)                                                  \
    X(tcall_scratch, !tcall_scratch(cx, "x", 16))                             \
    X(tcall_deadline, (tcall_deadline(cx, 1), true))                          \
    X(tcall_time_left, tcall_time_left(cx) == INT32_MAX)                      \
    X(tcall_abort,                                                            \
      tcall_abort(cx, "it is stuck", "stuck", 500) == TCALL_E_ABORTED)        \
    X(tcall_retry_after,                                                      \
      tcall_retry_after(cx, 10, "it is busy") == TCALL_E_RATE)                \
    X(tcall_respond, tcall_respond(cx, text) == TCALL_E_USAGE)                \
    X(tcall_set_input,                                                        \
      tcall_set_input(cx, tcall_str_of("{\"on\":true}")) == TCALL_E_USAGE)    \
    X(tcall_set_output, tcall_set_output(cx, text) == TCALL_E_USAGE)          \
    X(tcall_output, tcall_output(cx).len == 0)                                \
    X(tcall_concerns, (tcall_concerns(cx, text), true))                       \
    X(tcall_approval, tcall_approval(cx) == TCALL_E_USAGE)                    \
    X(tcall_next, tcall_next(cx) == TCALL_E_USAGE)

enum {
#define X(NAME, expression) INDEX_##NAME,
    CONTEXT_FUNCTIONS(X)
#undef X
};

static const char *const context_names[] = {
#define X(NAME, expression) #NAME,
    CONTEXT_FUNCTIONS(X)
#undef X
};
static size_t asked;       /* the one that the tool calls */
static bool answered_well; /* what came of it */
static int context_ends;   /* the answer of the tool */

static int context_run(tcall_ctx *cx, tcall_json none, tcall_writer *out)
{
    static tcall_service service = {"clock", &service, NULL};
    tcall_str text = tcall_str_of("some text"), nothing = tcall_str_of("");
    const bool results[] = {
#define X(NAME, expression) asked != INDEX_##NAME || (expression),
        CONTEXT_FUNCTIONS(X)
#undef X
    };
    (void)none;
    answered_well = results[asked];
    tcall_cancel(cx->call, TCALL_E_CANCELLED);
    if (context_ends < 0)
        return context_ends;
    return tcall_write_text(out, "done");
}

/* Counts the functions of the header that take a context, and returns whether
 * the list above has this one. Hooks of the library itself end in _. */
#ifndef WIRE_FILES /* on firmware there are no files */
static bool is_listed(const char *declared)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(context_names); i++)
        if (strncmp(declared, context_names[i], strlen(context_names[i])) ==
                0 &&
            declared[strlen(context_names[i])] == '(')
            return true;
    printf("no test of %.40s\n", declared);
    return false;
}

static void test_context_list(void)
{
    static char header[2 << 20];
    FILE *file = fopen("toolcall.h", "rb");
    size_t len = file ? fread(header, 1, sizeof header - 1, file) : 0,
           found = 0;
    const char *at;
    CHECK(len > 100000);
    CHECK(strstr(header, "#define TOOLCALL_MCP_ID 386\n")); /* as here */
    if (file)
        fclose(file);
    for (at = header; (at = strstr(at, "\nTCALL_API ")) != NULL; at++) {
        const char *open = strchr(at, '('), *name = open;
        if (!open || (strncmp(open, "(tcall_ctx *", 12) != 0 &&
                      strncmp(open, "(const tcall_ctx *", 18) != 0))
            continue;
        while (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z'))
            name--;
        if (open[-1] != '_') {
            found++;
            CHECK(is_listed(name));
        }
    }
    CHECK(found == TCALL_ARRAY_LEN(context_names));
}
#endif

static void test_context(void)
{
    static const tcall_tool tools[] = {{.name = "led",
                                        .description = "d",
                                        .parameters = TCALL_STRUCT(led),
                                        .run = context_run,
                                        .permissions = TCALL_READ}};
    tcall_mcp_desc desc = hand_desc();
    desc.tools = tools;
    desc.tool_count = 1;
    CHECK(tcall_mcp_init(&server, &desc) == TCALL_OK);
    for (asked = 0; asked < TCALL_ARRAY_LEN(context_names); asked++) {
        bool required = asked == INDEX_tcall_require_service;
        answered_well = false;
        context_ends = 0;
        ask(CALL("1", "led", "{\"on\":true}"));
        CHECK(answered_well);
        if (!answered_well)
            printf("%s gave %s\n", context_names[asked], got);
        /* a service that is required and missing fails the call */
        CHECK((strstr(got, "\"isError\":true") != NULL) == required);
        CHECK(is(PING, PONG));
    }
    asked = INDEX_tcall_abort;
    context_ends = TCALL_E_ABORTED;
    CHECK(is(CALL("1", "led", "{\"on\":true}"),
             RESULT("1") TEXT("it is stuck") ",\"isError\":true}}"));
    asked = INDEX_tcall_retry_after;
    context_ends = TCALL_E_RATE;
    CHECK(is(CALL("1", "led", "{\"on\":true}"),
             RESULT("1") TEXT("it is busy") ",\"isError\":true}}"));
    asked = INDEX_tcall_emit;
    context_ends = TCALL_E_FAILED;
    CHECK(is(CALL("1", "led", "{\"on\":true}"),
             RESULT("1") TEXT("the tool failed") ",\"isError\":true}}"));
#ifndef WIRE_FILES
    test_context_list();
#endif
}

static void test_other_ways(void)
{
    tcall_mcp_desc desc = hand_desc();
    desc.room_size = sizeof(struct led) - 1;
    CHECK(tcall_mcp_init(&server, &desc) == TCALL_E_MEMORY);
    {
        tcall_mcp_desc less = desc;
        less.sink = NULL;
        CHECK(tcall_mcp_init(&server, &less) == TCALL_E_USAGE);
        less.sink = desc.sink;
        less.name = NULL;
        CHECK(tcall_mcp_init(&server, &less) == TCALL_E_USAGE);
    }
    desc = hand_desc();
    rows[1].parameters = tcall_schema_text_of(text_schema);
    CHECK(tcall_mcp_init(&server, &desc) == TCALL_E_TOOL);
    rows[1].parameters = (tcall_schema_text)TCALL_STRUCT(led);
    desc.room_size = sizeof(struct led);
    CHECK(tcall_mcp_init(&server, &desc) == TCALL_OK);
    rows[1].name = "a_name_too_long_for_this_board";
    CHECK(tcall_mcp_init(&server, &desc) == TCALL_E_TOOL);
}

/* ---- the tools of a registry ---- */

static uint32_t clock_ms;
static int waits, hooked;

static uint32_t clock_now(void *user)
{
    (void)user;
    return clock_ms;
}

static void clock_wait(void *user, const tcall_wait *wait)
{
    (void)user;
    waits++;
    clock_ms += wait->ms;
}

/* Works in three steps, which it counts in its scratch memory. */
static int slow_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    int *steps = (int *)tcall_scratch(cx, "steps", sizeof *steps);
    CHECK(cx->call && cx->tc && steps);
    if (!steps)
        return TCALL_E_MEMORY;
    if (!*steps)
        tcall_deadline(cx, 2000);
    CHECK(tcall_time_left(cx) == 2000 - 100 * *steps);
    CHECK(tcall_is_granted(cx, TCALL_READ));
    tcall_progress(cx, tcall_str_of(*steps ? "\"on\"" : "begins"));
    if (++*steps < 3)
        return tcall_wait_ms(&cx->wait, 100);
    tcall_write_text(out, "n is ");
    tcall_write_int(out, tcall_json_int(tcall_json_get(args, "n"), -1));
    return TCALL_OK;
}

static int stuck_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)args, (void)out;
    return cx->stop < 0 ? cx->stop : TCALL_E_AGAIN;
}

static int hook_run(tcall_ctx *cx, void *user)
{
    (void)cx, (void)user;
    hooked++;
    return TCALL_OK;
}

#define SLOW(id, meta)                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\"," \
    "\"params\":{\"name\":\"slow\",\"arguments\":{\"n\":7}" meta "}}"
#define TOLD(token, count, text)                                      \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","     \
    "\"params\":{\"progressToken\":" token ",\"progress\":" count "," \
    "\"message\":\"" text "\"}}\n"

static void test_registry(void)
{
    static const tcall_hook hooks[] = {
        {"count", TCALL_WILL_EXECUTE, 0, hook_run, NULL, NULL}};
    static char memory[8192];
    static tcall_tool tools[4];
    static tcall tc;
    tcall_desc desc;
    tcall_mcp_desc mcp = hand_desc();
    size_t i;
    memset(&desc, 0, sizeof desc);
    memset(tools, 0, sizeof tools);
    for (i = 0; i < TCALL_ARRAY_LEN(tools); i++) {
        tools[i].run = i == 1 ? stuck_run : slow_run;
        tools[i].permissions = TCALL_READ;
        tools[i].description = "Works.";
        tools[i].parameters = tcall_schema_text_of(
            "{\"type\":\"object\",\n\"properties\":{\"n\":{\"type\":"
            "\"integer\",\"maximum\":9}},\"title\":\"\xC3\xBC\"}");
    }
    tools[0].name = "slow";
    tools[1].name = "stuck";
    tools[2].name = "hidden";
    tools[2].roles = 2;
    tools[3].name = "asks";
    tools[3].confirm = true;
    desc.block = memory;
    desc.block_size = sizeof memory;
    desc.tools = tools;
    desc.tool_count = TCALL_ARRAY_LEN(tools);
    desc.allow = TCALL_READ;
    desc.now_ms = clock_now;
    desc.wait = clock_wait;
    desc.max_wait_ms = 3000;
    desc.hooks = hooks;
    desc.hook_count = 1;
    desc.stages = &tcall_stages;
    CHECK(tcall_mcp_serve(&server, &mcp) == TCALL_E_USAGE);
    CHECK(has(CALL("1", "led", "{\"on\":true}"), "there is no such tool"));
    mcp.tc = &tc;
    CHECK(tcall_mcp_serve(&server, &mcp) == TCALL_E_USAGE);
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    CHECK(tcall_mcp_serve(&server, &mcp) == TCALL_OK);
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
              "\"name\":\"slow\",\"description\":\"Works.\",\"inputSchema\":"
              "{\"type\":\"object\", \"properties\""));
    CHECK(strstr(got, ",\"title\":\"\xC3\xBC\"}"));
    CHECK(strstr(got, "stuck") && strstr(got, "asks") &&
          !strstr(got, "hidden"));
    /* the whole context, waits, hooks; nobody asked for progress */
    CHECK(is(SLOW("1", ""), RESULT("1") TEXT("n is 7") "}}"));
    CHECK(waits == 2 && hooked == 1 && tc.block.high == 0);
    /* progress comes in lines before the answer, in the client's words */
    CHECK(is(SLOW("2", ",\"_meta\":{\"progressToken\":\"a\\u0062\"}"),
             TOLD("\"a\\u0062\"", "1", "begins")
                 TOLD("\"a\\u0062\"", "2", "\\\"on\\\"")
                     TOLD("\"a\\u0062\"", "3", "\\\"on\\\"") RESULT("2")
                         TEXT("n is 7") "}}"));
    CHECK(has(SLOW("3", ",\"_meta\":{\"progressToken\":17}"),
              TOLD("17", "3", "\\\"on\\\"")));
    CHECK(!tc.listeners);
    /* failures are those of the registry, for the model to read */
    CHECK(has(CALL("4", "slow", "{\"n\":10}"), "/n: 10 is over the maximum 9"));
    CHECK(strstr(got, "\"isError\":true") && hooked == 3);
    CHECK(has(CALL("5", "slow", "{\"m\":1"), "-32700"));
    CHECK(has(CALL("5", "hidden", "{}"), "is not for this user: roles"));
    CHECK(has(CALL("5", "asks", "{}"), "permission was denied"));
    CHECK(has(CALL("5", "nobody", "{}"), "there is no such tool"));
    CHECK(hooked == 3 && is(PING, PONG));
    /* one that never answers ends, and so does what it waits for */
    CHECK(has(CALL("6", "stuck", "{}"), "it took longer than allowed"));
    CHECK(tc.block.high == 0 && clock_ms < 10000);
    /* arguments may come first, or not at all */
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
              "\"params\":{\"arguments\":{\"n\":5},\"name\":\"slow\"}}",
              "n is 5"));
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
              "\"params\":{\"name\":\"slow\"}}",
              "n is -1"));
    {
        static char text[TOOLCALL_MCP_STASH + 1], line[sizeof text + 200];
        memset(text, 'x', sizeof text - 1);
        snprintf(line, sizeof line, CALL("1", "slow", "{\"a\":\"%s\"}"), text);
        CHECK(has(line, "/params/arguments: there is no room for all of this"));
    }
    /* a block that is too small says so, whatever its size, and runs nothing */
    for (i = 0; i < 3000; i += 8) {
        tc.block.size = tc.block.low + i;
        hooked = 0;
        ask(CALL("7", "slow", "{\"n\":3}"));
        CHECK(got_len &&
              (strstr(got, "n is 3") || strstr(got, "\"isError\":true")));
        CHECK(tc.block.high == 0 && !tc.listeners);
    }
    CHECK(strstr(got, "n is 3"));
    tc.block.size = sizeof memory;
}

/* A batch has one answer, whatever is in it, and runs nothing; the line after
 * it is answered as ever. */
static void test_batches(void)
{
    static const char *const batches[] = {
        "[" PING "]",
        " [ " PING " , " PING " ]",
        "[" CALL("1", "led", "{\"on\":true}") "]",
        "[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}]",
        "[" PING ",[{\"id\":1}],1,null,\"x\"]",
        "[]"};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(batches); i++) {
        CHECK(is(batches[i], ERROR("null", "-32600",
                                   "this is of another type; send an object")));
        CHECK(runs == 0);
        CHECK(is(PING, PONG));
    }
    CHECK(is("[" PING, NOT_JSON));
    CHECK(is(PING, PONG));
}

/* A name that C does not allow. */
#define NAMED(TOOL, me)                                                   \
    TOOL(me, led, "switch-led", TCALL_ACTUATE, false, "Switches the LED") \
    TOOL(me, thermometer, "get.temperature", TCALL_READ, false, "Reads it")
TCALL_TOOLS_AS(named, NAMED)

static void test_names(void)
{
    static union named_room room;
    tcall_mcp_desc desc = hand_desc();
    desc.allow = TCALL_READ | TCALL_ACTUATE;
    desc.tools = named_tools;
    desc.tool_count = TCALL_ARRAY_LEN(named_tools);
    desc.room = &room;
    desc.room_size = sizeof room;
    CHECK(tcall_mcp_init(&server, &desc) == TCALL_OK);
    CHECK(has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
              "{\"name\":\"switch-led\",\"description\":\"Switches the LED\""));
    CHECK(has(CALL("1", "switch-led", "{\"on\":true}"), "LED is on"));
    CHECK(has(CALL("1", "get.temperature", "{}"), "21.5 celsius"));
    CHECK(has(CALL("1", "led", "{\"on\":true}"), "there is no such tool"));
}

static void test_sink(void)
{
    CHECK(tcall_mcp_feed(&server, PING "\n", sizeof PING) == TCALL_OK);
    sink_error = TCALL_E_CLOSED;
    CHECK(tcall_mcp_feed(&server, PING "\n", sizeof PING) == TCALL_E_CLOSED);
    sink_error = 0;
    CHECK(is(PING, PONG));
}

int main(void)
{
    CHECK(board_start(sink) == TCALL_OK);
    test_legacy();
    test_modern();
    test_calls();
    test_ids();
    test_long_ids();
    test_frames();
    test_pieces();
    test_lines();
    test_order();
    test_stash();
    test_duplicates();
    test_cuts();
    test_losses();
    test_floods();
    test_batches();
    test_sink();
    test_whatever();
    test_permissions();
    test_context();
    test_other_ways();
    test_registry();
    test_names();
    return check_sum("test_mcp");
}
