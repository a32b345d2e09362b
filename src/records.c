#pragma once
#include "records.h"
#include "hash.c"
#include "invoke.c"
#include "mask.c"

/* ==========================================================================
 * >>records
 */

/* Writes which call it is: its id and, where an agent made it, its place. */
TCALL_SHARED_ void tcall_write_identity_(tcall_writer *out,
                                         const tcall_call *call)
{
    static const char names[][9] = {"turn", "round", "position"};
    const uint32_t place[] = {call->turn_id, call->round, call->position};
    size_t i;
    tcall_write_pair_(out, "call_id", call->id);
    for (i = 0; i < TCALL_ARRAY_LEN(place) && call->turn_id; i++) {
        tcall_write_key(out, names[i]);
        tcall_write_uint(out, place[i]);
    }
}

/* ---- where the arguments came from ---- */

/* Writes which definition the tool had: two that say the same have one hash. */
static void tcall_write_hash_(tcall_writer *out, uint64_t hash)
{
    int shift;
    tcall_write_key(out, "definition");
    tcall_write_quote(out);
    for (shift = 60; shift >= 0; shift -= 4)
        tcall_write_char_(out, tcall_write_hex_((int)(hash >> shift & 15)));
    tcall_write_unquote(out);
}

/* Writes the names of what lenient parsing has set right. */
static void tcall_write_fixes_(tcall_writer *out, uint32_t fixes)
{
    int i;
    tcall_write_key(out, "fixes");
    tcall_write_open(out, '[');
    for (i = 0; i < TCALL_FIX_COUNT; i++)
        if (fixes >> i & 1)
            tcall_write_string(out, tcall_fix_name(i));
    tcall_write_close(out, ']');
}

/* Writes one attempt at the arguments: what it read, and what was wrong. */
static void tcall_write_attempt_(tcall_writer *out, const tcall_call *attempt,
                                 const char *by)
{
    int error = attempt->validated ? TCALL_OK : attempt->error;
    tcall_write_open(out, '{');
    tcall_write_pair_(out, "by", tcall_str_of(by));
    tcall_write_pair_(out, "arguments", attempt->arguments);
    tcall_write_fixes_(out, attempt->fixes);
    tcall_write_pair_(out, "outcome", tcall_str_of(tcall_error_code(error)));
    if (error < 0)
        tcall_write_call_errors(out, attempt);
    tcall_write_close(out, '}');
}

/* Writes what came and its repair, whichever of them the call is now. */
static void tcall_write_attempts_(tcall_writer *out, const tcall_call *call)
{
    const tcall_call *came = call->repaired ? call->other : call;
    const tcall_call *repair = call->repaired ? call : call->other;
    tcall_write_key(out, "attempts");
    tcall_write_open(out, '[');
    tcall_write_attempt_(out, came, "model");
    tcall_write_attempt_(out, repair, "repair");
    tcall_write_close(out, ']');
}

/* Writes whose arguments hooks replaced: the earliest, which came, are last. */
static void tcall_write_replaced_(tcall_writer *out, const tcall_change *change)
{
    tcall_write_key(out, "replaced");
    tcall_write_open(out, '[');
    for (; change; change = change->before) {
        if (!change->input.at)
            continue;
        tcall_write_open(out, '{');
        tcall_write_pair_(out, "by", tcall_str_of(change->by));
        tcall_write_key(out, "arguments");
        tcall_write_json(out, change->input);
        tcall_write_close(out, '}');
    }
    tcall_write_close(out, ']');
}

/* Writes who checked the arguments, and whether its schema was compiled at the
 * start or for this call. */
