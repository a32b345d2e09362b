/*
 * pattern.h - regular expressions as grep has them, and globs
 *
 *     ttool_pattern p;
 *     r = ttool_pattern_compile(&p, text, TTOOL_LINES, memory, sizeof memory);
 *     r < 0: p.reason at p.at
 *     end = ttool_pattern_find(&p, bytes, bytes + n);
 *
 * Both are written as a pattern of toolcall.h (see >>pattern there for the
 * syntax), which searches in linear time. What grep and Perl have besides: []a]
 * and [[:alpha:]], a { that begins no count is itself, a{,3}, \A \z \Z \< \>
 * \h, and (?i), (?m), (?s) or several of them at the start. The rest of Perl is
 * refused by its name. Of a
 * glob: * and ? within a name, ** over directories, [a-z], [!a], {a,b}; a
 * leading dot is a character like any other.
 */
#ifndef TTOOL_PATTERN_H
#define TTOOL_PATTERN_H

#include "toolcall.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory for every pattern that is not too large. Less may do for some. */
#define TTOOL_PATTERN_MEMORY (TOOLCALL_MAX_PATTERN * 17 + 8192 + 16)

/* Of the text that each match holds, as much as is looked for. */
#define TTOOL_HELD 32

enum {
    TTOOL_LINES = 1, /* text is lines: ^ and $ are their ends */
    TTOOL_GLOB = 2,  /* of paths; the whole must match */
    TTOOL_FOLD = 4   /* A to Z are a to z */
};

typedef struct ttool_pattern {
    const char *reason; /* why it was refused, or NULL */
    size_t at;          /* where in the text */
    /* private */
    unsigned flags;
    tcall_pattern pattern;
    tcall_search search;
    char rest[4]; /* of a character that the last piece cut */
    size_t rest_len;
    char held[TTOOL_HELD]; /* a text that each match holds */
    size_t held_len;
    size_t reach; /* most bytes of a match before it; SIZE_MAX: any number */
} ttool_pattern;

/* Compiles a pattern. Returns TCALL_OK, TCALL_E_INVALID with reason and at, or
 * TCALL_E_MEMORY. p and memory belong together, and must not move. */
int ttool_pattern_compile(ttool_pattern *p, tcall_str text, unsigned flags,
                          void *memory, size_t size);
/* Returns where the first match in [from, to) ends, as early as that is
 * certain, or NULL; with TTOOL_LINES it lies in one line. */
const char *ttool_pattern_find(ttool_pattern *p, const char *from,
                               const char *to);
/* Returns where the text that each match holds comes next, or NULL: then
 * nothing matches. */
const char *ttool_pattern_held(const ttool_pattern *p, const char *from,
                               const char *to);
/* The same as find for a line that comes in pieces; ends: this one is its last.
 * p is not used for anything else between them. */
const char *ttool_pattern_piece(ttool_pattern *p, const char *from,
                                const char *to, bool begins, bool ends);

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_PATTERN_H */
