#pragma once
#include "invoke.h"
#include "stages.c"

/* ==========================================================================
 * >>invoke
 */

void tcall_cancel(tcall_call *call, int error)
{
    call->cx.stop = error;
}

int tcall_approval(tcall_ctx *cx)
{
    uint32_t at = cx->at;
    uint8_t stage = cx->stage;
    int r = TCALL_OK;
    cx->asks = true;
    cx->stage = TCALL_WILL_CHECK_CONSENT;
    cx->at = 0;
    r = tcall_run_hooks_(cx);
    cx->stage = stage;
    cx->at = at;
    return r == TCALL_OK ? tcall_consent_(cx) : r;
}

static int tcall_authorize_(const tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    if (!call->tool)
        return call->error < 0 ? call->error : TCALL_E_USAGE;
    return tcall_enabled(call->tool, cx->tc->desc.allow) ? TCALL_OK
                                                         : TCALL_E_DENIED;
}

TCALL_APART_ static int tcall_built_in_(tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    switch (cx->stage) {
    case TCALL_WILL_AUTHORIZE: return tcall_authorize_(cx);
    case TCALL_WILL_CHECK_CONSENT: return tcall_consent_(cx);
    case TCALL_WILL_VALIDATE_INPUT: return cx->call->error;
    case TCALL_WILL_VALIDATE_OUTPUT:
        return tool && tool->output ? tcall_check_output_(cx) : TCALL_OK;
    default: return TCALL_OK;
    }
}

/* ---- the walk ---- */

static void tcall_begin_(tcall *tc, tcall_call *call)
{
    tcall_ctx *cx = &call->cx;
    cx->tc = tc;
    cx->call = call;
    cx->session = call->session ? call->session : tc->desc.session;
    cx->state = TCALL_GOING_;
    cx->ran = TCALL_E_USAGE;
    cx->started = tcall_now_(tc);
    tcall_tell_call_(call, TCALL_EVENT_START, tcall_slice_(NULL, 0));
}

static void tcall_failed_(tcall_ctx *cx, int error)
{
    if (error < 0 && cx->state != TCALL_FAILED_) {
        cx->state = TCALL_FAILED_;
        cx->error = error;
    }
}

/* TCALL_OK at the end of all stages, or why to wait. */
TCALL_APART_ static int tcall_walk_(tcall_ctx *cx)
{
    int stage = cx->stage;
    for (; stage < TCALL_STAGE_COUNT; stage++) {
        int due = tcall_due_[stage], r = TCALL_OK;
        if (!(due & cx->state))
            continue;
        if (cx->stage != stage) {
            cx->stage = (uint8_t)stage;
            cx->at = 0;
        }
        r = tcall_run_hooks_(cx);
        if (r == TCALL_OK && due & cx->state)
            r = tcall_built_in_(cx);
        if (tcall_waits_(r))
            return r;
        tcall_failed_(cx, r);
    }
    return TCALL_OK;
}

int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out)
{
    tcall_writer clean = *out;
    tcall_ctx *cx = &call->cx;
    int r;
    if (cx->state == TCALL_DONE_)
        return TCALL_E_USAGE;
    if (!cx->state)
        tcall_begin_(tc, call);
    cx->out = out;
    cx->clean = &clean;
    if (cx->state == TCALL_GOING_ && cx->phase != TCALL_RUN_POLLED_)
        tcall_failed_(cx, tcall_over_(cx));
    r = tcall_walk_(cx);
    if (r < 0) {
        tcall_take_back_(cx);
        return r;
    }
    if (cx->asked)
        tcall_tell_verdict_(cx, TCALL_VERDICT_DENY);
    cx->finished = tcall_now_(tc);
    if (cx->state == TCALL_FAILED_)
        tcall_write_failure_(cx);
    call->error = cx->result.error = cx->error;
    cx->result.output = tcall_output(cx);
    cx->state = TCALL_DONE_;
    if (call->error < 0)
        tcall_tell_call_(call, TCALL_EVENT_ERROR, cx->reason);
    tcall_tell_call_(call, TCALL_EVENT_END, cx->result.output);
    return call->error;
}

int tcall_execute(tcall *tc, tcall_str name, tcall_str arguments,
                  tcall_writer *out)
{
    size_t high = tc->block.high;
    tcall_call *call =
        (tcall_call *)tcall_block_take_(&tc->block, sizeof *call);
    int r;
    if (!call)
        return TCALL_E_MEMORY;
    memset(call, 0, sizeof *call);
    call->name = name;
    call->arguments = arguments;
    tcall_hydrate(tc, call);
    r = tcall_invoke(tc, call, out);
    if (tcall_waits_(r)) { /* it ends, and lets go of what it holds */
        tcall_cancel(call, r == TCALL_E_AGAIN ? TCALL_E_CANCELLED : r);
        r = tcall_invoke(tc, call, out);
    }
    tcall_release(tc, call);
    tc->block.high = high;
    return r;
}
