/* Requests: what is sent to each provider and server, also of conversations
 * with another one. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/invoke.c"
#include "../src/servers.c"
#endif
#include "check.h"
#include "wire.h"

static tcall_chat chat;

static void add(int kind, const char *id, const char *name, const char *text)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.kind = (uint8_t)kind;
    item.id = tcall_str_of(id);
    item.name = tcall_str_of(name);
    item.text = tcall_str_of(text);
    item.error = *text == '?' ? TCALL_E_FAILED : TCALL_OK;
    CHECK(tcall_chat_add(&chat, &item) == TCALL_OK);
}

static void test_write(void)
{
    static char memory[2048];
    tcall_tool tools[3];
    tcall_block block;
    tcall_chat_request ask;
    tcall_provider forced;
    const char *p;
    memset(tools, 0, sizeof tools);
    memset(&ask, 0, sizeof ask);
    tools[0].name = "f";
    tools[0].description = "does \"f\"";
    tools[0].permissions = TCALL_READ;
    tools[0].parameters = tcall_schema_text_of(TCALL_TEXT({
        "type" : "object",
        "required" : ["a"],
        "properties" : {
            "a" : {"type" : "string", "minLength" : 2, "format" : "date"},
            "b" : {"oneOf" : [ {"const" : 1}, {"$ref" : "#/$defs/c"} ]}
        },
        "$defs" : {"c" : {"type" : "array", "items" : {"type" : "integer"}}}
    }));
    tools[1].name = "g";
    tools[1].permissions = TCALL_READ;
    tools[1].parameters = tcall_schema_text_of(
        TCALL_TEXT({"properties" : {"m" : {"type" : "object"}}}));
    tools[2].name = "secret";
    tools[2].permissions = TCALL_EXECUTE;
    tcall_block_init(&block, memory, sizeof memory);
    tcall_chat_init(&chat, &block);
    ask.model = "m";
    ask.system = "be \"brief\"";
    ask.chat = &chat;
    ask.tools = tools;
    ask.tool_count = 3;
    ask.allow = TCALL_READ;
    add(TCALL_ITEM_USER, "", "", "hi");
    add(TCALL_ITEM_RESULT, "0", "f", "belongs to no call");
    add(TCALL_ITEM_TEXT, "", "", "well");
    add(TCALL_ITEM_CALL, "1", "f", "{'a':1}");
    add(TCALL_ITEM_CALL, "2", "g", "{\"m\": {}}");
    add(TCALL_ITEM_CALL, "3", "g", "");
    add(TCALL_ITEM_RESULT, "2", "g", "?broke");
    add(TCALL_ITEM_RESULT, "1", "f", "{\"r\":1}");
    add(TCALL_ITEM_USER, "", "", "more");

    p = write_body(&tcall_openai, &ask);
    CHECK(has(p, "{\"model\":\"m\",\"messages\":[{\"role\":\"system\","
                 "\"content\":\"be \\\"brief\\\"\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":"
                 "\"well\",\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\","
                 "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}"));
    CHECK(has(p, "{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":"
                 "\"{\\\"r\\\":1}\"},{\"role\":\"tool\",\"tool_call_id\":"
                 "\"2\",\"content\":\"Error: ?broke\"},{\"role\":\"tool\","
                 "\"tool_call_id\":\"3\",\"content\":\"Error: "));
    CHECK(has(p, tools[0].parameters.text)); /* to the byte */
    CHECK(has(p, "{\"type\":\"object\",\"properties\""));
    CHECK(!strstr(p, "secret") && !strstr(p, "strict") &&
          !strstr(p, "belongs"));
    tools[0].provider_schema =
        tcall_schema_text_of("{ \"type\":\"object\"}"); /* in its place */
    p = write_body(&tcall_openai, &ask);
    CHECK(has(p, "\"parameters\":{ \"type\":\"object\"}"));
    CHECK(!strstr(p, "minLength"));
    tools[0].provider_schema = tcall_schema_text_of(NULL);
    tools[0].strict = tools[1].strict = true; /* g cannot be: any members */
    ask.stream = true;
    ask.no_parallel = true;
    ask.choice = TCALL_CHOICE_ONE;
    ask.choice_name = "f";
    ask.max_tokens = 5;
    p = write_body(&tcall_openai, &ask);
    CHECK(has(p, "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
                 "\"string\",\"format\":\"date\"},\"b\":{\"anyOf\":[{\"anyOf\":"
                 "[{\"const\":1},{\"$ref\":\"#/$defs/c\"}]},{\"type\":\"null\"}"
                 "]}},\"$defs\":{\"c\":{\"type\":\"array\",\"items\":{\"type\":"
                 "\"integer\"}}},\"additionalProperties\":false,\"required\":"
                 "[\"a\",\"b\"]},\"strict\":true}}"));
    CHECK(has(p, "\"tool_choice\":{\"type\":\"function\","
                 "\"function\":{\"name\":\"f\"}},"
                 "\"parallel_tool_calls\":false,\"max_completion_tokens\":5,"
                 "\"stream_options\":"));

    p = write_body(&tcall_anthropic, &ask);
    CHECK(has(p, "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
                 "\"text\":\"well\"},{\"type\":\"tool_use\",\"id\":\"1\","
                 "\"name\":\"f\",\"input\":{}},{\"type\":\"tool_use\",\"id\":"
                 "\"2\",\"name\":\"g\",\"input\":{\"m\": {}}}"));
    CHECK(has(p, "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                 "\"tool_use_id\":\"1\",\"content\":\"{\\\"r\\\":1}\"},"
                 "{\"type\":\"tool_result\",\"tool_use_id\":\"2\",\"content\":"
                 "\"?broke\",\"is_error\":true}"));
    CHECK(
        has(p, "\"is_error\":true},{\"type\":\"text\",\"text\":\"more\"}]}]"));
    CHECK(has(p, "\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":"
                 "\"string\",\"format\":\"date\"},\"b\":{\"anyOf\":"));
    CHECK(has(p, "\"max_tokens\":5,\"system\":\"be "));
    /* No force, but that tool alone; older models can be forced. */
    CHECK(has(p, "\"tool_choice\":{\"type\":\"auto\","
                 "\"disable_parallel_tool_use\":true}"));
    CHECK(!strstr(p, "\"name\":\"g\",\"desc"));
    forced = tcall_anthropic;
    forced.quirks &= (uint16_t)~TCALL_QUIRK_NO_FORCE;
    p = write_body(&forced, &ask);
    CHECK(has(p, "\"tool_choice\":{\"type\":\"tool\",\"name\":\"f\","
                 "\"disable_parallel_tool_use\":true}"));
    CHECK(has(p, "\"name\":\"g\",\"desc"));

    p = write_body(&tcall_ollama, &ask);
    CHECK(has(p, "\"function\":{\"name\":\"g\",\"arguments\":{\"m\": {}}}"));
    CHECK(has(p, "{\"role\":\"tool\",\"tool_name\":\"f\",\"tool_call_id\":"
                 "\"1\",\"content\":"));
    CHECK(has(p, "{\"enum\":[1]}"));
    CHECK(!strstr(p, "minLength") && !strstr(p, "\"name\":\"g\",\"desc"));
    ask.choice = TCALL_CHOICE_NONE;
    CHECK(has(write_body(&tcall_ollama, &ask), "\"tools\""));
    CHECK(has(write_body(&tcall_openai, &ask), "\"tool_choice\":\"none\""));
    CHECK(has(write_body(&tcall_anthropic, &ask), "{\"type\":\"none\"}"));
    /* A member that may be any object cannot be strict, wherever it is. */
    tools[1].parameters = tcall_schema_text_of(TCALL_TEXT(
        {"type" : "object", "properties" : {"m" : {"type" : "object"}}}));
    p = strstr(write_body(&tcall_openai, &ask), "\"name\":\"g\",\"desc");
    CHECK(p && !strstr(p, "\"strict\":true"));
    /* Strict leaves out what the provider's document refuses, no more. */
    ask.choice = TCALL_CHOICE_AUTO;
    tools[1].parameters = tcall_schema_text_of(TCALL_TEXT({
        "type" : "object",
        "required" : ["l"],
        "properties" : {
            "l" : {
                "type" : "array",
                "minItems" : 1,
                "maxItems" : 9,
                "items" : {"type" : "string", "format" : "uri"}
            },
            "m" : {
                "type" : "array",
                "minItems" : 2,
                "items" : {"type" : "string", "format" : "idn-email"}
            }
        }
    }));
    CHECK(has(write_body(&tcall_anthropic, &ask),
              "{\"l\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":"
              "\"string\",\"format\":\"uri\"}},\"m\":{\"type\":\"array\","
              "\"items\":{\"type\":\"string\"}}}"));
    p = write_body(&tcall_openai, &ask);
    CHECK(has(p, "\"strict\":true") && !strstr(p, "uri"));
    CHECK(has(p, "\"minItems\":1,\"maxItems\":9,\"items\":"));
    CHECK(has(p, "\"minItems\":2,\"items\":{\"type\":\"string\"}"));
    tools[1].parameters = tcall_schema_text_of(TCALL_TEXT({
        "type" : "object",
        "required" : [ "n", "s" ],
        "properties" : {
            "n" : {
                "type" : "number",
                "minimum" : -1.5,
                "exclusiveMaximum" : 3,
                "multipleOf" : 0.5
            },
            "s" : {
                "type" : "string",
                "minLength" : 1,
                "maxLength" : 9,
                "pattern" : "^(?:a|b)$"
            }
        }
    }));
    p = write_body(&tcall_openai, &ask);
    CHECK(has(p, "{\"n\":{\"type\":\"number\",\"minimum\":-1.5,"
                 "\"exclusiveMaximum\":3,\"multipleOf\":0.5},\"s\":{"
                 "\"type\":\"string\",\"pattern\":\"^(?:a|b)$\"}}"));
    CHECK(has(write_body(&tcall_anthropic, &ask),
              "{\"n\":{\"type\":\"number\"},\"s\":{\"type\":\"string\"}}"));
    tools[1].parameters = tcall_schema_text_of(TCALL_TEXT({
        "type" : "object",
        "properties" : {"s" : {"type" : "string", "pattern" : "^(?=a)b"}}
    }));
    CHECK(!strstr(write_body(&tcall_openai, &ask), "pattern"));
    ask.allow = 0;
    ask.choice = TCALL_CHOICE_REQUIRED;
    CHECK(!strstr(write_body(&tcall_openai, &ask), "tool_choice"));
}

