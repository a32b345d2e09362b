#pragma once
#include "provider.h"
#include "say_schema.c"
#include "chat.c"
#include "tools.c"

/* ==========================================================================
 * >>provider
 *
 * The body of a request is data, as its items and tools are: ready bytes with
 * holes. What formats share is here: how such forms are filled, the order in
 * which providers want a conversation, the tools that are sent, and the choice
 * among them.
 */

/* ---- forms ----
 *
 * A form is ready bytes with holes, and with parts that may be left out. What
 * stands between %<c and %> is written where the condition c holds. Where that
 * begins with a quote it is a member of the body: it gets the comma that is due
 * before it, and is left out as well where the user gives his own.
 *
 * Holes of an item:
 *
 *   %i  its id         %m  the same, empty if it was made up here
 *   %n  its name       %a  its arguments, an object
 *   %t  its text       %q  the same within a string
 *   %s  its signature  %r  the text of a result, which says that it failed
 *   %j  its text, which is JSON
 *   %b  its bytes in base64, and %y its MIME type
 *
 * Of a tool: %N its name, %T its description, %J its schema; behind that it is
 * known whether it is strict.
 *
 * Of a request: %M the model, %S the instructions, %X the limit of the answer,
 * %C the tokens of a conversation, %K the tool that must be called, %G the
 * member that the words of a reasoning are; %I the items and %L the tools,
 * which whoever fills the form writes.
 */

/* Items are parts of messages, where a format has those. On which side of the
 * conversation an item is, and how far a message of the model is written. */
enum {
    TCALL_SIDE_NONE_,
    TCALL_SIDE_USER_,
    TCALL_SIDE_RESULTS_,
    TCALL_SIDE_SHOWN_, /* the user's, which an image began */
    TCALL_SIDE_MODEL_,
    TCALL_SIDE_TEXT_,
    TCALL_SIDE_CALLS_,
    /* Likewise, but its content is a list of parts, which reasoning began. */
    TCALL_SIDE_PARTS_,
    TCALL_SIDE_PARTS_TEXT_,
    TCALL_SIDE_PARTS_CALLS_,
    TCALL_SIDES_
};

/* How a format writes its requests: texts, or several behind each other. */
typedef struct tcall_request_forms_ {
    const char *body;
    const char *items;    /* made by TCALL_FORMS_ */
    const char *messages; /* that hold items: by TCALL_SIDE_..._ what leads to
                           * that side, of the model from the one before, and
                           * what ends a message there. One of the model is
                           * ended behind its text. */
    uint8_t sides[TCALL_ITEM_IMAGE + 1]; /* by kind: TCALL_SIDE_..._ */
    const char *tool;
    /* Writes reasoning that is no words as a member of a message; NULL: the
     * form of such an item does. See >>servers. */
    void (*data)(tcall_writer *out, tcall_str pieces);
} tcall_request_forms_;

/* What one request may still hold of what a provider limits. */
typedef struct tcall_strict_budget_ {
    uint8_t mode; /* TCALL_STRICT_... */
    uint16_t tools, optional, unions;
} tcall_strict_budget_;

/* Anthropic publishes limits for all tools of a request together. */
static tcall_strict_budget_ tcall_strict_budget_of_(uint8_t mode)
{
    const tcall_strict_budget_ limited = {mode, 20, 24, 16};
    const tcall_strict_budget_ free = {mode, 999, 999, 999};
    return mode == TCALL_STRICT_ANTHROPIC ? limited : free;
}

/* Returns whether the tool can be sent as strict. Then what it takes of the
 * budget is gone. */
static bool tcall_strict_spend_(const tcall_tool *tool,
                                tcall_strict_budget_ *budget)
{
    tcall_view_ needs;
    tcall_writer count;
    if (!tool->strict || !(budget->mode & TCALL_FOR_BOTH_) || !budget->tools)
        return false;
    tcall_writer_init(&count, NULL, 0);
    needs = tcall_strict_tool_(&count, tool, budget->mode);
    if (needs.unfit || needs.optional > budget->optional ||
        needs.unions > budget->unions)
        return false;
    budget->tools--;
    budget->optional = (uint16_t)(budget->optional - needs.optional);
    budget->unions = (uint16_t)(budget->unions - needs.unions);
    return true;
}

