/* HTTP requests, and exchanges that follow each other on a connection. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "port_script.h"

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

/* Two exchanges; answers the number of connections they took. */
static int twice(const tcall_request *q, const peer *peers, result *second)
{
    static script s;
    static result first;
    tport_http h;
    tcall_transport t;

    memset(&s, 0, sizeof s);
    s.peers = peers;
    s.most = 512; /* a long head takes several writes */
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
        s.most = 256;
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
    s.most = POST_HEAD; /* the body goes by itself */
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

int main(void)
{
    test_should_retry();
    test_kept();
    test_request_bytes();
    test_request_refusals();
    test_misuse();
    test_given_up();
    test_keep_alive();
    test_stale();
    test_no_retry_when_fresh();
    test_retry_after();
    return check_sum("test_port_exchange");
}
