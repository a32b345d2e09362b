#pragma once
#include "pick.h"
#include "tools.c"
#include "say_schema.c"

/* ==========================================================================
 * >>pick
 *
 * Text of any script is split into words, which are compared by their stems:
 * without case, accents, width and English endings. lampOn and HTTPServer are
 * two words each, PDFs is one. In scripts that are written without spaces, a
 * word is a pair of neighbouring characters.
 *
 * The words of the input become terms. A term has keys: the stem of its word,
 * the first six letters of that stem, and the stems of its synonyms. Each tool
 * is read once; a record of 24 bytes keeps how much it says of each term. The
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
    TCALL_WORD_BYTES_ = 28,    /* of a word; further ones do not count */
    TCALL_WORD_PREFIX_ = 6,    /* letters that make longer words alike */
    TCALL_PICK_TERMS_ = 40,    /* most different words of an input */
    TCALL_PICK_SENTENCES_ = 7, /* of the input; the last takes the rest */
    TCALL_PICK_SLOTS_ = 256,   /* of the table of keys */
    TCALL_PICK_KEYS_ = 224,    /* of them used at most */
    TCALL_PICK_SUM_ = 15       /* where the sums of a record stop growing */
};

/* Words that say nothing about what is wanted, by their first letter. Words
 * that tell a device what to do (on, off, up, down, all) are not among them. */
static const char tcall_stop_words_[] =
    "a able about additionally after again also am an and another any anyone "
    "anything anyway are as at\0"
    "based be because been before being best between both but by\0"
    "can could\0"
    "d did do does doing don done during\0"
    "e each etc every\0"
    "finally first following for from furthermore\0"
    "g give given good great\0"
    "had has have having he hello help her here hey hi him his how\0"
    "i if im in into is it its ive\0"
    "just\0"
    "kindly know\0"
    "lastly let lets like ll look looking\0"
    "m make may me might mine more moreover most must my\0"
    "need needs next no nor not now\0"
    "of ok okay once only or other our\0"
    "per please\0"
    "\0"
    "re regarding related\0"
    "s same second shall she should so some someone something soon such sure\0"
    "t tell than thank thanks that the their them then there these they thing "
    "things third this those through to too\0"
    "us use used using\0"
    "ve very via\0"
    "want wants was way ways we well were what when where which who whom whose "
    "why will with would\0"
    "\0"
    "yes you your\0";

/* ---- characters */

/* What a character is. All signs are less than the others. */
enum {
    TCALL_CHAR_SIGN_ = ' ',
    TCALL_CHAR_POINT_ = '!', /* a sign that may end a sentence or string */
    TCALL_CHAR_DIGIT_ = '0',
    TCALL_CHAR_CAPITAL_ = 'A',
    TCALL_CHAR_LETTER_ = 'a',
    TCALL_CHAR_MARK_ = 'm', /* accent of the letter before: it is left out */
    TCALL_CHAR_WIDE_ = 'w', /* of a script without spaces */
    /* of a byte that has to be looked at with those after it */
    TCALL_CHAR_ESCAPE_ = '}', /* a backslash, by itself a sign */
    TCALL_CHAR_PART_ = '~'    /* of a character beyond ASCII */
};

/* The kind of each byte. */
static const char tcall_bytes_[] = "          !                     "
                                   " !!           ! 0000000000 !   !"
                                   " AAAAAAAAAAAAAAAAAAAAAAAAAA }   "
                                   " aaaaaaaaaaaaaaaaaaaaaaaaaa     "
                                   "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
                                   "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
                                   "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
                                   "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~";

/* The kind of all characters from a code point on, up to the next row. */
static const struct tcall_script_ {
    uint32_t first;
    char kind;
} tcall_scripts_[] = {
    {0x0000, TCALL_CHAR_SIGN_},   {0x0100, TCALL_CHAR_LETTER_},
    {0x0300, TCALL_CHAR_MARK_},   {0x0370, TCALL_CHAR_LETTER_},
    {0x0E00, TCALL_CHAR_WIDE_},                               /* Thai, Lao */
    {0x0F00, TCALL_CHAR_LETTER_}, {0x1000, TCALL_CHAR_WIDE_}, /* Burmese */
    {0x10A0, TCALL_CHAR_LETTER_}, {0x1780, TCALL_CHAR_WIDE_}, /* Khmer */
    {0x1800, TCALL_CHAR_LETTER_}, {0x2000, TCALL_CHAR_SIGN_},
    {0x2C00, TCALL_CHAR_LETTER_}, {0x2E00, TCALL_CHAR_SIGN_},
    {0x2E80, TCALL_CHAR_WIDE_}, /* Chinese, Japanese, Korean from here on */
    {0x3000, TCALL_CHAR_SIGN_},   {0x3002, TCALL_CHAR_POINT_},
    {0x3003, TCALL_CHAR_SIGN_},   {0x3004, TCALL_CHAR_WIDE_},
    {0x3008, TCALL_CHAR_SIGN_},   {0x3040, TCALL_CHAR_WIDE_},
    {0xD7B0, TCALL_CHAR_LETTER_}, {0xD800, TCALL_CHAR_SIGN_},
    {0xF900, TCALL_CHAR_WIDE_},   {0xFB00, TCALL_CHAR_LETTER_},
    {0xFE00, TCALL_CHAR_SIGN_},   {0xFE70, TCALL_CHAR_LETTER_},
    {0xFF00, TCALL_CHAR_SIGN_},   {0xFF68, TCALL_CHAR_WIDE_},
    {0xFFF0, TCALL_CHAR_SIGN_},   {0x10000, TCALL_CHAR_LETTER_},
    {0x1F000, TCALL_CHAR_SIGN_},  {0x20000, TCALL_CHAR_WIDE_}};

typedef struct tcall_char_ {
    uint32_t code; /* without case, accent and width */
    size_t bytes;  /* 0 at the end of the text, which counts as a sign */
    char kind;
} tcall_char_;

static unsigned tcall_at_most_(size_t value, unsigned most)
{
    return value < most ? (unsigned)value : most;
}

