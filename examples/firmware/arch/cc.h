/* What lwIP asks of the compiler and the board. */
#ifndef ARCH_CC_H
#define ARCH_CC_H

#include "board.h"

#include <errno.h>
#include <sys/time.h>

#define LWIP_NO_UNISTD_H      1
#define LWIP_ERRNO_STDINCLUDE 1
#define LWIP_PLATFORM_DIAG(x)
#define LWIP_PLATFORM_ASSERT(x) board_panic(x)
#define LWIP_RAND()             board_random()

#endif
