/* Answers that break the rules of HTTP, and headers that do. */
#define _DEFAULT_SOURCE /* usleep */
#include "port/port.h"

#include "script.h"

#include <unistd.h>
#include "rows.h"

#define OK       "HTTP/1.1 200 OK\r\n"
#define CHUNKED  OK "Transfer-Encoding: chunked\r\n\r\n"
#define HELLO    OK "Content-Length: 5\r\n\r\nhello"
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- over a script ---- */

static outcome x;

/* One exchange with a server that says this and then goes; answers its error.
 * A reused connection would show: there is one, and no request is repeated. */
static int ask(const char *text, size_t len, int end)
{
    script s;

    memset(&s, 0, sizeof s);
    s.text = text;
    s.len = len ? len : strlen(text);
    s.end = end;
    script_ask(&s, "GET", 1000, &x);
    return x.error;
}

/* Is each of the texts refused with this error, however the server goes? */
static bool all_are(int error, const char *const *texts, size_t n)
{
    while (n--)
        if (ask(texts[n], 0, 0) != error ||
            ask(texts[n], 0, TCALL_E_CLOSED) != error || !x.why[0]) {
            printf("  %d: %.60s\n", x.error, texts[n]);
            return false;
        }
    return true;
}
#define ALL(error, texts) all_are(error, texts, COUNT(texts))

static bool body_cut_short(void)
{
    static const char *const t[] = {OK "Content-Length: 50\r\n\r\nhello"};

    return ALL(TCALL_E_CLOSED, t) && x.len == 5;
}

static bool chunks_cut_short(void)
{
    static const char *const t[] = {
        CHUNKED "5\r\nhel", CHUNKED "5\r\nhello", CHUNKED "5\r\nhello\r\n",
        CHUNKED "5\r\nhello\r\n0\r\n", CHUNKED "5\r\nhello\r\n0\r\n\r"};

    return ALL(TCALL_E_CLOSED, t);
}

static bool bad_chunk_sizes(void)
{
    static const char *const t[] = {
        CHUNKED "-5\r\nhello\r\n0\r\n\r\n",
        CHUNKED "\r\nhello\r\n0\r\n\r\n",
        CHUNKED "0x5\r\nhello\r\n0\r\n\r\n",
        CHUNKED "+5\r\nhello\r\n0\r\n\r\n",
        CHUNKED "FFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
        CHUNKED "FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
        CHUNKED "100000005\r\nhello\r\n0\r\n\r\n"};

    return ALL(TCALL_E_PROTOCOL, t) && x.len == 0;
}

static bool bad_lengths(void)
{
    static const char *const t[] = {
        OK "Content-Length: -5\r\n\r\nhello",
        OK "Content-Length: +5\r\n\r\nhello",
        OK "Content-Length: 5x\r\n\r\nhello",
        OK "Content-Length: 4294967301\r\n\r\nhello",
        OK "Content-Length: 18446744073709551621\r\n\r\nhello"};

    return ALL(TCALL_E_PROTOCOL, t) && x.len == 0;
}

