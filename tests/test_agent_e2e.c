/* The main job from end to end: examples/agent talks to examples/standin over
 * TLS on 127.0.0.1, as each provider does, whole and streamed. What it prints
 * must show the right calls with the right arguments. */
#define _POSIX_C_SOURCE 200809L
#define MKCERT_NO_MAIN
#include "mkcert.c"

#include "check.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 60 }; /* for one run; no run takes one */

static char dir[512]; /* where the programs are: beside this one */
static char output[1 << 18];

static const char *path_of(const char *name)
{
    static char paths[8][600];
    static int turn;
    char *path = paths[turn++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

/* Starts a program; *in and *out are the other ends of its pipes. alarm
 * survives exec, so nothing hangs for ever. */
static pid_t start(const char *const *argv, int *in, int *out)
{
    int a[2], b[2];
    pid_t pid;

    if (pipe(a) != 0 || pipe(b) != 0 || (pid = fork()) < 0)
        exit(1);
    if (pid == 0) {
        dup2(a[0], STDIN_FILENO);
        dup2(b[1], STDOUT_FILENO);
        dup2(b[1], STDERR_FILENO);
        close(a[0]), close(a[1]), close(b[0]), close(b[1]);
        alarm(SECONDS);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(a[0]);
    close(b[1]);
    *in = a[1];
    *out = b[0];
    return pid;
}

/* Runs the agent with up to 6 arguments; output holds what it printed.
 * Returns its exit code, or -1 when it was killed. */
static int agent(const char *input, const char *const *args)
{
    const char *argv[11] = {path_of("agent"), "--verbose", "--lines"};
    size_t fill = 0, len = strlen(input);
    ssize_t n = 0;
    int in, out, status;
    pid_t pid;

    for (int i = 0; i < 7 && args[i]; i++)
        argv[i + 3] = args[i];
    pid = start(argv, &in, &out);
    while (len && (n = write(in, input, len)) > 0) {
        input += n;
        len -= (size_t)n;
    }
    close(in);
    while (fill + 1 < sizeof output &&
           (n = read(out, output + fill, sizeof output - 1 - fill)) > 0)
        fill += (size_t)n;
    output[fill] = '\0';
    close(out);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool printed(const char *text)
{
    return strstr(output, text) != NULL;
}

/* --------------------------------------------------------------------------
 * Requests that nobody wrote a script for, and what must come of them
 */

static const struct {
    const char *request;
    const char *lines[4]; /* must be printed in this order */
} turns[] = {
    {"What time is it 9 hours east of UTC?",
     {"call     get_time {\"utc_offset\":9}", "checked  valid", "+09:00"}},
    {"what is the uptime of this machine",
     {"call     get_system_status {}", "uptime"}},
    {"how hot is the processor in fahrenheit?",
     {"call     get_temperature {\"unit\":\"fahrenheit\"}", "\"simulated\":"}},
    {"please switch gpio 17 on",
     {"call     write_gpio {\"pin\":17,\"on\":true}", "approved write_gpio",
      "\"on\":true"}},
    {"read gpio 17",
     {"call     read_gpio {\"pin\":17}", "{\"pin\":17,\"on\":true"}},
    {"switch gpio 3 off and switch gpio 4 on",
     {"call     write_gpio {\"pin\":3,\"on\":false}",
      "call     write_gpio {\"pin\":4,\"on\":true}",
      "The tool write_gpio answered: pin 3", "pin 4, on true"}},
    {"convert 20 celsius to fahrenheit",
     {"call     convert_unit "
      "{\"value\":20,\"from\":\"celsius\",\"to\":\"fahrenheit\"}"}},
    {"convert 26.2 miles to kilometres",
     {"call     convert_unit "
      "{\"value\":26.2,\"from\":\"mile\",\"to\":\"kilometre\"}",
      "42.16481", "The tool convert_unit answered: value 42.16481"}},
    {"convert -40 celsius to fahrenheit",
     {"call     convert_unit "
      "{\"value\":-40,\"from\":\"celsius\",\"to\":\"fahrenheit\"}",
      "\"value\":-40"}},
    {"What time is it and how much memory is free?",
     {"call     get_time {}", "call     get_system_status {}",
      "The tool get_time answered", "The tool get_system_status answered"}},
    {"convert 5 kilograms to miles",
     {"failed   ", "cannot be converted", "could not do it"}},
    {"switch gpio 99 on", {"refused  invalid", "/pin", "could not do it"}},
    {"switch on the gpio", {"I need a value for \"pin\""}},
    {"Hello, who are you?",
     {"I follow simple requests; no tool of mine does that. I have: get_time"}},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \"quoted\" \\ and\ttab",
     {"No tool of mine does that"}},
};

static void check_turns(const char *provider, bool stream)
{
    const char *args[] = {"--standin", provider, "--yes",
                          stream ? NULL : "--no-stream", NULL};
    static char input[4096];
    const char *at;
    size_t n = 0;
    int code;

    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++)
        n += (size_t)snprintf(input + n, sizeof input - n, "%s\n",
                              turns[i].request);
    code = agent(input, args);
    n = strlen(output);
    CHECK(code == 0);
    CHECK(printed("tools sent: 6\n"));
    CHECK(printed("bytes of memory"));
    at = output;
    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
        char prompt[256], *end;
        snprintf(prompt, sizeof prompt, "> %s\n", turns[i].request);
        at = strstr(at, prompt);
        CHECK(at);
        if (!at)
            break;
        at += strlen(prompt);
        end = strstr(at, "\n> ");
        for (int k = 0; k < 4 && turns[i].lines[k]; k++) {
            const char *hit = strstr(at, turns[i].lines[k]);
            bool ok = hit && (!end || hit < end);
            CHECK(ok);
            if (ok)
                at = hit + strlen(turns[i].lines[k]);
            else
                printf("  %s, %s: \"%s\": not there: %s\n", provider,
                       stream ? "streamed" : "whole", turns[i].request,
                       turns[i].lines[k]);
        }
    }
    if (code != 0)
        printf("%s\n", output + (n > 600 ? n - 600 : 0));
}

/* --------------------------------------------------------------------------
 * What goes wrong must be said, and end with another exit code
 */

static void check_certificate(void)
{
    static mkcert_result other;
    mkcert_request request = {"127.0.0.1", "20200101000000", "20491231235959"};
    char ca[] = "/tmp/test_agent_e2e.XXXXXX";
    const char *args[] = {"--standin", "openai",          "--ca",
                          ca,          "what time is it", NULL};
    int fd = mkstemp(ca);

    CHECK(fd >= 0 && mkcert_begin() == 0 && mkcert(&other, &request) == 0);
    CHECK(write(fd, other.ca, strlen(other.ca)) == (ssize_t)strlen(other.ca));
    close(fd);
    CHECK(agent("", args) == 1);
    CHECK(printed("not signed by a trusted CA"));
    CHECK(!printed("call "));
    args[3] = "/nowhere";
    CHECK(agent("", args) == 1);
    unlink(ca);
    mkcert_end();
}

/* The address that a stand-in prints. */
static pid_t start_standin(const char *const *argv, int *in, char *url,
                           size_t cap)
{
    int out;
    pid_t pid = start(argv, in, &out);
    ssize_t n = read(out, url, cap - 1);

    url[n > 0 ? n : 0] = '\0';
    url[strcspn(url, "\n")] = '\0';
    close(out);
    return pid;
}

static void check_keys(const char *key, const char *base)
{
    const char *server[] = {
        path_of("standin"),     "--cert",    path_of("standin.crt"), "--key",
        path_of("standin.key"), "--require", "the-right-key",        NULL};
    char address[64], url[80];
    int in;
    pid_t pid = start_standin(server, &in, address, sizeof address);
    const char *args[] = {
        "--base-url",         url, "--ca", path_of("standin.crt"),
        "how hot is the cpu", NULL};

    snprintf(url, sizeof url, "%s%s", address, base);
    setenv(key, "the-wrong-secret", 1);
    CHECK(agent("", args) == 1);
    CHECK(printed("error: ") && printed("invalid API key"));
    CHECK(printed("HTTP status 401"));
    CHECK(!printed("the-wrong-secret"));
    setenv(key, "the-right-key", 1);
    CHECK(agent("", args) == 0);
    CHECK(printed("call     get_temperature {}"));
    CHECK(!printed("the-right-key"));
    unsetenv(key);
    close(in);
    waitpid(pid, NULL, 0);
}

/* How long a tool took is not the same twice. */
static void drop_times(char *text)
{
    while ((text = strstr(text, " ms)"))) {
        char *number = text;
        while (number[-1] >= '0' && number[-1] <= '9')
            number--;
        memmove(number, text, strlen(text) + 1);
        text = number + 4;
    }
}

/* What a trace holds is enough to run again without a server, and no key. */
static void check_trace(void)
{
    static char first[4096], text[1 << 16];
    char file[] = "/tmp/test_agent_e2e.XXXXXX";
    const char *request = "switch gpio 3 off and switch gpio 4 on";
    const char *record[] = {"--standin", "anthropic", "--trace",
                            file,        request,     NULL};
    const char *replay[] = {"--replay", file, request, NULL};
    int fd = mkstemp(file);
    ssize_t n;
    char *call, *end;

    CHECK(fd >= 0);
    CHECK(agent("", record) == 0);
    drop_times(output);
    call = strstr(output, "  call ");
    CHECK(call && printed("call     write_gpio {\"pin\":4,\"on\":true}"));
    end = call ? strstr(call, "  request ") : NULL; /* its size differs */
    snprintf(first, sizeof first, "%.*s", end ? (int)(end - call) : 0,
             call ? call : "");
    n = read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    CHECK(strstr(text, "x-api-key: ***") && !strstr(text, "no-key-needed"));
    CHECK(agent("", replay) == 0);
    drop_times(output);
    CHECK(*first && printed(first));
    CHECK(!printed("not as in the trace")); /* provider and model are its */
    replay[1] = "/nowhere";
    CHECK(agent("", replay) == 1);
    close(fd);
    unlink(file);
}

static void check_plain(void)
{
    const char *server[] = {path_of("standin"), "--plain", NULL};
    const char *args[] = {"read gpio 5", NULL};
    char address[64];
    int in;
    pid_t pid = start_standin(server, &in, address, sizeof address);

    CHECK(strncmp(address, "http://", 7) == 0);
    setenv("OLLAMA_HOST", address + 7, 1);
    CHECK(agent("", args) == 0);
    CHECK(printed("call     read_gpio {\"pin\":5}"));
    setenv("OLLAMA_HOST", "192.0.2.1:11434", 1);
    CHECK(agent("", args) == 1);
    CHECK(printed("http"));
    unsetenv("OLLAMA_HOST");
    close(in);
    waitpid(pid, NULL, 0);
}

/* Ctrl-C ends a turn whose server is silent, and the next one begins. */
static void check_interrupt(void)
{
    const char *args[] = {path_of("agent"), "--lines", NULL};
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    int listener = socket(AF_INET, SOCK_STREAM, 0), in, out, i, status = 0;
    int connections[2];
    char address[64];
    size_t fill = 0;
    ssize_t n;
    pid_t pid;

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(listener, (struct sockaddr *)&a, sizeof a) == 0 &&
          listen(listener, 2) == 0 &&
          getsockname(listener, (struct sockaddr *)&a, &len) == 0);
    snprintf(address, sizeof address, "127.0.0.1:%u",
             (unsigned)ntohs(a.sin_port));
    setenv("OLLAMA_HOST", address, 1);
    pid = start(args, &in, &out);
    unsetenv("OLLAMA_HOST");
    CHECK(write(in, "one\ntwo\n", 8) == 8);
    close(in);
    for (i = 0; i < 2; i++) {
        char byte;
        connections[i] = accept(listener, NULL, NULL);
        CHECK(recv(connections[i], &byte, 1, 0) == 1);
        kill(pid, SIGINT);
    }
    while ((n = read(out, output + fill, sizeof output - 1 - fill)) > 0)
        fill += (size_t)n;
    output[fill] = '\0';
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
          WEXITSTATUS(status) == 1);
    CHECK(printed("> one\n") && printed("> two\n"));
    CHECK(printed("Stopped."));
    for (i = 0; i < 2; i++)
        close(connections[i]);
    close(listener), close(out);
}

