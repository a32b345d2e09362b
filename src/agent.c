#pragma once
#include "agent.h"
#include "hooks.c"
#include "pick.c"
#include "answer_feed.c"
#include "records.c"

/* ==========================================================================
 * >>agent
 *
 * First what an agent is made of: is its desc complete, is there memory for
 * it. Then the calls of an answer: they are run in batches, or, in a plan,
 * answered by whoever made it. Each call gets one result, whatever becomes of
 * the turn.
 */

#ifndef TOOLCALL_NO_AGENT

enum {
    TCALL_AGENT_UNSET_,   /* tcall_agent_init was not called, or refused */
    TCALL_AGENT_IDLE_,    /* no turn */
    TCALL_AGENT_OPEN_,    /* wait where a try failed, count the request */
    TCALL_AGENT_CONNECT_, /* open the transport */
    TCALL_AGENT_SEND_,    /* write the request */
    TCALL_AGENT_READ_,    /* read the answer */
    TCALL_AGENT_CALLS_    /* run what it asks for, one call each step; calls of
                           * a plan wait for tcall_agent_result */
};

/* ---- is a desc complete, and is what it adds to requests allowed ---- */

enum {
#define TCALL_X_(NAME, sentence) TCALL_LACK_##NAME##_,
    TCALL_AGENT_FAULTS_(TCALL_X_)
#undef TCALL_X_
        TCALL_LACK_TC_ /* tc itself */
};

/* Faults are a set of bits: this one is in it where it is true. */
#define TCALL_LACK_(NAME, wrong) ((uint32_t)(wrong) << TCALL_LACK_##NAME##_)

/* Members of the body that the library writes: it has no second ones. */
static const char *const tcall_agent_own_members_[] = {
    "model",       "messages",      "system",
    "contents",    "input",         "instructions",
    "tools",       "stream",        "systemInstruction",
    "store",       "toolConfig",    "parallel_tool_calls",
    "tool_choice", "stream_options"};

static uint32_t tcall_agent_extra_faults_(const char *extra)
{
    const char *object = extra ? tcall_text_space_(extra) : "{}";
    const char *end = object + strlen(object), *where;
    const tcall_seen_ none = {NULL, 0, 0};
    uint32_t own = 0;
    size_t i;
    int wrong;
    if (*object != '{' || tcall_json_check(tcall_str_of(object)) < 0)
        return TCALL_LACK_(EXTRA, true);
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_agent_own_members_); i++)
        own |= TCALL_LACK_(
            EXTRA_OWN,
            tcall_text_get_(object, tcall_agent_own_members_[i]) != NULL);
    wrong = tcall_json_wrong_(object, end, &none, &where);
    return own | TCALL_LACK_(EXTRA_TWICE, wrong == TCALL_E_DUPLICATE) |
           TCALL_LACK_(EXTRA_NUMBER, wrong < 0 && wrong != TCALL_E_DUPLICATE);
}

/* Names of headers are the same in capitals. */
static bool tcall_agent_same_name_(const char *name, const char *other)
{
    while (*name && tcall_to_lower_(*name) == tcall_to_lower_(*other))
        name++, other++;
    return tcall_to_lower_(*name) == tcall_to_lower_(*other);
}

/* Can it stand in a header? A line break would begin another one. */
static bool tcall_agent_is_value_(const char *text)
{
    for (; text && *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7F)
            return false;
    return true;
}

/* Does the user add a header of this name? */
static bool tcall_agent_adds_header_(const tcall_agent_desc *desc,
                                     const char *name)
{
    size_t i;
    for (i = 0; name && i < desc->header_count; i++)
        if (tcall_agent_same_name_(desc->headers[i].name, name))
            return true;
    return false;
}

static uint32_t tcall_agent_header_faults_(const tcall_agent_desc *desc)
{
    uint32_t faults =
        TCALL_LACK_(HEADERS, desc->header_count > TCALL_AGENT_HEADERS);
    size_t i;
    for (i = 0; !faults && i < desc->header_count; i++) {
        const tcall_header *header = &desc->headers[i];
        faults =
            TCALL_LACK_(HEADER_NAME,
                        !header->name ||
                            !tcall_name_fits_(header->name, ".", 64, false)) |
            TCALL_LACK_(HEADER_VALUE,
                        !tcall_agent_is_value_(header->value) ||
                            !tcall_agent_is_value_(header->secret));
    }
    if (faults)
        return faults;
    return TCALL_LACK_(
               HEADER_OWN,
               tcall_agent_adds_header_(desc, "Content-Type") ||
                   tcall_agent_adds_header_(desc, "Content-Length") ||
                   tcall_agent_adds_header_(desc, "Transfer-Encoding") ||
                   tcall_agent_adds_header_(desc, "Host")) |
           TCALL_LACK_(HEADER_KEY,
                       desc->key && tcall_agent_adds_header_(
                                        desc, desc->provider->key_header));
}

/* Returns what is wrong with what the user adds to requests. */
TCALL_SHARED_ uint32_t tcall_agent_added_faults_(const tcall_agent_desc *desc)
{
    return tcall_agent_extra_faults_(desc->extra) |
           tcall_agent_header_faults_(desc);
}

