#pragma once
#include "lenient.h"
#include "machine.c"
#include "syntax.c"

/* ==========================================================================
 * >>lenient
 *
 * A machine is fed the text as it is. Where it refuses a byte, its state and
 * that byte choose a rule from a table, which feeds what was meant instead;
 * then the text goes on. So each byte is fed once, only the machine knows
 * JSON's grammar, and what it takes is strict JSON.
 */

static const char tcall_fix_names_[][19] = {
#define TCALL_X_(name, text) text,
    TCALL_FIXES(TCALL_X_)
#undef TCALL_X_
};

const char *tcall_fix_name(int i)
{
    return i >= 0 && i < TCALL_FIX_COUNT ? tcall_fix_names_[i] : NULL;
}

/* A text that is being read. */
typedef struct tcall_lenient_ {
    tcall_syntax_ string; /* of a string in which the object stands */
    tcall_machine *machine;
    tcall_syntax_ *state; /* of what is fed: string, or the machine's own */
    const char *start, *at, *end; /* the text, and how far it is read */
    const char *value, *over;     /* where the value begins; its end, or NULL */
    const char *slash;            /* the first of {\"a\":1}, or NULL */
    const char *quote;            /* that ends the string at hand, or NULL: " */
    const char *blank, *token;    /* ends of the last comment, of what was read
                                   * before the place at hand */
    const char *fixed;            /* the place of the first fix */
    uint32_t fixes;
    int refused; /* what a strict reading ends with there */
    int error;
    bool alone; /* nothing but the same value has followed the value */
} tcall_lenient_;

/* ---- feeding ---- */

/* The first error stays, and its place. */
static bool tcall_lenient_fail_(tcall_lenient_ *text, int error, const char *at)
{
    if (!text->error)
        text->at = at;
    text->error = text->error ? text->error : error;
    return true;
}

/* Feeds bytes. Returns how many were eaten: all; or those up to an error, or to
 * the end of the string that the object stands in. */
static size_t tcall_lenient_feed_(tcall_lenient_ *text, const char *bytes,
                                  size_t len)
{
    tcall_machine *machine = text->machine;
    size_t before = machine->at;
    if (text->state == &text->string)
        return tcall_syntax_feed_(text->state, bytes, len);
    tcall_machine_feed(machine, bytes, len);
    return machine->at - before;
}

/* Feeds other bytes than those of the text. */
static void tcall_lenient_put_(tcall_lenient_ *text, const char *bytes,
                               size_t len)
{
    tcall_lenient_feed_(text, bytes, len);
    if (text->state->error)
        tcall_lenient_fail_(text, text->state->error, text->at);
}

/* ---- looking ahead ---- */

static bool tcall_lenient_sees_(const tcall_lenient_ *text, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(text->end - text->at) >= len &&
           memcmp(text->at, word, len) == 0;
}

/* Skips a word, if it follows. */
static bool tcall_lenient_skip_(tcall_lenient_ *text, const char *word)
{
    bool seen = tcall_lenient_sees_(text, word);
    text->at += seen ? strlen(word) : 0;
    return seen;
}

/* Skips the first word of "one\0two\0" that follows. */
static bool tcall_lenient_skip_any_(tcall_lenient_ *text, const char *words)
{
    for (; *words; words += strlen(words) + 1)
        if (tcall_lenient_skip_(text, words))
            return true;
    return false;
}

/* Returns the byte at a place, 0 at the end. */
static char tcall_lenient_byte_(const tcall_lenient_ *text, const char *at)
{
    return at < text->end ? *at : (char)0;
}

/* Whether the byte is in one of the ranges, each two bytes. */
static bool tcall_lenient_in_(const char *ranges, char byte)
{
    unsigned char c = (unsigned char)byte;
    for (; *ranges; ranges += 2)
        if (c >= (unsigned char)ranges[0] && c <= (unsigned char)ranges[1])
            return true;
    return false;
}

#define TCALL_LENIENT_ALPHA_ "AZaz__"

