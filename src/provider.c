#pragma once
#include "provider.h"
#include "strict.c"
#include "chat.c"

/* ==========================================================================
 * >>provider
 *
 * A request is written by plain calls of the JSON writer. What formats share
 * is here: the conversation in the order in which they want it, the tools that
 * are sent, and the choice among them.
 */

/* ---- members of objects ---- */

/* Opens a bracket, as the value of a key if there is one. */
TCALL_SHARED_ void tcall_write_begin_(tcall_writer *out, const char *key,
                                      char bracket)
{
    if (key)
        tcall_write_key(out, key);
    tcall_write_open(out, bracket);
}

TCALL_SHARED_ void tcall_write_ends_(tcall_writer *out, const char *brackets)
{
    for (; *brackets; brackets++)
        tcall_write_close(out, *brackets);
}

TCALL_SHARED_ void tcall_write_member_(tcall_writer *out, const char *key,
                                       tcall_str value)
{
    tcall_write_key(out, key);
    tcall_write_str(out, value);
}

TCALL_SHARED_ void tcall_write_word_(tcall_writer *out, const char *key,
                                     const char *word)
{
    tcall_write_member_(out, key, tcall_str_of(word));
}

TCALL_SHARED_ void tcall_write_flag_(tcall_writer *out, const char *key,
                                     bool value)
{
    tcall_write_key(out, key);
    tcall_write_bool(out, value);
}

/* A number, if it is above 0: no number is the provider's default. */
TCALL_SHARED_ void tcall_write_limit_(tcall_writer *out, const char *key,
                                      int value)
{
    if (value <= 0)
        return;
    tcall_write_key(out, key);
    tcall_write_int(out, value);
}

TCALL_SHARED_ bool tcall_has_text_(const char *text)
{
    return text && *text;
}

/* ---- the conversation ---- */

/* Is there no text that could be sent? Anthropic and Gemini refuse that. */
TCALL_SHARED_ bool tcall_item_is_blank_(const tcall_item *item)
{
    size_t len = item->text.len;
    if (item->kind > TCALL_ITEM_TEXT || item->signature.len)
        return false;
    while (len && tcall_is_space_(item->text.ptr[len - 1]))
        len--;
    return len == 0;
}

/* A call whose arguments are no object was not run; it goes back without. */
TCALL_SHARED_ tcall_str tcall_sent_arguments_(const tcall_item *call)
{
    return call->is_object ? call->text : tcall_slice_("{}", 2);
}

/* The text of a result, for formats that have no flag for an error. */
TCALL_SHARED_ void tcall_write_result_text_(tcall_writer *out, const char *key,
                                            const tcall_item *result)
{
    tcall_str text = result->text;
    tcall_write_key(out, key);
    tcall_write_quote(out);
    /* An object says itself that something failed. */
    if (result->error && !(text.len && *text.ptr == '{'))
        tcall_write_text(out, "Error: ");
    tcall_write_bytes(out, text.ptr, text.len);
    tcall_write_unquote(out);
}

/* Which of the results with this id, counted from 1, belongs to the call that
 * ends at this place; 0 or less: none. Where further calls of the answer have
 * the same id, the last results are theirs. */
static int tcall_result_index_(const tcall_chat *chat, size_t at, tcall_str id)
{
    tcall_item item;
    int index = 0;
    while (tcall_chat_next(chat, &at, &item)) {
        bool same = tcall_str_eq(item.id, id);
        if (item.kind == TCALL_ITEM_RESULT)
            index += same;
        else if (index > 0)
            break; /* the next answer */
        else if (item.kind == TCALL_ITEM_CALL)
            index -= same;
    }
    return index;
}

/* Replaces a call, which ends at this place, by its result. One that is
 * missing is made up: a call without a result would make the whole
 * conversation invalid. */
