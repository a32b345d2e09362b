#pragma once
#include "agent.h"
#include "hooks.c"
#include "answer_items.c"
#include "mend.c"
#include "agent_desc.c"

/* ==========================================================================
 * >>agent_calls: the calls of an answer get their results
 *
 * They are run in batches, or, in a plan, answered by whoever made it. Each
 * call gets one result, whatever becomes of the turn.
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

/* Without a clock no time ever passes: limits were refused at the start, and
 * nothing is sent again. */
TCALL_SHARED_ uint32_t tcall_agent_now_(const tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    return transport->now_ms ? transport->now_ms(transport->user) : 0;
}

/* Is the agent at work, or its registry? Who is called then only looks. */
TCALL_SHARED_ bool tcall_agent_busy_(const tcall_agent *agent)
{
    return agent->state != TCALL_AGENT_UNSET_ && tcall_is_busy_(agent->desc.tc);
}

/* Returns why no further round may begin, or TCALL_OK. */
TCALL_SHARED_ int tcall_agent_over_(const tcall_agent *agent)
{
    uint32_t limit = agent->desc.max_ms;
    if (agent->cancelled)
        return TCALL_E_CANCELLED;
    if (limit && tcall_agent_now_(agent) - agent->turn.started >= limit)
        return TCALL_E_TIMEOUT;
    if (agent->desc.max_turn_tokens &&
        agent->turn.tokens >= agent->desc.max_turn_tokens)
        return TCALL_E_LIMIT;
    return TCALL_OK;
}

/* ---- room for the turn ---- */

/* After a lack of memory: says how large the block has to be for what comes
 * next, too: a quarter of it free, and room for calls as for what was said and
 * so many bytes more. */
TCALL_SHARED_ void tcall_agent_spare_(tcall_agent *agent, size_t more)
{
    tcall_block *block = &agent->desc.tc->block;
    size_t start = agent->chat.start, said = block->low - start + more;
    tcall_block_note_(block, block->need + (block->need - start) / 3);
    tcall_block_note_(block,
                      start + tcall_call_room_(&agent->desc.tc->desc, said));
}

/* ---- the calls of the answer ---- */

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
    call->turn = &agent->turn;
    call->turn_id = agent->turn.id;
    call->round = agent->turn.rounds;
    call->position = (uint16_t)(index + 1);
    return true;
}

/* Calls of an answer are in the conversation only until the next one begins. */
int tcall_agent_call(tcall_agent *agent, int index, tcall_call *call)
{
    bool answered = agent->state == TCALL_AGENT_CALLS_ ||
                    agent->state == TCALL_AGENT_PLANNED_;
    int result;
    if (!answered || tcall_agent_busy_(agent) || index < 0 ||
        !tcall_agent_asked_(agent, index, call))
        return TCALL_E_USAGE;
    result = tcall_hydrate(agent->desc.tc, call);
    if (result == TCALL_E_MEMORY && agent->turn.plan)
        tcall_agent_spare_(agent, 0);
    return result;
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
                     agent->desc.tc->desc.lenient);
}

/* Which call of the last answer has this id. */
static int tcall_agent_position_(const tcall_agent *agent, tcall_str id)
{
    size_t at = agent->answer_at;
    int position = 0;
    tcall_item item;
    while (tcall_chat_next(&agent->chat, &at, &item) &&
           !tcall_str_eq(item.id, id))
        position += item.kind == TCALL_ITEM_CALL;
    return position;
}

/* Results stand in the order of their calls, whichever of these ended first:
 * moves what was added last, from this place on, before those of later calls.
 */
static void tcall_agent_place_(tcall_agent *agent, tcall_str id, size_t from)
{
    char *first = agent->chat.block->base + agent->chat.start;
    int position = tcall_agent_position_(agent, id);
    size_t at = agent->answer_at, next = at;
    tcall_item item;
    for (; at < from; at = next) {
        tcall_chat_next(&agent->chat, &next, &item);
        if (item.kind == TCALL_ITEM_RESULT &&
            tcall_agent_position_(agent, item.id) > position)
            break;
    }
    if (at < from)
        tcall_rotate_(first + at, first + from,
                      tcall_block_gap_(agent->chat.block));
    agent->call_at++;
}

int tcall_agent_result(tcall_agent *agent, const tcall_call *call,
                       tcall_str text, bool error)
{
    tcall_item asked;
    size_t from;
    int result;
    if (agent->state != TCALL_AGENT_PLANNED_ || tcall_agent_busy_(agent) ||
        call->turn_id != agent->turn.id || call->round != agent->turn.rounds ||
        !tcall_agent_find_call_(agent, call->position - 1, &asked) ||
        !tcall_str_eq(asked.id, call->id) ||
        tcall_chat_answers_(&agent->chat, agent->answer_at, asked.id))
        return TCALL_E_USAGE;
    from = agent->chat.block->low - agent->chat.start;
    result = tcall_agent_add_result_(agent, call, text,
                                     error ? TCALL_E_FAILED : TCALL_OK);
    if (result < 0) {
        tcall_agent_spare_(agent, 0);
        return result;
    }
    tcall_agent_place_(agent, asked.id, from);
    if (agent->call_at == (size_t)agent->answer.calls) {
        tcall_agent_mend_(agent);
        agent->state = TCALL_AGENT_OPEN_;
    }
    return TCALL_OK;
}

