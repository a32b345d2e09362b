#pragma once
#include "agent.h"

/* ==========================================================================
 * >>save: conversations that outlive a restart
 */

#ifndef TOOLCALL_NO_AGENT

/* Writes the conversation as bytes, for tcall_agent_load on this machine or
 * another: all that was said, the picks, and what the turn waits for: an
 * answer, verdicts, tcall_agent_result. It works at any time, from whatever the
 * library calls: half an answer is not in it, a call that has begun and may
 * have had its effect has a result that says so. Keys, tools and images are not
 * in it. Returns TCALL_OK, the error of the writer, or TCALL_E_USAGE where the
 * agent was not set up. */
TCALL_API int tcall_agent_save(const tcall_agent *agent, tcall_writer *out);
/* Puts what tcall_agent_save wrote in place of the conversation, between turns.
 * Calls that have no result are checked, and approved, anew. Returns TCALL_OK;
 * TCALL_E_AGAIN: a turn goes on, with tcall_agent_step, whose limits of time
 * begin now; TCALL_E_USAGE during a turn; TCALL_E_MEMORY, and the block's need
 * says how large to make it; TCALL_E_PROTOCOL when the bytes are damaged, of
 * another version, or have a call without its result, or a result without its
 * call. After an error the conversation is empty. */
TCALL_API int tcall_agent_load(tcall_agent *agent, tcall_str bytes);

#endif /* TOOLCALL_NO_AGENT */
