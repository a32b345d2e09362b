/* Needs: SCHEMA, OPENAI, GEMINI, AGENT, SERVERS, LENIENT, TEXT_CALLS,
 * REASONING, STREAM. */
/* Calls that a model writes as text, between markers. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/text_calls.c"
#include "../src/providers.c"
#include "../src/agent_loop.c"
#endif
#include "check.h"
#include "wire.h"

static tcall_chat chat;

/* The text of a model, in any pieces, as calls. */
static const char *texted(const char *text, const char *stop, size_t split,
                          size_t size)
{
    static char memory[2048], out[1024];
    char body[1024];
    tcall_block block;
    tcall_reader r;
    tcall_item item;
    tcall_writer w;
    size_t at, n, len;
    tcall_writer_init(&w, body, sizeof body);
    tcall_write_text(&w, "{\"choices\":[{\"message\":{\"content\":");
    tcall_write_string(&w, text);
    tcall_write_text(&w, "},\"finish_reason\":");
    tcall_write_string(&w, stop);
    tcall_write_text(&w, "}]}");
    len = w.fill;
    tcall_block_init(&block, memory, size);
    tcall_chat_init(&chat, &block);
    tcall_reader_init(&r, &tcall_openai, &chat, NULL, NULL);
    r.text_calls = true;
    for (at = 0; at < len; at += n) {
        n = split && split < len - at ? split : len - at;
        tcall_reader_feed(&r, body + at, n);
    }
    tcall_reader_end(&r);
    CHECK(block.high == 0);
    needed = block.need;
    tcall_writer_init(&w, out, sizeof out - 1);
    for (at = 0; tcall_chat_next(&chat, &at, &item);) {
        if (item.kind == TCALL_ITEM_CALL) {
            CHECK(item.id.len == 9 && item.synthetic_id);
            show(&w, item.name, "(");
            show(&w, item.text, ")");
        } else {
            show(&w, item.text, "|");
        }
        if (item.error)
            tcall_write_text(&w, tcall_error_code(item.error));
    }
    if (r.answer.error)
        tcall_write_text(&w, tcall_error_code(r.answer.error));
    out[w.fill] = 0;
    return out;
}

static void texts(const char *text, const char *want)
{
    static const size_t splits[] = {0, 1, 2, 3, 7, 64};
    size_t i, n;
    for (i = 0; i < TCALL_ARRAY_LEN(splits); i++)
        CHECK(same(texted(text, "stop", splits[i], 2048), want));
    for (i = 0; i < 1024; i += 8) { /* never another call for want of room */
        const char *got = texted(text, "stop", i & 8 ? 1 : 0, i);
        n = strlen(got);
        CHECK(strcmp(got, want) == 0 || needed > i || !strchr(got, '(') ||
              (n > 3 && strcmp(got + n - 3, "cut") == 0));
    }
}

static void test_text_calls(void)
{
    texts("Hm. <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1, "
          "\"}\"]}}\n</tool_call> Done.",
          "Hm. |f({\"a\":[1,\"}\"]})");
    texts("<tool_call>{\"name\":\"f\",\"parameters\":{}}</tool_call>\n"
          "<tool_call>{\"name\":\"g\",\"arguments\":\"{\\\"b\\\":2}\"}"
          "</tool_call>",
          "|f({})g({\"b\":2})");
    /* as Python writes it: mended */
    texts("<tool_call>{'name': 'f', 'arguments': {'a': True,}}</tool_call>",
          "|f({\"a\":true})");
    texts("<function_call>{\"name\":\"f\"}</function_call> <tools>{\"name\":"
          "\"g\",\"args\":{}}</tools>[TOOL_CALL]g{}[/TOOL_CALL]"
          "<|tool_call|>[{\"name\":\"f\"}]",
          "|f()g({})g({})f()");
    texts("<function=f>{\"a\":1}</function><function=g></function>",
          "|f({\"a\":1})g()");
    texts("<function=f={\"a\":1}</function>", "|f({\"a\":1})");
    texts("[TOOL_CALLS] [{\"name\":\"f\",\"arguments\":{\"a\":1}}, "
          "{\"name\":\"g\",\"arguments\":{}}]",
          "|f({\"a\":1})g({})");
    texts("[TOOL_CALLS]f[ARGS]{\"a\":1}[TOOL_CALLS]g{}", "|f({\"a\":1})g({})");
    texts("<|python_tag|>{\"name\":\"f\",\"parameters\":{\"a\":1}}; "
          "{\"name\":\"g\",\"parameters\":{}}",
          "|f({\"a\":1})g({})");
    /* what is not whole does not run */
    texts("<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}}",
          "|f({\"a\":1})cut");
    texts("<tool_call>{\"name\":\"f\",\"arguments\":{\"a",
          "|({\"name\":\"f\",\"arguments\":{\"a)cut");
    texts("[TOOL_CALLS]f{\"a", "|f({\"a)cut");
    texts("<|python_tag|>f.call(x=1)", "|f.call((x=1))bad-value");
    CHECK(same(texted("[TOOL_CALLS]f{}", "length", 0, 2048), "|f({})cut"));
    texts("<tool_call>{name}</tool_call>", "|({name})missing-colon");
    /* outside of markers nothing is a call */
    texts("{\"name\":\"f\",\"arguments\":{}}",
          "{\"name\":\"f\",\"arguments\":{}}|");
    texts("Use <tool_call> tags", "Use <tool_call> tags|");
    texts("<tool_call>do it</tool_call>", "|do(it)bad-value");
    texts("</tool_call> [TOOL_CALLS ] <function>f</function>",
          "</tool_call> [TOOL_CALLS ] <function>f</function>|");
}

