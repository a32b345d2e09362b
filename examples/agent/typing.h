/*
 * typing.h - lines that a person types
 *
 * A line is as long as it is. One that ends in \ goes on in the next; one that
 * begins with """ goes on up to the line that ends so.
 */
#ifndef TYPING_H
#define TYPING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct typing {
    char *text; /* what was typed; valid up to the next one */
    size_t size;
} typing;

/* Set by the handler of SIGINT: what is read then ends. */
extern volatile sig_atomic_t typing_interrupted;

/* Reads what a person types after the prompt. False at the end of the input, or
 * when a signal came. */
bool typing_read(typing *t, const char *prompt, const char *more);
/* Asks for one of these letters, as a line of its own. What was typed before is
 * no answer. Returns the last of them for anything else. */
char typing_choice(typing *t, const char *question, const char *letters);

#endif /* TYPING_H */
