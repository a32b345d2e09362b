#pragma once
#include "openai.c"
#include "anthropic.c"
#include "ollama.c"
#include "responses.c"
#include "gemini.c"

/* ==========================================================================
 * >>servers: that speak the format of OpenAI, more or less
 */

#define TCALL_X_(name, url, path, header, prefix, id, more, join, traits)      \
    TCALL_PROVIDER_(name, openai, url, path, NULL, header, prefix, NULL, NULL, \
                    id, more, join, traits)
TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_

tcall_str tcall_id_of_nine(char *to, tcall_str id)
{
    uint32_t high = 2166136261u, low = 0;
    size_t i;
    for (i = 0;
         i < id.len && (tcall_is_digit_(id.ptr[i]) ||
                        ((id.ptr[i] | 32) >= 'a' && (id.ptr[i] | 32) <= 'z'));
         i++) {
    }
    if (i == id.len && id.len == 9)
        return id;
    for (i = 0; i < id.len; i++) {
        high = (high ^ (unsigned char)id.ptr[i]) * 16777619u;
        low = low * 31 + (high >> 16);
    }
    for (i = 0; i < 9; i++) {
        uint32_t *from = i < 5 ? &high : &low;
        to[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[*from % 36];
        *from /= 36;
    }
    return tcall_slice_(to, 9);
}

/* The next object in arrays of them; NULL: there is none. Never the '{' of a
 * string: what is skipped from there on has to end. */
static const char *tcall_piece_next_(const char *p, const char *end)
{
    while (p < end && strchr("[], \t\r\n", *p))
        p++;
    return p < end && *p == '{' ? p : NULL;
}

/* Have both objects this member, with the same value? */
static bool tcall_piece_same_(const char *p, const char *q, const char *key)
{
    p = tcall_view_get_(p, key);
    q = tcall_view_get_(q, key);
    return p && q &&
           tcall_str_eq(tcall_text_verbatim_(p), tcall_text_verbatim_(q));
}

/* The object behind the pieces that begin at p: those of one type and number,
 * unless they are data that stands for itself. */
static const char *tcall_piece_end_(const char *p, const char *end)
{
    const char *q = p;
    do
        q = tcall_piece_next_(tcall_text_skip_(q), end);
    while (q && tcall_piece_same_(p, q, "type") &&
           tcall_piece_same_(p, q, "index") && !tcall_view_get_(q, "data"));
    return q;
}

/* The member of this key of several pieces: texts are joined, of others the
 * last one counts. */
static void tcall_write_piece_(tcall_writer *w, const char *p,
                               const char *behind, const char *end,
                               const char *key, bool join)
{
    const char *v, *last = NULL;
    for (; p && p != behind; p = tcall_piece_next_(tcall_text_skip_(p), end)) {
        v = tcall_view_get_(p, key);
        if (!v || *v != '"')
            continue;
        if (join && !last)
            tcall_write_key(w, key);
        if (join)
            tcall_write_bytes(w, last ? v + 1 : v,
                              (size_t)(tcall_text_skip_(v) - v) - 1 -
                                  (last != NULL));
        last = v;
    }
    if (join && last)
        tcall_write_char_(w, '"');
    else if (last) {
        tcall_write_key(w, key);
        tcall_write_verbatim(w, tcall_text_verbatim_(last));
    }
}

int tcall_join_details(tcall_writer *w, tcall_str s)
{
    static const char keys[] = "text\0summary\0signature\0id\0format\0";
    const char *end = s.ptr + s.len, *p = tcall_piece_next_(s.ptr, end);
    tcall_write_open(w, '[');
    while (p) {
        const char *behind = tcall_piece_end_(p, end), *m, *v, *key;
        if (behind == tcall_piece_next_(tcall_text_skip_(p), end)) {
            tcall_write_verbatim(w, tcall_text_verbatim_(p));
            p = behind;
            continue;
        }
        tcall_write_open(w, '{');
        for (m = tcall_text_next_(p + 1); !tcall_text_closes_(m);
             m = tcall_text_next_(v)) {
            v = tcall_text_skip_(tcall_text_value_(m));
            for (key = keys; *key && !tcall_view_is_(m, key);)
                key += strlen(key) + 1;
            if (!*key)
                tcall_write_verbatim(w, tcall_slice_(m, (size_t)(v - m)));
        }
        for (key = keys; *key; key += strlen(key) + 1)
            tcall_write_piece_(w, p, behind, end, key, key < keys + 12);
        tcall_write_close(w, '}');
        p = behind;
    }
    return tcall_write_close(w, ']');
}

const tcall_provider *tcall_provider_named(const char *name)
{
#define TCALL_X_(name, url, path, header, prefix, id, more, join, traits) \
    &tcall_##name,
    static const tcall_provider *const all[] = {
        TCALL_SERVERS(TCALL_X_) & tcall_openai, &tcall_anthropic, &tcall_ollama,
        &tcall_responses, &tcall_gemini};
#undef TCALL_X_
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(all); i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}
