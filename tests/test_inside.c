/* Needs: AGENT. */
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

enum { TOOLS = TCALL_AGENT_ALL + 2 }; /* so many are picked from */
static tcall_tool tools[TOOLS];

/* Sets everything up for these answers; tests change desc before. */
static void prepare(void)
{
    static char names[TOOLS][8];
    size_t i;
    memset(&desc, 0, sizeof desc);
    memset(&agent_desc, 0, sizeof agent_desc);
    memset(tools, 0, sizeof tools);
    for (i = 0; i < TOOLS; i++) {
        snprintf(names[i], sizeof names[i], "tool%u", (unsigned)i);
        tools[i].name = i > 1 ? names[i] : i ? "look" : "fire";
        tools[i].pinned = i < 2;
        tools[i].description = "Does it";
        tools[i].parameters = tcall_schema_text_of(PARAMETERS);
        tools[i].run = fire;
        tools[i].permissions = i ? TCALL_READ : TCALL_ACTUATE;
    }
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.report = &tcall_report;
    desc.block_size = sizeof block;
    desc.tools = tools;
    desc.tool_count = TOOLS;
    desc.stages = &tcall_stages;
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

/* ---- whoever is called may look, save and cancel, and no more ---- */

static char saved[1 << 13];
static tcall_writer last_saved;
static unsigned looks, from_events, refused_ones;
static bool act; /* also try what is refused */

/* Walks over the conversation: what is there is whole. Returns a sum, so that
 * each byte is read. */
static unsigned walk(void)
{
    size_t at = 0, i;
    unsigned sum = 0;
    tcall_item item;
    while (tcall_chat_next(&agent.chat, &at, &item)) {
        CHECK(item.kind <= TCALL_ITEM_IMAGE);
        CHECK(item.text.len < 4000 && item.id.len < 100 && item.name.len < 100);
        for (i = 0; i < item.text.len; i++)
            sum += (unsigned char)item.text.ptr[i];
        for (i = 0; i < item.id.len; i++)
            sum += (unsigned char)item.id.ptr[i];
    }
    return sum;
}

static void look(void)
{
    tcall_str text = tcall_agent_text(&agent);
    size_t i;
    for (i = 0; i < text.len; i++)
        CHECK(text.ptr[i] >= ' ' && text.ptr[i] <= '~');
    walk();
    CHECK(tcall_find(&tc, tcall_str_of("fire")) == &tools[0]);
    CHECK(tcall_need(&desc, 10) && tcall_peak(&tc));
    CHECK(tcall_agent_need(&desc, &agent_desc, 10));
    tcall_writer_init(&last_saved, saved, sizeof saved);
    CHECK(tcall_agent_save(&agent, &last_saved) == TCALL_OK);
    looks++;
}

/* All that would change the conversation, or what is under way. */
static void try_refused(void)
{
    static tcall_picked picks[1];
    tcall_agent_desc other = agent_desc;
    tcall_call call;
    tcall_str some = tcall_str_of("some");
    memset(&call, 0, sizeof call);
    CHECK(tcall_agent_step(&agent) == TCALL_E_USAGE);
    CHECK(tcall_agent_run(&agent, some) == TCALL_E_USAGE);
    CHECK(tcall_agent_say(&agent, some) == TCALL_E_USAGE);
    CHECK(tcall_agent_plan(&agent, some, picks, 1) == TCALL_E_USAGE);
    CHECK(tcall_agent_plan(&agent, tcall_str_of(""), NULL, 0) == TCALL_E_USAGE);
    CHECK(tcall_agent_show(&agent, "image/png", some) == TCALL_E_USAGE);
    CHECK(tcall_agent_use(&agent, &agent_desc) == TCALL_E_USAGE);
    CHECK(tcall_agent_load(&agent, some) == TCALL_E_USAGE);
    CHECK(tcall_agent_call(&agent, 0, &call) == TCALL_E_USAGE);
    CHECK(tcall_agent_result(&agent, &call, some, false) == TCALL_E_USAGE);
    CHECK(tcall_agent_init(&agent, &agent_desc) == TCALL_E_USAGE);
    other.model = NULL;
    CHECK(tcall_agent_init(&agent, &other) == TCALL_E_USAGE);
    other.tc = NULL;
    CHECK(tcall_agent_init(&agent, &other) == TCALL_E_USAGE);
    CHECK(tcall_init(&tc, &desc) == TCALL_E_USAGE);
    refused_ones++;
}

/* A call of its own, which has nothing to do with the turn. */
static void call_other(void)
{
    char text[200];
    tcall_writer out;
    int before = runs;
    tcall_writer_init(&out, text, sizeof text);
    tcall_execute(&tc, tcall_str_of("look"), tcall_str_of("{\"n\":7}"), &out,
                  NULL);
    runs = before;
}

static int depth;

static void inside(void)
{
    if (depth)
        return;
    depth++;
    look();
    if (act) {
        try_refused();
        call_other();
        look();
    }
    depth--;
}

static void hear(void *user, const tcall_event *event)
{
    (void)user;
    from_events |= 1u << event->kind;
    if (event->kind == TCALL_EVENT_TURN_END) {
        look();
        CHECK(tcall_agent_step(&agent) == TCALL_E_USAGE);
    } else {
        inside();
    }
}

static int hook_inside(tcall_ctx *cx, void *user)
{
    (void)user;
    inside();
    if (!depth) {
        CHECK(tcall_invoke(cx->tc, cx->call, cx->out) == TCALL_E_USAGE);
        CHECK(tcall_hydrate(cx->tc, cx->call) == TCALL_E_USAGE);
        CHECK(tcall_release(cx->tc, cx->call) == TCALL_E_USAGE);
    }
    return cx->stage == TCALL_AROUND_EXECUTE ? tcall_next(cx) : TCALL_OK;
}

static bool filter_inside(const tcall_ctx *cx, void *user)
{
    (void)cx, (void)user;
    inside();
    return true;
}

static int fire_inside(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    int i;
    for (i = 0; i < 40; i++)
        tcall_write_text(out, "AAAAAAAAAAAAAAAAAAAAAAAA");
    inside();
    tcall_emit(cx, tcall_str_of("piece"));
    tcall_progress(cx, tcall_str_of("work"));
    if (cx->stop < 0)
        return cx->stop;
    if (asked++ % 3 == 0)
        return tcall_wait_ms(&cx->wait, 5);
    inside();
    return fire(cx, args, out);
}

static tcall_verdict approve_inside(void *user, const tcall_call *call)
{
    (void)user, (void)call;
    inside();
    return asked++ % 2 ? TCALL_VERDICT_ALLOW : TCALL_VERDICT_LATER;
}

static int repair_inside(void *user, const tcall_call *call, tcall_writer *out)
{
    (void)user, (void)call;
    tcall_write_text(out, "{\"n\":");
    inside();
    return tcall_write_text(out, "5}");
}

static const tcall_repair repairs_inside = TCALL_REPAIR(repair_inside);

static int validate_inside(void *user, const tcall_tool *tool, tcall_json args,
                           tcall_writer *why)
{
    bool fits = tcall_json_type(tcall_json_get(args, "n")) == TCALL_NUMBER;
    (void)user, (void)tool;
    if (!fits)
        tcall_write_text(why, "n is ");
    inside();
    if (!fits)
        tcall_write_text(why, "no number");
    return fits ? TCALL_OK : TCALL_E_INVALID;
}

static int score_inside(void *user, tcall_str input, const tcall_tool *tool,
                        size_t index)
{
    (void)user, (void)input, (void)tool, (void)index;
    inside();
    return 500;
}

static uint32_t clock_inside(void *user)
{
    (void)user;
    if (agent.state && tc.error > 0 && tc.busy)
        inside();
    return now;
}

static int open_inside(void *user, const tcall_request *req,
                       tcall_response *res)
{
    inside();
    return canned_open(user, req, res);
}

static int write_inside(void *user, const char *bytes, size_t len)
{
    inside();
    return canned_write(user, bytes, len);
}

static int read_inside(void *user, char *bytes, size_t cap)
{
    inside();
    return canned_read(user, bytes, cap < 60 ? cap : 60);
}

static void close_inside(void *user)
{
    inside();
    canned_close(user);
}

static void wants_inside(void *user, tcall_wait *wait)
{
    (void)user, (void)wait;
    inside();
}

static int sink_inside(void *user, const char *bytes, size_t len)
{
    (void)user, (void)bytes;
    inside();
    return (int)len;
}

/* A turn with calls that wait, are asked for, repaired and fail, in which
 * everybody looks. */
static void turn_inside(const char *const *answers, bool foreign, int parallel)
{
    static tcall_hook hooks[TCALL_STAGE_COUNT + 1];
    static tcall_audit audit;
    static const tcall_validator validator =
        TCALL_VALIDATOR("own", "1", validate_inside, NULL);
    static tcall_scorer scorers[2];
    static tcall_pick_opts opts;
    tcall_hook log = TCALL_AUDIT(&audit);
    int result, i;
    prepare();
    for (i = 0; i < TCALL_STAGE_COUNT; i++) {
        hooks[i].name = "inside";
        hooks[i].stage = (uint8_t)i;
        hooks[i].run = hook_inside;
        hooks[i].filter = filter_inside;
    }
    audit.sink = sink_inside;
    hooks[i] = log;
    scorers[0].name = "own";
    scorers[0].score = score_inside;
    opts.allow_unsafe = true;
    opts.scorers = scorers;
    opts.scorer_count = 2;
    desc.hooks = hooks;
    desc.hook_count = TCALL_STAGE_COUNT + 1;
    desc.on_event = hear;
    desc.events = &tcall_events;
    desc.approve = approve_inside;
    desc.repair = &repairs_inside;
    desc.now_ms = clock_inside;
    if (foreign)
        desc.validator = &validator;
    tools[0].run = fire_inside;
    tools[0].confirm = true;
    agent_desc.parallel = parallel;
    agent_desc.pick = tcall_pick;
    agent_desc.pick_opts = &opts;
    agent_desc.transport.open = open_inside;
    agent_desc.transport.write = write_inside;
    agent_desc.transport.read = read_inside;
    agent_desc.transport.close = close_inside;
    agent_desc.transport.wants = wants_inside;
    agent_desc.transport.now_ms = clock_inside;
    start(answers);
    CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
    for (i = 0; (result = go_on()) == TCALL_E_APPROVAL && i < 20; i++)
        ;
    CHECK(result == TCALL_OK);
}

#define BAD_CALL(id)                                                   \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":" \
    "\"fire\",\"arguments\":\"{\\\"n\\\":\\\"x\\\"}\"}}"
#define GHOST(id)                                                      \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":" \
    "\"ghost\",\"arguments\":\"{}\"}}"

static void test_inside(void)
{
    static const char *const answers[] = {
        ASKS(CALL("a", "1") "," CALL("b", "2")),
        ASKS(BAD_CALL("c") "," GHOST("d") "," CALL("e", "3")), SAYS("Done.")};
    int round;
    for (round = 0; round < 8; round++) {
        act = round & 1;
        turn_inside(answers, (round & 2) != 0, round & 4 ? 3 : 1);
        CHECK(runs == 4);
        CHECK(tcall_str_eq(tcall_agent_text(&agent), tcall_str_of("Done.")));
    }
    CHECK(looks > 1000 && refused_ones > 400);
    CHECK((from_events | 1u << TCALL_EVENT_RETRY | 1u << TCALL_EVENT_HOOK) ==
          0x3FFFF);
}

/* ---- the turn is over for whom it is told ---- */

static int next_ones;

static void say_next(void *user, const tcall_event *event)
{
    (void)user;
    if (event->kind == TCALL_EVENT_TURN_END && next_ones-- > 0)
        CHECK(tcall_agent_say(&agent, tcall_str_of("next")) == TCALL_OK);
}

static void test_next(void)
{
    static const char *const answers[] = {SAYS("One."), SAYS("Two."),
                                          SAYS("Three.")};
    prepare();
    desc.on_event = say_next;
    desc.events = &tcall_events;
    next_ones = 2;
    start(answers);
    CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
    CHECK(go_on() == TCALL_OK && agent.turn.id == 2);
    CHECK(go_on() == TCALL_OK && agent.turn.id == 3);
    CHECK(go_on() == TCALL_OK && agent.turn.id == 3);
    CHECK(tcall_str_eq(tcall_agent_text(&agent), tcall_str_of("Three.")));
    CHECK(tcall_agent_step(&agent) == TCALL_E_USAGE);
}

/* ---- a refused tcall_agent_init leaves the agent alone ---- */

static void test_init(void)
{
    static const char *const answers[] = {SAYS("One."), SAYS("Two.")};
    static tcall other_tc;
    tcall_agent_desc bad;
    int i;
    prepare();
    start(answers);
    CHECK(tcall_agent_run(&agent, tcall_str_of("go")) == TCALL_OK);
    for (i = 0; i < 5; i++) {
        bad = agent_desc;
        if (i == 1)
            bad.model = NULL;
        if (i == 2)
            bad.tc = NULL;
        if (i == 3)
            bad.tc = &other_tc;
        if (i == 4)
            bad.provider = NULL;
        CHECK(tcall_agent_init(&agent, &bad) == TCALL_E_USAGE);
        CHECK(agent.problem != NULL);
        CHECK(tcall_str_eq(tcall_agent_text(&agent), tcall_str_of("One.")));
    }
    CHECK(tcall_agent_run(&agent, tcall_str_of("on")) == TCALL_OK);
    CHECK(strstr(request, "One.") && strstr(request, "\"on\""));
    CHECK(tcall_init(&tc, &desc) == TCALL_OK); /* it lives no more */
    bad = agent_desc;
    bad.model = NULL;
    CHECK(tcall_agent_init(&agent, &bad) == TCALL_E_USAGE);
    CHECK(tcall_agent_step(&agent) == TCALL_E_USAGE);
    CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_E_USAGE);
}

