/*
 * posix.h - a byte stream over POSIX sockets, and a monotonic clock
 *
 *     tport_posix socket;
 *     tport_posix_init(&socket, "localhost", 8080);
 *     tport_stream s = tport_posix_stream(&socket);
 *
 * Nothing here waits but tport_posix_wait. Addresses written as numbers, and
 * localhost, are known at once; other names are looked up by getaddrinfo in a
 * thread of its own, which is left to itself when it takes too long; on ESP-IDF
 * and Zephyr it waits in connect, however long that takes. The addresses of a
 * name are tried as in RFC 8305: IPv6 and IPv4 in turn, the next one as soon
 * as one fails, or is slow; the first that answers is taken.
 */
#ifndef TPORT_POSIX_H
#define TPORT_POSIX_H

#include "port/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Milliseconds that the resolver may be silent, and that all addresses together
 * may take. */
#ifndef TPORT_RESOLVE_MS
#define TPORT_RESOLVE_MS 10000
#endif
#ifndef TPORT_CONNECT_MS
#define TPORT_CONNECT_MS 15000
#endif

/* Milliseconds after which the next address is tried beside the others. */
#ifndef TPORT_NEXT_MS
#define TPORT_NEXT_MS 250
#endif

/* Names that may be looked up at a time, given-up ones included as long as the
 * resolver has not answered: each is a thread. Others wait for their turn; who
 * asks for a name that is being looked up already waits for that. */
#ifndef TPORT_RESOLVERS
#define TPORT_RESOLVERS 32
#endif

/* Addresses of a name that are tried; the others are ignored. */
#ifndef TPORT_ADDRESSES
#define TPORT_ADDRESSES 8
#endif

/* Room for a struct sockaddr_in or sockaddr_in6. */
typedef struct tport_address {
    uint32_t len;
    uint32_t bytes[8];
} tport_address;

struct sockaddr;

typedef struct tport_posix {
    /* May be set before connect: whether this address may be connected to.
     * Where one of the addresses of a name may not, none is: the error is
     * TCALL_E_DENIED. NULL: all may. */
    bool (*allow)(void *user, const struct sockaddr *address);
    void *user;
    /* The rest is private. */
    const char *host;
    uint16_t port;
    struct tport_lookup *lookup; /* of the name, while it is under way */
    int fd;         /* the connection, or the lookup's pipe; -1: none */
    bool up;        /* fd is the connection */
    uint8_t want;   /* events that an AGAIN since the last byte waits for */
    uint32_t since; /* when the resolver, or the first address, was begun */
    uint32_t last;  /* when the last address was */
    uint8_t count;  /* addresses known */
    uint8_t next;   /* of them were begun; each has its try below, or -1 */
    int tries[TPORT_ADDRESSES];
    tport_address addresses[TPORT_ADDRESSES];
    char why[128];
} tport_posix;

/* host must stay valid; nothing is done before connect. */
void tport_posix_init(tport_posix *s, const char *host, uint16_t port);

/* The stream refers to s, which must not move. Its connect answers
 * TCALL_E_RESOLVE when the name has no address, or the resolver does not
 * answer in time; TCALL_E_CONNECT when no address could be reached. */
tport_stream tport_posix_stream(tport_posix *s);

/* Monotonic milliseconds; wraps after 49 days: compare by subtracting. */
uint32_t tport_posix_now_ms(void);

/* Sleep until the first thing that wait names has come, or until a signal.
 * Returns how many of its handles are ready. */
int tport_posix_wait(const tcall_wait *wait);

#ifdef __cplusplus
}
#endif
#endif /* TPORT_POSIX_H */
