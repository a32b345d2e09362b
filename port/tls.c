/* tls.c - see tls.h */
#include "port/tls.h"

#include <mbedtls/error.h>
#include <mbedtls/net_sockets.h> /* error numbers */
#include <mbedtls/pem.h>
#include <mbedtls/platform.h>
#include <mbedtls/sha256.h>
#include <string.h>
#if defined(MBEDTLS_PLATFORM_MEMORY) && defined(MBEDTLS_MEMORY_BUFFER_ALLOC_C)
#include <mbedtls/memory_buffer_alloc.h>
#define TPORT_BUFFER_ 1
#endif
#ifndef TPORT_INSECURE_NO_CLOCK
#include <mbedtls/platform_time.h>
#include <time.h>
#endif

#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
#include <psa/crypto.h>
#define TPORT_PSA_ 1
#endif

/* ---- errors ---- */

static int fail(tport_tls *t, int error, const char *a, const char *b)
{
    const char *parts[3];

    parts[0] = a;
    parts[1] = b;
    parts[2] = NULL;
    tport_say(t->why, sizeof t->why, parts);
    return error;
}

/* Write mbedTLS's own words for the error, or its number. */
static int fail_tls(tport_tls *t, int e)
{
#ifdef MBEDTLS_ERROR_C
    char text[120] = ": TLS failed: ";

    mbedtls_strerror(e, text + 14, sizeof text - 14);
#else
    char text[] = ": TLS failed: error -0x0000", *p = text + sizeof text - 1;
    unsigned n = (unsigned)-e;

    for (; n; n >>= 4)
        *--p = "0123456789ABCDEF"[n & 15];
#endif
    return fail(t, TCALL_E_TLS, t->host, text);
}

/* What mbedTLS found in a certificate, the gravest first. */
static const struct {
    uint32_t flag;
    int error;
    const char *text;
} faults[] = {
    {MBEDTLS_X509_BADCERT_NOT_TRUSTED, TCALL_E_CERTIFICATE,
     "it is not signed by a trusted CA"},
    {MBEDTLS_X509_BADCERT_BAD_MD | MBEDTLS_X509_BADCERT_BAD_PK |
         MBEDTLS_X509_BADCERT_BAD_KEY,
     TCALL_E_CERTIFICATE, "its algorithm or key is too weak"},
    {MBEDTLS_X509_BADCERT_REVOKED, TCALL_E_CERTIFICATE, "it was revoked"},
    {MBEDTLS_X509_BADCERT_CN_MISMATCH, TCALL_E_WRONG_HOST,
     "it was issued for another host"},
    {MBEDTLS_X509_BADCERT_EXPIRED, TCALL_E_EXPIRED,
     "it has expired, or the clock is wrong"},
    {MBEDTLS_X509_BADCERT_FUTURE, TCALL_E_NOT_YET,
     "it is not valid yet, or the clock is wrong"},
};

/* Say all that is wrong, answer the gravest. */
static int fail_certificate(tport_tls *t, uint32_t flags)
{
    const char *parts[4 + 2 * (sizeof faults / sizeof *faults)];
    int error = 0;
    size_t n = 0, i;

    parts[n++] = "certificate of ";
    parts[n++] = t->host;
    for (i = 0; i < sizeof faults / sizeof *faults; i++)
        if (flags & faults[i].flag) {
            parts[n++] = error ? "; " : ": ";
            parts[n++] = faults[i].text;
            error = error ? error : faults[i].error;
        }
    if (!error)
        parts[n++] = ": it cannot be used";
    parts[n] = NULL;
    tport_say(t->why, sizeof t->why, parts);
    return error ? error : TCALL_E_CERTIFICATE;
}

