#pragma once
#include "agent.h"
#include "pick.c"
#include "answer_feed.c"
#include "records.c"
#include "agent_calls.c"

/* ==========================================================================
 * >>agent_loop: a turn, step by step
 *
 * One turn is a walk through the states below. A step is one of them, or one
 * piece of the body that goes out or comes in, or one call.
 */

#ifndef TOOLCALL_NO_AGENT

/* Bytes of a path that has to name the model; 0 of any other. */
static size_t tcall_agent_path_size_(const tcall_agent_desc *desc)
{
    const char *hole = strchr(desc->path, '{');
    const char *rest = hole ? strchr(hole, '}') : NULL;
    return rest ? tcall_round_up_((size_t)(hole - desc->path) + strlen(rest) +
                                  strlen(desc->model))
                : 0;
}

/* Where the path has to name the model, it is put together in the block, right
 * before the conversation, which moves. */
static int tcall_agent_set_path_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    tcall_chat *chat = &agent->chat;
    const char *path = agent->desc.path, *hole = strchr(path, '{');
    size_t size = tcall_agent_path_size_(&agent->desc);
    size_t start = chat->start - agent->path_size;
    tcall_writer writer;
    if (size > agent->path_size &&
        !tcall_block_room_(block, size - agent->path_size))
        return TCALL_E_MEMORY;
    tcall_chat_shift_(chat, chat->start, start + size);
    chat->start = start + size;
    agent->path_size = size;
    if (!size)
        return TCALL_OK;
    tcall_writer_init(&writer, block->base + start, size);
    tcall_write_bytes(&writer, path, (size_t)(hole - path));
    tcall_write_text(&writer, agent->desc.model);
    tcall_write_text(&writer, strchr(hole, '}') + 1);
    tcall_write_bytes(&writer, "", 1); /* with its NUL */
    agent->desc.path = writer.buf;
    return TCALL_OK;
}

/* Bytes of the offer of a turn: a bit for each row. */
static size_t tcall_agent_offer_size_(const tcall_desc *desc)
{
    size_t rows = desc->rows ? desc->row_count : desc->tool_count;
    return tcall_round_up_(rows / 8 + 1);
}

/* Bytes that an agent takes for as long as it lives. */
static size_t tcall_agent_size_(const tcall_desc *desc,
                                const tcall_agent_desc *agent)
{
    return tcall_agent_offer_size_(desc) +
           tcall_round_up_(sizeof(tcall_reader)) +
           tcall_round_up_(agent->io_size) + tcall_agent_path_size_(agent);
}

size_t tcall_agent_need(const tcall_desc *desc, const tcall_agent_desc *agent,
                        size_t bytes)
{
    size_t need = tcall_need(desc, bytes);
    tcall_agent_desc made = *agent;
    if (!need || !agent->provider || !agent->model)
        return 0;
    tcall_agent_defaults_(&made);
    if (made.parallel > 1) /* calls hold what they need at the same time */
        need += 2 * bytes;
    return need + tcall_agent_size_(desc, &made);
}

/* Was it set up, in a registry that was not set up anew? Memory that was not
 * set up yet does not point to itself. */
TCALL_NOINLINE_ static bool tcall_agent_lives_(tcall_agent *agent)
{
    return agent->self == agent && agent->desc.tc->agent == agent;
}

int tcall_agent_init(tcall_agent *agent, const tcall_agent_desc *desc)
{
    const char *problem = tcall_agent_problem_(desc);
    tcall_block *block;
    size_t size;
    if (!problem && desc->tc->offer)
        problem = "tc has an agent already: each needs one of its own";
    if (!problem && tcall_is_busy_(desc->tc))
        problem = "tc is at work: call this when it is not";
    if (!problem || !tcall_agent_lives_(agent))
        memset(agent, 0, sizeof *agent);
    agent->problem = problem;
    if (problem)
        return TCALL_E_USAGE;
    agent->desc = *desc;
    tcall_agent_defaults_(&agent->desc);
    agent->random = desc->seed;
    block = &desc->tc->block;
    size = tcall_agent_size_(&desc->tc->desc, &agent->desc);
    if (size < agent->desc.io_size || !tcall_block_room_(block, size)) {
        tcall_block_note_(block, block->low + size +
                                     tcall_call_room_(&desc->tc->desc, 0));
        return TCALL_E_MEMORY;
    }
    agent->offer_size = tcall_agent_offer_size_(&desc->tc->desc);
    desc->tc->offer = (uint8_t *)tcall_table_(desc->tc, 1, agent->offer_size);
    agent->reader =
        (tcall_reader *)tcall_table_(desc->tc, 1, sizeof *agent->reader);
    agent->io = (char *)tcall_table_(desc->tc, 1, agent->desc.io_size);
    /* The conversation grows at the end of what is used, so it comes last. */
    tcall_chat_init(&agent->chat, block);
    desc->tc->key = desc->key;
    desc->tc->agent = agent->self = agent;
    agent->state = TCALL_AGENT_IDLE_;
    return tcall_agent_set_path_(agent);
}

