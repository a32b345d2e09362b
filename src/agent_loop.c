#pragma once
#include "agent.c"

/* ==========================================================================
 * >>agent_loop: a turn, step by step
 *
 * One turn is a walk through the states of an agent. A step is one of them, or
 * one piece of the body that goes out or comes in, or one call.
 *
 * The calls of an answer are run in batches, or, in a plan, answered by whoever
 * made it. Each gets one result, whatever becomes of the turn.
 */

#ifndef TOOLCALL_NO_AGENT

/* ---- limits ---- */

/* Without a clock no time ever passes: limits were refused at the start, and
 * nothing is sent again. */
static uint32_t tcall_agent_now_(const tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    return transport->now_ms ? transport->now_ms(transport->user) : 0;
}

/* Returns why no further round may begin, or TCALL_OK. */
static int tcall_agent_over_(const tcall_agent *agent)
{
    const tcall_agent_desc *desc = &agent->desc;
    if (agent->cancelled)
        return TCALL_E_CANCELLED;
    if (desc->max_ms &&
        tcall_agent_now_(agent) - agent->turn.started >= desc->max_ms)
        return TCALL_E_TIMEOUT;
    if (desc->max_turn_tokens && agent->turn.tokens >= desc->max_turn_tokens)
        return TCALL_E_LIMIT;
    return TCALL_OK;
}

/* After a lack of memory: says how large the block has to be for what comes
 * next, too: a quarter of it free, and room for calls as for what was said and
 * so many bytes more. */
static void tcall_agent_spare_(tcall_agent *agent, size_t more)
{
    tcall_block *block = &agent->desc.tc->block;
    size_t start = agent->chat.start, said = block->low - start + more;
    tcall_block_note_(block,
                      start + tcall_call_room_(&agent->desc.tc->desc, said));
    tcall_block_note_(block, block->need + (block->need - start) / 3);
}

/* ---- the calls of the last answer ---- */

/* Finds a call by its number or, where that is < 0, by its id. Returns its
 * number, or -1 if there is none. */
static int tcall_agent_find_(const tcall_agent *agent, int number, tcall_str id,
                             tcall_item *item)
{
    size_t at = agent->answer_at;
    int i = 0;
    for (; tcall_chat_next(&agent->chat, &at, item);
         i += item->kind == TCALL_ITEM_CALL)
        if (item->kind == TCALL_ITEM_CALL &&
            (number < 0 ? tcall_str_eq(item->id, id) : i == number))
            return i;
    return -1;
}

/* Makes of the item what tcall_hydrate is given. Returns false if there is no
 * such call. */
TCALL_NOINLINE_ static bool tcall_agent_asked_(const tcall_agent *agent,
                                               int number, tcall_call *call)
{
    tcall_item item;
    memset(call, 0, sizeof *call);
    if (tcall_agent_find_(agent, number, call->id, &item) < 0)
        return false;
    call->id = item.id;
    call->name = item.name;
    call->arguments = item.text;
    call->incomplete = item.error;
    call->provider = agent->desc.provider->name;
    call->by_model = true;
    call->turn = &agent->turn;
    call->turn_id = agent->turn.id;
    call->round = agent->turn.rounds;
    call->position = (uint16_t)(number + 1);
    return true;
}

/* Calls of an answer are in the conversation only until the next one begins. */
int tcall_agent_call(tcall_agent *agent, int index, tcall_call *call)
{
    int result;
    if (!tcall_agent_open_to_(agent, TCALL_AGENT_CALLS_, TCALL_AGENT_CALLS_) ||
        index < 0 || !tcall_agent_asked_(agent, index, call))
        return TCALL_E_USAGE;
    result = tcall_hydrate(agent->desc.tc, call);
    if (result == TCALL_E_MEMORY && agent->turn.plan)
        tcall_agent_spare_(agent, 0);
    return result;
}

/* ---- their results ---- */

/* Is it the MIME type of an image, as RFC 6838 names them? */
static bool tcall_is_image_type_(const char *type)
{
    return type && strncmp(type, "image/", 6) == 0 &&
           tcall_name_fits_(type + 6, "!#$&^+.", 127, false);
}

