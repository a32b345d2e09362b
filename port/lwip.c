/* lwip.c - see lwip.h */
#include "port/lwip.h"

#include <lwip/dns.h>
#include <lwip/pbuf.h>
#include <lwip/tcp.h>
#include <string.h>

enum {
    IDLE,
    RESOLVING,
    RESOLVED,
    CONNECTING,
    UP,
    ENDED, /* the peer sends no more; it may still listen */
    BROKEN /* lwIP has given the connection up */
};

static int fail(tport_lwip *s, int error, const char *why)
{
    s->why = why;
    return error;
}

/* ---- what lwIP reports ---- */

static err_t on_received(void *user, struct tcp_pcb *pcb, struct pbuf *p,
                         err_t error)
{
    tport_lwip *s = (tport_lwip *)user;

    (void)pcb;
    (void)error;
    if (!p)
        s->state = ENDED;
    else if (!s->received)
        s->received = p;
    else if (s->received->tot_len > 0xffff - p->tot_len)
        return ERR_MEM; /* a chain counts in 16 bits: lwIP keeps p for us */
    else
        pbuf_cat(s->received, p);
    return ERR_OK;
}

/* The pcb is gone already. */
static void on_error(void *user, err_t error)
{
    tport_lwip *s = (tport_lwip *)user;

    s->why = error == ERR_RST    ? "the peer reset the connection"
             : error == ERR_ABRT ? "no answer from the peer"
                                 : "lwIP gave the connection up";
    s->pcb = NULL;
    s->state = BROKEN;
}

static err_t on_connected(void *user, struct tcp_pcb *pcb, err_t error)
{
    (void)pcb;
    (void)error;
    ((tport_lwip *)user)->state = UP;
    return ERR_OK;
}

#if LWIP_DNS
static void on_resolved(const char *name, const ip_addr_t *address, void *user)
{
    tport_lwip *s = (tport_lwip *)user;

    (void)name;
    if (s->state != RESOLVING)
        return; /* closed since then */
    s->state = address ? RESOLVED : BROKEN;
    if (address)
        s->address = *address;
}
#endif

/* ---- the stream ---- */

static int resolve(tport_lwip *s)
{
    s->state = RESOLVED;
    if (ipaddr_aton(s->host, &s->address))
        return 0;
#if LWIP_DNS
    s->state = RESOLVING;
    s->why = "the name is unknown, or no name server answers";
    switch (dns_gethostbyname(s->host, &s->address, on_resolved, s)) {
    case ERR_OK: s->state = RESOLVED; return 0;
    case ERR_INPROGRESS: return 0;
    default: break;
    }
#endif
    s->state = IDLE;
    return fail(s, TCALL_E_RESOLVE, "the name cannot be resolved");
}

static int start(tport_lwip *s)
{
    s->pcb = tcp_new();
    if (!s->pcb)
        return fail(s, TCALL_E_MEMORY, "lwIP: MEMP_NUM_TCP_PCB are in use");
    tcp_arg(s->pcb, s);
    tcp_recv(s->pcb, on_received);
    tcp_err(s->pcb, on_error);
    tcp_nagle_disable(s->pcb);
    s->state = CONNECTING;
    if (tcp_connect(s->pcb, &s->address, s->port, on_connected) != ERR_OK)
        return fail(s, TCALL_E_CONNECT, "there is no route, or no memory");
    return 0;
}

static int lwip_connect(void *user)
{
    tport_lwip *s = (tport_lwip *)user;
    int r = 0;

    if (s->state == IDLE)
        r = resolve(s);
    if (r == 0 && s->state == RESOLVED)
        r = start(s);
    if (r < 0)
        return r;
    if (s->state == BROKEN)
        return ip_addr_isany(&s->address) ? TCALL_E_RESOLVE : TCALL_E_CONNECT;
    return s->state >= UP ? 0 : TCALL_E_AGAIN;
}

static int lwip_read(void *user, char *bytes, size_t cap)
{
    tport_lwip *s = (tport_lwip *)user;
    u16_t n;

    if (!s->received)
        return s->state == UP      ? TCALL_E_AGAIN
               : s->state == ENDED ? 0
                                   : TCALL_E_CLOSED;
    n = pbuf_copy_partial(s->received, bytes, (u16_t)tport_clamp(cap), 0);
    s->received = pbuf_free_header(s->received, n);
    if (s->pcb)
        tcp_recved(s->pcb, n);
    return n;
}

static int lwip_write(void *user, const char *bytes, size_t len)
{
    tport_lwip *s = (tport_lwip *)user;
    size_t n;
    err_t e;

    if (!s->pcb)
        return TCALL_E_CLOSED;
    n = tport_clamp(len);
    if (n > tcp_sndbuf(s->pcb))
        n = tcp_sndbuf(s->pcb);
    /* Memory comes back as the peer acknowledges. Until then, less. */
    for (e = ERR_MEM; e == ERR_MEM && n > 0; n = e == ERR_MEM ? n / 2 : n)
        e = tcp_write(s->pcb, bytes, (u16_t)n, TCP_WRITE_FLAG_COPY);
    if (e == ERR_MEM)
        return TCALL_E_AGAIN;
    if (e != ERR_OK)
        return fail(s, TCALL_E_CLOSED, "the connection is closed");
    (void)tcp_output(s->pcb);
    return (int)n;
}

static void lwip_close(void *user)
{
    tport_lwip *s = (tport_lwip *)user;

    if (s->received)
        pbuf_free(s->received);
    s->received = NULL;
    if (s->pcb) {
        tcp_arg(s->pcb, NULL);
        tcp_recv(s->pcb, NULL);
        tcp_err(s->pcb, NULL);
        if (s->state == CONNECTING || tcp_close(s->pcb) != ERR_OK)
            tcp_abort(s->pcb);
    }
    s->pcb = NULL;
    ip_addr_set_zero(&s->address);
    s->state = IDLE;
}

static const char *lwip_why(void *user)
{
    return ((tport_lwip *)user)->why;
}

void tport_lwip_init(tport_lwip *s, const char *host, uint16_t port)
{
    memset(s, 0, sizeof *s);
    s->host = host;
    s->port = port;
    s->why = "";
}

tport_stream tport_lwip_stream(tport_lwip *s)
{
    tport_stream r = {lwip_connect, lwip_read, lwip_write, lwip_close,
                      NULL,         lwip_why,  NULL};

    r.user = s;
    return r;
}
