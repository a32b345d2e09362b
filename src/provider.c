#pragma once
#include "provider.h"
#include "tools.c"

/* ==========================================================================
 * >>provider
 *
 * An item of a conversation is a head, then its id, its name and its text. An
 * answer's items begin with its text, which grows in place; behind it stand
 * the calls that are settled and then, while a document of the stream passes,
 * the elements of that document. What an element belongs to may stand behind
 * its arguments, so it is settled only when all of it is known: it is a new
 * call and stays, or what it brings is moved to an older one.
 */

/* The parts of an item, in their order, which is that of tcall_item. */
enum {
    TCALL_PART_ID_,
    TCALL_PART_NAME_,
    TCALL_PART_SIGN_,
    TCALL_PART_TEXT_,
    TCALL_PARTS_
};

/* Of bytes only: it stands in the block wherever its item begins. */
typedef struct tcall_head_ {
    uint8_t kind; /* tcall_kind and the flags below */
    int8_t error;
    uint8_t index, choice; /* of a call while its answer is read */
    uint8_t len[TCALL_PARTS_][sizeof(uint32_t)];
} tcall_head_;

enum {
    TCALL_ITEM_PIECE_ = 14, /* what it is a piece of is not known yet */
    TCALL_ITEM_NONE_ = 15,  /* an element that is no call of ours */
    TCALL_ITEM_KIND_ = 15,
    TCALL_ITEM_MADE_ = 16,  /* the id was made up */
    TCALL_ITEM_START_ = 32, /* arguments stand until the first piece comes */
    TCALL_ITEM_ALL_ = 64,   /* they are no piece: the longer ones count */
    TCALL_ITEM_LOST_ = 128
};

#define TCALL_HEAD_ sizeof(tcall_head_)
/* Text and arguments leave so much free, for the head, id and name of the
 * next call: it then can at least be named. */
#define TCALL_RESERVE_ 64

static tcall_head_ *tcall_head_at_(const tcall_chat *c, size_t at)
{
    return (tcall_head_ *)(void *)(c->block->base + at);
}

static size_t tcall_len_(const tcall_head_ *h, int part)
{
    uint32_t n;
    memcpy(&n, h->len[part], sizeof n);
    return n;
}

static void tcall_len_set_(tcall_head_ *h, int part, size_t len)
{
    uint32_t n = (uint32_t)len;
    memcpy(h->len[part], &n, sizeof n);
}

/* Where a part ends, from the head on; the last one ends the item. */
static size_t tcall_head_end_(const tcall_head_ *h, int part)
{
    size_t n = TCALL_HEAD_;
    for (; part >= 0; part--)
        n += tcall_len_(h, part);
    return n;
}

/* Have both items the same part? */
static bool tcall_head_same_(const tcall_head_ *a, const tcall_head_ *b,
                             int part)
{
    size_t n = tcall_len_(a, part);
    return n == tcall_len_(b, part) &&
           memcmp((const char *)a + tcall_head_end_(a, part - 1),
                  (const char *)b + tcall_head_end_(b, part - 1), n) == 0;
}

static size_t tcall_head_size_(const tcall_head_ *h)
{
    return tcall_head_end_(h, TCALL_PART_TEXT_);
}

void tcall_chat_init(tcall_chat *chat, tcall_block *block)
{
    chat->block = block;
    chat->start = block->low;
    chat->made = 0;
}

static char *tcall_copy_(char *to, tcall_str s)
{
    if (s.len)
        memcpy(to, s.ptr, s.len);
    return to + s.len;
}

int tcall_chat_add(tcall_chat *chat, const tcall_item *item)
{
    const tcall_str *parts =
        (const tcall_str *)(const void *)((const char *)item +
                                          offsetof(tcall_item, id));
    size_t at = chat->block->low, size = TCALL_HEAD_;
    tcall_head_ *h = tcall_head_at_(chat, at);
    char *to = chat->block->base + at + TCALL_HEAD_;
    int i;
    for (i = 0; i < TCALL_PARTS_; i++)
        size += parts[i].len;
    if (!tcall_block_grow_(chat->block, size))
        return TCALL_E_MEMORY;
    memset(h, 0, sizeof *h);
    h->kind = (uint8_t)(item->kind | (item->made ? TCALL_ITEM_MADE_ : 0) |
                        (item->lost ? TCALL_ITEM_LOST_ : 0));
    h->error = (int8_t)item->error;
    for (i = 0; i < TCALL_PARTS_; i++) {
        tcall_len_set_(h, i, parts[i].len);
        to = tcall_copy_(to, parts[i]);
    }
    return TCALL_OK;
}

