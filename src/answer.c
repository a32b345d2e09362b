#pragma once
#include "answer.h"
#include "provider.c"

/* ==========================================================================
 * >>answer
 *
 * The items of an answer lie at the end of the chat: its text, which grows in
 * place, the calls and reasonings that are known, and then, while a document
 * of the stream passes, the elements of that document. What an element belongs
 * to may be said after its arguments, so it is merged only when the document is
 * complete: it stays as a new item, or its bytes are moved to an older one.
 */

/* Kinds that only elements have, beside tcall_kind. */
enum {
    TCALL_ITEM_DELTA_ = 14, /* the document's event will say of what */
    TCALL_ITEM_VOID_ = 15   /* no item of ours */
};

/* Several answers to one question: only the first of these choices is read. */
enum {
    TCALL_CHOICE_NONE_,
    TCALL_CHOICE_BEGUN_, /* its number may follow */
    TCALL_CHOICE_FIRST_,
    TCALL_CHOICE_OTHER_
};

static bool tcall_reader_in_other_(const tcall_reader *reader)
{
    return reader->doc.choice == TCALL_CHOICE_OTHER_;
}

/* Texts and arguments leave so much free, for the header, id and name of the
 * next call: it can then at least be named. */
#define TCALL_RESERVE_ 64

static tcall_item_head_ *tcall_reader_head_(const tcall_reader *reader,
                                            size_t at)
{
    return tcall_head_at_(reader->chat, at);
}

/* What the current document brought first and is not merged yet. */
static tcall_item_head_ *tcall_reader_pending_(const tcall_reader *reader)
{
    return tcall_reader_head_(reader, reader->place[TCALL_AT_PENDING_]);
}

static size_t tcall_reader_len_(const tcall_reader *reader, size_t at, int part)
{
    return tcall_head_len_(tcall_reader_head_(reader, at), part);
}

/* The place of the item after the one at this place. */
static size_t tcall_reader_next_(const tcall_reader *reader, size_t at)
{
    return at + tcall_head_size_(tcall_reader_head_(reader, at));
}

static size_t tcall_reader_free_(const tcall_reader *reader)
{
    return tcall_block_free_(reader->chat->block);
}

/* Keeps the reader's places right where bytes from first to last moved. */
static void tcall_reader_moved_(tcall_reader *reader, size_t first, size_t last,
                                size_t by)
{
    size_t *place = reader->place;
    for (; place < reader->place + TCALL_PLACES_; place++)
        if (*place >= first && *place <= last)
            *place += by;
}

/* Moves all bytes from one place on to another; the room is there. */
static void tcall_reader_shift_(tcall_reader *reader, size_t from, size_t to)
{
    if (from == to)
        return;
    tcall_chat_shift_(reader->chat, from, to);
    tcall_reader_moved_(reader, from, (size_t)-1, to - from);
}

/* Gives a part another length, at its end; the room is there. */
static void tcall_reader_resize_(tcall_reader *reader, size_t at, int part,
                                 size_t len)
{
    tcall_item_head_ *head = tcall_reader_head_(reader, at);
    size_t end = at + tcall_head_end_(head, part);
    size_t old = tcall_head_len_(head, part);
    tcall_head_set_len_(head, part, len);
    tcall_reader_shift_(reader, end, end - old + len);
}

/* Takes the item at this place out. */
static void tcall_reader_remove_(tcall_reader *reader, size_t at)
{
    tcall_reader_shift_(reader, tcall_reader_next_(reader, at), at);
}

/* Adds bytes, for which there is room, to the end of an item's part. */
static void tcall_reader_append_(tcall_reader *reader, size_t at, int part,
                                 tcall_str bytes)
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

/* Exchanges the bytes up to middle with those from there on, in place: few by
 * a copy of them, else each half is reversed, and then the whole. */
TCALL_SHARED_ void tcall_rotate_(char *first, char *middle, char *end)
{
    char few[32];
    const size_t len = (size_t)(end - middle);
    if (len <= sizeof few) {
        memcpy(few, middle, len);
        memmove(first + len, first, (size_t)(middle - first));
        memcpy(first, few, len);
        return;
    }
    tcall_reverse_(first, middle);
    tcall_reverse_(middle, end);
    tcall_reverse_(first, end);
}

/* Moves a part of the item at from to the end of the same part of an item
 * before it. What lies in between moves up, unless there is nothing to move. */
