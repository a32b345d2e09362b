#pragma once
#include "stages.h"
#include "result.c"

/* ==========================================================================
 * >>stages
 */

/* ---- what the library itself does at stages ---- */

/* Told once when it is asked for and once when it is decided. */
TCALL_SHARED_ void tcall_tell_verdict_(tcall_ctx *cx, tcall_verdict verdict)
{
    tcall_event event;
    bool asked = cx->asked;
    cx->asked = verdict == TCALL_VERDICT_LATER;
    if (asked == cx->asked)
        return;
    memset(&event, 0, sizeof event);
    event.call = cx->call;
    event.verdict = (int)verdict;
    tcall_tell_(cx->tc, &event,
                cx->asked ? TCALL_EVENT_APPROVAL : TCALL_EVENT_VERDICT);
}

TCALL_SHARED_ bool tcall_must_ask_(const tcall_call *call)
{
    const tcall_tool *tool = call->tool;
    bool reads = tool->permissions == TCALL_READ;
    if (tool->confirm || call->cx.asks || (call->repaired && !reads))
        return true;
    if (tool->parameters || tool->no_schema_mode == TCALL_NO_SCHEMA_FULL)
        return false;
    return !reads || tool->no_schema_mode != TCALL_NO_SCHEMA_READ_ONLY;
}

static int tcall_consent_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    const tcall_desc *d = &cx->tc->desc;
    tcall_verdict verdict = TCALL_VERDICT_DENY;
    if (call->error < 0 || (!tcall_must_ask_(call) && !cx->asked))
        return TCALL_OK;
    if (!call->approved) {
        tcall_tell_verdict_(cx, TCALL_VERDICT_LATER);
        if (d->approve)
            verdict = d->approve(d->user, call);
        if (verdict == TCALL_VERDICT_LATER)
            return TCALL_E_APPROVAL;
        call->approved = verdict == TCALL_VERDICT_ALLOW;
    }
    tcall_tell_verdict_(cx, call->approved ? TCALL_VERDICT_ALLOW
                                           : TCALL_VERDICT_DENY);
    return call->approved ? TCALL_OK : TCALL_E_DENIED;
}

/* The tool once, or on; what it wrote of no use is taken back. */
static int tcall_run_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    uint32_t before = tcall_now_(cx->tc);
    const tcall_hook *outer = cx->hook;
    int over = tcall_over_(cx), r;
    if (over < 0) {
        if (cx->phase != TCALL_RUN_POLLED_)
            return over;
        cx->stop = over;
    }
    cx->begun = true;
    cx->hook = NULL;
    cx->out->last = 0;
    r = tcall_came_(cx, call->tool->run(cx, call->args, cx->out));
    cx->hook = outer;
    call->run_ms += tcall_now_(cx->tc) - before;
    cx->phase = r == TCALL_E_AGAIN      ? TCALL_RUN_POLLED_
                : r == TCALL_E_APPROVAL ? TCALL_RUN_BEGIN_
                                        : TCALL_RUN_NOT_;
    if (over < 0 || tcall_waits_(r)) {
        tcall_take_back_(cx);
        return over < 0 ? over : r;
    }
    if (r == TCALL_OK || (r == TCALL_E_MEMORY && cx->out->error == r))
        return tcall_write_cut_(cx); /* what does not fit */
    if (!cx->reason.len && !cx->by)
        cx->reason = tcall_output(cx);
    return r;
}

/* ---- hooks ---- */

/* Those of the registry, then those of the tool; NULL: there are no more. */
static const tcall_hook *tcall_hook_(const tcall_ctx *cx, size_t i)
{
    const tcall_desc *d = &cx->tc->desc;
    const tcall_tool *tool = cx->call->tool;
    if (i < d->hook_count)
        return &d->hooks[i];
    i -= d->hook_count;
    return tool && i < tool->hook_count ? &tool->hooks[i] : NULL;
}

static bool tcall_acquires_(const tcall_hook *h)
{
    return h->stage == TCALL_WILL_ACQUIRE_QUOTA ||
           h->stage == TCALL_WILL_ACQUIRE_SEMAPHORE;
}

/* The bits in cx->held of a hook that acquires, or of those that one which
 * releases has to do with: the stages of both lie like mirror images. */
static uint32_t tcall_holders_(const tcall_ctx *cx, const tcall_hook *own)
{
    const int mirror = TCALL_WILL_ACQUIRE_QUOTA + TCALL_DID_RELEASE_QUOTA;
    const tcall_hook *h;
    uint32_t bits = 0, bit = 1;
    size_t i;
    for (i = 0; (h = tcall_hook_(cx, i)) != NULL; i++)
        if (tcall_acquires_(h)) {
            if (h == own ||
                (h->stage + own->stage == mirror && h->user == own->user))
                bits |= bit;
            bit <<= 1;
        }
    return bits;
}

