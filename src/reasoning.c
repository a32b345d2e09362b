#pragma once
#include "reader.c"

/* ==========================================================================
 * >>reasoning: what goes back to the provider that it came from
 *
 * Reasoning is kept as far as there is room for it beside calls; a part of it
 * would be refused, so one that does not fit is dropped as a whole. Which one a
 * provider has is in tcall_provider.reasoning.
 */

#ifdef TOOLCALL_NO_REASONING

TCALL_SHARED_ uint8_t tcall_reasoning_kept_(const tcall_reader *reader)
{
    (void)reader;
    return TCALL_REASONING_NONE;
}

TCALL_SHARED_ bool tcall_is_reasoning_(const tcall_item_head_ *head)
{
    (void)head;
    return false;
}

#else

TCALL_SHARED_ uint8_t tcall_reasoning_kept_(const tcall_reader *reader)
{
    return reader->provider->reasoning;
}

TCALL_SHARED_ bool tcall_is_reasoning_(const tcall_item_head_ *head)
{
    return head->kind == TCALL_ITEM_REASONING;
}

#endif /* TOOLCALL_NO_REASONING */

/* May it be left out? Then it makes way for text, too. */
TCALL_SHARED_ bool tcall_reasoning_is_free_(const tcall_reader *reader)
{
    return (reader->provider->quirks & TCALL_QUIRK_FREE_REASONING) != 0;
}

/* Drops what the item at this place has of reasoning, and so many bytes that
 * were to come: a part of it would be refused. */
static void tcall_reasoning_drop_(tcall_reader *reader, size_t at, size_t more)
{
    size_t dropped = more;
    dropped += tcall_reader_len_(reader, at, TCALL_PART_SIGNATURE_);
    tcall_reader_resize_(reader, at, TCALL_PART_SIGNATURE_, 0);
    if (tcall_is_reasoning_(tcall_reader_head_(reader, at))) {
        dropped += tcall_reader_len_(reader, at, TCALL_PART_TEXT_);
        tcall_reader_resize_(reader, at, TCALL_PART_TEXT_, 0);
    }
    reader->answer.reasoning_dropped += dropped;
    if (dropped)
        tcall_reader_head_(reader, at)->flags |= TCALL_FLAG_DROPPED_;
}

/* Drops the text of the current element, and so many bytes to come. */
static void tcall_reasoning_drop_raw_(tcall_reader *reader, size_t more)
{
    size_t len = tcall_reader_len_(reader, reader->raw, TCALL_PART_TEXT_);
    reader->raw_missing += len + more;
    tcall_reader_resize_(reader, reader->raw, TCALL_PART_TEXT_, 0);
}

TCALL_SHARED_ void tcall_reasoning_drop_all_(tcall_reader *reader)
{
    size_t at = reader->start;
    if (!tcall_reasoning_kept_(reader))
        return;
    if (reader->keeping_raw)
        tcall_reasoning_drop_raw_(reader, 0);
    for (; at < reader->chat->block->low; at = tcall_reader_next_(reader, at))
        tcall_reasoning_drop_(reader, at, 0);
}

/* Is a piece of this part, that begins with c, kept? */
TCALL_SHARED_ bool tcall_reasoning_takes_(const tcall_reader *reader, int field,
                                          char c)
{
    uint8_t kept = tcall_reasoning_kept_(reader);
    switch (field) {
    case TCALL_FIELD_SIGNATURE:
        return kept == TCALL_REASONING_SIGNATURES ||
               kept == TCALL_REASONING_DATA ||
               (kept == TCALL_REASONING_ELEMENTS &&
                reader->event != TCALL_MEANS_ELEMENT_BEGINS);
    case TCALL_FIELD_REASONING_DATA:
        return kept == TCALL_REASONING_DATA ||
               (kept == TCALL_REASONING_DETAILS && c == '[');
    default: break;
    }
    return c == '"' && (!reader->words || reader->words == field) &&
           (kept == TCALL_REASONING_TEXT || kept == TCALL_REASONING_DATA);
}

/* Keeps a piece of reasoning or a signature, if that takes nothing away from
 * anything else. */
TCALL_SHARED_ void tcall_reasoning_piece_(tcall_reader *reader, int part,
                                          tcall_str piece)
{
    if (part == TCALL_PART_TEXT_)
        reader->words = reader->field;
    if (reader->answer.reasoning_dropped ||
        tcall_reader_free_(reader) < piece.len + TCALL_RESERVE_)
        tcall_reasoning_drop_(reader, reader->element, piece.len);
    else
        tcall_reader_append_(reader, reader->element, part, piece);
}

