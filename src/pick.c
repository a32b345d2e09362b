#pragma once
#include "pick.h"
#include "tools.c"

/* ==========================================================================
 * >>pick
 *
 * The words of the input become keys in a small hash table: their stems, their
 * first six letters, and what means the same. Each tool is then read once and
 * what it says of each word is kept as a record of 20 bytes; where the block
 * has no room for the records the tools are read again instead. The weight of
 * a word comes from how few tools have it, what a record is worth from the
 * weights of its words (BM25F), as a share of the best of all records; and
 * since an input can want several things, also of the best for its clauses.
 */

#ifndef TOOLCALL_NO_PICK

enum {
    TCALL_PICK_TERMS_ = 45,  /* words of the input that count */
    TCALL_PICK_SLOTS_ = 256, /* of the table of keys */
    TCALL_PICK_KEYS_ = 224,  /* of them used at most */
    TCALL_PICK_CLAUSES_ = 7, /* of the input; the last takes the rest */
    TCALL_PICK_PREFIX_ = 6,  /* letters that make words alike */
    TCALL_PICK_WORD_ = 28    /* bytes of a word; more do not count */
};
#define TCALL_PICK_ONE_ ((uint32_t)1 << 22) /* the best score */

/* What a word counts by where it stands, in quarters: itself, as a synonym,
 * and for the length of the tool's text. */
enum {
    TCALL_IN_NAME_,
    TCALL_IN_TEXT_,       /* title, description, tags */
    TCALL_IN_PARAMETERS_, /* the text of the schema: names, descriptions,
                             values; what all schemas say weighs nothing */
    TCALL_IN_COUNT_
};
static const uint8_t tcall_pick_weights_[TCALL_IN_COUNT_][3] = {
    {12, 3, 4}, {4, 1, 4}, {2, 1, 1}};
/* The sums that a record tells apart. */
static const uint8_t tcall_pick_levels_[8] = {0, 1, 2, 3, 4, 7, 12, 16};

/* Words that say nothing about what is wanted, by their length: their number,
 * and the upper half of their hashes, since the words would take twice the
 * flash. A word that is none of them is taken for one once in two thousand
 * times; no English one of tens of thousands is. Words that tell a device what
 * to do (on, off, up, down, next, all) are none. */
enum { TCALL_PICK_STOPS_ = 12 }; /* letters of the longest */
static const uint16_t tcall_pick_stop_[] = {
    /* a d e g i m s t */
    8, 0xE40C, 0xE10C, 0xE00C, 0xE20C, 0xEC0C, 0xE80C, 0xF60C, 0xF10C,
    /* am an as at be by do he hi if im in is it ll me my no of ok or re so to
       us ve we */
    27, 0x4024, 0x4124, 0x5E25, 0x5725, 0x382B, 0x542B, 0x621C, 0x5C3A, 0x683A,
    0x3938, 0x4038, 0x4138, 0x4E38, 0x4738, 0x4531, 0x682E, 0x4C2D, 0x6236,
    0x6934, 0x6634, 0x5D34, 0x5854, 0x4252, 0x4245, 0x4643, 0x4849, 0x5C47,
    /* and any are but can did don etc for had has her hey him his how its ive
       let may nor not now our per she the too use via was way who why yes you
       */
    36, 0x0F29, 0x2C29, 0x406F, 0x60D5, 0xF074, 0xD762, 0xED68, 0x8D9C, 0xACF3,
    0xE2BE, 0xEDBF, 0xF4B4, 0xFFB4, 0x0BD2, 0xFDD2, 0x01C3, 0x80F8, 0x96FD,
    0x506B, 0xD6A2, 0x23B1, 0x29B1, 0x28B1, 0xA91A, 0x6B4B, 0xE92D, 0xB40E,
    0x9E10, 0x5791, 0x6912, 0x16E2, 0x1CE2, 0x2AF4, 0x18F4, 0x4E9F, 0x50B8,
    /* able also been best both does done each from give good have help here
       into just know lets like look make mine more most must need next okay
       once only same some soon such sure tell than that them then they this
       used very want ways well were what when whom will with your */
    54, 0xDD2C, 0xCEC7, 0xA65B, 0x9C7F, 0xEA81, 0x20DC, 0x26F3, 0x147A, 0x95CD,
    0x994C, 0xFA60, 0xF5CE, 0x3871, 0x213B, 0x2F91, 0x8F25, 0x464B, 0x2176,
    0x0BE7, 0xE6EF, 0xE18C, 0x7E89, 0xE855, 0xFB53, 0xC508, 0x72EA, 0x5CB6,
    0xBA9E, 0x9188, 0x9D9E, 0xCD0C, 0xF361, 0xE85A, 0x2622, 0x1EFB, 0xC617,
    0xE518, 0xCB18, 0xE422, 0xE522, 0xD822, 0xDA2B, 0x6A78, 0xED35, 0x8B2C,
    0x9005, 0xF4B5, 0xC7EB, 0x856E, 0x7F77, 0x805F, 0x1010, 0x0C4A, 0x00F0,
    /* about after again based being could doing every first given great hello
       might needs other shall thank their there these thing third those using
       wants where which whose would */
    29, 0xB323, 0x1B6E, 0xB33F, 0x1E3E, 0x6A43, 0x2DB6, 0x9CD7, 0x094E, 0x4881,
    0xC4EB, 0xFB13, 0x4F9F, 0x2D9C, 0x8539, 0xC87D, 0xC67E, 0x1659, 0xCBFD,
    0xB8EB, 0xD4EE, 0x78C7, 0x69F9, 0xF8AA, 0x69CE, 0x725F, 0x056C, 0x08D2,
    0xD599, 0x7AC4,
    /* anyone before during having kindly lastly please second should thanks
       things */
    11, 0xEFB0, 0x3845, 0x7BB4, 0xDAEC, 0xC84F, 0xCEB3, 0x4DD5, 0xABF8, 0xC5C2,
    0xBEED, 0x9E7A,
    /* another because between finally looking related someone through */
    8, 0x2317, 0xE330, 0xA4EE, 0x9C0C, 0x5506, 0xEE3C, 0xB450, 0xFD8F,
    /* anything moreover */
    2, 0xB273, 0x4AC3,
    /* following regarding something */
    3, 0x9720, 0xD4A9, 0x7E47, 0,
    /* furthermore */
    1, 0x7DC4,
    /* additionally */
    1, 0x234C};

#ifndef TOOLCALL_NO_SYNONYMS
/* Arrays, since linkers drop those that nobody names, unlike bare texts. */
static const char tcall_synonyms_devices_[] =
    "light lamp bulb illuminate\n"
    "bright brightness dim brighten darken luminosity\n"
    "on activate enable engage start\n"
    "off deactivate disable disengage stop\n"
    "start begin launch initiate\n"
    "stop end halt cancel abort terminate\n"
    "open raise unfold\n"
    "close shut lower\n"
    "increase raise up higher boost\n"
    "decrease reduce lower down less\n"
    "cover blind curtain shade shutter garage\n"
    "lock secure\n"
    "unlock unsecure\n"
    "volume loud louder quiet sound\n"
    "mute silence\n"
    "speaker audio sound stereo\n"
    "play resume listen\n"
    "player media tv television stereo radio\n"
    "pause hold\n"
    "next skip forward\n"
    "previous back last\n"
    "climate thermostat heating hvac temperature\n"
    "heat warm hot heater\n"
    "cool cold chill air conditioner ac\n"
    "temperature degrees celsius fahrenheit\n"
    "fan ventilation ventilator\n"
    "vacuum hoover robot clean\n"
    "clean sweep wash tidy\n"
    "dock charger base home\n"
    "timer countdown\n"
    "alarm alert wake\n"
    "sensor detector measurement reading\n"
    "switch toggle flip\n"
    "plug outlet socket\n"
    "device appliance gadget hardware\n"
    "reboot restart reset\n"
    "battery charge power\n"
    "camera webcam snapshot\n"
    "door gate entry\n"
    "motor servo pump\n"
    "email mail inbox gmail\n"
    "message text sms chat notify\n"
    "notification notify alert push\n"
    "call phone dial telephone\n"
    "send forward deliver\n"
    "calendar schedule agenda\n"
    "meeting appointment event conference\n";