static bool tcall_between_(uint32_t code, uint32_t first, uint32_t last)
{
    return code >= first && code <= last;
}

static bool tcall_is_letter_(char c)
{
    return tcall_between_((unsigned char)(c | 0x20), 'a', 'z');
}

static char tcall_byte_kind_(const char *at)
{
    return tcall_bytes_[(unsigned char)*at];
}

static char tcall_char_kind_(uint32_t code)
{
    size_t i = sizeof tcall_scripts_ / sizeof *tcall_scripts_ - 1;
    if (code < 0x80 && tcall_bytes_[code] != TCALL_CHAR_ESCAPE_)
        return tcall_bytes_[code]; /* most of them */
    while (tcall_scripts_[i].first > code)
        i--;
    return tcall_scripts_[i].kind;
}

/* Returns the lower letter of a code point, in Latin-1 without its accent. */
static uint32_t tcall_char_fold_(uint32_t code)
{
    /* U+00C0 to U+00DF; U+00E0 to U+00FF are their lower letters. */
    static const char latin[] = "aaaaaaaceeeeiiiidnooooo ouuuuyts";
    if (tcall_between_(code, 0xFF01, 0xFF5E)) /* full-width ASCII */
        code -= 0xFEE0;
    if (tcall_between_(code, 'A', 'Z') ||
        tcall_between_(code, 0x391, 0x3A9) || /* Greek */
        tcall_between_(code, 0x410, 0x42F))   /* Cyrillic */
        return code + 0x20;
    if (tcall_between_(code, 0x400, 0x40F))
        return code + 0x50;
    if (tcall_between_(code, 0xC0, 0xFF))
        return (unsigned char)latin[code % 32];
    if (tcall_between_(code, 0x100, 0x17F)) {
        /* A lower letter follows its capital, which mostly is even. */
        bool odd = tcall_between_(code, 0x139, 0x148) ||
                   tcall_between_(code, 0x179, 0x17E);
        return code + (code % 2 == odd);
    }
    return code;
}

/* ---- words */

/* A text, and the last word that was read from it. */
typedef struct tcall_split_ {
    const char *cursor, *end;
    const uint8_t *wanted; /* initials of wanted words; NULL: all are */
    bool parted;           /* look for sentences, and in JSON for keys */
    bool json;   /* it has escapes; if it is parted, it is JSON as a whole */
    bool quoted; /* the cursor is in a string of JSON */
    bool in_key; /* the word is part of a key */
    const char *sentence; /* where that of the word begins */
    const char *start;    /* of the word in the text */
    const char *paired;   /* the last character of a word of two */
    const char *letters;  /* there, or in word where they had to be folded */
    size_t length;        /* of them, in bytes */
    unsigned initials;
    uint32_t stem, prefix;        /* hashes; prefix is 0 for short words */
    unsigned count;               /* words of the text so far */
    char word[TCALL_WORD_BYTES_]; /* its letters, folded */
} tcall_split_;

static void tcall_split_init_(tcall_split_ *words, tcall_str text)
{
    const char *at = text.ptr;
    memset(words, 0, offsetof(tcall_split_, word));
    words->cursor = words->sentence = at;
    words->end = text.len ? at + text.len : at;
    while (at < words->end && (unsigned char)*at <= ' ')
        at++;
    words->json = at < words->end && (*at == '{' || *at == '[');
}

/* Returns the character at the cursor. A byte that is not UTF-8 has the
 * code 0. */
static tcall_char_ tcall_split_char_(const tcall_split_ *words)
{
    const char *at = words->cursor;
    char escaped[4];
    const char *from = escaped;
    int32_t next = 0;
    uint32_t code;
    tcall_char_ c;
    if (at < words->end && words->json &&
        tcall_byte_kind_(at) == TCALL_CHAR_ESCAPE_) {
        next =
            tcall_utf8_next_(&from, escaped + tcall_text_char_(&at, escaped));
    } else if (at < words->end) {
        next = tcall_utf8_next_(&at, words->end);
    }
    code = next < 0 ? 0 : (uint32_t)next;
    c.bytes = (size_t)(at - words->cursor);
    c.code = tcall_char_fold_(code);
    c.kind = tcall_char_kind_(c.code);
    if (c.kind == TCALL_CHAR_LETTER_ && c.code != code &&
        !tcall_between_(code, 0xDF, 0xFF))
        c.kind = TCALL_CHAR_CAPITAL_;
    return c;
}

/* Notes what a sign means for the next word, which the cursor is at. */
static void tcall_split_sign_(tcall_split_ *words, const tcall_char_ *sign)
{
    const char *next = words->cursor;
    bool ends = sign->kind == TCALL_CHAR_POINT_ && sign->code != '"';
    if (sign->code == '.' && next < words->end) /* not in 1.5, example.com */
        ends = tcall_byte_kind_(next) <= TCALL_CHAR_POINT_;
    if (sign->code == '"' && sign->bytes == 1 && words->json) {
        words->quoted = !words->quoted;
        words->in_key = words->quoted && tcall_text_is_key_(next - 1);
        ends = words->in_key;
    }
    if (ends)
        words->sentence = next;
}

static void tcall_split_put_(tcall_split_ *words, uint32_t code)
{
    char *end = words->word + words->length;
    if (words->length + 4 <= TCALL_WORD_BYTES_)
        words->length += tcall_utf8_(end, code);
}

/* Reads a word, or one sign; returns whether it was a word. A word is a row of
 * characters of one kind, where capitals and small letters that follow them are
 * one; or two wide characters, of which the second begins the next word, unless
 * it is the last of them. */
