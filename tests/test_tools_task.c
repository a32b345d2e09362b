/* The tool that gives work to sub-agents, over a transport in memory that
 * answers from a list: permissions, depth, budgets, and no model at all. */
#define _GNU_SOURCE
#include "tools/task.h"
#include "tools.h"

/* -- The model: a list of answers ----------------------------------------- */

#define TEXT(t)                                                           \
    "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"" t \
    "\"},\"finish_reason\":\"stop\"}]}"
#define CALL(name, args)                                                   \
    "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"tool_calls\":[{" \
    "\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"" name   \
    "\",\"arguments\":\"" args "\"}}]},\"finish_reason\":\"tool_calls\"}]}"
#define TASK(prompt) CALL("task", "{\\\"prompt\\\":\\\"" prompt "\\\"}")

static const char *const *answers;
static unsigned at, again; /* again: each read answers AGAIN so often first */
static unsigned left_again;
static char sent[16][8192];
static size_t sent_len, from;
static uint32_t clock_ms, tick;

static int m_open(void *user, const tcall_request *req, tcall_response *res)
{
    (void)user, (void)req;
    res->status = 200;
    sent_len = from = 0;
    left_again = again;
    return 0;
}

static int m_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    if (at < 16 && sent_len + len < sizeof sent[0])
        memcpy(sent[at] + sent_len, bytes, len);
    sent_len += len;
    if (at < 16 && sent_len < sizeof sent[0])
        sent[at][sent_len] = '\0';
    return (int)len;
}

/* The answer to the request at hand; "over" behind the last one. */
static const char *answer(void)
{
    unsigned i = 0;
    while (i < at && answers[i])
        i++;
    return answers[i] ? answers[i] : TEXT("over");
}

static int m_read(void *user, char *bytes, size_t cap)
{
    const char *text = answer();
    size_t n = strlen(text) - from;
    (void)user;
    if (left_again && left_again--)
        return TCALL_E_AGAIN;
    n = n < cap ? n : cap;
    memcpy(bytes, text + from, n);
    from += n;
    return (int)n;
}

static void m_close(void *user)
{
    (void)user;
    at++;
}

static uint32_t m_now(void *user)
{
    (void)user;
    return clock_ms += tick;
}

static void m_wait(void *user, const tcall_wait *wait)
{
    (void)user;
    clock_ms += wait->ms;
}

static const tcall_transport model = {m_open, m_write, m_read, m_close,
                                      m_now,  m_wait,  NULL,   NULL};

/* -- Tools ---------------------------------------------------------------- */

static int looks, writes;

static int look(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    looks++;
    return tcall_write_text(out, "seen");
}

static int change(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    writes++;
    return tcall_write_text(out, "changed");
}

static char task_memory[256 * 1024];
static ttool_task task;
static tcall_agent agent;
static tcall_tool rows[3];
static char progress[128];
static int approvals;

static tcall_verdict ask(void *user, const tcall_call *call)
{
    (void)user, (void)call;
    approvals++;
    return verdict;
}

static void on_event(void *user, const tcall_event *e)
{
    (void)user;
    if (e->kind == TCALL_EVENT_PROGRESS)
        snprintf(progress, sizeof progress, "%.*s", (int)e->text.len,
                 e->text.ptr);
    if (e->kind == TCALL_EVENT_END &&
        tcall_str_eq(e->call->name, tcall_str_of("task")))
        snprintf(result, sizeof result, "%.*s", (int)e->text.len, e->text.ptr);
}

