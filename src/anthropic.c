#pragma once
#include "anthropic.h"
#include "answer_feed.c"

/* ==========================================================================
 * >>anthropic
 *
 * An event of a stream is itself the element of a call: index and type may
 * stand before it or after it.
 */

static const tcall_wire tcall_anthropic_usage_[] = {
    TCALL_WIRE("input_tokens", TCALL_FIELD_INPUT_TOKENS, 0, NULL),
    TCALL_WIRE("output_tokens", TCALL_FIELD_OUTPUT_TOKENS, TCALL_WIRE_LAST,
               NULL)};

static const tcall_wire tcall_anthropic_message_[] = {
    TCALL_WIRE("usage", 0, TCALL_WIRE_LAST, tcall_anthropic_usage_)};

static const tcall_wire tcall_anthropic_fault_[] = {
    TCALL_WIRE("type", TCALL_FIELD_ERROR_TYPE, 0, NULL),
    TCALL_WIRE("message", TCALL_FIELD_MESSAGE, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_anthropic_delta_[] = {
    TCALL_WIRE("partial_json", TCALL_FIELD_ARGUMENTS, 0, NULL),
    TCALL_WIRE("text", TCALL_FIELD_TEXT, 0, NULL),
    TCALL_WIRE("thinking", TCALL_FIELD_REASONING, 0, NULL),
    TCALL_WIRE("signature", TCALL_FIELD_SIGNATURE, 0, NULL),
    TCALL_WIRE("stop_reason", TCALL_FIELD_STOP, TCALL_WIRE_LAST, NULL)};

/* Redacted thinking is data. */
static const tcall_wire tcall_anthropic_block_[] = {
    TCALL_WIRE("type", TCALL_FIELD_TYPE, 0, NULL),
    TCALL_WIRE("id", TCALL_FIELD_ID, 0, NULL),
    TCALL_WIRE("name", TCALL_FIELD_NAME, 0, NULL),
    TCALL_WIRE("input", TCALL_FIELD_ARGUMENTS, TCALL_WIRE_TEXT, NULL),
    TCALL_WIRE("text", TCALL_FIELD_TEXT, 0, NULL),
    TCALL_WIRE("thinking", TCALL_FIELD_REASONING, 0, NULL),
    TCALL_WIRE("data", TCALL_FIELD_REASONING_DATA, 0, NULL),
    TCALL_WIRE("signature", TCALL_FIELD_SIGNATURE, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_anthropic_block_each_ = {
    tcall_anthropic_block_, "", 0, TCALL_FIELD_ELEMENT, 0};

static const tcall_wire tcall_anthropic_members_[] = {
    TCALL_WIRE("type", TCALL_FIELD_EVENT, 0, NULL),
    TCALL_WIRE("index", TCALL_FIELD_INDEX, 0, NULL),
    TCALL_WIRE("delta", TCALL_FIELD_ELEMENT, 0, tcall_anthropic_delta_),
    TCALL_WIRE("content_block", TCALL_FIELD_ELEMENT, 0, tcall_anthropic_block_),
    TCALL_WIRE("message", 0, 0, tcall_anthropic_message_),
    TCALL_WIRE("content", TCALL_FIELD_WHOLE_ANSWER, TCALL_WIRE_EACH,
               &tcall_anthropic_block_each_),
    TCALL_WIRE("stop_reason", TCALL_FIELD_STOP, 0, NULL),
    TCALL_WIRE("usage", 0, 0, tcall_anthropic_usage_),
    TCALL_WIRE("error", TCALL_FIELD_ERROR, TCALL_WIRE_LAST,
               tcall_anthropic_fault_)};

static const tcall_wire tcall_anthropic_answer_ = {tcall_anthropic_members_, "",
                                                   0, 0, 0};

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
TCALL_FORMS_(
    tcall_anthropic_forms_, "{\"type\":\"text\",\"text\":\"%t\"}",
    "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"%y\","
    "\"data\":\"%b\"}}",
    "{\"type\":\"text\",\"text\":\"%t\"}",
    "{\"type\":\"tool_use\",\"id\":\"%i\",\"name\":\"%n\",\"input\":%a}",
    "{\"type\":\"tool_result\",\"tool_use_id\":\"%i\",\"content\":\"%t\"}",
    "{\"type\":\"tool_result\",\"tool_use_id\":\"%i\",\"content\":\"%t\",\"is_error\":true}",
    "{\"type\":\"thinking\",\"thinking\":\"%t\",\"signature\":\"%s\"}",
    "{\"type\":\"redacted_thinking\",\"data\":\"%t\"}", "", "")

static const char tcall_anthropic_roles_[] =
    "{\"role\":\"assistant\",\"content\":[\0"
    "{\"role\":\"user\",\"content\":[";

static const char tcall_anthropic_tools_[] =
    "\"tools\":[\0{\0input_schema\0}\0]\0";

/* {"type":"tool","name":"f","disable_parallel_tool_use":true}: that there may
 * be only one call is said in the choice, for which "none" has no room. */
static void tcall_anthropic_choice_(const tcall_provider *provider,
                                    tcall_writer *out,
                                    const tcall_chat_request *request)
{
    static const char forms[] =
        "\"tool_choice\":{\"type\":\"auto\"\0"
        "\"tool_choice\":{\"type\":\"none\"\0"
        "\"tool_choice\":{\"type\":\"any\"\0"
        "\"tool_choice\":{\"type\":\"tool\",\"name\":\"%n\"";
    tcall_choice choice = request->choice;
    if (choice > TCALL_CHOICE_NONE && provider->quirks & TCALL_QUIRK_NO_FORCE)
        choice = TCALL_CHOICE_AUTO;
    if (choice == TCALL_CHOICE_AUTO && !request->no_parallel)
        return;
    tcall_write_named_(out, tcall_nth_(forms, choice), request->choice_name);
    if (request->no_parallel && choice != TCALL_CHOICE_NONE)
        tcall_write_flag_(out, "disable_parallel_tool_use", true);
    tcall_write_text(out, "}");
}

/* {"model":...,"max_tokens":...,"system":"...","messages":[...],"tools":[...]};
 * the system prompt is no message. */
static int tcall_anthropic_write_(const tcall_provider *provider,
                                  tcall_writer *out,
                                  const tcall_chat_request *request)
{
    tcall_write_open(out, '{');
    tcall_write_member_(out, "model", request->model);
    /* The one format in which a limit must be given, and thinking counts. */
    tcall_write_max_tokens_(out, request, "max_tokens",
                            request->max_tokens > 0 ? request->max_tokens
                                                    : 8192);
    if (request->cache_prompt && !tcall_is_extra_(request, "cache_control"))
        tcall_write_form_(out, "\"cache_control\":{\"type\":\"ephemeral\"}",
                          NULL);
    tcall_write_optional_(out, "system", request->system);
    tcall_write_form_(out, "\"messages\":[", NULL);
    tcall_write_turns_(provider, out, request, tcall_anthropic_forms_,
                       tcall_anthropic_roles_);
    tcall_write_text(out, "]");
    if (tcall_write_tools_(provider, out, request, tcall_anthropic_tools_))
        tcall_anthropic_choice_(provider, out, request);
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_body_end_(out, request);
}

static const char tcall_anthropic_name_[] = "anthropic";
static const char tcall_anthropic_url_[] = "https://api.anthropic.com";
static const char tcall_anthropic_path_[] = "/v1/messages";

TCALL_DATA_ const tcall_provider tcall_anthropic = {
    tcall_anthropic_name_,
    tcall_anthropic_url_,
    tcall_anthropic_path_,
    NULL,
    "x-api-key",
    "",
    {"anthropic-version", "2023-06-01"},
    tcall_anthropic_write_,
    &tcall_anthropic_answer_,
    tcall_anthropic_stops_,
    tcall_anthropic_types_,
    TCALL_REASONING_DATA, /* as thinking and redacted_thinking */
    TCALL_STRICT_ANTHROPIC,
    TCALL_QUIRK_PLAIN_IDS | TCALL_QUIRK_BOUND_REASONING | TCALL_QUIRK_ORDERED |
        TCALL_QUIRK_NO_FORCE,
    NULL,
    0};