static bool tcall_split_read_(tcall_split_ *words)
{
    char kind = TCALL_CHAR_SIGN_; /* of the last character of the word */
    words->start = words->cursor;
    words->letters = words->word;
    for (words->length = 0;;) {
        tcall_char_ c = tcall_split_char_(words);
        if (kind != TCALL_CHAR_SIGN_ && c.kind != kind &&
            c.kind != TCALL_CHAR_MARK_ &&
            !(kind == TCALL_CHAR_CAPITAL_ && c.kind == TCALL_CHAR_LETTER_))
            return words->start != words->paired;
        if (kind == TCALL_CHAR_WIDE_) {
            tcall_split_put_(words, c.code);
            words->paired = words->cursor;
            return true;
        }
        words->cursor += c.bytes;
        if (c.kind < TCALL_CHAR_DIGIT_) {
            if (words->parted)
                tcall_split_sign_(words, &c);
            return false;
        }
        if (c.kind == TCALL_CHAR_MARK_)
            continue;
        tcall_split_put_(words, c.code);
        kind = c.kind;
    }
}

/* Returns where bytes of this kind end. */
static const char *tcall_row_(const char *at, const char *end, char kind)
{
    while (at < end && tcall_byte_kind_(at) == kind)
        at++;
    return at;
}

/* Returns ten bits from the first three letters, which all forms of a word
 * share: y and i differ in a bit that does not count, and so do capitals. They
 * rule most words out before the work of making a stem. */
static unsigned tcall_initials_(const char *word, size_t length)
{
    unsigned bits = (unsigned)(word[0] & 31) << 5;
    if (length > 1)
        bits ^= (unsigned)(word[1] & 15) << 1;
    if (length > 2)
        bits ^= (unsigned)(word[2] & 15) * 37;
    return bits & 1023;
}

/* Reads a word of ASCII letters or digits, which stays where it is until
 * somebody wants it. Returns false where other characters or escapes follow. */
static bool tcall_split_ascii_(tcall_split_ *words)
{
    const char *at = words->cursor, *end = words->end;
    const char *lower = tcall_row_(at, end, TCALL_CHAR_CAPITAL_);
    const char *after = tcall_row_(lower, end, TCALL_CHAR_LETTER_);
    if (after == at)
        after = tcall_row_(at, end, TCALL_CHAR_DIGIT_);
    else if (lower - at > 1 && after > lower &&
             !(after - lower == 1 && *lower == 's')) /* but for PDFs */
        after = lower - 1; /* HTTPServer: the last capital begins a word */
    if (after == at ||
        (after < end && tcall_byte_kind_(after) >= TCALL_CHAR_ESCAPE_))
        return false;
    words->start = words->letters = at;
    words->length = (size_t)(after - at);
    words->cursor = after;
    return true;
}

/* ---- stems */

static bool tcall_ends_with_(const char *word, size_t length, const char *end)
{
    size_t n = strlen(end);
    return memcmp(word + length - n, end, n) == 0;
}

/* Returns the length of the stem of a word of four letters or more, so that its
 * forms are alike: light, lights, lighting. A stem need not be a word. It has
 * at least three letters. */
static size_t tcall_stem_(const char *word, size_t length)
{
    size_t cut = 0;
    if (word[length - 1] == 's' && !strchr("isu", word[length - 2]))
        length--;
    if (tcall_ends_with_(word, length, "ed"))
        cut = 2;
    else if (tcall_ends_with_(word, length, "ing") ||
             tcall_ends_with_(word, length, "ion"))
        cut = 3;
    if (length - cut > 2)
        length -= cut;
    if (length > 3 && word[length - 1] == 'e')
        length--;
    if (length > 3 && word[length - 1] == word[length - 2])
        length--;
    return length;
}

/* Returns the FNV-1a hash of a word. In words with endings y counts as i: city,
 * cities. */
static uint32_t tcall_word_hash_(const char *word, size_t length, bool endings)
{
    uint32_t hash = TCALL_HASH_EMPTY_;
    for (; length > 0; length--, word++) {
        char c = endings && *word == 'y' ? 'i' : *word;
        hash = (hash ^ (unsigned char)c) * 16777619u;
    }
    return hash;
}

/* Makes the keys of a word. Only longer words of letters have endings and a
 * prefix. The hash of a prefix is inverted, so that it never equals that of a
 * stem with the same letters. */
static void tcall_split_stem_(tcall_split_ *words)
{
    const char *word = words->word;
    size_t length = words->length;
    bool endings = length > 3 && tcall_is_letter_(*word);
    if (endings)
        length = tcall_stem_(word, length);
    words->stem = tcall_word_hash_(word, length, endings);
    words->prefix = 0;
    if (endings && length >= TCALL_WORD_PREFIX_)
        words->prefix = ~tcall_word_hash_(word, TCALL_WORD_PREFIX_, true);
}

/* Reads the next wanted word and makes its stem; returns false at the end.
 * Words that are not wanted are counted, and no more. */
static bool tcall_split_next_(tcall_split_ *words)
{
    /* signs that mean nothing here are stepped over */
    const char most = words->parted ? TCALL_CHAR_SIGN_ : TCALL_CHAR_POINT_;
    const char *at;
    size_t i;
    for (;;) {
        for (at = words->cursor; at < words->end; at++)
            if (tcall_byte_kind_(at) > most)
                break;
        words->cursor = at;
        if (at == words->end)
            return false;
        if (!tcall_split_ascii_(words) && !tcall_split_read_(words))
            continue;
        words->count++;
        words->initials = tcall_initials_(words->letters, words->length);
        if (!words->wanted || TCALL_BIT_OF_(words->wanted, words->initials))
            break;
    }
    words->length = tcall_at_most_(words->length, TCALL_WORD_BYTES_);
    for (i = 0; i < words->length && words->letters != words->word; i++)
        words->word[i] = (char)(words->letters[i] | 0x20);
    tcall_split_stem_(words);
    return true;
}

/* Returns whether the word is a stop word. */
static bool tcall_split_stops_(const tcall_split_ *words)
{
    const char *list;
    if (!tcall_is_letter_(*words->word))
        return false;
    for (list = tcall_nth_(tcall_stop_words_, (unsigned)(*words->word - 'a'));
         *list;) {
        size_t length = strcspn(list, " ");
        if (length == words->length && memcmp(list, words->word, length) == 0)
            return true;
        list += length;
        list += *list == ' ';
    }
    return false;
}

/* ---- the ranking of all tools for one input */