/* Writes a tool's schema as the mode wants it, or as it is. Returns whether it
 * is strict. */
static bool tcall_strict_write_(tcall_writer *out, const tcall_tool *tool,
                                tcall_strict_budget_ *budget)
{
    bool strict = tcall_strict_spend_(tool, budget);
    tcall_strict_tool_(out, tool,
                       strict || budget->mode == TCALL_STRICT_OLLAMA
                           ? budget->mode
                           : (uint8_t)TCALL_STRICT_NONE);
    return strict;
}

/* A request at work: what its forms are filled with. */
typedef struct tcall_filling_ {
    tcall_writer *out;
    const tcall_provider *provider;
    const tcall_request_forms_ *forms;
    const tcall_chat_request *request;
    tcall_item *item;       /* at hand, or NULL */
    const tcall_tool *tool; /* likewise */
    tcall_strict_budget_ budget;
    uint32_t holds; /* conditions by letter: see TCALL_WHERE_ */
    bool sent;      /* there are tools */
    bool user;      /* the last item is one of the user, not a result */
    char choice;    /* '0' and the tcall_choice, as far as the server obeys */
    uint8_t side;   /* TCALL_SIDE_..._ of the last item, */
    const char *words;       /* and what leads there */
    tcall_counted_ *counted; /* NULL: nothing is remembered */
    size_t begun;            /* bytes written before the first item */
    char id[9];              /* of the item, where its own is refused */
} tcall_filling_;

/* What belongs into a hole, unless it is written otherwise. */
static tcall_str tcall_hole_(const tcall_filling_ *f, char hole)
{
    const tcall_item *item = f->item;
    const char *text = hole == 'M'   ? f->request->model
                       : hole == 'S' ? f->request->system
                       : hole == 'K' ? f->request->choice_name
                       : hole == 'G' ? f->provider->member
                       : hole == 'N' ? f->tool->name
                       : hole == 'T' ? f->tool->description
                                     : NULL;
    if (!item || (hole == 'm' && item->flags & TCALL_FLAG_MADE_ID) || text)
        return tcall_str_of(text);
    return hole == 'i' || hole == 'm'   ? item->id
           : hole == 'n' || hole == 'y' ? item->name
           : hole == 's'                ? item->signature
                                        : item->text;
}

/* A condition that holds, as a bit. */
#define TCALL_WHERE_(letter, truth) \
    ((uint32_t)((truth) ? 1 : 0) << ((letter) - 'A'))

/* The conditions of a request, which are capitals in forms. */
static uint32_t tcall_request_holds_(const tcall_filling_ *f)
{
    const tcall_chat_request *request = f->request;
    const unsigned quirks = f->provider->quirks;
    const bool limited = request->max_tokens > 0, large = request->context > 0;
    const bool one = request->no_parallel;
    return TCALL_WHERE_('X', limited) | TCALL_WHERE_('C', large) |
           TCALL_WHERE_('B', limited || large) |
           TCALL_WHERE_('W', limited || f->choice > '0') |
           TCALL_WHERE_('Q', quirks & TCALL_QUIRK_MAX_TOKENS) |
           TCALL_WHERE_('R', request->stream) |
           TCALL_WHERE_('U',
                        request->stream && !(quirks & TCALL_QUIRK_NO_USAGE)) |
           TCALL_WHERE_('Y', quirks & TCALL_QUIRK_ASK_REASONING) |
           TCALL_WHERE_('Z', request->cache_prompt) |
           TCALL_WHERE_('S', request->system && *request->system) |
           TCALL_WHERE_('L', f->sent) | TCALL_WHERE_('O', one) |
           TCALL_WHERE_(
               'P', f->sent && (quirks & TCALL_QUIRK_SAY_PARALLEL ||
                                (one && !(quirks & TCALL_QUIRK_NO_PARALLEL))));
}

