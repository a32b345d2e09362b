/* port/lwip.c in lwIP itself, which is at the other end as well: one loop, one
 * thread, a clock that the test turns. */
#include "port/http.h"
#include "port/lwip.h"

#include "../port_check.h"

#include <lwip/dns.h>
#include <lwip/init.h>
#include <lwip/netif.h>
#include <lwip/pbuf.h>
#include <lwip/stats.h>
#include <lwip/tcp.h>
#include <lwip/timeouts.h>
#include <lwip/udp.h>

enum { PORT = 4000, NOBODY = 4001, PATIENCE = 20000 };

static u32_t now_ms;

u32_t sys_now(void);

u32_t sys_now(void)
{
    return now_ms;
}

/* One round of the loop that a firmware has. */
static void turn(unsigned ms)
{
    netif_poll_all();
    sys_check_timeouts();
    now_ms += ms;
}

/* ---- the other end ---- */

/* A byte of a long text, by its place. */
static char byte_at(size_t i)
{
    return (char)(i * 7 + i / 251);
}

static struct {
    struct tcp_pcb *listener, *pcb;
    bool deaf;        /* takes nothing, so that its window closes */
    bool right;       /* what came was byte_at() of its place */
    size_t got;       /* bytes that came */
    size_t say;       /* bytes to be said after something came */
    size_t said;      /* of them */
    bool bye;         /* then it closes */
    bool over;        /* the client said that it has no more */
    const char *text; /* to be said instead; say is its length */
    struct pbuf *held;
} server;

static void server_pump(void)
{
    while (server.pcb && server.said < server.say) {
        char piece[512];
        size_t n = server.say - server.said, i;
        n = n < sizeof piece ? n : sizeof piece;
        n = n < tcp_sndbuf(server.pcb) ? n : tcp_sndbuf(server.pcb);
        for (i = 0; i < n; i++)
            piece[i] = server.text ? server.text[server.said + i]
                                   : byte_at(server.said + i);
        if (n == 0 || tcp_write(server.pcb, piece, (u16_t)n,
                                TCP_WRITE_FLAG_COPY) != ERR_OK)
            break;
        server.said += n;
    }
    if (server.pcb && server.bye && server.said == server.say &&
        tcp_close(server.pcb) == ERR_OK)
        server.pcb = NULL;
    else if (server.pcb)
        tcp_output(server.pcb);
}

static void server_take(struct pbuf *p)
{
    size_t i;

    for (i = 0; i < p->tot_len; i++)
        server.right = server.right && (char)pbuf_get_at(p, (u16_t)i) ==
                                           byte_at(server.got + i);
    server.got += p->tot_len;
    tcp_recved(server.pcb, p->tot_len);
    pbuf_free(p);
}

static err_t server_received(void *user, struct tcp_pcb *pcb, struct pbuf *p,
                             err_t e)
{
    (void)user;
    (void)e;
    if (!p) {
        server.over = true;
        server.pcb = NULL;
        return tcp_close(pcb);
    }
    if (server.deaf) {
        if (server.held)
            pbuf_cat(server.held, p);
        else
            server.held = p;
        return ERR_OK;
    }
    server_take(p);
    server_pump();
    return ERR_OK;
}

static err_t server_sent(void *user, struct tcp_pcb *pcb, u16_t n)
{
    (void)user;
    (void)pcb;
    (void)n;
    server_pump();
    return ERR_OK;
}

static void server_error(void *user, err_t e)
{
    (void)user;
    (void)e;
    server.pcb = NULL;
    server.over = true;
}

static err_t server_accepts(void *user, struct tcp_pcb *pcb, err_t e)
{
    (void)user;
    (void)e;
    server.pcb = pcb;
    tcp_recv(pcb, server_received);
    tcp_sent(pcb, server_sent);
    tcp_err(pcb, server_error);
    return ERR_OK;
}

/* The server forgets what was, and listens. */
static void server_begin(void)
{
    struct tcp_pcb *listener = server.listener;

    if (server.held)
        pbuf_free(server.held);
    if (server.pcb) {
        tcp_err(server.pcb, NULL);
        tcp_recv(server.pcb, NULL);
        tcp_sent(server.pcb, NULL);
        tcp_abort(server.pcb);
    }
    memset(&server, 0, sizeof server);
    server.right = true;
    server.listener = listener;
    if (!listener) {
        struct tcp_pcb *pcb = tcp_new_ip_type(IPADDR_TYPE_ANY);
        CHECK_INT(tcp_bind(pcb, IP_ANY_TYPE, PORT), ERR_OK);
        server.listener = tcp_listen(pcb);
        tcp_accept(server.listener, server_accepts);
    }
}

