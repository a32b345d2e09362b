#pragma once
#include "base.h"

/* ==========================================================================
 * >>wait: what somebody who answered TCALL_E_AGAIN waits for
 *
 * Nothing in this library sleeps, and neither should a tool, a hook or a
 * transport: it answers TCALL_E_AGAIN and says what for, a handle, a time or
 * both. Only one place waits, the loop around tcall_agent_step: it sleeps until
 * the first of them comes, and looks at limits and at cancel. Whoever says
 * nothing is asked again every TCALL_WAIT_POLL_MS. Whoever waits for a person
 * answers TCALL_E_APPROVAL.
 */

/* A flag that a signal handler or an interrupt may set: it is read and written
 * in one access. */
typedef volatile uint8_t tcall_flag;

/* Handles that a wait has room for; where there are more, it is a poll. */
#ifndef TOOLCALL_MAX_HANDLES
#define TOOLCALL_MAX_HANDLES 4
#endif

/* Times of the library, in milliseconds; TCALL_WAIT_NEVER sets no limit. */
enum {
    TCALL_WAIT_POLL_MS = 20,  /* where nothing was said */
    TCALL_WAIT_MOST_MS = 250, /* one sleep; then flags are looked at again */
    TCALL_EXECUTE_MS = 60000  /* tcall_execute, where nothing else was said */
};
#define TCALL_WAIT_NEVER UINT32_MAX

/* What a handle is waited for. */
enum { TCALL_WAIT_READ = 1, TCALL_WAIT_WRITE = 2 };

/* What somebody waits for: a time, handles or both. */
typedef struct tcall_wait {
    uint32_t ms;   /* be called again after so long at the latest; 0: at once,
                    * TCALL_WAIT_NEVER: only the handles count */
    uint8_t count; /* of handles; the first that is ready ends the wait */
    struct {
        int handle;     /* a descriptor, or whatever the transport calls one */
        uint8_t events; /* TCALL_WAIT_READ | TCALL_WAIT_WRITE */
    } handles[TOOLCALL_MAX_HANDLES];
} tcall_wait;

/* Add to what is waited for: a time from now; a handle to become readable or
 * writable; all that another wait says. Each returns TCALL_E_AGAIN, so that a
 * tool may `return tcall_wait_ms(&cx->wait, 100);`. They are inline, so that a
 * transport can be linked without the rest of the library. */
static inline int tcall_wait_ms(tcall_wait *wait, uint32_t ms)
{
    if (ms < wait->ms)
        wait->ms = ms;
    return TCALL_E_AGAIN;
}

static inline int tcall_wait_handle(tcall_wait *wait, int handle, int events)
{
    if (wait->count == TOOLCALL_MAX_HANDLES)
        return tcall_wait_ms(wait, TCALL_WAIT_POLL_MS);
    wait->handles[wait->count].handle = handle;
    wait->handles[wait->count].events = (uint8_t)events;
    wait->count++;
    return TCALL_E_AGAIN;
}

static inline int tcall_wait_merge(tcall_wait *wait, const tcall_wait *other)
{
    int i;
    for (i = 0; i < other->count; i++)
        tcall_wait_handle(wait, other->handles[i].handle,
                          other->handles[i].events);
    return tcall_wait_ms(wait, other->ms);
}
