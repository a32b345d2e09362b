#pragma once
#include "invoke.h"

/* ==========================================================================
 * >>records: what programs and logs read of a call
 *
 * Fingerprints that nobody can forge without the key, and where the arguments
 * of a call came from.
 */

/* Returns SipHash-2-4 (Aumasson and Bernstein, 2012) of bytes. */
TCALL_API uint64_t tcall_hash(const uint64_t key[2], tcall_str bytes);
/* Hashes a value, with desc.hash_key, whatever the order of members and the
 * form of numbers: 5, 5.0 and 0.5e1 are the same. Returns TCALL_OK, or
 * TCALL_E_MEMORY: up to 1.5 KB of the block are needed for a moment. */
TCALL_API int tcall_hash_json(tcall *tc, tcall_json value, uint64_t *out);

/* Returns a number for a call that stays the same over a restart and that no
 * other call has: it is made of its place in the conversation, its id and that
 * of its session, the session's agent, and, for a sub-agent, of the call that
 * it works for. */
TCALL_API uint64_t tcall_call_key(const tcall *tc, const tcall_call *call);
/* Returns a number for what a call would do, which is what a person sees who
 * has to decide: its tool's definition and its arguments. 0: the call was not
 * hydrated, it is of an unknown tool, or the block lacks up to 1.5 KB for a
 * moment. */
TCALL_API uint64_t tcall_call_what(tcall *tc, const tcall_call *call);

/* For tools: says that the call reads or changes one thing only, such as the
 * file with this path. A call that changes it leaves what was kept of other
 * things (TCALL_CACHE, TCALL_LOOPS). A call that says nothing, or names two
 * things, reads or changes everything. */
TCALL_API void tcall_concerns(tcall_ctx *cx, tcall_str thing);

/* Writes, for logs, a JSON object about where the arguments came from and what
 * was done to them: provider, ids, the hash of the tool's definition, raw
 * arguments, fixes, coercions, validator and its mode, times, validated,
 * repaired, no_schema_mode, the value that was checked, errors. The key of the
 * agent, if there is one, is masked in it, see >>mask. */
TCALL_API int tcall_write_provenance(tcall_writer *w, const tcall *tc,
                                     const tcall_call *call);
