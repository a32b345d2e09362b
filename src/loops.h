#pragma once
#include "hash.h"

/* ==========================================================================
 * >>loops: calls that repeat others are answered, not run
 *
 * An agent breaks loops within a turn unless desc.allow_repeat is set; calls
 * without one have TCALL_LOOPS. A call that was made before with success, or
 * whose tool does more than read and has run, whatever failed after it, is
 * answered without running where nothing that ran since can have changed its
 * result (tcall_concerns), unless the tool has allow_repeat. The same call
 * three times in a row, two calls in turns, or a third call in a row of a tool
 * that was refused or denied twice, fail with TCALL_E_LOOP, and nobody is asked
 * for them.
 */

#ifndef TOOLCALL_LOOP_CALLS
#define TOOLCALL_LOOP_CALLS 32 /* so many calls that went well are known */
#endif
typedef struct tcall_loops {
    /* private */
    struct {
        uint64_t call;
        uint32_t thing;
    } done[TOOLCALL_LOOP_CALLS]; /* oldest first */
    uint64_t recent[4];          /* whatever came of them, latest first */
    uint64_t refused;            /* tool of the calls that were refused last */
    uint16_t count;              /* of done */
    uint8_t refusals;
    bool denied; /* whatever the arguments are */
} tcall_loops;
TCALL_API int tcall_loops_begin_(tcall_ctx *cx, void *loops);
TCALL_API int tcall_loops_end_(tcall_ctx *cx, void *loops);
