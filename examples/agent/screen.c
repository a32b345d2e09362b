/* screen.c - see screen.h */
#define _GNU_SOURCE
#include "examples/agent/screen.h"

#include "examples/agent/diff.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
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
static size_t screen_part(const screen *s, const tcall_call *call)
{
    enum { WORDS = 32, APPROVED = 42, LEAST = 12 };
    bool asks = call->tool && call->tool->confirm;
    size_t others = call->name.len, columns = outlet_columns(&s->notes);
    others += asks ? APPROVED : WORDS;
    if (!columns)
        return 100;
    return columns < others + 2 * LEAST ? LEAST : (columns - others) / 2;
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
    s->answer.column = 0;
    s->on = NULL;
}

/* The words for what is most often, where a line goes on. */
static const char *screen_brief(const char *word)
{
    return strcmp(word, "checked") == 0  ? ""
           : strcmp(word, "result") == 0 ? "-> "
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
        outlet_part(&s->notes, text, screen_part(s, call));
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
    tcall_write_json(&w, call->asked->args);
    tcall_writer_flush(&w);
    outlet_end(&s->notes);
}

/* What is wrong with a call, whole. */
static void screen_errors(screen *s, const tcall_call *call)
{
    char buf[64];
    tcall_writer w = outlet_writer(&s->notes, buf, sizeof buf);
    screen_begin(s, call, "refused");
    fprintf(stderr, "%s: %s ", tcall_error_code(call->error),
            tcall_error_text(call->error));
    tcall_write_open(&w, '{');
    tcall_write_call_errors(&w, call);
    tcall_write_close(&w, '}');
    tcall_writer_flush(&w);
    outlet_end(&s->notes);
    screen_end(s, call, false);
}

/* How the check of a call's arguments went; why it was refused is told with
 * its result. */
static void screen_check(screen *s, const tcall_call *call)
{
    if (call->error < 0) {
        if (s->verbose)
            screen_errors(s, call);
        return;
    }
    screen_begin(s, call, "checked");
    fputs("valid", stderr);
    if (call->asked->fixes || call->asked->coercions) {
        fputs(" as ", stderr);
        screen_arguments(s, call);
        for (int i = 0; i < TCALL_FIX_COUNT; i++)
            if (call->asked->fixes >> i & 1)
                fprintf(stderr, ", fixed %s", tcall_fix_name(i));
        if (call->asked->coercions)
            fprintf(stderr, ", %d value%s converted", call->asked->coercions,
                    call->asked->coercions == 1 ? "" : "s");
    }
    screen_end(s, call, false);
}

void screen_failure(screen *s, tcall_str why)
{
    enum { MOST = 600 };
    bool cut = why.len > MOST;
    screen_line(s);
    fprintf(stderr, "%s  \xE2\x9C\x97 ", s->colour ? RED : "");
    why.len = cut ? MOST : why.len;
    while (cut && (why.ptr[why.len] & 0xC0) == 0x80)
        why.len--;
    outlet_wrapped(&s->notes, why, 4);
    fputs(cut ? "\xE2\x80\xA6" : "", stderr);
    screen_break(s);
    fflush(stderr);
}

/* The message of a failure without the call that it begins with: that is shown
 * above it. */
static tcall_str screen_reason(const tcall_call *call, tcall_str message)
{
    tcall_str rest = message;
    const char *end;
    if (rest.len > call->name.len && call->name.len &&
        memcmp(rest.ptr, call->name.ptr, call->name.len) == 0) {
        rest.ptr += call->name.len;
        rest.len -= call->name.len;
        end = memmem(rest.ptr, rest.len, *rest.ptr == '(' ? "): " : ": ",
                     *rest.ptr == '(' ? 3 : 2);
        if (end && strchr("(:", *rest.ptr)) {
            end = strchr(end, ' ') + 1;
            rest.len -= (size_t)(end - rest.ptr);
            rest.ptr = end;
            return rest;
        }
    }
    return message;
}

