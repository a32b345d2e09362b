/*
 * screen.h - what a person sees of an agent at work
 *
 * The answer goes to stdout as it comes, all else to stderr: a line for each
 * call that grows while it is checked, approved and run, or has its failure
 * below it, a line at the end of a turn, and on a terminal that obeys a sign
 * that time passes in every wait.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include "examples/agent/outlet.h"

typedef struct screen {
    bool quiet;   /* the answer, and what is asked */
    bool verbose; /* a line for each step, and all of it */
    bool lively;  /* stderr is a terminal that obeys */
    bool colour;
    const char *root; /* of the workspace; NULL: there is none */
    outlet answer, notes;
    bool middle;          /* of a line of the answer */
    const tcall_call *on; /* the call whose line grows */
    tcall_transport inner;
    uint32_t last, began; /* when something was shown; when the turn began */
    bool turning;         /* the sign is there */
    int nested;           /* turns of sub-agents that are under way */
    char doing[48];  /* what a tool says of its progress, beside the sign */
    const tcall *tc; /* whose memory is told of */
} screen;

/* The rest is zero, or as options say: quiet, verbose, root, tc. */
void screen_init(screen *s);
/* Sets what is never shown: the key. */
void screen_hide(screen *s, const char *secret);
/* A transport that does as the inner one does, and shows its waits. */
tcall_transport screen_transport(screen *s, tcall_transport inner);
/* For on_event. */
void screen_event(screen *s, const tcall_event *e);
/* Ends the line that is there, of the answer or of a call. */
void screen_line(screen *s);
/* Says how it goes, unless only the answer is wanted. */
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
void screen_note(screen *s, const char *form, ...);
/* A line of its own: a word, and a text of somebody else. */
void screen_say(screen *s, const char *word, tcall_str text);
/* Prints a text that came from outside, among the notes. */
void screen_print(screen *s, tcall_str text);
/* A line of its own, red: why something failed. */
void screen_failure(screen *s, tcall_str why);
/* Returns how many bytes of the memory are in use: between turns, those of the
 * conversation and of what lasts. */
unsigned long screen_memory(const tcall *tc);
/* Shows what would run, changes of files as a diff; a question follows. */
void screen_approval(screen *s, const tcall_call *call);

#endif /* SCREEN_H */