static void tcall_reader_move_(tcall_reader *reader, size_t from, size_t to,
                               int part)
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

static size_t tcall_reader_text_len_(const tcall_reader *reader)
{
    return reader->said.has_text
               ? tcall_reader_len_(reader, reader->place[TCALL_AT_TEXT_],
                                   TCALL_PART_TEXT_)
               : 0;
}

/* Makes an empty item at this place, where there is room. */
static void tcall_reader_blank_(tcall_reader *reader, size_t at, uint8_t kind)
{
    tcall_item_head_ *head = tcall_reader_head_(reader, at);
    memset(head, 0, sizeof *head);
    head->kind = kind;
}

/* Is it the whole of what a signature is of? */
static bool tcall_reader_text_is_signed_(const tcall_reader *reader)
{
    return reader->provider->reasoning == TCALL_REASONING_SIGNATURES &&
           tcall_reader_len_(reader, reader->place[TCALL_AT_TEXT_],
                             TCALL_PART_SIGNATURE_);
}

/* Gives the text of the answer its place: before everything else or, where
 * order counts, after all that is known. */
static void tcall_reader_begin_text_(tcall_reader *reader)
{
    const bool ordered = (reader->provider->quirks & TCALL_QUIRK_ORDERED) != 0;
    const size_t place =
        ordered ? reader->place[TCALL_AT_PENDING_] : reader->start;
    if (tcall_reader_free_(reader) < TCALL_HEAD_)
        return;
    if (reader->said.has_text && !reader->said.text_ends &&
        !tcall_reader_text_is_signed_(reader) &&
        (!ordered ||
         tcall_reader_next_(reader, reader->place[TCALL_AT_TEXT_]) == place))
        return;
    reader->text_max -= tcall_reader_text_len_(reader);
    tcall_reader_shift_(reader, place, place + TCALL_HEAD_);
    tcall_reader_blank_(reader, place, TCALL_ITEM_TEXT);
    reader->place[TCALL_AT_TEXT_] = place;
    reader->said.has_text = true;
    reader->said.text_ends = reader->said.parted = false;
}

/* Arguments that do not fit make their call fail, not the answer. */
static void tcall_reader_drop_arguments_(tcall_reader *reader, size_t at,
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

/* ---- reasoning ---- */

static uint8_t tcall_reasoning_kept_(const tcall_reader *reader)
{
    return reader->provider->reasoning;
}

static bool tcall_is_reasoning_(const tcall_item_head_ *head)
{
    return head->kind == TCALL_ITEM_REASONING;
}

/* May it be left out? Then it makes way for text, too. */
static bool tcall_reasoning_is_free_(const tcall_reader *reader)
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
    if (reader->keeping_raw && at == reader->place[TCALL_AT_RAW_])
        reader->raw_missing += dropped;
    else
        reader->answer.reasoning_dropped += dropped;
    if (dropped)
        tcall_reader_head_(reader, at)->flags |= TCALL_FLAG_DROPPED;
}

static void tcall_reasoning_drop_all_(tcall_reader *reader)
{
    size_t at = reader->start;
    for (; at < reader->chat->block->low; at = tcall_reader_next_(reader, at))
        tcall_reasoning_drop_(reader, at, 0);
}

/* Keeps a piece of reasoning or a signature, if that takes nothing away from
 * anything else. */
static void tcall_reasoning_piece_(tcall_reader *reader, size_t at, int part,
                                   tcall_str piece)
{
    if (reader->answer.reasoning_dropped ||
        tcall_reader_head_(reader, at)->flags & TCALL_FLAG_DROPPED ||
        tcall_reader_free_(reader) < piece.len + TCALL_RESERVE_)
        tcall_reasoning_drop_(reader, at, piece.len);
    else
        tcall_reader_append_(reader, at, part, piece);
}

/* Has it a signature, or had one that did not fit? */
static bool tcall_head_is_signed_(const tcall_item_head_ *head)
{
    return tcall_head_len_(head, TCALL_PART_SIGNATURE_) ||
           head->flags & TCALL_FLAG_DROPPED;
}

