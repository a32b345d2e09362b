/* Whom TLS trusts on ESP-IDF: its bundle of CAs where the program names none,
 * by port/tls.c as it is compiled there, with a look-alike of the bundle. */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include "port/tls.h"
#include "tests/check.h"

#include <esp_crt_bundle.h>

static int attached, answer;

esp_err_t esp_crt_bundle_attach(void *conf)
{
    attached += conf != NULL;
    return answer;
}

/* Attaches the bundle or not, and answers what tport_tls_init did. */
static int init(const tport_tls_desc *desc, int bundle)
{
    static tport_tls tls;
    tport_stream nowhere;
    int result;

    memset(&nowhere, 0, sizeof nowhere);
    attached = 0;
    answer = bundle;
    result = tport_tls_init(&tls, desc, nowhere);
    tport_tls_free(&tls);
    return result;
}

int main(void)
{
    static const tport_pin pin = {0};
    tport_tls_desc desc;

    memset(&desc, 0, sizeof desc);
    desc.host = "api.test";
    CHECK(init(&desc, ESP_OK) == 0 && attached == 1);
    CHECK(init(&desc, -1) < 0 && attached == 1);
    desc.ca_pem = "no certificate";
    CHECK(init(&desc, ESP_OK) == TCALL_E_CERTIFICATE && attached == 0);
    desc.ca_pem = NULL;
    desc.pins = &pin;
    desc.pin_count = 1;
    CHECK(init(&desc, ESP_OK) == 0 && attached == 0);
    return check_sum("bundle");
}
