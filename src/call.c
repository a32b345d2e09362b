#pragma once
#include "call.h"
#include "lenient.c"
#include "shape_text.c"
#include "read.c"
#include "registry.c"

/* ==========================================================================
 * >>call
 *
 * What a call needs is built up at the end of the block: the program of its
 * schema (when lazy), the repaired text (if any), the list of coercions (if
 * any), the arguments, the struct. Each is made in the free part and then
 * moved there, so nothing has to know its size beforehand.
 */

/* Sends an event about a call, unless nobody listens. */
TCALL_NOINLINE_ TCALL_SHARED_ void
tcall_tell_call_(const tcall_call *call, tcall_event_kind kind, tcall_str text)
{
    tcall *tc = call ? call->cx.tc : NULL;
    tcall_event event;
    if (!tc || !tcall_is_heard_(tc))
        return;
    memset(&event, 0, sizeof event);
    event.call = call;
    event.error =
        call->cx.failure.error < 0 ? call->cx.failure.error : call->error;
    event.text = text;
    event.ms = kind == TCALL_EVENT_END        ? call->run_ms
               : kind == TCALL_EVENT_HYDRATED ? call->hydrate_ms
                                              : 0;
    tcall_tell_(tc, &event, kind);
}

/* Forgets what the arguments were read to: nothing of the call points into the
 * memory of that attempt any more. */
static void tcall_forget_(tcall_call *call)
{
    call->args = call->cx.injected = tcall_json_none_();
    call->cx.bound = NULL;
    call->complaint = call->coerced = tcall_slice_(NULL, 0);
    call->faults = 0;
}

/* The call begins to call the program's functions. Returns what was before. */
TCALL_SHARED_ const tcall *tcall_work_begin_(tcall *tc, tcall_call *call)
{
    const tcall *outer = tc->busy;
    tc->busy = tc;
    call->cx.at_work = true;
    tcall_block_share_(&tc->block, call->mark);
    return outer;
}

TCALL_SHARED_ int tcall_work_end_(tcall_call *call, const tcall *outer, int r)
{
    call->cx.tc->busy = outer;
    call->cx.at_work = false;
    return r;
}

/* Gives back what a call holds that is not under way. */
TCALL_SHARED_ void tcall_let_go_(tcall *tc, tcall_call *call)
{
    tcall_ctx *cx = &call->cx;
    tcall_forget_(call);
    call->other = NULL;
    cx->services = NULL;
    cx->history = NULL;
    cx->failure.reason = cx->result.title = cx->result.metadata = cx->output =
        tcall_slice_(NULL, 0);
    tcall_block_release_(&tc->block, call->mark);
    call->mark = 0;
}

int tcall_release(tcall *tc, tcall_call *call)
{
    if (call->cx.at_work || call->is_agents)
        return TCALL_E_USAGE;
    if (call->cx.end)
        call->cx.end(call);
    tcall_let_go_(tc, call);
    return TCALL_OK;
}

/* Returns the free part of the block for tokens and the like: aligned, without
 * its first `skip` bytes. */
TCALL_SHARED_ char *tcall_hydrate_gap_(const tcall_block *block, size_t skip,
                                       size_t *size)
{
    size_t start = (block->low + skip + 7) & ~(size_t)7;
    size_t end = block->size - block->high;
    start = start < end ? start : end;
    *size = end - start;
    return block->base + start;
}

/* Lets a writer write to the free part of the block. */
TCALL_SHARED_ void tcall_hydrate_writer_(const tcall_block *block,
                                         tcall_writer *out)
{
    tcall_writer_init(out, tcall_block_gap_(block), tcall_block_free_(block));
}

/* Moves bytes to the end of the block, from the free part or elsewhere. */
TCALL_SHARED_ char *tcall_hydrate_hold_(tcall_block *block, const char *from,
                                        size_t len)
{
    char *held = (char *)tcall_block_take_(block, len);
    if (held && len)
        memmove(held, from, len);
    return held;
}