static const char tcall_synonyms_offices_[] =
    "event concert festival happening\n"
    "reserve reservation book booking\n"
    "reminder remind remember memo\n"
    "note memo jot\n"
    "task todo chore\n"
    "document file doc pdf\n"
    "spreadsheet excel csv sheet\n"
    "slide presentation powerpoint ppt\n"
    "summary summarize summarise digest overview brief\n"
    "write compose draft\n"
    "translate translation language interpret\n"
    "grammar spelling proofread\n"
    "rewrite rephrase paraphrase\n"
    "contact person people address\n"
    "create make generate build produce add new\n"
    "delete remove erase clear drop\n"
    "update edit modify change alter adjust revise\n"
    "set configure adjust change\n"
    "add insert append put\n"
    "list show display view enumerate\n"
    "get fetch retrieve obtain find\n"
    "find search lookup locate discover\n"
    "search browse query web\n"
    "check verify validate inspect\n"
    "compare comparison difference versus\n"
    "analyze analysis evaluate assess examine\n"
    "calculate compute calculator determine\n"
    "convert conversion transform change\n"
    "estimate predict prediction forecast project\n"
    "recommend recommendation suggest suggestion advice\n"
    "track monitor follow watch\n"
    "save store keep record\n"
    "record log register\n"
    "register signup enroll join\n"
    "login signin authenticate password\n"
    "read view load open\n"
    "copy duplicate clone\n"
    "move transfer relocate\n"
    "rename name title\n"
    "folder directory path\n"
    "file document\n"
    "upload attach import\n"
    "download export save\n"
    "share publish post\n"
    "website site webpage page url link domain\n"
    "click press tap\n"
    "screenshot snapshot capture\n"
    "image picture photo photograph art\n"
    "draw drawing paint sketch illustration\n"
    "logo icon brand\n"
    "video clip youtube movie\n"
    "movie film cinema\n"
    "song music track tune playlist\n"
    "artist singer band musician\n"
    "lyrics song\n"
    "podcast episode\n"
    "book novel author read\n"
    "news headline article current\n"
    "article blog paper post\n"
    "paper research academic scholar study journal publication\n"
    "game gaming play\n"
    "joke fun funny humor\n"
    "story tale fiction\n"
    "quote saying inspirational\n"
    "weather forecast rain snow climate wind sunny\n"
    "time hour clock timezone\n"
    "date day today tomorrow\n"
    "location place city address where\n"
    "map direction route navigate navigation\n"
    "distance far away\n"
    "near nearby closest around local\n";
static const char tcall_synonyms_web_[] =
    "travel trip vacation holiday journey tour itinerary destination\n"
    "flight airline plane airport fly\n"
    "hotel accommodation lodging stay motel hostel\n"
    "restaurant dining eat cafe dinner lunch\n"
    "food meal dish cuisine\n"
    "recipe cook cooking bake ingredient\n"
    "diet calorie nutrition healthy\n"
    "car vehicle auto automobile\n"
    "drive driving road\n"
    "train rail bus transit\n"
    "taxi ride cab\n"
    "house home property apartment estate\n"
    "rent rental lease\n"
    "buy purchase order shop shopping\n"
    "sell sale\n"
    "price cost fee rate expensive\n"
    "product item goods merchandise\n"
    "gift present\n"
    "discount coupon deal promo offer\n"
    "cart basket checkout\n"
    "shipping delivery parcel package\n"
    "money cash currency fund\n"
    "currency exchange dollar euro\n"
    "stock share ticker equity\n"
    "invest investment investing portfolio finance\n"
    "finance financial bank\n"
    "pay payment bill charge\n"
    "invoice receipt bill\n"
    "tax vat\n"
    "loan mortgage credit debt\n"
    "balance account\n"
    "crypto cryptocurrency bitcoin token coin\n"
    "budget expense spending\n"
    "insurance policy coverage\n"
    "job career employment work hire vacancy\n"
    "resume cv\n"
    "company business firm corporation enterprise\n"
    "customer client user\n"
    "employee staff worker\n"
    "salary wage pay\n"
    "team group\n"
    "sport football soccer basketball match\n"
    "score result\n"
    "health medical medicine\n"
    "doctor physician appointment\n"
    "drug medication medicine pill\n"
    "symptom disease illness\n"
    "exercise workout fitness gym training\n"
    "course class lesson tutorial learn\n"
    "learn study education educational teach\n"
    "student pupil kid child\n"
    "school university college\n"
    "question quiz answer ask\n"
    "exam test\n";
static const char tcall_synonyms_world_[] =
    "explain explanation describe definition meaning\n"
    "word dictionary vocabulary\n"
    "synonym word thesaurus\n"
    "code program programming developer software\n"
    "github repository repo\n"
    "bug error issue problem\n"
    "run execute perform\n"
    "deploy release\n"
    "database sql table\n"
    "server host\n"
    "ip network address\n"
    "chart graph plot diagram visualize\n"
    "map geography\n"
    "data dataset statistic statistics\n"
    "trend popular trending top\n"
    "review rating feedback opinion\n"
    "idea suggestion inspiration\n"
    "plan planning organize\n"
    "law legal lawyer court\n"
    "astrology horoscope zodiac\n"
    "tarot fortune\n"
    "pet dog cat animal\n"
    "plant garden flower\n"
    "outfit fashion clothes clothing style\n"
    "color colour\n"
    "size dimension length\n"
    "big large huge\n"
    "small little tiny\n"
    "average mean\n"
    "sum total add\n"
    "area surface\n"
    "speed fast velocity pace\n"
    "random dice\n"
    "quick fast speed\n"
    "history past historical\n"
    "future upcoming next\n"
    "latest recent newest current\n"
    "free available vacant\n"
    "status state condition\n"
    "info information detail details\n"
    "link connect pair\n"
    "wifi wireless network internet\n"
    "password passcode pin\n"
    "user account profile\n"
    "comment reply respond\n"
    "tweet twitter social\n"
    "chat conversation talk\n"
    "speech voice speak say\n"
    "volume capacity\n"
    "population demographic people\n"
    "country nation\n"
    "language locale\n";
TCALL_DATA_ const char *const tcall_synonyms[] = {
    tcall_synonyms_devices_, tcall_synonyms_offices_, tcall_synonyms_web_,
    tcall_synonyms_world_, NULL};
#endif

/* Latin letters from U+00C0 on without their accents, small after capital. */
static const char tcall_latin_[] = "aaaaaaaceeeeiiiidnooooo ouuuuyts";

/* What a character is. A digit counts as a letter. */
enum {
    TCALL_CHAR_SIGN_,
    TCALL_CHAR_LETTER_,
    TCALL_CHAR_WIDE_, /* scripts without spaces: words are pairs of these */
    TCALL_CHAR_MARK_  /* accent of the letter before: left out */
};

