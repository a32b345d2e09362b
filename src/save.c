#pragma once
#include "save.h"
#include "agent_loop.c"

/* ==========================================================================
 * >>save
 *
 * Numbers are written seven bits a byte, the lowest first, a text after its
 * length. Last comes a sum of all bytes: memory that lost its power while it
 * was written must not become a conversation.
 */

#ifndef TOOLCALL_NO_AGENT

static const char tcall_save_mark_[] = "tcall2";

enum { TCALL_SAVE_MARK_ = 6, TCALL_SAVE_SUM_ = 4 };

/* What a turn waits for. */
enum {
    TCALL_SAVE_REST_,    /* no turn is under way */
    TCALL_SAVE_CALLS_,   /* calls have no result, and are to run */
    TCALL_SAVE_PLANNED_, /* they wait for tcall_agent_result */
    TCALL_SAVE_ASKS_,    /* a request has no answer */
    TCALL_SAVE_PLANS_,   /* the same of a plan */
    TCALL_SAVE_COUNT_
};

/* The states in which an agent goes on then. */
static const uint8_t tcall_save_states_[TCALL_SAVE_COUNT_] = {
    TCALL_AGENT_IDLE_, TCALL_AGENT_CALLS_, TCALL_AGENT_PLANNED_,
    TCALL_AGENT_OPEN_, TCALL_AGENT_OPEN_};

/* The result of a call that was under way. */
static const char tcall_save_cut_[] =
    "{\"success\":false,\"error\":\"cut off while it ran: look whether it had "
    "its effect before you repeat it\",\"error_type\":\"cancelled\",\"code\":"
    "\"cancelled\",\"ran\":true}";

/* The bytes of a sum, the lowest first. */
static void tcall_save_sum_(uint32_t sum, char bytes[TCALL_SAVE_SUM_])
{
    int i;
    for (i = 0; i < TCALL_SAVE_SUM_; i++)
        bytes[i] = (char)(sum >> 8 * i);
}

/* ---- out ---- */

typedef struct tcall_saver_ {
    tcall_writer *out;
    uint32_t sum;
} tcall_saver_;

static void tcall_save_bytes_(tcall_saver_ *saver, tcall_str bytes)
{
    saver->sum = tcall_hash_more_(saver->sum, bytes);
    tcall_write_bytes(saver->out, bytes.ptr, bytes.len);
}

static void tcall_save_number_(tcall_saver_ *saver, uint32_t number)
{
    char bytes[5];
    size_t len = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[len++] = (char)(0x80 | (number & 0x7F));
    bytes[len++] = (char)number;
    tcall_save_bytes_(saver, tcall_slice_(bytes, len));
}

static void tcall_save_numbers_(tcall_saver_ *saver, const uint32_t *numbers,
                                size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        tcall_save_number_(saver, numbers[i]);
}

static void tcall_save_text_(tcall_saver_ *saver, tcall_str text)
{
    tcall_save_number_(saver, (uint32_t)text.len);
    tcall_save_bytes_(saver, text);
}

/* Writes an item: what begins with it, its numbers, its texts. */
static void tcall_save_item_(tcall_saver_ *saver, tcall_item item,
                             uint32_t begins)
{
    const uint32_t numbers[] = {begins, item.kind, (uint32_t)-item.error,
                                tcall_item_flags_(&item)};
    int part;
    if (item.kind == TCALL_ITEM_IMAGE)
        item.text.len = 0; /* its bytes are elsewhere */
    tcall_save_numbers_(saver, numbers, TCALL_ARRAY_LEN(numbers));
    for (part = 0; part < TCALL_PARTS_; part++)
        tcall_save_text_(saver, *tcall_item_part_(&item, part));
}

/* Writes the items of the conversation. */
static void tcall_save_items_(tcall_saver_ *saver, const tcall_agent *agent)
{
    size_t at = 0, next = 0;
    tcall_item item;
    for (; tcall_chat_next(&agent->chat, &next, &item); at = next) {
        if (agent->state == TCALL_AGENT_READ_ && at >= agent->answer_at)
            break; /* the answer is not whole: it is asked for again */
        tcall_save_item_(saver, item, at == agent->answer_at ? 2 : 1);
    }
}

/* A call that has begun must not begin again after a restart, whose tool may
 * have had its effect: what is known of it now is its result then. */
static void tcall_save_begun_(tcall_saver_ *saver, const tcall_agent *agent)
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
        if (!tcall_agent_answered_(agent, call->id) &&
            (tcall_settled_(cx) ||
             (cx->result.ran && !cx->approval_asked && !tcall_repeatable_(cx))))
            tcall_save_item_(saver, item, 1);
    }
}

/* Writes what the turn waits for, the numbers, and the offer by names: the
 * table may be another one after the restart. */
