/* generate.c - writes the conversations of this folder: as tcall_agent_save of
 * commit a165806 wrote them, before calls had an identity of their own. Their
 * bytes are kept; tests/test_identity.c loads them. To make them anew:
 *
 *     mkdir build/then && git show a165806:toolcall.h >build/then/toolcall.h
 *     cc -Ibuild/then tests/saved/generate.c -o build/then/generate
 *     build/then/generate tests/saved
 *
 * It prints a line for each: what saving came to, items, calls, results. Where
 * a ledger was used its rows are beside the conversation, in the order of bytes
 * of x86-64. */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include <stdio.h>
#include <string.h>

/* ---- answers, one for each request ---- */

static const char *const *canned;
static size_t canned_at;

static int canned_open(void *user, const tcall_request *req,
                       tcall_response *res)
{
    (void)user, (void)req;
    canned_at = 0;
    res->status = 200;
    return *canned ? TCALL_OK : TCALL_E_CLOSED;
}

static int canned_write(void *user, const char *bytes, size_t len)
{
    (void)user, (void)bytes;
    return (int)len;
}

static int canned_read(void *user, char *bytes, size_t cap)
{
    size_t left = strlen(*canned) - canned_at;
    (void)user;
    left = left < cap ? left : cap;
    memcpy(bytes, *canned + canned_at, left);
    canned_at += left;
    return (int)left;
}

static void canned_close(void *user)
{
    (void)user;
    canned += *canned != NULL;
}

#define F(id, name, n)                                                        \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name \
    "\",\"arguments\":\"{\\\"n\\\":" n "}\"}}"
#define OA(calls)                                                     \
    "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":" \
    "\"Let me look.\",\"tool_calls\":[" calls                         \
    "]},\"finish_reason\":\"tool_calls\"}]}"
#define OA_TEXT(text)                                                        \
    "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"" text \
    "\"},\"finish_reason\":\"stop\"}]}"
#define AN(content, stop)                                                             \
    "{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[" content \
    "],\"stop_reason\":\"" stop "\",\"usage\":{}}"
#define USE(id, name, n)                                        \
    "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name \
    "\",\"input\":{\"n\":" n "}}"
#define GE(parts)                                                         \
    "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" parts \
    "]},\"finishReason\":\"STOP\"}]}"
#define RE(output)                                                    \
    "{\"id\":\"r\",\"object\":\"response\",\"status\":\"completed\"," \
    "\"output\":[" output "]}"
#define OL(message)                                                 \
    "{\"model\":\"m\",\"message\":{\"role\":\"assistant\"," message \
    "},\"done\":true,\"done_reason\":\"stop\"}"
#define IN(outputs, status)                                         \
    "{\"id\":\"i\",\"object\":\"interaction\",\"status\":\"" status \
    "\",\"steps\":[" outputs "]}"
#define X10 "0123456789"
#define X60 X10 X10 X10 X10 X10 X10

/* ---- a machine ---- */

static char block[65536], bytes[65536];
static tcall tc;
static tcall_agent agent;
static tcall_ledger_row rows[8];
static tcall_ledger ledger = {rows, 8};
static tcall_tool tools[3];
static tcall_attachment attached;
static bool later;

static int get(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    return tcall_write_int(out, tcall_json_int(tcall_json_get(args, "n"), 0));
}

static int snap(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)args;
    attached.type = "image/png";
    attached.bytes = tcall_str_of("\x89PNG-a-picture");
    attached.next = cx->result.attached;
    cx->result.attached = &attached;
    return tcall_write_text(out, "a picture");
}

static tcall_verdict approve(void *user, const tcall_call *call)
{
    (void)user, (void)call;
    return later ? TCALL_VERDICT_LATER : TCALL_VERDICT_ALLOW;
}

static const char object_of_n[] =
    "{\"type\":\"object\",\"required\":[\"n\"],"
    "\"properties\":{\"n\":{\"type\":\"integer\"}}}";

enum { PLAIN, LEDGER, SMALL };

static void begin(const tcall_provider *provider, int how,
                  const char *const *answers)
{
    static const tcall_hook hooks[] = {TCALL_LEDGER(&ledger)};
    tcall_desc desc;
    tcall_agent_desc ad;
    memset(block, 0, sizeof block);
    memset(&desc, 0, sizeof desc);
    memset(&ad, 0, sizeof ad);
    memset(rows, 0, sizeof rows);
    tools[0].name = "get";
    tools[0].run = get;
    tools[0].permissions = TCALL_READ;
    tools[1].name = "set";
    tools[1].run = get;
    tools[1].permissions = TCALL_WRITE;
    tools[1].confirm = true;
    tools[2].name = "snap";
    tools[2].run = snap;
    tools[2].permissions = TCALL_READ;
    tools[0].description = tools[1].description = tools[2].description = "Does";
    tools[0].parameters = tools[1].parameters = tools[2].parameters =
        tcall_schema_text_of(object_of_n);
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = how == SMALL ? 3800 : sizeof block;
    desc.tools = tools;
    desc.tool_count = 3;
    desc.allow = TCALL_READ | TCALL_WRITE;
    desc.hash_key[0] = 0x0123456789ABCDEFu;
    desc.hash_key[1] = 0xFEDCBA9876543210u;
    if (how == LEDGER) {
        desc.hooks = hooks;
        desc.hook_count = TCALL_ARRAY_LEN(hooks);
        desc.stages = &tcall_stages;
    } else {
        desc.approve = approve;
    }
    later = false;
    tcall_init(&tc, &desc);
    ad.tc = &tc;
    ad.provider = provider;
    ad.model = "m";
    ad.transport.open = canned_open;
    ad.transport.write = canned_write;
    ad.transport.read = canned_read;
    ad.transport.close = canned_close;
    canned = answers;
    tcall_agent_init(&agent, &ad);
}

