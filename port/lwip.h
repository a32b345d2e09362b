/*
 * lwip.h - a byte stream over lwIP's raw API, for firmware without an RTOS
 *
 *     static tport_lwip net;
 *     tport_lwip_init(&net, "api.example.com", 443);
 *     tport_stream s = tport_lwip_stream(&net);
 *     for (;;) {
 *         ethernet_poll();
 *         sys_check_timeouts();
 *         r = tcall_agent_step(&agent);
 *         ...
 *     }
 *
 * Everything happens in the one loop that also polls the network, so nothing
 * here waits and nothing is locked. Where lwIP has a thread of its own
 * (ESP-IDF, Zephyr, NO_SYS 0), take port/posix.h over its sockets instead.
 * lwIP 2.0 or newer; names need LWIP_DNS. How often lwIP tries to connect, and
 * for how long, is in its own options (TCP_SYNMAXRTX).
 */
#ifndef TPORT_LWIP_H
#define TPORT_LWIP_H

#include "port/stream.h"

#include <lwip/ip_addr.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pbuf;
struct tcp_pcb;

typedef struct tport_lwip {
    /* All private. */
    const char *host;
    uint16_t port;
    uint8_t state;
    ip_addr_t address;
    struct tcp_pcb *pcb;   /* NULL: none, or lwIP has freed it */
    struct pbuf *received; /* and not yet read */
    const char *why;
} tport_lwip;

/* host is a name or an address and must stay valid; nothing is done before
 * connect. */
void tport_lwip_init(tport_lwip *s, const char *host, uint16_t port);

/* The stream refers to s, which must neither move nor go away: lwIP may still
 * answer about a name after close. Its wants is NULL: poll the network.
 * connect: TCALL_E_RESOLVE, TCALL_E_CONNECT, TCALL_E_MEMORY. */
tport_stream tport_lwip_stream(tport_lwip *s);

#ifdef __cplusplus
}
#endif
#endif /* TPORT_LWIP_H */
