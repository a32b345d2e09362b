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

#include <string.h>

typedef struct ttool_file {
    uint64_t path, content; /* hashes; path 0: the row is free */
    uint64_t shown;         /* lines from the first on; TTOOL_ALL_LINES */
    bool written;
} ttool_file;

typedef struct ttool_files {
    ttool_file *rows; /* zeroed at first; the oldest are given up */
    size_t count;
} ttool_files;

#define TTOOL_ALL_LINES UINT64_MAX

static const uint64_t ttool_seen_key_[2] = {6, 0};

static inline ttool_file *ttool_seen_row_(const ttool_files *files,
                                          uint64_t path)
{
    size_t i;
    for (i = 0; i < files->count; i++)
        if (files->rows[i].path == path)
            return &files->rows[i];
    return NULL;
}

/* The row moves to the end: those in front are the ones to give up first. */
static inline void ttool_seen_note_(ttool_files *files, tcall_str path,
                                    tcall_str content, uint64_t shown,
                                    bool written)
{
    uint64_t hash = tcall_hash(ttool_seen_key_, path) | 1;
    ttool_file *row = ttool_seen_row_(files, hash), *last;
    if (!files->count)
        return;
    if (!row)
        row = ttool_seen_row_(files, 0);
    if (!row)
        row = files->rows;
    written = written || (row->path == hash && row->written);
    last = files->rows + files->count - 1;
    memmove(row, row + 1, (size_t)(last - row) * sizeof *row);
    last->path = hash;
    last->content = tcall_hash(ttool_seen_key_, content);
    last->shown = shown;
    last->written = written;
}

/* Notes that a file was read, or written, with this content. */
static inline void ttool_file_read(ttool_files *files, tcall_str path,
                                   tcall_str content)
{
    ttool_seen_note_(files, path, content, TTOOL_ALL_LINES, false);
}

static inline void ttool_file_written(ttool_files *files, tcall_str path,
                                      tcall_str content)
{
    ttool_seen_note_(files, path, content, TTOOL_ALL_LINES, true);
}

/* Returns the row of a file if it has this content, else NULL. */
static inline const ttool_file *
ttool_seen_as_(const ttool_files *files, tcall_str path, tcall_str content)
{
    const ttool_file *row =
        ttool_seen_row_(files, tcall_hash(ttool_seen_key_, path) | 1);
    return row && row->content == tcall_hash(ttool_seen_key_, content) ? row
                                                                       : NULL;
}

/* Notes that a part of a file was read: of its `of` lines, counted from 1,
 * those from `first` to `last`. Parts that follow each other add up to the
 * whole; a part without lines is none. */
static inline void ttool_file_read_lines(ttool_files *files, tcall_str path,
                                         tcall_str content, uint64_t first,
                                         uint64_t last, uint64_t of)
{
    const ttool_file *row = ttool_seen_as_(files, path, content);
    uint64_t shown = row ? row->shown : 0;
    if (of && last < first)
        return;
    if (first <= 1 || first - 1 <= shown)
        shown = last > shown ? last : shown;
    ttool_seen_note_(files, path, content, shown < of ? shown : TTOOL_ALL_LINES,
                     false);
}

/* Returns TCALL_OK when this content of the file was read or written before,
 * TCALL_E_STALE when it was another, TCALL_E_UNREAD when none was. Asked
 * before a file is edited. */
static inline int ttool_file_check(const ttool_files *files, tcall_str path,
                                   tcall_str content)
{
    if (ttool_seen_as_(files, path, content))
        return TCALL_OK;
    return ttool_seen_row_(files, tcall_hash(ttool_seen_key_, path) | 1)
               ? TCALL_E_STALE
               : TCALL_E_UNREAD;
}

/* Returns the same, but TCALL_E_UNREAD when only a part of it was read. Asked
 * before all of a file is replaced. */
static inline int ttool_file_check_all(const ttool_files *files, tcall_str path,
                                       tcall_str content)
{
    const ttool_file *row = ttool_seen_as_(files, path, content);
    return row && row->shown != TTOOL_ALL_LINES
               ? TCALL_E_UNREAD
               : ttool_file_check(files, path, content);
}

#endif /* TTOOL_SEEN_H */
