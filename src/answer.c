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

/* Texts and arguments leave so much free, for the header, id and name of the
 * next call: it can then at least be named. */
#define TCALL_RESERVE_      64
#define TCALL_TEXT_RESERVE_ (TCALL_HEAD_ + TCALL_RESERVE_)

/* ---- items in the block ---- */

/* The header of the item at one of the reader's places. */
static tcall_item_head_ *tcall_reader_at_(const tcall_reader *r, int place)
{
    return tcall_head_at_(r->chat, r->place[place]);
}

static size_t tcall_reader_len_(const tcall_reader *r, size_t at, int part)
{
    return tcall_head_len_(tcall_head_at_(r->chat, at), part);
}

/* The place of the item after the one at this place. */
static size_t tcall_reader_next_(const tcall_reader *r, size_t at)
{
    return at + tcall_head_size_(tcall_head_at_(r->chat, at));
}

static size_t tcall_reader_free_(const tcall_reader *r)
{
    return tcall_block_free_(r->chat->block);
}

/* Keeps the reader's places right where bytes from first to last moved. */
static void tcall_reader_moved_(tcall_reader *r, size_t first, size_t last,
                                size_t by)
{
    size_t *place = r->place;
    for (; place < r->place + TCALL_PLACES_; place++)
        if (*place >= first && *place <= last)
            *place += by;
}

/* Moves all bytes from one place on to another; the room is there. */
static void tcall_reader_shift_(tcall_reader *r, size_t from, size_t to)
{
    tcall_chat_shift_(r->chat, from, to);
    tcall_reader_moved_(r, from, (size_t)-1, to - from);
}

/* Gives a part another length, at its end; the room is there. Returns where it
 * ended before. */
static char *tcall_reader_resize_(tcall_reader *r, size_t at, int part,
                                  size_t len)
{
    tcall_item_head_ *head = tcall_head_at_(r->chat, at);
    const size_t end = at + tcall_head_end_(head, part);
    const size_t old = tcall_head_len_(head, part);
    tcall_head_set_len_(head, part, len);
    tcall_reader_shift_(r, end, end - old + len);
    return r->chat->block->base + end;
}

/* Adds bytes, for which there is room, to the end of an item's part. */
static void tcall_reader_append_(tcall_reader *r, size_t at, int part,
                                 tcall_str bytes)
{
    const size_t len = tcall_reader_len_(r, at, part) + bytes.len;
    tcall_copy_(tcall_reader_resize_(r, at, part, len), bytes);
}

/* Takes the item at this place out. */
static void tcall_reader_remove_(tcall_reader *r, size_t at)
{
    tcall_reader_shift_(r, tcall_reader_next_(r, at), at);
}