static void start(ttool_task_desc d, unsigned allow, int rounds, int calls,
                  uint32_t ms)
{
    static const char none[] = "{\"type\":\"object\",\"properties\":{}}";
    static char report[1024];
    tcall_writer faults;
    tcall_desc t;
    tcall_agent_desc a;
    d.agent = &agent;
    if (!d.memory) {
        d.memory = task_memory + 1;
        d.memory_size = sizeof task_memory - 1;
    }
    ttool_task_init(&task, &d);
    memset(rows, 0, sizeof rows);
    rows[0].name = "look";
    rows[0].description = "Look.";
    rows[0].parameters = tcall_schema_text_of(none);
    rows[0].run = look;
    rows[0].permissions = TCALL_READ;
    rows[0].allow_repeat = true; /* budgets are to end it */
    rows[1] = rows[0];
    rows[1].name = "change";
    rows[1].allow_repeat = false;
    rows[1].run = change;
    rows[1].permissions = TCALL_WRITE;
    rows[1].confirm = true;
    ttool_rows(rows + 2, ttool_task_tools, TTOOL_TASK_TOOLS, &task);
    tcall_writer_init(&faults, report, sizeof report - 1);
    memset(&t, 0, sizeof t);
    t.block = block;
    t.lenient = &tcall_lenient;
    t.block_size = sizeof block;
    t.tools = rows;
    t.tool_count = 3;
    t.allow = (uint8_t)allow;
    t.approve = ask;
    t.on_event = on_event;
    t.events = &tcall_events;
    t.now_ms = m_now;
    t.report = &tcall_report;
    t.faults = &faults;
    if (tcall_init(&tc, &t) < 0)
        printf("%s\n", report);
    memset(&a, 0, sizeof a);
    a.tc = &tc;
    a.provider = &tcall_openai;
    a.transport = model;
    a.model = "m";
    a.max_rounds = rounds;
    a.max_calls = calls;
    a.max_ms = ms;
    CHECK(tcall_agent_init(&agent, &a) == TCALL_OK);
    at = again = 0;
    looks = writes = approvals = 0;
    tick = 0;
    memset(sent, 0, sizeof sent);
    result[0] = progress[0] = '\0';
    verdict = TCALL_VERDICT_DENY;
}

static int turn(const char *const *list)
{
    answers = list;
    return tcall_agent_run(&agent, tcall_str_of("go"));
}

static ttool_task_desc with(unsigned allow)
{
    ttool_task_desc d;
    memset(&d, 0, sizeof d);
    d.allow = (uint8_t)allow;
    return d;
}

static bool answered(const char *text)
{
    return tcall_str_eq(tcall_agent_text(&agent), tcall_str_of(text));
}

/* -- Rows ----------------------------------------------------------------- */

static void work(void)
{
    static const char *const simple[] = {TASK("find it"), CALL("look", "{}"),
                                         TEXT("it is there"), TEXT("done"),
                                         NULL};
    static const char *const writer[] = {TASK("change it"),
                                         CALL("change", "{}"), TEXT("tried"),
                                         TEXT("done"), NULL};
    all = true;
    start(with(0), TCALL_READ | TCALL_EXECUTE, 0, 0, 0);
    PART(turn(simple) == TCALL_OK && answered("done") && looks == 1 && at == 4);
    PART(says("it is there") && strstr(sent[3], "it is there"));
    PART(strstr(sent[1], "find it") && !strstr(sent[1], "\"go\""));
    PART(strstr(sent[2], "seen") && !strstr(sent[3], "seen"));
    PART(agent.turn.rounds == 4 && agent.turn.calls == 2);
    row("T1", all, "a sub-agent works, and only its answer comes back");
    all = true;
    start(with(TCALL_EVERYTHING), TCALL_READ | TCALL_EXECUTE, 0, 0, 0);
    PART(turn(writer) == TCALL_OK && writes == 0); /* the caller may not */
    PART(!strstr(sent[1], "\"change\""));
    start(with(TCALL_READ), TCALL_EVERYTHING, 0, 0, 0);
    PART(turn(writer) == TCALL_OK && writes == 0 && approvals == 0);
    PART(strstr(sent[0], "\"change\"") && !strstr(sent[1], "\"change\""));
    PART(strstr(sent[2], "unknown-tool") != NULL); /* it was not offered */
    start(with(0), TCALL_EVERYTHING, 0, 0, 0);     /* as default */
    PART(turn(writer) == TCALL_OK && writes == 0);
    start(with(TCALL_EVERYTHING), TCALL_EVERYTHING, 0, 0, 0);
    PART(turn(writer) == TCALL_OK && writes == 0 && approvals == 1);
    start(with(TCALL_EVERYTHING), TCALL_EVERYTHING, 0, 0, 0);
    verdict = TCALL_VERDICT_ALLOW;
    PART(turn(writer) == TCALL_OK && writes == 1 && approvals == 1);
    row("B8", all, "permissions of both, and the approval of the caller");
}

