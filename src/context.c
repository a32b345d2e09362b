#pragma once
#include "context.h"
#include "call.c"

/* ==========================================================================
 * >>context
 */

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

/* Where an attempt to run the tool stands. */
enum {
    TCALL_RUN_NOT_,
    TCALL_RUN_WILL_,    /* at WILL_EXECUTE */
    TCALL_RUN_CONSENT_, /* the arguments may need approval once more */
    TCALL_RUN_BEGIN_,
    TCALL_RUN_POLLED_ /* the tool answered TCALL_E_AGAIN */
};

static const uint8_t tcall_due_[] = {
#define TCALL_X_(NAME, name, when) TCALL_##when##_,
    TCALL_STAGES(TCALL_X_)
#undef TCALL_X_
};

const char *tcall_stage_name(int stage)
{
    static const char names[][25] = {
#define TCALL_X_(NAME, name, when) name,
        TCALL_STAGES(TCALL_X_)
#undef TCALL_X_
    };
    return stage >= 0 && stage < TCALL_STAGE_COUNT ? names[stage] : NULL;
}

void tcall_emit(tcall_ctx *cx, tcall_str text)
{
    tcall_tell_call_(cx->call, TCALL_EVENT_OUTPUT, text);
}

void tcall_progress(tcall_ctx *cx, tcall_str text)
{
    tcall_tell_call_(cx->call, TCALL_EVENT_PROGRESS, text);
}

/* A copy in the block. */
TCALL_SHARED_ int tcall_keep_(tcall_ctx *cx, tcall_str text, tcall_str *to)
{
    return tcall_hydrate_keep_(&cx->tc->block, text.ptr, text.len, to);
}

/* ---- input and output ---- */

tcall_str tcall_output(const tcall_ctx *cx)
{
    size_t start = cx->clean->fill;
    return tcall_slice_(cx->out->buf + start, cx->out->fill - start);
}

/* What was written is taken back. */
TCALL_APART_ static void tcall_take_back_(tcall_ctx *cx)
{
    *cx->out = *cx->clean;
}

/* What is about to be replaced goes to the history. */
static tcall_change *tcall_change_(tcall_ctx *cx)
{
    tcall_change *c =
        (tcall_change *)tcall_block_take_(&cx->tc->block, sizeof *c);
    if (!c)
        return NULL;
    memset(c, 0, sizeof *c);
    c->before = cx->history;
    c->by = cx->hook ? cx->hook->name : cx->call->tool->name;
    c->stage = cx->hook ? cx->hook->stage : cx->stage;
    cx->history = c;
    return c;
}

int tcall_set_input(tcall_ctx *cx, tcall_str text)
{
    tcall *tc = cx->tc;
    tcall_call *call = cx->call;
    tcall_change *c;
    if (!call->tool || cx->state != TCALL_GOING_ || cx->begun)
        return TCALL_E_USAGE;
    c = tcall_change_(cx);
    if (!c || tcall_keep_(cx, text, &text) < 0)
        return call->error = TCALL_E_MEMORY;
    call->arguments = text;
    c->input = call->args;
    call->approved = call->validated = false;
    call->cut = 0;
    call->error = tcall_hydrate_try_(tc, call, tc->block.high);
    if (call->error == TCALL_OK)
        call->error = tcall_hydrate_bind_(tc, call);
    return call->error;
}

/* What was written did not fit: keep whole characters and say so. */
static int tcall_write_cut_(tcall_ctx *cx)
{
    tcall_writer *w = cx->out;
    size_t start = cx->clean->fill, size = w->len - cx->clean->len, n;
    char text[64];
    tcall_writer notice;
    if (w->error != TCALL_E_MEMORY)
        return w->error;
    tcall_writer_init(&notice, text, sizeof text);
    tcall_write_text(&notice, "\n[output cut: all of it are ");
    tcall_write_int(&notice, (long)size);
    tcall_write_text(&notice, " bytes]");
    n = w->fill - start;
    n = n > notice.fill ? tcall_utf8_cut_(w->buf + start, n - notice.fill) : 0;
    tcall_take_back_(cx);
    w->len += n;
    w->fill += n;
    if (w->cap - w->fill >= notice.fill)
        tcall_write_bytes(w, text, notice.fill);
    return TCALL_OK;
}

int tcall_set_output(tcall_ctx *cx, tcall_str text)
{
    tcall_str old = tcall_output(cx);
    if (old.len) {
        tcall_change *c = tcall_change_(cx);
        if (!c || tcall_keep_(cx, old, &c->output) < 0)
            return TCALL_E_MEMORY;
        if (text.ptr >= old.ptr && text.ptr < old.ptr + old.len)
            text.ptr = c->output.ptr + (text.ptr - old.ptr);
    }
    tcall_take_back_(cx);
    tcall_write_bytes(cx->out, text.ptr, text.len);
    return tcall_write_cut_(cx);
}

