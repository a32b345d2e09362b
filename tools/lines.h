/*
 * lines.h - lines of text, and what ends them
 *
 * What files.c and search.c share. There is nothing here for programs to use.
 */
#ifndef TTOOL_LINES_H
#define TTOOL_LINES_H

#include "tools/workspace.h"

tcall_str ttool_slice_(const char *from, const char *to);
/* One past the newline that ends the line at p. */
const char *ttool_line_end_(const char *p, const char *end);
size_t ttool_count_lines_(const char *p, const char *end);
/* Bytes of the byte order mark that a text begins with. */
size_t ttool_mark_(tcall_str text);
/* What ends the lines of a text: a carriage return where its beginning has no
 * line feed, else a line feed, perhaps with a carriage return before it. */
char ttool_ends_(tcall_str text);
uint64_t ttool_count_ends_(tcall_str text, char ends);
bool ttool_is_binary_(tcall_str text);

/* -- Changing a text ------------------------------------------------------ */

/* One place in the old text, and what comes there. */
typedef struct ttool_change_ {
    size_t at, len;
    tcall_str text;
} ttool_change_;

/* The content of a file, "" if there is none. Models write line feeds, so it is
 * looked at and changed without its mark and with line feeds alone; where they
 * are new, the file gets ends of lines like those around them. */
typedef struct ttool_old_ {
    tcall_str loaded, plain;
    size_t mark; /* bytes of the byte order mark */
    char ends;   /* see ttool_ends_ */
} ttool_old_;

/* A text as `plain`, without a mark where the file has one. */
bool ttool_make_plain_(ttool_workspace *ws, const ttool_old_ *old,
                       tcall_str text, tcall_str *plain);
bool ttool_old_init_(ttool_workspace *ws, ttool_old_ *old);
/* The whole text with its changes, which are in order. */
bool ttool_apply_(ttool_workspace *ws, const ttool_old_ *old,
                  const ttool_change_ *c, size_t n, tcall_str *text);

#endif /* TTOOL_LINES_H */
