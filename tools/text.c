/* text.c - see text.h */
#include "tools/gnu.h"

#include "tools/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

char ttool_lower_(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

const char *ttool_line_start_(const char *from, const char *p)
{
    const char *nl = (const char *)memrchr(from, '\n', (size_t)(p - from));
    return nl ? nl + 1 : from;
}

int ttool_utf8_(uint8_t *out, int32_t c)
{
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;
    for (i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3F));
    out[0] = (uint8_t)(n == 1 ? c : (0xF00 >> n & 0xF0) | c);
    return n;
}

int ttool_text_int_(tcall_writer *w, uint64_t value)
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

/* -- The filter of what comes from outside -------------------------------- */

/* Characters that a terminal obeys, or that change how text around them looks:
 * they are shown as escapes, wherever a model or a person sees them. */
static const struct ttool_control_ {
    int32_t first, last;
} ttool_controls_[] = {
    {0x00, 0x08},     /* tab and line feed stay */
    {0x0B, 0x1F},     /* a return in front of a line feed stays as well */
    {0x7F, 0x9F},     /* DEL and C1 */
    {0x61C, 0x61C},   /* directions */
    {0x180E, 0x180E}, /* no width */
    {0x200B, 0x200B},
    {0x200E, 0x200F}, /* directions; the joiners before them are text */
    {0x2028, 0x202E}, /* ends of lines, directions */
    {0x2060, 0x206F}, /* no width, directions */
    {0xFEFF, 0xFEFF},
    {0xFFF9, 0xFFFB},   /* annotations */
    {0x1D173, 0x1D17A}, /* of music */
    {0xE0000, 0xE0FFF}, /* tags and selectors, which hide text */
};

static bool ttool_is_control_(int32_t c)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(ttool_controls_); i++)
        if (c >= ttool_controls_[i].first && c <= ttool_controls_[i].last)
            return true;
    return false;
}

/* The character of n bytes at p. */
static int32_t ttool_utf8_char_(const char *p, size_t n)
{
    int32_t c = (uint8_t)*p;
    size_t i;
    if (n > 1)
        c &= 0x3F >> (n - 1);
    for (i = 1; i < n; i++)
        c = c << 6 | ((uint8_t)p[i] & 0x3F);
    return c;
}

/* Bytes of the character at p if it can be shown as it is, else 0. */
static size_t ttool_plain_len_(const char *p, const char *end)
{
    size_t n = ttool_utf8_len_(p, end);
    if (*p == '\r' && p + 1 < end && p[1] == '\n')
        return 1;
    return n && ttool_is_control_(ttool_utf8_char_(p, n)) ? 0 : n;
}

/* How many bytes at p can be shown as they are. */
static size_t ttool_valid_(const char *p, size_t len)
{
    size_t i = 0;
    while (i < len) {
        const uint64_t ones = 0x0101010101010101u, tops = ones * 0x80;
        uint64_t w;
        size_t n;
        if (len - i >= 8) {
            memcpy(&w, p + i, 8);
            /* eight at once, none below a space, none above ~ */
            if (((w | (w + ones) | (w - ones * 0x20)) & tops) == 0) {
                i += 8;
                continue;
            }
        }
        n = ttool_plain_len_(p + i, p + len);
        if (!n)
            break;
        i += n;
    }
    return i;
}

static const char ttool_digits_[] = "0123456789abcdef";

static void ttool_write_hex_(tcall_writer *w, char kind, int32_t c, int digits)
{
    char text[10] = "\\";
    int i;
    text[1] = kind;
    for (i = digits; i > 0; i--, c >>= 4)
        text[1 + i] = ttool_digits_[c & 0xF];
    tcall_write_bytes(w, text, 2 + (size_t)digits);
}

static void ttool_write_escape_(tcall_writer *w, const char *p, size_t n,
                                bool json)
{
    int32_t c = ttool_utf8_char_(p, n);
    if (json && c >= 0x10000) { /* a pair of UTF-16 */
        ttool_write_hex_(w, 'u', 0xD7C0 + (c >> 10), 4);
        ttool_write_hex_(w, 'u', 0xDC00 | (c & 0x3FF), 4);
    } else if (json || c >= 0x80) {
        ttool_write_hex_(w, c < 0x10000 ? 'u' : 'U', c, c < 0x10000 ? 4 : 8);
    } else {
        ttool_write_hex_(w, 'x', c, 2);
    }
}

