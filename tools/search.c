/* search.c - see search.h */
#include "tools/gnu.h"

#include "tools/search.h"
#include "tools/lines.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static void ttool_list_show_(ttool_walk_ *w, tcall_writer *out)
{
    int i;
    for (i = 0; i <= w->depth; i++)
        tcall_write_text(out, "  ");
    w->escaped |= ttool_write_path_(out, w->name);
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

int ttool_list_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
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
    size_t from; /* of the newest, from 0 on */
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
    s->from = (size_t)tcall_json_int(tcall_json_get(args, "offset"), 1) - 1;
    n->keep =
        s->from + (size_t)tcall_json_int(tcall_json_get(args, "limit"), 100);
    n->cap = (size_t)(ws->at.high - ws->at.low) / 4 / sizeof *n->found;
    n->cap = n->cap < n->keep * 2 ? n->cap : n->keep * 2;
    n->keep = n->keep < n->cap / 2 ? n->keep : n->cap / 2;
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

/* What follows the files [from, to) of the newest. */
static void ttool_glob_notice_(const ttool_glob_ *s, size_t to,
                               tcall_writer *out)
{
    uint64_t total = s->newest.total;
    if (!total) {
        ttool_notice_(out, s->walk.no_time ? "no file matches so far"
                                           : "no file matches");
    } else if (to <= s->from) {
        bool there = s->from < total;
        tcall_write_text(out, there ? "[offset is too large: of "
                                    : "[there are only ");
        ttool_text_int_(out, total);
        tcall_write_text(out, there ? " files only the newest are kept; use a "
                                      "narrower pattern]\n"
                                    : " files]\n");
    } else if (to < total) {
        tcall_write_text(out, "[the newest ");
        ttool_text_int_(out, to);
        tcall_write_text(out, " of ");
        ttool_text_int_(out, total);
        tcall_write_text(out, " files: use offset=");
        ttool_text_int_(out, to + 1);
        tcall_write_text(out, " for more, or a narrower pattern]\n");
    }
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
    for (i = s->from; i < n->count && i < n->keep; i++) {
        if (ttool_room_(w->ws, out, 0) < strlen(n->found[i].path) * 4)
            break;
        w->escaped |= ttool_write_path_(out, n->found[i].path);
        tcall_write_text(out, "\n");
    }
    ttool_glob_notice_(s, i, out);
    return ttool_walk_end_(w, out, i > s->from ? i - s->from : 0, i < n->total);
}

int ttool_glob_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
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
    uint64_t from;         /* number of the first match that is wanted */
    int skip;              /* matches that are still before it */
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
    bool skims;        /* of which only the text that a match holds is sought */
    bool resumes;      /* ... and was found: here the search begins */
    bool midway;       /* what the buffer has of it is not its start */
    off_t line_at;     /* where that line begins in the file */
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
    g->walk.escaped |= ttool_write_path_(g->out, g->path);
    tcall_write_bytes(
        g->out, number,
        (size_t)snprintf(number, sizeof number, "%c%llu%c%s", sign,
                         (unsigned long long)at, sign,
                         from || (found && g->midway) ? "[...]" : ""));
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
    if (g->skip > 0) {
        g->skip--;
        g->shown = next;
        return;
    }
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

/* In a line that was skimmed the text that each match holds has come: the file
 * is read again from where a match with it may begin, and some bytes before to
 * be shown. No match can begin right there, so it need not be a line's start.
 */
static void ttool_grep_resume_(ttool_grep_ *g, const char *held)
{
    off_t end = lseek(g->ws->file, 0, SEEK_CUR), from = g->line_at;
    off_t at = end - (off_t)(g->buf + g->fill - held);
    if (g->pattern->reach < (size_t)(at - from) &&
        (size_t)(at - from) - g->pattern->reach > TTOOL_TAIL_ + 1)
        from = at - (off_t)g->pattern->reach - TTOOL_TAIL_ - 1;
    (void)lseek(g->ws->file, from, SEEK_SET);
    g->left += (uint64_t)(end - from);
    g->fill = g->kept = 0;
    g->counted = g->shown = g->buf;
    g->skims = g->last = false;
    g->midway = from > g->line_at;
    g->resumes = true;
}

/* A line longer than memory, of which the buffer holds what was searched, and
 * from p on what was not: it is searched piece by piece, and shown once. What
 * comes behind it goes to the front of the buffer. */
static void ttool_grep_long_(ttool_grep_ *g, const char *line, const char *p,
                             bool begins)
{
    const char *end = g->buf + g->fill, *next = ttool_line_end_(p, end);
    const char *found = NULL;
    bool ends = next > p && next[-1] == '\n';
    size_t over = g->pattern->held_len - 1; /* it may have begun before p */
    if (g->skims) {
        const char *from = (size_t)(p - line) > over ? p - over : line;
        found = ttool_pattern_held(g->pattern, from, next);
        if (found && !begins) {
            ttool_grep_resume_(g, found);
            return;
        }
        g->skims = !found;
        found = NULL;
    }
    g->whole = g->last || ends;
    if (!g->hit && !g->skims)
        found = ttool_pattern_piece(g->pattern, p, next - ends,
                                    begins || g->resumes, g->whole);
    g->resumes = false;
    if (found)
        ttool_grep_hit_(g, g->buf, line, next, found);
    else if (begins)
        ttool_grep_after_(g, next);
    g->hit = g->hit || found;
    (void)ttool_grep_number_(g, next);
    g->inside = g->midway = !g->whole;
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
    g->last = g->inside = g->hit = g->midway = false;
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
        g->hit = g->resumes = g->midway = false;
        g->skims = g->pattern->held_len > 0;
        g->line_at =
            lseek(g->ws->file, 0, SEEK_CUR) - (off_t)(g->buf + g->fill - from);
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
    if (!g->matches && !g->full && (uint64_t)g->skip + 1 < g->from) {
        tcall_write_text(out, "[there are only ");
        ttool_text_int_(out, g->from - 1 - (uint64_t)g->skip);
        tcall_write_text(out, " matches]\n");
    } else if (!g->matches && g->walk.no_time) {
        ttool_notice_(out, "no match so far");
    } else if (!g->matches) {
        ttool_notice_(out, g->bar ? "no match: \\| is the character itself, "
                                    "alternatives are written a|b"
                                  : "no match");
    }
    if (g->full) {
        tcall_write_text(out, "[cut after ");
        ttool_text_int_(out, (uint64_t)g->matches);
        tcall_write_text(out, " matches: use offset=");
        ttool_text_int_(out, g->from + (uint64_t)g->matches);
        tcall_write_text(out, " for more, or a narrower pattern, path or "
                              "include]\n");
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
    g->from = (uint64_t)tcall_json_int(tcall_json_get(args, "offset"), 1);
    g->skip = (int)g->from - 1;
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
            if (ttool_goes_on_(ws, cx, g->searched, "files"))
                continue;
            g->walk.no_time = true;
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

int ttool_grep_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    static const ttool_pieces_ grep = {sizeof(ttool_grep_), ttool_grep_begin_,
                                       ttool_grep_go_on_};
    return ttool_run_pieces_(cx, args, out, &grep);
}