/* Whether a word can begin or go on here. Beyond ASCII most characters are
 * letters; what is left out are signs and spaces, by their first bytes. */
static bool tcall_lenient_letter_(const tcall_lenient_ *text, const char *at)
{
    char c = tcall_lenient_byte_(text, at);
    char second = c ? tcall_lenient_byte_(text, at + 1) : c;
    return tcall_lenient_in_(TCALL_LENIENT_ALPHA_ "09\xC3\xE1\xE3\xEE", c) &&
           !(c == '\xE3' && second == '\x80') &&
           !(c == '\xE1' && second == '\xA0');
}

/* ---- rules ----
 *
 * Each begins at the byte that was refused and moves behind what it read.
 * Returns whether it goes here; if not, nothing has changed.
 */

typedef bool (*tcall_lenient_act_)(tcall_lenient_ *text);

/* A comment, up to its end, which the end of the text is for one that lasts a
 * line. */
static bool tcall_lenient_comment_(tcall_lenient_ *text)
{
    bool block = tcall_lenient_skip_(text, "/*");
    const char *end = block ? "*/" : "\n";
    if (!block && !tcall_lenient_skip_any_(text, "//\0#\0"))
        return false;
    while (text->at < text->end && !tcall_lenient_sees_(text, end))
        text->at++;
    if (!tcall_lenient_skip_(text, end) && block)
        tcall_lenient_fail_(text, TCALL_E_TRUNCATED, text->end);
    text->blank = text->at;
    return true;
}

/* A space beyond ASCII. */
static bool tcall_lenient_space_(tcall_lenient_ *text)
{
    static const char spaces[] =
        "\xEF\xBB\xBF\0" /* byte order mark */
        "\xC2\xA0\0"     /* no-break space */
        "\xE2\x80\x80\0\xE2\x80\x81\0\xE2\x80\x82\0\xE2\x80\x83\0"
        "\xE2\x80\x84\0\xE2\x80\x85\0\xE2\x80\x86\0\xE2\x80\x87\0"
        "\xE2\x80\x88\0\xE2\x80\x89\0\xE2\x80\x8A\0" /* quads to hair space */
        "\xE2\x80\xA8\0\xE2\x80\xA9\0" /* line and paragraph separator */
        "\xE2\x80\xAF\0"               /* narrow no-break space */
        "\xE2\x81\x9F\0"               /* mathematical space */
        "\xE3\x80\x80\0";              /* ideographic space */
    bool found = tcall_lenient_skip_any_(text, spaces);
    text->blank = found ? text->at : text->blank;
    return found;
}

/* A special token of a chat template, <|name|>, or as DeepSeek writes it, with
 * wide bars (U+FF5C) and blocks (U+2581) for spaces; or a tag around a call. */
static bool tcall_lenient_tag_(tcall_lenient_ *text)
{
    const char *from = text->at, *name;
    bool wide = tcall_lenient_skip_(text, "<\xEF\xBD\x9C");
    if (!wide && !tcall_lenient_skip_(text, "<|"))
        return tcall_lenient_skip_any_(text,
                                       "<tool_call>\0</tool_call>\0"
                                       "<function_call>\0</function_call>\0"
                                       "<s>\0</s>\0");
    name = text->at;
    while (tcall_lenient_in_(TCALL_LENIENT_ALPHA_,
                             tcall_lenient_byte_(text, text->at)) ||
           tcall_lenient_sees_(text, "\xE2\x96\x81"))
        text->at += *text->at == '\xE2' ? 3 : 1;
    if (text->at > name &&
        tcall_lenient_skip_(text, wide ? "\xEF\xBD\x9C>" : "|>"))
        return true;
    text->at = from;
    return false;
}

/* What closes a code fence. */
static bool tcall_lenient_fence_(tcall_lenient_ *text)
{
    return tcall_lenient_skip_(text, "```");
}

/* What opens one, and its language. Behind a blank it is one only where a value
 * follows it: a word alone is the value. */
