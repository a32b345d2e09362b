/*
 * workspace.h - a directory that tools may work in, and nothing beside it
 *
 *     static char memory[TTOOL_MEMORY];
 *     static ttool_workspace ws;
 *     ttool_workspace_open(&ws, &(ttool_workspace_desc){
 *         .root = ".", .memory = memory, .memory_size = sizeof memory});
 *     n = ttool_rows(rows, ttool_file_tools, TTOOL_FILE_TOOLS, &ws);
 *
 * The root is opened once; whatever a model names is opened relative to that
 * handle, by openat2 with RESOLVE_BENEATH, or component by component where the
 * kernel has none. The kernel never follows a symbolic link for us: links are
 * read and taken apart here, as text, and what that gives is opened again
 * without following any. So the path that is judged (secret? outside?) is the
 * path that is opened, and a link that changes meanwhile makes an error, never
 * an escape. Only regular files are opened, and never so that it blocks.
 *
 * Files change by temporary file, fsync, rename, fsync of the directory: power
 * loss or a full disk leaves the old or the new content. What a killed process
 * leaves of it goes when its workspace is opened again. A file that is there
 * must have been read with the content that it has.
 *
 * The same rules hold for reading and for writing:
 *   permissions   The system's: what the process may not open for reading is
 *                 not read, what it may not open for writing is not replaced.
 *   owners        A file that is replaced keeps owner, group and mode, or is
 *                 left as it is. Extended attributes and ACLs are not kept.
 *   hard links    A file with several names may belong to somebody outside: it
 *                 is neither read nor written, unless desc.hard_links is set.
 *                 Then a write gives one name a file of its own.
 *   mounts        What is mounted below the root belongs to the workspace. A
 *                 single file that is mounted cannot be replaced.
 *   sizes         A file is as long as it was when it was opened; one that
 *                 grows is read that far. One without a size, as in /proc, is
 *                 read as far as it goes within the memory.
 * A read from a file system that does not answer (NFS, FUSE) waits as long as
 * the kernel does: mount such file systems so that they give up.
 *
 * Searches are done in pieces: a call looks at some hundred files, answers
 * TCALL_E_AGAIN, and goes on when it is invoked again. Another search waits
 * until it has ended; what takes no time is done in between.
 *
 * Linux. Needs _GNU_SOURCE before the first system header. No heap: what one
 * call needs is in desc.memory, so a workspace serves one thread.
 */
#ifndef TTOOL_WORKSPACE_H
#define TTOOL_WORKSPACE_H

#include "tools/seen.h"
#include "tools/text.h"
#include <sys/stat.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory with which all works. Files can be edited that take up to a quarter of
 * it: give more where they are larger. */
#define TTOOL_MEMORY (256 * 1024)

/* Longest path, below the root and with the NUL. */
#define TTOOL_MAX_PATH 4096
/* Levels of directories that a search goes down. */
#define TTOOL_MAX_DEPTH 64
/* Files whose content is remembered as read. */
#define TTOOL_MAX_SEEN 256

/* What changes files, and what tests replace. As the system calls of these
 * names: -1 and errno. */
typedef struct ttool_sys {
    int (*openat2)(int dir, const char *path, uint64_t flags, uint64_t resolve);
    int (*create)(int dir, const char *name, unsigned mode);
    ssize_t (*write)(int fd, const void *bytes, size_t len);
    int (*fsync)(int fd);
    int (*close)(int fd);
    int (*rename)(int dir, const char *from, const char *to, unsigned flags);
    int (*unlink)(int dir, const char *name);
    int (*mkdir)(int dir, const char *name, unsigned mode);
    uint32_t (*now_ms)(void); /* monotonic, wraps */
} ttool_sys;

/* The system itself. */
extern const ttool_sys ttool_linux;

typedef struct ttool_workspace_desc {
    const char *root; /* a directory; neither / nor the home directory */
    void *memory;
    size_t memory_size;   /* TTOOL_MEMORY or more */
    uint32_t max_ms;      /* of one search; default 10,000 */
    uint32_t max_tokens;  /* of one result; default 16,000 */
    bool blind_writes;    /* files may be written without having been read */
    bool hard_links;      /* files with several names are read and written */
    const ttool_sys *sys; /* default: ttool_linux */
} ttool_workspace_desc;

/* private: what a call has of the workspace */
typedef struct ttool_work_ {
    char *low, *high;       /* free memory */
    tcall_writer text;      /* output of a call that is done in pieces */
    size_t streamed;        /* bytes of the output that were told as chunks */
    uint32_t started, told; /* when */
    uint32_t budget;        /* work that is left of the piece */
} ttool_work_;

typedef struct ttool_workspace {
    ttool_workspace_desc desc;
    ttool_files files; /* that were read and written, by path below the root */
    /* private */
    int root;      /* its handle */
    bool stepwise; /* there is no openat2 */
    char name[TTOOL_MAX_PATH];
    size_t name_len;
    ttool_work_ at;     /* the call at work */
    ttool_work_ kept;   /* the one that has answered TCALL_E_AGAIN */
    void *long_call;    /* its state; NULL: there is none */
    uint32_t turn;      /* its number, which the call knows */
    int dir, file;      /* handles that it holds, or -1 */
    unsigned temporary; /* files so far */
    ttool_file seen[TTOOL_MAX_SEEN];
} ttool_workspace;

/* TCALL_OK; TCALL_E_USAGE: too little memory; TCALL_E_DENIED: such a root is
 * not taken; TCALL_E_NOT_FOUND: there is no such directory. */
