/* Needs: AGENT. */
/* Ids that repeat, are empty, illegal, alike or made to look like ours, in
 * conversations over three switches of provider and a restart: in each request
 * each call has an id of its own that the receiver takes, its result names it,
 * and to the same provider it is always the same.
 *
 * 600 conversations; TEST_IDS=10000 in the environment, or a number as
 * argument, is how many instead. */
#include "toolcall.h"

#include "check.h"

enum { CHAT, ANTHROPIC, RESPONSES, GEMINI, OLLAMA, INTERACTIONS };
enum { PRINTED, PLAIN, NINE };

/* What receivers take, as their documents and refusals say. */
static const struct receiver {
    const tcall_provider *provider;
    int format;
    int takes;
    size_t most;
} receivers[] = {{&tcall_openai, CHAT, PRINTED, 40},
                 {&tcall_mistral, CHAT, NINE, 9},
                 {&tcall_anthropic, ANTHROPIC, PLAIN, 64},
                 {&tcall_responses, RESPONSES, PRINTED, 64},
                 {&tcall_gemini, GEMINI, PRINTED, 64},
                 {&tcall_ollama, OLLAMA, PRINTED, 64},
                 {&tcall_interactions, INTERACTIONS, PRINTED, 64},
                 {&tcall_groq, CHAT, PRINTED, 64},
                 {&tcall_deepseek, CHAT, PRINTED, 64}};
enum { RECEIVERS = TCALL_ARRAY_LEN(receivers) };

static uint32_t state_of_chance;

static unsigned chance(unsigned below)
{
    state_of_chance = state_of_chance * 1664525u + 1013904223u;
    return (state_of_chance >> 8) % below;
}

/* ---- a conversation ---- */

enum { MOST = 96, ID = 320 };

static struct {
    const struct receiver *to;
    int rounds;          /* answers with calls that are left in this turn */
    unsigned made;       /* calls so far; the argument of each is its number */
    char came[MOST][ID]; /* ids as the provider gave them */
    char sent[MOST][RECEIVERS][ID]; /* and as they were sent */
    uint64_t key[MOST];
    int runs[MOST];
    bool later;
} talk;

static tcall tc;
static tcall_agent agent;
static tcall_tool tools[1];
static char block[40000], saved[40000];
static char answer[1 << 14], request[1 << 18];
static size_t answer_len, answer_at, request_len;
static unsigned requests;
static uint32_t broken;

static void finds(bool right, const char *what)
{
    CHECK(right);
    if (right)
        return;
    if (broken++ < 10)
        printf("%s: %s: %s\n", talk.to->provider->name, what, request);
}

/* An id as a provider may give it. */
static const char *make_id(char *id)
{
    static const char *const ids[] = {
        "",          "call_0",    "call_0",    "call_1",    "call00001",
        "call00002", "call00003", "call00007", "a b",       "a?b",
        "a/b",       "a.b",       "h\303\244", "h\303\266", "abcDEF123",
        "list:0",    "list:1",    "\001",      "\"\\\"",    "call_00_x"};
    char made[9];
    tcall_str other;
    size_t len;
    switch (chance(5)) {
    case 0: /* alike but for the last letter */
        len = chance(4) ? 36 + chance(32) : 200 + chance(100);
        memset(id, 'a', len);
        id[len] = (char)('b' + chance(3));
        id[len + 1] = 0;
        return id;
    case 1: /* what one of the ids so far is replaced by */
        if (!talk.made)
            return "";
        other = tcall_id_for(&tcall_mistral,
                             tcall_str_of(talk.came[chance(talk.made)]), made);
        memcpy(id, other.ptr, other.len);
        id[other.len] = 0;
        return id;
    case 2: sprintf(id, "call_%u", state_of_chance); return id;
    default: return ids[chance(TCALL_ARRAY_LEN(ids))];
    }
}

