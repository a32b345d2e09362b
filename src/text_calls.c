#pragma once
#include "answer.h"
#include "lenient.c"
#include "chat.c"
#include "tools.h"

/* ==========================================================================
 * >>text_calls: calls that the model writes as text
 *
 * Small local models may write <tool_call>{"name":"f","arguments":{}}
 * </tool_call> into their text, or use markers like these. Between two markers
 * stand objects with name and arguments, alone, one after the other or in an
 * array; or a name and then its arguments. An object is read as leniently as
 * arguments are.
 */

#ifdef TOOLCALL_NO_TEXT_CALLS

TCALL_NOINLINE_ TCALL_SHARED_ int
tcall_text_calls_(tcall_chat *chat, size_t at, tcall_answer *answer, bool cut)
{
    (void)chat;
    (void)at;
    (void)cut;
    return answer->error = TCALL_E_USAGE;
}

#else

typedef struct tcall_marker_ {
    const char *open;
    const char *close; /* "": the next marker, or the end of the text */
} tcall_marker_;

static const tcall_marker_ tcall_markers_[] = {
    {"<tool_call>", "</tool_call>"}, {"<function_call>", "</function_call>"},
    {"<function=", "</function>"},   {"<tools>", "</tools>"},
    {"[TOOL_CALL]", "[/TOOL_CALL]"}, {"[TOOL_CALLS]", ""},
    {"<|python_tag|>", ""},          {"<|tool_call|>", ""},
};

/* Walks over the text of an answer. New calls go to the end of the chat. */
typedef struct tcall_text_reader_ {
    tcall_chat *chat;
    tcall_answer *answer;
    const char *at, *end;
    size_t last; /* the call that was added last */
    bool closed; /* the marker that opened is closed */
} tcall_text_reader_;

/* Does the text from p on begin with the word? */
static bool tcall_begins_with_(const char *p, const char *end, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(end - p) >= len && memcmp(p, word, len) == 0;
}

/* Returns where the word begins in the text, or its end. */
static const char *tcall_find_word_(const char *p, const char *end,
                                    const char *word)
{
    while (p < end && !tcall_begins_with_(p, end, word))
        p++;
    return p;
}

/* Returns the end of the object at p, or NULL if it does not end. */
static const char *tcall_text_object_end_(const char *p, const char *end)
{
    int depth = 0;
    char quote = 0;
    for (; p < end; p++) {
        if (*p == '\\')
            p++;
        else if (quote)
            quote = *p == quote ? 0 : quote;
        else if (*p == '"' || *p == '\'')
            quote = *p;
        else if (*p == '}' && --depth == 0)
            return p + 1;
        else if (*p == '{')
            depth++;
    }
    return NULL;
}

/* Adds a call to the end of the chat, which makes an id up. */
static int tcall_add_text_call_(tcall_text_reader_ *reader, tcall_item *item)
{
    int error;
    item->kind = TCALL_ITEM_CALL;
    reader->last = reader->chat->block->low;
    error = tcall_chat_add(reader->chat, item);
    if (error == TCALL_OK)
        reader->answer->calls++;
    return error;
}

/* Returns the member by the first of the names that the object has. */
static tcall_tree_ tcall_any_member_(tcall_tree_ object, const char *first,
                                     const char *second, const char *third)
{
    tcall_tree_ value = tcall_tree_get_(object, first);
    if (!value.tok)
        value = tcall_tree_get_(object, second);
    if (!value.tok)
        value = tcall_tree_get_(object, third);
    return value;
}

/* Takes name and arguments from the object that a call was written as. A
 * string holds arguments as text, anything else is written to the block. */
TCALL_NOINLINE_ static int
tcall_split_text_call_(tcall_block *block, tcall_tree_ root, tcall_item *item)
{
    tcall_tree_ arguments =
        tcall_any_member_(root, "arguments", "parameters", "args");
    tcall_writer w;
    char *memory;
    item->name =
        tcall_tree_str_(tcall_any_member_(root, "name", "function", "tool"));
    item->text = tcall_tree_str_(arguments);
    if (!arguments.tok || tcall_tree_type_(arguments) == TCALL_STRING)
        return TCALL_OK;
    tcall_writer_init(&w, NULL, 0);
    tcall_write_tree_(&w, arguments);
    memory = (char *)tcall_block_take_(block, w.len);
    if (!memory)
        return TCALL_E_MEMORY;
    tcall_writer_init(&w, memory, w.len);
    tcall_write_tree_(&w, arguments);
    item->text = tcall_slice_(memory, w.fill);
    return TCALL_OK;
}

/* Reads a call that is written as one object. What it is read into is needed
 * only until the call is added. */
