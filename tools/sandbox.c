/* sandbox.c - see sandbox.h */
#include "tools/gnu.h"

#include "tools/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Milliseconds between TERM and KILL, and for the sandbox to be gone then. */
enum { TTOOL_GRACE_MS_ = 200, TTOOL_SWEEP_MS_ = 5000 };

bool ttool_program_(const ttool_command *c, char *path, size_t cap)
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
        if (write(l->args, words[i], len) != (ssize_t)len)
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

/* Bytes of /tmp, and of /dev/shm. */
static uint64_t ttool_tmp_size_(const ttool_shell_desc *d)
{
    return (uint64_t)d->max_tmp_mb << 20;
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
             (unsigned long long)ttool_tmp_size_(d));
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

static uint64_t ttool_inodes_(int fd)
{
    struct statvfs v;
    return fstatvfs(fd, &v) == 0 ? v.f_files - v.f_ffree : 0;
}

/* Files on the disk of the workspace, and in what the sandbox has of its own.
 */
static uint64_t ttool_files_(const ttool_bash_ *run, const ttool_shell_desc *d)
{
    uint64_t n = ttool_inodes_(d->workspace->root);
    int i;
    for (i = 0; i < 2; i++)
        n += run->own[i] >= 0 ? ttool_inodes_(run->own[i]) : 0;
    return n;
}

/* MB of memory that this machine can still give; 0: it does not say. */
static uint64_t ttool_available_mb_(void)
{
    static const char name[] = "MemAvailable:";
    char text[512];
    int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    const char *at;
    ttool_drop_(&fd);
    text[n > 0 ? n : 0] = '\0';
    at = strstr(text, name);
    return at ? strtoull(at + sizeof name - 1, NULL, 10) >> 10 : 0;
}

/* What all processes may take together where no cgroup counts: at most half of
 * what there was when they began. */
uint64_t ttool_total_mb_(const ttool_bash_ *run, const ttool_shell_desc *d)
{
    uint64_t most = run->available_mb / 2;
    return d->max_total_mb && d->max_total_mb < most ? d->max_total_mb : most;
}

/* The limit on what all of it takes that is reached, or 0. */
static uint8_t ttool_over_(const ttool_bash_ *run, const ttool_shell_desc *d)
{
    if (ttool_disk_mb_(d) > run->disk_mb + d->max_disk_mb)
        return TTOOL_STOP_DISK_;
    if (ttool_files_(run, d) > run->files + d->max_files)
        return TTOOL_STOP_FILES_;
    if (!d->cgroup && run->available_mb &&
        ttool_available_mb_() + ttool_total_mb_(run, d) < run->available_mb)
        return TTOOL_STOP_MEMORY_;
    return 0;
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
    if (!ttool_pipe_(&run->status, &l->fd[TTOOL_FD_STATUS_]) ||
        !ttool_pipe_(&l->fd[TTOOL_FD_HOLD_], &run->hold) ||
        !ttool_pipe_(&l->fd[TTOOL_FD_ARGS_], &l->args) ||
        !ttool_pipe_(&l->fd[TTOOL_FD_FILTER_], &l->filter))
        return false;
    (void)fcntl(run->status, F_SETFL, O_NONBLOCK);
    /* pipes have room for all of it, and no limit on files counts for them */
    (void)fcntl(l->args, F_SETFL, O_NONBLOCK);
    (void)fcntl(l->filter, F_SETFL, O_NONBLOCK);
    ttool_filter_make_(&filter);
    size = filter.len * sizeof *filter.code;
    ttool_options_(l);
    return !l->failed && write(l->filter, filter.code, size) == (ssize_t)size;
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

/* bwrap may end before what it began: that comes to this process then, not to
 * an init that may reap nothing. */
static void ttool_bash_adopt_(ttool_bash_ *run)
{
    (void)prctl(PR_GET_CHILD_SUBREAPER, &run->reaps);
    (void)prctl(PR_SET_CHILD_SUBREAPER, run->boxed || run->reaps);
}

/* Reaps what came so: all of it was killed. */
static void ttool_bash_orphans_(const ttool_bash_ *run)
{
    uint32_t began = ttool_linux.now_ms();
    if (run->inside)
        (void)waitpid(run->inside, NULL, WNOHANG);
    while (run->boxed && run->ended && waitpid(-run->pid, NULL, WNOHANG) >= 0 &&
           ttool_linux.now_ms() - began < TTOOL_SWEEP_MS_)
        (void)poll(NULL, 0, 1);
    (void)prctl(PR_SET_CHILD_SUBREAPER, run->reaps);
}

bool ttool_bash_start_(ttool_bash_ *run, ttool_launch_ *l)
{
    const ttool_shell_desc *d = &l->shell->desc;
    bool good;
    int i;
    run->output = run->status = run->hold = run->handle = -1;
    l->group = l->args = l->filter = -1;
    for (i = 0; i < TTOOL_FDS_; i++)
        l->fd[i] = -1;
    run->boxed = l->boxed;
    run->limit = l->limit;
    run->began = run->told = ttool_linux.now_ms();
    run->own[0] = run->own[1] = -1;
    run->disk_mb = ttool_disk_mb_(d);
    run->files = ttool_files_(run, d);
    run->available_mb = ttool_available_mb_();
    ttool_bash_adopt_(run);
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
    ttool_drop_(&l->args);
    ttool_drop_(&l->filter);
    if (!good) {
        ttool_bash_orphans_(run);
        ttool_drop_(&run->output);
        ttool_drop_(&run->status);
        ttool_drop_(&run->hold);
        if (*run->group)
            rmdir(run->group);
    }
    return good;
}

int ttool_bash_said_(const ttool_bash_ *run, const char *key)
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
}

