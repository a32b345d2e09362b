/*
 * standin_guess.h - how the stand-in picks tools and fills in arguments
 *
 * There is no language model here and no list of sentences either: the words
 * of a request are held against the words of the tools (name, description,
 * parameters, enum values). A request is cut into clauses; each clause picks
 * the tool it shares most words with; then each parameter looks for a word of
 * the clause that suits its schema. guess_plan is the way in.
 */
#ifndef STANDIN_GUESS_H
#define STANDIN_GUESS_H

#include "toolcall.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GUESS_WORDS = 256,
    GUESS_CALLS = 8,
    GUESS_TOOLS = 256,
    GUESS_VALUES = 16,
    GUESS_TEXT = 512,
    GUESS_ENOUGH = 4 /* points that a tool needs to be picked */
};

/* How sure a value is. */
enum { NONE, WEAK, SURE };

typedef struct guess_tool {
    const char *name;
    const char *description;
    tcall_json parameters;
} guess_tool;

/* One word of the request, or one quoted piece of it. */
typedef struct guess_word {
    char text[32]; /* lower case; of a number its JSON text */
    const char *at;
    size_t len; /* as it stands in the request */
    bool number, quoted, capital, stop;
    bool breaks;  /* a clause begins here */
    bool used;    /* became an argument */
    bool matched; /* speaks of the tool itself */
} guess_word;

typedef struct guess_value {
    int sure;
    char json[GUESS_TEXT];
} guess_value;

typedef struct guess_call {
    int tool;
    int from, to; /* its words */
    int count;    /* of values: one for each property, in order */
    guess_value values[GUESS_VALUES];
} guess_call;

typedef struct guess {
    const guess_tool *tools;
    int tool_count;
    guess_word words[GUESS_WORDS + 1];
    int word_count;
    guess_call calls[GUESS_CALLS];
    int call_count;
    int lonely; /* a tool that was meant, but a required value is missing */
    const char *missing;
} guess;

/* --------------------------------------------------------------------------
 * Words
 */

/* Words of one line mean much the same. */
static const char *const guess_synonyms[] = {
    "hot warm cold heat temperature thermal degree degrees",
    "time clock hour oclock",
    "date day today calendar",
    "ram memory",
    "load busy cpu processor",
    "uptime running booted boot alive",
    "lamp light led bulb",
    "gpio pin line",
    "set write switch turn put make",
    "get read check show state status",
    "weather forecast rain sunny umbrella",
    "delete remove erase",
    "create add new make",
    "search find lookup google",
    "send email mail message",
    "file document",
    "folder directory",
    "convert conversion unit",
    "calculate compute evaluate math",
    "multiply times product",
    "sum add plus total",
    "run execute start launch",
    "remind reminder remember",
    "note memo",
    "price cost",
    "translate translation",
    "celsius c centigrade",
    "fahrenheit f",
    "kelvin k",
    "metre m meter metres meters",
    "kilometre km kilometer kilometres kilometers klick",
    "centimetre cm centimeter centimetres centimeters",
    "millimetre mm millimeter millimetres millimeters",
    "foot ft feet",
    "inch in inches",
    "yard yd",
    "mile mi",
    "gram g gramme grams",
    "kilogram kg kilo kilos kilogramme",
    "pound lb lbs pounds",
    "ounce oz",
    "tonne t ton tons",
    "litre l liter litres liters",
    "millilitre ml milliliter millilitres milliliters",
    "gallon gal",
    "kilometre_per_hour km/h kmh kph kmph",
    "metre_per_second m/s mps",
    "mile_per_hour mph mi/h",
    "knot kn kt",
    "second s sec",
    "minute min",
    "percent %",
};
static const char guess_on[] = "on true yes enable enabled high start open "
                               "opened activate active 1";
static const char guess_off[] = "off false no disable disabled low stop close "
                                "closed shut deactivate inactive 0";
static const char guess_not[] = "not dont never without no cannot";
static const char guess_asking[] =
    "is are was were what which who when where why how does do did has have "
    "read check show get tell list";
static const char guess_reading[] =
    "get read list query check status show find search lookup fetch view";
static const char guess_acting[] =
    "set write switch turn put make delete remove create add send run execute "
    "start stop open close toggle update enable disable activate play";
/* Verbs that say nothing of what it is about. */
static const char guess_plain[] =
    "get read show check set write make put turn switch use do";
static const char guess_free_text[] =
    "query text message content contents body question note prompt title "
    "description command expression formula todo task item subject search "
    "input reason summary code";
static const char guess_stop[] =
    "a an the this that these those it its of in on off at to for from by with "
    "as into is are was were be been am i me my mine you your we our us he she "
    "they them what which who whom when where why how do does did done can "
    "could would will shall should may might must please pls and or but then "
    "also so if not no yes there here now right just some any all much many "
    "have has had tell give show let lets want need like know hello hi hey "
    "thanks thank ok okay per about up down out too very current currently "
    "get got whats hows im id ill one use using via such other than it's "
    "dont never";
static const char guess_markers[] = "for about that saying says called named "
                                    "titled to is";
static const char guess_places[] = "in for at of to from near called named on "
                                   "with by";

