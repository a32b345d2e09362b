#pragma once
#include "text_calls.h"
#include "call.c"
#include "chat.c"
#include "answer.c"
#include "write.c"

/* ==========================================================================
 * >>text_calls
 *
 * The text is walked over once. Where a call may begin, the forms of the family
 * are tried, one after the other. What each family writes are facts from the
 * parsers of llama.cpp: common/chat-parser.cpp and common/parsers/.
 */

/* How often a text may look like a call and be none: each time may cost a look
 * at all that follows. */
enum { TCALL_SPOKEN_TRIES_ = 32 };

typedef struct tcall_spoken_reader_ {
    tcall_reader *reader;
    const tcall_text_form *form;
    const char *start, *at, *end; /* the text; what is tried begins at at */
    int error;                    /* there is no room */
    bool cut;                     /* the text ended within a call */
    int tries;
    size_t last; /* the call that was added last */
} tcall_spoken_reader_;

/* ---- texts of forms ---- */

/* Returns the end of what is like the pattern at this place, or NULL. */
static const char *tcall_spoken_match_(const char *at, const char *end,
                                       const char *pattern)
{
    for (; *pattern; pattern++) {
        if (*pattern == ' ') {
            while (at < end && tcall_is_space_(*at))
                at++;
        } else if (*pattern == '*') {
            size_t len = strlen(++pattern);
            for (;; at++) {
                if ((size_t)(end - at) < len || *at == '\n')
                    return NULL;
                if (memcmp(at, pattern, len) == 0)
                    return at + len;
            }
        } else if (*pattern == '$') {
            return at == end ? at : NULL;
        } else if (at == end || *at++ != *pattern) {
            return NULL;
        }
    }
    return at;
}

/* Returns where something like the pattern begins, or the end. */
static const char *tcall_spoken_find_(const char *at, const char *end,
                                      const char *pattern)
{
    while (at < end && !tcall_spoken_match_(at, end, pattern))
        at++;
    return at;
}

/* Moves on if something like the pattern follows. */
static bool tcall_spoken_skip_(tcall_spoken_reader_ *text, const char *pattern)
{
    const char *to = tcall_spoken_match_(text->at, text->end, pattern);
    text->at = to ? to : text->at;
    return to != NULL;
}

static bool tcall_spoken_skip_end_(tcall_spoken_reader_ *text)
{
    const char *pattern = text->form->end;
    bool optional = *pattern == '?';
    return tcall_spoken_skip_(text, pattern + optional) || optional;
}

/* Skips what is in set. */
static void tcall_spoken_skip_set_(tcall_spoken_reader_ *text, const char *set)
{
    while (text->at < text->end && *text->at && strchr(set, *text->at))
        text->at++;
}

/* Returns the end of what goes on up to one of stops outside of brackets and
 * quotes, or to the bracket that closes what opens at at, or NULL. */
static const char *tcall_spoken_value_end_(const char *at, const char *end,
                                           const char *stops)
{
    int depth = 0;
    char quote = 0;
    for (; at < end; at++) {
        if (*at == '\\')
            at++;
        else if (quote)
            quote = *at == quote ? 0 : quote;
        else if (*at == '"' || *at == '\'')
            quote = *at;
        else if (!depth && *at && strchr(stops, *at))
            return at;
        else if (*at == '{' || *at == '[' || *at == '(')
            depth++;
        else if ((*at == '}' || *at == ']' || *at == ')') && --depth == 0 &&
                 !*stops)
            return at + 1;
    }
    return NULL;
}

/* ---- calls ---- */

/* Adds a call to the end of the chat, which makes an id up, if there is a tool
 * of this name. Returns whether there is one. */
static bool tcall_spoken_add_(tcall_spoken_reader_ *text, tcall_item *item)
{
    tcall_reader *reader = text->reader;
    if (item->name.len && reader->knows &&
        !reader->knows(reader->user, item->name))
        return false;
    item->kind = TCALL_ITEM_CALL;
    text->last = reader->chat->block->low;
    if (text->error == TCALL_OK)
        text->error = tcall_chat_add(reader->chat, item);
    reader->answer.calls += text->error == TCALL_OK;
    return true;
}

