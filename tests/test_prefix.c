/* Conversations only grow: each request begins, to the byte, with the one
 * before it up to the end of what was said. Generated ones, in all formats. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/call.c"
#include "../src/agent_loop.c"
#include "../src/servers.c"
#endif
#include "check.h"

static uint32_t seed = 1;

static unsigned chance(unsigned below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % below;
}

static char body[8192];

static void put(const char *text)
{
    char *to = body + strlen(body);
    for (; *text; text++)
        *to++ = (char)(*text == '\'' ? '"' : *text);
    *to = 0;
}

/* What one part of an answer is in a format; # is a number. */
typedef struct wire_format {
    const tcall_provider *provider;
    const char *list; /* what stands before the messages of a request */
    const char *open, *reasoning, *text, *call, *close;
    bool message; /* reasoning, text and calls are members, not a list */
} wire_format;

static const wire_format formats[] = {
    {&tcall_llamacpp, "\"messages\":[",
     "{'choices':[{'index':0,'finish_reason':'stop','message':{",
     "'reasoning_content':'thought #'", "'content':'said #'",
     "{'id':'call_#','function':{'name':'f','arguments':'{\\'n\\':#}'}}",
     "}}]}", true},
    {&tcall_openai, "\"messages\":[",
     "{'choices':[{'index':0,'finish_reason':'stop','message':{", NULL,
     "'content':'said #'",
     "{'id':'call_#','function':{'name':'f','arguments':'{\\'n\\':#'}}", "}}]}",
     true},
    {&tcall_groq, "\"messages\":[",
     "{'choices':[{'index':0,'finish_reason':'stop','message':{",
     "'reasoning':'thought #'", "'content':'said #'",
     "{'id':'call #','function':{'name':'f.#','arguments':'{\\'n\\':+#}'}}",
     "}}]}", true},
    {&tcall_openrouter, "\"messages\":[",
     "{'choices':[{'index':0,'finish_reason':'stop','message':{",
     "'reasoning_details':[{'type':'reasoning.encrypted','data':'secret #'}]",
     "'content':'said #'",
     "{'id':'call_#','function':{'name':'f','arguments':'{\\'n\\':#}'}}",
     "}}]}", true},
    {&tcall_gemini_v1, "\"messages\":[",
     "{'choices':[{'index':0,'finish_reason':'stop','message':{", NULL,
     "'content':'said #'",
     "{'id':'call_#','function':{'name':'f','arguments':'{\\'n\\':#}'},"
     "'extra_content':{'google':{'thought_signature':'sig #'}}}",
     "}}]}", true},
    {&tcall_deepseek, "\"messages\":[",
     "{'choices':[{'index':0,'finish_reason':'stop','message':{",
     "'reasoning_content':'thought #'", "'content':'said #'",
     "{'id':'call_#','function':{'name':'f','arguments':'{n:#}'}}", "}}]}",
     true},
    {&tcall_mistral, "\"messages\":[",
     "{'choices':[{'index':0,'finish_reason':'stop','message':{", NULL,
     "'content':[{'type':'thinking','thinking':[{'type':'text','text':"
     "'thought #'}]},{'type':'text','text':'said #'}]",
     "{'id':'call:#','function':{'name':'f f','arguments':'{n:1e999}'}}",
     "}}]}", true},
    {&tcall_ollama, "\"messages\":[",
     "{'done':true,'done_reason':'stop','message':{", "'thinking':'thought #'",
     "'content':'said #'", "{'function':{'name':'f','arguments':{'n':#}}}",
     "}}", true},
    {&tcall_anthropic, "\"messages\":[",
     "{'stop_reason':'end_turn','content':[",
     "{'type':'thinking','thinking':'thought #','signature':'sig #'}",
     "{'type':'text','text':'said #'}",
     "{'type':'tool_use','id':'toolu_#','name':'f','input':{'n':#}}", "]}",
     false},
    {&tcall_responses, "\"input\":[", "{'status':'completed','output':[",
     "{'type':'reasoning','id':'rs_#','encrypted_content':'secret #'}",
     "{'type':'message','content':[{'type':'output_text','text':'said #'}]}",
     "{'type':'function_call','call_id':'call_#','name':'f','arguments':"
     "'{\\'n\\':#}'}",
     "]}", false},
    {&tcall_gemini, "\"contents\":[",
     "{'candidates':[{'finishReason':'STOP','content':{'parts':[", NULL,
     "{'text':'said #'}",
     "{'functionCall':{'name':'f','args':{'n':#}},'thoughtSignature':'sig #'}",
     "]}}]}", false},
    {&tcall_interactions, "\"input\":[", "{'status':'completed','steps':[",
     "{'type':'thought','signature':'sig #'}",
     "{'type':'model_output','content':[{'type':'text','text':'said #'}]}",
     "{'type':'function_call','id':'call_#','name':'f','arguments':{'n':#}}",
     "]}", false},
};