/* ---- what is released is ended ---- */

static int polls, stops, begun, ended, finals;

static int slow(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)args, (void)out;
    if (cx->stop) {
        stops++;
        return cx->stop;
    }
    polls++;
    return tcall_wait_ms(&cx->wait, 5);
}

static int stubborn(tcall_ctx *cx, void *user)
{
    (void)cx, (void)user;
    return polls ? TCALL_E_AGAIN : tcall_next(cx);
}

static int finalize(tcall_ctx *cx, void *user)
{
    (void)cx, (void)user;
    finals++;
    return TCALL_OK;
}

static void count_calls(void *user, const tcall_event *event)
{
    (void)user;
    begun += event->kind == TCALL_EVENT_START;
    ended += event->kind == TCALL_EVENT_END;
}

static int invoke(tcall_call *call, const char *name)
{
    static char text[200];
    tcall_writer out;
    memset(call, 0, sizeof *call);
    call->name = tcall_str_of(name);
    call->arguments = tcall_str_of("{\"n\":1}");
    tcall_writer_init(&out, text, sizeof text);
    tcall_hydrate(&tc, call);
    return tcall_invoke(&tc, call, &out);
}

static void test_release(void)
{
    static tcall_concurrency one;
    tcall_hook hooks[] = {TCALL_CONCURRENCY(&one),
                          {"final", TCALL_WILL_FINALIZE, 0, finalize, 0, 0},
                          {"around", TCALL_AROUND_EXECUTE, 0, stubborn, 0, 0}};
    tcall_call call, later;
    int round;
    for (round = 0; round < 2; round++) {
        prepare();
        one.max = 1;
        desc.hooks = hooks;
        desc.hook_count = (uint16_t)(round ? 4 : 3);
        desc.on_event = count_calls;
        desc.events = &tcall_events;
        tools[1].run = slow;
        polls = stops = begun = ended = finals = 0;
        CHECK(tcall_init(&tc, &desc) == TCALL_OK);
        CHECK(invoke(&call, "look") == TCALL_E_AGAIN && one.running == 1);
        CHECK(tcall_release(&tc, &call) == TCALL_OK);
        CHECK(polls == 1 && stops == 1 && begun == 1 && ended == 1);
        CHECK(finals == 1 && one.running == 0 && tc.block.high == 0);
        CHECK(tcall_release(&tc, &call) == TCALL_OK && ended == 1);
        polls = 0;
        CHECK(invoke(&later, "fire") == TCALL_OK && runs == 1);
        CHECK(tcall_release(&tc, &later) == TCALL_OK);
    }
}