/* How much a tool says of each term, and in how many words. */
typedef struct tcall_record_ {
    uint8_t sums[TCALL_PICK_TERMS_ / 2]; /* four bits each */
    uint16_t length; /* of its texts, in quarters of a word, and 1 */
    uint8_t name;    /* how much of its name was asked for; 16: all words */
} tcall_record_;

typedef struct tcall_term_ {
    uint32_t at;       /* of its word in the input, as it is first there */
    uint8_t length;    /* of it, in bytes */
    uint8_t weight;    /* 16 * log2 of how rare it is */
    uint8_t sentences; /* bits: 0 for the input, 1.. for its sentences */
    bool value;        /* it is not only in keys of JSON */
    uint32_t tools;    /* that have it; in quarters, of which tools that have
                        * only something like it count one */
} tcall_term_;

#define TCALL_KEY_FUZZY_ 0x80u
#define TCALL_KEY_TERM_  0x3Fu

/* A score of one thousandth. Ranks are finer, so that they tell more tools
 * apart: the best is 1000 of these and fits 32 bits. */
#define TCALL_RANK_ONE_ ((uint32_t)1 << 22)

/* The work on one input, in the block while it lasts. */
typedef struct tcall_ranking_ {
    tcall *tc;
    const tcall *outer; /* who was busy before */
    size_t mark;        /* of the block */
    tcall_str input;
    tcall_pick_opts opts;   /* with all defaults */
    tcall_record_ *records; /* of all tools */
    size_t count;           /* of all tools; a scorer may add others */
    uint32_t tools;         /* that may be picked */
    uint32_t started;
    bool timed_out;
    uint8_t term_count, sentence_count, key_count;
    uint32_t lengths; /* of all tools, as records say them */
    uint32_t level;   /* the best score of all, in thousandths */
    uint32_t best[1 + TCALL_PICK_SENTENCES_]; /* of all tools; 0: the input */
    tcall_term_ terms[TCALL_PICK_TERMS_];
    uint8_t initials[128];                /* of all keys, see tcall_initials_ */
    uint32_t hashes[TCALL_PICK_SLOTS_];   /* of keys, by open addressing */
    uint8_t key_terms[TCALL_PICK_SLOTS_]; /* 1 more than the term, and
                                             TCALL_KEY_FUZZY_; 0: free */
} tcall_ranking_;

/* ---- keys */

/* Finds the next key with a hash, from *slot on, which is its first byte at
 * first, and moves *slot past it. Returns its entry in key_terms, or 0 when
 * there is no other. */
static unsigned tcall_key_find_(const tcall_ranking_ *ranking, uint32_t hash,
                                unsigned *slot)
{
    for (;;) {
        unsigned at = (*slot)++ % TCALL_PICK_SLOTS_;
        if (ranking->key_terms[at] == 0 || ranking->hashes[at] == hash)
            return ranking->key_terms[at];
    }
}

/* Returns the term whose own word has this stem, or -1. */
static int tcall_key_term_(const tcall_ranking_ *ranking, uint32_t stem)
{
    unsigned slot = stem >> 24, key;
    while ((key = tcall_key_find_(ranking, stem, &slot)) != 0)
        if (!(key & TCALL_KEY_FUZZY_))
            return (int)(key & TCALL_KEY_TERM_) - 1;
    return -1;
}

/* Adds a key to a term, unless it is there or the table is full. */
static void tcall_key_add_(tcall_ranking_ *ranking, uint32_t hash,
                           unsigned initials, unsigned term, bool fuzzy)
{
    unsigned slot = hash >> 24, found;
    unsigned key = (term + 1) | (fuzzy ? TCALL_KEY_FUZZY_ : 0);
    while ((found = tcall_key_find_(ranking, hash, &slot)) != 0)
        if (found == key)
            return;
    if (ranking->key_count == TCALL_PICK_KEYS_)
        return;
    ranking->key_count++;
    slot = (slot - 1) % TCALL_PICK_SLOTS_; /* the free one that was found */
    ranking->hashes[slot] = hash;
    ranking->key_terms[slot] = (uint8_t)key;
    tcall_set_bit_(ranking->initials, initials, true);
}

/* ---- the input */

/* Returns the term of a word of the input; adds it when it is new. */
static tcall_term_ *tcall_term_of_(tcall_ranking_ *ranking,
                                   const tcall_split_ *words)
{
    int found = tcall_key_term_(ranking, words->stem);
    unsigned i = found < 0 ? ranking->term_count++ : (unsigned)found;
    tcall_term_ *term = &ranking->terms[i];
    if (found >= 0)
        return term;
    term->at = (uint32_t)(words->start - ranking->input.ptr);
    term->length = (uint8_t)(words->cursor - words->start);
    tcall_key_add_(ranking, words->stem, words->initials, i, false);
    if (words->prefix)
        tcall_key_add_(ranking, words->prefix, words->initials, i, true);
    return term;
}

/* Makes terms of the words of the input. */
static void tcall_ranking_input_(tcall_ranking_ *ranking)
{
    tcall_split_ words;
    const char *sentence = ranking->input.ptr;
    unsigned length = 0; /* of the sentence, in words */
    tcall_split_init_(&words, ranking->input);
    words.parted = true;
    words.json = words.json && tcall_json_check(ranking->input) == TCALL_OK;
    ranking->sentence_count = 1;
    while (ranking->term_count < TCALL_PICK_TERMS_ &&
           tcall_split_next_(&words)) {
        tcall_term_ *term;
        if (words.sentence != sentence && length >= 3 &&
            ranking->sentence_count < TCALL_PICK_SENTENCES_) {
            ranking->sentence_count++;
            length = 0;
        }
        sentence = words.sentence;
        /* Numbers are values, no topics. */
        if (tcall_split_stops_(&words) || tcall_is_digit_(*words.word))
            continue;
        length++;
        term = tcall_term_of_(ranking, &words);
        term->sentences |= (uint8_t)(1u | 1u << ranking->sentence_count);
        term->value |= !words.in_key;
    }
}

