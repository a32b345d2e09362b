#pragma once
#include "mask.h"
#include "write.c"

/* ==========================================================================
 * >>mask
 *
 * The text is taken as characters, each with the backslashes before it. What
 * may be the start of the secret is held until TCALL_SECRET_MIN characters
 * agree; then "***" goes out, and from there on nothing has to be held. After a
 * character that does not agree, the longest end of what was matched that is a
 * start of the secret too goes on (Knuth, Morris and Pratt).
 */

static void tcall_mask_pass_(tcall_mask *mask, const char *bytes, size_t len)
{
    int result;
    if (!len || mask->error < 0)
        return;
    result = mask->sink(mask->user, bytes, len);
    if (result < 0)
        mask->error = result;
    else if ((size_t)result < len)
        mask->error = TCALL_E_LIMIT;
}

/* Lets go of the first characters that are held. */
static void tcall_mask_drop_(tcall_mask *mask, uint8_t count, bool pass)
{
    uint8_t bytes = 0, i;
    for (i = 0; i < count; i++)
        bytes = (uint8_t)(bytes + mask->lengths[i]);
    if (pass)
        tcall_mask_pass_(mask, mask->bytes, bytes);
    mask->count = (uint8_t)(mask->count - count);
    mask->held = (uint8_t)(mask->held - bytes);
    memmove(mask->bytes, mask->bytes + bytes, mask->held);
    memmove(mask->lengths, mask->lengths + count, mask->count);
}

/* How much of the secret the text shows after one more character; '\0' is none
 * that a secret can have. */
static size_t tcall_mask_match_(const tcall_mask *mask, char character)
{
    const char *secret = mask->secret;
    size_t matched = mask->matched, most;
    while (matched && (!character || secret[matched] != character))
        for (most = matched--;
             matched && memcmp(secret, secret + most - matched, matched) != 0;)
            matched--;
    return matched + (character && secret[matched] == character);
}

/* The last `len` bytes that are held are a character. */
static void tcall_mask_take_(tcall_mask *mask, char character, uint8_t len)
{
    mask->begun = 0;
    mask->lengths[mask->count++] = len;
    mask->matched = tcall_mask_match_(mask, character);
    if (mask->matched >= TCALL_SECRET_MIN) {
        if (!mask->masked)
            tcall_mask_pass_(mask, "***", 3);
        mask->masked = true;
        tcall_mask_drop_(mask, mask->count, false);
    } else if (mask->count > mask->matched) {
        tcall_mask_drop_(mask, (uint8_t)(mask->count - mask->matched), true);
        mask->masked = false;
    }
}

/* The character that four hexadecimal digits say; '\0' where it is no ASCII. */
static char tcall_mask_hex_(const char *digits)
{
    unsigned value = 0;
    int i;
    for (i = 0; i < 4; i++)
        value = value * 16 + (unsigned)tcall_hex_(digits[i]);
    return value < 0x80 ? (char)value : '\0';
}

static void tcall_mask_byte_(tcall_mask *mask, char byte)
{
    const char *unit;
    uint8_t slashes = 0, len;
    mask->bytes[mask->held++] = byte;
    len = ++mask->begun;
    unit = mask->bytes + mask->held - len;
    while (slashes < len && unit[slashes] == '\\')
        slashes++;
    if (slashes == len) {
        if (len == TCALL_MASK_SLASHES_)
            tcall_mask_take_(mask, '\0', len);
    } else if (!slashes || unit[slashes] != 'u') {
        tcall_mask_take_(mask, byte, len);
    } else if (len > slashes + 1 && tcall_hex_(byte) < 0) {
        /* no escape: a u, and what follows it once more */
        uint8_t rest = (uint8_t)(len - slashes - 1), i;
        char again[4];
        memcpy(again, unit + slashes + 1, rest);
        mask->held = (uint8_t)(mask->held - rest);
        tcall_mask_take_(mask, 'u', (uint8_t)(slashes + 1));
        for (i = 0; i < rest; i++)
            tcall_mask_byte_(mask, again[i]);
    } else if (len == slashes + 5) {
        tcall_mask_take_(mask, tcall_mask_hex_(unit + slashes + 1), len);
    }
}

/* How many bytes cannot be the start of the secret. */
static size_t tcall_mask_plain_(const tcall_mask *mask, const char *bytes,
                                size_t len)
{
    size_t i;
    for (i = 0; i < len; i++)
        if (bytes[i] == '\\' || bytes[i] == *mask->secret)
            break;
    return i;
}

TCALL_API int tcall_mask_put(void *user, const char *bytes, size_t len)
{
    tcall_mask *mask = (tcall_mask *)user;
    size_t done = 0;
    if (!mask->secret || strlen(mask->secret) < TCALL_SECRET_MIN) {
        tcall_mask_pass_(mask, bytes, len);
        done = len;
    }
    while (done < len) {
        if (!mask->held && !mask->matched) {
            size_t plain = tcall_mask_plain_(mask, bytes + done, len - done);
            tcall_mask_pass_(mask, bytes + done, plain);
            mask->masked = mask->masked && !plain;
            done += plain;
        }
        if (done < len)
            tcall_mask_byte_(mask, bytes[done++]);
    }
    return mask->error < 0 ? mask->error : (int)len;
}

TCALL_API int tcall_mask_end(tcall_mask *mask)
{
    tcall_mask_pass_(mask, mask->bytes, mask->held);
    mask->matched = 0;
    mask->masked = false;
    mask->count = mask->held = mask->begun = 0;
    return mask->error < 0 ? mask->error : TCALL_OK;
}

static int tcall_mask_back_(void *user, const char *bytes, size_t len)
{
    char **to = (char **)user;
    memmove(*to, bytes, len);
    *to += len;
    return (int)len;
}

/* Masks a secret in a text, in its place, where it becomes no longer. Returns
 * how long it is then. */
TCALL_SHARED_ size_t tcall_mask_text_(char *text, size_t len,
                                      const char *secret)
{
    char *to = text;
    tcall_mask mask;
    memset(&mask, 0, sizeof mask);
    mask.secret = secret;
    mask.sink = tcall_mask_back_;
    mask.user = &to;
    tcall_mask_put(&mask, text, len);
    tcall_mask_end(&mask);
    return (size_t)(to - text);
}
