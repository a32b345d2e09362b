/*
 * search.h - looking for files and in files: list, glob, grep
 *
 * Their rows are in files.h. There is nothing here for programs to use.
 */
#ifndef TTOOL_SEARCH_H
#define TTOOL_SEARCH_H

#include "toolcall.h"

int ttool_list_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out);
int ttool_glob_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out);
int ttool_grep_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out);

#endif /* TTOOL_SEARCH_H */
