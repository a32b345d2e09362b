/* The reader: bounded memory, answers far larger than it. What answers look
 * like is in tests/wire. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/invoke.c"
#include "../src/servers.c"
#endif
#include "check.h"
#include "wire.h"

/* How long to wait, as Google writes it. */
static void test_waits(void)
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

static void count_bytes(void *user, tcall_str piece)
{
    *(size_t *)user += piece.len;
}

/* Text is heard with the byte that completes it, not with a later one. */
static void test_heard_at_once(void)
{
    static const char body[] = "data: {\"choices\":[{\"delta\":{\"content\":\"";
    static char memory[1024];
    tcall_reader reader;
    tcall_block block;
    tcall_chat chat;
    size_t heard_bytes = 0, i;
    memset(&block, 0, sizeof block);
    block.base = memory;
    block.size = sizeof memory;
    tcall_chat_init(&chat, &block);
    tcall_reader_init(&reader, &tcall_openai, &chat, count_bytes, &heard_bytes);
    for (i = 0; body[i]; i++)
        CHECK(tcall_reader_feed(&reader, body + i, 1) == TCALL_OK);
    for (i = 0; i < 100; i++) {
        CHECK(tcall_reader_feed(&reader, i % 9 ? "x" : "\xC3\xA4",
                                i % 9 ? 1 : 2) == TCALL_OK);
        CHECK(heard_bytes == i + 1 + (i + 9) / 9);
    }
}

/* A long answer in a small block: the calls are there, the text is cut, but
 * heard in full, and never inside a character. */
static void test_text_cut(void)
{
    static char body[20000];
    size_t n = 0, i;
    for (i = 0; i < 200; i++)
        n += quoted(
            body + n,
            "~{'choices':[{'index':0,'delta':{'content':'\xC3\xA4\xE2\x82\xAC'}}]}",
            "\n\ndata: ");
    n += quoted(
        body + n,
        "~{'choices':[{'index':0,'delta':{'tool_calls':[{'index':0,'id':'a','function':"
        "{'name':'f','arguments':'{\\'text\\':\\'0123456789 0123456789 0123456789 "
        "0123456789 0123456789\\'}'}}]}}]}"
        "~{'choices':[{'index':0,'delta':{},'finish_reason':'tool_calls'}]}\n\n",
        "\n\ndata: ");
    for (i = 256; i < 1200; i += CHECK_EVERY) {
        const char *p = read_body(&tcall_openai, body, n, 0, i);
        const char *end = p + strcspn(p, "\n");
        CHECK(last.text_cut == (i / 8 * 8 < 2000 + 64 + 16) || last.error);
        CHECK(heard_len == 1000);
        CHECK(strstr(p, "call: a f({\"text\":\"0123456789 0123456789"));
        CHECK(strncmp(p, "text: ", 6) != 0 || (end[-1] & 0xC0) == 0x80);
    }
}

/* Arguments that do not fit: the call is there and says so. */
static void test_arguments_too_large(void)
{
    char body[1400], digits[1001];
    size_t n, peak;
    memset(digits, '1', 1000);
    digits[1000] = 0;
    n = quoted(body,
               "{'choices':[{'message':{'tool_calls':[{'id':'a','function':"
               "{'name':'f','arguments':'~'}},{'id':'b','function':"
               "{'name':'g','arguments':'{}'}}]},'finish_reason':'stop'}]}",
               digits);
    CHECK(same(read_body(&tcall_openai, body, n, 7, 400),
               "call: a f() !memory\ncall: b g({})\n"));
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
            CHECK(last.error == TCALL_E_MEMORY || strstr(shown, "call: a f("));
        }
    }
}

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
    {&tcall_interactions,
     "~{'event_type':'interaction.created','interaction':{'status':"
     "'in_progress'}}~{'event_type':'step.start','index':0,'step':{'type':"
     "'model_output'}}",
     "~{'event_type':'step.delta','index':0,'delta':{'type':'text','text':"
     "'0123456789'}}",
     "~{'event_type':'step.start','index':1,'step':{'type':'function_call',"
     "'id':'a','name':'f','arguments':{}}}~{'event_type':"
     "'interaction.completed','interaction':{'status':'requires_action'}}",
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
    {&tcall_interactions,
     "{'steps':[{'type':'model_output','content':[{'type':'text','text':'",
     "0123456789",
     "'}]},{'type':'function_call','id':'a','name':'f','arguments':{}}],"
     "'status':'requires_action'}",
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
        tcall_chat chat;
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

/* Arguments that a stream brings in pieces and then whole, twice, lie in the
 * block once; others in the end count instead. */
static void test_held_once(void)
{
    static const char *const ends[] = {"0123456789", "0123456789", "9876543210",
                                       ""};
    static char body[65536], memory[16384];
    size_t n, i, k, whole;
    for (i = 0; i < TCALL_ARRAY_LEN(ends); i++) {
        static char text[4200];
        tcall_reader r;
        tcall_block block;
        tcall_chat chat;
        tcall_item item;
        memset(text, 0, sizeof text);
        for (k = 0; k < 400; k++)
            strcat(text, ends[i]);
        if (i == 1) /* but for the end */
            text[strlen(text) - 1] = 'x';
        n = quoted(body,
                   "~{'type':'response.created','response':{'output':[]}}"
                   "~{'type':'response.output_item.added','output_index':0,"
                   "'item':{'type':'function_call','call_id':'a','name':'f',"
                   "'arguments':''}}",
                   "\n\ndata: ");
        for (k = 0; k < 400; k++)
            n += quoted(body + n,
                        "~{'type':'response.function_call_arguments.delta',"
                        "'output_index':0,'delta':'0123456789'}",
                        "\n\ndata: ");
        n += (size_t)sprintf(
            body + n,
            "\n\ndata: {\"type\":\"response.function_call_arguments.done\","
            "\"output_index\":0,\"arguments\":\"%s\"}\n\ndata: {\"type\":"
            "\"response.completed\",\"response\":{\"status\":\"completed\","
            "\"output\":[]}}\n\n",
            text);
        whole = *text ? strlen(text) : 4000;
        tcall_block_init(&block, memory, sizeof memory);
        tcall_chat_init(&chat, &block);
        tcall_reader_init(&r, &tcall_responses, &chat, NULL, NULL);
        for (k = 0; k < n; k += 100)
            tcall_reader_feed(&r, body + k, n - k < 100 ? n - k : 100);
        k = 0;
        CHECK(tcall_reader_end(&r) == TCALL_OK && r.answer.calls == 1);
        CHECK(tcall_chat_next(&chat, &k, &item) && item.text.len == whole);
        CHECK(strncmp(item.text.ptr, *text ? text : "0123456789",
                      *text ? whole : 10) == 0);
        CHECK(i == 1 || i == 2 || block.peak < whole + whole / 10);
    }
}

/* A word of an answer may be of any length: what it is said in stays as long
 * as it is. */
static void test_long_word(void)
{
    static char body[1200], word[1000];
    memset(word, 'x', sizeof word);
    snprintf(body, sizeof body,
             "{\"choices\":[{\"index\":0,\"finish_reason\":\"%.*s\","
             "\"message\":{\"content\":\"said\"}}]}",
             (int)sizeof word, word);
    read_body(&tcall_openai, body, strlen(body), 0, 4096);
    CHECK(last.error == TCALL_OK && strstr(shown, "said"));
}

int main(void)
{
    test_long_word();
    test_waits();
    test_heard_at_once();
    test_text_cut();
    test_arguments_too_large();
    test_said();
    test_huge();
    test_held_once();
    return check_sum("test_reader");
}
