/* files.c - see files.h */
#include "tools/gnu.h"

#include "tools/files.h"
#include "tools/lines.h"
#include "tools/search.h"
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
    bool alone; /* no other file is read by this call */
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

static void ttool_read_headline_(const ttool_read_ *s, const ttool_place *at)
{
    tcall_writer *out = s->out;
    tcall_write_text(out, "=== ");
    ttool_write_path_(out, at->path);
    tcall_write_text(out, " (");
    ttool_text_int_(out, (uint64_t)at->st.st_size);
    tcall_write_text(out, " bytes, about ");
    ttool_text_int_(out, ((uint64_t)at->st.st_size + 3) / 4);
    tcall_write_text(out, " tokens) ===\n");
}

/* How far a large file was searched for the first line that is wanted: this is
 * kept with the call, which does it in pieces. */
typedef struct ttool_sought_ {
    uint64_t to, begin,
        line; /* bytes; where the last line begins; its number */
    dev_t dev;
    ino_t ino;
    uint32_t started, told; /* as of the workspace */
} ttool_sought_;

enum { TTOOL_SEEK_PIECE_ = 8 << 20 /* bytes that are searched at a time */ };

/* Returns it for this file: anew where it was of another, or of more. */
static ttool_sought_ *ttool_sought_of_(tcall_ctx *cx, ttool_workspace *ws,
                                       const struct stat *st)
{
    ttool_sought_ *at =
        (ttool_sought_ *)tcall_scratch(cx, "ttool.sought", sizeof *at);
    if (!at)
        return NULL;
    if (!at->line || at->dev != st->st_dev || at->ino != st->st_ino ||
        at->to > (uint64_t)st->st_size) {
        memset(at, 0, sizeof *at);
        at->line = 1;
        at->dev = st->st_dev;
        at->ino = st->st_ino;
        at->started = at->told = ws->at.started;
    }
    ws->at.started = at->started;
    ws->at.told = at->told;
    return at;
}

static void ttool_seek_lines_(ttool_sought_ *at, const ttool_read_ *s,
                              const char *p, const char *end)
{
    const char *from = p, *stop;
    while (at->line < s->from &&
           (stop = (const char *)memchr(p, s->ends, (size_t)(end - p)))) {
        p = stop + 1;
        at->begin = at->to + (uint64_t)(p - from);
        at->line++;
    }
    at->to += (uint64_t)(end - from);
}

/* Seeks the first line that is wanted, or the last one there is. What has no
 * size, as in /proc, may be another with each look: it is not done in pieces.
 * Returns an errno, 0, or TCALL_E_AGAIN. */
static int ttool_read_seek_(ttool_read_ *s, tcall_ctx *cx, ttool_sought_ *at,
                            uint64_t size, int fd, char *buf, size_t cap)
{
    uint64_t pause = s->alone && size ? at->to + TTOOL_SEEK_PIECE_ : UINT64_MAX;
    ssize_t n = lseek(fd, (off_t)at->to, SEEK_SET) < 0 ? -1 : 1;
    size = size ? size : UINT64_MAX;
    while (n > 0 && at->line < s->from && !s->full) {
        if (at->to >= pause) {
            at->told = s->ws->at.told;
            return TCALL_E_AGAIN;
        }
        n = ttool_fill_(fd, buf,
                        cap < size - at->to ? cap : (size_t)(size - at->to));
        if (n > 0)
            ttool_seek_lines_(at, s, buf, buf + n);
        s->full = !ttool_goes_on_(s->ws, cx, at->line, "lines");
    }
    s->line = at->line;
    return n < 0 || lseek(fd, (off_t)at->begin, SEEK_SET) < 0 ? errno : 0;
}

/* The lines from where the file is now, of which so many bytes are left. */
static int ttool_read_on_(ttool_read_ *s, tcall_ctx *cx, uint64_t left, int fd,
                          char *buf, size_t cap)
{
    while (!s->full && left) {
        ssize_t n = ttool_fill_(fd, buf, cap < left ? cap : (size_t)left);
        if (n < 0)
            return errno;
        if (n == 0)
            break;
        left -= (uint64_t)n;
        ttool_read_piece_(s, buf, buf + n);
        if (!ttool_goes_on_(s->ws, cx, s->line, "lines")) {
            ttool_read_finish_(s);
            s->full = true;
        }
    }
    ttool_read_finish_(s);
    return 0;
}

