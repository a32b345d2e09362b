#pragma once
#include "provider.h"
#include "say_schema.c"
#include "chat.c"
#include "tools.c"

/* ==========================================================================
 * >>provider
 *
 * A request is written by plain calls of the JSON writer. What formats share
 * is here: the conversation in the order in which they want it, the tools that
 * are sent, and the choice among them.
 */

/* ---- members of objects ---- */

TCALL_SHARED_ void tcall_write_member_(tcall_writer *out, const char *key,
                                       const char *value)
{
    tcall_write_key(out, key);
    tcall_write_string(out, value);
}

/* Likewise, unless there is no text. */
TCALL_SHARED_ void tcall_write_optional_(tcall_writer *out, const char *key,
                                         const char *value)
{
    if (value && *value)
        tcall_write_member_(out, key, value);
}

/* A number, if it is above 0: no number is the provider's default. */
TCALL_SHARED_ void tcall_write_limit_(tcall_writer *out, const char *key,
                                      long value)
{
    if (value <= 0)
        return;
    tcall_write_key(out, key);
    tcall_write_int(out, (tcall_int)value);
}

/* Does the user give this member of the body? */
TCALL_SHARED_ bool tcall_is_extra_(const tcall_chat_request *request,
                                   const char *key)
{
    return request->extra &&
           tcall_text_get_(tcall_text_space_(request->extra), key);
}

/* Writes the limit of the answer, unless the user gives one of his own. */
TCALL_SHARED_ void tcall_write_max_tokens_(tcall_writer *out,
                                           const tcall_chat_request *request,
                                           const char *key, long value)
{
    if (!tcall_is_extra_(request, key))
        tcall_write_limit_(out, key, value);
}

/* Begins the body. A format with a path of its own for streams says there which
 * model it is and whether it streams. */
TCALL_SHARED_ void tcall_write_body_(const tcall_provider *provider,
                                     tcall_writer *out,
                                     const tcall_chat_request *request)
{
    tcall_write_open(out, '{');
    if (!provider->stream_path)
        tcall_write_member_(out, "model", request->model);
}

/* Ends the body, with what the user adds to it. */
TCALL_SHARED_ int tcall_write_body_end_(const tcall_provider *provider,
                                        tcall_writer *out,
                                        const tcall_chat_request *request)
{
    const char *open = request->extra ? tcall_text_space_(request->extra) : "";
    tcall_str members = tcall_text_verbatim_(open);
    if (!provider->stream_path)
        tcall_write_flag_(out, "stream", request->stream);
    if (*open && *tcall_text_space_(open + 1) != '}')
        tcall_write_verbatim(out, tcall_slice_(open + 1, members.len - 2));
    return tcall_write_close(out, '}');
}

/* Begins an object of settings, where there are any and the user does not give
 * his own. Returns whether it has to be written, and then closed. */
TCALL_SHARED_ bool tcall_write_settings_(tcall_writer *out,
                                         const tcall_chat_request *request,
                                         const char *key, bool any)
{
    if (!any || tcall_is_extra_(request, key))
        return false;
    tcall_write_key(out, key);
    tcall_write_open(out, '{');
    return true;
}

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

/* ---- names and ids that every receiver takes ---- */

/* Is it a letter or a digit? */
static bool tcall_is_letter_or_digit_(char c)
{
    const char lower = (char)(c | 0x20);
    return tcall_is_digit_(c) || (lower >= 'a' && lower <= 'z');
}

/* Writes the name of a call. Models make names up that no provider takes back:
 * what cannot stand in the name of a tool becomes _. Those of tools are left as
 * they are. */
static void tcall_write_name_(tcall_writer *out, tcall_str name)
{
    char legal[64] = "_";
    size_t i;
    for (i = 0; i < name.len && i < sizeof legal; i++) {
        const char c = name.ptr[i];
        const bool first = c >= 'A'; /* and no digit */
        legal[i] =
            (tcall_is_letter_or_digit_(c) && (i || first)) || (c == '-' && i)
                ? c
                : '_';
    }
    tcall_write_bytes(out, legal, i ? i : 1);
}