/* Does a condition hold? A digit: the choice is this one; of an item: it has
 * that; other small letters: the capital one does not hold. */
static bool tcall_form_wants_(const tcall_filling_ *f, char condition)
{
    if (condition <= '9')
        return f->choice == condition;
    if (strchr("smt", condition))
        return tcall_hole_(f, condition).len > 0;
    return (f->holds >> ((condition | 0x20) - 'a') & 1) == (condition < 'a');
}

/* Does the user give this member of the body? The key begins with a quote. */
static bool tcall_is_extra_(const tcall_chat_request *request, const char *key)
{
    const char *own = request->extra ? tcall_text_space_(request->extra) : "";
    tcall_str name = tcall_slice_(key + 1, strcspn(key + 1, "\""));
    return *own == '{' && tcall_text_member_(own, name);
}

/* Is there no text that could be sent? Anthropic and Gemini refuse that. */
static bool tcall_item_is_blank_(const tcall_item *item)
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
TCALL_NOINLINE_ static void tcall_write_name_(tcall_writer *out, tcall_str name)
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
        if ((nine || !other) && !tcall_is_letter_or_digit_(c))
            return false;
    }
    return nine ? id.len == 9 : id.len > 0 && id.len <= most;
}

/* Ids of a conversation differ in what is made of them, too. */
tcall_str tcall_id_for(const tcall_provider *to, tcall_str id, char made[9])
{
    return tcall_takes_id_(to, id) ? id : tcall_short_id_(id, made);
}

/* Writes bytes in base64 (RFC 4648), in parts, so that what went out is not
 * made again. */
