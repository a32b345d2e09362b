/* terminal.c - see terminal.h */
#define _GNU_SOURCE
#include "examples/agent/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Bracketed paste, as xterm has it. */
#define PASTES    "\033[?2004h"
#define NO_PASTES "\033[?2004l"

static struct termios as_it_was; /* before the program */
static bool is_terminal, is_hiding;
static struct termios as_it_shows; /* while it is hiding */
static const char *marks = "", *no_marks = "";

/* Only who has the terminal may set it: others would be stopped. */
static bool has_terminal(void)
{
    return is_terminal && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void set_terminal(const struct termios *mode, const char *said)
{
    if (!has_terminal())
        return;
    tcsetattr(STDIN_FILENO, TCSADRAIN, mode);
    (void)!write(STDERR_FILENO, said, strlen(said));
}

/* A signal that ends the program, or stops it for a while. */
static void on_leave(int number)
{
    const int error = errno;
    struct sigaction plain, before;
    struct termios now = as_it_was;
    sigset_t this_one;

    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    tcgetattr(STDIN_FILENO, &now);
    set_terminal(&as_it_was, no_marks);
    sigaction(number, &plain, &before);
    sigemptyset(&this_one);
    sigaddset(&this_one, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &this_one, NULL);
    sigaction(number, &before, NULL); /* it goes on */
    set_terminal(&now, marks);
    errno = error;
}

bool terminal_init(bool lines)
{
    static const int leave[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
    const char *term = getenv("TERM");
    bool obeys = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    struct sigaction own, before;
    is_terminal = tcgetattr(STDIN_FILENO, &as_it_was) == 0;
    if (!is_terminal)
        return false;
    if (lines && obeys) {
        marks = PASTES;
        no_marks = NO_PASTES;
    }
    memset(&own, 0, sizeof own);
    own.sa_handler = on_leave;
    for (size_t i = 0; i < sizeof leave / sizeof *leave; i++)
        if (sigaction(leave[i], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN)
            sigaction(leave[i], &own, NULL);
    (void)!write(STDERR_FILENO, marks, strlen(marks));
    return *marks;
}

void terminal_free(void)
{
    set_terminal(&as_it_was, no_marks);
}

void terminal_hide(void)
{
    struct termios hidden;
    if (!has_terminal() || is_hiding ||
        tcgetattr(STDIN_FILENO, &as_it_shows) != 0)
        return;
    hidden = as_it_shows;
    /* Not by lines: of those a terminal holds 4,096 characters and no more. */
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
    hidden.c_cc[VMIN] = 1;
    hidden.c_cc[VTIME] = 0;
    set_terminal(&hidden, "");
    is_hiding = true;
}

bool terminal_show(void)
{
    struct termios mode;
    bool hid = is_hiding;
    if (hid)
        set_terminal(&as_it_shows, "");
    is_hiding = false;
    if (!has_terminal() || tcgetattr(STDIN_FILENO, &mode) != 0)
        return hid;
    mode.c_lflag &= ~(tcflag_t)ECHOCTL;
    set_terminal(&mode, "");
    return hid;
}
