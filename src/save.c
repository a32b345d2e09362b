#pragma once
#include "save.h"
#include "agent_loop.c"

/* ==========================================================================
 * >>save
 *
 * The bytes are described once, for both ways: a function for a number, a text,
 * an item and so on writes what it is given, or gives what is read. Numbers
 * have seven bits a byte, the lowest first; a text comes after its length. Last
 * is a sum of all bytes: memory that lost its power while it was written must
 * not become a conversation.
 */

#ifndef TOOLCALL_NO_AGENT

static const char tcall_save_mark_[] = "tcall2";

/* What a turn waits for; one more says that it is a plan. */
enum {
    TCALL_SAVE_REST_,     /* no turn is under way */
    TCALL_SAVE_CALLS_,    /* calls have no result: they are to run, or wait for
                           * tcall_agent_result */
    TCALL_SAVE_ASKS_ = 3, /* a request has no answer */
    TCALL_SAVE_COUNT_ = 5
};

/* The result of a call that was under way. */
static const char tcall_save_cut_[] =
    "{\"success\":false,\"error\":\"cut off while it ran: look whether it had "
    "its effect before you repeat it\",\"error_type\":\"cancelled\",\"code\":"
    "\"cancelled\",\"ran\":true}";

/* In front of each item. */
enum {
    TCALL_SAVE_END_, /* there is none */
    TCALL_SAVE_ITEM_,
    TCALL_SAVE_ANSWER_ /* the first one of the last answer */
};

/* ---- both ways ---- */

/* Where bytes go to, or come from. */
typedef struct tcall_saved_ {
    tcall_writer *out; /* NULL: they are read */
    tcall_str rest;    /* to be read */
    uint32_t sum;      /* of the bytes so far */
    bool damaged;      /* they end too early, or are not those they must be */
    bool users;        /* the last item read is of the user's side */
} tcall_saved_;

/* Returns these bytes, or those read in their place: none beyond the end. */
static tcall_str tcall_saved_bytes_(tcall_saved_ *saved, tcall_str bytes)
{
    if (saved->out) {
        tcall_write_bytes(saved->out, bytes.ptr, bytes.len);
    } else {
        saved->damaged = saved->damaged || bytes.len > saved->rest.len;
        if (saved->damaged)
            return tcall_slice_(NULL, 0);
        bytes.ptr = saved->rest.ptr;
        saved->rest.ptr += bytes.len;
        saved->rest.len -= bytes.len;
    }
    saved->sum = tcall_hash_more_(saved->sum, bytes);
    return bytes;
}

/* Writes bytes, or reads bytes that have to be the same. */
static void tcall_saved_same_(tcall_saved_ *saved, tcall_str bytes)
{
    const tcall_str same = tcall_saved_bytes_(saved, bytes);
    saved->damaged = saved->damaged || !tcall_str_eq(same, bytes);
}

