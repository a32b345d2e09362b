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

/* ---- an example of a call that would do ---- */

/* Values that are nested deeper are left out. */
#define TCALL_EXAMPLE_DEPTH_ 3

/* Writes what was called, with its arguments, which are an object. */
TCALL_NOINLINE_ static void
tcall_write_called_(tcall_writer *out, const char *name, tcall_json args)
{
    tcall_json member = tcall_json_first(args);
    size_t start = out->len;
    tcall_write_text(out, name);
    tcall_write_text(out, "(");
    for (; member.at && out->len - start < TCALL_GLANCE_ALL_;
         member = tcall_json_next(member)) {
        char room[TCALL_GLANCE_];
        tcall_writer value;
        tcall_writer_init(&value, room, sizeof room);
        tcall_write_json(&value, member);
        tcall_write_argument_(out, tcall_json_key(member),
                              tcall_slice_(room, value.len));
    }
    tcall_write_text(out, member.at ? ", ...): " : "): ");
}

/* Returns whether the call would take the text. */
TCALL_NOINLINE_ static bool tcall_example_fits_(const tcall_call *call,
                                                tcall_str text)
{
    tcall_block *block = &call->cx.tc->block;
    const tcall_object *shape = call->tool->shape;
    tcall_machine machine;
    tcall_machine_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.object = desc.for_c = true;
    desc.target.object = shape;
    desc.target.node = shape ? NULL : call->node;
    desc.target.rows = shape ? NULL : call->tool->parameters.reader->rows;
    desc.target.out = shape ? tcall_block_take_(block, shape->size) : NULL;
    return (!shape || desc.target.out) &&
           tcall_arguments_read_(block, &machine, &desc, text) == TCALL_OK;
}

/* Writes the members of an object of JSON text as key=value, ... */
TCALL_NOINLINE_ static void tcall_write_members_(tcall_writer *out,
                                                 const char *object)
{
    const char *at = tcall_text_next_(object + 1), *name, *value;
    while (!tcall_text_closes_(at)) {
        for (name = at + 1; *name != '"';) {
            char bytes[4];
            size_t len = tcall_text_character_(&name, bytes);
            tcall_write_bytes(out, bytes, len);
        }
        value = tcall_text_value_(at);
        at = tcall_text_next_(tcall_text_skip_(value));
        tcall_write_text(out, "=");
        tcall_write_bytes(out, value, tcall_text_verbatim_(value).len);
        if (!tcall_text_closes_(at))
            tcall_write_text(out, ", ");
    }
}

/* Longer examples are left out. */
#define TCALL_EXAMPLE_ 512

/* Makes an example at the end of the block, ended by NUL. Returns its length,
 * or 0. */
static size_t tcall_make_example_(const tcall_call *call, tcall_str *text)
{
    const tcall_tool *tool = call->tool;
    tcall_block *block = &call->cx.tc->block;
    tcall_writer args;
    tcall_hydrate_writer_(block, &args);
    if (args.cap > TCALL_EXAMPLE_)
        args.cap = TCALL_EXAMPLE_;
    if (tool->shape)
        tcall_write_shape_example_(&args, tool->shape);
    else
        tool->parameters.reader->example(
            &args, tcall_text_space_(tool->parameters.text),
            TCALL_EXAMPLE_DEPTH_);
    tcall_write_char_(&args, '\0');
    if (args.error || tcall_hydrate_keep_(block, args.buf, args.fill, text) < 0)
        return 0;
    return --text->len;
}

/* Writes "suggestion":"Example: name(key=value)" with what is required, where
 * an example can be made: it is checked like arguments that came. */
TCALL_NOINLINE_ static void tcall_write_example_(tcall_writer *out,
                                                 const tcall_call *call)
{
    tcall_block *block = &call->cx.tc->block;
    size_t base = block->high;
    tcall_str text;
    if (tcall_make_example_(call, &text) && tcall_example_fits_(call, text)) {
        tcall_write_key(out, "suggestion");
        tcall_write_quote(out);
        tcall_write_text(out, "Example: ");
        tcall_write_text(out, call->tool->name);
        tcall_write_text(out, "(");
        tcall_write_members_(out, text.ptr);
        tcall_write_text(out, ")");
        tcall_write_unquote(out);
    }
    tcall_block_back_(block, base);
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
        tcall_say_fault_(out, tcall_say_of_(call->tool->parameters),
                         call->args.at, &call->fault[i], true);
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
    if (call->tool && call->args.at)
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
        tcall_write_example_(out, call);
    if (failure->retry_ms) {
        tcall_write_count_(out, "retry_after_ms", failure->retry_ms);
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
    tcall_write_flag_(out, "success", false);
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
        tcall_write_flag_(out, "ran", true);
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
