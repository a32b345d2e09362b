#pragma once
#include "invoke.h"
#include "records.c"
#include "rows.c"

/* ==========================================================================
 * >>invoke
 */

/* When a stage is due: towards the run (GOING), after it, always ... The
 * states of a call are bits, and each stage has the set of states that it is
 * due in: that, and the order of the list, is the whole lifecycle. */
enum {
    TCALL_GOING_ = 1,    /* towards the run of the tool */
    TCALL_HIT_ = 2,      /* answered by a hook at WILL_READ_CACHE */
    TCALL_ANSWERED_ = 4, /* there is an output, and no error */
    TCALL_FAILED_ = 8,
    TCALL_DONE_ = 16,
    TCALL_LATE_ = 32, /* of a stage: higher priority comes later */

    TCALL_INNER_ = TCALL_GOING_, /* inside of AROUND_EXECUTE */
    TCALL_AROUND_ = 0,           /* not by the list: inside each other */
    TCALL_WELL_ = TCALL_GOING_ | TCALL_HIT_ | TCALL_ANSWERED_,
    TCALL_ALWAYS_ = TCALL_WELL_ | TCALL_FAILED_,
    TCALL_DID_INNER_ = TCALL_LATE_ | TCALL_INNER_,
    TCALL_DID_GOING_ = TCALL_LATE_ | TCALL_GOING_,
    TCALL_DID_HIT_ = TCALL_LATE_ | TCALL_HIT_,
    TCALL_DID_ALWAYS_ = TCALL_LATE_ | TCALL_ALWAYS_
};

/* Returns size bytes that the call holds until it is released, or NULL. */
static void *tcall_take_(tcall_ctx *cx, size_t size)
{
    if (!cx->tc)
        return NULL;
    tcall_block_share_(&cx->tc->block, cx->call->mark);
    return tcall_block_take_(&cx->tc->block, size);
}

/* Copies text to the memory of the call, where there is a registry. */
static int tcall_keep_(tcall_ctx *cx, tcall_str text, tcall_str *copy)
{
    if (!cx->tc)
        return TCALL_E_USAGE;
    tcall_block_share_(&cx->tc->block, cx->call->mark);
    return tcall_hydrate_keep_(&cx->tc->block, text.ptr, text.len, copy);
}

/* Returns whether the result is complete. */
TCALL_SHARED_ bool tcall_settled_(const tcall_ctx *cx)
{
    return cx->stage > TCALL_ON_ERROR;
}

/* ---- secrets ---- */

/* Is the text one of the arguments that were asked for? */
static bool tcall_was_asked_(const tcall_ctx *cx, tcall_str text)
{
    const char *at = cx->call->asked->args.at,
               *end = at ? tcall_text_skip_(at) : at;
    for (; (at = tcall_text_scalar_(at, end)) < end; at = tcall_text_skip_(at))
        if (tcall_str_eq(tcall_json_str(tcall_json_of_(at, NULL)), text))
            return true;
    return false;
}

/* Masks in a text of the tool, in its place, what hooks injected: nobody else
 * is to see it. Returns how long the text is then. */
static size_t tcall_hide_injected_(const tcall_ctx *cx, tcall_str text)
{
    const char *at = cx->call->runs->args.at,
               *end = at ? tcall_text_skip_(at) : at;
    const char *next;
    for (; (at = tcall_text_scalar_(at, end)) < end; at = next) {
        next = tcall_text_space_(tcall_text_skip_(at));
        if (tcall_text_is_string_(at) && *next != ':' &&
            !tcall_was_asked_(cx, tcall_text_decode_(at)))
            text.len = tcall_mask_text_((char *)(uintptr_t)text.ptr, text.len,
                                        tcall_text_decode_(at).ptr);
    }
    return text.len;
}

/* The same, where hooks injected anything. */
static size_t tcall_hide_(const tcall_ctx *cx, tcall_str text)
{
    return cx->hide ? cx->hide(cx, text) : text.len;
}

/* Tells what the tool says. Where something was injected a copy is told; what
 * there is no room for is not. */
static void tcall_tell_said_(tcall_ctx *cx, tcall_event_kind kind,
                             tcall_str text)
{
    size_t mark = 0;
    if (cx->hide) {
        mark = tcall_block_mark_(&cx->tc->block);
        if (mark && tcall_keep_(cx, text, &text) == TCALL_OK)
            text.len = tcall_hide_(cx, text);
        else
            text.len = 0;
    }
    tcall_tell_call_(cx->call, kind, &text, 0);
    if (mark)
        tcall_block_release_(&cx->tc->block, mark);
}

void tcall_emit(tcall_ctx *cx, tcall_str text)
{
    tcall_tell_said_(cx, TCALL_EVENT_OUTPUT, text);
}

void tcall_progress(tcall_ctx *cx, tcall_str text)
{
    tcall_tell_said_(cx, TCALL_EVENT_PROGRESS, text);
}

int tcall_set_result(tcall_ctx *cx, tcall_str title, tcall_str metadata)
{
    int r = TCALL_OK;
    if (title.len) {
        tcall_progress(cx, title);
        r = tcall_keep_(cx, title, &cx->result.title);
        cx->result.title.len = tcall_hide_(cx, cx->result.title);
    }
    if (metadata.len && r == TCALL_OK)
        r = tcall_json_check(metadata);
    if (metadata.len && r == TCALL_OK)
        r = tcall_keep_(cx, metadata, &cx->result.metadata);
    cx->result.metadata.len = tcall_hide_(cx, cx->result.metadata);
    return r;
}

/* ---- services ---- */

/* Returns the service with this name, or NULL. */
static tcall_service *tcall_service_(tcall_service *list, const char *name)
{
    while (list && (!list->name || strcmp(list->name, name) != 0))
        list = list->next;
    return list;
}

/* The nearest scope wins: a test, or a session, may replace what the registry
 * gives everybody. */
static const tcall_service *tcall_find_service_(const tcall_ctx *cx,
                                                const char *name)
{
    const tcall_service *service = tcall_service_(cx->services, name);
    size_t i;
    if (!service && cx->session)
        service = tcall_service_(cx->session->services, name);
    for (i = 0; !service && cx->tc && i < cx->tc->desc.service_count; i++)
        if (strcmp(cx->tc->desc.services[i].name, name) == 0)
            service = &cx->tc->desc.services[i];
    return service;
}

