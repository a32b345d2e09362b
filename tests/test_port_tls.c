/* TLS, with a server of mbedTLS at the other end of two pipes in memory. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "port_script.h"
#include "port_wire.h"

#include <mbedtls/md.h>

static void test_tls_trust(void)
{
    tport_stream s;

    about = "trust";
    CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), 0);
    CHECK_INT(s.connect(s.user), 0);
    end_tls();
    CHECK_INT(begin_tls(&local, "127.0.0.1", NULL, false, &s), 0);
    end_tls();
    CHECK_INT(begin_tls(&local, "LOCALHOST", NULL, true, &s), 0);
    end_tls();

    about = "wrong name";
    CHECK_INT(begin_tls(&elsewhere, "localhost", NULL, false, &s),
              TCALL_E_WRONG_HOST);
    CHECK(strstr(tport_tls_why(&tls), "localhost"));
    CHECK(strstr(tport_tls_why(&tls), "another host"));
    CHECK_INT((long)w.got_len, 0);
    end_tls();
    CHECK_INT(begin_tls(&local, "127.0.0.2", NULL, false, &s),
              TCALL_E_WRONG_HOST);
    end_tls();
    CHECK_INT(begin_tls(&local, "localhost.test", NULL, false, &s),
              TCALL_E_WRONG_HOST);
    end_tls();

    about = "unknown CA";
    CHECK_INT(begin_tls(&local, "localhost", elsewhere.ca, false, &s),
              TCALL_E_CERTIFICATE);
    CHECK(strstr(tport_tls_why(&tls), "trusted CA"));
    end_tls();

    about = "dates";
    CHECK_INT(begin_tls(&expired, "localhost", NULL, false, &s),
              TCALL_E_EXPIRED);
    CHECK(strstr(tport_tls_why(&tls), "expired"));
    end_tls();
    CHECK_INT(begin_tls(&future, "localhost", NULL, false, &s),
              TCALL_E_NOT_YET);
    CHECK(strstr(tport_tls_why(&tls), "clock"));
    end_tls();
    about = "several faults: the gravest counts, all are named";
    CHECK_INT(begin_tls(&expired, "other.test", elsewhere.ca, false, &s),
              TCALL_E_CERTIFICATE);
    CHECK(strstr(tport_tls_why(&tls), "trusted CA"));
    CHECK(strstr(tport_tls_why(&tls), "another host"));
    CHECK(strstr(tport_tls_why(&tls), "expired"));
    end_tls();
    CHECK_INT(begin_tls(&expired, "other.test", NULL, false, &s),
              TCALL_E_WRONG_HOST);
    end_tls();

    about = "a pinned certificate";
    CHECK_INT(begin_tls(&local, "localhost", local.cert, false, &s), 0);
    end_tls();
}

static char asked_name[64]; /* by SNI, in the last handshake */

static int note_name(void *user, mbedtls_ssl_context *ssl,
                     const unsigned char *name, size_t len)
{
    (void)user;
    (void)ssl;
    memcpy(asked_name, name, len < sizeof asked_name - 1 ? len : 0);
    return 0;
}

/* Connects to a server that notes which name is asked for. */
static int connect_asking(const mkcert_result *c, const char *host)
{
    tport_tls_desc d = {0};
    tport_stream s;
    int r;

    memset(&w, 0, sizeof w);
    memset(asked_name, 0, sizeof asked_name);
    d.host = host;
    d.ca_pem = c->ca;
    r = tport_tls_init(&tls, &d, wire_stream(&w));
    s = tport_tls_stream(&tls);
    server_init(&w.srv, c);
    mbedtls_ssl_conf_sni(&w.srv.conf, note_name, NULL);
    r = r ? r : connect_all(&s);
    end_tls();
    return r;
}