/* A server that says the same always, until it has been asked twice. */
typedef struct server {
    char path[128];
    const char *answer, *at;
    int asked;
} server;

static int server_open(void *user, const tcall_request *req,
                       tcall_response *res)
{
    server *s = (server *)user;
    snprintf(s->path, sizeof s->path, "%s", req->path);
    s->at = s->answer;
    res->status = 200;
    return s->asked++ < 2 ? TCALL_OK : TCALL_E_CONNECT;
}

static int server_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    (void)bytes;
    return (int)len;
}

static int server_read(void *user, char *bytes, size_t cap)
{
    server *s = (server *)user;
    size_t n = strlen(s->at);
    n = n < cap ? n : cap;
    memcpy(bytes, s->at, n);
    s->at += n;
    return (int)n;
}

static void server_close(void *user)
{
    (void)user;
}

static int ran;

static int run_f(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    ran += tcall_json_int(tcall_json_get(args, "a"), 0);
    return tcall_write_text(out, "ok");
}

/* A turn; the path that was asked for. */
static const char *turn(const tcall_provider *p, const char *answer,
                        bool stream, bool text_calls)
{
    static server s;
    static char memory[8192];
    static const char schema[] = TCALL_JSON({
        "type" : "object",
        "required" : ["a"],
        "properties" : {"a" : {"type" : "integer"}}
    });
    tcall tc;
    tcall_agent agent;
    tcall_tool tool;
    tcall_desc d;
    tcall_agent_desc ad;
    memset(&s, 0, sizeof s);
    memset(&tool, 0, sizeof tool);
    memset(&d, 0, sizeof d);
    memset(&ad, 0, sizeof ad);
    s.answer = answer;
    tool.name = "f";
    tool.description = "Does it.";
    tool.parameters = schema;
    tool.run = run_f;
    tool.permissions = TCALL_READ;
    d.block = memory;
    d.block_size = sizeof memory;
    d.tools = &tool;
    d.tool_count = 1;
    d.allow = TCALL_READ;
    ad.tc = &tc;
    ad.provider = p;
    ad.model = "gemini-x";
    ad.stream = stream;
    ad.text_calls = text_calls;
    ad.transport.open = server_open;
    ad.transport.write = server_write;
    ad.transport.read = server_read;
    ad.transport.close = server_close;
    ad.transport.user = &s;
    ad.allow_repeat = true;
    ran = 0;
    CHECK(tcall_init(&tc, &d) == TCALL_OK);
    CHECK(tcall_agent_init(&agent, &ad) == TCALL_OK);
    tcall_agent_run(&agent, tcall_str_of("go"));
    return s.path;
}

static void test_agent(void)
{
    static const char text[] =
        "{\"choices\":[{\"message\":{\"content\":\"<tool_call>{'name': 'f', "
        "'arguments': {'a': 3}}</tool_call>\"},\"finish_reason\":\"stop\"}]}";
    CHECK(same(turn(&tcall_gemini, "{}", false, false),
               "/v1beta/models/gemini-x:generateContent"));
    CHECK(same(turn(&tcall_gemini, "{}", true, false),
               "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"));
    CHECK(same(turn(&tcall_groq, text, false, true),
               "/openai/v1/chat/completions"));
    CHECK(ran == 6);
    turn(&tcall_llamacpp, text, false, false);
    CHECK(ran == 0);
}

int main(void)
{
    test_agent();
    test_text_calls();
    return check_sum("test_text_calls");
}
