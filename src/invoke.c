#pragma once
#include "invoke.h"
#include "call.c"

/* ==========================================================================
 * >>invoke
 *
 * The state of a call is one bit, and each stage has the set of states that it
 * is due in: that, and the order of the list, is the whole lifecycle. Hooks
 * are not sorted: the next one is that with the lowest place behind the last,
 * where a place is made of priority and position. So a stage that was left for
 * TCALL_E_AGAIN is known by one number, and nothing is kept.
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

const void *tcall_bound(const tcall_ctx *cx)
{
    return cx->call->bound;
}

void *tcall_user(const tcall_ctx *cx)
{
    return cx->call->tool->user;
}

void tcall_chunk(tcall_ctx *cx, tcall_str text)
{
    tcall_tell_call_(cx->call, TCALL_EVENT_OUTPUT, text);
}

void tcall_progress(tcall_ctx *cx, tcall_str text)
{
    tcall_tell_call_(cx->call, TCALL_EVENT_PROGRESS, text);
}

void tcall_cancel(tcall_call *call, int error)
{
    call->cx.stop = error;
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

int tcall_title(tcall_ctx *cx, tcall_str title)
{
    tcall_progress(cx, title);
    return tcall_keep_(cx, title, &cx->result.title);
}

int tcall_metadata(tcall_ctx *cx, tcall_str json)
{
    return tcall_keep_(cx, json, &cx->result.metadata);
}

void tcall_attach(tcall_ctx *cx, tcall_attachment *attachment)
{
    attachment->next = cx->result.attached;
    cx->result.attached = attachment;
}

void tcall_suggest(tcall_ctx *cx, const char *text)
{
    cx->result.suggestion = text;
}

tcall_str tcall_result_preview(const tcall_result *result, int max_lines)
{
    tcall_str s = result->output;
    size_t i;
    for (i = 0; i < s.len && max_lines > 0; i++)
        max_lines -= s.ptr[i] == '\n';
    while (i && (s.ptr[i - 1] == '\n' || s.ptr[i - 1] == '\r'))
        i--;
    return tcall_slice_(s.ptr, i);
}

int tcall_write_result(tcall_writer *w, const tcall_result *result)
{
    const tcall_attachment *a;
    tcall_write_open(w, '{');
    if (result->error < 0 && result->output.len > 1) {
        tcall_write_bytes(w, result->output.ptr + 1, result->output.len - 2);
    } else {
        tcall_write_key(w, "success");
        tcall_write_bool(w, result->error == TCALL_OK);
        tcall_write_pair_(w, "error", tcall_str_of(""));
    }
    if (result->title.len)
        tcall_write_pair_(w, "title", result->title);
    if (result->metadata.len) {
        tcall_write_key(w, "metadata");
        tcall_write_verbatim(w, result->metadata);
    }
    if (result->error == TCALL_OK)
        tcall_write_pair_(w, "output", result->output);
    if (result->attached) {
        tcall_write_key(w, "attachments");
        tcall_write_open(w, '[');
        for (a = result->attached; a; a = a->next) {
            tcall_write_open(w, '{');
            tcall_write_pair_(w, "type", tcall_str_of(a->type));
            tcall_write_pair_(w, "name", tcall_str_of(a->name));
            tcall_write_key(w, "bytes");
            tcall_write_int(w, (long)a->bytes.len);
            tcall_write_close(w, '}');
        }
        tcall_write_close(w, ']');
    }
    return tcall_write_close(w, '}');
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

void *tcall_try_get(const tcall_ctx *cx, const char *name)
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

void *tcall_get(tcall_ctx *cx, const char *name)
{
    void *object = tcall_try_get(cx, name);
    if (!object) {
        cx->lacks = true;
        if (cx->state != TCALL_FAILED_)
            cx->by = name;
    }
    return object;
}

int tcall_provide(tcall_ctx *cx, tcall_service *service, tcall_scope scope)
{
    tcall_service **list = &cx->services;
    if (scope == TCALL_SESSION && !cx->session)
        return TCALL_E_USAGE;
    if (scope == TCALL_SESSION)
        list = &cx->session->services;
    service->next = *list;
    *list = service;
    return TCALL_OK;
}

void tcall_withdraw(tcall_session *session, const tcall_service *service)
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
    tcall_provide(cx, s, TCALL_CALL);
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

/* ---- what the library itself does at stages ---- */

