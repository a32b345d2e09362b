/* curl.c - see curl.h */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#endif
#include "port/curl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/select.h>
#include <sys/socket.h>

static int fail(tport_curl *c, int error, const char *why)
{
    if (why)
        snprintf(c->why, sizeof c->why, "%s", why);
    return c->error = error;
}

/* What an error of libcurl is here. */
static int translate(CURLcode code)
{
    switch (code) {
    case CURLE_OK: return TCALL_OK;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST: return TCALL_E_RESOLVE;
    case CURLE_COULDNT_CONNECT: return TCALL_E_CONNECT;
    case CURLE_OPERATION_TIMEDOUT: return TCALL_E_TIMEOUT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR: return TCALL_E_CERTIFICATE;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_ENGINE_INITFAILED: return TCALL_E_TLS;
    case CURLE_OUT_OF_MEMORY: return TCALL_E_MEMORY;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return TCALL_E_USAGE;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_RECV_ERROR: return TCALL_E_CLOSED;
    default: return TCALL_E_PROTOCOL;
    }
}

/* ---- what libcurl calls ---- */

static size_t on_send(char *to, size_t size, size_t count, void *user)
{
    tport_curl *c = (tport_curl *)user;
    size_t room = size * count, n = c->from_len < room ? c->from_len : room;

    c->pulled = true;
    if (n == 0)
        return CURL_READFUNC_PAUSE;
    memcpy(to, c->from, n);
    c->from += n;
    c->from_len -= n;
    return n;
}

/* Asks for the same request again, at another place. */
static bool is_redirect(const tport_curl *c)
{
    long status = 0;

    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    return (status == 307 || status == 308);
}

/* One piece at a time: libcurl keeps the next one until this one was read. */
static size_t on_body(char *bytes, size_t size, size_t count, void *user)
{
    tport_curl *c = (tport_curl *)user;
    size_t n = size * count;

    c->held = c->at < c->len;
    if (c->held)
        return CURL_WRITEFUNC_PAUSE;
    if (is_redirect(c))
        return n; /* of that nobody reads a body */
    if (c->max_body && n > c->max_body - c->body) {
        (void)fail(c, TCALL_E_LIMIT, "the body is too long");
        return 0;
    }
    c->body += (uint32_t)n;
    memcpy(c->buf, bytes, n);
    c->at = 0;
    c->len = n;
    return n;
}

/* The value of the header when it has this name, else NULL. */
static const char *value_of(const char *line, size_t len, const char *name)
{
    size_t n = strlen(name);

    return len > n && strncasecmp(line, name, n) == 0 && line[n] == ':'
               ? line + n + 1 + strspn(line + n + 1, " \t")
               : NULL;
}

/* The line ends with LF, not with NUL; every number ends before that. */
static size_t on_header(char *line, size_t size, size_t count, void *user)
{
    tport_curl *c = (tport_curl *)user;
    size_t len = size * count;
    const char *value;

    c->heard = true;
    if (len > 5 && memcmp(line, "HTTP/", 5) == 0) {
        c->headed = false;
        c->seen.retry_after_ms = -1;
        c->seen.should_retry = 0;
    }
    if (c->headed)
        return len; /* a trailer */
    c->headed = line[0] == '\r' || line[0] == '\n';
    value = value_of(line, len, "retry-after-ms");
    if (value && *value >= '0' && *value <= '9')
        c->seen.retry_after_ms = strtol(value, NULL, 10);
    value = value_of(line, len, "x-should-retry");
    if (value)
        c->seen.should_retry = strncmp(value, "true", 4) == 0    ? 1
                               : strncmp(value, "false", 5) == 0 ? -1
                                                                 : 0;
    return len;
}

