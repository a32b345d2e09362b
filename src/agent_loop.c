#pragma once
#include "agent.c"

/* ==========================================================================
 * >>agent_loop: a turn, step by step
 *
 * One turn is a walk through the states of an agent. A step is one of them, or
 * one piece of the body that goes out or comes in, or one call.
 */

#ifndef TOOLCALL_NO_AGENT

/* ---- room for the turn ---- */

/* Of what the conversation may use, a quarter is kept free for answers, and
 * more bytes: else the oldest turns are dropped, until a third is, so that it
 * happens seldom. old: all turns are, the last one too. Returns whether some
 * were dropped. Images that the user has shown, but said nothing to yet, are of
 * the turn to come. */
static bool tcall_agent_make_room_(tcall_agent *agent, size_t more, bool old)
{
    tcall_chat *chat = &agent->chat;
    tcall_block *block = chat->block;
    const size_t all = block->size - chat->start - block->high;
    const size_t room = tcall_block_free_(block);
    size_t at = 0, next = 0, cut = 0;
    bool shown = true; /* an image of the user was last */
    tcall_item item;
    more += sizeof(tcall_attempt); /* of the call that comes next */
    if (block->lent || room >= all / 4 + more)
        return false;
    more += all / 3;
    for (; room + cut < more && tcall_chat_next(chat, &next, &item);
         at = next) {
        const bool opens = tcall_item_opens_(&item);
        if (opens && !shown)
            cut = at;
        shown = opens && item.kind == TCALL_ITEM_IMAGE;
    }
    if (room + cut < more && old && !shown)
        cut = at;
    tcall_chat_shift_(chat, chat->start + cut, chat->start);
    agent->question -= cut;
    if (cut)
        chat->counted.at = 0;
    return cut > 0;
}

/* Adds what the user said to the conversation, and makes room for another turn
 * like the last. Where it does not fit even after all turns were dropped,
 * nothing has changed. */
TCALL_NOINLINE_ static int tcall_agent_hear_(tcall_agent *agent, tcall_str text)
{
    const tcall_str none = {NULL, 0};
    const tcall_item item = tcall_item_of_(TCALL_ITEM_USER, none, none, text);
    tcall_chat *chat = &agent->chat;
    tcall_block *block = chat->block;
    const size_t size = TCALL_HEAD_ + text.len, said = block->low - chat->start;
    if (size > tcall_block_free_(block) + said) {
        tcall_block_note_(block, chat->start + block->high + size);
        return TCALL_E_MEMORY;
    }
    if (tcall_agent_make_room_(agent, size + said - agent->question, true))
        tcall_chat_forget_(chat);
    agent->question = block->low - chat->start;
    return tcall_chat_add(chat, &item);
}

/* ---- the offer ---- */

/* Offers of these tools, or of all, what the registry and pick_opts permit; of
 * a conversation that has its picks, no more than there was. */
static void tcall_agent_offer_these_(tcall_agent *agent,
                                     const tcall_picked *tools, int count)
{
    const tcall_agent_desc *desc = &agent->desc;
    const tcall *tc = desc->tc;
    size_t i;
    for (i = 0; i < tc->desc.tool_count; i++) {
        const tcall_tool *tool = &tc->desc.tools[i];
        const char *excluded =
            desc->pick ? tcall_pick_excludes_(tc, desc->pick_opts, tool)
                       : tcall_withheld_(tc, tool);
        int at = 0;
        while (tools && at < count && tools[at].index != i)
            at++;
        tcall_set_bit_(tc->offer, i,
                       !excluded && (!tools || at < count) &&
                           (!agent->picked || TCALL_BIT_OF_(tc->offer, i)));
    }
}

/* Decides which tools the turn offers: these, or, of many, those that fit the
 * text, and the pinned ones. Returns TCALL_OK or an error. */
