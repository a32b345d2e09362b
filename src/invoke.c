#pragma once
#include "invoke.h"
#include "stages.c"
#include "loops.c"

/* ==========================================================================
 * >>invoke
 *
 * The state of a call is one bit, and each stage has the set of states that it
 * is due in: that, and the order of the list, is the whole lifecycle.
 */

void tcall_cancel(tcall_call *call, int error)
{
    if (call)
        call->cx.stop = error;
}

/* Replays the stage of approval in the middle of a run. */
int tcall_approval(tcall_ctx *cx)
{
    uint16_t next_hook = cx->next_hook;
    uint8_t stage = cx->stage;
    int r;
    if (!cx->call)
        return TCALL_E_USAGE;
    cx->approval_wanted = true;
    cx->stage = TCALL_WILL_CHECK_CONSENT;
    cx->next_hook = 0;
    r = tcall_run_hooks_(cx);
    cx->stage = stage;
    cx->next_hook = next_hook;
    return r == TCALL_OK ? tcall_consent_(cx) : r;
}

/* Completes the result: nobody changes it from here on. */
static void tcall_settle_(tcall_ctx *cx)
{
    if (!cx->settled) {
        cx->finished = tcall_now_(cx->tc);
        if (cx->state == TCALL_FAILED_)
            tcall_write_failure_(cx);
        else /* what a hook said, and did not return */
            memset(&cx->failure, 0, sizeof cx->failure);
        cx->result.error = cx->failure.error;
    }
    cx->settled = true;
    cx->result.output = tcall_output(cx);
}

#ifndef TOOLCALL_NO_HOOKS

/* Does what the library does itself at a stage, after its hooks. */
static int tcall_built_in_(tcall_ctx *cx)
{
    switch (cx->stage) {
    case TCALL_WILL_AUTHORIZE: return tcall_authorize_(cx);
    case TCALL_WILL_CHECK_CONSENT: return tcall_consent_(cx);
    case TCALL_WILL_VALIDATE_INPUT: return cx->call->error;
    case TCALL_WILL_VALIDATE_OUTPUT: return tcall_check_output_(cx);
    default: return TCALL_OK;
    }
}

/* Walks through the stages from the one at hand on. Returns TCALL_OK at the end
 * of all, or why to wait. */
static int tcall_walk_(tcall_ctx *cx)
{
    const uint32_t own = (uint32_t)1 << TCALL_WILL_AUTHORIZE |
                         (uint32_t)1 << TCALL_WILL_CHECK_CONSENT |
                         (uint32_t)1 << TCALL_WILL_VALIDATE_INPUT |
                         (uint32_t)1 << TCALL_AROUND_EXECUTE |
                         (uint32_t)1 << TCALL_WILL_VALIDATE_OUTPUT;
    /* Stages without hooks and without work of our own are passed over. */
    int stage = cx->stage;
    uint32_t busy = (cx->order->stages | own) >> stage;
    for (; busy; stage++, busy >>= 1) {
        int due = tcall_due_[stage], r;
        if (!(busy & 1) || !(due & cx->state))
            continue;
        cx->stage = (uint8_t)stage;
        if (stage >= TCALL_WILL_AUDIT)
            tcall_settle_(cx);
        r = tcall_run_hooks_(cx);
        if (r == TCALL_OK && due & cx->state)
            r = tcall_built_in_(cx);
        if (tcall_waits_(r))
            return r;
        tcall_fail_(cx, r);
    }
    return TCALL_OK;
}

#else

/* Returns TCALL_OK when the call may run, or why not or not yet. */
static int tcall_permit_(tcall_ctx *cx)
{
    int r = tcall_authorize_(cx);
    if (r == TCALL_OK)
        r = tcall_consent_(cx);
    return r == TCALL_OK ? cx->call->error : r;
}

/* Without hooks there is only what the library does itself. Returns TCALL_OK at
 * the end, or why to wait. */
static int tcall_walk_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    if (cx->state != TCALL_GOING_)
        return TCALL_OK;
    if (cx->stage < TCALL_AROUND_EXECUTE)
        r = tcall_permit_(cx);
    if (r == TCALL_OK) {
        cx->stage = TCALL_AROUND_EXECUTE;
        cx->attempt = 1;
        r = tcall_run_(cx);
    }
    if (r == TCALL_OK)
        r = tcall_check_output_(cx);
    if (tcall_waits_(r))
        return r;
    tcall_fail_(cx, r);
    return TCALL_OK;
}

