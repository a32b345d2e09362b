#pragma once
#include "pick.h"
#include "hooks.h"
#include "answer.h"

/* ==========================================================================
 * >>agent: say, run, plan, over a transport
 *
 * A request is written twice by the same function, once to count its bytes and
 * once to send them. Planning and acting are apart: tcall_agent_plan returns
 * checked calls, tcall_agent_step and tcall_agent_run also run them.
 *
 * A turn is from what a person says to the answer, or to the error that ends
 * it: TCALL_EVENT_TURN and TCALL_EVENT_TURN_END. Its number, and what it has
 * used of the limits of desc, is agent->turn; each call points to it.
 *
 * What a step calls (tools, hooks, listeners, approve, the transport) may look
 * at the conversation, save it and cancel the turn: tcall_agent_text, _save,
 * _cancel and _need, tcall_chat_next. All else here answers TCALL_E_USAGE
 * until the step is over; for who hears of TCALL_EVENT_TURN_END it is.
 */

#ifndef TOOLCALL_NO_AGENT

/* -- The one door to the network --
 *
 * The library never opens a socket: an agent is given a transport, and port/
 * has one that fits. What follows is for authors of others.
 */

/* One header line. The value is sent as value followed by secret; the secret
 * must never reach a log, an error or an event. Both may be NULL. */
typedef struct tcall_header {
    const char *name;
    const char *value;
    const char *secret;
} tcall_header;

/* What the transport has to send before the body. Host, port and TLS belong
 * to the transport, which was set up for one server. */
typedef struct tcall_request {
    const char *method;          /* "POST" */
    const char *path;            /* "/v1/chat/completions" */
    const tcall_header *headers; /* beside Host and Content-Length */
    size_t header_count;
    size_t body_len; /* exact number of bytes of the body */
} tcall_request;

/* What is known of the answer besides its body. */
typedef struct tcall_response {
    int status;          /* HTTP status, 0 as long as it is unknown */
    long retry_after_ms; /* from retry-after(-ms), -1 when absent */
    int should_retry;    /* x-should-retry: 1 true, -1 false, 0 absent */
} tcall_response;

/* The one door to the network: an exchange of one request and one answer.
 * The order is open, write until body_len bytes were accepted, read until 0,
 * close. Each may answer TCALL_E_AGAIN (nothing was done, call again later) or
 * another error, after which only close is called. Each does a bounded piece of
 * work and does not block: max_ms and cancel are looked at between them. */
typedef struct tcall_transport {
    /* Connects (or reuses a connection) and sends the head of the request.
     * req and res stay valid until close; res has to be filled in before read
     * gives its first byte. */
    int (*open)(void *user, const tcall_request *req, tcall_response *res);
    /* Returns how many of the len bytes were accepted, > 0. */
    int (*write)(void *user, const char *bytes, size_t len);
    /* Returns how many bytes were stored, or 0 when the body is complete. A
     * body that ends early is TCALL_E_CLOSED, never 0. */
    int (*read)(void *user, char *bytes, size_t cap);
    /* Ends the exchange, whatever its state; called once for each open. */
    void (*close)(void *user);
    /* Returns a monotonic clock in milliseconds, which may wrap. NULL: there
     * are no limits of time and no request is sent again. */
    uint32_t (*now_ms)(void *user);
    /* Sleeps until the first thing that wait names has come, or less; a signal
     * should wake it. NULL: tcall_agent_run polls without a pause. */
    void (*wait)(void *user, const tcall_wait *wait);
    /* Adds to wait what the last TCALL_E_AGAIN was for. NULL, or if it adds
     * nothing: the transport is asked again every TCALL_WAIT_POLL_MS. */
    void (*wants)(void *user, tcall_wait *wait);
    void *user;
} tcall_transport;