/* Finds the name and the arguments of a call that is one object, or in one of
 * its members, "function". Returns false if it has two of either: which is
 * meant? */
static bool tcall_spoken_parts_(tcall_json object, tcall_json *name,
                                tcall_json *args)
{
    static const char *const names[] = {"name",      "function",  "tool",
                                        "tool_name", "arguments", "parameters",
                                        "args"};
    tcall_json inner, v;
    bool clear = true;
    for (; object.at; object = inner) {
        inner = tcall_json_of_(NULL, NULL);
        for (v = tcall_json_first(object); v.at; v = tcall_json_next(v)) {
            tcall_str key = tcall_json_key(v);
            tcall_json *part;
            size_t i = 0;
            while (i < TCALL_ARRAY_LEN(names) &&
                   !tcall_str_eq(key, tcall_str_of(names[i])))
                i++;
            part = i < 4 ? name : args;
            if (i < 4 && tcall_json_type(v) == TCALL_OBJECT)
                part = &inner;
            if (i < TCALL_ARRAY_LEN(names)) {
                clear = clear && !part->at;
                *part = v;
            }
        }
    }
    return clear;
}

/* Returns the name in an object that is not whole, as far as that is known. */
static tcall_str tcall_spoken_name_(const char *object)
{
    const char *at = strstr(object, "\"name\":\""), *end;
    end = at ? strchr(at += 8, '"') : NULL;
    return tcall_slice_(at, end ? (size_t)(end - at) : 0);
}

/* Reads a call that is written as one object. What it is read to is needed only
 * until the call is added. */
TCALL_NOINLINE_ static bool tcall_spoken_object_(tcall_spoken_reader_ *text,
                                                 tcall_item *item)
{
    tcall_block *block = text->reader->chat->block;
    size_t high = block->high;
    tcall_json name = tcall_json_of_(NULL, NULL), args = name;
    tcall_machine machine;
    tcall_machine_desc desc;
    tcall_str kept;
    uint32_t fixes;
    bool known;
    int error;
    memset(&desc, 0, sizeof desc);
    desc.object = true;
    error = tcall_arguments_meant_(block, &machine, &desc, item->text, false,
                                   &fixes);
    machine.text[machine.len] = '\0';
    if (error == TCALL_E_MEMORY ||
        tcall_hydrate_keep_(block, machine.text, machine.len + 1, &kept) < 0) {
        text->error = TCALL_E_MEMORY;
        return false;
    }
    if (error) {
        item->name = tcall_spoken_name_(kept.ptr);
    } else if (!tcall_spoken_parts_(tcall_json_of_(kept.ptr, NULL), &name,
                                    &args)) {
        error = TCALL_E_DUPLICATE;
    }
    if (name.at)
        item->name = tcall_json_str(name);
    item->error = item->error ? item->error : error;
    if (!error)
        item->text = tcall_json_type(args) == TCALL_STRING
                         ? tcall_json_str(args)
                     : args.at ? tcall_text_verbatim_(args.at)
                               : tcall_slice_(NULL, 0);
    known = tcall_spoken_add_(text, item);
    tcall_block_back_(block, high);
    return known;
}

/* The text ends within the call. Returns false for who is to say so. */
static bool tcall_spoken_cut_(tcall_spoken_reader_ *text)
{
    text->at = text->end;
    text->cut = true;
    return false;
}

