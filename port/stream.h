/*
 * stream.h - a byte stream: what sockets, TLS and a test's script share
 *
 * The layers of port/ are stacked on this one interface. TLS is a stream that
 * is given a stream; HTTP is given any stream. A chip's network stack joins
 * in by filling this struct.
 */
#ifndef TPORT_STREAM_H
#define TPORT_STREAM_H

#include "toolcall.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* None of these may block. TCALL_E_AGAIN means that nothing could be done right
 * now; when write answers so, read may be called in between. After any other
 * error only close is called, and after write answered TCALL_E_CLOSED read, for
 * what the peer had said before; after close, connect may start anew. */
typedef struct tport_stream {
    /* 0: connected (also when it was already). Call again after AGAIN. */
    int (*connect)(void *user);
    /* > 0: bytes stored; 0: the peer ended the stream in the orderly way that
     * this kind of stream has; TCALL_E_CLOSED: it ended in any other way. */
    int (*read)(void *user, char *bytes, size_t cap);
    /* > 0: so many of the len > 0 bytes were accepted. */
    int (*write)(void *user, const char *bytes, size_t len);
    /* In any state, also twice. */
    void (*close)(void *user);
    /* Adds to wait what read and write have answered AGAIN for since either of
     * them did something. NULL for streams that are only polled. */
    void (*wants)(void *user, tcall_wait *wait);
    /* What the last error was about, for a developer; "" when unknown. */
    const char *(*why)(void *user);
    void *user;
} tport_stream;

/* Lengths travel as int results, which are 16 bits wide on some chips. */
static inline size_t tport_clamp(size_t len)
{
    return len > 0x7fff ? (size_t)0x7fff : len;
}

static inline bool tport_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The value of a hexadecimal digit; 16 for anything else. */
static inline uint32_t tport_hex(char c)
{
    return tport_is_digit(c)      ? (uint32_t)(c - '0')
           : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
           : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                  : 16;
}

/* How many characters at the beginning of s are good. */
static inline size_t tport_span(const char *s, bool (*good)(char))
{
    size_t n = 0;

    while (s[n] && good(s[n]))
        n++;
    return n;
}

/* The number of a port, which is all digits that s begins with: 0 where there
 * are none, or it is too large. *end is what follows them. */
static inline uint16_t tport_number(const char *s, const char **end)
{
    uint32_t n = 0;

    for (*end = s; tport_is_digit(**end); (*end)++)
        n = n > 65535 ? n : n * 10 + (uint32_t)(**end - '0');
    return n > 65535 ? 0 : (uint16_t)n;
}

/* Bytes at the beginning of path with which base ends already, as whole
 * segments: 3 for "https://host/v1" and "/v1/chat". Many give a base URL with
 * them, and they are sent once. */
static inline size_t tport_shared(const char *base, const char *path)
{
    const char *s;

    for (s = strchr(base, '/'); s; s = strchr(s + 1, '/')) {
        size_t n = strlen(s);
        if (strncmp(s, path, n) == 0 && strchr("/?", path[n]))
            return n;
    }
    return 0;
}

/* Write parts one after the other to the text to[cap], cut where it ends.
 * The last part is NULL. cap > 0. */
static inline void tport_say(char *to, size_t cap, const char *const *parts)
{
    size_t n = 0;

    for (; *parts; parts++) {
        const char *s = *parts;
        while (*s && n + 1 < cap)
            to[n++] = *s++;
    }
    to[n] = '\0';
}

#ifdef __cplusplus
}
#endif
#endif /* TPORT_STREAM_H */
