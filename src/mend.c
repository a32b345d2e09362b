#pragma once
#include "chat.c"
#include "call.c"
#include "write.c"

/* ==========================================================================
 * >>mend: calls go back as they were understood
 *
 * A call whose arguments were read leniently stands in the conversation as what
 * it was read as: the model must not see another call than the one that ran.
 * What cannot be read as an object goes back without arguments, and so does an
 * object with a key twice, of which each reader makes something else.
 */

/* Writes what the text is read as to the end of the free part of the block.
 * Empty: it cannot be read, or there is no room. */
static tcall_str tcall_mended_(tcall_block *block, tcall_str text,
                               const struct tcall_lenience_ *lenient)
{
    tcall_str mended = tcall_slice_(NULL, 0);
    size_t room = tcall_block_free_(block);
    char *end = tcall_block_gap_(block) + room;
    tcall_machine machine;
    tcall_machine_desc desc;
    uint32_t fixes;
    memset(&desc, 0, sizeof desc);
    desc.object = desc.for_c = true;
    if (tcall_arguments_by_(lenient, block, &machine, &desc, text, &fixes) < 0)
        return mended;
    /* Where it lies now must stay free when it is longer than the text was. */
    if (machine.len > text.len && room < 2 * machine.len - text.len)
        return mended;
    mended.ptr = end - machine.len;
    mended.len = machine.len;
    memmove(end - machine.len, machine.text, machine.len);
    return mended;
}

static bool tcall_has_key_twice_(tcall_block *block, tcall_str object)
{
    tcall_machine machine;
    tcall_machine_desc desc;
    memset(&desc, 0, sizeof desc);
    return tcall_arguments_read_(block, &machine, &desc, object) ==
           TCALL_E_DUPLICATE;
}

/* Mends the calls from this place of the chat on. Nothing may refer to its
 * items meanwhile. lenient: who reads them, NULL: they are read strictly. */
TCALL_SHARED_ void tcall_chat_mend_(tcall_chat *chat, size_t from,
                                    const struct tcall_lenience_ *lenient)
{
    tcall_block *block = chat->block;
    size_t at = chat->start + from;
    for (; at < block->low; at += tcall_head_size_(tcall_head_at_(chat, at))) {
        tcall_item_head_ *head = tcall_head_at_(chat, at);
        tcall_str text = tcall_head_part_(head, TCALL_PART_TEXT_), mended;
        size_t end = at + tcall_head_size_(head);
        if (head->kind != TCALL_ITEM_CALL || !text.len)
            continue;
        if (head->flags & TCALL_FLAG_OBJECT_) {
            if (tcall_has_key_twice_(block, text))
                head->flags &= (uint8_t)~TCALL_FLAG_OBJECT_;
            continue;
        }
        if (head->error)
            continue;
        mended = tcall_mended_(block, text, lenient);
        if (!mended.len)
            continue;
        tcall_chat_shift_(chat, end, end - text.len + mended.len);
        tcall_head_set_len_(head, TCALL_PART_TEXT_, mended.len);
        tcall_copy_(block->base + end - text.len, mended);
        head->flags |= TCALL_FLAG_OBJECT_;
    }
}
