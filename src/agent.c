#pragma once
#include "agent.h"
#include "pick.c"
#include "invoke.c"
#include "frames.c"
#include "mend.c"
#include "agent_desc.c"

/* ==========================================================================
 * >>agent
 *
 * One turn is a walk through the states below. A step is one of them, or one
 * piece of the body that goes out or comes in, or one call.
 */

#ifndef TOOLCALL_NO_AGENT

enum {
    TCALL_AGENT_UNSET_,  /* tcall_agent_init was not called, or refused */
    TCALL_AGENT_IDLE_,   /* no turn */
    TCALL_AGENT_PAUSE_,  /* before the request is sent again */
    TCALL_AGENT_OPEN_,   /* count the request's bytes, connect */
    TCALL_AGENT_SEND_,   /* write the request */
    TCALL_AGENT_READ_,   /* read the answer */
    TCALL_AGENT_CALLS_,  /* run what it asks for, one call each step */
    TCALL_AGENT_PLANNED_ /* calls wait for tcall_agent_result */
};

/* Bytes of the block are taken in multiples of 8, so that it stays aligned. */
static size_t tcall_agent_aligned_(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* Where the path has to name the model, it is put together in the block, right
 * before the conversation, which moves. */
static int tcall_agent_set_path_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    tcall_chat *chat = &agent->chat;
    const char *path = agent->desc.path, *hole = strchr(path, '{');
    const char *rest = hole ? strchr(hole, '}') : NULL;
    size_t size = 0, start = chat->start - agent->path_size;
    tcall_writer writer;
    if (rest)
        size = tcall_agent_aligned_((size_t)(hole - path) + strlen(rest) +
                                    strlen(agent->desc.model));
    if (size > agent->path_size &&
        !tcall_block_room_(block, size - agent->path_size))
        return TCALL_E_MEMORY;
    tcall_chat_shift_(chat, chat->start, start + size);
    chat->start = start + size;
    agent->path_size = size;
    if (!rest)
        return TCALL_OK;
    tcall_writer_init(&writer, block->base + start, size);
    tcall_write_bytes(&writer, path, (size_t)(hole - path));
    tcall_write_text(&writer, agent->desc.model);
    tcall_write_bytes(&writer, rest + 1, strlen(rest)); /* with its NUL */
    agent->desc.path = writer.buf;
    return TCALL_OK;
}

/* Takes room for the offer of a turn, and of the one before it. */
static bool tcall_agent_offer_room_(tcall_agent *agent)
{
    tcall *tc = agent->desc.tc;
    const tcall_desc *desc = &tc->desc;
    size_t rows = desc->rows ? desc->row_count : desc->tool_count;
    agent->offer_size = rows / 8 + 1;
    tc->offer = (uint8_t *)tcall_table_(tc, 2, agent->offer_size);
    return tc->offer != NULL;
}

int tcall_agent_init(tcall_agent *agent, const tcall_agent_desc *desc)
{
    size_t reader_size = tcall_agent_aligned_(sizeof(tcall_reader));
    tcall_block *block;
    memset(agent, 0, sizeof *agent);
    agent->problem = tcall_agent_problem_(desc);
    if (!agent->problem && desc->tc->offer)
        agent->problem = "tc has an agent already: each needs one of its own";
    if (agent->problem)
        return TCALL_E_USAGE;
    agent->desc = *desc;
    tcall_agent_defaults_(&agent->desc);
    agent->random = desc->seed;
    block = &desc->tc->block;
    if (!tcall_agent_offer_room_(agent))
        return TCALL_E_MEMORY;
    agent->reader = (tcall_reader *)(void *)tcall_block_gap_(block);
    agent->io = tcall_block_gap_(block) + reader_size;
    if (!tcall_block_grow_(block, reader_size) ||
        !tcall_block_room_(block, agent->desc.io_size) ||
        !tcall_block_grow_(block, tcall_agent_aligned_(agent->desc.io_size)))
        return TCALL_E_MEMORY;
    /* The conversation grows at the end of what is used, so it comes last. */
    tcall_chat_init(&agent->chat, block);
    if (tcall_agent_set_path_(agent) < 0)
        return TCALL_E_MEMORY;
    agent->state = TCALL_AGENT_IDLE_;
    return TCALL_OK;
}

int tcall_agent_use(tcall_agent *agent, const tcall_agent_desc *desc)
{
    tcall_agent_desc before = agent->desc;
    int error;
    if (agent->state != TCALL_AGENT_IDLE_)
        return TCALL_E_USAGE;
    agent->problem = desc->tc == before.tc
                         ? tcall_agent_problem_(desc)
                         : "tc must be that of tcall_agent_init";
    if (agent->problem)
        return TCALL_E_USAGE;
    agent->desc = *desc;
    agent->desc.io_size = before.io_size;
    tcall_agent_defaults_(&agent->desc);
    error = tcall_agent_set_path_(agent);
    if (error < 0)
        agent->desc = before;
    else if (desc->pick_opts != before.pick_opts)
        agent->picked = false;
    return error;
}

/* Without a clock no time ever passes: limits were refused at the start, and
 * nothing is sent again. */
static uint32_t tcall_agent_now_(const tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    return transport->now_ms ? transport->now_ms(transport->user) : 0;
}

/* Of what the conversation may use, a quarter is kept free for answers. Returns
 * whether turns were dropped: then up to a third is free, so that it happens
 * seldom. */
