/*
 * files.h - tools for files: read, write, edit, list, glob, grep
 *
 *     tcall_tool rows[TTOOL_FILE_TOOLS];
 *     ttool_rows(rows, ttool_file_tools, TTOOL_FILE_TOOLS, &workspace);
 *
 * All paths are below the root of the workspace (see workspace.h, which says
 * what is kept safe and how). Files with the name of a secret are read only
 * after somebody said yes, and searches leave them out; write and edit ask
 * each time. Searches do not follow links, and leave out .git. All results
 * have limits, and a notice says what a limit left out and how to get it. A
 * notice begins its line with [, which no text from outside does: a number, a
 * path or blanks stand before each line of it, and whatever could begin a line
 * within it is escaped.
 *
 * Linux.
 */
#ifndef TTOOL_FILES_H
#define TTOOL_FILES_H

#include "tools/workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TTOOL_READ,
    TTOOL_WRITE,
    TTOOL_EDIT,
    TTOOL_LIST,
    TTOOL_GLOB_FILES,
    TTOOL_GREP,
    TTOOL_FILE_TOOLS /* how many */
};

/* user: a ttool_workspace. */
extern const tcall_tool ttool_file_tools[TTOOL_FILE_TOOLS];

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_FILES_H */
