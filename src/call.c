#pragma once
#include "call.h"
#include "lenient.c"
#include "tools.c"

/* ==========================================================================
 * >>call
 *
 * What a call needs is built up at the end of the block: the program of its
 * schema (when lazy), the repaired text (if any), the list of coercions (if
 * any), the arguments, the struct. Each is made in the free part and then
 * moved there, so nothing has to know its size beforehand.
 */

TCALL_SHARED_ void tcall_tell_call_(const tcall_call *call,
                                    tcall_event_kind kind, tcall_str text)
{
    tcall *tc = call->cx.tc;
    tcall_event event;
    if (!tc->desc.on_event && !tc->listeners)
        return;
    memset(&event, 0, sizeof event);
    event.call = call;
    event.error = call->error;
    event.text = text;
    event.ms = kind == TCALL_EVENT_END ? call->run_ms : call->hydrate_ms;
    tcall_tell_(tc, &event, kind);
}

void tcall_release(tcall *tc, tcall_call *call)
{
    tc->block.high = call->block_high;
    call->args = tcall_json_none_();
    call->cx.bound = NULL;
}

/* Free memory for tokens and the like: aligned, behind `skip` bytes of it. */
TCALL_SHARED_ char *tcall_hydrate_gap_(const tcall_block *b, size_t skip,
                                       size_t *size)
{
    size_t start = (b->low + skip + 7) & ~(size_t)7;
    size_t end = b->size - b->high;
    start = start < end ? start : end;
    *size = end - start;
    return b->base + start;
}

/* Writes to the free part. */
static void tcall_hydrate_writer_(const tcall_block *b, tcall_writer *w)
{
    tcall_writer_init(w, tcall_block_gap_(b), tcall_block_free_(b));
}

/* Holds n bytes that were made at `from` in the free part, or lie elsewhere. */
TCALL_SHARED_ char *tcall_hydrate_hold_(tcall_block *b, const char *from,
                                        size_t n)
{
    char *to = (char *)tcall_block_take_(b, n);
    if (to && n)
        memmove(to, from, n);
    return to;
}

/* The same for text. What does not fit is empty. */
TCALL_SHARED_ int tcall_hydrate_keep_(tcall_block *b, const char *from,
                                      size_t n, tcall_str *to)
{
    to->ptr = tcall_hydrate_hold_(b, from, n);
    to->len = to->ptr ? n : 0;
    return to->ptr ? TCALL_OK : TCALL_E_MEMORY;
}

/* Parses text into the end of the block; what lies in the first `skip` bytes
 * of the free part (the text itself, perhaps) is left alone. */
static int tcall_hydrate_read_(tcall *tc, tcall_call *call, tcall_str text,
                               size_t skip)
{
    tcall_block *b = &tc->block;
    size_t size;
    char *gap = tcall_hydrate_gap_(b, skip, &size);
    tcall_arguments args;
    const char *held;
    int r = tcall_parse_arguments(&args, text, tc->desc.strict_json, gap, size);
    if (r == TCALL_E_MEMORY)
        tcall_block_room_(b, (size_t)(gap - tcall_block_gap_(b)) + args.used);
    if (r < 0) {
        call->error_at = args.at;
        return r;
    }
    if (!skip)
        call->fixes = args.fixes;
    held = tcall_hydrate_hold_(b, gap, args.used);
    call->args.text = held + (args.root.text - gap);
    call->args.tok =
        (const tcall_tok *)(const void *)(held +
                                          ((const char *)args.root.tok - gap));
    return TCALL_OK;
}

/* Compiles a schema into the end of the block. */
TCALL_SHARED_ int tcall_hydrate_compile_(tcall *tc, tcall_schema *s,
                                         const char *text)
{
    int r = tcall_tool_compile_(tc, s, text);
    if (r < 0)
        return r;
    s->program = (const tcall_node_ *)(const void *)tcall_hydrate_hold_(
        &tc->block, (const char *)s->program, s->nodes * sizeof(tcall_node_));
    return s->program ? TCALL_OK : TCALL_E_MEMORY;
}

