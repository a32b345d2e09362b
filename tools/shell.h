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
 * word that begins with '-' one of its options. Every call asks for approval.
 *
 * The program runs under bubblewrap (bwrap, package bubblewrap), in namespaces
 * of its own. It sees the workspace, what desc.readable names, the listed
 * programs in the directories of programs, and a /tmp that ends with it. It has
 * no network and no sockets, sees no other processes, keyrings, queues or
 * shared memory, and cannot make the system calls of a list (seccomp). When it
 * ends, when its time is over, when the call is cancelled or the host ends, the
 * kernel kills all that it started. The thread that begins a call has to live
 * until the call ends.
 *
 * The list says which programs may be started, whoever starts them; not what
 * they do then. These do whatever their arguments or files say: awk, sed, find,
 * tar, env, xargs, make, git (hooks, aliases, filters), perl, python and every
 * shell. No shell is there unless it is listed ("sh", NULL, "-c", NULL). For
 * such a program only the sandbox is a boundary: it can read and change all of
 * the workspace, with .git and with files that have a hard link in it, use up
 * its limits, and start what is listed. It can also start what is executable in
 * the workspace, in /usr/lib and in other readable places, unless setpriv knows
 * Landlock (util-linux 2.40): then only listed programs and dynamic loaders.
 *
 * Linux 5.3, user namespaces, bubblewrap 0.8. Needs _GNU_SOURCE before the
 * first system header.
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
                            /usr/local/bin, /usr/bin, /bin. A script needs its
                            interpreter in the list. */
    /* Words that may be given, separated by spaces. An option that ends in =
     * may go on; "*" is any. Default: none. */
    const char *options;
    const char *verbs; /* the first argument is one of them; default: any */
} ttool_command;

typedef enum ttool_sandbox {
    TTOOL_SANDBOX_REQUIRED,    /* without it, and all limits, nothing runs */
    TTOOL_SANDBOX_BEST_EFFORT, /* each result says what does not hold */
    TTOOL_SANDBOX_NONE         /* likewise */
} ttool_sandbox;

typedef struct ttool_shell_desc {
    ttool_workspace *workspace;
    const ttool_command *commands;
    size_t command_count;
    uint8_t sandbox;  /* ttool_sandbox */
    bool read_only;   /* programs change nothing in the workspace */
    bool any_program; /* a program may start all that is in /usr/bin and such */
    bool keep_root; /* root stays root, whose processes only a cgroup limits */
    unsigned user;  /* else root becomes this user and group; default 65534 */
    /* Both end in NULL. What may be read, and run, beside the workspace; links
     * stay links, "/proc" is one of the sandbox's own. Default: /usr, /bin,
     * /sbin, /lib, /lib32, /lib64, and of /etc and /dev what most programs
     * need. And the whole environment; default PATH, LANG, HOME. */
    const char *const *readable;
    const char *const *environment;
    const char *bwrap;   /* its path; default: as for a command */
    const char *setpriv; /* likewise; not used with any_program or a command
                            that has a path of its own */
    /* A directory of cgroup v2 that is ours alone, has no processes, and whose
     * cgroup.subtree_control has memory and pids: each call gets a group in
     * it. Default: none. */
    const char *cgroup;
    uint32_t max_ms;        /* the most a call may ask for; default 60,000 */
    uint32_t max_output;    /* bytes, then it is stopped; default 16 MB */
    uint32_t keep;          /* bytes of it kept, from the start and from the
                               end, in the block; default 64 KB */
    uint32_t max_memory_mb; /* of each process; default 2048 */
    /* Of all processes together. Without a cgroup only the two limits on
     * processes can keep it: their product has to be as small. Default: with a
     * cgroup max_memory_mb, else that product. */
    uint32_t max_total_mb;
    uint32_t max_file_mb; /* of each file; default 256 */
    /* What the disk of the workspace may fill by during a call, whoever does
     * it; default 1024. It is looked at with each poll of the call. */
    uint32_t max_disk_mb;
    uint32_t max_tmp_mb;    /* of /tmp and of /dev/shm, each; default 64 */
    uint32_t max_processes; /* and threads, all together; default 128. Before
                               Linux 5.14 others of the same user count. */
} ttool_shell_desc;

typedef struct ttool_shell {
    ttool_shell_desc desc;
    char refusal[160]; /* after TCALL_E_SERVICE: why, a sentence */
    /* private */
    char description[512];
    char bwrap[256];   /* empty: there is no sandbox */
    char setpriv[256]; /* empty: Landlock is not used */
    unsigned calls;
} ttool_shell;

/* Tries the sandbox, which takes some 30 ms. Returns TCALL_OK; TCALL_E_USAGE:
 * no workspace or no command; TCALL_E_SERVICE: the sandbox, or a limit, is
 * required and cannot be kept here: shell->refusal says why. */
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
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/wait.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Milliseconds between TERM and KILL, and for the sandbox to be gone then. */
enum { TTOOL_GRACE_MS_ = 200, TTOOL_SWEEP_MS_ = 5000 };

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

/* -- What is refused to it: seccomp --------------------------------------- */

#if defined __x86_64__ && !defined __ILP32__
#define TTOOL_ARCH_ AUDIT_ARCH_X86_64
#elif defined __i386__
#define TTOOL_ARCH_ AUDIT_ARCH_I386
#elif defined __aarch64__
#define TTOOL_ARCH_ AUDIT_ARCH_AARCH64
#elif defined __arm__
#define TTOOL_ARCH_ AUDIT_ARCH_ARM
#elif defined __riscv && __riscv_xlen == 64
#define TTOOL_ARCH_ AUDIT_ARCH_RISCV64
#else
#define TTOOL_ARCH_ 0 /* no sandbox */
#endif

/* These fail with EPERM. */
static const unsigned ttool_refused_[] = {
    /* sockets: services of this machine, and kinds that no namespace holds */
    SYS_socket,
#ifdef SYS_socketcall
    SYS_socketcall, SYS_ipc,
#endif
/* memory that no limit on processes counts */
#ifdef SYS_shmget
    SYS_shmget, SYS_msgget, SYS_semget,
#endif
    SYS_memfd_create,
    /* keyrings, which have no namespace */
    SYS_add_key, SYS_request_key, SYS_keyctl,
    /* namespaces and mounts, in which a program would have more rights */
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
    SYS_name_to_handle_at, SYS_open_by_handle_at,
    /* other processes */
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
    /* parts of the kernel that programs of this kind do not need */
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_fanotify_init,
    SYS_personality, SYS_syslog, SYS_acct, SYS_quotactl, SYS_swapon,
    SYS_swapoff, SYS_reboot, SYS_kexec_load, SYS_init_module, SYS_finit_module,
    SYS_delete_module, SYS_vhangup, SYS_mbind, SYS_set_mempolicy,
    SYS_migrate_pages, SYS_move_pages, SYS_settimeofday, SYS_clock_settime,
    SYS_clock_adjtime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname};