/* The hook's filter lets it run, and what it releases was acquired. */
static bool tcall_hook_due_(tcall_ctx *cx, const tcall_hook *h)
{
    uint32_t bits;
    if (h->filter && !h->filter(cx, h->user))
        return false;
    if (h->stage != TCALL_DID_RELEASE_SEMAPHORE &&
        h->stage != TCALL_DID_RELEASE_QUOTA)
        return true;
    bits = tcall_holders_(cx, h);
    if (bits && !(cx->held & bits))
        return false;
    bits &= cx->held;
    cx->held &= ~(bits & (0 - bits)); /* one for one */
    return true;
}

/* The next hook of a stage from the place *at on; *at is then behind it. */
static const tcall_hook *tcall_hook_next_(tcall_ctx *cx, int stage,
                                          uint32_t *at)
{
    const tcall_hook *h, *best;
    do {
        uint32_t least = UINT32_MAX;
        size_t i;
        best = NULL;
        for (i = 0; (h = tcall_hook_(cx, i)) != NULL; i++) {
            int order = -1 - h->priority;
            uint32_t place;
            if (h->stage != stage)
                continue;
            if (tcall_due_[stage] & TCALL_LATE_)
                order = h->priority;
            place = (uint32_t)(order + 0x8000) << 16 | (uint32_t)i;
            if (place >= *at && place < least) {
                least = place;
                best = h;
            }
        }
        *at = best ? least + 1 : *at;
    } while (best && !tcall_hook_due_(cx, best));
    return best;
}

static int tcall_hook_run_(tcall_ctx *cx, const tcall_hook *h)
{
    const tcall_hook *outer = cx->hook;
    int state = cx->state, r;
    cx->hook = h;
    r = tcall_came_(cx, h->run(cx, h->user));
    cx->hook = outer;
    if (tcall_waits_(r) &&
        (state != TCALL_GOING_ || h->stage > TCALL_WILL_EXECUTE))
        r = TCALL_E_USAGE; /* the output is there, nobody may wait */
    if (r < 0 && !tcall_waits_(r) && state != TCALL_FAILED_ && !cx->by &&
        h->stage != TCALL_AROUND_EXECUTE)
        cx->by = h->name;
    if (r == TCALL_OK && cx->state == TCALL_GOING_ && tcall_acquires_(h)) {
        uint32_t bits = tcall_holders_(cx, h);
        cx->held |= bits;
        if (!bits)
            r = TCALL_E_LIMIT; /* more than 32 of them */
    }
    return r;
}

/* All hooks of a stage from the place *at on; the first error of them. */
static int tcall_hooks_(tcall_ctx *cx, int stage, uint32_t *at)
{
    const tcall_hook *h;
    int first = TCALL_OK, state = cx->state;
    uint32_t here;
    if (!(cx->hooked >> stage & 1))
        return TCALL_OK;
    while (here = *at, (h = tcall_hook_next_(cx, stage, at)) != NULL) {
        int r = tcall_hook_run_(cx, h);
        if (tcall_waits_(r)) {
            *at = here;
            return r;
        }
        if (first == TCALL_OK)
            first = r;
        if (!(tcall_due_[stage] & TCALL_FAILED_) &&
            (r < 0 || cx->state != state))
            break;
    }
    return first;
}

/* The tool has no second effect when it runs once more for this call. */
TCALL_SHARED_ bool tcall_repeatable_(const tcall_tool *tool)
{
    return tool->idempotent ||
           (tcall_needs_(tool) & ~(unsigned)TCALL_NETWORK) == TCALL_READ;
}

/* The same for a stage whose hooks do not wait. */
static int tcall_hooks_all_(tcall_ctx *cx, int stage)
{
    uint32_t at = 0;
    return tcall_hooks_(cx, stage, &at);
}

/* Approval once more, for what WILL_EXECUTE made of the arguments. */
static int tcall_agreed_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    int r = call->error;
    if (r == TCALL_OK && !call->approved && tcall_must_ask_(call))
        r = tcall_hooks_(cx, TCALL_WILL_CHECK_CONSENT, &cx->inner);
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_consent_(cx);
    return r;
}