/* The same of all from a multiple of four on, beyond Latin. */
static const uint16_t tcall_scripts_[] = {
    0x0100 | TCALL_CHAR_LETTER_, 0x0300 | TCALL_CHAR_MARK_,
    0x0370 | TCALL_CHAR_LETTER_, 0x0E00 | TCALL_CHAR_WIDE_,
    0x0F00 | TCALL_CHAR_LETTER_, 0x1000 | TCALL_CHAR_WIDE_,
    0x10A0 | TCALL_CHAR_LETTER_, 0x1780 | TCALL_CHAR_WIDE_,
    0x1800 | TCALL_CHAR_LETTER_, 0x2000 | TCALL_CHAR_SIGN_,
    0x2C00 | TCALL_CHAR_LETTER_, 0x2E00 | TCALL_CHAR_SIGN_,
    0x2E80 | TCALL_CHAR_WIDE_,   0x3000 | TCALL_CHAR_SIGN_,
    0x3004 | TCALL_CHAR_WIDE_,   0x3008 | TCALL_CHAR_SIGN_,
    0x3040 | TCALL_CHAR_WIDE_,   0xD7B0 | TCALL_CHAR_LETTER_,
    0xD800 | TCALL_CHAR_SIGN_,   0xF900 | TCALL_CHAR_WIDE_,
    0xFB00 | TCALL_CHAR_LETTER_, 0xFE00 | TCALL_CHAR_SIGN_,
    0xFE70 | TCALL_CHAR_LETTER_, 0xFF00 | TCALL_CHAR_SIGN_,
    0xFF68 | TCALL_CHAR_WIDE_,   0xFFF0 | TCALL_CHAR_SIGN_};

/* The words of a text, one after the other. */
typedef struct tcall_split_ {
    const char *p, *end;
    bool input;  /* clauses, and keys if it is JSON, are told apart */
    bool json;   /* escapes are read */
    bool key;    /* the word stands in one */
    bool stop;   /* a clause ended before the word */
    bool paired; /* the wide character at p was in the word before */
    uint8_t n;
    const char *at; /* the word: in the text, or where it had to be folded */
    unsigned letters;
    uint32_t stem, prefix;  /* hashes, of which the high bits count; or 0 */
    const uint32_t *begin;  /* letters of wanted words, NULL: all */
    unsigned words, longer; /* of the text so far; those of three bytes */
    char word[TCALL_PICK_WORD_];
} tcall_split_;

static void tcall_split_init_(tcall_split_ *t, tcall_str text)
{
    memset(t, 0, offsetof(tcall_split_, word));
    t->p = text.ptr;
    t->end = text.len ? text.ptr + text.len : text.ptr;
}