/* Calls from 424 on have the same number on each of these machines. Those that
 * are not here do not exist, be they older or newer than this list. */
enum { TTOOL_FIRST_NEW_ = 424 };
/* clang-format off */
static const unsigned ttool_new_[] = {
    424 /* pidfd_send_signal */, 434 /* pidfd_open */, 436 /* close_range */,
    437 /* openat2 */, 439 /* faccessat2 */, 441 /* epoll_pwait2 */,
    444, 445, 446 /* landlock */, 449 /* futex_waitv */, 452 /* fchmodat2 */,
    454, 455, 456 /* futex */,
#ifdef __arm__
    0xF0002 /* cacheflush */, 0xF0005 /* set_tls */
#endif
};
/* clang-format on */

typedef struct ttool_filter_ {
    struct sock_filter code[2 * (sizeof ttool_refused_ + sizeof ttool_new_) /
                                sizeof(unsigned) +
                            12];
    unsigned len;
} ttool_filter_;

static void ttool_bpf_(ttool_filter_ *f, unsigned code, uint32_t k, int yes,
                       int no)
{
    struct sock_filter *to = &f->code[f->len++];
    to->code = (uint16_t)code;
    to->k = k;
    to->jt = (uint8_t)yes;
    to->jf = (uint8_t)no;
}