/* What each server gets to see when one tool must be called, any must, and
 * none may: the choice, the number of tools and what else it wants. */
static const struct {
    const char *name, *url, *header, *one, *required, *none, *has, *lacks;
} servers[] = {
    {"groq", "https://api.groq.com", "Authorization", "{\"type", "\"required\"",
     "\"none\"", "\"strict\":true", "\"max_tokens"},
    {"mistral", "https://api.mistral.ai", "Authorization", "{\"type", "\"any\"",
     "\"none\"", "\"max_tokens\":5", "stream_options"},
    {"deepseek", "https://api.deepseek.com", "Authorization", "{\"type",
     "\"required\"", "\"none\"", "\"max_tokens\":5", "parallel"},
    {"openrouter", "https://openrouter.ai", "Authorization", "{\"type",
     "\"required\"", "\"none\"", "\"strict\":true", "max_completion"},
    {"xai", "https://api.x.ai", "Authorization", "{\"type", "\"required\"",
     "\"none\"", "\"include\":[\"reasoning.encrypted_content\"]", "\"messages"},
    {"perplexity", "https://api.perplexity.ai", "Authorization", "{\"type",
     "\"required\"", "\"none\"", "\"input\":[", "\"strict\":true"},
    {"together", "https://api.together.xyz", "Authorization", "{\"type",
     "\"required\"", "\"none\"", "\"max_tokens\":5", "strict"},
    {"fireworks", "https://api.fireworks.ai", "Authorization", "{\"type",
     "\"required\"", "\"none\"", "\"max_tokens\":5", "strict"},
    {"cerebras", "https://api.cerebras.ai", "Authorization", "{\"type",
     "\"required\"", "\"none\"", "\"max_completion_tokens\":5", "parallel"},
    {"github", "https://models.github.ai", "Authorization", "{\"type",
     "\"required\"", "\"none\"", "\"max_tokens\":5", "strict"},
    {"cohere", "https://api.cohere.ai", "Authorization", "{\"type",
     "\"required\"", "\"none\"", "\"max_tokens\":5", "parallel"},
    {"azure", "", "api-key", "{\"type", "\"required\"", "\"none\"",
     "\"strict\":true", "\"max_tokens"},
    {"gemini_v1", "https://generativelanguage.googleapis.com", "Authorization",
     "{\"type", "\"required\"", "\"none\"", "\"max_tokens\":5", "parallel"},
    {"llamacpp", "http://127.0.0.1:8080", "Authorization", "1 \"required\"",
     "\"required\"", "\"none\"", "\"parallel_tool_calls\":true", "strict"},
    {"lmstudio", "http://127.0.0.1:1234", "Authorization", "1 \"required\"",
     "\"required\"", "\"none\"", "\"max_tokens\":5", "parallel"},
    {"ollama_v1", "http://127.0.0.1:11434", "Authorization", "1 ", "2 ", "2 ",
     "\"max_tokens\":5", "tool_choice"},
    {"openai", "https://api.openai.com", "Authorization", "{\"type",
     "\"required\"", "\"none\"", "stream_options", "\"max_tokens"},
};