void *tcall_require_service(tcall_ctx *cx, const char *name)
{
    const tcall_service *service = tcall_find_service_(cx, name);
    if (service && service->object)
        return service->object;
    cx->service_missing = true; /* tcall_outcome_ makes it an error */
    if (cx->state != TCALL_FAILED_)
        cx->failure.by = name;
    return NULL;
}

int tcall_bind_service(tcall_ctx *cx, tcall_service *service, tcall_scope scope)
{
    tcall_service **list = &cx->services, *bound = service;
    bool lasts = scope == TCALL_SCOPE_SESSION;
    if (!service->name || (lasts ? !cx->session : !cx->tc))
        return TCALL_E_USAGE;
    if (lasts) {
        tcall_unbind_service(cx->session, service);
        list = &cx->session->services;
    } else {
        /* A copy: other calls under way may have bound the same one. */
        bound = (tcall_service *)tcall_take_(cx, sizeof *bound);
        if (!bound)
            return TCALL_E_MEMORY;
        *bound = *service;
    }
    bound->next = *list;
    *list = bound;
    return TCALL_OK;
}

void tcall_unbind_service(tcall_session *session, const tcall_service *service)
{
    tcall_service **at = &session->services;
    while (*at && *at != service)
        at = &(*at)->next;
    if (*at)
        *at = service->next;
}

/* Scratch memory is a service of the call, with its object right after it. */
void *tcall_scratch(tcall_ctx *cx, const char *name, size_t size)
{
    const size_t head = (sizeof(tcall_service) + 7) & ~(size_t)7;
    tcall_service *service = tcall_service_(cx->services, name);
    if (service)
        return service->object;
    size += head;
    if (size >= head) /* not more than there are addresses */
        service = (tcall_service *)tcall_take_(cx, size);
    if (!service)
        return NULL;
    memset(service, 0, size);
    service->name = name;
    service->object = (char *)service + head;
    service->next = cx->services;
    cx->services = service;
    return service->object;
}

bool tcall_is_granted(const tcall_ctx *cx, unsigned permissions)
{
    if (!cx->tc)
        return false;
    return (permissions &
            ~(tcall_may_(cx->tc, cx->call->tool) & cx->tc->desc.allow)) == 0;
}

/* ---- time ---- */

/* Differences of times are signed, so that the clock may wrap. */
void tcall_deadline(tcall_ctx *cx, uint32_t ms)
{
    uint32_t end;
    if (!cx->tc || !cx->tc->desc.now_ms)
        return;
    end = tcall_now_(cx->tc) + ms;
    if (!cx->deadline || (int32_t)(cx->deadline - end) > 0)
        cx->deadline = end ? end : 1;
}

int32_t tcall_time_left(const tcall_ctx *cx)
{
    int32_t left =
        cx->deadline ? (int32_t)(cx->deadline - tcall_now_(cx->tc)) : INT32_MAX;
    return left > 0 ? left : 0;
}

/* ---- input and output ---- */

/* Returns who is at work: a hook, or the tool. */
static const char *tcall_worker_(const tcall_ctx *cx)
{
    return cx->hook ? cx->hook->name : cx->call->tool->name;
}

/* Where secrets are injected the tool gets other arguments than were asked for,
 * which nobody else sees, not even in what is said of a fault. */
static int tcall_inject_(tcall_ctx *cx, tcall_str text)
{
    tcall_attempt *runs = NULL; /* a list of its own */
    int r = TCALL_E_MEMORY;
    if (tcall_attempt_new_(cx->call, &runs, tcall_worker_(cx), text))
        r = tcall_attempt_check_(cx->call, runs);
    if (r < 0)
        return r;
    cx->call->runs = runs;
    cx->hide = tcall_hide_injected_;
    cx->bound = runs->bound;
    return r;
}

/* The new arguments go the way of the first ones, and nothing that was said of
 * those holds any more: not the check, not the approval. A call that was cut
 * stays that. Once the tool has run it is too late. */
int tcall_set_input(tcall_ctx *cx, tcall_str text)
{
    tcall_call *call = cx->call;
    int r;
    if (!call || !call->tool || cx->state != TCALL_GOING_ || cx->tool)
        return TCALL_E_USAGE;
    r = tcall_keep_(cx, text, &text);
    if (r == TCALL_OK && cx->stage == TCALL_WILL_INJECT_SECRETS) {
        r = tcall_inject_(cx, text);
        return r == TCALL_E_MEMORY ? call->error = r : r;
    }
    call->approved = false;
    if (r == TCALL_OK)
        r = tcall_attempt_anew_(call, tcall_worker_(cx), text);
    return call->error = r;
}

tcall_str tcall_output(const tcall_ctx *cx)
{
    size_t start = cx->out ? cx->out_start->fill : 0;
    const char *output = cx->out ? cx->out->buf : NULL;
    if (start) /* without a buffer it stays NULL */
        output += start;
    return tcall_slice_(output, cx->out ? cx->out->fill - start : 0);
}

/* The old output stays among the attempts, as a hook may have to show what it
 * replaced. */
int tcall_set_output(tcall_ctx *cx, tcall_str text)
{
    tcall_str old = tcall_output(cx), kept;
    if (tcall_settled_(cx) || !cx->out)
        return TCALL_E_USAGE;
    if (old.len) {
        if (tcall_keep_(cx, old, &kept) < 0 ||
            !tcall_attempt_new_(cx->call, &cx->call->attempts,
                                tcall_worker_(cx), kept))
            return TCALL_E_MEMORY;
        /* A part of the old output may be the new one. */
        if (text.ptr >= old.ptr && text.ptr < old.ptr + old.len)
            text.ptr = kept.ptr + (text.ptr - old.ptr);
    }
    tcall_output_clear_(cx);
    tcall_write_bytes(cx->out, text.ptr, text.len);
    return tcall_output_cut_(cx);
}

/* ---- what becomes of the call ---- */

/* An answer at the stage of the cache is a hit, which has stages of its own. */
int tcall_respond(tcall_ctx *cx, tcall_str text)
{
    int r = tcall_set_output(cx, text);
    if (r < 0)
        return r;
    if (cx->state != TCALL_HIT_)
        cx->state =
            cx->stage == TCALL_WILL_READ_CACHE ? TCALL_HIT_ : TCALL_ANSWERED_;
    memset(&cx->failure, 0, sizeof cx->failure);
    return TCALL_OK;
}

