/*
 * shell.h - a tool that runs programs: those of a list, and no shell
 *
 *     static const ttool_command commands[] = {
 *         {"ls", NULL, "-l -a -la", NULL},
 *         {"git", NULL, "--stat --max-count=", "log diff status show"}};
 *     static ttool_shell shell;
 *     ttool_shell_desc d = {0};
 *     d.workspace = &ws; // see workspace.h
 *     d.commands = commands;
 *     d.command_count = 2;
 *     if (ttool_shell_init(&shell, &d) == TCALL_OK)
 *         n += ttool_shell_row(rows + n, &shell);
 *
 * The command that a model writes is taken apart here, by blanks and quotes;
 * whatever a shell would make more of it is refused. The first word has to be
 * the name of a command of the list, the first argument one of its verbs, each
 * word that begins with '-' one of its options. Who wants a shell lists one:
 * {"sh", NULL, "-c", NULL}; then the sandbox is all that is left. Every call
 * asks for approval.
 *
 * The program runs in the sandbox: files by Landlock, only the workspace and
 * what desc.readable names; no sockets, by seccomp; no new privileges. A
 * supervisor of its own, which adopts whatever the program leaves behind,
 * kills all of it when the program ends, the time is over, the call is
 * cancelled or the host dies. The metadata of the result has the length and the
 * SHA-256 of all the output, also of what was left out.
 *
 * Linux. Needs _GNU_SOURCE before the first system header.
 */
#ifndef TTOOL_SHELL_H
#define TTOOL_SHELL_H

#include "tools/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Longest command in bytes, and most words of it. */
#define TTOOL_MAX_COMMAND 4000
#define TTOOL_MAX_WORDS   128

typedef struct ttool_command {
    const char *name;    /* the first word */
    const char *program; /* its path; default: name in a directory of
                            /usr/local/bin, /usr/bin, /bin */
    /* Words that may be given, separated by spaces. An option that ends in =
     * may go on; "*" is any. Default: none. */
    const char *options;
    const char *verbs; /* the first argument is one of them; default: any */
} ttool_command;

typedef enum ttool_sandbox {
    TTOOL_SANDBOX_REQUIRED,    /* where the kernel has none, nothing runs */
    TTOOL_SANDBOX_BEST_EFFORT, /* each result says what there was */
    TTOOL_SANDBOX_NONE         /* likewise */
} ttool_sandbox;

typedef struct ttool_shell_desc {
    ttool_workspace *workspace;
    const ttool_command *commands;
    size_t command_count;
    uint8_t sandbox; /* ttool_sandbox */
    bool read_only;  /* programs change nothing in the workspace */
    bool keep_root;  /* root stays root: its processes cannot be limited */
    unsigned user;   /* else root becomes this user and group; default 65534 */
    /* Both end in NULL. What may be read and run beside the workspace;
     * default /usr, /bin, /sbin, /lib, /lib32, /lib64, /etc, and of /dev null,
     * zero and urandom. Not /proc, but where root becomes another user: in it
     * is the environment of each process of the same user. And the whole
     * environment; default PATH, LANG, HOME. */
    const char *const *readable;
    const char *const *environment;
    uint32_t max_ms;        /* the most a call may ask for; default 60,000 */
    uint32_t max_output;    /* bytes, then it is stopped; default 16 MB */
    uint32_t keep;          /* bytes of it kept, from the start and from the
                               end, in the block; default 64 KB */
    uint32_t max_memory_mb; /* of each process; default 2048 */
    uint32_t max_file_mb;   /* of each file; default 256 */
    /* Processes and threads of the user in all, the others included; default
     * 128 for a user that root becomes, else 4096. */
    uint32_t max_processes;
} ttool_shell_desc;

typedef struct ttool_shell {
    ttool_shell_desc desc;
    /* private */
    char description[512];
} ttool_shell;

/* TCALL_OK; TCALL_E_USAGE: no workspace or no command; TCALL_E_SERVICE: the
 * kernel lacks the sandbox that is required, or lists no children in /proc. */
int ttool_shell_init(ttool_shell *shell, const ttool_shell_desc *desc);
/* Copies the row of the table, with a description that names the programs.
 * Returns 1. */
size_t ttool_shell_row(tcall_tool *to, ttool_shell *shell);

/* user: a ttool_shell. */
#define TTOOL_SHELL_TOOLS 1
extern const tcall_tool ttool_shell_tools[TTOOL_SHELL_TOOLS];

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_SHELL_H */

#if defined TTOOL_IMPLEMENTATION && !defined TTOOL_SHELL_IMPLEMENTED_
#define TTOOL_SHELL_IMPLEMENTED_

#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Milliseconds between TERM and KILL, and for the last of the processes to
 * be gone after that. */
enum { TTOOL_GRACE_MS_ = 200, TTOOL_SWEEP_MS_ = 2000 };

/* -- The command, taken apart --------------------------------------------- */

/* Writes the words to `to`, which has room for s.len + 1 bytes. NULL, or what
 * is wrong at *at. */
