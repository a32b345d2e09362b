#pragma once
#include "call.h"
#include "context.c"

/* ==========================================================================
 * >>result: what the model reads of a call
 *
 * A success is what the tool wrote. A failure is {"success":false,"error":...}:
 * what was wrong, where, and what to send instead.
 */

/* ---- the call in passing: name(key=value, ...) ---- */

/* Bytes of an argument that are shown, and of all arguments together. */
#define TCALL_GLANCE_     32
#define TCALL_GLANCE_ALL_ 160

/* Writes one more argument as key=value; what is long is cut. */
TCALL_SHARED_ void tcall_write_argument_(tcall_writer *out, tcall_str key,
                                         tcall_str value)
{
    bool cut = value.len > TCALL_GLANCE_;
    if (cut)
        value.len = tcall_utf8_cut_(value.ptr, TCALL_GLANCE_ - 1);
    tcall_write_text(out, out->last == '(' ? "" : ", ");
    tcall_write_bytes(out, key.ptr, key.len < TCALL_GLANCE_ ? key.len : 0);
    tcall_write_text(out, "=");
    tcall_write_bytes(out, value.ptr, value.len);
    tcall_write_text(out, cut ? "..." : "");
}

#ifndef TOOLCALL_NO_SCHEMA

/* Writes what was called, with its arguments, which are an object. */
TCALL_NOINLINE_ static void
tcall_write_called_(tcall_writer *out, const char *name, tcall_json args)
{
    const tcall_tok *token = args.tok + 1, *end = args.tok + args.tok->span;
    size_t start = out->len;
    tcall_write_text(out, name);
    tcall_write_text(out, "(");
    for (; token < end && out->len - start < TCALL_GLANCE_ALL_;
         token += token->span) {
        char room[TCALL_GLANCE_];
        tcall_writer value;
        tcall_str key = tcall_tok_str_(args.text, token++);
        tcall_writer_init(&value, room, sizeof room);
        tcall_write_json(&value, tcall_json_cursor_(args.text, token));
        tcall_write_argument_(out, key, tcall_slice_(room, value.len));
    }
    tcall_write_text(out, token < end ? ", ...): " : "): ");
}

/* ---- an example of a call that would do ---- */

/* Returns a value that the schema of a property names; without one, a value of
 * its type. The order is that of how likely the value does what the user
 * wants. */
static tcall_str tcall_example_(const char *property)
{
    static const struct {
        const char *keyword;
        bool first; /* the first of a list */
    } values[] = {{"enum", true},
                  {"examples", true},
                  {"const", false},
                  {"default", false},
                  {"minimum", false}};
    static const struct {
        const char *type, *value;
    } types[] = {{"integer", "1"},
                 {"number", "1"},
                 {"boolean", "true"},
                 {"array", "[]"},
                 {"object", "{}"}};
    const char *type = tcall_text_get_(property, "type");
    size_t i;
    for (i = 0; i < sizeof values / sizeof *values; i++) {
        const char *value = tcall_text_get_(property, values[i].keyword);
        if (values[i].first)
            value = tcall_text_first_(value);
        if (value)
            return tcall_text_verbatim_(value);
    }
    for (i = 0; type && i < sizeof types / sizeof *types; i++)
        if (tcall_text_same_(type, tcall_str_of(types[i].type)))
            return tcall_str_of(types[i].value);
    return tcall_str_of("\"value\"");
}

/* Writes the example of a property; of a list, as many items as it needs. */
static void tcall_write_property_(tcall_writer *out, const char *property)
{
    tcall_str value = tcall_example_(property);
    const char *least = tcall_text_get_(property, "minItems");
    int count = 0;
    if (least && tcall_str_eq(value, tcall_str_of("[]"))) {
        for (; tcall_is_digit_(*least) && count < TCALL_GLANCE_; least++)
            count = count * 10 + *least - '0';
        value = tcall_example_(tcall_text_get_(property, "items"));
        tcall_write_open(out, '[');
        for (; count && !out->error; count--)
            tcall_write_verbatim(out, value);
        tcall_write_close(out, ']');
    } else {
        tcall_write_bytes(out, value.ptr, value.len);
    }
}

/* Writes what the schema requires. */
TCALL_NOINLINE_ static void tcall_write_schema_example_(tcall_writer *out,
                                                        const char *schema)
{
    const char *properties, *name;
    schema = tcall_text_space_(schema);
    properties = tcall_text_get_(schema, "properties");
    name = tcall_text_first_(tcall_text_get_(schema, "required"));
    for (; name && *name == '"';
         name = tcall_text_next_(tcall_text_skip_(name))) {
        char room[64], example[TCALL_GLANCE_ + 4]; /* more is cut */
        const char *end = tcall_text_skip_(name);
        tcall_writer value;
        size_t len = 0;
        /* a name that is too long is left out, its value is not */
        if (end - name < (int)sizeof room)
            len = tcall_decode_(room, name + 1, end - 1);
        room[len] = '\0';
        tcall_writer_init(&value, example, sizeof example);
        tcall_write_property_(&value, tcall_text_get_(properties, room));
        tcall_write_argument_(out, tcall_slice_(room, len),
                              tcall_slice_(example, value.fill));
    }
}