TCALL_NOINLINE_ static int tcall_agent_offer_(tcall_agent *agent,
                                              tcall_str text,
                                              const tcall_picked *tools,
                                              int count)
{
    const tcall_agent_desc *desc = &agent->desc;
    tcall_picked picks[TCALL_AGENT_PICKS];
    int i;
    if (tools)
        agent->picked = false;
    tcall_agent_offer_these_(agent, tools, count);
    if (tools || !desc->pick || agent->picked ||
        desc->tc->desc.tool_count <= TCALL_AGENT_ALL)
        return TCALL_OK;
    count =
        desc->pick(desc->tc, text, desc->pick_opts, picks, TCALL_AGENT_PICKS);
    if (count < 0)
        return count;
    tcall_agent_offer_these_(agent, picks, count);
    /* For "hello" nothing fits: then the next turn picks. */
    for (i = 0; i < count; i++)
        agent->picked = agent->picked || !picks[i].pinned;
    return TCALL_OK;
}

/* Returns how many tools the model gets to see. */
TCALL_SHARED_ size_t tcall_agent_tools_(const tcall_agent *agent)
{
    const tcall *tc = agent->desc.tc;
    size_t count = 0, i;
    for (i = 0; i < tc->desc.tool_count; i++)
        count += TCALL_BIT_OF_(tc->offer, i);
    return count;
}

/* ---- events ---- */

/* Tells listeners of the registry what the agent does. It has a frame of its
 * own, which would lie on the stack while a tool runs. */
TCALL_NOINLINE_ TCALL_SHARED_ void tcall_agent_tell_(const tcall_agent *agent,
                                                     tcall_event_kind kind,
                                                     size_t bytes,
                                                     tcall_str text, int error)
{
    const bool turns = kind == TCALL_EVENT_TURN || kind == TCALL_EVENT_TURN_END;
    tcall_event event = {
        kind, NULL,        NULL, turns ? &agent->turn : NULL, NULL,
        text, error,       0,    agent->response.status,      bytes,
        0,    agent->pause};
    if (kind == TCALL_EVENT_REQUEST)
        event.tools = tcall_agent_tools_(agent);
    tcall_tell_(agent->desc.tc, &event, kind);
}

/* The reader tells of text and of calls as they come. */
static void tcall_agent_text_piece_(void *user, tcall_str piece)
{
    tcall_agent_tell_((const tcall_agent *)user, TCALL_EVENT_TEXT, 0, piece,
                      TCALL_OK);
}

static void tcall_agent_call_piece_(void *user, const tcall_item *piece)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.item = piece;
    tcall_tell_(((const tcall_agent *)user)->desc.tc, &event,
                TCALL_EVENT_PIECE);
}

/* ---- the request ---- */

/* Writes the request with this conversation, to count its bytes or to send
 * them. Both must come to the same: nothing that it reads may change before the
 * answer is there. Without a conversation it says only what the model is told
 * before anything else. */
static int tcall_agent_write_(tcall_agent *agent, const tcall_chat *chat,
                              tcall_writer *writer)
{
    const tcall_agent_desc *desc = &agent->desc;
    const bool talks = chat == &agent->chat;
    const tcall_chat_request request = {
        desc->model,
        desc->system,
        chat,
        desc->tc->desc.tools,
        desc->tc->desc.tool_count,
        desc->tc->offer,
        0, /* allow: the offer counts */
        talks && agent->last_round ? TCALL_CHOICE_NONE : TCALL_CHOICE_AUTO,
        NULL,
        talks ? desc->max_tokens : 0,
        talks ? agent->context : 0,
        talks && desc->stream,
        talks && desc->no_parallel,
        talks && desc->cache_prompt,
        talks ? desc->extra : NULL,
        desc->variables,
        talks ? &agent->chat.counted : NULL};
    desc->provider->write(desc->provider, writer, &request);
    return tcall_writer_flush(writer);
}

static int tcall_agent_sum_(void *user, const char *bytes, size_t len)
{
    uint32_t *sum = (uint32_t *)user;
    *sum = tcall_hash_more_(*sum, tcall_slice_(bytes, len));
    return (int)len;
}

