/*
 * tls.h - TLS over any byte stream, by mbedTLS 2.28, 3.x or 4.x
 *
 *     tport_tls tls;
 *     tport_tls_desc d = {0};
 *     d.host = "api.example.com";
 *     r = tport_tls_init(&tls, &d, lower);
 *     tport_stream s = tport_tls_stream(&tls);
 *
 * The certificate, the name in it and its dates are always checked; TLS 1.2
 * is the least, TLS 1.3 is spoken where mbedTLS can, and only suites that
 * agree on a new key for each connection (ECDHE) and encrypt and authenticate
 * in one (AEAD) are offered. Nothing at run time turns that off. A host that
 * is an address, such as 192.168.1.2 or ::1, has to be among the addresses of
 * the certificate, and is not sent as a name (SNI).
 *
 * TCALL_E_AGAIN always comes from the stream below: what that one waits for,
 * readable or writable, is what this one waits for.
 *
 * mbedTLS takes memory by its own allocator: some 45 KB for a connection,
 * of which 32 KB are its two record buffers, and the CA certificates.
 *
 * A device that lacks what this needs says so when it is compiled, by name:
 *
 *     TPORT_INSECURE_NO_CLOCK    it has no clock: certificates that have
 *                                expired are taken for good
 *     TPORT_INSECURE_ENTROPY     mbedTLS was built with MBEDTLS_TEST_
 *                                NULL_ENTROPY: all can be read by others
 */
#ifndef TPORT_TLS_H
#define TPORT_TLS_H

#include "port/stream.h"

#include <mbedtls/ssl.h>
#include <mbedtls/version.h>
#include <mbedtls/x509_crt.h>

/* Random numbers come from PSA, which mbedTLS 4 always has and mbedTLS 3 can
 * have; else from a generator of each connection's own. */
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
#define TPORT_PSA_ 1
#else
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if !defined(MBEDTLS_HAVE_TIME_DATE) && !defined(TPORT_INSECURE_NO_CLOCK)
#error \
    "mbedTLS cannot check dates: set MBEDTLS_HAVE_TIME_DATE. For ESP-IDF and \
Zephyr: CONFIG_TOOLCALL_PORT=y does, or CONFIG_MBEDTLS_HAVE_TIME_DATE=y"
#endif
#if defined(MBEDTLS_TEST_NULL_ENTROPY) && !defined(TPORT_INSECURE_ENTROPY)
#error "mbedTLS was built with MBEDTLS_TEST_NULL_ENTROPY"
#endif

/* Seconds since 1970 before which the clock cannot have been set. When the
 * firmware was built is better: -DTPORT_CLOCK_FLOOR=$(date +%s) */
#ifndef TPORT_CLOCK_FLOOR
#define TPORT_CLOCK_FLOOR 1767225600 /* 2026-01-01 */
#endif

/* Bytes of TLS in a row that may bring no data: handshakes, alerts, tickets,
 * empty records. More than the longest record (16 KB); TCALL_E_LIMIT. */
#ifndef TPORT_TLS_MAX_EMPTY
#define TPORT_TLS_MAX_EMPTY 65536
#endif

/* What is offered to the server, the best first: numbers of IANA's registry.
 * mbedTLS leaves out what it was built without. */
#ifndef TPORT_TLS_SUITES
#define TPORT_TLS_SUITES                                                   \
    0x1301, 0x1303, 0x1302,     /* TLS 1.3: AES-128, ChaCha20, AES-256 */  \
        0xc02b, 0xcca9, 0xc02c, /* TLS 1.2, ECDHE-ECDSA: the same three */ \
        0xc02f, 0xcca8, 0xc030  /* TLS 1.2, ECDHE-RSA: the same three */
#endif

/* SHA-256 of a certificate in DER form, or of its SubjectPublicKeyInfo, which
 * stays the same when a certificate is renewed for the same key. */
