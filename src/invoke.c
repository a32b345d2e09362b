#pragma once
#include "invoke.h"
#include "context.c"
#include "result.c"

/* ==========================================================================
 * >>invoke
 *
 * The state of a call is one bit, and each stage has the set of states that it
 * is due in: that, and the order of the list, is the whole lifecycle.
 */

/* Returns why the tool must not run now or go on, or TCALL_OK. */
static int tcall_must_end_(const tcall_ctx *cx)
{
    if (cx->stop < 0)
        return cx->stop;
    return tcall_time_left(cx) == 0 ? TCALL_E_TIMEOUT : TCALL_OK;
}

/* Where an attempt to run the tool is. */
enum {
    TCALL_RUN_NOT_,      /* none is under way */
    TCALL_RUN_RETRY_,    /* at ON_RETRY, of all but the first */
    TCALL_RUN_HOOKS_,    /* at WILL_EXECUTE */
    TCALL_RUN_APPROVAL_, /* hooks may have changed the arguments: ask again */
    TCALL_RUN_BEGIN_,    /* the tool is due */
    TCALL_RUN_POLLED_,   /* the tool answered TCALL_E_AGAIN */
    TCALL_RUN_DID_       /* at DID_EXECUTE */
};

/* ---- output ---- */

/* True once the tool has run well, or for the last time, or something stands in
 * its place: what is written is the output. */
static bool tcall_has_run_(const tcall_ctx *cx)
{
    return cx->state != TCALL_GOING_ || cx->stage >= TCALL_ON_GIVE_UP ||
           cx->run_step == TCALL_RUN_DID_;
}

/* Lets a hook wait after the run: the output lies in the block meanwhile.
 * Returns TCALL_E_AGAIN, or why it may not wait. */
static int tcall_output_hold_(tcall_ctx *cx, int r)
{
    tcall_str text = tcall_output(cx);
    int end = tcall_must_end_(cx);
    if (r != TCALL_E_AGAIN)
        return TCALL_E_USAGE;
    if (end < 0)
        return end;
    if (cx->output.len < text.len) {
        tcall_block_share_(&cx->tc->block, cx->call->mark);
        if (tcall_hydrate_keep_(&cx->tc->block, text.ptr, text.len,
                                &cx->output) < 0)
            return TCALL_E_MEMORY;
    } else {
        if (text.len)
            memcpy((char *)(uintptr_t)cx->output.ptr, text.ptr, text.len);
        cx->output.len = text.len;
    }
    cx->output_held = true;
    return r;
}

/* ---- failure ---- */

/* Bytes of a tool's reason that are kept. */
#define TCALL_REASON_ 128

/* Notes what failed, and where. What was noted of the same error stays: it is
 * passed on from the tool to the hooks around it. */
static void tcall_note_failure_(tcall_ctx *cx, int error)
{
    tcall_failure *failure = &cx->failure;
    if (error >= 0 || cx->state == TCALL_FAILED_ || failure->error == error)
        return;
    failure->error = error;
    failure->stage = cx->stage;
    failure->attempt = cx->attempt;
    failure->ran = cx->result.ran;
}

/* Makes the call fail; the first failure counts. */
static void tcall_fail_(tcall_ctx *cx, int error)
{
    tcall_note_failure_(cx, error);
    if (error < 0)
        cx->state = TCALL_FAILED_;
}

/* Copies the tool's words of why it failed, before the output is taken back:
 * to memory that all attempts share. Without it the error's code must do. */
static void tcall_keep_reason_(tcall_ctx *cx, tcall_str text)
{
    char *words = (char *)tcall_scratch(cx, ".reason", TCALL_REASON_);
    if (!words || cx->state == TCALL_FAILED_)
        return;
    if (text.len > TCALL_REASON_)
        text.len = tcall_utf8_cut_(text.ptr, TCALL_REASON_);
    if (text.len)
        memmove(words, text.ptr, text.len);
    cx->failure.reason = tcall_slice_(words, text.len);
    cx->failure.reason.len = tcall_hide_(cx, cx->failure.reason);
}

/* True for the two errors that ask for tcall_invoke once more. */
static bool tcall_waits_(int r)
{
    return r == TCALL_E_AGAIN || r == TCALL_E_APPROVAL;
}

/* Returns how a hook or the tool ended: with an error, whatever it returned,
 * when it required a service that is missing. */
static int tcall_outcome_(tcall_ctx *cx, int r)
{
    if (cx->service_missing)
        r = TCALL_E_SERVICE;
    cx->service_missing = false;
    return r > 0 ? TCALL_OK : r;
}
/* ---- permission ---- */

/* Writes a set of permissions: in words, or as the constants to write in C. */
static void tcall_write_permissions_(tcall_writer *out, unsigned set,
                                     bool constants)
{
    static const struct {
        const char *word, *constant;
    } names[] = {{"read", "TCALL_READ"},
                 {"write", "TCALL_WRITE"},
                 {"execute", "TCALL_EXECUTE"},
                 {"network", "TCALL_NETWORK"},
                 {"actuate", "TCALL_ACTUATE"}};
    const char *between = constants ? " | " : " and ";
    size_t i;
    bool first = true;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(set >> i & 1))
            continue;
        tcall_write_text(out, first ? "" : between);
        tcall_write_text(out, constants ? names[i].constant : names[i].word);
        first = false;
    }
    tcall_write_text(out, first ? "nothing" : "");
}

