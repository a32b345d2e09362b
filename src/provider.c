#pragma once
#include "provider.h"
#include "strict.c"
#include "chat.c"

/* ==========================================================================
 * >>provider
 *
 * An item of a conversation is a head, then its id, its name and its text. An
 * answer's items begin with its text, which grows in place; behind it stand
 * the calls that are settled and then, while a document of the stream passes,
 * the elements of that document. What an element belongs to may stand behind
 * its arguments, so it is settled only when all of it is known: it is a new
 * call and stays, or what it brings is moved to an older one.
 */

/* The schema of a tool as a value. Without a view it is what the tool says,
 * to the byte; only the type that every provider insists on is added. True if
 * it is strict. */
static bool tcall_write_schema_(tcall_writer *w, const tcall_ask *ask,
                                const tcall_tool *tool, tcall_strict *left)
{
    const char *p = tcall_tool_schema_(tool);
    const char *end = tcall_text_skip_(p);
    if (left->profile && ask->view && ask->view(w, tool, left))
        return left->profile != TCALL_STRICT_OLLAMA;
    if (!tcall_view_get_(p, "type")) {
        tcall_write_text(w, "{\"type\":\"object\"");
        if (!tcall_view_get_(p, "properties"))
            tcall_write_text(w, ",\"properties\":{}");
        p = tcall_text_space_(p + 1);
        if (*p != '}')
            tcall_write_text(w, ",");
    }
    tcall_write_bytes(w, p, (size_t)(end - p));
    return false;
}

/* The tools to send, one after the other; NULL: no more. */
static const tcall_tool *tcall_ask_tool_(const tcall_ask *ask, size_t *i)
{
    while (*i < (ask->picks ? ask->pick_count : ask->tool_count)) {
        size_t at = ask->picks ? ask->picks[*i] : *i;
        ++*i;
        if (at < ask->tool_count && tcall_enabled(&ask->tools[at], ask->allow))
            return &ask->tools[at];
    }
    return NULL;
}

/* May arguments be sent back as the model wrote them? Unless they are one JSON
 * object, servers would refuse them for ever after. */
static bool tcall_sendable_(tcall_str arguments)
{
    tcall_scan s;
    return tcall_scan_text_(&s, arguments) == TCALL_OK && s.open[0] & 1;
}

/* What a letter of a form stands for. */
static void tcall_write_value_(tcall_writer *w, char letter,
                               const tcall_item *item)
{
    tcall_str s = letter == 'n'                    ? item->name
                  : letter == 'i' || letter == 'I' ? item->id
                  : letter == 'g' || letter == 's' ? item->sign
                                                   : item->text;
    if ((letter == 'a' || letter == 'A') && !tcall_sendable_(s))
        s = tcall_slice_("{}", 2);
    if (letter == 'I' || letter == 's') {
        if (!s.len || (letter == 'I' && item->made))
            return;
        tcall_write_text(w,
                         letter == 'I' ? ",\"id\":" : ",\"thoughtSignature\":");
    }
    if (!strchr("ar)", letter))
        tcall_write_quote(w);
    if (letter == 'e' && item->error && !(s.len && *s.ptr == '{'))
        tcall_write_text(w, "Error: ");
    tcall_write_bytes(w, s.ptr, s.len);
    if (!strchr("ar(", letter))
        tcall_write_unquote(w);
}

/* Writes JSON that is given as a form, with ' for the quotes. %i, %n and %t
 * are id, name and text of the item, as strings; %r its text as it is; %a its
 * text as arguments, %A that as a string; %e the text of a result where there
 * is no flag for an error; %g its sign; %I and %s id and sign as members of
 * Gemini's, if there are any; %( and %) begin and end a string. An object
 * behind another one gets its comma. Ends at %., the result is what follows. */
static const char *tcall_write_form_(tcall_writer *w, const char *form,
                                     const tcall_item *item)
{
    if ((*form == '{' || *form == '%') && w->last == '}' && !w->quoted)
        tcall_write_text(w, ",");
    while (*(form = tcall_write_plain_(w, form))) {
        form += 2;
        if (form[-1] == '.')
            break;
        tcall_write_value_(w, form[-1], item);
    }
    return form;
}

/* A form with one text only, or with none. */
TCALL_SHARED_ const char *tcall_write_words_(tcall_writer *w, const char *form,
                                             const char *text)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.text = tcall_str_of(text);
    return tcall_write_form_(w, form, &item);
}

