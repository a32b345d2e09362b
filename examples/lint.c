/*
 * lint.c - what is wrong with definitions of tools, and what they cost
 *
 *     lint              the tables of tools/, as an example of a table in C
 *     lint FILE.json    {"tools": [...]} or [...], as toolcall.h, OpenAI,
 *                       Anthropic, Gemini, Ollama or MCP write tools
 *
 * Prints a line for each finding, then bytes and about how many tokens the
 * tools take of a request. Ends with 1 when something is wrong, with 2 when
 * the file cannot be read.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "tools/files.h"
#include "tools/lint.h"
#include "tools/todo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 4 << 20, TOOLS = 1024 };

static char text[TEXT];    /* the file, decoded in place */
static char schemas[TEXT]; /* each schema as a text again */
static tcall_tool tools[TOOLS];
static size_t tool_count;

static void print(void *user, const ttool_finding *f)
{
    (void)user;
    printf("%s: %s%s%s%s: %.*s%s%.*s\n", f->tool->name ? f->tool->name : "?",
           f->note ? "note: " : "", f->code, f->provider ? " for " : "",
           f->provider ? f->provider : "", (int)f->pointer.len, f->pointer.ptr,
           f->pointer.len ? " " : "", (int)f->text.len, f->text.ptr);
}

static int lint(const tcall_tool *table, size_t count)
{
    static const tcall_provider *const all[] = {&tcall_openai, &tcall_responses,
                                                &tcall_anthropic, &tcall_ollama,
                                                &tcall_gemini};
    int faults = ttool_lint(table, count, print, NULL);
    size_t i;

    for (i = 0; i < TCALL_ARRAY_LEN(all); i++) {
        size_t bytes = ttool_lint_bytes(all[i], table, count);
        printf("%-10s %8lu bytes, about %lu tokens\n", all[i]->name,
               (unsigned long)bytes, (unsigned long)ttool_lint_tokens(bytes));
    }
    printf("%lu tools, %d findings\n", (unsigned long)count, faults);
    return faults > 0;
}

/* The first of these members that is there. */
static tcall_json any_of(tcall_json v, const char *const *keys)
{
    tcall_json found = tcall_json_get(v, *keys);

    while (!found.at && *++keys)
        found = tcall_json_get(v, *keys);
    return found;
}

/* One definition, in whatever shape. False: there is no room for it. */
static bool add(tcall_json v, tcall_writer *w)
{
    static const char *const keys[] = {"parameters", "input_schema",
                                       "inputSchema", "parametersJsonSchema",
                                       NULL};
    tcall_json inner = tcall_json_get(v, "function"), schema;
    tcall_tool *t = &tools[tool_count];

    v = inner.at ? inner : v;
    schema = any_of(v, keys);
    if (tool_count == TOOLS)
        return false;
    t->name = tcall_json_string(tcall_json_get(v, "name"), NULL);
    t->description = tcall_json_string(tcall_json_get(v, "description"), NULL);
    t->strict = tcall_json_bool(tcall_json_get(v, "strict"), false);
    if (schema.at) {
        t->parameters = tcall_schema_text_of(schemas + w->fill);
        w->last = 0; /* a value of its own */
        tcall_write_json(w, schema);
        tcall_write_bytes(w, "", 1);
    }
    tool_count++;
    return !w->error;
}

/* All definitions of a list, lists of Gemini in it included. */
static bool add_all(tcall_json list, tcall_writer *w)
{
    static const char *const keys[] = {"functionDeclarations",
                                       "function_declarations", NULL};
    tcall_json v, inner;

    for (v = tcall_json_first(list); v.at; v = tcall_json_next(v)) {
        tcall_json group = any_of(v, keys);
        if (!group.at && !add(v, w))
            return false;
        inner = tcall_json_first(group);
        for (; inner.at; inner = tcall_json_next(inner))
            if (!add(inner, w))
                return false;
    }
    return true;
}

static int lint_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t len = f ? fread(text, 1, TEXT - 1, f) : 0, at = 0;
    tcall_json root, list;
    tcall_writer w;
    int r;

    if (!f) {
        perror(path);
        return 2;
    }
    fclose(f);
    r = tcall_json_parse(&root, text, len, &at);
    if (r < 0) {
        fprintf(stderr, "%s: %s at %lu\n", path, tcall_error_code(r),
                (unsigned long)at);
        return 2;
    }
    list = tcall_json_get(root, "result"); /* of MCP's tools/list */
    root = list.at ? list : root;
    list = tcall_json_get(root, "tools");
    list = list.at ? list : root;
    if (tcall_json_type(list) != TCALL_ARRAY) {
        fprintf(stderr, "%s: holds no list of tools\n", path);
        return 2;
    }
    tcall_writer_init(&w, schemas, sizeof schemas);
    if (!add_all(list, &w)) {
        fprintf(stderr, "%s: too many tools\n", path);
        return 2;
    }
    return lint(tools, tool_count);
}

static const char usage[] =
    "lint [FILE.json]\n"
    "Says what is wrong with the tools that FILE defines, and what they cost:\n"
    "{\"tools\": [...]} or [...], as toolcall.h, OpenAI, Anthropic, Gemini,\n"
    "Ollama or MCP write tools. Without FILE: with the tables of tools/. Ends\n"
    "with 1 when something is wrong, with 2 when FILE cannot be read.\n";

int main(int argc, char **argv)
{
    size_t i;

    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) == EOF;
    if (argc == 2)
        return lint_file(argv[1]);
    if (argc > 2) {
        fputs(usage, stderr);
        return 2;
    }
    for (i = 0; i < TTOOL_FILE_TOOLS; i++)
        tools[tool_count++] = ttool_file_tools[i];
    for (i = 0; i < TTOOL_TODO_TOOLS; i++)
        tools[tool_count++] = ttool_todo_tools[i];
    return lint(tools, tool_count);
}
