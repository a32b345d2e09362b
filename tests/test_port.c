/*
 * test_port.c - HTTP, TLS and sockets of port/, without leaving this machine
 *
 * HTTP talks to a script in memory, TLS to a server of mbedTLS in memory, and
 * the whole to a forked server on 127.0.0.1. Certificates are made here.
 */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "port/port.h"

#include "toolcall.h"

#define MKCERT_NO_MAIN
#include "mkcert.c"

#include <arpa/inet.h>
#include <fcntl.h>
#include <mbedtls/net_sockets.h>
#include <mbedtls/sha256.h>
#include <mbedtls/ssl_cache.h>
#include <mbedtls/ssl_ticket.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- counting ---- */

static int passed, failed;
static unsigned slow =
    3; /* time limits: TEST_SLOW=10 for valgrind, 1 to hurry */
static const char *about = ""; /* the case, printed when a check fails */

static void check(bool ok, int line, const char *what)
{
    if (ok) {
        passed++;
        return;
    }
    failed++;
    printf("test_port.c:%d: %s [%.60s]\n", line, what, about);
}

#define CHECK(x)    check((x) != 0, __LINE__, #x)
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static void check_int(long got, long want, int line, const char *what)
{
    if (got != want)
        printf("  got %ld, want %ld\n", got, want);
    check(got == want, line, what);
}

#define CHECK_INT(got, want) check_int((got), (want), __LINE__, #got)

/* ==========================================================================
 * HTTP over a script
 */

/* What one connection will say. Each answer comes once as many requests (that
 * is, empty lines) have been written; then the connection is silent until the
 * last was given, and ends as told. */
typedef struct peer {
    const char *answers[3];
    size_t len;            /* of answers[0]; 0: to its NUL */
    int end;               /* 0: orderly, or an error; TCALL_E_AGAIN: silence */
    int write_fails_after; /* bytes until write is CLOSED; 0: never */
    bool dies_late;        /* looks alive until the next request was written */
} peer;

typedef struct script {
    const peer *peers;
    size_t cut;   /* no read crosses this offset of the first answer */
    size_t most;  /* bytes per read and write; 0: any */
    bool stutter; /* every second call answers AGAIN */
    /* what happened */
    int connects, closes, calls;
    bool up, deaf, over;  /* connected; write was CLOSED; read told an end */
    int misuses;          /* calls that stream.h does not allow */
    size_t at;            /* bytes given of the present answer */
    int answer, requests; /* on this connection */
    int empty;            /* state of looking for an empty line */
    char out[8192];
    size_t out_len, written; /* all; on this connection */
} script;

static bool stutters(script *s)
{
    return s->stutter && s->calls++ % 2 == 0;
}

static int script_connect(void *user)
{
    script *s = user;

    if (stutters(s))
        return TCALL_E_AGAIN;
    s->connects++;
    s->up = true;
    s->deaf = s->over = false;
    s->at = s->written = 0;
    s->answer = s->requests = s->empty = 0;
    return 0;
}

static int script_end(script *s, int end)
{
    s->over = end != TCALL_E_AGAIN;
    return end;
}

static int script_read(void *user, char *bytes, size_t cap)
{
    script *s = user;
    const peer *p = &s->peers[s->connects - 1];
    const char *a;
    size_t len, n;

    if (!s->up || s->over || cap == 0)
        return s->misuses++, TCALL_E_CLOSED;
    if (stutters(s))
        return TCALL_E_AGAIN;
    for (;;) {
        a = s->answer < 3 ? p->answers[s->answer] : NULL;
        if (!a)
            return p->dies_late && s->requests <= s->answer
                       ? TCALL_E_AGAIN
                       : script_end(s, p->end);
        if (s->requests <= s->answer)
            return TCALL_E_AGAIN;
        len = p->len && s->answer == 0 ? p->len : strlen(a);
        if (s->at < len)
            break;
        s->answer++;
        s->at = 0;
    }
    n = len - s->at;
    n = n < cap ? n : cap;
    if (s->most && n > s->most)
        n = s->most;
    if (s->at < s->cut && s->at + n > s->cut)
        n = s->cut - s->at;
    memcpy(bytes, a + s->at, n);
    s->at += n;
    return (int)n;
}

static int script_write(void *user, const char *bytes, size_t len)
{
    static const char line[] = "\r\n\r\n";
    script *s = user;
    const peer *p = &s->peers[s->connects - 1];
    size_t i;

    if (!s->up || s->over || s->deaf || len == 0)
        return s->misuses++, TCALL_E_CLOSED;
    if (stutters(s))
        return TCALL_E_AGAIN;
    if (s->most && len > s->most)
        len = s->most;
    s->deaf =
        p->write_fails_after && s->written >= (size_t)p->write_fails_after;
    if (s->deaf)
        return TCALL_E_CLOSED;
    for (i = 0; i < len; i++) {
        s->empty = bytes[i] == line[s->empty] ? s->empty + 1 : bytes[i] == '\r';
        if (s->empty == 4) {
            s->requests++;
            s->empty = 0;
        }
    }
    if (s->out_len + len < sizeof s->out)
        memcpy(s->out + s->out_len, bytes, len);
    s->out_len += len;
    s->written += len;
    return (int)len;
}

static void script_close(void *user)
{
    ((script *)user)->closes++;
    ((script *)user)->up = false;
}

static tport_stream script_stream(script *s)
{
    tport_stream r = {
        script_connect, script_read, script_write, script_close, NULL, NULL, s};

    return r;
}

typedef struct result {
    int error; /* 0 or what ended the exchange */
    tcall_response res;
    size_t len;
    char body[4096];
} result;

static const tcall_header no_secret[] = {{"X-Test", "1", NULL}};

/* AGAIN as often as anything may answer it; more is a machine that hangs. */
enum { PATIENCE = 100000 };

static int open_all(tcall_transport *t, const tcall_request *q,
                    tcall_response *res)
{
    int r, n = 0;

    do
        r = t->open(t->user, q, res);
    while (r == TCALL_E_AGAIN && ++n < PATIENCE);
    return r;
}

static int write_all(tcall_transport *t, const char *body, size_t len)
{
    int r = 0, n = 0;

    while (len > 0 && (r >= 0 || r == TCALL_E_AGAIN) && ++n < PATIENCE) {
        r = t->write(t->user, body, len);
        if (r > 0) {
            body += r;
            len -= (size_t)r;
        }
    }
    return r < 0 ? r : 0;
}

static int read_all(tcall_transport *t, result *x, size_t step)
{
    int r, n = 0;

    do {
        size_t cap = sizeof x->body - x->len;
        r = t->read(t->user, x->body + x->len, step < cap ? step : cap);
        if (r > 0)
            x->len += (size_t)r;
    } while ((r > 0 || r == TCALL_E_AGAIN) && ++n < PATIENCE);
    return r;
}

static void exchange(tcall_transport t, const tcall_request *q,
                     const char *body, size_t step, result *x)
{
    memset(x, 0, sizeof *x);
    x->error = open_all(&t, q, &x->res);
    if (x->error == 0)
        x->error = write_all(&t, body, q->body_len);
    if (x->error == 0)
        x->error = read_all(&t, x, step);
    t.close(t.user);
}

static const tcall_request get = {"GET", "/x", no_secret, 1, 0};
static const tcall_request head = {"HEAD", "/x", no_secret, 1, 0};
static const tcall_request post = {"POST", "/x", no_secret, 1, 4};

/* Bytes of the head of post. */
#define POST_TEXT                                                     \
    "POST /x HTTP/1.1\r\nHost: host\r\nUser-Agent: " TPORT_HTTP_AGENT \
    "\r\nAccept-Encoding: identity\r\nContent-Length: 4\r\nX-Test: 1\r\n\r\n"
enum { POST_HEAD = sizeof POST_TEXT - 1 };

/* One exchange with one peer. */
static void ask(const tcall_request *q, const peer *p, script *s, result *x)
{
    tport_http h;

    s->peers = p;
    tport_http_init(&h, script_stream(s), "host", "");
    exchange(tport_http_transport(&h), q, "body", 1000, x);
    tport_http_drop(&h);
    CHECK(!s->up);
    CHECK_INT(s->misuses, 0);
}

static void ask_text(const char *answer, size_t len, int end, result *x)
{
    static script s;
    peer p = {{0}, 0, 0, 0, false};

    memset(&s, 0, sizeof s);
    p.answers[0] = answer;
    p.len = len;
    p.end = end;
    ask(&get, &p, &s, x);
}

/* ---- answers that are right ---- */

#define OK1     "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK1 "Transfer-Encoding: chunked\r\n\r\n"

static const struct {
    const char *text, *body;
    int status;
    bool to_end; /* the body is ended by the connection */
} good[] = {
    {OK1 "Content-Length: 5\r\n\r\nhello", "hello", 200, false},
    {OK1 "content-length:\t 5 \t\r\nX:\r\n\r\nhello", "hello", 200, false},
    {OK1 "Content-Length: 0\r\n\r\n", "", 200, false},
    {"HTTP/1.1 404 \r\nContent-Length: 2\r\n\r\nno", "no", 404, false},
    {"HTTP/1.1 500\r\nContent-Length: 2\r\n\r\nno", "no", 500, false},
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", 200, false},
    {"HTTP/1.1 204 No Content\r\n\r\n", "", 204, false},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "", 304, false},
    {"HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 1\r\n\r\nz", "z",
     302, false},
    {CHUNKED "5\r\nhello\r\n0\r\n\r\n", "hello", 200, false},
    {CHUNKED "0\r\n\r\n", "", 200, false},
    {CHUNKED "5\r\nhello\r\n00000000000006\r\n world\r\n000\r\n\r\n",
     "hello world", 200, false},
    {CHUNKED "a;n=v;q=\"x y\"\r\n0123456789\r\n1\r\n!\r\n0;last\r\n\r\n",
     "0123456789!", 200, false},
    {CHUNKED "1\r\nA\r\n0\r\nX-Sum: 1\r\nContent-Length: 99\r\n"
             "Content-Encoding: x\r\nRetry-After: 5\r\n\r\n",
     "A", 200, false},
    {OK1 "TRANSFER-ENCODING: Chunked\r\n\r\nB\r\nhello\r\nworl\r\n0\r\n\r\n",
     "hello\r\nworl", 200, false},
    {"HTTP/1.1 100 Continue\r\n\r\n" OK1 "Content-Length: 1\r\n\r\na", "a", 200,
     false},
    {"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\nRetry-After: 9\r\n\r\n"
     "HTTP/1.1 100 Continue\r\n\r\n" CHUNKED "1\r\na\r\n0\r\n\r\n",
     "a", 200, false},
    {"HTTP/1.1 100 C\r\nTransfer-Encoding: chunked\r\n\r\n" OK1
     "Content-Length: 1\r\n\r\na",
     "a", 200, false},
    {"HTTP/1.1 100 C\r\nContent-Length: 7\r\n\r\n" CHUNKED
     "1\r\na\r\n0\r\n\r\n",
     "a", 200, false},
    {OK1 "Content-Encoding: identity\r\nContent-Length: 1\r\n\r\na", "a", 200,
     false},
    {OK1 "Connection: close\r\nContent-Length: 1\r\n\r\na", "a", 200, false},
    {OK1 "Set-Cookie: 0123456789012345678901234567890123456789012345678901\r\n"
         "A-Very-Long-Name-That-Does-Not-Fit-Anywhere-At-All-Here: 1\r\n"
         "Content-Length: 1\r\n\r\na",
     "a", 200, false},
    {OK1 "X: caf\xc3\xa9\r\n\r\nuntil the end", "until the end", 200, true},
    {"HTTP/1.0 200 OK\r\n\r\n", "", 200, true},
};

static bool is_good(const result *x, size_t i)
{
    return x->error == 0 && x->res.status == good[i].status &&
           x->len == strlen(good[i].body) &&
           memcmp(x->body, good[i].body, x->len) == 0 &&
           x->res.retry_after_ms == -1;
}

/* Every answer cut in two at every byte, byte by byte, and with AGAIN. */
static void test_splits(void)
{
    static script s;
    static result x;
    size_t i, cut, step;

    for (i = 0; i < COUNT_OF(good); i++) {
        peer p = {{0}, 0, 0, 0, false};
        bool same = true;
        about = good[i].text;
        p.answers[0] = good[i].text;
        p.end = good[i].to_end ? 0 : TCALL_E_AGAIN;
        for (cut = 0; cut <= strlen(good[i].text); cut++) {
            memset(&s, 0, sizeof s);
            s.cut = cut;
            s.stutter = cut % 2;
            ask(&get, &p, &s, &x);
            same = same && is_good(&x, i) && s.connects == 1;
        }
        CHECK(same);
        for (step = 1; step <= 3; step++) {
            memset(&s, 0, sizeof s);
            s.most = step;
            s.stutter = true;
            ask(&post, &p, &s, &x);
            CHECK(is_good(&x, i));
        }
    }
}

/* The same answers, with the connection gone at every byte. */
static void test_early_ends(void)
{
    static result x;
    size_t i, n;

    for (i = 0; i < COUNT_OF(good); i++) {
        bool told = true;
        size_t all = strlen(good[i].text);
        const char *body = strstr(good[i].text, "\r\n\r\n") + 4;
        about = good[i].text;
        for (n = 1; n < all; n++) {
            bool in_body = good[i].to_end && good[i].text + n >= body;
            ask_text(good[i].text, n, TCALL_E_CLOSED, &x);
            told = told && x.error == TCALL_E_CLOSED;
            ask_text(good[i].text, n, 0, &x);
            told = told && x.error == (in_body ? 0 : TCALL_E_CLOSED);
        }
        CHECK(told);
        if (good[i].to_end) {
            ask_text(good[i].text, all, TCALL_E_CLOSED, &x);
            CHECK_INT(x.error, TCALL_E_CLOSED);
        }
    }
}

/* ---- answers that are refused ---- */

#define NUL_AT "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n"

