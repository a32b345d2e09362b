/*
 * trace.h - write down what goes through a transport, or play it again
 *
 *     trace t;
 *     desc.transport = trace_record(&t, file, tport_transport(&port));
 *     desc.transport = trace_replay(&t, file);
 *
 * A wrapper of any tcall_transport. The file holds JSON Lines, in the order in
 * which things happened; ms is the transport's clock, from 0 on:
 *
 *     {"ms":0,"round":1,"open":{"method":"POST","path":...,"provider":...,
 *                               "model":...,"headers":[...]}}
 *     {"ms":0,"round":1,"write":"{\"model\":..."}     a piece of the request
 *     {"ms":9,"round":1,"status":200,"retry_after_ms":-1,"should_retry":0}
 *     {"ms":9,"round":1,"read":"data: {..."}          a piece of the answer
 *     {"ms":9,"round":1,"event":"text","bytes":3}     from trace_event
 *     {"ms":9,"round":1,"end":"ok"}                   or an error's code
 *
 * Each event tells what it has: bytes, tools, took_ms; of picks their scores in
 * thousandths, of a call that was checked what was found, of a turn that ended
 * its rounds, calls and tokens. With t.block it tells how much of that was in
 * use, and the most that ever was. examples/trace.c makes a page of it all.
 *
 * What a header has as its secret, in this exchange or one before, is written
 * as *** wherever it stands, in whatever pieces it comes: see >>invoke in
 * toolcall.h for how it may be written, and what is not found. Characters that
 * a terminal would obey are written as escapes of JSON. The rest of a
 * conversation is there as it is, so the file should be its owner's alone
 * (mode 0600). A replay compares requests with those of the file (t.differs
 * counts the ones that are not the same, t.is and t.was show where the first
 * differs), gives its answers, and its clock runs as the file says: nobody
 * waits. With TRACE_RESULTS(&t) among the hooks of the
 * registry no tool runs in a replay: calls get the results of the file, those
 * that failed as plain text. That needs trace_event as listener meanwhile.
 */
#ifndef TRACE_H
#define TRACE_H

#include "toolcall.h"

#include "tools/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACE_SECRETS = 8, TRACE_PICKS = 100 };

/* A mask for each secret, each in front of the next. */
typedef struct trace_masks {
    tcall_mask of[TRACE_SECRETS];
} trace_masks;

typedef struct trace {
    FILE *file;
    tcall_transport inner; /* none in a replay */
    bool texts; /* events tell the texts of the answer, in whole lines, and are
                 * all there is */
    /* That of the registry, to be set after trace_record; NULL: its use is not
     * written down. */
    const tcall_block *block;
    /* Who is asked: written with each request where set; trace_origin sets them
     * from a file. */
    const char *provider, *model;
    const char *secrets[TRACE_SECRETS];
    tcall_response *res;
    uint32_t began, ms;
    int round;
    bool opened, answered;
    /* recording: what the bytes are, masks of them, and those that wait for the
     * rest of a line or of a character */
    const char *word;
    trace_masks masks;
    char hold[4096];
    size_t held;
    ttool_shown shown; /* in front of the file */
    /* replaying: the line that is next, and how much of it was given */
    char *line;
    size_t room, given;
    tcall_json value;
    bool differs_here;
    int differs;          /* requests that are not those of the file */
    char is[80], was[80]; /* the first of them there, and that of the file */
    char names[2][64];    /* provider and model of the file */
} trace;

/* ---- recording ---- */

static int trace_sink(void *user, const char *bytes, size_t len)
{
    return (int)fwrite(bytes, 1, len < 4096 ? len : 4096, (FILE *)user);
}

/* Begin a line; the writer is used until trace_end_line. */
static tcall_writer trace_line(trace *t, char *buf, size_t cap)
{
    tcall_writer w;

    if (t->inner.now_ms)
        t->ms = t->inner.now_ms(t->inner.user) - t->began;
    tcall_writer_init(&w, buf, cap);
    tcall_writer_sink(&w, ttool_shown_put, &t->shown);
    tcall_write_open(&w, '{');
    tcall_write_key(&w, "ms");
    tcall_write_int(&w, (long)t->ms);
    tcall_write_key(&w, "round");
    tcall_write_int(&w, t->round);
    return w;
}