TCALL_NOINLINE_ static int tcall_read_text_call_(tcall_text_reader_ *reader,
                                                 tcall_item *item)
{
    tcall_block *block = reader->chat->block;
    size_t high = block->high;
    tcall_arguments args;
    void *memory = NULL;
    int error = tcall_parse_arguments(&args, item->text, false, NULL, 0);
    /* The first try only finds out how much memory it takes. */
    if (error == TCALL_E_MEMORY) {
        memory = tcall_block_take_(block, args.used);
        if (!memory)
            return TCALL_E_MEMORY;
        error =
            tcall_parse_arguments(&args, item->text, false, memory, args.used);
    }
    if (error < 0) {
        item->error = item->error ? item->error : error;
        error = TCALL_OK;
    } else {
        error = tcall_split_text_call_(block, args.root, item);
    }
    if (error == TCALL_OK)
        error = tcall_add_text_call_(reader, item);
    tcall_block_back_(block, high);
    return error;
}

/* Does a name end before c? */
static bool tcall_ends_name_(char c)
{
    return tcall_is_space_(c) || strchr("{>=[(", c) != NULL;
}

/* Reads the arguments that follow a name, or the object of the call if there
 * is none. Returns false where the marker was only mentioned. */
static bool tcall_read_text_arguments_(tcall_text_reader_ *reader,
                                       tcall_item *item, const char *end)
{
    const char *from = reader->at, *object = tcall_find_word_(from, end, "{");
    const char *to = end;
    if (object < end) {
        from = object;
        to = tcall_text_object_end_(object, end);
    } else {
        if (!item->name.len || !reader->closed)
            return false;
        while (from < end && (tcall_is_space_(*from) || *from == '>'))
            from++;
        item->error = from < end ? TCALL_E_BAD_VALUE : TCALL_OK;
    }
    reader->at = to ? to : end;
    item->text = tcall_slice_(from, (size_t)(reader->at - from));
    if (!to || !reader->closed)
        item->error = TCALL_E_CUT;
    return true;
}

/* Reads all calls up to the end, which is a marker or that of the text. */
static int tcall_read_text_calls_(tcall_text_reader_ *reader, const char *end)
{
    int error = TCALL_OK;
    while (error == TCALL_OK) {
        const char *name;
        tcall_item item;
        memset(&item, 0, sizeof item);
        while (reader->at < end &&
               (tcall_is_space_(*reader->at) || strchr("[],;", *reader->at)))
            reader->at++;
        name = reader->at;
        while (reader->at < end && !tcall_ends_name_(*reader->at))
            reader->at++;
        item.name = tcall_slice_(name, (size_t)(reader->at - name));
        if (!tcall_read_text_arguments_(reader, &item, end))
            break;
        error = item.name.len ? tcall_add_text_call_(reader, &item)
                              : tcall_read_text_call_(reader, &item);
    }
    return error;
}

/* Returns the next marker, and moves to its place, or NULL at the end. */
static const tcall_marker_ *tcall_next_marker_(tcall_text_reader_ *reader)
{
    size_t i;
    for (; reader->at < reader->end; reader->at++)
        for (i = 0; i < TCALL_ARRAY_LEN(tcall_markers_); i++)
            if (tcall_begins_with_(reader->at, reader->end,
                                   tcall_markers_[i].open))
                return &tcall_markers_[i];
    return NULL;
}

/* Makes calls of those that the text at this place holds, and ends the text
 * where they begin. cut: nobody knows what followed the last one. */
TCALL_NOINLINE_ TCALL_SHARED_ int
tcall_text_calls_(tcall_chat *chat, size_t at, tcall_answer *answer, bool cut)
{
    tcall_item_head_ *head = tcall_head_at_(chat, at);
    tcall_str text = tcall_head_part_(head, TCALL_PART_TEXT_);
    const char *first = NULL;
    const tcall_marker_ *marker;
    tcall_text_reader_ reader;
    int error = TCALL_OK;
    memset(&reader, 0, sizeof reader);
    reader.chat = chat;
    reader.answer = answer;
    reader.at = text.ptr;
    reader.end = text.ptr + text.len;
    while (error == TCALL_OK &&
           (marker = tcall_next_marker_(&reader)) != NULL) {
        bool by_next = !*marker->close;
        const char *end;
        first = first ? first : reader.at;
        reader.at += strlen(marker->open);
        end = tcall_find_word_(reader.at, reader.end,
                               by_next ? marker->open : marker->close);
        reader.closed = by_next || end < reader.end;
        error = tcall_read_text_calls_(&reader, end);
        reader.at = end;
    }
    if (error == TCALL_OK && answer->calls) {
        size_t end = at + tcall_head_size_(head);
        size_t spoken = (size_t)(first - text.ptr);
        if (cut)
            tcall_head_at_(chat, reader.last)->error = (int8_t)TCALL_E_CUT;
        tcall_head_set_len_(head, TCALL_PART_TEXT_, spoken);
        tcall_chat_shift_(chat, end, end - text.len + spoken);
    }
    return answer->error = error;
}

#endif /* TOOLCALL_NO_TEXT_CALLS */
