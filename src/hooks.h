#pragma once
#include "invoke.h"

/* ==========================================================================
 * >>hooks: ready-made ones
 *
 * Each is a macro that gives the rows for a table of hooks; what it keeps is in
 * a struct of the caller's. A linker that drops unused functions drops the
 * hooks that no table names. One that lacks what it needs, such as the clock of
 * a limit, fails calls with TCALL_E_USAGE and says what to set.
 *
 *     static tcall_rate rate = {.burst = 5, .interval_ms = 1000};
 *     static tcall_backoff retry = {.attempts = 3, .first_ms = 200};
 *     static const tcall_hook hooks[] = {
 *         TCALL_RATE(&rate), TCALL_RETRY(&retry), TCALL_TIMEOUT(5000)};
 */

#define TCALL_HOOK_(name, stage, priority, run, user) \
    {                                                 \
        name, stage, priority, run, NULL, user        \
    }

/* A rate limit (token bucket): calls beyond it are told when to come back.
 * Needs desc.now_ms. */
typedef struct tcall_rate {
    uint16_t burst;       /* calls at once */
    uint32_t interval_ms; /* until one more may come */
    /* private */
    uint16_t used;
    uint32_t since;
} tcall_rate;
TCALL_API int tcall_rate_run_(tcall_ctx *cx, void *rate);
#define TCALL_RATE(rate) \
    TCALL_HOOK_("rate", TCALL_WILL_ACQUIRE_QUOTA, 0, tcall_rate_run_, rate)

/* Limits how many calls are under way at the same time; the others wait
 * (TCALL_E_AGAIN). */
typedef struct tcall_concurrency {
    uint16_t max;
    uint16_t running; /* private */
} tcall_concurrency;
TCALL_API int tcall_limit_acquire_(tcall_ctx *cx, void *limit);
TCALL_API int tcall_limit_release_(tcall_ctx *cx, void *limit);
#define TCALL_CONCURRENCY(limit)                                   \
    TCALL_HOOK_("concurrency", TCALL_WILL_ACQUIRE_SEMAPHORE, 0,    \
                tcall_limit_acquire_, limit),                      \
        TCALL_HOOK_("concurrency", TCALL_DID_RELEASE_SEMAPHORE, 0, \
                    tcall_limit_release_, limit)

/* Keeps results of tools that only read, by tool, arguments, session and its
 * user, until a call that does more may have changed them (tcall_concerns). The
 * oldest make room; a result larger than the memory is not kept. */
typedef struct tcall_cache {
    char *memory;
    size_t size;
    uint32_t max_age_ms; /* 0: for ever; otherwise desc.now_ms is needed */
    size_t used;         /* private */
} tcall_cache;
TCALL_API int tcall_cache_read_(tcall_ctx *cx, void *cache);
TCALL_API int tcall_cache_write_(tcall_ctx *cx, void *cache);
TCALL_API int tcall_cache_end_(tcall_ctx *cx, void *cache);
#define TCALL_CACHE(cache)                                                    \
    TCALL_HOOK_("cache", TCALL_WILL_READ_CACHE, 0, tcall_cache_read_, cache), \
        TCALL_HOOK_("cache", TCALL_WILL_WRITE_CACHE, 0, tcall_cache_write_,   \
                    cache),                                                   \
        TCALL_HOOK_("cache", TCALL_WILL_FINALIZE, 0, tcall_cache_end_, cache)

/* Makes further attempts after an error that may pass, each after twice the
 * pause of the one before, or the one that tcall_retry_after asked for. Without
 * desc.now_ms there are no pauses. Only for tools that may run twice: those
 * that only read, or are idempotent. */
typedef struct tcall_backoff {
    uint16_t attempts; /* in all */
    uint32_t first_ms;
    uint32_t max_ms; /* 0: no limit */
} tcall_backoff;
TCALL_API int tcall_retry_around_(tcall_ctx *cx, void *retry);
#define TCALL_RETRY(retry) \
    TCALL_HOOK_("retry", TCALL_AROUND_EXECUTE, 0, tcall_retry_around_, retry)

/* Ends a call, its waiting included, after ms milliseconds. */
TCALL_API int tcall_timeout_run_(tcall_ctx *cx, void *ms);
#define TCALL_TIMEOUT(ms)                                    \
    TCALL_HOOK_("timeout", TCALL_WILL_BIND_SERVICES, 0x7FFF, \
                tcall_timeout_run_, (void *)(uintptr_t)(ms))

