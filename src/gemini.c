#pragma once
#include "reader.c"

/* ==========================================================================
 * >>gemini: generateContent of Google
 *
 * A call is a part of what the model says and comes whole. A part may bear a
 * signature, which has to go back with the same part. Results must be objects.
 */

#define TCALL_GEMINI_PATHS_(X)                                              \
    X(1, 0, 0, "candidates")                                                \
    X(2, TCALL_AT_CHOICE, 0, "*")                                           \
    X(3, TCALL_AT_NUMBER, 0, "index")                                       \
    X(3, TCALL_AT_STOP, 0, "finishReason")                                  \
    X(3, TCALL_AT_MESSAGE, 0, "finishMessage")                              \
    X(3, 0, TCALL_PATH_LAST, "content")                                     \
    X(4, 0, 0, "parts")                                                     \
    X(5, TCALL_AT_CALL, 0, "*")                                             \
    X(6, TCALL_AT_SIGN, 0, "thoughtSignature")                              \
    X(6, TCALL_AT_SAID, 0, "text")                                          \
    X(6, TCALL_AT_VOID, 0, "thought")                                       \
    X(6, TCALL_AT_VOID, 0, "toolCall") /* those that Google runs */         \
    X(6, TCALL_AT_VOID, 0, "toolResponse")                                  \
    X(6, 0, TCALL_PATH_LAST, "functionCall")                                \
    X(7, TCALL_AT_ID, 0, "id")                                              \
    X(7, TCALL_AT_NAME, 0, "name")                                          \
    X(7, TCALL_AT_ARGS, TCALL_PATH_RAW, "args")                             \
    /* Patches instead of arguments, which are never asked for: they are no \
     * object, so that nobody runs such a call. */                          \
    X(7, TCALL_AT_ARGS, TCALL_PATH_RAW, "partialArgs")                      \
    X(1, 0, 0, "promptFeedback")                                            \
    X(2, TCALL_AT_STOP, 0, "blockReason")                                   \
    X(2, TCALL_AT_MESSAGE, 0, "blockReasonMessage")                         \
    X(1, 0, 0, "usageMetadata")                                             \
    X(2, TCALL_AT_INPUT, 0, "promptTokenCount")                             \
    X(2, TCALL_AT_OUTPUT, 0, "candidatesTokenCount")                        \
    X(1, TCALL_AT_ERROR, TCALL_PATH_LAST, "error")                          \
    X(2, TCALL_AT_MESSAGE, 0, "message")                                    \
    X(2, TCALL_AT_ERROR_CODE, 0, "status")                                  \
    X(2, 0, 0, "details")                                                   \
    X(3, 0, 0, "*")                                                         \
    X(4, TCALL_AT_WAIT, 0, "retryDelay")

TCALL_PATHS(tcall_gemini_paths_, TCALL_GEMINI_PATHS_)

/* clang-format off */
static const char tcall_gemini_words_[] =
    TCALL_SAYS_END "STOP\0"
    TCALL_SAYS_END "1\0"
    TCALL_SAYS_LENGTH "MAX_TOKENS\0"
    TCALL_SAYS_LENGTH "2\0"
    TCALL_SAYS_REFUSED "SAFETY\0"
    TCALL_SAYS_REFUSED "3\0"
    TCALL_SAYS_REFUSED "RECITATION\0"
    TCALL_SAYS_REFUSED "4\0"
    TCALL_SAYS_REFUSED "BLOCKLIST\0"
    TCALL_SAYS_REFUSED "PROHIBITED_CONTENT\0"
    TCALL_SAYS_REFUSED "SPII\0"
    TCALL_SAYS_REFUSED "IMAGE_SAFETY\0"
    TCALL_SAYS_REFUSED "JAILBREAK\0"
    TCALL_SAYS_REFUSED "MODEL_ARMOR\0"
    TCALL_SAYS_REFUSED "LANGUAGE\0"
    TCALL_SAYS_REFUSED "OTHER\0"; /* so is it called */
/* clang-format on */

static const char tcall_gemini_turns_[] =
    "{'role':'user','parts':[\0"
    "{'role':'model','parts':[\0"
    "u{'text':%t%s}\0"
    "m{'text':%t%s}\0"
    "m{'functionCall':{'name':%n,'args':%a%I}%s}\0"
    "u{'functionResponse':{'name':%n,'response':{'output':%t}%I}}\0"
    "m\0" /* signs belong to parts */
    "u{'functionResponse':{'name':%n,'response':{'error':%t}%I}}\0"
    "m";

static int tcall_gemini_write_(const tcall_provider *p, tcall_writer *w,
                               const tcall_ask *ask)
{
    static const char choices[] = "\0"
                                  "'NONE'\0"
                                  "'ANY'\0"
                                  "'ANY','allowedFunctionNames':[%t]";
    tcall_strict left = {0, 0, 0, 0, false};
    tcall_write_text(w, "{\"contents\":[");
    tcall_write_turns_(p, w, ask, tcall_gemini_turns_);
    tcall_write_option_(w, ",'systemInstruction':{'parts':[{'text':%t}]}",
                        ask->system);
    if (tcall_write_tools_(
            p, w, ask, ",'tools':[{'functionDeclarations':[%.]}]",
            "{'name':%t,'description':%.,'parametersJsonSchema':%.}", &left) &&
        ask->choice != TCALL_CHOICE_AUTO) {
        tcall_write_words_(
            w, ",'toolConfig':{'functionCallingConfig':{'mode':", NULL);
        tcall_write_words_(w, tcall_nth_(choices, (int)ask->choice),
                           ask->choice_name);
        tcall_write_text(w, "}}");
    }
    tcall_write_limit_(w, ",'generationConfig':{'maxOutputTokens':%.}",
                       ask->max_tokens);
    return tcall_write_text(w, "}");
}

static const char tcall_gemini_stream_[] =
    "/v1beta/models/{model}:streamGenerateContent?alt=sse";
TCALL_PROVIDER_(gemini, gemini, "https://generativelanguage.googleapis.com",
                "/v1beta/models/{model}:generateContent", tcall_gemini_stream_,
                "x-goog-api-key", "", NULL, NULL, NULL, tcall_opaque_signs_,
                NULL, 0)