int tcall_abort(tcall_ctx *cx, const char *reason, const char *code, int status)
{
    if (cx->state != TCALL_FAILED_ &&
        !tcall_settled_(cx)) { /* the first counts */
        cx->failure.reason = tcall_str_of(reason);
        cx->failure.code = code;
        cx->failure.status = status;
    }
    return TCALL_E_ABORTED;
}

int tcall_retry_after(tcall_ctx *cx, uint32_t ms, const char *reason)
{
    tcall_abort(cx, reason, NULL, 429);
    if (cx->state != TCALL_FAILED_ && !tcall_settled_(cx))
        cx->failure.retry_ms = ms;
    return TCALL_E_RATE;
}

/* Returns why the tool must not run now or go on, or TCALL_OK. */
static int tcall_must_end_(const tcall_ctx *cx)
{
    if (cx->stop < 0)
        return cx->stop;
    return tcall_time_left(cx) == 0 ? TCALL_E_TIMEOUT : TCALL_OK;
}

/* Where an attempt to run the tool is. */
enum {
    TCALL_RUN_NOT_,      /* none is under way */
    TCALL_RUN_RETRY_,    /* at ON_RETRY, of all but the first */
    TCALL_RUN_HOOKS_,    /* at WILL_EXECUTE */
    TCALL_RUN_APPROVAL_, /* hooks may have changed the arguments: ask again */
    TCALL_RUN_BEGIN_,    /* the tool is due */
    TCALL_RUN_DID_       /* at DID_EXECUTE */
};

/* ---- output that has to wait ---- */

/* True once the tool has run well, or for the last time, or something stands in
 * its place: what is written is the output. */
static bool tcall_has_run_(const tcall_ctx *cx)
{
    return cx->state != TCALL_GOING_ || cx->stage >= TCALL_ON_GIVE_UP ||
           cx->run_step == TCALL_RUN_DID_;
}

/* Lets a hook wait after the run: the output lies in the block meanwhile.
 * Returns TCALL_E_AGAIN, or why it may not wait. */
static int tcall_output_hold_(tcall_ctx *cx, int r)
{
    tcall_str text = tcall_output(cx);
    int end = tcall_must_end_(cx);
    if (r != TCALL_E_AGAIN)
        return TCALL_E_USAGE;
    if (end < 0)
        return end;
    if (!tcall_str_eq(cx->output, text) &&
        tcall_keep_(cx, text, &cx->output) < 0)
        return TCALL_E_MEMORY;
    cx->output_held = true;
    return r;
}

/* ---- failure ---- */

/* Bytes of a tool's reason that are kept. */
#define TCALL_REASON_ 128

/* Notes what failed, and where. What was noted of the same error stays: it is
 * passed on from the tool to the hooks around it. */
static void tcall_note_failure_(tcall_ctx *cx, int error)
{
    tcall_failure *failure = &cx->failure;
    if (error >= 0 || cx->state == TCALL_FAILED_ || failure->error == error)
        return;
    failure->error = error;
    failure->stage = cx->stage;
    failure->attempt = cx->attempt;
    failure->ran = cx->result.ran;
}

/* Makes the call fail; the first failure counts. */
static void tcall_fail_(tcall_ctx *cx, int error)
{
    tcall_note_failure_(cx, error);
    if (error < 0)
        cx->state = TCALL_FAILED_;
}

/* Copies the tool's words of why it failed, before the output is taken back:
 * to memory that all attempts share. Without it the error's code must do. */
static void tcall_keep_reason_(tcall_ctx *cx, tcall_str text)
{
    if (!cx->words)
        cx->words = (char *)tcall_take_(cx, TCALL_REASON_);
    if (!cx->words || cx->state == TCALL_FAILED_ || !text.len)
        return;
    if (text.len > TCALL_REASON_)
        text.len = tcall_utf8_cut_(text.ptr, TCALL_REASON_);
    memmove(cx->words, text.ptr, text.len);
    cx->failure.reason = tcall_slice_(cx->words, text.len);
    cx->failure.reason.len = tcall_hide_(cx, cx->failure.reason);
}

/* True for the two errors that ask for tcall_invoke once more. */
static bool tcall_waits_(int r)
{
    return r == TCALL_E_AGAIN || r == TCALL_E_APPROVAL;
}

/* Returns how a hook or the tool ended: with an error, whatever it returned,
 * when it required a service that is missing. */
static int tcall_outcome_(tcall_ctx *cx, int r)
{
    if (cx->service_missing)
        r = TCALL_E_SERVICE;
    cx->service_missing = false;
    return r > 0 ? TCALL_OK : r;
}

/* ---- permission ---- */

/* Checks that the registry gives the tool to its user. */
static int tcall_authorize_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    if (!call->tool)
        return call->error < 0 ? call->error : TCALL_E_USAGE;
    return tcall_withheld_(cx->tc, call->tool) ? TCALL_E_DENIED : TCALL_OK;
}

/* ---- approval ---- */

/* Notes a verdict, and reports it: once when it is asked for, once when it is
 * there. Returns TCALL_E_APPROVAL where it comes later, TCALL_E_DENIED or
 * TCALL_OK. */
TCALL_SHARED_ int tcall_verdict_(tcall_ctx *cx, tcall_verdict verdict)
{
    bool asked = cx->approval_asked, allowed = verdict == TCALL_VERDICT_ALLOW;
    cx->approval_asked = verdict == TCALL_VERDICT_LATER;
    cx->call->approved = allowed;
    if (asked != cx->approval_asked)
        tcall_tell_call_(cx->call,
                         asked ? TCALL_EVENT_VERDICT : TCALL_EVENT_APPROVAL,
                         NULL, (int)verdict);
    if (cx->approval_asked)
        return TCALL_E_APPROVAL;
    return allowed ? TCALL_OK : TCALL_E_DENIED;
}

/* True when the call needs approval: the tool or its author says so, what runs
 * is the work of a repair, or nobody has checked the arguments. */