/* Makes an empty item at this place, where there is room. */
static void tcall_reader_blank_(tcall_reader *r, size_t at, uint8_t kind)
{
    tcall_item_head_ *head = tcall_head_at_(r->chat, at);
    memset(head, 0, sizeof *head);
    head->kind = kind;
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
static void tcall_reader_move_(tcall_reader *r, size_t from, size_t to,
                               int part)
{
    tcall_item_head_ *source = tcall_head_at_(r->chat, from);
    tcall_item_head_ *target = tcall_head_at_(r->chat, to);
    const size_t place = to + tcall_head_end_(target, part);
    const size_t len = tcall_head_len_(source, part);
    char *end = (char *)source + tcall_head_end_(source, part);
    if (!len)
        return;
    tcall_head_set_len_(target, part, tcall_head_len_(target, part) + len);
    tcall_head_set_len_(source, part, 0);
    tcall_rotate_(r->chat->block->base + place, end - len, end);
    tcall_reader_moved_(r, place, from, len);
}

/* ---- reasoning, and what gives way ---- */

static bool tcall_is_reasoning_(const tcall_item_head_ *head)
{
    return head->kind == TCALL_ITEM_REASONING;
}

/* May it be left out? Then it makes way for text, too. */
static bool tcall_reasoning_is_free_(const tcall_reader *r)
{
    return (r->provider->quirks & TCALL_QUIRK_FREE_REASONING) != 0;
}

/* Do calls, texts and reasoning each have a signature of their own? */
static bool tcall_reasoning_signs_(const tcall_reader *r)
{
    return r->provider->reasoning == TCALL_REASONING_SIGNATURES;
}

/* Has it a signature, or had one that did not fit? */
static bool tcall_head_is_signed_(const tcall_item_head_ *head)
{
    return tcall_head_len_(head, TCALL_PART_SIGNATURE_) ||
           head->flags & TCALL_FLAG_DROPPED;
}

/* Drops what the item at this place has of reasoning, and so many bytes that
 * were to come: a part of it would be refused. */
static void tcall_reasoning_drop_(tcall_reader *r, size_t at, size_t more)
{
    tcall_item_head_ *head = tcall_head_at_(r->chat, at);
    more += tcall_head_len_(head, TCALL_PART_SIGNATURE_);
    tcall_reader_resize_(r, at, TCALL_PART_SIGNATURE_, 0);
    if (tcall_is_reasoning_(head)) {
        more += tcall_head_len_(head, TCALL_PART_TEXT_);
        tcall_reader_resize_(r, at, TCALL_PART_TEXT_, 0);
    }
    *(r->said.raw && at == r->place[TCALL_AT_RAW_]
          ? &r->raw_missing
          : &r->answer.reasoning_dropped) += more;
    if (more)
        head->flags |= TCALL_FLAG_DROPPED;
}

static void tcall_reasoning_drop_all_(tcall_reader *r)
{
    size_t at = r->start;
    for (; at < r->chat->block->low; at = tcall_reader_next_(r, at))
        tcall_reasoning_drop_(r, at, 0);
}

/* Keeps a piece of reasoning or a signature, if that takes nothing away from
 * anything else. */
static void tcall_reasoning_piece_(tcall_reader *r, size_t at, int part,
                                   tcall_str piece)
{
    if (r->answer.reasoning_dropped ||
        tcall_head_at_(r->chat, at)->flags & TCALL_FLAG_DROPPED ||
        tcall_reader_free_(r) < piece.len + TCALL_RESERVE_)
        tcall_reasoning_drop_(r, at, piece.len);
    else
        tcall_reader_append_(r, at, part, piece);
}

/* Arguments that do not fit make their call fail, not the answer. */
static void tcall_reader_drop_arguments_(tcall_reader *r, size_t at,
                                         size_t more)
{
    tcall_item_head_ *head = tcall_head_at_(r->chat, at);
    r->missing += tcall_head_len_(head, TCALL_PART_TEXT_) + more;
    if (!head->error)
        head->error = TCALL_E_MEMORY;
    tcall_reader_resize_(r, at, TCALL_PART_TEXT_, 0);
}

static size_t tcall_reader_text_len_(const tcall_reader *r)
{
    return r->said.has_text ? tcall_reader_len_(r, r->place[TCALL_AT_TEXT_],
                                                TCALL_PART_TEXT_)
                            : 0;
}

/* Makes room for a call. Calls matter more than text and reasoning: those give
 * way. */
static bool tcall_reader_room_(tcall_reader *r, size_t bytes)
{
    const size_t text = tcall_reader_text_len_(r);
    size_t room;
    if (bytes > tcall_reader_free_(r) + text)
        tcall_reasoning_drop_all_(r);
    room = tcall_reader_free_(r);
    if (bytes > room + text)
        return false;
    if (bytes > room) {
        tcall_reader_resize_(r, r->place[TCALL_AT_TEXT_], TCALL_PART_TEXT_,
                             text - (bytes - room));
        r->answer.text_cut = true;
    }
    return true;
}

/* Forgets all that was read. */
static void tcall_reader_clear_(tcall_reader *r)
{
    tcall_answer *answer = &r->answer;
    tcall_block_cut_(r->chat->block, r->start);
    r->place[TCALL_AT_PENDING_] = r->place[TCALL_AT_ELEMENT_] = r->start;
    r->text_max = tcall_reader_free_(r) / 2;
    r->element.open = r->doc.echoes = false;
    memset(&r->said, 0, sizeof r->said);
    answer->reasoning_dropped = 0;
    answer->text_cut = answer->pending = answer->unread = answer->has_text =
        false;
    answer->stop = TCALL_STOP_UNKNOWN;
    answer->stop_text[0] = 0;
}

/* Makes room for what a call cannot do without. Where there is none the answer
 * is lost; the rest is read to know what would have been needed. */
static bool tcall_reader_need_(tcall_reader *r, size_t bytes)
{
    if (tcall_reader_room_(r, bytes))
        return true;
    r->missing += r->chat->block->low - r->start + bytes;
    tcall_reader_clear_(r);
    r->answer.error = TCALL_E_MEMORY;
    return false;
}

/* Adds to a part of the current element what it cannot do without. */
static bool tcall_reader_add_(tcall_reader *r, int part, tcall_str bytes)
{
    if (!tcall_reader_need_(r, bytes.len))
        return false;
    tcall_reader_append_(r, r->place[TCALL_AT_ELEMENT_], part, bytes);
    return true;
}

/* Adds an empty element at the end. */
static bool tcall_reader_place_(tcall_reader *r, int place, uint8_t kind)
{
    if (!tcall_reader_need_(r, TCALL_HEAD_))
        return false;
    r->said.growing = false;
    r->place[place] = r->chat->block->low;
    tcall_block_grow_(r->chat->block, TCALL_HEAD_);
    tcall_reader_blank_(r, r->place[place], kind);
    return true;
}

/* ---- text of the model ---- */

/* Is what comes in another choice than the first? */
static bool tcall_reader_in_other_(const tcall_reader *r)
{
    return r->doc.choice == TCALL_CHOICE_OTHER_;
}

/* Gives the text of the answer its place: before everything else or, where
 * order counts, after all that is known. A text that was signed is over. */
static void tcall_reader_begin_text_(tcall_reader *r)
{
    const bool ordered = (r->provider->quirks & TCALL_QUIRK_ORDERED) != 0;
    const size_t last = r->place[TCALL_AT_TEXT_];
    const size_t place = ordered ? r->place[TCALL_AT_PENDING_] : r->start;
    if (tcall_reader_free_(r) < TCALL_HEAD_)
        return;
    if (r->said.has_text && !r->said.text_ends &&
        !(tcall_reasoning_signs_(r) &&
          tcall_reader_len_(r, last, TCALL_PART_SIGNATURE_)) &&
        (!ordered || tcall_reader_next_(r, last) == place))
        return;
    r->text_max -= tcall_reader_text_len_(r);
    tcall_reader_shift_(r, place, place + TCALL_HEAD_);
    tcall_reader_blank_(r, place, TCALL_ITEM_TEXT);
    r->place[TCALL_AT_TEXT_] = place;
    r->said.has_text = true;
    r->said.text_ends = r->said.parted = false;
}

/* Bytes that are free for text, so many of its own among them. */
static size_t tcall_reader_text_room_(const tcall_reader *r, size_t own)
{
    const size_t room = tcall_reader_free_(r) + own;
    return room > TCALL_TEXT_RESERVE_ ? room - TCALL_TEXT_RESERVE_ : 0;
}

/* Reports a piece of the model's text and returns how much of it is kept. It
 * may lie in the block already, in so many bytes. */
static size_t tcall_reader_hear_(tcall_reader *r, tcall_str piece, size_t own)
{
    size_t room, most = 0;
    if (tcall_reader_in_other_(r))
        return 0;
    r->answer.has_text = true;
    if (r->text && r->said.text_ends && !r->said.parted)
        r->text(r->user, tcall_slice_("\n\n", 2));
    r->said.parted = r->said.text_ends;
    if (r->text)
        r->text(r->user, piece);
    if (r->answer.text_cut || r->answer.error == TCALL_E_MEMORY)
        return 0;
    if (tcall_reasoning_is_free_(r) &&
        tcall_reader_text_room_(r, own) < piece.len)
        tcall_reasoning_drop_all_(r);
    room = tcall_reader_text_room_(r, own);
    if (room)
        tcall_reader_begin_text_(r);
    if (r->said.has_text)
        most = r->text_max - tcall_reader_text_len_(r);
    room = room < most ? room : most;
    r->answer.text_cut = room < piece.len;
    return room < piece.len ? room : piece.len;
}

/* Takes a piece of text that certainly is the model's. */
static void tcall_reader_text_(tcall_reader *r, tcall_str piece)
{
    piece.len = tcall_reader_hear_(r, piece, 0);
    if (piece.len)
        tcall_reader_append_(r, r->place[TCALL_AT_TEXT_], TCALL_PART_TEXT_,
                             piece);
}

/* The text of the element at one of the places is text of the model. */
static void tcall_reader_say_(tcall_reader *r, int place)
{
    const size_t *at = &r->place[place]; /* which may move */
    tcall_str text =
        tcall_head_part_(tcall_reader_at_(r, place), TCALL_PART_TEXT_);
    if (!text.len)
        return;
    text.len = tcall_reader_hear_(r, text, text.len);
    tcall_reader_resize_(r, *at, TCALL_PART_TEXT_, text.len);
    if (text.len)
        tcall_reader_move_(r, *at, r->place[TCALL_AT_TEXT_], TCALL_PART_TEXT_);
}

/* ---- merging elements ----
 *
 * A stream of documents says of an item now this and now that, and providers
 * differ in how they say which item they mean.
 */

/* Is an element a further piece of an item? */
typedef enum tcall_match_ {
    TCALL_MATCH_NO_,
    TCALL_MATCH_YES_,
    TCALL_MATCH_MAYBE_ /* the piece does not say what it is of */
} tcall_match_;

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
    const tcall_str text = tcall_head_part_(piece, TCALL_PART_TEXT_);
    /* Some servers give every call the same id, or number: where a whole object
     * is followed by another one with a name, that is another call. */
    const bool again =
        named && text.len && *text.ptr == '{' &&
        !(piece->flags & TCALL_FLAG_WHOLE_) &&
        tcall_is_object_text_(tcall_head_part_(known, TCALL_PART_TEXT_), NULL);
    /* Some servers give every piece an id of its own: then the number counts
     * while there is no name. */
    const bool by_id = tcall_head_len_(piece, TCALL_PART_ID_) &&
                       tcall_head_len_(known, TCALL_PART_ID_) &&
                       (!numbered || named);
    if (!by_id && !numbered)
        return named ? TCALL_MATCH_NO_ : TCALL_MATCH_MAYBE_;
    return again || (by_id && !tcall_same_part_(known, piece, TCALL_PART_ID_))
               ? TCALL_MATCH_NO_
               : TCALL_MATCH_YES_;
}

/* Likewise of a known item. Text is of one only if that does not count; of
 * reasoning the signature may come by itself. */
