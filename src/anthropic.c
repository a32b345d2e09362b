#pragma once
#include "reader.c"

/* ==========================================================================
 * >>anthropic: Messages
 *
 * An event of a stream is itself the element of a call: index and type may
 * stand before or behind it.
 */

#define TCALL_ANTHROPIC_PATHS_(X)                               \
    X(1, TCALL_AT_EVENT, 0, "type")                             \
    X(1, TCALL_AT_INDEX, 0, "index")                            \
    X(1, TCALL_AT_STOP, 0, "stop_reason")                       \
    X(1, TCALL_AT_RESTART, 0, "message")                        \
    X(2, 0, 0, "usage")                                         \
    X(3, TCALL_AT_INPUT, 0, "input_tokens")                     \
    X(3, TCALL_AT_OUTPUT, 0, "output_tokens")                   \
    X(1, 0, 0, "usage")                                         \
    X(2, TCALL_AT_INPUT, 0, "input_tokens")                     \
    X(2, TCALL_AT_OUTPUT, 0, "output_tokens")                   \
    X(1, TCALL_AT_ERROR, 0, "error")                            \
    X(2, TCALL_AT_ERROR_TYPE, 0, "type")                        \
    X(2, TCALL_AT_MESSAGE, 0, "message")                        \
    X(1, TCALL_AT_CALL, 0, "delta")                             \
    X(2, TCALL_AT_ARGS, 0, "partial_json")                      \
    X(2, TCALL_AT_TEXT, 0, "text")                              \
    X(2, TCALL_AT_KEEP, 0, "thinking")                          \
    X(2, TCALL_AT_SIGN, 0, "signature")                         \
    X(2, TCALL_AT_STOP, TCALL_PATH_LAST, "stop_reason")         \
    X(1, TCALL_AT_CALL, 0, "content_block")                     \
    X(2, TCALL_AT_TYPE, 0, "type")                              \
    X(2, TCALL_AT_ID, 0, "id")                                  \
    X(2, TCALL_AT_NAME, 0, "name")                              \
    X(2, TCALL_AT_ARGS, TCALL_PATH_RAW, "input")                \
    X(2, TCALL_AT_KEEP, 0, "thinking")                          \
    X(2, TCALL_AT_KEEP_2, 0, "data") /* of redacted thinking */ \
    X(2, TCALL_AT_SIGN, 0, "signature")                         \
    X(2, TCALL_AT_TEXT, TCALL_PATH_LAST, "text")                \
    X(1, TCALL_AT_WHOLE, TCALL_PATH_LAST, "content")            \
    X(2, TCALL_AT_CALL, 0, "*")                                 \
    X(3, TCALL_AT_TYPE, 0, "type")                              \
    X(3, TCALL_AT_ID, 0, "id")                                  \
    X(3, TCALL_AT_NAME, 0, "name")                              \
    X(3, TCALL_AT_ARGS, TCALL_PATH_RAW, "input")                \
    X(3, TCALL_AT_TEXT, 0, "text")                              \
    X(3, TCALL_AT_KEEP, 0, "thinking")                          \
    X(3, TCALL_AT_KEEP_2, 0, "data")                            \
    X(3, TCALL_AT_SIGN, 0, "signature")

TCALL_PATHS(tcall_anthropic_paths_, TCALL_ANTHROPIC_PATHS_)

/* clang-format off */
static const char tcall_anthropic_words_[] =
    TCALL_SAYS_FINAL "message_stop\0"
    TCALL_SAYS_CALL "tool_use\0"
    TCALL_SAYS_END "end_turn\0"
    TCALL_SAYS_END "stop_sequence\0"
    TCALL_SAYS_LENGTH "max_tokens\0"
    TCALL_SAYS_LENGTH "model_context_window_exceeded\0"
    TCALL_SAYS_REFUSED "refusal\0";
/* clang-format on */

static const char tcall_anthropic_turns_[] =
    "{'role':'user','content':[\0"
    "{'role':'assistant','content':[\0"
    "u{'type':'text','text':%t}\0"
    "m{'type':'text','text':%t}\0"
    "m{'type':'tool_use','id':%i,'name':%n,'input':%a}\0"
    "u{'type':'tool_result','tool_use_id':%i,'content':%t}\0"
    "m{'type':'thinking','thinking':%t,'signature':%g}\0"
    "u{'type':'tool_result','tool_use_id':%i,'content':%t,'is_error':true}\0"
    "m{'type':'redacted_thinking','data':%t}";

static int tcall_anthropic_write_(const tcall_provider *p, tcall_writer *w,
                                  const tcall_ask *ask)
{
    static const char choices[] = ",'tool_choice':{'type':'auto'%.}\0"
                                  ",'tool_choice':{'type':'none'}\0"
                                  ",'tool_choice':{'type':'any'%.}\0"
                                  ",'tool_choice':{'type':'tool','name':%t%.}";
    /* What one request may hold of strict tools, optional parameters and
     * unions, over all of them together. */
    tcall_strict left = {TCALL_STRICT_ANTHROPIC, 20, 24, 16, false};
    const char *rest;
    tcall_write_words_(w, "{'model':%t", ask->model);
    tcall_write_limit_(w, ",'max_tokens':%.",
                       ask->max_tokens > 0 ? ask->max_tokens : 1024);
    tcall_write_option_(w, ",'system':%t", ask->system);
    tcall_write_text(w, ",\"messages\":[");
    tcall_write_turns_(p, w, ask, tcall_anthropic_turns_);
    if (tcall_write_tools_(p, w, ask, ",'tools':[%.]",
                           "{'name':%t,'description':%.,'input_schema':%.}",
                           &left) &&
        (ask->choice != TCALL_CHOICE_AUTO || ask->no_parallel)) {
        rest = tcall_write_words_(w, tcall_nth_(choices, (int)ask->choice),
                                  ask->choice_name);
        if (*rest && ask->no_parallel)
            tcall_write_text(w, ",\"disable_parallel_tool_use\":true");
        tcall_write_text(w, rest);
    }
    return tcall_write_stream_(w, ask);
}

TCALL_PROVIDER_(anthropic, anthropic, "https://api.anthropic.com",
                "/v1/messages", NULL, "x-api-key", "", "anthropic-version",
                "2023-06-01", NULL, tcall_opaque, NULL, 0)