/* The signature of the element at *at is of the text. The first one counts. */
static void tcall_reasoning_sign_text_(tcall_reader *reader, const size_t *at)
{
    const tcall_item_head_ *head = tcall_reader_head_(reader, *at);
    const uint8_t dropped = head->flags & TCALL_FLAG_DROPPED;
    if (!tcall_head_is_signed_(head))
        return;
    if (!reader->said.has_text ||
        tcall_reasoning_kept_(reader) == TCALL_REASONING_SIGNATURES)
        tcall_reader_begin_text_(reader);
    if (!reader->said.has_text)
        return;
    tcall_reader_head_(reader, reader->place[TCALL_AT_TEXT_])->flags |= dropped;
    if (!tcall_reader_len_(reader, reader->place[TCALL_AT_TEXT_],
                           TCALL_PART_SIGNATURE_))
        tcall_reader_move_(reader, *at, reader->place[TCALL_AT_TEXT_],
                           TCALL_PART_SIGNATURE_);
}

/* ---- merging ---- */

/* One of both is reasoning: is the piece of the known one? Its signature may
 * come by itself. */
static tcall_match_ tcall_match_reasoning_(const tcall_item_head_ *known,
                                           const tcall_item_head_ *piece)
{
    bool same = known->index && piece->index &&
                !tcall_head_len_(piece, TCALL_PART_NAME_) &&
                !tcall_head_len_(piece, TCALL_PART_TEXT_);
    if (tcall_is_reasoning_(piece))
        same = known->kind == piece->kind && known->index == piece->index &&
               !((known->flags ^ piece->flags) & TCALL_FLAG_RAW) &&
               !(tcall_head_len_(known, TCALL_PART_SIGNATURE_) &&
                 tcall_head_len_(piece, TCALL_PART_SIGNATURE_));
    return same ? TCALL_MATCH_YES_ : TCALL_MATCH_NO_;
}

/* ---- streams ----
 *
 * A stream of documents says of an item now this and now that, and providers
 * differ in how they say which item they mean.
 */

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
        tcall_is_object_text_(tcall_head_part_(known, TCALL_PART_TEXT_), NULL);
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

/* Likewise of a known item. Text is of one only if that does not count. */
static tcall_match_ tcall_match_item_(const tcall_item_head_ *known,
                                      const tcall_item_head_ *piece)
{
    if (piece->kind == TCALL_ITEM_TEXT)
        return known->kind == TCALL_ITEM_VOID_ && piece->index &&
                       known->index == piece->index
                   ? TCALL_MATCH_YES_
                   : TCALL_MATCH_NO_;
    if (known->index && piece->index && known->index != piece->index)
        return TCALL_MATCH_NO_;
    if (tcall_is_reasoning_(piece) || tcall_is_reasoning_(known))
        return tcall_match_reasoning_(known, piece);
    return tcall_match_call_(known, piece);
}

/* Returns the item that the first unmerged element is a piece of: the last that
 * matches, or the last call if the element does not say; itself if it is new.
 */
static size_t tcall_reader_find_(const tcall_reader *reader)
{
    const tcall_item_head_ *piece = tcall_reader_pending_(reader);
    size_t at = reader->start, found = reader->place[TCALL_AT_PENDING_],
           maybe = found;
    for (; at < reader->place[TCALL_AT_PENDING_];
         at = tcall_reader_next_(reader, at)) {
        const tcall_item_head_ *known = tcall_reader_head_(reader, at);
        tcall_match_ match;
        if (known->kind == TCALL_ITEM_TEXT)
            continue;
        match = tcall_match_item_(known, piece);
        if (match == TCALL_MATCH_YES_)
            found = at;
        /* Only the last call may be continued without its number or id. */
        if (match || !tcall_is_reasoning_(known))
            maybe = match == TCALL_MATCH_MAYBE_
                        ? at
                        : reader->place[TCALL_AT_PENDING_];
    }
    return found != reader->place[TCALL_AT_PENDING_] ? found : maybe;
}

/* Moves id, name and signature of the first unmerged element to the item at
 * this place. Each is taken once; another name is a further piece of it as
 * long as there are no arguments. */
static void tcall_reader_merge_names_(tcall_reader *reader, size_t at)
{
    const tcall_item_head_ *known = tcall_reader_head_(reader, at);
    const bool name_grows =
        !tcall_head_len_(known, TCALL_PART_TEXT_) &&
        !tcall_same_part_(known, tcall_reader_pending_(reader),
                          TCALL_PART_NAME_);
    int part;
    for (part = TCALL_PART_ID_; part < TCALL_PART_TEXT_; part++)
        if (!tcall_reader_len_(reader, at, part) ||
            (part == TCALL_PART_NAME_ && name_grows))
            tcall_reader_move_(reader, reader->place[TCALL_AT_PENDING_], at,
                               part);
}

