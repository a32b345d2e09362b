#include "esp_idf.h"
