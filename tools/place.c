/* place.c - see place.h */
#include "tools/gnu.h"

#include "tools/place.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* -- Names that need a yes ------------------------------------------------ */

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

unsigned ttool_guards_(const char *path)
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

/* As in linux/openat2.h and linux/fs.h, which older systems lack. */
enum { TTOOL_NO_MAGICLINKS_ = 2, TTOOL_NO_SYMLINKS_ = 4, TTOOL_BENEATH_ = 8 };
enum { TTOOL_NOREPLACE_ = 1 }; /* of renameat2 */

int ttool_open_(const ttool_workspace *ws, const char *path, int flags)
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

bool ttool_names_dir_(tcall_str path)
{
    size_t len = path.len;
    if (len && path.ptr[len - 1] == '.')
        len--;
    return len && path.ptr[len - 1] == '/';
}

int ttool_find_(const ttool_workspace *ws, ttool_place *at, tcall_str path)
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

const char *ttool_kind_(mode_t mode)
{
    return S_ISDIR(mode)    ? "is a directory\nUse list."
           : S_ISFIFO(mode) ? "is a pipe, not a file\nName a file."
           : S_ISSOCK(mode) ? "is a socket, not a file\nName a file."
                            : "is a device, not a file\nName a file.";
}

bool ttool_has_names_(const ttool_workspace *ws, const struct stat *st)
{
    return st->st_nlink > 1 && !ws->desc.hard_links;
}

int ttool_open_file_(const ttool_workspace *ws, const ttool_place *at,
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

ssize_t ttool_fill_(int fd, char *buf, size_t cap)
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

bool ttool_has_parent_(const ttool_workspace *ws, const char *path)
{
    int dir = ttool_open_parent_(ws, path);
    if (dir < 0)
        return errno != ENOENT;
    close(dir);
    return true;
}

const char *ttool_base_(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int ttool_make_parents_(const ttool_workspace *ws, const char *path)
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

int ttool_load_(ttool_workspace *ws, const ttool_place *at, tcall_str *text)
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

void ttool_sweep_root_(ttool_workspace *ws)
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

int ttool_replace_(ttool_workspace *ws, const ttool_place *at, tcall_str old,
                   tcall_str text, bool *changed)
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