static curl_socket_t on_socket(void *user, curlsocktype purpose,
                               struct curl_sockaddr *a)
{
    (void)user;
    (void)purpose;
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* ---- an exchange ---- */

/* Interim answers are none. */
static void note_status(tport_curl *c)
{
    long status = 0;
    curl_off_t seconds = 0;

    curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(c->easy, CURLINFO_RETRY_AFTER, &seconds);
    if (status < 200 || !c->headed || c->res->status)
        return; /* of a head that is not whole nothing is taken over */
    *c->res = c->seen;
    c->res->status = (int)status;
    if (seconds > 0 && c->res->retry_after_ms < 0)
        c->res->retry_after_ms =
            seconds > 2000000 ? 2000000000 : (long)seconds * 1000;
}

/* Have both URLs the same scheme, host and port? libcurl writes a redirect as
 * a whole URL. */
static bool is_same_host(const char *url, const char *to)
{
    const char *host = strstr(url, "://");
    size_t n = host ? (size_t)(host - url) + 3 : 0;

    n += strcspn(url + n, "/?#");
    return strncasecmp(url, to, n) == 0 &&
           (!to[n] || to[n] == '/' || to[n] == '?' || to[n] == '#');
}

/* The request has to be opened again, because its body is gone: where it goes
 * then is kept here. */
static void follow(tport_curl *c)
{
    const char *to = NULL;

    curl_easy_getinfo(c->easy, CURLINFO_REDIRECT_URL, &to);
    if (!to || strlen(to) >= sizeof c->moved || !is_same_host(c->url, to)) {
        c->redirect = c->redirects = 0;
        c->error = TCALL_E_NOT_FOUND;
        snprintf(c->why, sizeof c->why, "a redirect that is not followed: %s",
                 to ? to : "to nowhere");
    } else if (++c->redirects > TPORT_CURL_MAX_REDIRECTS) {
        c->redirect = c->redirects = 0;
        (void)fail(c, TCALL_E_LIMIT, "too many redirects");
    } else {
        strcpy(c->moved, to);
        c->redirect = c->res->status;
        c->res->status = 0;
        c->res->retry_after_ms = 0;
        (void)fail(c, TCALL_E_CLOSED, "a redirect: open the request again");
    }
}

/* The answer was none: what is kept of a redirect to here ends. */
static void arrive(tport_curl *c)
{
    c->redirects = 0;
    if (c->redirect == 307)
        c->redirect = 0; /* it was for one request */
}

/* The exchange ended so. A connection that was kept may turn out to be dead:
 * then the request can go again, which libcurl does itself where it still has
 * all of the body. */
static void end(tport_curl *c, CURLcode code)
{
    long opened = 0;

    c->done = true;
    if (c->error == 0)
        c->error = translate(code);
    if (code != CURLE_OK && !c->why[0])
        (void)fail(c, c->error, curl_easy_strerror(code));
    if (c->error == 0 && !c->headed) /* libcurl would let that pass */
        (void)fail(c, TCALL_E_CLOSED,
                   "the connection ended inside the answer's head");
    if (c->error == 0 && is_redirect(c))
        follow(c);
    else if (c->error == 0)
        arrive(c);
    curl_easy_getinfo(c->easy, CURLINFO_NUM_CONNECTS, &opened);
    if (c->error == TCALL_E_CLOSED && !c->heard &&
        (opened == 0 || code == CURLE_SEND_FAIL_REWIND))
        c->res->retry_after_ms = 0;
}

/* Lets libcurl do what it can now. */
static int go_on(tport_curl *c)
{
    int running, left;
    const CURLMsg *message;

    if (c->error < 0 || c->done)
        return c->error;
    if (curl_multi_perform(c->multi, &running) != CURLM_OK)
        return fail(c, TCALL_E_MEMORY, "libcurl cannot go on");
    note_status(c);
    message = curl_multi_info_read(c->multi, &left);
    if (message && message->msg == CURLMSG_DONE)
        end(c, message->data.result);
    return c->error;
}

static bool is_clean(const char *s)
{
    for (; s && *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return false;
    return true;
}

static int add_header(tport_curl *c, const char *name, const char *value,
                      const char *secret)
{
    char line[1024];
    struct curl_slist *list = NULL;
    int n;

    if (!is_clean(name) || !is_clean(value) || !is_clean(secret))
        return fail(c, TCALL_E_USAGE, "a header cannot be sent");
    n = snprintf(line, sizeof line, "%s: %s%s", name, value ? value : "",
                 secret ? secret : "");
    if (n > 0 && (size_t)n < sizeof line)
        list = curl_slist_append(c->headers, line);
    memset(line, 0, sizeof line);
    if (!list)
        return fail(c, TCALL_E_MEMORY, "a header is too long");
    c->headers = list;
    return 0;
}

static int begin(tport_curl *c, const tcall_request *q, tcall_response *res)
{
    size_t i;
    int r = 0;

    c->open = true;
    c->done = c->heard = c->headed = c->pulled = c->held = false;
    c->error = 0;
    c->at = c->len = 0;
    c->body = 0;
    c->why[0] = '\0';
    c->res = res;
    res->status = res->should_retry = 0;
    res->retry_after_ms = -1;
    if (!is_clean(q->path) || strlen(q->path) >= sizeof c->url - c->base_len ||
        strlen(q->path) >= sizeof c->asked)
        return fail(c, TCALL_E_USAGE, "the path cannot be sent");
    c->url[c->base_len] = '\0';
    strcpy(c->url + c->base_len, q->path + tport_shared(c->url, q->path));
    if (strcmp(c->asked, q->path) != 0)
        c->redirect = 0;
    strcpy(c->asked, q->path);
    for (i = 0; r == 0 && i < q->header_count; i++)
        r = add_header(c, q->headers[i].name, q->headers[i].value,
                       q->headers[i].secret);
    if (r == 0)
        r = add_header(c, "Expect", NULL, NULL); /* never wait for a "100" */
    if (r < 0)
        return r;
    curl_easy_setopt(c->easy, CURLOPT_URL, c->redirect ? c->moved : c->url);
    curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->headers);
    curl_easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     (curl_off_t)q->body_len);
    curl_easy_setopt(c->easy, CURLOPT_CUSTOMREQUEST, q->method);
    return curl_multi_add_handle(c->multi, c->easy) == CURLM_OK
               ? 0
               : fail(c, TCALL_E_MEMORY, "libcurl cannot begin");
}

