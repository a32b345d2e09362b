#pragma once
#include "stream.c"

/* ==========================================================================
 * >>pieces
 *
 * What the paths of a provider lead to are pieces: of an element, of the text,
 * or of what the answer says of itself. Elements are merged into items.
 */

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
        tcall_reader_resize_(reader, reader->text_at, TCALL_PART_TEXT_,
                             text - (bytes - free));
        reader->answer.text_cut = true;
    }
    return true;
}

/* Forgets all that was read. */
static void tcall_reader_clear_(tcall_reader *reader)
{
    reader->chat->block->low = reader->unmerged = reader->element =
        reader->raw = reader->start;
    reader->text_max = tcall_reader_free_(reader) / 2;
    reader->has_text = reader->open = reader->keeping_raw = false;
    reader->complete = reader->stopped = reader->cut = false;
    reader->finished = false;
    reader->words = 0;
    reader->text_ends = reader->parted = false;
    reader->answer.reasoning_dropped = 0;
    reader->answer.text_cut = reader->answer.pending = false;
    reader->answer.unread = reader->answer.has_text = false;
    reader->answer.stop = TCALL_STOP_UNKNOWN;
    reader->answer.stop_text[0] = 0;
}

/* Makes room for what a call cannot do without. Where there is none the answer
 * is lost; the rest is read to know what would have been needed. */
TCALL_SHARED_ bool tcall_reader_need_(tcall_reader *reader, size_t bytes)
{
    if (tcall_reader_room_(reader, bytes))
        return true;
    reader->missing += reader->chat->block->low - reader->start + bytes;
    tcall_reader_clear_(reader);
    reader->answer.error = TCALL_E_MEMORY;
    return false;
}

/* Adds an empty element at the end. */
static bool tcall_reader_place_(tcall_reader *reader, size_t *at, uint8_t kind)
{
    tcall_block *block = reader->chat->block;
    if (!tcall_reader_need_(reader, TCALL_HEAD_))
        return false;
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
    if (reader->other)
        return 0;
    reader->answer.has_text = true;
    if (reader->text && reader->text_ends && !reader->parted)
        reader->text(reader->user, tcall_slice_("\n\n", 2));
    reader->parted = reader->text_ends;
    if (reader->text)
        reader->text(reader->user, piece);
    if (reader->answer.text_cut || reader->answer.error == TCALL_E_MEMORY)
        return 0;
    room = tcall_reader_text_room_(reader, own);
    if (room < piece.len && tcall_reasoning_is_free_(reader)) {
        tcall_reasoning_drop_all_(reader);
        room = tcall_reader_text_room_(reader, own);
    }
    if (room)
        tcall_reader_begin_text_(reader);
    if (reader->has_text)
        most = reader->text_max - tcall_reader_text_len_(reader);
    room = room < most ? room : most;
    if (room >= piece.len)
        return piece.len;
    reader->answer.text_cut = true;
    return room;
}

/* Takes a piece of text that certainly is the model's. */
static void tcall_reader_text_(tcall_reader *reader, tcall_str piece)
{
    piece.len = tcall_reader_hear_(reader, piece, 0);
    if (piece.len)
        tcall_reader_append_(reader, reader->text_at, TCALL_PART_TEXT_, piece);
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
        tcall_reader_move_(reader, *at, reader->text_at, TCALL_PART_TEXT_);
}

/* ---- parts of an element ---- */

/* The kind of an element that has this field. */
static uint8_t tcall_field_kind_(int field)
{
    switch (field) {
    case TCALL_FIELD_REASONING:
    case TCALL_FIELD_REASONING_TOO:
    case TCALL_FIELD_REASONING_DATA: return TCALL_ITEM_REASONING;
    case TCALL_FIELD_TEXT: return TCALL_ITEM_TEXT;
    case TCALL_FIELD_DELTA: return TCALL_ITEM_DELTA_;
    default: return TCALL_ITEM_CALL;
    }
}

/* The part that a field is a piece of, or -1. */
static int tcall_field_part_(int field)
{
    switch (field) {
    case TCALL_FIELD_ID: return TCALL_PART_ID_;
    case TCALL_FIELD_NAME: return TCALL_PART_NAME_;
    case TCALL_FIELD_SIGNATURE: return TCALL_PART_SIGNATURE_;
    case TCALL_FIELD_ARGUMENTS:
    case TCALL_FIELD_ALL_ARGUMENTS:
    case TCALL_FIELD_REASONING:
    case TCALL_FIELD_REASONING_TOO:
    case TCALL_FIELD_REASONING_DATA:
    case TCALL_FIELD_TEXT:
    case TCALL_FIELD_DELTA: return TCALL_PART_TEXT_;
    default: return -1;
    }
}

