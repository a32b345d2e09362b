/* What the sandbox of the tool bash holds: attempts to get out of it, bombs of
 * processes, limits, and what a terminal or a model would obey. Each table is
 * run by an agent that is root, where this is, and by one that is not. Works in
 * a directory of its own in TMPDIR, which it removes.
 *
 *     QUICK=1   leaves out the larger bombs
 *     STOP=1    ends with the first row that fails (for mutants.py) */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "tools/shell.h"
#include "tools/files.h"
#include "tools/text.h"
#include "tools.h"
#include "timed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

static char base[128], ws_root[160], outside[200], outside_dir[160],
    memory[TTOOL_MEMORY];
static ttool_workspace ws;
static ttool_shell shell;
static tcall_tool rows[TTOOL_SHELL_TOOLS + TTOOL_FILE_TOOLS];
static const char *who; /* the agent of this round */
static int port;

static const ttool_command commands[] = {
    {"python3", NULL, "*", NULL}, {"awk", NULL, "*", NULL},
    {"sed", NULL, "*", NULL},     {"git", NULL, "*", NULL},
    {"find", NULL, "*", NULL},    {"tar", NULL, "*", NULL},
    {"cat", NULL, NULL, NULL}};
static const ttool_command shells[] = {{"sh", NULL, "*", NULL},
                                       {"python3", NULL, "*", NULL}};

static ttool_shell_desc with(const ttool_command *list, size_t count)
{
    ttool_shell_desc d;
    memset(&d, 0, sizeof d);
    d.workspace = &ws;
    d.commands = list;
    d.command_count = count;
    d.user = 71000 + (unsigned)getpid() % 10000;
    return d;
}

static uint32_t clock_now(void *user)
{
    (void)user;
    return ttool_linux.now_ms();
}

static bool heard; /* some output, as it came */
static void on_event(void *user, const tcall_event *e)
{
    (void)user;
    heard = heard || e->kind == TCALL_EVENT_OUTPUT;
}

static bool start(ttool_shell_desc d)
{
    tcall_desc t;
    size_t n;
    if (ttool_shell_init(&shell, &d) < 0) {
        printf("     %s\n", shell.refusal);
        return false;
    }
    n = ttool_shell_row(rows, &shell);
    n += ttool_rows(rows + n, ttool_file_tools, TTOOL_FILE_TOOLS, &ws);
    memset(&t, 0, sizeof t);
    t.tools = rows;
    t.tool_count = (uint16_t)n;
    t.allow = TCALL_EVERYTHING;
    t.now_ms = clock_now;
    t.on_event = on_event;
    t.events = &tcall_events;
    start_tools(&t);
    verdict = TCALL_VERDICT_ALLOW;
    return true;
}

static int call(const char *name, const char *key, const char *value,
                int timeout_ms, void (*polled)(tcall_call *, double))
{
    static char arguments[16384];
    tcall_writer w;
    tcall_writer_init(&w, arguments, sizeof arguments - 1);
    tcall_write_open(&w, '{');
    tcall_write_key(&w, key);
    tcall_write_string(&w, value);
    if (timeout_ms) {
        tcall_write_key(&w, "timeout_ms");
        tcall_write_int(&w, timeout_ms);
    }
    tcall_write_close(&w, '}');
    arguments[w.fill] = '\0';
    return call_tool(name, arguments, polled);
}

static int bash(const char *command, int timeout_ms)
{
    return call("bash", "command", command, timeout_ms, NULL);
}

static const char *in_ws(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%.200s/%.200s", ws_root, name);
    return path;
}

/* How many processes, other than this one, hold this in their command line. */
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
             memmem(text, (size_t)len, mark, strlen(mark)) != NULL;
        if (fd >= 0)
            close(fd);
    }
    if (d)
        closedir(d);
    return n;
}

/* -- Attempts ------------------------------------------------------------- */

/* Python: what does not raise an exception has got out. S is syscall(2), C
 * calls a function of libc; both raise. */
