/*
 * port_script.h - HTTP over a script in memory: what each connection will say
 */
#include "port/port.h"

#include "toolcall.h"

#include "port_check.h"

/* Beginnings of answers, and two whole ones. */
#define OK1     "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK1 "Transfer-Encoding: chunked\r\n\r\n"
#define A1      OK1 "Content-Length: 1\r\n\r\na"
#define B1      OK1 "Content-Length: 1\r\n\r\nb"

/* What one connection will say. Each answer comes once as many requests (that
 * is, empty lines) have been written; then the connection is silent until the
 * last was given, and ends as told. */
typedef struct peer {
    const char *answers[3];
    size_t len;            /* of answers[0]; 0: to its NUL */
    int end;               /* 0: orderly, or an error; TCALL_E_AGAIN: silence */
    int write_fails_after; /* bytes until write is CLOSED; 0: never */
    bool dies_late;        /* looks alive until the next request was written */
} peer;

typedef struct script {
    const peer *peers;
    size_t cut;   /* no read crosses this offset of the first answer */
    size_t most;  /* bytes per read and write; 0: any */
    bool stutter; /* every second call answers AGAIN */
    size_t stops; /* bytes of a connection that are taken; 0: any */
    /* what happened */
    int connects, closes, reads, writes;
    bool up, deaf, over;  /* connected; write was CLOSED; read told an end */
    int misuses;          /* calls that stream.h does not allow */
    size_t at;            /* bytes given of the present answer */
    int answer, requests; /* on this connection */
    int empty;            /* state of looking for an empty line */
    char out[8192];
    size_t out_len, written; /* all; on this connection */
} script;

/* Reading and writing each have a count of their own. */
static inline bool stutters(script *s, int *calls)
{
    return s->stutter && (*calls)++ % 2 == 0;
}

static inline int script_connect(void *user)
{
    script *s = user;

    if (stutters(s, &s->writes))
        return TCALL_E_AGAIN;
    s->connects++;
    s->up = true;
    s->deaf = s->over = false;
    s->at = s->written = 0;
    s->answer = s->requests = s->empty = 0;
    return 0;
}

static inline int script_end(script *s, int end)
{
    s->over = end != TCALL_E_AGAIN;
    return end;
}

static inline int script_read(void *user, char *bytes, size_t cap)
{
    script *s = user;
    const peer *p = &s->peers[s->connects - 1];
    const char *a;
    size_t len, n;

    if (!s->up || s->over || cap == 0)
        return s->misuses++, TCALL_E_CLOSED;
    if (stutters(s, &s->reads))
        return TCALL_E_AGAIN;
    for (;;) {
        a = s->answer < 3 ? p->answers[s->answer] : NULL;
        if (!a)
            return p->dies_late && s->requests <= s->answer
                       ? TCALL_E_AGAIN
                       : script_end(s, p->end);
        if (s->requests <= s->answer)
            return TCALL_E_AGAIN;
        len = p->len && s->answer == 0 ? p->len : strlen(a);
        if (s->at < len)
            break;
        s->answer++;
        s->at = 0;
    }
    n = len - s->at;
    n = n < cap ? n : cap;
    if (s->most && n > s->most)
        n = s->most;
    if (s->at < s->cut && s->at + n > s->cut)
        n = s->cut - s->at;
    memcpy(bytes, a + s->at, n);
    s->at += n;
    return (int)n;
}

static inline int script_write(void *user, const char *bytes, size_t len)
{
    static const char line[] = "\r\n\r\n";
    script *s = user;
    const peer *p = &s->peers[s->connects - 1];
    size_t i;

    if (!s->up || s->over || s->deaf || len == 0)
        return s->misuses++, TCALL_E_CLOSED;
    if (s->stops && s->written >= s->stops)
        return TCALL_E_AGAIN;
    if (stutters(s, &s->writes))
        return TCALL_E_AGAIN;
    if (s->stops && len > s->stops - s->written)
        len = s->stops - s->written;
    if (s->most && len > s->most)
        len = s->most;
    s->deaf =
        p->write_fails_after && s->written >= (size_t)p->write_fails_after;
    if (s->deaf)
        return TCALL_E_CLOSED;
    for (i = 0; i < len; i++) {
        s->empty = bytes[i] == line[s->empty] ? s->empty + 1 : bytes[i] == '\r';
        if (s->empty == 4) {
            s->requests++;
            s->empty = 0;
        }
    }
    if (s->out_len + len < sizeof s->out)
        memcpy(s->out + s->out_len, bytes, len);
    s->out_len += len;
    s->written += len;
    return (int)len;
}