/* Has the setting changed since the last turn: model, instructions, tools or
 * their descriptions? It is all that a request says before anything was said.
 * Reasoning that was made in another one is refused. A provider that takes it
 * nevertheless has no setting, so that whoever comes back from there to one
 * that does not has changed it. */
TCALL_NOINLINE_ static bool tcall_agent_changed_(tcall_agent *agent)
{
    const tcall_provider *provider = agent->desc.provider;
    const uint32_t before = agent->setting;
    tcall_chat nothing = agent->chat;
    agent->setting = 0;
    if (!provider->reasoning || provider->quirks & TCALL_QUIRK_FREE_REASONING)
        return false;
    agent->setting = tcall_hash_more_(
        tcall_hash_more_(TCALL_HASH_EMPTY_, tcall_str_of(provider->name)),
        tcall_str_of(agent->desc.model)); /* it may be no member */
    nothing.start = nothing.block->low;
    tcall_writer_init(&agent->out, agent->io, agent->desc.io_size);
    tcall_writer_sink(&agent->out, tcall_agent_sum_, &agent->setting);
    tcall_agent_write_(agent, &nothing, &agent->out);
    return agent->setting != before;
}

/* Adds a header, unless the provider has none of this kind. */
static void tcall_agent_add_header_(tcall_agent *agent, const char *name,
                                    const char *value, const char *secret)
{
    const tcall_header header = {name, value, secret};
    if (name)
        agent->headers[agent->request.header_count++] = header;
}

/* Sets up what is sent before the body. The key is kept apart from the value
 * that goes before it, so that a trace can show the one without the other. */
static void tcall_agent_set_request_(tcall_agent *agent)
{
    const tcall_agent_desc *desc = &agent->desc;
    const tcall_provider *provider = desc->provider;
    const size_t path = tcall_agent_path_(desc, agent->io, desc->io_size);
    const tcall_request request = {"POST", path ? agent->io : desc->path,
                                   agent->headers, 0, agent->out.len};
    size_t i;
    agent->path_size = path;
    agent->request = request;
    tcall_agent_add_header_(agent, "Content-Type", "application/json", NULL);
    if (!tcall_agent_adds_header_(desc, provider->version[0]))
        tcall_agent_add_header_(agent, provider->version[0],
                                provider->version[1], NULL);
    for (i = 0; i < desc->header_count; i++)
        agent->headers[agent->request.header_count++] = desc->headers[i];
    if (desc->key)
        tcall_agent_add_header_(agent, provider->key_header,
                                provider->key_prefix, desc->key);
}

/* A server that cuts what it was not told to hold is told once, with room for
 * what follows: another number would make it load the model anew. Returns
 * whether the request has changed. A token is taken to have 3 bytes, and an
 * image few tokens. */
static bool tcall_agent_widen_(tcall_agent *agent)
{
    const tcall_agent_desc *desc = &agent->desc;
    long text = (long)agent->out.len, need, context = agent->context;
    size_t at = 0;
    tcall_item item;
    if (!(desc->provider->quirks & TCALL_QUIRK_SAY_CONTEXT))
        return false;
    while (tcall_chat_next(&agent->chat, &at, &item))
        if (item.kind == TCALL_ITEM_IMAGE)
            text -= (long)((item.text.len + 2) / 3 * 4);
    need = text / 3 + (desc->max_tokens > 0 ? desc->max_tokens : 1024);
    if (need <= context)
        return false;
    need = context ? need : 2 * need;
    for (context = context ? context : 4096; context < need;)
        context *= 2;
    agent->context = context;
    return true;
}

/* ---- the exchange ---- */