/* Returns the path of requests, in which {model} stands for its name. */
static const char *tcall_agent_form_(const tcall_agent_desc *desc)
{
    const tcall_provider *provider = desc->provider;
    if (desc->path)
        return desc->path;
    return desc->stream && provider->stream_path ? provider->stream_path
                                                 : provider->path;
}

/* Puts a path together that has to name the model. Returns its bytes, whether
 * size is enough or not; 0 of a path that names none. */
TCALL_SHARED_ size_t tcall_agent_path_(const tcall_agent_desc *desc, char *path,
                                       size_t size)
{
    const char *form = tcall_agent_form_(desc), *hole = strchr(form, '{');
    const char *rest = hole ? strchr(hole, '}') : NULL;
    tcall_writer out;
    if (!rest)
        return 0;
    tcall_writer_init(&out, path, size);
    tcall_write_bytes(&out, form, (size_t)(hole - form));
    tcall_write_text(&out, desc->model);
    tcall_write_bytes(&out, rest + 1, strlen(rest)); /* with its NUL */
    return out.len;
}

/* Returns what desc lacks. */
static uint32_t tcall_agent_faults_(const tcall_agent_desc *desc)
{
    const tcall_transport *transport = &desc->transport;
    const tcall_provider *provider = desc->provider;
    if (!desc->tc || tcall_usable_(desc->tc) < 0)
        return TCALL_LACK_(TC, true);
    if (!provider)
        return TCALL_LACK_(PROVIDER, true);
    return TCALL_LACK_(MODEL, !desc->model || !*desc->model) |
           TCALL_LACK_(EMPTY, !provider->write || !provider->answer) |
           TCALL_LACK_(PATH, !tcall_agent_form_(desc)) |
           TCALL_LACK_(TRANSPORT, !transport->open || !transport->write ||
                                      !transport->read || !transport->close) |
           TCALL_LACK_(PICK, desc->pick_opts && !desc->pick) |
           TCALL_LACK_(CLOCK, desc->max_ms && !transport->now_ms) |
           tcall_agent_added_faults_(desc);
}

/* Refuses a desc that has faults. The first one is put in words where the
 * report is named; of a registry that is not set up nobody knows. */
TCALL_SHARED_ int tcall_agent_refuse_(tcall_agent *agent, const tcall *tc,
                                      uint32_t faults)
{
    unsigned first = 0;
    agent->problem = NULL;
    if (!faults)
        return TCALL_OK;
    while (!(faults >> first & 1))
        first++;
    if (!tc)
        agent->problem =
            "tc is missing: set a tcall up with tcall_init and name it";
    else if (first == TCALL_LACK_TC_)
        agent->problem = tc->problem ? tc->problem
                                     : "tc cannot be used: tcall_init was not "
                                       "called, or it failed";
    else if (tc->desc.report)
        agent->problem = tcall_nth_(tc->desc.report->agent, first);
    return TCALL_E_USAGE;
}

/* Returns a limit, or its default. A number below zero is no limit anybody
 * meant: it counts as zero does. */
static int tcall_agent_limit_(int limit, int otherwise, int most)
{
    if (limit <= 0)
        return otherwise;
    return limit < most ? limit : most;
}

static void tcall_agent_defaults_(tcall_agent_desc *desc)
{
    if (!desc->io_size)
        desc->io_size = 512;
    desc->io_size += tcall_agent_path_(desc, NULL, 0);
    desc->parallel = tcall_agent_limit_(desc->parallel, 1, TCALL_AGENT_CALLS);
    desc->max_rounds =
        tcall_agent_limit_(desc->max_rounds, 8, TCALL_AGENT_MOST);
    desc->max_calls = tcall_agent_limit_(desc->max_calls, 32, TCALL_AGENT_MOST);
    desc->max_tries = tcall_agent_limit_(desc->max_tries, 3, TCALL_AGENT_MOST);
    if (!desc->max_wait_ms)
        desc->max_wait_ms = 60000;
    desc->path = tcall_agent_form_(desc);
}

/* Takes over what desc says. */
static void tcall_agent_describe_(tcall_agent *agent,
                                  const tcall_agent_desc *desc)
{
    agent->desc = *desc;
    tcall_agent_defaults_(&agent->desc);
    desc->tc->key = desc->key;
}

/* ---- set up ---- */

/* Is the agent in a state from one to another, and is neither it nor its
 * registry at work? Who is called by them only looks. from is not
 * TCALL_AGENT_UNSET_. */
TCALL_SHARED_ bool tcall_agent_open_to_(const tcall_agent *agent, uint8_t from,
                                        uint8_t to)
{
    return agent->state >= from && agent->state <= to &&
           !tcall_is_busy_(agent->desc.tc);
}

/* Returns the bytes of the offer of a turn: a bit for each row. */
static size_t tcall_agent_offer_size_(const tcall_desc *desc)
{
    size_t rows = desc->rows ? desc->row_count : desc->tool_count;
    return tcall_round_up_(rows / 8 + 1);
}

