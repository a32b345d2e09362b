/* Wire formats: answers in, whole, streamed, cut, broken, in any pieces and in
 * blocks of any size; requests out. */
#include "toolcall.h"
#include "check.h"

static char shown[4096]; /* what was read, as text */
static char heard[4096]; /* text as it came */
static size_t heard_len, needed;
static tcall_answer last;

static void hear(void *user, tcall_str piece)
{
    (void)user;
    if (heard_len + piece.len < sizeof heard) {
        memcpy(heard + heard_len, piece.ptr, piece.len);
        heard_len += piece.len;
    }
    heard[heard_len] = 0;
}

static void show(tcall_writer *w, tcall_str text, const char *behind)
{
    tcall_write_bytes(w, text.ptr, text.len);
    tcall_write_text(w, behind);
}

/* Reads len bytes of a body in pieces, each a copy of its own, so that reading
 * beyond one is seen. Leaves in shown: "text|", then "id:name(arguments)!error"
 * for each call, made up ids as "+", and at last the answer's error. A call's
 * error is what the reader or, failing that, the arguments themselves tell. */
static const char *read_body(const tcall_provider *provider, const char *body,
                             size_t len, size_t split, size_t size)
{
    char *memory = (char *)malloc(size + 1);
    tcall_block block;
    tcall_chat chat;
    tcall_reader r;
    tcall_writer w;
    tcall_item item;
    tcall_mend mend;
    size_t at, n;
    int error;
    tcall_block_init(&block, memory, size);
    tcall_chat_init(&chat, &block);
    heard_len = 0;
    tcall_reader_init(&r, provider, &chat, hear, NULL);
    for (at = 0; at < len; at += n) {
        char *piece;
        n = split && split < len - at ? split : len - at;
        piece = (char *)malloc(n);
        memcpy(piece, body + at, n);
        tcall_reader_feed(&r, piece, n);
        free(piece);
    }
    tcall_reader_end(&r);
    tcall_writer_init(&w, shown, sizeof shown - 1);
    for (at = 0; tcall_chat_next(&chat, &at, &item);) {
        if (item.kind == TCALL_ITEM_TEXT) {
            show(&w, item.text, "| ");
            continue;
        }
        if (item.kind == TCALL_ITEM_OPAQUE)
            continue;
        show(&w, item.made ? tcall_str_of("+") : item.id, ":");
        show(&w, item.name, "(");
        show(&w, item.text, ")");
        error = item.error ? item.error
                           : tcall_args_mend(item.text, NULL, 0, &mend);
        if (error < 0)
            show(&w, tcall_str_of("!"), tcall_error_code(error));
        tcall_write_text(&w, " ");
    }
    if (r.answer.error)
        show(&w, tcall_str_of("!"), tcall_error_code(r.answer.error));
    shown[w.fill] = 0;
    last = r.answer;
    needed = block.need;
    CHECK(block.low + block.high <= block.size && block.peak <= block.size);
    CHECK(!last.error || block.low == 0);
    free(memory);
    return shown;
}

static bool same(const char *got, const char *want)
{
    if (strcmp(got, want) == 0)
        return true;
    printf("got  %s\nwant %s\n", got, want);
    return false;
}

/* A call that is shown without error must be one of those of the whole. */
static bool within(const char *part, const char *whole)
{
    char call[256];
    const char *text = strstr(part, "| ");
    if (text)
        part = text + 2;
    while (*part && *part != '!') {
        const char *end = strstr(part, ") ");
        if (strchr(part, '!') && (!end || strchr(part, '!') < end))
            return true; /* marked: nothing will run */
        if (!end)
            return true;
        memset(call, 0, sizeof call);
        memcpy(call, part, (size_t)(end - part) + 1);
        if (!strstr(whole, call))
            return false;
        part = end + 2;
    }
    return true;
}

/* The same calls in any pieces; no prefix and no block brings about others. */
static void reads(const tcall_provider *provider, const char *body,
                  const char *want)
{
    static const size_t splits[] = {0, 1, 2, 3, 7, 64};
    size_t len = strlen(body), i;
    for (i = 0; i < TCALL_ARRAY_LEN(splits); i++)
        CHECK(same(read_body(provider, body, len, splits[i], 4096), want));
    for (i = 0; i < len; i += 1 + CHECK_EVERY / 4)
        CHECK(within(read_body(provider, body, i, 0, 4096), want));
    for (i = 0; i < 400; i += CHECK_EVERY) {
        read_body(provider, body, len, i % 5, i);
        CHECK(within(shown, want));
        CHECK(last.error != TCALL_E_MEMORY || needed > i / 8 * 8);
    }
}

#define CHUNK(delta) \
    "data: {\"choices\":[{\"index\":0,\"delta\":" delta "}]}\n\n"
#define FINISH(why)                                                          \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" why \
    "\"}]}\n\n"
#define DONE       "data: [DONE]\n\n"
#define CALL(more) "{\"tool_calls\":[{" more "}]}"
#define FUNC(name, args) \
    "\"function\":{\"name\":\"" name "\",\"arguments\":\"" args "\"}"

static void test_openai(void)
{
    reads(
        &tcall_openai,
        "{\"choices\":[{\"message\":{\"content\":\"hm\",\"tool_calls\":["
        "{\"id\":\"a\",\"type\":\"function\"," FUNC(
            "f",
            "{\\\"x\\\":1}") "},"
                             "{" FUNC("g",
                                      "") ",\"index\":1,\"id\":\"b\"}]},"
                                          "\"finish_reason\":\"tool_calls\"}],"
                                          "\"usage\":{\"prompt_tokens\":9,"
                                          "\"completion_tokens\":8}}",
        "hm| a:f({\"x\":1}) b:g() ");
    CHECK(same(heard, "hm"));
    reads(&tcall_openai,
          "\n \n{\"choices\":[{\"finish_reason\":\"\",\"message\":{\"content\":"
          "null,\"function_call\":{\"name\":\"\",\"arguments\":\"\"},"
          "\"tool_calls\":[{\"custom\":{\"input\":\"\",\"name\":\"\"},"
          "\"id\":\"a\"," FUNC("f", "null") "}]}}]}",
          "a:f(null) ");
    /* Deltas of two calls take turns; text comes between them. */
    reads(
        &tcall_openai,
        ": hello\n\nevent: x\n" CHUNK(
            CALL("\"index\":0,\"id\":\"a\"," FUNC("f", "")))
            CHUNK(CALL("\"index\":1,\"id\":\"b\"," FUNC("g", "{\\\"")))
                CHUNK("{\"content\":\"so\"}") CHUNK(
                    CALL("\"index\":0,\"function\":{\"arguments\":\"{}\"}"))
                    CHUNK("{\"content\":\" be it\"}") CHUNK(CALL(
                        "\"function\":{\"arguments\":\"y\\\":[\"},\"index\":1"))
                        CHUNK(CALL(
                            "\"index\":1,\"function\":{\"arguments\":\"2]}\"}"))
                            FINISH("tool_calls") DONE,
        "so be it| a:f({}) b:g({\"y\":[2]}) ");
    read_body(&tcall_openai, CHUNK("{\"content\":\"x\"}") FINISH("stop"),
              strlen(CHUNK("{\"content\":\"x\"}") FINISH("stop")), 0, 512);
    CHECK(last.stop == TCALL_STOP_END && same(last.stop_text, "stop"));
    /* Ids and names that come again or come empty are not added up. */
    reads(&tcall_openai,
          CHUNK(CALL("\"index\":0,\"id\":\"a\"," FUNC("f", "{")))
              CHUNK(CALL("\"index\":0,\"id\":\"a\"," FUNC("f", "\\\"k\\\":")))
                  CHUNK(CALL("\"index\":0,\"id\":\"\"," FUNC("", "3}"))) DONE,
          "a:f({\"k\":3}) ");
    /* No numbers; the same number for all; a late id. */
    reads(&tcall_openai,
          CHUNK(CALL("\"id\":\"a\"," FUNC("f", "{}")))
              CHUNK(CALL("\"id\":\"b\"," FUNC("f", "{\\\"q\\\"")))
                  CHUNK(CALL("\"function\":{\"arguments\":\":0}\"}"))
                      FINISH("stop"),
          "a:f({}) b:f({\"q\":0}) ");
    reads(&tcall_openai,
          CHUNK(CALL("\"index\":0," FUNC("f", "{}")))
              CHUNK(CALL("\"index\":0," FUNC("f", "{}")))
                  CHUNK(CALL("\"index\":0,\"id\":\"z\"")) FINISH("stop"),
          "+:f({}) z:f({}) ");
    /* Two choices with a call of the same number; the number comes last. */
    reads(
        &tcall_openai,
        "data: {\"choices\":[{\"delta\":" CALL("\"index\":0,\"id\":\"a\"," FUNC("f", "{")) ",\"index\":0},{\"delta\":" CALL(
            "\"index\":0,\"id\":\"a\"," FUNC(
                "f", "{\\\"n\\\":")) ",\"index\":1}]}\r\n\r\ndata: "
                                     "{\"choices\":[{\"delta\":" CALL(
                                         "\"index\":0,"
                                         "\"function\":{"
                                         "\"arguments\":"
                                         "\"5}\"}") ",\"ind"
                                                    "ex\":"
                                                    "1,"
                                                    "\"fini"
                                                    "sh_"
                                                    "reason"
                                                    "\":"
                                                    "\"stop"
                                                    "\"},{"
                                                    "\"delt"
                                                    "a\""
                                                    ":" CALL("\"index\":0,"
                                                             "\"function\":{"
                                                             "\"arguments\":\"}"
                                                             "\"}") ",\"index\""
                                                                    ":0,"
                                                                    "\"finish_"
                                                                    "reason\":"
                                                                    "\"stop\"}]"
                                                                    "}\r\n\r\n",
        "a:f({}) a:f({\"n\":5}) ");
}