int tcall_agent_use(tcall_agent *agent, const tcall_agent_desc *desc)
{
    tcall_agent_desc before = agent->desc;
    int error;
    if (agent->state != TCALL_AGENT_IDLE_ || tcall_agent_busy_(agent))
        return TCALL_E_USAGE;
    agent->problem = desc->tc == before.tc
                         ? tcall_agent_problem_(desc)
                         : "tc must be that of tcall_agent_init";
    if (agent->problem)
        return TCALL_E_USAGE;
    agent->desc = *desc;
    agent->chat.counted.at = 0; /* its instructions come before */
    agent->desc.io_size = before.io_size;
    tcall_agent_defaults_(&agent->desc);
    error = tcall_agent_set_path_(agent);
    if (error < 0) {
        agent->desc = before;
        return error;
    }
    desc->tc->key = desc->key;
    if (desc->pick_opts != before.pick_opts || desc->pick != before.pick)
        agent->picked = false;
    return TCALL_OK;
}

/* Drops the oldest turn. Returns false if there is only one. */
static bool tcall_chat_drop_(tcall_chat *chat)
{
    char *first = chat->block->base + chat->start;
    size_t len = chat->block->low - chat->start, at = 0, item_at = 0;
    tcall_item item;
    bool speaks = true; /* an image of the user was last */
    while (!chat->block->lent && tcall_chat_next(chat, &at, &item)) {
        bool opens = tcall_item_opens_(&item);
        if (opens && !speaks) {
            memmove(first, first + item_at, len - item_at);
            chat->block->low -= item_at;
            chat->counted.at = 0;
            return true;
        }
        speaks = opens && item.kind == TCALL_ITEM_IMAGE;
        item_at = at;
    }
    return false;
}

/* Drops oldest turns until so many bytes of the block are free. Returns false
 * if the last turn is in the way. */
static bool tcall_chat_make_room_(tcall_chat *chat, size_t bytes)
{
    while (tcall_block_free_(chat->block) < bytes)
        if (!tcall_chat_drop_(chat))
            return false;
    return true;
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
        tcall_chat_make_room_(&agent->chat, all / 3 + more);
    return block->low != before;
}

/* Returns how many bytes of the conversation the last turn takes. */
static size_t tcall_agent_last_turn_(const tcall_agent *agent)
{
    const tcall_chat *chat = &agent->chat;
    size_t at = 0, next = 0, begin = 0;
    tcall_item item;
    for (; tcall_chat_next(chat, &next, &item); at = next)
        if (item.kind == TCALL_ITEM_USER)
            begin = at;
    return at - begin;
}

/* ---- the offer ---- */

/* Offers what the registry and pick_opts permit; of a conversation that has
 * its picks, no more than there was. */
static void tcall_agent_permit_(tcall_agent *agent)
{
    const tcall *tc = agent->desc.tc;
    const tcall_agent_desc *desc = &agent->desc;
    size_t i;
    for (i = 0; i < tc->desc.tool_count; i++) {
        const tcall_tool *tool = &tc->desc.tools[i];
        bool open = desc->pick
                        ? !tcall_pick_excludes_(tc, desc->pick_opts, tool)
                        : !tcall_withheld_(tc, tool);
        if (agent->picked)
            open = open && tcall_offers_(tc->offer, i);
        tcall_set_offer_(tc->offer, i, open);
    }
}

