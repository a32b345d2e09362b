/* Needs: AGENT.
 */
/* What goes back to the provider: calls as they were understood, names and ids
 * that it takes, and each request begins with the one before it. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/save.c"
#include "../src/servers.c"
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
    tools[0].parameters = tcall_schema_text_of("{\"type\":\"object\"}");
    tools[0].run = run;
    tools[0].permissions = TCALL_READ;
    desc.block = block;
    desc.lenient = &tcall_lenient;
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

/* How providers say a call whose arguments are any text, and an answer. */
typedef struct speaker {
    const tcall_provider *provider;
    const char *call; /* id, name, arguments */
    const char *text;
    const char *list;      /* what stands before what was said */
    const char *arguments; /* what stands before them in a request */
    bool quoted;           /* they are a string there */
} speaker;

static const speaker speakers[] = {
    {&tcall_llamacpp,
     "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"I look.\","
     "\"tool_calls\":[{\"id\":\"%\",\"function\":{\"name\":\"%\","
     "\"arguments\":\"%\"}}]},\"finish_reason\":\"tool_calls\"}]}",
     "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"ok\"},"
     "\"finish_reason\":\"stop\"}]}",
     "\"messages\":[", "\"name\":\"f\",\"arguments\":", true},
    {&tcall_responses,
     "{\"status\":\"completed\",\"output\":[{\"type\":\"function_call\","
     "\"call_id\":\"%\",\"name\":\"%\",\"arguments\":\"%\"}]}",
     "{\"status\":\"completed\",\"output\":[{\"type\":\"message\","
     "\"content\":[{\"type\":\"output_text\",\"text\":\"ok\"}]}]}",
     "\"input\":[", "\"name\":\"f\",\"arguments\":", true},
    {&tcall_anthropic,
     "data: {\"type\":\"message_start\",\"message\":{}}\n\n"
     "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
     "{\"type\":\"tool_use\",\"id\":\"%\",\"name\":\"%\",\"input\":{}}}\n\n"
     "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
     "\"input_json_delta\",\"partial_json\":\"%\"}}\n\n"
     "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
     "\"tool_use\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
     "{\"stop_reason\":\"end_turn\",\"content\":[{\"type\":\"text\","
     "\"text\":\"ok\"}]}",
     "\"messages\":[", "\"name\":\"f\",\"input\":", false},
    {&tcall_ollama,
     "{\"done\":true,\"done_reason\":\"stop\",\"message\":{\"tool_calls\":[{"
     "\"id\":\"%\",\"function\":{\"name\":\"%\",\"arguments\":\"%\"}}]}}",
     "{\"done\":true,\"done_reason\":\"stop\",\"message\":{\"content\":"
     "\"ok\"}}",
     "\"messages\":[", "\"name\":\"f\",\"arguments\":", false},
};

static const speaker *by = speakers; /* the one at hand */

/* Writes the form of a call, its holes filled one after the other. */
static void call_answer(int at, const char *id, const char *name,
                        const char *arguments)
{
    const char *const holes[] = {id, name, arguments};
    const char *form = by->call;
    char *to = answers[at];
    size_t next = 0;
    for (; *form; form++)
        if (*form == '%') {
            escape(to, holes[next++]);
            to = strchr(to, 0);
        } else {
            *to++ = *form;
        }
    *to = 0;
}

static void text_answer(int at)
{
    strcpy(answers[at], by->text);
}

/* Where the list ends of what was said. A message that the user goes on with
 * is not closed yet. */
