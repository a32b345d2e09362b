/* diff.c - see diff.h */
#define _GNU_SOURCE
#include "examples/agent/diff.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 65536 };

static tcall_str rest(tcall_str text, size_t from)
{
    tcall_str r = {text.ptr + from, text.len - from};
    return r;
}

size_t diff_line(tcall_str text)
{
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    return end ? (size_t)(end - text.ptr) + 1 : text.len;
}

/* Takes away the lines that both begin with. */
static void skip_same(tcall_str *a, tcall_str *b)
{
    size_t len = diff_line(*a);

    while (len && len == diff_line(*b) && memcmp(a->ptr, b->ptr, len) == 0) {
        *a = rest(*a, len);
        *b = rest(*b, len);
        len = diff_line(*a);
    }
}

static bool begins_line(tcall_str text, size_t from_end)
{
    return from_end == text.len || text.ptr[text.len - from_end - 1] == '\n';
}

/* And those that both end with. */
static void cut_same(tcall_str *a, tcall_str *b)
{
    size_t same = 0, lines = 0;
    size_t most = a->len < b->len ? a->len : b->len;

    while (same < most &&
           a->ptr[a->len - 1 - same] == b->ptr[b->len - 1 - same]) {
        same++;
        if (begins_line(*a, same) && begins_line(*b, same))
            lines = same;
    }
    a->len -= lines;
    b->len -= lines;
}

/* Opens a file below root to be shown; -1: it is not there, or the tool will
 * refuse its name. */
static int open_below(const char *root, tcall_str path)
{
    char name[4096];
    int dir, fd;

    snprintf(name, sizeof name, "%.*s", (int)path.len, path.ptr);
    if (*name == '/' || strstr(name, ".."))
        return -1;
    dir = open(root ? root : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (dir >= 0)
        close(dir);
    return fd;
}

/* What the file holds now, in a buffer that is the caller's; NULL where it is
 * not there, or no plain file. */
static tcall_str content(const char *root, const tcall_call *call, char *buf)
{
    tcall_json path = tcall_json_get(call->asked->args, "file_path");
    int fd = open_below(root, tcall_json_str(path));
    ssize_t len = fd < 0 ? -1 : read(fd, buf, MOST_BYTES);
    tcall_str text = {len < 0 ? NULL : buf, len > 0 ? (size_t)len : 0};

    if (fd >= 0)
        close(fd);
    return text;
}

bool diff_is_none(const char *root, const tcall_call *call)
{
    static char buf[MOST_BYTES];
    tcall_str before, after;

    if (!root || strcmp(call->tool->name, "write") != 0)
        return false;
    before = content(root, call, buf);
    after = tcall_json_str(tcall_json_get(call->asked->args, "content"));
    return before.ptr && before.len < sizeof buf && tcall_str_eq(before, after);
}

void diff_of(const char *root, const tcall_call *call, tcall_str *before,
             tcall_str *after)
{
    static char buf[MOST_BYTES];
    tcall_json old = tcall_json_get(call->asked->args, "old_string");

    *before = old.at ? tcall_json_str(old) : content(root, call, buf);
    *after = tcall_json_str(
        tcall_json_get(call->asked->args, old.at ? "new_string" : "content"));
    skip_same(before, after);
    cut_same(before, after);
}
