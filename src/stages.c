#pragma once
#include "stages.h"
#include "run.c"

/* ==========================================================================
 * >>stages
 *
 * tcall_init has put the hooks in order, so a stage finds its hooks one after
 * the other, and what is left of a stage that waits is one number: the place
 * of the next hook.
 */

#ifndef TOOLCALL_NO_HOOKS

/* ---- the order of the hooks of a call ---- */

/* Chooses the order: a tool that has no hooks of its own shares the
 * registry's. */
TCALL_SHARED_ void tcall_order_begin_(tcall_ctx *cx)
{
    const tcall *tc = cx->tc;
    const tcall_tool *tool = cx->call->tool;
    cx->order = &tc->order;
    if (tool && tool->hook_count && tc->orders)
        cx->order = &tc->orders[tool - tc->desc.tools];
}

/* Moves *at past the hooks of earlier stages. */
static void tcall_hook_seek_(const tcall_ctx *cx, int stage, uint16_t *at)
{
    while (*at < cx->order->count && cx->order->hooks[*at]->stage < stage)
        ++*at;
}

/* Returns the hook at a place where it belongs to the stage, else NULL. */
static const tcall_hook *tcall_hook_at_(const tcall_ctx *cx, int stage,
                                        size_t place)
{
    const tcall_hook *hook =
        place < cx->order->count ? cx->order->hooks[place] : NULL;
    return hook && hook->stage == stage ? hook : NULL;
}

/* ---- hooks that acquire and hooks that release ---- */

static bool tcall_acquires_(const tcall_hook *hook)
{
    return hook->stage == TCALL_WILL_ACQUIRE_QUOTA ||
           hook->stage == TCALL_WILL_ACQUIRE_SEMAPHORE;
}

static bool tcall_releases_(const tcall_hook *hook)
{
    return hook->stage == TCALL_DID_RELEASE_QUOTA ||
           hook->stage == TCALL_DID_RELEASE_SEMAPHORE;
}

/* Returns the stage that acquires what a hook at a release stage releases. */
static int tcall_acquired_at_(const tcall_hook *hook)
{
    return hook->stage == TCALL_DID_RELEASE_QUOTA
               ? TCALL_WILL_ACQUIRE_QUOTA
               : TCALL_WILL_ACQUIRE_SEMAPHORE;
}

/* Returns the bit in cx->held of a hook that acquires, or the bits of those
 * that the given hook may release: the ones with the same user. */
static uint32_t tcall_holders_(const tcall_ctx *cx, const tcall_hook *own)
{
    bool releases = tcall_releases_(own);
    uint32_t bits = 0, bit = 1;
    uint16_t place;
    for (place = 0; place < cx->order->count; place++) {
        const tcall_hook *hook = cx->order->hooks[place];
        if (hook->stage > TCALL_WILL_ACQUIRE_SEMAPHORE)
            break;
        if (!tcall_acquires_(hook))
            continue;
        if (releases ? hook->stage == tcall_acquired_at_(own) &&
                           hook->user == own->user
                     : hook == own)
            bits |= bit;
        bit <<= 1;
    }
    return bits;
}

/* Notes that a hook has acquired something; there are bits for 32 of them. */
static int tcall_hold_(tcall_ctx *cx, const tcall_hook *hook)
{
    uint32_t bits = tcall_holders_(cx, hook);
    cx->held |= bits;
    return bits ? TCALL_OK : TCALL_E_LIMIT;
}

/* Returns false when a hook has nothing to release: hooks with its user might
 * have acquired something, and none did. Each release takes one bit back. */
static bool tcall_unhold_(tcall_ctx *cx, const tcall_hook *hook)
{
    uint32_t bits = tcall_holders_(cx, hook);
    if (bits && !(cx->held & bits))
        return false;
    bits &= cx->held;
    cx->held &= ~(bits & (0 - bits)); /* the lowest */
    return true;
}

/* ---- one stage ---- */

/* The hook's filter lets it run, and what it releases was acquired. */
static bool tcall_hook_due_(tcall_ctx *cx, const tcall_hook *hook)
{
    if (hook->filter && !hook->filter(cx, hook->user))
        return false;
    return !tcall_releases_(hook) || tcall_unhold_(cx, hook);
}

/* True for stages whose hooks no longer decide what becomes of the call. */
static bool tcall_only_told_(int stage)
{
    return stage == TCALL_ON_GIVE_UP || stage >= TCALL_ON_ERROR;
}