static bool tcall_needs_approval_(const tcall_call *call)
{
    const tcall_tool *tool = call->tool;
    bool reads_only = tcall_may_(call->cx.tc, tool) == TCALL_READ;
    bool confirm = tool->confirm && !tool->looks_first;
    if (confirm || call->cx.approval_wanted || (call->repaired && !reads_only))
        return true;
    if (tcall_is_checked_(tool) || tool->no_schema_mode == TCALL_NO_SCHEMA_FULL)
        return false;
    return !reads_only || tool->no_schema_mode != TCALL_NO_SCHEMA_READ_ONLY;
}

/* Asks desc.approve, which may know at once. */
TCALL_SHARED_ int tcall_ask_consent_(tcall_ctx *cx)
{
    const tcall_desc *desc = &cx->tc->desc;
    tcall_verdict_(cx, TCALL_VERDICT_LATER);
    return tcall_verdict_(cx, desc->approve
                                  ? desc->approve(desc->user, cx->call)
                                  : TCALL_VERDICT_DENY);
}

/* Asks where it has to be asked. */
static int tcall_consent_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    if (call->error < 0 ||
        (!tcall_needs_approval_(call) && !cx->approval_asked))
        return TCALL_OK;
    return call->approved ? tcall_verdict_(cx, TCALL_VERDICT_ALLOW)
                          : tcall_ask_consent_(cx);
}

/* ---- the tool ---- */

/* Calls the tool's function once. */
static int tcall_run_call_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    const tcall_hook *around = cx->hook;
    uint32_t before = tcall_now_(cx->tc);
    bool ran = cx->result.ran;
    int r;
    cx->result.ran = true;
    cx->tool = TCALL_TOOL_RAN_;
    cx->hook = NULL;
    cx->out->last = 0;
    r = tcall_outcome_(
        cx,
        call->tool->run(cx, call->runs ? call->runs->args : call->asked->args,
                        cx->out));
    if (r == TCALL_E_APPROVAL || (r == TCALL_E_DENIED && cx->approval_wanted))
        cx->result.ran = ran; /* it only looked */
    cx->hook = around;
    call->run_ms += tcall_now_(cx->tc) - before;
    return r;
}

/* Masks what hooks injected in what the tool has written and in why it failed.
 */
static void tcall_hide_said_(tcall_ctx *cx)
{
    tcall_str text = tcall_output(cx);
    size_t less = text.len - tcall_hide_(cx, text);
    cx->out->fill -= less;
    cx->out->len -= less;
    if (cx->hide && cx->failure.reason.len)
        tcall_keep_reason_(cx, cx->failure.reason);
}

/* Runs the tool, or lets it go on. One that has to end is called a last time
 * only if it holds something, and what it then writes does not count. */
static int tcall_run_(tcall_ctx *cx)
{
    int end = tcall_must_end_(cx), r;
    if (end < 0) {
        if (cx->tool != TCALL_TOOL_WAITS_)
            return end;
        cx->stop = end;
    }
    r = tcall_run_call_(cx);
    tcall_hide_said_(cx);
    if (r == TCALL_E_AGAIN)
        cx->tool = TCALL_TOOL_WAITS_;
    if (end < 0 || tcall_waits_(r)) {
        tcall_output_clear_(cx);
        return end < 0 ? end : r;
    }
    if (r == TCALL_OK || (r == TCALL_E_MEMORY && cx->out->error == r)) {
        /* what hooks made of tcall_approval did not keep it from working */
        memset(&cx->failure, 0, sizeof cx->failure);
        cx->tool = TCALL_TOOL_DID_;
        return tcall_output_cut_(cx);
    }
    tcall_note_failure_(cx, r);
    if (!cx->failure.reason.len && !cx->failure.by)
        tcall_keep_reason_(cx, tcall_output(cx)); /* it wrote why */
    return r;
}

/* ---- the schema of the output ---- */

/* Keeps why an output is refused: the first thing that is wrong with it. */
static int tcall_output_wrong_(tcall_ctx *cx, const tcall_attempt *attempt)
{
    tcall_block *block = &cx->tc->block;
    tcall_writer why = tcall_hydrate_writer_(block);
    tcall_write_text(&why, tcall_call_error_text_(TCALL_E_OUTPUT));
    tcall_write_text(&why, ": ");
    tcall_say_fault_(&why, cx->call->tool->output.reader->say, attempt->args.at,
                     attempt->fault, false);
    tcall_hydrate_keep_(block, why.buf, why.fill, &cx->failure.reason);
    return TCALL_E_OUTPUT;
}

/* Reads the output as its schema has it, with a frame of its own. */
TCALL_NOINLINE_ static int tcall_output_read_(tcall_ctx *cx,
                                              const tcall_node *node)
{
    tcall_block *block = &cx->tc->block;
    tcall_attempt attempt;
    tcall_machine *machine;
    tcall_machine_desc desc;
    int r;
    memset(&attempt, 0, sizeof attempt);
    memset(&desc, 0, sizeof desc);
    desc.target.node = node;
    desc.target.rows = cx->call->tool->output.reader->rows;
    machine = tcall_read_strictly_(block, &desc, tcall_output(cx));
    r = tcall_attempt_keep_(block, &attempt, machine, block->high);
    if (r == TCALL_E_INVALID)
        return tcall_output_wrong_(cx, &attempt);
    if (r == TCALL_OK || r == TCALL_E_MEMORY || r == TCALL_E_BUDGET)
        return r;
    cx->failure.reason = tcall_str_of("the output of the tool is no JSON "
                                      "value, which its schema asks for");
    return TCALL_E_OUTPUT;
}

/* Judges the output. Where it is refused the block goes on holding the reason.
 * What was cut is no fault of the tool. */
TCALL_NOINLINE_ static int tcall_output_judge_(tcall_ctx *cx)
{
    tcall_schema_text source = cx->call->tool->output;
    size_t high = cx->tc->block.high;
    const tcall_node *node = NULL;
    int r;
    if (cx->wanted)
        return TCALL_E_MEMORY;
    r = source.reader->hold(cx->tc, &node, source);
    if (r == TCALL_OK)
        r = tcall_output_read_(cx, node);
    if (r == TCALL_E_MEMORY)
        cx->wanted = tcall_output(cx).len; /* all of it is needed */
    if (r != TCALL_E_OUTPUT)
        tcall_block_back_(&cx->tc->block, high);
    return r;
}

