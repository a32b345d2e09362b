#pragma once
#include "scan.c"

/* ==========================================================================
 * >>text: walking over JSON text
 *
 * For text that the scanner accepted. In other text these find anything, but
 * read nothing after its NUL.
 */

TCALL_SHARED_ const char *tcall_text_space_(const char *text)
{
    while (tcall_is_space_(*text))
        text++;
    return text;
}

/* Returns the next member or element, or the bracket that closes. */
TCALL_SHARED_ const char *tcall_text_next_(const char *text)
{
    text = tcall_text_space_(text);
    return *text == ',' ? tcall_text_space_(text + 1) : text;
}

TCALL_SHARED_ bool tcall_text_closes_(const char *text)
{
    return (*text | 0x20) == '}' || !*text;
}

/* Returns the end of the value that starts at text. It need not be valid: a NUL
 * ends it. */
TCALL_SHARED_ const char *tcall_text_skip_(const char *text)
{
    int depth = 0;
    do {
        if (*text == '"') {
            for (text++; *text && *text != '"'; text++)
                text += *text == '\\' && text[1];
        } else if (*text == '{' || *text == '[') {
            depth++;
        } else if (tcall_text_closes_(text)) {
            depth--;
        } else if (!depth) {
            while (text[1] != ',' && !tcall_text_closes_(text + 1) &&
                   !tcall_is_space_(text[1]))
                text++;
        }
        text += *text != 0;
    } while (depth && *text);
    return text;
}

/* Returns the value of the member whose key is given. */
TCALL_SHARED_ const char *tcall_text_value_(const char *key)
{
    key = tcall_text_space_(tcall_text_skip_(key));
    return tcall_text_space_(key + (*key == ':'));
}

TCALL_SHARED_ tcall_str tcall_text_verbatim_(const char *text)
{
    return tcall_slice_(text, (size_t)(tcall_text_skip_(text) - text));
}

/* Returns the string at text without its quotes, its escapes as they are. */
TCALL_SHARED_ tcall_str tcall_text_inner_(const char *text)
{
    tcall_str string = tcall_text_verbatim_(text);
    return tcall_slice_(text + 1, string.len - 2);
}

/* Decodes an escape or one byte of a JSON string at *at, and moves
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

/* Decodes the next character of a JSON string, all of its bytes, and moves *at
 * past it. Returns the number of bytes. */
TCALL_SHARED_ size_t tcall_text_character_(const char **at, char out[4])
{
    size_t len = tcall_text_char_(at, out);
    while (len < 4 && (**at & 0xC0) == 0x80)
        out[len++] = *(*at)++;
    return len;
}

/* Returns the length of the escape at text, where a surrogate pair is one, or 0
 * if the text ends inside it. */
static size_t tcall_text_escape_len_(const char *text)
{
    size_t len = text[1] == 'u' ? 6 : 2, i;
    for (i = 1; i < len; i++) {
        if (!text[i] || (i > 1 && i != 6 && i != 7 && tcall_hex_(text[i]) < 0))
            return 0;
        if (i == 5 && (text[2] | 0x20) == 'd' &&
            (tcall_hex_(text[3]) & 12) == 8)
            len = 12;
    }
    return len;
}

/* Reads bytes one by one: those of a JSON string, its escapes decoded, or those
 * up to an end. */
typedef struct tcall_text_bytes_ {
    const char *at, *end; /* end NULL: at the quote */
    char decoded[4];
    uint8_t next, count; /* in decoded */
} tcall_text_bytes_;

TCALL_SHARED_ tcall_text_bytes_ tcall_text_bytes_of_(const char *quote)
{
    tcall_text_bytes_ bytes;
    bytes.at = quote + 1;
    bytes.end = NULL;
    bytes.next = bytes.count = 0;
    return bytes;
}

TCALL_SHARED_ tcall_text_bytes_ tcall_text_bytes_in_(tcall_str text)
{
    tcall_text_bytes_ bytes;
    bytes.at = text.ptr;
    bytes.end = text.ptr + text.len;
    bytes.next = bytes.count = 0;
    return bytes;
}

/* Returns the next byte, or -1 where the string or the text ends. */
static int tcall_text_byte_(tcall_text_bytes_ *bytes)
{
    if (bytes->end)
        return bytes->at < bytes->end ? (unsigned char)*bytes->at++ : -1;
    if (bytes->next == bytes->count) {
        const char *at = bytes->at;
        if (!*at || *at == '"' || (*at == '\\' && !tcall_text_escape_len_(at)))
            return -1;
        bytes->count = (uint8_t)tcall_text_char_(&bytes->at, bytes->decoded);
        bytes->next = 0;
    }
    return (unsigned char)bytes->decoded[bytes->next++];
}

