#pragma once
#include "responses.h"
#include "answer_feed.c"

/* ==========================================================================
 * >>responses
 *
 * A stream says everything three times: in pieces, at their end, and in the
 * item; servers differ in which they fill, so the longest counts. The type of
 * an event says what its piece is of. Reasoning goes back as it came.
 */

/* The response of a stream's event is as the whole one; an item of it has no
 * content that counts. The phase of a text goes back with it. */
#define TCALL_RESPONSES_ROWS_(X, T)                                       \
    X(T, answer, type, EVENT, 0, none)                                    \
    X(T, answer, output_index, INDEX, 0, none)                            \
    X(T, answer, delta, DELTA, 0, none)                                   \
    X(T, answer, arguments, DELTA, 0, none)                               \
    X(T, answer, item, ELEMENT, 0, item_type)                             \
    X(T, answer, response, NONE, 0, answer_type)                          \
    X(T, answer, status, STOP, 0, none)                                   \
    X(T, answer, error, ERROR, 0, fault_message)                          \
    X(T, answer, incomplete_details, NONE, 0, details_reason)             \
    X(T, answer, output, WHOLE_ANSWER, TCALL_EACH(ELEMENT), item_content) \
    X(T, answer, usage, NONE, 0, usage_input_tokens)                      \
    X(T, answer, message, MESSAGE, 0, none)                               \
    X(T, answer, detail, MESSAGE, TCALL_ROW_TEXT, none)                   \
    X(T, answer, code, ERROR_CODE, TCALL_ROW_LAST, none)                  \
    X(T, item, content, NONE, TCALL_EACH(NONE), part_text)                \
    X(T, item, type, TYPE, 0, none)                                       \
    X(T, item, arguments, ALL_ARGUMENTS, 0, none)                         \
    X(T, item, call_id, ID, 0, none)                                      \
    X(T, item, name, NAME, 0, none)                                       \
    X(T, item, input, ALL_ARGUMENTS, 0, none)                             \
    X(T, item, phase, SIGNATURE, TCALL_ROW_LAST, none)                    \
    X(T, part, text, TEXT, 0, none)                                       \
    X(T, part, refusal, TEXT, TCALL_ROW_LAST, none)                       \
    X(T, details, reason, STOP_REASON, TCALL_ROW_LAST, none)              \
    X(T, usage, input_tokens, INPUT_TOKENS, 0, none)                      \
    X(T, usage, output_tokens, OUTPUT_TOKENS, TCALL_ROW_LAST, none)       \
    X(T, fault, message, MESSAGE, 0, none)                                \
    X(T, fault, code, ERROR_CODE, 0, none)                                \
    X(T, fault, type, ERROR_TYPE, TCALL_ROW_LAST, none)

TCALL_ROWS(tcall_responses_answer_, TCALL_RESPONSES_ROWS_)

/* The status of the answer, and the reason where it is incomplete. */
#define TCALL_RESPONSES_STOPS_(X)             \
    X("in_progress", TCALL_STOP_UNKNOWN)      \
    X("queued", TCALL_STOP_UNKNOWN)           \
    X("completed", TCALL_STOP_END)            \
    X("incomplete", TCALL_STOP_LENGTH)        \
    X("cancelled", TCALL_STOP_LENGTH)         \
    X("max_output_tokens", TCALL_STOP_LENGTH) \
    X("content_filter", TCALL_STOP_CONTENT_FILTER)

TCALL_WORDS(tcall_responses_stops_, TCALL_RESPONSES_STOPS_)

/* Types of items, and of the events of a stream, which never meet. What is not
 * here, as web searches, is no item of ours. */