static const char *const attempts[] = {
    /* files outside, which anybody may read and write */
    "open(OUT).read()",
    "open(OUT, \"a\").write(\"x\")",
    "os.chmod(OUT, 0o777)",
    "os.utime(OUT)",
    "os.chown(OUT, -1, os.getgid())",
    "os.setxattr(OUT, \"user.x\", b\"1\")",
    "os.listxattr(OUT)",
    "os.stat(OUT)",
    "os.listdir(OUTDIR)",
    "os.chdir(OUTDIR)",
    "os.unlink(OUT)",
    "os.rename(OUT, \"taken\")",
    "os.rename(\"attempts.py\", OUT)",
    "os.link(OUT, \"hard\")",
    "os.truncate(OUT, 0)",
    "os.mkdir(OUTDIR + \"/made\")",
    "os.symlink(OUT, \"soft\"); open(\"soft\").read()",
    "open(\"../outside/private\").read()",
    "open(\"/proc/self/root\" + OUT).read()",
    "open(\"/proc/%d/root%s\" % (AGENT, OUT)).read()",
    "open(\"/proc/%d/cwd/x\" % AGENT)",
    "C(\"inotify_add_watch\", C(\"inotify_init\"), OUT.encode(), 2)",
    "C(\"statfs\", OUT.encode(), ctypes.create_string_buffer(256))",
    "open(\"/etc/shadow\").read()",
    "os.listdir(\"/root\")",
    "os.listdir(\"/home\")",
    "os.listdir(\"/var\")",
    "os.listdir(\"/run\")",
    "os.listdir(\"/sys\")",
    "os.listdir(\"/proc\")",
    "open(\"/made\", \"w\")",
    "open(\"/usr/made\", \"w\")",
    "open(\"/usr/bin/made\", \"w\")",
    "open(\"/etc/made\", \"w\")",
    "open(\"/dev/made\", \"w\")",
    "os.chmod(\"/usr/bin/python3\", 0o777)",
    /* the agent, and other processes */
    "os.kill(AGENT, 0)",
    "os.kill(AGENT, 9)",
    "resource.prlimit(AGENT, resource.RLIMIT_CPU, (0, 0))",
    "resource.prlimit(AGENT, resource.RLIMIT_NOFILE)",
    "os.setpriority(os.PRIO_PROCESS, AGENT, 19)",
    "os.sched_setaffinity(AGENT, {0})",
    "os.getsid(AGENT)",
    "os.pidfd_open(AGENT)",
    "C(\"ptrace\", 16, AGENT, 0, 0)",
    "C(\"ptrace\", 0, 0, 0, 0)",
    "S(SYS_process_vm_readv, AGENT, 0, 0, 0, 0, 0)",
    "S(SYS_kcmp, AGENT, AGENT, 0, 0, 0)",
    "open(\"/proc/%d/environ\" % AGENT).read()",
    "open(\"/proc/%d/mem\" % AGENT).read(1)",
    "fcntl.ioctl(0, 0x5412, b\"x\")",
    "open(\"/dev/tty\", \"w\")",
    /* sockets */
    "socket.create_connection((\"127.0.0.1\", PORT))",
    "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "socket.socket(socket.AF_INET6)",
    "socket.socket(socket.AF_UNIX).connect(OUTDIR + \"/socket\")",
    "socket.socket(socket.AF_UNIX).connect(\"\\0toolcall-%d\" % AGENT)",
    "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "socket.socket(socket.AF_VSOCK)",
    "socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)",
    "S(425, 8, ctypes.create_string_buffer(256))",
    /* keyrings and queues */
    "S(SYS_add_key, b\"user\", b\"toolcall\", b\"x\", 1, -3)",
    "S(SYS_keyctl, 1, b\"toolcall\")",
    "S(SYS_keyctl, 0, -5, 1)",
    "S(SYS_request_key, b\"user\", b\"toolcall\", 0, -3)",
    "C(\"shmget\", 0, 4096, 0o1600)",
    "C(\"msgget\", 0, 0o1600)",
    "C(\"semget\", 0, 1, 0o1600)",
    "C(\"mq_open\", (\"/toolcall-%d\" % AGENT).encode(), 0)",
    "os.stat(\"/dev/shm/toolcall-%d\" % AGENT)",
    /* namespaces and mounts */
    "C(\"unshare\", 0x10000000)",
    "C(\"unshare\", 0x00020000)",
    "S(SYS_clone, 0x10000011, 0, 0, 0, 0)",
    "S(435, ctypes.create_string_buffer(88), 88)",
    "C(\"setns\", 0, 0)",
    "C(\"mount\", b\"t\", b\"/tmp\", b\"tmpfs\", 0, 0)",
    "C(\"mount\", b\"p\", b\"/tmp\", b\"proc\", 0, 0)",
    "C(\"mount\", b\"/\", b\"/\", 0, 0x1020, 0)",
    "C(\"umount2\", b\"/usr/bin\", 2)",
    "S(SYS_pivot_root, b\".\", b\".\")",
    "os.chroot(\".\")",
    "S(428, -100, b\"/\", 1)",
    "S(430, b\"tmpfs\", 0)",
    "S(442, -100, b\"/\", 0, ctypes.create_string_buffer(32), 32)",
    ("S(SYS_name_to_handle_at, -100, b\".\", ctypes.create_string_buffer(136), "
     "ctypes.create_string_buffer(8), 0)"),
    "S(SYS_open_by_handle_at, -100, ctypes.create_string_buffer(136), 0)",
    /* devices, and what belongs to the machine */
    "os.mknod(\"block\", 0o60600, os.makedev(8, 0))",
    "os.mknod(\"memory\", 0o20600, os.makedev(1, 1))",
    "open(\"/dev/mem\", \"rb\")",
    "open(\"/dev/kmsg\")",
    "open(\"/dev/ptmx\")",
    "open(\"/dev/kvm\")",
    "open(\"/dev/fuse\")",
    "socket.sethostname(\"x\")",
    "time.clock_settime(0, 0)",
    "S(SYS_syslog, 3, ctypes.create_string_buffer(64), 64)",
    "S(SYS_bpf, 0, ctypes.create_string_buffer(64), 64)",
    "S(SYS_perf_event_open, ctypes.create_string_buffer(112), 0, -1, -1, 0)",
    "S(SYS_userfaultfd, 1)",
    "S(SYS_personality, 0x0040000)",
    "os.memfd_create(\"x\")",
    "S(447, 0)",
    "S(SYS_reboot, 0, 0, 0, 0)",
    /* rights and limits */
    "os.setuid(0) if os.getuid() else 1 / 0",
    "os.setgid(0) if os.getgid() else 1 / 0",
    "os.setgroups([0])",
    "resource.setrlimit(resource.RLIMIT_NPROC, (1 << 20, 1 << 20))",
    "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "os.nice(-1)",
    /* programs that are not listed */
    "subprocess.run([\"/bin/sh\", \"-c\", \"id\"], check=True)",
    "os.execv(\"/usr/bin/id\", [\"id\"])",
    "os.execv(\"/bin/bash\", [\"bash\"])",
    "subprocess.run([\"/usr/bin/env\"], check=True)",
};

