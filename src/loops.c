#pragma once
#include "loops.h"
#include "context.c"
#include "hash.c"
#include "result.c"

/* ==========================================================================
 * >>loops
 */

/* A call in the memory of the loop breaker. Calls are compared by their hash,
 * with that of their turn, so nothing of them has to be kept, and those of
 * other turns are never met again. */
typedef struct tcall_looped_ {
    uint64_t call, tool;
    bool answered; /* by a result from before */
} tcall_looped_;

/* Fails the call and tells the model how to get out. */
static int tcall_loop_(tcall_ctx *cx, const char *reason)
{
    tcall_abort(cx, reason, NULL, 0);
    cx->result.suggestion = "do something else, or ask the user";
    return TCALL_E_LOOP;
}

/* True when the call would be the third of its kind in a row, or the third in
 * turns with one other: a b a b a. */
static bool tcall_loops_again_(const uint64_t *recent, uint64_t call)
{
    return recent[1] == call &&
           (recent[0] == call || (recent[3] == call && recent[0] == recent[2]));
}

static bool tcall_loops_did_(const tcall_loops *loops, uint64_t call)
{
    uint16_t i;
    for (i = 0; i < loops->count; i++)
        if (loops->done[i].call == call)
            return true;
    return false;
}

/* Answers or stops a call that repeats others. */
int tcall_loops_begin_(tcall_ctx *cx, void *user)
{
    tcall_loops *loops = (tcall_loops *)user;
    const tcall_call *call = cx->call;
    uint64_t turn = tcall_hash_turn_(cx->tc, call);
    tcall_looped_ *here;
    if (call->loops && call->loops != loops)
        return TCALL_OK; /* the agent's own is at work */
    here = (tcall_looped_ *)tcall_scratch(cx, "loops", sizeof *here);
    if (!here || tcall_hash_asked_(cx->tc, call, &here->call) < 0)
        return TCALL_E_MEMORY;
    here->call += turn;
    here->tool = tcall_hash_text_(cx->tc, 5, call->name) + turn;
    if (here->tool == loops->refused && loops->refusals >= 2 &&
        (loops->denied || call->error < 0))
        return tcall_loop_(cx, "refused again and again");
    if (call->tool && call->tool->allow_repeat)
        return TCALL_OK;
    if (tcall_loops_again_(loops->recent, here->call))
        return tcall_loop_(cx, "the same calls come again and again");
    memmove(loops->recent + 1, loops->recent,
            sizeof loops->recent - sizeof *loops->recent);
    loops->recent[0] = here->call;
    here->answered = tcall_loops_did_(loops, here->call);
    return here->answered
               ? tcall_respond(cx,
                               tcall_str_of("Made before in this turn, and "
                                            "nothing has changed since: use "
                                            "that result."))
               : TCALL_OK;
}

/* Counts how often in a row the tool was refused. */
static void tcall_loops_count_(const tcall_ctx *cx, tcall_loops *loops,
                               uint64_t tool)
{
    bool denied = cx->failure.error == TCALL_E_DENIED,
         same = loops->refused == tool;
    if (cx->failure.error == TCALL_E_LOOP)
        return;
    if (denied || cx->call->error < 0) {
        loops->refusals = same ? (uint8_t)(loops->refusals + 1) : 1;
        loops->refused = tool;
        loops->denied = denied;
    } else if (same) {
        loops->refusals = 0;
    }
}

/* Notes what came of a call, and forgets results that it may have changed. */
int tcall_loops_end_(tcall_ctx *cx, void *user)
{
    tcall_loops *loops = (tcall_loops *)user;
    const tcall_tool *tool = cx->call->tool;
    const tcall_looped_ *here =
        (const tcall_looped_ *)tcall_scratch(cx, "loops", sizeof *here);
    uint16_t i, kept = 0;
    bool ran = cx->tool_did && !tcall_repeatable_(cx);
    if (cx->call->loops && cx->call->loops != loops)
        return TCALL_OK;
    for (i = 0; i < loops->count; i++)
        if (!tcall_changes_(cx, loops->done[i].thing))
            loops->done[kept++] = loops->done[i];
    loops->count = kept;
    if (!here || !here->tool)
        return TCALL_OK;
    tcall_loops_count_(cx, loops, here->tool);
    if ((cx->failure.error < 0 && !ran) || here->answered || !tool ||
        tool->allow_repeat)
        return TCALL_OK;
    if (kept == TOOLCALL_LOOP_CALLS)
        memmove(loops->done, loops->done + 1, --kept * sizeof *loops->done);
    loops->done[kept].call = here->call;
    loops->done[kept].thing = cx->thing;
    loops->count = (uint16_t)(kept + 1);
    return TCALL_OK;
}