static tcall_match_ tcall_match_item_(const tcall_item_head_ *known,
                                      const tcall_item_head_ *piece)
{
    const bool numbered = known->index && piece->index;
    bool same = numbered;
    if (known->kind == TCALL_ITEM_TEXT ||
        (numbered && known->index != piece->index))
        return TCALL_MATCH_NO_;
    if (piece->kind == TCALL_ITEM_TEXT)
        same = numbered && known->kind == TCALL_ITEM_VOID_;
    else if (tcall_is_reasoning_(piece))
        same = known->kind == piece->kind && known->index == piece->index &&
               !((known->flags ^ piece->flags) & TCALL_FLAG_RAW) &&
               !(tcall_head_len_(known, TCALL_PART_SIGNATURE_) &&
                 tcall_head_len_(piece, TCALL_PART_SIGNATURE_));
    else if (tcall_is_reasoning_(known))
        same = numbered && !tcall_head_len_(piece, TCALL_PART_NAME_) &&
               !tcall_head_len_(piece, TCALL_PART_TEXT_);
    else
        return tcall_match_call_(known, piece);
    return same ? TCALL_MATCH_YES_ : TCALL_MATCH_NO_;
}

/* Returns the item that the first unmerged element is of: the last that
 * matches, or the last call if the element does not say; itself if it is new.
 */
static size_t tcall_reader_owner_(const tcall_reader *r)
{
    const tcall_item_head_ *piece = tcall_reader_at_(r, TCALL_AT_PENDING_);
    const size_t end = r->place[TCALL_AT_PENDING_];
    const bool alone = r->doc.whole || piece->kind == TCALL_ITEM_VOID_;
    size_t at = alone ? end : r->start, found = end, maybe = end;
    for (; at < end; at = tcall_reader_next_(r, at)) {
        const tcall_item_head_ *known = tcall_head_at_(r->chat, at);
        const tcall_match_ match = tcall_match_item_(known, piece);
        if (match == TCALL_MATCH_YES_)
            found = at;
        /* Only the last call may be continued without its number or id. */
        if (match || known->kind == TCALL_ITEM_CALL ||
            known->kind == TCALL_ITEM_VOID_)
            maybe = match == TCALL_MATCH_MAYBE_ ? at : end;
    }
    return found != end ? found : maybe;
}

/* Is the text of the element to be moved to the call? What the server says in
 * the end counts, but for nothing. */
static bool tcall_reader_merges_text_(tcall_reader *r, size_t at)
{
    tcall_item_head_ *known = tcall_head_at_(r->chat, at);
    const tcall_item_head_ *piece = tcall_reader_at_(r, TCALL_AT_PENDING_);
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
        tcall_reader_drop_arguments_(r, at, text.len);
    return !known->error;
}

/* Moves what the first unmerged element brings to the item at this place: id,
 * name and signature once, another name as a further piece of it as long as
 * there are no arguments; a text gets the signature only. Where reasoning is
 * missing already, more of it is of no use. */
static void tcall_reader_merge_(tcall_reader *r, size_t at)
{
    tcall_item_head_ *known = tcall_head_at_(r->chat, at);
    const tcall_item_head_ *piece = tcall_reader_at_(r, TCALL_AT_PENDING_);
    const uint8_t flags = piece->flags;
    const bool reasons = tcall_is_reasoning_(known);
    const bool name_grows = !tcall_head_len_(known, TCALL_PART_TEXT_) &&
                            !tcall_same_part_(known, piece, TCALL_PART_NAME_);
    int part =
        known->kind == TCALL_ITEM_TEXT ? TCALL_PART_SIGNATURE_ : TCALL_PART_ID_;
    if (known->kind == TCALL_ITEM_VOID_)
        return;
    known->flags |= flags & TCALL_FLAG_DROPPED;
    if (reasons && known->flags & TCALL_FLAG_DROPPED) {
        tcall_reasoning_drop_(r, r->place[TCALL_AT_PENDING_], 0);
        tcall_reasoning_drop_(r, at, 0);
    }
    for (; part < TCALL_PART_TEXT_; part++)
        if (!tcall_head_len_(known, part) ||
            (part == TCALL_PART_NAME_ && name_grows))
            tcall_reader_move_(r, r->place[TCALL_AT_PENDING_], at, part);
    if (known->kind == TCALL_ITEM_TEXT ||
        (!reasons && !tcall_reader_merges_text_(r, at)) ||
        !tcall_reader_len_(r, r->place[TCALL_AT_PENDING_], TCALL_PART_TEXT_))
        return;
    if ((flags & TCALL_FLAG_WHOLE_) || (known->flags & TCALL_FLAG_DEFAULT_))
        tcall_reader_resize_(r, at, TCALL_PART_TEXT_, 0);
    if (!(flags & TCALL_FLAG_WHOLE_))
        known->flags &= (uint8_t)~TCALL_FLAG_DEFAULT_;
    tcall_reader_move_(r, r->place[TCALL_AT_PENDING_], at, TCALL_PART_TEXT_);
}

/* ---- parts of an element ---- */