static void put_numbered(const char *form, unsigned number)
{
    char text[512], *to = text;
    for (; *form; form++)
        if (*form == '#')
            to += sprintf(to, "%u", number);
        else
            *to++ = *form;
    *to = 0;
    put(text);
}

static unsigned made;

/* An answer with so many calls. */
static void make_answer(const wire_format *format, unsigned calls)
{
    bool reasons = format->reasoning && chance(2);
    bool says = !calls || chance(2);
    unsigned i;
    body[0] = 0;
    put(format->open);
    if (reasons)
        put_numbered(format->reasoning, ++made);
    if (reasons && says)
        put(",");
    if (says)
        put_numbered(format->text, ++made);
    if (calls && (reasons || says))
        put(",");
    if (calls && format->message)
        put("'tool_calls':[");
    for (i = 0; i < calls; i++) {
        put(i ? "," : "");
        put_numbered(format->call, ++made);
        if (format->message || chance(3))
            continue;
        put(","); /* what is said between calls */
        put_numbered(format->reasoning && chance(2) ? format->reasoning
                                                    : format->text,
                     ++made);
    }
    if (calls && format->message)
        put("]");
    put(format->close);
}

static char memory[16384];
static tcall_block block;
static tcall_chat chat;
static char requests[2][32768];
static int at; /* the request that was written last */

/* Where the list ends that begins with these words. */
static size_t list_end(const char *text, const char *words)
{
    const char *p = strstr(text, words) + strlen(words);
    int depth = 1;
    for (;; p++) {
        if (*p == '"')
            for (p++; *p != '"'; p++)
                p += *p == '\\';
        depth += *p == '[' || *p == '{';
        depth -= *p == ']' || *p == '}';
        if (!depth)
            return (size_t)(p - text);
    }
}

/* A request that is counted from where the one before was counted to comes to
 * as many bytes as it has. */
static void count_request(const wire_format *format, tcall_chat_request ask,
                          size_t length)
{
    tcall_writer writer;
    int i;
    ask.counted = &chat.counted;
    for (i = 0; i < 2; i++) {
        tcall_writer_init(&writer, NULL, 0);
        CHECK(format->provider->write(format->provider, &writer, &ask) ==
              TCALL_OK);
        CHECK(writer.len == length);
    }
}

static void write_request(const wire_format *format, bool first)
{
    tcall_chat_request ask;
    tcall_writer writer;
    size_t end;
    memset(&ask, 0, sizeof ask);
    ask.model = "m";
    ask.system = "Be brief.";
    ask.chat = &chat;
    at = !at;
    tcall_writer_init(&writer, requests[at], sizeof requests[at] - 1);
    CHECK(format->provider->write(format->provider, &writer, &ask) == TCALL_OK);
    requests[at][writer.fill] = 0;
    count_request(format, ask, writer.fill);
    if (first)
        return;
    end = list_end(requests[!at], format->list);
    /* A message that the user goes on with is not closed yet. */
    while (end && strchr("]}", requests[!at][end - 1]))
        end--;
    CHECK(memcmp(requests[!at], requests[at], end) == 0);
}