/* For each term that a line of synonyms contains, makes its words keys. A line
 * is a sentence. */
static void tcall_ranking_synonyms_(tcall_ranking_ *ranking)
{
    const char *const *text = ranking->opts.synonyms;
    for (; text && *text; text++) {
        tcall_split_ words, others;
        tcall_split_init_(&words, tcall_str_of(*text));
        words.parted = true;
        words.wanted = ranking->initials;
        while (tcall_split_next_(&words)) {
            int term = tcall_key_term_(ranking, words.stem);
            if (term < 0)
                continue;
            others = words;
            others.cursor = words.sentence;
            others.wanted = NULL;
            while (tcall_split_next_(&others) &&
                   others.sentence == words.sentence)
                if (tcall_key_term_(ranking, others.stem) != term)
                    tcall_key_add_(ranking, others.stem, others.initials,
                                   (unsigned)term, true);
        }
    }
}

/* ---- records */

static unsigned tcall_record_sum_(const tcall_record_ *record, unsigned term)
{
    return record->sums[term / 2] >> term % 2 * 4 & TCALL_PICK_SUM_;
}

/* What a word counts in the name, title, description, tags and parameters of a
 * tool, in quarters: when it is the word itself, when it is a synonym or has
 * the same prefix, and for the length of the texts. Words of all schemas need
 * no list: being common, they weigh nothing. */
enum { TCALL_TEXT_NAME_, TCALL_TEXT_PARAMETERS_ = 4, TCALL_TEXT_COUNT_ };
static const struct tcall_text_weight_ {
    uint8_t exact, fuzzy, length;
} tcall_text_weights_[TCALL_TEXT_COUNT_] = {
    {12, 2, 4}, {4, 1, 4}, {4, 1, 4}, {4, 1, 4}, {3, 1, 1}};

/* Adds a word of a tool to the sums of the terms that have this key; what is
 * only like them counts once. Returns whether there is such a term. */
static bool tcall_record_hit_(const tcall_ranking_ *ranking,
                              tcall_record_ *record, uint32_t hash,
                              const struct tcall_text_weight_ *weight)
{
    unsigned slot = hash >> 24, key;
    bool hit = false;
    for (; (key = tcall_key_find_(ranking, hash, &slot)) != 0; hit = true) {
        unsigned term = (key & TCALL_KEY_TERM_) - 1, shift = term % 2 * 4;
        unsigned sum = tcall_record_sum_(record, term);
        uint8_t *both = &record->sums[term / 2];
        if (!(key & TCALL_KEY_FUZZY_))
            sum = tcall_at_most_(sum + weight->exact, TCALL_PICK_SUM_);
        else if (sum < weight->fuzzy)
            sum = weight->fuzzy;
        *both = (uint8_t)((*both & 0xF0u >> shift) | sum << shift);
    }
    return hit;
}

/* Reads a text of a tool into its record. The prefix of a word counts only when
 * its stem is no key. */
static void tcall_record_text_(const tcall_ranking_ *ranking,
                               tcall_record_ *record, unsigned which,
                               tcall_str text)
{
    const struct tcall_text_weight_ *weight = &tcall_text_weights_[which];
    unsigned asked = 0;
    tcall_split_ words;
    tcall_split_init_(&words, text);
    words.wanted = ranking->initials;
    while (tcall_split_next_(&words))
        if (tcall_record_hit_(ranking, record, words.stem, weight) ||
            (words.prefix &&
             tcall_record_hit_(ranking, record, words.prefix, weight)))
            asked += 16;
    if (which == TCALL_TEXT_NAME_ && words.count)
        record->name = (uint8_t)(asked / words.count);
    record->length = (uint16_t)tcall_at_most_(
        (size_t)record->length + weight->length * words.count, 0xFFFF);
}

/* Reads words that are each ended by NUL. */
static void tcall_record_words_(const tcall_ranking_ *ranking,
                                tcall_record_ *record, const char *words,
                                int count)
{
    const char *end = tcall_word_at_(words, count);
    tcall_record_text_(ranking, record, TCALL_TEXT_PARAMETERS_,
                       tcall_slice_(words, (size_t)(end - words)));
}

static void tcall_record_object_(const tcall_ranking_ *ranking,
                                 tcall_record_ *record,
                                 const tcall_object *from, int depth);

/* Reads the words of a value's shape. */
static void tcall_record_value_(const tcall_ranking_ *ranking,
                                tcall_record_ *record, const tcall_shape *from,
                                int depth)
{
    TCALL_FETCH_(tcall_shape, shape, from);
    if (shape->kind == TCALL_KIND_CHOICE)
        tcall_record_words_(ranking, record, (const char *)shape->more,
                            (int)shape->high + 1);
    if (shape->kind == TCALL_KIND_LIST && depth < TOOLCALL_SHAPE_LEVELS)
        tcall_record_value_(ranking, record, (const tcall_shape *)shape->more,
                            depth + 1);
    if (shape->kind == TCALL_KIND_OBJECT && depth < TOOLCALL_SHAPE_LEVELS)
        tcall_record_object_(ranking, record, (const tcall_object *)shape->more,
                             depth + 1);
}

/* Reads the words of an object's shape: names, descriptions, choices. The
 * outermost has the depth 1. */
static void tcall_record_object_(const tcall_ranking_ *ranking,
                                 tcall_record_ *record,
                                 const tcall_object *from, int depth)
{
    TCALL_FETCH_(tcall_object, object, from);
    int i;
    tcall_record_words_(ranking, record, object->names, object->count);
    tcall_record_words_(ranking, record, object->descriptions, object->count);
    for (i = 0; i < object->count; i++)
        tcall_record_value_(ranking, record, object->members + i, depth);
}

