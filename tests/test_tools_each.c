/* What holds for each of the tools alike, in one table: an error has its type
 * and says what to do, a result has its title and preview, and work that takes
 * longer than a second says how far it is. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "tools/files.h"
#include "tools/shell.h"
#include "tools/task.h"
#include "tools/todo.h"
#include "tools/web.h"
#include "tools.h"

#define TOOLS                                                \
    (TTOOL_FILE_TOOLS + TTOOL_TODO_TOOLS + TTOOL_WEB_TOOLS + \
     TTOOL_TASK_TOOLS + TTOOL_SHELL_TOOLS)

static char root[256], memory[TTOOL_MEMORY], web_memory[TTOOL_WEB_MEMORY],
    todo_memory[1024], progress[128];
static ttool_workspace ws;
static ttool_todo todo;
static ttool_web web;
static ttool_task task;
static ttool_shell shell;
static tcall_tool rows[TOOLS];
static uint32_t clock_ms, tick;

static uint32_t later(void)
{
    return tick ? clock_ms += tick : ttool_linux.now_ms();
}

static void on_event(void *user, const tcall_event *e)
{
    (void)user;
    if (e->kind == TCALL_EVENT_PROGRESS)
        snprintf(progress, sizeof progress, "%.*s", (int)e->text.len,
                 e->text.ptr);
}

static const char *at(const char *name)
{
    static char path[4][400];
    static int next;
    char *to = path[next++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", root, name);
    return to;
}

static void start(void)
{
    static const ttool_command commands[] = {{"echo", NULL, "-n", NULL},
                                             {"sleep", NULL, NULL, NULL}};
    static ttool_sys sys;
    ttool_workspace_desc w;
    ttool_shell_desc s;
    ttool_task_desc t;
    ttool_web_desc b;
    tcall_desc d;
    size_t n, i;
    memset(&w, 0, sizeof w);
    memset(&s, 0, sizeof s);
    memset(&t, 0, sizeof t);
    memset(&b, 0, sizeof b);
    memset(&d, 0, sizeof d);
    sys = ttool_linux;
    sys.now_ms = later;
    w.root = root;
    w.memory = memory;
    w.memory_size = sizeof memory;
    w.max_ms = 1000000;
    w.sys = &sys;
    CHECK(ttool_workspace_open(&ws, &w) == TCALL_OK);
    CHECK(ttool_todo_init(&todo, todo_memory, sizeof todo_memory, NULL, NULL) ==
          TCALL_OK);
    s.workspace = &ws;
    s.commands = commands;
    s.command_count = 2;
    s.sandbox = TTOOL_SANDBOX_BEST_EFFORT;
    CHECK(ttool_shell_init(&shell, &s) == TCALL_OK);
    ttool_task_init(&task, &t);
    b.memory = web_memory;
    b.memory_size = sizeof web_memory;
    CHECK(ttool_web_init(&web, &b) == TCALL_OK);
    n = ttool_rows(rows, ttool_file_tools, TTOOL_FILE_TOOLS, &ws);
    n += ttool_rows(rows + n, ttool_todo_tools, TTOOL_TODO_TOOLS, &todo);
    n += ttool_rows(rows + n, ttool_web_tools, TTOOL_WEB_TOOLS, &web);
    n += ttool_rows(rows + n, ttool_task_tools, TTOOL_TASK_TOOLS, &task);
    n += ttool_shell_row(rows + n, &shell);
    for (i = 0; i < n; i++)
        rows[i].confirm = false;
    d.tools = rows;
    d.tool_count = n;
    d.allow = TCALL_EVERYTHING;
    d.on_event = on_event;
    d.events = &tcall_events;
    start_tools(&d);
}

/* -- Errors --------------------------------------------------------------- */