/* Connects. */
static int tcall_agent_connect_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    int result =
        transport->open(transport->user, &agent->request, &agent->response);
    if (result < 0)
        return result;
    tcall_agent_tell_(agent, TCALL_EVENT_REQUEST, agent->request.body_len,
                      tcall_slice_(NULL, 0), TCALL_OK);
    agent->sent = agent->received = 0;
    memset(&agent->resume, 0, sizeof agent->resume);
    agent->state = TCALL_AGENT_SEND_;
    return TCALL_OK;
}

/* Counts the request, once the pause before it is over, and connects. Oldest
 * turns are dropped here, and otherwise only before the turn begins, because
 * from now on the request has to stay as it is. In the last round that is left
 * the model has to answer in words. */
TCALL_NOINLINE_ static int tcall_agent_open_(tcall_agent *agent)
{
    const uint32_t spent = tcall_agent_now_(agent) - agent->pause_began;
    const tcall_turn *turn = &agent->turn;
    int result;
    if (spent < agent->pause)
        return tcall_wait_ms(&agent->wait, agent->pause - spent);
    agent->pause = 0;
    if ((int)turn->rounds >= agent->desc.max_rounds)
        return TCALL_E_LIMIT;
    if (tcall_agent_make_room_(agent, 0, false) || agent->chat.edited) {
        agent->chat.edited = false;
        /* Others may want that of the turn that is under way. */
        if (agent->desc.provider->quirks & TCALL_QUIRK_BOUND_REASONING)
            tcall_chat_forget_(&agent->chat);
        else
            agent->setting = 0;
    }
    agent->last_round =
        !turn->plan && ((int)turn->rounds + 1 >= agent->desc.max_rounds ||
                        (int)turn->calls >= agent->desc.max_calls);
    do {
        tcall_writer_init(&agent->out, NULL, 0);
        result = tcall_agent_write_(agent, &agent->chat, &agent->out);
    } while (result == TCALL_OK && tcall_agent_widen_(agent));
    if (result < 0)
        return result;
    tcall_agent_set_request_(agent);
    memset(&agent->response, 0, sizeof agent->response);
    agent->response.retry_after_ms = -1;
    agent->state = TCALL_AGENT_CONNECT_;
    return tcall_agent_connect_(agent);
}

/* What the writer of the request writes to. */
static int tcall_agent_sink_(void *user, const char *bytes, size_t len)
{
    tcall_agent *agent = (tcall_agent *)user;
    const tcall_transport *transport = &agent->desc.transport;
    int accepted = transport->write(transport->user, bytes, len);
    if (accepted > 0)
        agent->sent += (size_t)accepted;
    return accepted;
}

/* Writes what the buffer still holds and then the rest of the request, as far
 * as the transport takes it. The request is never held: after a pause it is
 * taken up again at the string or tool that was not complete. */
static int tcall_agent_send_more_(tcall_agent *agent)
{
    tcall_writer *out = &agent->out;
    const size_t unsent = out->fill;
    int result;
    tcall_writer_init(out, agent->io + agent->path_size,
                      agent->desc.io_size - agent->path_size);
    tcall_writer_sink(out, tcall_agent_sink_, agent);
    out->fill = unsent;
    out->resume = &agent->resume;
    result = tcall_writer_flush(out);
    if (result == TCALL_OK)
        result = tcall_agent_write_(agent, &agent->chat, out);
    agent->resume.stored = agent->sent + out->fill;
    return result;
}

static bool tcall_agent_knows_(void *user, tcall_str name)
{
    return tcall_find(((const tcall_agent *)user)->desc.tc, name) != NULL;
}

/* Sends the request, and once all of it went out gets ready to read: items of
 * the answer begin where the conversation ends now. */
TCALL_NOINLINE_ static int tcall_agent_send_(tcall_agent *agent)
{
    tcall_reader *reader = &agent->room->reader;
    int result = tcall_agent_send_more_(agent);
    if (result < 0)
        return result;
    /* A tool table or a variable was changed while the request was written. */
    if (agent->sent != agent->request.body_len)
        return TCALL_E_USAGE;
    agent->answer_at = agent->chat.block->low - agent->chat.start;
    tcall_reader_init(reader, agent->desc.provider, &agent->chat,
                      tcall_agent_text_piece_, agent);
    reader->call = tcall_agent_call_piece_;
    reader->text_calls = agent->desc.text_calls;
    reader->knows = tcall_agent_knows_;
    agent->state = TCALL_AGENT_READ_;
    return TCALL_OK;
}

