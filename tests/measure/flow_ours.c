/*
 * flow_ours.c - from a provider's answer to the message with the result, by
 * toolcall.h, which checks the whole schema; flow_cjson.c does the same
 *
 * Built with -DPROVIDER=0 and so on, a row of providers[].
 */
#include "toolcall.h"

#include "flow.h"

static int get_weather(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    return tcall_write_text(out,
                            tcall_json_string(tcall_json_get(args, "city"), 0));
}

static tcall tc;

static int flow(const char *answer, size_t len, char *message, size_t cap)
{
    static tcall_reader reader;
    static const tcall_provider *const read_by[] = {
        &tcall_openai, &tcall_anthropic, &tcall_gemini, &tcall_ollama};
    size_t low = tc.block.low, at = 0;
    tcall_chat chat;
    tcall_item item;
    tcall_call call;
    tcall_writer w;
    char result[128];
    int r;
    tcall_chat_init(&chat, &tc.block);
    tcall_reader_init(&reader, read_by[PROVIDER], &chat, NULL, NULL);
    tcall_reader_feed(&reader, answer, len);
    r = tcall_reader_end(&reader);
    do
        if (r < 0 || !tcall_chat_next(&chat, &at, &item))
            return -1;
    while (item.kind != TCALL_ITEM_CALL);
    memset(&call, 0, sizeof call);
    call.id = item.id;
    call.name = item.name;
    call.arguments = item.text;
    tcall_hydrate(&tc, &call);
    tcall_writer_init(&w, result, sizeof result);
    r = tcall_invoke(&tc, &call, &w);
    len = w.fill;
    tcall_writer_init(&w, message, cap);
    tcall_write_open(&w, '{');
    tcall_write_key(&w, "role");
    tcall_write_string(&w, "tool");
    tcall_write_key(&w, "name");
    tcall_write_str(&w, call.name);
    tcall_write_key(&w, "content");
    tcall_write_str(&w, (tcall_str){result, len});
    tcall_write_close(&w, '}');
    tcall_release(&tc, &call);
    tc.block.low = low;
    return r < 0 ? r : (int)w.fill;
}

int main(void)
{
    static const tcall_tool tools[] = {
        {.name = "get_weather",
         .description = "Weather of a city.",
         .permissions = TCALL_READ,
         .run = get_weather,
         .parameters = TCALL_JSON({
             "type" : "object",
             "properties" : {
                 "city" : {"type" : "string", "minLength" : 1},
                 "unit" : {"enum" : [ "celsius", "fahrenheit", "kelvin" ]},
                 "days" : {"type" : "integer", "minimum" : 1, "maximum" : 7}
             },
             "required" : [ "city", "unit", "days" ],
             "additionalProperties" : false
         })}};
    static char block[8192];
    tcall_desc desc = {.lenient = &tcall_lenient,
                       .block = block,
                       .block_size = sizeof block,
                       .tools = tools,
                       .tool_count = 1,
                       .allow = TCALL_READ};
    int r = tcall_init(&tc, &desc);
    return r < 0 ? r : measure(providers[PROVIDER].answer);
}
