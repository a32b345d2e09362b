/* lines.c - see lines.h */
#include "tools/gnu.h"

#include "tools/lines.h"
#include "tools/tool.h"

#include <string.h>

tcall_str ttool_slice_(const char *from, const char *to)
{
    tcall_str s = {from, 0};
    s.len = (size_t)(to - from);
    return s;
}

const char *ttool_line_end_(const char *p, const char *end)
{
    const char *nl =
        p < end ? (const char *)memchr(p, '\n', (size_t)(end - p)) : NULL;
    return nl ? nl + 1 : end;
}

size_t ttool_count_lines_(const char *p, const char *end)
{
    size_t n = 0;
    for (; p < end; n++)
        p = ttool_line_end_(p, end);
    return n;
}

size_t ttool_mark_(tcall_str text)
{
    return text.len >= 3 && memcmp(text.ptr, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

char ttool_ends_(tcall_str text)
{
    size_t len = text.len < 8192 ? text.len : 8192;
    return !memchr(text.ptr, '\n', len) && memchr(text.ptr, '\r', len) ? '\r'
                                                                       : '\n';
}

uint64_t ttool_count_ends_(tcall_str text, char ends)
{
    const char *p = text.ptr + ttool_mark_(text), *end = text.ptr + text.len;
    uint64_t n = 0;
    for (; p < end; n++) {
        p = (const char *)memchr(p, ends, (size_t)(end - p));
        p = p ? p + 1 : end;
    }
    return n;
}

bool ttool_is_binary_(tcall_str text)
{
    return memchr(text.ptr, '\0', text.len < 8192 ? text.len : 8192) != NULL;
}

/* -- Ends of lines -------------------------------------------------------- */

/* Bytes of the end of a line at p, 0: there is none. */
static size_t ttool_end_len_(const char *p, const char *end, char ends)
{
    if (p + 1 < end && p[0] == '\r' && p[1] == '\n')
        return 2;
    return p < end && (*p == '\n' || *p == ends);
}

bool ttool_make_plain_(ttool_workspace *ws, const ttool_old_ *old,
                       tcall_str text, tcall_str *plain)
{
    const char *p = text.ptr, *end = p + text.len;
    char *to;
    p += old->mark ? ttool_mark_(text) : 0;
    *plain = ttool_slice_(p, end);
    if (!plain->len || !memchr(p, '\r', plain->len))
        return true;
    plain->ptr = to = (char *)ttool_take_(ws, plain->len);
    while (to && p < end) {
        size_t n = ttool_end_len_(p, end, old->ends);
        *to++ = n ? '\n' : *p;
        p += n ? n : 1;
    }
    plain->len = to ? (size_t)(to - plain->ptr) : 0;
    return to != NULL;
}

bool ttool_old_init_(ttool_workspace *ws, ttool_old_ *old)
{
    old->mark = ttool_mark_(old->loaded);
    old->ends = ttool_ends_(old->loaded);
    return ttool_make_plain_(ws, old, old->loaded, &old->plain);
}

/* A place in the loaded text, and what it writes to. */
typedef struct ttool_restore_ {
    const ttool_old_ *old;
    const char *at, *end;
    const char *ends; /* the last end of a line before it */
    char *to;
} ttool_restore_;

/* Goes over n characters of the plain text, and copies them as they were. */
static void ttool_restore_same_(ttool_restore_ *s, size_t n, bool copy)
{
    while (n--) {
        size_t len = ttool_end_len_(s->at, s->end, s->old->ends);
        if (len)
            s->ends = s->at;
        len = len ? len : 1;
        if (copy) {
            memcpy(s->to, s->at, len);
            s->to += len;
        }
        s->at += len;
    }
}

/* The next end of a line in the loaded text before `limit`, or NULL. */
static const char *ttool_next_end_(const ttool_restore_ *s, const char *p,
                                   const char *limit)
{
    while (p < limit && !ttool_end_len_(p, s->end, s->old->ends))
        p++;
    return p < limit ? p : NULL;
}

/* Writes a change instead of what is there. Its lines end, one after the other,
 * as those that were there; further ones as the last of these, or as the line
 * that goes on behind it, or the one before. */
static void ttool_restore_change_(ttool_restore_ *s, const ttool_change_ *c)
{
    const char *p = c->text.ptr, *last = p + c->text.len, *was = s->at, *next;
    const char *ends = s->ends;
    ttool_restore_same_(s, c->len, false);
    next = ttool_next_end_(s, s->at, s->end);
    ends = next ? next : ends;
    for (; p < last; p++) {
        size_t len = 1;
        if (*p == '\n') {
            next = was ? ttool_next_end_(s, was, s->at) : NULL;
            ends = next ? next : ends;
            len = ends ? ttool_end_len_(ends, s->end, s->old->ends) : 1;
            was = next ? next + len : NULL;
        }
        memcpy(s->to, *p == '\n' && ends ? ends : p, len);
        s->to += len;
    }
}

bool ttool_apply_(ttool_workspace *ws, const ttool_old_ *old,
                  const ttool_change_ *c, size_t n, tcall_str *text)
{
    ttool_restore_ s;
    size_t i, size = old->loaded.len, from = 0;
    for (i = 0; i < n; i++)
        size += c[i].text.len +
                (size_t)ttool_count_lines_(c[i].text.ptr,
                                           c[i].text.ptr + c[i].text.len);
    s.old = old;
    s.at = old->loaded.ptr + old->mark;
    s.end = old->loaded.ptr + old->loaded.len;
    s.ends = NULL;
    text->ptr = s.to = (char *)ttool_take_(ws, size);
    if (!s.to)
        return false;
    memcpy(s.to, old->loaded.ptr, old->mark);
    s.to += old->mark;
    for (i = 0; i < n; i++, c++) {
        ttool_restore_same_(&s, c->at - from, true);
        ttool_restore_change_(&s, c);
        from = c->at + c->len;
    }
    ttool_restore_same_(&s, old->plain.len - from, true);
    text->len = (size_t)(s.to - text->ptr);
    ws->at.low = s.to;
    return true;
}