/* ---- the answer ---- */

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
    tcall_answer *answer = &agent->answer;
    tcall_reader *reader = &agent->room->reader;
    int broken = tcall_reader_end(reader), error;
    *answer = reader->answer;
    tcall_agent_mask_(agent, answer->message);
    tcall_agent_mask_(agent, answer->stop_text);
    if (agent->response.retry_after_ms < 0)
        agent->response.retry_after_ms = answer->wait_ms;
    /* With an error status no body is an answer, whatever it looks like. */
    error = tcall_answer_error(answer, agent->response.status);
    if (error < 0)
        return error;
    /* Results of calls whose reasoning is lost could not be sent back. */
    if (!agent->turn.plan && answer->calls && answer->reasoning_dropped)
        return TCALL_E_MEMORY;
    return broken < 0 ? broken : tcall_answer_ending_(answer);
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
    const long in = answer->input_tokens, out = answer->output_tokens;
    const uint32_t room = UINT32_MAX - agent->turn.tokens;
    const uint32_t more =
        (in > 0 ? (uint32_t)in : 0) + (out > 0 ? (uint32_t)out : 0);
    agent->turn.tokens += more < room ? more : room;
}

/* Is a request under way? */
static bool tcall_agent_talks_(const tcall_agent *agent)
{
    return agent->state >= TCALL_AGENT_CONNECT_ &&
           agent->state <= TCALL_AGENT_READ_;
}

/* Ends the exchange, if there is one. */
static void tcall_agent_close_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    if (tcall_agent_talks_(agent))
        transport->close(transport->user);
}

/* The same after an error. An answer that is not whole must not stay in the
 * conversation, nor one whose calls have no results. */
static void tcall_agent_leave_(tcall_agent *agent)
{
    tcall_agent_close_(agent);
    if (agent->state == TCALL_AGENT_READ_ ||
        (agent->state > TCALL_AGENT_READ_ &&
         agent->call_at < agent->answer.calls))
        tcall_block_cut_(agent->chat.block,
                         agent->chat.start + agent->answer_at);
}

/* The answer is complete: goes on with its calls, or ends the turn. */
TCALL_NOINLINE_ static int tcall_agent_take_(tcall_agent *agent)
{
    int error = tcall_agent_judge_(agent);
    tcall_agent_tell_(agent, TCALL_EVENT_ANSWER, agent->received,
                      tcall_str_of(agent->answer.message), error);
    if (!tcall_agent_keeps_(agent, error))
        return error;
    tcall_agent_close_(agent);
    agent->reconnected = false;
    agent->turn.rounds++;
    agent->tries = 0;
    tcall_agent_count_tokens_(agent);
    agent->call_at = 0;
    agent->state = agent->answer.calls ? TCALL_AGENT_CALLS_ : TCALL_AGENT_IDLE_;
    return error;
}

/* Reads a piece of the answer. */
TCALL_NOINLINE_ static int tcall_agent_read_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    char *piece = agent->io + agent->path_size;
    int count = transport->read(transport->user, piece,
                                agent->desc.io_size - agent->path_size);
    int error;
    if (count == 0)
        return tcall_agent_take_(agent);
    if (count < 0)
        return count;
    agent->received += (size_t)count;
    error = tcall_reader_feed(&agent->room->reader, piece, (size_t)count);
    /* An error page is not in the provider's format: read on for its words. */
    if (error < 0 && agent->response.status < 300)
        return tcall_agent_take_(agent);
    return TCALL_OK;
}

/* ---- another try ---- */

/* Can sending the request again help? Not where an answer had begun well:
 * somebody may have seen it. */
