/* Needs: AGENT. */
/* Answers that did not end by themselves: a turn that gets one ends with a code
 * that says so, and keeps the words that came. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/agent_loop.c"
#include "../src/servers.c"
#endif
#include "check.h"

static int runs;

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    runs++;
    return tcall_write_text(out, "done");
}

/* A server that plays answers, with ' for ". */
static const char *const *answers;
static char answer[2048];
static size_t given;
static char sent[8192];
static size_t sent_len;

static int net_open(void *user, const tcall_request *request,
                    tcall_response *response)
{
    const char *from = *answers ? *answers++ : "";
    char *to = answer;
    (void)user;
    (void)request;
    for (; *from; from++)
        *to++ = (char)(*from == '\'' ? '"' : *from);
    *to = 0;
    given = sent_len = 0;
    response->status = 200;
    return TCALL_OK;
}

static int net_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    CHECK(sent_len + len < sizeof sent);
    memcpy(sent + sent_len, bytes, len);
    sent_len += len;
    sent[sent_len] = 0;
    return (int)len;
}

static int net_read(void *user, char *bytes, size_t cap)
{
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
}

static char block[16384];
static tcall tc;
static tcall_agent agent;
static tcall_tool tools[1];

static int turn(const tcall_provider *provider, const char *const *script,
                bool no_parallel)
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
    desc.block_size = sizeof block;
    desc.tools = tools;
    desc.tool_count = 1;
    desc.allow = TCALL_READ;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    agent_desc.tc = &tc;
    agent_desc.provider = provider;
    agent_desc.model = "m";
    agent_desc.no_parallel = no_parallel;
    agent_desc.allow_repeat = true;
    agent_desc.transport.open = net_open;
    agent_desc.transport.write = net_write;
    agent_desc.transport.read = net_read;
    agent_desc.transport.close = net_close;
    CHECK(tcall_agent_init(&agent, &agent_desc) == TCALL_OK);
    answers = script;
    runs = 0;
    return tcall_agent_run(&agent, tcall_str_of("go"));
}

#define CHAT(message, stop)                                             \
    "{'choices':[{'index':0,'message':{'role':'assistant'," message "}" \
    ",'finish_reason':'" stop "'}]}"
#define BLOCKS(blocks, stop)                                       \
    "{'type':'message','role':'assistant','content':[" blocks "]," \
    "'stop_reason':'" stop "','usage':{}}"
#define TEXT_BLOCK "{'type':'text','text':'Some wor'}"
#define OUTPUT(items, status) \
    "{'object':'response','status':'" status "','output':[" items "]}"
#define PARTS(parts, stop)                                            \
    "{'candidates':[{'content':{'role':'model','parts':[" parts "]}," \
    "'finishReason':'" stop "'}]}"

