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

/* Returns whether the string that starts at the quote is equal to text. */
TCALL_SHARED_ bool tcall_text_same_(const char *quote, tcall_str text)
{
    const char *expected = text.ptr, *end = expected + text.len;
    for (quote++; *quote != '"';) {
        char bytes[4];
        size_t i, count = tcall_text_char_(&quote, bytes);
        for (i = 0; i < count; i++)
            if (expected == end || *expected++ != bytes[i])
                return false;
    }
    return expected == end;
}

/* Returns whether two JSON strings are equal, however they are escaped. */
TCALL_SHARED_ bool tcall_text_equal_(const char *a, const char *b)
{
    char left[4], right[4];
    size_t i = 0, left_len = 0, k = 0, right_len = 0;
    a++;
    b++;
    for (;; i++, k++) {
        if (i == left_len && *a != '"') {
            left_len = tcall_text_char_(&a, left);
            i = 0;
        }
        if (k == right_len && *b != '"') {
            right_len = tcall_text_char_(&b, right);
            k = 0;
        }
        if (i == left_len || k == right_len)
            return i == left_len && k == right_len;
        if (left[i] != right[k])
            return false;
    }
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
