/*
 * curl.h - the transport over libcurl, where that is there (7.85 or newer)
 *
 *     static tport_curl curl;
 *     tport_curl_desc d = {0};
 *     d.url = "https://api.openai.com";
 *     if (tport_curl_init(&curl, &d) < 0)
 *         puts(tport_curl_error(&curl));
 *     desc.transport = tport_curl_transport(&curl);
 *     ...
 *     tport_curl_free(&curl);
 *
 * For Linux: proxies (from the environment, as curl takes them), HTTP/2 and
 * the system's TLS. It keeps the waiting contract of port.h and needs
 * port/posix.c beside it, but neither port/tls.c nor mbedTLS.
 *
 * Of redirects those by 307 and 308 to the same host are followed, as
 * port/http.h does: the exchange ends with TCALL_E_CLOSED and may be opened
 * again at once. One to another host is TCALL_E_NOT_FOUND, and tport_curl_error
 * says where it leads.
 */
#ifndef TPORT_CURL_H
#define TPORT_CURL_H

#include "port/posix.h"

#include <curl/curl.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TPORT_CURL_MAX_REDIRECTS
#define TPORT_CURL_MAX_REDIRECTS 5 /* of one request */
#endif

typedef struct tport_curl_desc {
    /* "https://host", ":port" and a base path, which is sent once where it ends
     * with what the path begins with, such as "/v1". Copied. */
    const char *url;
    const char *ca_pem;  /* whom to trust, as PEM text, or as a file of it; */
    const char *ca_file; /* default: the system's CAs */
    uint32_t total_ms;   /* of one exchange; default 600000 */
    uint32_t idle_ms;    /* without a byte; in seconds; default 300000 */
    uint32_t max_body; /* bytes of the body of one answer; default: no limit */
    /* Allow "http://", which all on the way can read. */
    bool insecure_plain_http;
} tport_curl_desc;

typedef struct tport_curl {
    /* All private. */
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    tcall_response *res;
    tcall_response seen; /* in the head so far */
    const char *from;    /* bytes of the request, while they can be taken */
    size_t from_len;
    size_t at, len; /* buf[at..len) is still to be read */
    uint32_t body, max_body;
    bool open, done;
    bool pulled; /* libcurl has asked for the body: the head was sent */
    bool heard;  /* a line of the answer came */
    bool headed; /* ... and the one that ends its head */
    bool held;   /* libcurl keeps the next piece of the body for us */
    int error;
    uint8_t redirects; /* in a row */
    int redirect;      /* 307: for one request, 308: from now on; 0: none */
    char asked[256];   /* the path that was redirected */
    char moved[1024];  /* where to */
    size_t base_len;
    char url[1024];
    char why[CURL_ERROR_SIZE];
    char buf[CURL_MAX_WRITE_SIZE];
} tport_curl;

/* Prepares; nothing is connected yet. Returns TCALL_E_USAGE when the URL cannot
 * be used, TCALL_E_MEMORY. Free it in any case; it must not move. */
int tport_curl_init(tport_curl *c, const tport_curl_desc *d);

/* Returns the transport, which refers to c. */
tcall_transport tport_curl_transport(tport_curl *c);

/* Returns what the last error was about, in libcurl's words. */
const char *tport_curl_error(const tport_curl *c);

void tport_curl_free(tport_curl *c);

#ifdef __cplusplus
}
#endif
#endif /* TPORT_CURL_H */