/* Checks the output, where the tool has a schema of it. What a hook answered in
 * place of the tool is its own. */
static int tcall_check_output_(tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    return tool && tool->output.text && cx->state != TCALL_ANSWERED_
               ? tool->output.reader->output(cx)
               : TCALL_OK;
}

TCALL_DATA_ const struct tcall_schema_reader_ tcall_schema_reader = {
    tcall_schema_judge_, tcall_schema_compile_for_,   &tcall_schema_rows,
    tcall_say_node_,     tcall_write_schema_example_, tcall_hydrate_compile_,
    tcall_output_judge_};

TCALL_DATA_ const struct tcall_schema_reader_ tcall_nodes_reader = {
    tcall_schema_judge_, tcall_nodes_take_,           &tcall_schema_rows,
    tcall_say_node_,     tcall_write_schema_example_, tcall_hydrate_compile_,
    tcall_output_judge_};

TCALL_DATA_ const struct tcall_schema_reader_ tcall_shape_reader = {
    NULL, NULL, &tcall_shape_rows, tcall_say_shape_, tcall_write_shape_example_,
    NULL, NULL};

tcall_schema_text tcall_schema_text_of(const char *text)
{
    tcall_schema_text source = {text, text ? &tcall_schema_reader : NULL, NULL};
    return source;
}

/* ---- hooks ---- */

/* The states that each stage is due in. */
static const uint8_t tcall_due_[] = {
#define TCALL_X_(NAME, when) TCALL_##when##_,
    TCALL_STAGES(TCALL_X_)
#undef TCALL_X_
};

/* Reports what is wrong with the hooks of a tool, NULL: of the registry. Each
 * is named with its table. */
static int tcall_hooks_add_(tcall *tc, const tcall_tool *tool)
{
    const tcall_desc *desc = &tc->desc;
    const tcall_hook *hook = tool ? tool->hooks : desc->hooks;
    size_t left = tool ? tool->hook_count : desc->hook_count;
    const char *name = tool ? tool->name : "tcall_desc";
    int r = TCALL_OK;
    for (; left; hook++, left--) {
        char which[64];
        tcall_writer out;
        tcall_writer_init(&out, which, sizeof which - 1);
        tcall_write_text(&out, name ? name : "(no name)");
        tcall_write_text(&out, ": hook ");
        tcall_write_text(&out, hook->name ? hook->name : "(no name)");
        which[out.fill] = '\0';
        r = tcall_worse_(
            r,
            tcall_refuse_(tc, which,
                          TCALL_FAULT_(HOOK_RUN, !hook->run) |
                              TCALL_FAULT_(HOOK_STAGE,
                                           hook->stage >= TCALL_STAGE_COUNT)));
    }
    return r;
}

/* Returns a hook of a call, NULL after the last: those of the registry come
 * first, then those of the tool. */
static const tcall_hook *tcall_hook_at_(const tcall_ctx *cx, size_t index)
{
    const tcall_desc *desc = &cx->tc->desc;
    const tcall_tool *tool = cx->call->tool;
    if (index < desc->hook_count)
        return &desc->hooks[index];
    index -= desc->hook_count;
    return tool && index < tool->hook_count ? &tool->hooks[index] : NULL;
}

/* Which hook of a stage has ended last: its place, counted from 1, or: */
enum { TCALL_HOOKS_BEGIN_ = 0, TCALL_HOOKS_END_ = UINT16_MAX };

/* Returns how late a hook is called at its stage: of equal priority, the first
 * in the tables first. Its low half is its place. */
static uint32_t tcall_hook_rank_(const tcall_hook *hook, uint16_t place)
{
    int16_t priority = hook->priority;
    bool late = (tcall_due_[hook->stage] & TCALL_LATE_) != 0;
    int16_t rank = (int16_t)(late ? priority : -1 - priority);
    return (uint32_t)(rank + 0x8000L) << 16 | place;
}

/* Returns where the hook is that follows a place: they lie in no order, for
 * their tables are short. */
static uint16_t tcall_hook_after_(const tcall_ctx *cx, int stage,
                                  uint16_t place)
{
    uint32_t least = 0, next = UINT32_MAX;
    const tcall_hook *hook;
    uint16_t i;
    hook = tcall_hook_at_(cx, place - 1u); /* NULL: none has ended */
    if (hook)
        least = tcall_hook_rank_(hook, place);
    for (i = 1; (hook = tcall_hook_at_(cx, i - 1u)) && i < TCALL_HOOKS_END_;
         i++) {
        uint32_t rank = tcall_hook_rank_(hook, i);
        if (hook->stage == stage && rank > least && rank < next)
            next = rank; /* at last its place, or TCALL_HOOKS_END_ */
    }
    return (uint16_t)next;
}

/* ---- hooks that acquire and hooks that release ---- */

static bool tcall_acquires_(const tcall_hook *hook)
{
    return hook->stage == TCALL_WILL_ACQUIRE_QUOTA ||
           hook->stage == TCALL_WILL_ACQUIRE_SEMAPHORE;
}

/* Returns the bit in cx->held of a hook that acquires, or the bits of those
 * that the given hook may release: the ones with the same user. What is
 * acquired last is released first, so two such stages have one sum. */
static uint32_t tcall_holders_(const tcall_ctx *cx, const tcall_hook *own)
{
    const int both = TCALL_WILL_ACQUIRE_QUOTA + TCALL_DID_RELEASE_QUOTA;
    const tcall_hook *hook;
    uint32_t bits = 0, bit = 1;
    size_t i;
    for (i = 0; (hook = tcall_hook_at_(cx, i)) != NULL; i++) {
        if (!tcall_acquires_(hook))
            continue;
        if (hook == own ||
            (hook->stage + own->stage == both && hook->user == own->user))
            bits |= bit;
        bit <<= 1;
    }
    return bits;
}

/* Notes what a hook has acquired, for which there are 32 bits, or that it has
 * released the first of what it may. */
static int tcall_hold_(tcall_ctx *cx, const tcall_hook *hook)
{
    uint32_t bits = tcall_holders_(cx, hook);
    if (!tcall_acquires_(hook)) {
        bits &= cx->held;
        cx->held &= ~(bits & (0 - bits)); /* the lowest */
    } else if (cx->state == TCALL_GOING_) {
        cx->held |= bits;
        return bits ? TCALL_OK : TCALL_E_LIMIT;
    }
    return TCALL_OK;
}