int ttool_workspace_open(ttool_workspace *ws, const ttool_workspace_desc *desc);
void ttool_workspace_close(ttool_workspace *ws);

/* Copies rows of a table of tools, with the user that they work for. Returns
 * count. */
size_t ttool_rows(tcall_tool *to, const tcall_tool *table, size_t count,
                  void *user);

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_WORKSPACE_H */

#if defined TTOOL_IMPLEMENTATION && !defined TTOOL_WORKSPACE_IMPLEMENTED_
#define TTOOL_WORKSPACE_IMPLEMENTED_

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef O_PATH
#error "define _GNU_SOURCE before the first system header"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A row of a const table. In C++ it is made by a function: there, members
 * cannot be named before C++20. */
#ifdef __cplusplus
static inline tcall_tool ttool_row_(const char *name, const char *title,
                                    const char *tags, tcall_run run,
                                    unsigned permissions, bool confirm,
                                    const char *description,
                                    const char *parameters)
{
    tcall_tool t;
    memset(&t, 0, sizeof t);
    t.name = name;
    t.title = title;
    t.tags = tags;
    t.description = description;
    t.parameters = parameters;
    t.run = run;
    t.permissions = (uint8_t)permissions;
    t.confirm = confirm;
    return t;
}
#define TTOOL_ROW_(n, t, g, r, p, c, d, s) ttool_row_(n, t, g, r, p, c, d, s)
#else
#define TTOOL_ROW_(n, t, g, r, p, c, d, s)                            \
    {                                                                 \
        .name = n, .title = t, .tags = g, .run = r, .permissions = p, \
        .confirm = c, .description = d, .parameters = s               \
    }
#endif

size_t ttool_rows(tcall_tool *to, const tcall_tool *table, size_t count,
                  void *user)
{
    size_t i;
    for (i = 0; i < count; i++) {
        to[i] = table[i];
        to[i].user = user;
    }
    return count;
}

/* -- The system ----------------------------------------------------------- */

/* As in linux/openat2.h, which older systems lack. */
struct ttool_open_how_ {
    uint64_t flags, mode, resolve;
};
enum { TTOOL_NO_MAGICLINKS_ = 2, TTOOL_NO_SYMLINKS_ = 4, TTOOL_BENEATH_ = 8 };
enum { TTOOL_NOREPLACE_ = 1 }; /* of renameat2 */

static int ttool_sys_openat2_(int dir, const char *path, uint64_t flags,
                              uint64_t resolve)
{
#ifdef SYS_openat2
    struct ttool_open_how_ how;
    memset(&how, 0, sizeof how);
    how.flags = flags;
    how.resolve = resolve;
    return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
#else
    (void)dir, (void)path, (void)flags, (void)resolve;
    errno = ENOSYS;
    return -1;
#endif
}

