#pragma once
#include "tools.h"

/* ==========================================================================
 * >>pick: the right few tools for an input
 *
 * Ranks tools by the words they share with the input, rare words counting most
 * (BM25F). Nothing is learned or stored, nothing runs, and equal tools keep the
 * order of registration. Other scorers can take part.
 */

struct tcall_scorer;

/* Every field that is zero has its default. */
typedef struct tcall_pick_opts {
    uint8_t max;         /* most tools besides the pinned ones; default 3 */
    uint16_t min_score;  /* thousandths; default 50 */
    uint8_t relative;    /* percent of the best score that others need */
    bool allow_unsafe;   /* also pick tools that do more than read */
    bool streaming;      /* pick only tools that stream */
    bool stable;         /* give picks in the order of registration, so that
                            requests change little; default: best first */
    uint16_t max_cost;   /* pick no tool that costs more; default: any */
    uint32_t timeout_ms; /* needs desc.now_ms; default: none */
    /* Texts as those of tcall_synonyms, which a program has by naming them:
       colloquial inputs need them; default: none. */
    const char *const *synonyms;
    const struct tcall_scorer *scorers; /* default: the built-in one */
    size_t scorer_count;
} tcall_pick_opts;

/* A tool that was picked. */
typedef struct tcall_picked {
    const tcall_tool *tool;
    uint16_t index; /* of the tool in the registry */
    uint16_t score; /* thousandths */
    bool pinned;    /* the tool is always picked; its score is 0 */
    bool timed_out; /* time ran out before it was ranked; its score is 0 */
    /* private */
    uint16_t weights;
    uint32_t rank;
} tcall_picked;

/* What tcall_pick was given, and what it gave. */
typedef struct tcall_pick_report {
    tcall_str input;
    const tcall_pick_opts *opts;
    const tcall_picked *picks;
    int count;
} tcall_pick_report;

/* Picks tools for an input, best first: at most opts->max of them and then the
 * pinned ones, at most max in all. opts may be NULL. Returns their number, 0
 * when no tool has a score; TCALL_E_MEMORY when the block has not 2.1 KB free
 * and 24 bytes for each tool, which are used only meanwhile; TCALL_E_USAGE when
 * max is 0.
 *
 * The input is text in UTF-8, or valid JSON, whose keys count half. Bytes that
 * are not UTF-8 separate words. At most 40 different words of it count; numbers
 * are values and say nothing of the tool.
 *
 * The best score is the largest share of the input that one tool covers: of the
 * weight of all its words (rare ones weigh most), the part that the name and
 * texts of the tool have, or have a synonym of; 1000 when they have all. The
 * other tools have their share of it, as they say less of the input or of one
 * of its sentences. So in a sentence, one more word of the tool that covers
 * most never lowers the best score, a word that no tool has never raises it,
 * and scores can be compared between inputs. */
TCALL_API int tcall_pick(tcall *tc, tcall_str input,
                         const tcall_pick_opts *opts, tcall_picked *picks,
                         int max);

/* Writes how picks came about, as a JSON object for logs: the scorers; terms of
 * the input with the number of tools that have them and their weight; picks
 * with score and reason ("matched weather, city", "pinned", "timed out"); tools
 * that were excluded and why; bytes and tokens saved. Returns TCALL_OK, the
 * error of the writer, or an error as tcall_pick does. */
TCALL_API int tcall_write_picks(tcall_writer *w, tcall *tc,
                                const tcall_pick_report *report);

/* -- For authors of scorers -- */

/* One of several ways to score. Those that see all tools are combined by their
 * mean; then those with `top` rank the best again, in turn. All weights
 * together are at most 4095. */
typedef struct tcall_scorer {
    const char *name; /* for tcall_write_picks */
    /* Returns 0 to 1000, or < 0 when it cannot say: the others decide. NULL:
     * the built-in scorer. */
    int (*score)(void *user, tcall_str input, const tcall_tool *tool,
                 size_t index);
    void *user;
    uint8_t weight; /* in the mean of all scorers; default 1 */
    uint8_t top;    /* sees only so many of the best so far, from which the
                       picks are then taken; default 0: it sees all tools */
} tcall_scorer;