typedef unsigned char tport_pin[32];

/* Whom to trust: pins, ca_pem, ca_file; the first that is given counts. */
typedef struct tport_tls_desc {
    const char *host;      /* required: a name or an address, looked for in
                              the certificate; must stay valid */
    const tport_pin *pins; /* one of these must be the server's certificate,
                              or one that it descends from and sends along;
                              must stay valid */
    size_t pin_count;
    const char *ca_pem;  /* trusted certificates as PEM text */
    const char *ca_file; /* file of them; default: the system's bundle, with
                            ESP-IDF its own (esp_crt_bundle) */
} tport_tls_desc;

typedef struct tport_tls {
    /* All private. What is used most lies near the beginning, because that
     * makes the code shorter. */
    bool pinned;      /* the chain that is being checked holds a pin */
    bool started;     /* ssl was prepared for this connection */
    bool up;          /* the handshake is over */
    bool bundle;      /* trust is left to ESP-IDF's certificate bundle */
    bool has_session; /* session can be offered for resumption */
    bool blocked;     /* lower answered AGAIN to the last attempt */
    bool ended;       /* lower ended without the word for it */
    int lower_error;  /* what lower answered last, when it was an error */
    size_t unflushed; /* bytes accepted whose record is not yet written */
    uint32_t empty;   /* bytes from lower since one of the peer's came out */
    tport_stream lower;
    const char *host;
    unsigned char address[16]; /* the host's, when it is one */
    uint8_t address_len;       /* 4, 16, or 0 */
    const tport_pin *pins;
    size_t pin_count;
    mbedtls_ssl_context ssl;
    mbedtls_ssl_config conf;
    mbedtls_ssl_session session;
    mbedtls_x509_crt ca;
#ifndef TPORT_PSA_
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context random;
#endif
    char why[192];
} tport_tls;

/* Prepare for connections to one host over lower. TCALL_E_USAGE without a
 * host, TCALL_E_CERTIFICATE when there is no CA certificate to trust,
 * TCALL_E_ENTROPY, TCALL_E_MEMORY. Free it in any case. */
int tport_tls_init(tport_tls *t, const tport_tls_desc *d, tport_stream lower);

/* The stream refers to t, which must not move. Its connect answers, before a
 * byte of a request is sent:
 *
 *   TCALL_E_CLOCK        the clock is not set; nothing was connected
 *   TCALL_E_CERTIFICATE  signed by nobody who is trusted, or too weak
 *   TCALL_E_WRONG_HOST   it was issued for another host
 *   TCALL_E_EXPIRED, TCALL_E_NOT_YET
 *   TCALL_E_LIMIT        more than TPORT_TLS_MAX_EMPTY bytes without data;
 *                        read answers that as well
 *   TCALL_E_MEMORY, TCALL_E_TLS for other faults, and lower's errors
 *
 * A later connect resumes the session of an earlier one if the server allows
 * it. Its read answers 0 only after the peer's close_notify. */
tport_stream tport_tls_stream(tport_tls *t);

/* What the last error was about; "" when there was none. */
const char *tport_tls_why(const tport_tls *t);

/* Close the connection and give back all memory. */
void tport_tls_free(tport_tls *t);

/* From now on all that mbedTLS allocates, for whomever, comes from this
 * buffer; call it before anything else of mbedTLS, once. TCALL_E_USAGE where
 * mbedTLS was built without MBEDTLS_PLATFORM_MEMORY and
 * MBEDTLS_MEMORY_BUFFER_ALLOC_C. */
int tport_tls_memory(void *buffer, size_t size);

/* Most bytes that were taken from it at one time, without the allocator's own
 * (8 pointers for each block); 0 where mbedTLS was built without
 * MBEDTLS_MEMORY_DEBUG. */
size_t tport_tls_memory_peak(void);

#ifdef __cplusplus
}
#endif
#endif /* TPORT_TLS_H */