/* What follows a comparison is the answer where it holds. */
static void ttool_bpf_answer_(ttool_filter_ *f, uint32_t call, uint32_t answer)
{
    ttool_bpf_(f, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    ttool_bpf_(f, BPF_RET | BPF_K, answer, 0, 0);
}

static void ttool_filter_make_(ttool_filter_ *f)
{
    const uint32_t refuse = SECCOMP_RET_ERRNO | EPERM;
    const uint32_t unknown = SECCOMP_RET_ERRNO | ENOSYS;
    const uint32_t load = BPF_LD | BPF_W | BPF_ABS;
    const uint32_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                CLONE_NEWNET;
    size_t i;
    f->len = 0;
    ttool_bpf_(f, load, offsetof(struct seccomp_data, arch), 0, 0);
    ttool_bpf_(f, BPF_JMP | BPF_JEQ | BPF_K, TTOOL_ARCH_, 1, 0);
    ttool_bpf_(f, BPF_RET | BPF_K, unknown, 0, 0);
    ttool_bpf_(f, load, offsetof(struct seccomp_data, nr), 0, 0);
    for (i = 0; i < TCALL_ARRAY_LEN(ttool_refused_); i++)
        ttool_bpf_answer_(f, ttool_refused_[i], refuse);
    for (i = 0; i < TCALL_ARRAY_LEN(ttool_new_); i++)
        ttool_bpf_answer_(f, ttool_new_[i], SECCOMP_RET_ALLOW);
    ttool_bpf_(f, BPF_JMP | BPF_JGE | BPF_K, TTOOL_FIRST_NEW_, 0, 1);
    ttool_bpf_(f, BPF_RET | BPF_K, unknown, 0, 0);
    ttool_bpf_(f, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);
    ttool_bpf_(f, load, offsetof(struct seccomp_data, args), 0, 0);
    ttool_bpf_(f, BPF_JMP | BPF_JSET | BPF_K, namespaces, 0, 1);
    ttool_bpf_(f, BPF_RET | BPF_K, refuse, 0, 0);
    ttool_bpf_(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* -- What it sees: the options of bwrap ----------------------------------- */

/* Handles of the new process: those after 2 are bwrap's. */
enum {
    TTOOL_FD_ARGS_ = 3,
    TTOOL_FD_FILTER_,
    TTOOL_FD_STATUS_, /* what bwrap reports */
    TTOOL_FD_HOLD_,   /* it goes on when the other end is closed */
    TTOOL_FDS_
};

typedef struct ttool_launch_ {
    const ttool_shell *shell;
    const char *program, *directory;
    char *const *words;
    uint32_t limit;
    bool boxed, trial;
    bool failed; /* the options could not be written */
    int group;   /* its cgroup.procs, or -1 */
    int fd[TTOOL_FDS_];
} ttool_launch_;

static void ttool_drop_(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Adds up to three words; NULL ends them sooner. */
static void ttool_option_(ttool_launch_ *l, const char *name, const char *one,
                          const char *two)
{
    const char *words[4] = {name, one, two, NULL};
    int i;
    for (i = 0; words[i]; i++) {
        size_t len = strlen(words[i]) + 1;
        if (write(l->fd[TTOOL_FD_ARGS_], words[i], len) != (ssize_t)len)
            l->failed = true;
    }
}

/* The path as it is here; what is not here is not there. A link is made again,
 * as it would else lead to what an option after it hides. */
static void ttool_option_path_(ttool_launch_ *l, const char *path)
{
    char target[TTOOL_MAX_PATH];
    ssize_t len = readlink(path, target, sizeof target - 1);
    if (len >= 0) {
        target[len] = '\0';
        ttool_option_(l, "--symlink", target, path);
    } else if (strcmp(path, "/proc") == 0) {
        ttool_option_(l, "--proc", path, NULL);
    } else if (strncmp(path, "/dev/", 5) == 0) {
        ttool_option_(l, "--dev-bind-try", path, path);
    } else {
        ttool_option_(l, "--ro-bind-try", path, path);
    }
}

static void ttool_options_readable_(ttool_launch_ *l)
{
    static const char *const usual[] = {"/usr",
                                        "/bin",
                                        "/sbin",
                                        "/lib",
                                        "/lib32",
                                        "/lib64",
                                        "/etc/alternatives",
                                        "/etc/group",
                                        "/etc/ld.so.cache",
                                        "/etc/localtime",
                                        "/etc/nsswitch.conf",
                                        "/etc/passwd",
                                        "/dev/full",
                                        "/dev/null",
                                        "/dev/random",
                                        "/dev/urandom",
                                        "/dev/zero",
                                        NULL};
    const ttool_shell_desc *d = &l->shell->desc;
    const char *const *path = d->readable ? d->readable : usual;
    for (; *path; path++)
        ttool_option_path_(l, *path);
}

/* Of the directories of programs, only the listed programs. */
static void ttool_options_programs_(ttool_launch_ *l)
{
    static const char *const dirs[] = {"/usr/local/bin", "/usr/local/sbin",
                                       "/usr/bin",       "/usr/sbin",
                                       "/bin",           "/sbin"};
    const ttool_shell_desc *d = &l->shell->desc;
    char program[512];
    struct stat st[TCALL_ARRAY_LEN(dirs)];
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(dirs); i++) {
        if (lstat(dirs[i], &st[i]) != 0)
            st[i].st_mode = 0;
        if (S_ISDIR(st[i].st_mode))
            ttool_option_(l, "--tmpfs", dirs[i], NULL);
    }
    for (i = 0; i < d->command_count; i++)
        if (ttool_program_(&d->commands[i], program, sizeof program))
            ttool_option_(l, "--ro-bind", program, program);
    for (i = 0; i < TCALL_ARRAY_LEN(dirs); i++)
        if (S_ISDIR(st[i].st_mode))
            ttool_option_(l, "--remount-ro", dirs[i], NULL);
}

static void ttool_options_(ttool_launch_ *l)
{
    static const char *const walls[] = {
        "--unshare-user", "--unshare-pid",     "--unshare-ipc",
        "--unshare-net",  "--unshare-uts",     "--unshare-cgroup-try",
        "--new-session",  "--die-with-parent", NULL};
    const ttool_shell_desc *d = &l->shell->desc;
    const char *root = d->workspace->name;
    char number[24];
    int i;
    for (i = 0; walls[i]; i++)
        ttool_option_(l, walls[i], NULL, NULL);
    ttool_option_(l, "--cap-drop", "ALL", NULL);
    snprintf(number, sizeof number, "%llu",
             (unsigned long long)d->max_tmp_mb << 20);
    ttool_option_(l, "--size", number, NULL);
    ttool_option_(l, "--tmpfs", "/tmp", NULL);
    ttool_option_(l, "--size", number, NULL);
    ttool_option_(l, "--tmpfs", "/dev/shm", NULL);
    ttool_options_readable_(l);
    if (!d->any_program)
        ttool_options_programs_(l);
    if (l->trial)
        ttool_option_(l, "--ro-bind", l->shell->bwrap, "/bwrap");
    if (*l->shell->setpriv)
        ttool_option_(l, "--ro-bind", l->shell->setpriv, "/setpriv");
    ttool_option_(l, d->read_only ? "--ro-bind" : "--bind", root, root);
    ttool_option_(l, "--chdir", l->directory, NULL);
    ttool_option_(l, "--remount-ro", "/", NULL);
    snprintf(number, sizeof number, "%d", TTOOL_FD_FILTER_);
    ttool_option_(l, "--seccomp", number, NULL);
    snprintf(number, sizeof number, "%d", TTOOL_FD_STATUS_);
    ttool_option_(l, "--json-status-fd", number, NULL);
    snprintf(number, sizeof number, "%d", TTOOL_FD_HOLD_);
    ttool_option_(l, "--block-fd", number, NULL);
}

/* -- What it may use ------------------------------------------------------ */

#ifdef __GLIBC__ /* an enum for C++ */
typedef enum __rlimit_resource ttool_resource_;
#else
typedef int ttool_resource_;
#endif

/* Limits a process and what it starts; 0 is the caller. */
static bool ttool_limit_(pid_t pid, int what, uint64_t most)
{
    struct rlimit limit;
    if (prlimit(pid, (ttool_resource_)what, NULL, &limit) != 0)
        return false;
    if (limit.rlim_max > most)
        limit.rlim_max = (rlim_t)most;
    limit.rlim_cur = limit.rlim_max;
    return prlimit(pid, (ttool_resource_)what, &limit, NULL) == 0;
}

static bool ttool_limits_(const ttool_shell_desc *d, uint32_t ms)
{
    return ttool_limit_(0, RLIMIT_CORE, 0) &&
           ttool_limit_(0, RLIMIT_CPU, ms / 1000 + 1) &&
           ttool_limit_(0, RLIMIT_AS, (uint64_t)d->max_memory_mb << 20) &&
           ttool_limit_(0, RLIMIT_FSIZE, (uint64_t)d->max_file_mb << 20) &&
           ttool_limit_(0, RLIMIT_NOFILE, 256);
}

/* Whether it runs as a user of its own. */
static bool ttool_becomes_(const ttool_shell_desc *d)
{
    return geteuid() == 0 && !d->keep_root;
}

static bool ttool_group_set_(const char *group, const char *file,
                             uint64_t value)
{
    char path[TTOOL_MAX_PATH], text[24];
    int len = snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    int fd;
    bool good;
    snprintf(path, sizeof path, "%s/%s", group, file);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    good = fd >= 0 && write(fd, text, (size_t)len) == len;
    ttool_drop_(&fd);
    return good;
}

/* Makes a group with all limits. Returns a handle to enter it, or -1. */
static int ttool_group_make_(const ttool_shell_desc *d, const char *group)
{
    char path[TTOOL_MAX_PATH];
    if (mkdir(group, 0755) != 0)
        return -1;
    /* where nothing is swapped there is no such limit */
    (void)ttool_group_set_(group, "memory.swap.max", 0);
    snprintf(path, sizeof path, "%s/cgroup.procs", group);
    if (ttool_group_set_(group, "memory.max",
                         (uint64_t)d->max_total_mb << 20) &&
        ttool_group_set_(group, "memory.oom.group", 1) &&
        ttool_group_set_(group, "pids.max", (uint64_t)d->max_processes + 2))
        return open(path, O_WRONLY | O_CLOEXEC);
    return -1;
}

/* MB of the disk that are in use. */
static uint64_t ttool_disk_mb_(const ttool_shell_desc *d)
{
    struct statvfs v;
    if (fstatvfs(d->workspace->root, &v) != 0)
        return 0;
    return (uint64_t)(v.f_blocks - v.f_bfree) * v.f_frsize >> 20;
}

/* -- The start: after fork, so nothing here takes memory or locks --------- */

/* The processes of a user of its own can be counted from here on; bwrap has
 * two of them. */
static bool ttool_become_(const ttool_shell_desc *d)
{
    if (!ttool_becomes_(d))
        return true;
    return ttool_limit_(0, RLIMIT_NPROC, (uint64_t)d->max_processes + 2) &&
           setgroups(0, NULL) == 0 &&
           setresgid(d->user, d->user, d->user) == 0 &&
           setresuid(d->user, d->user, d->user) == 0;
}

/* The usual signals, nothing open but what it gets, in a session of its own. */
static void ttool_be_clean_(const ttool_launch_ *l)
{
    struct sigaction action;
    sigset_t none;
    int fd[TTOOL_FDS_], i, count = l->boxed ? TTOOL_FDS_ : 3;
    memset(&action, 0, sizeof action);
    for (i = 1; i < 65; i++)
        sigaction(i, &action, NULL); /* a signal that is ignored stays so */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    for (i = 0; i < count; i++)
        fd[i] = fcntl(l->fd[i], F_DUPFD, 16);
    for (i = 0; i < count; i++)
        dup2(fd[i], i);
    if (syscall(436 /* close_range */, count, ~0u, 0) != 0)
        for (i = count; i < 65536; i++)
            close(i);
}

/* The kernel ends it when the host has ended, or when nobody polls the call:
 * bwrap dies of the alarm then, and its sandbox with it. */
static bool ttool_be_mortal_(const ttool_launch_ *l, pid_t host)
{
    uint32_t ms = l->limit + TTOOL_GRACE_MS_;
    struct itimerval t;
    memset(&t, 0, sizeof t);
    t.it_value.tv_sec = (time_t)(ms / 1000);
    t.it_value.tv_usec = (suseconds_t)(ms % 1000) * 1000;
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == host &&
           setitimer(ITIMER_REAL, &t, NULL) == 0;
}

/* With Landlock these can be executed, as far as they are there: what is in the
 * directories of programs, and loaders. */
#define TTOOL_EXECUTE_ "path-beneath:execute:"
static const char *const ttool_execute_[] = {
    TTOOL_EXECUTE_ "/usr/local/bin",
    TTOOL_EXECUTE_ "/usr/bin",
    TTOOL_EXECUTE_ "/bin",
    TTOOL_EXECUTE_ "/lib64/ld-linux-x86-64.so.2",
    TTOOL_EXECUTE_ "/lib/ld-linux.so.2",
    TTOOL_EXECUTE_ "/lib/ld-linux-aarch64.so.1",
    TTOOL_EXECUTE_ "/lib/ld-linux-armhf.so.3",
    TTOOL_EXECUTE_ "/lib/ld-linux-riscv64-lp64d.so.1",
    TTOOL_EXECUTE_ "/lib/ld-musl-x86_64.so.1",
    TTOOL_EXECUTE_ "/lib/ld-musl-aarch64.so.1"};

enum { TTOOL_EXECUTES_ = sizeof ttool_execute_ / sizeof *ttool_execute_ };

/* The words of bwrap, and of what it starts. */
static void ttool_be_words_(const ttool_launch_ *l, const char **words)
{
    int n = 0, i;
    words[n++] = l->words[0];
    if (l->boxed) {
        words[n++] = "--args";
        words[n++] = "3";
        words[n++] = "--";
    }
    if (l->boxed && !l->trial && *l->shell->setpriv) {
        words[n++] = "/setpriv";
        words[n++] = "--landlock-access";
        words[n++] = "fs:execute";
        for (i = 0; i < TTOOL_EXECUTES_; i++)
            if (access(ttool_execute_[i] + strlen(TTOOL_EXECUTE_), F_OK) == 0) {
                words[n++] = "--landlock-rule";
                words[n++] = ttool_execute_[i];
            }
    }
    if (l->boxed)
        words[n++] = l->program;
    for (i = 1; l->words[i]; i++)
        words[n++] = l->words[i];
    words[n] = NULL;
}

/* execve changes none of them, whatever its type says. */
static char *const *ttool_same_(const char *const *words)
{
    char *const *same;
    memcpy(&same, &words, sizeof same);
    return same;
}

static void ttool_be_(const ttool_launch_ *l, pid_t host,
                      const char *const *environment)
{
    static const char failed[] = "it could not be started";
    const char *words[TTOOL_MAX_WORDS + 2 * TTOOL_EXECUTES_ + 10];
    ttool_be_words_(l, words);
    if (l->group < 0 || write(l->group, "0", 1) == 1) {
        ttool_be_clean_(l);
        if (ttool_limits_(&l->shell->desc, l->limit) &&
            ttool_become_(&l->shell->desc) && ttool_be_mortal_(l, host) &&
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
            (l->boxed || chdir(l->directory) == 0))
            execve(l->boxed ? l->shell->bwrap : l->program, ttool_same_(words),
                   ttool_same_(environment));
    }
    (void)!write(2, failed, sizeof failed - 1);
    _exit(127);
}

/* -- A run ---------------------------------------------------------------- */

enum {
    TTOOL_STOP_TIME_ = 1,
    TTOOL_STOP_OUTPUT_,
    TTOOL_STOP_DISK_,
    TTOOL_STOP_LIMITS_ /* they could not be set */
};

typedef struct ttool_bash_ {
    pid_t pid;    /* of bwrap, or of the program alone; 0: not begun */
    pid_t inside; /* the first process of the sandbox; 0: not known */
    int handle;   /* of that */
    int output, status, hold;
    uint32_t began, told, limit;
    uint8_t stopped; /* TTOOL_STOP_..., 0: by itself */
    bool boxed, warned, ended, survived;
    int how;        /* it ended, as for waitpid */
    uint64_t total; /* bytes of output */
    uint64_t disk_mb;
    ttool_held_ held; /* of what was emitted */
    size_t said_len;
    char said[768];             /* by bwrap */
    char group[TTOOL_MAX_PATH]; /* its cgroup; may be empty */
    size_t keep;
    char kept[1]; /* and more: the head, then the tail, as a ring */
} ttool_bash_;

static bool ttool_pipe_(int *from, int *to)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    *from = ends[0];
    *to = ends[1];
    return true;
}

static bool ttool_bash_files_(ttool_bash_ *run, ttool_launch_ *l)
{
    ttool_filter_ filter;
    size_t size;
    l->fd[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (l->fd[0] < 0 || !ttool_pipe_(&run->output, &l->fd[1]))
        return false;
    l->fd[2] = fcntl(l->fd[1], F_DUPFD_CLOEXEC, 3);
    (void)fcntl(run->output, F_SETFL, O_NONBLOCK);
    if (!l->boxed)
        return l->fd[2] >= 0;
    l->fd[TTOOL_FD_ARGS_] = memfd_create("bwrap", MFD_CLOEXEC);
    l->fd[TTOOL_FD_FILTER_] = memfd_create("bwrap", MFD_CLOEXEC);
    if (!ttool_pipe_(&run->status, &l->fd[TTOOL_FD_STATUS_]) ||
        !ttool_pipe_(&l->fd[TTOOL_FD_HOLD_], &run->hold))
        return false;
    (void)fcntl(run->status, F_SETFL, O_NONBLOCK);
    ttool_filter_make_(&filter);
    size = filter.len * sizeof *filter.code;
    ttool_options_(l);
    return !l->failed &&
           write(l->fd[TTOOL_FD_FILTER_], filter.code, size) == (ssize_t)size &&
           lseek(l->fd[TTOOL_FD_FILTER_], 0, SEEK_SET) == 0 &&
           lseek(l->fd[TTOOL_FD_ARGS_], 0, SEEK_SET) == 0;
}

static bool ttool_bash_fork_(ttool_bash_ *run, const ttool_launch_ *l)
{
    static const char *const usual[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                        "LANG=C.UTF-8", "HOME=/nonexistent",
                                        NULL};
    const ttool_shell_desc *d = &l->shell->desc;
    pid_t host = getpid();
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    run->pid = fork();
    if (run->pid == 0)
        ttool_be_(l, host, d->environment ? d->environment : usual);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (run->pid < 0)
        run->pid = 0;
    return run->pid != 0;
}

/* Whether it has been started; if not, nothing is left of it. */
static bool ttool_bash_start_(ttool_bash_ *run, ttool_launch_ *l)
{
    const ttool_shell_desc *d = &l->shell->desc;
    bool good;
    int i;
    run->output = run->status = run->hold = run->handle = l->group = -1;
    for (i = 0; i < TTOOL_FDS_; i++)
        l->fd[i] = -1;
    run->boxed = l->boxed;
    run->limit = l->limit;
    run->began = run->told = ttool_sys_now_ms_();
    run->disk_mb = ttool_disk_mb_(d);
    if (d->cgroup) {
        snprintf(run->group, sizeof run->group, "%s/bash-%ld-%u", d->cgroup,
                 (long)getpid(), l->shell->calls);
        l->group = ttool_group_make_(d, run->group);
    }
    good = (!d->cgroup || l->group >= 0) && ttool_bash_files_(run, l) &&
           ttool_bash_fork_(run, l);
    for (i = 0; i < TTOOL_FDS_; i++)
        ttool_drop_(&l->fd[i]);
    ttool_drop_(&l->group);
    if (!good) {
        ttool_drop_(&run->output);
        ttool_drop_(&run->status);
        ttool_drop_(&run->hold);
        if (*run->group)
            rmdir(run->group);
    }
    return good;
}

/* A number that bwrap reported, or -1. */
static int ttool_bash_said_(const ttool_bash_ *run, const char *key)
{
    const char *at = strstr(run->said, key);
    return at ? atoi(at + strlen(key)) : -1;
}

/* The sandbox is there, and waits to go on. Of a user who is no other than the
 * host's only the processes inside it are counted, from here on. */
static void ttool_bash_admit_(ttool_bash_ *run, const ttool_shell_desc *d)
{
    run->inside = (pid_t)ttool_bash_said_(run, "\"child-pid\":");
    run->handle = (int)syscall(434 /* pidfd_open */, run->inside, 0);
    if (run->handle < 0 ||
        (!ttool_becomes_(d) && !ttool_limit_(run->inside, RLIMIT_NPROC,
                                             (uint64_t)d->max_processes + 1)))
        run->stopped = TTOOL_STOP_LIMITS_;
    else
        ttool_drop_(&run->hold);
}

static void ttool_bash_listen_(ttool_bash_ *run, const ttool_shell_desc *d)
{
    size_t room = sizeof run->said - 1 - run->said_len;
    ssize_t n = run->status < 0
                    ? -1
                    : read(run->status, run->said + run->said_len, room);
    if (n == 0)
        ttool_drop_(&run->status);
    if (n <= 0)
        return;
    run->said_len += (size_t)n;
    run->said[run->said_len] = '\0';
    if (!run->inside && strchr(run->said, '\n'))
        ttool_bash_admit_(run, d);
}

/* Half of what is kept is the start of the output, half a ring for its end. */
static void ttool_bash_keep_(ttool_bash_ *run, const char *p, size_t n)
{
    size_t i, half = run->keep / 2;
    for (i = 0; i < n; i++, run->total++)
        if (run->total < half)
            run->kept[run->total] = p[i];
        else
            run->kept[half + (size_t)((run->total - half) % half)] = p[i];
}

static int ttool_bash_emit_(void *user, const char *bytes, size_t len)
{
    tcall_str text;
    text.ptr = bytes;
    text.len = len;
    tcall_emit((tcall_ctx *)user, text);
    return (int)len;
}

/* What came since. */
static void ttool_bash_take_(ttool_bash_ *run, const ttool_shell_desc *d,
                             tcall_ctx *cx)
{
    char piece[4096], buf[1024];
    tcall_writer shown;
    int looks;
    ssize_t n;
    for (looks = 0; looks < 64; looks++) {
        n = run->output < 0 ? -1 : read(run->output, piece, sizeof piece);
        if (n == 0) /* else it would be readable for ever */
            ttool_drop_(&run->output);
        if (n <= 0)
            return;
        ttool_bash_keep_(run, piece, (size_t)n);
        if (run->total > d->max_output) {
            if (!run->stopped)
                run->stopped = TTOOL_STOP_OUTPUT_;
        } else if (cx) {
            tcall_writer_init(&shown, buf, sizeof buf);
            tcall_writer_sink(&shown, ttool_bash_emit_, cx);
            ttool_write_piece_(&shown, &run->held, piece, (size_t)n);
            tcall_writer_flush(&shown);
        }
    }
}

/* Asks the program and its group to end. The first process of the sandbox leads
 * that group; it ignores what it has no handler for. */
static void ttool_bash_ask_(ttool_bash_ *run)
{
    pid_t leader = run->boxed ? run->inside : run->pid;
    if (leader > 1)
        kill(-leader, SIGTERM);
    run->warned = true;
}

static void ttool_bash_reap_(ttool_bash_ *run, int options)
{
    pid_t pid;
    if (run->ended)
        return;
    do
        pid = waitpid(run->pid, &run->how, options);
    while (pid < 0 && errno == EINTR);
    run->ended = pid != 0; /* or the host ignores SIGCHLD: nothing to reap */
}

/* Does what there is to do. True: it has ended, or has to. */
static bool ttool_bash_step_(ttool_bash_ *run, const ttool_shell_desc *d,
                             tcall_ctx *cx)
{
    uint32_t spent;
    /* whether it had ended before the last of its output was read */
    ttool_bash_reap_(run, WNOHANG);
    ttool_bash_listen_(run, d);
    ttool_bash_take_(run, d, cx);
    spent = ttool_sys_now_ms_() - run->began;
    if (run->ended || run->stopped)
        return run->ended || run->stopped != TTOOL_STOP_TIME_ ||
               spent >= run->limit + TTOOL_GRACE_MS_;
    if (ttool_disk_mb_(d) > run->disk_mb + d->max_disk_mb)
        run->stopped = TTOOL_STOP_DISK_;
    if (spent >= run->limit)
        run->stopped = TTOOL_STOP_TIME_;
    if (run->stopped == TTOOL_STOP_TIME_ && !run->warned)
        ttool_bash_ask_(run);
    return run->stopped && run->stopped != TTOOL_STOP_TIME_;
}

/* Kills the first process of the sandbox, and the kernel all others with it;
 * it is not gone before they are. bwrap reaps it, then ends. */
static void ttool_bash_kill_(ttool_bash_ *run)
{
    uint32_t began = ttool_sys_now_ms_();
    struct pollfd p;
    (void)syscall(424 /* pidfd_send_signal */, run->handle, SIGKILL, NULL, 0);
    p.fd = run->handle;
    p.events = POLLIN;
    run->survived = poll(&p, 1, TTOOL_SWEEP_MS_) <= 0;
    while (!run->ended && ttool_sys_now_ms_() - began < TTOOL_SWEEP_MS_) {
        ttool_bash_reap_(run, WNOHANG);
        (void)poll(NULL, 0, !run->ended);
    }
}

/* Ends what still runs, and gives everything back. */
static void ttool_bash_end_(ttool_bash_ *run, const ttool_shell_desc *d)
{
    uint32_t began = ttool_sys_now_ms_();
    while (run->boxed && !run->inside && !run->ended &&
           ttool_sys_now_ms_() - began < TTOOL_SWEEP_MS_)
        (void)(ttool_bash_step_(run, d, NULL) || poll(NULL, 0, 1));
    if (*run->group)
        (void)ttool_group_set_(run->group, "cgroup.kill", 1);
    if (run->handle >= 0)
        ttool_bash_kill_(run);
    if (!run->ended || !run->boxed)
        kill(-run->pid, SIGKILL);
    ttool_bash_reap_(run, 0);
    /* bwrap may end first: then a host that is init has another child */
    if (run->inside)
        (void)waitpid(run->inside, NULL, WNOHANG);
    ttool_bash_listen_(run, d);
    ttool_bash_take_(run, d, NULL);
    ttool_drop_(&run->output);
    ttool_drop_(&run->status);
    ttool_drop_(&run->hold);
    ttool_drop_(&run->handle);
    if (*run->group)
        rmdir(run->group);
    run->pid = 0;
    if (run->boxed && WIFSIGNALED(run->how) && WTERMSIG(run->how) == SIGALRM)
        run->stopped = TTOOL_STOP_TIME_;
}

/* -- Its result ----------------------------------------------------------- */

/* The bytes [from, to) of the output, as far as they are kept. */
static void ttool_write_kept_(tcall_writer *w, const ttool_bash_ *run,
                              const char *key, uint64_t from, uint64_t to)
{
    size_t half = run->keep / 2;
    ttool_held_ held;
    held.count = 0;
    tcall_write_key(w, key);
    tcall_write_quote(w);
    while (from < to) {
        size_t at =
            from < half ? (size_t)from : half + (size_t)((from - half) % half);
        size_t n = (at < half ? half : 2 * half) - at;
        n = n < to - from ? n : (size_t)(to - from);
        ttool_write_piece_(w, &held, run->kept + at, n);
        from += n;
    }
    ttool_write_held_(w, &held);
    tcall_write_unquote(w);
}

/* At most `most` bytes of the output. What was left out is a member of its
 * own: in a text it could be forged. */
static void ttool_write_output_(tcall_writer *w, const ttool_bash_ *run,
                                size_t most)
{
    tcall_write_key(w, "output_bytes");
    tcall_write_int(w, (long)run->total);
    if (run->total <= most) {
        ttool_write_kept_(w, run, "output", 0, run->total);
        return;
    }
    ttool_write_kept_(w, run, "output", 0, most / 2);
    tcall_write_key(w, "left_out_bytes");
    tcall_write_int(w, (long)(run->total - most / 2 * 2));
    ttool_write_kept_(w, run, "end_of_output", run->total - most / 2,
                      run->total);
}

static void ttool_write_stopped_(tcall_writer *w, const ttool_shell_desc *d,
                                 const ttool_bash_ *run)
{
    tcall_write_key(w, "stopped");
    tcall_write_quote(w);
    if (run->stopped == TTOOL_STOP_TIME_) {
        tcall_write_text(w, "it still ran after ");
        ttool_text_int_(w, run->limit);
        tcall_write_text(w, " ms; set timeout_ms, up to ");
        ttool_text_int_(w, d->max_ms);
        tcall_write_text(w, ", or do less in one call");
    } else if (run->stopped == TTOOL_STOP_OUTPUT_) {
        tcall_write_text(w, "it wrote more than ");
        ttool_text_int_(w, d->max_output);
        tcall_write_text(w, " bytes; let it write less");
    } else {
        tcall_write_text(w, "the disk filled by more than ");
        ttool_text_int_(w, d->max_disk_mb);
        tcall_write_text(w, " MB; write less");
    }
    tcall_write_unquote(w);
}

/* As shells do, bwrap reports the end by a signal as 128 and its number. */
static void ttool_write_code_(tcall_writer *w, const ttool_bash_ *run)
{
    int code = run->boxed              ? ttool_bash_said_(run, "\"exit-code\":")
               : WIFSIGNALED(run->how) ? 128 + WTERMSIG(run->how)
                                       : WEXITSTATUS(run->how);
    tcall_write_key(w, "exit_code");
    tcall_write_int(w, code);
    if (code > 128 && code <= 128 + 64) {
        tcall_write_key(w, "signal_name");
        tcall_write_string(w, strsignal(code - 128));
    }
}

static void ttool_write_ran_(tcall_writer *w, const ttool_shell_desc *d,
                             const ttool_bash_ *run, size_t most)
{
    tcall_write_open(w, '{');
    if (run->stopped)
        ttool_write_stopped_(w, d, run);
    else
        ttool_write_code_(w, run);
    if (run->survived) {
        tcall_write_key(w, "warning");
        tcall_write_string(w, "a process it left behind could not be killed");
    }
    if (!run->boxed) {
        tcall_write_key(w, "not_held");
        tcall_write_string(w, "no sandbox: all files, the network and other "
                              "processes of its user were open to it, and "
                              "what it left behind may still run");
    }
    ttool_write_output_(w, run, most);
    tcall_write_close(w, '}');
}

/* It has ended, and there is neither a code nor a reason of ours. */
static int ttool_bash_lost_(tcall_ctx *cx, ttool_bash_ *run, tcall_writer *out)
{
    size_t len = run->total < 90 ? (size_t)run->total : 90;
    if (WIFSIGNALED(run->how))
        return ttool_fail_(cx, out, TCALL_E_FAILED, "",
                           "its sandbox was killed: too much memory, or from "
                           "outside\nLet it use less.");
    if (run->stopped == TTOOL_STOP_LIMITS_)
        return ttool_fail_(cx, out, TCALL_E_SERVICE, "",
                           "its limits cannot be kept here, so nothing ran"
                           "\nDo without programs.");
    while (len && run->kept[len - 1] == '\n')
        len--;
    ttool_write_content_(out, run->kept, len);
    return ttool_fail_(cx, out, TCALL_E_FAILED, "",
                       "\nUse another program, or do without.");
}

static int ttool_bash_result_(tcall_ctx *cx, ttool_bash_ *run,
                              tcall_writer *out)
{
    const ttool_shell *shell = (const ttool_shell *)cx->user;
    size_t room = out->cap - out->fill, most = run->keep;
    char text[80];
    tcall_str json = {text, 0};
    tcall_writer count;
    json.len = (size_t)snprintf(
        text, sizeof text, "{\"output_bytes\":%llu,\"cut\":%s}",
        (unsigned long long)run->total, run->total > most ? "true" : "false");
    tcall_set_result(cx, tcall_str_of(""), json);
    if (cx->stop < 0)
        return cx->stop;
    if (run->boxed && (!run->stopped || run->stopped == TTOOL_STOP_LIMITS_) &&
        ttool_bash_said_(run, "\"exit-code\":") < 0)
        return ttool_bash_lost_(cx, run, out);
    do { /* less of it, until all of the JSON fits */
        tcall_writer_init(&count, NULL, 0);
        ttool_write_ran_(&count, &shell->desc, run, most);
        most = count.len > room ? most - most / 4 - 1 : most;
    } while (count.len > room && most > 16);
    ttool_write_ran_(out, &shell->desc, run, most);
    return TCALL_OK;
}

/* -- A call --------------------------------------------------------------- */

/* Finds the directory of the call, as a path below /. */
static int ttool_bash_directory_(tcall_ctx *cx, ttool_workspace *ws,
                                 tcall_str path, char to[TTOOL_MAX_PATH],
                                 tcall_writer *out)
{
    ttool_place at;
    int r;
    ttool_begin_(ws);
    r = ttool_find_dir_(cx, ws, path, &at, out);
    if (r == TCALL_OK && snprintf(to, TTOOL_MAX_PATH, "%s/%s", ws->name,
                                  at.path) >= TTOOL_MAX_PATH)
        r = ttool_fail_errno_(cx, out, at.path, ENAMETOOLONG);
    return r;
}

/* Milliseconds that a call may take: what it asks for, within the limit and the
 * time that is left for it. */
static uint32_t ttool_bash_time_(tcall_ctx *cx, const ttool_shell_desc *d,
                                 tcall_json args)
{
    long ms = tcall_json_int(tcall_json_get(args, "timeout_ms"), 5000);
    int32_t left = tcall_time_left(cx);
    uint32_t most = ms < (long)d->max_ms ? (uint32_t)ms : d->max_ms;
    return most < (uint32_t)left ? most : (uint32_t)left;
}

static int ttool_bash_begin_(tcall_ctx *cx, ttool_bash_ *run, tcall_json args,
                             tcall_writer *out)
{
    ttool_shell *shell = (ttool_shell *)cx->user;
    const ttool_shell_desc *d = &shell->desc;
    char text[TTOOL_MAX_COMMAND + 1], program[512], directory[TTOOL_MAX_PATH];
    char *words[TTOOL_MAX_WORDS + 1];
    const char *why = "the command is too long\nMake it shorter.";
    const ttool_command *c;
    tcall_str command = tcall_json_str(tcall_json_get(args, "command"));
    ttool_launch_ l;
    size_t at = 0;
    int r;
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
    r = ttool_bash_directory_(cx, d->workspace, ttool_arg_(args, "workdir"),
                              directory, out);
    if (r < 0)
        return r;
    memset(&l, 0, sizeof l);
    l.shell = shell;
    l.program = program;
    l.directory = directory;
    l.words = words;
    l.limit = ttool_bash_time_(cx, d, args);
    l.boxed = *shell->bwrap != '\0';
    if (!l.boxed && d->sandbox == TTOOL_SANDBOX_REQUIRED)
        return ttool_fail_(cx, out, TCALL_E_SERVICE, "",
                           "this system has no sandbox, and without one "
                           "nothing runs here\nDo without programs.");
    shell->calls++;
    if (!ttool_bash_start_(run, &l))
        return ttool_fail_(cx, out, TCALL_E_SERVICE, words[0],
                           "could not be started\nTry again later.");
    return TCALL_OK;
}

static void ttool_bash_progress_(tcall_ctx *cx, ttool_bash_ *run)
{
    char text[64];
    tcall_str said = {text, 0};
    uint32_t now = ttool_sys_now_ms_();
    if (now - run->told < 1000)
        return;
    said.len =
        (size_t)snprintf(text, sizeof text, "bash: %lu s, %llu bytes of output",
                         (unsigned long)((now - run->began) / 1000),
                         (unsigned long long)run->total);
    run->told = now;
    tcall_progress(cx, said);
}

/* Waits for output and, where that has ended, for the program to end as well,
 * which comes soon. The disk is looked at now and then. */
static int ttool_bash_wait_(tcall_ctx *cx, const ttool_bash_ *run)
{
    bool ends = run->output < 0 || (run->boxed && run->status < 0);
    uint32_t spent = ttool_sys_now_ms_() - run->began;
    if (run->output >= 0)
        tcall_wait_handle(&cx->wait, run->output, TCALL_WAIT_READ);
    if (run->status >= 0 && run->said_len < sizeof run->said - 1)
        tcall_wait_handle(&cx->wait, run->status, TCALL_WAIT_READ);
    if (ends || run->stopped)
        return tcall_wait_ms(&cx->wait, ends ? 2 : 20);
    tcall_wait_ms(&cx->wait, spent < run->limit ? run->limit - spent : 0);
    return tcall_wait_ms(&cx->wait, TCALL_WAIT_POLL_MS);
}

static int ttool_bash_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const ttool_shell *shell = (const ttool_shell *)cx->user;
    ttool_bash_ *run = (ttool_bash_ *)tcall_scratch(
        cx, "bash", sizeof *run + shell->desc.keep);
    int r;
    if (!run)
        return TCALL_E_MEMORY;
    if (!run->pid) {
        run->keep = shell->desc.keep;
        ttool_title_(cx, "Run ", ttool_arg_(args, "command"));
        r = ttool_bash_begin_(cx, run, args, out);
        if (r < 0)
            return r;
    }
    if (cx->stop == 0 && !ttool_bash_step_(run, &shell->desc, cx)) {
        ttool_bash_progress_(cx, run);
        return ttool_bash_wait_(cx, run);
    }
    ttool_bash_end_(run, &shell->desc);
    return ttool_bash_result_(cx, run, out);
}

/* -- Setting up ----------------------------------------------------------- */

static uint32_t ttool_or_(uint32_t value, uint32_t usual)
{
    return value ? value : usual;
}

static void ttool_shell_defaults_(ttool_shell_desc *d)
{
    d->max_ms = ttool_or_(d->max_ms, 60000);
    d->max_output = ttool_or_(d->max_output, 16u << 20);
    d->keep = ttool_or_(d->keep, 65536) & ~1u;
    d->max_memory_mb = ttool_or_(d->max_memory_mb, 2048);
    d->max_file_mb = ttool_or_(d->max_file_mb, 256);
    d->max_disk_mb = ttool_or_(d->max_disk_mb, 1024);
    d->max_tmp_mb = ttool_or_(d->max_tmp_mb, 64);
    d->max_processes = ttool_or_(d->max_processes, 128);
    d->user = d->user ? d->user : 65534;
    if (d->cgroup)
        d->max_total_mb = ttool_or_(d->max_total_mb, d->max_memory_mb);
}

/* A limit that cannot be kept, in words, or NULL. */
static const char *ttool_shell_limits_(const ttool_shell_desc *d)
{
    uint64_t total = (uint64_t)d->max_memory_mb * d->max_processes;
    if (!d->cgroup && d->max_total_mb && total > d->max_total_mb)
        return "max_total_mb needs a cgroup, or max_memory_mb times "
               "max_processes no larger";
    if (!d->cgroup && d->keep_root && geteuid() == 0)
        return "processes of root are limited by a cgroup only: name one, or "
               "do without keep_root";
    return NULL;
}

/* Runs a program in the sandbox. NULL, or why that fails. */
static const char *ttool_shell_try_(ttool_shell *shell, ttool_bash_ *run,
                                    const char *program, char *const *words)
{
    ttool_launch_ l;
    memset(&l, 0, sizeof l);
    l.shell = shell;
    l.program = program;
    l.directory = shell->desc.workspace->name;
    l.words = words;
    l.limit = 5000;
    l.boxed = l.trial = true;
    memset(run, 0, sizeof *run);
    run->keep = 256;
    if (!ttool_bash_start_(run, &l))
        return shell->desc.cgroup ? "its cgroup has no limits to set, or it "
                                    "could not be started"
                                  : "it could not be started";
    while (!ttool_bash_step_(run, &shell->desc, NULL))
        (void)poll(NULL, 0, 1);
    ttool_bash_end_(run, &shell->desc);
    if (ttool_bash_said_(run, "\"exit-code\":") == 0)
        return NULL;
    run->kept[run->total < run->keep ? (size_t)run->total : run->keep - 1] =
        '\0';
    run->kept[strcspn(run->kept, "\n")] = '\0';
    return run->stopped ? "limits cannot be set here" : run->kept;
}

static const char *ttool_shell_box_(ttool_shell *shell, ttool_bash_ *run)
{
    char bwrap[] = "bwrap", version[] = "--version";
    char *words[] = {bwrap, version, NULL};
    ttool_command command = {"bwrap", shell->desc.bwrap, NULL, NULL};
    if (TTOOL_ARCH_ == 0)
        return "there is no list of system calls for this machine";
    if (!ttool_program_(&command, shell->bwrap, sizeof shell->bwrap))
        return "bwrap is not installed (package bubblewrap)";
    return ttool_shell_try_(shell, run, "/bwrap", words);
}

/* Landlock on top, where setpriv and the kernel know it. */
static void ttool_shell_landlock_(ttool_shell *shell, ttool_bash_ *run)
{
    const ttool_shell_desc *d = &shell->desc;
    char setpriv[] = "setpriv", option[] = "--landlock-access",
         right[] = "fs:execute", version[] = "--version";
    char *words[] = {setpriv, option, right, version, NULL};
    ttool_command command = {"setpriv", d->setpriv, NULL, NULL};
    bool wanted = !d->any_program;
    size_t i;
    for (i = 0; i < d->command_count; i++)
        wanted = wanted && !d->commands[i].program;
    if (!wanted ||
        !ttool_program_(&command, shell->setpriv, sizeof shell->setpriv) ||
        ttool_shell_try_(shell, run, "/setpriv", words))
        shell->setpriv[0] = '\0';
}

static void ttool_shell_describe_(ttool_shell *shell)
{
    tcall_writer w;
    size_t i;
    tcall_writer_init(&w, shell->description, sizeof shell->description - 1);
    tcall_write_text(&w, ttool_shell_tools[0].description);
    tcall_write_text(&w, " Programs:");
    for (i = 0; i < shell->desc.command_count; i++) {
        tcall_write_text(&w, " ");
        tcall_write_text(&w, shell->desc.commands[i].name);
    }
}

int ttool_shell_init(ttool_shell *shell, const ttool_shell_desc *desc)
{
    ttool_shell_desc *d = &shell->desc;
    union {
        ttool_bash_ run;
        char memory[sizeof(ttool_bash_) + 256];
    } trial;
    const char *why = NULL;
    memset(shell, 0, sizeof *shell);
    *d = *desc;
    if (!d->workspace || !d->command_count)
        return TCALL_E_USAGE;
    ttool_shell_defaults_(d);
    ttool_shell_describe_(shell);
    if (d->sandbox == TTOOL_SANDBOX_REQUIRED)
        why = ttool_shell_limits_(d);
    if (!why && d->sandbox != TTOOL_SANDBOX_NONE)
        why = ttool_shell_box_(shell, &trial.run);
    if (why || d->sandbox == TTOOL_SANDBOX_NONE)
        shell->bwrap[0] = '\0';
    if (!why && *shell->bwrap)
        ttool_shell_landlock_(shell, &trial.run);
    if (!why)
        return TCALL_OK;
    snprintf(shell->refusal, sizeof shell->refusal,
             "no programs run without a sandbox: %s", why);
    return d->sandbox == TTOOL_SANDBOX_REQUIRED ? TCALL_E_SERVICE : TCALL_OK;
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
