#pragma once
#include "hooks.h"
#include "invoke.c"

/* ==========================================================================
 * >>hooks
 */

/* ---- rate, limit, time-out ---- */

/* Fails the call where a hook cannot do what it is there for: the developer
 * reads what is missing. */
static int tcall_hook_lacks_(tcall_ctx *cx, const char *what)
{
    tcall_abort(cx, what, NULL, 0);
    return TCALL_E_USAGE;
}

static int tcall_hook_clock_(tcall_ctx *cx)
{
    return cx->tc->desc.now_ms
               ? TCALL_OK
               : tcall_hook_lacks_(cx, "needs a clock: set tcall_desc.now_ms");
}

/* Each interval gives one call back, up to all of them. */
int tcall_rate_run_(tcall_ctx *cx, void *user)
{
    tcall_rate *rate = (tcall_rate *)user;
    uint32_t now = tcall_now_(cx->tc),
             interval = rate->interval_ms ? rate->interval_ms : 1;
    if (!rate->burst)
        return tcall_hook_lacks_(cx, "lets no call run: set its burst");
    if (tcall_hook_clock_(cx) < 0)
        return TCALL_E_USAGE;
    while (rate->used && now - rate->since >= interval) {
        rate->used--;
        rate->since += interval;
    }
    if (!rate->used)
        rate->since = now;
    if (rate->used >= rate->burst)
        return tcall_retry_after(cx, interval - (now - rate->since),
                                 "too many calls: wait");
    rate->used++;
    return TCALL_OK;
}

/* A call that finds no place waits, and tries again at the next invoke. */
int tcall_limit_acquire_(tcall_ctx *cx, void *user)
{
    tcall_concurrency *limit = (tcall_concurrency *)user;
    if (!limit->max)
        return tcall_hook_lacks_(cx, "lets no call run: set its max");
    if (limit->running >= limit->max)
        return TCALL_E_AGAIN;
    limit->running++;
    return TCALL_OK;
}

int tcall_limit_release_(tcall_ctx *cx, void *user)
{
    (void)cx;
    ((tcall_concurrency *)user)->running--;
    return TCALL_OK;
}

int tcall_timeout_run_(tcall_ctx *cx, void *ms)
{
    tcall_deadline(cx, (uint32_t)(uintptr_t)ms);
    return tcall_hook_clock_(cx);
}

/* ---- cache ---- */

/* The head of an entry, with its text right after it; the oldest come first.
 * Heads are copied out, since they may lie anywhere. */
typedef struct tcall_cached_ {
    uint64_t key;
    uint32_t thing;
    uint32_t made;
    uint32_t len;
} tcall_cached_;

/* Two sessions, or two users of one, do not see each other's results. Returns
 * false for a tool that does more than read: it has to run. */
static bool tcall_cache_key_(tcall_ctx *cx, uint64_t *key)
{
    const tcall_session *session = cx->session;
    *key = tcall_call_what(cx->tc, cx->call);
    if (!*key || tcall_may_(cx->tc, cx->call->tool) &
                     ~(unsigned)(TCALL_READ | TCALL_NETWORK))
        return false;
    if (session)
        *key = tcall_chain_(cx->tc, tcall_chain_(cx->tc, *key, session->user),
                            session->id);
    return true;
}

/* Removes the entry at an offset. */
static void tcall_cache_drop_(tcall_cache *cache, size_t at)
{
    tcall_cached_ entry;
    size_t size;
    memcpy(&entry, cache->memory + at, sizeof entry);
    size = sizeof entry + entry.len;
    memmove(cache->memory + at, cache->memory + at + size,
            cache->used - at - size);
    cache->used -= size;
}

/* Removes what is too old, and what the call may have changed. Returns whether
 * there is an entry of the key, and its text. */
static bool tcall_cache_sweep_(const tcall_ctx *cx, tcall_cache *cache,
                               uint64_t key, tcall_str *text)
{
    uint32_t now = tcall_now_(cx->tc);
    tcall_cached_ entry;
    bool found = false;
    size_t at = 0;
    while (at < cache->used) {
        memcpy(&entry, cache->memory + at, sizeof entry);
        if ((cache->max_age_ms && now - entry.made > cache->max_age_ms) ||
            tcall_changes_(cx, entry.thing)) {
            tcall_cache_drop_(cache, at);
            continue;
        }
        at += sizeof entry;
        if (entry.key == key) {
            *text = tcall_slice_(cache->memory + at, entry.len);
            found = true;
        }
        at += entry.len;
    }
    return found;
}