static const struct {
    const char *tool, *arguments, *type, *suggestion;
} errors[] = {
    {"read", TCALL_TEXT({"file_paths" : ["a.tx"]}), "user",
     "Did you mean a.txt?"},
    {"read", TCALL_TEXT({"file_paths" : ["zzzz"]}), "user", "See with list"},
    {"read", TCALL_TEXT({"file_paths" : ["sub"]}), "user", "Use list."},
    {"read", TCALL_TEXT({"file_paths" : ["../x"]}), "permission",
     "relative to"},
    {"read", TCALL_TEXT({"file_paths" : ["pipe"]}), "user", "Name a file."},
    {"read", TCALL_TEXT({"file_paths" : [".env"]}), "permission",
     "Do without it."},
    {"read", TCALL_TEXT({"file_paths" : ["loop"]}), "user", "not a link"},
    {"read", TCALL_TEXT({"file_paths" : []}), "validation", "Example: read("},
    {"read", TCALL_TEXT({"file_paths" : ["a.txt/x"]}), "user", "See with list"},
    {"write", TCALL_TEXT({"file_path" : "a.txt", "content" : "x"}), "user",
     "Call read with this path"},
    {"write", TCALL_TEXT({"file_path" : "n/a", "content" : "x"}), "user",
     "Set create_directories."},
    {"write", TCALL_TEXT({"file_path" : "sub", "content" : "x"}), "user",
     "Use list."},
    {"write", TCALL_TEXT({"file_path" : ".", "content" : "x"}), "user",
     "Name a file in it."},
    {"write", TCALL_TEXT({"file_path" : "Makefile", "content" : "x"}),
     "permission", "Tell the user"},
    {"write", TCALL_TEXT({"file_path" : "hard", "content" : "x"}), "permission",
     "Write a new file."},
    {"write", TCALL_TEXT({"file_path" : "x"}), "validation", "Example: write("},
    {"edit",
     TCALL_TEXT(
         {"file_path" : "sub/b.d", "old_string" : "x", "new_string" : "y"}),
     "user", "Did you mean sub/b.c?"},
    {"edit",
     TCALL_TEXT(
         {"file_path" : "a.txt", "old_string" : "x", "new_string" : "x"}),
     "validation", "nothing to do"},
    {"edit",
     TCALL_TEXT(
         {"file_path" : "known", "old_string" : "x", "new_string" : "y"}),
     "user", "Copy it from"},
    {"edit",
     TCALL_TEXT(
         {"file_path" : "known", "old_string" : "two", "new_string" : "y"}),
     "user", "replace_all"},
    {"list", TCALL_TEXT({"path" : "subb"}), "user", "Did you mean sub?"},
    {"list", TCALL_TEXT({"path" : "a.txt"}), "user", "Name the directory"},
    {"list", TCALL_TEXT({"path" : "/etc"}), "permission", "relative to"},
    {"glob", TCALL_TEXT({"pattern" : "*", "path" : "subb"}), "user",
     "Did you mean sub?"},
    {"glob", TCALL_TEXT({"pattern" : "../*"}), "permission", "without .."},
    {"glob", TCALL_TEXT({"pattern" : "{a"}), "validation", "Use * and ?"},
    {"grep", TCALL_TEXT({"pattern" : "("}), "validation", "backslash"},
    {"grep", TCALL_TEXT({"pattern" : "x", "include" : "{a"}), "validation",
     "Use * and ?"},
    {"grep", TCALL_TEXT({"pattern" : "x", "path" : "a.tx"}), "user",
     "Did you mean a.txt?"},
    {"grep", TCALL_TEXT({"pattern" : "x", "path" : "subb"}), "user",
     "Did you mean sub?"},
    {"todowrite",
     TCALL_TEXT({"todos" : [ {"content" : "x", "status" : "done"} ]}),
     "validation", "Example: todowrite("},
    {"todowrite", "long", "system", "Drop what is completed."},
    {"todoread", TCALL_TEXT({"x" : 1}), "validation", "todoread("},
    {"webfetch", TCALL_TEXT({"url" : "ftp://a.test/"}), "permission",
     "such an"},
    {"webfetch", TCALL_TEXT({"url" : "http://a.test/"}), "permission", "https"},
    {"webfetch", TCALL_TEXT({"url" : "https://a@b.test/"}), "permission",
     "Leave that out."},
    {"webfetch", TCALL_TEXT({"url" : "https://a.test:81/"}), "permission",
     "Leave it out."},
    {"webfetch", TCALL_TEXT({"url" : "https://a.test/ x"}), "permission",
     "%XX"},
    {"webfetch", TCALL_TEXT({"url" : "https://127.0.0.1/"}), "permission",
     "Do without it."},
    {"task", TCALL_TEXT({"prompt" : "x"}), "permission", "step by step"},
    {"bash", TCALL_TEXT({"command" : "rm x"}), "permission",
     "Use one of these."},
    {"bash", TCALL_TEXT({"command" : "echo -q"}), "permission",
     "Do without it."},
    {"bash", TCALL_TEXT({"command" : "echo 'x"}), "permission", "Close it."},
    {"bash", TCALL_TEXT({"command" : "echo; x"}), "permission", "Quote this"},
    {"bash", TCALL_TEXT({"command" : "echo x", "workdir" : "subb"}), "user",
     "Did you mean sub?"},
    {"bash", TCALL_TEXT({"command" : "echo x", "workdir" : ".."}), "permission",
     "relative to"},
};

