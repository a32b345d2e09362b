/* typing.c - see typing.h */
#define _GNU_SOURCE
#include "examples/agent/typing.h"

#include <poll.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

volatile sig_atomic_t typing_interrupted;

/* Waits for input. The signal may come at any moment: it is let in only while
 * this sleeps. False: it came. */
static bool typing_wait(void)
{
    struct pollfd in = {STDIN_FILENO, POLLIN, 0};
    sigset_t interrupt, before;
    bool ready;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &before);
    ready = !typing_interrupted && ppoll(&in, 1, NULL, &before) > 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ready;
}

/* Reads a line, without its end, into text from place `at` on. Returns its
 * length, or -1 at the end of the input or when a signal came. */
static ssize_t typing_line(typing *t, size_t at)
{
    char *line = NULL, *grown;
    size_t size = 0;
    ssize_t len = !isatty(STDIN_FILENO) || typing_wait()
                      ? getline(&line, &size, stdin)
                      : -1;
    while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
        line[--len] = '\0';
    grown = len < 0 ? NULL : realloc(t->text, at + (size_t)len + 1);
    if (grown) {
        t->text = grown;
        t->size = at + (size_t)len;
        memcpy(t->text + at, line, (size_t)len + 1);
    }
    free(line);
    return grown ? len : -1;
}

static bool typing_ends(const typing *t, size_t from, const char *with)
{
    size_t n = strlen(with);
    return t->size >= from + n && strcmp(t->text + t->size - n, with) == 0;
}

/* Reads on after the line that is there, up to one that ends the text. A line
 * break is kept where it is. */
static bool typing_more(typing *t, const char *prompt, bool quoted)
{
    const size_t begin = quoted ? 3 : 0;
    while (quoted ? !typing_ends(t, begin, "\"\"\"")
                  : typing_ends(t, 0, "\\")) {
        size_t at = t->size - !quoted;
        t->text[at] = '\n';
        fputs(prompt, stderr);
        fflush(stderr);
        if (typing_line(t, at + 1) < 0)
            return false;
    }
    if (quoted) {
        t->size -= 6;
        memmove(t->text, t->text + 3, t->size);
    }
    t->text[t->size] = '\0';
    return true;
}

bool typing_read(typing *t, const char *prompt, const char *more)
{
    fputs(prompt, stderr);
    fflush(stderr);
    return typing_line(t, 0) >= 0 &&
           typing_more(t, more, strncmp(t->text, "\"\"\"", 3) == 0);
}

char typing_choice(typing *t, const char *question, const char *letters)
{
    const size_t count = strlen(letters);
    tcflush(STDIN_FILENO, TCIFLUSH);
    __fpurge(stdin);
    fputs(question, stderr);
    fflush(stderr);
    return typing_line(t, 0) == 1 && memchr(letters, *t->text, count)
               ? *t->text
               : letters[count - 1];
}