static bool tcall_agent_retry_helps_(const tcall_agent *agent, int error)
{
    const tcall_response *response = &agent->response;
    int status = response->status;
    if (!status)
        return error == TCALL_E_CLOSED || error == TCALL_E_CONNECT ||
               error == TCALL_E_RESOLVE ||
               (error == TCALL_E_TIMEOUT &&
                agent->state == TCALL_AGENT_CONNECT_);
    if (status < 400)
        return false;
    if (response->should_retry)
        return response->should_retry > 0;
    if (error == TCALL_E_QUOTA)
        return false;
    return status == 408 || status == 409 || status == 429 || status >= 500;
}

/* Returns the wait before the next try: it doubles from 0.5 s to 8 s. Half of
 * it is fixed, up to another half is chance: devices that failed together
 * should not come back together. Without a seed they differ by when they
 * request. */
static uint32_t tcall_agent_backoff_(tcall_agent *agent)
{
    const uint32_t half = 250u << (agent->tries < 5 ? agent->tries - 1 : 4);
    agent->random += agent->desc.seed ? 1 : tcall_agent_now_(agent);
    agent->random *= 0x9E3779B9u;
    return half + ((agent->random >> 16) * half >> 16);
}

/* After an error: TCALL_E_AGAIN when the request will be sent again, else the
 * error. Without a request that is under way there is nothing to send again. A
 * connection that was dead when it was reused is replaced at once, which does
 * not count as a try. */
TCALL_NOINLINE_ static int tcall_agent_retry_(tcall_agent *agent, int error)
{
    const tcall_agent_desc *desc = &agent->desc;
    const tcall_response *response = &agent->response;
    const long told = response->retry_after_ms;
    uint32_t spent = tcall_agent_now_(agent) - agent->turn.started, ms = 0;
    if (!tcall_agent_talks_(agent) || tcall_agent_over_(agent) < 0)
        return error;
    if (error == TCALL_E_CLOSED && !response->status && told == 0 &&
        !agent->reconnected)
        agent->reconnected = true;
    else if ((int)++agent->tries >= desc->max_tries ||
             !tcall_agent_retry_helps_(agent, error) || !desc->transport.now_ms)
        return error;
    else
        ms = told < 0 ? tcall_agent_backoff_(agent) : (uint32_t)told;
    ms = ms < desc->max_wait_ms ? ms : desc->max_wait_ms;
    if (desc->max_ms && spent + ms >= desc->max_ms)
        return error;
    tcall_agent_leave_(agent);
    agent->state = TCALL_AGENT_OPEN_;
    agent->pause = ms;
    tcall_agent_tell_(agent, TCALL_EVENT_RETRY, 0, tcall_slice_(NULL, 0),
                      error);
    agent->pause_began = tcall_agent_now_(agent);
    return tcall_wait_ms(&agent->wait, ms);
}

/* ---- a turn begins and ends ---- */

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
    size_t at;
    int best = 0, rank; /* 2: said to be final; 0: nothing since a call */
    if (agent->state == TCALL_AGENT_UNSET_)
        return text;
    at = agent->question;
    while (tcall_chat_next(&agent->chat, &at, &item)) {
        if (item.kind == TCALL_ITEM_CALL)
            best = 0;
        rank = 1 + tcall_str_eq(item.signature, tcall_str_of("final_answer"));
        if (item.kind != TCALL_ITEM_TEXT || rank < best)
            continue;
        text =
            rank > best ? item.text : tcall_agent_join_(agent, text, item.text);
        best = rank;
    }
    return text;
}

/* A question that nobody answered is taken back. */
TCALL_NOINLINE_ static void tcall_agent_undo_(tcall_agent *agent)
{
    const size_t said = agent->chat.block->low - agent->chat.start;
    size_t end = agent->question;
    if (tcall_chat_head_(&agent->chat, &end) && end == said)
        tcall_block_cut_(agent->chat.block,
                         agent->chat.start + agent->question);
}

