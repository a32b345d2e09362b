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

/* The texts of a form. */
enum {
    TCALL_SPOKEN_SCOPE_,
    TCALL_SPOKEN_BEGIN_,
    TCALL_SPOKEN_NAME_END_,
    TCALL_SPOKEN_KEY_,
    TCALL_SPOKEN_KEY_END_,
    TCALL_SPOKEN_VALUE_END_,
    TCALL_SPOKEN_END_,
    TCALL_SPOKEN_TEXTS_
};

typedef struct tcall_spoken_ {
    tcall_reader *reader;
    const char *form;             /* that is tried */
    const char *start, *at, *end; /* the text, and how far it is read */
    int error;                    /* there is no room */
    bool cut;                     /* the text ended within a call */
    int tries;
    size_t last; /* the call that was added last */
    /* what is around the place: */
    tcall_syntax_ json; /* of JSON that began before it */
    bool in_json, fence, code, quoted;
} tcall_spoken_;

/* ---- texts of forms ---- */

/* Returns a text of a form; TCALL_SPOKEN_TEXTS_: the next form. */
static const char *tcall_spoken_text_(const char *form, int which)
{
    for (form++; which > 0; which--)
        form += strlen(form) + 1;
    return form;
}

/* Returns where something like a text of the form begins, or the end. */
static const char *tcall_spoken_find_(const tcall_spoken_ *text, int which)
{
    const char *at = text->at, *pattern = tcall_spoken_text_(text->form, which);
    pattern += *pattern == '?';
    while (at < text->end && !tcall_marker_end_(at, text->end, pattern))
        at++;
    return at;
}

/* Moves on if something like a text of the form follows. Returns whether it
 * does, or may be missing. */
static bool tcall_spoken_skip_(tcall_spoken_ *text, int which)
{
    const char *pattern = tcall_spoken_text_(text->form, which), *to;
    bool optional = *pattern == '?', first = *pattern == '^';
    if (first && text->at != text->start)
        return false;
    to = tcall_marker_end_(text->at, text->end, pattern + (optional || first));
    text->at = to ? to : text->at;
    return to || optional;
}

/* Skips what is in set. */
static void tcall_spoken_skip_set_(tcall_spoken_ *text, const char *set)
{
    while (text->at < text->end && *text->at && strchr(set, *text->at))
        text->at++;
}

/* Returns where the first of stops is outside of brackets and quotes, or the
 * end; without stops, what follows the bracket that closes the one here, or
 * NULL. */
static const char *tcall_spoken_value_end_(const char *at, const char *end,
                                           const char *stops)
{
    int depth = 0;
    for (; at < end; at = tcall_token_end_(at, end)) {
        if (!depth && *at && strchr(stops, *at))
            return at;
        depth += *at == '{' || *at == '[' || *at == '(';
        if ((*at == '}' || *at == ']' || *at == ')') && --depth == 0 && !*stops)
            return at + 1;
    }
    return *stops ? end : NULL;
}

/* ---- calls ---- */

/* Adds a call to the end of the chat, which makes an id up, if there is a tool
 * of this name. */
static void tcall_spoken_add_(tcall_spoken_ *text, tcall_item *item)
{
    tcall_reader *reader = text->reader;
    if (text->error || (item->name.len && reader->knows &&
                        !reader->knows(reader->user, item->name)))
        return;
    item->kind = TCALL_ITEM_CALL;
    text->last = reader->chat->block->low;
    text->error = tcall_chat_add(reader->chat, item);
    reader->answer.calls += text->error == TCALL_OK;
}

/* Finds the member that has one of "name\0other\0". Returns false if there are
 * two: which is meant? */
static bool tcall_spoken_one_(tcall_json object, const char *names,
                              tcall_json *one)
{
    bool clear = true;
    for (; *names; names += strlen(names) + 1) {
        tcall_json v = tcall_json_get(object, names);
        clear = clear && !(v.at && one->at);
        *one = one->at ? *one : v;
    }
    return clear;
}