static void tcall_write_validator_(const tcall *tc, const tcall_tool *tool,
                                   tcall_writer *out)
{
    const tcall_validator *validator = tc->desc.validator;
    bool eager = tcall_is_compiled_(tc, tool);
    tcall_write_key(out, "validator");
    tcall_write_open(out, '{');
    tcall_write_pair_(out, "name",
                      tcall_str_of(validator ? validator->name : "builtin"));
    tcall_write_pair_(
        out, "version",
        tcall_str_of(validator ? validator->version : TOOLCALL_VERSION));
    tcall_write_pair_(out, "mode",
                      tcall_str_of(validator     ? "foreign"
                                   : tool->shape ? "shape"
                                   : eager       ? "eager"
                                                 : "lazy"));
    tcall_write_close(out, '}');
}

/* Whether arguments were checked, what a tool that checks none may do, and
 * whether what runs is a repair. */
TCALL_SHARED_ void tcall_write_validated_(tcall_writer *out,
                                          const tcall_call *call)
{
    static const char modes[][15] = {"read-only", "human-approval", "full"};
    const tcall_tool *tool = call->tool;
    tcall_write_key(out, "validated");
    tcall_write_bool(out, call->validated);
    if (tool && !tcall_is_checked_(tool))
        tcall_write_pair_(out, "no_schema_mode",
                          tcall_str_of(modes[tool->no_schema_mode % 3]));
    tcall_write_key(out, "repaired");
    tcall_write_bool(out, call->repaired);
}

static void tcall_write_origin_(tcall_writer *out, const tcall *tc,
                                const tcall_call *call)
{
    static const char steps[][9] = {"find", "parse", "validate", "done"};
    const tcall_tool *tool = call->tool;
    tcall_write_open(out, '{');
    tcall_write_pair_(out, "provider", tcall_str_of(call->provider));
    tcall_write_identity_(out, call);
    tcall_write_pair_(out, "tool", call->name);
    if (tool)
        tcall_write_hash_(out, tcall_hash_definition_(tc, tool));
    tcall_write_pair_(out, "arguments",
                      (call->repaired ? call->other : call)->arguments);
    tcall_write_fixes_(out, call->fixes);
    tcall_write_key(out, "coercions");
    tcall_write_verbatim(out, call->coerced.len ? call->coerced
                                                : tcall_str_of("[]"));
    if (tool && tool->provided_by)
        tcall_write_pair_(out, "provided_by", tcall_str_of(tool->provided_by));
    if (call->step >= TCALL_STEP_VALIDATE && tcall_is_checked_(tool))
        tcall_write_validator_(tc, tool, out);
    tcall_write_key(out, "ran");
    tcall_write_bool(out, call->cx.result.ran);
    tcall_write_key(out, "ms");
    tcall_write_int(out, (tcall_int)call->hydrate_ms);
    tcall_write_validated_(out, call);
    if (call->validated && call->args.at) {
        tcall_write_key(out, "value");
        tcall_write_json(out, call->args);
    }
    if (call->repaired)
        tcall_write_pair_(out, "repaired_arguments", call->arguments);
    if (call->other)
        tcall_write_attempts_(out, call);
    if (call->cx.history)
        tcall_write_replaced_(out, call->cx.history);
    tcall_write_pair_(out, "step",
                      tcall_str_of(steps[call->step % TCALL_ARRAY_LEN(steps)]));
    tcall_write_pair_(out, "outcome",
                      tcall_str_of(tcall_error_code(call->error)));
    if (call->error < 0)
        tcall_write_call_errors(out, call);
    tcall_write_close(out, '}');
}

/* A sink whose user is a writer, which keeps its own error and counts on. */
static int tcall_write_on_(void *writer, const char *bytes, size_t len)
{
    tcall_write_bytes((tcall_writer *)writer, bytes, len);
    return (int)len;
}

int tcall_write_provenance(tcall_writer *out, const tcall *tc,
                           const tcall_call *call)
{
    tcall_masked_ masked;
    tcall_writer writer;
    tcall_write_verbatim(out, tcall_str_of("")); /* a comma, where one is due */
    tcall_masked_begin_(&masked, &writer, tc->key, tcall_write_on_, out);
    tcall_write_origin_(&writer, tc, call);
    tcall_masked_end_(&masked, &writer);
    return out->error;
}