/* Told once when it is asked for and once when it is decided. */
TCALL_SHARED_ void tcall_tell_verdict_(tcall_ctx *cx, tcall_verdict verdict)
{
    tcall_event event;
    bool asked = cx->asked;
    cx->asked = verdict == TCALL_LATER;
    if (asked == cx->asked)
        return;
    memset(&event, 0, sizeof event);
    event.call = cx->call;
    event.verdict = (int)verdict;
    tcall_tell_(cx->tc, &event,
                cx->asked ? TCALL_EVENT_APPROVAL : TCALL_EVENT_VERDICT);
}

TCALL_SHARED_ bool tcall_must_ask_(const tcall_call *call)
{
    const tcall_tool *tool = call->tool;
    bool reads = tool->permissions == TCALL_READ;
    if (tool->confirm || call->cx.asks || (call->repaired && !reads))
        return true;
    if (tool->parameters || tool->no_schema_mode == TCALL_NO_SCHEMA_FULL)
        return false;
    return !reads || tool->no_schema_mode != TCALL_NO_SCHEMA_READ_ONLY;
}

static int tcall_consent_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    const tcall_desc *d = &cx->tc->desc;
    tcall_verdict verdict = TCALL_DENY;
    if (call->error < 0 || (!tcall_must_ask_(call) && !cx->asked))
        return TCALL_OK;
    if (!call->approved) {
        tcall_tell_verdict_(cx, TCALL_LATER);
        if (d->approve)
            verdict = d->approve(d->user, call);
        if (verdict == TCALL_LATER)
            return TCALL_E_APPROVAL;
        call->approved = verdict == TCALL_ALLOW;
    }
    tcall_tell_verdict_(cx, call->approved ? TCALL_ALLOW : TCALL_DENY);
    return call->approved ? TCALL_OK : TCALL_E_DENIED;
}

int tcall_approval(tcall_ctx *cx)
{
    uint32_t at = cx->at;
    uint8_t stage = cx->stage;
    int r = TCALL_OK;
    cx->asks = true;
    if (cx->tc->desc.run_hooks) {
        cx->stage = TCALL_WILL_CHECK_CONSENT;
        cx->at = 0;
        r = cx->tc->desc.run_hooks(cx);
        cx->stage = stage;
        cx->at = at;
    }
    return r == TCALL_OK ? tcall_consent_(cx) : r;
}

static int tcall_authorize_(const tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    if (!call->tool)
        return call->error < 0 ? call->error : TCALL_E_USAGE;
    return tcall_enabled(call->tool, cx->tc->desc.allow) ? TCALL_OK
                                                         : TCALL_E_DENIED;
}

/* The tool once, or on; what it wrote of no use is taken back. */
static int tcall_run_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    uint32_t before = tcall_now_(cx->tc);
    const tcall_hook *outer = cx->hook;
    int over = tcall_over_(cx), r;
    if (over < 0) {
        if (cx->phase != TCALL_RUN_POLLED_)
            return over;
        cx->stop = over;
    }
    cx->begun = true;
    cx->hook = NULL;
    cx->out->last = 0;
    r = tcall_came_(cx, call->tool->run(cx, call->args, cx->out));
    cx->hook = outer;
    call->run_ms += tcall_now_(cx->tc) - before;
    cx->phase = r == TCALL_E_AGAIN      ? TCALL_RUN_POLLED_
                : r == TCALL_E_APPROVAL ? TCALL_RUN_BEGIN_
                                        : TCALL_RUN_NOT_;
    if (over < 0 || tcall_waits_(r)) {
        tcall_take_back_(cx);
        return over < 0 ? over : r;
    }
    if (r == TCALL_OK || (r == TCALL_E_MEMORY && cx->out->error == r))
        return tcall_write_cut_(cx); /* what does not fit */
    if (!cx->reason.len && !cx->by)
        cx->reason = tcall_output(cx);
    return r;
}

