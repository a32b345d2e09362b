#pragma once
#include "agent_desc.h"
#include "call.c"
#include "answer.c"
#include "provider.c"
#include "mend.c"

/* ==========================================================================
 * >>agent_desc: is a desc complete, and is what it adds to requests allowed
 */

#ifndef TOOLCALL_NO_AGENT

/* What desc asks for and this program was built without, as a sentence. */
static const char *tcall_agent_left_out_(const tcall_agent_desc *desc)
{
    (void)desc;
#ifdef TOOLCALL_NO_RETRY
    if (desc->max_tries > 1)
        return "max_tries above 1 needs what TOOLCALL_NO_RETRY leaves out";
#endif
    return NULL;
}

/* Members of the body that the library writes: it has no second ones. */
static const char *const tcall_agent_own_members_[] = {
    "model",       "messages",      "system",
    "contents",    "input",         "instructions",
    "tools",       "stream",        "systemInstruction",
    "store",       "toolConfig",    "parallel_tool_calls",
    "tool_choice", "stream_options"};

static const char *tcall_agent_extra_problem_(tcall_block *block,
                                              const char *extra)
{
    size_t i;
    if (!extra)
        return NULL;
    if (!tcall_is_object_text_(tcall_str_of(extra)))
        return "extra must be the text of one JSON object";
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_agent_own_members_); i++)
        if (tcall_text_get_(tcall_text_space_(extra),
                            tcall_agent_own_members_[i]))
            return "extra holds a member that each request has already";
    if (tcall_has_key_twice_(block, tcall_str_of(extra)))
        return "extra holds a member twice: leave one out";
    return NULL;
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

/* A header of the user by this name, or NULL. */
TCALL_SHARED_ const tcall_header *
tcall_agent_header_named_(const tcall_agent_desc *desc, const char *name)
{
    size_t i;
    for (i = 0; name && i < desc->header_count; i++)
        if (tcall_agent_same_name_(desc->headers[i].name, name))
            return &desc->headers[i];
    return NULL;
}

static const char *tcall_agent_headers_problem_(const tcall_agent_desc *desc)
{
    size_t i;
    if (desc->header_count > TCALL_AGENT_HEADERS)
        return "headers are too many: at most TCALL_AGENT_HEADERS";
    for (i = 0; i < desc->header_count; i++) {
        const tcall_header *header = &desc->headers[i];
        if (!header->name || !tcall_name_fits_(header->name, ".", 64, false))
            return "a header's name must be letters, digits, '-', '_' or '.'";
        if (!tcall_agent_is_value_(header->value) ||
            !tcall_agent_is_value_(header->secret))
            return "a header's value must not hold control characters";
    }
    if (tcall_agent_header_named_(desc, "Content-Type") ||
        tcall_agent_header_named_(desc, "Content-Length") ||
        tcall_agent_header_named_(desc, "Transfer-Encoding") ||
        tcall_agent_header_named_(desc, "Host"))
        return "headers hold one that each request has already";
    if (desc->key &&
        tcall_agent_header_named_(desc, desc->provider->key_header))
        return "headers hold the one that carries the key: leave one out";
    return NULL;
}

/* What is wrong with what the user adds to requests, or NULL. */
TCALL_SHARED_ const char *
tcall_agent_added_problem_(const tcall_agent_desc *desc)
{
    const char *problem = tcall_agent_left_out_(desc);
    if (!problem)
        problem = tcall_agent_extra_problem_(&desc->tc->block, desc->extra);
    return problem ? problem : tcall_agent_headers_problem_(desc);
}

/* What desc lacks, as a sentence, or NULL. */
TCALL_SHARED_ const char *tcall_agent_problem_(const tcall_agent_desc *desc)
{
    const tcall_transport *transport = &desc->transport;
    if (!desc->tc)
        return "tc is missing: set a tcall up with tcall_init and name it";
    if (tcall_usable_(desc->tc) < 0)
        return desc->tc->problem ? desc->tc->problem
                                 : "tc cannot be used: tcall_init was not "
                                   "called, or it failed";
    if (!desc->provider)
        return "provider is missing: name one, such as &tcall_openai";
    if (!desc->model || !*desc->model)
        return "model is missing: give the name that the provider knows";
    if (!desc->provider->write || !desc->provider->answer)
        return "provider is empty: name one, such as &tcall_openai";
    if (!desc->path && !desc->provider->path)
        return "path is missing: this provider has none of its own";
    if (!transport->open || !transport->write || !transport->read ||
        !transport->close)
        return "transport is incomplete: open, write, read and close are "
               "required";
    if (desc->pick_opts && !desc->pick)
        return "pick_opts needs a function that picks: set pick to tcall_pick";
    if (desc->max_ms && !transport->now_ms)
        return "max_ms needs a clock: set transport.now_ms";
    return tcall_agent_added_problem_(desc);
}

#ifdef TOOLCALL_NO_RETRY
enum { TCALL_AGENT_TRIES_ = 1 };
#else
enum { TCALL_AGENT_TRIES_ = 3 };
#endif

/* A number below zero is no limit anybody meant: it counts as zero does. */
TCALL_SHARED_ void tcall_agent_defaults_(tcall_agent_desc *desc)
{
    const tcall_provider *provider = desc->provider;
    if (!desc->io_size)
        desc->io_size = 512;
    if (desc->max_rounds <= 0)
        desc->max_rounds = 8;
    if (desc->max_calls <= 0)
        desc->max_calls = 32;
    if (desc->max_tries <= 0)
        desc->max_tries = TCALL_AGENT_TRIES_;
    if (!desc->max_wait_ms)
        desc->max_wait_ms = 60000;
    if (!desc->path)
        desc->path = desc->stream && provider->stream_path
                         ? provider->stream_path
                         : provider->path;
}

#endif /* TOOLCALL_NO_AGENT */