/* Adds an image to the conversation: of the result with this id, or of the
 * user. */
static int tcall_agent_add_image_(tcall_agent *agent, tcall_str id,
                                  const char *type, tcall_str bytes)
{
    const tcall_item item =
        tcall_item_of_(TCALL_ITEM_IMAGE, id, tcall_str_of(type), bytes);
    return tcall_chat_add(&agent->chat, &item);
}

/* The model sees the images that a tool has attached, in that order: they are a
 * list with the latest first. What else there is, is for programs. */
static int tcall_agent_add_attached_(tcall_agent *agent, const tcall_call *call)
{
    const tcall_attachment *done = NULL, *next;
    int error = TCALL_OK;
    while (error == TCALL_OK && done != call->cx.result.attached) {
        for (next = call->cx.result.attached; next->next != done;)
            next = next->next;
        done = next;
        if (tcall_is_image_type_(done->type) && done->bytes.len)
            error = tcall_agent_add_image_(agent, call->id, done->type,
                                           done->bytes);
    }
    return error;
}

/* Results stand in the order of their calls, whichever of these ended first:
 * moves what was added last, from this place on, before those of later calls.
 */
static void tcall_agent_place_(tcall_agent *agent, int number, size_t from)
{
    char *first = agent->chat.block->base + agent->chat.start;
    size_t at = agent->answer_at, next = at;
    tcall_item item, call;
    for (; at < from; at = next) {
        tcall_chat_next(&agent->chat, &next, &item);
        if (item.kind == TCALL_ITEM_RESULT &&
            tcall_agent_find_(agent, -1, item.id, &call) > number)
            break;
    }
    if (at < from)
        tcall_rotate_(first + at, first + from,
                      tcall_block_gap_(agent->chat.block));
}

/* Adds what came of a call to the conversation. A result belongs to its call by
 * the id; the name is for providers that want it once more. */
static int tcall_agent_deliver_(tcall_agent *agent, const tcall_call *call,
                                tcall_str text, int failed)
{
    tcall_item item =
        tcall_item_of_(TCALL_ITEM_RESULT, call->id, call->name, text);
    const size_t from = agent->chat.block->low - agent->chat.start;
    int error;
    item.error = failed;
    error = tcall_chat_add(&agent->chat, &item);
    if (error == TCALL_OK && call->is_agents)
        error = tcall_agent_add_attached_(agent, call);
    if (error < 0)
        return error;
    tcall_agent_place_(agent, call->position - 1, from);
    agent->call_at++;
    return TCALL_OK;
}

/* ---- calls go back as they were understood ----
 *
 * A call whose arguments were read leniently stands in the conversation as what
 * it was read as: the model must not see another call than the one that ran.
 * What cannot be read as an object goes back without arguments.
 */

/* Reads the arguments of the call that ends here, and puts what was read in
 * their place. Returns false where they cannot be read, or there is no room. */
static bool tcall_chat_reread_(tcall_chat *chat, tcall_item_head_ *head,
                               size_t end,
                               const struct tcall_lenience_ *lenient)
{
    const tcall_str text = tcall_head_part_(head, TCALL_PART_TEXT_);
    tcall_block *block = chat->block;
    char *behind = tcall_block_gap_(block);
    tcall_machine *machine;
    tcall_machine_desc desc;
    uint32_t fixes;
    size_t len;
    memset(&desc, 0, sizeof desc);
    desc.object = desc.for_c = true;
    machine = tcall_arguments_by_(lenient, block, &desc, text, &fixes);
    if (!machine || machine->error)
        return false;
    len = machine->len;
    memmove(behind, machine->text, len); /* the machine lies there */
    tcall_block_cut_(block, block->low + len);
    tcall_rotate_(block->base + end, behind, behind + len);
    tcall_chat_shift_(chat, end, end - text.len);
    tcall_head_set_len_(head, TCALL_PART_TEXT_, len);
    return true;
}

/* Mends the calls from this place of the chat on. Nothing may refer to its
 * items meanwhile. lenient: who reads them, NULL: they are read strictly. */