/* ---- the network that swallows all, and a name server ---- */

static unsigned swallowed;

static err_t swallow(struct netif *n, struct pbuf *p, const ip4_addr_t *to)
{
    (void)n;
    (void)p;
    (void)to;
    swallowed++;
    return ERR_OK;
}

static err_t hole_init(struct netif *n)
{
    n->output = swallow;
    n->mtu = 1500;
    return ERR_OK;
}

static int dns_says; /* -1: nothing; 0: an address; 3: there is no such name */
static unsigned dns_asked;

/* Answers any question with 127.0.0.1. */
static void dns_received(void *user, struct udp_pcb *pcb, struct pbuf *p,
                         const ip_addr_t *from, u16_t port)
{
    static const unsigned char record[] = {0xc0, 12, 0, 1, 0,   1, 0, 0,
                                           0,    0,  0, 4, 127, 0, 0, 1};
    struct pbuf *a;

    (void)user;
    dns_asked++;
    a = pbuf_alloc(PBUF_TRANSPORT, (u16_t)(p->tot_len + sizeof record),
                   PBUF_RAM);
    if (a && dns_says >= 0) {
        unsigned char *b = (unsigned char *)a->payload;
        pbuf_copy_partial(p, b, p->tot_len, 0);
        b[2] = 0x81;
        b[3] = (unsigned char)(0x80 | dns_says);
        b[7] = dns_says == 0;
        memcpy(b + p->tot_len, record, sizeof record);
        if (dns_says != 0)
            pbuf_realloc(a, p->tot_len);
        udp_sendto(pcb, a, from, port);
    }
    if (a)
        pbuf_free(a);
    pbuf_free(p);
}

static void set_up(void)
{
    static struct netif hole;
    struct udp_pcb *udp;
    ip4_addr_t address, mask, gate;
    ip_addr_t loop;

    lwip_init();
    IP4_ADDR(&address, 192, 0, 2, 1);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    IP4_ADDR(&gate, 192, 0, 2, 2);
    netif_add(&hole, &address, &mask, &gate, NULL, hole_init, NULL);
    netif_set_up(&hole);
    netif_set_link_up(&hole);
    IP_ADDR4(&loop, 127, 0, 0, 1);
    dns_setserver(0, &loop);
    udp = udp_new();
    udp_bind(udp, IP_ANY_TYPE, 53);
    udp_recv(udp, dns_received, NULL);
}

/* ---- this end ---- */

static tport_lwip net;

static int connect_to(const char *host, uint16_t port, tport_stream *s)
{
    int r, n = 0;

    tport_lwip_init(&net, host, port);
    *s = tport_lwip_stream(&net);
    while ((r = s->connect(s->user)) == TCALL_E_AGAIN && n++ < PATIENCE)
        turn(100);
    return r;
}

/* Reads all that comes; answers what ended it. The bytes must be right. */
static int read_all(tport_stream *s, size_t step, size_t *total, bool *right)
{
    static char b[4096];
    int r, n = 0, i;

    for (;;) {
        r = s->read(s->user, b, step);
        for (i = 0; i < r; i++)
            *right = *right && b[i] == byte_at(*total + (size_t)i);
        if (r > 0)
            *total += (size_t)r;
        else if (r != TCALL_E_AGAIN || n++ > 50)
            return r;
        else
            turn(10);
    }
}

/* Writes n bytes; answers how many were accepted before it had to stop. */
static size_t write_some(tport_stream *s, size_t from, size_t n, int patience)
{
    char b[1000];
    size_t done = 0, i;
    int r = 0;

    while (done < n) {
        size_t len = n - done < sizeof b ? n - done : sizeof b;
        for (i = 0; i < len; i++)
            b[i] = byte_at(from + done + i);
        r = s->write(s->user, b, len);
        if (r == TCALL_E_AGAIN && patience-- > 0)
            turn(10);
        else if (r <= 0)
            break;
        else
            done += (size_t)r;
    }
    return done;
}

/* ---- tests ---- */

static unsigned used(void)
{
    unsigned n = lwip_stats.mem.used;
    int i;

    for (i = 0; i < MEMP_MAX; i++)
        n += lwip_stats.memp[i]->used;
    return n;
}

/* What waits for its time to run out is not counted. */
static unsigned rest(void)
{
    int i;

    server_begin();
    for (i = 0; i < 2000; i++)
        turn(250);
    return used();
}