static int ttool_sys_create_(int dir, const char *name, unsigned mode)
{
    return openat(dir, name,
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

static int ttool_sys_rename_(int dir, const char *from, const char *to,
                             unsigned flags)
{
    return (int)syscall(SYS_renameat2, dir, from, dir, to, flags);
}

static int ttool_sys_unlink_(int dir, const char *name)
{
    return unlinkat(dir, name, 0);
}

static int ttool_sys_mkdir_(int dir, const char *name, unsigned mode)
{
    return mkdirat(dir, name, mode);
}

static uint32_t ttool_sys_now_ms_(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint32_t)t.tv_sec * 1000u + (uint32_t)(t.tv_nsec / 1000000);
}

const ttool_sys ttool_linux = {ttool_sys_openat2_,
                               ttool_sys_create_,
                               write,
                               fsync,
                               close,
                               ttool_sys_rename_,
                               ttool_sys_unlink_,
                               ttool_sys_mkdir_,
                               ttool_sys_now_ms_};

/* -- What is said to the model -------------------------------------------- */

/* "path: what", the reason that the model gets; of a long path the end. In
 * what, which outlives the call, a newline parts what is wrong from what to do
 * about it. */
static int ttool_fail_(tcall_ctx *cx, tcall_writer *out, int error,
                       const char *path, const char *what)
{
    size_t len = strlen(path), wrong = strcspn(what, "\n");
    if (len > 60)
        tcall_write_text(out, "...");
    ttool_write_path_(out, len > 60 ? path + len - 57 : path);
    tcall_write_text(out, len && wrong ? ": " : "");
    tcall_write_bytes(out, what, wrong);
    if (what[wrong])
        cx->result.suggestion = what + wrong + 1;
    return error;
}

static const struct ttool_errno_ {
    int number, error;
    const char *text;
} ttool_errno_[] = {
    {ENOENT, TCALL_E_NOT_FOUND,
     "no such file or directory\nSee with list or glob what there is."},
    {EACCES, TCALL_E_DENIED,
     "permission denied by the system\nLeave it, or ask for the permission."},
    {EPERM, TCALL_E_DENIED,
     "not permitted by the system\nLeave it, or ask for the permission."},
    {EXDEV, TCALL_E_DENIED,
     "leads out of the workspace\nName it relative to the workspace's root."},
    {ELOOP, TCALL_E_FAILED,
     "too many symbolic links\nName the file itself, not a link."},
    {ENOTDIR, TCALL_E_FAILED,
     "a part of the path is no directory\nSee with list what there is."},
    {EISDIR, TCALL_E_FAILED, "is a directory\nUse list."},
    {EEXIST, TCALL_E_FAILED,
     "has just been made by somebody else\nRead it first."},
    {ENAMETOOLONG, TCALL_E_FAILED,
     "the path or a name in it is too long\nUse a shorter one."},
    {ENOSPC, TCALL_E_LIMIT,
     "no space left on the disk: nothing was changed\nAsk for space."},
    {EDQUOT, TCALL_E_LIMIT,
     "disk quota used up: nothing was changed\nAsk for space."},
    {EFBIG, TCALL_E_LIMIT,
     "the file is too large for this\nWork with smaller files."},
    {EBUSY, TCALL_E_DENIED,
     "is in use by the system, as a mount or a program\nLeave it."},
    {ETXTBSY, TCALL_E_DENIED,
     "is in use by the system, as a mount or a program\nLeave it."},
    {EROFS, TCALL_E_DENIED, "the disk is read-only\nWrite to another place."},
    {EMFILE, TCALL_E_LIMIT, "too many open files\nTry again later."},
    {EAGAIN, TCALL_E_FAILED, "in use by another call\nTry again."},
    {ESTALE, TCALL_E_STALE, "changed since it was read\nRead it again."},
    {0, TCALL_E_FAILED,
     "input or output error; nothing was changed\nTry another file."},
};

static int ttool_fail_errno_(tcall_ctx *cx, tcall_writer *out, const char *path,
                             int number)
{
    const struct ttool_errno_ *e = ttool_errno_;
    while (e->number && e->number != number)
        e++;
    return ttool_fail_(cx, out, e->error, path, e->text);
}

static tcall_str ttool_arg_(tcall_json args, const char *name)
{
    return tcall_json_str(tcall_json_get(args, name));
}

/* The path as given, for messages. */
static const char *ttool_given_(char *buf, size_t cap, tcall_str path)
{
    size_t n = path.len < cap - 1 ? path.len : cap - 1;
    if (n)
        memcpy(buf, path.ptr, n);
    buf[n] = '\0';
    return buf;
}

/* "Read src/a.c". Where there is no memory for it, there is no title. */
static void ttool_title_(tcall_ctx *cx, const char *what, tcall_str of)
{
    char given[80], text[400];
    tcall_str title = {text, 0};
    tcall_writer w;
    tcall_writer_init(&w, text, sizeof text);
    tcall_write_text(&w, what);
    ttool_write_path_(&w, ttool_given_(given, sizeof given, of));
    title.len = w.fill;
    tcall_set_result(cx, title, tcall_str_of(""));
}

/* -- A call and its memory ------------------------------------------------ */

static void ttool_close_(int *handle)
{
    if (*handle >= 0)
        close(*handle);
    *handle = -1;
}

/* Begins a call: all memory is free but what a longer one keeps. */
static ttool_workspace *ttool_begin_(ttool_workspace *ws)
{
    char *low = (char *)ws->desc.memory, *high = low + ws->desc.memory_size;
    memset(&ws->at, 0, sizeof ws->at);
    ws->at.low = ws->long_call ? ws->kept.low : low;
    ws->at.high = ws->long_call ? ws->kept.high : high - ((uintptr_t)high & 15);
    ws->at.started = ws->at.told = ws->desc.sys->now_ms();
    return ws;
}

/* n bytes, aligned, until the call ends; NULL: there are not so many. */
static void *ttool_take_(ttool_workspace *ws, size_t n)
{
    char *p = ws->at.low + ((size_t) - (uintptr_t)ws->at.low & 15);
    if (p > ws->at.high || n > (size_t)(ws->at.high - p))
        return NULL;
    ws->at.low = p + n;
    return p;
}

/* -- Calls that are done in pieces ---------------------------------------- */

/* Work of one piece: entries of directories, each 4 KB that are read. A file
 * that is opened costs TTOOL_OPENED_ of it. */
enum { TTOOL_PIECE_ = 2048, TTOOL_OPENED_ = 8 };

static void ttool_spend_(ttool_workspace *ws, size_t work)
{
    ws->at.budget -= work < ws->at.budget ? (uint32_t)work : ws->at.budget;
}

/* Is it time to answer TCALL_E_AGAIN? Calls that are done at once never do. */
static bool ttool_pauses_(const ttool_workspace *ws, const tcall_ctx *cx)
{
    return ws->at.text.buf && !ws->at.budget && !cx->stop;
}

/* Ends the call that is done in pieces, if there is one. */
static void ttool_end_long_(ttool_workspace *ws)
{
    ttool_close_(&ws->dir);
    ttool_close_(&ws->file);
    ws->long_call = NULL;
}

/* What a tool does whose work is done in pieces: its state has `size` bytes,
 * zeroed at first, and what it writes is kept. */
typedef struct ttool_pieces_ {
    size_t size;
    int (*begin)(tcall_ctx *cx, void *state, tcall_json args,
                 tcall_writer *out);
    int (*go_on)(void *state, tcall_writer *out);
} ttool_pieces_;

/* Takes the workspace, and what room the result may need, of a quarter of the
 * memory. */
static bool ttool_begin_long_(ttool_workspace *ws, size_t size,
                              const tcall_writer *out)
{
    size_t room = ws->desc.memory_size / 4;
    char *text;
    ttool_end_long_(ws);
    ttool_begin_(ws);
    if (out->buf && !out->sink && out->cap - out->fill < room)
        room = out->cap - out->fill;
    text = (char *)ttool_take_(ws, room + 1);
    ws->long_call = text ? ttool_take_(ws, size) : NULL;
    if (!ws->long_call)
        return false;
    memset(ws->long_call, 0, size);
    tcall_writer_init(&ws->at.text, text, room);
    ws->turn++;
    return true;
}

/* Makes a piece of a call. `turn` is the call's: 0 as long as it has not begun.
 * Who has it and is not seen for too long has lost it: it was not invoked. */
static int ttool_run_piece_(tcall_ctx *cx, tcall_json args, tcall_writer *out,
                            const ttool_pieces_ *tool, uint32_t *turn)
{
    ttool_workspace *ws = (ttool_workspace *)cx->user;
    int r = TCALL_OK;
    if (*turn && (*turn != ws->turn || !ws->long_call))
        return ttool_fail_(cx, out, TCALL_E_FAILED, "",
                           "another search took its place\nTry again.");
    if (*turn) {
        ws->at = ws->kept;
    } else if (ws->long_call &&
               ws->desc.sys->now_ms() - ws->kept.started < ws->desc.max_ms) {
        return cx->stop < 0 ? cx->stop : TCALL_E_AGAIN;
    } else if (!ttool_begin_long_(ws, tool->size, out)) {
        return TCALL_E_MEMORY;
    } else {
        *turn = ws->turn;
        r = tool->begin(cx, ws->long_call, args, &ws->at.text);
    }
    ws->at.budget = TTOOL_PIECE_;
    if (r == TCALL_OK)
        r = tool->go_on(ws->long_call, &ws->at.text);
    if (r == TCALL_E_AGAIN) {
        ws->kept = ws->at;
        return tcall_wait_ms(&cx->wait, 0);
    }
    ttool_end_long_(ws);
    *turn = 0;
    tcall_write_bytes(out, ws->at.text.buf, ws->at.text.fill);
    return r;
}

static int ttool_run_pieces_(tcall_ctx *cx, tcall_json args, tcall_writer *out,
                             const ttool_pieces_ *tool)
{
    uint32_t *turn = (uint32_t *)tcall_scratch(cx, "ttool.turn", sizeof *turn);
    return turn ? ttool_run_piece_(cx, args, out, tool, turn) : TCALL_E_MEMORY;
}

/* What the call has written so far. */
static tcall_str ttool_output_(const ttool_workspace *ws, const tcall_ctx *cx)
{
    tcall_str text = {ws->at.text.buf, ws->at.text.fill};
    return ws->at.text.buf ? text : tcall_output(cx);
}

/* Called now and then in long work: each second it tells how far that is and
 * what is new of the output. False: it has to end. */
static bool ttool_goes_on_(ttool_workspace *ws, tcall_ctx *cx, uint64_t count,
                           const char *of_what)
{
    uint32_t now = ws->desc.sys->now_ms();
    if (now - ws->at.told >= 1000) {
        char text[96];
        tcall_str said = {text, 0}, fresh = ttool_output_(ws, cx);
        said.len = (size_t)snprintf(text, sizeof text, "%.32s: %llu %.32s",
                                    cx->call->tool->name,
                                    (unsigned long long)count, of_what);
        ws->at.told = now;
        tcall_progress(cx, said);
        fresh.ptr += ws->at.streamed;
        fresh.len -= ws->at.streamed;
        ws->at.streamed += fresh.len;
        if (fresh.len)
            tcall_emit(cx, fresh);
    }
    return !cx->stop && tcall_time_left(cx) > 0 &&
           now - ws->at.started < ws->desc.max_ms;
}

/* What a tool returns that may have been stopped. */
static int ttool_end_(tcall_ctx *cx)
{
    if (cx->stop)
        tcall_abort(cx, "stopped before it was done", NULL, 0);
    return cx->stop;
}

/* Bytes that the result may still have: within its tokens, four bytes each,
 * and with room left for a notice. */
static size_t ttool_room_(const ttool_workspace *ws, const tcall_writer *out,
                          size_t start)
{
    size_t most = (size_t)ws->desc.max_tokens * 4, used = out->len - start;
    size_t room = out->cap - out->fill, notice = 256;
    if (!out->buf || out->sink)
        room = (size_t)-1;
    room = room > notice ? room - notice : 0;
    most = most > used ? most - used : 0;
    return room < most ? room : most;
}

/* Somebody has to say yes to this call, with these arguments. */
static int ttool_ask_(tcall_ctx *cx, tcall_writer *out, const char *path,
                      const char *why)
{
    int r = tcall_approval(cx);
    return r == TCALL_E_DENIED ? ttool_fail_(cx, out, r, path, why) : r;
}

/* -- Names that need a yes ------------------------------------------------ */

enum { TTOOL_SECRET_ = 1, TTOOL_RUNS_ = 2 };

static const struct ttool_guarded_ {
    char name[24]; /* of any part of the path; * stands for any characters */
    uint8_t what;
} ttool_guarded_[] = {
    {".env*", TTOOL_SECRET_ | TTOOL_RUNS_}, /* .envrc is run as well */
    {"*.env", TTOOL_SECRET_},
    {"id_rsa*", TTOOL_SECRET_},
    {"id_dsa*", TTOOL_SECRET_},
    {"id_ecdsa*", TTOOL_SECRET_},
    {"id_ed25519*", TTOOL_SECRET_},
    {"*.pem", TTOOL_SECRET_},
    {"*.key", TTOOL_SECRET_},
    {"*.p12", TTOOL_SECRET_},
    {"*.pfx", TTOOL_SECRET_},
    {"*.jks", TTOOL_SECRET_},
    {"*.kdbx", TTOOL_SECRET_},
    {"*.keystore", TTOOL_SECRET_},
    {"*credentials*", TTOOL_SECRET_},
    {"secrets.*", TTOOL_SECRET_},
    {".netrc", TTOOL_SECRET_},
    {".pgpass", TTOOL_SECRET_},
    {".npmrc", TTOOL_SECRET_},
    {".pypirc", TTOOL_SECRET_},
    {".htpasswd", TTOOL_SECRET_},
    {".ssh", TTOOL_SECRET_},
    {".gnupg", TTOOL_SECRET_},
    {".aws", TTOOL_SECRET_},
    {".kube", TTOOL_SECRET_},
    {".docker", TTOOL_SECRET_},
    {".git", TTOOL_SECRET_ | TTOOL_RUNS_}, /* hooks; passwords in config */
    {".github", TTOOL_RUNS_},
    {".gitlab-ci.yml", TTOOL_RUNS_},
    {".circleci", TTOOL_RUNS_},
    {".husky", TTOOL_RUNS_},
    {".vscode", TTOOL_RUNS_},
    {".idea", TTOOL_RUNS_},
    {".*rc", TTOOL_RUNS_},
    {".*profile", TTOOL_RUNS_},
    {"makefile", TTOOL_RUNS_},
    {"gnumakefile", TTOOL_RUNS_},
    {"jenkinsfile", TTOOL_RUNS_},
    {"package.json", TTOOL_RUNS_},
    {".pre-commit-config.yaml", TTOOL_RUNS_},
};

/* Capitals count as small letters: some file systems see no difference. */
static bool ttool_like_(const char *pattern, const char *name, size_t len)
{
    const char *star = NULL, *p = pattern;
    size_t i = 0, from = 0;
    while (i < len) {
        if (*p == '*') {
            star = ++p;
            from = i;
        } else if (*p && *p == ttool_lower_(name[i])) {
            p++;
            i++;
        } else if (star) {
            p = star;
            i = ++from;
        } else {
            return false;
        }
    }
    while (*p == '*')
        p++;
    return *p == '\0';
}

/* TTOOL_SECRET_ and TTOOL_RUNS_ bits of a path. */
static unsigned ttool_guards_(const char *path)
{
    unsigned what = 0;
    while (*path) {
        size_t len = strcspn(path, "/"), i;
        for (i = 0; i < TCALL_ARRAY_LEN(ttool_guarded_); i++)
            if (ttool_like_(ttool_guarded_[i].name, path, len))
                what |= ttool_guarded_[i].what;
        path += len + (path[len] == '/');
    }
    return what;
}

/* -- From a path to a handle ---------------------------------------------- */

/* Text of a path becomes one below the root, without "", "." and "..", which
 * is "" for the root itself. Returns 0 or an errno. path may be in out. */
static int ttool_normal_(const ttool_workspace *ws, char *out, tcall_str path)
{
    const char *p = path.len ? path.ptr : "", *end = p + path.len;
    size_t n = 0;
    out[0] = '\0';
    if (path.len && *p == '/') {
        size_t skip = ws->name_len;
        if (path.len < skip || memcmp(p, ws->name, skip) != 0 ||
            (path.len > skip && p[skip] != '/'))
            return EXDEV;
        p += skip;
    }
    while (p < end) {
        const char *slash = (const char *)memchr(p, '/', (size_t)(end - p));
        size_t len = (size_t)((slash ? slash : end) - p);
        if (len == 2 && p[0] == '.' && p[1] == '.') {
            if (n == 0)
                return EXDEV;
            while (n > 0 && out[--n] != '/')
                continue;
        } else if (len && !(len == 1 && *p == '.')) {
            if (len > NAME_MAX || n + len + 2 > TTOOL_MAX_PATH)
                return ENAMETOOLONG;
            if (memchr(p, '\0', len))
                return ENOENT;
            if (n)
                out[n++] = '/';
            memmove(out + n, p, len);
            n += len;
        }
        p += len + (slash != NULL);
    }
    out[n] = '\0';
    return 0;
}

/* Where there is no openat2: one component after the other, none of them a
 * link. */
static int ttool_open_stepwise_(int root, const char *path, int flags)
{
    int dir = root, fd, number;
    char name[NAME_MAX + 1];
    for (;;) {
        size_t len = strcspn(path, "/");
        bool last = path[len] == '\0';
        memcpy(name, path, len);
        name[len] = '\0';
        fd = openat(dir, name,
                    last ? flags
                         : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        number = errno;
        if (dir != root)
            close(dir);
        errno = number;
        if (fd < 0 || last)
            return fd;
        dir = fd;
        path += len + 1;
    }
}

/* Opens a normal path without following any link: -1 and errno. */
static int ttool_open_(const ttool_workspace *ws, const char *path, int flags)
{
    const char *name = *path ? path : ".";
    int tries = 8, fd;
    flags |= O_NOFOLLOW | O_CLOEXEC;
    if (!(flags & O_PATH))
        flags |= O_NONBLOCK | O_NOCTTY;
    if (ws->stepwise)
        return ttool_open_stepwise_(ws->root, name, flags);
    do { /* EAGAIN: something was renamed while the kernel looked */
        fd = ws->desc.sys->openat2(ws->root, name, (uint64_t)(unsigned)flags,
                                   TTOOL_BENEATH_ | TTOOL_NO_SYMLINKS_ |
                                       TTOOL_NO_MAGICLINKS_);
    } while (fd < 0 && errno == EAGAIN && --tries);
    return fd;
}

/* Puts the target of the first link of path in its place. False: there is no
 * link, or *number says why it leads nowhere. */
static bool ttool_follow_(const ttool_workspace *ws, char *path, int *number)
{
    char text[TTOOL_MAX_PATH], prefix[TTOOL_MAX_PATH];
    char *at = path;
    *number = 0;
    for (;;) {
        size_t len = strcspn(at, "/"), end = (size_t)(at - path) + len, used;
        ssize_t n;
        int fd;
        memcpy(prefix, path, end);
        prefix[end] = '\0';
        fd = ttool_open_(ws, prefix, O_PATH);
        if (fd < 0)
            return false;
        used = (size_t)(at - path);
        memcpy(text, path, used);
        n = readlinkat(fd, "", text + used, sizeof text - used);
        close(fd);
        if (n > 0) {
            size_t rest = strlen(path + end);
            if (text[used] == '/') {
                memmove(text, text + used, (size_t)n);
                used = 0;
            }
            used += (size_t)n;
            if (used + rest + 1 > sizeof text) {
                *number = ENAMETOOLONG;
                return false;
            }
            memcpy(text + used, path + end, rest);
            {
                tcall_str whole = {text, 0};
                whole.len = used + rest;
                *number = ttool_normal_(ws, path, whole);
            }
            return *number == 0;
        }
        if (path[end] == '\0')
            return false;
        at = path + end + 1;
    }
}

typedef struct ttool_place {
    char path[TTOOL_MAX_PATH]; /* normal, and free of links */
    bool exists;
    struct stat st;
} ttool_place;

/* Does a path end in a way that only directories are named? */
static bool ttool_names_dir_(tcall_str path)
{
    const char *end = path.ptr + path.len;
    if (path.len && end[-1] == '.')
        end--;
    return end > path.ptr && end[-1] == '/';
}

/* Finds what the model named: links are followed as far as they stay inside.
 * Returns 0 or an errno; what does not exist is no error, but for a directory
 * above it that is none. */
static int ttool_find_(const ttool_workspace *ws, ttool_place *at,
                       tcall_str path)
{
    int links = 0, number = ttool_normal_(ws, at->path, path), fd;
    bool dir = ttool_names_dir_(path);
    at->exists = false;
    while (number == 0) {
        fd = ttool_open_(ws, at->path, O_PATH);
        number = fd < 0 ? errno : 0;
        if (fd >= 0) {
            if (fstat(fd, &at->st) != 0)
                number = errno;
            close(fd);
            if (number == 0 && !S_ISLNK(at->st.st_mode)) {
                at->exists = true;
                return dir && !S_ISDIR(at->st.st_mode) ? ENOTDIR : 0;
            }
        }
        if (number == 0 || number == ELOOP || number == ENOTDIR) {
            int why;
            if (++links > 16)
                return ELOOP;
            if (ttool_follow_(ws, at->path, &why))
                number = 0;
            else if (why || number == 0)
                number = why ? why : ELOOP;
        }
    }
    return number == ENOENT ? 0 : number;
}

static const char *ttool_kind_(mode_t mode)
{
    return S_ISDIR(mode)    ? "is a directory\nUse list."
           : S_ISFIFO(mode) ? "is a pipe, not a file\nName a file."
           : S_ISSOCK(mode) ? "is a socket, not a file\nName a file."
                            : "is a device, not a file\nName a file.";
}

/* May the system's other names of a file matter? */
static bool ttool_has_names_(const ttool_workspace *ws, const struct stat *st)
{
    return st->st_nlink > 1 && !ws->desc.hard_links;
}

/* Opens a regular file that was found, to read or to write: the same one, or
 * ESTALE. */
static int ttool_open_file_(const ttool_workspace *ws, const ttool_place *at,
                            int flags)
{
    struct stat st;
    int fd = ttool_open_(ws, at->path, flags);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
                    st.st_ino != at->st.st_ino || st.st_dev != at->st.st_dev)) {
        close(fd);
        errno = ESTALE;
        return -1;
    }
    return fd;
}

