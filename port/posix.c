/* posix.c - see posix.h */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* pipe2 */
#elif !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "port/posix.h"

/* ESP-IDF and Zephyr have sockets, but neither pipes nor signals: there the
 * resolver of names blocks. */
#if defined(ESP_PLATFORM) || defined(__ZEPHYR__)
#define TPORT_NO_THREADS
#endif

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <limits.h>
#ifdef ESP_PLATFORM
#include <sys/poll.h> /* it has no other */
#else
#include <poll.h>
#endif
#ifndef TPORT_NO_THREADS
#include <pthread.h>
#include <signal.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifdef ESP_PLATFORM
/* Its lwIP has no words for what went wrong. */
#define gai_strerror(error) "its name cannot be resolved"
#endif

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

static uint32_t since(uint32_t then)
{
    return tport_posix_now_ms() - then;
}

static void drop(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A program that another thread starts at any moment must not inherit these, so
 * where the system can they are close-on-exec from their birth. */
#ifdef SOCK_CLOEXEC
static int new_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}
#else
static int new_socket(int family)
{
    int fd = socket(family, SOCK_STREAM, 0);

    if (fd >= 0) {
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    return fd;
}
#endif

/* ---- names ---- */

/* What getaddrinfo answers. */
typedef struct answer {
    int error;
    uint8_t count;
    tport_address addresses[TPORT_ADDRESSES];
} answer;

/* The next of the list that is, or is not, of this family. */
static const struct addrinfo *seek(const struct addrinfo *a, int family,
                                   bool same)
{
    while (a && ((a->ai_family == family) != same ||
                 a->ai_addrlen > sizeof((tport_address *)0)->bytes))
        a = a->ai_next;
    return a;
}

/* The system has put the best first; other families take turns with it. */
static void take_list(answer *to, const struct addrinfo *list)
{
    const struct addrinfo *turn[2];
    int family = list->ai_family, i = 0;

    turn[0] = seek(list, family, true);
    turn[1] = seek(list, family, false);
    while ((turn[0] || turn[1]) && to->count < TPORT_ADDRESSES) {
        i = turn[i] ? i : !i;
        to->addresses[to->count].len = (uint32_t)turn[i]->ai_addrlen;
        memcpy(to->addresses[to->count++].bytes, turn[i]->ai_addr,
               turn[i]->ai_addrlen);
        turn[i] = seek(turn[i]->ai_next, family, i == 0);
        i = !i;
    }
}

/* flags: AI_NUMERICHOST asks no resolver. */
static void look_up(answer *to, const char *host, uint16_t port, int flags)
{
    struct addrinfo hints, *list = NULL;
    char service[8];

    memset(to, 0, sizeof *to);
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | flags;
    snprintf(service, sizeof service, "%u", (unsigned)port);
    to->error = getaddrinfo(host, service, &hints, &list);
    if (to->error == 0 && list) {
        take_list(to, list);
        freeaddrinfo(list);
    }
}

#ifndef TPORT_NO_THREADS
static int new_pipe(int ends[2])
{
#ifdef SOCK_CLOEXEC
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
#else
    if (pipe(ends) != 0)
        return errno;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
    return 0;
}

/* One name that is looked up, for all who have asked for it. It is in the list
 * until the resolver has answered: that of a name which was given up keeps its
 * thread, so while DNS is silent there may be as many as TPORT_RESOLVERS. The
 * others wait for one of those threads. */
struct tport_lookup {
    struct tport_lookup *next;
    int users;      /* who wait for it */
    bool started;   /* it has a thread */
    bool done;      /* answered, and not in the list any more */
    uint32_t since; /* it was asked for, began, or another one ended */
    int ends[2];    /* a pipe, which ends when it is done */
    answer found;
    uint16_t port;
    char host[1]; /* and more */
};
typedef struct tport_lookup lookup;

static pthread_mutex_t lookups_lock = PTHREAD_MUTEX_INITIALIZER;
static lookup *lookups; /* the oldest first */
static int resolvers;   /* threads */

static void unlist(const lookup *q)
{
    lookup **at = &lookups;

    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
}

static void free_lookup(lookup *q)
{
    drop(&q->ends[0]);
    drop(&q->ends[1]);
    free(q);
}

/* Tells those who wait. Answers the next one that has no thread, or NULL. */
static lookup *finish(lookup *q, const answer *found)
{
    lookup *other, *next = NULL;

    pthread_mutex_lock(&lookups_lock);
    unlist(q);
    q->found = *found;
    q->done = true;
    drop(&q->ends[1]);
    if (q->users == 0)
        free_lookup(q);
    for (other = lookups; other; other = other->next) {
        if (other->started)
            continue;
        other->since = tport_posix_now_ms(); /* the resolver is alive */
        next = next ? next : other;
    }
    if (next)
        next->started = true;
    else
        resolvers--;
    pthread_mutex_unlock(&lookups_lock);
    return next;
}

static void *resolver(void *user)
{
    lookup *q = (lookup *)user;

    while (q) {
        answer found;
        look_up(&found, q->host, q->port, 0);
        q = finish(q, &found);
    }
    return NULL;
}

static int start_thread(lookup *q)
{
    pthread_t thread;
    sigset_t all, old;
    int e;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    e = pthread_create(&thread, NULL, resolver, q);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (e == 0)
        pthread_detach(thread);
    return e;
}

/* The lookup of this name, which may be under way already. NULL: errno says
 * why there is none. */
static lookup *find_lookup(const tport_posix *s)
{
    lookup **end = &lookups, *q;

    for (; *end; end = &(*end)->next)
        if ((*end)->port == s->port && strcmp((*end)->host, s->host) == 0)
            return *end;
    q = (lookup *)malloc(sizeof *q + strlen(s->host));
    if (!q) {
        errno = ENOMEM;
        return NULL;
    }
    memset(q, 0, sizeof *q);
    q->port = s->port;
    strcpy(q->host, s->host);
    q->since = tport_posix_now_ms();
    q->ends[0] = q->ends[1] = -1;
    errno = new_pipe(q->ends);
    q->started = errno == 0 && resolvers < TPORT_RESOLVERS;
    if (q->started) {
        errno = start_thread(q);
        q->started = errno == 0;
        resolvers += q->started;
    }
    if (errno && (resolvers == 0 || q->ends[0] < 0)) {
        int e = errno;
        free_lookup(q);
        errno = e;
        return NULL;
    }
    return *end = q;
}

static int start_resolver(tport_posix *s)
{
    int e = 0;

    pthread_mutex_lock(&lookups_lock);
    s->lookup = find_lookup(s);
    if (s->lookup) {
        s->lookup->users++;
        s->fd = s->lookup->ends[0];
    } else {
        e = errno;
    }
    pthread_mutex_unlock(&lookups_lock);
    s->since = tport_posix_now_ms();
    s->want = TCALL_WAIT_READ;
    return e ? fail(s, TCALL_E_RESOLVE, strerror(e)) : TCALL_E_AGAIN;
}

/* Milliseconds since something was heard of the resolver, or it was asked. */
static uint32_t resolver_silence(const tport_posix *s)
{
    uint32_t since_asked = since(s->since), of_lookup;

    pthread_mutex_lock(&lookups_lock);
    of_lookup = since(s->lookup->since);
    pthread_mutex_unlock(&lookups_lock);
    return since_asked < of_lookup ? since_asked : of_lookup;
}

static void leave_lookup(tport_posix *s)
{
    lookup *q = s->lookup;

    if (!q)
        return;
    s->lookup = NULL;
    s->fd = -1;
    pthread_mutex_lock(&lookups_lock);
    q->users--;
    if (q->users == 0 && !q->started)
        unlist(q);
    if (q->users == 0 && (q->done || !q->started))
        free_lookup(q);
    pthread_mutex_unlock(&lookups_lock);
}

static bool is_found(const tport_posix *s, answer *found)
{
    bool done;

    pthread_mutex_lock(&lookups_lock);
    done = s->lookup->done;
    if (done)
        *found = s->lookup->found;
    pthread_mutex_unlock(&lookups_lock);
    return done;
}

#else
static uint32_t resolver_silence(const tport_posix *s)
{
    return since(s->since);
}

static void leave_lookup(tport_posix *s)
{
    (void)s;
}
#endif

static const struct sockaddr *sockaddr_of(const tport_address *a)
{
    return (const struct sockaddr *)(const void *)a->bytes;
}

static int take_answer(tport_posix *s, const answer *a)
{
    int i;

    if (a->error || a->count == 0)
        return fail(s, TCALL_E_RESOLVE,
                    a->error ? gai_strerror(a->error) : "it has no address");
    for (i = 0; s->allow && i < a->count; i++)
        if (!s->allow(s->user, sockaddr_of(&a->addresses[i])))
            return fail(s, TCALL_E_DENIED, "its address is not allowed");
    s->count = a->count;
    memcpy(s->addresses, a->addresses, sizeof s->addresses);
    return 0;
}

static int resolve(tport_posix *s)
{
    /* localhost is this machine, whatever a resolver says (RFC 6761): no name
     * means the loopback addresses. */
    const char *host = strcasecmp(s->host, "localhost") == 0 ? NULL : s->host;
    answer a;

#ifndef TPORT_NO_THREADS
    if (s->lookup && !is_found(s, &a)) {
        if (resolver_silence(s) < TPORT_RESOLVE_MS)
            return TCALL_E_AGAIN;
        leave_lookup(s);
        return fail(s, TCALL_E_RESOLVE, "the resolver does not answer");
    }
    if (s->lookup) {
        leave_lookup(s);
        return take_answer(s, &a);
    }
#endif
    look_up(&a, host, s->port, AI_NUMERICHOST);
    if (a.error == EAI_NONAME)
#ifdef TPORT_NO_THREADS
        look_up(&a, host, s->port, 0);
#else
        return start_resolver(s);
#endif
    return take_answer(s, &a);
}

/* ---- connecting ---- */

static void drop_tries(tport_posix *s)
{
    while (s->next > 0)
        drop(&s->tries[--s->next]);
    s->count = 0;
}

/* Begin to connect to the next address. */
static void start_next(tport_posix *s)
{
    const struct sockaddr *a = sockaddr_of(&s->addresses[s->next]);
    int *fd = &s->tries[s->next], on = 1;

    s->last = tport_posix_now_ms();
    if (s->next == 0)
        s->since = s->last;
    *fd = new_socket(a->sa_family);
    if (*fd >= 0) {
        /* Head and body are written one after the other: don't hold the
         * second back until the first is acknowledged. */
        (void)setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
#ifdef SO_NOSIGPIPE
        (void)setsockopt(*fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    }
    if (*fd < 0 ||
        (connect(*fd, a, (socklen_t)s->addresses[s->next].len) != 0 &&
         errno != EINPROGRESS && errno != EINTR)) {
        (void)fail(s, TCALL_E_CONNECT, strerror(errno));
        drop(fd);
    }
    s->next++;
}

/* How many tries are under way; 0 also when one of them got through. */
static int look_at_tries(tport_posix *s)
{
    int i, alive = 0;

    for (i = 0; i < s->next; i++) {
        struct pollfd p = {s->tries[i], POLLOUT, 0};
        socklen_t len = sizeof(int);
        int e = 0;

        if (p.fd < 0)
            continue;
        if (poll(&p, 1, 0) <= 0) {
            alive++;
            continue;
        }
        if (getsockopt(p.fd, SOL_SOCKET, SO_ERROR, &e, &len) != 0)
            e = errno;
        if (e == 0) {
            s->fd = p.fd;
            s->up = true;
            s->want = 0;
            s->tries[i] = -1;
            drop_tries(s);
            return 0;
        }
        (void)fail(s, TCALL_E_CONNECT, strerror(e));
        drop(&s->tries[i]);
    }
    return alive;
}

static int posix_connect(void *user)
{
    tport_posix *s = (tport_posix *)user;
    int r, alive;

    if (s->up)
        return 0;
    if (s->count == 0 && (r = resolve(s)) != 0)
        return r;
    for (;;) {
        alive = look_at_tries(s);
        if (s->up)
            return 0;
        if (s->next > 0 && since(s->since) >= TPORT_CONNECT_MS) {
            drop_tries(s);
            return fail(s, TCALL_E_CONNECT, "no answer to connecting");
        }
        if (s->next < s->count &&
            (alive == 0 || since(s->last) >= TPORT_NEXT_MS))
            start_next(s);
        else if (alive)
            return TCALL_E_AGAIN;
        else
            break;
    }
    drop_tries(s);
    return TCALL_E_CONNECT;
}

/* ---- bytes ---- */

/* What errno means for a connection that was up. */
static int broken(tport_posix *s, int want)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        s->want = (uint8_t)(s->want | want);
        return TCALL_E_AGAIN;
    }
    return fail(s, TCALL_E_CLOSED, strerror(errno));
}