/* Room for so many calls at a time: in the block, or for one in the agent. */
static int tcall_agent_batch_room_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    int left = agent->answer.calls - (int)agent->call_at;
    int count = agent->desc.parallel < left ? agent->desc.parallel : left;
    agent->batch_mark = tcall_block_mark_(block);
    agent->batch = NULL;
    if (count > 1 && agent->batch_mark)
        agent->batch = (tcall_call *)tcall_block_take_(
            block, (size_t)count * sizeof *agent->batch);
    if (!agent->batch) {
        agent->batch = &agent->call;
        count = 1;
    }
    return count;
}

/* Takes up the calls that come next, as many as may be under way. */
TCALL_NOINLINE_ static void tcall_agent_batch_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    size_t need = block->need;
    int room = tcall_agent_batch_room_(agent), count = 0, index, error;
    for (index = 0; count < room; index++) {
        tcall_call *call = &agent->batch[count];
        if (!tcall_agent_asked_(agent, index, call))
            break;
        if (tcall_chat_answers_(&agent->chat, agent->answer_at, call->id))
            continue;
        agent->desc.tc->breaker = tcall_breaker_;
        call->loops = agent->desc.allow_repeat ? NULL : &agent->loops;
        error = tcall_hydrate(agent->desc.tc, call);
        /* One that has no memory beside others waits until those before it are
         * done. */
        if (error == TCALL_E_MEMORY && count > 0) {
            tcall_let_go_(agent->desc.tc, call);
            block->need = need;
            break;
        }
        /* It still gets a result, which says that the limit is reached. */
        if ((int)++agent->turn.calls > agent->desc.max_calls ||
            agent->last_round || (agent->desc.no_parallel && index > 0))
            tcall_cancel(call, TCALL_E_LIMIT);
        call->is_agents = true;
        count++;
    }
    agent->batch_count = count;
    agent->current = agent->waiting = 0;
}

/* Is it the MIME type of an image? */
TCALL_SHARED_ bool tcall_is_image_type_(const char *type)
{
    size_t i;
    if (!type || strncmp(type, "image/", 6) != 0)
        return false;
    for (i = 6; type[i] > ' ' && type[i] < 0x7F && !strchr("\"\\<>;,", type[i]);
         i++)
        ;
    return i > 6 && !type[i];
}

/* Adds an image to the conversation: of the result with this id, or of the
 * user. */
TCALL_SHARED_ int tcall_agent_add_image_(tcall_agent *agent, tcall_str id,
                                         const char *type, tcall_str bytes)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_IMAGE;
    item.id = id;
    item.name = tcall_str_of(type);
    item.text = bytes;
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

/* Adds what came of a call to the conversation. */
static int tcall_agent_deliver_(tcall_agent *agent, const tcall_call *call,
                                tcall_str text)
{
    size_t from = agent->chat.block->low - agent->chat.start;
    int error = tcall_agent_add_result_(agent, call, text, call->error);
    if (error == TCALL_OK)
        error = tcall_agent_add_attached_(agent, call);
    if (error == TCALL_OK)
        tcall_agent_place_(agent, call->id, from);
    return error;
}

/* Returns how many calls of the batch have not ended. */
static int tcall_agent_open_calls_(const tcall_agent *agent)
{
    int open = 0, i;
    for (i = 0; i < agent->batch_count; i++)
        open += agent->batch[i].cx.state != TCALL_DONE_;
    return open;
}

/* Returns TCALL_E_MEMORY where the call failed because the block is too small,
 * or its result could not be told: half of one would mislead the model. */
static int tcall_agent_lacks_(tcall_agent *agent, const tcall_call *call,
                              size_t head)
{
    tcall_block *block = &agent->desc.tc->block;
    size_t wanted = call->cx.wanted;
    size_t left = (size_t)tcall_agent_open_calls_(agent) + 1;
    bool noticed = call->error >= 0 && agent->out.fill;
    if (wanted && !noticed) { /* a quarter of the room is for the call */
        size_t size = head + wanted + wanted / 3 + 8;
        tcall_block_note_(block, block->low + block->high + size);
    } else if (call->error != TCALL_E_MEMORY || block->need <= block->size) {
        return TCALL_OK;
    }
    if (wanted < agent->out.len)
        wanted = agent->out.len;
    tcall_agent_spare_(agent, left * (head + wanted));
    return TCALL_E_MEMORY;
}

/* Lets a call go on, while nobody else may take the room where it writes. Where
 * it lacks more, need is so large that a quarter of that is free. */
static int tcall_agent_invoke_(tcall_agent *agent, tcall_call *call,
                               size_t taken)
{
    tcall_block *block = &agent->desc.tc->block;
    size_t before = block->need;
    int result;
    block->need = 0;
    tcall_block_lend_(block, taken);
    result = tcall_invoke(agent->desc.tc, call, &agent->out);
    tcall_block_unlend_(block, block->lent - taken);
    if (block->need)
        block->need += 3 * (block->need - block->size);
    tcall_block_note_(block, before);
    return result;
}

