#pragma once
#include "invoke.h"

/* ==========================================================================
 * >>records: what programs and logs read of a call
 */

/* Writes, for logs, a JSON object about where the arguments came from and what
 * was done to them: provider, ids, the hash of the tool's definition, raw
 * arguments, fixes, coercions, validator and its mode, times, validated,
 * repaired, no_schema_mode, the value that was checked, errors. The key of the
 * agent, if there is one, is masked in it, see >>mask. */
TCALL_API int tcall_write_provenance(tcall_writer *w, const tcall *tc,
                                     const tcall_call *call);
