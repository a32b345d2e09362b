/* The tool that runs programs, from a provider's answer to the result: every
 * row of the catalogue of faults by its id. Works in a directory of its own in
 * TMPDIR, which it removes.
 *
 *     QUICK=1   leaves out the rows that take long
 *     STOP=1    ends with the first row that fails (for mutants.py) */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "tools/shell.h"
#include "tools.h"
#include "timed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char base[256], secret[300], memory[TTOOL_MEMORY];
static ttool_workspace ws;
static ttool_shell shell;
static tcall_tool rows[TTOOL_SHELL_TOOLS];
static uint32_t stop_after; /* ms, then the call is cancelled; 0: never */
static bool boxed = true;   /* this system has the sandbox */
static size_t pieces;
static char progress[128];

static const ttool_command plain[] = {
    {"echo", NULL, "-n", NULL},
    {"cat", NULL, NULL, NULL},
    {"ls", NULL, "-l -a -la", NULL},
    {"git", NULL, "--stat --max-count=", "log status"},
    {"env", NULL, NULL, NULL},
    {"pwd", NULL, NULL, NULL},
    {"id", NULL, "-u", NULL},
    {"sleep", NULL, NULL, NULL},
    {"missing-program", NULL, NULL, NULL},
    {"yes", NULL, NULL, NULL}};
/* What the tests of processes need: a shell, inside the sandbox. */
static const ttool_command shells[] = {{"sh", "/bin/sh", "-c", NULL},
                                       {"python3", NULL, "-c", NULL}};

static ttool_shell_desc with(const ttool_command *commands, size_t n)
{
    ttool_shell_desc d;
    memset(&d, 0, sizeof d);
    d.workspace = &ws;
    d.commands = commands;
    d.command_count = n;
    d.sandbox = boxed ? TTOOL_SANDBOX_REQUIRED : TTOOL_SANDBOX_NONE;
    /* of its own: processes are counted for each user */
    d.user = 70000 + (unsigned)getpid();
    d.any_program = commands == shells;
    return d;
}
#define PLAIN with(plain, TCALL_ARRAY_LEN(plain))
#define SHELL with(shells, TCALL_ARRAY_LEN(shells))

static void on_event(void *user, const tcall_event *e)
{
    (void)user;
    if (e->kind == TCALL_EVENT_OUTPUT)
        pieces += e->text.len;
    if (e->kind == TCALL_EVENT_PROGRESS)
        snprintf(progress, sizeof progress, "%.*s", (int)e->text.len,
                 e->text.ptr);
}

static uint32_t clock_now(void *user)
{
    (void)user;
    return ttool_linux.now_ms();
}

/* A registry with the tool made so, or none of it. */
static int start(ttool_shell_desc d, bool registered)
{
    tcall_desc t;
    int r = ttool_shell_init(&shell, &d);
    if (r < 0)
        return r;
    ttool_shell_row(rows, &shell);
    memset(&t, 0, sizeof t);
    t.tools = rows;
    t.tool_count = registered;
    t.allow = TCALL_EVERYTHING;
    t.on_event = on_event;
    t.events = &tcall_events;
    t.now_ms = clock_now;
    start_tools(&t);
    verdict = TCALL_VERDICT_ALLOW;
    return TCALL_OK;
}

static bool kill_supervisor; /* once the program runs */
static int alive(const char *mark);

/* The youngest: others may be what an earlier row left to this process. */
static void kill_child(void)
{
    char path[64];
    long pid = 0;
    FILE *f;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    f = fopen(path, "r");
    while (f && fscanf(f, "%ld", &pid) == 1)
        continue;
    if (pid > 1)
        kill((pid_t)pid, SIGKILL);
    if (f)
        fclose(f);
}

/* Between two polls of a call. */
static void polled(tcall_call *c, double seconds)
{
    if (kill_supervisor && alive("69.25")) {
        kill_supervisor = false;
        kill_child();
    }
    if (stop_after && seconds * 1000 > stop_after)
        tcall_cancel(c, TCALL_E_CANCELLED);
}

static int bash(const char *command, int timeout_ms)
{
    char arguments[16384];
    tcall_writer w;
    tcall_writer_init(&w, arguments, sizeof arguments - 1);
    tcall_write_open(&w, '{');
    tcall_write_key(&w, "command");
    tcall_write_string(&w, command);
    if (timeout_ms) {
        tcall_write_key(&w, "timeout_ms");
        tcall_write_int(&w, timeout_ms);
    }
    tcall_write_close(&w, '}');
    arguments[w.fill] = '\0';
    pieces = 0;
    progress[0] = '\0';
    return call_tool("bash", arguments, polled);
}

static int sh(const char *script, int timeout_ms)
{
    char command[8192];
    snprintf(command, sizeof command, "sh -c '%s'", script);
    return bash(command, timeout_ms);
}

/* Does a process run outside of our directory? Then it is of another test. */
static bool elsewhere(const char *process)
{
    char link[300], at[4096], ours[4096];
    ssize_t len;
    snprintf(link, sizeof link, "/proc/%s/cwd", process);
    len = readlink(link, at, sizeof at);
    return len > 0 && realpath(base, ours) &&
           ((size_t)len < strlen(ours) || memcmp(at, ours, strlen(ours)) != 0);
}

/* How many processes, other than this one, have a command line that holds
 * this. */