TCALL_APART_ static int tcall_built_in_(tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    switch (cx->stage) {
    case TCALL_WILL_AUTHORIZE: return tcall_authorize_(cx);
    case TCALL_WILL_CHECK_CONSENT: return tcall_consent_(cx);
    case TCALL_WILL_VALIDATE_INPUT: return cx->call->error;
    case TCALL_AROUND_EXECUTE:
        return cx->tc->desc.run_hooks ? TCALL_OK : tcall_run_(cx);
    case TCALL_WILL_VALIDATE_OUTPUT:
        return tool && tool->output ? tool->check_output(cx) : TCALL_OK;
    default: return TCALL_OK;
    }
}

/* ---- the walk ---- */

static void tcall_begin_(tcall *tc, tcall_call *call)
{
    tcall_ctx *cx = &call->cx;
    cx->tc = tc;
    cx->call = call;
    cx->session = call->session ? call->session : tc->desc.session;
    cx->state = TCALL_GOING_;
    cx->ran = TCALL_E_USAGE;
    cx->started = tcall_now_(tc);
    tcall_tell_call_(call, TCALL_EVENT_START, tcall_slice_(NULL, 0));
}

static void tcall_failed_(tcall_ctx *cx, int error)
{
    if (error < 0 && cx->state != TCALL_FAILED_) {
        cx->state = TCALL_FAILED_;
        cx->error = error;
    }
}

/* TCALL_OK at the end of all stages, or why to wait. */
TCALL_APART_ static int tcall_walk_(tcall_ctx *cx)
{
    const bool run_hooks = cx->tc->desc.run_hooks != NULL;
    /* Stages at which the library itself does something. */
    const uint32_t own = (uint32_t)1 << TCALL_WILL_AUTHORIZE |
                         (uint32_t)1 << TCALL_WILL_CHECK_CONSENT |
                         (uint32_t)1 << TCALL_WILL_VALIDATE_INPUT |
                         (uint32_t)1 << TCALL_AROUND_EXECUTE |
                         (uint32_t)1 << TCALL_WILL_VALIDATE_OUTPUT;
    const uint32_t stages = run_hooks ? ~(uint32_t)0 : own;
    int stage = cx->stage;
    for (; stage < TCALL_STAGE_COUNT; stage++) {
        int due = tcall_due_[stage], r = TCALL_OK;
        if (!(stages >> stage & 1) || !(due & cx->state))
            continue;
        if (cx->stage != stage) {
            cx->stage = (uint8_t)stage;
            cx->at = 0;
        }
        if (run_hooks)
            r = cx->tc->desc.run_hooks(cx);
        if (r == TCALL_OK && due & cx->state)
            r = tcall_built_in_(cx);
        if (tcall_waits_(r))
            return r;
        tcall_failed_(cx, r);
    }
    return TCALL_OK;
}

/* ---- the result ---- */

/* The model learns which names there are, so that it can choose again. */
static void tcall_write_names_(const tcall *tc, tcall_writer *w)
{
    const tcall_tool *tool;
    size_t i = 0;
    tcall_write_key(w, "available");
    tcall_write_open(w, '[');
    while ((tool = tcall_each(tc, &i, tc->desc.allow)) != NULL)
        tcall_write_string(w, tool->name);
    tcall_write_close(w, ']');
}

/* What of an argument is shown in passing. */
#define TCALL_GLANCE_ 32