/* Takes all but these tools out of the offer. */
static void tcall_agent_narrow_(tcall_agent *agent, const tcall_picked *tools,
                                int count)
{
    const tcall *tc = agent->desc.tc;
    size_t i;
    for (i = 0; i < tc->desc.tool_count; i++) {
        int at = 0;
        while (at < count && tools[at].index != i)
            at++;
        if (at == count)
            tcall_set_offer_(tc->offer, i, false);
    }
}

/* Of many tools, leaves those that fit the text, and the pinned ones. Returns
 * TCALL_OK or an error. */
TCALL_NOINLINE_ static int tcall_agent_pick_(tcall_agent *agent, tcall_str text)
{
    const tcall_agent_desc *desc = &agent->desc;
    tcall_picked picks[TCALL_AGENT_PICKS];
    int count, i;
    if (!desc->pick || agent->picked ||
        desc->tc->desc.tool_count <= TCALL_AGENT_ALL)
        return TCALL_OK;
    count =
        desc->pick(desc->tc, text, desc->pick_opts, picks, TCALL_AGENT_PICKS);
    if (count < 0)
        return count;
    tcall_agent_narrow_(agent, picks, count);
    /* For "hello" nothing fits: then the next turn picks. */
    for (i = 0; i < count; i++)
        agent->picked = agent->picked || !picks[i].pinned;
    return TCALL_OK;
}

/* Decides which tools the turn offers: these, or without them what it picks. */
static int tcall_agent_offer_(tcall_agent *agent, tcall_str text,
                              const tcall_picked *tools, int count)
{
    if (tools)
        agent->picked = false;
    tcall_agent_permit_(agent);
    if (tools)
        tcall_agent_narrow_(agent, tools, count);
    return tools ? TCALL_OK : tcall_agent_pick_(agent, text);
}

/* ---- what stands around the conversation ---- */

/* What a request says before the model answers: the setting and what was said.
 */
static tcall_chat_request tcall_agent_request_(const tcall_agent *agent,
                                               const tcall_chat *chat)
{
    const tcall_agent_desc *desc = &agent->desc;
    tcall_chat_request request;
    memset(&request, 0, sizeof request);
    request.model = desc->model;
    request.system = desc->system;
    request.chat = chat;
    request.tools = desc->tc->desc.tools;
    request.tool_count = desc->tc->desc.tool_count;
    request.offer = desc->tc->offer;
    request.variables = desc->variables;
    return request;
}

static int tcall_agent_sum_(void *user, const char *bytes, size_t len)
{
    uint32_t *sum = (uint32_t *)user;
    *sum = tcall_hash_more_(*sum, tcall_slice_(bytes, len));
    return (int)len;
}

/* Has the setting changed since the last turn: model, instructions, tools or
 * their descriptions? Reasoning that was made in another one is refused. What
 * may be left out nobody checks; who comes back from there to one that checks
 * has changed the setting. */
TCALL_NOINLINE_ static bool tcall_agent_changed_(tcall_agent *agent)
{
    const tcall_provider *provider = agent->desc.provider;
    const uint32_t before = agent->setting;
    uint32_t sum =
        tcall_hash_more_(TCALL_HASH_EMPTY_, tcall_str_of(provider->name));
    tcall_chat nothing = agent->chat;
    tcall_chat_request request = tcall_agent_request_(agent, &nothing);
    tcall_writer writer;
    char piece[64];
    sum = tcall_hash_more_(
        sum, tcall_str_of(request.model)); /* it may be no member */
    agent->setting = 0;
    if (!provider->reasoning || provider->quirks & TCALL_QUIRK_FREE_REASONING)
        return false;
    nothing.start = nothing.block->low;
    tcall_writer_init(&writer, piece, sizeof piece);
    tcall_writer_sink(&writer, tcall_agent_sum_, &sum);
    provider->write(provider, &writer, &request);
    tcall_writer_flush(&writer);
    agent->setting = sum;
    return sum != before;
}

/* Adds what the user said to the conversation, and makes room for another turn
 * like the last. Where it does not fit even after all turns were dropped,
 * nothing has changed. */