/* ---- one stage ---- */

/* Returns whether the hook's filter lets it run, and what it releases was
 * acquired, or could not be. */
static bool tcall_hook_due_(tcall_ctx *cx, const tcall_hook *hook)
{
    uint32_t bits;
    if (hook->filter && !hook->filter(cx, hook->user))
        return false;
    bits = tcall_acquires_(hook) ? 0 : tcall_holders_(cx, hook);
    return !bits || cx->held & bits;
}

/* Returns whether hooks of a stage no longer decide what becomes of the call.
 */
static bool tcall_only_told_(int stage)
{
    return stage == TCALL_ON_GIVE_UP || stage >= TCALL_ON_ERROR;
}

/* Says how a hook ended: whether it may wait, and who failed. */
static int tcall_hook_ended_(tcall_ctx *cx, int r)
{
    const tcall_hook *hook = cx->hook;
    if (tcall_waits_(r) && tcall_has_run_(cx))
        r = tcall_output_hold_(cx, r);
    if (r >= 0 || tcall_waits_(r))
        return r;
    if (tcall_only_told_(hook->stage)) {
        tcall_str name = tcall_str_of(hook->name);
        tcall_tell_call_(cx->call, TCALL_EVENT_HOOK, &name, r);
        return TCALL_OK;
    }
    if (hook->stage != TCALL_AROUND_EXECUTE && !cx->failure.by)
        cx->failure.by = hook->name;
    tcall_note_failure_(cx, r);
    return r;
}

static int tcall_hook_run_(tcall_ctx *cx, const tcall_hook *hook)
{
    const tcall_hook *around = cx->hook;
    int r;
    cx->hook = hook;
    r = tcall_hook_ended_(cx, tcall_outcome_(cx, hook->run(cx, hook->user)));
    cx->hook = around;
    return r == TCALL_OK ? tcall_hold_(cx, hook) : r;
}

/* Runs the hooks of a stage after a place, where it is due; returns their first
 * error. One that waits is the next again. An error, or an answer, ends
 * the stage, unless it is one of those that see every call. */
static int tcall_hooks_(tcall_ctx *cx, int stage, uint16_t *place)
{
    int r = TCALL_OK, state = cx->state;
    uint8_t outer = cx->stage;
    uint16_t next;
    if (!(tcall_due_[stage] & state) ||
        (stage == TCALL_ON_GIVE_UP && !cx->attempt))
        return TCALL_OK;
    cx->stage = (uint8_t)stage;
    while (r >= 0 && (cx->state == state || stage >= TCALL_ON_ERROR) &&
           (next = tcall_hook_after_(cx, stage, *place)) != TCALL_HOOKS_END_) {
        const tcall_hook *hook = tcall_hook_at_(cx, next - 1u);
        if (tcall_hook_due_(cx, hook))
            r = tcall_hook_run_(cx, hook);
        if (r >= 0)
            *place = next;
    }
    cx->stage = outer;
    return r;
}

/* ---- attempts ---- */

/* Asks for approval once more, where hooks at WILL_EXECUTE have changed the
 * arguments. */
static int tcall_approve_again_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    int r = call->error;
    if (r == TCALL_OK && !call->approved && tcall_needs_approval_(call))
        r = tcall_hooks_(cx, TCALL_WILL_CHECK_CONSENT, &cx->last_hook);
    return r == TCALL_OK && cx->state == TCALL_GOING_ ? tcall_consent_(cx) : r;
}

/* Begins an attempt. Returns why there is none, or, where the tool must not run
 * a second time, the first result, which stays. */
static int tcall_attempt_begin_(tcall_ctx *cx)
{
    bool again = cx->attempt++ > 0;
    int end = tcall_must_end_(cx);
    if (end < 0 || (cx->tool && !tcall_repeatable_(cx)))
        return end < 0 ? end : cx->failure.error;
    tcall_output_clear_(cx);
    cx->run_step = again ? TCALL_RUN_RETRY_ : TCALL_RUN_HOOKS_;
    cx->last_hook = TCALL_HOOKS_BEGIN_;
    if (again)
        tcall_tell_call_(cx->call, TCALL_EVENT_RETRY, &cx->failure.reason, 0);
    return TCALL_OK;
}

/* Does one step of an attempt: hooks at ON_RETRY, which see how the last one
 * failed, those at WILL_EXECUTE, approval, the tool, and hooks at DID_EXECUTE.
 */
static int tcall_attempt_step_(tcall_ctx *cx)
{
    static const uint8_t stages[] = {0, TCALL_ON_RETRY,   TCALL_WILL_EXECUTE, 0,
                                     0, TCALL_DID_EXECUTE};
    int r;
    if (cx->run_step == TCALL_RUN_APPROVAL_)
        return tcall_approve_again_(cx);
    if (cx->run_step == TCALL_RUN_BEGIN_)
        return tcall_run_(cx);
    r = tcall_hooks_(cx, stages[cx->run_step], &cx->last_hook);
    if (r == TCALL_OK && cx->run_step == TCALL_RUN_RETRY_ &&
        cx->state == TCALL_GOING_)
        memset(&cx->failure, 0, sizeof cx->failure);
    return r;
}

/* Makes one attempt, or goes on with the one that waits. */
static int tcall_attempt_at_run_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    if (cx->run_step == TCALL_RUN_NOT_)
        r = tcall_attempt_begin_(cx);
    while (r == TCALL_OK && cx->state == TCALL_GOING_ &&
           cx->run_step <= TCALL_RUN_DID_) {
        r = tcall_attempt_step_(cx);
        if (r < 0)
            break;
        cx->run_step++;
        cx->last_hook = TCALL_HOOKS_BEGIN_;
    }
    if (tcall_waits_(r))
        return r;
    cx->run_step = TCALL_RUN_NOT_;
    tcall_note_failure_(cx, r);
    return r;
}