/* What an agent takes of the block for as long as it lives. Its calls, its
 * offer and its io follow. */
typedef struct tcall_agent_room_ {
    tcall_reader reader;
    tcall_loops loops; /* calls of this turn */
} tcall_agent_room_;

static size_t tcall_agent_size_(const tcall_desc *desc,
                                const tcall_agent_desc *agent)
{
    return sizeof(tcall_agent_room_) +
           (size_t)agent->parallel * sizeof(tcall_call) +
           tcall_agent_offer_size_(desc) + tcall_round_up_(agent->io_size);
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

/* Takes the room of an agent. io_size: of its pieces. */
static bool tcall_agent_settle_(tcall_agent *agent, size_t io_size)
{
    tcall *tc = agent->desc.tc;
    const size_t size = tcall_agent_size_(&tc->desc, &agent->desc);
    if (size < io_size || !tcall_block_room_(&tc->block, size)) {
        tcall_block_note_(&tc->block, tc->block.low + size +
                                          tcall_call_room_(&tc->desc, 0));
        return false;
    }
    agent->room = (tcall_agent_room_ *)tcall_table_(tc, 1, size);
    agent->batch = (tcall_call *)(void *)(agent->room + 1);
    tc->offer = (uint8_t *)(agent->batch + agent->desc.parallel);
    agent->io = (char *)tc->offer + tcall_agent_offer_size_(&tc->desc);
    /* The conversation grows at the end of what is used, so it comes last. */
    tcall_chat_init(&agent->chat, &tc->block);
    return true;
}

int tcall_agent_init(tcall_agent *agent, const tcall_agent_desc *desc)
{
    uint32_t faults = tcall_agent_faults_(desc);
    tcall *tc = desc->tc;
    if (!faults)
        faults = TCALL_LACK_(TWO, tc->offer != NULL) |
                 TCALL_LACK_(BUSY, tcall_is_busy_(tc));
    if (!faults || !tcall_agent_lives_(agent))
        memset(agent, 0, sizeof *agent);
    if (tcall_agent_refuse_(agent, tc, faults) < 0)
        return TCALL_E_USAGE;
    tcall_agent_describe_(agent, desc);
    agent->random = desc->seed;
    if (!tcall_agent_settle_(agent, desc->io_size))
        return TCALL_E_MEMORY;
    tc->agent = agent->self = agent;
    agent->state = TCALL_AGENT_IDLE_;
    return TCALL_OK;
}

int tcall_agent_use(tcall_agent *agent, const tcall_agent_desc *desc)
{
    tcall_agent_desc *now = &agent->desc;
    const size_t io_size = now->io_size;
    const int parallel = now->parallel;
    uint32_t faults;
    if (!tcall_agent_open_to_(agent, TCALL_AGENT_IDLE_, TCALL_AGENT_IDLE_))
        return TCALL_E_USAGE;
    faults = desc->tc == now->tc ? tcall_agent_faults_(desc)
                                 : TCALL_LACK_(OTHER, true);
    if (!faults)
        faults = TCALL_LACK_(IO, tcall_agent_path_(desc, NULL, 0) >= io_size);
    if (tcall_agent_refuse_(agent, now->tc, faults) < 0)
        return TCALL_E_USAGE;
    if (desc->pick_opts != now->pick_opts || desc->pick != now->pick)
        agent->picked = false;
    tcall_agent_describe_(agent, desc);
    now->io_size = io_size;
    now->parallel = parallel;
    agent->chat.counted.at = 0; /* its instructions come before */
    return TCALL_OK;
}

/* ---- limits and events ---- */

/* Without a clock no time ever passes: limits were refused at the start, and
 * nothing is sent again. */
TCALL_SHARED_ uint32_t tcall_agent_now_(const tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    return transport->now_ms ? transport->now_ms(transport->user) : 0;
}

/* Returns why no further round may begin, or TCALL_OK. */
TCALL_SHARED_ int tcall_agent_over_(const tcall_agent *agent)
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
TCALL_SHARED_ void tcall_agent_spare_(tcall_agent *agent, size_t more)
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

/* Has the call a result? */
TCALL_SHARED_ bool tcall_agent_answered_(const tcall_agent *agent, tcall_str id)
{
    return tcall_chat_answers_(&agent->chat, agent->answer_at, id);
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
TCALL_SHARED_ bool tcall_is_image_type_(const char *type)
{
    return type && strncmp(type, "image/", 6) == 0 &&
           tcall_name_fits_(type + 6, "!#$&^+.", 127, false);
}

/* Adds an image to the conversation: of the result with this id, or of the
 * user. */
TCALL_SHARED_ int tcall_agent_add_image_(tcall_agent *agent, tcall_str id,
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
        tcall_agent_answered_(agent, call->id))
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
        if (tcall_agent_answered_(agent, call->id))
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
TCALL_NOINLINE_ TCALL_SHARED_ void tcall_agent_batch_end_(tcall_agent *agent)
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
TCALL_NOINLINE_ TCALL_SHARED_ int tcall_agent_run_calls_(tcall_agent *agent)
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

#endif /* TOOLCALL_NO_AGENT */
