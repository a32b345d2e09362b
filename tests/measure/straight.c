/* The library with one function more: a call is invoked in a straight line,
 * without stages. The checks are those of tcall_invoke where there are no
 * hooks, as are the words of a failure, the cut of long output, and events.
 * It cannot wait, be cancelled or have a deadline. What tcall_invoke takes more
 * flash than this is what a program pays for hooks that it does not use. */
#include "tests/impl.c"

int straight_invoke(tcall *tc, tcall_call *call, tcall_writer *out);

int straight_invoke(tcall *tc, tcall_call *call, tcall_writer *out)
{
    tcall_writer clean = *out;
    tcall_ctx *cx = &call->cx;
    int r = call->error;
    cx->tc = tc;
    cx->call = call;
    cx->session = call->session ? call->session : tc->desc.session;
    cx->started = tcall_now_(tc);
    cx->out = out;
    cx->clean = &clean;
    tcall_tell_call_(call, TCALL_EVENT_START, tcall_slice_(NULL, 0));
    if (r == TCALL_OK && !call->tool)
        r = TCALL_E_USAGE;
    if (r == TCALL_OK && !tcall_enabled(call->tool, tc->desc.allow))
        r = TCALL_E_DENIED;
    if (r == TCALL_OK)
        r = tcall_consent_(cx);
    if (r == TCALL_OK) {
        r = call->tool->run(cx, call->args, out);
        call->run_ms = tcall_now_(tc) - cx->started;
        if (r < 0)
            cx->reason = tcall_output(cx);
        else
            r = tcall_write_cut_(cx);
    }
    if (r == TCALL_OK && call->tool->output)
        r = tcall_check_output_(cx);
    cx->error = r;
    cx->finished = tcall_now_(tc);
    if (r < 0)
        tcall_write_failure_(cx);
    call->error = cx->result.error = cx->error;
    cx->result.output = tcall_output(cx);
    if (call->error < 0)
        tcall_tell_call_(call, TCALL_EVENT_ERROR, cx->reason);
    tcall_tell_call_(call, TCALL_EVENT_END, cx->result.output);
    return call->error;
}
