/* Servers over sockets, plain and with TLS: those that break off, are slow, or
 * are not who they should be. */
#define _DEFAULT_SOURCE /* usleep */
#include "script.h"

#include "peer.h"
#include "timed.h"

#include <dirent.h>
#include <malloc.h>
#include <netdb.h>
#include "rows.h"

#define OK       "HTTP/1.1 200 OK\r\n"
#define CHUNKED  OK "Transfer-Encoding: chunked\r\n\r\n"
#define HELLO    OK "Content-Length: 5\r\n\r\nhello"
#define COUNT(a) (sizeof(a) / sizeof *(a))

static mkcert_result local, other, wild, whole, past, future;

static bool made_certificates(void)
{
    static const struct {
        mkcert_result *to;
        mkcert_request q;
    } certs[] = {{&local, {"localhost", "20200101000000", "20491231235959"}},
                 {&other, {"other.test", "20200101000000", "20491231235959"}},
                 {&wild, {"*.api.test", "20200101000000", "20491231235959"}},
                 {&whole, {"*.test", "20200101000000", "20491231235959"}},
                 {&past, {"localhost", "20200101000000", "20200201000000"}},
                 {&future, {"localhost", "20480101000000", "20491231235959"}}};
    size_t i;

    for (i = 0; i < COUNT(certs); i++)
        if (mkcert(certs[i].to, &certs[i].q) != 0)
            return false;
    return true;
}

static heard y;
static tport port;

static visit nothing(unsigned n)
{
    visit v = {"", 0, 1, SILENT, 0, 0};

    (void)n;
    return v;
}

static visit hello(unsigned n)
{
    visit v = {HELLO, 0, 9, ORDERLY, 0, 0};

    (void)n;
    return v;
}

/* One exchange with a server of this kind; answers its error. */
static int visit_once(const mkcert_result *c, const char *ca,
                      visit (*nth)(unsigned), uint32_t ms)
{
    peer p = peer_start(c, nth, 20);
    tport_desc d;
    int r;

    memset(&d, 0, sizeof d);
    d.ca_pem = ca ? ca : c ? c->ca : NULL;
    d.total_ms = ms;
    y.len = 0;
    y.res.status = 0;
    r = peer_port(&port, p, c != NULL || ca, d);
    if (r == 0) {
        peer_ask(tport_blocking(&port), &y);
        r = y.error;
    }
    tport_free(&port);
    peer_stop(p);
    return r;
}

#define CUT_TEXT OK "Content-Length: 5\r\nX: y\r\n\r\nhello"
static int cut_end;

/* The n-th connection ends after n bytes; the last gets them all. */
static visit cut_nth(unsigned n)
{
    visit v = {CUT_TEXT, 0, 1, ORDERLY, 0, 0};

    v.len = n + 1;
    v.end = cut_end;
    return v;
}

/* Every early end of one answer over real sockets: an error every time, and
 * one connection for each, so that nothing was sent twice. */
static bool early_ends(bool tls, int end)
{
    peer p;
    tport_desc d;
    size_t n;
    bool told = true;

    cut_end = end;
    p = peer_start(tls ? &local : NULL, cut_nth, 60);
    memset(&d, 0, sizeof d);
    d.ca_pem = local.ca;
    d.total_ms = 5000;
    told = peer_port(&port, p, tls, d) == 0;
    for (n = 1; told && n <= sizeof CUT_TEXT - 1; n++) {
        peer_ask(tport_blocking(&port), &y);
        told = n < sizeof CUT_TEXT - 1
                   ? y.error == TCALL_E_CLOSED
                   : end == RESET || (y.error == 0 && y.len == 5);
        if (!told)
            printf("  end %d after %u bytes: %d, %u bytes of body\n", end,
                   (unsigned)n, y.error, (unsigned)y.len);
    }
    tport_free(&port);
    peer_stop(p);
    return told;
}

static bool reset_everywhere(void)
{
    return early_ends(false, RESET) && early_ends(true, RESET);
}

static bool fin_everywhere(void)
{
    return early_ends(false, FIN);
}

static bool notify_everywhere(void)
{
    return early_ends(true, FIN) && early_ends(true, ORDERLY);
}