/* Ends the turn: the connection is closed, calls are released, and what is left
 * of the conversation can be continued. */
static int tcall_agent_end_(tcall_agent *agent, int error)
{
    tcall *tc = agent->desc.tc;
    tc->busy = tc;
    tcall_agent_leave_(agent);
    tcall_agent_batch_end_(agent);
    if (error < 0)
        tcall_agent_undo_(agent);
    if (error == TCALL_E_MEMORY)
        tcall_agent_spare_(agent, 0);
    agent->state = TCALL_AGENT_IDLE_;
    tc->busy = NULL; /* who hears of it may say what is next */
    tcall_agent_tell_(agent, TCALL_EVENT_TURN_END, 0, tcall_agent_text(agent),
                      error);
    return error;
}

/* Takes up a turn whose number and other fields are there, in this state. */
TCALL_SHARED_ void tcall_agent_begin_(tcall_agent *agent, uint8_t state,
                                      bool plan, tcall_str text)
{
    agent->turn.started = tcall_agent_now_(agent);
    agent->turn.plan = plan;
    agent->turn.parent = agent->desc.parent;
    agent->tries = 0;
    agent->pause = 0;
    /* A cancel that came before the turn is not meant for it. */
    agent->cancelled = 0;
    agent->reconnected = false;
    agent->desc.tc->block.need = 0;
    agent->state = state;
    tcall_agent_tell_(agent, TCALL_EVENT_TURN, 0, text, TCALL_OK);
}

/* Returns TCALL_OK where a turn may begin. A plan that was left is dropped. */
static int tcall_agent_ready_(tcall_agent *agent)
{
    if (agent->turn.plan &&
        tcall_agent_open_to_(agent, TCALL_AGENT_OPEN_, TCALL_AGENT_CALLS_))
        tcall_agent_end_(agent, TCALL_E_CANCELLED);
    if (!tcall_agent_open_to_(agent, TCALL_AGENT_IDLE_, TCALL_AGENT_IDLE_))
        return TCALL_E_USAGE;
    return tcall_agent_refuse_(agent, agent->desc.tc,
                               tcall_agent_added_faults_(&agent->desc));
}

/* Begins a turn with these tools, or without them with what it picks; nobody
 * who is called meanwhile does that. */
static int tcall_agent_start_(tcall_agent *agent, tcall_str text, bool plan,
                              const tcall_picked *tools, int count)
{
    tcall *tc = agent->desc.tc;
    const uint32_t id = agent->turn.id + 1;
    int error = tcall_agent_ready_(agent);
    if (error < 0)
        return error;
    tc->busy = tc;
    error = tcall_agent_hear_(agent, text);
    if (error == TCALL_OK) {
        error = tcall_agent_offer_(agent, text, tools, count);
        if (error < 0)
            tcall_agent_undo_(agent);
    }
    if (error == TCALL_OK) {
        if (tcall_agent_changed_(agent))
            tcall_chat_forget_(&agent->chat);
        memset(&agent->turn, 0, sizeof agent->turn);
        agent->turn.id = id;
        tcall_agent_begin_(agent, TCALL_AGENT_OPEN_, plan, text);
    }
    tc->busy = NULL;
    return error;
}

int tcall_agent_say(tcall_agent *agent, tcall_str text)
{
    return tcall_agent_start_(agent, text, false, NULL, 0);
}

int tcall_agent_show(tcall_agent *agent, const char *type, tcall_str bytes)
{
    int error = tcall_agent_ready_(agent);
    if (error == TCALL_OK && (!tcall_is_image_type_(type) || !bytes.len))
        error = TCALL_E_USAGE;
    if (error < 0)
        return error;
    if (tcall_agent_make_room_(agent, 0, false))
        tcall_chat_forget_(&agent->chat);
    return tcall_agent_add_image_(agent, tcall_slice_(NULL, 0), type, bytes);
}

void tcall_agent_cancel(tcall_agent *agent)
{
    agent->cancelled = 1;
}

