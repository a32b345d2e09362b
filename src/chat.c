#pragma once
#include "chat.h"
#include "memory.c"
#include "text.c"

/* ==========================================================================
 * >>chat
 *
 * An item is kept as a header, which has the lengths of its parts, and then
 * the bytes of its parts: id, name, signature, text. The text of an image is a
 * tcall_str, which says where its bytes are.
 */

enum {
    TCALL_PART_ID_,
    TCALL_PART_NAME_,
    TCALL_PART_SIGNATURE_,
    TCALL_PART_TEXT_,
    TCALL_PARTS_
};

/* Has bytes only, because an item begins at any address. */
typedef struct tcall_item_head_ {
    uint8_t kind;  /* tcall_kind, or one of the reader's own */
    uint8_t flags; /* as tcall_item.flags; TCALL_FLAG_MADE_ID: the last nine
                    * bytes of the id were made up, also behind one that came */
    uint8_t index; /* of a call while its answer is read */
    int8_t error;
    uint8_t len[TCALL_PARTS_][sizeof(uint32_t)];
} tcall_item_head_;

#define TCALL_HEAD_ sizeof(tcall_item_head_)

/* Bytes of an id that is made here: every provider takes nine letters and
 * digits. */
enum { TCALL_MADE_ID_ = 9 };

/* The header of the item at this place in the block. */
TCALL_SHARED_ tcall_item_head_ *tcall_head_at_(const tcall_chat *chat,
                                               size_t at)
{
    return (tcall_item_head_ *)(void *)(chat->block->base + at);
}

/* Lengths are bytes there: an item begins at any address. */
TCALL_SHARED_ size_t tcall_head_len_(const tcall_item_head_ *head, int part)
{
    uint32_t len;
    memcpy(&len, head->len[part], sizeof len);
    return len;
}

TCALL_SHARED_ void tcall_head_set_len_(tcall_item_head_ *head, int part,
                                       size_t len)
{
    uint32_t value = (uint32_t)len;
    memcpy(head->len[part], &value, sizeof value);
}

/* Bytes from the start of the header to the end of a part; the part -1 is the
 * header itself. */
TCALL_SHARED_ size_t tcall_head_end_(const tcall_item_head_ *head, int part)
{
    size_t end = TCALL_HEAD_;
    for (; part >= 0; part--)
        end += tcall_head_len_(head, part);
    return end;
}

TCALL_SHARED_ size_t tcall_head_size_(const tcall_item_head_ *head)
{
    return tcall_head_end_(head, TCALL_PARTS_ - 1);
}

/* The bytes of a part. They move when anything before them changes. */
TCALL_SHARED_ tcall_str tcall_head_part_(const tcall_item_head_ *head, int part)
{
    const char *bytes = (const char *)head + tcall_head_end_(head, part - 1);
    return tcall_slice_(bytes, tcall_head_len_(head, part));
}

/* The id of an item: no other call of the conversation has it. */
static tcall_str tcall_head_id_(const tcall_item_head_ *head)
{
    tcall_str id = tcall_head_part_(head, TCALL_PART_ID_);
    return head->flags & TCALL_FLAG_MADE_ID && id.len > TCALL_MADE_ID_
               ? tcall_slice_(id.ptr + id.len - TCALL_MADE_ID_, TCALL_MADE_ID_)
               : id;
}

/* Returns an item of these. */
TCALL_SHARED_ tcall_item tcall_item_of_(tcall_kind kind, tcall_str id,
                                        tcall_str name, tcall_str text)
{
    const tcall_item item = {(uint8_t)kind, 0, 0, id, name, {NULL, 0}, text};
    return item;
}

/* Parts by number, for loops over them: they lie in this order. */
TCALL_SHARED_ tcall_str *tcall_item_part_(tcall_item *item, int part)
{
    char *first = (char *)item + offsetof(tcall_item, id);
    return (tcall_str *)(void *)(first + (size_t)part * sizeof(tcall_str));
}

/* Servers refuse a conversation for ever once it holds arguments that are no
 * JSON object, or numbers that they cannot hold; of a key twice each reader
 * makes something else. An agent looks at this once, when all calls of an
 * answer have results; else whoever writes a request does. block: its free part
 * may be used, or NULL. */