/* Does a provider take this id? Few say what they take. */
static bool tcall_takes_id_(const tcall_provider *to, tcall_str id)
{
    const bool nine = (to->quirks & TCALL_QUIRK_NINE_LETTER_IDS) != 0;
    const bool plain = (to->quirks & TCALL_QUIRK_PLAIN_IDS) != 0;
    const size_t most = to->quirks & TCALL_QUIRK_SHORT_IDS ? 40 : 64;
    size_t i;
    for (i = 0; i < id.len; i++) {
        const char c = id.ptr[i];
        const bool other = plain ? c == '_' || c == '-' : c > ' ' && c < 0x7F;
        if (!tcall_is_letter_or_digit_(c) && (nine || !other))
            return false;
    }
    return nine ? id.len == 9 : id.len > 0 && id.len <= most;
}

/* Ids of a conversation differ in what is made of them, too. */
tcall_str tcall_id_for(const tcall_provider *to, tcall_str id, char made[9])
{
    return tcall_takes_id_(to, id) ? id : tcall_short_id_(id, made);
}

/* ---- items ---- */

/* How a format writes an item: ready bytes with holes.
 *
 *   %i  its id         %m  the same, empty if it was made up here
 *   %n  its name       %a  its arguments, an object
 *   %t  its text       %q  the same within a string
 *   %s  its signature  %r  the text of a result, which says that it failed
 *   %j  its text, which is JSON
 *   %b  its bytes in base64, and %y its MIME type
 *
 * What stands between %<s and %> is left out where %s is empty. The forms of
 * the kinds of items come first, then these. */
enum {
    TCALL_FORM_FAILURE_ = TCALL_ITEM_IMAGE + 1, /* a result that is an error;
                                                   "": like another one */
    TCALL_FORM_DATA_, /* a reasoning that is no words */
    /* In a format of messages: an image and a text that join one that image
     * began, which is not closed then; "": each is a message. */
    TCALL_FORM_NEXT_IMAGE_,
    TCALL_FORM_NEXT_USER_
};

/* The forms of a format; "": items that are never written. */
#define TCALL_FORMS_(me, user, image, text, call, result, failure, reasoning, \
                     data, next_image, next_user)                             \
    static const char me[] =                                                  \
        user "\0" text "\0" call "\0" result "\0" reasoning "\0" image        \
             "\0" failure "\0" data "\0" next_image "\0" next_user;

/* Returns the form that an item is written in, or NULL. */
static const char *tcall_form_of_(const char *forms, const tcall_item *item)
{
    unsigned row = item->kind;
    const char *form;
    if (row == TCALL_ITEM_RESULT && item->error &&
        *tcall_nth_(forms, TCALL_FORM_FAILURE_))
        row = TCALL_FORM_FAILURE_;
    if (row == TCALL_ITEM_REASONING && item->raw)
        row = TCALL_FORM_DATA_;
    form = tcall_nth_(forms, row);
    return *form ? form : NULL;
}

/* What of the item goes into a hole. A call whose arguments are no object was
 * not run; it goes back without. */
static tcall_str tcall_hole_(const tcall_item *item, char hole)
{
    switch (hole) {
    case 'i': return item->id;
    case 'm': return item->synthetic_id ? tcall_slice_(NULL, 0) : item->id;
    case 'n':
    case 'y': return item->name;
    case 's': return item->signature;
    case 'a':
    case 'q':
        if (!item->is_object)
            return tcall_slice_("{}", 2); /* fall through */
    default: return item->text;
    }
}

/* Writes up to 48 bytes in base64 (RFC 4648). */
static void tcall_write_base64_line_(tcall_writer *out, const uint8_t *bytes,
                                     size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm"
                                 "nopqrstuvwxyz0123456789+/";
    char text[64], *to = text;
    size_t i;
    for (i = 0; i < len; i += 3, to += 4) {
        uint32_t bits = (uint32_t)bytes[i] << 16;
        bits |= i + 1 < len ? (uint32_t)bytes[i + 1] << 8 : 0;
        bits |= i + 2 < len ? bytes[i + 2] : 0u;
        to[0] = digits[bits >> 18];
        to[1] = digits[bits >> 12 & 63];
        to[2] = i + 1 < len ? digits[bits >> 6 & 63] : '=';
        to[3] = i + 2 < len ? digits[bits & 63] : '=';
    }
    tcall_write_bytes(out, text, (size_t)(to - text));
}

