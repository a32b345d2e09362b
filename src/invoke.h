#pragma once
#include "call.h"

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

/* Calls the hooks of the registry and of tools: tcall_desc.stages is this where
 * there are any. A program without hooks does not name it, and its calls are
 * checked, permitted and run. */
#ifndef TOOLCALL_STATIC
TCALL_API const tcall_stages_ tcall_stages;
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
/* Gives back what the call holds; one that is under way is ended first, as by
 * tcall_cancel. Calls may be released in any order; their memory is free when
 * those that were hydrated after them are released too. Returns TCALL_OK; or
 * TCALL_E_USAGE, and nothing has changed, from a function that the call has
 * called, and for a call that an agent makes. */
TCALL_API int tcall_release(tcall *tc, tcall_call *call);
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
/* ---- what tools and hooks may do to their call ---- */

/* A tool and a hook get the context of the call they work for: its fields say
 * what is known, and these functions change what becomes of the call. What
 * they keep is in the block until tcall_release. */

/* Reports a piece of output while the work goes on: TCALL_EVENT_OUTPUT. */
TCALL_API void tcall_emit(tcall_ctx *cx, tcall_str text);
/* Reports what is being done: TCALL_EVENT_PROGRESS. */
TCALL_API void tcall_progress(tcall_ctx *cx, tcall_str text);
/* Copies a short title for people (reported as progress, too) and metadata,
 * JSON text for programs, to cx->result. An empty one leaves what was set
 * before. Returns TCALL_OK, TCALL_E_MEMORY, or what is wrong with metadata that
 * is not JSON. Tools set cx->result.suggestion and cx->result.attached
 * themselves. */
TCALL_API int tcall_set_result(tcall_ctx *cx, tcall_str title,
                               tcall_str metadata);

/* Returns true when the tool has all of these permissions: it names them,
 * needed or optional, and the registry allows them. */
TCALL_API bool tcall_is_granted(const tcall_ctx *cx, unsigned permissions);

/* Returns the object of a service, which stays its owner's, looked up by name
 * in the call, then in its session, then in the registry. Where there is none
 * it returns NULL, and the call fails with TCALL_E_SERVICE. */
TCALL_API void *tcall_require_service(tcall_ctx *cx, const char *name);
typedef enum tcall_scope { TCALL_SCOPE_CALL, TCALL_SCOPE_SESSION } tcall_scope;
/* Adds a service. One for a session stays the caller's, is in no other session
 * and must live until tcall_unbind_service; added again it comes first. One for
 * the call is copied to the block, so that other calls may add it, too. Returns
 * TCALL_E_USAGE for one without a name, and for the session of a call that has
 * none, or TCALL_E_MEMORY. */
TCALL_API int tcall_bind_service(tcall_ctx *cx, tcall_service *service,
                                 tcall_scope scope);
/* Removes a service from a session. */
TCALL_API void tcall_unbind_service(tcall_session *session,
                                    const tcall_service *service);
/* Returns size bytes of the call, shared by all who give the same name: zeroed
 * at first, in the block, until tcall_release. NULL where the block is full. */
TCALL_API void *tcall_scratch(tcall_ctx *cx, const char *name, size_t size);

/* Makes the call end within ms milliseconds from now, unless it has to end
 * earlier. Needs desc.now_ms. */
TCALL_API void tcall_deadline(tcall_ctx *cx, uint32_t ms);
/* Returns the milliseconds that are left, INT32_MAX without a deadline. */
TCALL_API int32_t tcall_time_left(const tcall_ctx *cx);

/* Fails the call: `return tcall_abort(...)`. reason, in words, and code, a name
 * for it (NULL: "aborted"), must outlive the call; status is one of HTTP, such
 * as 403, or 0. */
TCALL_API int tcall_abort(tcall_ctx *cx, const char *reason, const char *code,
                          int status);
/* Fails the call, which may be made again in ms milliseconds. Returns
 * TCALL_E_RATE. */
TCALL_API int tcall_retry_after(tcall_ctx *cx, uint32_t ms, const char *reason);

/* -- For authors of hooks -- */

/* Answers the call with text: `return tcall_respond(cx, text)`. The stages up
 * to the run of the tool are skipped, those after it are not. After a failure
 * this turns it into a success. From TCALL_WILL_AUDIT on the result is
 * complete: TCALL_E_USAGE, as of tcall_set_output. */
TCALL_API int tcall_respond(tcall_ctx *cx, tcall_str text);
/* Replaces the arguments by other JSON text before the tool runs: it is checked
 * like the first one, and approval is asked for again. At
 * TCALL_WILL_INJECT_SECRETS only the tool gets the new ones: approvals, hooks,
 * events, records and errors go on with what was asked. Returns TCALL_OK or the
 * error of the check. */
TCALL_API int tcall_set_input(tcall_ctx *cx, tcall_str text);
/* Replaces the output. What does not fit is cut, and a notice at the end says
 * how long it was; TCALL_E_MEMORY where not even that fits. */
TCALL_API int tcall_set_output(tcall_ctx *cx, tcall_str text);
/* Returns the output written so far; valid until it changes. */
TCALL_API tcall_str tcall_output(const tcall_ctx *cx);
