#pragma once
#include "pick.h"
#include "invoke.h"
#include "reader.h"

/* ==========================================================================
 * >>agent: ask, call, answer, over a transport
 *
 * The library never opens a socket: tcall_transport is the door, the port
 * directory has one that fits. A request is written twice by the same
 * function, once to count, once to send. Planning and acting are apart:
 * tcall_agent_ask returns checked calls, tcall_agent_step and _run run them.
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
 * Order: open, write until body_len bytes were accepted, read until 0, close.
 * Each may answer TCALL_E_AGAIN (nothing was done, call again later) or
 * another error, after which only close is called. A transport that blocks
 * simply never answers TCALL_E_AGAIN. */
typedef struct tcall_transport {
    /* Connect (or reuse) and send the request head. req and res stay valid
     * until close; res is filled before read gives its first byte. */
    int (*open)(void *user, const tcall_request *req, tcall_response *res);
    /* > 0: so many of the len bytes were accepted. */
    int (*write)(void *user, const char *bytes, size_t len);
    /* > 0: bytes stored; 0: the body is complete. A body that ends early is
     * TCALL_E_CLOSED, never 0. */
    int (*read)(void *user, char *bytes, size_t cap);
    /* End the exchange, whatever its state; always called once per open. */
    void (*close)(void *user);
    /* Monotonic clock in milliseconds; wraps. May be NULL: no time limits. */
    uint32_t (*now_ms)(void *user);
    /* Sleep so long or less. May be NULL: then tcall_agent_run spins. */
    void (*wait)(void *user, uint32_t ms);
    void *user;
} tcall_transport;

struct tcall_agent;

typedef struct tcall_agent_desc {
    tcall *tc;
    const tcall_provider *provider;
    tcall_transport transport;
    const char *model;
    const char *key;    /* secret; NULL when the server wants none */
    const char *path;   /* default: the provider's; "{model}" is filled in */
    const char *system; /* instructions for the model */
    int max_tokens;     /* of one answer; default: the provider's */
    int max_rounds;     /* requests in one turn; default 8 */
    int max_calls;      /* calls run in one turn; default 32 */
    int parallel;       /* calls of one answer that are under way at a time,
                         * where tools answer TCALL_E_AGAIN; default 1 */
    uint32_t max_ms;    /* time for one turn; default: no limit */
    /* tcall_retry: a request that failed is sent again. NULL: it ends the
     * turn. Gives the milliseconds to wait before, or < 0. */
    long (*retry)(struct tcall_agent *a, int error);
    int max_tries;        /* of one request; default 3 */
    uint32_t max_wait_ms; /* the longest wait, longer ones are cut; default
                             60000 */
    uint32_t seed;        /* of chance in those waits; default: the clock */
    size_t io_size;       /* bytes for reading and writing; default 512 */
    bool stream;
    /* tcall_view: send tools that are strict as the provider's strict mode
     * wants them. NULL: schemas are sent as they are. */
    bool (*view)(tcall_writer *w, const tcall_tool *tool, tcall_strict *left);
    /* tcall_describe: descriptions with variables, see tcall_ask. NULL: they
     * are sent as they are. */
    int (*describe)(tcall_writer *w, const tcall_tool *tool, const void *user);
    const void *describe_user; /* of tcall_describe: its tcall_variables */
    /* tcall_pick: of more than TCALL_AGENT_ALL tools only those that fit what
     * the user says are sent, for the whole turn; when none fits, those of the
     * turn before and the pinned ones. NULL: all are sent. */
    int (*pick)(tcall *tc, tcall_str input, const tcall_pick_opts *opts,
                tcall_picked *picks, int max);
    /* Default: the best 8 that reach half of the best score, safe or not, in
     * the order of registration. */
    const tcall_pick_opts *pick_opts;
    /* tcall_text_calls: calls that a local model writes as text count. NULL:
     * only those of the provider do. */
    int (*text_calls)(tcall_reader *r);
} tcall_agent_desc;

enum {
    TCALL_AGENT_ALL = 20,  /* so many tools are all sent */
    TCALL_AGENT_PICKS = 16 /* of more, so many at most, pinned ones too */
};

/* For others to look at are wait_ms, chat, response, desc and answer. Small
 * fields stand first: code for them is shorter. */
typedef struct tcall_agent {
    uint32_t wait_ms; /* tcall_agent_step has nothing to do for so long */
    uint8_t state;
    bool run; /* calls are run, not only checked */
    bool cancelled;
    bool opened;        /* the transport has to be closed */
    bool again;         /* a dead connection was replaced */
    bool picked;        /* only the picks are sent */
    uint8_t pick_count; /* of them */
    uint16_t rounds, calls, tries;
    tcall_reader *reader;
    char *io;
    size_t sent, received, mark, call_at;
    uint32_t started, paused, pause, random;
    tcall_call *batch; /* calls under way: call, or in the block */
    size_t batch_high; /* of the block, before them */
    int batch_n, done; /* of them; results that are in the chat */
    int turn, waiting; /* whose turn it is; that wait for approval in a row */
    tcall_chat chat;
    tcall_response response;
    tcall_agent_desc desc;
    tcall_answer answer; /* the last one */
    tcall_request request;
    tcall_header headers[3];
    uint16_t picks[TCALL_AGENT_PICKS];
    tcall_call call;
} tcall_agent;

TCALL_API int tcall_agent_init(tcall_agent *a, const tcall_agent_desc *desc);
/* Begins a turn with what the user says. Old turns are dropped, whole, when
 * the block is too small for all of them. */
TCALL_API int tcall_agent_say(tcall_agent *a, tcall_str text);
/* One bounded piece of work. TCALL_E_AGAIN: go on, after a->wait_ms
 * milliseconds at the latest, sooner does no harm; TCALL_OK: the turn is over
 * and tcall_agent_text is the answer; else an error ended it. */
TCALL_API int tcall_agent_step(tcall_agent *a);
/* say and step until the turn is over. */
TCALL_API int tcall_agent_run(tcall_agent *a, tcall_str text);
/* One exchange without running anything: the number of calls in the answer.
 * Each can then be looked at with tcall_agent_call. */
TCALL_API int tcall_agent_ask(tcall_agent *a, tcall_str text);
/* The call at index of the last answer, hydrated; release it when done. Its
 * result goes back with tcall_agent_result, each call needs one. */
TCALL_API int tcall_agent_call(tcall_agent *a, int index, tcall_call *call);
TCALL_API int tcall_agent_result(tcall_agent *a, const tcall_call *call,
                                 tcall_str text, bool error);
/* For desc.retry. Where sending a request again may help: nothing of an answer
 * came because the connection failed, or HTTP status 408, 409, 429 and 500 to
 * 599, or as x-should-retry says. The wait is the server's (Retry-After), else
 * 0.5 s, 1 s, 2 s and so on to 8 s, of which up to a half is left to chance.
 * < 0 when max_tries are used up, max_ms would pass, or the transport has no
 * clock to wait by. No tool runs again because of it. */
TCALL_API long tcall_retry(tcall_agent *a, int error);
/* The model's last text. */
TCALL_API tcall_str tcall_agent_text(const tcall_agent *a);
/* Ends the turn at the next step. */
TCALL_API void tcall_agent_cancel(tcall_agent *a);