/* Something was done, or is over: what is waited for begins anew. */
static int done(tport_posix *s, ssize_t n)
{
    s->want = 0;
    return (int)n;
}

static int posix_read(void *user, char *bytes, size_t cap)
{
    tport_posix *s = (tport_posix *)user;
    ssize_t n;

    do
        n = recv(s->fd, bytes, tport_clamp(cap), 0);
    while (n < 0 && errno == EINTR);
    return n >= 0 ? done(s, n) : broken(s, TCALL_WAIT_READ);
}

static int posix_write(void *user, const char *bytes, size_t len)
{
    tport_posix *s = (tport_posix *)user;
    ssize_t n;

    do
        n = send(s->fd, bytes, tport_clamp(len), MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n >= 0 ? done(s, n) : broken(s, TCALL_WAIT_WRITE);
}

static void posix_end(void *user)
{
    tport_posix *s = (tport_posix *)user;

    leave_lookup(s);
    drop(&s->fd);
    s->up = false;
    drop_tries(s);
}

static uint32_t left(uint32_t then, uint32_t ms)
{
    uint32_t spent = since(then);

    return spent < ms ? ms - spent : 0;
}

/* While it connects the first try to get through counts, and the time at which
 * the next one begins. */
static void posix_wants(void *user, tcall_wait *wait)
{
    tport_posix *s = (tport_posix *)user;
    int i;

    if (s->count > 0) {
        for (i = 0; i < s->next; i++)
            if (s->tries[i] >= 0)
                tcall_wait_handle(wait, s->tries[i], TCALL_WAIT_WRITE);
        tcall_wait_ms(wait, left(s->since, TPORT_CONNECT_MS));
        if (s->next < s->count)
            tcall_wait_ms(wait, left(s->last, TPORT_NEXT_MS));
    } else if (s->fd >= 0) {
        tcall_wait_handle(wait, s->fd, s->want);
        if (s->lookup && resolver_silence(s) < TPORT_RESOLVE_MS)
            tcall_wait_ms(wait, TPORT_RESOLVE_MS - resolver_silence(s));
    }
}

/* A signal only makes this shorter: the caller's loop looks again. */
int tport_posix_wait(const tcall_wait *wait)
{
    struct pollfd p[TOOLCALL_MAX_HANDLES];
    int i;

    for (i = 0; i < wait->count; i++) {
        int events = wait->handles[i].events;
        p[i].fd = wait->handles[i].handle;
        p[i].events = (short)((events & TCALL_WAIT_READ ? POLLIN : 0) |
                              (events & TCALL_WAIT_WRITE ? POLLOUT : 0));
        p[i].revents = 0;
    }
    i = poll(p, wait->count, wait->ms > INT_MAX ? -1 : (int)wait->ms);
    return i > 0 ? i : 0;
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
    tport_stream r = {posix_connect, posix_read, posix_write, posix_end,
                      posix_wants,   posix_why,  NULL};

    r.user = s;
    return r;
}
