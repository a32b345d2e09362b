/* Needs: AGENT. */
/* A transport that pauses gets the same request as one that blocks, byte for
 * byte, wherever it pauses: the request is taken up again in the middle. */
#include "toolcall.h"
#include "check.h"

enum { TOOLS = 6 };

static char block[32768];

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    return tcall_write_text(out, "{\"done\":\"\xC3\xA9 \\\"quoted\\\"\\n\"}");
}

/* What the transport does, and what it got: all requests of a conversation. */
typedef struct net {
    const char *const *answers;
    size_t read_at, most; /* bytes accepted at a time; 0: all */
    bool paused;
    size_t sent, wanted, total;
    char requests[1 << 16];
} net;

static int net_open(void *user, const tcall_request *req, tcall_response *res)
{
    net *n = (net *)user;
    n->read_at = n->sent = 0;
    n->wanted = req->body_len;
    res->status = 200;
    return TCALL_OK;
}

static int net_write(void *user, const char *bytes, size_t len)
{
    net *n = (net *)user;
    n->paused = n->most && !n->paused;
    if (n->paused)
        return TCALL_E_AGAIN;
    if (n->most && len > n->most)
        len = n->most;
    CHECK(n->sent + len <= n->wanted && n->total + len < sizeof n->requests);
    memcpy(n->requests + n->total, bytes, len);
    n->total += len;
    n->sent += len;
    return (int)len;
}

static int net_read(void *user, char *bytes, size_t cap)
{
    net *n = (net *)user;
    size_t left = strlen(*n->answers) - n->read_at;
    CHECK(n->sent == n->wanted);
    left = left < cap ? left : cap;
    memcpy(bytes, *n->answers + n->read_at, left);
    n->read_at += left;
    return (int)left;
}

static void net_close(void *user)
{
    ((net *)user)->answers++;
}

static void set_tools(tcall_tool *tools)
{
    static const char *const names[TOOLS] = {"a", "b", "c", "d", "e", "f"};
    int i;
    memset(tools, 0, TOOLS * sizeof *tools);
    for (i = 0; i < TOOLS; i++) {
        tools[i].name = names[i];
        tools[i].description = "Does \"${what}\" \xE2\x82\xAC in the house.";
        tools[i].parameters = tcall_schema_text_of(
            i % 3 ? "{\"type\":\"object\",\"required\":[\"room\"],"
                    "\"properties\":{\"room\":{\"type\":\"string\","
                    "\"description\":\"A room\\nby name\"},\"level\":{\"type\":"
                    "\"integer\",\"minimum\":0,\"maximum\":100}},"
                    "\"additionalProperties\":false}"
                  : "{}");
        tools[i].strict = i % 2 != 0;
        tools[i].run = run;
        tools[i].permissions = TCALL_READ;
    }
}

/* Says something twice; answers what was sent. */
static size_t talk(net *n, const tcall_provider *provider,
                   const char *const *answers, size_t most, size_t io_size)
{
    static const tcall_variable variables[] = {{"what", "a \\ thing"},
                                               {NULL, NULL}};
    static tcall_agent agent;
    tcall_tool tools[TOOLS];
    tcall tc;
    tcall_desc d;
    tcall_agent_desc desc;
    memset(n, 0, sizeof *n);
    n->answers = answers;
    n->most = most;
    set_tools(tools);
    memset(&d, 0, sizeof d);
    d.block = block;
    d.lenient = &tcall_lenient;
    d.block_size = sizeof block;
    d.tools = tools;
    d.tool_count = TOOLS;
    d.allow = TCALL_READ;
    CHECK(tcall_init(&tc, &d) == TCALL_OK);
    memset(&desc, 0, sizeof desc);
    desc.tc = &tc;
    desc.provider = provider;
    desc.model = "m";
    desc.system = "Be \"brief\".\n\tAnd kind \xF0\x9F\x98\x80.";
    desc.variables = variables;
    desc.io_size = io_size;
    desc.transport.open = net_open;
    desc.transport.write = net_write;
    desc.transport.read = net_read;
    desc.transport.close = net_close;
    desc.transport.user = n;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    CHECK(tcall_agent_run(&agent, tcall_str_of("do \"it\"\x01\xFF now")) ==
          TCALL_OK);
    CHECK(tcall_agent_run(&agent, tcall_str_of("again")) == TCALL_OK);
    return n->total;
}

