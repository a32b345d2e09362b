/* port.c - see port.h */
#include "port/port.h"

#include <string.h>

static int fail(tport *p, int error, const char *a, const char *b)
{
    const char *parts[3];

    parts[0] = a;
    parts[1] = b;
    parts[2] = NULL;
    tport_say(p->why, sizeof p->why, parts);
    return error;
}

/* ---- the URL ---- */

static bool is_host(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           tport_is_digit(c) || c == '-' || c == '.' || c == '_';
}

static bool is_address6(char c)
{
    return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
           tport_is_digit(c) || c == ':' || c == '.';
}

static bool is_path(char c)
{
    return c > ' ' && c < 0x7f && c != '?' && c != '#' && c != '\\';
}

/* Copy s[0..n) as a text; false when it does not fit or is empty. */
static bool copy(char *to, size_t cap, const char *s, size_t n)
{
    if (n == 0 || n >= cap)
        return false;
    memcpy(to, s, n);
    to[n] = '\0';
    return true;
}

/* host, [host6], host:port or [host6]:port; answers its length or 0. */
static size_t read_authority(tport *p, const char *s)
{
    size_t six = s[0] == '[', n;
    const char *end;

    n = tport_span(s + six, six ? is_address6 : is_host);
    if (!copy(p->host, sizeof p->host, s + six, n))
        return 0;
    n += six;
    if (six && s[n++] != ']')
        return 0;
    if (s[n] == ':') {
        p->number = tport_number(s + n + 1, &end);
        if (p->number == 0)
            return 0;
        n = (size_t)(end - s);
    }
    return copy(p->authority, sizeof p->authority, s, n) ? n : 0;
}

static int read_url(tport *p, const char *url)
{
    const char *s = url ? url : "";
    size_t n;

    if (strncmp(s, "https://", 8) == 0) {
        p->has_tls = true;
        p->number = 443;
        s += 8;
    } else if (strncmp(s, "http://", 7) == 0) {
        p->number = 80;
        s += 7;
    } else {
        return fail(p, TCALL_E_USAGE,
                    "the URL must begin with https:// or http://", "");
    }
    n = read_authority(p, s);
    if (n == 0 || (s[n] && s[n] != '/'))
        return fail(p, TCALL_E_USAGE,
                    "the URL must go on with HOST or HOST:PORT", "");
    s += n;
    n = tport_span(s, is_path);
    if (s[n])
        return fail(p, TCALL_E_USAGE,
                    "the URL's path has a character that it can't have", "");
    while (n && s[n - 1] == '/')
        n--;
    if (n && !copy(p->base, sizeof p->base, s, n))
        return fail(p, TCALL_E_USAGE, "the URL's path is too long", "");
    return 0;
}

/* Four numbers, the first 127: names may begin with 127 as well. */
static bool is_loopback4(const char *s)
{
    int dots;

    if (strncmp(s, "127.", 4) != 0)
        return false;
    for (dots = 0; dots < 3; dots++) {
        size_t n;
        s = strchr(s, '.');
        if (!s)
            return false;
        n = tport_span(++s, tport_is_digit);
        if (n == 0 || n > 3 || (s[n] && s[n] != '.'))
            return false;
    }
    return !strchr(s, '.');
}

static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           is_loopback4(host);
}

/* ---- time ---- */

static bool is_idle(const tport *p, uint32_t now)
{
    return now - p->moved_at >= p->idle_ms;
}

static int fail_idle(tport *p)
{
    return fail(p, TCALL_E_TIMEOUT, p->host,
                ": nothing was heard for too long");
}

/* Is anything ready of what the last step could not go on without? */
static bool is_ready(tport *p)
{
    tcall_wait wait;

    wait.ms = 0;
    wait.count = 0;
    tport_http_wants(&p->http, &wait);
    return tport_posix_wait(&wait) > 0;
}

/* Looked at before each step: bytes that keep coming don't stop the clock of
 * the whole exchange, and that of idleness is not stopped by bytes which the
 * system would still take, though the peer has read nothing. */
static int check_time(tport *p)
{
    uint32_t now = tport_posix_now_ms();

    if (now - p->began >= p->total_ms)
        return fail(p, TCALL_E_TIMEOUT, p->host,
                    ": the exchange took too long");
    if (p->stalled && is_idle(p, now) && !is_ready(p))
        return fail_idle(p);
    p->stalled = false;
    return 0;
}

/* How long until the first of the limits is reached. */
static uint32_t time_left(const tport *p, uint32_t now)
{
    uint32_t total = now - p->began, idle = now - p->moved_at;

    total = total < p->total_ms ? p->total_ms - total : 0;
    idle = idle < p->idle_ms ? p->idle_ms - idle : 0;
    return total < idle ? total : idle;
}

static void port_wants(void *user, tcall_wait *wait)
{
    tport *p = (tport *)user;

    tport_http_wants(&p->http, wait);
    tcall_wait_ms(wait, time_left(p, tport_posix_now_ms()));
}

