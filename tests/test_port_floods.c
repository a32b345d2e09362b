/* Peers that send without end what brings nothing. Each flood ends by a limit
 * that names it; how many bytes were read decides, no clock but the last one's,
 * which the test turns. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "port_script.h"
#include "port_wire.h"

enum { MOST = 1000000 }; /* bytes that may be read of any flood */

static void told(const char *name, int error, const char *why, size_t bytes,
                 unsigned calls)
{
    printf("test_port_floods: %-22s %s after %lu bytes, %u calls: %s\n", name,
           tcall_error_code(error), (unsigned long)bytes, calls, why);
}

/* ---- records of TLS ---- */

static void plain_alert(wire *p)
{
    static const unsigned char alert[] = {21, 3, 3, 0, 2, 1, 90};
    int i;

    for (i = 0; i < 100; i++)
        pipe_put(&p->down, alert, sizeof alert);
}

static void secret_alert(wire *p)
{
    mbedtls_ssl_send_alert_message(&p->srv.ssl, MBEDTLS_SSL_ALERT_LEVEL_WARNING,
                                   90);
}

static void empty_record(wire *p)
{
    mbedtls_ssl_write(&p->srv.ssl, (const unsigned char *)"", 0);
}

#ifdef MBEDTLS_SSL_RENEGOTIATION
static void hello_request(wire *p)
{
    mbedtls_ssl_renegotiate(&p->srv.ssl);
    p->up.from = p->up.to = 0; /* the client's refusals are not read */
}
#endif

#ifdef MBEDTLS_SSL_PROTO_TLS1_3
static void ticket(wire *p)
{
    (void)mbedtls_ssl_handshake(&p->srv.ssl);
}
#endif

typedef struct record_flood {
    const char *name;
    void (*send)(wire *p);
    bool newest; /* by the newest version of TLS, not by 1.2 */
    enum { FIRST, IN_HANDSHAKE, UP } when;
} record_flood;

static const record_flood record_floods[] = {
    {"alerts, first", plain_alert, true, FIRST},
    {"alerts, 1.2", secret_alert, false, UP},
    {"alerts, newest", secret_alert, true, UP},
    {"empty records, 1.2", empty_record, false, UP},
    {"empty records, newest", empty_record, true, UP},
#ifdef MBEDTLS_SSL_RENEGOTIATION
    {"HelloRequests", hello_request, false, UP},
#endif
#ifdef MBEDTLS_SSL_PROTO_TLS1_3
    {"tickets", ticket, true, IN_HANDSHAKE},
#endif
};

static void allow_only_tls12(server *s)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03020000
    mbedtls_ssl_conf_max_tls_version(&s->conf, MBEDTLS_SSL_VERSION_TLS1_2);
#else
    (void)s;
#endif
}

static void allow_floods(server *s, bool tickets)
{
#ifdef MBEDTLS_SSL_RENEGOTIATION
    mbedtls_ssl_conf_renegotiation(&s->conf, MBEDTLS_SSL_RENEGOTIATION_ENABLED);
    mbedtls_ssl_conf_renegotiation_enforced(
        &s->conf, MBEDTLS_SSL_RENEGOTIATION_NOT_ENFORCED);
#endif
#ifdef MBEDTLS_SSL_PROTO_TLS1_3
    if (tickets)
        mbedtls_ssl_conf_new_session_tickets(&s->conf, 65535);
#endif
    (void)s;
    (void)tickets;
}

/* mbedTLS itself ends the connection after four empty records of TLS 1.2, as
 * if they were forged. */
static bool is_right(const record_flood *f, int error)
{
    if (f->send == empty_record && error == TCALL_E_TLS)
        return strstr(tport_tls_why(&tls), "TLS failed") != NULL;
    return error == TCALL_E_LIMIT &&
           strstr(tport_tls_why(&tls), "records of TLS without data");
}

