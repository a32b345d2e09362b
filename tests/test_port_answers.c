/* HTTP answers: those that are right, in any pieces and cut anywhere, those
 * that are refused, limits, and that nothing of one is left in the next. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "port_script.h"

/* ---- answers that are right ---- */

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

int main(void)
{
    test_pairs();
    test_splits();
    test_early_ends();
    test_refusals();
    test_limits();
    return check_sum("test_port_answers");
}