bool tcall_chat_next(const tcall_chat *chat, size_t *at, tcall_item *item)
{
    size_t from = chat->start + *at;
    tcall_str *parts =
        (tcall_str *)(void *)((char *)item + offsetof(tcall_item, id));
    const tcall_head_ *h;
    const char *p;
    int i;
    if (from >= chat->block->low)
        return false;
    h = tcall_head_at_(chat, from);
    p = chat->block->base + from + TCALL_HEAD_;
    item->kind = h->kind & TCALL_ITEM_KIND_;
    item->made = (h->kind & TCALL_ITEM_MADE_) != 0;
    item->lost = (h->kind & TCALL_ITEM_LOST_) != 0;
    item->error = h->error;
    for (i = 0; i < TCALL_PARTS_; i++) {
        parts[i] = tcall_slice_(p, tcall_len_(h, i));
        p += parts[i].len;
    }
    *at = (size_t)(p - chat->block->base) - chat->start;
    return true;
}

static tcall_head_ *tcall_reader_head_(const tcall_reader *r, size_t at)
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
static char *tcall_reader_resize_(tcall_reader *r, size_t at, int part,
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

static size_t tcall_reader_text_len_(const tcall_reader *r)
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
           : r->event == TCALL_WORD_ALL_   ? TCALL_ITEM_CALL | TCALL_ITEM_ALL_
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
                                    TCALL_ITEM_OPAQUE | TCALL_ITEM_MADE_,
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
static tcall_str tcall_make_id_(tcall_chat *chat, char *id)
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

/* Is it one whole JSON text? */
static int tcall_check_json_(tcall_scan *s, tcall_str text)
{
    tcall_scan_init(s, NULL, NULL, NULL);
    tcall_scan_feed(s, text.ptr, text.len);
    return tcall_scan_end(s);
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
static void tcall_opaque_signs_(tcall_reader *r, int what, tcall_str s)
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
static void tcall_opaque_raw_(tcall_reader *r, int what, tcall_str s)
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
        h->kind = TCALL_ITEM_OPAQUE | TCALL_ITEM_ALL_;
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
    for (i = 0; i < TCALL_COUNT(known); i++)
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

/* True when the string at p, quotes included, is this word. */
static bool tcall_view_is_(const char *p, const char *word)
{
    if (*p++ != '"')
        return false;
    for (; *word && *p == *word; word++)
        p++;
    return !*word && *p == '"';
}

/* The value of a member of the object at p, NULL when it is absent. */
static const char *tcall_view_get_(const char *p, const char *key)
{
    if (*p != '{')
        return NULL;
    for (p = tcall_text_next_(p + 1); !tcall_text_closes_(p);
         p = tcall_text_next_(tcall_text_skip_(p))) {
        bool found = tcall_view_is_(p, key);
        p = tcall_text_value_(p);
        if (found)
            return p;
    }
    return NULL;
}

/* What is sent of a tool's schema. */
static const char *tcall_tool_schema_(const tcall_tool *tool)
{
    const char *text =
        tool->provider_schema ? tool->provider_schema : tool->parameters;
    text = text ? tcall_text_space_(text) : "";
    return *text == '{' ? text : "{\"type\":\"object\",\"properties\":{}}";
}

/* What stands behind a keyword. */
enum {
    TCALL_VIEW_COPY_,
    TCALL_VIEW_SCHEMA_,
    TCALL_VIEW_LIST_, /* of schemas */
    TCALL_VIEW_MAP_,  /* of schemas, by names that are not ours */
    TCALL_VIEW_PROPERTIES_,
    TCALL_VIEW_FORMAT_,
    TCALL_VIEW_ENUM_, /* one value becomes a list of one */
    TCALL_VIEW_CLOSED_
};

/* keep: the views that have the keyword. bar: those that cannot say what it
 * says, so that the tool is not sent as strict. Whatever is not here is left
 * out of all views. */
typedef struct tcall_view_word_ {
    char key[22];
    const char *as; /* NULL: the same */
    uint8_t what, keep, bar;
} tcall_view_word_;

static const tcall_view_word_ tcall_view_words_[] = {
    {"type", NULL, TCALL_VIEW_COPY_, 7, 0},
    {"description", NULL, TCALL_VIEW_COPY_, 7, 0},
    {"title", NULL, TCALL_VIEW_COPY_, 2, 0},
    {"enum", NULL, TCALL_VIEW_COPY_, 7, 0},
    {"const", NULL, TCALL_VIEW_COPY_, 3, 0},
    {"const", "enum", TCALL_VIEW_ENUM_, 4, 0},
    {"format", NULL, TCALL_VIEW_FORMAT_, 3, 0},
    {"properties", NULL, TCALL_VIEW_PROPERTIES_, 7, 0},
    {"required", NULL, TCALL_VIEW_COPY_, 6, 0},
    {"items", NULL, TCALL_VIEW_SCHEMA_, 7, 0},
    {"anyOf", NULL, TCALL_VIEW_LIST_, 7, 0},
    {"oneOf", "anyOf", TCALL_VIEW_LIST_, 7, 0},
    {"allOf", NULL, TCALL_VIEW_LIST_, 2, 1},
    {"$ref", NULL, TCALL_VIEW_COPY_, 3, 0},
    {"$defs", NULL, TCALL_VIEW_MAP_, 3, 0},
    {"definitions", NULL, TCALL_VIEW_MAP_, 1, 2},
    {"additionalProperties", NULL, TCALL_VIEW_CLOSED_, 0, 0},
    {"patternProperties", NULL, TCALL_VIEW_COPY_, 0, 3},
    {"prefixItems", NULL, TCALL_VIEW_COPY_, 0, 3},
    {"dependentSchemas", NULL, TCALL_VIEW_COPY_, 0, 3},
    {"if", NULL, TCALL_VIEW_COPY_, 0, 3},
};

/* Deeper brackets are copied as they are. Strict modes know 10 levels of
 * schemas below the first. */
#define TCALL_VIEW_DEPTH_  24
#define TCALL_VIEW_LEVELS_ 10

typedef struct tcall_view_ {
    tcall_writer *w;
    uint8_t profile;
    bool unfit;                /* cannot be strict */
    uint8_t depth, level;      /* of brackets, of schemas */
    uint16_t optional, unions; /* seen; vendors limit their number */
    struct {
        const char *from; /* the bracket that is open */
        uint8_t what;
        bool nullable;
    } open[TCALL_VIEW_DEPTH_];
} tcall_view_;

static const tcall_view_word_ *tcall_view_find_(const tcall_view_ *v,
                                                const char *key)
{
    const tcall_view_word_ *w = tcall_view_words_;
    for (; w < tcall_view_words_ + TCALL_COUNT(tcall_view_words_); w++)
        if (((w->keep | w->bar) & v->profile ||
             w->what == TCALL_VIEW_CLOSED_) &&
            tcall_view_is_(key, w->key))
            return w;
    return NULL;
}

static bool tcall_view_type_(const char *schema, const char *word)
{
    const char *type = tcall_view_get_(schema, "type"), *m;
    if (!type || *type == '"')
        return type && tcall_view_is_(type, word);
    for (m = tcall_text_next_(type + (*type == '[')); !tcall_text_closes_(m);
         m = tcall_text_next_(tcall_text_skip_(m)))
        if (tcall_view_is_(m, word))
            return true;
    return false;
}

/* What strict modes refuse: a value of any kind, an object of any members, an
 * array of anything. */
static bool tcall_view_vague_(const char *schema)
{
    static const char says[] = "type\0anyOf\0oneOf\0allOf\0$ref\0enum\0const\0";
    const char *word = says;
    while (*word && !tcall_view_get_(schema, word))
        word += strlen(word) + 1;
    return !*word ||
           (tcall_view_type_(schema, "object") &&
            !tcall_view_get_(schema, "properties")) ||
           (tcall_view_type_(schema, "array") &&
            !tcall_view_get_(schema, "items"));
}

static const char *tcall_view_copy_(tcall_view_ *v, const char *p)
{
    const char *end = tcall_text_skip_(p);
    tcall_write_verbatim(v->w, tcall_slice_(p, (size_t)(end - p)));
    return end;
}

/* Enters what the bracket at p opens; the next byte to look at. */
static const char *tcall_view_open_(tcall_view_ *v, const char *p, uint8_t what,
                                    bool nullable)
{
    const char *type;
    if (what == TCALL_VIEW_SCHEMA_ && *p == '{') {
        type = tcall_view_get_(p, "type");
        v->unions = (uint16_t)(v->unions + (type && *type == '['));
        v->unfit =
            v->unfit || v->level > TCALL_VIEW_LEVELS_ || tcall_view_vague_(p);
    }
    if (*p != (what == TCALL_VIEW_LIST_ ? '[' : '{') ||
        v->depth == TCALL_VIEW_DEPTH_) {
        v->unfit = true;
        return tcall_view_copy_(v, p);
    }
    tcall_write_open(v->w, *p);
    v->open[v->depth].from = p;
    v->open[v->depth].what = what;
    v->open[v->depth].nullable = nullable;
    v->depth++;
    v->level = (uint8_t)(v->level + (what == TCALL_VIEW_SCHEMA_));
    return p + 1;
}

static bool tcall_view_requires_(const char *schema, const char *key)
{
    const char *list = tcall_view_get_(schema, "required");
    size_t n = tcall_text_verbatim_(key).len;
    const char *m = tcall_text_first_(list);
    for (; m && !tcall_text_closes_(m);
         m = tcall_text_next_(tcall_text_skip_(m)))
        if (strncmp(m, key, n) == 0)
            return true;
    return false;
}

/* Behind the members of a schema: strict objects are closed, and OpenAI wants
 * every property to be required. */
static void tcall_view_close_schema_(tcall_view_ *v, const char *schema)
{
    const char *m = tcall_view_get_(schema, "properties");
    if (v->depth == 0 && !tcall_view_get_(schema, "type")) {
        tcall_write_key(v->w, "type");
        tcall_write_string(v->w, "object");
    }
    if (!m || v->profile == TCALL_STRICT_OLLAMA)
        return;
    tcall_write_key(v->w, "additionalProperties");
    tcall_write_bool(v->w, false);
    if (!(v->profile & TCALL_STRICT_OPENAI))
        return;
    tcall_write_key(v->w, "required");
    tcall_write_open(v->w, '[');
    for (m = tcall_text_next_(m + 1); !tcall_text_closes_(m);
         m = tcall_text_next_(tcall_text_skip_(m))) {
        tcall_view_copy_(v, m);
        m = tcall_text_value_(m);
    }
    tcall_write_close(v->w, ']');
}

/* An optional property: for OpenAI it is required and may be null. */
static bool tcall_view_optional_(tcall_view_ *v)
{
    v->optional++;
    if (!(v->profile & TCALL_STRICT_OPENAI))
        return false;
    tcall_write_open(v->w, '{');
    tcall_write_key(v->w, "anyOf");
    tcall_write_open(v->w, '[');
    return true;
}

static const char *tcall_view_close_(tcall_view_ *v, const char *p)
{
    v->depth--;
    if (v->open[v->depth].what == TCALL_VIEW_SCHEMA_) {
        v->level--;
        tcall_view_close_schema_(v, v->open[v->depth].from);
    }
    tcall_write_close(v->w, *p);
    if (v->open[v->depth].nullable) {
        tcall_write_verbatim(v->w, tcall_str_of("{\"type\":\"null\"}"));
        tcall_write_close(v->w, ']');
        tcall_write_close(v->w, '}');
    }
    return p + 1;
}

static bool tcall_view_format_(const char *p)
{
    static const char known[] = "date-time\0time\0date\0duration\0email\0"
                                "hostname\0ipv4\0ipv6\0uuid\0";
    const char *word = known;
    while (*word && !tcall_view_is_(p, word))
        word += strlen(word) + 1;
    return *word != 0;
}

/* A member of a schema: key is at p, its value at value. */
static const char *tcall_view_keyword_(tcall_view_ *v, const char *p,
                                       const char *value)
{
    const tcall_view_word_ *word = tcall_view_find_(v, p);
    if (word && word->what == TCALL_VIEW_CLOSED_ && *value != 'f')
        v->unfit = true;
    if (word && word->bar & v->profile)
        v->unfit = true;
    if (!word || !(word->keep & v->profile) ||
        (word->what == TCALL_VIEW_FORMAT_ && !tcall_view_format_(value)))
        return tcall_text_skip_(value);
    if (word->as && word->what == TCALL_VIEW_LIST_ &&
        tcall_view_get_(v->open[v->depth - 1].from, word->as)) {
        v->unfit = true; /* it would stand there twice */
        return tcall_text_skip_(value);
    }
    tcall_write_key(v->w, word->as ? word->as : word->key);
    switch (word->what) {
    case TCALL_VIEW_LIST_: v->unions++; /* fall through */
    case TCALL_VIEW_SCHEMA_:
    case TCALL_VIEW_MAP_:
    case TCALL_VIEW_PROPERTIES_:
        return tcall_view_open_(v, value, word->what, false);
    case TCALL_VIEW_ENUM_:
        tcall_write_open(v->w, '[');
        value = tcall_view_copy_(v, value);
        tcall_write_close(v->w, ']');
        return value;
    default: return tcall_view_copy_(v, value);
    }
}

/* Writes a view of the schema at p. No recursion: v->open is the stack. */
static void tcall_view_write_(tcall_view_ *v, const char *p)
{
    p = tcall_view_open_(v, p, TCALL_VIEW_SCHEMA_, false);
    while (v->depth) {
        uint8_t top = (uint8_t)(v->depth - 1), what = v->open[top].what;
        bool nullable;
        const char *m = tcall_text_next_(p), *value;
        if (!*m)
            return;
        if (tcall_text_closes_(m)) {
            p = tcall_view_close_(v, m);
            continue;
        }
        value = what == TCALL_VIEW_LIST_ ? m : tcall_text_value_(m);
        if (what == TCALL_VIEW_SCHEMA_) {
            p = tcall_view_keyword_(v, m, value);
            continue;
        }
        if (what != TCALL_VIEW_LIST_) {
            tcall_view_copy_(v, m);
            tcall_write_char_(v->w, ':');
        }
        nullable = what == TCALL_VIEW_PROPERTIES_ &&
                   !tcall_view_requires_(v->open[top - 1].from, m) &&
                   tcall_view_optional_(v);
        p = tcall_view_open_(v, value, TCALL_VIEW_SCHEMA_, nullable);
    }
}

bool tcall_view(tcall_writer *w, const tcall_tool *tool, tcall_strict *left)
{
    const char *p = tcall_tool_schema_(tool);
    tcall_writer count;
    tcall_view_ v;
    tcall_writer_init(&count, NULL, 0);
    memset(&v, 0, sizeof v);
    v.profile = left->profile;
    v.w = &count;
    if (v.profile != TCALL_STRICT_OLLAMA) {
        tcall_view_write_(&v, p);
        if (!tool->strict || v.unfit || !tcall_view_type_(p, "object") ||
            tcall_view_get_(p, "anyOf") || tcall_view_get_(p, "oneOf") ||
            tcall_view_get_(p, "allOf") || !left->tools ||
            v.optional > left->optional || v.unions > left->unions)
            return false;
        left->tools--;
        left->optional = (uint16_t)(left->optional - v.optional);
        left->unions = (uint16_t)(left->unions - v.unions);
    }
    v.w = w;
    tcall_view_write_(&v, p);
    return true;
}

/* The schema of a tool as a value. Without a view it is what the tool says,
 * to the byte; only the type that every provider insists on is added. True if
 * it is strict. */
static bool tcall_write_schema_(tcall_writer *w, const tcall_ask *ask,
                                const tcall_tool *tool, tcall_strict *left)
{
    const char *p = tcall_tool_schema_(tool);
    const char *end = tcall_text_skip_(p);
    if (left->profile && ask->view && ask->view(w, tool, left))
        return left->profile != TCALL_STRICT_OLLAMA;
    if (!tcall_view_get_(p, "type")) {
        tcall_write_text(w, "{\"type\":\"object\"");
        if (!tcall_view_get_(p, "properties"))
            tcall_write_text(w, ",\"properties\":{}");
        p = tcall_text_space_(p + 1);
        if (*p != '}')
            tcall_write_text(w, ",");
    }
    tcall_write_bytes(w, p, (size_t)(end - p));
    return false;
}

/* The tools to send, one after the other; NULL: no more. */
static const tcall_tool *tcall_ask_tool_(const tcall_ask *ask, size_t *i)
{
    while (*i < (ask->picks ? ask->pick_count : ask->tool_count)) {
        size_t at = ask->picks ? ask->picks[*i] : *i;
        ++*i;
        if (at < ask->tool_count && tcall_enabled(&ask->tools[at], ask->allow))
            return &ask->tools[at];
    }
    return NULL;
}

/* May arguments be sent back as the model wrote them? Unless they are one JSON
 * object, servers would refuse them for ever after. */
static bool tcall_sendable_(tcall_str arguments)
{
    tcall_scan s;
    return tcall_check_json_(&s, arguments) == TCALL_OK && s.open[0] & 1;
}

/* What a letter of a form stands for. */
static void tcall_write_value_(tcall_writer *w, char letter,
                               const tcall_item *item)
{
    tcall_str s = letter == 'n'                    ? item->name
                  : letter == 'i' || letter == 'I' ? item->id
                  : letter == 'g' || letter == 's' ? item->sign
                                                   : item->text;
    if ((letter == 'a' || letter == 'A') && !tcall_sendable_(s))
        s = tcall_slice_("{}", 2);
    if (letter == 'I' || letter == 's') {
        if (!s.len || (letter == 'I' && item->made))
            return;
        tcall_write_text(w,
                         letter == 'I' ? ",\"id\":" : ",\"thoughtSignature\":");
    }
    if (!strchr("ar)", letter))
        tcall_write_quote(w);
    if (letter == 'e' && item->error && !(s.len && *s.ptr == '{'))
        tcall_write_text(w, "Error: ");
    tcall_write_bytes(w, s.ptr, s.len);
    if (!strchr("ar(", letter))
        tcall_write_unquote(w);
}

/* Writes JSON that is given as a form, with ' for the quotes. %i, %n and %t
 * are id, name and text of the item, as strings; %r its text as it is; %a its
 * text as arguments, %A that as a string; %e the text of a result where there
 * is no flag for an error; %g its sign; %I and %s id and sign as members of
 * Gemini's, if there are any; %( and %) begin and end a string. An object
 * behind another one gets its comma. Ends at %., the result is what follows. */
static const char *tcall_write_form_(tcall_writer *w, const char *form,
                                     const tcall_item *item)
{
    if ((*form == '{' || *form == '%') && w->last == '}' && !w->quoted)
        tcall_write_text(w, ",");
    while (*(form = tcall_write_plain_(w, form))) {
        form += 2;
        if (form[-1] == '.')
            break;
        tcall_write_value_(w, form[-1], item);
    }
    return form;
}

/* A form with one text only, or with none. */
static const char *tcall_write_words_(tcall_writer *w, const char *form,
                                      const char *text)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.text = tcall_str_of(text);
    return tcall_write_form_(w, form, &item);
}

/* The same, where there is a text. */
static void tcall_write_option_(tcall_writer *w, const char *form,
                                const char *text)
{
    if (text && *text)
        tcall_write_words_(w, form, text);
}

/* And with a number above 0. */
static void tcall_write_limit_(tcall_writer *w, const char *form, int value)
{
    if (value > 0) {
        form = tcall_write_words_(w, form, NULL);
        tcall_write_int(w, value);
        tcall_write_words_(w, form, NULL);
    }
}

/* The end of most requests. */
static int tcall_write_stream_(tcall_writer *w, const tcall_ask *ask)
{
    tcall_write_text(w, ",\"stream\":");
    tcall_write_bool(w, ask->stream);
    return tcall_write_text(w, "}");
}

int tcall_describe(tcall_writer *w, const tcall_tool *tool, const void *user)
{
    const char *p = tool->description ? tool->description : "";
    while (*p) {
        const char *at = strstr(p, "${"), *end = at ? strchr(at, '}') : NULL;
        const tcall_variable *v = (const tcall_variable *)user;
        if (!end)
            return tcall_write_text(w, p);
        tcall_write_bytes(w, p, (size_t)(at - p));
        while (v->name &&
               !tcall_str_eq(tcall_str_of(v->name),
                             tcall_slice_(at + 2, (size_t)(end - at - 2))))
            v++;
        p = v->name ? end + 1 : at + 2;
        tcall_write_text(w, v->name ? v->text : "${");
    }
    return w->error;
}

/* All tools as a member of the request: a form around all of them, and one for
 * each, with %t for its name, %. for its description and for its schema. False:
 * there are none. */
static bool tcall_write_tools_(const tcall_provider *p, tcall_writer *w,
                               const tcall_ask *ask, const char *form,
                               const char *each, tcall_strict *left)
{
    const bool weak = (p->traits & TCALL_TRAIT_WEAK_CHOICE) != 0;
    const tcall_tool *tool;
    const char *rest;
    size_t i = 0;
    bool some = false, strict;
    if (weak && ask->choice == TCALL_CHOICE_NONE)
        return false;
    if (p->traits & TCALL_TRAIT_NO_STRICT)
        left->tools = 0;
    while ((tool = tcall_ask_tool_(ask, &i)) != NULL) {
        if (weak && ask->choice == TCALL_CHOICE_ONE &&
            strcmp(tool->name, ask->choice_name) != 0)
            continue;
        if (!some)
            form = tcall_write_words_(w, form, NULL);
        some = true;
        rest = tcall_write_words_(w, each, tool->name);
        tcall_write_quote(w);
        if (ask->describe)
            ask->describe(w, tool, ask->describe_user);
        else
            tcall_write_text(w, tool->description ? tool->description : "");
        tcall_write_unquote(w);
        rest = tcall_write_words_(w, rest, NULL);
        strict = tcall_write_schema_(w, ask, tool, left);
        tcall_write_text(w, strict      ? ",\"strict\":true"
                            : left->say ? ",\"strict\":false"
                                        : "");
        tcall_write_words_(w, rest, NULL);
    }
    if (some)
        tcall_write_words_(w, form, NULL);
    return some;
}

/* From a call, which ends at at, to its result. One that is missing is made
 * up: an unanswered call would make the whole conversation invalid. Where more
 * calls of the answer have the id, their results are behind this one's. */
static void tcall_chat_result_(const tcall_chat *chat, size_t at,
                               tcall_item *item)
{
    const tcall_item call = *item;
    size_t from = at;
    bool found;
    int skip = 0;
    while (tcall_chat_next(chat, &at, item)) {
        bool same = tcall_str_eq(item->id, call.id);
        if (item->kind == TCALL_ITEM_RESULT)
            skip += same;
        else if (skip > 0)
            break;
        else if (item->kind == TCALL_ITEM_CALL)
            skip -= same;
    }
    found = skip > 0;
    while (skip > 0 && tcall_chat_next(chat, &from, item))
        skip -=
            item->kind == TCALL_ITEM_RESULT && tcall_str_eq(item->id, call.id);
    if (!found) {
        *item = call;
        item->kind = TCALL_ITEM_RESULT;
        item->error = TCALL_E_CANCELLED;
        item->text = tcall_str_of("this call was not run");
    }
    item->made = call.made;
}

/* A conversation in the order in which providers want it. What the model said
 * in one answer comes as reasoning, text, calls with their reasoning, and then
 * the results of all its calls. */
typedef struct tcall_talk_ {
    const tcall_provider *to;
    const tcall_chat *chat;
    size_t from, at; /* where the answer begins; the place in it */
    uint8_t phase;
    bool called; /* a call came by */
    char id[9];  /* room for one that has to be mapped */
} tcall_talk_;

static void tcall_talk_init_(tcall_talk_ *t, const tcall_provider *to,
                             const tcall_chat *chat)
{
    memset(t, 0, sizeof *t);
    t->to = to;
    t->chat = chat;
}

/* Does the item belong to the phase that is on? */
static bool tcall_talk_fits_(tcall_talk_ *t, const tcall_item *item)
{
    if (item->kind == TCALL_ITEM_CALL)
        t->called = true;
    switch (item->kind) {
    case TCALL_ITEM_TEXT: return t->phase == 1;
    case TCALL_ITEM_CALL: return t->phase >= 2;
    case TCALL_ITEM_OPAQUE:
        return t->phase == (t->called ? 2 : 0) && t->to->more &&
               tcall_str_eq(item->name, tcall_str_of(t->to->name));
    default: return false;
    }
}

/* The next one. What is opaque and did not fit makes the request an error. */
static bool tcall_talk_next_(tcall_talk_ *t, tcall_writer *w, tcall_item *item)
{
    for (;;) {
        size_t next = t->at;
        bool some = tcall_chat_next(t->chat, &next, item);
        if (some && item->kind != TCALL_ITEM_USER &&
            item->kind != TCALL_ITEM_RESULT) {
            t->at = next;
            if (!tcall_talk_fits_(t, item))
                continue;
            if (item->lost && t->to->more && !w->error)
                w->error = TCALL_E_MEMORY;
            if (t->phase == 3)
                tcall_chat_result_(t->chat, next, item);
            if (t->to->id)
                item->id = t->to->id(t->id, item->id);
            return true;
        }
        t->called = false;
        if (t->at > t->from && t->phase < 3) { /* once more */
            t->phase++;
            t->at = t->from;
            continue;
        }
        t->phase = 0;
        t->at = t->from = next;
        if (!some || item->kind == TCALL_ITEM_USER)
            return some;
    }
}

/* How far a message of the model is written. */
enum {
    TCALL_SAID_NONE_,
    TCALL_SAID_OPEN_,
    TCALL_SAID_TEXT_,
    TCALL_SAID_CALLS_
};

/* Goes on to there, or ends the message. */
static void tcall_write_said_(tcall_writer *w, int *said, int to)
{
    static const char steps[] = "{'role':'assistant'\0"
                                ",'content':%(\0"
                                "%),'tool_calls':[\0";
    static const char ends[] = "\0"
                               ",'content':''}\0"
                               "%)}\0"
                               "]}";
    if (to == TCALL_SAID_NONE_) {
        tcall_write_words_(w, tcall_nth_(ends, *said), NULL);
        *said = to;
    }
    for (; *said < to; ++*said)
        tcall_write_words_(w, tcall_nth_(steps, *said), NULL);
}

/* Begins a request: model and messages, as OpenAI began to write them. */
static void tcall_write_talk_(const tcall_provider *p, tcall_writer *w,
                              const tcall_ask *ask, const char *call,
                              const char *result)
{
    tcall_talk_ talk;
    tcall_item item;
    int said = TCALL_SAID_NONE_;
    tcall_write_words_(w, "{'model':%t,'messages':[", ask->model);
    tcall_write_option_(w, "{'role':'system','content':%t}", ask->system);
    tcall_talk_init_(&talk, p, ask->chat);
    while (tcall_talk_next_(&talk, w, &item))
        switch (item.kind) {
        case TCALL_ITEM_USER:
        case TCALL_ITEM_RESULT:
            tcall_write_said_(w, &said, TCALL_SAID_NONE_);
            tcall_write_form_(w,
                              item.kind == TCALL_ITEM_RESULT
                                  ? result
                                  : "{'role':'user','content':%t}",
                              &item);
            break;
        case TCALL_ITEM_TEXT:
            tcall_write_said_(w, &said, TCALL_SAID_TEXT_);
            tcall_write_bytes(w, item.text.ptr, item.text.len);
            break;
        case TCALL_ITEM_CALL:
            tcall_write_said_(w, &said, TCALL_SAID_CALLS_);
            tcall_write_form_(w, call, &item);
            break;
        default:
            if (said > TCALL_SAID_OPEN_ || (item.made && !p->join))
                break; /* it always stands before the calls */
            tcall_write_said_(w, &said, TCALL_SAID_OPEN_);
            if (item.made) {
                tcall_write_text(w, ",\"reasoning_details\":");
                p->join(w, item.text);
            } else {
                tcall_write_form_(w, ",'reasoning_content':%t", &item);
            }
        }
    tcall_write_said_(w, &said, TCALL_SAID_NONE_);
    tcall_write_text(w, "]");
}

/* How a provider says each kind of item: texts, the first two of which open a
 * message of the user and one of the model. The others are forms, behind who
 * says it (u, m, or - where there are no messages), for the kinds of items in
 * their order and for these two. */
enum { TCALL_TURN_ERROR_ = TCALL_ITEM_OPAQUE + 1, TCALL_TURN_OPAQUE_2_ };

static bool tcall_blank_(tcall_str s)
{
    while (s.len && tcall_is_space_(s.ptr[s.len - 1]))
        s.len--;
    return s.len == 0;
}

/* The conversation as such turns. Items of one role after the other share a
 * message: roles must take turns. */
static void tcall_write_turns_(const tcall_provider *p, tcall_writer *w,
                               const tcall_ask *ask, const char *turns)
{
    char role = '-';
    tcall_talk_ talk;
    tcall_item item;
    tcall_talk_init_(&talk, p, ask->chat);
    while (tcall_talk_next_(&talk, w, &item)) {
        int kind = item.kind;
        const char *turn;
        if (kind == TCALL_ITEM_RESULT && item.error)
            kind = TCALL_TURN_ERROR_;
        if (kind == TCALL_ITEM_OPAQUE && item.made)
            kind = TCALL_TURN_OPAQUE_2_;
        if (kind <= TCALL_ITEM_TEXT && !item.sign.len &&
            tcall_blank_(item.text))
            continue; /* that would be refused */
        turn = tcall_nth_(turns, 2 + kind);
        if (role != *turn) {
            tcall_write_text(w, role == '-' ? "" : "]}");
            tcall_write_words_(w, tcall_nth_(turns, *turn == 'm'), NULL);
        }
        role = *turn;
        tcall_write_form_(w, turn + 1, &item);
    }
    tcall_write_text(w, role == '-' ? "]" : "]}]");
}

/* The choice among the tools, as OpenAI began to say it; named is the form for
 * one tool. */
static void tcall_write_choice_(const tcall_provider *p, tcall_writer *w,
                                const tcall_ask *ask, const char *named)
{
    const unsigned is = p->traits;
    const char *word = ask->choice == TCALL_CHOICE_NONE ? "none"
                       : is & TCALL_TRAIT_ANY           ? "any"
                                                        : "required";
    bool one =
        ask->choice == TCALL_CHOICE_ONE && !(is & TCALL_TRAIT_WEAK_CHOICE);
    if (ask->choice != TCALL_CHOICE_AUTO && !(is & TCALL_TRAIT_NO_CHOICE))
        tcall_write_words_(w, one ? named : ",'tool_choice':%t",
                           one ? ask->choice_name : word);
    if (is & TCALL_TRAIT_SAY_PARALLEL ||
        (ask->no_parallel && !(is & TCALL_TRAIT_NO_PARALLEL))) {
        tcall_write_text(w, ",\"parallel_tool_calls\":");
        tcall_write_bool(w, !ask->no_parallel);
    }
}

/* A provider whose tables and writer are those of a format. Its texts are
 * linked only with it. */
#define TCALL_PROVIDER_(name, format, url, path, stream, header, prefix, \
                        version, value, id, more, join, traits)          \
    static const char tcall_##name##_name_[] = #name;                    \
    static const char tcall_##name##_url_[] = url;                       \
    static const char tcall_##name##_path_[] = path;                     \
    const tcall_provider tcall_##name = {tcall_##name##_name_,           \
                                         tcall_##name##_url_,            \
                                         tcall_##name##_path_,           \
                                         stream,                         \
                                         header,                         \
                                         prefix,                         \
                                         {version, value},               \
                                         &tcall_##format##_paths_,       \
                                         tcall_##format##_words_,        \
                                         tcall_##format##_write_,        \
                                         id,                             \
                                         more,                           \
                                         join,                           \
                                         traits};