/* Runs the tool inside of those hooks around it that follow a place. */
static int tcall_inside_(tcall_ctx *cx, uint16_t place)
{
    const tcall_hook *hook;
    uint16_t here = cx->around;
    int r;
    do {
        place = tcall_hook_after_(cx, TCALL_AROUND_EXECUTE, place);
        hook = tcall_hook_at_(cx, place - 1u);
    } while (hook && !tcall_hook_due_(cx, hook));
    cx->around = place;
    cx->around_depth++;
    r = hook ? tcall_hook_run_(cx, hook) : tcall_attempt_at_run_(cx);
    cx->around_depth--;
    cx->around = here;
    return r;
}

/* The tool, and hooks that are not around it, are not to call this. */
int tcall_next(tcall_ctx *cx)
{
    if (cx->stage == TCALL_AROUND_EXECUTE && cx->state == TCALL_GOING_ &&
        cx->hook && cx->hook->stage == TCALL_AROUND_EXECUTE &&
        cx->around_depth <= TOOLCALL_MAX_AROUND)
        return tcall_inside_(cx, cx->around);
    cx->attempt++; /* a hook that repeats this until it works, ends */
    return TCALL_E_USAGE;
}

/* Runs the tool inside of the hooks around it, which do not overcome its
 * failure by keeping silent about it. */
static int tcall_around_(tcall_ctx *cx)
{
    int r = tcall_inside_(cx, TCALL_HOOKS_BEGIN_);
    if (tcall_waits_(r) && tcall_must_end_(cx) < 0)
        r = tcall_run_(cx); /* a hook waits on: the tool is told */
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = cx->failure.error < 0 || cx->tool ? cx->failure.error
                                              : (int)TCALL_E_USAGE;
    if (r == TCALL_OK) /* past the stages inside of this one */
        cx->stage = TCALL_ON_RETRY;
    return r;
}

/* Writes what lay in the block while a hook waited. There may be less room than
 * before: a failure that was told already stays JSON. */
static void tcall_output_again_(tcall_ctx *cx)
{
    int r;
    cx->output_held = false;
    tcall_write_bytes(cx->out, cx->output.ptr, cx->output.len);
    r = tcall_output_cut_(cx);
    if (!tcall_settled_(cx))
        tcall_fail_(cx, r);
    else if (cx->wanted && cx->result.error < 0)
        tcall_write_failure_(cx);
    if (tcall_settled_(cx))
        cx->result.output = tcall_output(cx);
}

TCALL_DATA_ const tcall_stages_ tcall_stages = {
    tcall_hooks_add_, tcall_hooks_, tcall_around_, tcall_output_again_};

/* ---- the way of a call ---- */

void tcall_cancel(tcall_call *call, int error)
{
    if (call)
        call->cx.stop = error;
}

/* Replays the stage of approval in the middle of a run. */
int tcall_approval(tcall_ctx *cx)
{
    uint16_t place = 0;
    int r = TCALL_OK;
    if (!cx->call)
        return TCALL_E_USAGE;
    cx->approval_wanted = true;
    if (cx->tc->desc.stages)
        r = cx->tc->desc.stages->at(cx, TCALL_WILL_CHECK_CONSENT, &place);
    return r == TCALL_OK ? tcall_consent_(cx) : r;
}

/* Completes the result: nobody changes it from here on. */
static int tcall_settle_(tcall_ctx *cx)
{
    cx->finished = tcall_now_(cx->tc);
    if (cx->state == TCALL_FAILED_)
        tcall_write_failure_(cx);
    else /* what a hook said, and did not return */
        memset(&cx->failure, 0, sizeof cx->failure);
    cx->result.error = cx->failure.error;
    cx->result.output = tcall_output(cx);
    return TCALL_OK;
}

/* Ends a call that is under way: whatever it waits for, it is told so. */
TCALL_SHARED_ void tcall_end_(tcall_call *call)
{
    tcall_writer out;
    if (!call->cx.state || call->cx.state == TCALL_DONE_)
        return;
    tcall_writer_init(&out, NULL, 0);
    tcall_cancel(call, TCALL_E_CANCELLED);
    tcall_invoke(call->cx.tc, call, &out);
}

int tcall_release(tcall *tc, tcall_call *call)
{
    if (call->cx.at_work || call->is_agents)
        return TCALL_E_USAGE;
    tcall_end_(call);
    tcall_let_go_(tc, call);
    return TCALL_OK;
}

/* Sets up the context. A registry that cannot be used fails the call here, so
 * that even then there is a result to read. */
TCALL_NOINLINE_ static void tcall_begin_(tcall *tc, tcall_call *call)
{
    tcall_ctx *cx = &call->cx;
    cx->call = call;
    if (!call->asked)
        call->asked = &tcall_unread_; /* nobody has hydrated it */
    cx->session = call->session ? call->session : tc->desc.session;
    cx->state = TCALL_GOING_;
    cx->started = tcall_now_(tc);
    tcall_tell_call_(call, TCALL_EVENT_START, NULL, 0);
    tcall_fail_(cx, tcall_usable_(tc));
    if (call->loops && tcall_must_end_(cx) == TCALL_OK)
        tcall_fail_(cx, tc->breaker(cx, true));
}

/* Where the block was too small for one step of a call that began at this
 * height, the next ones would need more: says how large it has to be for all of
 * them. */
static void tcall_foresee_(tcall *tc, size_t high, size_t bytes)
{
    tcall_block *block = &tc->block;
    if (block->need > block->size)
        tcall_block_note_(block, block->low + high +
                                     tcall_call_room_(&tc->desc, bytes));
}

/* Reports the end; listeners see a call that is complete. */
TCALL_NOINLINE_ static int tcall_finish_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    if (cx->approval_asked)
        tcall_verdict_(cx, TCALL_VERDICT_DENY);
    call->error = cx->result.error;
    if (call->loops)
        cx->tc->breaker(cx, false);
    if (call->error == TCALL_E_MEMORY && !call->by_model)
        tcall_foresee_(cx->tc, call->mark,
                       tcall_asked_text_(call).len + cx->wanted);
    cx->state = TCALL_DONE_;
    if (call->error < 0 && cx->tc->desc.events)
        cx->tc->desc.events->error(cx);
    tcall_tell_call_(call, TCALL_EVENT_END, &cx->result.output, 0);
    return TCALL_OK;
}

/* Returns why the arguments were refused, or TCALL_OK. */
static int tcall_checked_(tcall_ctx *cx)
{
    return cx->call->error;
}

