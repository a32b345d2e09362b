#pragma once
#include "reader.h"
#include "provider.c"
#include "chat.c"

/* ==========================================================================
 * >>reader
 */

TCALL_SHARED_ tcall_head_ *tcall_reader_head_(const tcall_reader *r, size_t at)
{
    return tcall_head_at_(r->chat, at);
}

static uint8_t tcall_reader_kind_(const tcall_reader *r, size_t at)
{
    return tcall_reader_head_(r, at)->kind & TCALL_ITEM_KIND_;
}

static size_t tcall_reader_len_(const tcall_reader *r, size_t at, int part)
{
    return tcall_len_(tcall_reader_head_(r, at), part);
}

static size_t tcall_reader_next_(const tcall_reader *r, size_t at)
{
    return at + tcall_head_size_(tcall_reader_head_(r, at));
}

/* What stood there, from the first byte to the last one, was moved. */
static void tcall_reader_moved_(tcall_reader *r, size_t first, size_t last,
                                size_t by)
{
    if (r->pending >= first && r->pending <= last)
        r->pending += by;
    if (r->slot >= first && r->slot <= last)
        r->slot += by;
    if (r->raw >= first && r->raw <= last)
        r->raw += by;
}

/* Moves all that stands from "from" on to "to"; the room is there. */
static void tcall_reader_shift_(tcall_reader *r, size_t from, size_t to)
{
    tcall_block *b = r->chat->block;
    if (b->low > from)
        memmove(b->base + to, b->base + from, b->low - from);
    b->low += to - from;
    tcall_block_room_(b, 0); /* for the peak */
    tcall_reader_moved_(r, from, (size_t)-1, to - from);
}

/* Takes the item at at out. */
static void tcall_reader_remove_(tcall_reader *r, size_t at)
{
    tcall_reader_shift_(r, tcall_reader_next_(r, at), at);
}

/* Gives a part another length, at its end; the room is there. Returns where it
 * ended. */
TCALL_SHARED_ char *tcall_reader_resize_(tcall_reader *r, size_t at, int part,
                                         size_t n)
{
    tcall_head_ *h = tcall_reader_head_(r, at);
    size_t end = at + tcall_head_end_(h, part), old = tcall_len_(h, part);
    tcall_len_set_(h, part, n);
    tcall_reader_shift_(r, end, end - old + n);
    return r->chat->block->base + end;
}

/* Adds bytes, for which there is room, to the end of an item's part. */
static void tcall_reader_put_(tcall_reader *r, size_t at, int part, tcall_str s)
{
    size_t n = tcall_reader_len_(r, at, part) + s.len;
    tcall_copy_(tcall_reader_resize_(r, at, part, n), s);
}

/* Void all that was read. */
TCALL_APART_ static void tcall_reader_clear_(tcall_reader *r)
{
    r->chat->block->low = r->pending = r->slot = r->raw = r->start;
    r->has_text = r->open = r->keeping = false;
    r->answer.unkept = 0;
    r->complete = r->stopped = r->cut = r->answer.text_cut = false;
    r->began = r->finished = 0;
    r->answer.stop = TCALL_STOP_UNKNOWN;
    r->answer.stop_text[0] = 0;
}

/* What only some providers do, see tcall_provider.more. */
enum {
    /* A piece for a part of the slot, or one of these: */
    TCALL_MORE_STRIP_ = TCALL_PARTS_, /* calls need the memory */
    TCALL_MORE_RAW_,                  /* a piece of an element as JSON text */
    TCALL_MORE_RAW_END_,              /* which is complete */
    TCALL_MORE_SAID_,  /* the pending element was text of the model */
    TCALL_MORE_MERGE_, /* it is to go to the item at slot */
    TCALL_MORE_WAIT_   /* the word tells how long to wait */
};

static void tcall_reader_more_(tcall_reader *r, int what, tcall_str s)
{
    if (r->provider->more)
        r->provider->more(r, what, s);
}

static void tcall_reader_note_(tcall_reader *r, int what)
{
    tcall_reader_more_(r, what, tcall_slice_(NULL, 0));
}

TCALL_SHARED_ size_t tcall_reader_text_len_(const tcall_reader *r)
{
    return r->has_text ? tcall_reader_len_(r, r->start, TCALL_PART_TEXT_) : 0;
}

/* Are n bytes free? Calls matter more than text and what is opaque: those give
 * way. */
static bool tcall_reader_room_(tcall_reader *r, size_t n)
{
    const tcall_block *b = r->chat->block;
    size_t text = tcall_reader_text_len_(r);
    if (n > tcall_block_free_(b) + text)
        tcall_reader_note_(r, TCALL_MORE_STRIP_);
    if (n > tcall_block_free_(b) + text)
        return false;
    if (n > tcall_block_free_(b)) {
        tcall_reader_resize_(r, r->start, TCALL_PART_TEXT_,
                             text - (n - tcall_block_free_(b)));
        r->answer.text_cut = true;
    }
    return true;
}

/* The same for what a call cannot do without. Where it is missing the answer
 * is lost; the rest is read to know what would have been needed. */
static bool tcall_reader_need_(tcall_reader *r, size_t n)
{
    if (tcall_reader_room_(r, n))
        return true;
    r->lost += r->chat->block->low - r->start + n;
    tcall_reader_clear_(r);
    r->answer.error = TCALL_E_MEMORY;
    return false;
}

/* Arguments that do not fit make that call fail, not the answer. */
static void tcall_reader_lose_(tcall_reader *r, size_t at, size_t n)
{
    r->lost += tcall_reader_len_(r, at, TCALL_PART_TEXT_) + n;
    tcall_reader_head_(r, at)->error = TCALL_E_MEMORY;
    tcall_reader_resize_(r, at, TCALL_PART_TEXT_, 0);
}

