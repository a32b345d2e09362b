/* approval.c - see approval.h */
#include "examples/agent/approval.h"

#include "port/port.h"

#include "examples/agent/diff.h"

static bool is_always(const approval *a, const tcall_tool *tool)
{
    size_t i = 0;

    while (i < a->always_count && a->always[i] != tool)
        i++;
    return i < a->always_count;
}

/* What the person says. The clock of the tools stands still meanwhile. */
static char answer(approval *a, const tcall_call *call)
{
    uint32_t asked = tport_posix_now_ms();
    char said;

    screen_approval(a->screen, call);
    said = typing_choice(a->typed, " [y, n, a for always; default n] ", "yan");
    a->thought_ms += tport_posix_now_ms() - asked;
    return said;
}

tcall_verdict approval_ask(approval *a, const tcall_call *call)
{
    char said;

    if (a->yes || is_always(a, call->tool) ||
        diff_is_none(a->screen->root, call))
        return TCALL_VERDICT_ALLOW;
    if (!a->person) {
        screen_say(a->screen, "approve?",
                   tcall_str_of("nobody is here to ask (--yes approves every "
                                "call)"));
        return TCALL_VERDICT_DENY;
    }
    said = answer(a, call);
    if (said == 'a' && a->always_count < TCALL_ARRAY_LEN(a->always))
        a->always[a->always_count++] = call->tool;
    return said == 'y' || said == 'a' ? TCALL_VERDICT_ALLOW
                                      : TCALL_VERDICT_DENY;
}
