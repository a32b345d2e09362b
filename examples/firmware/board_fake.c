/*
 * board_fake.c - what the emulated board lacks
 *
 * QEMU's mps2-an385 has no random number generator. These are no random
 * numbers: whoever knows this file knows all keys. Nothing of it is compiled
 * unless that is asked for by name; a product has its own
 * mbedtls_hardware_poll, over its chip's generator.
 */
#ifdef FIRMWARE_FAKE_ENTROPY_NOT_SECURE

#include "board.h"

int mbedtls_hardware_poll(void *user, unsigned char *out, size_t len,
                          size_t *written);

int mbedtls_hardware_poll(void *user, unsigned char *out, size_t len,
                          size_t *written)
{
    size_t i;

    (void)user;
    for (i = 0; i < len; i++)
        out[i] = (unsigned char)board_random();
    *written = len;
    return 0;
}

#else
typedef int no_fakes; /* ISO C wants something here */
#endif
