/* Needs: AGENT. */
/* The turn of an agent as an object: its number, its events, its limits, and
 * plans, in which nothing runs. */
#include "canned.h"
#include "check.h"

static char block[32768];
static tcall tc;
static tcall_agent agent;
static tcall_tool tools[3];
static int runs, turns, ends, last_error;
static char ended[64];

static int fire(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    CHECK(cx->call->turn == &agent.turn);
    runs++;
    return tcall_write_int(out, tcall_json_int(tcall_json_get(args, "n"), 0));
}

static void note(void *user, const tcall_event *event)
{
    (void)user;
    turns += event->kind == TCALL_EVENT_TURN;
    if (event->kind == TCALL_EVENT_ANSWER)
        CHECK(event->bytes == strlen(*canned) && event->status == 200);
    if (event->kind != TCALL_EVENT_TURN_END)
        return;
    ends++;
    last_error = event->error;
    CHECK(event->turn == &agent.turn && event->text.len < sizeof ended);
    memcpy(ended, event->text.ptr ? event->text.ptr : "", event->text.len);
    ended[event->text.len] = '\0';
}

static void start(const char *const *answers, const tcall_hook *hooks,
                  uint16_t hook_count)
{
    static const char *const names[] = {"fire", "look", "hide"};
    tcall_desc desc;
    tcall_agent_desc made;
    int i;
    memset(&desc, 0, sizeof desc);
    memset(&made, 0, sizeof made);
    for (i = 0; i < 3; i++) {
        tools[i].name = names[i];
        tools[i].description = names[i];
        tools[i].parameters = tcall_schema_text_of(
            "{\"type\":\"object\",\"required\":[\"n\"],"
            "\"properties\":{\"n\":{\"type\":\"integer\"}}}");
        tools[i].run = fire;
        tools[i].permissions = TCALL_READ;
    }
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = sizeof block;
    desc.tools = tools;
    desc.tool_count = 3;
    desc.allow = TCALL_READ;
    desc.hooks = hooks;
    desc.hook_count = hook_count;
    desc.stages = &tcall_stages;
    desc.on_event = note;
    desc.events = &tcall_events;
    made.tc = &tc;
    made.provider = &tcall_openai;
    made.model = "m";
    made.transport = canned_transport();
    canned = answers;
    runs = turns = ends = 0;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    CHECK(tcall_agent_init(&agent, &made) == TCALL_OK);
}

static int plan(const char *text)
{
    return tcall_agent_plan(&agent, tcall_str_of(text), NULL, 0);
}

/* What the check of a call finds. */
static int checked;

/* Answers the call of this number. */
static int answer(int index, const char *text)
{
    tcall_call call;
    int result;
    CHECK(tcall_agent_call(&agent, index, &call) == checked);
    result = tcall_agent_result(&agent, &call, tcall_str_of(text), false);
    tcall_release(&tc, &call);
    return result;
}

/* A call that was read leniently goes back as it was understood. */
static void test_plan_mended(void)
{
    static const char *const answers[] = {ASKS(CALL("a", "1,")), SAYS("Done.")};
    start(answers, NULL, 0);
    CHECK(plan("go") == 1 && answer(0, "one") == TCALL_OK);
    CHECK(plan("") == 0);
    CHECK(strstr(request, "\"arguments\":\"{\\\"n\\\":1}\"") != NULL);
}

/* Asked, answered and continued as often as one likes, nothing ever runs. */
static void test_plan(void)
{
    static const char *const answers[] = {
        ASKS(CALL("a", "1")), ASKS(CALL("b", "2") "," CALL("c", "3")),
        ASKS(CALL("d", "4")), SAYS("Done.")};
    tcall_call call;
    start(answers, NULL, 0);
    CHECK(plan("go") == 1 && agent.turn.plan);
    CHECK(plan("") == TCALL_E_USAGE); /* the call has no result */
    CHECK(tcall_agent_call(&agent, INT_MIN, &call) == TCALL_E_USAGE);
    CHECK(tcall_agent_call(&agent, 1, &call) == TCALL_E_USAGE);
    CHECK(answer(0, "one") == TCALL_OK);
    CHECK(plan("") == 2 && strstr(request, "\"one\"") != NULL);
    CHECK(answer(1, "three") == TCALL_OK && answer(1, "x") == TCALL_E_USAGE);
    CHECK(answer(0, "two") == TCALL_OK);
    while (tcall_agent_step(&agent) == TCALL_E_AGAIN) /* the other way on */
        continue;
    CHECK(agent.answer.calls == 1 && strstr(request, "\"three\"") != NULL);
    CHECK(answer(0, "four") == TCALL_OK);
    CHECK(plan("") == 0 && runs == 0);
    CHECK(turns == 1 && ends == 1 && last_error == TCALL_OK);
    CHECK(strcmp(ended, "Done.") == 0 && agent.turn.rounds == 4);
    CHECK(plan("") == TCALL_E_USAGE);
}

