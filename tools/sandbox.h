/*
 * sandbox.h - a program in its sandbox, from its start to its end
 *
 * See shell.h for what the sandbox keeps. There is nothing here for programs to
 * use.
 */
#ifndef TTOOL_SANDBOX_H
#define TTOOL_SANDBOX_H

#include "tools/shell.h"
#include "tools/text.h"

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
    bool failed;      /* the options could not be written */
    int group;        /* its cgroup.procs, or -1 */
    int args, filter; /* where bwrap's options and its filter are written to */
    int fd[TTOOL_FDS_];
} ttool_launch_;

enum {
    TTOOL_STOP_TIME_ = 1,
    TTOOL_STOP_OUTPUT_,
    TTOOL_STOP_DISK_,
    TTOOL_STOP_FILES_,
    TTOOL_STOP_MEMORY_,
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
    int reaps;      /* whether orphans came to the host before */
    uint64_t total; /* bytes of output */
    uint64_t disk_mb, files, available_mb; /* when it began */
    int own[2];       /* /tmp and /dev/shm of the sandbox */
    ttool_held_ held; /* of what was emitted */
    size_t said_len;
    char said[768];             /* by bwrap */
    char group[TTOOL_MAX_PATH]; /* its cgroup; may be empty */
    size_t keep;
    char kept[1]; /* and more: the head, then the tail, as a ring */
} ttool_bash_;

/* The path of its program; false when there is none. */
bool ttool_program_(const ttool_command *c, char *path, size_t cap);
/* Whether it has been started; if not, nothing is left of it. */
bool ttool_bash_start_(ttool_bash_ *run, ttool_launch_ *l);
/* A number that bwrap reported, or -1. */
int ttool_bash_said_(const ttool_bash_ *run, const char *key);
/* Does what there is to do. True: it has ended, or has to. */
bool ttool_bash_step_(ttool_bash_ *run, const ttool_shell_desc *d,
                      tcall_ctx *cx);
/* MB that all of it may take together where there is no cgroup. */
uint64_t ttool_total_mb_(const ttool_bash_ *run, const ttool_shell_desc *d);
/* Ends what still runs, and gives everything back. */
void ttool_bash_end_(ttool_bash_ *run, const ttool_shell_desc *d);

/* -- Whether there is one ------------------------------------------------- */

/* A limit that cannot be kept, in words, or NULL. */
const char *ttool_shell_limits_(const ttool_shell_desc *d);
const char *ttool_shell_box_(ttool_shell *shell, ttool_bash_ *run);
/* Landlock on top, where setpriv and the kernel know it. */
void ttool_shell_landlock_(ttool_shell *shell, ttool_bash_ *run);

#endif /* TTOOL_SANDBOX_H */