static void test_connect(void)
{
    static const char *const good[] = {"127.0.0.1", "::1", "known.test",
                                       "asked.test"};
    tport_stream s;
    size_t i;

    dns_says = 0;
    for (i = 0; i < COUNT_OF(good); i++) {
        about = good[i];
        server_begin();
        CHECK_INT(connect_to(good[i], PORT, &s), 0);
        CHECK_INT(s.connect(s.user), 0);
        CHECK_INT((long)write_some(&s, 0, 5, 0), 5);
        turn(10);
        turn(10);
        CHECK(server.got == 5 && server.right);
        s.close(s.user);
        s.close(s.user);
        turn(10);
        turn(10);
        CHECK(server.over);
    }
    CHECK_INT((long)dns_asked, 1);
    about = "refused";
    CHECK_INT(connect_to("127.0.0.1", NOBODY, &s), TCALL_E_CONNECT);
    CHECK(strstr(s.why(s.user), "reset"));
    s.close(s.user);
    about = "nobody answers";
    swallowed = 0;
    CHECK_INT(connect_to("192.0.2.9", PORT, &s), TCALL_E_CONNECT);
    CHECK(s.why(s.user)[0] && swallowed > TCP_SYNMAXRTX);
    s.close(s.user);
    about = "closed while connecting";
    tport_lwip_init(&net, "192.0.2.9", PORT);
    s = tport_lwip_stream(&net);
    CHECK_INT(s.connect(s.user), TCALL_E_AGAIN);
    s.close(s.user);
    CHECK_INT(s.read(s.user, (char[1]){0}, 1), TCALL_E_CLOSED);
    CHECK_INT(s.write(s.user, "x", 1), TCALL_E_CLOSED);
}

static void test_names(void)
{
    static char name[300];
    tport_stream s;
    int i;

    about = "no such name";
    dns_says = 3;
    CHECK_INT(connect_to("never.test", PORT, &s), TCALL_E_RESOLVE);
    CHECK(strstr(s.why(s.user), "unknown"));
    s.close(s.user);
    about = "no name server";
    dns_says = -1;
    CHECK_INT(connect_to("silent.test", PORT, &s), TCALL_E_RESOLVE);
    s.close(s.user);
    about = "the answer comes after close";
    tport_lwip_init(&net, "late.test", PORT);
    s = tport_lwip_stream(&net);
    CHECK_INT(s.connect(s.user), TCALL_E_AGAIN);
    s.close(s.user);
    dns_says = 0;
    for (i = 0; i < 100; i++)
        turn(100);
    CHECK(!net.pcb);
    server_begin();
    CHECK_INT(connect_to("late.test", PORT, &s), 0);
    s.close(s.user);
    about = "a name longer than lwIP takes";
    memset(name, 'a', sizeof name - 1);
    for (i = 50; i < (int)sizeof name - 1; i += 50)
        name[i] = '.';
    CHECK_INT(connect_to(name, PORT, &s), TCALL_E_RESOLVE);
    s.close(s.user);
}

static void test_no_memory(void)
{
    static tport_lwip nets[MEMP_NUM_TCP_PCB + 1];
    tport_stream s[COUNT_OF(nets)];
    size_t i;

    about = "all control blocks are in use";
    for (i = 0; i < COUNT_OF(nets); i++) {
        tport_lwip_init(&nets[i], "192.0.2.9", PORT);
        s[i] = tport_lwip_stream(&nets[i]);
        CHECK_INT(s[i].connect(s[i].user),
                  i < MEMP_NUM_TCP_PCB ? TCALL_E_AGAIN : TCALL_E_MEMORY);
    }
    CHECK(strstr(s[i - 1].why(s[i - 1].user), "MEMP_NUM_TCP_PCB"));
    for (i = 0; i < COUNT_OF(nets); i++)
        s[i].close(s[i].user);
}

static void test_ends(void)
{
    tport_stream s;
    size_t total = 0;
    bool right = true;

    about = "the peer ends, and still listens";
    server_begin();
    server.say = 100;
    server.bye = true;
    CHECK_INT(connect_to("127.0.0.1", PORT, &s), 0);
    CHECK_INT((long)write_some(&s, 0, 1, 0), 1);
    CHECK_INT(read_all(&s, 7, &total, &right), 0);
    CHECK(total == 100 && right);
    CHECK_INT(s.read(s.user, (char[1]){0}, 1), 0);
    s.close(s.user);
    about = "the peer resets, after it has spoken";
    server_begin();
    server.say = 100;
    CHECK_INT(connect_to("127.0.0.1", PORT, &s), 0);
    CHECK_INT((long)write_some(&s, 0, 1, 0), 1);
    turn(10);
    turn(10);
    turn(10);
    CHECK(server.pcb && server.said == 100);
    tcp_err(server.pcb, NULL);
    tcp_abort(server.pcb);
    server.pcb = NULL;
    turn(10);
    turn(10);
    total = 0;
    CHECK_INT(read_all(&s, 7, &total, &right), TCALL_E_CLOSED);
    CHECK(total == 100 && right);
    CHECK(strstr(s.why(s.user), "reset"));
    CHECK_INT(s.write(s.user, "x", 1), TCALL_E_CLOSED);
    s.close(s.user);
    about = "and the next connection works";
    server_begin();
    CHECK_INT(connect_to("127.0.0.1", PORT, &s), 0);
    s.close(s.user);
}

