#pragma once
#include "registry.c"
#include "words.c"
#include "synonyms.c"

/* ==========================================================================
 * >>query: what an input asks for, and what a tool says of it
 *
 * The words of the input become terms. A term has keys: the stem of its word,
 * the first six letters of that stem, and the stems of its synonyms. For each
 * tool, a record of 20 bytes keeps how much its texts say about each term.
 *
 * Keys are compared by hashes of 32 bits, because their texts would take more
 * memory than a microcontroller can spare. A word of a tool is mistaken for one
 * of 224 keys once in twenty million different words, and then adds a little to
 * the score of its tool. Nobody gains by looking for such a word: whoever wants
 * a tool to be found can write the word itself.
 */

#ifndef TOOLCALL_NO_PICK

enum {
    TCALL_QUERY_TERMS_ = 45,    /* most different words of an input */
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
    {12, 3, 4}, {4, 1, 4}, {4, 1, 4}, {4, 1, 4}, {2, 1, 1}};

static const uint8_t tcall_levels_[TCALL_LEVELS_] = {0, 1, 2, 3, 4, 7, 12, 16};

/* How much a tool says about each term. */
typedef struct tcall_record_ {
    uint16_t levels[(size_t)TCALL_QUERY_TERMS_ / TCALL_LEVELS_PER_WORD_];
    uint8_t length; /* of its texts, see tcall_record_length_; 0: it may not be
                       picked */
    uint8_t name;   /* how much of its name was asked for; 16: all words */
} tcall_record_;

typedef struct tcall_term_ {
    uint16_t exact_tools; /* that have the word itself */
    uint16_t tools;       /* that have it or something like it */
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
    uint32_t lengths; /* of all tools, in sixteenths of what records say */
    uint32_t level;   /* the best score of all, in thousandths */
    tcall_term_ terms[TCALL_QUERY_TERMS_];
    uint32_t initials[32];               /* of all keys, see tcall_initials_ */
    uint32_t hashes[TCALL_QUERY_SLOTS_]; /* of keys, by open addressing */
    uint8_t key_terms[TCALL_QUERY_SLOTS_]; /* 1 more than the term, and
                                              TCALL_KEY_FUZZY_; 0: free */
} tcall_query_;

/* ---- records */

TCALL_SHARED_ unsigned tcall_record_level_(const tcall_record_ *record,
                                           unsigned term)
{
    unsigned shift = term % TCALL_LEVELS_PER_WORD_ * TCALL_LEVEL_BITS_;
    return record->levels[term / TCALL_LEVELS_PER_WORD_] >> shift &
           (TCALL_LEVELS_ - 1);
}

