/* The transport over libcurl, against the peers that port/ is tested with:
 * answers that are whole or end early, certificates, keeping connections, and
 * what an agent makes of it. Skipped where libcurl's header is missing. */
#ifdef __has_include
#if __has_include(<curl/curl.h>)
#define HAVE_CURL 1
#endif
#endif

#ifndef HAVE_CURL
#include <stdio.h>

int main(void)
{
    printf("SKIPPED: libcurl's header is not there\n"
           "test_port_curl: 0 passed, 0 failed, 1 skipped\n");
    return 0;
}
#else
#include "port/curl.c"

#include "peer.h"

#include "check.h"

#include <fcntl.h>

#define OK1    "HTTP/1.1 200 OK\r\n"
#define CLOSES "Connection: close\r\n"

static mkcert_result local, other, past;
static tport_curl curl;
static heard y;
static const char *said;
static int ending;
static size_t most;

/* Sleeps where there is nothing to do; answers how often it did that. */
static int sleep_(tcall_transport t)
{
    tcall_wait wait;

    memset(&wait, 0, sizeof wait);
    wait.ms = TCALL_WAIT_NEVER;
    t.wants(t.user, &wait);
    tcall_wait_ms(&wait, TCALL_WAIT_MOST_MS);
    CHECK(wait.count > 0 || wait.ms <= 1000);
    if (wait.ms)
        t.wait(t.user, &wait);
    return 1;
}

/* One exchange; answers how often it slept. */
static int ask(size_t piece)
{
    static const tcall_header key[] = {{"Authorization", "Bearer ", "canary"}};
    static const tcall_request q = {"POST", "/v1", key, 1, 1};
    tcall_transport t = tport_curl_transport(&curl);
    int r, slept = 0;

    y.len = 0;
    while ((r = t.open(t.user, &q, &y.res)) == TCALL_E_AGAIN)
        slept += sleep_(t);
    while (r == 0 && (r = t.write(t.user, "$", 1)) == TCALL_E_AGAIN) {
        slept += sleep_(t);
        r = 0;
    }
    while (r > 0 || r == TCALL_E_AGAIN) {
        if (r == TCALL_E_AGAIN)
            slept += sleep_(t);
        r = t.read(t.user, y.body + y.len,
                   piece < sizeof y.body - y.len ? piece
                                                 : sizeof y.body - y.len);
        y.len += r > 0 ? (size_t)r : 0;
    }
    y.error = r;
    t.close(t.user);
    return slept;
}

static bool curl_begin(peer p, bool secure, const char *ca, uint32_t ms)
{
    tport_curl_desc d;
    char url[64];

    memset(&d, 0, sizeof d);
    snprintf(url, sizeof url, "%s://localhost:%u", secure ? "https" : "http",
             (unsigned)p.port);
    d.url = url;
    d.ca_pem = ca;
    d.total_ms = ms;
    d.insecure_plain_http = !secure;
    return tport_curl_init(&curl, &d) == TCALL_OK;
}

static visit nth(unsigned n)
{
    visit v = {NULL, 0, 1, ORDERLY, 0, 0};

    (void)n;
    v.text = said;
    v.end = ending;
    v.most = (int)most;
    return v;
}

static char why[CURL_ERROR_SIZE]; /* of the last exchange that once did */

/* Answers what came of one exchange with a server that says text. */
static int once(const mkcert_result *c, const char *ca, const char *text,
                int how)
{
    peer p;

    said = text;
    ending = how;
    most = 1;
    p = peer_start(c, nth, 20);
    CHECK(curl_begin(p, c != NULL, ca, 3000));
    ask(7);
    snprintf(why, sizeof why, "%s", tport_curl_error(&curl));
    tport_curl_free(&curl);
    peer_stop(p);
    return y.error;
}