/* The same for text. What does not fit is empty. */
TCALL_SHARED_ int tcall_hydrate_keep_(tcall_block *block, const char *from,
                                      size_t len, tcall_str *copy)
{
    copy->ptr = tcall_hydrate_hold_(block, from, len);
    copy->len = copy->ptr ? len : 0;
    return copy->ptr ? TCALL_OK : TCALL_E_MEMORY;
}

#ifndef TOOLCALL_NO_SCHEMA

/* ---- arguments as values ---- */

/* Parses text into the end of the block; what lies in the first `skip` bytes
 * of the free part (the text itself, perhaps) is left alone. */
static int tcall_hydrate_read_(tcall *tc, tcall_call *call, tcall_str text,
                               size_t skip)
{
    tcall_block *block = &tc->block;
    size_t size;
    char *gap = tcall_hydrate_gap_(block, skip, &size);
    tcall_arguments args;
    const char *held;
    int r = tcall_parse_arguments(&args, text, tc->desc.strict_json, gap, size);
    if (r == TCALL_E_MEMORY)
        tcall_block_room_(block,
                          (size_t)(gap - tcall_block_gap_(block)) + args.used);
    if (r < 0) {
        call->error_at = args.at;
        return r;
    }
    if (!skip)
        call->fixes = args.fixes;
    held = tcall_hydrate_hold_(block, gap, args.used);
    /* What was parsed has moved with its memory. */
    call->tree.text = held + (args.root.text - gap);
    call->tree.tok =
        (const tcall_tok_ *)(const void *)(held +
                                           ((const char *)args.root.tok - gap));
    return TCALL_OK;
}

/* Writes what was read as the checked text, in the place of what it was read
 * to, which only sentences about faults still need: then beside that. */
static int tcall_hydrate_text_(tcall *tc, tcall_call *call, size_t base)
{
    tcall_block *block = &tc->block;
    tcall_writer out;
    tcall_hydrate_writer_(block, &out);
    tcall_write_tree_(&out, call->tree);
    tcall_write_bytes(&out, "", 1);
    if (!tcall_block_room_(block, out.len))
        return TCALL_E_MEMORY;
    if (!call->faults)
        tcall_block_back_(block, base);
    call->args.at = tcall_hydrate_hold_(block, out.buf, out.len);
    return call->args.at ? TCALL_OK : TCALL_E_MEMORY;
}

/* Compiles a schema into the end of the block. */
TCALL_SHARED_ int tcall_hydrate_compile_(tcall *tc, tcall_schema *schema,
                                         const char *text)
{
    int r = tcall_tool_compile_(tc, schema, text);
    if (r < 0)
        return r;
    schema->program = (const tcall_node_ *)(const void *)tcall_hydrate_hold_(
        &tc->block, (const char *)schema->program,
        schema->nodes * sizeof(tcall_node_));
    return schema->program ? TCALL_OK : TCALL_E_MEMORY;
}

/* Gives the call its compiled schema: the one of tcall_init, or one made for
 * this call, where that is lazy or the tool was added later. */
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
TCALL_SHARED_ int tcall_hydrate_run_(tcall_block *block,
                                     const tcall_schema *schema,
                                     tcall_tree_ value, tcall_check *check)
{
    int r;
    check->memory = tcall_hydrate_gap_(block, 0, &check->size);
    r = tcall_schema_check(schema, value, check);
    if (r == TCALL_OK || r == TCALL_E_MEMORY)
        tcall_block_room_(block, check->need);
    return r;
}

/* Checks the arguments, and keeps in the call what was found. */
static int tcall_hydrate_check_(tcall *tc, tcall_call *call, bool coerce)
{
    tcall_check check;
    int r;
    memset(&check, 0, sizeof check);
    check.errors = call->fault;
    check.error_cap = TOOLCALL_MAX_FAULTS;
    check.coerce = coerce;
    r = tcall_hydrate_run_(&tc->block, &call->schema, call->tree, &check);
    if (coerce)
        call->coercions = (uint16_t)check.coerced;
    call->faults = (uint8_t)(check.error_count < TOOLCALL_MAX_FAULTS
                                 ? check.error_count
                                 : TOOLCALL_MAX_FAULTS);
    return r;
}

