/* walk.c - see walk.h */
#include "tools/gnu.h"

#include "tools/walk.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -- Walking a tree ------------------------------------------------------- */

void ttool_counted_(tcall_ctx *cx, uint64_t count, bool cut)
{
    char text[64];
    tcall_str json = {text, 0};
    json.len =
        (size_t)snprintf(text, sizeof text, "{\"count\":%llu,\"cut\":%s}",
                         (unsigned long long)count, cut ? "true" : "false");
    tcall_set_result(cx, tcall_str_of(""), json);
}

void ttool_sort_(void *base, size_t n, size_t size,
                 int (*order)(const void *, const void *))
{
    char *a = (char *)base, spare[32];
    size_t start = n / 2, end = n;
    while (end > 1) {
        size_t root, child;
        if (start > 0) {
            start--;
        } else {
            end--;
            memcpy(spare, a, size);
            memcpy(a, a + end * size, size);
            memcpy(a + end * size, spare, size);
        }
        for (root = start; child = root * 2 + 1, child < end; root = child) {
            if (child + 1 < end &&
                order(a + child * size, a + (child + 1) * size) < 0)
                child++;
            if (order(a + root * size, a + child * size) >= 0)
                break;
            memcpy(spare, a + root * size, size);
            memcpy(a + root * size, a + child * size, size);
            memcpy(a + child * size, spare, size);
        }
    }
}

#define TTOOL_DENTS_    8192
#define TTOOL_ONE_NAME_ (NAME_MAX + 2 + 2 * sizeof(char *))

