/* 04_approve.c - a person sees what would run and says y; all else means no.
 *     cc -I. examples/04_approve.c -o 04_approve && ./04_approve */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include <stdio.h>
#include <string.h>

#define VALVE(ROW, me)                                             \
    ROW(me, required, integer(1, 4), valve, "Number of the valve") \
    ROW(me, required, boolean, open, "Whether it is to be open")
TCALL_SHAPE(valve, VALVE)

static int set_valve(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const struct valve *valve = cx->bound;
    (void)args;
    printf("Valve %d: %s.\n", (int)valve->valve, valve->open ? "open" : "shut");
    return tcall_write_text(out, "done");
}

static const tcall_tool tools[] = {
    {.name = "set_valve",
     .description = "Open or shut one of the four garden valves.",
     .parameters = TCALL_STRUCT(valve),
     .run = set_valve,
     .permissions = TCALL_ACTUATE,
     .confirm = true}}; /* ask before each run */

/* Asked only for calls that can run: these very arguments were checked. */
static tcall_verdict approve(void *user, const tcall_call *call)
{
    char shown[256], line[8] = "";
    tcall_writer writer;
    (void)user;
    tcall_writer_init(&writer, shown, sizeof shown);
    if (tcall_write_json(&writer, call->asked->args) < 0)
        return TCALL_VERDICT_DENY; /* too long to be shown as a whole */
    printf("%s %.*s (y)? ", call->tool->name, (int)writer.len, shown);
    fflush(stdout);
    return fgets(line, sizeof line, stdin) && strcmp(line, "y\n") == 0
               ? TCALL_VERDICT_ALLOW
               : TCALL_VERDICT_DENY;
}

int main(void)
{
    static char block[8 * 1024], result[256];
    static tcall tc;
    tcall_writer out;
    tcall_init(&tc, &(tcall_desc){block, sizeof block, tools, 1, &tcall_lenient,
                                  &tcall_report, .allow = TCALL_ACTUATE,
                                  .approve = approve});
    tcall_writer_init(&out, result, sizeof result);
    tcall_execute(&tc, tcall_str_of("set_valve"),
                  tcall_str_of("{\"valve\": 3, \"open\": true}"), &out, NULL);
    printf("%.*s\n", (int)out.len, result); /* what the model gets to read */
    return 0;
}