TCALL_NOINLINE_ static void tcall_write_base64_(tcall_writer *out,
                                                tcall_str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm"
                                 "nopqrstuvwxyz0123456789+/";
    const uint8_t *in = (const uint8_t *)bytes.ptr;
    size_t part, at;
    int i;
    for (part = 0; part < bytes.len; part += 480) {
        if (!tcall_write_part_(out))
            continue;
        for (at = part; at < bytes.len && at < part + 480; at += 3) {
            const size_t left = bytes.len - at;
            const uint32_t bits = (uint32_t)in[at] << 16 |
                                  (uint32_t)(left > 1 ? in[at + 1] : 0) << 8 |
                                  (left > 2 ? in[at + 2] : 0u);
            char text[4];
            for (i = 0; i < 4; i++)
                text[i] =
                    (size_t)i > left ? '=' : digits[bits >> (18 - 6 * i) & 63];
            tcall_write_bytes(out, text, sizeof text);
        }
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
    out->quoted++;
    while ((open = strstr(text, "${")) != NULL &&
           (end = strchr(open, '}')) != NULL) {
        tcall_str name = tcall_slice_(open + 2, (size_t)(end - open) - 2);
        const tcall_variable *found = tcall_find_variable_(variables, name);
        tcall_write_bytes(out, text, (size_t)(open - text));
        tcall_write_text(out, found ? found->text : "${");
        text = found ? end + 1 : open + 2;
    }
    tcall_write_text(out, text);
    out->quoted--;
}

/* Writes what belongs into a hole. The text of a result says that it failed,
 * for formats that have no flag for it; an object says so itself. */
static void tcall_write_hole_(tcall_filling_ *f, char hole)
{
    const tcall_str text = tcall_hole_(f, hole);
    tcall_writer *out = f->out;
    if (hole == 'r' && f->item->error && !(text.len && *text.ptr == '{'))
        tcall_write_inside_(out, tcall_str_of("Error: "));
    if (hole == 'X')
        tcall_write_int(out, f->request->max_tokens);
    else if (hole == 'C')
        tcall_write_int(out, (tcall_int)f->request->context);
    else if (hole == 'T')
        tcall_write_description_(out, text.ptr ? text.ptr : "",
                                 f->request->variables);
    else if (hole == 'J')
        f->holds =
            (f->holds & ~TCALL_WHERE_('F', true)) |
            TCALL_WHERE_('F', tcall_strict_write_(out, f->tool, &f->budget));
    else if (hole == 'b')
        tcall_write_base64_(out, text);
    else if (hole == 'n')
        tcall_write_name_(out, text);
    else if (hole == 'a' || hole == 'j' || hole == 'y')
        tcall_write_bytes(out, text.ptr, text.len);
    else
        tcall_write_inside_(out, text);
}

/* Returns what is behind the end of a part that is left out. */
static const char *tcall_form_after_(const char *form)
{
    unsigned open = 1;
    for (; open; form += 2) {
        form = strchr(form, '%');
        open = form[1] == '<' ? open + 1 : open - (form[1] == '>');
    }
    return form;
}

/* Begins a part, of which this is the condition. Returns where to go on. */
static const char *tcall_form_part_(const tcall_filling_ *f, const char *part)
{
    const bool member = part[1] == '"';
    if (!tcall_form_wants_(f, *part) ||
        (member && tcall_is_extra_(f->request, part + 1)))
        return tcall_form_after_(part);
    if (member)
        tcall_write_comma_(f->out);
    return part + 1;
}

/* Fills a form. Returns its end, or the letter of a hole for a list. */
static const char *tcall_write_form_(tcall_filling_ *f, const char *form)
{
    for (;;) {
        const char *hole = strchr(form, '%');
        const size_t len = hole ? (size_t)(hole - form) : strlen(form);
        tcall_write_bytes(f->out, form, len);
        if (!hole || hole[1] == 'I' || hole[1] == 'L')
            return form + len + (hole ? 1 : 0);
        form = hole + 2;
        if (hole[1] == '<')
            form = tcall_form_part_(f, form);
        else if (hole[1] != '>')
            tcall_write_hole_(f, hole[1]);
    }
}

/* ---- items ---- */

/* A format has a form for each kind of item, and then these. */
enum {
    TCALL_FORM_FAILURE_ = TCALL_ITEM_IMAGE + 1, /* a result that is an error;
                                                   "": like another one */
    TCALL_FORM_DATA_,    /* a reasoning that is no words */
    TCALL_FORM_THOUGHT_, /* one that is a part of a message's content */
    /* In a format of messages: an image and a text that join one that image
     * began, which is not closed then; "": each is a message. */
    TCALL_FORM_NEXT_IMAGE_,
    TCALL_FORM_NEXT_USER_
};

/* The forms of a format; "": items that are never written. */
#define TCALL_FORMS_(user, image, text, call, result, failure, reasoning, \
                     data, thought, next_image, next_user)                \
    user "\0" text "\0" call "\0" result "\0" reasoning "\0" image        \
         "\0" failure "\0" data "\0" thought "\0" next_image "\0" next_user

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
    item->flags = call.flags & TCALL_FLAG_MADE_ID;
}

/* Reasoning is a secret between the model and its provider: is it this one's?
 */
static bool tcall_owns_reasoning_(const tcall_filling_ *f)
{
    const tcall_provider *to = f->provider;
    return to->reasoning && !f->request->chat->edited &&
           tcall_str_eq(f->item->name, tcall_str_of(to->name));
}

/* What the model said in one answer is written in passes over its items, one
 * for each side that they belong to, where order counts all to the first, and
 * the last for the results. */
enum { TCALL_PASS_RESULTS_ = TCALL_SIDE_CALLS_ + 1 };

/* Returns the pass in which the item at hand is written: reasoning behind a
 * call not before that. */
static unsigned tcall_pass_of_(const tcall_filling_ *f, bool after_call)
{
    const bool reasons = f->item->kind == TCALL_ITEM_REASONING;
    if (reasons && !tcall_owns_reasoning_(f))
        return TCALL_SIDE_NONE_;
    return f->forms->sides[reasons && after_call ? (unsigned)TCALL_ITEM_CALL
                                                 : f->item->kind];
}

