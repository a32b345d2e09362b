#pragma once
#include "agent.h"
#include "hooks.c"
#include "pick.c"
#include "answer_feed.c"
#include "records.c"

/* ==========================================================================
 * >>agent
 *
 * What an agent is made of: is its desc complete, is there memory for it, and
 * what of it is sent in front of each request.
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
static uint32_t tcall_agent_added_faults_(const tcall_agent_desc *desc)
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
static size_t tcall_agent_path_(const tcall_agent_desc *desc, char *path,
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
static int tcall_agent_refuse_(tcall_agent *agent, const tcall *tc,
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

/* Looks again at what the user adds to requests, as it may be replaced. */
TCALL_SHARED_ int tcall_agent_recheck_(tcall_agent *agent)
{
    return tcall_agent_refuse_(agent, agent->desc.tc,
                               tcall_agent_added_faults_(&agent->desc));
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

int tcall_agent_init(tcall_agent *agent, const tcall_agent_desc *desc)
{
    uint32_t faults = tcall_agent_faults_(desc);
    tcall *tc = desc->tc;
    size_t size;
    if (!faults)
        faults = TCALL_LACK_(TWO, tc->offer != NULL) |
                 TCALL_LACK_(BUSY, tcall_is_busy_(tc));
    if (!faults || !tcall_agent_lives_(agent))
        memset(agent, 0, sizeof *agent);
    if (tcall_agent_refuse_(agent, tc, faults) < 0)
        return TCALL_E_USAGE;
    tcall_agent_describe_(agent, desc);
    agent->random = desc->seed;
    size = tcall_agent_size_(&tc->desc, &agent->desc);
    if (size < desc->io_size || !tcall_block_room_(&tc->block, size)) {
        tcall_block_note_(&tc->block, tc->block.low + size +
                                          tcall_call_room_(&tc->desc, 0));
        return TCALL_E_MEMORY;
    }
    agent->room = (tcall_agent_room_ *)tcall_table_(tc, 1, size);
    agent->batch = (tcall_call *)(void *)(agent->room + 1);
    tc->offer = (uint8_t *)(agent->batch + agent->desc.parallel);
    agent->io = (char *)tc->offer + tcall_agent_offer_size_(&tc->desc);
    /* The conversation grows at the end of what is used, so it comes last. */
    tcall_chat_init(&agent->chat, &tc->block);
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

/* ---- what is sent before the body ---- */

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
TCALL_SHARED_ void tcall_agent_set_request_(tcall_agent *agent)
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

#endif /* TOOLCALL_NO_AGENT */
