/*
 * mcp.c - the profile `mcp`: an MCP server with three tools on a line
 *
 * The driver of the line gives line_read and line_write; here they are what
 * semihosting or a simulator offers. See examples/uno for a whole board.
 */
#include "examples/uno/tools.h"

int line_read(char *bytes, size_t size); /* <= 0: the line has ended */
int line_write(const char *bytes, size_t len);

static volatile uint32_t pins;

static void board_led(bool on)
{
    pins = on ? pins | 1u : pins & ~1u;
}

static int32_t board_celsius10(void)
{
    return 215;
}

static void board_relay(uint8_t channel, bool on, int32_t seconds)
{
    (void)seconds;
    pins = on ? pins | 1u << channel : pins & ~(1u << channel);
}

static int send(void *user, const char *bytes, size_t len)
{
    (void)user;
    return line_write(bytes, len);
}

int main(void)
{
    char bytes[16];
    int len;
    if (board_start(send) != TCALL_OK)
        return 1;
    while ((len = line_read(bytes, sizeof bytes)) > 0)
        tcall_mcp_feed(&server, bytes, (size_t)len);
    return 0;
}
