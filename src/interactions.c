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

static const tcall_wire tcall_interactions_said_[] = {
    TCALL_WIRE("text", TCALL_FIELD_TEXT, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_interactions_said_each_ = {
    tcall_interactions_said_, "", 0, 0, 0};

static const tcall_wire tcall_interactions_thought_[] = {
    TCALL_WIRE("text", TCALL_FIELD_REASONING, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_interactions_thought_each_ = {
    tcall_interactions_thought_, "", 0, 0, 0};

/* A step, whole or as it begins. */
static const tcall_wire tcall_interactions_step_[] = {
    TCALL_WIRE("type", TCALL_FIELD_TYPE, 0, NULL),
    TCALL_WIRE("id", TCALL_FIELD_ID, 0, NULL),
    TCALL_WIRE("name", TCALL_FIELD_NAME, 0, NULL),
    TCALL_WIRE("arguments", TCALL_FIELD_ARGUMENTS, TCALL_WIRE_TEXT, NULL),
    TCALL_WIRE("signature", TCALL_FIELD_SIGNATURE, 0, NULL),
    TCALL_WIRE("content", 0, TCALL_WIRE_EACH, &tcall_interactions_said_each_),
    TCALL_WIRE("summary", 0, TCALL_WIRE_EACH | TCALL_WIRE_LAST,
               &tcall_interactions_thought_each_)};

static const tcall_wire tcall_interactions_step_each_ = {
    tcall_interactions_step_, "", 0, TCALL_FIELD_ELEMENT, 0};

/* The content is of a summary. */
static const tcall_wire tcall_interactions_delta_[] = {
    TCALL_WIRE("type", TCALL_FIELD_TYPE, 0, NULL),
    TCALL_WIRE("text", TCALL_FIELD_TEXT, 0, NULL),
    TCALL_WIRE("arguments", TCALL_FIELD_ARGUMENTS, 0, NULL),
    TCALL_WIRE("signature", TCALL_FIELD_SIGNATURE, 0, NULL),
    TCALL_WIRE("content", 0, TCALL_WIRE_LAST, tcall_interactions_thought_)};

static const tcall_wire tcall_interactions_usage_[] = {
    TCALL_WIRE("total_input_tokens", TCALL_FIELD_INPUT_TOKENS, 0, NULL),
    TCALL_WIRE("total_output_tokens", TCALL_FIELD_OUTPUT_TOKENS,
               TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_interactions_fault_[] = {
    TCALL_WIRE("message", TCALL_FIELD_MESSAGE, 0, NULL),
    TCALL_WIRE("code", TCALL_FIELD_ERROR_CODE, 0, NULL),
    TCALL_WIRE("status", TCALL_FIELD_ERROR_TYPE, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_interactions_one_fault_[] = {
    TCALL_WIRE("message", TCALL_FIELD_MESSAGE, 0, NULL),
    TCALL_WIRE("code", TCALL_FIELD_ERROR_CODE, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_interactions_fault_each_ = {
    tcall_interactions_one_fault_, "", 0, TCALL_FIELD_ERROR, 0};

/* The interaction of a stream's event is as the whole one. */
static const tcall_wire tcall_interactions_members_[] = {
    TCALL_WIRE("index", TCALL_FIELD_INDEX, 0, NULL),
    TCALL_WIRE("delta", TCALL_FIELD_ELEMENT, 0, tcall_interactions_delta_),
    TCALL_WIRE("event_type", TCALL_FIELD_EVENT, 0, NULL),
    TCALL_WIRE("step", TCALL_FIELD_ELEMENT, 0, tcall_interactions_step_),
    TCALL_WIRE("interaction", 0, 0, tcall_interactions_members_),
    TCALL_WIRE("status", TCALL_FIELD_STOP, 0, NULL),
    TCALL_WIRE("usage", 0, 0, tcall_interactions_usage_),
    TCALL_WIRE("steps", TCALL_FIELD_WHOLE_ANSWER, TCALL_WIRE_EACH,
               &tcall_interactions_step_each_),
    TCALL_WIRE("error", TCALL_FIELD_ERROR, 0, tcall_interactions_fault_),
    TCALL_WIRE("errors", 0, TCALL_WIRE_EACH | TCALL_WIRE_LAST,
               &tcall_interactions_fault_each_)};

static const tcall_wire tcall_interactions_answer_ = {
    tcall_interactions_members_, "", 0, 0, 0};

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
TCALL_FORMS_(
    tcall_interactions_forms_,
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
    "", "", "")

static const char tcall_interactions_tools_[] =
    "\"tools\":[\0{\"type\":\"function\"\0parameters\0}\0]\0";

/* {"tool_choice":"any","max_output_tokens":99}, where there is any of it. */
static void tcall_interactions_config_(tcall_writer *out,
                                       const tcall_chat_request *request,
                                       bool tools)
{
    static const char choices[] =
        "\0"
        "\"tool_choice\":\"none\"\0"
        "\"tool_choice\":\"any\"\0"
        "\"tool_choice\":{\"allowed_tools\":{\"mode\":\"any\",\"tools\":[\"%n\"]}}";
    bool chosen = tools && request->choice != TCALL_CHOICE_AUTO;
    if (tcall_is_extra_(request, "generation_config") ||
        (!chosen && request->max_tokens <= 0))
        return;
    tcall_write_form_(out, "\"generation_config\":{", NULL);
    if (chosen)
        tcall_write_named_(out, tcall_nth_(choices, request->choice),
                           request->choice_name);
    if (request->max_tokens > 0)
        tcall_write_limit_(out, "max_output_tokens", request->max_tokens);
    tcall_write_text(out, "}");
}

/* {"model":...,"system_instruction":"...","input":[...],"tools":[...]} */
static int tcall_interactions_write_(const tcall_provider *provider,
                                     tcall_writer *out,
                                     const tcall_chat_request *request)
{
    bool tools;
    tcall_write_open(out, '{');
    tcall_write_member_(out, "model", request->model);
    tcall_write_optional_(out, "system_instruction", request->system);
    tcall_write_form_(out, "\"input\":[", NULL);
    tcall_write_items_(provider, out, request, tcall_interactions_forms_);
    tcall_write_text(out, "]");
    tools =
        tcall_write_tools_(provider, out, request, tcall_interactions_tools_);
    tcall_interactions_config_(out, request, tools);
    tcall_write_flag_(out, "store", false);
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_body_end_(out, request);
}

static const char tcall_interactions_name_[] = "interactions";
static const char tcall_interactions_url_[] =
    "https://generativelanguage.googleapis.com";
static const char tcall_interactions_path_[] = "/v1beta/interactions";

TCALL_DATA_ const tcall_provider tcall_interactions = {
    tcall_interactions_name_,
    tcall_interactions_url_,
    tcall_interactions_path_,
    NULL,
    "x-goog-api-key",
    "",
    {"Api-Revision", "2026-05-20"},
    tcall_interactions_write_,
    &tcall_interactions_answer_,
    tcall_interactions_stops_,
    tcall_interactions_types_,
    TCALL_REASONING_DATA, /* words and signatures */
    TCALL_STRICT_NONE,
    TCALL_QUIRK_ORDERED,
    NULL,
    0};
