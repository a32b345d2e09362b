#pragma once
#include "memory.h"
#include "base.c"

/* ==========================================================================
 * >>memory
 */

/* Bytes are taken in multiples of 8, so that the block stays aligned. What is
 * too large for that stays the most there can be. */
TCALL_SHARED_ size_t tcall_round_up_(size_t size)
{
    const size_t most = SIZE_MAX & ~(size_t)7;
    return size < most ? (size + 7) & ~(size_t)7 : most;
}

void tcall_block_init(tcall_block *block, void *base, size_t size)
{
    size_t skew = (size_t)(-(uintptr_t)base & 7);
    memset(block, 0, sizeof *block);
    if (!base || size < skew)
        return;
    block->base = (char *)base + skew;
    block->size = (size - skew) & ~(size_t)7;
}

TCALL_SHARED_ size_t tcall_block_free_(const tcall_block *block)
{
    return block->size - block->low - block->high;
}

/* Notes how large the block has to be. */
TCALL_SHARED_ void tcall_block_note_(tcall_block *block, size_t size)
{
    size = tcall_round_up_(size);
    if (block->need < size)
        block->need = size;
}

/* Notes that so many bytes are used, beside what is lent. */
static void tcall_block_used_(tcall_block *block, size_t used)
{
    if (block->most < used)
        block->most = used;
    if (block->peak < used)
        block->peak = used;
}

/* Returns whether size more bytes are free; else need says how large the block
 * has to be. */
TCALL_SHARED_ bool tcall_block_room_(tcall_block *block, size_t size)
{
    size_t used = block->low + block->high;
    if (size > tcall_block_free_(block)) {
        tcall_block_note_(block, used + size);
        return false;
    }
    tcall_block_used_(block, used + size - block->lent);
    return true;
}

/* Lets the bottom grow by size bytes, which may have been written already. */
TCALL_SHARED_ bool tcall_block_grow_(tcall_block *block, size_t size)
{
    if (!tcall_block_room_(block, size))
        return false;
    block->low += size;
    return true;
}

/* Ends the bottom at another height, for which there is room. */
TCALL_SHARED_ void tcall_block_cut_(tcall_block *block, size_t low)
{
    block->low = low;
    tcall_block_used_(block, low + block->high - block->lent);
}

/* What was lent before, and used meanwhile. */
typedef struct tcall_loan_ {
    size_t lent, most;
} tcall_loan_;

/* Lends the first free bytes to what is written there while the program may be
 * called: nobody else gets them, and nobody takes them for what lasts. */
TCALL_SHARED_ tcall_loan_ tcall_block_lend_(tcall_block *block, size_t size)
{
    tcall_loan_ before = {block->lent, block->most};
    block->low += size;
    block->lent += size;
    block->most = 0;
    return before;
}

/* Takes back what was lent, of which so many bytes were written. */
TCALL_SHARED_ void tcall_block_unlend_(tcall_block *block, tcall_loan_ before,
                                       size_t written)
{
    size_t used = block->most + written;
    block->low -= block->lent - before.lent;
    block->lent = before.lent;
    block->most = before.most;
    tcall_block_used_(block, used);
}

/* Returns size bytes of the top, or NULL. They are given back by
 * tcall_block_back_, so what was taken last goes first. */
TCALL_SHARED_ void *tcall_block_take_(tcall_block *block, size_t size)
{
    size = tcall_round_up_(size);
    if (!tcall_block_room_(block, size))
        return NULL;
    block->high += size;
    return block->base + block->size - block->high;
}

/* Tests define this to overwrite what is given back, so that who still reads
 * it is seen. */
#ifndef TCALL_FREED_
#define TCALL_FREED_(bytes, size) ((void)0)
#endif

/* Gives back what was taken from the top since its height was this. */
TCALL_SHARED_ void tcall_block_back_(tcall_block *block, size_t high)
{
    TCALL_FREED_(block->base + block->size - block->high, block->high - high);
    block->high = high;
}

/* Returns the free bytes between both ends, or NULL of a block without memory:
 * C does not define NULL + 0. */
TCALL_SHARED_ char *tcall_block_gap_(const tcall_block *block)
{
    return block->base ? block->base + block->low : NULL;
}

/* Who takes from the top and keeps it for a while marks where that begins, and
 * releases the mark, in any order: what was taken goes back when all that was
 * marked after it is released too. */
typedef struct tcall_mark_ {
    size_t before; /* the mark before it; 0: none */
    bool released;
    bool shared; /* what lies after it belongs to one before it as well */
} tcall_mark_;

static tcall_mark_ *tcall_mark_at_(const tcall_block *block, size_t mark)
{
    return (tcall_mark_ *)(void *)(block->base + block->size - mark);
}

/* Marks the top. Returns the mark, or 0 without room for it. */
TCALL_SHARED_ size_t tcall_block_mark_(tcall_block *block)
{
    tcall_mark_ *mark = (tcall_mark_ *)tcall_block_take_(block, sizeof *mark);
    if (!mark)
        return 0;
    memset(mark, 0, sizeof *mark);
    mark->before = block->mark;
    block->mark = block->high;
    return block->mark;
}

/* The owner of a mark is about to take more, after what others have marked. */
TCALL_SHARED_ void tcall_block_share_(tcall_block *block, size_t mark)
{
    if (mark && mark < block->mark)
        tcall_mark_at_(block, block->mark)->shared = true;
}

/* Releases a mark, if it is one. */
TCALL_SHARED_ void tcall_block_release_(tcall_block *block, size_t mark)
{
    size_t at = block->mark;
    while (at && at != mark)
        at = tcall_mark_at_(block, at)->before;
    if (!at)
        return;
    tcall_mark_at_(block, at)->released = true;
    while (block->mark && tcall_mark_at_(block, block->mark)->released) {
        const tcall_mark_ *last = tcall_mark_at_(block, block->mark);
        size_t start = block->mark - tcall_round_up_(sizeof *last);
        size_t before = last->before;
        if (last->shared && before) {
            if (!tcall_mark_at_(block, before)->released)
                return;
            tcall_mark_at_(block, before)->shared = true;
        }
        tcall_block_back_(block, start);
        block->mark = before;
    }
}
