/* Needs: AGENT. */
/* A call is itself, whatever id its provider gave it: verdicts name it and what
 * a person saw, and conversations that were saved before this was so, see
 * tests/saved, are loaded with nothing in them that would run by itself. */
#include "canned.h"
#include "check.h"

/* ---- a machine ---- */

typedef struct question {
    uint64_t key, what;
} question;

static char block[40000], kept[16384];
static tcall tc;
static tcall_agent agent;
static tcall_ledger_row rows[8];
static tcall_ledger ledger = {rows, 8};
static tcall_tool tools[3];
static char trail[32]; /* n of each run */
static question asked[16];
static int questions, verdicts;
static bool by_approve;
static tcall_call again;

static const uint64_t hash_key[] = {0x0123456789ABCDEFu, 0xFEDCBA9876543210u};

static int work(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const size_t len = strlen(trail);
    const int n = tcall_json_int(tcall_json_get(args, "n"), 0);
    (void)cx;
    if (len + 1 < sizeof trail)
        trail[len] = (char)('0' + n);
    return tcall_write_int(out, n);
}

static tcall_verdict approve(void *user, const tcall_call *call)
{
    (void)user, (void)call;
    return TCALL_VERDICT_LATER;
}

static void note(void *user, const tcall_event *e)
{
    (void)user;
    verdicts += e->kind == TCALL_EVENT_VERDICT;
    if (e->kind != TCALL_EVENT_APPROVAL || questions == 16)
        return;
    asked[questions].key = tcall_call_key(&tc, e->call);
    asked[questions++].what = tcall_call_what(&tc, e->call);
}

static tcall_agent_desc describe(const tcall_provider *provider, int parallel)
{
    tcall_agent_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.tc = &tc;
    desc.provider = provider;
    desc.model = "m";
    desc.parallel = parallel;
    desc.transport = canned_transport();
    return desc;
}

/* As after power-on; what is in flash was kept: the rows of the ledger. */
static void start(const tcall_provider *provider, int parallel)
{
    static const tcall_hook hooks[] = {TCALL_LEDGER(&ledger)};
    static const char *const names[] = {"get", "set", "fire"};
    tcall_desc desc;
    tcall_agent_desc agent_desc = describe(provider, parallel);
    int i;
    memset(block, 0xA5, sizeof block);
    memset(tools, 0, sizeof tools);
    for (i = 0; i < 3; i++) {
        tools[i].name = names[i];
        tools[i].description = "Does";
        tools[i].parameters = tcall_schema_text_of(
            "{\"type\":\"object\",\"required\":[\"n\"],"
            "\"properties\":{\"n\":{\"type\":\"integer\"}}}");
        tools[i].run = work;
        tools[i].permissions = i ? TCALL_WRITE : TCALL_READ;
        tools[i].confirm = i > 0;
    }
    memset(&desc, 0, sizeof desc);
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = sizeof block;
    desc.tools = tools;
    desc.tool_count = 3;
    desc.allow = TCALL_READ | TCALL_WRITE;
    desc.hash_key = hash_key;
    desc.on_event = note;
    desc.events = &tcall_events;
    desc.hooks = by_approve ? NULL : hooks;
    desc.hook_count = by_approve ? 0 : TCALL_ARRAY_LEN(hooks);
    desc.stages = &tcall_stages;
    desc.approve = by_approve ? approve : NULL;
    memset(trail, 0, sizeof trail);
    memset(asked, 0, sizeof asked);
    questions = verdicts = 0;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    CHECK(tcall_agent_init(&agent, &agent_desc) == TCALL_OK);
}

static void begin(const char *const *answers, int parallel)
{
    memset(rows, 0, sizeof rows);
    by_approve = false;
    start(&tcall_openai, parallel);
    canned = answers;
}

static int go_on(void)
{
    int error, steps = 0;
    do
        error = tcall_agent_step(&agent);
    while (error == TCALL_E_AGAIN && ++steps < 10000);
    return error;
}

static int say(void)
{
    return tcall_agent_run(&agent, tcall_str_of("go on"));
}

static int decide(question q, tcall_verdict verdict)
{
    return tcall_ledger_decide(&ledger, q.key, q.what, verdict);
}

static bool ran(const char *numbers)
{
    return strcmp(trail, numbers) == 0;
}

