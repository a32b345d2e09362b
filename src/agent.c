#pragma once
#include "agent.h"
#include "invoke.c"
#include "reader.c"

/* ==========================================================================
 * >>agent
 *
 * One turn is a walk through these states; a step is one of them, or one
 * piece of the body that goes out or comes in, or one call.
 */

enum {
    TCALL_A_IDLE_,  /* no turn */
    TCALL_A_WAIT_,  /* before the request is sent again */
    TCALL_A_OPEN_,  /* write the request for counting, connect */
    TCALL_A_SEND_,  /* write it for real */
    TCALL_A_READ_,  /* read the answer */
    TCALL_A_CALLS_, /* run what it asks for, one call each step */
    TCALL_A_ASKED_  /* calls wait for their results: tcall_agent_ask */
};

/* The path, if it has to name the model, in the block. */
static int tcall_agent_path_(tcall_agent *a)
{
    const char *path = a->desc.path, *at = strchr(path, '{');
    const char *end = at ? strchr(at, '}') : NULL;
    tcall_block *b = &a->desc.tc->block;
    tcall_writer w;
    if (!end)
        return TCALL_OK;
    tcall_writer_init(&w, tcall_block_gap_(b), tcall_block_free_(b));
    tcall_write_bytes(&w, path, (size_t)(at - path));
    tcall_write_text(&w, a->desc.model ? a->desc.model : "");
    tcall_write_bytes(&w, end + 1, strlen(end)); /* with its NUL */
    a->desc.path = w.buf;
    return tcall_block_grow_(b, (w.len + 7) & ~(size_t)7) ? TCALL_OK
                                                          : TCALL_E_MEMORY;
}

int tcall_agent_init(tcall_agent *a, const tcall_agent_desc *desc)
{
    tcall_block *b = &desc->tc->block;
    size_t reader = (sizeof(tcall_reader) + 7) & ~(size_t)7, io;
    memset(a, 0, sizeof *a);
    a->desc = *desc;
    if (!desc->io_size)
        a->desc.io_size = 512;
    if (!desc->max_rounds)
        a->desc.max_rounds = 8;
    if (!desc->max_calls)
        a->desc.max_calls = 32;
    a->random = desc->seed;
    if (!desc->path)
        a->desc.path = desc->stream && desc->provider->stream_path
                           ? desc->provider->stream_path
                           : desc->provider->path;
    if (tcall_agent_path_(a) < 0)
        return TCALL_E_MEMORY;
    io = (a->desc.io_size + 7) & ~(size_t)7;
    a->reader = (tcall_reader *)(void *)tcall_block_gap_(b);
    a->io = tcall_block_gap_(b) + reader;
    if (!tcall_block_grow_(b, reader + io))
        return TCALL_E_MEMORY;
    tcall_chat_init(&a->chat, b);
    return TCALL_OK;
}

static uint32_t tcall_agent_now_(const tcall_agent *a)
{
    const tcall_transport *t = &a->desc.transport;
    return t->now_ms ? t->now_ms(t->user) : 0;
}

/* The block keeps a quarter of what the conversation may use for answers. */
static bool tcall_agent_room_(tcall_agent *a, size_t more)
{
    const tcall_block *b = &a->desc.tc->block;
    size_t all = b->size - a->chat.start - b->high;
    return tcall_chat_make_room(&a->chat, all / 4 + more);
}

