/* screen.c - see screen.h */
#define _GNU_SOURCE
#include "examples/agent/screen.h"

#include "examples/agent/diff.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SCREEN_DIFF_LINES = 40 };

/* What a terminal is told (ECMA-48, and DEC's VT100 where it has a private mode
 * or a single letter). */
#define COLOUR_OFF "\033[0m"
#define DIM        "\033[2m"
#define RED        "\033[31m"
#define GREEN      "\033[32m"
#define KEEP_PLACE "\0337"
#define TO_PLACE   "\0338"
#define CLEAR_REST "\033[K" /* of the line */
#define WRAP_OFF   "\033[?7l"
#define WRAP_ON    "\033[?7h"

/* ---- ways out ---- */

static int outlet_write(void *user, const char *bytes, size_t len)
{
    outlet *o = user;
    for (size_t i = 0; i < len; i++) {
        bool starts = (bytes[i] & 0xC0) != 0x80; /* a character of UTF-8 */
        if (o->flat && starts && o->room && --o->room == 0)
            fputs("\xE2\x80\xA6", o->file); /* ... as one character */
        if (!o->flat || o->room)
            putc(o->flat && strchr("\n\r\t", bytes[i]) ? ' ' : bytes[i],
                 o->file);
    }
    return (int)len;
}

static void outlet_init(outlet *o, FILE *file)
{
    memset(o, 0, sizeof *o);
    o->file = file;
    o->shown.sink = outlet_write;
    o->shown.user = o;
    o->mask.sink = ttool_shown_put;
    o->mask.user = &o->shown;
}

/* What waited for a rest that does not come. */
static void outlet_end(outlet *o)
{
    tcall_mask_end(&o->mask);
    ttool_shown_end(&o->shown);
}

static void outlet_str(outlet *o, tcall_str text)
{
    tcall_mask_put(&o->mask, text.ptr, text.len);
    outlet_end(o);
}

/* As much of a text as fits into so many columns. */
static void outlet_part(outlet *o, tcall_str text, size_t columns)
{
    o->flat = true;
    o->room = columns + 1;
    outlet_str(o, text);
    o->flat = false;
}

static tcall_writer outlet_writer(outlet *o, char *buf, size_t cap)
{
    tcall_writer w;
    tcall_writer_init(&w, buf, cap);
    tcall_writer_sink(&w, tcall_mask_put, &o->mask);
    return w;
}

static void outlet_done(outlet *o, tcall_writer *w)
{
    tcall_writer_flush(w);
    outlet_end(o);
}

/* ---- lines ---- */

/* The transport's clock; 0 where it has none. */
static uint32_t screen_now(void *user)
{
    const screen *s = user;
    return s->inner.now_ms ? s->inner.now_ms(s->inner.user) : 0;
}

/* Ends a line of the notes. */
static void screen_break(const screen *s)
{
    fputs(s->colour ? COLOUR_OFF "\n" : "\n", stderr);
}

/* How much of the arguments of a call, or of its result, is shown: with the
 * words around them, and its name, a line fits the window. */
static size_t screen_part(const tcall_call *call)
{
    enum { WORDS = 32, LEAST = 12 };
    size_t others = WORDS + call->name.len;
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 100;
    return size.ws_col < others + 2 * LEAST ? LEAST
                                            : (size.ws_col - others) / 2;
}

/* The sign goes, and what it stood on is there again. */
static void screen_clear(screen *s)
{
    if (s->turning)
        fputs(TO_PLACE CLEAR_REST, stderr);
    s->turning = false;
    s->last = screen_now(s);
}

void screen_line(screen *s)
{
    screen_clear(s);
    outlet_end(&s->answer);
    if (s->middle)
        putchar('\n');
    fflush(stdout);
    if (s->on)
        screen_break(s);
    s->middle = false;
    s->on = NULL;
}

/* The words for what is most often, where a line goes on. */
static const char *screen_brief(const char *word)
{
    return strcmp(word, "checked") == 0  ? ""
           : strcmp(word, "result") == 0 ? "-> "
           : strcmp(word, "failed") == 0 ? "failed: "
                                         : word;
}

