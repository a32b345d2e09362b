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
 * JSON's grammar, and what it takes is strict JSON. So is a string in place of
 * the object: what it holds is fed to the machine once more.
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
    tcall_machine *machine;
    const tcall_machine_desc *desc; /* of the machine */
    const char *start, *at, *end;   /* the text, and how far it is read */
    const char *value, *over;  /* where the value begins; its end, or NULL */
    const char *slash;         /* the first of {\"a\":1}, or NULL */
    const char *quote;         /* that ends the string at hand, or NULL: " */
    const char *blank, *token; /* ends of the last comment, of what was read
                                * before the place at hand */
    const char *fixed;         /* the place of the first fix */
    uint32_t fixes;
    int refused; /* what a strict reading ends with there */
    int error;
    bool alone; /* nothing but the same value has followed the value */
} tcall_lenient_;

/* The first error stays, and its place. */
static bool tcall_lenient_fail_(tcall_lenient_ *text, int error, const char *at)
{
    if (!text->error)
        text->at = at;
    text->error = text->error ? text->error : error;
    return true;
}

/* A fix was needed at a place, which a strict reading refuses with an error. */
static void tcall_lenient_fixed_(tcall_lenient_ *text, uint32_t fix,
                                 const char *at, int error)
{
    text->fixes |= fix;
    if (!text->fixed || at < text->fixed) {
        text->fixed = at;
        text->refused = error;
    }
}

/* Feeds other bytes than those of the text. */
static void tcall_lenient_put_(tcall_lenient_ *text, const char *bytes,
                               size_t len)
{
    tcall_machine_feed(text->machine, bytes, len);
    if (text->machine->syntax.error)
        tcall_lenient_fail_(text, text->machine->syntax.error, text->at);
}

/* Feeds other bytes to a machine that begins anew. */
static void tcall_lenient_instead_(tcall_lenient_ *text, tcall_str bytes)
{
    tcall_machine_init(text->machine, text->desc);
    tcall_lenient_put_(text, bytes.ptr, bytes.len);
}

/* ---- looking ahead ---- */

/* Returns the length of a character of a name, 0 where there is none: a letter,
 * digit, _, - or the block (U+2581) that DeepSeek writes for _. */