/* Coercion only marks the values it would change. This writes the arguments as
 * they are meant and reads that text, to be checked strictly: so what is
 * checked, shown, run and logged is one and the same value. */
TCALL_NOINLINE_ static int tcall_hydrate_rewrite_(tcall *tc, tcall_call *call,
                                                  size_t *base)
{
    tcall_block *block = &tc->block;
    tcall_writer out;
    size_t len;
    tcall_hydrate_writer_(block, &out);
    tcall_write_tree_(&out, call->tree);
    len = out.len;
    out.last = 0;
    tcall_write_coercions(&out, call->tree);
    if (!tcall_block_room_(block, out.len))
        return TCALL_E_MEMORY;
    tcall_block_back_(block, *base);
    tcall_hydrate_keep_(block, out.buf + len, out.len - len, &call->coerced);
    *base = block->high;
    return tcall_hydrate_read_(tc, call, tcall_slice_(out.buf, len), len);
}

/* Asks the validator of the user's, and keeps what it complains of. */
TCALL_NOINLINE_ static int tcall_hydrate_foreign_(tcall *tc, tcall_call *call)
{
    const tcall_validator *validator = tc->desc.validator;
    tcall_block *block = &tc->block;
    tcall_writer why;
    int r;
    tcall_hydrate_writer_(block, &why);
    tcall_block_lend_(block, why.cap);
    r = validator->check(validator->user, call->tool, call->args, &why);
    tcall_block_unlend_(block, block->lent - why.cap);
    tcall_hydrate_keep_(block, why.buf, why.fill, &call->complaint);
    return r < 0 ? r : TCALL_OK;
}

#ifndef TOOLCALL_NO_SHAPES

/* Marks a value whose type its node does not allow and that means another one:
 * a string that holds it, or a null where nothing has to be. Returns whether it
 * did. */
static bool tcall_coerce_value_(tcall_scan *scan, tcall_tree_ value,
                                const tcall_shape *node)
{
    unsigned types = node->types, wanted;
    tcall_type type = tcall_tree_type_(value);
    /* the token is ours: the call was parsed for this */
    tcall_tok_ *tok = (tcall_tok_ *)(uintptr_t)value.tok;
    int mark = TCALL_MARK_DROP_;
    if (type == TCALL_NULL) {
        if (types & TCALL_SHAPE_NULL || node->flags & TCALL_MEMBER_REQUIRED ||
            !(tok->type & TCALL_MEMBER_))
            return false;
    } else {
        /* the same set as the schema's checker has it */
        wanted = (types & 3) | (types >> 1 & 0x3C) |
                 (types & TCALL_SHAPE_INTEGER ? TCALL_INTEGER_ : 0);
        if (type != TCALL_STRING || types & TCALL_SHAPE_STRING ||
            !tcall_meant_type_(scan, tcall_tree_str_(value), wanted, &mark))
            return false;
    }
    tok->mark = mark;
    return true;
}

/* An open object or list that has a shape. */
typedef struct tcall_coerce_level_ {
    const tcall_object *object; /* or, of a list: */
    const tcall_shape *item;
    const tcall_tok_ *end;
} tcall_coerce_level_;

/* Returns the node of a member or item that a level has, or NULL. */
static const tcall_shape *tcall_coerce_node_(const tcall_coerce_level_ *level,
                                             tcall_tree_ value)
{
    tcall_str key = tcall_tree_key_(value);
    const char *name;
    unsigned i;
    if (level->item)
        return level->item;
    name = level->object->names;
    for (i = 0; i < level->object->count; i++, name = tcall_word_next_(name))
        if (tcall_str_eq(tcall_str_of(name), key))
            return &level->object->members[i];
    return NULL;
}

/* Opens a level where a value has parts with a shape. Returns whether it did.
 */
