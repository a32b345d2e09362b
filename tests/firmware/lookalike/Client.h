/* The class that networks of Arduino derive from, in the shape it has there. */
#pragma once
#include "Arduino.h"
struct Client {
    virtual ~Client() {}
    virtual int connect(const char *host, uint16_t port) = 0;
    virtual size_t write(const uint8_t *bytes, size_t len) = 0;
    virtual int available() = 0;
    virtual int read(uint8_t *bytes, size_t cap) = 0;
    virtual void stop() = 0;
    virtual uint8_t connected() = 0;
};