static bool two_framings(void)
{
    static const char *const t[] = {
        OK "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        OK "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        OK "Content-Length: 5, 6\r\n\r\nhello!",
        OK "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        OK "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"};

    return ALL(TCALL_E_PROTOCOL, t);
}

static bool unknown_codings(void)
{
    static const char *const t[] = {
        OK "Transfer-Encoding: gzip\r\n\r\nx",
        OK "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        OK "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        OK "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        OK "Transfer-Encoding: identity\r\n\r\nx"};

    return ALL(TCALL_E_PROTOCOL, t);
}

static bool bad_lines(void)
{
    static const char nul[] = OK "X: a\0b\r\nContent-Length: 0\r\n\r\n";
    static const char *const t[] = {"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
                                    OK
                                    "X: a\r\n b\r\nContent-Length: 0\r\n\r\n",
                                    OK ": a\r\nContent-Length: 0\r\n\r\n",
                                    OK "X : a\r\nContent-Length: 0\r\n\r\n"};

    return ALL(TCALL_E_PROTOCOL, t) &&
           ask(nul, sizeof nul - 1, 0) == TCALL_E_PROTOCOL;
}

static bool bad_status_lines(void)
{
    static const char *const t[] = {
        "<html>hello</html>\n", "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/2 200\r\n\r\n", "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n"};

    return ALL(TCALL_E_PROTOCOL, t);
}

static bool interim_answers(void)
{
    static const char early[] = "HTTP/1.1 100 Continue\r\n\r\n";

    return ask("HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\nLink: "
               "<a>\r\n\r\n" HELLO,
               0, 0) == 0 &&
           x.status == 200 && x.len == 5 &&
           ask(many("", early, 500, HELLO), 0, 0) == TCALL_E_LIMIT;
}

/* No more is read than the limit and one buffer. */
static bool stops(const char *text)
{
    script s;

    memset(&s, 0, sizeof s);
    s.text = text;
    s.len = strlen(text);
    script_ask(&s, "GET", 1000, &x);
    return x.error == TCALL_E_LIMIT &&
           s.at <= TPORT_HTTP_MAX_HEAD + TPORT_HTTP_BUFFER;
}

static bool endless_heads(void)
{
    return stops(many(OK "X: ", "y", 1 << 20, "\r\n\r\n")) &&
           stops(many(OK, "X: 1\r\n", 20000, "\r\n")) &&
           stops(many(CHUNKED "1;", "e", 1 << 20, "\r\na\r\n0\r\n\r\n"));
}

static bool no_bodies(void)
{
    script s;

    memset(&s, 0, sizeof s);
    s.text = HELLO;
    s.len = strlen(s.text);
    script_ask(&s, "HEAD", 1000, &x);
    return x.error == 0 && x.len == 0 && !x.kept &&
           ask("HTTP/1.1 204 N\r\nContent-Length: 5\r\n\r\nhello", 0, 0) == 0 &&
           x.len == 0 && !x.kept &&
           ask("HTTP/1.1 304 N\r\nContent-Length: 5\r\n\r\nhello", 0, 0) == 0 &&
           x.len == 0 && !x.kept;
}

static bool bytes_after_body(void)
{
    static const char *const t[] = {HELLO "more", HELLO HELLO,
                                    CHUNKED "0\r\n\r\n" HELLO};
    size_t i, cut;

    for (i = 0; i < COUNT(t); i++)
        for (cut = 0; cut <= strlen(t[i]); cut++) {
            script s;
            memset(&s, 0, sizeof s);
            s.text = t[i];
            s.len = strlen(t[i]);
            s.cut = cut;
            s.end = TCALL_E_AGAIN;
            script_ask(&s, "GET", 1000, &x);
            if (x.error || x.kept)
                return false;
        }
    return true;
}

static bool heads_cut_short(void)
{
    static const char *const head[] = {"H", "HTTP/1.1 20", OK, OK "Content-Le",
                                       OK "Content-Length: 5\r\n"};

    return ask("", 0, 0) == TCALL_E_CLOSED && x.status == 0 &&
           strstr(x.why, "before the answer") && ALL(TCALL_E_CLOSED, head) &&
           strstr(x.why, "inside the answer's head") &&
           ask(OK "Content-Length: 5\r\n\r\n", 0, 0) == TCALL_E_CLOSED &&
           strstr(x.why, "inside the answer's body");
}

/* A request of an agent's headers, to a server that must not see a byte. */
static bool unsent(const char *value, const char *secret)
{
    tcall_header header;
    tcall_request q = {"POST", "/", NULL, 1, 0};
    tcall_response res;
    tport_http h;
    script s;
    bool ok;

    header.name = "X";
    header.value = value;
    header.secret = secret;
    q.headers = &header;
    memset(&s, 0, sizeof s);
    tport_http_init(&h, script_stream(&s), "host", "");
    ok = tport_http_open(&h, &q, &res) == TCALL_E_USAGE && s.connects == 0 &&
         s.written == 0 && !strstr(tport_http_why(&h), "canary");
    tport_http_drop(&h);
    return ok;
}

static bool line_breaks_in_headers(void) /* C strings hold no NUL */
{
    return unsent("a\r\nInjected: 1", NULL) && unsent("a\n", NULL) &&
           unsent("a\rb", NULL) && unsent("a\x01", NULL);
}

static bool newline_in_key(void)
{
    return unsent("Bearer ", "canary\n") && unsent("", "canary\r\nX: 1") &&
           unsent(NULL, "can\x7f"
                        "ary");
}

static bool retry_after(void)
{
    static const struct {
        const char *lines;
        long ms;
    } t[] = {{"Retry-After: 2", 2000},
             {"Date: Wed, 21 Oct 2015 07:28:00 GMT\r\n"
              "Retry-After: Wed, 21 Oct 2015 07:28:30 GMT",
              30000},
             {"Retry-After: 99999999", 0x7fffffff},
             {"Retry-After: -5", -1},
             {"Retry-After: soon", -1}};
    size_t i;

    for (i = 0; i < COUNT(t); i++) {
        char text[300];
        sprintf(text, "HTTP/1.1 429 Slow\r\n%s\r\nContent-Length: 0\r\n\r\n",
                t[i].lines);
        if (ask(text, 0, 0) != 0 || x.retry_after_ms != t[i].ms)
            return false;
    }
    return true;
}

int main(void)
{
    static const row rows[] = {
        {"a body that is shorter than its Content-Length", body_cut_short},
        {"chunked cut anywhere", chunks_cut_short},
        {"chunk sizes that are none", bad_chunk_sizes},
        {"lengths that are none", bad_lengths},
        {"two lengths, length and coding", two_framings},
        {"unknown or stacked transfer coding", unknown_codings},
        {"LF only, folded, no name, NUL", bad_lines},
        {"HTTP/0.9, HTTP/9.9, two-digit status", bad_status_lines},
        {"100 and 103 first; 500 of them", interim_answers},
        {"1 MB line, 20,000 headers, 1 MB extension", endless_heads},
        {"204, 304, HEAD with a body", no_bodies},
        {"bytes after the body", bytes_after_body},
        {"close before status, in it, in a header", heads_cut_short},
        {"CR, LF in a header to send", line_breaks_in_headers},
        {"Retry-After of every kind", retry_after},
        {"a key with a newline", newline_in_key},
    };

    alarm(300);
    return run_rows("test_port_bad_answers", rows, COUNT(rows));
}