static bool tcall_coerce_open_(tcall_coerce_level_ *level, tcall_tree_ value,
                               const tcall_shape *node)
{
    tcall_type type = tcall_tree_type_(value);
    level->object = NULL;
    level->item = NULL;
    level->end = value.tok ? value.tok + value.tok->span : NULL;
    if (node->kind == TCALL_KIND_OBJECT && type == TCALL_OBJECT)
        level->object = (const tcall_object *)node->more;
    else if (node->kind == TCALL_KIND_LIST && type == TCALL_ARRAY)
        level->item = (const tcall_shape *)node->more;
    return level->object || level->item;
}

/* Marks what is to be coerced in the arguments, value after value. Returns how
 * many marks it set. What is deeper than the decoder goes will be refused. */
static unsigned tcall_coerce_(tcall_scan *scan, tcall_tree_ at,
                              const tcall_object *shape)
{
    tcall_coerce_level_ levels[TOOLCALL_SHAPE_LEVELS], *level = levels;
    tcall_shape root = tcall_root_;
    unsigned count = 0;
    root.more = shape;
    tcall_coerce_open_(level, at, &root); /* arguments are an object */
    for (at.tok++; at.tok < levels->end;) {
        const tcall_shape *node;
        bool full = level == levels + TOOLCALL_SHAPE_LEVELS - 1;
        if (at.tok == level->end) {
            level--;
            continue;
        }
        at.tok += at.tok->type & TCALL_KEY_ ? 1 : 0;
        node = tcall_coerce_node_(level, at);
        count += node && tcall_coerce_value_(scan, at, node);
        if (!node || full || !tcall_coerce_open_(level + 1, at, node))
            at.tok += at.tok->span;
        else {
            level++;
            at.tok++;
        }
    }
    return count;
}

/* Marks what is to be coerced, unless types are strict. */
TCALL_NOINLINE_ static void tcall_hydrate_coerce_(const tcall *tc,
                                                  tcall_call *call)
{
    tcall_scan scan;
    call->coercions = 0;
    if (!tc->desc.strict_types)
        call->coercions =
            (uint16_t)tcall_coerce_(&scan, call->tree, call->tool->shape);
}

#else

static void tcall_hydrate_coerce_(const tcall *tc, tcall_call *call)
{
    (void)tc;
    (void)call;
}

#endif /* TOOLCALL_NO_SHAPES */

#endif /* TOOLCALL_NO_SCHEMA */

#ifndef TOOLCALL_NO_SHAPES

/* ---- arguments as a struct, by the shape of the tool ---- */

#ifndef TOOLCALL_NO_SCHEMA

/* Lets the decoder read the checked text. */
static void tcall_hydrate_pour_(const tcall_call *call, tcall_decoder *decoder)
{
    tcall_str text = tcall_text_verbatim_(call->args.at);
    tcall_decoder_feed(decoder, text.ptr, text.len);
}

#else

/* Without schemas there are no values: the decoder reads what came. */
static void tcall_hydrate_pour_(const tcall_call *call, tcall_decoder *decoder)
{
    tcall_decoder_feed(decoder, call->arguments.ptr, call->arguments.len);
}

#endif

/* Keeps in the call what the decoder found. */
static int tcall_hydrate_found_(tcall_call *call, tcall_decoder *decoder)
{
    int r = tcall_decoder_end(decoder);
    call->error_at = decoder->at;
    call->faults = decoder->misfit_count;
    if (call->faults > TOOLCALL_MAX_FAULTS)
        call->faults = TOOLCALL_MAX_FAULTS;
    memcpy(call->misfit, decoder->misfits, sizeof call->misfit);
    return r;
}

/* Checks the arguments against the shape while they are read into its struct,
 * which is held by the call. */
TCALL_NOINLINE_ static int tcall_hydrate_decode_(tcall *tc, tcall_call *call)
{
    const tcall_object *shape = call->tool->shape;
    void *bound = tcall_block_take_(&tc->block, shape->size);
    tcall_decoder decoder;
    int r;
    if (!bound)
        return TCALL_E_MEMORY;
    tcall_decoder_init(&decoder, shape, bound);
    tcall_hydrate_pour_(call, &decoder);
    r = tcall_hydrate_found_(call, &decoder);
    if (r == TCALL_OK)
        call->cx.bound = bound;
    return r;
}

/* Writes a misfit as the checker's errors are written: place, keyword and
 * sentence. */