static void test_much(void)
{
    static const size_t much = 300000;
    tport_stream s;
    size_t total = 0, n, step;
    bool right = true;
    int i;

    about = "the peer takes nothing";
    server_begin();
    server.deaf = true;
    CHECK_INT(connect_to("127.0.0.1", PORT, &s), 0);
    n = write_some(&s, 0, much, 50);
    CHECK(n >= TCP_SND_BUF && n < 2 * (TCP_WND + TCP_SND_BUF));
    CHECK_INT(s.write(s.user, "x", 1), TCALL_E_AGAIN);
    about = "then it does";
    server.deaf = false;
    CHECK(server.held != NULL);
    if (server.held)
        server_take(server.held);
    server.held = NULL;
    CHECK_INT((long)write_some(&s, n, much - n, 10000), (long)(much - n));
    for (i = 0; i < 100; i++)
        turn(10);
    CHECK(server.got == much && server.right);
    s.close(s.user);

    for (step = 1; step <= 4096; step *= 64) {
        about = "the peer says much, and nobody reads for a while";
        server_begin();
        server.say = step == 1 ? 20000 : much;
        server.bye = true;
        CHECK_INT(connect_to("127.0.0.1", PORT, &s), 0);
        CHECK_INT((long)write_some(&s, 0, 1, 0), 1);
        for (i = 0; i < 100; i++)
            turn(10);
        CHECK(server.said < 2 * (TCP_WND + TCP_SND_BUF));
        total = 0;
        CHECK_INT(read_all(&s, step, &total, &right), 0);
        CHECK(total == server.say && right);
        s.close(s.user);
    }
}

/* Exchanges of HTTP, a connection for each, and connections that end in every
 * other way: nothing is left of them. */
static void test_lasting(void)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
                                 "Connection: close\r\n\r\nhello";
    static const tcall_request get = {"GET", "/", NULL, 0, 0};
    tport_stream s;
    tport_http h;
    tcall_response res;
    unsigned before = rest(), good = 0, i;
    bool right = true;

    about = "10,000 exchanges";
    for (i = 0; i < 10000; i++) {
        char b[16];
        int r, n = 0, len = 0;
        server_begin();
        server.text = answer;
        server.say = sizeof answer - 1;
        server.bye = true;
        tport_lwip_init(&net, "127.0.0.1", PORT);
        tport_http_init(&h, tport_lwip_stream(&net), "localhost", "");
        while ((r = tport_http_open(&h, &get, &res)) == TCALL_E_AGAIN &&
               n++ < 100)
            turn(1);
        while (r >= 0 || (r == TCALL_E_AGAIN && n++ < 100)) {
            r = tport_http_read(&h, b + len, sizeof b - (size_t)len);
            if (r == 0)
                break;
            len += r > 0 ? r : 0;
            if (r == TCALL_E_AGAIN)
                turn(1);
        }
        good += r == 0 && len == 5 && memcmp(b, "hello", 5) == 0;
        tport_http_drop(&h);
    }
    CHECK_INT((long)good, 10000);
    CHECK_INT((long)rest(), (long)before);
    about = "1,000 connections that end otherwise";
    for (i = 0; i < 1000; i++) {
        size_t total = 0;
        server_begin();
        server.say = 5000;
        server.deaf = i % 3 == 0;
        (void)connect_to(i % 4 ? "127.0.0.1" : "asked.test",
                         i % 5 ? PORT : NOBODY, &s);
        (void)write_some(&s, 0, 3000, (int)(i % 7));
        if (i % 2)
            (void)read_all(&s, 100, &total, &right);
        s.close(s.user);
    }
    CHECK_INT((long)rest(), (long)before);
    CHECK(right);
}

int main(void)
{
    set_up();
    test_connect();
    test_names();
    (void)rest();
    test_no_memory();
    test_ends();
    test_much();
    test_lasting();
    printf("test_lwip: with lwIP " LWIP_VERSION_STRING "\n");
    return check_sum("test_lwip");
}