static const char *ttool_split_(char *to, char **words, tcall_str s, size_t *at)
{
    static const char special[] = "|&;<>()$`\\*?[]{}";
    size_t i, n = 0;
    char quote = '\0';
    bool in_word = false;
    for (i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        *at = i;
        if (((uint8_t)c < 0x20 && c != '\t') || c == 0x7F)
            return "control characters and line breaks are not possible"
                   "\nMake a call for each command.";
        if (quote == '"' && strchr("$`\\", c))
            return "there is no shell\nWrite it in single quotes.";
        if (!quote && strchr(special, c))
            return "there is no shell, only one program and its arguments"
                   "\nQuote this character if it is meant as it is.";
        if (!quote && !in_word && (c == '~' || c == '#'))
            return "there is no shell\nQuote a word that begins like this.";
        if (!quote && (c == ' ' || c == '\t')) {
            if (in_word)
                *to++ = '\0';
            in_word = false;
            continue;
        }
        if (!in_word && n == TTOOL_MAX_WORDS)
            return "too many words\nMake several calls.";
        if (!in_word)
            words[n++] = to;
        in_word = true;
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? '\0' : c;
        else
            *to++ = c;
    }
    *to = '\0';
    words[n] = NULL;
    *at = s.len;
    return quote ? "a quote is not closed\nClose it."
           : n   ? NULL
                 : "there is no command\nName a program.";
}

/* Whether the list, words with spaces between, has this word; in a list of
 * options one that ends in = stands for all that begin with it. */
static bool ttool_listed_(const char *list, const char *word, bool options)
{
    while (list && *list) {
        size_t n = strcspn(list, " ");
        bool open = options && n && list[n - 1] == '=';
        if (n && strncmp(list, word, n) == 0 && (open || !word[n]))
            return true;
        if (options && n == 1 && *list == '*')
            return true;
        list += n + (list[n] == ' ');
    }
    return false;
}

/* The command that these words may be, or NULL and a reason in out. */
static const ttool_command *ttool_allowed_(tcall_ctx *cx,
                                           const ttool_shell *shell,
                                           char *const *words,
                                           tcall_writer *out)
{
    const ttool_shell_desc *d = &shell->desc;
    const ttool_command *c = d->commands;
    size_t i;
    while (c < d->commands + d->command_count && strcmp(c->name, words[0]) != 0)
        c++;
    if (c == d->commands + d->command_count) {
        ttool_fail_(cx, out, 0, words[0],
                    "may not run; what may:\nUse one of these.");
        for (i = 0; i < d->command_count; i++) {
            tcall_write_text(out, " ");
            tcall_write_text(out, d->commands[i].name);
        }
        return NULL;
    }
    if (c->verbs && (!words[1] || !ttool_listed_(c->verbs, words[1], false))) {
        ttool_fail_(cx, out, 0, words[0],
                    "the first argument has to be one of: \nUse one of these.");
        tcall_write_text(out, c->verbs);
        return NULL;
    }
    for (i = 1; words[i]; i++)
        if (words[i][0] == '-' && !ttool_listed_(c->options, words[i], true)) {
            ttool_fail_(cx, out, 0, words[i],
                        "no option that may be given; \nDo without it.");
            tcall_write_text(out, c->options ? "these may: " : "none may");
            tcall_write_text(out, c->options ? c->options : "");
            return NULL;
        }
    return c;
}

/* The path of its program; false when there is none. */
static bool ttool_program_(const ttool_command *c, char *path, size_t cap)
{
    static const char *const dirs[] = {"/usr/local/bin", "/usr/bin", "/bin"};
    size_t i;
    if (c->program)
        return snprintf(path, cap, "%s", c->program) < (int)cap;
    for (i = 0; i < 3; i++)
        if (snprintf(path, cap, "%s/%s", dirs[i], c->name) < (int)cap &&
            access(path, X_OK) == 0)
            return true;
    return false;
}

/* -- The sandbox ---------------------------------------------------------- */

/* As in linux/landlock.h, which older systems lack or have less of. */
enum {
    TTOOL_LL_CREATE_ = 444,
    TTOOL_LL_ADD_ = 445,
    TTOOL_LL_RESTRICT_ = 446,
    TTOOL_LL_RUN_ = 1,
    TTOOL_LL_WRITE_ = 2,
    TTOOL_LL_READ_ = 4,
    TTOOL_LL_LIST_ = 8,
    TTOOL_LL_TRUNCATE_ = 1 << 14,
    TTOOL_LL_ALL_ = (1 << 15) - 1,
    TTOOL_LL_LOOK_ = TTOOL_LL_RUN_ | TTOOL_LL_READ_ | TTOOL_LL_LIST_,
    TTOOL_LL_FILE_ =
        TTOOL_LL_RUN_ | TTOOL_LL_WRITE_ | TTOOL_LL_READ_ | TTOOL_LL_TRUNCATE_
};

static bool ttool_let_(int rules, int fd, uint64_t access_rights)
{
    struct {
        uint64_t allowed;
        int32_t fd, unused;
    } rule;
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return false;
    rule.allowed =
        S_ISDIR(st.st_mode) ? access_rights : access_rights & TTOOL_LL_FILE_;
    rule.fd = fd;
    rule.unused = 0;
    /* The kernel's struct is packed: it ends behind fd. */
    return syscall(TTOOL_LL_ADD_, rules, 1, &rule, 0) == 0;
}

/* A handle of the rules, or -1 where the kernel cannot keep them all: before
 * the third version files can be truncated in spite of them. */
