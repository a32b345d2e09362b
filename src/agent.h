#pragma once
#include "pick.h"
#include "invoke.h"
#include "reader.h"

/* ==========================================================================
 * >>agent: say, run, plan, over a transport
 *
 * The library never opens a socket: tcall_transport is the door to the
 * network, and port/ has one that fits. A request is written twice by the
 * same function, once to count its bytes and once to send them. Planning and
 * acting are apart: tcall_agent_plan returns checked calls, tcall_agent_step
 * and tcall_agent_run also run them.
 */

#ifndef TOOLCALL_NO_AGENT

struct tcall_request;
struct tcall_response;

/* The one door to the network: an exchange of one request and one answer.
 * The order is open, write until body_len bytes were accepted, read until 0,
 * close. Each may answer TCALL_E_AGAIN (nothing was done, call again later) or
 * another error, after which only close is called. Each does a bounded piece of
 * work and does not block: max_ms and cancel are looked at between them. */
typedef struct tcall_transport {
    /* Connects (or reuses a connection) and sends the head of the request.
     * req and res stay valid until close; res has to be filled in before read
     * gives its first byte. */
    int (*open)(void *user, const struct tcall_request *req,
                struct tcall_response *res);
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
    int max_rounds;      /* requests in one turn; default 8 */
    int max_calls;       /* calls run in one turn; default 32 */
    int parallel;        /* calls of one answer that are under way at a time,
                          * where tools answer TCALL_E_AGAIN; default 1 */
    uint32_t max_ms;     /* time for one turn; default: no limit */
    /* How often one request is sent; default 3, 1: never again. It is sent
     * again where that may help: nothing of an answer came because the
     * connection failed, or the HTTP status is 408, 409, 429 or 500 to 599, or
     * as the header x-should-retry says. The wait before is the server's
     * (Retry-After), else 0.5 s, 1 s, 2 s and so on to 8 s, up to half of
     * which is left to chance. A wait that would pass max_ms ends the turn. No
     * tool runs again because of it. */
    int max_tries;
    uint32_t max_wait_ms; /* longer waits are cut to this; default 60000 */
    uint32_t seed;        /* of chance in those waits; default: the clock */
    size_t io_size;       /* bytes for reading and writing; default 512 */
    bool stream;
    /* One call an answer: the provider is told so, and further ones do not run
     * but have TCALL_E_LIMIT as result. */
    bool no_parallel;
    /* Calls that a local model writes as text count as calls: see
     * >>text_calls. */
    bool text_calls;
    /* Replace ${name} in descriptions of tools; NULL: they are sent as they
     * are. */
    const tcall_variable *variables;
    /* Not NULL: of more than TCALL_AGENT_ALL tools only those that these
     * options pick for what the user says are sent, for the whole turn. Where
     * none fits, or none is new, those of the turn before are. Other tools make
     * the provider read all anew, and void the reasoning that was to go back.
     * NULL: all are sent. */
    const struct tcall_pick_opts *pick_opts;
} tcall_agent_desc;

enum {
    TCALL_AGENT_HEADERS = 4, /* most headers of the user */
    TCALL_AGENT_ALL = 20,    /* so many tools are all sent */
    TCALL_AGENT_PICKS = 16   /* most picks that are sent, pinned ones too */
};

typedef struct tcall_agent tcall_agent;

/* Sets an agent up in the block of desc->tc. Returns TCALL_OK, TCALL_E_MEMORY
 * (the block's need says how large to make it), or TCALL_E_USAGE where desc
 * lacks something: agent->problem says what, in a sentence. Until it has
 * succeeded each function below answers TCALL_E_USAGE. The memory is given back
 * only by tcall_init. */
TCALL_API int tcall_agent_init(tcall_agent *agent,
                               const tcall_agent_desc *desc);
/* Changes provider, model, key, path, transport, or whatever else desc says,
 * between turns; tc and io_size stay. The conversation goes on: reasoning of
 * another provider is not sent. Returns TCALL_OK, TCALL_E_USAGE during a turn
 * or where desc lacks something (agent->problem), or TCALL_E_MEMORY; after an
 * error nothing has changed. */
