/*
 * tool.h - what the tools of this directory are made with
 *
 * A row of a table; what a call says to the model; its memory and its time.
 * There is nothing here for programs to use.
 */
#ifndef TTOOL_TOOL_H
#define TTOOL_TOOL_H

#include "tools/workspace.h"

#include <string.h>

/* A row of a const table. In C++ it is made by a function: there, members
 * cannot be named before C++20. */
#ifdef __cplusplus
static inline tcall_tool ttool_row_(const char *name, const char *title,
                                    const char *tags, tcall_run run,
                                    unsigned permissions, bool confirm,
                                    const char *description,
                                    tcall_schema_text parameters)
{
    tcall_tool t;
    memset(&t, 0, sizeof t);
    t.name = name;
    t.title = title;
    t.tags = tags;
    t.description = description;
    t.parameters = parameters;
    t.run = run;
    t.permissions = (uint8_t)permissions;
    t.confirm = t.looks_first = confirm;
    return t;
}
#define TTOOL_ROW_(n, t, g, r, p, c, d, s) ttool_row_(n, t, g, r, p, c, d, s)
#else
#define TTOOL_ROW_(n, t, g, r, p, c, d, s)                                \
    {                                                                     \
        .name = n, .title = t, .tags = g, .run = r, .permissions = p,     \
        .confirm = c, .looks_first = c, .description = d, .parameters = s \
    }
#endif

/* -- What is said to the model -------------------------------------------- */

/* "path: what", the reason that the model gets; of a long path the end. In
 * what, which outlives the call, a newline parts what is wrong from what to do
 * about it. */
int ttool_fail_(tcall_ctx *cx, tcall_writer *out, int error, const char *path,
                const char *what);
/* The same for an errno. */
int ttool_fail_errno_(tcall_ctx *cx, tcall_writer *out, const char *path,
                      int number);
/* A text among the arguments; empty where it is not given. */
tcall_str ttool_arg_(tcall_json args, const char *name);
/* The path as given, for messages. */
const char *ttool_given_(char *buf, size_t cap, tcall_str path);
/* "Read src/a.c". Where there is no memory for it, there is no title. */
void ttool_title_(tcall_ctx *cx, const char *what, tcall_str of);
/* Somebody has to say yes to this call, with these arguments. */
int ttool_ask_(tcall_ctx *cx, tcall_writer *out, const char *path,
               const char *why);
/* The same where the row says so (confirm), once nothing else is in the way:
 * nobody is asked for what cannot succeed. */
int ttool_confirm_(tcall_ctx *cx, tcall_writer *out, const char *path);

/* -- A call and its memory ------------------------------------------------ */

/* Fails the call of a tool whose row names nothing to work with. */
int ttool_nobody_(tcall_ctx *cx, tcall_writer *out);
/* The workspace of a call's tool. NULL, and why is written: none is open. */
ttool_workspace *ttool_enter_(tcall_ctx *cx, tcall_writer *out);
/* Begins a call: all memory is free but what a longer one keeps. */
ttool_workspace *ttool_begin_(ttool_workspace *ws);
/* n bytes, aligned, until the call ends; NULL: there are not so many. */
void *ttool_take_(ttool_workspace *ws, size_t n);
/* Called now and then in long work: each second it tells how far that is and
 * what is new of the output. False: it has to end. */
bool ttool_goes_on_(ttool_workspace *ws, tcall_ctx *cx, uint64_t count,
                    const char *of_what);
/* Bytes that the result may still have: within its tokens, four bytes each,
 * and with room left for a notice. */
size_t ttool_room_(const ttool_workspace *ws, const tcall_writer *out,
                   size_t start);
/* What a tool returns that may have been stopped. */
int ttool_end_(tcall_ctx *cx);
/* Closes a handle, which becomes -1. */
void ttool_close_(int *handle);

/* -- Calls that are done in pieces ---------------------------------------- */

/* What a tool does whose work is done in pieces: its state has `size` bytes,
 * zeroed at first, and what it writes is kept. */
typedef struct ttool_pieces_ {
    size_t size;
    int (*begin)(tcall_ctx *cx, void *state, tcall_json args,
                 tcall_writer *out);
    int (*go_on)(void *state, tcall_writer *out);
} ttool_pieces_;

int ttool_run_pieces_(tcall_ctx *cx, tcall_json args, tcall_writer *out,
                      const ttool_pieces_ *tool);
/* Work of one piece: entries of directories, each 4 KB that are read. A file
 * that is opened costs TTOOL_OPENED_ of it. */
enum { TTOOL_PIECE_ = 2048, TTOOL_OPENED_ = 8 };

void ttool_spend_(ttool_workspace *ws, size_t work);
/* Is it time to answer TCALL_E_AGAIN? Calls that are done at once never do. */
bool ttool_pauses_(const ttool_workspace *ws, const tcall_ctx *cx);
/* Ends the call that is done in pieces, if there is one. */
void ttool_end_long_(ttool_workspace *ws);

#endif /* TTOOL_TOOL_H */