static bool tcall_agent_make_room_(tcall_agent *agent, size_t more)
{
    const tcall_block *block = &agent->desc.tc->block;
    size_t all = block->size - agent->chat.start - block->high;
    size_t before = block->low;
    if (tcall_block_free_(block) < all / 4 + more)
        tcall_chat_make_room(&agent->chat, all / 3 + more);
    return block->low != before;
}

/* ---- the offer ---- */

/* Offers what the registry and pick_opts permit; of a conversation that has
 * its picks, no more than there was. */
static void tcall_agent_permit_(tcall_agent *agent)
{
    const tcall *tc = agent->desc.tc;
    const tcall_pick_opts *opts = agent->desc.pick_opts;
    size_t i;
    for (i = 0; i < tc->desc.tool_count; i++) {
        const tcall_tool *tool = &tc->desc.tools[i];
        bool open = opts ? !tcall_pick_excludes_(tc, opts, tool)
                         : !tcall_withheld_(tc, tool);
        if (agent->picked)
            open = open && tcall_offers_(tc->offer, i);
        tcall_set_offer_(tc->offer, i, open);
    }
}

/* Of many tools, offers only those that fit the text, and the pinned ones.
 * Returns TCALL_OK or an error. */
TCALL_NOINLINE_ static int tcall_agent_pick_(tcall_agent *agent, tcall_str text)
{
    tcall *tc = agent->desc.tc;
    tcall_picked picks[TCALL_AGENT_PICKS];
    int count =
        tcall_pick(tc, text, agent->desc.pick_opts, picks, TCALL_AGENT_PICKS);
    if (count < 0)
        return count;
    memset(tc->offer, 0, agent->offer_size);
    while (count-- > 0) {
        tcall_set_offer_(tc->offer, picks[count].index, true);
        /* For "hello" nothing fits: then the next turn picks. */
        agent->picked = agent->picked || !picks[count].pinned;
    }
    return TCALL_OK;
}

/* Decides which tools the turn offers. Another offer than that of the turn
 * before is an edit of the conversation. */
static int tcall_agent_offer_(tcall_agent *agent, tcall_str text)
{
    const tcall_agent_desc *desc = &agent->desc;
    uint8_t *offer = desc->tc->offer, *before = offer + agent->offer_size;
    int error = TCALL_OK;
    memcpy(before, offer, agent->offer_size);
    tcall_agent_permit_(agent);
    if (desc->pick_opts && !agent->picked &&
        desc->tc->desc.tool_count > TCALL_AGENT_ALL)
        error = tcall_agent_pick_(agent, text);
    if (memcmp(before, offer, agent->offer_size) != 0)
        tcall_chat_forget_(&agent->chat);
    return error;
}

/* Adds what the user said to the conversation. Where that does not fit even
 * after old turns were dropped, nothing has changed. */
TCALL_NOINLINE_ static int tcall_agent_hear_(tcall_agent *agent, tcall_str text)
{
    tcall_item item;
    size_t low;
    int error;
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_USER;
    item.text = text;
    if (tcall_agent_make_room_(agent, text.len))
        tcall_chat_forget_(&agent->chat);
    low = agent->chat.block->low;
    error = tcall_chat_add(&agent->chat, &item);
    if (error == TCALL_OK)
        error = tcall_agent_offer_(agent, text);
    if (error < 0)
        agent->chat.block->low = low;
    return error;
}

int tcall_agent_say(tcall_agent *agent, tcall_str text)
{
    int error;
    if (agent->state != TCALL_AGENT_IDLE_)
        return TCALL_E_USAGE;
    agent->problem = tcall_agent_added_problem_(&agent->desc);
    if (agent->problem)
        return TCALL_E_USAGE;
    error = tcall_agent_hear_(agent, text);
    if (error < 0)
        return error;
    agent->started = tcall_agent_now_(agent);
    agent->rounds = agent->calls = agent->tries = 0;
    agent->tokens = 0;
    memset(&agent->wait, 0, sizeof agent->wait);
    /* A cancel that came before the turn is not meant for it. */
    agent->cancelled = 0;
    agent->reconnected = false;
    agent->run = true;
    agent->state = TCALL_AGENT_OPEN_;
    return TCALL_OK;
}

void tcall_agent_cancel(tcall_agent *agent)
{
    agent->cancelled = 1;
}

/* Returns why no further round may begin, or TCALL_OK. */
static int tcall_agent_over_(const tcall_agent *agent)
{
    uint32_t limit = agent->desc.max_ms;
    if (agent->cancelled)
        return TCALL_E_CANCELLED;
    if (limit && tcall_agent_now_(agent) - agent->started >= limit)
        return TCALL_E_TIMEOUT;
    if (agent->desc.max_turn_tokens &&
        agent->tokens >= agent->desc.max_turn_tokens)
        return TCALL_E_LIMIT;
    return TCALL_OK;
}

/* Returns what the transport answered; notes what it waits for. */
static int tcall_agent_heard_(tcall_agent *agent, int result)
{
    const tcall_transport *transport = &agent->desc.transport;
    if (result != TCALL_E_AGAIN)
        return result;
    if (transport->wants)
        transport->wants(transport->user, &agent->wait);
    if (tcall_wait_is_empty_(&agent->wait))
        tcall_wait_ms(&agent->wait, TCALL_WAIT_POLL_MS);
    return result;
}