static void test_cut(void)
{
    reads(&tcall_openai,
          CHUNK(CALL("\"index\":0,\"id\":\"a\"," FUNC("f", "")))
              FINISH("length") DONE,
          "a:f()!cut ");
    reads(&tcall_openai,
          CHUNK(CALL("\"index\":0,\"id\":\"a\"," FUNC("f", "{\\\"x")))
              FINISH("tool_calls") DONE,
          "a:f({\"x)!truncated ");
    reads(&tcall_openai,
          "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"a\"," FUNC(
              "f", "") "}]},\"native_finish_reason\":\"max_output_tokens\","
                       "\"finish_reason\":\"tool_calls\"}]}",
          "a:f()!cut ");
    reads(&tcall_openai,
          CHUNK(CALL("\"index\":0,\"id\":\"a\"," FUNC("f", "{}"))),
          "!truncated");
    reads(&tcall_openai, "", "!truncated");
    reads(&tcall_openai, "Bad gateway\n", "!protocol");
    reads(&tcall_openai, "data: hello\n\n", "!protocol");
    reads(&tcall_openai, "data: {\"choices\":[\n\ndata: ]}\n\n" DONE,
          "!truncated");
    reads(&tcall_openai, "data: {\"choices\"\ndata: :[]}\n\n" DONE, "");
    reads(&tcall_openai, "{\"choices\":[}", "!bad-value");
}

static void test_errors(void)
{
    reads(&tcall_openai,
          "{\"error\":{\"message\":\"no such model\",\"type\":"
          "\"invalid_request_error\",\"code\":null}}",
          "!provider");
    CHECK(same(last.message, "no such model"));
    CHECK(same(last.stop_text, "invalid_request_error"));
    reads(&tcall_openai, "{\"code\":\"x\",\"error\":\"wrong key\"}",
          "!provider");
    CHECK(same(last.message, "wrong key"));
    reads(&tcall_openai, "{\"detail\":[{\"msg\":\"no\"}]}", "!provider");
    CHECK(same(last.message, "[{\"msg\":\"no\"}]"));
    reads(&tcall_openai, "{\"object\":\"error\",\"message\":\"late\"}",
          "!provider");
    reads(&tcall_openai,
          CHUNK(CALL("\"index\":0,\"id\":\"a\"," FUNC(
              "f", "{}"))) "event: error\ndata: "
                           "{\"error\":{\"message\":\"gone\"}}\n\n" DONE,
          "!provider");
    reads(&tcall_openai, "[{\"error\":{\"message\":\"in a list\"}}]",
          "!provider");
    reads(&tcall_anthropic,
          "{\"type\":\"error\",\"error\":{\"type\":"
          "\"overloaded_error\",\"message\":\"Overloaded\"}}",
          "!provider");
    CHECK(same(last.stop_text, "overloaded_error"));
    reads(&tcall_ollama, "{\"error\":\"model 'x' not found\"}", "!provider");
    CHECK(same(last.message, "model 'x' not found"));
}

#define START(n, block)                                    \
    "data: {\"type\":\"content_block_start\",\"index\":" n \
    ",\"content_block\":{" block "}}\n\n"
#define JSON(n, text)                                           \
    "data: {\"delta\":{\"partial_json\":\"" text "\",\"type\":" \
    "\"input_json_delta\"},\"index\":" n "}\n\n"
#define STOP                                                        \
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":" \
    "\"tool_use\"},\"usage\":{\"output_tokens\":5}   }\n\n"

static void test_anthropic(void)
{
    reads(&tcall_anthropic,
          "{\"content\":[{\"type\":\"text\",\"text\":\"I \\u00e9\"},"
          "{\"id\":\"s\",\"input\":{},\"name\":\"web\",\"type\":"
          "\"server_tool_use\"},{\"type\":\"tool_use\",\"id\":\"a\",\"name\":"
          "\"f\",\"input\":{\"x\": [1, {\"y\":\"}\"}]},\"caller\":{\"type\":"
          "\"direct\"}}],\"stop_reason\":\"tool_use\",\"usage\":"
          "{\"input_tokens\":3,\"output_tokens\":4}}",
          "I \xC3\xA9| a:f({\"x\": [1, {\"y\":\"}\"}]}) ");
    reads(
        &tcall_anthropic,
        START("0", "\"input\":{},\"id\":\"s\",\"name\":\"web\",\"type\":"
                   "\"server_tool_use\"") JSON("0", "{\\\"q\\\":1}")
            START("1", "\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\","
                       "\"input\":{}") START("2", "\"type\":\"tool_use\","
                                                  "\"id\":\"b\",\"name\":\"g\","
                                                  "\"input\":{}")
                JSON("1", "") "event: ping\ndata: {\"type\":\"ping\"}\n\n" JSON(
                    "2", "") JSON("1", "{\\\"x\\\"") JSON("1", ":1}") STOP,
        "a:f({\"x\":1}) b:g({}) ");
    /* It begins anew in the middle. */
    reads(&tcall_anthropic,
          "data: "
          "{\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n" START(
              "0", "\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\","
                   "\"input\":{}")
              JSON("0",
                   "{\\\"x") "data: "
                             "{\"message\":{\"usage\":{\"input_tokens\":7}},"
                             "\"type\":"
                             "\"message_start\"}\n\n" START(
                                 "0",
                                 "\"type\":\"tool_use\",\"id\":\"b\",\"name\":"
                                 "\"g\","
                                 "\"input\":{\"k\":1}") "data: "
                                                        "{\"type\":\"message_"
                                                        "stop\"}\n\n",
          "b:g({\"k\":1}) ");
}

static void test_ollama(void)
{
    reads(&tcall_ollama,
          "{\"message\":{\"content\":\"on\",\"tool_calls\":[{\"function\":"
          "{\"index\":0,\"name\":\"f\",\"arguments\":{\"a\":1}}}]},"
          "\"done\":false}\n{\"message\":{\"tool_calls\":[{\"function\":"
          "{\"index\":0,\"arguments\":{},\"name\":\"f\"},\"id\":\"x\"}]},"
          "\"done\":false}\n{\"done\":true,\"done_reason\":\"stop\","
          "\"prompt_eval_count\":2,\"eval_count\":3}\n",
          "on| +:f({\"a\":1}) x:f({}) ");
}

#define EVENT(type, more) \
    "data: {\"type\":\"response." type "\"," more "}\r\n\r\n"