int tcall_cache_read_(tcall_ctx *cx, void *user)
{
    tcall_cache *cache = (tcall_cache *)user;
    tcall_str text;
    uint64_t key;
    if (cache->max_age_ms && tcall_hook_clock_(cx) < 0)
        return TCALL_E_USAGE;
    return tcall_cache_key_(cx, &key) &&
                   tcall_cache_sweep_(cx, cache, key, &text)
               ? tcall_respond(cx, text)
               : TCALL_OK;
}

/* Only what the tool itself gave is kept, and only where it fits. */
int tcall_cache_write_(tcall_ctx *cx, void *user)
{
    tcall_cache *cache = (tcall_cache *)user;
    tcall_str text = tcall_output(cx);
    tcall_cached_ entry;
    if (cx->state != TCALL_GOING_ || sizeof entry + text.len > cache->size ||
        !tcall_cache_key_(cx, &entry.key))
        return TCALL_OK;
    while (cache->used + sizeof entry + text.len > cache->size)
        tcall_cache_drop_(cache, 0);
    entry.thing = cx->thing;
    entry.made = tcall_now_(cx->tc);
    entry.len = (uint32_t)text.len;
    memcpy(cache->memory + cache->used, &entry, sizeof entry);
    if (text.len)
        memcpy(cache->memory + cache->used + sizeof entry, text.ptr, text.len);
    cache->used += sizeof entry + text.len;
    return TCALL_OK;
}

/* Forgets what the call may have changed. */
int tcall_cache_end_(tcall_ctx *cx, void *cache)
{
    tcall_str text;
    tcall_cache_sweep_(cx, (tcall_cache *)cache, 0, &text);
    return TCALL_OK;
}

/* ---- retry ---- */

/* True for an error that may be gone the next time. */
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

/* The pause before the next attempt; its call keeps it, as the hook is called
 * anew after TCALL_E_AGAIN. */
typedef struct tcall_pause_ {
    uint32_t ms, since;
} tcall_pause_;

/* Makes the next pause twice as long, or as long as the tool asked for. */
static void tcall_pause_next_(tcall_ctx *cx, tcall_pause_ *pause,
                              const tcall_backoff *retry)
{
    pause->ms = pause->ms ? pause->ms * 2 : retry->first_ms;
    if (retry->max_ms && pause->ms > retry->max_ms)
        pause->ms = retry->max_ms;
    if (cx->failure.retry_ms > pause->ms)
        pause->ms = cx->failure.retry_ms;
    pause->since = tcall_now_(cx->tc);
}

int tcall_retry_around_(tcall_ctx *cx, void *user)
{
    const tcall_backoff *retry = (const tcall_backoff *)user;
    tcall_pause_ *pause;
    bool timed = cx->tc->desc.now_ms != NULL;
    uint32_t spent;
    int r;
    pause = (tcall_pause_ *)tcall_scratch(cx, "retry", sizeof *pause);
    if (!pause)
        return TCALL_E_MEMORY;
    for (;;) {
        spent = tcall_now_(cx->tc) - pause->since;
        if (pause->ms && timed && spent < pause->ms)
            return tcall_wait_ms(&cx->wait, pause->ms - spent);
        r = tcall_next(cx);
        if (!tcall_passes_(r) || cx->attempt >= retry->attempts ||
            !tcall_repeatable_(cx))
            return r;
        tcall_pause_next_(cx, pause, retry);
    }
}

/* ---- audit ---- */

int tcall_audit_run_(tcall_ctx *cx, void *user)
{
    const tcall_audit *audit = (const tcall_audit *)user;
    if (!audit->sink)
        return tcall_hook_lacks_(cx, "writes to nobody: set its sink");
    return tcall_write_audit_(cx, audit->sink, audit->user);
}

/* ---- ledger ---- */

/* What a row says of a call: states only go down this list, and a row that is
 * refused or further down may be given up for another call. */
