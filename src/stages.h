#pragma once
#include "context.h"

/* ==========================================================================
 * >>stages: hooks around the run of a tool
 */

/* Hooks around the run of one tool that may be inside each other. */
#ifndef TOOLCALL_MAX_AROUND
#define TOOLCALL_MAX_AROUND 8
#endif

/* -- For authors of hooks -- */

#ifndef TOOLCALL_NO_HOOKS
/* Makes one attempt, from a hook at TCALL_AROUND_EXECUTE: runs the hooks that
 * are further inside, and the tool. Returns what came of it; the hook returns
 * that, or calls again. After TCALL_E_AGAIN the outermost hook is called anew,
 * from its start. Only tools that only read or are idempotent get a second
 * attempt; for the others this returns the result of the first. */
TCALL_API int tcall_next(tcall_ctx *cx);
#endif