/* Prepares an item of the model. A signature that is none of this provider's is
 * left out. A provider of signatures wants one of each call; of those that
 * others made it takes this word. A call whose arguments are no object was not
 * run; it goes back without. An item whose reasoning did not fit makes the
 * request an error. */
static void tcall_item_prepare_(tcall_filling_ *f)
{
    tcall_item *item = f->item;
    const bool signs = f->provider->reasoning == TCALL_REASONING_SIGNATURES;
    const bool call = item->kind == TCALL_ITEM_CALL;
    const bool own = call ? signs : tcall_owns_reasoning_(f);
    if (!own)
        item->signature = tcall_slice_(NULL, 0);
    if (call && signs && !item->signature.len &&
        !(item->flags & TCALL_FLAG_UNSIGNED))
        item->signature = tcall_str_of("skip_thought_signature_validator");
    if (call && !(item->flags & TCALL_FLAG_OBJECT_) &&
        !tcall_is_object_text_(item->text, f->request->chat->block))
        item->text = tcall_slice_("{}", 2);
    if (own && item->flags & TCALL_FLAG_DROPPED && !f->out->error)
        f->out->error = TCALL_E_MEMORY;
}

/* ---- messages ----
 *
 * Items are parts of messages, where a format has those. Roles have to take
 * turns: results of tools are said by the user, so what the user says next
 * joins their message, where that may hold more.
 *
 * How OpenAI began to write them, a message of the model has its text, which is
 * one string, and then its calls, which are one list. All else is a message
 * each, but what an image of the user begins.
 */

static const char tcall_messages_[] =
    "\0\0\0\0\0\0\0]}\0{\"role\":\"assistant\"\0\0"
    ",\"content\":\"\0\"}\0\",\"tool_calls\":[\0]}\0"
    "{\"role\":\"assistant\",\"content\":[\0\0"
    ",{\"type\":\"text\",\"text\":\"\0\"}]}\0\"}],\"tool_calls\":[\0]}";
#define TCALL_MESSAGE_SIDES_(image)                            \
    {                                                          \
        TCALL_SIDE_USER_, TCALL_SIDE_TEXT_, TCALL_SIDE_CALLS_, \
            TCALL_SIDE_RESULTS_, TCALL_SIDE_MODEL_, image      \
    }

/* The same of a format whose messages hold all kinds of items, and of one that
 * has none. */
#define TCALL_MESSAGES_(model, user) \
    "\0\0" user "\0]}\0" user "\0]}\0\0\0" model "\0\0\0]}\0\0\0\0\0\0\0"
static const char tcall_no_messages_[2 * TCALL_SIDES_] = "";
#define TCALL_ALL_SIDES_(results)                                        \
    {                                                                    \
        TCALL_SIDE_USER_, TCALL_SIDE_MODEL_, TCALL_SIDE_MODEL_, results, \
            TCALL_SIDE_MODEL_, TCALL_SIDE_USER_                          \
    }

static void tcall_message_at_(tcall_filling_ *f, unsigned side)
{
    f->side = (uint8_t)side;
    f->words = tcall_nth_(f->forms->messages, 2 * side);
}

static void tcall_message_step_(tcall_filling_ *f)
{
    f->side++;
    f->words = tcall_nth_(f->words, 2);
    tcall_write_text(f->out, f->words);
}

static void tcall_message_end_(tcall_filling_ *f)
{
    if (f->side == TCALL_SIDE_MODEL_ || f->side == TCALL_SIDE_PARTS_)
        tcall_message_step_(f);
    tcall_write_text(f->out, tcall_nth_(f->words, 1));
    tcall_message_at_(f, TCALL_SIDE_NONE_);
}

static void tcall_message_to_(tcall_filling_ *f, unsigned to)
{
    const unsigned first = to < TCALL_SIDE_MODEL_ ? to : (to - 1) / 3 * 3 + 1;
    if (f->side < first || f->side > to) {
        tcall_message_end_(f);
        tcall_message_at_(f, first);
        if (*f->words)
            tcall_write_comma_(f->out);
        tcall_write_text(f->out, f->words);
    }
    while (f->side < to)
        tcall_message_step_(f);
}