static void test_responses(void)
{
    reads(&tcall_responses,
          "{\"status\":\"completed\",\"error\":null,\"output\":["
          "{\"type\":\"reasoning\",\"id\":\"rs\",\"summary\":[],"
          "\"content\":[{\"type\":\"reasoning_text\",\"text\":\"no\"}]},"
          "{\"content\":[{\"text\":\"h\",\"type\":\"output_text\"},"
          "{\"text\":\"m\"}],\"id\":\"ms\",\"type\":\"message\"},"
          "{\"arguments\":\"{\\\"x\\\":1}\",\"call_id\":\"a\",\"id\":\"fc\","
          "\"name\":\"f\",\"type\":\"function_call\"},"
          "{\"type\":\"mcp_call\",\"id\":\"m\",\"name\":\"no\","
          "\"arguments\":\"{}\"}],\"usage\":{\"input_tokens\":4,"
          "\"output_tokens\":5}}",
          "hm| a:f({\"x\":1}) ");
    /* Each server leaves out something else; the last event repeats all. */
    reads(&tcall_responses,
          EVENT("created", "\"response\":{\"status\":\"in_progress\"}") EVENT(
              "output_item.added",
              "\"output_index\":1,\"item\":{\"type\":"
              "\"function_call\","
              "\"call_id\":\"a\",\"name\":\"f\","
              "\"arguments\":\"\"}") "data: "
                                     "{\"delta\":\"{"
                                     "\\\"x\\\"\",\"output_"
                                     "index\":1,"
                                     "\"type\":\"response."
                                     "function_call_"
                                     "arguments.delta\"}"
                                     "\n\n" EVENT("reasoning_text."
                                                  "delta",
                                                  "\"delta\":\"no\","
                                                  "\"output_index\":"
                                                  "0") EVENT("output_"
                                                             "text."
                                                             "delta",
                                                             "\"delta"
                                                             "\":"
                                                             "\"hm\","
                                                             "\"outpu"
                                                             "t_"
                                                             "index\""
                                                             ":2")
                                         EVENT("function_call_arguments.delta",
                                               "\"output_index\":1,\"delta\":"
                                               "\":1}\"") EVENT("function_call_"
                                                                "arguments."
                                                                "done",
                                                                "\"output_"
                                                                "index\":1,"
                                                                "\"arguments\":"
                                                                "\"{\\\"x\\\":"
                                                                "1}\"")
                                             EVENT("output_"
                                                   "item.done",
                                                   "\"output_"
                                                   "index\":1,"
                                                   "\"item\":{"
                                                   "\"type\":"
                                                   "\"function"
                                                   "_call\","
                                                   "\"call_"
                                                   "id\":"
                                                   "\"a\","
                                                   "\"name\":"
                                                   "\"f\","
                                                   "\"argument"
                                                   "s\":\"{}"
                                                   "\"}") EVENT("output"
                                                                "_item."
                                                                "done",
                                                                "\"item"
                                                                "\":{"
                                                                "\"type"
                                                                "\":"
                                                                "\"func"
                                                                "tion_"
                                                                "call\""
                                                                ",\"cal"
                                                                "l_"
                                                                "id\":"
                                                                "\"b\","
                                                                "\"name"
                                                                "\":"
                                                                "\"g\","
                                                                "\"argu"
                                                                "ments"
                                                                "\":\"{"
                                                                "}\"},"
                                                                "\"outp"
                                                                "ut_"
                                                                "index"
                                                                "\":3")
                                                 EVENT("co"
                                                       "mp"
                                                       "le"
                                                       "te"
                                                       "d",
                                                       "\""
                                                       "re"
                                                       "sp"
                                                       "on"
                                                       "se"
                                                       "\""
                                                       ":{"
                                                       "\""
                                                       "st"
                                                       "at"
                                                       "us"
                                                       "\""
                                                       ":"
                                                       "\""
                                                       "co"
                                                       "mp"
                                                       "le"
                                                       "te"
                                                       "d"
                                                       "\""
                                                       ","
                                                       "\""
                                                       "ou"
                                                       "tp"
                                                       "ut"
                                                       "\""
                                                       ":["
                                                       "{"
                                                       "\""
                                                       "ty"
                                                       "pe"
                                                       "\""
                                                       ":"
                                                       "\""
                                                       "fu"
                                                       "nc"
                                                       "ti"
                                                       "on"
                                                       "_c"
                                                       "al"
                                                       "l"
                                                       "\""
                                                       ","
                                                       "\""
                                                       "ca"
                                                       "ll"
                                                       "_i"
                                                       "d"
                                                       "\""
                                                       ":"
                                                       "\""
                                                       "a"
                                                       "\""
                                                       ","
                                                       "\""
                                                       "na"
                                                       "me"
                                                       "\""
                                                       ":"
                                                       "\""
                                                       "f"
                                                       "\""
                                                       ","
                                                       "\""
                                                       "ar"
                                                       "gu"
                                                       "me"
                                                       "nt"
                                                       "s"
                                                       "\""
                                                       ":"
                                                       "\""
                                                       "{}"
                                                       "\""
                                                       "}]"
                                                       "}"),
          "hm| a:f({\"x\":1}) b:g({}) ");
    reads(&tcall_responses,
          EVENT("created", "\"response\":{}") EVENT(
              "failed", "\"response\":{\"status\":\"failed\",\"error\":"
                        "{\"code\":\"server_error\",\"message\":\"oh\"}}"),
          "!provider");
    CHECK(same(last.message, "oh"));
    CHECK(tcall_answer_error(&last, 200) == TCALL_E_PROVIDER);
    reads(&tcall_responses,
          "{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":"
          "\"max_output_tokens\"},\"output\":[{\"type\":\"function_call\","
          "\"call_id\":\"a\",\"name\":\"f\",\"arguments\":\"\"}]}",
          "a:f()!cut ");
}

#define PARTS(parts, more) \
    "{\"candidates\":[{\"content\":{\"parts\":[" parts "]}" more "}]}"

static void test_gemini(void)
{
    static const struct {
        const char *text;
        long ms;
    } waits[] = {
        {"0s", 0},
        {"250ms", 250},
        {"1.2345s", 1234},
        {"2147483s", 2147483000},
        {"86399999s", 2147483647},
        {"864000000s", 2147483647},
        {"99999999999999999999s", 2147483647},
        {"99999999999.999s", 2147483647},
        {"", -1},
        {"5", -1},
        {"5 s", -1},
        {"-5s", -1},
        {"5.5.5s", -1},
    };
    size_t i;
    reads(&tcall_gemini,
          PARTS("{\"text\":\"no\",\"thought\":true},{\"text\":\"hm\"},"
                "{\"functionCall\":{\"name\":\"f\",\"args\":{\"x\":1}},"
                "\"thoughtSignature\":\"abc\"},"
                "{\"functionCall\":{\"id\":\"b\",\"name\":\"f\"}}",
                ",\"finishReason\":1,\"index\":0"),
          "hm| +:f({\"x\":1}) b:f() ");
    CHECK(last.stop == TCALL_STOP_END && !last.message[0]);
    reads(&tcall_gemini,
          "[" PARTS("{\"text\":\"h\"}", "") ",\r\n" PARTS(
              "{\"text\":\"m\"},{\"functionCall\":{\"name\":\"f\","
              "\"willContinue\":true}}",
              "") "," PARTS("{\"functionCall\":{\"partialArgs\":[{\"jsonPath\":"
                            "\"$.a\"}]}}",
                            "") "," PARTS("", ",\"finishReason\":\"STOP\"") "]",
          "hm| +:f([{\"jsonPath\":\"$.a\"}])!root-not-object ");
    reads(&tcall_gemini,
          "{\"candidates\":[{\"finishReason\":\"MALFORMED_FUNCTION_CALL\","
          "\"finishMessage\":\"Malformed function call: f(\"}]}",
          "!provider");
    CHECK(same(last.message, "Malformed function call: f("));
    CHECK(same(last.stop_text, "MALFORMED_FUNCTION_CALL"));
    reads(&tcall_gemini, "{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}",
          "!refused");
    reads(&tcall_gemini,
          "{\"error\":{\"code\":429,\"message\":\"slow\",\"status\":"
          "\"RESOURCE_EXHAUSTED\",\"details\":[{},{\"retryDelay\":"
          "\"34.5s\"}]}}",
          "!provider");
    CHECK(last.wait_ms == 34500);
    CHECK(tcall_answer_error(&last, 0) == TCALL_E_RATE);
    for (i = 0; i < TCALL_ARRAY_LEN(waits); i++) {
        char body[96];
        sprintf(body,
                "{\"error\":{\"code\":429,\"details\":[{\"retryDelay\":"
                "\"%s\"}]}}",
                waits[i].text);
        read_body(&tcall_gemini, body, strlen(body), 0, 4096);
        CHECK(last.wait_ms == waits[i].ms);
    }
}

