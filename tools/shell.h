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
 * Linux 5.3, user namespaces, bubblewrap 0.8.
 */
#ifndef TTOOL_SHELL_H
#define TTOOL_SHELL_H

#include "tools/workspace.h"

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
                               end, in the block; 256 to max_output, default
                               64 KB */
    uint32_t max_memory_mb; /* of each process; default 2048 */
    /* Of all processes together. A cgroup holds it; default max_memory_mb.
     * Without one it is what the memory of this machine may shrink by during a
     * call, whoever does it, looked at with each poll of the call: at most, and
     * by default, half of what was available when the call began. */
    uint32_t max_total_mb;
    uint32_t max_file_mb; /* of each file; default 256 */
    /* What the disk of the workspace may fill by during a call, whoever does
     * it; default 1024. It is looked at with each poll of the call. */
    uint32_t max_disk_mb;
    /* Files that a call may make, in /tmp, /dev/shm and on the disk of the
     * workspace, whoever does it; default 65,536. Looked at likewise. */
    uint32_t max_files;
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
