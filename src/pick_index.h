#pragma once
#include "tools.h"

/* ==========================================================================
 * >>pick_index: the words of all tools, for picks among hundreds of them
 */

struct tcall_bucket_;
struct tcall_entry_;
struct tcall_indexed_;
struct tcall_posting_;

/* Made by tcall_pick_index, for tcall_pick_opts.index. */
typedef struct tcall_index {
    /* private */
    size_t tool_count;
    uint32_t bucket_count;
    const struct tcall_bucket_ *buckets;
    const struct tcall_indexed_ *tools;
    const struct tcall_entry_ *entries;
    const struct tcall_posting_ *postings;
} tcall_index;

#if !defined TOOLCALL_NO_PICK_INDEX && !defined TOOLCALL_NO_PICK

/* Builds an index of all tools in the block, where it stays. Picks are the same
 * with it, only faster. It is used while the block has 20 bytes for each tool
 * to spare; with less the texts of the tools are read.
 * It takes 4 bytes for each different word of a tool, 24 for each different
 * word of all tools, 12 for each tool, and 8 for each half KB of text: about
 * half as much as the texts of hundreds of tools. Call it before the agent is
 * set up, and again after tools were added or removed.
 * Returns TCALL_OK; TCALL_E_MEMORY, when block.need says what suffices, and the
 * block is as before; TCALL_E_USAGE for more than 65535 tools. */
TCALL_API int tcall_pick_index(tcall *tc, tcall_index *index);

#endif
