/*
 * typing.h - lines that a person types
 *
 * With TYPING_LIBEDIT they are edited by libedit, and remembered in the file
 * toolcall/history below XDG_STATE_HOME (default ~/.local/state), for their
 * owner alone. Without it, or on a terminal that cannot, they are read plainly.
 *
 * A line is as long as it is. One that ends in \ goes on in the next; one that
 * begins with """ goes on up to the line that ends so. A text that is pasted
 * into a terminal with bracketed paste is a part of one line, whatever it
 * holds.
 */
#ifndef TYPING_H
#define TYPING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct typing {
    char *text; /* what was typed; valid up to the next one */
    size_t size;
    bool dropped; /* a line had begun when the signal came */
    bool pastes;  /* private: the terminal marks what is pasted */
    void *editor; /* private; NULL: plain */
} typing;

/* Set by the handler of SIGINT: what is read then ends. */
extern volatile sig_atomic_t typing_interrupted;

/* Sets it up for the terminal that there is, if any, and for lines where they
 * are wanted; and ends that. */
void typing_init(typing *t, bool lines);
void typing_free(typing *t);
/* Reads what a person types after the prompt. False at the end of the input, or
 * when a signal came. */
bool typing_read(typing *t, const char *prompt, const char *more);
/* Asks for one of these letters, as a line of its own. What was typed before is
 * no answer. Returns the last of them for anything else. */
char typing_choice(typing *t, const char *question, const char *letters);

#endif /* TYPING_H */
