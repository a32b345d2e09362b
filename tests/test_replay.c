/* Needs: SCHEMA, AGENT, PROVIDERS, SERVERS, LENIENT. */
/* What goes back to the provider: calls as they were understood, names and ids
 * that it takes, and each request begins with the one before it. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/agent.c"
#include "../src/providers.c"
#endif
#include "check.h"

static int runs;
static char seen[256];

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    tcall_writer shown;
    (void)cx;
    runs++;
    tcall_writer_init(&shown, seen, sizeof seen - 1);
    tcall_write_json(&shown, args);
    seen[shown.fill] = 0;
    return tcall_write_text(out, "done");
}

static char answers[4][4096];
static int round_;
static size_t given;
static char sent[4][32768];
static size_t sent_len;

static int net_open(void *user, const tcall_request *request,
                    tcall_response *response)
{
    (void)user;
    CHECK(request->body_len < sizeof sent[0]);
    given = sent_len = 0;
    response->status = 200;
    return TCALL_OK;
}

static int net_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    len = len < 50 ? len : 50;
    memcpy(sent[round_] + sent_len, bytes, len);
    sent_len += len;
    sent[round_][sent_len] = 0;
    return (int)len;
}

static int net_read(void *user, char *bytes, size_t cap)
{
    const char *answer = answers[round_];
    size_t len = strlen(answer) - given;
    (void)user;
    len = len < cap ? len : cap;
    memcpy(bytes, answer + given, len);
    given += len;
    return (int)len;
}

static void net_close(void *user)
{
    (void)user;
    round_++;
}

static char block[32768];
static tcall tc;
static tcall_agent agent;
static tcall_tool tools[1];

static void begin(const tcall_provider *provider, size_t size)
{
    tcall_desc desc;
    tcall_agent_desc agent_desc;
    memset(&desc, 0, sizeof desc);
    memset(&agent_desc, 0, sizeof agent_desc);
    tools[0].name = "f";
    tools[0].description = "Does it.";
    tools[0].parameters = "{\"type\":\"object\"}";
    tools[0].run = run;
    tools[0].permissions = TCALL_READ;
    desc.block = block;
    desc.block_size = size;
    desc.tools = tools;
    desc.tool_count = 1;
    desc.allow = TCALL_READ;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    agent_desc.tc = &tc;
    agent_desc.provider = provider;
    agent_desc.model = "m";
    agent_desc.transport.open = net_open;
    agent_desc.transport.write = net_write;
    agent_desc.transport.read = net_read;
    agent_desc.transport.close = net_close;
    CHECK(tcall_agent_init(&agent, &agent_desc) == TCALL_OK);
    round_ = runs = 0;
}

/* Writes a text as the inside of a JSON string. */
static void escape(char *to, const char *text)
{
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            to += sprintf(to, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            to += sprintf(to, "\\u%04x", (unsigned char)*text);
        else
            *to++ = *text;
    *to = 0;
}

/* An answer of OpenAI's format with one call, and one with text. */
static void call_answer(int at, const char *id, const char *name,
                        const char *arguments)
{
    char ids[512], names[512], texts[1024];
    escape(ids, id);
    escape(names, name);
    escape(texts, arguments);
    sprintf(answers[at],
            "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"I look.\","
            "\"tool_calls\":[{\"id\":\"%s\",\"function\":{\"name\":\"%s\","
            "\"arguments\":\"%s\"}}]},\"finish_reason\":\"tool_calls\"}]}",
            ids, names, texts);
}

static void text_answer(int at)
{
    strcpy(answers[at],
           "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"ok\"},"
           "\"finish_reason\":\"stop\"}]}");
}

/* Where the list of messages ends. */
static size_t messages_end(const char *body)
{
    const char *at = strstr(body, "\"messages\":[");
    int depth = 0;
    for (at = strchr(at, '['); *at; at++) {
        if (*at == '"')
            for (at++; *at != '"'; at++)
                at += *at == '\\';
        depth += *at == '[' || *at == '{';
        depth -= *at == ']' || *at == '}';
        if (!depth)
            break;
    }
    return (size_t)(at - body);
}

/* Plays a call and two more turns. Returns the second request. */
static const char *replays(const char *id, const char *name,
                           const char *arguments, size_t size)
{
    int i;
    call_answer(0, id, name, arguments);
    for (i = 1; i < 4; i++)
        text_answer(i);
    begin(&tcall_llamacpp, size);
    for (i = 1; i < 4; i++)
        CHECK(tcall_agent_run(&agent, tcall_str_of("go")) == TCALL_OK);
    CHECK(round_ == 4);
    for (i = 0; i < 3; i++)
        CHECK(memcmp(sent[i], sent[i + 1], messages_end(sent[i])) == 0);
    for (i = 0; i < 4; i++) {
        tcall_scan scan;
        tcall_scan_init(&scan, NULL, NULL, NULL);
        tcall_scan_feed(&scan, sent[i], strlen(sent[i]));
        CHECK(tcall_scan_end(&scan) == TCALL_OK);
    }
    return sent[1];
}

/* What came, and what goes back; what is run, if it is, is the same. */
static const struct {
    const char *came, *back;
} arguments[] = {
    {"{\"a\":1}", "{\"a\":1}"},
    {"{\"a\": 1.50}", "{\"a\": 1.50}"},
    {"", "{}"},
    {" ", "{}"},
    {"null", "{}"},
    {"{'a': 3,}", "{\"a\":3}"},
    {"```json\n{\"a\":1}\n```", "{\"a\":1}"},
    {"{a:1}", "{\"a\":1}"},
    {"{\"a\":True}", "{\"a\":true}"},
    {"{\"a\":+5}", "{\"a\":5}"},
    {"{\"a\":.5}", "{\"a\":0.5}"},
    {"{\"a\":1}}", "{\"a\":1}"},
    {"{\"a\":1},", "{\"a\":1}"},
    {"\"{\\\"a\\\":1}\"", "{\"a\":1}"},
    {"{\\\"a\\\":1}", "{\"a\":1}"},
    {"{\"a\":1}{\"a\":1}", "{\"a\":1}"},
    {"{\"a\":1 /* one */}", "{\"a\":1}"},
    {"<tool_call>{\"a\":1}</tool_call>", "{\"a\":1}"},
    {"{\"a\":\"\n\"}", "{\"a\":\"\\n\"}"},
    {"{\"a\":1e400}", "{}"},
    {"{\"a\":[-1E+999]}", "{}"},
    {"{\"1e999\":\"1e999 \\\" 1e999\"}", "{\"1e999\":\"1e999 \\\" 1e999\"}"},
    {"{\"a\":1e308}", "{\"a\":1e308}"},
    {"{\"a\":", "{}"},
    {"{\"a\":\"x", "{}"},
    {"[1]", "{}"},
    {"7", "{}"},
    {"\"text\"", "{}"},
    {"I will call it", "{}"},
    {"{\"a\":1}{\"a\":2}", "{}"},
    {"{\"a\":\"\\ud83d\"}", "{}"},
    {"{\"a\" 1}", "{}"},
    {"{\"a\":x}", "{}"},
    {"{\"a\":1]", "{}"},
    {"{\"a\":1,\"a\":2}", "{}"},
    {"{\"b\":[{\"a\":1,\"a\":1}]}", "{}"},
};

static void test_long_arguments(void)
{
    char text[128];
    memset(text, 'x', 100);
    text[100] = 0;
    memcpy(text, "{\"a\":", 5);
    CHECK(strstr(replays("c1", "f", text, sizeof block), "received") != NULL);
    CHECK(strstr(sent[1], "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                          "xxxxxxxxxx\\\"}\"}") != NULL);
    CHECK(strstr(sent[1], "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                          "xxxxxxxxxxx") == NULL);
}

static void test_arguments(void)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(arguments); i++) {
        int failed = check_failed;
        char back[256] = "\"name\":\"f\",\"arguments\":\"";
        const char *body = replays("c1", "f", arguments[i].came, sizeof block);
        escape(back + strlen(back), arguments[i].back);
        strcat(back, "\"}");
        CHECK(strstr(body, back) != NULL);
        CHECK(runs == 0 || strcmp(seen, arguments[i].back) == 0 ||
              strchr(arguments[i].came, '.'));
        CHECK(runs == 1 || strcmp(arguments[i].back, "{}") == 0);
        /* What is not sent back is quoted by its error. */
        CHECK(runs == 1 || strstr(body, "received\\\":\\\""));
        if (check_failed != failed)
            printf("this was %s\n%s\n", arguments[i].came, body);
    }
}

/* The smallest block that does for a turn does for what is mended in it. */
static void test_blocks(void)
{
    size_t size;
    for (size = 1024; size < 8192; size += 8 * CHECK_EVERY) {
        int i, error = TCALL_OK;
        call_answer(0, "c1", "f", "{a:'x',b:'y',c:[True,False,],}");
        for (i = 1; i < 4; i++)
            text_answer(i);
        memset(block, 0, sizeof block);
        tcall_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.block = block;
        desc.block_size = size;
        if (tcall_init(&tc, &desc) < 0)
            continue;
        begin(&tcall_llamacpp, sizeof block);
        tc.block.size = size > tc.block.low + tc.block.high
                            ? size
                            : tc.block.low + tc.block.high;
        for (i = 1; i < 4 && error == TCALL_OK; i++)
            error = tcall_agent_run(&agent, tcall_str_of("go"));
        CHECK(error == TCALL_OK || error == TCALL_E_MEMORY);
        if (error == TCALL_OK)
            CHECK(strstr(sent[1], "\\\"c\\\":[true,false]") ||
                  strstr(sent[1], "\"arguments\":\"{}\""));
    }
}

static const char *const names[][2] = {
    {"f", "f"},
    {"functions.read gpio!", "functions_read_gpio_"},
    {"", "_"},
    {"multi_tool_use.parallel", "multi_tool_use_parallel"},
    {"f\n", "f_"},
    {"\xE5\xB7\xA5", "___"},
    {"1st", "_st"},
    {"-x", "_x"},
    {"a-b_C9", "a-b_C9"},
    {"\"quoted\\\"", "_quoted__"},
    {"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg",
     "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg"},
};

static const tcall_provider *const receivers[] = {
    &tcall_openai, &tcall_responses, &tcall_anthropic,
    &tcall_ollama, &tcall_gemini,    &tcall_mistral};

/* The request of a conversation with one call, to any provider. */
static const char *writes(const tcall_provider *to, const char *id,
                          const char *name)
{
    static char memory[2048], out[4096];
    tcall_block room;
    tcall_chat chat;
    tcall_chat_request ask;
    tcall_item item;
    tcall_writer writer;
    memset(&ask, 0, sizeof ask);
    memset(&item, 0, sizeof item);
    tcall_block_init(&room, memory, sizeof memory);
    tcall_chat_init(&chat, &room);
    item.text = tcall_str_of("hi");
    CHECK(tcall_chat_add(&chat, &item) == TCALL_OK);
    item.kind = TCALL_ITEM_CALL;
    item.id = tcall_str_of(id);
    item.name = tcall_str_of(name);
    item.text = tcall_str_of("{}");
    CHECK(tcall_chat_add(&chat, &item) == TCALL_OK);
    item.kind = TCALL_ITEM_RESULT;
    CHECK(tcall_chat_add(&chat, &item) == TCALL_OK);
    ask.model = "m";
    ask.chat = &chat;
    tcall_writer_init(&writer, out, sizeof out - 1);
    CHECK(to->write(to, &writer, &ask) == TCALL_OK);
    out[writer.fill] = 0;
    return out;
}

static void test_names(void)
{
    size_t i, j;
    for (i = 0; i < TCALL_ARRAY_LEN(names); i++) {
        char want[128];
        sprintf(want, "name\":\"%s\"", names[i][1]);
        CHECK(strstr(replays("c1", names[i][0], "{}", sizeof block), want) !=
              NULL);
        for (j = 0; j < TCALL_ARRAY_LEN(receivers); j++)
            CHECK(strstr(writes(receivers[j], "c1", names[i][0]), want) !=
                  NULL);
    }
}

/* Each id, and whether it goes as it is to all, to Anthropic, to Mistral. */
static const struct {
    const char *id;
    bool plain, anthropic, mistral;
} ids[] = {{"call_1", true, true, false},
           {"abc123XYZ", true, true, true},
           {"functions.f:0", true, false, false},
           {"call|1", true, false, false},
           {"call 1", false, false, false},
           {"call\n", false, false, false},
           {"\xC3\xA9", false, false, false},
           {"-8062812703858712887", true, true, false},
           {"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd", true, true, false},
           {"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddde", false, false, false}};

static void test_ids(void)
{
    size_t i, j;
    for (i = 0; i < TCALL_ARRAY_LEN(ids); i++)
        for (j = 0; j < TCALL_ARRAY_LEN(receivers); j++) {
            const tcall_provider *to = receivers[j];
            bool stays = to == &tcall_anthropic ? ids[i].anthropic
                         : to == &tcall_mistral ? ids[i].mistral
                                                : ids[i].plain;
            char quoted[160] = "\"", first[4096];
            const char *body = writes(to, ids[i].id, "f"), *call, *result;
            escape(quoted + 1, ids[i].id);
            strcat(quoted, "\"");
            strcpy(first, body);
            CHECK((strstr(body, quoted) != NULL) == stays);
            CHECK(strcmp(first, writes(to, ids[i].id, "f")) == 0);
            /* The call and its result have the same. */
            call = strstr(first, "\"tool_use\",\"id\":\"");
            result = strstr(first, "\"tool_use_id\":\"");
            if (call && result)
                CHECK(memcmp(strchr(call + 14, ':'), strchr(result + 13, ':'),
                             9) == 0);
        }
}

int main(void)
{
    test_arguments();
    test_long_arguments();
    test_blocks();
    test_names();
    test_ids();
    return check_sum("test_replay");
}
