/*
 * port_visit.h - a forked server on 127.0.0.1, and a client of all of port/
 */
#include "port_script.h"
#include "port_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* How the server ends a connection after its answers. */
enum { NOTIFY, FIN, RESET, STALL, SERVE_TWO };

typedef struct visit {
    const char *answer;
    int end;
} visit;

static inline int listener(uint16_t *port)
{
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    *port = 0;
    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 ||
        listen(fd, 8) != 0 || getsockname(fd, (struct sockaddr *)&a, &len) != 0)
        return -1;
    *port = ntohs(a.sin_port);
    return fd;
}

static inline int fd_send(void *user, const unsigned char *b, size_t n)
{
    ssize_t r = write(*(int *)user, b, n);

    return r < 0 ? MBEDTLS_ERR_NET_SEND_FAILED : (int)r;
}

static inline int fd_recv(void *user, unsigned char *b, size_t n)
{
    ssize_t r = read(*(int *)user, b, n);

    return r < 0 ? MBEDTLS_ERR_NET_RECV_FAILED : (int)r;
}

static inline int visit_read(server *s, int *fd, char *b, size_t n)
{
    return s ? mbedtls_ssl_read(&s->ssl, (unsigned char *)b, n)
             : fd_recv(fd, (unsigned char *)b, n);
}

static inline void visit_write(server *s, int *fd, const char *b)
{
    if (s)
        mbedtls_ssl_write(&s->ssl, (const unsigned char *)b, strlen(b));
    else
        fd_send(fd, (const unsigned char *)b, strlen(b));
}

/* Read one request; the answer to what is no request is silence. */
static inline bool visit_request(server *s, int *fd)
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

static inline void serve_visit(server *s, int fd, const visit *v)
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
static inline pid_t start_server(const mkcert_result *c, const visit *v,
                                 size_t n, uint16_t *port)
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

static inline void stop_server(pid_t pid)
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
static inline int go(tport *p, result *x)
{
    exchange(tport_blocking(p), &send4, "body", 1000, x);
    if (x->error == TCALL_E_CLOSED && !x->res.status &&
        x->res.retry_after_ms == 0)
        exchange(tport_blocking(p), &send4, "body", 1000, x);
    CHECK(!strstr(tport_error(p), "canary"));
    CHECK((x->error == 0) == (tport_error(p)[0] == '\0'));
    return x->error;
}

static tport port;

static inline int init_port(const char *scheme, const char *host,
                            uint16_t number, tport_desc *d)
{
    char url[100];

    snprintf(url, sizeof url, "%s://%s:%u/base/", scheme, host,
             (unsigned)number);
    d->url = url;
    return tport_init(&port, d);
}