static void test_tls_addresses(void)
{
    static const char *const good[] = {
        "127.0.0.1",
        "::1",
        "0:0:0:0:0:0:0:1",
        "0000::0000:0001",
        "0:0::0.0.0.1",
        "::0.0.0.1",
        "0::1",
        "::0:0:0:0:0:1",
        "0:0:0:0:0:0:0.0.0.1",
    };
    static const char *const bad[] = {
        "127.0.0.2",
        "::2",
        "1::",
        "::",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "7f00:1::",
        "192.0.2.1",
        /* no addresses, and no names that are there */
        "127.1",
        "127.0.0.256",
        "127.0.0.1.",
        "0127.0.0.1",
        "127.0.0",
        ":1",
        ":::1",
        "::1::",
        "1:2:3:4:5:6:7:8::",
        "::00001",
        "0:0:0:0:0:0:0:0:1",
        "0:0:0:0:0:0:0:1:",
        "::1:",
        "::g",
        "0:0:0:0:0:0:1",
        "::1%lo",
    };
    static const mkcert_request as_name = {"127.0.0.1", "20200101000000",
                                           "20491231235959"};
    static mkcert_result named;
    size_t i;

    for (i = 0; i < COUNT_OF(good); i++) {
        about = good[i];
        CHECK_INT(connect_asking(&local, good[i]), 0);
        CHECK(!asked_name[0]); /* RFC 6066: no addresses there */
    }
    for (i = 0; i < COUNT_OF(bad); i++) {
        about = bad[i];
        CHECK_INT(connect_asking(&local, bad[i]), TCALL_E_WRONG_HOST);
    }
    about = "an address among the names is none";
    CHECK_INT(mkcert(&named, &as_name), 0);
    CHECK_INT(connect_asking(&named, "127.0.0.1"), TCALL_E_WRONG_HOST);
    about = "a name is asked for";
    CHECK_INT(connect_asking(&local, "localhost"), 0);
    CHECK(strcmp(asked_name, "localhost") == 0);
}

/* Connects to a server that accepts one suite of TLS 1.2 only. */
static int connect_suite(int suite)
{
    int only[2] = {0, 0};
    tport_tls_desc d = {0};
    tport_stream s;
    int r;

    only[0] = suite;
    memset(&w, 0, sizeof w);
    d.host = "localhost";
    d.ca_pem = local.ca;
    r = tport_tls_init(&tls, &d, wire_stream(&w));
    s = tport_tls_stream(&tls);
    server_init(&w.srv, &local);
    mbedtls_ssl_conf_ciphersuites(&w.srv.conf, only);
#if MBEDTLS_VERSION_NUMBER >= 0x03020000
    mbedtls_ssl_conf_max_tls_version(&w.srv.conf, MBEDTLS_SSL_VERSION_TLS1_2);
#endif
    r = r ? r : connect_all(&s);
    end_tls();
    return r;
}

static void test_tls_suites(void)
{
    about = "ECDHE with AEAD";
    CHECK_INT(connect_suite(0xc02b), 0); /* AES_128_GCM */
    CHECK_INT(connect_suite(0xc02c), 0); /* AES_256_GCM */
    CHECK_INT(connect_suite(0xcca9), 0); /* CHACHA20_POLY1305 */
    about = "ECDHE without AEAD";
    CHECK_INT(connect_suite(0xc009), TCALL_E_TLS); /* AES_128_CBC_SHA */
    CHECK_INT(connect_suite(0xc023), TCALL_E_TLS); /* AES_128_CBC_SHA256 */
}

static void test_tls_usage(void)
{
    tport_tls_desc d;
    tport_stream s;

    about = "usage";
    memset(&w, 0, sizeof w);
    memset(&d, 0, sizeof d);
    d.ca_pem = local.ca;
    CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), TCALL_E_USAGE);
    tport_tls_free(&tls);
    d.host = "";
    CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), TCALL_E_USAGE);
    tport_tls_free(&tls);
    d.host = "localhost";
    d.ca_pem = "not PEM";
    CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), TCALL_E_CERTIFICATE);
    tport_tls_free(&tls);
    d.ca_pem = NULL;
    d.ca_file = "/nonexistent/ca.pem";
    CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), TCALL_E_CERTIFICATE);
    CHECK(strstr(tport_tls_why(&tls), "/nonexistent/ca.pem"));
    tport_tls_free(&tls);

    about = "no TLS at the other end";
    CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), 0);
    s.close(s.user);
    w.plain = true;
    CHECK_INT(connect_all(&s), TCALL_E_TLS);
    CHECK(strstr(tport_tls_why(&tls), "localhost: TLS failed"));
    end_tls();
#if MBEDTLS_VERSION_NUMBER < 0x03000000
    about = "TLS 1.1";
    CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), 0);
    s.close(s.user);
    mbedtls_ssl_conf_max_version(&w.srv.conf, MBEDTLS_SSL_MAJOR_VERSION_3,
                                 MBEDTLS_SSL_MINOR_VERSION_2);
    /* The session of 1.2 must not help, either. */
    CHECK(connect_all(&s) == TCALL_E_TLS || tls.ended);
    end_tls();
#endif
}

static void say(const char *text)
{
    mbedtls_ssl_write(&w.srv.ssl, (const unsigned char *)text, strlen(text));
}