/* -- What an agent is made of -- */

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
                          * where tools answer TCALL_E_AGAIN; default 1, at
                          * most TCALL_AGENT_CALLS */
    const tcall_call *parent; /* of a sub-agent: the call that it works for */
    /* Limits of one turn; more than TCALL_AGENT_MOST counts as that. */
    int max_rounds;  /* requests; default 8 */
    int max_calls;   /* calls run; default 32 */
    uint32_t max_ms; /* time; default: no limit */
    /* Tokens, requests and answers together, as the provider counts
     * them: once there are so many no call runs and no request is made. An
     * answer that ends the turn may pass it. Default: no limit. */
    uint32_t max_turn_tokens;
    /* How often one request is sent; default 3, 1: never again. It is sent
     * again where that may help:
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
    TCALL_AGENT_HEADERS = 4,  /* most headers of the user */
    TCALL_AGENT_CALLS = 16,   /* most calls under way at a time */
    TCALL_AGENT_MOST = 32767, /* most rounds, calls and tries */
    TCALL_AGENT_ALL = 20,     /* so many tools are all sent */
    TCALL_AGENT_PICKS = 16    /* most picks that are sent, pinned ones too */
};

/* -- The agent -- */

typedef struct tcall_agent tcall_agent;

/* Sets an agent up in the block of desc->tc. Returns TCALL_OK, TCALL_E_MEMORY
 * (the block's need says how large to make it), or TCALL_E_USAGE where desc
 * lacks something: agent->problem says what, in a sentence, where the registry
 * names &tcall_report. Until it has
 * succeeded each function below answers TCALL_E_USAGE; where the agent was set
 * up already, it stays as it is. The memory is given back only by tcall_init.
 */
TCALL_API int tcall_agent_init(tcall_agent *agent,
                               const tcall_agent_desc *desc);
/* As tcall_need, with an agent, for turns of so many bytes: what is said on
 * both sides, arguments and results together. agent->tc may be NULL: desc is
 * what it will be made of. Tools' scratch memory takes four times its size, as
 * a quarter of what is free is left to calls. */
TCALL_API size_t tcall_agent_need(const tcall_desc *desc,
                                  const tcall_agent_desc *agent, size_t bytes);
/* Changes provider, model, key, path, transport, or whatever else desc says,
 * between turns; tc, io_size and parallel stay. The conversation goes on:
 * reasoning of another provider is not sent. Returns TCALL_OK, TCALL_E_USAGE
 * during a turn or where desc lacks something (agent->problem), and nothing has
 * changed. */
TCALL_API int tcall_agent_use(tcall_agent *agent, const tcall_agent_desc *desc);
/* Runs a whole turn: tcall_agent_say, then steps until it is over. Returns
 * TCALL_OK and tcall_agent_text is the answer, or the error that ended it: of
 * an answer that did not end by itself TCALL_E_LENGTH, _REFUSED (it was
 * filtered), _QUEUED, _UNHANDLED (stop_text may say what is not handled here)
 * or _EMPTY, and what came of its text stays; TCALL_E_APPROVAL, where calls
 * wait for a verdict: go on with tcall_agent_step; TCALL_E_MEMORY, where the
 * block is too small for an answer or a call: the model never reads half of a
 * result, unless a notice in it says so. In a block of the size that is needed
 * then, the turn gets further. */
TCALL_API int tcall_agent_run(tcall_agent *agent, tcall_str text);
/* Begins a turn with what the user says; a plan that waits is dropped. Where
 * the block is too small for the conversation and another turn like the last,
 * the oldest turns are dropped, as a whole. Returns TCALL_OK, TCALL_E_USAGE
 * during a turn or where agent->problem says why, or TCALL_E_MEMORY. */
TCALL_API int tcall_agent_say(tcall_agent *agent, tcall_str text);
/* Shows the model an image, with what the user says next. type is its MIME
 * type, as "image/jpeg"; it and the bytes stay the caller's and must be there
 * as long as the conversation holds the image. Showing another one in the same
 * memory lets the older one go: a sentence says so in its place. Images that a
 * tool attaches to its result (tcall_attachment) are shown as well, under the
 * same conditions. Returns TCALL_OK, TCALL_E_MEMORY, or TCALL_E_USAGE during a
 * turn and for what is no image. */
TCALL_API int tcall_agent_show(tcall_agent *agent, const char *type,
                               tcall_str bytes);
/* Does one bounded piece of work. Returns TCALL_E_AGAIN: call it again when
 * agent->wait is over, sooner does no harm; otherwise as tcall_agent_run. After
 * TCALL_E_APPROVAL call it when there is a verdict, and after agent->wait.ms
 * at the latest. */
