#pragma once
#include "memory.h"
#include "wait.h"
#include "shape.h"
#include "text.h"
#include "compile.h"
#include "machine.h"
#include "chat.h"

/* ==========================================================================
 * >>tools: definitions and the registry
 *
 * A tool is a row of a const table: it can stay in flash. What is missing in
 * the row is zero, and zero is always the careful choice.
 */

typedef struct tcall tcall;
typedef struct tcall_ctx tcall_ctx;
typedef struct tcall_call tcall_call;
struct tcall_attempt;

/* What a tool does to the world. Declare what applies; a tool that declares
 * nothing counts as doing everything. */
enum {
    TCALL_READ = 1,     /* looks at things: files, sensors, state */
    TCALL_WRITE = 2,    /* changes them */
    TCALL_EXECUTE = 4,  /* runs programs */
    TCALL_NETWORK = 8,  /* reaches other machines */
    TCALL_ACTUATE = 16, /* moves or switches something physical */
    TCALL_EVERYTHING = 31
};

/* What becomes of calls of a tool without a schema, whose arguments nobody
 * checks. */
typedef enum tcall_no_schema {
    TCALL_NO_SCHEMA_READ_ONLY, /* runs if the tool only reads, else asks */
    TCALL_NO_SCHEMA_APPROVAL,  /* always asks */
    TCALL_NO_SCHEMA_FULL       /* runs like any other */
} tcall_no_schema;

/* Whether a tool may be picked without pick_opts.allow_unsafe. */
typedef enum tcall_safety {
    TCALL_SAFETY_DERIVED, /* safe when it only reads */
    TCALL_SAFETY_SAFE,
    TCALL_SAFETY_UNSAFE
} tcall_safety;

/* The stages of a call, in this order. What the library does itself at a
 * stage comes after its hooks: permissions after WILL_AUTHORIZE, approval
 * after WILL_CHECK_CONSENT, a call that hydration refused fails after
 * WILL_VALIDATE_INPUT, and so does output after WILL_VALIDATE_OUTPUT.
 * X(NAME, when): */
#define TCALL_STAGES(X)                  \
    X(WILL_BIND_SERVICES, GOING)         \
    X(WILL_CREATE_CONTEXT, GOING)        \
    X(DID_CREATE_CONTEXT, DID_GOING)     \
    X(WILL_AUTHORIZE, GOING)             \
    X(WILL_CHECK_CONSENT, GOING)         \
    X(WILL_CHECK_FLAGS, GOING)           \
    X(WILL_ACQUIRE_QUOTA, GOING)         \
    X(WILL_ACQUIRE_SEMAPHORE, GOING)     \
    X(WILL_PARSE_INPUT, GOING)           \
    X(WILL_VALIDATE_INPUT, GOING)        \
    X(WILL_NORMALIZE_INPUT, GOING)       \
    X(WILL_REDACT_INPUT, GOING)          \
    X(WILL_INJECT_SECRETS, GOING)        \
    X(WILL_READ_CACHE, GOING)            \
    X(DID_CACHE_HIT, DID_HIT)            \
    X(DID_CACHE_MISS, DID_GOING)         \
    X(AROUND_EXECUTE, AROUND)            \
    X(WILL_EXECUTE, INNER)               \
    X(DID_EXECUTE, DID_INNER)            \
    X(ON_RETRY, INNER)                   \
    X(ON_GIVE_UP, FAILED)                \
    X(WILL_WRITE_CACHE, WELL)            \
    X(WILL_REDACT_OUTPUT, WELL)          \
    X(WILL_VALIDATE_OUTPUT, WELL)        \
    X(WILL_TRANSFORM_OUTPUT, WELL)       \
    X(ON_ERROR, FAILED)                  \
    X(WILL_AUDIT, ALWAYS)                \
    X(DID_AUDIT, DID_ALWAYS)             \
    X(ON_METRICS, ALWAYS)                \
    X(DID_RELEASE_SEMAPHORE, DID_ALWAYS) \
    X(DID_RELEASE_QUOTA, DID_ALWAYS)     \
    X(WILL_FINALIZE, ALWAYS)

/* TCALL_WILL_EXECUTE and the others; TCALL_STAGE_COUNT is their number. */
typedef enum tcall_stage {
#define TCALL_X_(NAME, when) TCALL_##NAME,
    TCALL_STAGES(TCALL_X_)
#undef TCALL_X_
        TCALL_STAGE_COUNT
} tcall_stage;

