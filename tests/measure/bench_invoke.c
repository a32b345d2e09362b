/*
 * bench_invoke.c - what the stages of a call cost
 *
 *     bench_invoke direct | stages | hooks
 *
 * The same C function, called directly, by tcall_invoke without hooks, and
 * with one hook at each stage that does nothing.
 */
#include "toolcall.h"

#include <stdio.h>
#include <string.h>

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    return tcall_write_text(out, "done");
}

static int nothing(tcall_ctx *cx, void *user)
{
    (void)user;
    return cx->hook->stage == TCALL_AROUND_EXECUTE ? tcall_next(cx) : TCALL_OK;
}

static const tcall_tool tools[] = {{
    .name = "run",
    .parameters = TCALL_SCHEMA_TEXT("{\"type\":\"object\"}"),
    .run = run,
    .permissions = TCALL_READ,
}};

static tcall tc;
static tcall_call call;
static tcall_writer out;

int region(bool direct);
__attribute__((noinline)) int region(bool direct)
{
    return direct ? tools[0].run(&call.cx, call.asked->args, &out)
                  : tcall_invoke(&tc, &call, &out);
}

int main(int argc, char **argv)
{
    static char block[4096], result[64];
    static tcall_hook hooks[TCALL_STAGE_COUNT];
    tcall_desc desc = {.lenient = &tcall_lenient,
                       .block = block,
                       .block_size = sizeof block,
                       .tools = tools,
                       .tool_count = TCALL_ARRAY_LEN(tools),
                       .allow = TCALL_READ};
    int i;

    if (argc != 2)
        return 2;
    for (i = 0; i < TCALL_STAGE_COUNT; i++) {
        hooks[i].stage = (uint8_t)i;
        hooks[i].run = nothing;
    }
    if (strcmp(argv[1], "hooks") == 0) {
        desc.hooks = hooks;
        desc.hook_count = TCALL_ARRAY_LEN(hooks);
        desc.stages = &tcall_stages;
    }
    if (tcall_init(&tc, &desc) < 0)
        return 1;
    call.name = tcall_str_of("run");
    call.arguments = tcall_str_of("{}");
    tcall_writer_init(&out, result, sizeof result);
    if (tcall_hydrate(&tc, &call) < 0 ||
        region(strcmp(argv[1], "direct") == 0) < 0)
        return 1;
    printf("%.*s\n", (int)out.fill, result);
    return 0;
}
