#pragma once
#include "context.h"
#include "call.c"
#include "text.c"
#include "mask.c"

/* ==========================================================================
 * >>context
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

    TCALL_INNER_ = 0, /* not by the list: inside AROUND_EXECUTE */
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

/* Is the text one of the arguments that were asked for? */
static bool tcall_was_asked_(const tcall_ctx *cx, tcall_str text)
{
    const char *at = cx->call->args.at, *end = at ? tcall_text_skip_(at) : at;
    for (; (at = tcall_text_scalar_(at, end)) < end; at = tcall_text_skip_(at))
        if (tcall_str_eq(tcall_json_str(tcall_json_of_(at, NULL)), text))
            return true;
    return false;
}

/* Masks in a text of the tool, in its place, what hooks injected: nobody else
 * is to see it. Returns how long the text is then. */
static size_t tcall_hide_injected_(const tcall_ctx *cx, tcall_str text)
{
    const char *at = cx->injected, *end = at ? tcall_text_skip_(at) : at;
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
TCALL_SHARED_ size_t tcall_hide_(const tcall_ctx *cx, tcall_str text)
{
    return cx->hide ? cx->hide(cx, text) : text.len;
}

/* Tells what the tool says. Where something was injected a copy is told; what
 * there is no room for is not. */
static void tcall_tell_said_(tcall_ctx *cx, tcall_event_kind kind,
                             tcall_str text)
{
    size_t mark = 0;
    if (cx->injected) {
        mark = tcall_block_mark_(&cx->tc->block);
        if (mark && tcall_keep_(cx, text, &text) == TCALL_OK)
            text.len = tcall_hide_(cx, text);
        else
            text.len = 0;
    }
    tcall_tell_call_(cx->call, kind, text, 0);
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
static void *tcall_find_service_(const tcall_ctx *cx, const char *name)
{
    const tcall_desc *d = cx->tc ? &cx->tc->desc : NULL;
    const tcall_service *service = tcall_service_(cx->services, name);
    size_t i;
    if (!service && cx->session)
        service = tcall_service_(cx->session->services, name);
    for (i = 0; !service && d && i < d->service_count; i++)
        if (strcmp(d->services[i].name, name) == 0)
            service = &d->services[i];
    return service ? service->object : NULL;
}

bool tcall_is_granted(const tcall_ctx *cx, unsigned permissions)
{
    if (!cx->tc)
        return false;
    return (permissions &
            ~(tcall_may_(cx->tc, cx->call->tool) & cx->tc->desc.allow)) == 0;
}

void *tcall_require_service(tcall_ctx *cx, const char *name)
{
    void *object = tcall_find_service_(cx, name);
    if (!object) {
        cx->service_missing = true; /* tcall_outcome_ makes it an error */
        if (cx->state != TCALL_FAILED_)
            cx->failure.by = name;
    }
    return object;
}

int tcall_bind_service(tcall_ctx *cx, tcall_service *service, tcall_scope scope)
{
    tcall_service **list = &cx->services, *bound = service;
    if (!service->name || (scope == TCALL_SCOPE_CALL && !cx->tc))
        return TCALL_E_USAGE;
    if (scope == TCALL_SCOPE_SESSION) {
        if (!cx->session)
            return TCALL_E_USAGE;
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
    if (size >= head && cx->tc) /* not more than there are addresses */
        service = (tcall_service *)tcall_take_(cx, size);
    if (!service)
        return NULL;
    memset(service, 0, size);
    service->name = name;
    service->object = (char *)service + head;
    tcall_bind_service(cx, service, TCALL_SCOPE_CALL);
    return service->object;
}

/* ---- time ---- */

/* Differences of times are signed, so that the clock may wrap. */
void tcall_deadline(tcall_ctx *cx, uint32_t ms)
{
    uint32_t end = cx->tc ? tcall_now_(cx->tc) + ms : 0;
    if (cx->has_deadline && (int32_t)(cx->deadline - end) < 0)
        return;
    cx->deadline = end;
    cx->has_deadline = cx->tc && cx->tc->desc.now_ms;
}

int32_t tcall_time_left(const tcall_ctx *cx)
{
    int32_t left = cx->has_deadline
                       ? (int32_t)(cx->deadline - tcall_now_(cx->tc))
                       : INT32_MAX;
    return left > 0 ? left : 0;
}

/* ---- input and output ---- */

tcall_str tcall_output(const tcall_ctx *cx)
{
    size_t start = cx->out ? cx->out_start->fill : 0;
    const char *output = cx->out ? cx->out->buf : NULL;
    if (start) /* without a buffer it stays NULL */
        output += start;
    return tcall_slice_(output, cx->out ? cx->out->fill - start : 0);
}

/* Takes back all that was written since the call began. */
TCALL_SHARED_ void tcall_output_clear_(tcall_ctx *cx)
{
    *cx->out = *cx->out_start;
    cx->wanted = 0;
}

/* Adds an entry to the history for what is about to be replaced. */
static tcall_change *tcall_change_(tcall_ctx *cx)
{
    tcall_change *change = (tcall_change *)tcall_take_(cx, sizeof *change);
    if (!change)
        return NULL;
    memset(change, 0, sizeof *change);
    change->before = cx->history;
    change->by = cx->hook ? cx->hook->name : cx->call->tool->name;
    change->stage = cx->stage;
    cx->history = change;
    return change;
}

/* Where secrets are injected the tool gets other arguments than were asked for:
 * they are checked in a copy of the call, so that nobody else sees them, not
 * even in what is said of a fault. */
static int tcall_inject_(tcall_ctx *cx, tcall_str text)
{
    tcall_call *run = (tcall_call *)tcall_take_(cx, sizeof *run);
    int error;
    if (!run)
        return TCALL_E_MEMORY;
    *run = *cx->call;
    run->arguments = text;
    error = tcall_hydrate_try_(cx->tc, run);
    if (error < 0)
        return error;
    cx->injected = run->args.at;
    cx->hide = tcall_hide_injected_;
    cx->bound = run->cx.bound;
    return TCALL_OK;
}

/* The new arguments go the way of the first ones, and nothing that was said of
 * those holds any more: not the check, not the approval. A call that was cut
 * stays that. Once the tool has run it is too late. */
int tcall_set_input(tcall_ctx *cx, tcall_str text)
{
    tcall *tc = cx->tc;
    tcall_call *call = cx->call;
    tcall_change *change;
    if (!call || !call->tool || cx->state != TCALL_GOING_ || cx->tool_ran)
        return TCALL_E_USAGE;
    change = tcall_change_(cx);
    if (!change || tcall_keep_(cx, text, &text) < 0)
        return call->error = TCALL_E_MEMORY;
    change->input = call->args;
    if (cx->stage == TCALL_WILL_INJECT_SECRETS)
        return tcall_inject_(cx, text);
    call->arguments = text;
    call->approved = false;
    return call->error = tcall_hydrate_try_(tc, call);
}

/* Where the output did not fit, keeps whole characters and says so. Returns the
 * writer's error of any other kind, or TCALL_E_MEMORY where not even that fits.
 */
TCALL_SHARED_ int tcall_output_cut_(tcall_ctx *cx)
{
    tcall_writer *out = cx->out, notice;
    size_t start = cx->out_start->fill, size = out->len - cx->out_start->len;
    size_t keep = out->fill - start;
    char text[64];
    if (out->error != TCALL_E_MEMORY)
        return out->error;
    tcall_writer_init(&notice, text, sizeof text);
    tcall_write_text(&notice, "\n[output cut: all of it are ");
    tcall_write_int(&notice, (tcall_int)size);
    tcall_write_text(&notice, " bytes]");
    keep = keep > notice.fill
               ? tcall_utf8_cut_(out->buf + start, keep - notice.fill)
               : 0;
    tcall_output_clear_(cx);
    cx->wanted = size;
    if (out->cap - out->fill < notice.fill)
        return TCALL_E_MEMORY;
    out->len += keep;
    out->fill += keep;
    tcall_write_bytes(out, text, notice.fill);
    return TCALL_OK;
}

/* The old output is kept in the history, as a hook may have to show what it
 * replaced. */
int tcall_set_output(tcall_ctx *cx, tcall_str text)
{
    tcall_str old = tcall_output(cx);
    if (cx->settled || !cx->out)
        return TCALL_E_USAGE;
    if (old.len) {
        tcall_change *change = tcall_change_(cx);
        if (!change || tcall_keep_(cx, old, &change->output) < 0)
            return TCALL_E_MEMORY;
        /* A part of the old output may be the new one. */
        if (text.ptr >= old.ptr && text.ptr < old.ptr + old.len)
            text.ptr = change->output.ptr + (text.ptr - old.ptr);
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
    if (cx->state != TCALL_FAILED_ && !cx->settled) { /* the first counts */
        cx->failure.reason = tcall_str_of(reason);
        cx->failure.code = code;
        cx->failure.status = status;
    }
    return TCALL_E_ABORTED;
}

int tcall_retry_after(tcall_ctx *cx, uint32_t ms, const char *reason)
{
    tcall_abort(cx, reason, NULL, 429);
    if (cx->state != TCALL_FAILED_ && !cx->settled)
        cx->failure.retry_ms = ms;
    return TCALL_E_RATE;
}
