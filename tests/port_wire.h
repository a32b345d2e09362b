/*
 * port_wire.h - a stream in memory, with a server of mbedTLS at its other end
 */
#include "port_server.h"

/* ---- two pipes in memory, with the server at their other end ---- */

typedef struct pipe_end {
    unsigned char bytes[65536];
    size_t from, to;
    bool shut;
} pipe_end;

typedef struct wire {
    server srv;
    pipe_end up, down; /* to the server; to the client */
    bool up_ready;     /* the server has finished its handshake */
    bool stutter;
    bool broken; /* reads are CLOSED once what was sent has been read */
    bool plain;  /* the server does not speak TLS */
    bool full;   /* writes are AGAIN */
    bool dead;   /* writes are CLOSED */
    int lost;    /* so many were */
    unsigned reads, writes;
    char got[256]; /* what the server has read */
    size_t got_len;
    size_t moved;
    void (*flood)(struct wire *w); /* puts more whenever all was read */
} wire;

static inline int pipe_put(pipe_end *p, const unsigned char *b, size_t n)
{
    if (p->from == p->to)
        p->from = p->to = 0;
    if (n > sizeof p->bytes - p->to)
        n = sizeof p->bytes - p->to;
    memcpy(p->bytes + p->to, b, n);
    p->to += n;
    return (int)n;
}

/* -1: nothing there now. */
static inline int pipe_get(pipe_end *p, unsigned char *b, size_t n)
{
    if (p->from == p->to)
        return p->shut ? 0 : -1;
    n = n < p->to - p->from ? n : p->to - p->from;
    memcpy(b, p->bytes + p->from, n);
    p->from += n;
    return (int)n;
}

static inline int srv_send(void *user, const unsigned char *b, size_t n)
{
    int r = pipe_put(&((wire *)user)->down, b, n);

    return r > 0 ? r : MBEDTLS_ERR_SSL_WANT_WRITE;
}

static inline int srv_recv(void *user, unsigned char *b, size_t n)
{
    int r = pipe_get(&((wire *)user)->up, b, n);

    return r < 0 ? MBEDTLS_ERR_SSL_WANT_READ : r;
}

/* Let the server do what it can. */
static inline void serve(wire *w)
{
    int r;

    if (w->plain) {
        if (!w->up_ready)
            pipe_put(&w->down, (const unsigned char *)"HTTP/1.1 400 Bad\r\n",
                     18);
        w->up_ready = true;
        return;
    }
    if (!w->up_ready) {
        w->up_ready = mbedtls_ssl_handshake(&w->srv.ssl) == 0;
        return;
    }
    r = mbedtls_ssl_read(&w->srv.ssl, (unsigned char *)w->got + w->got_len,
                         sizeof w->got - w->got_len);
    if (r > 0)
        w->got_len += (size_t)r;
}

/* Reading and writing each have a count of their own. */
static inline bool wire_stutters(wire *w, unsigned *calls)
{
    return w->stutter && (*calls)++ % 2 == 0;
}

static inline int wire_connect(void *user)
{
    wire *w = user;

    if (wire_stutters(w, &w->writes))
        return TCALL_E_AGAIN;
    mbedtls_ssl_session_reset(&w->srv.ssl);
    mbedtls_ssl_set_bio(&w->srv.ssl, w, srv_send, srv_recv, NULL);
    w->up_ready = w->up.shut = w->down.shut = false;
    w->up.from = w->up.to = w->down.from = w->down.to = 0;
    w->got_len = w->moved = 0;
    return 0;
}

static inline int wire_read(void *user, char *bytes, size_t cap)
{
    wire *w = user;
    int r;

    if (wire_stutters(w, &w->reads))
        return TCALL_E_AGAIN;
    if (!w->flood)
        serve(w);
    else if (w->down.from == w->down.to)
        w->flood(w);
    if (w->stutter && cap > 7)
        cap = 7;
    r = pipe_get(&w->down, (unsigned char *)bytes, cap);
    if (r > 0)
        w->moved += (size_t)r;
    if (r == 0 && w->broken)
        return TCALL_E_CLOSED;
    return r < 0 ? TCALL_E_AGAIN : r;
}

static inline int wire_write(void *user, const char *bytes, size_t len)
{
    wire *w = user;

    if (w->dead)
        return w->lost++, TCALL_E_CLOSED;
    if (w->full || wire_stutters(w, &w->writes))
        return TCALL_E_AGAIN;
    if (w->stutter && len > 5)
        len = 5;
    w->moved += len;
    return pipe_put(&w->up, (const unsigned char *)bytes, len);
}

static inline void wire_close(void *user)
{
    ((wire *)user)->up.shut = true;
}

static inline const char *wire_why(void *user)
{
    (void)user;
    return "the wire broke";
}

static inline tport_stream wire_stream(wire *w)
{
    tport_stream s = {wire_connect, wire_read, wire_write, wire_close,
                      NULL,         wire_why,  w};

    return s;
}

static inline int connect_all(tport_stream *s)
{
    int r, n = 0;

    do
        r = s->connect(s->user);
    while (r == TCALL_E_AGAIN && ++n < PATIENCE);
    return r;
}

static inline int stream_read(tport_stream *s, char *b, size_t cap)
{
    int r, n = 0;

    do
        r = s->read(s->user, b, cap);
    while (r == TCALL_E_AGAIN && ++n < 1000);
    return r;
}

static inline int stream_write(tport_stream *s, const char *b)
{
    size_t len = strlen(b), n = 0;
    int r, tries = 0;

    while (n < len && ++tries < PATIENCE) {
        r = s->write(s->user, b + n, len - n);
        if (r < 0 && r != TCALL_E_AGAIN)
            return r;
        n += r > 0 ? (size_t)r : 0;
    }
    return 0;
}

static wire w;
static tport_tls tls;

/* Connect to a server that has certificate c; its own CA is trusted unless ca
 * is given. Ends with what connect answered; end_tls is called afterwards. */
static inline int begin_tls(const mkcert_result *c, const char *host,
                            const char *ca, bool stutter, tport_stream *s)
{
    tport_tls_desc d;
    int r;

    memset(&w, 0, sizeof w);
    memset(&d, 0, sizeof d);
    w.stutter = stutter;
    d.host = host;
    d.ca_pem = ca ? ca : c->ca;
    r = tport_tls_init(&tls, &d, wire_stream(&w));
    *s = tport_tls_stream(&tls);
    server_init(&w.srv, c);
    return r ? r : connect_all(s);
}

static inline void end_tls(void)
{
    tport_tls_free(&tls);
    server_free(&w.srv);
}
