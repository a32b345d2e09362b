#pragma once
#include "provider.h"
#include "syntax.h"

/* ==========================================================================
 * >>answer: answers, as they arrive
 *
 * Takes bytes of an answer in any pieces, a whole one or a stream of events,
 * and keeps the text, the calls and what reasoning has to go back.
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

/* Containers that may lie within each other on the way to a value. */
#define TCALL_WIRE_LEVELS_ 9

/* Private: where things lie in the block, while it is read. */
enum {
    TCALL_AT_TEXT_,    /* the item to which text is added, if has_text */
    TCALL_AT_PENDING_, /* what the current document brought begins here */
    TCALL_AT_ELEMENT_, /* the current element, if open */
    TCALL_AT_RAW_,     /* its text as it came, if said.raw */
    TCALL_AT_ECHOED_,  /* the call whose arguments come again, if echoes */
    TCALL_PLACES_
};

/* Reads one answer. Only answer is for others to look at; text_calls, knows
 * and call may be set after tcall_reader_init. What is used most comes first:
 * code that is near the beginning of a struct is shorter. */
typedef struct tcall_reader {
    struct tcall_syntax_ syntax; /* private, and so is what follows */
    tcall_chat *chat;
    const tcall_provider *provider;
    size_t start; /* the items of this answer begin here */
    size_t place[TCALL_PLACES_];
    size_t text_max;             /* bytes of text that are kept */
    size_t missing, raw_missing; /* that did not fit; of raw text */
    size_t echo;                 /* bytes of arguments that came again */
    const uint8_t *member; /* the row of the current value, in its format */
    const uint8_t *next;   /* of its object, where the next name is looked for
                            * first */
    void (*text)(void *user, tcall_str piece);
    void *user;
    struct {                        /* of the current element */
        uint8_t index, type, flags; /* its number, from 1, 0: none;
                                     * TCALL_MEANS_...; TCALL_FLAG_..._ */
        int8_t fault;               /* of a call's arguments, or TCALL_OK */
        bool begun, open;           /* open: it is in the block */
    } element;
    struct {                 /* of the current document */
        uint8_t event;       /* TCALL_MEANS_... */
        uint8_t choice;      /* TCALL_CHOICE_..._ */
        bool cut_before;     /* before its choice, */
        uint8_t stop_before; /* and why it had stopped */
        /* It is a whole answer; a piece of a stream; at hand is what only
         * whole answers have; there were elements before it. */
        bool whole, piece, in_whole, repeats;
        bool told;   /* it has a value that matters */
        bool echoes; /* its first element's arguments come again */
    } doc;
    struct {                    /* of the answer, until it begins anew */
        bool has_text;          /* there is an item for its text */
        bool text_ends, parted; /* the next text is another one; told so */
        bool complete, finished, cut; /* it is over; said why; in a call */
        bool stopped;                 /* a reason to stop came in its choice */
        /* The current value goes to the end of the block; the current
         * element's text is kept as it came. */
        bool growing, raw;
        uint8_t words; /* the field that brought words of reasoning */
    } said;
    /* It said that it begins, and will say that it is over; a value matters;
     * answer.message is how it begins. */
    bool begins, known, in_page;
    /* of the current value */
    bool part;     /* it is of an element */
    uint8_t field; /* TCALL_FIELD_... */
    uint8_t word_len, levels;
    char word[40]; /* a short value; of a name what came so far */
    const uint8_t *level[TCALL_WIRE_LEVELS_]; /* rows of open containers */
    uint16_t half;          /* a character's first half that was told, */
    const uint8_t *half_of; /* and the row it is of */
    const char *kept; /* an element's text in this piece begins here, or NULL */
    /* framing */
    uint8_t state, match;
    bool sse, after_cr, in_document, any_document, several, broken;
    uint32_t silent; /* bytes since a document with a value that matters */
    /* Not private from here on. */
    tcall_answer answer;
    /* The family of models whose calls in text count: see >>text_calls. NULL:
     * none do. */
    const struct tcall_text_calls *text_calls;
    /* Returns whether there is a tool of this name: what is written as text is
     * no call of another. NULL: there may be. */
    bool (*knows)(void *user, tcall_str name);
    /* Gets each call as it comes. The first piece has name and id, for most
     * providers, the latter as it came: another call may have it; text is what
     * came of the arguments, unchecked. May be NULL. */
    void (*call)(void *user, const tcall_item *piece);
} tcall_reader;

/* Begins an answer of this provider, whose items go to the end of chat. text
 * gets the model's text as it comes, also what does not fit the block; it may
 * be NULL. The lower part of the block may not be used otherwise until the end
 * of the answer. */
TCALL_API void tcall_reader_init(tcall_reader *reader,
                                 const tcall_provider *provider,
                                 tcall_chat *chat,
                                 void (*text)(void *user, tcall_str piece),
                                 void *user);
/* Takes the next bytes. Returns TCALL_OK, or an error if the answer is not what
 * the provider's format allows; further bytes are ignored then. */
TCALL_API int tcall_reader_feed(tcall_reader *reader, const char *bytes,
                                size_t len);
/* Ends the answer. Returns TCALL_OK and the items are in the chat, or an error
 * (reader->answer says more) and the chat is as it was before. Calls that were
 * cut or did not fit have item.error set; they must get an error as result. */
TCALL_API int tcall_reader_end(tcall_reader *reader);