/* Runs the tool, inside of the hooks around it. */
static int tcall_make_(tcall_ctx *cx)
{
    if (cx->tc->desc.stages)
        return cx->tc->desc.stages->around(cx);
    cx->attempt = 1;
    return tcall_run_(cx);
}

/* What the library does itself, after the hooks of a stage: where it is due. */
static const struct tcall_own_ {
    uint8_t stage, due;
    int (*run)(tcall_ctx *cx);
} tcall_own_[] = {
    {TCALL_WILL_AUTHORIZE, TCALL_GOING_, tcall_authorize_},
    {TCALL_WILL_CHECK_CONSENT, TCALL_GOING_, tcall_consent_},
    {TCALL_WILL_VALIDATE_INPUT, TCALL_GOING_, tcall_checked_},
    {TCALL_AROUND_EXECUTE, TCALL_GOING_, tcall_make_},
    {TCALL_WILL_VALIDATE_OUTPUT, TCALL_WELL_, tcall_check_output_},
    {TCALL_ON_ERROR, TCALL_ALWAYS_, tcall_settle_},
    {TCALL_WILL_FINALIZE, TCALL_ALWAYS_, tcall_finish_}};

/* Walks through the stages from the one at hand on. Returns TCALL_OK at the end
 * of all, or why to wait. */
static int tcall_walk_(tcall_ctx *cx)
{
    const struct tcall_own_ *own = tcall_own_;
    for (; cx->stage < TCALL_STAGE_COUNT; cx->stage++) {
        int r = TCALL_OK;
        while (own->stage < cx->stage)
            own++;
        if (cx->tc->desc.stages)
            r = cx->tc->desc.stages->at(cx, cx->stage, &cx->last_hook);
        else
            cx->stage = own->stage;
        if (r == TCALL_OK && own->stage == cx->stage && own->due & cx->state)
            r = own->run(cx);
        if (tcall_waits_(r))
            return r;
        tcall_fail_(cx, r);
        cx->last_hook = 0;
    }
    return TCALL_OK;
}

/* Completes what the call waits for. */
static void tcall_await_(tcall_ctx *cx, int r)
{
    cx->asks = r == TCALL_E_APPROVAL;
    if (r == TCALL_E_AGAIN && !cx->wait.count &&
        cx->wait.ms == TCALL_WAIT_NEVER) /* nothing was said */
        tcall_wait_ms(&cx->wait, TCALL_WAIT_POLL_MS);
    if (cx->deadline)
        tcall_wait_ms(&cx->wait, (uint32_t)tcall_time_left(cx));
}

/* Begins a call, or goes on with it. */
TCALL_NOINLINE_ static int tcall_invoke_go_(tcall *tc, tcall_call *call,
                                            tcall_writer *out)
{
    tcall_writer start = *out; /* what a failure goes back to */
    tcall_ctx *cx = &call->cx;
    int r;
    cx->out = out;
    cx->out_start = &start;
    if (!cx->state)
        tcall_begin_(tc, call);
    if (cx->output_held)
        cx->tc->desc.stages->again(cx);
    else if (cx->state == TCALL_GOING_ && cx->tool != TCALL_TOOL_WAITS_)
        tcall_fail_(cx, tcall_must_end_(cx));
    r = tcall_walk_(cx);
    if (r == TCALL_OK)
        r = call->error;
    else
        tcall_output_clear_(cx);
    cx->out = NULL;
    cx->out_start = NULL;
    return r;
}

int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out)
{
    tcall_ctx *cx = &call->cx;
    const tcall *outer;
    int r = TCALL_E_AGAIN;
    if (cx->state == TCALL_DONE_ || cx->at_work)
        return TCALL_E_USAGE;
    cx->tc = tc;
    cx->wait.ms = TCALL_WAIT_NEVER;
    cx->wait.count = 0;
    if (!call->repairing || tcall_must_end_(cx) < 0 ||
        tcall_hydrate(tc, call) != TCALL_E_AGAIN) {
        outer = tcall_work_begin_(tc, call);
        r = tcall_work_end_(call, outer, tcall_invoke_go_(tc, call, out));
    }
    if (cx->state != TCALL_DONE_)
        tcall_await_(cx, r);
    return r;
}

/* Hydrates a call and goes on with it until it has ended. One that still waits
 * when nobody can wait any longer ends then, and releases what it holds. */
static int tcall_see_through_(tcall *tc, tcall_call *call, tcall_writer *out)
{
    const tcall_desc *d = &tc->desc;
    int r;
    tcall_hydrate(tc, call);
    r = tcall_invoke(tc, call, out);
    if (r == TCALL_E_AGAIN)
        tcall_deadline(&call->cx, d->max_wait_ms ? d->max_wait_ms
                                                 : (uint32_t)TCALL_EXECUTE_MS);
    while (r == TCALL_E_AGAIN && d->wait && d->now_ms) {
        tcall_wait wait = call->cx.wait;
        tcall_wait_ms(&wait, TCALL_WAIT_MOST_MS);
        if (wait.ms)
            d->wait(d->user, &wait);
        r = tcall_invoke(tc, call, out);
    }
    if (!tcall_waits_(r))
        return r;
    tcall_cancel(call, r == TCALL_E_AGAIN ? TCALL_E_CANCELLED : r);
    return tcall_invoke(tc, call, out);
}

int tcall_execute(tcall *tc, tcall_str name, tcall_str arguments,
                  tcall_writer *out, tcall_call *call)
{
    size_t high = tc->block.high, mark = 0;
    int r = tcall_usable_(tc);
    if (r < 0)
        return r;
    if (!call) {
        mark = tcall_block_mark_(&tc->block);
        if (mark)
            call = (tcall_call *)tcall_block_take_(&tc->block, sizeof *call);
    }
    if (!call) {
        tcall_block_release_(&tc->block, mark);
        tcall_foresee_(tc, high + sizeof *call, arguments.len);
        return TCALL_E_MEMORY;
    }
    memset(call, 0, sizeof *call);
    call->name = name;
    call->arguments = arguments;
    r = tcall_see_through_(tc, call, out);
    if (mark) {
        tcall_let_go_(tc, call);
        tcall_block_release_(&tc->block, mark);
    }
    return r;
}
