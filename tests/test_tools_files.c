/* The tools for files and for the task list, from a provider's answer to the
 * result: every row of the catalogue of faults by its id, with openat2 and
 * without. Works in a directory of its own in TMPDIR, which it removes.
 *
 *     RACE_MS=100    how long links are flipped: default 5000, and 1200 where
 *                    openat2 is missing
 *     ROWS=NAME      only one group of rows
 *     STOP=1         ends with the first row that fails (for tests/guards) */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64 /* also where off_t has 32 */
#define TTOOL_IMPLEMENTATION
#include "tools/files.h"
#include "tools/lint.h"
#include "tools/todo.h"
#include "check.h"
#include "result_log.h"
#include "timed.h"

#include <dirent.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

/* -- One line for each row ------------------------------------------------ */

static bool stepwise; /* openat2 is missing */
static int skipped;

static void row(const char *id, bool good, const char *what)
{
    printf("%-4s %s  %s%s\n", id, good ? "pass" : "FAIL", what,
           stepwise ? " (no openat2)" : "");
    CHECK(good);
    if (!good && getenv("STOP"))
        _exit(1);
}

static void skip(const char *id, const char *why)
{
    printf("%-4s SKIPPED  %s\n", id, why);
    skipped++;
}

/* CHECK that counts only when it fails, for the parts of a row. */
static bool all; /* parts of the row at hand */
static void part(bool good, int line)
{
    if (!good)
        printf("     line %d fails\n", line);
    all = all && good;
}
#define PART(what) part(what, __LINE__)

/* What waits for ever fails instead. */
static void hangs(int number)
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

