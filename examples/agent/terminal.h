/*
 * terminal.h - the terminal that a person types into
 *
 * It is as it was when the program ends, also by a signal, and while it is
 * stopped.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

/* What a terminal with bracketed paste puts around a text that is pasted. */
#define PASTE     "\033[200~"
#define PASTE_END "\033[201~"

/* Learns how it is; for lines, asks it to mark what is pasted. Returns whether
 * it does. */
bool terminal_init(bool lines);
void terminal_free(void);
/* Keeps what is typed from being shown, for who reads it later. */
void terminal_hide(void);
/* Shows it again, but for controls: ^C, or ^[ of a mark. Returns whether it was
 * hidden. */
bool terminal_show(void);

#endif /* TERMINAL_H */