static void tcall_find_result_(const tcall_chat *chat, size_t at,
                               tcall_item *item)
{
    const tcall_item call = *item;
    int index = tcall_result_index_(chat, at, call.id);
    if (index <= 0) {
        item->kind = TCALL_ITEM_RESULT;
        item->error = TCALL_E_CANCELLED;
        item->text = tcall_str_of("this call was not run");
        return;
    }
    while (index > 0 && tcall_chat_next(chat, &at, item))
        index -=
            item->kind == TCALL_ITEM_RESULT && tcall_str_eq(item->id, call.id);
    item->synthetic_id = call.synthetic_id;
}

/* What the model said in one answer is given in passes over its items. */
enum {
    TCALL_PASS_REASONING_,
    TCALL_PASS_TEXT_,
    TCALL_PASS_CALLS_, /* each after the reasoning that led to it */
    TCALL_PASS_RESULTS_
};

/* The items of a conversation in the order in which providers want them. */
typedef struct tcall_history_ {
    const tcall_provider *to;
    const tcall_chat *chat;
    size_t answer; /* where the answer at hand begins */
    size_t at;     /* the place in it */
    uint8_t pass;
    bool after_call; /* in this pass */
    char id[9];      /* an id that had to be mapped */
} tcall_history_;

TCALL_SHARED_ tcall_history_ tcall_history_of_(const tcall_provider *to,
                                               const tcall_chat *chat)
{
    tcall_history_ history;
    memset(&history, 0, sizeof history);
    history.to = to;
    history.chat = chat;
    return history;
}

/* Mistral takes ids of nine letters and digits only. Others are mapped to
 * such, each always to the same. */
static tcall_str tcall_nine_letters_(char to[9], tcall_str id)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint32_t high = 2166136261u, low = 0; /* a hash of 64 bits */
    size_t i = 0;
    while (i < id.len && (tcall_is_digit_(id.ptr[i]) ||
                          ((id.ptr[i] | 32) >= 'a' && (id.ptr[i] | 32) <= 'z')))
        i++;
    if (i == 9 && id.len == 9)
        return id;
    for (i = 0; i < id.len; i++) {
        high = (high ^ (unsigned char)id.ptr[i]) * 16777619u;
        low = low * 31 + (high >> 16);
    }
    for (i = 0; i < 9; i++) {
        uint32_t *half = i < 5 ? &high : &low;
        to[i] = digits[*half % 36];
        *half /= 36;
    }
    return tcall_slice_(to, 9);
}

/* Is the item of the model given in this pass? Reasoning is a secret between
 * the model and its provider: nobody else gets it. */
static bool tcall_history_takes_(tcall_history_ *history,
                                 const tcall_item *item)
{
    const tcall_provider *to = history->to;
    if (item->kind == TCALL_ITEM_CALL)
        history->after_call = true;
    if (item->kind == TCALL_ITEM_TEXT)
        return history->pass == TCALL_PASS_TEXT_;
    if (item->kind == TCALL_ITEM_CALL)
        return history->pass >= TCALL_PASS_CALLS_;
    return history->pass == (history->after_call ? TCALL_PASS_CALLS_
                                                 : TCALL_PASS_REASONING_) &&
           to->reasoning && tcall_str_eq(item->name, tcall_str_of(to->name));
}

/* Gives the next item, false at the end. An item whose reasoning did not fit
 * makes the request an error. */
TCALL_SHARED_ bool tcall_history_next_(tcall_history_ *history,
                                       tcall_writer *out, tcall_item *item)
{
    for (;;) {
        size_t next = history->at;
        bool more = tcall_chat_next(history->chat, &next, item);
        if (more && item->kind != TCALL_ITEM_USER &&
            item->kind != TCALL_ITEM_RESULT) {
            history->at = next;
            if (tcall_history_takes_(history, item))
                break;
            continue;
        }
        history->after_call = false;
        if (history->at > history->answer &&
            history->pass < TCALL_PASS_RESULTS_) {
            history->pass++;
            history->at = history->answer;
            continue;
        }
        /* Results were given with their answer; one without a call is not. */
        history->pass = TCALL_PASS_REASONING_;
        history->at = history->answer = next;
        if (!more || item->kind == TCALL_ITEM_USER)
            return more;
    }
    if (item->reasoning_dropped && history->to->reasoning && !out->error)
        out->error = TCALL_E_MEMORY;
    if (history->pass == TCALL_PASS_RESULTS_)
        tcall_find_result_(history->chat, history->at, item);
    if (history->to->quirks & TCALL_QUIRK_NINE_LETTER_IDS)
        item->id = tcall_nine_letters_(history->id, item->id);
    return true;
}

