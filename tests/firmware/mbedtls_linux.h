/* The same mbedTLS as in the firmware, for a small Linux: with the system's
 * memory, random numbers, clock and files. */
#include "examples/firmware/mbedtls_config.h"

#undef MBEDTLS_PLATFORM_MEMORY
#undef MBEDTLS_PLATFORM_STD_CALLOC
#undef MBEDTLS_PLATFORM_STD_FREE
#undef MBEDTLS_MEMORY_BUFFER_ALLOC_C
#undef MBEDTLS_MEMORY_DEBUG
#undef MBEDTLS_PLATFORM_FPRINTF_MACRO
#undef MBEDTLS_PLATFORM_EXIT_MACRO
#undef MBEDTLS_NO_PLATFORM_ENTROPY
#undef MBEDTLS_ENTROPY_HARDWARE_ALT
#define MBEDTLS_FS_IO
