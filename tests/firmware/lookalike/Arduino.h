/* What the sketch uses of Arduino, in the shape it has there. */
#pragma once
#include <stddef.h>
#include <stdint.h>
enum { LOW, HIGH, INPUT = 0, OUTPUT = 1, LED_BUILTIN = 13 };
#define SERIAL_RX_BUFFER_SIZE 64
void pinMode(uint8_t pin, uint8_t mode);
void digitalWrite(uint8_t pin, uint8_t value);
struct HardwareSerial {
    void begin(unsigned long baud);
    void setTimeout(unsigned long ms);
    size_t readBytesUntil(char end, char *to, size_t cap);
    size_t write(const uint8_t *bytes, size_t len);
    size_t print(const char *text);
    size_t println(const char *text);
    size_t println();
    int available();
    int read();
};
extern HardwareSerial Serial;
unsigned long millis();
void delay(unsigned long ms);
void configTime(long offset, int summer, const char *server);