static const char *folder;

static void store(const char *name, const char *kind, const void *from,
                  size_t len)
{
    char path[256];
    FILE *file;
    sprintf(path, "%s/%s.%s", folder, name, kind);
    file = fopen(path, "wb");
    fwrite(from, 1, len, file);
    fclose(file);
}

/* Runs a turn, as far as it goes, and saves. */
static void keep(const char *name, int error)
{
    tcall_writer out;
    tcall_item item;
    size_t at = 0;
    int saved, items = 0, calls = 0, results = 0;
    tcall_writer_init(&out, bytes, sizeof bytes);
    saved = tcall_agent_save(&agent, &out);
    while (tcall_chat_next(&agent.chat, &at, &item)) {
        items++;
        calls += item.kind == TCALL_ITEM_CALL;
        results += item.kind == TCALL_ITEM_RESULT;
    }
    printf("{\"%s\", %d, %d, %d}, turn %s, saved %s, %d bytes\n", name, items,
           calls, results, tcall_error_code(error), tcall_error_code(saved),
           (int)out.fill);
    store(name, "saved", bytes, out.fill);
    if (rows[0].state || rows[7].state)
        store(name, "rows", rows, sizeof rows);
}

static int say(const char *text)
{
    return tcall_agent_run(&agent, tcall_str_of(text));
}

/* Says yes to all that wait, which nobody has come to use. */
static void grant(void)
{
    int i;
    for (i = 0; i < 8; i++)
        if (rows[i].state)
            tcall_ledger_decide(&ledger, rows[i].key, TCALL_VERDICT_ALLOW);
}

static void plain(const char *name, const tcall_provider *provider,
                  const char *const *answers)
{
    begin(provider, PLAIN, answers);
    keep(name, say("go on"));
}