static void trace_end_line(trace *t, tcall_writer *w)
{
    tcall_write_close(w, '}');
    tcall_write_text(w, "\n");
    tcall_writer_flush(w);
    ttool_shown_end(&t->shown);
    fflush(t->file);
}

/* What passes the masks goes to the sink. */
static void trace_masks_init(const trace *t, trace_masks *masks,
                             tcall_sink sink, void *user)
{
    int i;

    memset(masks, 0, sizeof *masks);
    for (i = 0; i < TRACE_SECRETS; i++) {
        bool last = i + 1 == TRACE_SECRETS;
        masks->of[i].secret = t->secrets[i];
        masks->of[i].sink = last ? sink : tcall_mask_put;
        masks->of[i].user = last ? user : &masks->of[i + 1];
    }
}

static void trace_masks_end(trace_masks *masks)
{
    int i;

    for (i = 0; i < TRACE_SECRETS; i++)
        tcall_mask_end(&masks->of[i]);
}

static int trace_to_writer(void *user, const char *bytes, size_t len)
{
    tcall_write_bytes((tcall_writer *)user, bytes, len);
    return (int)len;
}

/* Text without the secrets; it is between quotes. */
static void trace_text(const trace *t, tcall_writer *w, tcall_str s)
{
    trace_masks masks;

    trace_masks_init(t, &masks, trace_to_writer, w);
    tcall_mask_put(&masks.of[0], s.ptr, s.len);
    trace_masks_end(&masks);
}

static void trace_string(const trace *t, tcall_writer *w, const char *key,
                         tcall_str s)
{
    tcall_write_key(w, key);
    tcall_write_quote(w);
    trace_text(t, w, s);
    tcall_write_unquote(w);
}

/* How many bytes at the end may be half of a character. */
static size_t trace_tail(const trace *t)
{
    size_t n;

    for (n = 1; n < 4 && n <= t->held; n++) {
        unsigned char c = (unsigned char)t->hold[t->held - n];
        if (c >= 0xC0)
            return n < (c < 0xE0 ? 2u : c < 0xF0 ? 3u : 4u) ? n : 0;
        if (c < 0x80)
            break;
    }
    return 0;
}

static void trace_line_out(trace *t, size_t keep)
{
    char buf[512];
    size_t n = t->held - keep;
    tcall_writer w;

    if (n == 0)
        return;
    w = trace_line(t, buf, sizeof buf);
    if (t->texts) {
        tcall_write_key(&w, "event");
        tcall_write_string(&w, "text");
    }
    tcall_write_key(&w, t->word);
    tcall_write_quote(&w);
    tcall_write_bytes(&w, t->hold, n);
    tcall_write_unquote(&w);
    trace_end_line(t, &w);
    memmove(t->hold, t->hold + n, keep);
    t->held = keep;
}

/* A sink: gathers what passed the masks. */
static int trace_gather(void *user, const char *bytes, size_t len)
{
    trace *t = (trace *)user;
    size_t done, n;

    for (done = 0; done < len; done += n) {
        n = sizeof t->hold - t->held;
        n = n < len - done ? n : len - done;
        memcpy(t->hold + t->held, bytes + done, n);
        t->held += n;
        if (t->held == sizeof t->hold)
            trace_line_out(t, trace_tail(t));
    }
    return (int)len;
}

/* Writes down all that waits. */
static void trace_flush(trace *t)
{
    trace_masks_end(&t->masks);
    trace_line_out(t, 0);
}

static void trace_bytes(trace *t, const char *word, const char *bytes,
                        size_t len)
{
    if (t->word != word)
        trace_flush(t);
    t->word = word;
    tcall_mask_put(&t->masks.of[0], bytes, len);
    trace_line_out(t, trace_tail(t));
}