#endif

/* Ends a call that is under way: whatever it waits for, it is told so. */
static void tcall_end_(tcall_call *call)
{
    tcall_writer out;
    tcall_writer_init(&out, NULL, 0);
    tcall_cancel(call, TCALL_E_CANCELLED);
    tcall_invoke(call->cx.tc, call, &out);
}

/* Sets up the context. A registry that cannot be used fails the call here, so
 * that even then there is a result to read. */
TCALL_NOINLINE_ static void tcall_begin_(tcall *tc, tcall_call *call)
{
    tcall_ctx *cx = &call->cx;
    cx->tc = tc;
    cx->call = call;
    cx->session = call->session ? call->session : tc->desc.session;
    cx->state = TCALL_GOING_;
    cx->last_attempt = TCALL_E_USAGE; /* while the tool has not run */
    cx->end = tcall_end_;
    cx->started = tcall_now_(tc);
    tcall_order_begin_(cx);
    tcall_tell_call_(call, TCALL_EVENT_START, tcall_slice_(NULL, 0));
    tcall_fail_(cx, tcall_usable_(tc));
#ifndef TOOLCALL_NO_AGENT
    if (call->loops && tcall_must_end_(cx) == TCALL_OK)
        tcall_fail_(cx, tcall_loops_begin_(cx, call->loops));
#endif
}

#ifndef TOOLCALL_NO_EVENTS

#define TCALL_ERROR_TEXT_ 288

/* Returns what there is to say of a call that failed; of one that is not
 * permitted the developer reads what to change. */
static tcall_str tcall_error_said_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    const tcall_failure *failure = &cx->failure;
    bool withheld = failure->error == TCALL_E_DENIED && call->tool &&
                    tcall_withheld_(cx->tc, call->tool);
    char *room = withheld || tcall_was_refused_(cx)
                     ? (char *)tcall_scratch(cx, ".error", TCALL_ERROR_TEXT_)
                     : NULL;
    tcall_writer out;
    if (!room)
        return failure->reason.len
                   ? failure->reason
                   : tcall_str_of(tcall_error_text(failure->error));
    tcall_writer_init(&out, room, TCALL_ERROR_TEXT_);
    if (withheld)
        tcall_write_remedy_(&out, cx);
    else
        tcall_say_refused_(&out, call);
    return tcall_slice_(room, out.fill);
}

TCALL_NOINLINE_ static void tcall_tell_error_(tcall_ctx *cx)
{
    tcall_tell_call_(cx->call, TCALL_EVENT_ERROR, tcall_error_said_(cx));
}

#else

static void tcall_tell_error_(tcall_ctx *cx)
{
    (void)cx;
}

#endif

/* Where the block was too small for one step of a call that began at this
 * height, the next ones would need more: says how large it has to be for all of
 * them. */
static void tcall_foresee_(tcall *tc, size_t high, size_t bytes)
{
    tcall_block *block = &tc->block;
    if (block->need > block->size)
        tcall_block_note_(block, block->low + high +
                                     tcall_call_room_(&tc->desc, bytes));
}

/* Writes the result and reports the end; listeners see a call that is complete.
 */
TCALL_NOINLINE_ static int tcall_finish_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    if (cx->approval_asked)
        tcall_tell_verdict_(cx, TCALL_VERDICT_DENY);
    tcall_settle_(cx);
    call->error = cx->result.error;
#ifndef TOOLCALL_NO_AGENT
    if (call->loops)
        tcall_loops_end_(cx, call->loops);
#endif
    if (call->error == TCALL_E_MEMORY && !call->by_model)
        tcall_foresee_(cx->tc, call->mark, call->arguments.len + cx->wanted);
    cx->state = TCALL_DONE_;
    cx->end = NULL;
    if (call->error < 0)
        tcall_tell_error_(cx);
    tcall_tell_call_(call, TCALL_EVENT_END, cx->result.output);
    return call->error;
}