/* One more argument, key=value; what is long is cut. */
static void tcall_write_short_(tcall_writer *w, tcall_str key, tcall_str value)
{
    size_t n = value.len > TCALL_GLANCE_
                   ? tcall_utf8_cut_(value.ptr, TCALL_GLANCE_ - 1)
                   : value.len;
    tcall_write_text(w, w->last == '(' ? "" : ", ");
    tcall_write_bytes(w, key.ptr, key.len < TCALL_GLANCE_ ? key.len : 0);
    tcall_write_char_(w, '=');
    tcall_write_bytes(w, value.ptr, n);
    tcall_write_text(w, n < value.len ? "..." : "");
}

/* name(key=value, ...): of arguments, which are an object. */
static void tcall_write_shape_(tcall_writer *w, const char *name,
                               tcall_json args)
{
    const tcall_tok *t = args.tok + 1, *end = args.tok + args.tok->span;
    size_t start = w->len;
    tcall_write_text(w, name);
    tcall_write_char_(w, '(');
    for (; t < end && w->len - start < 160; t += t->span) {
        char room[TCALL_GLANCE_];
        tcall_writer value;
        tcall_str key = tcall_tok_str_(args.text, t++);
        tcall_writer_init(&value, room, sizeof room);
        tcall_write_json(&value, tcall_json_cursor_(args.text, t));
        tcall_write_short_(w, key, tcall_slice_(room, value.len));
    }
    tcall_write_text(w, t < end ? ", ...): " : "): ");
}

/* A value that the schema of a property names; none: one of its type. */
static tcall_str tcall_example_(const char *property)
{
    static const char keys[][9] = {"enum", "examples", "const", "default",
                                   "minimum"};
    static const char types[][6] = {"i1", "n1", "btrue", "a[]", "o{}"};
    const char *v, *type = tcall_text_get_(property, "type");
    size_t i;
    for (i = 0; i < TCALL_COUNT(keys); i++) {
        v = tcall_text_get_(property, keys[i]);
        if (i < 2)
            v = tcall_text_first_(v);
        if (v)
            return tcall_text_verbatim_(v);
    }
    for (i = 0; type && i < TCALL_COUNT(types); i++)
        if (type[1] == types[i][0])
            return tcall_str_of(types[i] + 1);
    return tcall_str_of("\"value\"");
}

/* "suggestion":"Example: name(key=value)" with what the schema requires. */
TCALL_APART_ static void tcall_write_example_(const tcall_tool *tool,
                                              tcall_writer *w)
{
    const char *schema = tcall_text_space_(tool->parameters), *name;
    const char *all = tcall_text_get_(schema, "properties");
    tcall_write_texts_(w, "'suggestion':'Example: %(", tool->name, NULL);
    w->quoted = 1;
    name = tcall_text_first_(tcall_text_get_(schema, "required"));
    for (; name && *name == '"';
         name = tcall_text_next_(tcall_text_skip_(name))) {
        char room[64];
        const char *end = tcall_text_skip_(name);
        size_t n = 0;
        if (end - name < (int)sizeof room)
            n = tcall_decode_(room, name + 1, end - 1);
        room[n] = 0;
        tcall_write_short_(w, tcall_slice_(room, n),
                           tcall_example_(tcall_text_get_(all, room)));
    }
    tcall_write_char_(w, ')');
    tcall_write_unquote(w);
}

/* Its beginning into out, whose present content may be where the reason
 * stands. */
TCALL_APART_ static void tcall_write_reasons_(tcall_ctx *cx, tcall_writer *w)
{
    const tcall_call *call = cx->call;
    char words[128];
    tcall_str reason = cx->reason;
    if (reason.len >= sizeof words)
        reason.len = tcall_utf8_cut_(reason.ptr, sizeof words - 1);
    if (reason.len)
        memcpy(words, reason.ptr, reason.len);
    tcall_take_back_(cx);
    tcall_write_open(w, '{');
    tcall_write_texts_(w, "'success':false,'error':'", NULL, NULL);
    w->quoted = 1;
    if (call->tool && call->args.tok)
        tcall_write_shape_(w, call->tool->name, call->args);
    if (cx->by) {
        tcall_write_text(w, cx->by);
        tcall_write_text(w, ": ");
    }
    if (reason.len)
        tcall_write_bytes(w, words, reason.len);
    else
        tcall_write_text(w, tcall_error_text(cx->error));
    tcall_write_unquote(w);
}

