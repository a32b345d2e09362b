/*
 * session.h - what the parts of the example agent share
 */
#ifndef SESSION_H
#define SESSION_H

#include "port/port.h"

#include "toolcall.h"

#include "tools/files.h"
#include "tools/shell.h"
#include "tools/task.h"
#include "tools/todo.h"
#include "tools/web.h"

#include "examples/agent/approval.h"
#include "examples/agent/backend.h"
#include "examples/agent/machine.h"
#include "examples/agent/options.h"
#include "examples/agent/screen.h"
#include "examples/agent/typing.h"

#include <stdio.h>

/* The ready-made tools that --workspace adds, and what they work with. */
typedef struct workshop {
    ttool_workspace workspace;
    ttool_todo todo;
    ttool_web web;
    ttool_task task;
    ttool_shell shell;
    char workspace_memory[4 * TTOOL_MEMORY], todo_memory[16 * 1024],
        web_memory[TTOOL_WEB_MEMORY], task_memory[256 * 1024];
} workshop;

#define SESSION_TOOLS                                                        \
    (MACHINE_TOOLS + TTOOL_FILE_TOOLS + TTOOL_TODO_TOOLS + TTOOL_WEB_TOOLS + \
     TTOOL_TASK_TOOLS + TTOOL_SHELL_TOOLS)

typedef struct session {
    options options;
    screen screen;
    typing typed;
    approval approval;
    tcall_tool tools[SESSION_TOOLS];
    size_t tool_count;
    workshop workshop;
    tcall tc;
    tcall_agent agent;
    tcall_agent_desc desc;
    tport port;
    tport_desc port_desc;
    char urls[2][512]; /* urls[url] is in use */
    bool url;
    bool port_started;
    standin standin;
    tcall_str fresh; /* the conversation before anything was said */
    bool forgot;     /* it was said that old turns are dropped */
    char *memory;    /* all that the library has */
} session;

/* Lets a provider of this name answer from now on. Returns NULL, or why it
 * cannot; then nothing has changed. */
const char *session_provider(session *s, const char *name);
/* Writes down from now on in this file what is sent, answered and done; "":
 * nowhere. Returns NULL, or why it cannot. */
const char *session_trace(session *s, const char *path);
/* Runs a turn, with what a person says; .ptr NULL: goes on with one that was
 * loaded. Says how it ends. False: badly. */
bool session_turn(session *s, tcall_str text);

/* Gives the conversation as bytes that are the caller's to free; .ptr is NULL
 * where memory is short. */
tcall_str session_bytes(const session *s);
/* Prints a problem that the library or the port names, in the agent's words. */
void session_problem(session *s, const char *text);

#endif /* SESSION_H */
