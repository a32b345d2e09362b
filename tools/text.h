/*
 * text.h - what tools make of text: characters, paths, numbers
 *
 * There is nothing here for programs to use: shown.h is.
 */
#ifndef TTOOL_TEXT_H
#define TTOOL_TEXT_H

#include "toolcall.h"

/* The beginning of a character that a piece of text ended with. */
typedef struct ttool_held_ {
    char bytes[4];
    size_t count;
    bool json; /* the text is JSON: escapes are as there */
} ttool_held_;

char ttool_lower_(char c);
const char *ttool_line_start_(const char *from, const char *p);
/* Writes a character as UTF-8; how many bytes. */
int ttool_utf8_(uint8_t *out, int32_t c);
int ttool_text_int_(tcall_writer *w, uint64_t value);
/* Text from outside: of a file, a page, a program. True when all of it was
 * UTF-8 without NUL. */
bool ttool_write_content_(tcall_writer *w, const char *p, size_t len);
void ttool_write_held_(tcall_writer *w, ttool_held_ *held);
/* Text from outside in pieces, which may end anywhere. What is held after the
 * last is for ttool_write_held_. */
void ttool_write_piece_(tcall_writer *w, ttool_held_ *held, const char *p,
                        size_t len);
/* A path on one line: line ends and tabs are escaped as well, bytes that are no
 * UTF-8 are \xe9, and so that nothing else looks like an escape, a backslash is
 * two. Nor does it begin like a notice of ours. True: something was escaped. */
bool ttool_write_path_(tcall_writer *w, const char *path);
/* The path that is written so, in buf where it has an escape. What is no escape
 * of that function is taken as it is. */
tcall_str ttool_read_path_(tcall_str shown, char *buf, size_t cap);
/* Makes a mark that no text from outside can know. A line of it before and
 * after such text tells it from what is ours. */
bool ttool_fence_(char mark[17]);

#endif /* TTOOL_TEXT_H */
