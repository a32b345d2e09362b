/* lwIP as in firmware, no RTOS and the raw API, on this computer and with
 * itself at the other end. */
#ifndef LWIPOPTS_H
#define LWIPOPTS_H

#define NO_SYS               1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN         0
#define LWIP_SOCKET          0

#define LWIP_IPV6           1
#define LWIP_IPV6_FRAG      0
#define LWIP_IPV6_REASS     0
#define LWIP_HAVE_LOOPIF    1
#define LWIP_NETIF_LOOPBACK 1

#define LWIP_DNS           1
#define DNS_MAX_SERVERS    1
#define DNS_TABLE_SIZE     4
#define DNS_LOCAL_HOSTLIST 1
#define DNS_LOCAL_HOSTLIST_INIT                                   \
    {                                                             \
        DNS_LOCAL_HOSTLIST_ELEM("known.test",                     \
                                IPADDR4_INIT_BYTES(127, 0, 0, 1)) \
    }

/* What is in use is counted. */
#define LWIP_STATS         1
#define LWIP_STATS_DISPLAY 0

#define MEM_ALIGNMENT    8
#define MEM_SIZE         (64 * 1024)
#define MEMP_NUM_TCP_PCB 6
#define MEMP_NUM_TCP_SEG 64
#define PBUF_POOL_SIZE   64
#define TCP_MSS          1460
#define TCP_WND          (8 * TCP_MSS)
#define TCP_SND_BUF      (4 * TCP_MSS)
#define TCP_SYNMAXRTX    4

#endif