static void write_call(tcall_writer *out, int format)
{
    char memory[2 * ID], text[16];
    tcall_writer one, *w = &one;
    const unsigned n = talk.made++;
    const char *const arguments[] = {"arguments", "input",     "arguments",
                                     "args",      "arguments", "arguments"};
    const char *const ids[] = {"id", "id", "call_id", "id", "id", "id"};
    const char *const types[] = {"function", "tool_use", "function_call",
                                 NULL,       NULL,       "function_call"};
    const char *id = make_id(talk.came[n]);
    memmove(talk.came[n], id, strlen(id) + 1);
    id = talk.came[n];
    sprintf(text, "{\"n\":%u}", n);
    tcall_writer_init(w, memory, sizeof memory);
    tcall_write_open(w, '{');
    if (types[format]) {
        tcall_write_key(w, "type");
        tcall_write_string(w, types[format]);
    }
    if (format == GEMINI) {
        tcall_write_key(w, "functionCall");
        tcall_write_open(w, '{');
    }
    if (*id || format < RESPONSES) {
        tcall_write_key(w, ids[format]);
        tcall_write_string(w, id);
    }
    if (format == CHAT || format == OLLAMA) {
        tcall_write_key(w, "function");
        tcall_write_open(w, '{');
    }
    tcall_write_key(w, "name");
    tcall_write_string(w, "t");
    tcall_write_key(w, arguments[format]);
    if (format == CHAT || format == RESPONSES)
        tcall_write_string(w, text);
    else
        tcall_write_verbatim(w, tcall_str_of(text));
    if (format == CHAT || format == OLLAMA || format == GEMINI)
        tcall_write_close(w, '}');
    tcall_write_close(w, '}');
    tcall_write_bytes(out, memory, w->fill);
}

/* The answer to a request: calls, or the last words of the turn. */
static void write_answer(void)
{
    static const char *const before[] = {
        "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"ok\"",
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"
        "\"text\",\"text\":\"ok\"}",
        "{\"object\":\"response\",\"status\":\"completed\",\"output\":[{"
        "\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"
        "\"output_text\",\"text\":\"ok\"}]}",
        "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{"
        "\"text\":\"ok\"}",
        "{\"message\":{\"role\":\"assistant\",\"content\":\"ok\"",
        "{\"object\":\"interaction\",\"status\":\"completed\",\"steps\":[{"
        "\"type\":\"model_output\",\"content\":[{\"type\":\"text\",\"text\":"
        "\"ok\"}]}"};
    static const char *const after[] = {
        "},\"finish_reason\":\"stop\"}]}",
        "],\"stop_reason\":\"end_turn\"}",
        "]}",
        "]},\"finishReason\":\"STOP\"}]}",
        "},\"done\":true,\"done_reason\":\"stop\"}",
        "]}"};
    const int format = talk.to->format;
    const bool list = format == CHAT || format == OLLAMA;
    unsigned count = talk.rounds-- > 0 ? 1 + chance(3) : 0, i;
    tcall_writer w;
    tcall_writer_init(&w, answer, sizeof answer);
    tcall_write_text(&w, before[format]);
    if (count && list)
        tcall_write_text(&w, ",\"tool_calls\":[");
    for (i = 0; i < count && talk.made < MOST; i++) {
        if (i || !list)
            tcall_write_text(&w, ",");
        write_call(&w, format);
    }
    if (count && list)
        tcall_write_text(&w, "]");
    tcall_write_text(&w, after[format]);
    answer_len = w.fill;
    answer_at = 0;
}

/* ---- what is sent ---- */

static bool takes(const struct receiver *to, const char *id)
{
    const size_t len = strlen(id);
    size_t i;
    for (i = 0; i < len; i++) {
        const char c = id[i];
        const bool letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                            (c >= 'A' && c <= 'Z');
        if (to->takes == PRINTED ? c <= ' ' || c >= 0x7F
            : to->takes == PLAIN ? !letter && c != '_' && c != '-'
                                 : !letter)
            return false;
    }
    return len > 0 && len <= to->most && (to->takes != NINE || len == 9);
}

static struct {
    unsigned calls, results;
    const char *id[MOST]; /* of the call with this number; NULL: it is not
                             there; "": it has none */
    bool answered[MOST];
    unsigned order[MOST], at; /* calls without an id, as they come */
} seen;

static const char *member(tcall_json v, const char *name)
{
    return tcall_json_string(tcall_json_get(v, name), NULL);
}

