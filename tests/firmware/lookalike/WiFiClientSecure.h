#pragma once
#include "Client.h"
struct WiFiClientSecure : Client {
    void setCACert(const char *pem);
    int connect(const char *host, uint16_t port);
    size_t write(const uint8_t *bytes, size_t len);
    int available();
    int read(uint8_t *bytes, size_t cap);
    void stop();
    uint8_t connected();
};