/* Gives one call of the batch its turn. The result is written where its item
 * will lie. */
TCALL_NOINLINE_ static int tcall_agent_turn_(tcall_agent *agent, int over)
{
    tcall_block *block = &agent->desc.tc->block;
    tcall_call *call = &agent->batch[agent->current];
    size_t head = TCALL_HEAD_ + call->id.len + call->name.len, room;
    tcall_writer *out = &agent->out;
    int result, lack;
    if (over < 0)
        tcall_cancel(call, over);
    if (!tcall_block_room_(block, head))
        return TCALL_E_MEMORY;
    /* A quarter of what is free is for the call itself. */
    room = tcall_block_free_(block) - head;
    room -= room / 4;
    tcall_writer_init(out, tcall_block_gap_(block) + head, room);
    result = tcall_agent_invoke_(agent, call, head + room);
    if (tcall_waits_(result))
        return result;
    lack = tcall_agent_lacks_(agent, call, head);
    if (lack < 0)
        return lack;
    return tcall_agent_deliver_(agent, call, tcall_slice_(out->buf, out->fill));
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
 * called more often than it has to. Nobody knows when a verdict is there. */
static bool tcall_agent_due_(const tcall_agent *agent, const tcall_call *call)
{
    const tcall_ctx *cx = &call->cx;
    if (!cx->state || cx->stop < 0 || cx->asks || cx->wait.count ||
        !agent->desc.transport.now_ms)
        return true;
    return tcall_agent_now_(agent) - cx->wait_began >= cx->wait.ms;
}

/* Turns to the next call of the batch that is not done. Only where all of them
 * wait, so does the turn: for approval where all of them do that. */
static int tcall_agent_rotate_(tcall_agent *agent, int result)
{
    int open = tcall_agent_open_calls_(agent), asking = 0, i;
    do
        agent->current = (agent->current + 1) % agent->batch_count;
    while (agent->batch[agent->current].cx.state == TCALL_DONE_);
    agent->waiting = tcall_waits_(result) ? agent->waiting + 1 : 0;
    if (agent->waiting < open)
        return TCALL_E_AGAIN;
    for (i = 0; i < agent->batch_count; i++)
        if (agent->batch[i].cx.state != TCALL_DONE_) {
            tcall_agent_await_(agent, &agent->batch[i]);
            asking += agent->batch[i].cx.asks;
        }
    agent->waiting = 0;
    return asking == open ? TCALL_E_APPROVAL : TCALL_E_AGAIN;
}

/* Gives back what the batch took. */
static void tcall_agent_batch_end_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    int i;
    for (i = 0; i < agent->batch_count; i++)
        tcall_block_release_(block, agent->batch[i].mark);
    tcall_block_release_(block, agent->batch_mark);
    agent->batch_mark = 0;
    agent->batch_count = 0;
}

/* All of the batch have their results: takes up the next calls, or begins the
 * next round. */
static int tcall_agent_batch_done_(tcall_agent *agent, int over)
{
    tcall_agent_batch_end_(agent);
    if (agent->call_at < (size_t)agent->answer.calls)
        return TCALL_E_AGAIN;
    tcall_agent_mend_(agent);
    if (over < 0 || agent->last_round)
        return over < 0 ? over : TCALL_E_LIMIT;
    agent->state = TCALL_AGENT_OPEN_;
    return TCALL_E_AGAIN;
}

/* Runs one call for a while. Where the turn is over, calls that are under way
 * are told so and still get their results: each call must have one. */
TCALL_NOINLINE_ TCALL_SHARED_ int tcall_agent_run_call_(tcall_agent *agent)
{
    int over = tcall_agent_over_(agent), result;
    tcall_call *call;
    if (!agent->batch_count)
        tcall_agent_batch_(agent);
    if (!agent->batch_count)
        return tcall_agent_batch_done_(agent, over);
    call = &agent->batch[agent->current];
    result = TCALL_E_AGAIN;
    if (over < 0 || tcall_agent_due_(agent, call)) {
        result = tcall_agent_turn_(agent, over);
        call->cx.wait_began = tcall_agent_now_(agent);
    }
    if (result < 0 && !tcall_waits_(result))
        return result;
    return tcall_agent_open_calls_(agent)
               ? tcall_agent_rotate_(agent, result)
               : tcall_agent_batch_done_(agent, over);
}

/* Calls that are under way come to their end, whatever becomes of the turn:
 * what they hold is released. Nobody reads their results. */
TCALL_NOINLINE_ TCALL_SHARED_ void tcall_agent_drop_calls_(tcall_agent *agent)
{
    int i;
    for (i = 0; i < agent->batch_count; i++) {
        tcall_call *call = &agent->batch[i];
        if (call->cx.end)
            call->cx.end(call);
    }
    tcall_agent_batch_end_(agent);
}

#endif /* TOOLCALL_NO_AGENT */