/* Reports a hook that failed and does not fail the call. */
TCALL_NOINLINE_ static void tcall_tell_hook_(tcall_ctx *cx, int error)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.call = cx->call;
    event.error = error;
    event.text = tcall_str_of(cx->hook->name);
    tcall_tell_(cx->tc, &event, TCALL_EVENT_HOOK);
}

/* Says how a hook ended: whether it may wait, and who failed. */
static int tcall_hook_ended_(tcall_ctx *cx, int r)
{
    const tcall_hook *hook = cx->hook;
    if (tcall_waits_(r) && tcall_has_run_(cx))
        r = tcall_output_hold_(cx, r);
    if (r >= 0 || tcall_waits_(r))
        return r;
    if (tcall_only_told_(hook->stage)) {
        tcall_tell_hook_(cx, r);
        return TCALL_OK;
    }
    if (hook->stage != TCALL_AROUND_EXECUTE && !cx->failure.by)
        cx->failure.by = hook->name;
    tcall_note_failure_(cx, r);
    return r;
}

static int tcall_hook_run_(tcall_ctx *cx, const tcall_hook *hook)
{
    const tcall_hook *around = cx->hook;
    int r;
    cx->hook = hook;
    r = tcall_hook_ended_(cx, tcall_outcome_(cx, hook->run(cx, hook->user)));
    cx->hook = around;
    if (r == TCALL_OK && cx->state == TCALL_GOING_ && tcall_acquires_(hook))
        r = tcall_hold_(cx, hook);
    return r;
}

/* Runs the hooks of a stage from place *at on; returns their first error. One
 * that waits is the next again. An error, or an answer, ends the stage, unless
 * it is one of those that see every call. */
static int tcall_hooks_(tcall_ctx *cx, int stage, uint16_t *at)
{
    const tcall_hook *hook;
    int r = TCALL_OK, state = cx->state;
    uint8_t outer = cx->stage;
    bool all = stage >= TCALL_ON_ERROR;
    cx->stage = (uint8_t)stage;
    tcall_hook_seek_(cx, stage, at);
    for (; (hook = tcall_hook_at_(cx, stage, *at)) != NULL; ++*at) {
        if (tcall_hook_due_(cx, hook))
            r = tcall_hook_run_(cx, hook);
        if (r < 0 || (cx->state != state && !all))
            break;
    }
    cx->stage = outer;
    return r;
}

/* ---- attempts ---- */

/* Asks for approval once more, where hooks at WILL_EXECUTE have changed the
 * arguments. */
static int tcall_approve_again_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    int r = call->error;
    if (r == TCALL_OK && !call->approved && tcall_needs_approval_(call))
        r = tcall_hooks_(cx, TCALL_WILL_CHECK_CONSENT, &cx->next_inner);
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_consent_(cx);
    return r;
}

/* Begins an attempt: *r is TCALL_OK where it may go on, else the result. False
 * when the tool must not run a second time; the first result stays. */
static bool tcall_attempt_begin_(tcall_ctx *cx, int *r)
{
    cx->attempt++;
    *r = tcall_must_end_(cx);
    if (*r == TCALL_OK && cx->tool_ran && !tcall_repeatable_(cx)) {
        *r = cx->last_attempt;
        return false;
    }
    if (*r < 0)
        return false;
    tcall_output_clear_(cx);
    cx->next_inner = 0;
    cx->run_step = TCALL_RUN_HOOKS_;
    if (cx->attempt > 1) {
        cx->run_step = TCALL_RUN_RETRY_;
        tcall_tell_call_(cx->call, TCALL_EVENT_RETRY, cx->failure.reason);
    }
    return true;
}

/* Does one step of what comes before the tool: hooks at ON_RETRY, which see how
 * the last attempt failed, those at WILL_EXECUTE, and approval. */
static int tcall_attempt_step_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    switch (cx->run_step) {
    case TCALL_RUN_RETRY_:
        r = tcall_hooks_(cx, TCALL_ON_RETRY, &cx->next_inner);
        if (r == TCALL_OK && cx->state == TCALL_GOING_)
            memset(&cx->failure, 0, sizeof cx->failure);
        return r;
    case TCALL_RUN_HOOKS_:
        return tcall_hooks_(cx, TCALL_WILL_EXECUTE, &cx->next_inner);
    default: return tcall_approve_again_(cx);
    }
}

