/*
 * mkcert.c - a certificate for a server on this machine, made at build time
 *
 *     mkcert CERT KEY [CA]
 *
 * writes the certificate of the server, followed by that of the CA which
 * signed it, its key, and on request the CA's certificate alone, all as PEM.
 * Names: localhost, 127.0.0.1 and ::1. CERT can also be given to a client as
 * the file of those it trusts. The CA's key is never written anywhere.
 *
 * tests/port_server.h includes this file with MKCERT_NO_MAIN defined.
 */
#include <mbedtls/oid.h>
#include <mbedtls/pk.h>
#include <mbedtls/ssl.h>
#include <mbedtls/ssl_ticket.h>
#include <mbedtls/version.h>
#include <mbedtls/x509_crt.h>
#include <stdio.h>
#include <string.h>
#if MBEDTLS_VERSION_NUMBER < 0x04000000
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/ecp.h>
#include <mbedtls/entropy.h>
#endif
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
#include <psa/crypto.h>
#endif

/* What is asked for: a name, and the days between which it is valid, as
 * "YYYYMMDDhhmmss". */
typedef struct mkcert_request {
    const char *host;
    const char *from;
    const char *to;
} mkcert_request;

typedef struct mkcert_result {
    char ca[2048];   /* PEM of the CA */
    char cert[4096]; /* PEM of the server, then of the CA */
    char key[1024];  /* PEM of the server's key */
} mkcert_result;

/* ---- what differs between the versions of mbedTLS ---- */

#if MBEDTLS_VERSION_NUMBER >= 0x04000000
/* Random numbers are PSA's everywhere, and nobody gives them. */
#define MKCERT_WRITE_RANDOM
#define MKCERT_PARSE_RANDOM

static int mkcert_begin(void)
{
    return (int)psa_crypto_init();
}

static void mkcert_end(void)
{
}

static int mkcert_new_key(mbedtls_pk_context *key)
{
    psa_key_attributes_t a = PSA_KEY_ATTRIBUTES_INIT;
    mbedtls_svc_key_id_t id;
    int e;

    psa_set_key_usage_flags(&a, PSA_KEY_USAGE_SIGN_HASH | PSA_KEY_USAGE_EXPORT);
    psa_set_key_algorithm(&a, PSA_ALG_ECDSA(PSA_ALG_ANY_HASH));
    psa_set_key_type(&a, PSA_KEY_TYPE_ECC_KEY_PAIR(PSA_ECC_FAMILY_SECP_R1));
    psa_set_key_bits(&a, 256);
    e = (int)psa_generate_key(&a, &id);
    if (e == 0) {
        e = mbedtls_pk_copy_from_psa(id, key);
        psa_destroy_key(id);
    }
    return e;
}

static int mkcert_bytes(unsigned char *to, size_t len)
{
    return (int)psa_generate_random(to, len);
}
#else
static mbedtls_entropy_context mkcert_entropy;
static mbedtls_ctr_drbg_context mkcert_random;

#define MKCERT_WRITE_RANDOM , mbedtls_ctr_drbg_random, &mkcert_random
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
#define MKCERT_PARSE_RANDOM MKCERT_WRITE_RANDOM
#else
#define MKCERT_PARSE_RANDOM
#endif

static int mkcert_begin(void)
{
    mbedtls_entropy_init(&mkcert_entropy);
    mbedtls_ctr_drbg_init(&mkcert_random);
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
    if (psa_crypto_init() != PSA_SUCCESS)
        return -1;
#endif
    return mbedtls_ctr_drbg_seed(&mkcert_random, mbedtls_entropy_func,
                                 &mkcert_entropy, NULL, 0);
}

static void mkcert_end(void)
{
    mbedtls_ctr_drbg_free(&mkcert_random);
    mbedtls_entropy_free(&mkcert_entropy);
}