/* A function that is called at a stage: a row of a const table. Higher
 * priority comes earlier, at did_... stages later; equal ones in the order of
 * the tables, those of the registry before those of the tool.
 *
 * run returns TCALL_OK, or `return tcall_respond(cx, text)`, tcall_abort or
 * tcall_retry_after, or an error, which fails the call. It may answer
 * TCALL_E_AGAIN and is called again at the next tcall_invoke; after the run
 * of the tool this takes room for the output in the block, and no wait is for
 * an approval. At TCALL_AROUND_EXECUTE it calls tcall_next(cx), once for each
 * attempt, and returns what that returned.
 *
 * At TCALL_ON_ERROR a failure may still become a success: tcall_respond. Stages
 * from TCALL_WILL_AUDIT on see every call with its final result, also one whose
 * tool is unknown (cx->call->tool is NULL) or that failed. All hooks from
 * TCALL_ON_ERROR on, and at TCALL_ON_GIVE_UP, run even where one fails, which
 * TCALL_EVENT_HOOK reports and nothing else. A hook of a release stage runs
 * when the acquiring hook with the same user did, or when there is none with
 * it; where more share a user, as many release as did acquire. */
typedef struct tcall_hook {
    const char *name; /* for errors, history and logs */
    uint8_t stage;    /* tcall_stage */
    int16_t priority;
    int (*run)(tcall_ctx *cx, void *user);
    bool (*filter)(const tcall_ctx *cx, void *user); /* NULL: every call */
    void *user;
} tcall_hook;

/* Something that hooks and tools look up by name:
 * tcall_require_service. */
typedef struct tcall_service {
    const char *name;
    void *object;
    struct tcall_service *next; /* private */
} tcall_service;

/* On whose behalf a call is made. */
typedef struct tcall_session {
    tcall_str id, request, agent, user;
    tcall_service *services; /* private: bound with TCALL_SCOPE_SESSION */
} tcall_session;

/* Does the work. args have been checked against the schema or shape. Writes the
 * answer for the model to out: text (tcall_write_text) or JSON; what does not
 * fit is cut, and the model is told so. Returns TCALL_OK, an error, with the
 * reason in words in out, or TCALL_E_AGAIN to be called again: cx->wait is to
 * say when, as in `return tcall_wait_ms(&cx->wait, 100);`. */
typedef int (*tcall_run)(tcall_ctx *cx, tcall_json args, tcall_writer *out);

/* A schema with its reader: of raw JSON TCALL_JSON({...}), of a text
 * TCALL_SCHEMA_TEXT(text) in a table and tcall_schema_text_of(text) elsewhere,
 * of nodes that build/shapes made of it TCALL_NODES(name), of a struct that
 * TCALL_SHAPE made TCALL_STRUCT(name). All zero: there is none. */
typedef struct tcall_schema_text {
    const char *text; /* JSON Schema, ends with NUL; NULL: a shape */
    const struct tcall_schema_reader_ *reader; /* &tcall_schema_reader */
    const void *made; /* its tcall_object; of a text its tcall_schema, NULL: the
                       * reader makes it */
} tcall_schema_text;

/* One row of a table of tools; what it points to stays the caller's, unchanged
 * as long as the registry. */
