/* task.c - see task.h */
#include "tools/gnu.h"

#include "tools/task.h"
#include "tools/tool.h"

#include <stdio.h>
#include <string.h>

enum { TTOOL_MAX_TASK_DEPTH_ = 4 };

typedef struct ttool_child_ {
    tcall tc;
    tcall_agent agent;
    ttool_task inner;
    uint32_t told;
    tcall_tool rows[1]; /* and more */
} ttool_child_;

void ttool_task_init(ttool_task *task, const ttool_task_desc *desc)
{
    memset(task, 0, sizeof *task);
    task->desc = *desc;
    if (!task->desc.allow)
        task->desc.allow = TCALL_READ;
    if (!task->desc.max_rounds)
        task->desc.max_rounds = 8;
    if (!task->desc.depth)
        task->desc.depth = 2;
    if (task->desc.depth > TTOOL_MAX_TASK_DEPTH_)
        task->desc.depth = TTOOL_MAX_TASK_DEPTH_;
}

static int ttool_task_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out);

/* The tools of the caller; the row of this one, if there may be one more
 * level, with the memory of that. */
static size_t ttool_task_rows_(ttool_child_ *c, const tcall_desc *d)
{
    size_t i, n = 0;
    for (i = 0; i < d->tool_count; i++) {
        bool task = d->tools[i].run == ttool_task_run_;
        if (task && !c->inner.desc.depth)
            continue;
        c->rows[n] = d->tools[i];
        if (task)
            c->rows[n].user = &c->inner;
        n++;
    }
    return n;
}

/* What the caller's budgets leave, in desc; or why they leave nothing. */
static int ttool_task_budget_(const ttool_task *task, const tcall_ctx *cx,
                              tcall_agent_desc *d)
{
    const tcall_agent *a = task->desc.agent;
    int rounds = a->desc.max_rounds - a->turn.rounds - 1; /* one to answer in */
    int32_t left = tcall_time_left(cx);
    d->max_calls = a->desc.max_calls - a->turn.calls;
    d->max_rounds =
        rounds < task->desc.max_rounds ? rounds : task->desc.max_rounds;
    if (rounds < 1 || d->max_calls < 1)
        return TCALL_E_LIMIT;
    if (a->desc.max_ms && a->desc.transport.now_ms) {
        uint32_t spent =
            a->desc.transport.now_ms(a->desc.transport.user) - a->turn.started;
        if (spent >= a->desc.max_ms)
            return TCALL_E_TIMEOUT;
        d->max_ms = a->desc.max_ms - spent;
    }
    if (left != INT32_MAX && (!d->max_ms || d->max_ms > (uint32_t)left))
        d->max_ms = (uint32_t)left;
    return left ? TCALL_OK : TCALL_E_TIMEOUT;
}

static int ttool_task_small_(tcall_ctx *cx, tcall_writer *out)
{
    return ttool_fail_(cx, out, TCALL_E_MEMORY, "",
                       "no memory for a task\nDo it yourself, step by step.");
}

static int ttool_task_begin_(ttool_task *task, tcall_ctx *cx, tcall_json args,
                             tcall_writer *out)
{
    const ttool_task_desc *t = &task->desc;
    tcall_desc d = cx->tc->desc;
    tcall_agent_desc ad = t->agent->desc;
    ttool_task_desc inner = *t;
    size_t skip = (size_t) - (uintptr_t)t->memory & 15, head, half;
    char *memory = (char *)t->memory + skip;
    ttool_child_ *c = (ttool_child_ *)(void *)memory;
    tcall_str title;
    int r = ttool_task_budget_(task, cx, &ad);
    if (r < 0)
        return ttool_fail_(
            cx, out, r, "",
            "nothing is left of the rounds, calls or time of this "
            "turn\nAnswer now.");
    head = (sizeof *c + d.tool_count * sizeof c->rows[0] + 15) & ~(size_t)15;
    if (t->memory_size < head + skip)
        return ttool_task_small_(cx, out);
    memset(c, 0, head);
    half = t->depth > 1 ? (t->memory_size - head - skip) / 2 & ~(size_t)15 : 0;
    inner.agent = &c->agent;
    inner.memory = memory + t->memory_size - skip - half;
    inner.memory_size = half;
    inner.depth--;
    c->inner.desc = inner;
    d.block = memory + head;
    d.block_size = t->memory_size - skip - head - half;
    d.tools = c->rows;
    d.tool_count = ttool_task_rows_(c, &cx->tc->desc);
    d.allow &= t->allow;
    d.faults = NULL;
    ad.tc = &c->tc;
    ad.parent = cx->call;
    ad.system = t->system ? t->system : ad.system;
    if (tcall_init(&c->tc, &d) < 0 || tcall_agent_init(&c->agent, &ad) < 0 ||
        tcall_agent_say(&c->agent,
                        tcall_json_str(tcall_json_get(args, "prompt"))) < 0)
        return ttool_task_small_(cx, out);
    title = ttool_arg_(args, "description");
    ttool_title_(cx, "Task: ", title.len ? title : ttool_arg_(args, "prompt"));
    c->told = d.now_ms ? d.now_ms(d.user) : 0;
    task->child = c;
    task->call = cx->call;
    return TCALL_OK;
}

