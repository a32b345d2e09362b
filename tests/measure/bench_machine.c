/*
 * bench_machine.c - one call's arguments, parsed and checked through a registry
 *
 *     bench_machine SCHEMA.json ARGUMENTS.json [once]
 *
 * Prints the call's error, where its text lies and how long it is, and the most
 * memory that the call took beyond the registry and that text. `once` does not
 * warm up. See machine.py.
 */
#include "toolcall.h"

#include <stdio.h>
#include <string.h>

static char schema[1 << 20], text[1 << 20], block[32 << 20];
static tcall tc;

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    return tcall_write_text(out, "ok");
}

/* What is counted. */
int region(size_t len);
__attribute__((noinline)) int region(size_t len)
{
    tcall_call call;
    int error;
    memset(&call, 0, sizeof call);
    call.name = tcall_str_of("t");
    call.arguments = (tcall_str){text, len};
    error = tcall_hydrate(&tc, &call);
    tcall_release(&tc, &call);
    return error;
}

static size_t load(const char *path, char *to, size_t cap)
{
    FILE *file = fopen(path, "rb");
    size_t len = file ? fread(to, 1, cap - 1, file) : 0;
    if (file)
        fclose(file);
    to[len] = '\0';
    return len;
}

int main(int argc, char **argv)
{
    tcall_tool tool = {.name = "t",
                       .description = "A tool.",
                       .parameters = TCALL_SCHEMA_TEXT(schema),
                       .run = run,
                       .permissions = TCALL_READ};
    tcall_desc desc = {.block = block,
                       .block_size = sizeof block,
                       .tools = &tool,
                       .tool_count = 1,
                       .allow = TCALL_READ};
    size_t len, before;
    int error;
    if (argc < 3)
        return 2;
    load(argv[1], schema, sizeof schema);
    len = load(argv[2], text, sizeof text);
    error = tcall_init(&tc, &desc);
    if (error == TCALL_OK && argc == 3)
        region(len);
    before = tc.block.peak = tc.block.low + tc.block.high;
    if (error == TCALL_OK)
        error = region(len);
    printf("%d %lu %lu %lu\n", error, (unsigned long)(uintptr_t)text,
           (unsigned long)len,
           (unsigned long)(tc.block.peak - before + sizeof(tcall_call)));
    return 0;
}