typedef struct tcall_tool {
    const char *name;  /* a letter or _, then A-Z a-z 0-9 _ -; <= 64 in all */
    const char *title; /* for people; default: the name */
    const char *description; /* for the model: what it does and when */
    const char *tags;        /* words for choosing it, separated by spaces */
    tcall_schema_text parameters;      /* of the arguments, an object; of a
                                        * struct, cx->bound is that */
    tcall_schema_text output;          /* of the result; default: any */
    tcall_schema_text provider_schema; /* sent in place of parameters; the
                                        * check stays with parameters */
    tcall_run run;
    void *user;              /* for run: cx->user */
    const tcall_hook *hooks; /* of this tool only */
    uint16_t hook_count;
    uint8_t permissions;          /* needed, TCALL_READ | ... */
    uint8_t optional_permissions; /* used if allowed: tcall_is_granted */
    uint8_t safe;                 /* tcall_safety */
    uint8_t no_schema_mode;       /* tcall_no_schema */
    bool allow_no_schema;         /* no parameters: nothing is checked */
    bool strict;       /* ask the provider to hold the model to the schema */
    bool confirm;      /* ask for approval before each run */
    bool looks_first;  /* with confirm: the tool looks whether the call can
                        * succeed, and asks then itself: tcall_approval */
    bool streaming;    /* gives output as it goes */
    bool idempotent;   /* a second run of a call changes nothing more; only
                        * such tools, and those that only read, are retried */
    bool allow_repeat; /* the same call may be made again in a turn, as of
                        * a clock: see >>loops */
    bool pinned;       /* always among the picks */
    uint16_t roles;    /* bits: who may use it; default: everyone */
    uint16_t groups;   /* bits: what it belongs to; default: everything */
    uint16_t cost;     /* in units of your own */
    const char *provided_by; /* whose it is, where it came from elsewhere */
} tcall_tool;

/* A whole row for a tool with a shape that only a server without a registry
 * reads, by its decoder; texts are in flash: see TCALL_TOOLS. */
#define TCALL_TOOL_(name, description, shape, run, permissions, confirm)      \
    {                                                                         \
        name, NULL, description, NULL, {NULL, NULL, shape},                   \
            {NULL, NULL, NULL}, {NULL, NULL, NULL}, run, NULL, NULL, 0,       \
            permissions, 0, 0, 0, false, false, confirm, false, false, false, \
            false, false, 0, 0, 0, NULL                                       \
    }

/* Number of rows of a table. */
#define TCALL_ARRAY_LEN(table) (sizeof(table) / sizeof((table)[0]))
/* The schemas of a row: raw JSON in C source, without backslashes; a text that
 * stands elsewhere; that of a tool that takes no arguments. */
#define TCALL_JSON(...) TCALL_SCHEMA_TEXT(#__VA_ARGS__)
#define TCALL_SCHEMA_TEXT(text)          \
    {                                    \
        text, &tcall_schema_reader, NULL \
    }
/* The schema of a row whose nodes are in flash: build/shapes --nodes makes
 * NAME_text and NAME_schema of definitions, and nothing is compiled. */
#define TCALL_NODES(name)                                \
    {                                                    \
        name##_text, &tcall_nodes_reader, &name##_schema \
    }
/* The struct that TCALL_SHAPE made, which the arguments are read into. */
#define TCALL_STRUCT(name)                       \
    {                                            \
        NULL, &tcall_shape_reader, &name##_shape \
    }
#define TCALL_NO_PARAMETERS                                     \
    TCALL_SCHEMA_TEXT("{\"type\":\"object\",\"properties\":{}," \
                      "\"additionalProperties\":false}")
/* Raw JSON in C source as a text. */
#define TCALL_TEXT(...) #__VA_ARGS__

/* A validator in place of the built-in one, made by TCALL_VALIDATOR. check
 * returns TCALL_OK, or TCALL_E_INVALID after writing what is wrong, for the
 * model, to why. */
typedef struct tcall_validator {
    const char *name;
    const char *version;
    int (*check)(void *user, const tcall_tool *tool, tcall_json args,
                 tcall_writer *why);
    void *user;
    int (*judge)(const tcall_call *call,
                 struct tcall_attempt *attempt); /* private */
} tcall_validator;
#define TCALL_VALIDATOR(name, version, check, user)         \
    {                                                       \
        name, version, check, user, tcall_hydrate_validate_ \
    }

/* What became of a question for approval. */
typedef enum tcall_verdict {
    TCALL_VERDICT_DENY,
    TCALL_VERDICT_ALLOW,
    TCALL_VERDICT_LATER /* the call waits: TCALL_E_APPROVAL */
} tcall_verdict;

