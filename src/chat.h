#pragma once
#include "provider.h"

/* ==========================================================================
 * >>chat: the conversation
 *
 * A turn is what the user said and all that follows, up to the next time the
 * user speaks. History is shortened by whole turns from the oldest on, so a
 * call and its result are never parted.
 */

/* Drops the oldest turn; false when there is but one. */
bool tcall_chat_drop(tcall_chat *chat);
/* Drops oldest turns until so many bytes of the block are free. */
bool tcall_chat_make_room(tcall_chat *chat, size_t bytes);