/* A piece of the answer, of which whole lines are written. */
static void trace_text_piece(trace *t, tcall_str piece)
{
    size_t n;

    t->word = "text";
    tcall_mask_put(&t->masks.of[0], piece.ptr, piece.len);
    for (n = t->held; n && t->hold[n - 1] != '\n';)
        n--;
    trace_line_out(t, t->held - n);
}

/* Notes the secrets of an exchange: those of the ones before may be repeated
 * in it, too. */
static void trace_learn(trace *t, const tcall_request *req)
{
    size_t i;

    for (i = 0; i < req->header_count; i++) {
        const char *secret = req->headers[i].secret;
        int at = 0;
        if (!secret)
            continue;
        while (at + 1 < TRACE_SECRETS && t->secrets[at] &&
               strcmp(t->secrets[at], secret) != 0)
            at++;
        t->secrets[at] = secret;
    }
    trace_masks_init(t, &t->masks, trace_gather, t);
}

/* How an exchange, or its opening, ended. */
static void trace_end(trace *t, int error)
{
    char buf[512];
    tcall_writer w;

    if (error == TCALL_E_AGAIN || !t->opened)
        return;
    trace_flush(t);
    w = trace_line(t, buf, sizeof buf);
    tcall_write_key(&w, "end");
    tcall_write_string(&w, tcall_error_code(error));
    trace_end_line(t, &w);
    t->opened = false;
}

static int trace_open(void *user, const tcall_request *req, tcall_response *res)
{
    trace *t = (trace *)user;
    int r = t->inner.open(t->inner.user, req, res);
    size_t i;
    char buf[512];
    tcall_writer w;

    if (r == TCALL_E_AGAIN)
        return r;
    t->round++;
    t->opened = true;
    t->answered = false;
    t->res = res;
    trace_learn(t, req);
    w = trace_line(t, buf, sizeof buf);
    tcall_write_key(&w, "open");
    tcall_write_open(&w, '{');
    tcall_write_key(&w, "method");
    tcall_write_string(&w, req->method);
    trace_string(t, &w, "path", tcall_str_of(req->path));
    if (t->provider && t->model) {
        trace_string(t, &w, "provider", tcall_str_of(t->provider));
        trace_string(t, &w, "model", tcall_str_of(t->model));
    }
    tcall_write_key(&w, "headers");
    tcall_write_open(&w, '[');
    for (i = 0; i < req->header_count; i++) {
        const tcall_header *h = &req->headers[i];
        tcall_write_quote(&w);
        tcall_write_text(&w, h->name);
        tcall_write_text(&w, ": ");
        trace_text(t, &w, tcall_str_of(h->value ? h->value : ""));
        tcall_write_text(&w, h->secret ? "***" : "");
        tcall_write_unquote(&w);
    }
    tcall_write_close(&w, ']');
    tcall_write_close(&w, '}');
    if (r < 0) {
        tcall_write_key(&w, "end");
        tcall_write_string(&w, tcall_error_code(r));
        t->opened = false;
    }
    trace_end_line(t, &w);
    return r;
}

static int trace_write(void *user, const char *bytes, size_t len)
{
    trace *t = (trace *)user;
    int r = t->inner.write(t->inner.user, bytes, len);

    if (r > 0)
        trace_bytes(t, "write", bytes, (size_t)r);
    else
        trace_end(t, r);
    return r;
}

/* What is known of the answer before its first byte. */
static void trace_response(trace *t)
{
    char buf[512];
    tcall_writer w;

    if (t->answered || !t->res->status)
        return;
    t->answered = true;
    trace_flush(t);
    w = trace_line(t, buf, sizeof buf);
    tcall_write_key(&w, "status");
    tcall_write_int(&w, t->res->status);
    tcall_write_key(&w, "retry_after_ms");
    tcall_write_int(&w, t->res->retry_after_ms);
    tcall_write_key(&w, "should_retry");
    tcall_write_int(&w, t->res->should_retry);
    trace_end_line(t, &w);
}

