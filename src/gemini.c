#pragma once
#include "gemini.h"
#include "reader.c"

/* ==========================================================================
 * >>gemini
 *
 * A call is a part of what the model says and comes whole. A part may bear a
 * signature, which has to go back with the same part. Results must be objects.
 */

#ifdef TCALL_HAS_GEMINI_

#define TCALL_GEMINI_PATHS_(X)                                              \
    X(1, 0, 0, "candidates")                                                \
    X(2, TCALL_FIELD_CHOICE, 0, "*")                                        \
    X(3, TCALL_FIELD_CHOICE_INDEX, 0, "index")                              \
    X(3, TCALL_FIELD_STOP, 0, "finishReason")                               \
    X(3, TCALL_FIELD_MESSAGE, 0, "finishMessage")                           \
    X(3, 0, TCALL_PATH_LAST, "content")                                     \
    X(4, 0, 0, "parts")                                                     \
    X(5, TCALL_FIELD_ELEMENT, 0, "*")                                       \
    X(6, TCALL_FIELD_SIGNATURE, 0, "thoughtSignature")                      \
    X(6, TCALL_FIELD_TEXT, 0, "text")                                       \
    X(6, TCALL_FIELD_IGNORE, 0, "thought")                                  \
    X(6, TCALL_FIELD_IGNORE, 0, "toolCall") /* those that Google runs */    \
    X(6, TCALL_FIELD_IGNORE, 0, "toolResponse")                             \
    X(6, 0, TCALL_PATH_LAST, "functionCall")                                \
    X(7, TCALL_FIELD_ID, 0, "id")                                           \
    X(7, TCALL_FIELD_NAME, 0, "name")                                       \
    X(7, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "args")                     \
    /* Patches instead of arguments, which are never asked for: they are no \
     * object, so that nobody runs such a call. */                          \
    X(7, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "partialArgs")              \
    X(1, 0, 0, "promptFeedback")                                            \
    X(2, TCALL_FIELD_STOP, 0, "blockReason")                                \
    X(2, TCALL_FIELD_MESSAGE, 0, "blockReasonMessage")                      \
    X(1, 0, 0, "usageMetadata")                                             \
    X(2, TCALL_FIELD_INPUT_TOKENS, 0, "promptTokenCount")                   \
    X(2, TCALL_FIELD_OUTPUT_TOKENS, 0, "candidatesTokenCount")              \
    X(1, TCALL_FIELD_ERROR, TCALL_PATH_LAST, "error")                       \
    X(2, TCALL_FIELD_MESSAGE, 0, "message")                                 \
    X(2, TCALL_FIELD_ERROR_CODE, 0, "status")                               \
    X(2, 0, 0, "details")                                                   \
    X(3, 0, 0, "*")                                                         \
    X(4, TCALL_FIELD_RETRY_DELAY, 0, "retryDelay")

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

/* {"text":"...","thoughtSignature":"..."} */
static void tcall_gemini_text_(tcall_writer *out, const tcall_item *item)
{
    tcall_write_member_(out, "text", item->text);
    if (item->signature.len)
        tcall_write_member_(out, "thoughtSignature", item->signature);
}

/* An id that was made up here is none of Google's: only names connect then. */
static void tcall_gemini_id_(tcall_writer *out, const tcall_item *item)
{
    if (item->id.len && !item->synthetic_id)
        tcall_write_member_(out, "id", item->id);
}

/* {"functionCall":{"name":"f","args":{...}},"thoughtSignature":"..."} */
static void tcall_gemini_call_(tcall_writer *out, const tcall_item *call)
{
    tcall_write_begin_(out, "functionCall", '{');
    tcall_write_member_(out, "name", call->name);
    tcall_write_key(out, "args");
    tcall_write_verbatim(out, tcall_sent_arguments_(call));
    tcall_gemini_id_(out, call);
    tcall_write_close(out, '}');
    if (call->signature.len)
        tcall_write_member_(out, "thoughtSignature", call->signature);
}

/* {"functionResponse":{"name":"f","response":{"output":"..."}}}: a response has
 * to be an object, and "error" is the member for a failure. */
static void tcall_gemini_result_(tcall_writer *out, const tcall_item *result)
{
    tcall_write_begin_(out, "functionResponse", '{');
    tcall_write_member_(out, "name", result->name);
    tcall_write_begin_(out, "response", '{');
    tcall_write_member_(out, result->error ? "error" : "output", result->text);
    tcall_write_close(out, '}');
    tcall_gemini_id_(out, result);
    tcall_write_close(out, '}');
}