/* Writes why the tool is not permitted, in words for the model. */
static void tcall_write_denial_(tcall_writer *out, const tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    if (tool->permissions & ~(unsigned)TCALL_EVERYTHING) {
        tcall_write_text(out, "this tool was removed");
        return;
    }
    if (tcall_enabled(tool, cx->tc->desc.allow)) {
        tcall_write_text(out, "is not for this user: ");
        tcall_write_text(out, tcall_withheld_(cx->tc, tool));
        return;
    }
    tcall_write_text(out, "needs ");
    if (tool->permissions)
        tcall_write_permissions_(out, tool->permissions, false);
    else
        tcall_write_text(out, "everything, as it declares no permissions");
    tcall_write_text(out, "; the registry allows ");
    tcall_write_permissions_(out, cx->tc->desc.allow, false);
}

/* Writes the same for the developer: which tool it is, and the remedy. */
static void tcall_write_remedy_(tcall_writer *out, const tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    unsigned missing = tcall_needs_(tool) & ~(unsigned)cx->tc->desc.allow;
    tcall_write_text(out, tool->name);
    tcall_write_text(out, " ");
    tcall_write_denial_(out, cx);
    if (missing & TCALL_EVERYTHING) {
        tcall_write_text(out, ": add ");
        tcall_write_permissions_(out, missing, true);
        tcall_write_text(out, " to tcall_desc.allow");
    }
}

/* Checks that the registry gives the tool to its user. The reason is kept:
 * audit and events show it, too. */
TCALL_NOINLINE_ static int tcall_authorize_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    char text[TCALL_REASON_];
    tcall_writer out;
    if (!call->tool)
        return call->error < 0 ? call->error : TCALL_E_USAGE;
    if (!tcall_withheld_(cx->tc, call->tool))
        return TCALL_OK;
    tcall_writer_init(&out, text, sizeof text);
    tcall_write_denial_(&out, cx);
    if (!cx->failure.reason.len)
        tcall_keep_reason_(cx, tcall_slice_(text, out.fill));
    return TCALL_E_DENIED;
}

/* ---- approval ---- */

/* Reports a verdict: once when it is asked for, once when it is there. */
static void tcall_tell_verdict_(tcall_ctx *cx, tcall_verdict verdict)
{
    bool asked = cx->approval_asked;
    cx->approval_asked = verdict == TCALL_VERDICT_LATER;
    if (asked != cx->approval_asked)
        tcall_tell_call_(cx->call,
                         asked ? TCALL_EVENT_VERDICT : TCALL_EVENT_APPROVAL,
                         tcall_slice_(NULL, 0), (int)verdict);
}

/* True when the call needs approval: the tool or its author says so, what runs
 * is the work of a repair, or nobody has checked the arguments. */
static bool tcall_needs_approval_(const tcall_call *call)
{
    const tcall_tool *tool = call->tool;
    bool reads_only = tcall_may_(call->cx.tc, tool) == TCALL_READ;
    bool confirm = tool->confirm && !tool->looks_first;
    if (confirm || call->cx.approval_wanted || (call->repaired && !reads_only))
        return true;
    if (tcall_is_checked_(tool) || tool->no_schema_mode == TCALL_NO_SCHEMA_FULL)
        return false;
    return !reads_only || tool->no_schema_mode != TCALL_NO_SCHEMA_READ_ONLY;
}

/* Notes a verdict that is there. */
TCALL_SHARED_ int tcall_decided_(tcall_ctx *cx, bool allowed)
{
    cx->call->approved = allowed;
    tcall_tell_verdict_(cx, allowed ? TCALL_VERDICT_ALLOW : TCALL_VERDICT_DENY);
    return allowed ? TCALL_OK : TCALL_E_DENIED;
}

/* Asks desc.approve, which may know at once. */
TCALL_SHARED_ int tcall_ask_consent_(tcall_ctx *cx)
{
    const tcall_desc *d = &cx->tc->desc;
    tcall_verdict verdict = TCALL_VERDICT_DENY;
    tcall_tell_verdict_(cx, TCALL_VERDICT_LATER);
    if (d->approve)
        verdict = d->approve(d->user, cx->call);
    return verdict == TCALL_VERDICT_LATER
               ? TCALL_E_APPROVAL
               : tcall_decided_(cx, verdict == TCALL_VERDICT_ALLOW);
}

/* Asks where it has to be asked. */
static int tcall_consent_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    if (call->error < 0 ||
        (!tcall_needs_approval_(call) && !cx->approval_asked))
        return TCALL_OK;
    return call->approved ? tcall_decided_(cx, true) : tcall_ask_consent_(cx);
}

/* ---- the tool ---- */

/* Calls the tool's function once. */
static int tcall_run_call_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    const tcall_hook *around = cx->hook;
    tcall_json args =
        cx->injected ? tcall_json_of_(cx->injected, NULL) : call->args;
    uint32_t before = tcall_now_(cx->tc);
    bool ran = cx->result.ran;
    int r;
    cx->tool_ran = cx->result.ran = true;
    cx->hook = NULL;
    cx->out->last = 0;
    r = tcall_outcome_(cx, call->tool->run(cx, args, cx->out));
    if (r == TCALL_E_APPROVAL || (r == TCALL_E_DENIED && cx->approval_wanted))
        cx->result.ran = ran; /* it only looked */
    cx->hook = around;
    call->run_ms += tcall_now_(cx->tc) - before;
    return r;
}

/* Masks what hooks injected in what the tool has written and in why it failed.
 */
