/* mcp: the profile of a server of MCP, with the three tools of examples/uno on
 * a serial line. The board is that of board.h, its pins are a variable. */
#include "examples/uno/tools.h"
#include "board.h"

static volatile uint8_t pins;

static void board_led(bool on)
{
    pins = (uint8_t)(on ? pins | 1 : pins & ~1);
}

static int32_t board_celsius10(void)
{
    return 215;
}

static void board_relay(uint8_t channel, bool on, int32_t seconds)
{
    (void)seconds;
    pins = (uint8_t)(on ? pins | 1 << channel : pins & ~(1 << channel));
}

static int send_out(void *user, const char *bytes, size_t len)
{
    size_t i;
    (void)user;
    for (i = 0; i < len; i++)
        board_put(bytes[i]);
    return (int)len;
}

int main(void)
{
    int byte;
    board_begin();
    if (board_start(send_out) != TCALL_OK)
        return 1;
    while ((byte = board_get()) >= 0) {
        char c = (char)byte;
        tcall_mcp_feed(&server, &c, 1);
    }
    return 0;
}