static visit endless_fin(unsigned n)
{
    visit v = {OK "\r\nhello", 0, 1, ORDERLY, 0, 0};

    v.end = n % 2 ? ORDERLY : FIN;
    return v;
}

static visit framed_fin(unsigned n)
{
    visit v = {HELLO, 0, 1, FIN, 0, 0};

    (void)n;
    return v;
}

static bool fin_without_notify(void)
{
    return visit_once(&local, NULL, endless_fin, 5000) == TCALL_E_CLOSED &&
           visit_once(&local, NULL, framed_fin, 5000) == 0 && y.len == 5;
}

/* Sends one big body to a server that goes without reading it. The test would
 * die of SIGPIPE. */
static visit rude(unsigned n)
{
    visit v = {"", 0, -1, RESET, 0, 0};

    (void)n;
    return v;
}

static bool small_sends(void)
{
    static const tcall_request q = {"POST", "/", NULL, 0, 1 << 22};
    static char bytes[1 << 16];
    peer p = peer_start(NULL, rude, 20);
    static outcome x;
    script s;
    tport_desc d;
    tcall_transport t;
    int r;

    memset(&d, 0, sizeof d);
    d.total_ms = 5000;
    if (peer_port(&port, p, false, d) < 0)
        return false;
    t = tport_blocking(&port);
    r = t.open(t.user, &q, &y.res);
    for (size_t n = 0; r >= 0 && n < q.body_len; n += (size_t)r)
        r = t.write(t.user, bytes,
                    q.body_len - n < sizeof bytes ? q.body_len - n
                                                  : sizeof bytes);
    if (r >= 0)
        r = t.read(t.user, bytes, sizeof bytes);
    t.close(t.user);
    tport_free(&port);
    peer_stop(p);
    memset(&s, 0, sizeof s);
    s.text = HELLO;
    s.len = strlen(s.text);
    s.step = 1;
    s.stutter = true;
    script_ask(&s, "GET", 1, &x);
    /* Reset before or after connecting was seen to be over. */
    return (r == TCALL_E_CLOSED || r == TCALL_E_CONNECT) && x.error == 0 &&
           x.len == 5;
}

static char elsewhere[200];

static visit moved(unsigned n)
{
    visit v = {elsewhere, 0, 1, ORDERLY, 0, 0};

    (void)n;
    return v;
}

static bool redirects(void)
{
    uint16_t number;
    int trap = peer_listen(&number), r;
    fd_set set;
    struct timeval soon = {0, 50000};

    sprintf(elsewhere,
            "HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:%u/\r\n"
            "Content-Length: 1\r\n\r\nz",
            (unsigned)number);
    r = visit_once(NULL, NULL, moved, 5000);
    FD_ZERO(&set);
    FD_SET(trap, &set);
    r = r == TCALL_E_NOT_FOUND && y.res.status == 307 && y.len == 0 &&
        select(trap + 1, &set, NULL, NULL, &soon) == 0;
    close(trap);
    return r;
}

/* Slow and silent servers: the whole exchange has one limit. */
static visit slowly(unsigned n)
{
    visit v = {HELLO, 0, 1, ORDERLY, 30, 0};

    (void)n;
    return v;
}

static visit pings(unsigned n)
{
    visit v = {NULL, 0, 1, SILENT, 5, 0};
    static char text[4000];
    size_t i = (size_t)sprintf(text, OK "\r\n");

    (void)n;
    for (; i + 9 < sizeof text; i += 8)
        memcpy(text + i, ": ping\n\n", 9);
    v.text = text;
    return v;
}

static bool is_late(visit (*nth)(unsigned))
{
    uint32_t began = tport_posix_now_ms(), took;
    int r = visit_once(NULL, NULL, nth, 300);

    took = tport_posix_now_ms() - began;
    return r == TCALL_E_TIMEOUT && in_time((long)took, 290, 3000);
}

static visit steadily(unsigned n)
{
    visit v = {HELLO, 0, 1, ORDERLY, 20, 0};

    (void)n;
    if (getenv("TEST_TIMED")) /* all of it takes longer than the limit */
        v.pause_ms = 60;
    return v;
}