/* mbedTLS adds a low number, of 7 bits, to a high one. */
static bool is_memory(int e)
{
    int low = -(-e & 0x7f), high = e - low;

    return high == MBEDTLS_ERR_SSL_ALLOC_FAILED ||
           high == MBEDTLS_ERR_X509_ALLOC_FAILED ||
           high == MBEDTLS_ERR_PK_ALLOC_FAILED ||
           high == MBEDTLS_ERR_PEM_ALLOC_FAILED ||
           high == MBEDTLS_ERR_ECP_ALLOC_FAILED ||
           high == MBEDTLS_ERR_MD_ALLOC_FAILED ||
           low == MBEDTLS_ERR_ASN1_ALLOC_FAILED ||
           low == MBEDTLS_ERR_MPI_ALLOC_FAILED;
}

/* Turn an error of mbedTLS into one of ours. */
static int translate(tport_tls *t, int e)
{
    uint32_t flags;

    if (e == MBEDTLS_ERR_SSL_WANT_READ || e == MBEDTLS_ERR_SSL_WANT_WRITE)
        return TCALL_E_AGAIN;
    if (t->lower_error) /* lower knows better */
        return fail(t, t->lower_error, "", "");
    if (t->ended)
        return fail(t, TCALL_E_CLOSED, t->host,
                    ": the connection ended without close_notify");
    if (is_memory(e))
        return fail(t, TCALL_E_MEMORY, "TLS: out of memory", "");
    flags = t->up ? 0 : mbedtls_ssl_get_verify_result(&t->ssl);
    if (e == MBEDTLS_ERR_X509_CERT_VERIFY_FAILED ||
        (flags != 0 && flags != (uint32_t)-1))
        return fail_certificate(t, flags);
    return fail_tls(t, e);
}

const char *tport_tls_why(const tport_tls *t)
{
    if (t->why[0] || !t->lower.why)
        return t->why;
    return t->lower.why(t->lower.user);
}

/* ---- the stream below, as mbedTLS wants it ---- */

/* What mbedTLS is to hear of n, which lower answered. */
static int below(tport_tls *t, int n, int again)
{
    t->blocked = n == TCALL_E_AGAIN;
    if (t->blocked)
        return again;
    if (n >= 0)
        return n;
    t->lower_error = n;
    return MBEDTLS_ERR_NET_CONN_RESET;
}

static int below_send(void *user, const unsigned char *bytes, size_t len)
{
    tport_tls *t = (tport_tls *)user;

    return below(t, t->lower.write(t->lower.user, (const char *)bytes, len),
                 MBEDTLS_ERR_SSL_WANT_WRITE);
}

static int below_read(void *user, unsigned char *bytes, size_t cap)
{
    tport_tls *t = (tport_tls *)user;
    int n = t->lower.read(t->lower.user, (char *)bytes, cap);

    t->ended = n == 0;
    return below(t, n, MBEDTLS_ERR_SSL_WANT_READ);
}

/* ---- whom to trust ---- */

static bool is_pin(const tport_tls *t, const mbedtls_x509_buf *der)
{
    tport_pin hash;
    size_t i;
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    int e = mbedtls_sha256(der->p, der->len, hash, 0);
#else
    int e = mbedtls_sha256_ret(der->p, der->len, hash, 0);
#endif

    for (i = 0; e == 0 && i < t->pin_count; i++)
        if (memcmp(t->pins[i], hash, sizeof hash) == 0)
            return true;
    return false;
}

/* mbedTLS shows each certificate of the chain and what it found wrong with
 * it, from the far end to the server's own, which has depth 0. It has checked
 * who signed whom. Where a pin is met trust begins: what came before does not
 * matter, what comes after must be signed. */
static int check_one(void *user, mbedtls_x509_crt *crt, int depth,
                     uint32_t *flags)
{
    tport_tls *t = (tport_tls *)user;

    if (t->pin_count > 0) {
        bool pin = is_pin(t, &crt->raw) || is_pin(t, &crt->pk_raw);

        if (pin || !t->pinned)
            *flags &= ~(uint32_t)MBEDTLS_X509_BADCERT_NOT_TRUSTED;
        t->pinned = t->pinned || pin;
        if (depth == 0 && !t->pinned)
            *flags |= MBEDTLS_X509_BADCERT_NOT_TRUSTED;
    }
#ifdef TPORT_INSECURE_NO_CLOCK
    *flags &=
        ~(uint32_t)(MBEDTLS_X509_BADCERT_EXPIRED | MBEDTLS_X509_BADCERT_FUTURE);
#endif
    return 0;
}