/* Is the text of the element to be moved to the call? What the server says in
 * the end counts, but for nothing. */
static bool tcall_reader_merges_text_(tcall_reader *reader, size_t at)
{
    tcall_item_head_ *known = tcall_reader_head_(reader, at);
    const tcall_item_head_ *piece = tcall_reader_pending_(reader);
    const tcall_str text = tcall_head_part_(piece, TCALL_PART_TEXT_);
    const bool had = tcall_head_len_(known, TCALL_PART_TEXT_) > 0;
    const bool nothing =
        !text.len || (had && tcall_str_eq(text, tcall_slice_("{}", 2)));
    if (piece->flags & TCALL_FLAG_WHOLE_ && nothing && !known->error &&
        (!piece->error || had))
        return false;
    if (!known->error)
        known->error = piece->error;
    if (known->error)
        tcall_reader_drop_arguments_(reader, at, text.len);
    return !known->error;
}

/* Moves what the first unmerged element brings to the item at this place. Where
 * reasoning is missing already, more of it is of no use. */
static void tcall_reader_merge_(tcall_reader *reader, size_t at)
{
    tcall_item_head_ *known = tcall_reader_head_(reader, at);
    const uint8_t flags = tcall_reader_pending_(reader)->flags;
    const bool whole = (flags & TCALL_FLAG_WHOLE_) != 0;
    const bool reasons = tcall_is_reasoning_(known);
    if (known->kind == TCALL_ITEM_VOID_)
        return;
    known->flags |= flags & TCALL_FLAG_DROPPED;
    if (reasons && known->flags & TCALL_FLAG_DROPPED) {
        tcall_reasoning_drop_(reader, reader->place[TCALL_AT_PENDING_], 0);
        tcall_reasoning_drop_(reader, at, 0);
    }
    tcall_reader_merge_names_(reader, at);
    if ((!reasons && !tcall_reader_merges_text_(reader, at)) ||
        !tcall_head_len_(tcall_reader_pending_(reader), TCALL_PART_TEXT_))
        return;
    if (whole || known->flags & TCALL_FLAG_DEFAULT_)
        tcall_reader_resize_(reader, at, TCALL_PART_TEXT_, 0);
    if (!whole)
        known->flags &= (uint8_t)~TCALL_FLAG_DEFAULT_;
    tcall_reader_move_(reader, reader->place[TCALL_AT_PENDING_], at,
                       TCALL_PART_TEXT_);
}

/* ---- room ---- */

/* Makes room for a call. Calls matter more than text and reasoning: those give
 * way. */
static bool tcall_reader_room_(tcall_reader *reader, size_t bytes)
{
    size_t text = tcall_reader_text_len_(reader), free;
    if (bytes > tcall_reader_free_(reader) + text)
        tcall_reasoning_drop_all_(reader);
    free = tcall_reader_free_(reader);
    if (bytes > free + text)
        return false;
    if (bytes > free) {
        tcall_reader_resize_(reader, reader->place[TCALL_AT_TEXT_],
                             TCALL_PART_TEXT_, text - (bytes - free));
        reader->answer.text_cut = true;
    }
    return true;
}

/* Forgets all that was read. */
static void tcall_reader_clear_(tcall_reader *reader)
{
    tcall_answer *answer = &reader->answer;
    tcall_block_cut_(reader->chat->block, reader->start);
    reader->place[TCALL_AT_PENDING_] = reader->place[TCALL_AT_ELEMENT_] =
        reader->place[TCALL_AT_RAW_] = reader->start;
    reader->text_max = tcall_reader_free_(reader) / 2;
    reader->element.open = reader->keeping_raw = false;
    reader->growing = reader->doc.echoes = reader->doc.stopped = false;
    memset(&reader->said, 0, sizeof reader->said);
    answer->reasoning_dropped = 0;
    answer->text_cut = answer->pending = false;
    answer->unread = answer->has_text = false;
    answer->stop = TCALL_STOP_UNKNOWN;
    answer->stop_text[0] = 0;
}

/* Makes room for what a call cannot do without. Where there is none the answer
 * is lost; the rest is read to know what would have been needed. */