/* HTTP can't go on right now. 0: try again. The idle limit is looked at only
 * from here on, so that a caller who pauses is not taken for a dead server. */
static int stall(tport *p)
{
    uint32_t now = tport_posix_now_ms();
    tcall_wait wait;

    if (p->moved != p->http.moved) {
        p->moved = p->http.moved;
        p->moved_at = now;
    }
    if (is_idle(p, now))
        return fail_idle(p);
    p->stalled = true;
    if (!p->blocking)
        return TCALL_E_AGAIN;
    wait.ms = TCALL_WAIT_NEVER;
    wait.count = 0;
    port_wants(p, &wait);
    (void)tport_posix_wait(&wait);
    return 0;
}

/* ---- the transport ---- */

/* After an error the text is kept, because close makes HTTP forget it. */
static int note(tport *p, int r)
{
    if (r < 0 && r != TCALL_E_AGAIN && r != TCALL_E_TIMEOUT)
        return fail(p, r, tport_http_why(&p->http), "");
    return r;
}

static int port_open(void *user, const tcall_request *req, tcall_response *res)
{
    tport *p = (tport *)user;
    int r;

    if (!p->open) {
        p->open = true;
        p->stalled = false;
        p->began = p->moved_at = tport_posix_now_ms();
        p->why[0] = '\0';
    }
    do {
        if ((r = check_time(p)) == 0)
            r = tport_http_open(&p->http, req, res);
    } while (r == TCALL_E_AGAIN && (r = stall(p)) == 0);
    return note(p, r);
}

static int port_write(void *user, const char *bytes, size_t len)
{
    tport *p = (tport *)user;
    int r;

    do {
        if ((r = check_time(p)) == 0)
            r = tport_http_write(&p->http, bytes, len);
    } while (r == TCALL_E_AGAIN && (r = stall(p)) == 0);
    return note(p, r);
}

static int port_read(void *user, char *bytes, size_t cap)
{
    tport *p = (tport *)user;
    int r;

    do {
        if ((r = check_time(p)) == 0)
            r = tport_http_read(&p->http, bytes, cap);
    } while (r == TCALL_E_AGAIN && (r = stall(p)) == 0);
    return note(p, r);
}

static void port_close(void *user)
{
    tport *p = (tport *)user;

    tport_http_close(&p->http);
    p->open = false;
}

static uint32_t port_now_ms(void *user)
{
    (void)user;
    return tport_posix_now_ms();
}

static void port_wait(void *user, const tcall_wait *wait)
{
    (void)user;
    (void)tport_posix_wait(wait);
}

tcall_transport tport_transport(tport *p)
{
    tcall_transport t = {port_open,   port_write, port_read,  port_close,
                         port_now_ms, port_wait,  port_wants, NULL};

    t.user = p;
    p->blocking = false;
    return t;
}

tcall_transport tport_blocking(tport *p)
{
    tcall_transport t = tport_transport(p);

    p->blocking = true;
    return t;
}

/* ---- setting up ---- */

static int init_tls(tport *p, const tport_desc *d)
{
    tport_tls_desc t;
    int r;

    memset(&t, 0, sizeof t);
    t.host = p->host;
    t.pins = d->pins;
    t.pin_count = d->pin_count;
    t.ca_pem = d->ca_pem;
    t.ca_file = d->ca_file;
    r = tport_tls_init(&p->tls, &t, p->stream);
    if (r < 0)
        (void)fail(p, r, tport_tls_why(&p->tls), "");
    p->stream = tport_tls_stream(&p->tls);
    return r;
}

int tport_init(tport *p, const tport_desc *d)
{
    int r;

    memset(p, 0, sizeof *p);
    tport_posix_init(&p->socket, p->host, 0);
    p->total_ms = d->total_ms ? d->total_ms : 600000;
    p->idle_ms = d->idle_ms ? d->idle_ms : 300000;
    r = read_url(p, d->url);
    if (r == 0 && !p->has_tls && !d->insecure_plain_http &&
        !is_loopback(p->host))
        r = fail(p, TCALL_E_USAGE, p->host,
                 ": plain http:// is only allowed to this machine itself; "
                 "use https://, or set insecure_plain_http");
    if (r < 0) {
        p->has_tls = false; /* not yet initialised */
        return r;
    }
    p->socket.port = p->number;
    p->socket.allow = d->allow;
    p->socket.user = d->user;
    p->stream = tport_posix_stream(&p->socket);
    if (p->has_tls && (r = init_tls(p, d)) < 0)
        return r;
    tport_http_init(&p->http, p->stream, p->authority, p->base);
    p->http.plain = !p->has_tls;
    p->http.max_body = d->max_body;
    p->http.kept = d->kept;
    p->http.kept_count = d->kept_count;
    return 0;
}

const char *tport_error(const tport *p)
{
    return p->why;
}

void tport_free(tport *p)
{
    if (p->http.stream.close)
        tport_http_drop(&p->http);
    if (p->has_tls)
        tport_tls_free(&p->tls);
    memset(p, 0, sizeof *p);
    p->socket.fd = -1;
}