/* Each of the ready-made tools, in a directory of its own. */
static const struct {
    const char *request;
    const char *lines[3]; /* must be printed in this order */
} works[] = {
    {"read the file \"a.txt\"",
     {"call     read {\"file_paths\":[\"a.txt\"]}", "     2\ttwo"}},
    {"edit the file \"a.txt\": \"two\" \"2\"",
     {"call     edit {\"file_path\":\"a.txt\"", "approved edit",
      "changed a.txt: 1 place, 6 bytes"}},
    {"write a file \"b.txt\" \"hello\"",
     {"call     write {\"file_path\":\"b.txt\",\"content\":\"hello\"}",
      "approved write", "created b.txt"}},
    {"search for \"hel+o\" in the files",
     {"call     grep {\"pattern\":\"hel+o\"}", "b.txt:1:hello"}},
    {"glob \"**/*.txt\"",
     {"call     glob {\"pattern\":\"**/*.txt\"}", "b.txt"}},
    {"list the directory", {"call     list {}", "./\n  a.txt\n  b.txt\n"}},
    {"todowrite \"buy milk\" pending",
     {"call     todowrite {\"todos\":[{\"content\":\"buy milk\",",
      "1 task, 1 of them to be done"}},
    {"todoread", {"call     todoread {}", "\"content\":\"buy milk\""}},
    {"run the command \"echo hi there\"",
     {"call     bash {\"command\":\"echo hi there\"}", "approved bash",
      "\"output\":\"hi there\\n\""}},
    {"run the command \"rm a.txt\"",
     {"call     bash {\"command\":\"rm a.txt\"}",
      "may not run; what may: echo"}},
    {"fetch the web page \"https://127.0.0.1/x\"",
     {"call     webfetch {\"url\":\"https://127.0.0.1/x\"}",
      "approved webfetch", "not a public address"}},
    {"give a piece of work to a sub-agent: \"list the directory\"",
     {"call     task {\"prompt\":\"list the directory\"}", "call     list {}",
      "The tool task answered"}},
};