/* The compiled schema: there since tcall_init, or made for this call (of a
 * tool that was added later, too). */
static int tcall_hydrate_schema_(tcall *tc, tcall_call *call)
{
    const char *text = call->tool->parameters;
    if (!text || tc->desc.validator)
        return TCALL_OK;
    if (tc->schemas) {
        call->schema = tc->schemas[call->tool - tc->desc.tools];
        if (call->schema.program)
            return TCALL_OK;
    }
    return tcall_hydrate_compile_(tc, &call->schema, text);
}

/* Checks with the free part of the block as scratch memory. */
TCALL_SHARED_ int tcall_hydrate_run_(tcall_block *b, const tcall_schema *s,
                                     tcall_json value, tcall_check *check)
{
    int r;
    check->memory = tcall_hydrate_gap_(b, 0, &check->size);
    r = tcall_schema_check(s, value, check);
    if (r == TCALL_OK || r == TCALL_E_MEMORY)
        tcall_block_room_(b, check->need);
    return r;
}

static int tcall_hydrate_check_(tcall *tc, tcall_call *call, bool coerce)
{
    tcall_check check;
    int r;
    memset(&check, 0, sizeof check);
    check.errors = call->fault;
    check.error_cap = TOOLCALL_MAX_FAULTS;
    check.coerce = coerce;
    r = tcall_hydrate_run_(&tc->block, &call->schema, call->args, &check);
    if (coerce)
        call->coercions = (uint16_t)check.coerced;
    call->faults = (uint8_t)(check.error_count < TOOLCALL_MAX_FAULTS
                                 ? check.error_count
                                 : TOOLCALL_MAX_FAULTS);
    return r;
}

/* Coercion only marks the values it would change. Write the arguments as they
 * are meant and read that text, to check it strictly: so what is checked,
 * shown, run and logged is one and the same value. */
TCALL_APART_ static int tcall_hydrate_rewrite_(tcall *tc, tcall_call *call,
                                               size_t base)
{
    tcall_block *b = &tc->block;
    tcall_json marked = call->args;
    tcall_writer w;
    size_t text;
    tcall_hydrate_writer_(b, &w);
    tcall_write_json(&w, marked);
    text = w.len;
    w.last = 0;
    tcall_write_coercions(&w, marked);
    if (!tcall_block_room_(b, w.len))
        return TCALL_E_MEMORY;
    b->high = base;
    tcall_hydrate_keep_(b, w.buf + text, w.len - text, &call->coerced);
    return tcall_hydrate_read_(tc, call, tcall_slice_(w.buf, text), text);
}

TCALL_APART_ static int tcall_hydrate_foreign_(tcall *tc, tcall_call *call)
{
    const tcall_validator *v = tc->desc.validator;
    tcall_block *b = &tc->block;
    tcall_writer why;
    int r;
    tcall_hydrate_writer_(b, &why);
    r = v->check(v->user, call->tool, call->args, &why);
    tcall_hydrate_keep_(b, why.buf, why.fill, &call->complaint);
    return r < 0 ? r : TCALL_OK;
}

/* parse and validate; base: what the block's end holds besides them. */
TCALL_SHARED_ int tcall_hydrate_try_(tcall *tc, tcall_call *call, size_t base)
{
    int r;
    tc->block.high = base;
    call->step = TCALL_STEP_PARSE;
    if (call->incomplete && !call->repaired)
        return call->incomplete < 0 ? call->incomplete : TCALL_E_CUT;
    r = tcall_hydrate_read_(tc, call, call->arguments, 0);
    if (r < 0 || !call->tool->parameters)
        return r;
    call->step = TCALL_STEP_VALIDATE;
    if (tc->desc.validator)
        r = tcall_hydrate_foreign_(tc, call);
    else
        r = tcall_hydrate_check_(tc, call, !tc->desc.strict_types);
    if (r == TCALL_OK && call->coercions) {
        r = tcall_hydrate_rewrite_(tc, call, base);
        if (r == TCALL_OK)
            r = tcall_hydrate_check_(tc, call, false);
    }
    call->validated = r == TCALL_OK;
    return r;
}