/* Other programs: one that gets out shows what is in the file outside, runs id,
 * or changes what is outside. @ stands for its directory. */
static const char *const others[] = {
    "awk 'BEGIN { system(\"id\") }'",
    "awk 'BEGIN { \"id\" | getline x; print x }'",
    "awk 'BEGIN { print \"x\" | \"cat >> @/private\" }'",
    "awk 'BEGIN { print \"x\" >> \"@/private\" }'",
    "awk '{ print }' @/private",
    "awk 'BEGIN { while ((getline x < \"/etc/shadow\") > 0) print x }'",
    "sed '1e id' attempts.py",
    "sed 's/.*/id/e' attempts.py",
    "sed -n p @/private",
    "sed -n 'w @/made' attempts.py",
    "sed -i s/O/X/ @/private",
    "sed -n '$r @/private' attempts.py",
    "find @",
    "find / -maxdepth 5 -name private",
    "find . -maxdepth 0 -exec id ';'",
    "find . -maxdepth 0 -exec sh -c id ';'",
    "find . -maxdepth 0 -ok id ';'",
    "find . -maxdepth 0 -fprint @/made",
    "find . -maxdepth 0 -exec sed -n p @/private ';'",
    "find @ -delete",
    "tar -cf @/made attempts.py",
    "tar -cf taken.tar @/private",
    "tar -cf x.tar --checkpoint=1 --checkpoint-action=exec=id attempts.py",
    "tar -xf in.tar --to-command=id",
    "tar -cf x.tar -I id attempts.py",
    "tar -cf x.tar --use-compress-program=id attempts.py",
    "tar -xPf in.tar -C @",
    "tar -xf in.tar -C ../outside",
    "tar -cf remote:x.tar --rsh-command=id attempts.py",
    "git -c alias.x=!id x",
    "git -c core.pager=id -p log",
    "git -c core.editor=id commit --allow-empty",
    "git -c core.fsmonitor=id status",
    "git -c diff.external=id diff",
    "git -c core.sshCommand=id ls-remote ssh://localhost/x",
    "git clone @ taken",
    "git clone ext::id taken",
    "git -C @ init",
    "git --git-dir=@/made init",
    "git --exec-path=/usr/bin id",
    "git diff --no-index @/private attempts.py",
    "git commit --allow-empty -m x",
    "cat @/private",
    "cat /proc/self/environ",
};

