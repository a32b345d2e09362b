/* workspace.c - see workspace.h */
#include "tools/gnu.h"

#include "tools/workspace.h"
#include "tools/place.h"
#include "tools/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* -- The system ----------------------------------------------------------- */

/* As in linux/openat2.h, which older systems lack. */
struct ttool_open_how_ {
    uint64_t flags, mode, resolve;
};
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

/* A file over RLIMIT_FSIZE is EFBIG, and no signal to the host. */
static ssize_t ttool_sys_write_(int fd, const void *bytes, size_t len)
{
    struct timespec none = {0, 0};
    sigset_t one, old, pending;
    ssize_t n;
    int e;
    sigemptyset(&one);
    sigaddset(&one, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &one, &old);
    sigpending(&pending);
    n = write(fd, bytes, len);
    e = errno;
    if (n < 0 && e == EFBIG && !sigismember(&pending, SIGXFSZ))
        (void)sigtimedwait(&one, NULL, &none);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = e;
    return n;
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
                               ttool_sys_write_,
                               fsync,
                               close,
                               ttool_sys_rename_,
                               ttool_sys_unlink_,
                               ttool_sys_mkdir_,
                               ttool_sys_now_ms_};

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