/* A word for what happens: it begins a line, or goes on with that of a call. */
static void screen_begin(screen *s, const tcall_call *call, const char *word)
{
    if (call && s->on == call && !s->verbose) {
        screen_clear(s);
        fprintf(stderr, "  %s", screen_brief(word));
        return;
    }
    screen_line(s);
    fprintf(stderr, "%s  %-9s", s->colour ? DIM : "", word);
    if (call && strcmp(word, "call") != 0 && !s->verbose)
        outlet_str(&s->notes, call->name);
}

/* The line goes on, or ends: last, or because each step has one. */
static void screen_end(screen *s, const tcall_call *call, bool last)
{
    s->on = call;
    if (!call || last || s->verbose)
        screen_break(s);
    if (last || s->verbose)
        s->on = NULL;
    fflush(stderr);
}

/* ---- what happens ---- */

/* A text of a call, whole or as much as the line has room for. */
static void screen_of(screen *s, const tcall_call *call, tcall_str text)
{
    if (s->verbose)
        outlet_str(&s->notes, text);
    else
        outlet_part(&s->notes, text, screen_part(call));
}

static void screen_call(screen *s, const tcall_call *call)
{
    screen_begin(s, call, "call");
    outlet_str(&s->notes, call->name);
    putc(' ', stderr);
    screen_of(s, call, call->arguments);
    screen_end(s, call, false);
}

static void screen_arguments(screen *s, const tcall_call *call)
{
    char buf[64];
    tcall_writer w = outlet_writer(&s->notes, buf, sizeof buf);
    tcall_write_json(&w, call->args);
    outlet_done(&s->notes, &w);
}

/* How the check of a call's arguments went. */
static void screen_check(screen *s, const tcall_call *call)
{
    char buf[64];
    tcall_writer w = outlet_writer(&s->notes, buf, sizeof buf);
    screen_begin(s, call, call->error < 0 ? "refused" : "checked");
    if (call->error < 0) {
        fprintf(stderr, "%s: %s ", tcall_error_code(call->error),
                tcall_error_text(call->error));
        tcall_write_open(&w, '{');
        tcall_write_call_errors(&w, call);
        tcall_write_close(&w, '}');
        outlet_done(&s->notes, &w);
    } else if (call->fixes || call->coercions) {
        fputs("valid as ", stderr);
        screen_arguments(s, call);
        for (int i = 0; i < TCALL_FIX_COUNT; i++)
            if (call->fixes >> i & 1)
                fprintf(stderr, ", fixed %s", tcall_fix_name(i));
        if (call->coercions)
            fprintf(stderr, ", %d values converted", call->coercions);
    } else {
        fputs("valid", stderr);
    }
    screen_end(s, call, false);
}

static void screen_result(screen *s, const tcall_event *e)
{
    screen_begin(s, e->call, e->error < 0 ? "failed" : "result");
    screen_of(s, e->call, e->text);
    fprintf(stderr, " (%lu ms)", (unsigned long)e->call->run_ms);
    screen_end(s, e->call, true);
    s->doing[0] = '\0';
}

void screen_say(screen *s, const char *word, tcall_str text)
{
    screen_begin(s, NULL, word);
    outlet_str(&s->notes, text);
    screen_end(s, NULL, true);
}

static void screen_turn_end(screen *s, const tcall_event *e)
{
    uint32_t ms = screen_now(s) - s->began;
    screen_begin(s, NULL, "turn");
    fprintf(stderr,
            "%u answers, %u calls, %lu tokens, %lu bytes sent, %lu read, ",
            e->turn->rounds, e->turn->calls, (unsigned long)e->turn->tokens,
            (unsigned long)s->sent, (unsigned long)s->received);
    fprintf(stderr, "%lu.%lu s, %lu bytes of memory", (unsigned long)ms / 1000,
            (unsigned long)ms / 100 % 10, (unsigned long)tcall_peak(s->tc));
    screen_end(s, NULL, true);
}