static bool tcall_reader_need_(tcall_reader *reader, size_t bytes)
{
    if (tcall_reader_room_(reader, bytes))
        return true;
    reader->missing += reader->chat->block->low - reader->start + bytes;
    tcall_reader_clear_(reader);
    reader->answer.error = TCALL_E_MEMORY;
    return false;
}

/* Adds to a part of the current element what it cannot do without. */
static bool tcall_reader_add_(tcall_reader *reader, int part, tcall_str bytes)
{
    const bool fits = tcall_reader_need_(reader, bytes.len);
    if (fits)
        tcall_reader_append_(reader, reader->place[TCALL_AT_ELEMENT_], part,
                             bytes);
    return fits;
}

/* ---- arguments that come again ----
 *
 * Some streams end with the whole arguments once more. As long as these are
 * those of a known call they are compared with them, and not kept.
 */

/* Arguments that are compared, as far as they are known. */
static tcall_str tcall_reader_echoed_(const tcall_reader *reader)
{
    return tcall_head_part_(
        tcall_reader_head_(reader, reader->place[TCALL_AT_ECHOED_]),
        TCALL_PART_TEXT_);
}

/* They are others, or of another call: what came of them is kept. */
static void tcall_reader_echo_ends_(tcall_reader *reader)
{
    const size_t *to = &reader->place[TCALL_AT_PENDING_];
    tcall_str text;
    reader->doc.echoes = false;
    if (!tcall_reader_room_(reader, reader->echo + TCALL_RESERVE_)) {
        tcall_reader_drop_arguments_(reader, *to, reader->echo);
        return;
    }
    text = tcall_reader_echoed_(reader);
    text.len = reader->echo;
    tcall_reader_append_(reader, *to, TCALL_PART_TEXT_, text);
}

/* Is the next piece of the current element as it was? */
static bool tcall_reader_echoes_(tcall_reader *reader, tcall_str piece)
{
    const tcall_str text = tcall_reader_echoed_(reader);
    if (!reader->doc.echoes ||
        reader->place[TCALL_AT_ELEMENT_] != reader->place[TCALL_AT_PENDING_])
        return false;
    if (piece.len <= text.len - reader->echo &&
        memcmp(text.ptr + reader->echo, piece.ptr, piece.len) == 0)
        reader->echo += piece.len;
    else
        tcall_reader_echo_ends_(reader);
    return reader->doc.echoes;
}

/* Adds an empty element at the end. */
static bool tcall_reader_place_(tcall_reader *reader, size_t *at, uint8_t kind)
{
    tcall_block *block = reader->chat->block;
    if (!tcall_reader_need_(reader, TCALL_HEAD_))
        return false;
    reader->growing = false;
    *at = block->low;
    tcall_block_grow_(block, TCALL_HEAD_);
    tcall_reader_blank_(reader, *at, kind);
    return true;
}

/* ---- text of the model ---- */

/* Bytes that are free for text, so many of its own among them. */
static size_t tcall_reader_text_room_(const tcall_reader *reader, size_t own)
{
    size_t room = tcall_reader_free_(reader) + own;
    size_t kept = TCALL_HEAD_ + TCALL_RESERVE_;
    return room > kept ? room - kept : 0;
}

/* Reports a piece of the model's text and returns how much of it is kept. It
 * may lie in the block already, in so many bytes. */
static size_t tcall_reader_hear_(tcall_reader *reader, tcall_str piece,
                                 size_t own)
{
    size_t room, most = 0;
    if (tcall_reader_in_other_(reader))
        return 0;
    reader->answer.has_text = true;
    if (reader->text && reader->said.text_ends && !reader->said.parted)
        reader->text(reader->user, tcall_slice_("\n\n", 2));
    reader->said.parted = reader->said.text_ends;
    if (reader->text)
        reader->text(reader->user, piece);
    if (reader->answer.text_cut || reader->answer.error == TCALL_E_MEMORY)
        return 0;
    if (tcall_reasoning_is_free_(reader) &&
        tcall_reader_text_room_(reader, own) < piece.len)
        tcall_reasoning_drop_all_(reader);
    room = tcall_reader_text_room_(reader, own);
    if (room)
        tcall_reader_begin_text_(reader);
    if (reader->said.has_text)
        most = reader->text_max - tcall_reader_text_len_(reader);
    room = room < most ? room : most;
    reader->answer.text_cut = room < piece.len;
    return room < piece.len ? room : piece.len;
}