static void see_call(tcall_json call, const char *id, tcall_json arguments)
{
    const char *text = tcall_json_string(arguments, NULL);
    const int n = text ? atoi(text + 5)
                       : tcall_json_int(tcall_json_get(arguments, "n"), -1);
    char *before;
    unsigned i;
    (void)call;
    if (n < 0 || n >= (int)talk.made || seen.id[n]) {
        finds(false, "a call that nobody made");
        return;
    }
    for (i = 0; id && i < talk.made; i++)
        if (seen.id[i] && strcmp(seen.id[i], id) == 0)
            finds(false, "two calls have one id");
    finds(id ? takes(talk.to, id) : talk.to->format == GEMINI,
          "the receiver does not take the id");
    before = talk.sent[n][talk.to - receivers];
    finds(!*before || strcmp(before, id ? id : "-") == 0,
          "the call had another id");
    if (!id || strlen(id) < ID)
        strcpy(before, id ? id : "-");
    /* What is legal and no other's is kept. */
    if (id && strncmp(talk.came[n], "call_", 5) == 0 &&
        strlen(talk.came[n]) > 8 && talk.to->takes != NINE &&
        strcmp(talk.came[n], "call_00_x") != 0)
        finds(strcmp(id, talk.came[n]) == 0, "the id was not kept");
    seen.id[n] = id ? id : "";
    if (!id)
        seen.order[seen.calls % MOST] = (unsigned)n;
    seen.calls++;
}

static void see_result(const char *id, const char *text)
{
    const int n = text && *text == 'r' ? atoi(text + 1) : -1;
    if (n < 0 || n >= (int)talk.made || !seen.id[n] || seen.answered[n]) {
        finds(false, "a result of no call");
        return;
    }
    finds(strcmp(id ? id : "", seen.id[n]) == 0,
          "the result names another call");
    seen.answered[n] = true;
    seen.results++;
}

/* Looks for calls and results, at any depth. */
static void see(tcall_json v)
{
    const char *type = member(v, "type"), *role = member(v, "role");
    tcall_json function = tcall_json_get(v, "function"), inner;
    if (tcall_json_type(v) < TCALL_ARRAY)
        return;
    if (tcall_json_get(function, "arguments").at)
        see_call(v, member(v, "id"), tcall_json_get(function, "arguments"));
    else if (role && strcmp(role, "tool") == 0)
        see_result(member(v, "tool_call_id"), member(v, "content"));
    else if (type && strcmp(type, "tool_use") == 0)
        see_call(v, member(v, "id"), tcall_json_get(v, "input"));
    else if (type && strcmp(type, "tool_result") == 0)
        see_result(member(v, "tool_use_id"), member(v, "content"));
    else if (type && strcmp(type, "function_call") == 0)
        see_call(v,
                 member(v, "call_id") ? member(v, "call_id") : member(v, "id"),
                 tcall_json_get(v, "arguments"));
    else if (type && strcmp(type, "function_call_output") == 0)
        see_result(member(v, "call_id"), member(v, "output"));
    else if (type && strcmp(type, "function_result") == 0)
        see_result(member(v, "call_id"), member(v, "result"));
    inner = tcall_json_get(v, "functionCall");
    if (inner.at)
        see_call(v, member(inner, "id"), tcall_json_get(inner, "args"));
    inner = tcall_json_get(v, "functionResponse");
    if (inner.at)
        see_result(member(inner, "id"),
                   member(tcall_json_get(inner, "response"), "output"));
    for (v = tcall_json_first(v); v.at; v = tcall_json_next(v))
        see(v);
}

static void check_request(void)
{
    static char text[sizeof request + 1];
    tcall_json root;
    requests++;
    memcpy(text, request, request_len);
    memset(&seen, 0, sizeof seen);
    if (tcall_json_parse(&root, text, request_len, NULL) < 0) {
        finds(false, "no JSON");
        return;
    }
    see(root);
    finds(seen.calls == seen.results, "calls and results");
}

static int canned_open(void *user, const tcall_request *req,
                       tcall_response *res)
{
    (void)user, (void)req;
    request_len = 0;
    res->status = 200;
    return TCALL_OK;
}

static int canned_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    if (request_len + len >= sizeof request)
        return TCALL_E_CLOSED;
    memcpy(request + request_len, bytes, len);
    request_len += len;
    request[request_len] = 0;
    return (int)len;
}

static int canned_read(void *user, char *bytes, size_t cap)
{
    size_t left;
    (void)user;
    if (!answer_at) {
        check_request();
        write_answer();
    }
    left = answer_len - answer_at < cap ? answer_len - answer_at : cap;
    memcpy(bytes, answer + answer_at, left);
    answer_at += left;
    return (int)left;
}

static void canned_close(void *user)
{
    (void)user;
    answer_at = 0;
}

/* ---- the machine ---- */