/* The numbers of calls that glibc has no function for. */
static const struct number {
    const char *name;
    int number;
} numbers[] = {{"process_vm_readv", SYS_process_vm_readv},
               {"kcmp", SYS_kcmp},
               {"add_key", SYS_add_key},
               {"keyctl", SYS_keyctl},
               {"request_key", SYS_request_key},
               {"clone", SYS_clone},
               {"pivot_root", SYS_pivot_root},
               {"name_to_handle_at", SYS_name_to_handle_at},
               {"open_by_handle_at", SYS_open_by_handle_at},
               {"syslog", SYS_syslog},
               {"bpf", SYS_bpf},
               {"perf_event_open", SYS_perf_event_open},
               {"userfaultfd", SYS_userfaultfd},
               {"personality", SYS_personality},
               {"reboot", SYS_reboot}};

static bool write_attempts(void)
{
    FILE *f = fopen(in_ws("attempts.py"), "w");
    size_t i;
    if (!f)
        return false;
    fprintf(f, "import ctypes, fcntl, os, resource, socket, subprocess, time\n"
               "libc = ctypes.CDLL(None, use_errno=True)\n"
               "def check(r):\n"
               "  if r == -1: raise OSError(ctypes.get_errno())\n"
               "  return r\n"
               "def C(name, *a): return check(getattr(libc, name)(*a))\n"
               "def S(*a): return check(libc.syscall(*a))\n");
    fprintf(f, "OUT, OUTDIR, AGENT, PORT = \"%s\", \"%s\", %ld, %d\n", outside,
            outside_dir, (long)getpid(), port);
    for (i = 0; i < TCALL_ARRAY_LEN(numbers); i++)
        fprintf(f, "SYS_%s = %d\n", numbers[i].name, numbers[i].number);
    fprintf(f, "tried = 0\n"
               "for line in open(\"attempts.txt\"):\n"
               "  tried += 1\n"
               "  child = os.fork()\n"
               "  if child == 0:\n"
               "    try: exec(line)\n"
               "    except (NameError, AttributeError, TypeError, SyntaxError, "
               "ctypes.ArgumentError): os._exit(8)\n"
               "    except BaseException: os._exit(7)\n"
               "    os._exit(0)\n"
               "  status = os.waitpid(child, 0)[1]\n"
               "  if status == 0: print(\"ESCAPED\", line)\n"
               "  if status == 0x800: print(\"NOT TRIED\", line)\n"
               "print(\"tried\", tried)\n");
    fclose(f);
    f = fopen(in_ws("attempts.txt"), "w");
    for (i = 0; f && i < TCALL_ARRAY_LEN(attempts); i++)
        fprintf(f, "%s\n", attempts[i]);
    if (f)
        fclose(f);
    return f != NULL;
}

/* What must not change: the file outside, its directory, and the agent. */
typedef struct trace {
    struct timespec file, directory;
    struct rlimit cpu;
    int nice;
    cpu_set_t cpus;
} trace;

static trace look(void)
{
    trace t;
    struct stat st;
    memset(&t, 0, sizeof t);
    if (stat(outside, &st) == 0)
        t.file = st.st_ctim;
    if (stat(outside_dir, &st) == 0)
        t.directory = st.st_ctim;
    getrlimit(RLIMIT_CPU, &t.cpu);
    t.nice = getpriority(PRIO_PROCESS, 0);
    sched_getaffinity(0, sizeof t.cpus, &t.cpus);
    return t;
}

static bool untouched(const trace *before)
{
    trace after = look();
    return memcmp(before, &after, sizeof after) == 0 && before->file.tv_sec &&
           file_is(outside, "OUTSIDE\n");
}

/* What an agent of this user has that a program may be after. */
static void set_traps(int *handles)
{
    struct sockaddr_in in;
    struct sockaddr_un un;
    socklen_t len = sizeof in;
    char name[64];
    int i;
    memset(&in, 0, sizeof in);
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    memset(&un, 0, sizeof un);
    un.sun_family = AF_UNIX;
    for (i = 0; i < 3; i++)
        handles[i] = socket(i ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    bind(handles[0], (struct sockaddr *)&in, sizeof in);
    getsockname(handles[0], (struct sockaddr *)&in, &len);
    port = ntohs(in.sin_port);
    snprintf(un.sun_path, sizeof un.sun_path, "%.90s/socket", outside_dir);
    bind(handles[1], (struct sockaddr *)&un, sizeof un);
    memset(un.sun_path, 0, sizeof un.sun_path);
    i = snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "toolcall-%ld",
                 (long)getpid());
    bind(handles[2], (struct sockaddr *)&un,
         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)i));
    for (i = 0; i < 3; i++)
        listen(handles[i], 4);
    snprintf(name, sizeof name, "/toolcall-%ld", (long)getpid());
    handles[3] = (int)mq_open(name, O_RDWR | O_CREAT, 0666, NULL);
    handles[4] = shm_open(name, O_RDWR | O_CREAT, 0666);
}