static bool tcall_lenient_opens_(tcall_lenient_ *text)
{
    const char *from = text->at + 3, *to;
    if (text->fixes & TCALL_FIX_FENCE || !tcall_lenient_fence_(text))
        return false;
    while (tcall_lenient_byte_(text, text->at) == ' ')
        text->at++;
    while (tcall_lenient_letter_(text, text->at))
        text->at++;
    for (to = text->at; to < text->end && tcall_is_space_(*to); to++)
        ;
    if (tcall_lenient_byte_(text, from) == ' ' &&
        !tcall_lenient_in_("\"\"''{{\xE2\xE2", tcall_lenient_byte_(text, to)))
        text->at = from;
    return true;
}

/* Whether nothing follows but what may be around the value: where that is open,
 * it was cut. */
static bool tcall_lenient_is_cut_(tcall_lenient_ *text, const char *from)
{
    const char *at = text->at, *blank = text->blank;
    bool cut;
    for (text->at = from;
         (text->at < text->end && tcall_is_space_(*text->at) && text->at++) ||
         tcall_lenient_comment_(text) || tcall_lenient_space_(text) ||
         tcall_lenient_fence_(text) || tcall_lenient_tag_(text);)
        ;
    cut = text->at == text->end;
    text->at = at;
    text->blank = blank;
    return cut && tcall_lenient_fail_(text, TCALL_E_TRUNCATED, from);
}

/* A quote that is not JSON's begins a string; any does at the root, with the
 * object in it. */
static bool tcall_lenient_quote_(tcall_lenient_ *text)
{
    if (tcall_lenient_skip_(text, "'"))
        text->quote = "'";
    else if (tcall_lenient_skip_(text, "\xE2\x80\x9C"))
        text->quote = "\xE2\x80\x9D";
    else if (tcall_lenient_skip_(text, "\xE2\x80\x98"))
        text->quote = "\xE2\x80\x99";
    else if (!tcall_lenient_skip_(text, "\""))
        return false;
    if (!text->state->depth)
        text->state = &text->string;
    tcall_lenient_put_(text, "\"", 1);
    return true;
}

/* True, False, None; null in place of all arguments: there are none. */
static bool tcall_lenient_word_(tcall_lenient_ *text)
{
    static const char *const words[][2] = {
        {"True", "true"}, {"False", "false"}, {"None", "null"}, {"null", NULL}};
    const char *at = text->at, *json;
    size_t i, len = 1;
    for (i = 0; *words[i][0] != *at; i++)
        ;
    while (words[i][0][len] && at + len < text->end &&
           at[len] == words[i][0][len])
        len++;
    if (words[i][0][len] || tcall_lenient_letter_(text, at + len))
        return tcall_lenient_is_cut_(text, at + len);
    json = words[i][1];
    if (!text->state->depth && i >= 2) {
        text->fixes |= TCALL_FIX_NULL;
        json = "{}";
    }
    tcall_lenient_put_(text, json, strlen(json));
    text->at += len;
    return true;
}

/* +5, .5 or +.5. */
static bool tcall_lenient_number_(tcall_lenient_ *text)
{
    const char *at = text->at + (*text->at == '+');
    bool point = tcall_lenient_byte_(text, at) == '.';
    if (!tcall_is_digit_(tcall_lenient_byte_(text, at + point)))
        return text->state->depth && tcall_lenient_is_cut_(text, at + point);
    if (point)
        tcall_lenient_put_(text, "0", 1);
    text->at = at;
    return true;
}

/* The 0 that is missing before a point or after it. */
static bool tcall_lenient_zero_(tcall_lenient_ *text)
{
    uint8_t number = text->state->within;
    bool point = number == TCALL_N_MINUS_ && *text->at == '.';
    if (point && !tcall_is_digit_(tcall_lenient_byte_(text, text->at + 1)))
        return text->state->depth && tcall_lenient_is_cut_(text, text->at + 1);
    if (!point && number != TCALL_N_POINT_)
        return false;
    tcall_lenient_put_(text, "0", 1);
    return true;
}