/* Writes a text with ' for " and ~ for what stands between two documents. */
static size_t quoted(char *to, const char *text, const char *between)
{
    char *p = to;
    for (; *text; text++)
        if (*text == '~')
            p += sprintf(p, "%s", between);
        else
            *p++ = *text == '\'' ? '"' : *text;
    *p = 0;
    return (size_t)(p - to);
}

/* The same stream in all the ways in which it may be sent. */
static void test_framing(void)
{
    static const char *const between[] = {
        "\n\ndata: ",
        "\n\ndata:",
        "\r\n\r\ndata: ",
        "\r\rdata: ",
        "\ndata: ",
        "\n\n\n\n\ndata:  \t",
        "\n\n: keep-alive\n\n:\n\ndata: ",
        "\nid: 7\nevent: message\nretry: 10\n\ndata: ",
        "\n\nevent: ping\n\nevent\n\ndata: ",
        "\n\ndata\n\ndata:\n\ndata: \n\ndata: {'type':'ping'}\n\ndata: ",
        "\n\ndata: {'choices':[],'usage':null}\n\ndata:\ndata: ",
    };
    static const char stream[] =
        "~{'choices':[{'index':0,'delta':{'tool_calls':[{'index':0,'id':'a',"
        "'function':{'name':'f','arguments':''}}]}}]}~{'choices':[{'delta':{"
        "'tool_calls':[{'index':0,'function':{'arguments':'{}'}}]}}]}"
        "~{'choices':[{'delta':{},'finish_reason':'tool_calls'}]}";
    char one[256], body[2048];
    size_t i, n;
    for (i = 0; i < TCALL_ARRAY_LEN(between); i++) {
        quoted(one, between[i], "");
        n = quoted(body, stream, one);
        reads(&tcall_openai, body, "a:f({}) ");
        memcpy(body + n, "\n\n", 3);
        reads(&tcall_openai, body, "a:f({}) ");
        quoted(body + n, "~[DONE]\n\n", one);
        reads(&tcall_openai, body, "a:f({}) ");
    }
    quoted(body,
           "\xEF\xBB\xBF~{'choices'~:[{'delta':{'content'~:'x'}~}]~}"
           "\n\ndata: [DONE]",
           "\r\ndata:");
    reads(&tcall_openai, body, "x| ");
}

/* What servers really send. */
static const struct {
    const tcall_provider *from;
    const char *body, *want;
} variants[] = {
    /* no number, an odd one, and those that do not begin at 0 */
    {&tcall_openai,
     "~{'choices':[{'delta':{'tool_calls':[{'index':null,'id':'a','function':"
     "{'name':'f','arguments':'{'}}]}}]}~{'choices':[{'delta':{'tool_calls':"
     "[{'index':-1,'function':{'arguments':'}'}}]},'finish_reason':'eos'}]}",
     "a:f({}) "},
    {&tcall_openai,
     "~{'choices':[{'delta':{'tool_calls':[{'index':300,'id':'a','function':"
     "{'name':'f','arguments':'{'}}]}}]}~{'choices':[{'delta':{'tool_calls':"
     "[{'index':300,'function':{'arguments':'}'}}]},'finish_reason':'stop'}]}",
     "a:f({}) "},
    {&tcall_openai,
     "~{'choices':[{'delta':{'tool_calls':[{'index':5,'id':'a','function':"
     "{'name':'f','arguments':'{'}},{'index':3,'id':'b','function':{'name':"
     "'g','arguments':''}}]}}]}~{'choices':[{'delta':{'tool_calls':[{'index':3,"
     "'function':{'arguments':'{}'}},{'index':5,'function':{'arguments':'}'}}"
     "]},'finish_reason':'stop'}]}",
     "a:f({}) b:g({}) "},
    /* an id of its own for each piece; a name in pieces; both repeated */
    {&tcall_openai,
     "~{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a','function':"
     "{'name':'get_','arguments':null}}]}}]}~{'choices':[{'delta':{"
     "'tool_calls':[{'index':0,'id':'a','function':{'name':'time'}}]}}]}"
     "~{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'z1','function':"
     "{'arguments':'{'}}]}}]}~{'choices':[{'delta':{'tool_calls':[{'index':0,"
     "'id':'z2','function':{'arguments':'}'}}]},'finish_reason':'stop'}]}",
     "a:get_time({}) "},
    {&tcall_openai,
     "~{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a','function':"
     "{'name':'f','arguments':'{}'}}]}}]}~{'choices':[{'delta':{'tool_calls':"
     "[{'index':0,'id':'b','function':{'name':'f','arguments':''}}]}}]}"
     "~{'choices':[{'delta':{'tool_calls':[{'index':0,'function':{'arguments':"
     "'{}'}}]},'finish_reason':'stop'}]}",
     "a:f({}) b:f({}) "},
    /* what is null, empty or odd */
    {&tcall_openai,
     "~{'choices':null}~{'choices':[]}~{'choices':[{'delta':null}]}~{'choices':"
     "[{'delta':{'content':'x','tool_calls':null,'function_call':null,"
     "'refusal':null,'reasoning':'no'}}]}~{'choices':[{'delta':{'tool_calls':"
     "[]},'finish_reason':''}]}~{'choices':[{'delta':{'tool_calls':[{'id':'a',"
     "'function':{'name':'f','arguments':{'b':1}}}]},'finish_reason':null}],"
     "'error':null}~[DONE]\n\n",
     "x| a:f({'b':1}) "},
    {&tcall_openai,
     "{'choices':[{'message':{'content':null,'refusal':'I must not'},"
     "'finish_reason':'stop'}]}",
     "I must not| "},
    {&tcall_openai,
     "~{'choices':[{'delta':{'refusal':'No'}}]}~{'choices':[{'delta':{"
     "'refusal':'!'},'finish_reason':'stop'}]}",
     "No!| "},
    {&tcall_openai,
     "{'choices':[{'message':{'content':[{'type':'thinking','thinking':[{"
     "'type':'text','text':'no'}]},{'type':'text','text':'a'},{'text':'b'}]},"
     "'finish_reason':'stop'}]}",
     "ab| "},
    /* a stream that ends with all of it again */
    {&tcall_openai,
     "~{'choices':[{'delta':{'content':'x'}}]}~{'choices':[{'delta':{"
     "'tool_calls':[{'id':'a','function':{'name':'f','arguments':'{}'}}]}}]}"
     "~{'choices':[{'message':{'content':'x','tool_calls':[{'id':'a',"
     "'function':{'name':'f','arguments':'{}'}}]},'finish_reason':'stop'}]}",
     "x| a:f({}) "},
    /* nothing but a reason that is none */
    {&tcall_openai,
     "{'choices':[{'error':{'code':502,'message':'gone'},'message':{'content':"
     "''},'finish_reason':'error'}]}",
     "!provider"},
    {&tcall_openai,
     "~{'choices':[{'delta':{'content':'x'}}]}\n\nerror: {'code':500,"
     "'message':'gone'}\n\n",
     "!provider"},
    {&tcall_openai, "{'choices':[{'message':{},'finish_reason':'abort'}]}",
     "!provider"},
    {&tcall_openai,
     "~{'choices':[{'delta':{},'finish_reason':'content_filter'}]}",
     "!refused"},
    {&tcall_anthropic, "{'content':[],'stop_reason':'pause_turn'}",
     "!provider"},
    {&tcall_anthropic, "{'content':[],'stop_reason':'refusal'}", "!refused"},
    {&tcall_anthropic, "{'content':[],'stop_reason':'end_turn'}", ""},
    {&tcall_gemini, "{'candidates':[{'finishReason':'NEW_REASON'}]}",
     "!provider"},
    {&tcall_gemini, "{'promptFeedback':{'blockReason':'OTHER'}}", "!refused"},
    {&tcall_gemini, "{'promptFeedback':{'blockReason':'JAILBREAK'}}",
     "!refused"},
    {&tcall_gemini,
     "{'candidates':[{'content':{'parts':[{'functionCall':{'name':'f','args':"
     "null}}]},'finishReason':'UNEXPECTED_TOOL_CALL'}]}",
     "+:f() "},
    {&tcall_gemini,
     "~{'candidates':[{'content':{'parts':[{'functionCall':{'name':'f'}}]}}]}"
     "~{'candidates':[{'finishReason':'SAFETY'}]}\n\n",
     "+:f()!cut "},
    {&tcall_ollama,
     "{'message':{'content':'x','tool_calls':[{'function':{'name':'f',"
     "'arguments':'{}'}},{'function':{'name':'g'}}]},'done':false}\r\n"
     "{'done':true}",
     "x| +:f({}) +:g() "},
    {&tcall_ollama, "{'message':{'content':'x'}}\n{'error':'gone'}\n",
     "!provider"},
    /* blocks that are run by the provider; arguments where they start */
    {&tcall_anthropic,
     "~{'type':'content_block_start','index':0,'content_block':{'type':"
     "'mcp_tool_use','id':'m','name':'no','server_name':'s','input':{}}}"
     "~{'type':'content_block_delta','index':0,'delta':{'type':"
     "'input_json_delta','partial_json':'{}'}}~{'type':'content_block_start',"
     "'index':1,'content_block':{'type':'mcp_tool_result','tool_use_id':'m',"
     "'content':[{'type':'text','text':'no'}]}}~{'type':'content_block_start',"
     "'index':2,'content_block':{'type':'tool_use','id':'a','name':'f','input':"
     "{'b':1}}}~{'type':'content_block_delta','index':2,'delta':{"
     "'partial_json':''}}~{'type':'content_block_start','index':3,"
     "'content_block':{'type':'tool_use','id':'b','name':'g','input':null}}"
     "~{'type':'message_stop'}",
     "a:f({'b':1}) b:g() "},
    /* a stream whose last event only is filled, or that refuses */
    {&tcall_responses,
     "~{'response':{'output':[],'status':'in_progress'},'type':"
     "'response.created'}~{'response':{'output':[],'status':'in_progress'},"
     "'type':'response.in_progress'}~{'response':{'output':[{'type':"
     "'reasoning','id':'r'},{'type':'message','content':[{'type':'output_text',"
     "'text':'x'}]},{'type':'function_call','call_id':'a','name':'f',"
     "'arguments':'{}'},{'type':'function_call','call_id':'b','name':'f',"
     "'arguments':''}],'status':'completed'},'type':'response.completed'}",
     "x| a:f({}) b:f() "},
    {&tcall_responses,
     "~{'type':'response.in_progress','response':{'output':[]}}"
     "~{'type':'response.refusal.delta','output_index':0,'delta':'No'}"
     "~{'type':'response.refusal.done','output_index':0,'refusal':'No'}"
     "~{'type':'response.completed','response':{'status':'completed','output':"
     "[{'type':'message','content':[{'type':'refusal','refusal':'No'}]}]}}",
     "No| "},
    {&tcall_responses,
     "{'status':'completed','output':[{'type':'message','content':[{'type':"
     "'refusal','refusal':'No'}]},{'type':'function_call','call_id':'a','name':"
     "'f','arguments':{'b':1}},{'type':'tool_search_call','arguments':{}}]}",
     "No| a:f()!bad-value "},
};

