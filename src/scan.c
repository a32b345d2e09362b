#pragma once
#include "scan.h"
#include "text.c"

/* ==========================================================================
 * >>scan
 *
 * Three loops in one: runs of plain string bytes, numbers by a table, and one
 * switch for everything else. What the path filter wants is tracked per
 * open level as the row that matched, so a key is compared with the few rows
 * below that one only.
 */

#define TCALL_SCAN_NONE_ 0xFF /* no row */
#define TCALL_SCAN_ROOT_ 0xFE /* above the first row */

enum {
    TCALL_S_VALUE_,     /* a value must come */
    TCALL_S_FIRST_,     /* behind '[': a value or ']'; then, */
    TCALL_S_FIRST_KEY_, /* behind '{': a key or '}' */
    TCALL_S_KEY_,       /* behind ',' in an object */
    TCALL_S_COLON_,     /* behind a key */
    TCALL_S_NEXT_,      /* behind a value: ',' or a closing bracket */
    TCALL_S_DONE_,      /* behind the root */
    TCALL_S_LITERAL_,   /* inside true, false, null */
    TCALL_S_NUMBER_,    /* inside a number */
    TCALL_S_STRING_,    /* inside a string */
    TCALL_S_ESCAPE_,    /* behind '\' */
    TCALL_S_HEX_,       /* inside \uXXXX */
    TCALL_S_LOW_,       /* behind a high surrogate: '\' */
    TCALL_S_LOW_U_      /* and then: 'u' */
};

enum {
    TCALL_STRING_KEY_,    /* a key to be compared */
    TCALL_STRING_VALUE_,  /* to be reported */
    TCALL_STRING_SKIP_,   /* a key that nobody wants */
    TCALL_STRING_UNHEARD_ /* a value that nobody wants */
};

void tcall_scan_init(tcall_scan *s, const tcall_paths *paths, tcall_scan_fn on,
                     void *user)
{
    memset(s, 0, sizeof *s);
    s->row = TCALL_SCAN_NONE_;
    if (paths) {
        s->rows = paths->rows;
        s->keys = paths->keys;
        s->row = TCALL_SCAN_ROOT_;
    }
    s->on = on;
    s->user = user;
    s->at = TCALL_SCAN_NONE_;
}

/* Whether the value is complete; a number at the root needs the end. */
TCALL_SHARED_ bool tcall_scan_done_(const tcall_scan *s)
{
    return s->state == TCALL_S_DONE_;
}

static int tcall_scan_fail_(tcall_scan *s, int error)
{
    s->error = error;
    return error;
}

/* Report to the callback when the value at hand is wanted. */
static void tcall_scan_tell_(tcall_scan *s, uint8_t row, tcall_scan_event event,
                             const char *p, size_t n)
{
    int r;
    if (row >= TCALL_SCAN_ROOT_ || !s->rows[row].field || s->error)
        return;
    r = s->on(s->user, s->rows[row].field, event, tcall_slice_(p, n));
    if (r < 0)
        s->error = r;
}

/* The row below parent, that of the open container, that the key or element
 * matches. */
static inline uint8_t tcall_scan_match_(tcall_scan *s, uint8_t parent,
                                        const char *key, size_t len)
{
    const tcall_path *row = s->rows;
    const char *text = s->keys;
    uint8_t below = 1;
    if (parent == TCALL_SCAN_NONE_)
        return TCALL_SCAN_NONE_;
    if (parent != TCALL_SCAN_ROOT_) {
        row += parent;
        below = (uint8_t)(row->depth + 1);
        row++;
        text += s->below[s->depth - 1];
    }
    for (; row->depth >= below; text += row->len, row++) {
        if (row->depth != below)
            continue;
        if (row->len == len && *text == *key && memcmp(text, key, len) == 0) {
            s->behind = (uint16_t)(text - s->keys + row->len);
            return (uint8_t)(row - s->rows);
        }
        if (row->flags & TCALL_PATH_LAST)
            break;
    }
    return TCALL_SCAN_NONE_;
}