static void test_answers(void)
{
    static const char *const good[] = {
        OK1 "Content-Length: 5\r\n\r\nhello",
        OK1
        "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n" OK1 "Content-Length: 5\r\n\r\nhello",
        OK1 "Connection: close\r\n\r\nhello"};
    size_t i;
    int tls;

    for (i = 0; i < 4; i++)
        for (tls = 0; tls < 2; tls++) {
            CHECK(once(tls ? &local : NULL, local.ca, good[i], ORDERLY) == 0);
            CHECK(y.res.status == 200 && y.len == 5 &&
                  memcmp(y.body, "hello", 5) == 0);
        }
    CHECK(once(NULL, NULL, "HTTP/1.1 204 No\r\n\r\n", ORDERLY) == 0);
    CHECK(y.res.status == 204 && y.len == 0);
    CHECK(once(NULL, NULL,
               "HTTP/1.1 429 No\r\nRetry-After: 3\r\n"
               "X-Should-Retry: false\r\nContent-Length: 2\r\n"
               "\r\nno",
               ORDERLY) == 0);
    CHECK(y.res.status == 429 && y.res.retry_after_ms == 3000 &&
          y.res.should_retry == -1 && y.len == 2);
    CHECK(once(NULL, NULL,
               "HTTP/1.1 429 No\r\nRetry-After-Ms: 70\r\n"
               "Content-Length: 0\r\n\r\n",
               ORDERLY) == 0);
    CHECK(y.res.retry_after_ms == 70 && y.res.should_retry == 0);
    CHECK(once(NULL, NULL, "SSH-2.0\r\n\r\n", ORDERLY) < 0);
    CHECK(once(NULL, NULL,
               "HTTP/1.1 307 There\r\nLocation: https://other.test/x\r\n"
               "Content-Length: 2\r\n\r\nno",
               ORDERLY) == TCALL_E_NOT_FOUND);
    CHECK(strstr(why, "https://other.test/x") != NULL);
}

/* Moved for one request, then for good, each time with words that nobody reads;
 * then in a circle. */
static visit moves(unsigned n)
{
    static const char *const answers[] = {
        "HTTP/1.1 307 There\r\nLocation: /once\r\n" CLOSES
        "Content-Length: 5\r\n\r\nmoved",
        OK1 CLOSES "Content-Length: 5\r\n\r\nhello",
        "HTTP/1.1 308 There\r\nLocation: /always?x=1\r\n" CLOSES
        "Content-Length: 5\r\n\r\nmoved",
        OK1 CLOSES "Content-Length: 5\r\n\r\nhello",
        OK1 CLOSES "Content-Length: 5\r\n\r\nhello",
        "HTTP/1.1 307 There\r\nLocation: /circle\r\n" CLOSES
        "Content-Length: 0\r\n\r\n"};
    visit v = {NULL, 0, 1, ORDERLY, 0, 0};

    v.text = answers[n < TCALL_ARRAY_LEN(answers) ? n : 5];
    return v;
}

static bool went_to(const char *path)
{
    const char *url = NULL;

    curl_easy_getinfo(curl.easy, CURLINFO_EFFECTIVE_URL, &url);
    return url && strlen(url) > strlen(path) &&
           strcmp(url + strlen(url) - strlen(path), path) == 0;
}

static bool was_moved(void)
{
    ask(7);
    return y.error == TCALL_E_CLOSED && y.len == 0 && y.res.status == 0 &&
           y.res.retry_after_ms == 0;
}

static bool is_answered(void)
{
    ask(7);
    return y.error == 0 && y.res.status == 200 && y.len == 5;
}

static void test_redirects(void)
{
    peer p = peer_start(&local, moves, 20);
    int i;

    CHECK(curl_begin(p, true, local.ca, 3000));
    CHECK(was_moved() && went_to("/v1"));
    CHECK(is_answered() && went_to("/once"));
    CHECK(was_moved() && went_to("/v1"));
    CHECK(is_answered() && went_to("/always?x=1"));
    CHECK(is_answered() && went_to("/always?x=1"));
    for (i = 0; i < TPORT_CURL_MAX_REDIRECTS; i++)
        CHECK(was_moved());
    ask(7);
    CHECK(y.error == TCALL_E_LIMIT);
    CHECK(strstr(tport_curl_error(&curl), "too many redirects") != NULL);
    tport_curl_free(&curl);
    peer_stop(p);
}

/* An answer that ends early is an error, wherever that is. */
static visit cut_nth(unsigned n)
{
    visit v = {OK1 "Content-Length: 5\r\nX: y\r\n\r\nhello", 0, 1, FIN, 0, 0};

    v.len = n + 1;
    return v;
}

static void test_early_ends(void)
{
    size_t n, all = strlen(cut_nth(0).text);
    int tls;

    for (tls = 0; tls < 2; tls++) {
        peer p = peer_start(tls ? &local : NULL, cut_nth, 60);
        CHECK(curl_begin(p, tls, local.ca, 5000));
        for (n = 1; n <= all; n++) {
            ask(7);
            CHECK(n < all ? y.error < 0 : y.error == 0 && y.len == 5);
            if (n < all && y.error >= 0)
                printf("  after %u bytes: %d\n", (unsigned)n, y.error);
        }
        tport_curl_free(&curl);
        peer_stop(p);
    }
}

