/*
 * trace.c - a page of what examples/trace.h wrote down
 *
 *     agent --trace FILE ...
 *     trace FILE > turn.html
 *
 * For each turn a timeline: the picks and their scores, requests, the bytes of
 * answers as they came, calls with what checks found, and how much memory was
 * in use. The page needs neither network nor script. What a model, a tool or a
 * server said is only ever text in it.
 */
#define _POSIX_C_SOURCE 200809L

#include "toolcall.h"

#include "tools/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of the file, parsed. */
typedef struct line {
    int ms;
    tcall_json value;
} line;

static line *lines;
static size_t line_count, unread;

/* ---- reading ---- */

static void *must(void *memory)
{
    if (memory)
        return memory;
    fputs("trace: there is too little memory\n", stderr);
    exit(1);
}

/* Keeps text; false when it is no line of a trace. */
static bool add(char *text, size_t len)
{
    static size_t room;
    tcall_json value;
    int r = tcall_json_parse(&value, text, len, NULL);

    if (r < 0 || !tcall_json_get(value, "ms").at)
        return false;
    if (line_count == room) {
        room = room ? 2 * room : 1024;
        lines = (line *)must(realloc(lines, room * sizeof *lines));
    }
    lines[line_count].ms = tcall_json_int(tcall_json_get(value, "ms"), 0);
    lines[line_count++].value = value;
    return true;
}

static bool read_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    ssize_t len;

    if (!file)
        return false;
    while ((len = getline(&text, &room, file)) > 0) {
        if (!add(text, (size_t)len)) {
            unread++;
            continue;
        }
        text = NULL; /* it is kept */
        room = 0;
    }
    free(text);
    fclose(file);
    return true;
}

static tcall_json has(const line *l, const char *key)
{
    return tcall_json_get(l->value, key);
}

static bool is_event(const line *l, const char *name)
{
    return strcmp(tcall_json_string(has(l, "event"), ""), name) == 0;
}

/* ---- writing ---- */

/* The only way for text of the file into the page. */
static int html(void *user, const char *bytes, size_t len)
{
    size_t i;

    (void)user;
    for (i = 0; i < len; i++) {
        switch (bytes[i]) {
        case '&': fputs("&amp;", stdout); break;
        case '<': fputs("&lt;", stdout); break;
        case '>': fputs("&gt;", stdout); break;
        case '"': fputs("&quot;", stdout); break;
        default: putchar(bytes[i]);
        }
    }
    return (int)len;
}

static void text(tcall_str s)
{
    static ttool_shown shown;

    shown.sink = html;
    ttool_shown_put(&shown, s.ptr, s.len);
    ttool_shown_end(&shown);
}

static void texts(const line *l, const char *key)
{
    text(tcall_json_str(has(l, key)));
}

/* " 12 tools", or nothing where the line has none. */
static void figure(const line *l, const char *key, const char *unit)
{
    int n = tcall_json_int(has(l, key), 0);

    if (n)
        printf(" %d %s", n, unit);
}

/* ---- the timeline ---- */

/* The turn at hand. */
static const line *turn, *turn_end;

static double part(int ms)
{
    int whole = turn_end[-1].ms - turn->ms;

    return whole > 0 ? 100.0 * (ms - turn->ms) / whole : 0;
}

/* Begins a row for what lasted from one line to another. */
static void row(const char *kind, const line *from, const line *to)
{
    double left = part(from->ms), width = part(to->ms) - left;

    printf("<li class=\"");
    text(tcall_str_of(kind));
    printf("\"><time>%d</time><span class=\"bar\"><i style=\"left:%.2f%%;"
           "width:%.2f%%\"></i></span><b>",
           from->ms, left, width);
    text(tcall_str_of(kind));
    printf("</b> <div>");
}

static void end_row(const line *l)
{
    figure(l, "took_ms", "ms");
    if (has(l, "error").at) {
        printf(" <em>");
        texts(l, "error");
        printf("</em>");
    }
    printf("</div></li>\n");
}

/* The line after those of the same kind, from l on. */
static const line *after(const line *l, bool (*same)(const line *))
{
    while (l < turn_end && same(l))
        l++;
    return l;
}

static bool is_sent(const line *l)
{
    return has(l, "write").at != NULL;
}

/* Of an answer as it comes: the bytes, and what was found in them. */
static bool is_coming(const line *l)
{
    return has(l, "read").at || is_event(l, "text") || is_event(l, "piece");
}

static size_t size_of(const line *from, const line *to, const char *key)
{
    size_t size = 0;

    for (; from < to; from++)
        size += tcall_json_str(has(from, key)).len;
    return size;
}

static int count(const line *from, const line *to, const char *key)
{
    int n = 0;

    for (; from < to; from++)
        n += has(from, key).at != NULL;
    return n;
}

/* Where the exchange that begins at l ends. */
static const line *exchange_end(const line *l)
{
    const line *end = l;

    while (end + 1 < turn_end && !has(end, "end").at &&
           !(end > l && has(end, "open").at))
        end++;
    return end;
}

