/* screen.c - see screen.h */
#include "examples/agent/screen.h"

#include <string.h>

/* Whatever others wrote comes to the terminal this way: without the key, which
 * they may repeat, and with characters that a terminal would obey shown, not
 * obeyed, by the filter that the tools have. */
static int print_plain(void *user, const char *bytes, size_t len)
{
    const screen *s = user;
    return (int)fwrite(bytes, 1, len, s->to);
}

static int print_bytes(void *user, const char *bytes, size_t len)
{
    screen *s = user;
    return tcall_mask_put(&s->mask, bytes, len);
}

void screen_init(screen *s, FILE *to, bool colour)
{
    memset(s, 0, sizeof *s);
    s->to = to;
    s->colour = colour;
    s->shown.sink = print_plain;
    s->shown.user = s;
    s->mask.sink = ttool_shown_put;
    s->mask.user = &s->shown;
}

void screen_hide(screen *s, const char *secret)
{
    s->mask.secret = secret;
}

/* What waited for a rest that does not come. */
static void print_end(screen *s)
{
    tcall_mask_end(&s->mask);
    ttool_shown_end(&s->shown);
}

void screen_print(screen *s, tcall_str text)
{
    print_bytes(s, text.ptr, text.len);
    print_end(s);
}

void screen_fresh_line(screen *s)
{
    print_end(s);
    if (s->middle)
        fputc('\n', s->to);
    s->middle = false;
}

void screen_begin_line(screen *s, const char *word)
{
    screen_fresh_line(s);
    printf("%s  %-9s", s->colour ? "\033[2m" : "", word);
}

void screen_end_line(const screen *s)
{
    puts(s->colour ? "\033[0m" : "");
    fflush(stdout);
}

/* A writer that goes to the terminal through a small buffer. */
static tcall_writer to_terminal(screen *s, char *buf, size_t cap)
{
    tcall_writer w;

    tcall_writer_init(&w, buf, cap);
    tcall_writer_sink(&w, print_bytes, s);
    return w;
}

void screen_print_arguments(screen *s, const tcall_call *call)
{
    char buf[64];
    tcall_writer w = to_terminal(s, buf, sizeof buf);

    tcall_write_json(&w, call->args);
    tcall_writer_flush(&w);
    print_end(s);
}

/* How the check of a call's arguments went. */
static void show_check(screen *s, const tcall_call *call)
{
    char buf[64];
    tcall_writer w = to_terminal(s, buf, sizeof buf);

    screen_begin_line(s, call->error < 0 ? "refused" : "checked");
    if (call->error < 0) {
        printf("%s: %s ", tcall_error_code(call->error),
               tcall_error_text(call->error));
        tcall_write_open(&w, '{');
        tcall_write_call_errors(&w, call);
        tcall_write_close(&w, '}');
        tcall_writer_flush(&w);
        print_end(s);
    } else if (call->fixes || call->coercions) {
        printf("valid as ");
        screen_print_arguments(s, call);
        for (int i = 0; i < TCALL_FIX_COUNT; i++)
            if (call->fixes >> i & 1)
                printf(", fixed %s", tcall_fix_name(i));
        if (call->coercions)
            printf(", %d values converted", call->coercions);
    } else {
        printf("valid");
    }
    screen_end_line(s);
}

static void show_call(screen *s, const tcall_call *call)
{
    screen_begin_line(s, "call");
    screen_print(s, call->name);
    putchar(' ');
    screen_print(s, call->arguments);
    screen_end_line(s);
}

static void show_result(screen *s, const tcall_event *e)
{
    screen_begin_line(s, e->error < 0 ? "failed" : "result");
    screen_print(s, e->text);
    printf(" (%lu ms)", (unsigned long)e->call->run_ms);
    screen_end_line(s);
}

void screen_event(screen *s, const tcall_event *e)
{
    switch (e->kind) {
    case TCALL_EVENT_REQUEST:
        screen_begin_line(s, "request");
        printf("%lu bytes, tools sent: %d of %d", (unsigned long)e->bytes,
               (int)s->tools_sent, (int)s->tools);
        screen_end_line(s);
        break;
    case TCALL_EVENT_TEXT: /* a piece of it */
        print_bytes(s, e->text.ptr, e->text.len);
        s->middle = true;
        fflush(stdout);
        break;
    case TCALL_EVENT_ANSWER:
        screen_begin_line(s, "answer");
        printf("%lu bytes", (unsigned long)e->bytes);
        screen_end_line(s);
        break;
    case TCALL_EVENT_RETRY:
        screen_begin_line(s, "retry");
        printf("%s, again in %lu ms", tcall_error_text(e->error),
               (unsigned long)e->ms);
        screen_end_line(s);
        break;
    case TCALL_EVENT_HYDRATED:
        show_call(s, e->call);
        show_check(s, e->call);
        break;
    case TCALL_EVENT_VERDICT:
        screen_begin_line(s, e->verdict == TCALL_VERDICT_ALLOW ? "approved"
                                                               : "denied");
        screen_print(s, e->call->name);
        screen_end_line(s);
        break;
    case TCALL_EVENT_END: show_result(s, e); break;
    default: break;
    }
}
