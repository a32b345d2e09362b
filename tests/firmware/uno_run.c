/*
 * uno_run.c - an Arduino Uno under simavr, at 115,200 baud
 *
 *     uno_run ELF         its UART is stdin and stdout: the next line is sent
 *                         when the answer to the last one has come
 *     uno_run ELF LINK    its UART is a pseudo-terminal to which LINK points
 *
 * MCU names another chip. Ends when the other side does, and says on stderr how
 * much RAM was touched: all of it is painted before the start.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <poll.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_io.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

enum { PAINT = 0xA5, BYTE = 1389, QUIET = 400000 }; /* in cycles */

static int in = 0, out = 1;
static int slave = -1; /* keeps the terminal open until somebody else does */
static bool asked;     /* a line was sent */
static avr_cycle_count_t last; /* when the UART was last at work */

static void on_byte(avr_irq_t *irq, uint32_t byte, void *user)
{
    char c = (char)byte;
    (void)irq;
    if (write(out, &c, 1) != 1)
        exit(95);
    last = ((avr_t *)user)->cycle;
}

static void open_terminal(const char *link)
{
    struct termios raw;
    in = out = posix_openpt(O_RDWR | O_NOCTTY);
    if (in < 0 || grantpt(in) || unlockpt(in))
        exit(96);
    slave = open(ptsname(in), O_RDWR | O_NOCTTY);
    tcgetattr(slave, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    unlink(link);
    if (symlink(ptsname(in), link))
        exit(96);
}

/* Sends the next byte to the chip; waits a little for one where nothing goes
 * on. Returns false when the other side has gone. */
static bool send_byte(avr_t *avr, avr_irq_t *uart, bool quiet)
{
    struct pollfd ready = {in, POLLIN, 0};
    unsigned char byte;
    if (poll(&ready, 1, quiet ? 20 : 0) <= 0)
        return true;
    if (!(ready.revents & POLLIN) || read(in, &byte, 1) != 1)
        return false;
    if (slave >= 0)
        close(slave);
    slave = -1;
    avr_raise_irq(uart, byte);
    last = avr->cycle;
    asked = byte == '\n';
    return true;
}

/* Runs until the other side has gone. Returns the chip's state. */
static int run(avr_t *avr, avr_irq_t *uart, bool in_turns)
{
    avr_cycle_count_t next = 40000;
    bool ended = false, quiet = true;
    int state = cpu_Running;
    while (state != cpu_Done && state != cpu_Crashed && !(ended && quiet)) {
        state = avr_run(avr);
        quiet = avr->cycle > last + QUIET;
        if (avr->cycle < next)
            continue;
        next = avr->cycle + BYTE;
        if (!ended && (quiet || !asked || !in_turns))
            ended = !send_byte(avr, uart, quiet);
    }
    return state;
}

int main(int argc, char **argv)
{
    static elf_firmware_t program;
    const char *chip = getenv("MCU");
    avr_t *avr = avr_make_mcu_by_name(chip ? chip : "atmega328p");
    uint32_t flags = 0, low, at;
    avr_irq_t *uart;
    int state;

    out = dup(1); /* simavr itself writes to stdout */
    dup2(2, 1);
    if (argc < 2 || !avr || elf_read_firmware(argv[1], &program) != 0)
        return 97;
    if (argc > 2)
        open_terminal(argv[2]);
    avr_init(avr);
    avr->log = LOG_NONE;
    program.frequency = 16000000;
    avr_load_firmware(avr, &program);
    low = 0x100 + program.datasize + program.bsssize;
    for (at = low; at <= avr->ramend; at++)
        avr->data[at] = PAINT;
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(
        avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT),
        on_byte, avr);
    uart = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    state = run(avr, uart, argc == 2);
    for (at = low; at <= avr->ramend && avr->data[at] == PAINT; at++) {
    }
    fprintf(stderr, "uno: static %u, stack %u of %u\n", low - 0x100,
            avr->ramend + 1 - at, avr->ramend + 1 - low);
    return state == cpu_Crashed ? 99 : 0;
}
