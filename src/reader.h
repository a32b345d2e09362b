#pragma once
#include "provider.h"

/* ==========================================================================
 * >>reader: answers, as they arrive
 *
 * Takes bytes of an answer in any pieces, a whole one or a stream of events,
 * and keeps the text, the calls and what reasoning has to go back.
 */

/* Reads one answer. Only answer is for others to look at; text_calls, knows
 * and call may be set after tcall_reader_init. */
typedef struct tcall_reader {
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

    /* private */
    void (*text)(void *user, tcall_str piece);
    void *user;
    const tcall_provider *provider;
    tcall_chat *chat;
    size_t start;    /* the items of this answer begin here */
    size_t text_at;  /* the item to which its text is added, if has_text */
    size_t unmerged; /* the elements of the current document begin here */
    size_t element;  /* the current element, if open */
    size_t raw;      /* its text as it came, if keeping_raw */
    size_t text_max; /* bytes of text that are kept */
    size_t missing;  /* bytes that did not fit */
    size_t raw_missing;
    /* of the answer */
    bool has_text;          /* there is an item for its text */
    bool text_ends, parted; /* the next text is another one; that was told */
    uint8_t words;          /* the field that brought words of reasoning */
    bool begins, complete;  /* it said that it begins; that it is over */
    bool finished, cut;     /* why it stopped; so that no last call runs */
    bool known, in_page; /* a value matters; answer.message is how it begins */
    /* of the current document */
    uint8_t event;     /* TCALL_MEANS_... */
    bool whole, piece; /* a whole answer; a piece of a stream */
    bool in_whole;     /* at hand is what only whole answers have */
    bool repeats;      /* there were elements before it */
    bool stopped;      /* a reason to stop was given */
    /* of the current choice */
    bool in_choice, choice_known;
    bool other, cut_before; /* it is not the first; the answer before it */
    uint8_t stop_before;
    /* of the current element */
    uint8_t index; /* counted from 1; 0: none */
    uint8_t field; /* whose value is read */
    uint8_t type;  /* TCALL_MEANS_... */
    uint8_t flags; /* TCALL_FLAG_..._ */
    int8_t fault;  /* of a call's arguments, or TCALL_OK */
    bool in_element, open, keeping_raw, ignored;
    /* of the current value */
    bool skip;
    char word[40]; /* a short one */
    /* framing */
    uint8_t state, match;
    bool sse, after_cr, in_document, any_document, several, broken;
    bool told;       /* the current document has a value that matters */
    uint32_t silent; /* bytes since a document that had one */
    tcall_scan scan;
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
