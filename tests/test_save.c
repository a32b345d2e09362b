/* Needs: AGENT. */
/* Conversations as bytes: what is loaded goes on as if nothing had happened,
 * and what is damaged is not loaded. */
#include "canned.h"
#include "check.h"

typedef struct machine {
    char block[16384];
    tcall tc;
    tcall_agent agent;
} machine;

static int runs, asked, side_by_side;
static bool later;

static bool busy;

static int fire(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    if (busy)
        return TCALL_E_AGAIN;
    runs++;
    return tcall_write_int(out, tcall_json_int(tcall_json_get(args, "n"), 0));
}

static tcall_verdict approve(void *user, const tcall_call *call)
{
    (void)user, (void)call;
    asked++;
    return later ? TCALL_VERDICT_LATER : TCALL_VERDICT_ALLOW;
}

/* A machine that has just started: nothing of what was in its memory counts. */
static void start(machine *m, size_t size)
{
    static tcall_tool tool;
    tcall_desc desc;
    tcall_agent_desc agent;
    memset(m, 0xA5, sizeof *m);
    tool.name = "fire";
    tool.description = "Fires";
    tool.parameters =
        tcall_schema_text_of("{\"type\":\"object\",\"required\":[\"n\"],"
                             "\"properties\":{\"n\":{\"type\":\"integer\"}}}");
    tool.run = fire;
    tool.permissions = TCALL_ACTUATE;
    tool.confirm = true;
    memset(&desc, 0, sizeof desc);
    desc.block = m->block;
    desc.lenient = &tcall_lenient;
    desc.block_size = size;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.allow = TCALL_ACTUATE;
    desc.approve = approve;
    CHECK(tcall_init(&m->tc, &desc) == TCALL_OK);
    memset(&agent, 0, sizeof agent);
    agent.tc = &m->tc;
    agent.provider = &tcall_openai;
    agent.model = "m";
    agent.parallel = side_by_side;
    agent.transport = canned_transport();
    CHECK(tcall_agent_init(&m->agent, &agent) == TCALL_OK);
}

static char bytes[8192];

static tcall_str save(const machine *m)
{
    tcall_writer out;
    tcall_str saved;
    tcall_writer_init(&out, bytes, sizeof bytes);
    CHECK(tcall_agent_save(&m->agent, &out) == TCALL_OK);
    saved.ptr = bytes;
    saved.len = out.fill;
    return saved;
}

static int finish(machine *m)
{
    int error;
    while ((error = tcall_agent_step(&m->agent)) == TCALL_E_AGAIN)
        continue;
    return error;
}

static bool said(const machine *m, const char *text)
{
    return tcall_str_eq(tcall_agent_text(&m->agent), tcall_str_of(text));
}

/* Between turns: the next request is the same as without a restart. */
static void test_rest(machine *m)
{
    static const char *const turns[] = {ASKS(CALL("a", "1")), SAYS("Done."),
                                        SAYS("Yes."), SAYS("Yes.")};
    char straight[sizeof request];
    canned = turns;
    later = false;
    start(m, sizeof m->block);
    CHECK(tcall_agent_run(&m->agent, tcall_str_of("fire")) == TCALL_OK);
    save(m);
    {
        tcall_str saved = save(m);
        CHECK(tcall_agent_run(&m->agent, tcall_str_of("sure?")) == TCALL_OK);
        strcpy(straight, request);
        start(m, sizeof m->block);
        CHECK(tcall_agent_load(&m->agent, saved) == TCALL_OK);
    }
    CHECK(said(m, "Done."));
    CHECK(tcall_agent_run(&m->agent, tcall_str_of("sure?")) == TCALL_OK);
    CHECK(strcmp(straight, request) == 0 && said(m, "Yes."));
}

/* Saved while a tool is at work that may have had its effect: it does not run
 * again, and the model is told. */
static void test_busy(machine *m)
{
    static const char *const turns[] = {ASKS(CALL("a", "1")), SAYS("Done."),
                                        SAYS("Done.")};
    tcall_str saved;
    int i;
    canned = turns;
    later = false;
    busy = true;
    start(m, sizeof m->block);
    CHECK(tcall_agent_say(&m->agent, tcall_str_of("fire")) == TCALL_OK);
    for (i = 0; i < 40; i++)
        CHECK(tcall_agent_step(&m->agent) == TCALL_E_AGAIN);
    saved = save(m);
    busy = false;
    runs = 0;
    CHECK(finish(m) == TCALL_OK && said(m, "Done.") && runs == 1);
    start(m, sizeof m->block);
    CHECK(tcall_agent_load(&m->agent, saved) == TCALL_E_AGAIN);
    CHECK(finish(m) == TCALL_OK && said(m, "Done.") && runs == 1);
    CHECK(strstr(request, "cut off while it ran") != NULL);
}

