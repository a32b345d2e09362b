#pragma once
#include "pick.h"
#include "registry.c"
#include "words.c"

/* ==========================================================================
 * >>pick
 *
 * The words of the input become terms. A term has keys: the stem of its word,
 * the first six letters of that stem, and the stems of its synonyms. What each
 * tool says of the terms is read once and kept as a record of 20 bytes; where
 * the block has no room for records the tools are read again instead. The
 * weight of a term comes from how few tools have it, the worth of a tool from
 * the weights of the terms it has (BM25F), as a share of the best of all tools;
 * and since an input can want several things, also of the best for each of its
 * sentences.
 *
 * Keys are compared by hashes of 32 bits, because their texts would take more
 * memory than a microcontroller can spare. A word of a tool is mistaken for one
 * of 224 keys once in twenty million different words, and then adds a little to
 * the score of its tool. Nobody gains by looking for such a word: whoever wants
 * a tool to be found can write the word itself.
 */

enum {
    TCALL_QUERY_TERMS_ = 40,    /* most different words of an input */
    TCALL_QUERY_SENTENCES_ = 7, /* of the input; the last takes the rest */
    TCALL_QUERY_SLOTS_ = 256,   /* of the table of keys */
    TCALL_QUERY_KEYS_ = 224,    /* of them used at most */
    TCALL_QUERY_SUM_ = 100,     /* where the sums of a tool stop growing */
    TCALL_FUZZY_MAX_ = 3,       /* most that all synonyms of a word count */
    /* A record keeps the level that a sum reaches, not the sum. */
    TCALL_LEVELS_ = 8,
    TCALL_LEVEL_BITS_ = 3,
    TCALL_LEVELS_PER_WORD_ = 5
};

/* The texts of a tool, and what a word in them counts, in quarters: when it is
 * the word itself, when it is a synonym or has the same prefix, and for the
 * length of the texts. Words of all schemas need no list: being common, they
 * weigh nothing. */
enum {
    TCALL_TEXT_NAME_,
    TCALL_TEXT_TITLE_,
    TCALL_TEXT_DESCRIPTION_,
    TCALL_TEXT_TAGS_,
    TCALL_TEXT_PARAMETERS_, /* names, descriptions, and values too */
    TCALL_TEXT_COUNT_
};
static const struct tcall_text_weight_ {
    uint8_t exact, fuzzy, length;
} tcall_text_weights_[TCALL_TEXT_COUNT_] = {
    {12, 3, 4}, {4, 1, 4}, {4, 1, 4}, {4, 1, 4}, {3, 1, 1}};

static const uint8_t tcall_levels_[TCALL_LEVELS_] = {0, 1, 2, 3, 4, 7, 12, 16};

/* How much a tool says about each term. */
typedef struct tcall_record_ {
    uint16_t levels[(size_t)TCALL_QUERY_TERMS_ / TCALL_LEVELS_PER_WORD_];
    uint16_t length; /* of its texts, in quarters of a word, and 1 */
    uint8_t name;    /* how much of its name was asked for; 16: all words */
} tcall_record_;

typedef struct tcall_term_ {
    uint16_t exact_tools; /* that have the word itself */
    uint16_t fuzzy_tools; /* that have only something like it */
    uint8_t weight;       /* 16 * log2 of how rare it is */
    uint8_t sentences;    /* bits: 0 for the input, 1.. for its sentences */
    uint8_t exact, fuzzy; /* sums of the tool that is being read */
    bool value;           /* it is not only in keys of JSON */
} tcall_term_;

#define TCALL_KEY_FUZZY_ 0x80u
#define TCALL_KEY_TERM_  0x3Fu

/* An input, and what is learned about its terms while tools are read. */
typedef struct tcall_query_ {
    uint8_t term_count, sentence_count;
    uint8_t key_count;
    uint32_t best[1 + TCALL_QUERY_SENTENCES_]; /* of all tools; 0: the input */
    uint32_t lengths; /* of all tools, as records say them */
    uint32_t level;   /* the best score of all, in thousandths */
    tcall_term_ terms[TCALL_QUERY_TERMS_];
    uint32_t initials[32];               /* of all keys, see tcall_initials_ */
    uint32_t hashes[TCALL_QUERY_SLOTS_]; /* of keys, by open addressing */
    uint8_t key_terms[TCALL_QUERY_SLOTS_]; /* 1 more than the term, and
                                              TCALL_KEY_FUZZY_; 0: free */
} tcall_query_;

/* ---- records */

static unsigned tcall_record_level_(const tcall_record_ *record, unsigned term)
{
    unsigned shift = term % TCALL_LEVELS_PER_WORD_ * TCALL_LEVEL_BITS_;
    return record->levels[term / TCALL_LEVELS_PER_WORD_] >> shift &
           (TCALL_LEVELS_ - 1);
}