static size_t tcall_name_char_(const char *at, const char *end)
{
    if (end - at >= 3 && memcmp(at, "\xE2\x96\x81", 3) == 0)
        return 3;
    return at < end && (((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z') ||
                        tcall_is_digit_(*at) || *at == '_' || *at == '-');
}

TCALL_SHARED_ const char *tcall_name_end_(const char *at, const char *end)
{
    size_t len;
    while ((len = tcall_name_char_(at, end)) > 0)
        at += len;
    return at;
}

/* Returns the end of what is like the pattern at this place, or NULL. In a
 * pattern a blank stands for any white space or none, # for a name, * for
 * anything up to what follows it in the line, $ for the end of the text. */
TCALL_SHARED_ const char *tcall_marker_end_(const char *at, const char *end,
                                            const char *pattern)
{
    for (; *pattern; pattern++) {
        const char *from = at;
        size_t left = strlen(pattern + 1);
        if (*pattern == ' ') {
            while (at < end && tcall_is_space_(*at))
                at++;
        } else if (*pattern == '#') {
            at = tcall_name_end_(at, end);
            if (at == from)
                return NULL;
        } else if (*pattern == '*') {
            while ((size_t)(end - at) >= left && *at != '\n' &&
                   memcmp(at, pattern + 1, left) != 0)
                at++;
        } else if (*pattern == '$' ? at < end
                                   : at == end || *at++ != *pattern) {
            return NULL;
        }
    }
    return at;
}

/* Returns the end of the text in quotes that begins here, else of the byte, or
 * of two where it is a backslash. */
TCALL_SHARED_ const char *tcall_token_end_(const char *at, const char *end)
{
    char quote = *at;
    at += quote == '\\' ? 2 : 1;
    if (quote == '"' || quote == '\'') {
        while (at < end && *at != quote)
            at += *at == '\\' ? 2 : 1;
        at++;
    }
    return at < end ? at : end;
}

/* Skips what is like the pattern, if that follows. */
static bool tcall_lenient_skip_(tcall_lenient_ *text, const char *pattern)
{
    const char *to = tcall_marker_end_(text->at, text->end, pattern);
    text->at = to ? to : text->at;
    return to != NULL;
}

/* Skips the first of "one\0two\0" that follows. */
static bool tcall_lenient_skip_any_(tcall_lenient_ *text, const char *patterns)
{
    while (*patterns && !tcall_lenient_skip_(text, patterns))
        patterns += strlen(patterns) + 1;
    return *patterns != '\0';
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
    while (*ranges &&
           (c < (unsigned char)ranges[0] || c > (unsigned char)ranges[1]))
        ranges += 2;
    return *ranges != '\0';
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

/* A comment: the rest of a line, or up to where it is closed. */
static bool tcall_lenient_comment_(tcall_lenient_ *text)
{
    const char *at = text->at, *end = text->end;
    char second = *at == '/' ? tcall_lenient_byte_(text, at + 1) : (char)0;
    bool block = second == '*';
    if (*at != '#' && second != '/' && !block)
        return false;
    for (at += block ? 3 : 1;
         at < end && (block ? at[-1] != '*' || *at != '/' : *at != '\n');)
        at++;
    if (block && at >= end)
        tcall_lenient_fail_(text, TCALL_E_TRUNCATED, end);
    text->at = text->blank = at < end ? at + 1 : end;
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

/* A tag around a call, or a special token of a chat template; DeepSeek writes
 * its bars wide (U+FF5C). */
static bool tcall_lenient_tag_(tcall_lenient_ *text)
{
    return tcall_lenient_skip_any_(
        text, "<tool_call>\0</tool_call>\0<function_call>\0</function_call>\0"
              "<s>\0</s>\0<|#|>\0<\xEF\xBD\x9C#\xEF\xBD\x9C>\0");
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
    to = tcall_marker_end_(text->at, text->end, " ");
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
    text->at = from;
    do {
        tcall_lenient_skip_(text, " ");
    } while (text->at < text->end &&
             (tcall_lenient_comment_(text) || tcall_lenient_space_(text) ||
              tcall_lenient_fence_(text) || tcall_lenient_tag_(text)));
    cut = text->at == text->end;
    text->at = at;
    text->blank = blank;
    return cut && tcall_lenient_fail_(text, TCALL_E_TRUNCATED, from);
}

/* A quote that is not JSON's begins a string. */
static bool tcall_lenient_quote_(tcall_lenient_ *text)
{
    if (tcall_lenient_skip_(text, "'"))
        text->quote = "'";
    else if (tcall_lenient_skip_(text, "\xE2\x80\x9C"))
        text->quote = "\xE2\x80\x9D";
    else if (tcall_lenient_skip_(text, "\xE2\x80\x98"))
        text->quote = "\xE2\x80\x99";
    else
        return false;
    tcall_lenient_put_(text, "\"", 1);
    return true;
}

/* True and False: the machine reads the rest of the word. */
static bool tcall_lenient_word_(tcall_lenient_ *text)
{
    char first = tcall_to_lower_(*text->at++);
    tcall_lenient_put_(text, &first, 1);
    return true;
}

/* None. */
static bool tcall_lenient_none_(tcall_lenient_ *text)
{
    const char *at = text->at, *none = "None";
    while (*none && tcall_lenient_byte_(text, at) == *none) {
        at++;
        none++;
    }
    if (*none || tcall_lenient_letter_(text, at))
        return tcall_lenient_is_cut_(text, at);
    tcall_lenient_put_(text, "null", 4);
    text->at = at;
    return true;
}

/* +5, .5 or -.5, and the 0 that 5. lacks. */
static bool tcall_lenient_number_(tcall_lenient_ *text)
{
    const tcall_syntax_ *s = &text->machine->syntax;
    uint8_t within = s->state == TCALL_AT_NUMBER_ ? s->within : (uint8_t)0;
    const char *at = text->at + (*text->at == '+');
    bool point = tcall_lenient_byte_(text, at) == '.';
    if (within == TCALL_N_POINT_) {
        tcall_lenient_put_(text, "0", 1);
        return true;
    }
    if (within && (within != TCALL_N_MINUS_ || *text->at != '.'))
        return false;
    if (!tcall_is_digit_(tcall_lenient_byte_(text, at + point)))
        return s->depth && tcall_lenient_is_cut_(text, at + point);
    if (point)
        tcall_lenient_put_(text, "0", 1);
    text->at = at;
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
    tcall_syntax_ *s = &text->machine->syntax;
    bool after = s->object ? s->state == TCALL_AT_NAME_ && *text->at == '}'
                           : s->state == TCALL_AT_VALUE_ && *text->at == ']';
    if (after && s->depth)
        s->state = TCALL_AT_NEXT_;
    return after && s->depth;
}

/* A character of a string that JSON wants escaped, or that need not be: '. */
static bool tcall_lenient_character_(tcall_lenient_ *text)
{
    tcall_syntax_ *s = &text->machine->syntax;
    if (s->high) /* the other half of a character is missing */
        return false;
    tcall_syntax_character_(s, (unsigned char)*text->at++);
    return true;
}

/* {\"a\":1}, an object as if inside a string: the text is read as one. */
static bool tcall_lenient_slash_(tcall_lenient_ *text)
{
    if (text->machine->syntax.depth != 1)
        return false;
    text->slash = text->at;
    text->at = text->value;
    tcall_lenient_instead_(text, tcall_str_of("\""));
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
    bool blanks = !(text->fixes & (TCALL_FIX_COMMENT | TCALL_FIX_SMART_QUOTE));
    const char *value = text->value, *at = text->at, *over = text->over;
    while (text->alone && value < over) {
        const char *one = value, *other = at;
        size_t len;
        if (blanks) {
            value = tcall_marker_end_(value, over, " ");
            at = tcall_marker_end_(at, text->end, " ");
        }
        len = (size_t)(tcall_token_end_(value, over) - value);
        if ((size_t)(text->end - at) < len || memcmp(at, value, len) != 0)
            return false;
        /* a blank on one side only must not part a word */
        if ((value > one) != (at > other) && !strchr(marks, one[-1]) &&
            !strchr(marks, *at))
            return false;
        value += len;
        at += len;
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
    {TCALL_LENIENT_VALUE_, "FFTT", tcall_lenient_word_, TCALL_FIX_PYTHON},
    {TCALL_LENIENT_VALUE_, "NN", tcall_lenient_none_, TCALL_FIX_PYTHON},
    {TCALL_LENIENT_VALUE_, "++..", tcall_lenient_number_, TCALL_FIX_NUMBER},
    {TCALL_LENIENT_AT_(NUMBER), "\x01\xFF", tcall_lenient_number_,
     TCALL_FIX_NUMBER},
    {TCALL_LENIENT_NAME_, "AZaz__$$", tcall_lenient_key_,
     TCALL_FIX_UNQUOTED_KEY},
    {TCALL_LENIENT_VALUE_ | TCALL_LENIENT_NAME_, "]]}}", tcall_lenient_comma_,
     TCALL_FIX_TRAILING_COMMA},
    {TCALL_LENIENT_AT_(STRING), "\x01\x1F", tcall_lenient_character_,
     TCALL_FIX_CONTROL},
    {TCALL_LENIENT_AT_(ESCAPE), "''", tcall_lenient_character_,
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
    {0, "", NULL, 0},
};

/* Looks for a rule for the byte at hand, refused with this error. */
static bool tcall_lenient_mends_(tcall_lenient_ *text, int error)
{
    const char *at = text->at;
    const tcall_syntax_ *s = &text->machine->syntax;
    unsigned where = 1u << s->state | (s->depth ? 0 : TCALL_LENIENT_ROOT_);
    const struct tcall_lenient_rule_ *rule = tcall_lenient_rules_;
    for (; rule->states; rule++)
        if (rule->states & where & ~TCALL_LENIENT_ROOT_ &&
            !(rule->states & ~where & TCALL_LENIENT_ROOT_) &&
            tcall_lenient_in_(rule->bytes, *at) && rule->act(text))
            break;
    if (rule->states)
        tcall_lenient_fixed_(text, rule->fix, at, error);
    return rule->states != 0;
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
    if (text->machine->syntax.state == TCALL_AT_COLON_)
        return error;
    if (from < text->at && (number ? !tcall_lenient_in_(",,//::]]}}", c)
                                   : tcall_lenient_letter_(text, text->at))) {
        text->at = from;
        return number ? TCALL_E_BAD_VALUE : TCALL_E_BARE_WORD;
    }
    if (error == TCALL_E_TRAILING && text->alone &&
        (tcall_lenient_in_("{{[[--09\"\"''", c) ||
         tcall_marker_end_(text->at, text->end, "\xE2\x80\x9C") ||
         tcall_marker_end_(text->at, text->end, "\xE2\x80\x98")))
        return TCALL_E_MULTIPLE;
    return error;
}

/* Says what is wrong at a byte that was refused with this error. */
static int tcall_lenient_blame_(tcall_lenient_ *text, int error)
{
    switch (text->machine->syntax.state) {
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
    tcall_syntax_ *s = &machine->syntax;
    int error = s->error;
    const char *end = text->at;
    if (!tcall_is_slip_(error)) {
        tcall_lenient_fail_(text, error, text->at);
        return;
    }
    s->error = TCALL_OK;
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

/* ---- the way through the text ---- */

/* Feeds bytes of the text, up to one that is refused. */
static void tcall_lenient_pass_(tcall_lenient_ *text, size_t len)
{
    size_t before = text->machine->at;
    tcall_machine_feed(text->machine, text->at, len);
    text->at += text->machine->at - before;
    if (text->machine->syntax.error)
        tcall_lenient_refused_(text);
}

/* Goes on in a string that has another quote, up to where JSON's would end it,
 * or this one does. */
static void tcall_lenient_quoted_(tcall_lenient_ *text)
{
    const char *to = text->at;
    bool marks = text->machine->syntax.state != TCALL_AT_ESCAPE_;
    while (to < text->end && *to != *text->quote && *to != '"')
        to++;
    if (to > text->at) {
        tcall_lenient_pass_(text, (size_t)(to - text->at));
    } else if (marks && tcall_lenient_skip_(text, text->quote)) {
        text->quote = NULL;
        tcall_lenient_put_(text, "\"", 1);
    } else if (marks && tcall_lenient_skip_(text, "\"")) {
        tcall_lenient_put_(text, "\\\"", 2);
    } else {
        tcall_lenient_pass_(text, 1);
    }
}

/* Goes on with what the text holds next. */
static void tcall_lenient_step_(tcall_lenient_ *text)
{
    const tcall_syntax_ *s = &text->machine->syntax;
    if (s->state == TCALL_AT_VALUE_ && !s->depth) {
        tcall_lenient_skip_(text, " ");
        text->value = text->at;
    }
    if (text->quote)
        tcall_lenient_quoted_(text);
    else
        tcall_lenient_pass_(text, (size_t)(text->end - text->at));
}

/* Ends the string as which {\"a\":1} is read: all of the text is in it. */
static void tcall_lenient_closes_(tcall_lenient_ *text)
{
    uint8_t state = text->machine->syntax.state;
    if (!text->error && state == TCALL_AT_STRING_) {
        tcall_lenient_put_(text, "\"", 1);
    } else if (!text->error || tcall_is_slip_(text->error)) {
        text->error = !text->error && state == TCALL_AT_ESCAPE_
                          ? TCALL_E_TRUNCATED
                          : TCALL_E_BAD_KEY;
        text->at = text->slash;
    }
}

/* Reads what stands in place of the object: nothing and null mean an empty one,
 * a string holds it. That this is broken JSON says no more than that it is no
 * object: another error knows better. */
static int tcall_lenient_object_(tcall_lenient_ *text, uint32_t fix, int error)
{
    tcall_machine *machine = text->machine;
    const char *at = text->slash ? text->slash : text->value;
    tcall_str object = tcall_str_of("{}");
    int r;
    if (fix == TCALL_FIX_DOUBLE_ENCODED)
        object = tcall_text_decode_(machine->text);
    if (!text->slash)
        tcall_lenient_fixed_(text, fix, at, error);
    tcall_lenient_instead_(text, object);
    r = tcall_machine_end(machine);
    if (tcall_is_slip_(r) || (r == TCALL_E_TRUNCATED && !machine->syntax.depth))
        r = text->slash ? TCALL_E_BAD_KEY : TCALL_E_NOT_OBJECT;
    text->at = at;
    return r;
}

/* Ends the text. Returns what is wrong with it. */
static int tcall_lenient_end_(tcall_lenient_ *text, bool strict)
{
    tcall_machine *machine = text->machine;
    const tcall_syntax_ *s = &machine->syntax;
    bool nothing = s->state == TCALL_AT_VALUE_ && !s->depth &&
                   !(text->fixes & ~(uint32_t)TCALL_FIX_SPACE);
    int r;
    if (text->slash)
        tcall_lenient_closes_(text);
    r = text->error;
    if (r == TCALL_OK || r == TCALL_E_DUPLICATE)
        r = tcall_machine_end(machine);
    if (!text->error && nothing)
        r = tcall_lenient_object_(text, TCALL_FIX_EMPTY, r);
    else if (r == TCALL_E_NOT_OBJECT && *machine->text == '"')
        r = tcall_lenient_object_(text, TCALL_FIX_DOUBLE_ENCODED, r);
    else if (r == TCALL_E_NOT_OBJECT && *machine->text == 'n')
        r = tcall_lenient_object_(text, TCALL_FIX_NULL, r);
    if (r == TCALL_E_TRUNCATED && s->state == TCALL_AT_NUMBER_ && !s->depth)
        r = TCALL_E_BAD_VALUE; /* it would be no object, whole or not */
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
    text.machine = machine;
    text.desc = desc;
    text.start = text.at = bytes.ptr ? bytes.ptr : "";
    text.value = text.token = text.blank = text.start;
    text.end = text.start + bytes.len;
    text.alone = true;
    tcall_machine_init(machine, desc);
    while (text.at < text.end && !text.error)
        tcall_lenient_step_(&text);
    r = tcall_lenient_end_(&text, strict);
    used = r == TCALL_OK || r == TCALL_E_INVALID || r == TCALL_E_MEMORY;
    *fixes = used ? text.fixes : 0;
    machine->at = (size_t)(text.at - text.start);
    return machine->error = r;
}