static void tcall_hide_said_(tcall_ctx *cx)
{
    tcall_str text = tcall_output(cx);
    size_t less = text.len - tcall_hide_(cx, text);
    cx->out->fill -= less;
    cx->out->len -= less;
    if (cx->injected && cx->failure.reason.len)
        tcall_keep_reason_(cx, cx->failure.reason);
}

/* Runs the tool, or lets it go on. One that has to end is called a last time
 * only if it holds something, and what it then writes does not count. */
static int tcall_run_(tcall_ctx *cx)
{
    int end = tcall_must_end_(cx), r;
    if (end < 0) {
        if (cx->run_step != TCALL_RUN_POLLED_)
            return end;
        cx->stop = end;
    }
    r = tcall_run_call_(cx);
    tcall_hide_said_(cx);
    cx->run_step = r == TCALL_E_AGAIN      ? TCALL_RUN_POLLED_
                   : r == TCALL_E_APPROVAL ? TCALL_RUN_BEGIN_
                                           : TCALL_RUN_NOT_;
    if (end < 0 || tcall_waits_(r)) {
        tcall_output_clear_(cx);
        return end < 0 ? end : r;
    }
    if (r == TCALL_OK || (r == TCALL_E_MEMORY && cx->out->error == r)) {
        /* what hooks made of tcall_approval did not keep it from working */
        memset(&cx->failure, 0, sizeof cx->failure);
        cx->tool_did = true;
        return tcall_output_cut_(cx);
    }
    tcall_note_failure_(cx, r);
    if (!cx->failure.reason.len && !cx->failure.by)
        tcall_keep_reason_(cx, tcall_output(cx)); /* it wrote why */
    return r;
}

/* ---- the schema of the output ---- */

/* Keeps in the block what is wrong with the output, and where. */
TCALL_NOINLINE_ static void tcall_output_complain_(tcall_ctx *cx,
                                                   const tcall_machine *machine)
{
    tcall_block *block = &cx->tc->block;
    tcall_writer why;
    /* the text lies at the end, and stays there while it is shown */
    tcall_block_take_(block, tcall_output(cx).len + 1);
    tcall_hydrate_writer_(block, &why);
    tcall_write_text(&why, tcall_error_text(TCALL_E_OUTPUT));
    tcall_write_text(&why, ": ");
    tcall_say_fault_(&why, tcall_say_of_(cx->call->tool->output), machine->text,
                     &machine->faults[0], false);
    tcall_hydrate_keep_(block, why.buf, why.fill, &cx->failure.reason);
}

/* Reads the output as its schema has it. */
TCALL_NOINLINE_ static int tcall_output_read_(tcall_ctx *cx,
                                              const tcall_node *node)
{
    tcall_machine machine;
    tcall_machine_desc desc;
    int r;
    memset(&desc, 0, sizeof desc);
    desc.target.node = node;
    desc.target.rows = cx->call->tool->output.reader->rows;
    r = tcall_arguments_read_(&cx->tc->block, &machine, &desc,
                              tcall_output(cx));
    if (r == TCALL_OK || r == TCALL_E_MEMORY || r == TCALL_E_BUDGET)
        return r;
    if (r == TCALL_E_INVALID)
        tcall_output_complain_(cx, &machine);
    else
        cx->failure.reason = tcall_str_of(
            "the output of the tool is no JSON value, which its schema asks "
            "for");
    return TCALL_E_OUTPUT;
}

/* What this takes of the block is given back by its caller. */
static int tcall_output_judge_(tcall_ctx *cx)
{
    const tcall_node *node;
    int r = tcall_hydrate_compile_(cx->tc, &node, cx->call->tool->output);
    return r < 0 ? r : tcall_output_read_(cx, node);
}

/* Checks the output against tool->output, if it has that. What a hook answered
 * in place of the tool is its own. */
static int tcall_check_output_(tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    size_t high = cx->tc->block.high;
    bool own = cx->state != TCALL_ANSWERED_;
    int r = TCALL_OK;
    if (tool && tool->output.text &&
        own) /* what was cut is no fault of the tool */
        r = cx->wanted ? TCALL_E_MEMORY : tcall_output_judge_(cx);
    if (r == TCALL_E_MEMORY && !cx->wanted)
        cx->wanted = tcall_output(cx).len; /* all of it is needed */
    if (r != TCALL_E_OUTPUT)               /* else it holds the reason */
        tcall_block_back_(&cx->tc->block, high);
    return r;
}

/* ---- hooks ---- */

/* The states that each stage is due in. */
static const uint8_t tcall_due_[] = {
#define TCALL_X_(NAME, when) TCALL_##when##_,
    TCALL_STAGES(TCALL_X_)
#undef TCALL_X_
};

/* Reports what is wrong with the hooks of a table: each is named with its tool
 * or table. */
static int tcall_hooks_check_(tcall *tc, const char *name,
                              const tcall_hook *hook, size_t count)
{
    int r = TCALL_OK;
    for (; count; hook++, count--) {
        char which[64];
        tcall_review_ review = {tc, which, TCALL_OK};
        tcall_writer out;
        tcall_writer_init(&out, which, sizeof which - 1);
        tcall_write_text(&out, name ? name : "(no name)");
        tcall_write_text(&out, ": hook ");
        tcall_write_text(&out, hook->name ? hook->name : "(no name)");
        which[out.fill] = '\0';
        tcall_refuse_(&review, !hook->run, TCALL_PROBLEM_HOOK_RUN_);
        tcall_refuse_(&review, hook->stage >= TCALL_STAGE_COUNT,
                      TCALL_PROBLEM_HOOK_STAGE_);
        r = tcall_worse_(r, review.error);
    }
    return r;
}

