#pragma once
#include "hash.h"
#include "invoke.h"

/* ==========================================================================
 * >>hooks: ready-made ones
 *
 * Each is a macro that gives the rows for a table of hooks; what it keeps is a
 * struct of the caller's. What is not named is not linked.
 *
 *     static tcall_rate rate = {.burst = 5, .interval_ms = 1000};
 *     static tcall_backoff retry = {.attempts = 3, .first_ms = 200};
 *     static const tcall_hook hooks[] = {
 *         TCALL_RATE(&rate), TCALL_RETRY(&retry), TCALL_TIMEOUT(5000)};
 */

#ifndef TOOLCALL_NO_HOOKS

#define TCALL_HOOK_(name, stage, priority, run, user) \
    {                                                 \
        name, stage, priority, run, NULL, user        \
    }

/* Rate limit, a bucket of tokens: calls that find it empty may come back
 * later. Needs desc.now_ms. */
typedef struct tcall_rate {
    uint16_t burst;       /* calls at once */
    uint32_t interval_ms; /* time until one more may come */
    uint16_t used;        /* private */
    uint32_t since;
} tcall_rate;
TCALL_API int tcall_rate_run_(tcall_ctx *cx, void *rate);
#define TCALL_RATE(rate) \
    TCALL_HOOK_("rate", TCALL_WILL_ACQUIRE_QUOTA, 0, tcall_rate_run_, rate)

/* So many calls at a time: the others wait (TCALL_E_AGAIN). */
typedef struct tcall_concurrency {
    uint16_t max;
    uint16_t now; /* private */
} tcall_concurrency;
TCALL_API int tcall_limit_acquire_(tcall_ctx *cx, void *limit);
TCALL_API int tcall_limit_release_(tcall_ctx *cx, void *limit);
#define TCALL_CONCURRENCY(limit)                             \
    TCALL_HOOK_("limit", TCALL_WILL_ACQUIRE_SEMAPHORE, 0,    \
                tcall_limit_acquire_, limit),                \
        TCALL_HOOK_("limit", TCALL_DID_RELEASE_SEMAPHORE, 0, \
                    tcall_limit_release_, limit)

/* Results of tools that only read, by tool, arguments, session and its user.
 * The oldest make room; what is larger than the memory is not kept. */
typedef struct tcall_cache {
    char *memory;
    size_t size;
    uint32_t max_age_ms; /* 0: for ever; else desc.now_ms is needed */
    size_t used;         /* private */
} tcall_cache;
TCALL_API int tcall_cache_read_(tcall_ctx *cx, void *cache);
TCALL_API int tcall_cache_write_(tcall_ctx *cx, void *cache);
#define TCALL_CACHE(cache)                                                    \
    TCALL_HOOK_("cache", TCALL_WILL_READ_CACHE, 0, tcall_cache_read_, cache), \
        TCALL_HOOK_("cache", TCALL_WILL_WRITE_CACHE, 0, tcall_cache_write_,   \
                    cache)

/* Further attempts after an error that may pass, each after twice the time of
 * the one before, or what tcall_retry_after said. Without desc.now_ms there
 * is no time between them. Only for tools that may run twice. */
typedef struct tcall_backoff {
    uint16_t attempts; /* in all */
    uint32_t first_ms;
    uint32_t max_ms; /* 0: no limit */
} tcall_backoff;
TCALL_API int tcall_retry_around_(tcall_ctx *cx, void *retry);
#define TCALL_RETRY(retry) \
    TCALL_HOOK_("retry", TCALL_AROUND_EXECUTE, 0, tcall_retry_around_, retry)

/* The whole call, its waiting included, ends after ms. */
TCALL_API int tcall_timeout_run_(tcall_ctx *cx, void *ms);
#define TCALL_TIMEOUT(ms)                                    \
    TCALL_HOOK_("timeout", TCALL_WILL_BIND_SERVICES, 0x7FFF, \
                tcall_timeout_run_, (void *)(uintptr_t)(ms))

/* One JSON line for each call goes to sink: ids, tool, arguments, attempts,
 * milliseconds, outcome. Where it cannot be written the call fails. */
typedef struct tcall_audit {
    tcall_sink sink;
    void *user;
} tcall_audit;
TCALL_API int tcall_audit_run_(tcall_ctx *cx, void *audit);
#define TCALL_AUDIT(audit) \
    TCALL_HOOK_("audit", TCALL_WILL_AUDIT, 0, tcall_audit_run_, audit)

/* Approvals that come later, and a list of what has run. A call that has to be
 * approved waits (TCALL_E_APPROVAL) until tcall_ledger_decide is told about its
 * id; the verdict holds once, and only for the same definition of the tool and
 * the same arguments. A tool that is neither idempotent nor only reads runs
 * once for an id, also after a restart if the rows were kept: they hold no
 * pointers (keep desc.hash_key with them, and agent.chat.made, where ids are
 * made up). desc.approve is asked first, if there is. */
typedef struct tcall_ledger_row {
    uint64_t id, what; /* hashes */
    uint32_t state;    /* 0: free */
} tcall_ledger_row;
typedef struct tcall_ledger {
    tcall_ledger_row
        *rows; /* zeroed at first; the oldest that ran are given up */
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
/* TCALL_OK, or TCALL_E_UNKNOWN: no call with this id waits. */
TCALL_API int tcall_ledger_decide(tcall_ledger *ledger, const tcall *tc,
                                  tcall_str id, tcall_verdict verdict);

/* The same call again in one turn is answered without running, unless the tool
 * says it repeats. Over turns, the same call three times, two calls in turns,
 * or a third call of a tool with arguments that are refused are stopped. */
typedef struct tcall_loops {
    uint64_t seen[8]; /* private; latest first */
    uint64_t refused; /* tool of the calls that were refused last */
    uint8_t refusals, turn;
} tcall_loops;
TCALL_API int tcall_loops_run_(tcall_ctx *cx, void *loops);
#define TCALL_LOOPS(loops) \
    TCALL_HOOK_("loops", TCALL_WILL_PARSE_INPUT, 0, tcall_loops_run_, loops)
/* Begins a turn: each call may be made once more. A zeroed struct has
 * forgotten everything. */
TCALL_API void tcall_loops_new_turn(tcall_loops *loops);

#endif
