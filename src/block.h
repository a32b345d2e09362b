#pragma once
#include "base.h"

/* ==========================================================================
 * >>block: the caller's memory
 */

/* The one block of memory. What lasts grows from its start, what is needed
 * only for a while from its end; the ends may meet, never cross. */
typedef struct tcall_block {
    char *base;
    size_t size;
    size_t low;  /* bytes used from the start */
    size_t high; /* bytes used from the end */
    size_t peak; /* most ever used of both together */
    size_t need; /* after TCALL_E_MEMORY: the size that would have done, of
                    memory aligned to 8 */
} tcall_block;

TCALL_API void tcall_block_init(tcall_block *b, void *base, size_t size);