/* Opens the current element as soon as there is something to keep of it. Some
 * fields tell its kind, ids and the like do not. */
static bool tcall_reader_open_(tcall_reader *reader)
{
    uint8_t kind = tcall_field_kind_(reader->field);
    if (!reader->open && reader->answer.error != TCALL_E_MEMORY)
        reader->open =
            tcall_reader_place_(reader, &reader->element, TCALL_ITEM_CALL);
    if (reader->open && kind != TCALL_ITEM_CALL) {
        tcall_item_head_ *head = tcall_reader_head_(reader, reader->element);
        head->kind = kind;
        if (reader->field == TCALL_FIELD_REASONING_DATA)
            head->flags |= TCALL_FLAG_RAW_;
    }
    return reader->open;
}

/* Keeps a piece of arguments, or of text that belongs to an element. */
static void tcall_reader_content_(tcall_reader *reader, tcall_str piece)
{
    const tcall_item_head_ *head = tcall_reader_head_(reader, reader->element);
    if (reader->field == TCALL_FIELD_TEXT &&
        tcall_reader_free_(reader) < piece.len + TCALL_RESERVE_) {
        /* It can wait no longer for what its element turns out to be. */
        tcall_reader_say_(reader, &reader->element);
        tcall_reader_text_(reader, piece);
    } else if (head->error ||
               !tcall_reader_room_(reader, piece.len + TCALL_RESERVE_)) {
        tcall_reader_drop_arguments_(reader, reader->element, piece.len);
    } else {
        tcall_reader_append_(reader, reader->element, TCALL_PART_TEXT_, piece);
    }
}

/* Takes a piece of a part of the current element. */
static void tcall_reader_part_(tcall_reader *reader, int part, tcall_str piece)
{
    if (reader->answer.error == TCALL_E_MEMORY) {
        reader->missing += piece.len;
        return;
    }
    if (!tcall_reader_open_(reader))
        return;
    if (tcall_reasoning_kept_(reader) &&
        (part == TCALL_PART_SIGNATURE_ ||
         tcall_field_kind_(reader->field) == TCALL_ITEM_REASONING))
        tcall_reasoning_piece_(reader, part, piece);
    else if (part == TCALL_PART_TEXT_)
        tcall_reader_content_(reader, piece);
    else if (tcall_reader_need_(reader, piece.len))
        tcall_reader_append_(reader, reader->element, part, piece);
}

/* ---- merging elements ---- */

/* What a delta is, now that the event of its document is known. */
static void tcall_reader_settle_delta_(const tcall_reader *reader,
                                       tcall_item_head_ *head)
{
    switch (reader->event) {
    case TCALL_MEANS_TEXT: head->kind = TCALL_ITEM_TEXT; break;
    case TCALL_MEANS_ALL_ARGUMENTS:
        head->flags |= TCALL_FLAG_WHOLE_; /* fall through */
    case TCALL_MEANS_ARGUMENTS: head->kind = TCALL_ITEM_CALL; break;
    default: head->kind = TCALL_ITEM_VOID_; head->index = 0;
    }
}

/* Reports a piece of a call. */
static void tcall_reader_show_(const tcall_reader *reader)
{
    size_t at = reader->unmerged - reader->chat->start;
    tcall_item item;
    if (reader->call && tcall_chat_next(reader->chat, &at, &item) &&
        item.kind == TCALL_ITEM_CALL)
        reader->call(reader->user, &item);
}

/* Merges a call or reasoning, or keeps it as a new item. Returns true if it
 * stays. An element that is void but has a number is kept as well: what comes
 * with that number later is of it. */
static bool tcall_reader_settle_item_(tcall_reader *reader)
{
    const tcall_item_head_ *head = tcall_reader_head_(reader, reader->unmerged);
    size_t at = reader->unmerged;
    if (head->kind == TCALL_ITEM_VOID_ && !head->index)
        return false;
    if (TCALL_STREAMS_ && !reader->whole && head->kind != TCALL_ITEM_VOID_)
        at = tcall_reader_find_(reader);
    if (at == reader->unmerged || !(head->flags & TCALL_FLAG_WHOLE_))
        tcall_reader_show_(reader);
    if (at == reader->unmerged)
        return true;
    if (TCALL_STREAMS_)
        tcall_reader_merge_(reader, at);
    return false;
}

