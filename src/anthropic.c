#pragma once
#include "anthropic.h"
#include "reader.c"

/* ==========================================================================
 * >>anthropic
 *
 * An event of a stream is itself the element of a call: index and type may
 * stand before it or after it.
 */

#ifdef TCALL_HAS_ANTHROPIC_

#define TCALL_ANTHROPIC_PATHS_(X)                                          \
    X(1, TCALL_FIELD_EVENT, 0, "type")                                     \
    X(1, TCALL_FIELD_INDEX, 0, "index")                                    \
    X(1, TCALL_FIELD_STOP, 0, "stop_reason")                               \
    X(1, TCALL_FIELD_RESTART, 0, "message")                                \
    X(2, 0, 0, "usage")                                                    \
    X(3, TCALL_FIELD_INPUT_TOKENS, 0, "input_tokens")                      \
    X(3, TCALL_FIELD_OUTPUT_TOKENS, 0, "output_tokens")                    \
    X(1, 0, 0, "usage")                                                    \
    X(2, TCALL_FIELD_INPUT_TOKENS, 0, "input_tokens")                      \
    X(2, TCALL_FIELD_OUTPUT_TOKENS, 0, "output_tokens")                    \
    X(1, TCALL_FIELD_ERROR, 0, "error")                                    \
    X(2, TCALL_FIELD_ERROR_TYPE, 0, "type")                                \
    X(2, TCALL_FIELD_MESSAGE, 0, "message")                                \
    X(1, TCALL_FIELD_ELEMENT, 0, "delta")                                  \
    X(2, TCALL_FIELD_ARGUMENTS, 0, "partial_json")                         \
    X(2, TCALL_FIELD_TEXT, 0, "text")                                      \
    X(2, TCALL_FIELD_REASONING, 0, "thinking")                             \
    X(2, TCALL_FIELD_SIGNATURE, 0, "signature")                            \
    X(2, TCALL_FIELD_STOP, TCALL_PATH_LAST, "stop_reason")                 \
    X(1, TCALL_FIELD_ELEMENT, 0, "content_block")                          \
    X(2, TCALL_FIELD_TYPE, 0, "type")                                      \
    X(2, TCALL_FIELD_ID, 0, "id")                                          \
    X(2, TCALL_FIELD_NAME, 0, "name")                                      \
    X(2, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "input")                   \
    X(2, TCALL_FIELD_REASONING, 0, "thinking")                             \
    X(2, TCALL_FIELD_REASONING_DATA, 0, "data") /* of redacted thinking */ \
    X(2, TCALL_FIELD_SIGNATURE, 0, "signature")                            \
    X(2, TCALL_FIELD_TEXT, TCALL_PATH_LAST, "text")                        \
    X(1, TCALL_FIELD_WHOLE_ANSWER, TCALL_PATH_LAST, "content")             \
    X(2, TCALL_FIELD_ELEMENT, 0, "*")                                      \
    X(3, TCALL_FIELD_TYPE, 0, "type")                                      \
    X(3, TCALL_FIELD_ID, 0, "id")                                          \
    X(3, TCALL_FIELD_NAME, 0, "name")                                      \
    X(3, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "input")                   \
    X(3, TCALL_FIELD_TEXT, 0, "text")                                      \
    X(3, TCALL_FIELD_REASONING, 0, "thinking")                             \
    X(3, TCALL_FIELD_REASONING_DATA, 0, "data")                            \
    X(3, TCALL_FIELD_SIGNATURE, 0, "signature")

TCALL_PATHS(tcall_anthropic_paths_, TCALL_ANTHROPIC_PATHS_)

/* "pause_turn" is no reason of ours: it is of tools that Anthropic runs. */
static const tcall_word tcall_anthropic_stops_[] = {
    {"end_turn", TCALL_STOP_END},
    {"stop_sequence", TCALL_STOP_END},
    {"tool_use", TCALL_STOP_TOOL_CALLS},
    {"max_tokens", TCALL_STOP_LENGTH},
    {"model_context_window_exceeded", TCALL_STOP_LENGTH},
    {"refusal", TCALL_STOP_CONTENT_FILTER},
    {NULL, 0},
};

/* Of blocks, and the event that ends a stream. */
static const tcall_word tcall_anthropic_types_[] = {
    {"message_stop", TCALL_MEANS_ANSWER_ENDS},
    {"tool_use", TCALL_MEANS_CALL},
    {"text", TCALL_MEANS_TEXT},
    {NULL, 0},
};

/* {"type":"tool_result","tool_use_id":"toolu_1","content":"...",
 *  "is_error":true} */
static void tcall_anthropic_result_(tcall_writer *out, const tcall_item *result)
{
    tcall_write_word_(out, "type", "tool_result");
    tcall_write_member_(out, "tool_use_id", result->id);
    tcall_write_member_(out, "content", result->text);
    if (result->error)
        tcall_write_flag_(out, "is_error", true);
}

/* {"type":"thinking","thinking":"...","signature":"..."}, or, where it was
 * encrypted, {"type":"redacted_thinking","data":"..."}. Either goes back to the
 * byte, or the signature does not fit. */