/* Checks the choice of a request; want may begin with the number of tools, of
 * which all are sent where none may be called. */
static bool chosen(const char *body, const char *want)
{
    const char *at = strstr(body, "\"tool_choice\":"), *f = body;
    int tools = 0;
    for (; (f = strstr(f, "\"description\":")) != NULL; f++)
        tools++;
    if (tools != (*want == '1' ? 1 : 2))
        return false;
    want += *want == '1' || *want == '2' ? 2 : 0;
    return *want ? at && strncmp(at + 14, want, strlen(want)) == 0 : !at;
}

static void test_servers(void)
{
    static char memory[2048];
    tcall_tool tools[2];
    tcall_block block;
    tcall_chat_request ask;
    size_t i, known = 0;
#define TCALL_X_(name, ...) known++;
    TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_
    CHECK(TCALL_ARRAY_LEN(servers) == known + 1);
    memset(tools, 0, sizeof tools);
    memset(&ask, 0, sizeof ask);
    tools[0].name = "f";
    tools[1].name = "g";
    tools[0].permissions = tools[1].permissions = TCALL_READ;
    tools[0].strict = true;
    tcall_block_init(&block, memory, sizeof memory);
    tcall_chat_init(&chat, &block);
    add(TCALL_ITEM_USER, "", "", "hi");
    ask.chat = &chat;
    ask.model = "m";
    ask.tools = tools;
    ask.tool_count = 2;
    ask.allow = TCALL_READ;
    ask.choice_name = "f";
    ask.max_tokens = 5;
    ask.stream = true;
    for (i = 0; i < TCALL_ARRAY_LEN(servers); i++) {
        const tcall_provider *p = tcall_provider_named(servers[i].name);
        CHECK(p && strcmp(p->name, servers[i].name) == 0);
        if (!p)
            continue;
        CHECK(strcmp(p->url, servers[i].url) == 0);
        CHECK(strcmp(p->key_header, servers[i].header) == 0);
        CHECK(
            strcmp(strrchr(p->path, '/'), p->request == tcall_responses.request
                                              ? "/responses"
                                              : "/completions") == 0);
        ask.choice = TCALL_CHOICE_ONE;
        CHECK(chosen(write_body(p, &ask), servers[i].one));
        ask.choice = TCALL_CHOICE_NONE;
        CHECK(chosen(write_body(p, &ask), servers[i].none));
        ask.choice = TCALL_CHOICE_REQUIRED;
        CHECK(chosen(write_body(p, &ask), servers[i].required));
        CHECK(has(write_body(p, &ask), servers[i].has));
        ask.no_parallel = strcmp(servers[i].lacks, "parallel") == 0;
        CHECK(!strstr(write_body(p, &ask), servers[i].lacks));
        ask.no_parallel = true;
        CHECK(strstr(servers[i].lacks, "parallel") ||
              strcmp(servers[i].name, "ollama_v1") == 0 ||
              has(write_body(p, &ask), "\"parallel_tool_calls\":false"));
        ask.no_parallel = false;
    }
    CHECK(!tcall_provider_named("groqq") && !tcall_provider_named(""));
    CHECK(tcall_provider_named("gemini") == &tcall_gemini);
    CHECK(tcall_provider_named("interactions") == &tcall_interactions);
}