/* Everything that is said is a part: text, call or result. */
static void tcall_gemini_part_(tcall_writer *out, const tcall_item *item)
{
    tcall_write_begin_(out, NULL, '{');
    if (item->kind == TCALL_ITEM_CALL)
        tcall_gemini_call_(out, item);
    else if (item->kind == TCALL_ITEM_RESULT)
        tcall_gemini_result_(out, item);
    else
        tcall_gemini_text_(out, item);
    tcall_write_close(out, '}');
}

/* Roles have to take turns: parts of one role share a content. */
static void tcall_gemini_contents_(const tcall_provider *provider,
                                   tcall_writer *out,
                                   const tcall_chat_request *request)
{
    tcall_history_ history = tcall_history_of_(provider, request->chat);
    const char *role = NULL;
    tcall_item item;
    tcall_write_begin_(out, "contents", '[');
    while (tcall_history_next_(&history, out, &item)) {
        bool user =
            item.kind == TCALL_ITEM_USER || item.kind == TCALL_ITEM_RESULT;
        /* Signatures are of parts: there is no reasoning by itself. */
        if (item.kind == TCALL_ITEM_REASONING || tcall_item_is_blank_(&item))
            continue;
        tcall_write_role_(out, &role, user ? "user" : "model", "parts");
        tcall_gemini_part_(out, &item);
    }
    tcall_write_ends_(out, role ? "]}]" : "]");
}

/* [{"functionDeclarations":[{"name":"f","parametersJsonSchema":{...}}]}]: the
 * older "parameters" takes a part of JSON Schema only. */
static bool tcall_gemini_tools_(const tcall_provider *provider,
                                tcall_writer *out,
                                const tcall_chat_request *request)
{
    tcall_sent_tools_ tools = tcall_sent_tools_of_(provider, request);
    if (!tools.tool)
        return false;
    tcall_write_begin_(out, "tools", '[');
    tcall_write_begin_(out, NULL, '{');
    tcall_write_begin_(out, "functionDeclarations", '[');
    for (; tools.tool; tcall_sent_tools_next_(&tools)) {
        if (!tcall_begin_tool_(&tools, out))
            continue;
        tcall_write_tool_(out, &tools, "parametersJsonSchema");
        tcall_end_tool_(out);
    }
    tcall_write_ends_(out, "]}]");
    return true;
}

/* {"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}} */
static void tcall_gemini_choice_(tcall_writer *out,
                                 const tcall_chat_request *request)
{
    if (request->choice == TCALL_CHOICE_AUTO)
        return;
    tcall_write_begin_(out, "toolConfig", '{');
    tcall_write_begin_(out, "functionCallingConfig", '{');
    tcall_write_word_(out, "mode",
                      request->choice == TCALL_CHOICE_NONE ? "NONE" : "ANY");
    if (request->choice == TCALL_CHOICE_ONE) {
        tcall_write_begin_(out, "allowedFunctionNames", '[');
        tcall_write_string(out, request->choice_name);
        tcall_write_close(out, ']');
    }
    tcall_write_ends_(out, "}}");
}

/* {"contents":[...],"systemInstruction":{...},"tools":[...]}; the model and
 * whether it streams are in the path. */
static int tcall_gemini_write_(const tcall_provider *provider,
                               tcall_writer *out,
                               const tcall_chat_request *request)
{
    tcall_write_open(out, '{');
    tcall_gemini_contents_(provider, out, request);
    if (tcall_has_text_(request->system)) {
        tcall_write_begin_(out, "systemInstruction", '{');
        tcall_write_begin_(out, "parts", '[');
        tcall_write_begin_(out, NULL, '{');
        tcall_write_word_(out, "text", request->system);
        tcall_write_ends_(out, "}]}");
    }
    if (tcall_gemini_tools_(provider, out, request))
        tcall_gemini_choice_(out, request);
    if (request->max_tokens > 0) {
        tcall_write_begin_(out, "generationConfig", '{');
        tcall_write_limit_(out, "maxOutputTokens", request->max_tokens);
        tcall_write_close(out, '}');
    }
    return tcall_write_close(out, '}');
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
    TCALL_REASONING_TEXT, /* signatures */
    TCALL_STRICT_NONE,
    0};

#endif /* TCALL_HAS_GEMINI_ */
