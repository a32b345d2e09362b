/* 05_approve_later.c - the person who decides is not here: the call waits in a
 * ledger until a verdict comes, from a web page, a button or the next day.
 *     cc -I. examples/05_approve_later.c -o 05_approve_later */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include <stdio.h>

static int erase_log(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    puts("The log is erased.");
    return tcall_write_text(out, "done");
}

static const tcall_tool tools[] = {
    {.name = "erase_log",
     .description = "Erase the log, with all that was measured.",
     .parameters = TCALL_NO_PARAMETERS,
     .run = erase_log,
     .permissions = TCALL_WRITE,
     .confirm = true}};

/* The rows hold no pointers: kept in flash, they are good after a restart. */
static tcall_ledger_row rows[8];
static tcall_ledger ledger = {rows, TCALL_ARRAY_LEN(rows)};
static const tcall_hook hooks[] = {TCALL_LEDGER(&ledger)};

int main(void)
{
    static char block[8 * 1024], result[256];
    static tcall tc;
    tcall_call call = {.id = tcall_str_of("call_1"),
                       .name = tcall_str_of("erase_log"),
                       .arguments = tcall_str_of("{}")};
    tcall_writer out;
    int error;
    tcall_init(&tc, &(tcall_desc){block, sizeof block, tools, 1, &tcall_lenient,
                                  &tcall_report, .allow = TCALL_WRITE,
                                  .hooks = hooks,
                                  .hook_count = TCALL_ARRAY_LEN(hooks),
                                  .stages = &tcall_stages});
    tcall_writer_init(&out, result, sizeof result);
    tcall_hydrate(&tc, &call);
    error = tcall_invoke(&tc, &call, &out);
    printf("first: %s\n", tcall_error_text(error)); /* it waits */
    tcall_ledger_decide(&ledger, tcall_call_key(&tc, &call),
                        tcall_call_what(&tc, &call), TCALL_VERDICT_ALLOW);
    error = tcall_invoke(&tc, &call, &out);
    printf("then: %s, %.*s\n", tcall_error_text(error), (int)out.len, result);
    tcall_release(&tc, &call);
    return error != 0;
}
