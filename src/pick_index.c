#pragma once
#include "pick_index.h"
#include "query.c"

/* ==========================================================================
 * >>pick_index
 *
 * An inverted index: it lists, for each different word, the tools that have it.
 * So a pick reads only the postings of its keys instead of the texts.
 */

#ifndef TOOLCALL_NO_PICK

#ifndef TOOLCALL_NO_PICK_INDEX

/* Where the chains begin of entries whose stems, or prefixes, fall into this
 * bucket: the number of an entry plus 1, or 0 for none. */
typedef struct tcall_bucket_ {
    uint32_t by_stem, by_prefix;
} tcall_bucket_;

/* A word. Its postings follow those of the entry before, in the order of the
 * tools. */
typedef struct tcall_entry_ {
    uint32_t stem, prefix;                 /* hashes; prefix may be 0: none */
    uint32_t next_by_stem, next_by_prefix; /* as in tcall_bucket_ */
    uint32_t end; /* of its postings; their number while they are counted */
    uint32_t last_tool; /* 1 more than the last one that was seen to have it */
} tcall_entry_;

/* What the record of a tool needs besides its words. */
typedef struct tcall_indexed_ {
    uint16_t length; /* of its texts, in quarters of a word */
    uint16_t name_words;
} tcall_indexed_;

/* How much a tool says about a word, up to what makes a difference. */
enum { TCALL_EXACT_MAX_ = 16 };
typedef struct tcall_posting_ {
    unsigned tool : 16;
    unsigned exact : 5; /* when the word itself is wanted */
    unsigned fuzzy : 2; /* when something like it is */
    unsigned name : 9;  /* how often the name of the tool has it */
} tcall_posting_;

/* ---- reading */

/* What a key adds to the records of all tools that have a word. */
typedef struct tcall_adding_ {
    tcall_term_ *term;
    unsigned number; /* of the term */
    bool fuzzy;
    bool name; /* no other key of this hash has counted the word in names */
} tcall_adding_;

static tcall_adding_ tcall_index_adding_(tcall_query_ *query, unsigned slot)
{
    tcall_adding_ adding;
    adding.number = tcall_key_term_(query->key_terms[slot]);
    adding.term = &query->terms[adding.number];
    adding.fuzzy = (query->key_terms[slot] & TCALL_KEY_FUZZY_) != 0;
    adding.name = tcall_query_is_first_(query, slot);
    return adding;
}

/* Adds a posting to the record of its tool. Fuzzy keys are all added before the
 * exact one, and until then a level equals the sum: both end at 3. */
static void tcall_index_add_(const tcall_posting_ *posting,
                             const tcall_adding_ *adding, tcall_record_ *record)
{
    tcall_term_ *term = adding->term;
    unsigned before = tcall_record_level_(record, adding->number);
    unsigned sum = before + posting->exact;
    if (adding->fuzzy)
        sum = tcall_at_most_(before + posting->fuzzy, TCALL_FUZZY_MAX_);
    tcall_record_keep_(record, adding->number, sum);
    term->tools = (uint16_t)(term->tools + (before == 0));
    term->exact_tools = (uint16_t)(term->exact_tools + !adding->fuzzy);
    if (adding->name)
        record->name = (uint8_t)(record->name + posting->name);
}

/* Adds all postings of a word, except those of tools that may not be picked. */
static void tcall_index_add_entry_(const tcall_index *index, uint32_t number,
                                   const tcall_adding_ *adding,
                                   tcall_record_ *records)
{
    const tcall_entry_ *entry = &index->entries[number];
    uint32_t i = number > 0 ? entry[-1].end : 0;
    for (; i < entry->end; i++) {
        const tcall_posting_ *posting = &index->postings[i];
        tcall_record_ *record = &records[posting->tool];
        if (record->length > 0)
            tcall_index_add_(posting, adding, record);
    }
}

/* Adds all words whose stem is the key in a slot, or whose prefix is, when the
 * stem is no key itself. */
static void tcall_index_key_(const tcall_index *index, tcall_query_ *query,
                             tcall_record_ *records, unsigned slot)
{
    tcall_adding_ adding = tcall_index_adding_(query, slot);
    uint32_t hash = query->hashes[slot], next;
    const tcall_bucket_ *bucket = &index->buckets[hash % index->bucket_count];
    const tcall_entry_ *entry;
    for (next = bucket->by_stem; next > 0; next = entry->next_by_stem) {
        entry = &index->entries[next - 1];
        if (entry->stem == hash)
            tcall_index_add_entry_(index, next - 1, &adding, records);
    }
    for (next = bucket->by_prefix; next > 0; next = entry->next_by_prefix) {
        unsigned at;
        entry = &index->entries[next - 1];
        at = tcall_query_slot_(entry->stem);
        if (entry->prefix == hash &&
            !tcall_query_find_(query, entry->stem, &at))
            tcall_index_add_entry_(index, next - 1, &adding, records);
    }
}

