/* http.c - see http.h */
#include "port/http.h"

#include <stddef.h>
#include <string.h>

/* Phases of sending. The probe asks a reused connection for bytes: there must
 * be none, and no end, or it is stale. */
enum { IDLE, PROBE, CONNECT, HEAD, BODY, FLUSH, SENT };

/* States of receiving; those of the head come first. A line's first byte is
 * the one that h->line counts as 1. */
enum {
    STATUS,    /* "HTTP/1.1 200" */
    REASON,    /* the rest of that line */
    NAME,      /* header name up to the colon, or the empty line */
    SPACE,     /* blanks after the colon */
    VALUE,     /* header value */
    SIZE,      /* digits of a chunk's size */
    EXTENSION, /* the rest of that line */
    CHUNK_END, /* the end of line after a chunk */
    DATA,      /* bytes of a body or chunk of known length */
    UNTIL_END, /* bytes of a body that the stream's end ends */
    DONE
};

static const char status_form[] = "HTTP/1.v ddd";

/* Fields that matter here; the order is that of the names below. The first
 * ones are written here: twice they would contradict each other. */
enum {
    HOST,
    AGENT,
    ACCEPT,
    LENGTH,
    CODING,
    CONNECTION,
    OURS,
    ENCODING = OURS,
    RETRY,
    RETRY_MS,
    SHOULD_RETRY,
    DATE,
    LOCATION,
    OTHER
};

static const char *const names[] = {
    "host",
    "user-agent",
    "accept-encoding",
    "content-length",
    "transfer-encoding",
    "connection",
    "content-encoding",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "date",
    "location",
};

