#pragma once
#include "gemini.h"
#include "frames.c"

/* ==========================================================================
 * >>gemini
 *
 * A call is a part of what the model says and comes whole. A part may bear a
 * signature, which has to go back with the same part. Results must be objects.
 */

#define TCALL_GEMINI_PATHS_(X)                                               \
    X(1, 0, 0, "usageMetadata")                                              \
    X(2, TCALL_FIELD_INPUT_TOKENS, 0, "promptTokenCount")                    \
    X(2, TCALL_FIELD_OUTPUT_TOKENS, TCALL_PATH_LAST, "candidatesTokenCount") \
    X(1, 0, 0, "promptFeedback")                                             \
    X(2, TCALL_FIELD_STOP, 0, "blockReason")                                 \
    X(2, TCALL_FIELD_MESSAGE, TCALL_PATH_LAST, "blockReasonMessage")         \
    X(1, TCALL_FIELD_ERROR, 0, "error")                                      \
    X(2, TCALL_FIELD_MESSAGE, 0, "message")                                  \
    X(2, TCALL_FIELD_ERROR_CODE, 0, "status")                                \
    X(2, 0, 0, "details")                                                    \
    X(3, 0, 0, "*")                                                          \
    X(4, TCALL_FIELD_RETRY_DELAY, 0, "retryDelay")                           \
    X(1, 0, TCALL_PATH_LAST, "candidates")                                   \
    X(2, TCALL_FIELD_CHOICE, 0, "*")                                         \
    X(3, TCALL_FIELD_CHOICE_INDEX, 0, "index")                               \
    X(3, TCALL_FIELD_STOP, 0, "finishReason")                                \
    X(3, TCALL_FIELD_MESSAGE, 0, "finishMessage")                            \
    X(3, 0, TCALL_PATH_LAST, "content")                                      \
    X(4, 0, 0, "parts")                                                      \
    X(5, TCALL_FIELD_ELEMENT, 0, "*")                                        \
    X(6, TCALL_FIELD_SIGNATURE, 0, "thoughtSignature")                       \
    X(6, TCALL_FIELD_TEXT, 0, "text")                                        \
    X(6, TCALL_FIELD_IGNORE, 0, "thought")                                   \
    X(6, TCALL_FIELD_IGNORE, 0, "toolCall") /* those that Google runs */     \
    X(6, TCALL_FIELD_IGNORE, 0, "toolResponse")                              \
    X(6, 0, TCALL_PATH_LAST, "functionCall")                                 \
    X(7, TCALL_FIELD_ID, 0, "id")                                            \
    X(7, TCALL_FIELD_NAME, 0, "name")                                        \
    X(7, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "args")                      \
    X(7, TCALL_FIELD_UNREAD, 0,                                              \
      "partialArgs") /* patches, which are never asked for */

TCALL_PATHS(tcall_gemini_paths_, TCALL_GEMINI_PATHS_)

/* By name or by number: protobuf's JSON allows both for an enum. */
static const tcall_word tcall_gemini_stops_[] = {
    {"STOP", TCALL_STOP_END},
    {"1", TCALL_STOP_END},
    {"MAX_TOKENS", TCALL_STOP_LENGTH},
    {"2", TCALL_STOP_LENGTH},
    {"SAFETY", TCALL_STOP_CONTENT_FILTER},
    {"3", TCALL_STOP_CONTENT_FILTER},
    {"RECITATION", TCALL_STOP_CONTENT_FILTER},
    {"4", TCALL_STOP_CONTENT_FILTER},
    {"BLOCKLIST", TCALL_STOP_CONTENT_FILTER},
    {"PROHIBITED_CONTENT", TCALL_STOP_CONTENT_FILTER},
    {"SPII", TCALL_STOP_CONTENT_FILTER},
    {"IMAGE_SAFETY", TCALL_STOP_CONTENT_FILTER},
    {"JAILBREAK", TCALL_STOP_CONTENT_FILTER},
    {"MODEL_ARMOR", TCALL_STOP_CONTENT_FILTER},
    {"LANGUAGE", TCALL_STOP_CONTENT_FILTER},
    {"OTHER", TCALL_STOP_CONTENT_FILTER}, /* Google's name of a filter */
    {NULL, 0},
};

/* No element and no event has a type here. */
static const tcall_word tcall_gemini_types_[] = {{NULL, 0}};

/* Everything that is said is a part. An id that was made up here is none of
 * Google's: only names connect then. A response has to be an object, and
 * "error" is the member for a failure. Signatures are of parts: of reasoning
 * those go back that have one. */
TCALL_FORMS_(
    tcall_gemini_forms_, "{'text':%t<,'thoughtSignature':%s>}",
    "{'inlineData':{'mimeType':'%y','data':'%b'}}",
    "{'text':%t<,'thoughtSignature':%s>}",
    "{'functionCall':{'name':%n,'args':%a<,'id':%m>}"
    "<,'thoughtSignature':%s>}",
    "{'functionResponse':{'name':%n,'response':{'output':%t}<,'id':%m>}}",
    "{'functionResponse':{'name':%n,'response':{'error':%t}<,'id':%m>}}",
    "{'text':%t,'thought':true,'thoughtSignature':%s}", "", "", "")

static const char tcall_gemini_roles_[] = "{'role':'model','parts':[\0"
                                          "{'role':'user','parts':[";

/* The older "parameters" takes a part of JSON Schema only. */
static const char tcall_gemini_tools_[] =
    "'tools':[{'functionDeclarations':[\0{\0parametersJsonSchema\0}\0]}]\0";

static void tcall_gemini_choice_(tcall_writer *out,
                                 const tcall_chat_request *request)
{
    static const char forms[] =
        "\0"
        "'toolConfig':{'functionCallingConfig':{'mode':'NONE'}}\0"
        "'toolConfig':{'functionCallingConfig':{'mode':'ANY'}}\0"
        "'toolConfig':{'functionCallingConfig':{'mode':'ANY',"
        "'allowedFunctionNames':[%n]}}";
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
    tcall_write_form_(out, "'contents':[", NULL);
    tcall_write_turns_(provider, out, request, tcall_gemini_forms_,
                       tcall_gemini_roles_);
    tcall_write_text(out, "]");
    if (request->system && *request->system)
        tcall_write_named_(out, "'systemInstruction':{'parts':[{'text':%n}]}",
                           request->system);
    if (tcall_write_tools_(provider, out, request, tcall_gemini_tools_))
        tcall_gemini_choice_(out, request);
    if (request->max_tokens > 0 &&
        !tcall_is_extra_(request, "generationConfig")) {
        tcall_write_form_(out, "'generationConfig':{", NULL);
        tcall_write_limit_(out, "maxOutputTokens", request->max_tokens);
        tcall_write_text(out, "}");
    }
    return tcall_write_body_end_(out, request);
}

TCALL_DATA_ const tcall_provider tcall_gemini = {
    "gemini",
    "https://generativelanguage.googleapis.com",
    "/v1beta/models/{model}:generateContent",
    "/v1beta/models/{model}:streamGenerateContent?alt=sse",
    "x-goog-api-key",
    "",
    {NULL, NULL},
    tcall_gemini_write_,
    &tcall_gemini_paths_,
    tcall_gemini_stops_,
    tcall_gemini_types_,
    TCALL_REASONING_SIGNATURES,
    TCALL_STRICT_NONE,
    TCALL_QUIRK_ORDERED,
    NULL,
    TCALL_TURNS_RESULTS_ALONE};