static int ttool_rules_(const ttool_shell *shell)
{
    static const char *const usual[] = {
        "/usr", "/bin",      "/sbin",     "/lib",         "/lib32", "/lib64",
        "/etc", "/dev/null", "/dev/zero", "/dev/urandom", NULL};
    const ttool_shell_desc *d = &shell->desc;
    const char *const *path = d->readable ? d->readable : usual;
    uint64_t handled[3] = {TTOOL_LL_ALL_, 3, 3}; /* files, TCP, signals */
    long version = syscall(TTOOL_LL_CREATE_, NULL, 0, 1);
    size_t size = version < 4 ? 8 : version < 6 ? 16 : 24;
    int rules, fd;
    if (version < 3)
        return -1;
    rules = (int)syscall(TTOOL_LL_CREATE_, handled, size, 0);
    if (rules < 0)
        return -1;
    (void)fcntl(rules, F_SETFD, FD_CLOEXEC);
    for (; *path; path++) {
        fd = open(*path, O_PATH | O_CLOEXEC);
        if (fd < 0)
            continue;
        ttool_let_(rules, fd,
                   strcmp(*path, "/dev/null") == 0
                       ? (uint64_t)(TTOOL_LL_READ_ | TTOOL_LL_WRITE_)
                       : (uint64_t)TTOOL_LL_LOOK_);
        close(fd);
    }
    if (ttool_let_(rules, d->workspace->root,
                   d->read_only ? (uint64_t)TTOOL_LL_LOOK_
                                : (uint64_t)TTOOL_LL_ALL_))
        return rules;
    close(rules);
    return -1;
}

/* The calls that make sockets, io_uring's too, by the architectures whose
 * programs may run here; one that is missing has no sandbox. */
static const struct ttool_arch_ {
    uint32_t arch, socket, socketcall, io_uring;
} ttool_archs_[] = {
#if defined __x86_64__ || defined __i386__
    {AUDIT_ARCH_X86_64, 41, 41, 425},
    {AUDIT_ARCH_I386, 359, 102, 425},
#elif defined __aarch64__ || defined __arm__
    {AUDIT_ARCH_AARCH64, 198, 198, 425},
    {AUDIT_ARCH_ARM, 281, 102, 425},
#elif defined __riscv && __riscv_xlen == 64
    {AUDIT_ARCH_RISCV64, 198, 198, 425},
#endif
    {0, 0, 0, 0},
};
enum { TTOOL_ARCHS_ = sizeof ttool_archs_ / sizeof *ttool_archs_ - 1 };

static struct sock_filter ttool_bpf_(unsigned code, uint32_t k, int yes, int no)
{
    struct sock_filter f;
    f.code = (uint16_t)code;
    f.k = k;
    f.jt = (uint8_t)yes;
    f.jf = (uint8_t)no;
    return f;
}

/* No sockets from here on. What is not known is refused: architectures, and
 * calls from bit 30 on, which are those of x32. */
static bool ttool_no_sockets_(void)
{
    enum {
        LOAD = BPF_LD | BPF_W | BPF_ABS,
        EQUAL = BPF_JMP | BPF_JEQ | BPF_K,
        AT_LEAST = BPF_JMP | BPF_JGE | BPF_K,
        ANSWER = BPF_RET | BPF_K
    };
    const uint32_t refuse = SECCOMP_RET_ERRNO | EACCES;
    struct sock_filter f[8 * TTOOL_ARCHS_ + 2];
    struct sock_fprog program;
    const struct ttool_arch_ *a;
    unsigned short n = 0;
    f[n++] = ttool_bpf_(LOAD, offsetof(struct seccomp_data, arch), 0, 0);
    for (a = ttool_archs_; a->arch; a++) {
        f[n++] = ttool_bpf_(EQUAL, a->arch, 0, 7);
        f[n++] = ttool_bpf_(LOAD, offsetof(struct seccomp_data, nr), 0, 0);
        f[n++] = ttool_bpf_(AT_LEAST, 0x40000000, 4, 0);
        f[n++] = ttool_bpf_(EQUAL, a->socket, 3, 0);
        f[n++] = ttool_bpf_(EQUAL, a->socketcall, 2, 0);
        f[n++] = ttool_bpf_(EQUAL, a->io_uring, 1, 0);
        f[n++] = ttool_bpf_(ANSWER, SECCOMP_RET_ALLOW, 0, 0);
        f[n++] = ttool_bpf_(ANSWER, refuse, 0, 0);
    }
    f[n++] = ttool_bpf_(ANSWER, refuse, 0, 0);
    program.len = n;
    program.filter = f;
    return TTOOL_ARCHS_ > 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* -- The supervisor: after fork, so nothing here takes memory or locks ----- */

/* What it says through a pipe, in one write. */
typedef struct ttool_report_ {
    int32_t ended;  /* else what could not be done: ttool_steps_ */
    int32_t status; /* of wait, or the step */
    int32_t number; /* errno; of the end: 1 the time was over, 2 not all of
                       its processes could be killed */
} ttool_report_;

static const char *const ttool_steps_[] = {
    "limit its resources", "enter the directory", "become another user",
    "give up privileges",  "enter the sandbox",   "be without a network",
    "start the program",   "be started"};

typedef struct ttool_launch_ {
    const ttool_shell *shell;
    const char *program;
    char *const *words;
    const char *const *environment;
    int fd[6]; /* null, output, report, leash, directory, rules or -1 */
    uint32_t limit;
} ttool_launch_;

/* Where those handles are after fork. */
enum { TTOOL_REPORT_ = 3, TTOOL_LEASH_, TTOOL_DIR_FD_, TTOOL_RULES_FD_ };

static void ttool_tell_(int32_t ended, int32_t status, int32_t number)
{
    ttool_report_ r;
    r.ended = ended;
    r.status = status;
    r.number = number;
    while (write(TTOOL_REPORT_, &r, sizeof r) < 0 && errno == EINTR)
        continue;
}

#ifdef __GLIBC__ /* an enum for C++ */
typedef __rlimit_resource_t ttool_resource_;
#else
typedef int ttool_resource_;
#endif

static bool ttool_limit_(int what, uint64_t most)
{
    struct rlimit old, limit;
    if (getrlimit((ttool_resource_)what, &old) != 0)
        return false;
    limit.rlim_cur = limit.rlim_max =
        old.rlim_max < (rlim_t)most ? old.rlim_max : (rlim_t)most;
    return setrlimit((ttool_resource_)what, &limit) == 0;
}

static bool ttool_limits_(const ttool_shell_desc *d, uint32_t ms)
{
    return ttool_limit_(RLIMIT_CORE, 0) &&
           ttool_limit_(RLIMIT_CPU, ms / 1000 + 1) &&
           ttool_limit_(RLIMIT_AS, (uint64_t)d->max_memory_mb << 20) &&
           ttool_limit_(RLIMIT_FSIZE, (uint64_t)d->max_file_mb << 20) &&
           ttool_limit_(RLIMIT_NPROC, d->max_processes) &&
           ttool_limit_(RLIMIT_NOFILE, 256);
}

static bool ttool_become_(const ttool_shell_desc *d)
{
    if (geteuid() != 0 || d->keep_root)
        return true;
    return setgroups(0, NULL) == 0 &&
           setresgid(d->user, d->user, d->user) == 0 &&
           setresuid(d->user, d->user, d->user) == 0;
}

/* Confines itself step by step, then is the program. */
static void ttool_be_(const ttool_launch_ *l, bool boxed)
{
    const ttool_shell_desc *d = &l->shell->desc;
    bool must = d->sandbox == TTOOL_SANDBOX_REQUIRED;
    char *const *environment;
    sigset_t none;
    int step = 0;
    setpgid(0, 0);
    sigemptyset(&none);
    if (ttool_limits_(d, l->limit) && ++step && fchdir(TTOOL_DIR_FD_) == 0 &&
        ++step && ttool_become_(d) && ++step &&
        prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ++step &&
        (boxed ? syscall(TTOOL_LL_RESTRICT_, TTOOL_RULES_FD_, 0) == 0
               : !must) &&
        ++step &&
        (d->sandbox == TTOOL_SANDBOX_NONE || ttool_no_sockets_() || !must) &&
        ++step) {
        signal(SIGCHLD, SIG_DFL);
        sigprocmask(SIG_SETMASK, &none, NULL);
        /* It changes neither words nor environment, whatever its type says. */
        memcpy(&environment, &l->environment, sizeof environment);
        execve(l->program, l->words, environment);
    }
    ttool_tell_(0, step, errno);
    _exit(127);
}

/* Kills all that is left below this process, until nothing is. */
static void ttool_kill_children_(void)
{
    char text[1024];
    ssize_t n, i;
    long pid = 0;
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (n = read(fd, text, sizeof text)) > 0)
        for (i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
                continue;
            }
            if (pid > 1)
                kill((pid_t)pid, SIGKILL);
            pid = 0;
        }
    if (fd >= 0)
        close(fd);
}