static size_t tcall_spoken_name_len_(const tcall_spoken_reader_ *text)
{
    const char *at = text->at;
    while (at < text->end && (((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z') ||
                              tcall_is_digit_(*at) || *at == '_' || *at == '-'))
        at++;
    return (size_t)(at - text->at);
}

/* Writes the value up to an offset: Python's as it stands, other text as a
 * string, without the line breaks at both ends. */
static void tcall_spoken_value_(tcall_spoken_reader_ *text, tcall_writer *out,
                                const char *to)
{
    const char *from = text->at, *end = to;
    if (!*text->form->key) {
        tcall_write_bytes(out, from, (size_t)(to - from));
    } else {
        from += from < end && *from == '\n';
        end -= from < end && end[-1] == '\n';
        tcall_write_str(out, tcall_slice_(from, (size_t)(end - from)));
    }
    text->at = to;
}

/* Writes arguments that are no object as one. Returns whether they are whole;
 * else they are cut, or not of this form. */
static bool tcall_spoken_members_(tcall_spoken_reader_ *text, tcall_writer *out)
{
    const tcall_text_form *form = text->form;
    bool python = !*form->key;
    const char *comma = "", *to;
    tcall_write_text(out, "{");
    for (;;) {
        tcall_spoken_skip_set_(text, python ? " \t\r\n," : " \t\r\n");
        if (text->at == text->end)
            return tcall_spoken_cut_(text);
        if (python ? *text->at == ')' : !tcall_spoken_skip_(text, form->key))
            break;
        to = text->at + tcall_spoken_name_len_(text);
        if (!python)
            to = tcall_spoken_find_(text->at, text->end, form->key_end);
        tcall_write_text(out, comma);
        tcall_write_str(out, tcall_slice_(text->at, (size_t)(to - text->at)));
        tcall_write_text(out, ":");
        comma = ",";
        text->at = to;
        if (to == text->end)
            return tcall_spoken_cut_(text);
        if (!tcall_spoken_skip_(text, form->key_end))
            return false;
        to = python ? tcall_spoken_value_end_(text->at, text->end, ",)")
                    : tcall_spoken_find_(text->at, text->end, form->value_end);
        if (!to || to == text->end)
            return tcall_spoken_cut_(text);
        tcall_spoken_value_(text, out, to);
        if (!python)
            tcall_spoken_skip_(text, form->value_end);
    }
    text->at += python;
    tcall_write_text(out, "}");
    return true;
}

/* Reads such arguments: once to count, once to write. Returns false where they
 * are not of this form. */
TCALL_NOINLINE_ static bool tcall_spoken_written_(tcall_spoken_reader_ *text,
                                                  tcall_item *item)
{
    tcall_block *block = text->reader->chat->block;
    size_t high = block->high, len;
    const char *from = text->at;
    tcall_writer out;
    char *memory;
    tcall_writer_init(&out, NULL, 0);
    if (!tcall_spoken_members_(text, &out) && !text->cut)
        return false;
    len = out.len;
    memory = (char *)tcall_block_take_(block, len);
    if (memory) {
        text->at = from;
        tcall_writer_init(&out, memory, len);
        tcall_spoken_members_(text, &out);
    } else {
        text->error = TCALL_E_MEMORY;
    }
    item->text = tcall_slice_(memory, memory ? len : 0);
    item->error = text->cut ? TCALL_E_CUT : TCALL_OK;
    tcall_spoken_add_(text, item);
    tcall_block_back_(block, high);
    return true;
}

/* Takes the object that begins here as the text of a call; one that does not
 * end is cut where the call ends. */
static void tcall_spoken_take_(tcall_spoken_reader_ *text, tcall_item *item)
{
    const char *from = text->at, *pattern = text->form->end;
    const char *to = tcall_spoken_value_end_(from, text->end, "");
    if (!to) {
        item->error = TCALL_E_CUT;
        to = text->end;
        pattern += *pattern == '?';
        if (*pattern)
            to = tcall_spoken_find_(from, text->end, pattern);
        text->cut = to == text->end;
    }
    text->at = to;
    item->text = tcall_slice_(from, (size_t)(to - from));
}

/* Reads a call that begins with its name. Returns false where it is none. */
static bool tcall_spoken_named_(tcall_spoken_reader_ *text, tcall_item *item)
{
    const char *to;
    item->name = tcall_slice_(text->at, tcall_spoken_name_len_(text));
    text->at += item->name.len;
    if (!item->name.len || !tcall_spoken_skip_(text, text->form->name_end))
        return false;
    if (text->form->key)
        return tcall_spoken_written_(text, item);
    tcall_spoken_skip_set_(text, " \t\r\n");
    to = text->at;
    if (text->at == text->end) {
        item->error = TCALL_E_CUT;
        text->cut = true;
    } else if (*to == '{') {
        tcall_spoken_take_(text, item);
    } else if (!*text->form->end || *text->form->end == '?') {
        return false;
    } else {
        to = tcall_spoken_find_(to, text->end, text->form->end);
        item->text = tcall_slice_(text->at, (size_t)(to - text->at));
        item->error = item->text.len ? TCALL_E_BAD_VALUE : TCALL_OK;
        text->at = to;
    }
    tcall_spoken_add_(text, item);
    return true;
}

/* Reads a call that is an object. With escaped quotes it is part of another
 * text. */
static bool tcall_spoken_whole_(tcall_spoken_reader_ *text, tcall_item *item)
{
    if (text->at == text->end || *text->at != '{' ||
        tcall_spoken_match_(text->at, text->end, "{ \\"))
        return false;
    tcall_spoken_take_(text, item);
    tcall_spoken_object_(text, item);
    return true;
}

/* Whether the line goes on as a sentence does: then it speaks of a call. */
static bool tcall_spoken_goes_on_(const tcall_spoken_reader_ *text)
{
    const char *at = text->at;
    while (at < text->end && (*at == ' ' || *at == '\t'))
        at++;
    return at < text->end && text->at[-1] != '\n' && *at &&
           ((*at >= 'a' && *at <= 'z') || strchr(".,:!?)\"'`*\\}", *at));
}

/* Reads the calls of one marker. Returns false where they are none. */
static bool tcall_spoken_calls_(tcall_spoken_reader_ *text)
{
    const tcall_text_form *form = text->form;
    bool python = form->key && !*form->key, more;
    if (!form->name_end)
        tcall_spoken_skip_set_(text, " \t\r\n[");
    do {
        tcall_item item;
        memset(&item, 0, sizeof item);
        if (!(form->name_end ? tcall_spoken_named_(text, &item)
                             : tcall_spoken_whole_(text, &item)))
            return false;
        more = !text->cut && (!form->name_end || python);
        if (more)
            tcall_spoken_skip_set_(text, " \t\r\n],;}");
        more = more && text->at < text->end &&
               (python ? tcall_spoken_name_len_(text) > 0 : *text->at == '{');
    } while (more);
    if (text->cut || tcall_spoken_skip_end_(text))
        return text->cut || !tcall_spoken_goes_on_(text);
    if (text->at < text->end)
        return false;
    text->cut = true;
    tcall_head_at_(text->reader->chat, text->last)->error = (int8_t)TCALL_E_CUT;
    return true;
}

/* Tries a form at this place. What is no call leaves nothing. */
static bool tcall_spoken_try_(tcall_spoken_reader_ *text, const char *at)
{
    tcall_reader *reader = text->reader;
    tcall_chat *chat = reader->chat;
    size_t low = chat->block->low, last = text->last;
    uint32_t made = chat->made;
    int calls = reader->answer.calls;
    bool first = *text->form->begin == '^';
    text->at = at;
    text->cut = false;
    tcall_spoken_skip_(text, text->form->scope);
    if ((first && at != text->start) ||
        !tcall_spoken_skip_(text, text->form->begin + first))
        return false;
    text->tries++;
    if (tcall_spoken_calls_(text) && reader->answer.calls > calls)
        return true;
    text->cut = false;
    text->last = last;
    chat->block->low = low;
    chat->made = made;
    reader->answer.calls = calls;
    return false;
}

/* ---- what only quotes a call ---- */

/* Where in a text a place is. */
typedef struct tcall_spoken_place_ {
    tcall_syntax_ json; /* of JSON that began before it */
    bool in_json, fence, code, quoted;
} tcall_spoken_place_;

/* Whether a quote opens just before this. */
static bool tcall_spoken_in_quotes_(const char *start, const char *at)
{
    if (at == start)
        return false;
    return strchr("\"'`", at[-1]) ||
           (at - start >= 3 && memcmp(at - 3, "\xE2\x80", 2) == 0 &&
            (at[-1] == '\x9C' || at[-1] == '\x98'));
}

/* Goes on over the byte at a place. */
static void tcall_spoken_pass_(tcall_spoken_place_ *place, const char *start,
                               const char *at, const char *end)
{
    bool begins = at == start || at[-1] == '\n';
    bool mark = *at == '`' && (at == start || at[-1] != '`');
    if (*at == '\n')
        place->code = place->quoted = false;
    else if (mark && tcall_spoken_match_(at, end, "```"))
        place->fence = !place->fence;
    else if (mark)
        place->code = !place->code;
    else if (begins && *at == '>')
        place->quoted = true;
    if (!place->in_json && (*at == '{' || *at == '[') &&
        !tcall_spoken_in_quotes_(start, at)) {
        tcall_syntax_begin_(&place->json, &tcall_syntax_nobody_);
        place->in_json = true;
    }
    if (place->in_json) {
        tcall_syntax_feed_(&place->json, at, 1);
        place->in_json =
            !place->json.error && place->json.state != TCALL_AT_DONE_;
    }
}

/* Whether a call can begin at a place. */
static bool tcall_spoken_may_begin_(const tcall_spoken_place_ *place,
                                    const char *start, const char *at)
{
    if (place->fence || place->code || place->quoted ||
        (place->in_json && place->json.state >= TCALL_AT_STRING_ &&
         place->json.state <= TCALL_AT_HALF_))
        return false;
    return at == start ||
           (strchr("<[{", *at) && !tcall_spoken_in_quotes_(start, at));
}

/* Makes calls of those that the text holds, and ends the text where they begin.
 * cut: nobody knows what followed the last one. */
TCALL_NOINLINE_ static int tcall_spoken_read_(const tcall_text_calls *calls,
                                              tcall_reader *reader, bool cut)
{
    tcall_chat *chat = reader->chat;
    tcall_item_head_ *head =
        tcall_head_at_(chat, reader->place[TCALL_AT_TEXT_]);
    tcall_str all = tcall_head_part_(head, TCALL_PART_TEXT_);
    const char *first = NULL, *at;
    tcall_spoken_place_ place;
    tcall_spoken_reader_ text;
    memset(&place, 0, sizeof place);
    memset(&text, 0, sizeof text);
    text.reader = reader;
    text.end = all.ptr + all.len;
    text.start = tcall_spoken_match_(all.ptr, text.end, " ");
    for (at = text.start; at < text.end && !text.error && !text.cut;) {
        bool found = false;
        text.form = calls->forms;
        if (text.tries < TCALL_SPOKEN_TRIES_ &&
            tcall_spoken_may_begin_(&place, text.start, at))
            for (; text.form->begin && !found && !text.error; text.form++)
                found = tcall_spoken_try_(&text, at);
        if (found) {
            first = first ? first : at;
            at = text.at;
            place.in_json = false;
        } else {
            tcall_spoken_pass_(&place, text.start, at, text.end);
            at++;
        }
    }
    if (text.error == TCALL_OK && first) {
        size_t end = reader->place[TCALL_AT_TEXT_] + tcall_head_size_(head);
        size_t spoken = (size_t)(first - all.ptr);
        if (cut)
            tcall_head_at_(chat, text.last)->error = (int8_t)TCALL_E_CUT;
        tcall_head_set_len_(head, TCALL_PART_TEXT_, spoken);
        tcall_chat_shift_(chat, end, end - all.len + spoken);
    }
    return reader->answer.error = text.error;
}

/* ---- families ---- */

#define TCALL_SPOKEN_OBJECT_(begin, end)       \
    {                                          \
        "", begin, NULL, NULL, NULL, NULL, end \
    }
#define TCALL_SPOKEN_NAMED_(scope, begin, name_end, end) \
    {                                                    \
        scope, begin, name_end, NULL, NULL, NULL, end    \
    }
#define TCALL_SPOKEN_PYTHON_(begin, name_end, end) \
    {                                              \
        "", begin, name_end, "", " = ", NULL, end  \
    }
#define TCALL_SPOKEN_LAST_                       \
    {                                            \
        NULL, NULL, NULL, NULL, NULL, NULL, NULL \
    }

#define TCALL_SPOKEN_HERMES_                                         \
    TCALL_SPOKEN_OBJECT_("<tool_call>", "</tool_call>"),             \
        TCALL_SPOKEN_OBJECT_("<function_call>", "</function_call>"), \
        TCALL_SPOKEN_OBJECT_("<tools>", "</tools>"),                 \
        TCALL_SPOKEN_OBJECT_("[TOOL_CALL]", "[/TOOL_CALL]"),         \
        TCALL_SPOKEN_NAMED_("", "[TOOL_CALL]", "", "[/TOOL_CALL]")

#define TCALL_SPOKEN_QWEN_ROW_(begin, end)                      \
    {                                                           \
        "", begin, ">", "<parameter=", ">", "</parameter>", end \
    }
#define TCALL_SPOKEN_QWEN_                              \
    TCALL_SPOKEN_QWEN_ROW_("<tool_call> <function=",    \
                           "</function> </tool_call>"), \
        TCALL_SPOKEN_QWEN_ROW_("<function=", "</function>")

#define TCALL_SPOKEN_MINIMAX_                                        \
    {                                                                \
        "<minimax:tool_call> ", "<invoke name=\"", "\">",            \
            "<parameter name=\"", "\">", "</parameter>", "</invoke>" \
    }

#define TCALL_SPOKEN_GLM_                                               \
    {                                                                   \
        "", "<tool_call> ", " ", "<arg_key>", "</arg_key> <arg_value>", \
            "</arg_value>", "</tool_call>"                              \
    }

#define TCALL_SPOKEN_LLAMA_                                        \
    TCALL_SPOKEN_NAMED_("", "<function=", ">", "</function>"),     \
        TCALL_SPOKEN_NAMED_("", "<function=", "=", "</function>"), \
        TCALL_SPOKEN_OBJECT_("<|python_tag|>", "?<|eom_id|>"),     \
        TCALL_SPOKEN_PYTHON_("<|python_tag|>", ".call(", "?<|eom_id|>")

#define TCALL_SPOKEN_MISTRAL_                                            \
    TCALL_SPOKEN_OBJECT_("[TOOL_CALLS]", ""),                            \
        TCALL_SPOKEN_NAMED_("", "[TOOL_CALLS]", "[CALL_ID]*[ARGS]", ""), \
        TCALL_SPOKEN_NAMED_("", "[TOOL_CALLS]", "[ARGS]", ""),           \
        TCALL_SPOKEN_NAMED_("", "[TOOL_CALLS]", "", "")

#define TCALL_SPOKEN_PHI_                                     \
    TCALL_SPOKEN_OBJECT_("<|tool_call|>", "?<|/tool_call|>"), \
        TCALL_SPOKEN_OBJECT_("<|tool_calls|>", "?<|/tool_calls|>")

#define TCALL_SPOKEN_KIMI_ROW_(begin)                           \
    TCALL_SPOKEN_NAMED_("<|tool_calls_section_begin|> ", begin, \
                        ":*<|tool_call_argument_begin|>",       \
                        "?<|tool_call_end|>")
#define TCALL_SPOKEN_KIMI_                                    \
    TCALL_SPOKEN_KIMI_ROW_("<|tool_call_begin|> functions."), \
        TCALL_SPOKEN_KIMI_ROW_("<|tool_call_begin|> ")

/* Its bars are wide, and what looks like _ are blocks. */
#define TCALL_SPOKEN_WIDE_(first, second) \
    "<\xEF\xBD\x9Ctool"                   \
    "\xE2\x96\x81" first second "\xEF\xBD\x9C>"
#define TCALL_SPOKEN_DEEPSEEK_ROW_(begin, name_end, end)              \
    TCALL_SPOKEN_NAMED_(TCALL_SPOKEN_WIDE_("calls", "\xE2\x96\x81"    \
                                                    "begin") " ",     \
                        TCALL_SPOKEN_WIDE_("call", "\xE2\x96\x81"     \
                                                   "begin") begin,    \
                        name_end,                                     \
                        end TCALL_SPOKEN_WIDE_("call", "\xE2\x96\x81" \
                                                       "end"))
#define TCALL_SPOKEN_DEEPSEEK_                                           \
    TCALL_SPOKEN_DEEPSEEK_ROW_("function" TCALL_SPOKEN_WIDE_("sep", ""), \
                               " ```json ", " ``` "),                    \
        TCALL_SPOKEN_DEEPSEEK_ROW_("", TCALL_SPOKEN_WIDE_("sep", ""), " ")

/* V3.2 */
#define TCALL_SPOKEN_DSML_ \
    "\xEF\xBD\x9C"         \
    "DSML"                 \
    "\xEF\xBD\x9C"
#define TCALL_SPOKEN_DEEPSEEK_XML_                                          \
    {                                                                       \
        "<" TCALL_SPOKEN_DSML_ "function_calls> ",                          \
            "<" TCALL_SPOKEN_DSML_ "invoke name=\"", "\">",                 \
            "<" TCALL_SPOKEN_DSML_ "parameter name=\"", "\" string=\"*\">", \
            "</" TCALL_SPOKEN_DSML_ "parameter>",                           \
            "</" TCALL_SPOKEN_DSML_ "invoke>"                               \
    }

#define TCALL_SPOKEN_GPT_OSS_ROW_(scope, begin, name_end) \
    TCALL_SPOKEN_NAMED_(scope, begin, name_end, "?<|call|>")
#define TCALL_SPOKEN_GPT_OSS_                                             \
    TCALL_SPOKEN_GPT_OSS_ROW_("<|start|>assistant",                       \
                              "<|channel|>commentary to=functions.",      \
                              "*<|message|>"),                            \
        TCALL_SPOKEN_GPT_OSS_ROW_("<|start|>assistant",                   \
                                  "<|channel|>analysis to=functions.",    \
                                  "*<|message|>"),                        \
        TCALL_SPOKEN_GPT_OSS_ROW_("", "<|start|>assistant to=functions.", \
                                  "<|channel|>*<|message|>"),             \
        TCALL_SPOKEN_GPT_OSS_ROW_("", "^to=functions.",                   \
                                  "<|channel|>*<|message|>")

#define TCALL_SPOKEN_FAMILY_(name, ...)                                  \
    static const tcall_text_form name##_forms_[] = {__VA_ARGS__,         \
                                                    TCALL_SPOKEN_LAST_}; \
    TCALL_DATA_ const tcall_text_calls name = {name##_forms_,            \
                                               tcall_spoken_read_};

TCALL_SPOKEN_FAMILY_(tcall_text_hermes, TCALL_SPOKEN_HERMES_)
TCALL_SPOKEN_FAMILY_(tcall_text_qwen, TCALL_SPOKEN_QWEN_, TCALL_SPOKEN_HERMES_)
TCALL_SPOKEN_FAMILY_(tcall_text_glm, TCALL_SPOKEN_GLM_)
TCALL_SPOKEN_FAMILY_(tcall_text_llama, TCALL_SPOKEN_LLAMA_,
                     TCALL_SPOKEN_OBJECT_("^", "$"),
                     TCALL_SPOKEN_PYTHON_("^[", "(", "$"))
TCALL_SPOKEN_FAMILY_(tcall_text_mistral, TCALL_SPOKEN_MISTRAL_)
TCALL_SPOKEN_FAMILY_(tcall_text_phi, TCALL_SPOKEN_PHI_)
TCALL_SPOKEN_FAMILY_(tcall_text_kimi, TCALL_SPOKEN_KIMI_)
TCALL_SPOKEN_FAMILY_(tcall_text_deepseek, TCALL_SPOKEN_DEEPSEEK_XML_,
                     TCALL_SPOKEN_DEEPSEEK_)
TCALL_SPOKEN_FAMILY_(tcall_text_minimax, TCALL_SPOKEN_MINIMAX_)
TCALL_SPOKEN_FAMILY_(tcall_text_gpt_oss, TCALL_SPOKEN_GPT_OSS_)
TCALL_SPOKEN_FAMILY_(tcall_text_any, TCALL_SPOKEN_QWEN_, TCALL_SPOKEN_HERMES_,
                     TCALL_SPOKEN_GLM_, TCALL_SPOKEN_LLAMA_,
                     TCALL_SPOKEN_MISTRAL_, TCALL_SPOKEN_PHI_,
                     TCALL_SPOKEN_KIMI_, TCALL_SPOKEN_DEEPSEEK_,
                     TCALL_SPOKEN_DEEPSEEK_XML_, TCALL_SPOKEN_MINIMAX_,
                     TCALL_SPOKEN_GPT_OSS_)