TCALL_SHARED_ void tcall_chat_mend_(tcall_chat *chat, size_t from,
                                    const struct tcall_lenience_ *lenient)
{
    size_t at = chat->start + from;
    while (at < chat->block->low) {
        tcall_item_head_ *head = tcall_head_at_(chat, at);
        const tcall_str text = tcall_head_part_(head, TCALL_PART_TEXT_);
        if (head->kind == TCALL_ITEM_CALL && text.len && !head->error &&
            (tcall_is_object_text_(text, chat->block) ||
             tcall_chat_reread_(chat, head, at + tcall_head_size_(head),
                                lenient)))
            head->flags |= TCALL_FLAG_OBJECT_;
        at += tcall_head_size_(head);
    }
}

/* All calls have their results, so that nothing refers to them any more: the
 * next round may begin. */
static void tcall_agent_complete_(tcall_agent *agent)
{
    tcall_chat_mend_(&agent->chat, agent->answer_at,
                     agent->desc.tc->desc.lenient);
    agent->state = TCALL_AGENT_OPEN_;
}

int tcall_agent_result(tcall_agent *agent, const tcall_call *call,
                       tcall_str text, bool error)
{
    tcall_item asked;
    int result;
    if (!tcall_agent_open_to_(agent, TCALL_AGENT_CALLS_, TCALL_AGENT_CALLS_) ||
        !agent->turn.plan || call->turn_id != agent->turn.id ||
        call->round != agent->turn.rounds ||
        tcall_agent_find_(agent, -1, call->id, &asked) !=
            (int)call->position - 1 ||
        tcall_chat_answers_(&agent->chat, agent->answer_at, call->id))
        return TCALL_E_USAGE;
    result = tcall_agent_deliver_(agent, call, text,
                                  error ? TCALL_E_FAILED : TCALL_OK);
    if (result < 0)
        tcall_agent_spare_(agent, 0);
    else if (agent->call_at == agent->answer.calls)
        tcall_agent_complete_(agent);
    return result;
}

/* ---- running them ---- */

/* Takes up the calls that come next, as many as may be under way. */
TCALL_NOINLINE_ static void tcall_agent_batch_(tcall_agent *agent)
{
    tcall *tc = agent->desc.tc;
    const size_t need = tc->block.need;
    int number, error;
    agent->current = -1;
    for (number = 0; agent->batch_count < agent->desc.parallel; number++) {
        tcall_call *call = &agent->batch[agent->batch_count];
        if (!tcall_agent_asked_(agent, number, call))
            break;
        if (tcall_chat_answers_(&agent->chat, agent->answer_at, call->id))
            continue;
        tc->breaker = tcall_breaker_;
        call->loops = agent->desc.allow_repeat ? NULL : &agent->room->loops;
        error = tcall_hydrate(tc, call);
        /* One that has no memory beside others waits until those before it are
         * done. */
        if (error == TCALL_E_MEMORY && agent->batch_count > 0) {
            tcall_let_go_(tc, call);
            tc->block.need = need;
            break;
        }
        /* It still gets a result, which says that the limit is reached. */
        agent->turn.calls++;
        if ((int)agent->turn.calls > agent->desc.max_calls ||
            agent->last_round || (agent->desc.no_parallel && number > 0))
            tcall_cancel(call, TCALL_E_LIMIT);
        call->is_agents = true;
        agent->batch_count++;
    }
}

/* Ends the batch, whatever becomes of the turn: calls that are under way come
 * to their end, and what they hold is released. */
TCALL_NOINLINE_ static void tcall_agent_batch_end_(tcall_agent *agent)
{
    int i;
    for (i = 0; i < agent->batch_count; i++) {
        tcall_call *call = &agent->batch[i];
        tcall_end_(call);
        tcall_block_release_(&agent->desc.tc->block, call->mark);
    }
    agent->batch_count = 0;
}

/* Lets a call go on. Its result is written where the item will lie, in three
 * quarters of the room that is free: the rest is for the call itself. Nobody
 * else may take that until the call has ended, or waits. Half of a result would
 * mislead the model: where the block is too small for it and holds no notice of
 * that, or too small for the call, the turn fails. */