/* The tools of this turn. Where there is no memory for picking all are sent. */
static void tcall_agent_pick_(tcall_agent *a, tcall_str text)
{
    tcall_pick_opts standard;
    tcall_picked picks[TCALL_AGENT_PICKS];
    const tcall_agent_desc *d = &a->desc;
    int n, i;
    if (!d->pick || d->tc->desc.tool_count <= TCALL_AGENT_ALL)
        return;
    memset(&standard, 0, sizeof standard);
    standard.max = 8;
    standard.relative = 50;
    standard.allow_unsafe = true;
    standard.stable = true;
    n = d->pick(d->tc, text, d->pick_opts ? d->pick_opts : &standard, picks,
                TCALL_AGENT_PICKS);
    for (i = 0; i < n && picks[i].pinned; i++)
        ;
    if (n >= 0 && i == n && a->pick_count > n)
        return; /* nothing fits: those of the turn before */
    a->picked = n >= 0;
    a->pick_count = (uint8_t)(n > 0 ? n : 0);
    for (i = 0; i < n; i++)
        a->picks[i] = picks[i].index;
}

TCALL_APART_ static int tcall_agent_hear_(tcall_agent *a, tcall_str text)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_USER;
    item.text = text;
    tcall_agent_room_(a, text.len);
    return tcall_chat_add(&a->chat, &item);
}

int tcall_agent_say(tcall_agent *a, tcall_str text)
{
    int r;
    if (a->state != TCALL_A_IDLE_)
        return TCALL_E_USAGE;
    r = tcall_agent_hear_(a, text);
    if (r < 0)
        return r;
    tcall_agent_pick_(a, text);
    a->started = tcall_agent_now_(a);
    a->rounds = a->calls = a->tries = 0;
    a->wait_ms = 0;
    a->cancelled = a->again = false;
    a->run = true;
    a->state = TCALL_A_OPEN_;
    return TCALL_OK;
}

void tcall_agent_cancel(tcall_agent *a)
{
    a->cancelled = true;
}

/* Why no further round may begin, or TCALL_OK. */
static int tcall_agent_over_(const tcall_agent *a)
{
    if (a->cancelled)
        return TCALL_E_CANCELLED;
    if (a->desc.max_ms && a->desc.transport.now_ms &&
        tcall_agent_now_(a) - a->started > a->desc.max_ms)
        return TCALL_E_TIMEOUT;
    return TCALL_OK;
}

/* In the last round that is left the model has to answer in words. */
static bool tcall_agent_last_round_(const tcall_agent *a)
{
    return a->rounds + 1 >= a->desc.max_rounds || a->calls >= a->desc.max_calls;
}

static int tcall_agent_write_(tcall_agent *a, tcall_writer *w)
{
    const tcall_agent_desc *d = &a->desc;
    tcall_ask ask;
    memset(&ask, 0, sizeof ask);
    ask.model = d->model;
    ask.system = d->system;
    ask.chat = &a->chat;
    ask.tools = d->tc->desc.tools;
    ask.tool_count = d->tc->desc.tool_count;
    ask.picks = a->picked ? a->picks : NULL;
    ask.pick_count = a->pick_count;
    ask.allow = d->tc->desc.allow;
    ask.max_tokens = d->max_tokens;
    ask.stream = d->stream;
    ask.view = d->view;
    ask.describe = d->describe;
    ask.describe_user = d->describe_user;
    if (a->run && tcall_agent_last_round_(a))
        ask.choice = TCALL_CHOICE_NONE;
    d->provider->write(d->provider, w, &ask);
    return tcall_writer_flush(w);
}

/* How many tools the model gets to see. */
static size_t tcall_agent_tools_(const tcall_agent *a)
{
    const tcall_desc *d = &a->desc.tc->desc;
    size_t i, n = 0, all = a->picked ? a->pick_count : d->tool_count;
    for (i = 0; i < all; i++)
        n += tcall_enabled(&d->tools[a->picked ? a->picks[i] : i], d->allow);
    return n;
}

/* Behind this header, if it has a name. */
TCALL_APART_ static tcall_header *tcall_header_(tcall_header *h,
                                                const char *name,
                                                const char *value,
                                                const char *secret)
{
    h->name = name;
    h->value = value;
    h->secret = secret;
    return name ? h + 1 : h;
}