static inline void tcall_scan_value_end_(tcall_scan *s)
{
    s->state = s->depth ? TCALL_S_NEXT_ : TCALL_S_DONE_;
}

/* The row of the next element of the array that is open. */
TCALL_NOINLINE_ static uint8_t tcall_scan_element_(tcall_scan *s)
{
    uint8_t row = TCALL_SCAN_NONE_, *index;
    const char *key;
    if (s->at == TCALL_SCAN_NONE_)
        return row;
    index = &s->index[s->depth - 1];
    for (key = *index ? "*" : "0*"; *key && row == TCALL_SCAN_NONE_; key++)
        row = tcall_scan_match_(s, s->at, key, 1);
    *index = (uint8_t)(*index + (*index < 255));
    return row;
}

/* A value begins with c: find out whether it is wanted. */
static inline void tcall_scan_begin_(tcall_scan *s, const char *c)
{
    if (s->depth && !s->object)
        s->row = tcall_scan_element_(s);
    if (s->row != TCALL_SCAN_NONE_)
        tcall_scan_tell_(s, s->row, TCALL_SCAN_BEGIN, c, 1);
}

static int tcall_scan_open_(tcall_scan *s, const char *c, const char **raw)
{
    uint8_t row, *open;
    unsigned below = 0, bit = s->depth & 7u;
    tcall_scan_begin_(s, c);
    s->object = *c == '{';
    row = s->row;
    if (s->depth >= TOOLCALL_MAX_DEPTH)
        return tcall_scan_fail_(s, TCALL_E_DEPTH);
    if (row < TCALL_SCAN_ROOT_) {
        const tcall_path *path = s->rows + row;
        below = s->behind;
        if (path->flags & TCALL_PATH_RAW && !s->raw_depth) {
            s->raw_depth = (uint16_t)(s->depth + 1);
            *raw = c;
        }
        if (path->flags & TCALL_PATH_ALIAS_NEXT) {
            row++;
            below += path[1].len;
        }
        if (path->flags & TCALL_PATH_ROOT) {
            row = TCALL_SCAN_ROOT_;
            below = 0;
        }
    }
    open = &s->open[s->depth >> 3];
    *open = (uint8_t)((*open & ~(1u << bit)) | (unsigned)s->object << bit);
    s->at = TCALL_SCAN_NONE_;
    if (s->depth < TCALL_SCAN_LEVELS_) {
        s->at = s->node[s->depth] = row;
        s->below[s->depth] = (uint16_t)below;
        s->index[s->depth] = 0;
    }
    s->depth++;
    s->row = TCALL_SCAN_NONE_;
    s->state = (uint8_t)(TCALL_S_FIRST_ + s->object);
    return s->error;
}

static int tcall_scan_close_(tcall_scan *s, const char *c, const char **raw)
{
    uint8_t row = s->at;
    unsigned up;
    if (s->object != (*c == '}'))
        return tcall_scan_fail_(s, TCALL_E_BRACKETS);
    s->depth--;
    if (s->raw_depth == s->depth + 1) {
        tcall_scan_tell_(s, row, TCALL_SCAN_DATA, *raw, (size_t)(c + 1 - *raw));
        s->raw_depth = 0;
    }
    tcall_scan_tell_(s, row, TCALL_SCAN_END, c, 0);
    s->at = TCALL_SCAN_NONE_;
    s->state = TCALL_S_DONE_;
    if (s->depth) {
        up = s->depth - 1u;
        s->object = s->open[up >> 3] >> (up & 7) & 1;
        if (up < TCALL_SCAN_LEVELS_)
            s->at = s->node[up];
        s->state = TCALL_S_NEXT_;
    }
    return s->error;
}

/* Reports what was collected of a value. */
static void tcall_scan_flush_(tcall_scan *s)
{
    if (s->string_mode != TCALL_STRING_VALUE_ || !s->piece_len)
        return;
    tcall_scan_tell_(s, s->row, TCALL_SCAN_DATA, s->piece, s->piece_len);
    s->piece_len = 0;
}

