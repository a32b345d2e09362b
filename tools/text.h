/*
 * text.h - what tools make of text: characters, paths, numbers
 *
 * There is nothing here for programs to use.
 */
#ifndef TTOOL_TEXT_H
#define TTOOL_TEXT_H

#include "toolcall.h"

/* The code of all tools needs it, and no header can define it in time. */
#if defined TTOOL_IMPLEMENTATION && \
    (!defined _GNU_SOURCE || (defined __GLIBC__ && !defined __USE_GNU))
#error "tools/: #define _GNU_SOURCE before the first #include of this file"
#undef TTOOL_IMPLEMENTATION
#endif

#endif /* TTOOL_TEXT_H */

#if defined TTOOL_IMPLEMENTATION && !defined TTOOL_TEXT_IMPLEMENTED_
#define TTOOL_TEXT_IMPLEMENTED_

#include <stdio.h>
#include <string.h>

/* No program has all tools, and each needs other parts of what follows. */
#if defined __GNUC__
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

#ifdef __cplusplus
extern "C" {
#endif

static char ttool_lower_(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static const char *ttool_line_start_(const char *from, const char *p)
{
    const char *nl = (const char *)memrchr(from, '\n', (size_t)(p - from));
    return nl ? nl + 1 : from;
}

/* Writes a character as UTF-8; how many bytes. */
static int ttool_utf8_(uint8_t *out, int32_t c)
{
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;
    for (i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3F));
    out[0] = (uint8_t)(n == 1 ? c : (0xF00 >> n & 0xF0) | c);
    return n;
}

static int ttool_text_int_(tcall_writer *w, uint64_t value)
{
    char text[24];
    return tcall_write_bytes(
        w, text,
        (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)value));
}

/* Bytes of the UTF-8 character at p, 0 when it is none. */
static size_t ttool_utf8_len_(const char *p, const char *end)
{
    uint8_t c = (uint8_t)*p, low = 0x80, high = 0xBF;
    size_t n = c < 0x80   ? 1
               : c < 0xC2 ? 0
               : c < 0xE0 ? 2
               : c < 0xF0 ? 3
               : c < 0xF5 ? 4
                          : 0;
    size_t i;
    if (c == 0xE0)
        low = 0xA0;
    else if (c == 0xED)
        high = 0x9F;
    else if (c == 0xF0)
        low = 0x90;
    else if (c == 0xF4)
        high = 0x8F;
    for (i = 1; i < n; i++, low = 0x80, high = 0xBF)
        if (p + i >= end || (uint8_t)p[i] < low || (uint8_t)p[i] > high)
            return 0;
    return n;
}

/* How many bytes at p can be shown as they are: UTF-8 without NUL. */
static size_t ttool_valid_(const char *p, size_t len)
{
    size_t i = 0;
    while (i < len) {
        uint64_t w;
        size_t n;
        if (len - i >= 8) {
            memcpy(&w, p + i, 8);
            if (((w | (w - 0x0101010101010101u)) & 0x8080808080808080u) == 0) {
                i += 8;
                continue;
            }
        }
        n = p[i] ? ttool_utf8_len_(p + i, p + len) : 0;
        if (!n)
            break;
        i += n;
    }
    return i;
}

/* Text of a file; true when all of it was UTF-8. */
static bool ttool_write_content_(tcall_writer *w, const char *p, size_t len)
{
    bool whole = true;
    for (;;) {
        size_t n = ttool_valid_(p, len);
        tcall_write_bytes(w, p, n);
        if (n == len)
            return whole;
        tcall_write_text(w, "\xEF\xBF\xBD");
        p += n + 1;
        len -= n + 1;
        whole = false;
    }
}

/* A path on one line: control characters are escaped as in C. */
static void ttool_write_path_(tcall_writer *w, const char *path)
{
    char out[5];
    for (; *path; path++) {
        const char *run = path;
        while ((uint8_t)*path >= 0x20 && *path != 0x7F && *path != '\\')
            path++;
        ttool_write_content_(w, run, (size_t)(path - run));
        if (!*path)
            return;
        if (*path == '\\')
            tcall_write_text(w, "\\\\");
        else
            tcall_write_bytes(w, out,
                              (size_t)snprintf(out, sizeof out, "\\x%02x",
                                               (unsigned)(uint8_t)*path));
    }
}

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_IMPLEMENTATION */