static int alive(const char *mark)
{
    DIR *d = opendir("/proc");
    struct dirent *e;
    int n = 0;
    while (d && (e = readdir(d)) != NULL) {
        char path[300], text[4096];
        ssize_t len;
        int fd;
        snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
        fd = open(path, O_RDONLY);
        len = fd < 0 ? 0 : read(fd, text, sizeof text);
        n += atoi(e->d_name) != getpid() && len > 0 &&
             memmem(text, (size_t)len, mark, strlen(mark)) != NULL &&
             !elsewhere(e->d_name);
        if (fd >= 0)
            close(fd);
    }
    if (d)
        closedir(d);
    return n;
}

static const char *in_ws(const char *name)
{
    static char path[4][400];
    static int next;
    char *to = path[next++ % 4];
    snprintf(to, sizeof path[0], "%s/ws/%s", base, name);
    return to;
}

/* -- What may run --------------------------------------------------------- */

/* Other ways to write the program "marker", which is on the path and makes a
 * file. */
static const char *const spellings[] = {
    "marker",
    "./marker",
    "echo;marker",
    "echo ; marker",
    "echo\nmarker",
    "echo x\nmarker",
    "echo x \nmarker",
    "echo\r\nmarker",
    "echo\rmarker",
    "echo && marker",
    "echo || marker",
    "echo | marker",
    "echo & marker",
    "echo &marker",
    "echo $(marker)",
    "echo `marker`",
    "echo \"$(marker)\"",
    "echo \"`marker`\"",
    "echo <(marker)",
    "echo >(marker)",
    "'marker'",
    "\"marker\"",
    "mar'ker'",
    "m\"\"arker",
    "mark\\er",
    "\\marker",
    "mark?r",
    "mar*",
    "mar[k]er",
    "{marker,}",
    "${X:-marker}",
    "$X marker",
    "eval marker",
    "sh -c marker",
    "bash -c marker",
    "env marker",
    "env -i marker",
    "command marker",
    "exec marker",
    "builtin marker",
    "nohup marker",
    "timeout 5 marker",
    "xargs marker",
    "echo marker | sh",
    "sh <<< marker",
    "cat <<E\n$(marker)\nE",
    "echo bWFya2Vy | base64 -d | sh",
    ">x marker",
    "2>x marker",
    "<x marker",
    "A=b marker",
    "A=b B=c marker",
    "(marker)",
    "{ marker; }",
    "! marker",
    "if true; then marker; fi",
    "f() { marker; }; f",
    "~/marker",
    "echo\tx;marker",
    "echo\vmarker",
    "echo\fmarker",
    ". marker",
    "source marker",
    "ls;marker #",
    "time marker",
    "coproc marker",
    "busybox marker",
    "git -c alias.x=!marker x",
    "git log --output=made",
    "git log --exec=marker",
    "ls --color=$(marker)",
    "/bin/echo x",
    "/bin/../bin/echo x",
    "./echo x",
    "bin/marker",
    "../ws/bin/marker",
    "echo/../marker",
    "ECHO x",
    "/proc/self/exe",
    "exec -a echo marker",
    "-c marker",
    "-- marker",
    "\"\" marker",
    "\xEF\xBC\x9Bmarker",
    "echo\xC2\xA0; marker",
};