TCALL_SHARED_ bool tcall_is_object_text_(tcall_str text,
                                         const tcall_block *block)
{
    tcall_seen_ more = {NULL, 0, 0};
    const char *at = text.ptr, *end;
    if (!text.len) /* C does not define NULL + 0 */
        return false;
    end = at + text.len;
    while (at < end && tcall_is_space_(*at))
        at++;
    if (at == end || *at != '{')
        return false;
    if (block && tcall_block_free_(block) >= 8) {
        size_t start = tcall_round_up_(block->low);
        more.slots = (uint32_t *)(void *)(block->base + start);
        more.count = (block->size - block->high - start) / sizeof *more.slots;
    }
    return tcall_json_wrong_(at, end, &more, &at) == TCALL_OK;
}

void tcall_chat_init(tcall_chat *chat, tcall_block *block)
{
    memset(chat, 0, sizeof *chat);
    chat->block = block;
    chat->start = block->low;
}

/* Returns the end of the copy. A result lies where its copy will. */
TCALL_SHARED_ char *tcall_copy_(char *to, tcall_str bytes)
{
    if (bytes.len)
        memmove(to, bytes.ptr, bytes.len);
    return to + bytes.len;
}

/* Where the bytes of an image are. */
static tcall_str tcall_image_bytes_(const tcall_item_head_ *head)
{
    tcall_str bytes;
    memcpy(&bytes, tcall_head_part_(head, TCALL_PART_TEXT_).ptr, sizeof bytes);
    return bytes;
}

/* Returns the header at *at, counted from the first one, and moves *at to the
 * next; NULL at the end. */
TCALL_SHARED_ const tcall_item_head_ *tcall_chat_head_(const tcall_chat *chat,
                                                       size_t *at)
{
    const tcall_item_head_ *head = tcall_head_at_(chat, chat->start + *at);
    if (chat->start + *at >= chat->block->low - chat->block->lent)
        return NULL;
    *at += tcall_head_size_(head);
    return head;
}

/* Lets images go whose memory is used for another one. What was sent has
 * changed then. */
static void tcall_chat_overwrite_(tcall_chat *chat, tcall_str by)
{
    const tcall_str gone = {NULL, 0};
    const uintptr_t from = (uintptr_t)by.ptr;
    const tcall_item_head_ *head;
    size_t at = 0;
    while ((head = tcall_chat_head_(chat, &at)) != NULL) {
        const tcall_str is =
            head->kind == TCALL_ITEM_IMAGE ? tcall_image_bytes_(head) : gone;
        if (is.len && (uintptr_t)is.ptr < from + by.len &&
            from < (uintptr_t)is.ptr + is.len) {
            memcpy(chat->block->base + chat->start + at - sizeof gone, &gone,
                   sizeof gone);
            chat->edited = true;
            chat->counted.at = 0;
        }
    }
}

/* ---- ids ----
 *
 * Providers give ids that repeat, or none. A call that comes into the
 * conversation keeps its id only if no other call there has it, and none has
 * one that becomes the same where a provider has to get another: so the ids of
 * a request differ, whoever gets it, and are the same in the next one.
 */

/* Makes nine letters and digits of an id, always the same ones. */
TCALL_SHARED_ tcall_str tcall_short_id_(tcall_str id, char made[TCALL_MADE_ID_])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint32_t high = 2166136261u, low = 0; /* a hash of 64 bits */
    size_t i;
    for (i = 0; i < id.len; i++) {
        high = (high ^ (unsigned char)id.ptr[i]) * 16777619u;
        low = low * 31 + (high >> 16);
    }
    for (i = 0; i < TCALL_MADE_ID_; i++) {
        uint32_t *half = i < 5 ? &high : &low;
        made[i] = digits[*half % 36];
        *half /= 36;
    }
    return tcall_slice_(made, TCALL_MADE_ID_);
}

