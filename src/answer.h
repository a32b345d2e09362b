#pragma once
#include "base.h"

/* ==========================================================================
 * >>answer: what an answer says of itself
 */

/* Why the model stopped. */
typedef enum tcall_stop {
    TCALL_STOP_UNKNOWN,
    TCALL_STOP_END,            /* it is done */
    TCALL_STOP_TOOL_CALLS,     /* it wants results */
    TCALL_STOP_LENGTH,         /* it was cut off: the last call must not run */
    TCALL_STOP_CONTENT_FILTER, /* content was refused or filtered */
    TCALL_STOP_OTHER           /* an error, where nothing else was said */
} tcall_stop;

/* What is known of an answer besides its items. */
typedef struct tcall_answer {
    tcall_stop stop;
    /* TCALL_OK; TCALL_E_PROVIDER: it holds an error; TCALL_E_TRUNCATED;
     * TCALL_E_PROTOCOL; TCALL_E_NO_ANSWER: it is complete, but in no format
     * of this provider; TCALL_E_MEMORY, and block->need says how much would
     * have done; or what scanning found. */
    int error;
    int calls;
    bool has_text; /* there are words of the model */
    bool text_cut; /* the text did not fit and was cut */
    bool pending;  /* the provider says that it is still at work */
    bool unread;   /* it holds items of a type that is not known here */
    /* Bytes of reasoning that did not fit. The calls are there, but their
     * results cannot be sent back: block->need says how much would have done.
     */
    size_t reasoning_dropped;
    long input_tokens;  /* -1: unknown */
    long output_tokens; /* -1: unknown */
    long wait_ms;       /* how long to wait; -1: unknown */
    char stop_text[32]; /* the provider's own word, cut if longer; of an error
                           its code or type */
    char message[160];  /* the provider's words about its error, cut; where it
                           is no answer at all, its beginning: "<html>..." */
} tcall_answer;

/* Returns what is wrong with an answer, by its HTTP status (0: unknown) and by
 * what the provider says, also within a status of 200: TCALL_E_AUTH, _DENIED
 * (a 403 that is not about the key), _NOT_FOUND, _REQUEST, _CONTEXT, _REFUSED,
 * _RATE, _OVERLOAD (wait_ms says for how long), _QUOTA, or _PROVIDER for its
 * own faults; else the answer's error. */
TCALL_API int tcall_answer_error(const tcall_answer *answer, int status);