static const struct {
    const char *provider, *answer, *text;
    int error;
} endings[] = {
    {"openai", CHAT("'content':'Hello.'", "stop"), "Hello.", TCALL_OK},
    {"openai", CHAT("'content':'Some wor'", "length"), "Some wor",
     TCALL_E_LENGTH},
    {"openai", CHAT("'content':null", "length"), "", TCALL_E_LENGTH},
    {"openai", CHAT("'content':'Some wor'", "content_filter"), "Some wor",
     TCALL_E_REFUSED},
    {"openai", CHAT("'content':'Some wor'", "what_is_this"), "Some wor",
     TCALL_E_UNHANDLED},
    {"openai", CHAT("'content':''", "stop"), "", TCALL_E_EMPTY},
    {"openai",
     CHAT("'content':null,'tool_calls':[{'id':'c','type':'future'}]",
          "tool_calls"),
     "", TCALL_E_UNHANDLED},
    {"openai",
     CHAT("'content':'Look.','tool_calls':[{'id':'c','type':'future'}]",
          "tool_calls"),
     "Look.", TCALL_E_UNHANDLED},
    {"anthropic", BLOCKS(TEXT_BLOCK, "max_tokens"), "Some wor", TCALL_E_LENGTH},
    {"anthropic", BLOCKS(TEXT_BLOCK, "model_context_window_exceeded"),
     "Some wor", TCALL_E_LENGTH},
    {"anthropic", BLOCKS(TEXT_BLOCK, "pause_turn"), "Some wor",
     TCALL_E_UNHANDLED},
    {"anthropic", BLOCKS("", "end_turn"), "", TCALL_E_EMPTY},
    {"anthropic", BLOCKS("{'type':'future_block','name':'f'}", "end_turn"), "",
     TCALL_E_UNHANDLED},
    {"responses", OUTPUT("", "queued"), "", TCALL_E_QUEUED},
    {"responses", OUTPUT("", "completed"), "", TCALL_E_EMPTY},
    {"responses",
     OUTPUT("{'type':'message','content':[{'type':'output_text',"
            "'text':'Look.'}]},{'type':'computer_call','call_id':'c'}",
            "completed"),
     "Look.", TCALL_E_UNHANDLED},
    {"responses", OUTPUT("{'type':'tool_search_call'}", "completed"), "",
     TCALL_E_UNHANDLED},
    {"gemini", PARTS("{'text':'Some wor'}", "MAX_TOKENS"), "Some wor",
     TCALL_E_LENGTH},
    {"gemini", PARTS("{'text':'Some wor'}", "SAFETY"), "Some wor",
     TCALL_E_REFUSED},
    {"gemini", PARTS("", "STOP"), "", TCALL_E_EMPTY},
    {"anthropic",
     BLOCKS("{'type':'thinking','thinking':'Hm.','signature':'s'}",
            "max_tokens"),
     "", TCALL_E_LENGTH},
    {"ollama",
     "{'message':{'role':'assistant','content':'Some wor'},'done':true,"
     "'done_reason':'length'}",
     "Some wor", TCALL_E_LENGTH},
};

/* The next question is answered as if nothing had been. */
static void test_endings(void)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(endings); i++) {
        const tcall_provider *provider =
            tcall_provider_named(endings[i].provider);
        const char *script[2] = {endings[i].answer, NULL};
        int failed = check_failed;
        tcall_str text;
        CHECK(turn(provider, script, false) == endings[i].error);
        text = tcall_agent_text(&agent);
        CHECK(tcall_str_eq(text, tcall_str_of(endings[i].text)));
        /* Without words nothing stays, and there was no answer. */
        CHECK(agent.turn.rounds == (text.len > 0));
        CHECK(text.len || tc.block.low == agent.chat.start);
        CHECK(*tcall_error_text(endings[i].error) || !endings[i].error);
        answers = script;
        CHECK(tcall_agent_run(&agent, tcall_str_of("again")) ==
              endings[i].error);
        if (check_failed != failed)
            printf("this was %s: %s\n", endings[i].answer,
                   tcall_error_code(agent.answer.error));
    }
}

/* Arguments in a form that is not read: no call runs, and the model is told. */
static void test_unread_arguments(void)
{
    static const char *const script[] = {
        PARTS("{'functionCall':{'name':'f','partialArgs':[{'jsonPath':'$.a'}]}"
              "}",
              "STOP"),
        PARTS("{'text':'ok'}", "STOP"), NULL};
    CHECK(turn(&tcall_gemini, script, false) == TCALL_OK);
    CHECK(runs == 0);
    CHECK(strstr(sent, "unhandled") != NULL);
}

/* A server that sends several calls although only one was asked for. */
static void test_one_call(void)
{
    static const char *const script[] = {
        CHAT("'tool_calls':[{'id':'a','function':{'name':'f','arguments':'{}'}}"
             ",{'id':'b','function':{'name':'f','arguments':'{}'}},"
             "{'id':'c','function':{'name':'f','arguments':'{}'}}]",
             "tool_calls"),
        CHAT("'content':'ok'", "stop"), NULL};
    CHECK(turn(&tcall_openai, script, false) == TCALL_OK);
    CHECK(runs == 3);
    CHECK(turn(&tcall_openai, script, true) == TCALL_OK);
    CHECK(runs == 1);
    CHECK(strstr(sent, "\"parallel_tool_calls\":false") != NULL);
    CHECK(strstr(sent, "\"tool_call_id\":\"c\"") != NULL);
}

int main(void)
{
    test_endings();
    test_unread_arguments();
    test_one_call();
    return check_sum("test_endings");
}
