#pragma once
#include "scan.c"

/* ==========================================================================
 * >>text: walking over JSON text
 *
 * The scanner has accepted it; of text that it has not seen these find
 * anything, but nothing behind its NUL.
 */

TCALL_SHARED_ const char *tcall_text_space_(const char *p)
{
    while (tcall_is_space_(*p))
        p++;
    return p;
}

/* To the next member or element, or to the bracket that closes. */
TCALL_SHARED_ const char *tcall_text_next_(const char *p)
{
    p = tcall_text_space_(p);
    return *p == ',' ? tcall_text_space_(p + 1) : p;
}

TCALL_SHARED_ bool tcall_text_closes_(const char *p)
{
    return (*p | 0x20) == '}' || !*p;
}

/* Behind the value that starts at p. */
TCALL_SHARED_ const char *tcall_text_skip_(const char *p)
{
    int depth = 0;
    do {
        if (*p == '"') {
            for (p++; *p && *p != '"'; p++)
                p += *p == '\\' && p[1];
        } else if (*p == '{' || *p == '[') {
            depth++;
        } else if (tcall_text_closes_(p)) {
            depth--;
        } else if (!depth) {
            while (p[1] != ',' && !tcall_text_closes_(p + 1) &&
                   !tcall_is_space_(p[1]))
                p++;
        }
        p += *p != 0;
    } while (depth && *p);
    return p;
}

/* From a member's key to its value. */
TCALL_SHARED_ const char *tcall_text_value_(const char *key)
{
    key = tcall_text_space_(tcall_text_skip_(key));
    return tcall_text_space_(key + (*key == ':'));
}

TCALL_SHARED_ tcall_str tcall_text_verbatim_(const char *p)
{
    return tcall_slice_(p, (size_t)(tcall_text_skip_(p) - p));
}

/* The string at p without its quotes, escapes as they stand. */
TCALL_SHARED_ tcall_str tcall_text_inner_(const char *p)
{
    tcall_str s = tcall_text_verbatim_(p);
    return tcall_slice_(p + 1, s.len - 2);
}

/* Decodes what stands at *at in a JSON string, an escape or one byte, and moves
 * *at past it. Returns the number of bytes. */
TCALL_SHARED_ size_t tcall_text_char_(const char **at, char out[4])
{
    const char *from = *at;
    if (*from != '\\') {
        out[0] = *from;
        ++*at;
        return 1;
    }
    *at += tcall_escape_len_(from);
    return tcall_decode_(out, from, *at);
}

/* Bytes of the escape at p, a surrogate pair being one; 0 if the text ends
 * inside it. */
static size_t tcall_text_escape_len_(const char *p)
{
    size_t len = p[1] == 'u' ? 6 : 2, i;
    for (i = 1; i < len; i++) {
        if (!p[i] || (i > 1 && i != 6 && i != 7 && tcall_hex_(p[i]) < 0))
            return 0;
        if (i == 5 && (p[2] | 0x20) == 'd' && (tcall_hex_(p[3]) & 12) == 8)
            len = 12;
    }
    return len;
}

/* Reads the content of a string byte by byte, escapes decoded. */
typedef struct tcall_text_bytes_ {
    const char *at;
    char decoded[4];
    uint8_t next, count; /* in decoded */
} tcall_text_bytes_;

static tcall_text_bytes_ tcall_text_bytes_of_(const char *quote)
{
    tcall_text_bytes_ bytes;
    bytes.at = quote + 1;
    bytes.next = bytes.count = 0;
    return bytes;
}

/* Returns the next byte, or -1 where the string or the text ends. */
static int tcall_text_byte_(tcall_text_bytes_ *bytes)
{
    if (bytes->next == bytes->count) {
        const char *at = bytes->at;
        if (!*at || *at == '"' || (*at == '\\' && !tcall_text_escape_len_(at)))
            return -1;
        bytes->count = (uint8_t)tcall_text_char_(&bytes->at, bytes->decoded);
        bytes->next = 0;
    }
    return (unsigned char)bytes->decoded[bytes->next++];
}

/* Is the string that starts at the quote p equal to s? */
TCALL_SHARED_ bool tcall_text_same_(const char *p, tcall_str s)
{
    tcall_text_bytes_ bytes = tcall_text_bytes_of_(p);
    size_t i;
    for (i = 0; i < s.len; i++)
        if (tcall_text_byte_(&bytes) != (unsigned char)s.ptr[i])
            return false;
    return tcall_text_byte_(&bytes) < 0 && *bytes.at == '"';
}

/* Are both strings equal, however each is escaped? */
TCALL_SHARED_ bool tcall_text_equal_(const char *p, const char *q)
{
    tcall_text_bytes_ a = tcall_text_bytes_of_(p), b = tcall_text_bytes_of_(q);
    int byte;
    while ((byte = tcall_text_byte_(&a)) >= 0)
        if (tcall_text_byte_(&b) != byte)
            return false;
    return tcall_text_byte_(&b) < 0 && *a.at == '"' && *b.at == '"';
}

/* Is the value at p a string, and this word? */
TCALL_SHARED_ bool tcall_text_is_(const char *p, const char *word)
{
    return *p == '"' && tcall_text_same_(p, tcall_str_of(word));
}

/* The member of what stands at p: its key; of an array the element whose index
 * the name is; NULL: none. */
TCALL_SHARED_ const char *tcall_text_member_(const char *p, tcall_str name)
{
    bool object = *p == '{';
    uint32_t index = 0;
    size_t i;
    if (!object && *p != '[')
        return NULL;
    for (i = 0; i < name.len && i < 6; i++)
        index = index * 10 + (uint32_t)(name.ptr[i] - '0');
    for (p = tcall_text_next_(p + 1); !tcall_text_closes_(p);
         p = tcall_text_next_(tcall_text_skip_(p))) {
        if (object ? tcall_text_same_(p, name) : !index--)
            return p;
        if (object)
            p = tcall_text_value_(p);
    }
    return NULL;
}

/* The value of a member, NULL: there is none, or p is no object. */
TCALL_SHARED_ const char *tcall_text_get_(const char *p, const char *name)
{
    p = p && *p == '{' ? tcall_text_member_(p, tcall_str_of(name)) : NULL;
    return p ? tcall_text_value_(p) : NULL;
}

/* The first element, NULL: there is none, or p is no array. */
TCALL_SHARED_ const char *tcall_text_first_(const char *p)
{
    p = p && *p == '[' ? tcall_text_next_(p + 1) : NULL;
    return p && *p != ']' ? p : NULL;
}

/* ---- JSON Pointer, RFC 6901 ---- */

/* Returns what a character of a name becomes in a pointer, or NULL where it
 * stays as it is. */
TCALL_SHARED_ const char *tcall_pointer_escape_(char c)
{
    return c == '~' ? "~0" : c == '/' ? "~1" : NULL;
}

/* Decodes one name of a pointer in place. Returns its new length, or -1 where
 * a ~ is followed by anything but 0 and 1. */
TCALL_SHARED_ int tcall_pointer_unescape_(char *name, int len)
{
    int from, to = 0;
    for (from = 0; from < len; from++) {
        char c = name[from];
        if (c == '~') {
            char which = ++from < len ? name[from] : (char)0;
            if (which != '0' && which != '1')
                return -1;
            c = which == '0' ? '~' : '/';
        }
        name[to++] = c;
    }
    return to;
}