/* Reads all texts of a tool into its record. */
static void tcall_record_read_(const tcall_ranking_ *ranking,
                               const tcall_tool *tool, tcall_record_ *record)
{
    const char *const texts[] = {tool->name, tool->title, tool->description,
                                 tool->tags, tool->parameters.text};
    const tcall_object *shape = tcall_tool_shape_(tool);
    unsigned i;
    record->length = 1;
    for (i = 0; i < TCALL_TEXT_COUNT_; i++)
        tcall_record_text_(ranking, record, i, tcall_str_of(texts[i]));
    if (shape)
        tcall_record_object_(ranking, record, shape, 1);
}

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
    if (withheld)
        return withheld;
    if (!safe && !(opts && opts->allow_unsafe))
        return "unsafe";
    if (opts && opts->streaming && !tool->streaming)
        return "streaming";
    return opts && opts->max_cost && tool->cost > opts->max_cost ? "cost"
                                                                 : NULL;
}

/* Moves *i to the next tool that may be picked, from *i on; false at the end.
 */
static bool tcall_ranking_next_(const tcall_ranking_ *ranking, size_t *i)
{
    for (; *i < ranking->count; ++*i)
        if (!tcall_pick_excludes_(ranking->tc, &ranking->opts,
                                  &ranking->tc->desc.tools[*i]))
            return true;
    return false;
}

/* Returns whether time is up. */
static bool tcall_ranking_is_late_(tcall_ranking_ *ranking)
{
    const tcall *tc = ranking->tc;
    if (ranking->opts.timeout_ms && tc->desc.now_ms &&
        tcall_now_(tc) - ranking->started >= ranking->opts.timeout_ms)
        ranking->timed_out = true;
    return ranking->timed_out;
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

/* Makes the records of all tools that may be picked, and counts those that have
 * each term: the word itself, or only something like it. */
static void tcall_ranking_read_(tcall_ranking_ *ranking)
{
    size_t i;
    unsigned term, sum;
    for (i = 0; tcall_ranking_next_(ranking, &i); i++) {
        tcall_record_ *record = &ranking->records[i];
        if (tcall_ranking_is_late_(ranking))
            break;
        tcall_record_read_(ranking, &ranking->tc->desc.tools[i], record);
        ranking->lengths += record->length;
        ranking->tools++;
        for (term = 0; term < ranking->term_count; term++) {
            sum = tcall_record_sum_(record, term);
            ranking->terms[term].tools += sum > 2 ? 4u : sum > 0 ? 1u : 0u;
        }
    }
}

/* Sets the weights of all terms; returns their sum. A term that occurs only in
 * keys of JSON weighs half: keys are the caller's words, not the user's. */
static uint32_t tcall_ranking_weigh_(tcall_ranking_ *ranking)
{
    uint32_t all = 0;
    unsigned i;
    for (i = 0; i < ranking->term_count; i++) {
        tcall_term_ *term = &ranking->terms[i];
        unsigned rarity = tcall_log16_(2 * ranking->tools + 2) -
                          tcall_log16_(2 * (term->tools / 4) + 1);
        rarity = tcall_at_most_(rarity, 255);
        term->weight = (uint8_t)(term->value ? rarity : rarity / 2);
        all += term->weight;
    }
    return all;
}

/* Finds out what a tool is worth: parts[0] for the whole input, the others for
 * its sentences. What it gains by a term is BM25 with b = 2/5 and k1 = 10
 * quarters of a word; a tool whose name was asked for gains up to two thirds as
 * much again. Returns the weight of the terms that it has. */
static uint32_t tcall_ranking_parts_(const tcall_ranking_ *ranking, size_t tool,
                                     uint32_t *parts)
{
    const tcall_record_ *record = &ranking->records[tool];
    uint32_t average = ranking->lengths / ranking->tools + 1, cover = 0;
    uint32_t norm = 96 + (uint32_t)64 * record->length / average;
    unsigned i, part;
    memset(parts, 0, sizeof ranking->best);
    for (i = 0; i < ranking->term_count; i++) {
        const tcall_term_ *term = &ranking->terms[i];
        uint32_t sum = tcall_record_sum_(record, i), worth;
        if (sum == 0)
            continue;
        cover += term->weight;
        worth = sum * 1024 * term->weight / (16 * sum + norm);
        worth = worth * (24u + record->name) / 24;
        for (part = 0; part <= ranking->sentence_count; part++)
            if (term->sentences >> part & 1)
                parts[part] += worth;
    }
    return cover;
}

/* Finds what scores are shares of: the weights of terms, the best parts of all
 * tools, and the largest share of the input that one of them covers. */
static void tcall_ranking_prepare_(tcall_ranking_ *ranking)
{
    uint32_t parts[1 + TCALL_PICK_SENTENCES_], most = 0, all, cover;
    size_t tool;
    unsigned i;
    tcall_ranking_read_(ranking);
    all = tcall_ranking_weigh_(ranking);
    for (tool = 0; ranking->tools && tool < ranking->count; tool++) {
        cover = tcall_ranking_parts_(ranking, tool, parts);
        most = cover > most ? cover : most;
        for (i = 0; i <= ranking->sentence_count; i++)
            if (parts[i] > ranking->best[i])
                ranking->best[i] = parts[i];
    }
    ranking->level = all ? most * 1000 / all : 0;
}

/* Returns the built-in score, 0 to 1000 * TCALL_RANK_ONE_: three fifths for the
 * whole input, two fifths for the sentence that the tool fits best. */
static uint32_t tcall_ranking_score_(const tcall_ranking_ *ranking, size_t tool)
{
    uint32_t parts[1 + TCALL_PICK_SENTENCES_], share, whole = 0, fits = 0;
    unsigned i;
    if (ranking->level == 0)
        return 0;
    tcall_ranking_parts_(ranking, tool, parts);
    for (i = 0; i <= ranking->sentence_count; i++) {
        share = ranking->best[i] ? (parts[i] << 12) / ranking->best[i] : 0;
        if (i == 0)
            whole = share;
        else if (share > fits)
            fits = share;
    }
    return (614 * whole + 410 * fits) * ranking->level;
}

/* ---- the ranking */

/* Begins a ranking, in the block. The time counts from here on, reading the
 * input included. Returns NULL without room. */
static tcall_ranking_ *tcall_ranking_begin_(tcall *tc, tcall_str input,
                                            const tcall_pick_opts *opts)
{
    /* Private initialisers name no member: C++ would want them in order. */
    static const tcall_scorer words = {"words", NULL, NULL, 0, 0};
    size_t size =
        sizeof(tcall_ranking_) + tc->desc.tool_count * sizeof(tcall_record_);
    size_t mark = tcall_block_mark_(&tc->block);
    tcall_ranking_ *ranking =
        (tcall_ranking_ *)tcall_block_take_(&tc->block, size);
    if (!ranking) {
        tcall_block_release_(&tc->block, mark);
        return NULL;
    }
    memset(ranking, 0, size);
    ranking->tc = tc;
    ranking->mark = mark;
    ranking->outer = tc->busy;
    tc->busy = tc; /* scorers and listeners are the program's */
    ranking->input = input;
    if (opts)
        ranking->opts = *opts;
    if (!ranking->opts.scorer_count) {
        ranking->opts.scorers = &words;
        ranking->opts.scorer_count = 1;
    }
    ranking->records = (tcall_record_ *)(void *)(ranking + 1);
    ranking->count = tc->desc.tool_count;
    ranking->started = tcall_now_(tc);
    tcall_ranking_input_(ranking);
    tcall_ranking_synonyms_(ranking);
    tcall_ranking_prepare_(ranking);
    return ranking;
}

static void tcall_ranking_end_(tcall_ranking_ *ranking)
{
    tcall *tc = ranking->tc;
    tc->busy = ranking->outer;
    tcall_block_release_(&tc->block, ranking->mark);
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

/* Returns the pick of a tool that has no rank so far. */
static tcall_picked tcall_ranking_pick_(const tcall_ranking_ *ranking, size_t i)
{
    tcall_picked pick;
    memset(&pick, 0, sizeof pick);
    pick.tool = &ranking->tc->desc.tools[i];
    pick.index = (uint16_t)i;
    pick.pinned = pick.tool->pinned;
    return pick;
}

/* Makes the rank of a pick the mean of what it was and of a further scorer,
 * unless that cannot say or time is up. The sum of weighted ranks fits 32 bits
 * without their last 12, since all weights are at most 4095. */
static void tcall_ranking_combine_(tcall_ranking_ *ranking, tcall_picked *pick,
                                   const tcall_scorer *scorer)
{
    uint32_t weight = scorer->weight ? scorer->weight : 1, rank, sum;
    int score = 0;
    if (tcall_ranking_is_late_(ranking)) {
        pick->timed_out = !pick->weights;
        return;
    }
    if (scorer->score)
        score = scorer->score(scorer->user, ranking->input, pick->tool,
                              pick->index);
    if (score < 0)
        return;
    rank = scorer->score ? tcall_at_most_((size_t)score, 1000) * TCALL_RANK_ONE_
                         : tcall_ranking_score_(ranking, pick->index);
    sum = (pick->rank >> 12) * pick->weights + (rank >> 12) * weight;
    if (pick->weights)
        rank = sum / (pick->weights + weight) << 12;
    pick->rank = rank;
    pick->weights = (uint16_t)(pick->weights + weight);
}

/* Ranks all tools that are not pinned by the scorers that see all of them, and
 * keeps the best of them. */
static int tcall_ranking_all_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int room)
{
    const tcall_pick_opts *opts = &ranking->opts;
    int count = 0;
    size_t i, k;
    for (i = 0; tcall_ranking_next_(ranking, &i); i++) {
        tcall_picked pick = tcall_ranking_pick_(ranking, i);
        if (pick.pinned)
            continue;
        for (k = 0; k < opts->scorer_count; k++)
            if (!opts->scorers[k].top)
                tcall_ranking_combine_(ranking, &pick, &opts->scorers[k]);
        count = tcall_picks_insert_(picks, count, room, &pick);
    }
    return count;
}

/* Ranks the best again by the scorers that see no more of them. */
static int tcall_ranking_top_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int count)
{
    size_t k;
    int i;
    for (k = 0; k < ranking->opts.scorer_count; k++) {
        const tcall_scorer *scorer = &ranking->opts.scorers[k];
        count = scorer->top && scorer->top < count ? scorer->top : count;
        for (i = 0; scorer->top && i < count; i++) {
            tcall_ranking_combine_(ranking, &picks[i], scorer);
            tcall_picks_insert_(picks, i, count, &picks[i]);
        }
    }
    return count;
}