/* Returns whether a hook runs before one that is earlier in the tables. */
static bool tcall_hook_before_(const tcall_hook *hook,
                               const tcall_hook *earlier)
{
    if (hook->stage != earlier->stage)
        return hook->stage < earlier->stage;
    if (tcall_due_[hook->stage] & TCALL_LATE_)
        return hook->priority < earlier->priority;
    return hook->priority > earlier->priority;
}

/* Inserts hooks into an order: tables of hooks are short, and mostly sorted. */
static void tcall_order_insert_(tcall_order_ *order, const tcall_hook *hooks,
                                size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        const tcall_hook **at = order->hooks + order->count++;
        for (; at > order->hooks && tcall_hook_before_(&hooks[i], at[-1]); at--)
            at[0] = at[-1];
        at[0] = &hooks[i];
        order->stages |= (uint32_t)1 << hooks[i].stage;
    }
}

/* Puts the hooks of the registry, and those of a tool, if it is one, in order.
 * The room of a row that was used before is used again. */
static int tcall_order_make_(tcall *tc, const tcall_tool *tool,
                             tcall_order_ *order)
{
    const tcall_desc *desc = &tc->desc;
    size_t count = (size_t)desc->hook_count + (tool ? tool->hook_count : 0);
    if (count > order->room) {
        order->hooks = (const tcall_hook **)tcall_table_(
            tc, count, sizeof(const tcall_hook *));
        order->room = (uint16_t)(order->hooks ? count : 0);
    }
    if (count > order->room)
        return TCALL_E_MEMORY;
    order->count = 0;
    order->stages = 0;
    tcall_order_insert_(order, desc->hooks, desc->hook_count);
    if (tool)
        tcall_order_insert_(order, tool->hooks, tool->hook_count);
    return TCALL_OK;
}

/* Takes the orders of the rows: there are some only where a tool has hooks of
 * its own, or may come with some. */
static int tcall_orders_(tcall *tc)
{
    const tcall_desc *desc = &tc->desc;
    size_t i, rows = desc->row_count;
    for (i = 0; i < desc->tool_count && !rows; i++)
        rows = desc->tools[i].hook_count ? desc->tool_count : 0;
    if (rows)
        tc->orders = (tcall_order_ *)tcall_table_(tc, rows, sizeof *tc->orders);
    return tc->orders || !rows ? TCALL_OK : TCALL_E_MEMORY;
}

/* Checks the hooks of a tool, or of the registry, and puts them in order. */
static int tcall_hooks_add_(tcall *tc, const tcall_tool *tool)
{
    const tcall_desc *desc = &tc->desc;
    int r;
    if (!tool) {
        r = tcall_hooks_check_(tc, "tcall_desc", desc->hooks, desc->hook_count);
        return r < 0 ? r
                     : tcall_worse_(tcall_orders_(tc),
                                    tcall_order_make_(tc, NULL, &tc->order));
    }
    r = tcall_hooks_check_(tc, tool->name, tool->hooks, tool->hook_count);
    if (r < 0 || !tool->hook_count)
        return r;
    if (tc->orders)
        return tcall_order_make_(tc, tool, &tc->orders[tool - tc->desc.tools]);
    /* the start has failed: it only has to be counted */
    tcall_table_(tc, (size_t)desc->hook_count + tool->hook_count,
                 sizeof(const tcall_hook *));
    return TCALL_E_MEMORY;
}

/* Returns the hooks of a call: a tool that has none of its own shares those of
 * the registry. */
static const tcall_order_ *tcall_order_of_(const tcall_ctx *cx)
{
    const tcall *tc = cx->tc;
    const tcall_tool *tool = cx->call->tool;
    return tool && tool->hook_count && tc->orders
               ? &tc->orders[tool - tc->desc.tools]
               : &tc->order;
}

/* Returns the hook of a stage at a place in the order, or after it, and moves
 * the place there; NULL after the last of the stage. */
static const tcall_hook *tcall_hook_next_(const tcall_ctx *cx, int stage,
                                          uint16_t *place)
{
    const tcall_order_ *order = tcall_order_of_(cx);
    const tcall_hook *hook = NULL;
    for (; *place < order->count; ++*place) {
        hook = order->hooks[*place];
        if (hook->stage >= stage)
            return hook->stage == stage ? hook : NULL;
    }
    return NULL;
}

/* ---- hooks that acquire and hooks that release ---- */

static bool tcall_acquires_(const tcall_hook *hook)
{
    return hook->stage == TCALL_WILL_ACQUIRE_QUOTA ||
           hook->stage == TCALL_WILL_ACQUIRE_SEMAPHORE;
}

/* Returns the stage that acquires what a hook releases, or -1. */
static int tcall_acquired_at_(const tcall_hook *hook)
{
    return hook->stage == TCALL_DID_RELEASE_QUOTA ? TCALL_WILL_ACQUIRE_QUOTA
           : hook->stage == TCALL_DID_RELEASE_SEMAPHORE
               ? TCALL_WILL_ACQUIRE_SEMAPHORE
               : -1;
}

/* Returns the bit in cx->held of a hook that acquires, or the bits of those
 * that the given hook may release: the ones with the same user. */
