#pragma once
#include "call.h"

/* ==========================================================================
 * >>hash: fingerprints that nobody can forge without the key
 */

/* Returns SipHash-2-4 (Aumasson and Bernstein, 2012) of bytes. */
TCALL_API uint64_t tcall_hash(const uint64_t key[2], tcall_str bytes);
/* Hashes a value, with desc.hash_key, whatever the order of members and the
 * form of numbers: 5, 5.0 and 0.5e1 are the same. Returns TCALL_OK, or
 * TCALL_E_MEMORY: up to 1.5 KB of the block are needed for a moment. */
TCALL_API int tcall_hash_json(tcall *tc, tcall_json value, uint64_t *out);