TCALL_APART_ static void tcall_write_failure_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    tcall_writer *w = cx->out;
    tcall_write_reasons_(cx, w);
    tcall_write_texts_(w, "'error_type':'%','code':'%'",
                       tcall_error_type(cx->error),
                       cx->code ? cx->code : tcall_error_code(cx->error));
    if (cx->result.suggestion)
        tcall_write_texts_(w, "'suggestion':'%'", cx->result.suggestion, NULL);
    else if (cx->error == TCALL_E_INVALID && call->tool->parameters)
        tcall_write_example_(call->tool, w);
    if (cx->retry_ms) {
        tcall_write_key(w, "retry_after_ms");
        tcall_write_int(w, (long)cx->retry_ms);
    }
    if (cx->error == TCALL_E_UNKNOWN)
        tcall_write_names_(cx->tc, w);
    else
        tcall_write_errors(call, w);
    tcall_write_close(w, '}');
    if (w->error)
        cx->error = w->error;
}

int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out)
{
    tcall_writer clean = *out;
    tcall_ctx *cx = &call->cx;
    int r;
    if (cx->state == TCALL_DONE_)
        return TCALL_E_USAGE;
    if (!cx->state)
        tcall_begin_(tc, call);
    cx->out = out;
    cx->clean = &clean;
    if (cx->state == TCALL_GOING_ && cx->phase != TCALL_RUN_POLLED_)
        tcall_failed_(cx, tcall_over_(cx));
    r = tcall_walk_(cx);
    if (r < 0) {
        tcall_take_back_(cx);
        return r;
    }
    if (cx->asked)
        tcall_tell_verdict_(cx, TCALL_DENY);
    cx->finished = tcall_now_(tc);
    if (cx->state == TCALL_FAILED_)
        tcall_write_failure_(cx);
    call->error = cx->result.error = cx->error;
    cx->result.output = tcall_output(cx);
    cx->state = TCALL_DONE_;
    if (call->error < 0)
        tcall_tell_call_(call, TCALL_EVENT_ERROR, cx->reason);
    tcall_tell_call_(call, TCALL_EVENT_END, cx->result.output);
    return call->error;
}

/* ---- hooks ---- */

/* Those of the registry, then those of the tool; NULL: there are no more. */
static const tcall_hook *tcall_hook_(const tcall_ctx *cx, size_t i)
{
    const tcall_desc *d = &cx->tc->desc;
    const tcall_tool *tool = cx->call->tool;
    if (i < d->hook_count)
        return &d->hooks[i];
    i -= d->hook_count;
    return tool && i < tool->hook_count ? &tool->hooks[i] : NULL;
}

static bool tcall_acquires_(const tcall_hook *h)
{
    return h->stage == TCALL_WILL_ACQUIRE_QUOTA ||
           h->stage == TCALL_WILL_ACQUIRE_SEMAPHORE;
}

/* The bits in cx->held of a hook that acquires, or of those that one which
 * releases has to do with: the stages of both lie like mirror images. */
static uint32_t tcall_holders_(const tcall_ctx *cx, const tcall_hook *own)
{
    const int mirror = TCALL_WILL_ACQUIRE_QUOTA + TCALL_DID_RELEASE_QUOTA;
    const tcall_hook *h;
    uint32_t bits = 0, bit = 1;
    size_t i;
    for (i = 0; (h = tcall_hook_(cx, i)) != NULL; i++)
        if (tcall_acquires_(h)) {
            if (h == own ||
                (h->stage + own->stage == mirror && h->user == own->user))
                bits |= bit;
            bit <<= 1;
        }
    return bits;
}