static void test_variants(void)
{
    char body[2048], want[256];
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(variants); i++) {
        quoted(body, variants[i].body, "\n\ndata: ");
        quoted(want, variants[i].want, "");
        reads(variants[i].from, body, want);
    }
}

/* Bodies of errors as servers send them, and what is wrong. */
static const struct {
    int status, error;
    const char *body, *message;
} faults[] = {
    {500, TCALL_E_PROVIDER, "", ""},
    {401, TCALL_E_AUTH, "unauthorized: no\n", "unauthorized: no "},
    {404, TCALL_E_NOT_FOUND, "<!DOCTYPE html>", "<!DOCTYPE html>"},
    {403, TCALL_E_AUTH,
     "{'error':{'code':'forbidden','type':"
     "'invalid_request_error','message':'m'}}",
     "m"},
    {403, TCALL_E_REFUSED,
     "{'error':{'code':403,'message':'requires "
     "moderation'}}",
     "requires moderation"},
    {413, TCALL_E_CONTEXT, "{'error':{'message':'m'}}", "m"},
    {400, TCALL_E_CONTEXT, "{'message':'Input is too long for it'}",
     "Input is too long for it"},
    {400, TCALL_E_CONTEXT,
     "{'code':'c','error':'the maximum prompt length is "
     "9'}",
     "the maximum prompt length is 9"},
    {422, TCALL_E_CONTEXT, "{'error':{'message':'`max_new_tokens` is 9'}}",
     "`max_new_tokens` is 9"},
    {400, TCALL_E_CONTEXT, "{'error':{'message':'exceed context limit: 9'}}",
     "exceed context limit: 9"},
    {400, TCALL_E_REFUSED, "{'error':{'message':'m','code':'invalid_prompt'}}",
     "m"},
    {400, TCALL_E_REFUSED,
     "{'error':{'message':'m','type':'invalid_request_"
     "error','code':'data_inspection_failed'}}",
     "m"},
    {422, TCALL_E_REQUEST, "{'detail':[{'msg':'m'}]}", "[{'msg':'m'}]"},
    {429, TCALL_E_RATE, "{'error':{'message':'too many tokens'}}",
     "too many tokens"},
    /* the status stands in the answer only */
    {200, TCALL_E_RATE, "{'error':{'message':'m','code':429}}", "m"},
    {200, TCALL_E_AUTH, "{'error':{'message':'m','code':401}}", "m"},
    {200, TCALL_E_OVERLOAD, "{'error':{'message':'m','code':'503'}}", "m"},
    {200, TCALL_E_PROVIDER, "{'error':{'message':'m','code':502}}", "m"},
    {200, TCALL_E_REQUEST, "{'error':{'message':'m','code':400}}", "m"},
    {200, TCALL_E_PROVIDER, "{'error':{'message':'m','code':1301}}", "m"},
};

static void test_faults(void)
{
    char body[256], message[64];
    size_t i, n;
    for (i = 0; i < TCALL_ARRAY_LEN(faults); i++) {
        n = quoted(body, faults[i].body, "");
        quoted(message, faults[i].message, "");
        read_body(&tcall_openai, body, n, i % 4, 4096);
        CHECK(tcall_answer_error(&last, faults[i].status) == faults[i].error);
        CHECK(same(last.message, message));
    }
}

/* A long answer in a small block: the calls are there, the text is cut, but
 * heard in full, and never inside a character. */