/* The id that Mistral gets to see of a call with this one: nine bytes. */
static const char *mapped(const char *id)
{
    static char memory[256], to[10];
    tcall_block block;
    tcall_chat_request ask;
    const char *p;
    memset(&ask, 0, sizeof ask);
    memset(to, 0, sizeof to);
    tcall_block_init(&block, memory, sizeof memory);
    tcall_chat_init(&chat, &block);
    add(TCALL_ITEM_CALL, id, "f", "{}");
    ask.chat = &chat;
    p = strstr(write_body(&tcall_mistral, &ask), "[{\"id\":\"");
    CHECK(p && p[17] == '"');
    if (p)
        memcpy(to, p + 8, 9);
    return to;
}

/* Ids of other providers become nine letters and digits, the same for a call
 * and its result, different for different ones; what fits stays. */
static void test_ids(void)
{
    static char memory[4096], seen[300][10];
    static const char *const ids[] = {
        "call_6yKrwBnDl0", "toolu_01A", "",
        "12345678",        "12345678_", "1234567890"};
    tcall_block block;
    tcall_chat_request ask;
    const char *p;
    char id[24];
    size_t i, k;
    for (i = 0; i < TCALL_ARRAY_LEN(seen); i++) {
        if (i < TCALL_ARRAY_LEN(ids))
            snprintf(id, sizeof id, "%s", ids[i]);
        else
            snprintf(id, sizeof id, "call_%d", (int)i);
        memcpy(seen[i], mapped(id), 10);
        CHECK(strspn(seen[i], "0123456789abcdefghijklmnopqrstuvwxyz") == 9);
        for (k = 0; k < i; k++)
            CHECK(strcmp(seen[k], seen[i]) != 0);
        CHECK(same(mapped(seen[i]), seen[i])); /* it fits */
    }
    CHECK(same(mapped("aZ0123456"), "aZ0123456"));
    memset(&ask, 0, sizeof ask);
    tcall_block_init(&block, memory, sizeof memory);
    tcall_chat_init(&chat, &block);
    add(TCALL_ITEM_USER, "", "", "hi");
    add(TCALL_ITEM_CALL, "toolu_01", "f", "{}");
    add(TCALL_ITEM_CALL, "D681PevKs", "g", "{}");
    add(TCALL_ITEM_RESULT, "D681PevKs", "g", "two");
    add(TCALL_ITEM_RESULT, "toolu_01", "f", "one");
    ask.chat = &chat;
    p = write_body(&tcall_mistral, &ask);
    CHECK(!strstr(p, "toolu_01") &&
          has(p, "\"tool_call_id\":\"D681PevKs\",\"content\":\"two\""));
    p = strstr(p, "[{\"id\":\"");
    memset(id, 0, sizeof id);
    if (p)
        memcpy(id, p + 8, 9);
    p = p ? strstr(p, "\"tool_call_id\":\"") : NULL;
    CHECK(p && strncmp(p + 16, id, 9) == 0 &&
          strncmp(p + 25, "\",\"content\":\"one\"", 17) == 0);
    CHECK(has(write_body(&tcall_openai, &ask), "\"id\":\"toolu_01\""));
}

