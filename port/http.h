/*
 * http.h - an HTTP/1.1 client over any byte stream
 *
 *     tport_http http;
 *     tport_http_init(&http, stream, "api.example.com", "");
 *     tcall_transport t = tport_http_transport(&http);
 *
 * One exchange at a time over one connection, which is kept for the next
 * exchange when the server allows it. Nothing is held but the struct itself:
 * the request goes straight through, the answer comes straight out.
 *
 * It is strict: what RFC 9112 calls an error is refused, and of what the RFC
 * tolerates also lines that end in LF alone, Content-Length given twice or
 * beside Transfer-Encoding, codings other than chunked, content encodings
 * other than identity, and blanks around a chunk's size. A body that ends early
 * is TCALL_E_CLOSED; only where neither a length nor chunks say where it ends,
 * the stream's orderly end does, which TLS can tell from a cut and plain HTTP
 * cannot.
 *
 * Of redirects only 307 and 308 to the same host are followed, because they ask
 * for the same request again; one to another host is TCALL_E_NOT_FOUND, and
 * tport_http_why names it. Whoever keeps the header "location" gets them as
 * answers like any other.
 */
#ifndef TPORT_HTTP_H
#define TPORT_HTTP_H

#include "port/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of one read of heads and chunk sizes, and of one write: where head and
 * body fit, they leave together. */
#ifndef TPORT_HTTP_BUFFER
#if defined(__unix__) || defined(__APPLE__)
#define TPORT_HTTP_BUFFER 4096
#else
#define TPORT_HTTP_BUFFER 512
#endif
#endif

/* Limits on what a server may send around its body; TCALL_E_LIMIT. */
#ifndef TPORT_HTTP_MAX_LINE
#define TPORT_HTTP_MAX_LINE 8192
#endif
#ifndef TPORT_HTTP_MAX_HEAD
#define TPORT_HTTP_MAX_HEAD 32768 /* all lines together, interim ones too */
#endif
#ifndef TPORT_HTTP_MAX_HEADERS
#define TPORT_HTTP_MAX_HEADERS 100
#endif
#ifndef TPORT_HTTP_MAX_INTERIM
#define TPORT_HTTP_MAX_INTERIM 16 /* answers 1xx before the real one */
#endif
#ifndef TPORT_HTTP_MAX_REDIRECTS
#define TPORT_HTTP_MAX_REDIRECTS 5 /* of one request */
#endif

/* Bytes of the longest URL that a redirect may lead to, with its NUL. */
#ifndef TPORT_HTTP_TARGET
#define TPORT_HTTP_TARGET 256
#endif

/* Some services turn away clients that do not name themselves. */
#ifndef TPORT_HTTP_AGENT
#define TPORT_HTTP_AGENT "toolcall.h/" TOOLCALL_VERSION
#endif

/* A header of the answer that is kept: its value as text, "" where there is
 * none or it does not fit. */
typedef struct tport_kept {
    const char *name; /* lower case, less than 40 bytes */
    char *value;
    size_t cap; /* > 0 */
    size_t len; /* of value */
} tport_kept;

