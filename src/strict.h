#pragma once
#include "tools.h"

/* ==========================================================================
 * >>strict: schemas as providers' strict modes want them
 */

/* Which strict mode, and how much of it one request may still use. */
typedef struct tcall_strict {
    uint8_t profile; /* TCALL_STRICT_... */
    uint16_t tools, optional, unions;
    bool say; /* that a tool is not strict has to be said */
} tcall_strict;

enum {
    TCALL_STRICT_OPENAI = 1,
    TCALL_STRICT_ANTHROPIC = 2,
    TCALL_STRICT_OLLAMA = 4 /* not strict: what its templates know */
};

/* Writes the schema of a tool as a provider's strict mode wants it. False,
 * and nothing written, where that cannot say what the schema says, or its
 * limits are reached. The schema itself is untouched: what had to be left out
 * is still checked when a call comes. */
TCALL_API bool tcall_view(tcall_writer *w, const tcall_tool *tool,
                          tcall_strict *left);
