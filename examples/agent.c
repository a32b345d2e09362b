/*
 * agent.c - a chat agent for the terminal, in the order one would write it
 *
 *     agent                          a request per line, until the input ends
 *     agent how hot is the CPU       one request
 *
 *     --provider NAME    openai, anthropic, ollama or another of --help
 *     --model NAME       --base-url URL      --ca FILE (trusted certificates)
 *     --no-stream        wait for whole answers
 *     --workspace DIR    tools for the files in this directory, and for web
 *                        pages and sub-agents
 *     --allow-command NAME   in that directory, with any options; repeat it
 *     --yes              approve every call that asks
 *     --quiet            the answer alone; --verbose: a line for each step
 *     --json             what happens, as JSON Lines, instead of the answer
 *     --standin NAME     the stand-in model, speaking as provider NAME does
 *     --plain-http       allow http:// to other machines
 *     --trace FILE       write down what is sent, answered and done
 *     --replay FILE      take the answers from such a file, not from a server
 *
 * The answer is on standard output, all else on standard error.
 * Without options the environment decides: OPENAI_API_KEY, ANTHROPIC_API_KEY
 * or OLLAMA_HOST; also OPENAI_BASE_URL, OPENAI_MODEL and so on. Where none is
 * set, the stand-in answers: a program beside this one, no real model.
 *
 * Read on: the tools, the terminal, the provider, main. That is all it takes.
 */
#define _GNU_SOURCE
#include "port/port.h"

#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include "tools/files.h"
#include "tools/shell.h"
#include "tools/shown.h"
#include "tools/task.h"
#include "tools/todo.h"
#include "tools/web.h"

#include "examples/screen.h"
#include "examples/trace.h"
#include "examples/typing.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --------------------------------------------------------------------------
 * 1. The tools: a table that the model gets to see, and a function for each.
 *
 * The schema says what arguments there are. What reaches a function has been
 * checked against it, so the functions check nothing again.
 */

typedef int tool_function(tcall_ctx *cx, tcall_json args, tcall_writer *out);
static tool_function get_time, get_system_status, get_temperature, read_gpio,
    write_gpio, convert_unit;

#define GPIO_LINES 28
static bool simulated_lines[GPIO_LINES];

/* clang-format off */

/* Arguments as a C struct: this gives struct conversion, conversion_schema and
 * conversion_fields. The other tools bring their schema as JSON. */
#define UNIT_NAMES                                                             \
    "millimetre", "centimetre", "metre", "kilometre", "inch", "foot", "yard",  \
    "mile", "gram", "kilogram", "ounce", "pound", "millilitre", "litre",       \
    "gallon", "metre_per_second", "kilometre_per_hour", "mile_per_hour",       \
    "knot", "celsius", "fahrenheit", "kelvin"
TCALL_ARGS(conversion,
    (required, number, value, "What to convert"),
    (required, choice(UNIT_NAMES), from, "Unit of the value"),
    (required, choice(UNIT_NAMES), to, "Unit of the result"));

static const tcall_tool tools[] = {
    {
        .name = "get_time",
        .description = "Date and time, local or at an offset from UTC.",
        .parameters = TCALL_JSON({
            "type": "object",
            "properties": {
                "utc_offset": {
                    "type": "number", "minimum": -12, "maximum": 14,
                    "description": "Hours east of UTC. Leave out: local time."
                }
            },
            "additionalProperties": false
        }),
        .run = get_time,
        .permissions = TCALL_READ,
    },
    {
        .name = "get_system_status",
        .description = "Load, free memory and uptime of this machine.",
        .parameters = TCALL_JSON({
            "type": "object", "properties": {}, "additionalProperties": false
        }),
        .run = get_system_status,
        .permissions = TCALL_READ,
    },
    {
        .name = "get_temperature",
        .description = "How warm this machine's processor is.",
        .parameters = TCALL_JSON({
            "type": "object",
            "properties": {
                "unit": {
                    "type": "string", "enum": ["celsius", "fahrenheit"],
                    "description": "Of the result. Leave out: celsius."
                }
            },
            "additionalProperties": false
        }),
        .run = get_temperature,
        .permissions = TCALL_READ,
    },
    {
        .name = "read_gpio",
        .description = "Read whether a GPIO line is on or off.",
        .parameters = TCALL_JSON({
            "type": "object",
            "properties": {
                "pin": {
                    "type": "integer", "minimum": 0, "maximum": 27,
                    "description": "Number of the line"
                }
            },
            "required": ["pin"],
            "additionalProperties": false
        }),
        .run = read_gpio,
        .user = simulated_lines,
        .permissions = TCALL_READ,
    },
    {
        .name = "write_gpio",
        .description = "Switch a GPIO line of this machine on or off.",
        .parameters = TCALL_JSON({
            "type": "object",
            "properties": {
                "pin": {
                    "type": "integer", "minimum": 0, "maximum": 27,
                    "description": "Number of the line"
                },
                "on": {"type": "boolean", "description": "true: on"}
            },
            "required": ["pin", "on"],
            "additionalProperties": false
        }),
        .run = write_gpio,
        .user = simulated_lines,
        .permissions = TCALL_ACTUATE,
        .confirm = true, /* somebody is asked before it runs: approve() */
    },
    {
        .name = "convert_unit",
        .description = "Convert a value between units of length, mass, volume, "
                       "speed or temperature.",
        .parameters = conversion_schema,
        .fields = conversion_fields,
        .args_size = sizeof(struct conversion),
        .run = convert_unit,
        .permissions = TCALL_READ,
    },
};