/* Sets the scores, and keeps the picks that are good enough, or that nobody
 * ranked in time; returns their number. */
static int tcall_ranking_cut_(const tcall_ranking_ *ranking,
                              tcall_picked *picks, int count)
{
    const tcall_pick_opts *opts = &ranking->opts;
    unsigned min_score = opts->min_score ? opts->min_score : 50;
    int i, kept = 0;
    /* A hundred times a rank fits 32 bits once it is divided by 128. */
    uint32_t least = count > 0 ? picks[0].rank / 128 * opts->relative : 0;
    for (i = 0; i < count; i++) {
        picks[i].score = (uint16_t)(picks[i].rank / TCALL_RANK_ONE_);
        if (picks[i].timed_out ||
            (picks[i].score >= min_score && picks[i].rank / 128 * 100 >= least))
            picks[kept++] = picks[i];
    }
    return kept;
}

/* Ranks the tools and chooses among them. Pinned tools have their room among
 * the picks before all others. */
static int tcall_ranking_choose_(tcall_ranking_ *ranking, tcall_picked *picks,
                                 int max)
{
    const tcall_pick_opts *opts = &ranking->opts;
    int most = opts->max ? opts->max : 3, room = max, seen, count;
    size_t i;
    for (i = 0; i < ranking->count; i++)
        room -= ranking->tc->desc.tools[i].pinned;
    most = room < most ? room : most;
    seen = most; /* scorers may want to see more than are picked */
    for (i = 0; i < opts->scorer_count; i++)
        seen = opts->scorers[i].top > seen ? opts->scorers[i].top : seen;
    count = tcall_ranking_all_(ranking, picks, room < seen ? room : seen);
    count = tcall_ranking_top_(ranking, picks, count);
    count = tcall_ranking_cut_(ranking, picks, count < most ? count : most);
    for (i = 0; count < max && tcall_ranking_next_(ranking, &i); i++)
        if (ranking->tc->desc.tools[i].pinned)
            picks[count++] = tcall_ranking_pick_(ranking, i);
    for (i = 0; opts->stable && i < (size_t)count; i++) {
        picks[i].rank = 0xFFFFu - picks[i].index;
        tcall_picks_insert_(picks, (int)i, count, &picks[i]);
    }
    return count;
}