TCALL_NOINLINE_ static int tcall_agent_hear_(tcall_agent *agent, tcall_str text)
{
    tcall_chat *chat = &agent->chat;
    tcall_block *block = chat->block;
    size_t last = tcall_agent_last_turn_(agent), size = TCALL_HEAD_ + text.len;
    size_t before = block->low;
    bool dropped;
    tcall_item item;
    if (size > tcall_block_free_(block) + block->low - chat->start) {
        tcall_block_note_(block, chat->start + block->high + size);
        return TCALL_E_MEMORY;
    }
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_USER;
    item.text = text;
    if (!tcall_chat_make_room_(chat, size)) {
        block->low = chat->start; /* the last turn has to go, too */
        chat->counted.at = 0;
    }
    dropped = block->low != before;
    tcall_chat_add(chat, &item);
    if (tcall_agent_make_room_(agent, last) || dropped)
        tcall_chat_forget_(chat);
    return TCALL_OK;
}

void tcall_agent_cancel(tcall_agent *agent)
{
    agent->cancelled = 1;
}

/* Returns what the transport answered; notes what it waits for. */
static int tcall_agent_heard_(tcall_agent *agent, int result)
{
    const tcall_transport *transport = &agent->desc.transport;
    if (result != TCALL_E_AGAIN)
        return result;
    if (transport->wants)
        transport->wants(transport->user, &agent->wait);
    if (!agent->wait.count && agent->wait.ms == TCALL_WAIT_NEVER)
        tcall_wait_ms(&agent->wait, TCALL_WAIT_POLL_MS);
    return result;
}

/* In the last round that is left the model has to answer in words. */
static bool tcall_agent_is_last_round_(const tcall_agent *agent)
{
    return !agent->turn.plan &&
           ((int)agent->turn.rounds + 1 >= agent->desc.max_rounds ||
            (int)agent->turn.calls >= agent->desc.max_calls);
}

/* Writes the request, to count its bytes or to send them. Both must come to
 * the same: nothing that it reads may change before the answer is there. */
