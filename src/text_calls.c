#pragma once
#include "text_calls.h"
#include "lenient.c"
#include "reader.c"

/* ==========================================================================
 * >>text_calls: calls that come as text
 *
 * Between two markers stand objects with name and arguments, alone, one after
 * the other or in an array; or a name and then its arguments. An object is read
 * as tolerantly as arguments are.
 */

/* A marker that opens, and the one that closes; "": the next one, or the end
 * of the text. */
static const char tcall_markers_[][2][20] = {
    {"<tool_call>", "</tool_call>"}, {"<function_call>", "</function_call>"},
    {"<function=", "</function>"},   {"<tools>", "</tools>"},
    {"[TOOL_CALL]", "[/TOOL_CALL]"}, {"[TOOL_CALLS]", ""},
    {"<|python_tag|>", ""},          {"<|tool_call|>", ""},
};

/* Where the word begins in the text from p on, end: nowhere. */
static const char *tcall_marked_find_(const char *p, const char *end,
                                      const char *word)
{
    size_t n = strlen(word);
    for (; (size_t)(end - p) >= n; p++)
        if (memcmp(p, word, n) == 0)
            return p;
    return end;
}

/* Past the object at p; NULL: it does not end. */
static const char *tcall_marked_object_(const char *p, const char *end)
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

static int tcall_marked_add_(tcall_reader *r, tcall_item *item)
{
    char id[9];
    int error;
    item->kind = TCALL_ITEM_CALL;
    item->id = tcall_make_id_(r->chat, id);
    item->made = true;
    r->slot = r->chat->block->low;
    error = tcall_chat_add(r->chat, item);
    r->answer.calls += error == TCALL_OK;
    return error;
}

/* The member of an object by the first of the names that it has. */
static tcall_json tcall_marked_member_(tcall_json object, const char *names)
{
    tcall_json v = tcall_json_get(object, names);
    while (!v.tok && *(names += strlen(names) + 1))
        v = tcall_json_get(object, names);
    return v;
}

/* A call as one object. What it is read into is needed only for a while. */
static int tcall_marked_whole_(tcall_reader *r, tcall_item *item)
{
    tcall_block *b = r->chat->block;
    size_t high = b->high;
    tcall_args args;
    tcall_json v;
    tcall_writer w;
    int error = tcall_args_read(&args, item->text, false, NULL, 0);
    void *mem = NULL;
    bool room = true;
    if (error == TCALL_E_MEMORY && !(mem = tcall_block_take_(b, args.used)))
        return error;
    if (mem)
        error = tcall_args_read(&args, item->text, false, mem, args.used);
    if (error < 0) {
        item->error = item->error ? item->error : error;
    } else {
        v = tcall_marked_member_(args.root, "arguments\0parameters\0args\0");
        item->name = tcall_json_str(
            tcall_marked_member_(args.root, "name\0function\0tool\0"));
        item->text = tcall_json_str(v);
        if (v.tok && tcall_json_type(v) != TCALL_STRING) {
            tcall_writer_init(&w, NULL, 0);
            tcall_write_json(&w, v);
            mem = tcall_block_take_(b, w.len);
            tcall_writer_init(&w, (char *)mem, mem ? w.len : 0);
            tcall_write_json(&w, v);
            item->text = tcall_slice_(w.buf, w.fill);
            room = mem != NULL;
        }
    }
    error = room ? tcall_marked_add_(r, item) : TCALL_E_MEMORY;
    b->high = high;
    return error;
}

/* All calls between two markers. */
static int tcall_marked_body_(tcall_reader *r, const char *p, const char *end,
                              bool closed)
{
    int error = TCALL_OK;
    while (error == TCALL_OK) {
        const char *from, *to;
        tcall_item item;
        memset(&item, 0, sizeof item);
        while (p < end && (tcall_is_space_(*p) || strchr("[],;", *p)))
            p++;
        for (from = p; p < end && *p != '{' && *p != '>' && *p != '=' &&
                       *p != '[' && *p != '(' && !tcall_is_space_(*p);)
            p++;
        item.name = tcall_slice_(from, (size_t)(p - from));
        from = p;
        p = tcall_marked_find_(p, end, "{");
        if (p == end && (!item.name.len || !closed))
            return TCALL_OK; /* the marker was only mentioned */
        to = end;
        if (p == end) {
            /* no arguments, or none that are JSON */
            while (from < end && (tcall_is_space_(*from) || *from == '>'))
                from++;
            item.error = from < end ? TCALL_E_BAD_VALUE : TCALL_OK;
        } else {
            from = p;
            to = tcall_marked_object_(from, end);
        }
        p = to ? to : end;
        item.text = tcall_slice_(from, (size_t)(p - from));
        if (!to || !closed)
            item.error = TCALL_E_CUT;
        error = item.name.len ? tcall_marked_add_(r, &item)
                              : tcall_marked_whole_(r, &item);
    }
    return error;
}

/* The marker that opens at p; NULL: none does. */
static const char (*tcall_marked_marker_(const char *p, const char *end))[20]
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_markers_); i++) {
        size_t n = strlen(tcall_markers_[i][0]);
        if ((size_t)(end - p) >= n && memcmp(p, tcall_markers_[i][0], n) == 0)
            return tcall_markers_[i];
    }
    return NULL;
}

int tcall_text_calls(tcall_reader *r)
{
    tcall_block *b = r->chat->block;
    const char *p, *end, *first = NULL;
    const tcall_head_ *h;
    int error = r->answer.error;
    if (error || r->answer.calls || !r->has_text)
        return error;
    h = tcall_reader_head_(r, r->start);
    end = (const char *)h + tcall_head_size_(h);
    p = end - tcall_len_(h, TCALL_PART_TEXT_);
    while (p < end && error == TCALL_OK) {
        const char(*marker)[20] = tcall_marked_marker_(p, end);
        const char *close;
        bool closed;
        if (!marker) {
            p++;
            continue;
        }
        first = first ? first : p;
        p += strlen(marker[0]);
        close = tcall_marked_find_(p, end, *marker[1] ? marker[1] : marker[0]);
        closed = close < end || !*marker[1];
        error = tcall_marked_body_(r, p, close, closed);
        p = close < end && *marker[1] ? close + strlen(marker[1]) : close;
    }
    if (error < 0) {
        r->answer.error = error;
        b->low = r->start;
    } else if (r->answer.calls) {
        tcall_reader_resize_(r, r->start, TCALL_PART_TEXT_,
                             tcall_reader_text_len_(r) - (size_t)(end - first));
        if (r->cut || r->answer.text_cut) /* who knows what followed */
            tcall_reader_head_(r, r->slot)->error = (int8_t)TCALL_E_CUT;
    }
    return error;
}