static int trace_read(void *user, char *bytes, size_t cap)
{
    trace *t = (trace *)user;
    int r = t->inner.read(t->inner.user, bytes, cap);

    trace_response(t);
    if (r > 0)
        trace_bytes(t, "read", bytes, (size_t)r);
    else
        trace_end(t, r);
    return r;
}

static void trace_close(void *user)
{
    trace *t = (trace *)user;

    trace_end(t, TCALL_E_CANCELLED); /* unless it has ended already */
    t->inner.close(t->inner.user);
}

static uint32_t trace_now(void *user)
{
    trace *t = (trace *)user;

    return t->inner.now_ms(t->inner.user);
}

static void trace_wait(void *user, const tcall_wait *wait)
{
    trace *t = (trace *)user;

    t->inner.wait(t->inner.user, wait);
}

static void trace_wants(void *user, tcall_wait *wait)
{
    trace *t = (trace *)user;

    t->inner.wants(t->inner.user, wait);
}

static void trace_begin(trace *t, FILE *file)
{
    memset(t, 0, sizeof *t);
    t->file = file;
    t->shown.sink = trace_sink;
    t->shown.user = file;
    t->shown.json = true;
}

/* Writes down events alone, with the texts of the answer; key is the secret
 * (NULL: none), and clock tells the time. */
static inline void trace_only_events(trace *t, FILE *file, const char *key,
                                     const tcall_transport *clock)
{
    trace_begin(t, file);
    t->texts = true;
    t->secrets[0] = key;
    t->inner.now_ms = clock->now_ms;
    t->inner.user = clock->user;
    t->began = clock->now_ms ? clock->now_ms(clock->user) : 0;
    trace_masks_init(t, &t->masks, trace_gather, t);
}

/* file stays the caller's, to close at the end; so does t. */
static inline tcall_transport trace_record(trace *t, FILE *file,
                                           tcall_transport inner)
{
    tcall_transport r = {trace_open, trace_write, trace_read, trace_close,
                         NULL,       NULL,        NULL,       NULL};

    trace_begin(t, file);
    t->inner = inner;
    trace_masks_init(t, &t->masks, trace_gather, t);
    r.now_ms = inner.now_ms ? trace_now : NULL;
    r.wait = inner.wait ? trace_wait : NULL;
    r.wants = inner.wants ? trace_wants : NULL;
    r.user = t;
    t->began = inner.now_ms ? inner.now_ms(inner.user) : 0;
    return r;
}

/* What the checks of a call found, in words and for errors as the model reads
 * them. */
static void trace_checks(trace *t, tcall_writer *w, const tcall_call *call)
{
    trace_masks masks;
    char buf[256];
    tcall_writer said;
    int i;

    trace_masks_init(t, &masks, trace_to_writer, w);
    tcall_writer_init(&said, buf, sizeof buf);
    tcall_writer_sink(&said, tcall_mask_put, &masks.of[0]);
    tcall_write_key(w, "checks");
    tcall_write_quote(w);
    if (call->error < 0) {
        tcall_write_open(&said, '{');
        tcall_write_call_errors(&said, call);
        tcall_write_close(&said, '}');
    } else {
        tcall_write_text(&said, call->repaired ? "valid, repaired" : "valid");
        for (i = 0; i < TCALL_FIX_COUNT; i++) {
            tcall_write_text(&said,
                             call->asked->fixes >> i & 1 ? ", fixed " : "");
            tcall_write_text(
                &said, call->asked->fixes >> i & 1 ? tcall_fix_name(i) : "");
        }
        if (call->asked->coercions) {
            tcall_write_text(&said, ", values converted: ");
            tcall_write_int(&said, call->asked->coercions);
        }
    }
    tcall_writer_flush(&said);
    trace_masks_end(&masks);
    tcall_write_unquote(w);
}

static void trace_number(tcall_writer *w, const char *key, size_t n)
{
    if (n) {
        tcall_write_key(w, key);
        tcall_write_int(w, (long)n);
    }
}

