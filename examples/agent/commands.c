/* commands.c - see commands.h */
#define _GNU_SOURCE
#include "examples/agent/commands.h"

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
        fprintf(stderr, "That cannot be: %s.\n",
                s->agent.problem ? s->agent.problem : name);
    fprintf(stderr, "The model is %s.\n", s->desc.model);
}

static void set_provider(session *s, const char *name)
{
    if (*name && !session_provider(s, name))
        fprintf(stderr, "That cannot be: %s.\n", name);
    fprintf(stderr, "The provider is %s.\n", s->desc.provider->name);
}

static void set_trace(session *s, const char *path)
{
    if (!session_trace(s, path))
        fprintf(stderr, "No trace can be written: %s.\n", path);
    else if (*path)
        fprintf(stderr, "From now on %s has a trace.\n", path);
    else
        fputs("No trace is written.\n", stderr);
}

static void show_details(session *s, const char *none)
{
    (void)none;
    s->screen.verbose = !s->screen.verbose;
    fprintf(stderr, "From now on a line is shown for each %s.\n",
            s->screen.verbose ? "step" : "call");
}

/* A file of a conversation is bytes; see tcall_agent_save. */
static int to_file(void *user, const char *bytes, size_t len)
{
    return fwrite(bytes, 1, len, user) == len ? (int)len : TCALL_E_CLOSED;
}

static void save(session *s, const char *path)
{
    FILE *f = *path ? create_private(path) : NULL;
    char piece[256];
    tcall_writer w;
    int r = TCALL_E_USAGE;

    tcall_writer_init(&w, piece, sizeof piece);
    tcall_writer_sink(&w, to_file, f);
    if (f && (r = tcall_agent_save(&s->agent, &w)) == TCALL_OK)
        r = tcall_writer_flush(&w);
    if (f && fclose(f) != 0)
        r = TCALL_E_CLOSED;
    fprintf(stderr, "%s %s\n",
            r < 0 ? "This file cannot be written:" : "Saved in",
            *path ? path : "give its name");
}

/* Takes up the conversation of a file; without one, a new one. */
static void load(session *s, const char *path)
{
    static char bytes[sizeof((session *)0)->memory];
    FILE *f = fopen(path, "rb");
    size_t len = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    int r = tcall_agent_load(&s->agent, (tcall_str){bytes, len});

    if (f)
        fclose(f);
    if (r == TCALL_OK)
        fprintf(stderr, "This is the conversation of %s.\n", path);
    else
        fprintf(stderr, "No conversation could be read; this is a new one.\n");
}

static void begin_anew(session *s, const char *none)
{
    (void)none;
    tcall_agent_load(&s->agent, (tcall_str){s->fresh, s->fresh_len});
    fputs("This is a new conversation.\n", stderr);
}

static void show_memory(session *s, const char *none)
{
    (void)none;
    fprintf(stderr, "The block's peak use: %lu of %lu bytes.\n",
            (unsigned long)tcall_peak(&s->tc), (unsigned long)sizeof s->memory);
}

static void show_commands(session *s, const char *none);

static const struct command {
    const char *name, *takes, *about;
    void (*run)(session *s, const char *argument);
} commands[] = {
    {"/help", "", "what there is to type", show_commands},
    {"/tools", "", "the tools that the model may call", list_tools},
    {"/model", "[NAME]", "shows the model, or takes another one", set_model},
    {"/provider", "[NAME]", "shows who answers, or takes another",
     set_provider},
    {"/details", "", "shows each step whole, or only a line for each call",
     show_details},
    {"/trace", "[FILE]", "writes down what happens, or ends that", set_trace},
    {"/new", "", "begins a new conversation", begin_anew},
    {"/save", "FILE", "writes the conversation down", save},
    {"/load", "FILE", "goes on with one that was saved", load},
    {"/memory", "", "how much of the block was used", show_memory},
    {"/bye", "", "leaves; so do exit, quit and Ctrl-D", NULL},
};

static void show_commands(session *s, const char *none)
{
    (void)s, (void)none;
    for (size_t i = 0; i < TCALL_ARRAY_LEN(commands); i++)
        fprintf(stderr, "  %-9s %-7s %s\n", commands[i].name, commands[i].takes,
                commands[i].about);
    fputs("A line that ends in \\ goes on in the next one; \"\"\" begins and "
          "ends a\ntext of several lines. Ctrl-C ends what is under way.\n",
          stderr);
}

bool command(session *s, char *line)
{
    size_t len = strcspn(line, " "), i = 0;
    const char *argument = line + len + strspn(line + len, " ");

    line[len] = '\0';
    while (i < TCALL_ARRAY_LEN(commands) && strcmp(commands[i].name, line) != 0)
        i++;
    if (i == TCALL_ARRAY_LEN(commands))
        fprintf(stderr, "There is no %s; /help says what there is.\n", line);
    else if (commands[i].run)
        commands[i].run(s, argument);
    else
        return false;
    return true;
}
