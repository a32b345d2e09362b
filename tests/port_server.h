/*
 * port_server.h - certificates, and a server of mbedTLS
 */
#define MKCERT_NO_MAIN
#include "mkcert.c"

#include <mbedtls/net_sockets.h>
#include <mbedtls/ssl_cache.h>
#include <signal.h>
#include <unistd.h>

/* Factor of all time limits: TEST_SLOW=10 for valgrind, 1 to hurry. */
static unsigned slow = 3;

static mkcert_result local, elsewhere, expired, future, other_ca;

static inline void make_certificates(void)
{
    static const mkcert_request q[] = {
        {"localhost", "20200101000000", "20491231235959"},
        {"other.test", "20200101000000", "20491231235959"},
        {"localhost", "20200101000000", "20200201000000"},
        {"localhost", "20480101000000", "20491231235959"},
        {"localhost", "20200101000000", "20491231235959"},
    };

    about = "certificates";
    CHECK_INT(mkcert(&local, &q[0]), 0);
    CHECK_INT(mkcert(&elsewhere, &q[1]), 0);
    CHECK_INT(mkcert(&expired, &q[2]), 0);
    CHECK_INT(mkcert(&future, &q[3]), 0);
    CHECK_INT(mkcert(&other_ca, &q[4]), 0);
}

/* Begins a test with servers: whatever happens, it ends. */
static inline void begin(void)
{
    if (getenv("TEST_SLOW"))
        slow = (unsigned)atoi(getenv("TEST_SLOW"));
    alarm(60 * slow);
    signal(SIGPIPE, SIG_DFL);
    make_certificates();
}

/* A server of mbedTLS; its two functions for bytes are given. */
typedef struct server {
    mbedtls_ssl_context ssl;
    mbedtls_ssl_config conf;
    mbedtls_x509_crt crt;
    mbedtls_pk_context key;
    mbedtls_ssl_ticket_context tickets;
    int resumed; /* handshakes that were short, thanks to a ticket */
} server;

static inline int parse_ticket(void *user, mbedtls_ssl_session *session,
                               unsigned char *ticket, size_t len)
{
    server *s = user;
    int e = mbedtls_ssl_ticket_parse(&s->tickets, session, ticket, len);

    s->resumed += e == 0;
    return e;
}

static inline int write_ticket(void *user, const mbedtls_ssl_session *session,
                               unsigned char *start, const unsigned char *end,
                               size_t *len, uint32_t *lifetime)
{
    return mbedtls_ssl_ticket_write(&((server *)user)->tickets, session, start,
                                    end, len, lifetime);
}

static inline void server_init(server *s, const mkcert_result *c)
{
    int e;

    mbedtls_ssl_init(&s->ssl);
    mbedtls_ssl_config_init(&s->conf);
    mbedtls_x509_crt_init(&s->crt);
    mbedtls_pk_init(&s->key);
    mbedtls_ssl_ticket_init(&s->tickets);
    e = mkcert_begin();
    e |= mkcert_pair(&s->crt, &s->key, c);
    e |= mbedtls_ssl_config_defaults(&s->conf, MBEDTLS_SSL_IS_SERVER,
                                     MBEDTLS_SSL_TRANSPORT_STREAM,
                                     MBEDTLS_SSL_PRESET_DEFAULT);
    mkcert_conf_random(&s->conf);
    e |= mbedtls_ssl_conf_own_cert(&s->conf, &s->crt, &s->key);
    e |= mkcert_tickets(&s->tickets);
    mbedtls_ssl_conf_session_tickets_cb(&s->conf, write_ticket, parse_ticket,
                                        s);
    e |= mbedtls_ssl_setup(&s->ssl, &s->conf);
    CHECK_INT(e, 0);
}

static inline void server_free(server *s)
{
    mbedtls_ssl_free(&s->ssl);
    mbedtls_ssl_config_free(&s->conf);
    mbedtls_ssl_ticket_free(&s->tickets);
    mbedtls_x509_crt_free(&s->crt);
    mbedtls_pk_free(&s->key);
    mkcert_end();
}