/* Keeps a sum as the highest level that it reaches. */
static void tcall_record_keep_(tcall_record_ *record, unsigned term,
                               unsigned sum)
{
    unsigned shift = term % TCALL_LEVELS_PER_WORD_ * TCALL_LEVEL_BITS_;
    uint16_t *levels = &record->levels[term / TCALL_LEVELS_PER_WORD_];
    unsigned level = TCALL_LEVELS_ - 1;
    while (tcall_levels_[level] > sum)
        level--;
    *levels &= (uint16_t) ~((TCALL_LEVELS_ - 1u) << shift);
    *levels |= (uint16_t)(level << shift);
}

/* ---- keys */

/* Finds the next key with a hash, from *slot on, which is its first byte at
 * first, and moves *slot past it. Returns its entry in key_terms, or 0 when
 * there is no other. */
static unsigned tcall_query_find_(const tcall_query_ *query, uint32_t hash,
                                  unsigned *slot)
{
    for (;;) {
        unsigned at = (*slot)++ % TCALL_QUERY_SLOTS_;
        if (query->key_terms[at] == 0 || query->hashes[at] == hash)
            return query->key_terms[at];
    }
}

/* Returns the term whose own word has this stem, or -1. */
static int tcall_query_term_(const tcall_query_ *query, uint32_t stem)
{
    unsigned slot = stem >> 24, key;
    while ((key = tcall_query_find_(query, stem, &slot)) != 0)
        if (!(key & TCALL_KEY_FUZZY_))
            return (int)(key & TCALL_KEY_TERM_) - 1;
    return -1;
}

/* Adds a key to a term, unless it is there or the table is full. */
static void tcall_query_add_(tcall_query_ *query, uint32_t hash,
                             unsigned initials, unsigned term, bool fuzzy)
{
    unsigned slot = hash >> 24, found;
    unsigned key = (term + 1) | (fuzzy ? TCALL_KEY_FUZZY_ : 0);
    while ((found = tcall_query_find_(query, hash, &slot)) != 0)
        if (found == key)
            return;
    if (query->key_count == TCALL_QUERY_KEYS_)
        return;
    query->key_count++;
    slot = (slot - 1) % TCALL_QUERY_SLOTS_; /* the free one that was found */
    query->hashes[slot] = hash;
    query->key_terms[slot] = (uint8_t)key;
    query->initials[initials / 32] |= (uint32_t)1 << initials % 32;
}

/* ---- the input */

/* Returns the term of a word of the input; adds it when it is new. */
static unsigned tcall_query_new_term_(tcall_query_ *query,
                                      const tcall_split_ *words)
{
    int found = tcall_query_term_(query, words->stem);
    unsigned term = found < 0 ? query->term_count++ : (unsigned)found;
    if (found >= 0)
        return term;
    tcall_query_add_(query, words->stem, words->initials, term, false);
    if (words->prefix)
        tcall_query_add_(query, words->prefix, words->initials, term, true);
    return term;
}

/* Makes terms of the words of the input. */
static void tcall_query_input_(tcall_query_ *query, tcall_str input)
{
    tcall_split_ words;
    unsigned length = 0; /* of the sentence, in words */
    tcall_split_input_(&words, input);
    query->sentence_count = 1;
    while (query->term_count < TCALL_QUERY_TERMS_ &&
           tcall_split_next_(&words)) {
        tcall_term_ *term;
        if (words.sentence && length >= 3 &&
            query->sentence_count < TCALL_QUERY_SENTENCES_) {
            query->sentence_count++;
            length = 0;
        }
        /* Numbers are values, no topics. */
        if (tcall_split_stops_(&words) || tcall_is_digit_(*words.word))
            continue;
        length++;
        term = &query->terms[tcall_query_new_term_(query, &words)];
        term->sentences |= (uint8_t)(1u | 1u << query->sentence_count);
        term->value |= !words.in_key;
    }
}

/* For each term that a line of synonyms contains, makes its words keys. */
static void tcall_query_line_(tcall_query_ *query, tcall_str line)
{
    tcall_split_ words, others;
    tcall_split_init_(&words, line);
    words.wanted = query->initials;
    while (tcall_split_next_(&words)) {
        int term = tcall_query_term_(query, words.stem);
        if (term < 0)
            continue;
        tcall_split_init_(&others, line);
        while (tcall_split_next_(&others))
            if (tcall_query_term_(query, others.stem) != term)
                tcall_query_add_(query, others.stem, others.initials,
                                 (unsigned)term, true);
    }
}

/* Makes the query of an input. */
static void tcall_query_init_(tcall_query_ *query, tcall_str input,
                              const char *const *synonyms)
{
    memset(query, 0, sizeof *query);
    tcall_query_input_(query, input);
    for (; synonyms && *synonyms; synonyms++) {
        const char *line = *synonyms;
        while (*line) {
            size_t length = strcspn(line, "\n");
            tcall_query_line_(query, tcall_slice_(line, length));
            line += length;
            line += *line == '\n';
        }
    }
}

/* ---- tools */

/* Begins to split one of the texts of a tool. Returns false where it has none.
 */