/* A key without quotes. */
static bool tcall_lenient_key_(tcall_lenient_ *text)
{
    const char *from = text->at;
    while (tcall_lenient_in_(TCALL_LENIENT_ALPHA_ "09$$",
                             tcall_lenient_byte_(text, text->at)))
        text->at++;
    tcall_lenient_put_(text, "\"", 1);
    tcall_lenient_put_(text, from, (size_t)(text->at - from));
    tcall_lenient_put_(text, "\"", 1);
    return true;
}

/* A bracket that a comma stands before: there was none. */
static bool tcall_lenient_comma_(tcall_lenient_ *text)
{
    tcall_syntax_ *s = text->state;
    bool after = s->object ? s->state == TCALL_AT_NAME_ && *text->at == '}'
                           : s->state == TCALL_AT_VALUE_ && *text->at == ']';
    if (after && s->depth)
        s->state = TCALL_AT_NEXT_;
    return after && s->depth;
}

/* A character of a string that JSON wants escaped. */
static bool tcall_lenient_control_(tcall_lenient_ *text)
{
    static const char digits[] = "0123456789ABCDEF";
    char escape[6] = {'\\', 'u', '0', '0', '0', '0'};
    escape[4] = digits[*text->at >> 4];
    escape[5] = digits[*text->at & 15];
    tcall_lenient_put_(text, escape, sizeof escape);
    text->at++;
    return true;
}

/* \' */
static bool tcall_lenient_apostrophe_(tcall_lenient_ *text)
{
    if (text->state->high)
        return false;
    text->state->state = TCALL_AT_STRING_;
    tcall_lenient_put_(text, text->at++, 1);
    return true;
}

/* {\"a\":1}, an object as if inside a string: its brace is read already. */
static bool tcall_lenient_slash_(tcall_lenient_ *text)
{
    if (text->state->depth != 1)
        return false;
    text->slash = text->at;
    text->state = &text->string;
    tcall_lenient_put_(text, "\"", 1);
    return true;
}

/* A tag, a bracket or a comma behind the value. */
static bool tcall_lenient_behind_(tcall_lenient_ *text)
{
    if (*text->at == '<' ? !tcall_lenient_tag_(text) : !text->at++)
        return false;
    text->alone = false;
    return true;
}

/* The same value again; only white space between its tokens may differ. With
 * comments or smart quotes in the text nothing may. */
static bool tcall_lenient_again_(tcall_lenient_ *text)
{
    static const char marks[] = "{}[]:,\"'";
    uint32_t inexact = TCALL_FIX_COMMENT | TCALL_FIX_SMART_QUOTE;
    bool blanks = !(text->fixes & inexact), escaped = false;
    const char *value = text->value, *at = text->at;
    char quote = 0;
    for (; text->alone && value < text->over; value++, at++) {
        const char *one = value, *other = at;
        while (blanks && !quote && tcall_is_space_(*value))
            value++;
        while (blanks && !quote && at < text->end && tcall_is_space_(*at))
            at++;
        if (at == text->end || *at != *value)
            return false;
        /* a blank on one side only must not part a word */
        if ((value > one) != (at > other) && !strchr(marks, one[-1]) &&
            !strchr(marks, *at))
            return false;
        if (!escaped && (quote ? *at == quote : *at == '"' || *at == '\''))
            quote = (char)(quote ? 0 : *at);
        escaped = quote && !escaped && *at == '\\';
    }
    text->at = at;
    return text->alone;
}

/* ---- the table ---- */

/* Sets of states. */
#define TCALL_LENIENT_AT_(state) (1u << TCALL_AT_##state##_)
#define TCALL_LENIENT_VALUE_ \
    (TCALL_LENIENT_AT_(VALUE) | TCALL_LENIENT_AT_(FIRST))
#define TCALL_LENIENT_NAME_ \
    (TCALL_LENIENT_AT_(NAME) | TCALL_LENIENT_AT_(FIRST_NAME))
