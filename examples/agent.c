/*
 * agent.c - a chat agent for the terminal
 *
 *     agent                          a conversation
 *     agent how hot is the CPU       one request
 *     agent summarise this <FILE     one request, with a text
 *
 *     --provider NAME    openai, anthropic, ollama or another of --help
 *     --model NAME       --base-url URL      --ca FILE (trusted certificates)
 *     --no-stream        wait for whole answers
 *     --workspace DIR    tools for the files in this directory, and for web
 *                        pages and sub-agents
 *     --allow-command NAME   in that directory, with any options; repeat it
 *     --yes              approve every call that asks
 *     --max-rounds N     requests of a turn before it is asked to go on
 *     --memory SIZE      for the conversation, as 4M
 *     --lines            the input is a request a line, not one
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
 * It lies in examples/agent/: options.c reads the command line, machine.c has
 * the tools, backend.c the providers, screen.c and outlet.c show what happens,
 * approval.c asks, typing.c and terminal.c read what is typed, commands.c does
 * what begins with /, file.c reads and writes, turn.c runs a turn. Here they
 * become one agent.
 */
#define _GNU_SOURCE
#include "examples/agent/session.h"

#include "examples/agent/commands.h"
#include "examples/agent/file.h"
#include "examples/trace.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static session here;
static trace tracer;
static trace events; /* --json */
static const tcall_hook hooks[] = {TRACE_RESULTS(&tracer),
                                   TTOOL_HIDE(&here.desc.key)};

static void on_event(void *user, const tcall_event *e)
{
    session *s = user;

    tracer.provider = s->desc.provider->name;
    tracer.model = s->desc.model;
    trace_event(&tracer, e);
    trace_event(&events, e);
    if (!events.file)
        screen_event(&s->screen, e);
}

static tcall_verdict approve(void *user, const tcall_call *call)
{
    session *s = user;

    return approval_ask(&s->approval, call);
}

/* The clock of the tools stands still while a person thinks. */
static uint32_t now_ms(void *user)
{
    const session *s = user;

    return tport_posix_now_ms() - s->approval.thought_ms;
}

static bool fail(const char *what, const char *detail)
{
    fprintf(stderr, "agent: %s%s", what, *detail ? ": " : "");
    session_problem(&here, detail);
    fputc('\n', stderr);
    return false;
}

static void add_tools(session *s, const tcall_tool *tools, size_t count,
                      void *user)
{
    s->tool_count += ttool_rows(s->tools + s->tool_count, tools, count, user);
}

/* The tools for files, in this directory only, and for a list of tasks. */
static bool start_workspace(session *s, const char *root)
{
    workshop *w = &s->workshop;
    ttool_workspace_desc d = {0};
    int r;

    d.root = root;
    d.memory = w->workspace_memory;
    d.memory_size = sizeof w->workspace_memory;
    r = ttool_workspace_open(&w->workspace, &d);
    if (r < 0)
        return fail(r == TCALL_E_DENIED ? "/ and your home directory are no "
                                          "workspaces; choose another"
                                        : "no such directory",
                    root);
    ttool_todo_init(&w->todo, w->todo_memory, sizeof w->todo_memory, NULL,
                    NULL);
    add_tools(s, ttool_file_tools, TTOOL_FILE_TOOLS, &w->workspace);
    add_tools(s, ttool_todo_tools, TTOOL_TODO_TOOLS, &w->todo);
    return true;
}

/* Programs of the list, in the sandbox; each call asks. */
static bool start_shell(session *s)
{
    const options *o = &s->options;
    ttool_shell *shell = &s->workshop.shell;
    ttool_shell_desc d = {0};

    d.workspace = &s->workshop.workspace;
    d.commands = o->commands;
    d.command_count = o->command_count;
    if (ttool_shell_init(shell, &d) < 0)
        return fail("--allow-command", shell->refusal);
    s->tool_count += ttool_shell_row(s->tools + s->tool_count, shell);
    return true;
}

static void start_web_and_tasks(session *s)
{
    workshop *shop = &s->workshop;
    ttool_web_desc w = {0};
    ttool_task_desc t = {0};

    w.memory = shop->web_memory;
    w.memory_size = sizeof shop->web_memory;
    ttool_web_init(&shop->web, &w);
    t.agent = &s->agent;
    t.memory = shop->task_memory;
    t.memory_size = sizeof shop->task_memory;
    t.allow = TCALL_READ | TCALL_NETWORK;
    t.max_rounds = s->options.max_rounds;
    ttool_task_init(&shop->task, &t);
    add_tools(s, ttool_web_tools, TTOOL_WEB_TOOLS, &shop->web);
    add_tools(s, ttool_task_tools, TTOOL_TASK_TOOLS, &shop->task);
}

