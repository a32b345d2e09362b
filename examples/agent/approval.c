/* approval.c - see approval.h */
#include "examples/agent/approval.h"

static bool is_always(const approval *a, const tcall_tool *tool)
{
    size_t i = 0;

    while (i < a->always_count && a->always[i] != tool)
        i++;
    return i < a->always_count;
}

static tcall_verdict without_person(approval *a, const tcall_call *call)
{
    screen_begin_line(a->screen, "denied");
    screen_print(a->screen, call->name);
    printf(": nobody is here to ask (--yes approves every call)");
    screen_end_line(a->screen);
    return TCALL_VERDICT_DENY;
}

tcall_verdict approval_ask(approval *a, const tcall_call *call)
{
    char said;

    if (a->yes || is_always(a, call->tool))
        return TCALL_VERDICT_ALLOW;
    if (!a->person)
        return without_person(a, call);
    screen_begin_line(a->screen, "approve?");
    screen_print(a->screen, call->name);
    putchar(' ');
    screen_print_arguments(a->screen, call);
    said = typing_choice(a->typed, " [y, n, a for always; default n] ", "yan");
    if (said == 'a' && a->always_count < TCALL_ARRAY_LEN(a->always))
        a->always[a->always_count++] = call->tool;
    return said == 'y' || said == 'a' ? TCALL_VERDICT_ALLOW
                                      : TCALL_VERDICT_DENY;
}