/* Writes one JSON line for each call to sink, in pieces: ids, turn, round and
 * position of an agent's call, tool, arguments,
 * validated, the no_schema_mode of a tool that has no schema, repaired,
 * attempts, milliseconds, outcome; without the key of the agent, if there is
 * one, see >>invoke.
 * TCALL_EVENT_HOOK reports where it cannot be written. */
typedef struct tcall_audit {
    tcall_sink sink;
    void *user;
} tcall_audit;
TCALL_API int tcall_audit_run_(tcall_ctx *cx, void *audit);
#define TCALL_AUDIT(audit) \
    TCALL_HOOK_("audit", TCALL_WILL_AUDIT, 0, tcall_audit_run_, audit)

/* Keeps approvals that come later, and what has run. A call that needs approval
 * waits (TCALL_E_APPROVAL) until tcall_ledger_decide gets a verdict for its
 * tcall_call_key and tcall_call_what. The verdict holds once, and only for the
 * same definition of the tool and the same arguments. A tool that is neither
 * idempotent nor only reads runs once for a key, also after a restart if the
 * rows were kept: they hold no pointers (keep desc.hash_key with them, and the
 * conversation, see tcall_agent_save). Agents may share a ledger when their
 * sessions say which of them it is, and sub-agents may: their calls have keys
 * of their own. Where there is a desc.approve, it is asked first. */
typedef struct tcall_ledger_row {
    uint64_t key, what; /* tcall_call_key, tcall_call_what */
    uint32_t state;     /* 0: free */
} tcall_ledger_row;
typedef struct tcall_ledger {
    tcall_ledger_row *rows; /* zeroed at first; the oldest that ran make room */
    size_t count;
} tcall_ledger;
TCALL_API int tcall_ledger_consent_(tcall_ctx *cx, void *ledger);
TCALL_API int tcall_ledger_once_(tcall_ctx *cx, void *ledger);
TCALL_API int tcall_ledger_end_(tcall_ctx *cx, void *ledger);
#define TCALL_LEDGER(ledger)                                                   \
    TCALL_HOOK_("ledger", TCALL_WILL_CHECK_CONSENT, 0x7FFF,                    \
                tcall_ledger_consent_, ledger),                                \
        TCALL_HOOK_("ledger", TCALL_WILL_EXECUTE, -0x8000, tcall_ledger_once_, \
                    ledger),                                                   \
        TCALL_HOOK_("ledger", TCALL_WILL_FINALIZE, 0, tcall_ledger_end_,       \
                    ledger)
/* Decides a call that waits: key and what are tcall_call_key and
 * tcall_call_what of the call as TCALL_EVENT_APPROVAL told of it. Returns
 * TCALL_OK, or TCALL_E_UNKNOWN, and nothing is decided, where no call with this
 * key waits, or it would do something else by now. */
TCALL_API int tcall_ledger_decide(tcall_ledger *ledger, uint64_t key,
                                  uint64_t what, tcall_verdict verdict);

/* Calls that repeat others are answered, not run. A call that was made before
 * with success, or whose tool does more than read and has run, whatever failed
 * after it, is answered without running where nothing that ran since can have
 * changed its result (tcall_concerns), unless the tool has allow_repeat. The
 * same call three times in a row, two calls in turns, or a third call in a row
 * of a tool that was refused or denied twice, fail with TCALL_E_LOOP, and
 * nobody is asked for them. An agent breaks loops within a turn so, unless
 * desc.allow_repeat is set, whatever hooks there are: in its calls this one
 * does nothing. */
#ifndef TOOLCALL_LOOP_CALLS
#define TOOLCALL_LOOP_CALLS 32 /* so many that went well are known */
#endif
typedef struct tcall_loops {
    /* private */
    uint64_t done[TOOLCALL_LOOP_CALLS];   /* calls; 0: none */
    uint32_t things[TOOLCALL_LOOP_CALLS]; /* that they were about */
    uint64_t recent[4]; /* whatever came of them, latest first */
    uint64_t refused;   /* tool of the calls that were refused last */
    uint16_t next;      /* of done: the oldest, which makes room */
    uint8_t refusals;
    bool denied; /* whatever the arguments are */
} tcall_loops;
TCALL_API int tcall_loops_begin_(tcall_ctx *cx, void *loops);
TCALL_API int tcall_loops_end_(tcall_ctx *cx, void *loops);
#define TCALL_LOOPS(loops)                                  \
    TCALL_HOOK_("loops", TCALL_WILL_CREATE_CONTEXT, 0x7FFF, \
                tcall_loops_begin_, loops),                 \
        TCALL_HOOK_("loops", TCALL_WILL_FINALIZE, 0, tcall_loops_end_, loops)