static void tcall_save_head_(tcall_saver_ *saver, const tcall_agent *agent)
{
    const tcall *tc = agent->desc.tc;
    const tcall_turn *turn = &agent->turn;
    const uint32_t numbers[] = {
        agent->chat.made, turn->id,
        turn->rounds,     turn->calls,
        turn->tokens,     agent->setting,
        agent->picked,    (uint32_t)tcall_agent_tools_(agent)};
    uint32_t waits = 0;
    size_t i;
    while (waits < TCALL_SAVE_ASKS_ &&
           tcall_save_states_[waits] != agent->state)
        waits++;
    if (waits == TCALL_SAVE_ASKS_ && turn->plan)
        waits = TCALL_SAVE_PLANS_;
    tcall_save_number_(saver, waits);
    tcall_save_numbers_(saver, numbers, TCALL_ARRAY_LEN(numbers));
    for (i = 0; i < tc->desc.tool_count; i++)
        if (TCALL_BIT_OF_(tc->offer, i))
            tcall_save_text_(saver, tcall_str_of(tc->desc.tools[i].name));
}

int tcall_agent_save(const tcall_agent *agent, tcall_writer *out)
{
    tcall_saver_ saver = {out, TCALL_HASH_EMPTY_};
    char sum[TCALL_SAVE_SUM_];
    const tcall *outer;
    if (agent->state == TCALL_AGENT_UNSET_)
        return TCALL_E_USAGE;
    outer = agent->desc.tc->busy;
    agent->desc.tc->busy = agent->desc.tc; /* out may call the program */
    tcall_save_bytes_(&saver, tcall_slice_(tcall_save_mark_, TCALL_SAVE_MARK_));
    tcall_save_head_(&saver, agent);
    tcall_save_items_(&saver, agent);
    tcall_save_begun_(&saver, agent);
    tcall_save_number_(&saver, 0);
    agent->desc.tc->busy = outer;
    tcall_save_sum_(saver.sum, sum);
    return tcall_write_bytes(out, sum, sizeof sum);
}

/* ---- in ---- */

typedef struct tcall_loader_ {
    tcall_str rest;
    bool damaged;
    /* Of what is loaded: */
    int calls;  /* of the last answer */
    int open;   /* of them, those that have no result */
    bool users; /* the last item is of the user's side */
} tcall_loader_;