/* ---- result ---- */

int tcall_set_result(tcall_ctx *cx, tcall_str title, tcall_str metadata)
{
    int r = TCALL_OK;
    if (title.len) {
        tcall_progress(cx, title);
        r = tcall_keep_(cx, title, &cx->result.title);
    }
    if (metadata.len && r == TCALL_OK)
        r = tcall_keep_(cx, metadata, &cx->result.metadata);
    return r;
}

/* ---- controls ---- */

int tcall_respond(tcall_ctx *cx, tcall_str text)
{
    int r = tcall_set_output(cx, text);
    if (r < 0)
        return r;
    if (cx->state != TCALL_HIT_)
        cx->state =
            cx->stage == TCALL_WILL_READ_CACHE ? TCALL_HIT_ : TCALL_ANSWERED_;
    cx->error = TCALL_OK;
    return TCALL_OK;
}

int tcall_abort(tcall_ctx *cx, const char *reason, const char *code, int status)
{
    if (cx->state != TCALL_FAILED_) {
        cx->reason = tcall_str_of(reason);
        cx->code = code;
        cx->status = status;
    }
    return TCALL_E_ABORTED;
}

int tcall_retry_after(tcall_ctx *cx, uint32_t ms, const char *reason)
{
    tcall_abort(cx, reason, NULL, 429);
    if (cx->state != TCALL_FAILED_)
        cx->retry_ms = ms;
    return TCALL_E_RATE;
}

void tcall_deadline(tcall_ctx *cx, uint32_t ms)
{
    uint32_t end = tcall_now_(cx->tc) + ms;
    if (cx->timed && (int32_t)(cx->deadline - end) < 0)
        return;
    cx->deadline = end;
    cx->timed = cx->tc->desc.now_ms != NULL;
}

int32_t tcall_time_left(const tcall_ctx *cx)
{
    int32_t left = (int32_t)(cx->deadline - tcall_now_(cx->tc));
    return !cx->timed ? INT32_MAX : left > 0 ? left : 0;
}

/* Why the tool must not run now or go on, or TCALL_OK. */
static int tcall_over_(const tcall_ctx *cx)
{
    return cx->stop < 0               ? cx->stop
           : tcall_time_left(cx) == 0 ? TCALL_E_TIMEOUT
                                      : TCALL_OK;
}

/* ---- services ---- */

static tcall_service *tcall_service_(tcall_service *s, const char *name)
{
    while (s && strcmp(s->name, name) != 0)
        s = s->next;
    return s;
}

void *tcall_find_service(const tcall_ctx *cx, const char *name)
{
    const tcall_desc *d = &cx->tc->desc;
    const tcall_service *s = tcall_service_(cx->services, name);
    size_t i;
    if (!s && cx->session)
        s = tcall_service_(cx->session->services, name);
    for (i = 0; !s && i < d->service_count; i++)
        if (strcmp(d->services[i].name, name) == 0)
            s = &d->services[i];
    return s ? s->object : NULL;
}

void *tcall_require_service(tcall_ctx *cx, const char *name)
{
    void *object = tcall_find_service(cx, name);
    if (!object) {
        cx->lacks = true;
        if (cx->state != TCALL_FAILED_)
            cx->by = name;
    }
    return object;
}

int tcall_bind_service(tcall_ctx *cx, tcall_service *service, tcall_scope scope)
{
    tcall_service **list = &cx->services;
    if (scope == TCALL_SCOPE_SESSION && !cx->session)
        return TCALL_E_USAGE;
    if (scope == TCALL_SCOPE_SESSION)
        list = &cx->session->services;
    service->next = *list;
    *list = service;
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

void *tcall_scratch(tcall_ctx *cx, const char *name, size_t size)
{
    const size_t head = (sizeof(tcall_service) + 7) & ~(size_t)7;
    tcall_service *s = tcall_service_(cx->services, name);
    if (s)
        return s->object;
    s = (tcall_service *)tcall_block_take_(&cx->tc->block, head + size);
    if (!s)
        return NULL;
    memset(s, 0, head + size);
    s->name = name;
    s->object = (char *)s + head;
    tcall_bind_service(cx, s, TCALL_SCOPE_CALL);
    return s->object;
}

TCALL_SHARED_ bool tcall_waits_(int r)
{
    return r == TCALL_E_AGAIN || r == TCALL_E_APPROVAL;
}

/* What came of a hook or of the tool: not less than an error where it asked
 * for a service that is missing. */
static int tcall_came_(tcall_ctx *cx, int r)
{
    if (cx->lacks)
        r = TCALL_E_SERVICE;
    cx->lacks = false;
    return r > 0 ? TCALL_OK : r;
}