static int mkcert_new_key(mbedtls_pk_context *key)
{
    int e = mbedtls_pk_setup(key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));

    return e ? e
             : mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1,
                                   mbedtls_pk_ec(*key), mbedtls_ctr_drbg_random,
                                   &mkcert_random);
}

static int mkcert_bytes(unsigned char *to, size_t len)
{
    return mbedtls_ctr_drbg_random(&mkcert_random, to, len);
}
#endif

#ifdef MKCERT_NO_MAIN
/* What a server needs: its certificates and key, tickets, random numbers. */
static inline int mkcert_pair(mbedtls_x509_crt *crt, mbedtls_pk_context *key,
                              const mkcert_result *c)
{
    int e = mbedtls_x509_crt_parse(crt, (const unsigned char *)c->cert,
                                   strlen(c->cert) + 1);

    return e | mbedtls_pk_parse_key(key, (const unsigned char *)c->key,
                                    strlen(c->key) + 1, NULL,
                                    0 MKCERT_PARSE_RANDOM);
}

static inline int mkcert_tickets(mbedtls_ssl_ticket_context *tickets)
{
#if MBEDTLS_VERSION_NUMBER >= 0x04000000
    return mbedtls_ssl_ticket_setup(tickets, PSA_ALG_GCM, PSA_KEY_TYPE_AES, 256,
                                    3600);
#else
    return mbedtls_ssl_ticket_setup(tickets, mbedtls_ctr_drbg_random,
                                    &mkcert_random, MBEDTLS_CIPHER_AES_256_GCM,
                                    3600);
#endif
}

static inline void mkcert_conf_random(mbedtls_ssl_config *conf)
{
#if MBEDTLS_VERSION_NUMBER >= 0x04000000
    (void)conf;
#else
    mbedtls_ssl_conf_rng(conf, mbedtls_ctr_drbg_random, &mkcert_random);
#endif
}
#endif

/* ---- certificates ---- */

/* subjectAltName by hand, because 2.28 has no function for it: a SEQUENCE of
 * names [2] and addresses [7]; localhost has 127.0.0.1 and ::1. */
static int mkcert_add_names(mbedtls_x509write_cert *w, const char *host)
{
    static const unsigned char ip[] = {0x87, 4, 127, 0, 0, 1, 0x87, 16,
                                       0,    0, 0,   0, 0, 0, 0,    0,
                                       0,    0, 0,   0, 0, 0, 0,    1};
    unsigned char der[128];
    size_t n = strlen(host), len = 2;

    if (n > 60)
        return -1;
    der[len++] = 0x82;
    der[len++] = (unsigned char)n;
    memcpy(der + len, host, n);
    len += n;
    if (strcmp(host, "localhost") == 0) {
        memcpy(der + len, ip, sizeof ip);
        len += sizeof ip;
    }
    der[0] = 0x30;
    der[1] = (unsigned char)(len - 2);
    return mbedtls_x509write_crt_set_extension(
        w, MBEDTLS_OID_SUBJECT_ALT_NAME,
        MBEDTLS_OID_SIZE(MBEDTLS_OID_SUBJECT_ALT_NAME), 0, der, len);
}

static int mkcert_set_serial(mbedtls_x509write_cert *w)
{
    unsigned char raw[8];
    int e = mkcert_bytes(raw, sizeof raw);

    if (e)
        return e;
    raw[0] = (raw[0] & 0x7f) | 1; /* positive, and no leading zero */
#if MBEDTLS_VERSION_NUMBER >= 0x03040000
    return mbedtls_x509write_crt_set_serial_raw(w, raw, sizeof raw);
#else
    {
        mbedtls_mpi n;
        mbedtls_mpi_init(&n);
        e = mbedtls_mpi_read_binary(&n, raw, sizeof raw);
        if (!e)
            e = mbedtls_x509write_crt_set_serial(w, &n);
        mbedtls_mpi_free(&n);
        return e;
    }
#endif
}

