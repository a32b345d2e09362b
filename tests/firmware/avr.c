/* avr.c - what a test needs on an emulated AVR: two registers that avr_run.c
 * watches, one for characters, one for main's value. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <stdio.h>
#include <time.h>

static int put(char c, FILE *f)
{
    (void)f;
    GPIOR1 = (unsigned char)c;
    return 0;
}

static FILE console = FDEV_SETUP_STREAM(put, NULL, _FDEV_SETUP_WRITE);

clock_t clock(void);

__attribute__((constructor)) static void begin(void)
{
    stdout = &console;
}

/* No time passes here; tests that measure it don't where CHECK_EVERY > 1. */
clock_t clock(void)
{
    return 0;
}

/* The tests' main has this name. */
int test_main(void);

int main(void)
{
    GPIOR0 = (unsigned char)test_main();
    cli();
    sleep_mode(); /* without interrupts: the end */
    return 0;
}
