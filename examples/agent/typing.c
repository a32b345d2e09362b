/* typing.c - see typing.h */
#define _GNU_SOURCE
#include "examples/agent/typing.h"

#include "examples/agent/terminal.h"

#ifdef TYPING_LIBEDIT
#include <histedit.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

volatile sig_atomic_t typing_interrupted;

/* ---- plain lines ---- */

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

/* Takes a mark out of the text from place `at` on. False: it has none. */
static bool typing_unmark(typing *t, size_t at, const char *mark)
{
    size_t len = strlen(mark);
    char *found = t->pastes ? strstr(t->text + at, mark) : NULL;
    if (!found)
        return false;
    memmove(found, found + len, strlen(found + len) + 1);
    t->size -= len;
    return true;
}

/* Reads one line as the terminal gives it. */
static ssize_t typing_plain_line(typing *t, size_t at)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len = !isatty(STDIN_FILENO) || typing_wait_long()
                      ? getline(&line, &size, stdin)
                      : -1;
    len = typing_keep(t, at, line, len);
    free(line);
    return len;
}

/* Reads a line, or those up to the end of what was pasted, but for a line end
 * that this ends with. */
static ssize_t typing_plain(typing *t, const char *prompt, size_t at)
{
    size_t from = at;
    bool pasted = false;
    fputs(prompt, stderr);
    fflush(stderr);
    if (typing_plain_line(t, at) < 0)
        return -1;
    while (typing_unmark(t, from, PASTE)) {
        pasted = true;
        while (!typing_unmark(t, from, PASTE_END)) {
            t->text[t->size] = '\n';
            from = t->size + 1;
            if (typing_plain_line(t, from) < 0)
                return -1;
        }
    }
    while (pasted && t->size > at && t->text[t->size - 1] == '\n')
        t->text[--t->size] = '\0';
    return (ssize_t)(t->size - at);
}

#ifdef TYPING_LIBEDIT

typedef struct editor {
    EditLine *line;
    History *history;
    const char *prompt;
    char file[4096];
} editor;

/* ---- lines that are edited ---- */

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

/* The window has another width: libedit draws its line anew, and so from where
 * it began, as far as the terminal moved it. */
static void redraw(EditLine *line)
{
    const LineInfo *shown = el_line(line);
    editor *e;
    struct winsize size;
    size_t column, rows = 0;
    el_get(line, EL_CLIENTDATA, &e);
    column = strlen(e->prompt);
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return;
    for (const char *p = shown->buffer; p < shown->cursor; p++) {
        column += (*p & 0xC0) != 0x80;
        if (*p == '\n' || column >= size.ws_col) {
            column = 0;
            rows++;
        }
    }
    if (rows)
        fprintf(stderr, "\033[%zuA", rows);
    fputs("\r\033[J", stderr);
    fflush(stderr);
    el_resize(line);
    el_set(line, EL_REFRESH);
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
            redraw(line);
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

/* A key of libedit's: the mark before a text that was pasted. All of it becomes
 * a part of the line, but for a line end that it ends with. */
static unsigned char take_paste(EditLine *line, int key)
{
    static const char end[] = PASTE_END;
    char *text = NULL, byte;
    size_t len = 0, room = 0;
    (void)key;
    while (next_byte(line, &byte)) {
        char *grown = len + 1 < room ? text : realloc(text, room += 4096);
        if (!grown)
            break;
        text = grown;
        if (byte == '\r')
            byte = '\n';
        if ((unsigned char)byte >= ' ' || strchr("\n\t\033", byte))
            text[len++] = byte;
        if (len >= sizeof end - 1 &&
            memcmp(text + len - (sizeof end - 1), end, sizeof end - 1) == 0) {
            len -= sizeof end - 1;
            break;
        }
    }
    while (len && text[len - 1] == '\n')
        len--;
    if (len) {
        text[len] = '\0';
        el_insertstr(line, text);
    }
    free(text);
    return typing_interrupted ? CC_EOF : CC_REFRESH;
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

static void editor_init(typing *t)
{
    struct sigaction resize;
    editor *e = calloc(1, sizeof *e);
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
    el_set(e->line, EL_ADDFN, "paste", "Take a pasted text", take_paste);
    el_set(e->line, EL_BIND, PASTE, "paste", NULL);
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
    t->dropped = el_line(e->line)->lastchar > el_line(e->line)->buffer;
    if (!line || len <= 0 || typing_interrupted)
        return -1;
    remember(e, line);
    return typing_keep(t, at, line, len);
}

static void editor_free(editor *e)
{
    if (!e)
        return;
    if (e->history)
        history_end(e->history);
    el_end(e->line);
    free(e);
}

#else

static void editor_init(typing *t)
{
    t->editor = NULL;
}

static ssize_t typing_edited(typing *t, const char *prompt, size_t at)
{
    return typing_plain(t, prompt, at);
}

static void editor_free(void *none)
{
    (void)none;
}

#endif /* TYPING_LIBEDIT */

/* ---- what is typed ---- */

void typing_init(typing *t, bool lines)
{
    t->pastes = terminal_init(lines);
    if (t->pastes)
        editor_init(t);
}

void typing_free(typing *t)
{
    editor_free(t->editor);
    free(t->text);
    terminal_free();
}

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
    terminal_show();
    return typing_line(t, prompt, 0) >= 0 &&
           typing_more(t, more, strncmp(t->text, "\"\"\"", 3) == 0);
}

char typing_choice(typing *t, const char *question, const char *letters)
{
    const size_t count = strlen(letters);
    ssize_t len;
    bool hid;
    tcflush(STDIN_FILENO, TCIFLUSH);
    __fpurge(stdin);
    hid = terminal_show();
    len = typing_plain(t, question, 0);
    if (len < 0)
        fputc('\n', stderr); /* the line of the question ends */
    if (hid)
        terminal_hide();
    return len == 1 && memchr(letters, *t->text, count) ? *t->text
                                                        : letters[count - 1];
}