static bool in_list(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; n && (p = strstr(p, word)) != NULL; p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

/* Without the ending of a plural or a verb form. */
static void stem(char *out, size_t cap, const char *word)
{
    size_t n;

    snprintf(out, cap, "%s", word);
    n = strlen(out);
    if (n > 4 && strcmp(out + n - 3, "ies") == 0)
        strcpy(out + n - 3, "y");
    else if (n > 3 && out[n - 1] == 's' && out[n - 2] != 's')
        out[n - 1] = '\0';
    else if (n > 5 && strcmp(out + n - 3, "ing") == 0)
        out[n - 3] = '\0';
    else if (n > 4 && strcmp(out + n - 2, "ed") == 0)
        out[n - 2] = '\0';
}

/* How alike two words are: 3 the same, 2 synonyms, 1 the same beginning. */
static int alike(const char *a, const char *b)
{
    char x[48], y[48];
    size_t n = 0, shorter, longer;

    stem(x, sizeof x, a);
    stem(y, sizeof y, b);
    if (strcmp(a, b) == 0 || strcmp(x, y) == 0)
        return 3;
    for (size_t i = 0; i < TCALL_ARRAY_LEN(guess_synonyms); i++) {
        const char *line = guess_synonyms[i];
        if ((in_list(line, a) || in_list(line, x)) &&
            (in_list(line, b) || in_list(line, y)))
            return 2;
    }
    while (x[n] && x[n] == y[n])
        n++;
    shorter = strlen(x), longer = strlen(y);
    if (shorter > longer)
        longer = shorter, shorter = strlen(y);
    if (n == shorter ? n >= 4 : n >= 5 && 10 * n >= 6 * longer)
        return 1;
    return 0;
}

/* The next word of a text or of a name_with_parts or camelCase, lower case. */
static bool next_part(const char **p, char *out, size_t cap)
{
    const char *s = *p;
    size_t n = 0;

    while (*s && !isalnum((unsigned char)*s))
        s++;
    while (isalnum((unsigned char)*s) || (*s == '/' && n && n < 3)) {
        bool hump =
            n && isupper((unsigned char)*s) && islower((unsigned char)s[-1]);
        if (hump)
            break;
        if (n + 1 < cap)
            out[n++] = (char)tolower((unsigned char)*s);
        s++;
    }
    out[n] = '\0';
    *p = s;
    return n > 0;
}

static int best_alike(const char *text, const char *word)
{
    char part[32];
    int best = 0;

    while (text && best < 3 && next_part(&text, part, sizeof part)) {
        int a = in_list(guess_stop, part) ? 0 : alike(part, word);
        if (a > best)
            best = a;
    }
    return best;
}

/* --------------------------------------------------------------------------
 * The request, in words
 */

static size_t number_length(const char *s, const char *end)
{
    const char *p = s;
    int dots = 0;

    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end || !isdigit((unsigned char)*p))
        return 0;
    for (; p < end; p++) {
        if (*p == '.' && !dots && p + 1 < end && isdigit((unsigned char)p[1]))
            dots++;
        else if (*p == ',' && end - p > 3 && isdigit((unsigned char)p[1]) &&
                 isdigit((unsigned char)p[2]) && isdigit((unsigned char)p[3]) &&
                 (end - p == 4 || !isdigit((unsigned char)p[4])))
            continue;
        else if (!isdigit((unsigned char)*p))
            break;
    }
    if (p + 1 < end && (*p == 'e' || *p == 'E')) { /* 1e3 */
        const char *e = p + 1 + (p[1] == '-' || p[1] == '+');
        const char *digits = e;
        while (e < end && isdigit((unsigned char)*e))
            e++;
        if (e > digits && e == end)
            p = e;
    }
    /* 10:30, 192.168.0.1 and 2026-01-31 are words. */
    if (p + 1 < end && strchr(":.-/", *p) && isdigit((unsigned char)p[1]))
        return 0;
    return (size_t)(p - s);
}

static void number_text(char *out, size_t cap, const char *s, size_t len)
{
    size_t n = 0;

    if (*s == '+')
        s++, len--;
    for (size_t i = 0; i < len && n + 1 < cap; i++) {
        bool leading = s[i] == '0' && (n == 0 || (n == 1 && out[0] == '-')) &&
                       i + 1 < len && isdigit((unsigned char)s[i + 1]);
        if (s[i] != ',' && !leading)
            out[n++] = s[i];
    }
    out[n] = '\0';
}

static void spelled_number(guess_word *w)
{
    static const char *const names[] = {
        "zero",    "one",    "two",    "three",  "four",  "five",
        "six",     "seven",  "eight",  "nine",   "ten",   "eleven",
        "twelve",  "twenty", "thirty", "forty",  "fifty", "sixty",
        "seventy", "eighty", "ninety", "hundred"};
    static const int values[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                 11, 12, 20, 30, 40, 50, 60, 70, 80, 90, 100};

    for (size_t i = 0; i < TCALL_ARRAY_LEN(names); i++)
        if (strcmp(w->text, names[i]) == 0 && i != 1) {
            snprintf(w->text, sizeof w->text, "%d", values[i]);
            w->number = true;
        }
}

static guess_word *add_word(guess *g, const char *at, size_t len, bool breaks)
{
    guess_word *w = &g->words[g->word_count];
    size_t n = 0;

    if (g->word_count == GUESS_WORDS)
        return w; /* the spare one */
    memset(w, 0, sizeof *w);
    w->at = at;
    w->len = len;
    w->breaks = breaks;
    w->capital = len && isupper((unsigned char)*at);
    for (size_t i = 0; i < len && n + 1 < sizeof w->text; i++)
        if (at[i] != '\'')
            w->text[n++] = (char)tolower((unsigned char)at[i]);
    w->text[n] = '\0';
    if (n > 1 && len > 2 && at[len - 2] == '\'' && w->text[n - 1] == 's')
        w->text[n - 1] = '\0'; /* what's, London's */
    w->stop = in_list(guess_stop, w->text);
    g->word_count++;
    return w;
}

static void add_number(guess *g, const char *at, size_t len, bool breaks)
{
    guess_word *w = add_word(g, at, len, breaks);

    number_text(w->text, sizeof w->text, at, len);
    w->number = true;
    w->stop = false;
}

/* A token without blanks: 17, 5km, GPIO17, UTC-3, 20%, or just a word. */
static void add_token(guess *g, const char *s, size_t len, bool breaks)
{
    const char *end = s + len;
    size_t n = number_length(s, end), k = 0;

    if (n) {
        add_number(g, s, n, breaks);
        for (s += n; s < end && (unsigned char)*s >= 0x80; s++)
            ; /* the degree sign */
        if (s < end)
            add_word(g, s, (size_t)(end - s), false);
        return;
    }
    while (s + k < end && isalpha((unsigned char)s[k]))
        k++;
    n = k < len ? number_length(s + k, end) : 0;
    if (k && n && s + k + n == end) {
        bool zone = k == 3 && strchr("uUgG", *s) && s[k] == '-';
        add_word(g, s, k, breaks);
        if (s[k] == '-' && !zone)
            k++, n--;
        if (n)
            add_number(g, s + k, n, false);
        return;
    }
    spelled_number(add_word(g, s, len, breaks));
}