/* Without the time no date can be checked: that is not the server's fault,
 * and has another remedy. */
static int check_clock(tport_tls *t)
{
#ifdef TPORT_INSECURE_NO_CLOCK
    (void)t;
#else
    if (mbedtls_time(NULL) < (mbedtls_time_t)TPORT_CLOCK_FLOOR)
        return fail(t, TCALL_E_CLOCK,
                    "TLS: the clock is not set, so certificates cannot be "
                    "checked: set it first",
                    "");
#endif
    return 0;
}

/* ---- connecting ---- */

static void forget_session(tport_tls *t)
{
    mbedtls_ssl_session_free(&t->session);
    mbedtls_ssl_session_init(&t->session);
    t->has_session = false;
}

static void keep_session(tport_tls *t)
{
    forget_session(t);
    t->has_session = mbedtls_ssl_get_session(&t->ssl, &t->session) == 0;
}

static int start(tport_tls *t)
{
    int e = mbedtls_ssl_session_reset(&t->ssl);

    t->ended = t->up = t->pinned = false;
    t->lower_error = 0;
    t->unflushed = 0;
    /* Without this call mbedTLS would take any host's certificate. */
    if (e == 0)
        e = mbedtls_ssl_set_hostname(&t->ssl, t->host);
    /* A session that cannot be offered costs a whole handshake, no more. */
    if (e == 0 && t->has_session)
        (void)mbedtls_ssl_set_session(&t->ssl, &t->session);
    if (e != 0)
        return translate(t, e);
    t->started = true;
    return 0;
}

static bool is_ticket(int e)
{
#ifdef MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET
    return e == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET;
#else
    (void)e;
    return false;
#endif
}

static int tls_connect(void *user)
{
    tport_tls *t = (tport_tls *)user;
    uint32_t flags;
    int r;

    if (t->up)
        return 0;
    if (!t->started) {
        t->why[0] = '\0';
        r = check_clock(t);
        if (r == 0)
            r = t->lower.connect(t->lower.user);
        if (r == 0)
            r = start(t);
        if (r != 0)
            return r;
    }
    do
        r = mbedtls_ssl_handshake(&t->ssl);
    while (is_ticket(r));
    if (r != 0) {
        r = translate(t, r);
        if (r != TCALL_E_AGAIN)
            forget_session(t);
        return r;
    }
    /* mbedTLS has refused already what was not right: belt and braces. */
    flags = mbedtls_ssl_get_verify_result(&t->ssl);
    if (flags != 0)
        return fail_certificate(t, flags);
    t->up = true;
    keep_session(t);
    return 0;
}

/* ---- bytes ---- */

/* TLS 1.3: a ticket came, or mbedTLS says "again" though nothing below did,
 * because it has yet to look at one. Nobody must wait for bytes then. */
static bool at_once(tport_tls *t, int r)
{
    if (is_ticket(r))
        keep_session(t);
    return is_ticket(r) || (r == MBEDTLS_ERR_SSL_WANT_READ && !t->blocked);
}

/* mbedTLS says "again" after it has taken the bytes, and wants to be given
 * the same ones then. We say they were accepted and do the rest here. */
static int finish_record(tport_tls *t)
{
    int r;

    if (t->unflushed == 0)
        return 0;
    r = mbedtls_ssl_write(&t->ssl, (const unsigned char *)"", t->unflushed);
    if (r < 0)
        r = translate(t, r);
    if (r != TCALL_E_AGAIN)
        t->unflushed = 0;
    return r < 0 ? r : 0;
}

static int tls_write(void *user, const char *bytes, size_t len)
{
    tport_tls *t = (tport_tls *)user;
    int most, r = finish_record(t);

    if (r < 0)
        return r;
    most = mbedtls_ssl_get_max_out_record_payload(&t->ssl);
    if (most > 0 && len > (size_t)most)
        len = (size_t)most;
    len = tport_clamp(len);
    do {
        t->blocked = false;
        r = mbedtls_ssl_write(&t->ssl, (const unsigned char *)bytes, len);
    } while (at_once(t, r));
    if (r == MBEDTLS_ERR_SSL_WANT_WRITE) {
        t->unflushed = len;
        return (int)len;
    }
    return r >= 0 ? r : translate(t, r);
}

