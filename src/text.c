#pragma once
#include "text.h"
#include "syntax.c"

/* ==========================================================================
 * >>text
 *
 * Values are walked over in their text: a schema, or what was checked. White
 * space is stepped over. In other text, which must be UTF-8, these functions
 * find anything, but read nothing after its NUL. A string may have been decoded
 * where it lies: then it begins with a byte that no such text has, its content
 * is ended by NUL, and what it got shorter by is white space. All of these read
 * both forms.
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

TCALL_SHARED_ tcall_json tcall_json_of_(const char *at, const char *key)
{
    tcall_json v = {at, key};
    return v;
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

TCALL_SHARED_ bool tcall_text_is_key_(const char *text)
{
    return *tcall_text_space_(tcall_text_skip_(text)) == ':';
}

/* Returns the key or element after this one, or NULL. */
TCALL_SHARED_ const char *tcall_text_sibling_(const char *text)
{
    text = tcall_text_space_(tcall_text_skip_(text));
    if (*text == ':')
        text = tcall_text_skip_(tcall_text_space_(text + 1));
    text = tcall_text_next_(text);
    return tcall_text_closes_(text) ? NULL : text;
}

TCALL_SHARED_ tcall_str tcall_text_verbatim_(const char *text)
{
    return tcall_slice_(text, (size_t)(tcall_text_skip_(text) - text));
}

TCALL_SHARED_ tcall_num_ tcall_text_number_(const char *text)
{
    return tcall_num_read_(tcall_text_verbatim_(text));
}

/* Returns the next name or scalar from at on, or end. */
TCALL_SHARED_ const char *tcall_text_scalar_(const char *at, const char *end)
{
    while (at < end && (*at == ',' || *at == ':' || *at == '{' || *at == '[' ||
                        tcall_text_closes_(at) || tcall_is_space_(*at)))
        at++;
    return at;
}

/* ---- strings ---- */

/* Returns the string at text without its quotes, its escapes, if it has not
 * been decoded, as they are. */
TCALL_SHARED_ tcall_str tcall_text_inner_(const char *text)
{
    size_t marks = *text == TCALL_DECODED_NULS_ ? 3 : 2;
    size_t len = (size_t)(tcall_text_string_end_(text) - text);
    return tcall_slice_(text + 1, len > marks ? len - marks : 0);
}

/* Reads up to four hex digits. */
static uint32_t tcall_text_unit_(const char **at)
{
    uint32_t unit = 0;
    int i;
    for (i = 0; i < 4 && tcall_hex_(**at) >= 0; i++)
        unit = unit << 4 | (uint32_t)tcall_hex_(*(*at)++);
    return unit;
}

/* Decodes an escape or one byte of a JSON string at *at, and moves *at past it.
 * Returns the number of bytes. */
TCALL_SHARED_ size_t tcall_text_char_(const char **at, char out[4])
{
    uint32_t code;
    out[0] = *(*at)++;
    if (out[0] != '\\' || !**at)
        return 1;
    if (*(*at)++ != 'u') {
        out[0] = tcall_unescape_((*at)[-1]);
        return 1;
    }
    code = tcall_text_unit_(at);
    if ((code & 0xFC00) == 0xD800 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        *at += 2;
        code = (code << 10) - 0x35FDC00 + tcall_text_unit_(at);
    }
    return tcall_utf8_(out, code);
}

/* The bytes of a text that are left; or those of a JSON string, which has
 * escapes. */
typedef struct tcall_text_bytes_ {
    const char *at, *end;
    bool escapes;
    char decoded[4];
} tcall_text_bytes_;

TCALL_SHARED_ tcall_text_bytes_ tcall_text_bytes_in_(tcall_str text)
{
    tcall_text_bytes_ bytes = {text.ptr, text.ptr + text.len, false, {0}};
    return bytes;
}

TCALL_SHARED_ tcall_text_bytes_ tcall_text_bytes_of_(const char *string)
{
    tcall_text_bytes_ bytes = tcall_text_bytes_in_(tcall_text_inner_(string));
    bytes.escapes = *string == '"';
    return bytes;
}

/* Takes the next run of bytes: an escape, decoded, or all before the next one.
 * Empty: none are left. */
TCALL_SHARED_ tcall_str tcall_text_run_(tcall_text_bytes_ *bytes)
{
    const char *from = bytes->at, *to = bytes->end;
    if (from >= to)
        return tcall_slice_(from, 0);
    if (bytes->escapes && *from == '\\')
        return tcall_slice_(bytes->decoded,
                            tcall_text_char_(&bytes->at, bytes->decoded));
    if (bytes->escapes)
        to = (const char *)memchr(from, '\\', (size_t)(to - from));
    bytes->at = to ? to : bytes->end;
    return tcall_slice_(from, (size_t)(bytes->at - from));
}

