#pragma once
#include "call.h"

/* ==========================================================================
 * >>invoke: from a checked call to a result
 *
 * One walk through TCALL_STAGES, with the hooks of the registry and of the
 * tool at each. It takes a call that tcall_hydrate has seen, good or bad, and
 * always yields a result that the model can read. All it keeps is in the call
 * and, until tcall_release, in the block.
 */

/* Hooks around the run of one tool that may be inside each other. */
#ifndef TOOLCALL_MAX_AROUND
#define TOOLCALL_MAX_AROUND 8
#endif

/* Takes a call through all stages and writes what the model shall read to out,
 * a writer to a buffer (not in the free part of the block): the tool's output,
 * or {"success":false,"error":...}. Returns TCALL_OK, or why it did not run or
 * failed; out is complete in both cases, but for TCALL_E_AGAIN (the tool or a
 * hook wants to be called again) and TCALL_E_APPROVAL (a verdict comes later:
 * desc.approve will be asked again, or set call->approved): out is then
 * untouched, invoke once more. */
TCALL_API int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out);
/* Hydrates, invokes and releases: a tool by its name, without a model. For
 * tools that answer at once; one that wants to be called again is cancelled,
 * TCALL_E_CANCELLED, and one that waits for approval does not run,
 * TCALL_E_APPROVAL. TCALL_E_MEMORY, and nothing in out, when the block has no
 * room for the call. */
TCALL_API int tcall_execute(tcall *tc, tcall_str name, tcall_str arguments,
                            tcall_writer *out);
/* Ends a call at the next tcall_invoke: TCALL_E_CANCELLED, _TIMEOUT or _LIMIT.
 * A tool that answered TCALL_E_AGAIN is called one last time, to let go of
 * what it holds: it sees cx->stop. */
TCALL_API void tcall_cancel(tcall_call *call, int error);

/* For tools: the struct that tool->fields describe, what tool->user points
 * to, a piece of output while the work goes on, and what is being done. */
TCALL_API const void *tcall_bound(const tcall_ctx *cx);
TCALL_API void *tcall_user(const tcall_ctx *cx);
TCALL_API void tcall_chunk(tcall_ctx *cx, tcall_str text);
TCALL_API void tcall_progress(tcall_ctx *cx, tcall_str text);

/* For tools that learn only from the arguments that a call needs approval:
 * TCALL_OK when it has it; else return what this returns, TCALL_E_DENIED, or
 * TCALL_E_APPROVAL: the tool is run anew, with the same arguments, when there
 * is a verdict. Hooks at TCALL_WILL_CHECK_CONSENT are asked as well. */
TCALL_API int tcall_approval(tcall_ctx *cx);

/* What hooks return to take over, see tcall_hook; tools may too. The call is
 * answered with text: what is left up to the run is passed over, the stages
 * behind it are not. After a failure it mends it. */
TCALL_API int tcall_respond(tcall_ctx *cx, tcall_str text);
/* The call fails. reason, in words, and code, a name for it (NULL: "aborted"),
 * must outlive the call; status: of HTTP, such as 403. */
TCALL_API int tcall_abort(tcall_ctx *cx, const char *reason, const char *code,
                          int status);
/* The call fails, and may be made again in ms milliseconds. */
TCALL_API int tcall_retry_after(tcall_ctx *cx, uint32_t ms, const char *reason);
/* For hooks at TCALL_AROUND_EXECUTE: one attempt, with the hooks that are
 * further inside around it. After TCALL_E_AGAIN the outermost is called anew,
 * from its start. Only tools that read only or are idempotent get a second
 * attempt; for the others it is the result of the first. */
TCALL_API int tcall_next(tcall_ctx *cx);

/* What runs the hooks of a stage, for tcall_desc.run_hooks: what is not named
 * there is not linked. */
