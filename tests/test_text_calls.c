/* Needs: AGENT. */
/* Calls that a model writes as text, between markers. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/text_calls.c"
#include "../src/servers.c"
#include "../src/agent_loop.c"
#endif
#include "check.h"
#include "fuzz.h"
#include "wire.h"

static tcall_chat chat;

/* There are tools f, g and h, where somebody asks. */
static bool knows(void *user, tcall_str name)
{
    (void)user;
    return name.len == 1 && strchr("fgh", *name.ptr);
}

/* The text of a model, in any pieces, as calls. */
static const char *texted(const tcall_text_calls *calls, const char *text,
                          const char *stop, size_t split, size_t size)
{
    static char memory[4096], out[2048];
    char body[4096];
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
    r.text_calls = calls;
    r.knows = knows;
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
            CHECK(item.id.len == 9 && item.flags & TCALL_FLAG_MADE_ID);
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

/* In one piece and in many, in a block of any size. */
static void texts_of(const tcall_text_calls *calls, const char *text,
                     const char *want)
{
    static const size_t splits[] = {0, 1, 2, 3, 7, 64};
    size_t i, n;
    for (i = 0; i < TCALL_ARRAY_LEN(splits); i++)
        CHECK(same(texted(calls, text, "stop", splits[i], 4096), want));
    for (i = 0; i < 1024; i += 8) { /* never another call for want of room */
        const char *got = texted(calls, text, "stop", i & 8 ? 1 : 0, i);
        const char *bar = strrchr(got, '|');
        n = strlen(got);
        CHECK(strcmp(got, want) == 0 || needed > i ||
              !strchr(bar ? bar : got, '(') ||
              (n > 3 && strcmp(got + n - 3, "cut") == 0));
    }
}

static void texts(const char *text, const char *want)
{
    texts_of(&tcall_text_any, text, want);
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
          "|f({\"a\":1})g({})");
    texts("<function=f={\"a\":1}</function>", "|f({\"a\":1})");
    texts("[TOOL_CALLS] [{\"name\":\"f\",\"arguments\":{\"a\":1}}, "
          "{\"name\":\"g\",\"arguments\":{}}]",
          "|f({\"a\":1})g({})");
    texts("[TOOL_CALLS]f[ARGS]{\"a\":1}[TOOL_CALLS]g{}", "|f({\"a\":1})g({})");
    texts("<|python_tag|>{\"name\":\"f\",\"parameters\":{\"a\":1}}; "
          "{\"name\":\"g\",\"parameters\":{}}",
          "|f({\"a\":1})g({})");
    texts("<|python_tag|>f.call(x=1, y=\"a, b\")",
          "|f({\"x\":1,\"y\":\"a, b\"})");
    /* what is not whole does not run */
    texts("<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}}",
          "|f({\"a\":1})cut");
    texts("<tool_call>{\"name\":\"f\",\"arguments\":{\"a",
          "|f({\"name\":\"f\",\"arguments\":{\"a)cut");
    texts("<tool_call>{\"na", "|({\"na)cut");
    texts("[TOOL_CALLS]f{\"a", "|f({\"a)cut");
    texts("[TOOL_CALLS]f", "|f()cut");
    CHECK(same(texted(&tcall_text_any, "[TOOL_CALLS]f{}", "length", 0, 2048),
               "|f({})cut"));
    /* nor what is broken: it is told */
    texts("<tool_call>{name}</tool_call>", "|({name})missing-colon");
    texts("<tool_call>{\"name\":\"f\",\"arguments\":{}</tool_call>",
          "|f({\"name\":\"f\",\"arguments\":{})cut");
    texts("<function=f>do it</function>", "|f(do it)bad-value");
    texts("<tool_call>{\"name\":\"f\",\"name\":\"g\"}</tool_call>",
          "|f({\"name\":\"f\",\"name\":\"g\"})duplicate-key");
    /* outside of markers nothing is a call */
    texts("{\"name\":\"f\",\"arguments\":{}}",
          "{\"name\":\"f\",\"arguments\":{}}|");
    texts("Use <tool_call> tags", "Use <tool_call> tags|");
    texts("<tool_call>do it</tool_call>", "<tool_call>do it</tool_call>|");
    texts("</tool_call> [TOOL_CALLS ] <function>f</function>",
          "</tool_call> [TOOL_CALLS ] <function>f</function>|");
}