/* Is it text of an item that does not count? */
static bool tcall_reader_is_void_text_(const tcall_reader *reader,
                                       const tcall_item_head_ *head)
{
    const int index = head->kind == TCALL_ITEM_TEXT ? head->index : 0;
    size_t at = reader->start;
    for (; index && at < reader->unmerged;
         at = tcall_reader_next_(reader, at)) {
        const tcall_item_head_ *known = tcall_reader_head_(reader, at);
        if (known->kind == TCALL_ITEM_VOID_ && known->index == index)
            return true;
    }
    return false;
}

/* Settles the first unmerged element: it is complete, and so is what was said
 * around it. */
static void tcall_reader_settle_(tcall_reader *reader)
{
    tcall_item_head_ *head = tcall_reader_head_(reader, reader->unmerged);
    bool stays;
    if (!head->index)
        head->index = reader->index;
    if (head->kind == TCALL_ITEM_DELTA_)
        tcall_reader_settle_delta_(reader, head);
    stays = !reader->other && !tcall_reader_is_void_text_(reader, head);
    if (stays && head->kind == TCALL_ITEM_TEXT) {
        tcall_reader_say_(reader, &reader->unmerged);
        tcall_reasoning_sign_text_(reader, &reader->unmerged);
        stays = false;
    }
    if (stays && tcall_reader_settle_item_(reader)) {
        reader->unmerged = tcall_reader_next_(reader, reader->unmerged);
    } else {
        tcall_reader_remove_(reader, reader->unmerged);
    }
}

static void tcall_reader_settle_elements_(tcall_reader *reader)
{
    while (reader->unmerged < reader->chat->block->low)
        tcall_reader_settle_(reader);
}

/* All elements of a choice, or of a document, are complete. Why another choice
 * than the first stopped does not matter. */
TCALL_SHARED_ void tcall_reader_settle_all_(tcall_reader *reader)
{
    tcall_reader_settle_elements_(reader);
    if (reader->other) {
        reader->cut = reader->cut_before;
        if (reader->answer.stop != (tcall_stop)reader->stop_before)
            reader->answer.stop_text[0] = 0;
        reader->answer.stop = (tcall_stop)reader->stop_before;
    } else if (reader->stopped) {
        reader->finished = true;
    }
    reader->stopped = reader->other = false;
    reader->in_choice = reader->choice_known = false;
}

/* ---- pieces of a stream, and whole answers ---- */

/* The current document is a piece: what it brought of a whole answer is void.
 */
static void tcall_reader_piece_(tcall_reader *reader)
{
    if (reader->whole)
        reader->chat->block->low = reader->unmerged;
    reader->whole = false;
    reader->piece = true;
}

/* A value of this field begins: decides whether the current document is a piece
 * or a whole answer. Some servers send all so far beside each piece. */
static void tcall_reader_tell_piece_(tcall_reader *reader, int field)
{
    if (field == TCALL_FIELD_WHOLE_ANSWER) {
        reader->in_whole = true;
        reader->whole = !reader->piece;
    } else if (!reader->in_whole &&
               (field == TCALL_FIELD_PIECE || field == TCALL_FIELD_ELEMENT ||
                field == TCALL_FIELD_DELTA)) {
        tcall_reader_piece_(reader);
    }
}

/* ---- fields ---- */

/* Has it a signature, or had one that did not fit? */
static bool tcall_head_is_signed_(const tcall_item_head_ *head)
{
    return tcall_head_len_(head, TCALL_PART_SIGNATURE_) ||
           head->flags & TCALL_FLAG_DROPPED_;
}

/* Is it a signature by itself? Pieces of calls have a number there. */
static bool tcall_reader_signs_nothing_(const tcall_reader *reader,
                                        const tcall_item_head_ *head)
{
    return tcall_reasoning_kept_(reader) == TCALL_REASONING_SIGNATURES &&
           head->kind == TCALL_ITEM_CALL && !reader->index &&
           tcall_head_is_signed_(head) &&
           tcall_head_size_(head) ==
               TCALL_HEAD_ + tcall_head_len_(head, TCALL_PART_SIGNATURE_);
}