static void allowed(void)
{
    char text[512], *joined = NULL;
    const char *dir = in_ws("bin");
    size_t i, len;
    FILE *f;
    all = true;
    PART(start(PLAIN, false) == TCALL_OK);
    PART(bash("echo hello", 0) == TCALL_E_UNKNOWN);
    row("B01", all, "not registered: the tool is unknown");
    /* marker would make a file in the workspace. */
    all = true;
    mkdir(dir, 0777);
    f = fopen(in_ws("bin/marker"), "w");
    PART(f != NULL);
    if (f) {
        fprintf(f, "#!/bin/sh\necho ran > %s\n", in_ws("ran"));
        fclose(f);
    }
    chmod(in_ws("bin/marker"), 0755);
    snprintf(text, sizeof text, "%s:%s", dir, getenv("PATH"));
    setenv("PATH", text, 1);
    {
        ttool_shell_desc d = PLAIN;
        static char path[600];
        static const char *environment[2];
        snprintf(path, sizeof path, "PATH=%s", text);
        environment[0] = path;
        d.environment = environment;
        PART(start(d, true) == TCALL_OK);
        /* The list has to be what keeps the others out. */
        for (i = 0; i < TCALL_ARRAY_LEN(spellings); i++) {
            bool env = strcmp(spellings[i], "env marker") == 0;
            int r;
            r = bash(spellings[i], 0);
            /* env is on this list, and may start what is: sh is not, which
             * the marker needs */
            if (env ? r != TCALL_OK : r != TCALL_E_DENIED)
                printf("     runs: %s: %d %s\n", spellings[i], r, result);
            PART(env ? r == TCALL_OK : r == TCALL_E_DENIED);
            PART((access(in_ws("ran"), F_OK) == 0) == (env && !boxed));
            unlink(in_ws("ran"));
        }
    }
    PART(bash(in_ws("bin/marker"), 0) == TCALL_E_DENIED);
    PART(call_tool("bash", "{\"command\":\"echo x\\u0000;marker\"}", polled) <
         0);
    (void)!symlink("marker", in_ws("bin/echo")); /* first on the path */
    PART(bash("echo hello", 0) == TCALL_OK && says("hello\\n"));
    PART(access(in_ws("ran"), F_OK) != 0);
    unlink(in_ws("bin/echo"));
    row("B02", all, "what gets around the filter of a shell is refused");
    all = true;
    joined = (char *)malloc(4096);
    for (i = len = 0; i < 51; i++)
        len += (size_t)snprintf(joined + len, 4096 - len, "echo %d; ", (int)i);
    PART(bash(joined, 0) == TCALL_E_DENIED && says("no shell"));
    snprintf(joined + len, 4096 - len, "marker");
    PART(bash(joined, 0) == TCALL_E_DENIED);
    free(joined);
    row("B03", all, "51 commands joined are refused, not asked about");
    all = true;
    PART(bash("git log --output=made", 0) == TCALL_E_DENIED &&
         says("--max-count="));
    PART(bash("git push", 0) == TCALL_E_DENIED && says("log status"));
    PART(bash("git", 0) == TCALL_E_DENIED);
    PART(bash("ls -R", 0) == TCALL_E_DENIED && says("-la"));
    PART(bash("ls -", 0) == TCALL_E_DENIED);
    PART(bash("cat --", 0) == TCALL_E_DENIED);
    PART(bash("ls -la", 0) == TCALL_OK && says("bin"));
    PART(access(in_ws("made"), F_OK) != 0);
    row("B04", all, "verbs and options that are not listed");
    all = true;
    PART(bash("echo 'a  b' \"c;d\" e'f'\"g\" '' -n", 0) == TCALL_OK &&
         says("a  b c;d efg  -n\\n"));
    PART(bash("echo 'x", 0) == TCALL_E_DENIED && says("not closed"));
    PART(bash("   ", 0) == TCALL_E_DENIED && says("no command"));
    PART(bash("missing-program", 0) == TCALL_E_FAILED && says("installed"));
    PART(bash("unlisted", 0) == TCALL_E_DENIED && says("echo cat"));
    {
        char many[3000] = "echo";
        for (i = 0; i < 200; i++)
            strcat(many, " a");
        PART(bash(many, 0) == TCALL_E_DENIED && says("too many"));
    }
    PART(strstr(rows[0].description, "Programs: echo cat ls") != NULL);
    row("B02+", all, "words and quotes, and what the model is told");
    all = true;
    asked = 0;
    verdict = TCALL_VERDICT_DENY;
    PART(bash("echo hello", 0) == TCALL_E_DENIED && asked == 1);
    verdict = TCALL_VERDICT_ALLOW;
    PART(bash("echo hello", 0) == TCALL_OK && asked == 2);
    PART(bash("nothing of the list", 0) == TCALL_E_DENIED && asked == 2);
    row("C3", all, "each call asks that can run");
    all = true;
    mkdir(in_ws("sub"), 0777);
    PART(call_tool("bash", "{\"command\":\"pwd\",\"workdir\":\"sub\"}",
                   polled) == TCALL_OK &&
         says("/ws/sub"));
    PART(call_tool("bash", "{\"command\":\"pwd\",\"workdir\":\"../\"}",
                   polled) == TCALL_E_DENIED);
    PART(call_tool("bash", "{\"command\":\"pwd\",\"workdir\":\"/tmp\"}",
                   polled) == TCALL_E_DENIED);
    (void)!symlink("../..", in_ws("up"));
    PART(call_tool("bash", "{\"command\":\"pwd\",\"workdir\":\"up\"}",
                   polled) == TCALL_E_DENIED);
    PART(call_tool("bash", "{\"command\":\"pwd\",\"workdir\":\"sup\"}",
                   polled) == TCALL_E_NOT_FOUND &&
         says("Did you mean sub?"));
    PART(call_tool("bash", "{\"command\":\"pwd\",\"workdir\":\"bin/marker\"}",
                   polled) == TCALL_E_FAILED &&
         says("no directory"));
    row("F01", all, "the directory to run in is inside the workspace");
}

/* -- Processes ------------------------------------------------------------ */