static uint32_t tcall_holders_(const tcall_ctx *cx, const tcall_hook *own)
{
    int acquired = tcall_acquired_at_(own);
    const tcall_order_ *order = tcall_order_of_(cx);
    uint32_t bits = 0, bit = 1;
    uint16_t i;
    for (i = 0; i < order->count; i++) {
        const tcall_hook *hook = order->hooks[i];
        if (hook->stage > TCALL_WILL_ACQUIRE_SEMAPHORE)
            break;
        if (!tcall_acquires_(hook))
            continue;
        if (hook == own || (hook->stage == acquired && hook->user == own->user))
            bits |= bit;
        bit <<= 1;
    }
    return bits;
}

/* Notes what a hook has acquired, for which there are 32 bits, or that it has
 * released the first of what it may. */
static int tcall_hold_(tcall_ctx *cx, const tcall_hook *hook)
{
    uint32_t bits = tcall_holders_(cx, hook);
    if (tcall_acquires_(hook)) {
        cx->held |= bits;
        return bits ? TCALL_OK : TCALL_E_LIMIT;
    }
    bits &= cx->held;
    cx->held &= ~(bits & (0 - bits)); /* the lowest */
    return TCALL_OK;
}

/* ---- one stage ---- */

/* Returns whether the hook's filter lets it run, and what it releases was
 * acquired, or could not be. */
static bool tcall_hook_due_(tcall_ctx *cx, const tcall_hook *hook)
{
    uint32_t bits;
    if (hook->filter && !hook->filter(cx, hook->user))
        return false;
    bits = tcall_acquired_at_(hook) < 0 ? 0 : tcall_holders_(cx, hook);
    return !bits || cx->held & bits;
}

/* Returns whether hooks of a stage no longer decide what becomes of the call.
 */
static bool tcall_only_told_(int stage)
{
    return stage == TCALL_ON_GIVE_UP || stage >= TCALL_ON_ERROR;
}

/* Says how a hook ended: whether it may wait, and who failed. */
static int tcall_hook_ended_(tcall_ctx *cx, int r)
{
    const tcall_hook *hook = cx->hook;
    if (tcall_waits_(r) && tcall_has_run_(cx))
        r = tcall_output_hold_(cx, r);
    if (r >= 0 || tcall_waits_(r))
        return r;
    if (tcall_only_told_(hook->stage)) {
        tcall_tell_call_(cx->call, TCALL_EVENT_HOOK, tcall_str_of(hook->name),
                         r);
        return TCALL_OK;
    }
    if (hook->stage != TCALL_AROUND_EXECUTE && !cx->failure.by)
        cx->failure.by = hook->name;
    tcall_note_failure_(cx, r);
    return r;
}

static int tcall_hook_run_(tcall_ctx *cx, const tcall_hook *hook)
{
    const tcall_hook *around = cx->hook;
    int r;
    cx->hook = hook;
    r = tcall_hook_ended_(cx, tcall_outcome_(cx, hook->run(cx, hook->user)));
    cx->hook = around;
    if (r == TCALL_OK &&
        (tcall_acquires_(hook) ? cx->state == TCALL_GOING_
                               : tcall_acquired_at_(hook) >= 0))
        r = tcall_hold_(cx, hook);
    return r;
}

/* Runs the hooks of a stage from a place on; returns their first error.
 * One that waits is the next again. An error, or an answer, ends the stage,
 * unless it is one of those that see every call. */
static int tcall_hooks_(tcall_ctx *cx, int stage, uint16_t *place)
{
    const tcall_hook *hook;
    int r = TCALL_OK, state = cx->state;
    uint8_t outer = cx->stage;
    cx->stage = (uint8_t)stage;
    while (r >= 0 && (cx->state == state || stage >= TCALL_ON_ERROR) &&
           (hook = tcall_hook_next_(cx, stage, place)) != NULL) {
        if (tcall_hook_due_(cx, hook))
            r = tcall_hook_run_(cx, hook);
        if (r >= 0)
            ++*place;
    }
    cx->stage = outer;
    return r;
}

/* Runs the hooks from the stage at hand up to another one, but for those around
 * the run. Returns TCALL_OK, or why to wait. */
static int tcall_hooks_pass_(tcall_ctx *cx, int last)
{
    uint32_t hooked = tcall_order_of_(cx)->stages;
    hooked &= ~((uint32_t)1 << TCALL_AROUND_EXECUTE);
    for (; cx->stage <= last; cx->stage++) {
        int r = TCALL_OK;
        if (hooked >> cx->stage & 1 && tcall_due_[cx->stage] & cx->state)
            r = tcall_hooks_(cx, cx->stage, &cx->next_hook);
        if (tcall_waits_(r))
            return r;
        tcall_fail_(cx, r);
        if (cx->stage == last)
            break;
    }
    return TCALL_OK;
}

/* ---- attempts ---- */

/* Asks for approval once more, where hooks at WILL_EXECUTE have changed the
 * arguments. */
static int tcall_approve_again_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    int r = call->error;
    if (r == TCALL_OK && !call->approved && tcall_needs_approval_(call))
        r = tcall_hooks_(cx, TCALL_WILL_CHECK_CONSENT, &cx->next_inner);
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_consent_(cx);
    return r;
}

/* Begins an attempt. Returns why there is none, or, where the tool must not run
 * a second time, the first result, which stays. */
