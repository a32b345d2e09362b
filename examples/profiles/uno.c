/*
 * uno: the three tools on an ATmega328P without anything else
 *
 * The UART at 115,200 baud, 8N1. The interrupt only fills a ring; while an
 * answer goes out, the ring is all there is, so a client that does not wait for
 * it is refused. examples/bridge.c does wait.
 */
#include "examples/uno/tools.h"
#include <avr/interrupt.h>
#include <avr/io.h>

static volatile uint8_t ring[64], head, tail;
static bool lost; /* bytes, after the newest in the ring */

static void board_led(bool on)
{
    if (on)
        PORTB |= 1 << PORTB5;
    else
        PORTB &= (uint8_t) ~(1 << PORTB5);
}

static int32_t board_celsius10(void)
{
    return 215; /* where a sensor would be asked */
}

static void board_relay(uint8_t channel, bool on, int32_t seconds)
{
    (void)seconds;
    if (on)
        PORTD |= (uint8_t)(1 << (channel + 1));
    else
        PORTD &= (uint8_t) ~(1 << (channel + 1));
}

static void ring_put(uint8_t byte)
{
    ring[head] = byte;
    head = (head + 1) & (sizeof ring - 1);
}

/* Where bytes were lost, a byte that no JSON has marks the line: it is refused,
 * whatever is left of it. */
ISR(USART_RX_vect)
{
    uint8_t status = UCSR0A, byte = UDR0;
    uint8_t room = (uint8_t)(tail - head - 1) & (sizeof ring - 1);
    if (status & (1 << DOR0 | 1 << FE0))
        lost = true;
    if (lost && room > 1) {
        ring_put(0xFF);
        lost = false;
        room--;
    }
    if (room && !lost)
        ring_put(byte);
    else
        lost = true;
}

static int send(void *user, const char *bytes, size_t len)
{
    size_t i;
    (void)user;
    for (i = 0; i < len; i++) {
        while (!(UCSR0A & 1 << UDRE0)) {
        }
        UDR0 = (uint8_t)bytes[i];
    }
    return (int)len;
}

int main(void)
{
    UCSR0A = 1 << U2X0;
    UBRR0 = 16;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0 | 1 << RXCIE0;
    DDRB = 1 << DDB5;
    DDRD = 0x3C;
    board_start(send);
    sei();
    for (;;) {
        char byte;
        if (tail == head)
            continue;
        byte = (char)ring[tail];
        tail = (tail + 1) & (sizeof ring - 1);
        tcall_mcp_feed(&server, &byte, 1);
    }
}