/* The hook's filter lets it run, and what it releases was acquired. */
static bool tcall_hook_due_(tcall_ctx *cx, const tcall_hook *h)
{
    uint32_t bits;
    if (h->filter && !h->filter(cx, h->user))
        return false;
    if (h->stage != TCALL_DID_RELEASE_SEMAPHORE &&
        h->stage != TCALL_DID_RELEASE_QUOTA)
        return true;
    bits = tcall_holders_(cx, h);
    if (bits && !(cx->held & bits))
        return false;
    bits &= cx->held;
    cx->held &= ~(bits & (0 - bits)); /* one for one */
    return true;
}

/* The next hook of a stage from the place *at on; *at is then behind it. */
static const tcall_hook *tcall_hook_next_(tcall_ctx *cx, int stage,
                                          uint32_t *at)
{
    const tcall_hook *h, *best;
    do {
        uint32_t least = UINT32_MAX;
        size_t i;
        best = NULL;
        for (i = 0; (h = tcall_hook_(cx, i)) != NULL; i++) {
            int order = -1 - h->priority;
            uint32_t place;
            if (h->stage != stage)
                continue;
            if (tcall_due_[stage] & TCALL_LATE_)
                order = h->priority;
            place = (uint32_t)(order + 0x8000) << 16 | (uint32_t)i;
            if (place >= *at && place < least) {
                least = place;
                best = h;
            }
        }
        *at = best ? least + 1 : *at;
    } while (best && !tcall_hook_due_(cx, best));
    return best;
}

static int tcall_hook_run_(tcall_ctx *cx, const tcall_hook *h)
{
    const tcall_hook *outer = cx->hook;
    int state = cx->state, r;
    cx->hook = h;
    r = tcall_came_(cx, h->run(cx, h->user));
    cx->hook = outer;
    if (tcall_waits_(r) &&
        (state != TCALL_GOING_ || h->stage > TCALL_WILL_EXECUTE))
        r = TCALL_E_USAGE; /* the output is there, nobody may wait */
    if (r < 0 && !tcall_waits_(r) && state != TCALL_FAILED_ && !cx->by &&
        h->stage != TCALL_AROUND_EXECUTE)
        cx->by = h->name;
    if (r == TCALL_OK && cx->state == TCALL_GOING_ && tcall_acquires_(h)) {
        uint32_t bits = tcall_holders_(cx, h);
        cx->held |= bits;
        if (!bits)
            r = TCALL_E_LIMIT; /* more than 32 of them */
    }
    return r;
}

/* All hooks of a stage from the place *at on; the first error of them. */
static int tcall_hooks_(tcall_ctx *cx, int stage, uint32_t *at)
{
    const tcall_hook *h;
    int first = TCALL_OK, state = cx->state;
    uint32_t here;
    if (!(cx->hooked >> stage & 1))
        return TCALL_OK;
    while (here = *at, (h = tcall_hook_next_(cx, stage, at)) != NULL) {
        int r = tcall_hook_run_(cx, h);
        if (tcall_waits_(r)) {
            *at = here;
            return r;
        }
        if (first == TCALL_OK)
            first = r;
        if (!(tcall_due_[stage] & TCALL_FAILED_) &&
            (r < 0 || cx->state != state))
            break;
    }
    return first;
}

/* The tool has no second effect when it runs once more for this call. */
TCALL_SHARED_ bool tcall_repeatable_(const tcall_tool *tool)
{
    return tool->idempotent ||
           (tcall_needs(tool) & ~(unsigned)TCALL_NETWORK) == TCALL_READ;
}

/* The same for a stage whose hooks do not wait. */
static int tcall_hooks_all_(tcall_ctx *cx, int stage)
{
    uint32_t at = 0;
    return tcall_hooks_(cx, stage, &at);
}

/* Approval once more, for what WILL_EXECUTE made of the arguments. */
static int tcall_agreed_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    int r = call->error;
    if (r == TCALL_OK && !call->approved && tcall_must_ask_(call))
        r = tcall_hooks_(cx, TCALL_WILL_CHECK_CONSENT, &cx->inner);
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_consent_(cx);
    return r;
}

