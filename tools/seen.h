/*
 * seen.h - which files were read and written, and what was in them
 *
 * A tool that edits a file asks first whether the model has seen what it is
 * about to change: some of it, and before all of it is replaced, all. Only
 * hashes are kept, in rows of the caller's.
 */
#ifndef TTOOL_SEEN_H
#define TTOOL_SEEN_H

#include "toolcall.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TTOOL_ALL_LINES UINT64_MAX

typedef struct ttool_file {
    uint64_t path, content; /* hashes; path 0: the row is free */
    uint64_t shown;         /* lines from the first on; TTOOL_ALL_LINES */
    bool written;
} ttool_file;

typedef struct ttool_files {
    ttool_file *rows; /* zeroed at first; the oldest are given up */
    size_t count;
} ttool_files;

/* Notes that a file was read, or written, with this content. */
void ttool_file_read(ttool_files *files, tcall_str path, tcall_str content);
void ttool_file_written(ttool_files *files, tcall_str path, tcall_str content);
/* Notes that a part of a file was read: of its `of` lines, counted from 1,
 * those from `first` to `last`. Parts that follow each other add up to the
 * whole; a part without lines is none. */
void ttool_file_read_lines(ttool_files *files, tcall_str path,
                           tcall_str content, uint64_t first, uint64_t last,
                           uint64_t of);
/* Returns TCALL_OK when this content of the file was read or written before,
 * TCALL_E_STALE when it was another, TCALL_E_UNREAD when none was. Asked
 * before a file is edited. */
int ttool_file_check(const ttool_files *files, tcall_str path,
                     tcall_str content);
/* Returns the same, but TCALL_E_UNREAD when only a part of it was read. Asked
 * before all of a file is replaced. */
int ttool_file_check_all(const ttool_files *files, tcall_str path,
                         tcall_str content);

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_SEEN_H */