/* One attempt, from where it stands. */
static int tcall_attempt_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    if (cx->phase == TCALL_RUN_NOT_) {
        cx->attempt++;
        r = tcall_over_(cx);
        if (r < 0)
            return cx->ran = r;
        if (cx->begun && !tcall_repeatable_(cx->call->tool))
            return cx->ran;
        tcall_take_back_(cx);
        cx->reason.len = 0;
        cx->by = NULL;
        cx->inner = 0;
        if (cx->attempt > 1) {
            tcall_tell_call_(cx->call, TCALL_EVENT_RETRY,
                             tcall_slice_(NULL, 0));
            r = tcall_hooks_all_(cx, TCALL_ON_RETRY);
        }
        cx->phase = TCALL_RUN_WILL_;
    }
    while (r == TCALL_OK && cx->state == TCALL_GOING_ &&
           cx->phase < TCALL_RUN_BEGIN_) {
        r = cx->phase == TCALL_RUN_WILL_
                ? tcall_hooks_(cx, TCALL_WILL_EXECUTE, &cx->inner)
                : tcall_agreed_(cx);
        if (r == TCALL_OK) {
            cx->phase++;
            cx->inner = 0;
        }
    }
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_run_(cx);
    if (tcall_waits_(r))
        return r;
    cx->phase = TCALL_RUN_NOT_;
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_hooks_all_(cx, TCALL_DID_EXECUTE);
    return cx->ran = r;
}

int tcall_next(tcall_ctx *cx)
{
    const tcall_hook *h;
    uint32_t here = cx->around;
    uint8_t depth = cx->depth;
    int r;
    if (cx->stage != TCALL_AROUND_EXECUTE || cx->state != TCALL_GOING_ ||
        depth > TOOLCALL_MAX_AROUND)
        return cx->attempt++, TCALL_E_USAGE; /* who loops for it, ends */
    h = tcall_hook_next_(cx, TCALL_AROUND_EXECUTE, &cx->around);
    /* The tool, and hooks that are not around it, are not to call this. */
    cx->depth = h ? (uint8_t)(depth + 1) : TOOLCALL_MAX_AROUND + 1;
    r = h ? tcall_hook_run_(cx, h) : tcall_attempt_(cx);
    cx->depth = depth;
    cx->around = here;
    return r;
}

/* Hooks around the run do not overcome its failure by keeping silent. */
static int tcall_around_(tcall_ctx *cx)
{
    int r = tcall_next(cx);
    if (tcall_waits_(r))
        return r;
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = cx->ran;
    if (r < 0 && cx->attempt > 1) {
        tcall_hooks_all_(cx, TCALL_ON_GIVE_UP);
        if (cx->state != TCALL_GOING_)
            r = TCALL_OK;
    }
    return r;
}

TCALL_SHARED_ int tcall_run_hooks_(tcall_ctx *cx)
{
    const tcall_hook *h;
    size_t i;
    for (i = 0; !cx->mapped && (h = tcall_hook_(cx, i)) != NULL; i++)
        cx->hooked |= (uint32_t)1 << (h->stage & 31);
    cx->mapped = true;
    return cx->stage == TCALL_AROUND_EXECUTE
               ? tcall_around_(cx)
               : tcall_hooks_(cx, cx->stage, &cx->at);
}

/* The result so far as a value in the block. */
TCALL_APART_ static int tcall_output_read_(tcall_ctx *cx, tcall_json *value)
{
    tcall_block *b = &cx->tc->block;
    tcall_str text = tcall_output(cx);
    size_t need = 0, size;
    char *copy = (char *)tcall_block_take_(b, text.len + 1);
    tcall_tok *tok;
    int r;
    if (!copy)
        return TCALL_E_MEMORY;
    memcpy(copy, text.ptr, text.len);
    tok = (tcall_tok *)(void *)tcall_hydrate_gap_(b, 0, &size);
    r = tcall_json_parse(value, copy, text.len, tok, size / sizeof *tok, &need);
    if (r < 0 && r != TCALL_E_MEMORY)
        return TCALL_E_OUTPUT;
    value->tok = (const tcall_tok *)(const void *)tcall_hydrate_hold_(
        b, (const char *)tok, (r < 0 ? need : (size_t)r) * sizeof *tok);
    return value->tok ? TCALL_OK : TCALL_E_MEMORY;
}

/* What this takes of the block is given back by its caller. */
static int tcall_output_check_(tcall_ctx *cx)
{
    tcall *tc = cx->tc;
    tcall_schema *schema =
        (tcall_schema *)tcall_block_take_(&tc->block, sizeof *schema);
    tcall_check check;
    tcall_json value;
    int r = schema ? tcall_output_read_(cx, &value) : TCALL_E_MEMORY;
    if (r == TCALL_OK)
        r = tcall_hydrate_compile_(tc, schema, cx->call->tool->output);
    if (r < 0)
        return r;
    memset(&check, 0, sizeof check);
    r = tcall_hydrate_run_(&tc->block, schema, value, &check);
    return r == TCALL_E_INVALID ? TCALL_E_OUTPUT : r;
}

/* Holds the output against tool->output. */
TCALL_SHARED_ int tcall_check_output_(tcall_ctx *cx)
{
    size_t high = cx->tc->block.high;
    int r = tcall_output_check_(cx);
    cx->tc->block.high = high;
    return r;
}