static bool ttool_write_text_(tcall_writer *w, const char *p, size_t len,
                              bool json)
{
    const char *end = p + len;
    bool whole = true;
    while (p < end) {
        size_t n = ttool_valid_(p, (size_t)(end - p));
        tcall_write_bytes(w, p, n);
        p += n;
        if (p == end)
            break;
        n = ttool_utf8_len_(p, end);
        whole = whole && n && *p;
        if (n)
            ttool_write_escape_(w, p, n, json);
        else
            tcall_write_text(w, "\xEF\xBF\xBD");
        p += n ? n : 1;
    }
    return whole;
}

bool ttool_write_content_(tcall_writer *w, const char *p, size_t len)
{
    return ttool_write_text_(w, p, len, false);
}

/* Bytes of what begins so: of a character, or of a line's end. */
static size_t ttool_begun_len_(char first)
{
    uint8_t c = (uint8_t)first;
    if (c == '\r')
        return 2;
    return c < 0xC2 || c > 0xF4 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

static bool ttool_belongs_(const ttool_held_ *held, char next)
{
    return held->bytes[0] == '\r' ? next == '\n' : (next & 0xC0) == 0x80;
}

void ttool_write_held_(tcall_writer *w, ttool_held_ *held)
{
    ttool_write_text_(w, held->bytes, held->count, held->json);
    held->count = 0;
}

void ttool_write_piece_(tcall_writer *w, ttool_held_ *held, const char *p,
                        size_t len)
{
    const char *end = p + len;
    while (p < end) {
        if (held->count && !ttool_belongs_(held, *p))
            ttool_write_held_(w, held);
        if (!held->count) {
            size_t n = ttool_valid_(p, (size_t)(end - p));
            tcall_write_bytes(w, p, n);
            p += n;
        }
        if (p == end)
            break;
        held->bytes[held->count++] = *p++;
        if (held->count == ttool_begun_len_(held->bytes[0]))
            ttool_write_held_(w, held);
    }
}

bool ttool_write_path_(tcall_writer *w, const char *path)
{
    const char *end = path + strlen(path);
    bool escaped = false;
    if (*path == '[')
        tcall_write_text(w, "./");
    while (path < end) {
        size_t n = ttool_utf8_len_(path, end);
        bool plain = ttool_plain_len_(path, end) && !strchr("\\\t\r\n", *path);
        escaped = escaped || !plain;
        if (plain)
            tcall_write_bytes(w, path, n);
        else if (*path == '\\')
            tcall_write_text(w, "\\\\");
        else if (n)
            ttool_write_escape_(w, path, n, false);
        else
            ttool_write_hex_(w, 'x', (uint8_t)*path, 2);
        path += n ? n : 1;
    }
    return escaped;
}

/* The character that an escape of ttool_write_path_ at p stands for, as bytes:
 * how many, 0: it is none. *len is that of the escape. */
static int ttool_unescape_(const char *p, const char *end, char bytes[4],
                           size_t *len)
{
    size_t digits = 0, i;
    int32_t c = 0;
    uint8_t utf8[4];
    int n;
    if (end - p < 2 || *p != '\\')
        return 0;
    digits = p[1] == 'x' ? 2 : p[1] == 'u' ? 4 : p[1] == 'U' ? 8 : 0;
    *len = 2 + digits;
    if (p[1] == '\\')
        return *bytes = '\\', 1;
    if (!digits || (size_t)(end - p) < *len)
        return 0;
    for (i = 2; i < *len; i++) {
        const char *digit = strchr(ttool_digits_, ttool_lower_(p[i]));
        if (!digit || !p[i] || c > 0xFFFFFF)
            return 0;
        c = c << 4 | (int32_t)(digit - ttool_digits_);
    }
    if (p[1] == 'x' && c >= 0x80) /* a byte that is no UTF-8 */
        return *bytes = (char)c, 1;
    if (!c || (!ttool_is_control_(c) && c != '\t' && c != '\n'))
        return 0; /* it would be shown as it is */
    n = ttool_utf8_(utf8, c);
    memcpy(bytes, utf8, (size_t)n);
    return n;
}

tcall_str ttool_read_path_(tcall_str shown, char *buf, size_t cap)
{
    const char *p = shown.ptr, *end;
    tcall_str path = {buf, 0};
    if (!shown.len || shown.len >= cap || !memchr(p, '\\', shown.len))
        return shown;
    end = p + shown.len;
    while (p < end) {
        size_t len;
        int n = ttool_unescape_(p, end, buf + path.len, &len);
        if (!n)
            buf[path.len] = *p;
        path.len += n ? (size_t)n : 1;
        p += n ? len : 1;
    }
    return path;
}

bool ttool_fence_(char mark[17])
{
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    snprintf(mark, 17, "%016llx", (unsigned long long)random);
    return true;
}