static void flood_records(const record_flood *f)
{
    tport_tls_desc d = {0};
    tport_stream s;
    unsigned calls = 1;
    size_t before;
    char b[64];
    int r;

    about = f->name;
    memset(&w, 0, sizeof w);
    d.host = "localhost";
    d.ca_pem = local.ca;
    CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), 0);
    s = tport_tls_stream(&tls);
    server_init(&w.srv, &local);
    allow_floods(&w.srv, f->when == IN_HANDSHAKE);
    if (!f->newest)
        allow_only_tls12(&w.srv);
    w.flood = f->when == FIRST ? f->send : NULL;
    r = connect_all(&s);
    if (f->when == UP)
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_AGAIN);
    before = f->when == FIRST ? 0 : w.moved;
    w.flood = f->send;
    while (f->when != FIRST && (r == 0 || r == TCALL_E_AGAIN) &&
           calls++ < PATIENCE)
        r = s.read(s.user, b, sizeof b);
    told(f->name, r, tport_tls_why(&tls), w.moved - before, calls);
    CHECK(is_right(f, r));
    CHECK(w.moved - before < MOST);
    about = "the next connection works";
    w.flood = NULL;
    s.close(s.user);
    server_free(&w.srv);
    server_init(&w.srv, &local);
    CHECK_INT(connect_all(&s), 0);
    end_tls();
}

/* ---- HTTP ---- */

/* A stream that says first, then again without end. */
typedef struct gush {
    const char *first, *again;
    size_t at, given;
    unsigned calls;
    bool slow; /* a byte at a time, each of which takes 100 ms */
} gush;

/* The clock of port/, in place of its own by the linker. */
static uint32_t turned_ms;

uint32_t __wrap_tport_posix_now_ms(void);

uint32_t __wrap_tport_posix_now_ms(void)
{
    return turned_ms;
}

static int gush_connect(void *user)
{
    (void)user;
    return 0;
}

static int gush_read(void *user, char *bytes, size_t cap)
{
    gush *g = user;
    size_t n;

    g->calls++;
    cap = g->slow ? 1 : cap;
    turned_ms += g->slow ? 100 : 0;
    for (n = 0; n < cap; n++) {
        while (!g->first[g->at]) {
            g->first = g->again;
            g->at = 0;
        }
        bytes[n] = g->first[g->at++];
    }
    g->given += n;
    return (int)n;
}

static int gush_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    (void)bytes;
    return (int)len;
}

static void gush_close(void *user)
{
    (void)user;
}

static tport_stream gush_stream(gush *g)
{
    tport_stream s = {gush_connect, gush_read, gush_write, gush_close,
                      NULL,         NULL,      g};

    return s;
}

static const struct {
    const char *name, *first, *again, *says;
} http_floods[] = {
    {"answers 1xx", "", "HTTP/1.1 100 Continue\r\n\r\n", "interim"},
    {"answers 1xx, long", "", "HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n",
     "interim"},
    {"reason", "HTTP/1.1 200 ", "OK", "a line is too long"},
    {"header bytes", OK1 "A: ", "b", "a line is too long"},
    {"header name", OK1, "a", "a line is too long"},
    {"header lines", OK1, "a: b\r\n", "too many headers"},
    {"header lines, long", OK1,
     "a: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
     "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
     "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
     "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
     "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
     "\r\n",
     "the head is too long"},
    {"chunk size", CHUNKED, "0", "a line is too long"},
    {"chunk extension", CHUNKED "1;", "a=b;", "a line is too long"},
    {"chunk extensions", CHUNKED, "1;abcdefgh\r\nx\r\n",
     "extensions of chunks"},
    {"trailers", CHUNKED "0\r\n", "a: b\r\n", "too many headers"},
};

static void flood_http(const char *name, const char *first, const char *again,
                       const char *says)
{
    static result x;
    gush g = {0};
    tcall_transport t;
    tport_http h;
    int r;

    about = name;
    g.first = first;
    g.again = again;
    tport_http_init(&h, gush_stream(&g), "host", "");
    t = tport_http_transport(&h);
    memset(&x, 0, sizeof x);
    CHECK_INT(open_all(&t, &get, &x.res), 0);
    do {
        x.len = 0;
        r = t.read(t.user, x.body, sizeof x.body);
    } while (r > 0 && g.given < 2 * MOST);
    told(name, r, tport_http_why(&h), g.given, g.calls);
    CHECK(r == TCALL_E_LIMIT || r == TCALL_E_PROTOCOL);
    CHECK(strstr(tport_http_why(&h), says));
    CHECK(g.given < MOST);
    t.close(t.user);
    tport_http_drop(&h);
}

