/*
 * outlet.h - ways to standard output and standard error
 *
 * What others wrote goes through the key's mask and through ttool_shown first.
 * On a terminal the answer breaks at blanks, at the width that there is.
 */
#ifndef OUTLET_H
#define OUTLET_H

#include "toolcall.h"

#include "tools/shown.h"

#include <stdio.h>

typedef struct outlet {
    FILE *file;
    tcall_mask mask;
    ttool_shown shown;
    bool wraps;    /* at words, if the file is a terminal */
    bool flat;     /* as a part of a line: what breaks it is a blank */
    size_t room;   /* flat: columns before the rest is cut off */
    size_t column; /* wraps: where the next word goes */
    size_t indent; /* wraps: of lines that go on */
    /* private: a character that has begun; a word that has, after blanks */
    char character[4];
    size_t bytes, needed;
    char word[256];
    size_t length, blanks;      /* bytes, and those of them that are blanks */
    size_t width, blanks_width; /* the same in columns */
} outlet;

/* Sets the terminal's characters up, once, before the others. */
void outlet_locale(void);
void outlet_init(outlet *o, FILE *file);
/* Returns the columns of the terminal, or 0: it is none. */
size_t outlet_columns(const outlet *o);
/* Prints more of a text; the start of a word or a secret waits for its rest. */
void outlet_put(outlet *o, tcall_str text);
/* Prints the start of a word: its rest takes long. */
void outlet_pause(outlet *o);
/* Prints what waits: its rest does not come. */
void outlet_end(outlet *o);
/* Prints a whole text. */
void outlet_str(outlet *o, tcall_str text);
/* Prints as much of a text as fits into so many columns. */
void outlet_part(outlet *o, tcall_str text, size_t columns);
/* Prints a text on one line or more, from this column on. */
void outlet_wrapped(outlet *o, tcall_str text, size_t column);
/* A sink for a writer; outlet_end belongs after it. */
tcall_writer outlet_writer(outlet *o, char *buf, size_t cap);

#endif /* OUTLET_H */