/* Length of a quoted piece that begins here, quotes included, else 0. */
static size_t quoted_length(const char *s, const char *end, const char *begin)
{
    static const char *const quotes[][2] = {
        {"\"", "\""}, {"`", "`"}, {"\xe2\x80\x9c", "\xe2\x80\x9d"}, {"'", "'"}};

    for (size_t i = 0; i < TCALL_ARRAY_LEN(quotes); i++) {
        size_t a = strlen(quotes[i][0]), b = strlen(quotes[i][1]);
        if ((size_t)(end - s) <= a || memcmp(s, quotes[i][0], a) != 0 ||
            (s > begin && isalnum((unsigned char)s[-1])))
            continue;
        for (const char *p = s + a; p + b <= end; p++)
            if (memcmp(p, quotes[i][1], b) == 0 &&
                (p + b == end || !isalnum((unsigned char)p[b])))
                return (size_t)(p + b - s);
    }
    return 0;
}

static bool is_joint(const char *s, size_t len)
{
    static const char *const joints[] = {"and", "then", "also", "&"};

    for (size_t i = 0; i < TCALL_ARRAY_LEN(joints); i++)
        if (strlen(joints[i]) == len && memcmp(s, joints[i], len) == 0)
            return true;
    return false;
}

static void split_words(guess *g, tcall_str text)
{
    const char *s = text.ptr, *end = s + text.len;
    bool breaks = true;

    g->word_count = 0;
    while (s < end) {
        size_t n = quoted_length(s, end, text.ptr);
        if (n) {
            size_t q = (unsigned char)*s >= 0x80 ? 3 : 1;
            add_word(g, s + q, n - 2 * q, breaks)->quoted = true;
        } else if (isspace((unsigned char)*s) || strchr("()[]{}\"", *s)) {
            s++;
            continue;
        } else if (strchr(",;!?", *s)) {
            breaks = true;
            s++;
            continue;
        } else {
            while (s + n < end && !isspace((unsigned char)s[n]) &&
                   !strchr("()[]{}\";!?", s[n]) &&
                   !(s[n] == ',' && !isdigit((unsigned char)s[n + 1])))
                n++;
            size_t whole = n;
            while (n && strchr(".:", s[n - 1]))
                n--;
            if (is_joint(s, n))
                breaks = true;
            else if (n)
                add_token(g, s, n, breaks);
            if (n && !is_joint(s, n))
                breaks = n < whole && s[n] == '.';
            s += whole;
            continue;
        }
        breaks = false;
        s += n;
    }
}

/* --------------------------------------------------------------------------
 * Schemas
 */

/* Follows a local $ref, and the first alternative that is not null. */
static tcall_json resolve(tcall_json schema, tcall_json root)
{
    for (int hops = 0; hops < 8; hops++) {
        const char *ref =
            tcall_json_string(tcall_json_get(schema, "$ref"), NULL);
        tcall_json any = tcall_json_get(schema, "anyOf");
        if (!any.tok)
            any = tcall_json_get(schema, "oneOf");
        if (ref && strncmp(ref, "#/", 2) == 0) {
            char part[64];
            tcall_json at = root;
            for (ref += 2; *ref; ref += strspn(ref, "/")) {
                size_t n = strcspn(ref, "/");
                snprintf(part, sizeof part, "%.*s", (int)n, ref);
                at = tcall_json_get(at, part);
                ref += n;
            }
            schema = at;
        } else if (any.tok) {
            tcall_json v = tcall_json_first(any);
            while (v.tok &&
                   strcmp(tcall_json_string(tcall_json_get(v, "type"), ""),
                          "null") == 0)
                v = tcall_json_next(v);
            schema = v;
        } else {
            break;
        }
    }
    return schema;
}

/* "string", "number", ...; of several types the first that is not null. */
static const char *type_of(tcall_json schema)
{
    tcall_json type = tcall_json_get(schema, "type");
    const char *name = tcall_json_string(type, NULL);

    for (tcall_json v = tcall_json_first(type); !name && v.tok;
         v = tcall_json_next(v))
        if (strcmp(tcall_json_string(v, "null"), "null") != 0)
            name = tcall_json_string(v, NULL);
    if (name)
        return name;
    return tcall_json_get(schema, "properties").tok ? "object" : "string";
}

static bool may_be_null(tcall_json schema)
{
    tcall_json type = tcall_json_get(schema, "type");
    tcall_json any = tcall_json_get(schema, "anyOf");

    for (tcall_json v = tcall_json_first(type); v.tok; v = tcall_json_next(v))
        if (strcmp(tcall_json_string(v, ""), "null") == 0)
            return true;
    for (tcall_json v = tcall_json_first(any); v.tok; v = tcall_json_next(v))
        if (strcmp(tcall_json_string(tcall_json_get(v, "type"), ""), "null") ==
            0)
            return true;
    return false;
}

static bool is_required(tcall_json schema, tcall_str name)
{
    tcall_json required = tcall_json_get(schema, "required");

    for (tcall_json v = tcall_json_first(required); v.tok;
         v = tcall_json_next(v))
        if (tcall_str_eq(tcall_json_str(v), name))
            return true;
    return false;
}

static const char *description_of(tcall_json schema)
{
    return tcall_json_string(tcall_json_get(schema, "description"), "");
}

/* --------------------------------------------------------------------------
 * Arguments: one parameter looks for its words
 */

/* What a parameter knows while it looks. */
typedef struct guess_slot {
    guess *g;
    tcall_json root, object, schema; /* object: holds the properties */
    const char *name;
    bool required;
    int from, to; /* words it may take */
} guess_slot;