static void trace_picks(tcall_writer *w, const tcall_event *e)
{
    size_t i;

    tcall_write_key(w, "picks");
    tcall_write_open(w, '{');
    for (i = 0; i < e->tools && i < TRACE_PICKS; i++) {
        tcall_write_key(w, e->picks[i].tool->name);
        tcall_write_int(w, e->picks[i].score);
    }
    tcall_write_close(w, '}');
}

static void trace_figures(const trace *t, tcall_writer *w, const tcall_event *e)
{
    trace_number(w, e->picks ? "saved" : "bytes", e->bytes);
    trace_number(w, "tools", e->tools);
    trace_number(w, "took_ms", e->ms);
    if (t->block) {
        trace_number(w, "used", t->block->low + t->block->high);
        trace_number(w, "peak", t->block->peak);
    }
}

/* For on_event; does nothing in a replay. Of what comes in pieces only the
 * size is written: the answer has it, and half a secret cannot be told. */
static inline void trace_event(trace *t, const tcall_event *e)
{
    static const struct {
        int kind;
        const char *name;
    } names[] = {
        {TCALL_EVENT_HYDRATED, "hydrated"}, {TCALL_EVENT_REPAIR, "repair"},
        {TCALL_EVENT_APPROVAL, "approval"}, {TCALL_EVENT_START, "start"},
        {TCALL_EVENT_OUTPUT, "output"},     {TCALL_EVENT_END, "end"},
        {TCALL_EVENT_TEXT, "text"},         {TCALL_EVENT_REQUEST, "request"},
        {TCALL_EVENT_ANSWER, "answer"},     {TCALL_EVENT_VERDICT, "verdict"},
        {TCALL_EVENT_PROGRESS, "progress"}, {TCALL_EVENT_ERROR, "error"},
        {TCALL_EVENT_RETRY, "retry"},       {TCALL_EVENT_PICK, "pick"},
        {TCALL_EVENT_PIECE, "piece"},       {TCALL_EVENT_HOOK, "hook"},
        {TCALL_EVENT_TURN, "turn"},         {TCALL_EVENT_TURN_END, "turn_end"},
    };
    char buf[512];
    size_t i;
    tcall_writer w;

    if (!t->file || !(t->inner.open || t->texts))
        return;
    if (t->texts && e->kind == TCALL_EVENT_TEXT) {
        trace_text_piece(t, e->text);
        return;
    }
    if (t->texts) {
        trace_flush(t);
        t->round += e->kind == TCALL_EVENT_REQUEST;
    }
    w = trace_line(t, buf, sizeof buf);
    tcall_write_key(&w, "event");
    for (i = 0; i < TCALL_ARRAY_LEN(names) && names[i].kind != (int)e->kind;)
        i++;
    tcall_write_string(&w,
                       i < TCALL_ARRAY_LEN(names) ? names[i].name : "other");
    if (e->error < 0) {
        tcall_write_key(&w, "error");
        tcall_write_string(&w, tcall_error_code(e->error));
    }
    if (e->item)
        trace_number(&w, "bytes", e->item->text.len);
    else if (e->kind == TCALL_EVENT_TEXT ||
             (!t->texts && e->kind == TCALL_EVENT_OUTPUT))
        trace_number(&w, "bytes", e->text.len);
    else if (e->text.len)
        trace_string(t, &w, "text", e->text);
    if (e->call) {
        trace_string(t, &w, "id", e->call->id);
        trace_string(t, &w, "name", e->call->name);
        trace_string(t, &w, "arguments", e->call->arguments);
    }
    if (e->kind == TCALL_EVENT_HYDRATED)
        trace_checks(t, &w, e->call);
    if (e->kind == TCALL_EVENT_VERDICT) {
        tcall_write_key(&w, "approved");
        tcall_write_bool(&w, e->verdict == TCALL_VERDICT_ALLOW);
    }
    if (e->picks)
        trace_picks(&w, e);
    if (e->kind == TCALL_EVENT_TURN_END) {
        trace_number(&w, "rounds", e->turn->rounds);
        trace_number(&w, "calls", e->turn->calls);
        trace_number(&w, "tokens", e->turn->tokens);
    }
    trace_figures(t, &w, e);
    trace_end_line(t, &w);
}