static const struct {
    const char *text;
    size_t len;
} bad[] = {
    /* status line */
    {"hello\r\n\r\n", 0},
    {"HTTP/9.9 200 OK\r\n\r\n", 0},
    {"HTTP/2 200\r\n\r\n", 0},
    {"http/1.1 200 OK\r\n\r\n", 0},
    {"HTTP/1.1  200 OK\r\n\r\n", 0},
    {"HTTP/1.1 20 OK\r\n\r\n", 0},
    {"HTTP/1.1 2000 OK\r\n\r\n", 0},
    {"HTTP/1.1 -20 OK\r\n\r\n", 0},
    {"HTTP/1.1 099 OK\r\n\r\n", 0},
    {"HTTP/1.1 600 OK\r\n\r\n", 0},
    {"HTTP/1.1 200\tOK\r\n\r\n", 0},
    {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 0},
    {"\r\nHTTP/1.1 200 OK\r\n\r\n", 0},
    {" HTTP/1.1 200 OK\r\n\r\n", 0},
    {"HTTP/1.1 200 O\001K\r\n\r\n", 0},
    /* lines */
    {"HTTP/1.1 200 OK\nContent-Length: 0\n\n", 0},
    {OK1 "Content-Length: 0\n\r\n", 0},
    {OK1 "Content-Length: 0\r\n\n", 0},
    {OK1 "X: a\rb\r\nContent-Length: 0\r\n\r\n", 0},
    {OK1 "X: a\r\n b\r\nContent-Length: 0\r\n\r\n", 0},
    {OK1 " X: a\r\nContent-Length: 0\r\n\r\n", 0},
    {OK1 ": a\r\nContent-Length: 0\r\n\r\n", 0},
    {OK1 "X : a\r\nContent-Length: 0\r\n\r\n", 0},
    {OK1 "X\r\nContent-Length: 0\r\n\r\n", 0},
    {OK1 "X: \177\r\nContent-Length: 0\r\n\r\n", 0},
    {NUL_AT, sizeof NUL_AT - 1},
    /* Content-Length */
    {OK1 "Content-Length: -5\r\n\r\nhello", 0},
    {OK1 "Content-Length: +5\r\n\r\nhello", 0},
    {OK1 "Content-Length: 5x\r\n\r\nhello", 0},
    {OK1 "Content-Length: 5, 5\r\n\r\nhello", 0},
    {OK1 "Content-Length: 0x5\r\n\r\nhello", 0},
    {OK1 "Content-Length: 5 5\r\n\r\nhello", 0},
    {OK1 "Content-Length:\r\n\r\nhello", 0},
    {OK1 "Content-Length: 4294967296\r\n\r\nhello", 0},
    {OK1 "Content-Length: 18446744073709551621\r\n\r\nhello", 0},
    {OK1 "Content-Length: 0000000000000000000000000000000000000000000005\r\n"
         "\r\nhello",
     0},
    {OK1 "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 0},
    {OK1 "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 0},
    /* Transfer-Encoding, Content-Encoding */
    {OK1 "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0},
    {OK1 "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 0},
    {OK1 "Transfer-Encoding: gzip\r\n\r\nx", 0},
    {OK1 "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 0},
    {OK1 "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 0},
    {OK1 "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 0},
    {OK1 "Transfer-Encoding: \r\n\r\n0\r\n\r\n", 0},
    {OK1 "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"
         "0\r\n\r\n",
     0},
    {OK1 "Transfer-Encoding: chunked                               , gzip\r\n"
         "\r\n0\r\n\r\n",
     0},
    {OK1 "Content-Encoding: identity                               , br\r\n"
         "Content-Length: 1\r\n\r\nx",
     0},
    {OK1 "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", 0},
    {OK1 "Content-Encoding: identity, br\r\nContent-Length: 1\r\n\r\nx", 0},
    /* chunks */
    {CHUNKED "-5\r\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED "+5\r\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED "0x5\r\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED "\r\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED ";x\r\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED " 5\r\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED "5 \r\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED "5 ;x\r\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED "5g\r\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED "5x\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED "5\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED "5;a\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED "5;a\rb\r\nhello\r\n0\r\n\r\n", 0},
    {CHUNKED "5\r\nhello!\r\n0\r\n\r\n", 0},
    {CHUNKED "5\r\nhello!\n0\r\n\r\n", 0},
    {CHUNKED "5\r\nhello\n0\r\n\r\n", 0},
    {CHUNKED "5\r\nhello\rx0\r\n\r\n", 0},
    {CHUNKED "FFFFFFFFFFFFFFFF\r\nhello", 0},
    {CHUNKED "FFFFFFFFFFFFFFFFF\r\nhello", 0},
    {CHUNKED "100000005\r\nhello", 0},
    {CHUNKED "0\r\nX : 1\r\n\r\n", 0},
    {CHUNKED "0\r\n X: 1\r\n\r\n", 0},
    {CHUNKED "0\r\n\n", 0},
};

static void test_refusals(void)
{
    static result x;
    size_t i;

    for (i = 0; i < COUNT_OF(bad); i++) {
        about = bad[i].text;
        ask_text(bad[i].text, bad[i].len, 0, &x);
        CHECK_INT(x.error, TCALL_E_PROTOCOL);
    }
    about = "the largest sizes";
    ask_text(CHUNKED "FFFFFFFF\r\nhello", 0, 0, &x);
    CHECK_INT(x.error, TCALL_E_CLOSED);
    ask_text(OK1 "Content-Length: 4294967295\r\n\r\nhello", 0, 0, &x);
    CHECK_INT(x.error, TCALL_E_CLOSED);
    about = "nothing at all";
    ask_text("", 0, 0, &x);
    CHECK_INT(x.error, TCALL_E_CLOSED);
    CHECK_INT(x.res.status, 0);
}

/* ---- limits ---- */

/* head, then n times unit, then tail. */
static int ask_long(const char *first, const char *unit, size_t n,
                    const char *last)
{
    static char text[200000];
    static result x;
    char *p = text + sprintf(text, "%s", first);

    while (n--)
        p += sprintf(p, "%s", unit);
    strcpy(p, last);
    about = first;
    ask_text(text, 0, 0, &x);
    return x.error;
}

static void test_limits(void)
{
    static script s;
    static result x;
    static const peer three = {
        {CHUNKED "3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"}, 0, 0, 0, false};
    const char *end = "\r\nContent-Length: 0\r\n\r\n";
    tport_http h;
    uint32_t most;

    CHECK_INT(ask_long(OK1 "X: ", "y", 8100, end), 0);
    CHECK_INT(ask_long(OK1 "X: ", "y", 9000, end), TCALL_E_LIMIT);
    CHECK_INT(ask_long("HTTP/1.1 200 ", "y", 9000, end), TCALL_E_LIMIT);
    CHECK_INT(ask_long(OK1, "X", 9000, ": 1\r\n\r\n"), TCALL_E_LIMIT);
    CHECK_INT(ask_long(OK1 "X: ", " ", 9000, end), TCALL_E_LIMIT);
    CHECK_INT(ask_long(OK1 "A: b", "\r\nX: 1", 97, end), 0);
    CHECK_INT(ask_long(OK1 "A: b", "\r\nX: 1", 100, end), TCALL_E_LIMIT);
    CHECK_INT(ask_long(OK1 "A: b", "\r\nX: 1", 98, end), 0);
    CHECK_INT(ask_long(OK1 "A: b", "\r\nX: 1", 99, end), TCALL_E_LIMIT);
    CHECK_INT(ask_long(OK1 "X: ", "y", TPORT_HTTP_MAX_LINE - 5, end), 0);
    CHECK_INT(ask_long(OK1 "X: ", "y", TPORT_HTTP_MAX_LINE - 4, end),
              TCALL_E_LIMIT);
    CHECK_INT(ask_long(CHUNKED, "1\r\na\r\n", 4000, "0\r\n\r\n"), 0);
    CHECK_INT(ask_long(CHUNKED, "01;e\r\na\r\n", 4000, "0\r\n\r\n"), 0);
    for (most = 0; most < 2; most++) { /* a head as long as it may be */
        char rest[800], line[4001];
        sprintf(rest, OK1 "X: %0*d\r\n",
                TPORT_HTTP_MAX_HEAD - 32000 - 17 - 21 - 5 + (int)most, 0);
        sprintf(line, "X: %03995d\r\n", 0);
        CHECK_INT(ask_long(rest, line, 8, "Content-Length: 0\r\n\r\n"),
                  most ? TCALL_E_LIMIT : 0);
    }
    about = "many lines, none of them too long";
    CHECK_INT(ask_long(OK1 "A: b",
                       "\r\nX: 123456789012345678901234567890"
                       "123456789012345678901234567890"
                       "123456789012345678901234567890"
                       "123456789012345678901234567890",
                       97, end),
              0);
    CHECK_INT(ask_long(OK1 "A: b",
                       "\r\nX: 123456789012345678901234567890"
                       "123456789012345678901234567890"
                       "123456789012345678901234567890"
                       "123456789012345678901234567890"
                       "123456789012345678901234567890"
                       "123456789012345678901234567890"
                       "123456789012345678901234567890"
                       "123456789012345678901234567890"
                       "123456789012345678901234567890"
                       "123456789012345678901234567890"
                       "123456789012345678901234567890"
                       "123456789012345678901234567890",
                       95, end),
              TCALL_E_LIMIT);
    CHECK_INT(ask_long(CHUNKED "1;", "e", 9000, "\r\nA\r\n0\r\n\r\n"),
              TCALL_E_LIMIT);
    CHECK_INT(ask_long(CHUNKED "", "0", 9000, "1\r\nA\r\n0\r\n\r\n"),
              TCALL_E_LIMIT);
    CHECK_INT(ask_long(CHUNKED "0", "\r\nX: 1", 101, "\r\n\r\n"),
              TCALL_E_LIMIT);
    CHECK_INT(ask_long("", "HTTP/1.1 100 C\r\n\r\n", 16,
                       OK1 "Content-Length: 0\r\n\r\n"),
              0);
    CHECK_INT(ask_long("", "HTTP/1.1 100 C\r\n\r\n", 17,
                       OK1 "Content-Length: 0\r\n\r\n"),
              TCALL_E_LIMIT);
    for (most = 3; most <= 4; most++) {
        memset(&s, 0, sizeof s);
        s.peers = &three;
        tport_http_init(&h, script_stream(&s), "host", "");
        h.max_body = most;
        exchange(tport_http_transport(&h), &get, "", 100, &x);
        CHECK_INT(x.error, most == 3 ? TCALL_E_LIMIT : 0);
        tport_http_drop(&h);
    }
}

/* ---- requests ---- */

#define LONG                                                              \
    "0123456789012345678901234567890123456789012345678901234567890123456" \
    "0123456789012345678901234567890123456789012345678901234567890123456" \
    "0123456789012345678901234567890123456789012345678901234567890123456"

/* The body comes in pieces of two sizes, in turns. */
static void send_pieces(size_t one, size_t two, bool stutter)
{
    static const peer p = {{OK1 "Content-Length: 0\r\n\r\n"}, 0, 0, 0, false};
    tcall_request q = {"POST", "/x", no_secret, 1, 3000};
    static char body[3000];
    static script s;
    static result x;
    size_t i, n;
    int error = 0;
    tport_http h;
    tcall_transport t;

    about = "a body in pieces";
    for (i = 0; i < sizeof body; i++)
        body[i] = (char)('a' + i % 26);
    memset(&s, 0, sizeof s);
    memset(&x, 0, sizeof x);
    s.peers = &p;
    s.stutter = stutter;
    tport_http_init(&h, script_stream(&s), "host", "");
    t = tport_http_transport(&h);
    CHECK_INT(open_all(&t, &q, &x.res), 0);
    for (i = 0, n = one; error == 0 && i < sizeof body; i += n) {
        n = i % (one + two) ? two : one;
        n = n < sizeof body - i ? n : sizeof body - i;
        error = write_all(&t, body + i, n);
    }
    CHECK_INT(error, 0);
    CHECK_INT(read_all(&t, &x, 100), 0);
    CHECK_INT((long)h.moved, (long)(s.out_len + strlen(p.answers[0])));
    CHECK(s.out_len > sizeof body &&
          memcmp(s.out + s.out_len - sizeof body, body, sizeof body) == 0);
    CHECK_INT(s.misuses, 0);
    tport_http_drop(&h);
}

static void test_request_bytes(void)
{
    static const size_t sizes[] = {1, 7, 100, 511, 512, 513, 1100};
    size_t one, two;
    static const char want[] = "POST /proxy/v1/chat?x=1 HTTP/1.1\r\n"
                               "Host: api.test:8443\r\n"
                               "User-Agent: " TPORT_HTTP_AGENT "\r\n"
                               "Accept-Encoding: identity\r\n"
                               "Content-Length: 1500\r\n"
                               "Authorization: Bearer sk-12345\r\n"
                               "X-Key: sk-67890\r\n"
                               "X-Empty: \r\n"
                               "X-Long: " LONG LONG LONG "\r\n"
                               "\r\n";
    static const tcall_header headers[] = {
        {"Authorization", "Bearer ", "sk-12345"},
        {"X-Key", NULL, "sk-67890"},
        {"X-Empty", "", NULL},
        {"X-Long", LONG LONG LONG, NULL},
    };
    static const peer p = {{OK1 "Content-Length: 0\r\n\r\n"}, 0, 0, 0, false};
    tcall_request q = {"POST", "/v1/chat?x=1", headers, 4, 1500};
    static char body[1500];
    static script s;
    static result x;
    size_t n = strlen(want), i, most;
    tport_http h;

    for (i = 0; i < sizeof body; i++)
        body[i] = (char)('a' + i % 26);
    for (most = 0; most < 70; most++) {
        memset(&s, 0, sizeof s);
        s.peers = &p;
        s.most = most;
        s.stutter = most % 2;
        tport_http_init(&h, script_stream(&s), "api.test:8443", "/proxy");
        exchange(tport_http_transport(&h), &q, body, 100, &x);
        CHECK_INT(x.error, 0);
        CHECK_INT((long)s.out_len, (long)(n + sizeof body));
        CHECK(memcmp(s.out, want, n) == 0);
        CHECK(memcmp(s.out + n, body, sizeof body) == 0);
        tport_http_drop(&h);
        for (i = 0; i + 8 <= sizeof h; i++)
            if (memcmp((char *)&h + i, "sk-12345", 8) == 0)
                CHECK_INT((long)i, -1); /* the key is still there */
    }
    memset(&s, 0, sizeof s);
    ask(&get, &p, &s, &x);
    s.out[s.out_len] = '\0';
    CHECK(strncmp(s.out, "GET /x HTTP/1.1\r\nHost: host\r\n", 29) == 0);
    CHECK(!strstr(s.out, "Content-Length"));
    memset(&s, 0, sizeof s);
    ask(&head, &p, &s, &x);
    CHECK(!strstr(s.out, "Content-Length"));
    q = post;
    q.method = "GET";
    memset(&s, 0, sizeof s);
    ask(&q, &p, &s, &x);
    CHECK(strstr(s.out, "Content-Length: 4\r\n"));
    for (one = 0; one < COUNT_OF(sizes); one++)
        for (two = 0; two < COUNT_OF(sizes); two++)
            send_pieces(sizes[one], sizes[two], (one + two) % 2);
}

/* A request that cannot be sent as it is must not be sent at all. */
static void refuse_request(const char *method, const char *path,
                           const char *name, const char *value,
                           const char *secret)
{
    static script s;
    static result x;
    static const peer p = {{OK1 "Content-Length: 0\r\n\r\n"}, 0, 0, 0, false};
    tcall_header header;
    tcall_request q;
    tport_http h;
    tcall_transport t;

    header.name = name;
    header.value = value;
    header.secret = secret;
    q.method = method;
    q.path = path;
    q.headers = &header;
    q.header_count = 1;
    q.body_len = 0;
    memset(&s, 0, sizeof s);
    s.peers = &p;
    tport_http_init(&h, script_stream(&s), "host", "");
    t = tport_http_transport(&h);
    about = name ? name : "no name";
    CHECK_INT(t.open(t.user, &q, &x.res), TCALL_E_USAGE);
    CHECK(tport_http_why(&h)[0] && !strstr(tport_http_why(&h), "sk-"));
    t.close(t.user);
    CHECK_INT(s.connects, 0);
    CHECK_INT((long)s.out_len, 0);
}

static void test_request_refusals(void)
{
    refuse_request("POST", "/", "X", "a\r\nInjected: 1", NULL);
    refuse_request("POST", "/", "X", "a\n", NULL);
    refuse_request("POST", "/", "X", "a\r", NULL);
    refuse_request("POST", "/", "X", "\001", NULL);
    refuse_request("POST", "/", "X", "Bearer ", "sk-1\n");
    refuse_request("POST", "/", "X", "Bearer ", "sk-1\r\nA: b");
    refuse_request("POST", "/", "X y", "1", NULL);
    refuse_request("POST", "/", "X:", "1", NULL);
    refuse_request("POST", "/", "", "1", NULL);
    refuse_request("POST", "/", NULL, "1", NULL);
    refuse_request("POST", "/", "Host", "x", NULL);
    refuse_request("POST", "/", "CONTENT-LENGTH", "5", NULL);
    refuse_request("POST", "/", "Transfer-Encoding", "chunked", NULL);
    refuse_request("POST", "x", "X", "1", NULL);
    refuse_request("POST", "/a b", "X", "1", NULL);
    refuse_request("POST", "/a\r\n", "X", "1", NULL);
    refuse_request("POST", "/a\x7f", "X", "1", NULL);
    refuse_request("POST", "/a\xc3\xa9", "X", "1", NULL);
    refuse_request("POST", "/", "User-Agent", "x", NULL);
    refuse_request("POST", "/", "accept-encoding", "gzip", NULL);
    refuse_request("POST", "/", "Connection", "close", NULL);
    refuse_request("POST", NULL, "X", "1", NULL);
    refuse_request("PO ST", "/", "X", "1", NULL);
    refuse_request("", "/", "X", "1", NULL);
    refuse_request(NULL, "/", "X", "1", NULL);
}

/* Wrong order of calls is told, not undefined. */
static void test_misuse(void)
{
    static script s;
    static const peer p[3] = {{{NULL}, 0, 0, 0, false}};
    tcall_response res;
    char byte;
    tport_http h;

    about = "misuse";
    memset(&s, 0, sizeof s);
    s.peers = p;
    tport_http_init(&h, script_stream(&s), "host", "");
    CHECK_INT(tport_http_write(&h, "x", 1), TCALL_E_USAGE);
    tport_http_close(&h);
    CHECK_INT(tport_http_read(&h, &byte, 1), TCALL_E_USAGE);
    tport_http_close(&h);
    CHECK_INT(tport_http_open(&h, &post, &res), 0);
    CHECK_INT(tport_http_write(&h, "12345", 5), TCALL_E_USAGE);
    CHECK_INT(tport_http_write(&h, "1234", 4), TCALL_E_USAGE);
    CHECK_INT(tport_http_open(&h, &post, &res), TCALL_E_USAGE);
    CHECK_INT(tport_http_read(&h, &byte, 1), TCALL_E_USAGE);
    tport_http_close(&h);
    CHECK_INT(tport_http_open(&h, &post, &res), 0);
    CHECK_INT(tport_http_write(&h, "123", 3), 3);
    CHECK_INT(tport_http_read(&h, &byte, 1), TCALL_E_USAGE);
    tport_http_close(&h);
    tport_http_close(&h);
    tport_http_drop(&h);
}

/* ---- one connection, several exchanges ---- */

#define A1 OK1 "Content-Length: 1\r\n\r\na"
#define B1 OK1 "Content-Length: 1\r\n\r\nb"

/* Two exchanges; answers the number of connections they took. */
static int twice(const tcall_request *q, const peer *peers, result *second)
{
    static script s;
    static result first;
    tport_http h;
    tcall_transport t;

    memset(&s, 0, sizeof s);
    s.peers = peers;
    tport_http_init(&h, script_stream(&s), "host", "");
    t = tport_http_transport(&h);
    exchange(t, q, "body", 100, &first);
    exchange(t, q, "body", 100, second);
    tport_http_drop(&h);
    CHECK_INT(s.misuses, 0);
    CHECK(memcmp(s.out + s.out_len - s.written, q->method, strlen(q->method)) ==
          0);
    return s.connects;
}

static const peer other = {{B1}, 0, TCALL_E_AGAIN, 0, false};

/* The first peer is as given, the second answers B1. */
static int twice_with(const tcall_request *q, peer first, result *second)
{
    peer two[2];

    two[0] = first;
    two[1] = other;
    return twice(q, two, second);
}

static peer peer_of(const char *a, const char *b, int end)
{
    peer p = {{0}, 0, 0, 0, false};

    p.answers[0] = a;
    p.answers[1] = b;
    p.end = end;
    return p;
}

/* What is given up before its end, or went wrong, is never used again. */
static void test_given_up(void)
{
    static script s;
    static const peer p = {
        {OK1 "Content-Length: 5\r\n\r\nhello"}, 0, TCALL_E_AGAIN, 0, false};
    static const peer wrong = {{"HTTP/9.9 200 OK\r\n\r\n"}, 0, 0, 0, false};
    tcall_response res;
    tport_http h;
    char b[10];
    size_t n;

    about = "given up";
    for (n = 1; n <= 6; n++) {
        memset(&s, 0, sizeof s);
        s.peers = &p;
        tport_http_init(&h, script_stream(&s), "host", "");
        CHECK_INT(tport_http_open(&h, &get, &res), 0);
        CHECK_INT(tport_http_read(&h, b, n < 5 ? n : 5), n < 5 ? (int)n : 5);
        if (n > 5) /* all of it was read, but then: no buffer */
            CHECK_INT(tport_http_read(&h, b, 0), TCALL_E_USAGE);
        tport_http_close(&h);
        CHECK(s.up == (n == 5));
        tport_http_drop(&h);
        CHECK(!s.up);
    }
    memset(&s, 0, sizeof s);
    s.peers = &wrong;
    tport_http_init(&h, script_stream(&s), "host", "");
    CHECK_INT(tport_http_open(&h, &get, &res), 0);
    CHECK_INT(tport_http_read(&h, b, 5), TCALL_E_PROTOCOL);
    CHECK_INT(tport_http_read(&h, b, 5), TCALL_E_PROTOCOL);
    tport_http_drop(&h);
}

static void test_keep_alive(void)
{
    static const char *const not_kept[] = {
        OK1 "Connection: close\r\nContent-Length: 1\r\n\r\na",
        OK1 "Connection: Keep-Alive, close\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.1 204 N\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.1 204 N\r\nTransfer-Encoding: chunked\r\n\r\n",
        OK1 "Content-Length: 1\r\n\r\naEXTRA",
        CHUNKED "1\r\na\r\n0\r\n\r\n" OK1,
    };
    static result x;
    size_t i;

    about = "kept";
    CHECK_INT(twice_with(&post, peer_of(A1, B1, TCALL_E_AGAIN), &x), 1);
    CHECK(x.error == 0 && x.len == 1 && x.body[0] == 'b');
    CHECK_INT(
        twice_with(&get,
                   peer_of(CHUNKED "1\r\na\r\n0\r\n\r\n", B1, TCALL_E_AGAIN),
                   &x),
        1);
    CHECK_INT(x.error, 0);
    CHECK_INT(
        twice_with(&head,
                   peer_of(OK1 "Content-Length: 9\r\n\r\n", A1, TCALL_E_AGAIN),
                   &x),
        1);
    CHECK_INT((long)x.len, 0);
    for (i = 0; i < COUNT_OF(not_kept); i++) {
        about = not_kept[i];
        CHECK_INT(twice_with(&get, peer_of(not_kept[i], B1, TCALL_E_AGAIN), &x),
                  2);
        CHECK(x.error == 0 && x.len == 1 && x.body[0] == 'b');
    }
}

static void test_stale(void)
{
    static result x;
    peer p;

    about = "ended between the exchanges: seen before anything is sent";
    CHECK_INT(twice_with(&post, peer_of(A1, NULL, 0), &x), 2);
    CHECK(x.error == 0 && x.body[0] == 'b');
    CHECK_INT(twice_with(&post, peer_of(A1, NULL, TCALL_E_CLOSED), &x), 2);
    CHECK(x.error == 0 && x.body[0] == 'b');

    about = "dead when the head is written";
    p = peer_of(A1, NULL, TCALL_E_AGAIN);
    p.write_fails_after = POST_HEAD + 4; /* the first request is whole */
    CHECK_INT(twice_with(&post, p, &x), 2);
    CHECK(x.error == 0 && x.body[0] == 'b');

    about = "dies after a request without a body was sent";
    p = peer_of(A1, NULL, TCALL_E_CLOSED);
    p.dies_late = true;
    CHECK_INT(twice_with(&get, p, &x), 2);
    CHECK(x.error == 0 && x.body[0] == 'b');

    about = "dies after a body was sent: the caller is told to send again";
    CHECK_INT(twice_with(&post, p, &x), 1);
    CHECK_INT(x.error, TCALL_E_CLOSED);
    CHECK_INT(x.res.status, 0);
    CHECK_INT(x.res.retry_after_ms, 0);

    about = "dead when half of a long head is written: all of it again";
    {
        static const tcall_header long_header = {"X", LONG LONG LONG, NULL};
        tcall_request q = {"GET", "/x", &long_header, 1, 0};
        p = peer_of(A1, NULL, TCALL_E_AGAIN);
        for (p.write_fails_after = 520; p.write_fails_after < 1200;
             p.write_fails_after += 40) {
            CHECK_INT(twice_with(&q, p, &x), 2);
            CHECK(x.error == 0 && x.body[0] == 'b');
        }
    }

    about = "an error that is no end is told";
    p = peer_of(A1, NULL, TCALL_E_MEMORY);
    p.dies_late = true;
    CHECK_INT(twice_with(&get, p, &x), 1);
    CHECK_INT(x.error, TCALL_E_MEMORY);

    about = "a byte of the answer had come: no retry";
    CHECK_INT(twice_with(&get, peer_of(A1, "H", TCALL_E_CLOSED), &x), 1);
    CHECK_INT(x.error, TCALL_E_CLOSED);
    CHECK_INT(x.res.retry_after_ms, -1);
}

static void test_no_retry_when_fresh(void)
{
    static script s;
    static result x;
    static const char body[5000];
    tcall_request q = post;
    static const peer dead[] = {{{NULL}, 0, TCALL_E_CLOSED, 0, true},
                                {{B1}, 0, 0, 0, false}};
    static const peer deaf[] = {
        {{"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"},
         0,
         0,
         POST_HEAD,
         false},
        {{B1}, 0, 0, 0, false}};
    static const peer reset = {
        {"HTTP/1.1 413 Too Large\r\n\r\nno"}, 0, 0, POST_HEAD, false};

    about = "a new connection that dies is an error";
    memset(&s, 0, sizeof s);
    ask(&get, dead, &s, &x);
    CHECK_INT(x.error, TCALL_E_CLOSED);
    CHECK_INT(s.connects, 1);
    CHECK_INT(x.res.retry_after_ms, -1);

    about = "the server answers and closes before it has the whole body";
    for (q.body_len = 4; q.body_len <= 4000; q.body_len += 999) {
        tport_http h;
        memset(&s, 0, sizeof s);
        s.peers = deaf;
        s.most = q.body_len == 4 ? 1 : 1000;
        tport_http_init(&h, script_stream(&s), "host", "");
        exchange(tport_http_transport(&h), &q, body, 100, &x);
        tport_http_drop(&h);
        CHECK_INT(x.error, 0);
        CHECK_INT(x.res.status, 413);
        CHECK_INT((long)x.len, 2);
        CHECK_INT(s.misuses, 0);
    }
    about = "what does not listen is not talked to again";
    for (q.body_len = 600; q.body_len <= 1200; q.body_len += 600) {
        tport_http h;
        tcall_transport t;
        memset(&s, 0, sizeof s);
        memset(&x, 0, sizeof x);
        s.peers = deaf;
        tport_http_init(&h, script_stream(&s), "host", "");
        t = tport_http_transport(&h);
        CHECK_INT(open_all(&t, &q, &x.res), 0);
        CHECK_INT(write_all(&t, body, q.body_len / 2), 0);
        CHECK_INT(write_all(&t, body, q.body_len / 2), 0);
        CHECK_INT(read_all(&t, &x, 10), 0);
        CHECK_INT(x.res.status, 413);
        CHECK_INT(s.misuses, 0);
        tport_http_close(&h);
        CHECK(!s.up);
        tport_http_drop(&h);
    }
    about = "it was reset: nobody knows whether the end is the body's";
    memset(&s, 0, sizeof s);
    ask(&post, &reset, &s, &x);
    CHECK_INT(x.res.status, 413);
    CHECK_INT(x.error, TCALL_E_CLOSED);
}

static void test_retry_after(void)
{
    static const struct {
        const char *lines;
        long ms;
    } t[] = {
        {"Retry-After: 2\r\n", 2000},
        {"Retry-After: 0\r\n", 0},
        {"retry-after-ms: 1500\r\n", 1500},
        {"retry-after-ms: 1500.25\r\n", 1501},
        {"Retry-After: 1.5\r\n", 2000},
        {"Retry-After: 9\r\nretry-after-ms: 70\r\n", 70},
        {"retry-after-ms: 70\r\nRetry-After: 9\r\n", 70},
        {"Retry-After: 99999999\r\n", 0x7fffffff},
        {"Retry-After: 99999999999999999999\r\n", 0x7fffffff},
        {"Retry-After: -5\r\n", -1},
        {"Retry-After: soon\r\n", -1},
        {"Retry-After: 5 minutes\r\n", -1},
        {"Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n", -1},
        {"Retry-After:\r\n", -1},
        {"Retry-After: 18446744073709551616\r\n", 0x7fffffff},
        {"Retry-After: 2147484\r\n", 0x7fffffff},
        {"Retry-After: 7                                 , 8\r\n", -1},
        {"", -1},
        /* dates count from the answer's own */
        {"Date: Wed, 21 Oct 2015 07:27:30 GMT\r\n"
         "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n",
         30000},
        {"Retry-After: Tue, 01 Mar 2016 00:00:01 GMT\r\n"
         "Date: Sun, 28 Feb 2016 23:59:59 GMT\r\n",
         86402000},
        {"Retry-After: Fri, 01 Jan 2100 00:00:00 GMT\r\n"
         "Date: Sun, 28 Feb 2016 23:59:59 GMT\r\n",
         -1},
        {"Retry-After: Sun, 28 Feb 2027 23:59:59 GMT\r\n"
         "Date: Mon, 01 Mar 2027 00:00:00 GMT\r\n",
         0},
        {"Retry-After: Sun, 28 Xeb 2027 23:59:59 GMT\r\n"
         "Date: Mon, 01 Mar 2027 00:00:00 GMT\r\n",
         -1},
        {"Date: Wed, 21 Oct 2015 07:27:30 GMT\r\nRetry-After: 7\r\n", 7000},
        /* of an interim answer nothing counts */
        {"retry-after-ms: 5\r\n\r\nHTTP/1.1 429 S\r\nRetry-After: 7\r\n", 7000},
        {"Date: Wed, 21 Oct 2015 07:27:30 GMT\r\n\r\nHTTP/1.1 429 S\r\n"
         "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n",
         -1},
        {"Date: Sat, 31 Dec 2016 23:59:59 GMT\r\n"
         "Retry-After: Sun, 01 Jan 2017 00:00:01 GMT\r\n",
         2000},
        {"Date: Wed, 21 Oct 2015 07:27:30 GMT\r\n"
         "Retry-After: Fri, 21 Oct 2016 07:27:30 GMT\r\n",
         0x7fffffff},
        {"Date: Wed, 21 Oct 2015 07:27:30 GMT\r\nretry-after-ms: 70\r\n"
         "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n",
         70},
        {"Date: Wed, 21 Oct 2015 07:27:30 GMT\r\nRetry-After: x\r\n", -1},
        {"Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\nDate: x\r\n", -1},
        {"Date: Wed, 21 Oct 2015 07:27:30 GMT            x\r\n"
         "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n",
         -1},
        {"Date: Wed, 21 Oct 2015 07:27:30 GMT\r\n"
         "Retry-After: Wed, 21 Oct 2015 07:2x:00 GMT\r\n",
         -1},
        {"Date: Wed, 21 Oct 2015 07:27:30 GMT\r\n"
         "Retry-After: Wed, 21 Oct 2015 07:28:00 CET\r\n",
         -1},
    };
    static result x;
    char text[300];
    size_t i;

    for (i = 0; i < COUNT_OF(t); i++) {
        sprintf(text, "HTTP/1.1 %s Slow\r\n%sContent-Length: 0\r\n\r\n",
                strstr(t[i].lines, "HTTP") ? "103" : "429", t[i].lines);
        about = t[i].lines;
        ask_text(text, 0, 0, &x);
        CHECK_INT(x.res.retry_after_ms, t[i].ms);
        CHECK_INT(x.res.status, 429);
    }
}

static void test_should_retry(void)
{
    static const struct {
        const char *value;
        int should;
    } t[] = {
        {"true", 1},   {"TRUE", 1},
        {"false", -1}, {"perhaps", 0},
        {"", 0},       {"true                                      not", 0}};
    static result x;
    char text[200];
    size_t i;

    for (i = 0; i < COUNT_OF(t); i++) {
        sprintf(text,
                "HTTP/1.1 100 C\r\nX-Should-Retry: true\r\n\r\n"
                "HTTP/1.1 500 X\r\nX-Other: false\r\nX-Should-Retry: %s\r\n"
                "Content-Length: 0\r\n\r\n",
                t[i].value);
        about = text;
        ask_text(text, 0, 0, &x);
        CHECK_INT(x.res.should_retry, t[i].should);
    }
    ask_text("HTTP/1.1 100 C\r\nX-Should-Retry: true\r\n\r\n" CHUNKED
             "0\r\n\r\n",
             0, 0, &x);
    CHECK_INT(x.res.should_retry, 0);
}

/* ---- headers that are kept ---- */

#define NAME39 "x-0123456789-0123456789-0123456789-6789"

static void test_kept(void)
{
    static const struct {
        const char *lines, *a, *b;
    } t[] = {
        {"", "", ""},
        {"A: 1\r\n", "1", ""},
        {"a:\t1234567 \r\nB: 2\r\nA2: 3\r\n", "", ""},
        {"a:\t123456\t\r\nX: 2\r\n", "123456", ""},
        {"A: 1234567\r\n", "1234567", ""},
        {"A: 12345678\r\n", "", ""},
        {"A: 123456789\r\n", "", ""},
        {"A: 12\r\nA: 3\r\n", "3", ""},
        {"A: 12\r\nA:\r\n", "", ""},
        {"A: 12\r\n" NAME39 ": Q\r\nA: 3\r\n", "3", "Q"},
        {NAME39 "X: Q\r\n", "", ""},
        {"\r\nHTTP/1.1 200 OK\r\n", "", ""},
    };
    char value[2][8];
    tport_kept kept[2] = {{"a", NULL, 8, 0}, {NAME39, NULL, 8, 0}};
    static script s;
    static result x;
    char text[300];
    size_t i, k;

    for (i = 0; i < COUNT_OF(t); i++)
        for (k = 0; k < 2; k++) {
            peer p = {{text}, 0, 0, 0, false};
            tport_http h;
            /* what an interim answer says does not count */
            sprintf(text,
                    "%s" OK1 "%sTransfer-Encoding: chunked\r\n\r\n"
                    "0\r\nA: trailer\r\n\r\n",
                    k ? "HTTP/1.1 100 C\r\nA: 9\r\n\r\n" : "",
                    t[i].lines[0] == '\r' ? "" : t[i].lines);
            memset(&s, 0, sizeof s);
            memset(value, '?', sizeof value);
            s.peers = &p;
            tport_http_init(&h, script_stream(&s), "host", "");
            h.kept = kept;
            h.kept_count = 2;
            kept[0].value = value[0];
            kept[1].value = value[1];
            exchange(tport_http_transport(&h), &get, "", 100, &x);
            about = text;
            CHECK_INT(x.error, 0);
            CHECK(memchr(value[0], 0, 8) && strcmp(value[0], t[i].a) == 0);
            CHECK(memchr(value[1], 0, 8) && strcmp(value[1], t[i].b) == 0);
            CHECK(kept[0].len == strlen(value[0]));
            tport_http_drop(&h);
        }
}

/* ---- any exchange after any other ---- */

typedef struct pair_result {
    result x;
    char kept[8], why[80];
    size_t out_len;
} pair_result;

/* The last exchange of a series on one tport_http. */
static void ask_after(const peer *peers, int n, const tcall_request *q,
                      pair_result *to)
{
    static const char body[600];
    static script s;
    tport_kept kept = {"x-kept", NULL, 8, 0};
    size_t before = 0;
    tport_http h;

    memset(&s, 0, sizeof s);
    memset(to, 0, sizeof *to);
    s.peers = peers;
    tport_http_init(&h, script_stream(&s), "host", "");
    kept.value = to->kept;
    h.kept = &kept;
    h.kept_count = 1;
    h.max_body = 3000;
    while (n--) {
        tcall_transport t = tport_http_transport(&h);
        tcall_response garbage = {77, 77, 77};
        before = s.out_len;
        memset(&to->x, 0, sizeof to->x);
        to->x.res = garbage;
        to->x.error = open_all(&t, q, &to->x.res);
        if (to->x.error == 0)
            to->x.error = write_all(&t, body, q->body_len);
        if (to->x.error == 0)
            to->x.error = read_all(&t, &to->x, 1000);
        snprintf(to->why, sizeof to->why, "%s", tport_http_why(&h));
        t.close(t.user);
    }
    to->out_len = s.out_len - before;
    tport_http_drop(&h);
    CHECK_INT(s.misuses, 0);
}

static bool is_same(const pair_result *a, const pair_result *b)
{
    return a->x.error == b->x.error && a->x.res.status == b->x.res.status &&
           a->x.res.retry_after_ms == b->x.res.retry_after_ms &&
           a->x.res.should_retry == b->x.res.should_retry &&
           a->x.len == b->x.len &&
           memcmp(a->x.body, b->x.body, a->x.len) == 0 &&
           strcmp(a->kept, b->kept) == 0 && strcmp(a->why, b->why) == 0 &&
           a->out_len == b->out_len;
}

/* Nothing of an exchange, however it ended, is left in the next. */
static void test_pairs(void)
{
    static char wide[8200], tall[40000], lines[1000], early[500], long_[3200];
    static const struct {
        const char *text;
        size_t len;
        int fails_after;
    } said[] = {
        {"HTTP/1.1 429 S\r\nRetry-After: 7\r\nX-Should-Retry: true\r\n"
         "X-Kept: old\r\nDate: Wed, 21 Oct 2015 07:27:30 GMT\r\n"
         "Content-Length: 0\r\n\r\n",
         0, 0},
        {"HTTP/1.1 503 S\r\nretry-after-ms: 7\r\nX-Should-Retry: false\r\n"
         "Content-Length: 0\r\n\r\n",
         0, 0},
        {"HTTP/1.1 503 S\r\nRetry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n"
         "Content-Length: 0\r\n\r\n",
         0, 0},
        {"HTTP/1.1 413 S\r\nContent-Length: 2\r\n\r\nno", 0, 200},
        {"HTTP/1.1 413 S\r\n\r\nno", 0, 700},
        {CHUNKED "1\r\na\r\n0\r\nX: 1\r\n\r\n", 0, 0},
        {CHUNKED "1\r\na\r\n0\r\nX: 1\r\n\r\n", 50, 0},
        {OK1 "Content-Length: 4\r\n\r\nabc", 0, 0},
        {OK1 "\r\nuntil the end", 0, 0},
        {"HTTP/1.1 20", 0, 0},
        {OK1 "X-Ke", 0, 0},
        {"HTTP/1.1 600 X\r\n\r\n", 0, 0},
        {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", 0, 0},
        {"", 0, 0},
        {wide, 8150, 0},
        {tall, 0, 0},
        {lines, 0, 0},
        {early, 0, 0},
        {long_, 0, 0},
    };
    enum { N = sizeof said / sizeof *said };
    static pair_result alone, after;
    tcall_request q = post;
    int end, a, b;
    size_t i;

    sprintf(wide, OK1 "X: %08100d\r\nContent-Length: 0\r\n\r\n", 0);
    strcpy(tall, OK1);
    for (i = 0; i < 8; i++)
        sprintf(tall + strlen(tall), "X: %04000d\r\n", 0);
    strcat(tall, "Content-Length: 0\r\n\r\n");
    strcpy(lines, OK1);
    for (i = 0; i < 90; i++)
        strcat(lines, "X: 1\r\n");
    strcat(lines, "Content-Length: 0\r\n\r\n");
    for (i = 0; i < 15; i++)
        strcat(early, "HTTP/1.1 100 C\r\n\r\n");
    strcat(early, OK1 "Content-Length: 0\r\n\r\n");
    sprintf(long_, OK1 "Content-Length: 3000\r\n\r\n%03000d", 0);
    for (end = 0; end < 2; end++)
        for (q.body_len = 4; q.body_len <= 600; q.body_len += 596)
            for (a = 0; a < N; a++)
                for (b = 0; b < N; b++) {
                    peer p[2];
                    memset(p, 0, sizeof p);
                    p[0].answers[0] = said[a].text;
                    p[0].len = said[a].len;
                    p[0].write_fails_after = said[a].fails_after;
                    p[0].end = end ? TCALL_E_CLOSED : 0;
                    p[1].answers[0] = said[b].text;
                    p[1].len = said[b].len;
                    p[1].write_fails_after = said[b].fails_after;
                    p[1].end = end ? TCALL_E_CLOSED : 0;
                    about = said[b].text;
                    ask_after(p + 1, 1, &q, &alone);
                    ask_after(p, 2, &q, &after);
                    CHECK(is_same(&alone, &after));
                }
}

static void test_http(void)
{
    test_should_retry();
    test_kept();
    test_pairs();
    test_splits();
    test_early_ends();
    test_refusals();
    test_limits();
    test_request_bytes();
    test_request_refusals();
    test_misuse();
    test_given_up();
    test_keep_alive();
    test_stale();
    test_no_retry_when_fresh();
    test_retry_after();
}

/* ==========================================================================
 * TLS
 */

static mkcert_result local, elsewhere, expired, future, other_ca;

static void make_certificates(void)
{
    static const mkcert_request q[] = {
        {"localhost", "20200101000000", "20491231235959"},
        {"other.test", "20200101000000", "20491231235959"},
        {"localhost", "20200101000000", "20200201000000"},
        {"localhost", "20480101000000", "20491231235959"},
        {"localhost", "20200101000000", "20491231235959"},
    };

    about = "certificates";
    CHECK_INT(mkcert(&local, &q[0]), 0);
    CHECK_INT(mkcert(&elsewhere, &q[1]), 0);
    CHECK_INT(mkcert(&expired, &q[2]), 0);
    CHECK_INT(mkcert(&future, &q[3]), 0);
    CHECK_INT(mkcert(&other_ca, &q[4]), 0);
}

/* A server of mbedTLS; its two functions for bytes are given. */
typedef struct server {
    mbedtls_ssl_context ssl;
    mbedtls_ssl_config conf;
    mbedtls_x509_crt crt;
    mbedtls_pk_context key;
    mbedtls_ssl_ticket_context tickets;
    int resumed; /* handshakes that were short, thanks to a ticket */
} server;

static int parse_ticket(void *user, mbedtls_ssl_session *session,
                        unsigned char *ticket, size_t len)
{
    server *s = user;
    int e = mbedtls_ssl_ticket_parse(&s->tickets, session, ticket, len);

    s->resumed += e == 0;
    return e;
}

static int write_ticket(void *user, const mbedtls_ssl_session *session,
                        unsigned char *start, const unsigned char *end,
                        size_t *len, uint32_t *lifetime)
{
    return mbedtls_ssl_ticket_write(&((server *)user)->tickets, session, start,
                                    end, len, lifetime);
}

static int server_key(server *s, const mkcert_result *c)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    return mbedtls_pk_parse_key(&s->key, (const unsigned char *)c->key,
                                strlen(c->key) + 1, NULL, 0,
                                mbedtls_ctr_drbg_random, &mkcert_random);
#else
    return mbedtls_pk_parse_key(&s->key, (const unsigned char *)c->key,
                                strlen(c->key) + 1, NULL, 0);
#endif
}

static void server_init(server *s, const mkcert_result *c)
{
    int e;

    mbedtls_ssl_init(&s->ssl);
    mbedtls_ssl_config_init(&s->conf);
    mbedtls_x509_crt_init(&s->crt);
    mbedtls_pk_init(&s->key);
    mbedtls_ssl_ticket_init(&s->tickets);
    e = mkcert_begin();
    e |= mbedtls_x509_crt_parse(&s->crt, (const unsigned char *)c->cert,
                                strlen(c->cert) + 1);
    e |= server_key(s, c);
    e |= mbedtls_ssl_config_defaults(&s->conf, MBEDTLS_SSL_IS_SERVER,
                                     MBEDTLS_SSL_TRANSPORT_STREAM,
                                     MBEDTLS_SSL_PRESET_DEFAULT);
    mbedtls_ssl_conf_rng(&s->conf, mbedtls_ctr_drbg_random, &mkcert_random);
    e |= mbedtls_ssl_conf_own_cert(&s->conf, &s->crt, &s->key);
    e |= mbedtls_ssl_ticket_setup(&s->tickets, mbedtls_ctr_drbg_random,
                                  &mkcert_random, MBEDTLS_CIPHER_AES_256_GCM,
                                  3600);
    mbedtls_ssl_conf_session_tickets_cb(&s->conf, write_ticket, parse_ticket,
                                        s);
    e |= mbedtls_ssl_setup(&s->ssl, &s->conf);
    CHECK_INT(e, 0);
}

static void server_free(server *s)
{
    mbedtls_ssl_free(&s->ssl);
    mbedtls_ssl_config_free(&s->conf);
    mbedtls_ssl_ticket_free(&s->tickets);
    mbedtls_x509_crt_free(&s->crt);
    mbedtls_pk_free(&s->key);
    mkcert_end();
}

/* ---- two pipes in memory, with the server at their other end ---- */

typedef struct pipe_end {
    unsigned char bytes[65536];
    size_t from, to;
    bool shut;
} pipe_end;

typedef struct wire {
    server srv;
    pipe_end up, down; /* to the server; to the client */
    bool up_ready;     /* the server has finished its handshake */
    bool stutter;
    bool broken; /* reads are CLOSED once what was sent has been read */
    bool plain;  /* the server does not speak TLS */
    bool full;   /* writes are AGAIN */
    bool dead;   /* writes are CLOSED */
    int lost;    /* so many were */
    unsigned calls;
    char got[256]; /* what the server has read */
    size_t got_len;
    size_t moved;
} wire;

static int pipe_put(pipe_end *p, const unsigned char *b, size_t n)
{
    if (p->from == p->to)
        p->from = p->to = 0;
    if (n > sizeof p->bytes - p->to)
        n = sizeof p->bytes - p->to;
    memcpy(p->bytes + p->to, b, n);
    p->to += n;
    return (int)n;
}

/* -1: nothing there now. */
static int pipe_get(pipe_end *p, unsigned char *b, size_t n)
{
    if (p->from == p->to)
        return p->shut ? 0 : -1;
    n = n < p->to - p->from ? n : p->to - p->from;
    memcpy(b, p->bytes + p->from, n);
    p->from += n;
    return (int)n;
}

static int srv_send(void *user, const unsigned char *b, size_t n)
{
    return pipe_put(&((wire *)user)->down, b, n);
}

static int srv_recv(void *user, unsigned char *b, size_t n)
{
    int r = pipe_get(&((wire *)user)->up, b, n);

    return r < 0 ? MBEDTLS_ERR_SSL_WANT_READ : r;
}

/* Let the server do what it can. */
static void serve(wire *w)
{
    int r;

    if (w->plain) {
        if (!w->up_ready)
            pipe_put(&w->down, (const unsigned char *)"HTTP/1.1 400 Bad\r\n",
                     18);
        w->up_ready = true;
        return;
    }
    if (!w->up_ready) {
        w->up_ready = mbedtls_ssl_handshake(&w->srv.ssl) == 0;
        return;
    }
    r = mbedtls_ssl_read(&w->srv.ssl, (unsigned char *)w->got + w->got_len,
                         sizeof w->got - w->got_len);
    if (r > 0)
        w->got_len += (size_t)r;
}

static bool wire_stutters(wire *w)
{
    return w->stutter && w->calls++ % 2 == 0;
}

static int wire_connect(void *user)
{
    wire *w = user;

    if (wire_stutters(w))
        return TCALL_E_AGAIN;
    mbedtls_ssl_session_reset(&w->srv.ssl);
    mbedtls_ssl_set_bio(&w->srv.ssl, w, srv_send, srv_recv, NULL);
    w->up_ready = w->up.shut = w->down.shut = false;
    w->up.from = w->up.to = w->down.from = w->down.to = 0;
    w->got_len = w->moved = 0;
    return 0;
}

static int wire_read(void *user, char *bytes, size_t cap)
{
    wire *w = user;
    int r;

    if (wire_stutters(w))
        return TCALL_E_AGAIN;
    serve(w);
    if (w->stutter && cap > 7)
        cap = 7;
    r = pipe_get(&w->down, (unsigned char *)bytes, cap);
    if (r > 0)
        w->moved += (size_t)r;
    if (r == 0 && w->broken)
        return TCALL_E_CLOSED;
    return r < 0 ? TCALL_E_AGAIN : r;
}

static int wire_write(void *user, const char *bytes, size_t len)
{
    wire *w = user;

    if (w->dead)
        return w->lost++, TCALL_E_CLOSED;
    if (w->full || wire_stutters(w))
        return TCALL_E_AGAIN;
    if (w->stutter && len > 5)
        len = 5;
    w->moved += len;
    return pipe_put(&w->up, (const unsigned char *)bytes, len);
}

static void wire_close(void *user)
{
    ((wire *)user)->up.shut = true;
}

static const char *wire_why(void *user)
{
    (void)user;
    return "the wire broke";
}

static tport_stream wire_stream(wire *w)
{
    tport_stream s = {wire_connect, wire_read, wire_write, wire_close,
                      NULL,         wire_why,  w};

    return s;
}

static int connect_all(tport_stream *s)
{
    int r, n = 0;

    do
        r = s->connect(s->user);
    while (r == TCALL_E_AGAIN && ++n < PATIENCE);
    return r;
}

static int stream_read(tport_stream *s, char *b, size_t cap)
{
    int r, n = 0;

    do
        r = s->read(s->user, b, cap);
    while (r == TCALL_E_AGAIN && ++n < 1000);
    return r;
}

static int stream_write(tport_stream *s, const char *b)
{
    size_t len = strlen(b), n = 0;
    int r, tries = 0;

    while (n < len && ++tries < PATIENCE) {
        r = s->write(s->user, b + n, len - n);
        if (r < 0 && r != TCALL_E_AGAIN)
            return r;
        n += r > 0 ? (size_t)r : 0;
    }
    return 0;
}

static wire w;
static tport_tls tls;

/* Connect to a server that has certificate c; its own CA is trusted unless ca
 * is given. Ends with what connect answered; end_tls is called afterwards. */
static int begin_tls(const mkcert_result *c, const char *host, const char *ca,
                     bool stutter, tport_stream *s)
{
    tport_tls_desc d;
    int r;

    memset(&w, 0, sizeof w);
    memset(&d, 0, sizeof d);
    w.stutter = stutter;
    d.host = host;
    d.ca_pem = ca ? ca : c->ca;
    r = tport_tls_init(&tls, &d, wire_stream(&w));
    *s = tport_tls_stream(&tls);
    server_init(&w.srv, c);
    return r ? r : connect_all(s);
}

static void end_tls(void)
{
    tport_tls_free(&tls);
    server_free(&w.srv);
}

static void test_tls_trust(void)
{
    tport_stream s;

    about = "trust";
    CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), 0);
    CHECK_INT(s.connect(s.user), 0);
    end_tls();
    CHECK_INT(begin_tls(&local, "127.0.0.1", NULL, false, &s), 0);
    end_tls();
    CHECK_INT(begin_tls(&local, "LOCALHOST", NULL, true, &s), 0);
    end_tls();

    about = "wrong name";
    CHECK_INT(begin_tls(&elsewhere, "localhost", NULL, false, &s),
              TCALL_E_WRONG_HOST);
    CHECK(strstr(tport_tls_why(&tls), "localhost"));
    CHECK(strstr(tport_tls_why(&tls), "another host"));
    CHECK_INT((long)w.got_len, 0);
    end_tls();
    CHECK_INT(begin_tls(&local, "127.0.0.2", NULL, false, &s),
              TCALL_E_WRONG_HOST);
    end_tls();
    CHECK_INT(begin_tls(&local, "localhost.test", NULL, false, &s),
              TCALL_E_WRONG_HOST);
    end_tls();

    about = "unknown CA";
    CHECK_INT(begin_tls(&local, "localhost", elsewhere.ca, false, &s),
              TCALL_E_CERTIFICATE);
    CHECK(strstr(tport_tls_why(&tls), "trusted CA"));
    end_tls();

    about = "dates";
    CHECK_INT(begin_tls(&expired, "localhost", NULL, false, &s),
              TCALL_E_EXPIRED);
    CHECK(strstr(tport_tls_why(&tls), "expired"));
    end_tls();
    CHECK_INT(begin_tls(&future, "localhost", NULL, false, &s),
              TCALL_E_NOT_YET);
    CHECK(strstr(tport_tls_why(&tls), "clock"));
    end_tls();
    about = "several faults: the gravest counts, all are named";
    CHECK_INT(begin_tls(&expired, "other.test", elsewhere.ca, false, &s),
              TCALL_E_CERTIFICATE);
    CHECK(strstr(tport_tls_why(&tls), "trusted CA"));
    CHECK(strstr(tport_tls_why(&tls), "another host"));
    CHECK(strstr(tport_tls_why(&tls), "expired"));
    end_tls();
    CHECK_INT(begin_tls(&expired, "other.test", NULL, false, &s),
              TCALL_E_WRONG_HOST);
    end_tls();

    about = "a pinned certificate";
    CHECK_INT(begin_tls(&local, "localhost", local.cert, false, &s), 0);
    end_tls();
}

static void test_tls_usage(void)
{
    tport_tls_desc d;
    tport_stream s;

    about = "usage";
    memset(&w, 0, sizeof w);
    memset(&d, 0, sizeof d);
    d.ca_pem = local.ca;
    CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), TCALL_E_USAGE);
    tport_tls_free(&tls);
    d.host = "";
    CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), TCALL_E_USAGE);
    tport_tls_free(&tls);
    d.host = "localhost";
    d.ca_pem = "not PEM";
    CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), TCALL_E_CERTIFICATE);
    tport_tls_free(&tls);
    d.ca_pem = NULL;
    d.ca_file = "/nonexistent/ca.pem";
    CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), TCALL_E_CERTIFICATE);
    CHECK(strstr(tport_tls_why(&tls), "/nonexistent/ca.pem"));
    tport_tls_free(&tls);

    about = "no TLS at the other end";
    CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), 0);
    s.close(s.user);
    w.plain = true;
    CHECK_INT(connect_all(&s), TCALL_E_TLS);
    CHECK(strstr(tport_tls_why(&tls), "localhost: TLS failed"));
    end_tls();