static const line *show_open(const line *l)
{
    tcall_json open = has(l, "open"), header;

    row("request", l, exchange_end(l));
    texts(&(line){l->ms, open}, "method");
    putchar(' ');
    texts(&(line){l->ms, open}, "path");
    if (tcall_json_get(open, "model").at) {
        printf(" (");
        texts(&(line){l->ms, open}, "provider");
        printf(", ");
        texts(&(line){l->ms, open}, "model");
        putchar(')');
    }
    printf(" <details><summary>headers</summary><pre>");
    header = tcall_json_first(tcall_json_get(open, "headers"));
    for (; header.at; header = tcall_json_next(header)) {
        text(tcall_json_str(header));
        putchar('\n');
    }
    printf("</pre></details>");
    if (has(l, "end").at) {
        printf(" <em>");
        texts(l, "end");
        printf("</em>");
    }
    end_row(l);
    return l + 1;
}

static const line *show_sent(const line *l)
{
    const line *end = after(l, is_sent);

    row("sent", l, end - 1);
    printf("<details><summary>%lu bytes in %d pieces</summary><pre>",
           (unsigned long)size_of(l, end, "write"), (int)(end - l));
    for (; l < end; l++)
        texts(l, "write");
    printf("</pre></details>");
    end_row(end - 1);
    return end;
}

static const line *show_coming(const line *l)
{
    const line *end = after(l, is_coming);

    row("came", l, end - 1);
    printf("<details><summary>%lu bytes in %d pieces, until %d ms</summary>"
           "<ol>\n",
           (unsigned long)size_of(l, end, "read"), count(l, end, "read"),
           end[-1].ms);
    for (; l < end; l++) {
        printf("<li><time>%d</time> <code>", l->ms);
        if (has(l, "read").at)
            texts(l, "read");
        printf("</code>");
        texts(l, "event");
        figure(l, "bytes", "bytes");
        printf("</li>\n");
    }
    printf("</ol></details>");
    end_row(end - 1);
    return end;
}

static const line *show_picks(const line *l)
{
    tcall_json pick = tcall_json_first(has(l, "picks"));

    row("pick", l, l);
    for (; pick.at; pick = tcall_json_next(pick)) {
        int score = tcall_json_int(pick, 0);

        printf("<meter max=\"1000\" value=\"%d\"></meter> ", score);
        text(tcall_json_key(pick));
        printf(" %d<br>", score);
    }
    figure(l, "saved", "bytes need not be sent");
    end_row(l);
    return l + 1;
}

/* Where the call that starts at l has its result. */
static const line *result_of(const line *l)
{
    tcall_str id = tcall_json_str(has(l, "id"));
    const line *end = l;

    while (end < turn_end &&
           !(is_event(end, "end") &&
             tcall_str_eq(id, tcall_json_str(has(end, "id")))))
        end++;
    return end < turn_end ? end : turn_end - 1;
}

/* What a row is called: an event by its own name, but for these. */
static const char *name_of(const line *l)
{
    static const char *const names[][2] = {
        {"request", "body"},     {"hydrated", "call"}, {"approval", "asked"},
        {"verdict", "approval"}, {"end", "result"},    {"turn_end", "done"}};
    const char *event = tcall_json_string(has(l, "event"), "");
    size_t i;

    for (i = 0; i < TCALL_ARRAY_LEN(names); i++)
        if (strcmp(names[i][0], event) == 0)
            return names[i][1];
    return event;
}

/* The call of an event; with what was checked, where it is told of that. */
static void show_call(const line *l)
{
    bool checked = has(l, "checks").at != NULL;

    printf("<code>");
    texts(l, "name");
    if (checked) {
        putchar(' ');
        texts(l, "arguments");
    }
    printf("</code>");
    if (checked) {
        printf(" <q>");
        texts(l, "checks");
        printf("</q>");
    }
}

static const line *show_event(const line *l)
{
    row(name_of(l), l, is_event(l, "start") ? result_of(l) : l);
    if (has(l, "name").at)
        show_call(l);
    if (has(l, "approved").at)
        printf(tcall_json_bool(has(l, "approved"), false) ? " approved"
                                                          : " denied");
    if (has(l, "text").at) {
        printf("<pre>");
        texts(l, "text");
        printf("</pre>");
    }
    figure(l, "bytes", "bytes");
    figure(l, "tools", "tools");
    end_row(l);
    return l + 1;
}

static const line *show_status(const line *l)
{
    row("status", l, l);
    printf("HTTP");
    figure(l, "status", "");
    end_row(l);
    return l + 1;
}

static const line *show_end(const line *l)
{
    row("end", l, l);
    texts(l, "end");
    end_row(l);
    return l + 1;
}

/* Shows a line, and those that belong to it. Returns the next one. */
static const line *show(const line *l)
{
    return has(l, "open").at     ? show_open(l)
           : is_sent(l)          ? show_sent(l)
           : is_coming(l)        ? show_coming(l)
           : has(l, "picks").at  ? show_picks(l)
           : has(l, "event").at  ? show_event(l)
           : has(l, "status").at ? show_status(l)
                                 : show_end(l);
}

