/*
 * port.h - from a URL to the transport that toolcall.h asks for
 *
 *     static tport port;
 *     tport_desc d = {0};
 *     d.url = "https://api.openai.com";
 *     if (tport_init(&port, &d) < 0)
 *         puts(tport_error(&port));
 *     tcall_transport t = tport_transport(&port);
 *     ...
 *     tport_free(&port);
 *
 * Sockets, TLS and HTTP, put together for POSIX systems, with time limits. On
 * a system with a network stack of its own, take the layers and leave this.
 */
#ifndef TPORT_PORT_H
#define TPORT_PORT_H

#include "port/http.h"
#include "port/posix.h"
#include "port/tls.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tport_desc {
    /* "https://host", ":port" and a base path that is put before the path of
     * each request may follow, such as "/v1" (see tport_http_init); "http://"
     * only to this machine itself (127.x.x.x, [::1], localhost). Nothing else:
     * no user, query or fragment. Copied. */
    const char *url;

    /* Whom to trust, see tport_tls_desc; default: the system's CAs. */
    const tport_pin *pins;
    size_t pin_count;
    const char *ca_pem;
    const char *ca_file;

    /* Milliseconds for one exchange, from open to its last byte read;
     * default 600000. */
    uint32_t total_ms;

    /* Milliseconds without a byte moving in either direction; default 300000,
     * because models think for long before they begin to answer. */
    uint32_t idle_ms;

    /* Bytes of the body of one answer; default: no limit. */
    uint32_t max_body;

    /* Send keys and conversations over the network for all to read: allow
     * "http://" to any host. */
    bool insecure_plain_http;

    /* Whether an address may be connected to, see tport_posix; default: all. */
    bool (*allow)(void *user, const struct sockaddr *address);
    void *user;

    /* Headers of the answers to be kept, see tport_http; default: none. */
    tport_kept *kept;
    size_t kept_count;
} tport_desc;

typedef struct tport {
    /* All private. */
    tport_posix socket;
    tport_tls tls;
    tport_http http;
    tport_stream stream; /* the top one: tls or socket */
    bool has_tls;
    bool blocking;
    uint16_t number; /* of the port */
    uint32_t total_ms;
    uint32_t idle_ms;
    uint32_t began;    /* the exchange */
    uint32_t moved_at; /* the last byte was seen to move */
    uint32_t moved;    /* http.moved then */
    bool open;
    bool stalled; /* the last step could not go on */
    char host[256];
    char authority[264]; /* host:port as in the URL */
    char base[256];
    char why[256];
} tport;

/* Prepare; nothing is connected yet. TCALL_E_USAGE when the URL cannot be
 * used, or the errors of tport_tls_init. tport_error has the reason. Free the
 * port in any case. p must not move from here on. */
int tport_init(tport *p, const tport_desc *d);

/* The transport; it refers to p. Its connection is kept from one exchange to
 * the next. TCALL_E_TIMEOUT when a limit of time is reached. */
tcall_transport tport_transport(tport *p);

/* The same, but it never answers TCALL_E_AGAIN: it waits inside of open, write
 * and read. For programs without an agent, whose max_ms and cancel it would
 * not see. */
tcall_transport tport_blocking(tport *p);

/* What the last error was about, in words for a developer; "" when there was
 * none. Never holds the value of a header. */
const char *tport_error(const tport *p);

/* Close the connection and give back all memory. */
void tport_free(tport *p);

#ifdef __cplusplus
}
#endif
#endif /* TPORT_PORT_H */