TCALL_API int tcall_agent_use(tcall_agent *agent, const tcall_agent_desc *desc);
/* Runs a whole turn: tcall_agent_say, then steps until it is over. Returns
 * TCALL_OK and tcall_agent_text is the answer, or the error that ended it: an
 * answer that did not end by itself is one of those of tcall_answer_ending, and
 * what came of its text stays; TCALL_E_APPROVAL, where calls wait for a
 * verdict: go on with tcall_agent_step. */
TCALL_API int tcall_agent_run(tcall_agent *agent, tcall_str text);
/* Begins a turn with what the user says. Where the block is too small for all
 * of the conversation its oldest turns are dropped, as a whole. Returns
 * TCALL_OK, TCALL_E_USAGE during a turn or where agent->problem says why, or
 * TCALL_E_MEMORY. */
TCALL_API int tcall_agent_say(tcall_agent *agent, tcall_str text);
/* Does one bounded piece of work. Returns TCALL_E_AGAIN: call it again when
 * agent->wait is over, sooner does no harm; otherwise as tcall_agent_run. After
 * TCALL_E_APPROVAL call it when there is a verdict, and after agent->wait.ms
 * at the latest. */
TCALL_API int tcall_agent_step(tcall_agent *agent);
/* Sleeps by transport.wait as agent->wait says, but at most TCALL_WAIT_MOST_MS,
 * in loops around tcall_agent_step. */
TCALL_API void tcall_agent_wait(tcall_agent *agent);
/* Returns the model's text of this turn; it is valid until the next step. */
TCALL_API tcall_str tcall_agent_text(const tcall_agent *agent);
/* Ends the turn with TCALL_E_CANCELLED at the next step. It only sets a flag: a
 * signal handler or an interrupt may call it. */
TCALL_API void tcall_agent_cancel(tcall_agent *agent);
/* Does one exchange and runs nothing. Returns the number of calls in the
 * answer; 0 ends the turn. */
TCALL_API int tcall_agent_plan(tcall_agent *agent, tcall_str text);
/* Checks the index-th call of the last answer, as tcall_hydrate does. Release
 * it when done. */
TCALL_API int tcall_agent_call(tcall_agent *agent, int index, tcall_call *call);
/* Gives the result of a call of a plan. Once each call has one, the turn goes
 * on with tcall_agent_step. */
TCALL_API int tcall_agent_result(tcall_agent *agent, const tcall_call *call,
                                 tcall_str text, bool error);

/* -- For authors of transports -- */

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

struct tcall_agent {
    tcall_wait wait;     /* what tcall_agent_step waits for */
    const char *problem; /* why tcall_agent_init refused; else NULL */
    tcall_chat chat;
    tcall_response response; /* the last one, without its body */
    tcall_answer answer;     /* the last one */
    tcall_agent_desc desc;   /* with its defaults */
    /* private */
    tcall_flag cancelled; /* by tcall_agent_cancel */
    uint8_t state;
    bool run;           /* calls are run, not only checked */
    bool opened;        /* the transport has to be closed */
    bool reconnected;   /* a dead connection was replaced */
    bool picked;        /* only the picks are sent */
    uint8_t pick_count; /* of picks */
    uint16_t picks[TCALL_AGENT_PICKS];
    uint16_t rounds, calls, tries; /* of this turn; tries of this request */
    uint32_t started;              /* when the turn began */
    uint32_t pause_began, pause;   /* the wait before the next try */
    uint32_t random;               /* state of chance in these waits */
    tcall_request request;
    tcall_header headers[3 + TCALL_AGENT_HEADERS];
    long context; /* what servers are told that have to be */
    tcall_reader *reader;
    char *io;              /* desc.io_size bytes */
    size_t path_size;      /* of a path in the block, before the chat */
    size_t sent, received; /* bytes of the bodies */
    size_t unsent;         /* bytes in io that were written, but not sent */
    tcall_resume_ resume;  /* where the request is taken up again */
    size_t answer_at;      /* where the last answer begins in the chat */
    size_t call_at;        /* calls of it that have a result */
    tcall_call *batch;     /* calls under way: call, or in the block */
    size_t batch_high;     /* of the block, before them */
    int batch_count;
    int delivered;    /* results of the batch that are in the chat */
    int turn;         /* the call of the batch that goes on next */
    int waiting;      /* calls in a row that wait */
    int asking;       /* of them, for approval */
    tcall_writer out; /* counts a request; of the call whose turn it is */
    tcall_call call;
};

#endif /* TOOLCALL_NO_AGENT */