static void put_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static void put(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

static char content_buf[1 << 16];
static size_t content_len;

static const char *content(const char *path)
{
    FILE *f = fopen(path, "rb");
    content_len = f ? fread(content_buf, 1, sizeof content_buf - 1, f) : 0;
    content_buf[content_len] = '\0';
    if (f)
        fclose(f);
    return f ? content_buf : "(none)";
}

static bool holds(const char *path, const char *text)
{
    return strcmp(content(path), text) == 0;
}

/* Entries of a directory. */
static int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define SECRET "OUTSIDE-SECRET\n"

static void start(void);

/* Everything anew, and a new session. */
static void make_tree(void)
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
static double work(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double now(void)
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
static bool fails(char letter)
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

static int sys_openat2(int dir, const char *path, uint64_t flags,
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

static int sys_create(int dir, const char *name, unsigned mode)
{
    return fails('c') ? -1 : ttool_linux.create(dir, name, mode);
}

static ssize_t sys_write(int fd, const void *bytes, size_t len)
{
    if (fault.most && len > fault.most)
        len = fault.most;
    if (fault.lies)
        return ttool_linux.write(fd, bytes, len - 1) < 0 ? -1 : (ssize_t)len;
    return fails('w') ? -1 : ttool_linux.write(fd, bytes, len);
}

static int sys_fsync(int fd)
{
    return fails('s') ? -1 : ttool_linux.fsync(fd);
}

static int sys_close(int fd)
{
    int r = ttool_linux.close(fd);
    return fails('x') ? -1 : r;
}

static int sys_rename(int dir, const char *from, const char *to, unsigned flags)
{
    return fails('r') ? -1 : ttool_linux.rename(dir, from, to, flags);
}

static int sys_unlink(int dir, const char *name)
{
    return fails('u') ? -1 : ttool_linux.unlink(dir, name);
}

static int sys_mkdir(int dir, const char *name, unsigned mode)
{
    return fails('m') ? -1 : ttool_linux.mkdir(dir, name, mode);
}

static uint32_t clock_ms, clock_tick;

static uint32_t sys_now(void)
{
    return clock_tick ? clock_ms += clock_tick : ttool_linux.now_ms();
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
static const tcall_hook *hooks;
static uint16_t hook_count;
static bool nobody;   /* there is no desc.approve */
static int stop_with; /* the call is cancelled at its first word of progress */

static tcall_verdict approve(void *user, const tcall_call *call)
{
    (void)user, (void)call;
    asked++;
    return verdict;
}

static uint32_t now_ms(void *user)
{
    (void)user;
    return clock_tick ? clock_ms : ttool_linux.now_ms();
}

static void on_event(void *user, const tcall_event *e)
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
static void start_in(const char *root, bool confirm)
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
    d.block_size = sizeof block;
    d.tools = rows;
    d.tool_count = TOOLS;
    d.allow = TCALL_READ | TCALL_WRITE;
    d.approve = nobody ? NULL : approve;
    d.now_ms = now_ms;
    d.hooks = hooks;
    d.hook_count = hook_count;
    d.on_event = on_event;
    d.report = &faults;
    if (tcall_init(&tc, &d) != TCALL_OK) {
        printf("%s\n", report);
        exit(1);
    }
    verdict = TCALL_VERDICT_DENY;
    asked = 0;
}

static void start(void)
{
    start_in(at("ws"), false);
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
    tcall_writer_init(&out, result, result_cap);
    r = tcall_invoke(&tc, &c, &out);
    if (r == TCALL_E_APPROVAL && on_wait) {
        CHECK(out.fill == 0);
        on_wait();
        r = tcall_invoke(&tc, &c, &out);
    }
    result[out.fill] = '\0';
    tcall_writer_init(&w, whole, sizeof whole - 1);
    tcall_write_result(&w, &c.cx.result);
    whole[w.fill] = '\0';
    lines = result_preview(&c.cx.result, 2);
    snprintf(preview, sizeof preview, "%.*s", (int)lines.len, lines.ptr);
    tcall_release(&tc, &c);
    tc.block.low = low;
    return r;
}

static bool shows(const char *text)
{
    bool there = strstr(whole, text) != NULL;
    if (!there)
        printf("     wanted: %s\n     whole: %.400s\n", text, whole);
    return there;
}

static int read_it(const char *path)
{
    return call("read", "{\"file_paths\":[\"%s\"]}", path);
}

static int write_it(const char *path, const char *text)
{
    return call("write", "{\"file_path\":\"%s\",\"content\":\"%s\"}", path,
                text);
}

static int edit_it(const char *path, const char *old, const char *with)
{
    return call("edit",
                "{\"file_path\":\"%s\",\"old_string\":\"%s\","
                "\"new_string\":\"%s\"}",
                path, old, with);
}

static bool says(const char *text)
{
    bool there = strstr(result, text) != NULL;
    if (!there)
        printf("     wanted: %s\n     result: %.400s\n", text, result);
    return there;
}

/* -- Paths: F01 to F13 ---------------------------------------------------- */

/* Nothing outside is seen or changed, whatever tool is given this path. */
static bool closed(const char *path)
{
    int outside = entries(at("outside")), i, r[6];
    bool leaks = false;
    r[0] = read_it(path);
    leaks |= strstr(result, "SECRET") != NULL;
    r[1] = call("write",
                "{\"file_path\":\"%s\",\"content\":\"x\","
                "\"create_directories\":true}",
                path);
    r[2] = edit_it(path, "SECRE", "x"); /* an error shows the call */
    leaks |= strstr(result, "SECRET") != NULL;
    r[3] = call("list", "{\"path\":\"%s\"}", path);
    leaks |= strstr(result, "secret") != NULL && r[3] == TCALL_OK;
    r[4] = call("glob", "{\"path\":\"%s\",\"pattern\":\"**\"}", path);
    leaks |= strstr(result, "secret") != NULL && r[4] == TCALL_OK;
    r[5] = call("grep", "{\"path\":\"%s\",\"pattern\":\"SECRE.\"}", path);
    leaks |= strstr(result, "\"error_type\":\"permission\"") == NULL;
    leaks |= strstr(result, "SECRET") != NULL;
    for (i = 0; i < 6; i++)
        leaks |= r[i] != TCALL_E_DENIED;
    if (leaks || !holds(at("outside/secret.txt"), SECRET) ||
        !holds(at("ws-evil/secret.txt"), SECRET) ||
        entries(at("outside")) != outside || entries(base) != 3) {
        printf("     open: %s (%d %d %d %d %d %d)\n", path, r[0], r[1], r[2],
               r[3], r[4], r[5]);
        return false;
    }
    return true;
}

static void links(void)
{
    char name[16], to[16];
    int i;
    all = true;
    (void)!symlink("../outside/secret.txt", at("ws/rel"));
    (void)!symlink(at("outside/secret.txt"), at("ws/abs"));
    PART(closed("rel") && closed("abs") && closed("sub/../rel"));
    row("F04", all, "links to a file outside");
    all = true;
    (void)!symlink("../outside", at("ws/dir"));
    (void)!symlink("..", at("ws/up"));
    (void)!symlink("dir", at("ws/twice"));
    PART(closed("dir/secret.txt") && closed("up/outside/secret.txt") &&
         closed("twice/secret.txt") && closed("dir") && closed("up"));
    row("F05", all, "links to a directory outside");
    all = true;
    (void)!symlink("../outside/new.txt", at("ws/dangling"));
    PART(closed("dangling") && closed("dir/new.txt") && closed("dir/n/new"));
    row("F06", all, "a new file through a dangling link or a linked parent");
    all = true;
    (void)!symlink("loop2", at("ws/loop1"));
    (void)!symlink("loop1", at("ws/loop2"));
    put(at("ws/c0"), "end\n");
    for (i = 1; i <= 41; i++) {
        snprintf(name, sizeof name, "ws/c%d", i);
        snprintf(to, sizeof to, "c%d", i - 1);
        (void)!symlink(to, at("%s", name));
    }
    PART(read_it("loop1") == TCALL_E_FAILED && says("too many"));
    PART(read_it("c41") == TCALL_E_FAILED && says("too many"));
    PART(read_it("c3") == TCALL_OK && says("end"));
    PART(write_it("loop1", "x") == TCALL_E_FAILED);
    row("F07", all, "loops and chains of links end");
    all = true;
    (void)!symlink("/proc/self/cwd", at("ws/magic"));
    (void)!symlink("/proc/self/root", at("ws/root"));
    PART(chdir(at("outside")) == 0);
    PART(closed("magic/secret.txt") && closed("root/etc/passwd"));
    PART(chdir("/") == 0);
    row("F08", all, "magic links of /proc");
    all = true;
    (void)!symlink("sub", at("ws/inside"));
    (void)!symlink(at("ws/a.txt"), at("ws/whole"));
    PART(read_it("inside/b.c") == TCALL_OK && says("=== sub/b.c"));
    PART(read_it("whole") == TCALL_OK && says("=== a.txt"));
    PART(edit_it("whole", "two", "2") == TCALL_OK);
    PART(holds(at("ws/a.txt"), "one\n2\nthree\n"));
    row("F04+", all, "links that stay inside are followed, also to write");
}

static void names(void)
{
    char text[6001];
    all = true;
    PART(read_it("") == TCALL_E_INVALID);
    PART(read_it(".") == TCALL_E_FAILED && says("list"));
    PART(read_it("/") == TCALL_E_DENIED);
    PART(read_it("a.txt\\u0000/../b") < 0 && !strstr(result, "three"));
    memset(text, 'a', sizeof text);
    text[5000] = '\0';
    PART(read_it(text) == TCALL_E_INVALID);
    text[300] = '\0';
    PART(read_it(text) == TCALL_E_FAILED && says("too long"));
    PART(write_it(".", "x") == TCALL_E_FAILED);
    PART(read_it("a.txt/x") == TCALL_E_FAILED);
    row("F11", all, "paths empty, of the root, with NUL, too long");
}

static void becomes_fifo(void)
{
    unlink(at("ws/a.txt"));
    mkfifo(at("ws/a.txt"), 0644);
}

static void no_files(void)
{
    static const char *const named[] = {"fifo", "socket", "device", "sub"};
    struct sockaddr_un un;
    int s = socket(AF_UNIX, SOCK_STREAM, 0), i;
    bool device;
    double before = now();
    all = true;
    alarm(20);
    memset(&un, 0, sizeof un);
    un.sun_family = AF_UNIX;
    snprintf(un.sun_path, sizeof un.sun_path, "%.90s", at("ws/socket"));
    PART(mkfifo(at("ws/fifo"), 0644) == 0);
    PART(bind(s, (struct sockaddr *)&un, sizeof un) == 0);
    device = mknod(at("ws/device"), S_IFCHR | 0666, 5 << 8) == 0;
    for (i = 0; i < 4; i++) {
        if (i == 2 && !device) {
            skip("F12", "a device cannot be made here: run as root");
            continue;
        }
        PART(read_it(named[i]) == TCALL_E_FAILED &&
             (strstr(result, "not a file") || strstr(result, "directory")));
        PART(write_it(named[i], "x") == TCALL_E_FAILED);
        PART(edit_it(named[i], "a", "b") == TCALL_E_FAILED);
        PART(i == 3 || call("grep", "{\"pattern\":\"x\",\"path\":\"%s\"}",
                            named[i]) == TCALL_E_FAILED);
    }
    PART(call("grep", "{\"pattern\":\"return\"}") == TCALL_OK && says("b.c"));
    PART(now() - before < 2);
    close(s);
    if (!stepwise) { /* it becomes a pipe behind the first look */
        fault.hook = becomes_fifo;
        fault.hook_at = 'o';
        PART(read_it("a.txt") == TCALL_E_STALE && says("changed"));
    }
    alarm(0);
    row("F12", all, "pipe, socket, device, directory are no files; no waiting");
    all = true;
    PART(link(at("outside/secret.txt"), at("ws/hard")) == 0);
    read_it("hard");
    verdict = TCALL_VERDICT_ALLOW;
    PART(write_it("hard", "x") == TCALL_E_DENIED && says("hard link"));
    PART(edit_it("hard", "SECRET", "x") == TCALL_E_DENIED);
    verdict = TCALL_VERDICT_DENY;
    PART(holds(at("outside/secret.txt"), SECRET));
    unlink(at("ws/hard"));
    row("F13", all, "a file with several names is not written");
}

static void paths(void)
{
    char inside[512];
    make_tree();
    all = true;
    PART(closed("../outside/secret.txt") &&
         closed("sub/../../outside/secret.txt") && closed("../ws/a.txt") &&
         closed("..") && closed("./.././outside/secret.txt") &&
         closed("sub//..//../outside/secret.txt"));
    row("F01", all, "out by .., also out and back");
    all = true;
    PART(closed(at("outside/secret.txt")) && closed("/etc/passwd") &&
         closed("//etc/passwd"));
    snprintf(inside, sizeof inside, "%s", at("ws/a.txt"));
    PART(read_it(inside) == TCALL_OK && says("=== a.txt"));
    snprintf(inside, sizeof inside, "%s", at("ws/../outside/secret.txt"));
    PART(closed(inside));
    row("F02", all, "absolute: outside refused, inside taken as relative");
    row("F03",
        closed(at("ws-evil/secret.txt")) && closed("../ws-evil/secret.txt"),
        "a sibling that begins with the same letters");
    links();
    names();
    no_files();
}

/* -- Races: F09 ----------------------------------------------------------- */

static pid_t flipper(const char *a, const char *b)
{
    pid_t pid = fork();
    if (pid == 0) {
        double end = now() + 60;
        while (now() < end)
            (void)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2);
        _exit(0);
    }
    return pid;
}

static void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void race(void)
{
    const char *ms = getenv("RACE_MS");
    double end;
    long tries = 0, good = 0, bad = 0;
    char a[512], b[512];
    int i;
    pid_t pid;
    make_tree();
    mkdir(at("ws/flip"), 0755);
    put(at("ws/flip/f"), "inside\n");
    put(at("outside/f"), SECRET);
    (void)!symlink("../outside", at("ws/flop"));
    (void)!symlink("../outside/f", at("ws/fl"));
    snprintf(a, sizeof a, "%s", at("ws/flip"));
    snprintf(b, sizeof b, "%s", at("ws/flop"));
    start();
    ws_desc.blind_writes = true;
    start();
    pid = flipper(a, b);
    end = now() + (ms ? atof(ms) : stepwise ? 1200 : 5000) / 1000;
    while (now() < end || ((good < 20 || good == tries) && now() < end + 20)) {
        int r[6];
        r[0] = read_it("flip/f");
        bad += strstr(result, "SECRET") != NULL;
        r[1] = call("grep", "{\"pattern\":\".*\",\"path\":\"flip\"}");
        bad += strstr(result, "SECRET") != NULL;
        r[2] = write_it("flip/f", "inside\\n");
        r[3] = edit_it("flip/f", "inside", "inside ");
        r[4] = edit_it("flip/f", "inside ", "inside");
        r[5] = call("list", "{\"path\":\"flip\"}");
        bad += strstr(result, "secret") != NULL;
        for (i = 0; i < 6; i++, tries++)
            good += r[i] == TCALL_OK;
    }
    stop(pid);
    ws_desc.blind_writes = false;
    printf("     %ld calls, %ld of them succeeded, %ld escaped\n", tries, good,
           bad);
    row("F09",
        bad == 0 && good >= 20 && good < tries &&
            holds(at("outside/f"), SECRET) &&
            holds(at("outside/secret.txt"), SECRET) &&
            entries(at("outside")) == 2,
        "a directory and a link change places all the time");
}

/* -- Reading: F14 to F16 -------------------------------------------------- */

static void reading(void)
{
    char text[64];
    int i, fd;
    FILE *f;
    double before;
    make_tree();
    all = true;
    f = fopen(at("ws/huge"), "w");
    for (i = 1; f && i <= 3000; i++)
        fprintf(f, "line %d\n", i);
    if (f)
        fclose(f);
    PART(truncate(at("ws/huge"), (off_t)10 << 30) == 0);
    before = now();
    PART(call("read", "{\"file_paths\":[\"huge\"],\"limit\":10}") == TCALL_OK);
    PART(says("10737418240 bytes") && says("    10\tline 10\n") &&
         says("use offset=11") && !strstr(result, "line 11"));
    PART(
        call("read", "{\"file_paths\":[\"huge\"],\"offset\":11,\"limit\":2}") ==
            TCALL_OK &&
        says("    12\tline 12\n[cut at line 12: use offset=13"));
    PART(now() - before < 2);
    PART(edit_it("huge", "line 1", "x") == TCALL_E_LIMIT);
    unlink(at("ws/huge"));
    row("F14", all, "of 10 GB only what is wanted is read");
    all = true;
    put_bytes(at("ws/bin"), "ab\0cd\n", 6);
    put(at("ws/latin"), "caf\xE9 \xC3\xA9\n");
    PART(read_it("bin") == TCALL_OK && says("binary") && !strstr(result, "cd"));
    PART(read_it("latin") == TCALL_OK &&
         says("caf\xEF\xBF\xBD \xC3\xA9\n[not UTF-8"));
    row("F15", all, "binary and not quite UTF-8");
    all = true;
    PART(call("read", "{\"file_paths\":[\"a.txt\"],\"offset\":-1}") ==
         TCALL_E_INVALID);
    PART(call("read", "{\"file_paths\":[\"a.txt\"],\"offset\":0}") ==
         TCALL_E_INVALID);
    PART(call("read", "{\"file_paths\":[\"a.txt\"],\"limit\":-1}") ==
         TCALL_E_INVALID);
    PART(call("read", "{\"file_paths\":[\"a.txt\"],\"offset\":2147483648}") ==
             TCALL_OK &&
         says("only 3 lines"));
    PART(call("read",
              "{\"file_paths\":[\"a.txt\"],\"offset\":9223372036854775808}") ==
         TCALL_E_INVALID);
    PART(
        call("read", "{\"file_paths\":[\"a.txt\"],\"offset\":3,\"limit\":1}") ==
            TCALL_OK &&
        says("     3\tthree\n") && !strstr(result, "use offset"));
    row("F16", all, "offsets and limits at their ends");
    all = true;
    PART(call("read", "{\"file_paths\":[\"a.txt\",\"none\",\"sub/b.c\"]}") ==
             TCALL_OK &&
         says("     2\ttwo\n") && says("none: no such file") &&
         says("     3\t    return 0;\n"));
    PART(read_it("sub/B.h") == TCALL_E_NOT_FOUND &&
         says("\"suggestion\":\"Did you mean sub/b.c?\""));
    PART(read_it("b.c") == TCALL_E_NOT_FOUND &&
         says("\"suggestion\":\"Did you mean sub/b.c?\""));
    PART(read_it("nothing-like-it") == TCALL_E_NOT_FOUND &&
         says("See with list") && says("\"error_type\":\"user\""));
    result_cap = 400;
    f = fopen(at("ws/long"), "w");
    for (i = 1; f && i <= 1000; i++)
        fprintf(f, "%d\n", i);
    if (f)
        fclose(f);
    PART(read_it("long") == TCALL_OK && says("of 1000: use offset="));
    PART(strlen(result) <= 400 && !strstr(result, "output cut"));
    result_cap = sizeof result - 1;
    ws_desc.max_tokens = 100;
    start();
    PART(read_it("long") == TCALL_OK && says("use offset=") &&
         strlen(result) < 600);
    ws_desc.max_tokens = 0;
    start();
    PART(read_it("long") == TCALL_OK && says("  1000\t1000\n") &&
         says("(3893 bytes, about 974 tokens)"));
    fd = open(at("ws/wide"), O_WRONLY | O_CREAT, 0644);
    memset(text, 'w', sizeof text);
    for (i = 0; i < 100; i++)
        PART(write(fd, text, sizeof text) == (ssize_t)sizeof text);
    close(fd);
    PART(read_it("wide") == TCALL_OK && says("[line cut: 4400 bytes more]"));
    put(at("ws/crlf"), "a\r\nb\r\n");
    PART(read_it("crlf") == TCALL_OK &&
         says("     1\ta\n     2\tb\n[lines end"));
    put(at("ws/none"), "");
    PART(read_it("none") == TCALL_OK && says("[empty]"));
    row("F14+", all, "several files, limits of tokens, did you mean");
}

/* -- Changing: F17 to F26 ------------------------------------------------- */

#define NEW "one\\n2\\nthree\\nfour\\nfive\\n"
#define IS  "one\n2\nthree\nfour\nfive\n"
#define WAS "one\ntwo\nthree\n"

static bool no_temporary(void)
{
    return entries(at("ws")) == 2;
}

/* Each operation of `only` fails in turn: it says so, and nothing changed. */
static void each_fails(int number, const char *only, int error)
{
    int n, r;
    for (n = 1; n < 200; n++) {
        make_tree();
        read_it("a.txt");
        fault.most = 7;
        fault.only = only;
        fault.number = number;
        fault.countdown = n;
        r = write_it("a.txt", NEW);
        if (fault.countdown > 0) {
            PART(r == TCALL_OK && holds(at("ws/a.txt"), IS));
            break;
        }
        PART(r == error && holds(at("ws/a.txt"), WAS) && no_temporary());
    }
    PART(n > 1 && n < 200);
}

static void full_disk(void)
{
    int status = 0;
    pid_t pid;
    all = true;
    each_fails(ENOSPC, "w", TCALL_E_LIMIT);
    PART(says("changed a.txt: 1 place, 22 bytes"));
    each_fails(ENOSPC, "c", TCALL_E_LIMIT);
    each_fails(ENOSPC, "r", TCALL_E_LIMIT);
    row("F17", all, "no space at every write: the old content, no remains");
    pid = fork();
    if (pid == 0) { /* a real disk of 64 KB */
        static char big[100001];
        if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) != 0 ||
            mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount("none", at("ws"), "tmpfs", 0, "size=64k") != 0)
            _exit(77);
        put(at("ws/a.txt"), WAS);
        start();
        read_it("a.txt");
        memset(big, 'x', sizeof big - 1);
        _exit(write_it("a.txt", big) == TCALL_E_LIMIT &&
                      holds(at("ws/a.txt"), WAS) && entries(at("ws")) == 1
                  ? 0
                  : 1);
    }
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip("F17", "a disk of 64 KB cannot be mounted here");
    else
        row("F17", status == 0, "a real disk of 64 KB is full");
}

