/*
 * workspace.h - a directory that tools may work in, and nothing beside it
 *
 *     static char memory[TTOOL_MEMORY];
 *     static ttool_workspace ws;
 *     ttool_workspace_open(&ws, &(ttool_workspace_desc){
 *         .root = ".", .memory = memory, .memory_size = sizeof memory});
 *     n = ttool_rows(rows, ttool_file_tools, TTOOL_FILE_TOOLS, &ws);
 *
 * The root is opened once; whatever a model names is opened relative to that
 * handle, by openat2 with RESOLVE_BENEATH, or component by component where the
 * kernel has none. The kernel never follows a symbolic link for us: links are
 * read and taken apart here, as text, and what that gives is opened again
 * without following any. So the path that is judged (secret? outside?) is the
 * path that is opened, and a link that changes meanwhile makes an error, never
 * an escape. Only regular files are opened, and never so that it blocks.
 *
 * Files change by temporary file, fsync, rename, fsync of the directory: power
 * loss or a full disk leaves the old or the new content. What a killed process
 * leaves of it goes when its workspace is opened again. A file that is there
 * must have been read with the content that it has.
 *
 * The same rules hold for reading and for writing:
 *   permissions   The system's: what the process may not open for reading is
 *                 not read, what it may not open for writing is not replaced.
 *   owners        A file that is replaced keeps owner, group and mode, or is
 *                 left as it is. Extended attributes and ACLs are not kept.
 *   hard links    A file with several names may belong to somebody outside: it
 *                 is neither read nor written, unless desc.hard_links is set.
 *                 Then a write gives one name a file of its own.
 *   mounts        What is mounted below the root belongs to the workspace. A
 *                 single file that is mounted cannot be replaced.
 *   sizes         A file is as long as it was when it was opened; one that
 *                 grows is read that far. One without a size, as in /proc, is
 *                 read as far as it goes within the memory.
 * A read from a file system that does not answer (NFS, FUSE) waits as long as
 * the kernel does: mount such file systems so that they give up.
 *
 * Searches are done in pieces: a call looks at some hundred files, answers
 * TCALL_E_AGAIN, and goes on when it is invoked again. Another search waits
 * until it has ended; what takes no time is done in between.
 *
 * Linux. No heap: what one call needs is in desc.memory, so a workspace serves
 * one thread.
 */
#ifndef TTOOL_WORKSPACE_H
#define TTOOL_WORKSPACE_H

#include "tools/seen.h"
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory with which all works. Files can be edited that take up to a quarter of
 * it: give more where they are larger. */
#define TTOOL_MEMORY (256 * 1024)

/* Longest path, below the root and with the NUL. */
#define TTOOL_MAX_PATH 4096
/* Levels of directories that a search goes down. */
#define TTOOL_MAX_DEPTH 64
/* Files whose content is remembered as read. */
#define TTOOL_MAX_SEEN 256

/* What changes files, and what tests replace. As the system calls of these
 * names: -1 and errno. */
typedef struct ttool_sys {
    int (*openat2)(int dir, const char *path, uint64_t flags, uint64_t resolve);
    int (*create)(int dir, const char *name, unsigned mode);
    ssize_t (*write)(int fd, const void *bytes, size_t len);
    int (*fsync)(int fd);
    int (*close)(int fd);
    int (*rename)(int dir, const char *from, const char *to, unsigned flags);
    int (*unlink)(int dir, const char *name);
    int (*mkdir)(int dir, const char *name, unsigned mode);
    uint32_t (*now_ms)(void); /* monotonic, wraps */
} ttool_sys;

/* The system itself. */
extern const ttool_sys ttool_linux;

typedef struct ttool_workspace_desc {
    const char *root; /* a directory; neither / nor the home directory */
    void *memory;
    size_t memory_size;   /* TTOOL_MEMORY or more */
    uint32_t max_ms;      /* of one search; default 10,000 */
    uint32_t max_tokens;  /* of one result; default 16,000 */
    bool blind_writes;    /* files may be written without having been read */
    bool hard_links;      /* files with several names are read and written */
    const ttool_sys *sys; /* default: ttool_linux */
} ttool_workspace_desc;

/* private: what a call has of the workspace */
typedef struct ttool_work_ {
    char *low, *high;       /* free memory */
    tcall_writer text;      /* output of a call that is done in pieces */
    size_t streamed;        /* bytes of the output that were told as chunks */
    uint32_t started, told; /* when */
    uint32_t budget;        /* work that is left of the piece */
} ttool_work_;

typedef struct ttool_workspace {
    ttool_workspace_desc desc;
    ttool_files files; /* that were read and written, by path below the root */
    /* private */
    int root;      /* its handle */
    bool stepwise; /* there is no openat2 */
    char name[TTOOL_MAX_PATH];
    size_t name_len;
    ttool_work_ at;     /* the call at work */
    ttool_work_ kept;   /* the one that has answered TCALL_E_AGAIN */
    void *long_call;    /* its state; NULL: there is none */
    uint32_t turn;      /* its number, which the call knows */
    int dir, file;      /* handles that it holds, or -1 */
    unsigned temporary; /* files so far */
    ttool_file seen[TTOOL_MAX_SEEN];
} ttool_workspace;

/* TCALL_OK; TCALL_E_USAGE: too little memory; TCALL_E_DENIED: such a root is
 * not taken; TCALL_E_NOT_FOUND: there is no such directory. */
int ttool_workspace_open(ttool_workspace *ws, const ttool_workspace_desc *desc);
void ttool_workspace_close(ttool_workspace *ws);

/* Copies rows of a table of tools, with the user that they work for. Returns
 * count. */
size_t ttool_rows(tcall_tool *to, const tcall_tool *table, size_t count,
                  void *user);

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_WORKSPACE_H */
