#pragma once
#include "call.h"

/* ==========================================================================
 * >>context: what tools and hooks may do to their call
 *
 * A tool and a hook get the context of the call they work for: its fields say
 * what is known, and these functions change what becomes of the call. What
 * they keep is in the block until tcall_release.
 */

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