#define TCALL_LENIENT_BETWEEN_                                               \
    (TCALL_LENIENT_VALUE_ | TCALL_LENIENT_NAME_ | TCALL_LENIENT_AT_(COLON) | \
     TCALL_LENIENT_AT_(NEXT) | TCALL_LENIENT_AT_(DONE))
#define TCALL_LENIENT_ROOT_ 0x8000u /* only outside of all brackets */

/* Where the machine is, the bytes that are refused there, in ranges, and what
 * is done then. */
static const struct tcall_lenient_rule_ {
    uint16_t states;
    char bytes[9];
    tcall_lenient_act_ act;
    uint32_t fix;
} tcall_lenient_rules_[] = {
    {TCALL_LENIENT_BETWEEN_, "##//", tcall_lenient_comment_, TCALL_FIX_COMMENT},
    {TCALL_LENIENT_BETWEEN_, "\xC2\xC2\xE2\xE3\xEF\xEF", tcall_lenient_space_,
     TCALL_FIX_SPACE},
    {TCALL_LENIENT_VALUE_ | TCALL_LENIENT_NAME_, "''", tcall_lenient_quote_,
     TCALL_FIX_SINGLE_QUOTE},
    {TCALL_LENIENT_VALUE_ | TCALL_LENIENT_NAME_, "\xE2\xE2",
     tcall_lenient_quote_, TCALL_FIX_SMART_QUOTE},
    {TCALL_LENIENT_VALUE_ | TCALL_LENIENT_ROOT_, "\"\"", tcall_lenient_quote_,
     0},
    {TCALL_LENIENT_VALUE_, "FFNNTT", tcall_lenient_word_, TCALL_FIX_PYTHON},
    {TCALL_LENIENT_VALUE_ | TCALL_LENIENT_ROOT_, "nn", tcall_lenient_word_,
     TCALL_FIX_NULL},
    {TCALL_LENIENT_VALUE_, "++..", tcall_lenient_number_, TCALL_FIX_NUMBER},
    {TCALL_LENIENT_AT_(NUMBER), "\x01\xFF", tcall_lenient_zero_,
     TCALL_FIX_NUMBER},
    {TCALL_LENIENT_NAME_, "AZaz__$$", tcall_lenient_key_,
     TCALL_FIX_UNQUOTED_KEY},
    {TCALL_LENIENT_VALUE_ | TCALL_LENIENT_NAME_, "]]}}", tcall_lenient_comma_,
     TCALL_FIX_TRAILING_COMMA},
    {TCALL_LENIENT_AT_(STRING), "\x01\x1F", tcall_lenient_control_,
     TCALL_FIX_CONTROL},
    {TCALL_LENIENT_AT_(ESCAPE), "''", tcall_lenient_apostrophe_,
     TCALL_FIX_APOSTROPHE},
    {TCALL_LENIENT_AT_(FIRST_NAME), "\\\\", tcall_lenient_slash_,
     TCALL_FIX_ESCAPED_OBJECT},
    {TCALL_LENIENT_VALUE_ | TCALL_LENIENT_ROOT_, "``", tcall_lenient_opens_,
     TCALL_FIX_FENCE},
    {TCALL_LENIENT_VALUE_ | TCALL_LENIENT_ROOT_, "<<", tcall_lenient_tag_,
     TCALL_FIX_TAG},
    {TCALL_LENIENT_AT_(DONE), "``", tcall_lenient_fence_, TCALL_FIX_FENCE},
    {TCALL_LENIENT_AT_(DONE), "<<", tcall_lenient_behind_, TCALL_FIX_TAG},
    {TCALL_LENIENT_AT_(DONE), "]]}}", tcall_lenient_behind_,
     TCALL_FIX_EXTRA_CLOSER},
    {TCALL_LENIENT_AT_(DONE), ",,", tcall_lenient_behind_,
     TCALL_FIX_PUNCTUATION},
    {TCALL_LENIENT_AT_(DONE), "{{", tcall_lenient_again_, TCALL_FIX_REPEATED},
};