/* Completes what the call waits for. */
static void tcall_await_(tcall_ctx *cx, int r)
{
    cx->asks = r == TCALL_E_APPROVAL;
    if (r == TCALL_E_AGAIN && tcall_wait_is_empty_(&cx->wait))
        tcall_wait_ms(&cx->wait, TCALL_WAIT_POLL_MS);
    if (cx->has_deadline)
        tcall_wait_ms(&cx->wait, (uint32_t)tcall_time_left(cx));
}

/* Writes what lay in the block while a hook waited. There may be less room than
 * before: a failure that was told already stays JSON. */
static void tcall_output_again_(tcall_ctx *cx)
{
    int r = tcall_output_resume_(cx);
    if (!cx->settled)
        tcall_fail_(cx, r);
    else if (cx->wanted && cx->result.error < 0)
        tcall_write_failure_(cx);
}

/* Begins a call, or goes on with it. */
static int tcall_invoke_go_(tcall *tc, tcall_call *call, tcall_writer *out)
{
    tcall_writer start = *out; /* what a failure goes back to */
    tcall_ctx *cx = &call->cx;
    int r;
    tcall_wait_begin_(&cx->wait);
    if (call->repairing && tcall_must_end_(cx) == TCALL_OK &&
        tcall_hydrate_go_(tc, call) == TCALL_E_AGAIN) {
        tcall_await_(cx, TCALL_E_AGAIN);
        return TCALL_E_AGAIN;
    }
    cx->out = out;
    cx->out_start = &start;
    if (!cx->state)
        tcall_begin_(tc, call);
    if (cx->output_held)
        tcall_output_again_(cx);
    else if (cx->state == TCALL_GOING_ && cx->run_step != TCALL_RUN_POLLED_)
        tcall_fail_(cx, tcall_must_end_(cx));
    r = tcall_walk_(cx);
    if (r == TCALL_OK)
        return tcall_finish_(cx);
    tcall_await_(cx, r);
    tcall_output_clear_(cx);
    return r;
}

int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out)
{
    const tcall *outer;
    if (call->cx.state == TCALL_DONE_ || call->cx.at_work)
        return TCALL_E_USAGE;
    call->cx.tc = tc;
    outer = tcall_work_begin_(tc, call);
    return tcall_work_end_(call, outer, tcall_invoke_go_(tc, call, out));
}

/* Goes on with a call until it has ended. One that still waits when nobody can
 * wait any longer ends then, and releases what it holds. */
static int tcall_see_through_(tcall *tc, tcall_call *call, tcall_writer *out)
{
    const tcall_desc *d = &tc->desc;
    int r = tcall_invoke(tc, call, out);
    if (r == TCALL_E_AGAIN)
        tcall_deadline(&call->cx, d->max_wait_ms ? d->max_wait_ms
                                                 : (uint32_t)TCALL_EXECUTE_MS);
    while (r == TCALL_E_AGAIN && d->wait && d->now_ms) {
        tcall_wait wait = call->cx.wait;
        tcall_wait_ms(&wait, TCALL_WAIT_MOST_MS);
        if (wait.ms)
            d->wait(d->user, &wait);
        r = tcall_invoke(tc, call, out);
    }
    if (!tcall_waits_(r))
        return r;
    tcall_cancel(call, r == TCALL_E_AGAIN ? TCALL_E_CANCELLED : r);
    return tcall_invoke(tc, call, out);
}

int tcall_execute(tcall *tc, tcall_str name, tcall_str arguments,
                  tcall_writer *out, tcall_call *call)
{
    size_t high = tc->block.high, mark = 0;
    tcall_call *own = NULL;
    int r = tcall_usable_(tc);
    if (r < 0)
        return r;
    if (!call)
        mark = tcall_block_mark_(&tc->block);
    if (mark)
        call = own = (tcall_call *)tcall_block_take_(&tc->block, sizeof *own);
    if (!call) {
        tcall_block_release_(&tc->block, mark);
        tcall_foresee_(tc, high + sizeof *own, arguments.len);
        return TCALL_E_MEMORY;
    }
    memset(call, 0, sizeof *call);
    call->name = name;
    call->arguments = arguments;
    tcall_hydrate(tc, call);
    r = tcall_see_through_(tc, call, out);
    if (own) {
        tcall_let_go_(tc, own);
        tcall_block_release_(&tc->block, mark);
    }
    return r;
}