static void screen_text(screen *s, tcall_str text)
{
    if (s->nested)
        return;
    if (s->on)
        screen_line(s);
    screen_clear(s);
    tcall_mask_put(&s->answer.mask, text.ptr, text.len);
    s->middle = true;
    fflush(stdout);
}

/* A sub-agent's turn belongs to a call: only it has a parent. What it says is
 * not the answer. */
static void screen_turn(screen *s, const tcall_event *e)
{
    if (e->turn->parent) {
        s->nested += e->kind == TCALL_EVENT_TURN ? 1 : -1;
        return;
    }
    if (e->kind == TCALL_EVENT_TURN_END) {
        screen_line(s);
        if (!s->quiet)
            screen_turn_end(s, e);
        return;
    }
    s->began = s->last = screen_now(s);
    s->sent = s->received = 0;
}

static void screen_bytes(screen *s, const tcall_event *e)
{
    bool asked = e->kind == TCALL_EVENT_REQUEST;
    *(asked ? &s->sent : &s->received) += e->bytes;
    if (!s->verbose)
        return;
    screen_begin(s, NULL, asked ? "request" : "answer");
    fprintf(stderr, "%lu bytes", (unsigned long)e->bytes);
    if (asked)
        fprintf(stderr, ", tools sent: %lu", (unsigned long)e->tools);
    screen_end(s, NULL, true);
}

static void screen_progress(screen *s, tcall_str text)
{
    size_t len = text.len < sizeof s->doing ? text.len : sizeof s->doing - 1;
    memcpy(s->doing, text.ptr, len);
    s->doing[len] = '\0';
    if (s->verbose)
        screen_say(s, "progress", text);
}

static void screen_step(screen *s, const tcall_event *e)
{
    switch (e->kind) {
    case TCALL_EVENT_HYDRATED:
        screen_call(s, e->call);
        screen_check(s, e->call);
        break;
    case TCALL_EVENT_VERDICT:
        screen_begin(s, e->call,
                     e->verdict == TCALL_VERDICT_ALLOW ? "approved" : "denied");
        if (s->verbose)
            outlet_str(&s->notes, e->call->name);
        screen_end(s, e->call, false);
        break;
    case TCALL_EVENT_PROGRESS: screen_progress(s, e->text); break;
    case TCALL_EVENT_RETRY:
        screen_begin(s, NULL, "retry");
        fprintf(stderr, "%s, again in %lu ms", tcall_error_text(e->error),
                (unsigned long)e->ms);
        screen_end(s, NULL, true);
        break;
    case TCALL_EVENT_END: screen_result(s, e); break;
    default: break;
    }
}

void screen_event(screen *s, const tcall_event *e)
{
    switch (e->kind) {
    case TCALL_EVENT_TURN:
    case TCALL_EVENT_TURN_END: screen_turn(s, e); break;
    case TCALL_EVENT_TEXT: screen_text(s, e->text); break;
    case TCALL_EVENT_REQUEST:
    case TCALL_EVENT_ANSWER: screen_bytes(s, e); break;
    default:
        if (!s->quiet)
            screen_step(s, e);
    }
}

/* ---- approval ---- */

/* The lines of a text, each after a mark: what goes and what comes. */
static void screen_lines(screen *s, const char *mark, const char *colour,
                         tcall_str text)
{
    unsigned long count = 0;
    for (; text.len; count++) {
        size_t len = diff_line(text);
        tcall_str line = {text.ptr, len - (text.ptr[len - 1] == '\n')};
        text.ptr += len;
        text.len -= len;
        if (count >= SCREEN_DIFF_LINES)
            continue;
        fprintf(stderr, "%s    %s ", s->colour ? colour : "", mark);
        outlet_str(&s->notes, line);
        screen_break(s);
    }
    if (count > SCREEN_DIFF_LINES)
        fprintf(stderr, "    %s and %lu more lines\n", mark,
                count - SCREEN_DIFF_LINES);
}

