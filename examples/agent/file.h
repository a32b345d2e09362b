/*
 * file.h - files of the person's, of which none is lost by a typo
 *
 * What the agent writes begins with a mark of its kind. Only an empty file or
 * one of that kind is written over. Files are their owner's alone (0600).
 */
#ifndef FILE_H
#define FILE_H

#include "toolcall.h"

#include <stdio.h>

/* Opens a plain file to be read. NULL: errno says why. */
FILE *file_open(const char *path);
/* Reads all that is left, into memory that is the caller's to free. NULL: errno
 * says why; EFBIG: it is more than `most`. */
char *file_read(FILE *f, size_t most, size_t *len);
/* Opens a file to be written anew, or a device. NULL: errno says why; EEXIST:
 * another kind of file is there. */
FILE *file_create(const char *path, const char *mark);
/* Writes a file whole, or leaves what is there. False: errno says why. */
bool file_save(const char *path, const char *mark, tcall_str bytes);

#endif /* FILE_H */
