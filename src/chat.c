#pragma once
#include "chat.h"
#include "block.c"

/* ==========================================================================
 * >>chat
 */

/* The parts of an item, in their order, which is that of tcall_item. */
enum {
    TCALL_PART_ID_,
    TCALL_PART_NAME_,
    TCALL_PART_SIGN_,
    TCALL_PART_TEXT_,
    TCALL_PARTS_
};

/* Of bytes only: it stands in the block wherever its item begins. */
typedef struct tcall_head_ {
    uint8_t kind; /* tcall_kind and the flags below */
    int8_t error;
    uint8_t index, choice; /* of a call while its answer is read */
    uint8_t len[TCALL_PARTS_][sizeof(uint32_t)];
} tcall_head_;

enum {
    TCALL_ITEM_PIECE_ = 14, /* what it is a piece of is not known yet */
    TCALL_ITEM_NONE_ = 15,  /* an element that is no call of ours */
    TCALL_ITEM_KIND_ = 15,
    TCALL_ITEM_MADE_ = 16,  /* the id was made up */
    TCALL_ITEM_START_ = 32, /* arguments stand until the first piece comes */
    TCALL_ITEM_ALL_ = 64,   /* they are no piece: the longer ones count */
    TCALL_ITEM_LOST_ = 128
};

#define TCALL_HEAD_ sizeof(tcall_head_)
/* Text and arguments leave so much free, for the head, id and name of the
 * next call: it then can at least be named. */
#define TCALL_RESERVE_ 64

TCALL_SHARED_ tcall_head_ *tcall_head_at_(const tcall_chat *c, size_t at)
{
    return (tcall_head_ *)(void *)(c->block->base + at);
}

TCALL_SHARED_ size_t tcall_len_(const tcall_head_ *h, int part)
{
    uint32_t n;
    memcpy(&n, h->len[part], sizeof n);
    return n;
}

TCALL_SHARED_ void tcall_len_set_(tcall_head_ *h, int part, size_t len)
{
    uint32_t n = (uint32_t)len;
    memcpy(h->len[part], &n, sizeof n);
}

/* Where a part ends, from the head on; the last one ends the item. */
TCALL_SHARED_ size_t tcall_head_end_(const tcall_head_ *h, int part)
{
    size_t n = TCALL_HEAD_;
    for (; part >= 0; part--)
        n += tcall_len_(h, part);
    return n;
}

/* Have both items the same part? */
TCALL_SHARED_ bool tcall_head_same_(const tcall_head_ *a, const tcall_head_ *b,
                                    int part)
{
    size_t n = tcall_len_(a, part);
    return n == tcall_len_(b, part) &&
           memcmp((const char *)a + tcall_head_end_(a, part - 1),
                  (const char *)b + tcall_head_end_(b, part - 1), n) == 0;
}

TCALL_SHARED_ size_t tcall_head_size_(const tcall_head_ *h)
{
    return tcall_head_end_(h, TCALL_PART_TEXT_);
}

void tcall_chat_init(tcall_chat *chat, tcall_block *block)
{
    chat->block = block;
    chat->start = block->low;
    chat->made = 0;
}

TCALL_SHARED_ char *tcall_copy_(char *to, tcall_str s)
{
    if (s.len)
        memcpy(to, s.ptr, s.len);
    return to + s.len;
}

int tcall_chat_add(tcall_chat *chat, const tcall_item *item)
{
    const tcall_str *parts =
        (const tcall_str *)(const void *)((const char *)item +
                                          offsetof(tcall_item, id));
    size_t at = chat->block->low, size = TCALL_HEAD_;
    tcall_head_ *h = tcall_head_at_(chat, at);
    char *to = chat->block->base + at + TCALL_HEAD_;
    int i;
    for (i = 0; i < TCALL_PARTS_; i++)
        size += parts[i].len;
    if (!tcall_block_grow_(chat->block, size))
        return TCALL_E_MEMORY;
    memset(h, 0, sizeof *h);
    h->kind = (uint8_t)(item->kind | (item->made ? TCALL_ITEM_MADE_ : 0) |
                        (item->lost ? TCALL_ITEM_LOST_ : 0));
    h->error = (int8_t)item->error;
    for (i = 0; i < TCALL_PARTS_; i++) {
        tcall_len_set_(h, i, parts[i].len);
        to = tcall_copy_(to, parts[i]);
    }
    return TCALL_OK;
}

bool tcall_chat_next(const tcall_chat *chat, size_t *at, tcall_item *item)
{
    size_t from = chat->start + *at;
    tcall_str *parts =
        (tcall_str *)(void *)((char *)item + offsetof(tcall_item, id));
    const tcall_head_ *h;
    const char *p;
    int i;
    if (from >= chat->block->low)
        return false;
    h = tcall_head_at_(chat, from);
    p = chat->block->base + from + TCALL_HEAD_;
    item->kind = h->kind & TCALL_ITEM_KIND_;
    item->made = (h->kind & TCALL_ITEM_MADE_) != 0;
    item->lost = (h->kind & TCALL_ITEM_LOST_) != 0;
    item->error = h->error;
    for (i = 0; i < TCALL_PARTS_; i++) {
        parts[i] = tcall_slice_(p, tcall_len_(h, i));
        p += parts[i].len;
    }
    *at = (size_t)(p - chat->block->base) - chat->start;
    return true;
}

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
