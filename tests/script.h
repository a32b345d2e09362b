/*
 * script.h - a server in memory for the tests of HTTP, and one exchange with it
 *
 * It says its text once a request has come, in the pieces that are asked for,
 * and then ends as told.
 */
#include "port/http.h"

#include <stdio.h>
#include <string.h>

typedef struct script {
    const char *text;
    size_t len;
    size_t cut;       /* no read crosses this offset */
    size_t step;      /* most bytes of one read or write; 0: any number */
    bool stutter;     /* every second call answers TCALL_E_AGAIN */
    int end;          /* read's answer after the text; 0 is an orderly end */
    const char *next; /* what is said on the second connection */
    char *heard;      /* if not NULL: the last connection's request, cut */
    size_t heard_cap;
    /* what happened */
    size_t at, written;
    int connects;
    unsigned calls, reads, writes;
    int empty; /* bytes of the empty line that ends a request; 4: it is there */
} script;

/* Reading and writing each have a count of their own. */
static inline bool script_stutters(script *s, unsigned *calls)
{
    s->calls++;
    return (*calls)++ % 2 == 0 && s->stutter;
}

static inline int script_connect(void *user)
{
    script *s = (script *)user;

    if (script_stutters(s, &s->writes))
        return TCALL_E_AGAIN;
    if (s->connects++ == 0 || s->next) {
        s->at = s->written = 0;
        s->empty = 0;
        if (s->connects == 2) {
            s->text = s->next;
            s->len = strlen(s->next);
            s->next = NULL;
        }
    }
    return 0;
}

static inline int script_read(void *user, char *bytes, size_t cap)
{
    script *s = (script *)user;
    size_t n = s->len - s->at;

    if (script_stutters(s, &s->reads) || s->empty < 4)
        return TCALL_E_AGAIN;
    if (n == 0)
        return s->end;
    n = n < cap ? n : cap;
    if (s->step && n > s->step)
        n = s->step;
    if (s->at < s->cut && n > s->cut - s->at)
        n = s->cut - s->at;
    memcpy(bytes, s->text + s->at, n);
    s->at += n;
    return (int)n;
}

static inline int script_write(void *user, const char *bytes, size_t len)
{
    script *s = (script *)user;

    size_t i;

    if (script_stutters(s, &s->writes))
        return TCALL_E_AGAIN;
    if (s->step && len > s->step)
        len = s->step;
    for (i = 0; i < len && s->written + i + 1 < s->heard_cap; i++) {
        s->heard[s->written + i] = bytes[i];
        s->heard[s->written + i + 1] = '\0';
    }
    s->written += len;
    for (i = 0; i < len && s->empty < 4; i++)
        s->empty =
            bytes[i] == "\r\n\r\n"[s->empty] ? s->empty + 1 : bytes[i] == '\r';
    return (int)len;
}

static inline void script_close(void *user)
{
    (void)user;
}

static inline tport_stream script_stream(script *s)
{
    tport_stream r = {script_connect, script_read, script_write, script_close,
                      NULL,           NULL,        NULL};

    r.user = s;
    return r;
}

typedef struct outcome {
    int error; /* 0 or what ended the exchange */
    int status;
    long retry_after_ms;
    bool kept; /* another exchange began on the same connection */
    const char *why;
    size_t len;
    char body[1 << 16];
} outcome;

/* A machine that is called more often than this for one exchange hangs. */
enum { PATIENCE = 1000000 };

/* One exchange without a body, read in pieces of at most cap bytes. */
static inline void script_ask(script *s, const char *method, size_t cap,
                              outcome *x)
{
    tcall_request q = {"", "/", NULL, 0, 0};
    tcall_response res;
    tport_http h;
    int r, n = PATIENCE;

    memset(&res, 0, sizeof res);
    q.method = method;
    x->len = 0;
    tport_http_init(&h, script_stream(s), "host", "");
    do
        r = tport_http_open(&h, &q, &res);
    while (r == TCALL_E_AGAIN && n--);
    while (r >= 0 || (r == TCALL_E_AGAIN && n--)) {
        size_t room = sizeof x->body - x->len;
        r = tport_http_read(&h, x->body + x->len, room < cap ? room : cap);
        if (r <= 0 && r != TCALL_E_AGAIN)
            break;
        x->len += r > 0 ? (size_t)r : 0;
    }
    x->error = r;
    x->status = res.status;
    x->retry_after_ms = res.retry_after_ms;
    x->why = tport_http_why(&h);
    tport_http_close(&h);
    s->stutter = false;
    n = s->connects;
    (void)tport_http_open(&h, &q, &res);
    x->kept = s->connects == n;
    tport_http_drop(&h);
}

/* first, then n times more, then last. */
static inline char *many(const char *first, const char *more, size_t n,
                         const char *last)
{
    static char text[1 << 21];
    char *p = text + sprintf(text, "%s", first);

    for (; n; n--, p += strlen(more))
        memcpy(p, more, strlen(more));
    strcpy(p, last);
    return text;
}
