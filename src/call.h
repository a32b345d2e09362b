#pragma once
#include "tools.h"
#include "machine.h"

/* ==========================================================================
 * >>call: from what the model sent to a call that may run
 *
 * parse -> validate. Whatever goes wrong stays in the call: error,
 * step, what was expected where. Nothing here runs a tool.
 */

typedef enum tcall_step {
    TCALL_STEP_FIND,
    TCALL_STEP_PARSE,
    TCALL_STEP_VALIDATE,
    TCALL_STEP_DONE /* it may be invoked */
} tcall_step;

/* One attempt at the arguments: what came, what a repair made of it, what hooks
 * made of it. Of an output that a hook replaced there is only its text. */
typedef struct tcall_attempt {
    struct tcall_attempt *next; /* that was made after it */
    const char *by;    /* "model", "repair", or the name of a hook or tool */
    tcall_str came;    /* the text as it came; the output that was replaced */
    tcall_json args;   /* checked arguments; missing: nothing was read */
    const void *bound; /* the struct of a TCALL_STRUCT */
    const tcall_fault *fault;       /* the first of them, TOOLCALL_MAX_FAULTS */
    tcall_str complaint;            /* words of a foreign validator */
    const tcall_coercion *coercion; /* those that are kept; NULL: see faults */
    size_t error_at;                /* parse errors: offset in what came */
    uint32_t fixes;                 /* of the text, TCALL_FIX_... bits */
    int error;                      /* TCALL_OK or what went wrong */
    uint16_t coercions;
    uint8_t faults; /* number of */
    uint8_t step;   /* tcall_step reached, or failed in */
    uint8_t stage;  /* tcall_stage it was made at */
    bool validated; /* the schema holds */
} tcall_attempt;

/* Something a tool made besides its output; the tool's until tcall_release, the
 * bytes of an image as long as the conversation holds it (tcall_agent_show). To
 * add one: a.next = cx->result.attached; cx->result.attached = &a; */
typedef struct tcall_attachment {
    const char *type; /* MIME type */
    const char *name; /* may be NULL */
    tcall_str bytes;
    struct tcall_attachment *next;
} tcall_attachment;

/* What came of a call. The model reads output, the rest is for programs and
 * people. */
typedef struct tcall_result {
    int error; /* TCALL_OK: success */
    bool ran;  /* the tool was called, and not only to ask for approval */
    tcall_str output;           /* valid as long as the buffer of out */
    tcall_str title;            /* short */
    tcall_str metadata;         /* JSON text */
    const char *suggestion;     /* what to do about the error; also in output */
    tcall_attachment *attached; /* latest first */
} tcall_result;

/* Why a call, or the last attempt to run its tool, failed: events, hooks, audit
 * and result all read this one. */
typedef struct tcall_failure {
    int error;         /* TCALL_OK: nothing failed */
    tcall_str reason;  /* in words, may be empty; valid until tcall_release */
    const char *by;    /* the hook that failed, or the service that is missing;
                          may be NULL */
    const char *code;  /* of tcall_abort, may be NULL */
    int status;        /* HTTP status of tcall_abort, else 0 */
    uint32_t retry_ms; /* of tcall_retry_after, else 0 */
    uint16_t attempt;  /* 0: before the tool's first run */
    uint8_t stage;     /* tcall_stage it happened at */
    bool ran;          /* the tool was called before, see tcall_result */
} tcall_failure;

/* What tools and hooks know of the call they work for. It lies in the call. */
struct tcall_ctx {
    tcall *tc;
    tcall_call *call;
    tcall_session *session; /* may be NULL */
    const void *bound;      /* the struct of a TCALL_STRUCT */
    void *user;             /* tool->user */
    const tcall_hook *hook; /* at work; NULL: the tool */
    uint8_t stage;          /* tcall_stage at hand */
    /* private: the way through the stages; near, as all of it asks for them */
    uint8_t state;        /* one bit: towards the run, answered, failed ... */
    uint8_t run_step;     /* where the attempt to run the tool is */
    uint8_t tool;         /* how its last run ended, TCALL_TOOL_... */
    uint8_t around_depth; /* hooks that are around what runs */
    bool output_held : 1;
    bool at_work : 1; /* it has called the program */
    bool asks : 1;    /* a person is waited for: the last answer, of whomever */
    bool approval_asked : 1;  /* reported, and not decided yet */
    bool approval_wanted : 1; /* the tool itself wants one: tcall_approval */
    bool ledger_used : 1;     /* this call took the verdict of a ledger's row */
    bool service_missing : 1; /* since the last look at it */

    uint16_t attempt;      /* 1 for the first run of the tool */
    tcall_failure failure; /* at TCALL_ON_RETRY and _GIVE_UP the attempt's */
    uint32_t started;      /* by desc.now_ms */
    uint32_t finished;     /* likewise; 0 before TCALL_WILL_AUDIT */
    int stop;              /* < 0: what tcall_cancel was called with */