TCALL_APART_ static int tcall_agent_open_(tcall_agent *a)
{
    const tcall_provider *p = a->desc.provider;
    tcall_request *req = &a->request;
    tcall_header *h = a->headers;
    tcall_writer count;
    tcall_event event;
    int r;
    tcall_agent_room_(a, 0);
    tcall_writer_init(&count, NULL, 0);
    r = tcall_agent_write_(a, &count);
    if (r < 0)
        return r;
    h = tcall_header_(h, "Content-Type", "application/json", NULL);
    h = tcall_header_(h, p->version[0], p->version[1], NULL);
    if (a->desc.key)
        h = tcall_header_(h, p->key_header, p->key_prefix, a->desc.key);
    req->method = "POST";
    req->path = a->desc.path;
    req->headers = a->headers;
    req->header_count = (size_t)(h - a->headers);
    req->body_len = count.len;
    memset(&a->response, 0, sizeof a->response);
    a->response.retry_after_ms = -1;
    a->opened = true;
    r = a->desc.transport.open(a->desc.transport.user, req, &a->response);
    if (r < 0)
        return r;
    memset(&event, 0, sizeof event);
    event.bytes = count.len;
    event.tools = tcall_agent_tools_(a);
    tcall_tell_(a->desc.tc, &event, TCALL_EVENT_REQUEST);
    a->sent = a->received = 0;
    a->state = TCALL_A_SEND_;
    return TCALL_E_AGAIN;
}

static int tcall_agent_sink_(void *user, const char *bytes, size_t len)
{
    tcall_agent *a = (tcall_agent *)user;
    int n = a->desc.transport.write(a->desc.transport.user, bytes, len);
    if (n > 0)
        a->sent += (size_t)n;
    return n;
}

static void tcall_agent_text_piece_(void *user, tcall_str piece)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.text = piece;
    tcall_tell_((tcall *)user, &event, TCALL_EVENT_TEXT);
}

static void tcall_agent_call_piece_(void *user, const tcall_item *piece)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.item = piece;
    tcall_tell_((tcall *)user, &event, TCALL_EVENT_PIECE);
}

/* Where the transport paused, the request is written again and what has been
 * sent is skipped: nothing of it is ever held. */
TCALL_APART_ static int tcall_agent_send_(tcall_agent *a)
{
    tcall_writer w;
    int r;
    tcall_writer_init(&w, a->io, a->desc.io_size);
    tcall_writer_sink(&w, tcall_agent_sink_, a);
    w.skip = a->sent;
    r = tcall_agent_write_(a, &w);
    if (r < 0)
        return r;
    if (a->sent != a->request.body_len)
        return TCALL_E_USAGE;
    a->mark = a->desc.tc->block.low - a->chat.start;
    tcall_reader_init(a->reader, a->desc.provider, &a->chat,
                      tcall_agent_text_piece_, a->desc.tc);
    a->reader->call = tcall_agent_call_piece_;
    a->state = TCALL_A_READ_;
    return TCALL_E_AGAIN;
}

/* A server may repeat the key in its complaint: as much as 8 characters of it
 * are made unreadable. */
static void tcall_agent_mask_(char *text, const char *key)
{
    for (; key && *key && *text; text++) {
        size_t n = 0;
        while (key[n] && text[n] == key[n])
            n++;
        if (n >= 8 || !key[n])
            memset(text, '*', n);
    }
}