/* A call of one's own that was made before those of an agent, or between its
 * steps, may be released at any time: what the others hold stays. */
static void test_under(void)
{
    static const char *const answers[] = {
        ASKS(CALL("a", "1") "," CALL("b", "2") "," GHOST("c")), SAYS("Done.")};
    tcall_call own[2];
    int parallel, when, result = 0, i, steps, left;
    for (when = 0; when < 8; when++)
        for (parallel = 1; parallel <= 3; parallel++) {
            prepare();
            tools[0].run = wait_then_fire; /* twice, for a person */
            patience = 2;
            agent_desc.parallel = parallel;
            start(answers);
            memset(own, 0, sizeof own);
            for (i = 0; i < 2; i++) {
                own[i].name = tcall_str_of("look");
                own[i].arguments = tcall_str_of(i ? "{\"n\":8}" : "{\"n\":7}");
            }
            CHECK(tcall_hydrate(&tc, &own[0]) == TCALL_OK);
            CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
            left = when;
            for (steps = 0; steps < 200; steps++) {
                result = tcall_agent_step(&agent);
                if (result != TCALL_E_AGAIN && result != TCALL_E_APPROVAL)
                    break;
                if (agent.batch_count && !own[1].mark &&
                    (!own[1].asked || !own[1].asked->args.at))
                    CHECK(tcall_hydrate(&tc, &own[1]) == TCALL_OK);
                else if (agent.batch_count && left-- == 0)
                    CHECK(tcall_release(&tc, &own[0]) == TCALL_OK);
            }
            CHECK(result == TCALL_OK && runs == 2);
            if (own[0].asked->args.at)
                CHECK(tcall_json_int(tcall_json_get(own[0].asked->args, "n"),
                                     0) == 7);
            CHECK(tcall_json_int(tcall_json_get(own[1].asked->args, "n"), 0) ==
                  8);
            CHECK(tcall_release(&tc, &own[0]) == TCALL_OK);
            CHECK(tc.block.high > 0 && own[1].asked->args.at);
            CHECK(tcall_release(&tc, &own[1]) == TCALL_OK &&
                  tc.block.high == 0);
        }
}

