#pragma once
#include "gemini.h"
#include "answer_feed.c"

/* ==========================================================================
 * >>gemini
 *
 * A call is a part of what the model says and comes whole. A part may bear a
 * signature, which has to go back with the same part. Results must be objects.
 */

/* Calls and their results that are of tools that Google runs do not count;
 * arguments as patches are never asked for. */
#define TCALL_GEMINI_ROWS_(X, T)                                           \
    X(T, answer, candidates, NONE, TCALL_EACH(CHOICE), candidate_content)  \
    X(T, answer, promptFeedback, NONE, 0, feedback_blockReason)            \
    X(T, answer, usageMetadata, NONE, 0, usage_promptTokenCount)           \
    X(T, answer, error, ERROR, TCALL_ROW_LAST, fault_message)              \
    X(T, candidate, content, NONE, 0, content_parts)                       \
    X(T, candidate, finishReason, STOP, 0, none)                           \
    X(T, candidate, index, CHOICE_INDEX, 0, none)                          \
    X(T, candidate, finishMessage, MESSAGE, TCALL_ROW_LAST, none)          \
    X(T, content, parts, NONE, TCALL_EACH(ELEMENT) | TCALL_ROW_LAST,       \
      part_text)                                                           \
    X(T, part, text, TEXT, 0, none)                                        \
    X(T, part, thought, IGNORE, 0, none)                                   \
    X(T, part, functionCall, NONE, 0, call_id)                             \
    X(T, part, thoughtSignature, SIGNATURE, 0, none)                       \
    X(T, part, toolCall, IGNORE, 0, none)                                  \
    X(T, part, toolResponse, IGNORE, TCALL_ROW_LAST, none)                 \
    X(T, call, id, ID, 0, none)                                            \
    X(T, call, name, NAME, 0, none)                                        \
    X(T, call, args, ARGUMENTS, TCALL_ROW_TEXT, none)                      \
    X(T, call, partialArgs, UNREAD, TCALL_ROW_LAST, none)                  \
    X(T, feedback, blockReason, STOP, 0, none)                             \
    X(T, feedback, blockReasonMessage, MESSAGE, TCALL_ROW_LAST, none)      \
    X(T, usage, promptTokenCount, INPUT_TOKENS, 0, none)                   \
    X(T, usage, candidatesTokenCount, OUTPUT_TOKENS, TCALL_ROW_LAST, none) \
    X(T, fault, message, MESSAGE, 0, none)                                 \
    X(T, fault, status, ERROR_CODE, 0, none)                               \
    X(T, fault, details, NONE, TCALL_EACH(NONE) | TCALL_ROW_LAST,          \
      detail_retryDelay)                                                   \
    X(T, detail, retryDelay, RETRY_DELAY, TCALL_ROW_LAST, none)

TCALL_ROWS(tcall_gemini_answer_, TCALL_GEMINI_ROWS_)

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
static const char tcall_gemini_forms_[] = TCALL_FORMS_(
    "{\"text\":\"%t\"%<s,\"thoughtSignature\":\"%s\"%>}",
    "{\"inlineData\":{\"mimeType\":\"%y\",\"data\":\"%b\"}}",
    "{\"text\":\"%t\"%<s,\"thoughtSignature\":\"%s\"%>}",
    "{\"functionCall\":{\"name\":\"%n\",\"args\":%a%<m,\"id\":\"%m\"%>}"
    "%<s,\"thoughtSignature\":\"%s\"%>}",
    "{\"functionResponse\":{\"name\":\"%n\",\"response\":{\"output\":\"%t\"}%<m,\"id\":\"%m\"%>}}",
    "{\"functionResponse\":{\"name\":\"%n\",\"response\":{\"error\":\"%t\"}%<m,\"id\":\"%m\"%>}}",
    "{\"text\":\"%t\",\"thought\":true,\"thoughtSignature\":\"%s\"}", "", "",
    "", "");

static const char tcall_gemini_messages_[] = TCALL_MESSAGES_(
    "{\"role\":\"model\",\"parts\":[", "{\"role\":\"user\",\"parts\":[");

/* The older "parameters" takes a part of JSON Schema only. */
static const char tcall_gemini_tool_[] =
    "{\"name\":\"%N\",\"description\":\"%T\",\"parametersJsonSchema\":%J"
    "%<F,\"strict\":true%>}";

/* The model and whether it streams are said by the path. */
#define TCALL_GEMINI_MODE_(mode) \
    "\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"" mode "\""
static const char tcall_gemini_body_[] =
    "\"contents\":[%I]"
    "%<S\"systemInstruction\":{\"parts\":[{\"text\":\"%S\"}]}%>"
    "%<L\"tools\":[{\"functionDeclarations\":[%L]}]%>"
    "%<1" TCALL_GEMINI_MODE_(
        "NONE") "}}%>"
                "%<2" TCALL_GEMINI_MODE_(
                    "ANY") "}}%>"
                           "%<3" TCALL_GEMINI_MODE_(
                               "ANY") ",\"allowedFunctionNames\":[\"%K\"]}}%>"
                                      "%<X\"generationConfig\":{\"maxOutputTokens\":%X}%>";

static const tcall_request_forms_ tcall_gemini_request_ = {
    tcall_gemini_body_,     tcall_gemini_forms_,
    tcall_gemini_messages_, TCALL_ALL_SIDES_(TCALL_SIDE_RESULTS_),
    tcall_gemini_tool_,     NULL};

TCALL_PROVIDER_(gemini, gemini, tcall_gemini_request_,
                "https://generativelanguage.googleapis.com",
                "/v1beta/models/{model}:generateContent",
                "/v1beta/models/{model}:streamGenerateContent?alt=sse",
                "x-goog-api-key", "", "", "", TCALL_REASONING_SIGNATURES, "",
                TCALL_STRICT_NONE, TCALL_QUIRK_ORDERED, 0)
