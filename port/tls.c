/* tls.c - see tls.h */
#include "port/tls.h"

#include <mbedtls/error.h>
#include <mbedtls/md.h>
#include <mbedtls/net_sockets.h> /* error numbers */
#include <mbedtls/pem.h>
#include <mbedtls/platform.h>
#include <string.h>
#ifdef TPORT_PSA_
#include <mbedtls/psa_util.h>
#include <psa/crypto.h>
#endif
#if defined(MBEDTLS_PLATFORM_MEMORY) && defined(MBEDTLS_MEMORY_BUFFER_ALLOC_C)
#include <mbedtls/memory_buffer_alloc.h>
#define TPORT_BUFFER_ 1
#endif
#ifdef ESP_PLATFORM
#include <sdkconfig.h>
#ifdef CONFIG_MBEDTLS_CERTIFICATE_BUNDLE
#include <esp_crt_bundle.h>
#endif
#endif
#ifndef TPORT_INSECURE_NO_CLOCK
#include <mbedtls/platform_time.h>
#include <time.h>
#endif

/* ---- what differs between the versions of mbedTLS ---- */

static void require_tls12(mbedtls_ssl_config *conf)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03020000
    mbedtls_ssl_conf_min_tls_version(conf, MBEDTLS_SSL_VERSION_TLS1_2);
#else
    mbedtls_ssl_conf_min_version(conf, MBEDTLS_SSL_MAJOR_VERSION_3,
                                 MBEDTLS_SSL_MINOR_VERSION_3);
#endif
}

/* Makes mbedtls_ssl_read say when a ticket came, so that it is kept; other
 * versions always do. */