/* Writes all of it, in parts, so that what went out is not made again. */
static void tcall_write_base64_(tcall_writer *out, tcall_str bytes)
{
    size_t at, line;
    for (at = 0; at < bytes.len; at += 480) {
        if (!tcall_write_part_(out))
            continue;
        for (line = at; line < bytes.len && line < at + 480; line += 48)
            tcall_write_base64_line_(out, (const uint8_t *)bytes.ptr + line,
                                     bytes.len - line < 48 ? bytes.len - line
                                                           : 48);
        tcall_write_part_end_(out);
    }
}

/* Writes the inside of a string. */
static void tcall_write_inside_(tcall_writer *out, tcall_str text)
{
    out->quoted++;
    tcall_write_bytes(out, text.ptr, text.len);
    out->quoted--;
}

/* Writes what belongs into a hole. The text of a result says that it failed,
 * for formats that have no flag for it; an object says so itself. */
static void tcall_write_hole_(tcall_writer *out, char hole,
                              const tcall_item *item)
{
    tcall_str value = tcall_hole_(item, hole);
    if (hole == 'r' && item->error && !(value.len && *value.ptr == '{'))
        tcall_write_inside_(out, tcall_str_of("Error: "));
    if (hole == 'b')
        tcall_write_base64_(out, value);
    else if (hole == 'a' || hole == 'j' || hole == 'y')
        tcall_write_bytes(out, value.ptr, value.len);
    else if (hole == 'n' && item->kind != TCALL_ITEM_USER)
        tcall_write_name_(out, value);
    else
        tcall_write_inside_(out, value);
}

/* Writes a form. Without an item it has no holes. */
TCALL_SHARED_ void tcall_write_form_(tcall_writer *out, const char *form,
                                     const tcall_item *item)
{
    const char *hole;
    tcall_write_comma_(out);
    while ((hole = strchr(form, '%')) != NULL) {
        tcall_write_bytes(out, form, (size_t)(hole - form));
        form = hole + 2;
        if (hole[1] == '<' && !tcall_hole_(item, *form++).len)
            form = strstr(form, "%>") + 2;
        else if (hole[1] != '<' && hole[1] != '>')
            tcall_write_hole_(out, hole[1], item);
    }
    tcall_write_text(out, form);
}

/* Writes a form with a text of ours in place of the name. */
TCALL_SHARED_ void tcall_write_named_(tcall_writer *out, const char *form,
                                      const char *name)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.name = tcall_str_of(name);
    tcall_write_form_(out, form, &item);
}

/* ---- the conversation ---- */

/* Replaces a call, which ends at this place, by its result. One that is
 * missing is made up: a call without a result would make the whole
 * conversation invalid. */
static void tcall_find_result_(const tcall_chat *chat, size_t at,
                               tcall_item *item)
{
    const tcall_item call = *item;
    bool more;
    do
        more = tcall_chat_next(chat, &at, item);
    while (more && !(item->kind == TCALL_ITEM_RESULT &&
                     tcall_str_eq(item->id, call.id)));
    if (!more) {
        *item = call;
        item->kind = TCALL_ITEM_RESULT;
        item->error = TCALL_E_CANCELLED;
        item->text = tcall_str_of("this call was not run");
    }
    item->synthetic_id = call.synthetic_id;
}

/* What the model said in one answer is given in passes over its items. Where
 * order counts the first gives all but the results, and the next two nothing.
 */
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
    size_t item;   /* where the item of the user begins that was given last */
    tcall_counted_ *counted; /* NULL: nothing is remembered */
    size_t begun;            /* bytes written before the first item */
    uint8_t pass;
    bool after_call; /* in this pass */
    bool user;       /* the last item is one of the user, not a result */
    char id[9];      /* of the item, where its own is refused */
} tcall_history_;