/* The signature of the element at *at is of the text. The first one counts. */
TCALL_SHARED_ void tcall_reasoning_sign_text_(tcall_reader *reader,
                                              const size_t *at)
{
    const uint8_t dropped =
        tcall_reader_head_(reader, *at)->flags & TCALL_FLAG_DROPPED_;
    if (!tcall_reasoning_kept_(reader))
        return;
    if (!dropped && !tcall_reader_len_(reader, *at, TCALL_PART_SIGNATURE_))
        return;
    if (!reader->has_text ||
        tcall_reasoning_kept_(reader) == TCALL_REASONING_SIGNATURES)
        tcall_reader_begin_text_(reader);
    if (!reader->has_text)
        return;
    tcall_reader_head_(reader, reader->text_at)->flags |= dropped;
    if (!tcall_reader_len_(reader, reader->text_at, TCALL_PART_SIGNATURE_))
        tcall_reader_move_(reader, *at, reader->text_at, TCALL_PART_SIGNATURE_);
}

/* ---- merging ---- */

/* One of both is reasoning: is the piece of the known one? Its signature may
 * come by itself. */
TCALL_SHARED_ tcall_match_ tcall_match_reasoning_(const tcall_item_head_ *known,
                                                  const tcall_item_head_ *piece)
{
    bool same = known->index && piece->index &&
                !tcall_head_len_(piece, TCALL_PART_NAME_) &&
                !tcall_head_len_(piece, TCALL_PART_TEXT_);
    if (tcall_is_reasoning_(piece))
        same = known->kind == piece->kind && known->index == piece->index &&
               !((known->flags ^ piece->flags) & TCALL_FLAG_RAW_) &&
               !(tcall_head_len_(known, TCALL_PART_SIGNATURE_) &&
                 tcall_head_len_(piece, TCALL_PART_SIGNATURE_));
    return same ? TCALL_MATCH_YES_ : TCALL_MATCH_NO_;
}

/* The first unmerged element is of the reasoning at this place: drops its words
 * where others are missing. */
TCALL_SHARED_ void tcall_reasoning_merge_(tcall_reader *reader, size_t at)
{
    size_t len = tcall_reader_len_(reader, reader->unmerged, TCALL_PART_TEXT_);
    if (!(tcall_reader_head_(reader, at)->flags & TCALL_FLAG_DROPPED_))
        return;
    tcall_reader_resize_(reader, reader->unmerged, TCALL_PART_TEXT_, 0);
    tcall_reasoning_drop_(reader, at, len);
}

/* Is anything of it there, or was and is missed? */
TCALL_SHARED_ bool tcall_reasoning_is_some_(const tcall_reader *reader,
                                            const tcall_item_head_ *head)
{
    if (head->flags & TCALL_FLAG_DROPPED_)
        return !tcall_reasoning_is_free_(reader);
    return tcall_head_len_(head, TCALL_PART_NAME_) ||
           tcall_head_len_(head, TCALL_PART_TEXT_) ||
           tcall_head_len_(head, TCALL_PART_SIGNATURE_);
}

/* A text of the model is complete, where each is an item with a word of its
 * own: that goes back with it, and the next text is another one. */
TCALL_SHARED_ void tcall_reasoning_end_text_(tcall_reader *reader)
{
    if (reader->type != TCALL_MEANS_TEXT ||
        tcall_reasoning_kept_(reader) != TCALL_REASONING_ELEMENTS)
        return;
    if (reader->open)
        tcall_reader_head_(reader, reader->element)->kind = TCALL_ITEM_TEXT;
    reader->text_ends = reader->has_text;
}

/* ---- elements as they came ---- */

/* May the current element turn out to be reasoning, whose JSON text is kept?
 * Its type usually comes first. */
TCALL_SHARED_ bool tcall_reasoning_may_come_(const tcall_reader *reader)
{
    return tcall_reasoning_kept_(reader) == TCALL_REASONING_ELEMENTS &&
           reader->event != TCALL_MEANS_ELEMENT_BEGINS &&
           !(reader->whole && reader->repeats) &&
           (!reader->type || reader->type == TCALL_MEANS_REASONING) &&
           reader->answer.error != TCALL_E_MEMORY;
}

/* Keeps a piece of that text. */
TCALL_SHARED_ void tcall_reasoning_raw_piece_(tcall_reader *reader,
                                              tcall_str piece)
{
    if (reader->raw_missing ||
        tcall_reader_free_(reader) < piece.len + TCALL_RESERVE_)
        tcall_reasoning_drop_raw_(reader, piece.len);
    else
        tcall_reader_append_(reader, reader->raw, TCALL_PART_TEXT_, piece);
}

/* The element is complete: its text stays if it is reasoning. */
TCALL_SHARED_ void tcall_reasoning_end_raw_(tcall_reader *reader)
{
    tcall_item_head_ *head = tcall_reader_head_(reader, reader->raw);
    if (!tcall_reasoning_kept_(reader) || !reader->keeping_raw)
        return;
    reader->keeping_raw = false;
    if (reader->type == TCALL_MEANS_REASONING) {
        head->kind = TCALL_ITEM_REASONING;
        head->flags = TCALL_FLAG_RAW_ | TCALL_FLAG_WHOLE_;
        head->index = reader->index;
        if (reader->raw_missing)
            tcall_reasoning_drop_(reader, reader->raw, reader->raw_missing);
    } else {
        tcall_reader_remove_(reader, reader->raw);
    }
    reader->raw_missing = 0;
}
