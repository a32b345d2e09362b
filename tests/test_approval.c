/* Needs: AGENT. */
/* Approvals that come later and effects that happen once, in an agent's turn:
 * over a transport that plays scripted answers, with the ledger. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/agent_loop.c"
#include "../src/hooks.c"
#include "../src/servers.c"
#endif
#include "check.h"

static int runs, asked, given, seen_n;
static char trail[64]; /* n of each run */

static int fire(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    size_t n = strlen(trail);
    (void)cx;
    runs++;
    seen_n = tcall_json_int(tcall_json_get(args, "n"), -1);
    if (n + 1 < sizeof trail)
        trail[n] = (char)('0' + seen_n);
    return tcall_write_text(out, "fired");
}

/* Learns only from the argument that somebody has to be asked. */
static int careful(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    int r = TCALL_OK;
    if (tcall_json_int(tcall_json_get(args, "n"), 0) > 4)
        r = tcall_approval(cx);
    return r == TCALL_OK ? fire(cx, args, out) : r;
}

/* Asks again for what was denied. */
static int stubborn(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    int r = tcall_approval(cx);
    if (r == TCALL_E_DENIED || r == TCALL_E_TWICE)
        r = tcall_approval(cx);
    return r == TCALL_OK ? fire(cx, args, out) : r;
}

/* ---- the scripted server ---- */

#define CALL(id, n)                             \
    "{\"id\":\"" id "\",\"type\":\"function\"," \
    "\"function\":{\"name\":\"fire\",\"arguments\":\"{\\\"n\\\":" n "}\"}}"
#define CALLS(calls)                                                  \
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"," \
    "\"content\":null,\"tool_calls\":[" calls "]},"                   \
    "\"finish_reason\":\"tool_calls\"}]}"
#define TEXT                                                          \
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"," \
    "\"content\":\"ready\"},\"finish_reason\":\"stop\"}]}"

static struct {
    const char *const *answers;
    int round;
    size_t at;
    char sent[16384];
    size_t got;
} server;

static int open_(void *user, const tcall_request *req, tcall_response *res)
{
    (void)user;
    (void)req;
    server.at = server.got = 0;
    res->status = 200;
    return TCALL_OK;
}

static int write_(void *user, const char *bytes, size_t len)
{
    (void)user;
    if (len >= sizeof server.sent - server.got)
        return TCALL_E_CLOSED;
    memcpy(server.sent + server.got, bytes, len);
    server.got += len;
    server.sent[server.got] = '\0';
    return (int)len;
}

static int read_(void *user, char *bytes, size_t cap)
{
    const char *answer = server.answers[server.round];
    size_t n = strlen(answer) - server.at;
    (void)user;
    n = n < cap ? n : cap;
    memcpy(bytes, answer + server.at, n);
    server.at += n;
    return (int)n;
}

static void close_(void *user)
{
    (void)user;
    server.round++;
}

static bool sent(const char *text)
{
    return strstr(server.sent, text) != NULL;
}

/* ---- the device ---- */

static tcall_ledger_row rows[4];
static tcall_ledger ledger = {rows, 4};
static const tcall_hook with_ledger[] = {TCALL_LEDGER(&ledger)};
static tcall_tool tools[1];
static char block[16384];
static tcall tc;
static tcall_agent agent;

/* What was asked last of the first call of an answer, c1, and the second. */
static struct {
    uint64_t key, what;
} waits[3];

static void note(void *user, const tcall_event *e)
{
    (void)user;
    if (e->kind == TCALL_EVENT_APPROVAL) {
        const int i = e->call->position;
        CHECK(i > 0 && i < (int)TCALL_ARRAY_LEN(waits));
        waits[i].key = tcall_call_key(&tc, e->call);
        waits[i].what = tcall_call_what(&tc, e->call);
    }
    asked += e->kind == TCALL_EVENT_APPROVAL;
    given += e->kind == TCALL_EVENT_VERDICT;
}