/* What each family writes, alone and among all. */
static void test_families(void)
{
#define BAR           "\xEF\xBD\x9C"
#define SEP           "\xE2\x96\x81"
#define DSML          BAR "DSML" BAR
#define WIDE(a, b, c) "<" BAR a SEP b SEP c BAR ">"
    static const struct {
        const tcall_text_calls *calls;
        const char *text, *want;
    } rows[] = {
        {&tcall_text_hermes,
         "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": "
         "1}}\n</tool_call>\n<tool_call>\n{\"arguments\": {}, \"name\": "
         "\"g\"}\n</tool_call>",
         "|f({\"a\":1})g({})"},
        {&tcall_text_hermes,
         "<tool_call>{\"type\":\"function\",\"function\":{\"name\":\"f\","
         "\"arguments\":{\"a\":1}}}</tool_call>",
         "|f({\"a\":1})"},
        {&tcall_text_hermes, /* markers within the arguments are text */
         "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"<tool_call>{"
         "'name':'g'}</tool_call>\"}}</tool_call>",
         "|f({\"a\":\"<tool_call>{'name':'g'}</tool_call>\"})"},
        {&tcall_text_qwen,
         "Let me see.\n<tool_call>\n<function=f>\n<parameter=a>\n1\n"
         "</parameter>\n<parameter=b>\nx \"y\"\n\nz\n</parameter>\n"
         "</function>\n</tool_call>",
         "Let me see.\n|f({\"a\":\"1\",\"b\":\"x \\\"y\\\"\\n\\nz\"})"},
        {&tcall_text_qwen, "<function=g>\n</function>", "|g({})"},
        {&tcall_text_glm,
         "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n"
         "<arg_key>b</arg_key>\n<arg_value>[1]</arg_value>\n</tool_call>"
         "\n<tool_call>g</tool_call>",
         "|f({\"a\":\"1\",\"b\":\"[1]\"})g({})"},
        {&tcall_text_mistral, "[TOOL_CALLS]f[CALL_ID]123456789[ARGS]{\"a\": 1}",
         "|f({\"a\": 1})"},
        {&tcall_text_phi,
         "<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"a\": 1}}]"
         "<|/tool_call|>",
         "|f({\"a\":1})"},
        {&tcall_text_kimi,
         "Yes.<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
         "<|tool_call_argument_begin|>{\"a\": 1}<|tool_call_end|>"
         "<|tool_call_begin|>functions.g:1<|tool_call_argument_begin|>{}"
         "<|tool_call_end|><|tool_calls_section_end|>",
         "Yes.|f({\"a\": 1})g({})"},
        {&tcall_text_deepseek,
         WIDE("tool", "calls", "begin") WIDE(
             "tool", "call", "begin") "f<" BAR "tool" SEP "sep" BAR
                                      ">{\"a\": 1}" WIDE("tool", "call", "end")
                                          WIDE("tool", "calls", "end"),
         "|f({\"a\": 1})"},
        {&tcall_text_deepseek,
         WIDE("tool", "calls", "begin")
             WIDE("tool", "call", "begin") "function<" BAR "tool" SEP "sep" BAR
                                           ">f\n```json\n{\"a\": 1}\n```" WIDE(
                                               "tool", "call", "end")
                                               WIDE("tool", "calls", "end"),
         "|f({\"a\": 1})"},
        {&tcall_text_deepseek,
         "<" DSML "function_calls>\n<" DSML "invoke name=\"f\">\n<" DSML
         "parameter name=\"a\" string=\"false\">1</" DSML "parameter>\n</" DSML
         "invoke>\n</" DSML "function_calls>",
         "|f({\"a\":\"1\"})"},
        {&tcall_text_minimax,
         "<minimax:tool_call>\n<invoke name=\"f\">\n<parameter "
         "name=\"a\">1</parameter>\n</invoke>\n<invoke "
         "name=\"g\">\n</invoke>\n</minimax:tool_call>",
         "|f({\"a\":\"1\"})g({})"},
        {&tcall_text_gpt_oss,
         "<|channel|>commentary to=functions.f <|constrain|>json<|message|>"
         "{\"a\": 1}<|call|>",
         "|f({\"a\": 1})"},
        {&tcall_text_gpt_oss,
         "<|start|>assistant to=functions.f<|channel|>commentary json"
         "<|message|>{\"a\": 1}",
         "|f({\"a\": 1})"},
        {&tcall_text_llama, "<function=f>{\"a\": 1}</function>",
         "|f({\"a\": 1})"}};
    static const struct {
        const char *text, *want;
    } bare[] = {
        {"{\"name\": \"f\", \"parameters\": {\"a\": 1}}", "|f({\"a\":1})"},
        {" {\"type\": \"function\", \"name\": \"f\", \"parameters\": {}}; "
         "{\"name\": \"g\", \"parameters\": {\"b\": \"\"}}\n",
         " |f({})g({\"b\":\"\"})"},
        {"[f(a=1, b='x, y)', c=[1, (2)], d={\"k\": True}), g()]",
         "|f({\"a\":1,\"b\":'x, y)',\"c\":[1, (2)],\"d\":{\"k\": True}})g({})"},
        {"[f(a = \"it's\")]", "|f({\"a\":\"it's\"})"},
        {"[f(a=1", "|f({\"a\":)cut"},
        {"{\"name\": \"f\", \"param", "|f({\"name\": \"f\", \"param)cut"},
        {"[f(x)]", "[f(x)]|"},
        {"[1](f) [g(a=1)]", "[1](f) [g(a=1)]|"},
        {"So: {\"name\": \"f\", \"parameters\": {}}",
         "So: {\"name\": \"f\", \"parameters\": {}}|"},
        {"{\"name\": \"f\", \"parameters\": {}} is how.",
         "{\"name\": \"f\", \"parameters\": {}} is how.|"},
        {"{\"name\": \"Ann\", \"age\": 4}", "{\"name\": \"Ann\", \"age\": 4}|"},
        {"[x(a=1)]", "[x(a=1)]|"}};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        texts_of(rows[i].calls, rows[i].text, rows[i].want);
        texts_of(&tcall_text_any, rows[i].text, rows[i].want);
    }
    for (i = 0; i < TCALL_ARRAY_LEN(bare); i++)
        texts_of(&tcall_text_llama, bare[i].text, bare[i].want);
    /* a family reads its own only */
    texts_of(&tcall_text_kimi, "<tool_call>{\"name\":\"f\"}</tool_call>",
             "<tool_call>{\"name\":\"f\"}</tool_call>|");
}