/* One certificate as PEM; with q the server's, without the CA's own. */
static int mkcert_sign(char *pem, size_t cap, mbedtls_pk_context *subject,
                       mbedtls_pk_context *issuer, const mkcert_request *q)
{
    mbedtls_x509write_cert w;
    int e;

    mbedtls_x509write_crt_init(&w);
    mbedtls_x509write_crt_set_version(&w, MBEDTLS_X509_CRT_VERSION_3);
    mbedtls_x509write_crt_set_md_alg(&w, MBEDTLS_MD_SHA256);
    mbedtls_x509write_crt_set_subject_key(&w, subject);
    mbedtls_x509write_crt_set_issuer_key(&w, issuer);
    e = mkcert_set_serial(&w);
    if (!e)
        e = mbedtls_x509write_crt_set_issuer_name(&w, "CN=toolcall test CA");
    if (!e)
        e = mbedtls_x509write_crt_set_subject_name(
            &w, q ? "CN=toolcall test server" : "CN=toolcall test CA");
    if (!e)
        e = mbedtls_x509write_crt_set_validity(
            &w, q ? q->from : "20200101000000", q ? q->to : "20491231235959");
    if (!e)
        e = mbedtls_x509write_crt_set_basic_constraints(&w, !q, -1);
    if (!e)
        e = mbedtls_x509write_crt_set_key_usage(
            &w, q ? MBEDTLS_X509_KU_DIGITAL_SIGNATURE
                  : MBEDTLS_X509_KU_KEY_CERT_SIGN);
    if (!e) /* OpenSSL's strict mode and Python ask for these */
        e = mbedtls_x509write_crt_set_subject_key_identifier(&w);
    if (!e)
        e = mbedtls_x509write_crt_set_authority_key_identifier(&w);
    if (!e && q)
        e = mkcert_add_names(&w, q->host);
    if (!e)
        e = mbedtls_x509write_crt_pem(&w, (unsigned char *)pem,
                                      cap MKCERT_WRITE_RANDOM);
    mbedtls_x509write_crt_free(&w);
    return e;
}

/* 0, or an error of mbedTLS. */
static int mkcert(mkcert_result *out, const mkcert_request *q)
{
    mbedtls_pk_context ca, server;
    int e;

    mbedtls_pk_init(&ca);
    mbedtls_pk_init(&server);
    e = mkcert_begin();
    if (!e)
        e = mkcert_new_key(&ca);
    if (!e)
        e = mkcert_new_key(&server);
    if (!e)
        e = mkcert_sign(out->ca, sizeof out->ca, &ca, &ca, NULL);
    if (!e)
        e = mkcert_sign(out->cert, sizeof out->cert - sizeof out->ca, &server,
                        &ca, q);
    if (!e)
        e = mbedtls_pk_write_key_pem(&server, (unsigned char *)out->key,
                                     sizeof out->key);
    if (!e)
        memcpy(out->cert + strlen(out->cert), out->ca, strlen(out->ca) + 1);
    mbedtls_pk_free(&ca);
    mbedtls_pk_free(&server);
    mkcert_end();
    return e;
}

#ifndef MKCERT_NO_MAIN
#include <sys/stat.h>

static int save(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
        fprintf(stderr, "mkcert: cannot write %s\n", path);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static mkcert_result made;
    static const mkcert_request local = {"localhost", "20200101000000",
                                         "20491231235959"};
    int e;

    if (argc < 3 || argc > 4) {
        fprintf(stderr, "use: mkcert CERT KEY [CA]\n");
        return 2;
    }
    e = mkcert(&made, &local);
    if (e) {
        fprintf(stderr, "mkcert: mbedTLS error -0x%04x\n", (unsigned)-e);
        return 1;
    }
    umask(077); /* one of them is a private key */
    return save(argv[1], made.cert) | save(argv[2], made.key) |
           (argc > 3 ? save(argv[3], made.ca) : 0);
}
#endif