static void signal_tickets(mbedtls_ssl_config *conf)
{
#if defined(MBEDTLS_SSL_SESSION_TICKETS) && \
    defined(MBEDTLS_SSL_PROTO_TLS1_3) &&    \
    defined(MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_ENABLED)
    mbedtls_ssl_conf_tls13_enable_signal_new_session_tickets(
        conf, MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_ENABLED);
#else
    (void)conf;
#endif
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

/* mbedTLS adds a low number to a high one, which is a multiple of 128. */
static bool is_memory(int e)
{
    int low = -(-e & 0x7f);
#if MBEDTLS_VERSION_NUMBER >= 0x04000000
    /* One number, which is above 128 itself, in all modules. */
    return low == -(-PSA_ERROR_INSUFFICIENT_MEMORY & 0x7f);
#else
    int high = e - low;

    return high == MBEDTLS_ERR_SSL_ALLOC_FAILED ||
           high == MBEDTLS_ERR_X509_ALLOC_FAILED ||
           high == MBEDTLS_ERR_PK_ALLOC_FAILED ||
           high == MBEDTLS_ERR_PEM_ALLOC_FAILED ||
           high == MBEDTLS_ERR_ECP_ALLOC_FAILED ||
           high == MBEDTLS_ERR_MD_ALLOC_FAILED ||
           low == MBEDTLS_ERR_ASN1_ALLOC_FAILED ||
           low == MBEDTLS_ERR_MPI_ALLOC_FAILED;
#endif
}

/* Starts the source of random numbers and gives it to conf. */
#ifdef TPORT_PSA_
static int start_random(tport_tls *t)
{
    psa_status_t e = psa_crypto_init(); /* harmless when done already */

#if MBEDTLS_VERSION_NUMBER < 0x04000000
    mbedtls_ssl_conf_rng(&t->conf, mbedtls_psa_get_random,
                         MBEDTLS_PSA_RANDOM_STATE);
#else
    (void)t;
#endif
    return e == PSA_ERROR_INSUFFICIENT_MEMORY ? MBEDTLS_ERR_SSL_ALLOC_FAILED
                                              : (int)e;
}

static void init_random(tport_tls *t)
{
    (void)t;
}

static void free_random(tport_tls *t)
{
    (void)t;
}
#else
static int start_random(tport_tls *t)
{
    mbedtls_ssl_conf_rng(&t->conf, mbedtls_ctr_drbg_random, &t->random);
    return mbedtls_ctr_drbg_seed(&t->random, mbedtls_entropy_func, &t->entropy,
                                 (const unsigned char *)"toolcall.h", 10);
}

static void init_random(tport_tls *t)
{
    mbedtls_entropy_init(&t->entropy);
    mbedtls_ctr_drbg_init(&t->random);
}

static void free_random(tport_tls *t)
{
    mbedtls_ctr_drbg_free(&t->random);
    mbedtls_entropy_free(&t->entropy);
}
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

/* What was wrong with the certificate. A session that is resumed shows none:
 * 4.1 calls that skipped, the others give what was found the first time. Only
 * sessions whose certificate was right are kept. */
static uint32_t faults_found(const tport_tls *t)
{
    uint32_t flags = mbedtls_ssl_get_verify_result(&t->ssl);

    return t->has_session && flags == MBEDTLS_X509_BADCERT_SKIP_VERIFY ? 0
                                                                       : flags;
}

/* Turn an error of mbedTLS into one of ours. */
static int translate(tport_tls *t, int e)
{
    uint32_t flags;

    if (e == MBEDTLS_ERR_SSL_WANT_READ || e == MBEDTLS_ERR_SSL_WANT_WRITE)
        return TCALL_E_AGAIN;
    if (t->empty > TPORT_TLS_MAX_EMPTY)
        return fail(t, TCALL_E_LIMIT, t->host,
                    ": too many alerts, tickets or other records of TLS "
                    "without data");
    if (t->lower_error) /* lower knows better */
        return fail(t, t->lower_error, "", "");
    if (t->ended)
        return fail(t, TCALL_E_CLOSED, t->host,
                    ": the connection ended without close_notify");
    if (is_memory(e))
        return fail(t, TCALL_E_MEMORY, "TLS: out of memory", "");
    flags = t->up ? 0 : faults_found(t);
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

    return below(
        t, t->lower.write(t->lower.user, (const char *)bytes, tport_clamp(len)),
        MBEDTLS_ERR_SSL_WANT_WRITE);
}

/* mbedTLS goes on within one call as long as it is given bytes, whatever they
 * are: the limit ends that, because nobody looks at a clock meanwhile. */
static int below_read(void *user, unsigned char *bytes, size_t cap)
{
    tport_tls *t = (tport_tls *)user;
    int n;

    if (t->empty > TPORT_TLS_MAX_EMPTY)
        return MBEDTLS_ERR_NET_CONN_RESET;
    n = t->lower.read(t->lower.user, (char *)bytes, tport_clamp(cap));
    t->ended = n == 0;
    t->empty += n > 0 ? (uint32_t)n : 0;
    return below(t, n, MBEDTLS_ERR_SSL_WANT_READ);
}

/* ---- whom to trust ---- */

/* Reads "192.168.1.2" and answers what follows it; NULL if it is none. */
static const char *read_address4(const char *s, unsigned char *to)
{
    int i;

    for (i = 0; i < 4; i++) {
        size_t digits = tport_span(s, tport_is_digit);
        unsigned value = 0;

        if (digits == 0 || digits > 3)
            return NULL;
        for (; digits > 0; digits--)
            value = value * 10 + (unsigned)(*s++ - '0');
        if (value > 255 || (i < 3 && *s++ != '.'))
            return NULL;
        to[i] = (unsigned char)value;
    }
    return s;
}

/* Reads one to four hexadecimal digits, the two bytes of a group. */
static const char *read_group(const char *s, unsigned char *to)
{
    uint32_t value = 0;
    int digits = 0;

    for (; digits < 4 && tport_hex(*s) < 16; digits++)
        value = value << 4 | tport_hex(*s++);
    to[0] = (unsigned char)(value >> 8);
    to[1] = (unsigned char)(value & 255);
    return digits ? s : NULL;
}

/* Reads the forms of RFC 4291, 2.2: "::" is as many zeros as are missing, and
 * the last four bytes may be written as in IPv4. */
static bool read_address6(const char *s, unsigned char *to)
{
    size_t count = 0, gap = 17, tail;

    if (s[0] == ':' && s[1] == ':') {
        gap = 0;
        s += 2;
    }
    while (*s && count < 16) {
        const char *end = count <= 12 ? read_address4(s, to + count) : NULL;

        if (end && !*end) {
            count += 4;
            s = end;
            break;
        }
        if (!(s = read_group(s, to + count)))
            return false;
        count += 2;
        if (s[0] == ':' && s[1] == ':' && gap > 16) {
            gap = count;
            s += 2;
        } else if (s[0] == ':' && s[1]) {
            s++;
        } else if (*s) {
            return false;
        }
    }
    if (*s || (gap > 16) != (count == 16))
        return false;
    tail = gap < count ? count - gap : 0;
    memmove(to + 16 - tail, to + count - tail, tail);
    memset(to + count - tail, 0, 16 - count);
    return true;
}

/* Answers the length of the address that host is; 0 for a name. */
static uint8_t read_address(const char *host, unsigned char *to)
{
    const char *end = read_address4(host, to);

    if (end && !*end)
        return 4;
    return strchr(host, ':') && read_address6(host, to) ? 16 : 0;
}

/* RFC 5280: an iPAddress of subjectAltName is [7], its bytes as on the wire.
 * Versions of mbedTLS differ in whether they look at it; all list it. */
static bool has_address(const tport_tls *t, const mbedtls_x509_crt *crt)
{
    const mbedtls_x509_sequence *name = &crt->subject_alt_names;

    for (; name; name = name->next)
        if (name->buf.tag == (MBEDTLS_ASN1_CONTEXT_SPECIFIC | 7) &&
            name->buf.len == t->address_len &&
            memcmp(name->buf.p, t->address, t->address_len) == 0)
            return true;
    return false;
}

/* Is it "*.com"? mbedTLS would take that for every name with one dot. */
static bool is_too_wide(const unsigned char *name, size_t len)
{
    return len > 2 && name[0] == '*' && name[1] == '.' &&
           !memchr(name + 2, '.', len - 2);
}

/* A certificate that claims a whole top-level domain is nobody's: no other of
 * its names is believed either. */
static bool claims_too_much(const mbedtls_x509_crt *crt)
{
    const mbedtls_x509_sequence *name = &crt->subject_alt_names;

    for (; name; name = name->next)
        if (name->buf.tag == (MBEDTLS_ASN1_CONTEXT_SPECIFIC | 2) &&
            is_too_wide(name->buf.p, name->buf.len))
            return true;
    return false;
}

static bool is_pin(const tport_tls *t, const mbedtls_x509_buf *der)
{
    const mbedtls_md_info_t *sha256 =
        mbedtls_md_info_from_type(MBEDTLS_MD_SHA256);
    tport_pin hash;
    size_t i;
    int e = mbedtls_md(sha256, der->p, der->len, hash);

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
    if (depth == 0 &&
        (t->address_len > 0 ? !has_address(t, crt) : claims_too_much(crt)))
        *flags |= MBEDTLS_X509_BADCERT_CN_MISMATCH;
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
    t->empty = 0;
    /* Without a name mbedTLS would take any host's certificate: check_one
     * looks for the address. */
    if (e == 0)
        e = mbedtls_ssl_set_hostname(&t->ssl, t->address_len ? NULL : t->host);
    /* A session that cannot be offered costs a whole handshake, no more. */
    if (e == 0 && t->has_session)
        (void)mbedtls_ssl_set_session(&t->ssl, &t->session);
    if (e != 0)
        return translate(t, e);
    t->started = true;
    return 0;
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
    flags = faults_found(t);
    if (flags != 0)
        return fail_certificate(t, flags);
    t->up = true;
    t->empty = 0;
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

    /* What a peer says before it listens, or after it has stopped to, can be
     * read all the same. */
    if (r < 0 && r != TCALL_E_AGAIN && r != TCALL_E_CLOSED)
        return r;
    /* 0 is an empty record, which says nothing, or an end from below. */
    do {
        t->blocked = false;
        r = mbedtls_ssl_read(&t->ssl, (unsigned char *)bytes, tport_clamp(cap));
    } while ((r == 0 && !t->ended) || at_once(t, r));
    if (r > 0) {
        t->empty = 0;
        return r;
    }
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

/* ESP-IDF keeps its CAs in a form of its own, and looks them up in a callback
 * that takes the place of check_one: there are no pins then. */
#ifdef CONFIG_MBEDTLS_CERTIFICATE_BUNDLE
enum { HAS_BUNDLE = true };

static int attach_bundle(mbedtls_ssl_config *conf)
{
    return esp_crt_bundle_attach(conf) == ESP_OK ? 0
                                                 : MBEDTLS_ERR_SSL_ALLOC_FAILED;
}
#else
enum { HAS_BUNDLE = false };

static int attach_bundle(mbedtls_ssl_config *conf)
{
    (void)conf;
    return 0;
}
#endif

static int load_ca(tport_tls *t, const tport_tls_desc *d)
{
    int e;

    t->pins = d->pins;
    t->pin_count = d->pins ? d->pin_count : 0;
    if (t->pin_count > 0)
        return 0;
    t->bundle = HAS_BUNDLE && !d->ca_pem && !d->ca_file;
    if (t->bundle)
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
    int e = start_random(t);

    if (e == 0)
        return 0;
    return is_memory(e)
               ? translate(t, e)
               : fail(t, TCALL_E_ENTROPY,
                      "TLS: there is no entropy, or no memory for its source",
                      "");
}

static int configure(tport_tls *t)
{
    static const int suites[] = {TPORT_TLS_SUITES, 0};
    mbedtls_ssl_config *conf = &t->conf;
    int e = mbedtls_ssl_config_defaults(conf, MBEDTLS_SSL_IS_CLIENT,
                                        MBEDTLS_SSL_TRANSPORT_STREAM,
                                        MBEDTLS_SSL_PRESET_DEFAULT);

    require_tls12(conf);
    mbedtls_ssl_conf_authmode(conf, MBEDTLS_SSL_VERIFY_REQUIRED);
    mbedtls_ssl_conf_ca_chain(conf, &t->ca, NULL);
    mbedtls_ssl_conf_verify(conf, check_one, t);
    mbedtls_ssl_conf_ciphersuites(conf, suites);
    signal_tickets(conf);
    if (e == 0 && t->bundle)
        e = attach_bundle(conf);
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
    t->address_len = read_address(t->host, t->address);
    mbedtls_ssl_init(&t->ssl);
    mbedtls_ssl_config_init(&t->conf);
    mbedtls_ssl_session_init(&t->session);
    mbedtls_x509_crt_init(&t->ca);
    init_random(t);
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
    free_random(t);
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