/* Killed before or behind each operation. */
static void killed(void)
{
    int n, status, tool, before;
    all = true;
    for (tool = 0; tool < 3; tool++)
        for (before = 0; before < 2; before++)
            for (n = 1; n < 100; n++) {
                pid_t pid;
                make_tree();
                pid = fork();
                if (pid == 0) {
                    start();
                    read_it("a.txt");
                    fault.most = 9;
                    fault.countdown = n;
                    _exit((tool == 0   ? write_it("a.txt", NEW)
                           : tool == 1 ? edit_it("a.txt", "two", "2")
                                       : write_it("new.txt", NEW)) == TCALL_OK
                              ? 0
                              : 1);
                }
                waitpid(pid, &status, 0);
                if (status == 0)
                    break;
                PART(WIFEXITED(status) && WEXITSTATUS(status) == 9);
                if (tool == 2)
                    PART(holds(at("ws/new.txt"), IS) ||
                         holds(at("ws/new.txt"), "(none)"));
                else
                    PART(holds(at("ws/a.txt"), WAS) ||
                         holds(at("ws/a.txt"), tool ? "one\n2\nthree\n" : IS));
                PART(entries(at("ws")) <= 3 + (tool == 2));
            }
    row("F18", all, "killed at every operation: old or new, one stray file");
}

static void short_writes(void)
{
    int n, r = 0;
    all = true;
    make_tree();
    read_it("a.txt");
    fault.most = 1;
    PART(write_it("a.txt", NEW) == TCALL_OK && holds(at("ws/a.txt"), IS));
    make_tree();
    read_it("a.txt");
    fault.only = "w";
    fault.number = EINTR;
    fault.countdown = 1;
    PART(write_it("a.txt", NEW) == TCALL_OK && holds(at("ws/a.txt"), IS));
    each_fails(EIO, "x", TCALL_E_FAILED);
    make_tree();
    read_it("a.txt");
    fault.only = "s";
    fault.number = EIO;
    fault.countdown = 1;
    PART(write_it("a.txt", NEW) == TCALL_E_FAILED && no_temporary() &&
         holds(at("ws/a.txt"), WAS));
    fault.countdown = 2; /* of the directory: it is there, but for how long */
    PART(write_it("a.txt", NEW) == TCALL_E_FAILED && says("power loss") &&
         holds(at("ws/a.txt"), IS));
    make_tree();
    read_it("a.txt");
    fault.lies = true;
    PART(write_it("a.txt", NEW) == TCALL_E_FAILED && no_temporary() &&
         holds(at("ws/a.txt"), WAS));
    row("F19", all, "short writes, EINTR, EIO of fsync and close");
    all = true;
    for (n = 1; n < 20; n++) { /* each step of making directories */
        make_tree();
        fault.only = "msc";
        fault.number = ENOSPC;
        fault.countdown = n;
        r = call("write", "{\"file_path\":\"x/y/z.txt\",\"content\":\"new\","
                          "\"create_directories\":true}");
        if (fault.countdown > 0)
            break;
        if (r != TCALL_OK)
            PART(holds(at("ws/x/y/z.txt"), "(none)") || says("power loss"));
        PART(r == TCALL_E_LIMIT || says("power loss"));
        PART(entries(at("ws/x/y")) < 1 || says("power loss"));
    }
    PART(n == 8 && r == TCALL_OK && holds(at("ws/x/y/z.txt"), "new"));
    row("F17+", all, "no space while directories are made");
}

static void edits(void)
{
    all = true;
    make_tree();
    put(at("ws/r"), "a b\nx\na b\n");
    start();
    read_it("r");
    PART(edit_it("r", "zzz", "y") == TCALL_E_FAILED && says("not there"));
    PART(edit_it("r", "a b", "y") == TCALL_E_FAILED &&
         says("2 times, at lines 1, 3") && says("replace_all"));
    PART(edit_it("r", "", "y") == TCALL_E_INVALID);
    PART(edit_it("r", "x", "x") == TCALL_E_INVALID);
    PART(holds(at("ws/r"), "a b\nx\na b\n"));
    PART(call("edit",
              "{\"file_path\":\"r\",\"old_string\":\"a b\","
              "\"new_string\":\"cd\",\"replace_all\":true}") == TCALL_OK &&
         holds(at("ws/r"), "cd\nx\ncd\n") && says("2 places") &&
         shows("\"title\":\"Edit r\"") && shows("\"changes\":2") &&
         shows("@@ -1,3 +1,3 @@\\n-a b\\n+cd\\n x\\n-a b\\n+cd\\n"));
    PART(edit_it("none", "x", "y") == TCALL_E_NOT_FOUND);
    row("F20", all, "edit: no place, two places, nothing, the same");

    all = true;
    make_tree();
    alarm(20);
    put(at("ws/t.c"), "void f(void)\n{\n\tif (a)   {\n\t\tb();\n\t}\n}\n");
    start();
    read_it("t.c");
    PART(edit_it("t.c", "if (a) {\\n  b();\\n}",
                 "if (a) {\\n  b();\\n  c();\\n}") == TCALL_OK);
    PART(holds(at("ws/t.c"),
               "void f(void)\n{\n\tif (a) {\n\t\tb();\n\t\tc();\n\t}\n}\n"));
    PART(edit_it("t.c", "b ( ) ;", "x") == TCALL_E_FAILED);
    alarm(0);
    row("F20+", all, "edit: differences of white space are tolerated");
    all = true;
    make_tree();
    {
        static char text[40000], old[4000];
        size_t i;
        for (i = 0; i + 2 < sizeof text; i += 2)
            memcpy(text + i, "a\n", 2);
        memcpy(text + i - 4, "b\n", 3);
        for (i = 0; i < 400; i++)
            strcat(old, "a \\n");
        strcat(old, "b");
        put(at("ws/many"), text);
        start();
        PART(call("read", "{\"file_paths\":[\"many\"],\"limit\":1}") ==
             TCALL_OK);
        PART(edit_it("many", old, "x") == TCALL_E_LIMIT && says("too long") &&
             holds(at("ws/many"), text));
        PART(edit_it("many", "a \\na \\nb", "x") == TCALL_OK);
    }
    row("F20+", all, "edit: a search that costs too much is given up");

    all = true;
    make_tree();
    put(at("ws/w"), "\xEF\xBB\xBF"
                    "a\r\nb\rc\nd\r\nlast");
    start();
    read_it("w");
    PART(edit_it("w", "d", "D\\nE") == TCALL_OK);
    PART(holds(at("ws/w"), "\xEF\xBB\xBF"
                           "a\r\nb\rc\nD\r\nE\r\nlast"));
    PART(edit_it("w", "last", "LAST") == TCALL_OK && shows("No newline"));
    PART(holds(at("ws/w"), "\xEF\xBB\xBF"
                           "a\r\nb\rc\nD\r\nE\r\nLAST"));
    row("F22", all, "CR LF, CR, BOM, no last newline: only the place changes");
}