/* clang-format on */

/* A tool writes its result as JSON (or text) and returns TCALL_OK. */
static int get_time(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    tcall_json offset = tcall_json_get(args, "utc_offset");
    long minutes = tcall_json_fixed(offset, 2, 0) * 60 / 100;
    time_t now = time(NULL) + (offset.tok ? minutes * 60 : 0);
    struct tm *t = offset.tok ? gmtime(&now) : localtime(&now);
    char text[64];

    (void)cx;
    strftime(text, sizeof text, "%A, %Y-%m-%d %H:%M:%S", t);
    tcall_write_open(out, '{');
    tcall_write_key(out, "time");
    tcall_write_string(out, text);
    tcall_write_key(out, "zone");
    if (offset.tok)
        snprintf(text, sizeof text, "UTC%+03ld:%02ld", minutes / 60,
                 labs(minutes % 60));
    else
        strftime(text, sizeof text, "local, UTC%z", t);
    tcall_write_string(out, text);
    return tcall_write_close(out, '}');
}

/* The first line of a file that begins with prefix, without it. */
static bool read_line(const char *path, const char *prefix, char *out, int cap)
{
    FILE *f = fopen(path, "r");
    bool found = false;

    while (f && !found && fgets(out, cap, f))
        found = strncmp(out, prefix, strlen(prefix)) == 0;
    if (f)
        fclose(f);
    if (found) {
        memmove(out, out + strlen(prefix), strlen(out + strlen(prefix)) + 1);
        out[strcspn(out, "\n")] = '\0';
    }
    return found;
}

static long read_number(const char *path, const char *prefix, long fallback)
{
    char line[128];

    return read_line(path, prefix, line, sizeof line) ? strtol(line, NULL, 10)
                                                      : fallback;
}

static int get_system_status(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    long up = read_number("/proc/uptime", "", -1);
    char text[128];

    (void)cx, (void)args;
    if (up < 0) {
        /* What is written before an error is the reason that the model sees. */
        tcall_write_text(out, "there is no /proc on this system");
        return TCALL_E_FAILED;
    }
    tcall_write_open(out, '{');
    tcall_write_key(out, "load");
    read_line("/proc/loadavg", "", text, sizeof text);
    tcall_write_str(out, (tcall_str){text, strcspn(text, " ")});
    tcall_write_key(out, "memory_total_mb");
    tcall_write_int(out, read_number("/proc/meminfo", "MemTotal:", 0) / 1024);
    tcall_write_key(out, "memory_free_mb");
    tcall_write_int(out,
                    read_number("/proc/meminfo", "MemAvailable:", 0) / 1024);
    tcall_write_key(out, "uptime");
    snprintf(text, sizeof text, "%ld days %ld hours %ld minutes", up / 86400,
             up / 3600 % 24, up / 60 % 60);
    tcall_write_string(out, text);
    return tcall_write_close(out, '}');
}

/* Numbers with a fraction need no floating point: 42.50 is (4250, 2). */
static int get_temperature(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const char *unit =
        tcall_json_string(tcall_json_get(args, "unit"), "celsius");
    long milli =
        read_number("/sys/class/thermal/thermal_zone0/temp", "", -300000);
    bool simulated = milli == -300000;

    (void)cx;
    if (simulated)
        milli = 41000 + (long)(time(NULL) % 60) * 100;
    if (strcmp(unit, "fahrenheit") == 0)
        milli = milli * 9 / 5 + 32000;
    tcall_write_open(out, '{');
    tcall_write_key(out, "temperature");
    tcall_write_fixed(out, milli / 10, 2);
    tcall_write_key(out, "unit");
    tcall_write_string(out, unit);
    tcall_write_key(out, "simulated");
    tcall_write_bool(out, simulated);
    return tcall_write_close(out, '}');
}

/* A line that was exported to /sys is real; the others are simulated. */
static FILE *open_line(int pin, const char *mode)
{
    char path[64];

    snprintf(path, sizeof path, "/sys/class/gpio/gpio%d/value", pin);
    return access(path, F_OK) == 0 ? fopen(path, mode) : NULL;
}

static bool line_is_real(int pin)
{
    FILE *f = open_line(pin, "r");

    if (f)
        fclose(f);
    return f != NULL;
}