/* Finds the name and the arguments of a call that is one object, or in one of
 * its members, "function". Returns false if it has two of either. */
static bool tcall_spoken_parts_(tcall_json object, tcall_json *name,
                                tcall_json *args)
{
    bool clear = true;
    do {
        *name = tcall_json_of_(NULL, NULL);
        clear =
            clear &&
            tcall_spoken_one_(object, "name\0function\0tool\0tool_name\0",
                              name) &&
            tcall_spoken_one_(object, "arguments\0parameters\0args\0", args);
        object = *name;
    } while (tcall_json_type(object) == TCALL_OBJECT);
    return clear;
}

/* Reads a call that is written as one object; of one that is broken, its name,
 * if that is whole. */
TCALL_NOINLINE_ static void tcall_spoken_object_(tcall_spoken_ *text,
                                                 tcall_item *item)
{
    tcall_block *block = text->reader->chat->block;
    tcall_json name, args = tcall_json_of_(NULL, NULL);
    tcall_machine *machine;
    tcall_machine_desc desc;
    tcall_str kept;
    uint32_t fixes;
    int error = TCALL_E_MEMORY;
    memset(&desc, 0, sizeof desc);
    desc.object = true;
    machine = tcall_arguments_by_(&tcall_lenient_text, block, &desc, item->text,
                                  &fixes);
    if (machine) {
        machine->text[machine->len] = '\0';
        error = machine->error;
    }
    if (error == TCALL_E_MEMORY ||
        tcall_hydrate_keep_(block, machine->text, machine->len + 1, &kept) <
            0) {
        text->error = TCALL_E_MEMORY;
        return;
    }
    if (!tcall_spoken_parts_(tcall_json_of_(kept.ptr, NULL), &name, &args) &&
        !error)
        error = TCALL_E_DUPLICATE;
    if (tcall_json_type(name) == TCALL_STRING &&
        tcall_text_skip_(name.at)[-1] == '"')
        item->name = tcall_json_str(name);
    item->error = item->error ? item->error : error;
    if (!error)
        item->text = tcall_json_type(args) == TCALL_STRING
                         ? tcall_json_str(args)
                     : args.at ? tcall_text_verbatim_(args.at)
                               : tcall_slice_(NULL, 0);
}

/* Writes a value: Python's as it stands, other text as a string; without the
 * line breaks at both ends. */
static void tcall_spoken_value_(tcall_writer *out, const char *from,
                                const char *to, bool python)
{
    from += from < to && *from == '\n';
    to -= from < to && to[-1] == '\n';
    if (python)
        tcall_write_bytes(out, from, (size_t)(to - from));
    else
        tcall_write_str(out, tcall_slice_(from, (size_t)(to - from)));
}

/* Writes arguments that are no object as one, as far as the text has them.
 * Returns false where they are not of this form. */
TCALL_NOINLINE_ static bool tcall_spoken_members_(tcall_spoken_ *text,
                                                  tcall_item *item)
{
    tcall_block *block = text->reader->chat->block;
    const char *end = text->end, *to;
    bool python = *text->form == 'p';
    tcall_writer out = tcall_hydrate_writer_(block);
    tcall_write_open(&out, '{');
    for (;;) {
        tcall_spoken_skip_set_(text, python ? " \t\r\n," : " \t\r\n");
        if (text->at == end ||
            (python ? *text->at == ')'
                    : !tcall_spoken_skip_(text, TCALL_SPOKEN_KEY_)))
            break;
        to = python ? tcall_name_end_(text->at, end)
                    : tcall_spoken_find_(text, TCALL_SPOKEN_KEY_END_);
        tcall_write_str(&out, tcall_slice_(text->at, (size_t)(to - text->at)));
        tcall_write_text(&out, ":");
        text->at = to;
        if (to < end && !tcall_spoken_skip_(text, TCALL_SPOKEN_KEY_END_))
            return false;
        to = python ? tcall_spoken_value_end_(text->at, end, ",)")
                    : tcall_spoken_find_(text, TCALL_SPOKEN_VALUE_END_);
        if (to < end)
            tcall_spoken_value_(&out, text->at, to, python);
        text->at = to;
        tcall_spoken_skip_(text, TCALL_SPOKEN_VALUE_END_);
    }
    text->cut = text->at == end;
    text->at += python && !text->cut;
    tcall_write_close(&out, '}');
    if (tcall_hydrate_keep_(block, out.buf, out.len, &item->text) < 0)
        text->error = TCALL_E_MEMORY;
    item->error = text->cut ? TCALL_E_CUT : TCALL_OK;
    return true;
}

