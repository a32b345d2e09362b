#pragma once
#include "openai.h"
#include "reader.c"

/* ==========================================================================
 * >>openai
 */

#ifdef TCALL_HAS_OPENAI_

#define TCALL_OPENAI_PATHS_(X)                                            \
    X(1, 0, 0, "usage")                                                   \
    X(2, TCALL_FIELD_INPUT_TOKENS, 0, "prompt_tokens")                    \
    X(2, TCALL_FIELD_OUTPUT_TOKENS, TCALL_PATH_LAST, "completion_tokens") \
    X(1, TCALL_FIELD_ERROR, TCALL_PATH_ROOT, "error")                     \
    X(1, TCALL_FIELD_MESSAGE, 0, "message")                               \
    X(1, TCALL_FIELD_MESSAGE, TCALL_PATH_RAW, "detail")                   \
    X(1, TCALL_FIELD_ERROR_CODE, 0, "code")                               \
    X(1, TCALL_FIELD_ERROR_TYPE, 0, "type")                               \
    X(1, 0, TCALL_PATH_LAST, "choices")                                   \
    X(2, TCALL_FIELD_CHOICE, 0, "*")                                      \
    X(3, TCALL_FIELD_CHOICE_INDEX, 0, "index")                            \
    X(3, TCALL_FIELD_STOP, 0, "finish_reason")                            \
    X(3, TCALL_FIELD_STOP_REASON, 0,                                      \
      "native_finish_reason")                         /* of OpenRouter */ \
    X(3, TCALL_FIELD_ERROR, TCALL_PATH_ROOT, "error") /* likewise */      \
    X(3, 0, TCALL_PATH_ALIAS_NEXT, "delta")                               \
    X(3, TCALL_FIELD_WHOLE_ANSWER, TCALL_PATH_LAST, "message")            \
    X(4, TCALL_FIELD_ELEMENT, 0,                                          \
      "function_call") /* before there were tools */                      \
    X(5, TCALL_FIELD_NAME, 0, "name")                                     \
    X(5, TCALL_FIELD_ARGUMENTS, 0, "arguments")                           \
    X(4, TCALL_FIELD_REASONING, 0, "reasoning_content")                   \
    X(4, TCALL_FIELD_REASONING_DATA, TCALL_PATH_RAW, "reasoning_details") \
    X(4, TCALL_FIELD_TEXT, 0, "refusal")                                  \
    X(4, TCALL_FIELD_TEXT, 0, "content")                                  \
    X(5, 0, 0, "*") /* Mistral may send parts */                          \
    X(6, TCALL_FIELD_TEXT, 0, "text")                                     \
    X(4, 0, TCALL_PATH_LAST, "tool_calls")                                \
    X(5, TCALL_FIELD_ELEMENT, 0, "*")                                     \
    X(6, TCALL_FIELD_INDEX, 0, "index")                                   \
    X(6, TCALL_FIELD_ID, 0, "id")                                         \
    X(6, 0, TCALL_PATH_ALIAS_NEXT, "custom")                              \
    X(6, 0, TCALL_PATH_LAST, "function")                                  \
    X(7, TCALL_FIELD_NAME, 0, "name")                                     \
    X(7, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "arguments")              \
    X(7, TCALL_FIELD_ARGUMENTS, 0, "input") /* of a custom tool */

TCALL_PATHS(tcall_openai_paths_, TCALL_OPENAI_PATHS_)

/* Servers that speak this format have words of their own; "error" is said by
 * OpenRouter where the model's provider failed in the middle of an answer. */
static const tcall_word tcall_openai_stops_[] = {
    {"stop", TCALL_STOP_END},
    {"tool_calls", TCALL_STOP_TOOL_CALLS},
    {"function_call", TCALL_STOP_TOOL_CALLS},
    {"length", TCALL_STOP_LENGTH},
    {"model_length", TCALL_STOP_LENGTH},
    {"max_tokens", TCALL_STOP_LENGTH},
    {"max_output_tokens", TCALL_STOP_LENGTH},
    {"MAX_TOKENS", TCALL_STOP_LENGTH},
    {"insufficient_system_resource", TCALL_STOP_LENGTH},
    {"error", TCALL_STOP_LENGTH},
    {"content_filter", TCALL_STOP_CONTENT_FILTER},
    {NULL, 0},
};

/* No element and no event has a type here. */
static const tcall_word tcall_openai_types_[] = {{NULL, 0}};

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
    tcall_write_begin_(out, "reasoning_details", '[');
    while (piece) {
        tcall_detail_ detail = tcall_detail_of_(piece, end);
        if (detail.next == tcall_next_piece_(tcall_text_skip_(piece), end))
            tcall_write_verbatim(out, tcall_text_verbatim_(piece));
        else
            tcall_write_detail_(out, &detail);
        piece = detail.next;
    }
    tcall_write_close(out, ']');
}

/* ---- requests ---- */