/* A file that is too large to be kept, as far as it is wanted. */
static int ttool_read_large_(ttool_read_ *s, tcall_ctx *cx,
                             const ttool_place *at)
{
    size_t cap = s->ws->desc.memory_size / 8;
    uint64_t size = (uint64_t)at->st.st_size;
    char *buf = (char *)ttool_take_(s->ws, cap);
    ttool_sought_ *sought = ttool_sought_of_(cx, s->ws, &at->st);
    int fd = buf && sought ? ttool_open_file_(s->ws, at, O_RDONLY) : -1, number;
    if (fd < 0)
        return buf && sought ? errno : EFBIG;
    number = ttool_read_seek_(s, cx, sought, size, fd, buf, cap);
    if (number == 0) {
        ttool_read_headline_(s, at);
        number = ttool_read_on_(s, cx, size ? size - sought->begin : UINT64_MAX,
                                fd, buf, cap);
    }
    if (number != TCALL_E_AGAIN)
        sought->line = 0; /* whoever is next begins anew */
    close(fd);
    return number;
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
    if (whole || ttool_is_binary_(text))
        ttool_read_headline_(s, at);
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
    if (number == TCALL_E_AGAIN)
        return tcall_wait_ms(&cx->wait, 0);
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
    s.ws = ttool_enter_(cx, out);
    if (!s.ws)
        return TCALL_E_USAGE;
    ttool_begin_(s.ws);
    s.out = out;
    s.start = out->len;
    s.alone = count == 1;
    s.from = (uint64_t)tcall_json_int64(tcall_json_get(args, "offset"), 1);
    low = s.ws->at.low;
    if (!cx->result.title.len) /* not when it goes on */
        ttool_title_(cx, "Read ", tcall_json_str(tcall_json_first(paths)));
    for (path = tcall_json_first(paths); path.at;
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
        if (r == TCALL_E_APPROVAL || r == TCALL_E_AGAIN ||
            (r < 0 && count == 1))
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
    int number, asked = ttool_confirm_(cx, out, at->path);
    if (asked < 0)
        return asked;
    number = ttool_replace_(ws, at, old->loaded, text, &changed);
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
    char named[TTOOL_MAX_PATH];
    int number;
    path = ttool_read_path_(path, named, sizeof named);
    number = ttool_find_(ws, at, path);
    if (number)
        return ttool_fail_errno_(
            cx, out, ttool_given_(given, sizeof given, path), number);
    if (!*at->path)
        return ttool_fail_(cx, out, TCALL_E_FAILED, "",
                           "the path is that of the workspace itself"
                           "\nName a file in it.");
    tcall_concerns(cx, tcall_str_of(at->path));
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
    ttool_workspace *ws = ttool_enter_(cx, out);
    tcall_str content = ttool_arg_(args, "content"), text;
    ttool_place *at;
    ttool_old_ old;
    ttool_change_ c;
    bool make;
    int r;
    if (!ws)
        return TCALL_E_USAGE;
    at = (ttool_place *)ttool_take_(ttool_begin_(ws), sizeof *at);
    r = at ? ttool_find_target_(cx, ttool_arg_(args, "file_path"), at, out)
           : TCALL_E_MEMORY;
    if (r < 0)
        return r;
    make = !at->exists &&
           tcall_json_bool(tcall_json_get(args, "create_directories"), false);
    ttool_title_(cx, "Write ", tcall_str_of(at->path));
    memset(&old, 0, sizeof old);
    old.loaded = old.plain = tcall_str_of("");
    if (at->exists)
        r = ttool_load_read_(cx, at, &old, true, out);
    else if (make)
        r = ttool_confirm_(cx, out, at->path);
    else if (!ttool_has_parent_(ws, at->path)) {
        return ttool_fail_(cx, out, TCALL_E_NOT_FOUND, at->path,
                           "no such directory\nSet create_directories.");
    }
    if (r == TCALL_OK && make)
        r = ttool_make_parents_(ws, at->path);
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
    const char *line;
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
    e.ws = ttool_enter_(cx, out);
    if (!e.ws)
        return TCALL_E_USAGE;
    ttool_begin_(e.ws);
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
                "offset": {
                    "type": "integer", "minimum": 1, "maximum": 9000,
                    "description": "Number of the first file to show, counted from 1, to go on after a result that was cut"
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
                "offset": {
                    "type": "integer", "minimum": 1, "maximum": 1000000,
                    "description": "Number of the first match to show, counted from 1, to go on after a result that was cut"
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