/* The answer is there: what follows of it. */
TCALL_APART_ static int tcall_agent_answered_(tcall_agent *a)
{
    tcall_event event;
    int r = tcall_reader_end(a->reader);
    int status;
    if (r == TCALL_OK && a->desc.text_calls)
        r = a->desc.text_calls(a->reader);
    a->answer = a->reader->answer;
    tcall_agent_mask_(a->answer.message, a->desc.key);
    tcall_agent_mask_(a->answer.stop_text, a->desc.key);
    status = tcall_answer_error(&a->answer, a->response.status);
    if (a->response.retry_after_ms < 0)
        a->response.retry_after_ms = a->answer.wait_ms;
    if (status == TCALL_OK && a->run && a->answer.calls && a->answer.unkept)
        status = TCALL_E_MEMORY; /* nobody could send their results back */
    if (status < 0)              /* whatever the body is, it is no answer */
        r = status;
    memset(&event, 0, sizeof event);
    event.error = r;
    event.status = a->response.status;
    event.bytes = a->received;
    event.text = tcall_str_of(a->answer.message);
    tcall_tell_(a->desc.tc, &event, TCALL_EVENT_ANSWER);
    if (r < 0)
        return r;
    a->desc.transport.close(a->desc.transport.user);
    a->opened = a->again = false;
    a->state = TCALL_A_IDLE_;
    a->rounds++;
    a->tries = 0;
    a->call_at = 0;
    if (a->answer.calls == 0)
        return TCALL_OK;
    a->state = a->run ? TCALL_A_CALLS_ : TCALL_A_ASKED_;
    return a->run ? TCALL_E_AGAIN : TCALL_OK;
}

TCALL_APART_ static int tcall_agent_read_(tcall_agent *a)
{
    int n =
        a->desc.transport.read(a->desc.transport.user, a->io, a->desc.io_size);
    int r;
    if (n == 0)
        return tcall_agent_answered_(a);
    if (n < 0)
        return n;
    a->received += (size_t)n;
    r = tcall_reader_feed(a->reader, a->io, (size_t)n);
    /* An error page is not in the provider's format: read on for its words. */
    if (r < 0 && a->response.status < 300)
        return tcall_agent_answered_(a);
    return TCALL_E_AGAIN;
}

/* The index-th call of the last answer. */
static bool tcall_agent_item_(const tcall_agent *a, size_t index,
                              tcall_item *item)
{
    size_t at = a->mark;
    while (tcall_chat_next(&a->chat, &at, item))
        if (item->kind == TCALL_ITEM_CALL && index-- == 0)
            return true;
    return false;
}

/* The call as it came, not hydrated yet. */
TCALL_APART_ static bool tcall_agent_asked_(const tcall_agent *a, size_t index,
                                            tcall_call *call)
{
    tcall_item item;
    memset(call, 0, sizeof *call);
    if (!tcall_agent_item_(a, index, &item))
        return false;
    call->id = item.id;
    call->name = item.name;
    call->arguments = item.text;
    call->cut = item.error;
    call->provider = a->desc.provider->name;
    return true;
}

int tcall_agent_call(tcall_agent *a, int index, tcall_call *call)
{
    if (index < 0 || !tcall_agent_asked_(a, (size_t)index, call))
        return TCALL_E_USAGE;
    return tcall_hydrate(a->desc.tc, call);
}

int tcall_agent_result(tcall_agent *a, const tcall_call *call, tcall_str text,
                       bool error)
{
    tcall_item item;
    int r;
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_RESULT;
    item.id = call->id;
    item.name = call->name;
    item.text = text;
    item.error = error;
    r = tcall_chat_add(&a->chat, &item);
    if (r == TCALL_OK && a->state == TCALL_A_ASKED_ &&
        ++a->call_at == (size_t)a->answer.calls) {
        a->run = true;
        a->state = TCALL_A_OPEN_;
    }
    return r;
}

/* Takes up the calls that come next, as many as may be under way. */
TCALL_APART_ static void tcall_agent_batch_(tcall_agent *a)
{
    tcall_block *b = &a->desc.tc->block;
    int left = a->answer.calls - (int)a->call_at, i;
    int n = a->desc.parallel < left ? a->desc.parallel : left;
    a->batch_high = b->high;
    a->batch = NULL;
    if (n > 1)
        a->batch =
            (tcall_call *)tcall_block_take_(b, (size_t)n * sizeof *a->batch);
    if (!a->batch) {
        a->batch = &a->call;
        n = 1;
    }
    for (i = 0; i < n; i++) {
        int r = tcall_agent_call(a, (int)a->call_at + i, &a->batch[i]), k = 0;
        while (k < i && !tcall_str_eq(a->batch[k].id, a->batch[i].id))
            k++;
        /* One with the id of another, too, has to wait for its turn. */
        if (k < i || (r == TCALL_E_MEMORY && i > 0)) {
            tcall_release(a->desc.tc, &a->batch[i]);
            break;
        }
        if (++a->calls > a->desc.max_calls)
            tcall_cancel(&a->batch[i], TCALL_E_LIMIT);
    }
    a->batch_n = i;
    a->done = a->turn = a->waiting = 0;
}

