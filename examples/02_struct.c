/* 02_struct.c - arguments as a C struct: one list makes the struct, its check,
 * and the JSON Schema that a model is sent. No model is needed to try it:
 *     cc -I. examples/02_struct.c -o 02_struct
 *     ./02_struct '{"channel": 9, "percent": 50}' */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include <stdio.h>

/* Required or optional, kind with its bounds, member, what the model is told.
 */
#define FADE(ROW, me)                                                 \
    ROW(me, required, integer(0, 7), channel, "Number of the lamp")   \
    ROW(me, required, integer(0, 100), percent, "How bright it gets") \
    ROW(me, defaults(500), integer(0, 5000), ms, "How long it takes") \
    ROW(me, optional, text(1, 20), label, "Who asked for it")
TCALL_SHAPE(fade, FADE)

static int run_fade(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const struct fade *fade = cx->bound;
    (void)args;
    printf("Lamp %d goes to %d %% in %d ms.\n", (int)fade->channel,
           (int)fade->percent, (int)fade->ms);
    return tcall_write_text(out, "done");
}

static const tcall_tool tools[] = {{
    .name = "fade",
    .description = "Change how bright a lamp of this room is.",
    .parameters = TCALL_STRUCT(fade),
    .run = run_fade,
    .permissions = TCALL_ACTUATE,
}};

int main(int argc, char **argv)
{
    static char block[8 * 1024], result[512];
    static tcall tc;
    tcall_writer out;
    const tcall_desc registry = {
        block,         sizeof block,          tools, 1, &tcall_lenient,
        &tcall_report, .allow = TCALL_ACTUATE};
    const char *arguments = argc > 1 ? argv[1] : "{'channel': 2, percent: 50,}";
    int error = tcall_init(&tc, &registry);

    tcall_writer_init(&out, result, sizeof result);
    error = error ? error
                  : tcall_execute(&tc, tcall_str_of("fade"),
                                  tcall_str_of(arguments), &out, NULL);
    printf("%.*s\n", (int)out.len, result); /* what the model gets to read */
    return error != 0;
}