/* Returns the bytes that need not be sent: of the definitions of tools that are
 * permitted and were not picked, but for their syntax. */
static size_t tcall_picks_save_(const tcall *tc, const tcall_picked *picks,
                                int count)
{
    const tcall_tool *tool = tc->desc.tools;
    size_t texts = 0, left = tc->desc.tool_count;
    tcall_writer shapes;
    tcall_writer_init(&shapes, NULL, 0);
    for (; left; left--, tool++) {
        const char *schema = tool->provider_schema.text;
        int i = 0;
        while (i < count && picks[i].tool != tool)
            i++;
        if (i < count || tcall_withheld_(tc, tool))
            continue;
        texts += tcall_str_of(tool->name).len +
                 tcall_str_of(tool->description).len +
                 tcall_str_of(schema ? schema : tool->parameters.text).len;
        if (!schema && tcall_tool_shape_(tool))
            tcall_write_shape(&shapes, tcall_tool_shape_(tool));
    }
    return texts + shapes.len;
}

int tcall_pick(tcall *tc, tcall_str input, const tcall_pick_opts *opts,
               tcall_picked *picks, int max)
{
    tcall_ranking_ *ranking;
    tcall_event event;
    int count;
    if (max < 1 || tc->desc.tool_count > 0xFFFF)
        return TCALL_E_USAGE;
    ranking = tcall_ranking_begin_(tc, input, opts);
    if (!ranking)
        return TCALL_E_MEMORY;
    count = tcall_ranking_choose_(ranking, picks, max);
    if (tcall_is_heard_(tc)) { /* what picks save is counted for someone */
        memset(&event, 0, sizeof event);
        event.picks = picks;
        event.tools = (size_t)count;
        event.bytes = tcall_picks_save_(tc, picks, count);
        tcall_tell_(tc, &event, TCALL_EVENT_PICK);
    }
    tcall_ranking_end_(ranking);
    return count;
}

/* ---- the report */

/* Writes the terms: those of the input, with what was learned of them; or the
 * words of those that a tool has, within a JSON string. */
static void tcall_write_terms_(tcall_writer *w, const tcall_ranking_ *ranking)
{
    unsigned i;
    tcall_write_nest_(w, "terms", '[');
    for (i = 0; i < ranking->term_count; i++) {
        const tcall_term_ *term = &ranking->terms[i];
        tcall_write_open(w, '{');
        tcall_write_pair_(
            w, "word",
            tcall_slice_(ranking->input.ptr + term->at, term->length));
        tcall_write_count_(w, "tools", term->tools / 4);
        tcall_write_fixed(tcall_keyed_(w, "weight"),
                          (tcall_int)(term->weight * 100L / 16), 2);
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
}

/* Writes a tool: its score and why it was picked, or why it may not be. */
static void tcall_write_ranked_(tcall_writer *w, const tcall_ranking_ *ranking,
                                const tcall_picked *pick)
{
    const char *before = "matched ", *reason;
    unsigned i;
    reason = tcall_pick_excludes_(ranking->tc, &ranking->opts, pick->tool);
    tcall_write_open(w, '{');
    tcall_write_word_(w, "tool", pick->tool->name);
    if (!reason) {
        tcall_write_fixed(tcall_keyed_(w, "score"), pick->score, 3);
        reason = pick->pinned ? "pinned" : pick->timed_out ? "timed out" : NULL;
    }
    tcall_write_quote(tcall_keyed_(w, "reason"));
    for (i = 0; !reason && i < ranking->term_count; i++) {
        const tcall_term_ *term = &ranking->terms[i];
        if (!tcall_record_sum_(&ranking->records[pick->index], i))
            continue;
        tcall_write_text(w, before);
        tcall_write_bytes(w, ranking->input.ptr + term->at, term->length);
        before = ", ";
    }
    if (reason || *before == 'm')
        tcall_write_text(w, reason ? reason : "no word of it");
    tcall_write_unquote(w);
    tcall_write_close(w, '}');
}

int tcall_write_picks(tcall_writer *w, tcall *tc,
                      const tcall_pick_report *report)
{
    size_t saved = tcall_picks_save_(tc, report->picks, report->count), i;
    tcall_ranking_ *ranking =
        tcall_ranking_begin_(tc, report->input, report->opts);
    int n;
    if (!ranking)
        return TCALL_E_MEMORY;
    tcall_write_open(w, '{');
    tcall_write_nest_(w, "scorers", '[');
    for (i = 0; i < ranking->opts.scorer_count; i++) {
        const char *name = ranking->opts.scorers[i].name;
        tcall_write_string(w, name ? name : "words");
    }
    tcall_write_close(w, ']');
    tcall_write_terms_(w, ranking);
    tcall_write_nest_(w, "picks", '[');
    for (n = 0; n < report->count; n++)
        tcall_write_ranked_(w, ranking, &report->picks[n]);
    tcall_write_close(w, ']');
    tcall_write_nest_(w, "excluded", '[');
    for (i = 0; i < ranking->count; i++) {
        tcall_picked pick = tcall_ranking_pick_(ranking, i);
        if (tcall_pick_excludes_(tc, &ranking->opts, pick.tool))
            tcall_write_ranked_(w, ranking, &pick);
    }
    tcall_write_close(w, ']');
    tcall_write_count_(w, "bytes_saved", (uint32_t)saved);
    tcall_write_count_(w, "tokens_saved", (uint32_t)(saved / 4));
    tcall_ranking_end_(ranking);
    return tcall_write_close(w, '}');
}