/* The diff in the metadata of the last result is what diff -u says. */
static bool as_diff(const char *before, const char *after, const char *name)
{
    static char text[1 << 17], ours[1 << 16], theirs[1 << 16], command[2048];
    static tcall_tok tok[64];
    tcall_json json;
    tcall_str diff;
    size_t n = 0, got;
    FILE *f;
    put(at("before"), before);
    put(at("after"), after);
    strcpy(text, whole);
    if (tcall_json_parse(&json, text, strlen(text), tok, 64, NULL) < 0)
        return false;
    diff = tcall_json_str(
        tcall_json_get(tcall_json_get(json, "metadata"), "diff"));
    snprintf(ours, sizeof ours, "%.*s", (int)diff.len, diff.ptr);
    snprintf(command, sizeof command,
             "diff -u --label %s --label %s %s/before %s/after", name, name,
             base, base);
    f = popen(command, "r");
    while (f && (got = fread(theirs + n, 1, sizeof theirs - 1 - n, f)) > 0)
        n += got;
    theirs[n] = '\0';
    unlink(at("before"));
    unlink(at("after"));
    if (!f || pclose(f) < 0)
        return false;
    if (strcmp(ours, theirs) != 0)
        printf("--- ours\n%s--- theirs\n%s", ours, theirs);
    return strcmp(ours, theirs) == 0;
}

static uint32_t seed = 1;

static unsigned random_below(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % n;
}

/* Lines that all differ, so that there is one shortest diff. */
static void diffs(void)
{
    static char before[8192], after[8192], wanted[16384], once[8192];
    int round, i;
    make_tree();
    if (system("diff --version >/dev/null 2>&1") != 0) {
        skip("diff", "there is no diff");
        return;
    }
    all = true;
    for (round = 0; round < 60; round++) {
        int lines = (int)random_below(14), from = (int)random_below(15),
            gone = (int)random_below(4), fresh = (int)random_below(4);
        *before = *after = *wanted = '\0';
        from = from < lines ? from : lines;
        for (i = 0; i <= lines; i++) {
            int k;
            for (k = 0; i == from && k < fresh; k++)
                sprintf(after + strlen(after), "new %d\n", k);
            if (i == lines)
                break;
            sprintf(before + strlen(before), "line %d\n", i);
            if (i < from || i >= from + gone)
                sprintf(after + strlen(after), "line %d\n", i);
        }
        if (*before && *after && random_below(3) == 0) {
            before[strlen(before) - 1] = '\0';
            after[strlen(after) - 1] = '\0';
        }
        for (i = 0; after[i]; i++)
            sprintf(wanted + strlen(wanted), after[i] == '\n' ? "\\n" : "%c",
                    after[i]);
        put(at("ws/d"), before);
        start();
        PART(read_it("d") == TCALL_OK && write_it("d", wanted) == TCALL_OK);
        PART(strcmp(before, after) == 0 || as_diff(before, after, "d"));
    }
    for (round = 0; round < 30; round++) { /* several places in one edit */
        *before = *after = '\0';
        for (i = 0; i < 40; i++) {
            bool here = random_below(8) == 0;
            sprintf(before + strlen(before), "%d %s\nkept\n", i,
                    here ? "old" : "x");
            sprintf(after + strlen(after), "%d %s\nkept\n", i,
                    here ? "new\nand" : "x");
        }
        put(at("ws/d"), before);
        start();
        PART(read_it("d") == TCALL_OK);
        if (strcmp(before, after) != 0)
            PART(call("edit",
                      "{\"file_path\":\"d\",\"old_string\":\"old\\nkept\","
                      "\"new_string\":\"new\\nand\\nkept\","
                      "\"replace_all\":true}") == TCALL_OK &&
                 as_diff(before, after, "d"));
    }
    strcpy(once, "a\nb\nc\nd\ne\nf\ng\nh\n"); /* only d changes */
    put(at("ws/d"), once);
    start();
    PART(read_it("d") == TCALL_OK &&
         edit_it("d", "b\\nc\\nd\\ne\\n", "b\\nc\\nD\\ne\\n") == TCALL_OK &&
         as_diff(once, "a\nb\nc\nD\ne\nf\ng\nh\n", "d"));
    row("diff", all, "the diff of a change is what diff -u says");
}

static void other_writer(void)
{
    put(at("ws/a.txt"), "other\n");
}

static void second_name(void)
{
    (void)!link(at("ws/a.txt"), at("outside/hard"));
}

static void grows(void)
{
    FILE *f = fopen(at("ws/a.txt"), "a");
    if (f) {
        fputs("four\n", f);
        fclose(f);
    }
}

static void stale(void)
{
    char name[64];
    int i;
    all = true;
    make_tree();
    PART(edit_it("a.txt", "two", "2") == TCALL_E_UNREAD &&
         says("read it first") && says("Call read with this path"));
    read_it("a.txt");
    other_writer();
    PART(edit_it("a.txt", "other", "2") == TCALL_E_STALE && says("changed"));
    PART(write_it("a.txt", "2") == TCALL_E_STALE && says("changed"));
    PART(holds(at("ws/a.txt"), "other\n"));
    make_tree();
    read_it("a.txt");
    fault.hook = other_writer;
    fault.hook_at = 's';
    PART(edit_it("a.txt", "two", "2") == TCALL_E_STALE && says("changed"));
    PART(holds(at("ws/a.txt"), "other\n") && no_temporary());
    fault.hook = other_writer;
    fault.hook_at = 's';
    unlink(at("ws/a.txt"));
    PART(write_it("a.txt", "mine") == TCALL_E_STALE &&
         holds(at("ws/a.txt"), "other\n") && no_temporary());
    unlink(at("ws/a.txt"));
    fault.hook = other_writer;
    fault.hook_at = 'r'; /* behind the last look */
    PART(write_it("a.txt", "mine") == TCALL_E_FAILED &&
         holds(at("ws/a.txt"), "other\n") && no_temporary());
    row("F21", all, "changed since it was read, also while it is written");
    all = true;
    make_tree();
    read_it("a.txt");
    fault.hook = second_name;
    fault.hook_at = 's';
    PART(write_it("a.txt", "mine") == TCALL_E_STALE && no_temporary() &&
         holds(at("outside/hard"), WAS));
    row("F13+", all, "a second name while it is written");
    if (!stepwise) {
        all = true;
        make_tree();
        fault.hook = grows;
        fault.hook_at = 'o';
        PART(read_it("a.txt") == TCALL_E_STALE);
        PART(read_it("a.txt") == TCALL_OK && says("four"));
        row("F21+", all, "a file that grows while it is read");
    }
    all = true;
    make_tree();
    clock_tick = 1; /* so that the name can be known */
    for (i = 1; i < 200; i++) {
        snprintf(name, sizeof name, "ws/.ttool-%lx-%x-%x.tmp", (long)getpid(),
                 clock_ms + (unsigned)i, ws.temporary);
        (void)!symlink("../outside/new", at("%s", name));
    }
    PART(write_it("new.txt", "x") == TCALL_E_FAILED);
    PART(entries(at("outside")) == 1 && holds(at("ws/new.txt"), "(none)"));
    clock_tick = 0;
    row("F06+", all, "a link where the temporary file would be");

    all = true;
    make_tree();
    PART(write_it("a.txt", "x") == TCALL_E_UNREAD && says("read it first") &&
         holds(at("ws/a.txt"), WAS));
    PART(write_it("new.txt", "x\\n") == TCALL_OK);
    PART(edit_it("new.txt", "x", "y") == TCALL_OK &&
         holds(at("ws/new.txt"), "y\n"));
    ws_desc.blind_writes = true;
    start();
    ws_desc.blind_writes = false;
    PART(write_it("a.txt", "x") == TCALL_OK && holds(at("ws/a.txt"), "x"));
    PART(write_it("n/o/p.txt", "x") == TCALL_E_NOT_FOUND &&
         says("create_directories"));
    PART(call("write", "{\"file_path\":\"n/o/p.txt\",\"content\":\"x\","
                       "\"create_directories\":true}") == TCALL_OK &&
         holds(at("ws/n/o/p.txt"), "x"));
    row("F24", all, "what was not read is not overwritten");
}

