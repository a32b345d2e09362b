/*
 * peer.h - a server in a process of its own, for tests over real sockets
 *
 * It serves connections one after the other: the n-th as the test's function
 * says. With a certificate it speaks TLS.
 */
#define MKCERT_NO_MAIN
#include "mkcert.c"

#include "port/port.h"

#include <arpa/inet.h>
#include <mbedtls/net_sockets.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* How a connection ends. SILENT: not before the client has gone. */
enum { ORDERLY, FIN, RESET, SILENT };

/* One connection: as many answers as requests come, most at most, each cut to
 * len bytes (0: to its NUL), then an end. */
typedef struct visit {
    const char *text;
    size_t len;
    int most; /* 0: one; -1: the answer comes without a request */
    int end;
    unsigned pause_ms; /* between two bytes */
    size_t budget;     /* bytes to the client, TLS's too; 0: no limit */
} visit;

typedef struct peer_tls {
    mbedtls_ssl_context ssl;
    mbedtls_ssl_config conf;
    mbedtls_x509_crt crt;
    mbedtls_pk_context key;
    mbedtls_ssl_ticket_context tickets;
    mbedtls_x509_crt second_crt; /* for another name */
    mbedtls_pk_context second_key;
} peer_tls;

/* To be set before peer_start. */
static const mkcert_result *peer_second; /* certificate for other.test */
static bool peer_old;                    /* TLS 1.1 at most */

static size_t peer_budget;

typedef struct peer {
    pid_t pid;
    uint16_t port;
} peer;

/* What is beyond the budget is lost on the way. */
static inline int peer_send(void *user, const unsigned char *b, size_t n)
{
    size_t some = n < peer_budget ? n : peer_budget;
    ssize_t r = some ? write(*(int *)user, b, some) : (ssize_t)n;

    peer_budget -= some;
    return r < 0 ? MBEDTLS_ERR_NET_SEND_FAILED : (int)r;
}

static inline int peer_recv(void *user, unsigned char *b, size_t n)
{
    ssize_t r = read(*(int *)user, b, n);

    return r < 0 ? MBEDTLS_ERR_NET_RECV_FAILED : (int)r;
}

static inline int peer_sni(void *user, mbedtls_ssl_context *ssl,
                           const unsigned char *name, size_t len)
{
    peer_tls *s = (peer_tls *)user;

    if (len == 10 && memcmp(name, "other.test", 10) == 0)
        return mbedtls_ssl_set_hs_own_cert(ssl, &s->second_crt, &s->second_key);
    return 0;
}

static inline int peer_init(peer_tls *s, const mkcert_result *c)
{
    int e = mkcert_begin();

    mbedtls_ssl_init(&s->ssl);
    mbedtls_ssl_config_init(&s->conf);
    mbedtls_x509_crt_init(&s->crt);
    mbedtls_pk_init(&s->key);
    mbedtls_ssl_ticket_init(&s->tickets);
    mbedtls_x509_crt_init(&s->second_crt);
    mbedtls_pk_init(&s->second_key);
    e |= mkcert_pair(&s->crt, &s->key, c);
    if (peer_second)
        e |= mkcert_pair(&s->second_crt, &s->second_key, peer_second);
    e |= mbedtls_ssl_config_defaults(&s->conf, MBEDTLS_SSL_IS_SERVER,
                                     MBEDTLS_SSL_TRANSPORT_STREAM,
                                     MBEDTLS_SSL_PRESET_DEFAULT);
    mkcert_conf_random(&s->conf);
    e |= mbedtls_ssl_conf_own_cert(&s->conf, &s->crt, &s->key);
    e |= mkcert_tickets(&s->tickets);
    mbedtls_ssl_conf_session_tickets_cb(&s->conf, mbedtls_ssl_ticket_write,
                                        mbedtls_ssl_ticket_parse, &s->tickets);
    if (peer_second)
        mbedtls_ssl_conf_sni(&s->conf, peer_sni, s);
    (void)peer_old; /* mbedTLS 3 has no such versions */
#if MBEDTLS_VERSION_NUMBER < 0x03000000
    if (peer_old) {
        mbedtls_ssl_conf_min_version(&s->conf, MBEDTLS_SSL_MAJOR_VERSION_3,
                                     MBEDTLS_SSL_MINOR_VERSION_1);
        mbedtls_ssl_conf_max_version(&s->conf, MBEDTLS_SSL_MAJOR_VERSION_3,
                                     MBEDTLS_SSL_MINOR_VERSION_2);
    }
#endif
    return e | mbedtls_ssl_setup(&s->ssl, &s->conf);
}

