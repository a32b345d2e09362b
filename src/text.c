#pragma once
#include "base.c"

/* ==========================================================================
 * >>text: walking over JSON text
 *
 * For text that was accepted: a schema, or what was checked. White space is
 * stepped over. In other text, which must be UTF-8, these find anything, but
 * read nothing after its NUL. A string may have been decoded where it lies:
 * then it begins with a byte that no such text has, its content is ended by
 * NUL, and what it got shorter by is white space. All of these read both forms.
 */

/* In place of the quote of a string that was decoded; the latter where its
 * content has NULs: the same byte, behind the NUL that ends it, ends it then.
 */
#define TCALL_DECODED_      ((char)0xFE)
#define TCALL_DECODED_NULS_ ((char)0xFF)

TCALL_SHARED_ bool tcall_text_is_string_(const char *text)
{
    return *text == '"' || (*text & 0xFE) == 0xFE;
}

/* Returns the type of the value at text. */
TCALL_SHARED_ tcall_type tcall_text_type_(const char *text)
{
    return tcall_text_is_string_(text) ? TCALL_STRING
           : *text < 'A'               ? TCALL_NUMBER
           : *text == '{'              ? TCALL_OBJECT
           : *text == '['              ? TCALL_ARRAY
           : *text == 'n'              ? TCALL_NULL
                                       : TCALL_BOOL;
}

/* ---- escapes ---- */

/* Returns the length of the escape at p in a string that the scanner accepted:
 * a pair of surrogates is one of 12 bytes. */
TCALL_SHARED_ size_t tcall_escape_len_(const char *p)
{
    if (p[1] != 'u')
        return 2;
    return (p[2] | 0x20) == 'd' && tcall_hex_(p[3]) >= 8 ? 12 : 6;
}

/* Four hex digits. */
static uint32_t tcall_unit_(const char *p)
{
    uint32_t unit = 0;
    int i;
    for (i = 0; i < 4; i++)
        unit = unit << 4 | (uint32_t)tcall_hex_(p[i]);
    return unit;
}

/* Decodes the escapes of a string that the scanner accepted; new length. */
TCALL_SHARED_ size_t tcall_decode_(char *out, const char *p, const char *end)
{
    char *to = out;
    while (p < end) {
        const char *run = (const char *)memchr(p, '\\', (size_t)(end - p));
        size_t n = (size_t)((run ? run : end) - p);
        uint32_t cp;
        memmove(to, p, n);
        to += n;
        if (!run)
            break;
        p = run + 2;
        if (p[-1] != 'u') {
            *to++ = tcall_unescape_(p[-1]);
            continue;
        }
        cp = tcall_unit_(p);
        p += 4;
        if (cp >= 0xD800 && cp <= 0xDBFF) {
            cp = 0x10000 + ((cp - 0xD800) << 10) + tcall_unit_(p + 2) - 0xDC00;
            p += 6;
        }
        to += tcall_utf8_(to, cp);
    }
    return (size_t)(to - out);
}

/* ---- from value to value ---- */

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

/* Returns what follows the string at text. */
TCALL_SHARED_ const char *tcall_text_string_end_(const char *text)
{
    char mark = *text++;
    if (mark == TCALL_DECODED_)
        return text + strlen(text) + 1;
    if (mark == '"')
        for (; *text && *text != '"'; text++)
            text += *text == '\\' && text[1];
    else
        while (*text != TCALL_DECODED_NULS_)
            text++;
    return text + (*text != 0);
}

/* Returns the end of the value that starts at text. It need not be valid: a NUL
 * ends it. */
