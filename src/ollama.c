#pragma once
#include "ollama.h"
#include "answer_feed.c"

/* ==========================================================================
 * >>ollama
 *
 * Calls come whole, and their numbers mean nothing: each is a new one.
 */

#define TCALL_OLLAMA_ROWS_(X, T)                                          \
    X(T, answer, message, NONE, 0, message_content)                       \
    X(T, answer, done, EVENT, 0, none)                                    \
    X(T, answer, done_reason, STOP, 0, none)                              \
    X(T, answer, prompt_eval_count, INPUT_TOKENS, 0, none)                \
    X(T, answer, eval_count, OUTPUT_TOKENS, 0, none)                      \
    X(T, answer, error, ERROR, TCALL_ROW_LAST, fault_message)             \
    X(T, message, content, TEXT, 0, none)                                 \
    X(T, message, thinking, REASONING, 0, none)                           \
    X(T, message, tool_calls, NONE, TCALL_EACH(ELEMENT) | TCALL_ROW_LAST, \
      call_id)                                                            \
    X(T, call, id, ID, 0, none)                                           \
    X(T, call, function, NONE, TCALL_ROW_LAST, function_name)             \
    X(T, function, name, NAME, 0, none)                                   \
    X(T, function, arguments, ARGUMENTS, TCALL_ROW_TEXT | TCALL_ROW_LAST, \
      none)                                                               \
    X(T, fault, message, MESSAGE, TCALL_ROW_LAST, none)

TCALL_ROWS(tcall_ollama_answer_, TCALL_OLLAMA_ROWS_)

#define TCALL_OLLAMA_STOPS_(X) \
    X("stop", TCALL_STOP_END)  \
    X("length", TCALL_STOP_LENGTH)

TCALL_WORDS(tcall_ollama_stops_, TCALL_OLLAMA_STOPS_)

/* The event is the value of "done". */
#define TCALL_OLLAMA_TYPES_(X) X("true", TCALL_MEANS_ANSWER_ENDS)

TCALL_WORDS(tcall_ollama_types_, TCALL_OLLAMA_TYPES_)

/* Arguments are an object. Of a result, templates of models use the name, the
 * server itself the id. */
static const char tcall_ollama_forms_[] = TCALL_FORMS_(
    "{\"role\":\"user\",\"content\":\"%t\"}",
    "{\"role\":\"user\",\"content\":\"\",\"images\":[\"%b\"]}", "%t",
    "{\"id\":\"%i\",\"function\":{\"name\":\"%n\",\"arguments\":%a}}",
    "{\"role\":\"tool\",\"tool_name\":\"%n\",\"tool_call_id\":\"%i\",\"content\":\"%r\"}",
    "", "\"%G\":\"%t\"", "", "", "", "");

/* It streams unless it is told not to. */
static const char tcall_ollama_body_[] =
    "\"model\":\"%M\",\"messages\":["
    "%<S{\"role\":\"system\",\"content\":\"%S\"}%>%I]%<L\"tools\":[%L]%>"
    "%<B\"options\":{%<C\"num_ctx\":%C%>%<X\"num_predict\":%X%>}%>"
    ",\"stream\":%<Rtrue%>%<rfalse%>";

static const tcall_request_forms_ tcall_ollama_request_ = {
    tcall_ollama_body_,   tcall_ollama_forms_,
    tcall_messages_,      TCALL_MESSAGE_SIDES_(TCALL_SIDE_USER_),
    tcall_function_tool_, NULL};

TCALL_PROVIDER_(ollama, ollama, tcall_ollama_request_, "http://127.0.0.1:11434",
                "/api/chat", "", "Authorization", "Bearer ", "", "",
                TCALL_REASONING_TEXT, "thinking", TCALL_STRICT_OLLAMA,
                TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_SAY_CONTEXT |
                    TCALL_QUIRK_FREE_REASONING,
                0)