/* Takes the object that begins here as the text of a call, or what is there in
 * place of one. What does not end is cut where the call ends. Returns false
 * where no call would end so. */
static bool tcall_spoken_take_(tcall_spoken_ *text, tcall_item *item)
{
    const char *from = tcall_marker_end_(text->at, text->end, " "), *to = NULL;
    const char *ends = tcall_spoken_text_(text->form, TCALL_SPOKEN_END_);
    bool object = from < text->end && *from == '{';
    if (object)
        to = tcall_spoken_value_end_(from, text->end, "");
    else if (from < text->end && (*ends == '?' || !*ends))
        return false;
    text->at = from;
    if (!to) {
        to = *ends ? tcall_spoken_find_(text, TCALL_SPOKEN_END_) : text->end;
        text->cut = to == text->end;
        item->error = object || text->cut ? TCALL_E_CUT
                      : to > from         ? TCALL_E_BAD_VALUE
                                          : TCALL_OK;
    }
    text->at = to;
    item->text = tcall_slice_(from, (size_t)(to - from));
    return true;
}

/* Reads a call and adds it. Returns false where it is none: an object with
 * escaped quotes is part of another text. What is read at the end of the block
 * is needed only until the call is added. */
static bool tcall_spoken_call_(tcall_spoken_ *text)
{
    tcall_block *block = text->reader->chat->block;
    const size_t high = block->high;
    const char *from = text->at, *end = text->end;
    tcall_item item;
    bool is;
    memset(&item, 0, sizeof item);
    if (*text->form == 'o') {
        is = tcall_marker_end_(from, end, "{") &&
             !tcall_marker_end_(from, end, "{ \\") &&
             tcall_spoken_take_(text, &item);
        if (is)
            tcall_spoken_object_(text, &item);
    } else {
        text->at = tcall_name_end_(from, end);
        item.name = tcall_slice_(from, (size_t)(text->at - from));
        is = item.name.len &&
             tcall_spoken_skip_(text, TCALL_SPOKEN_NAME_END_) &&
             (*text->form == 'n' ? tcall_spoken_take_(text, &item)
                                 : tcall_spoken_members_(text, &item));
    }
    if (is)
        tcall_spoken_add_(text, &item);
    tcall_block_back_(block, high);
    return is;
}

/* Whether the line goes on as a sentence does: then it speaks of a call. */
static bool tcall_spoken_goes_on_(const tcall_spoken_ *text)
{
    const char *at = text->at;
    while (at < text->end && (*at == ' ' || *at == '\t'))
        at++;
    return at < text->end && text->at[-1] != '\n' && *at &&
           ((*at >= 'a' && *at <= 'z') || strchr(".,:!?)\"'`*\\}", *at));
}

/* Reads the calls of one marker. Returns false where they are none. */
static bool tcall_spoken_calls_(tcall_spoken_ *text)
{
    const char *more = *text->form == 'o' ? "{" : *text->form == 'p' ? "#" : "";
    if (*more == '{')
        tcall_spoken_skip_set_(text, " \t\r\n[");
    do {
        if (!tcall_spoken_call_(text))
            return false;
        if (*more)
            tcall_spoken_skip_set_(text, " \t\r\n],;}");
    } while (*more && tcall_marker_end_(text->at, text->end, more));
    if (text->cut)
        return true;
    if (tcall_spoken_skip_(text, TCALL_SPOKEN_END_))
        return !tcall_spoken_goes_on_(text);
    text->cut = text->at == text->end;
    return text->cut;
}