/* The item at at is an empty one of this kind. */
static void tcall_reader_blank_(tcall_reader *r, size_t at, int kind)
{
    tcall_head_ *h = tcall_reader_head_(r, at);
    memset(h, 0, sizeof *h);
    h->kind = (uint8_t)kind;
}

/* A place for an element of this kind. */
static bool tcall_reader_place_(tcall_reader *r, size_t *slot, int kind)
{
    tcall_block *b = r->chat->block;
    if (!tcall_reader_need_(r, TCALL_HEAD_))
        return false;
    *slot = b->low;
    tcall_block_grow_(b, TCALL_HEAD_);
    tcall_reader_blank_(r, *slot, kind);
    return true;
}

/* The text of the answer gets its place, before everything else. */
static void tcall_reader_begin_text_(tcall_reader *r)
{
    if (r->has_text || tcall_block_free_(r->chat->block) < TCALL_HEAD_)
        return;
    tcall_reader_shift_(r, r->start, r->start + TCALL_HEAD_);
    tcall_reader_blank_(r, r->start, TCALL_ITEM_TEXT);
    r->has_text = true;
}

/* Tells a piece of the model's text, and how much of it can be kept where this
 * many bytes are free beside those that it may lie in already. */
static size_t tcall_reader_hear_(tcall_reader *r, tcall_str s, size_t own)
{
    size_t room, max;
    if (r->choice)
        return 0;
    if (r->text)
        r->text(r->user, s);
    if (r->answer.text_cut || r->answer.error == TCALL_E_MEMORY)
        return 0;
    room = tcall_block_free_(r->chat->block) + own;
    room = room > TCALL_HEAD_ + TCALL_RESERVE_
               ? room - TCALL_HEAD_ - TCALL_RESERVE_
               : 0;
    if (room)
        tcall_reader_begin_text_(r);
    max = r->has_text ? r->text_max - tcall_reader_text_len_(r) : 0;
    room = room < max ? room : max;
    if (room >= s.len)
        return s.len;
    r->answer.text_cut = true;
    return room;
}

static void tcall_reader_text_(tcall_reader *r, tcall_str s)
{
    s.len = tcall_reader_hear_(r, s, 0);
    if (s.len)
        tcall_reader_put_(r, r->start, TCALL_PART_TEXT_, s);
}

static void tcall_reverse_(char *p, char *end)
{
    while (p < end) {
        char c = *p;
        *p++ = *--end;
        *end = c;
    }
}

/* Moves a part of the item at from to the end of that of one before it, and
 * with it the items in between and its own head. */
static void tcall_reader_give_(tcall_reader *r, size_t from, size_t at,
                               int part)
{
    tcall_head_ *a = tcall_reader_head_(r, at);
    tcall_head_ *b = tcall_reader_head_(r, from);
    size_t n = tcall_len_(b, part), behind = tcall_head_end_(a, part);
    char *to = (char *)a + behind;
    char *end = (char *)b + tcall_head_end_(b, part);
    tcall_len_set_(a, part, tcall_len_(a, part) + n);
    tcall_len_set_(b, part, 0);
    tcall_reverse_(to, end - n);
    tcall_reverse_(end - n, end);
    tcall_reverse_(to, end);
    tcall_reader_moved_(r, at + behind, from, n);
}

/* The text of the element at *at turns out to be text of the model. */
static void tcall_reader_say_(tcall_reader *r, const size_t *at)
{
    const tcall_head_ *h = tcall_reader_head_(r, *at);
    size_t n = tcall_len_(h, TCALL_PART_TEXT_);
    const char *text = (const char *)h + tcall_head_end_(h, TCALL_PART_SIGN_);
    if (!n)
        return;
    n = tcall_reader_hear_(r, tcall_slice_(text, n), n);
    tcall_reader_resize_(r, *at, TCALL_PART_TEXT_, n);
    if (n)
        tcall_reader_give_(r, *at, r->start, TCALL_PART_TEXT_);
}

/* The element that is being read gets its place as soon as there is something
 * to keep of it; some fields tell its kind. */
static bool tcall_reader_open_(tcall_reader *r)
{
    if (!r->open)
        r->open = tcall_reader_place_(r, &r->slot, TCALL_ITEM_CALL);
    if (r->open && r->kind) {
        tcall_head_ *h = tcall_reader_head_(r, r->slot);
        h->kind = (uint8_t)(r->kind | (h->kind & TCALL_ITEM_LOST_));
    }
    return r->open;
}

/* Adds to the slot what it cannot do without. */
static bool tcall_reader_add_(tcall_reader *r, int part, tcall_str s)
{
    if (!tcall_reader_need_(r, s.len))
        return false;
    tcall_reader_put_(r, r->slot, part, s);
    return true;
}

