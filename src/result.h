#pragma once
#include "context.h"

/* ==========================================================================
 * >>result: what the model reads of a call
 *
 * A success is what the tool wrote. A failure is {"success":false,"error":...}:
 * what was wrong, where, and what to send instead.
 */

/* Writes the result as an envelope for programs: {"success":true,"error":"",
 * "title":...,"metadata":...,"output":...} of a success; of a failure its
 * output, followed by title and the like. */
TCALL_API int tcall_write_result(tcall_writer *w, const tcall_result *result);