TCALL_NOINLINE_ static int tcall_agent_turn_(tcall_agent *agent,
                                             tcall_call *call)
{
    tcall_block *block = &agent->desc.tc->block;
    const size_t head = TCALL_HEAD_ + call->id.len + call->name.len;
    const size_t need = block->need;
    tcall_loan_ loan;
    tcall_writer *out = &agent->out;
    size_t room, wanted;
    int result;
    if (!tcall_block_room_(block, head))
        return TCALL_E_MEMORY;
    room = tcall_block_free_(block) - head;
    room -= room / 4;
    tcall_writer_init(out, tcall_block_gap_(block) + head, room);
    block->need = 0;
    loan = tcall_block_lend_(block, head + room);
    result = tcall_invoke(agent->desc.tc, call, out);
    tcall_block_unlend_(block, loan, head + out->fill);
    call->cx.wait_began = tcall_agent_now_(agent);
    if (block->need) /* it has a quarter of what is missing */
        block->need += 3 * (block->need - block->size);
    tcall_block_note_(block, need);
    if (tcall_waits_(result))
        return result;
    wanted = call->error < 0 || !out->fill ? call->cx.wanted : 0;
    if (!wanted &&
        (call->error != TCALL_E_MEMORY || block->need <= block->size))
        return tcall_agent_deliver_(
            agent, call, tcall_slice_(out->buf, out->fill), call->error);
    wanted = head + (wanted ? wanted : out->len);
    tcall_agent_spare_(agent, (size_t)agent->batch_count * wanted);
    return TCALL_E_MEMORY;
}

/* Does the call go on now? One that only waits for a time is left alone until
 * then: the agent may be called more often than it has to. Nobody knows when a
 * verdict is there. */
static bool tcall_agent_due_(const tcall_agent *agent, const tcall_call *call)
{
    const tcall_ctx *cx = &call->cx;
    return !cx->state || cx->stop < 0 || cx->asks || cx->wait.count ||
           !agent->desc.transport.now_ms || !cx->wait.ms;
}

/* Shortens the wait of a call by the time that has passed. */
static void tcall_agent_pass_(const tcall_agent *agent, tcall_ctx *cx)
{
    const uint32_t now = tcall_agent_now_(agent), spent = now - cx->wait_began;
    cx->wait_began = now;
    if (cx->wait.ms != TCALL_WAIT_NEVER)
        cx->wait.ms -= spent < cx->wait.ms ? spent : cx->wait.ms;
}

/* Lets the next call of the batch go on, if it is due. Where the turn is over
 * it is told so, and still gets its result: each call must have one. Returns
 * TCALL_OK where all have ended. Where the last of those that have not has had
 * its chance, the turn waits as they do: for approval where all of them do. */
TCALL_NOINLINE_ static int tcall_agent_next_(tcall_agent *agent, int over)
{
    int open = 0, asking = 0, last = 0, result = TCALL_E_AGAIN, i;
    tcall_call *call;
    do {
        agent->current = (agent->current + 1) % agent->batch_count;
        call = &agent->batch[agent->current];
    } while (call->cx.state == TCALL_DONE_);
    if (over < 0)
        tcall_cancel(call, over);
    tcall_agent_pass_(agent, &call->cx);
    if (tcall_agent_due_(agent, call))
        result = tcall_agent_turn_(agent, call);
    if (result < 0 && !tcall_waits_(result))
        return result;
    for (i = 0; i < agent->batch_count; i++) {
        tcall_ctx *cx = &agent->batch[i].cx;
        if (cx->state == TCALL_DONE_)
            continue;
        tcall_agent_pass_(agent, cx);
        tcall_wait_merge(&agent->wait, &cx->wait);
        asking += cx->asks;
        open++;
        last = i;
    }
    if (agent->current < last)
        return tcall_wait_ms(&agent->wait, 0);
    if (open == 0)
        return TCALL_OK;
    return asking == open ? TCALL_E_APPROVAL : TCALL_E_AGAIN;
}