/* Takes what has ended; *status of the program itself. False: there is nobody
 * any more. */
static bool ttool_reap_(pid_t program, int *status, bool *gone)
{
    for (;;) {
        int s;
        pid_t pid = waitpid(-1, &s, WNOHANG | __WALL);
        if (pid == 0)
            return true;
        if (pid < 0)
            return errno == EINTR;
        if (pid == program) {
            *status = s;
            *gone = true;
        }
    }
}

static void ttool_pause_(uint32_t ms)
{
    struct timespec t;
    t.tv_sec = 0;
    t.tv_nsec = (long)ms * 1000000;
    nanosleep(&t, NULL);
}

static void ttool_nothing_(int number)
{
    (void)number;
}

/* Until the program has ended, the time is over or the leash is let go. True:
 * the time was over. */
static bool ttool_watch_(const ttool_launch_ *l, pid_t program, int *status,
                         bool *gone)
{
    uint32_t began = ttool_sys_now_ms_(), spent;
    uint32_t end = l->limit;
    sigset_t mask;
    struct pollfd p;
    bool over = false;
    sigfillset(&mask);
    sigdelset(&mask, SIGCHLD);
    p.fd = TTOOL_LEASH_;
    p.events = 0;
    while (ttool_reap_(program, status, gone) && !*gone) {
        struct timespec t;
        spent = ttool_sys_now_ms_() - began;
        if (spent >= end && over)
            break;
        if (spent >= end) {
            over = true;
            end += TTOOL_GRACE_MS_;
            kill(-program, SIGTERM);
        }
        t.tv_sec = (time_t)((end - spent) / 1000);
        t.tv_nsec = (long)((end - spent) % 1000) * 1000000;
        p.revents = 0;
        if (ppoll(&p, 1, &t, &mask) > 0)
            break;
    }
    return over;
}

