#pragma once
#include "result.h"
#include "context.c"

/* ==========================================================================
 * >>result
 */

int tcall_write_result(tcall_writer *w, const tcall_result *result)
{
    const tcall_attachment *a;
    tcall_write_open(w, '{');
    if (result->error < 0 && result->output.len > 1) {
        tcall_write_bytes(w, result->output.ptr + 1, result->output.len - 2);
    } else {
        tcall_write_key(w, "success");
        tcall_write_bool(w, result->error == TCALL_OK);
        tcall_write_pair_(w, "error", tcall_str_of(""));
    }
    if (result->title.len)
        tcall_write_pair_(w, "title", result->title);
    if (result->metadata.len) {
        tcall_write_key(w, "metadata");
        tcall_write_verbatim(w, result->metadata);
    }
    if (result->error == TCALL_OK)
        tcall_write_pair_(w, "output", result->output);
    if (result->attached) {
        tcall_write_key(w, "attachments");
        tcall_write_open(w, '[');
        for (a = result->attached; a; a = a->next) {
            tcall_write_open(w, '{');
            tcall_write_pair_(w, "type", tcall_str_of(a->type));
            tcall_write_pair_(w, "name", tcall_str_of(a->name));
            tcall_write_key(w, "bytes");
            tcall_write_int(w, (long)a->bytes.len);
            tcall_write_close(w, '}');
        }
        tcall_write_close(w, ']');
    }
    return tcall_write_close(w, '}');
}

/* ---- the result ---- */

/* The model learns which names there are, so that it can choose again. */
static void tcall_write_names_(const tcall *tc, tcall_writer *w)
{
    const tcall_tool *tool;
    size_t i = 0;
    tcall_write_key(w, "available");
    tcall_write_open(w, '[');
    while ((tool = tcall_next_tool(tc, &i, tc->desc.allow)) != NULL)
        tcall_write_string(w, tool->name);
    tcall_write_close(w, ']');
}

/* What of an argument is shown in passing. */
#define TCALL_GLANCE_ 32

/* One more argument, key=value; what is long is cut. */
static void tcall_write_short_(tcall_writer *w, tcall_str key, tcall_str value)
{
    size_t n = value.len > TCALL_GLANCE_
                   ? tcall_utf8_cut_(value.ptr, TCALL_GLANCE_ - 1)
                   : value.len;
    tcall_write_text(w, w->last == '(' ? "" : ", ");
    tcall_write_bytes(w, key.ptr, key.len < TCALL_GLANCE_ ? key.len : 0);
    tcall_write_char_(w, '=');
    tcall_write_bytes(w, value.ptr, n);
    tcall_write_text(w, n < value.len ? "..." : "");
}

/* name(key=value, ...): of arguments, which are an object. */
static void tcall_write_shape_(tcall_writer *w, const char *name,
                               tcall_json args)
{
    const tcall_tok *t = args.tok + 1, *end = args.tok + args.tok->span;
    size_t start = w->len;
    tcall_write_text(w, name);
    tcall_write_char_(w, '(');
    for (; t < end && w->len - start < 160; t += t->span) {
        char room[TCALL_GLANCE_];
        tcall_writer value;
        tcall_str key = tcall_tok_str_(args.text, t++);
        tcall_writer_init(&value, room, sizeof room);
        tcall_write_json(&value, tcall_json_cursor_(args.text, t));
        tcall_write_short_(w, key, tcall_slice_(room, value.len));
    }
    tcall_write_text(w, t < end ? ", ...): " : "): ");
}

/* A value that the schema of a property names; none: one of its type. */
static tcall_str tcall_example_(const char *property)
{
    static const char keys[][9] = {"enum", "examples", "const", "default",
                                   "minimum"};
    static const char types[][6] = {"i1", "n1", "btrue", "a[]", "o{}"};
    const char *v, *type = tcall_text_get_(property, "type");
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(keys); i++) {
        v = tcall_text_get_(property, keys[i]);
        if (i < 2)
            v = tcall_text_first_(v);
        if (v)
            return tcall_text_verbatim_(v);
    }
    for (i = 0; type && i < TCALL_ARRAY_LEN(types); i++)
        if (type[1] == types[i][0])
            return tcall_str_of(types[i] + 1);
    return tcall_str_of("\"value\"");
}

/* "suggestion":"Example: name(key=value)" with what the schema requires. */
TCALL_APART_ static void tcall_write_example_(const tcall_tool *tool,
                                              tcall_writer *w)
{
    const char *schema = tcall_text_space_(tool->parameters), *name;
    const char *all = tcall_text_get_(schema, "properties");
    tcall_write_texts_(w, "'suggestion':'Example: %(", tool->name, NULL);
    w->quoted = 1;
    name = tcall_text_first_(tcall_text_get_(schema, "required"));
    for (; name && *name == '"';
         name = tcall_text_next_(tcall_text_skip_(name))) {
        char room[64];
        const char *end = tcall_text_skip_(name);
        size_t n = 0;
        if (end - name < (int)sizeof room)
            n = tcall_decode_(room, name + 1, end - 1);
        room[n] = 0;
        tcall_write_short_(w, tcall_slice_(room, n),
                           tcall_example_(tcall_text_get_(all, room)));
    }
    tcall_write_char_(w, ')');
    tcall_write_unquote(w);
}

/* Its beginning into out, whose present content may be where the reason
 * stands. */
TCALL_APART_ static void tcall_write_reasons_(tcall_ctx *cx, tcall_writer *w)
{
    const tcall_call *call = cx->call;
    char words[128];
    tcall_str reason = cx->reason;
    if (reason.len >= sizeof words)
        reason.len = tcall_utf8_cut_(reason.ptr, sizeof words - 1);
    if (reason.len)
        memcpy(words, reason.ptr, reason.len);
    tcall_take_back_(cx);
    tcall_write_open(w, '{');
    tcall_write_texts_(w, "'success':false,'error':'", NULL, NULL);
    w->quoted = 1;
    if (call->tool && call->args.tok)
        tcall_write_shape_(w, call->tool->name, call->args);
    if (cx->by) {
        tcall_write_text(w, cx->by);
        tcall_write_text(w, ": ");
    }
    if (reason.len)
        tcall_write_bytes(w, words, reason.len);
    else
        tcall_write_text(w, tcall_error_text(cx->error));
    tcall_write_unquote(w);
}

TCALL_APART_ static void tcall_write_failure_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    tcall_writer *w = cx->out;
    tcall_write_reasons_(cx, w);
    tcall_write_texts_(w, "'error_type':'%','code':'%'",
                       tcall_error_type(cx->error),
                       cx->code ? cx->code : tcall_error_code(cx->error));
    if (cx->result.suggestion)
        tcall_write_texts_(w, "'suggestion':'%'", cx->result.suggestion, NULL);
    else if (cx->error == TCALL_E_INVALID && call->tool->parameters)
        tcall_write_example_(call->tool, w);
    if (cx->retry_ms) {
        tcall_write_key(w, "retry_after_ms");
        tcall_write_int(w, (long)cx->retry_ms);
    }
    if (cx->error == TCALL_E_UNKNOWN)
        tcall_write_names_(cx->tc, w);
    else
        tcall_write_call_errors(w, call);
    tcall_write_close(w, '}');
    if (w->error)
        cx->error = w->error;
}
