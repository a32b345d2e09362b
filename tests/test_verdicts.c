/* Two thousand calls, of which most have slips: strings for numbers, null for
 * what is absent, Python's quotes and words, keys twice, escapes. Each comes by
 * tcall_execute, in the answers of two providers, whole and by the byte, and,
 * where it is JSON, as a line of MCP, whole and by the byte: the verdict, the
 * arguments that the tool sees, and what is told of them must be the same.
 * Needs: AGENT, SENTENCES. */
#include "toolcall.h"

#include "check.h"

enum { CALLS = 2000 / CHECK_EVERY, ROUTES = 9 };

static const char parameters[] = TCALL_TEXT({
    "type" : "object",
    "properties" : {
        "room" : {"type" : "string", "maxLength" : 7},
        "level" : {"type" : "integer", "minimum" : 0, "maximum" : 100},
        "on" : {"type" : "boolean"},
        "tags" : {"type" : "array", "items" : {"type" : [ "integer", "null" ]}},
        "at" : {"anyOf" : [ {"type" : "number"}, {"const" : "now"} ]}
    },
    "required" : ["room"],
    "additionalProperties" : false
});
static const char *const keys[] = {"room", "level", "on",  "tags",
                                   "at",   "zz",    "room"};
static const char *const values[] = {"5",
                                     "\"5\"",
                                     "5.0",
                                     "1e2",
                                     "-1",
                                     "101",
                                     "\"kitchen\"",
                                     "'kitchen'",
                                     "\"k\\u00e9\\n\"",
                                     "\"\\ud83d\\ude00\"",
                                     "\"\\ud83d\"",
                                     "\"\\u0000\"",
                                     "null",
                                     "None",
                                     "true",
                                     "True",
                                     "\"True\"",
                                     "\"false\"",
                                     "[1,null]",
                                     "[1,\"2\"]",
                                     "\"[1,2]\"",
                                     "[1,]",
                                     "\"now\"",
                                     "0.5",
                                     "\"0.5\"",
                                     "1e999",
                                     "{}",
                                     "01"};

static uint32_t chance(uint32_t below)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % below;
}

/* Makes the text of arguments; it stays short enough for a board. JSON has no
 * white space: it would be the envelope's, where that has the value itself. */
static void make(char *text)
{
    uint32_t members = chance(4), i;
    char quote = chance(8) ? '"' : '\'';
    size_t len = (size_t)sprintf(text, quote == '"' ? "{" : " { ");
    for (i = 0; i <= members; i++) {
        const char *key = keys[i ? chance(7) : 0];
        const char *value = i || chance(2) ? values[chance(28)] : "\"hall\"";
        len += (size_t)sprintf(text + len, "%s%c%s%c:%s", i ? "," : "", quote,
                               key, quote, value);
    }
    strcpy(text + len, chance(40) ? "}" : ",}");
}

/* ---- what came of a call ---- */

typedef struct outcome {
    int error;       /* 1: some; MCP does not say which */
    char seen[400];  /* the arguments of the tool; "": it did not run */
    char said[2000]; /* the result */
} outcome;

static outcome *now;

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    tcall_writer seen;
    (void)cx;
    tcall_writer_init(&seen, now->seen, sizeof now->seen);
    tcall_write_json(&seen, args);
    return tcall_write_json(out, args);
}

static void keep(outcome *o, int error, tcall_str said)
{
    o->error = error;
    CHECK(said.len < sizeof o->said);
    memcpy(o->said, said.ptr, said.len);
    o->said[said.len] = 0;
}

/* ---- by the registry ---- */

static char block[1 << 15];
static tcall tc;
static tcall_tool tool;

static void begin(void)
{
    tcall_desc desc;
    memset(&desc, 0, sizeof desc);
    tool.name = "light";
    tool.description = "Sets a light.";
    tool.parameters = tcall_schema_text_of(parameters);
    tool.run = run;
    tool.permissions = TCALL_READ;
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = sizeof block;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.allow = TCALL_READ;
    desc.lenient = &tcall_lenient;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
}

static void by_registry(outcome *o, const char *text)
{
    static char room[2000];
    static tcall_call call;
    tcall_writer out;
    tcall_writer_init(&out, room, sizeof room);
    now = o;
    begin();
    o->error = tcall_execute(&tc, tcall_str_of("light"), tcall_str_of(text),
                             &out, &call);
    tcall_release(&tc, &call);
    room[out.fill] = 0;
    keep(o, o->error, tcall_str_of(room));
}

/* ---- by a line of MCP ---- */

static char line[8192];

static int mcp_sink(void *user, const char *bytes, size_t len)
{
    (void)user;
    CHECK(strlen(line) + len < sizeof line);
    strncat(line, bytes, len);
    return (int)len;
}

static void by_mcp(outcome *o, const char *text, size_t piece)
{
    static tcall_mcp mcp;
    tcall_mcp_desc desc;
    tcall_json reply, result;
    char message[1000];
    size_t at, len;
    now = o;
    begin();
    memset(&desc, 0, sizeof desc);
    desc.name = "test";
    desc.tc = &tc;
    desc.sink = mcp_sink;
    line[0] = 0;
    CHECK(tcall_mcp_serve(&mcp, &desc) == TCALL_OK);
    len = (size_t)sprintf(message,
                          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                          "\"tools/call\",\"params\":{\"name\":\"light\","
                          "\"arguments\":%s}}\n",
                          text);
    for (at = 0; at < len; at += piece)
        tcall_mcp_feed(&mcp, message + at, len - at < piece ? len - at : piece);
    CHECK(tcall_json_parse(&reply, line, strlen(line), NULL) == TCALL_OK);
    result = tcall_json_get(reply, "result");
    keep(o, tcall_json_bool(tcall_json_get(result, "isError"), false),
         tcall_json_str(tcall_json_get(
             tcall_json_at(tcall_json_get(result, "content"), 0), "text")));
    if (!result.at)
        keep(o, 1, tcall_json_str(reply));
}

