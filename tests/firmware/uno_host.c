/* The tools of the Arduino Uno on stdin and stdout, with the same board as
 * examples/profiles/uno.c has. */
#include "examples/uno/tools.h"

#include <stdio.h>

static void board_led(bool on)
{
    (void)on;
}

static int32_t board_celsius10(void)
{
    return 215;
}

static void board_relay(uint8_t channel, bool on, int32_t seconds)
{
    (void)channel, (void)on, (void)seconds;
}

static int send_out(void *user, const char *bytes, size_t len)
{
    (void)user;
    return (int)fwrite(bytes, 1, len, stdout);
}

int main(void)
{
    int c;
    if (board_start(send_out) != TCALL_OK)
        return 1;
    while ((c = getchar()) != EOF) {
        char byte = (char)c;
        tcall_mcp_feed(&server, &byte, 1);
        if (c == '\n')
            fflush(stdout);
    }
    return 0;
}
