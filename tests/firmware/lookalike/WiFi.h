/* What the sketch uses of the ESP32's Wi-Fi, in the shape it has there. */
#pragma once
#include "Arduino.h"
enum wl_status_t { WL_CONNECTED = 3 };
struct WiFiClass {
    wl_status_t begin(const char *name, const char *password);
    wl_status_t status();
};
extern WiFiClass WiFi;
