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

typedef enum tcall_saved_ {
    TCALL_SAVE_REST_,    /* no turn is under way */
    TCALL_SAVE_CALLS_,   /* calls have no result, and are to run */
    TCALL_SAVE_PLANNED_, /* they wait for tcall_agent_result */
    TCALL_SAVE_ASKS_,    /* a request has no answer */
    TCALL_SAVE_PLANS_    /* the same of a plan */
} tcall_saved_;

/* The result of a call that was under way. */
static const char tcall_save_cut_[] =
    "{\"success\":false,\"error\":\"cut off while it ran: look whether it had "
    "its effect before you repeat it\",\"error_type\":\"cancelled\",\"code\":"
    "\"cancelled\",\"ran\":true}";

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

static void tcall_save_text_(tcall_saver_ *saver, tcall_str text)
{
    tcall_save_number_(saver, (uint32_t)text.len);
    tcall_save_bytes_(saver, text);
}

/* The offer by names: the table may be another one after the restart. */
static void tcall_save_offer_(tcall_saver_ *saver, const tcall_agent *agent)
{
    const tcall *tc = agent->desc.tc;
    size_t i;
    tcall_save_number_(saver, agent->picked);
    tcall_save_number_(saver, (uint32_t)tcall_agent_tools_(agent));
    for (i = 0; i < tc->desc.tool_count; i++)
        if (tcall_offers_(tc->offer, i))
            tcall_save_text_(saver, tcall_str_of(tc->desc.tools[i].name));
}

/* Writes an item after its mark. */
static void tcall_save_item_(tcall_saver_ *saver, const tcall_item *item,
                             uint32_t mark)
{
    tcall_item copy = *item;
    int part;
    if (item->kind == TCALL_ITEM_IMAGE)
        copy.text.len = 0; /* its bytes are elsewhere */
    tcall_save_number_(saver, mark);
    tcall_save_number_(saver, item->kind);
    tcall_save_number_(saver, (uint32_t)-item->error);
    tcall_save_number_(saver, tcall_item_flags_(item));
    for (part = 0; part < TCALL_PARTS_; part++)
        tcall_save_text_(saver, *tcall_item_part_(&copy, part));
}

/* Writes the items of the conversation. */
static void tcall_save_items_(tcall_saver_ *saver, const tcall_agent *agent)
{
    const tcall_chat *chat = &agent->chat;
    size_t at = 0, next = 0;
    tcall_item item;
    for (; tcall_chat_next(chat, &next, &item); at = next) {
        if (agent->state == TCALL_AGENT_READ_ && at >= agent->answer_at)
            break; /* the answer is not whole: it is asked for again */
        tcall_save_item_(saver, &item, at == agent->answer_at ? 2 : 1);
    }
}

/* Must it not run again, as it may have had its effect? */
static bool tcall_save_ran_(const tcall_call *call)
{
    return call->cx.result.ran && !call->cx.approval_asked &&
           !tcall_repeatable_(&call->cx);
}

/* A call that has begun must not begin again after a restart, whose tool may
 * have had its effect: what is known of it now is its result then. */
static void tcall_save_begun_(tcall_saver_ *saver, const tcall_agent *agent)
{
    int i;
    for (i = 0; i < agent->batch_count; i++) {
        const tcall_call *call = &agent->batch[i];
        tcall_item item;
        memset(&item, 0, sizeof item);
        item.kind = TCALL_ITEM_RESULT;
        item.id = call->id;
        item.name = call->name;
        item.error = tcall_settled_(&call->cx) ? call->cx.result.error
                                               : (int)TCALL_E_CANCELLED;
        item.text = tcall_settled_(&call->cx) ? call->cx.result.output
                                              : tcall_str_of(tcall_save_cut_);
        if (!tcall_agent_answered_(agent, call->id) &&
            (tcall_settled_(&call->cx) || tcall_save_ran_(call)))
            tcall_save_item_(saver, &item, 1);
    }
}

/* What a turn waits for. */
static tcall_saved_ tcall_save_state_(const tcall_agent *agent)
{
    switch (agent->state) {
    case TCALL_AGENT_IDLE_: return TCALL_SAVE_REST_;
    case TCALL_AGENT_CALLS_: return TCALL_SAVE_CALLS_;
    case TCALL_AGENT_PLANNED_: return TCALL_SAVE_PLANNED_;
    default: return agent->turn.plan ? TCALL_SAVE_PLANS_ : TCALL_SAVE_ASKS_;
    }
}

