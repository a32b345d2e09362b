#pragma once
#include "servers.h"
#include "openai.c"
#include "responses.c"

/* ==========================================================================
 * >>servers
 */

/* ---- reasoning details of OpenRouter ---- */

/* They are lists of objects, one list after the other as they were streamed. A
 * detail may come in pieces, objects of one type and index; it has to go back
 * whole, because its signature is of the whole. */

/* The members of a piece that are put together. */
static const struct {
    const char *key;
    bool joined; /* one text; of others the last piece's counts */
} tcall_detail_members_[] = {{"text", true},
                             {"summary", true},
                             {"signature", false},
                             {"id", false},
                             {"format", false}};

typedef struct tcall_detail_ {
    const char *first; /* its first piece */
    const char *next;  /* the piece after its last one, or NULL */
    const char *end;   /* of the text */
} tcall_detail_;

/* Returns the next object of such lists, or NULL at the end. */
static const char *tcall_next_piece_(const char *p, const char *end)
{
    while (p < end && (strchr("[],", *p) || tcall_is_space_(*p)))
        p++;
    return p < end && *p == '{' ? p : NULL;
}

/* Have both pieces this member, with the same value? */
static bool tcall_same_member_(const char *a, const char *b, const char *key)
{
    a = tcall_text_get_(a, key);
    b = tcall_text_get_(b, key);
    return a && b &&
           tcall_str_eq(tcall_text_verbatim_(a), tcall_text_verbatim_(b));
}

/* Finds the pieces of the detail that begins here. Data stands for itself. */
static tcall_detail_ tcall_detail_of_(const char *first, const char *end)
{
    tcall_detail_ detail;
    const char *piece = first;
    do
        piece = tcall_next_piece_(tcall_text_skip_(piece), end);
    while (piece && tcall_same_member_(first, piece, "type") &&
           tcall_same_member_(first, piece, "index") &&
           !tcall_text_get_(piece, "data"));
    detail.first = first;
    detail.next = piece;
    detail.end = end;
    return detail;
}

/* Gives the next text that a piece has under this key, NULL at the end. */
static const char *tcall_detail_text_(const tcall_detail_ *detail,
                                      const char **piece, const char *key)
{
    const char *text = NULL;
    while (*piece && *piece != detail->next && !text) {
        text = tcall_text_get_(*piece, key);
        if (text && *text != '"')
            text = NULL;
        *piece = tcall_next_piece_(tcall_text_skip_(*piece), detail->end);
    }
    return text;
}

/* Writes the texts of all pieces as one. They are joined as they are, escapes
 * and all: each begins and ends at whole characters. */
static void tcall_write_joined_(tcall_writer *out, const tcall_detail_ *detail,
                                const char *key)
{
    const char *piece = detail->first;
    const char *text = tcall_detail_text_(detail, &piece, key);
    if (!text)
        return;
    tcall_write_key(out, key);
    tcall_write_char_(out, '"');
    for (; text; text = tcall_detail_text_(detail, &piece, key)) {
        tcall_str inner = tcall_text_inner_(text);
        tcall_write_bytes(out, inner.ptr, inner.len);
    }
    tcall_write_char_(out, '"');
}

/* Writes the text that came last: a signature is in the last piece. */
static void tcall_write_last_(tcall_writer *out, const tcall_detail_ *detail,
                              const char *key)
{
    const char *piece = detail->first, *text, *last = NULL;
    while ((text = tcall_detail_text_(detail, &piece, key)) != NULL)
        last = text;
    if (!last)
        return;
    tcall_write_key(out, key);
    tcall_write_verbatim(out, tcall_text_verbatim_(last));
}

/* Is the key, quotes included, one of those that are put together? */
static bool tcall_is_detail_member_(const char *key)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_detail_members_); i++)
        if (tcall_text_is_(key, tcall_detail_members_[i].key))
            return true;
    return false;
}

/* Writes the pieces of a detail as one: what is put together comes after the
 * first piece's other members. */
static void tcall_write_detail_(tcall_writer *out, const tcall_detail_ *detail)
{
    const char *key = tcall_text_next_(detail->first + 1), *end;
    size_t i;
    tcall_write_open(out, '{');
    for (; !tcall_text_closes_(key); key = tcall_text_next_(end)) {
        end = tcall_text_skip_(tcall_text_value_(key));
        if (!tcall_is_detail_member_(key))
            tcall_write_verbatim(out, tcall_slice_(key, (size_t)(end - key)));
    }
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_detail_members_); i++)
        if (tcall_detail_members_[i].joined)
            tcall_write_joined_(out, detail, tcall_detail_members_[i].key);
        else
            tcall_write_last_(out, detail, tcall_detail_members_[i].key);
    tcall_write_close(out, '}');
}

/* Writes reasoning as it came, but whole: {"reasoning_details":[...]}. */
static void tcall_write_details_(tcall_writer *out, tcall_str pieces)
{
    const char *end = pieces.ptr + pieces.len;
    const char *piece = tcall_next_piece_(pieces.ptr, end);
    tcall_write_form_(out, "\"reasoning_details\":[", NULL);
    while (piece) {
        tcall_detail_ detail = tcall_detail_of_(piece, end);
        if (detail.next == tcall_next_piece_(tcall_text_skip_(piece), end))
            tcall_write_verbatim(out, tcall_text_verbatim_(piece));
        else
            tcall_write_detail_(out, &detail);
        piece = detail.next;
    }
    tcall_write_text(out, "]");
}

static const tcall_server_ tcall_server_details_ = {tcall_write_details_};

static int tcall_server_write_(const tcall_provider *provider,
                               tcall_writer *out,
                               const tcall_chat_request *request)
{
    return tcall_openai_body_(provider, out, request, &tcall_server_details_);
}

/* A row of one of the tables: the function that writes its requests, and the
 * format whose answers it gives. */
#define TCALL_SERVER_(write, format, name, url, path, header, prefix,     \
                      reasoning, member, strict, quirks, turns)           \
    static const char tcall_##name##_place_[] = #name "\0" url "\0" path; \
    TCALL_DATA_ const tcall_provider tcall_##name = {                     \
        tcall_##name##_place_,                                            \
        tcall_##name##_place_ + sizeof #name,                             \
        tcall_##name##_place_ + sizeof #name + sizeof url,                \
        NULL,                                                             \
        header,                                                           \
        prefix,                                                           \
        {NULL, NULL},                                                     \
        write,                                                            \
        &tcall_##format##_answer_,                                        \
        tcall_##format##_stops_,                                          \
        tcall_##format##_types_,                                          \
        reasoning,                                                        \
        strict,                                                           \
        quirks,                                                           \
        member,                                                           \
        turns};
#define TCALL_X_(...) TCALL_SERVER_(tcall_server_write_, openai, __VA_ARGS__)
TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_
#define TCALL_X_(...) \
    TCALL_SERVER_(tcall_responses_write_, responses, __VA_ARGS__)
TCALL_RESPONSES_SERVERS(TCALL_X_)
#undef TCALL_X_
