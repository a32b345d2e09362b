/* Needs: AGENT. */
/* What is waited for, as data, and how often a tool is called that waits: also
 * by somebody who calls tcall_agent_step as fast as he can. */
#include "toolcall.h"

#include "check.h"

/* ---- a model that asks for one call, then answers ---- */

static const char *const bodies[] = {
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
    "\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\","
    "\"function\":{\"name\":\"work\",\"arguments\":\"{}\"}},{\"id\":\"b\","
    "\"type\":\"function\",\"function\":{\"name\":\"work\",\"arguments\":"
    "\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}",
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
    "\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}"};

static struct {
    uint32_t ms;
    int exchange;
    bool read;
    int calls[2];  /* of tools */
    int again;     /* ms that a tool says; -1: nothing, -2: a handle */
    uint32_t slow; /* ms that a run of the second call takes */
    uint32_t end;  /* when the tools are done */
    int reads;     /* of a transport that has nothing yet */
    bool silent;   /* the transport has nothing for ever */
    int waits;
    tcall_wait last; /* that was slept */
} world;

static int open_(void *user, const tcall_request *req, tcall_response *res)
{
    (void)user;
    (void)req;
    res->status = 200;
    world.read = false;
    return TCALL_OK;
}

static int write_(void *user, const char *bytes, size_t len)
{
    (void)user;
    (void)bytes;
    return (int)len;
}

static int read_(void *user, char *bytes, size_t cap)
{
    const char *body = bodies[world.exchange];

    (void)user;
    world.reads++;
    if (world.silent)
        return TCALL_E_AGAIN;
    if (world.read || strlen(body) > cap)
        return 0;
    world.read = true;
    memcpy(bytes, body, strlen(body));
    return (int)strlen(body);
}

static void close_(void *user)
{
    (void)user;
    world.exchange++;
}

static uint32_t now(void *user)
{
    (void)user;
    return world.ms;
}

static void sleep_(void *user, const tcall_wait *wait)
{
    (void)user;
    world.waits++;
    world.last = *wait;
    world.ms += wait->ms;
}

static void wants(void *user, tcall_wait *wait)
{
    (void)user;
    tcall_wait_handle(wait, 7, TCALL_WAIT_READ);
}

static int work(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const bool second = *cx->call->id.ptr == 'b';

    (void)args;
    world.calls[second]++;
    world.ms += second ? world.slow : 0;
    if (cx->stop < 0)
        return cx->stop;
    if (world.ms >= world.end)
        return tcall_write_text(out, "done");
    if (world.again == -2)
        return tcall_wait_handle(&cx->wait, 3, TCALL_WAIT_READ);
    return world.again < 0 ? TCALL_E_AGAIN
                           : tcall_wait_ms(&cx->wait, (uint32_t)world.again);
}

static const tcall_tool tools[] = {
    {.name = "work",
     .description = "Works.",
     .parameters = TCALL_SCHEMA_TEXT("{\"type\":\"object\"}"),
     .run = work,
     .permissions = TCALL_READ}};

static char block[16384];
static tcall tc;
static tcall_agent agent;

static void begin(int again, int parallel)
{
    tcall_desc d;
    tcall_agent_desc a;

    memset(&world, 0, sizeof world);
    memset(&d, 0, sizeof d);
    memset(&a, 0, sizeof a);
    world.again = again;
    world.end = 2000;
    d.block = block;
    d.lenient = &tcall_lenient;
    d.block_size = sizeof block;
    d.tools = tools;
    d.tool_count = 1;
    d.allow = TCALL_READ;
    a.tc = &tc;
    a.provider = &tcall_openai;
    a.model = "m";
    a.parallel = parallel;
    a.max_ms = 10000;
    a.io_size = 1024;
    a.transport.open = open_;
    a.transport.write = write_;
    a.transport.read = read_;
    a.transport.close = close_;
    a.transport.now_ms = now;
    a.transport.wait = sleep_;
    CHECK(tcall_init(&tc, &d) == TCALL_OK);
    CHECK(tcall_agent_init(&agent, &a) == TCALL_OK);
}

/* Steps without a pause, ten times a millisecond: the clock goes on whatever
 * the steps answer, so this ends. */
static int busy(void)
{
    int r = tcall_agent_say(&agent, tcall_str_of("go")), steps = 0;

    if (r == TCALL_OK)
        r = TCALL_E_AGAIN;
    for (; r == TCALL_E_AGAIN && world.ms < 20000; steps++) {
        r = tcall_agent_step(&agent);
        world.ms += steps % 10 == 9;
    }
    return r;
}

/* Steps until *count is above 0, but not for ever. */
static bool step_until(const int *count)
{
    int steps, r = TCALL_E_AGAIN;

    for (steps = 0; steps < 1000 && *count == 0 && r == TCALL_E_AGAIN; steps++)
        r = tcall_agent_step(&agent);
    return *count > 0 && r == TCALL_E_AGAIN;
}

