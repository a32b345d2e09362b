#pragma once
#include "gemini.h"
#include "answer_feed.c"

/* ==========================================================================
 * >>gemini
 *
 * A call is a part of what the model says and comes whole. A part may bear a
 * signature, which has to go back with the same part. Results must be objects.
 */

static const tcall_wire tcall_gemini_call_[] = {
    TCALL_WIRE("id", TCALL_FIELD_ID, 0, NULL),
    TCALL_WIRE("name", TCALL_FIELD_NAME, 0, NULL),
    TCALL_WIRE("args", TCALL_FIELD_ARGUMENTS, TCALL_WIRE_TEXT, NULL),
    TCALL_WIRE("partialArgs", TCALL_FIELD_UNREAD, TCALL_WIRE_LAST,
               NULL)}; /* patches, never asked for */

/* Calls and their results that are of tools that Google runs do not count. */
static const tcall_wire tcall_gemini_part_[] = {
    TCALL_WIRE("text", TCALL_FIELD_TEXT, 0, NULL),
    TCALL_WIRE("thought", TCALL_FIELD_IGNORE, 0, NULL),
    TCALL_WIRE("functionCall", 0, 0, tcall_gemini_call_),
    TCALL_WIRE("thoughtSignature", TCALL_FIELD_SIGNATURE, 0, NULL),
    TCALL_WIRE("toolCall", TCALL_FIELD_IGNORE, 0, NULL),
    TCALL_WIRE("toolResponse", TCALL_FIELD_IGNORE, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_gemini_part_each_ = {tcall_gemini_part_, "", 0,
                                                   TCALL_FIELD_ELEMENT, 0};

static const tcall_wire tcall_gemini_content_[] = {TCALL_WIRE(
    "parts", 0, TCALL_WIRE_EACH | TCALL_WIRE_LAST, &tcall_gemini_part_each_)};

static const tcall_wire tcall_gemini_candidate_[] = {
    TCALL_WIRE("content", 0, 0, tcall_gemini_content_),
    TCALL_WIRE("finishReason", TCALL_FIELD_STOP, 0, NULL),
    TCALL_WIRE("index", TCALL_FIELD_CHOICE_INDEX, 0, NULL),
    TCALL_WIRE("finishMessage", TCALL_FIELD_MESSAGE, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_gemini_candidate_each_ = {
    tcall_gemini_candidate_, "", 0, TCALL_FIELD_CHOICE, 0};

static const tcall_wire tcall_gemini_feedback_[] = {
    TCALL_WIRE("blockReason", TCALL_FIELD_STOP, 0, NULL),
    TCALL_WIRE("blockReasonMessage", TCALL_FIELD_MESSAGE, TCALL_WIRE_LAST,
               NULL)};

static const tcall_wire tcall_gemini_usage_[] = {
    TCALL_WIRE("promptTokenCount", TCALL_FIELD_INPUT_TOKENS, 0, NULL),
    TCALL_WIRE("candidatesTokenCount", TCALL_FIELD_OUTPUT_TOKENS,
               TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_gemini_detail_[] = {
    TCALL_WIRE("retryDelay", TCALL_FIELD_RETRY_DELAY, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_gemini_detail_each_ = {tcall_gemini_detail_, "",
                                                     0, 0, 0};

static const tcall_wire tcall_gemini_fault_[] = {
    TCALL_WIRE("message", TCALL_FIELD_MESSAGE, 0, NULL),
    TCALL_WIRE("status", TCALL_FIELD_ERROR_CODE, 0, NULL),
    TCALL_WIRE("details", 0, TCALL_WIRE_EACH | TCALL_WIRE_LAST,
               &tcall_gemini_detail_each_)};

static const tcall_wire tcall_gemini_members_[] = {
    TCALL_WIRE("candidates", 0, TCALL_WIRE_EACH, &tcall_gemini_candidate_each_),
    TCALL_WIRE("promptFeedback", 0, 0, tcall_gemini_feedback_),
    TCALL_WIRE("usageMetadata", 0, 0, tcall_gemini_usage_),
    TCALL_WIRE("error", TCALL_FIELD_ERROR, TCALL_WIRE_LAST,
               tcall_gemini_fault_)};

static const tcall_wire tcall_gemini_answer_ = {tcall_gemini_members_, "", 0, 0,
                                                0};

/* By name or by number: protobuf's JSON allows both for an enum. */
#define TCALL_GEMINI_STOPS_(X)                         \
    X("STOP", TCALL_STOP_END)                          \
    X("1", TCALL_STOP_END)                             \
    X("MAX_TOKENS", TCALL_STOP_LENGTH)                 \
    X("2", TCALL_STOP_LENGTH)                          \
    X("SAFETY", TCALL_STOP_CONTENT_FILTER)             \
    X("3", TCALL_STOP_CONTENT_FILTER)                  \
    X("RECITATION", TCALL_STOP_CONTENT_FILTER)         \
    X("4", TCALL_STOP_CONTENT_FILTER)                  \
    X("BLOCKLIST", TCALL_STOP_CONTENT_FILTER)          \
    X("PROHIBITED_CONTENT", TCALL_STOP_CONTENT_FILTER) \
    X("SPII", TCALL_STOP_CONTENT_FILTER)               \
    X("IMAGE_SAFETY", TCALL_STOP_CONTENT_FILTER)       \
    X("JAILBREAK", TCALL_STOP_CONTENT_FILTER)          \
    X("MODEL_ARMOR", TCALL_STOP_CONTENT_FILTER)        \
    X("LANGUAGE", TCALL_STOP_CONTENT_FILTER)           \
    X("OTHER", TCALL_STOP_CONTENT_FILTER) /* Google's name of a filter */

TCALL_WORDS(tcall_gemini_stops_, TCALL_GEMINI_STOPS_)

/* No element and no event has a type here. */
static const tcall_words tcall_gemini_types_[] = {{"", NULL}};

/* Everything that is said is a part. An id that was made up here is none of
 * Google's: only names connect then. A response has to be an object, and
 * "error" is the member for a failure. Signatures are of parts: of reasoning
 * those go back that have one. */
TCALL_FORMS_(
    tcall_gemini_forms_, "{\"text\":\"%t\"%<s,\"thoughtSignature\":\"%s\"%>}",
    "{\"inlineData\":{\"mimeType\":\"%y\",\"data\":\"%b\"}}",
    "{\"text\":\"%t\"%<s,\"thoughtSignature\":\"%s\"%>}",
    "{\"functionCall\":{\"name\":\"%n\",\"args\":%a%<m,\"id\":\"%m\"%>}"
    "%<s,\"thoughtSignature\":\"%s\"%>}",
    "{\"functionResponse\":{\"name\":\"%n\",\"response\":{\"output\":\"%t\"}%<m,\"id\":\"%m\"%>}}",
    "{\"functionResponse\":{\"name\":\"%n\",\"response\":{\"error\":\"%t\"}%<m,\"id\":\"%m\"%>}}",
    "{\"text\":\"%t\",\"thought\":true,\"thoughtSignature\":\"%s\"}", "", "",
    "")

static const char tcall_gemini_roles_[] = "{\"role\":\"model\",\"parts\":[\0"
                                          "{\"role\":\"user\",\"parts\":[";

/* The older "parameters" takes a part of JSON Schema only. */
static const char tcall_gemini_tools_[] =
    "\"tools\":[{\"functionDeclarations\":[\0{\0parametersJsonSchema\0}\0]}]\0";

static void tcall_gemini_choice_(tcall_writer *out,
                                 const tcall_chat_request *request)
{
    static const char forms[] =
        "\0"
        "\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"NONE\"}}\0"
        "\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"ANY\"}}\0"
        "\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"ANY\","
        "\"allowedFunctionNames\":[\"%n\"]}}";
    if (request->choice != TCALL_CHOICE_AUTO)
        tcall_write_named_(out, tcall_nth_(forms, request->choice),
                           request->choice_name);
}

/* {"contents":[...],"systemInstruction":{...},"tools":[...]}; the model and
 * whether it streams are in the path. */
static int tcall_gemini_write_(const tcall_provider *provider,
                               tcall_writer *out,
                               const tcall_chat_request *request)
{
    tcall_write_open(out, '{');
    tcall_write_form_(out, "\"contents\":[", NULL);
    tcall_write_turns_(provider, out, request, tcall_gemini_forms_,
                       tcall_gemini_roles_);
    tcall_write_text(out, "]");
    if (request->system && *request->system)
        tcall_write_named_(
            out, "\"systemInstruction\":{\"parts\":[{\"text\":\"%n\"}]}",
            request->system);
    if (tcall_write_tools_(provider, out, request, tcall_gemini_tools_))
        tcall_gemini_choice_(out, request);
    if (request->max_tokens > 0 &&
        !tcall_is_extra_(request, "generationConfig")) {
        tcall_write_form_(out, "\"generationConfig\":{", NULL);
        tcall_write_limit_(out, "maxOutputTokens", request->max_tokens);
        tcall_write_text(out, "}");
    }
    return tcall_write_body_end_(out, request);
}

static const char tcall_gemini_name_[] = "gemini";
static const char tcall_gemini_url_[] =
    "https://generativelanguage.googleapis.com";
static const char tcall_gemini_path_[] =
    "/v1beta/models/{model}:generateContent";
static const char tcall_gemini_stream_path_[] =
    "/v1beta/models/{model}:streamGenerateContent?alt=sse";

TCALL_DATA_ const tcall_provider tcall_gemini = {tcall_gemini_name_,
                                                 tcall_gemini_url_,
                                                 tcall_gemini_path_,
                                                 tcall_gemini_stream_path_,
                                                 "x-goog-api-key",
                                                 "",
                                                 {NULL, NULL},
                                                 tcall_gemini_write_,
                                                 &tcall_gemini_answer_,
                                                 tcall_gemini_stops_,
                                                 tcall_gemini_types_,
                                                 TCALL_REASONING_SIGNATURES,
                                                 TCALL_STRICT_NONE,
                                                 TCALL_QUIRK_ORDERED,
                                                 NULL,
                                                 TCALL_TURNS_RESULTS_ALONE};