/* Adds the words of all fuzzy keys, or of all exact ones. */
static void tcall_index_keys_(const tcall_index *index, tcall_query_ *query,
                              tcall_record_ *records, bool fuzzy)
{
    unsigned slot;
    for (slot = 0; slot < TCALL_QUERY_SLOTS_; slot++) {
        unsigned key = query->key_terms[slot];
        if (key && ((key & TCALL_KEY_FUZZY_) != 0) == fuzzy)
            tcall_index_key_(index, query, records, slot);
    }
}

/* Fills the records and counts the tools of each term. Records are empty, and
 * those of tools that may be picked have some length. */
TCALL_SHARED_ void tcall_index_read_(const tcall_index *index,
                                     tcall_query_ *query,
                                     tcall_record_ *records)
{
    size_t i;
    tcall_index_keys_(index, query, records, true);
    tcall_index_keys_(index, query, records, false);
    for (i = 0; i < index->tool_count; i++) {
        const tcall_indexed_ *tool = &index->tools[i];
        if (records[i].length > 0)
            tcall_record_close_(&records[i], tool->length, tool->name_words,
                                records[i].name);
    }
}

/* Returns whether an index was made, and of this number of tools. */
TCALL_SHARED_ bool tcall_index_fits_(const tcall_index *index,
                                     size_t tool_count)
{
    return index->bucket_count > 0 && index->tool_count == tool_count;
}

/* ---- building
 *
 * The first pass over the texts finds the words and counts their postings, the
 * second writes them. When memory runs out the first pass goes on, to find out
 * how much would do.
 */

typedef struct tcall_indexing_ {
    tcall_block *block;
    size_t missing; /* bytes of memory, if any */
    tcall_bucket_ *buckets;
    uint32_t bucket_count;
    tcall_indexed_ *tools;
    tcall_entry_ *entries;
    uint32_t entry_count;
    tcall_posting_ *postings; /* NULL in the first pass */
    uint32_t posting_count;
    uint32_t tool; /* at hand */
} tcall_indexing_;

/* Takes zeroed memory after what was taken before; NULL when it runs out. */
static void *tcall_index_take_(tcall_indexing_ *making, size_t size)
{
    void *at = tcall_block_gap_(making->block);
    if (making->missing || !tcall_block_grow_(making->block, size)) {
        making->missing += size;
        return NULL;
    }
    return memset(at, 0, size);
}

static void tcall_index_align_(tcall_indexing_ *making)
{
    uintptr_t at = (uintptr_t)tcall_block_gap_(making->block);
    tcall_index_take_(making, (0 - at) & 7);
}

/* Puts the newest entry at the front of a chain, which begins at *first. */
static void tcall_index_chain_(const tcall_indexing_ *making, uint32_t *first,
                               uint32_t *next)
{
    *next = *first;
    *first = making->entry_count;
}

/* Adds an entry for a word; returns NULL when memory runs out. */
static tcall_entry_ *tcall_index_insert_(tcall_indexing_ *making,
                                         const tcall_split_ *word)
{
    tcall_entry_ *entry =
        (tcall_entry_ *)tcall_index_take_(making, sizeof *entry);
    tcall_bucket_ *buckets = making->buckets;
    uint32_t count = making->bucket_count;
    if (!entry)
        return NULL;
    making->entry_count++;
    entry->stem = word->stem;
    entry->prefix = word->prefix;
    tcall_index_chain_(making, &buckets[word->stem % count].by_stem,
                       &entry->next_by_stem);
    if (word->prefix)
        tcall_index_chain_(making, &buckets[word->prefix % count].by_prefix,
                           &entry->next_by_prefix);
    return entry;
}

/* Returns the entry of a word; adds it when it is new. NULL: out of memory. */
static tcall_entry_ *tcall_index_find_(tcall_indexing_ *making,
                                       const tcall_split_ *word)
{
    uint32_t next = 0;
    if (making->buckets)
        next = making->buckets[word->stem % making->bucket_count].by_stem;
    while (next > 0) {
        tcall_entry_ *entry = &making->entries[next - 1];
        if (entry->stem == word->stem)
            return entry;
        next = entry->next_by_stem;
    }
    return tcall_index_insert_(making, word);
}

/* Adds an occurrence in the current tool to a posting. */
static void tcall_index_post_(const tcall_indexing_ *making,
                              tcall_posting_ *posting, unsigned text)
{
    const struct tcall_text_weight_ *weight = &tcall_text_weights_[text];
    unsigned exact = posting->exact + weight->exact;
    unsigned fuzzy = posting->fuzzy + weight->fuzzy;
    posting->tool = making->tool & 0xFFFF;
    posting->exact = tcall_at_most_(exact, TCALL_EXACT_MAX_) & 31;
    posting->fuzzy = tcall_at_most_(fuzzy, TCALL_FUZZY_MAX_) & 3;
    if (text == TCALL_TEXT_NAME_)
        posting->name = (posting->name + 1) & 511;
}

