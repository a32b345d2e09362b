/*
 * main.c - an agent on an ESP32: a model switches its LED
 *
 * Wi-Fi as idf.py menuconfig sets it up, ESP-IDF's sockets, mbedTLS and bundle
 * of CAs, our HTTP and agent. Put the key of the provider in the partition
 * "nvs", namespace "toolcall", name "key". The clock is set by SNTP first:
 * without it no certificate can be checked. Not run on hardware.
 */
#include <sdkconfig.h>
#ifndef CONFIG_TOOLCALL_PORT
#error "set CONFIG_TOOLCALL_PORT=y: idf.py menuconfig, or sdkconfig.defaults"
#endif
#if CONFIG_ESP_MAIN_TASK_STACK_SIZE < 8192
#error "set CONFIG_ESP_MAIN_TASK_STACK_SIZE=8192: a TLS handshake needs it"
#endif

#include "port/port.h"

#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include <driver/gpio.h>
#include <esp_err.h>
#include <esp_event.h>
#include <esp_log.h>
#include <esp_netif.h>
#include <esp_netif_sntp.h>
#include <freertos/FreeRTOS.h>
#include <nvs.h>
#include <nvs_flash.h>
#include <protocol_examples_common.h>

#define LED GPIO_NUM_2

static int set_led(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    bool on = tcall_json_bool(tcall_json_get(args, "on"), false);

    (void)cx;
    if (gpio_set_level(LED, on) != ESP_OK)
        return TCALL_E_FAILED;
    return tcall_write_text(out, on ? "The LED is on." : "The LED is off.");
}

/* clang-format off */
static const tcall_tool tools[] = {{
    .name = "set_led",
    .description = "Switch the LED of the board on or off.",
    .parameters = TCALL_JSON({
        "type": "object",
        "properties": {"on": {"type": "boolean", "description": "true: on"}},
        "required": ["on"], "additionalProperties": false
    }),
    .run = set_led,
    .permissions = TCALL_ACTUATE,
}};
/* clang-format on */

static char block[8192], key[256];

static void get_key(void)
{
    nvs_handle_t nvs;
    size_t size = sizeof key;

    ESP_ERROR_CHECK(nvs_open("toolcall", NVS_READONLY, &nvs));
    ESP_ERROR_CHECK(nvs_get_str(nvs, "key", key, &size));
    nvs_close(nvs);
}

static void connect_network(void)
{
    const esp_sntp_config_t sntp =
        ESP_NETIF_SNTP_DEFAULT_CONFIG("pool.ntp.org");

    ESP_ERROR_CHECK(nvs_flash_init());
    ESP_ERROR_CHECK(esp_netif_init());
    ESP_ERROR_CHECK(esp_event_loop_create_default());
    ESP_ERROR_CHECK(example_connect());
    ESP_ERROR_CHECK(esp_netif_sntp_init(&sntp));
    ESP_ERROR_CHECK(esp_netif_sntp_sync_wait(pdMS_TO_TICKS(30000)));
}

void app_main(void)
{
    static tport port;
    static tcall tc;
    static tcall_agent agent;
    const tport_desc net = {.url = "https://api.openai.com"};
    const tcall_desc d = {.lenient = &tcall_lenient,
                          .report = &tcall_report,
                          .block = block,
                          .block_size = sizeof block,
                          .tools = tools,
                          .tool_count = TCALL_ARRAY_LEN(tools),
                          .allow = TCALL_ACTUATE};
    tcall_agent_desc a = {
        .tc = &tc, .provider = &tcall_openai, .model = "gpt-5.4", .key = key};
    int r;

    connect_network();
    get_key();
    ESP_ERROR_CHECK(gpio_set_direction(LED, GPIO_MODE_OUTPUT));
    r = tport_init(&port, &net);
    a.transport = tport_transport(&port);
    if (r == TCALL_OK)
        r = tcall_init(&tc, &d);
    if (r == TCALL_OK)
        r = tcall_agent_init(&agent, &a);
    if (r == TCALL_OK)
        r = tcall_agent_run(&agent, tcall_str_of("turn the light on"));
    ESP_LOGI("toolcall", "%s %s", tcall_error_code(r), tport_error(&port));
}