static void check_workspace(void)
{
    enum { WORKS = sizeof works / sizeof works[0] };
    static char input[4096];
    char root[] = "/tmp/test_agent_e2e.XXXXXX", path[64];
    const char *args[] = {"--standin", "openai",          "--workspace", root,
                          "--yes",     "--allow-command", "echo",        NULL};
    const char *alone[] = {"--allow-command", "echo", "hello", NULL};
    const char *home[] = {"--workspace", "/", "hello", NULL};
    const char *at;
    FILE *f;
    size_t n = 0;
    int error;

    /* Programs in a sandbox are not root, even if the test is. */
    CHECK(mkdtemp(root) != NULL && chmod(root, 0755) == 0);
    snprintf(path, sizeof path, "%s/a.txt", root);
    f = fopen(path, "w");
    CHECK(f && fputs("one\ntwo\n", f) >= 0 && fclose(f) == 0);
    for (int i = 0; i < WORKS; i++)
        n += (size_t)snprintf(input + n, sizeof input - n, "%s\n",
                              works[i].request);
    error = agent(input, args);
    if (printed("without a sandbox")) {
        printf("SKIPPED: this system has no sandbox for --allow-command\n");
        args[5] = NULL;
        error = agent(input, args);
    }
    CHECK(error == 0);
    at = output;
    for (int i = 0; i < WORKS; i++) {
        const char *end;
        at = strstr(at, works[i].request);
        CHECK(at);
        if (!at)
            break;
        at += strlen(works[i].request);
        end = strstr(at, "\n> ");
        if (!args[5] && strstr(works[i].request, "the command"))
            continue;
        for (int k = 0; k < 3 && works[i].lines[k]; k++) {
            const char *hit = strstr(at, works[i].lines[k]);
            bool ok = hit && (!end || hit < end);
            CHECK(ok);
            if (!ok)
                printf("  \"%s\": not there: %s\n", works[i].request,
                       works[i].lines[k]);
        }
    }
    args[4] = NULL; /* nobody says yes */
    CHECK(agent("write a file \"c.txt\" \"x\"\n", args) == 0);
    CHECK(printed("call     write ") && printed("denied   write"));
    snprintf(path, sizeof path, "%s/c.txt", root);
    CHECK(access(path, F_OK) != 0);
    CHECK(agent("", alone) == 1 && printed("--workspace"));
    CHECK(agent("", home) == 1 && printed("no workspaces"));
    for (const char *name = "ab"; *name; name++) {
        snprintf(path, sizeof path, "%s/%c.txt", root, *name);
        CHECK(unlink(path) == 0);
    }
    CHECK(rmdir(root) == 0);
}