static guess_word *word_at(const guess_slot *s, int i)
{
    return i >= s->from && i < s->to ? &s->g->words[i] : NULL;
}

static bool names_other(const guess_slot *s, const char *word)
{
    tcall_json all = tcall_json_get(s->object, "properties");

    for (tcall_json v = tcall_json_first(all); v.tok; v = tcall_json_next(v))
        if (strcmp(tcall_json_key(v).ptr, s->name) != 0 &&
            best_alike(tcall_json_key(v).ptr, word) == 3)
            return true;
    return false;
}

static const char guess_targets[] = "to into target dest destination output";

/* Is there another parameter for what stands behind "to" and "in"? */
static bool has_target(const guess_slot *s)
{
    tcall_json all = tcall_json_get(s->object, "properties");

    for (tcall_json v = tcall_json_first(all); v.tok; v = tcall_json_next(v))
        if (in_list(guess_targets, tcall_json_key(v).ptr))
            return true;
    return false;
}

/* Do the neighbours of a word speak for this parameter, or for another? */
static int hint(const guess_slot *s, int i)
{
    const guess_word *before = word_at(s, i - 1);
    const guess_word *earlier = word_at(s, i - 2);
    const guess_word *after = word_at(s, i + 1);
    const char *about = description_of(s->schema);
    bool to = in_list(guess_targets, s->name);
    int points = 0;

    if (before && before->number && !to && !word_at(s, i)->number)
        points += 5;
    if (before && in_list("to into in as many much", before->text)) {
        bool word = !word_at(s, i)->number;
        points += to ? 6 : word && has_target(s) ? -30 : -4;
    }
    if (before && strcmp(before->text, "from") == 0)
        points += to ? -6 : 0;
    if (before && !before->number) {
        bool mine = strcmp(before->text, s->name) == 0 ||
                    (!before->stop && best_alike(s->name, before->text) > 1);
        if (mine)
            points += 8;
        else if (names_other(s, before->text))
            points -= 8;
        else if (!before->stop && best_alike(about, before->text) > 1)
            points += 3;
    }
    if (earlier && !earlier->stop && best_alike(s->name, earlier->text) > 1)
        points += 4;
    if (after && !after->stop && !after->number) {
        if (best_alike(s->name, after->text) > 1)
            points += 5;
        else if (names_other(s, after->text))
            points -= 5;
        else if (best_alike(about, after->text) > 1)
            points += 3;
    }
    return points;
}

static int take(guess_word *w, tcall_writer *out, int sure)
{
    w->used = true;
    tcall_write_verbatim(out, tcall_str_of(w->text));
    return sure;
}

/* "one mile", "half a pound": where a unit follows. */
static bool counts_one(const guess_slot *s, int i)
{
    tcall_json all = tcall_json_get(s->object, "properties");
    const guess_word *unit = word_at(s, i + 1);

    if (!unit || !in_list("one a an", word_at(s, i)->text))
        return false;
    for (tcall_json v = tcall_json_first(all); v.tok; v = tcall_json_next(v)) {
        tcall_json values = tcall_json_get(resolve(v, s->root), "enum");
        for (tcall_json e = tcall_json_first(values); e.tok;
             e = tcall_json_next(e))
            if (alike(tcall_json_string(e, ""), unit->text) > 1)
                return true;
    }
    return false;
}

static int fill_number(const guess_slot *s, tcall_writer *out)
{
    bool whole = strcmp(type_of(s->schema), "integer") == 0;
    tcall_json least = tcall_json_get(s->schema, "minimum");
    tcall_json most = tcall_json_get(s->schema, "maximum");
    guess_word *best = NULL;
    int best_points = 0;

    for (int i = s->from; i < s->to; i++) {
        guess_word *w = word_at(s, i);
        int points = 20 + hint(s, i), pull = points - 20;
        double value = strtod(w->text, NULL);
        if (!w->number || w->used || (whole && strchr(w->text, '.')))
            continue;
        if (value < tcall_json_double(least, value) ||
            value > tcall_json_double(most, value))
            points -= 6;
        if ((s->required || pull > 0) && points > best_points)
            best = w, best_points = points;
    }
    for (int i = s->from; i < s->to && s->required && !best; i++)
        if (counts_one(s, i)) {
            const guess_word *before = word_at(s, i - 1);
            bool half = before && strcmp(before->text, "half") == 0;
            word_at(s, i)->used = true;
            tcall_write_fixed(out, half ? 5 : 10, 1);
            return SURE;
        }
    return best ? take(best, out, SURE) : NONE;
}

