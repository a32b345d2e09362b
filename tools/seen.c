/* seen.c - see seen.h */
#include "tools/seen.h"

#include <string.h>

static const uint64_t ttool_seen_key_[2] = {6, 0};

static ttool_file *ttool_seen_row_(const ttool_files *files, uint64_t path)
{
    size_t i;
    for (i = 0; i < files->count; i++)
        if (files->rows[i].path == path)
            return &files->rows[i];
    return NULL;
}

/* The row moves to the end: those in front are the ones to give up first. */
static void ttool_seen_note_(ttool_files *files, tcall_str path,
                             tcall_str content, uint64_t shown, bool written)
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

void ttool_file_read(ttool_files *files, tcall_str path, tcall_str content)
{
    ttool_seen_note_(files, path, content, TTOOL_ALL_LINES, false);
}

void ttool_file_written(ttool_files *files, tcall_str path, tcall_str content)
{
    ttool_seen_note_(files, path, content, TTOOL_ALL_LINES, true);
}

/* Returns the row of a file if it has this content, else NULL. */
static const ttool_file *ttool_seen_as_(const ttool_files *files,
                                        tcall_str path, tcall_str content)
{
    const ttool_file *row =
        ttool_seen_row_(files, tcall_hash(ttool_seen_key_, path) | 1);
    return row && row->content == tcall_hash(ttool_seen_key_, content) ? row
                                                                       : NULL;
}

void ttool_file_read_lines(ttool_files *files, tcall_str path,
                           tcall_str content, uint64_t first, uint64_t last,
                           uint64_t of)
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

int ttool_file_check(const ttool_files *files, tcall_str path,
                     tcall_str content)
{
    if (ttool_seen_as_(files, path, content))
        return TCALL_OK;
    return ttool_seen_row_(files, tcall_hash(ttool_seen_key_, path) | 1)
               ? TCALL_E_STALE
               : TCALL_E_UNREAD;
}

int ttool_file_check_all(const ttool_files *files, tcall_str path,
                         tcall_str content)
{
    const ttool_file *row = ttool_seen_as_(files, path, content);
    return row && row->shown != TTOOL_ALL_LINES
               ? TCALL_E_UNREAD
               : ttool_file_check(files, path, content);
}
