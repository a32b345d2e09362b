/*
 * driven.h - a server in the test's own process, and a clock that the test
 * turns
 *
 * poll is put in front of the system's: it lets the server do what it can, and
 * where nothing comes of that it turns the clock to the end of the wait instead
 * of sleeping. The linker's --wrap does that: see the Makefile.
 */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <time.h>

static struct {
    uint32_t ms;   /* the time */
    int sleeps;    /* polls that ended without an event */
    int wakes;     /* polls that ended with one */
    int forever;   /* sleeps without an end */
    int patience;  /* real milliseconds for the kernel and for threads */
    uint32_t then; /* when to call alarm; 0: never */
    void (*alarm)(void);
    bool wakes_up;  /* the alarm is a signal, which ends the sleep */
    int inherited;  /* sockets and pipes that a new program would get */
    int unresolved; /* a pipe; its name's resolver waits for a byte */
} driven;

typedef struct server {
    int listener, fd, other[4];
    uint16_t port;
    peer_tls *tls;              /* NULL: plain */
    bool up;                    /* the handshake is over */
    bool deaf;                  /* reads nothing */
    size_t budget;              /* bytes to the client, TLS's too */
    size_t got;                 /* bytes of the request in text */
    const char *const *answers; /* to one request after the other */
    size_t said, len;           /* of the present answer */
    int requests;
    char text[16384];
    size_t moved; /* bytes either way */
} server;

static server its;

/* ---- the server ---- */

static int its_send(void *user, const unsigned char *b, size_t n)
{
    size_t some = n < its.budget ? n : its.budget;
    ssize_t r = some ? send(its.fd, b, some, MSG_NOSIGNAL) : (ssize_t)n;

    (void)user;
    if (r < 0)
        return errno == EAGAIN ? MBEDTLS_ERR_SSL_WANT_WRITE
                               : MBEDTLS_ERR_NET_SEND_FAILED;
    its.budget -= some ? (size_t)r : 0;
    its.moved += some ? (size_t)r : 0;
    return (int)r;
}

static int its_recv(void *user, unsigned char *b, size_t n)
{
    ssize_t r = its.deaf ? -1 : recv(its.fd, b, n, 0);

    (void)user;
    if (r < 0)
        return its.deaf || errno == EAGAIN ? MBEDTLS_ERR_SSL_WANT_READ
                                           : MBEDTLS_ERR_NET_RECV_FAILED;
    its.moved += (size_t)r;
    return (int)r;
}

/* How long the request in text is; 0: not known yet. */
static size_t its_request_len(void)
{
    const char *end, *length;

    its.text[its.got] = '\0';
    end = strstr(its.text, "\r\n\r\n");
    length = strstr(its.text, "Content-Length: ");
    return end && length
               ? (size_t)(end + 4 - its.text) + strtoul(length + 16, NULL, 10)
               : 0;
}

static void its_drop(void)
{
    close(its.fd);
    its.fd = -1;
}