/* Of the result of a call that failed, why. */
static void screen_why(screen *s, const tcall_event *e)
{
    static char text[16384];
    size_t len = e->text.len < sizeof text ? e->text.len : sizeof text - 1;
    tcall_str why = e->text;
    tcall_json root;
    memcpy(text, e->text.ptr, len);
    if (tcall_json_parse(&root, text, len, NULL) >= 0 &&
        tcall_json_get(root, "error").at)
        why = screen_reason(e->call,
                            tcall_json_str(tcall_json_get(root, "error")));
    screen_failure(s, why);
}

static void screen_result(screen *s, const tcall_event *e)
{
    s->doing[0] = '\0';
    if (e->error < 0 && !s->verbose) {
        screen_why(s, e);
        return;
    }
    screen_begin(s, e->call, e->error < 0 ? "failed" : "result");
    screen_of(s, e->call, e->text);
    fprintf(stderr, " (%lu ms)", (unsigned long)e->call->run_ms);
    screen_end(s, e->call, true);
}

void screen_say(screen *s, const char *word, tcall_str text)
{
    screen_begin(s, NULL, word);
    outlet_str(&s->notes, text);
    screen_end(s, NULL, true);
}

unsigned long screen_memory(const tcall *tc)
{
    return (unsigned long)(tc->block.low + tc->block.high);
}

static const char *plural(unsigned long count)
{
    return count == 1 ? "" : "s";
}

static void screen_turn_end(screen *s, const tcall_event *e)
{
    uint32_t ms = screen_now(s) - s->began;
    const tcall_turn *turn = e->turn;
    char text[160];
    int len = snprintf(text, sizeof text,
                       "%u answer%s, %u call%s, %lu token%s, %lu.%lu s, "
                       "%lu bytes of memory",
                       turn->rounds, plural(turn->rounds), turn->calls,
                       plural(turn->calls), (unsigned long)turn->tokens,
                       plural(turn->tokens), (unsigned long)ms / 1000,
                       (unsigned long)ms / 100 % 10, screen_memory(s->tc));
    screen_begin(s, NULL, "turn");
    outlet_wrapped(&s->notes, (tcall_str){text, (size_t)len}, 11);
    screen_end(s, NULL, true);
}

static void screen_text(screen *s, tcall_str text)
{
    if (s->nested)
        return;
    if (s->on)
        screen_line(s);
    screen_clear(s);
    outlet_put(&s->answer, text);
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
}

static void screen_bytes(screen *s, const tcall_event *e)
{
    bool asked = e->kind == TCALL_EVENT_REQUEST;
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

/* A denial is told with the result. */
static void screen_verdict(screen *s, const tcall_event *e)
{
    bool approved = e->verdict == TCALL_VERDICT_ALLOW;
    if (!approved && !s->verbose)
        return;
    screen_begin(s, e->call, approved ? "approved" : "denied");
    if (s->verbose)
        outlet_str(&s->notes, e->call->name);
    screen_end(s, e->call, false);
}

static void screen_step(screen *s, const tcall_event *e)
{
    switch (e->kind) {
    case TCALL_EVENT_HYDRATED:
        screen_call(s, e->call);
        screen_check(s, e->call);
        break;
    case TCALL_EVENT_VERDICT: screen_verdict(s, e); break;
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
    tcall_json path = tcall_json_get(call->asked->args, "file_path");
    tcall_str before, after;
    if (!path.at || !s->root ||
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

/* Shows that time passes, and how much: from half a second without news on. The
 * sign ends at the window's edge, and what a person types then is echoed in its
 * place: a line more would move the place that it is taken back from. */
static void screen_tick(screen *s)
{
    uint32_t now = screen_now(s), ms = now - s->last;
    if (ms < 500)
        return;
    outlet_pause(&s->answer);
    fflush(stdout);
    if (!s->lively)
        return;
    fputs(s->turning ? TO_PLACE CLEAR_REST : KEEP_PLACE, stderr);
    fprintf(stderr, WRAP_OFF " %c %lu s ", "|/-\\"[ms / 100 % 4],
            (unsigned long)ms / 1000);
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
    outlet_locale();
    outlet_init(&s->answer, stdout);
    outlet_init(&s->notes, stderr);
    s->answer.wraps = isatty(STDOUT_FILENO);
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