/* Begins the items of a request. One that is only counted begins where the user
 * began to speak when it was counted last: then *state is what was then. */
static void tcall_history_begin_(tcall_history_ *history,
                                 const tcall_provider *to,
                                 const tcall_chat_request *request,
                                 tcall_writer *out, uint8_t *state)
{
    tcall_counted_ *counted = out->sink || out->buf ? NULL : request->counted;
    memset(history, 0, sizeof *history);
    history->to = to;
    history->chat = request->chat;
    history->counted = counted;
    history->begun = out->len;
    if (!counted || !counted->at || counted->to != to)
        return;
    history->at = history->answer = counted->at;
    out->len += counted->len;
    out->last = counted->last;
    *state = counted->state;
}

/* Does the user begin to speak with this item? */
static bool tcall_history_turns_(tcall_history_ *history,
                                 const tcall_item *item)
{
    const bool before = history->user;
    history->user = tcall_item_opens_(item);
    return history->user && !before && history->item;
}

/* Remembers how much was written before the user began to speak. */
static void tcall_history_note_(const tcall_history_ *history,
                                const tcall_writer *out, uint8_t state)
{
    tcall_counted_ *counted = history->counted;
    if (!counted || out->error || out->len == history->begun)
        return;
    counted->to = history->to;
    counted->at = history->item;
    counted->len = out->len - history->begun;
    counted->last = out->last;
    counted->state = state;
}

/* Reasoning is a secret between the model and its provider: is this one's? */
static bool tcall_history_owns_(const tcall_history_ *history,
                                const tcall_item *item)
{
    const tcall_provider *to = history->to;
    return to->reasoning && !history->chat->edited &&
           tcall_str_eq(item->name, tcall_str_of(to->name));
}

/* Leaves out the signature of an item that is none of this provider's. A
 * provider of signatures wants one of each call; of those that others made it
 * takes this word. */
static void tcall_history_sign_(const tcall_history_ *history, tcall_item *item)
{
    const bool signs = history->to->reasoning == TCALL_REASONING_SIGNATURES;
    const bool own = item->kind == TCALL_ITEM_CALL
                         ? signs
                         : tcall_history_owns_(history, item);
    if (item->reasoning_dropped && !own)
        item->reasoning_dropped = false;
    if (!own)
        item->signature = tcall_slice_(NULL, 0);
    if (item->kind == TCALL_ITEM_CALL && signs && !item->signature.len &&
        !item->is_unsigned)
        item->signature = tcall_str_of("skip_thought_signature_validator");
}

/* Is the item of the model given in this pass? */
static bool tcall_history_takes_(tcall_history_ *history,
                                 const tcall_item *item)
{
    uint8_t pass = TCALL_PASS_REASONING_;
    if (item->kind == TCALL_ITEM_CALL)
        history->after_call = true;
    if (item->kind == TCALL_ITEM_CALL && history->pass == TCALL_PASS_RESULTS_)
        return true;
    if (!(history->to->quirks & TCALL_QUIRK_ORDERED)) {
        if (history->after_call)
            pass = TCALL_PASS_CALLS_;
        if (item->kind == TCALL_ITEM_TEXT)
            pass = TCALL_PASS_TEXT_;
    }
    return history->pass == pass && (item->kind != TCALL_ITEM_REASONING ||
                                     tcall_history_owns_(history, item));
}

/* Gives the next item, false at the end. An item whose reasoning did not fit
 * makes the request an error. */
