#pragma once
#include "context.h"

/* ==========================================================================
 * >>invoke: from a checked call to a result
 *
 * One way through TCALL_STAGES for an agent, tcall_execute and a server of MCP,
 * with the hooks of the registry and of the tool at each. It takes a call that
 * tcall_hydrate has seen, good or bad, and always yields a result that the
 * model can read.
 */

/* Hooks around the run of one tool that may be inside each other. */
#ifndef TOOLCALL_MAX_AROUND
#define TOOLCALL_MAX_AROUND 8
#endif

/* Takes a call through all stages and writes what the model reads to out, a
 * writer to a buffer outside of the block: the tool's output, or
 * {"success":false,"error":...}. Returns TCALL_OK, or why the tool did not run
 * or failed; out is complete in both cases. Two errors leave out untouched and
 * ask for tcall_invoke once more: TCALL_E_AGAIN (the tool or a hook has not
 * finished) and TCALL_E_APPROVAL (a verdict comes later: desc.approve is asked
 * again, unless call->approved is set). call->cx.wait says when. */
TCALL_API int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out);
/* Calls a tool by its name, without a model: hydrates, invokes, and waits by
 * desc.wait until it has ended, for desc.max_wait_ms at most, then it ends with
 * TCALL_E_TIMEOUT. Without desc.wait and desc.now_ms a tool that does not
 * answer at once is cancelled, TCALL_E_CANCELLED. One that waits for approval
 * does not run, TCALL_E_APPROVAL. call is NULL, or room for the call: what came
 * of it is then in call->cx.result until tcall_release. Returns as tcall_invoke
 * does, or TCALL_E_MEMORY, with nothing in out, when the block has no room for
 * the call. */
TCALL_API int tcall_execute(tcall *tc, tcall_str name, tcall_str arguments,
                            tcall_writer *out, tcall_call *call);
/* Ends a call at the next tcall_invoke with TCALL_E_CANCELLED, _TIMEOUT or
 * _LIMIT. A tool that returned TCALL_E_AGAIN is called one last time, to
 * release what it holds: it sees cx->stop. */
TCALL_API void tcall_cancel(tcall_call *call, int error);

/* For tools that learn only from the arguments that a call needs approval, or
 * that can tell before whether it would succeed (tool->looks_first).
 * Returns TCALL_OK when it has it; otherwise the tool returns what this
 * returns: TCALL_E_DENIED, or TCALL_E_APPROVAL, and is run anew, with the same
 * arguments, when there is a verdict. Hooks at TCALL_WILL_CHECK_CONSENT are
 * asked as well. */
TCALL_API int tcall_approval(tcall_ctx *cx);

/* -- For authors of hooks -- */

/* Makes one attempt, from a hook at TCALL_AROUND_EXECUTE: runs the hooks that
 * are further inside, and the tool. Returns what came of it; the hook returns
 * that, or calls again. After TCALL_E_AGAIN the outermost hook is called anew,
 * from its start. Only tools that only read or are idempotent get a second
 * attempt; for the others this returns the result of the first. */
TCALL_API int tcall_next(tcall_ctx *cx);
/* Calls the hooks of the registry and of tools: tcall_desc.stages is this where
 * there are any. A program without hooks does not name it, and its calls are
 * checked, permitted and run. */
#ifndef TOOLCALL_STATIC
TCALL_API const tcall_stages_ tcall_stages;
#endif