/* Two calls side by side: one waits for a verdict, and the other has not begun.
 * Both come later. */
static void test_side_by_side(machine *m)
{
    static const char *const turns[] = {ASKS(CALL("a", "1") "," CALL("b", "2")),
                                        SAYS("Done.")};
    int error;
    canned = turns;
    later = true;
    runs = 0;
    side_by_side = 2;
    start(m, sizeof m->block);
    side_by_side = 0;
    CHECK(tcall_agent_say(&m->agent, tcall_str_of("fire")) == TCALL_OK);
    asked = 0;
    do
        error = tcall_agent_step(&m->agent);
    while (error == TCALL_E_AGAIN && !asked);
    CHECK(asked == 1 && !m->agent.batch[1].cx.state);
    {
        tcall_str saved = save(m);
        start(m, sizeof m->block);
        CHECK(tcall_agent_load(&m->agent, saved) == TCALL_E_AGAIN);
    }
    later = false;
    CHECK(finish(m) == TCALL_OK && runs == 2 && said(m, "Done."));
}

/* What was noted of an item is still noted of it. */
static void test_flags(machine *m)
{
    static const uint8_t flags[] = {TCALL_FLAG_MADE_ID, TCALL_FLAG_RAW,
                                    TCALL_FLAG_DROPPED, TCALL_FLAG_UNSIGNED};
    size_t at = 0;
    tcall_item item;
    int i;
    start(m, sizeof m->block);
    for (i = 0; i < 4; i++) {
        memset(&item, 0, sizeof item);
        item.kind = TCALL_ITEM_TEXT;
        item.text = tcall_str_of("a");
        item.flags = flags[i];
        item.error = i == 2 ? TCALL_E_CUT : TCALL_OK;
        CHECK(tcall_chat_add(&m->agent.chat, &item) == TCALL_OK);
    }
    {
        tcall_str saved = save(m);
        start(m, sizeof m->block);
        CHECK(tcall_agent_load(&m->agent, saved) == TCALL_OK);
    }
    for (i = 0; tcall_chat_next(&m->agent.chat, &at, &item); i++) {
        CHECK(item.flags == flags[i]);
        CHECK(item.error == (i == 2 ? TCALL_E_CUT : TCALL_OK));
        CHECK(tcall_str_eq(item.text, tcall_str_of("a")));
        CHECK(!item.id.len && !item.name.len && !item.signature.len);
    }
    CHECK(i == 4);
}

/* While the second of three calls waits for a verdict: the first one is not
 * made again, and the turn goes on without a word of the user. */
static uint32_t late(void *user)
{
    (void)user;
    return 4711;
}

static void test_waiting(machine *m)
{
    static const char *const turns[] = {
        ASKS(CALL("a", "1") "," CALL("b", "2") "," CALL("c", "3")),
        SAYS("All done.")};
    canned = turns;
    later = false;
    runs = 0;
    start(m, sizeof m->block);
    CHECK(tcall_agent_say(&m->agent, tcall_str_of("fire")) == TCALL_OK);
    while (runs < 1)
        CHECK(tcall_agent_step(&m->agent) == TCALL_E_AGAIN);
    later = true;
    CHECK(finish(m) == TCALL_E_APPROVAL && runs == 1);
    {
        tcall_str saved = save(m);
        start(m, sizeof m->block);
        m->agent.desc.transport.now_ms = late;
        CHECK(tcall_agent_load(&m->agent, saved) == TCALL_E_AGAIN);
        CHECK(m->agent.turn.started == 4711); /* its time begins anew */
    }
    CHECK(finish(m) == TCALL_E_APPROVAL && runs == 1);
    later = false;
    asked = 0;
    CHECK(finish(m) == TCALL_OK && runs == 3 && asked == 2);
    CHECK(said(m, "All done."));
    CHECK(strstr(request, "\"tool_call_id\":\"c\",\"content\":\"3\"") != NULL);
}

