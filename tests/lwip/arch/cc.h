/* What lwIP asks of the compiler and the computer. */
#ifndef ARCH_CC_H
#define ARCH_CC_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#define LWIP_PLATFORM_DIAG(x)
#define LWIP_PLATFORM_ASSERT(x) (fprintf(stderr, "lwIP: %s\n", x), abort())
#define LWIP_RAND()             ((u32_t)rand())

#endif