/* The current element is complete. */
static void tcall_reader_element_end_(tcall_reader *reader)
{
    if (reader->answer.error == TCALL_E_MEMORY)
        reader->missing += TCALL_HEAD_;
    tcall_reasoning_end_raw_(reader);
    tcall_reasoning_end_text_(reader);
    if (reader->open) {
        tcall_item_head_ *head = tcall_reader_head_(reader, reader->element);
        head->index = reader->index;
        head->flags |= reader->flags;
        if (reader->fault)
            head->error = reader->fault;
        /* It may be a signature without a word. */
        if (reader->type == TCALL_MEANS_REASONING &&
            tcall_head_is_signed_(head))
            head->kind = TCALL_ITEM_REASONING;
        if (tcall_reader_signs_nothing_(reader, head))
            head->kind = TCALL_ITEM_TEXT; /* which is empty */
        if (reader->ignored && head->kind != TCALL_ITEM_REASONING)
            head->kind = TCALL_ITEM_VOID_;
    }
    if (reader->type == TCALL_MEANS_OTHER)
        reader->answer.unread = true;
    reader->index = reader->field = reader->type = reader->flags = 0;
    reader->in_element = reader->open = reader->ignored = false;
    reader->fault = TCALL_OK;
}

/* Returns what the current word means, or otherwise if it is not listed. */
static uint8_t tcall_reader_meaning_(const tcall_reader *reader,
                                     const tcall_word *words, uint8_t otherwise)
{
    while (words->word && strcmp(words->word, reader->word) != 0)
        words++;
    return words->word ? words->meaning : otherwise;
}

/* A reason to stop: after some the last call must not run. */
static void tcall_reader_stop_word_(tcall_reader *reader, int field)
{
    const uint8_t stop = tcall_reader_meaning_(reader, reader->provider->stops,
                                               TCALL_STOP_OTHER);
    if (reader->other)
        return;
    if (stop == TCALL_STOP_LENGTH || stop == TCALL_STOP_CONTENT_FILTER)
        reader->cut = true;
    if (field == TCALL_FIELD_STOP_REASON) {
        if (stop == TCALL_STOP_CONTENT_FILTER)
            reader->answer.stop = TCALL_STOP_CONTENT_FILTER;
    } else if (reader->word[0] && stop == TCALL_STOP_UNKNOWN) {
        reader->answer.pending = true;
    } else if (reader->word[0]) {
        reader->stopped = true;
        reader->answer.pending = false;
        tcall_answer_stop_(&reader->answer, (tcall_stop)stop, reader->word);
    }
}

/* A type of an element or name of an event. */
static void tcall_reader_type_word_(tcall_reader *reader, int field)
{
    const uint8_t means = tcall_reader_meaning_(reader, reader->provider->types,
                                                TCALL_MEANS_OTHER);
    if (field == TCALL_FIELD_TYPE) {
        reader->type = means;
        reader->ignored =
            means != TCALL_MEANS_CALL && means != TCALL_MEANS_TEXT;
        if (means == TCALL_MEANS_UNHANDLED)
            tcall_answer_stop_(&reader->answer, TCALL_STOP_OTHER, reader->word);
        /* What a stream says of it later has its number only. */
        if (means == TCALL_MEANS_OTHER && TCALL_STREAMS_ && !reader->whole)
            tcall_reader_open_(reader);
        return;
    }
    reader->event = means;
    if (means == TCALL_MEANS_ANSWER_ENDS)
        reader->complete = true;
    if (means == TCALL_MEANS_ELEMENT_ENDS)
        reader->stopped = true;
    if (means == TCALL_MEANS_ANSWER_BEGINS)
        reader->begins = true;
}

static void tcall_reader_number_(tcall_reader *reader, int field)
{
    const long number = tcall_digits_(reader->word);
    switch (field) {
    case TCALL_FIELD_INDEX:
        reader->index = (uint8_t)(number < 255 ? number + 1 : 0);
        break;
    case TCALL_FIELD_CHOICE_INDEX:
        reader->choice_known = true;
        reader->other = number != 0;
        break;
    case TCALL_FIELD_INPUT_TOKENS:
        if (number >= 0)
            reader->answer.input_tokens = number;
        break;
    default:
        if (number >= 0)
            reader->answer.output_tokens = number;
    }
}