/* The results that are next in order go to the chat; text: that of the first,
 * those behind it were kept. */
static int tcall_agent_deliver_(tcall_agent *a, tcall_str text)
{
    while (a->done < a->batch_n) {
        const tcall_call *call = &a->batch[a->done];
        int r;
        if (call->cx.state != TCALL_DONE_)
            break;
        r = tcall_agent_result(a, call, text, call->error < 0);
        if (r < 0)
            return r;
        if (++a->done < a->batch_n)
            text = a->batch[a->done].cx.result.output;
    }
    return TCALL_OK;
}

/* Gives one call of the batch its turn. The result is written where its item
 * will lie, and kept in the block if others come before it. */
TCALL_APART_ static int tcall_agent_turn_(tcall_agent *a, int over)
{
    tcall *tc = a->desc.tc;
    tcall_call *call = &a->batch[a->turn];
    tcall_writer out;
    size_t head, room;
    int r;
    if (over < 0)
        tcall_cancel(call, over);
    head = TCALL_HEAD_ + call->id.len + call->name.len;
    if (!tcall_block_room_(&tc->block, head))
        return TCALL_E_MEMORY;
    /* A quarter of what is free is for the call itself. */
    room = tcall_block_free_(&tc->block) - head;
    room -= room / 4;
    tcall_writer_init(&out, tcall_block_gap_(&tc->block) + head, room);
    tc->block.low += head + room;
    r = tcall_invoke(tc, call, &out);
    tc->block.low -= head + room;
    if (out.error == TCALL_E_MEMORY)
        tcall_block_room_(&tc->block, head + out.len + out.len / 3 + 8);
    if (tcall_waits_(r))
        return r;
    if (out.error)
        return out.error;
    if (a->turn == a->done)
        return tcall_agent_deliver_(a, tcall_slice_(out.buf, out.fill));
    return tcall_keep_(&call->cx, call->cx.result.output,
                       &call->cx.result.output);
}

TCALL_APART_ static int tcall_agent_next_(tcall_agent *a)
{
    int over = tcall_agent_over_(a), r;
    if (!a->batch_n)
        tcall_agent_batch_(a);
    r = tcall_agent_turn_(a, over);
    a->waiting = r == TCALL_E_APPROVAL ? a->waiting + 1 : 0;
    if (r < 0 && !tcall_waits_(r))
        return r;
    if (a->done < a->batch_n) {
        int i, open = 0;
        for (i = 0; i < a->batch_n; i++)
            open += a->batch[i].cx.state != TCALL_DONE_;
        do
            a->turn = (a->turn + 1) % a->batch_n;
        while (a->batch[a->turn].cx.state == TCALL_DONE_);
        if (r == TCALL_E_APPROVAL && a->waiting < open)
            r = TCALL_E_AGAIN; /* others may go on */
        if (r == TCALL_E_APPROVAL)
            a->waiting = 0;
        return r == TCALL_OK ? TCALL_E_AGAIN : r;
    }
    a->call_at += (size_t)a->batch_n;
    a->batch_n = 0;
    a->desc.tc->block.high = a->batch_high;
    if (a->call_at < (size_t)a->answer.calls)
        return TCALL_E_AGAIN;
    if (over == TCALL_E_CANCELLED || over == TCALL_E_TIMEOUT)
        return over;
    a->state = TCALL_A_OPEN_;
    return a->rounds < a->desc.max_rounds ? TCALL_E_AGAIN : TCALL_E_LIMIT;
}

