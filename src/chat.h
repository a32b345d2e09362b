#pragma once
#include "memory.h"

/* ==========================================================================
 * >>chat: the conversation
 *
 * A list of items in the order in which they were said, whoever the provider
 * is. A turn is what the user said and all that follows, up to the next time
 * the user speaks. History is shortened by whole turns from the oldest on, so
 * that a call and its result are never parted.
 */

typedef enum tcall_kind {
    TCALL_ITEM_USER,      /* text */
    TCALL_ITEM_TEXT,      /* text of the model */
    TCALL_ITEM_CALL,      /* id, name, text: the arguments as they came */
    TCALL_ITEM_RESULT,    /* id, name, text; error */
    TCALL_ITEM_REASONING, /* text, signature; name: the provider it is from,
                             the only one that gets it back; a text that has
                             a signature has that name as well */
    TCALL_ITEM_IMAGE /* name: its MIME type; text: its bytes, which stay the
                        caller's; id: of the call it is a result of, else of
                        the user, in front of what he says */
} tcall_kind;

/* What is noted of an item. */
enum {
    TCALL_FLAG_MADE_ID = 1,   /* call, result: the provider gave no id, nine
                               * letters and digits were made up */
    TCALL_FLAG_RAW = 2,       /* reasoning: text is the provider's own data, no
                               * words */
    TCALL_FLAG_DROPPED = 4,   /* reasoning or signature did not fit the block */
    TCALL_FLAG_UNSIGNED = 64, /* call: of a provider that signs them, which gave
                               * no signature for this one */
    /* private: */
    TCALL_FLAG_OBJECT_ = 8,   /* the text of a call is known to be one object */
    TCALL_FLAG_DEFAULT_ = 16, /* while an answer is read: its arguments give
                               * way to the first piece */
    TCALL_FLAG_WHOLE_ = 32,   /* likewise: they are whole, the longer counts */
    TCALL_FLAGS_ = 0xFF & ~(TCALL_FLAG_DEFAULT_ | TCALL_FLAG_WHOLE_)
};

/* One thing said in a conversation. */
typedef struct tcall_item {
    uint8_t kind;  /* tcall_kind */
    uint8_t flags; /* TCALL_FLAG_... */
    /* Of a result: why the call failed. Of a call: it must not run,
     * TCALL_E_CUT, TCALL_E_MEMORY (its arguments were too large to keep) or
     * TCALL_E_UNHANDLED (they came in a form that is not read). Arguments that
     * end too early without a word of the provider are found by tcall_hydrate.
     */
    int error;
    tcall_str id; /* of a call, and of its result; no other call has it */
    tcall_str name;
    /* The provider's signature of a reasoning, call or text; goes back with
     * the item, to the byte. */
    tcall_str signature;
    tcall_str text;
} tcall_item;

/* Private: how much of a conversation a request was counted to have, up to a
 * place where the user began to speak. What comes before does not change. */
typedef struct tcall_counted_ {
    const struct tcall_provider *to;
    size_t at, len; /* bytes of the items, and of the request; 0: none */
    char last;      /* the last of these bytes */
    uint8_t state;  /* of who writes them */
} tcall_counted_;

/* The items lie one after the other at the end of the lower part of a block. */
typedef struct tcall_chat {
    tcall_block *block;
    size_t start;
    uint32_t made; /* ids made up so far */
    bool edited;   /* something is gone that was sent: an image */
    tcall_counted_ counted;
} tcall_chat;

/* Begins an empty conversation. Nothing else may be taken from the lower part
 * of the block afterwards. */
TCALL_API void tcall_chat_init(tcall_chat *chat, tcall_block *block);
/* Adds a copy of the item at the end. A call that has no id, or that of a call
 * before it, gets one that is made up, and so does its result: the first call
 * of the last answer that came with the result's id, and has no result yet, is
 * the one that it belongs to. Of an image only its place in memory is kept,
 * where it has to stay as long as the conversation holds it. Images that were
 * in that memory before are gone: a sentence says so in their place. Returns
 * TCALL_OK, or TCALL_E_MEMORY and nothing was added. */
TCALL_API int tcall_chat_add(tcall_chat *chat, const tcall_item *item);
/* Gives the item at *at and moves *at to the next one; returns false at the
 * end. Begin with *at = 0. The slices stay valid until the conversation
 * changes. */
TCALL_API bool tcall_chat_next(const tcall_chat *chat, size_t *at,
                               tcall_item *item);