/* ---- replaying ---- */

/* The present line, reading one if there is none; false at the file's end, and
 * at what is no line of a trace. */
static bool trace_more(trace *t)
{
    long n = t->value.at ? 1 : (long)getline(&t->line, &t->room, t->file);
    uint32_t ms;

    if (n <= 0)
        return false;
    if (!t->value.at &&
        tcall_json_parse(&t->value, t->line, (size_t)n, NULL) < 0) {
        t->value.at = NULL;
        return false;
    }
    ms = (uint32_t)tcall_json_int(tcall_json_get(t->value, "ms"), 0);
    t->ms = ms > t->ms ? ms : t->ms;
    return true;
}

/* What the line has under this key; the line stays. */
static tcall_json trace_has(const trace *t, const char *key)
{
    return tcall_json_get(t->value, key);
}

static void trace_done(trace *t)
{
    t->value.at = NULL;
    t->given = 0;
}

/* The error that "end" names; TCALL_OK when it is not there. */
static int trace_ended(const trace *t)
{
    const char *code = tcall_json_string(trace_has(t, "end"), "ok");
    int i;

    for (i = 0; i < TCALL_I_COUNT; i++)
        if (strcmp(tcall_error_code(-1 - i), code) == 0)
            return -1 - i;
    return TCALL_OK;
}

static int replay_open(void *user, const tcall_request *req,
                       tcall_response *res)
{
    trace *t = (trace *)user;
    int r;

    (void)req;
    t->res = res;
    while (trace_more(t) && !trace_has(t, "open").at)
        trace_done(t);
    if (!t->value.at)
        return TCALL_E_CONNECT; /* the trace is over */
    r = trace_ended(t);
    trace_done(t);
    t->differs_here = false;
    return r;
}

/* Bytes of a request from a little before the place where it differs. */
static void replay_show(char *out, size_t cap, tcall_str s, size_t at)
{
    size_t from = at < 32 ? 0 : at - 32, n = s.len - from;

    n = n < cap - 1 ? n : cap - 1;
    memcpy(out, s.ptr + from, n);
    out[n] = '\0';
}

/* Counts a request once; of the first, keeps where it differs. */
static void replay_differs(trace *t, tcall_str is, tcall_str was)
{
    size_t at = 0;

    if (!t->differs && !t->differs_here) {
        while (at < is.len && at < was.len && is.ptr[at] == was.ptr[at])
            at++;
        replay_show(t->is, sizeof t->is, is, at);
        replay_show(t->was, sizeof t->was, was, at);
    }
    t->differs += !t->differs_here;
    t->differs_here = true;
}

/* Goes to the next bytes of the recorded request, past events; empty after its
 * last ones. */
static tcall_str replay_request(trace *t)
{
    while (trace_more(t) && trace_has(t, "event").at)
        trace_done(t);
    return tcall_json_str(trace_has(t, "write"));
}

/* Takes all, and compares it. */
static int replay_write(void *user, const char *bytes, size_t len)
{
    trace *t = (trace *)user;
    size_t taken = len < 0x7fff ? len : 0x7fff, left = taken;

    while (left && !t->differs_here) {
        tcall_str s = replay_request(t), is = {bytes, left};
        size_t n;

        s.ptr += t->given;
        s.len -= t->given;
        n = s.len < left ? s.len : left;
        if (!n || memcmp(s.ptr, bytes, n) != 0)
            replay_differs(t, is, s);
        bytes += n;
        left -= n;
        t->given += n;
        if (n == s.len && n)
            trace_done(t);
    }
    return (int)taken;
}

