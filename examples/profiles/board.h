/* The serial line of a board, all that the profiles need of one: the UART of
 * an ATmega328P at 115,200 baud, those of the boards that QEMU emulates, or
 * standard input and output. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined __AVR__
#include <avr/io.h>

static void board_begin(void)
{
    UBRR0 = 16; /* 115,200 baud at 16 MHz */
    UCSR0A = _BV(U2X0);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0);
}

static int board_get(void)
{
    while (!(UCSR0A & _BV(RXC0)))
        continue;
    return UDR0;
}

static void board_put(char c)
{
    while (!(UCSR0A & _BV(UDRE0)))
        continue;
    UDR0 = (uint8_t)c;
}

#elif defined __arm__ && !defined __linux__ /* mps2-an385 and -an386 */
static volatile uint32_t *const uart = (volatile uint32_t *)0x40004000;

static void board_begin(void)
{
    uart[4] = 16; /* divides the clock */
    uart[2] = 3;  /* send and receive */
}

static int board_get(void)
{
    while (!(uart[1] & 2))
        continue;
    return (int)uart[0];
}

static void board_put(char c)
{
    while (uart[1] & 1)
        continue;
    uart[0] = (uint8_t)c;
}

#elif defined __riscv && !defined __linux__ /* virt */
static volatile uint8_t *const uart = (volatile uint8_t *)0x10000000;

static void board_begin(void)
{
}

static int board_get(void)
{
    while (!(uart[5] & 1))
        continue;
    return uart[0];
}

static void board_put(char c)
{
    while (!(uart[5] & 0x20))
        continue;
    uart[0] = (uint8_t)c;
}

#else
#include <stdio.h>

static void board_begin(void)
{
}

static int board_get(void)
{
    return getchar();
}

static void board_put(char c)
{
    putchar(c);
}
#endif

/* Reads up to the next space. Returns false at the end of the input. */
static inline bool board_word(char *word, size_t size)
{
    size_t len = 0;
    int c;
    while ((c = board_get()) > ' ')
        if (len < size - 1)
            word[len++] = (char)c;
    word[len] = '\0';
    return c >= 0;
}

static inline void board_number(unsigned number)
{
    if (number >= 10)
        board_number(number / 10);
    board_put((char)('0' + number % 10));
}

/* Writes the way to a value: /0/1 */
static inline void board_path(const uint16_t *steps, uint8_t count)
{
    while (count--) {
        board_put('/');
        board_number(*steps++);
    }
}

/* Reads up to the end of the line; what does not fit is left out. */
static inline void board_line(char *line, size_t size)
{
    size_t len = 0;
    int c;
    while ((c = board_get()) >= ' ')
        if (len < size - 1)
            line[len++] = (char)c;
    line[len] = '\0';
}

/* Writes a line. */
static inline void board_say(const char *text, size_t len)
{
    while (len--)
        board_put(*text++);
    board_put('\n');
}