/* In the last round that is left the model has to answer in words. */
static bool tcall_agent_last_round_(const tcall_agent *agent)
{
    return agent->rounds + 1 >= agent->desc.max_rounds ||
           agent->calls >= agent->desc.max_calls;
}

/* Writes the request, to count its bytes or to send them. Both must come to
 * the same: nothing that it reads may change before the answer is there. */
static int tcall_agent_write_(tcall_agent *agent, tcall_writer *writer)
{
    const tcall_agent_desc *desc = &agent->desc;
    tcall_chat_request request;
    memset(&request, 0, sizeof request);
    request.model = desc->model;
    request.system = desc->system;
    request.chat = &agent->chat;
    request.tools = desc->tc->desc.tools;
    request.tool_count = desc->tc->desc.tool_count;
    request.offer = desc->tc->offer;
    request.max_tokens = desc->max_tokens;
    request.context = agent->context;
    request.cache_prompt = desc->cache_prompt;
    request.extra = desc->extra;
    request.stream = desc->stream;
    request.no_parallel = desc->no_parallel;
    request.variables = desc->variables;
    if (agent->run && tcall_agent_last_round_(agent))
        request.choice = TCALL_CHOICE_NONE;
    desc->provider->write(desc->provider, writer, &request);
    return tcall_writer_flush(writer);
}

/* Returns how many tools the model gets to see. */
static size_t tcall_agent_tools_(const tcall_agent *agent)
{
    const tcall *tc = agent->desc.tc;
    size_t count = 0, i;
    for (i = 0; i < tc->desc.tool_count; i++)
        count += tcall_offers_(tc->offer, i);
    return count;
}

/* Adds a header, unless the provider has none of this kind. */
static void tcall_agent_add_header_(tcall_agent *agent, const char *name,
                                    const char *value, const char *secret)
{
    tcall_header *header = &agent->headers[agent->request.header_count];
    if (!name)
        return;
    header->name = name;
    header->value = value;
    header->secret = secret;
    agent->request.header_count++;
}

/* The key is kept apart from the value that goes before it, so that a trace
 * can show the one without the other. */
static void tcall_agent_set_request_(tcall_agent *agent, size_t body_len)
{
    const tcall_agent_desc *desc = &agent->desc;
    const tcall_provider *provider = desc->provider;
    tcall_request *request = &agent->request;
    size_t i;
    memset(request, 0, sizeof *request);
    request->method = "POST";
    request->path = agent->desc.path;
    request->headers = agent->headers;
    request->body_len = body_len;
    tcall_agent_add_header_(agent, "Content-Type", "application/json", NULL);
    if (!tcall_agent_header_named_(desc, provider->version[0]))
        tcall_agent_add_header_(agent, provider->version[0],
                                provider->version[1], NULL);
    for (i = 0; i < desc->header_count; i++)
        tcall_agent_add_header_(agent, desc->headers[i].name,
                                desc->headers[i].value,
                                desc->headers[i].secret);
    if (desc->key)
        tcall_agent_add_header_(agent, provider->key_header,
                                provider->key_prefix, agent->desc.key);
}

/* The functions below whose frame is large are never inlined: their frames
 * would lie on the stack while a tool runs. */

/* Tells of a request that begins. */
TCALL_NOINLINE_ static void tcall_agent_tell_request_(const tcall_agent *agent)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.bytes = agent->request.body_len;
    event.tools = tcall_agent_tools_(agent);
    tcall_tell_(agent->desc.tc, &event, TCALL_EVENT_REQUEST);
}

/* A server that cuts what it was not told to hold is told once, with room for
 * what follows: another number would make it load the model anew. Returns
 * whether the request has changed. A token is taken to have 3 bytes. */
static bool tcall_agent_widen_(tcall_agent *agent)
{
    const tcall_agent_desc *desc = &agent->desc;
    const long answer = desc->max_tokens > 0 ? desc->max_tokens : 1024;
    const long need = (long)(agent->out.len / 3) + answer;
    const long room = agent->context ? need : 2 * need;
    long context = agent->context ? agent->context : 4096;
    if (!(desc->provider->quirks & TCALL_QUIRK_SAY_CONTEXT) ||
        need <= agent->context)
        return false;
    while (context < room)
        context *= 2;
    agent->context = context;
    return true;
}

static int tcall_agent_count_(tcall_agent *agent)
{
    tcall_writer_init(&agent->out, NULL, 0);
    return tcall_agent_write_(agent, &agent->out);
}

/* Counts the request and connects. Oldest turns are dropped here and nowhere
 * else, because from now on the request has to stay as it is. */
TCALL_NOINLINE_ static int tcall_agent_open_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    int result;
    if (tcall_agent_make_room_(agent, 0) &&
        agent->desc.provider->quirks & TCALL_QUIRK_BOUND_REASONING)
        tcall_chat_forget_(&agent->chat);
    result = tcall_agent_count_(agent);
    if (result == TCALL_OK && tcall_agent_widen_(agent))
        result = tcall_agent_count_(agent);
    if (result < 0)
        return result;
    tcall_agent_set_request_(agent, agent->out.len);
    memset(&agent->response, 0, sizeof agent->response);
    agent->response.retry_after_ms = -1;
    agent->opened = true;
    result =
        transport->open(transport->user, &agent->request, &agent->response);
    if (result < 0)
        return tcall_agent_heard_(agent, result);
    tcall_agent_tell_request_(agent);
    agent->sent = agent->received = agent->unsent = 0;
    memset(&agent->resume, 0, sizeof agent->resume);
    agent->state = TCALL_AGENT_SEND_;
    return TCALL_E_AGAIN;
}