/* ---- power is lost at any moment ---- */

static int lose_at, moment, total_runs;
static char lost[1 << 13];
static size_t lost_len;

/* Keeps what was saved at one of the moments. */
static void maybe_lose(void)
{
    tcall_writer out;
    if (moment++ != lose_at)
        return;
    tcall_writer_init(&out, lost, sizeof lost);
    CHECK(tcall_agent_save(&agent, &out) == TCALL_OK);
    lost_len = out.fill;
    total_runs = runs;
}

static void lose_on_event(void *user, const tcall_event *event)
{
    (void)user, (void)event;
    maybe_lose();
}

static int fire_and_lose(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    maybe_lose();
    if (asked++ % 3 == 0)
        return tcall_wait_ms(&cx->wait, 5);
    fire(cx, args, out);
    maybe_lose();
    return TCALL_OK;
}

static tcall_verdict approve_and_lose(void *user, const tcall_call *call)
{
    (void)user, (void)call;
    maybe_lose();
    return asked++ % 2 ? TCALL_VERDICT_ALLOW : TCALL_VERDICT_LATER;
}

static void prepare_to_lose(int parallel)
{
    prepare();
    tools[0].run = fire_and_lose;
    tools[0].confirm = true;
    tools[1].run = fire_and_lose;
    tools[1].permissions = TCALL_ACTUATE;
    desc.approve = approve_and_lose;
    desc.on_event = lose_on_event;
    desc.events = &tcall_events;
    agent_desc.parallel = parallel;
    moment = 0;
}