static void depth(void)
{
    static const char *const nested[] = {TASK("one"),
                                         TASK("two"),
                                         TASK("three"),
                                         TEXT("three is not"),
                                         TEXT("two is done"),
                                         TEXT("one is done"),
                                         NULL};
    ttool_task_desc d = with(TCALL_READ | TCALL_EXECUTE);
    all = true;
    start(d, TCALL_EVERYTHING, 20, 0, 0);
    PART(turn(nested) == TCALL_OK && at == 6 && answered("one is done"));
    PART(strstr(sent[1], "\"task\"") && !strstr(sent[2], "\"task\",\"desc"));
    PART(strstr(sent[3], "unknown-tool") != NULL);
    PART(agent.turn.rounds == 6 && agent.turn.calls == 3);
    d.depth = 1;
    start(d, TCALL_EVERYTHING, 20, 0, 0);
    PART(turn(nested) == TCALL_OK && strstr(sent[2], "unknown-tool"));
    d.depth = 200; /* is 4 */
    {
        static const char *const deep[] = {TASK("1"), TASK("2"), TASK("3"),
                                           TASK("4"), TASK("5"), NULL};
        start(d, TCALL_EVERYTHING, 20, 0, 0);
        PART(turn(deep) == TCALL_OK && strstr(sent[5], "unknown-tool"));
    }
    row("T2", all, "two levels, and no more");
}

/* One answer with two tasks. */
#define TWO_TASKS                                                           \
    "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"tool_calls\":["   \
    "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"task\"," \
    "\"arguments\":\"{\\\"prompt\\\":\\\"one\\\"}\"}},"                     \
    "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"task\"," \
    "\"arguments\":\"{\\\"prompt\\\":\\\"two\\\"}\"}}]},"                   \
    "\"finish_reason\":\"tool_calls\"}]}"