/* How well words from i on name an enum value, and how many they are. */
static int names_value(const guess_slot *s, int i, const char *value, int *used)
{
    const guess_word *w = word_at(s, i), *before = word_at(s, i - 1);
    char part[32];
    const char *p = value;
    int n = 0, a;

    *used = 1;
    if (w->quoted || strcmp(w->text, value) == 0)
        return strcmp(w->text, value) == 0 ? 12 : 0;
    if (w->stop && !(before && before->number) && !in_list(guess_on, w->text) &&
        !in_list(guess_off, w->text))
        return 0;
    while (next_part(&p, part, sizeof part)) {
        const guess_word *next = word_at(s, i + n);
        if (!next || alike(part, next->text) < 2)
            break;
        n++;
    }
    if (n > 1 && !next_part(&p, part, sizeof part)) {
        *used = n;
        return 10 + n;
    }
    if ((in_list(guess_on, value) && in_list(guess_on, w->text)) ||
        (in_list(guess_off, value) && in_list(guess_off, w->text)))
        return 6;
    snprintf(part, sizeof part, "%.31s", value);
    for (char *c = part; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    a = alike(part, w->text);
    if (a)
        return a == 3 ? 10 : a == 2 ? 8 : 3;
    return !w->stop && best_alike(value, w->text) == 3 ? 4 : 0;
}

static int fill_enum(const guess_slot *s, tcall_json values, tcall_writer *out)
{
    tcall_json best = {NULL, NULL};
    int best_points = 0, best_at = 0, best_used = 0;

    for (int i = s->from; i < s->to; i++) {
        if (word_at(s, i)->used)
            continue;
        for (tcall_json v = tcall_json_first(values); v.tok;
             v = tcall_json_next(v)) {
            char text[48];
            int used = 1, points;
            snprintf(text, sizeof text, "%.*s", (int)tcall_json_str(v).len,
                     tcall_json_str(v).ptr);
            points = names_value(s, i, text, &used);
            if (points > 0)
                points = 2 * points + hint(s, i);
            if (points > best_points)
                best = v, best_points = points, best_at = i, best_used = used;
        }
    }
    if (!best.tok)
        return NONE;
    for (int i = 0; i < best_used; i++)
        s->g->words[best_at + i].used = true;
    tcall_write_json(out, best);
    return SURE;
}

static int fill_bool(const guess_slot *s, tcall_writer *out)
{
    bool negated = false;

    for (int i = s->from; i < s->to; i++) {
        guess_word *w = word_at(s, i);
        bool on = in_list(guess_on, w->text), off = in_list(guess_off, w->text);
        if (w->used)
            continue;
        if (on || off) {
            w->used = true;
            tcall_write_bool(out, on);
            return SURE;
        }
    }
    for (int i = s->from; i < s->to; i++) {
        guess_word *w = word_at(s, i);
        negated = negated || in_list(guess_not, w->text);
        if (!w->used && !w->stop && best_alike(s->name, w->text) > 1) {
            w->used = true;
            tcall_write_bool(out, !negated);
            return SURE;
        }
    }
    return NONE;
}

/* Text as it stands in the request, from word a up to word b. */
static int take_text(const guess_slot *s, int a, int b, tcall_writer *out,
                     int sure)
{
    const guess_word *w = s->g->words;
    const char *end = w[b - 1].at + w[b - 1].len;
    tcall_str text = {w[a].at, (size_t)(end - w[a].at)};

    if (a > 0 && !w[a].quoted && text.ptr > w[a - 1].at + w[a - 1].len &&
        text.ptr[-1] == '(')
        text.ptr--, text.len++;
    for (int i = a; i < b; i++)
        s->g->words[i].used = true;
    tcall_write_str(out, text);
    return sure;
}

/* Trims words that mean little at both ends; false when nothing is left. */
static bool trim(const guess_slot *s, int *a, int *b)
{
    while (*a < *b && word_at(s, *a)->stop)
        ++*a;
    while (*a < *b && (word_at(s, *b - 1)->stop ||
                       in_list("today", word_at(s, *b - 1)->text)))
        --*b;
    return *a < *b;
}

/* Does a word look like what the parameter is called? */
static bool looks_right(const guess_slot *s, const guess_word *w)
{
    char raw[80];
    const char *format =
        tcall_json_string(tcall_json_get(s->schema, "format"), "");

    snprintf(raw, sizeof raw, "%.*s", (int)w->len, w->at);
    if (best_alike(s->name, "email") == 3 || strcmp(format, "email") == 0)
        return strchr(raw, '@') != NULL;
    if (best_alike(s->name, "url") == 3 || strncmp(format, "uri", 3) == 0)
        return strstr(raw, "://") || strncmp(raw, "www.", 4) == 0;
    if (best_alike(s->name, "path") == 3 || best_alike(s->name, "file") == 3 ||
        best_alike(s->name, "filename") == 3 ||
        best_alike(s->name, "directory") == 3)
        return strchr(raw, '/') || (strchr(raw, '.') && !w->number);
    if (best_alike(s->name, "date") == 3 || strcmp(format, "date") == 0)
        return (isdigit((unsigned char)*raw) && strpbrk(raw, "-/")) ||
               in_list("today tomorrow yesterday monday tuesday wednesday "
                       "thursday friday saturday sunday",
                       w->text);
    if (best_alike(s->name, "time") == 3 || strcmp(format, "time") == 0)
        return isdigit((unsigned char)*raw) && strchr(raw, ':');
    return false;
}

static bool ends_phrase(const guess_word *w)
{
    return w->used || w->number || w->matched || w->quoted ||
           (w->stop && !in_list("the of a", w->text));
}

static int fill_name(const guess_slot *s, tcall_writer *out)
{
    for (int i = s->from; i < s->to; i++) {
        const guess_word *w = word_at(s, i), *before = word_at(s, i - 1);
        int b = i + 1;
        bool named = before && (best_alike(s->name, before->text) == 3 ||
                                strcmp(s->name, before->text) == 0);
        if (w->used || !named || (w->stop && !w->capital))
            continue;
        while (b < s->to && !w->number && !ends_phrase(word_at(s, b)) &&
               !word_at(s, b)->breaks)
            b++;
        return take_text(s, i, b, out, SURE);
    }
    for (int i = s->from; i < s->to; i++) { /* Names are written large. */
        const guess_word *w = word_at(s, i);
        int b = i;
        if (w->breaks && (w->stop || w->matched))
            continue;
        while (b < s->to && word_at(s, b)->capital && !word_at(s, b)->used &&
               !word_at(s, b)->number && !word_at(s, b)->matched &&
               !(word_at(s, b)->stop && b == i) &&
               !(b > i && word_at(s, b)->breaks))
            b++;
        if (b > i)
            return take_text(s, i, b, out, SURE);
    }
    for (int i = s->from; i < s->to; i++) {
        int a = i + 1, b;
        if (!in_list(guess_places, word_at(s, i)->text))
            continue;
        while (a < s->to && in_list("the a an my", word_at(s, a)->text))
            a++;
        b = a;
        while (b < s->to && !ends_phrase(word_at(s, b)) &&
               !(b > a && word_at(s, b)->breaks))
            b++;
        if (trim(s, &a, &b))
            return take_text(s, a, b, out, SURE);
    }
    return NONE;
}

/* The longest run of words that do not speak of the tool. */
static int fill_rest(const guess_slot *s, tcall_writer *out)
{
    int best_a = 0, best_b = 0;

    for (int i = s->from, b; i < s->to; i = b + 1) {
        int a = i, c;
        for (b = i;
             b < s->to && !word_at(s, b)->matched && !word_at(s, b)->used; b++)
            ;
        c = b;
        if (a < c && trim(s, &a, &c) && c - a > best_b - best_a)
            best_a = a, best_b = c;
    }
    if (best_b == best_a)
        return NONE;
    return take_text(s, best_a, best_b, out, WEAK);
}

static int fill_free_text(const guess_slot *s, tcall_writer *out)
{
    int start = s->from;

    for (int i = s->from; i < s->to; i++)
        if (word_at(s, i)->matched)
            start = i + 1;
    for (int i = s->from + 1; i < s->to; i++) {
        int a = i + 1, b = s->to;
        if (in_list(guess_markers, word_at(s, i)->text) && i >= start &&
            trim(s, &a, &b))
            return take_text(s, a, b, out, WEAK);
    }
    return fill_rest(s, out);
}

static int fill_string(const guess_slot *s, tcall_writer *out)
{
    bool free_text = false;
    char part[32];
    const char *p = s->name;
    int sure = NONE;

    while (next_part(&p, part, sizeof part))
        free_text = free_text || in_list(guess_free_text, part);
    for (int i = s->from; i < s->to; i++)
        if (!word_at(s, i)->used && looks_right(s, word_at(s, i)))
            return take_text(s, i, i + 1, out, SURE);
    for (int i = s->from; i < s->to; i++)
        if (!word_at(s, i)->used && word_at(s, i)->quoted)
            return take_text(s, i, i + 1, out, SURE);
    if (!free_text)
        sure = fill_name(s, out);
    if (sure == NONE && s->required)
        sure = fill_free_text(s, out);
    for (int i = s->from; sure == NONE && s->required && i < s->to; i++)
        if (word_at(s, i)->number && !word_at(s, i)->used)
            return take_text(s, i, i + 1, out, WEAK);
    return sure;
}

static int fill_object(const guess_slot *s, tcall_writer *out);

static int fill_value(const guess_slot *slot, tcall_writer *out)
{
    guess_slot s = *slot;
    tcall_json values, fixed;
    const char *type;

    s.schema = resolve(s.schema, s.root);
    values = tcall_json_get(s.schema, "enum");
    fixed = tcall_json_get(s.schema, "const");
    type = type_of(s.schema);
    if (fixed.tok)
        return s.required ? (tcall_write_json(out, fixed), SURE) : NONE;
    if (values.tok)
        return fill_enum(&s, values, out);
    if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
        return fill_number(&s, out);
    if (strcmp(type, "boolean") == 0)
        return fill_bool(&s, out);
    if (strcmp(type, "object") == 0)
        return fill_object(&s, out);
    if (strcmp(type, "array") == 0) {
        int sure = NONE, more;
        tcall_write_open(out, '[');
        s.schema = tcall_json_get(s.schema, "items");
        s.required = true;
        do {
            tcall_writer before = *out;
            more = fill_value(&s, out);
            if (more == NONE && sure != NONE)
                *out = before; /* no empty item behind the others */
            sure = more > sure ? more : sure;
        } while (more == SURE && out->len < GUESS_TEXT / 2);
        tcall_write_close(out, ']');
        return sure;
    }
    return fill_string(&s, out);
}

static int fill_object(const guess_slot *slot, tcall_writer *out)
{
    tcall_json all = tcall_json_get(slot->schema, "properties");
    int sure = NONE;

    tcall_write_open(out, '{');
    for (tcall_json v = tcall_json_first(all); v.tok; v = tcall_json_next(v)) {
        char text[GUESS_TEXT];
        tcall_writer w;
        guess_slot s = *slot;
        int one;
        tcall_writer_init(&w, text, sizeof text);
        s.object = slot->schema;
        s.schema = v;
        s.name = tcall_json_key(v).ptr;
        s.required = is_required(slot->schema, tcall_json_key(v));
        one = fill_value(&s, &w);
        if (one == NONE || w.error)
            continue;
        sure = one > sure ? one : sure;
        tcall_write_key(out, s.name);
        tcall_write_verbatim(out, (tcall_str){text, w.len});
    }
    tcall_write_close(out, '}');
    return sure;
}

/* --------------------------------------------------------------------------
 * Calls
 */

static void mark_words(guess *g, const guess_tool *tool, int from, int to)
{
    for (int i = from; i < to; i++) {
        guess_word *w = &g->words[i];
        w->used = false;
        w->matched =
            !w->stop && !w->number && !w->quoted &&
            (best_alike(tool->name, w->text) > 0 ||
             (!w->capital && best_alike(tool->description, w->text) > 1));
    }
}

/* Words that are easy to know come first, texts last: required, optional. */
static int round_of(tcall_json schema, bool required)
{
    bool text = strcmp(type_of(schema), "string") == 0 &&
                !tcall_json_get(schema, "enum").tok;

    return !text ? 0 : required ? 1 : 2;
}

static void fill_call(guess *g, guess_call *call)
{
    const guess_tool *tool = &g->tools[call->tool];
    tcall_json all = tcall_json_get(tool->parameters, "properties");

    mark_words(g, tool, call->from, call->to);
    call->count = tcall_json_count(all);
    if (call->count > GUESS_VALUES)
        call->count = GUESS_VALUES;
    for (int round = 0; round < 3; round++) {
        tcall_json v = tcall_json_first(all);
        for (int i = 0; i < call->count; i++, v = tcall_json_next(v)) {
            guess_value *value = &call->values[i];
            guess_slot s = {g,
                            tool->parameters,
                            tool->parameters,
                            v,
                            tcall_json_key(v).ptr,
                            false,
                            call->from,
                            call->to};
            tcall_writer w;
            s.required = is_required(tool->parameters, tcall_json_key(v)) &&
                         !may_be_null(v);
            if (round_of(resolve(v, tool->parameters), s.required) != round)
                continue;
            memset(value, 0, sizeof *value);
            tcall_writer_init(&w, value->json, sizeof value->json - 1);
            value->sure = fill_value(&s, &w);
            if (w.error)
                value->sure = NONE;
            value->json[value->sure == NONE ? 0 : w.len] = '\0';
        }
    }
}

static tcall_json property(const guess *g, const guess_call *call, int i)
{
    tcall_json v = tcall_json_first(
        tcall_json_get(g->tools[call->tool].parameters, "properties"));

    while (i-- > 0 && v.tok)
        v = tcall_json_next(v);
    return v;
}

static bool needs(const guess *g, const guess_call *call, int i)
{
    tcall_json v = property(g, call, i);

    return is_required(g->tools[call->tool].parameters, tcall_json_key(v)) &&
           !may_be_null(v) && !tcall_json_get(v, "default").tok;
}

/* The first required value that is missing, else -1. */
static int lacks(const guess *g, const guess_call *call)
{
    for (int i = 0; i < call->count; i++)
        if (needs(g, call, i) && call->values[i].sure == NONE)
            return i;
    return -1;
}

/* Values that call lacks and other, by the same name, has. */
static void inherit(const guess *g, guess_call *call, const guess_call *other)
{
    for (int i = 0; i < call->count; i++)
        for (int k = 0; k < other->count; k++)
            if (call->values[i].sure == NONE && other->values[k].sure != NONE &&
                (call->tool == other->tool || needs(g, call, i)) &&
                tcall_str_eq(tcall_json_key(property(g, call, i)),
                             tcall_json_key(property(g, other, k))))
                call->values[i] = other->values[k];
}

/* Both give a value, and surely, for the same parameter. */
static bool compete(const guess *g, const guess_call *a, const guess_call *b)
{
    for (int i = 0; i < a->count && i < b->count; i++)
        if (a->values[i].sure == SURE && b->values[i].sure == SURE)
            return strcmp(type_of(resolve(property(g, a, i),
                                          g->tools[a->tool].parameters)),
                          "array") != 0;
    return false;
}

static bool same_call(const guess_call *a, const guess_call *b)
{
    if (a->tool != b->tool)
        return false;
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->values[i].json, b->values[i].json) != 0)
            return false;
    return true;
}