/* ---- characters and small texts ---- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* RFC 9110: the characters of methods and header names. */
static bool is_token(char c)
{
    char l = lower(c);

    return (l >= 'a' && l <= 'z') || tport_is_digit(c) ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* What may stand in a header's value, a reason or a chunk's extension. */
static bool is_text(char c)
{
    unsigned char u = (unsigned char)c;

    return (u >= 0x20 && u != 0x7f) || c == '\t';
}

/* Are all characters good? Of NULL, there are none. */
static bool all(const char *s, bool (*good)(char))
{
    return !s || !s[tport_span(s, good)];
}

static bool some(const char *s, bool (*good)(char))
{
    return s && *s && all(s, good);
}

static bool is_visible(char c)
{
    return c > 0x20 && c < 0x7f;
}

/* Is a, in any case, equal to b, which is lower case? */
static bool same(const char *a, const char *b)
{
    while (*a && lower(*a) == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static uint8_t field_of(const char *name)
{
    uint8_t i = 0;

    while (i < OTHER && !same(name, names[i]))
        i++;
    return i;
}

/* ---- errors ---- */

static int fail(tport_http *h, int error, const char *why)
{
    h->why = why;
    return error;
}

static int bad(tport_http *h, const char *why)
{
    return fail(h, TCALL_E_PROTOCOL, why);
}

/* Of a head that was not whole nothing is kept. */
static void forget_kept(tport_http *h)
{
    size_t i;

    for (i = 0; i < h->kept_count; i++) {
        h->kept[i].value[0] = '\0';
        h->kept[i].len = 0;
    }
}

/* Every error but AGAIN ends the exchange, and with it the connection. */
static int settle(tport_http *h, int r)
{
    if (r >= 0 || r == TCALL_E_AGAIN)
        return r;
    if (h->phase != IDLE && !h->headed)
        forget_kept(h);
    return h->error = r;
}

const char *tport_http_why(const tport_http *h)
{
    const char *why = h->why;

    if (!why && h->stream.why)
        why = h->stream.why(h->stream.user);
    return why ? why : "";
}

/* ---- the stream ---- */

static void hang_up(tport_http *h)
{
    h->stream.close(h->stream.user);
    h->linked = false;
}

static int pull(tport_http *h, char *to, size_t cap)
{
    int n = h->stream.read(h->stream.user, to, tport_clamp(cap));

    if (n > 0) {
        h->moved += (uint32_t)n;
        h->answered = true;
    }
    return n;
}

static int link_up(tport_http *h)
{
    int r = h->linked ? 0 : h->stream.connect(h->stream.user);

    if (r == 0 && !h->linked)
        h->reused = false;
    h->linked = r == 0;
    return r;
}

/* The connection broke before a byte of the answer came. True: the request
 * goes again from its beginning, over a new connection, because it was an old
 * one and all that was sent is still here. That happens once, because a new
 * connection is not a reused one. */
static bool restarts(tport_http *h)
{
    bool in_buf = h->told + h->sent == h->len;

    if (!h->reused || h->answered || (!in_buf && h->sent > 0))
        return false;
    h->pos = 0;
    if (!in_buf) {
        h->told = h->len = 0;
        h->phase = HEAD;
    }
    hang_up(h);
    return true;
}

/* The stream ended, or answered the error r, before the answer was complete. 0:
 * the request goes again. */
static int ended(tport_http *h, int r)
{
    if (r != 0 && r != TCALL_E_CLOSED)
        return r;
    if (restarts(h))
        return 0;
    if (h->reused && !h->answered)
        h->res->retry_after_ms = 0; /* the caller can send it again */
    h->why = !h->answered ? "the connection ended before the answer"
             : h->at < SIZE && !h->trailer
                 ? "the connection ended inside the answer's head"
                 : "the connection ended inside the answer's body";
    return TCALL_E_CLOSED;
}

static int parse(tport_http *h, char c);

/* The server takes no more for now: perhaps it has answered already. Its head
 * is read byte by byte, because buf is full of the request, and what follows
 * stays where it is. An error ends the request: the rest of it is not sent.
 * AGAIN: there is nothing new. */
static int overhear(tport_http *h)
{
    int n, r = TCALL_E_AGAIN;
    char c;

    while (h->at < SIZE) {
        n = pull(h, &c, 1);
        if (n <= 0)
            return n == TCALL_E_AGAIN ? r : ended(h, n);
        r = parse(h, c);
        if (r < 0)
            return r;
        h->deaf = h->at >= SIZE && h->res->status >= 300;
    }
    return r;
}

/* Answers how many bytes were accepted; 0: look again, what was to be sent may
 * not be any more. */
static int push(tport_http *h, const char *from, size_t len)
{
    int n = link_up(h);

    if (n < 0)
        return n;
    n = h->stream.write(h->stream.user, from, tport_clamp(len));
    if (n == TCALL_E_AGAIN)
        return overhear(h);
    if (n > 0)
        h->moved += (uint32_t)n;
    if (n != TCALL_E_CLOSED)
        return n;
    /* The server may have answered before it closed: let read see. */
    if (!restarts(h))
        h->deaf = h->cut = true;
    return 0;
}

/* Write out buf. */
static int flush(tport_http *h)
{
    while (h->pos < h->len && !h->deaf) {
        int n = push(h, h->buf + h->pos, (size_t)(h->len - h->pos));
        if (n < 0)
            return n;
        h->pos = (uint16_t)(h->pos + n);
    }
    h->pos = h->len = 0;
    return 0;
}

/* ---- sending ---- */

static bool is_sendable(const tcall_header *x)
{
    return some(x->name, is_token) && field_of(x->name) >= OURS &&
           all(x->value, is_text) && all(x->secret, is_text);
}

static int check_request(tport_http *h, const tcall_request *req)
{
    size_t i;

    if (!some(req->method, is_token))
        return fail(h, TCALL_E_USAGE, "the method is not one");
    if (!some(req->path, is_visible) || req->path[0] != '/')
        return fail(h, TCALL_E_USAGE, "the path is not one");
    for (i = 0; i < req->header_count; i++)
        if (!is_sendable(&req->headers[i]))
            return fail(h, TCALL_E_USAGE, "a header cannot be sent");
    return 0;
}

/* Write n as digits to the end of to[cap] and return where they begin. */
static const char *digits(char *to, size_t cap, size_t n)
{
    char *p = to + cap;

    *--p = '\0';
    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    return p;
}

/* Append to buf what fits and answer how much that was. */
static size_t append(tport_http *h, const char *s, size_t n)
{
    size_t room = sizeof h->buf - h->len;

    if (n > room)
        n = room;
    memcpy(h->buf + h->len, s, n);
    h->len = (uint16_t)(h->len + n);
    return n;
}

/* Put s into buf, but for what was put there before, and what does not fit. */
static void put(tport_http *h, const char *s)
{
    size_t n = s ? strlen(s) : 0;

    if (n <= h->skip) {
        h->skip -= n;
        return;
    }
    (void)append(h, s + h->skip, n - h->skip);
    h->skip = 0;
}

/* A path as a number, to know it again. */
static uint32_t path_number(const char *path)
{
    uint32_t number = 2166136261u;

    while (*path)
        number = (number ^ (unsigned char)*path++) * 16777619u;
    return number;
}

/* What is asked for: where a redirect led, or the path below the base. */
static void put_target(tport_http *h)
{
    const char *path = h->req->path;

    if (h->redirect && h->asked == path_number(path)) {
        put(h, h->target);
        return;
    }
    put(h, h->base);
    put(h, path + tport_shared(h->base, path));
}

/* Fill buf with what follows the part of the head that was there before. */
static void put_head(tport_http *h)
{
    const tcall_request *q = h->req;
    char number[24];
    size_t i, len = h->len;

    h->skip = h->told;
    put(h, q->method);
    put(h, " ");
    put_target(h);
    put(h, " HTTP/1.1\r\nHost: ");
    put(h, h->authority);
    put(h, "\r\nUser-Agent: " TPORT_HTTP_AGENT
           "\r\nAccept-Encoding: identity\r\n");
    if (q->body_len > 0 ||
        (strcmp(q->method, "GET") != 0 && strcmp(q->method, "HEAD") != 0)) {
        put(h, "Content-Length: ");
        put(h, digits(number, sizeof number, q->body_len));
        put(h, "\r\n");
    }
    for (i = 0; i < q->header_count; i++) {
        put(h, q->headers[i].name);
        put(h, ": ");
        put(h, q->headers[i].value);
        put(h, q->headers[i].secret);
        put(h, "\r\n");
    }
    put(h, "\r\n");
    h->told += h->len - len;
}

/* The end of the head stays in buf, for the body to leave with it. */
static int send_head(tport_http *h)
{
    size_t told;
    int r;

    do {
        if (h->len == sizeof h->buf && (r = flush(h)) < 0)
            return r;
        told = h->told;
        put_head(h);
    } while (h->told > told && !h->deaf);
    return 0;
}

static int probe(tport_http *h)
{
    char c;

    if (h->stream.read(h->stream.user, &c, 1) != TCALL_E_AGAIN)
        hang_up(h);
    return 0;
}

/* Carry sending on up to the phase that is asked for. */
static int advance(tport_http *h, uint8_t to)
{
    while (h->phase < to) {
        uint8_t phase = h->phase;
        int r = 0;
        switch (phase) {
        case PROBE: r = probe(h); break;
        case CONNECT: r = link_up(h); break;
        case HEAD: r = send_head(h); break;
        case FLUSH: r = flush(h); break;
        }
        if (r < 0)
            return r;
        if (h->phase == phase) /* else it begins anew */
            h->phase++;
    }
    return 0;
}

/* Nothing is known of the answer, or only of an interim one. */
static void forget(tport_http *h)
{
    h->at = STATUS;
    h->has_length = h->chunked = h->retry_in_ms = false;
    h->date = h->retry_at = h->left = 0;
    h->seen.status = 0;
    h->seen.retry_after_ms = -1;
    h->seen.should_retry = 0;
    forget_kept(h);
}

static void begin(tport_http *h, const tcall_request *req, tcall_response *res)
{
    const size_t from = offsetof(tport_http, phase);

    memset((char *)h + from, 0, offsetof(tport_http, stream) - from);
    h->req = req;
    h->res = res;
    h->pos = h->len = 0;
    h->reused = h->linked;
    h->phase = h->linked ? PROBE : CONNECT;
    forget(h);
    *res = h->seen;
}

int tport_http_open(tport_http *h, const tcall_request *req,
                    tcall_response *res)
{
    if (h->error)
        return h->error;
    if (h->phase == IDLE) {
        int r;
        begin(h, req, res);
        if ((r = check_request(h, req)) < 0)
            return settle(h, r);
    }
    return settle(h, advance(h, BODY));
}

static int write_some(tport_http *h, const char *bytes, size_t len)
{
    int r;

    if (h->deaf)
        return (int)len;
    if (h->len == 0 && len >= sizeof h->buf)
        return push(h, bytes, len);
    if (h->len < sizeof h->buf)
        return (int)append(h, bytes, len);
    r = flush(h);
    return r;
}

int tport_http_write(tport_http *h, const char *bytes, size_t len)
{
    int n = 0;

    if (h->error)
        return h->error;
    if (h->phase < HEAD || h->phase > BODY || len > h->req->body_len - h->sent)
        return settle(h,
                      fail(h, TCALL_E_USAGE, "more body than was announced"));
    len = tport_clamp(len);
    while (n == 0 && len > 0 && (n = advance(h, BODY)) == 0)
        n = write_some(h, bytes, len);
    if (n > 0)
        h->sent += (size_t)n;
    return settle(h, n);
}

/* ---- receiving: header lines ---- */

static void text_add(tport_http *h, char c)
{
    if (h->text_len < sizeof h->text - 1)
        h->text[h->text_len] = lower(c);
    if (h->text_len < sizeof h->text)
        h->text_len++;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Make s[0..n) a text without the blanks at its end; answers its length. */
static size_t trim(char *s, size_t n)
{
    while (n && is_blank(s[n - 1]))
        n--;
    s[n] = '\0';
    return n;
}

static void value_byte(tport_http *h, char c)
{
    tport_kept *k = h->keeping;

    text_add(h, c);
    if (k && k->len < k->cap)
        k->value[k->len++] = c;
}

/* Terminate the text. What does not fit is as good as nothing: "". */
static void text_end(tport_http *h)
{
    (void)trim(h->text, h->text_len < sizeof h->text ? h->text_len : 0);
    h->text_len = 0;
}

static bool is_redirect(int status)
{
    return status == 307 || status == 308;
}

static void name_end(tport_http *h)
{
    size_t i;

    h->keeping = NULL;
    h->field = OTHER;
    text_end(h);
    if (h->trailer)
        return;
    h->field = field_of(h->text);
    for (i = 0; i < h->kept_count; i++)
        if (strcmp(h->kept[i].name, h->text) == 0)
            h->keeping = &h->kept[i];
    if (h->field == LOCATION && !h->keeping && is_redirect(h->seen.status)) {
        h->redirected = true;
        h->keeping = &h->location;
    }
    if (h->keeping)
        h->keeping->len = 0;
}

static int set_length(tport_http *h)
{
    const char *s = h->text;
    uint32_t n = 0;

    if (h->has_length)
        return bad(h, "Content-Length stands twice");
    h->has_length = true;
    do {
        uint32_t d = (uint32_t)(*s - '0');
        if (!tport_is_digit(*s) || n > (UINT32_MAX - d) / 10)
            return bad(h, "Content-Length is no number, or too large");
        n = n * 10 + d;
    } while (*++s);
    h->left = n;
    return 0;
}

/* Seconds or milliseconds, perhaps with a fraction, of which only the fact
 * that there is one is kept. Anything else is no advice. */
static long wait_ms(const char *s, long unit)
{
    const long most = 0x7fffffff;
    long n = 0;

    if (!tport_is_digit(*s))
        return -1;
    for (; tport_is_digit(*s); s++)
        n = n > most / 10 - 1 ? most / 10 : n * 10 + (*s - '0');
    if (*s == '.') {
        n++;
        for (s++; tport_is_digit(*s); s++)
            continue;
    }
    if (*s)
        return -1;
    return n > most / unit ? most : n * unit;
}

/* n digits at s; anything else makes *good false. */
static uint32_t number(const char *s, int n, bool *good)
{
    uint32_t v = 0;

    while (n--) {
        *good = *good && tport_is_digit(*s);
        v = v * 10 + (uint32_t)(*s++ - '0');
    }
    return v;
}

/* Seconds from 1970 to "wed, 21 oct 2015 07:28:00 gmt", the one form that
 * RFC 9110 lets a server send; 0 for anything else. Good to the year 2099. */
static uint32_t read_date(const char *s)
{
    static const char months[] = "maraprmayjunjulaugsepoctnovdecjanfeb";
    bool good = strlen(s) == 29 && strcmp(s + 25, " gmt") == 0;
    uint32_t year, t, month = 0;
    int i;

    if (!good)
        return 0;
    while (month < 12 && strncmp(months + 3 * month, s + 8, 3) != 0)
        month++;
    year = number(s + 12, 4, &good) - 1970;
    if (month == 12 || year > 129)
        return 0;
    /* Counted from March, a year ends with the day that not all of them have,
     * and its months have 31, 30, 31, 30, 31 days, over and over. 1970 has 59
     * days before March, and days count from 1. */
    year -= month > 9;
    t = 365 * year + (year + 2) / 4 + (153 * month + 2) / 5;
    t += 58 + number(s + 5, 2, &good);
    for (i = 17; i < 26; i += 3)
        t = t * (i == 17 ? 24 : 60) + number(s + i, 2, &good);
    return good ? t : 0;
}

/* What a date in Retry-After means without a clock of one's own: how long it
 * is after the Date of the same answer. */
static void compare_dates(tport_http *h)
{
    uint32_t s;

    if (!h->date || !h->retry_at || h->seen.retry_after_ms >= 0)
        return;
    s = h->retry_at > h->date ? h->retry_at - h->date : 0;
    h->seen.retry_after_ms =
        s > 0x7fffffff / 1000 ? 0x7fffffff : (long)s * 1000;
}

static void set_retry(tport_http *h, bool in_ms)
{
    long ms = wait_ms(h->text, in_ms ? 1 : 1000);

    if (!in_ms)
        h->retry_at = read_date(h->text);
    if (ms < 0 || (h->retry_in_ms && !in_ms))
        return;
    h->seen.retry_after_ms = ms;
    h->retry_in_ms = in_ms;
}

static int value_end(tport_http *h)
{
    tport_kept *k = h->keeping;

    text_end(h);
    if (k) /* the last of several of a name is kept, if it fits */
        k->len = trim(k->value, k->len < k->cap ? k->len : 0);
    switch (h->field) {
    case LENGTH: return set_length(h);
    case CODING:
        if (h->chunked || strcmp(h->text, "chunked") != 0)
            return bad(h, "a transfer coding other than chunked");
        h->chunked = true;
        break;
    case ENCODING:
        if (strcmp(h->text, "identity") != 0)
            return bad(h, "a content encoding that was not asked for");
        break;
    case CONNECTION:
        if (strcmp(h->text, "keep-alive") != 0)
            h->keep = false;
        break;
    case RETRY: set_retry(h, false); break;
    case RETRY_MS: set_retry(h, true); break;
    case SHOULD_RETRY:
        h->seen.should_retry = strcmp(h->text, "true") == 0    ? 1
                               : strcmp(h->text, "false") == 0 ? -1
                                                               : 0;
        break;
    case DATE: h->date = read_date(h->text); break;
    }
    return 0;
}

/* ---- receiving: the parser ---- */

static int status_byte(tport_http *h, char c)
{
    char want = status_form[h->line - 1];
    uint32_t digit = (uint32_t)(c - '0');

    if (want == 'v') {
        if (digit > 1)
            return bad(h, "an HTTP version other than 1.0 and 1.1");
        h->keep = digit == 1;
        h->old = digit == 0;
    } else if (want == 'd') {
        if (digit > 9)
            return bad(h, "the status is not a number");
        h->left = h->left * 10 + digit;
    } else if (c != want) {
        return bad(h, "this is not an HTTP answer");
    }
    if (status_form[h->line])
        return 0;
    if (h->left < 100 || h->left > 599 || h->left == 101)
        return bad(h, "an impossible status");
    if (h->left < 200)
        h->interim++;
    else
        h->seen.status = (int)h->left;
    h->at = REASON;
    return 0;
}

static int name_byte(tport_http *h, char c)
{
    bool first = h->line == 1;

    if (first && c == '\r')
        return 0;
    if (first && ++h->headers > TPORT_HTTP_MAX_HEADERS)
        return fail(h, TCALL_E_LIMIT, "too many headers");
    if (is_token(c)) {
        text_add(h, c);
    } else if (c == ':' && !first) {
        name_end(h);
        h->at = SPACE;
    } else {
        return bad(h, "a header's name is broken");
    }
    return 0;
}

static int size_byte(tport_http *h, char c)
{
    uint32_t d = tport_hex(c);

    if (h->line == 1)
        h->left = 0;
    if (d < 16) {
        if (h->left > UINT32_MAX >> 4)
            return bad(h, "a chunk's size is too large");
        h->left = h->left << 4 | d;
        return 0;
    }
    if (h->line == 1)
        return bad(h, "a chunk has no size");
    if (c != ';' && c != '\r')
        return bad(h, "a chunk's size is broken");
    h->at = EXTENSION;
    return 0;
}

/* An interim answer ended: the next one starts from nothing. */
static int restart(tport_http *h)
{
    if (h->interim > TPORT_HTTP_MAX_INTERIM)
        return fail(h, TCALL_E_LIMIT, "too many interim answers");
    forget(h);
    return 0;
}

/* Bytes of the host and port that a URL goes on with, without the port that
 * its scheme has anyway. */
static size_t host_length(const tport_http *h, const char *s)
{
    const char *port = h->plain ? ":80" : ":443";
    size_t n = strcspn(s, "/?#"), digits = strlen(port);

    return n > digits && strncmp(s + n - digits, port, digits) == 0 ? n - digits
                                                                    : n;
}

/* Where the path begins in a URL of this very host; NULL for any other. */
static const char *path_here(const tport_http *h, const char *url)
{
    const char *scheme = h->plain ? "http:" : "https:";
    size_t n = strlen(scheme), i;

    if (url[0] == '/' && url[1] != '/')
        return url;
    for (i = 0; i < n && lower(url[i]) == scheme[i]; i++)
        continue;
    url += i == n ? n : 0;
    n = host_length(h, h->authority);
    if (url[0] != '/' || url[1] != '/' || host_length(h, url + 2) != n)
        return NULL;
    url += 2;
    for (i = 0; i < n; i++)
        if (lower(url[i]) != lower(h->authority[i]))
            return NULL;
    return url + strcspn(url, "/?#");
}

/* Say where the redirect that was found would have led. */
static int refuse_redirect(tport_http *h)
{
    static const char before[] = "a redirect that is not followed: ";
    const size_t n = sizeof before - 1;

    if (!h->found[0])
        return fail(h, TCALL_E_NOT_FOUND,
                    "a redirect to nowhere, or to a URL that is too long");
    memmove(h->found + n, h->found, sizeof h->found - n);
    memcpy(h->found, before, n);
    h->found[sizeof h->found - 1] = '\0';
    h->redirect = 0;
    return fail(h, TCALL_E_NOT_FOUND, h->found);
}

/* The same request has to be opened again, because its body is gone: where it
 * goes then is kept here. */
static int follow(tport_http *h)
{
    const char *path = path_here(h, h->found);
    size_t n, bare; /* without a path, "/" is meant */

    if (!path || !all(h->found, is_visible))
        return refuse_redirect(h);
    if (++h->redirects > TPORT_HTTP_MAX_REDIRECTS) {
        h->redirects = 0;
        h->redirect = 0;
        return fail(h, TCALL_E_LIMIT, "too many redirects");
    }
    n = strcspn(path, "#");
    bare = path[0] != '/';
    memcpy(h->target + bare, path, n);
    h->target[bare + n] = '\0';
    h->target[0] = '/';
    h->redirect = h->seen.status;
    h->asked = path_number(h->req->path);
    h->res->status = 0;
    h->res->retry_after_ms = 0;
    return fail(h, TCALL_E_CLOSED, "a redirect: open the request again");
}

/* The head ended: how long is the body? */
static int head_end(tport_http *h)
{
    int status = h->seen.status;

    if (h->chunked && h->has_length)
        return bad(h, "Content-Length beside Transfer-Encoding");
    if (h->chunked && h->old) /* RFC 9112, 6.1: its framing is faulty */
        return bad(h, "Transfer-Encoding in an answer of HTTP/1.0");
    if (status == 0)
        return restart(h);
    compare_dates(h);
    *h->res = h->seen;
    h->headed = true;
    if (h->redirected)
        return follow(h);
    h->redirects = 0;
    if (h->redirect == 307)
        h->redirect = 0; /* it was for one request */
    if (status == 204 || status == 304 || strcmp(h->req->method, "HEAD") == 0) {
        if (status == 204 && (h->chunked || h->has_length))
            h->keep = false; /* a body may follow that must not be there */
        h->at = DONE;
    } else if (h->chunked) {
        h->at = SIZE;
    } else if (h->has_length) {
        h->at = h->left ? DATA : DONE;
    } else {
        h->keep = false;
        h->at = UNTIL_END;
    }
    return 0;
}

/* Lines are counted against two limits. Of a chunk's line only what is beyond
 * a size counts, because there may be any number of chunks. */
static int count(tport_http *h)
{
    bool head = h->at < SIZE;

    if (++h->line > TPORT_HTTP_MAX_LINE)
        return fail(h, TCALL_E_LIMIT, "a line is too long");
    if ((head || h->line > sizeof "12345678\r") &&
        ++h->head > TPORT_HTTP_MAX_HEAD)
        return fail(h, TCALL_E_LIMIT,
                    head ? "the head is too long"
                         : "the extensions of chunks are too long");
    return 0;
}

static int line_end(tport_http *h)
{
    h->cr = false;
    h->line = 0;
    switch (h->at) {
    case REASON: h->at = NAME; return 0;
    case VALUE: h->at = NAME; return value_end(h);
    case EXTENSION:
        h->trailer = h->left == 0;
        h->at = h->left ? DATA : NAME;
        return 0;
    case CHUNK_END: h->at = SIZE; return 0;
    default: break;
    }
    /* An empty line. */
    if (!h->trailer)
        return head_end(h);
    h->at = DONE;
    return 0;
}

/* One byte of anything but a body. */
static int parse(tport_http *h, char c)
{
    bool good = c == '\r' || is_text(c);
    int r = count(h);

    if (r < 0)
        return r;
    if (h->cr)
        return c == '\n' ? line_end(h) : bad(h, "CR without LF");
    switch (h->at) {
    case STATUS: return status_byte(h, c);
    case REASON:
        /* The first byte is the one that ends the status. */
        if (!good || (h->line == sizeof status_form && c != ' ' && c != '\r'))
            return bad(h, "the status line is broken");
        break;
    case NAME: r = name_byte(h, c); break;
    case SPACE:
        if (is_blank(c))
            return 0;
        h->at = VALUE;
        /* fall through */
    case VALUE:
        if (!good)
            return bad(h, "a header's value is broken");
        if (c != '\r')
            value_byte(h, c);
        break;
    case SIZE: r = size_byte(h, c); break;
    case EXTENSION:
        if (!good)
            return bad(h, "a chunk's extension is broken");
        break;
    default:
        if (c != '\r')
            return bad(h, "a chunk is longer than its size");
        break;
    }
    h->cr = c == '\r';
    return r;
}

/* ---- receiving: bytes ---- */

/* Fill buf with bytes to parse. */
static int fill(tport_http *h)
{
    int n = pull(h, h->buf, sizeof h->buf);

    if (n <= 0)
        return ended(h, n);
    h->pos = 0;
    h->len = (uint16_t)n;
    return 0;
}

static int count_body(tport_http *h, int n)
{
    if (h->max_body && (uint32_t)n > h->max_body - h->body)
        return fail(h, TCALL_E_LIMIT, "the body is too long");
    h->body += (uint32_t)n;
    if (h->at == UNTIL_END)
        return n;
    h->left -= (uint32_t)n;
    if (h->left == 0)
        h->at = h->chunked ? CHUNK_END : DONE;
    return n;
}

/* Bytes of the body: those in buf first, then straight from the stream. */
static int take(tport_http *h, char *bytes, size_t cap)
{
    int n;

    if (h->at == DATA && cap > h->left)
        cap = h->left;
    cap = tport_clamp(cap);
    if (h->pos < h->len) {
        n = h->len - h->pos;
        n = (size_t)n < cap ? n : (int)cap;
        memcpy(bytes, h->buf + h->pos, (size_t)n);
        h->pos = (uint16_t)(h->pos + n);
        return count_body(h, n);
    }
    n = pull(h, bytes, cap);
    if (n > 0)
        return count_body(h, n);
    /* The end of a connection that was reset looks orderly once a write has
     * been told of it. */
    if (n == 0 && h->at == UNTIL_END && !h->cut) {
        h->at = DONE;
        return 0;
    }
    return ended(h, n);
}

static int read_some(tport_http *h, char *bytes, size_t cap)
{
    int r = 0;

    /* the answer may be over before the request is */
    while (r == 0 && (r = advance(h, SENT)) == 0 && h->at != DONE) {
        if (h->at == DATA || h->at == UNTIL_END)
            r = take(h, bytes, cap);
        else if (h->pos < h->len)
            r = parse(h, h->buf[h->pos++]);
        else
            r = fill(h);
    }
    return r;
}

int tport_http_read(tport_http *h, char *bytes, size_t cap)
{
    if (h->error)
        return h->error;
    if (h->phase < BODY || h->sent < h->req->body_len || cap == 0)
        return settle(
            h, fail(h, TCALL_E_USAGE, "read before the request was complete"));
    return settle(h, read_some(h, bytes, cap));
}

/* ---- the exchange ends ---- */

void tport_http_close(tport_http *h)
{
    bool clean =
        h->keep && !h->error && h->at == DONE && !h->deaf && h->pos == h->len;

    if (!clean)
        hang_up(h);
    if (h->phase != IDLE && !h->headed)
        forget_kept(h);
    h->phase = IDLE;
    h->error = 0;
    memset(h->buf, 0, sizeof h->buf); /* there was a key in it */
}

void tport_http_drop(tport_http *h)
{
    tport_http_close(h);
    hang_up(h);
}

void tport_http_init(tport_http *h, tport_stream stream, const char *authority,
                     const char *base)
{
    memset(h, 0, sizeof *h);
    h->stream = stream;
    h->authority = authority;
    h->base = base;
    h->location.value = h->found;
    h->location.cap = sizeof h->found;
}

/* ---- the door ---- */

static int door_open(void *user, const tcall_request *req, tcall_response *res)
{
    return tport_http_open((tport_http *)user, req, res);
}

static int door_write(void *user, const char *bytes, size_t len)
{
    return tport_http_write((tport_http *)user, bytes, len);
}

static int door_read(void *user, char *bytes, size_t cap)
{
    return tport_http_read((tport_http *)user, bytes, cap);
}

static void door_close(void *user)
{
    tport_http_close((tport_http *)user);
}

void tport_http_wants(tport_http *h, tcall_wait *wait)
{
    if (h->stream.wants)
        h->stream.wants(h->stream.user, wait);
}

static void door_wants(void *user, tcall_wait *wait)
{
    tport_http_wants((tport_http *)user, wait);
}

tcall_transport tport_http_transport(tport_http *h)
{
    tcall_transport t = {door_open, door_write, door_read,  door_close,
                         NULL,      NULL,       door_wants, NULL};

    t.user = h;
    return t;
}
