#pragma once
#include "reader.c"

/* ==========================================================================
 * >>responses: the Responses API of OpenAI
 *
 * A stream says everything three times: in pieces, at their end, and in the
 * item; servers differ in which they fill, so the longest counts. The type of
 * an event tells what its piece is of. Reasoning goes back as it came.
 */

#define TCALL_RESPONSES_PATHS_(X)                                            \
    X(1, TCALL_AT_EVENT, 0, "type")                                          \
    X(1, TCALL_AT_INDEX, 0, "output_index")                                  \
    X(1, TCALL_AT_PIECE, 0, "delta")                                         \
    X(1, TCALL_AT_PIECE, 0, "arguments")                                     \
    X(1, TCALL_AT_CALL, TCALL_PATH_RAW, "item")                              \
    X(2, TCALL_AT_TYPE, 0, "type")                                           \
    X(2, TCALL_AT_ID, 0, "call_id")                                          \
    X(2, TCALL_AT_NAME, 0, "name")                                           \
    X(2, TCALL_AT_ALL, TCALL_PATH_RAW, "arguments")                          \
    X(2, TCALL_AT_ALL, 0, "input")                                           \
    X(1, 0, TCALL_PATH_ROOT, "response") /* of a stream, as the whole one */ \
    X(1, TCALL_AT_STOP, 0, "status")                                         \
    X(1, 0, 0, "incomplete_details")                                         \
    X(2, TCALL_AT_HINT, 0, "reason")                                         \
    X(1, 0, 0, "usage")                                                      \
    X(2, TCALL_AT_INPUT, 0, "input_tokens")                                  \
    X(2, TCALL_AT_OUTPUT, 0, "output_tokens")                                \
    X(1, TCALL_AT_ERROR, 0, "error")                                         \
    X(2, TCALL_AT_MESSAGE, 0, "message")                                     \
    X(2, TCALL_AT_ERROR_CODE, 0, "code")                                     \
    X(2, TCALL_AT_ERROR_TYPE, 0, "type")                                     \
    X(1, TCALL_AT_MESSAGE, 0, "message")                                     \
    X(1, TCALL_AT_MESSAGE, TCALL_PATH_RAW, "detail")                         \
    X(1, TCALL_AT_ERROR_CODE, 0, "code")                                     \
    X(1, TCALL_AT_WHOLE, TCALL_PATH_LAST, "output")                          \
    X(2, TCALL_AT_CALL, TCALL_PATH_RAW, "*")                                 \
    X(3, TCALL_AT_TYPE, 0, "type")                                           \
    X(3, TCALL_AT_ID, 0, "call_id")                                          \
    X(3, TCALL_AT_NAME, 0, "name")                                           \
    X(3, TCALL_AT_ALL, TCALL_PATH_RAW, "arguments")                          \
    X(3, TCALL_AT_ALL, 0, "input")                                           \
    X(3, 0, 0, "content")                                                    \
    X(4, 0, 0, "*")                                                          \
    X(5, TCALL_AT_SAID, 0, "text")                                           \
    X(5, TCALL_AT_SAID, 0, "refusal")

TCALL_PATHS(tcall_responses_paths_, TCALL_RESPONSES_PATHS_)

/* clang-format off */
static const char tcall_responses_words_[] =
    TCALL_SAYS_CALL "function_call\0"
    TCALL_SAYS_CALL "custom_tool_call\0"
    TCALL_SAYS_TEXT "message\0"
    TCALL_SAYS_OPAQUE "reasoning\0"
    TCALL_SAYS_OPEN "response.created\0"
    TCALL_SAYS_OPEN "response.in_progress\0"
    TCALL_SAYS_NEW "response.output_item.added\0"
    TCALL_SAYS_DONE "response.output_item.done\0"
    TCALL_SAYS_TEXT "response.output_text.delta\0"
    TCALL_SAYS_TEXT "response.refusal.delta\0"
    TCALL_SAYS_PIECE "response.function_call_arguments.delta\0"
    TCALL_SAYS_ALL "response.function_call_arguments.done\0"
    TCALL_SAYS_PIECE "response.custom_tool_call_input.delta\0"
    TCALL_SAYS_FINAL "response.completed\0"
    TCALL_SAYS_FINAL "response.incomplete\0"
    TCALL_SAYS_FINAL "response.failed\0"
    TCALL_SAYS_NOT_YET "in_progress\0"
    TCALL_SAYS_NOT_YET "queued\0"
    TCALL_SAYS_END "completed\0"
    TCALL_SAYS_LENGTH "incomplete\0"
    TCALL_SAYS_LENGTH "cancelled\0"
    TCALL_SAYS_LENGTH "max_output_tokens\0"
    TCALL_SAYS_REFUSED "content_filter\0";
/* clang-format on */

static const char tcall_responses_turns_[] =
    "\0\0"
    "-{'role':'user','content':%t}\0"
    "-{'role':'assistant','content':%t}\0"
    "-{'type':'function_call','call_id':%i,'name':%n,'arguments':%A}\0"
    "-{'type':'function_call_output','call_id':%i,'output':%t}\0"
    "-%r\0"
    "-{'type':'function_call_output','call_id':%i,'output':%e}\0"
    "-%r";

static int tcall_responses_write_(const tcall_provider *p, tcall_writer *w,
                                  const tcall_ask *ask)
{
    /* Without a word about it tools would be taken for strict ones. */
    tcall_strict left = {TCALL_STRICT_OPENAI, 999, 999, 999, true};
    tcall_write_words_(w, "{'model':%t", ask->model);
    tcall_write_option_(w, ",'instructions':%t", ask->system);
    tcall_write_text(w, ",\"input\":[");
    tcall_write_turns_(p, w, ask, tcall_responses_turns_);
    if (tcall_write_tools_(p, w, ask, ",'tools':[%.]",
                           "{'type':'function','name':%t,"
                           "'description':%.,'parameters':%.}",
                           &left))
        tcall_write_choice_(p, w, ask,
                            ",'tool_choice':{'type':'function','name':%t}");
    tcall_write_limit_(w, ",'max_output_tokens':%.", ask->max_tokens);
    /* Nothing is kept on the server: the reasoning has to come along. */
    tcall_write_text(w, ",\"store\":false");
    if (p->traits & TCALL_TRAIT_ASK_OPAQUE)
        tcall_write_words_(w, ",'include':['reasoning.encrypted_content']",
                           NULL);
    return tcall_write_stream_(w, ask);
}

TCALL_PROVIDER_(responses, responses, "https://api.openai.com", "/v1/responses",
                NULL, "Authorization", "Bearer ", NULL, NULL, NULL,
                tcall_opaque_raw_, NULL, 0)