/* As long as bytes come the idle limit does not strike. */
static bool is_patient(void)
{
    peer p = peer_start(NULL, steadily, 20);
    tport_desc d;
    bool ok;

    memset(&d, 0, sizeof d);
    d.idle_ms = getenv("TEST_TIMED") ? 2000 : 5000;
    ok = peer_port(&port, p, false, d) == 0;
    if (ok)
        peer_ask(tport_blocking(&port), &y);
    ok = ok && y.error == 0 && y.len == 5;
    tport_free(&port);
    d.max_body = 4;
    ok = ok && peer_port(&port, p, false, d) == 0;
    if (ok)
        peer_ask(tport_blocking(&port), &y);
    ok = ok && y.error == TCALL_E_LIMIT;
    tport_free(&port);
    peer_stop(p);
    return ok;
}

/* A server that never reads: writing has the same limit. */
static bool is_deaf(void)
{
    static const tcall_request q = {"POST", "/", NULL, 0, 1 << 28};
    static char bytes[1 << 15];
    peer p = {0, 0};
    int fd = peer_listen(&p.port), r;
    uint32_t began = tport_posix_now_ms(), took;
    tport_desc d;
    tcall_transport t;

    memset(&d, 0, sizeof d);
    d.total_ms = 300;
    r = peer_port(&port, p, false, d);
    t = tport_blocking(&port);
    if (r == 0)
        r = t.open(t.user, &q, &y.res);
    while (r >= 0)
        r = t.write(t.user, bytes, sizeof bytes);
    t.close(t.user);
    took = tport_posix_now_ms() - began;
    tport_free(&port);
    close(fd);
    return r == TCALL_E_TIMEOUT && in_time((long)took, 290, 3000);
}

static bool slow_and_silent_servers(void)
{
    return is_late(slowly) && is_late(nothing) && is_patient() && is_deaf();
}

static bool pings_only(void)
{
    return is_late(pings);
}

/* ---- TLS ---- */

/* Connects TLS for a name to a server on this machine. */
static int greet(const mkcert_result *c, const char *name, const char *ca)
{
    peer p = peer_start(c, hello, 20);
    tport_posix socket_;
    tport_tls tls;
    tport_tls_desc d;
    tport_stream s;
    int r;

    memset(&d, 0, sizeof d);
    d.host = name;
    d.ca_pem = ca;
    tport_posix_init(&socket_, "127.0.0.1", p.port);
    r = tport_tls_init(&tls, &d, tport_posix_stream(&socket_));
    s = tport_tls_stream(&tls);
    if (r == 0)
        while ((r = s.connect(s.user)) == TCALL_E_AGAIN)
            peer_wait(s, 5000);
    tport_tls_free(&tls);
    peer_stop(p);
    return r;
}

static bool wrong_names(void)
{
    return greet(&other, "localhost", other.ca) == TCALL_E_WRONG_HOST &&
           greet(&other, "127.0.0.1", other.ca) == TCALL_E_WRONG_HOST &&
           greet(&local, "127.0.0.1", local.ca) == 0 &&
           greet(&local, "127.0.0.2", local.ca) == TCALL_E_WRONG_HOST &&
           greet(&wild, "a.api.test", wild.ca) == 0 &&
           greet(&wild, "a.b.api.test", wild.ca) == TCALL_E_WRONG_HOST &&
           greet(&wild, "api.test", wild.ca) == TCALL_E_WRONG_HOST &&
           greet(&whole, "a.test", whole.ca) == TCALL_E_WRONG_HOST;
}

static bool no_host_name(void)
{
    return greet(&local, NULL, local.ca) == TCALL_E_USAGE &&
           greet(&local, "", local.ca) == TCALL_E_USAGE;
}

static bool wrong_dates(void)
{
    return greet(&past, "localhost", past.ca) == TCALL_E_EXPIRED &&
           greet(&future, "localhost", future.ca) == TCALL_E_NOT_YET;
}

static bool unknown_ca(void)
{
    return greet(&local, "localhost", other.ca) == TCALL_E_CERTIFICATE &&
           greet(&local, "localhost", "") == TCALL_E_CERTIFICATE &&
           greet(&local, "localhost", NULL) == TCALL_E_CERTIFICATE;
}