static void its_accept(void)
{
    int on = 1;

    its.fd = its.listener < 0 ? -1 : accept(its.listener, NULL, NULL);
    if (its.fd < 0)
        return;
    fcntl(its.fd, F_SETFL, O_NONBLOCK);
    setsockopt(its.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    its.up = false;
    its.got = 0;
    its.moved++;
    if (its.tls) {
        mbedtls_ssl_session_reset(&its.tls->ssl);
        mbedtls_ssl_set_bio(&its.tls->ssl, NULL, its_send, its_recv, NULL);
    }
}

/* Reads on in the request; begins the answer when it is whole. */
static void its_listen(void)
{
    size_t room = sizeof its.text - 1 - its.got;
    unsigned char *to = (unsigned char *)its.text + its.got;
    int r = its.tls ? mbedtls_ssl_read(&its.tls->ssl, to, room)
                    : its_recv(NULL, to, room);

    if (r > 0)
        its.got += (size_t)r;
    else if (r != MBEDTLS_ERR_SSL_WANT_READ)
        its_drop();
    if (r <= 0 || its_request_len() == 0 || its.got < its_request_len())
        return;
    its.got = 0;
    its.said = 0;
    its.len = strlen(its.answers[its.requests]);
    its.requests++;
}

static void its_speak(void)
{
    const unsigned char *b =
        (const unsigned char *)its.answers[its.requests - 1] + its.said;
    size_t n = its.len - its.said;
    int r =
        its.tls ? mbedtls_ssl_write(&its.tls->ssl, b, n) : its_send(NULL, b, n);

    if (r > 0)
        its.said += (size_t)r;
    else if (r != MBEDTLS_ERR_SSL_WANT_WRITE && r != MBEDTLS_ERR_SSL_WANT_READ)
        its_drop();
}

/* Does what it can; answers whether that was anything. */
static bool its_turn(void)
{
    size_t before = its.moved;
    bool was = its.fd >= 0;

    if (its.fd < 0)
        its_accept();
    if (its.fd >= 0 && its.tls && !its.up) {
        int r = mbedtls_ssl_handshake(&its.tls->ssl);
        its.up = r == 0;
        if (r != 0 && r != MBEDTLS_ERR_SSL_WANT_READ &&
            r != MBEDTLS_ERR_SSL_WANT_WRITE)
            its_drop();
    }
    if (its.fd >= 0 && (its.up || !its.tls)) {
        if (its.said < its.len)
            its_speak();
        if (its.fd >= 0)
            its_listen();
    }
    return its.moved != before || was != (its.fd >= 0);
}

/* From now on it answers so, to new connections. */
static void its_begin(const char *const *answers)
{
    if (its.fd >= 0)
        its_drop();
    its.answers = answers;
    its.requests = 0;
    its.said = its.len = 0;
    its.budget = (size_t)-1;
    its.deaf = false;
}

/* No more connections come about: the queue of those that wait is full. */
static void its_fill_queue(bool full)
{
    struct sockaddr_in a;
    size_t i;

    for (i = 0; i < 4; i++) {
        if (its.other[i] >= 0)
            close(its.other[i]);
        its.other[i] = -1;
    }
    listen(its.listener, full ? 0 : 8);
    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons(its.port);
    for (i = 0; full && i < 4; i++) {
        its.other[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(its.other[i], (struct sockaddr *)&a, sizeof a);
    }
}

/* ---- the system ---- */

int __real_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);
int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __real_socket(int a, int b, int c);
int __wrap_socket(int a, int b, int c);
int __real_pipe2(int ends[2], int flags);
int __wrap_pipe2(int ends[2], int flags);
int __real_getaddrinfo(const char *h, const char *s, const struct addrinfo *i,
                       struct addrinfo **r);
int __wrap_getaddrinfo(const char *h, const char *s, const struct addrinfo *i,
                       struct addrinfo **r);

/* The alarm goes off in the middle of a sleep. */
static bool driven_alarm(uint32_t end)
{
    if (!driven.then || (int32_t)(end - driven.then) < 0)
        return false;
    if (driven.wakes_up)
        driven.ms = driven.then;
    driven.then = 0;
    driven.alarm();
    return driven.wakes_up;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
    int r;

    if (timeout == 0)
        return __real_poll(fds, n, 0);
    do {
        bool more = its_turn();
        r = __real_poll(fds, n, more ? 0 : driven.patience);
        if (r == 0 && !more)
            break;
    } while (r == 0);
    if (r != 0) {
        driven.wakes++;
        return r;
    }
    driven.sleeps++;
    driven.forever += timeout < 0;
    if (timeout < 0)
        timeout = 1000;
    if (driven_alarm(driven.ms + (uint32_t)timeout)) {
        errno = EINTR;
        return -1;
    }
    driven.ms += (uint32_t)timeout;
    return 0;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    if (id != CLOCK_MONOTONIC)
        return __real_clock_gettime(id, t);
    t->tv_sec = 1000000 + driven.ms / 1000;
    t->tv_nsec = (long)(driven.ms % 1000) * 1000000;
    return 0;
}

int __wrap_socket(int a, int b, int c)
{
    int fd = __real_socket(a, b, c), small = 4096;

    driven.inherited += !(b & SOCK_CLOEXEC);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    return fd;
}

int __wrap_pipe2(int ends[2], int flags)
{
    driven.inherited += !(flags & O_CLOEXEC);
    return __real_pipe2(ends, flags);
}

/* The name peer.test is this machine; its resolver may be made to wait. */
int __wrap_getaddrinfo(const char *h, const char *s, const struct addrinfo *i,
                       struct addrinfo **r)
{
    char c;

    if (!h || strcmp(h, "peer.test") != 0)
        return __real_getaddrinfo(h, s, i, r);
    if (i->ai_flags & AI_NUMERICHOST)
        return EAI_NONAME;
    if (driven.unresolved >= 0)
        (void)!read(driven.unresolved, &c, 1);
    return __real_getaddrinfo("127.0.0.1", s, i, r);
}