/* Tries the form at this place, and is at the next one then. What is no call
 * leaves nothing but a gap in the ids that are made up. */
static void tcall_spoken_try_(tcall_spoken_ *text)
{
    tcall_reader *reader = text->reader;
    tcall_chat *chat = reader->chat;
    tcall_spoken_ before = *text;
    size_t low = chat->block->low;
    int calls = reader->answer.calls;
    tcall_spoken_skip_(text, TCALL_SPOKEN_SCOPE_);
    if (tcall_spoken_skip_(text, TCALL_SPOKEN_BEGIN_)) {
        before.tries = ++text->tries;
        if (tcall_spoken_calls_(text) && reader->answer.calls > calls) {
            text->in_json = false;
            return;
        }
    }
    before.error = text->error;
    before.form = tcall_spoken_text_(text->form, TCALL_SPOKEN_TEXTS_);
    *text = before;
    tcall_block_cut_(chat->block, low);
    reader->answer.calls = calls;
}

/* ---- what only quotes a call ---- */

/* Whether a quote opens just before this. */
static bool tcall_spoken_in_quotes_(const char *start, const char *at)
{
    if (at == start)
        return false;
    return strchr("\"'`", at[-1]) ||
           (at - start >= 3 && memcmp(at - 3, "\xE2\x80", 2) == 0 &&
            (at[-1] == '\x9C' || at[-1] == '\x98'));
}

/* Goes on over the byte at hand. */
static void tcall_spoken_pass_(tcall_spoken_ *text)
{
    const char *at = text->at++;
    char before = at == text->start ? '\n' : at[-1];
    bool mark = *at == '`' && before != '`';
    if (*at == '\n')
        text->code = text->quoted = false;
    else if (mark && tcall_marker_end_(at, text->end, "```"))
        text->fence = !text->fence;
    else if (mark)
        text->code = !text->code;
    else if (before == '\n' && *at == '>')
        text->quoted = true;
    if (!text->in_json && (*at == '{' || *at == '[') &&
        !tcall_spoken_in_quotes_(text->start, at)) {
        tcall_syntax_begin_(&text->json, &tcall_syntax_nobody_);
        text->in_json = true;
    }
    if (text->in_json) {
        tcall_syntax_feed_(&text->json, at, 1);
        text->in_json = !text->json.error && text->json.state != TCALL_AT_DONE_;
    }
}

/* Whether a call can begin here. */
static bool tcall_spoken_may_begin_(const tcall_spoken_ *text)
{
    if (text->tries >= TCALL_SPOKEN_TRIES_ || text->fence || text->code ||
        text->quoted ||
        (text->in_json && text->json.state >= TCALL_AT_STRING_ &&
         text->json.state <= TCALL_AT_HALF_))
        return false;
    return text->at == text->start ||
           (strchr("<[{", *text->at) &&
            !tcall_spoken_in_quotes_(text->start, text->at));
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
    const char *first = NULL;
    tcall_spoken_ text;
    memset(&text, 0, sizeof text);
    text.reader = reader;
    text.end = all.ptr + all.len;
    text.start = text.at = tcall_marker_end_(all.ptr, text.end, " ");
    while (text.at < text.end && !text.error && !text.cut) {
        const char *at = text.at;
        text.form = calls->forms;
        if (tcall_spoken_may_begin_(&text))
            while (*text.form && text.at == at && !text.error)
                tcall_spoken_try_(&text);
        if (text.at == at)
            tcall_spoken_pass_(&text);
        else if (!first)
            first = at;
    }
    if (text.error == TCALL_OK && first) {
        size_t end = reader->place[TCALL_AT_TEXT_] + tcall_head_size_(head);
        size_t spoken = (size_t)(first - all.ptr);
        if (cut || text.cut)
            tcall_head_at_(chat, text.last)->error = (int8_t)TCALL_E_CUT;
        tcall_head_set_len_(head, TCALL_PART_TEXT_, spoken);
        tcall_chat_shift_(chat, end, end - all.len + spoken);
    }
    return reader->answer.error = text.error;
}

