/*
 * mbedTLS 2.28 or 3.x for a microcontroller: a client of TLS 1.2 that can talk
 * to the servers of the internet (ECDHE with ECDSA or RSA, AES-GCM).
 *
 * Memory comes from one static array. A record of a server may be 16 KB long,
 * so the input buffer is: less only works where the server is known to send
 * shorter records.
 */
#ifndef MBEDTLS_CONFIG_OF_FIRMWARE_H
#define MBEDTLS_CONFIG_OF_FIRMWARE_H

#include <limits.h> /* mbedTLS 2.28 forgets it */
#include <stddef.h>

/* Until mbedtls_memory_buffer_alloc_init there is no memory at all. */
static inline void *no_calloc(size_t count, size_t size)
{
    (void)count;
    (void)size;
    return NULL;
}
static inline void no_free(void *memory)
{
    (void)memory;
}
#define MBEDTLS_PLATFORM_C
#define MBEDTLS_PLATFORM_MEMORY
#define MBEDTLS_PLATFORM_STD_CALLOC no_calloc
#define MBEDTLS_PLATFORM_STD_FREE   no_free
#define MBEDTLS_MEMORY_BUFFER_ALLOC_C
#define MBEDTLS_MEMORY_DEBUG /* counts the peak, which main.c shows */
void board_panic(const char *why);
#define MBEDTLS_PLATFORM_FPRINTF_MACRO(...) ((void)0)
#define MBEDTLS_PLATFORM_EXIT_MACRO(code)   board_panic("TLS heap damaged")

/* Random numbers come from mbedtls_hardware_poll, which every product has to
 * write: without it the firmware does not link. board_fake.c has one that is
 * none, for the emulator. */
#define MBEDTLS_NO_PLATFORM_ENTROPY
#define MBEDTLS_ENTROPY_HARDWARE_ALT
#define MBEDTLS_ENTROPY_C
#define MBEDTLS_CTR_DRBG_C

/* Certificates expire: without a clock that is set (time() of the C library)
 * the firmware does not link, unless it says so itself. */
#ifndef TPORT_INSECURE_NO_CLOCK
#define MBEDTLS_HAVE_TIME
#define MBEDTLS_HAVE_TIME_DATE
#endif

#define MBEDTLS_HAVE_ASM
#define MBEDTLS_AES_C
#define MBEDTLS_AES_ROM_TABLES
#define MBEDTLS_AES_FEWER_TABLES
#define MBEDTLS_CIPHER_C
#define MBEDTLS_GCM_C
#define MBEDTLS_SHA224_C
#define MBEDTLS_SHA256_C
#define MBEDTLS_SHA384_C
#define MBEDTLS_SHA512_C
#define MBEDTLS_MD_C

#define MBEDTLS_BIGNUM_C
#define MBEDTLS_MPI_MAX_SIZE    512 /* RSA of 4096 bits */
#define MBEDTLS_MPI_WINDOW_SIZE 1
#define MBEDTLS_ECP_C
#define MBEDTLS_ECP_DP_SECP256R1_ENABLED
#define MBEDTLS_ECP_DP_SECP384R1_ENABLED
#define MBEDTLS_ECP_NIST_OPTIM
#define MBEDTLS_ECP_WINDOW_SIZE       2
#define MBEDTLS_ECP_FIXED_POINT_OPTIM 0
#define MBEDTLS_ECDH_C
#define MBEDTLS_ECDSA_C
#define MBEDTLS_RSA_C
#define MBEDTLS_PKCS1_V15
#define MBEDTLS_PKCS1_V21
#define MBEDTLS_OID_C
#define MBEDTLS_ASN1_PARSE_C
#define MBEDTLS_ASN1_WRITE_C
#define MBEDTLS_PK_C
#define MBEDTLS_PK_PARSE_C
#define MBEDTLS_X509_USE_C
#define MBEDTLS_X509_CRT_PARSE_C
#define MBEDTLS_X509_CHECK_KEY_USAGE
#define MBEDTLS_X509_CHECK_EXTENDED_KEY_USAGE
#define MBEDTLS_BASE64_C
#define MBEDTLS_PEM_PARSE_C

#define MBEDTLS_SSL_TLS_C
#define MBEDTLS_SSL_CLI_C
#define MBEDTLS_SSL_PROTO_TLS1_2
#define MBEDTLS_SSL_SERVER_NAME_INDICATION
#define MBEDTLS_SSL_ENCRYPT_THEN_MAC
#define MBEDTLS_SSL_EXTENDED_MASTER_SECRET
#define MBEDTLS_SSL_MAX_FRAGMENT_LENGTH
#define MBEDTLS_SSL_KEEP_PEER_CERTIFICATE
#define MBEDTLS_KEY_EXCHANGE_ECDHE_ECDSA_ENABLED
#define MBEDTLS_KEY_EXCHANGE_ECDHE_RSA_ENABLED
#define MBEDTLS_SSL_IN_CONTENT_LEN  16384
#define MBEDTLS_SSL_OUT_CONTENT_LEN 4096

#endif
