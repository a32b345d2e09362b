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
