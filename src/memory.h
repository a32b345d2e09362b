#pragma once
#include "base.h"

/* ==========================================================================
 * >>memory: the caller's memory
 *
 * One block with two ends. What is kept grows from its bottom; what is needed
 * only for a while is taken from its top and given back in reverse order. The
 * ends may meet, never cross. Only this chapter moves them.
 */

typedef struct tcall_block {
    char *base;
    size_t size;
    size_t low;  /* bytes used from the bottom */
    size_t high; /* bytes used from the top */
    size_t lent; /* of low: its end, lent to what is written just now */
    size_t most; /* bytes used of both beside it, since it was lent */
    size_t mark; /* where the last owner of the top begins; 0: nobody */
    size_t peak; /* most bytes ever used of both together: of what was lent,
                  * those that were written */
    size_t need; /* after TCALL_E_MEMORY: the size, of memory aligned to 8, in
                    which what failed would not have; what comes after it may
                    want more */
} tcall_block;

/* Prepares a block of the memory at base, which must live as long. Up to 7
 * bytes at each end are left out, so that it is aligned to 8. */
TCALL_API void tcall_block_init(tcall_block *block, void *base, size_t size);