static int tcall_attempt_begin_(tcall_ctx *cx)
{
    bool again = cx->attempt++ > 0;
    int end = tcall_must_end_(cx);
    if (end < 0 || (cx->tool_ran && !tcall_repeatable_(cx)))
        return end < 0 ? end : cx->last_attempt;
    tcall_output_clear_(cx);
    cx->next_inner = 0;
    cx->run_step = again ? TCALL_RUN_RETRY_ : TCALL_RUN_HOOKS_;
    if (again)
        tcall_tell_call_(cx->call, TCALL_EVENT_RETRY, cx->failure.reason, 0);
    return TCALL_OK;
}

/* Does one step of an attempt: hooks at ON_RETRY, which see how the last one
 * failed, those at WILL_EXECUTE, approval, the tool, and hooks at DID_EXECUTE.
 */
static int tcall_attempt_step_(tcall_ctx *cx)
{
    int r;
    switch (cx->run_step) {
    case TCALL_RUN_RETRY_:
        r = tcall_hooks_(cx, TCALL_ON_RETRY, &cx->next_inner);
        if (r == TCALL_OK && cx->state == TCALL_GOING_)
            memset(&cx->failure, 0, sizeof cx->failure);
        return r;
    case TCALL_RUN_HOOKS_:
        return tcall_hooks_(cx, TCALL_WILL_EXECUTE, &cx->next_inner);
    case TCALL_RUN_APPROVAL_: return tcall_approve_again_(cx);
    case TCALL_RUN_DID_:
        return tcall_hooks_(cx, TCALL_DID_EXECUTE, &cx->next_inner);
    default: return tcall_run_(cx);
    }
}

/* Makes one attempt, or goes on with the one that waits. */
static int tcall_attempt_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    if (cx->run_step == TCALL_RUN_NOT_)
        r = tcall_attempt_begin_(cx);
    while (r == TCALL_OK && cx->state == TCALL_GOING_ && cx->run_step) {
        uint8_t step = cx->run_step;
        r = tcall_attempt_step_(cx);
        if (r == TCALL_OK) {
            cx->run_step =
                (uint8_t)(step < TCALL_RUN_BEGIN_ ? step + 1
                          : step < TCALL_RUN_DID_ ? (int)TCALL_RUN_DID_
                                                  : (int)TCALL_RUN_NOT_);
            cx->next_inner = 0;
        }
    }
    if (tcall_waits_(r))
        return r;
    cx->run_step = TCALL_RUN_NOT_;
    tcall_note_failure_(cx, r);
    return cx->last_attempt = r;
}

/* Returns the next hook around the run, or NULL. */
static const tcall_hook *tcall_around_next_(tcall_ctx *cx)
{
    const tcall_hook *hook;
    do {
        hook = tcall_hook_next_(cx, TCALL_AROUND_EXECUTE, &cx->next_around);
        if (hook)
            cx->next_around++;
    } while (hook && !tcall_hook_due_(cx, hook));
    return hook;
}

int tcall_next(tcall_ctx *cx)
{
    const tcall_hook *hook;
    uint16_t here = cx->next_around;
    uint8_t depth = cx->around_depth;
    int r;
    if (cx->stage != TCALL_AROUND_EXECUTE || cx->state != TCALL_GOING_ ||
        depth > TOOLCALL_MAX_AROUND) {
        cx->attempt++; /* a hook that repeats this until it works, ends */
        return TCALL_E_USAGE;
    }
    hook = tcall_around_next_(cx);
    /* The tool, and hooks that are not around it, are not to call this. */
    cx->around_depth =
        hook ? (uint8_t)(depth + 1) : (uint8_t)(TOOLCALL_MAX_AROUND + 1);
    r = hook ? tcall_hook_run_(cx, hook) : tcall_attempt_(cx);
    cx->around_depth = depth;
    cx->next_around = here;
    return r;
}

/* Runs the tool inside of the hooks around it, which do not overcome its
 * failure by keeping silent about it. After the last attempt, be it the only
 * one, hooks may still answer. */
static int tcall_around_(tcall_ctx *cx)
{
    int r;
    if (!cx->gave_up) {
        r = tcall_next(cx);
        if (tcall_waits_(r) && tcall_must_end_(cx) < 0)
            r = tcall_run_(cx); /* a hook waits on: the tool is told */
        if (tcall_waits_(r))
            return r;
        if (r == TCALL_OK && cx->state == TCALL_GOING_)
            r = cx->last_attempt;
        if (r == TCALL_OK || !cx->attempt)
            return r;
        tcall_note_failure_(cx, r);
        cx->gave_up = true;
        cx->next_inner = 0;
    }
    r = tcall_hooks_(cx, TCALL_ON_GIVE_UP, &cx->next_inner);
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = cx->failure.error;
    return r;
}

TCALL_DATA_ const tcall_stages_ tcall_stages = {
    tcall_hooks_add_, tcall_hooks_pass_, tcall_hooks_, tcall_around_};

/* ---- the way of a call ---- */

void tcall_cancel(tcall_call *call, int error)
{
    if (call)
        call->cx.stop = error;
}

/* Replays the stage of approval in the middle of a run. */
int tcall_approval(tcall_ctx *cx)
{
    uint16_t place = 0;
    int r = TCALL_OK;
    if (!cx->call)
        return TCALL_E_USAGE;
    cx->approval_wanted = true;
    if (cx->hooks)
        r = cx->hooks->at(cx, TCALL_WILL_CHECK_CONSENT, &place);
    return r == TCALL_OK ? tcall_consent_(cx) : r;
}