static int say_line(tcall_writer *out, int pin, bool on, bool simulated)
{
    tcall_write_open(out, '{');
    tcall_write_key(out, "pin");
    tcall_write_int(out, pin);
    tcall_write_key(out, "on");
    tcall_write_bool(out, on);
    tcall_write_key(out, "simulated");
    tcall_write_bool(out, simulated);
    return tcall_write_close(out, '}');
}

static int read_gpio(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const bool *lines = cx->user; /* .user of the tool */
    int pin = tcall_json_int(tcall_json_get(args, "pin"), 0);
    bool on = lines[pin];
    FILE *f = open_line(pin, "r");

    if (f) {
        on = fgetc(f) == '1';
        fclose(f);
    }
    return say_line(out, pin, on, !f);
}

static int write_gpio(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    bool *lines = cx->user;
    int pin = tcall_json_int(tcall_json_get(args, "pin"), 0);
    bool on = tcall_json_bool(tcall_json_get(args, "on"), false);
    bool real = line_is_real(pin), done = true;
    FILE *f = real ? open_line(pin, "w") : NULL;

    if (f) {
        done = fputc(on ? '1' : '0', f) != EOF;
        done = fclose(f) == 0 && done;
    }
    if (real && !(f && done)) {
        tcall_write_text(out, "the line is not an output, or not ours");
        return TCALL_E_FAILED;
    }
    lines[pin] = on;
    return say_line(out, pin, on, !real);
}

static const char *const unit_names[] = {UNIT_NAMES};
static const struct unit { /* in that order */
    char kind;
    double scale, zero; /* in the kind's own unit: value * scale + zero */
} units[] = {
    {'l', 0.001, 0},
    {'l', 0.01, 0},
    {'l', 1, 0},
    {'l', 1000, 0},
    {'l', 0.0254, 0},
    {'l', 0.3048, 0},
    {'l', 0.9144, 0},
    {'l', 1609.344, 0},
    {'m', 1, 0},
    {'m', 1000, 0},
    {'m', 28.349523125, 0},
    {'m', 453.59237, 0},
    {'v', 1, 0},
    {'v', 1000, 0},
    {'v', 3785.411784, 0},
    {'s', 1, 0},
    {'s', 1 / 3.6, 0},
    {'s', 0.44704, 0},
    {'s', 1852 / 3600.0, 0},
    {'t', 1, 273.15},
    {'t', 5 / 9.0, 273.15 - 32 * 5 / 9.0},
    {'t', 1, 0},
};

/* The arguments are in a struct, the units as indices into their names. */
static int convert_unit(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const struct conversion *a = cx->bound;
    const struct unit *from = &units[a->from], *to = &units[a->to];
    double result =
        (a->value * from->scale + from->zero - to->zero) / to->scale;
    char text[64];

    (void)args;
    if (from->kind != to->kind || !isfinite(result)) {
        tcall_write_text(out, unit_names[a->from]);
        tcall_write_text(out, " cannot be converted to ");
        tcall_write_text(out, unit_names[a->to]);
        return TCALL_E_FAILED;
    }
    if (fabs(result) < 1e-9) /* what rounding left over */
        result = 0;
    tcall_write_open(out, '{');
    tcall_write_key(out, "value");
    snprintf(text, sizeof text, "%.7g", result);
    tcall_write_verbatim(out, tcall_str_of(text));
    tcall_write_key(out, "unit");
    tcall_write_string(out, unit_names[a->to]);
    return tcall_write_close(out, '}');
}

/* --------------------------------------------------------------------------
 * 2. The person: sees what happens (screen.h), and is asked for approval.
 *
 * The library reports through one callback, on_event. It prints nothing.
 */

typedef struct person {
    bool asks; /* somebody sits there */
    bool yes;  /* --yes */
    typing typed;
    const tcall_tool *always[64]; /* tools that need no further yes */
    size_t always_count;
} person;

static screen view;
static trace events; /* --json */

/* The tools of the table, and with --workspace the ready-made ones. */
static tcall_tool all_tools[TCALL_ARRAY_LEN(tools) + TTOOL_FILE_TOOLS +
                            TTOOL_TODO_TOOLS + TTOOL_WEB_TOOLS +
                            TTOOL_TASK_TOOLS + TTOOL_SHELL_TOOLS];
static size_t tool_count;

static trace tracer;
static const tcall_hook replaying[] = {TRACE_RESULTS(&tracer)};

static void show_event(void *user, const tcall_event *e)
{
    (void)user;
    trace_event(&tracer, e);
    trace_event(&events, e);
    if (!events.file)
        screen_event(&view, e);
}

static bool is_always(const person *p, const tcall_tool *tool)
{
    size_t i = 0;

    while (i < p->always_count && p->always[i] != tool)
        i++;
    return i < p->always_count;
}

/* Asked before a tool with .confirm runs: a person says y, n, or a for always,
 * to this tool, until the program ends. Whatever else is typed means n, and so
 * does what was typed before the question. Without a person it is n. */