#define TCALL_RESPONSES_TYPES_(X)                                         \
    X("function_call", TCALL_MEANS_CALL)                                  \
    X("custom_tool_call", TCALL_MEANS_CALL)                               \
    X("message", TCALL_MEANS_TEXT)                                        \
    X("reasoning", TCALL_MEANS_REASONING)                                 \
    X("computer_call", TCALL_MEANS_UNHANDLED)                             \
    X("shell_call", TCALL_MEANS_UNHANDLED)                                \
    X("local_shell_call", TCALL_MEANS_UNHANDLED)                          \
    X("apply_patch_call", TCALL_MEANS_UNHANDLED)                          \
    X("mcp_approval_request", TCALL_MEANS_UNHANDLED)                      \
    X("response.created", TCALL_MEANS_ANSWER_BEGINS)                      \
    X("response.in_progress", TCALL_MEANS_ANSWER_BEGINS)                  \
    X("response.output_item.added", TCALL_MEANS_ELEMENT_BEGINS)           \
    X("response.output_item.done", TCALL_MEANS_ELEMENT_ENDS)              \
    X("response.output_text.delta", TCALL_MEANS_TEXT)                     \
    X("response.refusal.delta", TCALL_MEANS_TEXT)                         \
    X("response.function_call_arguments.delta", TCALL_MEANS_ARGUMENTS)    \
    X("response.function_call_arguments.done", TCALL_MEANS_ALL_ARGUMENTS) \
    X("response.custom_tool_call_input.delta", TCALL_MEANS_ARGUMENTS)     \
    X("response.completed", TCALL_MEANS_ANSWER_ENDS)                      \
    X("response.incomplete", TCALL_MEANS_ANSWER_ENDS)                     \
    X("response.failed", TCALL_MEANS_ANSWER_ENDS)

TCALL_WORDS(tcall_responses_types_, TCALL_RESPONSES_TYPES_)

/* Every item is an element of its own; a reasoning is its own JSON text, id and
 * encrypted content included. */
static const char tcall_responses_forms_[] = TCALL_FORMS_(
    "{\"role\":\"user\",\"content\":\"%t\"}",
    "{\"role\":\"user\",\"content\":[{\"type\":\"input_image\",\"detail\":\"auto\","
    "\"image_url\":\"data:%y;base64,%b\"}]}",
    "{\"type\":\"message\",\"role\":\"assistant\"%<s,\"phase\":\"%s\"%>,\"content\":\"%t\"}",
    "{\"type\":\"function_call\",\"call_id\":\"%i\",\"name\":\"%n\",\"arguments\":\"%q\"}",
    "{\"type\":\"function_call_output\",\"call_id\":\"%i\",\"output\":\"%r\"}",
    "", "%j", "%j", "", "", "");

/* They are flat, where Chat Completions nests, and without a word they
 * would be strict. */
static const char tcall_responses_tool_[] =
    "{\"type\":\"function\",\"name\":\"%N\",\"description\":\"%T\","
    "\"parameters\":%J,\"strict\":%<Ftrue%>%<ffalse%>}";

/* Nothing is kept on the server: the reasoning has to come along. */
#define TCALL_RESPONSES_NAMED_ "{\"type\":\"function\",\"name\":\"%K\"}"
static const char tcall_responses_body_[] =
    "\"model\":\"%M\"%<S\"instructions\":\"%S\"%>,\"input\":[%I]"
    "%<L\"tools\":[%L]%>" TCALL_OPENAI_CHOICES_(
        TCALL_RESPONSES_NAMED_) "%<X\"max_output_tokens\":%X%>,\"store\":false"
                                "%<Y\"include\":[\"reasoning.encrypted_content\"]%>,\"stream\":%<Rtrue%>%<rfalse%>";

static const tcall_request_forms_ tcall_responses_request_ = {
    tcall_responses_body_, tcall_responses_forms_,
    tcall_no_messages_,    TCALL_ALL_SIDES_(TCALL_SIDE_USER_),
    tcall_responses_tool_, NULL};

TCALL_PROVIDER_(responses, responses, tcall_responses_request_,
                "https://api.openai.com", "/v1/responses", "", "Authorization",
                "Bearer ", "", "", TCALL_REASONING_ELEMENTS, "",
                TCALL_STRICT_OPENAI, TCALL_QUIRK_ORDERED, 0)
