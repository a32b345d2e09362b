#pragma once
#include "write.h"

/* ==========================================================================
 * >>pattern: regular expressions
 *
 * A pattern is compiled to a small program, which is run over a text with all
 * of its states at once: a character costs time in proportion to the size of
 * the pattern, whatever both are, and nothing is ever tried a second time.
 *
 * The syntax is that of ECMA-262 without what has no linear time:
 *   . ^ $ \b \B (a|b) (?:a) [a-z] [^a-z] \d \w \s \D \W \S \t \n \r \f \v \0
 *   \xHH \uHHHH a* a+ a? a{2} a{2,} a{2,5}, and lazy forms of these
 * Look-around, back references, \p and named groups are refused, and so are
 * more than 6 groups within each other. Characters are code points; . does not
 * match the ends of lines.
 */

/* One step of the program of a pattern or a schema: 8 bytes, no pointers, free
 * to be moved. */
typedef struct tcall_node_ {
    uint32_t word; /* what, and where it comes from */
    uint32_t arg;
} tcall_node_;

/* Size of a pattern: its characters, counted repetitions written out; at most
 * 4,000. */
#ifndef TOOLCALL_MAX_PATTERN
#define TOOLCALL_MAX_PATTERN 1024
#endif

/* Flags of a pattern. */
enum {
    TCALL_PATTERN_FOLD = 1,   /* A to Z are a to z */
    TCALL_PATTERN_ESCAPED = 2 /* the text is the content of a JSON string */
};

/* A compiled pattern. */
typedef struct tcall_pattern {
    const char *reason; /* why it was refused, or NULL */
    size_t at;          /* where in its text */
    size_t need;        /* bytes of its program */
    /* private */
    const tcall_node_ *program;
    uint32_t count; /* of nodes */
    uint32_t states;
    unsigned flags;
} tcall_pattern;

/* One text that is searched. Zero begins a new one. */
typedef struct tcall_search {
    void *memory; /* tcall_pattern_memory(pattern) bytes */
    /* private */
    int32_t before; /* the last character */
    bool begun;
} tcall_search;

/* Compiles a pattern into mem, which is aligned to 4 and stays. Returns the
 * bytes used, TCALL_E_MEMORY (out->need bytes do; mem may be NULL, size 0, to
 * ask), or TCALL_E_INVALID with out->reason and out->at. */
TCALL_API int tcall_pattern_compile(tcall_pattern *out, tcall_str text,
                                    unsigned flags, void *mem, size_t size);
/* Returns how many bytes of memory a search takes. */
TCALL_API size_t tcall_pattern_memory(const tcall_pattern *pattern);
/* Searches the next piece of a text, which holds whole characters; last: the
 * text ends with it. Returns where the first match ends, as early as that is
 * certain, or NULL: none yet. Bytes that are no UTF-8 are matched by [^...]
 * only. */
TCALL_API const char *tcall_pattern_find(const tcall_pattern *pattern,
                                         tcall_search *search, tcall_str piece,
                                         bool last);

/* Private: see tcall_patterns. */
struct tcall_patterns_ {
    int (*compile)(tcall_pattern *out, tcall_str text, unsigned flags,
                   void *mem, size_t size);
    size_t (*memory)(const tcall_pattern *pattern);
    const char *(*find)(const tcall_pattern *pattern, tcall_search *search,
                        tcall_str piece, bool last);
};

/* Reads patterns of schemas: tcall_desc.patterns is this where a schema has
 * some. */
#ifndef TOOLCALL_STATIC
TCALL_API const struct tcall_patterns_ tcall_patterns;
#endif