/* Answers with reasoning, text and two calls, of all who have such. */
static const struct {
    const tcall_provider *from;
    const char *body;
} answers[] = {
    {&tcall_openai, "{'choices':[{'message':{'content':'t','tool_calls':[{'id':"
                    "'call_1','function':{'name':'f','arguments':'{}'}},{'id':"
                    "'call_2','function':{'name':'g','arguments':'{'}}]},"
                    "'finish_reason':'tool_calls'}]}"},
    {&tcall_deepseek, "{'choices':[{'message':{'reasoning_content':'OPAQUE',"
                      "'content':'t','tool_calls':[{'id':'call_1','function':{"
                      "'name':'f','arguments':'{}'}},{'id':'call_2','function':"
                      "{'name':'g','arguments':'null'}}]},'finish_reason':"
                      "'stop'}]}"},
    {&tcall_openrouter, "{'choices':[{'message':{'reasoning_details':[{'data':"
                        "'OPAQUE'}],'content':'t','tool_calls':[{'id':'1',"
                        "'function':{'name':'f','arguments':''}},{'id':'2',"
                        "'function':{'name':'g'}}]},'finish_reason':'stop'}]}"},
    {&tcall_anthropic, "{'content':[{'type':'thinking','thinking':'OPAQUE',"
                       "'signature':'s'},{'type':'text','text':'t'},{'type':"
                       "'tool_use','id':'toolu_1','name':'f','input':{}},"
                       "{'type':'tool_use','id':'toolu_2','name':'g','input':"
                       "{}}],'stop_reason':'tool_use'}"},
    {&tcall_ollama,
     "{'message':{'thinking':'OPAQUE','content':'t','tool_calls':[{"
     "'function':{'name':'f','arguments':{}}},{'function':{"
     "'name':'g','arguments':{}}}]},'done':true}"},
    {&tcall_responses, "{'output':[{'type':'reasoning','id':'OPAQUE'},{'type':"
                       "'message','content':[{'text':'t'}]},{'type':"
                       "'function_call','call_id':'call_1','name':'f',"
                       "'arguments':'{}'},{'type':'function_call','call_id':"
                       "'call_2','name':'g','arguments':''}],'status':"
                       "'completed'}"},
    {&tcall_gemini, "{'candidates':[{'content':{'parts':[{'text':'t'},{"
                    "'functionCall':{'name':'f'},'thoughtSignature':'OPAQUE'},"
                    "{'functionCall':{'name':'g','args':{}}}]},'finishReason':"
                    "'STOP'}]}"},
    {&tcall_interactions,
     "{'steps':[{'type':'thought','signature':'OPAQUE'},{'type':'model_output',"
     "'content':[{'type':'text','text':'t'}]},{'type':'function_call','id':'1',"
     "'name':'f','arguments':{}},{'type':'function_call','id':'2','name':'g',"
     "'arguments':{}}],'status':'requires_action'}"},
};

/* The ids of two calls and those of their results, in this order. */
static void paired(const char *body, const char *call, const char *result)
{
    const char *at[4];
    size_t n, i;
    for (i = 0; i < 4; i++) {
        body = strstr(body, i < 2 ? call : result);
        CHECK(body != NULL);
        if (!body)
            return;
        at[i] = body += strlen(i < 2 ? call : result);
    }
    for (i = 0; i < 2; i++) {
        n = strcspn(at[i], "\"");
        CHECK(n > 0 && strncmp(at[i], at[i + 2], n + 1) == 0);
    }
}

/* From every provider to every other, in one conversation and with all that
 * may be asked for: what is opaque stays with its own, and every call has its
 * result. */
