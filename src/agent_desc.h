#pragma once
#include "pick.h"
#include "provider.h"
#include "transport.h"

/* ==========================================================================
 * >>agent_desc: what an agent is made of
 */

#ifndef TOOLCALL_NO_AGENT

/* What an agent is made of. tc, provider, model and the transport's open,
 * write, read and close are required; zero is the default of all the rest. */
typedef struct tcall_agent_desc {
    tcall *tc;
    const tcall_provider *provider;
    tcall_transport transport;
    const char *model;
    const char *key;    /* secret; NULL when the server wants none */
    const char *path;   /* default: the provider's; "{model}" is filled in */
    const char *system; /* instructions for the model */
    /* Further members of the body and further headers: see tcall_chat_request
     * and tcall_header. They are checked here and whenever a turn begins; of
     * agent->desc they may be replaced between two turns. */
    const char *extra;
    const struct tcall_header *headers;
    size_t header_count; /* at most TCALL_AGENT_HEADERS */
    bool cache_prompt;   /* see tcall_chat_request */
    int max_tokens;      /* of one answer; default: the provider's */
    int parallel;        /* calls of one answer that are under way at a time,
                          * where tools answer TCALL_E_AGAIN; default 1 */
    const tcall_call *parent; /* of a sub-agent: the call that it works for */
    /* Limits of one turn. */
    int max_rounds;  /* requests; default 8 */
    int max_calls;   /* calls run; default 32 */
    uint32_t max_ms; /* time; default: no limit */
    /* Tokens, requests and answers together, as the provider counts
     * them: once there are so many no call runs and no request is made. An
     * answer that ends the turn may pass it. Default: no limit. */
    uint32_t max_turn_tokens;
    /* How often one request is sent; default 3, 1: never again, which is the
     * default with TOOLCALL_NO_RETRY. It is sent again where that may help:
     * nothing of an answer came because the connection failed, or the HTTP
     * status is 408, 409, 429 or 500 to 599, or as the header x-should-retry
     * says. The wait before is the server's (Retry-After), else 0.5 s, 1 s,
     * 2 s and so on to 8 s, up to half of which is left to chance. A wait that
     * would pass max_ms ends the turn. No tool runs again because of it. */
    int max_tries;
    uint32_t max_wait_ms; /* longer waits are cut to this; default 60000 */
    uint32_t seed;        /* of chance in those waits; default: the clock */
    size_t io_size;       /* bytes for reading and writing; default 512 */
    bool stream;
    /* One call an answer: the provider is told so, and further ones do not run
     * but have TCALL_E_LIMIT as result. */
    bool no_parallel;
    bool allow_repeat; /* the same call may be made again in a turn: see
                        * >>loops, and allow_repeat of a tool */
    /* The family of models whose calls in text count, &tcall_text_qwen: for a
     * server that does not read them. See >>text_calls. */
    const struct tcall_text_calls *text_calls;
    /* Replace ${name} in descriptions of tools; NULL: they are sent as they
     * are. */
    const tcall_variable *variables;
    /* tcall_pick, or a function like it: tools that pick_opts exclude are not
     * offered, and of more than TCALL_AGENT_ALL tools only those that it picks
     * for what the user says first: by the first turn that has some, and kept.
     * Other tools would make the provider read all anew, and void the reasoning
     * that was to go back; another pick, or other pick_opts, by tcall_agent_use
     * make them anew. NULL: all tools are offered that tc->desc permits. */
    int (*pick)(tcall *tc, tcall_str input, const struct tcall_pick_opts *opts,
                tcall_picked *picks, int max);
    const struct tcall_pick_opts *pick_opts; /* NULL: its defaults */
} tcall_agent_desc;

/* Limits of an agent. */
enum {
    TCALL_AGENT_HEADERS = 4, /* most headers of the user */
    TCALL_AGENT_ALL = 20,    /* so many tools are all sent */
    TCALL_AGENT_PICKS = 16   /* most picks that are sent, pinned ones too */
};

#endif /* TOOLCALL_NO_AGENT */