/* Speaks as web servers do to what is no HTTP. */
static visit plain(unsigned n)
{
    visit v = {"HTTP/1.1 400 Bad Request\r\n\r\n", 0, -1, SILENT, 0, 0};

    (void)n;
    return v;
}

static bool old_and_plain_servers(void)
{
    uint32_t began = tport_posix_now_ms();
    bool ok = visit_once(NULL, local.ca, plain, 3000) == TCALL_E_TLS;

#if MBEDTLS_VERSION_NUMBER < 0x03000000
    peer_old = true;
    ok = ok && visit_once(&local, NULL, hello, 3000) == TCALL_E_TLS;
    peer_old = false;
#endif
    return ok && y.res.status == 0 &&
           in_time((long)(tport_posix_now_ms() - began), 0, 3000);
}

/* A stream that does nothing every second time, either way, and little in
 * between. */
typedef struct slow {
    tport_stream lower;
    unsigned calls, reads, writes;
} slow;

static int slow_connect(void *user)
{
    slow *s = (slow *)user;

    return s->calls++,
           s->writes++ % 2 ? TCALL_E_AGAIN : s->lower.connect(s->lower.user);
}

static int slow_read(void *user, char *b, size_t n)
{
    slow *s = (slow *)user;

    return s->calls++, s->reads++ % 2
                           ? TCALL_E_AGAIN
                           : s->lower.read(s->lower.user, b, n < 7 ? n : 7);
}

static int slow_write(void *user, const char *b, size_t n)
{
    slow *s = (slow *)user;

    return s->calls++, s->writes++ % 2
                           ? TCALL_E_AGAIN
                           : s->lower.write(s->lower.user, b, n < 7 ? n : 7);
}

static void slow_close(void *user)
{
    slow *s = (slow *)user;

    s->lower.close(s->lower.user);
}

static bool again_at_every_step(void)
{
    static const tcall_request q = {"POST", "/", NULL, 0, 1};
    peer p = peer_start(&local, hello, 20);
    tport_posix socket_;
    tport_tls tls;
    tport_tls_desc d;
    tport_http h;
    slow s;
    tport_stream stream = {slow_connect, slow_read, slow_write, slow_close,
                           NULL,         NULL,      NULL};
    unsigned turns = 0;
    char b[100];
    int r;

    memset(&d, 0, sizeof d);
    d.host = "localhost";
    d.ca_pem = local.ca;
    s.calls = s.reads = s.writes = 0;
    tport_posix_init(&socket_, "127.0.0.1", p.port);
    s.lower = tport_posix_stream(&socket_);
    stream.user = &s;
    r = tport_tls_init(&tls, &d, stream);
    tport_http_init(&h, tport_tls_stream(&tls), "localhost", "");
#define REPEAT(call)                                                    \
    while (r >= 0 && (r = (call)) == TCALL_E_AGAIN && turns++ < 5000) { \
        peer_wait(s.lower, 1);                                          \
        r = 0;                                                          \
    }
    REPEAT(tport_http_open(&h, &q, &y.res))
    REPEAT(tport_http_write(&h, "$", 1))
    REPEAT(tport_http_read(&h, b, sizeof b))
    tport_http_drop(&h);
    tport_tls_free(&tls);
    peer_stop(p);
    /* A handshake and an answer are less than 4 KB, so 600 pieces of 7. */
    return r == 5 && memcmp(b, "hello", 5) == 0 && s.calls < 5000;
}

static size_t stall_after;

static visit stalls(unsigned n)
{
    visit v = {HELLO, 0, 1, SILENT, 0, 0};

    (void)n;
    v.budget = stall_after;
    return v;
}

static bool stalled_handshakes(void)
{
    static const size_t after[] = {1, 5, 60, 100, 700, 1100, 1300};
    size_t i;

    for (i = 0; i < COUNT(after); i++) {
        uint32_t began = tport_posix_now_ms(), took;
        int r;
        stall_after = after[i];
        r = visit_once(&local, NULL, stalls, 150);
        took = tport_posix_now_ms() - began;
        if (r != TCALL_E_TIMEOUT || !in_time((long)took, 140, 3000) ||
            y.res.status)
            return false;
    }
    return true;
}

