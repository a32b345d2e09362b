/* files.c - see files.h */
#include "tools/gnu.h"

#include "tools/files.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TTOOL_MAX_LINE_  2000      /* bytes of a line that are shown */
#define TTOOL_MAX_STEPS_ 100000000 /* comparisons of one edit */

static tcall_str ttool_slice_(const char *from, const char *to)
{
    tcall_str s = {from, 0};
    s.len = (size_t)(to - from);
    return s;
}

/* One past the newline that ends the line at p. */
static const char *ttool_line_end_(const char *p, const char *end)
{
    const char *nl =
        p < end ? (const char *)memchr(p, '\n', (size_t)(end - p)) : NULL;
    return nl ? nl + 1 : end;
}

static size_t ttool_count_lines_(const char *p, const char *end)
{
    size_t n = 0;
    for (; p < end; n++)
        p = ttool_line_end_(p, end);
    return n;
}

/* Bytes of the byte order mark that a text begins with. */
static size_t ttool_mark_(tcall_str text)
{
    return text.len >= 3 && memcmp(text.ptr, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* What ends the lines of a text: a carriage return where its beginning has no
 * line feed, else a line feed, perhaps with a carriage return before it. */
static char ttool_ends_(tcall_str text)
{
    size_t len = text.len < 8192 ? text.len : 8192;
    return !memchr(text.ptr, '\n', len) && memchr(text.ptr, '\r', len) ? '\r'
                                                                       : '\n';
}

static uint64_t ttool_count_ends_(tcall_str text, char ends)
{
    const char *p = text.ptr + ttool_mark_(text), *end = text.ptr + text.len;
    uint64_t n = 0;
    for (; p < end; n++) {
        p = (const char *)memchr(p, ends, (size_t)(end - p));
        p = p ? p + 1 : end;
    }
    return n;
}

static bool ttool_is_binary_(tcall_str text)
{
    return memchr(text.ptr, '\0', text.len < 8192 ? text.len : 8192) != NULL;
}

/* -- Finding the file of an argument -------------------------------------- */

/* A file with several names may be somebody's outside: see workspace.h. */
static int ttool_one_name_(tcall_ctx *cx, const ttool_place *at,
                           tcall_writer *out)
{
    const ttool_workspace *ws = (const ttool_workspace *)cx->user;
    return ttool_has_names_(ws, &at->st)
               ? ttool_fail_(cx, out, TCALL_E_DENIED, at->path,
                             "has several names (hard links), perhaps outside"
                             "\nLeave it, or ask the user for a copy.")
               : TCALL_OK;
}

/* A regular file that may be read, perhaps after a yes. */
static int ttool_find_file_(tcall_ctx *cx, tcall_str path, ttool_place *at,
                            tcall_writer *out)
{
    ttool_workspace *ws = (ttool_workspace *)cx->user;
    int r = ttool_find_there_(cx, ws, path, TTOOL_FILE_, at, out);
    if (r < 0)
        return r;
    if (!S_ISREG(at->st.st_mode))
        return ttool_fail_(cx, out, TCALL_E_FAILED, at->path,
                           ttool_kind_(at->st.st_mode));
    r = ttool_one_name_(cx, at, out);
    if (r < 0)
        return r;
    if (ttool_guards_(at->path) & TTOOL_SECRET_)
        return ttool_ask_(cx, out, at->path,
                          "has the name of a secret, and was not approved"
                          "\nDo without it.");
    return TCALL_OK;
}

/* -- read ----------------------------------------------------------------- */

/* The lines of a file, which comes in pieces that end anywhere. */
typedef struct ttool_read_ {
    ttool_workspace *ws;
    tcall_writer *out;
    size_t start;                   /* where the result began in out */
    uint64_t from, end;             /* lines wanted: [from, end) */
    char ends;                      /* what ends a line */
    uint64_t line;                  /* number of the line at hand, from 1 */
    uint64_t first, shown;          /* that were shown */
    char head[TTOOL_MAX_LINE_ + 4]; /* as much of it as may be shown */
    size_t head_len;
    uint64_t len; /* of all of it */
    char last;    /* character of it */
    bool full, foreign, crlf;
} ttool_read_;

/* Shows the line at hand; false: no room. */
static bool ttool_read_show_(ttool_read_ *s)
{
    char number[24];
    size_t room = ttool_room_(s->ws, s->out, s->start), show, n;
    show = s->len < TTOOL_MAX_LINE_ ? (size_t)s->len : TTOOL_MAX_LINE_;
    if (room < show + 64) {
        if (s->shown || room < 64)
            return false;
        show = room - 64; /* of the first line as much as can be */
    }
    while (show < s->len && show > 0 && (s->head[show] & 0xC0) == 0x80)
        show--;
    n = (size_t)snprintf(number, sizeof number, "%6llu\t",
                         (unsigned long long)s->line);
    tcall_write_bytes(s->out, number, n);
    s->foreign |= !ttool_write_content_(s->out, s->head, show);
    tcall_write_text(s->out, "\n");
    if (show < s->len) { /* at the start of a line, where no file can say it */
        tcall_write_text(s->out, "[line cut: ");
        ttool_text_int_(s->out, s->len - show);
        tcall_write_text(s->out, " bytes more]\n");
    }
    s->first = s->shown ? s->first : s->line;
    s->shown = s->line;
    return true;
}

static void ttool_read_end_line_(ttool_read_ *s)
{
    if (s->line >= s->from && !s->full) {
        if (s->len && s->last == '\r') {
            s->crlf = true;
            s->len--;
        }
        s->full = !ttool_read_show_(s);
    }
    s->line++;
    s->full |= s->line >= s->end;
    s->head_len = 0;
    s->len = 0;
}

static void ttool_read_piece_(ttool_read_ *s, const char *p, const char *end)
{
    while (p < end && !s->full) {
        const char *stop = (const char *)memchr(p, s->ends, (size_t)(end - p));
        size_t len = (size_t)((stop ? stop : end) - p);
        size_t keep = sizeof s->head - s->head_len;
        keep = keep < len ? keep : len;
        if (s->line >= s->from)
            memcpy(s->head + s->head_len, p, keep);
        s->head_len += keep;
        s->len += len;
        s->last = len ? p[len - 1] : s->last;
        p += len + (stop != NULL);
        if (stop)
            ttool_read_end_line_(s);
    }
}

/* The file has ended, perhaps within a line. */
static void ttool_read_finish_(ttool_read_ *s)
{
    if (s->len && !s->full)
        ttool_read_end_line_(s);
}

/* A file that is too large to be kept: as far as it is wanted. */
static int ttool_read_large_(ttool_read_ *s, tcall_ctx *cx,
                             const ttool_place *at)
{
    size_t cap = s->ws->desc.memory_size / 8;
    uint64_t left = at->st.st_size ? (uint64_t)at->st.st_size : UINT64_MAX;
    char *buf = (char *)ttool_take_(s->ws, cap);
    int fd = buf ? ttool_open_file_(s->ws, at, O_RDONLY) : -1;
    ssize_t n = 0;
    if (fd < 0)
        return buf ? errno : EFBIG;
    while (!s->full && left) {
        n = ttool_fill_(fd, buf, cap < left ? cap : (size_t)left);
        if (n <= 0)
            break;
        left -= (uint64_t)n;
        ttool_read_piece_(s, buf, buf + n);
        if (!ttool_goes_on_(s->ws, cx, s->line, "lines")) {
            ttool_read_finish_(s);
            s->full = true;
        }
    }
    if (n >= 0)
        ttool_read_finish_(s);
    n = n < 0 ? errno : 0;
    close(fd);
    return (int)n;
}

/* What was left out, and how to get it. total: lines, 0: not known. */
static void ttool_read_notices_(const ttool_read_ *s, uint64_t total)
{
    tcall_writer *out = s->out;
    if (total && s->from > total) {
        tcall_write_text(out, "[there are only ");
        ttool_text_int_(out, total);
        tcall_write_text(out, " lines]\n");
    } else if (s->shown ? s->shown != total : s->full) {
        tcall_write_text(out, "[cut at line ");
        ttool_text_int_(out, s->shown);
        if (total) {
            tcall_write_text(out, " of ");
            ttool_text_int_(out, total);
        }
        tcall_write_text(out, ": use offset=");
        ttool_text_int_(out, s->shown ? s->shown + 1 : s->from);
        tcall_write_text(out, " for more]\n");
    }
    if (s->crlf)
        ttool_notice_(out, "lines end in CR LF, which stays");
    if (s->ends == '\r')
        ttool_notice_(out, "lines end in CR, which stays");
    if (s->foreign)
        ttool_notice_(out, "not UTF-8 everywhere: such bytes are shown as "
                           "\xEF\xBF\xBD");
}

/* The first bytes of a file that is too large to be loaded. */
static int ttool_read_head_(ttool_workspace *ws, const ttool_place *at,
                            tcall_str *text)
{
    size_t cap = 8192;
    char *buf = (char *)ttool_take_(ws, cap);
    int fd = buf ? ttool_open_file_(ws, at, O_RDONLY) : -1;
    ssize_t n;
    int number;
    if (fd < 0)
        return buf ? errno : EFBIG;
    n = ttool_fill_(fd, buf, cap);
    number = n < 0 ? errno : 0;
    close(fd);
    *text = ttool_slice_(buf, buf + (n > 0 ? n : 0));
    return number;
}

static int ttool_read_file_(ttool_read_ *s, tcall_ctx *cx, tcall_str path,
                            uint64_t limit)
{
    ttool_workspace *ws = s->ws;
    tcall_writer *out = s->out;
    ttool_place *at = (ttool_place *)ttool_take_(ws, sizeof *at);
    tcall_str text = {"", 0};
    uint64_t total;
    bool whole;
    int number, r = at ? ttool_find_file_(cx, path, at, out) : TCALL_E_MEMORY;
    if (r < 0)
        return r;
    number = ttool_load_(ws, at, &text);
    whole = number == 0;
    if (number == EFBIG)
        number = ttool_read_head_(ws, at, &text);
    if (number)
        return ttool_fail_errno_(cx, out, at->path, number);
    tcall_write_text(out, "=== ");
    ttool_write_path_(out, at->path);
    tcall_write_text(out, " (");
    ttool_text_int_(out, (uint64_t)at->st.st_size);
    tcall_write_text(out, " bytes, about ");
    ttool_text_int_(out, ((uint64_t)at->st.st_size + 3) / 4);
    tcall_write_text(out, " tokens) ===\n");
    if (!text.len)
        ttool_notice_(out, "empty");
    if (ttool_is_binary_(text)) {
        ttool_notice_(out, "binary: not shown");
        return TCALL_OK;
    }
    s->line = 1;
    s->end = s->from + limit;
    s->ends = ttool_ends_(text);
    s->first = s->shown = 0;
    s->head_len = 0;
    s->len = 0;
    s->full = s->foreign = s->crlf = false;
    if (whole) {
        ttool_read_piece_(s, text.ptr + ttool_mark_(text), text.ptr + text.len);
        ttool_read_finish_(s);
    } else {
        number = ttool_read_large_(s, cx, at);
    }
    if (number)
        return ttool_fail_errno_(cx, out, at->path, number);
    total = whole     ? ttool_count_ends_(text, s->ends)
            : s->full ? 0
                      : s->line - 1;
    ttool_read_notices_(s, total);
    if (ttool_mark_(text))
        ttool_notice_(out, "begins with a byte order mark, which stays");
    if (whole)
        ttool_file_read_lines(&ws->files, tcall_str_of(at->path), text,
                              s->shown ? s->first : 1, s->shown, total);
    return TCALL_OK;
}

static int ttool_read_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    tcall_json paths = tcall_json_get(args, "file_paths"), path;
    int64_t limit = tcall_json_int64(tcall_json_get(args, "limit"), 2000);
    int count = tcall_json_count(paths), good = 0, r = TCALL_OK;
    ttool_read_ s;
    char *low;
    memset(&s, 0, sizeof s);
    s.ws = ttool_begin_((ttool_workspace *)cx->user);
    s.out = out;
    s.start = out->len;
    s.from = (uint64_t)tcall_json_int64(tcall_json_get(args, "offset"), 1);
    low = s.ws->at.low;
    ttool_title_(cx, "Read ", tcall_json_str(tcall_json_first(paths)));
    for (path = tcall_json_first(paths); path.tok;
         path = tcall_json_next(path)) {
        size_t before = out->len;
        if (count > 1 && ttool_room_(s.ws, out, s.start) < 128) {
            ttool_notice_(out, "the files after this did not fit: read them "
                               "with another call");
            break;
        }
        r = ttool_read_file_(&s, cx, tcall_json_str(path),
                             limit ? (uint64_t)limit : UINT64_MAX / 2);
        s.ws->at.low = low;
        if (r == TCALL_E_APPROVAL || (r < 0 && count == 1))
            return r;
        good += r >= 0;
        if (r >= 0)
            continue;
        tcall_write_text(out, out->len > before ? "; " : "not read; ");
        if (cx->result.suggestion)
            tcall_write_text(out, cx->result.suggestion);
        cx->result.suggestion = NULL;
        tcall_write_text(out, "\n");
    }
    ttool_counted_(cx, (uint64_t)good, good < count);
    r = good ? TCALL_OK : r;
    return cx->stop ? ttool_end_(cx) : r;
}

/* -- Changing text -------------------------------------------------------- */

/* One place in the old text, and what comes there. */
typedef struct ttool_change_ {
    size_t at, len;
    tcall_str text;
} ttool_change_;

/* Whole lines that are the same at both ends are no change. */
static void ttool_trim_(const char *old, ttool_change_ *c)
{
    const char *a = old + c->at, *b = c->text.ptr;
    size_t n = c->len < c->text.len ? c->len : c->text.len, head = 0, tail = 0;
    while (head < n && a[head] == b[head])
        head++;
    while (head && a[head - 1] != '\n')
        head--;
    while (tail < n - head && a[c->len - tail - 1] == b[c->text.len - tail - 1])
        tail++;
    while (tail && a + c->len - tail > old && a[c->len - tail - 1] != '\n')
        tail--;
    c->at += head;
    c->len -= head + tail;
    c->text = ttool_slice_(b + head, b + c->text.len - tail);
}

typedef struct ttool_diff_ {
    tcall_writer *out; /* NULL: only count */
    tcall_str old;
    size_t removed, added, both; /* lines */
    bool fresh;                  /* at the start of a line */
    size_t room;
} ttool_diff_;

static void ttool_diff_text_(ttool_diff_ *d, char sign, const char *p,
                             const char *end)
{
    while (p < end) {
        const char *next = ttool_line_end_(p, end);
        if (d->fresh && d->out)
            tcall_write_bytes(d->out, &sign, 1);
        if (d->fresh)
            *(sign == '-'   ? &d->removed
              : sign == '+' ? &d->added
                            : &d->both) += 1;
        if (d->out)
            ttool_write_content_(d->out, p, (size_t)(next - p));
        d->fresh = next[-1] == '\n';
        p = next;
    }
}

/* A text ended; perhaps its last line has no newline. */
static void ttool_diff_end_(ttool_diff_ *d)
{
    if (!d->fresh && d->out)
        tcall_write_text(d->out, "\n\\ No newline at end of file\n");
    d->fresh = true;
}

/* Lines of the old text that a change touches: [*from, *to). */
static void ttool_diff_lines_(const ttool_diff_ *d, const ttool_change_ *c,
                              size_t *from, size_t *to)
{
    const char *old = d->old.ptr, *end = old + d->old.len;
    const char *at = old + c->at, *behind = at + c->len;
    const char *start = ttool_line_start_(old, at);
    bool clean = behind == old || behind[-1] == '\n';
    if (c->text.len)
        clean = clean && c->text.ptr[c->text.len - 1] == '\n';
    else
        clean = clean && at == start;
    *from = (size_t)(start - old);
    *to = (size_t)((clean ? behind : ttool_line_end_(behind, end)) - old);
}

/* n lines further, or back. */
static size_t ttool_diff_move_(const ttool_diff_ *d, size_t at, int n)
{
    const char *old = d->old.ptr, *end = old + d->old.len, *p = old + at;
    for (; n > 0; n--)
        p = ttool_line_end_(p, end);
    for (; n < 0 && p > old; n++)
        p = ttool_line_start_(old, p - 1);
    return (size_t)(p - old);
}

/* The body of one hunk, from line `from` on: changes up to `last`, which are
 * near each other. Returns how many there were. */
static size_t ttool_diff_hunk_(ttool_diff_ *d, const ttool_change_ *c,
                               const ttool_change_ *last, size_t from)
{
    const char *old = d->old.ptr;
    const ttool_change_ *first = c;
    size_t at = from, start, end, more, next_start;
    for (;;) {
        const ttool_change_ *block = c;
        ttool_diff_lines_(d, c, &start, &end);
        while (c + 1 < last) { /* others in the same lines */
            ttool_diff_lines_(d, c + 1, &next_start, &more);
            if (next_start >= end)
                break;
            end = more;
            c++;
        }
        ttool_diff_text_(d, ' ', old + at, old + start);
        ttool_diff_text_(d, '-', old + start, old + end);
        ttool_diff_end_(d);
        for (at = start; block <= c; block++) {
            ttool_diff_text_(d, '+', old + at, old + block->at);
            ttool_diff_text_(d, '+', block->text.ptr,
                             block->text.ptr + block->text.len);
            at = block->at + block->len;
        }
        ttool_diff_text_(d, '+', old + at, old + end);
        ttool_diff_end_(d);
        at = end;
        c++;
        end = ttool_diff_move_(d, at, 3);
        if (c < last) {
            ttool_diff_lines_(d, c, &start, &more);
            if (start <= ttool_diff_move_(d, end, 3))
                continue;
        }
        ttool_diff_text_(d, ' ', old + at, old + end);
        ttool_diff_end_(d);
        return (size_t)(c - first);
    }
}

/* Lines from `line` on: "3,2", of one "3", of none "2,0". */
static void ttool_write_range_(tcall_writer *out, size_t line, size_t count)
{
    ttool_text_int_(out, count ? line : line - 1);
    if (count == 1)
        return;
    tcall_write_text(out, ",");
    ttool_text_int_(out, count);
}

/* Unified diff of the changes, which are in order: as many hunks as fit. */
static void ttool_write_diff_(tcall_writer *out, const char *path,
                              tcall_str old, const ttool_change_ *changes,
                              size_t count)
{
    const ttool_change_ *c = changes, *last = c + count;
    size_t line = 1, counted = 0, added = 0, removed = 0, start, end;
    tcall_writer fits;
    ttool_diff_ d;
    memset(&d, 0, sizeof d);
    d.old = old;
    d.fresh = true;
    tcall_write_text(out, "--- ");
    ttool_write_path_(out, path);
    tcall_write_text(out, "\n+++ ");
    ttool_write_path_(out, path);
    tcall_write_text(out, "\n");
    while (c < last) {
        size_t n, was, is;
        ttool_diff_lines_(&d, c, &start, &end);
        start = ttool_diff_move_(&d, start, -3);
        line += ttool_count_lines_(old.ptr + counted, old.ptr + start);
        counted = start;
        d.out = NULL;
        d.removed = d.added = d.both = 0;
        fits = *out;
        n = ttool_diff_hunk_(&d, c, last, start);
        was = d.both + d.removed;
        is = d.both + d.added;
        tcall_write_text(out, "@@ -");
        ttool_write_range_(out, line, was);
        tcall_write_text(out, " +");
        ttool_write_range_(out, line + added - removed, is);
        tcall_write_text(out, " @@\n");
        added += d.added;
        removed += d.removed;
        d.out = out;
        ttool_diff_hunk_(&d, c, last, start);
        if (out->cap - out->fill < 64) {
            *out = fits;
            tcall_write_text(out, "[diff cut]\n");
            return;
        }
        c += n;
    }
}

/* -- Ends of lines -------------------------------------------------------- */

/* The content of a file, "" if there is none. Models write line feeds, so it is
 * looked at and changed without its mark and with line feeds alone; where they
 * are new, the file gets ends of lines like those around them. */
typedef struct ttool_old_ {
    tcall_str loaded, plain;
    size_t mark; /* bytes of the byte order mark */
    char ends;   /* see ttool_ends_ */
} ttool_old_;

/* Bytes of the end of a line at p, 0: there is none. */
static size_t ttool_end_len_(const char *p, const char *end, char ends)
{
    if (p + 1 < end && p[0] == '\r' && p[1] == '\n')
        return 2;
    return p < end && (*p == '\n' || *p == ends);
}

/* A text as `plain`, without a mark where the file has one. */
static bool ttool_make_plain_(ttool_workspace *ws, const ttool_old_ *old,
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

static bool ttool_old_init_(ttool_workspace *ws, ttool_old_ *old)
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

/* The whole text with its changes, which are in order. */
static bool ttool_apply_(ttool_workspace *ws, const ttool_old_ *old,
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

/* -- What was done -------------------------------------------------------- */

/* What was done, for people and programs: the diff. */
static int ttool_describe_(tcall_ctx *cx, const ttool_place *at, tcall_str old,
                           tcall_str text, const ttool_change_ *changes,
                           size_t count)
{
    ttool_workspace *ws = (ttool_workspace *)cx->user;
    tcall_writer w;
    tcall_str json;
    tcall_writer_init(&w, ws->at.low, (size_t)(ws->at.high - ws->at.low));
    tcall_write_open(&w, '{');
    tcall_write_key(&w, "path");
    tcall_write_string(&w, at->path);
    tcall_write_key(&w, "created");
    tcall_write_bool(&w, !at->exists);
    tcall_write_key(&w, "bytes");
    tcall_write_int(&w, (long)text.len);
    tcall_write_key(&w, "changes");
    tcall_write_int(&w, (long)count);
    tcall_write_key(&w, "diff");
    tcall_write_quote(&w);
    if (at->exists && count)
        ttool_write_diff_(&w, at->path, old, changes, count);
    tcall_write_unquote(&w);
    if (tcall_write_close(&w, '}') < 0)
        return w.error;
    json.ptr = w.buf;
    json.len = w.fill;
    return tcall_set_result(cx, tcall_str_of(""), json);
}

/* Writes the file and the result. */
static int ttool_change_file_(tcall_ctx *cx, const ttool_place *at,
                              const ttool_old_ *old, tcall_str text,
                              const ttool_change_ *changes, size_t count,
                              tcall_writer *out)
{
    ttool_workspace *ws = (ttool_workspace *)cx->user;
    bool changed;
    int number = ttool_replace_(ws, at, old->loaded, text, &changed);
    if (changed)
        ttool_file_written(&ws->files, tcall_str_of(at->path), text);
    if (number && changed)
        return ttool_fail_(cx, out, TCALL_E_FAILED, at->path,
                           "was written, but may not survive a power loss");
    if (number)
        return ttool_fail_errno_(cx, out, at->path, number);
    tcall_write_text(out, at->exists ? "changed " : "created ");
    ttool_write_path_(out, at->path);
    tcall_write_text(out, ": ");
    ttool_text_int_(out, count);
    tcall_write_text(out, count == 1 ? " place, " : " places, ");
    ttool_text_int_(out, text.len);
    tcall_write_text(out, " bytes");
    if (ttool_describe_(cx, at, old->plain, text, changes, count) < 0)
        tcall_write_text(out, "; no memory for a diff");
    return TCALL_OK;
}

/* May the process write to the file itself? To rename another one over it the
 * system asks only for the directory. Returns 0 or an errno. */
static int ttool_writable_(const ttool_workspace *ws, const ttool_place *at)
{
    int fd = ttool_open_file_(ws, at, O_WRONLY);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* Finds a file that is to be changed: what is there must be a regular file
 * with one name; a yes where the name asks for it. */
static int ttool_find_target_(tcall_ctx *cx, tcall_str path, ttool_place *at,
                              tcall_writer *out)
{
    const ttool_workspace *ws = (const ttool_workspace *)cx->user;
    char given[128];
    int number = ttool_find_(ws, at, path);
    if (number)
        return ttool_fail_errno_(
            cx, out, ttool_given_(given, sizeof given, path), number);
    if (!*at->path)
        return ttool_fail_(cx, out, TCALL_E_FAILED, "",
                           "the path is that of the workspace itself"
                           "\nName a file in it.");
    if (at->exists && !S_ISREG(at->st.st_mode))
        return ttool_fail_(cx, out, TCALL_E_FAILED, at->path,
                           ttool_kind_(at->st.st_mode));
    if (!at->exists && ttool_names_dir_(path))
        return ttool_fail_errno_(
            cx, out, ttool_given_(given, sizeof given, path), EISDIR);
    if (at->exists && ttool_one_name_(cx, at, out) < 0)
        return TCALL_E_DENIED;
    number = at->exists ? ttool_writable_(ws, at) : 0;
    if (number)
        return ttool_fail_errno_(cx, out, at->path, number);
    if (ttool_guards_(at->path))
        return ttool_ask_(cx, out, at->path,
                          "is a secret or is run by other programs, and was "
                          "not approved\nTell the user what to change there.");
    return TCALL_OK;
}

#define TTOOL_READ_FIRST_ \
    "\nCall read with this path, then make the call again."

/* Why a file may not be changed as it is, or NULL. */
static const char *ttool_unread_(int check, tcall_str content)
{
    if (check == TCALL_OK)
        return NULL;
    if (ttool_is_binary_(content))
        return "is binary, so it cannot be read, nor changed"
               "\nWrite a new file.";
    if (check == TCALL_E_STALE)
        return "it has changed since it was read" TTOOL_READ_FIRST_;
    return "read it first" TTOOL_READ_FIRST_;
}

/* Loads what is to be changed; it must have been read as it is, for `all` of it
 * to be replaced, all. */
static int ttool_load_read_(tcall_ctx *cx, const ttool_place *at,
                            ttool_old_ *old, bool all, tcall_writer *out)
{
    ttool_workspace *ws = (ttool_workspace *)cx->user;
    tcall_str path = tcall_str_of(at->path);
    const char *why;
    int r, number = ttool_load_(ws, at, &old->loaded);
    if (number == 0 && !ttool_old_init_(ws, old))
        number = EFBIG;
    if (number)
        return ttool_fail_errno_(cx, out, at->path, number);
    r = ttool_file_check(&ws->files, path, old->loaded);
    why = ttool_unread_(r, old->loaded);
    if (all && !why) {
        r = ttool_file_check_all(&ws->files, path, old->loaded);
        why = r < 0 ? "only a part of it was read"
                      "\nRead the rest of it too, or use edit."
                    : NULL;
    }
    return !why || ws->desc.blind_writes
               ? TCALL_OK
               : ttool_fail_(cx, out, r, at->path, why);
}

/* -- write ---------------------------------------------------------------- */

static int ttool_write_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    ttool_workspace *ws = ttool_begin_((ttool_workspace *)cx->user);
    tcall_str content = ttool_arg_(args, "content"), text;
    ttool_place *at = (ttool_place *)ttool_take_(ws, sizeof *at);
    ttool_old_ old;
    ttool_change_ c;
    int r = at ? ttool_find_target_(cx, ttool_arg_(args, "file_path"), at, out)
               : TCALL_E_MEMORY;
    if (r < 0)
        return r;
    ttool_title_(cx, "Write ", tcall_str_of(at->path));
    memset(&old, 0, sizeof old);
    old.loaded = old.plain = tcall_str_of("");
    if (at->exists)
        r = ttool_load_read_(cx, at, &old, true, out);
    else if (tcall_json_bool(tcall_json_get(args, "create_directories"), false))
        r = ttool_make_parents_(ws, at->path);
    else if (!ttool_has_parent_(ws, at->path)) {
        return ttool_fail_(cx, out, TCALL_E_NOT_FOUND, at->path,
                           "no such directory\nSet create_directories.");
    }
    if (r > 0)
        r = ttool_fail_errno_(cx, out, at->path, r);
    if (r < 0)
        return r;
    c.at = 0;
    c.len = old.plain.len;
    c.text = text = content;
    if (at->exists && !ttool_make_plain_(ws, &old, content, &c.text))
        return ttool_fail_errno_(cx, out, at->path, EFBIG);
    ttool_trim_(old.plain.ptr, &c);
    if (at->exists && !ttool_apply_(ws, &old, &c, 1, &text))
        return ttool_fail_errno_(cx, out, at->path, EFBIG);
    return ttool_change_file_(cx, at, &old, text, &c,
                              c.len || c.text.len ? 1 : 0, out);
}

/* -- edit ----------------------------------------------------------------- */

static bool ttool_is_blank_(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool ttool_all_blank_(tcall_str text)
{
    size_t i = 0;
    while (i < text.len &&
           (ttool_is_blank_(text.ptr[i]) || text.ptr[i] == '\n'))
        i++;
    return i == text.len;
}

static size_t ttool_indent_(const char *p, const char *end)
{
    const char *from = p;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return (size_t)(p - from);
}

/* Are two lines the same but for the amount of white space? */
static bool ttool_alike_(const char *a, const char *a_end, const char *b,
                         const char *b_end)
{
    while (a_end > a && (ttool_is_blank_(a_end[-1]) || a_end[-1] == '\n'))
        a_end--;
    while (b_end > b && (ttool_is_blank_(b_end[-1]) || b_end[-1] == '\n'))
        b_end--;
    a += ttool_indent_(a, a_end);
    b += ttool_indent_(b, b_end);
    while (a < a_end && b < b_end) {
        if (ttool_is_blank_(*a) && ttool_is_blank_(*b)) {
            while (ttool_is_blank_(*a))
                a++;
            while (ttool_is_blank_(*b))
                b++;
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return a == a_end && b == b_end;
}

typedef struct ttool_edit_ {
    ttool_workspace *ws;
    tcall_str text, old, with;
    bool tolerant;
    size_t steps;
} ttool_edit_;

/* The next place at or behind p; false: there is none. */
static bool ttool_edit_find_(ttool_edit_ *e, size_t from, ttool_change_ *c)
{
    const char *text = e->text.ptr, *end = text + e->text.len, *p = text + from;
    const char *old_end = e->old.ptr + e->old.len;
    if (!e->tolerant) {
        p = (const char *)memmem(p, (size_t)(end - p), e->old.ptr, e->old.len);
        c->at = p ? (size_t)(p - text) : 0;
        c->len = e->old.len;
        return p != NULL;
    }
    if (p > text && p[-1] != '\n')
        p = ttool_line_end_(p, end);
    for (; p < end; p = ttool_line_end_(p, end)) {
        const char *line = p, *old = e->old.ptr, *next, *old_next;
        while (old < old_end && line < end) {
            next = ttool_line_end_(line, end);
            old_next = ttool_line_end_(old, old_end);
            e->steps += (size_t)(next - line) + 16;
            if (e->steps > TTOOL_MAX_STEPS_)
                return false;
            if (!ttool_alike_(line, next, old, old_next))
                break;
            line = next;
            old = old_next;
        }
        if (old < old_end)
            continue;
        if (old_end[-1] != '\n' && line[-1] == '\n')
            line--;
        c->at = (size_t)(p - text);
        c->len = (size_t)(line - p);
        return true;
    }
    return false;
}

/* The new text as it fits there. Where old is indented unlike the file, each
 * new line gets what the file has in place of old's indentation: where the
 * same line is if it is among the next ones of old, else where the next one
 * is, or the one before if only that is indented like it. */
static bool ttool_edit_fit_(ttool_edit_ *e, ttool_change_ *c)
{
    const char *there = e->text.ptr + c->at, *end = e->text.ptr + e->text.len;
    const char *old = e->old.ptr, *old_end = old + e->old.len;
    const char *p = e->with.ptr, *last = p + e->with.len;
    const char *o_before = old, *t_before = there;
    const char *line = ttool_line_end_(there, end);
    size_t lines = ttool_count_lines_(p, last), widest = 1, mine;
    char *to;
    c->text = e->with;
    if (!e->tolerant)
        return true;
    for (line = there; line < there + c->len; line = ttool_line_end_(line, end))
        if (ttool_indent_(line, end) > widest)
            widest = ttool_indent_(line, end);
    to = (char *)ttool_take_(e->ws, e->with.len + lines * (widest + 1));
    c->text.ptr = to;
    while (to && p < last) {
        const char *next = ttool_line_end_(p, last), *o = old, *t = there;
        bool same = false;
        int look;
        for (look = 0; look < 50 && o < old_end; look++) {
            same = ttool_alike_(p, next, o, ttool_line_end_(o, old_end));
            if (same)
                break;
            o = ttool_line_end_(o, old_end);
            t = ttool_line_end_(t, end);
        }
        if (!same) {
            mine = ttool_indent_(p, next);
            o = old, t = there;
            if (ttool_indent_(o, old_end) != mine &&
                ttool_indent_(o_before, old_end) == mine)
                o = o_before, t = t_before;
        }
        mine = ttool_indent_(o, old_end);
        if ((size_t)(next - p) > mine && memcmp(p, o, mine) == 0) {
            memcpy(to, t, ttool_indent_(t, end));
            to += ttool_indent_(t, end);
            p += mine;
        }
        if (same)
            o_before = o, t_before = t;
        if (same && ttool_line_end_(o, old_end) < old_end) {
            old = ttool_line_end_(o, old_end);
            there = ttool_line_end_(t, end);
        }
        memcpy(to, p, (size_t)(next - p));
        to += next - p;
        p = next;
    }
    c->text.len = to ? (size_t)(to - c->text.ptr) : 0;
    return to != NULL;
}

/* The first max places; how many there are. */
static size_t ttool_edit_places_(ttool_edit_ *e, ttool_change_ *changes,
                                 size_t max)
{
    size_t n = 0, from = 0;
    ttool_change_ c;
    while (from < e->text.len && ttool_edit_find_(e, from, &c)) {
        if (n < max)
            changes[n] = c;
        n++;
        from = c.at + (c.len ? c.len : 1);
    }
    return n;
}

static int ttool_edit_ambiguous_(tcall_ctx *cx, const ttool_edit_ *e,
                                 const char *path, const ttool_change_ *c,
                                 size_t n, tcall_writer *out)
{
    size_t i;
    ttool_fail_(cx, out, TCALL_E_FAILED, path, "old_string is there ");
    ttool_text_int_(out, n);
    tcall_write_text(out, " times, at lines ");
    for (i = 0; i < n && i < 5; i++) {
        tcall_write_text(out, i ? ", " : "");
        ttool_text_int_(out, 1 + ttool_count_lines_(
                                     e->text.ptr,
                                     ttool_line_start_(e->text.ptr,
                                                       e->text.ptr + c[i].at)));
    }
    tcall_write_text(out, n > 5 ? ", ..." : "");
    cx->result.suggestion = "Add lines around it, or set replace_all.";
    return TCALL_E_FAILED;
}

static int ttool_edit_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    bool all = tcall_json_bool(tcall_json_get(args, "replace_all"), false);
    ttool_place *at;
    ttool_change_ *changes;
    tcall_str text;
    ttool_old_ old;
    ttool_edit_ e;
    size_t n, i;
    int r;
    memset(&e, 0, sizeof e);
    e.ws = ttool_begin_((ttool_workspace *)cx->user);
    e.old = ttool_arg_(args, "old_string");
    e.with = ttool_arg_(args, "new_string");
    at = (ttool_place *)ttool_take_(e.ws, sizeof *at);
    if (!at)
        return TCALL_E_MEMORY;
    if (tcall_str_eq(e.old, e.with))
        return ttool_fail_(cx, out, TCALL_E_INVALID, "",
                           "old_string and new_string are the same"
                           "\nThere is nothing to do.");
    r = ttool_find_target_(cx, ttool_arg_(args, "file_path"), at, out);
    if (r == TCALL_OK && !at->exists)
        r = ttool_missing_(cx, e.ws, out, at->path, at, TTOOL_FILE_);
    if (r < 0)
        return r;
    ttool_title_(cx, "Edit ", tcall_str_of(at->path));
    r = ttool_load_read_(cx, at, &old, false, out);
    if (r < 0)
        return r;
    e.text = old.plain;
    if (!ttool_make_plain_(e.ws, &old, e.old, &e.old) ||
        !ttool_make_plain_(e.ws, &old, e.with, &e.with))
        return ttool_fail_errno_(cx, out, at->path, EFBIG);
    n = e.old.len ? ttool_edit_places_(&e, NULL, 0) : 0;
    if (n == 0 && !ttool_all_blank_(e.old)) {
        e.tolerant = true;
        n = ttool_edit_places_(&e, NULL, 0);
    }
    if (e.steps > TTOOL_MAX_STEPS_)
        return ttool_fail_(cx, out, TCALL_E_LIMIT, at->path,
                           "it takes too long to look for old_string"
                           "\nUse fewer lines, copied exactly.");
    if (n == 0) {
        return ttool_fail_(cx, out, TCALL_E_FAILED, at->path,
                           "old_string is not there"
                           "\nCopy it from what read shows, without numbers.");
    }
    changes = (ttool_change_ *)ttool_take_(e.ws, n * sizeof *changes);
    if (!changes)
        return ttool_fail_errno_(cx, out, at->path, EFBIG);
    ttool_edit_places_(&e, changes, n);
    if (n > 1 && !all)
        return ttool_edit_ambiguous_(cx, &e, at->path, changes, n, out);
    for (i = 0; i < n; i++) {
        if (!ttool_edit_fit_(&e, &changes[i]))
            return ttool_fail_errno_(cx, out, at->path, EFBIG);
        ttool_trim_(e.text.ptr, &changes[i]);
    }
    if (!ttool_apply_(e.ws, &old, changes, n, &text))
        return ttool_fail_errno_(cx, out, at->path, EFBIG);
    return ttool_change_file_(cx, at, &old, text, changes, n, out);
}

/* -- list ----------------------------------------------------------------- */

typedef struct ttool_list_ {
    ttool_place at;
    ttool_walk_ walk;
    int depth;
    uint64_t from, limit, passed, shown;
} ttool_list_;

static int ttool_list_begin_(tcall_ctx *cx, void *state, tcall_json args,
                             tcall_writer *out)
{
    ttool_list_ *s = (ttool_list_ *)state;
    ttool_workspace *ws = (ttool_workspace *)cx->user;
    int r = ttool_find_dir_(cx, ws, ttool_arg_(args, "path"), &s->at, out);
    s->from = (uint64_t)tcall_json_int(tcall_json_get(args, "offset"), 1);
    s->limit = (uint64_t)tcall_json_int(tcall_json_get(args, "limit"), 200);
    s->depth = tcall_json_int(tcall_json_get(args, "depth"), 2);
    if (r < 0)
        return r;
    if (!ttool_walk_start_(&s->walk, cx, ws, s->at.path))
        return TCALL_E_MEMORY;
    s->walk.secrets = true; /* names only */
    ttool_title_(cx, "List ", tcall_str_of(*s->at.path ? s->at.path : "."));
    ttool_write_path_(out, *s->at.path ? s->at.path : ".");
    tcall_write_text(out, "/\n");
    return TCALL_OK;
}

static void ttool_list_show_(const ttool_walk_ *w, tcall_writer *out)
{
    int i;
    for (i = 0; i <= w->depth; i++)
        tcall_write_text(out, "  ");
    ttool_write_path_(out, w->name);
    tcall_write_text(out, w->type == TTOOL_DIR_       ? "/\n"
                          : w->type == TTOOL_LINK_TO_ ? " (link)\n"
                          : w->type == TTOOL_OTHER_   ? " (no file)\n"
                                                      : "\n");
}

static int ttool_list_go_on_(void *state, tcall_writer *out)
{
    ttool_list_ *s = (ttool_list_ *)state;
    ttool_walk_ *w = &s->walk;
    bool cut = false;
    while (!cut && ttool_walk_next_(w)) {
        w->enter = w->enter && w->depth + 1 < s->depth;
        cut = s->shown == s->limit || ttool_room_(w->ws, out, 0) < 300;
        if (cut || ++s->passed < s->from)
            continue;
        ttool_list_show_(w, out);
        s->shown++;
    }
    if (w->paused)
        return TCALL_E_AGAIN;
    if (cut) {
        tcall_write_text(out, "[cut after ");
        ttool_text_int_(out, s->passed);
        tcall_write_text(out, " of at least ");
        ttool_text_int_(out, w->seen);
        tcall_write_text(out, " entries: use offset=");
        ttool_text_int_(out, s->passed + 1);
        tcall_write_text(out, " for more, list a directory, or set limit]\n");
    } else if (!s->passed) {
        ttool_notice_(out, "empty");
    } else if (!s->shown) {
        tcall_write_text(out, "[there are only ");
        ttool_text_int_(out, s->passed);
        tcall_write_text(out, " entries]\n");
    }
    return ttool_walk_end_(w, out, s->shown, cut);
}

static int ttool_list_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    static const ttool_pieces_ list = {sizeof(ttool_list_), ttool_list_begin_,
                                       ttool_list_go_on_};
    return ttool_run_pieces_(cx, args, out, &list);
}

/* -- glob ----------------------------------------------------------------- */

typedef struct ttool_found_ {
    int64_t seconds;
    long nanoseconds;
    char *path;
} ttool_found_;

/* Newest first, then by path. */
static int ttool_order_time_(const void *a, const void *b)
{
    const ttool_found_ *x = (const ttool_found_ *)a;
    const ttool_found_ *y = (const ttool_found_ *)b;
    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    if (x->nanoseconds != y->nanoseconds)
        return x->nanoseconds > y->nanoseconds ? -1 : 1;
    return strcmp(x->path, y->path);
}

static int ttool_order_place_(const void *a, const void *b)
{
    const char *x = ((const ttool_found_ *)a)->path;
    const char *y = ((const ttool_found_ *)b)->path;
    return x < y ? -1 : x > y;
}

typedef struct ttool_newest_ {
    ttool_found_ *found;
    size_t count, cap, keep;
    char *text; /* of the paths */
    size_t used, size;
    uint64_t total;
} ttool_newest_;

/* Drops all but the newest, and closes the gaps that this leaves. */
static void ttool_newest_trim_(ttool_newest_ *s)
{
    size_t i;
    ttool_sort_(s->found, s->count, sizeof *s->found, ttool_order_time_);
    s->count = s->count < s->keep ? s->count : s->keep;
    ttool_sort_(s->found, s->count, sizeof *s->found, ttool_order_place_);
    for (i = s->used = 0; i < s->count; i++) {
        size_t len = strlen(s->found[i].path) + 1;
        memmove(s->text + s->used, s->found[i].path, len);
        s->found[i].path = s->text + s->used;
        s->used += len;
    }
}

static void ttool_newest_add_(ttool_newest_ *s, const char *path,
                              const struct stat *st)
{
    size_t len = strlen(path) + 1;
    ttool_found_ *f;
    s->total++;
    if (s->count == s->cap || s->used + len > s->size)
        ttool_newest_trim_(s);
    while (s->used + len > s->size && s->keep > 1) {
        s->keep /= 2;
        ttool_newest_trim_(s);
    }
    f = &s->found[s->count++];
    f->seconds = (int64_t)st->st_mtim.tv_sec;
    f->nanoseconds = st->st_mtim.tv_nsec;
    f->path = s->text + s->used;
    memcpy(f->path, path, len);
    s->used += len;
}

/* A pattern of paths must not lead out, whatever it matches. */
static bool ttool_glob_inside_(tcall_str glob)
{
    const char *p = glob.ptr, *end = p + glob.len;
    if (glob.len && *p == '/')
        return false;
    while (p < end) {
        const char *slash = (const char *)memchr(p, '/', (size_t)(end - p));
        size_t len = (size_t)((slash ? slash : end) - p);
        if (len == 2 && p[0] == '.' && p[1] == '.')
            return false;
        p += len + (slash != NULL);
    }
    return true;
}

/* Compiles a pattern of the model into memory of the call. */
static int ttool_compile_(tcall_ctx *cx, ttool_pattern **p, tcall_str text,
                          unsigned flags, tcall_writer *out)
{
    ttool_workspace *ws = (ttool_workspace *)cx->user;
    size_t size = ws->desc.memory_size / 16 * (flags & TTOOL_GLOB ? 3 : 5);
    void *memory;
    size = size < TTOOL_PATTERN_MEMORY ? size : TTOOL_PATTERN_MEMORY;
    int r;
    *p = (ttool_pattern *)ttool_take_(ws, sizeof **p);
    memory = ttool_take_(ws, size);
    r = memory && *p ? ttool_pattern_compile(*p, text, flags, memory, size)
                     : TCALL_E_MEMORY;
    if (r == TCALL_E_INVALID) {
        tcall_write_text(out, flags & TTOOL_GLOB ? "glob" : "pattern");
        tcall_write_text(out, ": ");
        tcall_write_text(out, (*p)->reason);
        if (!(flags & TTOOL_GLOB)) {
            tcall_write_text(out, " (near character ");
            ttool_text_int_(out, (*p)->at);
            tcall_write_text(out, ")");
        }
        cx->result.suggestion =
            flags & TTOOL_GLOB
                ? "Use * and ? within a name, ** for directories, {a,b}."
                : "Put a backslash before each of . * + ? ( ) [ ] { } | ^ $ "
                  "that is meant as it is.";
    }
    return r;
}

typedef struct ttool_glob_ {
    ttool_place at;
    ttool_walk_ walk;
    ttool_newest_ newest;
} ttool_glob_;

static int ttool_glob_begin_(tcall_ctx *cx, void *state, tcall_json args,
                             tcall_writer *out)
{
    ttool_glob_ *s = (ttool_glob_ *)state;
    ttool_workspace *ws = (ttool_workspace *)cx->user;
    tcall_str pattern = ttool_arg_(args, "pattern");
    ttool_pattern *only;
    ttool_newest_ *n = &s->newest;
    int r = ttool_find_dir_(cx, ws, ttool_arg_(args, "path"), &s->at, out);
    if (r < 0)
        return r;
    if (!ttool_glob_inside_(pattern))
        return ttool_fail_(cx, out, TCALL_E_DENIED, "",
                           "the pattern leads out of the workspace"
                           "\nStart it at the workspace's root, without ..");
    r = ttool_compile_(cx, &only, pattern, TTOOL_GLOB, out);
    if (r < 0)
        return r;
    n->keep = (size_t)tcall_json_int(tcall_json_get(args, "limit"), 100);
    n->cap = n->keep * 2;
    n->found = (ttool_found_ *)ttool_take_(ws, n->cap * sizeof *n->found);
    n->size = (size_t)(ws->at.high - ws->at.low) / 3;
    n->text = (char *)ttool_take_(ws, n->size);
    if (!n->found || !n->text || n->size < TTOOL_MAX_PATH ||
        !ttool_walk_start_(&s->walk, cx, ws, s->at.path))
        return TCALL_E_MEMORY;
    ttool_title_(cx, "Find ", pattern);
    s->walk.only = only;
    s->walk.secrets = true; /* names only */
    return TCALL_OK;
}

static int ttool_glob_go_on_(void *state, tcall_writer *out)
{
    ttool_glob_ *s = (ttool_glob_ *)state;
    ttool_walk_ *w = &s->walk;
    ttool_newest_ *n = &s->newest;
    struct stat st;
    size_t i;
    while (ttool_walk_next_(w))
        if (w->type == TTOOL_FILE_ && w->ws->dir >= 0 &&
            fstatat(w->ws->dir, w->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            ttool_newest_add_(n, w->path, &st);
    if (w->paused)
        return TCALL_E_AGAIN;
    ttool_sort_(n->found, n->count, sizeof *n->found, ttool_order_time_);
    for (i = 0; i < n->count && i < n->keep; i++) {
        if (ttool_room_(w->ws, out, 0) < strlen(n->found[i].path) * 4)
            break;
        ttool_write_path_(out, n->found[i].path);
        tcall_write_text(out, "\n");
    }
    if (i < n->total) {
        tcall_write_text(out, "[the newest ");
        ttool_text_int_(out, i);
        tcall_write_text(out, " of ");
        ttool_text_int_(out, n->total);
        tcall_write_text(out, " files: use a narrower pattern or set limit]\n");
    }
    if (!n->total)
        ttool_notice_(out, "no file matches");
    return ttool_walk_end_(w, out, i, i < n->total);
}

static int ttool_glob_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    static const ttool_pieces_ glob = {sizeof(ttool_glob_), ttool_glob_begin_,
                                       ttool_glob_go_on_};
    return ttool_run_pieces_(cx, args, out, &glob);
}

/* -- grep ----------------------------------------------------------------- */

#define TTOOL_SHOWN_ 400 /* bytes of a line that are shown around a match */

typedef struct ttool_grep_ {
    ttool_place at;
    ttool_walk_ walk;
    ttool_workspace *ws;
    tcall_ctx *cx;
    tcall_writer *out;
    ttool_pattern *pattern;
    char *buf;
    size_t cap;
    int context, limit, matches, files;
    size_t binary, linked; /* files that were left out */
    bool full, apart;      /* apart: a group of lines was shown before */
    bool whole;            /* lines end where they are shown to end */
    /* the file at hand */
    const char *path;
    const char *counted; /* line is the number of the line there */
    uint64_t line;
    const char *shown; /* everything before it was shown, or is not wanted */
    int after;         /* lines of context still to come */
    uint64_t before;   /* matches before this file */
    uint64_t left;     /* bytes that are still to be read */
    size_t fill, kept; /* bytes in buf, and those that were searched already */
    bool first, last;  /* piece of the file */
    bool inside, hit;  /* a line that is longer than buf, which matches */
    uint64_t searched; /* files */
    bool bar;          /* the pattern has \|, as older greps write it */
} ttool_grep_;

/* The number of the line at p, which lies behind the one asked for last. */
static uint64_t ttool_grep_number_(ttool_grep_ *g, const char *p)
{
    while (g->counted < p) {
        g->counted = ttool_line_end_(g->counted, p);
        g->line += g->counted[-1] == '\n';
    }
    return g->line;
}

/* path:12:text, with - instead of : for context. found: end of the match. */
static void ttool_grep_show_(ttool_grep_ *g, const char *line, const char *end,
                             char sign, const char *found)
{
    char number[32];
    size_t len, from = 0, n;
    uint64_t at = ttool_grep_number_(g, line);
    g->shown = end;
    if (end > line && end[-1] == '\n')
        end--;
    if (end > line && end[-1] == '\r')
        end--;
    len = (size_t)(end - line);
    if (ttool_room_(g->ws, g->out, 0) <
        strlen(g->path) * 4 + TTOOL_SHOWN_ + 64) {
        g->full = true;
        return;
    }
    if (found && (size_t)(found - line) > TTOOL_SHOWN_ / 2 &&
        len > TTOOL_SHOWN_)
        from = (size_t)(found - line) - TTOOL_SHOWN_ / 2;
    while (from < len && (line[from] & 0xC0) == 0x80)
        from++;
    n = len - from < TTOOL_SHOWN_ ? len - from : TTOOL_SHOWN_;
    while (n < len - from && n && (line[from + n] & 0xC0) == 0x80)
        n--;
    ttool_write_path_(g->out, g->path);
    tcall_write_bytes(g->out, number,
                      (size_t)snprintf(number, sizeof number, "%c%llu%c%s",
                                       sign, (unsigned long long)at, sign,
                                       from ? "[...]" : ""));
    ttool_write_content_(g->out, line + from, n);
    tcall_write_text(g->out, from + n < len || !g->whole ? "[...]\n" : "\n");
}

/* Context behind the last match, up to `to`. */
static void ttool_grep_after_(ttool_grep_ *g, const char *to)
{
    while (g->after > 0 && g->shown < to && !g->full) {
        const char *line = g->shown, *end = ttool_line_end_(line, to);
        ttool_grep_show_(g, line, end, '-', NULL);
        g->after--;
    }
}

/* A line that matches, and those before it, as far as begin, that are to be
 * shown too. */
static void ttool_grep_hit_(ttool_grep_ *g, const char *begin, const char *line,
                            const char *next, const char *found)
{
    const char *from = line;
    int back;
    ttool_grep_after_(g, line);
    if (g->matches == g->limit)
        g->full = true;
    if (g->full)
        return;
    begin = g->shown > begin ? g->shown : begin;
    for (back = g->context; back > 0 && from > begin; back--)
        from = ttool_line_start_(begin, from - 1);
    if (g->context && g->apart && from != g->shown)
        tcall_write_text(g->out, "--\n");
    g->apart = true;
    while (from < line && !g->full) {
        const char *end = ttool_line_end_(from, line);
        ttool_grep_show_(g, from, end, '-', NULL);
        from = end;
    }
    if (!g->full)
        ttool_grep_show_(g, line, next, ':', found);
    g->after = g->context;
    g->matches += !g->full;
}

/* The whole lines from p to end; begin: where the buffer begins. */
static void ttool_grep_lines_(ttool_grep_ *g, const char *begin, const char *p,
                              const char *end)
{
    while (p < end && !g->full) {
        const char *stop = end[-1] == '\n' ? end - 1 : end;
        const char *found = ttool_pattern_find(g->pattern, p, stop), *next;
        if (!found)
            break;
        next = ttool_line_end_(found, end);
        ttool_grep_hit_(g, begin, ttool_line_start_(p, found), next, found);
        p = begin = next;
    }
    ttool_grep_after_(g, end);
}

enum { TTOOL_TAIL_ = TTOOL_SHOWN_ / 2 + 8 }; /* to be shown with more */

/* A line longer than memory, of which the buffer holds what was searched, and
 * from p on what was not: it is searched piece by piece, and shown once. What
 * comes behind it goes to the front of the buffer. */
static void ttool_grep_long_(ttool_grep_ *g, const char *line, const char *p,
                             bool begins)
{
    const char *end = g->buf + g->fill, *next = ttool_line_end_(p, end);
    const char *found = NULL;
    bool ends = next > p && next[-1] == '\n';
    g->whole = g->last || ends;
    if (!g->hit)
        found =
            ttool_pattern_piece(g->pattern, p, next - ends, begins, g->whole);
    if (found)
        ttool_grep_hit_(g, g->buf, line, next, found);
    else if (begins)
        ttool_grep_after_(g, next);
    g->hit = g->hit || found;
    (void)ttool_grep_number_(g, next);
    g->inside = !g->whole;
    g->whole = true;
    if (g->inside)
        next = end - TTOOL_TAIL_;
    g->fill = (size_t)(end - next);
    g->kept = 0;
    memmove(g->buf, next, g->fill);
    g->counted = g->shown = g->buf;
}

/* Lines of context stay, if they are not too long. */
static void ttool_grep_keep_(ttool_grep_ *g, const char *end)
{
    const char *keep = end;
    int back;
    for (back = g->context; back > 0 && keep > g->buf; back--)
        keep = ttool_line_start_(g->buf, keep - 1);
    if ((size_t)(end - keep) > g->cap / 2)
        keep = end;
    ttool_grep_number_(g, keep);
    g->fill = (size_t)(g->buf + g->fill - keep);
    g->kept = (size_t)(end - keep);
    g->shown = g->shown > keep ? g->buf + (g->shown - keep) : g->buf;
    g->counted = g->buf;
    memmove(g->buf, keep, g->fill);
}

static void ttool_grep_file_(ttool_grep_ *g, int fd, off_t size)
{
    g->ws->file = fd;
    g->left = size ? (uint64_t)size : UINT64_MAX;
    g->fill = g->kept = 0;
    g->before = (uint64_t)g->matches;
    g->first = true;
    g->last = g->inside = g->hit = false;
    g->line = 1;
    g->counted = g->shown = g->buf;
    g->after = 0;
}

/* Fills the buffer. False: the file cannot be read. */
static bool ttool_grep_fill_(ttool_grep_ *g)
{
    size_t room = g->cap - g->fill,
           want = room < g->left ? room : (size_t)g->left;
    ssize_t n = ttool_fill_(g->ws->file, g->buf + g->fill, want);
    if (n < 0)
        return false;
    ttool_spend_(g->ws, (size_t)n / 4096 + 1);
    g->left -= (uint64_t)n;
    g->last = !g->left || (size_t)n < want;
    g->fill += (size_t)n;
    return true;
}

/* One piece of the file, of whole lines. False: it was the last one. */
static bool ttool_grep_piece_(ttool_grep_ *g)
{
    size_t inside = g->inside ? g->fill : 0;
    const char *from, *end;
    if (!ttool_grep_fill_(g))
        return false;
    if (g->first && memchr(g->buf, '\0', g->fill)) {
        g->binary++;
        return false;
    }
    g->first = false;
    from = g->buf + (g->inside ? inside : g->kept);
    end = g->buf + g->fill;
    if (g->inside) {
        ttool_grep_long_(g, g->buf, from, false);
        return g->inside || g->fill || !g->last;
    }
    if (!g->last)
        end = ttool_line_start_(from, end);
    if (end == from && g->fill == g->cap) {
        g->hit = false;
        ttool_grep_long_(g, from, from, true);
        return true;
    }
    if (end > from)
        ttool_grep_lines_(g, g->buf, from, end);
    ttool_grep_keep_(g, end);
    return !g->last;
}

/* The next file of the tree. False: there is none, or not yet. */
static bool ttool_grep_next_(ttool_grep_ *g)
{
    ttool_walk_ *w = &g->walk;
    ttool_workspace *ws = g->ws;
    struct stat st;
    int fd;
    while (ttool_walk_next_(w)) {
        if (w->type != TTOOL_FILE_ || ws->dir < 0)
            continue;
        fd = openat(ws->dir, w->name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
            continue;
        ttool_spend_(ws, TTOOL_OPENED_);
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
            if (!ttool_has_names_(ws, &st)) {
                ttool_grep_file_(g, fd, st.st_size);
                return true;
            }
            g->linked++;
        }
        close(fd);
    }
    return false;
}

static void ttool_grep_done_(const ttool_grep_ *g)
{
    tcall_writer *out = g->out;
    if (!g->matches)
        ttool_notice_(out, g->bar ? "no match: \\| is the character itself, "
                                    "alternatives are written a|b"
                                  : "no match");
    if (g->full) {
        tcall_write_text(out, "[cut after ");
        ttool_text_int_(out, (uint64_t)g->matches);
        tcall_write_text(out, " matches: use a narrower pattern, path or "
                              "include, or set limit]\n");
    }
    if (g->binary) {
        tcall_write_text(out, "[left out, binary: ");
        ttool_text_int_(out, g->binary);
        tcall_write_text(out, "]\n");
    }
    if (g->linked) {
        tcall_write_text(out, "[left out, with several names (hard links): ");
        ttool_text_int_(out, g->linked);
        tcall_write_text(out, "]\n");
    }
}

/* A file that was named. */
static int ttool_grep_one_(ttool_grep_ *g, tcall_str path)
{
    int r = ttool_find_file_(g->cx, path, &g->at, g->out), fd;
    if (r < 0)
        return r;
    fd = ttool_open_file_(g->ws, &g->at, O_RDONLY);
    if (fd < 0)
        return ttool_fail_errno_(g->cx, g->out, g->at.path, errno);
    g->path = g->at.path;
    g->walk.enter = false;
    ttool_grep_file_(g, fd, g->at.st.st_size);
    return TCALL_OK;
}

static int ttool_grep_patterns_(ttool_grep_ *g, tcall_json args)
{
    tcall_str include = ttool_arg_(args, "include");
    tcall_str pattern = ttool_arg_(args, "pattern");
    unsigned flags = TTOOL_LINES;
    int r;
    g->bar = memmem(pattern.ptr, pattern.len, "\\|", 2) != NULL;
    if (tcall_json_bool(tcall_json_get(args, "ignore_case"), false))
        flags |= TTOOL_FOLD;
    r = ttool_compile_(g->cx, &g->pattern, pattern, flags, g->out);
    if (r == TCALL_OK && include.len)
        r = ttool_compile_(g->cx, &g->walk.only, include, TTOOL_GLOB, g->out);
    g->walk.by_name = !memchr(include.len ? include.ptr : "", '/', include.len);
    return r;
}

static int ttool_grep_begin_(tcall_ctx *cx, void *state, tcall_json args,
                             tcall_writer *out)
{
    ttool_grep_ *g = (ttool_grep_ *)state;
    ttool_workspace *ws = (ttool_workspace *)cx->user;
    tcall_str path = ttool_arg_(args, "path");
    int r = ttool_find_there_(cx, ws, path, 0, &g->at, out);
    if (r < 0)
        return r;
    g->ws = ws;
    g->cx = cx;
    g->out = out;
    g->whole = true;
    g->context = tcall_json_int(tcall_json_get(args, "context"), 0);
    g->limit = tcall_json_int(tcall_json_get(args, "limit"), 100);
    g->cap = ws->desc.memory_size / 16;
    g->buf = (char *)ttool_take_(ws, g->cap);
    if (!g->buf || !ttool_walk_start_(&g->walk, cx, ws, g->at.path))
        return TCALL_E_MEMORY;
    r = ttool_grep_patterns_(g, args);
    if (r < 0)
        return r;
    ttool_title_(cx, "Search for ", ttool_arg_(args, "pattern"));
    g->path = g->walk.path;
    return S_ISDIR(g->at.st.st_mode) ? TCALL_OK : ttool_grep_one_(g, path);
}

static int ttool_grep_go_on_(void *state, tcall_writer *out)
{
    ttool_grep_ *g = (ttool_grep_ *)state;
    ttool_workspace *ws = g->ws;
    tcall_ctx *cx = g->cx;
    while (!g->full && (ws->file >= 0 || ttool_grep_next_(g))) {
        if (ttool_pauses_(ws, cx))
            return TCALL_E_AGAIN;
        if (ttool_grep_piece_(g)) {
            g->full |= !ttool_goes_on_(ws, cx, g->searched, "files");
            continue;
        }
        ttool_close_(&ws->file);
        g->files += (uint64_t)g->matches > g->before;
        if (++g->searched % 64 == 0 &&
            !ttool_goes_on_(ws, cx, g->searched, "files"))
            g->walk.no_time = true;
    }
    if (g->walk.paused)
        return TCALL_E_AGAIN;
    ttool_grep_done_(g);
    return ttool_walk_end_(&g->walk, out, (uint64_t)g->matches, g->full);
}

static int ttool_grep_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    static const ttool_pieces_ grep = {sizeof(ttool_grep_), ttool_grep_begin_,
                                       ttool_grep_go_on_};
    return ttool_run_pieces_(cx, args, out, &grep);
}

/* -- The table ------------------------------------------------------------ */

/* clang-format off */
const tcall_tool ttool_file_tools[TTOOL_FILE_TOOLS] = {
    TTOOL_ROW_("read", "Read files", "file text content lines show cat open",
        ttool_read_run_, TCALL_READ, false,
        "Read one or more text files of the workspace, with line numbers. "
        "Read a file before you edit it or write over it.",
        TCALL_JSON({
            "type": "object",
            "properties": {
                "file_paths": {
                    "type": "array", "minItems": 1, "maxItems": 50,
                    "items": {"type": "string", "minLength": 1, "maxLength": 4096},
                    "description": "Paths of the files to read, relative to the root of the workspace"
                },
                "offset": {
                    "type": "integer", "minimum": 1, "maximum": 9007199254740991,
                    "description": "Number of the first line to show, counted from 1, which is the default"
                },
                "limit": {
                    "type": "integer", "minimum": 0, "maximum": 1000000,
                    "description": "Most lines to show of each file: 2000 by default, 0 for all that fit"
                }
            },
            "required": ["file_paths"],
            "additionalProperties": false
        })),
    TTOOL_ROW_("write", "Write a file", "file save create new overwrite text",
        ttool_write_run_, TCALL_WRITE, true,
        "Create a file in the workspace or replace all of its content. An existing "
        "file must have been read before; its line ends stay. To change a part use edit.",
        TCALL_JSON({
            "type": "object",
            "properties": {
                "file_path": {
                    "type": "string", "minLength": 1, "maxLength": 4096,
                    "description": "Path of the file to write, relative to the root of the workspace"
                },
                "content": {
                    "type": "string",
                    "description": "The whole new content of the file, ending with a newline as text files do"
                },
                "create_directories": {
                    "type": "boolean",
                    "description": "Also make the directories above the file that are missing; default false"
                }
            },
            "required": ["file_path", "content"],
            "additionalProperties": false
        })),
    TTOOL_ROW_("edit", "Edit a file", "file change replace text substitute modify fix",
        ttool_edit_run_, TCALL_WRITE, true,
        "Replace text in a file that was read before. The text must be found exactly "
        "once, unless replace_all is set; differences of white space are tolerated.",
        TCALL_JSON({
            "type": "object",
            "properties": {
                "file_path": {
                    "type": "string", "minLength": 1, "maxLength": 4096,
                    "description": "Path of the file to change, relative to the root of the workspace"
                },
                "old_string": {
                    "type": "string", "minLength": 1,
                    "description": "The text to replace, copied from the file without line numbers, with enough lines to be unique"
                },
                "new_string": {
                    "type": "string",
                    "description": "The text that comes in its place; empty to delete the old text"
                },
                "replace_all": {
                    "type": "boolean",
                    "description": "Replace the text at every place where it is found; default false"
                }
            },
            "required": ["file_path", "old_string", "new_string"],
            "additionalProperties": false
        })),
    TTOOL_ROW_("list", "List a directory", "directory folder tree files ls structure",
        ttool_list_run_, TCALL_READ, false,
        "Show the files and directories below a directory of the workspace as a tree.",
        TCALL_JSON({
            "type": "object",
            "properties": {
                "path": {
                    "type": "string", "maxLength": 4096,
                    "description": "Directory to list, relative to the root of the workspace, which is the default"
                },
                "depth": {
                    "type": "integer", "minimum": 1, "maximum": 32,
                    "description": "How many levels of directories to show, 1 for no subdirectories; default 2"
                },
                "offset": {
                    "type": "integer", "minimum": 1, "maximum": 1000000000,
                    "description": "Number of the first entry to show, counted from 1, to continue a list that was cut"
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": 5000,
                    "description": "Most entries to show before the tree is cut with a notice; default 200"
                }
            },
            "additionalProperties": false
        })),
    TTOOL_ROW_("glob", "Find files", "file find name pattern search path wildcard",
        ttool_glob_run_, TCALL_READ, false,
        "Find files of the workspace whose path matches a pattern such as **/*.c or "
        "src/*.{c,h}; the newest come first.",
        TCALL_JSON({
            "type": "object",
            "properties": {
                "pattern": {
                    "type": "string", "minLength": 1, "maxLength": 1000,
                    "description": "Pattern of paths: * and ? within a name, ** for any directories, [a-z], {a,b}"
                },
                "path": {
                    "type": "string", "maxLength": 4096,
                    "description": "Directory in which to search; the pattern is relative to it; default the root"
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": 1000,
                    "description": "Most files to show, of which the newest are chosen; default 100"
                }
            },
            "required": ["pattern"],
            "additionalProperties": false
        })),
    TTOOL_ROW_("grep", "Search in files", "search text content regex pattern find lines code",
        ttool_grep_run_, TCALL_READ, false,
        "Search the text files of the workspace for a regular expression and show the "
        "lines that match, as path:line:text. Binary files and .git are left out.",
        TCALL_JSON({
            "type": "object",
            "properties": {
                "pattern": {
                    "type": "string", "minLength": 1, "maxLength": 1000,
                    "description": "Regular expression for a part of a line; escape special characters with a backslash"
                },
                "path": {
                    "type": "string", "maxLength": 4096,
                    "description": "Directory or file in which to search; default the root of the workspace"
                },
                "include": {
                    "type": "string", "minLength": 1, "maxLength": 1000,
                    "description": "Search only files whose name, or path, matches this glob, such as *.{c,h}"
                },
                "context": {
                    "type": "integer", "minimum": 0, "maximum": 10,
                    "description": "How many lines to show before and after each match; default 0"
                },
                "ignore_case": {
                    "type": "boolean",
                    "description": "Let capital letters and small letters match each other; default false"
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": 1000,
                    "description": "Most matching lines to show before the result is cut; default 100"
                }
            },
            "required": ["pattern"],
            "additionalProperties": false
        })),
};
/* clang-format on */