int tcall_agent_save(const tcall_agent *agent, tcall_writer *out)
{
    tcall_saver_ saver = {out, TCALL_HASH_EMPTY_};
    char sum[TCALL_SAVE_SUM_];
    const tcall *outer;
    int i;
    if (agent->state == TCALL_AGENT_UNSET_)
        return TCALL_E_USAGE;
    outer = agent->desc.tc->busy;
    agent->desc.tc->busy = agent->desc.tc; /* out may call the program */
    tcall_save_bytes_(&saver, tcall_slice_(tcall_save_mark_, TCALL_SAVE_MARK_));
    tcall_save_number_(&saver, (uint32_t)tcall_save_state_(agent));
    tcall_save_number_(&saver, agent->chat.made);
    tcall_save_number_(&saver, agent->turn.id);
    tcall_save_number_(&saver, agent->turn.rounds);
    tcall_save_number_(&saver, agent->turn.calls);
    tcall_save_number_(&saver, agent->turn.tokens);
    tcall_save_number_(&saver, agent->setting);
    tcall_save_offer_(&saver, agent);
    tcall_save_items_(&saver, agent);
    tcall_save_begun_(&saver, agent);
    tcall_save_number_(&saver, 0);
    agent->desc.tc->busy = outer;
    for (i = 0; i < TCALL_SAVE_SUM_; i++)
        sum[i] = (char)(saver.sum >> 8 * i);
    return tcall_write_bytes(out, sum, sizeof sum);
}

/* ---- in ---- */

/* Gives a number; beyond the end, or the range, the bytes count as used up and
 * damaged. */
