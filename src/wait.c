#pragma once
#include "wait.h"
#include "base.c"

/* ==========================================================================
 * >>wait
 */

/* Nothing was said yet. */
TCALL_SHARED_ void tcall_wait_begin_(tcall_wait *wait)
{
    wait->ms = TCALL_WAIT_NEVER;
    wait->count = 0;
}

TCALL_SHARED_ bool tcall_wait_is_empty_(const tcall_wait *wait)
{
    return wait->ms == TCALL_WAIT_NEVER && !wait->count;
}

int tcall_wait_ms(tcall_wait *wait, uint32_t ms)
{
    if (ms < wait->ms)
        wait->ms = ms;
    return TCALL_E_AGAIN;
}

int tcall_wait_handle(tcall_wait *wait, int handle, int events)
{
    if (wait->count == TOOLCALL_MAX_HANDLES)
        return tcall_wait_ms(wait, TCALL_WAIT_POLL_MS);
    wait->handles[wait->count].handle = handle;
    wait->handles[wait->count].events = (uint8_t)events;
    wait->count++;
    return TCALL_E_AGAIN;
}

int tcall_wait_merge(tcall_wait *wait, const tcall_wait *other)
{
    int i;
    for (i = 0; i < other->count; i++)
        tcall_wait_handle(wait, other->handles[i].handle,
                          other->handles[i].events);
    return tcall_wait_ms(wait, other->ms);
}