/* Takes a piece of text that certainly is the model's. */
static void tcall_reader_text_(tcall_reader *reader, tcall_str piece)
{
    piece.len = tcall_reader_hear_(reader, piece, 0);
    if (piece.len)
        tcall_reader_append_(reader, reader->place[TCALL_AT_TEXT_],
                             TCALL_PART_TEXT_, piece);
}

/* The text of the element at *at, which may move, is text of the model. */
static void tcall_reader_say_(tcall_reader *reader, const size_t *at)
{
    tcall_str text =
        tcall_head_part_(tcall_reader_head_(reader, *at), TCALL_PART_TEXT_);
    if (!text.len)
        return;
    text.len = tcall_reader_hear_(reader, text, text.len);
    tcall_reader_resize_(reader, *at, TCALL_PART_TEXT_, text.len);
    if (text.len)
        tcall_reader_move_(reader, *at, reader->place[TCALL_AT_TEXT_],
                           TCALL_PART_TEXT_);
}

/* ---- parts of an element ---- */

/* The kind of an element that has this field. */
static uint8_t tcall_field_kind_(int field)
{
    if (field == TCALL_FIELD_TEXT)
        return TCALL_ITEM_TEXT;
    if (field == TCALL_FIELD_DELTA)
        return TCALL_ITEM_DELTA_;
    return field >= TCALL_FIELD_REASONING && field < TCALL_FIELD_TEXT
               ? TCALL_ITEM_REASONING
               : TCALL_ITEM_CALL;
}

/* The part of an element that the field is of. */
static int tcall_field_part_(int field)
{
    return field < TCALL_FIELD_ARGUMENTS ? field - TCALL_FIELD_ID
                                         : TCALL_PART_TEXT_;
}

/* Opens the current element as soon as there is something to keep of it. Some
 * fields tell its kind, ids and the like do not. */
static bool tcall_reader_open_(tcall_reader *reader, int field)
{
    uint8_t kind = tcall_field_kind_(field);
    if (!reader->element.open && reader->answer.error != TCALL_E_MEMORY)
        reader->element.open = tcall_reader_place_(
            reader, &reader->place[TCALL_AT_ELEMENT_], TCALL_ITEM_CALL);
    if (reader->element.open && kind != TCALL_ITEM_CALL) {
        tcall_item_head_ *head =
            tcall_reader_head_(reader, reader->place[TCALL_AT_ELEMENT_]);
        head->kind = kind;
        if (field == TCALL_FIELD_REASONING_DATA)
            head->flags |= TCALL_FLAG_RAW;
    }
    return reader->element.open;
}

/* Keeps a piece of arguments, or of text that belongs to an element. */
static void tcall_reader_content_(tcall_reader *reader, int field,
                                  tcall_str piece)
{
    reader->growing = false;
    if (tcall_reader_echoes_(reader, piece))
        return;
    if (field == TCALL_FIELD_TEXT &&
        tcall_reader_free_(reader) < piece.len + TCALL_RESERVE_) {
        /* It can wait no longer for what its element turns out to be. */
        tcall_reader_say_(reader, &reader->place[TCALL_AT_ELEMENT_]);
        tcall_reader_text_(reader, piece);
    } else if (tcall_reader_head_(reader, reader->place[TCALL_AT_ELEMENT_])
                   ->error ||
               !tcall_reader_room_(reader, piece.len + TCALL_RESERVE_)) {
        tcall_reader_drop_arguments_(reader, reader->place[TCALL_AT_ELEMENT_],
                                     piece.len);
    } else {
        tcall_reader_append_(reader, reader->place[TCALL_AT_ELEMENT_],
                             TCALL_PART_TEXT_, piece);
        reader->growing =
            tcall_reader_next_(reader, reader->place[TCALL_AT_ELEMENT_]) ==
            reader->chat->block->low;
    }
}