#if MBEDTLS_VERSION_NUMBER < 0x03000000
    about = "TLS 1.1";
    CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), 0);
    s.close(s.user);
    mbedtls_ssl_conf_max_version(&w.srv.conf, MBEDTLS_SSL_MAJOR_VERSION_3,
                                 MBEDTLS_SSL_MINOR_VERSION_2);
    /* The session of 1.2 must not help, either. */
    CHECK(connect_all(&s) == TCALL_E_TLS || tls.ended);
    end_tls();
#endif
}

static void say(const char *text)
{
    mbedtls_ssl_write(&w.srv.ssl, (const unsigned char *)text, strlen(text));
}

static void test_tls_bytes(void)
{
    static char big[20000];
    int stutter;
    tport_stream s;
    char b[64];

    about = "bytes both ways, and the three ends";
    for (stutter = 0; stutter < 2; stutter++) {
        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        CHECK_INT(stream_write(&s, "one and two"), 0);
        CHECK_INT(stream_write(&s, " and three"), 0);
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_AGAIN);
        serve(&w);
        CHECK(w.got_len == 21 &&
              memcmp(w.got, "one and two and three", 21) == 0);
        say(""); /* empty records are not an end */
        say("");
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_AGAIN);
        say("yes");
        CHECK_INT(stream_read(&s, b, sizeof b), 3);
        CHECK(memcmp(b, "yes", 3) == 0);
        mbedtls_ssl_close_notify(&w.srv.ssl);
        w.down.shut = true;
        CHECK_INT(stream_read(&s, b, sizeof b), 0);
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        say("ye");
        w.down.shut = true; /* FIN without close_notify */
        CHECK_INT(stream_read(&s, b, sizeof b), 2);
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_CLOSED);
        CHECK(strstr(tport_tls_why(&tls), "close_notify"));
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        say("yes");
        w.down.to--; /* inside a record */
        w.down.shut = true;
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_CLOSED);
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        w.down.shut = w.broken = true;
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_CLOSED);
        CHECK(strcmp(tport_tls_why(&tls), "the wire broke") == 0);
        /* none of that is left in the next connection */
        s.close(s.user);
        w.broken = false;
        w.plain = true;
        CHECK_INT(connect_all(&s), TCALL_E_TLS);
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        w.dead = true;
        CHECK_INT(stream_write(&s, "lost"), TCALL_E_CLOSED);
        CHECK(strcmp(tport_tls_why(&tls), "the wire broke") == 0);
        s.close(s.user);
        CHECK_INT(w.lost, 1);
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        /* tickets of 1.3, which want an answer, come first */
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_AGAIN);
        w.full = true;
        memset(big, 'x', sizeof big);
        CHECK(s.write(s.user, big, sizeof big) <= 16384); /* one record */
        w.full = false;
        w.dead = true; /* what was said before can still be read */
        say("bye");
        CHECK_INT(stream_read(&s, b, sizeof b), 3);
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), 0);
        s.close(s.user);
        CHECK_INT(mbedtls_ssl_read(&w.srv.ssl, (unsigned char *)b, sizeof b),
                  MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY);
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        w.full = true; /* half a record, then another connection */
        CHECK_INT(s.write(s.user, "half", 4), 4);
        CHECK_INT(s.write(s.user, "half", 4), TCALL_E_AGAIN);
        s.close(s.user);
        w.full = false;
        CHECK_INT(connect_all(&s), 0);
        CHECK_INT(stream_write(&s, "whole"), 0);
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_AGAIN);
        serve(&w);
        CHECK(w.got_len == 5 && memcmp(w.got, "whole", 5) == 0);
        end_tls();
    }
}

