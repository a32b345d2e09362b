#pragma once
#include "servers.h"
#include "openai.c"
#include "anthropic.c"
#include "ollama.c"
#include "responses.c"
#include "gemini.c"
#include "interactions.c"

/* ==========================================================================
 * >>servers
 */

/* ---- reasoning details of OpenRouter ---- */

/* They are lists of objects, one list after the other as they were streamed. A
 * detail may come in pieces, objects of one type and index; it has to go back
 * whole, because its signature is of the whole. */

/* The members of a piece that are put together: of the first ones all texts,
 * joined; of others that of the last piece, where a signature is. */
static const char tcall_detail_members_[] =
    "text\0summary\0signature\0id\0format";
enum { TCALL_DETAIL_JOINED_ = 2, TCALL_DETAIL_ROWS_ = 5 };

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

/* Returns the piece after the last one of the detail that begins here, or NULL.
 * Data stands for itself. */
static const char *tcall_detail_end_(const char *first, const char *end)
{
    const char *piece = first;
    do
        piece = tcall_next_piece_(tcall_text_skip_(piece), end);
    while (piece && tcall_same_member_(first, piece, "type") &&
           tcall_same_member_(first, piece, "index") &&
           !tcall_text_get_(piece, "data"));
    return piece;
}

/* Writes one of the members that are put together, if a piece from the first to
 * the next detail has it. Texts are joined as they are, escapes and all: each
 * begins and ends at whole characters. */
static void tcall_write_joined_(tcall_writer *out, const char *first,
                                const char *next, const char *end, unsigned row)
{
    const char *key = tcall_nth_(tcall_detail_members_, row), *text = NULL;
    tcall_str last = {NULL, 0};
    for (; first != next;
         first = tcall_next_piece_(tcall_text_skip_(first), end)) {
        const char *more = tcall_text_get_(first, key);
        if (!more || *more != '"')
            continue;
        if (!text) {
            tcall_write_key(out, key);
            tcall_write_char_(out, '"');
        }
        text = more;
        last = tcall_text_inner_(text);
        if (row < TCALL_DETAIL_JOINED_)
            tcall_write_bytes(out, last.ptr, last.len);
    }
    if (!text)
        return;
    if (row >= TCALL_DETAIL_JOINED_)
        tcall_write_bytes(out, last.ptr, last.len);
    tcall_write_char_(out, '"');
}

/* Is the key, quotes included, one of those that are put together? */
static bool tcall_is_joined_(const char *key)
{
    unsigned row = 0;
    while (row < TCALL_DETAIL_ROWS_ &&
           !tcall_text_is_(key, tcall_nth_(tcall_detail_members_, row)))
        row++;
    return row < TCALL_DETAIL_ROWS_;
}

/* Writes the pieces of a detail as one: what is put together comes after the
 * first piece's other members. */
static void tcall_write_detail_(tcall_writer *out, const char *first,
                                const char *next, const char *end)
{
    const char *key = tcall_text_next_(first + 1), *after;
    unsigned row;
    tcall_write_open(out, '{');
    for (; !tcall_text_closes_(key); key = tcall_text_next_(after)) {
        after = tcall_text_skip_(tcall_text_value_(key));
        if (!tcall_is_joined_(key))
            tcall_write_verbatim(out, tcall_slice_(key, (size_t)(after - key)));
    }
    for (row = 0; row < TCALL_DETAIL_ROWS_; row++)
        tcall_write_joined_(out, first, next, end, row);
    tcall_write_close(out, '}');
}

/* Writes reasoning as it came, but whole: {"reasoning_details":[...]}. */
static void tcall_write_details_(tcall_writer *out, tcall_str pieces)
{
    const char *end = pieces.ptr + pieces.len;
    const char *piece = tcall_next_piece_(pieces.ptr, end), *next;
    tcall_write_text(out, "\"reasoning_details\":[");
    for (; piece; piece = next) {
        next = tcall_detail_end_(piece, end);
        if (next == tcall_next_piece_(tcall_text_skip_(piece), end))
            tcall_write_verbatim(out, tcall_text_verbatim_(piece));
        else
            tcall_write_detail_(out, piece, next, end);
    }
    tcall_write_text(out, "]");
}

/* ---- all of them ---- */

/* A server's reasoning may go back. */
static const tcall_request_forms_ tcall_openai_served_ = {
    tcall_openai_body_,   tcall_openai_forms_,
    tcall_messages_,      TCALL_MESSAGE_SIDES_(TCALL_SIDE_SHOWN_),
    tcall_function_tool_, tcall_write_details_};
#define tcall_responses_served_ tcall_responses_request_

#define TCALL_X_(name, format, url, path, header, prefix, ...)             \
    TCALL_PROVIDER_(name, format, tcall_##format##_served_, url, path, "", \
                    header, prefix, "", "", __VA_ARGS__)
TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_

const tcall_provider *tcall_provider_named(const char *name)
{
#define TCALL_X_(name, ...) &tcall_##name,
    static const tcall_provider *const all[] = {&tcall_openai,
                                                &tcall_responses,
                                                &tcall_anthropic,
                                                &tcall_ollama,
                                                &tcall_gemini,
                                                &tcall_interactions,
                                                TCALL_SERVERS(TCALL_X_) NULL};
#undef TCALL_X_
    const tcall_provider *const *provider = all;
    while (*provider && strcmp((*provider)->name, name) != 0)
        provider++;
    return *provider;
}