/* A tool that waits for a time is called when it is over, not before. */
static void test_calls(void)
{
    static const struct {
        int again, most;
    } rows[] = {{100, 25}, {500, 6}, {20, 105}, {-1, 105}};
    size_t i;
    int parallel;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        for (parallel = 1; parallel < 3; parallel++) {
            begin(rows[i].again, parallel);
            CHECK(busy() == TCALL_OK && world.waits == 0);
            CHECK(world.calls[0] <= rows[i].most && world.calls[0] > 3);
            CHECK(world.calls[1] <= (parallel > 1 ? rows[i].most : 1));
            begin(rows[i].again, parallel);
            CHECK(tcall_agent_run(&agent, tcall_str_of("go")) == TCALL_OK);
            CHECK(world.calls[0] <= rows[i].most && world.calls[0] > 3);
            CHECK(world.calls[1] <= (parallel > 1 ? rows[i].most : 1));
            CHECK(world.waits <= world.calls[0] + world.calls[1] + 20);
        }
    /* At once: work in pieces. */
    begin(0, 1);
    world.end = 500;
    CHECK(busy() == TCALL_OK && world.calls[0] > 2500);
}

/* Of two calls the second has its turn at once, and the wait of the first goes
 * on meanwhile. One that has no end keeps none. */
static void test_two(void)
{
    begin(500, 2);
    world.slow = 300;
    agent.desc.transport.wants = wants; /* it waits for nothing */
    CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
    CHECK(step_until(&world.calls[0]) && agent.wait.ms == 0);
    CHECK(world.calls[1] == 0);
    CHECK(step_until(&world.calls[1]) && agent.wait.ms == 200);
    CHECK(world.calls[0] == 1 && agent.wait.count == 0);
    begin(-2, 2);
    world.slow = 300;
    agent.desc.max_ms = 0;
    CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
    CHECK(step_until(&world.calls[1]));
    CHECK(agent.wait.ms == TCALL_WAIT_NEVER && agent.wait.count == 2);
    CHECK(tcall_agent_step(&agent) == TCALL_E_AGAIN && agent.wait.ms == 0);
    CHECK(world.calls[0] == 2 && world.calls[1] == 1);
    /* Without a clock no time passes: each step asks. */
    begin(100, 1);
    agent.desc.max_ms = 0;
    agent.desc.transport.now_ms = NULL;
    CHECK(busy() == TCALL_OK && world.calls[0] > 1000);
}

/* A transport that says nothing is polled, one that is silent for ever ends at
 * the limit, and a cancel ends a sleep. */
static void test_silence(void)
{
    begin(0, 1);
    world.silent = true;
    CHECK(tcall_agent_run(&agent, tcall_str_of("go")) == TCALL_E_TIMEOUT);
    CHECK(world.ms == 10000 && world.reads == 10000 / TCALL_WAIT_POLL_MS);
    CHECK(world.last.ms == TCALL_WAIT_POLL_MS && world.last.count == 0);
    begin(0, 1);
    world.silent = true;
    CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
    CHECK(step_until(&world.reads));
    CHECK(agent.wait.ms == TCALL_WAIT_POLL_MS);
    tcall_agent_cancel(&agent);
    tcall_agent_wait(&agent);
    CHECK(world.waits == 0);
    CHECK(tcall_agent_step(&agent) == TCALL_E_CANCELLED);
}

/* The sleep is no longer than the flag of cancel may wait; the data is not cut.
 */
static void test_data(void)
{
    int i;

    begin(1500, 1);
    CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
    CHECK(step_until(&world.calls[0]));
    CHECK(agent.wait.ms == 1500 && agent.wait.count == 0);
    tcall_agent_wait(&agent);
    CHECK(world.waits == 1 && world.ms == TCALL_WAIT_MOST_MS);
    CHECK(tcall_agent_step(&agent) == TCALL_E_AGAIN && world.calls[0] == 1);
    CHECK(agent.wait.ms == 1500 - TCALL_WAIT_MOST_MS);
    /* The limit of the turn is nearer. */
    world.ms = 9000;
    world.end = 20000;
    CHECK(tcall_agent_step(&agent) == TCALL_E_AGAIN);
    CHECK(world.calls[0] == 2 && agent.wait.ms == 1000);
    world.ms = 10000;
    for (i = 0; i < 1000 && tcall_agent_step(&agent) == TCALL_E_AGAIN; i++)
        continue;
    CHECK(i < 1000 && world.calls[0] == 3);
}

static void test_merge(void)
{
    tcall_wait one, two;
    int i;

    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
    one.ms = two.ms = TCALL_WAIT_NEVER;
    CHECK(tcall_wait_ms(&one, 500) == TCALL_E_AGAIN && one.ms == 500);
    CHECK(tcall_wait_ms(&one, 600) == TCALL_E_AGAIN && one.ms == 500);
    CHECK(tcall_wait_handle(&two, 7, TCALL_WAIT_WRITE) == TCALL_E_AGAIN);
    CHECK(tcall_wait_merge(&one, &two) == TCALL_E_AGAIN);
    CHECK(one.ms == 500 && one.count == 1 && one.handles[0].handle == 7 &&
          one.handles[0].events == TCALL_WAIT_WRITE);
    for (i = 0; i < TOOLCALL_MAX_HANDLES; i++)
        tcall_wait_handle(&two, i, TCALL_WAIT_READ);
    /* There is no room for the last one: it becomes a poll. */
    CHECK(two.count == TOOLCALL_MAX_HANDLES && two.ms == TCALL_WAIT_POLL_MS);
}

int main(void)
{
    test_merge();
    test_calls();
    test_two();
    test_silence();
    test_data();
    return check_sum("test_wait");
}