/* ---- what is in the answer of a provider ---- */

#define EVENT(length, data) length "\r\n" data "\n\n\r\n"
#define HELLO                                                                     \
    "3d\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}" \
    "\n\n\r\n"

static const struct {
    const char *name, *first, *again, *says;
} event_floods[] = {
    {"SSE comments, first", CHUNKED, EVENT("9", ": again"), ": again"},
    {"SSE comments", CHUNKED HELLO, EVENT("9", ": again"), "comments"},
    {"SSE, blank lines", CHUNKED HELLO, EVENT("3", "\n"), "comments"},
    {"SSE, other fields", CHUNKED HELLO, EVENT("9", "id: 123"), "comments"},
    {"empty events", CHUNKED HELLO, EVENT("a", "data: {}"), "empty events"},
    {"events of nothing", CHUNKED HELLO, EVENT("16", "data: {\"choices\":[]}"),
     "empty events"},
};

static void flood_events(const char *name, const char *first, const char *again,
                         const char *says)
{
    static uint64_t memory[512];
    static char piece[1000];
    tcall_response res;
    tcall_block block;
    tcall_chat chat;
    tcall_reader reader;
    tcall_transport t;
    tport_http h;
    gush g = {0};
    int n, r = TCALL_OK;

    about = name;
    g.first = first;
    g.again = again;
    tport_http_init(&h, gush_stream(&g), "host", "");
    t = tport_http_transport(&h);
    memset(&block, 0, sizeof block);
    block.base = (char *)memory;
    block.size = sizeof memory;
    tcall_chat_init(&chat, &block);
    tcall_reader_init(&reader, &tcall_openai, &chat, NULL, NULL);
    CHECK_INT(open_all(&t, &get, &res), 0);
    do {
        n = t.read(t.user, piece, sizeof piece);
        if (n > 0)
            r = tcall_reader_feed(&reader, piece, (size_t)n);
    } while (n > 0 && r == TCALL_OK && g.given < 2 * MOST);
    told(name, r, reader.answer.message, g.given, g.calls);
    CHECK_INT(r, TCALL_E_LIMIT);
    CHECK(strstr(reader.answer.message, says));
    CHECK(g.given < MOST);
    CHECK_INT(tcall_reader_end(&reader), TCALL_E_LIMIT);
    t.close(t.user);
    tport_http_drop(&h);
}

/* Bytes that come slowly, but never stop: the time of an exchange ends them. */
static void flood_slowly(const char *name, const char *first, const char *again)
{
    static result x;
    static tport port;
    tport_desc d = {0};
    tcall_transport t;
    gush g = {0};
    int r;

    about = name;
    g.first = first;
    g.again = again;
    g.slow = true;
    d.url = "http://127.0.0.1";
    d.total_ms = 60000;
    d.idle_ms = 1000;
    CHECK_INT(tport_init(&port, &d), 0);
    port.http.stream = gush_stream(&g);
    t = tport_transport(&port);
    memset(&x, 0, sizeof x);
    CHECK_INT(open_all(&t, &get, &x.res), 0);
    do {
        x.len = 0;
        r = t.read(t.user, x.body, sizeof x.body);
    } while (r > 0 && g.given < 2 * MOST);
    told(name, r, tport_error(&port), g.given, g.calls);
    CHECK_INT(r, TCALL_E_TIMEOUT);
    CHECK(strstr(tport_error(&port), "the exchange took too long"));
    CHECK(g.given < 700);
    t.close(t.user);
    tport_free(&port);
}

int main(void)
{
    size_t i;

    begin();
    for (i = 0; i < COUNT_OF(record_floods); i++)
        flood_records(&record_floods[i]);
    for (i = 0; i < COUNT_OF(http_floods); i++)
        flood_http(http_floods[i].name, http_floods[i].first,
                   http_floods[i].again, http_floods[i].says);
    for (i = 0; i < COUNT_OF(event_floods); i++)
        flood_events(event_floods[i].name, event_floods[i].first,
                     event_floods[i].again, event_floods[i].says);
    flood_slowly("slow body", CHUNKED, "1\r\nx\r\n");
    flood_slowly("slow events", CHUNKED HELLO, EVENT("9", ": again"));
    return check_sum("test_port_floods");
}