static void modes(void)
{
    struct stat st;
    mode_t mask = umask(0);
    all = true;
    make_tree();
    chmod(at("ws/a.txt"), 0755);
    if (geteuid() == 0)
        PART(chown(at("ws/a.txt"), 65534, 65533) == 0);
    start();
    read_it("a.txt");
    PART(edit_it("a.txt", "two", "2") == TCALL_OK);
    PART(stat(at("ws/a.txt"), &st) == 0 && (st.st_mode & 07777) == 0755);
    PART(geteuid() != 0 || (st.st_uid == 65534 && st.st_gid == 65533));
    row("F23", all, "mode and owner stay");
    all = true;
    PART(write_it("new", "x") == TCALL_OK && stat(at("ws/new"), &st) == 0 &&
         (st.st_mode & 07777) == 0644);
    umask(mask);
    row("F25", all, "a new file is 0644 at most");
}

/* Two processes that have read the same edit it at the same moment. */
static void two_writers(void)
{
    int round, i, status[2], won = 0, both = 0;
    all = true;
    for (round = 0; round < 40; round++) {
        pid_t pid[2];
        int gate[2], ready[2];
        char c;
        make_tree();
        PART(pipe(gate) == 0 && pipe(ready) == 0);
        for (i = 0; i < 2; i++)
            if ((pid[i] = fork()) == 0) {
                start();
                read_it("a.txt");
                (void)!write(ready[1], "x", 1);
                (void)!read(gate[0], &c, 1);
                _exit(edit_it("a.txt", "two", i ? "right" : "left") == TCALL_OK
                          ? 0
                      : strstr(result, "changed") ? 2
                                                  : 3);
            }
        (void)!read(ready[0], &c, 1);
        (void)!read(ready[0], &c, 1);
        (void)!write(gate[1], "xx", 2);
        for (i = 0; i < 2; i++) {
            waitpid(pid[i], &status[i], 0);
            status[i] = WEXITSTATUS(status[i]);
            close(gate[i]);
            close(ready[i]);
        }
        both += status[0] == 0 && status[1] == 0;
        won += status[0] + status[1] == 2;
        PART(holds(at("ws/a.txt"),
                   status[0] ? "one\nright\nthree\n" : "one\nleft\nthree\n"));
    }
    make_tree();
    round = open(at("ws"), O_RDONLY);
    PART(flock(round, LOCK_EX) == 0);
    PART(write_it("new", "x") == TCALL_E_FAILED && says("in use"));
    close(round);
    PART(write_it("new", "x") == TCALL_OK);
    row("F26", all && won == 40 && both == 0,
        "of two that edit at once one succeeds, one is told");
}

/* -- Names: F27 to F29 ---------------------------------------------------- */

static void guarded(void)
{
    static const char *const secrets[] = {".env", ".env.local", "ID_ED25519",
                                          "server.pem", "aws_credentials"};
    static const char *const run[] = {".git/hooks/pre-commit", ".envrc",
                                      "Makefile", "package.json",
                                      ".github/workflows/ci.yml"};
    size_t i;
    all = true;
    make_tree();
    for (i = 0; i < TCALL_ARRAY_LEN(secrets); i++) {
        put(at("ws/%s", secrets[i]), "TOKEN=1\n");
        asked = 0;
        verdict = TCALL_VERDICT_DENY;
        PART(read_it(secrets[i]) == TCALL_E_DENIED && asked == 1 &&
             !strstr(result, "TOKEN"));
        PART(call("grep", "{\"pattern\":\"TOKEN\",\"path\":\"%s\"}",
                  secrets[i]) == TCALL_E_DENIED);
        verdict = (tcall_verdict)77;
        PART(read_it(secrets[i]) == TCALL_E_DENIED);
        verdict = TCALL_VERDICT_LATER;
        PART(read_it(secrets[i]) == TCALL_E_APPROVAL && !*result);
        verdict = TCALL_VERDICT_ALLOW;
        asked = 0;
        PART(read_it(secrets[i]) == TCALL_OK && says("TOKEN") && asked == 1);
        PART(edit_it(secrets[i], "1", "2") == TCALL_OK && asked == 2);
    }
    verdict = TCALL_VERDICT_DENY;
    (void)!symlink(".env", at("ws/innocent"));
    PART(read_it("innocent") == TCALL_E_DENIED);
    mkdir(at("ws/.ssh"), 0700);
    put(at("ws/.ssh/config"), "TOKEN\n");
    PART(read_it(".ssh/config") == TCALL_E_DENIED);
    PART(call("grep", "{\"pattern\":\"TOKEN\"}") == TCALL_OK &&
         says("names of secrets: 6") && !strstr(result, "TOKEN"));
    PART(call("grep", "{\"pattern\":\"TOKEN\",\"path\":\".ssh\"}") ==
             TCALL_OK &&
         says("names of secrets: 1") && !strstr(result, "TOKEN"));
    PART(call("read", "{\"file_paths\":[\"a.txt\",\".env\"]}") == TCALL_OK &&
         says("two") && !strstr(result, "TOKEN"));
    row("F27", all, "secrets by name ask, also behind a link and in grep");
    all = true;
    mkdir(at("ws/.git"), 0755);
    mkdir(at("ws/.git/hooks"), 0755);
    mkdir(at("ws/.github"), 0755);
    mkdir(at("ws/.github/workflows"), 0755);
    for (i = 0; i < TCALL_ARRAY_LEN(run); i++) {
        asked = 0;
        verdict = TCALL_VERDICT_DENY;
        PART(write_it(run[i], "evil") == TCALL_E_DENIED && asked == 1 &&
             holds(at("ws/%s", run[i]), "(none)"));
        verdict = TCALL_VERDICT_ALLOW;
        PART(write_it(run[i], "fine") == TCALL_OK && asked == 2);
    }
    row("F28", all, "what other programs run asks");
    all = true;
    start_in(at("ws"), true);
    PART(write_it("plain", "x") == TCALL_E_DENIED && asked == 1);
    verdict = TCALL_VERDICT_ALLOW;
    PART(write_it("plain", "x") == TCALL_OK && asked == 2);
    PART(write_it("Jenkinsfile", "x") == TCALL_OK && asked == 3);
    PART(read_it("plain") == TCALL_OK && asked == 3);
    row("F28+", all, "write and edit ask each time, but only once");
}

/* -- The life of a call --------------------------------------------------- */

static tcall_ledger_row tickets[4];
static tcall_ledger ledger = {tickets, 4};

static void allow(void)
{
    verdict = TCALL_VERDICT_ALLOW;
}

static void decide_allow(void)
{
    PART(tcall_ledger_decide(&ledger, &tc, tcall_str_of("call_1"),
                             TCALL_VERDICT_ALLOW) == TCALL_OK);
}