/* Keeps a sum as the highest level that it reaches. */
TCALL_SHARED_ void tcall_record_keep_(tcall_record_ *record, unsigned term,
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

/* Keeps the length of the texts, given in quarters of a word, and the part of
 * the name that was asked for. */
TCALL_SHARED_ void tcall_record_close_(tcall_record_ *record, unsigned length,
                                       unsigned name_words, unsigned asked)
{
    unsigned coarse = length < 128 ? length : 128 + (length - 128) / 16;
    record->length = (uint8_t)(coarse > 0 ? tcall_at_most_(coarse, 255) : 1);
    record->name = (uint8_t)(name_words ? asked * 16 / name_words : 0);
}

/* Returns the length of the texts in quarters of a word. */
TCALL_SHARED_ unsigned tcall_record_length_(const tcall_record_ *record)
{
    unsigned coarse = record->length;
    return coarse < 128 ? coarse : 128 + (coarse - 128) * 16;
}

/* ---- keys */

/* Finds the next key with a hash, from *slot on, and moves *slot past it.
 * Returns its entry in key_terms, or 0 when there is no other. */
TCALL_SHARED_ unsigned tcall_query_find_(const tcall_query_ *query,
                                         uint32_t hash, unsigned *slot)
{
    for (;;) {
        unsigned at = (*slot)++ % TCALL_QUERY_SLOTS_;
        if (query->key_terms[at] == 0 || query->hashes[at] == hash)
            return query->key_terms[at];
    }
}

/* Returns the slot where the search for a key begins. */
TCALL_SHARED_ unsigned tcall_query_slot_(uint32_t hash)
{
    return hash >> 24;
}

/* Returns whether the search for the hash of a slot finds this slot first. */
TCALL_SHARED_ bool tcall_query_is_first_(const tcall_query_ *query,
                                         unsigned slot)
{
    unsigned at = tcall_query_slot_(query->hashes[slot]);
    tcall_query_find_(query, query->hashes[slot], &at);
    return (at - 1) % TCALL_QUERY_SLOTS_ == slot;
}

TCALL_SHARED_ unsigned tcall_key_term_(unsigned key)
{
    return (key & TCALL_KEY_TERM_) - 1;
}

/* Returns the term whose own word has this stem, or -1. */
TCALL_SHARED_ int tcall_query_term_(const tcall_query_ *query, uint32_t stem)
{
    unsigned slot = tcall_query_slot_(stem), key;
    while ((key = tcall_query_find_(query, stem, &slot)) != 0)
        if (!(key & TCALL_KEY_FUZZY_))
            return (int)tcall_key_term_(key);
    return -1;
}

/* Adds a key to a term, unless it is there or the table is full. */
static void tcall_query_add_(tcall_query_ *query, uint32_t hash,
                             unsigned initials, unsigned term, bool fuzzy)
{
    unsigned slot = tcall_query_slot_(hash), found;
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
        /* Long numbers are values: no tool mentions them. */
        if (tcall_split_stops_(&words) ||
            (words.length > 4 && tcall_is_digit_(*words.word)))
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

static void tcall_query_synonyms_(tcall_query_ *query,
                                  const char *const *synonyms)
{
    for (; *synonyms; synonyms++) {
        const char *line = *synonyms;
        while (*line) {
            size_t length = strcspn(line, "\n");
            tcall_query_line_(query, tcall_slice_(line, length));
            line += length;
            line += *line == '\n';
        }
    }
}

/* Makes the query of an input. Without synonyms it uses tcall_synonyms. */
TCALL_SHARED_ void tcall_query_init_(tcall_query_ *query, tcall_str input,
                                     const char *const *synonyms)
{
    memset(query, 0, sizeof *query);
    tcall_query_input_(query, input);
#ifndef TOOLCALL_NO_SYNONYMS
    if (!synonyms)
        synonyms = tcall_synonyms;
#endif
    if (synonyms)
        tcall_query_synonyms_(query, synonyms);
}

/* ---- tools */

/* Begins to split one of the texts of a tool. */
TCALL_SHARED_ void tcall_split_tool_(tcall_split_ *words,
                                     const tcall_tool *tool, unsigned text)
{
    const char *texts[TCALL_TEXT_COUNT_];
    texts[TCALL_TEXT_NAME_] = tool->name;
    texts[TCALL_TEXT_TITLE_] = tool->title;
    texts[TCALL_TEXT_DESCRIPTION_] = tool->description;
    texts[TCALL_TEXT_TAGS_] = tool->tags;
    texts[TCALL_TEXT_PARAMETERS_] = tool->parameters.text;
    tcall_split_init_(words, tcall_str_of(texts[text]));
    if (text == TCALL_TEXT_PARAMETERS_) {
        words->json = tool->parameters.text != NULL;
        words->shape = tool->shape;
    }
}

/* Adds a word of a tool to the sums of the terms that have this key. Returns
 * whether there is such a term. */
static bool tcall_query_hit_(tcall_query_ *query, uint32_t hash,
                             const struct tcall_text_weight_ *weight)
{
    unsigned slot = tcall_query_slot_(hash), key;
    bool hit = false;
    while ((key = tcall_query_find_(query, hash, &slot)) != 0) {
        tcall_term_ *term = &query->terms[tcall_key_term_(key)];
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
        tcall_split_tool_(&words, tool, text);
        words.wanted = query->initials;
        while (tcall_split_next_(&words))
            if (tcall_query_hit_(query, words.stem, weight) ||
                (words.prefix && tcall_query_hit_(query, words.prefix, weight)))
                asked += text == TCALL_TEXT_NAME_;
        length += weight->length * words.longer;
        if (text == TCALL_TEXT_NAME_)
            name_words = words.count;
    }
    tcall_record_close_(record, length, name_words, asked);
}

/* Makes the record of a tool. With `count`, counts it among the tools of each
 * term that it has. */
TCALL_SHARED_ void tcall_query_read_(tcall_query_ *query,
                                     const tcall_tool *tool,
                                     tcall_record_ *record, bool count)
{
    unsigned i;
    memset(record, 0, sizeof *record);
    tcall_query_sum_(query, tool, record);
    for (i = 0; i < query->term_count; i++) {
        tcall_term_ *term = &query->terms[i];
        unsigned fuzzy = tcall_at_most_(term->fuzzy, TCALL_FUZZY_MAX_);
        tcall_record_keep_(record, i, term->exact + fuzzy);
        if (count) {
            term->exact_tools =
                (uint16_t)(term->exact_tools + (term->exact > 0));
            term->tools = (uint16_t)(term->tools + (term->exact + fuzzy > 0));
        }
        term->exact = term->fuzzy = 0;
    }
}

#endif /* TOOLCALL_NO_PICK */