/* What one word has in common with a tool. */
static int word_points(const guess_tool *tool, const guess_word *w)
{
    tcall_json all = tcall_json_get(tool->parameters, "properties");
    int points = 0, p;

    if (w->quoted || w->number)
        return 0;
    for (tcall_json v = tcall_json_first(all); v.tok; v = tcall_json_next(v)) {
        guess_slot s = {0};
        s.schema = resolve(v, tool->parameters);
        s.name = tcall_json_key(v).ptr;
        if (strcmp(type_of(s.schema), "string") == 0 && looks_right(&s, w))
            return 8;
    }
    if (!w->stop) {
        bool plain = in_list(guess_plain, w->text);
        points = (plain ? 1 : 6) * best_alike(tool->name, w->text);
        p = (plain ? 1 : 2) * best_alike(tool->description, w->text);
        points = p > points ? p : points;
    }
    for (tcall_json v = tcall_json_first(all); v.tok; v = tcall_json_next(v)) {
        tcall_json schema = resolve(v, tool->parameters);
        tcall_json values = tcall_json_get(schema, "enum");
        bool flag = strcmp(type_of(schema), "boolean") == 0;
        if (flag && (in_list(guess_on, w->text) || in_list(guess_off, w->text)))
            points = points > 6 ? points : 6;
        if (w->stop)
            continue;
        p = 4 * best_alike(tcall_json_key(v).ptr, w->text);
        points = p > points ? p : points;
        p = best_alike(description_of(schema), w->text);
        points = p > points ? p : points;
        for (tcall_json e = tcall_json_first(values); e.tok;
             e = tcall_json_next(e)) {
            const char *value = tcall_json_string(e, "");
            p = 4 * best_alike(value, w->text);
            points = p > points ? p : points;
            p = 4 * alike(value, w->text);
            points = p > points ? p : points;
        }
    }
    return points;
}

