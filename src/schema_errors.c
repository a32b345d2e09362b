#pragma once
#include "schema_check.c"

/* ==========================================================================
 * >>schema_errors: what is wrong with a value or a schema, in sentences
 */

/* Longer values are cut in what the model reads. */
#define TCALL_SHOWN_ 160

/* A value: a string of which s is the content, else JSON text. */
static void tcall_show_(tcall_writer *w, tcall_str s, bool string)
{
    bool cut = s.len > TCALL_SHOWN_;
    tcall_write_comma_(w);
    if (cut)
        s.len = tcall_utf8_cut_(s.ptr, TCALL_SHOWN_);
    if (!cut && !string) {
        tcall_write_bytes(w, s.ptr, s.len);
        return;
    }
    tcall_write_char_(w, '"');
    tcall_write_content_(w, s);
    tcall_write_text(w, cut ? "...\"" : "\"");
}

static void tcall_show_found_(tcall_writer *w, const char *text,
                              const tcall_tok *t)
{
    int type = t->type & TCALL_TYPE_;
    tcall_str s = tcall_tok_str_(text, t);
    if (type >= TCALL_ARRAY)
        s = tcall_str_of(type == TCALL_ARRAY ? "an array" : "an object");
    tcall_show_(w, s, type >= TCALL_STRING);
}

/* "path": the JSON Pointer of a token; of a key that of its value. */
static void tcall_show_path_(tcall_writer *w, tcall_json v,
                             const tcall_tok *tok)
{
    const tcall_tok *t = v.tok;
    tcall_write_texts_(w, "'path':'", NULL, NULL);
    while (t < tok) {
        const char *p, *from, *end;
        int i = 0;
        for (t++; t += (t->type & TCALL_KEY_) != 0, t + t->span <= tok; i++)
            t += t->span;
        tcall_write_char_(w, '/');
        if (!(t->type & TCALL_MEMBER_)) {
            w->last = 0; /* no comma */
            tcall_write_int(w, i);
            continue;
        }
        from = v.text + t[-1].start;
        end = v.text + t[-1].end;
        for (p = from;; p++) {
            if (p < end && *p != '/' && *p != '~')
                continue;
            tcall_write_content_(w, tcall_slice_(from, (size_t)(p - from)));
            if (p == end)
                break;
            tcall_write_text(w, *p == '/' ? "~1" : "~0");
            from = p + 1;
        }
    }
    tcall_write_char_(w, '"');
}

/* The names that the schema around a node has properties for. */
static void tcall_show_names_(tcall_writer *w, const tcall_schema *s,
                              uint32_t node)
{
    const tcall_node_ *program = s->program;
    size_t room = w->len + 2 * TCALL_SHOWN_;
    uint32_t i = node, end;
    do
        i--;
    while (tcall_node_after_(program, i) <= node);
    end = tcall_node_after_(program, i);
    tcall_write_open(w, '[');
    for (i++; i < end && w->len < room; i = tcall_node_after_(program, i))
        if (tcall_node_op_(&program[i]) == TCALL_K_PROPERTIES_)
            tcall_write_verbatim(w, tcall_text_verbatim_(tcall_node_at_(s, i)));
    tcall_write_close(w, ']');
}

int tcall_write_validation_error(tcall_writer *w, const tcall_schema *s,
                                 tcall_json value,
                                 const tcall_validation_error *fault)
{
    const tcall_tok *found = value.tok + fault->tok;
    int op = tcall_node_op_(&s->program[fault->node]);
    const char *at = s->text + fault->at, *p = at, *message = "not satisfied";
    tcall_str keyword = tcall_slice_(NULL, 0);
    if (op == TCALL_K_REQUIRED_) {
        keyword = tcall_slice_("required", 8);
        message = "missing property";
    } else if (op < TCALL_K_COUNT_ &&
               tcall_keywords_[op].applies != TCALL_ASSERTS_ && *at != '[' &&
               op != TCALL_K_NOT_ && op != TCALL_K_CONTAINS_) {
        at = *at == '"' ? tcall_text_value_(at) : at;
        message = "not allowed";
        if (*at == '{') { /* what stands there is a schema: its type */
            at = p = tcall_text_get_(at, "type");
            message = "wrong type";
        } else if (op != TCALL_K_ADDITIONAL_) {
            keyword = tcall_slice_(at, 5); /* false */
        }
    }
    if (!keyword.ptr) { /* it stands in front of the value */
        while (*--p != '"')
            ;
        keyword.ptr = p;
        while (*--keyword.ptr != '"')
            ;
        keyword.len = (size_t)(p - ++keyword.ptr);
    }
    tcall_write_open(w, '{');
    tcall_show_path_(w, value, found);
    tcall_write_key(w, "keyword");
    tcall_write_str(w, keyword);
    tcall_write_texts_(w, "'message':'%','expected':", message, NULL);
    if (op == TCALL_K_ADDITIONAL_ && *at == 'f')
        tcall_show_names_(w, s, fault->node);
    else
        tcall_show_(w, tcall_text_verbatim_(at), false);
    if (op != TCALL_K_REQUIRED_) {
        tcall_write_key(w, "found");
        tcall_show_found_(w, value.text, found);
    }
    return tcall_write_close(w, '}');
}

