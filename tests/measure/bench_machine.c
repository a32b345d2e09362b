/*
 * bench_machine.c - one call's arguments, parsed and checked through a registry
 *
 *     bench_machine SCHEMA.json ARGUMENTS.json [once]
 *
 * Prints the call's error, where its text lies and how long it is, and the most
 * memory that the call took beyond the registry and that text. `once` does not
 * warm up. On a Cortex-M4 it prints error and instructions of each of the
 * documents that machine.py has put into machine_texts.h.
 */
#include "toolcall.h"

#include <stdio.h>
#include <string.h>

#ifdef __arm__
#include "machine_texts.h" /* documents[][2]: schema and arguments */
#define SIZE (1 << 16)
#else
#define SIZE (1 << 20)
#endif

static char schema[SIZE], text[SIZE], block[16 * SIZE];
static tcall tc;

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    return tcall_write_text(out, "ok");
}

static int hydrate(size_t len)
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

/* What is counted. */
int region(size_t len);
__attribute__((noinline)) int region(size_t len)
{
    return hydrate(len);
}

/* Makes a registry with one tool that has the schema. */
static int start(void)
{
    static tcall_tool tool = {.name = "t",
                              .description = "A tool.",
                              .parameters = TCALL_SCHEMA_TEXT(schema),
                              .run = run,
                              .permissions = TCALL_READ};
    tcall_desc desc = {.lenient = &tcall_lenient,
                       .block = block,
                       .block_size = sizeof block,
                       .tools = &tool,
                       .tool_count = 1,
                       .allow = TCALL_READ};
    return tcall_init(&tc, &desc);
}

#ifdef __arm__
/* See flow.h. */
#define TIMER ((volatile uint32_t *)0x40000000)

int main(void)
{
    size_t i;
    TIMER[2] = TIMER[1] = 0xFFFFFFFFu;
    TIMER[0] = 1;
    for (i = 0; i < sizeof documents / sizeof *documents; i++) {
        uint32_t before;
        int k, error;
        strcpy(schema, documents[i][0]);
        strcpy(text, documents[i][1]);
        error = start();
        before = TIMER[1];
        for (k = 0; k < 20; k++)
            error |= region(strlen(documents[i][1]));
        printf("%d %lu\n", error, (unsigned long)(before - TIMER[1]) * 2);
    }
    return 0;
}
#else
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
    size_t len, before;
    int error;
    if (argc < 3)
        return 2;
    load(argv[1], schema, sizeof schema);
    len = load(argv[2], text, sizeof text);
    error = start();
    if (error == TCALL_OK && argc == 3)
        hydrate(len);
    before = tc.block.peak = tc.block.low + tc.block.high;
    if (error == TCALL_OK)
        error = region(len);
    printf("%d %lu %lu %lu\n", error, (unsigned long)(uintptr_t)text,
           (unsigned long)len,
           (unsigned long)(tc.block.peak - before + sizeof(tcall_call)));
    return 0;
}
#endif
