#pragma once
#include "node.h"
#include "text.c"

/* ==========================================================================
 * >>node
 */

#ifndef TOOLCALL_NO_SCHEMA

/* Returns the next row of a node, or NULL. */
TCALL_SHARED_ const tcall_row *tcall_row_next_(const tcall_row *row)
{
    return row->flags & TCALL_ROW_LAST_ ? NULL : row + 1;
}

/* Returns the first row of a keyword, or NULL. */
TCALL_SHARED_ const tcall_row *tcall_row_of_(const tcall_node *node, uint8_t on)
{
    const tcall_row *row = node->rows;
    while (row && row->on != on)
        row = tcall_row_next_(row);
    return row;
}

#define TCALL_NO_MEMBER_ 0xFFFF

/* Returns which of the members of a row has the name at a quote, whose length
 * with quotes is len, 0: unknown; or NO_MEMBER. Names tend to come in order:
 * the search begins at i. */
TCALL_SHARED_ uint16_t tcall_member_of_(const tcall_row *row, uint16_t i,
                                        const char *quote, size_t len)
{
    uint16_t tried;
    for (tried = 0; tried < row->count; tried++, i++) {
        const tcall_member *member;
        i = i < row->count ? i : 0;
        member = &row->of.members[i];
        if (member->node.digits && len
                ? member->node.digits == len &&
                      memcmp(member->name, quote, len) == 0
                : tcall_text_equal_(member->name, quote))
            return i;
    }
    return TCALL_NO_MEMBER_;
}

#endif /* TOOLCALL_NO_SCHEMA */