static inline bool tcall_is_letter_(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

typedef struct tcall_char_ {
    uint32_t c; /* without case, accent and width; 0 for most signs */
    size_t len;
    uint8_t kind;
    bool capital;
} tcall_char_;

/* The character at p. A byte that is no UTF-8, and the end, are signs. */
static tcall_char_ tcall_split_char_(const tcall_split_ *t)
{
    tcall_char_ r = {0, 0, TCALL_CHAR_SIGN_, false};
    const char *p = t->p;
    size_t left = (size_t)(t->end - p);
    uint32_t c;
    unsigned i;
    if (left == 0)
        return r;
    r.len = 1;
    c = (unsigned char)*p;
    if (c == '\\' && t->json && left > 1) {
        r.len = 2;
        c = p[1] == 'n' ? '\n' : 0;
        if (p[1] == 'u' && left > 5)
            for (; r.len < 6; r.len++)
                c = c << 4 | (tcall_hex_(p[r.len]) & 15);
    } else if (c >= 0x80) {
        r.len = tcall_utf8_len_(p, t->end);
        c = r.len ? (uint32_t)tcall_utf8_next_(&p) : 0;
        r.len += !r.len;
    }
    if (c - 0xC0 < 0x40) {
        r.capital = c < 0xDF;
        c = (unsigned char)tcall_latin_[c & 31];
    } else if (c - 0xFF01 < 0x5E)
        c -= 0xFEE0;
    r.c = c;
    if (c < 0x80) {
        if (!tcall_is_letter_((char)c)) {
            r.kind = tcall_is_digit_((char)c);
            return r;
        }
        r.c = c | 0x20;
        r.kind = TCALL_CHAR_LETTER_;
    } else if (c >= 0x10000) {
        r.kind = c >= 0x20000   ? TCALL_CHAR_WIDE_
                 : c >= 0x1F000 ? TCALL_CHAR_SIGN_
                                : TCALL_CHAR_LETTER_;
    } else {
        for (i = 0; i < TCALL_ARRAY_LEN(tcall_scripts_); i++)
            if (tcall_scripts_[i] <= (c | 3))
                r.kind = tcall_scripts_[i] & 3;
        if (c - 0x391 < 0x19 || c - 0x410 < 0x20)
            r.c += 0x20; /* Greek, Cyrillic */
        else if (c - 0x400 < 0x10)
            r.c += 0x50;
        else if (c - 0x100 < 0x80) /* capitals are even, but in two ranges */
            r.c = (c + (c - 0x139 < 16 || c - 0x179 < 6)) | 1;
    }
    r.capital |= r.c != c;
    return r;
}

/* Whether bit n is set. */
TCALL_SHARED_ bool tcall_pick_bit_(const uint32_t *bits, unsigned n)
{
    return bits[n / 32] >> n % 32 & 1;
}

/* What is a letter, a digit, a backslash, or no ASCII. */
static const uint32_t tcall_split_no_sign_[8] = {
    0, 0x03FF0000, 0x17FFFFFE, 0x07FFFFFE, ~0u, ~0u, ~0u, ~0u};

static void tcall_split_sign_(tcall_split_ *t, uint32_t c)
{
    const char *p = t->p + 1;
    if (c == '.') /* but not in 1.5 or example.com */
        t->stop |= p >= t->end ||
                   !tcall_pick_bit_(tcall_split_no_sign_, (unsigned char)*p);
    else if (c == ';' || c == '!' || c == '?' || c == '\n' || c == 0x3002)
        t->stop = true;
    else if (c == '"' && t->json) {
        while (p < t->end && *p != '"')
            p += 1 + (*p == '\\');
        for (p++; p < t->end && (unsigned char)*p <= ' '; p++)
            ;
        t->key = p < t->end && *p == ':';
        t->stop |= t->key;
    }
}

static void tcall_split_put_(tcall_split_ *t, uint32_t c)
{
    if (t->n + 4 <= TCALL_PICK_WORD_)
        t->n = (uint8_t)(t->n + tcall_utf8_(t->word + t->n, c));
}

/* The long way, where something is not ASCII or escaped: a word, or false
 * behind one sign. */
static bool tcall_split_long_(tcall_split_ *t)
{
    bool small = false;
    t->n = 0;
    for (;;) {
        tcall_char_ c = tcall_split_char_(t);
        if (t->n && c.kind != TCALL_CHAR_MARK_ &&
            (c.kind != TCALL_CHAR_LETTER_ || (c.capital && small)))
            return true;
        if (c.kind == TCALL_CHAR_SIGN_ && c.c != '"')
            tcall_split_sign_(t, c.c);
        t->p += c.len;
        if (c.kind == TCALL_CHAR_SIGN_)
            return false;
        if (c.kind == TCALL_CHAR_MARK_)
            continue;
        tcall_split_put_(t, c.c);
        small = !c.capital;
        if (c.kind == TCALL_CHAR_WIDE_) {
            c = tcall_split_char_(t);
            if (c.kind == TCALL_CHAR_WIDE_)
                tcall_split_put_(t, c.c);
            else if (t->paired)
                t->n = 0; /* it ended the word before */
            t->paired = c.kind == TCALL_CHAR_WIDE_;
            return t->n > 0;
        }
    }
}

/* Cuts English endings off, so that forms of a word are alike: light, lights,
 * lighting. What remains need not be a word, and has three letters or more with
 * a vowel among them; its y counts as i. */
static bool tcall_is_vowel_(char c)
{
    return 0x2208222 >> (c & 31) & 1; /* a e i o u y */
}

static size_t tcall_stem_(const char *w, size_t n)
{
    size_t end, i;
    char a, b, c;
    n -= w[n - 1] == 's' && w[n - 2] != 's' && w[n - 2] != 'u' &&
         w[n - 2] != 'i';
    a = w[n - 3];
    b = w[n - 2];
    c = w[n - 1];
    end = b == 'e' && c == 'd' ? n - 2
          : a == 'i' && ((b == 'n' && c == 'g') || (b == 'o' && c == 'n'))
              ? n - 3
              : 0;
    for (i = 0; end > 2 && i < end; i++)
        if (tcall_is_vowel_(w[i]))
            n = end;
    n -= n > 3 && w[n - 1] == 'e';
    n -= n > 3 && w[n - 1] == w[n - 2] && !tcall_is_vowel_(w[n - 1]);
    return n;
}

/* What words are known by: the hash, FNV-1a, of the stem, and of the first
 * letters of a longer one. Only longer words of letters have endings; in them
 * y counts as i: city, cities. */
static void tcall_split_key_(tcall_split_ *t)
{
    uint32_t hash = 2166136261u;
    size_t n = t->n, i;
    bool letters = n > 3 && tcall_is_letter_(*t->at);
    if (letters)
        n = tcall_stem_(t->at, n);
    t->prefix = 0;
    for (i = 0; i < n; i++) {
        unsigned c = (unsigned char)t->at[i];
        if (letters && c == 'y')
            c = 'i';
        hash = (hash ^ c) * 16777619u;
        if (letters && i == TCALL_PICK_PREFIX_ - 1)
            t->prefix = ~hash;
    }
    t->stem = hash;
}

/* A number from the first three letters, which stems keep; of the third four
 * bits, in which y is as i. */
static unsigned tcall_pick_letters_(const char *word, size_t n)
{
    const unsigned char *w = (const unsigned char *)word;
    unsigned letters, skip = *w >= 0x80;
    w += skip;
    n -= skip;
    letters = w[0] & 31u;
    if (n > 1)
        letters |= (w[1] & 31u) << 5;
    if (n > 2)
        letters ^= (w[2] & 15u) << 3;
    return letters;
}

static void tcall_split_keep_(tcall_split_ *t, const char *w, size_t n,
                              bool capitals)
{
    if (n > TCALL_PICK_WORD_)
        n = TCALL_PICK_WORD_;
    t->at = w;
    t->n = (uint8_t)n;
    if (capitals)
        for (t->at = t->word; n-- > 0;)
            t->word[n] = (char)(w[n] | 0x20);
    tcall_split_key_(t);
}

/* Counts a word of n bytes, and takes it if it is wanted. */
static inline bool tcall_split_take_(tcall_split_ *t, const char *w, size_t n,
                                     bool capitals)
{
    unsigned letters = tcall_pick_letters_(w, n);
    t->words++;
    t->longer += n > 2;
    if (t->begin && !tcall_pick_bit_(t->begin, letters))
        return false;
    t->letters = letters;
    tcall_split_keep_(t, w, n, capitals);
    return true;
}

/* Whether an ASCII word goes on behind it with letters that are not, or that
 * are escaped. */
static bool tcall_split_goes_on_(const tcall_split_ *t, const char *p)
{
    size_t left = (size_t)(t->end - p);
    return left > 0 && ((unsigned char)*p >= 0x80 ||
                        (*p == '\\' && t->json && left > 1 && p[1] == 'u'));
}

/* Where small letters end; where registers are wide, eight at a time. */
static inline const char *tcall_small_(const char *p, const char *end)
{
#ifdef TCALL_WIDE_
    const size_t ones = (size_t)-1 / 255;
    for (; end - p >= 8; p += 8) {
        size_t w, low;
        memcpy(&w, p, sizeof w);
        low = w & ones * 0x7F;
        w |= ~(low + ones * (0x80 - 'a')) | (low + ones * (0x7F - 'z'));
        w &= ones * 0x80;
        if (w)
            return p + (__builtin_ctzl(w) >> 3);
    }
#endif
    while (p < end && (unsigned char)(*p - 'a') < 26)
        p++;
    return p;
}

#ifdef TCALL_WIDE_
/* Passes over signs and over words of letters that are not wanted, from their
 * first eight bytes. Returns the length of one that is; 0 where the rest, such
 * as digits and what is not ASCII, has to be read byte by byte. */
static inline size_t tcall_split_skip_(tcall_split_ *t, const char **at)
{
    const uint64_t ones = ~(uint64_t)0 / 255;
    const char *p = *at, *end = t->end;
    unsigned words = t->words, longer = t->longer;
    size_t n = 0;
    while (end - p >= 8) {
        uint64_t w, low, other;
        unsigned letters;
        unsigned char c = (unsigned char)*p;
        if (c < '0' || !tcall_pick_bit_(tcall_split_no_sign_, c)) {
            p++;
            continue;
        }
        memcpy(&w, p, sizeof w);
        w |= 0x20; /* the first may be a capital */
        low = w & ones * 0x7F;
        other = w | ~(low + ones * (0x80 - 'a')) | (low + ones * (0x7F - 'z'));
        other &= ones * 0x80;
        n = other ? (size_t)__builtin_ctzl(other) >> 3
                  : (size_t)(tcall_small_(p + 8, end) - p);
        c = p + n < end ? (unsigned char)p[n] : 0;
        if (n == 0 || c >= 0x80 || c == '\\' ||
            (n == 1 && (unsigned)c - 'A' < 26)) {
            n = 0;
            break;
        }
        words++;
        longer += n > 2;
        if (n < 3)
            w &= n < 2 ? 0xFF : 0xFFFF;
        letters = (unsigned)(((w & 31) | (w >> 3 & 0x3E0)) ^ (w >> 13 & 0x78));
        if (tcall_pick_bit_(t->begin, letters)) {
            t->letters = letters;
            break;
        }
        p += n;
        n = 0;
    }
    t->words = words;
    t->longer = longer;
    *at = p;
    return n;
}
#endif

/* Moves to the next word: letters, which become small, or digits. lampOn and
 * HTTPServer are two words, PDFs is one. */
TCALL_SHARED_ bool tcall_split_next_(tcall_split_ *t)
{
    const char *p, *end = t->end;
    const bool input = t->input;
    t->stop = false;
    for (p = t->p; p < end; p++) {
        const char *from;
        size_t n, capitals;
        unsigned c;
#ifdef TCALL_WIDE_
        n = t->begin ? tcall_split_skip_(t, &p) : 0;
        if (n > 0) {
            t->p = p + n;
            tcall_split_keep_(t, p, n, *p <= 'Z');
            return true;
        }
        if (p == end)
            break;
#endif
        from = p;
        c = (unsigned char)*p;
        if (!tcall_pick_bit_(tcall_split_no_sign_, c)) {
            if (input) {
                t->p = p;
                tcall_split_sign_(t, c);
            }
            continue;
        }
        while (c - 'A' < 26)
            c = ++p < end ? (unsigned char)*p : 0;
        capitals = (size_t)(p - from);
        p = tcall_small_(p, end);
        n = (size_t)(p - from);
        if (n == 0)
            while (p < end && tcall_is_digit_(*p))
                p++;
        else if (capitals > 1 && n > capitals &&
                 (n > capitals + 1 || p[-1] != 's'))
            p = from + capitals - 1;
        n = (size_t)(p - from);
        if (n > 0 && !tcall_split_goes_on_(t, p)) {
            t->p = p--;
            if (tcall_split_take_(t, from, n, capitals > 0))
                return true;
        } else {
            t->p = from;
            if (tcall_split_long_(t) &&
                tcall_split_take_(t, t->word, t->n, false))
                return true;
            p = t->p - 1;
        }
    }
    t->p = p;
    return false;
}

static bool tcall_pick_stops_(const tcall_split_ *t)
{
    const uint16_t *p = tcall_pick_stop_;
    uint32_t hash = tcall_hash_(tcall_slice_(t->at, t->n)) >> 16;
    unsigned n;
    if (t->n > TCALL_PICK_STOPS_)
        return false;
    for (n = 1; n < t->n; n++)
        p += 1 + *p;
    for (n = *p++; n > 0 && *p != hash; n--)
        p++;
    return n > 0;
}

/* What one tool says of the words of the input: three bits each, a level; its
 * length and how much of its name was asked for. */
typedef struct tcall_record_ {
    uint16_t levels[TCALL_PICK_TERMS_ / 5];
    uint8_t length; /* in quarters of a word, coarser from 128 on */
    uint8_t name;   /* 16: all its words */
} tcall_record_;

/* The input, and all that is needed while tools are ranked for it. A slot is
 * 0 or 20 bits of a hash, a mark, and the term that the key belongs to. */
#define TCALL_SLOT_USED_ 0x80u
#define TCALL_SLOT_WEAK_ 0x40u
#define TCALL_SLOT_TERM_ 0x3Fu
#define TCALL_SLOT_HASH_ 0xFFFFF000u

typedef struct tcall_query_ {
    uint8_t terms, clauses, hits;
    uint16_t keys;
    uint32_t best[1 + TCALL_PICK_CLAUSES_]; /* of all tools, whole, clauses */
    uint32_t lengths; /* of the tools, in quarters of a word */
    uint32_t level;   /* of the best score of all, in thousandths */
    tcall_split_ words;
    uint32_t letters[32];              /* which keys begin so */
    uint16_t exact[TCALL_PICK_TERMS_]; /* tools with the word itself */
    uint16_t any[TCALL_PICK_TERMS_];   /* with a synonym or the like */
    uint8_t weight[TCALL_PICK_TERMS_]; /* 16 * log2 of how rare it is */
    uint8_t clause[TCALL_PICK_TERMS_]; /* bits: parts that it stands in */
    uint8_t own[TCALL_PICK_TERMS_];    /* sums of the tool at hand */
    uint8_t like[TCALL_PICK_TERMS_];
    uint8_t hit[TCALL_PICK_TERMS_]; /* terms that have such sums */
    uint32_t slot[TCALL_PICK_SLOTS_];
} tcall_query_;

/* The slot of a key from *at on, which moves past it; 0: no further one. */
TCALL_SHARED_ uint32_t tcall_query_find_(const tcall_query_ *q, uint32_t hash,
                                         unsigned *at)
{
    uint32_t slot;
    while ((slot = q->slot[*at % TCALL_PICK_SLOTS_]) != 0) {
        ++*at;
        if (((slot ^ hash) & TCALL_SLOT_HASH_) == 0)
            return slot;
    }
    return 0;
}

/* The term whose word has this stem, -1: none. */
TCALL_SHARED_ int tcall_query_term_(const tcall_query_ *q, uint32_t hash)
{
    unsigned at = hash >> 12;
    uint32_t slot;
    while ((slot = tcall_query_find_(q, hash, &at)) != 0)
        if (!(slot & TCALL_SLOT_WEAK_))
            return (int)(slot & TCALL_SLOT_TERM_);
    return -1;
}

/* A key of the word at hand. */
TCALL_SHARED_ void tcall_query_add_(tcall_query_ *q, uint32_t hash,
                                    uint32_t what)
{
    unsigned at = hash >> 12;
    uint32_t slot;
    what |= TCALL_SLOT_USED_;
    while ((slot = tcall_query_find_(q, hash, &at)) != 0)
        if ((slot & ~TCALL_SLOT_HASH_) == what)
            return;
    if (q->keys == TCALL_PICK_KEYS_)
        return;
    q->keys++;
    q->slot[at % TCALL_PICK_SLOTS_] = (hash & TCALL_SLOT_HASH_) | what;
    q->letters[q->words.letters / 32] |= (uint32_t)1 << q->words.letters % 32;
}

TCALL_SHARED_ void tcall_split_input_(tcall_split_ *t, tcall_str input)
{
    tcall_split_init_(t, input);
    t->input = true;
    while (t->p < t->end && (unsigned char)*t->p <= ' ')
        t->p++;
    t->json = t->p < t->end && (*t->p == '{' || *t->p == '[');
}

/* Makes terms of the words of the input. */
static void tcall_query_read_(tcall_query_ *q, tcall_str input)
{
    tcall_split_ *t = &q->words;
    unsigned words = 0; /* of the clause */
    tcall_split_input_(t, input);
    q->clauses = 1;
    while (q->terms < TCALL_PICK_TERMS_ && tcall_split_next_(t)) {
        int term;
        if (t->stop && words >= 3 && q->clauses < TCALL_PICK_CLAUSES_) {
            q->clauses++;
            words = 0;
        }
        /* Long numbers are values, of which no tool speaks. */
        if (tcall_pick_stops_(t) || (t->n > 4 && tcall_is_digit_(*t->at)))
            continue;
        words++;
        term = tcall_query_term_(q, t->stem);
        if (term < 0) {
            term = q->terms++;
            tcall_query_add_(q, t->stem, (uint32_t)term);
            if (t->prefix)
                tcall_query_add_(q, t->prefix,
                                 (uint32_t)term | TCALL_SLOT_WEAK_);
        }
        q->clause[term] |= (uint8_t)(1u | 1u << q->clauses);
        q->weight[term] |= t->key ? 1 : 2; /* keys count half */
    }
}

/* Synonyms of the terms become keys too: all words of the lines they are in. */
TCALL_SHARED_ void tcall_query_synonyms_(tcall_query_ *q, const char *text)
{
    tcall_split_ *t = &q->words;
    tcall_split_init_(t, tcall_str_of(text));
    t->begin = q->letters;
    while (tcall_split_next_(t)) {
        const char *at = t->p, *end = t->end;
        int term = tcall_query_term_(q, t->stem);
        if (term < 0)
            continue;
        while (t->p > text && t->p[-1] != '\n')
            t->p--;
        t->end = t->p + strcspn(t->p, "\n");
        t->begin = NULL;
        while (tcall_split_next_(t))
            if (tcall_query_term_(q, t->stem) != term)
                tcall_query_add_(q, t->stem, (uint32_t)term | TCALL_SLOT_WEAK_);
        t->p = at;
        t->end = end;
        t->begin = q->letters;
    }
}

/* Counts a word of a tool; true when it is a key. */
static bool tcall_query_hit_(tcall_query_ *q, uint32_t hash, unsigned where)
{
    unsigned at = hash >> 12;
    uint32_t slot;
    bool hit = false;
    while ((slot = tcall_query_find_(q, hash, &at)) != 0) {
        bool weak = (slot & TCALL_SLOT_WEAK_) != 0;
        unsigned term = slot & TCALL_SLOT_TERM_;
        uint8_t *sum = (weak ? q->like : q->own) + term;
        if (q->own[term] + q->like[term] == 0)
            q->hit[q->hits++] = (uint8_t)term;
        if (*sum < 100)
            *sum = (uint8_t)(*sum + tcall_pick_weights_[where][weak]);
        hit = true;
    }
    return hit;
}

enum { TCALL_PICK_TEXTS_ = 5 };

/* Begins a text of a tool; returns where it stands. */
TCALL_SHARED_ unsigned tcall_pick_text_(tcall_split_ *t, const tcall_tool *tool,
                                        unsigned text)
{
    const char *p = text == 0   ? tool->name
                    : text == 1 ? tool->title
                    : text == 2 ? tool->description
                    : text == 3 ? tool->tags
                                : tool->parameters;
    tcall_split_init_(t, tcall_slice_(p, p ? strlen(p) : 0));
    t->json = text == TCALL_PICK_TEXTS_ - 1;
    return (unsigned)(text > 0) + t->json; /* name, text, parameters */
}

/* Length in quarters of a word, and the share of the name that was asked for.
 */
TCALL_SHARED_ void tcall_record_close_(tcall_record_ *r, unsigned length,
                                       unsigned name, unsigned asked)
{
    length = length < 128 ? length : 128 + (length - 128) / 16;
    r->length = (uint8_t)(length < 255 ? length : 255);
    r->name = (uint8_t)(name ? asked * 16 / name : 0);
}

/* Reads a tool: what it says is in own and like afterwards. Words that are too
 * short to tell anything make no text longer. */
static void tcall_query_tool_(tcall_query_ *q, const tcall_tool *tool,
                              tcall_record_ *r)
{
    tcall_split_ *t = &q->words;
    unsigned length = 0, name = 0, asked = 0, text;
    for (text = 0; text < TCALL_PICK_TEXTS_; text++) {
        unsigned where = tcall_pick_text_(t, tool, text);
        t->begin = q->letters;
        while (tcall_split_next_(t))
            if (tcall_query_hit_(q, t->stem, where) ||
                (t->prefix && tcall_query_hit_(q, t->prefix, where)))
                asked += where == TCALL_IN_NAME_;
        length += tcall_pick_weights_[where][2] * t->longer;
        if (where == TCALL_IN_NAME_)
            name = t->words;
    }
    tcall_record_close_(r, length, name, asked);
}

/* ---- ranking */

typedef struct tcall_ranking_ {
    tcall *tc;
    const tcall_pick_opts *opts;
    tcall_query_ *q;
    tcall_record_ *records; /* of all tools, if there is room for them */
    uint32_t started;
    size_t tools; /* that may be picked */
    bool late;
    tcall_str input;
    int max; /* of the picks that are not pinned */
    tcall_pick_opts none;
} tcall_ranking_;

/* Why a tool may not be picked. */
enum {
    TCALL_PICK_FREE_,
    TCALL_PICK_PERMISSIONS_,
    TCALL_PICK_UNSAFE_,
    TCALL_PICK_STREAMING_,
    TCALL_PICK_ROLES_,
    TCALL_PICK_COST_,
    TCALL_PICK_GROUPS_
};

static int tcall_pick_barred_(const tcall *tc, const tcall_pick_opts *o,
                              const tcall_tool *tool)
{
    bool safe = tool->safe == TCALL_SAFETY_DERIVED
                    ? tcall_needs_(tool) == TCALL_READ
                    : tool->safe == TCALL_SAFETY_SAFE;
    return !tcall_enabled(tool, o->allow ? o->allow : tc->desc.allow)
               ? TCALL_PICK_PERMISSIONS_
           : !safe && !o->allow_unsafe                ? TCALL_PICK_UNSAFE_
           : o->streaming && !tool->streaming         ? TCALL_PICK_STREAMING_
           : tool->roles && !(tool->roles & o->roles) ? TCALL_PICK_ROLES_
           : o->max_cost && tool->cost > o->max_cost  ? TCALL_PICK_COST_
           : o->groups && tool->groups && !(tool->groups & o->groups)
               ? TCALL_PICK_GROUPS_
               : TCALL_PICK_FREE_;
}

/* The next tool at or behind *i that may be picked. Stops once, when time is
 * up. */
TCALL_SHARED_ const tcall_tool *tcall_ranking_next_(tcall_ranking_ *k,
                                                    size_t *i)
{
    const tcall_desc *d = &k->tc->desc;
    if (k->opts->timeout_ms && d->now_ms && !k->late) {
        k->late = d->now_ms(d->user) - k->started >= k->opts->timeout_ms;
        if (k->late)
            return NULL;
    }
    for (; *i < d->tool_count; ++*i)
        if (!tcall_pick_barred_(k->tc, k->opts, &d->tools[*i]))
            return &d->tools[*i];
    return NULL;
}

/* What a tool says of the terms, and in the first pass how many tools do. */
static void tcall_ranking_record_(tcall_ranking_ *k, size_t tool,
                                  tcall_record_ *r, bool count)
{
    tcall_query_ *q = k->q;
    memset(r, 0, sizeof *r);
    tcall_query_tool_(q, &k->tc->desc.tools[tool], r);
    while (q->hits > 0) {
        unsigned t = q->hit[--q->hits], level = 7;
        unsigned sum = q->own[t] + (q->like[t] < 3 ? q->like[t] : 3u);
        while (tcall_pick_levels_[level] > sum)
            level--;
        r->levels[t / 5] |= (uint16_t)(level << t % 5 * 3);
        if (count) {
            q->any[t]++;
            q->exact[t] = (uint16_t)(q->exact[t] + (q->own[t] > 0));
        }
        q->own[t] = q->like[t] = 0;
    }
}

TCALL_SHARED_ unsigned tcall_record_length_(const tcall_record_ *r)
{
    return r->length < 128 ? r->length : 128u + (r->length - 128u) * 16;
}

/* 16 * log2(x), between powers of two by a straight line. */
static unsigned tcall_log16_(uint32_t x)
{
    unsigned n = 0;
    while (x >> n > 1)
        n++;
    return 16 * n + (x << 4 >> n & 15);
}

/* What a tool is worth: part[0] for the whole input, then for its clauses.
 * Returns the weight of the words that it has. */
static uint32_t tcall_ranking_parts_(tcall_ranking_ *k, size_t tool,
                                     uint32_t *part)
{
    const tcall_query_ *q = k->q;
    uint32_t average = q->lengths / (uint32_t)k->tools + 1, dull, cover = 0;
    tcall_record_ made, *r = &made;
    unsigned first, t, i;
    if (k->records)
        r = &k->records[tool];
    else
        tcall_ranking_record_(k, tool, r, false);
    dull = 64 + 1024 * tcall_record_length_(r) / average;
    memset(part, 0, sizeof q->best);
    for (first = 0; first < q->terms; first += 5) {
        unsigned levels = r->levels[first / 5];
        for (t = first; levels; levels >>= 3, t++) {
            uint32_t value = tcall_pick_levels_[levels & 7];
            unsigned clauses = q->clause[t];
            if (value == 0)
                continue;
            cover += q->weight[t];
            value = q->weight[t] * 1024u * value / (16 * value + dull);
            value = value * (32u + r->name) / 32;
            for (i = 0; clauses; clauses >>= 1, i++)
                part[i] += clauses & 1 ? value : 0;
        }
    }
    return cover;
}

/* 16 * log2 of how rare a term is among the tools: of the word itself if there
 * is a tool that has it, else of what is like it. */
static unsigned tcall_query_rare_(const tcall_query_ *q, unsigned term,
                                  size_t tools)
{
    uint32_t with = q->exact[term] ? q->exact[term] : q->any[term];
    unsigned rare =
        tcall_log16_(2 * (uint32_t)tools + 2) - tcall_log16_(2 * with + 1);
    return rare < 255 ? rare : 255;
}

/* The first two passes of the built-in scorer: how rare the words are, and the
 * best parts. */
static void tcall_ranking_prepare_(tcall_ranking_ *k)
{
    tcall_query_ *q = k->q;
    tcall_record_ r, *at = &r;
    uint32_t part[1 + TCALL_PICK_CLAUSES_], all = 0, most = 0;
    unsigned t, c;
    size_t i;
    if (k->records && k->opts->index)
        k->opts->index->read(k);
    else
        for (i = 0; tcall_ranking_next_(k, &i); i++) {
            if (k->records)
                at = &k->records[i];
            tcall_ranking_record_(k, i, at, true);
            q->lengths += tcall_record_length_(at) * 16;
            k->tools++;
        }
    for (t = 0; t < q->terms; t++) {
        unsigned rare = tcall_query_rare_(q, t, k->tools);
        q->weight[t] = (uint8_t)(q->weight[t] == 1 ? rare / 2 : rare);
        all += q->weight[t];
    }
    for (i = 0; !k->late && tcall_ranking_next_(k, &i); i++) {
        uint32_t cover = tcall_ranking_parts_(k, i, part);
        most = cover > most ? cover : most;
        for (c = 0; c <= q->clauses; c++)
            q->best[c] = part[c] > q->best[c] ? part[c] : q->best[c];
    }
    q->level = all ? most * 1000 / all : 0;
}

/* The built-in score, 0 to TCALL_PICK_ONE_ * 1000. */
static uint32_t tcall_ranking_score_(tcall_ranking_ *k, size_t i)
{
    const tcall_query_ *q = k->q;
    uint32_t part[1 + TCALL_PICK_CLAUSES_], score, most = 0;
    unsigned c;
    if (q->terms && !k->tools)
        tcall_ranking_prepare_(k);
    if (q->level == 0 || k->late)
        return 0;
    tcall_ranking_parts_(k, i, part);
    if (part[0] == 0)
        return 0;
    for (c = 0; c < q->clauses; c++)
        if (part[c + 1]) {
            uint32_t share = (part[c + 1] << 12) / q->best[c + 1];
            most = share > most ? share : most;
        }
    score = (part[0] << 12) / q->best[0];
    return (614 * score + 410 * most) * q->level;
}

/* The query, and records for all tools if there is room, in the free part of
 * the block: nothing of it is held. */
static int tcall_ranking_init_(tcall_ranking_ *k, tcall *tc, tcall_str input,
                               const tcall_pick_opts *opts)
{
    tcall_block *b = &tc->block;
    size_t skip = (0 - (uintptr_t)tcall_block_gap_(b)) & 7;
    size_t size = skip + sizeof(tcall_query_), all;
    const char *const *synonyms;
    memset(k, 0, sizeof *k);
    opts = opts ? opts : &k->none;
    synonyms = opts->synonyms;
    k->tc = tc;
    k->opts = opts;
    k->input = input;
    k->max = opts->max ? opts->max : 3;
    all = size + tc->desc.tool_count * sizeof(tcall_record_);
    if ((opts->index && (opts->index->tools != tc->desc.tool_count ||
                         !opts->index->row_count)) ||
        (opts->scorer_count && !opts->mix))
        return TCALL_E_USAGE;
    if (!tcall_block_room_(b, size))
        return TCALL_E_MEMORY;
    k->q = (tcall_query_ *)(void *)(tcall_block_gap_(b) + skip);
    memset(k->q, 0, sizeof *k->q);
    if (all <= tcall_block_free_(b)) {
        tcall_block_room_(b, all);
        k->records = (tcall_record_ *)(void *)(k->q + 1);
    }
    if (opts->timeout_ms && tc->desc.now_ms)
        k->started = tc->desc.now_ms(tc->desc.user);
    tcall_query_read_(k->q, input);
    if (!synonyms && opts->index)
        opts->index->widen(k->q, opts->index);
#ifndef TOOLCALL_NO_SYNONYMS
    else if (!synonyms)
        synonyms = tcall_synonyms;
#endif
    for (; synonyms && *synonyms; synonyms++)
        tcall_query_synonyms_(k->q, *synonyms);
    return TCALL_OK;
}

/* Puts a candidate where it belongs among the count best, of which there are
 * at most room. Of equals the one that came first stays first. */
static int tcall_picks_insert_(tcall_picked *picks, int count, int room,
                               const tcall_picked *pick)
{
    const tcall_picked p = *pick;
    int at = count;
    while (at > 0 && picks[at - 1].rank < p.rank)
        at--;
    if (at >= room)
        return count;
    count += count < room;
    memmove(picks + at + 1, picks + at, (size_t)(count - at - 1) * sizeof p);
    picks[at] = p;
    return count;
}

static tcall_picked tcall_pick_of_(const tcall_ranking_ *k, size_t i)
{
    const tcall_tool *tool = &k->tc->desc.tools[i];
    tcall_picked p = {tool, 0, 0, false, false, 0, 0};
    p.index = (uint16_t)i;
    p.pinned = tool->pinned;
    p.late = k->late && !tool->pinned;
    return p;
}

/* Adds the tools that may be picked, by the built-in score; or those that are
 * pinned, or all when time is up, in the order of registration. */
static int tcall_ranking_fill_(tcall_ranking_ *k, tcall_picked *picks,
                               int count, int room, bool pinned)
{
    size_t i;
    for (i = 0; tcall_ranking_next_(k, &i); i++) {
        tcall_picked p = tcall_pick_of_(k, i);
        if (p.pinned != pinned)
            continue;
        p.rank = pinned ? 0 : tcall_ranking_score_(k, i);
        count = tcall_picks_insert_(picks, count, room, &p);
    }
    return count;
}

/* The number of picks that are good enough. */
static int tcall_ranking_cut_(const tcall_ranking_ *k, tcall_picked *picks,
                              int count)
{
    const tcall_pick_opts *o = k->opts;
    unsigned min = o->min_score ? o->min_score : 50;
    int i;
    for (i = 0; i < count && i < k->max; i++) {
        tcall_picked *p = &picks[i];
        p->score = (uint16_t)(p->rank / TCALL_PICK_ONE_);
        if (p->score < min ||
            p->rank / 128 * 100 < picks[0].rank / 128 * o->relative)
            break;
    }
    return i;
}

static void tcall_picks_sort_(tcall_picked *picks, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        picks[i].rank = 0xFFFFu - picks[i].index;
        tcall_picks_insert_(picks, i, count, &picks[i]);
    }
}