/* The string ends: a value, or a key, which may lead to a row. */
static void tcall_scan_string_end_(tcall_scan *s)
{
    if (s->string_mode == TCALL_STRING_VALUE_ ||
        s->string_mode == TCALL_STRING_UNHEARD_) {
        tcall_scan_flush_(s);
        tcall_scan_tell_(s, s->row, TCALL_SCAN_END, s->piece, 0);
        tcall_scan_value_end_(s);
        return;
    }
    s->row = s->string_mode == TCALL_STRING_KEY_ && s->piece_len
                 ? tcall_scan_match_(s, s->at, s->piece, s->piece_len)
                 : (uint8_t)TCALL_SCAN_NONE_;
    s->piece_len = 0;
    s->state = TCALL_S_COLON_;
}

/* What does not fit where bytes are collected: a key that is too long matches
 * nothing. */
static void tcall_scan_overflow_(tcall_scan *s, const char *p, size_t n)
{
    if (s->string_mode == TCALL_STRING_KEY_) {
        s->string_mode = TCALL_STRING_SKIP_;
        return;
    }
    tcall_scan_flush_(s);
    if (n > TCALL_SCAN_PIECE_) {
        tcall_scan_tell_(s, s->row, TCALL_SCAN_DATA, p, n);
        return;
    }
    memcpy(s->piece, p, n);
    s->piece_len = (uint8_t)n;
}

/* Collects decoded bytes of a string, since few events are cheaper than many.
 */
static inline void tcall_scan_bytes_(tcall_scan *s, const char *p, size_t n)
{
    if (s->string_mode >= TCALL_STRING_SKIP_)
        return;
    if (n > (size_t)(TCALL_SCAN_PIECE_ - s->piece_len)) {
        tcall_scan_overflow_(s, p, n);
        return;
    }
    memcpy(s->piece + s->piece_len, p, n);
    s->piece_len = (uint8_t)(s->piece_len + n);
}

/* Skips plain string content, non-ASCII characters included; stops with an
 * error at a byte that may not stand in a string. */
static inline const char *tcall_scan_plain_(tcall_scan *s, const char *p,
                                            const char *end)
{
    for (;; p++) {
        unsigned char c;
        if (!s->utf.left)
            p = tcall_plain_(p, end);
        if (p == end || (*p == '"' && !s->utf.left))
            return p;
        c = (unsigned char)*p;
        if (c >= 0x80 ? !tcall_utf8_step_(&s->utf, c) : s->utf.left != 0)
            s->error = TCALL_E_UTF8;
        else if (c < 0x20)
            s->error = c ? TCALL_E_BAD_VALUE : TCALL_E_NUL;
        if (c < 0x80 || s->error)
            return p;
    }
}

/* Runs through a string up to its end, a long escape or the end of the piece.
 */
static const char *tcall_scan_string_(tcall_scan *s, const char *p,
                                      const char *end)
{
    char c;
    for (;; p += 2) {
        const char *from = p;
        p = tcall_scan_plain_(s, p, end);
        if (s->error)
            return p;
        if (p > from)
            tcall_scan_bytes_(s, from, (size_t)(p - from));
        c = end - p > 1 && *p == '\\' ? tcall_unescape_(p[1]) : (char)0;
        if (!c)
            break;
        tcall_scan_bytes_(s, &c, 1);
    }
    if (p == end)
        return p;
    if (*p == '"') {
        tcall_scan_string_end_(s);
    } else {
        tcall_scan_flush_(s); /* before what may turn out to be no escape */
        s->state = TCALL_S_ESCAPE_;
    }
    return p + 1;
}

/* Half a character stands by itself. Raw JSON text still has its escape. */
static int tcall_scan_lone_(tcall_scan *s)
{
    if (!s->lone)
        return tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
    s->high = 0;
    s->wide = true;
    tcall_scan_bytes_(s, "\xEF\xBF\xBD", 3);
    s->state = TCALL_S_STRING_;
    return s->error;
}