static void test_switches(void)
{
    enum { THIN = CHECK_EVERY / 4 | 1 };
    static char memory[4096];
    static const tcall_provider *const plain[] = {
        &tcall_openai,    &tcall_anthropic, &tcall_ollama,
        &tcall_responses, &tcall_gemini,    &tcall_interactions};
#define TCALL_X_(name, ...) &tcall_##name,
    static const tcall_provider *const more[] = {TCALL_SERVERS(TCALL_X_) NULL};
#undef TCALL_X_
    tcall_tool tools[2];
    size_t from, to, at, options;
    memset(tools, 0, sizeof tools);
    tools[0].name = "f";
    tools[1].name = "g";
    tools[0].permissions = tools[1].permissions = TCALL_READ;
    tools[0].strict = true;
    for (from = 0; from < TCALL_ARRAY_LEN(answers); from++) {
        char body[512];
        tcall_block block;
        tcall_reader r;
        tcall_item item;
        tcall_chat_request ask;
        tcall_str ids[2];
        int calls = 0;
        size_t n = quoted(body, answers[from].body, "");
        memset(&ask, 0, sizeof ask);
        tcall_block_init(&block, memory, sizeof memory);
        tcall_chat_init(&chat, &block);
        add(TCALL_ITEM_USER, "", "", "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80");
        tcall_reader_init(&r, answers[from].from, &chat, NULL, NULL);
        tcall_reader_feed(&r, body, n);
        CHECK(tcall_reader_end(&r) == TCALL_OK && r.answer.calls == 2);
        for (at = 0; tcall_chat_next(&chat, &at, &item);)
            if (item.kind == TCALL_ITEM_CALL && calls < 2)
                ids[calls++] = item.id;
        CHECK(calls == 2);
        while (calls-- > 0) { /* the second is done first */
            memset(&item, 0, sizeof item);
            item.kind = TCALL_ITEM_RESULT;
            item.id = ids[calls];
            item.name = tcall_str_of(calls ? "g" : "f");
            item.text = tcall_str_of(calls ? "" : "na\xC3\xAFve");
            item.error = calls ? TCALL_E_FAILED : TCALL_OK;
            CHECK(tcall_chat_add(&chat, &item) == TCALL_OK);
        }
        add(TCALL_ITEM_USER, "", "", "");
        ask.chat = &chat;
        ask.model = "m";
        ask.system = "\"be\" brief";
        ask.tools = tools;
        ask.tool_count = 2;
        ask.allow = TCALL_READ;
        ask.choice_name = "g";
        for (to = 0; to < TCALL_ARRAY_LEN(plain) + TCALL_ARRAY_LEN(more) - 1;
             to++) {
            const tcall_provider *p = to < TCALL_ARRAY_LEN(plain)
                                          ? plain[to]
                                          : more[to - TCALL_ARRAY_LEN(plain)];
            /* Thinned out, each of them still comes with some provider. */
            for (options = (from + to) % THIN; options < 64; options += THIN) {
                const char *out;
                bool own = p == answers[from].from && p->reasoning;
                /* Signatures of Google's calls are Google's at both ends. */
                own |= answers[from].from == &tcall_gemini &&
                       p == &tcall_gemini_v1;
                ask.choice = (tcall_choice)(options & 3);
                tools[0].strict = (options & 4) != 0;
                ask.stream = (options & 8) != 0;
                ask.no_parallel = (options & 16) != 0;
                ask.max_tokens = options & 32 ? 9 : 0;
                out = write_body(p, &ask);
                CHECK((strstr(out, "OPAQUE") != NULL) == own);
                /* Google refuses calls without a signature, but for a word
                 * that says whose they are. */
                CHECK((strstr(out, "\"skip_thought_signature_validator\"") !=
                       NULL) ==
                      (p->reasoning == TCALL_REASONING_SIGNATURES && !own));
                CHECK(has(out, "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"));
                CHECK(has(out, "\\\"be\\\" brief") && has(out, "\xC3\xAF"));
                CHECK(p == &tcall_gemini ||
                      (strstr(out, "\"stream\":true") != NULL) == ask.stream);
                if (p == &tcall_anthropic)
                    paired(out, "\"tool_use\",\"id\":\"", "\"tool_use_id\":\"");
                else if (p->answer == tcall_responses.answer)
                    paired(out, "\"function_call\",\"call_id\":\"",
                           "_output\",\"call_id\":\"");
                else if (p == &tcall_interactions)
                    paired(out, "\"function_call\",\"id\":\"",
                           "_result\",\"call_id\":\"");
                else if (p == &tcall_gemini)
                    paired(out, "{\"functionCall\":{\"name\":\"",
                           "{\"functionResponse\":{\"name\":\"");
                else
                    paired(out, "{\"id\":\"", "\"tool_call_id\":\"");
            }
        }
    }
}

/* A server that gives what is opaque only when asked for it. */
static void test_ask_opaque(void)
{
    static char memory[256];
    tcall_provider server = tcall_responses;
    tcall_block block;
    tcall_chat_request ask;
    memset(&ask, 0, sizeof ask);
    tcall_block_init(&block, memory, sizeof memory);
    tcall_chat_init(&chat, &block);
    add(TCALL_ITEM_USER, "", "", "hi");
    ask.chat = &chat;
    ask.model = "m";
    CHECK(!strstr(write_body(&server, &ask), "include"));
    server.quirks |= TCALL_QUIRK_ASK_REASONING;
    CHECK(has(write_body(&server, &ask),
              ",\"include\":[\"reasoning.encrypted_content\"],"));
}