/* Counts a word of the current tool, and posts it in the second pass. */
static void tcall_index_word_(tcall_indexing_ *making, const tcall_split_ *word,
                              unsigned text)
{
    tcall_entry_ *entry = tcall_index_find_(making, word);
    if (!entry) {
        making->posting_count++; /* perhaps too many, which suffices */
        return;
    }
    if (entry->last_tool != making->tool + 1) {
        entry->last_tool = making->tool + 1;
        entry->end++;
        making->posting_count++;
    }
    if (making->postings)
        tcall_index_post_(making, &making->postings[entry->end - 1], text);
}

static void tcall_index_tool_(tcall_indexing_ *making, const tcall_tool *tool)
{
    unsigned length = 0, name_words = 0, text;
    for (text = 0; text < TCALL_TEXT_COUNT_; text++) {
        tcall_split_ words;
        tcall_split_tool_(&words, tool, text);
        while (tcall_split_next_(&words))
            tcall_index_word_(making, &words, text);
        length += tcall_text_weights_[text].length * words.longer;
        if (text == TCALL_TEXT_NAME_)
            name_words = words.count;
    }
    if (making->tools) {
        tcall_indexed_ *known = &making->tools[making->tool];
        known->length = (uint16_t)tcall_at_most_(length, 0xFFFF);
        known->name_words = (uint16_t)tcall_at_most_(name_words, 0xFFFF);
    }
}

static void tcall_index_pass_(tcall_indexing_ *making, const tcall_desc *desc)
{
    for (making->tool = 0; making->tool < desc->tool_count; making->tool++)
        tcall_index_tool_(making, &desc->tools[making->tool]);
}

/* Replaces the number of postings of each word by where they begin. The second
 * pass moves that to where they end. */
static void tcall_index_layout_(tcall_indexing_ *making)
{
    uint32_t begin = 0, i;
    for (i = 0; i < making->entry_count; i++) {
        tcall_entry_ *entry = &making->entries[i];
        uint32_t count = entry->end;
        entry->end = begin;
        entry->last_tool = 0;
        begin += count;
    }
}

/* Returns how many buckets keep chains short: one for each tool and half KB. */
static uint32_t tcall_index_buckets_(const tcall_desc *desc)
{
    size_t bytes = 0, i;
    unsigned text;
    for (i = 0; i < desc->tool_count; i++)
        for (text = 0; text < TCALL_TEXT_COUNT_; text++) {
            tcall_split_ words;
            tcall_split_tool_(&words, &desc->tools[i], text);
            bytes += (size_t)(words.end - words.cursor);
        }
    return (uint32_t)(desc->tool_count + bytes / 512 + 1);
}

/* Takes memory for the tables and makes the first pass. */
static void tcall_index_count_(tcall_indexing_ *making, const tcall_desc *desc)
{
    size_t tools = desc->tool_count;
    making->bucket_count = tcall_index_buckets_(desc);
    tcall_index_align_(making);
    making->buckets = (tcall_bucket_ *)tcall_index_take_(
        making, making->bucket_count * sizeof(tcall_bucket_));
    making->tools = (tcall_indexed_ *)tcall_index_take_(
        making, tools * sizeof(tcall_indexed_));
    making->entries = (tcall_entry_ *)(void *)tcall_block_gap_(making->block);
    tcall_index_pass_(making, desc);
}

/* Makes both passes; returns false when memory runs out. */
static bool tcall_index_make_(tcall_indexing_ *making, const tcall_desc *desc)
{
    tcall_index_count_(making, desc);
    making->postings = (tcall_posting_ *)tcall_index_take_(
        making, making->posting_count * sizeof(tcall_posting_));
    tcall_index_align_(making);
    if (making->missing > 0)
        return false;
    tcall_index_layout_(making);
    tcall_index_pass_(making, desc);
    return true;
}

int tcall_pick_index(tcall *tc, tcall_index *index)
{
    size_t low = tc->block.low;
    tcall_indexing_ making;
    memset(index, 0, sizeof *index);
    memset(&making, 0, sizeof making);
    if (tc->offer || tc->desc.tool_count > 0xFFFF)
        return TCALL_E_USAGE;
    making.block = &tc->block;
    if (!tcall_index_make_(&making, &tc->desc)) {
        tcall_block_room_(&tc->block, making.missing); /* sets block.need */
        tc->block.low = low;
        return TCALL_E_MEMORY;
    }
    index->tool_count = tc->desc.tool_count;
    index->bucket_count = making.bucket_count;
    index->buckets = making.buckets;
    index->tools = making.tools;
    index->entries = making.entries;
    index->postings = making.postings;
    return TCALL_OK;
}

#else

/* TOOLCALL_NO_PICK_INDEX: tcall_pick refuses any index. */
static bool tcall_index_fits_(const tcall_index *index, size_t tool_count)
{
    (void)index;
    (void)tool_count;
    return false;
}

static void tcall_index_read_(const tcall_index *index, tcall_query_ *query,
                              tcall_record_ *records)
{
    (void)index;
    (void)query;
    (void)records;
}

#endif /* TOOLCALL_NO_PICK_INDEX */

#endif /* TOOLCALL_NO_PICK */
