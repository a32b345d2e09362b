#include "esp_idf.h"
esp_err_t esp_crt_bundle_attach(void *conf);
