/* A server that answers before it has the whole request, and heads of answers
 * that are cut: nothing of those is taken over. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "port_visit.h"

#define TOO_LARGE "HTTP/1.1 413 Too Large\r\n"

/* ---- over a script ---- */

static char body[6000];

/* One exchange with a peer that takes no more than stops bytes. */
static void one(tport_http *h, script *s, const peer *p, size_t stops,
                size_t len, result *x)
{
    tcall_request q = post;

    q.body_len = len;
    memset(s, 0, sizeof *s);
    s->peers = p;
    s->stops = stops;
    tport_http_init(h, script_stream(s), "host", "");
    exchange(tport_http_transport(h), &q, body, 100, x);
}

static void test_answers(void)
{
    static const char *const answers[] = {
        TOO_LARGE "Content-Length: 2\r\n\r\nno",
        TOO_LARGE "Connection: close\r\nContent-Length: 2\r\n\r\nno",
        TOO_LARGE "Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n",
        TOO_LARGE "\r\nno",
        "HTTP/1.1 100 Continue\r\n\r\n" TOO_LARGE "Content-Length: 2\r\n\r\nno",
        "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" TOO_LARGE
        "Retry-After: 7\r\nContent-Length: 2\r\n\r\nno",
    };
    static script s;
    static result x;
    tport_http h;
    size_t i, most, stops;

    for (i = 0; i < COUNT_OF(answers); i++)
        for (most = 0; most < 3; most++)
            for (stops = POST_HEAD + 3; stops < 5500; stops += 611) {
                peer p = {{NULL}, 0, 0, 0, false};
                tcall_request q = post;
                about = answers[i];
                p.answers[0] = answers[i];
                q.body_len = sizeof body;
                memset(&s, 0, sizeof s);
                s.peers = &p;
                s.stops = stops;
                s.most = most;
                s.stutter = most == 2;
                tport_http_init(&h, script_stream(&s), "host", "");
                exchange(tport_http_transport(&h), &q, body, 100, &x);
                CHECK_INT(x.error, 0);
                CHECK_INT(x.res.status, 413);
                CHECK_INT(x.res.retry_after_ms, i == 5 ? 7000 : -1);
                CHECK(x.len == 2 && memcmp(x.body, "no", 2) == 0);
                CHECK(s.out_len < sizeof body); /* the rest was not sent */
                CHECK(!s.up); /* nobody knows where the next request begins */
                CHECK_INT(s.misuses, 0);
                tport_http_drop(&h);
            }
}

/* What goes wrong while the request is written ends the exchange. */
static void test_errors(void)
{
    static const struct {
        peer p;
        int error;
        long retry;
        const char *why;
    } rows[] = {
        {{{"SSH-2.0\r\n"}, 0, 0, 0, false}, TCALL_E_PROTOCOL, -1, "HTTP"},
        {{{TOO_LARGE "Bad Name: x\r\n\r\n"}, 0, 0, 0, false},
         TCALL_E_PROTOCOL,
         -1,
         "name"},
        {{{TOO_LARGE "Retry-After: 0\r\n"}, 0, 0, 0, false},
         TCALL_E_CLOSED,
         -1,
         "inside the answer's head"},
        {{{TOO_LARGE}, 0, TCALL_E_CLOSED, 0, false},
         TCALL_E_CLOSED,
         -1,
         "inside the answer's head"},
        {{{TOO_LARGE}, 0, TCALL_E_MEMORY, 0, false}, TCALL_E_MEMORY, -1, ""},
        {{{""}, 0, 0, 0, false}, TCALL_E_CLOSED, -1, "before the answer"},
        {{{"HTTP/1.1 307 X\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n"},
          0,
          0,
          0,
          false},
         TCALL_E_CLOSED,
         0,
         "open the request again"},
        {{{"HTTP/1.1 307 X\r\nLocation: https://other.test/\r\n\r\n"},
          0,
          0,
          0,
          false},
         TCALL_E_NOT_FOUND,
         -1,
         "other.test"},
    };
    static script s;
    static result x;
    tport_http h;
    size_t i;

    for (i = 0; i < COUNT_OF(rows); i++) {
        about = rows[i].why;
        one(&h, &s, &rows[i].p, 2000, sizeof body, &x);
        CHECK_INT(x.error, rows[i].error);
        CHECK_INT(x.res.retry_after_ms, rows[i].retry);
        CHECK(strstr(tport_http_why(&h), rows[i].why) != NULL);
        CHECK(!s.up);
        CHECK_INT(s.misuses, 0);
        tport_http_drop(&h);
    }
}