/* Nothing is taken over of a head that is cut, or of a trailer. */
static visit cut_advice(unsigned n)
{
    visit v = {"HTTP/1.1 100 C\r\nRetry-After-Ms: 0\r\n\r\n"
               "HTTP/1.1 429 No\r\nRetry-After-Ms: 0\r\n"
               "X-Should-Retry: false\r\nContent-Length: 2\r\n",
               0,
               1,
               FIN,
               0,
               0};

    v.len = n + 1;
    return v;
}

static void test_cut_heads(void)
{
    size_t n, all = strlen(cut_advice(0).text);
    peer p = peer_start(NULL, cut_advice, 60);

    CHECK(curl_begin(p, false, NULL, 5000));
    for (n = 1; n <= all; n++) {
        ask(7);
        CHECK(y.error < 0 && y.res.status == 0 && y.res.retry_after_ms == -1 &&
              y.res.should_retry == 0);
    }
    tport_curl_free(&curl);
    peer_stop(p);
    CHECK(once(NULL, NULL,
               OK1 "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
                   "X-Should-Retry: false\r\n\r\n",
               ORDERLY) == 0);
    CHECK(y.res.should_retry == 0 && y.len == 2);
}

/* An answer before the request is whole, and then nothing is read any more. */
static void test_early(void)
{
    static const char early[] =
        "HTTP/1.1 413 No\r\nContent-Length: 40000\r\n\r\n";
    static char piece[32768];
    tcall_request q = {"POST", "/v1", NULL, 0, 8000000};
    tcall_transport t;
    size_t sent = 0;
    peer p;
    int fd = peer_listen(&p.port), r;

    fflush(stdout);
    p.pid = fork();
    if (p.pid == 0) {
        char b[100];
        int a = accept(fd, NULL, NULL);
        alarm(30);
        (void)!read(a, b, sizeof b);
        (void)!write(a, early, sizeof early - 1);
        memset(piece, 'x', sizeof piece);
        (void)!write(a, piece, 20000);
        (void)!write(a, piece, 20000);
        pause();
        _exit(0);
    }
    close(fd);
    CHECK(curl_begin(p, false, NULL, 15000));
    t = tport_curl_transport(&curl);
    while ((r = t.open(t.user, &q, &y.res)) == TCALL_E_AGAIN)
        sleep_(t);
    while (r >= 0 && sent < q.body_len) {
        size_t left = q.body_len - sent;
        r = t.write(t.user, piece, left < sizeof piece ? left : sizeof piece);
        sent += r > 0 ? (size_t)r : 0;
        if (r == TCALL_E_AGAIN)
            r = (sleep_(t), 0);
    }
    CHECK(r >= 0);
    for (y.len = 0; r >= 0; y.len += (size_t)r) {
        r = t.read(t.user, piece, sizeof piece);
        if (r == TCALL_E_AGAIN)
            r = (sleep_(t), 0);
        else if (r == 0)
            break;
    }
    CHECK(r == 0 && y.res.status == 413 && y.len == 40000);
    t.close(t.user);
    tport_curl_free(&curl);
    peer_stop(p);
}

static void test_trust(void)
{
    static const char hello[] = OK1 "Content-Length: 5\r\n\r\nhello";

    CHECK(once(&local, NULL, hello, ORDERLY) == TCALL_E_CERTIFICATE);
    CHECK(*y.body == 0 || y.len == 0);
    CHECK(once(&local, other.ca, hello, ORDERLY) == TCALL_E_CERTIFICATE);
    CHECK(once(&other, other.ca, hello, ORDERLY) == TCALL_E_CERTIFICATE);
    CHECK(once(&past, past.ca, hello, ORDERLY) == TCALL_E_CERTIFICATE);
}

/* Three requests over one connection, then over a new one where the server has
 * ended it. */
static void test_kept(void)
{
    peer p;
    int i, opened = 0;

    said = OK1 "Content-Length: 5\r\n\r\nhello";
    ending = ORDERLY;
    most = 3;
    p = peer_start(&local, nth, 30);
    CHECK(curl_begin(p, true, local.ca, 5000));
    for (i = 0; i < 6; i++) {
        long connects = 0;
        ask(100);
        if (y.error == TCALL_E_CLOSED && i == 3) {
            /* The body was on its way: an agent sends the request again. */
            CHECK(y.res.status == 0 && y.res.retry_after_ms == 0);
            curl_easy_getinfo(curl.easy, CURLINFO_NUM_CONNECTS, &connects);
            opened += (int)connects;
            ask(100);
        }
        CHECK(y.error == 0 && y.len == 5);
        curl_easy_getinfo(curl.easy, CURLINFO_NUM_CONNECTS, &connects);
        opened += (int)connects;
    }
    CHECK(opened == 2 || opened == 3);
    tport_curl_free(&curl);
    peer_stop(p);
}