TCALL_SHARED_ bool tcall_history_next_(tcall_history_ *history,
                                       tcall_writer *out, tcall_item *item)
{
    for (;;) {
        size_t next = history->at;
        bool more = tcall_chat_next(history->chat, &next, item);
        if (more && !tcall_is_users_(item->kind)) {
            history->at = next;
            if (tcall_history_takes_(history, item))
                break;
            continue;
        }
        history->after_call = false;
        if (history->at != history->answer &&
            history->pass < TCALL_PASS_RESULTS_) {
            history->pass = history->to->quirks & TCALL_QUIRK_ORDERED
                                ? (uint8_t)TCALL_PASS_RESULTS_
                                : (uint8_t)(history->pass + 1);
            history->at = history->answer;
            continue;
        }
        /* Results were given with their answer; one without a call is not. */
        history->pass = TCALL_PASS_REASONING_;
        history->item = history->at;
        history->at = history->answer = next;
        if (more && item->kind == TCALL_ITEM_IMAGE && !item->text.len) {
            item->kind = TCALL_ITEM_USER;
            item->text = tcall_str_of("(an image was here, which is gone)");
        }
        if (!more || item->kind != TCALL_ITEM_RESULT)
            return more;
    }
    tcall_history_sign_(history, item);
    if (item->kind == TCALL_ITEM_CALL && !item->is_object)
        item->is_object =
            tcall_is_object_text_(item->text, history->chat->block);
    if (item->reasoning_dropped && !out->error)
        out->error = TCALL_E_MEMORY;
    if (history->pass == TCALL_PASS_RESULTS_)
        tcall_find_result_(history->chat, history->at, item);
    item->id = tcall_id_for(history->to, item->id, history->id);
    return true;
}

/* Writes items as messages that hold lists of them. Roles have to take turns:
 * results of tools are said by the user, so what the user says next joins their
 * message, where that may hold more. How the list begins, a message of the
 * model, and one of the user, are the first forms; without the latter it is a
 * flat list. */
TCALL_SHARED_ void tcall_write_turns_(const tcall_provider *provider,
                                      tcall_writer *out,
                                      const tcall_chat_request *request,
                                      const char *begin, const char *forms)
{
    tcall_history_ history;
    const bool flat = !*tcall_nth_(begin, 1);
    const bool alone = (provider->turns & TCALL_TURNS_RESULTS_ALONE) != 0;
    uint8_t side, last = 0; /* 1: the model's; 2: the user's; 3: results */
    tcall_item item;
    tcall_write_form_(out, begin, NULL);
    tcall_history_begin_(&history, provider, request, out, &last);
    while (tcall_history_next_(&history, out, &item)) {
        const char *form = tcall_form_of_(forms, &item);
        if (tcall_history_turns_(&history, &item))
            tcall_history_note_(&history, out, last);
        if (!form || tcall_item_is_blank_(&item))
            continue;
        side = (uint8_t)(1 + tcall_is_users_(item.kind) +
                         (alone && item.kind == TCALL_ITEM_RESULT));
        if (!flat && side != last) {
            if (last)
                tcall_write_text(out, "]}");
            tcall_write_form_(out, tcall_nth_(begin, side > 1 ? 2 : 1), NULL);
            last = side;
        }
        tcall_write_form_(out, form, &item);
    }
    tcall_write_text(out, last ? "]}]" : "]");
}

/* ---- messages as OpenAI began to write them ---- */

/* How far a message of the model is written: its text is one string, its calls
 * are one list. */
enum {
    TCALL_MESSAGE_NONE_,
    TCALL_MESSAGE_OPEN_,
    TCALL_MESSAGE_TEXT_,
    TCALL_MESSAGE_CALLS_,
    TCALL_MESSAGE_SHOWN_ /* one of the user, which an image began */
};

/* What leads from each of the first three to the next, and ends the third; the
 * same where the content is a list of parts. */
static const char tcall_message_steps_[] =
    "{\"role\":\"assistant\"\0,\"content\":\"\0\",\"tool_calls\":[\0\"}";
static const char tcall_message_parts_[] =
    "\0,{\"type\":\"text\",\"text\":\"\0\"}],\"tool_calls\":[\0\"}]}";

typedef struct tcall_message_ {
    tcall_writer *out;
    const char *steps;
    uint8_t written; /* TCALL_MESSAGE_..._ */
} tcall_message_;

static void tcall_message_to_(tcall_message_ *message, uint8_t to)
{
    if (message->written == TCALL_MESSAGE_NONE_ && to)
        tcall_write_comma_(message->out);
    while (message->written < to)
        tcall_write_text(message->out,
                         tcall_nth_(message->steps, message->written++));
}