static void shapes(void)
{
    double before, took;
    int r, i;
    all = true;
    PART(start(SHELL, true) == TCALL_OK);
    took = 9;
    for (i = 0; i < 3 && took > 1.5; i++) { /* the machine may be busy */
        before = now();
        r = sh("exec sleep 61.25", 1000);
        PART(r == TCALL_OK && says("{\"stopped\":\"it still ran after 1000 ms; "
                                   "set timeout_ms"));
        took = now() - before;
    }
    PART(in_time((long)(took * 1000), 1000, 1500));
    PART(alive("61.25") == 0);
    row("B05", all, "the time is over: stopped, nothing is left");
    all = true;
    for (i = 0, r = 1; i < 3 && r != TCALL_OK; i++) /* it may be busy */
        r = sh("echo on; trap \"echo bye; exit\" TERM; sleep 61.25 & wait",
               500) == TCALL_OK &&
                    says("stopped") && says("\"output\":\"on\\nbye\\n\"") &&
                    pieces == 7
                ? TCALL_OK
                : 1;
    PART(r == TCALL_OK);
    {
        ttool_shell_desc d = SHELL;
        d.max_ms = 300;
        PART(start(d, true) == TCALL_OK);
        PART(sh("sleep 61.25", 5000) == TCALL_OK && says("stopped") &&
             says("300 ms"));
        PART(start(SHELL, true) == TCALL_OK);
    }
    row("B05+", all, "TERM comes first; no call has more than max_ms");
    all = true;
    before = now();
    PART(sh("sleep 62.25 & echo done", 5000) == TCALL_OK && says("done"));
    PART(in_time((long)((now() - before) * 1000), 0, 20000) &&
         alive("62.25") == 0);
    row("B06", all, "a child in the background holds nothing up");
    all = true;
    before = now();
    PART(sh("trap : TERM; while :; do sleep 0.05; done; : 63.25", 500) ==
             TCALL_OK &&
         says("stopped"));
    PART(in_time((long)((now() - before) * 1000), 0, 20000) &&
         alive("63.25") == 0);
    row("B07", all, "who ignores TERM is killed");
    all = true;
    before = now();
    PART(sh("setsid sleep 64.25 & setsid setsid sleep 64.25 & echo on", 5000) ==
         TCALL_OK);
    PART(in_time((long)((now() - before) * 1000), 0, 20000) &&
         alive("64.25") == 0);
    PART(sh("setsid sleep 64.25 >&- 2>&- <&- & exit 3", 5000) == TCALL_OK &&
         says("\"exit_code\":3"));
    PART(in_time((long)((now() - before) * 1000), 0, 20000) &&
         alive("64.25") == 0);
    PART(sh("setsid sh -c \"trap : TERM; setsid sleep 64.25 & wait; sleep "
            "64.25\" & sleep 64.25",
            500) == TCALL_OK &&
         says("stopped"));
    PART(in_time((long)((now() - before) * 1000), 0, 20000) &&
         alive("64.25") == 0);
    row("B08", all, "children in sessions of their own are found");
    all = true;
    before = now();
    stop_after = 300;
    PART(sh("setsid sleep 65.25 & sleep 65.25", 5000) == TCALL_E_CANCELLED);
    stop_after = 0;
    PART(in_time((long)((now() - before) * 1000), 0, 20000) &&
         alive("65.25") == 0);
    PART(sh("sleep 1.3", 5000) == TCALL_OK && strstr(progress, "bash: 1 s"));
    row("B08+", all, "cancelled: nothing is left; progress each second");
}

static void output(void)
{
    ttool_shell_desc d = SHELL;
    int i;
    all = true;
    d.max_output = 4 << 20;
    PART(start(d, true) == TCALL_OK);
    PART(sh("yes 66.25", 20000) == TCALL_OK && says("write less") &&
         says("\"output\":\"66.25\\n66.25\\n") && says("end_of_output"));
    PART(alive("66.25") == 0);
    PART(sh("cat /dev/zero", 20000) == TCALL_OK && says("write less"));
    PART(sh("head -c 300000 /dev/zero | tr \"\\0\" x; echo end", 5000) ==
         TCALL_OK);
    PART(says("\"output_bytes\":300004") && says("\"left_out_bytes\":234468") &&
         says("xend\\n\""));
    PART(pieces == 300004);
    PART(strlen(result) < 70000 && strlen(result) > 60000);
    PART(sh("seq 1 100000", 5000) == TCALL_OK && says("\"1\\n2\\n3\\n") &&
         says("99999\\n100000\\n\"") && says("\"left_out_bytes\":523359,"));
    PART(sh("head -c 1000000 /dev/zero | tr \"\\0\" a", 5000) == TCALL_OK);
    PART(strcmp(metadata, "{\"output_bytes\":1000000,\"cut\":true}") == 0);
    PART(sh("printf abc", 5000) == TCALL_OK &&
         strcmp(metadata, "{\"output_bytes\":3,\"cut\":false}") == 0);
    PART(sh("printf %0119d 0", 5000) == TCALL_OK);
    PART(strcmp(title, "Run sh -c 'printf %0119d 0'") == 0);
    row("B09", all, "a flood is stopped; head, tail and the true length");
    all = true;
    for (i = 2; i >= 0; i--) { /* a small result: still JSON */
        result_cap = (size_t)(200 << (4 * i));
        PART(sh("head -c 50000 /dev/zero", 5000) == TCALL_OK);
        PART(is_json(result) && says("50000"));
    }
    result_cap = sizeof result - 1;
    row("B09+", all, "less of it where the result has less room");
    all = true;
    PART(sh("head -c 1000000 /dev/zero | tr \"\\0\" e >&2; echo out", 5000) ==
             TCALL_OK &&
         says("1000004") && says("eout"));
    row("B10", all, "1 MB on stderr before stdout");
    all = true;
    PART(sh("cat; echo eof", 2000) == TCALL_OK && says("\"eof\\n\""));
    row("B11", all, "stdin ends at once");
    all = true;
    PART(sh("printf \"a\\000b\\033[31m\\377\\303\"", 2000) == TCALL_OK);
    PART(is_json(result) && says("a\\\\x00b\\\\x1b[31m\xEF\xBF\xBD"));
    row("B16", all, "NUL, ESC and broken UTF-8 are shown, not obeyed");
    all = true;
    for (i = 0; i < 4; i++) {
        static const int codes[] = {0, 1, 127, 139};
        char text[64], want[64];
        snprintf(text, sizeof text, "exit %d", codes[i]);
        snprintf(want, sizeof want, "{\"exit_code\":%d,", codes[i]);
        PART(sh(text, 2000) == TCALL_OK && says(want));
    }
    PART(sh("kill -SEGV $$", 2000) == TCALL_OK && says("{\"exit_code\":139,") &&
         says("Segmentation fault"));
    PART(sh("kill -KILL $$", 2000) == TCALL_OK && says("{\"exit_code\":137,") &&
         says("Killed"));
    row("B15", all, "codes, and signals as 128 and their number");
}