#else

/* Without schemas there are no values of arguments, and no texts of schemas. */
static void tcall_write_called_(tcall_writer *out, const char *name,
                                tcall_json args)
{
    (void)out;
    (void)name;
    (void)args;
}

static void tcall_write_schema_example_(tcall_writer *out, const char *schema)
{
    (void)out;
    (void)schema;
}

#endif /* TOOLCALL_NO_SCHEMA */

#ifndef TOOLCALL_NO_SHAPES

/* Writes a value that a node allows. */
static void tcall_write_shape_value_(tcall_writer *out, const tcall_shape *node)
{
    tcall_said_ said = tcall_said_of_(node);
    const char *value = "\"value\"";
    int32_t i;
    switch (node->kind) {
    case TCALL_KIND_CHOICE:
        tcall_write_string(out, (const char *)node->more);
        return;
    case TCALL_KIND_INTEGER:
    case TCALL_KIND_INTEGER64:
    case TCALL_KIND_NUMBER:
        if (said.has_low) {
            tcall_put_number_(out, said.low, node->digits);
            return;
        }
        value = said.has_high && said.high < 1 ? "0" : "1";
        break;
    case TCALL_KIND_BOOLEAN: value = "true"; break;
    case TCALL_KIND_LIST:
        tcall_write_text(out, "[");
        for (i = 0; i < node->low && !out->error; i++) {
            tcall_write_text(out, i ? "," : "");
            tcall_write_shape_value_(out, (const tcall_shape *)node->more);
        }
        value = "]";
        break;
    case TCALL_KIND_OBJECT: value = "{}"; break;
    default: break;
    }
    tcall_write_text(out, value);
}

/* Writes what the shape requires. */
static void tcall_write_shape_example_(tcall_writer *out,
                                       const tcall_object *shape)
{
    const char *name = shape->names;
    unsigned i;
    for (i = 0; i < shape->count; i++, name = tcall_word_next_(name)) {
        char room[64];
        tcall_writer value;
        if (!(shape->members[i].flags & TCALL_MEMBER_REQUIRED))
            continue;
        tcall_writer_init(&value, room, sizeof room);
        tcall_write_shape_value_(&value, &shape->members[i]);
        tcall_write_argument_(out, tcall_str_of(name),
                              tcall_slice_(room, value.fill));
    }
}

#else

static void tcall_write_shape_example_(tcall_writer *out,
                                       const tcall_object *shape)
{
    (void)out;
    (void)shape;
}

#endif

/* Writes "suggestion":"Example: name(key=value)" with what is required. */
TCALL_NOINLINE_ static void tcall_write_example_(tcall_writer *out,
                                                 const tcall_tool *tool)
{
    tcall_write_key(out, "suggestion");
    tcall_write_quote(out);
    tcall_write_text(out, "Example: ");
    tcall_write_text(out, tool->name);
    tcall_write_text(out, "(");
    if (tool->shape)
        tcall_write_shape_example_(out, tool->shape);
    else
        tcall_write_schema_example_(out, tool->parameters);
    tcall_write_text(out, ")");
    tcall_write_unquote(out);
}

/* ---- failures ---- */

/* True when a second run for the same call has no second effect. */
TCALL_SHARED_ bool tcall_repeatable_(const tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    return tool->idempotent ||
           (tcall_may_(cx->tc, tool) & ~(unsigned)TCALL_NETWORK) == TCALL_READ;
}

/* Writes which tools there are, so that the model can choose again. */
static void tcall_write_available_(tcall_writer *out, const tcall_call *call)
{
    const tcall *tc = call->cx.tc;
    size_t i;
    tcall_write_key(out, "available");
    tcall_write_open(out, '[');
    for (i = 0; i < tc->desc.tool_count; i++)
        if (tcall_is_offered_(tc, &tc->desc.tools[i], call->by_model))
            tcall_write_string(out, tc->desc.tools[i].name);
    tcall_write_close(out, ']');
}

/* Writes what the schema or shape says of the arguments, into a string. */
TCALL_NOINLINE_ static void tcall_say_refused_(tcall_writer *out,
                                               const tcall_call *call)
{
    size_t i;
    tcall_write_text(out, call->tool->name);
    for (i = 0; i < call->faults; i++) {
        tcall_write_text(out, i ? ". " : ": ");
        tcall_say_fault_(out, call, i);
    }
}