/* Begins a message of this role with a list, unless the last one is of the
 * same: roles must take turns. */
TCALL_SHARED_ void tcall_write_role_(tcall_writer *out, const char **open,
                                     const char *role, const char *list)
{
    if (*open && strcmp(*open, role) == 0)
        return;
    if (*open)
        tcall_write_ends_(out, "]}");
    *open = role;
    tcall_write_begin_(out, NULL, '{');
    tcall_write_word_(out, "role", role);
    tcall_write_begin_(out, list, '[');
}

/* ---- messages as OpenAI began to write them ---- */

/* How far a message of the model is written: its text is one string, its calls
 * are one list. */
typedef enum tcall_message_ {
    TCALL_MESSAGE_NONE_,
    TCALL_MESSAGE_OPEN_,
    TCALL_MESSAGE_TEXT_,
    TCALL_MESSAGE_CALLS_
} tcall_message_;

TCALL_SHARED_ void tcall_message_to_(tcall_writer *out, tcall_message_ *message,
                                     tcall_message_ to)
{
    if (*message == TCALL_MESSAGE_NONE_) {
        tcall_write_begin_(out, NULL, '{');
        tcall_write_word_(out, "role", "assistant");
        *message = TCALL_MESSAGE_OPEN_;
    }
    if (*message == TCALL_MESSAGE_OPEN_ && to > TCALL_MESSAGE_OPEN_) {
        tcall_write_key(out, "content");
        tcall_write_quote(out);
        *message = TCALL_MESSAGE_TEXT_;
    }
    if (*message == TCALL_MESSAGE_TEXT_ && to == TCALL_MESSAGE_CALLS_) {
        tcall_write_unquote(out);
        tcall_write_begin_(out, "tool_calls", '[');
        *message = TCALL_MESSAGE_CALLS_;
    }
}

TCALL_SHARED_ void tcall_message_end_(tcall_writer *out,
                                      tcall_message_ *message)
{
    switch (*message) {
    case TCALL_MESSAGE_NONE_: return;
    case TCALL_MESSAGE_OPEN_: tcall_write_word_(out, "content", ""); break;
    case TCALL_MESSAGE_TEXT_: tcall_write_unquote(out); break;
    case TCALL_MESSAGE_CALLS_: tcall_write_close(out, ']'); break;
    }
    tcall_write_close(out, '}');
    *message = TCALL_MESSAGE_NONE_;
}

TCALL_SHARED_ void tcall_write_message_(tcall_writer *out, const char *role,
                                        tcall_str content)
{
    tcall_write_begin_(out, NULL, '{');
    tcall_write_word_(out, "role", role);
    tcall_write_member_(out, "content", content);
    tcall_write_close(out, '}');
}

/* Writes what all such formats write alike of an item; results and calls are
 * the caller's to write then. */
TCALL_SHARED_ void tcall_message_item_(tcall_writer *out,
                                       tcall_message_ *message,
                                       const tcall_item *item)
{
    switch (item->kind) {
    case TCALL_ITEM_USER:
        tcall_message_end_(out, message);
        tcall_write_message_(out, "user", item->text);
        break;
    case TCALL_ITEM_TEXT:
        tcall_message_to_(out, message, TCALL_MESSAGE_TEXT_);
        tcall_write_bytes(out, item->text.ptr, item->text.len);
        break;
    case TCALL_ITEM_CALL:
        tcall_message_to_(out, message, TCALL_MESSAGE_CALLS_);
        break;
    case TCALL_ITEM_RESULT: tcall_message_end_(out, message); break;
    default: break;
    }
}

