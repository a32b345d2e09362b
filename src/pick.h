#pragma once
#include "tools.h"

/* ==========================================================================
 * >>pick: the right few tools for an input
 *
 * Tools are ranked by the words they share with the input, rare words counting
 * most (BM25F). Nothing is learned or stored, nothing runs, and equal tools
 * keep the order of registration. Other ways to score can take part.
 */

/* One of several ways to score: 0 to 1000, or < 0 when it cannot tell. Name one
 * whose score is NULL for the built-in one. All weights together: 4095. */
typedef struct tcall_scorer {
    const char *name;
    int (*score)(void *user, tcall_str input, const tcall_tool *tool,
                 size_t index);
    void *user;
    uint8_t weight; /* in the mean of all scorers; default 1 */
    uint8_t top;    /* sees only so many of the best so far, from which the
                       picks are then taken; default 0: it sees all tools */
} tcall_scorer;

struct tcall_picked;
struct tcall_ranking_;

/* Made by tcall_pick_index. */
typedef struct tcall_index tcall_index;
struct tcall_query_;
struct tcall_entry_;
struct tcall_row_;
struct tcall_index { /* private */
    size_t tools, synonym_count;
    uint32_t row_count;
    const uint32_t *synonyms;
    const struct tcall_row_ *rows;
    const struct tcall_entry_ *words;
    const uint32_t *postings;
    void (*widen)(struct tcall_query_ *q, const tcall_index *index);
    void (*read)(struct tcall_ranking_ *k);
};

/* Zero is the default of each. */
typedef struct tcall_pick_opts {
    uint8_t max;        /* tools to pick beside the pinned ones; default 3 */
    uint16_t min_score; /* thousandths; default 50 */
    uint8_t relative;   /* percent of the best score that others need */
    uint8_t allow;      /* permissions given; default: the registry's */
    bool allow_unsafe;  /* also tools that do more than read */
    bool streaming;     /* only tools that stream */
    bool stable;        /* picks in the order of registration, so that what is
                           sent to a model changes little; default: by score */
    uint16_t roles;     /* of the user: tool->roles must have one of them */
    uint16_t max_cost;  /* no tool that costs more; default: any */
    uint16_t groups;    /* enabled, of tool->groups; default: all */
    /* Default: the built-in scorer. To have others name tcall_mix too, which
     * is linked only where it is named. */
    const tcall_scorer *scorers;
    size_t scorer_count;
    int (*mix)(struct tcall_ranking_ *k, struct tcall_picked *picks, int max);
    uint32_t timeout_ms; /* needs desc.now_ms; default: none */
    /* Texts, the last followed by NULL, of lines of words that mean much the
     * same, separated by spaces, in small letters. Default: tcall_synonyms. */
    const char *const *synonyms;
    const tcall_index *index; /* NULL: read the texts of the tools */
} tcall_pick_opts;

typedef struct tcall_picked {
    const tcall_tool *tool;
    uint16_t index;   /* of the tool */
    uint16_t score;   /* thousandths */
    bool pinned;      /* its score is 0 */
    bool late;        /* time ran out: not ranked, score is 0 */
    uint16_t weights; /* private */
    uint32_t rank;    /* private */
} tcall_picked;

/* The scorers of the options: the mean of those that see all tools, then in
 * turn those that see the best only. */
TCALL_API int tcall_mix(struct tcall_ranking_ *k, tcall_picked *picks, int max);

/* Embeddings as a scorer: {"meaning", tcall_cosine, &vectors}. size numbers
 * each, up to 4096; of all tools, in their order, and of the input. */
typedef struct tcall_vectors {
    const int8_t *tools;
    const int8_t *input;
    size_t size;
} tcall_vectors;

TCALL_API int tcall_cosine(void *user, tcall_str input, const tcall_tool *tool,
                           size_t index);

/* English words of devices, offices and the web that mean much the same.
 * TOOLCALL_NO_SYNONYMS leaves them out. */
#ifndef TOOLCALL_STATIC
extern const char *const tcall_synonyms[];
#endif

/* Picks tools for an input, best first, at most max and opts->max of them and
 * then the pinned ones; opts may be NULL. Returns their number: 0 when no tool
 * has a score; TCALL_E_MEMORY when the block has less than 1.7 KB free, which
 * are used only meanwhile (where it has 20 bytes more for each tool that makes
 * it faster); TCALL_E_USAGE.
 *
 * The input is text in UTF-8, or JSON, whose keys weigh half. Bytes that are
 * neither separate words. At most 45 different words of it count.
 *
 * The best score is the largest share of the input that one tool covers: of the
 * weight of all words that tell something (rare ones weigh most), the part that
 * its name and texts have, or have a synonym of; 1000 when they have all. The
 * other tools have their share of it, as they say less of the input or of one
 * of its sentences. So in a sentence a further word that the tool which covers
 * most has never lowers the best score, a word that no tool has never raises
 * it, and scores can be compared between inputs. */
TCALL_API int tcall_pick(tcall *tc, tcall_str input,
                         const tcall_pick_opts *opts, tcall_picked *picks,
                         int max);
/* Why: "matched weather, city", "pinned", or "time ran out". */
TCALL_API int tcall_write_reason(tcall *tc, tcall_writer *w, tcall_str input,
                                 const tcall_pick_opts *opts,
                                 const tcall_picked *pick);
/* Bytes of the definitions that the registry permits and that need not be
 * sent; a token is about four of them. */
TCALL_API size_t tcall_pick_saved(const tcall *tc, const tcall_picked *picks,
                                  int count);
/* How it came to this, as a JSON object for logs: scorers; terms of the input
 * with the tools that have them and their weight; picks with score and reason;
 * tools that were excluded and why; bytes and tokens saved. */
TCALL_API int tcall_write_picks(tcall *tc, tcall_writer *w, tcall_str input,
                                const tcall_pick_opts *opts,
                                const tcall_picked *picks, int count);
/* Builds an index of all tools in the block, for good. Picks are the same with
 * it, only faster; it is read where the block has the 20 bytes for each tool.
 * It takes 4 bytes for each different word of a tool, 20 for each different
 * word of all, 12 for each tool and each half KB of text, and 3.4 KB for the
 * synonyms: of hundreds of tools about half as much as their texts, of few or
 * short ones up to twice as much. Call it before the agent is set up.
 * TCALL_E_MEMORY: block.need is what suffices; TCALL_E_USAGE: more than 65535
 * tools. */
TCALL_API int tcall_pick_index(tcall *tc, tcall_index *index);