/* {"id":"call_1","type":"function",
 *  "function":{"name":"f","arguments":"{\"x\":1}"}}: arguments are a string. */
static void tcall_openai_call_(tcall_writer *out, const tcall_item *call)
{
    tcall_write_begin_(out, NULL, '{');
    tcall_write_member_(out, "id", call->id);
    tcall_write_word_(out, "type", "function");
    tcall_write_begin_(out, "function", '{');
    tcall_write_member_(out, "name", call->name);
    tcall_write_member_(out, "arguments", tcall_sent_arguments_(call));
    tcall_write_ends_(out, "}}");
}

/* {"role":"tool","tool_call_id":"call_1","content":"..."}: there is no flag for
 * an error, the text has to say it. */
static void tcall_openai_result_(tcall_writer *out, const tcall_item *result)
{
    tcall_write_begin_(out, NULL, '{');
    tcall_write_word_(out, "role", "tool");
    tcall_write_member_(out, "tool_call_id", result->id);
    tcall_write_result_text_(out, "content", result);
    tcall_write_close(out, '}');
}

/* Reasoning stands before text and calls of its message, or not at all. */
static void tcall_openai_reasoning_(tcall_writer *out, tcall_message_ *message,
                                    const tcall_item *reasoning)
{
    /* A further one between calls cannot be said here. */
    if (*message > TCALL_MESSAGE_OPEN_)
        return;
    tcall_message_to_(out, message, TCALL_MESSAGE_OPEN_);
    if (reasoning->raw)
        tcall_write_details_(out, reasoning->text);
    else
        tcall_write_member_(out, "reasoning_content", reasoning->text);
}

/* The system message, and then one message for what each side said. */
static void tcall_openai_messages_(const tcall_provider *provider,
                                   tcall_writer *out,
                                   const tcall_chat_request *request)
{
    tcall_history_ history = tcall_history_of_(provider, request->chat);
    tcall_message_ message = TCALL_MESSAGE_NONE_;
    tcall_item item;
    tcall_write_begin_(out, "messages", '[');
    if (tcall_has_text_(request->system))
        tcall_write_message_(out, "system", tcall_str_of(request->system));
    while (tcall_history_next_(&history, out, &item)) {
        tcall_message_item_(out, &message, &item);
        if (item.kind == TCALL_ITEM_CALL)
            tcall_openai_call_(out, &item);
        else if (item.kind == TCALL_ITEM_RESULT)
            tcall_openai_result_(out, &item);
        else if (item.kind == TCALL_ITEM_REASONING)
            tcall_openai_reasoning_(out, &message, &item);
    }
    tcall_message_end_(out, &message);
    tcall_write_close(out, ']');
}

/* "tool_choice" is a word, or names the one function that must be called. */
static void tcall_openai_choice_(const tcall_provider *provider,
                                 tcall_writer *out,
                                 const tcall_chat_request *request)
{
    if (tcall_names_tool_(provider, request)) {
        tcall_write_begin_(out, "tool_choice", '{');
        tcall_write_word_(out, "type", "function");
        tcall_write_begin_(out, "function", '{');
        tcall_write_word_(out, "name", request->choice_name);
        tcall_write_ends_(out, "}}");
    } else {
        tcall_write_choice_(provider, out, request);
    }
    tcall_write_parallel_(provider, out, request);
}

/* {"model":...,"messages":[...],"tools":[...],"stream":true}. Usage is reported
 * in a stream only when it is asked for. */
static int tcall_openai_write_(const tcall_provider *provider,
                               tcall_writer *out,
                               const tcall_chat_request *request)
{
    bool short_name = (provider->quirks & TCALL_QUIRK_MAX_TOKENS) != 0;
    tcall_write_open(out, '{');
    tcall_write_word_(out, "model", request->model);
    tcall_openai_messages_(provider, out, request);
    if (tcall_write_function_tools_(provider, out, request))
        tcall_openai_choice_(provider, out, request);
    tcall_write_limit_(out, short_name ? "max_tokens" : "max_completion_tokens",
                       request->max_tokens);
    if (request->stream && !(provider->quirks & TCALL_QUIRK_NO_USAGE)) {
        tcall_write_begin_(out, "stream_options", '{');
        tcall_write_flag_(out, "include_usage", true);
        tcall_write_close(out, '}');
    }
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_close(out, '}');
}

TCALL_DATA_ const tcall_provider tcall_openai = {"openai",
                                                 "https://api.openai.com",
                                                 "/v1/chat/completions",
                                                 NULL,
                                                 "Authorization",
                                                 "Bearer ",
                                                 {NULL, NULL},
                                                 tcall_openai_write_,
                                                 &tcall_openai_paths_,
                                                 tcall_openai_stops_,
                                                 tcall_openai_types_,
                                                 TCALL_REASONING_NONE,
                                                 TCALL_STRICT_OPENAI,
                                                 0};

#endif /* TCALL_HAS_OPENAI_ */