/* A good answer may begin early too: then the request is sent to its end. */
static void test_goes_on(void)
{
    static const peer p = {
        {"HTTP/1.1 100 C\r\n\r\n" OK1 "Content-Length: 2\r\n\r\nok"},
        0,
        0,
        0,
        false};
    tcall_request q = post;
    static script s;
    static result x;
    tport_http h;
    tcall_transport t;
    size_t sent = 0;
    int r, again = 0;

    about = "200 before the request is whole";
    q.body_len = sizeof body;
    memset(&s, 0, sizeof s);
    memset(&x, 0, sizeof x);
    s.peers = &p;
    s.stops = 1000;
    tport_http_init(&h, script_stream(&s), "host", "");
    t = tport_http_transport(&h);
    CHECK_INT(open_all(&t, &q, &x.res), 0);
    while (sent < sizeof body && again < 1000) {
        r = t.write(t.user, body + sent, sizeof body - sent);
        if (r == TCALL_E_AGAIN && ++again % 3 == 0)
            s.stops += 500; /* it reads slowly */
        else if (r != TCALL_E_AGAIN)
            CHECK(r > 0);
        sent += r > 0 ? (size_t)r : 0;
        if (r < 0 && r != TCALL_E_AGAIN)
            break;
    }
    s.stops = 0;
    CHECK(again > 10 && again < 1000);
    CHECK_INT(read_all(&t, &x, 100), 0);
    CHECK_INT((long)s.out_len, (long)(POST_HEAD + 3 + sizeof body));
    CHECK(x.res.status == 200 && x.len == 2 && memcmp(x.body, "ok", 2) == 0);
    t.close(t.user);
    CHECK(s.up);
    CHECK_INT(s.misuses, 0);
    tport_http_drop(&h);
}

/* ---- one write, where there is room ---- */

static int writes;

static int counting_write(void *user, const char *bytes, size_t len)
{
    writes++;
    return script_write(user, bytes, len);
}

static void test_one_write(void)
{
    static const peer p = {{A1, A1}, 0, TCALL_E_AGAIN, 0, false};
    tcall_request q = post;
    static script s;
    static result x;
    tport_stream stream = script_stream(&s);
    tport_http h;

    about = "head and body in one write";
    stream.write = counting_write;
    q.body_len = 300;
    memset(&s, 0, sizeof s);
    s.peers = &p;
    tport_http_init(&h, stream, "host", "");
    writes = 0;
    exchange(tport_http_transport(&h), &q, body, 100, &x);
    CHECK_INT(x.error, 0);
    CHECK_INT(writes, 1);
    exchange(tport_http_transport(&h), &get, body, 100, &x);
    CHECK_INT(x.error, 0);
    CHECK_INT(writes, 2);
    tport_http_drop(&h);
}

/* ---- heads that are cut ---- */

/* Cut at each byte, the head changes neither what the caller is told nor what
 * he keeps. */
static void test_cut_heads(void)
{
    static const char *const heads[] = {
        "HTTP/1.1 429 S\r\nRetry-After: 7\r\nX-Should-Retry: false\r\n"
        "A: 12345\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 100 C\r\nRetry-After: 0\r\nX-Should-Retry: true\r\nA: 1\r\n"
        "\r\nHTTP/1.1 429 S\r\nretry-after-ms: 0\r\nA: 12345\r\n"
        "Content-Length: 0\r\n\r\n",
        /* whole, but wrong */
        "HTTP/1.1 429 S\r\nRetry-After: 0\r\nA: 123\r\nContent-Length: 0\r\n"
        "Transfer-Encoding: chunked\r\n\r\n",
    };
    char value[8];
    tport_kept kept = {"a", NULL, sizeof value, 0};
    static script s;
    static result x;
    size_t i, n;

    kept.value = value;
    for (i = 0; i < COUNT_OF(heads); i++)
        for (n = 1; n <= strlen(heads[i]); n++) {
            peer p = {{NULL}, 0, 0, 0, false};
            bool whole = n == strlen(heads[i]) && i < 2;
            tport_http h;
            about = heads[i];
            p.answers[0] = heads[i];
            p.len = n;
            memset(&s, 0, sizeof s);
            memset(value, '?', sizeof value);
            s.peers = &p;
            tport_http_init(&h, script_stream(&s), "host", "");
            h.kept = &kept;
            h.kept_count = 1;
            exchange(tport_http_transport(&h), &post, "body", 100, &x);
            CHECK(whole ? x.error == 0 : x.error < 0);
            CHECK_INT(x.res.status, whole ? 429 : 0);
            CHECK_INT(x.res.retry_after_ms, !whole ? -1 : i ? 0 : 7000);
            CHECK_INT(x.res.should_retry, whole && i == 0 ? -1 : 0);
            CHECK(memchr(value, 0, sizeof value) &&
                  strcmp(value, whole ? "12345" : "") == 0 &&
                  kept.len == strlen(value));
            tport_http_drop(&h);
        }
}