static void tcall_write_misfit_error_(tcall_writer *out, const tcall_call *call,
                                      size_t index)
{
    const tcall_misfit *misfit = &call->misfit[index];
    tcall_misplaced_ place;
    tcall_place_init_(&place, misfit, call->tool->shape);
    tcall_write_open(out, '{');
    tcall_write_key(out, "path");
    tcall_write_quote(out);
    tcall_write_misplaced_(out, &place, 0);
    tcall_write_unquote(out);
    tcall_write_key(out, "keyword");
    tcall_write_string(out, tcall_misfit_keyword_(misfit));
    tcall_write_key(out, "message");
    tcall_write_quote(out);
    tcall_tell_misfit_(out, &place);
    tcall_write_unquote(out);
    tcall_write_close(out, '}');
}

/* Writes a misfit into a string, as "/days: 9 is over the maximum 7". */
static void tcall_say_misfit_(tcall_writer *out, const tcall_call *call,
                              size_t index)
{
    tcall_write_misfit(out, &call->misfit[index], call->tool->shape, 0);
}

#else

/* Without shapes no tool has one: it was refused at the start. */
static int tcall_hydrate_decode_(tcall *tc, tcall_call *call)
{
    (void)tc;
    (void)call;
    return TCALL_E_USAGE;
}

static void tcall_write_misfit_error_(tcall_writer *out, const tcall_call *call,
                                      size_t index)
{
    (void)out;
    (void)call;
    (void)index;
}

static void tcall_say_misfit_(tcall_writer *out, const tcall_call *call,
                              size_t index)
{
    (void)out;
    (void)call;
    (void)index;
}

#endif /* TOOLCALL_NO_SHAPES */

/* ---- the steps of a call ---- */

#ifndef TOOLCALL_NO_SCHEMA

/* Coerces and checks what was read. *base: of the block, before it was. */
static int tcall_hydrate_values_(tcall *tc, tcall_call *call, size_t *base)
{
    bool shape = call->tool->shape != NULL;
    int r = TCALL_OK;
    call->step = TCALL_STEP_VALIDATE;
    if (tc->desc.validator)
        return r;
    if (shape)
        tcall_hydrate_coerce_(tc, call);
    else
        r = tcall_hydrate_check_(tc, call, !tc->desc.strict_types);
    if (r < 0 || !call->coercions)
        return r;
    r = tcall_hydrate_rewrite_(tc, call, base);
    return r < 0 || shape ? r : tcall_hydrate_check_(tc, call, false);
}

/* Parses, coerces and checks. */
static int tcall_hydrate_judge_(tcall *tc, tcall_call *call, size_t base)
{
    int r = tcall_hydrate_read_(tc, call, call->arguments, 0), text;
    if (r < 0)
        return r;
    if (tcall_is_checked_(call->tool))
        r = tcall_hydrate_values_(tc, call, &base);
    text = tcall_hydrate_text_(tc, call, base);
    r = r < 0 ? r : text;
    if (r < 0 || call->step != TCALL_STEP_VALIDATE)
        return r;
    if (call->tool->shape)
        r = tcall_hydrate_decode_(tc, call);
    if (r == TCALL_OK && tc->desc.validator) /* it may decode strings */
        r = tcall_hydrate_foreign_(tc, call);
    call->validated = r == TCALL_OK;
    return r;
}

/* Writes one fault of a call as an error: place, keyword and sentence. */
static void tcall_write_fault_(tcall_writer *out, const tcall_call *call,
                               size_t index)
{
    if (call->tool->shape)
        tcall_write_misfit_error_(out, call, index);
    else
        tcall_write_validation_error(out, &call->schema, call->tree,
                                     &call->fault[index]);
}

/* The same into a string that is open: "/days: 9 is over the maximum 7". */
TCALL_SHARED_ void tcall_say_fault_(tcall_writer *out, const tcall_call *call,
                                    size_t index)
{
    if (call->tool->shape)
        tcall_say_misfit_(out, call, index);
    else
        tcall_say_error_(out, &call->schema, call->tree, &call->fault[index],
                         true);
}

