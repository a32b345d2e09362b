/* commands.c - see commands.h */
#define _GNU_SOURCE
#include "examples/agent/commands.h"

#include "examples/agent/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void list_tools(session *s, const char *none)
{
    (void)none;
    for (size_t i = 0; i < s->tool_count; i++) {
        const char *about = s->tools[i].description;
        fprintf(stderr, "  %-20s %.*s\n", s->tools[i].name,
                (int)strcspn(about, ".\n"), about);
    }
}

static void set_model(session *s, const char *name)
{
    tcall_agent_desc d = s->desc;
    char *copy = *name ? strdup(name) : NULL;

    d.model = copy;
    if (copy && tcall_agent_use(&s->agent, &d) == TCALL_OK)
        s->desc = d; /* names that were given are kept to the end */
    else if (copy)
        fprintf(stderr, "%s cannot be used: %s.\n", name, s->agent.problem);
    fprintf(stderr, "The model is %s.\n", s->desc.model);
}

static void set_provider(session *s, const char *name)
{
    const char *problem = *name ? session_provider(s, name) : NULL;

    if (problem) {
        fprintf(stderr, "%s cannot be used: ", name);
        session_problem(s, problem);
        fputs(".\n", stderr);
    }
    fprintf(stderr, "The provider is %s.\n", s->desc.provider->name);
}

static void set_trace(session *s, const char *path)
{
    const char *problem = session_trace(s, path);

    if (problem)
        fprintf(stderr, "No trace is written to %s: %s.\n", path, problem);
    else if (*path)
        fprintf(stderr, "From now on a trace is written to %s.\n", path);
    else
        fputs("No trace is written.\n", stderr);
}

static void show_details(session *s, const char *none)
{
    (void)none;
    s->screen.verbose = !s->screen.verbose;
    fprintf(stderr, "From now on there is a line for each %s.\n",
            s->screen.verbose ? "step" : "call");
}

/* A saved conversation begins so; see tcall_agent_save. */
static const char mark[] = "tcall";

static void save(session *s, const char *path)
{
    tcall_str bytes = session_bytes(s);

    if (!*path)
        fputs("Give a name: /save FILE.\n", stderr);
    else if (bytes.ptr && file_save(path, mark, bytes))
        fprintf(stderr, "Saved in %s.\n", path);
    else
        fprintf(stderr, "Not saved: %s: %s.\n", path,
                errno == EEXIST ? "it is there, and no saved conversation"
                                : strerror(errno));
    free((char *)(uintptr_t)bytes.ptr);
}

/* Puts another conversation in the place of this one, or leaves this one. */
static int take_up(session *s, tcall_str bytes)
{
    tcall_str before = session_bytes(s);
    int r = before.ptr ? tcall_agent_load(&s->agent, bytes) : TCALL_E_MEMORY;
    size_t need = s->tc.block.need;

    if (r < 0 && r != TCALL_E_AGAIN && before.ptr)
        tcall_agent_load(&s->agent, before);
    s->tc.block.need = need;
    free((char *)(uintptr_t)before.ptr);
    return r;
}

/* Why a file is not loaded. */
static const char *no_conversation(int r, const char *bytes, size_t len)
{
    size_t size = sizeof mark - 1;

    if (r == TCALL_E_MEMORY)
        return "it needs more memory (start with --memory)";
    if (len >= size && memcmp(bytes, mark, size) == 0)
        return "it is damaged, or of another version";
    return "it is no saved conversation";
}