static void test_tls_bytes(void)
{
    static char big[20000];
    int stutter;
    tport_stream s;
    char b[64];

    about = "bytes both ways, and the three ends";
    for (stutter = 0; stutter < 2; stutter++) {
        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        CHECK_INT(stream_write(&s, "one and two"), 0);
        CHECK_INT(stream_write(&s, " and three"), 0);
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_AGAIN);
        serve(&w);
        CHECK(w.got_len == 21 &&
              memcmp(w.got, "one and two and three", 21) == 0);
        say(""); /* empty records are not an end */
        say("");
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_AGAIN);
        say("yes");
        CHECK_INT(stream_read(&s, b, sizeof b), 3);
        CHECK(memcmp(b, "yes", 3) == 0);
        mbedtls_ssl_close_notify(&w.srv.ssl);
        w.down.shut = true;
        CHECK_INT(stream_read(&s, b, sizeof b), 0);
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        say("ye");
        w.down.shut = true; /* FIN without close_notify */
        CHECK_INT(stream_read(&s, b, sizeof b), 2);
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_CLOSED);
        CHECK(strstr(tport_tls_why(&tls), "close_notify"));
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        say("yes");
        w.down.to--; /* inside a record */
        w.down.shut = true;
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_CLOSED);
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        w.down.shut = w.broken = true;
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_CLOSED);
        CHECK(strcmp(tport_tls_why(&tls), "the wire broke") == 0);
        /* none of that is left in the next connection */
        s.close(s.user);
        w.broken = false;
        w.plain = true;
        CHECK_INT(connect_all(&s), TCALL_E_TLS);
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        w.dead = true;
        CHECK_INT(stream_write(&s, "lost"), TCALL_E_CLOSED);
        CHECK(strcmp(tport_tls_why(&tls), "the wire broke") == 0);
        s.close(s.user);
        CHECK_INT(w.lost, 1);
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        /* tickets of 1.3, which want an answer, come first */
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_AGAIN);
        w.full = true;
        memset(big, 'x', sizeof big);
        CHECK(s.write(s.user, big, sizeof big) <= 16384); /* one record */
        w.full = false;
        w.dead = true; /* what was said before can still be read */
        say("bye");
        CHECK_INT(stream_read(&s, b, sizeof b), 3);
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), 0);
        s.close(s.user);
        CHECK_INT(mbedtls_ssl_read(&w.srv.ssl, (unsigned char *)b, sizeof b),
                  MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY);
        end_tls();

        CHECK_INT(begin_tls(&local, "localhost", NULL, stutter, &s), 0);
        w.full = true; /* half a record, then another connection */
        CHECK_INT(s.write(s.user, "half", 4), 4);
        CHECK_INT(s.write(s.user, "half", 4), TCALL_E_AGAIN);
        s.close(s.user);
        w.full = false;
        CHECK_INT(connect_all(&s), 0);
        CHECK_INT(stream_write(&s, "whole"), 0);
        CHECK_INT(stream_read(&s, b, sizeof b), TCALL_E_AGAIN);
        serve(&w);
        CHECK(w.got_len == 5 && memcmp(w.got, "whole", 5) == 0);
        end_tls();
    }
}

/* ---- the clock, entropy and memory of the machine ---- */

static time_t fake_time; /* 0: the real one */
static bool no_entropy;

/* What port/ and mbedTLS call in place of the C library's. */
time_t time(time_t *to)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (fake_time)
        now.tv_sec = fake_time;
    if (to)
        *to = now.tv_sec;
    return now.tv_sec;
}

int __real_mbedtls_entropy_func(void *user, unsigned char *to, size_t len);
int __wrap_mbedtls_entropy_func(void *user, unsigned char *to, size_t len);

/* In place of mbedTLS's own, by the linker. */
int __wrap_mbedtls_entropy_func(void *user, unsigned char *to, size_t len)
{
    return no_entropy ? MBEDTLS_ERR_SSL_INTERNAL_ERROR
                      : __real_mbedtls_entropy_func(user, to, len);
}