/* A schema that nobody checked is read no further than it goes. */
static void test_cut_schema(void)
{
    static const char text[] =
        "{\"type\":[\"object\"],\"properties\":{\"a\\u00e9\":{\"enum\":[1,"
        "\"x\\\"\"]}},\"required\":[\"b\\ud83d\\ude00\"]}";
    static char memory[64], out[1024];
    size_t n;
    tcall_block block;
    tcall_chat_request ask;
    memset(&ask, 0, sizeof ask);
    tcall_block_init(&block, memory, sizeof memory);
    tcall_chat_init(&chat, &block);
    ask.chat = &chat;
    ask.allow = TCALL_EVERYTHING;
    for (n = 0; n < sizeof text; n++) {
        char *cut = (char *)malloc(n + 1);
        tcall_tool tool;
        tcall_writer w;
        memset(&tool, 0, sizeof tool);
        memcpy(cut, text, n);
        cut[n] = 0;
        tool.name = "f";
        tool.parameters = tcall_schema_text_of(cut);
        tool.strict = true;
        ask.tools = &tool;
        ask.tool_count = 1;
        tcall_writer_init(&w, out, sizeof out - 1);
        CHECK(tcall_openai.write(&tcall_openai, &w, &ask) == TCALL_OK);
        out[w.fill] = 0;
        CHECK(n < sizeof text - 1 || has(out, "\"strict\":true"));
        free(cut);
    }
}

/* Names are the same however they are escaped: what is required is not sent
 * as optional. */
static void test_escaped_names(void)
{
    static char memory[64];
    tcall_block block;
    tcall_chat_request ask;
    tcall_tool tool;
    const char *p;
    memset(&ask, 0, sizeof ask);
    memset(&tool, 0, sizeof tool);
    tcall_block_init(&block, memory, sizeof memory);
    tcall_chat_init(&chat, &block);
    tool.name = "f";
    tool.strict = true;
    tool.parameters = tcall_schema_text_of(
        "{\"type\":\"object\",\"required\":[\"a/b\",\"\\u00e9\",\"c\"],"
        "\"properties\":{\"a\\/b\":{\"type\":\"string\"},"
        "\"\xC3\xA9\":{\"type\":\"string\"},"
        "\"\\u0063\":{\"type\":\"string\"},"
        "\"d\":{\"type\":\"string\"}}}");
    ask.chat = &chat;
    ask.allow = TCALL_EVERYTHING;
    ask.tools = &tool;
    ask.tool_count = 1;
    p = write_body(&tcall_openai, &ask);
    CHECK(has(p, "\"strict\":true"));
    p = strstr(p, "\"anyOf\":");
    CHECK(p && !strstr(p + 1, "\"anyOf\":")); /* d only */
}

/* Only agents send requests that are taken up again. */
#ifndef TOOLCALL_NO_AGENT

/* Takes a few bytes, and then none for once. */
typedef struct dribble {
    char text[16384];
    size_t len;
    bool full;
} dribble;

static int dribble_sink(void *user, const char *bytes, size_t len)
{
    dribble *to = (dribble *)user;
    to->full = !to->full;
    if (to->full)
        return TCALL_E_AGAIN;
    len = len < 100 ? len : 100;
    memcpy(to->text + to->len, bytes, len);
    to->len += len;
    return (int)len;
}

/* A request that is taken up again says the same: also of strict tools, of
 * which Anthropic takes 20, counting those that went out before. */
static void test_resumed(void)
{
    static char memory[64], names[25][4];
    static dribble to;
    static tcall_tool tools[25];
    char piece[256];
    tcall_block block;
    tcall_chat_request ask;
    tcall_resume_ resume;
    const char *whole;
    size_t i, unsent = 0, strict = 0, rounds = 0;
    int error;
    memset(&ask, 0, sizeof ask);
    memset(&resume, 0, sizeof resume);
    tcall_block_init(&block, memory, sizeof memory);
    tcall_chat_init(&chat, &block);
    for (i = 0; i < 25; i++) {
        snprintf(names[i], sizeof names[i], "t%d", (int)i);
        tools[i].name = names[i];
        tools[i].strict = true;
        tools[i].parameters = tcall_schema_text_of(TCALL_TEXT(
            {"type" : "object", "properties" : {"a" : {"type" : "string"}}}));
    }
    ask.chat = &chat;
    ask.allow = TCALL_EVERYTHING;
    ask.tools = tools;
    ask.tool_count = 25;
    do {
        tcall_writer w;
        tcall_writer_init(&w, piece, sizeof piece);
        tcall_writer_sink(&w, dribble_sink, &to);
        w.fill = unsent;
        w.resume = &resume;
        error = tcall_writer_flush(&w);
        if (error == TCALL_OK)
            tcall_anthropic.write(&tcall_anthropic, &w, &ask);
        error = tcall_writer_flush(&w);
        unsent = w.fill;
        resume.stored = to.len + unsent;
    } while (error == TCALL_E_AGAIN && ++rounds < 1000);
    CHECK(error == TCALL_OK && rounds > 20);
    to.text[to.len] = 0;
    whole = write_body(&tcall_anthropic, &ask);
    CHECK(same(to.text, whole));
    for (; (whole = strstr(whole, "\"strict\":true")) != NULL; whole++)
        strict++;
    CHECK(strict == 20);
}

#endif

