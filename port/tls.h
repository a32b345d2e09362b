/*
 * tls.h - TLS over any byte stream, by mbedTLS 2.28 or 3.x
 *
 *     tport_tls tls;
 *     tport_tls_desc d = {0};
 *     d.host = "api.example.com";
 *     r = tport_tls_init(&tls, &d, lower);
 *     tport_stream s = tport_tls_stream(&tls);
 *
 * The certificate, the name in it and its dates are always checked, and TLS
 * 1.2 is the least; nothing at run time turns that off. mbedTLS's 2.28 looks
 * for addresses such as 192.168.1.2 among the names only (3.5 and newer do it
 * properly).
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

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/ssl.h>
#include <mbedtls/version.h>
#include <mbedtls/x509_crt.h>

#ifdef __cplusplus
extern "C" {
#endif

#if !defined(MBEDTLS_HAVE_TIME_DATE) && !defined(TPORT_INSECURE_NO_CLOCK)
#error "mbedTLS lacks MBEDTLS_HAVE_TIME_DATE and cannot check dates"
#endif
#if defined(MBEDTLS_TEST_NULL_ENTROPY) && !defined(TPORT_INSECURE_ENTROPY)
#error "mbedTLS was built with MBEDTLS_TEST_NULL_ENTROPY"
#endif

/* Seconds since 1970 before which the clock cannot have been set. When the
 * firmware was built is better: -DTPORT_CLOCK_FLOOR=$(date +%s) */
#ifndef TPORT_CLOCK_FLOOR
#define TPORT_CLOCK_FLOOR 1767225600 /* 2026-01-01 */
#endif

/* SHA-256 of a certificate in DER form, or of its SubjectPublicKeyInfo, which
 * stays the same when a certificate is renewed for the same key. */
typedef unsigned char tport_pin[32];

/* Whom to trust: pins, ca_pem, ca_file; the first that is given counts. */
typedef struct tport_tls_desc {
    const char *host;      /* required: sent as SNI and looked for in the
                              certificate; must stay valid */
    const tport_pin *pins; /* one of these must be the server's certificate,
                              or one that it descends from and sends along;
                              must stay valid */
    size_t pin_count;
    const char *ca_pem;  /* trusted certificates as PEM text */
    const char *ca_file; /* file of them; default: the system's bundle */
} tport_tls_desc;

typedef struct tport_tls {
    /* All private. What is used most lies near the beginning, because that
     * makes the code shorter. */
    bool pinned;      /* the chain that is being checked holds a pin */
    bool started;     /* ssl was prepared for this connection */
    bool up;          /* the handshake is over */
    bool has_session; /* session can be offered for resumption */
    bool blocked;     /* lower answered AGAIN to the last attempt */
    bool ended;       /* lower ended without the word for it */
    int lower_error;  /* what lower answered last, when it was an error */
    size_t unflushed; /* bytes accepted whose record is not yet written */
    tport_stream lower;
    const char *host;
    const tport_pin *pins;
    size_t pin_count;
    mbedtls_ssl_context ssl;
    mbedtls_ssl_config conf;
    mbedtls_ssl_session session;
    mbedtls_x509_crt ca;
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context random;
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