static bool has_part(const char *name, const char *list)
{
    char part[32];

    while (next_part(&name, part, sizeof part))
        if (in_list(list, part))
            return true;
    return false;
}

/* Is it a question ("is pin 4 on?") or an order ("turn pin 4 on")? */
static int mood_points(const guess *g, const guess_tool *tool, int from, int to)
{
    bool asks = false, orders = false;
    bool reads = has_part(tool->name, guess_reading);
    bool acts = has_part(tool->name, guess_acting);

    for (int i = from; i < to; i++) {
        const char *w = g->words[i].text;
        if (in_list("please can could would will you now hey ok i we want need "
                    "to like d",
                    w))
            continue;
        asks = in_list(guess_asking, w);
        break;
    }
    for (int i = from; i < to; i++)
        asks = asks || strcmp(g->words[i].text, "whether") == 0;
    for (int i = from; i < to && !asks; i++)
        orders = orders || in_list(guess_acting, g->words[i].text);
    return ((asks && reads) || (orders && acts)) - ((asks && acts) && !reads) -
           (orders && reads && !acts);
}

/* What filling in the arguments says about a tool: values that are sure speak
 * for it, numbers that find no place speak against it. */
static int fill_points(guess *g, int tool, int from, int to,
                       const guess_call *prev)
{
    static guess_call trial;
    int points = 0;

    memset(&trial, 0, sizeof trial);
    trial.tool = tool;
    trial.from = from;
    trial.to = to;
    fill_call(g, &trial);
    for (int i = 0; i < trial.count; i++)
        points += trial.values[i].sure == SURE   ? 8
                  : trial.values[i].sure == WEAK ? -4
                                                 : 0;
    for (int i = from; i < to; i++)
        points -= g->words[i].number && !g->words[i].used ? 80 : 0;
    if (prev && lacks(g, &trial) >= 0) {
        inherit(g, &trial, prev);
        points += lacks(g, &trial) < 0 ? 16 : 0;
    }
    points -= lacks(g, &trial) >= 0 ? 6 : 0;
    if (prev && tool == prev->tool && lacks(g, prev) >= 0) {
        trial.from = prev->from; /* Do these words complete the call before? */
        fill_call(g, &trial);
        points += lacks(g, &trial) < 0 ? 40 : 0;
    }
    return points;
}