static void test_memory(void)
{
    static char body[20000];
    size_t n = 0, i, peak = 0;
    for (i = 0; i < 200; i++)
        n += (size_t)snprintf(body + n, sizeof body - n, "%s",
                              CHUNK("{\"content\":\"\xC3\xA4\xE2\x82\xAC\"}"));
    n += (size_t)snprintf(body + n, sizeof body - n, "%s",
                          CHUNK(CALL("\"index\":0,\"id\":\"a\"," FUNC(
                              "f", "{\\\"text\\\":\\\"0123456789 0123456789 "
                                   "0123456789 0123456789 0123456789\\\"}")))
                              FINISH("tool_calls"));
    for (i = 256; i < 1200; i += CHECK_EVERY) {
        const char *p = read_body(&tcall_openai, body, n, 0, i);
        CHECK(last.text_cut == (i / 8 * 8 < 2000 + 64 + 16) || last.error);
        CHECK(heard_len == 1000);
        CHECK(strstr(p, "a:f({\"text\":\"0123456789 0123456789"));
        CHECK(strlen(p) < 2 || (p[strcspn(p, "|") - 1] & 0xC0) == 0x80);
    }
    /* Arguments that do not fit: the call is there and says so. */
    n = (size_t)snprintf(body, sizeof body, "%s",
                         "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":"
                         "\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"");
    memset(body + n, '1', 1000);
    n += 1000;
    n += (size_t)snprintf(body + n, sizeof body - n, "%s",
                          "\"}},{\"id\":\"b\"," FUNC(
                              "g", "{}") "}]},\"finish_reason\":\"stop\"}]}");
    CHECK(same(read_body(&tcall_openai, body, n, 7, 400),
               "a:f()!memory b:g({}) "));
    peak = needed;
    CHECK(peak > 1000);
    read_body(&tcall_openai, body, n, 0, (peak + 7) / 8 * 8);
    CHECK(!strstr(shown, "!memory"));
}

/* An element that turns out to be text of the model while the block is full:
 * it goes to the text, and what is read beside it stays where it is. */
static void test_said(void)
{
    static const char *const heads[] = {
        "{\"output\":[{\"content\":[",
        "{\"output\":[{\"id\":\"x\",\"content\":["};
    static char body[2000];
    size_t i, k, n, size;
    for (i = 0; i < 2; i++) {
        n = (size_t)snprintf(body, sizeof body, "%s", heads[i]);
        for (k = 0; k < 12; k++)
            n += (size_t)snprintf(body + n, sizeof body - n,
                                  "%s{\"text\":\"0123456789 0123456789\"}",
                                  k ? "," : "");
        n += (size_t)snprintf(
            body + n, sizeof body - n,
            "],\"type\":\"message\"},{\"type\":\"function_call\",\"call_id\":"
            "\"a\",\"name\":\"f\",\"arguments\":\"{}\"}],\"status\":"
            "\"completed\"}");
        for (size = 120; size < 1200; size += 4) {
            read_body(&tcall_responses, body, n, size % 3 * 7, size);
            CHECK(last.error == TCALL_E_MEMORY || strstr(shown, "a:f("));
        }
    }
}

static tcall_chat chat;

/* Answers far larger than the block, fed as they would come: the beginning, a
 * piece many times, the end. '~' is what stands between events. */
static const struct {
    const tcall_provider *from;
    const char *head, *piece, *tail;
    int times;
} huge[] = {
    {&tcall_openai, "~{'choices':[{'delta':{'content':'0'}}]}",
     "~{'choices':[{'index':0,'delta':{'content':'0123456789'}}]}",
     "~{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a','function':"
     "{'name':'f','arguments':'{}'}}]},'finish_reason':'stop'}]}",
     6000},
    {&tcall_anthropic, "~{'type':'message_start','message':{'content':[]}}",
     "~{'type':'content_block_delta','index':0,'delta':{'text':'01234567'}}",
     "~{'type':'content_block_start','index':1,'content_block':{'type':"
     "'tool_use','id':'a','name':'f','input':{}}}~{'type':'message_stop'}",
     6000},
    {&tcall_ollama, "{'message':{'content':''}}\n",
     "{'message':{'thinking':'0123456789','content':'0123'},'done':false}\n",
     "{'message':{'tool_calls':[{'id':'a','function':{'name':'f','arguments':"
     "{}}}]}}\n{'done':true}",
     6000},
    {&tcall_responses,
     "~{'type':'response.created','response':{'output':[]}}"
     "~{'type':'response.output_text.delta','delta':'0'}"
     "~{'type':'response.output_item.done','output_index':1,'item':{'type':"
     "'function_call','call_id':'a','name':'f','arguments':'{}'}}"
     "~{'type':'response.completed','response':{'output':[{'type':'message',"
     "'content':[{'text':'",
     "0123456789",
     "'}]},{'type':'function_call','call_id':'a','name':'f','arguments':'{}'}"
     "],'status':'completed'}}",
     36000},
    {&tcall_gemini, "~{'candidates':[]}",
     "~{'candidates':[{'content':{'parts':[{'text':'0123456789'}]}}]}",
     "~{'candidates':[{'content':{'parts':[{'functionCall':{'id':'a','name':"
     "'f','args':{}}}]},'finishReason':'STOP'}]}",
     6000},
    {&tcall_openai, "{'choices':[{'message':{'content':'", "0123456789",
     "','tool_calls':[{'id':'a','function':{'name':'f','arguments':'{}'}}]},"
     "'finish_reason':'stop'}]}",
     6800},
    {&tcall_anthropic, "{'content':[{'type':'text','text':'", "0123456789",
     "'},{'type':'tool_use','id':'a','name':'f','input':{}}],'stop_reason':"
     "'tool_use'}",
     6800},
    {&tcall_ollama, "{'message':{'content':'", "0123456789",
     "','tool_calls':[{'id':'a','function':{'name':'f','arguments':{}}}]},"
     "'done':true}",
     6800},
    {&tcall_responses, "{'output':[{'type':'message','content':[{'text':'",
     "0123456789",
     "'}]},{'type':'function_call','call_id':'a','name':'f','arguments':'{}'}"
     "],'status':'completed'}",
     6800},
    {&tcall_gemini, "{'candidates':[{'content':{'parts':[{'text':'",
     "0123456789",
     "'},{'functionCall':{'id':'a','name':'f','args':{}}}]},'finishReason':"
     "'STOP'}]}",
     6800},
};

static void test_huge(void)
{
    static char memory[4096];
    char piece[512];
    size_t i, n, at;
    int k;
    for (i = 0; i < TCALL_ARRAY_LEN(huge); i++) {
        tcall_block block;
        tcall_reader *r;
        tcall_item item;
        int calls = 0, fed = 0;
        tcall_block_init(&block, memory, sizeof memory);
        /* the reader lies in the block as well: at its end */
        CHECK(sizeof *r < 1024);
        block.high = 1024;
        r = (tcall_reader *)(void *)(memory + sizeof memory - 1024);
        tcall_chat_init(&chat, &block);
        tcall_reader_init(r, huge[i].from, &chat, NULL, NULL);
        for (k = -1; k <= huge[i].times; k++) {
            n = quoted(piece,
                       k < 0                ? huge[i].head
                       : k == huge[i].times ? huge[i].tail
                                            : huge[i].piece,
                       "\n\ndata: ");
            tcall_reader_feed(r, piece, n);
            fed += (int)n;
        }
        CHECK(fed > (huge[i].times == 6800 ? 68000 : 360000));
        CHECK(tcall_reader_end(r) == TCALL_OK && r->answer.calls == 1);
        CHECK(block.peak <= sizeof memory && block.need == 0);
        for (at = 0; tcall_chat_next(&chat, &at, &item);)
            if (item.kind == TCALL_ITEM_CALL)
                calls += !item.error &&
                         tcall_str_eq(item.id, tcall_str_of("a")) &&
                         tcall_str_eq(item.text, tcall_str_of("{}"));
        CHECK(calls == 1);
    }
}

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

/* Written twice, as it is sent; must be JSON. */
static const char *write_body(const tcall_provider *p, const tcall_ask *ask)
{
    static char out[8192];
    tcall_writer count, w;
    tcall_scan s;
    tcall_writer_init(&count, NULL, 0);
    p->write(p, &count, ask);
    tcall_writer_init(&w, out, sizeof out - 1);
    CHECK(p->write(p, &w, ask) == TCALL_OK && w.len == count.len);
    out[w.fill] = 0;
    tcall_scan_init(&s, NULL, NULL, NULL);
    tcall_scan_feed(&s, out, w.fill);
    CHECK(tcall_scan_end(&s) == TCALL_OK);
    return out;
}

static bool has(const char *text, const char *part)
{
    if (strstr(text, part))
        return true;
    printf("no %s\nin %s\n", part, text);
    return false;
}

static void test_write(void)
{
    static char memory[2048];
    tcall_tool tools[3];
    tcall_block block;
    tcall_ask ask;
    const char *p;
    memset(tools, 0, sizeof tools);
    memset(&ask, 0, sizeof ask);
    tools[0].name = "f";
    tools[0].description = "does \"f\"";
    tools[0].permissions = TCALL_READ;
    tools[0].strict = true;
    tools[0].parameters = TCALL_JSON({
        "type" : "object",
        "required" : ["a"],
        "properties" : {
            "a" : {"type" : "string", "minLength" : 2, "format" : "date"},
            "b" : {"oneOf" : [ {"const" : 1}, {"$ref" : "#/$defs/c"} ]}
        },
        "$defs" : {"c" : {"type" : "array", "items" : {"type" : "integer"}}}
    });
    tools[1].name = "g";
    tools[1].permissions = TCALL_READ;
    tools[1].strict = true; /* cannot be: any members */
    tools[1].parameters =
        TCALL_JSON({"properties" : {"m" : {"type" : "object"}}});
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
    CHECK(has(p, tools[0].parameters)); /* to the byte */
    CHECK(has(p, "{\"type\":\"object\",\"properties\""));
    CHECK(!strstr(p, "secret") && !strstr(p, "strict") &&
          !strstr(p, "belongs"));

    ask.view = tcall_view;
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
    CHECK(has(p, "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\""
                 ":\"f\"}},\"parallel_tool_calls\":false,"
                 "\"max_completion_tokens\":5,\"stream_options\":"));

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
    CHECK(has(p, "\"tool_choice\":{\"type\":\"tool\",\"name\":\"f\","
                 "\"disable_parallel_tool_use\":true}"));

    p = write_body(&tcall_ollama, &ask);
    CHECK(has(p, "\"function\":{\"name\":\"g\",\"arguments\":{\"m\": {}}}"));
    CHECK(has(p, "{\"role\":\"tool\",\"tool_name\":\"f\",\"tool_call_id\":"
                 "\"1\",\"content\":"));
    CHECK(has(p, "{\"enum\":[1]}"));
    CHECK(!strstr(p, "minLength") && !strstr(p, "\"name\":\"g\",\"desc"));
    ask.choice = TCALL_CHOICE_NONE;
    CHECK(!strstr(write_body(&tcall_ollama, &ask), "\"tools\""));
    CHECK(has(write_body(&tcall_openai, &ask), "\"tool_choice\":\"none\""));
    CHECK(has(write_body(&tcall_anthropic, &ask), "{\"type\":\"none\"}"));
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
     "\"none\"", "\"strict\":true", "\"max_tokens"},
    {"azure", "", "api-key", "{\"type", "\"required\"", "\"none\"",
     "\"strict\":true", "\"max_tokens"},
    {"llamacpp", "http://127.0.0.1:8080", "Authorization", "1 \"required\"",
     "\"required\"", NULL, "\"parallel_tool_calls\":true", "strict"},
    {"lmstudio", "http://127.0.0.1:1234", "Authorization", "1 \"required\"",
     "\"required\"", NULL, "\"max_tokens\":5", "parallel"},
    {"ollama_v1", "http://127.0.0.1:11434", "Authorization", "1 ", "2 ", NULL,
     "\"max_tokens\":5", "tool_choice"},
    {"openai", "https://api.openai.com", "Authorization", "{\"type",
     "\"required\"", "\"none\"", "stream_options", "\"max_tokens"},
};