/* Takes a piece of a part of the current element. */
TCALL_SHARED_ void tcall_reader_part_(tcall_reader *reader, int field,
                                      tcall_str piece)
{
    const int part = tcall_field_part_(field);
    const bool reasons = tcall_field_kind_(field) == TCALL_ITEM_REASONING;
    if (reader->answer.error == TCALL_E_MEMORY) {
        reader->missing += piece.len;
        return;
    }
    if (!tcall_reader_open_(reader, field))
        return;
    if (reasons)
        reader->said.words = (uint8_t)field;
    if (reasons || part == TCALL_PART_SIGNATURE_)
        tcall_reasoning_piece_(reader, reader->place[TCALL_AT_ELEMENT_], part,
                               piece);
    else if (part == TCALL_PART_TEXT_)
        tcall_reader_content_(reader, field, piece);
    else
        tcall_reader_add_(reader, part, piece);
}

/* ---- merging elements ---- */

/* What a delta is, now that the event of its document is known. */
static void tcall_reader_settle_delta_(tcall_item_head_ *head, uint8_t event)
{
    const bool all = event == TCALL_MEANS_ALL_ARGUMENTS;
    head->kind = event == TCALL_MEANS_TEXT ? (uint8_t)TCALL_ITEM_TEXT
                 : all || event == TCALL_MEANS_ARGUMENTS
                     ? (uint8_t)TCALL_ITEM_CALL
                     : (uint8_t)TCALL_ITEM_VOID_;
    if (head->kind == TCALL_ITEM_VOID_)
        head->index = 0;
    if (all)
        head->flags |= TCALL_FLAG_WHOLE_;
}

/* Reports a piece of a call. */
static void tcall_reader_show_(const tcall_reader *reader)
{
    size_t at = reader->place[TCALL_AT_PENDING_] - reader->chat->start;
    tcall_item item;
    if (reader->call && tcall_chat_next(reader->chat, &at, &item) &&
        item.kind == TCALL_ITEM_CALL)
        reader->call(reader->user, &item);
}

/* The item that the first unmerged element is of: itself if it is new. */
static size_t tcall_reader_owner_(const tcall_reader *reader)
{
    return !reader->doc.whole &&
                   tcall_reader_pending_(reader)->kind != TCALL_ITEM_VOID_
               ? tcall_reader_find_(reader)
               : reader->place[TCALL_AT_PENDING_];
}

/* Merges a call or reasoning, or keeps it as a new item. Returns whether it is
 * one. Arguments that came again are those of its call, all of them. */
static bool tcall_reader_settle_item_(tcall_reader *reader)
{
    size_t at = tcall_reader_owner_(reader);
    bool stays;
    if (reader->doc.echoes) {
        if (at != reader->place[TCALL_AT_ECHOED_] ||
            reader->echo < tcall_reader_echoed_(reader).len)
            tcall_reader_echo_ends_(reader); /* which may move both */
        reader->doc.echoes = false;
        at = tcall_reader_owner_(reader);
    }
    stays = at == reader->place[TCALL_AT_PENDING_];
    if (stays || !(tcall_reader_pending_(reader)->flags & TCALL_FLAG_WHOLE_))
        tcall_reader_show_(reader);
    if (!stays)
        tcall_reader_merge_(reader, at);
    return stays;
}

/* Settles the first unmerged element: it is complete, and so is what was said
 * around it. One that is void but has a number is kept as well: what comes with
 * that number later is of it. */
static void tcall_reader_settle_(tcall_reader *reader)
{
    size_t *pending = &reader->place[TCALL_AT_PENDING_];
    tcall_item_head_ *head = tcall_reader_pending_(reader);
    bool stays = false;
    if (!head->index)
        head->index = reader->element.index;
    if (head->kind == TCALL_ITEM_DELTA_)
        tcall_reader_settle_delta_(head, reader->doc.event);
    if (head->kind == TCALL_ITEM_TEXT && !tcall_reader_in_other_(reader) &&
        tcall_reader_owner_(reader) == *pending) {
        tcall_reader_say_(reader, pending);
        tcall_reasoning_sign_text_(reader, pending);
    } else if (head->kind != TCALL_ITEM_TEXT &&
               !tcall_reader_in_other_(reader) &&
               (head->kind != TCALL_ITEM_VOID_ || head->index)) {
        stays = tcall_reader_settle_item_(reader);
    }
    if (stays)
        *pending = tcall_reader_next_(reader, *pending);
    else
        tcall_reader_remove_(reader, *pending);
}

/* Settles all elements that wait, to the end of the conversation. */
TCALL_SHARED_ void tcall_reader_settle_elements_(tcall_reader *reader)
{
    while (reader->place[TCALL_AT_PENDING_] < reader->chat->block->low)
        tcall_reader_settle_(reader);
}