static void add(uint8_t kind, tcall_str id, tcall_str name, const char *text,
                int error)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.kind = kind;
    item.id = id;
    item.name = name;
    item.text = tcall_str_of(text);
    item.error = error;
    CHECK(tcall_chat_add(&chat, &item) == TCALL_OK);
}

/* Gives every call of the answer from here on its result. Ids and names are
 * copied, since the chat grows. */
static void add_results(size_t from)
{
    size_t end = block.low - chat.start;
    while (from < end) {
        char id[64], name[64];
        tcall_item item = {0};
        CHECK(tcall_chat_next(&chat, &from, &item));
        if (item.kind != TCALL_ITEM_CALL)
            continue;
        memcpy(id, item.id.ptr, item.id.len);
        memcpy(name, item.name.ptr, item.name.len);
        item.id.ptr = id;
        item.name.ptr = name;
        add(TCALL_ITEM_RESULT, item.id, item.name,
            chance(4) ? "{\"ok\":1}" : "broke",
            chance(4) ? TCALL_OK : TCALL_E_FAILED);
    }
}

static void answer(const wire_format *format, unsigned calls)
{
    size_t from = block.low - chat.start;
    tcall_reader reader;
    make_answer(format, calls);
    tcall_reader_init(&reader, format->provider, &chat, NULL, NULL);
    tcall_reader_feed(&reader, body, strlen(body));
    CHECK(tcall_reader_end(&reader) == TCALL_OK);
    CHECK((unsigned)reader.answer.calls == calls);
    add_results(from);
#if !defined TEST_LINKED && !defined TOOLCALL_NO_AGENT
    tcall_chat_mend_(&chat, from, false);
#endif
}

static void converse(const wire_format *format)
{
    const tcall_str none = tcall_str_of("");
    unsigned turns = 1 + chance(3), rounds;
    bool first = true;
    tcall_block_init(&block, memory, sizeof memory);
    tcall_chat_init(&chat, &block);
    while (turns--) {
        add(TCALL_ITEM_USER, none, none, "do it", TCALL_OK);
        for (rounds = chance(3); rounds; rounds--) {
            write_request(format, first);
            first = false;
            answer(format, 1 + chance(3));
        }
        write_request(format, first);
        first = false;
        answer(format, 0);
    }
    add(TCALL_ITEM_USER, none, none, "thanks", TCALL_OK);
    write_request(format, first);
}

#ifndef TEST_LINKED
/* After an edit nothing opaque is left. */
static void test_forgotten(const wire_format *format)
{
    int i;
    for (i = 0; i < 20; i++) {
        converse(format);
        tcall_chat_forget_(&chat);
        write_request(format, true);
        CHECK(!strstr(requests[at], "sig ") &&
              !strstr(requests[at], "secret ") &&
              !strstr(requests[at], "thought "));
    }
}
#endif

/* What was said stays as it is when an answer is an error. */
static void test_error(const wire_format *format)
{
    static const char error[] = "{\"error\":{\"message\":\"not today\"}}";
    tcall_reader reader;
    size_t low;
    converse(format);
    low = block.low;
    tcall_reader_init(&reader, format->provider, &chat, NULL, NULL);
    tcall_reader_feed(&reader, error, strlen(error));
    CHECK(tcall_reader_end(&reader) < 0 && block.low == low);
    write_request(format, true);
}

int main(void)
{
    size_t i;
    int n;
    for (i = 0; i < TCALL_ARRAY_LEN(formats); i++) {
        int failed = check_failed;
        for (n = 0; n < 1500; n += CHECK_EVERY)
            converse(&formats[i]);
        test_error(&formats[i]);
#ifndef TEST_LINKED
        test_forgotten(&formats[i]);
#endif
        if (check_failed != failed)
            printf("this was %s\n%s\n%s\n", formats[i].provider->name,
                   requests[!at], requests[at]);
    }
    return check_sum("test_prefix");
}