static void drop_traps(int *handles)
{
    char name[64];
    int i;
    for (i = 0; i < 5; i++)
        if (handles[i] >= 0)
            close(handles[i]);
    snprintf(name, sizeof name, "/toolcall-%ld", (long)getpid());
    mq_unlink(name);
    shm_unlink(name);
}

/* Copies text, with something else for each @. */
static void fill(char *to, size_t cap, const char *text, const char *with_this)
{
    size_t n = 0;
    for (; *text && n + 1 < cap; text++)
        if (*text == '@')
            n += (size_t)snprintf(to + n, cap - n, "%s", with_this);
        else
            to[n++] = *text;
    to[n < cap ? n : cap - 1] = '\0';
}

static void escapes(void)
{
    trace before;
    int handles[5];
    char id[32], what[96], want[32];
    size_t i;
    set_traps(handles);
    all = write_attempts();
    PART(start(with(commands, TCALL_ARRAY_LEN(commands))));
    /* with a hook that would run, and an archive that leads out */
    (void)!system("cd \"$BASE/ws\" && git init -q && "
                  "printf '#!/bin/sh\\nid\\n' >.git/hooks/pre-commit && "
                  "chmod 755 .git/hooks/pre-commit && touch x && "
                  "tar --transform 's,x,../outside/made,' -Pcf in.tar x");
    snprintf(id, sizeof id, "M1 %s", who);
    snprintf(want, sizeof want, "tried %d", (int)TCALL_ARRAY_LEN(attempts));
    before = look();
    PART(bash("python3 attempts.py", 60000) == TCALL_OK && says(want));
    if (strstr(result, "ESCAPED") || strstr(result, "NOT TRIED"))
        printf("     %s\n", result);
    PART(!strstr(result, "ESCAPED") && !strstr(result, "NOT TRIED") &&
         untouched(&before));
    for (i = 0; i < TCALL_ARRAY_LEN(others); i++) {
        char command[512];
        bool good;
        fill(command, sizeof command, others[i], outside_dir);
        (void)bash(command, 3000);
        good = !strstr(result, "OUTSIDE") && !strstr(result, "uid=") &&
               !strstr(result, "canary") && !strstr(result, "not_held") &&
               untouched(&before);
        if (!good)
            printf("     %s: %.200s\n", command, result);
        PART(good);
    }
    drop_traps(handles);
    snprintf(what, sizeof what, "%d attempts to get out, by an agent as %s",
             (int)(TCALL_ARRAY_LEN(attempts) + TCALL_ARRAY_LEN(others)), who);
    row(id, all, what);
}

/* -- Bombs and limits ----------------------------------------------------- */

#define PYTHON_BOMB(inner)                                               \
    "python3 -c 'exec(\"import os, signal, sys\\nmark = \\\"@\\\"\\n"    \
    "signal.signal(15, signal.SIG_IGN)\\nwhile True:\\n try:\\n  " inner \
    "\\n except OSError: pass\")'"

static const char *const bombs[] = {
    PYTHON_BOMB("os.fork() or os.setsid()"),
    PYTHON_BOMB("os.fork() or (os.setsid(), os.closerange(0, 9), os.fork())"),
    PYTHON_BOMB("os.fork() or os.execv(sys.executable, [sys.executable] + "
                "sys.orig_argv[1:])"),
    "sh -c ': @; trap : TERM; f() { f & f; }; f & f'",
};

static void explode(void)
{
    static const unsigned most[] = {50, 400};
    static unsigned round;
    char id[32], command[700], mark[64];
    size_t i, k, count = getenv("QUICK") && *getenv("QUICK") ? 1 : 2;
    all = true;
    for (k = 0; k < count; k++) {
        ttool_shell_desc d = with(shells, TCALL_ARRAY_LEN(shells));
        d.max_processes = most[k];
        PART(start(d));
        for (i = 0; i < TCALL_ARRAY_LEN(bombs); i++) {
            snprintf(mark, sizeof mark, "bomb-%ld-%u", (long)getpid(), ++round);
            fill(command, sizeof command, bombs[i], mark);
            PART(bash(command, 150) == TCALL_OK &&
                 (strstr(result, "stopped") || says("exit_code")));
            PART(alive(mark) == 0);
        }
    }
    snprintf(id, sizeof id, "M2 %s", who);
    row(id, all, "four kinds of bombs, 50 and 400 processes: none survives");
}

