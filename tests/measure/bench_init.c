/* bench_init N: tcall_init with N tools, for bench.py. */
#include "toolcall.h"

#include <stdio.h>
#include <stdlib.h>

static tcall_tool tools[10000];
static char names[10000][12];
static char block[64 << 20];

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    return tcall_write_text(out, "done");
}

/* What is counted. */
int region(tcall *tc, const tcall_desc *desc);
__attribute__((noinline)) int region(tcall *tc, const tcall_desc *desc)
{
    return tcall_init(tc, desc);
}

int main(int argc, char **argv)
{
    static tcall tc;
    tcall_desc desc = {.lenient = &tcall_lenient,
                       .block = block,
                       .block_size = sizeof block,
                       .tools = tools,
                       .allow = TCALL_READ};
    size_t i;
    int r;
    desc.tool_count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (desc.tool_count > TCALL_ARRAY_LEN(tools))
        return 2;
    for (i = 0; i < desc.tool_count; i++) {
        snprintf(names[i], sizeof names[i], "tool_%05u", (unsigned)i);
        tools[i].name = names[i];
        tools[i].description = "A tool.";
        tools[i].parameters =
            tcall_schema_text_of(TCALL_TEXT({"type" : "object"}));
        tools[i].permissions = TCALL_READ;
        tools[i].run = run;
    }
    r = region(&tc, &desc);
    printf("%s\n", tcall_error_text(r));
    return r == TCALL_OK ? 0 : 1;
}
