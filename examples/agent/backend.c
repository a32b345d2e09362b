/* backend.c - see backend.h */
#define _GNU_SOURCE
#include "examples/agent/backend.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

const backend *backend_named(const char *name)
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

/* Those with variables of their own, and all that the library knows, which
 * take API_KEY, BASE_URL and MODEL. */
void backend_list(void)
{
    static const char *const others[] = {"gemini", "interactions",
#define SERVER(name, ...) #name,
                                         TCALL_SERVERS(SERVER)
#undef SERVER
    };

    for (size_t i = 0; i < TCALL_ARRAY_LEN(backends); i++)
        printf(" %s", backends[i].name);
    printf(";\n  by API_KEY, BASE_URL and MODEL:");
    for (size_t i = 0; i < TCALL_ARRAY_LEN(others); i++)
        printf("%s %s", i % 6 ? "" : "\n   ", others[i]);
    puts(".");
}

const char *from_environment(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* OpenAI's newer models call tools by Responses only; compatible servers know
 * Chat Completions. */
const backend *backend_of_environment(const char *base_url)
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
void backend_url(char *out, size_t cap, const char *url, const backend *b)
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

/* It prints its address as one line. */
bool standin_start(standin *s)
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

void standin_stop(standin *s)
{
    if (s->pid <= 0)
        return;
    close(s->input);
    waitpid(s->pid, NULL, 0);
}
