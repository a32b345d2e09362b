/*
 * freed.h - overwrites what the block gets back, so that who still reads it is
 * seen: included before the library, or by EXTRA='-include tests/freed.h'
 */
#ifndef TCALL_FREED_
#define TCALL_FREED_(bytes, size) \
    ((void)((size) ? memset(bytes, 0xDB, size) : NULL))
#endif
