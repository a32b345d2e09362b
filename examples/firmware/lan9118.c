/* lan9118.c - see lan9118.h, and the data sheet of the chip for its names */
#include "lan9118.h"

#include <lwip/etharp.h>
#include <lwip/pbuf.h>
#include <stdbool.h>
#include <string.h>

#define REG(offset)  (*(volatile uint32_t *)(0x40200000u + (offset)))
#define RX_DATA      REG(0x00)
#define TX_DATA      REG(0x20)
#define RX_STATUS    REG(0x40)
#define ID_REV       REG(0x50)
#define INT_EN       REG(0x5c)
#define TX_CFG       REG(0x70)
#define HW_CFG       REG(0x74)
#define RX_FIFO_INF  REG(0x7c)
#define TX_FIFO_INF  REG(0x80)
#define MAC_CSR_CMD  REG(0xa4)
#define MAC_CSR_DATA REG(0xa8)

#define BUSY 0x80000000u

enum { MAC_CR = 1, ADDRH = 2, ADDRL = 3 };

static void mac_write(uint32_t reg, uint32_t value)
{
    MAC_CSR_DATA = value;
    MAC_CSR_CMD = BUSY | reg;
    while (MAC_CSR_CMD & BUSY)
        continue;
}

/* Frames come in one piece: LWIP_NETIF_TX_SINGLE_PBUF. */
static err_t send(struct netif *netif, struct pbuf *p)
{
    const char *at = (const char *)p->payload;
    uint32_t len = p->len, word, i;

    (void)netif;
    if (p->next || (TX_FIFO_INF & 0xffff) < len + 16)
        return ERR_MEM;     /* TCP sends it again */
    TX_DATA = 0x3000 | len; /* first and last segment */
    TX_DATA = len << 16 | len;
    for (i = 0; i < len; i += sizeof word) {
        word = 0;
        memcpy(&word, at + i, len - i < sizeof word ? len - i : sizeof word);
        TX_DATA = word;
    }
    return ERR_OK;
}

/* One frame of len bytes, checksum included, or NULL: it is read in any case,
 * so that the next one can be. */
static struct pbuf *receive(uint32_t len, bool good)
{
    uint32_t words = (len + 3) / 4, i, word;
    struct pbuf *p = NULL;

    if (good)
        p = pbuf_alloc(PBUF_RAW, (u16_t)(words * 4), PBUF_POOL);
    for (i = 0; i < words; i++) {
        word = RX_DATA;
        if (p)
            pbuf_take_at(p, &word, sizeof word, (u16_t)(i * 4));
    }
    if (p)
        pbuf_realloc(p, (u16_t)(len - 4));
    return p;
}

void lan9118_poll(struct netif *netif)
{
    while (RX_FIFO_INF & 0xff0000) {
        uint32_t status = RX_STATUS, len = status >> 16 & 0x3fff;
        struct pbuf *p = receive(len, len > 4 && !(status & 0x8000));
        if (p && netif->input(p, netif) != ERR_OK)
            pbuf_free(p);
    }
}

err_t lan9118_init(struct netif *netif)
{
    static const uint8_t address[6] = {0x52, 0x54, 0x00, 0x12, 0x34, 0x56};

    if (ID_REV >> 16 != 0x0118)
        return ERR_IF;
    HW_CFG = 1; /* reset */
    while (HW_CFG & 1)
        continue;
    INT_EN = 0;
    TX_CFG = 2;
    mac_write(ADDRH, (uint32_t)address[5] << 8 | address[4]);
    mac_write(ADDRL, (uint32_t)address[3] << 24 | (uint32_t)address[2] << 16 |
                         (uint32_t)address[1] << 8 | address[0]);
    mac_write(MAC_CR, 0x0c); /* receive and send */
    memcpy(netif->hwaddr, address, sizeof address);
    netif->hwaddr_len = sizeof address;
    netif->mtu = 1500;
    netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP |
                   NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
    netif->output = etharp_output;
    netif->linkoutput = send;
    return ERR_OK;
}