/* A plan that is left is dropped by what comes next. */
static void test_drop(void)
{
    static const char *const answers[] = {
        ASKS(CALL("a", "1")), ASKS(CALL("b", "1") "," CALL("b", "2")),
        ASKS(CALL("c", "3")), ASKS(CALL("d", "4")), SAYS("Done.")};
    start(answers, NULL, 0);
    CHECK(plan("first") == 1);
    CHECK(plan("second") == 2 && strstr(request, "first") == NULL);
    CHECK(turns == 2 && ends == 1 && last_error == TCALL_E_CANCELLED);
    CHECK(answer(0, "one") == TCALL_OK); /* half of it */
    CHECK(plan("third") == 1 && strstr(request, "second") == NULL);
    CHECK(answer(0, "one") == TCALL_OK); /* all of it, but not gone on */
    CHECK(tcall_agent_run(&agent, tcall_str_of("fourth")) == TCALL_OK);
    CHECK(runs == 1 && agent.turn.id == 4 && !agent.turn.plan);
    CHECK(turns == 4 && ends == 4 && last_error == TCALL_OK);
}

/* A list by hand is what the model sees, for this turn. */
static void test_list(void)
{
    static const char *const answers[] = {ASKS(CALL("a", "1")), SAYS("No."),
                                          SAYS("Yes."), SAYS("Yes.")};
    tcall_picked picks[TCALL_AGENT_PICKS + 1];
    memset(picks, 0, sizeof picks);
    start(answers, NULL, 0);
    picks[0].index = 1;
    CHECK(tcall_agent_plan(&agent, tcall_str_of("go"), picks, 1) == 1);
    CHECK(strstr(request, "\"look\"") && !strstr(request, "\"hide\""));
    checked = TCALL_E_UNKNOWN; /* fire was not offered */
    CHECK(answer(0, "one") == TCALL_OK);
    checked = TCALL_OK;
    CHECK(plan("") == 0 && !strstr(request, "\"hide\""));
    CHECK(plan("go") == 0 && strstr(request, "\"hide\""));
    CHECK(tcall_agent_plan(&agent, tcall_str_of("go"), picks, 0) == 0);
    CHECK(!strstr(request, "\"look\""));
    picks[0].index = 3;
    CHECK(tcall_agent_plan(&agent, tcall_str_of("go"), picks, 1) ==
          TCALL_E_USAGE);
    CHECK(tcall_agent_plan(&agent, tcall_str_of("go"), picks,
                           TCALL_AGENT_PICKS + 1) == TCALL_E_USAGE);
    CHECK(tcall_agent_plan(&agent, tcall_str_of("go"), picks, -1) ==
          TCALL_E_USAGE);
}

/* Limits hold in plans, too. */
static void test_limits(void)
{
    static const char *const answers[] = {ASKS(CALL("a", "1")),
                                          ASKS(CALL("b", "2"))};
    start(answers, NULL, 0);
    agent.desc.max_rounds = 2;
    CHECK(plan("go") == 1 && answer(0, "one") == TCALL_OK);
    CHECK(plan("") == 1 && answer(0, "two") == TCALL_OK);
    CHECK(plan("") == TCALL_E_LIMIT && ends == 1);
    CHECK(last_error == TCALL_E_LIMIT && runs == 0);
}

/* What was made before is known within a turn, and in no other. */
static void test_redundant(void)
{
    static tcall_loops loops;
    static const tcall_hook hooks[] = {TCALL_LOOPS(&loops)};
    static const char *const answers[] = {
        ASKS(CALL("a", "1")), ASKS(CALL("b", "1") "," CALL("c", "2")),
        SAYS("Done."), ASKS(CALL("d", "1")), SAYS("Done.")};
    start(answers, hooks, TCALL_ARRAY_LEN(hooks));
    CHECK(tcall_agent_run(&agent, tcall_str_of("go")) == TCALL_OK);
    CHECK(runs == 2 && strstr(request, "Made before in this turn"));
    CHECK(agent.turn.id == 1 && agent.turn.rounds == 3);
    CHECK(agent.turn.calls == 3);
    CHECK(tcall_agent_run(&agent, tcall_str_of("again")) == TCALL_OK);
    CHECK(runs == 3 && agent.turn.id == 2 && turns == 2 && ends == 2);
}

/* A turn that fails ends once, with its error. */
static void test_failed(void)
{
    static const char *const answers[] = {"no answer", SAYS("Done.")};
    start(answers, NULL, 0);
    CHECK(tcall_agent_run(&agent, tcall_str_of("go")) < 0);
    CHECK(turns == 1 && ends == 1 && last_error < 0 && !*ended);
    CHECK(tcall_agent_step(&agent) == TCALL_E_USAGE && ends == 1);
    canned = answers + 1;
    CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
    CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_E_USAGE);
    tcall_agent_cancel(&agent);
    CHECK(tcall_agent_step(&agent) == TCALL_E_CANCELLED);
    CHECK(turns == 2 && ends == 2 && last_error == TCALL_E_CANCELLED);
}

int main(void)
{
    test_plan();
    test_plan_mended();
    test_drop();
    test_list();
    test_limits();
    test_redundant();
    test_failed();
    return check_sum("test_turn");
}