static int tls_read(void *user, char *bytes, size_t cap)
{
    tport_tls *t = (tport_tls *)user;
    int r = finish_record(t);

    /* What a peer said before it stopped to listen can still be read. */
    if (r < 0 && r != TCALL_E_CLOSED)
        return r;
    /* 0 is an empty record, which says nothing, or an end from below. */
    do {
        t->blocked = false;
        r = mbedtls_ssl_read(&t->ssl, (unsigned char *)bytes, tport_clamp(cap));
    } while ((r == 0 && !t->ended) || at_once(t, r));
    if (r > 0)
        return r;
    return r == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY ? 0 : translate(t, r);
}

static void tls_close(void *user)
{
    tport_tls *t = (tport_tls *)user;

    /* Say good-bye if that is possible at once; nobody waits for it. */
    if (t->up && !t->lower_error && finish_record(t) == 0)
        (void)mbedtls_ssl_close_notify(&t->ssl);
    t->lower.close(t->lower.user);
    t->started = t->up = false;
}

/* mbedTLS may say "again" though nothing below did: then it can go on. */
static void tls_wants(void *user, tcall_wait *wait)
{
    tport_tls *t = (tport_tls *)user;

    if (t->started && !t->blocked)
        tcall_wait_ms(wait, 0);
    else if (t->lower.wants)
        t->lower.wants(t->lower.user, wait);
}

static const char *tls_why(void *user)
{
    return tport_tls_why((const tport_tls *)user);
}

tport_stream tport_tls_stream(tport_tls *t)
{
    tport_stream r = {tls_connect, tls_read, tls_write, tls_close,
                      tls_wants,   tls_why,  NULL};

    r.user = t;
    return r;
}

/* ---- setting up ---- */

#ifdef MBEDTLS_FS_IO
/* Where Debian, Fedora, openSUSE, Alpine and the BSDs keep theirs. */
static const char *const bundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
};

static int load_files(tport_tls *t, const char *file)
{
    size_t i, n = sizeof bundles / sizeof *bundles;
    int e = -1;

    if (file)
        return mbedtls_x509_crt_parse_file(&t->ca, file);
    for (i = 0; e < 0 && i < n && !is_memory(e); i++)
        e = mbedtls_x509_crt_parse_file(&t->ca, bundles[i]);
    return e;
}
#else
static int load_files(tport_tls *t, const char *file)
{
    (void)t;
    (void)file;
    return -1;
}
#endif

static int load_ca(tport_tls *t, const tport_tls_desc *d)
{
    int e;

    t->pins = d->pins;
    t->pin_count = d->pins ? d->pin_count : 0;
    if (t->pin_count > 0)
        return 0;
    e = d->ca_pem
            ? mbedtls_x509_crt_parse(&t->ca, (const unsigned char *)d->ca_pem,
                                     strlen(d->ca_pem) + 1)
            : load_files(t, d->ca_file);

    if (is_memory(e))
        return translate(t, e);
    /* > 0: so many could not be read; old bundles hold exotic ones. */
    if (e >= 0 && t->ca.raw.p)
        return 0;
    return fail(t, TCALL_E_CERTIFICATE, "no CA certificate found in ",
                d->ca_pem    ? "the text that was given"
                : d->ca_file ? d->ca_file
                             : "the usual places");
}

static int seed(tport_tls *t)
{
    int e = mbedtls_ctr_drbg_seed(&t->random, mbedtls_entropy_func, &t->entropy,
                                  (const unsigned char *)"toolcall.h", 10);
    bool memory = is_memory(e);
#ifdef TPORT_PSA_
    /* TLS 1.3 of mbedTLS 3 computes with it. Harmless when done already. */
    if (e == 0) {
        e = (int)psa_crypto_init();
        memory = e == PSA_ERROR_INSUFFICIENT_MEMORY;
    }
#endif
    if (e == 0)
        return 0;
    return memory ? translate(t, MBEDTLS_ERR_SSL_ALLOC_FAILED)
                  : fail(t, TCALL_E_ENTROPY, "TLS: there is no entropy", "");
}