    /* private */
    tcall_writer *out;
    const tcall_writer *out_start; /* out as it was before the call */
    size_t wanted;                 /* bytes of an output that did not fit */
    /* masks in a text what was injected, so that only who injects links it;
     * NULL: nothing was */
    size_t (*hide)(const tcall_ctx *cx, tcall_str text);
    uint32_t deadline;  /* 0: there is none */
    uint32_t held;      /* acquiring hooks that are to be released, bits */
    uint16_t last_hook; /* the one of the stage at hand that ended last */
    uint16_t around;    /* where the hook is that is around what runs */
    tcall_str output;   /* in the block while a hook after the run waits */
    char *words;        /* the tool's, of why it failed */
    tcall_service *services;
    uint32_t thing;      /* hash of tcall_concerns; 0: not said, 1: many */
    uint32_t wait_began; /* by the agent's clock */

    tcall_result result; /* complete from TCALL_WILL_AUDIT on */
    /* What the call waits for. Empty when a tool or hook is called, which adds
     * to it if it answers TCALL_E_AGAIN; complete, with the deadline, when
     * tcall_invoke has answered TCALL_E_AGAIN or TCALL_E_APPROVAL. */
    tcall_wait wait;
};

/* What an agent does from what a person says to the answer. Whoever makes calls
 * without an agent may give them a turn of his own, with another id each time
 * that it begins anew. */
typedef struct tcall_turn {
    uint32_t id;              /* 1, 2, 3, ... in a conversation */
    uint16_t rounds;          /* answers of the model */
    uint16_t calls;           /* calls that were taken up */
    uint32_t tokens;          /* as the provider counts them */
    uint32_t started;         /* by the clock of the transport */
    bool plan;                /* nothing runs: see tcall_agent_plan */
    const tcall_call *parent; /* of a sub-agent: the call it works for */
} tcall_turn;

/* A call of a tool, from what the model asked to its result. */
struct tcall_call {
    /* What the model asked, as it came. The caller sets these. */
    tcall_str id;
    tcall_str name;
    tcall_str arguments;
    const char *provider; /* name of the wire format, may be NULL */
    int incomplete;       /* < 0: why the call is not whole; it will not run */
    tcall_session *session; /* NULL: that of the registry */
    const tcall_turn *turn; /* it belongs to; NULL: to none */
    /* Which call of the conversation it is, said by an agent: the numbers of
     * its turn, of the answer in that, and of the call in the answer. No other
     * call has the same; 0: made without an agent. */
    uint32_t turn_id;
    uint16_t round, position;
    /* What became of it. */
    bool repaired; /* by the repair callback: untrusted */
    bool approved;
    bool by_model : 1;  /* private: an agent's, held to the offer of its turn */
    bool repairing : 1; /* private: desc.repair answered TCALL_E_AGAIN */
    bool is_agents : 1; /* private: it is under way, and its agent releases it
                         */
    int error;          /* TCALL_OK or what went wrong */
    uint32_t hydrate_ms, run_ms;
    const tcall_tool *tool;
    const tcall_node *node; /* of the schema; NULL: another one checks, or
                             * nobody */
    /* The attempt that counts: it is shown, approved, logged and sent back.
     * NULL before tcall_hydrate; all zero where nothing could be read. */
    const tcall_attempt *asked;
    tcall_attempt *attempts;   /* all of them, the first one first */
    const tcall_attempt *runs; /* with what hooks injected, for the tool and
                                * nobody else, and not in that list; NULL: asked
                                */
    struct tcall_loops *loops; /* private: an agent's; NULL: it breaks none */
    size_t mark; /* private: of the block, see tcall_block_release_ */
    tcall_ctx cx;
};

/* Private: see TCALL_VALIDATOR and TCALL_REPAIR. */
TCALL_API int tcall_hydrate_validate_(const tcall_call *call,
                                      tcall_attempt *attempt);
TCALL_API int tcall_hydrate_repair_(tcall *tc, tcall_call *call);

/* Private: see tcall_lenient. */
struct tcall_lenience_ {
    int (*read)(tcall_machine *machine, const tcall_machine_desc *desc,
                tcall_str text, bool strict, uint32_t *fixes);
    uint8_t (*coerce)(tcall_machine *machine, uint8_t types);
    void (*write)(tcall_writer *w, const char *text,
                  const tcall_coercion *coercion, unsigned count);
};

/* Takes a call (the first members set, the rest zero) through parse and
 * validate. Returns call->error, or TCALL_E_AGAIN where desc.repair did: call
 * it again, or tcall_invoke, which goes on with the repair. What it needs is
 * held in the block until tcall_release. */
TCALL_API int tcall_hydrate(tcall *tc, tcall_call *call);
/* Writes what is wrong with the arguments, as members of a JSON object that is
 * open. */
TCALL_API int tcall_write_call_errors(tcall_writer *w, const tcall_call *call);