/* The head was sent when libcurl asks for the body. */
static int curl_open(void *user, const tcall_request *q, tcall_response *res)
{
    tport_curl *c = (tport_curl *)user;
    int r = c->open ? c->error : begin(c, q, res);

    if (r == 0)
        r = go_on(c);
    return r < 0                                              ? r
           : c->pulled || c->heard || c->done || !q->body_len ? 0
                                                              : TCALL_E_AGAIN;
}

static int curl_write(void *user, const char *bytes, size_t len)
{
    tport_curl *c = (tport_curl *)user;
    int r;

    len = tport_clamp(len);
    c->from = bytes;
    c->from_len = len;
    curl_easy_pause(c->easy, CURLPAUSE_CONT);
    r = go_on(c);
    /* A server that has answered may not listen any more: read sees that. */
    if (r == 0 && (c->done || c->res->status >= 300))
        c->from_len = 0;
    len -= c->from_len;
    c->from = NULL;
    c->from_len = 0;
    return len > 0 ? (int)len : r < 0 ? r : TCALL_E_AGAIN;
}

static int curl_read(void *user, char *bytes, size_t cap)
{
    tport_curl *c = (tport_curl *)user;
    size_t n;

    if (c->at == c->len) {
        if (c->held)
            curl_easy_pause(c->easy, CURLPAUSE_CONT);
        (void)go_on(c);
    }
    n = c->len - c->at;
    if (n == 0)
        return c->error < 0 ? c->error : c->done ? 0 : TCALL_E_AGAIN;
    n = n < tport_clamp(cap) ? n : tport_clamp(cap);
    memcpy(bytes, c->buf + c->at, n);
    c->at += n;
    return (int)n;
}

static void curl_close(void *user)
{
    tport_curl *c = (tport_curl *)user;
    struct curl_slist *h;

    (void)curl_multi_remove_handle(c->multi, c->easy);
    for (h = c->headers; h; h = h->next)
        memset(h->data, 0, strlen(h->data)); /* there was a key in it */
    curl_slist_free_all(c->headers);
    c->headers = NULL;
    c->open = false;
}

/* ---- waiting ---- */

static uint32_t curl_now(void *user)
{
    (void)user;
    return tport_posix_now_ms();
}

static void curl_sleep(void *user, const tcall_wait *wait)
{
    (void)user;
    tport_posix_wait(wait);
}