static int replay_read(void *user, char *bytes, size_t cap)
{
    trace *t = (trace *)user;

    while (trace_more(t) && !trace_has(t, "open").at) {
        tcall_str s = tcall_json_str(trace_has(t, "read"));
        size_t n = s.len - t->given;
        int r = trace_ended(t);

        if (trace_has(t, "write").at) {
            tcall_str none = {"", 0}; /* it was longer */
            replay_differs(t, none, tcall_json_str(trace_has(t, "write")));
        } else if (trace_has(t, "status").at) {
            t->res->status = tcall_json_int(trace_has(t, "status"), 0);
            t->res->retry_after_ms =
                tcall_json_int(trace_has(t, "retry_after_ms"), -1);
            t->res->should_retry =
                tcall_json_int(trace_has(t, "should_retry"), 0);
        } else if (n > 0) {
            n = n < cap ? n : cap;
            memcpy(bytes, s.ptr + t->given, n);
            t->given += n;
            return (int)n;
        } else if (trace_has(t, "end").at) {
            trace_done(t);
            return r;
        }
        trace_done(t);
    }
    return TCALL_E_CLOSED;
}

static void replay_close(void *user)
{
    (void)user;
}

/* A hook: answers a call with the result that the file has for it, which comes
 * after the answer at hand and before the next request. */
static int trace_result(tcall_ctx *cx, void *user)
{
    trace *t = (trace *)user;
    long here = t->file ? ftell(t->file) : 0;
    int r = TCALL_E_UNKNOWN;

    if (!t->file || t->inner.open)
        return tcall_next(cx); /* no replay: the tool runs */
    while (r == TCALL_E_UNKNOWN && trace_more(t) && !trace_has(t, "open").at) {
        const char *event = tcall_json_string(trace_has(t, "event"), "");

        if (strcmp(event, "end") == 0 &&
            tcall_str_eq(tcall_json_str(trace_has(t, "id")), cx->call->id))
            r = tcall_respond(cx, tcall_json_str(trace_has(t, "text")));
        trace_done(t);
    }
    trace_done(t);
    fseek(t->file, here, SEEK_SET);
    return r == TCALL_E_UNKNOWN
               ? tcall_abort(cx, "the trace has no result of this call", NULL,
                             0)
               : r;
}
#define TRACE_RESULTS(t)                                              \
    {                                                                 \
        "replay", TCALL_AROUND_EXECUTE, 0x7fff, trace_result, NULL, t \
    }

static uint32_t replay_now(void *user)
{
    return ((trace *)user)->ms;
}

static void replay_wait(void *user, const tcall_wait *wait)
{
    ((trace *)user)->ms += wait->ms;
}

/* The same, to read from; trace_free when done. */
static inline tcall_transport trace_replay(trace *t, FILE *file)
{
    tcall_transport r = {replay_open, replay_write, replay_read, replay_close,
                         replay_now,  replay_wait,  NULL,        NULL};

    memset(t, 0, sizeof *t);
    t->file = file;
    r.user = t;
    return r;
}

/* Sets provider and model to those of the file's first request, if it names
 * them; before the replay begins. */
static inline void trace_origin(trace *t)
{
    static const char *const keys[] = {"provider", "model"};
    const char **to[2];
    int i;

    to[0] = &t->provider;
    to[1] = &t->model;
    while (trace_more(t) && !trace_has(t, "open").at)
        trace_done(t);
    for (i = 0; i < 2 && t->value.at; i++) {
        tcall_json name = tcall_json_get(trace_has(t, "open"), keys[i]);
        tcall_str s = tcall_json_str(name);
        size_t n = s.len < sizeof t->names[i] ? s.len : sizeof t->names[i] - 1;
        memcpy(t->names[i], s.ptr ? s.ptr : "", n);
        *to[i] = n ? t->names[i] : NULL;
    }
    trace_done(t);
    rewind(t->file);
    t->ms = 0;
}

static inline void trace_free(trace *t)
{
    free(t->line);
    t->line = NULL;
}

#endif /* TRACE_H */