/* Looks for a rule for the byte at hand, refused with this error. */
static bool tcall_lenient_mends_(tcall_lenient_ *text, int error)
{
    const char *at = text->at;
    const tcall_syntax_ *s = text->state;
    unsigned where = 1u << s->state | (s->depth ? 0 : TCALL_LENIENT_ROOT_);
    size_t i;
    for (i = 0; i < sizeof tcall_lenient_rules_ / sizeof *tcall_lenient_rules_;
         i++) {
        const struct tcall_lenient_rule_ *rule = &tcall_lenient_rules_[i];
        if (!(rule->states & where & ~TCALL_LENIENT_ROOT_) ||
            rule->states & ~where & TCALL_LENIENT_ROOT_ ||
            !tcall_lenient_in_(rule->bytes, *at) || !rule->act(text))
            continue;
        if (!text->fixed) {
            text->fixed = at;
            text->refused = error;
        }
        text->fixes |= rule->fix;
        return true;
    }
    return false;
}

/* ---- what no rule mends ---- */

/* Returns where the word or number begins that ends here. */
static const char *tcall_lenient_begin_(const tcall_lenient_ *text)
{
    const char *at = text->at;
    while (at > text->blank && tcall_lenient_in_("AZaz__09++-.", at[-1]))
        at--;
    return at;
}

/* Says what is wrong between two values: the string before did not end where it
 * seemed to, or the word or number did not, or they are two. */
static int tcall_lenient_between_(tcall_lenient_ *text, int error)
{
    const char *token = text->token, *from = tcall_lenient_begin_(text);
    char c = *text->at, last = token > text->start ? token[-1] : (char)0;
    bool number = tcall_lenient_in_("09++-.", *from);
    if (last && strchr("\"'\x99\x9D", last) &&
        !tcall_lenient_in_(",,::]]}}", c)) {
        text->at = token - ((unsigned char)last < 0x80 ? 1 : 3);
        return TCALL_E_UNESCAPED_QUOTE;
    }
    if (text->state->state == TCALL_AT_COLON_)
        return error;
    if (from < text->at && (number ? !tcall_lenient_in_(",,//::]]}}", c)
                                   : tcall_lenient_letter_(text, text->at))) {
        text->at = from;
        return number ? TCALL_E_BAD_VALUE : TCALL_E_BARE_WORD;
    }
    if (error == TCALL_E_TRAILING && text->alone &&
        (tcall_lenient_in_("{{[[--09\"\"''", c) ||
         tcall_lenient_sees_(text, "\xE2\x80\x9C") ||
         tcall_lenient_sees_(text, "\xE2\x80\x98")))
        return TCALL_E_MULTIPLE;
    return error;
}

/* Says what is wrong at a byte that was refused with this error. */
static int tcall_lenient_blame_(tcall_lenient_ *text, int error)
{
    switch (text->state->state) {
    case TCALL_AT_COLON_:
    case TCALL_AT_NEXT_:
    case TCALL_AT_DONE_: return tcall_lenient_between_(text, error);
    case TCALL_AT_NUMBER_: text->at = tcall_lenient_begin_(text); return error;
    case TCALL_AT_LITERAL_:
        text->at = tcall_lenient_begin_(text);
        return TCALL_E_BARE_WORD;
    case TCALL_AT_VALUE_:
    case TCALL_AT_FIRST_:
        return tcall_lenient_letter_(text, text->at) ? TCALL_E_BARE_WORD
                                                     : error;
    default: return error;
    }
}

/* Whether an error is one of grammar, which may be a slip that has one
 * meaning. */
static bool tcall_is_slip_(int error)
{
    return error < TCALL_E_TRUNCATED && error >= TCALL_E_BRACKETS &&
           error != TCALL_E_NUL && error != TCALL_E_UTF8 &&
           error != TCALL_E_DEPTH;
}

