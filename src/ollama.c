#pragma once
#include "reader.c"

/* ==========================================================================
 * >>ollama: its own /api/chat
 *
 * Calls come whole, and their numbers mean nothing: each is a new one.
 */

#define TCALL_OLLAMA_PATHS_(X)                       \
    X(1, 0, 0, "message")                            \
    X(2, TCALL_AT_TEXT, 0, "content")                \
    X(2, 0, 0, "tool_calls")                         \
    X(3, TCALL_AT_CALL, 0, "*")                      \
    X(4, TCALL_AT_ID, 0, "id")                       \
    X(4, 0, 0, "function")                           \
    X(5, TCALL_AT_NAME, 0, "name")                   \
    X(5, TCALL_AT_ARGS, TCALL_PATH_RAW, "arguments") \
    X(1, TCALL_AT_EVENT, 0, "done")                  \
    X(1, TCALL_AT_STOP, 0, "done_reason")            \
    X(1, TCALL_AT_INPUT, 0, "prompt_eval_count")     \
    X(1, TCALL_AT_OUTPUT, 0, "eval_count")           \
    X(1, TCALL_AT_ERROR, 0, "error")                 \
    X(2, TCALL_AT_MESSAGE, 0, "message")

TCALL_PATHS(tcall_ollama_paths_, TCALL_OLLAMA_PATHS_)

/* clang-format off */
static const char tcall_ollama_words_[] =
    TCALL_SAYS_FINAL "true\0"
    TCALL_SAYS_END "stop\0"
    TCALL_SAYS_LENGTH "length\0";
/* clang-format on */

static int tcall_ollama_write_(const tcall_provider *p, tcall_writer *w,
                               const tcall_ask *ask)
{
    tcall_strict left = {TCALL_STRICT_OLLAMA, 0, 0, 0, false};
    tcall_write_talk_(
        p, w, ask, "{'id':%i,'function':{'name':%n,'arguments':%a}}",
        "{'role':'tool','tool_name':%n,'tool_call_id':%i,'content':%e}");
    tcall_write_tools_(p, w, ask, ",'tools':[%.]",
                       "{'type':'function','function':{'name':%t,"
                       "'description':%.,'parameters':%.}}",
                       &left);
    tcall_write_limit_(w, ",'options':{'num_predict':%.}", ask->max_tokens);
    return tcall_write_stream_(w, ask); /* it streams unless it is told */
}

TCALL_PROVIDER_(ollama, ollama, "http://127.0.0.1:11434", "/api/chat", NULL,
                "Authorization", "Bearer ", NULL, NULL, NULL, NULL, NULL,
                TCALL_TRAIT_WEAK_CHOICE)