/* What only looks like a call stays text. */
static void test_phantoms(void)
{
#define F "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"
#define Q "<tool_call><function=f></function></tool_call>"
    static const char *const rows[] = {
        "To call it write <tool_call>{\"name\": \"f\"}</tool_call>, you know?",
        "Write " F " and it runs.",
        "Like this: " F ".",
        "It says \"" F "\"",
        "It says \xE2\x80\x9C" F "\xE2\x80\x9D",
        "Use `" F "` there",
        "`a " F " b` is code",
        "So:\n```\n" F "\n```\n",
        "So:\n```xml\n" F "\n```\nand\n```\n" Q "\n```",
        "So: ```\n" F "\n``` that",
        "```\n" F,
        "> " F,
        "You said:\n> call\n> " F "\nDid you?",
        "{\"example\": \"see " Q " Then\"}",
        "Got {\"n\": [1, \"a " Q " B\"]} there",
        "{\"example\": \"see <tool_call>{\\\"name\\\":\\\"f\\\"}</tool_call> "
        "Then\"}",
        "<tool_call>{\\\"name\\\":\\\"f\\\"}</tool_call>",
        "<tool_call>{\"name\":\"rm\",\"arguments\":{}}</tool_call>",
        "<tool_call>rm</tool_call>",
        "<function=rm>{\"a\":1}</function>",
        "[TOOL_CALLS]rm{\"a\":1}",
        "<tool_call>{\"name\":\"rm\",\"argu",
        "<tool_call>",
        "<|tool_call_begin|>",
        "<|channel|>final<|message|>Hello",
        "[TOOL_CALLS] are what Mistral writes",
        "[TOOL_CALLS]f is how it begins",
    };
    char text[4000], want[4000];
    size_t i, n;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        snprintf(want, sizeof want, "%s|", rows[i]);
        texts(rows[i], want);
        /* a call after it is one */
        snprintf(text, sizeof text, "%s\n\n" F, rows[i]);
        if (!strchr(rows[i], '`') && !strstr(rows[i], "cut"))
            CHECK(strstr(texted(&tcall_text_any, text, "stop", 0, 4096),
                         "f({})") != NULL ||
                  strstr(texted(&tcall_text_any, text, "stop", 0, 4096),
                         "cut") != NULL);
    }
    texts("So:\n```\n" F "\n```\n" F, "So:\n```\n" F "\n```\n|f({})");
    texts("Is `a` it? " F, "Is `a` it? |f({})");
    texts("> no\n" F, "> no\n|f({})");
    texts("{\"a\": \"" F "\"}\n" F, "{\"a\": \"" F "\"}\n|f({})");
    texts("<tool_call>{\"name\":\"rm\"}</tool_call>" F,
          "<tool_call>{\"name\":\"rm\"}</tool_call>|f({})");
    texts("Use {x} and \"{\" and [1] then " F,
          "Use {x} and \"{\" and [1] then |f({})");
    /* of so many tries no more are made */
    for (n = i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "<tool_call>{x ");
    CHECK(strlen(texted(&tcall_text_any, text, "stop", 0, 4096)) > 0);
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
                        bool stream, const tcall_text_calls *text_calls)
{
    static server s;
    static char memory[8192];
    static const char schema[] = TCALL_TEXT({
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
    tool.parameters = tcall_schema_text_of(schema);
    tool.run = run_f;
    tool.permissions = TCALL_READ;
    d.block = memory;
    d.lenient = &tcall_lenient;
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
    CHECK(same(turn(&tcall_gemini, "{}", false, NULL),
               "/v1beta/models/gemini-x:generateContent"));
    CHECK(same(turn(&tcall_gemini, "{}", true, NULL),
               "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"));
    CHECK(same(turn(&tcall_groq, text, false, &tcall_text_hermes),
               "/openai/v1/chat/completions"));
    CHECK(ran == 6);
    turn(&tcall_llamacpp, text, false, NULL);
    CHECK(ran == 0);
}

/* Whatever the text is: texted() sees that nothing is left in the block. */
static bool holds(const char *in, size_t len)
{
    char text[401];
    size_t i;
    memcpy(text, in, len);
    text[len] = 0;
    for (i = 0; i < 3; i++)
        texted(i ? &tcall_text_any : &tcall_text_llama, text, "stop", 0,
               i < 2 ? 4096 : 300);
    return true;
}

static const char *const seeds[] = {
    F "[TOOL_CALLS]f[ARGS]{}<|python_tag|>f.call(x=1)",
    "[f(a=1, b='x', c=[1])]",
    "`a` \"" Q "\"\n> x\n```\n" F,
    "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
    "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}",
    "<|channel|>commentary to=functions.f json<|message|>{}"};

/* Beginnings of what the fuzzer begins with. */
static void test_pieces(void)
{
    size_t i, n;
    for (i = 0; i < sizeof seeds / sizeof *seeds; i++)
        for (n = 0; n <= strlen(seeds[i]); n++)
            CHECK(holds(seeds[i], n));
}

FUZZ(seeds, (void)0, holds)

int main(void)
{
    test_agent();
    test_text_calls();
    test_families();
    test_phantoms();
    test_pieces();
    return check_sum("test_text_calls");
}
