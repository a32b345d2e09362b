#pragma once
#include "interactions.h"
#include "answer_feed.c"

/* ==========================================================================
 * >>interactions
 *
 * All that is said is a flat list of steps. A stream begins a step, brings its
 * pieces and ends it, by its index; the interaction at the stream's end may
 * hold all steps again.
 */

/* The interaction of a stream's event is as the whole one, and a step as it
 * begins like a whole one. The content of a delta is of a summary. */
#define TCALL_INTERACTIONS_ROWS_(X, T)                                         \
    X(T, answer, index, INDEX, 0, none)                                        \
    X(T, answer, delta, ELEMENT, 0, delta_type)                                \
    X(T, answer, event_type, EVENT, 0, none)                                   \
    X(T, answer, step, ELEMENT, 0, step_type)                                  \
    X(T, answer, interaction, NONE, 0, answer_index)                           \
    X(T, answer, status, STOP, 0, none)                                        \
    X(T, answer, usage, NONE, 0, usage_total_input_tokens)                     \
    X(T, answer, steps, WHOLE_ANSWER, TCALL_EACH(ELEMENT), step_type)          \
    X(T, answer, error, ERROR, 0, fault_status)                                \
    X(T, answer, errors, NONE, TCALL_EACH(ERROR) | TCALL_ROW_LAST,             \
      fault_message)                                                           \
    X(T, delta, type, TYPE, 0, none)                                           \
    X(T, delta, text, TEXT, 0, none)                                           \
    X(T, delta, arguments, ARGUMENTS, 0, none)                                 \
    X(T, delta, signature, SIGNATURE, 0, none)                                 \
    X(T, delta, content, NONE, TCALL_ROW_LAST, thought_text)                   \
    X(T, step, type, TYPE, 0, none)                                            \
    X(T, step, id, ID, 0, none)                                                \
    X(T, step, name, NAME, 0, none)                                            \
    X(T, step, arguments, ARGUMENTS, TCALL_ROW_TEXT, none)                     \
    X(T, step, signature, SIGNATURE, 0, none)                                  \
    X(T, step, content, NONE, TCALL_EACH(NONE), said_text)                     \
    X(T, step, summary, NONE, TCALL_EACH(NONE) | TCALL_ROW_LAST, thought_text) \
    X(T, said, text, TEXT, TCALL_ROW_LAST, none)                               \
    X(T, thought, text, REASONING, TCALL_ROW_LAST, none)                       \
    X(T, usage, total_input_tokens, INPUT_TOKENS, 0, none)                     \
    X(T, usage, total_output_tokens, OUTPUT_TOKENS, TCALL_ROW_LAST, none)      \
    X(T, fault, status, ERROR_TYPE, 0, none)                                   \
    X(T, fault, message, MESSAGE, 0, none)                                     \
    X(T, fault, code, ERROR_CODE, TCALL_ROW_LAST, none)

TCALL_ROWS(tcall_interactions_answer_, TCALL_INTERACTIONS_ROWS_)

#define TCALL_INTERACTIONS_STOPS_(X)              \
    X("in_progress", TCALL_STOP_UNKNOWN)          \
    X("queued", TCALL_STOP_UNKNOWN)               \
    X("completed", TCALL_STOP_END)                \
    X("requires_action", TCALL_STOP_TOOL_CALLS)   \
    X("incomplete", TCALL_STOP_LENGTH)            \
    X("budget_exceeded", TCALL_STOP_LENGTH)       \
    X("requires_continuation", TCALL_STOP_LENGTH) \
    X("cancelled", TCALL_STOP_LENGTH)

TCALL_WORDS(tcall_interactions_stops_, TCALL_INTERACTIONS_STOPS_)

/* Of the events that begin and end a stream, of steps, and of pieces of them.
 * What is not here is done by Google itself. */
#define TCALL_INTERACTIONS_TYPES_(X)                    \
    X("interaction.created", TCALL_MEANS_ANSWER_BEGINS) \
    X("interaction.completed", TCALL_MEANS_ANSWER_ENDS) \
    X("function_call", TCALL_MEANS_CALL)                \
    X("model_output", TCALL_MEANS_TEXT)                 \
    X("thought", TCALL_MEANS_REASONING)                 \
    X("arguments_delta", TCALL_MEANS_CALL)              \
    X("text", TCALL_MEANS_TEXT)                         \
    X("thought_summary", TCALL_MEANS_REASONING)         \
    X("thought_signature", TCALL_MEANS_REASONING)

TCALL_WORDS(tcall_interactions_types_, TCALL_INTERACTIONS_TYPES_)

/* A thought is its signature; what it says of itself may be empty. */
static const char tcall_interactions_forms_[] = TCALL_FORMS_(
    "{\"type\":\"user_input\",\"content\":[{\"type\":\"text\",\"text\":\"%t\"}]}",
    "{\"type\":\"user_input\",\"content\":[{\"type\":\"image\",\"mime_type\":\"%y\","
    "\"data\":\"%b\"}]}",
    "{\"type\":\"model_output\",\"content\":[{\"type\":\"text\",\"text\":\"%t\"}]}",
    "{\"type\":\"function_call\",\"id\":\"%i\",\"name\":\"%n\",\"arguments\":%a}",
    "{\"type\":\"function_result\",\"call_id\":\"%i\",\"name\":\"%n\",\"result\":\"%t\"}",
    "{\"type\":\"function_result\",\"call_id\":\"%i\",\"name\":\"%n\",\"result\":\"%t\","
    "\"is_error\":true}",
    "{\"type\":\"thought\"%<s,\"signature\":\"%s\"%>"
    "%<t,\"summary\":[{\"type\":\"text\",\"text\":\"%t\"}]%>}",
    "", "", "", "");

static const char tcall_interactions_tool_[] =
    "{\"type\":\"function\",\"name\":\"%N\",\"description\":\"%T\","
    "\"parameters\":%J%<F,\"strict\":true%>}";

static const char tcall_interactions_body_[] =
    "\"model\":\"%M\"%<S\"system_instruction\":\"%S\"%>"
    ",\"input\":[%I]%<L\"tools\":[%L]%>%<W\"generation_config\":{"
    "%<1\"tool_choice\":\"none\"%>%<2\"tool_choice\":\"any\"%>"
    "%<3\"tool_choice\":{\"allowed_tools\":{\"mode\":\"any\",\"tools\":[\"%K\"]}}%>"
    "%<X\"max_output_tokens\":%X%>}%>,\"store\":false,\"stream\":%<Rtrue%>%<rfalse%>";

static const tcall_request_forms_ tcall_interactions_request_ = {
    tcall_interactions_body_, tcall_interactions_forms_,
    tcall_no_messages_,       TCALL_ALL_SIDES_(TCALL_SIDE_USER_),
    tcall_interactions_tool_, NULL};

TCALL_PROVIDER_(interactions, interactions, tcall_interactions_request_,
                "https://generativelanguage.googleapis.com",
                "/v1beta/interactions", "", "x-goog-api-key", "",
                "Api-Revision", "2026-05-20",
                TCALL_REASONING_DATA, /* words and signatures */
                "", TCALL_STRICT_NONE, TCALL_QUIRK_ORDERED, 0)