/* What was refused is mended, once: TCALL_OK, or why not. */
TCALL_APART_ static int tcall_hydrate_repair_(tcall *tc, tcall_call *call,
                                              size_t base)
{
    tcall_block *b = &tc->block;
    tcall_writer w;
    int r = call->error;
    if (!tc->desc.repair || r == TCALL_E_MEMORY)
        return r;
    tc->repairs++;
    tcall_hydrate_writer_(b, &w);
    if (tc->desc.repair(tc->desc.user, call, &w) < 0 || w.error)
        return r;
    b->high = base;
    call->original = call->arguments;
    if (tcall_hydrate_keep_(b, w.buf, w.fill, &call->arguments) < 0)
        return TCALL_E_MEMORY;
    call->repaired = true;
    tcall_tell_call_(call, TCALL_EVENT_REPAIR, call->arguments);
    return TCALL_OK;
}

TCALL_APART_ TCALL_SHARED_ int tcall_hydrate_bind_(tcall *tc, tcall_call *call)
{
    tcall_block *b = &tc->block;
    const tcall_tool *tool = call->tool;
    void *bound;
    char *path;
    size_t cap;
    int r;
    call->step = TCALL_STEP_BIND;
    if (!tool->fields)
        return TCALL_OK;
    bound = tcall_block_take_(b, tool->args_size);
    if (!bound)
        return TCALL_E_MEMORY;
    memset(bound, 0, tool->args_size);
    call->cx.bound = bound;
    path = tcall_block_gap_(b);
    cap = tcall_block_free_(b) < 64 ? tcall_block_free_(b) : 64;
    r = tcall_bind(bound, call->args, tool->fields, path, cap);
    if (r < 0 && cap)
        tcall_hydrate_keep_(b, path, strlen(path), &call->complaint);
    return r;
}

int tcall_hydrate(tcall *tc, tcall_call *call)
{
    uint32_t before = tcall_now_(tc);
    size_t base;
    int r;
    call->block_high = tc->block.high;
    call->step = TCALL_STEP_FIND;
    call->cx.tc = tc;
    call->cx.call = call;
    call->tool = tcall_find(tc, call->name);
    call->cx.user = call->tool ? call->tool->user : NULL;
    r = tcall_usable_(tc);
    if (r == TCALL_OK)
        r = call->tool ? tcall_hydrate_schema_(tc, call) : TCALL_E_UNKNOWN;
    base = tc->block.high;
    if (r == TCALL_OK) {
        r = call->error = tcall_hydrate_try_(tc, call, base);
        if (r < 0) {
            r = tcall_hydrate_repair_(tc, call, base);
            if (r == TCALL_OK)
                r = tcall_hydrate_try_(tc, call, tc->block.high);
        }
    }
    if (r == TCALL_OK)
        r = tcall_hydrate_bind_(tc, call);
    if (r == TCALL_OK)
        call->step = TCALL_STEP_DONE;
    call->error = r;
    call->hydrate_ms = tcall_now_(tc) - before;
    tcall_tell_call_(call, TCALL_EVENT_HYDRATED, tcall_slice_(NULL, 0));
    return r;
}