static bool tcall_split_tool_(tcall_split_ *words, const tcall_tool *tool,
                              unsigned text)
{
    const char *texts[TCALL_TEXT_COUNT_];
    texts[TCALL_TEXT_NAME_] = tool->name;
    texts[TCALL_TEXT_TITLE_] = tool->title;
    texts[TCALL_TEXT_DESCRIPTION_] = tool->description;
    texts[TCALL_TEXT_TAGS_] = tool->tags;
    texts[TCALL_TEXT_PARAMETERS_] = tool->parameters.text;
    if (!texts[text] && (text != TCALL_TEXT_PARAMETERS_ || !tool->shape))
        return false;
    tcall_split_init_(words, tcall_str_of(texts[text]));
    if (text == TCALL_TEXT_PARAMETERS_) {
        words->json = texts[text] != NULL;
        words->shape = tool->shape;
    }
    return true;
}

/* Adds a word of a tool to the sums of the terms that have this key. Returns
 * whether there is such a term. */
static bool tcall_query_hit_(tcall_query_ *query, uint32_t hash,
                             const struct tcall_text_weight_ *weight)
{
    unsigned slot = hash >> 24, key;
    bool hit = false;
    while ((key = tcall_query_find_(query, hash, &slot)) != 0) {
        tcall_term_ *term = &query->terms[(key & TCALL_KEY_TERM_) - 1];
        bool fuzzy = (key & TCALL_KEY_FUZZY_) != 0;
        uint8_t *sum = fuzzy ? &term->fuzzy : &term->exact;
        if (*sum < TCALL_QUERY_SUM_)
            *sum = (uint8_t)(*sum + (fuzzy ? weight->fuzzy : weight->exact));
        hit = true;
    }
    return hit;
}

/* Reads all texts of a tool into the sums of the terms, and into the record,
 * whose levels stay empty. The prefix of a word counts only when its stem is no
 * key. */
static void tcall_query_sum_(tcall_query_ *query, const tcall_tool *tool,
                             tcall_record_ *record)
{
    unsigned length = 0, name_words = 0, asked = 0, text;
    for (text = 0; text < TCALL_TEXT_COUNT_; text++) {
        const struct tcall_text_weight_ *weight = &tcall_text_weights_[text];
        tcall_split_ words;
        if (!tcall_split_tool_(&words, tool, text))
            continue;
        words.wanted = query->initials;
        while (tcall_split_next_(&words))
            if (tcall_query_hit_(query, words.stem, weight) ||
                (words.prefix && tcall_query_hit_(query, words.prefix, weight)))
                asked += text == TCALL_TEXT_NAME_;
        length += weight->length * words.longer;
        if (text == TCALL_TEXT_NAME_)
            name_words = words.count;
    }
    record->length = (uint16_t)tcall_at_most_(length + 1, 0xFFFF);
    record->name = (uint8_t)(name_words ? asked * 16 / name_words : 0);
}

/* Makes the record of a tool. With `count`, counts it among the tools of each
 * term that it has. */
static void tcall_query_read_(tcall_query_ *query, const tcall_tool *tool,
                              tcall_record_ *record, bool count)
{
    unsigned i;
    memset(record, 0, sizeof *record);
    tcall_query_sum_(query, tool, record);
    for (i = 0; i < query->term_count; i++) {
        tcall_term_ *term = &query->terms[i];
        unsigned fuzzy = tcall_at_most_(term->fuzzy, TCALL_FUZZY_MAX_);
        if (term->exact + fuzzy == 0)
            continue;
        tcall_record_keep_(record, i, term->exact + fuzzy);
        if (count && term->exact > 0)
            term->exact_tools++;
        else if (count)
            term->fuzzy_tools++;
        term->exact = term->fuzzy = 0;
    }
}

/* ---- the work on one input */

static const tcall_pick_opts tcall_pick_defaults_ = {
    0, 0, 0, false, false, false, 0, 0, NULL, NULL, 0};
/* Private initialisers name no member: C++ would want them in order. */
static const tcall_scorer tcall_pick_words_ = {"words", NULL, NULL, 0, 0};

/* A score of one thousandth. Ranks are finer, so that they tell more tools
 * apart: the best is 1000 of these and fits 32 bits. */
#define TCALL_RANK_ONE_ ((uint32_t)1 << 22)

/* The work on one input. */
typedef struct tcall_ranking_ {
    tcall *tc;
    tcall_str input;
    const tcall_pick_opts *opts;
    const tcall_scorer *scorers, *scorers_end;
    tcall_query_ *query;
    tcall_record_ *records; /* of all tools; NULL: no room for them */
    size_t count;           /* of all tools; a scorer may add others */
    size_t tools;           /* that may be picked */
    int max;                /* of the picks that are not pinned */
    uint32_t started;
    bool timed_out;
} tcall_ranking_;

/* ---- tools that may be picked */