/* ---- the clock, entropy and memory of the machine ---- */

static time_t fake_time; /* 0: the real one */
static bool no_entropy;

/* What port/ and mbedTLS call in place of the C library's. */
time_t time(time_t *to)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (fake_time)
        now.tv_sec = fake_time;
    if (to)
        *to = now.tv_sec;
    return now.tv_sec;
}

int mbedtls_platform_entropy_poll(void *user, unsigned char *to, size_t len,
                                  size_t *filled);

/* In place of mbedTLS's own. */
int mbedtls_platform_entropy_poll(void *user, unsigned char *to, size_t len,
                                  size_t *filled)
{
    FILE *f = no_entropy ? NULL : fopen("/dev/urandom", "rb");

    (void)user;
    *filled = f ? fread(to, 1, len, f) : 0;
    if (f)
        fclose(f);
    return *filled == len ? 0 : -1;
}

static void test_tls_machine(void)
{
    static const time_t wrong[] = {1, 946684800 /* 2000 */,
                                   TPORT_CLOCK_FLOOR - 1};
    tport_tls_desc d = {0};
    tport_stream s;
    size_t i;

    for (i = 0; i < COUNT_OF(wrong); i++) {
        about = "the clock is not set";
        fake_time = wrong[i];
        CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s),
                  TCALL_E_CLOCK);
        CHECK(strstr(tport_tls_why(&tls), "clock is not set"));
        CHECK_INT((long)w.moved, 0); /* nothing was sent */
        about = "then it is";
        fake_time = 0;
        CHECK_INT(connect_all(&s), 0);
        CHECK(!strstr(tport_tls_why(&tls), "clock"));
        end_tls();
    }
    about = "the clock is as early as it may be";
    fake_time = TPORT_CLOCK_FLOOR;
    CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), 0);
    end_tls();
    about = "the clock is decades ahead";
    fake_time = (time_t)2556144000; /* 2051 */
    CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), TCALL_E_EXPIRED);
    fake_time = 0;
    end_tls();

    about = "no entropy";
    no_entropy = true;
    d.host = "localhost";
    d.ca_pem = local.ca;
    memset(&w, 0, sizeof w);
    CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), TCALL_E_ENTROPY);
    CHECK(strstr(tport_tls_why(&tls), "entropy"));
    tport_tls_free(&tls);
    no_entropy = false;
}