/* Hooks in place of the ledger's own; none: NULL. */
static const tcall_hook *more_hooks;
static uint16_t more_count;

/* As after power-on, but what the ledger holds was kept. */
static void restart(const char *const *answers, int parallel)
{
    tcall_desc d;
    tcall_agent_desc ad;
    memset(&d, 0, sizeof d);
    memset(block, 0, sizeof block);
    memset(&server, 0, sizeof server);
    d.block = block;
    d.lenient = &tcall_lenient;
    d.block_size = sizeof block;
    d.tools = tools;
    d.tool_count = 1;
    d.allow = TCALL_EVERYTHING;
    d.hooks = more_hooks ? more_hooks : with_ledger;
    d.hook_count = more_hooks ? more_count : TCALL_ARRAY_LEN(with_ledger);
    d.stages = &tcall_stages;
    d.on_event = note;
    d.events = &tcall_events;
    memset(&ad, 0, sizeof ad);
    ad.allow_repeat = true;
    ad.tc = &tc;
    ad.provider = &tcall_openai;
    ad.model = "m";
    ad.parallel = parallel;
    ad.transport.open = open_;
    ad.transport.write = write_;
    ad.transport.read = read_;
    ad.transport.close = close_;
    server.answers = answers;
    asked = given = 0;
    CHECK(tcall_init(&tc, &d) == TCALL_OK);
    CHECK(tcall_agent_init(&agent, &ad) == TCALL_OK);
}

static void begin(const char *const *answers, int parallel)
{
    memset(rows, 0, sizeof rows);
    memset(trail, 0, sizeof trail);
    memset(tools, 0, sizeof tools);
    tools[0].name = "fire";
    tools[0].description = "Fires.";
    tools[0].parameters = tcall_schema_text_of(TCALL_TEXT(
        {"type" : "object", "properties" : {"n" : {"type" : "integer"}}}));
    tools[0].run = fire;
    tools[0].permissions = TCALL_ACTUATE;
    tools[0].confirm = true;
    runs = 0;
    memset(waits, 0, sizeof waits);
    restart(answers, parallel);
}

/* Until the turn is over or waits. */
static int go_on(void)
{
    int r, steps = 0;
    do
        r = tcall_agent_step(&agent);
    while (r == TCALL_E_AGAIN && ++steps < 1000);
    return r;
}

static int say(void)
{
    CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
    return go_on();
}

static int decide(const char *id, tcall_verdict verdict)
{
    const int i = id[1] - '0';
    return tcall_ledger_decide(&ledger, waits[i].key, waits[i].what, verdict);
}

static const char *const one[] = {CALLS(CALL("c1", "1")), TEXT, TEXT};
static const char *const again[] = {CALLS(CALL("c1", "1")),
                                    CALLS(CALL("c1", "1")), TEXT};
static const char *const pair[] = {CALLS(CALL("c1", "1") "," CALL("c2", "2")),
                                   TEXT};
static const char *const same_id[] = {
    CALLS(CALL("c1", "1") "," CALL("c1", "2")), TEXT};