static size_t tcall_pick_bytes_(const tcall_tool *t)
{
    return tcall_str_of(t->name).len + tcall_str_of(t->description).len +
           tcall_str_of(t->provider_schema ? t->provider_schema : t->parameters)
               .len;
}

size_t tcall_pick_saved(const tcall *tc, const tcall_picked *picks, int count)
{
    size_t saved = 0, i;
    for (i = 0; i < tc->desc.tool_count; i++)
        if (tcall_enabled(&tc->desc.tools[i], tc->desc.allow))
            saved += tcall_pick_bytes_(&tc->desc.tools[i]);
    while (count-- > 0)
        saved -= tcall_pick_bytes_(picks[count].tool);
    return saved;
}

static void tcall_tell_picks_(tcall *tc, const tcall_picked *picks, int count)
{
    tcall_event event;
    if (!tc->desc.on_event && !tc->listeners)
        return;
    memset(&event, 0, sizeof event);
    event.tools = (size_t)count;
    event.bytes = tcall_pick_saved(tc, picks, count);
    tcall_tell_(tc, &event, TCALL_EVENT_PICK);
}

int tcall_pick(tcall *tc, tcall_str input, const tcall_pick_opts *opts,
               tcall_picked *picks, int max)
{
    tcall_ranking_ k;
    size_t i;
    int count, room = max;
    if (max < 1 || tc->desc.tool_count > 0xFFFF)
        return TCALL_E_USAGE;
    count = tcall_ranking_init_(&k, tc, input, opts);
    if (count < 0)
        return count;
    opts = k.opts;
    for (i = 0; i < tc->desc.tool_count; i++)
        room -= tc->desc.tools[i].pinned;
    k.max = room < k.max ? room : k.max;
    count = opts->mix ? opts->mix(&k, picks, room)
                      : tcall_ranking_fill_(&k, picks, 0, k.max, false);
    count = k.late ? tcall_ranking_fill_(&k, picks, 0, k.max, false)
                   : tcall_ranking_cut_(&k, picks, count);
    if (room < max)
        count = tcall_ranking_fill_(&k, picks, count, max, true);
    if (opts->stable)
        tcall_picks_sort_(picks, count);
    tcall_tell_picks_(tc, picks, count);
    return count;
}

