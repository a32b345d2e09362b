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

static void tcall_gemini_text_(tcall_writer *w, const tcall_item *item)
{
    tcall_write_member_(w, "text", item->text);
    if (item->signature.len)
        tcall_write_member_(w, "thoughtSignature", item->signature);
}

/* An id that was made up here is none of Google's: only names connect then. */
static void tcall_gemini_id_(tcall_writer *w, const tcall_item *item)
{
    if (item->id.len && !item->synthetic_id)
        tcall_write_member_(w, "id", item->id);
}

static void tcall_gemini_call_(tcall_writer *w, const tcall_item *call)
{
    tcall_write_begin_(w, "functionCall", '{');
    tcall_write_member_(w, "name", call->name);
    tcall_write_key(w, "args");
    tcall_write_verbatim(w, tcall_sent_arguments_(call));
    tcall_gemini_id_(w, call);
    tcall_write_close(w, '}');
    if (call->signature.len)
        tcall_write_member_(w, "thoughtSignature", call->signature);
}

static void tcall_gemini_result_(tcall_writer *w, const tcall_item *result)
{
    tcall_write_begin_(w, "functionResponse", '{');
    tcall_write_member_(w, "name", result->name);
    tcall_write_begin_(w, "response", '{');
    tcall_write_member_(w, result->error ? "error" : "output", result->text);
    tcall_write_close(w, '}');
    tcall_gemini_id_(w, result);
    tcall_write_close(w, '}');
}

static void tcall_gemini_part_(tcall_writer *w, const tcall_item *item)
{
    tcall_write_begin_(w, NULL, '{');
    if (item->kind == TCALL_ITEM_CALL)
        tcall_gemini_call_(w, item);
    else if (item->kind == TCALL_ITEM_RESULT)
        tcall_gemini_result_(w, item);
    else
        tcall_gemini_text_(w, item);
    tcall_write_close(w, '}');
}

static void tcall_gemini_contents_(const tcall_provider *provider,
                                   tcall_writer *w,
                                   const tcall_chat_request *request)
{
    tcall_history_ history = tcall_history_of_(provider, request->chat);
    const char *role = NULL;
    tcall_item item;
    tcall_write_begin_(w, "contents", '[');
    while (tcall_history_next_(&history, w, &item)) {
        bool user =
            item.kind == TCALL_ITEM_USER || item.kind == TCALL_ITEM_RESULT;
        /* Signatures are of parts: there is no reasoning by itself. */
        if (item.kind == TCALL_ITEM_REASONING || tcall_item_is_blank_(&item))
            continue;
        tcall_write_role_(w, &role, user ? "user" : "model", "parts");
        tcall_gemini_part_(w, &item);
    }
    tcall_write_ends_(w, role ? "]}]" : "]");
}

static bool tcall_gemini_tools_(const tcall_provider *provider, tcall_writer *w,
                                const tcall_chat_request *request)
{
    tcall_sent_tools_ tools = tcall_sent_tools_of_(provider, request);
    if (!tools.tool)
        return false;
    tcall_write_begin_(w, "tools", '[');
    tcall_write_begin_(w, NULL, '{');
    tcall_write_begin_(w, "functionDeclarations", '[');
    for (; tools.tool; tcall_sent_tools_next_(&tools)) {
        if (!tcall_begin_tool_(&tools, w))
            continue;
        tcall_write_tool_(w, &tools, "parametersJsonSchema");
        tcall_end_tool_(w);
    }
    tcall_write_ends_(w, "]}]");
    return true;
}

static void tcall_gemini_choice_(tcall_writer *w,
                                 const tcall_chat_request *request)
{
    if (request->choice == TCALL_CHOICE_AUTO)
        return;
    tcall_write_begin_(w, "toolConfig", '{');
    tcall_write_begin_(w, "functionCallingConfig", '{');
    tcall_write_word_(w, "mode",
                      request->choice == TCALL_CHOICE_NONE ? "NONE" : "ANY");
    if (request->choice == TCALL_CHOICE_ONE) {
        tcall_write_begin_(w, "allowedFunctionNames", '[');
        tcall_write_string(w, request->choice_name);
        tcall_write_close(w, ']');
    }
    tcall_write_ends_(w, "}}");
}

static int tcall_gemini_write_(const tcall_provider *provider, tcall_writer *w,
                               const tcall_chat_request *request)
{
    tcall_write_open(w, '{');
    tcall_gemini_contents_(provider, w, request);
    if (tcall_has_text_(request->system)) {
        tcall_write_begin_(w, "systemInstruction", '{');
        tcall_write_begin_(w, "parts", '[');
        tcall_write_begin_(w, NULL, '{');
        tcall_write_word_(w, "text", request->system);
        tcall_write_ends_(w, "}]}");
    }
    if (tcall_gemini_tools_(provider, w, request))
        tcall_gemini_choice_(w, request);
    if (request->max_tokens > 0) {
        tcall_write_begin_(w, "generationConfig", '{');
        tcall_write_limit_(w, "maxOutputTokens", request->max_tokens);
        tcall_write_close(w, '}');
    }
    return tcall_write_close(w, '}');
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