/* What an event is about; text, bytes and the others are its fields. */
typedef enum tcall_event_kind {
    TCALL_EVENT_HYDRATED, /* the call was checked: call->error */
    TCALL_EVENT_REPAIR,   /* the one repair was tried; text: what came of it */
    TCALL_EVENT_APPROVAL, /* approval is asked for: see tcall_ledger_decide */
    TCALL_EVENT_START,    /* tcall_invoke begins; one END follows each */
    TCALL_EVENT_OUTPUT,   /* text: a piece of output */
    TCALL_EVENT_END,      /* the call has its result: text, error */
    TCALL_EVENT_TEXT,     /* text: a piece of the model's answer */
    TCALL_EVENT_REQUEST,  /* bytes: length of its body; tools: sent */
    TCALL_EVENT_ANSWER,   /* status, bytes, error; text: the provider's */
    TCALL_EVENT_VERDICT,  /* approval was given or denied: verdict */
    TCALL_EVENT_PROGRESS, /* text: what is being done */
    TCALL_EVENT_ERROR,    /* the call failed: error; END follows */
    TCALL_EVENT_RETRY,    /* one more attempt, of the call or, without one, of
                           * the request, in ms: error of the last one */
    TCALL_EVENT_PICK,     /* tools: chosen; bytes: need not be sent */
    TCALL_EVENT_PIECE,    /* item: a piece of a call as it comes, unchecked */
    TCALL_EVENT_TURN,     /* a turn of an agent begins; one TURN_END follows */
    TCALL_EVENT_TURN_END, /* text: the answer; error: what ended it */
    TCALL_EVENT_HOOK      /* a hook failed that does not fail the call: error;
                           * text: its name */
} tcall_event_kind;

/* What a listener is told. All of it is valid only until the listener returns.
 */
typedef struct tcall_event {
    tcall_event_kind kind;
    const tcall_call *call; /* NULL where it concerns none */
    const struct tcall_item *item;
    const struct tcall_turn *turn;    /* that begins or ends, else NULL */
    const struct tcall_picked *picks; /* PICK: so many as tools says */
    tcall_str text;
    int error;
    int verdict;
    int status; /* HTTP */
    size_t bytes;
    size_t tools;
    uint32_t ms; /* time taken, where there is a clock */
} tcall_event;

/* Somebody who is told of events; the caller's until tcall_unsubscribe. */
typedef struct tcall_listener {
    void (*on_event)(void *user, const tcall_event *event);
    void *user;
    uint32_t kinds; /* 1 << TCALL_EVENT_... of each kind wanted; 0: all */
    struct tcall_listener *next; /* private */
} tcall_listener;

/* Takes arguments as a model meant them, where a tcall_desc names it:
 * tcall_lenient rewrites text that is not JSON but has one meaning
 * (see >>lenient), and reads "5" for an integer and the like (tcall_coerce).
 * tcall_lenient_text does the former alone, tcall_lenient_types the latter. */
#ifndef TOOLCALL_STATIC
TCALL_API const struct tcall_lenience_ tcall_lenient;
TCALL_API const struct tcall_lenience_ tcall_lenient_text;
TCALL_API const struct tcall_lenience_ tcall_lenient_types;
#endif

/* The one try to repair arguments that were refused, as in
 *
 *     static const tcall_repair repair = TCALL_REPAIR(my_repair);
 *
 * write writes JSON text to out and returns TCALL_OK, or TCALL_E_AGAIN to be
 * asked again. What it wrote is not trusted; if it is refused too, the call
 * fails as it came. A call that was cut is not repaired: nobody knows what was
 * meant. */
typedef struct tcall_repair {
    int (*write)(void *user, const tcall_call *call, tcall_writer *out);
    int (*hydrate)(tcall *tc, tcall_call *call); /* private */
} tcall_repair;
#define TCALL_REPAIR(write)            \
    {                                  \
        (write), tcall_hydrate_repair_ \
    }

/* Private: see tcall_events. */
struct tcall_events_ {
    void (*tell)(const tcall_call *call, tcall_event_kind kind,
                 const tcall_str *text, int value);
    void (*error)(const tcall_ctx *cx); /* TCALL_EVENT_ERROR */
};

/* Who calls hooks: &tcall_stages. */
typedef struct tcall_stages_ {
    /* private */
    int (*add)(tcall *tc, const tcall_tool *tool); /* NULL: of all */
    int (*at)(tcall_ctx *cx, int stage, uint16_t *place);
    int (*around)(tcall_ctx *cx);
    void (*again)(tcall_ctx *cx); /* after a hook has waited with an output */
} tcall_stages_;