/* Why a tool may not be picked; NULL: it may. */
TCALL_SHARED_ const char *tcall_pick_excludes_(const tcall *tc,
                                               const tcall_pick_opts *opts,
                                               const tcall_tool *tool)
{
    const char *withheld = tcall_withheld_(tc, tool);
    bool safe = tool->safe == TCALL_SAFETY_DERIVED
                    ? tcall_may_(tc, tool) == TCALL_READ
                    : tool->safe == TCALL_SAFETY_SAFE;
    opts = opts ? opts : &tcall_pick_defaults_;
    if (withheld)
        return withheld;
    if (!safe && !opts->allow_unsafe)
        return "unsafe";
    if (opts->streaming && !tool->streaming)
        return "streaming";
    return opts->max_cost && tool->cost > opts->max_cost ? "cost" : NULL;
}

/* Whether time is up, where there is a limit and a clock. */
static bool tcall_ranking_expires_(const tcall_ranking_ *ranking)
{
    const tcall_desc *desc = &ranking->tc->desc;
    return ranking->opts->timeout_ms && desc->now_ms &&
           desc->now_ms(desc->user) - ranking->started >=
               ranking->opts->timeout_ms;
}

/* Moves *i to the next tool that may be picked, from *i on; false at the end.
 * Returns false once, too, when time is up. */
static bool tcall_ranking_next_(tcall_ranking_ *ranking, size_t *i)
{
    const tcall_desc *desc = &ranking->tc->desc;
    if (!ranking->timed_out && tcall_ranking_expires_(ranking)) {
        ranking->timed_out = true;
        return false;
    }
    for (; *i < ranking->count; ++*i)
        if (!tcall_pick_excludes_(ranking->tc, ranking->opts, &desc->tools[*i]))
            return true;
    return false;
}

/* ---- the built-in scorer */

/* 16 * log2(x), by a straight line between powers of two. */
static unsigned tcall_log16_(uint32_t x)
{
    unsigned n = 0;
    while (x >> n > 1)
        n++;
    return 16 * n + (x << 4 >> n & 15);
}

/* How many tools have a term: those that have only something like it count a
 * quarter. */
static unsigned tcall_term_tools_(const tcall_term_ *term)
{
    return term->exact_tools + term->fuzzy_tools / 4u;
}

/* Makes the records of all tools that may be picked, where there is room for
 * them, and counts those that have each term. */
static void tcall_ranking_read_(tcall_ranking_ *ranking)
{
    const tcall_tool *tools = ranking->tc->desc.tools;
    tcall_query_ *query = ranking->query;
    tcall_record_ made, *record = &made;
    size_t i;
    for (i = 0; tcall_ranking_next_(ranking, &i); i++) {
        if (ranking->records)
            record = &ranking->records[i];
        tcall_query_read_(query, &tools[i], record, true);
        query->lengths += record->length;
        ranking->tools++;
    }
}

/* Returns the record of a tool, which is read again where none is kept. */
static const tcall_record_ *tcall_ranking_record_(const tcall_ranking_ *ranking,
                                                  size_t tool,
                                                  tcall_record_ *made)
{
    if (ranking->records)
        return &ranking->records[tool];
    tcall_query_read_(ranking->query, &ranking->tc->desc.tools[tool], made,
                      false);
    return made;
}

/* Returns what a tool gains by a term, by BM25 with b = 2/5 and k1 = 10
 * quarters of a word in a text: norm is 16 * k1 times the length of its texts.
 * A tool whose name was asked for gains up to two thirds as much again. */
static uint32_t tcall_term_worth_(const tcall_term_ *term, unsigned level,
                                  const tcall_record_ *record, uint32_t norm)
{
    uint32_t sum = tcall_levels_[level];
    uint32_t worth = sum * 1024 * term->weight / (16 * sum + norm);
    return worth * (24u + record->name) / 24;
}

/* Finds out what a tool is worth: parts[0] for the whole input, the others for
 * its sentences. Returns the weight of the terms that it has. */
static uint32_t tcall_ranking_parts_(const tcall_ranking_ *ranking, size_t tool,
                                     uint32_t *parts)
{
    const tcall_query_ *query = ranking->query;
    uint32_t average = query->lengths / (uint32_t)ranking->tools + 1;
    uint32_t norm, cover = 0;
    tcall_record_ made;
    const tcall_record_ *record = tcall_ranking_record_(ranking, tool, &made);
    unsigned i, part;
    norm = 96 + (uint32_t)64 * record->length / average;
    memset(parts, 0, sizeof query->best);
    for (i = 0; i < query->term_count; i++) {
        const tcall_term_ *term = &query->terms[i];
        unsigned level = tcall_record_level_(record, i);
        uint32_t worth;
        if (level == 0)
            continue;
        worth = tcall_term_worth_(term, level, record, norm);
        cover += term->weight;
        for (part = 0; part <= query->sentence_count; part++)
            if (term->sentences >> part & 1)
                parts[part] += worth;
    }
    return cover;
}

/* Sets the weights of all terms; returns their sum. A term that occurs only in
 * keys of JSON weighs half: keys are the caller's words, not the user's. */
