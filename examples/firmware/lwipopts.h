/* lwIP for one outgoing TCP connection: no RTOS, the raw API, static memory.
 * The receive window (pool) and the heap are most of lwIP's RAM. */
#ifndef LWIPOPTS_H
#define LWIPOPTS_H

#define NO_SYS               1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN         0
#define LWIP_SOCKET          0
#define LWIP_RAW             0
#define LWIP_STATS           0
#define LWIP_NOASSERT

#define LWIP_IPV6 0
#define LWIP_DHCP 0
#define LWIP_DNS  1
/* No name server can be reached from the emulated board. */
#define DNS_TABLE_SIZE     1
#define DNS_MAX_SERVERS    1
#define DNS_LOCAL_HOSTLIST 1
#define DNS_LOCAL_HOSTLIST_INIT                                    \
    {                                                              \
        DNS_LOCAL_HOSTLIST_ELEM("localhost",                       \
                                IPADDR4_INIT_BYTES(10, 0, 2, 100)) \
    }

#define MEM_ALIGNMENT             4
#define MEM_SIZE                  4096
#define MEMP_NUM_TCP_PCB          2
#define MEMP_NUM_TCP_PCB_LISTEN   1
#define MEMP_NUM_UDP_PCB          1
#define MEMP_NUM_TCP_SEG          8
#define MEMP_NUM_ARP_QUEUE        2
#define PBUF_POOL_SIZE            6
#define TCP_MSS                   1460
#define TCP_WND                   (3 * TCP_MSS)
#define TCP_SND_BUF               (2 * TCP_MSS)
#define TCP_SND_QUEUELEN          6
#define LWIP_NETIF_TX_SINGLE_PBUF 1
#define TCP_SYNMAXRTX             4

#endif