/* What the writer of the request writes to. */
static int tcall_agent_sink_(void *user, const char *bytes, size_t len)
{
    tcall_agent *agent = (tcall_agent *)user;
    const tcall_transport *transport = &agent->desc.transport;
    int accepted = transport->write(transport->user, bytes, len);
    if (accepted > 0)
        agent->sent += (size_t)accepted;
    return tcall_agent_heard_(agent, accepted);
}

/* The reader tells of text and of calls as they come; listeners of the
 * registry get them as events. */
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

/* Writes what the buffer still holds and then the rest of the request, as far
 * as the transport takes it. The request is never held: after a pause it is
 * taken up again at the string or tool that was not complete. */
static int tcall_agent_send_more_(tcall_agent *agent)
{
    tcall_writer writer;
    int result;
    tcall_writer_init(&writer, agent->io, agent->desc.io_size);
    tcall_writer_sink(&writer, tcall_agent_sink_, agent);
    writer.fill = agent->unsent;
    writer.resume = &agent->resume;
    result = tcall_writer_flush(&writer);
    if (result == TCALL_OK)
        result = tcall_agent_write_(agent, &writer);
    agent->unsent = writer.fill;
    agent->resume.stored = agent->sent + writer.fill;
    return result;
}

/* Sends the request, and once all of it went out gets ready to read: items of
 * the answer begin where the conversation ends now. */
TCALL_NOINLINE_ static int tcall_agent_send_(tcall_agent *agent)
{
    tcall *tc = agent->desc.tc;
    int result = tcall_agent_send_more_(agent);
    if (result < 0)
        return result;
    /* A tool table or a variable was changed while the request was written. */
    if (agent->sent != agent->request.body_len)
        return TCALL_E_USAGE;
    agent->answer_at = tc->block.low - agent->chat.start;
    tcall_reader_init(agent->reader, agent->desc.provider, &agent->chat,
                      tcall_agent_text_piece_, tc);
    agent->reader->call = tcall_agent_call_piece_;
    agent->reader->text_calls = agent->desc.text_calls;
    agent->state = TCALL_AGENT_READ_;
    return TCALL_E_AGAIN;
}

/* A server may repeat the key in its complaint: runs of at least so many
 * characters of it are made unreadable. */
enum { TCALL_KEY_RUN_ = 8 };

static void tcall_agent_hide_key_(char *text, const char *key)
{
    for (; key && *key && *text; text++) {
        size_t run = 0;
        while (key[run] && text[run] == key[run])
            run++;
        if (run >= TCALL_KEY_RUN_ || !key[run])
            memset(text, '*', run);
    }
}

/* Takes the answer over from the reader and returns what is wrong with it, or
 * TCALL_OK. */
static int tcall_agent_judge_(tcall_agent *agent)
{
    const tcall_agent_desc *desc = &agent->desc;
    int result = tcall_reader_end(agent->reader), status;
    agent->answer = agent->reader->answer;
    tcall_agent_hide_key_(agent->answer.message, desc->key);
    tcall_agent_hide_key_(agent->answer.stop_text, desc->key);
    if (agent->response.retry_after_ms < 0)
        agent->response.retry_after_ms = agent->answer.wait_ms;
    /* With an error status no body is an answer, whatever it looks like. */
    status = tcall_answer_error(&agent->answer, agent->response.status);
    if (status < 0)
        return status;
    /* Results of calls whose reasoning is lost could not be sent back. */
    if (agent->run && agent->answer.calls && agent->answer.reasoning_dropped)
        return TCALL_E_MEMORY;
    return result < 0 ? result : tcall_answer_ending(&agent->answer);
}

/* Does an answer with this error stay in the conversation? One that did not end
 * by itself does, for its words. */
static bool tcall_agent_keeps_(const tcall_agent *agent, int error)
{
    return error == TCALL_OK ||
           (agent->response.status < 300 && agent->answer.has_text &&
            error == tcall_answer_ending(&agent->answer));
}

/* What a provider does not count is zero; more than fits is the limit. */
static void tcall_agent_count_tokens_(tcall_agent *agent)
{
    const tcall_answer *answer = &agent->answer;
    uint32_t room = UINT32_MAX - agent->tokens, more = 0;
    if (answer->input_tokens > 0)
        more = (uint32_t)answer->input_tokens;
    if (answer->output_tokens > 0)
        more += (uint32_t)answer->output_tokens;
    agent->tokens += more < room ? more : room;
}

/* The answer is complete: goes on with its calls, or ends the turn. */
TCALL_NOINLINE_ static int tcall_agent_answered_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    tcall_event event;
    int error = tcall_agent_judge_(agent);
    memset(&event, 0, sizeof event);
    event.error = error;
    event.status = agent->response.status;
    event.bytes = agent->received;
    event.text = tcall_str_of(agent->answer.message);
    tcall_tell_(agent->desc.tc, &event, TCALL_EVENT_ANSWER);
    if (!tcall_agent_keeps_(agent, error))
        return error;
    transport->close(transport->user);
    agent->opened = agent->reconnected = false;
    agent->rounds++;
    agent->tries = 0;
    tcall_agent_count_tokens_(agent);
    agent->call_at = 0;
    agent->state = !agent->answer.calls ? TCALL_AGENT_IDLE_
                   : agent->run         ? TCALL_AGENT_CALLS_
                                        : TCALL_AGENT_PLANNED_;
    return agent->state == TCALL_AGENT_CALLS_ ? TCALL_E_AGAIN : error;
}