static int ttool_order_names_(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Puts a name behind the path of the open directory. */
static bool ttool_walk_name_(ttool_walk_ *w, const char *name)
{
    size_t at = w->level[w->depth].path_len, len = strlen(name);
    if (at + len + 2 > sizeof w->path)
        return false;
    if (at)
        w->path[at++] = '/';
    memcpy(w->path + at, name, len + 1);
    w->name = w->path + at;
    return true;
}

static char ttool_walk_type_(int dir, const ttool_dent_ *e)
{
    struct stat st;
    switch (e->type) {
    case 4: return TTOOL_DIR_;
    case 8: return TTOOL_FILE_;
    case 10: return TTOOL_LINK_TO_;
    case 0: break; /* the file system does not say */
    default: return TTOOL_OTHER_;
    }
    if (fstatat(dir, e->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return TTOOL_OTHER_;
    return S_ISDIR(st.st_mode)   ? TTOOL_DIR_
           : S_ISREG(st.st_mode) ? TTOOL_FILE_
           : S_ISLNK(st.st_mode) ? TTOOL_LINK_TO_
                                 : TTOOL_OTHER_;
}

/* Does a file not match? */
static bool ttool_walk_skips_(const ttool_walk_ *w, char type)
{
    const char *text = w->by_name ? w->name : w->path + w->base;
    return type == TTOOL_FILE_ && w->only &&
           !ttool_pattern_find(w->only, text, text + strlen(text));
}

/* Keeps an entry of the open directory; false: there is no room. */
static bool ttool_walk_keep_(ttool_walk_ *w, const ttool_dent_ *e)
{
    ttool_work_ *memory = &w->ws->at;
    ttool_level_ *l = &w->level[w->depth];
    size_t len = strlen(e->name) + 1;
    char type;
    if (e->name[0] == '.' &&
        (!e->name[1] || (e->name[1] == '.' && !e->name[2])))
        return true;
    if ((size_t)(memory->high - memory->low) <
        l->spare + len + 1 + 2 * sizeof(char *))
        return false;
    type = ttool_walk_type_(w->ws->dir, e);
    w->seen++;
    if (!ttool_walk_name_(w, e->name)) {
        w->too_deep = true;
        return true;
    }
    if (ttool_walk_skips_(w, type))
        return true;
    *memory->low = type;
    memcpy(memory->low + 1, e->name, len);
    memory->high -= sizeof(char *);
    l->entries = (char **)(void *)memory->high;
    l->entries[0] = memory->low;
    l->count++;
    memory->low += len + 1;
    return true;
}

/* Begins to read the directory at w->path, or goes on with it. It gets half of
 * the memory, and those that may be below it keep room for a name each. */
static bool ttool_walk_open_(ttool_walk_ *w, ttool_level_ *l)
{
    ttool_workspace *ws = w->ws;
    size_t below = (size_t)(TTOOL_MAX_DEPTH - w->depth) * TTOOL_ONE_NAME_;
    size_t room = (size_t)(ws->at.high - ws->at.low);
    w->no_memory |= room < TTOOL_ONE_NAME_;
    if (room < TTOOL_ONE_NAME_)
        return false;
    l->spare = room > below ? below + (room - below) / 2 : 0;
    l->spare =
        l->spare < room - TTOOL_ONE_NAME_ ? l->spare : room - TTOOL_ONE_NAME_;
    ttool_close_(&ws->dir);
    ws->dir = ttool_open_(ws, w->path, O_RDONLY | O_DIRECTORY);
    if (ws->dir < 0 ||
        (l->more && lseek(ws->dir, (off_t)l->offset, SEEK_SET) < 0)) {
        w->unreadable = true;
        return false;
    }
    l->entries = (char **)(void *)ws->at.high;
    l->count = l->next = 0;
    l->more = false;
    w->reading = true;
    return true;
}

/* Enters the directory at w->path. */
static void ttool_walk_enter_(ttool_walk_ *w)
{
    ttool_level_ *l = &w->level[w->depth + 1];
    ttool_close_(&w->ws->dir);
    if (w->depth + 1 >= w->max_depth) {
        w->too_deep = true;
        return;
    }
    if (!ttool_goes_on_(w->ws, w->cx, w->seen, "entries")) {
        w->no_time = true;
        return;
    }
    l->path_len = strlen(w->path);
    l->low = w->ws->at.low;
    l->high = w->ws->at.high;
    l->more = false;
    l->offset = 0;
    w->depth += ttool_walk_open_(w, l);
}

/* Keeps entries as the system gives them; false: there are no more, or no room
 * for more. */
static bool ttool_walk_read_some_(ttool_walk_ *w, ttool_level_ *l)
{
    long n, at;
    n = syscall(SYS_getdents64, w->ws->dir, w->buffer, TTOOL_DENTS_);
    w->unreadable |= n < 0;
    for (at = 0; at < n;) {
        const ttool_dent_ *e =
            (const ttool_dent_ *)(const void *)(w->buffer + at);
        l->more = !ttool_walk_keep_(w, e);
        if (l->more)
            return false;
        l->offset = e->offset;
        at += e->size;
        ttool_spend_(w->ws, 1);
    }
    return n > 0;
}

/* False: the piece of work is done before the directory was read. */
static bool ttool_walk_read_(ttool_walk_ *w, ttool_level_ *l)
{
    while (!w->no_time && ttool_walk_read_some_(w, l))
        if (ttool_pauses_(w->ws, w->cx))
            return false;
    w->reading = false;
    ttool_sort_(l->entries, l->count, sizeof(char *), ttool_order_names_);
    return true;
}

/* The part of a directory that comes after the one that was visited. */
static bool ttool_walk_more_(ttool_walk_ *w, ttool_level_ *l)
{
    if (!l->more || w->no_time)
        return false;
    w->path[l->path_len] = '\0';
    w->ws->at.low = l->low;
    w->ws->at.high = l->high;
    return ttool_walk_open_(w, l);
}

/* The entry of a name is at hand; false: it is left out. */
static bool ttool_walk_visit_(ttool_walk_ *w, const char *row)
{
    ttool_walk_name_(w, row + 1);
    w->type = row[0];
    w->enter = strcmp(w->name, ".git") != 0;
    if (w->type != TTOOL_FILE_ || w->secrets ||
        !(ttool_guards_(w->path) & TTOOL_SECRET_))
        return true;
    w->secret++;
    return false;
}

bool ttool_walk_next_(ttool_walk_ *w)
{
    bool enter = w->enter && w->type == TTOOL_DIR_;
    if (w->paused && w->reading &&
        !ttool_goes_on_(w->ws, w->cx, w->seen, "entries"))
        w->no_time = true;
    w->paused = w->enter = false;
    if (enter && !w->no_time)
        ttool_walk_enter_(w);
    while (w->depth >= 0) {
        ttool_level_ *l = &w->level[w->depth];
        w->paused = ttool_pauses_(w->ws, w->cx) ||
                    (w->reading && !ttool_walk_read_(w, l));
        if (w->paused)
            return false;
        if (l->next < l->count && !w->no_time) {
            if (ttool_walk_visit_(w, l->entries[l->next++]))
                return true;
        } else if (!ttool_walk_more_(w, l)) {
            w->ws->at.low = l->low;
            w->ws->at.high = l->high;
            ttool_close_(&w->ws->dir);
            w->depth--;
        }
    }
    return false;
}

bool ttool_walk_start_(ttool_walk_ *w, tcall_ctx *cx, ttool_workspace *ws,
                       const char *path)
{
    w->ws = ws;
    w->cx = cx;
    w->only = NULL;
    w->by_name = w->secrets = false;
    w->max_depth = TTOOL_MAX_DEPTH;
    w->depth = -1;
    w->paused = w->reading = false;
    w->seen = w->secret = 0;
    w->no_memory = w->no_time = w->too_deep = w->unreadable = false;
    w->escaped = false;
    w->base = strlen(path) + (*path != '\0');
    memcpy(w->path, path, strlen(path) + 1);
    w->type = TTOOL_DIR_;
    w->enter = true;
    w->buffer = (char *)ttool_take_(w->ws, TTOOL_DENTS_);
    return w->buffer != NULL;
}

void ttool_notice_(tcall_writer *out, const char *text)
{
    tcall_write_text(out, "[");
    tcall_write_text(out, text);
    tcall_write_text(out, "]\n");
}

int ttool_walk_end_(const ttool_walk_ *w, tcall_writer *out, uint64_t shown,
                    bool cut)
{
    if (w->no_time)
        ttool_notice_(out, "not everything was searched: time is up; name a "
                           "directory");
    if (w->no_memory)
        ttool_notice_(out, "not everything was searched: a directory has too "
                           "many entries");
    if (w->too_deep)
        ttool_notice_(out, "not everything was searched: directories are "
                           "nested too deeply");
    if (w->unreadable)
        ttool_notice_(out, "some directories cannot be read");
    if (w->escaped)
        ttool_notice_(out, "names with \\ are escaped: give them as they are "
                           "written here");
    if (w->secret) {
        tcall_write_text(out, "[left out, with names of secrets: ");
        ttool_text_int_(out, w->secret);
        tcall_write_text(out, "]\n");
    }
    ttool_counted_(w->cx, shown,
                   cut || w->no_time || w->no_memory || w->too_deep);
    return ttool_end_(w->cx);
}

/* -- Did you mean --------------------------------------------------------- */

/* Letters to change, add or take away between two names; case is free. */
static size_t ttool_distance_(const char *a, const char *b)
{
    size_t row[65], n = strlen(b), i;
    if (n > 64 || strlen(a) > 64)
        return 64;
    for (i = 0; i <= n; i++)
        row[i] = i;
    for (; *a; a++) {
        size_t left_up = row[0]++;
        for (i = 1; i <= n; i++) {
            size_t best =
                left_up + (ttool_lower_(*a) != ttool_lower_(b[i - 1]));
            left_up = row[i];
            best = best < row[i] + 1 ? best : row[i] + 1;
            row[i] = best < row[i - 1] + 1 ? best : row[i - 1] + 1;
        }
    }
    return row[n];
}

/* Suggests what has the most similar names; type: of these only, 0 any. */
static void ttool_suggest_(tcall_ctx *cx, ttool_workspace *ws, const char *path,
                           char type)
{
    const char *wanted = ttool_base_(path);
    char best[2][256];
    const size_t cap = sizeof best * 4;
    char *text = (char *)tcall_scratch(cx, "ttool.suggestion", cap);
    tcall_writer out;
    size_t found = 0, limit = 1 + strlen(wanted) / 4, score[2], d;
    ttool_walk_ *w = (ttool_walk_ *)ttool_take_(ws, sizeof *w);
    if (!text || !w || !ttool_walk_start_(w, cx, ws, ""))
        return;
    while (w->seen < 20000 && ttool_walk_next_(w)) {
        if (strlen(w->path) >= sizeof best[0] || (type && w->type != type))
            continue;
        d = ttool_distance_(wanted, w->name);
        if (d > limit || (found == 2 && d >= score[1]))
            continue;
        if (found == 0 || d >= score[0]) {
            found += found < 2;
            strcpy(best[found - 1], w->path);
            score[found - 1] = d;
        } else {
            memcpy(best[1], best[0], sizeof best[0]);
            score[1] = score[0];
            strcpy(best[0], w->path);
            score[0] = d;
            found = 2;
        }
    }
    ttool_close_(&ws->dir);
    tcall_writer_init(&out, text, cap - 1);
    for (d = 0; d < found; d++) {
        tcall_write_text(&out, d ? " or " : "Did you mean ");
        ttool_write_path_(&out, best[d]);
    }
    tcall_write_text(&out, "?");
    text[out.fill] = '\0';
    if (found)
        cx->result.suggestion = text;
}

int ttool_missing_(tcall_ctx *cx, ttool_workspace *ws, tcall_writer *out,
                   const char *given, const ttool_place *at, char type)
{
    int r = ttool_fail_errno_(cx, out, given, ENOENT);
    ttool_suggest_(cx, ws, at->path, type);
    return r;
}

/* -- Finding what an argument names --------------------------------------- */

int ttool_find_there_(tcall_ctx *cx, ttool_workspace *ws, tcall_str path,
                      char type, ttool_place *at, tcall_writer *out)
{
    char given[128];
    char named[TTOOL_MAX_PATH];
    int number;
    path = ttool_read_path_(path, named, sizeof named);
    number = ttool_find_(ws, at, path);
    ttool_given_(given, sizeof given, path);
    if (number)
        return ttool_fail_errno_(cx, out, given, number);
    return at->exists ? TCALL_OK : ttool_missing_(cx, ws, out, given, at, type);
}

int ttool_find_dir_(tcall_ctx *cx, ttool_workspace *ws, tcall_str path,
                    ttool_place *at, tcall_writer *out)
{
    int r = ttool_find_there_(cx, ws, path, TTOOL_DIR_, at, out);
    if (r == TCALL_OK && !S_ISDIR(at->st.st_mode))
        return ttool_fail_(cx, out, TCALL_E_FAILED, at->path,
                           "is no directory\nName the directory it is in.");
    return r;
}

/* A file with several names may be somebody's outside: see workspace.h. */
int ttool_one_name_(tcall_ctx *cx, const ttool_place *at, tcall_writer *out)
{
    const ttool_workspace *ws = (const ttool_workspace *)cx->user;
    return ttool_has_names_(ws, &at->st)
               ? ttool_fail_(cx, out, TCALL_E_DENIED, at->path,
                             "has several names (hard links), perhaps outside"
                             "\nRead another one. Write a new file.")
               : TCALL_OK;
}

int ttool_find_file_(tcall_ctx *cx, tcall_str path, ttool_place *at,
                     tcall_writer *out)
{
    ttool_workspace *ws = (ttool_workspace *)cx->user;
    int r = ttool_find_there_(cx, ws, path, TTOOL_FILE_, at, out);
    if (r < 0)
        return r;
    tcall_concerns(cx, tcall_str_of(at->path));
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