/* Returns whether the string at text has these bytes. */
TCALL_SHARED_ bool tcall_text_match_(const char *text, tcall_text_bytes_ b)
{
    tcall_text_bytes_ a = tcall_text_bytes_of_(text);
    tcall_str one = tcall_text_run_(&a), other = tcall_text_run_(&b);
    while (one.len && other.len) {
        size_t len = one.len < other.len ? one.len : other.len;
        if (memcmp(one.ptr, other.ptr, len) != 0)
            return false;
        one = one.len > len ? tcall_slice_(one.ptr + len, one.len - len)
                            : tcall_text_run_(&a);
        other = other.len > len ? tcall_slice_(other.ptr + len, other.len - len)
                                : tcall_text_run_(&b);
    }
    return one.len == other.len;
}

TCALL_SHARED_ uint32_t tcall_text_hash_(tcall_text_bytes_ bytes)
{
    uint32_t hash = TCALL_HASH_EMPTY_;
    while (bytes.at < bytes.end)
        hash = tcall_hash_more_(hash, tcall_text_run_(&bytes));
    return hash;
}

TCALL_NOINLINE_ static uint32_t tcall_text_name_hash_(const char *string)
{
    return tcall_text_hash_(tcall_text_bytes_of_(string));
}

/* Decodes a string where it lies, unless it was, and returns it with a NUL
 * behind it. */
TCALL_SHARED_ tcall_str tcall_text_decode_(const char *string)
{
    tcall_text_bytes_ bytes = tcall_text_bytes_of_(string);
    char *start = (char *)(uintptr_t)bytes.at, *to = start;
    bool nuls;
    if (!bytes.escapes)
        return tcall_text_inner_(string);
    while (bytes.at < bytes.end) {
        tcall_str run = tcall_text_run_(&bytes);
        memmove(to, run.ptr, run.len);
        to += run.len;
    }
    nuls = memchr(start, '\0', (size_t)(to - start)) != NULL;
    start[-1] = nuls ? TCALL_DECODED_NULS_ : TCALL_DECODED_;
    memset(to, ' ', (size_t)(bytes.end + 1 - to));
    to[0] = '\0';
    if (nuls)
        to[1] = TCALL_DECODED_NULS_;
    return tcall_slice_(start, (size_t)(to - start));
}

/* Returns whether the string at text is equal to want. */
static bool tcall_text_same_(const char *text, tcall_str want)
{
    return tcall_text_match_(text, tcall_text_bytes_in_(want));
}

/* Returns whether both strings are equal, however each is escaped. */
TCALL_SHARED_ bool tcall_text_equal_(const char *text, const char *other)
{
    return tcall_text_match_(text, tcall_text_bytes_of_(other));
}

/* Returns whether the value at text is a string, and this word. */
TCALL_SHARED_ bool tcall_text_is_(const char *text, const char *word)
{
    return tcall_text_is_string_(text) &&
           tcall_text_same_(text, tcall_str_of(word));
}

/* ---- members ---- */

/* Returns the key of the member of the object at text that has this name, or
 * NULL where there is none or text is no object. */
TCALL_SHARED_ const char *tcall_text_member_(const char *text, tcall_str name)
{
    text = text && *text == '{' ? tcall_text_first_(text) : NULL;
    while (text && !tcall_text_same_(text, name))
        text = tcall_text_sibling_(text);
    return text;
}

/* Returns an element of the array at text, NULL where there is none or text is
 * no array. */
TCALL_SHARED_ const char *tcall_text_at_(const char *text, int index)
{
    text = text && *text == '[' && index >= 0 ? tcall_text_first_(text) : NULL;
    for (; text && index; index--)
        text = tcall_text_sibling_(text);
    return text;
}

/* Returns the value of a member, NULL likewise. */
TCALL_SHARED_ const char *tcall_text_get_(const char *text, const char *name)
{
    text = tcall_text_member_(text, tcall_str_of(name));
    return text ? tcall_text_value_(text) : NULL;
}

/* Returns the key that is equal to this one, from the one at `at` on, or NULL.
 */
TCALL_SHARED_ const char *tcall_text_find_(const char *at, const char *key)
{
    while (at && !tcall_text_equal_(at, key))
        at = tcall_text_sibling_(at);
    return at;
}

/* ---- two that are alike ---- */

/* Memory for a hash table of places, and the steps that may be spent. */
typedef struct tcall_seen_ {
    uint32_t *slots; /* offsets in the container; 0: free */
    size_t count;    /* 2 at least */
    int32_t steps;
} tcall_seen_;

