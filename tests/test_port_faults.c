/* Every call of the system fails once: the first, the second, ... until a run
 * has none left that could. Two exchanges over TLS with a real server must
 * then end with an error or with the right answer, leave no memory and no
 * socket behind, make no more calls than they need, and work the next time.
 *
 * The linker puts our functions in front of the system's: see the Makefile. */
#define _GNU_SOURCE /* EAI_... */
#include "peer.h"
#include "timed.h"

#include "check.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <time.h>

enum {
    MEMORY,
    SOCKET,
    CONNECT,
    RECV,
    SEND,
    RESOLVE,
    ENTROPY,
    MALLOC,
    PIPE,
    THREAD,
    KINDS
};

static const char *const names[] = {
    "calloc",      "socket",  "connect", "recv", "send",
    "getaddrinfo", "entropy", "malloc",  "pipe", "thread"};

static struct {
    bool on;
    int kind;
    unsigned nth;  /* the one that fails, from 1 */
    unsigned more; /* ... and as many after it */
    int error;     /* errno, or what is answered */
    unsigned calls[KINDS];
    long memory, sockets, lists; /* alive */
    uint32_t ahead;              /* milliseconds that the clock is ahead */
} now;

static bool fails(int kind)
{
    unsigned n;

    if (!now.on)
        return false;
    n = ++now.calls[kind];
    if (kind != now.kind || n < now.nth || n > now.nth + now.more)
        return false;
    errno = now.error;
    return true;
}

/* clang-format off */
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void __real_free(void *p);
void __wrap_free(void *p);
int __real_socket(int a, int b, int c);
int __wrap_socket(int a, int b, int c);
int __real_connect(int fd, const struct sockaddr *a, socklen_t n);
int __wrap_connect(int fd, const struct sockaddr *a, socklen_t n);
ssize_t __real_recv(int fd, void *b, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *b, size_t n, int flags);
ssize_t __real_send(int fd, const void *b, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *b, size_t n, int flags);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_getaddrinfo(const char *h, const char *s, const struct addrinfo *i, struct addrinfo **r);
int __wrap_getaddrinfo(const char *h, const char *s, const struct addrinfo *i, struct addrinfo **r);
void __real_freeaddrinfo(struct addrinfo *r);
void __wrap_freeaddrinfo(struct addrinfo *r);
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
int __real_pipe2(int ends[2], int flags);
int __wrap_pipe2(int ends[2], int flags);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *user);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *user);
int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __real_mbedtls_entropy_func(void *user, unsigned char *b, size_t n);
int __wrap_mbedtls_entropy_func(void *user, unsigned char *b, size_t n);
/* clang-format on */

void *__wrap_calloc(size_t n, size_t size)
{
    void *p = fails(MEMORY) ? NULL : __real_calloc(n, size);

    now.memory += p != NULL;
    return p;
}

void __wrap_free(void *p)
{
    now.memory -= p != NULL;
    __real_free(p);
}

int __wrap_socket(int a, int b, int c)
{
    int fd = fails(SOCKET) ? -1 : __real_socket(a, b, c);

    now.sockets += fd >= 0;
    return fd;
}

int __wrap_connect(int fd, const struct sockaddr *a, socklen_t n)
{
    return fails(CONNECT) ? -1 : __real_connect(fd, a, n);
}

/* Error 0 is the end of the stream. */
ssize_t __wrap_recv(int fd, void *b, size_t n, int flags)
{
    if (fails(RECV))
        return now.error ? -1 : 0;
    return __real_recv(fd, b, n, flags);
}

ssize_t __wrap_send(int fd, const void *b, size_t n, int flags)
{
    if (!fails(SEND))
        return __real_send(fd, b, n, flags);
    if (now.error == EPIPE) /* then the peer is gone indeed */
        shutdown(fd, SHUT_RDWR);
    return -1;
}

int __wrap_close(int fd)
{
    now.sockets--;
    return __real_close(fd);
}

void *__wrap_malloc(size_t n)
{
    void *p = fails(MALLOC) ? NULL : __real_malloc(n);

    now.memory += p != NULL;
    return p;
}