static const char *const openai[] = {
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
    "\"Well \\\"so\\\".\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
    "\"function\":{\"name\":\"a\",\"arguments\":\"{\\\"x\\\":\\\"y\\\"}\"}},"
    "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"b\","
    "\"arguments\":\"{\\\"room\\\":\\\"hall\\\"}\"}}]},"
    "\"finish_reason\":\"tool_calls\"}]}",
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
    "\"Done.\"},\"finish_reason\":\"stop\"}]}",
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
    "\"Bye.\"},\"finish_reason\":\"stop\"}]}"};
static const char *const anthropic[] = {
    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"
    "\"thinking\",\"thinking\":\"Hm.\",\"signature\":\"abc\"},{\"type\":"
    "\"text\",\"text\":\"Well.\"},{\"type\":\"tool_use\",\"id\":\"t1\","
    "\"name\":\"b\",\"input\":{\"room\":\"hall\"}}],\"stop_reason\":"
    "\"tool_use\"}",
    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"
    "\"text\",\"text\":\"Done.\"}],\"stop_reason\":\"end_turn\"}",
    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"
    "\"text\",\"text\":\"Bye.\"}],\"stop_reason\":\"end_turn\"}"};
static const char *const ollama[] = {
    "{\"message\":{\"role\":\"assistant\",\"content\":\"Well.\",\"tool_calls\":"
    "[{\"function\":{\"name\":\"b\",\"arguments\":{\"room\":\"hall\"}}}]},"
    "\"done\":true,\"done_reason\":\"stop\"}",
    "{\"message\":{\"role\":\"assistant\",\"content\":\"Done.\"},"
    "\"done\":true,\"done_reason\":\"stop\"}",
    "{\"message\":{\"role\":\"assistant\",\"content\":\"Bye.\"},"
    "\"done\":true,\"done_reason\":\"stop\"}"};
static const char *const responses[] = {
    "{\"status\":\"completed\",\"output\":[{\"type\":\"reasoning\",\"id\":"
    "\"r1\",\"encrypted_content\":\"xyz\",\"summary\":[]},{\"type\":"
    "\"function_call\",\"call_id\":\"c1\",\"name\":\"b\",\"arguments\":"
    "\"{\\\"room\\\":\\\"hall\\\"}\"}]}",
    "{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":"
    "[{\"type\":\"output_text\",\"text\":\"Done.\"}]}]}",
    "{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":"
    "[{\"type\":\"output_text\",\"text\":\"Bye.\"}]}]}"};
static const char *const gemini[] = {
    "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{"
    "\"functionCall\":{\"name\":\"b\",\"args\":{\"room\":\"hall\"}},"
    "\"thoughtSignature\":\"sig\"}]},\"finishReason\":\"STOP\"}]}",
    "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":"
    "\"Done.\"}]},\"finishReason\":\"STOP\"}]}",
    "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":"
    "\"Bye.\"}]},\"finishReason\":\"STOP\"}]}"};

static void same_request(const tcall_provider *provider,
                         const char *const *answers)
{
    static const size_t sizes[] = {1, 7, 64, 100, 512, 5000};
    static net blocking, pausing;
    size_t i, most;
    CHECK(talk(&blocking, provider, answers, 0, 0) > 0);
    for (i = CHECK_EVERY > 1 ? 2 : 0; i < sizeof sizes / sizeof *sizes; i++)
        for (most = 1 + CHECK_EVERY / 2; most < 1200;
             most = most * 3 / 2 + CHECK_EVERY) {
            talk(&pausing, provider, answers, most, sizes[i]);
            CHECK(pausing.total == blocking.total);
            CHECK(memcmp(pausing.requests, blocking.requests, blocking.total) ==
                  0);
        }
}

int main(void)
{
    same_request(&tcall_openai, openai);
    same_request(&tcall_anthropic, anthropic);
    same_request(&tcall_ollama, ollama);
    same_request(&tcall_responses, responses);
    same_request(&tcall_gemini, gemini);
    return check_sum("agent_again");
}
