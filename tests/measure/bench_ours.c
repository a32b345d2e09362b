/*
 * bench_ours.c - from an answer to the message with the result, by toolcall.h
 *
 *     bench_ours ANSWER.json TOOL SCHEMA.json
 *
 * SCHEMA.json are the parameters of TOOL. See bench_cjson.c and bench.py.
 */
#include "toolcall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tells which member of the arguments is the result; NULL: none. */
static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const char *key = (const char *)cx->user;

    if (!key)
        return tcall_write_text(out, "done");
    return tcall_write_text(out,
                            tcall_json_string(tcall_json_get(args, key), "?"));
}

static char city[] = "city", title[] = "title", id[] = "invoice_id";
static tcall_tool tools[] = {
    {.name = "get_weather", .user = city},
    {.name = "create_reminder", .user = title},
    {.name = "create_invoice", .user = id},
    {.name = "bulk"},
};

static tcall tc;
static char block[64 << 20];
static char answer[8 << 20], schema[1 << 20];
static char message[4096];

/* The length of the message, or an error. */
static int flow(size_t len)
{
    static tcall_reader reader;
    tcall_call call;
    tcall_chat chat;
    tcall_item item;
    tcall_writer w;
    char result[512];
    size_t low = tc.block.low, at = 0;
    int r;

    tcall_chat_init(&chat, &tc.block);
    tcall_reader_init(&reader, &tcall_openai, &chat, NULL, NULL);
    tcall_reader_feed(&reader, answer, len);
    r = tcall_reader_end(&reader);
    if (r < 0)
        return r;
    while (tcall_chat_next(&chat, &at, &item))
        if (item.kind == TCALL_ITEM_CALL)
            break;
    if (item.kind != TCALL_ITEM_CALL)
        return TCALL_E_UNKNOWN;

    memset(&call, 0, sizeof call);
    call.id = item.id;
    call.name = item.name;
    call.arguments = item.text;
    tcall_hydrate(&tc, &call);
    tcall_writer_init(&w, result, sizeof result);
    r = tcall_invoke(&tc, &call, &w);
    if (r == TCALL_OK) {
        tcall_str text = {result, w.fill};

        tcall_writer_init(&w, message, sizeof message - 1);
        tcall_write_open(&w, '{');
        tcall_write_key(&w, "role");
        tcall_write_string(&w, "tool");
        tcall_write_key(&w, "tool_call_id");
        tcall_write_str(&w, item.id);
        tcall_write_key(&w, "content");
        tcall_write_str(&w, text);
        r = tcall_write_close(&w, '}');
        message[w.fill] = '\0';
    } else {
        printf("%.*s\n", (int)w.fill, result);
    }
    tcall_release(&tc, &call);
    tc.block.low = low;
    return r;
}

/* What is counted: one run of the flow, after one that warms up. */
int region(size_t len);
__attribute__((noinline)) int region(size_t len)
{
    return flow(len);
}

static size_t load(const char *path, char *to, size_t cap)
{
    FILE *f = fopen(path, "rb");
    size_t len = f ? fread(to, 1, cap - 1, f) : 0;

    if (f)
        fclose(f);
    to[len] = '\0';
    return len;
}

int main(int argc, char **argv)
{
    static char faults[4096];
    tcall_desc desc = {.lenient = &tcall_lenient,
                       .block = block,
                       .block_size = sizeof block,
                       .tools = tools,
                       .tool_count = TCALL_ARRAY_LEN(tools),
                       .allow = TCALL_READ};
    tcall_writer report;
    size_t len, i;
    int r;

    if (argc != 4)
        return 2;
    len = load(argv[1], answer, sizeof answer);
    load(argv[3], schema, sizeof schema);
    for (i = 0; i < TCALL_ARRAY_LEN(tools); i++) {
        tools[i].description = "A tool.";
        tools[i].permissions = TCALL_READ;
        tools[i].run = run;
        tools[i].parameters =
            tcall_schema_text_of(strcmp(tools[i].name, argv[2]) == 0
                                     ? schema
                                     : TCALL_TEXT({"type" : "object"}));
    }
    tcall_writer_init(&report, faults, sizeof faults);
    desc.report = &tcall_report;
    desc.faults = &report;
    r = tcall_init(&tc, &desc);
    if (r == TCALL_OK)
        r = flow(len);
    if (r == TCALL_OK)
        r = region(len);
    printf("%s\n", r == TCALL_OK ? message : tcall_error_text(r));
    if (report.fill)
        printf("%.*s\n", (int)report.fill, faults);
    return r == TCALL_OK ? 0 : 1;
}