static tcall_str save(void)
{
    tcall_writer out;
    tcall_str saved;
    tcall_writer_init(&out, kept, sizeof kept);
    CHECK(tcall_agent_save(&agent, &out) == TCALL_OK);
    saved.ptr = kept;
    saved.len = out.fill;
    return saved;
}

/* Have calls ids that differ, and each one result, right behind the answer? */
static bool is_whole(bool waits)
{
    tcall_item call, item;
    size_t at = 0, next;
    bool right = true;
    while (tcall_chat_next(&agent.chat, &at, &call)) {
        int results = 0;
        if (call.kind != TCALL_ITEM_CALL)
            continue;
        right = right && call.id.len;
        for (next = at; tcall_chat_next(&agent.chat, &next, &item);) {
            bool same = tcall_str_eq(item.id, call.id);
            right = right && !(same && item.kind == TCALL_ITEM_CALL);
            results += same && item.kind == TCALL_ITEM_RESULT;
        }
        right = right && (results == 1 || (waits && !results));
    }
    return right;
}

/* ---- verdicts ---- */

static const char *const rounds[] = {ASKS(CALL("call_0", "1")),
                                     ASKS(CALL("call_0", "2")), SAYS("Done.")};
static const char *const pair[] = {ASKS(CALL("x", "1") "," CALL("x", "2")),
                                   SAYS("Done.")};