/* "localhost" is [::1] and 127.0.0.1, and the server listens to one. */
static bool second_address(void)
{
    struct addrinfo hints, *list;
    int first;

    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(NULL, "80", &hints, &list) != 0)
        return false;
    first = list->ai_family;
    freeaddrinfo(list);
    if (first != AF_INET6)
        puts("  (here 127.0.0.1 is the first address of localhost)");
    return visit_once(NULL, NULL, hello, 5000) == 0 && y.len == 5;
}

static bool two_certificates(void)
{
    bool ok;

    peer_second = &other;
    ok = greet(&local, "other.test", other.ca) == 0 &&
         greet(&local, "localhost", local.ca) == 0 &&
         greet(&local, "third.test", local.ca) == TCALL_E_WRONG_HOST;
    peer_second = NULL;
    return ok;
}

/* ---- many exchanges ---- */

/* Nine answers a connection; each fifth connection is cut off. */
static visit nine(unsigned n)
{
    visit v = {HELLO, 0, 9, ORDERLY, 0, 0};

    if (n % 5 == 4) {
        v.len = 20;
        v.most = 1;
    }
    return v;
}

static int open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

typedef struct held {
    int descriptors; /* at most, as below */
    size_t bytes;    /* of the heap */
} held;

static void look_at(held *most)
{
    struct mallinfo2 heap = mallinfo2();
    int descriptors = open_descriptors();

    if (descriptors > most->descriptors)
        most->descriptors = descriptors;
    if (heap.uordblks > most->bytes)
        most->bytes = heap.uordblks;
}

/* What the last tenth of the exchanges holds at most is what the first tenth
 * did. EXCHANGES=10000 asks for so many; each server is in one process. */
static bool holds_no_more(const mkcert_result *c)
{
    long count = getenv("EXCHANGES") ? atol(getenv("EXCHANGES")) : 300;
    held first = {0, 0}, last = {0, 0};
    long i, good = 0;
    peer p = peer_start(c, nine, 280);
    tport_desc d;
    bool same;

    memset(&d, 0, sizeof d);
    d.ca_pem = c ? c->ca : NULL;
    d.total_ms = 5000;
    if (peer_port(&port, p, c != NULL, d) != 0)
        count = 0;
    for (i = 0; i < count; i++) {
        y.len = 0;
        peer_ask(tport_blocking(&port), &y);
        good += y.error == 0 && y.len == 5;
        if (i < count / 10)
            look_at(&first);
        else if (i >= count - count / 10)
            look_at(&last);
    }
    tport_free(&port);
    peer_stop(p);
    same = last.descriptors == first.descriptors && last.bytes <= first.bytes;
    if (!same || getenv("EXCHANGES"))
        printf("     %ld exchanges, %ld good, %s: at most %d descriptors and "
               "%lu bytes of the heap, at the end %d and %lu\n",
               count, good, c ? "TLS" : "plain", first.descriptors,
               (unsigned long)first.bytes, last.descriptors,
               (unsigned long)last.bytes);
    return same && count && good > count * 3 / 4;
}

static bool many_exchanges(void)
{
    return holds_no_more(NULL) && holds_no_more(&local);
}

int main(void)
{
    static const row rows[] = {
        {"RST at every byte, plain and TLS", reset_everywhere},
        {"send takes 1 byte; EAGAIN; no SIGPIPE", small_sends},
        {"redirect", redirects},
        {"wrong name, wildcard, address", wrong_names},
        {"no host name", no_host_name},
        {"expired, not yet valid", wrong_dates},
        {"unknown CA, no CA", unknown_ca},
        {"TLS 1.1 at most, plain server", old_and_plain_servers},
        {"FIN without close_notify", fin_without_notify},
        {"again at every step, no spin", again_at_every_step},
        {"stall in each flight of the handshake", stalled_handshakes},
        {"first address refuses", second_address},
        {"two certificates by SNI", two_certificates},
        {"pings only", pings_only},
        {"many exchanges hold no more than few", many_exchanges},
        {"FIN at every byte, plain", fin_everywhere},
        {"FIN and close_notify at every byte, TLS", notify_everywhere},
        {"slow and silent server", slow_and_silent_servers},
    };

    alarm(300);
    if (!made_certificates())
        return 1;
    return run_rows("test_port_sockets", rows, COUNT(rows));
}