/* Runs one call for a while; after the last one the next round begins. */
TCALL_NOINLINE_ static int tcall_agent_run_calls_(tcall_agent *agent)
{
    const int over = tcall_agent_over_(agent);
    int result = TCALL_OK;
    if (!agent->batch_count)
        tcall_agent_batch_(agent);
    if (agent->batch_count)
        result = tcall_agent_next_(agent, over);
    if (result < 0)
        return result;
    tcall_agent_batch_end_(agent);
    if (agent->call_at < agent->answer.calls)
        return TCALL_OK;
    tcall_agent_complete_(agent);
    return over == TCALL_OK && agent->last_round ? (int)TCALL_E_LIMIT : over;
}

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
    if (room >= all / 4 + more)
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
    const tcall_item item = {TCALL_ITEM_USER, 0,         0,   {NULL, 0},
                             {NULL, 0},       {NULL, 0}, text};
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

/* A server that cuts what it was not told to hold is told once, with room for
 * what follows: another number would make it load the model anew. Returns
 * whether the request has changed. A token is taken to have 3 bytes, and an
 * image few tokens. */
static bool tcall_agent_widen_(tcall_agent *agent)
{
    const tcall_agent_desc *desc = &agent->desc;
    long text = (long)agent->out.len, need;
    size_t at = 0;
    tcall_item item;
    if (!(desc->provider->quirks & TCALL_QUIRK_SAY_CONTEXT))
        return false;
    while (tcall_chat_next(&agent->chat, &at, &item))
        if (item.kind == TCALL_ITEM_IMAGE)
            text -= (long)((item.text.len + 2) / 3 * 4);
    need = text / 3 + (desc->max_tokens > 0 ? desc->max_tokens : 1024);
    if (need <= agent->context)
        return false;
    if (!agent->context) {
        agent->context = 4096;
        need *= 2;
    }
    while (agent->context < need)
        agent->context *= 2;
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
    /* By tcall_stop. Calls that are asked for are none that can be read. */
    static const int8_t stops[] = {TCALL_OK,          TCALL_OK,
                                   TCALL_E_UNHANDLED, TCALL_E_LENGTH,
                                   TCALL_E_REFUSED,   TCALL_E_UNHANDLED};
    if (answer->calls)
        return TCALL_OK;
    if (stops[answer->stop] < 0)
        return stops[answer->stop];
    if (answer->pending)
        return TCALL_E_QUEUED;
    if (answer->has_text)
        return TCALL_OK;
    return answer->unread ? TCALL_E_UNHANDLED : TCALL_E_EMPTY;
}

/* Takes the answer over from the reader. Returns why it is none, or TCALL_OK.
 */
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
    return broken;
}

/* What a provider does not count is below zero; more than fits is the limit. */
static void tcall_turn_spend_(tcall_turn *turn, long tokens)
{
    const uint32_t room = UINT32_MAX - turn->tokens;
    if (tokens > 0)
        turn->tokens += (unsigned long)tokens < room ? (uint32_t)tokens : room;
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

/* The answer is complete: goes on with its calls, or ends the turn. One that
 * did not end by itself stays in the conversation for its words. */
TCALL_NOINLINE_ static int tcall_agent_take_(tcall_agent *agent)
{
    const tcall_answer *answer = &agent->answer;
    const int broken = tcall_agent_judge_(agent);
    const int error = broken < 0 ? broken : tcall_answer_ending_(answer);
    tcall_agent_tell_(agent, TCALL_EVENT_ANSWER, agent->received,
                      tcall_str_of(answer->message), error);
    if (broken < 0 || (error < 0 && !answer->has_text))
        return error;
    tcall_agent_close_(agent);
    agent->reconnected = false;
    agent->turn.rounds++;
    agent->tries = 0;
    tcall_turn_spend_(&agent->turn, answer->input_tokens);
    tcall_turn_spend_(&agent->turn, answer->output_tokens);
    agent->call_at = 0;
    agent->state = answer->calls ? TCALL_AGENT_CALLS_ : TCALL_AGENT_IDLE_;
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
    return tcall_agent_recheck_(agent);
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