/* A host that does not look any more, once the program is there. */
static char idle_mark[64];
static bool idle_ended;
static void look_away(tcall_call *c, double seconds)
{
    int i;
    (void)c, (void)seconds;
    if (!heard)
        return;
    for (i = 0; i < 200 && !idle_ended; i++) {
        usleep(50000);
        idle_ended = !alive(idle_mark);
    }
}

static void limits(void)
{
    ttool_shell_desc d = with(shells, TCALL_ARRAY_LEN(shells));
    char id[32], command[200];
    struct stat st;
    off_t total = 0;
    int i;
    all = true;
    idle_ended = heard = false;
    d.max_memory_mb = 256;
    d.max_disk_mb = 64;
    d.max_tmp_mb = 8;
    d.max_processes = 40;
    PART(start(d));
    PART(bash("python3 -c 'x = bytearray(1 << 30)'", 60000) == TCALL_OK &&
         says("MemoryError"));
    PART(bash("python3 -c 'open(\"/tmp/x\", \"wb\").write(bytes(100 << 20))'",
              60000) == TCALL_OK &&
         says("No space left"));
    PART(bash("python3 -c 'exec(\"import os, time\\nn = 0\\ntry:\\n while n < "
              "10000:\\n  if os.fork() == 0: time.sleep(9)\\n  n += 1\\nexcept "
              "BlockingIOError: print(\\\"at\\\", n)\")'",
              60000) == TCALL_OK);
    i = strstr(result, "at ") ? atoi(strstr(result, "at ") + 3) : -1;
    PART(i > 30 && i <= 40);
    PART(bash("python3 -c 'exec(\"import time\\nfor i in range(256):\\n "
              "open(\\\"big%d\\\" % i, \\\"wb\\\").write(bytes(4 << 20))\\n "
              "time.sleep(0.01)\")'",
              60000) == TCALL_OK &&
         says("{\"stopped\":\"the disk filled by more than 64 MB"));
    for (i = 0; i < 256; i++) {
        snprintf(command, sizeof command, "big%d", i);
        if (stat(in_ws(command), &st) == 0)
            total += st.st_size;
        unlink(in_ws(command));
    }
    PART(total > 0 && total < 1 << 30);
    snprintf(idle_mark, sizeof idle_mark, "idle-%ld", (long)getpid());
    snprintf(command, sizeof command,
             "sh -c ': %s; trap : TERM; echo on; while :; do :; done'",
             idle_mark);
    heard = false;
    PART(call("bash", "command", command, 1500, look_away) == TCALL_OK &&
         says("{\"stopped\":\"it still ran after 1500 ms") && says("on\\n"));
    PART(idle_ended);
    snprintf(id, sizeof id, "M3 %s", who);
    row(id, all, "memory, /tmp, processes, disk, and time that nobody counts");
}

/* -- What would be obeyed ------------------------------------------------- */

/* Each of these, as UTF-8, in a file, a file's name and a program's output. */
static const struct range {
    unsigned first, last;
} ranges[] = {{0x01, 0x08},     {0x0B, 0x1F},       {0x7F, 0x9F},
              {0x61C, 0x61C},   {0x200B, 0x200B},   {0x200E, 0x200F},
              {0x2028, 0x202E}, {0x2060, 0x206F},   {0xFEFF, 0xFEFF},
              {0xFFF9, 0xFFFB}, {0xE0001, 0xE0001}, {0xE0020, 0xE007F}};

static size_t utf8(char *to, unsigned c)
{
    return (size_t)ttool_utf8_((uint8_t *)to, (int32_t)c);
}

/* None of them is in the result, as bytes or as an escape of JSON. */
static bool harmless(void)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(ranges); i++) {
        unsigned c;
        for (c = ranges[i].first; c <= ranges[i].last; c++) {
            char raw[8], json[16];
            raw[utf8(raw, c)] = '\0';
            snprintf(json, sizeof json, "y\\u%04x", c);
            if (strstr(result, raw) ||
                (*result == '{' && strstr(result, json))) {
                printf("     U+%04X in: %.200s\n", c, result);
                return false;
            }
        }
    }
    return true;
}