static const char *sent_to_ollama(const char *schema)
{
    static char memory[256];
    tcall_tool tool;
    tcall_block block;
    tcall_chat_request ask;
    memset(&tool, 0, sizeof tool);
    memset(&ask, 0, sizeof ask);
    tool.name = "f";
    tool.permissions = TCALL_READ;
    tool.parameters = tcall_schema_text_of(schema);
    tcall_block_init(&block, memory, sizeof memory);
    tcall_chat_init(&chat, &block);
    ask.model = "m";
    ask.chat = &chat;
    ask.tools = &tool;
    ask.tool_count = 1;
    ask.allow = TCALL_READ;
    return write_body(&tcall_ollama, &ask);
}

/* Ollama knows no $ref, and gets the schema that it names in its place. */
static void test_refs(void)
{
    static const struct {
        const char *schema, *sent;
    } rows[] = {
        {"{'type':'object','properties':{'a':{'$ref':'#/$defs/n'}},"
         "'$defs':{'n':{'type':'integer','minimum':1}}}",
         "{'type':'object','properties':{'a':{'type':'integer'}}}"},
        /* what stands beside it counts more */
        {"{'type':'object','properties':{'a':{'description':'mine',"
         "'$ref':'#/$defs/n','title':'x'}},'$defs':{'n':{'description':"
         "'theirs','type':'string','enum':['p','q']}}}",
         "{'type':'object','properties':{'a':{'description':'mine',"
         "'type':'string','enum':['p','q']}}}"},
        /* from one to the next, with names that are escaped */
        {"{'type':'object','properties':{'a':{'description':'A','$ref':"
         "'#/$defs/x~1y'},'b':{'type':'string'}},'$defs':{'x/y':{'$ref':"
         "'#/$defs/q%20r'},'q r':{'description':'Q','type':'array','items':"
         "{'$ref':'#/properties/b'}}}}",
         "{'type':'object','properties':{'a':{'description':'A','type':"
         "'array','items':{'type':'string'}},'b':{'type':'string'}}}"},
        /* the schema of all arguments */
        {"{'$ref':'#/definitions/t','definitions':{'t':{'type':'object',"
         "'properties':{'a':{'type':'null'}},'required':['a']}}}",
         "{'type':'object','properties':{'a':{'type':'null'}},"
         "'required':['a']}"},
        /* an element of a list */
        {"{'type':'object','properties':{'a':{'anyOf':[{'type':'number'},"
         "{'$ref':'#/properties/a/anyOf/0'}]}}}",
         "{'type':'object','properties':{'a':{'anyOf':[{'type':'number'},"
         "{'type':'number'}]}}}"},
        /* back into itself, elsewhere, to nothing: a value of any kind */
        {"{'type':'object','properties':{'a':{'$ref':'#/$defs/t'}},'$defs':"
         "{'t':{'type':'object','properties':{'next':{'$ref':'#/$defs/t'},"
         "'top':{'$ref':'#'}}}}}",
         "{'type':'object','properties':{'a':{'type':'object','properties':"
         "{'next':{},'top':{}}}}}"},
        {"{'type':'object','properties':{'a':{'$ref':'http://x/#/y'},"
         "'b':{'$ref':'#/$defs/none'},'c':{'$ref':'#/type'},'d':{'$ref':7},"
         "'e':{'$ref':'#/type/0'},'f':{'$ref':'#/$defs/%zz'}}}",
         "{'type':'object','properties':{'a':{},'b':{},'c':{},'d':{},'e':{},"
         "'f':{}}}"},
    };
    static char schema[2048], sent[512];
    size_t i, len;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        quoted(schema, rows[i].schema, "~");
        strcpy(sent, "\"parameters\":");
        quoted(sent + strlen(sent), rows[i].sent, "~");
        CHECK(has(sent_to_ollama(schema), sent));
    }
    /* Each of seven holds the next one four times: that is too much. */
    len = (size_t)sprintf(schema, "{\"type\":\"object\",\"properties\":"
                                  "{\"a\":{\"$ref\":\"#/$defs/0\"}},"
                                  "\"$defs\":{");
    for (i = 0; i < 7; i++)
        len += (size_t)sprintf(
            schema + len,
            "\"%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/%d\"},{\"$ref\":"
            "\"#/$defs/%d\"},{\"$ref\":\"#/$defs/%d\"},{\"$ref\":"
            "\"#/$defs/%d\"}]},",
            (int)i, (int)i + 1, (int)i + 1, (int)i + 1, (int)i + 1);
    sprintf(schema + len, "\"7\":{\"type\":\"string\"}}}");
    CHECK(strlen(sent_to_ollama(schema)) < 2048);
}

int main(void)
{
    test_cut_schema();
    test_escaped_names();
#ifndef TOOLCALL_NO_AGENT
    test_resumed();
#endif
    test_ask_opaque();
    test_switches();
    test_write();
    test_refs();
    test_servers();
    test_ids();
    return check_sum("test_request");
}