/* Private: see tcall_report. Faults are bits, TCALL_FAULT_... */
struct tcall_reporter_ {
    void (*tell)(tcall *tc, const char *name, uint32_t faults);
    int (*check)(tcall *tc, const tcall_tool *tool, uint32_t harms);
    const char *(*text)(int error); /* of every error: tcall_error_text */
    const char *agent;              /* sentences about tcall_agent_desc */
};

#ifndef TOOLCALL_STATIC
/* Says what is wrong with the tables of a program: for tcall_desc.report. */
TCALL_API const struct tcall_reporter_ tcall_report;
#endif

/* Everything a registry needs, in one place. Zero is the default. */
typedef struct tcall_desc {
    void *block; /* memory for everything; must outlive the tcall */
    size_t block_size;
    const tcall_tool *tools;
    size_t tool_count; /* at most 65,535 */
    /* &tcall_lenient: arguments are taken as they were meant. NULL: they are
     * strict JSON of the types that are asked for, or refused. */
    const struct tcall_lenience_ *lenient;
    /* &tcall_report: looks for all that can be wrong with a table, and says it
     * in words. NULL: of a table only what could do harm is refused, with a
     * code, for a program that has started once with the report; then of errors
     * that only agents report, such as TCALL_E_CONNECT, a model that meets one
     * in a tool's result reads the code. */
    const struct tcall_reporter_ *report;
    tcall_writer *faults; /* for report: tcall_init and tcall_add write one line
                           * here for each fault, and for what may have been
                           * forgotten ("NAME: note: ..."); NULL: no lines */
    tcall_tool *rows;     /* room for tools that come at run time: tcall_add */
    size_t row_count;     /* of these, those of tools included */
    /* Which of the tools there are, for the model as for programs: */
    uint8_t allow;     /* permissions given: TCALL_READ | ...; default none */
    uint16_t roles;    /* bits, of the user: tool->roles must have one */
    uint16_t groups;   /* bits, of the tools that are wanted; default: all */
    bool lazy_schemas; /* compile a schema only while a call is checked */
    const tcall_validator *validator; /* default: the built-in one */
    /* &tcall_patterns, where a schema's text has pattern or patternProperties.
     * NULL: such a schema is refused. */
    const struct tcall_patterns_ *patterns;
    /* Asked for tools that need it. NULL: such calls are denied. */
    tcall_verdict (*approve)(void *user, const tcall_call *call);
    const tcall_repair *repair; /* NULL: arguments are not repaired */
    void (*on_event)(void *user, const tcall_event *event);
    const struct tcall_events_ *events; /* &tcall_events, where there is an
                                         * on_event: it makes the events */
    uint32_t (*now_ms)(void *user);     /* monotonic, wraps; NULL: no times */
    /* Sleeps until what is waited for, for tcall_execute; see >>wait. */
    void (*wait)(void *user, const tcall_wait *wait);
    uint32_t max_wait_ms;    /* of tcall_execute; default: TCALL_EXECUTE_MS */
    const tcall_hook *hooks; /* of every call */
    uint16_t hook_count;
    const tcall_stages_ *stages; /* &tcall_stages, where there are hooks of the
                                  * registry or of a tool: it calls them */
    const tcall_service *services; /* global: an array, never written to */
    size_t service_count;
    tcall_session *session;   /* of calls that have none of their own */
    const uint64_t *hash_key; /* two numbers, of all hashes: random and secret,
                               * where others may want to forge what an approval
                               * is bound to; NULL: both are 0 */
    void *user;               /* for all of the above */
} tcall_desc;

struct tcall {
    tcall_desc desc;
    tcall_block block;
    const char *problem; /* what is wrong with a table, the first thing, where
                          * desc.report is named; else NULL. Static text */
    uint16_t repairs;    /* how many were tried */
    /* private */
    bool distinct;            /* in tcall_init: no two rows have one name */
    int error;                /* of tcall_init; 1: none, it is ready */
    size_t missing;           /* bytes that did not fit, of what lasts */
    const tcall *busy;        /* itself: it has called the program */
    const tcall_node **nodes; /* of the tools' schemas; NULL when lazy */
    uint8_t *offer; /* bits, by row: the tools of an agent's turn; NULL: there
                     * is no agent */
    const void *agent;
    const char *key; /* its secret: records of calls do not show it */
    int (*breaker)(tcall_ctx *cx, bool begins); /* of its calls' loops */
    tcall_listener *listeners;
    struct tcall_dispatch_ *dispatch; /* events under way */
};