/* A call waits in the second turn: those of the first have their results. */
static void test_second(machine *m)
{
    static const char *const turns[] = {ASKS(CALL("a", "1")), SAYS("One."),
                                        ASKS(CALL("b", "2") "," CALL("c", "3")),
                                        SAYS("Three.")};
    canned = turns;
    later = false;
    runs = 0;
    start(m, sizeof m->block);
    CHECK(tcall_agent_run(&m->agent, tcall_str_of("fire")) == TCALL_OK);
    later = true;
    CHECK(tcall_agent_run(&m->agent, tcall_str_of("more")) == TCALL_E_APPROVAL);
    CHECK(runs == 1);
    {
        tcall_str saved = save(m);
        start(m, sizeof m->block);
        CHECK(tcall_agent_load(&m->agent, saved) == TCALL_E_AGAIN);
    }
    later = false;
    CHECK(finish(m) == TCALL_OK && runs == 3 && said(m, "Three."));
    CHECK(strstr(request, "\"tool_call_id\":\"c\",\"content\":\"3\"") != NULL);
}

/* What was offered before the restart, and is not permitted any more. */
static void test_less(machine *m)
{
    static const char *const turns[] = {ASKS(CALL("a", "1")), SAYS("Sorry.")};
    canned = turns;
    later = true;
    runs = 0;
    start(m, sizeof m->block);
    CHECK(tcall_agent_run(&m->agent, tcall_str_of("fire")) == TCALL_E_APPROVAL);
    CHECK(strstr(request, "\"tools\"") != NULL);
    {
        tcall_str saved = save(m);
        start(m, sizeof m->block);
        m->tc.desc.allow = 0;
        CHECK(tcall_agent_load(&m->agent, saved) == TCALL_E_AGAIN);
    }
    later = false;
    CHECK(finish(m) == TCALL_OK && runs == 0 && said(m, "Sorry."));
    CHECK(strstr(request, "\"tools\"") == NULL);
}

/* A plan is continued with tcall_agent_result. */
static void test_plan(machine *m)
{
    static const char *const turns[] = {ASKS(CALL("a", "7")), SAYS("Fine.")};
    tcall_call call;
    canned = turns;
    runs = 0;
    start(m, sizeof m->block);
    CHECK(tcall_agent_plan(&m->agent, tcall_str_of("fire"), NULL, 0) == 1);
    {
        tcall_str saved = save(m);
        start(m, sizeof m->block);
        CHECK(tcall_agent_load(&m->agent, saved) == TCALL_OK);
    }
    CHECK(tcall_agent_call(&m->agent, 0, &call) == TCALL_OK);
    CHECK(tcall_json_int(tcall_json_get(call.asked->args, "n"), 0) == 7);
    tcall_release(&m->tc, &call);
    CHECK(tcall_agent_result(&m->agent, &call, tcall_str_of("ok"), false) ==
          TCALL_OK);
    CHECK(finish(m) == TCALL_OK && runs == 0 && said(m, "Fine."));
}

/* Each byte that is wrong or missing is noticed; a turn that is under way is
 * not replaced. */
static void test_damage(machine *m)
{
    static const char *const turns[] = {ASKS(CALL("a", "1")), SAYS("Done."),
                                        SAYS("Bye.")};
    tcall_str saved, part;
    size_t i;
    canned = turns;
    later = false;
    start(m, sizeof m->block);
    CHECK(tcall_agent_run(&m->agent, tcall_str_of("fire")) == TCALL_OK);
    saved = part = save(m);
    for (i = 0; i < saved.len; i++) {
        bytes[i] ^= 0x10;
        CHECK(tcall_agent_load(&m->agent, saved) == TCALL_E_PROTOCOL);
        bytes[i] ^= 0x10;
        part.len = i;
        CHECK(tcall_agent_load(&m->agent, part) == TCALL_E_PROTOCOL);
    }
    part.len = saved.len + 1; /* a byte too many */
    CHECK(tcall_agent_load(&m->agent, part) == TCALL_E_PROTOCOL);
    CHECK(tcall_agent_text(&m->agent).len == 0);
    CHECK(tcall_agent_load(&m->agent, saved) == TCALL_OK && said(m, "Done."));
    CHECK(tcall_agent_say(&m->agent, tcall_str_of("bye")) == TCALL_OK);
    CHECK(tcall_agent_load(&m->agent, saved) == TCALL_E_USAGE);
    CHECK(finish(m) == TCALL_OK && said(m, "Bye."));
}

/* Bytes with a right sum that say what save never would: nothing is believed.
 * Their lengths, kinds and numbers are random. */