/* -- What it sees and reaches --------------------------------------------- */

static const char *const with_proc[] = {
    "/usr", "/bin",      "/sbin",     "/lib",  "/lib32", "/lib64",
    "/etc", "/dev/null", "/dev/zero", "/proc", NULL};

static void secrets(void)
{
    ttool_shell_desc d = SHELL;
    char text[256];
    all = true;
    d.readable = with_proc;
    PART(start(d, true) == TCALL_OK);
    snprintf(text, sizeof text,
             "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline "
             "/proc/%ld/environ",
             (long)getpid());
    PART(sh(text, 2000) == TCALL_OK && says("PATH=") &&
         !strstr(result, "canary") && says("No such file"));
    row("B12", all, "nothing of the host's environment");
    all = true;
    {
        int extra = open("/dev/null", O_RDONLY),
            high = fcntl(extra, F_DUPFD, 200);
        PART(start(d, true) == TCALL_OK);
        PART(sh("cut -d\" \" -f6 /proc/self/stat", 2000) == TCALL_OK &&
             atoi(strstr(result, "\"output\":\"") + 10) == 1);
        PART(sh("cd /proc/self/fd; echo *; echo x 2>/dev/null >&3", 2000) ==
                 TCALL_OK &&
             says("\"0 1 2"));
        PART(!strstr(result, " 3 ") || !strstr(result, "200"));
        PART(sh("for i in 3 4 5 6 7 8 9; do (: >&$i) 2>/dev/null && echo "
                "open; done; ls /proc/self/fd",
                2000) == TCALL_OK &&
             !strstr(result, "open") && says("0\\n1\\n2\\n3\\n\""));
        close(extra);
        close(high);
    }
    row("B13", all, "no handle but 0, 1 and 2 (3 is that of ls itself)");
}

static void limits(void)
{
    static const gid_t groups[] = {0, 1};
    ttool_shell_desc d = SHELL;
    struct rlimit core;
    all = true;
    /* else there may be nothing to take away */
    getrlimit(RLIMIT_CORE, &core);
    core.rlim_cur = core.rlim_max;
    setrlimit(RLIMIT_CORE, &core);
    setgroups(2, groups);
    d.max_processes = 20;
    d.max_memory_mb = 256;
    d.max_file_mb = 1;
    PART(start(d, true) == TCALL_OK);
    if (geteuid() == 0) {
        PART(sh("for i in 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4; "
                "do sleep 5 & done; echo all",
                2000) == TCALL_OK &&
             says("fork") && !strstr(result, "all\\n"));
        if (all) /* else it would be a real one */
            PART(sh("f() { f | f & }; f; sleep 0.3; echo 67.25", 2000) ==
                     TCALL_OK &&
                 alive("67.25") == 0);
    } else {
        skip("B14", "processes are counted for a user of their own: as root");
    }
    PART(sh("head -c 2000000 /dev/zero > big; ls -l big", 2000) == TCALL_OK);
    PART(says(" 1048576 "));
    PART(sh("dd if=/dev/zero of=/dev/null bs=1G count=1", 4000) == TCALL_OK &&
         says("memory"));
    PART(sh("ulimit -c; ulimit -n; ulimit -t", 2000) == TCALL_OK &&
         says("\"0\\n256\\n3\\n\""));
    row("B14", all, "a fork bomb, memory, a large file");
    if (geteuid() == 0) {
        all = true;
        d.user = 0;
        PART(start(d, true) == TCALL_OK);
        PART(sh("id -u", 2000) == TCALL_OK && says("\"65534\\n\""));
        d.user = 12345;
        PART(start(d, true) == TCALL_OK);
        PART(sh("id -u; id -G", 2000) == TCALL_OK &&
             says("\"12345\\n12345\\n\""));
        row("B14+", all, "root becomes another user, without other groups");
    } else {
        skip("B14+", "not root");
    }
}

/* KB of memory that this process has. */
static long memory_kb(void)
{
    long pages = 0, all_pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all_pages, &pages) != 2)
        pages = -1;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static int signals;
static void on_signal(int number)
{
    signals += number == SIGPIPE;
}