/* A redirect that is cut goes nowhere, and what an earlier one said stays. */
static void test_cut_redirects(void)
{
    static const char first[] =
        "HTTP/1.1 308 P\r\nLocation: /A2\r\nContent-Length: 0\r\n\r\n";
    static const char bad[] =
        "HTTP/1.1 308 P\r\nLocation: /evil HTTP/1.1 x AAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAAAAAAAAAAA\r\nContent-Length: 0\r\nBad Name: x\r\n\r\n";
    static script s;
    static result x;
    size_t n;

    about = "a redirect whose head is cut";
    for (n = 20; n < sizeof bad; n++) {
        peer peers[4] = {{{first}, 0, 0, 0, false},
                         {{bad}, 0, 0, 0, false},
                         {{A1}, 0, 0, 0, false},
                         {{A1}, 0, 0, 0, false}};
        tport_http h;
        tcall_transport t;
        const char *last;
        int i;
        peers[1].len = n;
        memset(&s, 0, sizeof s);
        s.peers = peers;
        tport_http_init(&h, script_stream(&s), "host", "");
        t = tport_http_transport(&h);
        for (i = 0; i < 4; i++) {
            s.out_len = 0;
            memset(s.out, 0, sizeof s.out);
            exchange(t, &post, "body", 100, &x);
            CHECK(i == 0 ? x.error == TCALL_E_CLOSED
                         : (x.error < 0) == (i == 1));
            last = i ? "POST /A2 HTTP/1.1\r\n" : "POST /x HTTP/1.1\r\n";
            CHECK(strncmp(s.out, last, strlen(last)) == 0);
        }
        tport_http_drop(&h);
    }
}

/* ---- over sockets ---- */

static const char early[] = TOO_LARGE "Content-Length: 5\r\n\r\nhello";

/* Reads a little, answers, and neither reads nor closes any more. */
static pid_t start_rude(const mkcert_result *c, uint16_t *number)
{
    static server s;
    int fd = listener(number), a;
    char b[100];
    pid_t pid;

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
    while ((a = accept(fd, NULL, NULL)) >= 0) {
        if (c) {
            mbedtls_ssl_session_reset(&s.ssl);
            mbedtls_ssl_set_bio(&s.ssl, &a, fd_send, fd_recv, NULL);
            if (mbedtls_ssl_handshake(&s.ssl) != 0)
                _exit(1);
        }
        (void)visit_read(c ? &s : NULL, &a, b, sizeof b);
        visit_write(c ? &s : NULL, &a, early);
    } /* a stays open */
    _exit(0);
}

/* 8 MB, of which the server takes none: its answer comes, and no time-out. */
static void test_sockets(void)
{
    static char piece[1 << 16];
    static result x;
    tcall_request q = send4;
    int tls, blocks, again;

    q.body_len = 8000000;
    for (tls = 0; tls < 2; tls++)
        for (blocks = 0; blocks < 2; blocks++) {
            tport_desc d = {0};
            uint16_t number;
            pid_t pid = start_rude(tls ? &local : NULL, &number);
            tcall_transport t;
            size_t sent;
            int r;
            about = tls ? "413 at once, TLS" : "413 at once";
            d.ca_pem = local.ca;
            d.idle_ms = 5000 * slow;
            CHECK_INT(
                init_port(tls ? "https" : "http", "localhost", number, &d), 0);
            t = blocks ? tport_blocking(&port) : tport_transport(&port);
            memset(&x, 0, sizeof x);
            again = 0;
            r = 0;
            while ((r = t.open(t.user, &q, &x.res)) == TCALL_E_AGAIN)
                again += 1;
            CHECK_INT(r, 0);
            for (again = 0, sent = 0; sent < q.body_len && r >= 0;) {
                size_t left = q.body_len - sent;
                r = t.write(t.user, piece,
                            left < sizeof piece ? left : sizeof piece);
                if (r > 0)
                    sent += (size_t)r;
                if (r != TCALL_E_AGAIN)
                    continue;
                {
                    tcall_wait wait;
                    wait.ms = TCALL_WAIT_NEVER;
                    wait.count = 0;
                    t.wants(t.user, &wait);
                    t.wait(t.user, &wait);
                }
                again++;
                r = 0;
            }
            CHECK(r >= 0 && again < 500);
            if (r >= 0)
                r = read_all(&t, &x, 100);
            CHECK_INT(r, 0);
            CHECK_INT(x.res.status, 413);
            CHECK(x.len == 5 && memcmp(x.body, "hello", 5) == 0);
            t.close(t.user);
            tport_free(&port);
            stop_server(pid);
        }
}

int main(void)
{
    begin();
    memset(body, 'b', sizeof body);
    test_answers();
    test_errors();
    test_goes_on();
    test_one_write();
    test_cut_heads();
    test_cut_redirects();
    test_sockets();
    return check_sum("test_port_early");
}