/* Checks the choice of a request; want may begin with the number of tools. */
static bool chosen(const char *body, const char *want)
{
    const char *at = strstr(body, "\"tool_choice\":"), *f = body;
    int tools = 0;
    for (; (f = strstr(f, "\"description\":")) != NULL; f++)
        tools++;
    if (!want)
        return !at && tools == 0;
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
    tcall_ask ask;
    size_t i, known = 0;
#define TCALL_X_(name, url, path, header, prefix, id, more, join, traits) \
    known++;
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
    ask.view = tcall_view;
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
        CHECK(strcmp(strrchr(p->path, '/'), "/completions") == 0);
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
    tcall_ask ask;
    const char *p;
    char id[24], to[9];
    size_t i, k;
    for (i = 0; i < TCALL_ARRAY_LEN(seen); i++) {
        tcall_str s;
        if (i < TCALL_ARRAY_LEN(ids))
            snprintf(id, sizeof id, "%s", ids[i]);
        else
            snprintf(id, sizeof id, "call_%d", (int)i);
        s = tcall_id_of_nine(to, tcall_str_of(id));
        CHECK(s.len == 9 && s.ptr == to);
        memcpy(seen[i], to, 9);
        CHECK(strspn(seen[i], "0123456789abcdefghijklmnopqrstuvwxyz") == 9);
        for (k = 0; k < i; k++)
            CHECK(strcmp(seen[k], seen[i]) != 0);
        CHECK(tcall_id_of_nine(to, s).ptr == s.ptr); /* it fits */
    }
    CHECK(tcall_str_eq(tcall_id_of_nine(to, tcall_str_of("aZ0123456")),
                       tcall_str_of("aZ0123456")));
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

/* What the next request says of this answer, every call answered with "ok".
 * In the end the chat is empty again. */
static const char *returned(const tcall_provider *from,
                            const tcall_provider *to, const char *body,
                            size_t split, size_t size)
{
    static char memory[2048];
    const char *out = "";
    tcall_block block;
    tcall_reader r;
    tcall_item item;
    tcall_ask ask;
    tcall_writer w;
    size_t at = 0, len = strlen(body), n;
    memset(&ask, 0, sizeof ask);
    tcall_block_init(&block, memory, size);
    tcall_chat_init(&chat, &block);
    tcall_reader_init(&r, from, &chat, NULL, NULL);
    for (at = 0; at < len; at += n) {
        n = split && split < len - at ? split : len - at;
        tcall_reader_feed(&r, body + at, n);
    }
    CHECK(tcall_reader_end(&r) == TCALL_OK);
    last = r.answer;
    needed = block.need;
    ask.chat = &chat;
    ask.model = "m";
    tcall_writer_init(&w, NULL, 0);
    if (last.unkept && to->more && from == to)
        CHECK(to->write(to, &w, &ask) == TCALL_E_MEMORY);
    else
        out = write_body(to, &ask);
    for (at = 0; tcall_chat_next(&chat, &at, &item);)
        CHECK(item.kind != TCALL_ITEM_OPAQUE ||
              tcall_str_eq(item.name, tcall_str_of(from->name)));
    return out;
}

/* Goes back as it came, to its own provider only, in any pieces, or is an
 * error that says how much is missing. */
static void returns(const tcall_provider *p, const char *body,
                    const char *opaque)
{
    static const size_t splits[] = {0, 1, 2, 3, 7, 64};
    const tcall_provider *other =
        p == &tcall_anthropic ? &tcall_responses : &tcall_anthropic;
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(splits); i++)
        CHECK(has(returned(p, p, body, splits[i], 2048), opaque));
    CHECK(!strstr(returned(p, other, body, 0, 2048), "OPAQUE"));
    CHECK(!strstr(returned(p, &tcall_openai, body, 0, 2048), "OPAQUE"));
    for (i = 240; i < 2048; i += 8 * (CHECK_EVERY / 4 | 1)) {
        const char *got = returned(p, p, body, i & 8 ? 1 : 0, i);
        CHECK(last.unkept ? needed > i && last.calls == 1
                          : strstr(got, opaque) != NULL);
        if (last.unkept && needed <= 2048) { /* that would have done */
            got = returned(p, p, body, 1, (needed + 7) / 8 * 8);
            CHECK(!last.unkept && has(got, opaque));
        }
    }
}

#define LONG                                                           \
    "OPAQUE0123456789012345678901234567890123456789012345678901234567" \
    "8901234567890123456789012345678901234567890123456789012345678901="

