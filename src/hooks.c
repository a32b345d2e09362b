#pragma once
#include "hooks.h"
#include "hash.c"
#include "invoke.c"

/* ==========================================================================
 * >>hooks
 */

#ifndef TOOLCALL_NO_HOOKS

/* ---- rate, limit, time-out ---- */

int tcall_rate_run_(tcall_ctx *cx, void *user)
{
    tcall_rate *r = (tcall_rate *)user;
    uint32_t now = tcall_now_(cx->tc),
             each = r->interval_ms ? r->interval_ms : 1;
    while (r->used && now - r->since >= each) {
        r->used--;
        r->since += each;
    }
    if (!r->used)
        r->since = now;
    if (r->used >= r->burst)
        return tcall_retry_after(cx, each - (now - r->since),
                                 "too many calls: wait");
    r->used++;
    return TCALL_OK;
}

int tcall_limit_acquire_(tcall_ctx *cx, void *user)
{
    tcall_concurrency *l = (tcall_concurrency *)user;
    (void)cx;
    if (l->now >= l->max)
        return TCALL_E_AGAIN;
    l->now++;
    return TCALL_OK;
}

int tcall_limit_release_(tcall_ctx *cx, void *user)
{
    (void)cx;
    ((tcall_concurrency *)user)->now--;
    return TCALL_OK;
}

int tcall_timeout_run_(tcall_ctx *cx, void *ms)
{
    tcall_deadline(cx, (uint32_t)(uintptr_t)ms);
    return TCALL_OK;
}

/* ---- cache ---- */

/* In front of each text; entries lie one behind the other, oldest first. */
typedef struct tcall_cached_ {
    uint64_t key;
    uint32_t made;
    uint32_t len;
} tcall_cached_;

static bool tcall_cache_key_(tcall_ctx *cx, uint64_t *key)
{
    const tcall_session *s = cx->session;
    if (tcall_needs_(cx->call->tool) &
            ~(unsigned)(TCALL_READ | TCALL_NETWORK) ||
        tcall_hash_call_(cx->tc, cx->call, key) < 0)
        return false;
    *key += tcall_hash_text_(cx->tc, 2, s ? s->user : tcall_str_of(""));
    *key += tcall_hash_text_(cx->tc, 3, s ? s->id : tcall_str_of(""));
    return true;
}

static void tcall_cache_drop_(tcall_cache *c, size_t at)
{
    tcall_cached_ e;
    size_t n;
    memcpy(&e, c->memory + at, sizeof e);
    n = sizeof e + e.len;
    memmove(c->memory + at, c->memory + at + n, c->used - at - n);
    c->used -= n;
}

int tcall_cache_read_(tcall_ctx *cx, void *user)
{
    tcall_cache *c = (tcall_cache *)user;
    tcall_cached_ e;
    uint64_t key;
    size_t at = 0;
    if (!tcall_cache_key_(cx, &key))
        return TCALL_OK;
    while (at < c->used) {
        memcpy(&e, c->memory + at, sizeof e);
        if (c->max_age_ms && tcall_now_(cx->tc) - e.made > c->max_age_ms) {
            tcall_cache_drop_(c, at);
            continue;
        }
        at += sizeof e;
        if (e.key == key)
            return tcall_respond(cx, tcall_slice_(c->memory + at, e.len));
        at += e.len;
    }
    return TCALL_OK;
}

int tcall_cache_write_(tcall_ctx *cx, void *user)
{
    tcall_cache *c = (tcall_cache *)user;
    tcall_str text = tcall_output(cx);
    tcall_cached_ e;
    if (cx->state != TCALL_GOING_ || text.len > c->size ||
        sizeof e + text.len > c->size || !tcall_cache_key_(cx, &e.key))
        return TCALL_OK;
    while (c->used + sizeof e + text.len > c->size)
        tcall_cache_drop_(c, 0);
    e.made = tcall_now_(cx->tc);
    e.len = (uint32_t)text.len;
    memcpy(c->memory + c->used, &e, sizeof e);
    if (text.len)
        memcpy(c->memory + c->used + sizeof e, text.ptr, text.len);
    c->used += sizeof e + text.len;
    return TCALL_OK;
}

/* ---- retry ---- */

/* An error that may be gone the next time. */
static bool tcall_passes_(int error)
{
    switch (error) {
    case TCALL_E_FAILED:
    case TCALL_E_OVERLOAD:
    case TCALL_E_RATE:
    case TCALL_E_RESOLVE:
    case TCALL_E_CONNECT:
    case TCALL_E_CLOSED:
    case TCALL_E_PROTOCOL: return true;
    default: return false;
    }
}

typedef struct tcall_pause_ {
    uint32_t ms, since;
} tcall_pause_;

