/*
 * todo.h - tools for a list of tasks: todowrite, todoread
 *
 *     static char memory[8192];
 *     static ttool_todo todo;
 *     ttool_todo_init(&todo, memory, sizeof memory, &workspace, ".todo.json");
 *     ttool_rows(rows, ttool_todo_tools, TTOOL_TODO_TOOLS, &todo);
 *
 * The list is kept as the JSON text that was checked when it came, in one half
 * of the caller's memory. A new list is written to the other half, then to its
 * file (where there is one, as workspace.h writes files), and only then it
 * counts: a failure, or a power cut, leaves the old list.
 */
#ifndef TTOOL_TODO_H
#define TTOOL_TODO_H

#include "tools/workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TTOOL_TODOWRITE, TTOOL_TODOREAD, TTOOL_TODO_TOOLS };

typedef struct ttool_todo {
    char *memory;
    size_t half;         /* size of each half */
    size_t at, len;      /* the list is memory[at .. at + len) */
    ttool_workspace *ws; /* NULL: the list is not saved */
    const char *path;
} ttool_todo;

/* ws and path may be NULL; otherwise the list that was saved there is loaded.
 * TCALL_OK, also where there is none yet; TCALL_E_MEMORY: it does not fit;
 * TCALL_E_FAILED: it cannot be read, or is no JSON array. Then it is empty. */
int ttool_todo_init(ttool_todo *todo, void *memory, size_t size,
                    ttool_workspace *ws, const char *path);
/* The list as a JSON array of {"content", "status", "priority"}. */
tcall_str ttool_todo_list(const ttool_todo *todo);

/* user: a ttool_todo. */
extern const tcall_tool ttool_todo_tools[TTOOL_TODO_TOOLS];

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_TODO_H */
