/* lx106.c - what a test needs on the emulated core of an ESP8266 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern char data_start[], data_end[], data_load[];

int main(void);
int lx106_call(int number, int a, const void *b, int c);
void lx106_start(void);

static int put(char c, FILE *f)
{
    (void)f;
    lx106_call(4, 1, &c, 1); /* write */
    return c;
}

static FILE console = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdout = &console;

void _exit(int code)
{
    for (;;)
        lx106_call(1, code, NULL, 0);
}

/* No time passes here; tests that measure it don't where CHECK_EVERY > 1. */
clock_t clock(void)
{
    return 0;
}

void lx106_start(void)
{
    memcpy(data_start, data_load, (size_t)(data_end - data_start));
    exit(main()); /* .bss is new memory, which is zero */
}

/* Debian's libgcc leaves division out, which the chip has in its ROM, and what
 * takes 64 bits. */
typedef unsigned long long u64;

unsigned __udivsi3(unsigned a, unsigned b);
unsigned __umodsi3(unsigned a, unsigned b);
int __divsi3(int a, int b);
int __modsi3(int a, int b);
u64 __udivdi3(u64 a, u64 b);
u64 __umoddi3(u64 a, u64 b);
u64 __muldi3(u64 a, u64 b);

static u64 divide(u64 a, u64 b, u64 *rest)
{
    u64 q = 0, r = 0;
    int i;

    for (i = 63; i >= 0; i--) {
        r = r << 1 | (a >> i & 1);
        q <<= 1;
        if (r >= b) {
            r -= b;
            q |= 1;
        }
    }
    *rest = r;
    return q;
}

static unsigned magnitude(int a)
{
    return a < 0 ? 0u - (unsigned)a : (unsigned)a;
}

u64 __udivdi3(u64 a, u64 b)
{
    u64 rest;

    return divide(a, b, &rest);
}

u64 __umoddi3(u64 a, u64 b)
{
    u64 rest;

    divide(a, b, &rest);
    return rest;
}

u64 __muldi3(u64 a, u64 b)
{
    u64 sum = 0;

    for (; b; a <<= 1, b >>= 1)
        if (b & 1)
            sum += a;
    return sum;
}

unsigned __udivsi3(unsigned a, unsigned b)
{
    return (unsigned)__udivdi3(a, b);
}

unsigned __umodsi3(unsigned a, unsigned b)
{
    return (unsigned)__umoddi3(a, b);
}

int __divsi3(int a, int b)
{
    int q = (int)__udivsi3(magnitude(a), magnitude(b));

    return (a < 0) != (b < 0) ? -q : q;
}

int __modsi3(int a, int b)
{
    int r = (int)__umodsi3(magnitude(a), magnitude(b));

    return a < 0 ? -r : r;
}