int tcall_retry_around_(tcall_ctx *cx, void *user)
{
    const tcall_backoff *retry = (const tcall_backoff *)user;
    tcall_pause_ *s;
    bool timed = cx->tc->desc.now_ms != NULL;
    int r;
    s = (tcall_pause_ *)tcall_scratch(cx, "retry", sizeof *s);
    if (!s)
        return TCALL_E_MEMORY;
    for (;;) {
        if (s->ms && timed && tcall_now_(cx->tc) - s->since < s->ms)
            return TCALL_E_AGAIN;
        r = tcall_next(cx);
        if (!tcall_passes_(r) || cx->attempt >= retry->attempts ||
            !tcall_repeatable_(cx->call->tool))
            return r;
        s->ms = s->ms ? s->ms * 2 : retry->first_ms;
        if (retry->max_ms && s->ms > retry->max_ms)
            s->ms = retry->max_ms;
        if (cx->retry_ms > s->ms)
            s->ms = cx->retry_ms;
        s->since = tcall_now_(cx->tc);
    }
}

/* ---- audit ---- */

int tcall_audit_run_(tcall_ctx *cx, void *user)
{
    const tcall_audit *a = (const tcall_audit *)user;
    const tcall_call *call = cx->call;
    char buf[64];
    tcall_writer w;
    tcall_writer_init(&w, buf, sizeof buf);
    tcall_writer_sink(&w, a->sink, a->user);
    tcall_write_open(&w, '{');
    tcall_write_pair_(&w, "call_id", call->id);
    tcall_write_pair_(&w, "tool", call->name);
    if (cx->session) {
        tcall_write_pair_(&w, "session", cx->session->id);
        tcall_write_pair_(&w, "request", cx->session->request);
        tcall_write_pair_(&w, "agent", cx->session->agent);
        tcall_write_pair_(&w, "user", cx->session->user);
    }
    tcall_write_key(&w, "arguments");
    if (call->args.tok)
        tcall_write_json(&w, call->args);
    else
        tcall_write_str(&w, call->arguments);
    tcall_write_key(&w, "attempts");
    tcall_write_int(&w, cx->attempt);
    tcall_write_key(&w, "ms");
    tcall_write_int(&w, (long)(tcall_now_(cx->tc) - cx->started));
    tcall_write_texts_(&w, "'approved':%,'outcome':'%'",
                       call->approved ? "true" : "false",
                       tcall_error_code(cx->error));
    if (cx->reason.len)
        tcall_write_pair_(&w, "reason", cx->reason);
    tcall_write_text(&w, "}\n");
    return tcall_writer_flush(&w);
}

/* ---- ledger ---- */

enum {
    TCALL_ASKED_ = 1,
    TCALL_GRANTED_,
    TCALL_REFUSED_,
    TCALL_SPENT_, /* the verdict was used */
    TCALL_RAN_
};

static tcall_ledger_row *tcall_ticket_(const tcall_ledger *l, uint64_t id)
{
    size_t i;
    for (i = 0; i < l->count; i++)
        if (l->rows[i].state && l->rows[i].id == id)
            return &l->rows[i];
    return NULL;
}

/* A new row, in place of the first that is free or needed no more. */
static tcall_ledger_row *tcall_ticket_add_(tcall_ledger *l, uint64_t id)
{
    tcall_ledger_row *last = l->rows + l->count;
    size_t i, n;
    for (i = 0; i < l->count; i++)
        if (!l->rows[i].state || l->rows[i].state >= TCALL_REFUSED_)
            break;
    n = l->count - i;
    if (!n)
        return NULL;
    memmove(&l->rows[i], &l->rows[i + 1], (n - 1) * sizeof *last);
    last--;
    memset(last, 0, sizeof *last);
    last->id = id;
    return last;
}

/* Behind tcall_ledger_once_ a row stays TCALL_RAN_ whatever is decided later;
 * cx->ledger_used tells that it was this call which spent the row. */