static void test_forged(machine *m)
{
    unsigned random = 1;
    tcall_str saved;
    int round, at;
    start(m, sizeof m->block);
    for (round = 0; round < 20000; round++) {
        uint32_t sum = 2166136261u;
        saved.len = 12 + (size_t)round % 90;
        saved.ptr = bytes;
        memcpy(bytes, "tcall2", 6);
        for (at = 6; at < (int)saved.len - 4; at++) {
            random = random * 1103515245u + 12345u;
            bytes[at] = (char)(random >> 16 & (round & 1 ? 0xFF : 0x03));
        }
        for (at = 0; at < (int)saved.len - 4; at++)
            sum = (sum ^ (uint8_t)bytes[at]) * 16777619u;
        for (at = 0; at < 4; at++)
            bytes[saved.len - 4 + (size_t)at] = (char)(sum >> 8 * at);
        if (tcall_agent_load(&m->agent, saved) != TCALL_E_PROTOCOL)
            start(m, sizeof m->block);
        CHECK(m->tc.block.low + m->tc.block.high <= m->tc.block.size);
    }
}

/* Gives changed bytes their right sum. */
static void seal(size_t len)
{
    uint32_t sum = 2166136261u;
    size_t i;
    for (i = 0; i < len - 4; i++)
        sum = (sum ^ (uint8_t)bytes[i]) * 16777619u;
    for (i = 0; i < 4; i++)
        bytes[len - 4 + i] = (char)(sum >> 8 * i);
}

/* An item of a kind that does not exist, and bytes after the last one. An item
 * begins with a one and its kind. */
static void test_kind(machine *m)
{
    static const char *const turns[] = {SAYS("Done.")};
    tcall_str saved;
    size_t at;
    canned = turns;
    start(m, sizeof m->block);
    CHECK(tcall_agent_run(&m->agent, tcall_str_of("fire!")) == TCALL_OK);
    saved = save(m);
    for (at = 0; memcmp(bytes + at, "fire!", 5) != 0;)
        at++;
    while (bytes[at] != 1)
        at--;
    CHECK(bytes[at + 1] == TCALL_ITEM_USER);
    bytes[at + 1] = TCALL_ITEM_IMAGE + 1;
    seal(saved.len);
    CHECK(tcall_agent_load(&m->agent, saved) == TCALL_E_PROTOCOL);
    bytes[at + 1] = TCALL_ITEM_USER;
    seal(saved.len);
    CHECK(tcall_agent_load(&m->agent, saved) == TCALL_OK);
    saved.len++;
    seal(saved.len);
    CHECK(tcall_agent_load(&m->agent, saved) == TCALL_E_PROTOCOL);
}

/* Texts of lengths that take one byte, and two. */
static void test_lengths(machine *m)
{
    static const char *const turns[] = {SAYS("Done.")};
    static char question[140];
    size_t len;
    for (len = 120; len < sizeof question; len++) {
        size_t at = 0;
        tcall_item item;
        tcall_str saved;
        canned = turns;
        memset(question, 'q', len);
        start(m, sizeof m->block);
        CHECK(tcall_agent_run(&m->agent, tcall_str_of(question)) == TCALL_OK);
        saved = save(m);
        start(m, sizeof m->block);
        CHECK(tcall_agent_load(&m->agent, saved) == TCALL_OK);
        CHECK(tcall_chat_next(&m->agent.chat, &at, &item) &&
              tcall_str_eq(item.text, tcall_str_of(question)));
    }
}

/* A smaller machine says how large its block has to be. */
static void test_room(machine *m)
{
    static const char *const turns[] = {SAYS("Done.")};
    static char question[3000];
    tcall_str saved;
    size_t size = 4096;
    int error;
    canned = turns;
    memset(question, 'q', sizeof question - 1);
    start(m, sizeof m->block);
    CHECK(tcall_agent_run(&m->agent, tcall_str_of(question)) == TCALL_OK);
    saved = save(m);
    start(m, size);
    error = tcall_agent_load(&m->agent, saved);
    while (error == TCALL_E_MEMORY && m->tc.block.need > size) {
        CHECK(tcall_agent_text(&m->agent).len == 0);
        size = m->tc.block.need;
        start(m, size + 8);
        error = tcall_agent_load(&m->agent, saved);
    }
    CHECK(error == TCALL_OK && said(m, "Done."));
}

int main(void)
{
    static machine m;
    test_flags(&m);
    test_busy(&m);
    test_rest(&m);
    test_waiting(&m);
    test_second(&m);
    test_less(&m);
    test_plan(&m);
    test_damage(&m);
    test_forged(&m);
    test_kind(&m);
    test_lengths(&m);
    test_side_by_side(&m);
    test_room(&m);
    return check_sum("test_save");
}