static int tcall_attempt_prepare_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    while (r == TCALL_OK && cx->state == TCALL_GOING_ &&
           cx->run_step < TCALL_RUN_BEGIN_) {
        r = tcall_attempt_step_(cx);
        if (r == TCALL_OK) {
            cx->run_step++;
            cx->next_inner = 0;
        }
    }
    return r;
}

/* Runs the tool, and once that has ended well what comes after it. */
static int tcall_attempt_run_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    if (cx->run_step != TCALL_RUN_DID_) {
        r = tcall_run_(cx);
        if (r < 0)
            return r;
        cx->run_step = TCALL_RUN_DID_;
        cx->next_inner = 0;
    }
    if (cx->state == TCALL_GOING_)
        r = tcall_hooks_(cx, TCALL_DID_EXECUTE, &cx->next_inner);
    return r;
}

/* Makes one attempt, or goes on with the one that waits. */
static int tcall_attempt_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    if (cx->run_step == TCALL_RUN_NOT_ && !tcall_attempt_begin_(cx, &r))
        return cx->last_attempt = r;
    if (cx->run_step < TCALL_RUN_BEGIN_)
        r = tcall_attempt_prepare_(cx);
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_attempt_run_(cx);
    if (tcall_waits_(r))
        return r;
    cx->run_step = TCALL_RUN_NOT_;
    tcall_note_failure_(cx, r);
    return cx->last_attempt = r;
}

/* Returns the next hook around the run, or NULL. */
static const tcall_hook *tcall_around_next_(tcall_ctx *cx)
{
    const tcall_hook *hook;
    tcall_hook_seek_(cx, TCALL_AROUND_EXECUTE, &cx->next_around);
    do
        hook = tcall_hook_at_(cx, TCALL_AROUND_EXECUTE, cx->next_around++);
    while (hook && !tcall_hook_due_(cx, hook));
    return hook;
}

int tcall_next(tcall_ctx *cx)
{
    const tcall_hook *hook;
    uint16_t here = cx->next_around;
    uint8_t depth = cx->around_depth;
    int r;
    if (cx->stage != TCALL_AROUND_EXECUTE || cx->state != TCALL_GOING_ ||
        depth > TOOLCALL_MAX_AROUND) {
        cx->attempt++; /* a hook that repeats this until it works, ends */
        return TCALL_E_USAGE;
    }
    hook = tcall_around_next_(cx);
    /* The tool, and hooks that are not around it, are not to call this. */
    cx->around_depth =
        hook ? (uint8_t)(depth + 1) : (uint8_t)(TOOLCALL_MAX_AROUND + 1);
    r = hook ? tcall_hook_run_(cx, hook) : tcall_attempt_(cx);
    cx->around_depth = depth;
    cx->next_around = here;
    return r;
}

/* Runs the tool inside of the hooks around it, which do not overcome its
 * failure by keeping silent about it. After the last attempt, be it the only
 * one, hooks may still answer. */
static int tcall_around_(tcall_ctx *cx)
{
    int r;
    if (!cx->gave_up) {
        r = tcall_next(cx);
        if (tcall_waits_(r) && tcall_must_end_(cx) < 0)
            r = tcall_run_(cx); /* a hook waits on: the tool is told */
        if (tcall_waits_(r))
            return r;
        if (r == TCALL_OK && cx->state == TCALL_GOING_)
            r = cx->last_attempt;
        if (r == TCALL_OK || !cx->attempt)
            return r;
        tcall_note_failure_(cx, r);
        cx->gave_up = true;
        cx->next_inner = 0;
    }
    r = tcall_hooks_(cx, TCALL_ON_GIVE_UP, &cx->next_inner);
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = cx->failure.error;
    return r;
}

/* Runs the hooks of the stage at hand; with those around it, the tool. */
TCALL_SHARED_ int tcall_run_hooks_(tcall_ctx *cx)
{
    if (cx->stage == TCALL_AROUND_EXECUTE)
        return tcall_around_(cx);
    if (!(cx->order->stages >> cx->stage & 1))
        return TCALL_OK;
    return tcall_hooks_(cx, cx->stage, &cx->next_hook);
}

#else

TCALL_SHARED_ void tcall_order_begin_(tcall_ctx *cx)
{
    (void)cx;
}

TCALL_SHARED_ int tcall_run_hooks_(tcall_ctx *cx)
{
    (void)cx;
    return TCALL_OK;
}

#endif