/* The kind of an element that has this field. */
static uint8_t tcall_field_kind_(int field)
{
    const bool reasons =
        field >= TCALL_FIELD_REASONING && field < TCALL_FIELD_TEXT;
    if (field == TCALL_FIELD_DELTA)
        return TCALL_ITEM_DELTA_;
    return field == TCALL_FIELD_TEXT ? TCALL_ITEM_TEXT
           : reasons                 ? TCALL_ITEM_REASONING
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
static bool tcall_reader_open_(tcall_reader *r, int field)
{
    const uint8_t kind = tcall_field_kind_(field);
    if (!r->element.open && r->answer.error != TCALL_E_MEMORY)
        r->element.open =
            tcall_reader_place_(r, TCALL_AT_ELEMENT_, TCALL_ITEM_CALL);
    if (r->element.open && kind != TCALL_ITEM_CALL)
        tcall_reader_at_(r, TCALL_AT_ELEMENT_)->kind = kind;
    if (field == TCALL_FIELD_REASONING_DATA)
        r->element.flags |= TCALL_FLAG_RAW;
    return r->element.open;
}

/* Keeps a piece of arguments, or of text that belongs to an element, which is
 * at this of the places. */
static void tcall_reader_content_(tcall_reader *r, int place, int field,
                                  tcall_str piece)
{
    const size_t *at = &r->place[place];
    r->said.growing = false;
    if (field == TCALL_FIELD_TEXT &&
        tcall_reader_free_(r) < piece.len + TCALL_RESERVE_) {
        /* It can wait no longer for what its element turns out to be. */
        tcall_reader_say_(r, place);
        tcall_reader_text_(r, piece);
    } else if (tcall_reader_at_(r, place)->error ||
               !tcall_reader_room_(r, piece.len + TCALL_RESERVE_)) {
        tcall_reader_drop_arguments_(r, *at, piece.len);
    } else {
        tcall_reader_append_(r, *at, TCALL_PART_TEXT_, piece);
        r->said.growing = tcall_reader_next_(r, *at) == r->chat->block->low;
    }
}

/* Adds a piece to arguments or text that grow at the end of the block. Returns
 * false where more than that is to be done. */
static bool tcall_reader_grow_(tcall_reader *r, tcall_str piece)
{
    tcall_block *block = r->chat->block;
    tcall_item_head_ *head;
    if (!r->said.growing ||
        tcall_block_free_(block) < piece.len + TCALL_RESERVE_)
        return false;
    head = tcall_reader_at_(r, TCALL_AT_ELEMENT_);
    tcall_head_set_len_(head, TCALL_PART_TEXT_,
                        tcall_head_len_(head, TCALL_PART_TEXT_) + piece.len);
    tcall_copy_(block->base + block->low, piece);
    tcall_block_grow_(block, piece.len);
    return true;
}

/* ---- arguments that come again ----
 *
 * Some streams end with the whole arguments once more. As long as the first
 * element of a document has those of the call that it is of they are compared,
 * and not kept.
 */

/* Arguments that are compared, as far as they are known. */
static tcall_str tcall_reader_echoed_(const tcall_reader *r)
{
    return tcall_head_part_(tcall_reader_at_(r, TCALL_AT_ECHOED_),
                            TCALL_PART_TEXT_);
}

/* They are others, or of another call: what came of them is kept. */
static void tcall_reader_echo_ends_(tcall_reader *r)
{
    tcall_str text;
    r->doc.echoes = false;
    tcall_reader_room_(r, r->echo + TCALL_RESERVE_);
    text = tcall_reader_echoed_(r);
    text.len = r->echo;
    tcall_reader_content_(r, TCALL_AT_PENDING_, TCALL_FIELD_ARGUMENTS, text);
}

/* Is the next piece of the current element as it was? */
static bool tcall_reader_echoes_(tcall_reader *r, tcall_str piece)
{
    tcall_str text;
    if (!r->doc.echoes ||
        r->place[TCALL_AT_ELEMENT_] != r->place[TCALL_AT_PENDING_])
        return false;
    if (!r->echo) {
        tcall_reader_at_(r, TCALL_AT_ELEMENT_)->index = r->element.index;
        r->place[TCALL_AT_ECHOED_] = tcall_reader_owner_(r);
    }
    text = tcall_reader_echoed_(r);
    if (r->place[TCALL_AT_ECHOED_] < r->place[TCALL_AT_ELEMENT_] &&
        piece.len <= text.len - r->echo &&
        memcmp(text.ptr + r->echo, piece.ptr, piece.len) == 0)
        r->echo += piece.len;
    else
        tcall_reader_echo_ends_(r);
    return r->doc.echoes;
}

/* Takes a piece of a part of the current element. */
static void tcall_reader_part_(tcall_reader *r, int field, tcall_str piece)
{
    const int part = tcall_field_part_(field);
    const bool reasons = tcall_field_kind_(field) == TCALL_ITEM_REASONING;
    if (!tcall_reader_open_(r, field)) {
        r->missing += piece.len;
        return;
    }
    if (reasons)
        r->said.words = (uint8_t)field;
    if (reasons || part == TCALL_PART_SIGNATURE_)
        tcall_reasoning_piece_(r, r->place[TCALL_AT_ELEMENT_], part, piece);
    else if (part != TCALL_PART_TEXT_)
        tcall_reader_add_(r, part, piece);
    else if (!tcall_reader_echoes_(r, piece))
        tcall_reader_content_(r, TCALL_AT_ELEMENT_, field, piece);
}

/* ---- elements are complete ---- */

/* Reports a piece of a call. */
static void tcall_reader_show_(const tcall_reader *r)
{
    size_t at = r->place[TCALL_AT_PENDING_] - r->chat->start;
    tcall_item item;
    if (r->call && tcall_chat_next(r->chat, &at, &item) &&
        item.kind == TCALL_ITEM_CALL)
        r->call(r->user, &item);
}

/* Says the text of the first unmerged element, whose signature is of the text.
 * The first one counts. */
static void tcall_reader_settle_text_(tcall_reader *r)
{
    tcall_reader_say_(r, TCALL_AT_PENDING_);
    if (!tcall_head_is_signed_(tcall_reader_at_(r, TCALL_AT_PENDING_)))
        return;
    if (!r->said.has_text || tcall_reasoning_signs_(r))
        tcall_reader_begin_text_(r);
    if (r->said.has_text)
        tcall_reader_merge_(r, r->place[TCALL_AT_TEXT_]);
}

/* Merges a call or reasoning, or keeps it as a new item. Returns whether it is
 * one. Arguments that came again are those of its call, all of them. */
static bool tcall_reader_settle_item_(tcall_reader *r)
{
    size_t of;
    bool stays;
    if (r->doc.echoes &&
        (tcall_reader_owner_(r) != r->place[TCALL_AT_ECHOED_] ||
         r->echo < tcall_reader_echoed_(r).len))
        tcall_reader_echo_ends_(r);
    r->doc.echoes = false;
    of = tcall_reader_owner_(r);
    stays = of == r->place[TCALL_AT_PENDING_];
    if (stays ||
        !(tcall_reader_at_(r, TCALL_AT_PENDING_)->flags & TCALL_FLAG_WHOLE_))
        tcall_reader_show_(r);
    if (!stays)
        tcall_reader_merge_(r, of);
    return stays;
}

/* What a delta is, now that the event of its document is known. */
static void tcall_reader_settle_delta_(tcall_item_head_ *head, uint8_t event)
{
    const bool all = event == TCALL_MEANS_ALL_ARGUMENTS;
    head->kind = TCALL_ITEM_VOID_;
    if (event == TCALL_MEANS_TEXT)
        head->kind = TCALL_ITEM_TEXT;
    else if (all || event == TCALL_MEANS_ARGUMENTS)
        head->kind = TCALL_ITEM_CALL;
    else
        head->index = 0;
    if (all)
        head->flags |= TCALL_FLAG_WHOLE_;
}

/* Settles the first unmerged element: it is complete, and so is what was said
 * around it. One that is void but has a number is kept as well: what comes with
 * that number later is of it. */
static void tcall_reader_settle_(tcall_reader *r)
{
    size_t *at = &r->place[TCALL_AT_PENDING_];
    tcall_item_head_ *head = tcall_reader_at_(r, TCALL_AT_PENDING_);
    bool stays = false;
    if (!head->index)
        head->index = r->element.index;
    if (head->kind == TCALL_ITEM_DELTA_)
        tcall_reader_settle_delta_(head, r->doc.event);
    if (!tcall_reader_in_other_(r)) {
        if (head->kind == TCALL_ITEM_TEXT && tcall_reader_owner_(r) == *at)
            tcall_reader_settle_text_(r);
        else if (head->kind != TCALL_ITEM_TEXT &&
                 (head->kind != TCALL_ITEM_VOID_ || head->index))
            stays = tcall_reader_settle_item_(r);
    }
    if (stays)
        *at = tcall_reader_next_(r, *at);
    else
        tcall_reader_remove_(r, *at);
}

/* Settles all elements that wait, to the end of the conversation. */
static void tcall_reader_settle_elements_(tcall_reader *r)
{
    while (r->place[TCALL_AT_PENDING_] < r->chat->block->low)
        tcall_reader_settle_(r);
}

/* ---- the provider's words ---- */

/* Returns a number of up to nine digits, or -1 if the text has a sign or a
 * fraction or is no number. */
static long tcall_digits_(const char *text)
{
    const char *from = text;
    long number = 0;
    for (; tcall_is_digit_(*text) && number < 100000000; text++)
        number = number * 10 + (*text - '0');
    return *text || text == from ? -1 : number;
}

/* Returns "48s", "34.4s" or "250ms" in milliseconds, at most 2147483647, or -1
 * for anything else. */
static long tcall_delay_ms_(const char *text)
{
    static const char digits[] = "0123456789";
    const tcall_int most = 0x7FFFFFFF;
    size_t len = strspn(text, digits);
    tcall_num_ number;
    tcall_int ms;
    int rest;
    if (text[len] == '.')
        len += 1 + strspn(text + len + 1, digits);
    if (!len || (strcmp(text + len, "s") != 0 && strcmp(text + len, "ms") != 0))
        return -1;
    number = tcall_num_read_(tcall_slice_(text, len));
    tcall_num_whole_(&number, text[len] == 's' ? 3 : 0, &ms, &rest);
    return (long)(ms < most ? ms : most);
}

/* Returns how many bytes of the text are whole characters. */
static size_t tcall_utf8_whole_(tcall_str text)
{
    size_t last = text.len ? tcall_utf8_cut_(text.ptr, text.len - 1) : 0;
    const char *at = text.len ? text.ptr + last : "";
    bool cut = *at & 0x80 && tcall_utf8_next_(&at, text.ptr + text.len) < 0;
    return cut ? last : text.len;
}

/* Appends to a text that is cut rather than refused. */
static void tcall_append_cut_(char *text, size_t cap, tcall_str piece)
{
    size_t len = strlen(text), room = cap - 1 - len;
    piece.len = piece.len < room ? piece.len : room;
    *tcall_copy_(text + len, piece) = 0;
}

/* Keeps the provider's own word for why it stopped, or for its error. */
static void tcall_answer_keep_word_(tcall_answer *answer, const char *word)
{
    answer->stop_text[0] = 0;
    tcall_append_cut_(answer->stop_text, sizeof answer->stop_text,
                      tcall_str_of(word));
}

/* A further reason to stop. The first one counts, unless this one says that the
 * answer was cut off, or is not done for us where the provider is done. */
static void tcall_answer_stop_(tcall_answer *answer, tcall_stop stop,
                               const char *word)
{
    bool cut =
        stop == TCALL_STOP_LENGTH && answer->stop != TCALL_STOP_CONTENT_FILTER;
    bool undone = stop == TCALL_STOP_OTHER && answer->stop == TCALL_STOP_END;
    if (answer->stop != TCALL_STOP_UNKNOWN && !cut && !undone)
        return;
    answer->stop = stop;
    tcall_answer_keep_word_(answer, word);
}

/* A further word for an error. The code is kept rather than the type, unless it
 * is a number. */
static void tcall_answer_error_word_(tcall_answer *answer, bool code,
                                     const char *word)
{
    const char known = answer->stop_text[0];
    if (!known || tcall_is_digit_(known) || (code && !tcall_is_digit_(*word)))
        tcall_answer_keep_word_(answer, word);
}

/* ---- elements as they end ---- */

/* The element's JSON text stays where the element is reasoning. */
static void tcall_reasoning_end_raw_(tcall_reader *r)
{
    tcall_item_head_ *head = tcall_reader_at_(r, TCALL_AT_RAW_);
    if (!r->said.raw)
        return;
    r->said.raw = false;
    head->flags |= TCALL_FLAG_RAW | TCALL_FLAG_WHOLE_;
    head->index = r->element.index;
    if (r->element.type == TCALL_MEANS_REASONING)
        r->answer.reasoning_dropped += r->raw_missing;
    else
        tcall_reader_remove_(r, r->place[TCALL_AT_RAW_]);
    r->raw_missing = 0;
}

/* The current element is complete. Where each text is an item with a word of
 * its own the next text is another one. */
static void tcall_reader_element_end_(tcall_reader *r)
{
    const uint8_t type = r->element.type;
    const bool text = type == TCALL_MEANS_TEXT &&
                      r->provider->reasoning == TCALL_REASONING_ELEMENTS;
    if (r->answer.error == TCALL_E_MEMORY)
        r->missing += TCALL_HEAD_;
    tcall_reasoning_end_raw_(r);
    if (text)
        r->said.text_ends = r->said.has_text;
    if (r->element.open) {
        tcall_item_head_ *head = tcall_reader_at_(r, TCALL_AT_ELEMENT_);
        const bool is_signed = tcall_head_is_signed_(head);
        head->index = r->element.index;
        head->flags |= r->element.flags;
        if (r->element.fault)
            head->error = r->element.fault;
        if (text)
            head->kind = TCALL_ITEM_TEXT;
        /* It may be a signature without a word. */
        if (type == TCALL_MEANS_REASONING && is_signed)
            head->kind = TCALL_ITEM_REASONING;
        /* By itself it is that of a text. Pieces of calls have a number. */
        if (tcall_reasoning_signs_(r) && is_signed && !head->index &&
            head->kind == TCALL_ITEM_CALL &&
            tcall_head_size_(head) ==
                TCALL_HEAD_ + tcall_head_len_(head, TCALL_PART_SIGNATURE_))
            head->kind = TCALL_ITEM_TEXT;
        if (type > TCALL_MEANS_UNKNOWN && type != TCALL_MEANS_CALL &&
            type != TCALL_MEANS_TEXT && head->kind != TCALL_ITEM_REASONING)
            head->kind = TCALL_ITEM_VOID_;
    }
    r->answer.unread |= type == TCALL_MEANS_OTHER;
    memset(&r->element, 0, sizeof r->element);
}

/* All elements of a choice, or of a document, are complete. Why another choice
 * than the first stopped does not matter. */
static void tcall_reader_settle_all_(tcall_reader *r)
{
    tcall_reader_settle_elements_(r);
    if (tcall_reader_in_other_(r)) {
        r->said.cut = r->doc.cut_before;
        if (r->answer.stop != (tcall_stop)r->doc.stop_before)
            r->answer.stop_text[0] = 0;
        r->answer.stop = (tcall_stop)r->doc.stop_before;
    } else if (r->said.stopped || r->doc.event == TCALL_MEANS_ELEMENT_ENDS) {
        r->said.finished = true;
    }
    r->said.stopped = false;
    r->doc.choice = TCALL_CHOICE_NONE_;
}

/* ---- words ---- */

/* Returns what the current word means, or otherwise if it is not listed. */
static uint8_t tcall_reader_meaning_(const tcall_reader *r,
                                     const tcall_words *list, uint8_t otherwise)
{
    const char *word = list->words;
    const uint8_t *means = list->means;
    for (; *word; word += strlen(word) + 1, means++)
        if (strcmp(word, r->word) == 0)
            return *means;
    return otherwise;
}

/* A reason to stop: after some the last call must not run. */
static void tcall_reader_stop_word_(tcall_reader *r, int field)
{
    const uint8_t stop =
        tcall_reader_meaning_(r, r->provider->stops, TCALL_STOP_OTHER);
    const bool filter = stop == TCALL_STOP_CONTENT_FILTER;
    if (tcall_reader_in_other_(r))
        return;
    r->said.cut = r->said.cut || filter || stop == TCALL_STOP_LENGTH;
    if (field == TCALL_FIELD_STOP_REASON) {
        if (filter)
            r->answer.stop = TCALL_STOP_CONTENT_FILTER;
    } else if (r->word[0]) {
        r->answer.pending = stop == TCALL_STOP_UNKNOWN;
        if (!r->answer.pending) {
            r->said.stopped = true;
            tcall_answer_stop_(&r->answer, (tcall_stop)stop, r->word);
        }
    }
}

/* The type of an element. */
static void tcall_reader_type_word_(tcall_reader *r, uint8_t means)
{
    r->element.type = means;
    if (means == TCALL_MEANS_UNHANDLED)
        tcall_answer_stop_(&r->answer, TCALL_STOP_OTHER, r->word);
    /* What a stream says of it later has its number only. */
    if (means == TCALL_MEANS_OTHER && !r->doc.whole)
        tcall_reader_open_(r, TCALL_FIELD_NONE);
}

/* A short value is complete. A number that is none is -1. */
static void tcall_reader_word_(tcall_reader *r, int field)
{
    const tcall_words *types = r->provider->types;
    const long number = tcall_digits_(r->word);
    if (field == TCALL_FIELD_INDEX)
        r->element.index = (uint8_t)(number < 255 ? number + 1 : 0);
    else if (field == TCALL_FIELD_CHOICE_INDEX)
        r->doc.choice = number ? TCALL_CHOICE_OTHER_ : TCALL_CHOICE_FIRST_;
    else if (field == TCALL_FIELD_INPUT_TOKENS && number >= 0)
        r->answer.input_tokens = number;
    else if (field == TCALL_FIELD_OUTPUT_TOKENS && number >= 0)
        r->answer.output_tokens = number;
    else if (field == TCALL_FIELD_TYPE)
        tcall_reader_type_word_(
            r, tcall_reader_meaning_(r, types, TCALL_MEANS_OTHER));
    else if (field == TCALL_FIELD_EVENT)
        r->doc.event = tcall_reader_meaning_(r, types, TCALL_MEANS_OTHER);
    else if (field == TCALL_FIELD_STOP || field == TCALL_FIELD_STOP_REASON)
        tcall_reader_stop_word_(r, field);
    else if (field == TCALL_FIELD_RETRY_DELAY)
        r->answer.wait_ms = tcall_delay_ms_(r->word);
    else if (field >= TCALL_FIELD_ERROR_TYPE)
        tcall_answer_error_word_(&r->answer, field == TCALL_FIELD_ERROR_CODE,
                                 r->word);
}

/* ---- values ---- */

static bool tcall_field_is_word_(int field)
{
    return field >= TCALL_FIELD_INDEX;
}

/* A value of this field begins: decides whether the current document is a piece
 * or a whole answer. Some servers send all so far beside each piece. */
static void tcall_reader_tell_piece_(tcall_reader *r, int field)
{
    if (field == TCALL_FIELD_WHOLE_ANSWER) {
        r->doc.in_whole = true;
        r->doc.whole = !r->doc.piece;
    } else if (!r->doc.in_whole &&
               (field == TCALL_FIELD_PIECE || field == TCALL_FIELD_ELEMENT ||
                field == TCALL_FIELD_DELTA)) {
        /* what it brought of a whole answer is void */
        if (r->doc.whole)
            tcall_block_cut_(r->chat->block, r->place[TCALL_AT_PENDING_]);
        r->doc.whole = false;
        r->doc.piece = true;
    }
}

/* Is reasoning of this field kept, which begins with c? A signature is not
 * while its element only begins. */
static bool tcall_reasoning_takes_(const tcall_reader *r, int field, char c)
{
    const unsigned kept = r->provider->reasoning;
    if (field == TCALL_FIELD_SIGNATURE)
        return kept & TCALL_KEEPS_SIGNS_ &&
               r->doc.event != TCALL_MEANS_ELEMENT_BEGINS;
    if (field == TCALL_FIELD_REASONING_DATA)
        return kept & (c == '[' ? TCALL_KEEPS_LISTS_ : TCALL_KEEPS_DATA_);
    return kept & TCALL_KEEPS_WORDS_ && c == '"' &&
           (!r->said.words || r->said.words == field);
}

/* Is a value of this part, which begins with c, of no use? One that is there
 * already is none where a stream ends with the whole answer. */
static bool tcall_reader_skips_part_(const tcall_reader *r, int field, char c)
{
    const bool text = field == TCALL_FIELD_TEXT || field == TCALL_FIELD_DELTA;
    const bool reasons = field == TCALL_FIELD_SIGNATURE ||
                         tcall_field_kind_(field) == TCALL_ITEM_REASONING;
    return (reasons && !tcall_reasoning_takes_(r, field, c)) ||
           (text && c != '"') ||
           (field != TCALL_FIELD_TEXT && r->element.open &&
            tcall_reader_len_(r, r->place[TCALL_AT_ELEMENT_],
                              tcall_field_part_(field)));
}

/* A part of an element begins with c. Returns whether it is of use. Whole
 * arguments may be those that came already. */
static bool tcall_reader_begin_part_(tcall_reader *r, int field, char c)
{
    const bool all = field == TCALL_FIELD_ALL_ARGUMENTS;
    const size_t at =
        r->element.open ? r->place[TCALL_AT_ELEMENT_] : r->chat->block->low;
    if (all) {
        r->element.flags |= TCALL_FLAG_WHOLE_;
        /* Arguments are text there; an object was never reported. */
        r->element.fault = (int8_t)(c == '{' ? TCALL_E_BAD_VALUE : TCALL_OK);
    }
    if (all || (field == TCALL_FIELD_ARGUMENTS && c == '{'))
        r->element.flags |= TCALL_FLAG_DEFAULT_;
    if (tcall_reader_skips_part_(r, field, c))
        return false;
    if ((all || (field == TCALL_FIELD_DELTA &&
                 r->doc.event == TCALL_MEANS_ALL_ARGUMENTS)) &&
        at == r->place[TCALL_AT_PENDING_] && !r->doc.whole) {
        r->doc.echoes = true;
        r->echo = 0;
    }
    /* Text and reasoning make an element even when they are empty. */
    if (tcall_field_kind_(field) != TCALL_ITEM_CALL && r->element.begun)
        tcall_reader_open_(r, field);
    return true;
}

/* Is the field a part of an element? Text that certainly is the model's is
 * none, but goes to the answer at once. A whole answer may hold several, whose
 * numbers may stand behind them, and one in an event may stand before the piece
 * that counts instead. */
static bool tcall_reader_is_part_(const tcall_reader *r, int field)
{
    const bool certain =
        r->doc.whole && (r->sse || r->doc.choice == TCALL_CHOICE_BEGUN_)
            ? false
            : !r->element.begun || r->element.type == TCALL_MEANS_TEXT;
    return field >= TCALL_FIELD_ID && field <= TCALL_FIELD_DELTA &&
           (field != TCALL_FIELD_TEXT || !certain);
}

/* A value begins with c. Returns whether it is of use; null is nothing. */
static bool tcall_reader_begin_(tcall_reader *r, int field, char c)
{
    tcall_answer *answer = &r->answer;
    r->doc.told = true;
    r->said.growing = false;
    if (c == 'n' || tcall_field_is_word_(field))
        return c != 'n';
    tcall_reader_tell_piece_(r, field);
    /* Some streams end with the whole answer. */
    if (r->doc.whole && r->doc.repeats && field >= TCALL_FIELD_ID &&
        field <= TCALL_FIELD_DELTA)
        return false;
    r->part = tcall_reader_is_part_(r, field);
    if (r->part)
        return tcall_reader_begin_part_(r, field, c);
    if (field == TCALL_FIELD_WHOLE_ANSWER)
        return r->doc.whole;
    if (field == TCALL_FIELD_ELEMENT)
        r->element.begun = true;
    if (field == TCALL_FIELD_CHOICE) {
        r->doc.cut_before = r->said.cut;
        r->doc.stop_before = (uint8_t)answer->stop;
        r->doc.choice = TCALL_CHOICE_BEGUN_;
    }
    if (field == TCALL_FIELD_IGNORE && (c == 't' || c == '{'))
        r->element.type =
            c == 't' ? TCALL_MEANS_REASONING : TCALL_MEANS_UNHANDLED;
    if (field == TCALL_FIELD_UNREAD) {
        r->element.fault = (int8_t)TCALL_E_UNHANDLED;
        tcall_reader_open_(r, field);
    }
    if (field == TCALL_FIELD_ERROR && c == '{')
        answer->error = TCALL_E_PROVIDER;
    return (field != TCALL_FIELD_ERROR && field != TCALL_FIELD_MESSAGE) ||
           !answer->message[0] || r->in_page;
}

/* A piece of the words about an error, which take the place of a page's
 * beginning. */
static void tcall_reader_message_(tcall_reader *r, tcall_str piece)
{
    if (r->in_page)
        r->answer.message[0] = 0;
    r->in_page = false;
    tcall_append_cut_(r->answer.message, sizeof r->answer.message, piece);
}

/* A piece of a word, or of a name. */
static void tcall_reader_spell_(tcall_reader *r, tcall_str piece)
{
    for (; piece.len && r->word_len < sizeof r->word - 1; piece.len--)
        r->word[r->word_len++] = *piece.ptr++;
}

/* A piece of a value. */
static void tcall_reader_data_(tcall_reader *r, int field, tcall_str bytes)
{
    if (tcall_field_is_word_(field)) {
        tcall_reader_spell_(r, bytes);
    } else if (r->part) {
        tcall_reader_part_(r, field, bytes);
    } else if (field == TCALL_FIELD_TEXT) {
        tcall_reader_text_(r, bytes);
    } else if (field == TCALL_FIELD_ERROR || field == TCALL_FIELD_MESSAGE) {
        if (field == TCALL_FIELD_ERROR)
            r->answer.error = TCALL_E_PROVIDER;
        tcall_reader_message_(r, bytes);
    }
}

/* A value is complete. A part outside of an element is one by itself. */
static void tcall_reader_complete_(tcall_reader *r, int field)
{
    if (tcall_field_is_word_(field)) {
        r->word[r->word_len] = 0;
        r->word_len = 0;
        tcall_reader_word_(r, field);
        return;
    }
    if (field == TCALL_FIELD_WHOLE_ANSWER)
        r->doc.in_whole = false;
    if (field == TCALL_FIELD_CHOICE)
        tcall_reader_settle_all_(r);
    if (field != TCALL_FIELD_ELEMENT &&
        (r->element.begun || !tcall_reader_is_part_(r, field)))
        return;
    tcall_reader_element_end_(r);
    /* Text that comes next is to stand after it. */
    if (r->doc.whole && !r->sse && r->provider->quirks & TCALL_QUIRK_ORDERED)
        tcall_reader_settle_elements_(r);
}

/* Keeps the current element's JSON text up to here, as long as it may turn out
 * to be reasoning: its type usually comes first. */
static void tcall_reader_keep_(tcall_reader *r, const char *end)
{
    const tcall_str piece = tcall_slice_(r->kept, (size_t)(end - r->kept));
    const uint8_t type = r->element.type;
    r->kept = end;
    if (r->doc.event == TCALL_MEANS_ELEMENT_BEGINS ||
        (r->doc.whole && r->doc.repeats) ||
        (type && type != TCALL_MEANS_REASONING) ||
        r->answer.error == TCALL_E_MEMORY)
        return;
    if (!r->said.raw)
        r->said.raw =
            tcall_reader_place_(r, TCALL_AT_RAW_, TCALL_ITEM_REASONING);
    if (r->said.raw)
        tcall_reasoning_piece_(r, r->place[TCALL_AT_RAW_], TCALL_PART_TEXT_,
                               piece);
}

/* ---- items as they end ---- */

/* Completes a call. Returns false if there is nothing of it. */
static bool tcall_reader_finish_call_(tcall_reader *r)
{
    tcall_item_head_ *head = tcall_reader_at_(r, TCALL_AT_ELEMENT_);
    char id[TCALL_MADE_ID_];
    tcall_str made;
    if (!tcall_head_len_(head, TCALL_PART_NAME_) &&
        !tcall_head_len_(head, TCALL_PART_TEXT_) && !head->error) {
        r->answer.unread = true;
        return false;
    }
    made = tcall_chat_new_id_(r->chat, r->place[TCALL_AT_ELEMENT_],
                              tcall_head_part_(head, TCALL_PART_ID_), id);
    if (made.len)
        head->flags |= TCALL_FLAG_MADE_ID;
    if (!tcall_reader_add_(r, TCALL_PART_ID_, made))
        return false;
    head = tcall_reader_at_(r, TCALL_AT_ELEMENT_);
    if (tcall_str_eq(tcall_head_part_(head, TCALL_PART_TEXT_),
                     tcall_str_of("null"))) {
        memcpy((char *)head + tcall_head_end_(head, TCALL_PART_SIGNATURE_),
               "{}", 2);
        tcall_reader_resize_(r, r->place[TCALL_AT_ELEMENT_], TCALL_PART_TEXT_,
                             2);
    }
    if (tcall_reasoning_signs_(r) &&
        !tcall_head_len_(head, TCALL_PART_SIGNATURE_))
        head->flags |= TCALL_FLAG_UNSIGNED;
    r->place[TCALL_AT_PENDING_] = r->place[TCALL_AT_ELEMENT_];
    r->answer.calls++;
    return true;
}

/* Is anything of a reasoning there, or was and is missed? */
static bool tcall_reasoning_is_some_(const tcall_reader *r,
                                     const tcall_item_head_ *head)
{
    if (head->flags & TCALL_FLAG_DROPPED)
        return !tcall_reasoning_is_free_(r);
    return tcall_head_size_(head) >
           TCALL_HEAD_ + tcall_head_len_(head, TCALL_PART_ID_);
}

/* Completes the item at r->place[TCALL_AT_ELEMENT_]. Returns false if it
 * is removed. */
static bool tcall_reader_finish_item_(tcall_reader *r)
{
    const tcall_item_head_ *head = tcall_reader_at_(r, TCALL_AT_ELEMENT_);
    if (head->kind == TCALL_ITEM_CALL)
        return tcall_reader_finish_call_(r);
    if (tcall_is_reasoning_(head) ? !tcall_reasoning_is_some_(r, head)
                                  : head->kind != TCALL_ITEM_TEXT)
        return false;
    if (head->kind == TCALL_ITEM_TEXT && !tcall_head_is_signed_(head))
        return true;
    return tcall_reader_add_(r, TCALL_PART_NAME_,
                             tcall_str_of(r->provider->name));
}

/* Completes all items of a whole answer; r->place[TCALL_AT_PENDING_] is
 * the last call then. */
TCALL_NOINLINE_ TCALL_SHARED_ void tcall_reader_finish_(tcall_reader *r)
{
    r->place[TCALL_AT_ELEMENT_] = r->start;
    while (r->place[TCALL_AT_ELEMENT_] < r->chat->block->low) {
        const bool stays = tcall_reader_finish_item_(r);
        if (r->answer.error)
            return;
        if (stays)
            r->place[TCALL_AT_ELEMENT_] =
                tcall_reader_next_(r, r->place[TCALL_AT_ELEMENT_]);
        else
            tcall_reader_remove_(r, r->place[TCALL_AT_ELEMENT_]);
    }
    if (r->said.cut && r->answer.calls) {
        tcall_item_head_ *last = tcall_reader_at_(r, TCALL_AT_PENDING_);
        if (last->error != TCALL_E_MEMORY)
            last->error = (int8_t)TCALL_E_CUT;
    }
    if (r->answer.text_cut && r->said.has_text) {
        tcall_str text = tcall_head_part_(tcall_reader_at_(r, TCALL_AT_TEXT_),
                                          TCALL_PART_TEXT_);
        tcall_reader_resize_(r, r->place[TCALL_AT_TEXT_], TCALL_PART_TEXT_,
                             tcall_utf8_whole_(text));
    }
}

/* ---- the user of the recogniser: members ---- */

/* A row of the format's table: see TCALL_ROWS. */
enum {
    TCALL_ROW_LEN_,
    TCALL_ROW_FIELD_,
    TCALL_ROW_MORE_,
    TCALL_ROW_INSIDE_,
    TCALL_ROW_NAME_ = TCALL_ROW_INSIDE_ + 2,
    TCALL_ROW_FIELDS_ = 31 /* of more: the field of an array's elements */
};

/* Where the inside of a row begins, or NULL. */
static const uint8_t *tcall_row_inside_(const tcall_reader *r,
                                        const uint8_t *row)
{
    const size_t at =
        row[TCALL_ROW_INSIDE_] | (size_t)row[TCALL_ROW_INSIDE_ + 1] << 8;
    return at ? (const uint8_t *)r->provider->answer + at : NULL;
}

/* What the value of a row is, or an element of the array that it is. */
static uint8_t tcall_row_field_(const uint8_t *row, bool item)
{
    return item ? row[TCALL_ROW_MORE_] & TCALL_ROW_FIELDS_
                : row[TCALL_ROW_FIELD_];
}

/* The row of the member that mostly comes after this one of the innermost
 * object. */
static const uint8_t *tcall_row_after_(const tcall_reader *r,
                                       const uint8_t *row)
{
    return row[TCALL_ROW_MORE_] & TCALL_ROW_LAST
               ? tcall_row_inside_(r, r->level[r->levels - 1])
               : row + TCALL_ROW_NAME_ + row[TCALL_ROW_LEN_] + 1;
}

/* Finds what a name in the innermost object is, once around its table. */
TCALL_NOINLINE_ static bool tcall_answer_find_(tcall_reader *r, tcall_str name)
{
    const uint8_t *at = r->next;
    r->word_len = 0;
    if (!at)
        return false;
    do {
        const uint8_t *row = at;
        at = tcall_row_after_(r, at);
        if (row[TCALL_ROW_LEN_] == name.len &&
            row[TCALL_ROW_NAME_] == (uint8_t)*name.ptr &&
            memcmp(row + TCALL_ROW_NAME_, name.ptr, name.len) == 0) {
            r->member = row;
            r->next = at;
            return true;
        }
    } while (at != r->next);
    return false;
}

/* A member's name. */
static bool tcall_answer_name_(tcall_syntax_ *s, const char *bytes, size_t len,
                               bool last)
{
    tcall_reader *r = (tcall_reader *)(void *)s;
    if (last && !r->word_len)
        return tcall_answer_find_(r, tcall_slice_(bytes, len));
    tcall_reader_spell_(r, tcall_slice_(bytes, len));
    return !last || tcall_answer_find_(r, tcall_slice_(r->word, r->word_len));
}

/* An object or array begins: what is in it is told, or its text. */
static tcall_ask_ tcall_answer_open_(tcall_reader *r, bool wanted)
{
    const uint8_t *row = r->member;
    if (row[TCALL_ROW_MORE_] & TCALL_ROW_TEXT)
        return wanted ? TCALL_RAW_ : TCALL_SKIP_;
    if (r->levels == TCALL_WIRE_LEVELS_ ||
        (!wanted && r->field == TCALL_FIELD_WHOLE_ANSWER))
        return TCALL_SKIP_;
    if (r->field == TCALL_FIELD_ELEMENT &&
        r->provider->reasoning == TCALL_REASONING_ELEMENTS)
        r->kept = r->syntax.from;
    r->level[r->levels++] = row;
    r->next = tcall_row_inside_(r, row);
    return TCALL_HEAR_;
}

/* A value begins: of a member, or an element of an array. */
static tcall_ask_ tcall_answer_begin_(tcall_syntax_ *s, char first)
{
    tcall_reader *r = (tcall_reader *)(void *)s;
    const bool item = s->depth && !s->object;
    bool wanted = true;
    if (item) {
        r->member = r->level[r->levels - 1];
        if (first == '[' || !(r->member[TCALL_ROW_MORE_] & TCALL_ROW_ARRAY))
            return TCALL_SKIP_;
    }
    r->field = tcall_row_field_(r->member, item);
    if (r->field)
        wanted = tcall_reader_begin_(r, r->field, first);
    if (first == '{' || first == '[')
        return tcall_answer_open_(r, wanted);
    return wanted && r->field ? TCALL_HEAR_ : TCALL_SKIP_;
}

/* Half a character that was told by itself, or -1. */
static long tcall_half_of_(const char *bytes)
{
    const unsigned char *at = (const unsigned char *)bytes;
    return at[0] == 0xED && at[1] >= 0xA0
               ? 0xD000L | (at[1] & 0x3F) << 6 | (at[2] & 0x3F)
               : -1;
}

/* Puts the halves of a character together, which some servers send in two
 * pieces of a text. One that stands alone becomes U+FFFD. half: of this piece,
 * or -1. */
static void tcall_answer_half_(tcall_reader *r, long half)
{
    const long high = r->half_of == r->member ? r->half : 0;
    const bool low = half >= 0xDC00;
    char whole[4];
    const uint32_t code =
        high && low ? ((uint32_t)high << 10) + (uint32_t)half - 0x35FDC00
                    : 0xFFFD;
    if (high)
        r->half = 0;
    if (high || low)
        tcall_reader_data_(r, r->field,
                           tcall_slice_(whole, tcall_utf8_(whole, code)));
    if (half >= 0 && !low) {
        r->half = (uint16_t)half;
        r->half_of = r->member;
    }
}

/* A piece of the value at hand. */
static void tcall_answer_data_(tcall_syntax_ *s, const char *bytes, size_t len)
{
    tcall_reader *r = (tcall_reader *)(void *)s;
    const tcall_str piece = tcall_slice_(bytes, len);
    const long half = len == 3 && !s->raw ? tcall_half_of_(bytes) : -1;
    if (half >= 0 || (r->half && !s->raw))
        tcall_answer_half_(r, half);
    if (half < 0 && !tcall_reader_grow_(r, piece))
        tcall_reader_data_(r, r->field, piece);
}

/* A value ends that was asked for. */
static void tcall_answer_end_(tcall_syntax_ *s)
{
    tcall_reader *r = (tcall_reader *)(void *)s;
    if (r->levels > s->depth) {
        const bool item = s->depth && !s->object;
        const uint8_t *row = r->level[--r->levels];
        r->field = tcall_row_field_(row, item);
        r->next = tcall_row_after_(r, row);
        if (r->kept && r->field == TCALL_FIELD_ELEMENT) {
            tcall_reader_keep_(r, s->from);
            r->kept = NULL;
        }
    } else if (r->half && r->half_of == r->member && !r->sse) {
        tcall_answer_half_(r, -1);
    }
    if (r->field)
        tcall_reader_complete_(r, r->field);
}

static const tcall_syntax_user_ tcall_answer_user_ TCALL_FLASH_ = {
    tcall_answer_name_, tcall_answer_begin_, tcall_answer_data_,
    tcall_answer_end_};