/* Do messages hold all kinds of items, if there are any? */
static bool tcall_holds_all_(const tcall_filling_ *f)
{
    return f->forms->sides[TCALL_ITEM_TEXT] == TCALL_SIDE_MODEL_;
}

/* The side that the item at hand belongs to; 0: it can no longer be said, as
 * reasoning behind a call. */
static unsigned tcall_side_of_(const tcall_filling_ *f)
{
    const tcall_item *item = f->item;
    const unsigned side = f->forms->sides[item->kind];
    const bool model = f->side >= TCALL_SIDE_MODEL_;
    if (side == TCALL_SIDE_USER_ && f->side == TCALL_SIDE_SHOWN_)
        return f->side;
    if (item->kind != TCALL_ITEM_REASONING || tcall_holds_all_(f))
        return side >= TCALL_SIDE_MODEL_ && f->side >= TCALL_SIDE_PARTS_
                   ? side + 3
                   : side;
    if (model && f->side != TCALL_SIDE_MODEL_ && f->side != TCALL_SIDE_PARTS_)
        return TCALL_SIDE_NONE_;
    return item->flags & TCALL_FLAG_RAW || f->provider->member
               ? side
               : (unsigned)TCALL_SIDE_PARTS_;
}

/* Returns the form that the item at hand is written in on its side, or NULL. */
static const char *tcall_form_of_(const tcall_filling_ *f, unsigned side)
{
    const tcall_item *item = f->item;
    const char *forms = f->forms->items;
    unsigned row = item->kind;
    if (row == TCALL_ITEM_RESULT && item->error &&
        *tcall_nth_(forms, TCALL_FORM_FAILURE_))
        row = TCALL_FORM_FAILURE_;
    if (row == TCALL_ITEM_REASONING && item->flags & TCALL_FLAG_RAW)
        row = TCALL_FORM_DATA_;
    else if (side == TCALL_SIDE_PARTS_)
        row = TCALL_FORM_THOUGHT_;
    if (side == TCALL_SIDE_SHOWN_ && f->side == side)
        row = row == TCALL_ITEM_USER ? TCALL_FORM_NEXT_USER_
                                     : TCALL_FORM_NEXT_IMAGE_;
    forms = tcall_nth_(forms, row);
    return side && *forms ? forms : NULL;
}

/* What the model says where it has to stand between a result and the user, as
 * after a limit or before an image that a tool shows. */
static const char tcall_no_answer_[] =
    "{\"role\":\"assistant\",\"content\":\"(I have not answered yet.)\"}";

/* Remembers how much was written before the user began to speak, which he does
 * with the item at this place. */
static void tcall_count_note_(const tcall_filling_ *f, size_t at)
{
    const tcall_counted_ now = {f->provider, at, f->out->len - f->begun,
                                f->out->last, f->side};
    if (f->counted && at && now.len && !f->out->error)
        *f->counted = now;
}

/* A request that is only counted begins where the user began to speak when it
 * was counted last. Returns the place. */
static size_t tcall_count_from_(tcall_filling_ *f)
{
    tcall_counted_ *counted = f->request->counted;
    f->begun = f->out->len;
    f->counted = f->out->sink || f->out->buf ? NULL : counted;
    if (!f->counted || !counted->at || counted->to != f->provider)
        return 0;
    f->out->len += counted->len;
    f->out->last = counted->last;
    tcall_message_at_(f, counted->state);
    return counted->at;
}

/* Writes the item at hand, which is at this place, and of the message around it
 * as much as it needs. */