static void tcall_message_end_(tcall_message_ *message)
{
    if (message->written == TCALL_MESSAGE_OPEN_)
        tcall_message_to_(message, TCALL_MESSAGE_TEXT_);
    if (message->written)
        tcall_write_text(message->out,
                         message->written == TCALL_MESSAGE_TEXT_
                             ? tcall_nth_(message->steps, TCALL_MESSAGE_CALLS_)
                             : "]}");
    message->written = TCALL_MESSAGE_NONE_;
    message->steps = tcall_message_steps_;
}

/* Writes reasoning that is no words as a member of a message: see >>servers. */
typedef void (*tcall_write_data_)(tcall_writer *out, tcall_str pieces);

/* Writes a reasoning, which led to the message: before its text and calls. A
 * further one after them cannot be said here. */
static void tcall_message_reasoning_(tcall_message_ *message,
                                     const tcall_item *reasoning,
                                     const char *member, tcall_write_data_ data)
{
    tcall_writer *out = message->out;
    if (message->written > TCALL_MESSAGE_OPEN_ || (reasoning->raw && !data))
        return;
    tcall_message_to_(message, TCALL_MESSAGE_OPEN_);
    if (reasoning->raw) {
        data(out, reasoning->text);
    } else if (member) {
        tcall_write_pair_(out, member, reasoning->text);
    } else {
        if (message->steps == tcall_message_steps_)
            tcall_write_form_(out, "\"content\":[", NULL);
        message->steps = tcall_message_parts_;
        tcall_write_form_(
            out,
            "{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"%t\"}]}",
            reasoning);
    }
}

static void tcall_message_item_(tcall_message_ *message, const tcall_item *item,
                                const char *forms)
{
    const char *form = tcall_form_of_(forms, item);
    if (item->kind == TCALL_ITEM_TEXT) {
        tcall_message_to_(message, TCALL_MESSAGE_TEXT_);
        tcall_write_inside_(message->out, item->text);
        return;
    }
    if (item->kind == TCALL_ITEM_CALL)
        tcall_message_to_(message, TCALL_MESSAGE_CALLS_);
    else if (message->written == TCALL_MESSAGE_SHOWN_)
        form = tcall_nth_(forms, item->kind == TCALL_ITEM_USER
                                     ? TCALL_FORM_NEXT_USER_
                                     : TCALL_FORM_NEXT_IMAGE_);
    tcall_write_form_(message->out, form, item);
    if (item->kind == TCALL_ITEM_IMAGE &&
        *tcall_nth_(forms, TCALL_FORM_NEXT_USER_))
        message->written = TCALL_MESSAGE_SHOWN_;
}

/* What the model says where it has to stand between a result and the user, as
 * after a limit or before an image that a tool shows. */
static const char tcall_no_answer_[] =
    "{\"role\":\"assistant\",\"content\":\"(I have not answered yet.)\"}";

/* Writes the system message, and then one message for what each side said. data
 * may be NULL. */
TCALL_SHARED_ void tcall_write_messages_(const tcall_provider *provider,
                                         tcall_writer *out,
                                         const tcall_chat_request *request,
                                         const char *forms,
                                         tcall_write_data_ data)
{
    tcall_history_ history;
    tcall_message_ message = {out, tcall_message_steps_, TCALL_MESSAGE_NONE_};
    tcall_item item;
    uint8_t after_result = false;
    tcall_write_form_(out, "\"messages\":[", NULL);
    if (request->system && *request->system)
        tcall_write_named_(out, "{\"role\":\"system\",\"content\":\"%n\"}",
                           request->system);
    tcall_history_begin_(&history, provider, request, out, &after_result);
    while (tcall_history_next_(&history, out, &item)) {
        const bool said =
            item.kind == TCALL_ITEM_USER || item.kind == TCALL_ITEM_IMAGE;
        const bool shown = message.written == TCALL_MESSAGE_SHOWN_;
        /* Only what the user says joins what he shows. */
        if (said != shown || item.kind == TCALL_ITEM_RESULT)
            tcall_message_end_(&message);
        if (tcall_history_turns_(&history, &item) && !shown)
            tcall_history_note_(&history, out, after_result);
        if (after_result && said && provider->turns & TCALL_TURNS_ANSWERED)
            tcall_write_form_(out, tcall_no_answer_, NULL);
        after_result = item.kind == TCALL_ITEM_RESULT;
        if (item.kind == TCALL_ITEM_REASONING)
            tcall_message_reasoning_(&message, &item, provider->member, data);
        else
            tcall_message_item_(&message, &item, forms);
    }
    tcall_message_end_(&message);
    tcall_write_text(out, "]");
}