static void host(int runs)
{
    struct sigaction before[2], after[2];
    int fds = count_fds(), i, good = 0;
    long kb;
    char want[64];
    all = true;
    PART(start(PLAIN, true) == TCALL_OK);
    PART(bash("echo hello", 0) == TCALL_OK);
    kb = memory_kb();
    for (i = 0; i < runs; i++)
        good += bash("echo hello", 0) == TCALL_OK;
    PART(good == runs && fds == count_fds());
    PART(memory_kb() - kb < 256);
    PART(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    snprintf(want, sizeof want, "%d runs leave no handle and no zombie", runs);
    row("B17", all, want);
    all = true;
    signal(SIGPIPE, on_signal);
    signal(SIGCHLD, on_signal);
    sigaction(SIGPIPE, NULL, &before[0]);
    sigaction(SIGCHLD, NULL, &before[1]);
    PART(bash("echo hello", 0) == TCALL_OK && says("hello"));
    sigaction(SIGPIPE, NULL, &after[0]);
    sigaction(SIGCHLD, NULL, &after[1]);
    PART(before[0].sa_handler == after[0].sa_handler &&
         before[1].sa_handler == after[1].sa_handler && signals == 0);
    signal(SIGCHLD, SIG_IGN); /* nobody waits for children */
    signal(SIGPIPE, SIG_IGN);
    PART(bash("echo hello", 0) == TCALL_OK && says("hello"));
    PART(start(SHELL, true) == TCALL_OK);
    PART(sh("sleep 1 & kill -PIPE $$; echo on", 2000) == TCALL_OK &&
         says("\"exit_code\":141"));
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    row("B20", all, "the host's handlers stay, programs get the usual ones");
    all = true;
    {
        pid_t child = fork();
        int waited;
        if (child == 0) {
            sh("setsid sleep 68.25 & sleep 68.25", 5000);
            _exit(0);
        }
        for (waited = 0; waited < 100 && alive("68.25") < 2; waited++)
            usleep(10000);
        PART(alive("68.25") >= 2);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        for (waited = 0; waited < 100 && alive("68.25"); waited++)
            usleep(10000);
        PART(alive("68.25") == 0);
    }
    row("B21", all, "the host is killed: so is what it runs");
    all = true;
    kill_supervisor = true;
    PART(sh("exec sleep 69.25", 5000) == TCALL_E_FAILED &&
         says("its sandbox was killed"));
    for (i = 0; i < 100 && alive("69.25"); i++)
        usleep(10000);
    PART(alive("69.25") == 0 && !kill_supervisor);
    row("B21+", all, "bwrap is killed: so is the program");
}

/* Whatever keep is, start and end of the output are shown. */
static void kept(void)
{
    static const struct {
        uint32_t keep, max_output;
    } sizes[] = {{1, 0},   {2, 0},       {3, 0},
                 {255, 0}, {257, 0},     {UINT32_MAX, 512},
                 {1, 1},   {65536, 300}, {UINT32_MAX, 100}};
    size_t i;
    all = true;
    for (i = 0; i < TCALL_ARRAY_LEN(sizes); i++) {
        ttool_shell_desc d = SHELL;
        d.keep = sizes[i].keep;
        d.max_output = sizes[i].max_output;
        PART(start(d, true) == TCALL_OK);
        PART(sh("printf first; printf last", 2000) == TCALL_OK &&
             (says("firstlast") || says("wrote more than")));
        if (d.max_output == 0)
            PART(sh("printf first; printf %0400d 0; printf last", 2000) ==
                     TCALL_OK &&
                 says("\"first0") && says("0last\""));
    }
    {
        ttool_shell_desc d = SHELL;
        d.keep = d.max_output = UINT32_MAX; /* more than the block has */
        PART(start(d, true) == TCALL_OK &&
             sh("echo ran > ran", 2000) == TCALL_E_MEMORY &&
             access(in_ws("ran"), F_OK) != 0);
    }
    row("B24", all, "any value of keep");
}

/* A host that may write no file can still have a sandbox. */
static void no_files(void)
{
    struct rlimit none = {0, 0};
    int status = -1;
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        getrlimit(RLIMIT_FSIZE, &none);
        none.rlim_cur = 0;
        setrlimit(RLIMIT_FSIZE, &none);
        _exit(start(PLAIN, true) == TCALL_OK &&
                      bash("echo hello", 0) == TCALL_OK && says("hello")
                  ? 0
                  : 1);
    }
    waitpid(child, &status, 0);
    row("B25", status == 0, "ulimit -f 0");
}

/* The nearest subreaper stands for init: nothing comes to it. */
static void orphans(void)
{
    int status = -1;
    pid_t init, child;
    bool begun = start(PLAIN, true) == TCALL_OK;
    fflush(stdout);
    init = fork();
    if (init == 0) {
        int i, others = 0;
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        child = fork();
        if (child == 0) {
            for (i = 0; i < 20; i++)
                if (bash("echo hello", 0) != TCALL_OK || !says("hello"))
                    _exit(1);
            prctl(PR_GET_CHILD_SUBREAPER, &i);
            _exit(i); /* as it was */
        }
        while (waitpid(-1, &i, 0) > 0)
            if (++others > 1 || i)
                _exit(1);
        _exit(0);
    }
    waitpid(init, &status, 0);
    row("B26", begun && status == 0, "runs leave nothing to init");
}

/* What all of it takes together has limits, with no cgroup. */
static void totals(void)
{
    ttool_shell_desc d = SHELL;
    all = true;
    if (access("/usr/bin/python3", X_OK) != 0) {
        skip("B27", "there is no python3");
        return;
    }
    d.max_files = 2000;
    PART(start(d, true) == TCALL_OK);
    PART(bash("python3 -c 'import os;os.makedirs(\"/tmp/x\");"
              "[open(\"/tmp/x/%d\" % i,\"w\").close() for i in "
              "range(400000)]'",
              20000) == TCALL_OK &&
         says("it made more than 2000 files"));
    PART(bash("python3 -c 'import os;os.makedirs(\"/dev/shm/x\");"
              "[open(\"/dev/shm/x/%d\" % i,\"w\").close() for i in "
              "range(400000)]'",
              20000) == TCALL_OK &&
         says("it made more than 2000 files"));
    d.max_files = 20000;
    PART(start(d, true) == TCALL_OK);
    PART(bash("python3 -c 'import os;os.makedirs(\"many\");"
              "[open(\"many/%d\" % i,\"w\").close() for i in "
              "range(400000)]'",
              20000) == TCALL_OK &&
         says("it made more than 20000 files"));
    remove_tree(in_ws("many"));
    PART(bash("python3 -c '[open(\"/tmp/%d\" % i,\"w\").close() for i in "
              "range(300)]'",
              20000) == TCALL_OK &&
         says("\"exit_code\":0"));
    d.max_files = 0;
    d.max_total_mb = 400;
    PART(start(d, true) == TCALL_OK);
    /* eight of 150 MB, each within the limit of one */
    PART(sh("for i in 1 2 3 4 5 6 7 8; do python3 -c \"import time; "
            "x=bytearray(150<<20); x[::4096]=b\\\"1\\\"*len(x[::4096]); "
            "time.sleep(9)\" & done; wait",
            15000) == TCALL_OK &&
         says("less memory left"));
    row("B27", all, "limits on files and memory as a whole");
}

