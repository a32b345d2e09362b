/*
 * tools_files.h - the tools for files and for the task list, from a provider's
 * answer to the result. Works in a directory of its own in TMPDIR.
 *
 *     RACE_MS=100    how long links are flipped: default 5000, and 1200 where
 *                    openat2 is missing
 *     QUICK=1        without what takes long
 *     ROWS=NAME      only one group of rows
 *     STOP=1         ends with the first row that fails (for mutants.py)
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64 /* also where off_t has 32 */
#include "tools/files.h"
#include "tools/lint.h"
#include "tools/pattern.h"
#include "tools/todo.h"
#include "check.h"
#include "result_log.h"
#include "timed.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

/* -- One line for each row ------------------------------------------------ */

static bool stepwise; /* openat2 is missing */
static int skipped;

static inline void row(const char *id, bool good, const char *what)
{
    printf("%-4s %s  %s%s\n", id, good ? "pass" : "FAIL", what,
           stepwise ? " (no openat2)" : "");
    CHECK(good);
    if (!good && getenv("STOP"))
        _exit(1);
}

static inline void skip(const char *id, const char *why)
{
    printf("%-4s SKIPPED  %s\n", id, why);
    skipped++;
}

/* CHECK that counts only when it fails, for the parts of a row. */
static bool all; /* parts of the row at hand */
static inline void part(bool good, int line)
{
    if (!good)
        printf("     line %d fails\n", line);
    all = all && good;
}
#define PART(what) part(what, __LINE__)

/* What waits for ever fails instead. */
static inline void hangs(int number)
{
    static const char text[] = "hang FAIL  it waits\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(number);
}

/* -- Files outside the tools ---------------------------------------------- */

static char base[256], path_buf[4][8192];

/* A path below the test's directory. */
__attribute__((format(printf, 1, 2))) static const char *at(const char *format,
                                                            ...)
{
    static int next;
    char *to = path_buf[next++ % 4];
    size_t n = (size_t)snprintf(to, sizeof path_buf[0], "%s/", base);
    va_list list;
    va_start(list, format);
    vsnprintf(to + n, sizeof path_buf[0] - n, format, list);
    va_end(list);
    return to;
}

static inline void put_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static inline void put(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

static char content_buf[1 << 16];
static size_t content_len;

static inline const char *content(const char *path)
{
    FILE *f = fopen(path, "rb");
    content_len = f ? fread(content_buf, 1, sizeof content_buf - 1, f) : 0;
    content_buf[content_len] = '\0';
    if (f)
        fclose(f);
    return f ? content_buf : "(none)";
}

static inline bool holds(const char *path, const char *text)
{
    return strcmp(content(path), text) == 0;
}

/* Entries of a directory. */
static inline int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2;
}

