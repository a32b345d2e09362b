#pragma once
#include "openai.h"
#include "answer_feed.c"

/* ==========================================================================
 * >>openai
 */

/* Mistral may send parts. Before there were tools there was one call, of a
 * function. The native reason and an error within a choice are OpenRouter's. */
#define TCALL_OPENAI_ROWS_(X, T)                                           \
    X(T, answer, choices, NONE, TCALL_EACH(CHOICE), choice_index)          \
    X(T, answer, usage, NONE, 0, usage_prompt_tokens)                      \
    X(T, answer, message, MESSAGE, 0, none)                                \
    X(T, answer, detail, MESSAGE, TCALL_ROW_TEXT, none)                    \
    X(T, answer, code, ERROR_CODE, 0, none)                                \
    X(T, answer, type, ERROR_TYPE, 0, none)                                \
    X(T, answer, error, ERROR, TCALL_ROW_LAST, answer_message)             \
    X(T, choice, index, CHOICE_INDEX, 0, none)                             \
    X(T, choice, delta, PIECE, 0, message_content)                         \
    X(T, choice, message, WHOLE_ANSWER, 0, message_content)                \
    X(T, choice, finish_reason, STOP, 0, none)                             \
    X(T, choice, native_finish_reason, STOP_REASON, 0, none)               \
    X(T, choice, error, ERROR, TCALL_ROW_LAST, answer_message)             \
    X(T, message, content, TEXT, TCALL_EACH(NONE), part_text)              \
    X(T, message, refusal, TEXT, 0, none)                                  \
    X(T, message, reasoning_content, REASONING, 0, none)                   \
    X(T, message, reasoning, REASONING_TOO, 0, none)                       \
    X(T, message, reasoning_details, REASONING_DATA, TCALL_ROW_TEXT, none) \
    X(T, message, tool_calls, NONE, TCALL_EACH(ELEMENT), call_index)       \
    X(T, message, function_call, ELEMENT, TCALL_ROW_LAST, function_name)   \
    X(T, part, text, TEXT, 0, none)                                        \
    X(T, part, thinking, NONE, TCALL_EACH(NONE) | TCALL_ROW_LAST,          \
      thought_text)                                                        \
    X(T, thought, text, REASONING, TCALL_ROW_LAST, none)                   \
    X(T, call, index, INDEX, 0, none)                                      \
    X(T, call, id, ID, 0, none)                                            \
    X(T, call, function, NONE, 0, function_name)                           \
    X(T, call, custom, NONE, 0, custom_name)                               \
    X(T, call, extra_content, NONE, TCALL_ROW_LAST, extra_google)          \
    X(T, function, name, NAME, 0, none)                                    \
    X(T, function, arguments, ARGUMENTS, TCALL_ROW_TEXT | TCALL_ROW_LAST,  \
      none)                                                                \
    X(T, custom, name, NAME, 0, none)                                      \
    X(T, custom, input, ARGUMENTS, TCALL_ROW_LAST, none)                   \
    X(T, extra, google, NONE, TCALL_ROW_LAST, google_thought_signature)    \
    X(T, google, thought_signature, SIGNATURE, TCALL_ROW_LAST, none)       \
    X(T, usage, prompt_tokens, INPUT_TOKENS, 0, none)                      \
    X(T, usage, completion_tokens, OUTPUT_TOKENS, TCALL_ROW_LAST, none)

TCALL_ROWS(tcall_openai_answer_, TCALL_OPENAI_ROWS_)

/* Servers that speak this format have words of their own; "error" is said by
 * OpenRouter where the model's provider failed in the middle of an answer. */
#define TCALL_OPENAI_STOPS_(X)                           \
    X("stop", TCALL_STOP_END)                            \
    X("eos", TCALL_STOP_END)                             \
    X("end_turn", TCALL_STOP_END)                        \
    X("tool_calls", TCALL_STOP_TOOL_CALLS)               \
    X("function_call", TCALL_STOP_TOOL_CALLS)            \
    X("length", TCALL_STOP_LENGTH)                       \
    X("model_length", TCALL_STOP_LENGTH)                 \
    X("max_tokens", TCALL_STOP_LENGTH)                   \
    X("max_output_tokens", TCALL_STOP_LENGTH)            \
    X("MAX_TOKENS", TCALL_STOP_LENGTH)                   \
    X("insufficient_system_resource", TCALL_STOP_LENGTH) \
    X("error", TCALL_STOP_LENGTH)                        \
    X("content_filter", TCALL_STOP_CONTENT_FILTER)

TCALL_WORDS(tcall_openai_stops_, TCALL_OPENAI_STOPS_)

/* No element and no event has a type here. */
static const tcall_words tcall_openai_types_[] = {{"", NULL}};

/* Arguments are a string. There is no flag for an error, the text says it. Only
 * calls of Gemini have a signature. */
static const char tcall_openai_forms_[] = TCALL_FORMS_(
    "{\"role\":\"user\",\"content\":\"%t\"}",
    "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":"
    "{\"url\":\"data:%y;base64,%b\"}}",
    "%t",
    "{\"id\":\"%i\",\"type\":\"function\",\"function\":{\"name\":\"%n\",\"arguments\":\"%q\"}"
    "%<s,\"extra_content\":{\"google\":{\"thought_signature\":\"%s\"}}%>}",
    "{\"role\":\"tool\",\"tool_call_id\":\"%i\",\"content\":\"%r\"}", "",
    "\"%G\":\"%t\"", "",
    "{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"%t\"}]}",
    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:%y;base64,%b\"}}",
    "{\"type\":\"text\",\"text\":\"%t\"}");

/* Usage is reported in a stream only when it is asked for. */
#define TCALL_OPENAI_NAMED_ \
    "{\"type\":\"function\",\"function\":{\"name\":\"%K\"}}"
static const char tcall_openai_body_[] =
    "\"model\":\"%M\",\"messages\":["
    "%<S{\"role\":\"system\",\"content\":\"%S\"}%>%I]"
    "%<L\"tools\":[%L]%>"                      /* and the choice among them */
    TCALL_OPENAI_CHOICES_(TCALL_OPENAI_NAMED_) /* and the limit's two names */
    "%<X%<Q\"max_tokens\":%X%>%<q\"max_completion_tokens\":%X%>%>"
    "%<U\"stream_options\":{\"include_usage\":true}%>,\"stream\":%<Rtrue%>%<rfalse%>";

/* OpenAI's own has no reasoning that goes back. */
static const tcall_request_forms_ tcall_openai_request_ = {
    tcall_openai_body_,   tcall_openai_forms_,
    tcall_messages_,      TCALL_MESSAGE_SIDES_(TCALL_SIDE_SHOWN_),
    tcall_function_tool_, NULL};

TCALL_PROVIDER_(openai, openai, tcall_openai_request_, "https://api.openai.com",
                "/v1/chat/completions", "", "Authorization", "Bearer ", "", "",
                TCALL_REASONING_NONE, "", TCALL_STRICT_OPENAI,
                TCALL_QUIRK_SHORT_IDS, 0)