/* Reads a piece of the answer. */
TCALL_NOINLINE_ static int tcall_agent_read_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    int count =
        transport->read(transport->user, agent->io, agent->desc.io_size);
    int error;
    if (count == 0)
        return tcall_agent_answered_(agent);
    if (count < 0)
        return tcall_agent_heard_(agent, count);
    agent->received += (size_t)count;
    error = tcall_reader_feed(agent->reader, agent->io, (size_t)count);
    /* An error page is not in the provider's format: read on for its words. */
    if (error < 0 && agent->response.status < 300)
        return tcall_agent_answered_(agent);
    return TCALL_E_AGAIN;
}

/* Finds the index-th call of the last answer. */
static bool tcall_agent_find_call_(const tcall_agent *agent, int index,
                                   tcall_item *item)
{
    size_t at = agent->answer_at;
    while (tcall_chat_next(&agent->chat, &at, item))
        if (item->kind == TCALL_ITEM_CALL && index-- == 0)
            return true;
    return false;
}

/* The call as it came, not hydrated yet. */
TCALL_NOINLINE_ static bool tcall_agent_asked_(const tcall_agent *agent,
                                               int index, tcall_call *call)
{
    tcall_item item;
    memset(call, 0, sizeof *call);
    if (!tcall_agent_find_call_(agent, index, &item))
        return false;
    call->id = item.id;
    call->name = item.name;
    call->arguments = item.text;
    call->incomplete = item.error;
    call->provider = agent->desc.provider->name;
    call->by_model = true;
    return true;
}

/* Calls of an answer are in the conversation only until the next one begins. */
int tcall_agent_call(tcall_agent *agent, int index, tcall_call *call)
{
    bool answered = agent->state == TCALL_AGENT_CALLS_ ||
                    agent->state == TCALL_AGENT_PLANNED_;
    if (!answered || index < 0 || !tcall_agent_asked_(agent, index, call))
        return TCALL_E_USAGE;
    return tcall_hydrate(agent->desc.tc, call);
}

/* A result belongs to its call by the id; the name is for providers that want
 * it once more. */
static int tcall_agent_add_result_(tcall_agent *agent, const tcall_call *call,
                                   tcall_str text, int error)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_RESULT;
    item.id = call->id;
    item.name = call->name;
    item.text = text;
    item.error = error;
    return tcall_chat_add(&agent->chat, &item);
}

/* All calls have their results, so that nothing refers to them any more. */
static void tcall_agent_mend_(tcall_agent *agent)
{
    tcall_chat_mend_(&agent->chat, agent->answer_at,
                     agent->desc.tc->desc.strict_json);
}

int tcall_agent_result(tcall_agent *agent, const tcall_call *call,
                       tcall_str text, bool error)
{
    int result;
    if (agent->state != TCALL_AGENT_PLANNED_)
        return TCALL_E_USAGE;
    result = tcall_agent_add_result_(agent, call, text,
                                     error ? TCALL_E_FAILED : TCALL_OK);
    if (result < 0)
        return result;
    if (++agent->call_at == (size_t)agent->answer.calls) {
        tcall_agent_mend_(agent);
        agent->run = true;
        agent->state = TCALL_AGENT_OPEN_;
    }
    return TCALL_OK;
}

/* Has one of the first count calls of the batch the same id as the next? */
static bool tcall_agent_same_id_(const tcall_agent *agent, int count)
{
    int i;
    for (i = 0; i < count; i++)
        if (tcall_str_eq(agent->batch[i].id, agent->batch[count].id))
            return true;
    return false;
}

/* Room for so many calls at a time: in the block, or for one in the agent. */
static int tcall_agent_batch_room_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    int left = agent->answer.calls - (int)agent->call_at;
    int count = agent->desc.parallel < left ? agent->desc.parallel : left;
    agent->batch_high = block->high;
    agent->batch = NULL;
    if (count > 1)
        agent->batch = (tcall_call *)tcall_block_take_(
            block, (size_t)count * sizeof *agent->batch);
    if (agent->batch)
        return count;
    agent->batch = &agent->call;
    return 1;
}

/* Takes up the calls that come next, as many as may be under way. */
TCALL_NOINLINE_ static void tcall_agent_batch_(tcall_agent *agent)
{
    int room = tcall_agent_batch_room_(agent), count;
    for (count = 0; count < room; count++) {
        tcall_call *call = &agent->batch[count];
        int error = tcall_agent_call(agent, (int)agent->call_at + count, call);
        /* One that has the id of another, or no memory beside it, waits until
         * those before it are done. */
        if (tcall_agent_same_id_(agent, count) ||
            (error == TCALL_E_MEMORY && count > 0)) {
            tcall_release(agent->desc.tc, call);
            break;
        }
        /* It still gets a result, which says that the limit is reached. */
        if (++agent->calls > agent->desc.max_calls ||
            (agent->desc.no_parallel && agent->call_at + (size_t)count > 0))
            tcall_cancel(call, TCALL_E_LIMIT);
    }
    agent->batch_count = count;
    agent->delivered = agent->turn = agent->waiting = agent->asking = 0;
}

/* Moves the results that are next in order to the chat: text is that of the
 * first, those after it were kept. */
