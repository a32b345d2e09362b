/* file.c - see file.h */
#define _GNU_SOURCE
#include "examples/agent/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL, with what went wrong. */
static FILE *failed(int fd, int error)
{
    if (fd >= 0)
        close(fd);
    errno = error;
    return NULL;
}

FILE *file_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat at;

    if (fd < 0 || fstat(fd, &at) != 0)
        return failed(fd, errno);
    if (!S_ISREG(at.st_mode))
        return failed(fd, S_ISDIR(at.st_mode) ? EISDIR : EINVAL);
    return fdopen(fd, "r");
}

char *file_read(FILE *f, size_t most, size_t *len)
{
    char *bytes = NULL, *grown;
    size_t room = 0;

    *len = 0;
    do {
        room = room ? 2 * room : 4096;
        grown = realloc(bytes, room);
        if (!grown)
            break;
        bytes = grown;
        *len += fread(bytes + *len, 1, room - *len, f);
    } while (*len == room && *len <= most);
    if (grown && !ferror(f) && *len <= most)
        return bytes;
    errno = *len > most ? EFBIG : errno;
    free(bytes);
    return NULL;
}

/* May what is open be written over? */
static bool is_ours(int fd, const struct stat *at, const char *mark)
{
    char begin[16];
    size_t len = strlen(mark);

    return !S_ISREG(at->st_mode) || at->st_size == 0 ||
           (pread(fd, begin, len, 0) == (ssize_t)len &&
            memcmp(begin, mark, len) == 0);
}

FILE *file_create(const char *path, const char *mark)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat at;

    if (fd < 0 || fstat(fd, &at) != 0)
        return failed(fd, errno);
    if (!is_ours(fd, &at, mark))
        return failed(fd, EEXIST);
    if (S_ISREG(at.st_mode) && (ftruncate(fd, 0) || fchmod(fd, 0600)))
        return failed(fd, errno);
    return fdopen(fd, "w");
}

/* May a file of this name be replaced? */
static bool may_replace(const char *path, const char *mark)
{
    FILE *f = file_open(path);
    struct stat at;
    bool ours;

    if (!f)
        return errno == ENOENT;
    ours = fstat(fileno(f), &at) == 0 && is_ours(fileno(f), &at, mark);
    fclose(f);
    errno = EEXIST;
    return ours;
}

/* Puts a file beside the place where it belongs, and then there. */
bool file_save(const char *path, const char *mark, tcall_str bytes)
{
    char beside[4096];
    int fd, error;
    FILE *f;
    bool done;

    if (!may_replace(path, mark))
        return false;
    errno = ENAMETOOLONG;
    if (snprintf(beside, sizeof beside, "%s.XXXXXX", path) >=
        (int)sizeof beside)
        return false;
    fd = mkostemp(beside, O_CLOEXEC);
    f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f)
        return failed(fd, errno) != NULL;
    done = fwrite(bytes.ptr, 1, bytes.len, f) == bytes.len && !fflush(f) &&
           !fsync(fd);
    done = !fclose(f) && done;
    done = done && !rename(beside, path);
    error = errno;
    if (!done)
        unlink(beside);
    errno = error;
    return done;
}