TCALL_SHARED_ const char *tcall_text_skip_(const char *text)
{
    int depth = 0;
    do {
        if (tcall_text_is_string_(text)) {
            text = tcall_text_string_end_(text);
            continue;
        }
        if (*text == '{' || *text == '[') {
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

/* Returns the first key or element of a container, NULL where there is none. */
TCALL_SHARED_ const char *tcall_text_first_(const char *text)
{
    if (!text || (*text != '{' && *text != '['))
        return NULL;
    text = tcall_text_space_(text + 1);
    return tcall_text_closes_(text) ? NULL : text;
}

/* Returns the key or element after the value that ends here, or NULL. */
TCALL_SHARED_ const char *tcall_text_after_(const char *end)
{
    end = tcall_text_space_(end);
    return *end == ',' ? tcall_text_space_(end + 1) : NULL;
}

TCALL_SHARED_ tcall_str tcall_text_verbatim_(const char *text)
{
    return tcall_slice_(text, (size_t)(tcall_text_skip_(text) - text));
}

/* Returns the string at text without its quotes, its escapes, if it has not
 * been decoded, as they are. */
TCALL_SHARED_ tcall_str tcall_text_inner_(const char *text)
{
    size_t len = (size_t)(tcall_text_string_end_(text) - text);
    return tcall_slice_(text + 1, len - (*text == TCALL_DECODED_NULS_ ? 3 : 2));
}

/* Decodes a string where it lies, unless it was, and returns it with a NUL
 * behind it. */
TCALL_SHARED_ tcall_str tcall_text_decode_(const char *string)
{
    tcall_str text = tcall_text_inner_(string);
    char *to = (char *)(uintptr_t)text.ptr, *end = to + text.len;
    bool nuls;
    if (*string != '"')
        return text;
    text.len = tcall_decode_(to, to, end);
    nuls = text.len && memchr(to, 0, text.len) != NULL;
    to[-1] = nuls ? TCALL_DECODED_NULS_ : TCALL_DECODED_;
    to += text.len;
    memset(to, ' ', (size_t)(end + 1 - to));
    to[0] = 0;
    if (nuls)
        to[1] = TCALL_DECODED_NULS_;
    return text;
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

TCALL_SHARED_ tcall_text_bytes_ tcall_text_bytes_in_(tcall_str text)
{
    tcall_text_bytes_ bytes;
    bytes.at = text.ptr;
    bytes.end = text.ptr + text.len;
    bytes.next = bytes.count = 0;
    return bytes;
}

TCALL_SHARED_ tcall_text_bytes_ tcall_text_bytes_of_(const char *string)
{
    tcall_text_bytes_ bytes;
    if (*string != '"')
        return tcall_text_bytes_in_(tcall_text_inner_(string));
    bytes = tcall_text_bytes_in_(tcall_slice_(string + 1, 0));
    bytes.end = NULL;
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
    if (a.at != a.end && b.at != b.end && *a.at != *b.at && *a.at != '\\' &&
        *b.at != '\\')
        return false;
    do {
        byte = tcall_text_byte_(&a);
        if (tcall_text_byte_(&b) != byte)
            return false;
    } while (byte >= 0);
    return (a.end || *a.at == '"') && (b.end || *b.at == '"');
}

TCALL_SHARED_ uint32_t tcall_text_hash_(tcall_text_bytes_ bytes)
{
    const char *at = bytes.at, *run = at;
    uint32_t hash = TCALL_HASH_EMPTY_;
    char decoded[4];
    if (bytes.end)
        return tcall_hash_more_(hash,
                                tcall_slice_(at, (size_t)(bytes.end - at)));
    for (;; run = at) {
        size_t len;
        while (*at && *at != '"' && *at != '\\')
            at++;
        hash = tcall_hash_more_(hash, tcall_slice_(run, (size_t)(at - run)));
        if (*at != '\\' || !tcall_text_escape_len_(at))
            return hash;
        len = tcall_text_char_(&at, decoded);
        hash = tcall_hash_more_(hash, tcall_slice_(decoded, len));
    }
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
    return tcall_text_is_string_(text) &&
           tcall_text_same_(text, tcall_str_of(word));
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

/* ---- equality ---- */

/* Returns the key that is equal to this one, from the one at `at` on, or NULL.
 */
TCALL_SHARED_ const char *tcall_text_find_(const char *at, const char *key)
{
    while (at && !tcall_text_equal_(at, key))
        at = tcall_text_after_(tcall_text_skip_(tcall_text_value_(at)));
    return at;
}

TCALL_SHARED_ tcall_num_ tcall_text_number_(const char *text)
{
    return tcall_num_read_(tcall_text_verbatim_(text));
}

/* Returns the number of members or elements. */
TCALL_SHARED_ uint32_t tcall_text_count_(const char *text)
{
    bool object = *text == '{';
    uint32_t count = 0;
    for (text = tcall_text_first_(text); text; count++)
        text = tcall_text_after_(
            tcall_text_skip_(object ? tcall_text_value_(text) : text));
    return count;
}

/* Returns the next name or scalar from at on, or end. */
TCALL_SHARED_ const char *tcall_text_scalar_(const char *at, const char *end)
{
    while (at < end && (*at == ',' || *at == ':' || *at == '{' || *at == '[' ||
                        tcall_text_closes_(at) || tcall_is_space_(*at)))
        at++;
    return at;
}

/* Returns whether two values are equal, but for what is in them. */
static bool tcall_text_alike_(const char *a, const char *b)
{
    tcall_type type = tcall_text_type_(a);
    if (type != tcall_text_type_(b))
        return false;
    if (type == TCALL_NUMBER) {
        tcall_num_ x = tcall_text_number_(a), y = tcall_text_number_(b);
        return tcall_num_compare_(&x, &y) == 0;
    }
    if (type == TCALL_STRING)
        return tcall_text_equal_(a, b);
    if (type < TCALL_STRING)
        return *a == *b;
    return tcall_text_count_(a) == tcall_text_count_(b);
}

/* Returns whether two values are equal: in whatever order members are, 1 and
 * 1.0 too. Of each container of a that is open the key or element at hand lies
 * in open, and what it is compared with before it. What it takes comes off
 * *steps; they are negative, and no two values equal, when they or the room in
 * open did not do. */
TCALL_SHARED_ bool tcall_text_deep_equal_(const char *a, const char *b,
                                          const char **open, size_t room,
                                          int32_t *steps)
{
    const char **top = open, *key;
    for (;;) {
        if (--*steps < 0 || !tcall_text_alike_(a, b))
            return false;
        key = tcall_text_first_(a);
        if (key) {
            if ((size_t)(top - open) + 2 > room) {
                *steps = -1;
                return false;
            }
            *steps -= (int32_t)((tcall_text_skip_(a) - a) / 16);
            *top++ = b;
            *top++ = key;
            b = tcall_text_first_(b);
        }
        while (!key && top > open) { /* a is whole: to what comes after it */
            bool object = *top[-2] == '{';
            key = tcall_text_after_(tcall_text_skip_(
                object ? tcall_text_value_(top[-1]) : top[-1]));
            if (!key) {
                b = *(top -= 2);
                continue;
            }
            top[-1] = key;
            b = object ? b : tcall_text_after_(tcall_text_skip_(b));
        }
        if (!key)
            return true;
        a = key;
        if (*top[-2] == '{') {
            b = tcall_text_find_(tcall_text_first_(top[-2]), key);
            if (!b)
                return false;
            *steps -= (int32_t)((b - top[-2]) / 16);
            a = tcall_text_value_(key);
            b = tcall_text_value_(b);
        }
    }
}

/* Returns the hash of a scalar, or what a bracket counts; moves *at on. */
static uint32_t tcall_text_hash_part_(const char **at)
{
    tcall_type type = tcall_text_type_(*at);
    const char *part = *at, *digit;
    uint32_t hash;
    tcall_num_ n;
    if (*part == ',' || *part == ':' || tcall_is_space_(*part) ||
        tcall_text_closes_(part) || type >= TCALL_ARRAY) {
        ++*at;
        return type >= TCALL_ARRAY ? (unsigned char)*part : 0;
    }
    *at = tcall_text_skip_(part);
    if (type == TCALL_STRING)
        return tcall_text_hash_(tcall_text_bytes_of_(part));
    if (type != TCALL_NUMBER)
        return (unsigned char)*part;
    n = tcall_text_number_(part);
    hash = (uint32_t)(n.top * 4 + n.sign);
    for (digit = n.first; n.sign && digit <= n.last;)
        hash = hash * 31 + (uint32_t)tcall_num_digit_(&n, &digit);
    return n.sign ? hash : 1;
}

/* Returns a hash that equal values share: a sum over the names and scalars. */
TCALL_SHARED_ uint32_t tcall_text_deep_hash_(const char *text)
{
    const char *end = tcall_text_skip_(text);
    uint32_t sum = 0;
    while (text < end)
        sum += tcall_text_hash_part_(&text) * 2654435769u;
    return sum;
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
