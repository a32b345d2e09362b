#pragma once
#include "provider.h"

/* ==========================================================================
 * >>reader: answers, as they arrive
 */

/* What is known of an answer besides its items. */
typedef struct tcall_answer {
    tcall_stop stop;
    int error; /* TCALL_OK; TCALL_E_PROVIDER: it holds an error;
                  TCALL_E_TRUNCATED, TCALL_E_PROTOCOL, TCALL_E_MEMORY
                  (then block->need tells), or what scanning found */
    int calls;
    bool text_cut; /* the text did not fit and was cut */
    /* Bytes of opaque reasoning that did not fit. The calls are there, but
     * their results cannot be sent back: block->need tells more. */
    size_t unkept;
    long input_tokens; /* -1: unknown */
    long output_tokens;
    long wait_ms;       /* how long to wait, -1: unknown */
    char stop_text[32]; /* the provider's own word, cut if longer; of an error
                           its code or type */
    char message[160];  /* the provider's words about its error, cut; where it
                           is no answer at all, its beginning: "<html>..." */
} tcall_answer;

/* Reads one answer. Only answer is for others to look at, and call may be set:
 * it gets each call as it comes. Its first piece has name and id, for most
 * providers; text is what came of the arguments, checked by nobody. Small
 * fields stand first: code for them is shorter. */
typedef struct tcall_reader {
    uint8_t index;      /* of the element, counted from 1; 0: none */
    uint8_t kind, type; /* of it */
    uint8_t marks;      /* flags of its item */
    bool element, bad, ignored, open;
    bool keeping, has_text, stopped, complete, cut;
    uint8_t began, finished; /* sets of choices */
    uint8_t choice;          /* the number of the one at hand */
    uint8_t event;           /* of the document */
    uint8_t state, match;    /* of the framing */
    bool sse, cr, inside, some;
    bool broken, whole, skip, announced, before;
    const tcall_provider *provider;
    tcall_chat *chat;
    void (*text)(void *user, tcall_str piece);
    void (*call)(void *user, const tcall_item *piece); /* set after init */
    void *user;
    size_t start;    /* where the items of this answer begin */
    size_t pending;  /* elements from here on are not settled yet */
    size_t slot;     /* the element that is being read, if open */
    size_t raw;      /* its text as it came, if keeping */
    size_t text_max; /* bytes of text that are kept */
    size_t lost;     /* bytes that did not fit */
    size_t raw_lost;
    tcall_answer answer;
    char word[40]; /* the short value that is being read */
    tcall_scan scan;
} tcall_reader;

/* text(user, piece) gets the model's text as it comes, also what does not fit
 * the block; may be NULL. The block may not be used otherwise until the end of
 * the answer; its upper part may. */
TCALL_API void tcall_reader_init(tcall_reader *r,
                                 const tcall_provider *provider,
                                 tcall_chat *chat,
                                 void (*text)(void *user, tcall_str piece),
                                 void *user);
/* < 0: the answer is not what the provider's format allows; more is ignored. */
TCALL_API int tcall_reader_feed(tcall_reader *r, const char *bytes, size_t len);
/* The answer is over. TCALL_OK and the items are in the chat, or an error
 * (r->answer tells more) and the chat is as it was before. Calls that were
 * cut or did not fit have item.error set, they must get an error result. */
TCALL_API int tcall_reader_end(tcall_reader *r);
/* What is wrong with an answer, by its HTTP status (0: unknown) and by what
 * the provider says, also within a status of 200: TCALL_E_AUTH, _NOT_FOUND,
 * _REQUEST, _CONTEXT, _REFUSED, _RATE, _OVERLOAD (wait_ms tells how long), or
 * _PROVIDER for its own faults; else the answer's error. */
TCALL_API int tcall_answer_error(const tcall_answer *a, int status);
