#pragma once
#include "pick.c"

/* ==========================================================================
 * >>pick_index
 */

#ifndef TOOLCALL_NO_PICK

/* ---- an index, linked only where one is built
 *
 * Each different word of the tools with the tools that have it. So a query
 * reads what is said of its keys, and nothing of other words; the words of all
 * synonyms are hashed already. */

/* A word. It is in two chains, of words whose stems, and whose prefixes, fall
 * into the same row. Its postings follow those of the word before it. */
enum { TCALL_BY_STEM_, TCALL_BY_PREFIX_ };
typedef struct tcall_entry_ {
    uint32_t hash[2]; /* 20 bits, and the letters; 20 bits and 1, or 0: none */
    uint32_t next[2]; /* 1 more than the number of a word, 0: none */
    uint32_t end;     /* of its postings */
} tcall_entry_;

/* Where chains begin, and what is known of a tool. */
typedef struct tcall_row_ {
    uint32_t first[2];
    uint16_t length; /* in quarters of a word */
    uint16_t name;   /* words of it */
} tcall_row_;

/* A posting, of a tool that has a word: its number, what that counts by as the
 * word itself and as a synonym, no more than matters, and how often its name
 * has the word. */
#define TCALL_POST_TOOL_(p) (0xFFFF & (p))
#define TCALL_POST_OWN_(p)  ((p) >> 16 & 31)
#define TCALL_POST_LIKE_(p) ((p) >> 21 & 3)
#define TCALL_POST_NAME_(p) ((p) >> 23)
#define TCALL_OWN_MAX_      16u
#define TCALL_LIKE_MAX_     3u

/* As tcall_query_synonyms_. */
static void tcall_index_widen_(tcall_query_ *q, const tcall_index *index)
{
    const uint32_t *word = index->synonyms, *w;
    const uint32_t *end = word + index->synonym_count;
    for (; word < end; word++) {
        int term;
        if (!tcall_pick_bit_(q->letters, *word >> 2 & 0x3FF))
            continue;
        term = tcall_query_term_(q, *word);
        if (term < 0)
            continue;
        for (w = word; !(*w & 1); w--)
            ;
        do {
            q->words.letters = *w >> 2 & 0x3FF;
            if (tcall_query_term_(q, *w) != term)
                tcall_query_add_(q, *w, (uint32_t)term | TCALL_SLOT_WEAK_);
        } while (++w < end && !(*w & 1));
    }
}

/* While the index is read, record.length has this bit for a tool that may be
 * picked; the others are what it has of the word at hand. */
#define TCALL_RECORD_FREE_ 0x80u

/* What is done with the postings of a key. First synonyms and the like are
 * added to the levels, up to three, which those tell apart; then the word
 * itself is, when it is summed up, since more than one can have its hash. */
enum { TCALL_INDEX_LIKE_, TCALL_INDEX_SUM_, TCALL_INDEX_OWN_ };

/* The level of each sum: tcall_pick_levels_ the other way round. */
static const uint8_t tcall_index_levels_[TCALL_OWN_MAX_ * 2 + TCALL_LIKE_MAX_] =
    {0, 1, 2, 3, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7,
     7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};

static void tcall_index_word_(tcall_ranking_ *k, const tcall_entry_ *w,
                              unsigned t, int what, bool names)
{
    const tcall_index *index = k->opts->index;
    const uint32_t *p = index->postings + (w > index->words ? w[-1].end : 0);
    const uint32_t *end = index->postings + w->end;
    uint16_t *any = &k->q->any[t], *exact = &k->q->exact[t];
    for (; p < end; p++) {
        tcall_record_ *r = &k->records[TCALL_POST_TOOL_(*p)];
        uint16_t *levels = &r->levels[t / 5], counts = r->length >> 7;
        unsigned at = t % 5 * 3, level = *levels >> at & 7, sum;
        unsigned own = r->length & ~TCALL_RECORD_FREE_;
        if (names)
            r->name = (uint8_t)(r->name + TCALL_POST_NAME_(*p));
        if (what == TCALL_INDEX_SUM_) {
            if (own < TCALL_OWN_MAX_)
                r->length = (uint8_t)(r->length + TCALL_POST_OWN_(*p));
            continue;
        }
        if (what == TCALL_INDEX_LIKE_) {
            sum = level + TCALL_POST_LIKE_(*p);
            sum = sum < TCALL_LIKE_MAX_ ? sum : TCALL_LIKE_MAX_;
        } else if (own > 0) {
            sum = level + own;
            r->length = (uint8_t)(r->length - own);
            *exact = (uint16_t)(*exact + counts);
        } else
            continue;
        if (level == 0)
            *any = (uint16_t)(*any + counts);
        level ^= tcall_index_levels_[sum];
        *levels = (uint16_t)(*levels ^ level << at);
    }
}

/* All words that have the key in a slot: as their stem, or, where that is no
 * key itself, as their prefix. */