/* Calls that are under way come to their end, whatever becomes of the turn:
 * what they hold is released. Nobody reads their results. */
TCALL_APART_ static void tcall_agent_drop_(tcall_agent *a)
{
    char none[1];
    tcall_writer out;
    int i;
    for (i = 0; i < a->batch_n; i++)
        if (a->batch[i].cx.state && a->batch[i].cx.state != TCALL_DONE_) {
            tcall_writer_init(&out, none, 0);
            tcall_cancel(&a->batch[i], TCALL_E_CANCELLED);
            tcall_invoke(a->desc.tc, &a->batch[i], &out);
        }
    if (a->batch_n)
        a->desc.tc->block.high = a->batch_high;
    a->batch_n = 0;
}

/* Ends the exchange, and forgets what came of an answer. */
static void tcall_agent_leave_(tcall_agent *a)
{
    if (a->opened)
        a->desc.transport.close(a->desc.transport.user);
    a->opened = false;
    if (a->state == TCALL_A_READ_)
        a->desc.tc->block.low = a->chat.start + a->mark;
}

/* Whether sending the request again can help. An answer that had begun well
 * may have been seen by somebody. */
static bool tcall_retry_helps_(const tcall_agent *a, int error)
{
    int status = a->response.status;
    if (!status)
        return error == TCALL_E_CLOSED || error == TCALL_E_CONNECT ||
               error == TCALL_E_RESOLVE ||
               (error == TCALL_E_TIMEOUT && a->state == TCALL_A_OPEN_);
    if (status < 400 || a->response.should_retry)
        return status >= 400 && a->response.should_retry > 0;
    return status == 408 || status == 409 || status == 429 || status >= 500;
}

/* Devices that failed together should not come back together. */
static uint32_t tcall_retry_backoff_(tcall_agent *a)
{
    uint32_t half = 250u << (a->tries < 5 ? a->tries - 1 : 4);
    uint32_t x = a->random += a->desc.seed ? 0x9E3779B9u : tcall_agent_now_(a);
    x = (x ^ x >> 16) * 0x45D9F3Bu;
    x = (x ^ x >> 16) * 0x45D9F3Bu;
    return half + ((x >> 16) * half >> 16);
}

long tcall_retry(tcall_agent *a, int error)
{
    const tcall_agent_desc *d = &a->desc;
    uint32_t most = d->max_wait_ms ? d->max_wait_ms : 60000;
    long told = a->response.retry_after_ms;
    uint32_t ms = told < 0 ? tcall_retry_backoff_(a) : (uint32_t)told;
    ms = ms < most ? ms : most;
    if (!tcall_retry_helps_(a, error) || !d->transport.now_ms ||
        a->tries >= (d->max_tries ? d->max_tries : 3) ||
        (d->max_ms && tcall_agent_now_(a) - a->started + ms >= d->max_ms))
        return error;
    return (long)ms;
}

/* After an error: TCALL_E_AGAIN when the request will be sent again, else the
 * error. A connection that was dead when it was reused is replaced at once. */
TCALL_APART_ static int tcall_agent_retry_(tcall_agent *a, int error)
{
    bool dead = error == TCALL_E_CLOSED && !a->response.status &&
                a->response.retry_after_ms == 0 && !a->again;
    tcall_event event;
    long ms = 0;
    if (!a->opened || tcall_agent_over_(a) < 0)
        return error;
    a->again = a->again || dead;
    a->tries = (uint16_t)(a->tries + !dead);
    if (!dead)
        ms = a->desc.retry ? a->desc.retry(a, error) : error;
    if (ms < 0)
        return error;
    tcall_agent_leave_(a);
    memset(&event, 0, sizeof event);
    event.error = error;
    event.status = a->response.status;
    event.ms = a->pause = a->wait_ms = (uint32_t)ms;
    tcall_tell_(a->desc.tc, &event, TCALL_EVENT_RETRY);
    a->paused = tcall_agent_now_(a);
    a->state = TCALL_A_WAIT_;
    return TCALL_E_AGAIN;
}

