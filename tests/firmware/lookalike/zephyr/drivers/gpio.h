/* What the example uses of Zephyr, in the shape it has there. */
#pragma once
#include <stdint.h>
#include <string.h>
struct device;
struct gpio_dt_spec {
    const struct device *port;
    uint8_t pin;
    uint16_t dt_flags;
};
#define DT_ALIAS(name) name
#define GPIO_DT_SPEC_GET(node, property) {0, 0, 0}
#define GPIO_OUTPUT_INACTIVE 1u
int gpio_pin_configure_dt(const struct gpio_dt_spec *spec, uint32_t flags);
int gpio_pin_set_dt(const struct gpio_dt_spec *spec, int value);
