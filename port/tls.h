/*
 * tls.h - TLS over any byte stream, by mbedTLS 2.28 or 3.x
 *
 *     tport_tls tls;
 *     tport_tls_desc d = {0};
 *     d.host = "api.example.com";
 *     r = tport_tls_init(&tls, &d, lower);
 *     tport_stream s = tport_tls_stream(&tls);
 *
 * The certificate and the name in it are always checked, and TLS 1.2 is the
 * least; nothing turns that off. Where mbedTLS is built without
 * MBEDTLS_HAVE_TIME_DATE it cannot check dates. Its 2.28 looks for addresses
 * such as 192.168.1.2 among the names only (3.5 and newer do it properly).
 *
 * mbedTLS takes memory by its own allocator: some 45 KB for a connection,
 * of which 32 KB are its two record buffers, and the CA certificates.
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

typedef struct tport_tls_desc {
    const char *host;    /* required: sent as SNI and looked for in the
                            certificate; must stay valid */
    const char *ca_pem;  /* trusted certificates as PEM text: a set of one is
                            a pin; default: those of ca_file */
    const char *ca_file; /* file of them; default: the system's bundle */
} tport_tls_desc;

typedef struct tport_tls {
    /* All private. */
    tport_stream lower;
    const char *host;
    mbedtls_ssl_context ssl;
    mbedtls_ssl_config conf;
    mbedtls_ssl_session session;
    mbedtls_x509_crt ca;
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context random;
    bool started;     /* ssl was prepared for this connection */
    bool up;          /* the handshake is over */
    bool has_session; /* session can be offered for resumption */
    bool ended;       /* lower ended without the word for it */
    int lower_error;  /* what lower answered last, when it was an error */
    size_t unflushed; /* bytes accepted whose record is not yet written */
    char why[192];
} tport_tls;

/* Prepare for connections to one host over lower. TCALL_E_USAGE without a
 * host, TCALL_E_CERTIFICATE when there is no CA certificate to trust,
 * TCALL_E_TLS without entropy, TCALL_E_MEMORY. Free it in any case. */
int tport_tls_init(tport_tls *t, const tport_tls_desc *d, tport_stream lower);

/* The stream refers to t, which must not move. Its connect answers, before a
 * byte of a request is sent, TCALL_E_CERTIFICATE when the server is not
 * trusted, TCALL_E_TLS for other faults of TLS, and lower's errors. Its read
 * answers 0 only after the peer's close_notify. */
tport_stream tport_tls_stream(tport_tls *t);

/* What the last error was about; "" when there was none. */
const char *tport_tls_why(const tport_tls *t);

/* Close the connection and give back all memory. */
void tport_tls_free(tport_tls *t);

#ifdef __cplusplus
}
#endif
#endif /* TPORT_TLS_H */
