/*
 * board.h - the emulated board: QEMU's mps2-an385, a Cortex-M3
 *
 * What a product replaces: start-up, console, clock, random numbers, and in
 * lan9118.h the Ethernet chip.
 */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

/* Text to the console (semihosting). */
void board_print(const char *text, size_t len);
/* End the emulator with this exit code. */
void board_exit(int code);
void board_panic(const char *why);

/* Sleep until the next interrupt: a millisecond at most. */
void board_idle(void);

/* Milliseconds since the start; wraps. */
uint32_t board_ms(void);
/* For lwIP's port numbers. No secret depends on it. */
uint32_t board_random(void);

/* Most bytes of stack that were in use since the last board_paint, which
 * fills the unused part with a pattern. */
size_t board_stack_used(void);
void board_paint(void);

/* Bytes in flash and of static RAM, the stack's not among them. */
size_t board_flash(void);
size_t board_ram(void);

#endif