static uint32_t tcall_ranking_weigh_(tcall_ranking_ *ranking)
{
    tcall_query_ *query = ranking->query;
    uint32_t all = 0;
    unsigned i;
    for (i = 0; i < query->term_count; i++) {
        tcall_term_ *term = &query->terms[i];
        unsigned rarity =
            tcall_log16_(2 * (uint32_t)ranking->tools + 2) -
            tcall_log16_(2 * (uint32_t)tcall_term_tools_(term) + 1);
        rarity = tcall_at_most_(rarity, 255);
        term->weight = (uint8_t)(term->value ? rarity : rarity / 2);
        all += term->weight;
    }
    return all;
}

/* Finds the best parts of all tools, and returns the largest weight of terms
 * that one of them has. */
static uint32_t tcall_ranking_best_(tcall_ranking_ *ranking)
{
    tcall_query_ *query = ranking->query;
    uint32_t parts[1 + TCALL_QUERY_SENTENCES_], most = 0;
    unsigned i;
    size_t tool;
    for (tool = 0; tcall_ranking_next_(ranking, &tool); tool++) {
        uint32_t cover = tcall_ranking_parts_(ranking, tool, parts);
        most = cover > most ? cover : most;
        for (i = 0; i <= query->sentence_count; i++)
            if (parts[i] > query->best[i])
                query->best[i] = parts[i];
    }
    return most;
}

/* Finds what scores are shares of: the weights of terms, the best parts, and
 * the share of the input that one tool covers. */
static void tcall_ranking_prepare_(tcall_ranking_ *ranking)
{
    uint32_t all;
    tcall_ranking_read_(ranking);
    all = tcall_ranking_weigh_(ranking);
    if (all > 0 && !ranking->timed_out)
        ranking->query->level = tcall_ranking_best_(ranking) * 1000 / all;
}

/* Returns the largest share that a tool has of what the best one is worth for a
 * sentence, in 4096ths. */
static uint32_t tcall_query_share_(const tcall_query_ *query,
                                   const uint32_t *parts)
{
    uint32_t most = 0, share;
    unsigned i;
    for (i = 1; i <= query->sentence_count; i++) {
        if (parts[i] == 0)
            continue;
        share = (parts[i] << 12) / query->best[i];
        most = share > most ? share : most;
    }
    return most;
}

/* Returns the built-in score, 0 to 1000 * TCALL_RANK_ONE_: three fifths for the
 * whole input, two fifths for the sentence that the tool fits best. */
static uint32_t tcall_ranking_score_(tcall_ranking_ *ranking, size_t tool)
{
    const tcall_query_ *query = ranking->query;
    uint32_t parts[1 + TCALL_QUERY_SENTENCES_], whole;
    if (query->term_count > 0 && ranking->tools == 0)
        tcall_ranking_prepare_(ranking);
    if (query->level == 0 || ranking->timed_out)
        return 0;
    tcall_ranking_parts_(ranking, tool, parts);
    if (parts[0] == 0)
        return 0;
    whole = (parts[0] << 12) / query->best[0];
    return (614 * whole + 410 * tcall_query_share_(query, parts)) *
           query->level;
}

/* ---- the ranking */

/* Lays the query, and records of all tools if there is room for them, into the
 * free part of the block, which lends it until the ranking ends. */
static int tcall_ranking_memory_(tcall_ranking_ *ranking)
{
    tcall_block *block = &ranking->tc->block;
    char *gap = tcall_block_gap_(block);
    size_t skip = (0 - (uintptr_t)gap) & 7;
    size_t size = skip + sizeof(tcall_query_);
    size_t all = size + ranking->count * sizeof(tcall_record_);
    if (!tcall_block_room_(block, size))
        return TCALL_E_MEMORY;
    ranking->query = (tcall_query_ *)(void *)(gap + skip);
    if (all <= tcall_block_free_(block)) {
        ranking->records = (tcall_record_ *)(void *)(gap + size);
        size = all;
    }
    tcall_block_lend_(block, size);
    return TCALL_OK;
}

/* Begins a ranking. The time counts from here on, reading the input included.
 */
static int tcall_ranking_init_(tcall_ranking_ *ranking, tcall *tc,
                               tcall_str input, const tcall_pick_opts *opts)
{
    const tcall_desc *desc = &tc->desc;
    int error;
    memset(ranking, 0, sizeof *ranking);
    ranking->tc = tc;
    ranking->count = desc->tool_count;
    ranking->input = input;
    ranking->opts = opts = opts ? opts : &tcall_pick_defaults_;
    ranking->max = opts->max ? opts->max : 3;
    ranking->scorers = opts->scorer_count ? opts->scorers : &tcall_pick_words_;
    ranking->scorers_end =
        ranking->scorers + (opts->scorer_count ? opts->scorer_count : 1);
    error = tcall_ranking_memory_(ranking);
    if (error < 0)
        return error;
    if (opts->timeout_ms && desc->now_ms)
        ranking->started = desc->now_ms(desc->user);
    tcall_query_init_(ranking->query, input, opts->synonyms);
    return TCALL_OK;
}