#define LOOK(id, n)                                                    \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":" \
    "\"look\",\"arguments\":\"{\\\"n\\\":" n "}\"}}"

/* Does the conversation hold calls? */
static bool asks(void)
{
    size_t at = 0;
    tcall_item item;
    while (tcall_chat_next(&agent.chat, &at, &item))
        if (item.kind == TCALL_ITEM_CALL)
            return true;
    return false;
}

/* Saved at each moment that somebody sees: what was loaded goes on to the end,
 * and nothing that ran runs again. */
/* Results stand in the order of their calls, whichever ended first. */
static void check_order(void)
{
    tcall_str calls[8];
    tcall_item item;
    size_t at = 0;
    int made = 0, done = 0;
    while (tcall_chat_next(&agent.chat, &at, &item))
        if (item.kind == TCALL_ITEM_CALL && made < 8)
            calls[made++] = item.id;
        else if (item.kind == TCALL_ITEM_RESULT) {
            CHECK(done < made && item.id.len == calls[done].len &&
                  !memcmp(item.id.ptr, calls[done].ptr, item.id.len));
            done++;
        }
    CHECK(made == done);
}

/* A plan that is saved stays one: what is asked next does not run either. */
static void test_loaded_plan(void)
{
    static const char *const answers[] = {ASKS(CALL("a", "1")),
                                          ASKS(CALL("b", "2")), SAYS("Done.")};
    static char text[1 << 12];
    tcall_writer out;
    tcall_call call;
    tcall_str kept;
    int result;
    prepare();
    start(answers);
    CHECK(tcall_agent_plan(&agent, tcall_str_of("go"), NULL, 0) == 1);
    tcall_writer_init(&out, text, sizeof text);
    CHECK(tcall_agent_save(&agent, &out) == TCALL_OK);
    kept.ptr = text;
    kept.len = out.fill;
    start(answers);
    result = tcall_agent_load(&agent, kept);
    CHECK(result == TCALL_OK || result == TCALL_E_AGAIN);
    CHECK(tcall_agent_call(&agent, 0, &call) == TCALL_OK);
    CHECK(tcall_agent_result(&agent, &call, tcall_str_of("1"), false) ==
          TCALL_OK);
    tcall_release(&tc, &call);
    canned++; /* the first was answered before */
    while ((result = tcall_agent_step(&agent)) == TCALL_E_AGAIN)
        ;
    CHECK(result == TCALL_OK && runs == 0 && agent.answer.calls == 1);
}