/* A short value is complete. */
static void tcall_reader_word_(tcall_reader *reader, int field)
{
    switch (field) {
    case TCALL_FIELD_TYPE:
    case TCALL_FIELD_EVENT: tcall_reader_type_word_(reader, field); break;
    case TCALL_FIELD_STOP:
    case TCALL_FIELD_STOP_REASON: tcall_reader_stop_word_(reader, field); break;
    case TCALL_FIELD_RETRY_DELAY:
        reader->answer.wait_ms = tcall_delay_ms_(reader->word);
        break;
    case TCALL_FIELD_ERROR_TYPE:
    case TCALL_FIELD_ERROR_CODE:
        tcall_answer_error_word_(&reader->answer,
                                 field == TCALL_FIELD_ERROR_CODE, reader->word);
        break;
    default: tcall_reader_number_(reader, field);
    }
}

static bool tcall_field_is_word_(int field)
{
    return field >= TCALL_FIELD_INDEX;
}

/* Is a value of this field, which begins with c, of no use? */
static bool tcall_reader_skips_part_(const tcall_reader *reader, int field,
                                     int part, char c)
{
    switch (field) {
    case TCALL_FIELD_REASONING_DATA:
    case TCALL_FIELD_SIGNATURE:
    case TCALL_FIELD_REASONING:
    case TCALL_FIELD_REASONING_TOO:
        if (!tcall_reasoning_takes_(reader, field, c))
            return true;
        break;
    case TCALL_FIELD_TEXT: return c != '"';
    case TCALL_FIELD_DELTA:
        if (c != '"')
            return true;
        break;
    default: break;
    }
    return reader->open && tcall_reader_len_(reader, reader->element, part);
}

/* A part of an element begins with c. */
static void tcall_reader_begin_part_(tcall_reader *reader, int field, int part,
                                     char c)
{
    reader->field = (uint8_t)field;
    if (reader->skip)
        return;
    if (field == TCALL_FIELD_ALL_ARGUMENTS) {
        reader->flags |= TCALL_FLAG_WHOLE_ | TCALL_FLAG_DEFAULT_;
        /* Arguments are text there; an object was never reported. */
        reader->fault = (int8_t)(c == '{' ? TCALL_E_BAD_VALUE : TCALL_OK);
    }
    if (field == TCALL_FIELD_ARGUMENTS && c == '{') {
        reader->flags |= TCALL_FLAG_DEFAULT_ | TCALL_FLAG_OBJECT_;
        reader->scan.wide = false;
    }
    reader->skip = tcall_reader_skips_part_(reader, field, part, c);
    /* Text and reasoning make an element even when they are empty. */
    if (!reader->skip && tcall_field_kind_(field) != TCALL_ITEM_CALL &&
        reader->in_element && reader->answer.error != TCALL_E_MEMORY)
        tcall_reader_open_(reader);
}

/* Is a text at hand certainly the model's? A whole answer may hold several,
 * whose numbers may stand behind them, and one in an event may stand before
 * the piece that counts instead. */
static bool tcall_reader_hears_(const tcall_reader *reader)
{
    if (reader->whole &&
        (reader->sse || (reader->in_choice && !reader->choice_known)))
        return false;
    return !reader->in_element || reader->type == TCALL_MEANS_TEXT;
}

/* The part of an element that the field is of, or -1. Text that certainly
 * counts is none, but goes to the answer at once. */
static int tcall_reader_part_of_(const tcall_reader *reader, int field)
{
    if (field == TCALL_FIELD_TEXT && tcall_reader_hears_(reader))
        return -1;
    return tcall_field_part_(field);
}

/* A value begins with c. What follows of it is skipped if it is null, or if
 * there is one already, as where a stream ends with the whole answer. */