/* Puts a candidate where it belongs among the best, of which there are `count`
 * and may be `room`; returns their new number. Of equals the first stays first.
 * The candidate may itself be what comes after the best: it is copied before
 * others move. */
static int tcall_picks_insert_(tcall_picked *picks, int count, int room,
                               const tcall_picked *candidate)
{
    tcall_picked pick;
    int at = count;
    while (at > 0 && picks[at - 1].rank < candidate->rank)
        at--;
    if (at >= room)
        return count;
    pick = *candidate;
    count += count < room;
    memmove(picks + at + 1, picks + at, (size_t)(count - at - 1) * sizeof pick);
    picks[at] = pick;
    return count;
}

/* A pick of a tool that has no rank so far. */
static tcall_picked tcall_ranking_pick_(const tcall_ranking_ *ranking, size_t i)
{
    tcall_picked pick;
    memset(&pick, 0, sizeof pick);
    pick.tool = &ranking->tc->desc.tools[i];
    pick.index = (uint16_t)i;
    pick.pinned = pick.tool->pinned;
    pick.timed_out = ranking->timed_out && !pick.pinned;
    return pick;
}

/* Asks a scorer; returns false when it cannot say. */
static bool tcall_ranking_ask_(tcall_ranking_ *ranking,
                               const tcall_picked *pick,
                               const tcall_scorer *scorer, uint32_t *rank)
{
    int score;
    if (!scorer->score) {
        *rank = tcall_ranking_score_(ranking, pick->index);
        return true;
    }
    score =
        scorer->score(scorer->user, ranking->input, pick->tool, pick->index);
    if (score < 0)
        return false;
    *rank = (uint32_t)(score < 1000 ? score : 1000) * TCALL_RANK_ONE_;
    return true;
}

/* Makes the rank of a pick the mean of what it was and of a further scorer. The
 * sum of weighted ranks fits 32 bits without their last 12, since all weights
 * are at most 4095. */
static void tcall_ranking_combine_(tcall_ranking_ *ranking, tcall_picked *pick,
                                   const tcall_scorer *scorer)
{
    uint32_t weight = scorer->weight ? scorer->weight : 1, rank;
    if (!tcall_ranking_ask_(ranking, pick, scorer, &rank))
        return;
    if (pick->weights) {
        uint32_t sum =
            (pick->rank >> 12) * pick->weights + (rank >> 12) * weight;
        rank = sum / (pick->weights + weight) << 12;
    }
    pick->rank = rank;
    pick->weights = (uint16_t)(pick->weights + weight);
}

/* Ranks all tools that are not pinned by the scorers that see all of them, and
 * keeps the best of them. */
static int tcall_ranking_all_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int room)
{
    const tcall_scorer *scorer;
    int count = 0;
    size_t i;
    for (i = 0; room > 0 && tcall_ranking_next_(ranking, &i); i++) {
        tcall_picked pick = tcall_ranking_pick_(ranking, i);
        if (pick.pinned)
            continue;
        for (scorer = ranking->scorers; scorer < ranking->scorers_end; scorer++)
            if (!scorer->top)
                tcall_ranking_combine_(ranking, &pick, scorer);
        count = tcall_picks_insert_(picks, count, room, &pick);
    }
    return count;
}

/* Ranks the best again by a scorer that sees only them; returns how many there
 * are of them. */
static int tcall_ranking_top_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int count, const tcall_scorer *scorer)
{
    int i;
    count = count < scorer->top ? count : scorer->top;
    for (i = 0; i < count; i++) {
        size_t tool = picks[i].index;
        if (ranking->timed_out || !tcall_ranking_next_(ranking, &tool))
            break;
        tcall_ranking_combine_(ranking, &picks[i], scorer);
        tcall_picks_insert_(picks, i, count, &picks[i]);
    }
    return count;
}

/* Ranks by all scorers, of which the later ones may want to see more tools than
 * there are to be picked. */
static int tcall_ranking_run_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int max)
{
    const tcall_scorer *scorer, *end = ranking->scorers_end;
    int room = ranking->max, count;
    for (scorer = ranking->scorers; scorer < end; scorer++)
        room = scorer->top > room ? scorer->top : room;
    count = tcall_ranking_all_(ranking, picks, room < max ? room : max);
    for (scorer = ranking->scorers; scorer < end; scorer++)
        if (scorer->top)
            count = tcall_ranking_top_(ranking, picks, count, scorer);
    return count;
}

/* Adds tools in the order of registration, without a score: those that are
 * pinned, or those that are not. */
static int tcall_ranking_add_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int count, int max, bool pinned)
{
    size_t i;
    for (i = 0; count < max && tcall_ranking_next_(ranking, &i); i++) {
        tcall_picked pick = tcall_ranking_pick_(ranking, i);
        if (pick.pinned == pinned)
            picks[count++] = pick;
    }
    return count;
}