/* The table of what the model may call. */
static bool choose_tools(session *s)
{
    const char *root = s->options.workspace;

    memcpy(s->tools, machine_tools, sizeof machine_tools);
    s->tool_count = MACHINE_TOOLS;
    if (root && !start_workspace(s, root))
        return false;
    if (root)
        start_web_and_tasks(s);
    if (s->options.command_count && !root)
        return fail("--allow-command needs", "--workspace");
    return !s->options.command_count || start_shell(s);
}

static bool start_tools(session *s)
{
    static char report[2048];
    tcall_desc d = {0};
    tcall_writer faults;

    if (!choose_tools(s))
        return false;
    tcall_writer_init(&faults, report, sizeof report - 1);
    d.block = s->memory;
    d.lenient = &tcall_lenient;
    d.patterns = &tcall_patterns;
    d.block_size = s->options.memory_size;
    d.tools = s->tools;
    d.tool_count = s->tool_count;
    d.allow = TCALL_READ | TCALL_ACTUATE |
              (s->options.workspace ? TCALL_EVERYTHING : 0);
    d.approve = approve;
    d.on_event = on_event;
    d.events = &tcall_events;
    d.now_ms = now_ms;
    d.report = &tcall_report;
    d.faults = &faults;
    d.hooks = hooks;
    d.hook_count = (uint16_t)TCALL_ARRAY_LEN(hooks);
    d.stages = &tcall_stages;
    d.user = s;
    return tcall_init(&s->tc, &d) == TCALL_OK ||
           fail("the tools cannot be used", report);
}

static bool start_port(session *s, const char *url, const char *ca)
{
    tport_desc *d = &s->port_desc;

    memset(d, 0, sizeof *d);
    d->url = url;
    d->ca_file = ca;
    d->insecure_plain_http = s->options.plain_http;
    s->port_started = true;
    return tport_init(&s->port, d) == TCALL_OK ||
           fail("cannot use this server (see --help)", tport_error(&s->port));
}

/* The port, watched by a trace where there is a file for it. */
static void watch_port(session *s, FILE *file)
{
    tcall_transport t = tport_transport(&s->port);

    if (tracer.file)
        fclose(tracer.file);
    tracer.file = NULL;
    if (file) {
        t = trace_record(&tracer, file, t);
        tracer.block = &s->tc.block;
    }
    s->desc.transport = screen_transport(&s->screen, t);
}

/* A line of a trace begins so. */
static const char trace_mark[] = "{\"ms\":";

static const char *cannot_open(void)
{
    return errno == EEXIST ? "it is there, and no trace" : strerror(errno);
}

static bool start_transport(session *s)
{
    const options *o = &s->options;
    FILE *f = NULL;

    if (!o->replay && o->trace && !(f = file_create(o->trace, trace_mark)))
        return fail(o->trace, cannot_open());
    if (!o->replay)
        watch_port(s, f);
    return true;
}

/* Of many tools only the best 8 are sent, safe or not, in their order. */
static const tcall_pick_opts picking = {
    .max = 8,
    .relative = 50,
    .allow_unsafe = true,
    .stable = true,
    .synonyms = tcall_synonyms,
};

/* Who answers. */
static void set_backend(session *s, const backend *b, const char *model,
                        const char *key)
{
    s->desc.provider = b->provider;
    s->desc.model = model;
    s->desc.key = events.secrets[0] = key;
    s->desc.path = b->path;
    screen_hide(&s->screen, key);
}

static bool start_agent(session *s)
{
    tcall_agent_desc *d = &s->desc;
    int r;

    d->tc = &s->tc;
    d->system = "You are an agent on a small Linux machine. Use the tools when "
                "they help, and answer in a few words.";
    d->pick = tcall_pick; /* once there are more than 20 tools */
    d->pick_opts = &picking;
    d->max_calls = 0xFFFF; /* what is limited is max_rounds */
    d->stream = !s->options.whole;
    if (!start_transport(s))
        return false;
    if (s->options.json)
        trace_only_events(&events, stdout, d->key, &d->transport);
    r = tcall_agent_init(&s->agent, d);
    return r == TCALL_OK ||
           fail("cannot start",
                s->agent.problem ? s->agent.problem : tcall_error_text(r));
}

/* Room for an address, beside the one that is in use. */
static char *next_url(session *s)
{
    return s->urls[s->url = !s->url];
}