/* Gives a number; 0 beyond the end, or the range. */
static uint32_t tcall_load_number_(tcall_loader_ *loader)
{
    uint32_t number = 0;
    int shift;
    for (shift = 0; shift < 32 && loader->rest.len; shift += 7) {
        uint8_t byte = (uint8_t)*loader->rest.ptr++;
        loader->rest.len--;
        number |= (uint32_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return number;
    }
    loader->damaged = true;
    return 0;
}

static tcall_str tcall_load_text_(tcall_loader_ *loader)
{
    size_t len = tcall_load_number_(loader);
    const tcall_str text = tcall_slice_(loader->rest.ptr, len);
    if (len > loader->rest.len) {
        loader->damaged = true;
        return tcall_slice_(NULL, 0);
    }
    loader->rest.ptr += len;
    loader->rest.len -= len;
    return text;
}

/* Tools that are gone, or permitted no more, are not offered. */
static void tcall_load_offer_(tcall *tc, tcall_loader_ *loader)
{
    uint32_t count = tcall_load_number_(loader);
    memset(tc->offer, 0, tcall_agent_offer_size_(&tc->desc));
    for (; count && !loader->damaged; count--) {
        const tcall_tool *tool = tcall_find(tc, tcall_load_text_(loader));
        if (tool && !tcall_withheld_(tc, tool))
            tcall_set_bit_(tc->offer, (size_t)(tool - tc->desc.tools), true);
    }
}

/* May the item stand here? All calls have one result each, right behind the
 * answer that they are of, before anything else is said. */
static bool tcall_load_fits_(tcall_loader_ *loader, const tcall_chat *chat,
                             const tcall_item *item)
{
    const bool users = tcall_is_users_(item->kind);
    const bool next = tcall_item_opens_(item) || (loader->users && !users);
    tcall_str id = item->id;
    if ((next && loader->open) ||
        (item->kind == TCALL_ITEM_RESULT && !tcall_chat_asked_(chat, &id)))
        return false;
    loader->users = users;
    loader->calls += item->kind == TCALL_ITEM_CALL;
    loader->open += item->kind == TCALL_ITEM_CALL;
    loader->open -= item->kind == TCALL_ITEM_RESULT;
    return true;
}

/* Adds one item, as any other that enters the conversation. */
static int tcall_load_item_(tcall_chat *chat, tcall_loader_ *loader)
{
    tcall_item item;
    int part;
    memset(&item, 0, sizeof item);
    item.kind = (uint8_t)tcall_load_number_(loader);
    item.error = -(int)tcall_load_number_(loader);
    tcall_item_set_flags_(&item, tcall_load_number_(loader));
    for (part = 0; part < TCALL_PARTS_; part++)
        *tcall_item_part_(&item, part) = tcall_load_text_(loader);
    if (loader->damaged || item.kind > TCALL_ITEM_IMAGE ||
        !tcall_load_fits_(loader, chat, &item))
        return TCALL_E_PROTOCOL;
    if (item.kind == TCALL_ITEM_IMAGE)
        chat->edited = true;
    return tcall_chat_add(chat, &item);
}

/* Adds all items. */
static int tcall_load_items_(tcall_agent *agent, tcall_loader_ *loader)
{
    uint32_t begins;
    int error = TCALL_OK;
    while (error == TCALL_OK && (begins = tcall_load_number_(loader)) != 0) {
        if (begins == 2) {
            agent->answer_at = agent->chat.block->low - agent->chat.start;
            loader->calls = 0;
        }
        error = tcall_load_item_(&agent->chat, loader);
    }
    if (error < 0)
        return error;
    agent->answer.calls = loader->calls;
    agent->call_at = loader->calls - loader->open;
    return !loader->damaged && !loader->rest.len && agent->call_at >= 0
               ? TCALL_OK
               : TCALL_E_PROTOCOL;
}

/* Takes up the turn where it was left: calls wait in it, and only there. */
static int tcall_load_turn_(tcall_agent *agent, uint32_t waits)
{
    const bool open = agent->call_at < agent->answer.calls;
    const bool planned = waits == TCALL_SAVE_PLANNED_;
    if (waits >= TCALL_SAVE_COUNT_ || (planned && !open) ||
        (open && !planned && waits != TCALL_SAVE_CALLS_))
        return TCALL_E_PROTOCOL;
    memset(agent->loops, 0, sizeof *agent->loops);
    if (waits == TCALL_SAVE_REST_)
        return TCALL_OK;
    tcall_agent_begin_(agent, tcall_save_states_[waits],
                       planned || waits == TCALL_SAVE_PLANS_,
                       tcall_slice_(NULL, 0));
    return planned ? TCALL_OK : TCALL_E_AGAIN;
}

/* Are the bytes whole, and of this version? Takes the mark and the sum away. */
static bool tcall_load_whole_(tcall_str *bytes)
{
    char sum[TCALL_SAVE_SUM_];
    if (bytes->len < TCALL_SAVE_MARK_ + TCALL_SAVE_SUM_)
        return false;
    bytes->len -= TCALL_SAVE_SUM_;
    tcall_save_sum_(tcall_hash_more_(TCALL_HASH_EMPTY_, *bytes), sum);
    if (memcmp(bytes->ptr, tcall_save_mark_, TCALL_SAVE_MARK_) != 0 ||
        memcmp(bytes->ptr + bytes->len, sum, TCALL_SAVE_SUM_) != 0)
        return false;
    bytes->ptr += TCALL_SAVE_MARK_;
    bytes->len -= TCALL_SAVE_MARK_;
    return true;
}

/* Puts what is saved in place of the conversation, which is empty. */
static int tcall_load_(tcall_agent *agent, tcall_str bytes)
{
    tcall_turn *turn = &agent->turn;
    tcall_loader_ loader;
    uint32_t waits;
    int error;
    memset(&loader, 0, sizeof loader);
    loader.users = true;
    if (!tcall_load_whole_(&bytes))
        return TCALL_E_PROTOCOL;
    loader.rest = bytes;
    waits = tcall_load_number_(&loader);
    agent->chat.made = tcall_load_number_(&loader);
    turn->id = tcall_load_number_(&loader);
    turn->rounds = (uint16_t)tcall_load_number_(&loader);
    turn->calls = (uint16_t)tcall_load_number_(&loader);
    turn->tokens = tcall_load_number_(&loader);
    agent->setting = tcall_load_number_(&loader);
    agent->picked = tcall_load_number_(&loader) != 0;
    tcall_load_offer_(agent->desc.tc, &loader);
    error = tcall_load_items_(agent, &loader);
    return error < 0 ? error : tcall_load_turn_(agent, waits);
}

int tcall_agent_load(tcall_agent *agent, tcall_str bytes)
{
    tcall *tc = agent->desc.tc;
    int error;
    if (agent->state != TCALL_AGENT_IDLE_ || tcall_agent_busy_(agent))
        return TCALL_E_USAGE;
    tc->busy = tc;
    tcall_block_cut_(&tc->block, agent->chat.start);
    tcall_chat_init(&agent->chat, &tc->block);
    agent->answer_at = 0;
    agent->unanswered = agent->turn.plan = false;
    error = tcall_load_(agent, bytes);
    if (error < 0 && error != TCALL_E_AGAIN)
        tcall_block_cut_(&tc->block, agent->chat.start);
    tc->busy = NULL;
    return error;
}

#endif /* TOOLCALL_NO_AGENT */