/* Checks every tool and sets the block up. Returns TCALL_OK; TCALL_E_TOOL when
 * a definition is wrong: desc->faults then has all faults of all tables, each
 * as "name: what is wrong and what to do"; or TCALL_E_MEMORY: tc->block.need
 * says how large to make the block for all of it, also of a desc that has no
 * block yet. Defaults and roots of schemas are checked where the block has room
 * for that beside. After an error nothing can be called, and every function
 * that takes the tcall fails with the same error; a zeroed tcall fails with
 * TCALL_E_USAGE. So does this from a function that this tcall has called, and
 * nothing has changed. */
TCALL_API int tcall_init(tcall *tc, const tcall_desc *desc);
/* Returns how large desc->block should be, in bytes aligned to 8, for one call
 * at a time with so many bytes of arguments and output together, or 0 where
 * tcall_init refuses desc. What it holds of definitions is counted; of calls,
 * of which nobody knows what will be in them, more than they mostly take. What
 * tools and hooks take with tcall_scratch comes on top. */
TCALL_API size_t tcall_need(const tcall_desc *desc, size_t bytes);
/* Returns how many bytes of the block were ever in use at the same time. */
TCALL_API size_t tcall_peak(const tcall *tc);
/* Returns the tool with this name, or NULL. All of them are the rows of
 * tc->desc.tools. */
TCALL_API const tcall_tool *tcall_find(const tcall *tc, tcall_str name);
/* Returns true when permissions `allow` suffice to see and call the tool, as
 * none do for a row of tc->desc.tools that is free. */
TCALL_API bool tcall_enabled(const tcall_tool *tool, unsigned allow);

/* Adds a tool at run time, to a registry with desc.rows. The row is copied, its
 * texts must stay; it is checked like those of tcall_init, but its schema is
 * compiled when a call comes. So a function can make a definition, and the
 * tools of one registry can be added to another:
 *
 *     row = *tcall_find(&other, name);
 *     row.provided_by = "other";
 *     tcall_add(&tc, &row);
 *
 * Returns the tool's index; TCALL_E_TOOL when the definition is wrong
 * (desc.faults has them), TCALL_E_MEMORY when no row is free or the block
 * has no room, TCALL_E_USAGE without desc.rows. Tools may call this, and
 * tcall_remove, too. */
TCALL_API int tcall_add(tcall *tc, const tcall_tool *tool);
/* Hides a tool at once; needs desc.rows. Returns TCALL_OK or TCALL_E_UNKNOWN.
 * Calls of it that are under way end as they would have; its texts have to stay
 * until then, and its row is used again only when no call is under way. */
TCALL_API int tcall_remove(tcall *tc, tcall_str name);

struct tcall_author_;
struct tcall_said_fault_;

/* Private: what is asked of a schema; of a shape rows, say and example. */
struct tcall_schema_reader_ {
    /* At the start: compiles a schema of the tool into the free part of the
     * block, and reports what is wrong with the text. */
    int (*judge)(tcall *tc, const tcall_tool *tool,
                 const tcall_schema_text *source, tcall_schema *schema);
    /* Compiles as its author wants it. */
    int (*compile)(tcall_schema *schema, const struct tcall_author_ *author);
    const tcall_rows *rows;
    void (*say)(struct tcall_said_fault_ *fault);
    /* Writes a value that the schema may allow. */
    void (*example)(tcall_writer *out, tcall_schema_text source);
    /* For one call: compiles to the end of the block. */
    int (*hold)(tcall *tc, const tcall_node **node, tcall_schema_text source);
    /* Checks what a tool has written. */
    int (*output)(tcall_ctx *cx);
};

#ifndef TOOLCALL_STATIC
/* Reads into a struct, as its shape says. */
TCALL_API const struct tcall_schema_reader_ tcall_shape_reader;
/* Reads JSON Schema: see >>compile. Programs name it, and need no more. */
TCALL_API const struct tcall_schema_reader_ tcall_schema_reader;
/* The same for nodes that were made before: the compiler is left out. */
TCALL_API const struct tcall_schema_reader_ tcall_nodes_reader;
#endif

/* Returns a text, which stays the caller's, with its reader; of NULL none. */
TCALL_API tcall_schema_text tcall_schema_text_of(const char *text);