/* ---- tools ---- */

/* The tools of a request, one after the other. */
typedef struct tcall_sent_tools_ {
    const tcall_provider *provider;
    const tcall_chat_request *request;
    const tcall_tool *tool; /* NULL: no more */
    size_t next;            /* among the picks, or all */
    tcall_strict_budget_ budget;
    bool say_strict; /* where a tool is not strict, that has to be said */
} tcall_sent_tools_;

/* A server that does not obey a choice gets only what may be called. */
static bool tcall_is_sent_(const tcall_sent_tools_ *tools,
                           const tcall_tool *tool)
{
    const tcall_chat_request *request = tools->request;
    if (!tcall_enabled(tool, request->allow))
        return false;
    if (!(tools->provider->quirks & TCALL_QUIRK_WEAK_CHOICE))
        return true;
    return request->choice != TCALL_CHOICE_NONE &&
           (request->choice != TCALL_CHOICE_ONE ||
            strcmp(tool->name, request->choice_name) == 0);
}

TCALL_SHARED_ void tcall_sent_tools_next_(tcall_sent_tools_ *tools)
{
    const tcall_chat_request *request = tools->request;
    size_t count = request->picks ? request->pick_count : request->tool_count;
    tools->tool = NULL;
    while (tools->next < count && !tools->tool) {
        size_t index =
            request->picks ? request->picks[tools->next] : tools->next;
        tools->next++;
        if (index < request->tool_count &&
            tcall_is_sent_(tools, &request->tools[index]))
            tools->tool = &request->tools[index];
    }
}

TCALL_SHARED_ tcall_sent_tools_ tcall_sent_tools_of_(
    const tcall_provider *provider, const tcall_chat_request *request)
{
    tcall_sent_tools_ tools;
    memset(&tools, 0, sizeof tools);
    tools.provider = provider;
    tools.request = request;
    tools.budget = tcall_strict_budget_of_(provider->strict);
    tcall_sent_tools_next_(&tools);
    return tools;
}

/* Begins the tool at hand. Returns false where it went out before the sink
 * refused more; what it takes of the budget counts nevertheless. */
TCALL_SHARED_ bool tcall_begin_tool_(tcall_sent_tools_ *tools,
                                     tcall_writer *out)
{
    if (tcall_write_part_(out)) {
        tcall_write_begin_(out, NULL, '{');
        return true;
    }
    if (out->error)
        tools->next = (size_t)-1; /* this was the last one */
    else
        tcall_strict_spend_(tools->tool, &tools->budget);
    return false;
}

TCALL_SHARED_ void tcall_end_tool_(tcall_writer *out)
{
    tcall_write_close(out, '}');
    tcall_write_part_end_(out);
}

static const tcall_variable *tcall_find_variable_(const tcall_variable *table,
                                                  tcall_str name)
{
    for (; table && table->name; table++)
        if (tcall_str_eq(tcall_str_of(table->name), name))
            return table;
    return NULL;
}

/* Writes a description, ${name} replaced, in one pass: what a variable holds
 * is not looked at again. */
static void tcall_write_description_(tcall_writer *out, const char *text,
                                     const tcall_variable *variables)
{
    const char *open, *end;
    text = text ? text : "";
    while ((open = strstr(text, "${")) != NULL &&
           (end = strchr(open, '}')) != NULL) {
        tcall_str name = tcall_slice_(open + 2, (size_t)(end - open) - 2);
        const tcall_variable *found = tcall_find_variable_(variables, name);
        tcall_write_bytes(out, text, (size_t)(open - text));
        tcall_write_text(out, found ? found->text : "${");
        text = found ? end + 1 : open + 2;
    }
    tcall_write_text(out, text);
}