/* Completes the result: nobody changes it from here on. */
static int tcall_settle_(tcall_ctx *cx)
{
    cx->finished = tcall_now_(cx->tc);
    if (cx->state == TCALL_FAILED_)
        tcall_write_failure_(cx);
    else /* what a hook said, and did not return */
        memset(&cx->failure, 0, sizeof cx->failure);
    cx->result.error = cx->failure.error;
    cx->result.output = tcall_output(cx);
    cx->settled = true;
    return TCALL_OK;
}

/* Ends a call that is under way: whatever it waits for, it is told so. */
static void tcall_end_(tcall_call *call)
{
    tcall_writer out;
    tcall_writer_init(&out, NULL, 0);
    tcall_cancel(call, TCALL_E_CANCELLED);
    tcall_invoke(call->cx.tc, call, &out);
}

/* Sets up the context. A registry that cannot be used fails the call here, so
 * that even then there is a result to read. */
TCALL_NOINLINE_ static void tcall_begin_(tcall *tc, tcall_call *call)
{
    tcall_ctx *cx = &call->cx;
    cx->call = call;
    cx->session = call->session ? call->session : tc->desc.session;
    cx->state = TCALL_GOING_;
    cx->last_attempt = TCALL_E_USAGE; /* while the tool has not run */
    cx->end = tcall_end_;
    cx->started = tcall_now_(tc);
    cx->hooks = tc->ready ? tc->desc.stages : NULL;
    tcall_tell_call_(call, TCALL_EVENT_START, tcall_slice_(NULL, 0), 0);
    tcall_fail_(cx, tcall_usable_(tc));
    if (call->loops && tcall_must_end_(cx) == TCALL_OK)
        tcall_fail_(cx, tc->breaker(cx, true));
}

/* Room for what there is to say of a call that failed. */
#define TCALL_ERROR_TEXT_ 288

/* Returns what there is to say of a call that failed; of one that is not
 * permitted the developer reads what to change. */
static tcall_str tcall_error_said_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    const tcall_failure *failure = &cx->failure;
    bool withheld = failure->error == TCALL_E_DENIED && call->tool &&
                    tcall_withheld_(cx->tc, call->tool);
    char *room = withheld || tcall_was_refused_(cx)
                     ? (char *)tcall_scratch(cx, ".error", TCALL_ERROR_TEXT_)
                     : NULL;
    tcall_writer out;
    if (!room)
        return failure->reason.len
                   ? failure->reason
                   : tcall_str_of(tcall_error_text(failure->error));
    tcall_writer_init(&out, room, TCALL_ERROR_TEXT_);
    if (withheld)
        tcall_write_remedy_(&out, cx);
    else
        tcall_say_refused_(&out, call);
    return tcall_slice_(room, out.fill);
}

TCALL_NOINLINE_ static void tcall_tell_error_(tcall_ctx *cx)
{
    if (tcall_is_heard_(cx->tc))
        tcall_tell_call_(cx->call, TCALL_EVENT_ERROR, tcall_error_said_(cx), 0);
}

/* Where the block was too small for one step of a call that began at this
 * height, the next ones would need more: says how large it has to be for all of
 * them. */
static void tcall_foresee_(tcall *tc, size_t high, size_t bytes)
{
    tcall_block *block = &tc->block;
    if (block->need > block->size)
        tcall_block_note_(block, block->low + high +
                                     tcall_call_room_(&tc->desc, bytes));
}

/* Reports the end; listeners see a call that is complete. */
TCALL_NOINLINE_ static int tcall_finish_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    if (cx->approval_asked)
        tcall_tell_verdict_(cx, TCALL_VERDICT_DENY);
    call->error = cx->result.error;
    if (call->loops)
        cx->tc->breaker(cx, false);
    if (call->error == TCALL_E_MEMORY && !call->by_model)
        tcall_foresee_(cx->tc, call->mark, call->arguments.len + cx->wanted);
    cx->state = TCALL_DONE_;
    cx->end = NULL;
    if (call->error < 0)
        tcall_tell_error_(cx);
    tcall_tell_call_(call, TCALL_EVENT_END, cx->result.output, 0);
    return TCALL_OK;
}

/* Returns why the arguments were refused, or TCALL_OK. */
static int tcall_checked_(tcall_ctx *cx)
{
    return cx->call->error;
}

/* Runs the tool, inside of the hooks around it. */
static int tcall_make_(tcall_ctx *cx)
{
    if (cx->hooks)
        return cx->hooks->around(cx);
    cx->attempt = 1;
    return tcall_run_(cx);
}

/* What the library does itself, after the hooks of a stage: where it is due. */
static const struct tcall_own_ {
    uint8_t stage, due;
    int (*run)(tcall_ctx *cx);
} tcall_own_[] = {
    {TCALL_WILL_AUTHORIZE, TCALL_GOING_, tcall_authorize_},
    {TCALL_WILL_CHECK_CONSENT, TCALL_GOING_, tcall_consent_},
    {TCALL_WILL_VALIDATE_INPUT, TCALL_GOING_, tcall_checked_},
    {TCALL_AROUND_EXECUTE, TCALL_GOING_, tcall_make_},
    {TCALL_WILL_VALIDATE_OUTPUT, TCALL_WELL_, tcall_check_output_},
    {TCALL_ON_ERROR, TCALL_ALWAYS_, tcall_settle_},
    {TCALL_WILL_FINALIZE, TCALL_ALWAYS_, tcall_finish_}};