static void test_tls_machine(void)
{
    static const time_t wrong[] = {1, 946684800 /* 2000 */,
                                   TPORT_CLOCK_FLOOR - 1};
    tport_tls_desc d = {0};
    tport_stream s;
    size_t i;

    for (i = 0; i < COUNT_OF(wrong); i++) {
        about = "the clock is not set";
        fake_time = wrong[i];
        CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s),
                  TCALL_E_CLOCK);
        CHECK(strstr(tport_tls_why(&tls), "clock is not set"));
        CHECK_INT((long)w.moved, 0); /* nothing was sent */
        about = "then it is";
        fake_time = 0;
        CHECK_INT(connect_all(&s), 0);
        CHECK(!strstr(tport_tls_why(&tls), "clock"));
        end_tls();
    }
    about = "the clock is as early as it may be";
    fake_time = TPORT_CLOCK_FLOOR;
    CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), 0);
    end_tls();
    about = "the clock is decades ahead";
    fake_time = (time_t)2556144000; /* 2051 */
    CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), TCALL_E_EXPIRED);
    fake_time = 0;
    end_tls();

    about = "no entropy";
    no_entropy = true;
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    mbedtls_psa_crypto_free(); /* it had enough for a long time */
#endif
    d.host = "localhost";
    d.ca_pem = local.ca;
    memset(&w, 0, sizeof w);
    CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), TCALL_E_ENTROPY);
    CHECK(strstr(tport_tls_why(&tls), "entropy"));
    tport_tls_free(&tls);
    no_entropy = false;
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    CHECK_INT(psa_crypto_init(), 0);
#endif
}

static void fingerprint(tport_pin to, const unsigned char *der, size_t len)
{
    CHECK_INT(
        mbedtls_md(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), der, len, to),
        0);
}

/* Connect with pins in place of CAs. */
static int connect_pinned(const mkcert_result *c, const char *host,
                          const tport_pin *pins, size_t n)
{
    tport_tls_desc d = {0};
    tport_stream s;
    int r;

    memset(&w, 0, sizeof w);
    d.host = host;
    d.pins = pins;
    d.pin_count = n;
    r = tport_tls_init(&tls, &d, wire_stream(&w));
    s = tport_tls_stream(&tls);
    server_init(&w.srv, c);
    r = r ? r : connect_all(&s);
    end_tls();
    return r;
}

static void test_tls_pins(void)
{
    static mkcert_result forged;
    mbedtls_x509_crt chain;
    tport_pin pins[5];
    int i;

    memset(pins, 0, sizeof pins);
    mbedtls_x509_crt_init(&chain);
    CHECK_INT(mbedtls_x509_crt_parse(&chain, (const unsigned char *)local.cert,
                                     strlen(local.cert) + 1),
              0);
    fingerprint(pins[1], chain.raw.p, chain.raw.len);
    fingerprint(pins[2], chain.pk_raw.p, chain.pk_raw.len);
    fingerprint(pins[3], chain.next->raw.p, chain.next->raw.len);
    fingerprint(pins[4], chain.next->pk_raw.p, chain.next->pk_raw.len);
    mbedtls_x509_crt_free(&chain);
    for (i = 1; i < 5; i++) {
        about = "a pin of a certificate or key, the server's or its CA's";
        CHECK_INT(
            connect_pinned(&local, "localhost", (const tport_pin *)&pins[i], 1),
            0);
        about = "a pin does not stand for the name";
        CHECK_INT(connect_pinned(&local, "other.test",
                                 (const tport_pin *)&pins[i], 1),
                  TCALL_E_WRONG_HOST);
        about = "none of the pins";
        CHECK_INT(
            connect_pinned(&other_ca, "localhost", (const tport_pin *)pins, 5),
            TCALL_E_CERTIFICATE);
    }
    CHECK_INT(connect_pinned(&local, "localhost", (const tport_pin *)pins, 5),
              0);
    CHECK_INT(connect_pinned(&local, "localhost", (const tport_pin *)pins, 1),
              TCALL_E_CERTIFICATE);
    about = "the pinned CA is sent along, but signed nothing";
    forged = other_ca;
    strcpy(strstr(forged.cert, "-----END CERTIFICATE-----\n") + 26, local.ca);
    CHECK_INT(connect_pinned(&forged, "localhost", (const tport_pin *)pins, 5),
              TCALL_E_CERTIFICATE);
    about = "a pin that is nearly right";
    pins[1][31] ^= 1;
    CHECK_INT(
        connect_pinned(&local, "localhost", (const tport_pin *)&pins[1], 1),
        TCALL_E_CERTIFICATE);
    about = "another server behind the same address has to have a pin as well";
    {
        tport_tls_desc d = {0};
        tport_stream s;
        memset(&w, 0, sizeof w);
        d.host = "localhost";
        d.pins = (const tport_pin *)&pins[2];
        d.pin_count = 1;
        CHECK_INT(tport_tls_init(&tls, &d, wire_stream(&w)), 0);
        s = tport_tls_stream(&tls);
        server_init(&w.srv, &local);
        CHECK_INT(connect_all(&s), 0);
        s.close(s.user);
        server_free(&w.srv);
        server_init(&w.srv, &other_ca);
        CHECK_INT(connect_all(&s), TCALL_E_CERTIFICATE);
        end_tls();
    }
    about = "no pin at all is no trust";
    CHECK(connect_pinned(&local, "localhost", (const tport_pin *)pins, 0) < 0);
}