/* Sets the scores, and returns the number of picks that are good enough. */
static int tcall_ranking_cut_(const tcall_ranking_ *ranking,
                              tcall_picked *picks, int count)
{
    const tcall_pick_opts *opts = ranking->opts;
    unsigned min_score = opts->min_score ? opts->min_score : 50;
    int i;
    for (i = 0; i < count && i < ranking->max; i++) {
        /* A hundred times a rank fits 32 bits once it is divided by 128. */
        uint32_t percent = picks[i].rank / 128 * 100;
        picks[i].score = (uint16_t)(picks[i].rank / TCALL_RANK_ONE_);
        if (picks[i].score < min_score ||
            percent < picks[0].rank / 128 * opts->relative)
            break;
    }
    return i;
}

/* Sorts picks by the order of registration. */
static void tcall_picks_sort_(tcall_picked *picks, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        picks[i].rank = 0xFFFFu - picks[i].index;
        tcall_picks_insert_(picks, i, count, &picks[i]);
    }
}

/* Returns the bytes that a provider is sent of a tool, but for its syntax. */
static size_t tcall_pick_bytes_(const tcall_tool *tool)
{
    const char *schema = tool->provider_schema.text ? tool->provider_schema.text
                                                    : tool->parameters.text;
    tcall_writer count;
    tcall_writer_init(&count, NULL, 0);
    tcall_write_text(&count, tool->name);
    tcall_write_text(&count, tool->description ? tool->description : "");
    if (schema)
        tcall_write_text(&count, schema);
    else if (tool->shape)
        tcall_write_shape(&count, tool->shape);
    return count.len;
}

/* Returns the bytes of the definitions that the registry permits and that need
 * not be sent; a token is about four of them. */
static size_t tcall_pick_saved_(const tcall *tc, const tcall_picked *picks,
                                int count)
{
    const tcall_desc *desc = &tc->desc;
    size_t saved = 0, i;
    for (i = 0; i < desc->tool_count; i++)
        if (!tcall_withheld_(tc, &desc->tools[i]))
            saved += tcall_pick_bytes_(&desc->tools[i]);
    while (count-- > 0)
        if (!tcall_withheld_(tc, picks[count].tool))
            saved -= tcall_pick_bytes_(picks[count].tool);
    return saved;
}

/* Reports the picks as an event. What they save is counted only for someone. */
static void tcall_pick_event_(tcall *tc, const tcall_picked *picks, int count)
{
    tcall_event event;
    if (!tcall_is_heard_(tc))
        return;
    memset(&event, 0, sizeof event);
    event.picks = picks;
    event.tools = (size_t)count;
    event.bytes = tcall_pick_saved_(tc, picks, count);
    tcall_tell_(tc, &event, TCALL_EVENT_PICK);
}

/* Pinned tools have their room among the picks before all others. */
static int tcall_pinned_(const tcall_desc *desc)
{
    int count = 0;
    size_t i;
    for (i = 0; i < desc->tool_count; i++)
        count += desc->tools[i].pinned;
    return count;
}

/* Ranks the tools and chooses among them. */
TCALL_NOINLINE_ static int tcall_picks_(tcall *tc, tcall_str input,
                                        const tcall_pick_opts *opts,
                                        tcall_picked *picks, int max)
{
    tcall_ranking_ ranking;
    int count, room = max;
    if (max < 1 || tc->desc.tool_count > 0xFFFF)
        return TCALL_E_USAGE;
    count = tcall_ranking_init_(&ranking, tc, input, opts);
    if (count < 0)
        return count;
    room -= tcall_pinned_(&tc->desc);
    ranking.max = room < ranking.max ? room : ranking.max;
    count = tcall_ranking_run_(&ranking, picks, room);
    count = ranking.timed_out
                ? tcall_ranking_add_(&ranking, picks, 0, ranking.max, false)
                : tcall_ranking_cut_(&ranking, picks, count);
    if (room < max)
        count = tcall_ranking_add_(&ranking, picks, count, max, true);
    if (ranking.opts->stable)
        tcall_picks_sort_(picks, count);
    return count;
}

int tcall_pick(tcall *tc, tcall_str input, const tcall_pick_opts *opts,
               tcall_picked *picks, int max)
{
    const tcall *outer = tc->busy;
    size_t lent = tc->block.lent;
    int count;
    tc->busy = tc; /* scorers and listeners are the program's */
    count = tcall_picks_(tc, input, opts, picks, max);
    tcall_block_unlend_(&tc->block, lent);
    if (count >= 0)
        tcall_pick_event_(tc, picks, count);
    tc->busy = outer;
    return count;
}

/* ---- the report */

/* Reads on to the first word of the next term; false at the end. */
static bool tcall_query_report_(const tcall_query_ *query, tcall_split_ *words,
                                int *term)
{
    ++*term;
    while (tcall_split_next_(words))
        if (tcall_query_term_(query, words->stem) == *term)
            return true;
    return false;
}