/* The same, however text is cut: for terminals and for output as it comes. */
static bool in_pieces(void)
{
    static char text[8192], whole[16384], parts[16384];
    FILE *f = fopen(in_ws("control.txt"), "rb");
    size_t len = f ? fread(text, 1, sizeof text - 40, f) : 0, i, size;
    tcall_writer w;
    if (f)
        fclose(f);
    len += (size_t)snprintf(text + len, 40,
                            "a\xE2\x82z\xF0\x9F\r\nb\rc\xFF\xED\xA0\x80 e");
    tcall_writer_init(&w, whole, sizeof whole - 1);
    ttool_write_content_(&w, text, len);
    for (size = 1; size < 6; size++) {
        ttool_held_ held;
        memset(&held, 0, sizeof held);
        memset(parts, 0, sizeof parts);
        tcall_writer_init(&w, parts, sizeof parts - 1);
        for (i = 0; i < len; i += size)
            ttool_write_piece_(&w, &held, text + i,
                               size < len - i ? size : len - i);
        if (strcmp(whole, parts) != 0)
            return false;
    }
    return len > 1000;
}

static void shown(void)
{
    static const unsigned in_name[] = {0x1B, 0x9B, 0x202E, 0x0D};
    char name[64] = "control";
    FILE *f = fopen(in_ws("control.txt"), "wb");
    size_t i, n = strlen(name), kinds = 0;
    unsigned c;
    all = f != NULL;
    for (i = 0; f && i < TCALL_ARRAY_LEN(ranges); i++)
        for (c = ranges[i].first; c <= ranges[i].last; c++, kinds++) {
            char text[8];
            fprintf(f, "y%.*sz\n", (int)utf8(text, c), text);
        }
    if (f)
        fclose(f);
    for (i = 0; i < TCALL_ARRAY_LEN(in_name); i++)
        n += utf8(name + n, in_name[i]);
    name[n] = '\0';
    put_file(in_ws(name), "find me\n");
    PART(start(with(commands, TCALL_ARRAY_LEN(commands))));
    PART(kinds >= 40);
    PART(bash("cat control.txt", 3000) == TCALL_OK && harmless() &&
         says("y\\\\x1bz") && says("y\\\\u009bz") && says("y\\\\u202ez") &&
         says("y\\\\U000e0020z"));
    PART(call_tool("read", "{\"file_paths\":[\"control.txt\"]}", NULL) ==
             TCALL_OK &&
         harmless() && says("y\\u202ez"));
    PART(call("grep", "pattern", "y", 0, NULL) == TCALL_OK && harmless());
    PART(call("list", "path", ".", 0, NULL) == TCALL_OK && harmless() &&
         says("control\\x1b"));
    PART(call("glob", "pattern", "control*", 0, NULL) == TCALL_OK &&
         harmless() && says("control\\x1b"));
    PART(call("grep", "pattern", "find", 0, NULL) == TCALL_OK && harmless());
    PART(call_tool("read", "{\"file_paths\":[\"control\\u001b.\"]}", NULL) <
             0 &&
         harmless());
    unlink(in_ws(name));
    PART(in_pieces());
    row("M4", all, "control characters are shown, wherever they come from");
}

/* -- Landlock on top ------------------------------------------------------ */

/* Does what setpriv of util-linux 2.40 does with two of its options, for
 * systems that have an older one. */
static const char setpriv[] =
    "#!/usr/bin/python3\n"
    "import ctypes, os, sys\n"
    "syscall = ctypes.CDLL(None).syscall\n"
    "args, paths = sys.argv[1:], []\n"
    "while args and args[0].startswith(\"--landlock\"):\n"
    "  name, value = args.pop(0), args.pop(0)\n"
    "  if name == \"--landlock-rule\":\n"
    "    kind, right, path = value.split(\":\")\n"
    "    assert (kind, right) == (\"path-beneath\", \"execute\")\n"
    "    paths.append(path)\n"
    "  else: assert value == \"fs:execute\"\n"
    "handled = ctypes.c_uint64(1)\n"
    "rules = syscall(444, ctypes.byref(handled), 8, 0)\n"
    "if rules < 0: sys.exit(\"no Landlock\")\n"
    "if args == [\"--version\"]: sys.exit(0)\n"
    "for path in paths:\n"
    "  fd = os.open(path, os.O_PATH)\n"
    "  rule = (1).to_bytes(8, sys.byteorder) + fd.to_bytes(4, sys.byteorder)\n"
    "  assert syscall(445, rules, 1, rule, 0) == 0\n"
    "assert syscall(446, rules, 0) == 0\n"
    "os.execv(args[0], args)\n";