static void tcall_index_key_(tcall_ranking_ *k, unsigned at, int what)
{
    const tcall_index *index = k->opts->index;
    tcall_query_ *q = k->q;
    uint32_t slot = q->slot[at], n;
    const tcall_row_ *row = &index->rows[(slot >> 12) % index->row_count];
    unsigned first = slot >> 12, by, home;
    bool names;
    tcall_query_find_(q, slot, &first); /* words of a name count but once */
    names = (first - at) % TCALL_PICK_SLOTS_ == 1 && what != TCALL_INDEX_OWN_;
    for (by = TCALL_BY_STEM_; by <= TCALL_BY_PREFIX_; by++)
        for (n = row->first[by]; n > 0; n = index->words[n - 1].next[by]) {
            const tcall_entry_ *w = &index->words[n - 1];
            uint32_t stem = w->hash[TCALL_BY_STEM_];
            home = stem >> 12;
            if (((w->hash[by] ^ slot) & TCALL_SLOT_HASH_) == 0 &&
                tcall_pick_bit_(q->letters, stem & 0x3FF) &&
                (by == TCALL_BY_STEM_ || !tcall_query_find_(q, stem, &home)))
                tcall_index_word_(k, w, slot & TCALL_SLOT_TERM_, what, names);
        }
}

/* Makes the records of all tools, and counts those that have a term. */
static void tcall_index_read_(tcall_ranking_ *k)
{
    tcall_query_ *q = k->q;
    const tcall_row_ *row = k->opts->index->rows;
    tcall_record_ *r = k->records, *end = r + k->tc->desc.tool_count;
    unsigned at;
    size_t i;
    memset(r, 0, (size_t)(end - r) * sizeof *r);
    for (i = 0; tcall_ranking_next_(k, &i); i++, k->tools++)
        r[i].length = TCALL_RECORD_FREE_;
    if (k->late)
        return;
    for (at = 0; at < TCALL_PICK_SLOTS_; at++)
        if (q->slot[at] & TCALL_SLOT_WEAK_)
            tcall_index_key_(k, at, TCALL_INDEX_LIKE_);
    for (at = 0; at < TCALL_PICK_SLOTS_; at++)
        if (q->slot[at] && !(q->slot[at] & TCALL_SLOT_WEAK_)) {
            tcall_index_key_(k, at, TCALL_INDEX_SUM_);
            tcall_index_key_(k, at, TCALL_INDEX_OWN_);
        }
    for (; r < end; r++, row++)
        if (r->length) {
            tcall_record_close_(r, row->length, row->name, r->name);
            q->lengths += tcall_record_length_(r) * 16;
        }
}

/* An index that is being built: a first pass counts the postings of each word,
 * a second one writes them. */
typedef struct tcall_indexing_ {
    tcall_block *block;
    size_t missing; /* bytes, if any */
    tcall_row_ *rows;
    uint32_t row_count;
    tcall_entry_ *words;
    uint32_t count;     /* of words */
    uint32_t *postings; /* NULL: first pass */
    uint32_t posted;    /* what it counts */
    uint32_t tool;
} tcall_indexing_;

/* Memory behind what was taken before; NULL where some is missing. */
static void *tcall_index_take_(tcall_indexing_ *m, size_t n)
{
    void *at = tcall_block_gap_(m->block);
    if (m->missing || !tcall_block_grow_(m->block, n)) {
        m->missing += n;
        return NULL;
    }
    return memset(at, 0, n);
}

/* The word, which is added if it is new; NULL where memory is missing. */
static tcall_entry_ *tcall_index_find_(tcall_indexing_ *m,
                                       const tcall_split_ *t)
{
    uint32_t stem = (t->stem & TCALL_SLOT_HASH_) | t->letters;
    uint32_t prefix = t->prefix ? (t->prefix & TCALL_SLOT_HASH_) | 1 : 0;
    uint32_t *link =
        m->rows ? m->rows[(stem >> 12) % m->row_count].first : NULL;
    tcall_entry_ *w;
    for (; link && *link; link = w->next) {
        w = &m->words[*link - 1];
        if (w->hash[TCALL_BY_STEM_] == stem &&
            w->hash[TCALL_BY_PREFIX_] == prefix)
            return w;
    }
    w = (tcall_entry_ *)tcall_index_take_(m, sizeof *w);
    if (!w || !link)
        return NULL;
    *link = ++m->count;
    w->hash[TCALL_BY_STEM_] = stem;
    w->hash[TCALL_BY_PREFIX_] = prefix;
    return w;
}

/* Adds a word of the tool at hand. In place of the second chain, which is made
 * at last, stands 1 more than the tool that had the word before. */
static void tcall_index_add_(tcall_indexing_ *m, const tcall_split_ *t,
                             unsigned where)
{
    const uint8_t *weight = tcall_pick_weights_[where];
    tcall_entry_ *w = tcall_index_find_(m, t);
    uint32_t p = m->tool, own, like;
    bool again = w && w->next[TCALL_BY_PREFIX_] == p + 1;
    m->posted += !again;
    if (!w)
        return;
    w->next[TCALL_BY_PREFIX_] = p + 1;
    w->end += !again;
    if (!m->postings)
        return;
    if (again)
        p = m->postings[w->end - 1];
    own = TCALL_POST_OWN_(p) + weight[0];
    like = TCALL_POST_LIKE_(p) + weight[1];
    m->postings[w->end - 1] =
        TCALL_POST_TOOL_(p) |
        (own < TCALL_OWN_MAX_ ? own : TCALL_OWN_MAX_) << 16 |
        (like < TCALL_LIKE_MAX_ ? like : TCALL_LIKE_MAX_) << 21 |
        (TCALL_POST_NAME_(p) + (where == TCALL_IN_NAME_)) << 23;
}