static bool fails(size_t i)
{
    static char text[4096], want[128];
    char *to = text;
    int k;
    bool good;
    strcpy(text, errors[i].arguments);
    if (strcmp(text, "long") == 0) {
        to += sprintf(to, "{\"todos\":[");
        for (k = 0; k < 20; k++)
            to += sprintf(to,
                          "%s{\"content\":\"some work of many words\","
                          "\"status\":\"pending\"}",
                          k ? "," : "");
        strcpy(to, "]}");
    }
    verdict = TCALL_VERDICT_DENY;
    *result = '\0';
    snprintf(want, sizeof want, "\"error_type\":\"%s\"", errors[i].type);
    good = call_tool(errors[i].tool, text, NULL) < 0 && is_json(result) &&
           strstr(result, want) && strstr(result, "\"suggestion\":\"") &&
           strstr(strstr(result, "\"suggestion\":\""), errors[i].suggestion);
    if (!good)
        printf("     %s(%s): %s\n", errors[i].tool, text, result);
    return good;
}

/* -- Titles and previews -------------------------------------------------- */

static const struct {
    const char *tool, *arguments, *title, *says;
} works[] = {
    {"read", TCALL_TEXT({"file_paths" : ["a.txt"]}), "Read a.txt",
     "     2\ttwo"},
    {"write", TCALL_TEXT({"file_path" : "a.txt", "content" : "one\n"}),
     "Write a.txt", "changed a.txt"},
    {"edit",
     TCALL_TEXT(
         {"file_path" : "a.txt", "old_string" : "one", "new_string" : "1"}),
     "Edit a.txt", "changed a.txt"},
    {"list", "{}", "List .", "./\n"},
    {"glob", TCALL_TEXT({"pattern" : "**/*.c"}), "Find **/*.c", "sub/b.c"},
    {"grep", TCALL_TEXT({"pattern" : "return"}), "Search for return",
     "sub/b.c:1:"},
    {"todowrite",
     TCALL_TEXT({"todos" : [ {"content" : "x", "status" : "pending"} ]}),
     "Write the task list", "1 task, 1 of them to be done"},
    {"todoread", "{}", "Read the task list", "\"pending\""},
    {"bash", TCALL_TEXT({"command" : "echo hi"}), "Run echo hi", "\"hi\\n\""},
};

/* -- Progress, and names and contents that are not UTF-8 ------------------ */

static void long_work(void)
{
    static const struct {
        const char *tool, *arguments, *says;
    } t[] = {
        {"read", TCALL_TEXT({"file_paths" : ["large"], "offset" : 900000}),
         "read: "},
        {"list", TCALL_TEXT({"depth" : 9}), "list: "},
        {"glob", TCALL_TEXT({"pattern" : "**"}), "glob: "},
        {"grep", TCALL_TEXT({"pattern" : "nothing"}), "grep: "},
        {"edit", TCALL_TEXT({
             "file_path" : "nonesuch",
             "old_string" : "x",
             "new_string" : "y"
         }),
         "edit: "},
    };
    size_t i;
    all = true;
    tick = 1001;
    for (i = 0; i < TCALL_ARRAY_LEN(t); i++) {
        *progress = '\0';
        call_tool(t[i].tool, t[i].arguments, NULL);
        if (!strstr(progress, t[i].says))
            printf("     %s: %s\n", t[i].tool, progress);
        PART(strstr(progress, t[i].says));
    }
    tick = 0;
    PART(call_tool("bash", TCALL_TEXT({"command" : "sleep 1.2"}), NULL) ==
             TCALL_OK &&
         strstr(progress, "bash: 1 s"));
    row("each", all, "work longer than a second says how far it is");
}

#define FOREIGN "b\\xff\\x0a\\x1b[2J\\xe9.txt"