/* Walks through the stages from the one at hand on. Returns TCALL_OK at the end
 * of all, or why to wait. */
static int tcall_walk_(tcall_ctx *cx)
{
    const struct tcall_own_ *own = tcall_own_;
    for (; own < tcall_own_ + TCALL_ARRAY_LEN(tcall_own_); own++) {
        int r = TCALL_OK;
        if (own->stage < cx->stage)
            continue;
        if (cx->hooks)
            r = cx->hooks->pass(cx, own->stage);
        if (r == TCALL_OK && own->due & cx->state) {
            cx->stage = own->stage;
            r = own->run(cx);
        }
        if (tcall_waits_(r))
            return r;
        tcall_fail_(cx, r);
        cx->stage = (uint8_t)(own->stage + 1);
    }
    return TCALL_OK;
}

/* Completes what the call waits for. */
static void tcall_await_(tcall_ctx *cx, int r)
{
    cx->asks = r == TCALL_E_APPROVAL;
    if (r == TCALL_E_AGAIN && !cx->wait.count &&
        cx->wait.ms == TCALL_WAIT_NEVER) /* nothing was said */
        tcall_wait_ms(&cx->wait, TCALL_WAIT_POLL_MS);
    if (cx->has_deadline)
        tcall_wait_ms(&cx->wait, (uint32_t)tcall_time_left(cx));
}

/* Writes what lay in the block while a hook waited. There may be less room than
 * before: a failure that was told already stays JSON. */
static void tcall_output_again_(tcall_ctx *cx)
{
    int r;
    cx->output_held = false;
    tcall_write_bytes(cx->out, cx->output.ptr, cx->output.len);
    r = tcall_output_cut_(cx);
    if (!cx->settled)
        tcall_fail_(cx, r);
    else if (cx->wanted && cx->result.error < 0)
        tcall_write_failure_(cx);
    if (cx->settled)
        cx->result.output = tcall_output(cx);
}

/* Begins a call, or goes on with it. */
static int tcall_invoke_go_(tcall *tc, tcall_call *call, tcall_writer *out)
{
    tcall_writer start = *out; /* what a failure goes back to */
    tcall_ctx *cx = &call->cx;
    int r;
    cx->out = out;
    cx->out_start = &start;
    if (!cx->state)
        tcall_begin_(tc, call);
    if (cx->output_held)
        tcall_output_again_(cx);
    else if (cx->state == TCALL_GOING_ && cx->run_step != TCALL_RUN_POLLED_)
        tcall_fail_(cx, tcall_must_end_(cx));
    r = tcall_walk_(cx);
    if (r == TCALL_OK)
        return call->error;
    tcall_await_(cx, r);
    tcall_output_clear_(cx);
    return r;
}

int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out)
{
    tcall_ctx *cx = &call->cx;
    const tcall *outer;
    if (cx->state == TCALL_DONE_ || cx->at_work)
        return TCALL_E_USAGE;
    cx->tc = tc;
    cx->wait.ms = TCALL_WAIT_NEVER;
    cx->wait.count = 0;
    if (call->repairing && tcall_must_end_(cx) == TCALL_OK &&
        tcall_hydrate(tc, call) == TCALL_E_AGAIN) {
        tcall_await_(cx, TCALL_E_AGAIN);
        return TCALL_E_AGAIN;
    }
    outer = tcall_work_begin_(tc, call);
    return tcall_work_end_(call, outer, tcall_invoke_go_(tc, call, out));
}

/* Hydrates a call and goes on with it until it has ended. One that still waits
 * when nobody can wait any longer ends then, and releases what it holds. */
static int tcall_see_through_(tcall *tc, tcall_call *call, tcall_writer *out)
{
    const tcall_desc *d = &tc->desc;
    int r;
    tcall_hydrate(tc, call);
    r = tcall_invoke(tc, call, out);
    if (r == TCALL_E_AGAIN)
        tcall_deadline(&call->cx, d->max_wait_ms ? d->max_wait_ms
                                                 : (uint32_t)TCALL_EXECUTE_MS);
    while (r == TCALL_E_AGAIN && d->wait && d->now_ms) {
        tcall_wait wait = call->cx.wait;
        tcall_wait_ms(&wait, TCALL_WAIT_MOST_MS);
        if (wait.ms)
            d->wait(d->user, &wait);
        r = tcall_invoke(tc, call, out);
    }
    if (!tcall_waits_(r))
        return r;
    tcall_cancel(call, r == TCALL_E_AGAIN ? TCALL_E_CANCELLED : r);
    return tcall_invoke(tc, call, out);
}

int tcall_execute(tcall *tc, tcall_str name, tcall_str arguments,
                  tcall_writer *out, tcall_call *call)
{
    size_t high = tc->block.high, mark = 0;
    tcall_call *own = NULL;
    int r = tcall_usable_(tc);
    if (r < 0)
        return r;
    if (!call)
        mark = tcall_block_mark_(&tc->block);
    if (mark)
        call = own = (tcall_call *)tcall_block_take_(&tc->block, sizeof *own);
    if (!call) {
        tcall_block_release_(&tc->block, mark);
        tcall_foresee_(tc, high + sizeof *own, arguments.len);
        return TCALL_E_MEMORY;
    }
    memset(call, 0, sizeof *call);
    call->name = name;
    call->arguments = arguments;
    r = tcall_see_through_(tc, call, out);
    if (own) {
        tcall_let_go_(tc, own);
        tcall_block_release_(&tc->block, mark);
    }
    return r;
}