static void fingerprint(tport_pin to, const unsigned char *der, size_t len)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    CHECK_INT(mbedtls_sha256(der, len, to, 0), 0);
#else
    CHECK_INT(mbedtls_sha256_ret(der, len, to, 0), 0);
#endif
}

/* Connect with pins in place of CAs. */
static int connect_pinned(const mkcert_result *c, const char *host,
                          const tport_pin *pins, size_t n)
{
    tport_tls_desc d = {0};
    tport_stream s;
    int r;

    memset(&w, 0, sizeof w);
    d.host = host;
    d.pins = pins;
    d.pin_count = n;
    r = tport_tls_init(&tls, &d, wire_stream(&w));
    s = tport_tls_stream(&tls);
    server_init(&w.srv, c);
    r = r ? r : connect_all(&s);
    end_tls();
    return r;
}

static void test_tls_pins(void)
{
    static mkcert_result forged;
    mbedtls_x509_crt chain;
    tport_pin pins[5];
    int i;

    memset(pins, 0, sizeof pins);
    mbedtls_x509_crt_init(&chain);
    CHECK_INT(mbedtls_x509_crt_parse(&chain, (const unsigned char *)local.cert,
                                     strlen(local.cert) + 1),
              0);
    fingerprint(pins[1], chain.raw.p, chain.raw.len);
    fingerprint(pins[2], chain.pk_raw.p, chain.pk_raw.len);
    fingerprint(pins[3], chain.next->raw.p, chain.next->raw.len);
    fingerprint(pins[4], chain.next->pk_raw.p, chain.next->pk_raw.len);
    mbedtls_x509_crt_free(&chain);
    for (i = 1; i < 5; i++) {
        about = "a pin of a certificate or key, the server's or its CA's";
        CHECK_INT(
            connect_pinned(&local, "localhost", (const tport_pin *)&pins[i], 1),
            0);
        about = "a pin does not stand for the name";
        CHECK_INT(connect_pinned(&local, "other.test",
                                 (const tport_pin *)&pins[i], 1),
                  TCALL_E_WRONG_HOST);
        about = "none of the pins";
        CHECK_INT(
            connect_pinned(&other_ca, "localhost", (const tport_pin *)pins, 5),
            TCALL_E_CERTIFICATE);
    }
    CHECK_INT(connect_pinned(&local, "localhost", (const tport_pin *)pins, 5),
              0);
    CHECK_INT(connect_pinned(&local, "localhost", (const tport_pin *)pins, 1),
              TCALL_E_CERTIFICATE);
    about = "the pinned CA is sent along, but signed nothing";
    forged = other_ca;
    strcpy(strstr(forged.cert, "-----END CERTIFICATE-----\n") + 26, local.ca);
    CHECK_INT(connect_pinned(&forged, "localhost", (const tport_pin *)pins, 5),
              TCALL_E_CERTIFICATE);
    about = "a pin that is nearly right";
    pins[1][31] ^= 1;
    CHECK_INT(
        connect_pinned(&local, "localhost", (const tport_pin *)&pins[1], 1),
        TCALL_E_CERTIFICATE);
    about = "another server behind the same address has to have a pin as well";
    {
        tport_tls_desc d = {0};
        tport_stream s;
        memset(&w, 0, sizeof w);
        d.host = "localhost";
        d.pins = (const tport_pin *)&pins[2];
        d.pin_count = 1;
        CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), 0);
        s = tport_tls_stream(&tls);
        server_init(&w.srv, &local);
        CHECK_INT(connect_all(&s), 0);
        s.close(s.user);
        server_free(&w.srv);
        server_init(&w.srv, &other_ca);
        CHECK_INT(connect_all(&s), TCALL_E_CERTIFICATE);
        end_tls();
    }
    about = "no pin at all is no trust";
    CHECK(connect_pinned(&local, "localhost", (const tport_pin *)pins, 0) < 0);
}