/* ---- in the answer of a model ---- */

static char answer[8192];
static size_t given, most;
static int exchanges;

static int net_open(void *user, const tcall_request *request,
                    tcall_response *response)
{
    (void)user;
    (void)request;
    given = 0;
    response->status = 200;
    return exchanges++ ? TCALL_E_CLOSED : TCALL_OK;
}

static int net_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    (void)bytes;
    return (int)len;
}

static int net_read(void *user, char *bytes, size_t cap)
{
    size_t len = strlen(answer) - given;
    (void)user;
    len = len < cap ? len : cap;
    len = len < most ? len : most;
    memcpy(bytes, answer + given, len);
    given += len;
    return (int)len;
}

static void net_close(void *user)
{
    (void)user;
}

/* The text as the content of a JSON string. */
static const char *quoted(const char *text)
{
    static char room[2000];
    tcall_writer out;
    tcall_writer_init(&out, room, sizeof room);
    tcall_write_str(&out, tcall_str_of(text));
    room[out.fill] = 0;
    return room;
}

static void by_answer(outcome *o, const tcall_provider *provider, size_t piece)
{
    static tcall_agent agent;
    tcall_agent_desc desc;
    tcall_item item;
    size_t at = 0;
    int found = 0;
    now = o;
    begin();
    memset(&desc, 0, sizeof desc);
    desc.tc = &tc;
    desc.provider = provider;
    desc.model = "m";
    desc.stream = answer[0] != '{';
    desc.transport.open = net_open;
    desc.transport.write = net_write;
    desc.transport.read = net_read;
    desc.transport.close = net_close;
    exchanges = 0;
    most = piece;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    tcall_agent_run(&agent, tcall_str_of("go"));
    while (tcall_chat_next(&agent.chat, &at, &item))
        if (item.kind == TCALL_ITEM_RESULT) {
            found++;
            keep(o, item.error ? 1 : 0, item.text);
        }
    CHECK(found == 1);
}

static void by_openai(outcome *o, const char *text, bool stream, size_t piece)
{
    sprintf(answer,
            stream ? "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{"
                     "\"index\":0,\"id\":\"c\",\"type\":\"function\","
                     "\"function\":{\"name\":\"light\",\"arguments\":%s}}]}}]}"
                     "\n\ndata: {\"choices\":[{\"delta\":{},"
                     "\"finish_reason\":\"tool_calls\"}]}\n\n"
                     "data: [DONE]\n\n"
                   : "{\"choices\":[{\"message\":{\"tool_calls\":[{"
                     "\"id\":\"c\",\"type\":\"function\",\"function\":{"
                     "\"name\":\"light\",\"arguments\":%s}}]},"
                     "\"finish_reason\":\"tool_calls\"}]}",
            quoted(text));
    by_answer(o, &tcall_openai, piece);
}

static void by_anthropic(outcome *o, const char *text, size_t piece)
{
    sprintf(answer,
            "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{"
            "\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"light\","
            "\"input\":%s}],\"stop_reason\":\"tool_use\"}",
            text);
    by_answer(o, &tcall_anthropic, piece);
}

/* ---- all of them ---- */

static const char *const routes[ROUTES] = {"registry",
                                           "openai",
                                           "openai by the byte",
                                           "openai, stream",
                                           "openai, stream by the byte",
                                           "anthropic",
                                           "anthropic by the byte",
                                           "MCP",
                                           "MCP by the byte"};

int main(void)
{
    static outcome all[ROUTES];
    static char text[400], copy[401];
    int i, k, ran = 0, coerced = 0, json = 0;
    for (i = 0; i < CALLS; i++) {
        tcall_json value;
        int count;
        do
            make(text);
        while (strlen(text) > 90);
        strcpy(copy, text);
        count =
            tcall_json_parse(&value, copy, strlen(copy), NULL) < 0 ? 5 : ROUTES;
        memset(all, 0, sizeof all);
        by_registry(&all[0], text);
        by_openai(&all[1], text, false, 9999);
        by_openai(&all[2], text, false, 1);
        by_openai(&all[3], text, true, 9999);
        by_openai(&all[4], text, true, 1);
        if (count == ROUTES) {
            by_anthropic(&all[5], text, 9999);
            by_anthropic(&all[6], text, 1);
            by_mcp(&all[7], text, 9999);
            by_mcp(&all[8], text, 1);
        }
        for (k = 1; k < count; k++) {
            bool same = (all[k].error != 0) == (all[0].error != 0) &&
                        strcmp(all[k].seen, all[0].seen) == 0 &&
                        strcmp(all[k].said, all[0].said) == 0;
            if (!same)
                printf("%s: %s\n  %d %s %s\n  %d %s %s\n", routes[k], text,
                       all[0].error, all[0].seen, all[0].said, all[k].error,
                       all[k].seen, all[k].said);
            CHECK(same);
        }
        ran += all[0].seen[0] != 0;
        json += count == ROUTES;
        coerced += all[0].seen[0] && strcmp(all[0].seen, text) != 0;
    }
    /* Too few, where long loops are thinned out much, to be of all kinds. */
    CHECK(CALLS < 100 || (ran > CALLS / 14 && ran < CALLS / 2 &&
                          json > CALLS / 5 && coerced > CALLS / 30));
    printf("test_verdicts: %d ran, %d of them otherwise than they came, "
           "%d were JSON\n",
           ran, coerced, json);
    return check_sum("test_verdicts");
}