/* The mean of the score so far and of a further scorer. */
static void tcall_score_mix_(tcall_ranking_ *k, tcall_picked *p,
                             const tcall_scorer *s)
{
    uint32_t own = s->weight ? s->weight : 1, score;
    if (s->score) {
        int r = s->score(s->user, k->input, p->tool, p->index);
        if (r < 0)
            return; /* it cannot tell: the others do */
        score = (uint32_t)(r < 1000 ? r : 1000) * TCALL_PICK_ONE_;
    } else
        score = tcall_ranking_score_(k, p->index);
    if (p->weights)
        score = ((p->rank >> 12) * p->weights + (score >> 12) * own) /
                    (p->weights + own)
                << 12;
    p->rank = score;
    p->weights = (uint16_t)(p->weights + own);
}

int tcall_mix(tcall_ranking_ *k, tcall_picked *picks, int max)
{
    const tcall_scorer *s, *end = k->opts->scorers + k->opts->scorer_count;
    int room = k->max, count = 0, n;
    size_t i;
    for (s = k->opts->scorers; s < end; s++)
        room = s->top > room ? s->top : room;
    room = room < max ? room : max;
    for (i = 0; room > 0 && tcall_ranking_next_(k, &i); i++) {
        tcall_picked p = tcall_pick_of_(k, i);
        for (s = k->opts->scorers; s < end && !p.pinned; s++)
            if (!s->top)
                tcall_score_mix_(k, &p, s);
        if (!p.pinned)
            count = tcall_picks_insert_(picks, count, room, &p);
    }
    for (s = k->opts->scorers; s < end; s++) {
        if (!s->top)
            continue;
        count = count < s->top ? count : s->top;
        for (n = 0; n < count; n++) {
            i = picks[n].index;
            if (k->late || !tcall_ranking_next_(k, &i))
                return count;
            tcall_score_mix_(k, &picks[n], s);
            tcall_picks_insert_(picks, n, count, &picks[n]);
        }
    }
    return count;
}