/* The address, the model and the key of a real server. */
static bool use_real(session *s, const backend *b)
{
    char *url = next_url(s);
    const options *o = &s->options;
    const char *base = o->base_url ? o->base_url : from_environment(b->url);
    const char *model = o->model ? o->model : from_environment(b->model);

    backend_url(url, sizeof s->urls[0], base ? base : b->default_url, b);
    model = model ? model : b->default_model;
    if (*model)
        screen_note(&s->screen, "%s at %s, %s\n", model, url, b->name);
    set_backend(s, b, model, from_environment(b->key));
    return start_port(s, url, o->ca);
}

static bool use_standin(session *s, const backend *b)
{
    char *url = next_url(s);
    const char *ca = s->options.ca;

    snprintf(url, sizeof s->urls[0], "%s%s", s->standin.url, b->standin_base);
    screen_note(&s->screen, "stand-in at %s, %s\n", url, b->name);
    set_backend(s, b, "stand-in", "no-key-needed");
    return start_port(s, url, ca ? ca : s->standin.ca);
}

static bool start_standin(session *s, const backend *b)
{
    if (!standin_start(&s->standin))
        return fail("the stand-in did not start", "");
    screen_note(&s->screen,
                "The stand-in answers, no real language model. For a real one "
                "set OPENAI_API_KEY,\nANTHROPIC_API_KEY or OLLAMA_HOST (see "
                "--help).\n");
    return use_standin(s, b);
}

/* The provider and the model that a trace is of, unless options say others. */
static bool start_replay(session *s)
{
    options *o = &s->options;
    const backend *b;
    FILE *f = file_open(o->replay);

    if (!f)
        return fail(o->replay, strerror(errno));
    s->desc.transport = screen_transport(&s->screen, trace_replay(&tracer, f));
    trace_origin(&tracer);
    b = backend_named(o->provider       ? o->provider
                      : tracer.provider ? tracer.provider
                                        : "openai");
    if (!b)
        return fail("no such provider (see --help)",
                    o->provider ? o->provider : tracer.provider);
    screen_note(&s->screen, "answers from %s, %s\n", o->replay, b->name);
    set_backend(s, b,
                o->model       ? o->model
                : tracer.model ? tracer.model
                               : "none",
                NULL);
    return true;
}

/* Everything, in this order: tools, provider, port, agent. */
static bool start(session *s)
{
    const options *o = &s->options;
    const char *wish = o->standin ? o->standin : o->provider;
    const backend *b =
        wish ? backend_named(wish) : backend_of_environment(o->base_url);
    bool real = !o->standin && (b || o->base_url);

    if (wish && !b)
        return fail("no such provider (see --help)", wish);
    if (!b)
        b = backend_named("openai");
    return start_tools(s) &&
           (o->replay ? start_replay(s)
            : real    ? use_real(s, b)
                      : start_standin(s, b)) &&
           start_agent(s);
}

/* The stand-in goes on to answer where there is no key for a real server, and
 * it speaks as that does. */
const char *session_provider(session *s, const char *name)
{
    const backend *b = backend_named(name);
    const tcall_agent_desc before = s->desc;
    const tport_desc port_before = s->port_desc;
    const char *problem;
    bool speaks, done;

    if (s->options.replay)
        return "a replay has that of its trace";
    if (!b)
        return "there is no such provider (--help names them)";
    speaks = *b->default_model != '\0';
    s->options.base_url = s->options.model = NULL; /* of the one before */
    tport_free(&s->port);
    done = s->standin.pid > 0 && speaks && !from_environment(b->key)
               ? use_standin(s, b)
               : use_real(s, b);
    if (done && tcall_agent_use(&s->agent, &s->desc) == TCALL_OK)
        return NULL;
    problem = done ? s->agent.problem : "its server cannot be used";
    tport_free(&s->port);
    s->desc = before;
    s->port_desc = port_before;
    tport_init(&s->port, &port_before);
    screen_hide(&s->screen, before.key);
    return problem ? problem : "there is too little memory";
}

const char *session_trace(session *s, const char *path)
{
    FILE *f;

    if (s->options.replay)
        return "this is a replay";
    f = *path ? file_create(path, trace_mark) : NULL;
    if (*path && !f)
        return cannot_open();
    watch_port(s, f);
    tcall_agent_use(&s->agent, &s->desc);
    return NULL;
}

static void on_prompt_interrupt(int number)
{
    (void)number;
    typing_interrupted = 1;
}