static void tcall_index_pass_(tcall_indexing_ *m, const tcall_desc *d)
{
    for (m->tool = 0; m->tool < d->tool_count; m->tool++) {
        unsigned length = 0, name = 0, text;
        tcall_split_ t;
        for (text = 0; text < TCALL_PICK_TEXTS_; text++) {
            unsigned where = tcall_pick_text_(&t, &d->tools[m->tool], text);
            while (tcall_split_next_(&t))
                tcall_index_add_(m, &t, where);
            length += tcall_pick_weights_[where][2] * t.longer;
            if (where == TCALL_IN_NAME_)
                name = t.words;
        }
        if (m->rows) {
            m->rows[m->tool].length =
                (uint16_t)(length < 0xFFFF ? length : 0xFFFF);
            m->rows[m->tool].name = (uint16_t)name;
        }
    }
}

/* As many numbers as the lines have words: 20 bits of the hash, the letters,
 * and 1 where a line begins. */
static size_t tcall_index_synonyms_(tcall_indexing_ *m)
{
    size_t n = 0;
#ifndef TOOLCALL_NO_SYNONYMS
    const char *const *text = tcall_synonyms;
    for (; *text; text++) {
        tcall_split_ t;
        tcall_split_input_(&t, tcall_str_of(*text)); /* tells lines apart */
        for (; tcall_split_next_(&t); n++) {
            uint32_t *word = (uint32_t *)tcall_index_take_(m, sizeof *word);
            if (word)
                *word = (t.stem & TCALL_SLOT_HASH_) | t.letters << 2 |
                        (t.stop || t.words == 1);
        }
    }
#else
    (void)m;
#endif
    return n;
}

/* A row for each tool and each half KB of text, so that chains are short. */
static uint32_t tcall_index_rows_(const tcall_desc *d)
{
    size_t bytes = 0, i;
    unsigned text;
    for (i = 0; i < d->tool_count; i++)
        for (text = 0; text < TCALL_PICK_TEXTS_; text++) {
            tcall_split_ t;
            tcall_pick_text_(&t, &d->tools[i], text);
            bytes += (size_t)(t.end - t.p);
        }
    return (uint32_t)(d->tool_count + bytes / 512 + 1);
}

int tcall_pick_index(tcall *tc, tcall_index *index)
{
    tcall_block *b = &tc->block;
    size_t count = tc->desc.tool_count, low = b->low;
    tcall_indexing_ m;
    uint32_t i, posted = 0;
    memset(index, 0, sizeof *index);
    memset(&m, 0, sizeof m);
    if (count > 0xFFFF)
        return TCALL_E_USAGE;
    m.block = b;
    m.row_count = tcall_index_rows_(&tc->desc);
    tcall_index_take_(&m, (0 - (uintptr_t)tcall_block_gap_(b)) & 7);
    index->synonyms = (uint32_t *)(void *)tcall_block_gap_(b);
    index->synonym_count = tcall_index_synonyms_(&m);
    m.rows = (tcall_row_ *)tcall_index_take_(&m, m.row_count * sizeof *m.rows);
    m.words = (tcall_entry_ *)(void *)tcall_block_gap_(b);
    tcall_index_pass_(&m, &tc->desc);
    for (i = 0; i < m.count; i++) {
        uint32_t n = m.words[i].end;
        m.words[i].end = posted;
        m.words[i].next[TCALL_BY_PREFIX_] = 0;
        posted += n;
    }
    m.postings = (uint32_t *)tcall_index_take_(&m, m.posted * sizeof(uint32_t));
    tcall_index_take_(&m, (0 - (uintptr_t)tcall_block_gap_(b)) & 7);
    if (m.missing) {
        tcall_block_room_(b, m.missing);
        b->low = low;
        return TCALL_E_MEMORY;
    }
    tcall_index_pass_(&m, &tc->desc);
    for (i = 0; i < m.count; i++) {
        tcall_entry_ *w = &m.words[i];
        uint32_t prefix = w->hash[TCALL_BY_PREFIX_];
        tcall_row_ *row = &m.rows[(prefix >> 12) % m.row_count];
        w->next[TCALL_BY_PREFIX_] = prefix ? row->first[TCALL_BY_PREFIX_] : 0;
        if (prefix)
            row->first[TCALL_BY_PREFIX_] = i + 1;
    }
    index->tools = count;
    index->row_count = m.row_count;
    index->rows = m.rows;
    index->words = m.words;
    index->postings = m.postings;
    index->widen = tcall_index_widen_;
    index->read = tcall_index_read_;
    return TCALL_OK;
}

#endif