/* Has a call before this place the id, or could a provider get one for both? */
static bool tcall_chat_has_id_(const tcall_chat *chat, size_t end, tcall_str id)
{
    char made[TCALL_MADE_ID_], others[TCALL_MADE_ID_];
    const tcall_str brief = tcall_short_id_(id, made);
    const tcall_item_head_ *head;
    size_t at = 0;
    while (chat->start + at < end && (head = tcall_chat_head_(chat, &at))) {
        const tcall_str other = tcall_head_id_(head);
        tcall_str shorter;
        if (head->kind != TCALL_ITEM_CALL)
            continue;
        shorter = tcall_short_id_(other, others);
        if (tcall_str_eq(shorter, brief) || tcall_str_eq(shorter, id) ||
            tcall_str_eq(other, brief))
            return true;
    }
    return false;
}

/* Makes up the id that a call gets after the one it came with, where a call
 * before this place has that, or it came with none; else gives an empty one. */
TCALL_SHARED_ tcall_str tcall_chat_new_id_(tcall_chat *chat, size_t end,
                                           tcall_str id,
                                           char made[TCALL_MADE_ID_])
{
    if (id.len && !tcall_chat_has_id_(chat, end, id))
        return tcall_slice_(made, 0);
    id = tcall_slice_(made, TCALL_MADE_ID_);
    do {
        uint32_t number = ++chat->made;
        int i;
        memcpy(made, "call", 4);
        for (i = TCALL_MADE_ID_ - 1; i > 3; i--, number /= 10)
            made[i] = (char)('0' + number % 10);
    } while (tcall_chat_has_id_(chat, end, id));
    return id;
}

/* Copies an item to the end of the conversation, whatever its text is, with
 * what was made up behind its id. */
static int tcall_chat_copy_(tcall_chat *chat, tcall_item *item, tcall_str made)
{
    tcall_item_head_ *head = tcall_head_at_(chat, chat->block->low);
    char *end = (char *)head + TCALL_HEAD_;
    size_t size = TCALL_HEAD_ + made.len;
    int part;
    for (part = 0; part < TCALL_PARTS_; part++)
        size += tcall_item_part_(item, part)->len;
    if (!tcall_block_grow_(chat->block, size))
        return TCALL_E_MEMORY;
    head->kind = item->kind;
    head->flags = item->flags & TCALL_FLAGS_;
    head->error = (int8_t)item->error;
    for (part = 0; part < TCALL_PARTS_; part++) {
        const tcall_str bytes = *tcall_item_part_(item, part);
        end = tcall_copy_(tcall_copy_(end, bytes), made);
        tcall_head_set_len_(head, part, bytes.len + made.len);
        made.len = 0;
    }
    return TCALL_OK;
}

bool tcall_chat_next(const tcall_chat *chat, size_t *at, tcall_item *item)
{
    const tcall_item_head_ *head = tcall_chat_head_(chat, at);
    const char *bytes = (const char *)head;
    int part;
    if (!head)
        return false;
    item->kind = head->kind;
    item->error = head->error;
    item->flags = head->flags & TCALL_FLAGS_;
    bytes += TCALL_HEAD_;
    for (part = 0; part < TCALL_PARTS_; part++) {
        const size_t len = tcall_head_len_(head, part);
        *tcall_item_part_(item, part) = tcall_slice_(bytes, len);
        bytes += len;
    }
    if (item->id.len > TCALL_MADE_ID_)
        item->flags &= (uint8_t)~TCALL_FLAG_MADE_ID;
    item->id = tcall_head_id_(head);
    if (item->kind == TCALL_ITEM_IMAGE)
        item->text = tcall_image_bytes_(head);
    return true;
}

/* Is an item of this kind said by the user's side? Results of tools are. */
TCALL_SHARED_ bool tcall_is_users_(unsigned kind)
{
    return kind == TCALL_ITEM_USER || kind == TCALL_ITEM_RESULT ||
           kind == TCALL_ITEM_IMAGE;
}

/* Does the user begin to speak with this item? His images come first. */
TCALL_SHARED_ bool tcall_item_opens_(const tcall_item *item)
{
    return item->kind == TCALL_ITEM_USER ||
           (item->kind == TCALL_ITEM_IMAGE && !item->id.len);
}