/* Reads one request, whose body must end with the only '$' in it. */
static inline bool peer_request(peer_tls *s, int *fd)
{
    unsigned char b[1024];
    int r;

    do
        r = s ? mbedtls_ssl_read(&s->ssl, b, sizeof b)
              : peer_recv(fd, b, sizeof b);
    while (r > 0 && b[r - 1] != '$');
    return r > 0;
}

static inline void peer_say(peer_tls *s, int *fd, const char *b, size_t n)
{
    int r = 1;

    for (; n && r > 0; b += r, n -= (size_t)(r > 0 ? r : 0))
        r = s ? mbedtls_ssl_write(&s->ssl, (const unsigned char *)b, n)
              : peer_send(fd, (const unsigned char *)b, n);
}

static inline void peer_visit(peer_tls *s, int fd, const visit *v)
{
    static const struct linger hard = {1, 0};
    size_t len = v->len ? v->len : strlen(v->text);
    int n = v->most ? v->most : 1;
    size_t i;
    char b;

    peer_budget = v->budget ? v->budget : (size_t)-1;
    if (s) {
        mbedtls_ssl_session_reset(&s->ssl);
        mbedtls_ssl_set_bio(&s->ssl, &fd, peer_send, peer_recv, NULL);
        if (mbedtls_ssl_handshake(&s->ssl) != 0)
            return;
    }
    if (n < 0)
        peer_say(s, &fd, v->text, len);
    while (n-- > 0 && peer_request(s, &fd)) {
        if (v->pause_ms == 0)
            peer_say(s, &fd, v->text, len);
        else
            for (i = 0; i < len && usleep(v->pause_ms * 1000) == 0; i++)
                peer_say(s, &fd, v->text + i, 1);
    }
    if (v->end == SILENT)
        while (recv(fd, &b, 1, 0) > 0)
            continue;
    else if (v->end == RESET)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    else if (s && v->end == ORDERLY)
        mbedtls_ssl_close_notify(&s->ssl);
}

/* A listening socket on a free port of 127.0.0.1. */
static inline int peer_listen(uint16_t *port)
{
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 ||
        listen(fd, 8) != 0 || getsockname(fd, (struct sockaddr *)&a, &len) != 0)
        abort();
    *port = ntohs(a.sin_port);
    return fd;
}

/* Serves for as long as seconds, or until peer_stop. c is NULL without TLS. */
static inline peer peer_start(const mkcert_result *c, visit (*nth)(unsigned n),
                              unsigned seconds)
{
    static peer_tls tls;
    peer p;
    int fd = peer_listen(&p.port);
    unsigned n;

    fflush(stdout);
    p.pid = fork();
    if (p.pid != 0) {
        close(fd);
        return p;
    }
    alarm(seconds);
    signal(SIGPIPE, SIG_IGN);
    if (c && peer_init(&tls, c) != 0)
        _exit(1);
    for (n = 0;; n++) {
        int a = accept(fd, NULL, NULL), on = 1;
        visit v = nth(n);
        setsockopt(a, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        peer_visit(c ? &tls : NULL, a, &v);
        close(a);
    }
}

static inline void peer_stop(peer p)
{
    kill(p.pid, SIGKILL);
    waitpid(p.pid, NULL, 0);
}

/* What a client made of an exchange. */
typedef struct heard {
    int error;
    tcall_response res;
    size_t len;
    char body[4096];
} heard;

/* Sleeps until a stream that answered AGAIN can go on, or ms have passed. */
static inline void peer_wait(tport_stream s, uint32_t ms)
{
    tcall_wait wait;

    wait.ms = TCALL_WAIT_NEVER;
    wait.count = 0;
    s.wants(s.user, &wait);
    tcall_wait_ms(&wait, ms);
    tport_posix_wait(&wait);
}

/* One exchange over a transport that waits. */
static inline void peer_ask(tcall_transport t, heard *x)
{
    static const tcall_header key[] = {{"Authorization", "Bearer ", "canary"}};
    static const tcall_request q = {"POST", "/v1", key, 1, 1};
    int r;

    x->len = 0;
    r = t.open(t.user, &q, &x->res);
    if (r == 0)
        r = t.write(t.user, "$", 1);
    while (r > 0) {
        r = t.read(t.user, x->body + x->len, sizeof x->body - x->len);
        x->len += r > 0 ? (size_t)r : 0;
    }
    x->error = r;
    t.close(t.user);
}

/* Prepares a port for p; the certificates of ca are trusted. */
static inline int peer_port(tport *port, peer p, bool tls, tport_desc d)
{
    char url[64];

    snprintf(url, sizeof url, "%s://localhost:%u", tls ? "https" : "http",
             (unsigned)p.port);
    d.url = url;
    return tport_init(port, &d);
}