/* Writes a schema as it is, to the byte, but for the type that every provider
 * insists on. */
static void tcall_write_plain_schema_(tcall_writer *out, const char *schema)
{
    const char *end = tcall_text_skip_(schema);
    if (!tcall_text_get_(schema, "type")) {
        tcall_write_text(out, "{\"type\":\"object\"");
        if (!tcall_text_get_(schema, "properties"))
            tcall_write_text(out, ",\"properties\":{}");
        schema = tcall_text_space_(schema + 1);
        if (*schema != '}')
            tcall_write_text(out, ",");
    }
    tcall_write_bytes(out, schema, (size_t)(end - schema));
}

/* Writes what all formats say of a tool: name, description, schema and
 * whether it is strict. */
TCALL_SHARED_ void tcall_write_tool_(tcall_writer *out,
                                     tcall_sent_tools_ *tools,
                                     const char *schema_key)
{
    const tcall_tool *tool = tools->tool;
    bool strict;
    tcall_write_word_(out, "name", tool->name);
    tcall_write_key(out, "description");
    tcall_write_quote(out);
    tcall_write_description_(out, tool->description, tools->request->variables);
    tcall_write_unquote(out);
    tcall_write_key(out, schema_key);
    strict = tcall_strict_write_(out, tool, &tools->budget);
    if (!strict)
        tcall_write_plain_schema_(out, tcall_tool_schema_(tool));
    strict = strict && tools->budget.mode != TCALL_STRICT_OLLAMA;
    if (strict || tools->say_strict)
        tcall_write_flag_(out, "strict", strict);
}

/* Writes tools as OpenAI began to write them. Returns false if there are none.
 */
TCALL_SHARED_ bool
tcall_write_function_tools_(const tcall_provider *provider, tcall_writer *out,
                            const tcall_chat_request *request)
{
    tcall_sent_tools_ tools = tcall_sent_tools_of_(provider, request);
    if (!tools.tool)
        return false;
    tcall_write_begin_(out, "tools", '[');
    for (; tools.tool; tcall_sent_tools_next_(&tools)) {
        if (!tcall_begin_tool_(&tools, out))
            continue;
        tcall_write_word_(out, "type", "function");
        tcall_write_begin_(out, "function", '{');
        tcall_write_tool_(out, &tools, "parameters");
        tcall_write_close(out, '}');
        tcall_end_tool_(out);
    }
    tcall_write_close(out, ']');
    return true;
}

/* Has the request to name a tool that must be called? */
TCALL_SHARED_ bool tcall_names_tool_(const tcall_provider *provider,
                                     const tcall_chat_request *request)
{
    return request->choice == TCALL_CHOICE_ONE &&
           !(provider->quirks &
             (TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_CHOICE));
}

/* Writes the choice among the tools, where none is named. */
TCALL_SHARED_ void tcall_write_choice_(const tcall_provider *provider,
                                       tcall_writer *out,
                                       const tcall_chat_request *request)
{
    const char *required =
        provider->quirks & TCALL_QUIRK_ANY ? "any" : "required";
    if (request->choice == TCALL_CHOICE_AUTO ||
        provider->quirks & TCALL_QUIRK_NO_CHOICE)
        return;
    tcall_write_word_(out, "tool_choice",
                      request->choice == TCALL_CHOICE_NONE ? "none" : required);
}

/* Says whether an answer may hold more than one call. */
TCALL_SHARED_ void tcall_write_parallel_(const tcall_provider *provider,
                                         tcall_writer *out,
                                         const tcall_chat_request *request)
{
    bool can = !(provider->quirks & TCALL_QUIRK_NO_PARALLEL);
    if (provider->quirks & TCALL_QUIRK_SAY_PARALLEL ||
        (request->no_parallel && can))
        tcall_write_flag_(out, "parallel_tool_calls", !request->no_parallel);
}
