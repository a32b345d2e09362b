/* typing.c - see typing.h */
#define _GNU_SOURCE
#include "examples/agent/typing.h"

#ifdef TYPING_LIBEDIT
#include <histedit.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

volatile sig_atomic_t typing_interrupted;

/* Waits for input. A signal may come at any moment: it is let in only while
 * this sleeps. False: one came. */
static bool typing_wait(void)
{
    struct pollfd in = {STDIN_FILENO, POLLIN, 0};
    sigset_t signals, before;
    bool ready;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGWINCH);
    sigprocmask(SIG_BLOCK, &signals, &before);
    ready = !typing_interrupted && ppoll(&in, 1, NULL, &before) > 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ready;
}

/* Waits as long as only the window changed. */
static bool typing_wait_long(void)
{
    bool ready = typing_wait();
    while (!ready && !typing_interrupted && errno == EINTR)
        ready = typing_wait();
    return ready;
}

/* Puts a line, without its end, into text from place `at` on. Returns its
 * length, or -1 where there is none. */
static ssize_t typing_keep(typing *t, size_t at, const char *line, ssize_t len)
{
    char *grown;
    while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
        len--;
    grown = len < 0 ? NULL : realloc(t->text, at + (size_t)len + 1);
    if (!grown)
        return -1;
    memcpy(grown + at, line, (size_t)len);
    grown[at + (size_t)len] = '\0';
    t->text = grown;
    t->size = at + (size_t)len;
    return len;
}

/* Reads a line as the terminal gives it. */
static ssize_t typing_plain(typing *t, const char *prompt, size_t at)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    fputs(prompt, stderr);
    fflush(stderr);
    len = !isatty(STDIN_FILENO) || typing_wait_long()
              ? getline(&line, &size, stdin)
              : -1;
    len = typing_keep(t, at, line, len);
    free(line);
    return len;
}

#ifdef TYPING_LIBEDIT

typedef struct editor {
    EditLine *line;
    History *history;
    const char *prompt;
    char file[4096];
} editor;

static volatile sig_atomic_t typing_resized;

static void on_resize(int number)
{
    (void)number;
    typing_resized = 1;
}

static char *editor_prompt(EditLine *line)
{
    editor *e;
    el_get(line, EL_CLIENTDATA, &e);
    return (char *)(uintptr_t)e->prompt;
}

/* A byte that is there; libedit itself would begin to read anew where a signal
 * came. */
static bool next_byte(EditLine *line, char *byte)
{
    while (!typing_wait()) {
        if (typing_interrupted || errno != EINTR)
            return false;
        if (typing_resized) {
            typing_resized = 0;
            el_resize(line);
            el_set(line, EL_REFRESH);
        }
    }
    return read(STDIN_FILENO, byte, 1) == 1;
}

/* A character of whatever encoding the terminal has; else U+FFFD. */
static int next_character(EditLine *line, wchar_t *c)
{
    mbstate_t state;
    size_t len = (size_t)-2;
    char byte;
    memset(&state, 0, sizeof state);
    while (len == (size_t)-2) {
        if (!next_byte(line, &byte))
            return 0;
        len = mbrtowc(c, &byte, 1, &state);
    }
    if (len == (size_t)-1)
        *c = 0xFFFD;
    return 1;
}

/* Makes the directories above a file, for their owner alone. */
static void make_directories(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
}

static void open_history(editor *e)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    HistEvent said;
    e->history = history_init();
    if (!e->history)
        return;
    history(e->history, &said, H_SETSIZE, 1000);
    history(e->history, &said, H_SETUNIQUE, 1);
    el_set(e->line, EL_HIST, history, e->history);
    if (state && *state == '/')
        snprintf(e->file, sizeof e->file, "%s/toolcall/history", state);
    else if (home && *home == '/')
        snprintf(e->file, sizeof e->file, "%s/.local/state/toolcall/history",
                 home);
    make_directories(e->file);
    if (*e->file)
        history(e->history, &said, H_LOAD, e->file);
}

/* libedit writes the file for its owner alone; it is so before, too. */
static void remember(editor *e, const char *line)
{
    HistEvent said;
    int fd;
    if (!e->history || line[strspn(line, " \r\n")] == '\0')
        return;
    history(e->history, &said, H_ENTER, line);
    fd = *e->file ? open(e->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0 && fchmod(fd, 0600) == 0)
        history(e->history, &said, H_SAVE, e->file);
    if (fd >= 0)
        close(fd);
}

void typing_init(typing *t)
{
    const char *term = getenv("TERM");
    struct sigaction resize;
    editor *e;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || !term ||
        strcmp(term, "dumb") == 0)
        return;
    setlocale(LC_CTYPE, "");
    if (MB_CUR_MAX == 1)
        setlocale(LC_CTYPE, "C.UTF-8");
    e = calloc(1, sizeof *e);
    if (e)
        e->line = el_init("agent", stdin, stderr, stderr);
    if (!e || !e->line) {
        free(e);
        return;
    }
    memset(&resize, 0, sizeof resize);
    resize.sa_handler = on_resize;
    resize.sa_flags = SA_RESTART;
    sigaction(SIGWINCH, &resize, NULL);
    el_set(e->line, EL_CLIENTDATA, e);
    el_set(e->line, EL_PROMPT, editor_prompt);
    el_set(e->line, EL_EDITOR, "emacs");
    el_set(e->line, EL_GETCFN, next_character);
    open_history(e);
    el_source(e->line, NULL); /* ~/.editrc */
    t->editor = e;
}

/* Reads a line that may be edited. */
static ssize_t typing_edited(typing *t, const char *prompt, size_t at)
{
    editor *e = t->editor;
    const char *line;
    int len = 0;
    e->prompt = prompt;
    el_resize(e->line);
    line = el_gets(e->line, &len);
    if (!line || len <= 0 || typing_interrupted)
        return -1;
    remember(e, line);
    return typing_keep(t, at, line, len);
}

void typing_free(typing *t)
{
    editor *e = t->editor;
    if (e) {
        if (e->history)
            history_end(e->history);
        el_end(e->line);
    }
    free(e);
    free(t->text);
}

#else

void typing_init(typing *t)
{
    t->editor = NULL;
}

static ssize_t typing_edited(typing *t, const char *prompt, size_t at)
{
    return typing_plain(t, prompt, at);
}

void typing_free(typing *t)
{
    free(t->text);
}

#endif /* TYPING_LIBEDIT */

static ssize_t typing_line(typing *t, const char *prompt, size_t at)
{
    return t->editor ? typing_edited(t, prompt, at)
                     : typing_plain(t, prompt, at);
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
        if (typing_line(t, prompt, at + 1) < 0)
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
    return typing_line(t, prompt, 0) >= 0 &&
           typing_more(t, more, strncmp(t->text, "\"\"\"", 3) == 0);
}

char typing_choice(typing *t, const char *question, const char *letters)
{
    const size_t count = strlen(letters);
    tcflush(STDIN_FILENO, TCIFLUSH);
    __fpurge(stdin);
    return typing_plain(t, question, 0) == 1 && memchr(letters, *t->text, count)
               ? *t->text
               : letters[count - 1];
}