/* True where the faults of the arguments say what was wrong. */
static bool tcall_was_refused_(const tcall_ctx *cx)
{
    return cx->failure.error == TCALL_E_INVALID && cx->call->faults &&
           !cx->failure.reason.len;
}

/* Writes what has become of a tool that does more than read, into a string: the
 * model would make the call again. One that failed has said why. */
static void tcall_say_ran_(tcall_writer *out, const tcall_ctx *cx)
{
    if (cx->tool_did)
        tcall_write_text(out, ". The tool has run: do not repeat the call");
    else if (cx->stop < 0)
        tcall_write_text(out, ". The tool had begun: look whether it had its "
                              "effect before you repeat the call");
}

/* Writes what was called, who failed and why, into a string. */
TCALL_NOINLINE_ static void tcall_say_reason_(tcall_writer *out,
                                              const tcall_ctx *cx)
{
    const tcall_failure *failure = &cx->failure;
    const tcall_call *call = cx->call;
    if (call->tool && call->args.tok)
        tcall_write_called_(out, call->tool->name, call->args);
    if (failure->by) {
        tcall_write_text(out, failure->by);
        tcall_write_text(out, ": ");
    }
    if (failure->reason.len)
        tcall_write_bytes(out, failure->reason.ptr, failure->reason.len);
    else
        tcall_write_text(out, tcall_error_text(failure->error));
}

/* Writes what the model can do about the failure. */
static void tcall_write_help_(tcall_writer *out, const tcall_ctx *cx)
{
    const tcall_failure *failure = &cx->failure;
    const tcall_call *call = cx->call;
    if (cx->result.suggestion)
        tcall_write_pair_(out, "suggestion",
                          tcall_str_of(cx->result.suggestion));
    else if (failure->error == TCALL_E_INVALID && call->tool &&
             tcall_is_checked_(call->tool))
        tcall_write_example_(out, call->tool);
    if (failure->retry_ms) {
        tcall_write_key(out, "retry_after_ms");
        tcall_write_int(out, (tcall_int)failure->retry_ms);
    }
    if (failure->error == TCALL_E_UNKNOWN)
        tcall_write_available_(out, cx->call);
    else
        tcall_write_call_errors(out, call);
}

/* How much of a failure is told: what has no room is left out as a whole, so
 * that the result is JSON in any room. */
enum { TCALL_TELL_ALL_, TCALL_TELL_WHY_, TCALL_TELL_CODE_, TCALL_TELL_LEAST_ };

static void tcall_write_failure_at_(tcall_ctx *cx, int brevity)
{
    const tcall_failure *failure = &cx->failure;
    tcall_writer *out = cx->out;
    bool ran = cx->result.ran && !tcall_repeatable_(cx);
    tcall_output_clear_(cx);
    tcall_write_open(out, '{');
    tcall_write_key(out, "success");
    tcall_write_bool(out, false);
    if (brevity <= TCALL_TELL_WHY_) {
        tcall_write_key(out, "error");
        tcall_write_quote(out);
        if (tcall_was_refused_(cx))
            tcall_say_refused_(out, cx->call);
        else
            tcall_say_reason_(out, cx);
        if (ran)
            tcall_say_ran_(out, cx);
        tcall_write_unquote(out);
        tcall_write_pair_(out, "error_type",
                          tcall_str_of(tcall_error_type(failure->error)));
    }
    if (brevity <= TCALL_TELL_CODE_) /* a hook may have given its own */
        tcall_write_pair_(out, "code",
                          tcall_str_of(failure->code
                                           ? failure->code
                                           : tcall_error_code(failure->error)));
    if (ran && brevity <= TCALL_TELL_CODE_) {
        tcall_write_key(out, "ran");
        tcall_write_bool(out, true);
    }
    if (brevity == TCALL_TELL_ALL_)
        tcall_write_help_(out, cx);
    tcall_write_close(out, '}');
}

/* Writes the result of a call that failed, instead of the output. */
TCALL_NOINLINE_ TCALL_SHARED_ void tcall_write_failure_(tcall_ctx *cx)
{
    size_t wanted = cx->failure.error == TCALL_E_MEMORY ? cx->wanted : 0;
    int brevity = TCALL_TELL_ALL_;
    tcall_write_failure_at_(cx, brevity);
    if (cx->out->error)
        wanted = cx->out->len - cx->out_start->len;
    while (cx->out->error && brevity++ < TCALL_TELL_LEAST_)
        tcall_write_failure_at_(cx, brevity);
    if (cx->out->error)
        tcall_output_clear_(cx);
    cx->wanted = wanted;
}
