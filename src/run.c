#pragma once
#include "call.h"
#include "result.c"

/* ==========================================================================
 * >>run: permission, approval, the tool itself
 *
 * What the library does itself at the stages of a call, with or without hooks.
 */

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

#ifndef TOOLCALL_NO_EVENTS

/* Writes the same for the developer: which tool it is, and the remedy. */
TCALL_SHARED_ void tcall_write_remedy_(tcall_writer *out, const tcall_ctx *cx)
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

#endif

/* Checks that the registry gives the tool to its user. The reason is kept:
 * audit and events show it, too. */
TCALL_NOINLINE_ TCALL_SHARED_ int tcall_authorize_(tcall_ctx *cx)
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
TCALL_SHARED_ void tcall_tell_verdict_(tcall_ctx *cx, tcall_verdict verdict)
{
    tcall_event event;
    bool asked = cx->approval_asked;
    cx->approval_asked = verdict == TCALL_VERDICT_LATER;
    if (asked == cx->approval_asked)
        return;
    memset(&event, 0, sizeof event);
    event.call = cx->call;
    event.verdict = (int)verdict;
    tcall_tell_(cx->tc, &event,
                cx->approval_asked ? TCALL_EVENT_APPROVAL
                                   : TCALL_EVENT_VERDICT);
}

/* True when the call needs approval: the tool or its author says so, what runs
 * is the work of a repair, or nobody has checked the arguments. */
TCALL_SHARED_ bool tcall_needs_approval_(const tcall_call *call)
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

/* Asks desc.approve where it has to be asked. */
TCALL_SHARED_ int tcall_consent_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    const tcall_desc *d = &cx->tc->desc;
    tcall_verdict verdict = TCALL_VERDICT_DENY;
    if (call->error < 0 ||
        (!tcall_needs_approval_(call) && !cx->approval_asked))
        return TCALL_OK;
    if (!call->approved) {
        tcall_tell_verdict_(cx, TCALL_VERDICT_LATER);
        if (d->approve)
            verdict = d->approve(d->user, call);
        if (verdict == TCALL_VERDICT_LATER)
            return TCALL_E_APPROVAL;
        call->approved = verdict == TCALL_VERDICT_ALLOW;
    }
    tcall_tell_verdict_(cx, call->approved ? TCALL_VERDICT_ALLOW
                                           : TCALL_VERDICT_DENY);
    return call->approved ? TCALL_OK : TCALL_E_DENIED;
}

/* ---- the tool ---- */

/* Calls the tool's function once. */
static int tcall_run_call_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    const tcall_hook *around = cx->hook;
    tcall_json args = cx->injected.at ? cx->injected : call->args;
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
    if (cx->injected.at && cx->failure.reason.len)
        tcall_keep_reason_(cx, cx->failure.reason);
}

/* Runs the tool, or lets it go on. One that has to end is called a last time
 * only if it holds something, and what it then writes does not count. */
TCALL_SHARED_ int tcall_run_(tcall_ctx *cx)
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
    /* up to the end of the text that is shown */
    size_t text = (size_t)(machine->text - tcall_block_gap_(block));
    block->low += text + machine->is.size;
    tcall_hydrate_writer_(block, &why);
    tcall_write_text(&why, tcall_error_text(TCALL_E_OUTPUT));
    tcall_write_text(&why, ": ");
    tcall_say_fault_(&why, tcall_say_of_(cx->call->tool->output), machine->text,
                     &machine->faults[0], false);
    tcall_hydrate_keep_(block, why.buf, why.fill, &cx->failure.reason);
    block->low -= text + machine->is.size;
}

/* What this takes of the block is given back by its caller. */
TCALL_NOINLINE_ static int tcall_output_judge_(tcall_ctx *cx)
{
    tcall *tc = cx->tc;
    tcall_machine machine;
    tcall_machine_desc desc;
    int r;
    memset(&desc, 0, sizeof desc);
    r = tcall_hydrate_compile_(tc, &desc.target.node, cx->call->tool->output);
    if (r < 0)
        return r;
    desc.target.rows = cx->call->tool->output.reader->rows;
    r = tcall_arguments_read_(&tc->block, &machine, &desc, tcall_output(cx));
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

/* Checks the output against tool->output, if it has that. What a hook answered
 * in place of the tool is its own. */
TCALL_SHARED_ int tcall_check_output_(tcall_ctx *cx)
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
