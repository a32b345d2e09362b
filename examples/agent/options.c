/* options.c - see options.h */
#include "examples/agent/options.h"

#include "examples/agent/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "agent [OPTION...] [REQUEST]: a model that calls C functions\n"
    "Input that is no terminal is joined to the request, or is the request.\n"
    "  --provider NAME   one of those below (default: by environment)\n"
    "  --model NAME      default: OPENAI_MODEL, ANTHROPIC_MODEL, OLLAMA_MODEL\n"
    "  --base-url URL    default: OPENAI_BASE_URL, ANTHROPIC_BASE_URL,\n"
    "                    OLLAMA_HOST\n"
    "  --ca FILE         trusted certificates (default: the system's)\n"
    "  --no-stream       wait for whole answers\n"
    "  --workspace DIR   tools for the files in this directory, web pages\n"
    "                    and sub-agents\n"
    "  --allow-command N programs that may run there; repeat it for each\n"
    "  --yes             approve every call that asks\n"
    "  --max-rounds N    requests of a turn before it is asked to go on (50)\n"
    "  --memory SIZE     for the conversation and calls (4M)\n"
    "  --lines           the input is a request a line, not one request\n"
    "  --quiet           the answer alone\n"
    "  --verbose         a line for each step, and all of it\n"
    "  --json            what happens as JSON Lines instead of the answer\n"
    "  --standin NAME    the stand-in model, as provider NAME\n"
    "  --plain-http      allow http:// to other machines: all can read it\n"
    "  --trace FILE      write down all rounds as JSON Lines, without keys\n"
    "  --replay FILE     run from such a file, without a network\n"
    "  --help, --version\n"
    "Keys: OPENAI_API_KEY, ANTHROPIC_API_KEY, OLLAMA_API_KEY.\n"
    "Providers:";

/* A number, with K, M or G. False: it is none, or out of range. */
static bool read_size(const char *text, size_t least, size_t most, size_t *size)
{
    static const char units[] = "KMG";
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    int shift = unit ? 10 * (int)(unit + 1 - units) : 0;

    if (*text < '0' || *text > '9' || end[unit != NULL] || n > most >> shift ||
        n << shift < least)
        return false;
    *size = n << shift;
    return true;
}

static bool fail(const char *what, const char *word)
{
    fprintf(stderr, "agent: %s: %s\n", what, word);
    return false;
}

static bool read_sizes(options *o, const char *memory, const char *rounds)
{
    size_t most = 0;

    if (!read_size(memory, 128 << 10, 1 << 30, &o->memory_size))
        return fail("--memory takes 128K to 1G, not", memory);
    if (!read_size(rounds, 1, 10000, &most))
        return fail("--max-rounds takes 1 to 10000, not", rounds);
    o->max_rounds = (int)most;
    return true;
}

/* Makes room for the request: all words there are. */
static bool make_room(options *o, int argc, char **argv)
{
    size_t size = 1;

    for (int i = 1; i < argc; i++)
        size += strlen(argv[i]) + 1;
    o->request = calloc(1, size);
    return o->request || fail("too little memory", *argv);
}

bool options_read(options *o, int argc, char **argv)
{
    const char *memory = "4M", *rounds = "50";
    const struct {
        const char *name;
        const char **value;
        bool *flag;
    } known[] = {
        {"--provider", &o->provider, NULL},
        {"--model", &o->model, NULL},
        {"--base-url", &o->base_url, NULL},
        {"--ca", &o->ca, NULL},
        {"--standin", &o->standin, NULL},
        {"--workspace", &o->workspace, NULL},
        {"--trace", &o->trace, NULL},
        {"--replay", &o->replay, NULL},
        {"--memory", &memory, NULL},
        {"--max-rounds", &rounds, NULL},
        {"--no-stream", NULL, &o->whole},
        {"--yes", NULL, &o->yes},
        {"--quiet", NULL, &o->quiet},
        {"--verbose", NULL, &o->verbose},
        {"--json", NULL, &o->json},
        {"--plain-http", NULL, &o->plain_http},
        {"--lines", NULL, &o->lines},
        {"--help", NULL, &o->help},
        {"-h", NULL, &o->help},
        {"--version", NULL, &o->version},
    };

    if (!make_room(o, argc, argv))
        return false;
    for (int i = 1; i < argc; i++) {
        size_t k = 0;
        bool command = strcmp(argv[i], "--allow-command") == 0;
        while (k < TCALL_ARRAY_LEN(known) &&
               strcmp(known[k].name, argv[i]) != 0)
            k++;
        if (k < TCALL_ARRAY_LEN(known) && known[k].flag)
            *known[k].flag = true;
        else if ((command || k < TCALL_ARRAY_LEN(known)) && i + 1 == argc)
            return fail("a value is missing after", argv[i]);
        else if (k < TCALL_ARRAY_LEN(known))
            *known[k].value = argv[++i];
        else if (command && o->command_count == TCALL_ARRAY_LEN(o->commands))
            return fail("too many commands are allowed", argv[i + 1]);
        else if (command)
            o->commands[o->command_count++] =
                (ttool_command){argv[++i], NULL, "*", NULL};
        else if (strncmp(argv[i], "--", 2) == 0)
            return fail("no such option (--help names them)", argv[i]);
        else
            strcat(strcat(o->request, *o->request ? " " : ""), argv[i]);
    }
    return read_sizes(o, memory, rounds);
}

void options_help(void)
{
    fputs(help, stdout);
    backend_list();
}