enum {
    TCALL_ASKED_ = 1,
    TCALL_GRANTED_,
    TCALL_REFUSED_,
    TCALL_SPENT_, /* the verdict was used */
    TCALL_RAN_    /* and the tool may have had its effect */
};

/* Returns the row of a call. */
static tcall_ledger_row *tcall_ledger_find_(const tcall_ledger *ledger,
                                            uint64_t key)
{
    size_t i;
    for (i = 0; i < ledger->count; i++)
        if (ledger->rows[i].state && ledger->rows[i].key == key)
            return &ledger->rows[i];
    return NULL;
}

/* Returns the row of a call, or a new one, in place of the first that is free
 * or needed no more; NULL when all are in use. The latest rows are last. */
static tcall_ledger_row *tcall_ledger_row_(const tcall_ledger *ledger,
                                           uint64_t key)
{
    tcall_ledger_row *row = tcall_ledger_find_(ledger, key);
    tcall_ledger_row *last = ledger->rows + ledger->count;
    if (row)
        return row;
    for (row = ledger->rows; row < last; row++)
        if (!row->state || row->state >= TCALL_REFUSED_)
            break;
    if (row == last)
        return NULL;
    last--;
    memmove(row, row + 1, (size_t)(last - row) * sizeof *last);
    memset(last, 0, sizeof *last);
    last->key = key;
    return last;
}

/* Uses the verdict of a row. Where nothing else will stop a second run, the row
 * says at once that the tool ran. */
static int tcall_ledger_use_(tcall_ctx *cx, tcall_ledger_row *row)
{
    bool runs_now = cx->run_step >= TCALL_RUN_APPROVAL_;
    cx->ledger_used = row->state != TCALL_REFUSED_;
    row->state = runs_now && !tcall_repeatable_(cx) ? TCALL_RAN_ : TCALL_SPENT_;
    return tcall_verdict_(cx, cx->ledger_used ? TCALL_VERDICT_ALLOW
                                              : TCALL_VERDICT_DENY);
}

/* Lets a call wait for tcall_ledger_decide. */
static int tcall_ledger_wait_(tcall_ctx *cx, tcall_ledger_row *row,
                              uint64_t what)
{
    if (!row)
        return TCALL_E_LIMIT;
    /* What was asked before does not run: this is another question. */
    if (row->what && row->what != what)
        tcall_verdict_(cx, TCALL_VERDICT_DENY);
    row->what = what;
    row->state = TCALL_ASKED_;
    return tcall_verdict_(cx, TCALL_VERDICT_LATER);
}

/* After tcall_ledger_once_ a row stays TCALL_RAN_, whatever is decided later;
 * cx->ledger_used says that it was this call that used the row. */
int tcall_ledger_consent_(tcall_ctx *cx, void *user)
{
    tcall_ledger *ledger = (tcall_ledger *)user;
    const tcall_call *call = cx->call;
    uint64_t what, key = tcall_call_key(cx->tc, call);
    tcall_ledger_row *row = tcall_ledger_find_(ledger, key);
    bool same, used;
    int r;
    if (call->error < 0 || call->approved || !tcall_needs_approval_(call))
        return TCALL_OK;
    what = tcall_call_what(cx->tc, call);
    if (!what)
        return TCALL_E_MEMORY;
    same = row && row->what == what;
    used = row && row->state >= TCALL_SPENT_;
    if (used && !cx->ledger_used && (same || row->state == TCALL_RAN_))
        return TCALL_E_TWICE;
    if (same && row->state != TCALL_ASKED_)
        return tcall_ledger_use_(cx, row);
    if ((!row || used) && cx->tc->desc.approve) {
        r = tcall_ask_consent_(cx);
        if (r != TCALL_E_APPROVAL)
            return r;
    }
    return tcall_ledger_wait_(cx, tcall_ledger_row_(ledger, key), what);
}

/* A verdict that is still LATER leaves the call waiting. */
int tcall_ledger_decide(tcall_ledger *ledger, uint64_t key, uint64_t what,
                        tcall_verdict verdict)
{
    tcall_ledger_row *row = tcall_ledger_find_(ledger, key);
    if (!row || row->what != what || row->state != TCALL_ASKED_)
        return TCALL_E_UNKNOWN;
    if (verdict != TCALL_VERDICT_LATER)
        row->state =
            verdict == TCALL_VERDICT_ALLOW ? TCALL_GRANTED_ : TCALL_REFUSED_;
    return TCALL_OK;
}

