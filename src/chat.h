#pragma once
#include "block.h"

/* ==========================================================================
 * >>chat: the conversation
 *
 * A turn is what the user said and all that follows, up to the next time the
 * user speaks. History is shortened by whole turns from the oldest on, so a
 * call and its result are never parted.
 */

/* One thing said in a conversation, whoever the provider is. */
typedef enum tcall_kind {
    TCALL_ITEM_USER,   /* text */
    TCALL_ITEM_TEXT,   /* text of the model */
    TCALL_ITEM_CALL,   /* id, name, text: the arguments as they came */
    TCALL_ITEM_RESULT, /* id, name, text; error */
    TCALL_ITEM_OPAQUE  /* reasoning; name: the provider that gets it back */
} tcall_kind;

typedef struct tcall_item {
    uint8_t kind;
    /* Result: the tool failed. Call: it must not run, TCALL_E_CUT or
     * TCALL_E_MEMORY (arguments too large to keep). Arguments that end too
     * early without a word of the provider are found by tcall_hydrate. */
    int error;
    bool made;    /* the provider gave no id, this one was made up; of
                     opaque: the provider's second form */
    bool lost;    /* what is opaque of it did not fit the block */
    tcall_str id; /* of a call and of its result; parts begin here */
    tcall_str name;
    tcall_str sign; /* opaque, goes back to its provider with the item */
    tcall_str text;
} tcall_item;

/* The conversation lies at the end of the lower part of a block. */
typedef struct tcall_chat {
    tcall_block *block;
    size_t start;
    uint32_t made; /* ids made up so far */
} tcall_chat;

/* Nothing else may be taken from the lower part of the block afterwards. */
TCALL_API void tcall_chat_init(tcall_chat *chat, tcall_block *block);
/* TCALL_OK or TCALL_E_MEMORY; then nothing was added. */
TCALL_API int tcall_chat_add(tcall_chat *chat, const tcall_item *item);
/* for (at = 0; tcall_chat_next(chat, &at, &item);) visits all of them. The
 * slices stay valid until the conversation changes. */
TCALL_API bool tcall_chat_next(const tcall_chat *chat, size_t *at,
                               tcall_item *item);

/* Drops the oldest turn; false when there is but one. */
TCALL_API bool tcall_chat_drop(tcall_chat *chat);
/* Drops oldest turns until so many bytes of the block are free. */
TCALL_API bool tcall_chat_make_room(tcall_chat *chat, size_t bytes);