static void check_rest(void)
{
    static char longer[8000];
    const char *none[] = {NULL};
    const char *bad[] = {"--nonsense", NULL};
    const char *nobody[] = {"--provider", "nobody", NULL};
    const char *closed[] = {"--provider", "openai",
                            "--base-url", "https://127.0.0.1:1/v1",
                            "hello",      NULL};

    CHECK(agent("", none) == 0);
    CHECK(agent("\n\n", none) == 0);
    CHECK(agent("", bad) == 2);
    CHECK(agent("", nobody) == 1);
    CHECK(agent("", closed) == 1);
    CHECK(printed("error: ") && printed("127.0.0.1: "));
    /* Many turns: history is dropped, the block is never outgrown. */
    for (int i = 0; i < 150; i++)
        strcat(longer, "what time is it and read gpio 7\n");
    CHECK(agent(longer, none) == 0);
    CHECK(!printed("error"));
    CHECK(printed("call     read_gpio {\"pin\":7}"));
}

int main(int argc, char **argv)
{
    static const char *const programs[] = {"agent", "standin", "standin.crt",
                                           "standin.key"};
    static const char *const variables[] = {
        "OPENAI_API_KEY",  "OPENAI_BASE_URL",   "OPENAI_MODEL",
        "OLLAMA_API_KEY",  "OLLAMA_HOST",       "OLLAMA_MODEL",
        "ANTHROPIC_MODEL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"};
    char *slash = strrchr(argv[0], '/');

    (void)argc;
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - argv[0]) : 1,
             slash ? argv[0] : ".");
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (access(path_of(programs[i]), R_OK) != 0) {
            printf("SKIPPED: %s is not there: make all\n",
                   path_of(programs[i]));
            printf("test_agent_e2e: 0 passed, 0 failed, 1 skipped\n");
            return 0;
        }
    for (int stream = 0; stream < 2; stream++) {
        check_turns("openai", stream);
        check_turns("anthropic", stream);
        check_turns("ollama", stream);
    }
    check_certificate();
    check_keys("OPENAI_API_KEY", "/v1");
    check_keys("ANTHROPIC_API_KEY", "");
    check_trace();
    check_plain();
    check_interrupt();
    check_workspace();
    check_rest();
    return check_sum("test_agent_e2e");
}