/* ---- memory ---- */

static int highest(const char *key)
{
    const line *l;
    int most = 0;

    for (l = turn; l < turn_end; l++) {
        int n = tcall_json_int(has(l, key), 0);
        most = n > most ? n : most;
    }
    return most;
}

/* Steps of 1,000 by 100, scaled to the highest. */
static void steps(const char *key, int top)
{
    const line *l;
    int last = -1;

    printf("<polyline class=\"%s\" points=\"", key);
    for (l = turn; l < turn_end; l++) {
        int n = tcall_json_int(has(l, key), 0);
        double y = 100 - 100.0 * n / top;

        if (!n || n == last)
            continue;
        if (last < 0)
            printf("0,%.1f ", y);
        else
            printf("%.1f,%.1f ", 10 * part(l->ms), 100 - 100.0 * last / top);
        printf("%.1f,%.1f ", 10 * part(l->ms), y);
        last = n;
    }
    printf("1000,%.1f\"/>", last < 0 ? 100 : 100 - 100.0 * last / top);
}

/* What the last line that has this says. */
static int last(const char *key)
{
    const line *l = turn_end;

    while (l > turn && !has(l - 1, key).at)
        l--;
    return l > turn ? tcall_json_int(has(l - 1, key), 0) : 0;
}

static void show_memory(void)
{
    int used = highest("used"), peak = highest("peak");
    int top = used > peak ? used : peak;

    if (!top)
        return;
    printf(
        "<figure><figcaption>Memory: %d bytes in use at the end; at most %d, "
        "with the room that calls had for their output"
        "</figcaption><svg class=\"memory\" viewBox=\"0 0 1000 100\" "
        "preserveAspectRatio=\"none\">",
        last("used"), top);
    steps("peak", top);
    steps("used", top);
    printf("</svg></figure>\n");
}

/* ---- the page ---- */

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
    "'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>Trace</title>\n<style>\n"
    ":root { color-scheme: light dark }\n"
    "body { font: 14px system-ui, sans-serif; margin: 1em 2em }\n"
    "ol { list-style: none; padding: 0 }\n"
    ".turn > ol > li { display: grid; grid-template-columns: 5em 30% 6em 1fr;\n"
    "  gap: 1em; border-top: 1px solid #8883; padding: 2px 0;\n"
    "  content-visibility: auto; contain-intrinsic-height: auto 20px }\n"
    "time { text-align: right; color: #888 }\n"
    "time::after { content: \" ms\" }\n"
    ".bar { position: relative; height: 1em; background: #8881 }\n"
    ".bar i { position: absolute; height: 100%; min-width: 2px;\n"
    "  background: #579 }\n"
    ".request i { background: #c84 } .came i { background: #6a4 }\n"
    ".call i, .start i, .result i { background: #a5c }\n"
    "pre, code { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 }\n"
    "div { min-width: 0 }\n"
    "q { color: #384 }\n"
    "em, li:has(em) q { color: #c33 }\n"
    ".memory { width: 100%; height: 8em; background: #8881 }\n"
    "polyline { fill: none; stroke: #579; vector-effect: non-scaling-stroke }\n"
    ".peak { stroke: #c84; stroke-dasharray: 4 }\n"
    "figure { margin: 1em 0 }\n"
    "</style></head><body>\n";

static void show_turn(int number)
{
    const line *l = turn;

    printf(
        "<section class=\"turn\"><h2>Turn %d: %d ms</h2>\n"
        "<p>requests: %d, calls: %d, bytes sent: %lu, bytes received: %lu</p>\n",
        number, turn_end[-1].ms - turn->ms, count(l, turn_end, "open"),
        count(l, turn_end, "checks"),
        (unsigned long)size_of(l, turn_end, "write"),
        (unsigned long)size_of(l, turn_end, "read"));
    show_memory();
    printf("<ol>\n");
    while (l < turn_end)
        l = show(l);
    printf("</ol></section>\n");
}

static const char usage[] =
    "trace FILE > turn.html\n"
    "Writes a page of FILE, which `agent --trace FILE` wrote: a timeline for\n"
    "each turn, for any browser.\n";

int main(int argc, char **argv)
{
    const line *end;
    int number;

    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) == EOF;
    if (argc != 2) {
        fputs(usage, stderr);
        return 2;
    }
    if (!read_lines(argv[1])) {
        perror(argv[1]);
        return 2;
    }
    printf("%s<h1>", head);
    text(tcall_str_of(argv[1]));
    printf("</h1>\n");
    if (unread)
        printf("<p><em>%lu lines are not of a trace.</em></p>\n",
               (unsigned long)unread);
    end = line_count ? lines + line_count : lines;
    for (number = 1, turn = lines; turn < end; number++, turn = turn_end) {
        turn_end = turn + 1;
        while (turn_end < end && !is_event(turn_end, "turn"))
            turn_end++;
        show_turn(number);
    }
    printf("</body></html>\n");
    return ferror(stdout) || fflush(stdout) != 0;
}