static int sockets(bool *inherited)
{
    int fd, count = 0, flags;

    for (fd = 3; fd < 64; fd++)
        if ((flags = fcntl(fd, F_GETFD)) >= 0) {
            count++;
            *inherited = *inherited || !(flags & FD_CLOEXEC);
        }
    return count;
}

static char block[32768];
static tcall tc;
static tcall_agent agent;

static bool agent_begin(uint32_t max_ms)
{
    tcall_desc d;
    tcall_agent_desc a;

    memset(&d, 0, sizeof d);
    memset(&a, 0, sizeof a);
    d.block = block;
    d.lenient = &tcall_lenient;
    d.block_size = sizeof block;
    a.tc = &tc;
    a.provider = &tcall_openai;
    a.model = "$"; /* with which the peer's request ends */
    a.max_ms = max_ms;
    a.max_tries = 1;
    a.transport = tport_curl_transport(&curl);
    return tcall_init(&tc, &d) == TCALL_OK &&
           tcall_agent_init(&agent, &a) == TCALL_OK;
}

/* A server that says nothing: the turn ends at its limit, or by a cancel, after
 * few steps. */
static void test_silence(void)
{
    int tls, how, r, steps;

    for (tls = 0; tls < 2; tls++)
        for (how = 0; how < 2; how++) {
            peer p;
            said = "";
            ending = SILENT;
            most = 1;
            p = peer_start(tls ? &local : NULL, nth, 20);
            CHECK(curl_begin(p, tls, local.ca, 20000));
            CHECK(agent_begin(how ? 0 : 600));
            r = tcall_agent_say(&agent, tcall_str_of("hello"));
            for (steps = 0; r == TCALL_OK || r == TCALL_E_AGAIN; steps++) {
                r = tcall_agent_step(&agent);
                if (how && steps == 8)
                    tcall_agent_cancel(&agent);
                if (r == TCALL_E_AGAIN)
                    tcall_agent_wait(&agent);
                if (r == TCALL_OK)
                    break;
            }
            CHECK(r == (how ? TCALL_E_CANCELLED : TCALL_E_TIMEOUT));
            CHECK(steps < 60);
            tport_curl_free(&curl);
            peer_stop(p);
        }
}

static void test_refused(void)
{
    tport_curl_desc d;
    tcall_transport t;
    tcall_header bad[] = {{"X", "a\r\nY: b", NULL}};
    tcall_request q = {"POST", "/", bad, 1, 0};

    memset(&d, 0, sizeof d);
    CHECK(tport_curl_init(&curl, &d) == TCALL_E_USAGE);
    tport_curl_free(&curl);
    d.url = "http://localhost";
    CHECK(tport_curl_init(&curl, &d) == TCALL_E_USAGE &&
          strstr(tport_curl_error(&curl), "insecure_plain_http"));
    tport_curl_free(&curl);
    d.url = "https://localhost:1/";
    CHECK(tport_curl_init(&curl, &d) == TCALL_OK);
    t = tport_curl_transport(&curl);
    CHECK(t.open(t.user, &q, &y.res) == TCALL_E_USAGE);
    t.close(t.user);
    ask(7); /* nobody listens there */
    CHECK(y.error == TCALL_E_CONNECT && *tport_curl_error(&curl));
    tport_curl_free(&curl);
}

int main(void)
{
    static const struct {
        mkcert_result *to;
        mkcert_request q;
    } certs[] = {{&local, {"localhost", "20200101000000", "20491231235959"}},
                 {&other, {"other.test", "20200101000000", "20491231235959"}},
                 {&past, {"localhost", "20200101000000", "20210101000000"}}};
    size_t i;
    bool inherited = false;
    int before;

    alarm(200);
    signal(SIGPIPE, SIG_IGN);
    CHECK(mkcert_begin() == 0);
    for (i = 0; i < 3; i++)
        CHECK(mkcert(certs[i].to, &certs[i].q) == 0);
    test_refused();
    before = sockets(&inherited);
    test_answers();
    test_redirects();
    test_early_ends();
    test_cut_heads();
    test_early();
    test_trust();
    test_kept();
    test_silence();
    inherited = false;
    CHECK(sockets(&inherited) == before);
    return check_sum("test_port_curl");
}
#endif