typedef struct tport_http {
    /* May be changed between exchanges. */
    uint32_t max_body; /* bytes of an answer's body; 0: no limit */
    tport_kept *kept;
    size_t kept_count;
    bool plain; /* the stream is not encrypted: URLs begin with http:// */

    /* Bytes moved either way since init; wraps. For a caller's idle limit. */
    uint32_t moved;

    /* The rest is private. What is used most lies near the beginning, because
     * that makes the code shorter. */
    uint16_t pos, len; /* buf[pos..len) is still to be written or parsed */
    bool linked;       /* the stream is connected */
    bool reused;       /* ... and served an exchange before */

    /* Of one exchange: all zero when it begins. */
    uint8_t phase;     /* of sending */
    uint8_t at;        /* of receiving: state of the parser */
    bool cr;           /* CR was seen: LF must follow */
    bool answered;     /* a byte of the answer arrived */
    bool keep;         /* the connection may serve another exchange */
    bool old;          /* the answer is one of HTTP/1.0 */
    bool has_length;   /* Content-Length was seen */
    bool chunked;      /* Transfer-Encoding was seen */
    bool trailer;      /* the header lines are those after the last chunk */
    bool headed;       /* the answer's head was whole, and is in res */
    bool deaf;         /* the server takes no more bytes of the request */
    bool cut;          /* ... because the connection broke */
    uint8_t field;     /* the header being read */
    uint8_t interim;   /* answers 1xx so far */
    bool retry_in_ms;  /* retry-after-ms was seen: it beats retry-after */
    bool redirected;   /* 307 or 308, and found is where to */
    uint16_t headers;  /* lines of header so far */
    uint16_t text_len; /* may exceed what fits in text */
    int error;         /* sticky until close */
    const char *why;
    const tcall_request *req;
    tcall_response *res;
    tcall_response seen; /* in the head so far */
    uint32_t left;       /* bytes of the body, or of the chunk, to come */
    uint32_t line;       /* bytes of the present line */
    uint32_t head;       /* bytes of all lines */
    tport_kept *keeping; /* the present header, or NULL */
    size_t sent;         /* bytes of the request's body accepted */
    size_t told;         /* bytes of the request's head put into buf */
    size_t skip;         /* ... and still to be left out of it */
    uint32_t body;       /* bytes of the answer's body so far */
    uint32_t date;       /* of the answer, seconds since 1970; 0: unknown */
    uint32_t retry_at;   /* Retry-After as such a date; 0: it was none */

    tport_stream stream;
    const char *authority; /* value of Host */
    const char *base;      /* written before each path */

    /* Where the last redirect led, kept for the request that it answered; 308
     * says that it leads there for good. */
    uint8_t redirects; /* in a row */
    int redirect;      /* 307 or 308, 0 for none */
    uint32_t asked;    /* the path that was asked for, as a number */
    char target[TPORT_HTTP_TARGET];

    tport_kept location; /* the header of this answer, in found */
    char found[TPORT_HTTP_TARGET];

    char text[40]; /* name or value of the present header, lower case */
    char buf[TPORT_HTTP_BUFFER];
} tport_http;

/* authority is "host" or "host:port"; base is "" or a path such as "/proxy"
 * that is put before each request's path, except for what the two share: "/v1"
 * and "/v1/chat" make "/v1/chat". Both must stay valid, and h must not move. */
void tport_http_init(tport_http *h, tport_stream stream, const char *authority,
                     const char *base);

/* The four functions of an exchange keep the contract of tcall_transport and
 * answer TCALL_E_AGAIN whenever the stream does; then call again.
 *
 * open: TCALL_E_USAGE, before a byte is sent, when a header cannot be sent
 *   as it is (CR, LF, NUL, ...), or is one that is written here: Host,
 *   User-Agent, Accept-Encoding, Content-Length, Transfer-Encoding,
 *   Connection.
 * write: a server that answers with an error before it has the whole request
 *   gets no more of it: the rest is accepted here, and read gives the answer.
 * read: TCALL_E_CLOSED when the connection ended before the answer did.
 *
 * res, and headers that are kept, are filled in when the head of the answer is
 * whole and right: of one that is cut nothing is taken over.
 *
 * When a reused connection turns out to be dead and nothing of the answer has
 * come, the request is sent once more over a new one. That needs no help as
 * long as all of it is still in the buffer, or it has no body: else bytes of
 * it are gone. Then the error is TCALL_E_CLOSED with res->status 0 and
 * res->retry_after_ms 0, which says: the same request may be opened again at
 * once. So does a redirect that is followed. */
int tport_http_open(tport_http *h, const tcall_request *req,
                    tcall_response *res);
int tport_http_write(tport_http *h, const char *bytes, size_t len);
int tport_http_read(tport_http *h, char *bytes, size_t cap);
void tport_http_close(tport_http *h);

/* Adds what the last TCALL_E_AGAIN was for. */
void tport_http_wants(tport_http *h, tcall_wait *wait);

/* Close the connection as well. */
void tport_http_drop(tport_http *h);

/* What the last error was about, for a developer. Holds no header's value. */
const char *tport_http_why(const tport_http *h);

/* The door of toolcall.h. It refers to h, which must not move. It has no
 * clock, so no time limits, and answers TCALL_E_AGAIN: see port.h for more. */
tcall_transport tport_http_transport(tport_http *h);

#ifdef __cplusplus
}
#endif
#endif /* TPORT_HTTP_H */