/* One attempt, from where it stands. */
static int tcall_attempt_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    if (cx->phase == TCALL_RUN_NOT_) {
        cx->attempt++;
        r = tcall_over_(cx);
        if (r < 0)
            return cx->ran = r;
        if (cx->begun && !tcall_repeatable_(cx->call->tool))
            return cx->ran;
        tcall_take_back_(cx);
        cx->reason.len = 0;
        cx->by = NULL;
        cx->inner = 0;
        if (cx->attempt > 1) {
            tcall_tell_call_(cx->call, TCALL_EVENT_RETRY,
                             tcall_slice_(NULL, 0));
            r = tcall_hooks_all_(cx, TCALL_ON_RETRY);
        }
        cx->phase = TCALL_RUN_WILL_;
    }
    while (r == TCALL_OK && cx->state == TCALL_GOING_ &&
           cx->phase < TCALL_RUN_BEGIN_) {
        r = cx->phase == TCALL_RUN_WILL_
                ? tcall_hooks_(cx, TCALL_WILL_EXECUTE, &cx->inner)
                : tcall_agreed_(cx);
        if (r == TCALL_OK) {
            cx->phase++;
            cx->inner = 0;
        }
    }
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_run_(cx);
    if (tcall_waits_(r))
        return r;
    cx->phase = TCALL_RUN_NOT_;
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_hooks_all_(cx, TCALL_DID_EXECUTE);
    return cx->ran = r;
}

int tcall_next(tcall_ctx *cx)
{
    const tcall_hook *h;
    uint32_t here = cx->around;
    uint8_t depth = cx->depth;
    int r;
    if (cx->stage != TCALL_AROUND_EXECUTE || cx->state != TCALL_GOING_ ||
        depth > TOOLCALL_MAX_AROUND)
        return cx->attempt++, TCALL_E_USAGE; /* who loops for it, ends */
    h = tcall_hook_next_(cx, TCALL_AROUND_EXECUTE, &cx->around);
    /* The tool, and hooks that are not around it, are not to call this. */
    cx->depth = h ? (uint8_t)(depth + 1) : TOOLCALL_MAX_AROUND + 1;
    r = h ? tcall_hook_run_(cx, h) : tcall_attempt_(cx);
    cx->depth = depth;
    cx->around = here;
    return r;
}

/* Hooks around the run do not overcome its failure by keeping silent. */
static int tcall_around_(tcall_ctx *cx)
{
    int r = tcall_next(cx);
    if (tcall_waits_(r))
        return r;
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = cx->ran;
    if (r < 0 && cx->attempt > 1) {
        tcall_hooks_all_(cx, TCALL_ON_GIVE_UP);
        if (cx->state != TCALL_GOING_)
            r = TCALL_OK;
    }
    return r;
}

int tcall_run_hooks(tcall_ctx *cx)
{
    const tcall_hook *h;
    size_t i;
    for (i = 0; !cx->mapped && (h = tcall_hook_(cx, i)) != NULL; i++)
        cx->hooked |= (uint32_t)1 << (h->stage & 31);
    cx->mapped = true;
    return cx->stage == TCALL_AROUND_EXECUTE
               ? tcall_around_(cx)
               : tcall_hooks_(cx, cx->stage, &cx->at);
}

/* The result so far as a value in the block. */
TCALL_APART_ static int tcall_output_read_(tcall_ctx *cx, tcall_json *value)
{
    tcall_block *b = &cx->tc->block;
    tcall_str text = tcall_output(cx);
    size_t need = 0, size;
    char *copy = (char *)tcall_block_take_(b, text.len + 1);
    tcall_tok *tok;
    int r;
    if (!copy)
        return TCALL_E_MEMORY;
    memcpy(copy, text.ptr, text.len);
    tok = (tcall_tok *)(void *)tcall_hydrate_gap_(b, 0, &size);
    r = tcall_json_parse(value, copy, text.len, tok, size / sizeof *tok, &need);
    if (r < 0 && r != TCALL_E_MEMORY)
        return TCALL_E_OUTPUT;
    value->tok = (const tcall_tok *)(const void *)tcall_hydrate_hold_(
        b, (const char *)tok, (r < 0 ? need : (size_t)r) * sizeof *tok);
    return value->tok ? TCALL_OK : TCALL_E_MEMORY;
}

