/*
 * agent.c - a chat agent for the terminal
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
 * It lies in examples/agent/: machine.c has the tools, backend.c the providers,
 * screen.c shows what happens, approval.c asks, typing.c reads what is typed,
 * commands.c does what begins with /. Here they become one agent.
 */
#define _GNU_SOURCE
#include "examples/agent/session.h"

#include "examples/agent/commands.h"
#include "examples/trace.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static session here;
static trace tracer;
static trace events; /* --json */
static const tcall_hook hooks[] = {TRACE_RESULTS(&tracer),
                                   TTOOL_HIDE(&here.desc.key)};

static void on_event(void *user, const tcall_event *e)
{
    session *s = user;

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

static uint32_t now_ms(void *user)
{
    (void)user;
    return tport_posix_now_ms();
}

static bool fail(const char *what, const char *detail)
{
    fprintf(stderr, "agent: %s%s%s\n", what, *detail ? ": " : "", detail);
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
    d.block_size = sizeof s->memory;
    d.tools = s->tools;
    d.tool_count = s->tool_count;
    d.allow = TCALL_READ | TCALL_ACTUATE |
              (s->options.workspace ? TCALL_EVERYTHING : 0);
    d.approve = approve;
    d.on_event = on_event;
    d.now_ms = now_ms;
    d.report = &faults;
    d.hooks = hooks;
    d.hook_count = (uint16_t)TCALL_ARRAY_LEN(hooks);
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

FILE *create_private(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *f = fd >= 0 && fchmod(fd, 0600) == 0 ? fdopen(fd, "w") : NULL;

    if (!f && fd >= 0)
        close(fd);
    return f;
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

static bool start_transport(session *s)
{
    const options *o = &s->options;
    const char *path = o->replay ? o->replay : o->trace;
    FILE *f = NULL;

    if (path)
        f = o->replay ? fopen(path, "r") : create_private(path);
    if (path && !f)
        return fail("cannot open", path);
    if (o->replay)
        s->desc.transport =
            screen_transport(&s->screen, trace_replay(&tracer, f));
    else
        watch_port(s, f);
    return true;
}

/* Of many tools only the best 8 are sent, safe or not, in their order. */
static const tcall_pick_opts picking = {
    .max = 8, .relative = 50, .allow_unsafe = true, .stable = true};

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
    d->pick_opts = &picking; /* once there are more than 20 tools */
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
    set_backend(s, b, "stand-in", "none");
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
    if (!start_tools(s))
        return false;
    if (o->replay) {
        screen_note(&s->screen, "answers from %s, %s\n", o->replay, b->name);
        set_backend(s, b, o->model ? o->model : "none", NULL);
    } else if (!(real ? use_real(s, b) : start_standin(s, b)))
        return false;
    return start_agent(s);
}

/* The stand-in goes on to answer where there is no key for a real server, and
 * it speaks as that does. */
bool session_provider(session *s, const char *name)
{
    const backend *b = s->options.replay ? NULL : backend_named(name);
    const tcall_agent_desc before = s->desc;
    const tport_desc port_before = s->port_desc;
    bool speaks, done;

    if (!b)
        return false;
    speaks = *b->default_model != '\0';
    s->options.base_url = s->options.model = NULL; /* of the one before */
    tport_free(&s->port);
    done = s->standin.pid > 0 && speaks && !from_environment(b->key)
               ? use_standin(s, b)
               : use_real(s, b);
    if (done && tcall_agent_use(&s->agent, &s->desc) == TCALL_OK)
        return true;
    tport_free(&s->port);
    s->desc = before;
    s->port_desc = port_before;
    tport_init(&s->port, &port_before);
    screen_hide(&s->screen, before.key);
    return false;
}

bool session_trace(session *s, const char *path)
{
    FILE *f = *path && !s->options.replay ? create_private(path) : NULL;

    if (s->options.replay || (*path && !f))
        return false;
    watch_port(s, f);
    return tcall_agent_use(&s->agent, &s->desc) == TCALL_OK;
}

/* Why a turn ended badly, in words. */
static void show_error(session *s, int error)
{
    const tcall_response *response = &s->agent.response;
    const char *said = s->agent.answer.message; /* a server's words */
    bool network = error <= TCALL_E_RESOLVE && error >= TCALL_E_PROTOCOL;

    screen_line(&s->screen);
    fprintf(stderr, "error: %s", tcall_error_text(error));
    if (network && *tport_error(&s->port))
        said = tport_error(&s->port);
    if (*said)
        fprintf(stderr, ": ");
    screen_print(&s->screen, tcall_str_of(said));
    if (response->status >= 300)
        fprintf(stderr, " (HTTP status %d)", response->status);
    if (response->retry_after_ms > 0)
        fprintf(stderr, ", try again in %ld s",
                (response->retry_after_ms + 999) / 1000);
    if (error == TCALL_E_MEMORY)
        fprintf(stderr, ": %lu bytes would do",
                (unsigned long)s->tc.block.need);
    fputc('\n', stderr);
}

static void on_interrupt(int number)
{
    (void)number;
    typing_interrupted = 1;
    tcall_agent_cancel(&here.agent);
}

/* Ctrl-C ends the turn, not the program. Without SA_RESTART it also ends what
 * waits for an answer to a question. */
static bool turn(session *s, const char *text)
{
    struct sigaction own, before;
    int r;

    memset(&own, 0, sizeof own);
    own.sa_handler = on_interrupt;
    typing_interrupted = 0;
    sigaction(SIGINT, &own, &before);
    r = tcall_agent_run(&s->agent, tcall_str_of(text));
    sigaction(SIGINT, &before, NULL);
    clearerr(stdin);
    screen_line(&s->screen);
    if (r < 0)
        show_error(s, r);
    fflush(stdout);
    return r == TCALL_OK;
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
        again = !read && typing_interrupted && !warned;
        if (again)
            fputs("\nCtrl-C once more leaves.\n", stderr);
        warned = true;
        clearerr(stdin);
    } while (again);
    sigaction(SIGINT, &before, NULL);
    return read;
}

/* What a person typed: a request, a command, or the wish to leave, then
 * false. */
static bool obey(session *s, char *line, bool *ok)
{
    if (is_farewell(line))
        return false;
    if (*line == '/')
        return command(s, line);
    if (*line)
        *ok = turn(s, line) && *ok;
    return true;
}

/* A request for each line of input. */
static bool chat(session *s)
{
    tcall_writer w;
    bool ok = true;

    tcall_writer_init(&w, s->fresh, sizeof s->fresh);
    tcall_agent_save(&s->agent, &w);
    s->fresh_len = w.fill;
    while (next_line(s)) {
        if (s->approval.person) {
            if (!obey(s, s->typed.text, &ok))
                return ok;
        } else if (*s->typed.text) {
            screen_note(&s->screen, "> %s\n", s->typed.text);
            ok = turn(s, s->typed.text) && ok;
        }
    }
    if (s->approval.person)
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

static void print_help(void)
{
    fputs(help, stdout);
    backend_list();
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
}

int main(int argc, char **argv)
{
    session *s = &here;
    options *o = &s->options;
    bool ok;

    if (!read_options(o, argc, argv))
        return 2;
    if (o->help || o->version) {
        o->help ? print_help() : (void)puts("agent " TOOLCALL_VERSION);
        return 0;
    }
    s->screen.quiet = o->quiet || o->json;
    s->screen.verbose = o->verbose;
    s->screen.tc = &s->tc;
    s->screen.root = o->workspace;
    screen_init(&s->screen);
    s->approval.screen = &s->screen;
    s->approval.typed = &s->typed;
    s->approval.person = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    s->approval.yes = o->yes;
    if (!*o->request)
        typing_init(&s->typed);
    ok = start(s);
    if (ok)
        ok = *o->request ? turn(s, o->request) : chat(s);
    if (tracer.differs)
        fprintf(stderr, "%d requests were not as in the trace.\n",
                tracer.differs);
    stop(s);
    return ok ? 0 : 1;
}