/* What a call would change in a file, as a diff; false: it is no such call. */
static bool screen_change(screen *s, const tcall_call *call)
{
    tcall_json path = tcall_json_get(call->args, "file_path");
    tcall_str before, after;
    if (!path.tok || !s->root ||
        (strcmp(call->tool->name, "edit") != 0 &&
         strcmp(call->tool->name, "write") != 0))
        return false;
    diff_of(s->root, call, &before, &after);
    outlet_str(&s->notes, tcall_json_str(path));
    putc('\n', stderr);
    screen_lines(s, "-", RED, before);
    screen_lines(s, "+", GREEN, after);
    return true;
}

void screen_approval(screen *s, const tcall_call *call)
{
    screen_line(s);
    fprintf(stderr, "  %-9s", "approve?");
    outlet_str(&s->notes, call->name);
    putc(' ', stderr);
    if (!screen_change(s, call))
        screen_arguments(s, call);
}

/* ---- waits ---- */

/* Shows that time passes: from half a second without news on. The sign ends at
 * the window's edge, and what a person types then is echoed in its place: a
 * line more would move the place that it is taken back from. */
static void screen_tick(screen *s)
{
    uint32_t now = screen_now(s), ms = now - s->last;
    if (ms < 500 || !s->lively)
        return;
    fputs(s->turning ? TO_PLACE CLEAR_REST : KEEP_PLACE, stderr);
    fprintf(stderr, WRAP_OFF " %c %lu s ", "|/-\\"[ms / 100 % 4],
            (unsigned long)(now - s->began) / 1000);
    outlet_part(&s->notes, tcall_str_of(s->doing), sizeof s->doing);
    fputs(WRAP_ON TO_PLACE, stderr);
    s->turning = true;
    fflush(stderr);
}

static int screen_open(void *user, const tcall_request *req,
                       tcall_response *res)
{
    screen *s = user;
    return s->inner.open(s->inner.user, req, res);
}

static int screen_write(void *user, const char *bytes, size_t len)
{
    screen *s = user;
    return s->inner.write(s->inner.user, bytes, len);
}

static int screen_read(void *user, char *bytes, size_t cap)
{
    screen *s = user;
    return s->inner.read(s->inner.user, bytes, cap);
}

static void screen_close(void *user)
{
    screen *s = user;
    s->inner.close(s->inner.user);
}

/* Sleeps a tenth of a second at most, so that the sign can turn. */
static void screen_wait(void *user, const tcall_wait *wait)
{
    screen *s = user;
    tcall_wait part = *wait;
    screen_tick(s);
    if (s->lively && part.ms > 100)
        part.ms = 100;
    s->inner.wait(s->inner.user, &part);
}

static void screen_wants(void *user, tcall_wait *wait)
{
    screen *s = user;
    s->inner.wants(s->inner.user, wait);
}

tcall_transport screen_transport(screen *s, tcall_transport inner)
{
    tcall_transport t = inner;
    s->inner = inner;
    t.open = screen_open;
    t.write = screen_write;
    t.read = screen_read;
    t.close = screen_close;
    t.now_ms = inner.now_ms ? screen_now : NULL;
    t.wait = inner.wait && inner.now_ms ? screen_wait : NULL;
    t.wants = inner.wants ? screen_wants : NULL;
    t.user = s;
    return t;
}

void screen_init(screen *s)
{
    const char *term = getenv("TERM");
    bool obeys = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    outlet_init(&s->answer, stdout);
    outlet_init(&s->notes, stderr);
    s->colour = obeys && !getenv("NO_COLOR");
    s->lively = obeys && !s->quiet;
}

void screen_hide(screen *s, const char *secret)
{
    s->answer.mask.secret = s->notes.mask.secret = secret;
}

void screen_print(screen *s, tcall_str text)
{
    outlet_str(&s->notes, text);
}

void screen_note(screen *s, const char *form, ...)
{
    va_list args;

    va_start(args, form);
    if (!s->quiet)
        vfprintf(stderr, form, args);
    va_end(args);
}