/* Approval comes later, by the id of the call, and is bound to arguments. */
static void later(void)
{
    static const tcall_hook with_ledger[] = {TCALL_LEDGER(&ledger)};
    all = true;
    make_tree();
    put(at("ws/.env"), "TOKEN=1\n");
    put(at("ws/b.env"), "TOKEN=2\n");
    verdict = TCALL_VERDICT_LATER;
    PART(read_it(".env") == TCALL_E_APPROVAL && !*result);
    on_wait = allow;
    PART(read_it(".env") == TCALL_OK && says("TOKEN=1") && asked == 3);
    verdict = TCALL_VERDICT_LATER;
    PART(write_it("Makefile", "all:\\n") == TCALL_OK &&
         holds(at("ws/Makefile"), "all:\n"));
    verdict = TCALL_VERDICT_LATER;
    on_wait = NULL;
    PART(read_it(".env") == TCALL_E_APPROVAL && !*result); /* once only */

    hooks = with_ledger;
    hook_count = 2;
    nobody = true;
    memset(tickets, 0, sizeof tickets);
    start_in(at("ws"), true);
    PART(read_it(".env") == TCALL_E_APPROVAL && !*result);
    PART(read_it(".env") == TCALL_E_APPROVAL && !*result);
    decide_allow();
    PART(read_it("b.env") == TCALL_E_APPROVAL &&
         !*result); /* other arguments */
    PART(read_it(".env") == TCALL_E_APPROVAL && !*result);
    PART(call("grep", "{\"pattern\":\"TOKEN\",\"path\":\".env\"}") ==
         TCALL_E_APPROVAL);
    PART(read_it(".env") == TCALL_E_APPROVAL);
    decide_allow();
    PART(read_it(".env") == TCALL_OK && says("TOKEN=1"));
    PART(read_it(".env") == TCALL_E_TWICE && !strstr(result, "TOKEN=1"));
    memset(tickets, 0, sizeof tickets);
    PART(read_it(".env") == TCALL_E_APPROVAL);
    PART(tcall_ledger_decide(&ledger, &tc, tcall_str_of("call_2"),
                             TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
    PART(tcall_ledger_decide(&ledger, &tc, tcall_str_of("call_1"),
                             TCALL_VERDICT_DENY) == TCALL_OK);
    PART(read_it(".env") == TCALL_E_DENIED && says("permission"));
    memset(tickets, 0, sizeof tickets);
    on_wait = decide_allow;
    PART(read_it(".env") == TCALL_OK && says("TOKEN=1"));
    memset(tickets, 0, sizeof tickets);
    PART(write_it("Makefile2", "x") == TCALL_OK &&
         holds(at("ws/Makefile2"), "x"));
    PART(write_it("Makefile2", "x") == TCALL_E_TWICE);
    on_wait = NULL;
    hooks = NULL;
    hook_count = 0;
    nobody = false;
    row("L07", all, "approval comes later, and for these arguments only");
}

/* Titles, metadata, previews, progress, chunks, an early end. */
static void life(void)
{
    static const tcall_hook in_time[] = {TCALL_TIMEOUT(8000)};
    int i;
    all = true;
    make_tree();
    PART(read_it("a.txt") == TCALL_OK && shows("\"title\":\"Read a.txt\"") &&
         shows("\"metadata\":{\"count\":1,\"cut\":false}"));
    PART(strcmp(preview, "=== a.txt (14 bytes, about 4 tokens) ===\n"
                         "     1\tone") == 0);
    PART(write_it("a.txt", "one\\n2\\n") == TCALL_OK &&
         shows("\"title\":\"Write a.txt\"") && shows("\"created\":false") &&
         shows("--- a.txt\\n+++ a.txt\\n@@ -1,3 +1,2 @@\\n one\\n-two\\n"
               "-three\\n+2\\n"));
    PART(strcmp(preview, "changed a.txt: 1 place, 6 bytes") == 0);
    PART(call("glob", "{\"pattern\":\"**\",\"limit\":1}") == TCALL_OK &&
         shows("\"title\":\"Find **\"") && shows("\"count\":1,\"cut\":true"));
    PART(call("grep", "{\"pattern\":\"return\"}") == TCALL_OK &&
         shows("\"title\":\"Search for return\"") &&
         strcmp(preview, "sub/b.c:3:    return 0;") == 0);
    PART(call("list", "{}") == TCALL_OK && shows("\"title\":\"List .\"") &&
         shows("\"count\":3,\"cut\":false"));
    row("life", all, "title, metadata, preview");

    all = true;
    for (i = 0; i < 1000; i++)
        mknod(at("ws/sub/f%04d", i), S_IFREG | 0644, 0);
    start();
    clock_tick = 1000;
    PART(call("grep", "{\"pattern\":\".\"}") == TCALL_OK &&
         says("time is up") && shows("\"cut\":true"));
    PART(strcmp(progress, "grep: 512 files") == 0);
    PART(strstr(chunks, "a.txt:1:one") == chunks &&
         strncmp(chunks, result, strlen(chunks)) == 0);
    stop_with = TCALL_E_CANCELLED;
    PART(call("grep", "{\"pattern\":\".\"}") == TCALL_E_CANCELLED &&
         says("stopped before it was done") && says("\"cancelled\""));
    stop_with = 0;
    hooks = in_time;
    hook_count = 1;
    ws_desc.max_ms = 1000000;
    start();
    PART(call("grep", "{\"pattern\":\".\"}") == TCALL_OK && says("time is up"));
    hooks = NULL;
    hook_count = 0;
    start();
    PART(call("grep", "{\"pattern\":\".\"}") == TCALL_OK &&
         !strstr(result, "time is up"));
    ws_desc.max_ms = 0;
    clock_tick = 0;
    row("life", all, "progress, chunks, stop, time limit of the call");
}

static void no_permission(void)
{
    int status;
    pid_t pid;
    make_tree();
    put(at("ws/locked"), "x\n");
    chmod(at("ws/locked"), 0);
    chmod(at("ws/sub"), 0555);
    pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(77);
        if (access(at("ws"), X_OK) != 0)
            _exit(77);
        start();
        _exit(read_it("locked") == TCALL_E_DENIED &&
                      says("permission denied") &&
                      write_it("sub/new", "x") == TCALL_E_DENIED &&
                      says("permission denied")
                  ? 0
                  : 1);
    }
    waitpid(pid, &status, 0);
    if (WEXITSTATUS(status) == 77)
        skip("F29", "another user cannot be had here");
    else
        row("F29", status == 0, "no permission: says so");
}

/* -- Searching: G01 to G11 ------------------------------------------------ */

static bool fast(const char *tool, const char *arguments, int error, double s)
{
    double before = work(), took;
    int r = call(tool, "%s", arguments);
    took = work() - before;
    if (r != error)
        printf("     %s %.80s: %d, %.3f s: %.200s\n", tool, arguments, r, took,
               result);
    return r == error && in_time((long)(took * 1000), 0, (long)(s * 1000));
}

static ttool_pattern compiled;

static bool compiles(const char *pattern, unsigned flags)
{
    static char mem[TTOOL_PATTERN_MEMORY];
    return ttool_pattern_compile(&compiled, tcall_str_of(pattern), flags, mem,
                                 sizeof mem) == TCALL_OK;
}

static bool matches(const char *pattern, unsigned flags, const char *text)
{
    return compiles(pattern, flags) &&
           ttool_pattern_find(&compiled, text, text + strlen(text));
}

static void patterns(void)
{
    static const struct {
        const char *pattern, *text;
        unsigned flags;
        bool match;
    } t[] = {
        {"a.c", "abc", 0, true},
        {"^b$", "a\nb\nc", 1, true},
        {"^$", "a\n\nc", 1, true},
        {"x|y|z", "z", 0, true},
        {"(ab)+c", "ababc", 0, true},
        {"(ab){2,3}c", "abc", 0, false},
        {"(ab){2,3}c", "abababc", 0, true},
        {"^(ab){2,3}$", "abababab", 0, false},
        {"a{2,}", "a", 0, false},
        {"a{2,}", "aaa", 0, true},
        {"a{0}b", "b", 0, true},
        {"^a?b*?c$", "abbc", 0, true},
        {"\\bint\\b", "print int;", 0, true},
        {"\\bint\\b", "printint", 0, false},
        {"\\Bint", "print", 0, true},
        {"[[:digit:]x]+$", "a1x", 0, true},
        {"[^a-c\\d]", "abc123", 0, false},
        {"[]a]", "]", 0, true},
        {"[a\\]]", "]", 0, true},
        {"\\x41\\u00e9", "A\xC3\xA9", 0, true},
        {"^.$", "\xE2\x82\xAC", 0, true},
        {"^..$", "\xE2\x82\xAC", 0, false},
        {"[\xC3\xA0-\xC3\xBF]", "\xC3\xA9", 0, true},
        {"[\xC3\xA0-\xC3\xBF]", "\xC4\x80", 0, false},
        {"[^\xC3\xA0-\xC3\xBF]", "\xC3\xA9", 0, false},
        {"[^x]", "\xF0\x9F\x98\x80", 0, true},
        {".", "\xE9", 0, false},
        {"HeLLo", "hEllO", TTOOL_FOLD, true},
        {"(?i)[^a]", "A", 0, false},
        {"a.b", "a\nb", 1, false},
        {"[^a]", "a\n", 1, false},
        {"\\s", "a\nb", 1, false},
        {"struct {", "struct {", 0, true},
        {"a||b", "", 0, true},
        {"()", "", 0, true},
        {"(a*)*b", "aaab", 0, true},
        {"needle", "hay needle hay", 1, true},
        {"**/*.c", "a.c", TTOOL_GLOB, true},
        {"**/*.c", "x/y/a.c", TTOOL_GLOB, true},
        {"*.c", "x/a.c", TTOOL_GLOB, false},
        {"src/*/[!x]?.{c,h}", "src/lib/ab.h", TTOOL_GLOB, true},
        {"src/*/[!x]?.{c,h}", "src/lib/xb.h", TTOOL_GLOB, false},
        {"a/**", "a/b/c", TTOOL_GLOB, true},
        {"{a,b{c,d}}", "bd", TTOOL_GLOB, true},
        {"a?c", "a/c", TTOOL_GLOB, false},
        {"a[!b]c", "a/c", TTOOL_GLOB, false},
        {"\\*", "*", TTOOL_GLOB, true},
        {"a+(b)", "a+(b)", TTOOL_GLOB, true},
        {"x\ny", "x\ny", TTOOL_GLOB, true},
    };
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(t); i++) {
        bool m = matches(t[i].pattern, t[i].flags, t[i].text);
        if (m != t[i].match)
            printf("     %s on %s: %d\n", t[i].pattern, t[i].text, m);
        PART(m == t[i].match);
    }
}

static void globs(void)
{
    static char text[10001], stars[200], braces[300];
    char names[4][32] = {"new\nline", "esc\033[1m", "quo\"te", "bad\xFFutf8"};
    double before;
    int i;
    all = true;
    make_tree();
    mkdir(at("ws/loop"), 0755);
    (void)!symlink("..", at("ws/loop/back"));
    start();
    PART(fast("glob", "{\"pattern\":\"**/*.c\"}", TCALL_OK, 1) &&
         strcmp(result, "sub/b.c\n") == 0);
    PART(fast("grep", "{\"pattern\":\"return\"}", TCALL_OK, 1) &&
         strcmp(result, "sub/b.c:3:    return 0;\n") == 0);
    PART(fast("list", "{\"depth\":9}", TCALL_OK, 1) && says("back (link)"));
    PART(fast("list", "{\"limit\":1}", TCALL_OK, 1) &&
         says("./\n  a.txt\n[cut after 1 of at least"));
    row("G01", all, "** over a loop of links ends");
    all = true;
    for (i = 0; i < 30; i++)
        strcat(braces, "{a,b}");
    put(at("ws/%.30s", "ababababababababababababababab"), "");
    snprintf(text, sizeof text, "{\"pattern\":\"%s\"}", braces);
    PART(fast("glob", text, TCALL_OK, 0.05) && says("ababab"));
    row("G02", all, "30 groups of braces");
    all = true;
    for (i = 0; i < 64; i++)
        strcat(stars, "a*");
    memset(text, 'a', sizeof text - 1);
    before = work();
    PART(matches(stars, TTOOL_GLOB, text));
    strcat(stars, "b");
    PART(!matches(stars, TTOOL_GLOB, text));
    PART(in_time((long)((work() - before) * 1000), 0, 50));
    row("G03", all, "64 stars against 10,000 letters");
    all = true;
    make_tree();
    for (i = 0; i < 4; i++)
        put(at("ws/%s", names[i]), "found\n");
    PART(fast("glob", "{\"pattern\":\"*\"}", TCALL_OK, 1) &&
         says("new\\x0aline\n") && says("esc\\x1b[1m\n") && says("quo\"te\n") &&
         says("bad\xEF\xBF\xBDutf8\n"));
    PART(fast("grep", "{\"pattern\":\"found\"}", TCALL_OK, 1) &&
         says("new\\x0aline:1:found\n"));
    PART(fast("list", "{}", TCALL_OK, 1) && says("  new\\x0aline\n"));
    row("G05", all, "names with newline, ESC, quotes, bad UTF-8");
    all = true;
    PART(
        fast("glob", "{\"pattern\":\"../*\"}", TCALL_E_DENIED, 1) &&
        fast("glob", "{\"pattern\":\"/etc/*\"}", TCALL_E_DENIED, 1) &&
        fast("glob", "{\"pattern\":\"sub/../../*\"}", TCALL_E_DENIED, 1) &&
        fast("grep", "{\"pattern\":\"x\",\"path\":\"..\"}", TCALL_E_DENIED, 1));
    PART(
        fast("grep", "{\"pattern\":\".\",\"include\":\"../*\"}", TCALL_OK, 1) &&
        says("no match"));
    row("G10", all, "patterns that lead out");
    all = true;
    put(at("ws/dash"), "-x\n");
    PART(fast("grep", "{\"pattern\":\"-x\"}", TCALL_OK, 1) &&
         says("dash:1:-x"));
    row("G11", all, "a pattern that begins with -");
}