static int tcall_agent_write_(tcall_agent *agent, tcall_writer *writer)
{
    const tcall_agent_desc *desc = &agent->desc;
    tcall_chat_request request = tcall_agent_request_(agent, &agent->chat);
    request.counted = &agent->chat.counted;
    request.max_tokens = desc->max_tokens;
    request.context = agent->context;
    request.cache_prompt = desc->cache_prompt;
    request.extra = desc->extra;
    request.stream = desc->stream;
    request.no_parallel = desc->no_parallel;
    if (agent->last_round)
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

/* Bytes of the request that are images: of those a model makes few tokens. */
static size_t tcall_agent_image_bytes_(const tcall_agent *agent)
{
    size_t at = 0, sum = 0;
    tcall_item item;
    while (tcall_chat_next(&agent->chat, &at, &item))
        if (item.kind == TCALL_ITEM_IMAGE)
            sum += (item.text.len + 2) / 3 * 4;
    return sum;
}

/* A server that cuts what it was not told to hold is told once, with room for
 * what follows: another number would make it load the model anew. Returns
 * whether the request has changed. A token is taken to have 3 bytes. */
static bool tcall_agent_widen_(tcall_agent *agent)
{
    const tcall_agent_desc *desc = &agent->desc;
    const long answer = desc->max_tokens > 0 ? desc->max_tokens : 1024;
    const size_t text = agent->out.len - tcall_agent_image_bytes_(agent);
    const long need = (long)(text / 3) + answer;
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
    if ((int)agent->turn.rounds >= agent->desc.max_rounds)
        return TCALL_E_LIMIT;
    if (tcall_agent_make_room_(agent, 0) || agent->chat.edited) {
        agent->chat.edited = false;
        /* Others may want that of the turn that is under way. */
        if (agent->desc.provider->quirks & TCALL_QUIRK_BOUND_REASONING)
            tcall_chat_forget_(&agent->chat);
        else
            agent->setting = 0;
    }
    agent->last_round = tcall_agent_is_last_round_(agent);
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

static bool tcall_agent_knows_(void *user, tcall_str name)
{
    return tcall_find((const tcall *)user, name) != NULL;
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
    agent->reader->knows = tcall_agent_knows_;
    agent->state = TCALL_AGENT_READ_;
    return TCALL_E_AGAIN;
}

/* A server may repeat secrets in its complaint. */
static void tcall_agent_mask_(const tcall_agent *agent, char *text)
{
    size_t i;
    for (i = 0; i < agent->request.header_count; i++)
        text[tcall_mask_text_(text, strlen(text), agent->headers[i].secret)] =
            '\0';
}

/* Returns why an answer without calls did not end by itself. Returns TCALL_OK
 * where it did, or where there are calls: of those that were cut each says so
 * itself. */
static int tcall_answer_ending_(const tcall_answer *answer)
{
    if (answer->calls)
        return TCALL_OK;
    switch (answer->stop) {
    case TCALL_STOP_LENGTH: return TCALL_E_LENGTH;
    case TCALL_STOP_CONTENT_FILTER: return TCALL_E_REFUSED;
    case TCALL_STOP_TOOL_CALLS: /* they are none that can be read */
    case TCALL_STOP_OTHER: return TCALL_E_UNHANDLED;
    default: break;
    }
    if (answer->pending)
        return TCALL_E_QUEUED;
    if (answer->has_text)
        return TCALL_OK;
    return answer->unread ? TCALL_E_UNHANDLED : TCALL_E_EMPTY;
}

/* Takes the answer over from the reader and returns what is wrong with it, or
 * TCALL_OK. */
static int tcall_agent_judge_(tcall_agent *agent)
{
    int result = tcall_reader_end(agent->reader), status;
    agent->answer = agent->reader->answer;
    tcall_agent_mask_(agent, agent->answer.message);
    tcall_agent_mask_(agent, agent->answer.stop_text);
    if (agent->response.retry_after_ms < 0)
        agent->response.retry_after_ms = agent->answer.wait_ms;
    /* With an error status no body is an answer, whatever it looks like. */
    status = tcall_answer_error(&agent->answer, agent->response.status);
    if (status < 0)
        return status;
    /* Results of calls whose reasoning is lost could not be sent back. */
    if (!agent->turn.plan && agent->answer.calls &&
        agent->answer.reasoning_dropped)
        return TCALL_E_MEMORY;
    return result < 0 ? result : tcall_answer_ending_(&agent->answer);
}

/* Does an answer with this error stay in the conversation? One that did not end
 * by itself does, for its words. */
static bool tcall_agent_keeps_(const tcall_agent *agent, int error)
{
    return error == TCALL_OK ||
           (agent->response.status < 300 && agent->answer.has_text &&
            error == tcall_answer_ending_(&agent->answer));
}

/* What a provider does not count is zero; more than fits is the limit. */
static void tcall_agent_count_tokens_(tcall_agent *agent)
{
    const tcall_answer *answer = &agent->answer;
    uint32_t room = UINT32_MAX - agent->turn.tokens, more = 0;
    if (answer->input_tokens > 0)
        more = (uint32_t)answer->input_tokens;
    if (answer->output_tokens > 0)
        more += (uint32_t)answer->output_tokens;
    agent->turn.tokens += more < room ? more : room;
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
    agent->turn.rounds++;
    agent->tries = 0;
    tcall_agent_count_tokens_(agent);
    agent->call_at = 0;
    agent->state = !agent->answer.calls ? TCALL_AGENT_IDLE_
                   : agent->turn.plan   ? TCALL_AGENT_PLANNED_
                                        : TCALL_AGENT_CALLS_;
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
    uint32_t spent = tcall_agent_now_(agent) - agent->turn.started;
    ms = ms < desc->max_wait_ms ? ms : desc->max_wait_ms;
    if (!tcall_agent_retry_helps_(agent, error) || !desc->transport.now_ms ||
        (int)agent->tries >= desc->max_tries ||
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
    agent->unanswered = item.kind == TCALL_ITEM_USER;
    if (agent->unanswered)
        block->low = agent->chat.start + last;
}

/* Adds a further text to one, in the free part of the block. Where that has no
 * room for both, or a call is at work there, the further one counts alone. */
static tcall_str tcall_agent_join_(const tcall_agent *agent, tcall_str text,
                                   tcall_str more)
{
    const tcall_block *block = &agent->desc.tc->block;
    /* Words that are items of their own were told so. */
    const bool parted =
        agent->desc.provider->reasoning == TCALL_REASONING_ELEMENTS;
    const tcall_str between = tcall_str_of(parted ? "\n\n" : "");
    const size_t len = text.len + between.len + more.len;
    char *gap = tcall_block_gap_(block);
    if (!text.len || len > tcall_block_free_(block) ||
        agent->state != TCALL_AGENT_IDLE_)
        return more;
    tcall_copy_(tcall_copy_(tcall_copy_(gap, text), between), more);
    return tcall_slice_(gap, len);
}

tcall_str tcall_agent_text(const tcall_agent *agent)
{
    tcall_str text = tcall_slice_(NULL, 0);
    tcall_item item;
    size_t at = 0;
    int best = 0, rank; /* 2: said to be final; 0: nothing since a call */
    if (agent->state == TCALL_AGENT_UNSET_ || agent->unanswered)
        return text;
    while (tcall_chat_next(&agent->chat, &at, &item)) {
        if (item.kind == TCALL_ITEM_USER)
            text.len = 0;
        if (item.kind == TCALL_ITEM_USER || item.kind == TCALL_ITEM_CALL)
            best = 0;
        rank = 1 + tcall_str_eq(item.signature, tcall_str_of("final_answer"));
        if (item.kind != TCALL_ITEM_TEXT || rank < best)
            continue;
        if (rank > best)
            text.len = 0;
        best = rank;
        text = tcall_agent_join_(agent, text, item.text);
    }
    return text;
}

/* Tells that a turn begins or ends. */
TCALL_NOINLINE_ static void tcall_agent_tell_turn_(const tcall_agent *agent,
                                                   tcall_event_kind kind,
                                                   tcall_str text, int error)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.turn = &agent->turn;
    event.text = text;
    event.error = error;
    tcall_tell_(agent->desc.tc, &event, kind);
}

/* Ends the turn: the connection is closed, calls are released, and what is left
 * of the conversation can be continued. */
static int tcall_agent_end_(tcall_agent *agent, int error)
{
    tcall *tc = agent->desc.tc;
    tc->busy = tc;
    tcall_agent_leave_(agent);
    tcall_agent_drop_calls_(agent);
    if (error < 0)
        tcall_agent_undo_(agent);
    if (error == TCALL_E_MEMORY)
        tcall_agent_spare_(agent, 0);
    agent->state = TCALL_AGENT_IDLE_;
    tc->busy = NULL; /* who hears of it may say what is next */
    tcall_agent_tell_turn_(agent, TCALL_EVENT_TURN_END, tcall_agent_text(agent),
                           error);
    return error;
}

/* Begins the turn anew, with the number after that of the one before. */
static void tcall_agent_begin_(tcall_agent *agent, bool plan)
{
    tcall_turn *turn = &agent->turn;
    uint32_t id = turn->id + 1;
    memset(turn, 0, sizeof *turn);
    turn->id = id;
    turn->started = tcall_agent_now_(agent);
    turn->plan = plan;
    turn->parent = agent->desc.parent;
    agent->tries = 0;
    memset(&agent->wait, 0, sizeof agent->wait);
    /* A cancel that came before the turn is not meant for it. */
    agent->cancelled = 0;
    agent->reconnected = agent->unanswered = false;
    agent->desc.tc->block.need = 0;
    agent->state = TCALL_AGENT_OPEN_;
}

/* Returns TCALL_OK where a turn may begin. A plan that was left is dropped. */
static int tcall_agent_ready_(tcall_agent *agent)
{
    if (tcall_agent_busy_(agent))
        return TCALL_E_USAGE;
    if (agent->turn.plan && agent->state > TCALL_AGENT_IDLE_)
        tcall_agent_end_(agent, TCALL_E_CANCELLED);
    if (agent->state != TCALL_AGENT_IDLE_)
        return TCALL_E_USAGE;
    agent->problem = tcall_agent_added_problem_(&agent->desc);
    return agent->problem ? TCALL_E_USAGE : TCALL_OK;
}

/* Begins a turn with these tools, or without them with what it picks. */
static int tcall_agent_open_turn_(tcall_agent *agent, tcall_str text, bool plan,
                                  const tcall_picked *tools, int count)
{
    int error = tcall_agent_hear_(agent, text);
    if (error < 0)
        return error;
    error = tcall_agent_offer_(agent, text, tools, count);
    if (error < 0) {
        tcall_agent_undo_(agent);
        return error;
    }
    if (tcall_agent_changed_(agent))
        tcall_chat_forget_(&agent->chat);
    tcall_agent_begin_(agent, plan);
    tcall_agent_tell_turn_(agent, TCALL_EVENT_TURN, text, TCALL_OK);
    return TCALL_OK;
}

/* The same where one may begin; nobody who is called meanwhile does that. */
static int tcall_agent_start_(tcall_agent *agent, tcall_str text, bool plan,
                              const tcall_picked *tools, int count)
{
    tcall *tc = agent->desc.tc;
    int error = tcall_agent_ready_(agent);
    if (error < 0)
        return error;
    tc->busy = tc;
    error = tcall_agent_open_turn_(agent, text, plan, tools, count);
    tc->busy = NULL;
    return error;
}

int tcall_agent_show(tcall_agent *agent, const char *type, tcall_str bytes)
{
    int error = tcall_agent_ready_(agent);
    if (error == TCALL_OK && (!tcall_is_image_type_(type) || !bytes.len))
        error = TCALL_E_USAGE;
    if (error < 0)
        return error;
    if (tcall_agent_make_room_(agent, 0))
        tcall_chat_forget_(&agent->chat);
    return tcall_agent_add_image_(agent, tcall_slice_(NULL, 0), type, bytes);
}

int tcall_agent_say(tcall_agent *agent, tcall_str text)
{
    return tcall_agent_start_(agent, text, false, NULL, 0);
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
    uint32_t spent = tcall_agent_now_(agent) - agent->turn.started;
    uint32_t limit = agent->desc.max_ms;
    if (result != TCALL_E_APPROVAL &&
        (!tcall_waits_(result) ||
         (!wait->count && wait->ms == TCALL_WAIT_NEVER)))
        wait->ms = 0;
    if (limit)
        tcall_wait_ms(wait, spent < limit ? limit - spent : 0);
    return result;
}

int tcall_agent_step(tcall_agent *agent)
{
    int result;
    if (agent->state == TCALL_AGENT_UNSET_ ||
        agent->state == TCALL_AGENT_IDLE_ || tcall_agent_busy_(agent) ||
        (agent->state == TCALL_AGENT_PLANNED_ && !agent->cancelled))
        return TCALL_E_USAGE;
    agent->desc.tc->busy = agent->desc.tc;
    agent->wait.ms = TCALL_WAIT_NEVER;
    agent->wait.count = 0;
    result = tcall_agent_work_(agent);
    if (result < 0 && !tcall_waits_(result))
        result = tcall_agent_retry_(agent, result);
    if (result < 0 ? !tcall_waits_(result)
                   : agent->state != TCALL_AGENT_PLANNED_)
        result = tcall_agent_end_(agent, result);
    result = tcall_agent_waits_(agent, result);
    agent->desc.tc->busy = NULL;
    return result;
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

/* Are these tools of the registry? */
static bool tcall_agent_can_offer_(const tcall_agent *agent,
                                   const tcall_picked *tools, int count)
{
    int i;
    for (i = 0; tools && i < count; i++)
        if (tools[i].index >= agent->desc.tc->desc.tool_count)
            return false;
    return !tools || count >= 0;
}

int tcall_agent_plan(tcall_agent *agent, tcall_str text,
                     const tcall_picked *tools, int count)
{
    bool goes_on = agent->turn.plan && agent->state == TCALL_AGENT_OPEN_;
    int error = TCALL_E_USAGE;
    if (agent->state == TCALL_AGENT_UNSET_)
        return error;
    if (!text.len)
        error = goes_on ? TCALL_OK : TCALL_E_USAGE;
    else if (tcall_agent_can_offer_(agent, tools, count))
        error = tcall_agent_start_(agent, text, true, tools, count);
    if (error == TCALL_OK)
        error = tcall_agent_finish_(agent);
    return error < 0 ? error : agent->answer.calls;
}

#endif /* TOOLCALL_NO_AGENT */