TCALL_API int tcall_run_hooks(tcall_ctx *cx);
/* Holds the output against tool->output: TCALL_E_OUTPUT. For tcall_tool. */
TCALL_API int tcall_check_output(tcall_ctx *cx);

/* Other arguments, as JSON text, before the tool runs: they are checked like
 * the first ones, and approval is asked for anew. TCALL_OK or why not. */
TCALL_API int tcall_set_input(tcall_ctx *cx, tcall_str text);
/* Another output. What does not fit is cut. */
TCALL_API int tcall_set_output(tcall_ctx *cx, tcall_str text);
/* The output as it stands; valid until it changes. */
TCALL_API tcall_str tcall_output(const tcall_ctx *cx);

/* Parts of the result. title and metadata (JSON text) are copied to the block:
 * TCALL_E_MEMORY; a title is also told as progress. */
TCALL_API int tcall_title(tcall_ctx *cx, tcall_str title);
TCALL_API int tcall_metadata(tcall_ctx *cx, tcall_str json);
TCALL_API void tcall_attach(tcall_ctx *cx, tcall_attachment *attachment);
/* What the model may do about the error; text must outlive the call. */
TCALL_API void tcall_suggest(tcall_ctx *cx, const char *text);
/* {"success":true,"error":"","title":...,"metadata":...,"output":...} of a
 * success; of a failure its output, with title and so on behind it. */
TCALL_API int tcall_write_result(tcall_writer *w, const tcall_result *result);
/* The first lines of the output, without the last line's end. */
TCALL_API tcall_str tcall_result_preview(const tcall_result *result,
                                         int max_lines);

/* Services, looked up by name in the call, then in its session, then in the
 * registry. tcall_get fails the call where there is none. */
TCALL_API void *tcall_get(tcall_ctx *cx, const char *name);
TCALL_API void *tcall_try_get(const tcall_ctx *cx, const char *name);
typedef enum tcall_scope { TCALL_CALL, TCALL_SESSION } tcall_scope;
/* service is the binder's and must live as long as its scope. TCALL_E_USAGE
 * where there is no session. */
TCALL_API int tcall_provide(tcall_ctx *cx, tcall_service *service,
                            tcall_scope scope);
/* Takes a service of a session out again. */
TCALL_API void tcall_withdraw(tcall_session *session,
                              const tcall_service *service);
/* Memory of the call, for tools and hooks that know its name: zeroed at first,
 * in the block, until tcall_release. NULL where the block is too small. */
TCALL_API void *tcall_scratch(tcall_ctx *cx, const char *name, size_t size);

/* The call shall end within ms from now, unless it has to earlier. Needs
 * desc.now_ms. */
TCALL_API void tcall_deadline(tcall_ctx *cx, uint32_t ms);
/* What is left of it, at most INT32_MAX, which also means: no end. */
TCALL_API int32_t tcall_time_left(const tcall_ctx *cx);

/* Who wants every result listens to TCALL_EVENT_END: event->call->cx.result is
 * complete then. These keep the last of them, in the caller's memory:
 *
 *     static tcall_kept rows[8];
 *     static tcall_results results = {rows, TCALL_COUNT(rows)};
 *     tcall_results_begin(&tc, &results);
 */
typedef struct tcall_kept {
    char id[48];    /* of the call; of a longer one the last 48 bytes */
    size_t id_len;  /* of all of it */
    int error;      /* TCALL_OK or why it failed */
    size_t len;     /* bytes of the result, those that did not fit included */
    char text[160]; /* its beginning, cut at a character, ended by NUL */
} tcall_kept;

typedef struct tcall_results {
    tcall_kept *rows;
    size_t row_count; /* at least 1 */
    size_t next;      /* private */
    tcall_listener listener;
} tcall_results;

TCALL_API void tcall_results_begin(tcall *tc, tcall_results *results);
/* The latest one of the call with this id, NULL: none is kept. */
TCALL_API const tcall_kept *tcall_results_get(const tcall_results *results,
                                              tcall_str id);