static void tcall_reader_begin_(tcall_reader *reader, int field, char c)
{
    tcall_answer *answer = &reader->answer;
    int part;
    reader->skip = c == 'n';
    if (c != 'n')
        tcall_reader_tell_piece_(reader, field);
    if (tcall_field_is_word_(field)) {
        reader->word[0] = 0;
        return;
    }
    part = tcall_reader_part_of_(reader, field);
    if (reader->whole && reader->repeats &&
        (part >= 0 || field == TCALL_FIELD_TEXT))
        reader->skip = true;
    switch (field) {
    case TCALL_FIELD_ELEMENT: reader->in_element = true; break;
    case TCALL_FIELD_CHOICE:
        reader->in_choice = true;
        reader->cut_before = reader->cut;
        reader->stop_before = (uint8_t)answer->stop;
        break;
    case TCALL_FIELD_IGNORE:
        if (c == 't' || c == '{')
            reader->ignored = true;
        if (c == 't')
            reader->type = TCALL_MEANS_REASONING;
        break;
    case TCALL_FIELD_UNREAD:
        reader->fault = (int8_t)TCALL_E_UNHANDLED;
        reader->field = TCALL_FIELD_UNREAD;
        tcall_reader_open_(reader);
        break;
    case TCALL_FIELD_ERROR:
        if (c == '{')
            answer->error = TCALL_E_PROVIDER; /* fall through */
    case TCALL_FIELD_MESSAGE:
        if (answer->message[0] && !reader->in_page)
            reader->skip = true;
        break;
    default:
        if (part >= 0)
            tcall_reader_begin_part_(reader, field, part, c);
    }
}

/* A piece of a value. */
static void tcall_reader_data_(tcall_reader *reader, int field, tcall_str bytes)
{
    tcall_answer *answer = &reader->answer;
    int part;
    if (tcall_field_is_word_(field)) {
        tcall_append_cut_(reader->word, sizeof reader->word, bytes);
        return;
    }
    part = tcall_reader_part_of_(reader, field);
    if (part >= 0)
        tcall_reader_part_(reader, part, bytes);
    else if (field == TCALL_FIELD_TEXT)
        tcall_reader_text_(reader, bytes);
    else if (field == TCALL_FIELD_ERROR || field == TCALL_FIELD_MESSAGE) {
        if (field == TCALL_FIELD_ERROR)
            answer->error = TCALL_E_PROVIDER;
        if (reader->in_page)
            answer->message[0] = 0;
        reader->in_page = false;
        tcall_append_cut_(answer->message, sizeof answer->message, bytes);
    }
}

/* A value is complete. A part outside of an element is one by itself. */
static void tcall_reader_complete_(tcall_reader *reader, int field)
{
    if (tcall_field_is_word_(field)) {
        if (!reader->skip)
            tcall_reader_word_(reader, field);
        return;
    }
    if (field == TCALL_FIELD_ARGUMENTS && reader->scan.wide)
        reader->flags &= (uint8_t)~TCALL_FLAG_OBJECT_; /* is looked into */
    if (field == TCALL_FIELD_CHOICE)
        tcall_reader_settle_all_(reader);
    else if (field == TCALL_FIELD_ELEMENT ||
             (!reader->in_element &&
              tcall_reader_part_of_(reader, field) >= 0)) {
        tcall_reader_element_end_(reader);
        /* Text that comes next is to stand after it. */
        if (reader->whole && !reader->sse &&
            reader->provider->quirks & TCALL_QUIRK_ORDERED)
            tcall_reader_settle_elements_(reader);
    }
}

/* Keeps a piece of the current element as JSON text, as long as it may turn
 * out to be reasoning. */
static void tcall_reader_raw_piece_(tcall_reader *reader, tcall_str piece)
{
    if (!tcall_reasoning_may_come_(reader))
        return;
    if (!reader->keeping_raw)
        reader->keeping_raw =
            tcall_reader_place_(reader, &reader->raw, TCALL_ITEM_VOID_);
    if (reader->keeping_raw)
        tcall_reasoning_raw_piece_(reader, piece);
}

/* One event of the scanner. */
TCALL_SHARED_ int tcall_reader_on_(void *user, int field,
                                   tcall_scan_event event, tcall_str bytes)
{
    tcall_reader *reader = (tcall_reader *)user;
    reader->told = true;
    if (event == TCALL_SCAN_END && field == TCALL_FIELD_WHOLE_ANSWER)
        reader->in_whole = false;
    if (reader->in_whole && reader->piece)
        return TCALL_OK;
    if (event == TCALL_SCAN_END)
        tcall_reader_complete_(reader, field);
    else if (event == TCALL_SCAN_BEGIN)
        tcall_reader_begin_(reader, field, *bytes.ptr);
    else if (field == TCALL_FIELD_ELEMENT)
        tcall_reader_raw_piece_(reader, bytes);
    else if (!reader->skip)
        tcall_reader_data_(reader, field, bytes);
    return TCALL_OK;
}