#else

/* Parses and checks at once. */
static int tcall_hydrate_judge_(tcall *tc, tcall_call *call, size_t base)
{
    int r = tcall_hydrate_decode_(tc, call);
    (void)base;
    if (r == TCALL_OK || r == TCALL_E_INVALID)
        call->step = TCALL_STEP_VALIDATE;
    call->validated = r == TCALL_OK;
    return r;
}

static int tcall_hydrate_schema_(tcall *tc, tcall_call *call)
{
    (void)tc;
    (void)call;
    return TCALL_OK;
}

static void tcall_write_fault_(tcall_writer *out, const tcall_call *call,
                               size_t index)
{
    tcall_write_misfit_error_(out, call, index);
}

TCALL_SHARED_ void tcall_say_fault_(tcall_writer *out, const tcall_call *call,
                                    size_t index)
{
    tcall_say_misfit_(out, call, index);
}

#endif /* TOOLCALL_NO_SCHEMA */

/* Parses and validates the arguments: an attempt of its own, beside what the
 * block holds of earlier ones. */
TCALL_SHARED_ int tcall_hydrate_try_(tcall *tc, tcall_call *call)
{
    tcall_forget_(call);
    call->step = TCALL_STEP_PARSE;
    call->coercions = 0;
    call->fixes = 0;
    call->error_at = 0;
    call->validated = false;
    /* What was cut may mean anything: nobody may guess the rest of it. */
    if (call->incomplete)
        return call->incomplete < 0 ? call->incomplete : TCALL_E_CUT;
    return tcall_hydrate_judge_(tc, call, tc->block.high);
}

#ifndef TOOLCALL_NO_REPAIR

/* Tries a repair as an attempt of its own: what came stays as it is, beside it,
 * and is the call again where the repair is refused too. */
TCALL_NOINLINE_ static int tcall_hydrate_repaired_(tcall *tc, tcall_call *call,
                                                   tcall_str text)
{
    tcall_block *block = &tc->block;
    tcall_call *came = (tcall_call *)tcall_block_take_(block, sizeof *came);
    tcall_call *refused;
    int error = call->error;
    if (!came)
        return TCALL_E_MEMORY;
    *came = *call;
    call->other = came;
    call->arguments = text;
    call->repaired = true;
    call->error = tcall_hydrate_try_(tc, call);
    tcall_tell_call_(call, TCALL_EVENT_REPAIR, text);
    if (call->error == TCALL_OK)
        return TCALL_OK;
    if (call->error == TCALL_E_MEMORY)
        error = TCALL_E_MEMORY;
    refused = (tcall_call *)tcall_block_take_(block, sizeof *refused);
    if (refused)
        *refused = *call;
    *call = *came;
    call->other = refused;
    return error;
}

/* Lets the caller repair arguments that were refused, once. Returns TCALL_OK,
 * TCALL_E_AGAIN, or why what came was refused. */
TCALL_NOINLINE_ static int tcall_hydrate_repair_(tcall *tc, tcall_call *call)
{
    tcall_writer out;
    tcall_str text;
    int r;
    if (!tc->desc.repair || call->error == TCALL_E_MEMORY || call->incomplete)
        return call->error;
    tcall_hydrate_writer_(&tc->block, &out);
    tcall_block_lend_(&tc->block, out.cap);
    r = tc->desc.repair(tc->desc.user, call, &out);
    tcall_block_unlend_(&tc->block, tc->block.lent - out.cap);
    call->repairing = r == TCALL_E_AGAIN;
    if (call->repairing)
        return r;
    tc->repairs++;
    if (out.error != TCALL_E_MEMORY && (r < 0 || out.error))
        return call->error;
    if (!tcall_block_room_(&tc->block, out.len) ||
        tcall_hydrate_keep_(&tc->block, out.buf, out.fill, &text) < 0)
        return TCALL_E_MEMORY;
    return tcall_hydrate_repaired_(tc, call, text);
}

#else

static int tcall_hydrate_repair_(tcall *tc, tcall_call *call)
{
    (void)tc;
    return call->error;
}