/* The same, where there is a text. */
TCALL_SHARED_ void tcall_write_option_(tcall_writer *w, const char *form,
                                       const char *text)
{
    if (text && *text)
        tcall_write_words_(w, form, text);
}

/* And with a number above 0. */
TCALL_SHARED_ void tcall_write_limit_(tcall_writer *w, const char *form,
                                      int value)
{
    if (value > 0) {
        form = tcall_write_words_(w, form, NULL);
        tcall_write_int(w, value);
        tcall_write_words_(w, form, NULL);
    }
}

/* The end of most requests. */
TCALL_SHARED_ int tcall_write_stream_(tcall_writer *w, const tcall_ask *ask)
{
    tcall_write_text(w, ",\"stream\":");
    tcall_write_bool(w, ask->stream);
    return tcall_write_text(w, "}");
}

int tcall_describe(tcall_writer *w, const tcall_tool *tool, const void *user)
{
    const char *p = tool->description ? tool->description : "";
    while (*p) {
        const char *at = strstr(p, "${"), *end = at ? strchr(at, '}') : NULL;
        const tcall_variable *v = (const tcall_variable *)user;
        if (!end)
            return tcall_write_text(w, p);
        tcall_write_bytes(w, p, (size_t)(at - p));
        while (v->name &&
               !tcall_str_eq(tcall_str_of(v->name),
                             tcall_slice_(at + 2, (size_t)(end - at - 2))))
            v++;
        p = v->name ? end + 1 : at + 2;
        tcall_write_text(w, v->name ? v->text : "${");
    }
    return w->error;
}

/* All tools as a member of the request: a form around all of them, and one for
 * each, with %t for its name, %. for its description and for its schema. False:
 * there are none. */
TCALL_SHARED_ bool tcall_write_tools_(const tcall_provider *p, tcall_writer *w,
                                      const tcall_ask *ask, const char *form,
                                      const char *each, tcall_strict *left)
{
    const bool weak = (p->traits & TCALL_TRAIT_WEAK_CHOICE) != 0;
    const tcall_tool *tool;
    const char *rest;
    size_t i = 0;
    bool some = false, strict;
    if (weak && ask->choice == TCALL_CHOICE_NONE)
        return false;
    if (p->traits & TCALL_TRAIT_NO_STRICT)
        left->tools = 0;
    while ((tool = tcall_ask_tool_(ask, &i)) != NULL) {
        if (weak && ask->choice == TCALL_CHOICE_ONE &&
            strcmp(tool->name, ask->choice_name) != 0)
            continue;
        if (!some)
            form = tcall_write_words_(w, form, NULL);
        some = true;
        if (!tcall_write_part_(w))
            continue;
        rest = tcall_write_words_(w, each, tool->name);
        tcall_write_quote(w);
        if (ask->describe)
            ask->describe(w, tool, ask->describe_user);
        else
            tcall_write_text(w, tool->description ? tool->description : "");
        tcall_write_unquote(w);
        rest = tcall_write_words_(w, rest, NULL);
        strict = tcall_write_schema_(w, ask, tool, left);
        tcall_write_text(w, strict      ? ",\"strict\":true"
                            : left->say ? ",\"strict\":false"
                                        : "");
        tcall_write_words_(w, rest, NULL);
        tcall_write_part_end_(w);
    }
    if (some)
        tcall_write_words_(w, form, NULL);
    return some;
}

/* From a call, which ends at at, to its result. One that is missing is made
 * up: an unanswered call would make the whole conversation invalid. Where more
 * calls of the answer have the id, their results are behind this one's. */
static void tcall_chat_result_(const tcall_chat *chat, size_t at,
                               tcall_item *item)
{
    const tcall_item call = *item;
    size_t from = at;
    bool found;
    int skip = 0;
    while (tcall_chat_next(chat, &at, item)) {
        bool same = tcall_str_eq(item->id, call.id);
        if (item->kind == TCALL_ITEM_RESULT)
            skip += same;
        else if (skip > 0)
            break;
        else if (item->kind == TCALL_ITEM_CALL)
            skip -= same;
    }
    found = skip > 0;
    while (skip > 0 && tcall_chat_next(chat, &from, item))
        skip -=
            item->kind == TCALL_ITEM_RESULT && tcall_str_eq(item->id, call.id);
    if (!found) {
        *item = call;
        item->kind = TCALL_ITEM_RESULT;
        item->error = TCALL_E_CANCELLED;
        item->text = tcall_str_of("this call was not run");
    }
    item->made = call.made;
}