/* Another call with the same id, in the next round. */
static void test_next_round(void)
{
    begin(rounds, 1);
    tools[2].confirm = false;
    CHECK(say() == TCALL_OK && ran("12"));
    begin(rounds, 1);
    CHECK(say() == TCALL_E_APPROVAL && questions == 1 && ran(""));
    CHECK(decide(asked[0], TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(go_on() == TCALL_E_APPROVAL && questions == 2 && ran("1"));
    CHECK(decide(asked[0], TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
    CHECK(go_on() == TCALL_E_APPROVAL && ran("1"));
    CHECK(decide(asked[1], TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(go_on() == TCALL_OK && ran("12") && verdicts == 2);
}

/* A verdict that comes late decides nothing, not even of the same call of the
 * next turn: as it was cancelled somebody has to see it anew. */
static void test_late(void)
{
    static const char *const first[] = {ASKS(CALL("call_0", "1"))};
    static const char *const other[] = {ASKS(CALL("call_0", "9")),
                                        SAYS("Done.")};
    static const char *const same[] = {ASKS(CALL("call_0", "1")),
                                       SAYS("Done.")};
    int i;
    for (i = 0; i < 2; i++) {
        begin(first, 1);
        CHECK(say() == TCALL_E_APPROVAL && questions == 1);
        tcall_agent_cancel(&agent);
        CHECK(go_on() == TCALL_E_CANCELLED);
        CHECK(decide(asked[0], TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
        canned = i ? same : other;
        CHECK(say() == TCALL_E_APPROVAL && questions == 2);
        CHECK(asked[0].key != asked[1].key);
        CHECK(decide(asked[0], TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
        CHECK(go_on() == TCALL_E_APPROVAL && ran(""));
        CHECK(decide(asked[1], TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(go_on() == TCALL_OK && ran(i ? "1" : "9"));
    }
}

/* A turn that was dropped leaves its ids to others, but not its verdicts. */
static void test_dropped(void)
{
    static const char *const turns[] = {ASKS(CALL("x", "1")), SAYS("Done."),
                                        ASKS(CALL("x", "1")), SAYS("Done.")};
    static char longer[31000];
    memset(longer, 'a', sizeof longer - 1);
    begin(turns, 1);
    CHECK(say() == TCALL_E_APPROVAL);
    CHECK(decide(asked[0], TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(go_on() == TCALL_OK && ran("1"));
    CHECK(tcall_agent_run(&agent, tcall_str_of(longer)) == TCALL_E_APPROVAL);
    CHECK(tcall_agent_call(&agent, 0, &again) == TCALL_OK);
    CHECK(tcall_str_eq(again.id, tcall_str_of("x")));
    tcall_release(&tc, &again);
    CHECK(questions == 2 && asked[0].key != asked[1].key && ran("1"));
    CHECK(decide(asked[1], TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(go_on() == TCALL_OK && ran("11"));
}

/* Two of one answer, with one id: each waits for a verdict of its own. */
static void test_pair(void)
{
    int parallel;
    for (parallel = 1; parallel < 5; parallel += 3) {
        begin(pair, parallel);
        CHECK(say() == TCALL_E_APPROVAL);
        CHECK(questions == (parallel > 1 ? 2 : 1));
        CHECK(decide(asked[parallel > 1], TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(go_on() == TCALL_E_APPROVAL);
        CHECK(questions == 2 && ran(parallel > 1 ? "2" : "1"));
        CHECK(decide(asked[parallel == 1], TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(go_on() == TCALL_OK && ran(parallel > 1 ? "21" : "12"));
        CHECK(is_whole(false));
    }
}

/* Two in one line of a stream, with one id and no number. */
static void test_line(void)
{
    static const char *const lines[] = {
        "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"id\":\"x\","
        "\"function\":{\"name\":\"get\",\"arguments\":{\"n\":1}}},{"
        "\"id\":\"x\",\"function\":{\"name\":\"get\",\"arguments\":"
        "{\"n\":2}}}]},\"done\":true,\"done_reason\":\"stop\"}",
        "{\"message\":{\"content\":\"Done.\"},\"done\":true,"
        "\"done_reason\":\"stop\"}"};
    begin(lines, 1);
    start(&tcall_ollama, 1);
    CHECK(say() == TCALL_OK && ran("12") && is_whole(false));
}

/* It names what the person saw: neither other arguments nor another tool. */
static void test_what(void)
{
    static const char *const one[] = {ASKS(CALL("a", "1")), SAYS("Done.")};
    question q;
    begin(one, 1);
    CHECK(say() == TCALL_E_APPROVAL && questions == 1);
    q = asked[0];
    CHECK(q.key && q.what);
    q.what++;
    CHECK(decide(q, TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
    q.what = 0;
    CHECK(decide(q, TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
    CHECK(go_on() == TCALL_E_APPROVAL && ran("") && questions == 1);
    tools[2].description = "Does more";
    CHECK(go_on() == TCALL_E_APPROVAL && questions == 2);
    CHECK(asked[0].key == asked[1].key && asked[0].what != asked[1].what);
    CHECK(decide(asked[0], TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
    CHECK(go_on() == TCALL_E_APPROVAL && ran(""));
    CHECK(decide(asked[1], TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(go_on() == TCALL_OK && ran("1"));
}

/* The same call after a restart: the verdict may come before or after it. */
static void test_restart(void)
{
    static const char *const waits[] = {ASKS(CALL("x", "1") "," CALL("x", "2")),
                                        SAYS("Done.")};
    question before[2];
    tcall_str saved;
    int early;
    for (early = 0; early < 2; early++) {
        begin(waits, 2);
        CHECK(say() == TCALL_E_APPROVAL && questions == 2);
        memcpy(before, asked, sizeof before);
        if (early)
            CHECK(decide(before[1], TCALL_VERDICT_ALLOW) == TCALL_OK);
        saved = save();
        start(&tcall_openai, 2);
        CHECK(tcall_agent_load(&agent, saved) == TCALL_E_AGAIN);
        CHECK(is_whole(true) && go_on() == TCALL_E_APPROVAL);
        CHECK(ran(early ? "2" : ""));
        CHECK(memcmp(before, asked, sizeof *asked) == 0);
        if (!early)
            CHECK(decide(before[1], TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(decide(before[0], TCALL_VERDICT_DENY) == TCALL_OK);
        CHECK(go_on() == TCALL_OK && ran("2"));
    }
}

/* A plan's call is of that plan, though another one has its id later. */
static void test_plan(void)
{
    static const char *const plans[] = {ASKS(CALL("p", "1")),
                                        ASKS(CALL("p", "2") "," CALL("p", "3")),
                                        ASKS(CALL("p", "4")), SAYS("Done.")};
    tcall_call first, call;
    int i;
    begin(plans, 1);
    CHECK(tcall_agent_plan(&agent, tcall_str_of("a"), NULL, 0) == 1);
    CHECK(tcall_agent_call(&agent, 0, &first) == TCALL_OK);
    tcall_release(&tc, &first);
    CHECK(tcall_agent_plan(&agent, tcall_str_of("b"), NULL, 0) == 2);
    CHECK(tcall_agent_result(&agent, &first, tcall_str_of("1"), false) ==
          TCALL_E_USAGE);
    for (i = 1; i >= 0; i--) { /* in any order */
        CHECK(tcall_agent_call(&agent, i, &call) == TCALL_OK);
        tcall_release(&tc, &call);
        first = call; /* an id that is of another one */
        first.id = tcall_str_of("other");
        CHECK(tcall_agent_result(&agent, &first, tcall_str_of("0"), false) ==
              TCALL_E_USAGE);
        CHECK(tcall_agent_result(&agent, &call, tcall_str_of(i ? "3" : "2"),
                                 false) == TCALL_OK);
        CHECK(tcall_agent_result(&agent, &call, tcall_str_of("0"), false) ==
              TCALL_E_USAGE);
    }
    CHECK(tcall_agent_plan(&agent, tcall_str_of(""), NULL, 0) == 1);
    CHECK(strstr(request, "\"tool_call_id\":\"p\",\"content\":\"2\""));
    CHECK(tcall_agent_result(&agent, &call, tcall_str_of("0"), false) ==
          TCALL_E_USAGE);
    CHECK(tcall_agent_call(&agent, 0, &call) == TCALL_OK);
    tcall_release(&tc, &call);
    CHECK(tcall_agent_result(&agent, &call, tcall_str_of("4"), false) ==
          TCALL_OK);
    CHECK(is_whole(false) && go_on() == TCALL_OK);
}

/* Whoever writes a conversation himself may use ids as they came. */
static void test_own(void)
{
    static const char *const done[] = {SAYS("Done.")};
    static const char *const ids[] = {"x", "x", "", "x"};
    tcall_item item;
    int i, part;
    begin(done, 1);
    for (part = 0; part < 4; part++)
        for (i = 0; i < 4; i++) {
            char n[4];
            sprintf(n, "%d", i & 1 ? i - 1 : i + 1);
            memset(&item, 0, sizeof item);
            item.kind = part & 1 ? TCALL_ITEM_RESULT : TCALL_ITEM_CALL;
            item.id = tcall_str_of(ids[i]);
            item.name = tcall_str_of("get");
            item.text = tcall_str_of(part & 1 ? n : "{}");
            CHECK(tcall_chat_add(&agent.chat, &item) == TCALL_OK);
        }
    CHECK(is_whole(false));
    CHECK(say() == TCALL_OK && !strstr(request, "was not run"));
    CHECK(strstr(request, "\"tool_call_id\":\"x\",\"content\":\"1\""));
}

/* ---- what is loaded ---- */

/* A letter an item: what stands in a conversation that nobody had. u: the user,
 * t: a text, c and d: calls, C and D: their results. */
static void put(const char *items)
{
    for (; *items; items++) {
        const bool result = *items == 'C' || *items == 'D';
        tcall_item item;
        memset(&item, 0, sizeof item);
        item.kind = *items == 'u'   ? TCALL_ITEM_USER
                    : *items == 't' ? TCALL_ITEM_TEXT
                    : result        ? TCALL_ITEM_RESULT
                                    : TCALL_ITEM_CALL;
        item.text = tcall_str_of("{}");
        if (item.kind == TCALL_ITEM_CALL || result) {
            item.id = tcall_str_of(*items == 'c' || *items == 'C' ? "c" : "d");
            item.name = tcall_str_of("fire");
        }
        CHECK(tcall_chat_add(&agent.chat, &item) == TCALL_OK);
    }
}

static int load_again(void)
{
    tcall_str saved = save();
    start(&tcall_openai, 1);
    return tcall_agent_load(&agent, saved);
}

/* A right sum is no proof: each call has one result, or waits. */
static void test_pairs(void)
{
    static const char *const waits[] = {ASKS(CALL("c", "1") "," CALL("d", "2")),
                                        SAYS("Done.")};
    static const char *const good[] = {"u",     "ut",     "ucCt",    "utcdCDt",
                                       "ucdDC", "ucCdDt", "ucCtucCt"};
    static const char *const bad[] = {
        "uc",    "ucdC",   "uct",     "ucut",   "ucCCt", "uCt", "ucDt", "ucuCt",
        "ucdCt", "ucCtdu", "ucdCtDt", "ucdCuD", "C",     "utC", "ucCtC"};
    /* behind two calls that wait */
    static const char *const left[] = {"C"};
    static const char *const odd[] = {"u", "CuD", "Cc", "CC"};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(good); i++) {
        begin(waits, 1);
        put(good[i]);
        CHECK(load_again() == TCALL_OK && is_whole(false));
    }
    for (i = 0; i < TCALL_ARRAY_LEN(bad); i++) {
        begin(waits, 1);
        put(bad[i]);
        CHECK(load_again() == TCALL_E_PROTOCOL);
        CHECK(tc.block.low == agent.chat.start); /* nothing is left of it */
    }
    for (i = 0; i < TCALL_ARRAY_LEN(left); i++) {
        begin(waits, 1);
        CHECK(say() == TCALL_E_APPROVAL);
        put(left[i]);
        CHECK(load_again() == TCALL_E_AGAIN && is_whole(true));
        CHECK(go_on() == TCALL_E_APPROVAL && questions == 1);
        CHECK(decide(asked[0], TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(go_on() == TCALL_OK && ran("2") && is_whole(false));
    }
    for (i = 0; i < TCALL_ARRAY_LEN(odd); i++) {
        begin(waits, 1);
        CHECK(say() == TCALL_E_APPROVAL);
        put(odd[i]);
        CHECK(load_again() == TCALL_E_PROTOCOL && ran(""));
    }
    begin(waits, 1); /* the second one had ended, the first waited */
    CHECK(say() == TCALL_E_APPROVAL);
    put("D");
    CHECK(load_again() == TCALL_E_AGAIN && is_whole(true));
    CHECK(go_on() == TCALL_E_APPROVAL && questions == 1);
    CHECK(decide(asked[0], TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(go_on() == TCALL_OK && ran("1") && is_whole(false));
    begin(waits, 1); /* both had, and nothing was asked yet */
    CHECK(say() == TCALL_E_APPROVAL);
    put("CD");
    CHECK(load_again() == TCALL_E_AGAIN);
    CHECK(go_on() == TCALL_OK && ran("") && is_whole(false));
}

/* ---- conversations of old ---- */

static const struct old {
    const char *name;
    const tcall_provider *provider;
    int items, calls, results;
    int loaded; /* TCALL_E_AGAIN: a call waits; 1: a plan does */
} olds[] = {{"01-text", &tcall_openai, 2, 0, 0, TCALL_OK},
            {"02-calls", &tcall_openai, 7, 2, 2, TCALL_OK},
            {"03-thinking", &tcall_anthropic, 5, 1, 1, TCALL_OK},
            {"04-encrypted", &tcall_responses, 5, 1, 1, TCALL_OK},
            {"05-no-ids", &tcall_gemini, 8, 3, 3, TCALL_OK},
            {"06-signature", &tcall_gemini, 4, 1, 1, TCALL_OK},
            {"07-ollama", &tcall_ollama, 6, 2, 2, TCALL_OK},
            {"08-reasoning", &tcall_deepseek, 5, 1, 1, TCALL_OK},
            {"09-interactions", &tcall_interactions, 4, 1, 1, TCALL_OK},
            {"10-nine-letters", &tcall_mistral, 5, 1, 1, TCALL_OK},
            {"11-image", &tcall_openai, 3, 0, 0, TCALL_OK},
            {"12-picture-of-a-tool", &tcall_anthropic, 7, 2, 2, TCALL_OK},
            {"13-waits", &tcall_openai, 3, 1, 0, TCALL_E_AGAIN},
            {"14-waits-second", &tcall_openai, 6, 3, 1, TCALL_E_AGAIN},
            {"15-waits-granted", &tcall_openai, 3, 1, 0, TCALL_E_AGAIN},
            {"16-waits-twice", &tcall_anthropic, 3, 2, 0, TCALL_E_AGAIN},
            {"17-repeated", &tcall_openai, 15, 5, 5, TCALL_OK},
            {"18-empty", &tcall_openai, 10, 3, 3, TCALL_OK},
            {"19-long", &tcall_openai, 13, 5, 5, TCALL_OK},
            {"20-plan", &tcall_openai, 6, 3, 1, 1},
            {"21-dropped", &tcall_openai, 15, 3, 3, TCALL_OK},
            {"22-failed", &tcall_openai, 9, 3, 3, TCALL_OK}};

/* Returns the bytes of a file, none where it is not there. */
static tcall_str read_old(const char *name, const char *kind, char *to,
                          size_t cap)
{
    char path[512];
    tcall_str bytes;
    FILE *file;
    sprintf(path, "tests/saved/%s.%s", name, kind);
    file = fopen(path, "rb");
    bytes.ptr = to;
    bytes.len = file ? fread(to, 1, cap, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

/* Is the n of each result that of its call? */
static bool answers_its_call(void)
{
    tcall_item call, item;
    size_t at = 0, next;
    bool right = true;
    while (tcall_chat_next(&agent.chat, &at, &call))
        for (next = at; call.kind == TCALL_ITEM_CALL && call.text.len == 7 &&
                        tcall_chat_next(&agent.chat, &next, &item);)
            if (item.kind == TCALL_ITEM_RESULT && item.error == TCALL_OK &&
                tcall_str_eq(item.id, call.id) && item.text.len == 1)
                right = right && *item.text.ptr == call.text.ptr[5];
    return right;
}

static void test_old(const struct old *old)
{
    static const char *const done[] = {SAYS("Done."), SAYS("Done.")};
    static const char *const done_there[] = {
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"
        "\"text\",\"text\":\"Done.\"}],\"stop_reason\":\"end_turn\"}"};
    tcall_str saved, old_rows;
    tcall_item item;
    size_t at = 0;
    int items = 0, calls = 0, results = 0, error, i;
    question q;
    memset(rows, 0, sizeof rows);
    old_rows = read_old(old->name, "rows", (char *)rows, sizeof rows);
    by_approve = !old_rows.len;
    saved = read_old(old->name, "saved", kept, sizeof kept);
    CHECK(saved.len > 0);
    start(old->provider, 1);
    error = tcall_agent_load(&agent, saved);
    CHECK(error == (old->loaded > 0 ? TCALL_OK : old->loaded));
    while (tcall_chat_next(&agent.chat, &at, &item)) {
        items++;
        calls += item.kind == TCALL_ITEM_CALL;
        results += item.kind == TCALL_ITEM_RESULT;
    }
    CHECK(items == old->items && calls == old->calls &&
          results == old->results);
    CHECK(is_whole(old->loaded != TCALL_OK) && answers_its_call());
    canned = old->provider == &tcall_anthropic ? done_there : done;
    if (old->loaded == TCALL_OK) {
        tcall_agent_desc desc = describe(&tcall_openai, 1);
        canned = done;
        CHECK(tcall_agent_use(&agent, &desc) == TCALL_OK);
        CHECK(say() == TCALL_OK && ran(""));
        return;
    }
    if (old->loaded > 0) {
        for (i = 0; i < calls; i++) {
            tcall_call call;
            CHECK(tcall_agent_call(&agent, i, &call) == TCALL_OK);
            tcall_release(&tc, &call);
            error = tcall_agent_result(&agent, &call, tcall_str_of("x"), false);
            CHECK(error == (i == 1 ? TCALL_E_USAGE : TCALL_OK));
        }
        CHECK(go_on() == TCALL_OK && is_whole(false) && ran(""));
        return;
    }
    /* Whoever had said yes has to say it once more. */
    CHECK(go_on() == TCALL_E_APPROVAL && ran("") && questions == 1);
    if (by_approve)
        return;
    for (i = 0; i < 8; i++) {
        q.key = rows[i].key;
        q.what = rows[i].what;
        if (q.key != asked[0].key)
            CHECK(decide(q, TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
    }
    CHECK(go_on() == TCALL_E_APPROVAL && ran(""));
    for (i = 0; i < calls; i++) {
        CHECK(questions == i + 1);
        CHECK(decide(asked[i], TCALL_VERDICT_ALLOW) == TCALL_OK);
        error = go_on();
    }
    CHECK(error == TCALL_OK && ran(calls > 1 ? "12" : "1"));
}

int main(void)
{
    size_t i;
    test_next_round();
    test_late();
    test_dropped();
    test_pair();
    test_line();
    test_what();
    test_restart();
    test_plan();
    test_own();
    test_pairs();
    for (i = 0; i < TCALL_ARRAY_LEN(olds); i++) {
        const int before = check_failed;
        test_old(&olds[i]);
        if (check_failed > before)
            printf("in %s\n", olds[i].name);
    }
    return check_sum("test_identity");
}