static int tcall_agent_deliver_(tcall_agent *agent, tcall_str text)
{
    while (agent->delivered < agent->batch_count) {
        const tcall_call *call = &agent->batch[agent->delivered];
        int error;
        if (call->cx.state != TCALL_DONE_)
            break;
        error = tcall_agent_add_result_(agent, call, text, call->error);
        if (error < 0)
            return error;
        if (++agent->delivered < agent->batch_count)
            text = agent->batch[agent->delivered].cx.result.output;
    }
    return TCALL_OK;
}

/* Gives one call of the batch its turn. The result is written where its item
 * will lie, and kept in the block if others come before it. */
TCALL_NOINLINE_ static int tcall_agent_turn_(tcall_agent *agent, int over)
{
    tcall *tc = agent->desc.tc;
    tcall_block *block = &tc->block;
    tcall_call *call = &agent->batch[agent->turn];
    size_t head = TCALL_HEAD_ + call->id.len + call->name.len, room;
    tcall_writer *out = &agent->out;
    int result;
    if (over < 0)
        tcall_cancel(call, over);
    if (!tcall_block_room_(block, head))
        return TCALL_E_MEMORY;
    /* A quarter of what is free is for the call itself. */
    room = tcall_block_free_(block) - head;
    room -= room / 4;
    tcall_writer_init(out, tcall_block_gap_(block) + head, room);
    /* Nobody else may take the room while the tool writes there. */
    block->low += head + room;
    result = tcall_invoke(tc, call, out);
    block->low -= head + room;
    if (out->error == TCALL_E_MEMORY) /* only to say how much would do */
        tcall_block_room_(block, head + out->len + out->len / 3 + 8);
    if (tcall_waits_(result))
        return result;
    if (out->error)
        return out->error;
    if (agent->turn == agent->delivered)
        return tcall_agent_deliver_(agent, tcall_slice_(out->buf, out->fill));
    return tcall_keep_(&call->cx, call->cx.result.output,
                       &call->cx.result.output);
}

/* Adds what a call waits for, counted from now. */
static void tcall_agent_await_(tcall_agent *agent, const tcall_call *call)
{
    uint32_t spent = tcall_agent_now_(agent) - call->cx.wait_began;
    tcall_wait wait = call->cx.wait;
    if (wait.ms != TCALL_WAIT_NEVER)
        wait.ms = wait.ms > spent ? wait.ms - spent : 0;
    tcall_wait_merge(&agent->wait, &wait);
}

/* A call that only waits for a time is left alone until then: the agent may be
 * called more often than it has to. */
static bool tcall_agent_due_(const tcall_agent *agent, const tcall_call *call)
{
    const tcall_ctx *cx = &call->cx;
    if (!cx->state || cx->stop < 0 || cx->approval_asked || cx->wait.count ||
        !agent->desc.transport.now_ms)
        return true;
    return tcall_agent_now_(agent) - cx->wait_began >= cx->wait.ms;
}

/* Turns to the next call of the batch that is not done. Only where all of them
 * wait, so does the turn: for approval where all of them do that. */
static int tcall_agent_rotate_(tcall_agent *agent, int result)
{
    bool waits = tcall_waits_(result), asks = result == TCALL_E_APPROVAL;
    int open = 0, i;
    for (i = 0; i < agent->batch_count; i++)
        open += agent->batch[i].cx.state != TCALL_DONE_;
    do
        agent->turn = (agent->turn + 1) % agent->batch_count;
    while (agent->batch[agent->turn].cx.state == TCALL_DONE_);
    agent->waiting = waits ? agent->waiting + 1 : 0;
    agent->asking = asks ? agent->asking + 1 : 0;
    if (agent->waiting < open)
        return TCALL_E_AGAIN;
    for (i = 0; i < agent->batch_count; i++)
        if (agent->batch[i].cx.state != TCALL_DONE_)
            tcall_agent_await_(agent, &agent->batch[i]);
    asks = agent->asking >= open;
    agent->waiting = 0;
    if (asks)
        agent->asking = 0;
    return asks ? TCALL_E_APPROVAL : TCALL_E_AGAIN;
}

/* All of the batch have their results: takes up the next calls, or begins the
 * next round. */
static int tcall_agent_batch_done_(tcall_agent *agent, int over)
{
    agent->call_at += (size_t)agent->batch_count;
    agent->batch_count = 0;
    agent->desc.tc->block.high = agent->batch_high;
    if (agent->call_at < (size_t)agent->answer.calls)
        return TCALL_E_AGAIN;
    tcall_agent_mend_(agent);
    if (over < 0)
        return over;
    agent->state = TCALL_AGENT_OPEN_;
    return agent->rounds < agent->desc.max_rounds ? TCALL_E_AGAIN
                                                  : TCALL_E_LIMIT;
}

/* Runs one call for a while. Where the turn is over, calls that are under way
 * are told so and still get their results: each call must have one. */
TCALL_NOINLINE_ static int tcall_agent_run_call_(tcall_agent *agent)
{
    int over = tcall_agent_over_(agent), result;
    tcall_call *call;
    if (!agent->batch_count)
        tcall_agent_batch_(agent);
    call = &agent->batch[agent->turn];
    result = TCALL_E_AGAIN;
    if (over < 0 || tcall_agent_due_(agent, call)) {
        result = tcall_agent_turn_(agent, over);
        call->cx.wait_began = tcall_agent_now_(agent);
    }
    if (result < 0 && !tcall_waits_(result))
        return result;
    return agent->delivered < agent->batch_count
               ? tcall_agent_rotate_(agent, result)
               : tcall_agent_batch_done_(agent, over);
}