static void test_lost(void)
{
    static const char *const answers[] = {
        ASKS(CALL("a", "1") "," LOOK("b", "2") "," CALL("c", "3")),
        SAYS("Done."), SAYS("Done."), SAYS("Done.")};
    static char text[1 << 13];
    int parallel, result, i, ran, most = 0;
    for (parallel = 1; parallel <= 3; parallel++)
        for (lose_at = 0;; lose_at++) {
            tcall_str kept;
            prepare_to_lose(parallel);
            lost_len = 0;
            start(answers);
            CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
            for (i = 0; (result = go_on()) == TCALL_E_APPROVAL && i < 20; i++)
                ;
            CHECK(result == TCALL_OK && runs == 3);
            check_order();
            if (!lost_len)
                break;
            memcpy(text, lost, lost_len);
            kept.ptr = text;
            kept.len = lost_len;
            ran = total_runs;
            most = lose_at;
            lose_at = -1;
            prepare_to_lose(parallel);
            start(answers);
            result = tcall_agent_load(&agent, kept);
            CHECK(result == TCALL_OK || result == TCALL_E_AGAIN);
            if (asks())
                canned++; /* its first request has been answered */
            for (i = 0; result < 0 && i < 20; i++)
                result = go_on();
            CHECK(result == TCALL_OK || agent.turn.id == 0);
            CHECK(ran + runs <= 3);
            lose_at = most;
        }
    CHECK(most > 30);
}

int main(void)
{
    test_waits();
    test_inside();
    test_next();
    test_loaded_plan();
    test_init();
    test_release();
    test_under();
    test_lost();
    return check_sum("inside");
}