static uint32_t tcall_load_number_(tcall_str *rest)
{
    uint32_t number = 0;
    int shift;
    for (shift = 0; shift < 32 && rest->len; shift += 7) {
        uint8_t byte = (uint8_t)*rest->ptr++;
        rest->len--;
        number |= (uint32_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return number;
    }
    *rest = tcall_slice_(NULL, 0);
    return 0;
}

static tcall_str tcall_load_text_(tcall_str *rest)
{
    size_t len = tcall_load_number_(rest);
    tcall_str text = *rest;
    if (len > rest->len) {
        *rest = tcall_slice_(NULL, 0);
        return *rest;
    }
    text.len = len;
    if (len)
        rest->ptr += len;
    rest->len -= len;
    return text;
}

/* Tools that are gone, or permitted no more, are not offered. */
static void tcall_load_offer_(tcall_agent *agent, tcall_str *rest)
{
    const tcall *tc = agent->desc.tc;
    uint32_t count;
    agent->picked = tcall_load_number_(rest) != 0;
    memset(tc->offer, 0, tcall_agent_offer_size_(&tc->desc));
    for (count = tcall_load_number_(rest); count && rest->ptr; count--) {
        const tcall_tool *tool = tcall_find(tc, tcall_load_text_(rest));
        if (tool && !tcall_withheld_(tc, tool))
            tcall_set_offer_(tc->offer, (size_t)(tool - tc->desc.tools), true);
    }
}

/* What has been said, as far as it is loaded. */
typedef struct tcall_loaded_ {
    uint32_t open; /* calls of the last answer that have no result */
    bool users;    /* the last item is of the user's side */
} tcall_loaded_;

/* May the item stand here? All calls have one result each, right behind the
 * answer that they are of, before anything else is said. */
static bool tcall_load_fits_(tcall_loaded_ *loaded, const tcall_chat *chat,
                             const tcall_item *item)
{
    const bool users = tcall_item_is_users_(item);
    const bool next = tcall_item_opens_(item) || (loaded->users && !users);
    tcall_str id = item->id;
    if (next && loaded->open)
        return false;
    if (item->kind == TCALL_ITEM_RESULT && !tcall_chat_asked_(chat, &id))
        return false;
    loaded->users = users;
    loaded->open += item->kind == TCALL_ITEM_CALL;
    loaded->open -= item->kind == TCALL_ITEM_RESULT;
    return true;
}

/* Adds one item. */
static int tcall_load_item_(tcall_agent *agent, tcall_loaded_ *loaded,
                            tcall_str *rest)
{
    tcall_item item;
    uint32_t flags;
    int part;
    memset(&item, 0, sizeof item);
    item.kind = (uint8_t)tcall_load_number_(rest);
    item.error = -(int)tcall_load_number_(rest);
    flags = tcall_load_number_(rest);
    item.synthetic_id = (flags & TCALL_FLAG_MADE_ID_) != 0;
    item.raw = (flags & TCALL_FLAG_RAW_) != 0;
    item.reasoning_dropped = (flags & TCALL_FLAG_DROPPED_) != 0;
    item.is_unsigned = (flags & TCALL_FLAG_UNSIGNED_) != 0;
    for (part = 0; part < TCALL_PARTS_; part++)
        *tcall_item_part_(&item, part) = tcall_load_text_(rest);
    if (!rest->ptr || item.kind > TCALL_ITEM_IMAGE ||
        !tcall_load_fits_(loaded, &agent->chat, &item))
        return TCALL_E_PROTOCOL;
    if (item.kind == TCALL_ITEM_IMAGE)
        agent->chat.edited = true;
    return tcall_chat_add(&agent->chat, &item);
}

/* Adds all items, and counts the calls of the last answer and those of them
 * that have a result. */
static int tcall_load_items_(tcall_agent *agent, tcall_str *rest)
{
    tcall_block *block = agent->chat.block;
    tcall_loaded_ loaded = {0, true};
    tcall_item item;
    uint32_t mark;
    size_t at;
    while ((mark = tcall_load_number_(rest)) != 0) {
        int error;
        if (mark == 2)
            agent->answer_at = block->low - agent->chat.start;
        error = tcall_load_item_(agent, &loaded, rest);
        if (error < 0)
            return error;
    }
    agent->answer.calls = 0;
    for (at = agent->answer_at; tcall_chat_next(&agent->chat, &at, &item);)
        agent->answer.calls += item.kind == TCALL_ITEM_CALL;
    agent->call_at = agent->answer.calls - (int)loaded.open;
    return rest->ptr && !rest->len && loaded.open <= (size_t)agent->answer.calls
               ? TCALL_OK
               : TCALL_E_PROTOCOL;
}

/* Takes up the turn where it was left: calls wait in it, and only there. */
static int tcall_load_turn_(tcall_agent *agent, uint32_t saved)
{
    static const uint8_t states[] = {TCALL_AGENT_IDLE_, TCALL_AGENT_CALLS_,
                                     TCALL_AGENT_PLANNED_, TCALL_AGENT_OPEN_,
                                     TCALL_AGENT_OPEN_};
    const bool waits = agent->call_at < agent->answer.calls;
    const bool plans = saved == TCALL_SAVE_PLANNED_;
    if (saved >= sizeof states || (plans && !waits) ||
        (waits && !plans && saved != TCALL_SAVE_CALLS_))
        return TCALL_E_PROTOCOL;
    agent->batch_count = 0;
    memset(&agent->loops, 0, sizeof agent->loops);
    if (saved == TCALL_SAVE_REST_)
        return TCALL_OK;
    tcall_agent_begin_(agent, states[saved],
                       plans || saved == TCALL_SAVE_PLANS_,
                       tcall_slice_(NULL, 0));
    return plans ? TCALL_OK : TCALL_E_AGAIN;
}

/* Returns whether the bytes are whole, and leaves what is between the mark and
 * the sum. */
static bool tcall_load_whole_(tcall_str *bytes)
{
    const char *end;
    uint32_t sum = TCALL_HASH_EMPTY_;
    int i;
    if (bytes->len < TCALL_SAVE_MARK_ + TCALL_SAVE_SUM_ ||
        memcmp(bytes->ptr, tcall_save_mark_, TCALL_SAVE_MARK_) != 0)
        return false;
    bytes->len -= TCALL_SAVE_SUM_;
    sum = tcall_hash_more_(sum, *bytes);
    end = bytes->ptr + bytes->len;
    for (i = 0; i < TCALL_SAVE_SUM_; i++)
        if ((uint8_t)end[i] != (uint8_t)(sum >> 8 * i))
            return false;
    bytes->ptr += TCALL_SAVE_MARK_;
    bytes->len -= TCALL_SAVE_MARK_;
    return true;
}

int tcall_agent_load(tcall_agent *agent, tcall_str bytes)
{
    uint32_t state;
    int error = TCALL_E_PROTOCOL;
    if (agent->state != TCALL_AGENT_IDLE_ || tcall_agent_busy_(agent))
        return TCALL_E_USAGE;
    agent->desc.tc->busy = agent->desc.tc;
    agent->chat.block->low = agent->chat.start;
    agent->chat.counted.at = 0;
    agent->answer_at = 0;
    agent->unanswered = false;
    if (tcall_load_whole_(&bytes)) {
        state = tcall_load_number_(&bytes);
        agent->chat.made = tcall_load_number_(&bytes);
        agent->turn.id = tcall_load_number_(&bytes);
        agent->turn.rounds = (uint16_t)tcall_load_number_(&bytes);
        agent->turn.calls = (uint16_t)tcall_load_number_(&bytes);
        agent->turn.tokens = tcall_load_number_(&bytes);
        agent->setting = tcall_load_number_(&bytes);
        tcall_load_offer_(agent, &bytes);
        error = tcall_load_items_(agent, &bytes);
        if (error == TCALL_OK)
            error = tcall_load_turn_(agent, state);
    }
    if (error < 0 && error != TCALL_E_AGAIN)
        agent->chat.block->low = agent->chat.start;
    agent->desc.tc->busy = NULL;
    return error;
}

#endif /* TOOLCALL_NO_AGENT */