/* How items are hashed and compared; NULL: as names. */
typedef uint32_t (*tcall_hash_of_)(const char *at);
typedef bool (*tcall_alike_)(void *user, const char *a, const char *b);

/* Returns the key or item of a container that is like one before it, or NULL;
 * any, where the steps are spent. As many as there is room for are compared
 * with all that follow, pass by pass. */
TCALL_SHARED_ const char *tcall_text_twice_(const char *container,
                                            tcall_seen_ *seen,
                                            tcall_hash_of_ hash_of,
                                            tcall_alike_ alike, void *user)
{
    const char *from = tcall_text_first_(container), *at, *rest;
    for (; from; from = rest) {
        size_t room = seen->count / 2;
        memset(seen->slots, 0, seen->count * sizeof *seen->slots);
        for (at = from, rest = NULL; at; at = tcall_text_sibling_(at)) {
            size_t i = (hash_of ? hash_of(at) : tcall_text_name_hash_(at)) %
                       seen->count;
            for (; seen->slots[i]; i = (i + 1) % seen->count) {
                const char *other = container + seen->slots[i];
                if (seen->steps-- <= 0 ||
                    (alike ? alike(user, other, at)
                           : tcall_text_equal_(other, at)))
                    return at;
            }
            if (room)
                seen->slots[i] = (uint32_t)(at - container);
            else if (!rest)
                rest = at;
            room -= room > 0;
        }
    }
    return NULL;
}

/* ---- JSON Pointer, RFC 6901 ---- */

/* Bytes of a name in a pointer of a URI, once it is decoded. */
#define TCALL_NAME_MAX_ 64

/* Decodes the next name of a JSON Pointer in the fragment of a URI, which is a
 * JSON string, from after its '/' on. Returns its length, -1 when it is
 * malformed or too long. */
TCALL_SHARED_ int tcall_pointer_step_(const char **at,
                                      char name[TCALL_NAME_MAX_])
{
    const char *p = *at;
    bool tilde = false; /* the byte before begins an escape */
    int len = 0;
    while (*p != '/' && *p != '"') {
        int byte = (unsigned char)*p++;
        if (byte == '%') {
            byte = tcall_hex_(*p) < 0
                       ? -1
                       : tcall_hex_(p[0]) << 4 | tcall_hex_(p[1]);
            p += 2;
        } else if (byte == '\\') {
            byte = -1;
        }
        if (byte < 0 || len == TCALL_NAME_MAX_ ||
            (tilde && byte != '0' && byte != '1'))
            return -1;
        name[len] = (char)(!tilde ? byte : byte == '0' ? '~' : '/');
        tilde = !tilde && byte == '~';
        len += !tilde;
    }
    *at = p;
    return tilde ? -1 : len;
}

/* ---- parsing ---- */

/* Returns the key of the object that stands in it before, or NULL. */
static const char *tcall_json_twice_(const char *object,
                                     const tcall_seen_ *more)
{
    uint32_t few[64];
    tcall_seen_ seen = {few, sizeof few / sizeof *few, INT32_MAX};
    /* a key has two bytes at least */
    size_t most = (size_t)(tcall_text_skip_(object) - object) / 2;
    if (more->count > seen.count && most > seen.count) {
        seen.slots = more->slots;
        seen.count = more->count < most ? more->count : most;
    }
    return tcall_text_twice_(object, &seen, NULL, NULL, NULL);
}

/* Recognises a text, of which nobody hears. Returns the error, and where it
 * stops to be JSON, or its end. */
static int tcall_json_recognise_(const char *text, const char *end,
                                 const char **where)
{
    tcall_syntax_ syntax;
    tcall_syntax_begin_(&syntax, &tcall_syntax_nobody_);
    while (text < end && !syntax.error)
        text += tcall_syntax_feed_(&syntax, text, (size_t)(end - text));
    *where = text;
    return tcall_syntax_end_(&syntax);
}

/* Returns the error of a text that is no JSON, or JSON and yet no value, and
 * its place. A number alone must be followed by its end. */
TCALL_SHARED_ int tcall_json_wrong_(const char *at, const char *end,
                                    const tcall_seen_ *more, const char **where)
{
    const char *next, *twice;
    int r = tcall_json_recognise_(at, end, where);
    for (; r == TCALL_OK && at < end; at = next) {
        bool scalar = tcall_text_scalar_(at, at + 1) == at;
        next = scalar ? tcall_text_skip_(at) : at + 1;
        *where = at;
        if (scalar && tcall_text_type_(at) == TCALL_NUMBER) {
            tcall_num_ num = tcall_text_number_(at);
            r = tcall_num_in_range_(&num) ? r : TCALL_E_RANGE;
        }
        twice = *at == '{' ? tcall_json_twice_(at, more) : NULL;
        if (twice) {
            *where = twice + 1;
            r = TCALL_E_DUPLICATE;
        }
    }
    return r;
}