static int tcall_agent_wait_(tcall_agent *a)
{
    uint32_t spent = a->pause ? tcall_agent_now_(a) - a->paused : 0;
    a->wait_ms = spent < a->pause ? a->pause - spent : 0;
    if (!a->wait_ms)
        a->state = TCALL_A_OPEN_;
    return TCALL_E_AGAIN;
}

/* An error ends the turn. What it added to the history stays as far as it is
 * whole: calls without results are taken back, and so is a question that
 * nobody answered. */
TCALL_APART_ static void tcall_agent_undo_(tcall_agent *a)
{
    tcall_block *b = &a->desc.tc->block;
    size_t at = 0, from = 0, last = 0;
    tcall_item item;
    if (a->state == TCALL_A_CALLS_ && a->call_at < (size_t)a->answer.calls)
        b->low = a->chat.start + a->mark;
    item.kind = TCALL_ITEM_TEXT;
    for (; tcall_chat_next(&a->chat, &at, &item); from = at)
        last = from;
    if (item.kind == TCALL_ITEM_USER)
        b->low = a->chat.start + last;
}

static int tcall_agent_end_(tcall_agent *a, int error)
{
    tcall_agent_leave_(a);
    tcall_agent_drop_(a);
    tcall_agent_undo_(a);
    a->state = TCALL_A_IDLE_;
    a->wait_ms = 0;
    return error;
}

int tcall_agent_step(tcall_agent *a)
{
    int r = TCALL_OK;
    if (a->state == TCALL_A_IDLE_ || a->state == TCALL_A_ASKED_)
        return TCALL_E_USAGE;
    if (a->state != TCALL_A_CALLS_)
        r = tcall_agent_over_(a);
    if (r == TCALL_OK)
        switch (a->state) {
        case TCALL_A_WAIT_: r = tcall_agent_wait_(a); break;
        case TCALL_A_OPEN_: r = tcall_agent_open_(a); break;
        case TCALL_A_SEND_: r = tcall_agent_send_(a); break;
        case TCALL_A_READ_: r = tcall_agent_read_(a); break;
        default: r = tcall_agent_next_(a); break;
        }
    if (r < 0 && !tcall_waits_(r))
        r = tcall_agent_retry_(a, r);
    if (r < 0 && !tcall_waits_(r))
        return tcall_agent_end_(a, r);
    return r;
}

static int tcall_agent_finish_(tcall_agent *a)
{
    const tcall_transport *t = &a->desc.transport;
    int r;
    while ((r = tcall_agent_step(a)) == TCALL_E_AGAIN)
        if (a->wait_ms && t->wait)
            t->wait(t->user, a->wait_ms);
    return r;
}

int tcall_agent_run(tcall_agent *a, tcall_str text)
{
    int r = tcall_agent_say(a, text);
    return r < 0 ? r : tcall_agent_finish_(a);
}

int tcall_agent_ask(tcall_agent *a, tcall_str text)
{
    int r = tcall_agent_say(a, text);
    if (r < 0)
        return r;
    a->run = false;
    r = tcall_agent_finish_(a);
    return r < 0 ? r : a->answer.calls;
}

tcall_str tcall_agent_text(const tcall_agent *a)
{
    tcall_item item;
    tcall_str text = tcall_slice_(NULL, 0);
    size_t at = 0;
    while (tcall_chat_next(&a->chat, &at, &item))
        if (item.kind == TCALL_ITEM_TEXT)
            text = item.text;
        else if (item.kind == TCALL_ITEM_USER)
            text = tcall_slice_(NULL, 0);
    return text;
}