/* Returns whether both are equal; a string that is broken is equal to none. */
TCALL_SHARED_ bool tcall_text_match_(tcall_text_bytes_ a, tcall_text_bytes_ b)
{
    int byte;
    /* most are plain, and have nothing to decode */
    while (a.at != a.end && b.at != b.end && *a.at == *b.at && *a.at != '"' &&
           *a.at != '\\' && *a.at) {
        a.at++;
        b.at++;
    }
    do {
        byte = tcall_text_byte_(&a);
        if (tcall_text_byte_(&b) != byte)
            return false;
    } while (byte >= 0);
    return (a.end || *a.at == '"') && (b.end || *b.at == '"');
}

TCALL_SHARED_ uint32_t tcall_text_hash_(tcall_text_bytes_ bytes)
{
    uint32_t hash = TCALL_HASH_EMPTY_;
    int byte;
    while ((byte = tcall_text_byte_(&bytes)) >= 0) {
        char c = (char)byte;
        hash = tcall_hash_more_(hash, tcall_slice_(&c, 1));
    }
    return hash;
}

/* Returns whether the string at text is equal to want. */
TCALL_SHARED_ bool tcall_text_same_(const char *text, tcall_str want)
{
    return tcall_text_match_(tcall_text_bytes_of_(text),
                             tcall_text_bytes_in_(want));
}

/* Returns whether both strings are equal, however each is escaped. */
TCALL_SHARED_ bool tcall_text_equal_(const char *text, const char *other)
{
    return tcall_text_match_(tcall_text_bytes_of_(text),
                             tcall_text_bytes_of_(other));
}

/* Returns whether the value at text is a string, and this word. */
TCALL_SHARED_ bool tcall_text_is_(const char *text, const char *word)
{
    return *text == '"' && tcall_text_same_(text, tcall_str_of(word));
}

/* Returns the key of the member of the object at text that has this name; in an
 * array the element whose index the name is; NULL where there is none. */
TCALL_SHARED_ const char *tcall_text_member_(const char *text, tcall_str name)
{
    bool object = *text == '{';
    uint32_t index = 0;
    size_t i;
    if (!object && *text != '[')
        return NULL;
    for (i = 0; i < name.len && i < 6; i++)
        index = index * 10 + (uint32_t)(name.ptr[i] - '0');
    for (text = tcall_text_next_(text + 1); !tcall_text_closes_(text);
         text = tcall_text_next_(tcall_text_skip_(text))) {
        if (object ? tcall_text_same_(text, name) : !index--)
            return text;
        if (object)
            text = tcall_text_value_(text);
    }
    return NULL;
}

/* Returns the value of a member, or NULL where there is none or text is no
 * object. */
TCALL_SHARED_ const char *tcall_text_get_(const char *text, const char *name)
{
    text = text && *text == '{' ? tcall_text_member_(text, tcall_str_of(name))
                                : NULL;
    return text ? tcall_text_value_(text) : NULL;
}

/* Returns the first element, or NULL where there is none or text is no array.
 */
TCALL_SHARED_ const char *tcall_text_first_(const char *text)
{
    text = text && *text == '[' ? tcall_text_next_(text + 1) : NULL;
    return text && *text != ']' ? text : NULL;
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

/* Bytes of a name in a pointer of a URI, once it is decoded. */
#define TCALL_NAME_MAX_ 64

/* Decodes the next name of a JSON Pointer in the fragment of a URI, which is a
 * JSON string, from after its '/' on. Returns its length, -1 when it is
 * malformed or too long. */
TCALL_SHARED_ int tcall_pointer_step_(const char **at,
                                      char name[TCALL_NAME_MAX_])
{
    const char *p = *at;
    int len = 0;
    for (; *p != '/' && *p != '"'; len++) {
        if (*p == '\\' || len == TCALL_NAME_MAX_)
            return -1;
        if (*p == '%') {
            int high = tcall_hex_(p[1]), low = high < 0 ? -1 : tcall_hex_(p[2]);
            if (low < 0)
                return -1;
            name[len] = (char)(high << 4 | low);
            p += 3;
        } else {
            name[len] = *p++;
        }
    }
    *at = p;
    return tcall_pointer_unescape_(name, len);
}