static void sandbox(void)
{
    struct sockaddr_in in;
    socklen_t len = sizeof in;
    int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    char text[2400];
    ttool_shell_desc d = SHELL;
    all = true;
    memset(&in, 0, sizeof in);
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    PART(bind(s, (struct sockaddr *)&in, sizeof in) == 0 && listen(s, 1) == 0 &&
         getsockname(s, (struct sockaddr *)&in, &len) == 0);
    PART(start(d, true) == TCALL_OK);
    snprintf(text, sizeof text,
             "cat %s; echo x >> %s; rm %s; ls %s; echo y > %s/new; "
             "truncate -s 0 %s; ln %s hard; cat hard; echo in > inside; "
             "cat inside",
             secret, secret, secret, base, base, secret, secret);
    PART(sh(text, 3000) == TCALL_OK && !strstr(result, "OUTSIDE") &&
         says("No such file") && says("in\\n\""));
    snprintf(text, sizeof text, "%s/new", base);
    PART(file_is(secret, "OUTSIDE\n") && access(text, F_OK) != 0);
    d.read_only = true;
    PART(start(d, true) == TCALL_OK);
    PART(sh("echo x > inside2; cat inside", 2000) == TCALL_OK &&
         says("in\\n\"") && access(in_ws("inside2"), F_OK) != 0);
    d.read_only = false;
    PART(start(d, true) == TCALL_OK);
    if (access("/usr/bin/python3", X_OK) == 0) {
        snprintf(text, sizeof text,
                 "python3 -c 'exec(\"import socket\\nfor f,t,a in "
                 "((2,1,(\\\"127.0.0.1\\\",%d)),(2,2,(\\\"127.0.0.1\\\",%d)),"
                 "(10,1,(\\\"::1\\\",%d)),(1,1,\\\"/run/x\\\")):\\n "
                 "try: socket.socket(f,t).connect(a)\\n except "
                 "PermissionError: print(\\\"refused\\\")\")'",
                 (int)ntohs(in.sin_port), (int)ntohs(in.sin_port),
                 (int)ntohs(in.sin_port));
        PART(bash(text, 5000) == TCALL_OK &&
             says("\"refused\\nrefused\\nrefused\\nrefused\\n\""));
        PART(accept(s, NULL, NULL) < 0 && errno == EAGAIN);
        snprintf(text, sizeof text, "python3 -c 'import os;os.kill(%ld,0)'",
                 (long)getpid());
        PART(bash(text, 5000) == TCALL_OK && says("ProcessLookupError"));
    } else {
        skip("B18", "sockets: there is no python3");
    }
    close(s);
    row("B18", all, "no file outside, no socket, no signal to the host");
    all = true;
    d = SHELL;
    d.bwrap = "/nonexistent/bwrap";
    PART(start(d, true) == TCALL_E_SERVICE &&
         strstr(shell.refusal, "without a sandbox"));
    d.sandbox = TTOOL_SANDBOX_BEST_EFFORT;
    PART(start(d, true) == TCALL_OK && sh("echo ran", 2000) == TCALL_OK &&
         says("\"not_held\":\"no sandbox") && says("ran"));
    shell.desc.sandbox = TTOOL_SANDBOX_REQUIRED; /* lost since */
    PART(sh("echo ran > ran", 2000) == TCALL_E_SERVICE &&
         access(in_ws("ran"), F_OK) != 0);
    d = SHELL;
    d.sandbox = TTOOL_SANDBOX_NONE;
    PART(start(d, true) == TCALL_OK && sh("echo ran", 2000) == TCALL_OK &&
         says("not_held"));
    d = SHELL;
    d.max_memory_mb = 64;
    d.max_processes = 16;
    PART(start(d, true) == TCALL_OK && sh("echo ran", 2000) == TCALL_OK &&
         !strstr(result, "not_held"));
    d.cgroup = base; /* no cgroup */
    PART(start(d, true) == TCALL_E_SERVICE && strstr(shell.refusal, "cgroup"));
    d = SHELL;
    d.keep_root = true;
    PART(start(d, true) == (geteuid() ? TCALL_OK : TCALL_E_SERVICE));
    row("B19", all, "required and not there: refused; else each result says");
}