int tcall_write_call_errors(tcall_writer *w, const tcall_call *call)
{
    size_t near_len = call->arguments.len;
    if (call->faults && call->args.tok) {
        size_t i;
        tcall_write_key(w, "errors");
        tcall_write_open(w, '[');
        for (i = 0; i < call->faults; i++)
            tcall_write_validation_error(w, &call->schema, call->args,
                                         &call->fault[i]);
        tcall_write_close(w, ']');
    } else if (call->complaint.len) {
        tcall_write_key(w, "errors");
        tcall_write_str(w, call->complaint);
    } else if (call->step == TCALL_STEP_PARSE && call->error_at <= near_len) {
        const char *near = call->arguments.ptr + call->error_at;
        near_len -= call->error_at;
        if (near_len > 24)
            near_len = tcall_utf8_cut_(near, 24);
        tcall_write_key(w, "at");
        tcall_write_int(w, (long)call->error_at);
        tcall_write_key(w, "near");
        tcall_write_str(w, tcall_slice_(near, near_len));
    }
    return w->error;
}

/* "key":"text" */
TCALL_SHARED_ void tcall_write_pair_(tcall_writer *w, const char *key,
                                     tcall_str text)
{
    tcall_write_key(w, key);
    tcall_write_str(w, text);
}

static void tcall_write_fixes_(tcall_writer *w, uint32_t fixes)
{
    int i;
    tcall_write_key(w, "fixes");
    tcall_write_open(w, '[');
    for (i = 0; i < TCALL_FIX_COUNT; i++)
        if (fixes >> i & 1)
            tcall_write_string(w, tcall_fix_name(i));
    tcall_write_close(w, ']');
}

static void tcall_write_validator_(const tcall *tc, const tcall_tool *tool,
                                   tcall_writer *w)
{
    const tcall_validator *v = tc->desc.validator;
    bool eager =
        tool && tc->schemas && tc->schemas[tool - tc->desc.tools].program;
    tcall_write_key(w, "validator");
    tcall_write_open(w, '{');
    tcall_write_pair_(w, "name", tcall_str_of(v ? v->name : "builtin"));
    tcall_write_pair_(w, "version",
                      tcall_str_of(v ? v->version : TOOLCALL_VERSION));
    tcall_write_pair_(w, "mode",
                      tcall_str_of(v       ? "foreign"
                                   : eager ? "eager"
                                           : "lazy"));
    tcall_write_close(w, '}');
}

int tcall_write_provenance(tcall_writer *w, const tcall *tc,
                           const tcall_call *call)
{
    static const char modes[][15] = {"read-only", "human-approval", "full"};
    static const char steps[][9] = {"find", "parse", "validate", "bind",
                                    "done"};
    const tcall_tool *tool = call->tool;
    tcall_write_open(w, '{');
    tcall_write_pair_(w, "provider", tcall_str_of(call->provider));
    tcall_write_pair_(w, "call_id", call->id);
    tcall_write_pair_(w, "tool", call->name);
    tcall_write_pair_(w, "arguments",
                      call->repaired ? call->original : call->arguments);
    tcall_write_fixes_(w, call->fixes);
    tcall_write_key(w, "coercions");
    tcall_write_verbatim(w, call->coerced.len ? call->coerced
                                              : tcall_str_of("[]"));
    if (tool && tool->provided_by)
        tcall_write_pair_(w, "provided_by", tcall_str_of(tool->provided_by));
    tcall_write_validator_(tc, tool, w);
    tcall_write_key(w, "ms");
    tcall_write_int(w, (long)call->hydrate_ms);
    tcall_write_key(w, "validated");
    tcall_write_bool(w, call->validated);
    tcall_write_key(w, "repaired");
    tcall_write_bool(w, call->repaired);
    if (call->repaired)
        tcall_write_pair_(w, "repaired_arguments", call->arguments);
    if (tool && !tool->parameters)
        tcall_write_pair_(w, "no_schema_mode",
                          tcall_str_of(modes[tool->no_schema_mode % 3]));
    tcall_write_pair_(w, "step", tcall_str_of(steps[call->step % 5]));
    tcall_write_pair_(w, "outcome",
                      tcall_str_of(tcall_error_code(call->error)));
    if (call->error < 0)
        tcall_write_call_errors(w, call);
    return tcall_write_close(w, '}');
}
