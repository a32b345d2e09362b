#pragma once
#include "block.h"
#include "base.c"

/* ==========================================================================
 * >>block
 */

void tcall_block_init(tcall_block *b, void *base, size_t size)
{
    size_t skew = (size_t)(-(uintptr_t)base & 7);
    memset(b, 0, sizeof *b);
    if (!base || size < skew)
        return;
    b->base = (char *)base + skew;
    b->size = (size - skew) & ~(size_t)7;
}

TCALL_SHARED_ size_t tcall_block_free_(const tcall_block *b)
{
    return b->size - b->low - b->high;
}

/* True when n more bytes are free; else need says how large to make it. */
TCALL_SHARED_ bool tcall_block_room_(tcall_block *b, size_t n)
{
    if (n > tcall_block_free_(b)) {
        b->need = (b->low + b->high + n + 7) & ~(size_t)7;
        return false;
    }
    if (b->low + b->high + n > b->peak)
        b->peak = b->low + b->high + n;
    return true;
}

/* Moves the end of the lower part up by n. */
TCALL_SHARED_ bool tcall_block_grow_(tcall_block *b, size_t n)
{
    if (!tcall_block_room_(b, n))
        return false;
    b->low += n;
    return true;
}

/* n bytes from the end, for a while: give back by restoring b->high. */
TCALL_SHARED_ void *tcall_block_take_(tcall_block *b, size_t n)
{
    n = (n + 7) & ~(size_t)7;
    if (!tcall_block_room_(b, n))
        return NULL;
    b->high += n;
    return b->base + b->size - b->high;
}

/* The free bytes between both parts. */
TCALL_SHARED_ char *tcall_block_gap_(const tcall_block *b)
{
    return b->base + b->low;
}
