#pragma once
#include "write.h"
#include "json.c"

/* ==========================================================================
 * >>write
 */

void tcall_writer_init(tcall_writer *w, char *buf, size_t cap)
{
    memset(w, 0, sizeof *w);
    w->buf = buf;
    w->cap = cap;
}

void tcall_writer_sink(tcall_writer *w, tcall_sink sink, void *user)
{
    w->sink = sink;
    w->user = user;
}

static void tcall_writer_fail_(tcall_writer *w, int error)
{
    if (!w->error)
        w->error = error;
}

int tcall_writer_flush(tcall_writer *w)
{
    size_t sent = 0;
    while (w->sink && sent < w->fill && !w->error) {
        int n = w->sink(w->user, w->buf + sent, w->fill - sent);
        if (n > 0)
            sent += (size_t)n;
        else
            tcall_writer_fail_(w, n < 0 ? n : TCALL_E_AGAIN);
    }
    if (sent)
        memmove(w->buf, w->buf + sent, w->fill -= sent);
    return w->error;
}

/* A text that is written again, because the sink refused the rest of it, need
 * not be written as a whole: its strings and tools are parts, and those before
 * the one that was refused are left out. All else is written again: it is
 * short, and the writer's state depends on it.
 *
 * Returns whether the part has to be written; then tcall_write_part_end_ has
 * to follow. A part within another one does not count. */
TCALL_SHARED_ bool tcall_write_part_(tcall_writer *w)
{
    tcall_resume_ *resume = w->resume;
    if (resume && !w->in_part) {
        w->parts++;
        if (w->parts < resume->part || w->error)
            return false;
        if (w->parts == resume->part) { /* what was left out counts again */
            w->len = resume->at;
            w->last = resume->last;
        }
        resume->part = w->parts;
        resume->at = w->len;
        resume->last = w->last;
    }
    w->in_part++;
    return true;
}

TCALL_SHARED_ void tcall_write_part_end_(tcall_writer *w)
{
    w->in_part--;
}

/* The one place where bytes leave. */
static void tcall_write_out_(tcall_writer *w, const char *p, size_t n)
{
    size_t stored = w->resume ? w->resume->stored : 0;
    size_t skip = stored > w->len ? stored - w->len : 0;
    w->len += n;
    if (skip >= n)
        return;
    p += skip;
    n -= skip;
    while (!w->error) {
        size_t room = w->cap - w->fill;
        room = room < n ? room : n;
        if (room == 1)
            w->buf[w->fill] = *p;
        else if (room)
            memcpy(w->buf + w->fill, p, room);
        w->fill += room;
        p += room;
        n -= room;
        if (!n || (!w->sink && !w->buf))
            break;
        if (w->sink)
            tcall_writer_flush(w);
        else
            tcall_writer_fail_(w, TCALL_E_MEMORY);
    }
}

/* Bytes of the UTF-8 character at p, 0 when it is none. */
TCALL_SHARED_ size_t tcall_utf8_len_(const char *p, const char *end)
{
    tcall_utf_ u = {0, 0, 0};
    size_t n = 0;
    do {
        if (p + n == end || !tcall_utf8_step_(&u, (unsigned char)p[n]))
            return 0;
        n++;
    } while (u.left);
    return n;
}

/* As the content of a JSON string; what is not UTF-8 becomes U+FFFD. Twice:
 * as that of a string within a string. */
static void tcall_write_escaped_(tcall_writer *w, const char *p, size_t n,
                                 bool twice)
{
    const char *end = n ? p + n : p;
    if (!tcall_write_part_(w))
        return;
    while (p < end) {
        static const char pairs[] = "\"\"\\\\\bb\ff\nn\rr\tt";
        const char *run = p, *at;
        char out[6] = {'\\', 'u', '0', '0', '0', '0'};
        for (;;) {
            size_t wide;
            p = tcall_plain_(p, end);
            wide = p < end && *p & 0x80 ? tcall_utf8_len_(p, end) : 0;
            if (!wide)
                break;
            p += wide;
        }
        tcall_write_out_(w, run, (size_t)(p - run));
        if (p == end)
            break;
        at = *p ? strchr(pairs, *p) : NULL;
        if (*p & 0x80) {
            memcpy(out + 2, "fffd", 4);
        } else if (at) {
            out[1] = at[1];
        } else {
            out[4] = (char)('0' + (*p >> 4));
            out[5] = "0123456789abcdef"[*p & 15];
        }
        if (twice) /* the backslash, and a quote or backslash behind it */
            tcall_write_out_(w, "\\\\", 1u + (out[1] == '"' || out[1] == '\\'));
        tcall_write_out_(w, out, at ? 2 : 6);
        p++;
    }
    tcall_write_part_end_(w);
}

int tcall_write_bytes(tcall_writer *w, const char *bytes, size_t len)
{
    if (len) {
        w->last = bytes[len - 1];
        if (w->quoted)
            tcall_write_escaped_(w, bytes, len, false);
        else
            tcall_write_out_(w, bytes, len);
    }
    return w->error;
}

int tcall_write_text(tcall_writer *w, const char *text)
{
    return tcall_write_bytes(w, text, strlen(text));
}

TCALL_SHARED_ int tcall_write_char_(tcall_writer *w, char c)
{
    return tcall_write_bytes(w, &c, 1);
}

/* A value begins: a comma stands before it unless it is the first. */
TCALL_SHARED_ void tcall_write_comma_(tcall_writer *w)
{
    if (w->depth && w->last && w->last != '{' && w->last != '[' &&
        w->last != ':')
        tcall_write_char_(w, ',');
}

