/*
 * diff.h - what a tool would change in a file
 */
#ifndef DIFF_H
#define DIFF_H

#include "toolcall.h"

/* Gives the lines that `edit` or `write` would take away from a file below
 * root, and those that would come, without what both begin and end with. They
 * are valid until the next call. */
void diff_of(const char *root, const tcall_call *call, tcall_str *before,
             tcall_str *after);
/* Returns whether a call of `write` leaves its file below root as it is. */
bool diff_is_none(const char *root, const tcall_call *call);
/* Returns the bytes of the first line, with its end. */
size_t diff_line(tcall_str text);

#endif /* DIFF_H */
