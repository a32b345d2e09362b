#pragma once
#include "ollama.h"
#include "frames.c"

/* ==========================================================================
 * >>ollama
 *
 * Calls come whole, and their numbers mean nothing: each is a new one.
 */

#define TCALL_OLLAMA_PATHS_(X)                               \
    X(1, 0, 0, "message")                                    \
    X(2, TCALL_FIELD_TEXT, 0, "content")                     \
    X(2, TCALL_FIELD_REASONING, 0, "thinking")               \
    X(2, 0, 0, "tool_calls")                                 \
    X(3, TCALL_FIELD_ELEMENT, 0, "*")                        \
    X(4, TCALL_FIELD_ID, 0, "id")                            \
    X(4, 0, 0, "function")                                   \
    X(5, TCALL_FIELD_NAME, 0, "name")                        \
    X(5, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "arguments") \
    X(1, TCALL_FIELD_EVENT, 0, "done")                       \
    X(1, TCALL_FIELD_STOP, 0, "done_reason")                 \
    X(1, TCALL_FIELD_INPUT_TOKENS, 0, "prompt_eval_count")   \
    X(1, TCALL_FIELD_OUTPUT_TOKENS, 0, "eval_count")         \
    X(1, TCALL_FIELD_ERROR, 0, "error")                      \
    X(2, TCALL_FIELD_MESSAGE, 0, "message")

TCALL_PATHS(tcall_ollama_paths_, TCALL_OLLAMA_PATHS_)

static const tcall_word tcall_ollama_stops_[] = {
    {"stop", TCALL_STOP_END},
    {"length", TCALL_STOP_LENGTH},
    {NULL, 0},
};

/* The event is the value of "done". */
static const tcall_word tcall_ollama_types_[] = {
    {"true", TCALL_MEANS_ANSWER_ENDS},
    {NULL, 0},
};

/* Arguments are an object. Of a result, templates of models use the name, the
 * server itself the id. */
TCALL_FORMS_(tcall_ollama_forms_, "{'role':'user','content':%t}",
             "{'role':'user','content':'','images':['%b']}", "",
             "{'id':%i,'function':{'name':%n,'arguments':%a}}",
             "{'role':'tool','tool_name':%n,'tool_call_id':%i,'content':%r}",
             "{'role':'tool','tool_name':%n,'tool_call_id':%i,'content':%r}",
             "", "", "", "")

/* {"model":...,"messages":[...],"tools":[...],"options":{...},"stream":true} */
static int tcall_ollama_write_(const tcall_provider *provider,
                               tcall_writer *out,
                               const tcall_chat_request *request)
{
    tcall_write_open(out, '{');
    tcall_write_member_(out, "model", request->model);
    tcall_write_messages_(provider, out, request, tcall_ollama_forms_, NULL);
    tcall_write_tools_(provider, out, request, tcall_function_tools_);
    if ((request->max_tokens > 0 || request->context > 0) &&
        !tcall_is_extra_(request, "options")) {
        tcall_write_form_(out, "'options':{", NULL);
        tcall_write_limit_(out, "num_ctx", request->context);
        tcall_write_limit_(out, "num_predict", request->max_tokens);
        tcall_write_text(out, "}");
    }
    /* It streams unless it is told not to. */
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_body_end_(out, request);
}

TCALL_DATA_ const tcall_provider tcall_ollama = {"ollama",
                                                 "http://127.0.0.1:11434",
                                                 "/api/chat",
                                                 NULL,
                                                 "Authorization",
                                                 "Bearer ",
                                                 {NULL, NULL},
                                                 tcall_ollama_write_,
                                                 &tcall_ollama_paths_,
                                                 tcall_ollama_stops_,
                                                 tcall_ollama_types_,
                                                 TCALL_REASONING_TEXT,
                                                 TCALL_STRICT_OLLAMA,
                                                 TCALL_QUIRK_WEAK_CHOICE |
                                                     TCALL_QUIRK_SAY_CONTEXT |
                                                     TCALL_QUIRK_FREE_REASONING,
                                                 "thinking",
                                                 0};