#if MBEDTLS_VERSION_NUMBER >= 0x03060000
#define NEWEST "TLSv1.3"
#else
#define NEWEST "TLSv1.2"
#endif

/* Tickets, and in TLS 1.2 session ids too: what the second handshake moves,
 * and whether the server calls it a resumption. */
static void resume(bool tickets)
{
    tport_stream s;
    size_t first;
    char b[8];
    mbedtls_ssl_cache_context cache;

    mbedtls_ssl_cache_init(&cache);
    CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), 0);
    if (!tickets) {
        mbedtls_ssl_conf_session_tickets_cb(&w.srv.conf, NULL, NULL, NULL);
        mbedtls_ssl_conf_session_cache(
            &w.srv.conf, &cache, mbedtls_ssl_cache_get, mbedtls_ssl_cache_set);
#if MBEDTLS_VERSION_NUMBER >= 0x03020000
        mbedtls_ssl_conf_max_tls_version(&w.srv.conf,
                                         MBEDTLS_SSL_VERSION_TLS1_2);
#endif
        tls.has_session = false;
        s.close(s.user);
        CHECK_INT(connect_all(&s), 0);
    }
    (void)stream_read(&s, b, sizeof b); /* tickets of 1.3 come late */
    first = w.moved;
    CHECK_INT(w.srv.resumed, 0);
    s.close(s.user);
    CHECK_INT(connect_all(&s), 0);
    CHECK(w.moved < first * 3 / 4);
    CHECK_INT(w.srv.resumed, tickets);
    CHECK(strcmp(mbedtls_ssl_get_version(&tls.ssl),
                 tickets ? NEWEST : "TLSv1.2") == 0);
    printf("test_port: %s, %s: handshake %lu bytes, resumed %lu\n",
           mbedtls_ssl_get_version(&tls.ssl), tickets ? "ticket" : "session id",
           (unsigned long)first, (unsigned long)w.moved);
    CHECK_INT(stream_write(&s, "again"), 0);
    serve(&w);
    serve(&w);
    CHECK_INT((long)w.got_len, 5);
    about = "a session that the server has forgotten costs nothing";
    mbedtls_ssl_conf_session_tickets_cb(&w.srv.conf, NULL, NULL, NULL);
    mbedtls_ssl_conf_session_cache(&w.srv.conf, NULL, NULL, NULL);
    s.close(s.user);
    CHECK_INT(connect_all(&s), 0);
    end_tls();
    mbedtls_ssl_cache_free(&cache);
}

static void test_tls_resumption(void)
{
    about = "resumption by ticket";
    resume(true);
    about = "resumption by session id";
    resume(false);
}

/* HTTP over TLS over a wire that stutters: the layers fit. */
static void test_tls_http(void)
{
    static result x;
    tcall_transport t;
    tport_http h;
    tport_stream s;

    about = "HTTP over TLS in memory";
    CHECK_INT(begin_tls(&local, "localhost", NULL, true, &s), 0);
    s.close(s.user);
    tport_http_init(&h, s, "localhost", "");
    t = tport_http_transport(&h);
    memset(&x, 0, sizeof x);
    CHECK_INT(open_all(&t, &post, &x.res), 0);
    CHECK_INT(write_all(&t, "body", 4), 0);
    say(OK1 "\r\nto the end");
    mbedtls_ssl_close_notify(&w.srv.ssl);
    w.down.shut = true;
    CHECK_INT(read_all(&t, &x, 100), 0);
    CHECK_INT((long)x.len, 10);
    t.close(t.user);
    CHECK_INT(open_all(&t, &post, &x.res), 0);
    CHECK_INT(write_all(&t, "body", 4), 0);
    say(OK1 "\r\nto the end");
    w.down.shut = true;
    CHECK_INT(read_all(&t, &x, 100), TCALL_E_CLOSED);
    t.close(t.user);
    tport_http_drop(&h);
    end_tls();
}

static void test_tls(void)
{
    test_tls_trust();
    test_tls_usage();
    test_tls_bytes();
    test_tls_machine();
    test_tls_pins();
    test_tls_resumption();
    test_tls_http();
}

/* ==========================================================================
 * The whole, against a forked server on 127.0.0.1
 */

/* How the server ends a connection after its answers. */
enum { NOTIFY, FIN, RESET, STALL, SERVE_TWO };

typedef struct visit {
    const char *answer;
    int end;
} visit;

static int listener(uint16_t *port)
{
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 ||
        listen(fd, 8) != 0 || getsockname(fd, (struct sockaddr *)&a, &len) != 0)
        return -1;
    *port = ntohs(a.sin_port);
    return fd;
}

static int fd_send(void *user, const unsigned char *b, size_t n)
{
    ssize_t r = write(*(int *)user, b, n);

    return r < 0 ? MBEDTLS_ERR_NET_SEND_FAILED : (int)r;
}

static int fd_recv(void *user, unsigned char *b, size_t n)
{
    ssize_t r = read(*(int *)user, b, n);

    return r < 0 ? MBEDTLS_ERR_NET_RECV_FAILED : (int)r;
}

static int visit_read(server *s, int *fd, char *b, size_t n)
{
    return s ? mbedtls_ssl_read(&s->ssl, (unsigned char *)b, n)
             : fd_recv(fd, (unsigned char *)b, n);
}

static void visit_write(server *s, int *fd, const char *b)
{
    if (s)
        mbedtls_ssl_write(&s->ssl, (const unsigned char *)b, strlen(b));
    else
        fd_send(fd, (const unsigned char *)b, strlen(b));
}

/* Read one request; the answer to what is no request is silence. */
static bool visit_request(server *s, int *fd)
{
    static char b[8192];
    const char *end = NULL, *length;
    size_t n = 0, most = sizeof b - 1;
    int r;

    while (!end || n < most) {
        r = visit_read(s, fd, b + n, most - n);
        if (r <= 0)
            return false;
        n += (size_t)r;
        b[n] = '\0';
        if (end || !(end = strstr(b, "\r\n\r\n")))
            continue;
        length = strstr(b, "Content-Length: ");
        most = (size_t)(end + 4 - b) + (length ? (size_t)atol(length + 16) : 0);
        if (most >= sizeof b)
            return false;
    }
    return true;
}

