/* posix.c - see posix.h */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "port/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Where there is no such flag, SO_NOSIGPIPE does the same per socket. */
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

uint32_t tport_posix_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint32_t)t.tv_sec * 1000u + (uint32_t)(t.tv_nsec / 1000000);
}

static int fail(tport_posix *s, int error, const char *reason)
{
    const char *parts[] = {s->host, ": ", reason, NULL};

    tport_say(s->why, sizeof s->why, parts);
    return error;
}

static void drop_fd(tport_posix *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    s->up = false;
}

static void drop_list(tport_posix *s)
{
    if (s->list)
        freeaddrinfo(s->list);
    s->list = s->next = NULL;
}

static int resolve(tport_posix *s)
{
    struct addrinfo hints;
    char service[8];
    /* localhost is this machine, whatever a resolver says (RFC 6761): no name
     * means the loopback addresses. */
    const char *host = strcasecmp(s->host, "localhost") == 0 ? NULL : s->host;
    int e;

    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    snprintf(service, sizeof service, "%u", (unsigned)s->port);
    /* Numbers first: no resolver is asked about them, whatever its set-up. */
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    e = getaddrinfo(host, service, &hints, &s->list);
    if (e == EAI_NONAME) {
        hints.ai_flags = AI_NUMERICSERV;
        e = getaddrinfo(host, service, &hints, &s->list);
    }
    if (e != 0) {
        s->list = NULL;
        return fail(s, TCALL_E_RESOLVE, gai_strerror(e));
    }
    s->next = s->list;
    return 0;
}

static void set_options(int fd)
{
    int on = 1;

    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    /* Head and body are written one after the other: don't hold the second
     * back until the first is acknowledged. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
#ifdef SO_NOSIGPIPE
    (void)setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
}

static int connected(tport_posix *s)
{
    s->up = true;
    drop_list(s);
    return 0;
}

/* Begin to connect to the address s->next. */
static int start_one(tport_posix *s)
{
    const struct addrinfo *a = s->next;

    s->since = tport_posix_now_ms();
    s->fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
    if (s->fd < 0)
        return fail(s, TCALL_E_CONNECT, strerror(errno));
    set_options(s->fd);
    if (connect(s->fd, a->ai_addr, a->ai_addrlen) == 0)
        return connected(s);
    if (errno != EINPROGRESS && errno != EINTR)
        return fail(s, TCALL_E_CONNECT, strerror(errno));
    s->want = POLLOUT;
    return TCALL_E_AGAIN;
}

static int finish_one(tport_posix *s)
{
    struct pollfd p;
    int e = 0;
    socklen_t len = sizeof e;

    p.fd = s->fd;
    p.events = POLLOUT;
    p.revents = 0;
    if (poll(&p, 1, 0) <= 0) {
        if (tport_posix_now_ms() - s->since < TPORT_CONNECT_MS)
            return TCALL_E_AGAIN;
        return fail(s, TCALL_E_CONNECT, "no answer to connecting");
    }
    if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &e, &len) != 0)
        e = errno;
    if (e != 0)
        return fail(s, TCALL_E_CONNECT, strerror(e));
    return connected(s);
}

static int posix_connect(void *user)
{
    tport_posix *s = (tport_posix *)user;
    int r;

    if (s->up)
        return 0;
    if (!s->list && (r = resolve(s)) != 0)
        return r;
    for (;;) {
        r = s->fd < 0 ? start_one(s) : finish_one(s);
        if (r != TCALL_E_CONNECT)
            return r;
        drop_fd(s);
        s->next = s->next->ai_next;
        if (!s->next) {
            drop_list(s);
            return r;
        }
    }
}

/* What errno means for a connection that was up. */
static int broken(tport_posix *s, short want)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        s->want = want;
        return TCALL_E_AGAIN;
    }
    return fail(s, TCALL_E_CLOSED, strerror(errno));
}

static int posix_read(void *user, char *bytes, size_t cap)
{
    tport_posix *s = (tport_posix *)user;
    ssize_t n;

    do
        n = recv(s->fd, bytes, tport_clamp(cap), 0);
    while (n < 0 && errno == EINTR);
    return n >= 0 ? (int)n : broken(s, POLLIN);
}

static int posix_write(void *user, const char *bytes, size_t len)
{
    tport_posix *s = (tport_posix *)user;
    ssize_t n;

    do
        n = send(s->fd, bytes, tport_clamp(len), MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n >= 0 ? (int)n : broken(s, POLLOUT);
}

static void posix_close(void *user)
{
    tport_posix *s = (tport_posix *)user;

    drop_fd(s);
    drop_list(s);
}

static void posix_wait(void *user, uint32_t ms)
{
    tport_posix *s = (tport_posix *)user;
    struct pollfd p;

    if (s->fd < 0)
        return;
    if (!s->up) {
        /* Wake up in time to try the next address. */
        uint32_t spent = tport_posix_now_ms() - s->since;
        uint32_t left = spent < TPORT_CONNECT_MS ? TPORT_CONNECT_MS - spent : 0;
        ms = ms < left ? ms : left;
    }
    p.fd = s->fd;
    p.events = s->want;
    p.revents = 0;
    /* A signal only makes this shorter: the caller's loop looks again. */
    (void)poll(&p, 1, ms > 0x7fffffff ? 0x7fffffff : (int)ms);
}

static const char *posix_why(void *user)
{
    return ((tport_posix *)user)->why;
}

void tport_posix_init(tport_posix *s, const char *host, uint16_t port)
{
    memset(s, 0, sizeof *s);
    s->host = host;
    s->port = port;
    s->fd = -1;
}

tport_stream tport_posix_stream(tport_posix *s)
{
    tport_stream r = {posix_connect, posix_read, posix_write, posix_close,
                      posix_wait,    posix_why,  NULL};

    r.user = s;
    return r;
}