static tcall_verdict approve(void *user, const tcall_call *call)
{
    person *p = user;
    char said;

    if (p->yes || is_always(p, call->tool))
        return TCALL_VERDICT_ALLOW;
    if (!p->asks) {
        screen_say(&view, "approve?",
                   tcall_str_of("nobody is here to ask (--yes approves every "
                                "call)"));
        return TCALL_VERDICT_DENY;
    }
    screen_approval(&view, call);
    said = typing_choice(&p->typed, " [y, n, a for always; default n] ", "yan");
    if (said == 'a' && p->always_count < TCALL_ARRAY_LEN(p->always))
        p->always[p->always_count++] = call->tool;
    return said == 'y' || said == 'a' ? TCALL_VERDICT_ALLOW
                                      : TCALL_VERDICT_DENY;
}

/* --------------------------------------------------------------------------
 * 3. The provider: which one, where, and with what key
 */

typedef struct backend {
    const char *name;
    const tcall_provider *provider;
    const char *key, *url, *model; /* environment variables */
    const char *default_url, *default_model;
    const char *standin_base; /* what the stand-in's address lacks */
    const char *path;         /* below the base URL; NULL: the provider's */
} backend;

static const backend backends[] = {
    {"openai", &tcall_openai, "OPENAI_API_KEY", "OPENAI_BASE_URL",
     "OPENAI_MODEL", "https://api.openai.com/v1", "gpt-5.4", "/v1",
     "/chat/completions"},
    {"responses", &tcall_responses, "OPENAI_API_KEY", "OPENAI_BASE_URL",
     "OPENAI_MODEL", "https://api.openai.com/v1", "gpt-5.4", "/v1",
     "/responses"},
    {"anthropic", &tcall_anthropic, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
     "ANTHROPIC_MODEL", "https://api.anthropic.com", "claude-opus-5-5", "",
     NULL},
    {"ollama", &tcall_ollama, "OLLAMA_API_KEY", "OLLAMA_HOST", "OLLAMA_MODEL",
     "http://127.0.0.1:11434", "qwen3", "", NULL},
};

typedef struct options {
    const char *provider, *model, *base_url, *ca, *standin, *trace, *replay,
        *workspace;
    bool whole, yes, quiet, verbose, json, plain_http, help, version;
    ttool_command commands[16];
    size_t command_count;
    char request[4096]; /* the words of the command line */
} options;

static const backend *backend_named(const char *name)
{
    for (size_t i = 0; i < TCALL_ARRAY_LEN(backends); i++)
        if (name && strcmp(backends[i].name, name) == 0)
            return &backends[i];
    /* Any server that the library knows, with names of its own. */
    static backend other = {"", NULL, "API_KEY", "BASE_URL", "MODEL",
                            "", "",   "",        NULL};
    other.provider = name ? tcall_provider_named(name) : NULL;
    if (other.provider) {
        other.name = other.provider->name;
        other.default_url = other.provider->url;
        return &other;
    }
    return NULL;
}