/* Opens a directory that the sandbox has of its own, to count what is in it. */
static bool ttool_bash_own_(ttool_bash_ *run, const ttool_shell_desc *d, int i)
{
    static const char *const names[] = {"tmp", "dev/shm"};
    char path[64];
    struct statfs fs;
    if (run->own[i] >= 0)
        return true;
    snprintf(path, sizeof path, "/proc/%ld/root/%s", (long)run->inside,
             names[i]);
    run->own[i] = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    /* until it is made that is the host's */
    if (run->own[i] >= 0 &&
        (fstatfs(run->own[i], &fs) != 0 || fs.f_type != TMPFS_MAGIC ||
         (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize != ttool_tmp_size_(d)))
        ttool_drop_(&run->own[i]);
    return run->own[i] >= 0;
}

/* It goes on when all is there by which it is held. */
static void ttool_bash_release_(ttool_bash_ *run, const ttool_shell_desc *d)
{
    if (run->inside && run->hold >= 0 && !run->stopped &&
        ttool_bash_own_(run, d, 0) && ttool_bash_own_(run, d, 1))
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

/* bwrap may be killed while it makes the sandbox, by its alarm on a busy
 * machine. The process it has begun would wait for it for ever: that is in its
 * group, whose number is nobody else's before bwrap is reaped. */
static void ttool_bash_sweep_(const ttool_bash_ *run, int options)
{
    siginfo_t info;
    int r;
    memset(&info, 0, sizeof info);
    do
        r = waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOWAIT | options);
    while (r < 0 && errno == EINTR);
    if (info.si_pid)
        kill(-run->pid, SIGKILL);
}

static void ttool_bash_reap_(ttool_bash_ *run, int options)
{
    pid_t pid;
    if (run->ended)
        return;
    if (run->boxed)
        ttool_bash_sweep_(run, options);
    do
        pid = waitpid(run->pid, &run->how, options);
    while (pid < 0 && errno == EINTR);
    run->ended = pid != 0; /* or the host ignores SIGCHLD: nothing to reap */
}

bool ttool_bash_step_(ttool_bash_ *run, const ttool_shell_desc *d,
                      tcall_ctx *cx)
{
    uint32_t spent;
    /* whether it had ended before the last of its output was read */
    ttool_bash_reap_(run, WNOHANG);
    ttool_bash_listen_(run, d);
    ttool_bash_release_(run, d);
    ttool_bash_take_(run, d, cx);
    spent = ttool_linux.now_ms() - run->began;
    if (run->ended || run->stopped)
        return run->ended || run->stopped != TTOOL_STOP_TIME_ ||
               spent >= run->limit + TTOOL_GRACE_MS_;
    run->stopped = ttool_over_(run, d);
    if (!run->stopped && spent >= run->limit)
        run->stopped = TTOOL_STOP_TIME_;
    if (run->stopped == TTOOL_STOP_TIME_ && !run->warned)
        ttool_bash_ask_(run);
    return run->stopped && run->stopped != TTOOL_STOP_TIME_;
}

/* Kills the first process of the sandbox, and the kernel all others with it;
 * it is not gone before they are. bwrap reaps it, then ends. */
static void ttool_bash_kill_(ttool_bash_ *run)
{
    uint32_t began = ttool_linux.now_ms();
    struct pollfd p;
    (void)syscall(424 /* pidfd_send_signal */, run->handle, SIGKILL, NULL, 0);
    p.fd = run->handle;
    p.events = POLLIN;
    run->survived = poll(&p, 1, TTOOL_SWEEP_MS_) <= 0;
    while (!run->ended && ttool_linux.now_ms() - began < TTOOL_SWEEP_MS_) {
        ttool_bash_reap_(run, WNOHANG);
        (void)poll(NULL, 0, !run->ended);
    }
}

void ttool_bash_end_(ttool_bash_ *run, const ttool_shell_desc *d)
{
    uint32_t began = ttool_linux.now_ms();
    while (run->boxed && !run->inside && !run->ended &&
           ttool_linux.now_ms() - began < TTOOL_SWEEP_MS_)
        (void)(ttool_bash_step_(run, d, NULL) || poll(NULL, 0, 1));
    if (*run->group)
        (void)ttool_group_set_(run->group, "cgroup.kill", 1);
    if (run->handle >= 0)
        ttool_bash_kill_(run);
    if (!run->ended || !run->boxed)
        kill(-run->pid, SIGKILL);
    ttool_bash_reap_(run, 0);
    ttool_bash_orphans_(run);
    ttool_bash_listen_(run, d);
    ttool_bash_take_(run, d, NULL);
    ttool_drop_(&run->output);
    ttool_drop_(&run->status);
    ttool_drop_(&run->hold);
    ttool_drop_(&run->handle);
    ttool_drop_(&run->own[0]);
    ttool_drop_(&run->own[1]);
    if (*run->group)
        rmdir(run->group);
    run->pid = 0;
    if (run->boxed && WIFSIGNALED(run->how) && WTERMSIG(run->how) == SIGALRM)
        run->stopped = TTOOL_STOP_TIME_;
}

/* -- Whether there is one ------------------------------------------------- */

const char *ttool_shell_limits_(const ttool_shell_desc *d)
{
    if (!d->cgroup && !ttool_available_mb_())
        return "the memory of all processes cannot be measured without "
               "/proc/meminfo: max_total_mb needs a cgroup";
    if (!d->cgroup && d->keep_root && geteuid() == 0)
        return "processes of root are limited by a cgroup only: name one, or "
               "do without keep_root";
    return NULL;
}

/* Runs a program in the sandbox. NULL, or why that fails. */
static const char *ttool_shell_try_(ttool_shell *shell, ttool_bash_ *run,
                                    const char *program, char *const *words)
{
    ttool_shell_desc d = shell->desc;
    ttool_launch_ l;
    d.max_output = UINT32_MAX; /* that limit is for programs */
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
    while (!ttool_bash_step_(run, &d, NULL))
        (void)poll(NULL, 0, 1);
    ttool_bash_end_(run, &d);
    if (ttool_bash_said_(run, "\"exit-code\":") == 0)
        return NULL;
    run->kept[run->total < run->keep ? (size_t)run->total : run->keep - 1] =
        '\0';
    run->kept[strcspn(run->kept, "\n")] = '\0';
    return run->stopped ? "limits cannot be set here" : run->kept;
}

const char *ttool_shell_box_(ttool_shell *shell, ttool_bash_ *run)
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

void ttool_shell_landlock_(ttool_shell *shell, ttool_bash_ *run)
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