/* Fills buf as far as the file goes; -1 and errno. */
static ssize_t ttool_fill_(int fd, char *buf, size_t cap)
{
    size_t n = 0;
    while (n < cap) {
        ssize_t r = read(fd, buf + n, cap - n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -1;
        if (r == 0)
            break;
        n += (size_t)r;
    }
    return (ssize_t)n;
}

/* -- Changing a file ------------------------------------------------------ */

/* The directory of a path is path[0..returned). */
static size_t ttool_parent_(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

static int ttool_open_parent_(const ttool_workspace *ws, const char *path)
{
    char parent[TTOOL_MAX_PATH];
    size_t n = ttool_parent_(path);
    memcpy(parent, path, n);
    parent[n] = '\0';
    return ttool_open_(ws, parent, O_RDONLY | O_DIRECTORY);
}

static bool ttool_has_parent_(const ttool_workspace *ws, const char *path)
{
    int dir = ttool_open_parent_(ws, path);
    if (dir < 0)
        return errno != ENOENT;
    close(dir);
    return true;
}

/* The last part of a path. */
static const char *ttool_base_(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Makes the directories above path that are missing. Returns 0 or an errno. */
static int ttool_make_parents_(const ttool_workspace *ws, const char *path)
{
    char above[TTOOL_MAX_PATH];
    size_t end;
    for (end = 0; path[end]; end++) {
        int dir, number = 0;
        if (path[end] != '/')
            continue;
        memcpy(above, path, end);
        above[end] = '\0';
        dir = ttool_open_parent_(ws, above);
        if (dir < 0)
            return errno;
        if (ws->desc.sys->mkdir(dir, ttool_base_(above), 0755) != 0)
            number = errno == EEXIST ? 0 : errno;
        else if (ws->desc.sys->fsync(dir) != 0)
            number = errno == EINVAL ? 0 : errno;
        close(dir);
        if (number)
            return number;
    }
    return 0;
}

/* Content of a file in memory that ends with the call. Returns 0 or an errno;
 * EFBIG when it does not fit. One without a size may have content, as in
 * /proc. */
static int ttool_load_(ttool_workspace *ws, const ttool_place *at,
                       tcall_str *text)
{
    size_t size = (size_t)at->st.st_size;
    size_t cap = size ? size : ws->desc.memory_size / 8;
    char *low = ws->at.low, *buf;
    ssize_t n;
    int fd, number;
    if ((uint64_t)at->st.st_size > ws->desc.memory_size / 2)
        return EFBIG;
    buf = (char *)ttool_take_(ws, cap + 1);
    if (!buf)
        return EFBIG;
    fd = ttool_open_file_(ws, at, O_RDONLY);
    if (fd < 0)
        return errno;
    n = ttool_fill_(fd, buf, cap + 1);
    number = n < 0 ? errno : (size_t)n <= cap ? 0 : size ? ESTALE : EFBIG;
    close(fd);
    if (number) {
        ws->at.low = low;
        return number;
    }
    ws->at.low = buf + n;
    text->ptr = buf;
    text->len = (size_t)n;
    return 0;
}

static int ttool_write_all_(const ttool_sys *sys, int fd, tcall_str piece)
{
    while (piece.len) {
        ssize_t n = sys->write(fd, piece.ptr, piece.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : ENOSPC;
        piece.ptr += n;
        piece.len -= (size_t)n;
    }
    return 0;
}

/* The new content, complete and on the disk under another name. */
static int ttool_write_temporary_(const ttool_workspace *ws, int dir,
                                  const char *name, const ttool_place *at,
                                  tcall_str text)
{
    const ttool_sys *sys = ws->desc.sys;
    struct stat st;
    int number, fd = sys->create(dir, name, at->exists ? 0600 : 0644);
    if (fd < 0)
        return errno;
    number = ttool_write_all_(sys, fd, text);
    if (number == 0 && at->exists) {
        /* refused also where nothing would change: see who owns it below */
        if (fchown(fd, at->st.st_uid, at->st.st_gid) != 0)
            errno = 0;
        if (fchmod(fd, at->st.st_mode & 0777) != 0)
            number = errno;
    }
    while (number == 0 && sys->fsync(fd) != 0)
        if (errno != EINTR)
            number = errno;
    if (number == 0 &&
        (fstat(fd, &st) != 0 || (uint64_t)st.st_size != text.len))
        number = EIO;
    if (number == 0 && at->exists &&
        (st.st_uid != at->st.st_uid || st.st_gid != at->st.st_gid))
        number = EPERM;
    if (sys->close(fd) != 0 && number == 0 && errno != EINTR)
        number = errno;
    return number;
}

/* Is this the content of the file? */
static int ttool_holds_(const ttool_workspace *ws, const ttool_place *at,
                        tcall_str text)
{
    char buf[4096];
    ssize_t n;
    int fd = ttool_open_file_(ws, at, O_RDONLY), number = fd < 0 ? errno : 0;
    if (number)
        return number;
    do {
        n = ttool_fill_(fd, buf, sizeof buf);
        if (n < 0)
            number = errno;
        else if ((size_t)n > text.len || memcmp(buf, text.ptr, (size_t)n) != 0)
            number = ESTALE;
        else
            text.ptr += n, text.len -= (size_t)n;
    } while (number == 0 && n == (ssize_t)sizeof buf);
    close(fd);
    return number ? number : text.len ? ESTALE : 0;
}

/* Is the file still as it was loaded, or still absent? */
static int ttool_unchanged_(const ttool_workspace *ws, const ttool_place *at,
                            tcall_str old)
{
    ttool_place now;
    int number = ttool_find_(ws, &now, tcall_str_of(at->path));
    if (number)
        return number;
    if (now.exists != at->exists || strcmp(now.path, at->path) != 0)
        return ESTALE;
    if (!at->exists)
        return 0;
    if (!S_ISREG(now.st.st_mode) || ttool_has_names_(ws, &now.st))
        return ESTALE;
    return ttool_holds_(ws, &now, old);
}

/* Changing is done by one at a time, whoever of us it is. */
static int ttool_lock_(int dir)
{
    struct timespec pause = {0, 10 * 1000 * 1000};
    int tries;
    for (tries = 0; flock(dir, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return 0; /* a file system without locks: the check has to do */
        if (tries == 100)
            return EAGAIN;
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* -- Temporary files ------------------------------------------------------ */

/* A file is written as .ttool-NUMBERS.tmp beside the one that it will replace,
 * while the lock of their directory is held. A link of the same name in the
 * root leads to it, so that whoever opens the workspace after a crash need not
 * look into every directory. */
#define TTOOL_TEMPORARY_ ".ttool-"

static void ttool_name_temporary_(ttool_workspace *ws, char name[64])
{
    snprintf(name, 64, TTOOL_TEMPORARY_ "%lx-%x-%x.tmp", (long)getpid(),
             (unsigned)ws->desc.sys->now_ms(), ws->temporary++);
}

static bool ttool_is_temporary_(const char *name)
{
    size_t head = strlen(TTOOL_TEMPORARY_);
    return strncmp(name, TTOOL_TEMPORARY_, head) == 0 &&
           strcmp(name + head + strspn(name + head, "0123456789abcdef-"),
                  ".tmp") == 0;
}

/* Makes the link in the root; false: there is none. */
static bool ttool_link_temporary_(const ttool_workspace *ws, const char *path,
                                  const char *name)
{
    char target[TTOOL_MAX_PATH + 64];
    size_t n = ttool_parent_(path);
    if (!n)
        return false;
    memcpy(target, path, n);
    snprintf(target + n, sizeof target - n, "/%s", name);
    return symlinkat(target, ws->root, name) == 0;
}

/* Removes a temporary file, of which the root has the file or the link. Whoever
 * still writes it has the lock. */
static void ttool_sweep_(ttool_workspace *ws, const char *name)
{
    char path[TTOOL_MAX_PATH], text[TTOOL_MAX_PATH];
    ssize_t n = readlinkat(ws->root, name, text, sizeof text);
    tcall_str target = tcall_str_of(name);
    int dir;
    if (n > 0) {
        target.ptr = text;
        target.len = (size_t)n;
    }
    if (ttool_normal_(ws, path, target) == 0 &&
        strcmp(ttool_base_(path), name) == 0) {
        dir = ttool_open_parent_(ws, path);
        if (dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) != 0 &&
            errno == EWOULDBLOCK) {
            close(dir);
            return;
        }
        if (dir >= 0)
            unlinkat(dir, name, 0);
        if (dir >= 0)
            close(dir);
    }
    if (n > 0)
        unlinkat(ws->root, name, 0);
}

/* As the kernel gives the entries of a directory. */
typedef struct ttool_dent_ {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[1];
} ttool_dent_;

/* Removes what killed processes left. */
static void ttool_sweep_root_(ttool_workspace *ws)
{
    uint64_t buf[1024];
    long n, at;
    int dir = ttool_open_(ws, "", O_RDONLY | O_DIRECTORY);
    while (dir >= 0 && (n = syscall(SYS_getdents64, dir, buf, sizeof buf)) > 0)
        for (at = 0; at < n;) {
            const ttool_dent_ *e =
                (const ttool_dent_ *)(const void *)((char *)buf + at);
            at += e->size;
            if (ttool_is_temporary_(e->name))
                ttool_sweep_(ws, e->name);
        }
    if (dir >= 0)
        close(dir);
}

/* -- Replacing ------------------------------------------------------------ */

/* Gives the file at `at` this content, if it is still what it was: old, or
 * absent. Returns 0 or an errno; then the old content is there still, unless
 * *changed. */
static int ttool_replace_(ttool_workspace *ws, const ttool_place *at,
                          tcall_str old, tcall_str text, bool *changed)
{
    const ttool_sys *sys = ws->desc.sys;
    char temporary[64];
    int dir = ttool_open_parent_(ws, at->path), number;
    *changed = false;
    if (dir < 0)
        return errno;
    ttool_name_temporary_(ws, temporary);
    number = ttool_lock_(dir);
    if (number == 0) {
        bool linked = ttool_link_temporary_(ws, at->path, temporary);
        number = ttool_write_temporary_(ws, dir, temporary, at, text);
        if (number == 0)
            number = ttool_unchanged_(ws, at, old);
        if (number == 0 && sys->rename(dir, temporary, ttool_base_(at->path),
                                       at->exists ? 0 : TTOOL_NOREPLACE_) != 0)
            number = errno;
        *changed = number == 0;
        if (!*changed)
            sys->unlink(dir, temporary);
        else if (sys->fsync(dir) != 0 && errno != EINVAL)
            number = errno;
        if (linked)
            unlinkat(ws->root, temporary, 0);
    }
    close(dir);
    return number;
}

/* -- Opening the workspace ------------------------------------------------ */

static bool ttool_same_dir_(const struct stat *st, const char *path)
{
    struct stat other;
    return path && stat(path, &other) == 0 && other.st_ino == st->st_ino &&
           other.st_dev == st->st_dev;
}

int ttool_workspace_open(ttool_workspace *ws, const ttool_workspace_desc *desc)
{
    struct stat st;
    int fd;
    memset(ws, 0, sizeof *ws);
    ws->desc = *desc;
    ws->root = ws->dir = ws->file = -1;
    if (!ws->desc.sys)
        ws->desc.sys = &ttool_linux;
    if (!ws->desc.max_ms)
        ws->desc.max_ms = 10000;
    if (!ws->desc.max_tokens)
        ws->desc.max_tokens = 16000;
    if (desc->memory_size < TTOOL_MEMORY)
        return TCALL_E_USAGE;
    fd = open(desc->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !realpath(desc->root, ws->name)) {
        if (fd >= 0)
            close(fd);
        return TCALL_E_NOT_FOUND;
    }
    if (ttool_same_dir_(&st, "/") || ttool_same_dir_(&st, getenv("HOME"))) {
        close(fd);
        return TCALL_E_DENIED;
    }
    ws->root = fd;
    ws->files.rows = ws->seen;
    ws->files.count = TTOOL_MAX_SEEN;
    ws->name_len = strlen(ws->name);
    fd = ttool_open_(ws, "", O_PATH | O_DIRECTORY);
    ws->stepwise = fd < 0;
    if (fd >= 0)
        close(fd);
    ttool_sweep_root_(ws);
    return TCALL_OK;
}

void ttool_workspace_close(ttool_workspace *ws)
{
    ttool_close_(&ws->root);
    ttool_end_long_(ws);
}

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_IMPLEMENTATION */
