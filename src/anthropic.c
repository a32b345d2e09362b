#pragma once
#include "anthropic.h"
#include "answer_feed.c"

/* ==========================================================================
 * >>anthropic
 *
 * An event of a stream is itself the element of a call: index and type may
 * stand before it or after it.
 */

/* Redacted thinking is data. */
#define TCALL_ANTHROPIC_ROWS_(X, T)                                      \
    X(T, answer, type, EVENT, 0, none)                                   \
    X(T, answer, index, INDEX, 0, none)                                  \
    X(T, answer, delta, ELEMENT, 0, delta_partial_json)                  \
    X(T, answer, content_block, ELEMENT, 0, block_type)                  \
    X(T, answer, message, NONE, 0, answer_usage)                         \
    X(T, answer, content, WHOLE_ANSWER, TCALL_EACH(ELEMENT), block_type) \
    X(T, answer, stop_reason, STOP, 0, none)                             \
    X(T, answer, error, ERROR, 0, fault_type)                            \
    X(T, answer, usage, NONE, TCALL_ROW_LAST, usage_input_tokens)        \
    X(T, delta, partial_json, ARGUMENTS, 0, none)                        \
    X(T, delta, text, TEXT, 0, none)                                     \
    X(T, delta, thinking, REASONING, 0, none)                            \
    X(T, delta, signature, SIGNATURE, 0, none)                           \
    X(T, delta, stop_reason, STOP, TCALL_ROW_LAST, none)                 \
    X(T, block, type, TYPE, 0, none)                                     \
    X(T, block, id, ID, 0, none)                                         \
    X(T, block, name, NAME, 0, none)                                     \
    X(T, block, input, ARGUMENTS, TCALL_ROW_TEXT, none)                  \
    X(T, block, text, TEXT, 0, none)                                     \
    X(T, block, thinking, REASONING, 0, none)                            \
    X(T, block, data, REASONING_DATA, 0, none)                           \
    X(T, block, signature, SIGNATURE, TCALL_ROW_LAST, none)              \
    X(T, usage, input_tokens, INPUT_TOKENS, 0, none)                     \
    X(T, usage, output_tokens, OUTPUT_TOKENS, TCALL_ROW_LAST, none)      \
    X(T, fault, type, ERROR_TYPE, 0, none)                               \
    X(T, fault, message, MESSAGE, TCALL_ROW_LAST, none)

TCALL_ROWS(tcall_anthropic_answer_, TCALL_ANTHROPIC_ROWS_)

/* "pause_turn" is no reason of ours: it is of tools that Anthropic runs, which
 * want to be called again. */
#define TCALL_ANTHROPIC_STOPS_(X)                         \
    X("end_turn", TCALL_STOP_END)                         \
    X("stop_sequence", TCALL_STOP_END)                    \
    X("tool_use", TCALL_STOP_TOOL_CALLS)                  \
    X("max_tokens", TCALL_STOP_LENGTH)                    \
    X("model_context_window_exceeded", TCALL_STOP_LENGTH) \
    X("refusal", TCALL_STOP_CONTENT_FILTER)

TCALL_WORDS(tcall_anthropic_stops_, TCALL_ANTHROPIC_STOPS_)

/* Of blocks, and the events that begin and end a stream. */
#define TCALL_ANTHROPIC_TYPES_(X)              \
    X("message_start", TCALL_MEANS_RESTART)    \
    X("message_stop", TCALL_MEANS_ANSWER_ENDS) \
    X("tool_use", TCALL_MEANS_CALL)            \
    X("text", TCALL_MEANS_TEXT)                \
    X("thinking", TCALL_MEANS_REASONING)       \
    X("redacted_thinking", TCALL_MEANS_REASONING)

TCALL_WORDS(tcall_anthropic_types_, TCALL_ANTHROPIC_TYPES_)

/* Reasoning that was encrypted is "redacted". Either goes back to the byte, or
 * the signature does not fit. */
static const char tcall_anthropic_forms_[] = TCALL_FORMS_(
    "{\"type\":\"text\",\"text\":\"%t\"}",
    "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"%y\","
    "\"data\":\"%b\"}}",
    "{\"type\":\"text\",\"text\":\"%t\"}",
    "{\"type\":\"tool_use\",\"id\":\"%i\",\"name\":\"%n\",\"input\":%a}",
    "{\"type\":\"tool_result\",\"tool_use_id\":\"%i\",\"content\":\"%t\"}",
    "{\"type\":\"tool_result\",\"tool_use_id\":\"%i\",\"content\":\"%t\",\"is_error\":true}",
    "{\"type\":\"thinking\",\"thinking\":\"%t\",\"signature\":\"%s\"}",
    "{\"type\":\"redacted_thinking\",\"data\":\"%t\"}", "", "", "");

static const char tcall_anthropic_messages_[] =
    TCALL_MESSAGES_("{\"role\":\"assistant\",\"content\":[",
                    "{\"role\":\"user\",\"content\":[");

static const char tcall_anthropic_tool_[] =
    "{\"name\":\"%N\",\"description\":\"%T\",\"input_schema\":%J"
    "%<F,\"strict\":true%>}";

/* The one format in which a limit must be given, and thinking counts; the
 * system prompt is no message. That there may be only one call is said in the
 * choice, for which "none" has no room. */
#define TCALL_ANTHROPIC_ONE_ ",\"disable_parallel_tool_use\":true"
static const char tcall_anthropic_body_[] =
    "\"model\":\"%M\"%<X\"max_tokens\":%X%>%<x\"max_tokens\":8192%>"
    "%<Z\"cache_control\":{\"type\":\"ephemeral\"}%>%<S\"system\":\"%S\"%>"
    ",\"messages\":[%I]%<L\"tools\":[%L]%>"
    "%<0%<P\"tool_choice\":{\"type\":\"auto\"" TCALL_ANTHROPIC_ONE_ "}%>%>"
    "%<1\"tool_choice\":{\"type\":\"none\"}%>"
    "%<2\"tool_choice\":{\"type\":\"any\"%<P" TCALL_ANTHROPIC_ONE_ "%>}%>"
    "%<3\"tool_choice\":{\"type\":\"tool\",\"name\":\"%K\""
    "%<P" TCALL_ANTHROPIC_ONE_ "%>}%>"
    ",\"stream\":%<Rtrue%>%<rfalse%>";

static const tcall_request_forms_ tcall_anthropic_request_ = {
    tcall_anthropic_body_,     tcall_anthropic_forms_,
    tcall_anthropic_messages_, TCALL_ALL_SIDES_(TCALL_SIDE_USER_),
    tcall_anthropic_tool_,     NULL};

TCALL_PROVIDER_(anthropic, anthropic, tcall_anthropic_request_,
                "https://api.anthropic.com", "/v1/messages", "", "x-api-key",
                "", "anthropic-version", "2023-06-01",
                TCALL_REASONING_DATA, /* as thinking and redacted_thinking */
                "", TCALL_STRICT_ANTHROPIC,
                TCALL_QUIRK_PLAIN_IDS | TCALL_QUIRK_BOUND_REASONING |
                    TCALL_QUIRK_ORDERED | TCALL_QUIRK_NO_FORCE,
                0)