static void tcall_write_item_(tcall_filling_ *f, size_t at)
{
    const unsigned to = tcall_side_of_(f);
    const char *form = tcall_form_of_(f, to);
    const bool data = to && f->item->flags & TCALL_FLAG_RAW && f->forms->data;
    const bool opens = tcall_item_opens_(f->item);
    const bool told = to == TCALL_SIDE_USER_ || to == TCALL_SIDE_SHOWN_;
    if ((!form && !data) ||
        (tcall_holds_all_(f) && tcall_item_is_blank_(f->item)))
        return;
    if (opens && !f->user)
        tcall_count_note_(f, at);
    f->user = opens;
    if (told && f->side == TCALL_SIDE_RESULTS_ &&
        f->provider->turns & TCALL_TURNS_ANSWERED) {
        tcall_write_comma_(f->out);
        tcall_write_text(f->out, tcall_no_answer_);
    }
    tcall_message_to_(f, to);
    if (to != TCALL_SIDE_TEXT_ && to != TCALL_SIDE_PARTS_TEXT_)
        tcall_write_comma_(f->out);
    if (form)
        tcall_write_form_(f, form);
    else
        f->forms->data(f->out, f->item->text);
}

/* Writes one answer of the model, which begins at this place, with the results
 * of its calls. Returns where it ends. */
static size_t tcall_write_answer_(tcall_filling_ *f, size_t from)
{
    const tcall_chat *chat = f->request->chat;
    unsigned passes = 1u << TCALL_SIDE_MODEL_; /* the first finds others */
    unsigned pass;
    size_t at, next, end = (size_t)-1;
    for (pass = TCALL_SIDE_MODEL_; pass <= TCALL_PASS_RESULTS_; pass++) {
        bool after_call = false;
        if (!(passes >> pass & 1))
            continue;
        for (at = next = from;
             at != end && tcall_chat_next(chat, &next, f->item) &&
             !tcall_is_users_(f->item->kind);
             at = next) {
            const bool call = f->item->kind == TCALL_ITEM_CALL;
            unsigned own;
            after_call = after_call || call;
            own = tcall_pass_of_(f, after_call);
            passes |= 1u << own | (unsigned)call << TCALL_PASS_RESULTS_;
            if (pass != own && (pass != TCALL_PASS_RESULTS_ || !call))
                continue;
            tcall_item_prepare_(f);
            if (pass == TCALL_PASS_RESULTS_)
                tcall_find_result_(chat, next, f->item);
            if (f->item->id.len)
                f->item->id = tcall_id_for(f->provider, f->item->id, f->id);
            tcall_write_item_(f, at);
        }
        end = at;
    }
    return end;
}

/* Writes the items of a request. Results are written with their answer; one
 * without a call is not. */