int tcall_json_check(tcall_str text)
{
    const char *where;
    return tcall_json_recognise_(text.ptr, text.ptr + text.len, &where);
}

int tcall_json_parse(tcall_json *out, char *text, size_t len, size_t *at)
{
    const tcall_seen_ none = {NULL, 0, 0};
    const char *where;
    int r;
    text[len] = '\0';
    r = tcall_json_wrong_(text, text + len, &none, &where);
    if (at)
        *at = (size_t)(where - text);
    *out = tcall_json_of_(r == TCALL_OK ? tcall_text_space_(text) : NULL, NULL);
    return r;
}

/* ---- getters ---- */

tcall_type tcall_json_type(tcall_json v)
{
    return v.at ? tcall_text_type_(v.at) : TCALL_MISSING;
}

/* Returns the value at a place where the key of a member or an element may be.
 */
static tcall_json tcall_json_here_(const char *at, bool member)
{
    return member && at ? tcall_json_of_(tcall_text_value_(at), at)
                        : tcall_json_of_(at, NULL);
}

tcall_json tcall_json_first(tcall_json v)
{
    return tcall_json_here_(tcall_text_first_(v.at), v.at && *v.at == '{');
}

tcall_json tcall_json_next(tcall_json v)
{
    return v.at ? tcall_json_here_(tcall_text_sibling_(v.at), v.key != NULL)
                : v;
}

tcall_str tcall_json_key(tcall_json v)
{
    return v.key ? tcall_text_decode_(v.key) : tcall_slice_(NULL, 0);
}

tcall_json tcall_json_get(tcall_json object, const char *key)
{
    return tcall_json_here_(tcall_text_member_(object.at, tcall_str_of(key)),
                            true);
}

tcall_json tcall_json_at(tcall_json array, int index)
{
    return tcall_json_of_(tcall_text_at_(array.at, index), NULL);
}

int tcall_json_count(tcall_json v)
{
    int count = 0;
    for (v = tcall_json_first(v); v.at; v = tcall_json_next(v))
        count++;
    return count;
}

tcall_str tcall_json_str(tcall_json v)
{
    tcall_type type = tcall_json_type(v);
    if (type == TCALL_MISSING || type > TCALL_STRING)
        return tcall_slice_(NULL, 0);
    return type == TCALL_STRING ? tcall_text_decode_(v.at)
                                : tcall_text_verbatim_(v.at);
}

const char *tcall_json_string(tcall_json v, const char *fallback)
{
    return tcall_json_type(v) == TCALL_STRING ? tcall_text_decode_(v.at).ptr
                                              : fallback;
}

bool tcall_json_bool(tcall_json v, bool fallback)
{
    return tcall_json_type(v) == TCALL_BOOL ? *v.at == 't' : fallback;
}

/* Gives a number. Returns whether the value is one. */
static bool tcall_json_number_(tcall_json v, tcall_num_ *out)
{
    bool is = tcall_json_type(v) == TCALL_NUMBER;
    if (is)
        *out = tcall_text_number_(v.at);
    return is;
}

/* Gives a number * 10^decimals, and the sign of what was cut off. Returns
 * whether it is a number, and fits. */
static bool tcall_json_whole_(tcall_json v, int decimals, tcall_int *out,
                              int *rest)
{
    tcall_num_ n;
    return tcall_json_number_(v, &n) &&
           tcall_num_whole_(&n, decimals, out, rest);
}

int64_t tcall_json_int64(tcall_json v, int64_t fallback)
{
    tcall_int out;
    int rest;
    return tcall_json_whole_(v, 0, &out, &rest) && !rest ? out : fallback;
}

int tcall_json_int(tcall_json v, int fallback)
{
    int64_t n = tcall_json_int64(v, fallback);
    return n < INT_MIN || n > INT_MAX ? fallback : (int)n;
}

long tcall_json_fixed(tcall_json v, int decimals, long fallback)
{
    tcall_int out;
    int rest;
    return tcall_json_whole_(v, decimals, &out, &rest) &&
                   (tcall_int)(long)out == out
               ? (long)out
               : fallback;
}

double tcall_json_double(tcall_json v, double fallback)
{
    tcall_num_ n;
    double out;
    return tcall_json_number_(v, &n) && tcall_num_double_(&n, &out) ? out
                                                                    : fallback;
}