static void foreign(void)
{
    static const char *const calls[][2] = {
        {"list", "{}"},
        {"glob", TCALL_TEXT({"pattern" : "**"})},
        {"grep", TCALL_TEXT({"pattern" : "sought"})},
        {"read", TCALL_TEXT({"file_paths" : ["latin"]})},
        {"bash", TCALL_TEXT({"command" : "echo x"})},
    };
    static char quoted[1 << 17], given[600];
    tcall_writer name;
    size_t i;
    put_file(at("latin"), "sought \xE9\xFF\xC3 \x01\x1B[31m\n");
    put_file(at("b\xFF\n\x1B[2J\xE9.txt"), "sought\n");
    all = true;
    for (i = 0; i < TCALL_ARRAY_LEN(calls); i++) {
        tcall_writer w;
        const char *p;
        PART(call_tool(calls[i][0], calls[i][1], NULL) == TCALL_OK);
        tcall_writer_init(&w, quoted, sizeof quoted - 1);
        tcall_write_string(&w, result);
        quoted[w.fill] = '\0';
        PART(is_json(quoted));
        PART(!strstr(quoted, "\\ufffd"));
        for (p = result; *p && i < 2; p++)
            PART((unsigned char)*p >= ' ' || *p == '\n');
        PART(i > 1 || strstr(result, FOREIGN));
    }
    /* It is read by the name that it is shown with. */
    tcall_writer_init(&name, given, sizeof given - 1);
    tcall_write_text(&name, "{\"file_paths\":[");
    tcall_write_string(&name, FOREIGN);
    tcall_write_text(&name, "]}");
    given[name.fill] = '\0';
    PART(call_tool("read", given, NULL) == TCALL_OK && says("sought"));
    row("each", all, "names and contents that are not UTF-8");
}

/* -- What was forgotten ---------------------------------------------------- */

/* Every tool whose row is that of the table itself, or whose workspace or page
 * memory nobody has set up. */
static void forgotten(void)
{
    static ttool_workspace closed;
    static ttool_web empty;
    size_t i, k;
    all = true;
    for (k = 0; k < 2; k++) {
        for (i = 0; i < TOOLS; i++)
            rows[i].user = k ? (void *)&closed : NULL;
        for (i = 0; i < TCALL_ARRAY_LEN(works); i++) {
            if (k && i > 5) /* the last ones have no workspace */
                break;
            PART(call_tool(works[i].tool, works[i].arguments, NULL) ==
                 TCALL_E_USAGE);
            PART(says(k ? "ttool_workspace_open" : "ttool_rows"));
        }
        for (i = 0; i < TOOLS; i++)
            rows[i].user = k ? (void *)&empty : NULL;
        PART(call_tool("webfetch", TCALL_TEXT({"url" : "https://a.example/"}),
                       NULL) == TCALL_E_USAGE);
        PART(says(k ? "ttool_web_init" : "ttool_rows"));
        PART(k || call_tool("task", TCALL_TEXT({"prompt" : "x"}), NULL) ==
                      TCALL_E_USAGE);
    }
    row("each", all, "what was not set up is told, and nothing runs");
}

int main(void)
{
    const char *dir = getenv("TMPDIR");
    size_t i;
    FILE *f;
    setvbuf(stdout, NULL, _IONBF, 0);
    umask(022);
    snprintf(root, sizeof root, "%s/ttool-each-%ld", dir ? dir : "/tmp",
             (long)getpid());
    remove_tree(root);
    mkdir(root, 0755);
    mkdir(at("sub"), 0755);
    put_file(at("a.txt"), "one\ntwo\n");
    put_file(at("known"), "two\ntwo\n");
    put_file(at("sub/b.c"), "return 0;\n");
    put_file(at(".env"), "TOKEN=1\n");
    put_file(at("hard"), "x\n");
    (void)!link(at("hard"), at("hard2"));
    (void)!symlink("loop", at("loop"));
    mkfifo(at("pipe"), 0644);
    f = fopen(at("large"), "w");
    for (i = 0; f && i < 300000; i++)
        fputs("a line\n", f);
    if (f)
        fclose(f);
    start();
    call_tool("read", TCALL_TEXT({"file_paths" : ["known"]}), NULL);
    all = true;
    for (i = 0; i < TCALL_ARRAY_LEN(errors); i++)
        PART(fails(i));
    row("each", all, "errors have a type and say what to do");
    verdict = TCALL_VERDICT_ALLOW;
    all = true;
    for (i = 0; i < TCALL_ARRAY_LEN(works); i++) {
        bool good =
            call_tool(works[i].tool, works[i].arguments, NULL) == TCALL_OK &&
            strcmp(title, works[i].title) == 0 && strstr(result, works[i].says);
        if (!good)
            printf("     %s: %s: %.200s\n", works[i].tool, title, result);
        PART(good);
    }
    row("each", all, "titles and results");
    long_work();
    foreign();
    verdict = TCALL_VERDICT_ALLOW;
    forgotten();
    ttool_workspace_close(&ws);
    remove_tree(root);
    return tools_sum("test_tools_each");
}