/* The sum of all bytes before it, the lowest first. */
static void tcall_saved_sum_(tcall_saved_ *saved)
{
    char bytes[sizeof saved->sum];
    size_t i;
    for (i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(saved->sum >> 8 * i);
    tcall_saved_same_(saved, tcall_slice_(bytes, sizeof bytes));
}

static uint32_t tcall_saved_number_(tcall_saved_ *saved, uint32_t number)
{
    uint32_t same = 0;
    int shift;
    for (shift = 0; shift < 32; shift += 7) {
        const uint32_t rest = number >> shift;
        char byte = (char)((rest & 0x7F) | (rest > 0x7F ? 0x80 : 0));
        const tcall_str one = tcall_saved_bytes_(saved, tcall_slice_(&byte, 1));
        byte = one.len ? *one.ptr : (char)0;
        same |= (uint32_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return same;
    }
    saved->damaged = true;
    return 0;
}

static tcall_str tcall_saved_text_(tcall_saved_ *saved, tcall_str text)
{
    text.len = tcall_saved_number_(saved, (uint32_t)text.len);
    return tcall_saved_bytes_(saved, text);
}

/* What the turn waits for, which is returned, and numbers of the agent. */
static uint32_t tcall_saved_head_(tcall_saved_ *saved, tcall_agent *agent,
                                  uint32_t waits)
{
    tcall_turn *turn = &agent->turn;
    waits = tcall_saved_number_(saved, waits);
    agent->chat.made = tcall_saved_number_(saved, agent->chat.made);
    turn->id = tcall_saved_number_(saved, turn->id);
    turn->rounds = (uint16_t)tcall_saved_number_(saved, turn->rounds);
    turn->calls = (uint16_t)tcall_saved_number_(saved, turn->calls);
    turn->tokens = tcall_saved_number_(saved, turn->tokens);
    agent->setting = tcall_saved_number_(saved, agent->setting);
    agent->picked = tcall_saved_number_(saved, agent->picked) != 0;
    return waits;
}

/* The bytes of an image are elsewhere. */
static void tcall_saved_item_(tcall_saved_ *saved, tcall_item *item)
{
    int part;
    if (item->kind == TCALL_ITEM_IMAGE)
        item->text.len = 0;
    item->kind = (uint8_t)tcall_saved_number_(saved, item->kind);
    item->error = -(int)tcall_saved_number_(saved, (uint32_t)-item->error);
    item->flags = (uint8_t)tcall_saved_number_(saved, item->flags);
    for (part = 0; part < TCALL_PARTS_; part++) {
        tcall_str *text = tcall_item_part_(item, part);
        *text = tcall_saved_text_(saved, *text);
    }
}

/* ---- out ---- */

static void tcall_save_item_(tcall_saved_ *saved, tcall_item item,
                             uint32_t begins)
{
    tcall_saved_number_(saved, begins);
    tcall_saved_item_(saved, &item);
}

/* Writes the items of the conversation. */
static void tcall_save_items_(tcall_saved_ *saved, const tcall_agent *agent)
{
    size_t at = 0, next = 0;
    tcall_item item;
    for (; tcall_chat_next(&agent->chat, &next, &item); at = next) {
        if (agent->state == TCALL_AGENT_READ_ && at >= agent->answer_at)
            break; /* the answer is not whole: it is asked for again */
        tcall_save_item_(saved, item,
                         at == agent->answer_at ? TCALL_SAVE_ANSWER_
                                                : TCALL_SAVE_ITEM_);
    }
}

/* A call that has begun must not begin again after a restart, whose tool may
 * have had its effect: what is known of it now is its result then. */
static void tcall_save_begun_(tcall_saved_ *saved, const tcall_agent *agent)
{
    const tcall_call *call = agent->batch;
    int i;
    for (i = 0; i < agent->batch_count; i++, call++) {
        const tcall_ctx *cx = &call->cx;
        tcall_item item =
            tcall_item_of_(TCALL_ITEM_RESULT, call->id, call->name,
                           tcall_settled_(cx) ? cx->result.output
                                              : tcall_str_of(tcall_save_cut_));
        item.error =
            tcall_settled_(cx) ? cx->result.error : (int)TCALL_E_CANCELLED;
        if (!tcall_chat_answers_(&agent->chat, agent->answer_at, call->id) &&
            (tcall_settled_(cx) ||
             (cx->result.ran && !cx->approval_asked && !tcall_repeatable_(cx))))
            tcall_save_item_(saved, item, TCALL_SAVE_ITEM_);
    }
}

/* Writes the offer by names: the table may be another one after a restart. */
static void tcall_save_offer_(tcall_saved_ *saved, const tcall_agent *agent)
{
    const tcall *tc = agent->desc.tc;
    size_t i;
    tcall_saved_number_(saved, (uint32_t)tcall_agent_tools_(agent));
    for (i = 0; i < tc->desc.tool_count; i++)
        if (TCALL_BIT_OF_(tc->offer, i))
            tcall_saved_text_(saved, tcall_str_of(tc->desc.tools[i].name));
}

/* Returns what the turn waits for. */
static uint32_t tcall_save_waits_(const tcall_agent *agent)
{
    const bool calls = agent->state == TCALL_AGENT_CALLS_;
    if (agent->state == TCALL_AGENT_IDLE_)
        return TCALL_SAVE_REST_;
    return (uint32_t)(calls ? TCALL_SAVE_CALLS_ : TCALL_SAVE_ASKS_) +
           agent->turn.plan;
}

int tcall_agent_save(const tcall_agent *agent, tcall_writer *out)
{
    tcall_saved_ saved = {out, {NULL, 0}, TCALL_HASH_EMPTY_, false, false};
    const tcall *outer;
    if (agent->state == TCALL_AGENT_UNSET_)
        return TCALL_E_USAGE;
    outer = agent->desc.tc->busy;
    agent->desc.tc->busy = agent->desc.tc; /* out may call the program */
    tcall_saved_same_(&saved, tcall_str_of(tcall_save_mark_));
    /* what is written stays as it is */
    tcall_saved_head_(&saved, (tcall_agent *)(uintptr_t)agent,
                      tcall_save_waits_(agent));
    tcall_save_offer_(&saved, agent);
    tcall_save_items_(&saved, agent);
    tcall_save_begun_(&saved, agent);
    tcall_saved_number_(&saved, TCALL_SAVE_END_);
    tcall_saved_sum_(&saved);
    agent->desc.tc->busy = outer;
    return out->error;
}

/* ---- in ---- */

/* Tools that are gone, or permitted no more, are not offered. */
static void tcall_load_offer_(tcall_saved_ *saved, tcall *tc)
{
    uint32_t count = tcall_saved_number_(saved, 0);
    memset(tc->offer, 0, tcall_agent_offer_size_(&tc->desc));
    for (; count && !saved->damaged; count--) {
        const tcall_tool *tool =
            tcall_find(tc, tcall_saved_text_(saved, tcall_slice_(NULL, 0)));
        if (tool && !tcall_withheld_(tc, tool))
            tcall_set_bit_(tc->offer, (size_t)(tool - tc->desc.tools), true);
    }
}

/* May the item stand here? All calls have one result each, right behind the
 * answer that they are of, before anything else is said. */
static bool tcall_load_fits_(const tcall_saved_ *saved,
                             const tcall_agent *agent, const tcall_item *item)
{
    const bool open = agent->call_at < agent->answer.calls;
    const bool next = tcall_item_opens_(item) ||
                      (saved->users && !tcall_is_users_(item->kind));
    tcall_str id = item->id;
    return !(open && next) && (item->kind != TCALL_ITEM_RESULT ||
                               tcall_chat_asked_(&agent->chat, &id));
}

/* Adds one item, as any other that enters the conversation. */
static int tcall_load_item_(tcall_saved_ *saved, tcall_agent *agent,
                            uint32_t begins)
{
    tcall_chat *chat = &agent->chat;
    tcall_item item;
    memset(&item, 0, sizeof item);
    tcall_saved_item_(saved, &item);
    if (saved->damaged || item.kind > TCALL_ITEM_IMAGE ||
        !tcall_load_fits_(saved, agent, &item))
        return TCALL_E_PROTOCOL;
    if (begins == TCALL_SAVE_ANSWER_) {
        agent->answer_at = chat->block->low - chat->start;
        agent->answer.calls -= agent->call_at;
        agent->call_at = 0;
    }
    if (item.kind == TCALL_ITEM_USER)
        agent->question = chat->block->low - chat->start;
    agent->answer.calls += item.kind == TCALL_ITEM_CALL;
    agent->call_at += item.kind == TCALL_ITEM_RESULT;
    saved->users = tcall_is_users_(item.kind);
    chat->edited = chat->edited || item.kind == TCALL_ITEM_IMAGE;
    return tcall_chat_add(chat, &item);
}

/* Takes up the turn where it was left: calls wait in it, and only there. */
static int tcall_load_turn_(tcall_agent *agent, uint32_t waits)
{
    const bool open = agent->call_at < agent->answer.calls;
    const bool calls = waits != TCALL_SAVE_REST_ && waits < TCALL_SAVE_ASKS_;
    const bool plan =
        waits == TCALL_SAVE_CALLS_ + 1 || waits == TCALL_SAVE_ASKS_ + 1;
    if (waits >= TCALL_SAVE_COUNT_ || (open ? !calls : calls && plan))
        return TCALL_E_PROTOCOL;
    memset(&agent->room->loops, 0, sizeof agent->room->loops);
    if (waits == TCALL_SAVE_REST_)
        return TCALL_OK;
    tcall_agent_begin_(agent, calls ? TCALL_AGENT_CALLS_ : TCALL_AGENT_OPEN_,
                       plan, tcall_slice_(NULL, 0));
    return calls && plan ? TCALL_OK : TCALL_E_AGAIN;
}

int tcall_agent_load(tcall_agent *agent, tcall_str bytes)
{
    tcall_saved_ saved = {NULL, bytes, TCALL_HASH_EMPTY_, false, true};
    tcall *tc = agent->desc.tc;
    uint32_t waits, begins;
    int error = TCALL_OK;
    if (!tcall_agent_open_to_(agent, TCALL_AGENT_IDLE_, TCALL_AGENT_IDLE_))
        return TCALL_E_USAGE;
    tc->busy = tc;
    tcall_block_cut_(&tc->block, agent->chat.start);
    tcall_chat_init(&agent->chat, &tc->block);
    agent->answer_at = agent->question = 0;
    agent->answer.calls = agent->call_at = 0;
    agent->turn.plan = false;
    tcall_saved_same_(&saved, tcall_str_of(tcall_save_mark_));
    waits = tcall_saved_head_(&saved, agent, 0);
    tcall_load_offer_(&saved, tc);
    while (error == TCALL_OK &&
           (begins = tcall_saved_number_(&saved, 0)) != TCALL_SAVE_END_)
        error = tcall_load_item_(&saved, agent, begins);
    if (error == TCALL_OK) {
        tcall_saved_sum_(&saved);
        error = saved.damaged || saved.rest.len
                    ? (int)TCALL_E_PROTOCOL
                    : tcall_load_turn_(agent, waits);
    }
    if (error < 0 && error != TCALL_E_AGAIN)
        tcall_block_cut_(&tc->block, agent->chat.start);
    tc->busy = NULL;
    return error;
}

#endif /* TOOLCALL_NO_AGENT */