static void budgets(void)
{
    unsigned n;
    static const char *const endless[] = {TASK("x"),
                                          CALL("look", "{}"),
                                          CALL("look", "{}"),
                                          CALL("look", "{}"),
                                          CALL("look", "{}"),
                                          CALL("look", "{}"),
                                          CALL("look", "{}"),
                                          CALL("look", "{}"),
                                          CALL("look", "{}"),
                                          CALL("look", "{}"),
                                          CALL("look", "{}"),
                                          CALL("look", "{}"),
                                          NULL};
    static const char *const simple[] = {TASK("deep"), CALL("look", "{}"),
                                         TEXT("a"), TEXT("b"), NULL};
    static const char *const both[] = {TWO_TASKS,         CALL("look", "{}"),
                                       TEXT("the first"), TEXT("the other"),
                                       TEXT("end"),       NULL};
    static const char *const spent[] = {TWO_TASKS, TEXT("a"), TEXT("c"), NULL};
    static const char *const twice[] = {TASK("x"), TEXT("a"), TASK("y"),
                                        TEXT("b"), TEXT("c"), NULL};
    int r;
    all = true;
    start(with(0), TCALL_EVERYTHING, 5, 0, 0);
    r = turn(endless);
    PART(at <= 5 && agent.turn.rounds <= 5 && r != TCALL_E_AGAIN);
    start(with(0), TCALL_EVERYTHING, 3, 0, 0);
    PART(turn(spent) == TCALL_OK && at == 3 && says("Answer now."));
    start(with(0), TCALL_EVERYTHING, 20, 4, 0);
    turn(endless);
    PART(looks == 3);
    start(with(0), TCALL_EVERYTHING, 20, 0, 5000);
    tick = 100;
    again = 10000;
    PART(turn(endless) == TCALL_E_TIMEOUT && clock_ms > 0);
    PART(strstr(progress, "task: ") != NULL || at <= 1);
    start(with(0), TCALL_EVERYTHING, 20, 0, 5000);
    tick = 2000;
    PART(turn(simple) < 0 && looks == 0 && !strstr(sent[0], "deep"));
    row("T3", all, "rounds, calls and time are those of the caller");
    all = true;
    for (n = 1; n < 5; n++) { /* each has its turn while the other waits */
        start(with(0), TCALL_EVERYTHING, 20, 0, 0);
        again = n;
        PART(turn(both) == TCALL_OK && answered("end") && at == 5);
        PART(strstr(sent[4], "the first") && strstr(sent[4], "the other"));
        PART(strstr(sent[4], "the first") < strstr(sent[4], "the other"));
        PART(strstr(sent[1], "one") && strstr(sent[3], "two"));
    }
    row("T4+", all, "of two tasks in one answer the second waits");
    all = true;
    start(with(0), TCALL_EVERYTHING, 20, 0, 0);
    tick = 50;
    again = 200;
    PART(turn(twice) == TCALL_OK && answered("c"));
    PART(strstr(progress, "task: ") != NULL);
    row("T4", all, "progress each second; a second task after the first");
    all = true;
    start(with(0), TCALL_EVERYTHING, 20, 0, 0);
    answers = endless;
    again = 10;
    PART(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
    while ((r = tcall_agent_step(&agent)) == TCALL_E_AGAIN) {
        if (looks == 2)
            tcall_agent_cancel(&agent);
        tcall_agent_wait(&agent);
    }
    PART(r == TCALL_E_CANCELLED && looks == 2 && !task.child);
    again = 0;
    PART(turn(twice + 1) == TCALL_OK);
    row("T5", all, "cancelled: the sub-agent ends too");
}

static int assist(tcall_ctx *cx, void *user)
{
    (void)user;
    if (!cx->failure.code ||
        strcmp(cx->failure.code, "LLM_ASSIST_REQUIRED") != 0)
        return TCALL_OK;
    return tcall_respond(
        cx, tcall_json_str(tcall_json_get(cx->call->asked->args, "prompt")));
}

static void no_model(void)
{
    static const tcall_hook hooks[] = {
        {"assist", TCALL_ON_ERROR, 0, assist, NULL, NULL}};
    ttool_task_desc d = with(0);
    tcall_desc t;
    all = true;
    ttool_task_init(&task, &d);
    memset(&t, 0, sizeof t);
    ttool_rows(rows, ttool_task_tools, TTOOL_TASK_TOOLS, &task);
    t.tools = rows;
    t.tool_count = 1;
    t.allow = TCALL_EXECUTE;
    start_tools(&t);
    PART(call_tool("task", "{\"prompt\":\"do it\"}", NULL) == TCALL_E_ABORTED &&
         says("\"code\":\"LLM_ASSIST_REQUIRED\""));
    t.hooks = hooks;
    t.hook_count = 1;
    t.stages = &tcall_stages;
    start_tools(&t);
    PART(call_tool("task", "{\"prompt\":\"do it\"}", NULL) == TCALL_OK &&
         strcmp(result, "do it") == 0);
    t.allow = TCALL_READ;
    start_tools(&t);
    PART(call_tool("task", "{\"prompt\":\"do it\"}", NULL) == TCALL_E_DENIED);
    row("T6", all, "no model: LLM_ASSIST_REQUIRED, which a host can answer");
}

/* Every size of memory works or says that it is too small. */
static void memory(void)
{
    static const char *const simple[] = {TASK("find it"), CALL("look", "{}"),
                                         TEXT("there"), TEXT("done"), NULL};
    ttool_task_desc d = with(TCALL_READ | TCALL_EXECUTE);
    size_t n;
    int fine = 0, small = 0;
    all = true;
    for (n = 0; n < 40000; n += 509) {
        d.memory = malloc(n + 1);
        d.memory_size = n;
        start(d, TCALL_EVERYTHING, 0, 0, 0);
        if (turn(simple) == TCALL_OK && strcmp(result, "there") == 0)
            fine++;
        else
            small++;
        free(d.memory);
    }
    PART(fine > 0 && small > 0);
    row("U04", all, "any size of memory");
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    work();
    depth();
    budgets();
    no_model();
    memory();
    start(with(0), TCALL_READ, 0, 0, 0);
    described(rows + 2, TTOOL_TASK_TOOLS);
    return tools_sum("test_tools_task");
}