/* The string ends behind a high surrogate. The next one of its row may begin
 * with the low one: some servers cut the model's words between the two. */
static int tcall_scan_half_(tcall_scan *s)
{
    if (s->split && !s->raw_depth && s->string_mode == TCALL_STRING_VALUE_) {
        s->half = s->high;
        s->half_row = s->row;
        s->high = 0;
    } else {
        tcall_scan_lone_(s);
    }
    if (!s->error)
        tcall_scan_string_end_(s);
    return s->error;
}

/* \uXXXX is complete: a character, or half of one. */
static int tcall_scan_unit_(tcall_scan *s)
{
    char out[4];
    uint32_t cp = s->hex;
    const bool low = cp >= 0xDC00 && cp <= 0xDFFF;
    if (s->high && low) {
        cp = 0x10000 + ((uint32_t)(s->high - 0xD800) << 10) + (cp - 0xDC00);
        s->high = 0;
    } else if ((s->high || low) && tcall_scan_lone_(s) < 0) {
        return s->error;
    } else if (low) {
        return TCALL_OK;
    } else if (cp >= 0xD800 && cp <= 0xDBFF) {
        s->high = s->hex;
        s->state = TCALL_S_LOW_;
        return TCALL_OK;
    }
    tcall_scan_bytes_(s, out, tcall_utf8_(out, cp));
    s->state = TCALL_S_STRING_;
    return s->error;
}

static int tcall_scan_escape_(tcall_scan *s, char c)
{
    char plain;
    int digit;
    if (s->state == TCALL_S_HEX_) {
        digit = tcall_hex_(c);
        if (digit < 0)
            return tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
        s->hex = (uint16_t)(s->hex << 4 | digit);
        return --s->hex_left ? TCALL_OK : tcall_scan_unit_(s);
    }
    if (s->state == TCALL_S_LOW_) {
        if (c == '"')
            return tcall_scan_half_(s);
        s->state = TCALL_S_LOW_U_;
        return TCALL_OK;
    }
    if (c == 'u') {
        s->state = TCALL_S_HEX_;
        s->hex = 0;
        s->hex_left = 4;
        return TCALL_OK;
    }
    if (s->state == TCALL_S_LOW_U_ && tcall_scan_lone_(s) < 0)
        return s->error;
    plain = tcall_unescape_(c);
    if (!plain)
        return tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
    s->state = TCALL_S_STRING_;
    tcall_scan_bytes_(s, &plain, 1);
    return s->error;
}

/* A value ends before p. A comma is taken along if it is there already. */
static inline const char *tcall_scan_next_(tcall_scan *s, const char *p,
                                           const char *end)
{
    tcall_scan_value_end_(s);
    if (p == end || *p != ',' || !s->depth || s->error)
        return p;
    s->state = s->object ? TCALL_S_KEY_ : TCALL_S_VALUE_;
    return p + 1;
}

/* Numbers and literals: as far as they go; from is where this piece begins. */
static inline const char *tcall_scan_word_(tcall_scan *s, const char *from,
                                           const char *p, const char *end)
{
    bool ends = false, wide;
    if (s->state == TCALL_S_NUMBER_) {
        uint8_t state = s->number, next = state;
        while (p < end) {
            if (0x250 >> state & 1) /* digits go on with digits */
                while (p < end && tcall_is_digit_(*p))
                    p++;
            next = p < end ? tcall_number_next_(state, *p) : state;
            if (!next || p == end)
                break;
            state = next;
            p++;
        }
        s->number = state;
        ends = !next;
        if (ends && !tcall_number_ends_(state))
            s->error = TCALL_E_BAD_VALUE;
    } else {
        while (p < end && TCALL_BYTE_(s->lit) && *p == TCALL_BYTE_(s->lit))
            p++, s->lit++;
        ends = !TCALL_BYTE_(s->lit);
        if (p < end && !ends)
            s->error = TCALL_E_BAD_VALUE;
    }
    if (s->error)
        return p;
    wide = s->number > 6 || p - from > 300;
    if (wide || !ends) /* the length of a number in pieces is not known */
        s->wide = true;
    if (s->row != TCALL_SCAN_NONE_) {
        if (p > from)
            tcall_scan_tell_(s, s->row, TCALL_SCAN_DATA, from,
                             (size_t)(p - from));
        if (ends)
            tcall_scan_tell_(s, s->row, TCALL_SCAN_END, p, 0);
    }
    return ends ? tcall_scan_next_(s, p, end) : p;
}