/* What this takes of the block is given back by its caller. */
static int tcall_check_output_(tcall_ctx *cx)
{
    tcall *tc = cx->tc;
    tcall_schema *schema =
        (tcall_schema *)tcall_block_take_(&tc->block, sizeof *schema);
    tcall_check check;
    tcall_json value;
    int r = schema ? tcall_output_read_(cx, &value) : TCALL_E_MEMORY;
    if (r == TCALL_OK)
        r = tcall_hydrate_compile_(tc, schema, cx->call->tool->output);
    if (r < 0)
        return r;
    memset(&check, 0, sizeof check);
    r = tcall_hydrate_run_(&tc->block, schema, value, &check);
    return r == TCALL_E_INVALID ? TCALL_E_OUTPUT : r;
}

int tcall_check_output(tcall_ctx *cx)
{
    size_t high = cx->tc->block.high;
    int r = tcall_check_output_(cx);
    cx->tc->block.high = high;
    return r;
}

int tcall_execute(tcall *tc, tcall_str name, tcall_str arguments,
                  tcall_writer *out)
{
    size_t high = tc->block.high;
    tcall_call *call =
        (tcall_call *)tcall_block_take_(&tc->block, sizeof *call);
    int r;
    if (!call)
        return TCALL_E_MEMORY;
    memset(call, 0, sizeof *call);
    call->name = name;
    call->arguments = arguments;
    tcall_hydrate(tc, call);
    r = tcall_invoke(tc, call, out);
    if (tcall_waits_(r)) { /* it ends, and lets go of what it holds */
        tcall_cancel(call, r == TCALL_E_AGAIN ? TCALL_E_CANCELLED : r);
        r = tcall_invoke(tc, call, out);
    }
    tcall_release(tc, call);
    tc->block.high = high;
    return r;
}

/* The end of an id that is kept. */
static tcall_str tcall_kept_id_(const tcall_kept *row, tcall_str id)
{
    if (id.len > sizeof row->id)
        id = tcall_slice_(id.ptr + id.len - sizeof row->id, sizeof row->id);
    return id;
}

static void tcall_results_keep_(void *user, const tcall_event *event)
{
    tcall_results *all = (tcall_results *)user;
    tcall_kept *row = &all->rows[all->next++ % all->row_count];
    tcall_str id = tcall_kept_id_(row, event->call->id);
    tcall_str text = event->call->cx.result.output;
    size_t n = text.len;
    if (n >= sizeof row->text)
        n = tcall_utf8_cut_(text.ptr, sizeof row->text - 1);
    memset(row, 0, sizeof *row);
    row->id_len = event->call->id.len;
    row->error = event->error;
    row->len = text.len;
    if (id.len)
        memcpy(row->id, id.ptr, id.len);
    if (n)
        memcpy(row->text, text.ptr, n);
}

void tcall_results_begin(tcall *tc, tcall_results *results)
{
    results->next = 0;
    results->listener.on_event = tcall_results_keep_;
    results->listener.user = results;
    results->listener.kinds = 1u << TCALL_EVENT_END;
    tcall_subscribe(tc, &results->listener);
}

const tcall_kept *tcall_results_get(const tcall_results *results, tcall_str id)
{
    size_t i, n = results->next;
    for (i = 0; i < results->row_count && n > 0; i++) {
        const tcall_kept *row = &results->rows[--n % results->row_count];
        tcall_str end = tcall_kept_id_(row, id);
        if (row->id_len == id.len &&
            tcall_str_eq(end, tcall_slice_(row->id, end.len)))
            return row;
    }
    return NULL;
}