static const char *from_environment(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* NULL: nothing is set, so the stand-in has to do. OpenAI's newer models call
 * tools by Responses only; compatible servers know Chat Completions. */
static const backend *backend_of_environment(const char *base_url)
{
    if (from_environment("OPENAI_API_KEY"))
        return backend_named(base_url || from_environment("OPENAI_BASE_URL")
                                 ? "openai"
                                 : "responses");
    if (from_environment("ANTHROPIC_API_KEY"))
        return backend_named("anthropic");
    if (from_environment("OLLAMA_HOST") || from_environment("OLLAMA_API_KEY"))
        return backend_named("ollama");
    return NULL;
}

/* OLLAMA_HOST may be just "host" or "host:port", and 0.0.0.0, where a server
 * listens, is no place to connect to. */
static void complete_url(char *out, size_t cap, const char *url,
                         const backend *b)
{
    bool bare = strstr(url, "://") == NULL;
    bool any = bare && strncmp(url, "0.0.0.0", 7) == 0;
    const char *port = b->provider == &tcall_ollama ? ":11434" : "";

    snprintf(out, cap, "%s%s%s%s", bare ? "http://" : "",
             any ? "127.0.0.1" : "", any ? url + 7 : url,
             bare && !strchr(url, ':') ? port : "");
    while (*out && out[strlen(out) - 1] == '/')
        out[strlen(out) - 1] = '\0';
}

/* A program beside this one. */
static void beside(char *out, size_t cap, const char *name)
{
    ssize_t n = readlink("/proc/self/exe", out, cap - 1);
    char *slash;

    out[n > 0 ? n : 0] = '\0';
    slash = strrchr(out, '/');
    n = slash ? slash + 1 - out : 0;
    snprintf(out + n, cap - (size_t)n, "%s", name);
}

typedef struct standin {
    pid_t pid;
    int input; /* the stand-in ends when this is closed */
    char url[64];
    char ca[512];
} standin;

/* Starts the stand-in; it prints its address as one line. */
static bool standin_start(standin *s)
{
    char program[512], key[512];
    int in[2], out[2];
    FILE *f;

    beside(program, sizeof program, "standin");
    beside(s->ca, sizeof s->ca, "standin.crt");
    beside(key, sizeof key, "standin.key");
    if (pipe(in) != 0 || pipe(out) != 0 || (s->pid = fork()) < 0)
        return false;
    if (s->pid == 0) {
        signal(SIGINT, SIG_IGN); /* Ctrl-C is for the agent */
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[0]), close(in[1]), close(out[0]), close(out[1]);
        execl(program, program, "--cert", s->ca, "--key", key, (char *)NULL);
        fprintf(stderr, "agent: cannot run %s: build it with make\n", program);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    s->input = in[1];
    f = fdopen(out[0], "r");
    if (!f || !fgets(s->url, sizeof s->url, f))
        s->url[0] = '\0';
    if (f)
        fclose(f);
    s->url[strcspn(s->url, "\n")] = '\0';
    return s->url[0] != '\0';
}

static void standin_stop(standin *s)
{
    if (s->pid <= 0)
        return;
    close(s->input);
    waitpid(s->pid, NULL, 0);
}

/* --------------------------------------------------------------------------
 * 4. main: one tcall, one agent, one port, and all memory there is
 */

static char memory[512 * 1024], workspace_memory[4 * TTOOL_MEMORY],
    web_memory[TTOOL_WEB_MEMORY], task_memory[256 * 1024];
static ttool_workspace workspace;
static ttool_todo todo;
static ttool_web web;
static ttool_task task;
static ttool_shell shell;
static char todo_memory[16 * 1024];
static char report[2048];
static tcall tc;
static tcall_agent agent;
static tport port;
static bool port_started;
static standin child;
static person human;

static uint32_t now_ms(void *user)
{
    (void)user;
    return tport_posix_now_ms();
}

/* Tells how it goes, but not where only the answer is wanted. */
static void note(const char *form, ...)
{
    va_list args;

    va_start(args, form);
    if (!view.quiet)
        vfprintf(stderr, form, args);
    va_end(args);
}

static bool fail(const char *what, const char *detail)
{
    fprintf(stderr, "agent: %s%s%s\n", what, *detail ? ": " : "", detail);
    return false;
}

/* The tools for files, in this directory only, and for a list of tasks. */
static bool start_workspace(const char *root)
{
    ttool_workspace_desc d = {0};
    int r;

    d.root = root;
    d.memory = workspace_memory;
    d.memory_size = sizeof workspace_memory;
    r = ttool_workspace_open(&workspace, &d);
    if (r < 0)
        return fail(r == TCALL_E_DENIED ? "/ and your home directory are no "
                                          "workspaces; choose another"
                                        : "no such directory",
                    root);
    ttool_todo_init(&todo, todo_memory, sizeof todo_memory, NULL, NULL);
    tool_count += ttool_rows(all_tools + tool_count, ttool_file_tools,
                             TTOOL_FILE_TOOLS, &workspace);
    tool_count += ttool_rows(all_tools + tool_count, ttool_todo_tools,
                             TTOOL_TODO_TOOLS, &todo);
    return true;
}

/* Programs of the list, in the sandbox; each call asks. */
static bool start_shell(const options *o)
{
    ttool_shell_desc d = {0};

    d.workspace = &workspace;
    d.commands = o->commands;
    d.command_count = o->command_count;
    if (ttool_shell_init(&shell, &d) < 0)
        return fail("--allow-command", shell.refusal);
    tool_count += ttool_shell_row(all_tools + tool_count, &shell);
    return true;
}

static void start_web_and_tasks(void)
{
    ttool_web_desc w = {0};
    ttool_task_desc t = {0};

    w.memory = web_memory;
    w.memory_size = sizeof web_memory;
    ttool_web_init(&web, &w);
    t.agent = &agent;
    t.memory = task_memory;
    t.memory_size = sizeof task_memory;
    t.allow = TCALL_READ | TCALL_NETWORK;
    ttool_task_init(&task, &t);
    tool_count += ttool_rows(all_tools + tool_count, ttool_web_tools,
                             TTOOL_WEB_TOOLS, &web);
    tool_count += ttool_rows(all_tools + tool_count, ttool_task_tools,
                             TTOOL_TASK_TOOLS, &task);
}

static bool start_tools(const options *o)
{
    const char *root = o->workspace;
    tcall_desc d = {0};
    tcall_writer faults;

    memcpy(all_tools, tools, sizeof tools);
    tool_count = TCALL_ARRAY_LEN(tools);
    if (root && !start_workspace(root))
        return false;
    if (root)
        start_web_and_tasks();
    if (o->command_count && (!root || !start_shell(o)))
        return !root && fail("--allow-command needs", "--workspace");
    tcall_writer_init(&faults, report, sizeof report - 1);
    d.block = memory;
    d.block_size = sizeof memory;
    d.tools = all_tools;
    d.tool_count = tool_count;
    d.allow = TCALL_READ | TCALL_ACTUATE | (root ? TCALL_EVERYTHING : 0);
    d.approve = approve;
    d.on_event = show_event;
    d.now_ms = now_ms;
    d.report = &faults;
    d.hooks = replaying;
    d.hook_count = (uint16_t)TCALL_ARRAY_LEN(replaying);
    d.user = &human;
    return tcall_init(&tc, &d) == TCALL_OK ||
           fail("the tools cannot be used", report);
}

static bool start_port(const char *url, const options *o, const char *ca)
{
    tport_desc d = {0};

    d.url = url;
    d.ca_file = ca;
    d.insecure_plain_http = o->plain_http;
    port_started = true;
    return tport_init(&port, &d) == TCALL_OK ||
           fail("cannot use this server (see --help)", tport_error(&port));
}

/* A file for its owner alone, whoever made it before. */
static FILE *create_private(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *f = fd >= 0 && fchmod(fd, 0600) == 0 ? fdopen(fd, "w") : NULL;

    if (!f && fd >= 0)
        close(fd);
    return f;
}

/* The port, watched by a trace, or a trace in its place. */
static bool start_transport(tcall_transport *t, const options *o)
{
    const char *path = o->replay ? o->replay : o->trace;
    FILE *f = NULL;

    if (!o->replay)
        *t = tport_transport(&port);
    if (!path)
        return true;
    f = o->replay ? fopen(path, "r") : create_private(path);
    if (!f)
        return fail("cannot open", path);
    *t = o->replay ? trace_replay(&tracer, f) : trace_record(&tracer, f, *t);
    tracer.block = &tc.block;
    return true;
}

/* Of many tools only the best 8 are sent, safe or not, in their order. */
static const tcall_pick_opts picking = {
    .max = 8, .relative = 50, .allow_unsafe = true, .stable = true};

static tcall_agent_desc agent_desc;

static bool start_agent(const backend *b, const char *model, const char *key,
                        const options *o)
{
    tcall_agent_desc *d = &agent_desc;
    int r;

    d->tc = &tc;
    d->provider = b->provider;
    d->model = model;
    d->key = key;
    view.answer.mask.secret = view.notes.mask.secret = key;
    d->path = b->path;
    d->system = "You are an agent on a small Linux machine. Use the tools when "
                "they help, and answer in a few words.";
    d->pick_opts = &picking; /* once there are more than 20 tools */
    d->stream = !o->whole;
    if (!start_transport(&d->transport, o))
        return false;
    if (o->json)
        trace_only_events(&events, stdout, key, &d->transport);
    d->transport = screen_transport(&view, d->transport);
    r = tcall_agent_init(&agent, d);
    return r == TCALL_OK ||
           fail("cannot start",
                agent.problem ? agent.problem : tcall_error_text(r));
}

/* Everything, in this order: tools, provider, port, agent. */
static bool start(const options *o)
{
    const char *wish = o->standin ? o->standin : o->provider;
    const backend *b =
        wish ? backend_named(wish) : backend_of_environment(o->base_url);
    const char *url = o->base_url, *key, *model = o->model, *ca = o->ca;
    bool real = !o->standin && (b || url);
    static char full[512];

    if (wish && !b)
        return fail("no such provider (see --help)", wish);
    if (!b)
        b = &backends[0];
    if (!start_tools(o))
        return false;
    if (o->replay) {
        note("answers from %s, %s\n", o->replay, b->name);
        return start_agent(b, model ? model : "none", NULL, o);
    }
    if (real) {
        url = url ? url : from_environment(b->url);
        key = from_environment(b->key);
        model = model ? model : from_environment(b->model);
        model = model ? model : b->default_model;
        complete_url(full, sizeof full, url ? url : b->default_url, b);
    } else {
        if (!standin_start(&child))
            return fail("the stand-in did not start", "");
        key = "none";
        model = "stand-in";
        ca = ca ? ca : child.ca;
        snprintf(full, sizeof full, "%s%s", child.url, b->standin_base);
        note("The stand-in answers, no real language model. For a real one "
             "set OPENAI_API_KEY,\nANTHROPIC_API_KEY or OLLAMA_HOST "
             "(see --help).\n");
    }
    note("%s at %s, %s\n", model, full, b->name);
    return start_port(full, o, ca) && start_agent(b, model, key, o);
}

/* Why a turn ended badly, in words. */
static void show_error(int error)
{
    const char *said = agent.answer.message; /* a server's words */
    bool network = error <= TCALL_E_RESOLVE && error >= TCALL_E_PROTOCOL;

    screen_line(&view);
    fprintf(stderr, "error: %s", tcall_error_text(error));
    if (network && *tport_error(&port))
        said = tport_error(&port);
    if (*said)
        fprintf(stderr, ": ");
    outlet_str(&view.notes, tcall_str_of(said));
    if (agent.response.status >= 300)
        fprintf(stderr, " (HTTP status %d)", agent.response.status);
    if (agent.response.retry_after_ms > 0)
        fprintf(stderr, ", try again in %ld s",
                (agent.response.retry_after_ms + 999) / 1000);
    if (error == TCALL_E_MEMORY)
        fprintf(stderr, ": %lu bytes would do", (unsigned long)tc.block.need);
    fputc('\n', stderr);
}

static void on_interrupt(int number)
{
    (void)number;
    typing_interrupted = 1;
    tcall_agent_cancel(&agent);
}

/* Ctrl-C ends the turn, not the program. Without SA_RESTART it also ends what
 * waits for an answer to a question. */
static bool turn(const char *text)
{
    struct sigaction own, before;
    int r;

    memset(&own, 0, sizeof own);
    own.sa_handler = on_interrupt;
    typing_interrupted = 0;
    sigaction(SIGINT, &own, &before);
    r = tcall_agent_run(&agent, tcall_str_of(text));
    sigaction(SIGINT, &before, NULL);
    clearerr(stdin);
    screen_line(&view);
    if (r < 0)
        show_error(r);
    fflush(stdout);
    return r == TCALL_OK;
}

/* --------------------------------------------------------------------------
 * 5. What a person types: requests, and commands that begin with /
 */

static void list_tools(const char *none)
{
    (void)none;
    for (size_t i = 0; i < tool_count; i++) {
        const char *about = all_tools[i].description;
        printf("  %-20s %.*s\n", all_tools[i].name, (int)strcspn(about, ".\n"),
               about);
    }
}

static void set_model(const char *name)
{
    tcall_agent_desc d = agent_desc;
    char *copy = *name ? strdup(name) : NULL;

    d.model = copy;
    if (copy && tcall_agent_use(&agent, &d) == TCALL_OK)
        agent_desc = d; /* names that were given are kept to the end */
    else if (copy)
        printf("That cannot be: %s.\n", agent.problem ? agent.problem : name);
    printf("The model is %s.\n", agent_desc.model);
}

/* A file of a conversation is bytes; see tcall_agent_save. */
static int to_file(void *user, const char *bytes, size_t len)
{
    return fwrite(bytes, 1, len, user) == len ? (int)len : TCALL_E_CLOSED;
}

static void save(const char *path)
{
    FILE *f = *path ? create_private(path) : NULL;
    char piece[256];
    tcall_writer w;
    int r = TCALL_E_USAGE;

    tcall_writer_init(&w, piece, sizeof piece);
    tcall_writer_sink(&w, to_file, f);
    if (f && (r = tcall_agent_save(&agent, &w)) == TCALL_OK)
        r = tcall_writer_flush(&w);
    if (f && fclose(f) != 0)
        r = TCALL_E_CLOSED;
    printf("%s %s\n", r < 0 ? "This file cannot be written:" : "Saved in",
           *path ? path : "give its name");
}

/* Takes up the conversation of a file; without one, a new one. */
static void load(const char *path)
{
    static char bytes[sizeof memory];
    FILE *f = fopen(path, "rb");
    size_t len = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    int r = tcall_agent_load(&agent, (tcall_str){bytes, len});

    if (f)
        fclose(f);
    if (r == TCALL_OK)
        printf("This is the conversation of %s.\n", path);
    else
        printf("No conversation could be read; this is a new one.\n");
}

static char fresh[4096]; /* the conversation before anything was said */
static size_t fresh_len;

static void begin_anew(const char *none)
{
    (void)none;
    tcall_agent_load(&agent, (tcall_str){fresh, fresh_len});
    puts("This is a new conversation.");
}

static void show_memory(const char *none)
{
    (void)none;
    printf("The block's peak use: %lu of %lu bytes.\n",
           (unsigned long)tcall_peak(&tc), (unsigned long)sizeof memory);
}

static void show_commands(const char *none);

static const struct command {
    const char *name, *takes, *about;
    void (*run)(const char *argument);
} commands[] = {
    {"/help", "", "what there is to type", show_commands},
    {"/tools", "", "the tools that the model may call", list_tools},
    {"/model", "[NAME]", "shows the model, or takes another one", set_model},
    {"/new", "", "begins a new conversation", begin_anew},
    {"/save", "FILE", "writes the conversation down", save},
    {"/load", "FILE", "goes on with one that was saved", load},
    {"/memory", "", "how much of the block was used", show_memory},
    {"/bye", "", "leaves; so do exit, quit and Ctrl-D", NULL},
};

static void show_commands(const char *none)
{
    (void)none;
    for (size_t i = 0; i < TCALL_ARRAY_LEN(commands); i++)
        printf("  %-7s %-7s %s\n", commands[i].name, commands[i].takes,
               commands[i].about);
    puts("A line that ends in \\ goes on in the next one; \"\"\" begins and "
         "ends a\ntext of several lines. Ctrl-C ends what is under way.");
}

/* Does what a line asks for that is no request. False: it asks to leave. */
static bool command(char *line)
{
    size_t len = strcspn(line, " "), i = 0;
    const char *argument = line + len + strspn(line + len, " ");

    line[len] = '\0';
    while (i < TCALL_ARRAY_LEN(commands) && strcmp(commands[i].name, line) != 0)
        i++;
    if (i == TCALL_ARRAY_LEN(commands))
        printf("There is no %s; /help says what there is.\n", line);
    else if (commands[i].run)
        commands[i].run(argument);
    else
        return false;
    return true;
}

static bool is_farewell(const char *line)
{
    return strcmp(line, "exit") == 0 || strcmp(line, "quit") == 0;
}

static void on_prompt_interrupt(int number)
{
    (void)number;
    typing_interrupted = 1;
}

/* Reads what comes next. False: that was the end. */
static bool next_line(void)
{
    struct sigaction own, before;
    bool read, again, warned = false;

    memset(&own, 0, sizeof own);
    own.sa_handler = on_prompt_interrupt;
    sigaction(SIGINT, human.asks ? &own : NULL, &before);
    do {
        typing_interrupted = 0;
        read = typing_read(&human.typed, human.asks ? "> " : "",
                           human.asks ? "... " : "");
        again = !read && typing_interrupted && !warned;
        if (again)
            fputs("\nCtrl-C once more leaves.\n", stderr);
        warned = true;
        clearerr(stdin);
    } while (again);
    sigaction(SIGINT, &before, NULL);
    return read;
}

/* A request for each line of input. */
static bool chat(void)
{
    tcall_writer w;
    bool ok = true;

    tcall_writer_init(&w, fresh, sizeof fresh);
    tcall_agent_save(&agent, &w);
    fresh_len = w.fill;
    while (next_line()) {
        char *line = human.typed.text;
        if (human.asks && is_farewell(line))
            return ok;
        if (human.asks && *line == '/') {
            if (!command(line))
                return ok;
            continue;
        }
        if (!human.asks && *line)
            note("> %s\n", line);
        if (*line)
            ok = turn(line) && ok;
    }
    if (human.asks)
        putc('\n', stderr);
    return ok;
}

static const char help[] =
    "agent [OPTION...] [REQUEST]: a model that calls C functions\n"
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

/* Those with variables of their own, and all that the library knows, which
 * take API_KEY, BASE_URL and MODEL. */
static void print_help(void)
{
    static const char *const others[] = {"gemini", "interactions",
#define SERVER(name, ...) #name,
                                         TCALL_SERVERS(SERVER)
#undef SERVER
    };

    fputs(help, stdout);
    for (size_t i = 0; i < TCALL_ARRAY_LEN(backends); i++)
        printf(" %s", backends[i].name);
    printf(";\n  by API_KEY, BASE_URL and MODEL:");
    for (size_t i = 0; i < TCALL_ARRAY_LEN(others); i++)
        printf("%s %s", i % 6 ? "" : "\n   ", others[i]);
    puts(".");
}

static bool read_options(options *o, int argc, char **argv)
{
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
        {"--no-stream", NULL, &o->whole},
        {"--yes", NULL, &o->yes},
        {"--quiet", NULL, &o->quiet},
        {"--verbose", NULL, &o->verbose},
        {"--json", NULL, &o->json},
        {"--plain-http", NULL, &o->plain_http},
        {"--help", NULL, &o->help},
        {"--version", NULL, &o->version},
    };

    for (int i = 1; i < argc; i++) {
        size_t k = 0, n = strlen(o->request);
        while (k < TCALL_ARRAY_LEN(known) &&
               strcmp(known[k].name, argv[i]) != 0)
            k++;
        if (k < TCALL_ARRAY_LEN(known) && known[k].flag)
            *known[k].flag = true;
        else if (k < TCALL_ARRAY_LEN(known) && i + 1 < argc)
            *known[k].value = argv[++i];
        else if (strcmp(argv[i], "--allow-command") == 0 && i + 1 < argc &&
                 o->command_count < TCALL_ARRAY_LEN(o->commands)) {
            o->commands[o->command_count].name = argv[++i];
            o->commands[o->command_count++].options = "*";
        } else if (strncmp(argv[i], "--", 2) == 0)
            return fail(k < TCALL_ARRAY_LEN(known) ? "a value is missing after"
                                                   : "no such option (--help "
                                                     "names them)",
                        argv[i]);
        else
            snprintf(o->request + n, sizeof o->request - n, "%s%s",
                     n ? " " : "", argv[i]);
    }
    return true;
}

int main(int argc, char **argv)
{
    static options o;
    bool ok;

    if (!read_options(&o, argc, argv))
        return 2;
    if (o.help || o.version) {
        o.help ? print_help() : (void)puts("agent " TOOLCALL_VERSION);
        return 0;
    }
    human.asks = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    human.yes = o.yes;
    view.quiet = o.quiet || o.json;
    view.verbose = o.verbose;
    view.tc = &tc;
    screen_init(&view);

    ok = start(&o);
    if (ok) {
        ok = *o.request ? turn(o.request) : chat();
    }
    if (tracer.differs)
        fprintf(stderr, "%d requests were not as in the trace.\n",
                tracer.differs);
    if (port_started)
        tport_free(&port);
    if (tracer.file)
        fclose(tracer.file);
    trace_free(&tracer);
    standin_stop(&child);
    return ok ? 0 : 1;
}