/* Programs that are not listed: a copy in the workspace, one in a library's
 * directory, one that git's hook is. */
static const char *const unlisted[] = {
    "python3 -c 'import os; os.execv(\"./copy\", [\"copy\", \"-c\", "
    "\"print(6 * 7)\"])'",
    "python3 -c 'import os; os.execv(\"/usr/lib/git-core/git\", [\"git\", "
    "\"version\"])'",
    "find . -maxdepth 0 -exec ./copy -c 'print(6 * 7)' ';'",
    "awk 'BEGIN { print 6 * 7 }'"};

static void landlock(void)
{
    ttool_shell_desc d = with(commands, TCALL_ARRAY_LEN(commands));
    char path[200];
    size_t i;
    bool ran[2][TCALL_ARRAY_LEN(unlisted)];
    int with_it;
    all = true;
    snprintf(path, sizeof path, "%s/setpriv", base);
    put_file(path, setpriv);
    chmod(path, 0755);
    (void)!system("cp -L /usr/bin/python3 \"$BASE/ws/copy\"");
    for (with_it = 0; with_it < 2; with_it++) {
        d.setpriv = with_it ? path : "/nonexistent/setpriv";
        PART(start(d));
        if (with_it && !*shell.setpriv) {
            skip("M6", "this kernel has no Landlock");
            return;
        }
        for (i = 0; i < TCALL_ARRAY_LEN(unlisted); i++) {
            PART(bash(unlisted[i], 60000) == TCALL_OK);
            ran[with_it][i] =
                strstr(result, "42\\n") || strstr(result, "git version");
        }
    }
    for (i = 0; i < TCALL_ARRAY_LEN(unlisted); i++) {
        PART(ran[0][i]); /* or there was nothing to hold */
        PART(ran[1][i] == (i + 1 == TCALL_ARRAY_LEN(unlisted)));
    }
    row("M6", all, "with Landlock only listed programs can be executed");
}

/* -- Rounds --------------------------------------------------------------- */

static bool open_workspace(void)
{
    static ttool_workspace_desc w;
    w.root = ws_root;
    w.memory = memory;
    w.memory_size = sizeof memory;
    return ttool_workspace_open(&ws, &w) == TCALL_OK;
}

static void round_of(const char *name)
{
    who = name;
    escapes();
    explode();
    limits();
}

/* The same as another user, in a process of its own. */
static void round_as_user(void)
{
    unsigned user = 65000 + (unsigned)getpid() % 500;
    int status = -1;
    pid_t child;
    fflush(stdout);
    remove_tree(ws_root);
    mkdir(ws_root, 0777);
    unlink(in_ws("../outside/socket"));
    child = fork();
    if (child == 0) {
        check_passed = check_failed = 0;
        if (setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 &&
            setresuid(user, user, user) == 0 && open_workspace())
            round_of("a user");
        else
            check_failed++;
        _exit(check_failed ? 1 : 0);
    }
    waitpid(child, &status, 0);
    row("M5", status == 0, "all of it by an agent that is not root");
}

int main(int argc, char **argv)
{
    const char *dir = getenv("TMPDIR");
    (void)argc;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!getenv("CANARY_KEY")) { /* it has to be there from the start */
        setenv("CANARY_KEY", "sk-canary-4711", 1);
        execv("/proc/self/exe", argv);
        return 1;
    }
    umask(0);
    snprintf(base, sizeof base, "%s/ttool-sandbox-%ld", dir ? dir : "/tmp",
             (long)getpid());
    snprintf(ws_root, sizeof ws_root, "%s/ws", base);
    snprintf(outside_dir, sizeof outside_dir, "%s/outside", base);
    snprintf(outside, sizeof outside, "%s/private", outside_dir);
    setenv("BASE", base, 1);
    remove_tree(base);
    mkdir(base, 0777);
    mkdir(ws_root, 0777);
    mkdir(outside_dir, 0777);
    put_file(outside, "OUTSIDE\n");
    CHECK(open_workspace());
    if (!start(with(commands, TCALL_ARRAY_LEN(commands)))) {
        skip("M", "the sandbox needs bubblewrap and user namespaces");
    } else {
        round_of(geteuid() == 0 ? "root" : "a user");
        shown();
        landlock();
        if (geteuid() == 0)
            round_as_user();
        else
            skip("M5", "not root: there is one round");
    }
    ttool_workspace_close(&ws);
    remove_tree(base);
    return tools_sum("test_tools_sandbox");
}