/* A byte was refused: it is mended, or the error of the text. */
static void tcall_lenient_refused_(tcall_lenient_ *text)
{
    tcall_machine *machine = text->machine;
    tcall_syntax_ *s = text->state;
    int error = s->error;
    const char *end = text->at;
    if (!tcall_is_slip_(error)) {
        tcall_lenient_fail_(text, error, text->at);
        return;
    }
    s->error = TCALL_OK;
    if (s == &machine->syntax)
        machine->error = machine->fault_count ? TCALL_E_INVALID : TCALL_OK;
    while (end > text->blank && tcall_is_space_(end[-1]))
        end--;
    if (end > text->blank)
        text->token = end;
    if (!text->over && s->state == TCALL_AT_DONE_)
        text->over = text->token;
    if (tcall_lenient_mends_(text, error) ||
        (s->depth && tcall_lenient_is_cut_(text, text->at)))
        return;
    error = tcall_lenient_blame_(text, error);
    tcall_lenient_fail_(text, error, text->at);
}

/* ---- an object in a string ---- */

static tcall_ask_ tcall_lenient_begins_(tcall_syntax_ *s, char first)
{
    (void)s;
    (void)first;
    return TCALL_HEAR_;
}

/* What the string says goes on. */
static void tcall_lenient_data_(tcall_syntax_ *s, const char *bytes, size_t len)
{
    const tcall_lenient_ *text = (const tcall_lenient_ *)(void *)s;
    tcall_machine_feed(text->machine, bytes, len);
}

static void tcall_lenient_ends_(tcall_syntax_ *s)
{
    (void)s;
}

static const tcall_syntax_user_ tcall_lenient_user_ TCALL_FLASH_ = {
    NULL, tcall_lenient_begins_, tcall_lenient_data_, tcall_lenient_ends_};

/* ---- the way through the text ---- */

/* Goes on before the value: what is around it, and how it begins. */
static void tcall_lenient_root_(tcall_lenient_ *text)
{
    char c = *text->at;
    text->value = text->at;
    if (tcall_is_space_(c)) {
        text->at++;
    } else if (c == '{' ||
               !tcall_lenient_mends_(text, c == '"' || c == 'n'
                                               ? TCALL_E_NOT_OBJECT
                                               : TCALL_E_BAD_VALUE)) {
        text->at += tcall_lenient_feed_(text, text->at, 1);
        if (text->state->error)
            tcall_lenient_refused_(text);
    }
}

/* Goes on in a string that has another quote, up to where JSON's would end it,
 * or this one does. */
static void tcall_lenient_quoted_(tcall_lenient_ *text)
{
    const char *to = text->at;
    bool plain = text->state->state != TCALL_AT_ESCAPE_;
    while (to < text->end && *to != *text->quote && *to != '"')
        to++;
    if (to == text->at && plain && tcall_lenient_skip_(text, text->quote)) {
        text->quote = NULL;
        tcall_lenient_put_(text, "\"", 1);
    } else if (to == text->at && plain && tcall_lenient_skip_(text, "\"")) {
        tcall_lenient_put_(text, "\\\"", 2);
    } else {
        to += to == text->at;
        text->at +=
            tcall_lenient_feed_(text, text->at, (size_t)(to - text->at));
        if (text->state->error)
            tcall_lenient_refused_(text);
    }
}

/* Goes on with what the text holds next. */
static void tcall_lenient_step_(tcall_lenient_ *text)
{
    if (text->quote) {
        tcall_lenient_quoted_(text);
    } else if (text->state->state == TCALL_AT_VALUE_ && !text->state->depth) {
        tcall_lenient_root_(text);
    } else {
        text->at +=
            tcall_lenient_feed_(text, text->at, (size_t)(text->end - text->at));
        if (text->state->error)
            tcall_lenient_refused_(text);
    }
}

/* Ends a text without a value: there are no arguments, or they were cut. */
static void tcall_lenient_nothing_(tcall_lenient_ *text)
{
    if (text->fixes & ~(uint32_t)TCALL_FIX_SPACE) {
        tcall_lenient_fail_(text, TCALL_E_TRUNCATED, text->end);
        return;
    }
    if (!text->fixed)
        text->refused = TCALL_E_TRUNCATED;
    text->fixed = text->fixed ? text->fixed : text->at;
    text->fixes |= TCALL_FIX_EMPTY;
    tcall_lenient_put_(text, "{}", 2);
}