int __wrap_pipe2(int ends[2], int flags)
{
    int r = fails(PIPE) ? -1 : __real_pipe2(ends, flags);

    now.sockets += r == 0 ? 2 : 0;
    return r;
}

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a,
                          void *(*f)(void *), void *user)
{
    return fails(THREAD) ? now.error : __real_pthread_create(t, a, f, user);
}

/* The name that the resolver is asked for is this machine's. */
int __wrap_getaddrinfo(const char *h, const char *s, const struct addrinfo *i,
                       struct addrinfo **r)
{
    int e;

    if (h && strcmp(h, "peer.test") == 0 && !(i->ai_flags & AI_NUMERICHOST))
        h = NULL;
    e = fails(RESOLVE) ? now.error : __real_getaddrinfo(h, s, i, r);
    now.lists += e == 0;
    return e;
}

void __wrap_freeaddrinfo(struct addrinfo *r)
{
    now.lists--;
    __real_freeaddrinfo(r);
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    int r = __real_clock_gettime(id, t);

    t->tv_nsec += (long)(now.ahead % 1000) * 1000000;
    t->tv_sec += (time_t)(now.ahead / 1000) + t->tv_nsec / 1000000000;
    t->tv_nsec %= 1000000000;
    return r;
}

int __wrap_mbedtls_entropy_func(void *user, unsigned char *b, size_t n)
{
    return fails(ENTROPY) ? now.error : __real_mbedtls_entropy_func(user, b, n);
}

/* ---- what is run ---- */

static visit greet(unsigned n)
{
    visit v = {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
               "5\r\nhello\r\n0\r\n\r\n",
               0,
               2,
               SILENT,
               0,
               0};

    (void)n;
    return v;
}

static mkcert_result cert;
static peer server;

static bool is_right(const heard *x)
{
    return x->error == 0 && x->len == 5 && memcmp(x->body, "hello", 5) == 0;
}

static const char *host = "localhost";

/* Two exchanges on one connection. Answers the first error. */
static int run(bool tls)
{
    char url[64];
    static tport port;
    static heard x;
    tport_desc d;
    int r, k;

    memset(&d, 0, sizeof d);
    d.ca_pem = cert.ca;
    d.total_ms = 20000;
    snprintf(url, sizeof url, "%s://%s:%u", tls ? "https" : "http", host,
             (unsigned)server.port);
    d.url = url;
    d.insecure_plain_http = true;
    r = tport_init(&port, &d);
    for (k = 0; k < 2 && r == 0; k++) {
        peer_ask(tport_blocking(&port), &x);
        r = x.error;
        if (r == 0 && !is_right(&x))
            r = 1;
    }
    if (r < 0 && !tport_error(&port)[0]) /* every error has its words */
        r = 1;
    tport_free(&port);
    return r;
}

static unsigned all_calls(void)
{
    unsigned n = 0;
    int i;

    for (i = SOCKET; i < KINDS; i++)
        n += now.calls[i];
    return n;
}

static bool all; /* FAULTS_ALL=1 */

/* The n to try after this one. A handshake allocates 27,000 times, nearly all
 * of them in the arithmetic of one curve: of those some will do, unless all
 * are asked for, which takes a quarter of an hour. */
static unsigned next(unsigned n, int kind)
{
    return n + 1 + (kind == MEMORY && !all && n > 45 ? n / 4 : 0);
}

/* The thread that asks the resolver may still be on its way out. */
static void settle(long memory)
{
    int i;

    for (i = 0; i < 200 && (now.memory != memory || now.sockets || now.lists);
         i++)
        usleep(1000);
}

/* What PSA holds is no leak, and it would ask for entropy only once. */
static void forget_psa(void)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
    mbedtls_psa_crypto_free();
#endif
}