TCALL_NOINLINE_ static void tcall_write_items_(tcall_filling_ *f)
{
    const tcall_chat *chat = f->request->chat;
    tcall_item item;
    size_t at = tcall_count_from_(f), next = at;
    f->item = &item;
    for (; tcall_chat_next(chat, &next, f->item); at = next) {
        if (f->item->kind == TCALL_ITEM_IMAGE && !f->item->text.len) {
            f->item->kind = TCALL_ITEM_USER;
            f->item->text = tcall_str_of("(an image was here, which is gone)");
        }
        if (!tcall_is_users_(f->item->kind))
            next = tcall_write_answer_(f, at);
        else if (f->item->kind != TCALL_ITEM_RESULT)
            tcall_write_item_(f, at);
    }
    f->item = NULL;
    tcall_message_end_(f);
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

/* Writes the tools of a request. One that went out before the sink refused more
 * is not written again; what it takes of the budget counts nevertheless. */
static void tcall_write_tools_(tcall_filling_ *f)
{
    size_t i;
    for (i = 0; i < f->request->tool_count; i++) {
        f->tool = &f->request->tools[i];
        if (!tcall_is_sent_(f->provider, f->request, i))
            continue;
        if (tcall_write_part_(f->out)) {
            tcall_write_comma_(f->out);
            tcall_write_form_(f, f->forms->tool);
            tcall_write_part_end_(f->out);
        } else if (f->out->error) {
            break; /* this was the last one */
        } else {
            tcall_strict_spend_(f->tool, &f->budget);
        }
    }
}

/* The tools of OpenAI's first format, which others took over, and how the body
 * names a choice among them. */
static const char tcall_function_tool_[] =
    "{\"type\":\"function\",\"function\":{\"name\":\"%N\",\"description\":\"%T\","
    "\"parameters\":%J%<F,\"strict\":true%>}}";
#define TCALL_OPENAI_CHOICES_(named)                                    \
    "%<1\"tool_choice\":\"none\"%>%<2\"tool_choice\":\"required\"%>%<3" \
    "\"tool_choice\":" named "%>%<4\"tool_choice\":\"any\"%>"           \
    "%<P\"parallel_tool_calls\":%<Ofalse%>%<otrue%>%>"

/* The condition of a choice in forms: '0' and a tcall_choice, or '4' for
 * servers with TCALL_QUIRK_ANY; as far as the server obeys. */
static char tcall_choice_of_(const tcall_filling_ *f)
{
    const unsigned quirks = f->provider->quirks;
    unsigned choice = f->request->choice;
    if (quirks & TCALL_QUIRK_NO_CHOICE ||
        (quirks & TCALL_QUIRK_NO_FORCE && choice > TCALL_CHOICE_NONE))
        choice = TCALL_CHOICE_AUTO;
    if (quirks & TCALL_QUIRK_WEAK_CHOICE && choice == TCALL_CHOICE_ONE)
        choice = TCALL_CHOICE_REQUIRED;
    if (quirks & TCALL_QUIRK_ANY && choice == TCALL_CHOICE_REQUIRED)
        choice = TCALL_CHOICE_ONE + 1;
    return f->sent ? (char)('0' + choice) : '\0';
}

/* ---- the body ---- */

/* Writes what the user adds to the body. */
static void tcall_write_extra_(tcall_writer *out, const char *extra)
{
    const char *open = extra ? tcall_text_space_(extra) : "";
    tcall_str members = tcall_text_verbatim_(open);
    if (*open && *tcall_text_space_(open + 1) != '}')
        tcall_write_verbatim(out, tcall_slice_(open + 1, members.len - 2));
}

/* Writes the body of a request by the forms of its provider. */
TCALL_SHARED_ int tcall_write_request_(const tcall_provider *provider,
                                       tcall_writer *out,
                                       const tcall_chat_request *request)
{
    tcall_filling_ f;
    const char *form;
    size_t i;
    memset(&f, 0, sizeof f);
    f.out = out;
    f.provider = provider;
    f.forms = (const tcall_request_forms_ *)provider->request;
    f.words = f.forms->messages;
    f.request = request;
    f.budget = tcall_strict_budget_of_(provider->strict);
    for (i = 0; i < request->tool_count; i++)
        f.sent = f.sent || tcall_is_sent_(provider, request, i);
    f.choice = tcall_choice_of_(&f);
    f.holds = tcall_request_holds_(&f);
    tcall_write_open(out, '{');
    for (form = f.forms->body; *(form = tcall_write_form_(&f, form)); form++)
        if (*form == 'I')
            tcall_write_items_(&f);
        else
            tcall_write_tools_(&f);
    tcall_write_extra_(out, request->extra);
    return tcall_write_close(out, '}');
}

/* ---- facts ---- */

/* Makes the row of a provider, whose answers are in the format named. All texts
 * are literals, in one array that goes with the row; "" stands for NULL where
 * the row may have that. */
#define TCALL_PROVIDER_(name, format, request, url, path, stream_path, header, \
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
        tcall_write_request_,                                                  \
        &request,                                                              \
        &tcall_##format##_answer_,                                             \
        tcall_##format##_stops_,                                               \
        tcall_##format##_types_,                                               \
        reasoning,                                                             \
        strict,                                                                \
        quirks,                                                                \
        TCALL_GIVEN_(member, tcall_##name##_texts_.member_),                   \
        turns};
#define TCALL_GIVEN_(literal, text) (sizeof literal > 1 ? (text) : NULL)