/* A conversation in the order in which providers want it. What the model said
 * in one answer comes as reasoning, text, calls with their reasoning, and then
 * the results of all its calls. */
typedef struct tcall_talk_ {
    const tcall_provider *to;
    const tcall_chat *chat;
    size_t from, at; /* where the answer begins; the place in it */
    uint8_t phase;
    bool called; /* a call came by */
    char id[9];  /* room for one that has to be mapped */
} tcall_talk_;

static void tcall_talk_init_(tcall_talk_ *t, const tcall_provider *to,
                             const tcall_chat *chat)
{
    memset(t, 0, sizeof *t);
    t->to = to;
    t->chat = chat;
}

/* Does the item belong to the phase that is on? */
static bool tcall_talk_fits_(tcall_talk_ *t, const tcall_item *item)
{
    if (item->kind == TCALL_ITEM_CALL)
        t->called = true;
    switch (item->kind) {
    case TCALL_ITEM_TEXT: return t->phase == 1;
    case TCALL_ITEM_CALL: return t->phase >= 2;
    case TCALL_ITEM_OPAQUE:
        return t->phase == (t->called ? 2 : 0) && t->to->more &&
               tcall_str_eq(item->name, tcall_str_of(t->to->name));
    default: return false;
    }
}

/* The next one. What is opaque and did not fit makes the request an error. */
static bool tcall_talk_next_(tcall_talk_ *t, tcall_writer *w, tcall_item *item)
{
    for (;;) {
        size_t next = t->at;
        bool some = tcall_chat_next(t->chat, &next, item);
        if (some && item->kind != TCALL_ITEM_USER &&
            item->kind != TCALL_ITEM_RESULT) {
            t->at = next;
            if (!tcall_talk_fits_(t, item))
                continue;
            if (item->lost && t->to->more && !w->error)
                w->error = TCALL_E_MEMORY;
            if (t->phase == 3)
                tcall_chat_result_(t->chat, next, item);
            if (t->to->id)
                item->id = t->to->id(t->id, item->id);
            return true;
        }
        t->called = false;
        if (t->at > t->from && t->phase < 3) { /* once more */
            t->phase++;
            t->at = t->from;
            continue;
        }
        t->phase = 0;
        t->at = t->from = next;
        if (!some || item->kind == TCALL_ITEM_USER)
            return some;
    }
}

/* How far a message of the model is written. */
enum {
    TCALL_SAID_NONE_,
    TCALL_SAID_OPEN_,
    TCALL_SAID_TEXT_,
    TCALL_SAID_CALLS_
};

/* Goes on to there, or ends the message. */
static void tcall_write_said_(tcall_writer *w, int *said, int to)
{
    static const char steps[] = "{'role':'assistant'\0"
                                ",'content':%(\0"
                                "%),'tool_calls':[\0";
    static const char ends[] = "\0"
                               ",'content':''}\0"
                               "%)}\0"
                               "]}";
    if (to == TCALL_SAID_NONE_) {
        tcall_write_words_(w, tcall_nth_(ends, *said), NULL);
        *said = to;
    }
    for (; *said < to; ++*said)
        tcall_write_words_(w, tcall_nth_(steps, *said), NULL);
}

/* Begins a request: model and messages, as OpenAI began to write them. */
TCALL_SHARED_ void tcall_write_talk_(const tcall_provider *p, tcall_writer *w,
                                     const tcall_ask *ask, const char *call,
                                     const char *result)
{
    tcall_talk_ talk;
    tcall_item item;
    int said = TCALL_SAID_NONE_;
    tcall_write_words_(w, "{'model':%t,'messages':[", ask->model);
    tcall_write_option_(w, "{'role':'system','content':%t}", ask->system);
    tcall_talk_init_(&talk, p, ask->chat);
    while (tcall_talk_next_(&talk, w, &item))
        switch (item.kind) {
        case TCALL_ITEM_USER:
        case TCALL_ITEM_RESULT:
            tcall_write_said_(w, &said, TCALL_SAID_NONE_);
            tcall_write_form_(w,
                              item.kind == TCALL_ITEM_RESULT
                                  ? result
                                  : "{'role':'user','content':%t}",
                              &item);
            break;
        case TCALL_ITEM_TEXT:
            tcall_write_said_(w, &said, TCALL_SAID_TEXT_);
            tcall_write_bytes(w, item.text.ptr, item.text.len);
            break;
        case TCALL_ITEM_CALL:
            tcall_write_said_(w, &said, TCALL_SAID_CALLS_);
            tcall_write_form_(w, call, &item);
            break;
        default:
            if (said > TCALL_SAID_OPEN_ || (item.made && !p->join))
                break; /* it always stands before the calls */
            tcall_write_said_(w, &said, TCALL_SAID_OPEN_);
            if (item.made) {
                tcall_write_text(w, ",\"reasoning_details\":");
                p->join(w, item.text);
            } else {
                tcall_write_form_(w, ",'reasoning_content':%t", &item);
            }
        }
    tcall_write_said_(w, &said, TCALL_SAID_NONE_);
    tcall_write_text(w, "]");
}