static void curl_wants(void *user, tcall_wait *wait)
{
    tport_curl *c = (tport_curl *)user;
    fd_set in, out, bad;
    long ms = -1;
    int fd, most = -1;

    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_ZERO(&bad);
    (void)curl_multi_fdset(c->multi, &in, &out, &bad, &most);
    (void)curl_multi_timeout(c->multi, &ms);
    for (fd = 0; fd <= most; fd++)
        if (FD_ISSET(fd, &in) || FD_ISSET(fd, &out))
            tcall_wait_handle(wait, fd,
                              (FD_ISSET(fd, &in) ? TCALL_WAIT_READ : 0) |
                                  (FD_ISSET(fd, &out) ? TCALL_WAIT_WRITE : 0));
    if (ms >= 0)
        tcall_wait_ms(wait, (uint32_t)ms);
    if (most < 0) /* libcurl has nothing to watch: look again soon */
        tcall_wait_ms(wait, TCALL_WAIT_POLL_MS);
}

tcall_transport tport_curl_transport(tport_curl *c)
{
    tcall_transport t = {curl_open, curl_write, curl_read,  curl_close,
                         curl_now,  curl_sleep, curl_wants, NULL};

    t.user = c;
    return t;
}

/* ---- setting up ---- */

static void trust(tport_curl *c, const tport_curl_desc *d)
{
    struct curl_blob pem;

    if (d->ca_file)
        curl_easy_setopt(c->easy, CURLOPT_CAINFO, d->ca_file);
    if (!d->ca_pem)
        return;
    pem.data = (void *)(size_t)d->ca_pem;
    pem.len = strlen(d->ca_pem);
    pem.flags = CURL_BLOB_COPY;
    curl_easy_setopt(c->easy, CURLOPT_CAINFO_BLOB, &pem);
}

static void set_options(tport_curl *c, const tport_curl_desc *d)
{
    uint32_t idle = d->idle_ms ? d->idle_ms : 300000;

    curl_easy_setopt(c->easy, CURLOPT_PROTOCOLS_STR,
                     d->insecure_plain_http ? "http,https" : "https");
    curl_easy_setopt(c->easy, CURLOPT_SSLVERSION,
                     (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(c->easy, CURLOPT_USERAGENT,
                     "toolcall.h/" TOOLCALL_VERSION);
    curl_easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(c->easy, CURLOPT_ERRORBUFFER, c->why);
    curl_easy_setopt(c->easy, CURLOPT_READFUNCTION, on_send);
    curl_easy_setopt(c->easy, CURLOPT_READDATA, c);
    curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, c);
    curl_easy_setopt(c->easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c->easy, CURLOPT_HEADERDATA, c);
    curl_easy_setopt(c->easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl_easy_setopt(c->easy, CURLOPT_TIMEOUT_MS,
                     (long)(d->total_ms ? d->total_ms : 600000));
    curl_easy_setopt(c->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(c->easy, CURLOPT_LOW_SPEED_TIME,
                     (long)(idle + 999) / 1000);
    trust(c, d);
}

int tport_curl_init(tport_curl *c, const tport_curl_desc *d)
{
    const char *url = d->url ? d->url : "";
    size_t len = strlen(url);

    memset(c, 0, sizeof *c);
    while (len && url[len - 1] == '/')
        len--;
    if (len == 0 || len >= sizeof c->url)
        return fail(c, TCALL_E_USAGE, "the URL is missing, or too long");
    if (strncmp(url, "https://", 8) != 0 && !d->insecure_plain_http)
        return fail(c, TCALL_E_USAGE,
                    "the URL must begin with https://, or set "
                    "insecure_plain_http");
    memcpy(c->url, url, len);
    c->base_len = len;
    c->max_body = d->max_body;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) {
        c->multi = curl_multi_init();
        c->easy = curl_easy_init();
    }
    if (!c->multi || !c->easy)
        return fail(c, TCALL_E_MEMORY, "libcurl cannot be set up");
    set_options(c, d);
    return TCALL_OK;
}

const char *tport_curl_error(const tport_curl *c)
{
    return c->why;
}

void tport_curl_free(tport_curl *c)
{
    if (c->open)
        curl_close(c);
    if (c->easy)
        curl_easy_cleanup(c->easy);
    if (c->multi)
        curl_multi_cleanup(c->multi);
    memset(c, 0, sizeof *c);
}