/* Moves all bytes from one place on to another; the room is there. */
TCALL_SHARED_ void tcall_chat_shift_(tcall_chat *chat, size_t from, size_t to)
{
    tcall_block *block = chat->block;
    if (block->low > from)
        memmove(block->base + to, block->base + from, block->low - from);
    tcall_block_cut_(block, block->low + to - from);
}

/* Forgets all reasoning and signatures. Providers bind them to all that was
 * sent before: where that has changed they would be refused. */
TCALL_SHARED_ void tcall_chat_forget_(tcall_chat *chat)
{
    size_t at = chat->start;
    chat->edited = false;
    chat->counted.at = 0;
    while (at < chat->block->low) {
        tcall_item_head_ *head = tcall_head_at_(chat, at);
        size_t end = at + tcall_head_end_(head, TCALL_PART_SIGNATURE_);
        size_t len = tcall_head_len_(head, TCALL_PART_SIGNATURE_);
        if (head->kind == TCALL_ITEM_REASONING) {
            tcall_chat_shift_(chat, at + tcall_head_size_(head), at);
            continue;
        }
        head->flags &= (uint8_t) ~(TCALL_FLAG_DROPPED | TCALL_FLAG_UNSIGNED);
        tcall_head_set_len_(head, TCALL_PART_SIGNATURE_, 0);
        tcall_chat_shift_(chat, end, end - len);
        at += tcall_head_size_(head);
    }
}

/* Has the call a result from this place on? */
TCALL_SHARED_ bool tcall_chat_answers_(const tcall_chat *chat, size_t at,
                                       tcall_str id)
{
    const tcall_item_head_ *head;
    while ((head = tcall_chat_head_(chat, &at)) != NULL)
        if (head->kind == TCALL_ITEM_RESULT &&
            tcall_str_eq(tcall_head_id_(head), id))
            return true;
    return false;
}

/* Finds the call that a result with this id belongs to: the first of the last
 * answer that has it, or came with it, and has no result. Gives its own id. */
TCALL_SHARED_ bool tcall_chat_asked_(const tcall_chat *chat, tcall_str *id)
{
    const tcall_item_head_ *head;
    size_t at = 0, answer = 0, next = 0;
    bool model = false;
    for (; (head = tcall_chat_head_(chat, &next)) != NULL; at = next) {
        const bool users = tcall_is_users_(head->kind);
        if (!model && !users)
            answer = at;
        model = !users;
    }
    while ((head = tcall_chat_head_(chat, &answer)) != NULL) {
        const tcall_str own = tcall_head_id_(head);
        tcall_str came = tcall_head_part_(head, TCALL_PART_ID_);
        if (head->flags & TCALL_FLAG_MADE_ID)
            came.len -= own.len;
        if (head->kind == TCALL_ITEM_CALL &&
            (tcall_str_eq(own, *id) || tcall_str_eq(came, *id)) &&
            !tcall_chat_answers_(chat, answer, own)) {
            *id = own;
            return true;
        }
    }
    return false;
}

int tcall_chat_add(tcall_chat *chat, const tcall_item *item)
{
    char bytes[TCALL_MADE_ID_];
    tcall_str made = tcall_slice_(NULL, 0);
    tcall_item copy = *item;
    if (chat->block->lent) /* a result is being written at its end */
        return TCALL_E_USAGE;
    copy.flags &= (uint8_t)~TCALL_FLAG_OBJECT_; /* a caller may be wrong */
    if (item->kind == TCALL_ITEM_CALL) {
        made = tcall_chat_new_id_(chat, chat->block->low, item->id, bytes);
        if (item->id.len > TCALL_MADE_ID_)
            copy.flags &= (uint8_t)~TCALL_FLAG_MADE_ID;
        if (made.len)
            copy.flags |= TCALL_FLAG_MADE_ID;
    }
    if (item->kind == TCALL_ITEM_RESULT)
        tcall_chat_asked_(chat, &copy.id);
    if (item->kind == TCALL_ITEM_IMAGE) {
        tcall_chat_overwrite_(chat, item->text);
        copy.text = tcall_slice_((const char *)&item->text, sizeof item->text);
    }
    return tcall_chat_copy_(chat, &copy, made);
}
