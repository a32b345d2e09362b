#pragma once
#include "openai.h"
#include "frames.c"

/* ==========================================================================
 * >>openai
 */

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
    X(3, TCALL_FIELD_PIECE, TCALL_PATH_ALIAS_NEXT, "delta")               \
    X(3, TCALL_FIELD_WHOLE_ANSWER, TCALL_PATH_LAST, "message")            \
    X(4, TCALL_FIELD_ELEMENT, 0,                                          \
      "function_call") /* before there were tools */                      \
    X(5, TCALL_FIELD_NAME, 0, "name")                                     \
    X(5, TCALL_FIELD_ARGUMENTS, 0, "arguments")                           \
    X(4, TCALL_FIELD_REASONING, 0, "reasoning_content")                   \
    X(4, TCALL_FIELD_REASONING_TOO, 0, "reasoning")                       \
    X(4, TCALL_FIELD_REASONING_DATA, TCALL_PATH_RAW, "reasoning_details") \
    X(4, TCALL_FIELD_TEXT, 0, "refusal")                                  \
    X(4, TCALL_FIELD_TEXT, 0, "content")                                  \
    X(5, 0, 0, "*") /* Mistral may send parts */                          \
    X(6, TCALL_FIELD_TEXT, 0, "text")                                     \
    X(6, 0, 0, "thinking")                                                \
    X(7, 0, 0, "*")                                                       \
    X(8, TCALL_FIELD_REASONING, 0, "text")                                \
    X(4, 0, TCALL_PATH_LAST, "tool_calls")                                \
    X(5, TCALL_FIELD_ELEMENT, 0, "*")                                     \
    X(6, TCALL_FIELD_INDEX, 0, "index")                                   \
    X(6, TCALL_FIELD_ID, 0, "id")                                         \
    X(6, 0, 0, "extra_content")                                           \
    X(7, 0, 0, "google")                                                  \
    X(8, TCALL_FIELD_SIGNATURE, 0, "thought_signature")                   \
    X(6, 0, 0, "custom")                                                  \
    X(7, TCALL_FIELD_NAME, 0, "name")                                     \
    X(7, TCALL_FIELD_ARGUMENTS, 0, "input")                               \
    X(6, 0, TCALL_PATH_LAST, "function")                                  \
    X(7, TCALL_FIELD_NAME, 0, "name")                                     \
    X(7, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "arguments")

TCALL_PATHS(tcall_openai_paths_, TCALL_OPENAI_PATHS_)

/* Servers that speak this format have words of their own; "error" is said by
 * OpenRouter where the model's provider failed in the middle of an answer. */
static const tcall_word tcall_openai_stops_[] = {
    {"stop", TCALL_STOP_END},
    {"eos", TCALL_STOP_END},
    {"end_turn", TCALL_STOP_END},
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

/* Arguments are a string. There is no flag for an error, the text says it. Only
 * calls of Gemini have a signature. */
TCALL_FORMS_(tcall_openai_forms_, "{'role':'user','content':%t}",
             "{'role':'user','content':[{'type':'image_url','image_url':"
             "{'url':'data:%y;base64,%b'}}",
             "",
             "{'id':%i,'type':'function','function':{'name':%n,'arguments':%q}"
             "<,'extra_content':{'google':{'thought_signature':%s}}>}",
             "{'role':'tool','tool_call_id':%i,'content':%r}",
             "{'role':'tool','tool_call_id':%i,'content':%r}", "", "",
             "{'type':'image_url','image_url':{'url':'data:%y;base64,%b'}}",
             "{'type':'text','text':%t}")

/* {"model":...,"messages":[...],"tools":[...],"stream":true}. Usage is reported
 * in a stream only when it is asked for. */
TCALL_SHARED_ int tcall_openai_body_(const tcall_provider *provider,
                                     tcall_writer *out,
                                     const tcall_chat_request *request,
                                     const tcall_server_ *server)
{
    bool short_name = (provider->quirks & TCALL_QUIRK_MAX_TOKENS) != 0;
    tcall_write_open(out, '{');
    tcall_write_member_(out, "model", request->model);
    tcall_write_messages_(provider, out, request, tcall_openai_forms_, server);
    if (tcall_write_tools_(provider, out, request, tcall_function_tools_))
        tcall_write_choice_(
            provider, out, request,
            "'tool_choice':{'type':'function','function':{'name':%n}}");
    tcall_write_max_tokens_(out, request,
                            short_name ? "max_tokens" : "max_completion_tokens",
                            request->max_tokens);
    if (request->stream && !(provider->quirks & TCALL_QUIRK_NO_USAGE))
        tcall_write_form_(out, "'stream_options':{'include_usage':true}", NULL);
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_body_end_(out, request);
}

static int tcall_openai_write_(const tcall_provider *provider,
                               tcall_writer *out,
                               const tcall_chat_request *request)
{
    return tcall_openai_body_(provider, out, request, NULL);
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
                                                 TCALL_QUIRK_SHORT_IDS,
                                                 NULL,
                                                 0};
