/*
 * mcp.c - the tools of the example agent for any MCP client, on stdio
 *
 *     mcp [--allow-command NAME]... [--yes] WORKSPACE
 *
 * The tools of tools/: files of the workspace, a list of tasks, web pages and,
 * where commands are allowed, those. A registry makes the calls, so hooks,
 * permissions and limits are its own, and a client is told of progress. Nobody
 * can be asked on this line: what needs approval is denied, and the answer says
 * so. With --yes the client is trusted to ask its user.
 */
#define _GNU_SOURCE
#define TOOLCALL_MCP_STASH 60000 /* of the arguments of a call */
#include "port/port.h"

#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include "tools/files.h"
#include "tools/shell.h"
#include "tools/todo.h"
#include "tools/web.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char memory[768 * 1024], workspace_memory[4 * TTOOL_MEMORY],
    todo_memory[16 * 1024], web_memory[TTOOL_WEB_MEMORY];
static tcall_tool rows[TTOOL_FILE_TOOLS + TTOOL_TODO_TOOLS + TTOOL_WEB_TOOLS +
                       TTOOL_SHELL_TOOLS];
static size_t row_count;

static ttool_workspace workspace;
static ttool_todo todo;
static ttool_web web;
static ttool_shell shell;
static ttool_command commands[16];
static size_t command_count;

static tcall registry;
static tcall_mcp server;

static uint32_t now_ms(void *user)
{
    (void)user;
    return tport_posix_now_ms();
}

static tcall_verdict approve(void *user, const tcall_call *call)
{
    (void)user, (void)call;
    return TCALL_VERDICT_ALLOW;
}

static void wait_for(void *user, const tcall_wait *wait)
{
    (void)user;
    tport_posix_wait(wait);
}

static int send_out(void *user, const char *bytes, size_t len)
{
    return (int)fwrite(bytes, 1, len, (FILE *)user);
}

/* Returns NULL, or what is wrong. */
static const char *start_tools(const char *root)
{
    ttool_workspace_desc w = {0};
    ttool_web_desc d = {0};
    ttool_shell_desc s = {0};

    w.root = root;
    w.memory = workspace_memory;
    w.memory_size = sizeof workspace_memory;
    if (ttool_workspace_open(&workspace, &w) < 0)
        return "this directory cannot be a workspace";
    ttool_todo_init(&todo, todo_memory, sizeof todo_memory, NULL, NULL);
    d.memory = web_memory;
    d.memory_size = sizeof web_memory;
    ttool_web_init(&web, &d);
    row_count +=
        ttool_rows(rows, ttool_file_tools, TTOOL_FILE_TOOLS, &workspace);
    row_count +=
        ttool_rows(rows + row_count, ttool_todo_tools, TTOOL_TODO_TOOLS, &todo);
    row_count +=
        ttool_rows(rows + row_count, ttool_web_tools, TTOOL_WEB_TOOLS, &web);
    if (!command_count)
        return NULL;
    s.workspace = &workspace;
    s.commands = commands;
    s.command_count = command_count;
    if (ttool_shell_init(&shell, &s) < 0)
        return shell.refusal;
    row_count += ttool_shell_row(rows + row_count, &shell);
    return NULL;
}

static bool start_server(bool yes)
{
    tcall_desc desc = {0};
    tcall_mcp_desc mcp = {0};

    desc.block = memory;
    desc.lenient = &tcall_lenient;
    desc.patterns = &tcall_patterns;
    desc.report = &tcall_report;
    desc.block_size = sizeof memory;
    desc.tools = rows;
    desc.tool_count = row_count;
    desc.allow = TCALL_EVERYTHING;
    desc.approve = yes ? approve : NULL;
    desc.now_ms = now_ms;
    desc.wait = wait_for;
    desc.max_wait_ms = 3600000; /* tools have limits of their own */
    mcp.name = "toolcall";
    mcp.version = TOOLCALL_VERSION;
    mcp.tc = &registry;
    mcp.sink = send_out;
    mcp.user = stdout;
    return tcall_init(&registry, &desc) == TCALL_OK &&
           tcall_mcp_serve(&server, &mcp) == TCALL_OK;
}

static const char usage[] =
    "mcp [--allow-command NAME]... [--yes] WORKSPACE\n"
    "Serves the tools for files, tasks and commands in WORKSPACE over the Model\n"
    "Context Protocol, on standard input and output. --yes approves every call\n"
    "that asks; without it they are denied.\n";

int main(int argc, char **argv)
{
    const char *root = NULL, *wrong;
    char bytes[4096];
    bool yes = false;
    ssize_t n;

    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) == EOF;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--yes") == 0)
            yes = true;
        else if (strcmp(argv[i], "--allow-command") == 0 && i + 1 < argc &&
                 command_count < TCALL_ARRAY_LEN(commands))
            commands[command_count++] =
                (ttool_command){argv[++i], NULL, "*", NULL};
        else
            root = argv[i];
    }
    if (!root || *root == '-') {
        fputs(usage, stderr);
        return 2;
    }
    wrong = start_tools(root);
    if (!wrong && !start_server(yes))
        wrong = "the tools cannot be used";
    if (wrong) {
        fprintf(stderr, "mcp: %s\n", wrong);
        return 2;
    }
    while ((n = read(0, bytes, sizeof bytes)) > 0) {
        tcall_mcp_feed(&server, bytes, (size_t)n);
        fflush(stdout);
    }
    return 0;
}