static void greps(void)
{
    static char text[3000];
    const char *p;
    double before;
    int i, fd;
    all = true;
    make_tree();
    memset(text, 'a', 40);
    strcpy(text + 40, "X\n");
    put(at("ws/s08"), text);
    PART(fast("grep", "{\"pattern\":\"^(a|a)*$\"}", TCALL_OK, 0.05) &&
         says("no match"));
    for (p = "(?=a) (a)\\\\1 (?<=a)"; *p;) {
        size_t n = strcspn(p, " ");
        snprintf(text, sizeof text, "{\"pattern\":\"%.*s\"}", (int)n, p);
        PART(fast("grep", text, TCALL_E_INVALID, 0.05) && strstr(result, "no"));
        p += n + (p[n] == ' ');
    }
    for (i = 0, *text = '\0'; i < 70; i++) /* too many sets, too many parts */
        snprintf(text + strlen(text), 16, "[a%c%c]", '0' + i % 10,
                 'c' + i / 10);
    PART(!compiles(text, 0));
    text[0] = '[';
    for (i = 1; i < 80; i++)
        text[i] = (char)('!' + (i * 2) % 58);
    strcpy(text + 80, "]");
    PART(!compiles(text, 0));
    memset(text, '*', 2000);
    text[2000] = '\0';
    PART(!compiles(text, TTOOL_GLOB));
    PART(fast("grep", "{\"pattern\":\"(((a{1,120}){1,120}){1,120})\"}",
              TCALL_E_INVALID, 0.05) &&
         says("too large"));
    for (p = "( [ a{2,1} \\\\ a) *a [z-a] \\\\q"; *p;) {
        size_t n = strcspn(p, " ");
        snprintf(text, sizeof text, "{\"pattern\":\"%.*s\"}", (int)n, p);
        PART(fast("grep", text, TCALL_E_INVALID, 0.05) &&
             says("near character"));
        p += n + (p[n] == ' ');
    }
    before = work();
    memset(text, '(', 1000);
    memset(text + 1000, ')', 1000);
    text[2000] = '\0';
    PART(!matches(text, 0, "x"));
    PART(!matches("(x+x+)+y", 0, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
    PART(in_time((long)((work() - before) * 1000), 0, 50));
    patterns();
    row("G09", all, "patterns that are costly or malformed; what they match");

    all = true;
    make_tree();
    for (i = 0, fd = open(at("ws/n"), O_WRONLY | O_CREAT, 0644); i < 30; i++)
        dprintf(fd, "line %d%s\n", i + 1, i % 10 ? "" : " HIT");
    close(fd);
    PART(fast("grep",
              "{\"pattern\":\"hit$\",\"ignore_case\":true,"
              "\"context\":1}",
              TCALL_OK, 1) &&
         strcmp(result, "n:1:line 1 HIT\nn-2-line 2\n--\nn-10-line 10\n"
                        "n:11:line 11 HIT\nn-12-line 12\n--\nn-20-line 20\n"
                        "n:21:line 21 HIT\nn-22-line 22\n") == 0);
    PART(fast("grep", "{\"pattern\":\"line\",\"limit\":3}", TCALL_OK, 1) &&
         says("n:3:line 3\n[cut after 3 matches"));
    PART(fast("grep", "{\"pattern\":\"HIT\",\"limit\":3}", TCALL_OK, 1) &&
         !strstr(result, "cut"));
    PART(fast("grep",
              "{\"pattern\":\"line 2[89]\",\"path\":\"n\","
              "\"context\":3}",
              TCALL_OK, 1) &&
         strcmp(result, "n-25-line 25\nn-26-line 26\nn-27-line 27\n"
                        "n:28:line 28\nn:29:line 29\nn-30-line 30\n") == 0);
    put_bytes(at("ws/bin"), "HIT\0", 4);
    PART(fast("grep", "{\"pattern\":\"HIT\",\"include\":\"{b*,n}\"}", TCALL_OK,
              1) &&
         says("binary: 1") && says("n:1:"));
    PART(fast("grep", "{\"pattern\":\"main\",\"include\":\"sub/*.c\"}",
              TCALL_OK, 1) &&
         says("sub/b.c:1:int main(void)\n"));
    row("G09+", all, "context, limit, include, binary");
}

/* A file of lines around the edges of the buffer: each is found, with the
 * lines around it and its number. */
static void edges(void)
{
    char arguments[96], want[256];
    long i;
    FILE *f;
    all = true;
    make_tree();
    f = fopen(at("ws/big"), "w");
    for (i = 1; f && i <= 60000; i++)
        fprintf(f, "%05ld\n", i);
    if (f)
        fclose(f);
    start();
    for (i = 2700; i < 2760; i++) { /* around 16 KB */
        snprintf(arguments, sizeof arguments,
                 "{\"pattern\":\"^%05ld$\",\"context\":1}", i);
        snprintf(want, sizeof want,
                 "big-%ld-%05ld\nbig:%ld:%05ld\nbig-%ld-%05ld\n", i - 1, i - 1,
                 i, i, i + 1, i + 1);
        PART(fast("grep", arguments, TCALL_OK, 1) && strcmp(result, want) == 0);
    }
    PART(fast("grep", "{\"pattern\":\"60000\"}", TCALL_OK, 1) &&
         strcmp(result, "big:60000:60000\n") == 0);
    row("G08+", all, "lines at the edges of memory");
}

/* Lines that are longer than memory: what matches in them is found wherever
 * it lies, once, and their ends are only where they are. */
static void long_lines(void)
{
    static char text[100000];
    char arguments[128];
    size_t n;
    int fd;
    all = true;
    make_tree();
    for (n = 16384 - 12; n < 3 * 16384; n += n % 16384 < 16 ? 1 : 16384 - 28) {
        memset(text, 'a', sizeof text);
        memcpy(text, "before\n", 7);
        memcpy(text + n, "needle", 6);
        memcpy(text + 90000, "\nafter\nneedle\n", 15);
        put_bytes(at("ws/long"), text, 90015);
        PART(fast("grep",
                  "{\"pattern\":\"needle\",\"path\":\"long\",\"context\":1}",
                  TCALL_OK, 1) &&
             says("long:2:[...]aaa") && says("aneedlea") && says("a[...]\n") &&
             says("\nlong-3-after\nlong:4:needle\n") &&
             shows("\"count\":2,\"cut\":false"));
        PART(fast("grep", "{\"pattern\":\"an(e+)d.{3,9}a$\",\"path\":\"long\"}",
                  TCALL_OK, 1) &&
             says("no match"));
        snprintf(arguments, sizeof arguments,
                 "{\"pattern\":\"\\\\Bneed.*after|an(e+)d[^x]*$\","
                 "\"path\":\"long\"}");
        PART(fast("grep", arguments, TCALL_OK, 1) && says("long:2:[...]") &&
             shows("\"count\":1,"));
    }
    PART(fast("grep", "{\"pattern\":\"^[ab]|a$\",\"path\":\"long\"}", TCALL_OK,
              1) &&
         says("long:1:before\nlong:2:aaa") && says("long:3:after\n") &&
         shows("\"count\":3,"));
    memset(text + 7, 'a', 90000 - 7);
    memcpy(text + 90000, "zz", 2); /* the last line of the file, unfinished */
    put_bytes(at("ws/long"), text, 90002);
    PART(fast("grep", "{\"pattern\":\"^a\",\"path\":\"long\"}", TCALL_OK, 1) &&
         says("long:2:aaa") && shows("\"count\":1,"));
    PART(fast("grep", "{\"pattern\":\"zz$\",\"path\":\"long\"}", TCALL_OK, 1) &&
         says("long:2:[...]aaa") && says("azz\n"));
    PART(fast("grep", "{\"pattern\":\"a$|^z\",\"path\":\"long\"}", TCALL_OK,
              1) &&
         says("no match"));
    fd = open(at("ws/long"), O_WRONLY | O_APPEND);
    PART(write(fd, "\nzz\n", 4) == 4);
    close(fd);
    PART(fast("grep", "{\"pattern\":\"zz\",\"path\":\"long\",\"limit\":1}",
              TCALL_OK, 1) &&
         says("[cut after 1 matches") && !strstr(result, "long:3"));
    row("G08+", all, "a match anywhere in a line that is longer than memory");
}

static void large(void)
{
    static char piece[1 << 16];
    int i, fd, dir, first;
    struct rlimit few = {32, 32}, was;
    double before = now();
    pid_t pid;
    all = true;
    make_tree();
    for (i = 0; i < 100000; i++)
        mknod(at("ws/sub/f%06d", i), S_IFREG | 0644, 0);
    start();
    PART(fast("glob", "{\"pattern\":\"**/f*\"}", TCALL_OK, 3));
    PART(says("[the newest 100 of ") && says("too many entries"));
    PART(fast("list", "{}", TCALL_OK, 3) && says("[cut after 200 of at least"));
    first = (int)strlen(result);
    PART(fast("list", "{}", TCALL_OK, 3) && (int)strlen(result) == first);
    PART(fast("grep", "{\"pattern\":\"x\"}", TCALL_OK, 3) && says("no match"));
    clock_tick = 1000;
    PART(fast("grep", "{\"pattern\":\"x\"}", TCALL_OK, 3) &&
         says("time is up"));
    PART(strstr(progress, "grep: ") == progress);
    clock_tick = 0;
    row("G04", all, "100,000 files: limits, the same each time, time is up");
    all = true;
    make_tree();
    dir = open(at("ws"), O_RDONLY | O_DIRECTORY);
    for (i = 0; i < 5000 && dir >= 0; i++) {
        int next;
        mkdirat(dir, "d", 0755);
        next = openat(dir, "d", O_RDONLY | O_DIRECTORY);
        close(dir);
        dir = next;
    }
    close(dir);
    getrlimit(RLIMIT_NOFILE, &was);
    few.rlim_max = was.rlim_max;
    setrlimit(RLIMIT_NOFILE, &few);
    start();
    PART(fast("glob", "{\"pattern\":\"**\"}", TCALL_OK, 1) &&
         says("too deeply"));
    PART(fast("grep", "{\"pattern\":\"one\"}", TCALL_OK, 1) &&
         says("a.txt:1:"));
    setrlimit(RLIMIT_NOFILE, &was);
    /* nftw cannot remove it: empty it from below */
    if (chdir(at("ws")) == 0) {
        while (chdir("d") == 0)
            continue;
        while (chdir("..") == 0 && rmdir("d") == 0)
            continue;
        (void)!chdir("/");
    }
    row("G06", all, "5,000 levels with 32 handles");
    all = true;
    make_tree();
    pid = fork();
    if (pid == 0) {
        for (;;) {
            char from[512];
            for (i = 0; i < 50; i++) {
                mkdir(at("ws/sub/%d", i), 0755);
                put(at("ws/sub/%d/x", i), "x\n");
            }
            snprintf(from, sizeof from, "%s", at("ws/sub"));
            remove_tree(from);
            mkdir(from, 0755);
        }
    }
    for (before = now(), i = 0; now() < before + 0.3; i++) {
        PART(call("grep", "{\"pattern\":\"x\"}") == TCALL_OK);
        PART(call("glob", "{\"pattern\":\"**\"}") == TCALL_OK);
        PART(call("list", "{\"depth\":3}") == TCALL_OK);
    }
    stop(pid);
    row("G07", all, "the tree goes while it is searched");
    all = true;
    make_tree();
    fd = open(at("ws/line"), O_WRONLY | O_CREAT, 0644);
    memset(piece, 'a', sizeof piece);
    for (i = 0; i < 256; i++)
        PART(write(fd, piece, sizeof piece) == (ssize_t)sizeof piece);
    PART(write(fd, piece, 500) == 500); /* no piece ends before "end" */
    PART(write(fd, "end\nnext\n", 9) == 9);
    close(fd);
    start();
    PART(call("read", "{\"file_paths\":[\"line\"],\"limit\":1}") == TCALL_OK &&
         says("line cut") && strlen(result) < 3000);
    PART(call("grep", "{\"pattern\":\"aend$|xt\"}") == TCALL_OK &&
         says("[...]") && says("line:2:next") && strlen(result) < 2000);
    row("G08", all, "a line of 16 MB");
}

/* -- The list of tasks: U06 ----------------------------------------------- */

#define TASK(text) \
    "{\\\"content\\\":\\\"" text "\\\",\\\"status\\\":\\\"pending\\\"}"

static int todo_it(const char *text)
{
    return call("todowrite",
                "{\"todos\":[{\"content\":\"%s\",\"status\":\"pending\"}]}",
                text);
}

static bool todo_is(const char *text)
{
    char want[128];
    tcall_str list = ttool_todo_list(&todo);
    snprintf(want, sizeof want, "[{\"content\":\"%s\",\"status\":\"pending\"}]",
             text);
    return tcall_str_eq(list, tcall_str_of(want));
}

static void tasks(void)
{
    static char text[3000];
    int n, status, before;
    all = true;
    make_tree();
    PART(call("todoread", "{}") == TCALL_OK && strcmp(result, "[]") == 0);
    PART(todo_it("first") == TCALL_OK && says("1 tasks, 1 of them"));
    PART(todo_is("first"));
    PART(call("todowrite", "{\"todos\":[{\"content\":\"x\",\"status\":"
                           "\"done\"}]}") == TCALL_E_INVALID);
    memset(text, 'x', 490);
    PART(call("todowrite",
              "{\"todos\":[{\"content\":\"%s\",\"status\":\"pending\"},"
              "{\"content\":\"%s\",\"status\":\"pending\"},"
              "{\"content\":\"%s\",\"status\":\"pending\"},"
              "{\"content\":\"%s\",\"status\":\"pending\"}]}",
              text, text, text, text) == TCALL_E_LIMIT &&
         says("too long"));
    PART(todo_is("first"));
    start(); /* again: it was saved */
    PART(todo_is("first"));
    fault.only = "w";
    fault.number = ENOSPC;
    fault.countdown = 1;
    PART(todo_it("second") == TCALL_E_LIMIT && todo_is("first"));
    for (before = 0; before < 2; before++)
        for (n = 1; n < 100; n++) {
            pid_t pid;
            make_tree();
            todo_it("first");
            pid = fork();
            if (pid == 0) {
                fault.countdown = n;
                fault.most = 9;
                _exit(todo_it("second") == TCALL_OK ? 0 : 1);
            }
            waitpid(pid, &status, 0);
            start();
            PART(todo_is("first") || todo_is("second"));
            if (status == 0)
                break;
        }
    PART(n > 3 && n < 100);
    put(at("ws/.todo.json"), "[{]");
    PART(ttool_todo_init(&todo, todo_memory, sizeof todo_memory, &ws,
                         ".todo.json") == TCALL_E_FAILED &&
         ttool_todo_list(&todo).len == 2);
    row("U06", all, "the task list: old or new after a cut at every write");
}

static void roots(void)
{
    ttool_workspace other;
    ttool_workspace_desc d;
    all = true;
    memset(&d, 0, sizeof d);
    d.memory = memory;
    d.memory_size = sizeof memory;
    d.root = "/";
    PART(ttool_workspace_open(&other, &d) == TCALL_E_DENIED);
    make_tree();
    setenv("HOME", at("ws"), 1);
    d.root = at("ws/sub/..");
    PART(ttool_workspace_open(&other, &d) == TCALL_E_DENIED);
    setenv("HOME", "/nowhere", 1);
    PART(ttool_workspace_open(&other, &d) == TCALL_OK);
    ttool_workspace_close(&other);
    d.root = at("none");
    PART(ttool_workspace_open(&other, &d) == TCALL_E_NOT_FOUND);
    d.root = at("ws/a.txt");
    PART(ttool_workspace_open(&other, &d) == TCALL_E_NOT_FOUND);
    d.root = at("ws");
    d.memory_size--;
    PART(ttool_workspace_open(&other, &d) == TCALL_E_USAGE);
    row("C3", all, "/ and the home directory are no workspaces");
}

static void finding(void *user, const ttool_finding *f)
{
    (void)user;
    if (!f->note)
        printf("     %s %.*s %.*s\n", f->tool->name, (int)f->pointer.len,
               f->pointer.ptr, (int)f->text.len, f->text.ptr);
}

/* What a model is told of each tool, and of each of its parameters. */
static void descriptions(void)
{
    all = true;
    PART(ttool_lint(rows, TOOLS, finding, NULL) == 0);
    row("lint", all, "descriptions of tools and parameters");
}

static const struct {
    const char *name;
    void (*run)(void);
} groups[] = {
    {"reading", reading},
    {"full_disk", full_disk},
    {"killed", killed},
    {"short_writes", short_writes},
    {"edits", edits},
    {"diffs", diffs},
    {"stale", stale},
    {"modes", modes},
    {"two_writers", two_writers},
    {"guarded", guarded},
    {"later", later},
    {"life", life},
    {"no_permission", no_permission},
    {"globs", globs},
    {"greps", greps},
    {"edges", edges},
    {"long_lines", long_lines},
    {"tasks", tasks},
    {"roots", roots},
    {"descriptions", descriptions},
    {"large", large},
};

/* With ROWS=NAME, only that group. */
static bool wanted(const char *group)
{
    const char *rows_of = getenv("ROWS");
    return !rows_of || !*rows_of || strcmp(rows_of, group) == 0;
}

int main(void)
{
    const char *dir = getenv("TMPDIR");
    bool shm = access("/dev/shm", W_OK) == 0; /* there, fsync costs nothing */
    const char *q = getenv("QUICK");
    bool quick = q && *q;
    size_t i;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, hangs);
    setvbuf(stdout, NULL, _IONBF, 0);
    snprintf(base, sizeof base, "%s/ttool-%ld",
             dir   ? dir
             : shm ? "/dev/shm"
                   : "/tmp",
             (long)getpid());
    for (i = 0; i < 2; i++) {
        stepwise = i == 1;
        if (wanted("paths"))
            paths();
        if (wanted("race"))
            race();
    }
    if (wanted("paths") && wanted("race"))
        row("F10", check_failed == 0, "F01 to F09 without openat2, as above");
    stepwise = false;
    for (i = 0; i < TCALL_ARRAY_LEN(groups); i++)
        if (wanted(groups[i].name) && !(quick && groups[i].run == large))
            groups[i].run();
    ttool_workspace_close(&ws);
    remove_tree(base);
    if (skipped) {
        printf("test_tools_files: %d passed, %d failed, %d skipped\n",
               check_passed, check_failed, skipped);
        return check_failed ? 1 : 0;
    }
    return check_sum("test_tools_files");
}
