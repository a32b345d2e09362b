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

/* Mends the calls from this place of the chat on. Nothing may refer to its
 * items meanwhile. lenient: who reads them, NULL: they are read strictly. */
TCALL_SHARED_ void tcall_chat_mend_(tcall_chat *chat, size_t from,
                                    const struct tcall_lenience_ *lenient)
{
    tcall_block *block = chat->block;
    size_t at = chat->start + from, room = tcall_block_free_(block);
    for (; at < block->low; at += tcall_head_size_(tcall_head_at_(chat, at))) {
        tcall_item_head_ *head = tcall_head_at_(chat, at);
        tcall_str text = tcall_head_part_(head, TCALL_PART_TEXT_), read;
        size_t end = at + tcall_head_size_(head);
        bool object = (head->flags & TCALL_FLAG_OBJECT_) != 0;
        tcall_machine machine;
        tcall_machine_desc desc;
        uint32_t fixes;
        int r;
        if (head->kind != TCALL_ITEM_CALL || !text.len ||
            (head->error && !object))
            continue;
        memset(&desc, 0, sizeof desc);
        desc.object = true;
        desc.for_c = !object; /* an object goes back as it came */
        r = tcall_arguments_by_(lenient, block, &machine, &desc, text, &fixes);
        if (r == TCALL_E_DUPLICATE)
            head->flags &= (uint8_t)~TCALL_FLAG_OBJECT_;
        /* where a longer one lies now must stay free when it is moved */
        if (r < 0 || object ||
            (machine.len > text.len && room < 2 * machine.len - text.len))
            continue;
        read = tcall_slice_(tcall_block_gap_(block) + room - machine.len,
                            machine.len);
        memmove((char *)(uintptr_t)read.ptr, machine.text, machine.len);
        tcall_chat_shift_(chat, end, end - text.len + machine.len);
        tcall_head_set_len_(head, TCALL_PART_TEXT_, machine.len);
        tcall_copy_(block->base + end - text.len, read);
        head->flags |= TCALL_FLAG_OBJECT_;
        room = tcall_block_free_(block);
    }
}
