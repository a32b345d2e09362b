/*
 * place.h - what a path names in a workspace, and changing it
 *
 * See workspace.h for what is kept safe, and how. There is nothing here for
 * programs to use.
 */
#ifndef TTOOL_PLACE_H
#define TTOOL_PLACE_H

#include "tools/workspace.h"

#include <sys/stat.h>

typedef struct ttool_place {
    char path[TTOOL_MAX_PATH]; /* normal, and free of links */
    bool exists;
    struct stat st;
} ttool_place;

enum { TTOOL_SECRET_ = 1, TTOOL_RUNS_ = 2 };
/* TTOOL_SECRET_ and TTOOL_RUNS_ bits of a path. */
unsigned ttool_guards_(const char *path);

/* Finds what the model named: links are followed as far as they stay inside.
 * Returns 0 or an errno; what does not exist is no error, but for a directory
 * above it that is none. */
int ttool_find_(const ttool_workspace *ws, ttool_place *at, tcall_str path);
/* Opens a normal path without following any link: -1 and errno. */
int ttool_open_(const ttool_workspace *ws, const char *path, int flags);
/* Does a path end in a way that only directories are named? */
bool ttool_names_dir_(tcall_str path);
/* Has a file several names, and may these matter? */
bool ttool_has_names_(const ttool_workspace *ws, const struct stat *st);
/* Opens a regular file that was found, to read or to write: the same one, or
 * ESTALE. */
int ttool_open_file_(const ttool_workspace *ws, const ttool_place *at,
                     int flags);
/* Fills buf as far as the file goes; -1 and errno. */
ssize_t ttool_fill_(int fd, char *buf, size_t cap);
/* Content of a file in memory that ends with the call. Returns 0 or an errno;
 * EFBIG when it does not fit. One without a size may have content, as in
 * /proc. */
int ttool_load_(ttool_workspace *ws, const ttool_place *at, tcall_str *text);
/* What is wrong with a file of this mode, which is not a regular one. */
const char *ttool_kind_(mode_t mode);
/* The last part of a path. */
const char *ttool_base_(const char *path);

/* As the kernel gives the entries of a directory. */
typedef struct ttool_dent_ {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[1];
} ttool_dent_;

/* Removes what killed processes left. */
void ttool_sweep_root_(ttool_workspace *ws);

/* Whether the directory of a normal path is there. */
bool ttool_has_parent_(const ttool_workspace *ws, const char *path);
/* Makes the directories above path that are missing. Returns 0 or an errno. */
int ttool_make_parents_(const ttool_workspace *ws, const char *path);
/* Gives the file at `at` this content, if it is still what it was: old, or
 * absent. Returns 0 or an errno; then the old content is there still, unless
 * *changed. */
int ttool_replace_(ttool_workspace *ws, const ttool_place *at, tcall_str old,
                   tcall_str text, bool *changed);

#endif /* TTOOL_PLACE_H */