static void ttool_supervise_(const ttool_launch_ *l)
{
    struct sigaction action;
    uint32_t began;
    int fd[6], i, status = 0;
    bool over, gone = false, boxed = l->fd[5] >= 0, left = true;
    pid_t program;
    memset(&action, 0, sizeof action);
    for (i = 1; i < 65; i++)
        sigaction(i, &action, NULL); /* a signal that is ignored stays so */
    action.sa_handler = ttool_nothing_;
    sigaction(SIGCHLD, &action, NULL);
    /* Only what is needed stays open, in known places. */
    for (i = 0; i < 6; i++)
        fd[i] = l->fd[i] < 0 ? -1 : fcntl(l->fd[i], F_DUPFD, 16);
    for (i = 0; i < 6; i++)
        if (fd[i] >= 0)
            dup2(fd[i], i + (i > 1));
    dup2(fd[1], 2);
    for (i = TTOOL_REPORT_; i <= TTOOL_RULES_FD_; i++)
        (void)fcntl(i, F_SETFD, FD_CLOEXEC);
    if (syscall(436 /* close_range */, TTOOL_RULES_FD_ + boxed, ~0u, 0) != 0)
        for (i = TTOOL_RULES_FD_ + boxed; i < 65536; i++)
            close(i);
    setsid();
    prctl(PR_SET_DUMPABLE, 0);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || (program = fork()) < 0) {
        ttool_tell_(0, 7, errno);
        _exit(1);
    }
    if (program == 0)
        ttool_be_(l, boxed);
    close(0);
    close(1);
    close(2);
    over = ttool_watch_(l, program, &status, &gone);
    began = ttool_sys_now_ms_();
    while (left && ttool_sys_now_ms_() - began < TTOOL_SWEEP_MS_) {
        ttool_kill_children_();
        left = ttool_reap_(program, &status, &gone);
        if (left)
            ttool_pause_(1);
    }
    ttool_tell_(1, status, (over ? 1 : 0) | (left ? 2 : 0));
    _exit(0);
}

/* -- SHA-256 of the output (FIPS 180-4) ----------------------------------- */

typedef struct ttool_sha_ {
    uint32_t state[8];
    uint64_t len;
    uint8_t block[64];
} ttool_sha_;

static uint32_t ttool_turned_(uint32_t v, int n)
{
    return v >> n | v << (32 - n);
}

static void ttool_sha_block_(ttool_sha_ *s)
{
    static const uint32_t k[64] = {
        0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1,
        0x923F82A4, 0xAB1C5ED5, 0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3,
        0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174, 0xE49B69C1, 0xEFBE4786,
        0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
        0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147,
        0x06CA6351, 0x14292967, 0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13,
        0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85, 0xA2BFE8A1, 0xA81A664B,
        0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
        0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A,
        0x5B9CCA4F, 0x682E6FF3, 0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208,
        0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2};
    uint32_t w[64], v[8];
    int i;
    memcpy(v, s->state, sizeof v);
    for (i = 0; i < 64; i++) {
        uint32_t one, two;
        if (i < 16) {
            const uint8_t *b = s->block + i * 4;
            w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
                   (uint32_t)b[2] << 8 | b[3];
        } else {
            uint32_t x = w[i - 15], y = w[i - 2];
            x = ttool_turned_(x, 7) ^ ttool_turned_(x, 18) ^ x >> 3;
            y = ttool_turned_(y, 17) ^ ttool_turned_(y, 19) ^ y >> 10;
            w[i] = w[i - 16] + x + w[i - 7] + y;
        }
        one = v[7] + k[i] + w[i] + ((v[4] & v[5]) ^ (~v[4] & v[6])) +
              (ttool_turned_(v[4], 6) ^ ttool_turned_(v[4], 11) ^
               ttool_turned_(v[4], 25));
        two = ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])) +
              (ttool_turned_(v[0], 2) ^ ttool_turned_(v[0], 13) ^
               ttool_turned_(v[0], 22));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (i = 0; i < 8; i++)
        s->state[i] += v[i];
}

static void ttool_sha_start_(ttool_sha_ *s)
{
    static const uint32_t start[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372,
                                      0xA54FF53A, 0x510E527F, 0x9B05688C,
                                      0x1F83D9AB, 0x5BE0CD19};
    memcpy(s->state, start, sizeof start);
    s->len = 0;
}

static void ttool_sha_add_(ttool_sha_ *s, const char *p, size_t n)
{
    for (; n--; p++) {
        s->block[s->len % 64] = (uint8_t)*p;
        if (++s->len % 64 == 0)
            ttool_sha_block_(s);
    }
}

/* As text: 64 digits and a NUL. */
static void ttool_sha_end_(ttool_sha_ *s, char *text)
{
    uint64_t bits = s->len * 8;
    int i;
    ttool_sha_add_(s, "\x80", 1);
    while (s->len % 64 != 56)
        ttool_sha_add_(s, "", 1);
    for (i = 56; i >= 0; i -= 8) {
        char c = (char)(bits >> i & 0xFF);
        ttool_sha_add_(s, &c, 1);
    }
    for (i = 0; i < 8; i++)
        snprintf(text + i * 8, 9, "%08x", (unsigned)s->state[i]);
}

/* -- A call --------------------------------------------------------------- */

typedef struct ttool_bash_ {
    pid_t pid; /* of the supervisor; 0: not begun */
    int output, report, leash;
    uint32_t began, told, limit;
    bool flood, boxed;
    uint64_t total; /* bytes of output */
    ttool_sha_ sha;
    ttool_report_ said;
    char kept[1]; /* and more: the head, then the tail, as a ring */
} ttool_bash_;