int tcall_ledger_consent_(tcall_ctx *cx, void *user)
{
    tcall_ledger *l = (tcall_ledger *)user;
    tcall_call *call = cx->call;
    const tcall_desc *d = &cx->tc->desc;
    tcall_ledger_row *t;
    uint64_t what, id = tcall_hash_text_(cx->tc, 4, call->id);
    bool same, over;
    int r;
    if (call->error < 0 || call->approved || !tcall_needs_approval_(call))
        return TCALL_OK;
    r = tcall_hash_call_(cx->tc, call, &what);
    if (r < 0)
        return r;
    t = tcall_ticket_(l, id);
    same = t && t->what == what;
    over = t && t->state >= TCALL_SPENT_;
    if (over && !cx->ledger_used && (same || t->state == TCALL_RAN_))
        return TCALL_E_TWICE;
    if (same && t->state != TCALL_ASKED_) {
        cx->ledger_used = call->approved = t->state != TCALL_REFUSED_;
        tcall_tell_verdict_(cx, call->approved ? TCALL_VERDICT_ALLOW
                                               : TCALL_VERDICT_DENY);
        t->state = cx->run_step >= TCALL_RUN_APPROVAL_ &&
                           !tcall_repeatable_(call->tool)
                       ? TCALL_RAN_
                       : TCALL_SPENT_;
        return call->approved ? TCALL_OK : TCALL_E_DENIED;
    }
    if ((!t || over) && d->approve) {
        tcall_verdict verdict;
        tcall_tell_verdict_(cx, TCALL_VERDICT_LATER);
        verdict = d->approve(d->user, call);
        if (verdict != TCALL_VERDICT_LATER) {
            tcall_tell_verdict_(cx, verdict);
            call->approved = verdict == TCALL_VERDICT_ALLOW;
            return call->approved ? TCALL_OK : TCALL_E_DENIED;
        }
    }
    if (!t)
        t = tcall_ticket_add_(l, id);
    if (!t)
        return TCALL_E_LIMIT;
    t->what = what;
    t->state = TCALL_ASKED_;
    tcall_tell_verdict_(cx, TCALL_VERDICT_LATER);
    return TCALL_E_APPROVAL;
}

int tcall_ledger_decide(tcall_ledger *ledger, const tcall *tc, tcall_str id,
                        tcall_verdict verdict)
{
    tcall_ledger_row *t = tcall_ticket_(ledger, tcall_hash_text_(tc, 4, id));
    if (!t || t->state != TCALL_ASKED_)
        return TCALL_E_UNKNOWN;
    if (verdict != TCALL_VERDICT_LATER)
        t->state =
            verdict == TCALL_VERDICT_ALLOW ? TCALL_GRANTED_ : TCALL_REFUSED_;
    return TCALL_OK;
}

int tcall_ledger_once_(tcall_ctx *cx, void *user)
{
    tcall_ledger *l = (tcall_ledger *)user;
    uint64_t id = tcall_hash_text_(cx->tc, 4, cx->call->id);
    tcall_ledger_row *t = tcall_ticket_(l, id);
    if (tcall_repeatable_(cx->call->tool))
        return TCALL_OK;
    if (!cx->call->id.len)
        return TCALL_E_USAGE; /* nobody could tell it from another */
    if (!t)
        t = tcall_ticket_add_(l, id);
    if (!t)
        return TCALL_E_LIMIT;
    if (t->state == TCALL_RAN_)
        return TCALL_E_TWICE;
    if (!cx->ledger_used)
        t->what = 0; /* nobody has agreed to this call */
    t->state = TCALL_RAN_;
    cx->ledger_used = true;
    return TCALL_OK;
}

/* A call that ends while it waits is not waited for any more. */
int tcall_ledger_end_(tcall_ctx *cx, void *user)
{
    tcall_ledger_row *t = tcall_ticket_(
        (tcall_ledger *)user, tcall_hash_text_(cx->tc, 4, cx->call->id));
    if (cx->approval_asked && t && t->state < TCALL_SPENT_)
        t->state = cx->tool_ran ? TCALL_RAN_ : 0;
    return TCALL_OK;
}

/* ---- loops ---- */

void tcall_loops_new_turn(tcall_loops *loops)
{
    loops->turn = 0;
}

static int tcall_loop_(tcall_ctx *cx, const char *reason)
{
    tcall_abort(cx, reason, NULL, 0);
    cx->result.suggestion = "do something else, or ask the user";
    return TCALL_E_LOOP;
}

int tcall_loops_run_(tcall_ctx *cx, void *user)
{
    tcall_loops *l = (tcall_loops *)user;
    const tcall_call *call = cx->call;
    uint64_t tool = tcall_hash_text_(cx->tc, 5, call->name), h;
    uint64_t *s = l->seen;
    int i, r;
    if (call->error < 0) {
        l->refusals = l->refused == tool ? (uint8_t)(l->refusals + 1) : 1;
        l->refused = tool;
        if (l->refusals < 3)
            return TCALL_OK;
        l->refusals = 0;
        return tcall_loop_(cx, "refused again and again");
    }
    if (l->refused == tool)
        l->refusals = 0;
    r = tcall_hash_call_(cx->tc, call, &h);
    if (r < 0 || call->tool->allow_repeat)
        return r;
    for (i = 0; i < l->turn; i++)
        if (s[i] == h)
            return tcall_respond(
                cx, tcall_str_of("Made before in this turn: use that result."));
    if (s[1] == h && (s[0] == h || (s[3] == h && s[0] == s[2])))
        return tcall_loop_(cx, "the same calls come again and again");
    memmove(s + 1, s, sizeof l->seen - sizeof *s);
    s[0] = h;
    if (l->turn < TCALL_ARRAY_LEN(l->seen))
        l->turn++;
    return TCALL_OK;
}

#endif