int main(int argc, char **argv)
{
    static const char *const text[] = {OA_TEXT("Hello."), 0};
    static const char *const calls[] = {
        OA(F("call_a", "get", "1") "," F("call_b", "set", "2")),
        OA_TEXT("Done."), 0};
    static const char *const thinking[] = {
        AN("{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"S1\"}," USE(
               "toolu_1", "get", "1"),
           "tool_use"),
        AN("{\"type\":\"text\",\"text\":\"Done.\"}", "end_turn"), 0};
    static const char *const encrypted[] = {
        RE("{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[],"
           "\"encrypted_content\":\"E1\"},{\"type\":\"function_call\",\"id\":"
           "\"fc_1\",\"call_id\":\"call_1\",\"name\":\"get\",\"arguments\":"
           "\"{\\\"n\\\":1}\",\"status\":\"completed\"}"),
        RE("{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{"
           "\"type\":\"output_text\",\"text\":\"Done.\"}]}"),
        0};
    static const char *const no_ids[] = {
        GE("{\"functionCall\":{\"name\":\"get\",\"args\":{\"n\":1}}},"
           "{\"functionCall\":{\"name\":\"get\",\"args\":{\"n\":2}}}"),
        GE("{\"functionCall\":{\"name\":\"get\",\"args\":{\"n\":3}}}"),
        GE("{\"text\":\"Done.\"}"), 0};
    static const char *const signature[] = {
        GE("{\"functionCall\":{\"id\":\"g1\",\"name\":\"get\",\"args\":"
           "{\"n\":1}},\"thoughtSignature\":\"SIG\"}"),
        GE("{\"text\":\"Done.\"}"), 0};
    static const char *const ollama[] = {
        OL("\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"get\","
           "\"arguments\":{\"n\":1}}}]"),
        OL("\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"get\","
           "\"arguments\":{\"n\":2}}}]"),
        OL("\"content\":\"Done.\""), 0};
    static const char *const deepseek[] = {
        "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"\","
        "\"reasoning_content\":\"hm\",\"tool_calls\":[" F(
            "call_00_x", "get", "1") "]},\"finish_reason\":\"tool_calls\"}]}",
        OA_TEXT("Done."), 0};
    static const char *const interactions[] = {
        IN("{\"type\":\"function_call\",\"id\":\"ic_1\",\"name\":\"get\","
           "\"arguments\":{\"n\":1}}",
           "requires_action"),
        IN("{\"type\":\"model_output\",\"content\":[{\"type\":\"text\","
           "\"text\":\"Done.\"}]}",
           "completed"),
        0};
    static const char *const mistral[] = {OA(F("abcDEF123", "get", "1")),
                                          OA_TEXT("Done."), 0};
    static const char *const picture[] = {
        AN(USE("toolu_1", "snap", "1") "," USE("toolu_2", "get", "2"),
           "tool_use"),
        AN("{\"type\":\"text\",\"text\":\"A cat.\"}", "end_turn"), 0};
    static const char *const waits[] = {OA(F("call_a", "set", "1")), 0};
    static const char *const second[] = {
        OA(F("a", "set", "1") "," F("b", "set", "2") "," F("c", "get", "3")),
        0};
    static const char *const twice[] = {
        AN(USE("x", "set", "1") "," USE("x", "set", "2"), "tool_use"), 0};
    static const char *const repeated[] = {
        OA(F("call_0", "get", "1")), OA(F("call_0", "get", "2")),
        OA(F("dup", "get", "3") "," F("dup", "set", "4") "," F("call_0", "get",
                                                               "5")),
        OA_TEXT("Done."), 0};
    static const char *const empty[] = {
        OA(F("", "get", "1") "," F("", "get", "2")), OA(F("", "set", "3")),
        OA_TEXT("Done."), 0};
    static const char *const longs[] = {
        OA(F(X60 "-one", "get", "1") "," F(X60 "-two", "get", "2") "," F(
            X60 X60 "a", "get", "3") "," F(X60 X60 "b", "get",
                                           "4") "," F("h\303\244? ja.", "get",
                                                      "5")),
        OA_TEXT(X60 X60 X60 X60 X60 X60 X60 X60 X60 X60), 0};
    static const char *const plan[] = {
        OA(F("dup", "get", "1") "," F("p", "set", "2") "," F("dup", "get",
                                                             "3")),
        0};
    static const char *const drops[] = {OA(F("call_0", "get", "1")),
                                        OA_TEXT(X60 X60 X60 X60),
                                        OA(F("call_0", "get", "2")),
                                        OA_TEXT(X60 X60 X60 X60),
                                        OA(F("call_0", "get", "3")),
                                        OA_TEXT(X60 X60 X60 X60),
                                        OA(F("call_0", "get", "4")),
                                        OA_TEXT(X60 X60 X60 X60),
                                        OA(F("call_0", "get", "5")),
                                        OA_TEXT(X60 X60 X60 X60),
                                        0};
    static const char *const failed[] = {
        OA(F("a", "nothing", "1") "," F("b", "get", "true") "," F("c", "set",
                                                                  "3")),
        OA_TEXT("Sorry."), 0};
    tcall_call call;
    int i, error = 0;
    if (argc != 2)
        return 2;
    folder = argv[1];
    plain("01-text", &tcall_openai, text);
    plain("02-calls", &tcall_openai, calls);
    plain("03-thinking", &tcall_anthropic, thinking);
    plain("04-encrypted", &tcall_responses, encrypted);
    plain("05-no-ids", &tcall_gemini, no_ids);
    plain("06-signature", &tcall_gemini, signature);
    plain("07-ollama", &tcall_ollama, ollama);
    plain("08-reasoning", &tcall_deepseek, deepseek);
    plain("09-interactions", &tcall_interactions, interactions);
    plain("10-nine-letters", &tcall_mistral, mistral);
    begin(&tcall_openai, PLAIN, text);
    tcall_agent_show(&agent, "image/png", tcall_str_of("\x89PNG"));
    keep("11-image", say("what is it?"));
    plain("12-picture-of-a-tool", &tcall_anthropic, picture);
    begin(&tcall_openai, PLAIN, waits);
    later = true;
    keep("13-waits", say("set it"));
    begin(&tcall_openai, PLAIN, second);
    tcall_agent_say(&agent, tcall_str_of("set them"));
    while (agent.call_at < 1 && tcall_agent_step(&agent) == TCALL_E_AGAIN)
        if (agent.batch_count || agent.call_at)
            later = agent.call_at > 0;
    later = true;
    do
        error = tcall_agent_step(&agent);
    while (error == TCALL_E_AGAIN);
    keep("14-waits-second", error);
    begin(&tcall_openai, LEDGER, waits);
    error = say("set it");
    grant();
    keep("15-waits-granted", error);
    begin(&tcall_anthropic, LEDGER, twice);
    error = say("set both");
    grant();
    keep("16-waits-twice", error);
    plain("17-repeated", &tcall_openai, repeated);
    plain("18-empty", &tcall_openai, empty);
    plain("19-long", &tcall_openai, longs);
    begin(&tcall_openai, PLAIN, plan);
    error = tcall_agent_plan(&agent, tcall_str_of("plan it"), NULL, 0);
    tcall_agent_call(&agent, 1, &call);
    tcall_release(&tc, &call);
    tcall_agent_result(&agent, &call, tcall_str_of("two"), false);
    keep("20-plan", error);
    begin(&tcall_openai, SMALL, drops);
    for (i = 0; i < 5; i++)
        error = say("once more");
    keep("21-dropped", error);
    plain("22-failed", &tcall_openai, failed);
    return 0;
}