#endif

/* Finds the tool and its schema, and reads what came. */
static int tcall_hydrate_begin_(tcall *tc, tcall_call *call)
{
    int r = tcall_usable_(tc);
    call->step = TCALL_STEP_FIND;
    call->cx.tc = tc;
    call->cx.call = call;
    call->tool = tcall_find(tc, call->name);
    if (call->by_model && call->tool &&
        !tcall_is_offered_(tc, call->tool, true))
        call->tool = NULL; /* not for this turn, whoever may know of it */
    call->cx.user = call->tool ? call->tool->user : NULL;
    if (r == TCALL_OK && !call->mark)
        r = TCALL_E_MEMORY;
    if (r == TCALL_OK)
        r = call->tool ? tcall_hydrate_schema_(tc, call) : TCALL_E_UNKNOWN;
    return r == TCALL_OK ? tcall_hydrate_try_(tc, call) : r;
}

/* Hydrates the call, or goes on with its repair. */
static int tcall_hydrate_go_(tcall *tc, tcall_call *call)
{
    uint32_t before = tcall_now_(tc);
    int r = call->error;
    if (!call->repairing)
        r = call->error = tcall_hydrate_begin_(tc, call);
    if (r < 0 && call->step > TCALL_STEP_FIND)
        r = tcall_hydrate_repair_(tc, call);
    call->hydrate_ms += tcall_now_(tc) - before;
    if (call->repairing)
        return TCALL_E_AGAIN;
    if (r == TCALL_OK)
        call->step = TCALL_STEP_DONE;
    call->error = r;
    tcall_tell_call_(call, TCALL_EVENT_HYDRATED, tcall_slice_(NULL, 0));
    return r;
}

int tcall_hydrate(tcall *tc, tcall_call *call)
{
    const tcall *outer;
    if (call->cx.at_work)
        return TCALL_E_USAGE;
    if (!call->mark)
        call->mark = tcall_block_mark_(&tc->block);
    call->cx.tc = tc;
    outer = tcall_work_begin_(tc, call);
    return tcall_work_end_(call, outer, tcall_hydrate_go_(tc, call));
}

/* Writes what the schema or shape says, fault by fault. */
static void tcall_write_faults_(tcall_writer *out, const tcall_call *call)
{
    size_t i;
    tcall_write_key(out, "errors");
    tcall_write_open(out, '[');
    for (i = 0; i < call->faults; i++)
        tcall_write_fault_(out, call, i);
    tcall_write_close(out, ']');
}

/* Writes a member with the beginning of a text. */
static void tcall_write_start_(tcall_writer *out, const char *key,
                               tcall_str text, size_t most)
{
    if (text.len > most)
        text.len = tcall_utf8_cut_(text.ptr, most);
    tcall_write_key(out, key);
    tcall_write_str(out, text);
}

/* Shows where a text stops being JSON, and a piece of it; also how it begins,
 * since such arguments are not sent back to the model. */
static void tcall_write_near_(tcall_writer *out, const tcall_call *call)
{
    tcall_str around = call->arguments;
    around.ptr += call->error_at;
    around.len -= call->error_at;
    tcall_write_key(out, "at");
    tcall_write_int(out, (tcall_int)call->error_at);
    tcall_write_start_(out, "near", around, 24);
    tcall_write_start_(out, "received", call->arguments, 64);
}

int tcall_write_call_errors(tcall_writer *out, const tcall_call *call)
{
    if (call->faults && call->step == TCALL_STEP_VALIDATE) {
        tcall_write_faults_(out, call);
    } else if (call->complaint.len) {
        tcall_write_key(out, "errors");
        tcall_write_str(out, call->complaint);
    } else if (call->step == TCALL_STEP_PARSE &&
               call->error_at <= call->arguments.len) {
        tcall_write_near_(out, call);
    }
    return out->error;
}

/* Writes "key":"text". */
TCALL_SHARED_ void tcall_write_pair_(tcall_writer *out, const char *key,
                                     tcall_str text)
{
    tcall_write_key(out, key);
    tcall_write_str(out, text);
}
