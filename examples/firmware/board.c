/* board.c - see board.h */
#include "board.h"

#include <string.h>

/* From board.ld. */
extern char flash_end[], data_load[], data_start[], data_end[], bss_start[],
    bss_end[], stack_start[], stack_end[];

int main(void);
void on_reset(void);

/* ---- console and end: semihosting, ARM's calls to a debugger ---- */

static int semihosting(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void board_print(const char *text, size_t len)
{
    char piece[64];
    size_t n;

    for (; len > 0; text += n, len -= n) {
        n = len < sizeof piece ? len : sizeof piece - 1;
        memcpy(piece, text, n);
        piece[n] = '\0';
        semihosting(0x04, piece); /* SYS_WRITE0 */
    }
}

void board_exit(int code)
{
    /* SYS_EXIT_EXTENDED with ADP_Stopped_ApplicationExit */
    const uint32_t why[2] = {0x20026, (uint32_t)code};

    for (;;)
        semihosting(0x20, why);
}

void board_panic(const char *why)
{
    board_print(why, strlen(why));
    board_print("\n", 1);
    board_exit(99);
}

/* ---- clock ---- */

static volatile uint32_t ms;

static void on_tick(void)
{
    ms++;
}

uint32_t board_ms(void)
{
    return ms;
}

void board_idle(void)
{
    __asm__ volatile("wfi");
}

uint32_t board_random(void)
{
    static uint32_t x = 2463534242u;

    x ^= ms;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
}

/* ---- memory ---- */

#define PATTERN 0xA5A5A5A5u

void board_paint(void)
{
    uint32_t *p = (uint32_t *)(void *)stack_start;
    /* Leave what this function itself has pushed. */
    uint32_t *end = (uint32_t *)__builtin_frame_address(0) - 16;

    while (p < end)
        *p++ = PATTERN;
}

size_t board_stack_used(void)
{
    const uint32_t *p = (const uint32_t *)(void *)stack_start;

    while (*p == PATTERN)
        p++;
    return (size_t)(stack_end - (const char *)p);
}

size_t board_flash(void)
{
    return (size_t)flash_end;
}

size_t board_ram(void)
{
    return (size_t)(bss_end - data_start);
}

/* ---- start ---- */

void on_reset(void)
{
    memcpy(data_start, data_load, (size_t)(data_end - data_start));
    memset(bss_start, 0, (size_t)(bss_end - bss_start));
    board_paint();
    *(volatile uint32_t *)0xE000E014 = 25000 - 1; /* SysTick at 25 MHz: 1 ms */
    *(volatile uint32_t *)0xE000E018 = 0;
    *(volatile uint32_t *)0xE000E010 = 7;
    board_exit(main());
}

static void on_fault(void)
{
    board_panic("fault");
}

typedef void (*vector)(void);

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    (vector)(void *)stack_end,
    on_reset,
    on_fault,
    on_fault,
    on_fault,
    on_fault,
    on_fault,
    0,
    0,
    0,
    0,
    on_fault,
    on_fault,
    0,
    on_fault,
    on_tick,
};