static inline void script_close(void *user)
{
    ((script *)user)->closes++;
    ((script *)user)->up = false;
}

static inline tport_stream script_stream(script *s)
{
    tport_stream r = {
        script_connect, script_read, script_write, script_close, NULL, NULL, s};

    return r;
}

typedef struct result {
    int error; /* 0 or what ended the exchange */
    tcall_response res;
    size_t len;
    char body[4096];
} result;

static const tcall_header no_secret[] = {{"X-Test", "1", NULL}};

/* AGAIN as often as anything may answer it; more is a machine that hangs. */
enum { PATIENCE = 100000 };

static inline int open_all(tcall_transport *t, const tcall_request *q,
                           tcall_response *res)
{
    int r, n = 0;

    do
        r = t->open(t->user, q, res);
    while (r == TCALL_E_AGAIN && ++n < PATIENCE);
    return r;
}

static inline int write_all(tcall_transport *t, const char *body, size_t len)
{
    int r = 0, n = 0;

    while (len > 0 && (r >= 0 || r == TCALL_E_AGAIN) && ++n < PATIENCE) {
        r = t->write(t->user, body, len);
        if (r > 0) {
            body += r;
            len -= (size_t)r;
        }
    }
    return r < 0 ? r : 0;
}

static inline int read_all(tcall_transport *t, result *x, size_t step)
{
    int r, n = 0;

    do {
        size_t cap = sizeof x->body - x->len;
        r = t->read(t->user, x->body + x->len, step < cap ? step : cap);
        if (r > 0)
            x->len += (size_t)r;
    } while ((r > 0 || r == TCALL_E_AGAIN) && ++n < PATIENCE);
    return r;
}

static inline void exchange(tcall_transport t, const tcall_request *q,
                            const char *body, size_t step, result *x)
{
    memset(x, 0, sizeof *x);
    x->error = open_all(&t, q, &x->res);
    if (x->error == 0)
        x->error = write_all(&t, body, q->body_len);
    if (x->error == 0)
        x->error = read_all(&t, x, step);
    t.close(t.user);
}

static const tcall_request get = {"GET", "/x", no_secret, 1, 0};
static const tcall_request head = {"HEAD", "/x", no_secret, 1, 0};
static const tcall_request post = {"POST", "/x", no_secret, 1, 4};

/* Bytes of the head of post. */
#define POST_TEXT                                                     \
    "POST /x HTTP/1.1\r\nHost: host\r\nUser-Agent: " TPORT_HTTP_AGENT \
    "\r\nAccept-Encoding: identity\r\nContent-Length: 4\r\nX-Test: 1\r\n\r\n"
enum { POST_HEAD = sizeof POST_TEXT - 1 };

/* One exchange with one peer. */
static inline void ask(const tcall_request *q, const peer *p, script *s,
                       result *x)
{
    tport_http h;

    s->peers = p;
    tport_http_init(&h, script_stream(s), "host", "");
    exchange(tport_http_transport(&h), q, "body", 1000, x);
    tport_http_drop(&h);
    CHECK(!s->up);
    CHECK_INT(s->misuses, 0);
}

static inline void ask_text(const char *answer, size_t len, int end, result *x)
{
    static script s;
    peer p = {{0}, 0, 0, 0, false};

    memset(&s, 0, sizeof s);
    p.answers[0] = answer;
    p.len = len;
    p.end = end;
    ask(&get, &p, &s, x);
}