static void ttool_drop_(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int ttool_pipes_(int ends[6])
{
    int i;
    for (i = 0; i < 6; i++)
        ends[i] = -1;
    for (i = 0; i < 6; i += 2)
        if (pipe2(ends + i, O_CLOEXEC) != 0)
            return errno;
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    (void)fcntl(ends[2], F_SETFL, O_NONBLOCK);
    return 0;
}

/* The supervisor is started; 0 or an errno. */
static int ttool_launch_it_(ttool_bash_ *run, ttool_launch_ *l)
{
    int ends[6], i, number = ttool_pipes_(ends); /* output, report, leash */
    sigset_t all, old;
    l->fd[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
    l->fd[1] = ends[1];
    l->fd[2] = ends[3];
    l->fd[3] = ends[4];
    if (number == 0 && l->fd[0] < 0)
        number = errno;
    if (number == 0) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        run->pid = fork();
        if (run->pid == 0)
            ttool_supervise_(l);
        number = run->pid < 0 ? errno : 0;
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    ttool_drop_(&l->fd[0]);
    if (number == 0) {
        run->output = ends[0];
        run->report = ends[2];
        run->leash = ends[5];
        ends[0] = ends[2] = ends[5] = -1;
    } else {
        run->pid = 0;
    }
    for (i = 0; i < 6; i++)
        ttool_drop_(&ends[i]);
    return number;
}

/* The directory of the call, or -1 and a reason in out. */
static int ttool_directory_(tcall_ctx *cx, ttool_workspace *ws, tcall_str path,
                            tcall_writer *out, int *r)
{
    ttool_place at;
    int fd = -1;
    ttool_begin_(ws);
    *r = ttool_find_dir_(cx, ws, path, &at, out);
    if (*r == TCALL_OK &&
        (fd = ttool_open_(ws, at.path, O_PATH | O_DIRECTORY)) < 0)
        *r = ttool_fail_errno_(cx, out, at.path, errno);
    return fd;
}

static int ttool_bash_begin_(tcall_ctx *cx, ttool_bash_ *run, tcall_json args,
                             tcall_writer *out)
{
    static const char *const usual[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                        "LANG=C.UTF-8", "HOME=/nonexistent",
                                        NULL};
    const ttool_shell *shell = (const ttool_shell *)cx->user;
    const ttool_shell_desc *d = &shell->desc;
    char text[TTOOL_MAX_COMMAND + 1], program[512];
    char *words[TTOOL_MAX_WORDS + 1];
    const char *why = "the command is too long\nMake it shorter.";
    const ttool_command *c;
    tcall_str command = tcall_json_str(tcall_json_get(args, "command"));
    ttool_launch_ l;
    size_t at = 0;
    int r, number;
    if (command.len <= TTOOL_MAX_COMMAND)
        why = ttool_split_(text, words, command, &at);
    if (why) {
        tcall_write_text(out, "at byte ");
        ttool_text_int_(out, at);
        return ttool_fail_(cx, out, TCALL_E_DENIED, " of the command", why);
    }
    if (!(c = ttool_allowed_(cx, shell, words, out)))
        return TCALL_E_DENIED;
    if (!ttool_program_(c, program, sizeof program))
        return ttool_fail_(cx, out, TCALL_E_FAILED, words[0],
                           "is not installed here\nUse another program.");
    memset(&l, 0, sizeof l);
    l.shell = shell;
    l.program = program;
    l.words = words;
    l.environment = d->environment ? d->environment : usual;
    l.limit = run->limit;
    l.fd[5] = d->sandbox == TTOOL_SANDBOX_NONE ? -1 : ttool_rules_(shell);
    run->boxed = l.fd[5] >= 0;
    if (!run->boxed && d->sandbox == TTOOL_SANDBOX_REQUIRED)
        return ttool_fail_(
            cx, out, TCALL_E_SERVICE, "",
            "this system has no sandbox, and without one nothing "
            "runs here\nDo without programs.");
    l.fd[4] = ttool_directory_(cx, d->workspace, ttool_arg_(args, "workdir"),
                               out, &r);
    if (l.fd[4] >= 0) {
        number = ttool_launch_it_(run, &l);
        if (number)
            r = ttool_fail_errno_(cx, out, words[0], number);
    }
    ttool_drop_(&l.fd[4]);
    ttool_drop_(&l.fd[5]);
    return r;
}

/* Half of what is kept is the start of the output, half a ring for its end. */
static void ttool_keep_(ttool_bash_ *run, size_t half, const char *p, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++, run->total++)
        if (run->total < half)
            run->kept[run->total] = p[i];
        else
            run->kept[half + (size_t)((run->total - half) % half)] = p[i];
}

/* What came since; false at the end of the output. */
static bool ttool_take_output_(tcall_ctx *cx, const ttool_shell *shell,
                               ttool_bash_ *run)
{
    char piece[4096];
    tcall_str text;
    int looks;
    for (looks = 0; looks < 64; looks++) {
        ssize_t n = read(run->output, piece, sizeof piece);
        if (n <= 0)
            return n < 0 && (errno == EAGAIN || errno == EINTR);
        ttool_keep_(run, shell->desc.keep / 2, piece, (size_t)n);
        ttool_sha_add_(&run->sha, piece, (size_t)n);
        text.ptr = piece;
        text.len = (size_t)n;
        if (!run->flood)
            tcall_emit(cx, text);
        if (run->total > shell->desc.max_output) {
            run->flood = true;
            ttool_drop_(&run->leash);
        }
    }
    return true;
}

/* Waits so long for output or the report; true when the report is there. */
static bool ttool_reported_(ttool_bash_ *run, int ms)
{
    struct pollfd p[2];
    ssize_t n;
    p[0].fd = run->report;
    p[1].fd = run->output;
    p[0].events = p[1].events = POLLIN;
    p[0].revents = p[1].revents = 0;
    (void)poll(p, 2, ms);
    n = read(run->report, &run->said, sizeof run->said);
    if (n == 0) { /* it was killed */
        run->said.status = 7;
        run->said.number = ECHILD;
    }
    return n >= 0;
}

/* Ends what still runs, and gives everything back. */
static void ttool_bash_end_(ttool_bash_ *run, bool reported)
{
    uint32_t began = ttool_sys_now_ms_();
    ttool_drop_(&run->leash);
    while (!reported &&
           ttool_sys_now_ms_() - began < TTOOL_SWEEP_MS_ + TTOOL_GRACE_MS_) {
        char lost[4096];
        reported = ttool_reported_(run, 20);
        (void)!read(run->output, lost, sizeof lost);
    }
    if (!reported)
        kill(run->pid, SIGKILL);
    while (waitpid(run->pid, NULL, __WALL) < 0 && errno == EINTR)
        continue;
    ttool_drop_(&run->output);
    ttool_drop_(&run->report);
    run->pid = 0;
}

static void ttool_reverse_(char *from, char *to)
{
    while (from < --to) {
        char c = *from;
        *from++ = *to;
        *to = c;
    }
}

/* The output as a JSON string, with at most `most` bytes of it. */
static void ttool_write_kept_(tcall_writer *w, const ttool_bash_ *run,
                              size_t half, size_t most)
{
    uint64_t rest = run->total > half ? run->total - half : 0;
    size_t tail = rest < half ? (size_t)rest : half;
    size_t head = run->total < half ? (size_t)run->total : half;
    if (run->total > most) {
        head = head < most / 2 ? head : most / 2;
        tail = tail < most / 2 ? tail : most / 2;
    }
    tcall_write_quote(w);
    tcall_write_bytes(w, run->kept, head);
    if (head + tail < run->total) {
        tcall_write_text(w, "\n[");
        ttool_text_int_(w, run->total - head - tail);
        tcall_write_text(w, " bytes left out]\n");
    }
    tcall_write_bytes(
        w, run->kept + half + (rest < half ? (size_t)rest : half) - tail, tail);
    tcall_write_unquote(w);
}

static void ttool_write_ran_(tcall_writer *w, const ttool_shell *shell,
                             const ttool_bash_ *run, size_t most)
{
    int status = run->said.status;
    tcall_write_open(w, '{');
    if (WIFSIGNALED(status)) {
        tcall_write_key(w, "signal");
        tcall_write_int(w, WTERMSIG(status));
        tcall_write_key(w, "signal_name");
        tcall_write_string(w, strsignal(WTERMSIG(status)));
    } else {
        tcall_write_key(w, "exit_code");
        tcall_write_int(w, WEXITSTATUS(status));
    }
    if (run->said.number & 2) {
        tcall_write_key(w, "warning");
        tcall_write_string(w, "a process it left behind could not be killed");
    }
    if (shell->desc.sandbox != TTOOL_SANDBOX_REQUIRED) {
        bool filter = shell->desc.sandbox != TTOOL_SANDBOX_NONE &&
                      TTOOL_ARCHS_ > 0 &&
                      prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
        tcall_write_key(w, "sandbox");
        tcall_write_string(w, run->boxed ? filter ? "files, network" : "files"
                              : filter   ? "network"
                                         : "none");
    }
    tcall_write_key(w, "output_bytes");
    tcall_write_int(w, (long)run->total);
    tcall_write_key(w, "output");
    ttool_write_kept_(w, run, shell->desc.keep / 2, most);
    tcall_write_close(w, '}');
}

/* Why there is no result, or TCALL_OK. */
static int ttool_bash_failed_(tcall_ctx *cx, const ttool_bash_ *run,
                              tcall_writer *out)
{
    const ttool_shell *shell = (const ttool_shell *)cx->user;
    if (!run->said.ended) {
        tcall_write_text(out, "could not ");
        tcall_write_text(out, ttool_steps_[run->said.status & 7]);
        tcall_write_text(out, ": ");
        tcall_write_text(out, strerror(run->said.number));
        return ttool_fail_(cx, out, TCALL_E_FAILED, "",
                           "\nTry again, or another program.");
    }
    if (run->said.number & 1) {
        tcall_write_text(out, "stopped, it still ran after ");
        ttool_text_int_(out, run->limit);
        tcall_write_text(out, " ms; timeout_ms may be up to ");
        ttool_text_int_(out, shell->desc.max_ms);
        return ttool_fail_(cx, out, TCALL_E_TIMEOUT, "",
                           "\nSet timeout_ms, or do less in one call.");
    }
    if (run->flood) {
        tcall_write_text(out, "stopped after ");
        ttool_text_int_(out, run->total);
        return ttool_fail_(cx, out, TCALL_E_LIMIT, "",
                           " bytes of output\nLet it write less.");
    }
    return TCALL_OK;
}

static int ttool_bash_result_(tcall_ctx *cx, ttool_bash_ *run,
                              tcall_writer *out)
{
    const ttool_shell *shell = (const ttool_shell *)cx->user;
    size_t half = shell->desc.keep / 2, room = out->cap - out->fill;
    size_t most = shell->desc.keep;
    char text[160], sha[65];
    tcall_str json = {text, 0};
    tcall_writer count;
    int r;
    ttool_sha_end_(&run->sha, sha);
    json.len =
        (size_t)snprintf(text, sizeof text,
                         "{\"output_bytes\":%llu,\"cut\":%s,\"sha256\":\"%s\"}",
                         (unsigned long long)run->total,
                         run->total > most ? "true" : "false", sha);
    tcall_set_result(cx, tcall_str_of(""), json);
    r = ttool_bash_failed_(cx, run, out);
    if (r < 0)
        return r;
    if (run->total > 2 * half) { /* the ring begins at its oldest byte */
        char *ring = run->kept + half;
        size_t turn = (size_t)((run->total - half) % half);
        ttool_reverse_(ring, ring + turn);
        ttool_reverse_(ring + turn, ring + half);
        ttool_reverse_(ring, ring + half);
    }
    do { /* less of it, until all of the JSON fits */
        tcall_writer_init(&count, NULL, 0);
        ttool_write_ran_(&count, shell, run, most);
        most = count.len > room ? most - most / 4 - 1 : most;
    } while (count.len > room && most > 16);
    ttool_write_ran_(out, shell, run, most);
    return TCALL_OK;
}

static int ttool_bash_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const ttool_shell *shell = (const ttool_shell *)cx->user;
    ttool_bash_ *run = (ttool_bash_ *)tcall_scratch(
        cx, "bash", sizeof *run + shell->desc.keep);
    uint32_t now = ttool_sys_now_ms_();
    bool reported;
    int r;
    if (!run)
        return TCALL_E_MEMORY;
    if (!run->pid) {
        long ms = tcall_json_int(tcall_json_get(args, "timeout_ms"), 5000);
        int32_t left = tcall_time_left(cx);
        run->limit =
            ms < (long)shell->desc.max_ms ? (uint32_t)ms : shell->desc.max_ms;
        if (run->limit > (uint32_t)left)
            run->limit = (uint32_t)left;
        run->began = run->told = now;
        ttool_sha_start_(&run->sha);
        ttool_title_(cx, "Run ", ttool_arg_(args, "command"));
        r = ttool_bash_begin_(cx, run, args, out);
        if (r < 0)
            return r;
    }
    reported = cx->stop == 0 && ttool_reported_(run, 10);
    (void)ttool_take_output_(cx, shell,
                             run); /* after a report the last of it:
                                    * 64 pieces, more than a pipe has */
    if (!reported && cx->stop == 0 &&
        now - run->began <
            run->limit + TTOOL_GRACE_MS_ + TTOOL_SWEEP_MS_ + 500) {
        if (now - run->told >= 1000) {
            char text[64];
            tcall_str said = {text, 0};
            said.len = (size_t)snprintf(
                text, sizeof text, "bash: %lu s, %llu bytes of output",
                (unsigned long)((now - run->began) / 1000),
                (unsigned long long)run->total);
            run->told = now;
            tcall_progress(cx, said);
        }
        return TCALL_E_AGAIN;
    }
    ttool_bash_end_(run, reported);
    return ttool_bash_result_(cx, run, out);
}