/* ---- steps ---- */

/* What is done in a state. */
typedef struct tcall_agent_task_ {
    int (*work)(tcall_agent *agent);
} tcall_agent_task_;

static const tcall_agent_task_ tcall_agent_tasks_[] = {
    {NULL},
    {NULL},
    {tcall_agent_open_},
    {tcall_agent_connect_},
    {tcall_agent_send_},
    {tcall_agent_read_},
    {tcall_agent_run_calls_}};

/* Do calls of a plan wait for their results? */
static bool tcall_agent_planned_(const tcall_agent *agent)
{
    return agent->turn.plan && agent->state == TCALL_AGENT_CALLS_;
}

/* Does the work of the state at hand. Returns TCALL_OK where it is done: the
 * state says what comes next. Calls that are under way look at limits
 * themselves: each of them has to get a result. */
static int tcall_agent_work_(tcall_agent *agent)
{
    int over = tcall_agent_over_(agent);
    if (over < 0 &&
        (agent->state != TCALL_AGENT_CALLS_ || tcall_agent_planned_(agent)))
        return over;
    return tcall_agent_tasks_[agent->state].work(agent);
}

/* Completes what the agent waits for: the transport says what it is for, where
 * nobody did it is a poll, and no wait is longer than the turn may be. */
static void tcall_agent_await_(tcall_agent *agent, int result)
{
    const tcall_transport *transport = &agent->desc.transport;
    const uint32_t spent = tcall_agent_now_(agent) - agent->turn.started;
    const uint32_t limit = agent->desc.max_ms;
    tcall_wait *wait = &agent->wait;
    if (tcall_agent_talks_(agent) && transport->wants)
        transport->wants(transport->user, wait);
    if (result == TCALL_E_AGAIN && !wait->count && wait->ms == TCALL_WAIT_NEVER)
        wait->ms = TCALL_WAIT_POLL_MS;
    if (limit)
        tcall_wait_ms(wait, spent < limit ? limit - spent : 0);
}

int tcall_agent_step(tcall_agent *agent)
{
    int result;
    if (!tcall_agent_open_to_(agent, TCALL_AGENT_OPEN_, TCALL_AGENT_CALLS_) ||
        (tcall_agent_planned_(agent) && !agent->cancelled))
        return TCALL_E_USAGE;
    agent->desc.tc->busy = agent->desc.tc;
    agent->wait.ms = TCALL_WAIT_NEVER;
    agent->wait.count = 0;
    result = tcall_agent_work_(agent);
    if (result < 0 && !tcall_waits_(result))
        result = tcall_agent_retry_(agent, result);
    if (tcall_waits_(result)) {
        tcall_agent_await_(agent, result);
    } else {
        agent->wait.ms = 0; /* there is more to do at once, or nothing */
        if (result < 0 || agent->state == TCALL_AGENT_IDLE_)
            result = tcall_agent_end_(agent, result);
        else if (!tcall_agent_planned_(agent))
            result = TCALL_E_AGAIN;
    }
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

int tcall_agent_plan(tcall_agent *agent, tcall_str text,
                     const tcall_picked *tools, int count)
{
    const bool goes_on = !text.len;
    int error = TCALL_OK, i;
    if (agent->state == TCALL_AGENT_UNSET_ ||
        (goes_on && !(agent->turn.plan && agent->state == TCALL_AGENT_OPEN_)) ||
        (!goes_on && tools && count < 0))
        return TCALL_E_USAGE;
    for (i = 0; !goes_on && tools && i < count; i++)
        if (tools[i].index >= agent->desc.tc->desc.tool_count)
            return TCALL_E_USAGE;
    if (!goes_on)
        error = tcall_agent_start_(agent, text, true, tools, count);
    if (error == TCALL_OK)
        error = tcall_agent_finish_(agent);
    return error < 0 ? error : agent->answer.calls;
}

#endif /* TOOLCALL_NO_AGENT */