/* ---- tools ---- */

/* Is this one of the tools of the request? A server that does not obey gets
 * only the tool that must be called. */
static bool tcall_is_sent_(const tcall_provider *provider,
                           const tcall_chat_request *request, size_t index)
{
    const unsigned weak = TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_FORCE;
    const tcall_tool *tool = &request->tools[index];
    if (request->offer ? !TCALL_BIT_OF_(request->offer, index)
                       : !tcall_enabled(tool, request->allow))
        return false;
    return request->choice != TCALL_CHOICE_ONE || !(provider->quirks & weak) ||
           strcmp(tool->name, request->choice_name) == 0;
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

/* How a format writes its tools: what stands around their list and around
 * each, and how it calls the schema. */
enum {
    TCALL_TOOL_FORM_LIST_,
    TCALL_TOOL_FORM_TOOL_,
    TCALL_TOOL_FORM_SCHEMA_,
    TCALL_TOOL_FORM_END_,
    TCALL_TOOL_FORM_LIST_END_,
    TCALL_TOOL_FORM_SAY_STRICT_ /* "+": where a tool is not strict, that has to
                                 * be said */
};

/* Writes what all formats say of a tool: name, description, schema and
 * whether it is strict. */
TCALL_NOINLINE_ static void tcall_write_tool_(tcall_writer *out,
                                              const tcall_chat_request *request,
                                              const tcall_tool *tool,
                                              tcall_strict_budget_ *budget,
                                              const char *form)
{
    bool strict;
    tcall_write_form_(out, tcall_nth_(form, TCALL_TOOL_FORM_TOOL_), NULL);
    tcall_write_member_(out, "name", tool->name);
    tcall_write_key(out, "description");
    tcall_write_quote(out);
    tcall_write_description_(out, tool->description, request->variables);
    tcall_write_unquote(out);
    tcall_write_key(out, tcall_nth_(form, TCALL_TOOL_FORM_SCHEMA_));
    strict = tcall_strict_write_(out, tool, budget);
    if (strict || *tcall_nth_(form, TCALL_TOOL_FORM_SAY_STRICT_))
        tcall_write_flag_(out, "strict", strict);
    tcall_write_text(out, tcall_nth_(form, TCALL_TOOL_FORM_END_));
}

/* Writes the tools of a request. Returns false if there are none. One that went
 * out before the sink refused more is not written again; what it takes of the
 * budget counts nevertheless. */
TCALL_SHARED_ bool tcall_write_tools_(const tcall_provider *provider,
                                      tcall_writer *out,
                                      const tcall_chat_request *request,
                                      const char *form)
{
    tcall_strict_budget_ budget = tcall_strict_budget_of_(provider->strict);
    bool any = false;
    size_t i;
    for (i = 0; i < request->tool_count; i++) {
        const tcall_tool *tool = &request->tools[i];
        if (!tcall_is_sent_(provider, request, i))
            continue;
        if (!any)
            tcall_write_form_(out, form, NULL);
        any = true;
        if (tcall_write_part_(out)) {
            tcall_write_tool_(out, request, tool, &budget, form);
            tcall_write_part_end_(out);
        } else if (out->error) {
            break; /* this was the last one */
        } else {
            tcall_strict_spend_(tool, &budget);
        }
    }
    if (any)
        tcall_write_text(out, tcall_nth_(form, TCALL_TOOL_FORM_LIST_END_));
    return any;
}

/* The tools of OpenAI's first format, which others took over. */
static const char tcall_function_tools_[] =
    "\"tools\":[\0{\"type\":\"function\",\"function\":{\0parameters\0}}\0]\0";

/* How a format writes the choice among its tools: forms by tcall_choice, and
 * one for servers with TCALL_QUIRK_ANY. These are OpenAI's, of which one names
 * the tool that must be called. */
enum { TCALL_CHOICE_ANY_ = TCALL_CHOICE_ONE + 1 };
#define TCALL_OPENAI_CHOICES_(named)                                   \
    "\0\"tool_choice\":\"none\"\0\"tool_choice\":\"required\"\0" named \
    "\0\"tool_choice\":\"any\""

/* Writes the choice, as far as the server obeys, and whether an answer may hold
 * more than one call. */
TCALL_SHARED_ void tcall_write_choice_(const tcall_provider *provider,
                                       tcall_writer *out,
                                       const tcall_chat_request *request,
                                       const char *forms)
{
    const unsigned quirks = provider->quirks;
    const bool can = !(quirks & TCALL_QUIRK_NO_PARALLEL);
    unsigned choice = request->choice;
    if (quirks & TCALL_QUIRK_NO_CHOICE ||
        (quirks & TCALL_QUIRK_NO_FORCE && choice > TCALL_CHOICE_NONE))
        choice = TCALL_CHOICE_AUTO;
    if (quirks & TCALL_QUIRK_WEAK_CHOICE && choice == TCALL_CHOICE_ONE)
        choice = TCALL_CHOICE_REQUIRED;
    if (quirks & TCALL_QUIRK_ANY && choice == TCALL_CHOICE_REQUIRED)
        choice = TCALL_CHOICE_ANY_;
    if (*tcall_nth_(forms, choice))
        tcall_write_named_(out, tcall_nth_(forms, choice),
                           request->choice_name);
    if (quirks & TCALL_QUIRK_SAY_PARALLEL || (request->no_parallel && can))
        tcall_write_flag_(out, "parallel_tool_calls", !request->no_parallel);
}

/* ---- facts ---- */

/* Makes the row of a provider, whose answers are in the format named. All texts
 * are literals, in one array that goes with the row; "" stands for NULL where
 * the row may have that. */
#define TCALL_PROVIDER_(name, format, write, url, path, stream_path, header,   \
                        prefix, version, is, reasoning, member, strict,        \
                        quirks, turns)                                         \
    struct tcall_##name##_texts_ {                                             \
        char name_[sizeof #name], url_[sizeof url], path_[sizeof path];        \
        char stream_[sizeof stream_path], header_[sizeof header];              \
        char prefix_[sizeof prefix], version_[sizeof version], is_[sizeof is]; \
        char member_[sizeof member];                                           \
    };                                                                         \
    static const struct tcall_##name##_texts_ tcall_##name##_texts_ = {        \
        #name, url, path, stream_path, header, prefix, version, is, member};   \
    TCALL_DATA_ const tcall_provider tcall_##name = {                          \
        tcall_##name##_texts_.name_,                                           \
        tcall_##name##_texts_.url_,                                            \
        tcall_##name##_texts_.path_,                                           \
        TCALL_GIVEN_(stream_path, tcall_##name##_texts_.stream_),              \
        tcall_##name##_texts_.header_,                                         \
        tcall_##name##_texts_.prefix_,                                         \
        {TCALL_GIVEN_(version, tcall_##name##_texts_.version_),                \
         TCALL_GIVEN_(version, tcall_##name##_texts_.is_)},                    \
        write,                                                                 \
        &tcall_##format##_answer_,                                             \
        tcall_##format##_stops_,                                               \
        tcall_##format##_types_,                                               \
        reasoning,                                                             \
        strict,                                                                \
        quirks,                                                                \
        TCALL_GIVEN_(member, tcall_##name##_texts_.member_),                   \
        turns};
#define TCALL_GIVEN_(literal, text) (sizeof literal > 1 ? (text) : NULL)