/* A piece of id, name, arguments or what is opaque. */
static void tcall_reader_part_(tcall_reader *r, int part, tcall_str s)
{
    bool text = part == TCALL_PART_TEXT_;
    if (r->answer.error == TCALL_E_MEMORY) {
        r->lost += s.len;
        return;
    }
    if (!tcall_reader_open_(r))
        return;
    if (part == TCALL_PART_SIGN_ ||
        (r->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE) {
        tcall_reader_more_(r, part, s);
    } else if (text && r->kind == TCALL_ITEM_TEXT &&
               tcall_block_free_(r->chat->block) < s.len + TCALL_RESERVE_) {
        tcall_reader_say_(r, &r->slot);
        tcall_reader_text_(r, s);
    } else if (text && (tcall_reader_head_(r, r->slot)->error ||
                        !tcall_reader_room_(r, s.len + TCALL_RESERVE_))) {
        tcall_reader_lose_(r, r->slot, s.len);
    } else {
        tcall_reader_add_(r, part, s);
    }
}

/* Is the pending element a further piece of the call at at? 0: no; -1: it does
 * not say. */
static int tcall_reader_continues_(const tcall_reader *r, size_t at)
{
    const tcall_head_ *a = tcall_reader_head_(r, at);
    const tcall_head_ *b = tcall_reader_head_(r, r->pending);
    const uint8_t form = TCALL_ITEM_KIND_ | TCALL_ITEM_MADE_;
    const size_t name = tcall_len_(b, TCALL_PART_NAME_);
    const bool numbered = a->index && b->index;
    if (a->choice != b->choice || (numbered && a->index != b->index))
        return 0;
    if ((b->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE)
        return a->index == b->index && !((a->kind ^ b->kind) & form);
    if ((a->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE)
        return numbered && !name && !tcall_len_(b, TCALL_PART_TEXT_);
    /* Some servers give every piece an id of its own. */
    if (tcall_len_(b, TCALL_PART_ID_) && tcall_len_(a, TCALL_PART_ID_) &&
        (!numbered || name))
        return tcall_head_same_(a, b, TCALL_PART_ID_);
    if (!numbered)
        return name ? 0 : -1;
    /* Some servers give every call the same number: an object behind a whole
     * one is no piece of it. */
    return (b->kind & TCALL_ITEM_ALL_) || !name ||
           !tcall_len_(a, TCALL_PART_TEXT_) ||
           ((const char *)a)[tcall_head_size_(a) - 1] != '}' ||
           ((const char *)b)[tcall_head_end_(b, TCALL_PART_SIGN_)] != '{';
}

/* The call that the pending element continues: the one of its id or number,
 * or the last one if it has neither; itself, if it is a new one. */
TCALL_APART_ static size_t tcall_reader_find_(const tcall_reader *r)
{
    size_t at = r->start, best = r->pending, last = best;
    if (r->has_text)
        at = tcall_reader_next_(r, at);
    for (; at < r->pending; at = tcall_reader_next_(r, at)) {
        int same = tcall_reader_continues_(r, at);
        if (same > 0)
            best = at;
        if (same || tcall_reader_kind_(r, at) != TCALL_ITEM_OPAQUE)
            last = same < 0 ? at : r->pending;
    }
    return best != r->pending ? best : last;
}

/* Gives what the pending element brings to the call at at. An id is taken but
 * once, and so is a name; another one is a piece of it. */
static void tcall_reader_merge_(tcall_reader *r, size_t at)
{
    tcall_head_ *a = tcall_reader_head_(r, at);
    const tcall_head_ *b = tcall_reader_head_(r, r->pending);
    const size_t n = tcall_len_(b, TCALL_PART_TEXT_);
    const size_t old = tcall_len_(a, TCALL_PART_TEXT_);
    const bool all = (b->kind & TCALL_ITEM_ALL_) != 0, broken = b->error;
    const bool more = !old && !tcall_head_same_(a, b, TCALL_PART_NAME_);
    int part = TCALL_PART_ID_;
    if (a->kind == TCALL_ITEM_NONE_)
        return;
    a->kind |= b->kind & TCALL_ITEM_LOST_;
    for (; part < TCALL_PART_TEXT_; part++)
        if (!tcall_len_(a, part) || (part == TCALL_PART_NAME_ && more))
            tcall_reader_give_(r, r->pending, at, part);
    if ((a->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE) {
        r->slot = at;
        tcall_reader_note_(r, TCALL_MORE_MERGE_);
    } else if (all && !a->error && old >= n && (!broken || old)) {
        return; /* it is there already */
    } else if (a->error || broken) {
        tcall_reader_lose_(r, at, n);
        return;
    }
    if (!tcall_reader_len_(r, r->pending, TCALL_PART_TEXT_))
        return;
    if (all || a->kind & TCALL_ITEM_START_)
        tcall_reader_resize_(r, at, TCALL_PART_TEXT_, 0);
    if (!all)
        a->kind &= (uint8_t)~TCALL_ITEM_START_;
    tcall_reader_give_(r, r->pending, at, TCALL_PART_TEXT_);
}

/* What an element is, now that its document is complete. */
static int tcall_reader_piece_(const tcall_reader *r)
{
    return r->event == TCALL_WORD_TEXT_    ? TCALL_ITEM_TEXT
           : r->event == TCALL_WORD_PIECE_ ? TCALL_ITEM_CALL
           : r->event == TCALL_WORD_ALL_
               ? (int)TCALL_ITEM_CALL | TCALL_ITEM_ALL_
               : TCALL_ITEM_NONE_;
}

/* Shows a piece of a call. */
static void tcall_reader_show_(tcall_reader *r)
{
    size_t at = r->pending - r->chat->start;
    tcall_item item;
    if (r->call && tcall_chat_next(r->chat, &at, &item) &&
        item.kind == TCALL_ITEM_CALL)
        r->call(r->user, &item);
}

/* The pending element is complete, and so is what was said around it. */
static void tcall_reader_settle_(tcall_reader *r)
{
    tcall_head_ *h = tcall_reader_head_(r, r->pending);
    size_t at = r->pending;
    bool piece = (h->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_PIECE_;
    if (piece)
        h->kind = (uint8_t)tcall_reader_piece_(r);
    h->choice = r->choice;
    if (!h->index)
        h->index = r->index;
    if ((h->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_TEXT) {
        tcall_reader_say_(r, &r->pending);
        tcall_reader_note_(r, TCALL_MORE_SAID_);
    } else if (h->kind != TCALL_ITEM_NONE_ || (!piece && h->index)) {
        if (!r->whole && h->kind != TCALL_ITEM_NONE_)
            at = tcall_reader_find_(r);
        if (at == r->pending || !(h->kind & TCALL_ITEM_ALL_))
            tcall_reader_show_(r);
        if (at == r->pending) {
            r->pending = tcall_reader_next_(r, r->pending);
            r->began |= (uint8_t)(1u << r->choice);
            return;
        }
        tcall_reader_merge_(r, at);
    }
    tcall_reader_remove_(r, r->pending);
}

/* All elements of one choice, or of a document, are complete. */
static void tcall_reader_settle_all_(tcall_reader *r)
{
    while (r->pending < r->chat->block->low)
        tcall_reader_settle_(r);
    if (r->stopped)
        r->finished |= (uint8_t)(1u << r->choice);
    r->stopped = false;
    r->choice = 0;
}

static void tcall_reader_call_end_(tcall_reader *r)
{
    if (r->answer.error == TCALL_E_MEMORY)
        r->lost += TCALL_HEAD_;
    if (r->keeping)
        tcall_reader_note_(r, TCALL_MORE_RAW_END_);
    if (r->open) {
        tcall_head_ *h = tcall_reader_head_(r, r->slot);
        h->index = r->index;
        h->kind |= r->marks;
        if (r->bad) /* no text: what it holds was not reported */
            h->error = (int8_t)TCALL_E_BAD_VALUE;
        if (r->ignored && (h->kind & TCALL_ITEM_KIND_) != TCALL_ITEM_OPAQUE)
            h->kind = TCALL_ITEM_NONE_;
    }
    r->index = r->kind = r->type = r->marks = 0;
    r->element = r->bad = r->ignored = r->open = false;
}

static uint8_t tcall_reader_means_(const tcall_reader *r)
{
    const char *w = r->provider->words;
    while (*w && strcmp(w + 1, r->word) != 0)
        w += strlen(w) + 1;
    return *w ? (uint8_t)*w : (uint8_t)TCALL_STOP_OTHER;
}

TCALL_APART_ static void tcall_reader_tell_(tcall_reader *r)
{
    memcpy(r->answer.stop_text, r->word, sizeof r->answer.stop_text - 1);
}

TCALL_APART_ static void tcall_reader_stop_(tcall_reader *r, uint8_t means)
{
    tcall_stop *stop = &r->answer.stop;
    if (!r->word[0] || means == TCALL_STOP_NOT_YET_)
        return;
    r->stopped = true;
    if (*stop == TCALL_STOP_UNKNOWN ||
        (means == TCALL_STOP_LENGTH && *stop != TCALL_STOP_REFUSED)) {
        *stop =
            means == TCALL_WORD_CALL_ ? TCALL_STOP_CALLS : (tcall_stop)means;
        tcall_reader_tell_(r);
    }
}

/* A word of the provider's table is complete. */
static void tcall_reader_meant_(tcall_reader *r, int field)
{
    const uint8_t means = tcall_reader_means_(r);
    if (field == TCALL_AT_TYPE) {
        r->type = means;
        r->ignored = means != TCALL_WORD_CALL_ && means != TCALL_WORD_TEXT_;
    } else if (field == TCALL_AT_EVENT) {
        r->event = means;
        if (means == TCALL_STOP_FINAL_)
            r->complete = true;
        if (means == TCALL_WORD_DONE_)
            r->stopped = true;
        if (means == TCALL_WORD_OPEN_)
            r->announced = true;
    } else {
        if (means == TCALL_STOP_LENGTH || means == TCALL_STOP_REFUSED)
            r->cut = true;
        if (field == TCALL_AT_STOP)
            tcall_reader_stop_(r, means);
        else if (means == TCALL_STOP_REFUSED)
            r->answer.stop = TCALL_STOP_REFUSED;
    }
}

/* A number of up to nine digits; -1, if it has a sign or fraction or is none.
 */
TCALL_APART_ static long tcall_digits_(const char *p)
{
    const char *from = p;
    long n = 0;
    for (; tcall_is_digit_(*p) && n < 100000000; p++)
        n = n * 10 + (*p - '0');
    return *p || p == from ? -1 : n;
}

/* A number is complete. */
static int tcall_reader_number_(tcall_reader *r, int field)
{
    const long n = tcall_digits_(r->word);
    if (field == TCALL_AT_INDEX)
        r->index = (uint8_t)(n < 255 ? n + 1 : 0);
    else if (field == TCALL_AT_NUMBER)
        r->choice = (uint8_t)n & 7;
    else if (n >= 0)
        *(field == TCALL_AT_INPUT ? &r->answer.input_tokens
                                  : &r->answer.output_tokens) = n;
    return field == TCALL_AT_NUMBER && n != r->choice ? TCALL_E_PROTOCOL
                                                      : TCALL_OK;
}

/* A short value is complete. */
static int tcall_reader_word_(tcall_reader *r, int field)
{
    const char known = r->answer.stop_text[0];
    if (field < TCALL_AT_TYPE)
        return tcall_reader_number_(r, field);
    if (field <= TCALL_AT_STOP)
        tcall_reader_meant_(r, field);
    else if (field == TCALL_AT_WAIT)
        tcall_reader_note_(r, TCALL_MORE_WAIT_);
    else if (!known || tcall_is_digit_(known) ||
             (field == TCALL_AT_ERROR_CODE && !tcall_is_digit_(r->word[0])))
        tcall_reader_tell_(r);
    return TCALL_OK;
}

/* Appends to a text that is cut rather than refused. */
static void tcall_reader_append_(char *text, size_t cap, tcall_str s)
{
    size_t n = strlen(text), room = cap - 1 - n;
    s.len = s.len < room ? s.len : room;
    *tcall_copy_(text + n, s) = 0;
}

/* The part of an element that a field is of, -1: none. */
static int tcall_reader_part_of_(int field)
{
    return field < TCALL_AT_ID || field > TCALL_AT_PIECE ? -1
           : field < TCALL_AT_ARGS                       ? field - TCALL_AT_ID
                                                         : TCALL_PART_TEXT_;
}

/* A part of an element begins. */
static void tcall_reader_begin_part_(tcall_reader *r, int field, char c)
{
    static const uint8_t kinds[] = {0,
                                    0,
                                    0,
                                    0,
                                    0, /* ID to ALL */
                                    TCALL_ITEM_OPAQUE,
                                    (int)TCALL_ITEM_OPAQUE | TCALL_ITEM_MADE_,
                                    TCALL_ITEM_TEXT,
                                    TCALL_ITEM_PIECE_};
    const bool opaque = field == TCALL_AT_SIGN || field == TCALL_AT_KEEP ||
                        field == TCALL_AT_KEEP_2;
    r->kind = kinds[field - TCALL_AT_ID];
    if (r->skip)
        return;
    if (field == TCALL_AT_ALL) {
        r->marks |= TCALL_ITEM_ALL_ | TCALL_ITEM_START_;
        r->bad = c == '{';
    }
    if (field == TCALL_AT_ARGS && c == '{')
        r->marks |= TCALL_ITEM_START_;
    if ((opaque && !r->provider->more) ||
        (field >= TCALL_AT_SAID && c != '"') ||
        (field == TCALL_AT_KEEP_2 && !r->element && c != '[') ||
        (field != TCALL_AT_SAID && r->open &&
         tcall_reader_len_(r, r->slot, tcall_reader_part_of_(field))))
        r->skip = true;
    else if (field >= TCALL_AT_KEEP && r->element &&
             r->answer.error != TCALL_E_MEMORY)
        tcall_reader_open_(r);
}

/* A value begins with c. What follows of it is skipped if it is null, or if
 * there is one already, as where a stream ends with the whole answer. */
static void tcall_reader_begin_(tcall_reader *r, int field, char c)
{
    r->skip = c == 'n' || (field <= TCALL_AT_TEXT && r->whole && r->before);
    r->word[0] = 0;
    switch (field) {
    case TCALL_AT_CALL: r->element = true; break;
    case TCALL_AT_VOID:
        if (c == 't' || c == '{')
            r->ignored = true;
        break;
    case TCALL_AT_RESTART:
        if (c == '{')
            tcall_reader_clear_(r);
        break;
    case TCALL_AT_WHOLE: r->whole = !r->skip; break;
    case TCALL_AT_ERROR:
        if (c == '{')
            r->answer.error = TCALL_E_PROVIDER; /* fall through */
    case TCALL_AT_MESSAGE:
        if (r->answer.message[0])
            r->skip = true;
        break;
    default:
        if (field <= TCALL_AT_PIECE)
            tcall_reader_begin_part_(r, field, c);
    }
}

static void tcall_reader_data_(tcall_reader *r, int field, tcall_str s)
{
    int part = tcall_reader_part_of_(field);
    if (part >= 0)
        tcall_reader_part_(r, part, s);
    else if (field >= TCALL_AT_INDEX)
        tcall_reader_append_(r->word, sizeof r->word, s);
    else if (field == TCALL_AT_TEXT)
        tcall_reader_text_(r, s);
    else if (field >= TCALL_AT_ERROR) {
        if (field == TCALL_AT_ERROR)
            r->answer.error = TCALL_E_PROVIDER;
        tcall_reader_append_(r->answer.message, sizeof r->answer.message, s);
    }
}

/* A value is complete. Parts that stand outside of elements are such. */
static int tcall_reader_complete_(tcall_reader *r, int field)
{
    if (field == TCALL_AT_CHOICE)
        tcall_reader_settle_all_(r);
    else if (field >= TCALL_AT_INDEX && !r->skip)
        return tcall_reader_word_(r, field);
    else if (field == TCALL_AT_CALL || (field <= TCALL_AT_PIECE && !r->element))
        tcall_reader_call_end_(r);
    return TCALL_OK;
}

/* One event of the outline. */
static int tcall_reader_on_(void *user, int field, tcall_scan_event event,
                            tcall_str s)
{
    tcall_reader *r = (tcall_reader *)user;
    if (event == TCALL_SCAN_END)
        return tcall_reader_complete_(r, field);
    if (event == TCALL_SCAN_BEGIN)
        tcall_reader_begin_(r, field, *s.ptr);
    else if (field == TCALL_AT_CALL)
        tcall_reader_more_(r, TCALL_MORE_RAW_, s);
    else if (!r->skip)
        tcall_reader_data_(r, field, s);
    return TCALL_OK;
}

/* States of the framing. */
enum {
    TCALL_R_START_,   /* which framing it is, is not known yet */
    TCALL_R_LINE_,    /* SSE: at the name of a line's field */
    TCALL_R_IGNORED_, /* SSE: in a line that does not matter */
    TCALL_R_BETWEEN_, /* between two documents */
    TCALL_R_DOCUMENT_
};

/* So much, and NUL, is shown of what is no answer: ASCII, the rest as blanks.
 */
enum { TCALL_PAGE_ = 80 };

void tcall_reader_init(tcall_reader *r, const tcall_provider *provider,
                       tcall_chat *chat,
                       void (*text)(void *user, tcall_str piece), void *user)
{
    memset(r, 0, sizeof *r);
    r->provider = provider;
    r->chat = chat;
    r->text = text;
    r->user = user;
    r->start = r->pending = r->slot = chat->block->low;
    r->text_max = tcall_block_free_(chat->block) / 2;
    r->answer.input_tokens = r->answer.output_tokens = -1;
    r->answer.wait_ms = -1;
}

static void tcall_reader_fail_(tcall_reader *r, int error)
{
    r->broken = true;
    if (!r->answer.error)
        r->answer.error = error;
}

/* Bytes of a document, up to its end or, with SSE, to that of the line. */
static const char *tcall_reader_document_(tcall_reader *r, const char *p,
                                          const char *end)
{
    const char *line = r->sse ? p : end;
    size_t before = r->scan.pos;
    int error;
    while (line < end && *line != '\n' && *line != '\r')
        line++;
    end = line < end ? line + 1 : end;
    error = tcall_scan_feed(&r->scan, p, (size_t)(end - p));
    p += r->scan.pos - before;
    if (tcall_scan_done(&r->scan)) {
        tcall_reader_settle_all_(r);
        r->index = 0;
        if (r->whole && !r->announced)
            r->complete = true;
        r->inside = false;
        r->state = TCALL_R_BETWEEN_;
    } else if (error) {
        tcall_reader_fail_(r, error);
    }
    if (p > line) {
        r->state = TCALL_R_LINE_;
        r->match = 0;
        r->cr = *line == '\r';
    }
    return p;
}

static void tcall_reader_begin_document_(tcall_reader *r)
{
    r->state = TCALL_R_DOCUMENT_;
    if (!r->some)
        r->answer.message[0] = 0;
    r->inside = r->some = true;
    r->event = 0;
    r->whole = false;
    r->before = r->pending > r->start || r->answer.text_cut;
    tcall_scan_init(&r->scan, r->provider->paths, tcall_reader_on_, r);
    tcall_scan_feed(&r->scan, "{", 1);
}

/* c belongs to the beginning of what may be no answer. */
static void tcall_reader_page_(tcall_reader *r, char c)
{
    if (!r->some)
        tcall_reader_append_(r->answer.message, TCALL_PAGE_,
                             tcall_slice_(c >= ' ' && c < 0x7F ? &c : " ", 1));
}

/* A byte outside of documents. Of the lines of SSE only those of "data:"
 * matter, and of "error:", which llama.cpp used to say. A document may go on in
 * the next one, but not beyond the end of its event, a blank line. Between
 * documents stand white space, the brackets and commas of an array of
 * documents, and the [DONE] of OpenAI, which is no JSON.
 */
TCALL_APART_ static void tcall_reader_byte_(tcall_reader *r, char c)
{
    bool after_cr = r->cr;
    r->cr = r->sse && c == '\r';
    if (c == '\n' && after_cr)
        return;
    if (r->state == TCALL_R_START_) {
        if (tcall_is_space_(c) || c & 0x80)
            return;
        r->sse = c != '{' && c != '[';
        r->state = r->sse ? TCALL_R_LINE_ : TCALL_R_BETWEEN_;
    }
    tcall_reader_page_(r, c);
    if (r->sse && (c == '\n' || c == '\r')) {
        if (r->state == TCALL_R_LINE_ && r->inside && r->match == 0)
            tcall_reader_fail_(r, TCALL_E_TRUNCATED);
        r->state = TCALL_R_LINE_;
        r->match = 0;
    } else if (r->state == TCALL_R_LINE_) {
        if (r->match == 0 && c == 'e')
            r->match = 5;
        if (c != "data:error:"[r->match++])
            r->state = TCALL_R_IGNORED_;
        else if (c == ':')
            r->state = r->inside ? TCALL_R_DOCUMENT_ : TCALL_R_BETWEEN_;
    } else if (r->state == TCALL_R_BETWEEN_) {
        if (c == '{') {
            tcall_reader_begin_document_(r);
        } else if (c == 'D' && r->sse) {
            r->complete = true;
            r->state = TCALL_R_IGNORED_;
        } else if (!tcall_is_space_(c) && c != '[' && c != ',' && c != ']') {
            tcall_reader_fail_(r, TCALL_E_PROTOCOL);
        }
    }
}

int tcall_reader_feed(tcall_reader *r, const char *bytes, size_t len)
{
    const char *p = bytes, *end = bytes + len;
    while (p < end && !r->broken)
        if (r->state == TCALL_R_DOCUMENT_)
            p = tcall_reader_document_(r, p, end);
        else
            tcall_reader_byte_(r, *p++);
    while (p < end)
        tcall_reader_page_(r, *p++);
    return r->broken ? r->answer.error : TCALL_OK;
}

/* How many of n bytes of text are whole characters. */
static size_t tcall_utf8_whole_(const char *p, size_t n)
{
    size_t last = n ? tcall_utf8_cut_(p, n - 1) : 0;
    return last < n && p[last] & 0x80 && !tcall_utf8_len_(p + last, p + n)
               ? last
               : n;
}

/* An id of nine letters and digits: every provider takes those. */
TCALL_SHARED_ tcall_str tcall_make_id_(tcall_chat *chat, char *id)
{
    uint32_t n = ++chat->made;
    int i;
    memcpy(id, "call", 4);
    for (i = 8; i > 3; i--, n /= 10)
        id[i] = (char)('0' + n % 10);
    return tcall_slice_(id, 9);
}

static bool tcall_reader_make_id_(tcall_reader *r)
{
    char room[9];
    tcall_reader_head_(r, r->slot)->kind |= TCALL_ITEM_MADE_;
    return tcall_reader_add_(r, TCALL_PART_ID_, tcall_make_id_(r->chat, room));
}

/* Has the item at slot anything to say in the end? What it may still lack is
 * added. */
static bool tcall_reader_item_(tcall_reader *r)
{
    const tcall_head_ *h = tcall_reader_head_(r, r->slot);
    const uint8_t kind = h->kind & TCALL_ITEM_KIND_;
    const bool call = kind == TCALL_ITEM_CALL;
    if (kind == TCALL_ITEM_TEXT)
        return true;
    if ((!call && kind != TCALL_ITEM_OPAQUE) ||
        (!tcall_len_(h, TCALL_PART_NAME_) && !tcall_len_(h, TCALL_PART_TEXT_) &&
         !tcall_len_(h, call ? TCALL_PART_ID_ : TCALL_PART_SIGN_) &&
         (call || !(h->kind & TCALL_ITEM_LOST_))))
        return false;
    if (!call)
        return tcall_reader_add_(r, TCALL_PART_NAME_,
                                 tcall_str_of(r->provider->name));
    if (!tcall_len_(h, TCALL_PART_ID_) && !tcall_reader_make_id_(r))
        return false;
    r->pending = r->slot;
    r->answer.calls++;
    return true;
}

/* The answer is whole: look at its items. slot is the one at hand, pending the
 * last call. */
TCALL_APART_ static void tcall_reader_finish_(tcall_reader *r)
{
    r->slot = r->start;
    while (r->slot < r->chat->block->low) {
        const bool stays = tcall_reader_item_(r);
        if (r->answer.error)
            return;
        if (stays)
            r->slot = tcall_reader_next_(r, r->slot);
        else
            tcall_reader_remove_(r, r->slot);
    }
    if (r->cut && r->answer.calls) {
        tcall_head_ *h = tcall_reader_head_(r, r->pending);
        if (h->error != TCALL_E_MEMORY)
            h->error = (int8_t)TCALL_E_CUT;
    }
    if (r->answer.text_cut && r->has_text) { /* not inside a character */
        const tcall_head_ *h = tcall_reader_head_(r, r->start);
        tcall_reader_resize_(
            r, r->start, TCALL_PART_TEXT_,
            tcall_utf8_whole_((const char *)h +
                                  tcall_head_end_(h, TCALL_PART_SIGN_),
                              tcall_len_(h, TCALL_PART_TEXT_)));
    }
}

/* What was read holds no answer. */
static void tcall_reader_nothing_(tcall_reader *r)
{
    tcall_answer *a = &r->answer;
    if (a->calls || r->has_text)
        return;
    if (a->stop == TCALL_STOP_REFUSED)
        a->error = TCALL_E_REFUSED;
    if (a->stop == TCALL_STOP_OTHER)
        a->error = TCALL_E_PROVIDER;
    if (a->error && !a->message[0])
        tcall_reader_append_(a->message, sizeof a->message,
                             tcall_str_of(a->stop_text));
}

int tcall_reader_end(tcall_reader *r)
{
    tcall_answer *a = &r->answer;
    tcall_block *b = r->chat->block;
    size_t need;
    if (r->finished && !(r->began & ~r->finished) && !r->announced)
        r->complete = true;
    a->message[tcall_utf8_whole_(a->message, strlen(a->message))] = 0;
    if (!a->error && a->message[0] && r->some && !r->complete)
        a->error = TCALL_E_PROVIDER;
    if (!a->error && (!r->complete || r->inside))
        a->error = r->sse && !r->some ? TCALL_E_PROTOCOL : TCALL_E_TRUNCATED;
    if (!a->error)
        tcall_reader_finish_(r);
    if (!a->error)
        tcall_reader_nothing_(r);
    if (!a->error)
        a->message[0] = 0;
    need = b->low + b->high + r->lost + a->unkept + TCALL_RESERVE_;
    if (a->unkept) /* there was more than is left in the end */
        need = (need <= b->size ? b->size + a->unkept : need) + TCALL_RESERVE_;
    if (r->lost + a->unkept && need > b->need)
        b->need = need;
    if (a->error)
        b->low = r->start;
    return a->error;
}

/* ---- what is opaque ---- */

/* What is opaque of an item does not fit. */
static void tcall_opaque_bare_(tcall_reader *r, size_t at, size_t more)
{
    int part = tcall_reader_kind_(r, at) == TCALL_ITEM_OPAQUE
                   ? TCALL_PART_TEXT_
                   : TCALL_PART_SIGN_;
    for (; part >= TCALL_PART_SIGN_; part--) {
        more += tcall_reader_len_(r, at, part);
        tcall_reader_resize_(r, at, part, 0);
    }
    r->answer.unkept += more;
    if (more)
        tcall_reader_head_(r, at)->kind |= TCALL_ITEM_LOST_;
}

/* Of the pending element, which continues the slot, nothing is kept. */
static void tcall_opaque_merge_(tcall_reader *r)
{
    size_t n = tcall_reader_len_(r, r->pending, TCALL_PART_TEXT_);
    if (!(tcall_reader_head_(r, r->slot)->kind & TCALL_ITEM_LOST_))
        return;
    tcall_reader_resize_(r, r->pending, TCALL_PART_TEXT_, 0);
    tcall_opaque_bare_(r, r->slot, n);
}

/* It takes nothing away from anything else. */
static bool tcall_opaque_fits_(const tcall_reader *r, tcall_str s)
{
    return tcall_block_free_(r->chat->block) >= s.len + TCALL_RESERVE_;
}

void tcall_opaque(tcall_reader *r, int what, tcall_str s)
{
    size_t at = r->start;
    if (what == TCALL_MORE_STRIP_)
        for (; at < r->chat->block->low; at = tcall_reader_next_(r, at))
            tcall_opaque_bare_(r, at, 0);
    else if (what == TCALL_MORE_MERGE_)
        tcall_opaque_merge_(r);
    else if (what >= TCALL_PARTS_)
        return;
    else if (r->answer.unkept || !tcall_opaque_fits_(r, s))
        tcall_opaque_bare_(r, r->slot, s.len);
    else
        tcall_reader_put_(r, r->slot, what, s);
}

/* "48s", "34.4s", "250ms" in milliseconds, at most 2147483647; -1: none of
 * these. */
static long tcall_wait_(const char *p)
{
    const long most = 0x7FFFFFFF;
    long n = 0, unit = 1000;
    bool point = false;
    for (; tcall_is_digit_(*p) || (*p == '.' && !point); p++)
        if (*p == '.') {
            point = true;
        } else if (n < most / 10 && (!point || unit > 1)) {
            n = n * 10 + (*p - '0');
            unit = point ? unit / 10 : unit;
        }
    n = n <= most / unit ? n * unit : most;
    return strcmp(p, "s") == 0 ? n : strcmp(p, "ms") == 0 ? n / 1000 : -1;
}

/* A sign may belong to the text of the answer. One is enough, the first. And
 * there are words of how long to wait. */
TCALL_SHARED_ void tcall_opaque_signs_(tcall_reader *r, int what, tcall_str s)
{
    uint8_t lost;
    tcall_opaque(r, what, s);
    if (what == TCALL_MORE_WAIT_)
        r->answer.wait_ms = tcall_wait_(r->word);
    if (what != TCALL_MORE_SAID_)
        return;
    lost = tcall_reader_head_(r, r->pending)->kind & TCALL_ITEM_LOST_;
    if (lost || tcall_reader_len_(r, r->pending, TCALL_PART_SIGN_))
        tcall_reader_begin_text_(r);
    if (!r->has_text)
        return;
    tcall_reader_head_(r, r->start)->kind |= lost;
    if (!tcall_reader_len_(r, r->start, TCALL_PART_SIGN_))
        tcall_reader_give_(r, r->pending, r->start, TCALL_PART_SIGN_);
}

/* An element as JSON text, which is kept if its type says so. The type usually
 * comes first. */
TCALL_SHARED_ void tcall_opaque_raw_(tcall_reader *r, int what, tcall_str s)
{
    bool raw = what == TCALL_MORE_RAW_ && r->event != TCALL_WORD_NEW_ &&
               !(r->whole && r->before) &&
               (!r->type || r->type == TCALL_WORD_OPAQUE_) &&
               r->answer.error != TCALL_E_MEMORY;
    if (raw && !r->keeping)
        r->keeping = tcall_reader_place_(r, &r->raw, TCALL_ITEM_NONE_);
    if (r->keeping && raw && !r->raw_lost && tcall_opaque_fits_(r, s)) {
        tcall_reader_put_(r, r->raw, TCALL_PART_TEXT_, s);
    } else if (r->keeping && (raw || what == TCALL_MORE_STRIP_)) {
        r->raw_lost += s.len + tcall_reader_len_(r, r->raw, TCALL_PART_TEXT_);
        tcall_reader_resize_(r, r->raw, TCALL_PART_TEXT_, 0);
    }
    tcall_opaque(r, what, s);
    if (what != TCALL_MORE_RAW_END_)
        return;
    r->keeping = false;
    if (r->type == TCALL_WORD_OPAQUE_) {
        tcall_head_ *h = tcall_reader_head_(r, r->raw);
        h->kind = (int)TCALL_ITEM_OPAQUE | TCALL_ITEM_ALL_;
        h->index = r->index;
        if (r->raw_lost)
            tcall_opaque_bare_(r, r->raw, r->raw_lost);
    } else {
        tcall_reader_remove_(r, r->raw);
    }
    r->raw_lost = 0;
}

/* What providers write about their errors, in code, type or words, behind the
 * index of what it means. */
static const char tcall_fault_words_[] = "0context l\0" /* length, limit */
                                         "0context window\0"
                                         "0context size\0"
                                         "0prompt is too long\0"
                                         "0prompt too long\0"
                                         "0input is too long\0"
                                         "0prompt_tokens\0"
                                         "0prompt length\0"
                                         "0input length\0"
                                         "0number of tokens\0"
                                         "0too many tokens\0"
                                         "0token limit\0"
                                         "0max_new_tokens\0"
                                         "1api key\0"
                                         "1authenticat\0"
                                         "1permission\0"
                                         "2not_found\0"
                                         "2model identifier\0"
                                         "3overloaded\0"
                                         "3unavailable\0"
                                         "4rate_limit\0"
                                         "4resource_exhausted\0"
                                         "5content filter\0"
                                         "5content_policy\0"
                                         "5content management policy\0"
                                         "5invalid_prompt\0"
                                         "5data_inspection\0"
                                         "5usage guidelines\0"
                                         "5moderation\0"
                                         "5safety\0"
                                         "6invalid_request\0"
                                         "6invalid_argument\0";
static const int8_t tcall_fault_errors_[] = {
    TCALL_E_CONTEXT, TCALL_E_AUTH,    TCALL_E_NOT_FOUND, TCALL_E_OVERLOAD,
    TCALL_E_RATE,    TCALL_E_REFUSED, TCALL_E_REQUEST};

/* Is the word in the text? Capitals do not matter, and a blank may be an
 * underscore there. */
static bool tcall_says_(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t i = 0;
        while (word[i] &&
               ((text[i] | (text[i] >= 'A' && text[i] <= 'Z' ? 32 : 0)) ==
                    word[i] ||
                (word[i] == ' ' && text[i] == '_')))
            i++;
        if (!word[i])
            return true;
    }
    return false;
}

/* A status that stands in the answer, as its code; 0: none does. */
static int tcall_answer_status_(const char *code)
{
    const long n = tcall_digits_(code);
    return n < 400 || n > 599 ? 0 : (int)n;
}

int tcall_answer_error(const tcall_answer *a, int status)
{
    static const struct {
        int16_t status;
        int8_t error;
    } known[] = {{401, TCALL_E_AUTH},     {404, TCALL_E_NOT_FOUND},
                 {413, TCALL_E_CONTEXT},  {429, TCALL_E_RATE},
                 {503, TCALL_E_OVERLOAD}, {529, TCALL_E_OVERLOAD}};
    const char *word;
    int error = TCALL_E_PROVIDER;
    size_t i;
    if (status < 300) {
        if (a->error != TCALL_E_PROVIDER)
            return a->error;
        status = tcall_answer_status_(a->stop_text);
    }
    for (i = 0; i < TCALL_ARRAY_LEN(known); i++)
        if (status == known[i].status)
            return known[i].error;
    if (status >= 400 && status < 500)
        error = TCALL_E_REQUEST;
    for (word = tcall_fault_words_; *word; word += strlen(word) + 1)
        if (tcall_says_(a->stop_text, word + 1) ||
            tcall_says_(a->message, word + 1)) {
            error = tcall_fault_errors_[*word - '0'];
            break;
        }
    return status == 403 && error != TCALL_E_REFUSED ? TCALL_E_AUTH : error;
}