static void serve_visit(server *s, int fd, const visit *v)
{
    struct linger hard = {1, 0};
    const char *answer = v->answer, *second = strchr(answer, '\f');
    int n = v->end == SERVE_TWO ? 2 : 1;
    static char first[2048];
    char b;

    if (s) {
        mbedtls_ssl_session_reset(&s->ssl);
        mbedtls_ssl_set_bio(&s->ssl, &fd, fd_send, fd_recv, NULL);
        if (mbedtls_ssl_handshake(&s->ssl) != 0)
            return;
    }
    if (second) { /* of two different answers, the form feed parts them */
        memcpy(first, answer, (size_t)(second - answer));
        first[second - answer] = '\0';
        answer = first;
    }
    while (n-- && visit_request(s, &fd)) {
        visit_write(s, &fd, answer);
        answer = second ? second + 1 : answer;
    }
    if (v->end == STALL)
        (void)visit_read(s, &fd, &b, 1); /* until the client gives up */
    else if (v->end == RESET)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    else if (s && v->end != FIN)
        mbedtls_ssl_close_notify(&s->ssl);
}

/* Serve the visits one after the other in a process of its own. */
static pid_t start_server(const mkcert_result *c, const visit *v, size_t n,
                          uint16_t *port)
{
    static server s;
    int fd = listener(port);
    pid_t pid;
    size_t i;

    CHECK(fd >= 0);
    fflush(stdout);
    pid = fork();
    if (pid != 0) {
        close(fd);
        return pid;
    }
    alarm(20 * slow);
    signal(SIGPIPE, SIG_IGN);
    if (c)
        server_init(&s, c);
    for (i = 0; i < n; i++) {
        int a = accept(fd, NULL, NULL);
        serve_visit(c ? &s : NULL, a, &v[i]);
        close(a);
    }
    if (c)
        server_free(&s);
    _exit(0);
}

static void stop_server(pid_t pid)
{
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

static const tcall_header key[] = {{"Authorization", "Bearer ", "sk-canary"}};
static const tcall_request send4 = {"POST", "/v1", key, 1, 4};

/* One exchange; answers its error. A kept connection that the server was just
 * ending is the caller's to replace, once: see tcall_response. */
static int go(tport *p, result *x)
{
    exchange(tport_transport(p), &send4, "body", 1000, x);
    if (x->error == TCALL_E_CLOSED && !x->res.status &&
        x->res.retry_after_ms == 0)
        exchange(tport_transport(p), &send4, "body", 1000, x);
    CHECK(!strstr(tport_error(p), "canary"));
    CHECK((x->error == 0) == (tport_error(p)[0] == '\0'));
    return x->error;
}

static tport port;

static int init_port(const char *scheme, const char *host, uint16_t number,
                     tport_desc *d)
{
    char url[100];

    snprintf(url, sizeof url, "%s://%s:%u/base/", scheme, host,
             (unsigned)number);
    d->url = url;
    return tport_init(&port, d);
}

static void test_loopback_tls(void)
{
    static const visit v[] = {
        {OK1 "Content-Length: 5\r\n\r\nhello", SERVE_TWO},
        {CHUNKED "5\r\nhello\r\n0\r\n\r\n", NOTIFY},
        {OK1 "\r\nhello", NOTIFY},
        {OK1 "\r\nhello", FIN},
        {OK1 "Content-Length: 50\r\n\r\nhello", FIN},
        {OK1 "Content-Length: 50\r\n\r\nhello", NOTIFY},
        {OK1 "Content-Length: 50\r\n\r\nhello", RESET},
        {OK1 "Content-Length: 5\r\n\r\nhello", FIN},
        {"", STALL},
        {OK1 "Content-Length: 50\r\n\r\nhello", STALL},
    };
    static result x;
    uint16_t number;
    tport_desc d = {0};
    uint32_t began;
    pid_t pid = start_server(&local, v, COUNT_OF(v), &number);

    about = "loopback, TLS";
    d.ca_pem = local.ca;
    d.total_ms = 1000 * slow;
    CHECK_INT(init_port("https", "localhost", number, &d), 0);
    CHECK_INT(go(&port, &x), 0); /* 1st connection */
    CHECK_INT((long)x.len, 5);
    CHECK_INT(go(&port, &x), 0); /* the same */
    CHECK_INT((long)x.len, 5);
    poll(NULL, 0, 20);
    CHECK_INT(go(&port, &x), 0); /* a new one: the other was ended */
    CHECK(x.len == 5 && x.res.status == 200);
    CHECK_INT(go(&port, &x), 0);
    CHECK(x.len == 5 && memcmp(x.body, "hello", 5) == 0);
    about = "FIN without close_notify, no length";
    CHECK_INT(go(&port, &x), TCALL_E_CLOSED);
    about = "FIN mid-body";
    CHECK_INT(go(&port, &x), TCALL_E_CLOSED);
    about = "close_notify mid-body";
    CHECK_INT(go(&port, &x), TCALL_E_CLOSED);
    about = "RST mid-body";
    CHECK_INT(go(&port, &x), TCALL_E_CLOSED);
    about = "FIN after a framed body";
    CHECK_INT(go(&port, &x), 0);
    tport_free(&port);
    about = "stall before the answer";
    d.total_ms = 200 * slow;
    CHECK_INT(init_port("https", "localhost", number, &d), 0);
    began = tport_posix_now_ms();
    CHECK_INT(go(&port, &x), TCALL_E_TIMEOUT);
    CHECK(tport_posix_now_ms() - began >= d.total_ms - 10);
    CHECK(tport_posix_now_ms() - began < 3000 * slow);
    tport_free(&port);
    about = "stall mid-body";
    d.total_ms = 2000 * slow;
    d.idle_ms = 150 * slow;
    CHECK_INT(init_port("https", "localhost", number, &d), 0);
    CHECK_INT(go(&port, &x), TCALL_E_TIMEOUT);
    CHECK_INT((long)x.len, 5);
    tport_free(&port);
    stop_server(pid);
}

static void test_loopback_refusals(void)
{
    static const visit v[3] = {{A1, NOTIFY}, {A1, NOTIFY}, {A1, NOTIFY}};
    static result x;
    uint16_t number;
    tport_desc d = {0};
    pid_t pid = start_server(&elsewhere, v, 3, &number);

    about = "loopback, wrong name";
    d.ca_pem = elsewhere.ca;
    d.total_ms = 3000 * slow;
    CHECK_INT(init_port("https", "localhost", number, &d), 0);
    CHECK_INT(go(&port, &x), TCALL_E_WRONG_HOST);
    CHECK(strstr(tport_error(&port), "certificate of localhost"));
    CHECK_INT(x.res.status, 0);
    tport_free(&port);
    stop_server(pid);

    about = "loopback, unknown CA";
    pid = start_server(&local, v, 3, &number);
    d.ca_pem = elsewhere.ca;
    CHECK_INT(init_port("https", "127.0.0.1", number, &d), 0);
    CHECK_INT(go(&port, &x), TCALL_E_CERTIFICATE);
    tport_free(&port);
    about = "loopback, the system's CAs";
    d.ca_pem = NULL;
    if (init_port("https", "localhost", number, &d) == 0)
        CHECK_INT(go(&port, &x), TCALL_E_CERTIFICATE);
    else /* a machine without any */
        CHECK(strstr(tport_error(&port), "no CA certificate"));
    tport_free(&port);
    stop_server(pid);
}

/* ---- the agent over all of it ---- */

#define CALL_ANSWER                                                      \
    CHUNKED "bd\r\n{\"choices\":[{\"index\":0,\"message\":{\"role\":\""  \
            "assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\"" \
            ",\"type\":\"function\",\"function\":{\"name\":\"blink\",\"" \
            "arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}" \
            "\r\n0\r\n\r\n"
#define TEXT_ANSWER                                                     \
    CHUNKED "61\r\n{\"choices\":[{\"index\":0,\"message\":{\"role\":\"" \
            "assistant\",\"content\":\"Done.\"},\"finish_reason\":\"st" \
            "op\"}]}\r\n0\r\n\r\n"

static int blinks;

static int blink(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    blinks++;
    return tcall_write_text(out, "done");
}

static void watch(void *user, const tcall_event *e)
{
    int *retries = user;

    *retries += e->kind == TCALL_EVENT_RETRY;
    CHECK(e->text.len < 6 || !strstr(tport_error(&port), "canary"));
}

/* A turn of two rounds over TLS; the number of requests sent again. */
static int turn(const tport_desc *d, uint16_t number, int *error)
{
    static char block[16384];
    static tcall_tool tool;
    static int retries;
    tport_desc pd = *d;
    tcall tc;
    tcall_agent agent;
    tcall_desc td;
    tcall_agent_desc ad;

    memset(&td, 0, sizeof td);
    memset(&ad, 0, sizeof ad);
    tool.name = "blink";
    tool.parameters = "{\"type\":\"object\"}";
    tool.run = blink;
    tool.permissions = TCALL_READ;
    td.block = block;
    td.block_size = sizeof block;
    td.tools = &tool;
    td.tool_count = 1;
    td.allow = TCALL_READ;
    td.on_event = watch;
    td.user = &retries;
    CHECK_INT(init_port("https", "localhost", number, &pd), 0);
    ad.tc = &tc;
    ad.provider = &tcall_openai;
    ad.transport = tport_transport(&port);
    ad.model = "m";
    ad.key = "sk-canary";
    ad.max_wait_ms = 50;
    blinks = retries = 0;
    CHECK_INT(tcall_init(&tc, &td), 0);
    CHECK_INT(tcall_agent_init(&agent, &ad), 0);
    *error = tcall_agent_run(&agent, tcall_str_of("blink"));
    if (*error == 0)
        CHECK(tcall_str_eq(tcall_agent_text(&agent), tcall_str_of("Done.")));
    tport_free(&port);
    return retries;
}

static void test_agent(void)
{
    static const visit one[] = {{CALL_ANSWER "\f" TEXT_ANSWER, SERVE_TWO}};
    static const visit faults[] = {
        {"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n",
         NOTIFY},
        {"", RESET},
        {CALL_ANSWER, FIN}, /* the kept connection is dead when it is used */
        {"", RESET},
        {TEXT_ANSWER, NOTIFY},
    };
    static const visit mute[] = {{"", STALL}, {"", STALL}, {"", STALL}};
    uint16_t number;
    tport_desc d = {0};
    int error = 0;
    pid_t pid;

    about = "two rounds, one connection: there is no other to be had";
    d.ca_pem = local.ca;
    d.total_ms = 3000 * slow;
    pid = start_server(&local, one, COUNT_OF(one), &number);
    CHECK_INT(turn(&d, number, &error), 0);
    CHECK_INT(error, 0);
    CHECK_INT(blinks, 1);
    stop_server(pid);
    about = "the tool runs once, whatever happens to the requests";
    pid = start_server(&local, faults, COUNT_OF(faults), &number);
    CHECK(turn(&d, number, &error) >= 3);
    CHECK_INT(error, 0);
    CHECK_INT(blinks, 1);
    stop_server(pid);
    about = "nothing is tried twice where the certificate is wrong";
    pid = start_server(&elsewhere, one, COUNT_OF(one), &number);
    d.ca_pem = elsewhere.ca;
    CHECK_INT(turn(&d, number, &error), 0);
    CHECK_INT(error, TCALL_E_WRONG_HOST);
    stop_server(pid);
    about = "the handshake stalls";
    pid = start_server(NULL, mute, COUNT_OF(mute), &number);
    d.total_ms = 120;
    CHECK_INT(turn(&d, number, &error), 2);
    CHECK_INT(error, TCALL_E_TIMEOUT);
    stop_server(pid);
}

/* mbedTLS in a buffer, one exchange. In a program of its own, because that is
 * for good and has to come first; its arguments are those of run_in. */
static int memory_main(char **argv)
{
    static uint64_t buffer[1 << 15];
    static result x;
    size_t size = (size_t)atol(argv[2]), peak;
    tport_desc d = {0};
    int r = tport_tls_memory(buffer, size);

    d.ca_pem = argv[4];
    if (r == 0)
        r = init_port("https", "localhost", (uint16_t)atoi(argv[3]), &d);
    if (r == 0)
        r = go(&port, &x);
    peak = tport_tls_memory_peak();
    if (r == 0) {
        printf("test_port: one exchange takes %lu bytes of mbedTLS's buffer\n",
               (unsigned long)peak);
        fflush(stdout);
    }
    if (r == 0 && (peak > size || peak < 20000))
        return 254;
    tport_free(&port);
    return -r;
}

static int run_in(size_t size, uint16_t number)
{
    char bytes[20], digits[20];
    int status;
    pid_t pid;

    sprintf(bytes, "%lu", (unsigned long)size);
    sprintf(digits, "%u", (unsigned)number);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        alarm(20 * slow);
        execl("/proc/self/exe", "test_port", "memory", bytes, digits, local.ca,
              (char *)NULL);
        _exit(255);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status)
               ? -WEXITSTATUS(status)
               : -253;
}

/* Whatever the size, it works or says that it is too small. */
static void test_memory(void)
{
    visit v[24];
    uint16_t number;
    size_t i, size = 256 * 1024;
    pid_t pid;

    about = "mbedTLS in a buffer";
    for (i = 0; i < COUNT_OF(v); i++) {
        v[i].answer = A1;
        v[i].end = NOTIFY;
    }
    pid = start_server(&local, v, COUNT_OF(v), &number);
#if defined(MBEDTLS_MEMORY_BUFFER_ALLOC_C) && defined(MBEDTLS_PLATFORM_MEMORY)
    CHECK_INT(run_in(size, number), 0);
    for (i = 0, size = 2000; i < 12; i++, size += 3000)
        CHECK_INT(run_in(size, number), TCALL_E_MEMORY);
#else
    CHECK_INT(run_in(size, number), TCALL_E_USAGE);
#endif
    stop_server(pid);
}