#if MBEDTLS_VERSION_NUMBER >= 0x03060000
#define NEWEST "TLSv1.3"
#else
#define NEWEST "TLSv1.2"
#endif

/* Tickets, and in TLS 1.2 session ids too: what the second handshake moves,
 * and whether the server calls it a resumption. */
static void resume(bool tickets)
{
    tport_stream s;
    size_t first;
    char b[8];
    mbedtls_ssl_cache_context cache;

    mbedtls_ssl_cache_init(&cache);
    CHECK_INT(begin_tls(&local, "localhost", NULL, false, &s), 0);
    if (!tickets) {
        mbedtls_ssl_conf_session_tickets_cb(&w.srv.conf, NULL, NULL, NULL);
        mbedtls_ssl_conf_session_cache(
            &w.srv.conf, &cache, mbedtls_ssl_cache_get, mbedtls_ssl_cache_set);
#if MBEDTLS_VERSION_NUMBER >= 0x03020000
        mbedtls_ssl_conf_max_tls_version(&w.srv.conf,
                                         MBEDTLS_SSL_VERSION_TLS1_2);
#endif
        tls.has_session = false;
        s.close(s.user);
        CHECK_INT(connect_all(&s), 0);
    }
    (void)stream_read(&s, b, sizeof b); /* tickets of 1.3 come late */
    first = w.moved;
    CHECK_INT(w.srv.resumed, 0);
    s.close(s.user);
    CHECK_INT(connect_all(&s), 0);
    CHECK(w.moved < first * 3 / 4);
    CHECK_INT(w.srv.resumed, tickets);
    CHECK(strcmp(mbedtls_ssl_get_version(&tls.ssl),
                 tickets ? NEWEST : "TLSv1.2") == 0);
    printf("test_port_tls: %s, %s: handshake %lu bytes, resumed %lu\n",
           mbedtls_ssl_get_version(&tls.ssl), tickets ? "ticket" : "session id",
           (unsigned long)first, (unsigned long)w.moved);
    CHECK_INT(stream_write(&s, "again"), 0);
    serve(&w);
    serve(&w);
    CHECK_INT((long)w.got_len, 5);
    about = "a session that the server has forgotten costs nothing";
    mbedtls_ssl_conf_session_tickets_cb(&w.srv.conf, NULL, NULL, NULL);
    mbedtls_ssl_conf_session_cache(&w.srv.conf, NULL, NULL, NULL);
    s.close(s.user);
    CHECK_INT(connect_all(&s), 0);
    end_tls();
    mbedtls_ssl_cache_free(&cache);
}

static void test_tls_resumption(void)
{
    about = "resumption by ticket";
    resume(true);
    about = "resumption by session id";
    resume(false);
}

/* HTTP over TLS over a wire that stutters: the layers fit. */
static void test_tls_http(void)
{
    static result x;
    tcall_transport t;
    tport_http h;
    tport_stream s;

    about = "HTTP over TLS in memory";
    CHECK_INT(begin_tls(&local, "localhost", NULL, true, &s), 0);
    s.close(s.user);
    tport_http_init(&h, s, "localhost", "");
    t = tport_http_transport(&h);
    memset(&x, 0, sizeof x);
    CHECK_INT(open_all(&t, &post, &x.res), 0);
    CHECK_INT(write_all(&t, "body", 4), 0);
    say(OK1 "\r\nto the end");
    mbedtls_ssl_close_notify(&w.srv.ssl);
    w.down.shut = true;
    CHECK_INT(read_all(&t, &x, 100), 0);
    CHECK_INT((long)x.len, 10);
    t.close(t.user);
    CHECK_INT(open_all(&t, &post, &x.res), 0);
    CHECK_INT(write_all(&t, "body", 4), 0);
    say(OK1 "\r\nto the end");
    w.down.shut = true;
    CHECK_INT(read_all(&t, &x, 100), TCALL_E_CLOSED);
    t.close(t.user);
    tport_http_drop(&h);
    end_tls();
}

int main(void)
{
    begin();
    printf("test_port_tls: with " MBEDTLS_VERSION_STRING_FULL "\n");
    test_tls_trust();
    test_tls_addresses();
    test_tls_suites();
    test_tls_usage();
    test_tls_bytes();
    test_tls_machine();
    test_tls_pins();
    test_tls_resumption();
    test_tls_http();
    return check_sum("test_port_tls");
}
