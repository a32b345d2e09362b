/* lan9118.h - the Ethernet chip of the board, SMSC LAN9118, polled */
#ifndef LAN9118_H
#define LAN9118_H

#include <lwip/netif.h>

/* For netif_add. ERR_IF: there is no such chip. */
err_t lan9118_init(struct netif *netif);
/* Hands on what has arrived; call it in the main loop. */
void lan9118_poll(struct netif *netif);

#endif
