/*
 * seen.h - which files were read and written, and what was in them
 *
 * A tool that edits a file asks first whether the model has seen what it is
 * about to change. Only hashes are kept, in rows of the caller's.
 */
#ifndef TTOOL_SEEN_H
#define TTOOL_SEEN_H

#include "toolcall.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttool_file {
    uint64_t path, content; /* hashes; path 0: the row is free */
    bool written;
} ttool_file;

typedef struct ttool_files {
    ttool_file *rows; /* zeroed at first; the oldest are given up */
    size_t count;
} ttool_files;

/* Notes that a file was read, or written, with this content. */
void ttool_file_read(ttool_files *files, tcall_str path, tcall_str content);
void ttool_file_written(ttool_files *files, tcall_str path, tcall_str content);
/* Returns TCALL_OK when this content of the file was read or written before,
 * TCALL_E_STALE when it was another, TCALL_E_UNREAD when none was. Asked
 * before a file is edited. */
int ttool_file_check(const ttool_files *files, tcall_str path,
                     tcall_str content);

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_SEEN_H */