/* How a provider says each kind of item: texts, the first two of which open a
 * message of the user and one of the model. The others are forms, behind who
 * says it (u, m, or - where there are no messages), for the kinds of items in
 * their order and for these two. */
enum { TCALL_TURN_ERROR_ = TCALL_ITEM_OPAQUE + 1, TCALL_TURN_OPAQUE_2_ };

static bool tcall_blank_(tcall_str s)
{
    while (s.len && tcall_is_space_(s.ptr[s.len - 1]))
        s.len--;
    return s.len == 0;
}

/* The conversation as such turns. Items of one role after the other share a
 * message: roles must take turns. */
TCALL_SHARED_ void tcall_write_turns_(const tcall_provider *p, tcall_writer *w,
                                      const tcall_ask *ask, const char *turns)
{
    char role = '-';
    tcall_talk_ talk;
    tcall_item item;
    tcall_talk_init_(&talk, p, ask->chat);
    while (tcall_talk_next_(&talk, w, &item)) {
        int kind = item.kind;
        const char *turn;
        if (kind == TCALL_ITEM_RESULT && item.error)
            kind = TCALL_TURN_ERROR_;
        if (kind == TCALL_ITEM_OPAQUE && item.made)
            kind = TCALL_TURN_OPAQUE_2_;
        if (kind <= TCALL_ITEM_TEXT && !item.sign.len &&
            tcall_blank_(item.text))
            continue; /* that would be refused */
        turn = tcall_nth_(turns, 2 + kind);
        if (role != *turn) {
            tcall_write_text(w, role == '-' ? "" : "]}");
            tcall_write_words_(w, tcall_nth_(turns, *turn == 'm'), NULL);
        }
        role = *turn;
        tcall_write_form_(w, turn + 1, &item);
    }
    tcall_write_text(w, role == '-' ? "]" : "]}]");
}

/* The choice among the tools, as OpenAI began to say it; named is the form for
 * one tool. */
TCALL_SHARED_ void tcall_write_choice_(const tcall_provider *p, tcall_writer *w,
                                       const tcall_ask *ask, const char *named)
{
    const unsigned is = p->traits;
    const char *word = ask->choice == TCALL_CHOICE_NONE ? "none"
                       : is & TCALL_TRAIT_ANY           ? "any"
                                                        : "required";
    bool one =
        ask->choice == TCALL_CHOICE_ONE && !(is & TCALL_TRAIT_WEAK_CHOICE);
    if (ask->choice != TCALL_CHOICE_AUTO && !(is & TCALL_TRAIT_NO_CHOICE))
        tcall_write_words_(w, one ? named : ",'tool_choice':%t",
                           one ? ask->choice_name : word);
    if (is & TCALL_TRAIT_SAY_PARALLEL ||
        (ask->no_parallel && !(is & TCALL_TRAIT_NO_PARALLEL))) {
        tcall_write_text(w, ",\"parallel_tool_calls\":");
        tcall_write_bool(w, !ask->no_parallel);
    }
}

/* A provider whose tables and writer are those of a format. Its texts are
 * linked only with it. */
#define TCALL_PROVIDER_(name, format, url, path, stream, header, prefix,       \
                        version, value, id, more, join, traits)                \
    static const char tcall_##name##_name_[] = #name;                          \
    static const char tcall_##name##_url_[] = url;                             \
    static const char tcall_##name##_path_[] = path;                           \
    TCALL_DATA_ const tcall_provider tcall_##name = {tcall_##name##_name_,     \
                                                     tcall_##name##_url_,      \
                                                     tcall_##name##_path_,     \
                                                     stream,                   \
                                                     header,                   \
                                                     prefix,                   \
                                                     {version, value},         \
                                                     &tcall_##format##_paths_, \
                                                     tcall_##format##_words_,  \
                                                     tcall_##format##_write_,  \
                                                     id,                       \
                                                     more,                     \
                                                     join,                     \
                                                     traits};