static inline int remove_one(const char *path, const struct stat *st, int type,
                             struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define SECRET "OUTSIDE-SECRET\n"

static inline void start(void);

/* Everything anew, and a new session. */
static inline void make_tree(void)
{
    remove_tree(base);
    mkdir(base, 0755);
    mkdir(at("ws"), 0755);
    mkdir(at("ws/sub"), 0755);
    mkdir(at("outside"), 0755);
    mkdir(at("ws-evil"), 0755);
    put(at("outside/secret.txt"), SECRET);
    put(at("ws-evil/secret.txt"), SECRET);
    put(at("ws/a.txt"), "one\ntwo\nthree\n");
    put(at("ws/sub/b.c"), "int main(void)\n{\n    return 0;\n}\n");
    start();
}

/* Seconds of the processor: other programs do not count. */
static inline double work(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* -- The system, with faults ---------------------------------------------- */

static struct {
    int countdown;    /* the operation with this number meets the fault */
    int number;       /* errno of it; 0: the process is killed */
    const char *only; /* letters of the operations that count */
    size_t most;      /* bytes that one write takes */
    bool before;      /* killed before the operation, else behind it */
    bool lies;        /* a write says that it took all, and did not */
    void (*hook)(void);
    char hook_at; /* letter */
    int counted;
} fault;

/* True when this operation has to fail. */
static inline bool fails(char letter)
{
    if (fault.hook && fault.hook_at == letter) {
        void (*hook)(void) = fault.hook;
        fault.hook = NULL;
        hook();
    }
    if (fault.only && !strchr(fault.only, letter))
        return false;
    fault.counted++;
    if (--fault.countdown != 0)
        return false;
    if (fault.number == 0)
        _exit(9);
    errno = fault.number;
    return true;
}

static inline int sys_openat2(int dir, const char *path, uint64_t flags,
                              uint64_t resolve)
{
    if (!(flags & (O_PATH | O_DIRECTORY)))
        (void)fails('o');
    if (stepwise) {
        errno = ENOSYS;
        return -1;
    }
    return ttool_linux.openat2(dir, path, flags, resolve);
}

static inline int sys_create(int dir, const char *name, unsigned mode)
{
    return fails('c') ? -1 : ttool_linux.create(dir, name, mode);
}

static inline ssize_t sys_write(int fd, const void *bytes, size_t len)
{
    if (fault.most && len > fault.most)
        len = fault.most;
    if (fault.lies)
        return ttool_linux.write(fd, bytes, len - 1) < 0 ? -1 : (ssize_t)len;
    return fails('w') ? -1 : ttool_linux.write(fd, bytes, len);
}

static inline int sys_fsync(int fd)
{
    return fails('s') ? -1 : ttool_linux.fsync(fd);
}

static inline int sys_close(int fd)
{
    int r = ttool_linux.close(fd);
    return fails('x') ? -1 : r;
}

static inline int sys_rename(int dir, const char *from, const char *to,
                             unsigned flags)
{
    return fails('r') ? -1 : ttool_linux.rename(dir, from, to, flags);
}

static inline int sys_unlink(int dir, const char *name)
{
    return fails('u') ? -1 : ttool_linux.unlink(dir, name);
}

static inline int sys_mkdir(int dir, const char *name, unsigned mode)
{
    return fails('m') ? -1 : ttool_linux.mkdir(dir, name, mode);
}

/* Time goes on by so much each time that it is asked for: never by itself, or
 * a busy machine would end a search. */
static uint32_t clock_ms, clock_tick;

static inline uint32_t sys_now(void)
{
    return clock_ms += clock_tick;
}

static const ttool_sys faulty = {sys_openat2, sys_create, sys_write,
                                 sys_fsync,   sys_close,  sys_rename,
                                 sys_unlink,  sys_mkdir,  sys_now};

/* -- From an answer to a result ------------------------------------------- */

#define TOOLS (TTOOL_FILE_TOOLS + TTOOL_TODO_TOOLS)

static char block[1 << 20], memory[TTOOL_MEMORY], result[1 << 17],
    body[1 << 18];
static char todo_memory[4096], progress[256], chunks[4096], whole[1 << 17],
    preview[256];
static size_t result_cap = sizeof result - 1;
static ttool_workspace ws;
static ttool_workspace_desc ws_desc;
static ttool_todo todo;
static tcall_tool rows[TOOLS];
static tcall tc;
static tcall_verdict verdict;
static int asked;
static void (*on_wait)(void); /* a call waits for approval: it is resumed */
static tcall_call *running;
static int pieces;            /* how often the last call was invoked */
static int most_pieces;       /* it is cancelled then; 0: never */
static void (*between)(void); /* what is done, once, before it goes on */
static const tcall_hook *hooks;
static uint16_t hook_count;
static bool nobody;   /* there is no desc.approve */
static int stop_with; /* the call is cancelled at its first word of progress */

static inline tcall_verdict approve(void *user, const tcall_call *call)
{
    (void)user, (void)call;
    asked++;
    return verdict;
}

static inline uint32_t now_ms(void *user)
{
    (void)user;
    return clock_ms;
}

static inline void on_event(void *user, const tcall_event *e)
{
    (void)user;
    if (e->kind == TCALL_EVENT_PROGRESS && e->text.len < sizeof progress) {
        memcpy(progress, e->text.ptr, e->text.len);
        progress[e->text.len] = '\0';
        if (stop_with && strstr(progress, " files"))
            tcall_cancel(running, stop_with);
    }
    if (e->kind == TCALL_EVENT_OUTPUT && e->text.len < sizeof chunks)
        strncat(chunks, e->text.ptr, e->text.len);
}

/* A new session in the workspace. confirm: as the table has it. */
static inline void start_in(const char *root, bool confirm)
{
    static char report[1024];
    tcall_writer faults;
    tcall_desc d;
    size_t i;
    ttool_workspace_close(&ws);
    ws_desc.root = root;
    ws_desc.memory = memory;
    ws_desc.memory_size = sizeof memory;
    ws_desc.sys = &faulty;
    memset(&fault, 0, sizeof fault);
    CHECK(ttool_workspace_open(&ws, &ws_desc) == TCALL_OK);
    ttool_todo_init(&todo, todo_memory, sizeof todo_memory, &ws, ".todo.json");
    ttool_rows(rows, ttool_file_tools, TTOOL_FILE_TOOLS, &ws);
    ttool_rows(rows + TTOOL_FILE_TOOLS, ttool_todo_tools, TTOOL_TODO_TOOLS,
               &todo);
    for (i = 0; i < TOOLS; i++)
        rows[i].confirm = rows[i].confirm && confirm;
    tcall_writer_init(&faults, report, sizeof report - 1);
    memset(&d, 0, sizeof d);
    d.block = block;
    d.lenient = &tcall_lenient;
    d.block_size = sizeof block;
    d.tools = rows;
    d.tool_count = TOOLS;
    d.allow = TCALL_READ | TCALL_WRITE;
    d.approve = nobody ? NULL : approve;
    d.now_ms = now_ms;
    d.hooks = hooks;
    d.hook_count = hook_count;
    d.stages = &tcall_stages;
    d.on_event = on_event;
    d.events = &tcall_events;
    d.report = &tcall_report;
    d.faults = &faults;
    if (tcall_init(&tc, &d) != TCALL_OK) {
        printf("%s\n", report);
        exit(1);
    }
    verdict = TCALL_VERDICT_DENY;
    asked = 0;
}

static inline void start(void)
{
    start_in(at("ws"), false);
}

/* Other calls, while one has answered TCALL_E_AGAIN. */
static inline void in_between(tcall_call *call)
{
    void (*other)(void) = between;
    int count = pieces;
    between = NULL;
    if (other)
        other();
    pieces = count;
    running = call;
    if (most_pieces && pieces >= most_pieces)
        tcall_cancel(call, TCALL_E_CANCELLED);
}

/* What a model answers that calls a tool, read, checked and run; its result
 * is in `result`, the error is returned. */
__attribute__((format(printf, 2, 3))) static int call(const char *name,
                                                      const char *format, ...)
{
    static char arguments[1 << 17];
    tcall_call c;
    tcall_chat chat;
    tcall_reader reader;
    tcall_item item;
    tcall_writer w, out;
    tcall_str lines;
    size_t low = tc.block.low, next = 0;
    va_list list;
    int r = TCALL_E_PROVIDER;
    va_start(list, format);
    vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    tcall_writer_init(&w, body, sizeof body);
    tcall_write_text(&w, "{\"choices\":[{\"message\":{\"role\":\"assistant\","
                         "\"tool_calls\":[{\"id\":\"call_1\",\"type\":"
                         "\"function\",\"function\":{\"name\":");
    w.last = 0;
    tcall_write_string(&w, name);
    tcall_write_text(&w, ",\"arguments\":");
    w.last = 0;
    tcall_write_string(&w, arguments);
    tcall_write_text(&w, "}}]},\"finish_reason\":\"tool_calls\"}]}");
    tcall_chat_init(&chat, &tc.block);
    tcall_reader_init(&reader, &tcall_openai, &chat, NULL, NULL);
    tcall_reader_feed(&reader, body, w.fill);
    if (w.error || tcall_reader_end(&reader) < 0 || reader.answer.calls != 1 ||
        !tcall_chat_next(&chat, &next, &item)) {
        printf("the answer was not read\n");
        exit(1);
    }
    memset(&c, 0, sizeof c);
    c.id = item.id;
    c.name = item.name;
    c.arguments = item.text;
    c.incomplete = item.error;
    running = &c;
    *chunks = '\0';
    tcall_hydrate(&tc, &c);
    pieces = 0;
    do {
        tcall_writer_init(&out, result, result_cap);
        r = tcall_invoke(&tc, &c, &out);
        pieces++;
        if (r == TCALL_E_AGAIN)
            in_between(&c);
    } while (r == TCALL_E_AGAIN);
    if (r == TCALL_E_APPROVAL && on_wait) {
        CHECK(out.fill == 0);
        on_wait();
        r = tcall_invoke(&tc, &c, &out);
    }
    result[out.fill] = '\0';
    tcall_writer_init(&w, whole, sizeof whole - 1);
    write_result(&w, &c.cx.result);
    whole[w.fill] = '\0';
    lines = result_preview(&c.cx.result, 2);
    snprintf(preview, sizeof preview, "%.*s", (int)lines.len, lines.ptr);
    tcall_release(&tc, &c);
    tc.block.low = low;
    return r;
}

static inline bool shows(const char *text)
{
    bool there = strstr(whole, text) != NULL;
    if (!there)
        printf("     wanted: %s\n     whole: %.400s\n", text, whole);
    return there;
}

static inline int read_it(const char *path)
{
    return call("read", "{\"file_paths\":[\"%s\"]}", path);
}

static inline int write_it(const char *path, const char *text)
{
    return call("write", "{\"file_path\":\"%s\",\"content\":\"%s\"}", path,
                text);
}

static inline int edit_it(const char *path, const char *old, const char *with)
{
    return call("edit",
                "{\"file_path\":\"%s\",\"old_string\":\"%s\","
                "\"new_string\":\"%s\"}",
                path, old, with);
}

static inline bool says(const char *text)
{
    bool there = strstr(result, text) != NULL;
    if (!there)
        printf("     wanted: %s\n     result: %.400s\n", text, result);
    return there;
}

/* -- Other processes ------------------------------------------------------ */

static inline void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* -- Groups of rows -------------------------------------------------------- */

typedef struct group {
    const char *name;
    void (*run)(void);
} group;

static inline void begin(void)
{
    const char *dir = getenv("TMPDIR");
    bool shm = access("/dev/shm", W_OK) == 0; /* there, fsync costs nothing */

    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, hangs);
    setvbuf(stdout, NULL, _IONBF, 0);
    snprintf(base, sizeof base, "%s/ttool-%ld",
             dir   ? dir
             : shm ? "/dev/shm"
                   : "/tmp",
             (long)getpid());
}

static inline void run_groups(const group *groups, size_t count)
{
    const char *only = getenv("ROWS");
    size_t i;

    for (i = 0; i < count; i++)
        if (!only || !*only || strcmp(only, groups[i].name) == 0)
            groups[i].run();
}

static inline bool quick(void)
{
    const char *value = getenv("QUICK");
    return value && *value;
}

static inline int end(const char *name)
{
    ttool_workspace_close(&ws);
    remove_tree(base);
    if (!skipped)
        return check_sum(name);
    printf("%s: %d passed, %d failed, %d skipped\n", name, check_passed,
           check_failed, skipped);
    return check_failed ? 1 : 0;
}