static void ttool_task_progress_(ttool_child_ *c, tcall_ctx *cx)
{
    const tcall_desc *d = &cx->tc->desc;
    uint32_t now = d->now_ms ? d->now_ms(d->user) : 0;
    char text[64];
    tcall_str said = {text, 0};
    if (now - c->told < 1000)
        return;
    c->told = now;
    said.len = (size_t)snprintf(
        text, sizeof text, "task: %u requests, %u calls",
        (unsigned)c->agent.turn.rounds, (unsigned)c->agent.turn.calls);
    tcall_progress(cx, said);
}

static int ttool_task_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    ttool_task *task = (ttool_task *)cx->user;
    tcall_agent *a;
    ttool_child_ *c;
    tcall_str text;
    int r;
    if (!task)
        return ttool_nobody_(cx, out);
    a = task->desc.agent;
    if (!a)
        cx->result.suggestion = "Do it yourself, step by step.";
    if (!a)
        return tcall_abort(cx,
                           "there is no model for this task: the host has to "
                           "do it",
                           "LLM_ASSIST_REQUIRED", 0);
    if (task->child && task->call != cx->call) /* one after the other */
        return cx->stop < 0 ? cx->stop : TCALL_E_AGAIN;
    if (!task->child) {
        r = ttool_task_begin_(task, cx, args, out);
        if (r < 0)
            return r;
    }
    c = task->child;
    if (cx->stop < 0)
        tcall_agent_cancel(&c->agent);
    do
        r = tcall_agent_step(&c->agent);
    while (cx->stop < 0 && r == TCALL_E_AGAIN);
    if (r == TCALL_E_AGAIN || (r == TCALL_E_APPROVAL && cx->stop == 0)) {
        ttool_task_progress_(c, cx);
        tcall_wait_merge(&cx->wait, &c->agent.wait);
        return r;
    }
    a->turn.rounds = (uint16_t)(a->turn.rounds + c->agent.turn.rounds);
    a->turn.calls = (uint16_t)(a->turn.calls + c->agent.turn.calls);
    task->child = NULL;
    if (r < 0) {
        const char *why = c->agent.answer.message;
        tcall_write_text(out, "the sub-agent gave up: ");
        tcall_write_text(out, *why ? why : tcall_error_text(r));
        return ttool_fail_(cx, out, r, "", "\nDo it yourself, step by step.");
    }
    text = tcall_agent_text(&c->agent);
    return text.len ? tcall_write_bytes(out, text.ptr, text.len)
                    : tcall_write_text(out, "[the sub-agent said nothing]");
}

/* clang-format off */
const tcall_tool ttool_task_tools[TTOOL_TASK_TOOLS] = {
    TTOOL_ROW_("task", "Give work to a sub-agent", "task agent delegate research subtask",
        ttool_task_run_, TCALL_EXECUTE, false,
        "Give a piece of work to a sub-agent, which has tools too, and get its answer. "
        "Use it for searches whose details do not matter later.",
        TCALL_JSON({
            "type": "object",
            "properties": {
                "description": {
                    "type": "string", "minLength": 1, "maxLength": 100,
                    "description": "What the work is about, in three to five words, for people who watch"
                },
                "prompt": {
                    "type": "string", "minLength": 1, "maxLength": 20000,
                    "description": "All that the sub-agent has to know: it sees nothing of this conversation; say what to answer"
                }
            },
            "required": ["prompt"],
            "additionalProperties": false
        })),
};
/* clang-format on */