static size_t messages_end(const char *body)
{
    const char *at = strstr(body, by->list);
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
    while (at[-1] == ']' || at[-1] == '}')
        at--;
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
    begin(by->provider, size);
    for (i = 1; i < 4; i++)
        CHECK(tcall_agent_run(&agent, tcall_str_of("go")) == TCALL_OK);
    CHECK(round_ == 4);
    for (i = 0; i < 3; i++)
        CHECK(memcmp(sent[i], sent[i + 1], messages_end(sent[i])) == 0);
    for (i = 0; i < 4; i++)
        CHECK(tcall_json_check(tcall_str_of(sent[i])) == TCALL_OK);
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

/* What goes back of one call, however its provider writes it. */
static void test_call(const char *came, const char *back)
{
    int failed = check_failed;
    char want[256];
    const char *body = replays("c1", "f", came, sizeof block);
    strcpy(want, by->arguments);
    if (by->quoted) {
        strcat(want, "\"");
        escape(strchr(want, 0), back);
        strcat(want, "\"");
    } else {
        strcat(want, back);
    }
    CHECK(strstr(body, want) != NULL);
    CHECK(runs == 0 || strcmp(seen, back) == 0 || strchr(came, '.'));
    /* A call without arguments is none that is broken. */
    if (runs == 0) {
        CHECK(strcmp(back, "{}") == 0);
        /* What is not sent back is quoted by its error. */
        CHECK(strstr(body, "received\\\":\\\"") != NULL);
    }
    if (check_failed != failed)
        printf("this was %s by %s\n%s\n", came, by->provider->name, body);
}

static void test_arguments(void)
{
    size_t i, j;
    for (i = 0; i < TCALL_ARRAY_LEN(arguments); i++)
        for (j = 0; j < TCALL_ARRAY_LEN(speakers); j++) {
            by = &speakers[j];
            test_call(arguments[i].came, arguments[i].back);
        }
    by = speakers;
}

/* Arguments that come as an object are one, but for numbers that no receiver
 * holds: in any pieces. */
static void test_objects(void)
{
    static const struct {
        const char *text;
        bool is_object;
    } rows[] = {
        {"{}", true},
        {"{\"a\":1e400}", false},
        {"{\"a\":[1,-2E+999,3]}", false},
        {"{\"a\":1e308}", true},
        {"{\"a\":\"1e999\"}", true},
        {"{\"1e999\":0}", true},
    };
    static const struct {
        const tcall_provider *provider;
        const char *before, *after;
    } forms[] = {
        {&tcall_anthropic,
         "{\"usage\":{\"x\":1e999},\"content\":[{\"type\":\"tool_use\",\"id\":"
         "\"a\",\"name\":\"f\",\"input\":",
         "}],\"stop_reason\":\"tool_use\",\"x\":1e999}"},
        {&tcall_gemini,
         "{\"x\":1e999,\"candidates\":[{\"content\":{\"parts\":[{"
         "\"functionCall\":{\"name\":\"f\",\"args\":",
         "}}]},\"finishReason\":\"STOP\",\"x\":1e999}]}"},
        {&tcall_ollama,
         "{\"x\":1e999,\"message\":{\"tool_calls\":[{\"function\":{\"name\":"
         "\"f\",\"arguments\":",
         "}}]},\"done\":true}"},
    };
    size_t i, j, piece, at, len;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++)
        for (j = 0; j < TCALL_ARRAY_LEN(forms); j++)
            for (piece = 1; piece < 600; piece = piece < 6 ? piece + 1 : 600) {
                char text[512], memory[1024];
                tcall_block room;
                tcall_chat chat;
                char body[1024];
                tcall_reader reader;
                tcall_chat_request request;
                tcall_writer writer;
                tcall_item item;
                sprintf(text, "%s%s%s", forms[j].before, rows[i].text,
                        forms[j].after);
                tcall_block_init(&room, memory, sizeof memory);
                tcall_chat_init(&chat, &room);
                tcall_reader_init(&reader, forms[j].provider, &chat, NULL,
                                  NULL);
                for (at = 0; at < strlen(text); at += len) {
                    len = strlen(text) - at;
                    len = len < piece ? len : piece;
                    tcall_reader_feed(&reader, text + at, len);
                }
                CHECK(tcall_reader_end(&reader) == TCALL_OK);
                at = 0;
                CHECK(tcall_chat_next(&chat, &at, &item));
                memset(&request, 0, sizeof request);
                request.chat = &chat;
                tcall_writer_init(&writer, body, sizeof body - 1);
                tcall_openai.write(&tcall_openai, &writer, &request);
                body[writer.fill] = 0;
                CHECK(rows[i].is_object == !strstr(body, "\"{}\"") ||
                      strcmp(rows[i].text, "{}") == 0);
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
        desc.lenient = &tcall_lenient;
        desc.block_size = size;
        if (tcall_init(&tc, &desc) < 0)
            continue;
        begin(&tcall_llamacpp, sizeof block);
        tc.block.size = size > tc.block.low + tc.block.high
                            ? size
                            : tc.block.low + tc.block.high;
        tc.block.size &= ~(size_t)7;
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
    {" ", "_"},
    {"  f  ", "__f__"},
    {"f g", "f_g"},
    {"f()", "f__"},
    {"f{}", "f__"},
    {"f:0", "f_0"},
    {"f/g", "f_g"},
    {"f\\g", "f_g"},
    {"f'", "f_"},
    {"<f>", "_f_"},
    {"f;drop", "f_drop"},
    {"f,g", "f_g"},
    {"f=1", "f_1"},
    {"f+g", "f_g"},
    {"f*", "f_"},
    {"f?", "f_"},
    {"f!", "f_"},
    {"f@g", "f_g"},
    {"#f", "_f"},
    {"$f", "_f"},
    {"%s", "_s"},
    {"f&g", "f_g"},
    {"f|g", "f_g"},
    {"~f", "_f"},
    {"`f`", "_f_"},
    {"[f]", "_f_"},
    {"\t", "_"},
    {"\x7F", "_"},
    {"\xF0\x9F\x98\x80", "____"},
    {"9", "_"},
    {"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg",
     "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg"},
};

static const tcall_provider *const receivers[] = {
    &tcall_openai, &tcall_responses, &tcall_anthropic,   &tcall_ollama,
    &tcall_gemini, &tcall_mistral,   &tcall_interactions};

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

/* Each id, and whether it goes as it is to most, to OpenAI's chat, to
 * Anthropic, to Mistral. */
static const struct {
    const char *id;
    bool plain, openai, anthropic, mistral;
} ids[] = {
    {"call_1", true, true, true, false},
    {"abc123XYZ", true, true, true, true},
    {"functions.f:0", true, true, false, false},
    {"call|1", true, true, false, false},
    {"call 1", false, false, false, false},
    {"call\n", false, false, false, false},
    {"\xC3\xA9", false, false, false, false},
    {"-8062812703858712887", true, true, true, false},
    {"ab12", true, true, true, false},
    {"0000", true, true, true, false},
    {"toolu_01ABC", true, true, true, false},
    {"A-b_9", true, true, true, false},
    {"fc_68", true, true, true, false},
    {"chatcmpl-tool-9", true, true, true, false},
    {"a.b", true, true, false, false},
    {"a/b", true, true, false, false},
    {"a;b", true, true, false, false},
    {"'", true, true, false, false},
    {"a,b", true, true, false, false},
    {"\x7F", false, false, false, false},
    {"\t", false, false, false, false},
    {"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd", true, true, true, false},
    {"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddde", true, false, true, false},
    {"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg", false,
     false, false, false},
};

static void test_ids(void)
{
    size_t i, j;
    for (i = 0; i < TCALL_ARRAY_LEN(ids); i++)
        for (j = 0; j < TCALL_ARRAY_LEN(receivers); j++) {
            const tcall_provider *to = receivers[j];
            bool stays = to == &tcall_openai      ? ids[i].openai
                         : to == &tcall_anthropic ? ids[i].anthropic
                         : to == &tcall_mistral   ? ids[i].mistral
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

/* ---- edits ---- */

typedef struct edit {
    const char *name;
    bool kept; /* what is opaque goes back nevertheless */
    void (*make)(tcall_agent_desc *desc);
} edit;

static char weather[16];
static const tcall_variable variables[] = {{"weather", weather}, {NULL, NULL}};

static void change_nothing(tcall_agent_desc *desc)
{
    (void)desc;
}

static void change_extra(tcall_agent_desc *desc)
{
    desc->extra = "{\"temperature\":0.5}";
    desc->max_tokens = 99;
}

static void change_variable(tcall_agent_desc *desc)
{
    (void)desc;
    strcpy(weather, "rain");
}

static void change_system(tcall_agent_desc *desc)
{
    desc->system = "Be brief.";
}

static void withdraw_tools(tcall_agent_desc *desc)
{
    desc->tc->desc.allow = 0;
}

static void change_description(tcall_agent_desc *desc)
{
    (void)desc;
    tools[0].description = "Does something else.";
}

static void change_model(tcall_agent_desc *desc)
{
    desc->model = "m2";
}

static void change_provider(tcall_agent_desc *desc)
{
    static tcall_provider copy;
    copy = *desc->provider;
    copy.name = "copy";
    desc->provider = &copy;
}

static const edit edits[] = {
    {"nothing", true, change_nothing},
    {"extra", true, change_extra},
    {"variable", false, change_variable},
    {"system", false, change_system},
    {"tools", false, withdraw_tools},
    {"description", false, change_description},
    {"model", false, change_model},
    {"provider", false, change_provider},
};

/* Opaque reasoning of three providers, each of which says it in its way. */
static const struct {
    const tcall_provider *provider;
    const char *call, *text;
} thinkers[] = {
    {&tcall_anthropic,
     "{\"stop_reason\":\"tool_use\",\"content\":[{\"type\":\"thinking\","
     "\"thinking\":\"t\",\"signature\":\"OPAQUE\"},{\"type\":\"tool_use\","
     "\"id\":\"c1\",\"name\":\"f\",\"input\":{}}]}",
     "{\"stop_reason\":\"end_turn\",\"content\":[{\"type\":\"text\","
     "\"text\":\"ok\"}]}"},
    {&tcall_responses,
     "{\"status\":\"completed\",\"output\":[{\"type\":\"reasoning\",\"id\":"
     "\"OPAQUE\"},{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":"
     "\"f\",\"arguments\":\"{}\"}]}",
     "{\"status\":\"completed\",\"output\":[{\"type\":\"message\","
     "\"content\":[{\"type\":\"output_text\",\"text\":\"ok\"}]}]}"},
    {&tcall_gemini,
     "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":"
     "\"f\",\"args\":{}},\"thoughtSignature\":\"OPAQUE\"}]},"
     "\"finishReason\":\"STOP\"}]}",
     "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"ok\"}]},"
     "\"finishReason\":\"STOP\"}]}"},
};

/* Three turns, with an edit before the second: within the first one reasoning
 * goes back, and after it only where nothing before it has changed. */
static void test_edit(const edit *change, size_t thinker, bool restart)
{
    static char saved[4096];
    tcall_agent_desc desc;
    tcall_desc registry;
    tcall_str text;
    int i, failed = check_failed;
    begin(thinkers[thinker].provider, sizeof block);
    strcpy(answers[0], thinkers[thinker].call);
    for (i = 1; i < 4; i++)
        strcpy(answers[i], thinkers[thinker].text);
    strcpy(weather, "sun");
    tools[0].description = "Knows ${weather}.";
    desc = agent.desc;
    desc.variables = variables;
    desc.path = NULL;
    CHECK(tcall_agent_use(&agent, &desc) == TCALL_OK);
    CHECK(tcall_agent_run(&agent, tcall_str_of("one")) == TCALL_OK);
    CHECK(round_ == 2 && strstr(sent[1], "OPAQUE"));
    change->make(&desc);
    if (restart) {
        tcall_writer writer;
        tcall_writer_init(&writer, saved, sizeof saved);
        CHECK(tcall_agent_save(&agent, &writer) == TCALL_OK);
        registry = tc.desc;
        CHECK(tcall_init(&tc, &registry) == TCALL_OK);
        CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
        text.ptr = saved;
        text.len = writer.fill;
        CHECK(tcall_agent_load(&agent, text) == TCALL_OK);
    } else {
        CHECK(tcall_agent_use(&agent, &desc) == TCALL_OK);
    }
    CHECK(tcall_agent_run(&agent, tcall_str_of("two")) == TCALL_OK);
    CHECK(tcall_agent_run(&agent, tcall_str_of("three")) == TCALL_OK);
    CHECK(round_ == 4);
    for (i = 2; i < 4; i++)
        CHECK((strstr(sent[i], "OPAQUE") != NULL) == change->kept);
    if (check_failed != failed)
        printf("this was %s, %s%s\n%s\n", change->name,
               thinkers[thinker].provider->name, restart ? ", restarted" : "",
               sent[2]);
}

static void test_edits(void)
{
    size_t i, j;
    for (i = 0; i < TCALL_ARRAY_LEN(edits); i++)
        for (j = 0; j < TCALL_ARRAY_LEN(thinkers); j++) {
            test_edit(&edits[i], j, false);
            test_edit(&edits[i], j, true);
        }
}

/* ---- memory ---- */

static int long_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    int i;
    (void)cx, (void)args;
    runs++;
    for (i = 0; i < 1500; i++)
        tcall_write_text(out, "r");
    return TCALL_OK;
}

/* Three requests in a block of this size: a turn of words, and one with a call
 * whose result is long. */
static int long_turns(size_t thinker, size_t size, const char *first)
{
    int error;
    begin(thinkers[thinker].provider, sizeof block);
    strcpy(answers[0], thinkers[thinker].text);
    strcpy(answers[1], thinkers[thinker].call);
    strcpy(answers[2], thinkers[thinker].text);
    tools[0].run = long_run;
    if (tc.block.low + size < tc.block.size)
        tc.block.size = (tc.block.low + size) & ~(size_t)7;
    error = tcall_agent_run(&agent, tcall_str_of(first));
    if (error == TCALL_OK)
        error = tcall_agent_run(&agent, tcall_str_of("two"));
    return error;
}

/* Where the first turn has to go in the middle of the second, Anthropic gets no
 * reasoning of that one back, as it is bound to all before it; others do. */
static void test_dropped(void)
{
    static char first[1001];
    size_t thinker, size, kept = 0, gone = 0;
    memset(first, 'q', sizeof first - 1);
    for (thinker = 0; thinker < TCALL_ARRAY_LEN(thinkers); thinker++)
        for (size = 1024; size < 8192; size += 64) {
            int error = long_turns(thinker, size, first);
            CHECK(error == TCALL_OK ||
                  (error == TCALL_E_MEMORY && tc.block.need > tc.block.size));
            if (error == TCALL_OK && strstr(sent[1], "qqqq")) {
                bool dropped = !strstr(sent[2], "qqqq");
                bool opaque = strstr(sent[2], "OPAQUE") != NULL;
                CHECK(opaque == (thinker > 0 || !dropped));
                kept += !dropped;
                gone += dropped;
            }
        }
    CHECK(kept > 0 && gone > 0);
}

/* A call whose reasoning finds no room does not run: its result could not be
 * sent back. */
static void test_reasoning_room(void)
{
    size_t size, works = 0, lacks = 0;
    for (size = 512; size < 8192; size += 16) {
        char *end;
        int error;
        begin(&tcall_anthropic, sizeof block);
        strcpy(answers[0],
               "{\"stop_reason\":\"tool_use\",\"content\":["
               "{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"");
        end = strchr(answers[0], 0);
        memset(end, 'S', 2000);
        strcpy(end + 2000, "\"},{\"type\":\"tool_use\",\"id\":\"c1\","
                           "\"name\":\"f\",\"input\":{}}]}");
        strcpy(answers[1], thinkers[0].text);
        tc.block.size = (tc.block.low + size) & ~(size_t)7;
        error = tcall_agent_run(&agent, tcall_str_of("go"));
        CHECK(error == TCALL_OK || error == TCALL_E_MEMORY);
        CHECK(error == TCALL_OK ? strstr(sent[1], "SSSS") && runs == 1
                                : tc.block.need > tc.block.size);
        works += error == TCALL_OK;
        lacks += error != TCALL_OK && !runs;
        CHECK(error == TCALL_OK || !works);
    }
    CHECK(works > 0 && lacks > 0);
}

/* A long call that is longer when it was mended: it goes back whole, or, where
 * there is no room for that, without arguments. */
static void test_mend_room(void)
{
    char text[1024] = "{", *end = text + 1;
    size_t size, whole = 0, none = 0, works = 0;
    int i;
    for (i = 0; i < 100; i++)
        end += sprintf(end, "k%02d:1,", i);
    strcpy(end, "}");
    call_answer(0, "c1", "f", text);
    text_answer(1);
    for (size = 1500; size < 8000; size += 16) {
        int error;
        begin(by->provider, sizeof block);
        tc.block.size = (tc.block.low + size) & ~(size_t)7;
        error = tcall_agent_run(&agent, tcall_str_of("go"));
        CHECK(error == TCALL_OK || error == TCALL_E_MEMORY);
        if (error != TCALL_OK)
            continue;
        works++;
        whole += strstr(sent[1], "\\\"k99\\\":1}") != NULL;
        none += strstr(sent[1], "\"arguments\":\"{}\"") != NULL;
        CHECK(strstr(sent[1], "k99:") == NULL);
    }
    /* reading them for the tool takes as much as mending: mostly it is whole */
    CHECK(whole > 0 && whole + none == works);
}

/* Only arguments are read: what tools say goes back as it is. */
static int lenient_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    return tcall_write_text(out, "{'b': 2,}");
}

static void test_result(void)
{
    int i;
    call_answer(0, "c1", "f", "{'a': 3,}");
    for (i = 1; i < 3; i++)
        text_answer(i);
    begin(by->provider, sizeof block);
    tools[0].run = lenient_run;
    CHECK(tcall_agent_run(&agent, tcall_str_of("go")) == TCALL_OK);
    CHECK(strstr(sent[1], "{'b': 2,}") && !strstr(sent[1], "'a'"));
}

/* What the user says takes the room of all turns before it, if it needs to. */
static void test_said(void)
{
    static char first[2001], second[6001];
    size_t len, said = 0;
    by = speakers;
    memset(first, 'p', sizeof first - 1);
    for (len = 1; len < sizeof second; len += 50) {
        int i, error;
        begin(by->provider, sizeof block);
        for (i = 0; i < 2; i++)
            text_answer(i);
        tc.block.size = tc.block.low + 4096;
        CHECK(tcall_agent_run(&agent, tcall_str_of(first)) == TCALL_OK);
        memset(second, 's', len);
        second[len] = '\0';
        error = tcall_agent_run(&agent, tcall_str_of(second));
        if (error == TCALL_OK)
            CHECK(strstr(sent[1], second) != NULL);
        else
            CHECK(error == TCALL_E_MEMORY && tc.block.need > tc.block.size);
        said = error == TCALL_OK ? len : said;
    }
    CHECK(said > 2500 && said < 4096);
}

int main(void)
{
    test_dropped();
    test_reasoning_room();
    test_said();
    test_result();
    test_mend_room();
    test_edits();
    test_arguments();
    test_objects();
    test_long_arguments();
    test_blocks();
    test_names();
    test_ids();
    return check_sum("test_replay");
}