/* A key begins at p. Mostly it is in one piece and plain, and needs no memory;
 * the colon goes with it if it is there already. */
static inline const char *tcall_scan_key_(tcall_scan *s, const char *p,
                                          const char *end)
{
    const char *quote = tcall_plain_(p + 1, end);
    size_t len = (size_t)(quote - p) - 1;
    if (quote == end || *quote != '"') {
        s->state = TCALL_S_STRING_;
        s->string_mode =
            s->at == TCALL_SCAN_NONE_ ? TCALL_STRING_SKIP_ : TCALL_STRING_KEY_;
        return p + 1;
    }
    s->row = len ? tcall_scan_match_(s, s->at, p + 1, len)
                 : (uint8_t)TCALL_SCAN_NONE_;
    s->state = TCALL_S_COLON_;
    if (++quote == end || *quote != ':')
        return quote;
    s->state = TCALL_S_VALUE_;
    return quote + 1;
}

/* The same for a string that is a value. */
static inline const char *tcall_scan_quoted_(tcall_scan *s, const char *p,
                                             const char *end)
{
    const char *quote = tcall_plain_(p + 1, end);
    size_t len = (size_t)(quote - p) - 1;
    tcall_scan_begin_(s, p);
    if (s->half && s->half_row == s->row && !s->raw_depth) {
        s->state = TCALL_S_LOW_;
        s->string_mode = TCALL_STRING_VALUE_;
        s->high = s->half;
        s->half = 0;
        return p + 1;
    }
    if (quote == end || *quote != '"') {
        s->state = TCALL_S_STRING_;
        s->string_mode = s->row == TCALL_SCAN_NONE_ ? TCALL_STRING_UNHEARD_
                                                    : TCALL_STRING_VALUE_;
        return p + 1;
    }
    if (s->row != TCALL_SCAN_NONE_) {
        if (len)
            tcall_scan_tell_(s, s->row, TCALL_SCAN_DATA, p + 1, len);
        tcall_scan_tell_(s, s->row, TCALL_SCAN_END, quote, 0);
    }
    return tcall_scan_next_(s, quote + 1, end);
}

/* A string, a number or a literal begins at p. Returns what is not consumed. */
static inline const char *tcall_scan_scalar_(tcall_scan *s, const char *p,
                                             const char *end)
{
    if (*p == '"')
        return tcall_scan_quoted_(s, p, end);
    tcall_scan_begin_(s, p);
    s->state = TCALL_S_NUMBER_;
    s->number = *p == '-' ? 2 : *p == '0' ? 3 : 4;
    if (!tcall_is_digit_(*p) && *p != '-') {
        s->state = TCALL_S_LITERAL_;
        s->number = 0;
        s->lit = tcall_literal_(*p);
        if (*p != TCALL_BYTE_(s->lit))
            s->error = *p ? TCALL_E_BAD_VALUE : TCALL_E_NUL;
    }
    return s->error ? p : tcall_scan_word_(s, p, p + (s->number != 0), end);
}

/* What stands at p outside of strings, numbers and literals. *raw: start of
 * what is still to be reported of a raw value. */