/* Asked for once however often the loop comes by, resumed by the id. */
static void test_later(void)
{
    int i;
    begin(one, 0);
    CHECK(say() == TCALL_E_APPROVAL && runs == 0 && server.round == 1);
    for (i = 0; i < 5; i++)
        CHECK(tcall_agent_step(&agent) == TCALL_E_APPROVAL);
    CHECK(asked == 1 && given == 0);
    CHECK(decide("c2", TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
    CHECK(decide("c1", TCALL_VERDICT_LATER) == TCALL_OK); /* still thinking */
    CHECK(go_on() == TCALL_E_APPROVAL && runs == 0);
    CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(decide("c1", TCALL_VERDICT_DENY) == TCALL_E_UNKNOWN);
    CHECK(go_on() == TCALL_OK && runs == 1 && seen_n == 1);
    CHECK(asked == 1 && given == 1);
    CHECK(sent("\"tool_call_id\":\"c1\"") && sent("fired"));
    CHECK(tcall_str_eq(tcall_agent_text(&agent), tcall_str_of("ready")));
    CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);

    begin(one, 0);
    CHECK(say() == TCALL_E_APPROVAL);
    CHECK(decide("c1", TCALL_VERDICT_DENY) == TCALL_OK);
    CHECK(go_on() == TCALL_OK && runs == 0 && asked == 1 && given == 1);
    CHECK(sent("denied") && sent("permission") && !sent("fired"));
}

/* Two that wait at once, decided in the other order; results keep theirs. */
static void test_pair(void)
{
    const char *first, *second;
    begin(pair, 2);
    CHECK(say() == TCALL_E_APPROVAL && asked == 2);
    CHECK(decide("c2", TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(go_on() == TCALL_E_APPROVAL && strcmp(trail, "2") == 0);
    CHECK(decide("c1", TCALL_VERDICT_DENY) == TCALL_OK);
    CHECK(go_on() == TCALL_OK && strcmp(trail, "2") == 0 && given == 2);
    first = strstr(server.sent, "\"tool_call_id\":\"c1\"");
    second = strstr(server.sent, "\"tool_call_id\":\"c2\"");
    CHECK(first && second && first < second);
    CHECK(first && strstr(first, "denied") && strstr(first, "denied") < second);
    CHECK(second && strstr(second, "fired") && tc.block.high == 0);
}

/* Another definition than the one that was approved is asked for anew. */
static void test_definition(void)
{
    static const char other[] = TCALL_TEXT(
        {"type" : "object", "properties" : {"n" : {"type" : "number"}}});
    int i;
    for (i = 0; i < 6; i++) {
        begin(one, 0);
        CHECK(say() == TCALL_E_APPROVAL);
        CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
        switch (i) {
        case 0: tools[0].description = "Fires everything."; break;
        case 1: tools[0].parameters = tcall_schema_text_of(other); break;
        case 2: tools[0].permissions |= TCALL_NETWORK; break;
        case 3: tools[0].optional_permissions = TCALL_EXECUTE; break;
        case 4: tools[0].output = tcall_schema_text_of("{}"); break;
        case 5: tools[0].provided_by = "somebody else"; break;
        }
        CHECK(go_on() == TCALL_E_APPROVAL && runs == 0 && asked == 2);
        CHECK(decide("c1", i & 1 ? TCALL_VERDICT_DENY : TCALL_VERDICT_ALLOW) ==
              TCALL_OK);
        go_on();
        CHECK(runs == !(i & 1));
    }
}

/* The same definition written otherwise is not another one; the order of a list
 * counts. */
static void test_same_definition(void)
{
    static const char first[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\","
        "\"minimum\":0},\"s\":{\"enum\":[\"a\",\"b\"]}}}";
    static const char same[] =
        " { \"properties\" : {\"s\" : { \"enum\" : [ \"a\", \"b\" ] }, \"n\":\n"
        "{\"minimum\" : 0, \"type\" : \"integer\"} } , \"type\":\"object\" } ";
    static const char other[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\","
        "\"minimum\":0},\"s\":{\"enum\":[\"b\",\"a\"]}}}";
    int i;
    for (i = 0; i < 2; i++) {
        begin(one, 0);
        tools[0].parameters = tcall_schema_text_of(first);
        CHECK(say() == TCALL_E_APPROVAL);
        CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
        tools[0].parameters = tcall_schema_text_of(i ? other : same);
        CHECK(go_on() == (i ? TCALL_E_APPROVAL : TCALL_OK) && runs == !i);
    }
}

/* Calls are two though the provider gives them one id, in the same answer and
 * in the next one: each runs once, by a verdict of its own. */
static void test_same_id(void)
{
    int parallel;
    for (parallel = 0; parallel < 3; parallel++) {
        begin(same_id, parallel);
        tools[0].confirm = false;
        CHECK(say() == TCALL_OK && strcmp(trail, "12") == 0 && !sent("twice"));
        CHECK(tc.block.high == 0);

        begin(same_id, parallel);
        CHECK(say() == TCALL_E_APPROVAL);
        CHECK(asked == (parallel > 1 ? 2 : 1));
        CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(go_on() == TCALL_E_APPROVAL && strcmp(trail, "1") == 0);
        CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
        CHECK(decide("c2", TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(go_on() == TCALL_OK && strcmp(trail, "12") == 0);

        begin(same_id, parallel); /* the first denied */
        CHECK(say() == TCALL_E_APPROVAL);
        CHECK(decide("c1", TCALL_VERDICT_DENY) == TCALL_OK);
        CHECK(go_on() == TCALL_E_APPROVAL && runs == 0);
        CHECK(decide("c2", TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(go_on() == TCALL_OK && strcmp(trail, "2") == 0);

        begin(again, parallel);
        CHECK(say() == TCALL_E_APPROVAL);
        CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(go_on() == TCALL_E_APPROVAL && runs == 1 && asked == 2);
        CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(go_on() == TCALL_OK && runs == 2);
    }
    begin(again, 0);
    tools[0].confirm = false;
    tools[0].permissions = TCALL_READ;
    CHECK(say() == TCALL_OK && runs == 2);
}

/* The rows outlive a restart; what the model then asks again does not run
 * again, and what was granted before is still granted, once. */
static void test_restart(void)
{
    static const uint64_t another_key[] = {1, 0};
    static const char *const no_ids[] = {CALLS(CALL("", "1")), TEXT};
    uint32_t made;
    begin(one, 0);
    CHECK(say() == TCALL_E_APPROVAL);
    CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
    restart(one, 0);
    CHECK(say() == TCALL_OK && runs == 1 && asked == 0 && sent("fired"));
    restart(one, 0);
    CHECK(say() == TCALL_OK && runs == 1 && asked == 0 && sent("twice"));

    begin(one, 0); /* while nobody had decided */
    CHECK(say() == TCALL_E_APPROVAL);
    restart(one, 0);
    CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(say() == TCALL_OK && runs == 1);

    begin(one, 0); /* another key: the rows say nothing */
    CHECK(say() == TCALL_E_APPROVAL);
    CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
    restart(one, 0);
    tc.desc.hash_key = another_key;
    CHECK(say() == TCALL_E_APPROVAL && runs == 0);

    begin(no_ids, 0); /* ids that are made up go on where they were */
    tools[0].confirm = false;
    CHECK(say() == TCALL_OK && runs == 1);
    made = agent.chat.made;
    restart(no_ids, 0);
    CHECK(say() == TCALL_OK && runs == 1 && sent("twice"));
    restart(no_ids, 0);
    agent.chat.made = made;
    CHECK(say() == TCALL_OK && runs == 2);
}

/* A turn that is ended while it waits leaves nothing to decide, and no row. */
static void test_cancelled(void)
{
    int i;
    begin(one, 0);
    for (i = 0; i < 9; i++) {
        server.round = 0;
        CHECK(say() == TCALL_E_APPROVAL);
        if (i & 1)
            CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
        tcall_agent_cancel(&agent);
        CHECK(go_on() == TCALL_E_CANCELLED && runs == 0);
        CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
        CHECK(asked == given && tc.block.high == 0);
    }
    for (i = 0; i < 9; i++) { /* more ids than there are rows */
        static char text[sizeof CALLS(CALL("%d", "1")) + 9];
        static const char *const other[] = {text, TEXT};
        snprintf(text, sizeof text, CALLS(CALL("%d", "1")), i);
        server.answers = other;
        server.round = 0;
        CHECK(say() == TCALL_E_APPROVAL);
        tcall_agent_cancel(&agent);
        CHECK(go_on() == TCALL_E_CANCELLED);
    }
}

/* A tool that asks while it runs. */
static void test_careful(void)
{
    static const char *const small[] = {CALLS(CALL("c1", "4")), TEXT};
    static const char *const large[] = {CALLS(CALL("c1", "5")),
                                        CALLS(CALL("c1", "5")), TEXT};
    begin(small, 0);
    tools[0].confirm = false;
    tools[0].run = careful;
    CHECK(say() == TCALL_OK && runs == 1 && asked == 0);
    begin(large, 0);
    tools[0].confirm = false;
    tools[0].run = careful;
    CHECK(say() == TCALL_E_APPROVAL && runs == 0 && asked == 1);
    CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
    CHECK(go_on() == TCALL_E_APPROVAL && runs == 1 && asked == 2);
    CHECK(decide("c1", TCALL_VERDICT_DENY) == TCALL_OK);
    CHECK(go_on() == TCALL_OK && runs == 1 && sent("denied"));
    begin(large, 0); /* denied, and asked for once more */
    tools[0].confirm = false;
    tools[0].run = careful;
    CHECK(say() == TCALL_E_APPROVAL);
    CHECK(decide("c1", TCALL_VERDICT_DENY) == TCALL_OK);
    CHECK(go_on() == TCALL_E_APPROVAL && runs == 0);
    CHECK(decide("c1", TCALL_VERDICT_DENY) == TCALL_OK);
    CHECK(go_on() == TCALL_OK && runs == 0 && sent("denied"));
    begin(large, 0);
    tools[0].confirm = false;
    tools[0].run = stubborn;
    CHECK(say() == TCALL_E_APPROVAL && runs == 0);
    CHECK(decide("c1", TCALL_VERDICT_DENY) == TCALL_OK);
    go_on();
    CHECK(runs == 0);
}

/* A hook that changes the arguments when somebody has agreed. */
static const char *instead;

static int change(tcall_ctx *cx, void *user)
{
    (void)user;
    return tcall_set_input(cx, tcall_str_of(instead));
}

/* A hook changes the arguments to these. */
static void begin_changing(bool reads, const char *to)
{
    static const tcall_hook hooks[] = {
        TCALL_LEDGER(&ledger),
        TCALL_HOOK_("change", TCALL_WILL_NORMALIZE_INPUT, 0, change, NULL)};
    more_hooks = hooks;
    more_count = TCALL_ARRAY_LEN(hooks);
    begin(one, 0);
    more_hooks = NULL;
    if (reads)
        tools[0].permissions = TCALL_READ;
    instead = to;
}

static void test_changed(void)
{
    int reads;
    for (reads = 0; reads < 2; reads++) {
        begin_changing(reads, "{\"n\":7}");
        CHECK(say() == TCALL_E_APPROVAL && runs == 0);
        CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(go_on() == TCALL_E_APPROVAL && runs == 0 && asked == 2);
        CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(go_on() == TCALL_OK && strcmp(trail, "7") == 0 && given == 2);
        server.round = 0; /* another call, though its id is the same */
        CHECK(say() == TCALL_E_APPROVAL && runs == 1 && asked == 3);

        /* to what it was: nobody needs to be asked again */
        begin_changing(reads, "{\"n\":1.0}");
        CHECK(say() == TCALL_E_APPROVAL && runs == 0);
        CHECK(decide("c1", TCALL_VERDICT_ALLOW) == TCALL_OK);
        CHECK(go_on() == TCALL_OK && runs == 1 && asked == 1 && given == 1);
    }
}

int main(void)
{
    test_later();
    test_pair();
    test_definition();
    test_same_definition();
    test_same_id();
    test_restart();
    test_cancelled();
    test_careful();
    test_changed();
    return check_sum("test_approval");
}