/* bwrap dies before it has said what it began: that goes with it. */
static void midway(void)
{
    ttool_shell_desc d = SHELL;
    char path[300], text[800];
    int i;
    all = true;
    snprintf(path, sizeof path, "%s/midway-bwrap", base);
    snprintf(text, sizeof text,
             "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n"
             "[ -e %s/broken ] || exec bwrap \"$@\"\n"
             "cd %s\n(sleep 71.25; :) &\nkill -9 $$\n",
             base, base);
    put_file(path, text);
    chmod(path, 0755);
    d.bwrap = path;
    PART(start(d, true) == TCALL_OK);
    snprintf(path, sizeof path, "%s/broken", base);
    put_file(path, "");
    PART(sh("echo ran", 2000) == TCALL_E_FAILED && says("was killed"));
    for (i = 0; i < 500 && alive("midway-bwrap"); i++)
        usleep(10000); /* it is dying; else it has a minute left */
    PART(alive("midway-bwrap") == 0);
    row("B22", all, "a sandbox that dies while it is made leaves nothing");
}

/* -- cgroup v2, by a directory that looks like one ------------------------ */

static const char *const controls[] = {"memory.max",   "memory.oom.group",
                                       "pids.max",     "cgroup.kill",
                                       "cgroup.procs", "memory.swap.max"};
static char groups[320];     /* the directory; empty: there is none */
static size_t control_count; /* how many of them this kernel has */
static char last[TCALL_ARRAY_LEN(controls)][32]; /* of the last group */

static void control_file(char path[600], const char *group, size_t i)
{
    snprintf(path, 600, "%s/%s", group, controls[i]);
}

/* In place of libc's: a new group has the kernel's files at once. */
int mkdir(const char *path, mode_t mode)
{
    int r = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    char file[600];
    size_t i;
    if (r != 0 || !*groups || strncmp(path, groups, strlen(groups)) != 0)
        return r;
    for (i = 0; i < control_count; i++) {
        control_file(file, path, i);
        put_file(file, "");
    }
    return r;
}

/* And they go with it; what was written is noted. */
int rmdir(const char *path)
{
    char file[600];
    size_t i;
    for (i = 0; *groups && i < TCALL_ARRAY_LEN(controls); i++) {
        FILE *f;
        control_file(file, path, i);
        memset(last[i], 0, sizeof last[i]);
        f = fopen(file, "rb");
        if (f) {
            last[i][fread(last[i], 1, sizeof last[i] - 1, f)] = '\0';
            fclose(f);
        }
        unlink(file);
    }
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

static bool control_is(const char *name, const char *value)
{
    size_t i = 0;
    while (strcmp(controls[i], name) != 0)
        i++;
    return strcmp(last[i], value) == 0;
}

static void cgroup(void)
{
    ttool_shell_desc d = SHELL;
    char path[300];
    all = true;
    snprintf(path, sizeof path, "%s/groups", base);
    mkdir(path, 0755);
    snprintf(groups, sizeof groups, "%s/", path);
    d.cgroup = path;
    d.max_memory_mb = 512;
    d.max_total_mb = 700; /* only a group can keep it */
    d.max_processes = 30;
    for (control_count = 0; control_count < 5; control_count++)
        PART(start(d, true) == TCALL_E_SERVICE &&
             strstr(shell.refusal, "cgroup"));
    for (; control_count <= TCALL_ARRAY_LEN(controls); control_count++) {
        PART(start(d, true) == TCALL_OK);
        PART(sh("echo ran", 2000) == TCALL_OK && says("ran\\n"));
        PART(control_is("memory.max", "734003200") &&
             control_is("memory.oom.group", "1") &&
             control_is("pids.max", "32") && control_is("cgroup.procs", "0"));
        PART(control_is("cgroup.kill", "1")); /* whatever is left at the end */
    }
    control_count = TCALL_ARRAY_LEN(controls);
    PART(control_is("memory.swap.max", "0"));
    d.max_total_mb = 0; /* by default as much as one process may have */
    PART(start(d, true) == TCALL_OK && sh("echo ran", 2000) == TCALL_OK &&
         control_is("memory.max", "536870912"));
    *groups = '\0';
    row("B23", all, "a cgroup has all limits, or what needs it is refused");
}

int main(int argc, char **argv)
{
    static ttool_workspace_desc w;
    bool quick = getenv("QUICK") && *getenv("QUICK");
    const char *dir = getenv("TMPDIR");
    char root[300];
    (void)argc;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!getenv("CANARY_KEY")) { /* it has to be there from the start */
        setenv("CANARY_KEY", "sk-canary-4711", 1);
        execv("/proc/self/exe", argv);
        return 1;
    }
    umask(0);
    snprintf(base, sizeof base, "%s/ttool-shell-%ld", dir ? dir : "/tmp",
             (long)getpid());
    snprintf(secret, sizeof secret, "%s/secret", base);
    remove_tree(base);
    mkdir(base, 0777);
    snprintf(root, sizeof root, "%s/ws", base);
    mkdir(root, 0777);
    put_file(secret, "OUTSIDE\n");
    w.root = root;
    w.memory = memory;
    w.memory_size = sizeof memory;
    CHECK(ttool_workspace_open(&ws, &w) == TCALL_OK);
    boxed = start(PLAIN, true) == TCALL_OK;
    allowed();
    if (boxed) {
        shapes();
        output();
        limits();
        kept();
        no_files();
        orphans();
        totals();
        host(quick ? 50 : 300);
        secrets();
        sandbox();
        midway();
        cgroup();
    } else {
        skip("B", "the sandbox needs bubblewrap and user namespaces");
    }
    described(rows, TTOOL_SHELL_TOOLS);
    ttool_workspace_close(&ws);
    remove_tree(base);
    return tools_sum("test_tools_shell");
}
