#pragma once
#include "openai.h"
#include "answer_feed.c"

/* ==========================================================================
 * >>openai
 */

/* Members have the order in which they mostly come. */
static const tcall_wire tcall_openai_usage_[] = {
    TCALL_WIRE("prompt_tokens", TCALL_FIELD_INPUT_TOKENS, 0, NULL),
    TCALL_WIRE("completion_tokens", TCALL_FIELD_OUTPUT_TOKENS, TCALL_WIRE_LAST,
               NULL)};

static const tcall_wire tcall_openai_custom_[] = {
    TCALL_WIRE("name", TCALL_FIELD_NAME, 0, NULL),
    TCALL_WIRE("input", TCALL_FIELD_ARGUMENTS, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_openai_function_[] = {
    TCALL_WIRE("name", TCALL_FIELD_NAME, 0, NULL),
    TCALL_WIRE("arguments", TCALL_FIELD_ARGUMENTS,
               TCALL_WIRE_TEXT | TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_openai_google_[] = {TCALL_WIRE(
    "thought_signature", TCALL_FIELD_SIGNATURE, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_openai_extra_[] = {
    TCALL_WIRE("google", 0, TCALL_WIRE_LAST, tcall_openai_google_)};

static const tcall_wire tcall_openai_call_[] = {
    TCALL_WIRE("index", TCALL_FIELD_INDEX, 0, NULL),
    TCALL_WIRE("id", TCALL_FIELD_ID, 0, NULL),
    TCALL_WIRE("function", 0, 0, tcall_openai_function_),
    TCALL_WIRE("custom", 0, 0, tcall_openai_custom_),
    TCALL_WIRE("extra_content", 0, TCALL_WIRE_LAST, tcall_openai_extra_)};

static const tcall_wire tcall_openai_call_each_ = {tcall_openai_call_, "", 0,
                                                   TCALL_FIELD_ELEMENT, 0};

/* Mistral may send parts. */
static const tcall_wire tcall_openai_thought_[] = {
    TCALL_WIRE("text", TCALL_FIELD_REASONING, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_openai_thought_each_ = {tcall_openai_thought_, "",
                                                      0, 0, 0};

static const tcall_wire tcall_openai_part_[] = {
    TCALL_WIRE("text", TCALL_FIELD_TEXT, 0, NULL),
    TCALL_WIRE("thinking", 0, TCALL_WIRE_EACH | TCALL_WIRE_LAST,
               &tcall_openai_thought_each_)};

static const tcall_wire tcall_openai_part_each_ = {tcall_openai_part_, "", 0, 0,
                                                   0};

/* Before there were tools there was one call, of a function. */
static const tcall_wire tcall_openai_message_[] = {
    TCALL_WIRE("content", TCALL_FIELD_TEXT, TCALL_WIRE_EACH,
               &tcall_openai_part_each_),
    TCALL_WIRE("refusal", TCALL_FIELD_TEXT, 0, NULL),
    TCALL_WIRE("reasoning_content", TCALL_FIELD_REASONING, 0, NULL),
    TCALL_WIRE("reasoning", TCALL_FIELD_REASONING_TOO, 0, NULL),
    TCALL_WIRE("reasoning_details", TCALL_FIELD_REASONING_DATA, TCALL_WIRE_TEXT,
               NULL),
    TCALL_WIRE("tool_calls", 0, TCALL_WIRE_EACH, &tcall_openai_call_each_),
    TCALL_WIRE("function_call", TCALL_FIELD_ELEMENT, TCALL_WIRE_LAST,
               tcall_openai_function_)};

static const tcall_wire tcall_openai_fault_[] = {
    TCALL_WIRE("message", TCALL_FIELD_MESSAGE, 0, NULL),
    TCALL_WIRE("detail", TCALL_FIELD_MESSAGE, TCALL_WIRE_TEXT, NULL),
    TCALL_WIRE("code", TCALL_FIELD_ERROR_CODE, 0, NULL),
    TCALL_WIRE("type", TCALL_FIELD_ERROR_TYPE, 0, NULL),
    TCALL_WIRE("error", TCALL_FIELD_ERROR, TCALL_WIRE_LAST,
               tcall_openai_fault_)};

/* The native reason and an error within a choice are OpenRouter's. */
static const tcall_wire tcall_openai_choice_[] = {
    TCALL_WIRE("index", TCALL_FIELD_CHOICE_INDEX, 0, NULL),
    TCALL_WIRE("delta", TCALL_FIELD_PIECE, 0, tcall_openai_message_),
    TCALL_WIRE("message", TCALL_FIELD_WHOLE_ANSWER, 0, tcall_openai_message_),
    TCALL_WIRE("finish_reason", TCALL_FIELD_STOP, 0, NULL),
    TCALL_WIRE("native_finish_reason", TCALL_FIELD_STOP_REASON, 0, NULL),
    TCALL_WIRE("error", TCALL_FIELD_ERROR, TCALL_WIRE_LAST,
               tcall_openai_fault_)};

static const tcall_wire tcall_openai_choice_each_ = {tcall_openai_choice_, "",
                                                     0, TCALL_FIELD_CHOICE, 0};

static const tcall_wire tcall_openai_members_[] = {
    TCALL_WIRE("choices", 0, TCALL_WIRE_EACH, &tcall_openai_choice_each_),
    TCALL_WIRE("usage", 0, 0, tcall_openai_usage_),
    TCALL_WIRE("error", TCALL_FIELD_ERROR, 0, tcall_openai_fault_),
    TCALL_WIRE("message", TCALL_FIELD_MESSAGE, 0, NULL),
    TCALL_WIRE("detail", TCALL_FIELD_MESSAGE, TCALL_WIRE_TEXT, NULL),
    TCALL_WIRE("code", TCALL_FIELD_ERROR_CODE, 0, NULL),
    TCALL_WIRE("type", TCALL_FIELD_ERROR_TYPE, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_openai_answer_ = {tcall_openai_members_, "", 0, 0,
                                                0};

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
TCALL_FORMS_(
    tcall_openai_forms_, "{\"role\":\"user\",\"content\":\"%t\"}",
    "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":"
    "{\"url\":\"data:%y;base64,%b\"}}",
    "",
    "{\"id\":\"%i\",\"type\":\"function\",\"function\":{\"name\":\"%n\",\"arguments\":\"%q\"}"
    "%<s,\"extra_content\":{\"google\":{\"thought_signature\":\"%s\"}}%>}",
    "{\"role\":\"tool\",\"tool_call_id\":\"%i\",\"content\":\"%r\"}",
    "{\"role\":\"tool\",\"tool_call_id\":\"%i\",\"content\":\"%r\"}", "", "",
    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:%y;base64,%b\"}}",
    "{\"type\":\"text\",\"text\":\"%t\"}")

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
            "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"%n\"}}");
    tcall_write_max_tokens_(out, request,
                            short_name ? "max_tokens" : "max_completion_tokens",
                            request->max_tokens);
    if (request->stream && !(provider->quirks & TCALL_QUIRK_NO_USAGE))
        tcall_write_form_(out, "\"stream_options\":{\"include_usage\":true}",
                          NULL);
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_body_end_(out, request);
}

static int tcall_openai_write_(const tcall_provider *provider,
                               tcall_writer *out,
                               const tcall_chat_request *request)
{
    return tcall_openai_body_(provider, out, request, NULL);
}

static const char tcall_openai_name_[] = "openai";
static const char tcall_openai_url_[] = "https://api.openai.com";
static const char tcall_openai_path_[] = "/v1/chat/completions";

TCALL_DATA_ const tcall_provider tcall_openai = {tcall_openai_name_,
                                                 tcall_openai_url_,
                                                 tcall_openai_path_,
                                                 NULL,
                                                 "Authorization",
                                                 "Bearer ",
                                                 {NULL, NULL},
                                                 tcall_openai_write_,
                                                 &tcall_openai_answer_,
                                                 tcall_openai_stops_,
                                                 tcall_openai_types_,
                                                 TCALL_REASONING_NONE,
                                                 TCALL_STRICT_OPENAI,
                                                 TCALL_QUIRK_SHORT_IDS,
                                                 NULL,
                                                 0};