/* Ends the string that the object stands in. That this is broken JSON says no
 * more than that: a machine that stopped for another reason knows better. */
static void tcall_lenient_inside_(tcall_lenient_ *text)
{
    const tcall_syntax_ *s = &text->machine->syntax;
    bool whole = text->string.state == TCALL_AT_DONE_;
    int error = text->slash ? TCALL_E_BAD_KEY : TCALL_E_NOT_OBJECT;
    const char *at = text->slash ? text->slash : text->value;
    if (text->slash) { /* all of the text is inside */
        uint8_t state = text->string.state;
        if (text->error)
            state = TCALL_AT_DONE_;
        text->error = TCALL_OK;
        whole = state == TCALL_AT_STRING_;
        if (state == TCALL_AT_ESCAPE_)
            error = TCALL_E_TRUNCATED;
    } else if (!whole) {
        tcall_lenient_fail_(text, TCALL_E_TRUNCATED, text->end);
        return;
    }
    if (s->error && !tcall_is_slip_(s->error))
        error = s->error;
    else if (whole && !s->error && s->depth)
        error = TCALL_E_TRUNCATED;
    if (!whole || s->error || s->state != TCALL_AT_DONE_ || !(s->open[0] & 1))
        tcall_lenient_fail_(text, error, at);
    else if (!text->slash)
        text->fixes |= TCALL_FIX_DOUBLE_ENCODED;
}

/* Ends the text. Returns what is wrong with it. */
static int tcall_lenient_end_(tcall_lenient_ *text, bool strict)
{
    tcall_machine *machine = text->machine;
    int r;
    if (text->state == &text->string)
        tcall_lenient_inside_(text);
    else if (!text->error && machine->syntax.state == TCALL_AT_VALUE_ &&
             !machine->syntax.depth)
        tcall_lenient_nothing_(text);
    r = text->error;
    if (r == TCALL_OK || r == TCALL_E_DUPLICATE)
        r = tcall_machine_end(machine);
    if (r == TCALL_E_TRUNCATED && machine->syntax.state == TCALL_AT_NUMBER_ &&
        !machine->syntax.depth) /* it would be no object, whole or not */
        r = TCALL_E_BAD_VALUE;
    if (!text->error && (r == TCALL_E_NOT_OBJECT || r == TCALL_E_BAD_VALUE))
        text->at = text->value;
    if ((r == TCALL_OK || r == TCALL_E_INVALID) && text->fixed) {
        text->at = text->fixed;
        r = strict ? text->refused : r;
    }
    return r;
}

int tcall_read_arguments(tcall_machine *machine, const tcall_machine_desc *desc,
                         tcall_str bytes, bool strict, uint32_t *fixes)
{
    tcall_lenient_ text;
    bool used;
    int r;
    *fixes = 0;
#ifdef TOOLCALL_JSMN /* what is wrong with other text is said as without it */
    r = tcall_machine_read_(machine, desc, bytes);
    if (r == TCALL_OK || r == TCALL_E_INVALID || r == TCALL_E_MEMORY)
        return r;
#endif
    memset(&text, 0, sizeof text);
    tcall_machine_init(machine, desc);
    tcall_syntax_begin_(&text.string, &tcall_lenient_user_);
    text.machine = machine;
    text.state = &machine->syntax;
    text.start = text.at = text.token = text.blank = bytes.ptr ? bytes.ptr : "";
    text.end = text.start + bytes.len;
    text.alone = true;
    while (text.at < text.end && !text.error)
        tcall_lenient_step_(&text);
    r = tcall_lenient_end_(&text, strict);
    used = r == TCALL_OK || r == TCALL_E_INVALID || r == TCALL_E_MEMORY;
    *fixes = used ? text.fixes : 0;
    machine->at = (size_t)(text.at - text.start);
    return machine->error = r;
}
