/*
 * walk.h - going through the directories of a workspace, for the tools
 *
 * What files.h and shell.h share: visiting what is below a directory, and
 * finding what an argument names, or what it may have meant. There is nothing
 * here for programs to use.
 */
#ifndef TTOOL_WALK_H
#define TTOOL_WALK_H

#include "tools/pattern.h"
#include "tools/place.h"

enum { TTOOL_FILE_ = 'a', TTOOL_LINK_TO_, TTOOL_OTHER_, TTOOL_DIR_ };

/* A directory that is open. */
typedef struct ttool_level_ {
    char **entries; /* type and name of each */
    size_t count, next, path_len;
    char *low, *high; /* memory to give back */
    size_t spare;     /* bytes to leave to those below */
    bool more;        /* there are others, */
    int64_t offset;   /* which come after this place */
} ttool_level_;

/* Visits what is below a directory: of each directory its files first, then
 * its directories, both by name. Memory holds the names of the directories
 * that are open, and no handle but ws->dir, of the directory at hand while
 * its files are visited. A directory that is too large for the memory is
 * visited in parts, as the system lists it; each of them is in this order. */
typedef struct ttool_walk_ {
    ttool_workspace *ws;
    tcall_ctx *cx;
    ttool_pattern *only; /* files that do not match are left out */
    bool by_name;        /* only is held against the name, not the path */
    bool secrets;        /* also these files */
    int max_depth;
    /* the entry at hand */
    char path[TTOOL_MAX_PATH]; /* from the root of the workspace */
    const char *name;          /* in it */
    char type;
    int depth;   /* 0: directly in the directory where the walk began */
    bool paused; /* no entry, as the piece of work is done */
    /* what became of it all */
    uint64_t seen; /* entries */
    size_t secret; /* files that were left out */
    bool no_memory, no_time, too_deep, unreadable;
    bool escaped; /* a name was, when it was written */
    /* private */
    size_t base; /* length of the path where it began, with the slash */
    char *buffer;
    bool reading; /* the names of the deepest level */
    ttool_level_ level[TTOOL_MAX_DEPTH];
    bool enter; /* the directory at hand is next */
} ttool_walk_;

/* {"count":5,"cut":true}: what is shown, and whether that is not all. */
void ttool_counted_(tcall_ctx *cx, uint64_t count, bool cut);
/* Heap sort: no memory, no bad case. Elements of up to 32 bytes. */
void ttool_sort_(void *base, size_t n, size_t size,
                 int (*order)(const void *, const void *));
/* The next entry. False: there is none, or not yet, if w->paused. */
bool ttool_walk_next_(ttool_walk_ *w);
/* A walk below a normal path, which is a directory; false: no memory. */
bool ttool_walk_start_(ttool_walk_ *w, tcall_ctx *cx, ttool_workspace *ws,
                       const char *path);
void ttool_notice_(tcall_writer *out, const char *text);
/* What the search did not look at. */
int ttool_walk_end_(const ttool_walk_ *w, tcall_writer *out, uint64_t shown,
                    bool cut);
/* A path that should be there, and is not. */
int ttool_missing_(tcall_ctx *cx, ttool_workspace *ws, tcall_writer *out,
                   const char *given, const ttool_place *at, char type);
/* Finds what is there to be looked at: something that exists, and should be of
 * this type, 0 any. */
int ttool_find_there_(tcall_ctx *cx, ttool_workspace *ws, tcall_str path,
                      char type, ttool_place *at, tcall_writer *out);
int ttool_find_dir_(tcall_ctx *cx, ttool_workspace *ws, tcall_str path,
                    ttool_place *at, tcall_writer *out);
/* A regular file that may be read, perhaps after a yes. */
int ttool_find_file_(tcall_ctx *cx, tcall_str path, ttool_place *at,
                     tcall_writer *out);
/* Fails where a file has several names: see workspace.h. */
int ttool_one_name_(tcall_ctx *cx, const ttool_place *at, tcall_writer *out);

#endif /* TTOOL_WALK_H */