/* The tool that the words are about, or -1. A word that speaks of many tools
 * says little. */
static int best_tool(guess *g, int from, int to, const guess_call *prev,
                     bool any)
{
    static int points[GUESS_TOOLS], each[GUESS_TOOLS];
    int best = -1;

    memset(points, 0, sizeof points);
    for (int i = from; i < to; i++) {
        bool again = false;
        for (int k = from; k < i; k++)
            again = again || strcmp(g->words[k].text, g->words[i].text) == 0;
        for (int t = 0; t < g->tool_count; t++)
            each[t] = again ? 0 : word_points(&g->tools[t], &g->words[i]);
        for (int t = 0; t < g->tool_count; t++) {
            int sharing = 0;
            for (int k = 0; k < g->tool_count; k++)
                sharing += each[k] >= each[t];
            points[t] += 2 * each[t] / (1 + sharing);
        }
    }
    for (int t = 0; t < g->tool_count; t++) {
        bool goes_on = prev && t == prev->tool && g->words[from].number;
        if (goes_on) /* "is pin 3 on and 4 off" */
            points[t] += 2 * GUESS_ENOUGH;
        if (points[t] < (prev ? GUESS_ENOUGH / 2 : GUESS_ENOUGH)) {
            points[t] = -1000 + points[t];
            continue;
        }
        points[t] *= 4;
        points[t] += 30 * mood_points(g, &g->tools[t], from, to);
        points[t] += fill_points(g, t, from, to, prev);
    }
    for (int t = 0; t < g->tool_count; t++)
        if ((any || points[t] > -500) && (best < 0 || points[t] > points[best]))
            best = t;
    return best;
}

static bool is_negated(const guess *g, int from, int to)
{
    for (int i = from; i < to && i < from + 3; i++)
        if (in_list("dont never not", g->words[i].text))
            return true;
    return false;
}

/* Adds what words from .. to ask for: a call of their own, or more words for
 * the call before. before_words is where words without a call begin. */
static void add_clause(guess *g, int from, int to, int *before_words)
{
    static guess_call c, longer, last;
    guess_call *prev = g->call_count ? &g->calls[g->call_count - 1] : NULL;
    int tool = best_tool(g, from, to, prev, false);

    if (is_negated(g, from, to)) {
        *before_words = to;
        return;
    }
    if (tool < 0 && !prev)
        return;
    memset(&c, 0, sizeof c);
    c.tool = tool < 0 ? prev->tool : tool;
    c.from = prev ? from : *before_words;
    c.to = to;
    fill_call(g, &c);
    if (prev && c.tool == prev->tool) {
        bool alone = tool >= 0 && !g->words[from].number && lacks(g, &c) < 0 &&
                     lacks(g, prev) < 0;
        last = *prev;
        if (compete(g, &c, prev) || alone) {
            inherit(g, &c, prev);
            inherit(g, &last, &c);
            alone = lacks(g, &c) < 0 && lacks(g, &last) < 0;
        }
        if (!alone) {
            longer = *prev;
            longer.to = to;
            fill_call(g, &longer);
            inherit(g, &longer, prev);
            *prev = longer;
            return;
        }
        *prev = last;
    } else if (prev) {
        inherit(g, &c, prev);
    }
    for (int i = 0; i < g->call_count; i++)
        if (same_call(&g->calls[i], &c))
            return;
    if (g->call_count < GUESS_CALLS)
        g->calls[g->call_count++] = c;
}

/* A call that still lacks something is not made; the user is asked. */
static void drop_lacking(guess *g)
{
    int n = 0;

    for (int i = 0; i < g->call_count; i++) {
        int k = lacks(g, &g->calls[i]);
        if (k < 0) {
            g->calls[n++] = g->calls[i];
            continue;
        }
        g->lonely = g->calls[i].tool;
        g->missing = tcall_json_key(property(g, &g->calls[i], k)).ptr;
    }
    g->call_count = n;
}

/* The calls that a request asks for, in g->calls. With must, at least one
 * (if there are tools at all), even if its arguments are incomplete. */
static void guess_plan(guess *g, tcall_str request, bool must)
{
    int before_words = 0;

    g->call_count = 0;
    g->lonely = -1;
    split_words(g, request);
    for (int from = 0, to; from < g->word_count; from = to) {
        for (to = from + 1; to < g->word_count && !g->words[to].breaks; to++)
            ;
        add_clause(g, from, to, &before_words);
    }
    if (!g->call_count && must && g->tool_count) {
        guess_call *c = &g->calls[g->call_count++];
        memset(c, 0, sizeof *c);
        c->tool = best_tool(g, 0, g->word_count, NULL, true);
        c->to = g->word_count;
        fill_call(g, c);
    } else if (!must) {
        drop_lacking(g);
    }
}

/* The arguments of a call, as the members of an object. */
static void guess_write_arguments(const guess *g, const guess_call *call,
                                  tcall_writer *w)
{
    tcall_json object = g->tools[call->tool].parameters;

    tcall_write_open(w, '{');
    for (int i = 0; i < call->count; i++) {
        tcall_json v = property(g, call, i);
        const char *key = tcall_json_key(v).ptr;
        if (call->values[i].sure != NONE) {
            tcall_write_key(w, key);
            tcall_write_verbatim(w, tcall_str_of(call->values[i].json));
        } else if (is_required(object, tcall_json_key(v)) && may_be_null(v)) {
            tcall_write_key(w, key);
            tcall_write_null(w);
        } else if (is_required(object, tcall_json_key(v)) &&
                   tcall_json_get(v, "default").tok) {
            tcall_write_key(w, key);
            tcall_write_json(w, tcall_json_get(v, "default"));
        }
    }
    tcall_write_close(w, '}');
}

#endif /* STANDIN_GUESS_H */