TCALL_API int tcall_agent_step(tcall_agent *agent);
/* Sleeps by transport.wait as agent->wait says, but at most TCALL_WAIT_MOST_MS,
 * in loops around tcall_agent_step. */
TCALL_API void tcall_agent_wait(tcall_agent *agent);
/* Returns the model's text of this turn: all that came after its last call, or,
 * where nothing did, before that; of texts that are marked so (Responses) the
 * final answer. Several texts are joined in the free part of the block once the
 * turn is over; where that is too small, the last one is returned. It is valid
 * until the next step, or call with this tcall. */
TCALL_API tcall_str tcall_agent_text(const tcall_agent *agent);
/* Ends the turn with TCALL_E_CANCELLED at the next step. It only sets a flag: a
 * signal handler or an interrupt may call it. */
TCALL_API void tcall_agent_cancel(tcall_agent *agent);
/* Begins a turn in which nothing runs, and does one exchange. tools are those
 * that are offered where they are permitted, from tcall_pick or with only their
 * index set; NULL: those of tcall_agent_say. Returns the number of
 * calls in the answer; 0 ends the turn.
 *
 * Look at each with tcall_agent_call. Then give each its result, with
 * tcall_agent_result, and go on: with tcall_agent_plan, text empty, or
 * tcall_agent_step, which returns TCALL_OK where agent->answer.calls wait anew
 * or, if there are none, the turn has ended. Or drop the plan: whatever is said
 * next does, and so does tcall_agent_cancel at the next step. */
TCALL_API int tcall_agent_plan(tcall_agent *agent, tcall_str text,
                               const tcall_picked *tools, int count);
/* Checks the index-th call of the last answer, as tcall_hydrate does. Release
 * it when done. */
TCALL_API int tcall_agent_call(tcall_agent *agent, int index, tcall_call *call);
/* Gives the result of a call of a plan. Returns TCALL_E_USAGE when it has one,
 * or is not of this plan. */
TCALL_API int tcall_agent_result(tcall_agent *agent, const tcall_call *call,
                                 tcall_str text, bool error);

/* An agent and its conversation. */
struct tcall_agent {
    tcall_wait wait;     /* what tcall_agent_step waits for */
    const char *problem; /* why tcall_agent_init refused, in words where
                          * tcall_desc.report is named; else NULL */
    tcall_chat chat;
    tcall_response response; /* the last one, without its body */
    tcall_answer answer;     /* the last one */
    tcall_agent_desc desc;   /* with its defaults */
    tcall_turn turn;         /* this one, or the last; read it only */
    /* private */
    const tcall_agent *self; /* where tcall_agent_init has succeeded */
    tcall_flag cancelled;    /* by tcall_agent_cancel */
    uint8_t state;
    bool reconnected; /* a dead connection was replaced */
    bool last_round;  /* calls of this answer do not run: it asked for words */
    bool picked;      /* the offer is only made smaller from now on */
    uint16_t tries;   /* of this request */
    uint32_t pause_began, pause; /* the wait before the next try */
    uint32_t random;             /* state of chance in these waits */
    tcall_request request;
    tcall_header headers[3 + TCALL_AGENT_HEADERS];
    size_t path_size; /* of io, for a path that was put together */
    uint32_t setting; /* a sum of all that requests say but the conversation */
    long context;     /* what servers are told that have to be */
    struct tcall_agent_room_ *room; /* in the block */
    char *io;                       /* desc.io_size bytes, in the block */
    size_t sent, received;          /* bytes of the bodies */
    tcall_resume_ resume;           /* where the request is taken up again */
    size_t question;   /* where what was said last is in the chat; its end
                        * where that was taken back */
    size_t answer_at;  /* where the last answer begins in it */
    int call_at;       /* calls of it that have a result */
    tcall_call *batch; /* calls under way, of desc.parallel in the block */
    int batch_count;
    int current;      /* the call of the batch that was the last to go on */
    tcall_writer out; /* of a request; of the call whose turn it is */
};

#endif /* TOOLCALL_NO_AGENT */
