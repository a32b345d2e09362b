#pragma once
#include "call.h"
#include "lenient.c"
#include "machine.c"
#include "say.c"
#include "say_schema.c"
#include "tools.c"

/* ==========================================================================
 * >>call
 *
 * What a call needs is built up at the end of the block: the nodes of its
 * schema (when lazy), its struct, the checked text, the list of coercions (if
 * any), a repair (if any). Texts are made in the free part and then moved
 * there, so nothing has to know their size beforehand.
 */

/* Sends an event about a call, where somebody is named who does. value: of a
 * hook that failed its error, else a verdict. */
TCALL_NOINLINE_ TCALL_SHARED_ void tcall_tell_call_(const tcall_call *call,
                                                    tcall_event_kind kind,
                                                    const tcall_str *text,
                                                    int value)
{
    const tcall *tc = call ? call->cx.tc : NULL;
    if (tc && tc->desc.events)
        tc->desc.events->tell(call, kind, text, value);
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

/* Returns the free part of the block for frames and the like: aligned. */
static char *tcall_hydrate_gap_(const tcall_block *block, size_t *size)
{
    size_t end = block->size - block->high;
    size_t start = tcall_round_up_(block->low);
    start = start < end ? start : end;
    *size = end - start;
    return block->base + start;
}

/* Returns a writer to the free part of the block. */
TCALL_SHARED_ tcall_writer tcall_hydrate_writer_(const tcall_block *block)
{
    tcall_writer out;
    tcall_writer_init(&out, tcall_block_gap_(block), tcall_block_free_(block));
    return out;
}

/* Moves bytes to the end of the block, from the free part or elsewhere. What
 * does not fit is empty. */
TCALL_SHARED_ int tcall_hydrate_keep_(tcall_block *block, const char *from,
                                      size_t len, tcall_str *copy)
{
    char *held = (char *)tcall_block_take_(block, len);
    if (held && held != from)
        memmove(held, from, len);
    *copy = tcall_slice_(held, held ? len : 0);
    return held ? TCALL_OK : TCALL_E_MEMORY;
}

/* ---- reading ---- */

/* A text is read in the free part of the block: the machine at its beginning,
 * checked text at its end, where it mostly stays, between them the frames, all
 * of use until the block is. room: bytes that the checked text may take, its
 * NUL included. Returns the machine, or NULL where there is no room for it. */
static tcall_machine *
tcall_reading_begin_(tcall_block *block, tcall_machine_desc *desc, size_t room)
{
    size_t size;
    tcall_machine *machine =
        (tcall_machine *)(void *)tcall_hydrate_gap_(block, &size);
    if (size < sizeof *machine) {
        tcall_block_room_(block, tcall_block_free_(block) + sizeof *machine);
        return NULL;
    }
    size -= sizeof *machine;
    room = tcall_round_up_(room) < size ? tcall_round_up_(room) : size;
    desc->arena = machine + 1;
    desc->arena_size = size - room;
    desc->text = (char *)desc->arena + desc->arena_size;
    desc->size = room;
    return machine;
}

/* Notes how much of the block the machine needed. */
static void tcall_reading_end_(tcall_block *block, const tcall_machine *machine)
{
    size_t used = machine->error == TCALL_E_MEMORY
                      ? tcall_block_free_(block)
                      : machine->is->size + sizeof *machine;
    tcall_block_room_(block, tcall_machine_used_(machine) + 7 + used);
}

/* Reads a text strictly. Returns the machine, NULL where there is no room. */
TCALL_SHARED_ tcall_machine *tcall_read_strictly_(tcall_block *block,
                                                  tcall_machine_desc *desc,
                                                  tcall_str text)
{
    tcall_machine *machine = tcall_reading_begin_(block, desc, text.len + 1);
    if (!machine)
        return NULL;
    tcall_machine_read_(machine, desc, text);
    tcall_reading_end_(block, machine);
    return machine;
}

TCALL_DATA_ const struct tcall_lenience_ tcall_lenient = {
    tcall_read_arguments, tcall_coerce, tcall_write_coerced_};
TCALL_DATA_ const struct tcall_lenience_ tcall_lenient_text = {
    tcall_read_arguments, NULL, NULL};
TCALL_DATA_ const struct tcall_lenience_ tcall_lenient_types = {
    NULL, tcall_coerce, tcall_write_coerced_};

/* Reads a text as whoever is named does, NULL: strictly. What was fixed may be
 * longer than it came, as a control character takes six bytes as an escape: it
 * is then read once more, with more room. Returns the machine, NULL where there
 * is no room for it. */
TCALL_NOINLINE_ TCALL_SHARED_ tcall_machine *
tcall_arguments_by_(const struct tcall_lenience_ *lenient, tcall_block *block,
                    tcall_machine_desc *desc, tcall_str text, uint32_t *fixes)
{
    tcall_machine *machine;
    size_t half;
    *fixes = 0;
    if (!lenient || !lenient->read)
        return tcall_read_strictly_(block, desc, text);
    machine = tcall_reading_begin_(block, desc, text.len + 1);
    if (!machine)
        return NULL;
    lenient->read(machine, desc, text, false, fixes);
    if (machine->error == TCALL_E_MEMORY && *fixes) {
        half = (desc->size + desc->arena_size) / 2;
        tcall_reading_begin_(block, desc,
                             text.len < half / 6 ? 6 * text.len + 3 : half);
        lenient->read(machine, desc, text, false, fixes);
    }
    tcall_reading_end_(block, machine);
    return machine;
}

/* Keeps what a machine, NULL: that had no room, has read, at the end of the
 * block: the checked text, which is what is approved, run, logged and sent
 * back, and right before it coercions and faults. high: of the block before
 * there was a struct. Returns what is wrong with the text, or TCALL_E_MEMORY.
 */
TCALL_SHARED_ int tcall_attempt_keep_(tcall_block *block,
                                      tcall_attempt *attempt,
                                      const tcall_machine *machine, size_t high)
{
    const char *notes, *faults;
    size_t count;
    tcall_str kept;
    int r = machine ? machine->error : (int)TCALL_E_MEMORY;
    if (r != TCALL_OK)
        tcall_block_back_(block, high);
    if (machine)
        attempt->error_at = machine->at;
    if (r != TCALL_OK && r != TCALL_E_INVALID)
        return r;
    notes = (const char *)tcall_machine_coercions_(machine, &count);
    faults = (const char *)machine->faults;
    if (tcall_hydrate_keep_(block, notes,
                            (size_t)(machine->text - notes) + machine->len + 1,
                            &kept) < 0)
        return TCALL_E_MEMORY;
    if (r == TCALL_OK)
        attempt->bound = machine->is->target.out;
    if (r == TCALL_OK && count)
        attempt->coercion = (const tcall_coercion *)(const void *)kept.ptr;
    attempt->coercions = machine->coercion_count;
    attempt->fault =
        (const tcall_fault *)(const void *)(kept.ptr + (faults - notes));
    attempt->faults = machine->fault_count < TOOLCALL_MAX_FAULTS
                          ? machine->fault_count
                          : TOOLCALL_MAX_FAULTS;
    attempt->args = tcall_json_of_(kept.ptr + (machine->text - notes), NULL);
    return r;
}

/* Says how arguments are read: into the struct of a shape, or as a schema has
 * them. Returns false where there is no room for the struct. */
static bool tcall_arguments_begin_(const tcall_call *call,
                                   tcall_machine_desc *desc)
{
    const tcall_object *shape = tcall_tool_shape_(call->tool);
    memset(desc, 0, sizeof *desc);
    desc->object = desc->for_c = true;
    desc->target.object = shape;
    desc->target.node = call->node;
    if (shape || call->node) /* else another one checks, or nobody */
        desc->target.rows = call->tool->parameters.reader->rows;
    if (shape)
        desc->target.out = tcall_block_take_(&call->cx.tc->block, shape->size);
    return !shape || desc->target.out;
}

/* Asks the validator of the user's, and keeps what it complains of. */
int tcall_hydrate_validate_(const tcall_call *call, tcall_attempt *attempt)
{
    tcall_block *block = &call->cx.tc->block;
    const tcall_validator *validator = call->cx.tc->desc.validator;
    tcall_writer why = tcall_hydrate_writer_(block);
    tcall_loan_ loan = tcall_block_lend_(block, why.cap);
    int r = validator->check(validator->user, call->tool, attempt->args, &why);
    tcall_block_unlend_(block, loan, why.fill);
    tcall_hydrate_keep_(block, why.buf, why.fill, &attempt->complaint);
    return r < 0 ? r : TCALL_OK;
}

/* ---- the schema of a call ---- */

/* Compiles a schema into the end of the block. */
TCALL_SHARED_ int tcall_hydrate_compile_(tcall *tc, const tcall_node **node,
                                         tcall_schema_text source)
{
    tcall_schema schema;
    tcall_block *block = &tc->block;
    size_t size;
    char *gap = tcall_hydrate_gap_(block, &size);
    const tcall_author_ author = {
        tcall_str_of(source.text), source.made,      gap,  size,
        tc->desc.patterns,         TCALL_DRAFT_2020, true, 0};
    int r = source.reader->compile(&schema, &author);
    if (r < 0 && r != TCALL_E_MEMORY)
        return r;
    if (!tcall_block_room_(block, schema.need) || r < 0)
        return TCALL_E_MEMORY;
    *node = schema.root;
    return tcall_block_take_(block, schema.used) ? TCALL_OK : TCALL_E_MEMORY;
}

/* Gives the call its compiled schema: the one of tcall_init, or one made for
 * this call, where that is lazy or the tool was added later. */
static int tcall_hydrate_schema_(tcall *tc, tcall_call *call)
{
    tcall_schema_text source = call->tool->parameters;
    if (!source.text || tc->desc.validator)
        return TCALL_OK;
    if (tc->nodes)
        call->node = tc->nodes[call->tool - tc->desc.tools];
    return call->node ? TCALL_OK : source.reader->hold(tc, &call->node, source);
}

/* ---- attempts ---- */

static const char tcall_by_model_[] = "model";

/* Of a call of which nothing was read yet. */
static const tcall_attempt tcall_unread_ = {NULL,      tcall_by_model_,
                                            {NULL, 0}, {NULL, NULL},
                                            NULL,      NULL,
                                            {NULL, 0}, NULL,
                                            0,         0,
                                            0,         0,
                                            0,         0,
                                            0,         false};

/* Makes room for an attempt in the block, at the end of a list. Returns NULL
 * where there is none. */
TCALL_SHARED_ tcall_attempt *tcall_attempt_new_(const tcall_call *call,
                                                tcall_attempt **list,
                                                const char *by, tcall_str text)
{
    tcall_attempt *attempt = (tcall_attempt *)tcall_block_take_(
        &call->cx.tc->block, sizeof *attempt);
    if (!attempt)
        return NULL;
    memset(attempt, 0, sizeof *attempt);
    attempt->by = by;
    attempt->came = text;
    attempt->stage = call->cx.stage;
    while (*list)
        list = &(*list)->next;
    return *list = attempt;
}

/* Parses and validates the text of an attempt. */
TCALL_SHARED_ int tcall_attempt_check_(const tcall_call *call,
                                       tcall_attempt *attempt)
{
    tcall *tc = call->cx.tc;
    const tcall_validator *foreign = tc->desc.validator;
    const struct tcall_lenience_ *lenient = tc->desc.lenient;
    size_t high = tc->block.high;
    tcall_machine *machine = NULL;
    tcall_machine_desc desc;
    int r = call->incomplete;
    attempt->step = TCALL_STEP_PARSE;
    /* What was cut may mean anything: nobody may guess the rest of it. */
    if (r)
        return attempt->error = r < 0 ? r : TCALL_E_CUT;
    if (tcall_arguments_begin_(call, &desc)) {
        desc.coerce = lenient ? lenient->coerce : NULL;
        machine = tcall_arguments_by_(lenient, &tc->block, &desc, attempt->came,
                                      &attempt->fixes);
    }
    r = tcall_attempt_keep_(&tc->block, attempt, machine, high);
    if ((r == TCALL_OK || r == TCALL_E_INVALID) &&
        tcall_is_checked_(call->tool)) {
        attempt->step = TCALL_STEP_VALIDATE;
        if (r == TCALL_OK && foreign)
            r = foreign->judge(call, attempt);
        attempt->validated = r == TCALL_OK;
    }
    if (r == TCALL_OK)
        attempt->step = TCALL_STEP_DONE;
    return attempt->error = r;
}

/* Longer examples are left out. */
enum { TCALL_EXAMPLE_ = 512 };

/* Writes an example, of what is required, to the end of the block. Returns
 * TCALL_OK where there is one. */
TCALL_NOINLINE_ TCALL_SHARED_ int tcall_example_text_(tcall_block *block,
                                                      tcall_schema_text schema,
                                                      tcall_str *text)
{
    tcall_writer out = tcall_hydrate_writer_(block);
    if (out.cap > TCALL_EXAMPLE_)
        out.cap = TCALL_EXAMPLE_;
    schema.reader->example(&out, schema);
    return out.error ? out.error
                     : tcall_hydrate_keep_(block, out.buf, out.fill, text);
}

/* Reads an example. Returns its arguments, which the call would take, or none.
 */
TCALL_NOINLINE_ TCALL_SHARED_ tcall_json tcall_example_(const tcall_call *call,
                                                        tcall_str text)
{
    tcall_block *block = &call->cx.tc->block;
    tcall_machine *machine = NULL;
    tcall_machine_desc desc;
    if (tcall_arguments_begin_(call, &desc))
        machine = tcall_read_strictly_(block, &desc, text);
    if (!machine || machine->error ||
        tcall_hydrate_keep_(block, machine->text, machine->len + 1, &text) < 0)
        return tcall_json_of_(NULL, NULL);
    return tcall_json_of_(text.ptr, NULL);
}

/* Makes an attempt that counts from now on. */
TCALL_SHARED_ int tcall_attempt_anew_(tcall_call *call, const char *by,
                                      tcall_str text)
{
    tcall_attempt *attempt =
        tcall_attempt_new_(call, &call->attempts, by, text);
    if (!attempt)
        return call->error = TCALL_E_MEMORY;
    call->asked = attempt;
    call->error = tcall_attempt_check_(call, attempt);
    call->cx.bound = attempt->bound;
    return call->error;
}

/* Asks the program for a repair, and keeps it. Returns TCALL_OK, TCALL_E_AGAIN,
 * or why there is none. */
TCALL_NOINLINE_ static int tcall_hydrate_ask_(tcall *tc, const tcall_call *call,
                                              tcall_str *text)
{
    tcall_block *block = &tc->block;
    tcall_writer out = tcall_hydrate_writer_(block);
    tcall_loan_ loan = tcall_block_lend_(block, out.cap);
    int r = tc->desc.repair->write(tc->desc.user, call, &out);
    tcall_block_unlend_(block, loan, out.fill);
    if (r == TCALL_E_AGAIN)
        return r;
    tc->repairs++;
    if (out.error != TCALL_E_MEMORY && (r < 0 || out.error))
        return call->error;
    return tcall_hydrate_keep_(block, out.buf, out.len, text);
}

/* Lets the caller repair arguments that were refused, once. Where the repair is
 * refused too, what came counts again. Returns TCALL_OK, TCALL_E_AGAIN, or why
 * what came was refused. */
int tcall_hydrate_repair_(tcall *tc, tcall_call *call)
{
    const tcall_attempt *came = call->asked;
    int error = call->error, r;
    tcall_str text;
    if (error == TCALL_E_MEMORY || call->incomplete)
        return error;
    r = tcall_hydrate_ask_(tc, call, &text);
    call->repairing = r == TCALL_E_AGAIN;
    if (r != TCALL_OK)
        return r;
    call->repaired = true;
    r = tcall_attempt_anew_(call, "repair", text);
    tcall_tell_call_(call, TCALL_EVENT_REPAIR, &text, 0);
    if (r == TCALL_OK)
        return r;
    call->repaired = false;
    call->asked = came;
    return r == TCALL_E_MEMORY ? r : error;
}

/* Finds the tool and its schema, and reads what came. */
static int tcall_hydrate_begin_(tcall *tc, tcall_call *call)
{
    int r = tcall_usable_(tc);
    call->cx.call = call;
    call->asked = &tcall_unread_;
    call->attempts = NULL;
    call->tool = tcall_find(tc, call->name);
    if (call->by_model && call->tool &&
        !tcall_is_offered_(tc, call->tool, true))
        call->tool = NULL; /* not for this turn, whoever may know of it */
    call->cx.user = call->tool ? call->tool->user : NULL;
    if (r == TCALL_OK && !call->mark)
        r = TCALL_E_MEMORY;
    if (r == TCALL_OK)
        r = call->tool ? tcall_hydrate_schema_(tc, call) : TCALL_E_UNKNOWN;
    if (r == TCALL_OK)
        r = tcall_attempt_anew_(call, tcall_by_model_, call->arguments);
    return r;
}

/* Hydrates the call, or goes on with its repair. */
static int tcall_hydrate_go_(tcall *tc, tcall_call *call)
{
    uint32_t before = tcall_now_(tc);
    int r = call->error;
    if (!call->repairing)
        r = call->error = tcall_hydrate_begin_(tc, call);
    if (r < 0 && call->asked->step > TCALL_STEP_FIND && tc->desc.repair)
        r = tc->desc.repair->hydrate(tc, call);
    call->hydrate_ms += tcall_now_(tc) - before;
    if (call->repairing)
        return TCALL_E_AGAIN;
    call->error = r;
    tcall_tell_call_(call, TCALL_EVENT_HYDRATED, NULL, 0);
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

/* Gives back what a call holds that is not under way. */
TCALL_SHARED_ void tcall_let_go_(tcall *tc, tcall_call *call)
{
    tcall_ctx *cx = &call->cx;
    call->asked = &tcall_unread_;
    call->attempts = NULL;
    call->runs = NULL;
    cx->bound = NULL;
    cx->words = NULL;
    cx->services = NULL;
    cx->output = cx->failure.reason = cx->result.title = cx->result.metadata =
        tcall_slice_(NULL, 0);
    tcall_block_release_(&tc->block, call->mark);
    call->mark = 0;
}

/* Returns the arguments that count, as they came. */
TCALL_SHARED_ tcall_str tcall_asked_text_(const tcall_call *call)
{
    return call->attempts ? call->asked->came : call->arguments;
}