/* -- Setting up ----------------------------------------------------------- */

static uint32_t ttool_or_(uint32_t value, uint32_t usual)
{
    return value ? value : usual;
}

int ttool_shell_init(ttool_shell *shell, const ttool_shell_desc *desc)
{
    ttool_shell_desc *d = &shell->desc;
    tcall_writer w;
    size_t i;
    int rules = -1;
    memset(shell, 0, sizeof *shell);
    *d = *desc;
    if (!d->workspace || !d->command_count)
        return TCALL_E_USAGE;
    d->max_ms = ttool_or_(d->max_ms, 60000);
    d->max_output = ttool_or_(d->max_output, 16u << 20);
    d->keep = ttool_or_(d->keep, 65536) & ~1u;
    d->max_memory_mb = ttool_or_(d->max_memory_mb, 2048);
    d->max_file_mb = ttool_or_(d->max_file_mb, 256);
    d->max_processes = ttool_or_(d->max_processes,
                                 geteuid() == 0 && !d->keep_root ? 128 : 4096);
    d->user = d->user ? d->user : 65534;
    tcall_writer_init(&w, shell->description, sizeof shell->description - 1);
    tcall_write_text(&w, ttool_shell_tools[0].description);
    tcall_write_text(&w, " Programs:");
    for (i = 0; i < d->command_count; i++) {
        tcall_write_text(&w, " ");
        tcall_write_text(&w, d->commands[i].name);
    }
    if (access("/proc/thread-self/children", R_OK) != 0)
        return TCALL_E_SERVICE;
    if (d->sandbox == TTOOL_SANDBOX_REQUIRED &&
        (TTOOL_ARCHS_ == 0 || (rules = ttool_rules_(shell)) < 0))
        return TCALL_E_SERVICE;
    ttool_drop_(&rules);
    return TCALL_OK;
}

