/* Needs: SCHEMA, AGENT, SAVE, HOOKS, EVENTS, OPENAI. */
/* Calls from inside: what hooks, tools, listeners and the others that the
 * library calls may call themselves, and what they may answer. */
#include "canned.h"
#include "check.h"

#define PARAMETERS                                                     \
    "{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":" \
    "{\"type\":\"integer\"}}}"

static char block[1 << 15];
static tcall tc;
static tcall_agent agent;
static tcall_desc desc;
static tcall_agent_desc agent_desc;
static uint32_t now;
static int runs, asked;

static uint32_t clock_ms(void *user)
{
    (void)user;
    return now;
}

static int fire(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    runs++;
    return tcall_write_int(out, tcall_json_int(tcall_json_get(args, "n"), 0));
}

static tcall_tool tools[2];

/* Sets everything up for these answers; tests change desc before. */
static void prepare(void)
{
    size_t i;
    memset(&desc, 0, sizeof desc);
    memset(&agent_desc, 0, sizeof agent_desc);
    memset(tools, 0, sizeof tools);
    for (i = 0; i < 2; i++) {
        tools[i].name = i ? "look" : "fire";
        tools[i].description = "Does it";
        tools[i].parameters = PARAMETERS;
        tools[i].run = fire;
        tools[i].permissions = i ? TCALL_READ : TCALL_ACTUATE;
    }
    desc.block = block;
    desc.block_size = sizeof block;
    desc.tools = tools;
    desc.tool_count = 2;
    desc.allow = TCALL_READ | TCALL_ACTUATE;
    desc.now_ms = clock_ms;
    agent_desc.tc = &tc;
    agent_desc.provider = &tcall_openai;
    agent_desc.model = "m";
    agent_desc.transport = canned_transport();
    agent_desc.transport.now_ms = clock_ms;
    runs = asked = 0;
    now = 1;
}

static void start(const char *const *answers)
{
    canned = answers;
    memset(block, 0xA5, sizeof block);
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    CHECK(tcall_agent_init(&agent, &agent_desc) == TCALL_OK);
}

/* Steps until the turn ends, a person is waited for, or it goes on for too
 * long: time passes as the agent says, and has to. */
static int go_on(void)
{
    int result = TCALL_E_AGAIN, idle = 0, steps;
    for (steps = 0; steps < 2000 && result == TCALL_E_AGAIN; steps++) {
        result = tcall_agent_step(&agent);
        idle = result == TCALL_E_AGAIN && !agent.wait.ms ? idle + 1 : 0;
        now += agent.wait.ms == TCALL_WAIT_NEVER ? 1000 : agent.wait.ms;
    }
    CHECK(idle < 200);
    return result;
}

/* ---- a person is one kind of wait ---- */

static int patience; /* so often the person has not decided */

static int gate(tcall_ctx *cx, void *user)
{
    (void)cx;
    asked++;
    return asked <= patience                   ? *(int *)user
           : cx->stage == TCALL_AROUND_EXECUTE ? tcall_next(cx)
                                               : TCALL_OK;
}

static int wait_then_fire(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    asked++;
    return asked <= patience ? TCALL_E_APPROVAL : fire(cx, args, out);
}

/* Whoever answers that a person is waited for is asked at each step, and so is
 * the one who waits beside another call. */
static void test_waits(void)
{
    static const char *const one[] = {ASKS(CALL("a", "1")), SAYS("Done.")};
    static const char *const two[] = {ASKS(CALL("a", "1") "," CALL("b", "2")),
                                      SAYS("Done.")};
    int stage, clock, parallel, answer = TCALL_E_APPROVAL;
    for (stage = -1; stage <= TCALL_ON_RETRY; stage++)
        for (clock = 0; clock < 2; clock++)
            for (parallel = 1; parallel <= 2; parallel++) {
                tcall_hook hook;
                int result, waits = 0;
                if (stage == TCALL_DID_CACHE_HIT ||
                    stage == TCALL_DID_EXECUTE || stage == TCALL_ON_RETRY)
                    continue;
                prepare();
                memset(&hook, 0, sizeof hook);
                hook.name = "gate";
                hook.stage = (uint8_t)stage;
                hook.run = gate;
                hook.user = &answer;
                desc.hooks = stage >= 0 ? &hook : NULL;
                desc.hook_count = stage >= 0;
                if (stage < 0)
                    tools[0].run = wait_then_fire;
                if (!clock)
                    desc.now_ms = agent_desc.transport.now_ms = NULL;
                agent_desc.parallel = parallel;
                patience = 3;
                start(parallel == 2 ? two : one);
                CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
                while ((result = go_on()) == TCALL_E_APPROVAL && waits < 9)
                    waits++;
                CHECK(result == TCALL_OK && waits >= 1 && waits <= 3);
                CHECK(runs == parallel);
            }
}

int main(void)
{
    test_waits();
    return check_sum("inside");
}