static void test_loopback_plain(void)
{
    static const visit v[] = {
        {A1, SERVE_TWO}, {"", STALL}, {A1, NOTIFY}, {"", STALL}};
    static result x;
    uint16_t number;
    tport_desc d = {0};
    pid_t pid = start_server(NULL, v, COUNT_OF(v), &number);
    socklen_t len = sizeof(int);
    uint32_t began;
    int on = 0;

    about = "loopback, plain";
    CHECK_INT(init_port("http", "127.0.0.1", number, &d), 0);
    CHECK_INT(go(&port, &x), 0);
    CHECK_INT(go(&port, &x), 0);
    CHECK(x.len == 1 && x.res.status == 200);
    about = "the socket";
    CHECK_INT(port.stream.connect(port.stream.user), 0);
    CHECK(fcntl(port.socket.fd, F_GETFD) & FD_CLOEXEC);
    CHECK(getsockopt(port.socket.fd, IPPROTO_TCP, TCP_NODELAY, &on, &len) ==
              0 &&
          on);
    tport_free(&port);
    about = "idle limit";
    d.idle_ms = 200 * slow;
    CHECK_INT(init_port("http", "127.0.0.1", number, &d), 0);
    began = tport_posix_now_ms();
    CHECK_INT(go(&port, &x), TCALL_E_TIMEOUT);
    CHECK(tport_posix_now_ms() - began < 2000 * slow);
    tport_free(&port);
    about = "not blocking";
    d.idle_ms = 0;
    d.nonblocking = true;
    CHECK_INT(init_port("http", "localhost", number, &d), 0);
    {
        tcall_transport t = tport_transport(&port);
        int r, again = 0;
        memset(&x, 0, sizeof x);
        while ((r = t.open(t.user, &send4, &x.res)) == TCALL_E_AGAIN)
            poll(NULL, 0, 1);
        CHECK_INT(r, 0);
        CHECK_INT(write_all(&t, "body", 4), 0);
        while ((r = t.read(t.user, x.body, 10)) == TCALL_E_AGAIN &&
               ++again < 4000)
            poll(NULL, 0, 1);
        CHECK_INT(r, 1);
        t.close(t.user);
        while ((r = t.open(t.user, &send4, &x.res)) == TCALL_E_AGAIN)
            poll(NULL, 0, 1);
        CHECK_INT(write_all(&t, "body", 4), 0);
        for (again = 0; again < 5; again++)
            CHECK_INT(t.read(t.user, x.body, 10), TCALL_E_AGAIN);
        t.close(t.user);
        CHECK(t.now_ms(t.user) - tport_posix_now_ms() + 5 < 10);
    }
    tport_free(&port);
    stop_server(pid);

    about = "nobody listens";
    d.nonblocking = false;
    CHECK_INT(init_port("http", "localhost", number, &d), 0);
    CHECK_INT(go(&port, &x), TCALL_E_CONNECT);
    CHECK(strstr(tport_error(&port), "localhost: "));
    tport_free(&port);
}

/* ---- names and addresses ---- */

/* A resolver of our own, which takes ms to answer. */
static const struct {
    const char *name;
    const char *addresses[4];
    int error;
    int ms;
    int repeat; /* so many of the first address */
} names[] = {
    {"plain.test", {"127.0.0.1"}, 0, 0, 1},
    {"slow.test", {"127.0.0.1"}, 0, 150, 1},
    {"refuses.test", {"127.0.0.2", "127.0.0.1"}, 0, 0, 1},
    {"six.test", {"::1", "127.0.0.1"}, 0, 0, 40},
    {"stalls.test", {"127.0.0.3", "127.0.0.1"}, 0, 0, 1},
    {"never.test", {"127.0.0.3"}, 0, 0, 1},
    {"many.test", {"127.0.0.2"}, 0, 0, 64},
    {"nobody.test", {NULL}, EAI_NONAME, 0, 0},
    {"servfail.test", {NULL}, EAI_AGAIN, 0, 0},
    {"silent.test", {NULL}, EAI_AGAIN, 4000, 0},
    {"empty.test", {NULL}, 0, 0, 0},
};

static struct addrinfo *address(const char *text, const char *service,
                                struct addrinfo *next)
{
    struct room {
        struct addrinfo a;
        union {
            struct sockaddr s;
            struct sockaddr_in four;
            struct sockaddr_in6 six;
        } u;
    } *r = calloc(1, sizeof *r);
    bool six = strchr(text, ':') != NULL;

    if (six) {
        r->u.six.sin6_port = htons((uint16_t)atoi(service));
        inet_pton(AF_INET6, text, &r->u.six.sin6_addr);
    } else {
        r->u.four.sin_port = htons((uint16_t)atoi(service));
        inet_pton(AF_INET, text, &r->u.four.sin_addr);
    }
    r->a.ai_family = r->u.s.sa_family = six ? AF_INET6 : AF_INET;
    r->a.ai_socktype = SOCK_STREAM;
    r->a.ai_addr = &r->u.s;
    r->a.ai_addrlen = six ? sizeof r->u.six : sizeof r->u.four;
    r->a.ai_next = next;
    return &r->a;
}

void freeaddrinfo(struct addrinfo *list)
{
    while (list) {
        struct addrinfo *next = list->ai_next;
        free(list);
        list = next;
    }
}

int getaddrinfo(const char *name, const char *service,
                const struct addrinfo *hints, struct addrinfo **list)
{
    unsigned char number[16];
    size_t i, k;
    int n;

    *list = NULL;
    if (!name)
        *list = address("::1", service, address("127.0.0.1", service, NULL));
    else if (inet_pton(AF_INET, name, number) == 1 ||
             inet_pton(AF_INET6, name, number) == 1)
        *list = address(name, service, NULL);
    if (*list || (hints->ai_flags & AI_NUMERICHOST))
        return *list ? 0 : EAI_NONAME;
    for (i = 0; i < COUNT_OF(names); i++) {
        if (strcmp(name, names[i].name) != 0)
            continue;
        poll(NULL, 0, names[i].ms);
        for (k = 4; k-- > 0;)
            for (n = k ? 1 : names[i].repeat; names[i].addresses[k] && n--;)
                *list = address(names[i].addresses[k], service, *list);
        return names[i].error;
    }
    return EAI_NONAME;
}

/* An address whose packets lead to nothing: its queue is full. */
static void make_stall(uint16_t number, int *fds, size_t n)
{
    struct sockaddr_in a;
    size_t i;

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons(number);
    inet_pton(AF_INET, "127.0.0.3", &a.sin_addr);
    for (i = 0; i < n; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (i == 0) {
            CHECK(bind(fds[0], (struct sockaddr *)&a, sizeof a) == 0);
            CHECK(listen(fds[0], 0) == 0);
            continue;
        }
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
        (void)!connect(fds[i], (struct sockaddr *)&a, sizeof a);
    }
}

static int open_sockets(void)
{
    struct stat s;
    int fd, n = 0;

    for (fd = 0; fd < 200; fd++)
        n += fstat(fd, &s) == 0 && S_ISSOCK(s.st_mode);
    return n;
}

static bool are_signals_blocked(void)
{
    sigset_t now;

    return sigprocmask(SIG_SETMASK, NULL, &now) != 0 ||
           sigismember(&now, SIGTERM) == 1;
}

static bool is_allowed(void *user, const struct sockaddr *address)
{
    struct sockaddr_in a;

    (void)user;
    memcpy(&a, address, sizeof a);
    return a.sin_addr.s_addr != htonl(INADDR_LOOPBACK);
}

static void test_names(void)
{
    static const struct {
        const char *host;
        int r;
        unsigned least, most; /* milliseconds */
        const char *why;
    } t[] = {
        {"plain.test", 0, 0, 200, ""},
        {"slow.test", 0, 150, 400, ""},
        {"refuses.test", 0, 0, 200, ""},
        {"six.test", 0, 0, 200, ""},
        {"stalls.test", 0, TPORT_NEXT_MS, TPORT_NEXT_MS + 200, ""},
        {"never.test", TCALL_E_TIMEOUT, 590, 900, "took too long"},
        {"many.test", TCALL_E_CONNECT, 0, 200, "refused"},
        {"nobody.test", TCALL_E_RESOLVE, 0, 200, "nobody.test: "},
        {"unheard.test", TCALL_E_RESOLVE, 0, 200, "unheard.test: "},
        {"servfail.test", TCALL_E_RESOLVE, 0, 200, "servfail.test: "},
        {"silent.test", TCALL_E_TIMEOUT, 590, 900, "took too long"},
        {"empty.test", TCALL_E_RESOLVE, 0, 200, "it has no address"},
        {"127.0.0.1", 0, 0, 200, ""},
        {"localhost", 0, 0, 200, ""},
        {"LOCALHOST", 0, 0, 200, ""},
    };
    static result x;
    visit v[COUNT_OF(t)];
    int stall[6];
    uint16_t number;
    size_t i;
    pid_t pid;

    for (i = 0; i < COUNT_OF(t); i++) {
        v[i].answer = A1;
        v[i].end = NOTIFY;
    }
    pid = start_server(NULL, v, COUNT_OF(v), &number);
    make_stall(number, stall, COUNT_OF(stall));
    for (i = 0; i < COUNT_OF(t); i++) {
        tport_desc d = {0};
        uint32_t began = tport_posix_now_ms(), ms;
        int sockets = open_sockets();

        about = t[i].host;
        d.total_ms = 600;
        d.insecure_plain_http = true;
        CHECK_INT(init_port("http", t[i].host, number, &d), 0);
        CHECK_INT(go(&port, &x), t[i].r);
        ms = tport_posix_now_ms() - began;
        CHECK(ms >= t[i].least && ms < t[i].most + 100 * slow);
        CHECK(strstr(tport_error(&port), t[i].why));
        tport_free(&port);
        CHECK_INT(open_sockets(), sockets);
        CHECK(!are_signals_blocked());
    }
    about = "no address of a name is taken where one may not be";
    {
        tport_desc d = {0};
        int sockets = open_sockets();
        d.insecure_plain_http = true;
        d.allow = is_allowed;
        CHECK_INT(init_port("http", "refuses.test", number, &d), 0);
        CHECK_INT(go(&port, &x), TCALL_E_DENIED);
        CHECK_INT(open_sockets(), sockets);
        tport_free(&port);
    }
    about = "given up before the resolver has answered";
    {
        tport_desc d = {0};
        tcall_response res;
        tcall_transport transport;
        d.nonblocking = d.insecure_plain_http = true;
        for (i = 0; i < 20; i++) {
            CHECK_INT(init_port("http", "slow.test", number, &d), 0);
            transport = tport_transport(&port);
            CHECK_INT(transport.open(transport.user, &send4, &res),
                      TCALL_E_AGAIN);
            CHECK_INT(transport.open(transport.user, &send4, &res),
                      TCALL_E_AGAIN);
            CHECK(fcntl(port.socket.fd, F_GETFD) & FD_CLOEXEC);
            transport.close(transport.user);
            tport_free(&port);
        }
        poll(NULL, 0, 200); /* nobody reads what the 20 threads find out */
    }
    for (i = 0; i < COUNT_OF(stall); i++)
        close(stall[i]);
    stop_server(pid);
}

static void test_urls(void)
{
    static const struct {
        const char *url;
        int r;
        const char *host, *authority, *base;
        unsigned number;
    } t[] = {
        {"https://api.openai.com", 0, "api.openai.com", "api.openai.com", "",
         443},
        {"https://a.test:8443/", 0, "a.test", "a.test:8443", "", 8443},
        {"https://a.test/openai/v1//", 0, "a.test", "a.test", "/openai/v1",
         443},
        {"http://127.0.0.1:11434", 0, "127.0.0.1", "127.0.0.1:11434", "",
         11434},
        {"http://[::1]:80/x", 0, "::1", "[::1]:80", "/x", 80},
        {"http://localhost", 0, "localhost", "localhost", "", 80},
        {"http://127.255.1.20", 0, "127.255.1.20", "127.255.1.20", "", 80},
    };
    static const char *const wrong[] = {
        "",
        "api.openai.com",
        "ftp://x",
        "HTTPS://x",
        "https://",
        "https://:1",
        "https:///x",
        "https://x:",
        "https://x:0",
        "https://x:65536",
        "https://x:99999999999",
        "https://x:1x",
        "https://u@x",
        "https://u:p@x",
        "https://x?q",
        "https://x/a?q",
        "https://x/#f",
        "https://x/a b",
        "https://x/a\r\nb",
        "https://x\\y",
        "https://x/\\y",
        "https://[::1",
        "https://[]",
        "https://[x]",
        "https://x\n",
        "https://x\tb",
        /* plain, and not this machine */
        "http://example.com",
        "http://10.0.0.1",
        "http://127.0.0.1.evil.test",
        "http://127.evil.test",
        "http://127.0.0",
        "http://127.0.0.1.",
        "http://localhost.evil.test",
        "http://[::2]",
        "http://0.0.0.0",
        "http://1270.0.0.1",
        "http://127.0.0.1.1",
    };
    tport_desc d = {0};
    size_t i;

    d.ca_pem = local.ca;
    for (i = 0; i < COUNT_OF(t); i++) {
        about = d.url = t[i].url;
        CHECK_INT(tport_init(&port, &d), 0);
        CHECK(strcmp(port.host, t[i].host) == 0);
        CHECK(strcmp(port.authority, t[i].authority) == 0);
        CHECK(strcmp(port.base, t[i].base) == 0);
        CHECK_INT(port.number, (long)t[i].number);
        tport_free(&port);
    }
    for (i = 0; i < COUNT_OF(wrong); i++) {
        about = d.url = wrong[i];
        CHECK_INT(tport_init(&port, &d), TCALL_E_USAGE);
        CHECK(tport_error(&port)[0]);
        tport_free(&port);
    }
    about = d.url = "http://10.0.0.1";
    d.insecure_plain_http = true;
    CHECK_INT(tport_init(&port, &d), 0);
    tport_free(&port);
    d.url = NULL;
    CHECK_INT(tport_init(&port, &d), TCALL_E_USAGE);
    tport_free(&port);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "memory") == 0)
        return memory_main(argv);
    if (getenv("TEST_SLOW"))
        slow = (unsigned)atoi(getenv("TEST_SLOW"));
    alarm(60 * slow); /* whatever happens, not longer than that */
    signal(SIGPIPE, SIG_DFL);
    test_http();
    make_certificates();
    test_tls();
    test_urls();
    test_loopback_tls();
    test_loopback_refusals();
    test_loopback_plain();
    test_agent();
    test_memory();
    test_names();
    printf("test_port: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