static inline const char *tcall_scan_mark_(tcall_scan *s, const char *p,
                                           const char *end, const char **raw)
{
    char c = *p;
    int error = TCALL_OK;
    if ((unsigned char)c <= ' ' && tcall_is_space_(c))
        return p + 1;
    switch (s->state) {
    case TCALL_S_FIRST_KEY_:
    case TCALL_S_KEY_:
        if (c == '}' && s->state == TCALL_S_FIRST_KEY_) {
            error = tcall_scan_close_(s, p, raw);
            break;
        }
        if (c != '"') {
            error = TCALL_E_BAD_KEY;
            break;
        }
        p = tcall_scan_key_(s, p, end);
        if (s->state != TCALL_S_VALUE_ || p == end || (unsigned char)*p <= ' ')
            return p;
        c = *p; /* mostly the value follows at once */
        /* fall through */
    case TCALL_S_FIRST_:
    case TCALL_S_VALUE_:
        if (c == '{' || c == '[')
            error = tcall_scan_open_(s, p, raw);
        else if (c == ']' && s->state == TCALL_S_FIRST_)
            error = tcall_scan_close_(s, p, raw);
        else
            return tcall_scan_scalar_(s, p, end);
        break;
    case TCALL_S_COLON_:
        s->state = TCALL_S_VALUE_;
        error = c == ':' ? TCALL_OK : TCALL_E_MISSING_COLON;
        break;
    case TCALL_S_NEXT_:
        if (c == ',')
            s->state = s->object ? TCALL_S_KEY_ : TCALL_S_VALUE_;
        else if (c == '}' || c == ']')
            error = tcall_scan_close_(s, p, raw);
        else
            error = TCALL_E_MISSING_COMMA;
        break;
    default: error = TCALL_E_TRAILING; break;
    }
    if (!error)
        return p + 1;
    s->error = error;
    return p;
}

int tcall_scan_feed(tcall_scan *s, const char *bytes, size_t len)
{
    const char *p = bytes, *end = len ? bytes + len : bytes, *raw = bytes;
    while (p < end && !s->error) {
        if (s->state < TCALL_S_LITERAL_)
            p = tcall_scan_mark_(s, p, end, &raw);
        else if (s->state == TCALL_S_STRING_)
            p = tcall_scan_string_(s, p, end);
        else if (s->state < TCALL_S_STRING_)
            p = tcall_scan_word_(s, p, p, end);
        else if (s->state == TCALL_S_LOW_ && *p != '\\' && *p != '"')
            tcall_scan_lone_(s);
        else if (tcall_scan_escape_(s, *p) == TCALL_OK)
            p++;
    }
    s->pos += (size_t)(p - bytes);
    tcall_scan_flush_(s);
    if (s->raw_depth && !s->error)
        tcall_scan_tell_(s, s->node[s->raw_depth - 1], TCALL_SCAN_DATA, raw,
                         (size_t)(end - raw));
    return s->error;
}

/* Takes a byte that is just content of a string: the short way where bytes come
 * one by one. Returns false for any other. */
TCALL_SHARED_ bool tcall_scan_plain_byte_(tcall_scan *s, const char *byte)
{
    if (s->state != TCALL_S_STRING_ || s->utf.left || s->raw_depth ||
        s->error || tcall_plain_run_(byte, byte + 1) == byte)
        return false;
    tcall_scan_bytes_(s, byte, 1);
    tcall_scan_flush_(s);
    s->pos++;
    return true;
}

int tcall_scan_end(tcall_scan *s)
{
    if (s->error)
        return s->error;
    if (s->state == TCALL_S_NUMBER_ && s->depth == 0 &&
        tcall_number_ends_(s->number)) {
        tcall_scan_tell_(s, s->row, TCALL_SCAN_END, s->piece, 0);
        s->state = TCALL_S_DONE_;
    }
    if (s->state != TCALL_S_DONE_)
        tcall_scan_fail_(s, TCALL_E_TRUNCATED);
    return s->error;
}

/* TCALL_OK when the text is one JSON value. */
TCALL_SHARED_ int tcall_scan_text_(tcall_scan *s, tcall_str text)
{
    tcall_scan_init(s, NULL, NULL, NULL);
    tcall_scan_feed(s, text.ptr, text.len);
    return tcall_scan_end(s);
}

/* The same. */
TCALL_NOINLINE_ TCALL_SHARED_ int tcall_scan_whole_(tcall_str text)
{
    tcall_scan scan;
    return tcall_scan_text_(&scan, text);
}
