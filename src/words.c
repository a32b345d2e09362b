#pragma once
#include "write.c"
#include "shape_text.c"

/* ==========================================================================
 * >>words
 *
 * Splits text of any script into words, which are compared by their stems:
 * without case, accents, width and English endings. lampOn and HTTPServer are
 * two words each, PDFs is one. In scripts that are written without spaces, a
 * word is a pair of neighbouring characters.
 */

enum {
    TCALL_WORD_BYTES_ = 28, /* of a word; further ones do not count */
    TCALL_WORD_PREFIX_ = 6  /* letters that make longer words alike */
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

enum {
    TCALL_CHAR_SIGN_,
    TCALL_CHAR_LETTER_, /* or digit */
    TCALL_CHAR_WIDE_,   /* of a script without spaces */
    TCALL_CHAR_MARK_    /* accent of the letter before: it is left out */
};

/* The kind of all characters from a code point on, up to the next row. */
static const struct tcall_script_ {
    uint32_t first;
    uint8_t kind;
} tcall_scripts_[] = {
    {0x0000, TCALL_CHAR_SIGN_},   {'0', TCALL_CHAR_LETTER_},
    {'9' + 1, TCALL_CHAR_SIGN_},  {'a', TCALL_CHAR_LETTER_},
    {'z' + 1, TCALL_CHAR_SIGN_},  {0x0100, TCALL_CHAR_LETTER_},
    {0x0300, TCALL_CHAR_MARK_},   {0x0370, TCALL_CHAR_LETTER_},
    {0x0E00, TCALL_CHAR_WIDE_},                               /* Thai, Lao */
    {0x0F00, TCALL_CHAR_LETTER_}, {0x1000, TCALL_CHAR_WIDE_}, /* Burmese */
    {0x10A0, TCALL_CHAR_LETTER_}, {0x1780, TCALL_CHAR_WIDE_}, /* Khmer */
    {0x1800, TCALL_CHAR_LETTER_}, {0x2000, TCALL_CHAR_SIGN_},
    {0x2C00, TCALL_CHAR_LETTER_}, {0x2E00, TCALL_CHAR_SIGN_},
    {0x2E80, TCALL_CHAR_WIDE_}, /* Chinese, Japanese, Korean from here on */
    {0x3000, TCALL_CHAR_SIGN_},   {0x3004, TCALL_CHAR_WIDE_},
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
    uint8_t kind;
    bool capital;
} tcall_char_;

static bool tcall_between_(uint32_t code, uint32_t first, uint32_t last)
{
    return code >= first && code <= last;
}

static bool tcall_is_letter_(char c)
{
    return tcall_between_((unsigned char)(c | 0x20), 'a', 'z');
}

static uint8_t tcall_char_kind_(uint32_t code)
{
    const size_t count = sizeof tcall_scripts_ / sizeof *tcall_scripts_;
    uint8_t kind = TCALL_CHAR_SIGN_;
    size_t i;
    for (i = 0; i < count; i++)
        if (tcall_scripts_[i].first <= code)
            kind = tcall_scripts_[i].kind;
    return kind;
}

/* Returns the lower letter of a code point, in Latin-1 without its accent. */
static uint32_t tcall_char_fold_(uint32_t code)
{
    /* U+00C0 to U+00DF; U+00E0 to U+00FF are their lower letters. */
    static const char latin[] = "aaaaaaaceeeeiiiidnooooo ouuuuyts";
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
    const tcall_object *shape; /* its texts follow, from this one on */
    unsigned shape_text;
    const uint32_t *wanted; /* initials of wanted words; NULL: all are */
    bool input;             /* look for sentences, and for keys of JSON */
    bool json;              /* decode escapes */
    bool in_key;            /* the word is part of a key */
    bool sentence;          /* a sentence ended before the word */
    bool paired;            /* the word includes the character at the cursor */
    uint8_t length;
    const char *word; /* in the text, or where it had to be folded */
    unsigned initials;
    uint32_t stem, prefix;  /* hashes; prefix is 0 for short words */
    unsigned count, longer; /* words of the text so far; of three bytes */
    char folded[TCALL_WORD_BYTES_];
} tcall_split_;

TCALL_SHARED_ void tcall_split_init_(tcall_split_ *words, tcall_str text)
{
    memset(words, 0, offsetof(tcall_split_, folded));
    words->cursor = text.ptr;
    words->end = text.len ? text.ptr + text.len : text.ptr;
}

/* Begins an input of a user, which is text or JSON. */
TCALL_SHARED_ void tcall_split_input_(tcall_split_ *words, tcall_str input)
{
    const char *start;
    tcall_split_init_(words, input);
    for (start = words->cursor; start < words->end; start++)
        if ((unsigned char)*start > ' ')
            break;
    words->input = true;
    words->json = start < words->end && (*start == '{' || *start == '[');
}

/* Decodes an escape of JSON and returns its bytes. Escapes other than \n and
 * \u only separate words: their code is 0. */
static size_t tcall_escape_code_(const char *at, size_t left, uint32_t *code)
{
    size_t i;
    *code = at[1] == 'n' ? '\n' : 0;
    if (at[1] != 'u' || left < 6)
        return 2;
    for (i = 2; i < 6; i++)
        *code = *code << 4 | (tcall_hex_(at[i]) & 15);
    return 6;
}

/* Decodes the character at the cursor and returns its bytes, 0 at the end. A
 * byte that is not UTF-8 has the code 0. */
static size_t tcall_split_code_(const tcall_split_ *words, uint32_t *code)
{
    const char *at = words->cursor;
    size_t left = (size_t)(words->end - at), bytes;
    *code = 0;
    if (left == 0)
        return 0;
    if (*at == '\\' && words->json && left > 1)
        return tcall_escape_code_(at, left, code);
    bytes = (unsigned char)*at < 0x80 ? 1 : tcall_utf8_len_(at, words->end);
    if (bytes == 0)
        return 1;
    *code = (uint32_t)tcall_utf8_next_(&at);
    return bytes;
}

static tcall_char_ tcall_split_char_(const tcall_split_ *words)
{
    tcall_char_ c;
    uint32_t code;
    c.bytes = tcall_split_code_(words, &code);
    if (tcall_between_(code, 0xFF01, 0xFF5E)) /* full-width ASCII */
        code -= 0xFEE0;
    c.code = tcall_char_fold_(code);
    c.kind = tcall_char_kind_(c.code);
    c.capital = c.code != code && !tcall_between_(code, 0xDF, 0xFF);
    return c;
}

/* Returns whether the JSON string whose content begins at `at` is a key. */
static bool tcall_split_is_key_(const tcall_split_ *words, const char *at)
{
    const char *end = words->end;
    while (at < end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    for (at++; at < end && (unsigned char)*at <= ' '; at++)
        ;
    return at < end && *at == ':';
}

TCALL_SHARED_ bool tcall_bit_(const uint32_t *bits, unsigned i)
{
    return bits[i / 32] >> i % 32 & 1;
}

/* What a byte is by itself: a digit, a capital, a small letter, a sign, or ~: a
 * part of a character beyond ASCII, or the backslash of an escape. */
static const char tcall_bytes_[] = "                                "
                                   "                0000000000      "
                                   " AAAAAAAAAAAAAAAAAAAAAAAAAA ~   "
                                   " aaaaaaaaaaaaaaaaaaaaaaaaaa     "
                                   "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
                                   "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
                                   "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"
                                   "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~";

/* Returns where bytes of this sort end. */
static const char *tcall_row_(const char *at, const char *end, char sort)
{
    while (at < end && tcall_bytes_[(unsigned char)*at] == sort)
        at++;
    return at;
}

/* Notes what a sign of the input means for the next word; `next` follows it. */
static void tcall_split_sign_(tcall_split_ *words, uint32_t code,
                              const char *next)
{
    switch (code) {
    case '.': /* but not in 1.5 or example.com */
        if (next == words->end || tcall_bytes_[(unsigned char)*next] == ' ')
            words->sentence = true;
        break;
    case '!':
    case '?':
    case ';':
    case '\n':
    case 0x3002: words->sentence = true; break;
    case '"':
        words->in_key = words->json && tcall_split_is_key_(words, next);
        if (words->in_key)
            words->sentence = true;
        break;
    default: break;
    }
}

static void tcall_split_put_(tcall_split_ *words, uint32_t code)
{
    char *end = words->folded + words->length;
    if (words->length + 4 <= TCALL_WORD_BYTES_)
        words->length = (uint8_t)(words->length + tcall_utf8_(end, code));
}

/* Ends a word that begins with a wide character by the next one, if that is
 * wide too. Returns false for the last character of a row, which the word
 * before already includes. */
static bool tcall_split_pair_(tcall_split_ *words)
{
    tcall_char_ next = tcall_split_char_(words);
    bool was_paired = words->paired;
    words->paired = next.kind == TCALL_CHAR_WIDE_;
    if (words->paired)
        tcall_split_put_(words, next.code);
    return words->paired || !was_paired;
}

/* Reads a word, or one sign, that may contain escapes and any characters.
 * Returns whether it was a word. */
static bool tcall_split_fold_(tcall_split_ *words)
{
    bool lower = false;
    words->word = words->folded;
    for (words->length = 0;;) {
        tcall_char_ c = tcall_split_char_(words);
        bool ends = c.kind == TCALL_CHAR_SIGN_ || c.kind == TCALL_CHAR_WIDE_ ||
                    (c.capital && lower);
        if (ends && words->length > 0)
            return true;
        words->cursor += c.bytes;
        if (c.kind == TCALL_CHAR_SIGN_) {
            if (c.code != '"')
                tcall_split_sign_(words, c.code, words->cursor);
            return false;
        }
        if (c.kind == TCALL_CHAR_MARK_)
            continue;
        tcall_split_put_(words, c.code);
        lower = !c.capital;
        if (c.kind == TCALL_CHAR_WIDE_)
            return tcall_split_pair_(words);
    }
}

/* Returns the end of the word at the cursor where it consists of ASCII letters
 * or digits; NULL where it contains other characters or escapes. */
static const char *tcall_split_ascii_(const tcall_split_ *words)
{
    const char *start = words->cursor, *end = words->end;
    const char *little = tcall_row_(start, end, 'A');
    const char *after = tcall_row_(little, end, 'a');
    if (after == start)
        after = tcall_row_(start, end, '0');
    else if (little - start > 1 && after > little &&
             !(after - little == 1 && *little == 's')) /* but for PDFs */
        after = little - 1; /* HTTPServer: the last capital begins a word */
    return after < end && tcall_bytes_[(unsigned char)*after] == '~' ? NULL
                                                                     : after;
}

/* ---- stems */

static bool tcall_ends_with_(const char *word, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length >= n && memcmp(word + length - n, end, n) == 0;
}

/* Bits of a, e, i, o, u and y. */
#define TCALL_VOWELS_ 0x1104111u

static bool tcall_has_vowel_(const char *word, size_t length)
{
    while (length-- > 0)
        if (tcall_is_letter_(word[length]) &&
            TCALL_VOWELS_ >> (word[length] - 'a') & 1)
            return true;
    return false;
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
    if (length - cut > 2 && tcall_has_vowel_(word, length - cut))
        length -= cut;
    if (length > 3 && word[length - 1] == 'e')
        length--;
    if (length > 3 && word[length - 1] == word[length - 2] &&
        !tcall_has_vowel_(word + length - 1, 1))
        length--;
    return length;
}

TCALL_SHARED_ unsigned tcall_at_most_(size_t value, unsigned most)
{
    return value < most ? (unsigned)value : most;
}

/* Goes on with an FNV-1a hash. In words with endings y counts as i: city,
 * cities. */
static uint32_t tcall_word_hash_(uint32_t hash, const char *word, size_t length,
                                 bool endings)
{
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
    size_t length = words->length, first;
    bool endings = length > 3 && tcall_is_letter_(*word);
    if (endings)
        length = tcall_stem_(word, length);
    first = tcall_at_most_(length, TCALL_WORD_PREFIX_);
    words->stem = tcall_word_hash_(2166136261u, word, first, endings);
    words->prefix = endings && first == TCALL_WORD_PREFIX_ ? ~words->stem : 0;
    words->stem =
        tcall_word_hash_(words->stem, word + first, length - first, endings);
}

/* ---- the next word */

/* Returns ten bits from the first three letters, which all forms of a word
 * share: y and i differ in a bit that does not count. They rule most words out
 * before the work of making a stem. */
static unsigned tcall_initials_(const char *word, size_t length)
{
    unsigned bits = (unsigned)(word[0] & 31) << 5;
    if (length > 1)
        bits ^= (unsigned)(word[1] & 15) << 1;
    if (length > 2)
        bits ^= (unsigned)(word[2] & 15) * 37;
    return bits & 1023;
}

/* Reads a word or a sign at the cursor; returns whether it was a word. */
static bool tcall_split_read_(tcall_split_ *words)
{
    const char *after = tcall_split_ascii_(words);
    if (!after)
        return tcall_split_fold_(words);
    words->word = words->cursor;
    words->cursor = after;
    words->length = (uint8_t)tcall_at_most_((size_t)(after - words->word),
                                            TCALL_WORD_BYTES_);
    return true;
}

/* Counts the word; returns whether it may be wanted. */
static bool tcall_split_count_(tcall_split_ *words)
{
    words->initials = tcall_initials_(words->word, words->length);
    words->count++;
    words->longer += words->length > 2;
    return !words->wanted || tcall_bit_(words->wanted, words->initials);
}

/* Turns a word of ASCII letters that begins with a capital into lower letters.
 */
static void tcall_split_lower_(tcall_split_ *words)
{
    size_t i;
    if (!tcall_between_((unsigned char)*words->word, 'A', 'Z'))
        return;
    for (i = 0; i < words->length; i++)
        words->folded[i] = (char)(words->word[i] | 0x20);
    words->word = words->folded;
}

/* Skips ASCII signs, and in an input notes what they mean. */
static void tcall_split_signs_(tcall_split_ *words)
{
    const char *at = words->cursor;
    words->cursor = tcall_row_(at, words->end, ' ');
    if (words->input)
        for (; at < words->cursor; at++)
            tcall_split_sign_(words, (unsigned char)*at, at + 1);
}

/* Goes on with the next text of a shape. */
static bool tcall_split_more_(tcall_split_ *words)
{
    tcall_str text = tcall_slice_(NULL, 0);
    if (words->shape)
        text = tcall_shape_words_(words->shape, words->shape_text++);
    words->cursor = text.ptr;
    words->end = text.len ? text.ptr + text.len : text.ptr;
    return text.len > 0;
}

/* Reads the next wanted word and makes its stem; returns false at the end. */
TCALL_SHARED_ bool tcall_split_next_(tcall_split_ *words)
{
    words->sentence = false;
    for (;;) {
        tcall_split_signs_(words);
        if (words->cursor == words->end) {
            if (!tcall_split_more_(words))
                return false;
            continue;
        }
        if (tcall_split_read_(words) && tcall_split_count_(words))
            break;
    }
    tcall_split_lower_(words);
    tcall_split_stem_(words);
    return true;
}

/* Returns whether the word is a stop word. */
TCALL_SHARED_ bool tcall_split_stops_(const tcall_split_ *words)
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