static void tcall_anthropic_reasoning_(tcall_writer *out,
                                       const tcall_item *reasoning)
{
    if (reasoning->raw) {
        tcall_write_word_(out, "type", "redacted_thinking");
        tcall_write_member_(out, "data", reasoning->text);
    } else {
        tcall_write_word_(out, "type", "thinking");
        tcall_write_member_(out, "thinking", reasoning->text);
        tcall_write_member_(out, "signature", reasoning->signature);
    }
}

/* Writes an item as a content block. */
static void tcall_anthropic_block_(tcall_writer *out, const tcall_item *item)
{
    tcall_write_begin_(out, NULL, '{');
    switch (item->kind) {
    case TCALL_ITEM_CALL:
        tcall_write_word_(out, "type", "tool_use");
        tcall_write_member_(out, "id", item->id);
        tcall_write_member_(out, "name", item->name);
        tcall_write_key(out, "input");
        tcall_write_verbatim(out, tcall_sent_arguments_(item));
        break;
    case TCALL_ITEM_RESULT: tcall_anthropic_result_(out, item); break;
    case TCALL_ITEM_REASONING: tcall_anthropic_reasoning_(out, item); break;
    default:
        tcall_write_word_(out, "type", "text");
        tcall_write_member_(out, "text", item->text);
    }
    tcall_write_close(out, '}');
}

/* Roles have to take turns: results of tools are said by the user, so what the
 * user says next joins their message. */
static void tcall_anthropic_messages_(const tcall_provider *provider,
                                      tcall_writer *out,
                                      const tcall_chat_request *request)
{
    tcall_history_ history = tcall_history_of_(provider, request->chat);
    const char *role = NULL;
    tcall_item item;
    tcall_write_begin_(out, "messages", '[');
    while (tcall_history_next_(&history, out, &item)) {
        bool user =
            item.kind == TCALL_ITEM_USER || item.kind == TCALL_ITEM_RESULT;
        if (tcall_item_is_blank_(&item))
            continue;
        tcall_write_role_(out, &role, user ? "user" : "assistant", "content");
        tcall_anthropic_block_(out, &item);
    }
    tcall_write_ends_(out, role ? "]}]" : "]");
}

/* {"name":"f","description":"...","input_schema":{...}} each. */
static bool tcall_anthropic_tools_(const tcall_provider *provider,
                                   tcall_writer *out,
                                   const tcall_chat_request *request)
{
    tcall_sent_tools_ tools = tcall_sent_tools_of_(provider, request);
    if (!tools.tool)
        return false;
    tcall_write_begin_(out, "tools", '[');
    for (; tools.tool; tcall_sent_tools_next_(&tools)) {
        if (!tcall_begin_tool_(&tools, out))
            continue;
        tcall_write_tool_(out, &tools, "input_schema");
        tcall_end_tool_(out);
    }
    tcall_write_close(out, ']');
    return true;
}

/* {"type":"tool","name":"f","disable_parallel_tool_use":true}: that there may
 * be only one call is said in the choice, for which "none" has no room. */
static void tcall_anthropic_choice_(tcall_writer *out,
                                    const tcall_chat_request *request)
{
    static const char *const types[] = {"auto", "none", "any", "tool"};
    if (request->choice == TCALL_CHOICE_AUTO && !request->no_parallel)
        return;
    tcall_write_begin_(out, "tool_choice", '{');
    tcall_write_word_(out, "type", types[request->choice]);
    if (request->choice == TCALL_CHOICE_ONE)
        tcall_write_word_(out, "name", request->choice_name);
    if (request->no_parallel && request->choice != TCALL_CHOICE_NONE)
        tcall_write_flag_(out, "disable_parallel_tool_use", true);
    tcall_write_close(out, '}');
}

/* {"model":...,"max_tokens":...,"system":"...","messages":[...],"tools":[...]};
 * the system prompt is no message. */
static int tcall_anthropic_write_(const tcall_provider *provider,
                                  tcall_writer *out,
                                  const tcall_chat_request *request)
{
    tcall_write_open(out, '{');
    tcall_write_word_(out, "model", request->model);
    /* The one format in which a limit must be given. */
    tcall_write_limit_(out, "max_tokens",
                       request->max_tokens > 0 ? request->max_tokens : 1024);
    if (tcall_has_text_(request->system))
        tcall_write_word_(out, "system", request->system);
    tcall_anthropic_messages_(provider, out, request);
    if (tcall_anthropic_tools_(provider, out, request))
        tcall_anthropic_choice_(out, request);
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_close(out, '}');
}

TCALL_DATA_ const tcall_provider tcall_anthropic = {
    "anthropic",
    "https://api.anthropic.com",
    "/v1/messages",
    NULL,
    "x-api-key",
    "",
    {"anthropic-version", "2023-06-01"},
    tcall_anthropic_write_,
    &tcall_anthropic_paths_,
    tcall_anthropic_stops_,
    tcall_anthropic_types_,
    TCALL_REASONING_DATA, /* as thinking and redacted_thinking */
    TCALL_STRICT_ANTHROPIC,
    0};

#endif /* TCALL_HAS_ANTHROPIC_ */
