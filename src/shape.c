#pragma once
#include "shape.h"
#include "base.c"

/* ==========================================================================
 * >>shape
 *
 * Words lie in flash, one after the other, each ended by NUL. They are compared
 * there.
 */

/* Returns the word that follows this one. */
TCALL_SHARED_ const char *tcall_word_next_(const char *word)
{
    while (TCALL_BYTE_(word))
        word++;
    return word + 1;
}

/* Returns the word at an index of a list. */
TCALL_SHARED_ const char *tcall_word_at_(const char *list, int index)
{
    for (; index > 0; index--)
        list = tcall_word_next_(list);
    return list;
}

#ifndef TOOLCALL_NO_INT64
bool tcall_store_double_(void *to, const struct tcall_num_ *number)
{
    return tcall_num_double_(number, to);
}
#endif
