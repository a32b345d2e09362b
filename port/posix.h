/*
 * posix.h - a byte stream over POSIX sockets, and a monotonic clock
 *
 *     tport_posix socket;
 *     tport_posix_init(&socket, "localhost", 8080);
 *     tport_stream s = tport_posix_stream(&socket);
 *
 * All addresses of a name are tried in turn. Names are resolved by
 * getaddrinfo, which blocks and has its own time-out; addresses written as
 * numbers never block.
 */
#ifndef TPORT_POSIX_H
#define TPORT_POSIX_H

#include "port/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Milliseconds that each address of a name gets to answer. */
#ifndef TPORT_CONNECT_MS
#define TPORT_CONNECT_MS 10000
#endif

struct addrinfo;

typedef struct tport_posix {
    const char *host;
    uint16_t port;
    int fd; /* -1: none */
    bool up;
    short want;            /* poll event that the last AGAIN waits for */
    uint32_t since;        /* when the present attempt to connect began */
    struct addrinfo *list; /* addresses, owned until connected or closed */
    struct addrinfo *next; /* the one being tried */
    char why[128];
} tport_posix;

/* host must stay valid; nothing is done before connect. */
void tport_posix_init(tport_posix *s, const char *host, uint16_t port);

/* The stream refers to s, which must not move. */
tport_stream tport_posix_stream(tport_posix *s);

/* Monotonic milliseconds; wraps after 49 days: compare by subtracting. */
uint32_t tport_posix_now_ms(void);

#ifdef __cplusplus
}
#endif
#endif /* TPORT_POSIX_H */
