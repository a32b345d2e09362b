/*
 * task.h - a tool that gives a piece of work to a sub-agent
 *
 *     static char memory[64 * 1024];
 *     static ttool_task task;
 *     ttool_task_desc d = {0};
 *     d.agent = &agent; // the one whose table this row is in
 *     d.memory = memory;
 *     d.memory_size = sizeof memory;
 *     ttool_task_init(&task, &d);
 *     n += ttool_rows(rows + n, ttool_task_tools, TTOOL_TASK_TOOLS, &task);
 *
 * The sub-agent starts with an empty conversation, over the same transport,
 * with the tools, hooks and approvals of the agent, of its permissions those
 * that desc.allow has too, and out of its budgets: what the sub-agent uses of
 * rounds, calls and time the agent has no more. It may give work away itself,
 * down to desc.depth; each level has half of the memory that is left. Of two
 * tasks in one answer the second waits for the first.
 *
 * Without an agent the call fails with the code LLM_ASSIST_REQUIRED: a hook of
 * the host at TCALL_ON_ERROR that sees this cx->failure.code can do the work
 * that cx->call->asked->args describe, and tcall_respond.
 *
 * No I/O of its own.
 */
#ifndef TTOOL_TASK_H
#define TTOOL_TASK_H

#include "tools/workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttool_task_desc {
    tcall_agent *agent; /* NULL: LLM_ASSIST_REQUIRED */
    void *memory;       /* of the sub-agents, for one call at a time */
    size_t memory_size;
    const char *system; /* instructions for them; default: those of the agent */
    int max_rounds;     /* requests for one task; default 8 */
    uint8_t allow;      /* permissions they may have; default TCALL_READ */
    uint8_t depth;      /* levels of sub-agents; default 2, at most 4 */
} ttool_task_desc;

typedef struct ttool_task {
    ttool_task_desc desc;
    /* private */
    struct ttool_child_ *child; /* at work, or NULL */
    tcall_call *call;           /* for this call */
} ttool_task;

void ttool_task_init(ttool_task *task, const ttool_task_desc *desc);

/* user: a ttool_task. */
#define TTOOL_TASK_TOOLS 1
extern const tcall_tool ttool_task_tools[TTOOL_TASK_TOOLS];

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_TASK_H */