size_t ttool_shell_row(tcall_tool *to, ttool_shell *shell)
{
    ttool_rows(to, ttool_shell_tools, TTOOL_SHELL_TOOLS, shell);
    to->description = shell->description;
    return 1;
}

/* clang-format off */
const tcall_tool ttool_shell_tools[TTOOL_SHELL_TOOLS] = {
    TTOOL_ROW_("bash", "Run a program", "shell command execute run program process",
        ttool_bash_run_, TCALL_EXECUTE, true,
        "Run one program with its arguments in the workspace. It is no shell: no pipes, "
        "redirections, variables or patterns. Shows exit code and output.",
        TCALL_JSON({
            "type": "object",
            "properties": {
                "command": {
                    "type": "string", "minLength": 1, "maxLength": 4000,
                    "description": "The program and its arguments, separated by spaces; quote arguments that contain spaces or special characters"
                },
                "workdir": {
                    "type": "string", "minLength": 1, "maxLength": 4096,
                    "description": "Directory to run it in, relative to the root of the workspace, which is the default"
                },
                "timeout_ms": {
                    "type": "integer", "minimum": 100, "maximum": 60000,
                    "description": "Milliseconds after which it is stopped with all that it has started: 5000 by default"
                }
            },
            "required": ["command"],
            "additionalProperties": false
        })),
};
/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_IMPLEMENTATION */
