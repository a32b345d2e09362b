#pragma once
#include "reader.c"

/* ==========================================================================
 * >>openai: Chat Completions, also of compatible servers
 */

#define TCALL_OPENAI_PATHS_(X)                                            \
    X(1, 0, 0, "usage")                                                   \
    X(2, TCALL_AT_INPUT, 0, "prompt_tokens")                              \
    X(2, TCALL_AT_OUTPUT, TCALL_PATH_LAST, "completion_tokens")           \
    X(1, TCALL_AT_ERROR, TCALL_PATH_ROOT, "error")                        \
    X(1, TCALL_AT_MESSAGE, 0, "message")                                  \
    X(1, TCALL_AT_MESSAGE, TCALL_PATH_RAW, "detail")                      \
    X(1, TCALL_AT_ERROR_CODE, 0, "code")                                  \
    X(1, TCALL_AT_ERROR_TYPE, 0, "type")                                  \
    X(1, 0, TCALL_PATH_LAST, "choices")                                   \
    X(2, TCALL_AT_CHOICE, 0, "*")                                         \
    X(3, TCALL_AT_NUMBER, 0, "index")                                     \
    X(3, TCALL_AT_STOP, 0, "finish_reason")                               \
    X(3, TCALL_AT_HINT, 0, "native_finish_reason") /* of OpenRouter */    \
    X(3, TCALL_AT_ERROR, TCALL_PATH_ROOT, "error") /* likewise */         \
    X(3, 0, TCALL_PATH_ALIAS_NEXT, "delta")                               \
    X(3, TCALL_AT_WHOLE, TCALL_PATH_LAST, "message")                      \
    X(4, TCALL_AT_CALL, 0, "function_call") /* before there were tools */ \
    X(5, TCALL_AT_NAME, 0, "name")                                        \
    X(5, TCALL_AT_ARGS, 0, "arguments")                                   \
    X(4, TCALL_AT_KEEP, 0, "reasoning_content")                           \
    X(4, TCALL_AT_KEEP_2, TCALL_PATH_RAW, "reasoning_details")            \
    X(4, TCALL_AT_TEXT, 0, "refusal")                                     \
    X(4, TCALL_AT_TEXT, 0, "content")                                     \
    X(5, 0, 0, "*") /* Mistral may send parts */                          \
    X(6, TCALL_AT_TEXT, 0, "text")                                        \
    X(4, 0, TCALL_PATH_LAST, "tool_calls")                                \
    X(5, TCALL_AT_CALL, 0, "*")                                           \
    X(6, TCALL_AT_INDEX, 0, "index")                                      \
    X(6, TCALL_AT_ID, 0, "id")                                            \
    X(6, 0, TCALL_PATH_ALIAS_NEXT, "custom")                              \
    X(6, 0, TCALL_PATH_LAST, "function")                                  \
    X(7, TCALL_AT_NAME, 0, "name")                                        \
    X(7, TCALL_AT_ARGS, TCALL_PATH_RAW, "arguments")                      \
    X(7, TCALL_AT_ARGS, 0, "input") /* of a custom tool */

TCALL_PATHS(tcall_openai_paths_, TCALL_OPENAI_PATHS_)

/* clang-format off */
static const char tcall_openai_words_[] =
    TCALL_SAYS_END "stop\0"
    TCALL_SAYS_CALLS "tool_calls\0"
    TCALL_SAYS_CALLS "function_call\0"
    TCALL_SAYS_LENGTH "length\0"
    TCALL_SAYS_LENGTH "model_length\0"
    TCALL_SAYS_LENGTH "max_tokens\0"
    TCALL_SAYS_LENGTH "max_output_tokens\0"
    TCALL_SAYS_LENGTH "MAX_TOKENS\0"
    TCALL_SAYS_LENGTH "insufficient_system_resource\0"
    TCALL_SAYS_LENGTH "error\0"
    TCALL_SAYS_REFUSED "content_filter\0";
/* clang-format on */

static int tcall_openai_write_(const tcall_provider *p, tcall_writer *w,
                               const tcall_ask *ask)
{
    tcall_strict left = {TCALL_STRICT_OPENAI, 999, 999, 999, false};
    tcall_write_talk_(p, w, ask,
                      "{'id':%i,'type':'function',"
                      "'function':{'name':%n,'arguments':%A}}",
                      "{'role':'tool','tool_call_id':%i,'content':%e}");
    if (tcall_write_tools_(p, w, ask, ",'tools':[%.]",
                           "{'type':'function','function':{'name':%t,"
                           "'description':%.,'parameters':%.}}",
                           &left))
        tcall_write_choice_(p, w, ask,
                            ",'tool_choice':{'type':'function','function':"
                            "{'name':%t}}");
    tcall_write_limit_(w,
                       p->traits & TCALL_TRAIT_MAX_TOKENS
                           ? ",'max_tokens':%."
                           : ",'max_completion_tokens':%.",
                       ask->max_tokens);
    if (ask->stream && !(p->traits & TCALL_TRAIT_NO_USAGE))
        tcall_write_words_(w, ",'stream_options':{'include_usage':true}", NULL);
    return tcall_write_stream_(w, ask);
}

TCALL_PROVIDER_(openai, openai, "https://api.openai.com",
                "/v1/chat/completions", NULL, "Authorization", "Bearer ", NULL,
                NULL, NULL, NULL, NULL, 0)
