/* todo.c - see todo.h */
#include "tools/gnu.h"

#include "tools/todo.h"
#include "tools/place.h"
#include "tools/text.h"
#include "tools/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

tcall_str ttool_todo_list(const ttool_todo *todo)
{
    tcall_str list = {todo->memory + todo->at, todo->len};
    return todo->len ? list : tcall_str_of("[]");
}

int ttool_todo_init(ttool_todo *todo, void *memory, size_t size,
                    ttool_workspace *ws, const char *path)
{
    ttool_place at;
    tcall_str list = {NULL, 0};
    ssize_t n;
    int fd, number;
    memset(todo, 0, sizeof *todo);
    todo->memory = (char *)memory;
    todo->half = size / 2;
    todo->ws = ws;
    todo->path = path;
    if (!ws)
        return TCALL_OK;
    number = ttool_find_(ws, &at, tcall_str_of(path));
    if (number == 0 && !at.exists)
        return TCALL_OK;
    if (number == 0 && !S_ISREG(at.st.st_mode))
        return TCALL_E_FAILED;
    fd = number ? -1 : ttool_open_file_(ws, &at, O_RDONLY);
    if (fd < 0)
        return TCALL_E_FAILED;
    n = ttool_fill_(fd, todo->memory, todo->half);
    close(fd);
    if (n >= 0 && (off_t)n < at.st.st_size)
        return TCALL_E_MEMORY;
    list.ptr = todo->memory;
    list.len = n > 0 ? (size_t)n : 0;
    if (!list.len || *list.ptr != '[' || tcall_json_check(list) < 0)
        return TCALL_E_FAILED;
    todo->len = (size_t)n;
    return TCALL_OK;
}

/* Saves text as the file of the list. */
static int ttool_todo_save_(tcall_ctx *cx, const ttool_todo *todo,
                            tcall_str text, tcall_writer *out)
{
    ttool_workspace *ws = todo->ws;
    ttool_place at;
    tcall_str old = {"", 0};
    bool changed;
    int number;
    ttool_begin_(ws);
    number = ttool_find_(ws, &at, tcall_str_of(todo->path));
    if (number == 0 && at.exists)
        number = S_ISREG(at.st.st_mode) ? ttool_load_(ws, &at, &old) : EEXIST;
    if (number == 0)
        number = ttool_replace_(ws, &at, old, text, &changed);
    return number ? ttool_fail_errno_(cx, out, todo->path, number) : TCALL_OK;
}

static int ttool_todo_write_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    ttool_todo *todo = (ttool_todo *)cx->user;
    size_t spare;
    tcall_json todos = tcall_json_get(args, "todos"), one;
    int left = 0, count = tcall_json_count(todos), r = TCALL_OK;
    tcall_str text;
    tcall_writer w;
    if (!todo)
        return ttool_nobody_(cx, out);
    spare = todo->at ? 0 : todo->half;
    ttool_title_(cx, "Write the task list", tcall_str_of(""));
    tcall_writer_init(&w, todo->memory + spare, todo->half);
    if (tcall_write_json(&w, todos) < 0)
        return ttool_fail_(cx, out, TCALL_E_LIMIT, "",
                           "the list is too long\nDrop what is completed.");
    text.ptr = w.buf;
    text.len = w.fill;
    if (todo->ws)
        r = ttool_todo_save_(cx, todo, text, out);
    if (r < 0)
        return r;
    todo->at = spare;
    todo->len = w.fill;
    for (one = tcall_json_first(todos); one.at; one = tcall_json_next(one)) {
        const char *status =
            tcall_json_string(tcall_json_get(one, "status"), "");
        left += strcmp(status, "pending") == 0 ||
                strcmp(status, "in_progress") == 0;
    }
    ttool_text_int_(out, (uint64_t)count);
    tcall_write_text(out, count == 1 ? " task, " : " tasks, ");
    ttool_text_int_(out, (uint64_t)left);
    return tcall_write_text(out, " of them to be done");
}

static int ttool_todo_read_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const ttool_todo *todo = (const ttool_todo *)cx->user;
    (void)args;
    if (!todo)
        return ttool_nobody_(cx, out);
    ttool_title_(cx, "Read the task list", tcall_str_of(""));
    return tcall_write_verbatim(out, ttool_todo_list(todo));
}

/* clang-format off */
const tcall_tool ttool_todo_tools[TTOOL_TODO_TOOLS] = {
    TTOOL_ROW_("todowrite", "Write the task list", "todo task list plan progress",
        ttool_todo_write_, TCALL_READ, false,
        "Replace the list of tasks for the work at hand. Use it for work of several "
        "steps, and keep one task in progress at a time.",
        TCALL_JSON({
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array", "maxItems": 200,
                    "description": "The whole new list, in the order in which the tasks are to be done",
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": {
                                "type": "string", "minLength": 1, "maxLength": 500,
                                "description": "What is to be done, in one short sentence that names the result"
                            },
                            "status": {
                                "type": "string",
                                "enum": ["pending", "in_progress", "completed", "cancelled"],
                                "description": "How far the task is: pending, in_progress, completed or cancelled"
                            },
                            "priority": {
                                "type": "string", "enum": ["high", "medium", "low"],
                                "description": "How much the task matters beside the others; default medium"
                            }
                        },
                        "required": ["content", "status"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["todos"],
            "additionalProperties": false
        })),
    TTOOL_ROW_("todoread", "Read the task list", "todo task list plan progress",
        ttool_todo_read_, TCALL_READ, false,
        "Show the list of tasks as it was written last, with the state of each.",
        TCALL_JSON({
            "type": "object", "properties": {}, "additionalProperties": false
        })),
};
/* clang-format on */
