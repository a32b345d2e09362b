/* Needs: AGENT. */
/* Picking in the turn of an agent: what it sends is counted, what it is
 * answered is always the same. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/agent_loop.c"
#include "../src/openai.c"
#endif

#include "check.h"

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    return tcall_write_text(out, "done");
}

/* It is not safe: the permissions decide. */
static const tcall_tool row = {.run = run,
                               .parameters = TCALL_JSON({"type" : "object"}),
                               .permissions = TCALL_NETWORK};

static char block[65536];
static tcall tc;

static void start(const tcall_tool *table, size_t count)
{
    tcall_desc d = {0};
    d.block = block;
    d.lenient = &tcall_lenient;
    d.report = &tcall_report;
    d.block_size = sizeof block;
    d.tools = table;
    d.tool_count = count;
    d.allow = TCALL_EVERYTHING;
    d.lazy_schemas = true;
    CHECK(tcall_init(&tc, &d) == TCALL_OK);
}

static const char answer[] =
    "{\"choices\":[{\"finish_reason\":\"stop\",\"message\":"
    "{\"role\":\"assistant\",\"content\":\"fine\"}}]}";
static size_t answered, sent_tools, picked_tools, saved_bytes;

static int net_open(void *user, const tcall_request *req, tcall_response *res)
{
    (void)user;
    (void)req;
    res->status = 200;
    answered = 0;
    return TCALL_OK;
}

static int net_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    (void)bytes;
    return (int)len;
}

static int net_read(void *user, char *bytes, size_t cap)
{
    size_t n = sizeof answer - 1 - answered;
    (void)user;
    n = n < cap ? n : cap;
    memcpy(bytes, answer + answered, n);
    answered += n;
    return (int)n;
}

static void net_close(void *user)
{
    (void)user;
}

static void on_event(void *user, const tcall_event *e)
{
    (void)user;
    if (e->kind == TCALL_EVENT_REQUEST)
        sent_tools = e->tools;
    if (e->kind == TCALL_EVENT_PICK) {
        picked_tools = e->tools;
        saved_bytes = e->bytes;
    }
}

static size_t sends(tcall_agent *a, const char *text)
{
    sent_tools = picked_tools = saved_bytes = 999;
    CHECK(tcall_agent_run(a, tcall_str_of(text)) == TCALL_OK);
    return sent_tools;
}

static void test_agent(void)
{
    static char names[24][8];
    static tcall_tool many[24];
    static tcall_agent agent, two;
    tcall_agent_desc d = {0};
    tcall_pick_opts opts = {0}, other;
    int i;
    opts.max = 8;
    opts.relative = 50;
    opts.allow_unsafe = opts.stable = true;
    for (i = 0; i < 24; i++) {
        memcpy(names[i], "do_xxx", 7);
        names[i][3] = names[i][4] = (char)('b' + i % 3);
        names[i][5] = (char)('a' + i);
        many[i] = row;
        many[i].name = names[i];
        many[i].description = i < 3 ? "Dims the lamp." : "Waters plants.";
    }
    start(many, 24);
    tc.desc.on_event = on_event;
    tc.desc.events = &tcall_events;
    d.tc = &tc;
    d.provider = &tcall_openai;
    d.model = "m";
    d.transport.open = net_open;
    d.transport.write = net_write;
    d.transport.read = net_read;
    d.transport.close = net_close;
    CHECK(tcall_agent_init(&agent, &d) == TCALL_OK);
    CHECK(sends(&agent, "dim the lamp") == 24); /* nobody asked for picks */
    CHECK(picked_tools == 999);

    start(many, 24);
    tc.desc.on_event = on_event;
    tc.desc.events = &tcall_events;
    d.pick = tcall_pick;
    d.pick_opts = &opts;
    CHECK(tcall_agent_init(&agent, &d) == TCALL_OK);
    CHECK(sends(&agent, "hmm?") == 0);
    CHECK(sends(&agent, "dim the lamp") == 3);
    CHECK(picked_tools == 3);
    CHECK(saved_bytes ==
          21 * (6 + strlen("Waters plants.") + strlen(row.parameters.text)));
    /* They are kept, whatever comes. */
    CHECK(sends(&agent, "yes") == 3 && picked_tools == 999);
    CHECK(sends(&agent, "water the plants") == 3);
    tc.desc.allow = TCALL_READ;
    CHECK(sends(&agent, "dim the lamp") == 0);
    tc.desc.allow = TCALL_EVERYTHING;
    CHECK(sends(&agent, "dim the lamp") == 0); /* never more than before */
    other = opts;
    d.pick_opts = &other;
    many[9].pinned = true;
    CHECK(tcall_agent_use(&agent, &d) == TCALL_OK);
    CHECK(sends(&agent, "dim the lamp") == 4);
    CHECK(sends(&agent, "hmm?") == 4);

    /* Without room for picking nothing is sent, and nothing has changed. */
    start(many, 24);
    CHECK(tcall_agent_init(&agent, &d) == TCALL_OK);
    tc.block.size = tc.block.low + 1024;
    CHECK(tcall_agent_run(&agent, tcall_str_of("dim the lamp")) ==
          TCALL_E_MEMORY);
    CHECK(tc.block.low == agent.chat.start);

    /* One agent for a registry. */
    CHECK(tcall_agent_init(&two, &d) == TCALL_E_USAGE && two.problem);

    start(many, TCALL_AGENT_ALL);
    tc.desc.on_event = on_event;
    tc.desc.events = &tcall_events;
    CHECK(tcall_agent_init(&agent, &d) == TCALL_OK);
    CHECK(sends(&agent, "dim the lamp") == TCALL_AGENT_ALL);

    /* What the options exclude is not sent, however few tools there are. */
    start(many, TCALL_AGENT_ALL);
    tc.desc.on_event = on_event;
    tc.desc.events = &tcall_events;
    opts.allow_unsafe = false;
    many[1].safe = TCALL_SAFETY_SAFE;
    d.pick_opts = &opts;
    CHECK(tcall_agent_init(&agent, &d) == TCALL_OK);
    CHECK(sends(&agent, "dim the lamp") == 1);
}

int main(void)
{
    test_agent();
    return check_sum("pick_agent");
}