int tcall_write_validation_errors(tcall_writer *w, const tcall_schema *s,
                                  tcall_json value, const tcall_check *check)
{
    size_t i;
    tcall_write_open(w, '[');
    for (i = 0; i < check->error_count && i < check->error_cap; i++)
        tcall_write_validation_error(w, s, value, &check->errors[i]);
    return tcall_write_close(w, ']');
}

int tcall_write_coercions(tcall_writer *w, tcall_json value)
{
    int i;
    tcall_write_open(w, '[');
    for (i = 0; value.tok && i < value.tok->span; i++) {
        const tcall_tok *tok = value.tok + i;
        if (tok->mark == TCALL_MARK_NONE_)
            continue;
        tcall_write_open(w, '{');
        tcall_show_path_(w, value, tok);
        tcall_write_key(w, "from");
        tcall_show_found_(w, value.text, tok);
        if (tok->mark != TCALL_MARK_DROP_) {
            tcall_write_key(w, "to");
            tcall_write_comma_(w);
            tcall_write_scalar_(w, value.text, tok);
        }
        tcall_write_close(w, '}');
    }
    return tcall_write_close(w, ']');
}

/* -- Schema errors -------------------------------------------------------- */

/* A name of a JSON Pointer; quote: the name in JSON text. */
static void tcall_write_pointer_name_(tcall_writer *w, const char *quote)
{
    tcall_write_text(w, "/");
    for (quote++; *quote != '"';) {
        char bytes[4];
        size_t len = tcall_text_char_(&quote, bytes);
        const char *escape = tcall_pointer_escape_(*bytes);
        if (escape)
            tcall_write_text(w, escape);
        else
            tcall_write_bytes(w, bytes, len);
    }
}

/* The JSON Pointer of the value, or of the member whose name begins, at a place
 * in JSON text. */
static void tcall_write_place_(tcall_writer *w, const char *text,
                               const char *place)
{
    const char *value = tcall_text_space_(text), *member = value;
    while (member < place && (*value == '{' || *value == '[')) {
        bool object = *value == '{';
        long index = 0;
        for (member = tcall_text_next_(value + 1);; index++) {
            const char *next;
            value = object ? tcall_text_value_(member) : member;
            next = tcall_text_next_(tcall_text_skip_(value));
            if (next > place || tcall_text_closes_(next))
                break;
            member = next;
        }
        if (object) {
            tcall_write_pointer_name_(w, member);
        } else {
            tcall_write_text(w, "/");
            w->last = 0; /* no comma */
            tcall_write_int(w, index);
        }
        member = value > place ? place : value;
    }
}

int tcall_write_schema_error(tcall_writer *w, const tcall_schema *schema)
{
    if (!schema->reason)
        return tcall_write_text(w, "ok");
    if (schema->text) {
        const char *place = schema->text + schema->at;
        if (place == tcall_text_space_(schema->text))
            tcall_write_text(w, "the schema");
        tcall_write_place_(w, schema->text, place);
        tcall_write_text(w, ": ");
        tcall_write_text(w, schema->reason);
        tcall_write_text(w, " ");
        w->last = 0; /* no comma */
        tcall_show_(w, tcall_text_verbatim_(place), false);
    } else {
        tcall_write_text(w, schema->reason);
    }
    if (schema->remedy) {
        tcall_write_text(w, "; ");
        tcall_write_text(w, schema->remedy);
    }
    return w->error;
}
