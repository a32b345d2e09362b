/*
 * screen.h - what a person sees of a turn
 *
 * The library reports through one callback, on_event, and prints nothing.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include "toolcall.h"

#include "tools/shown.h"

#include <stdio.h>

typedef struct screen {
    FILE *to;    /* stdout, or stderr for errors */
    bool colour; /* somebody sees colours */
    bool middle; /* in the middle of a line of the model's text */
    size_t tools, tools_sent;
    ttool_shown shown;
    tcall_mask mask;
} screen;

void screen_init(screen *s, FILE *to, bool colour);
/* Sets what is never shown: the key. */
void screen_hide(screen *s, const char *secret);
/* For on_event. */
void screen_event(screen *s, const tcall_event *e);
/* Ends what is in the middle, so that a line may begin. */
void screen_fresh_line(screen *s);
/* Begins and ends a line about what happens; a word for it comes first. */
void screen_begin_line(screen *s, const char *word);
void screen_end_line(const screen *s);
/* Prints a text that came from outside; and arguments as they were checked:
 * these, no others, will be run. */
void screen_print(screen *s, tcall_str text);
void screen_print_arguments(screen *s, const tcall_call *call);

#endif /* SCREEN_H */