/* Calls that are under way come to their end, whatever becomes of the turn:
 * what they hold is released. Nobody reads their results. */
TCALL_NOINLINE_ static void tcall_agent_drop_calls_(tcall_agent *agent)
{
    int i;
    for (i = 0; i < agent->batch_count; i++) {
        tcall_call *call = &agent->batch[i];
        if (!call->cx.state || call->cx.state == TCALL_DONE_)
            continue;
        tcall_writer_init(&agent->out, agent->io, 0);
        tcall_cancel(call, TCALL_E_CANCELLED);
        tcall_invoke(agent->desc.tc, call, &agent->out);
    }
    if (agent->batch_count)
        agent->desc.tc->block.high = agent->batch_high;
    agent->batch_count = 0;
}

/* Ends the exchange, and forgets what came of an answer. */
static void tcall_agent_leave_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    if (agent->opened)
        transport->close(transport->user);
    agent->opened = false;
    /* Half an answer must not stay in the conversation. */
    if (agent->state == TCALL_AGENT_READ_)
        agent->desc.tc->block.low = agent->chat.start + agent->answer_at;
}

#ifndef TOOLCALL_NO_RETRY

/* The wait doubles from the first to the last. */
enum { TCALL_BACKOFF_FIRST_MS_ = 500, TCALL_BACKOFF_DOUBLINGS_ = 4 };

/* Can sending the request again help? Not where an answer had begun well:
 * somebody may have seen it. */
static bool tcall_agent_retry_helps_(const tcall_agent *agent, int error)
{
    const tcall_response *response = &agent->response;
    int status = response->status;
    if (!status)
        return error == TCALL_E_CLOSED || error == TCALL_E_CONNECT ||
               error == TCALL_E_RESOLVE ||
               (error == TCALL_E_TIMEOUT && agent->state == TCALL_AGENT_OPEN_);
    if (status < 400)
        return false;
    if (response->should_retry)
        return response->should_retry > 0;
    if (error == TCALL_E_QUOTA)
        return false;
    return status == 408 || status == 409 || status == 429 || status >= 500;
}

/* Returns 16 random bits. Devices that failed together should not come back
 * together; without a seed they differ by when they request. */
static uint32_t tcall_agent_chance_(tcall_agent *agent)
{
    uint32_t bits;
    agent->random += agent->desc.seed ? 0x9E3779B9u : tcall_agent_now_(agent);
    bits = agent->random;
    bits = (bits ^ bits >> 16) * 0x45D9F3Bu;
    bits = (bits ^ bits >> 16) * 0x45D9F3Bu;
    return bits >> 16;
}

/* Half of the wait is fixed, up to another half is chance. */
static uint32_t tcall_agent_backoff_(tcall_agent *agent)
{
    int doublings = agent->tries - 1;
    uint32_t half;
    if (doublings > TCALL_BACKOFF_DOUBLINGS_)
        doublings = TCALL_BACKOFF_DOUBLINGS_;
    half = (uint32_t)TCALL_BACKOFF_FIRST_MS_ / 2 << doublings;
    return half + (tcall_agent_chance_(agent) * half >> 16);
}

/* Returns the milliseconds to wait before the request is sent again, or the
 * error where it is not. */
static long tcall_agent_retry_wait_(tcall_agent *agent, int error)
{
    const tcall_agent_desc *desc = &agent->desc;
    long told = agent->response.retry_after_ms;
    uint32_t ms = told < 0 ? tcall_agent_backoff_(agent) : (uint32_t)told;
    uint32_t spent = tcall_agent_now_(agent) - agent->started;
    ms = ms < desc->max_wait_ms ? ms : desc->max_wait_ms;
    if (!tcall_agent_retry_helps_(agent, error) || !desc->transport.now_ms ||
        agent->tries >= desc->max_tries ||
        (desc->max_ms && spent + ms >= desc->max_ms))
        return error;
    return (long)ms;
}

#else

static long tcall_agent_retry_wait_(const tcall_agent *agent, int error)
{
    (void)agent;
    return error;
}

#endif /* TOOLCALL_NO_RETRY */

/* Tells of the next try and begins the wait before it. */
static void tcall_agent_pause_(tcall_agent *agent, int error, uint32_t ms)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.error = error;
    event.status = agent->response.status;
    event.ms = agent->pause = ms;
    tcall_tell_(agent->desc.tc, &event, TCALL_EVENT_RETRY);
    agent->pause_began = tcall_agent_now_(agent);
    tcall_wait_ms(&agent->wait, ms);
    agent->state = TCALL_AGENT_PAUSE_;
}

/* After an error: TCALL_E_AGAIN when the request will be sent again, else the
 * error. A connection that was dead when it was reused is replaced at once,
 * which does not count as a try. */
TCALL_NOINLINE_ static int tcall_agent_retry_(tcall_agent *agent, int error)
{
    const tcall_response *response = &agent->response;
    bool dead = error == TCALL_E_CLOSED && !response->status &&
                response->retry_after_ms == 0 && !agent->reconnected;
    long ms = 0;
    /* Without a request that is under way there is nothing to send again. */
    if (!agent->opened || tcall_agent_over_(agent) < 0)
        return error;
    if (dead) {
        agent->reconnected = true;
    } else {
        agent->tries++;
        ms = tcall_agent_retry_wait_(agent, error);
    }
    if (ms < 0)
        return error;
    tcall_agent_leave_(agent);
    tcall_agent_pause_(agent, error, (uint32_t)ms);
    return TCALL_E_AGAIN;
}