/* Each call runs once, and none has the key of another. */
static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const int n = tcall_json_int(tcall_json_get(args, "n"), -1);
    const uint64_t key = tcall_call_key(cx->tc, cx->call);
    unsigned i;
    for (i = 0; i < talk.made; i++)
        finds(talk.key[i] != key, "two calls have one key");
    if (n < 0 || n >= MOST || talk.runs[n]++) {
        finds(false, "it runs twice");
        return TCALL_E_FAILED;
    }
    talk.key[n] = key;
    tcall_write_text(out, "r");
    return tcall_write_int(out, n);
}

static tcall_verdict approve(void *user, const tcall_call *call)
{
    (void)user, (void)call;
    return talk.later ? TCALL_VERDICT_LATER : TCALL_VERDICT_ALLOW;
}

static tcall_agent_desc describe(void)
{
    tcall_agent_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.tc = &tc;
    desc.provider = talk.to->provider;
    desc.model = "m";
    desc.parallel = 1 + (int)chance(3);
    desc.max_rounds = 9;
    desc.transport.open = canned_open;
    desc.transport.write = canned_write;
    desc.transport.read = canned_read;
    desc.transport.close = canned_close;
    return desc;
}

static void start(size_t size)
{
    tcall_desc desc;
    tcall_agent_desc agent_desc = describe();
    memset(&desc, 0, sizeof desc);
    memset(block, 0xA5, sizeof block);
    tools[0].name = "t";
    tools[0].description = "Does it.";
    tools[0].parameters =
        tcall_schema_text_of("{\"type\":\"object\",\"properties\":{\"n\":{"
                             "\"type\":\"integer\"}}}");
    tools[0].run = run;
    tools[0].permissions = TCALL_WRITE;
    tools[0].confirm = true;
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = size;
    desc.tools = tools;
    desc.tool_count = 1;
    desc.allow = TCALL_WRITE;
    desc.approve = approve;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    CHECK(tcall_agent_init(&agent, &agent_desc) == TCALL_OK);
}

/* Saves, forgets everything and loads. */
static void restart(size_t size, int expected)
{
    tcall_writer w;
    tcall_str bytes;
    tcall_writer_init(&w, saved, sizeof saved);
    finds(tcall_agent_save(&agent, &w) == TCALL_OK, "not saved");
    start(size);
    bytes.ptr = saved;
    bytes.len = w.fill;
    finds(tcall_agent_load(&agent, bytes) == expected, "not loaded");
}

static int go_on(void)
{
    int error, steps = 0;
    do
        error = tcall_agent_step(&agent);
    while (error == TCALL_E_AGAIN && ++steps < 100000);
    return error;
}

static void take_turn(size_t size, bool waits)
{
    int error;
    talk.rounds = 1 + (int)chance(3);
    talk.later = waits;
    error = tcall_agent_run(&agent, tcall_str_of("go on"));
    if (error == TCALL_E_APPROVAL) {
        restart(size, TCALL_E_AGAIN);
        talk.later = false;
        error = go_on();
    }
    finds(error == TCALL_OK, tcall_error_code(error));
}

static void converse(uint32_t seed)
{
    size_t size;
    unsigned part, turns, again;
    memset(&talk, 0, sizeof talk);
    state_of_chance = seed * 2654435761u;
    size = chance(3) ? sizeof block : 14000 + chance(8000);
    again = chance(4);
    talk.to = &receivers[chance(RECEIVERS)];
    start(size);
    for (part = 0; part < 4; part++) {
        tcall_agent_desc desc;
        /* Often back to where it was before. */
        if (part)
            talk.to =
                &receivers[chance(2) ? chance(RECEIVERS) : (seed + part) % 2];
        desc = describe();
        finds(tcall_agent_use(&agent, &desc) == TCALL_OK, "not switched");
        for (turns = 1 + chance(2); turns && talk.made + 9 < MOST; turns--)
            take_turn(size, part == again && chance(2));
        if (part == again)
            restart(size, TCALL_OK);
    }
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : getenv("TEST_IDS");
    const uint32_t count = wanted ? (uint32_t)atol(wanted) : 600 / CHECK_EVERY;
    uint32_t seed;
    for (seed = 1; seed <= count; seed++)
        converse(seed);
    printf("test_ids: %lu conversations, %u requests, %lu broken\n",
           (unsigned long)count, requests, (unsigned long)broken);
    return check_sum("test_ids");
}