/* ---- families ---- */

#define TCALL_SPOKEN_OBJECT_(begin, end) \
    TCALL_TEXT_FORM("o", "", begin, "", "", "", "", end)
#define TCALL_SPOKEN_NAMED_(scope, begin, name_end, end) \
    TCALL_TEXT_FORM("n", scope, begin, name_end, "", "", "", end)
#define TCALL_SPOKEN_PYTHON_(begin, name_end, end) \
    TCALL_TEXT_FORM("p", "", begin, name_end, "", " = ", "", end)

#define TCALL_SPOKEN_HERMES_                                    \
    TCALL_SPOKEN_OBJECT_("<tool_call>", "</tool_call>")         \
    TCALL_SPOKEN_OBJECT_("<function_call>", "</function_call>") \
    TCALL_SPOKEN_OBJECT_("<tools>", "</tools>")                 \
    TCALL_SPOKEN_OBJECT_("[TOOL_CALL]", "[/TOOL_CALL]")         \
    TCALL_SPOKEN_NAMED_("", "[TOOL_CALL]", "", "[/TOOL_CALL]")

#define TCALL_SPOKEN_QWEN_ROW_(begin, end)                                   \
    TCALL_TEXT_FORM("m", "", begin, ">", "<parameter=", ">", "</parameter>", \
                    end)
#define TCALL_SPOKEN_QWEN_                             \
    TCALL_SPOKEN_QWEN_ROW_("<tool_call> <function=",   \
                           "</function> </tool_call>") \
    TCALL_SPOKEN_QWEN_ROW_("<function=", "</function>")

#define TCALL_SPOKEN_MINIMAX_                                              \
    TCALL_TEXT_FORM("m", "<minimax:tool_call> ", "<invoke name=\"", "\">", \
                    "<parameter name=\"", "\">", "</parameter>", "</invoke>")

#define TCALL_SPOKEN_GLM_                                      \
    TCALL_TEXT_FORM("m", "", "<tool_call> ", " ", "<arg_key>", \
                    "</arg_key> <arg_value>", "</arg_value>", "</tool_call>")

#define TCALL_SPOKEN_LLAMA_                                   \
    TCALL_SPOKEN_NAMED_("", "<function=", ">", "</function>") \
    TCALL_SPOKEN_NAMED_("", "<function=", "=", "</function>") \
    TCALL_SPOKEN_OBJECT_("<|python_tag|>", "?<|eom_id|>")     \
    TCALL_SPOKEN_PYTHON_("<|python_tag|>", ".call(", "?<|eom_id|>")

#define TCALL_SPOKEN_MISTRAL_                                       \
    TCALL_SPOKEN_OBJECT_("[TOOL_CALLS]", "")                        \
    TCALL_SPOKEN_NAMED_("", "[TOOL_CALLS]", "[CALL_ID]*[ARGS]", "") \
    TCALL_SPOKEN_NAMED_("", "[TOOL_CALLS]", "[ARGS]", "")           \
    TCALL_SPOKEN_NAMED_("", "[TOOL_CALLS]", "", "")

#define TCALL_SPOKEN_PHI_                                    \
    TCALL_SPOKEN_OBJECT_("<|tool_call|>", "?<|/tool_call|>") \
    TCALL_SPOKEN_OBJECT_("<|tool_calls|>", "?<|/tool_calls|>")

#define TCALL_SPOKEN_KIMI_ROW_(begin)                           \
    TCALL_SPOKEN_NAMED_("<|tool_calls_section_begin|> ", begin, \
                        ":*<|tool_call_argument_begin|>",       \
                        "?<|tool_call_end|>")
#define TCALL_SPOKEN_KIMI_                                   \
    TCALL_SPOKEN_KIMI_ROW_("<|tool_call_begin|> functions.") \
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
                               " ```json ", " ``` ")                     \
    TCALL_SPOKEN_DEEPSEEK_ROW_("", TCALL_SPOKEN_WIDE_("sep", ""), " ")

