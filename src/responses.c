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

static const tcall_wire tcall_responses_part_[] = {
    TCALL_WIRE("text", TCALL_FIELD_TEXT, 0, NULL),
    TCALL_WIRE("refusal", TCALL_FIELD_TEXT, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_responses_part_each_ = {tcall_responses_part_, "",
                                                      0, 0, 0};

/* The phase of a text goes back with it. */
static const tcall_wire tcall_responses_item_[] = {
    TCALL_WIRE("type", TCALL_FIELD_TYPE, 0, NULL),
    TCALL_WIRE("arguments", TCALL_FIELD_ALL_ARGUMENTS, 0, NULL),
    TCALL_WIRE("call_id", TCALL_FIELD_ID, 0, NULL),
    TCALL_WIRE("name", TCALL_FIELD_NAME, 0, NULL),
    TCALL_WIRE("input", TCALL_FIELD_ALL_ARGUMENTS, 0, NULL),
    TCALL_WIRE("phase", TCALL_FIELD_SIGNATURE, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_responses_whole_item_[] = {
    TCALL_WIRE("type", TCALL_FIELD_TYPE, 0, NULL),
    TCALL_WIRE("arguments", TCALL_FIELD_ALL_ARGUMENTS, 0, NULL),
    TCALL_WIRE("call_id", TCALL_FIELD_ID, 0, NULL),
    TCALL_WIRE("name", TCALL_FIELD_NAME, 0, NULL),
    TCALL_WIRE("input", TCALL_FIELD_ALL_ARGUMENTS, 0, NULL),
    TCALL_WIRE("content", 0, TCALL_WIRE_EACH, &tcall_responses_part_each_),
    TCALL_WIRE("phase", TCALL_FIELD_SIGNATURE, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_responses_item_each_ = {
    tcall_responses_whole_item_, "", 0, TCALL_FIELD_ELEMENT, TCALL_WIRE_KEPT};

static const tcall_wire tcall_responses_details_[] = {
    TCALL_WIRE("reason", TCALL_FIELD_STOP_REASON, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_responses_usage_[] = {
    TCALL_WIRE("input_tokens", TCALL_FIELD_INPUT_TOKENS, 0, NULL),
    TCALL_WIRE("output_tokens", TCALL_FIELD_OUTPUT_TOKENS, TCALL_WIRE_LAST,
               NULL)};

static const tcall_wire tcall_responses_fault_[] = {
    TCALL_WIRE("message", TCALL_FIELD_MESSAGE, 0, NULL),
    TCALL_WIRE("code", TCALL_FIELD_ERROR_CODE, 0, NULL),
    TCALL_WIRE("type", TCALL_FIELD_ERROR_TYPE, TCALL_WIRE_LAST, NULL)};

/* The response of a stream's event is as the whole one. */
static const tcall_wire tcall_responses_members_[] = {
    TCALL_WIRE("type", TCALL_FIELD_EVENT, 0, NULL),
    TCALL_WIRE("output_index", TCALL_FIELD_INDEX, 0, NULL),
    TCALL_WIRE("delta", TCALL_FIELD_DELTA, 0, NULL),
    TCALL_WIRE("arguments", TCALL_FIELD_DELTA, 0, NULL),
    TCALL_WIRE("item", TCALL_FIELD_ELEMENT, TCALL_WIRE_KEPT,
               tcall_responses_item_),
    TCALL_WIRE("response", 0, 0, tcall_responses_members_),
    TCALL_WIRE("status", TCALL_FIELD_STOP, 0, NULL),
    TCALL_WIRE("error", TCALL_FIELD_ERROR, 0, tcall_responses_fault_),
    TCALL_WIRE("incomplete_details", 0, 0, tcall_responses_details_),
    TCALL_WIRE("output", TCALL_FIELD_WHOLE_ANSWER, TCALL_WIRE_EACH,
               &tcall_responses_item_each_),
    TCALL_WIRE("usage", 0, 0, tcall_responses_usage_),
    TCALL_WIRE("message", TCALL_FIELD_MESSAGE, 0, NULL),
    TCALL_WIRE("detail", TCALL_FIELD_MESSAGE, TCALL_WIRE_TEXT, NULL),
    TCALL_WIRE("code", TCALL_FIELD_ERROR_CODE, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_responses_answer_ = {tcall_responses_members_, "",
                                                   0, 0, 0};

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
TCALL_FORMS_(
    tcall_responses_forms_, "{\"role\":\"user\",\"content\":\"%t\"}",
    "{\"role\":\"user\",\"content\":[{\"type\":\"input_image\",\"detail\":\"auto\","
    "\"image_url\":\"data:%y;base64,%b\"}]}",
    "{\"type\":\"message\",\"role\":\"assistant\"%<s,\"phase\":\"%s\"%>,\"content\":\"%t\"}",
    "{\"type\":\"function_call\",\"call_id\":\"%i\",\"name\":\"%n\",\"arguments\":\"%q\"}",
    "{\"type\":\"function_call_output\",\"call_id\":\"%i\",\"output\":\"%r\"}",
    "{\"type\":\"function_call_output\",\"call_id\":\"%i\",\"output\":\"%r\"}",
    "%j", "%j", "", "")

/* They are flat, where Chat Completions nests, and without a word they would be
 * strict. */
static const char tcall_responses_tools_[] =
    "\"tools\":[\0{\"type\":\"function\"\0parameters\0}\0]\0+";

/* {"model":...,"instructions":"...","input":[...],"tools":[...],"store":false}
 */
static int tcall_responses_write_(const tcall_provider *provider,
                                  tcall_writer *out,
                                  const tcall_chat_request *request)
{
    tcall_write_open(out, '{');
    tcall_write_member_(out, "model", request->model);
    tcall_write_optional_(out, "instructions", request->system);
    tcall_write_form_(out, "\"input\":[", NULL);
    tcall_write_items_(provider, out, request, tcall_responses_forms_);
    tcall_write_text(out, "]");
    if (tcall_write_tools_(provider, out, request, tcall_responses_tools_))
        tcall_write_choice_(
            provider, out, request,
            "\"tool_choice\":{\"type\":\"function\",\"name\":\"%n\"}");
    tcall_write_max_tokens_(out, request, "max_output_tokens",
                            request->max_tokens);
    /* Nothing is kept on the server: the reasoning has to come along. */
    tcall_write_flag_(out, "store", false);
    if (provider->quirks & TCALL_QUIRK_ASK_REASONING &&
        !tcall_is_extra_(request, "include"))
        tcall_write_form_(out, "\"include\":[\"reasoning.encrypted_content\"]",
                          NULL);
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_body_end_(out, request);
}

static const char tcall_responses_name_[] = "responses";
static const char tcall_responses_url_[] = "https://api.openai.com";
static const char tcall_responses_path_[] = "/v1/responses";

TCALL_DATA_ const tcall_provider tcall_responses = {tcall_responses_name_,
                                                    tcall_responses_url_,
                                                    tcall_responses_path_,
                                                    NULL,
                                                    "Authorization",
                                                    "Bearer ",
                                                    {NULL, NULL},
                                                    tcall_responses_write_,
                                                    &tcall_responses_answer_,
                                                    tcall_responses_stops_,
                                                    tcall_responses_types_,
                                                    TCALL_REASONING_ELEMENTS,
                                                    TCALL_STRICT_OPENAI,
                                                    TCALL_QUIRK_ORDERED,
                                                    NULL,
                                                    0};