/* harmless: what fails so must not be felt. */
static void sweep(int kind, int error, bool harmless, bool tls)
{
    unsigned failures = 0, most = 0, same = 0;
    bool clean = true, told = true, calm = true, last = false;
    uint32_t began = tport_posix_now_ms();
    long memory;

    forget_psa();
    memory = now.memory;
    now.kind = kind;
    now.error = error;
    for (now.nth = 1; !last; now.nth = next(now.nth, kind)) {
        int r;
        memset(now.calls, 0, sizeof now.calls);
        forget_psa();
        now.on = true;
        r = run(tls);
        now.on = false;
        forget_psa();
        settle(memory);
        last = now.calls[kind] < now.nth;
        failures += !last;
        same += r == TCALL_E_MEMORY;
        most = most > all_calls() ? most : all_calls();
        calm = calm && all_calls() < 400;
        clean =
            clean && now.memory == memory && now.sockets == 0 && now.lists == 0;
        told = told && (last || harmless ? r == 0 : r <= 0);
        if (!told || !clean || !calm) {
            printf("  %s %u fails with %d: error %d, memory %ld, sockets %ld, "
                   "%u calls\n",
                   names[kind], now.nth, error, r, now.memory - memory,
                   now.sockets, all_calls());
            break;
        }
        if (!harmless && now.nth == 1) /* the next time it works */
            told = told && run(tls) == 0;
    }
    CHECK(told);
    CHECK(clean);
    CHECK(calm);
    CHECK(failures > 0);
    CHECK(kind != MEMORY || same > failures / 3);
    printf("%-11s %-5s error %4d: %5u failures, %u told as memory, at most %u "
           "other calls, %u ms\n",
           names[kind], tls ? "TLS" : "plain", error, failures, same, most,
           (unsigned)(tport_posix_now_ms() - began));
}

static visit silence(unsigned n)
{
    visit v = {"", 0, 1, SILENT, 0, 0};

    (void)n;
    return v;
}

/* The clock of milliseconds passes 2^32 in the middle of a wait: the limit
 * strikes when it should, and not at once. */
static void test_wrap(void)
{
    static tport port;
    static heard x;
    peer p = peer_start(NULL, silence, 30);
    tport_desc d;
    uint32_t took;

    memset(&d, 0, sizeof d);
    d.total_ms = 200;
    now.ahead = 0xffffffff - tport_posix_now_ms() - 100;
    CHECK(peer_port(&port, p, false, d) == 0);
    took = tport_posix_now_ms();
    peer_ask(tport_blocking(&port), &x);
    CHECK(x.error == TCALL_E_TIMEOUT);
    CHECK(took > 0xf0000000 && tport_posix_now_ms() < 0x10000000);
    took = tport_posix_now_ms() - took;
    CHECK(in_time((long)took, 200, 2000));
    tport_free(&port);
    peer_stop(p);
    now.ahead = 0;
}

int main(void)
{
    static const mkcert_request q = {"localhost", "20200101000000",
                                     "20491231235959"};
    long memory;
    int tls;

    all = getenv("FAULTS_ALL") != NULL;
    alarm(all ? 6000 : 300);
    CHECK(mkcert(&cert, &q) == 0);
    memory = now.memory;
    for (tls = 0; tls < 2; tls++) {
        server = peer_start(tls ? &cert : NULL, greet, 6000);
        now.sockets = 0;
        CHECK(run(tls) == 0);
        sweep(SOCKET, EMFILE, false, tls);
        sweep(CONNECT, ECONNREFUSED, false, tls);
        sweep(CONNECT, ENETUNREACH, false, tls);
        sweep(RECV, ECONNRESET, false, tls);
        sweep(RECV, 0, false, tls);
        if (!tls)
            sweep(RECV, EINTR, true, tls);
        sweep(RECV, EAGAIN, true, tls);
        sweep(SEND, EPIPE, false, tls);
        if (!tls)
            sweep(SEND, EINTR, true, tls);
        sweep(SEND, EAGAIN, true, tls);
        sweep(RESOLVE, EAI_FAIL, false, tls);
        sweep(RESOLVE, EAI_MEMORY, false, tls);
        if (!tls) {
            host = "peer.test";
            CHECK(run(tls) == 0);
            settle(memory);
            sweep(RESOLVE, EAI_AGAIN, false, tls);
            sweep(MALLOC, ENOMEM, false, tls);
            sweep(PIPE, EMFILE, false, tls);
            sweep(THREAD, EAGAIN, false, tls);
            host = "localhost";
        } else {
            sweep(ENTROPY, -1, false, tls);
            sweep(MEMORY, ENOMEM, false, tls);
        }
        peer_stop(server);
    }
    test_wrap();
    return check_sum("test_port_faults");
}