/* ---- reports, linked only where they are called */

/* Moves to the next word that is the first of its term; false: no further. */
static bool tcall_query_tell_(const tcall_query_ *q, tcall_split_ *t, int *term)
{
    ++*term;
    while (tcall_split_next_(t))
        if (tcall_query_term_(q, t->stem) == *term)
            return true;
    return false;
}

int tcall_write_reason(tcall *tc, tcall_writer *w, tcall_str input,
                       const tcall_pick_opts *opts, const tcall_picked *pick)
{
    tcall_ranking_ k;
    tcall_record_ r;
    tcall_split_ t;
    size_t from = w->len;
    int term = -1, error;
    if (pick->late || pick->pinned)
        return tcall_write_text(w, pick->late ? "time ran out" : "pinned");
    error = tcall_ranking_init_(&k, tc, input, opts);
    if (error < 0)
        return error;
    tcall_ranking_record_(&k, pick->index, &r, false);
    tcall_split_input_(&t, input);
    while (tcall_query_tell_(k.q, &t, &term))
        if (r.levels[term / 5] >> term % 5 * 3 & 7) {
            tcall_write_text(w, w->len > from ? ", " : "matched ");
            tcall_write_bytes(w, t.at, t.n);
        }
    return w->len > from ? w->error : tcall_write_text(w, "no word of it");
}