/* V3.2 */
#define TCALL_SPOKEN_DSML_ \
    "\xEF\xBD\x9C"         \
    "DSML"                 \
    "\xEF\xBD\x9C"
#define TCALL_SPOKEN_DEEPSEEK_XML_                                            \
    TCALL_TEXT_FORM("m", "<" TCALL_SPOKEN_DSML_ "function_calls> ",           \
                    "<" TCALL_SPOKEN_DSML_ "invoke name=\"", "\">",           \
                    "<" TCALL_SPOKEN_DSML_ "parameter name=\"",               \
                    "\" string=\"*\">", "</" TCALL_SPOKEN_DSML_ "parameter>", \
                    "</" TCALL_SPOKEN_DSML_ "invoke>")

#define TCALL_SPOKEN_GPT_OSS_ROW_(scope, begin, name_end) \
    TCALL_SPOKEN_NAMED_(scope, begin, name_end, "?<|call|>")
#define TCALL_SPOKEN_GPT_OSS_                                         \
    TCALL_SPOKEN_GPT_OSS_ROW_("<|start|>assistant",                   \
                              "<|channel|>commentary to=functions.",  \
                              "*<|message|>")                         \
    TCALL_SPOKEN_GPT_OSS_ROW_("<|start|>assistant",                   \
                              "<|channel|>analysis to=functions.",    \
                              "*<|message|>")                         \
    TCALL_SPOKEN_GPT_OSS_ROW_("", "<|start|>assistant to=functions.", \
                              "<|channel|>*<|message|>")              \
    TCALL_SPOKEN_GPT_OSS_ROW_("", "^to=functions.", "<|channel|>*<|message|>")

#define TCALL_SPOKEN_FAMILY_(name, forms)                     \
    static const char name##_forms_[] = forms;                \
    TCALL_DATA_ const tcall_text_calls name = {name##_forms_, \
                                               tcall_spoken_read_};

TCALL_SPOKEN_FAMILY_(tcall_text_hermes, TCALL_SPOKEN_HERMES_)
TCALL_SPOKEN_FAMILY_(tcall_text_qwen, TCALL_SPOKEN_QWEN_ TCALL_SPOKEN_HERMES_)
TCALL_SPOKEN_FAMILY_(tcall_text_glm, TCALL_SPOKEN_GLM_)
TCALL_SPOKEN_FAMILY_(tcall_text_llama,
                     TCALL_SPOKEN_LLAMA_ TCALL_SPOKEN_OBJECT_("^", "$")
                         TCALL_SPOKEN_PYTHON_("^[", "(", "$"))
TCALL_SPOKEN_FAMILY_(tcall_text_mistral, TCALL_SPOKEN_MISTRAL_)
TCALL_SPOKEN_FAMILY_(tcall_text_phi, TCALL_SPOKEN_PHI_)
TCALL_SPOKEN_FAMILY_(tcall_text_kimi, TCALL_SPOKEN_KIMI_)
TCALL_SPOKEN_FAMILY_(tcall_text_deepseek,
                     TCALL_SPOKEN_DEEPSEEK_XML_ TCALL_SPOKEN_DEEPSEEK_)
TCALL_SPOKEN_FAMILY_(tcall_text_minimax, TCALL_SPOKEN_MINIMAX_)
TCALL_SPOKEN_FAMILY_(tcall_text_gpt_oss, TCALL_SPOKEN_GPT_OSS_)
TCALL_SPOKEN_FAMILY_(
    tcall_text_any,
    TCALL_SPOKEN_QWEN_ TCALL_SPOKEN_HERMES_ TCALL_SPOKEN_GLM_
        TCALL_SPOKEN_LLAMA_ TCALL_SPOKEN_MISTRAL_ TCALL_SPOKEN_PHI_
            TCALL_SPOKEN_KIMI_ TCALL_SPOKEN_DEEPSEEK_ TCALL_SPOKEN_DEEPSEEK_XML_
                TCALL_SPOKEN_MINIMAX_ TCALL_SPOKEN_GPT_OSS_)