/* Notes, right before the tool runs, that it ran: a second run of the call is
 * refused, also after a restart. */
int tcall_ledger_once_(tcall_ctx *cx, void *user)
{
    tcall_ledger_row *row;
    if (tcall_repeatable_(cx))
        return TCALL_OK;
    if (!cx->call->id.len)
        return TCALL_E_USAGE; /* nobody could tell it from another */
    row = tcall_ledger_row_((const tcall_ledger *)user,
                            tcall_call_key(cx->tc, cx->call));
    if (!row)
        return TCALL_E_LIMIT;
    if (row->state == TCALL_RAN_)
        return TCALL_E_TWICE;
    if (!cx->ledger_used)
        row->what = 0; /* nobody has agreed to this call */
    row->state = TCALL_RAN_;
    cx->ledger_used = true;
    return TCALL_OK;
}

/* A call that ends while it waits is not waited for any more. */
int tcall_ledger_end_(tcall_ctx *cx, void *user)
{
    tcall_ledger_row *row = tcall_ledger_find_(
        (tcall_ledger *)user, tcall_call_key(cx->tc, cx->call));
    if (cx->approval_asked && row && row->state < TCALL_SPENT_)
        row->state = cx->tool ? TCALL_RAN_ : 0;
    return TCALL_OK;
}

/* ---- loops ---- */

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
    size_t i;
    for (i = 0; i < TOOLCALL_LOOP_CALLS; i++)
        if (loops->done[i] == call)
            return true;
    return false;
}

/* Returns a hash of the turn that a call belongs to, in this memory: 0 without
 * one. */
static uint64_t tcall_loops_turn_(const tcall *tc, const tcall_turn *turn)
{
    uint64_t words[3];
    if (!turn)
        return 0;
    words[0] = (uintptr_t)turn;
    words[1] = turn->id;
    words[2] = turn->parent ? tcall_call_key(tc, turn->parent) : 0;
    return tcall_chain_(tc, 0, tcall_slice_((const char *)words, sizeof words));
}

/* Answers or stops a call that repeats others. */
int tcall_loops_begin_(tcall_ctx *cx, void *user)
{
    tcall_loops *loops = (tcall_loops *)user;
    const tcall_call *call = cx->call;
    uint64_t turn = tcall_loops_turn_(cx->tc, call->turn);
    tcall_looped_ *here;
    if (call->loops && call->loops != loops)
        return TCALL_OK; /* the agent's own is at work */
    here = (tcall_looped_ *)tcall_scratch(cx, "loops", sizeof *here);
    if (!here)
        return TCALL_E_MEMORY;
    here->call = tcall_hash_asked_(cx->tc, call) + turn;
    here->tool = tcall_chain_(cx->tc, 5, call->name) + turn;
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
    bool ran = cx->tool == TCALL_TOOL_DID_ && !tcall_repeatable_(cx);
    size_t i;
    if (cx->call->loops && cx->call->loops != loops)
        return TCALL_OK;
    for (i = 0; i < TOOLCALL_LOOP_CALLS; i++)
        if (tcall_changes_(cx, loops->things[i]))
            loops->done[i] = 0;
    if (!here || !here->tool)
        return TCALL_OK;
    tcall_loops_count_(cx, loops, here->tool);
    if ((cx->failure.error < 0 && !ran) || here->answered || !tool ||
        tool->allow_repeat)
        return TCALL_OK;
    loops->done[loops->next] = here->call;
    loops->things[loops->next] = cx->thing;
    loops->next = (uint16_t)((loops->next + 1) % TOOLCALL_LOOP_CALLS);
    return TCALL_OK;
}

/* Breaks the loops of an agent's calls. */
TCALL_SHARED_ int tcall_breaker_(tcall_ctx *cx, bool begins)
{
    tcall_loops *loops = cx->call->loops;
    return begins ? tcall_loops_begin_(cx, loops) : tcall_loops_end_(cx, loops);
}
