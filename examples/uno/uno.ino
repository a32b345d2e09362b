// The three tools of tools.h on an Arduino Uno: an MCP server on its USB port.
// Copy toolcall.h beside this file, or install the library. Not run on
// hardware; examples/profiles/uno.c is, under simavr.
#include "tools.h"

static void board_led(bool on)
{
    digitalWrite(LED_BUILTIN, on ? HIGH : LOW);
}

static int32_t board_celsius10()
{
    return 215; // where a sensor would be asked
}

static void board_relay(uint8_t channel, bool on, int32_t)
{
    digitalWrite(channel + 1, on ? HIGH : LOW); // pins 2 to 5
}

static int sendBytes(void *, const char *bytes, size_t len)
{
    return (int)Serial.write((const uint8_t *)bytes, len);
}

void setup()
{
    Serial.begin(115200);
    pinMode(LED_BUILTIN, OUTPUT);
    for (uint8_t pin = 2; pin <= 5; pin++)
        pinMode(pin, OUTPUT);
    board_start(sendBytes);
}

// The core drops bytes in silence when its ring is full. Then one may be missing
// after the newest in the ring, so all lines up to there do not count.
void loop()
{
    static uint16_t doubtful;
    if (Serial.available() >= SERIAL_RX_BUFFER_SIZE - 1)
        doubtful = SERIAL_RX_BUFFER_SIZE;
    int byte = Serial.read();
    if (byte < 0)
        return;
    if (doubtful) {
        doubtful--;
        tcall_mcp_poison(&server);
    }
    char c = (char)byte;
    tcall_mcp_feed(&server, &c, 1);
}