static void test_opaque(void)
{
    returns(&tcall_anthropic,
            "{\"content\":[{\"thinking\":\"a\\n\\\"" LONG "\","
            "\"signature\":\"s" LONG "\",\"type\":\"thinking\"},"
            "{\"type\":\"redacted_thinking\",\"data\":\"" LONG "\"},"
            "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\","
            "\"input\":{}}],\"stop_reason\":\"tool_use\"}",
            "\"content\":[{\"type\":\"thinking\",\"thinking\":\"a\\n\\\"" LONG
            "\",\"signature\":\"s" LONG "\"},{\"type\":\"redacted_thinking\","
            "\"data\":\"" LONG "\"},{\"type\":\"tool_use\"");
    returns(&tcall_anthropic,
            "data: {\"type\":\"message_start\",\"message\":{}}\n\n"
            "data: {\"type\":\"content_block_start\",\"index\":0,"
            "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\","
            "\"signature\":\"\"}}\n\n"
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
            "{\"type\":\"thinking_delta\",\"thinking\":\"ab\"}}\n\n"
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
            "{\"type\":\"thinking_delta\",\"thinking\":\"c\"}}\n\n"
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
            "{\"type\":\"signature_delta\",\"signature\":\"" LONG "\"}}\n\n"
            "data: {\"type\":\"content_block_start\",\"index\":1,"
            "\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\","
            "\"name\":\"f\",\"input\":{}}}\n\n"
            "data: {\"type\":\"message_stop\"}\n\n",
            "[{\"type\":\"thinking\",\"thinking\":\"abc\",\"signature\":\"" LONG
            "\"},{\"type\":\"tool_use\",\"id\":\"a\"");
    returns(
        &tcall_responses,
        EVENT("output_item.added",
              "\"output_index\":0,\"item\":{\"type\":\"reasoning\","
              "\"encrypted_content\":\"early\"}")
            EVENT("output_item.done",
                  "\"output_index\":0,\"item\":{\"encrypted_content\":\"" LONG
                  "\",\"id\": \"rs\",\"summary\":[{}],\"type\":\"reasoning\"}")
                EVENT("output_item.done",
                      "\"output_index\":1,\"item\":{\"type\":\"function_call\","
                      "\"call_id\":\"a\",\"name\":\"f\",\"arguments\":\"{}\"}")
                    EVENT("completed",
                          "\"response\":{\"status\":\"completed\"}"),
        "\"input\":[{\"encrypted_content\":\"" LONG "\",\"id\": \"rs\","
        "\"summary\":[{}],\"type\":\"reasoning\"},{\"type\":"
        "\"function_call\",");
    returns(&tcall_gemini,
            PARTS("{\"functionCall\":{\"name\":\"f\",\"args\":{}},"
                  "\"thoughtSignature\":\"" LONG "\"}",
                  ",\"finishReason\":\"STOP\""),
            "{\"functionCall\":{\"name\":\"f\",\"args\":{}},"
            "\"thoughtSignature\":\"" LONG "\"}");
    returns(&tcall_deepseek,
            CHUNK("{\"content\":null,\"reasoning_content\":\"a\"}")
                CHUNK("{\"reasoning_content\":\"" LONG "\"}")
                    CHUNK(CALL("\"index\":0,\"id\":\"a\"," FUNC("f", "{}")))
                        FINISH("tool_calls"),
            "{\"role\":\"assistant\",\"reasoning_content\":\"a" LONG
            "\",\"content\":\"\",\"tool_calls\":[{\"id\":\"a\"");
    returns(&tcall_openrouter,
            CHUNK("{\"reasoning_details\":[{\"text\":\"a][\"}]}")
                CHUNK("{\"reasoning_details\":[{\"data\":\"" LONG "\"}]}")
                    CHUNK(CALL("\"index\":0,\"id\":\"a\"," FUNC("f", "{}")))
                        FINISH("tool_calls"),
            "\"reasoning_details\":[{\"text\":\"a][\"},{\"data\":\"" LONG
            "\"}],\"content\":\"\"");
    /* what is no array of objects stays away */
    returns(&tcall_openrouter,
            CHUNK("{\"reasoning_details\":\"[{\\\"a\"}")
                CHUNK("{\"reasoning_details\":[\"{\",{\"b\":1}]}")
                    CHUNK(CALL("\"index\":0,\"id\":\"a\"," FUNC("f", "{}")))
                        FINISH("tool_calls"),
            "\"reasoning_details\":[],\"content\":\"\"");
    /* in pieces: put together, with the signature that comes last */
    returns(&tcall_openrouter,
            CHUNK("{\"reasoning_details\":[{\"type\":\"t\",\"text\":"
                  "\"OPAQUE{\\\"\",\"format\":null,\"index\":0,\"x\":[1]}]}")
                CHUNK("{\"reasoning_details\":[{\"type\":\"t\",\"text\":\"\","
                      "\"index\":0},{\"type\":\"t\",\"text\":\"}b\","
                      "\"signature\":null,\"index\":0}]}")
                    CHUNK("{\"reasoning_details\":[{\"type\":\"t\","
                          "\"signature\":\"S\",\"format\":\"v1\",\"index\":0}"
                          ",{\"type\":\"t\",\"text\":\"c\",\"index\":1}"
                          ",{\"type\":\"t\",\"text\":\"d\",\"index\":10}"
                          ",{\"type\":\"s\",\"summary\":\"e\",\"index\":10}"
                          ",{\"type\":\"s\",\"summary\":\"f\",\"index\":10}"
                          ",{\"type\":\"e\",\"data\":\"g\",\"index\":0}"
                          ",{\"type\":\"e\",\"data\":\"h\",\"index\":0}]}")
                        CHUNK(CALL("\"index\":0,\"id\":\"a\"," FUNC("f", "{}")))
                            FINISH("tool_calls"),
            "\"reasoning_details\":[{\"type\":\"t\",\"index\":0,\"x\":[1],"
            "\"text\":\"OPAQUE{\\\"}b\",\"signature\":\"S\",\"format\":"
            "\"v1\"},{\"type\":\"t\",\"text\":\"c\",\"index\":1},"
            "{\"type\":\"t\",\"text\":\"d\",\"index\":10},{\"type\":\"s\","
            "\"index\":10,\"summary\":\"ef\"},{\"type\":\"e\",\"data\":\"g\","
            "\"index\":0},{\"type\":\"e\",\"data\":\"h\",\"index\":0}],"
            "\"content\":\"\"");
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
    {&tcall_ollama, "{'message':{'thinking':'no','content':'t','tool_calls':[{"
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
        &tcall_openai, &tcall_anthropic, &tcall_ollama, &tcall_responses,
        &tcall_gemini};
#define TCALL_X_(name, url, path, header, prefix, id, more, join, traits) \
    &tcall_##name,
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
        tcall_ask ask;
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
        for (to = 0; to < TCALL_ARRAY_LEN(plain) + TCALL_ARRAY_LEN(more) - 1; to++) {
            const tcall_provider *p = to < TCALL_ARRAY_LEN(plain)
                                          ? plain[to]
                                          : more[to - TCALL_ARRAY_LEN(plain)];
            /* Thinned out, each of them still comes with some provider. */
            for (options = (from + to) % THIN; options < 64; options += THIN) {
                const char *out;
                bool own = p == answers[from].from && p->more;
                ask.choice = (tcall_choice)(options & 3);
                ask.view = options & 4 ? tcall_view : NULL;
                ask.stream = (options & 8) != 0;
                ask.no_parallel = (options & 16) != 0;
                ask.max_tokens = options & 32 ? 9 : 0;
                out = write_body(p, &ask);
                CHECK((strstr(out, "OPAQUE") != NULL) == own);
                CHECK(has(out, "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"));
                CHECK(has(out, "\\\"be\\\" brief") && has(out, "\xC3\xAF"));
                CHECK(p == &tcall_gemini ||
                      (strstr(out, "\"stream\":true") != NULL) == ask.stream);
                if (p == &tcall_anthropic)
                    paired(out, "\"tool_use\",\"id\":\"", "\"tool_use_id\":\"");
                else if (p == &tcall_responses)
                    paired(out, "\"function_call\",\"call_id\":\"",
                           "_output\",\"call_id\":\"");
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
    tcall_ask ask;
    memset(&ask, 0, sizeof ask);
    tcall_block_init(&block, memory, sizeof memory);
    tcall_chat_init(&chat, &block);
    add(TCALL_ITEM_USER, "", "", "hi");
    ask.chat = &chat;
    ask.model = "m";
    CHECK(!strstr(write_body(&server, &ask), "include"));
    server.traits |= TCALL_TRAIT_ASK_OPAQUE;
    CHECK(has(write_body(&server, &ask),
              ",\"include\":[\"reasoning.encrypted_content\"],"));
}

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
    for (at = 0; at < len; at += n) {
        n = split && split < len - at ? split : len - at;
        tcall_reader_feed(&r, body + at, n);
    }
    if (tcall_reader_end(&r) == TCALL_OK)
        tcall_text_calls(&r);
    CHECK(block.high == 0);
    needed = block.need;
    tcall_writer_init(&w, out, sizeof out - 1);
    for (at = 0; tcall_chat_next(&chat, &at, &item);) {
        if (item.kind == TCALL_ITEM_CALL) {
            CHECK(item.id.len == 9 && item.made);
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
    ad.text_calls = text_calls ? tcall_text_calls : NULL;
    ad.transport.open = server_open;
    ad.transport.write = server_write;
    ad.transport.read = server_read;
    ad.transport.close = server_close;
    ad.transport.user = &s;
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

/* A schema that nobody checked is read no further than it goes. */
static void test_cut_schema(void)
{
    static const char text[] =
        "{\"type\":[\"object\"],\"properties\":{\"a\\u00e9\":{\"enum\":[1,"
        "\"x\\\"\"]}},\"required\":[\"b\"]}";
    size_t n;
    for (n = 0; n < sizeof text; n++) {
        char *cut = (char *)malloc(n + 1);
        tcall_strict left = {TCALL_STRICT_OPENAI, 9, 9, 9, false};
        tcall_tool tool;
        tcall_writer w;
        memset(&tool, 0, sizeof tool);
        memcpy(cut, text, n);
        cut[n] = 0;
        tool.parameters = cut;
        tool.strict = true;
        tcall_writer_init(&w, NULL, 0);
        CHECK(tcall_view(&w, &tool, &left) || n < sizeof text - 1);
        free(cut);
    }
}

int main(void)
{
    test_cut_schema();
    test_agent();
    test_text_calls();
    test_openai();
    test_cut();
    test_errors();
    test_anthropic();
    test_ollama();
    test_responses();
    test_gemini();
    test_framing();
    test_variants();
    test_faults();
    test_opaque();
    test_ask_opaque();
    test_memory();
    test_said();
    test_huge();
    test_switches();
    test_write();
    test_servers();
    test_ids();
    return check_sum("test_provider");
}