/* Reads what comes next. False: that was the end. */
static bool next_line(session *s)
{
    bool person = s->approval.person;
    struct sigaction own, before;
    bool read, again, warned = false;

    memset(&own, 0, sizeof own);
    own.sa_handler = on_prompt_interrupt;
    sigaction(SIGINT, person ? &own : NULL, &before);
    do {
        typing_interrupted = 0;
        read = typing_read(&s->typed, person ? "> " : "", person ? "... " : "");
        again = !read && typing_interrupted && (!warned || s->typed.dropped);
        if (again)
            fputs("\nPress Ctrl-C again to leave.\n", stderr);
        warned = true;
        clearerr(stdin);
    } while (again);
    sigaction(SIGINT, &before, NULL);
    return read;
}

/* A person's requests and commands, or a request a line. */
static bool chat(session *s)
{
    bool person = s->approval.person, ok = true;
    enum said said = SAID_REQUEST;

    s->fresh = session_bytes(s);
    if (person)
        screen_note(&s->screen, "/help shows the commands, /quit leaves.\n");
    while (said != SAID_LEAVE && next_line(s)) {
        char *line = s->typed.text + strspn(s->typed.text, " ");
        size_t len = strlen(line);
        while (len && line[len - 1] == ' ')
            line[--len] = '\0';
        if (!len)
            continue;
        said = person ? command(s, line) : SAID_REQUEST;
        if (!person)
            screen_note(&s->screen, "> %s\n", line);
        if (said == SAID_REQUEST)
            ok = session_turn(s, tcall_str_of(line)) && ok;
    }
    if (person && said != SAID_LEAVE)
        putc('\n', stderr);
    return ok;
}

/* ---- one request ---- */

/* Waits for the input; says so once, where it takes long. */
static void wait_for_input(session *s)
{
    struct pollfd in = {STDIN_FILENO, POLLIN, 0};

    if (poll(&in, 1, 3000) == 0)
        screen_note(&s->screen, "Reading the request from standard input "
                                "(</dev/null: there is none).\n");
}

/* One turn: the words of the command line, and what comes from elsewhere. */
static bool one_request(session *s)
{
    const char *words = s->options.request;
    size_t len = 0, gap, size = strlen(words);
    bool ok;
    char *input, *text;

    if (isatty(STDIN_FILENO))
        return session_turn(s, tcall_str_of(words));
    wait_for_input(s);
    input = file_read(stdin, s->options.memory_size, &len);
    if (!input && errno != EBADF)
        return fail("the input", errno == EFBIG ? "it is too large (--memory)"
                                                : strerror(errno));
    while (len && strchr("\r\n ", input[len - 1]))
        len--;
    gap = size && len ? 2 : 0; /* an empty line */
    text = malloc(size + gap + len + 1);
    if (text) {
        memcpy(text, words, size);
        memset(text + size, '\n', gap);
        memcpy(text + size + gap, input ? input : "", len);
    }
    len += size + gap;
    ok = !len || (text && session_turn(s, (tcall_str){text, len}));
    free(text);
    free(input);
    return ok;
}

static void stop(session *s)
{
    if (s->port_started)
        tport_free(&s->port);
    if (tracer.file)
        fclose(tracer.file);
    trace_free(&tracer);
    standin_stop(&s->standin);
    typing_free(&s->typed);
    free((char *)(uintptr_t)s->fresh.ptr);
    free(s->memory);
    free(s->options.request);
}

/* How a replay was unlike its trace. */
static void show_differences(void)
{
    if (!tracer.differs)
        return;
    fprintf(stderr, "%d request%s not as in the trace. The first has\n  ",
            tracer.differs, tracer.differs == 1 ? " is" : "s are");
    screen_print(&here.screen, tcall_str_of(tracer.is));
    fputs("\nwhere the trace has\n  ", stderr);
    screen_print(&here.screen, tcall_str_of(tracer.was));
    fputc('\n', stderr);
}

int main(int argc, char **argv)
{
    session *s = &here;
    options *o = &s->options;
    bool ok, lines;

    if (!options_read(o, argc, argv))
        return 2;
    if (o->help || o->version) {
        o->help ? options_help() : (void)puts("agent " TOOLCALL_VERSION);
        return 0;
    }
    s->screen.quiet = o->quiet || o->json;
    s->screen.verbose = o->verbose;
    s->screen.tc = &s->tc;
    s->screen.root = o->workspace;
    screen_init(&s->screen);
    s->memory = malloc(o->memory_size);
    if (!s->memory)
        return fail("there is too little memory", ""), 1;
    s->approval.screen = &s->screen;
    s->approval.typed = &s->typed;
    s->approval.person = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    s->approval.yes = o->yes;
    lines = !*o->request && (o->lines || isatty(STDIN_FILENO));
    typing_init(&s->typed, lines);
    ok = start(s) && (lines ? chat(s) : one_request(s));
    show_differences();
    stop(s);
    return ok ? 0 : 1;
}