static void load(session *s, const char *path)
{
    FILE *f = *path ? file_open(path) : NULL;
    size_t len = 0;
    char *bytes = f ? file_read(f, s->options.memory_size, &len) : NULL;
    int r = bytes ? take_up(s, (tcall_str){bytes, len}) : TCALL_E_USAGE;

    if (!*path)
        fputs("Give a name: /load FILE.\n", stderr);
    else if (r == TCALL_OK || r == TCALL_E_AGAIN)
        fprintf(stderr, "The conversation of %s goes on.\n", path);
    else
        fprintf(stderr, "Nothing is loaded: %s: %s.\n", path,
                bytes ? no_conversation(r, bytes, len)
                      : (errno == EINVAL ? "it is no plain file"
                                         : strerror(errno)));
    if (f)
        fclose(f);
    free(bytes);
    if (r == TCALL_E_AGAIN)
        session_turn(s, (tcall_str){NULL, 0});
}

static void begin_anew(session *s, const char *none)
{
    (void)none;
    tcall_agent_load(&s->agent, s->fresh);
    fputs("This is a new conversation.\n", stderr);
}

static void show_memory(session *s, const char *none)
{
    (void)none;
    fprintf(stderr, "Memory: %lu of %lu bytes are in use.\n",
            screen_memory(&s->tc), (unsigned long)s->options.memory_size);
}

static void show_commands(session *s, const char *none);

static const struct command {
    const char *name, *takes, *about;
    void (*run)(session *s, const char *argument);
} commands[] = {
    {"/help", "", "shows this list", show_commands},
    {"/tools", "", "shows the tools that the model may call", list_tools},
    {"/model", "[NAME]", "shows the model, or takes another", set_model},
    {"/provider", "[NAME]", "shows the provider, or takes another",
     set_provider},
    {"/details", "", "shows each step in full, or one line for each call",
     show_details},
    {"/trace", "[FILE]",
     "writes a trace of what happens; without FILE: no more", set_trace},
    {"/new", "", "begins a new conversation", begin_anew},
    {"/save", "FILE", "saves the conversation", save},
    {"/load", "FILE", "goes on with a saved conversation", load},
    {"/memory", "", "shows how much memory is in use", show_memory},
    {"/quit", "", "leaves; so do /exit, /bye, exit, quit, :q and Ctrl-D", NULL},
};

/* What people type from habit. */
static const char *const others[][2] = {
    {"/exit", "/quit"}, {"/bye", "/quit"}, {"exit", "/quit"},
    {"quit", "/quit"},  {":q", "/quit"},   {":quit", "/quit"},
    {"help", "/help"},  {"/?", "/help"},   {"?", "/help"},
};

static void show_commands(session *s, const char *none)
{
    (void)s, (void)none;
    for (size_t i = 0; i < TCALL_ARRAY_LEN(commands); i++)
        fprintf(stderr, "  %-9s %-7s %s\n", commands[i].name, commands[i].takes,
                commands[i].about);
    fputs("All else is a request. A line that ends in \\ goes on in the next;\n"
          "\"\"\" begins and ends a text of several lines; a pasted text is "
          "one\nrequest. Ctrl-C ends what is under way.\n",
          stderr);
}

/* The command that a whole line stands for, or the line. */
static const char *meant(const char *line)
{
    size_t i = 0;

    while (i < TCALL_ARRAY_LEN(others) && strcmp(others[i][0], line) != 0)
        i++;
    return i < TCALL_ARRAY_LEN(others) ? others[i][1] : line;
}

enum said command(session *s, const char *line)
{
    size_t len, i = 0;
    const char *argument;

    line = meant(line);
    if (*line != '/' || strchr(line, '\n'))
        return SAID_REQUEST;
    len = strcspn(line, " ");
    argument = line + len + strspn(line + len, " ");
    while (i < TCALL_ARRAY_LEN(commands) &&
           (strlen(commands[i].name) != len ||
            memcmp(commands[i].name, line, len) != 0))
        i++;
    if (i == TCALL_ARRAY_LEN(commands))
        fprintf(stderr, "There is no %.*s; /help shows the commands.\n",
                (int)len, line);
    else if (commands[i].run)
        commands[i].run(s, argument);
    else
        return SAID_LEAVE;
    return SAID_COMMAND;
}