int tcall_write_open(tcall_writer *w, char bracket)
{
    tcall_write_comma_(w);
    w->depth++;
    return tcall_write_char_(w, bracket);
}

int tcall_write_close(tcall_writer *w, char bracket)
{
    w->depth--;
    return tcall_write_char_(w, bracket);
}

/* Inside quoted output the string's own escapes are escaped once more. */
TCALL_SHARED_ void tcall_write_content_(tcall_writer *w, tcall_str text)
{
    tcall_write_escaped_(w, text.ptr, text.len, w->quoted);
}

int tcall_write_str(tcall_writer *w, tcall_str text)
{
    tcall_write_comma_(w);
    tcall_write_char_(w, '"');
    tcall_write_content_(w, text);
    return tcall_write_char_(w, '"');
}

int tcall_write_string(tcall_writer *w, const char *text)
{
    return tcall_write_str(w, tcall_str_of(text));
}

int tcall_write_key(tcall_writer *w, const char *key)
{
    tcall_write_string(w, key);
    return tcall_write_char_(w, ':');
}

int tcall_write_verbatim(tcall_writer *w, tcall_str json)
{
    tcall_write_comma_(w);
    return tcall_write_bytes(w, json.ptr, json.len);
}

/* JSON that is given as a form, with ' for the quotes, up to a % or its end. */
TCALL_SHARED_ const char *tcall_write_plain_(tcall_writer *w, const char *form)
{
    for (; *form && *form != '%'; form++)
        tcall_write_char_(w, *form == '\'' ? '"' : *form);
    return form;
}

/* Such a form; each % is the content of a string, first a and then b. */
TCALL_SHARED_ void tcall_write_texts_(tcall_writer *w, const char *form,
                                      const char *a, const char *b)
{
    tcall_write_comma_(w);
    while (*(form = tcall_write_plain_(w, form))) {
        tcall_write_content_(w, tcall_str_of(a));
        a = b;
        form++;
    }
}

int tcall_write_fixed(tcall_writer *w, long value, int decimals)
{
    char out[32], *p = out + sizeof out;
    unsigned long v =
        value < 0 ? 0UL - (unsigned long)value : (unsigned long)value;
    int digits = 0;
    do {
        if (digits && digits == decimals)
            *--p = '.';
        *--p = (char)('0' + v % 10);
        v /= 10;
        digits++;
    } while ((v || digits <= decimals) && p > out + 2);
    if (value < 0)
        *--p = '-';
    return tcall_write_verbatim(
        w, tcall_slice_(p, (size_t)(out + sizeof out - p)));
}

int tcall_write_int(tcall_writer *w, long value)
{
    return tcall_write_fixed(w, value, 0);
}

int tcall_write_bool(tcall_writer *w, bool value)
{
    return tcall_write_verbatim(w, tcall_str_of(value ? "true" : "false"));
}

int tcall_write_null(tcall_writer *w)
{
    return tcall_write_verbatim(w, tcall_str_of("null"));
}

int tcall_write_quote(tcall_writer *w)
{
    tcall_write_comma_(w);
    tcall_write_char_(w, '"');
    w->quoted = 1;
    w->last = 0;
    return w->error;
}

int tcall_write_unquote(tcall_writer *w)
{
    w->quoted = 0;
    return tcall_write_char_(w, '"');
}

/* What checking with coercion decided about a value (tcall_tok.mark). */
enum {
    TCALL_MARK_NONE_,
    TCALL_MARK_DROP_,   /* null for an optional member: leave it out */
    TCALL_MARK_JSON_,   /* a string whose content is the JSON that was meant */
    TCALL_MARK_LITERAL_ /* the string "True" or "False": a boolean */
};

/* A scalar or a key as JSON text. */
TCALL_SHARED_ void tcall_write_scalar_(tcall_writer *w, const char *text,
                                       const tcall_tok *t)
{
    tcall_str s = tcall_tok_str_(text, t);
    if (t->mark == TCALL_MARK_LITERAL_)
        s = *s.ptr == 'T' ? tcall_slice_("true", 4) : tcall_slice_("false", 5);
    else if ((t->type & TCALL_TYPE_) == TCALL_STRING &&
             t->mark != TCALL_MARK_JSON_) {
        tcall_write_str(w, s);
        return;
    }
    tcall_write_verbatim(w, s);
}

/* No recursion: the last value of a container closes it, and then perhaps the
 * one around it; flags remembers that of each open one. */
int tcall_write_json(tcall_writer *w, tcall_json value)
{
    uint8_t flags[TOOLCALL_MAX_DEPTH];
    const tcall_tok *t = value.tok;
    int depth = 0;
    if (!t)
        return tcall_write_null(w);
    for (;; t++) {
        int type = t->type & TCALL_TYPE_, f = t->type;
        if (type >= TCALL_ARRAY) {
            tcall_write_open(w, type == TCALL_OBJECT ? '{' : '[');
            if (t->span > 1 && depth < TOOLCALL_MAX_DEPTH) {
                flags[depth++] = (uint8_t)f;
                continue;
            }
            tcall_write_close(w, type == TCALL_OBJECT ? '}' : ']');
        } else if (f & TCALL_KEY_ && t[1].mark == TCALL_MARK_DROP_) {
            f = (++t)->type;
        } else {
            tcall_write_scalar_(w, value.text, t);
            if (f & TCALL_KEY_) {
                tcall_write_char_(w, ':');
                continue;
            }
        }
        while (depth && f & TCALL_LAST_) {
            tcall_write_close(w, f & TCALL_MEMBER_ ? '}' : ']');
            f = flags[--depth];
        }
        if (!depth)
            return w->error;
    }
}