static void require_tls12(mbedtls_ssl_config *conf)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03020000
    mbedtls_ssl_conf_min_tls_version(conf, MBEDTLS_SSL_VERSION_TLS1_2);
#else
    mbedtls_ssl_conf_min_version(conf, MBEDTLS_SSL_MAJOR_VERSION_3,
                                 MBEDTLS_SSL_MINOR_VERSION_3);
#endif
}

static int configure(tport_tls *t)
{
    mbedtls_ssl_config *conf = &t->conf;
    int e = mbedtls_ssl_config_defaults(conf, MBEDTLS_SSL_IS_CLIENT,
                                        MBEDTLS_SSL_TRANSPORT_STREAM,
                                        MBEDTLS_SSL_PRESET_DEFAULT);

    require_tls12(conf);
    mbedtls_ssl_conf_authmode(conf, MBEDTLS_SSL_VERIFY_REQUIRED);
    mbedtls_ssl_conf_ca_chain(conf, &t->ca, NULL);
    mbedtls_ssl_conf_verify(conf, check_one, t);
    mbedtls_ssl_conf_rng(conf, mbedtls_ctr_drbg_random, &t->random);
#if defined(MBEDTLS_SSL_SESSION_TICKETS) && \
    defined(MBEDTLS_SSL_PROTO_TLS1_3) && MBEDTLS_VERSION_NUMBER >= 0x03060100
    mbedtls_ssl_conf_tls13_enable_signal_new_session_tickets(
        conf, MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_ENABLED);
#endif
    if (e == 0)
        e = mbedtls_ssl_setup(&t->ssl, conf);
    if (e != 0)
        return translate(t, e);
    mbedtls_ssl_set_bio(&t->ssl, t, below_send, below_read, NULL);
    return 0;
}

int tport_tls_init(tport_tls *t, const tport_tls_desc *d, tport_stream lower)
{
    int r;

    memset(t, 0, sizeof *t);
    t->lower = lower;
    t->host = d->host ? d->host : "";
    mbedtls_ssl_init(&t->ssl);
    mbedtls_ssl_config_init(&t->conf);
    mbedtls_ssl_session_init(&t->session);
    mbedtls_x509_crt_init(&t->ca);
    mbedtls_entropy_init(&t->entropy);
    mbedtls_ctr_drbg_init(&t->random);
    if (!t->host[0])
        return fail(t, TCALL_E_USAGE, "TLS needs the name of the host", "");
    if ((r = seed(t)) != 0 || (r = load_ca(t, d)) != 0)
        return r;
    return configure(t);
}

void tport_tls_free(tport_tls *t)
{
    if (t->lower.close)
        tls_close(t);
    mbedtls_ssl_free(&t->ssl);
    mbedtls_ssl_config_free(&t->conf);
    mbedtls_ssl_session_free(&t->session);
    mbedtls_x509_crt_free(&t->ca);
    mbedtls_ctr_drbg_free(&t->random);
    mbedtls_entropy_free(&t->entropy);
    memset(t, 0, sizeof *t);
}

/* ---- memory ---- */

#ifdef TPORT_BUFFER_
int tport_tls_memory(void *buffer, size_t size)
{
    mbedtls_memory_buffer_alloc_init((unsigned char *)buffer, size);
    return 0;
}
#else
int tport_tls_memory(void *buffer, size_t size)
{
    (void)buffer;
    (void)size;
    return TCALL_E_USAGE;
}
#endif

size_t tport_tls_memory_peak(void)
{
#if defined(TPORT_BUFFER_) && defined(MBEDTLS_MEMORY_DEBUG)
    size_t bytes, blocks;

    mbedtls_memory_buffer_alloc_max_get(&bytes, &blocks);
    return bytes;
#else
    return 0;
#endif
}