/* Looks whether the pause before the next try is over. */
static int tcall_agent_paused_(tcall_agent *agent)
{
    uint32_t spent =
        agent->pause ? tcall_agent_now_(agent) - agent->pause_began : 0;
    if (spent < agent->pause)
        return tcall_wait_ms(&agent->wait, agent->pause - spent);
    agent->state = TCALL_AGENT_OPEN_;
    return TCALL_E_AGAIN;
}

/* An error ends the turn. What it added to the conversation stays as far as it
 * is whole: calls without results are taken back, and so is a question that
 * nobody answered. */
TCALL_NOINLINE_ static void tcall_agent_undo_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    size_t at = 0, next = 0, last = 0;
    tcall_item item;
    if ((agent->state == TCALL_AGENT_CALLS_ ||
         agent->state == TCALL_AGENT_PLANNED_) &&
        agent->call_at < (size_t)agent->answer.calls)
        block->low = agent->chat.start + agent->answer_at;
    item.kind = TCALL_ITEM_TEXT;
    for (; tcall_chat_next(&agent->chat, &next, &item); at = next)
        last = at;
    if (item.kind == TCALL_ITEM_USER)
        block->low = agent->chat.start + last;
}

/* Ends the turn: the connection is closed, calls are released, and what is left
 * of the conversation can be continued. */
static int tcall_agent_end_(tcall_agent *agent, int error)
{
    tcall_agent_leave_(agent);
    tcall_agent_drop_calls_(agent);
    tcall_agent_undo_(agent);
    agent->state = TCALL_AGENT_IDLE_;
    return error;
}

/* Does the work of the state. Calls that are under way look at limits
 * themselves: each of them has to get a result. */
static int tcall_agent_work_(tcall_agent *agent)
{
    int over;
    if (agent->state == TCALL_AGENT_CALLS_)
        return tcall_agent_run_call_(agent);
    over = tcall_agent_over_(agent);
    if (over < 0)
        return over;
    switch (agent->state) {
    case TCALL_AGENT_PAUSE_: return tcall_agent_paused_(agent);
    case TCALL_AGENT_OPEN_: return tcall_agent_open_(agent);
    case TCALL_AGENT_SEND_: return tcall_agent_send_(agent);
    default: return tcall_agent_read_(agent);
    }
}

/* Completes what the agent waits for: where nothing was said there is more work
 * to do at once, and no wait is longer than the turn may be. */
static int tcall_agent_waits_(tcall_agent *agent, int result)
{
    tcall_wait *wait = &agent->wait;
    uint32_t spent = tcall_agent_now_(agent) - agent->started;
    uint32_t limit = agent->desc.max_ms;
    if (result != TCALL_E_APPROVAL &&
        (!tcall_waits_(result) || tcall_wait_is_empty_(wait)))
        wait->ms = 0;
    if (limit)
        tcall_wait_ms(wait, spent < limit ? limit - spent : 0);
    return result;
}

int tcall_agent_step(tcall_agent *agent)
{
    int result;
    if (agent->state == TCALL_AGENT_UNSET_ ||
        agent->state == TCALL_AGENT_IDLE_ ||
        (agent->state == TCALL_AGENT_PLANNED_ && !agent->cancelled))
        return TCALL_E_USAGE;
    tcall_wait_begin_(&agent->wait);
    result = tcall_agent_work_(agent);
    if (result < 0 && !tcall_waits_(result))
        result = tcall_agent_retry_(agent, result);
    if (result < 0 && !tcall_waits_(result))
        result = tcall_agent_end_(agent, result);
    return tcall_agent_waits_(agent, result);
}

void tcall_agent_wait(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    tcall_wait wait = agent->wait;
    tcall_wait_ms(&wait, TCALL_WAIT_MOST_MS);
    if (wait.ms && transport->wait && !agent->cancelled)
        transport->wait(transport->user, &wait);
}

/* Steps until there is nothing more to do without the caller. */
static int tcall_agent_finish_(tcall_agent *agent)
{
    int result;
    while ((result = tcall_agent_step(agent)) == TCALL_E_AGAIN)
        tcall_agent_wait(agent);
    return result;
}

int tcall_agent_run(tcall_agent *agent, tcall_str text)
{
    int error = tcall_agent_say(agent, text);
    return error < 0 ? error : tcall_agent_finish_(agent);
}

int tcall_agent_plan(tcall_agent *agent, tcall_str text)
{
    int error = tcall_agent_say(agent, text);
    if (error < 0)
        return error;
    agent->run = false;
    error = tcall_agent_finish_(agent);
    return error < 0 ? error : agent->answer.calls;
}

tcall_str tcall_agent_text(const tcall_agent *agent)
{
    tcall_str text = tcall_slice_(NULL, 0);
    tcall_item item;
    size_t at = 0;
    if (agent->state == TCALL_AGENT_UNSET_)
        return text;
    /* The last text since the user spoke: others came before calls. */
    while (tcall_chat_next(&agent->chat, &at, &item))
        if (item.kind == TCALL_ITEM_TEXT)
            text = item.text;
        else if (item.kind == TCALL_ITEM_USER)
            text = tcall_slice_(NULL, 0);
    return text;
}

#endif /* TOOLCALL_NO_AGENT */