/* Writes each term of the input as it was first written there. */
static void tcall_write_terms_(tcall_writer *w, const tcall_ranking_ *ranking)
{
    const tcall_query_ *query = ranking->query;
    tcall_split_ words;
    int i = -1;
    tcall_split_input_(&words, ranking->input);
    tcall_write_open(w, '[');
    while (tcall_query_report_(query, &words, &i)) {
        const tcall_term_ *term = &query->terms[i];
        tcall_write_open(w, '{');
        tcall_write_pair_(w, "word", tcall_slice_(words.word, words.length));
        tcall_write_count_(w, "tools", tcall_term_tools_(term));
        tcall_write_key(w, "weight");
        tcall_write_fixed(w, (tcall_int)(term->weight * 100L / 16), 2);
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
}

/* Writes the words of the input that a tool has, within a JSON string. The tool
 * is read again: its record may be gone by now. */
static void tcall_write_matches_(tcall_writer *w, const tcall_ranking_ *ranking,
                                 const tcall_tool *tool)
{
    tcall_query_ *query = ranking->query;
    tcall_record_ record;
    tcall_split_ words;
    bool matched = false;
    int term = -1;
    tcall_query_read_(query, tool, &record, false);
    tcall_split_input_(&words, ranking->input);
    while (tcall_query_report_(query, &words, &term))
        if (tcall_record_level_(&record, (unsigned)term)) {
            tcall_write_text(w, matched ? ", " : "matched ");
            tcall_write_bytes(w, words.word, words.length);
            matched = true;
        }
    if (!matched)
        tcall_write_text(w, "no word of it");
}

static void tcall_write_scorers_(tcall_writer *w, const tcall_ranking_ *ranking)
{
    const tcall_scorer *scorer;
    tcall_write_open(w, '[');
    for (scorer = ranking->scorers; scorer < ranking->scorers_end; scorer++)
        tcall_write_string(w, scorer->name ? scorer->name : "words");
    tcall_write_close(w, ']');
}

static void tcall_write_picked_(tcall_writer *w, const tcall_ranking_ *ranking,
                                const tcall_pick_report *report)
{
    int i;
    tcall_write_open(w, '[');
    for (i = 0; i < report->count; i++) {
        const tcall_picked *pick = &report->picks[i];
        tcall_write_open(w, '{');
        tcall_write_pair_(w, "tool", tcall_str_of(pick->tool->name));
        tcall_write_key(w, "score");
        tcall_write_fixed(w, pick->score, 3);
        tcall_write_key(w, "reason");
        tcall_write_quote(w);
        if (pick->pinned || pick->timed_out)
            tcall_write_text(w, pick->pinned ? "pinned" : "timed out");
        else
            tcall_write_matches_(w, ranking, pick->tool);
        tcall_write_unquote(w);
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
}

/* Writes the tools that may not be picked, each with the first reason. */
static void tcall_write_excluded_(tcall_writer *w,
                                  const tcall_ranking_ *ranking)
{
    const tcall_desc *desc = &ranking->tc->desc;
    size_t i;
    tcall_write_open(w, '[');
    for (i = 0; i < desc->tool_count; i++) {
        const tcall_tool *tool = &desc->tools[i];
        const char *reason =
            tcall_pick_excludes_(ranking->tc, ranking->opts, tool);
        if (!reason)
            continue;
        tcall_write_open(w, '{');
        tcall_write_pair_(w, "tool", tcall_str_of(tool->name));
        tcall_write_pair_(w, "reason", tcall_str_of(reason));
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
}

/* Writes how the picks came about. */
TCALL_NOINLINE_ static int tcall_write_ranking_(tcall_writer *w, tcall *tc,
                                                const tcall_pick_report *report)
{
    tcall_ranking_ ranking;
    int error = tcall_ranking_init_(&ranking, tc, report->input, report->opts);
    if (error < 0)
        return error;
    if (ranking.query->term_count > 0)
        tcall_ranking_prepare_(&ranking);
    tcall_write_open(w, '{');
    tcall_write_key(w, "scorers");
    tcall_write_scorers_(w, &ranking);
    tcall_write_key(w, "terms");
    tcall_write_terms_(w, &ranking);
    tcall_write_key(w, "picks");
    tcall_write_picked_(w, &ranking, report);
    tcall_write_key(w, "excluded");
    tcall_write_excluded_(w, &ranking);
    return TCALL_OK;
}

int tcall_write_picks(tcall_writer *w, tcall *tc,
                      const tcall_pick_report *report)
{
    size_t saved = tcall_pick_saved_(tc, report->picks, report->count);
    const tcall *outer = tc->busy;
    size_t lent = tc->block.lent;
    int error;
    tc->busy = tc;
    error = tcall_write_ranking_(w, tc, report);
    tcall_block_unlend_(&tc->block, lent);
    tc->busy = outer;
    if (error < 0)
        return error;
    tcall_write_count_(w, "bytes_saved", (uint32_t)saved);
    tcall_write_count_(w, "tokens_saved", (uint32_t)(saved / 4));
    return tcall_write_close(w, '}');
}
