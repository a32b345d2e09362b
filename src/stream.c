#pragma once
#include "reasoning.c"

/* ==========================================================================
 * >>stream: answers that come in pieces
 *
 * A stream of documents says of an item now this and now that, and providers
 * differ in how they say which item they mean. Without this chapter an answer
 * is one document, in which each element is an item.
 */

enum {
#ifdef TOOLCALL_NO_STREAM
    TCALL_STREAMS_ = 0
#else
    TCALL_STREAMS_ = 1
#endif
};

static bool tcall_same_part_(const tcall_item_head_ *a,
                             const tcall_item_head_ *b, int part)
{
    return tcall_str_eq(tcall_head_part_(a, part), tcall_head_part_(b, part));
}

/* Is the element a further piece of a known call? */
static tcall_match_ tcall_match_call_(const tcall_item_head_ *known,
                                      const tcall_item_head_ *piece)
{
    const bool numbered = known->index && piece->index;
    const bool named = tcall_head_len_(piece, TCALL_PART_NAME_) > 0;
    tcall_str text = tcall_head_part_(piece, TCALL_PART_TEXT_);
    /* Some servers give every call the same id, or number: where a whole object
     * is followed by another one with a name, that is another call. */
    const bool again =
        named && text.len && *text.ptr == '{' &&
        !(piece->flags & TCALL_FLAG_WHOLE_) &&
        tcall_is_object_text_(tcall_head_part_(known, TCALL_PART_TEXT_));
    /* Some servers give every piece an id of its own: then the number counts
     * while there is no name. */
    if (tcall_head_len_(piece, TCALL_PART_ID_) &&
        tcall_head_len_(known, TCALL_PART_ID_) && (!numbered || named))
        return !again && tcall_same_part_(known, piece, TCALL_PART_ID_)
                   ? TCALL_MATCH_YES_
                   : TCALL_MATCH_NO_;
    if (!numbered)
        return named ? TCALL_MATCH_NO_ : TCALL_MATCH_MAYBE_;
    return again ? TCALL_MATCH_NO_ : TCALL_MATCH_YES_;
}

static tcall_match_ tcall_match_item_(const tcall_item_head_ *known,
                                      const tcall_item_head_ *piece)
{
    if (known->index && piece->index && known->index != piece->index)
        return TCALL_MATCH_NO_;
    if (tcall_is_reasoning_(piece) || tcall_is_reasoning_(known))
        return tcall_match_reasoning_(known, piece);
    return tcall_match_call_(known, piece);
}

/* Returns the item that the first unmerged element is a piece of: the last that
 * matches, or the last call if the element does not say; itself if it is new.
 */
TCALL_SHARED_ size_t tcall_reader_find_(const tcall_reader *reader)
{
    const tcall_item_head_ *piece =
        tcall_reader_head_(reader, reader->unmerged);
    size_t at = reader->start, found = reader->unmerged, maybe = found;
    for (; at < reader->unmerged; at = tcall_reader_next_(reader, at)) {
        const tcall_item_head_ *known = tcall_reader_head_(reader, at);
        tcall_match_ match;
        if (known->kind == TCALL_ITEM_TEXT)
            continue;
        match = tcall_match_item_(known, piece);
        if (match == TCALL_MATCH_YES_)
            found = at;
        /* Only the last call may be continued without its number or id. */
        if (match || !tcall_is_reasoning_(known))
            maybe = match == TCALL_MATCH_MAYBE_ ? at : reader->unmerged;
    }
    return found != reader->unmerged ? found : maybe;
}

/* Moves id, name and signature of the first unmerged element to the item at
 * this place. Each is taken once; another name is a further piece of it as
 * long as there are no arguments. */
static void tcall_reader_merge_names_(tcall_reader *reader, size_t at)
{
    const tcall_item_head_ *known = tcall_reader_head_(reader, at);
    const tcall_item_head_ *piece =
        tcall_reader_head_(reader, reader->unmerged);
    bool name_grows = !tcall_head_len_(known, TCALL_PART_TEXT_) &&
                      !tcall_same_part_(known, piece, TCALL_PART_NAME_);
    int part;
    for (part = TCALL_PART_ID_; part < TCALL_PART_TEXT_; part++)
        if (!tcall_reader_len_(reader, at, part) ||
            (part == TCALL_PART_NAME_ && name_grows))
            tcall_reader_move_(reader, reader->unmerged, at, part);
}

/* Is the text of the element to be moved to the call? */
static bool tcall_reader_merges_text_(tcall_reader *reader, size_t at)
{
    tcall_item_head_ *known = tcall_reader_head_(reader, at);
    const tcall_item_head_ *piece =
        tcall_reader_head_(reader, reader->unmerged);
    size_t old = tcall_head_len_(known, TCALL_PART_TEXT_);
    size_t len = tcall_head_len_(piece, TCALL_PART_TEXT_);
    bool whole = (piece->flags & TCALL_FLAG_WHOLE_) != 0;
    /* What the server says in the end counts, but for nothing. */
    bool nothing =
        !len || (old && tcall_str_eq(tcall_head_part_(piece, TCALL_PART_TEXT_),
                                     tcall_str_of("{}")));
    if (whole && nothing && !known->error && (!piece->error || old))
        return false;
    if (known->error || piece->error) {
        known->error = known->error ? known->error : piece->error;
        tcall_reader_drop_arguments_(reader, at, len);
        return false;
    }
    return true;
}

/* Moves what the first unmerged element brings to the item at this place. */
TCALL_SHARED_ void tcall_reader_merge_(tcall_reader *reader, size_t at)
{
    tcall_item_head_ *known = tcall_reader_head_(reader, at);
    const tcall_item_head_ *piece =
        tcall_reader_head_(reader, reader->unmerged);
    const uint8_t flags = piece->flags;
    const bool whole = (flags & TCALL_FLAG_WHOLE_) != 0;
    if (known->kind == TCALL_ITEM_VOID_)
        return;
    known->flags |= flags & TCALL_FLAG_DROPPED_;
    tcall_reader_merge_names_(reader, at);
    if (tcall_is_reasoning_(known))
        tcall_reasoning_merge_(reader, at);
    else if (!tcall_reader_merges_text_(reader, at))
        return;
    if (!tcall_reader_len_(reader, reader->unmerged, TCALL_PART_TEXT_))
        return;
    if (whole || known->flags & TCALL_FLAG_DEFAULT_)
        tcall_reader_resize_(reader, at, TCALL_PART_TEXT_, 0);
    if (!whole)
        known->flags &= (uint8_t)~TCALL_FLAG_DEFAULT_;
    known->flags &= (uint8_t)~TCALL_FLAG_OBJECT_;
    if (!tcall_head_len_(known, TCALL_PART_TEXT_))
        known->flags |= flags & TCALL_FLAG_OBJECT_;
    tcall_reader_move_(reader, reader->unmerged, at, TCALL_PART_TEXT_);
}
