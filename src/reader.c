#pragma once
#include "reader.h"
#include "provider.c"
#include "answer.c"

/* ==========================================================================
 * >>reader
 *
 * The items of an answer lie at the end of the chat: its text, which grows in
 * place, the calls and reasonings that are known, and then, while a document
 * of the stream passes, the elements of that document. What
 * an element belongs to may be said after its arguments, so it is merged only
 * when the document is complete: it stays as a new item, or what it brings is
 * moved to an older one.
 */

/* Kinds that only elements have, beside tcall_kind. */
enum {
    TCALL_ITEM_DELTA_ = 14, /* the document's event will say of what */
    TCALL_ITEM_VOID_ = 15   /* no item of ours */
};

/* Texts and arguments leave so much free, for the header, id and name of the
 * next call: it can then at least be named. */
#define TCALL_RESERVE_ 64

TCALL_SHARED_ tcall_item_head_ *tcall_reader_head_(const tcall_reader *reader,
                                                   size_t at)
{
    return tcall_head_at_(reader->chat, at);
}

TCALL_SHARED_ size_t tcall_reader_len_(const tcall_reader *reader, size_t at,
                                       int part)
{
    return tcall_head_len_(tcall_reader_head_(reader, at), part);
}

/* The place of the item after the one at this place. */
TCALL_SHARED_ size_t tcall_reader_next_(const tcall_reader *reader, size_t at)
{
    return at + tcall_head_size_(tcall_reader_head_(reader, at));
}

TCALL_SHARED_ size_t tcall_reader_free_(const tcall_reader *reader)
{
    return tcall_block_free_(reader->chat->block);
}

/* Keeps the reader's places right where bytes from first to last moved. */
static void tcall_reader_moved_(tcall_reader *reader, size_t first, size_t last,
                                size_t by)
{
    if (reader->unmerged >= first && reader->unmerged <= last)
        reader->unmerged += by;
    if (reader->element >= first && reader->element <= last)
        reader->element += by;
    if (reader->raw >= first && reader->raw <= last)
        reader->raw += by;
    if (reader->text_at >= first && reader->text_at <= last)
        reader->text_at += by;
}

/* Moves all bytes from one place on to another; the room is there. */
TCALL_SHARED_ void tcall_reader_shift_(tcall_reader *reader, size_t from,
                                       size_t to)
{
    if (from == to)
        return;
    tcall_chat_shift_(reader->chat, from, to);
    tcall_reader_moved_(reader, from, (size_t)-1, to - from);
}

/* Gives a part another length, at its end; the room is there. */
TCALL_SHARED_ void tcall_reader_resize_(tcall_reader *reader, size_t at,
                                        int part, size_t len)
{
    tcall_item_head_ *head = tcall_reader_head_(reader, at);
    size_t end = at + tcall_head_end_(head, part);
    size_t old = tcall_head_len_(head, part);
    tcall_head_set_len_(head, part, len);
    tcall_reader_shift_(reader, end, end - old + len);
}

/* Takes the item at this place out. */
TCALL_SHARED_ void tcall_reader_remove_(tcall_reader *reader, size_t at)
{
    tcall_reader_shift_(reader, tcall_reader_next_(reader, at), at);
}

/* Adds bytes, for which there is room, to the end of an item's part. */
TCALL_SHARED_ void tcall_reader_append_(tcall_reader *reader, size_t at,
                                        int part, tcall_str bytes)
{
    size_t old = tcall_reader_len_(reader, at, part);
    char *end = reader->chat->block->base + at +
                tcall_head_end_(tcall_reader_head_(reader, at), part);
    tcall_reader_resize_(reader, at, part, old + bytes.len);
    tcall_copy_(end, bytes);
}

static void tcall_reverse_(char *p, char *end)
{
    while (p < end) {
        char c = *p;
        *p++ = *--end;
        *end = c;
    }
}

/* Exchanges the bytes up to middle with those from there on, in place, as
 * std::rotate does: each half is reversed, and then the whole. */
static void tcall_rotate_(char *first, char *middle, char *end)
{
    tcall_reverse_(first, middle);
    tcall_reverse_(middle, end);
    tcall_reverse_(first, end);
}

/* Moves a part of the item at from to the end of the same part of an item
 * before it. What lies in between moves up, unless there is nothing to move. */
TCALL_SHARED_ void tcall_reader_move_(tcall_reader *reader, size_t from,
                                      size_t to, int part)
{
    tcall_item_head_ *source = tcall_reader_head_(reader, from);
    tcall_item_head_ *target = tcall_reader_head_(reader, to);
    size_t place = to + tcall_head_end_(target, part);
    size_t len = tcall_head_len_(source, part);
    char *end = (char *)source + tcall_head_end_(source, part);
    if (!len)
        return;
    tcall_head_set_len_(target, part, tcall_head_len_(target, part) + len);
    tcall_head_set_len_(source, part, 0);
    tcall_rotate_(reader->chat->block->base + place, end - len, end);
    tcall_reader_moved_(reader, place, from, len);
}

TCALL_SHARED_ size_t tcall_reader_text_len_(const tcall_reader *reader)
{
    return reader->has_text
               ? tcall_reader_len_(reader, reader->text_at, TCALL_PART_TEXT_)
               : 0;
}

/* Makes an empty item at this place, where there is room. */
TCALL_SHARED_ void tcall_reader_blank_(tcall_reader *reader, size_t at,
                                       uint8_t kind)
{
    tcall_item_head_ *head = tcall_reader_head_(reader, at);
    memset(head, 0, sizeof *head);
    head->kind = kind;
}

/* Is it the whole of what a signature is of? */
TCALL_SHARED_ bool tcall_reader_text_is_signed_(const tcall_reader *reader)
{
    return reader->provider->reasoning == TCALL_REASONING_SIGNATURES &&
           tcall_reader_len_(reader, reader->text_at, TCALL_PART_SIGNATURE_);
}

/* Gives the text of the answer its place: before everything else or, where
 * order counts, after all that is known. */
TCALL_SHARED_ void tcall_reader_begin_text_(tcall_reader *reader)
{
    const bool ordered = (reader->provider->quirks & TCALL_QUIRK_ORDERED) != 0;
    const size_t place = ordered ? reader->unmerged : reader->start;
    if (tcall_reader_free_(reader) < TCALL_HEAD_)
        return;
    if (reader->has_text && !reader->text_ends &&
        !tcall_reader_text_is_signed_(reader) &&
        (!ordered || tcall_reader_next_(reader, reader->text_at) == place))
        return;
    reader->text_max -= tcall_reader_text_len_(reader);
    tcall_reader_shift_(reader, place, place + TCALL_HEAD_);
    tcall_reader_blank_(reader, place, TCALL_ITEM_TEXT);
    reader->text_at = place;
    reader->has_text = true;
    reader->text_ends = reader->parted = false;
}

/* Arguments that do not fit make their call fail, not the answer. */
TCALL_SHARED_ void tcall_reader_drop_arguments_(tcall_reader *reader, size_t at,
                                                size_t more)
{
    reader->missing += tcall_reader_len_(reader, at, TCALL_PART_TEXT_) + more;
    if (!tcall_reader_head_(reader, at)->error)
        tcall_reader_head_(reader, at)->error = TCALL_E_MEMORY;
    tcall_reader_resize_(reader, at, TCALL_PART_TEXT_, 0);
}

/* Is an element a further piece of an item? */
typedef enum tcall_match_ {
    TCALL_MATCH_NO_,
    TCALL_MATCH_YES_,
    TCALL_MATCH_MAYBE_ /* the piece does not say what it is of */
} tcall_match_;