static void tcall_write_terms_(tcall_ranking_ *k, tcall_writer *w)
{
    const tcall_query_ *q = k->q;
    tcall_split_ t;
    int term = -1;
    tcall_split_input_(&t, k->input);
    while (tcall_query_tell_(q, &t, &term)) {
        unsigned rare = tcall_query_rare_(q, (unsigned)term, k->tools);
        tcall_write_open(w, '{');
        tcall_write_key(w, "word");
        tcall_write_str(w, tcall_slice_(t.at, t.n));
        tcall_write_key(w, "tools");
        tcall_write_int(w, q->exact[term] ? q->exact[term] : q->any[term]);
        tcall_write_key(w, "weight");
        tcall_write_fixed(w, (long)rare * 100 / 16, 2);
        tcall_write_close(w, '}');
    }
}

/* The tools that were barred and why. */
static void tcall_write_barred_(const tcall *tc, tcall_writer *w,
                                const tcall_pick_opts *opts)
{
    static const char *const whys[] = {
        "", "permissions", "unsafe", "streaming", "roles", "cost", "groups"};
    size_t i;
    for (i = 0; i < tc->desc.tool_count; i++) {
        int why = tcall_pick_barred_(tc, opts, &tc->desc.tools[i]);
        if (!why)
            continue;
        tcall_write_open(w, '{');
        tcall_write_key(w, "tool");
        tcall_write_string(w, tc->desc.tools[i].name);
        tcall_write_key(w, "why");
        tcall_write_string(w, whys[why]);
        tcall_write_close(w, '}');
    }
}

int tcall_write_picks(tcall *tc, tcall_writer *w, tcall_str input,
                      const tcall_pick_opts *opts, const tcall_picked *picks,
                      int count)
{
    tcall_ranking_ k;
    size_t n = 0;
    int i, error = tcall_ranking_init_(&k, tc, input, opts);
    if (error < 0)
        return error;
    opts = k.opts;
    tcall_write_open(w, '{');
    tcall_write_key(w, "scorers");
    tcall_write_open(w, '[');
    do {
        const char *name = opts->scorer_count ? opts->scorers[n].name : NULL;
        tcall_write_string(w, name ? name : "words");
    } while (++n < opts->scorer_count);
    tcall_write_close(w, ']');
    tcall_write_key(w, "terms");
    tcall_write_open(w, '[');
    if (k.q->terms)
        tcall_ranking_prepare_(&k);
    tcall_write_terms_(&k, w);
    tcall_write_close(w, ']');
    tcall_write_key(w, "picks");
    tcall_write_open(w, '[');
    for (i = 0; i < count; i++) {
        tcall_write_open(w, '{');
        tcall_write_key(w, "tool");
        tcall_write_string(w, picks[i].tool->name);
        tcall_write_key(w, "score");
        tcall_write_fixed(w, picks[i].score, 3);
        tcall_write_key(w, "reason");
        tcall_write_quote(w);
        tcall_write_reason(tc, w, input, opts, &picks[i]);
        tcall_write_unquote(w);
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
    tcall_write_key(w, "excluded");
    tcall_write_open(w, '[');
    tcall_write_barred_(tc, w, opts);
    tcall_write_close(w, ']');
    n = tcall_pick_saved(tc, picks, count);
    tcall_write_key(w, "bytes_saved");
    tcall_write_int(w, (long)n);
    tcall_write_key(w, "tokens_saved");
    tcall_write_int(w, (long)(n / 4));
    return tcall_write_close(w, '}');
}

static uint32_t tcall_root_(uint32_t x)
{
    uint32_t r = 0, bit = (uint32_t)1 << 30;
    for (; bit; bit >>= 2) {
        if (x >= r + bit) {
            x -= r + bit;
            r = (r >> 1) + bit;
        } else
            r >>= 1;
    }
    return r;
}

int tcall_cosine(void *user, tcall_str input, const tcall_tool *tool,
                 size_t index)
{
    const tcall_vectors *v = (const tcall_vectors *)user;
    const int8_t *a = v->input, *b = v->tools + index * v->size;
    int32_t dot = 0;
    uint32_t aa = 0, bb = 0, length;
    size_t i;
    (void)input;
    (void)tool;
    for (i = 0; i < v->size; i++) {
        dot += a[i] * b[i];
        aa += (uint32_t)(a[i] * a[i]);
        bb += (uint32_t)(b[i] * b[i]);
    }
    length = tcall_root_(aa) * tcall_root_(bb);
    if (dot <= 0 || length == 0)
        return 0;
    for (; length > (uint32_t)1 << 21; length >>= 1)
        dot >>= 1;
    return (int)((uint32_t)dot < length ? (uint32_t)dot * 1000 / length : 1000);
}

#endif /* TOOLCALL_NO_PICK */
