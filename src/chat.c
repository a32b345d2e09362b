#pragma once
#include "chat.h"
#include "provider.c"

/* ==========================================================================
 * >>chat
 */

bool tcall_chat_drop(tcall_chat *chat)
{
    char *base = chat->block->base + chat->start;
    size_t at = 0, from = 0, len = chat->block->low - chat->start;
    tcall_item item;
    while (tcall_chat_next(chat, &at, &item)) {
        if (item.kind == TCALL_ITEM_USER && from > 0) {
            memmove(base, base + from, len - from);
            chat->block->low -= from;
            return true;
        }
        from = at;
    }
    return false;
}

bool tcall_chat_make_room(tcall_chat *chat, size_t bytes)
{
    while (tcall_block_free_(chat->block) < bytes)
        if (!tcall_chat_drop(chat))
            return false;
    return true;
}

