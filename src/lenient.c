#pragma once
#include "lenient.h"
#include "machine.c"
#include "syntax.c"

/* ==========================================================================
 * >>lenient
 *
 * A machine is fed the text as it is. Where it refuses a byte, its state and
 * the bytes from there on choose a rule from a table, which says what is left
 * out and what is fed instead; then the text goes on. So each byte is fed once,
 * only the machine knows JSON's grammar, and what it takes is strict JSON. So
 * is a string in place of the object: what it holds is fed to the machine once
 * more.
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
    const char *start, *at, *end; /* the text, and how far it is read */
    const char *value, *over;  /* where the value begins; its end, NULL: it goes
                                * on; end: not only the same has followed it */
    const char *slash;         /* the first of {\"a\":1}, or NULL */
    const char *quote;         /* pattern that ends the string at hand; "": it
                                * is a key that ends as a name does; NULL: " */
    const char *blank, *token; /* ends of the last comment, of what was read
                                * before the place at hand */
    const char *fixed;         /* the place of the first fix */
    const char *put; /* what is fed next, in place of bytes left out, or NULL */
    char escape[7];  /* of a byte, for put */
    uint32_t fixes;
    int refused; /* what a strict reading ends with there */
    int error;
} tcall_lenient_;

/* A fix was needed at a place, which a strict reading refuses with an error. */
static void tcall_lenient_fixed_(tcall_lenient_ *text, int fix, const char *at,
                                 int error)
{
    text->fixes |= (uint32_t)1 << fix;
    if (!text->fixed || at < text->fixed) {
        text->fixed = at;
        text->refused = error;
    }
}

/* Feeds other bytes than those of the text. */
static void tcall_lenient_put_(tcall_lenient_ *text, const char *bytes)
{
    tcall_machine_feed(text->machine, bytes, strlen(bytes));
    if (text->machine->syntax.error)
        text->error = text->machine->syntax.error;
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
 * anything up to what follows it in the line, & for a digit, which is not part
 * of it, $ for the end of the text. */
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
        } else if (*pattern == '&') {
            return at < end && tcall_is_digit_(*at) ? at : NULL;
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

/* Skips the first of "one\0two\0" that follows. */
static bool tcall_lenient_skip_(tcall_lenient_ *text, const char *patterns)
{
    const char *to = NULL;
    for (; *patterns && !to; patterns += strlen(patterns) + 1)
        to = tcall_marker_end_(text->at, text->end, patterns);
    text->at = to ? to : text->at;
    return to != NULL;
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

/* Whether a word can go on here. Beyond ASCII most characters are letters; what
 * is left out are signs and spaces, by their first bytes. */
static bool tcall_lenient_letter_(const tcall_lenient_ *text)
{
    char c = *text->at, second = tcall_lenient_byte_(text, text->at + 1);
    return tcall_lenient_in_(TCALL_LENIENT_ALPHA_ "09\xC3\xE1\xE3\xEE", c) &&
           !(c == '\xE3' && second == '\x80') &&
           !(c == '\xE1' && second == '\xA0');
}

/* ---- rules ----
 *
 * Each begins behind its pattern and moves behind what else it reads. Returns
 * whether it goes here.
 */

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
        text->error = TCALL_E_TRUNCATED;
    text->at = at < end ? at + 1 : end;
    return true;
}

/* What opens a code fence, and its language. Behind a blank a word is one only
 * where more follows it: alone it is the value. */
static bool tcall_lenient_fence_(tcall_lenient_ *text)
{
    const char *word = text->at, *to;
    while (tcall_lenient_byte_(text, word) == ' ')
        word++;
    word = tcall_name_end_(word, text->end);
    to = tcall_marker_end_(word, text->end, " ");
    if (tcall_lenient_byte_(text, text->at) != ' ' ||
        (to < text->end && *to != '`'))
        text->at = word;
    return !(text->fixes & TCALL_FIX_FENCE);
}

/* A quote that is not JSON's: its last byte says which one ends the string. */
static bool tcall_lenient_quote_(tcall_lenient_ *text)
{
    char last = text->at[-1];
    text->quote = last == '\''     ? "'\0"
                  : last == '\x9C' ? "\xE2\x80\x9D\0"
                                   : "\xE2\x80\x99\0";
    return true;
}

/* A key without quotes. */
static bool tcall_lenient_key_(tcall_lenient_ *text)
{
    bool key = tcall_lenient_in_(TCALL_LENIENT_ALPHA_ "$$", *text->at);
    if (key)
        text->quote = "";
    return key;
}

/* A bracket that a comma stands before: there was none. */
static bool tcall_lenient_comma_(tcall_lenient_ *text)
{
    tcall_syntax_ *s = &text->machine->syntax;
    if (s->object != (s->state == TCALL_AT_NAME_) ||
        *text->at != (s->object ? '}' : ']'))
        return false;
    s->state = TCALL_AT_NEXT_;
    return true;
}

/* A character of a string that JSON wants escaped. */
static bool tcall_lenient_control_(tcall_lenient_ *text)
{
    text->escape[tcall_escape_(text->escape, *text->at++)] = '\0';
    text->put = text->escape;
    return true;
}

/* {\"a\":1}, an object as if inside a string: the text is read as one. */
static bool tcall_lenient_slash_(tcall_lenient_ *text)
{
    if (text->machine->syntax.depth != 1)
        return false;
    text->slash = text->at - 1;
    text->at = text->value;
    tcall_machine_init(text->machine, text->machine->is);
    return true;
}

/* A tag, a bracket or a comma behind the value. */
static bool tcall_lenient_behind_(tcall_lenient_ *text)
{
    text->over = text->end;
    return true;
}

/* Returns the end of the text in quotes, bracket or word that begins here. */
static const char *tcall_lenient_token_(const char *at, const char *end)
{
    static const char marks[] = "{}[]:,\"'";
    const char *to = at;
    while (to < end && !tcall_is_space_(*to) && *to && !strchr(marks, *to))
        to++;
    return to > at || to == end ? to : tcall_token_end_(at, end);
}

/* The same value again; only white space between its tokens may differ. With
 * comments or smart quotes in the text nothing may. */
static bool tcall_lenient_again_(tcall_lenient_ *text)
{
    bool blanks = !(text->fixes & (TCALL_FIX_COMMENT | TCALL_FIX_SMART_QUOTE));
    const char *value = text->value, *at = text->at;
    if (*at != '{')
        return false;
    while (value < text->over) {
        const char *to = tcall_lenient_token_(value, text->over);
        const char *other = tcall_lenient_token_(at, text->end);
        if (other - at != to - value ||
            memcmp(at, value, (size_t)(to - value)) != 0)
            return false;
        value = blanks ? tcall_marker_end_(to, text->over, " ") : to;
        at = blanks ? tcall_marker_end_(other, text->end, " ") : other;
    }
    text->at = at;
    return true;
}

/* ---- the table ---- */

/* Where the machine is: sets of the states of the recogniser, and instead of
 * that of a number */
#define TCALL_LENIENT_AT_(state) (1u << TCALL_AT_##state##_)
#define TCALL_LENIENT_ROOT_      (1u << 12) /* before the value */
#define TCALL_LENIENT_MINUS_     (1u << 13) /* behind the sign of a number, */
#define TCALL_LENIENT_POINT_     (1u << 14) /* behind its point */
#define TCALL_LENIENT_AROUND_    (1u << 15) /* anywhere around the value */
#define TCALL_LENIENT_INNER_ \
    (TCALL_LENIENT_AT_(VALUE) | TCALL_LENIENT_AT_(FIRST))
#define TCALL_LENIENT_VALUE_ (TCALL_LENIENT_ROOT_ | TCALL_LENIENT_INNER_)
#define TCALL_LENIENT_NAME_ \
    (TCALL_LENIENT_AT_(NAME) | TCALL_LENIENT_AT_(FIRST_NAME))
#define TCALL_LENIENT_BEHIND_                             \
    (TCALL_LENIENT_AT_(COLON) | TCALL_LENIENT_AT_(NEXT) | \
     TCALL_LENIENT_AT_(DONE))
#define TCALL_LENIENT_BLANK_                                              \
    (TCALL_LENIENT_VALUE_ | TCALL_LENIENT_NAME_ | TCALL_LENIENT_BEHIND_ | \
     TCALL_LENIENT_AROUND_)

/* A byte order mark, no-break space, quads to hair space, line and paragraph
 * separator, narrow no-break space, mathematical and ideographic space. */
static const char tcall_lenient_spaces_[] =
    "\xEF\xBB\xBF\0\xC2\xA0\0"
    "\xE2\x80\x80\0\xE2\x80\x81\0\xE2\x80\x82\0\xE2\x80\x83\0"
    "\xE2\x80\x84\0\xE2\x80\x85\0\xE2\x80\x86\0\xE2\x80\x87\0"
    "\xE2\x80\x88\0\xE2\x80\x89\0\xE2\x80\x8A\0\xE2\x80\xA8\0"
    "\xE2\x80\xA9\0\xE2\x80\xAF\0\xE2\x81\x9F\0\xE3\x80\x80\0";

/* Tags around a call, and special tokens of chat templates; DeepSeek writes
 * their bars wide (U+FF5C). */
static const char tcall_lenient_tags_[] =
    "<tool_call>\0</tool_call>\0<function_call>\0</function_call>\0"
    "<s>\0</s>\0<|#|>\0<\xEF\xBD\x9C#\xEF\xBD\x9C>\0";

/* In these states one of the patterns, or where there are none nothing, is
 * skipped, if act does not refuse it, and put is fed instead; NULL: where the
 * text ends then it was cut. */
static const struct tcall_lenient_rule_ {
    uint16_t states;
    uint8_t fix;
    const char *patterns;
    bool (*act)(tcall_lenient_ *text);
    const char *put;
} tcall_lenient_rules_[] = {
    {TCALL_LENIENT_BLANK_, TCALL_FIX_I_COMMENT_, "", tcall_lenient_comment_,
     ""},
    {TCALL_LENIENT_BLANK_, TCALL_FIX_I_SPACE_, tcall_lenient_spaces_, NULL, ""},
    {TCALL_LENIENT_VALUE_ | TCALL_LENIENT_NAME_, TCALL_FIX_I_SINGLE_QUOTE_,
     "'\0", tcall_lenient_quote_, "\""},
    {TCALL_LENIENT_VALUE_ | TCALL_LENIENT_NAME_, TCALL_FIX_I_SMART_QUOTE_,
     "\xE2\x80\x9C\0\xE2\x80\x98\0", tcall_lenient_quote_, "\""},
    {TCALL_LENIENT_VALUE_, TCALL_FIX_I_PYTHON_, "T\0", NULL, "t"},
    {TCALL_LENIENT_VALUE_, TCALL_FIX_I_PYTHON_, "F\0", NULL, "f"},
    {TCALL_LENIENT_VALUE_, TCALL_FIX_I_PYTHON_, "None\0", NULL, "null"},
    {TCALL_LENIENT_VALUE_, TCALL_FIX_I_NUMBER_, "+&\0", NULL, ""},
    {TCALL_LENIENT_VALUE_, TCALL_FIX_I_NUMBER_, "+.&\0", NULL, "0."},
    {TCALL_LENIENT_VALUE_ | TCALL_LENIENT_MINUS_, TCALL_FIX_I_NUMBER_, ".&\0",
     NULL, "0."},
    {TCALL_LENIENT_POINT_, TCALL_FIX_I_NUMBER_, "", NULL, "0"},
    {TCALL_LENIENT_VALUE_, TCALL_FIX_I_PYTHON_, "Non\0No\0N\0", NULL, NULL},
    {TCALL_LENIENT_INNER_ | TCALL_LENIENT_MINUS_, TCALL_FIX_I_NUMBER_,
     "+.\0+\0.\0", NULL, NULL},
    {TCALL_LENIENT_NAME_, TCALL_FIX_I_UNQUOTED_KEY_, "", tcall_lenient_key_,
     "\""},
    {TCALL_LENIENT_AT_(VALUE) | TCALL_LENIENT_AT_(NAME),
     TCALL_FIX_I_TRAILING_COMMA_, "", tcall_lenient_comma_, ""},
    {TCALL_LENIENT_AT_(STRING), TCALL_FIX_I_CONTROL_, "",
     tcall_lenient_control_, ""},
    {TCALL_LENIENT_AT_(ESCAPE), TCALL_FIX_I_APOSTROPHE_, "'\0", NULL, "u0027"},
    {TCALL_LENIENT_AT_(FIRST_NAME), TCALL_FIX_I_ESCAPED_OBJECT_, "\\\0",
     tcall_lenient_slash_, "\""},
    {TCALL_LENIENT_ROOT_, TCALL_FIX_I_FENCE_, "```\0", tcall_lenient_fence_,
     ""},
    {TCALL_LENIENT_AT_(DONE) | TCALL_LENIENT_AROUND_, TCALL_FIX_I_FENCE_,
     "```\0", NULL, ""},
    {TCALL_LENIENT_ROOT_ | TCALL_LENIENT_AROUND_, TCALL_FIX_I_TAG_,
     tcall_lenient_tags_, NULL, ""},
    {TCALL_LENIENT_AT_(DONE), TCALL_FIX_I_TAG_, tcall_lenient_tags_,
     tcall_lenient_behind_, ""},
    {TCALL_LENIENT_AT_(DONE), TCALL_FIX_I_EXTRA_CLOSER_, "]\0}\0",
     tcall_lenient_behind_, ""},
    {TCALL_LENIENT_AT_(DONE), TCALL_FIX_I_PUNCTUATION_, ",\0",
     tcall_lenient_behind_, ""},
    {TCALL_LENIENT_AT_(DONE), TCALL_FIX_I_REPEATED_, "", tcall_lenient_again_,
     ""},
    {0, 0, "", NULL, NULL},
};

/* Applies the first rule that goes where the machine is. Returns it, or that
 * which ends the table, and then nothing has changed; text->put is fed next. */
static const struct tcall_lenient_rule_ *
tcall_lenient_apply_(tcall_lenient_ *text, unsigned where)
{
    const struct tcall_lenient_rule_ *rule = tcall_lenient_rules_;
    const char *from = text->at;
    for (; rule->states; rule++) {
        text->put = rule->put;
        if (rule->states & where &&
            (!*rule->patterns || tcall_lenient_skip_(text, rule->patterns)) &&
            (!rule->act || rule->act(text)))
            break;
        text->at = from;
    }
    return rule;
}

/* Whether nothing follows but what may be around the value: where that is open,
 * it was cut. */
static bool tcall_lenient_is_cut_(tcall_lenient_ *text)
{
    do
        text->at = tcall_marker_end_(text->at, text->end, " ");
    while (text->at < text->end &&
           tcall_lenient_apply_(text, TCALL_LENIENT_AROUND_)->states);
    return text->at == text->end;
}

/* Returns the set that holds where the machine is. */
static unsigned tcall_lenient_where_(const tcall_syntax_ *s)
{
    if (s->state == TCALL_AT_BARE_)
        return s->within == TCALL_N_MINUS_   ? TCALL_LENIENT_MINUS_
               : s->within == TCALL_N_POINT_ ? TCALL_LENIENT_POINT_
                                             : 0;
    return s->state || s->depth ? 1u << s->state : TCALL_LENIENT_ROOT_;
}

/* ---- what no rule mends ---- */

/* Says what is wrong at a byte that was refused with this error, and where: the
 * string before it did not end where it seemed to, or the word or number did
 * not, or a second value follows. */
static int tcall_lenient_blame_(tcall_lenient_ *text, int error)
{
    uint8_t state = text->machine->syntax.state;
    unsigned where = 1u << state;
    const char *token = text->token, *from = text->at, *end = text->end;
    char c = *from, last = token > text->start ? token[-1] : (char)0;
    bool within = state == TCALL_AT_BARE_;
    bool number;
    if (where & TCALL_LENIENT_BEHIND_ && last && strchr("\"'\x99\x9D", last) &&
        !tcall_lenient_in_(",,::]]}}", c)) {
        text->at = token - ((unsigned char)last < 0x80 ? 1 : 3);
        return TCALL_E_UNESCAPED_QUOTE;
    }
    if (!within && !(where & (TCALL_LENIENT_VALUE_ | TCALL_LENIENT_AT_(NEXT) |
                              TCALL_LENIENT_AT_(DONE))))
        return error;
    while (from > text->blank && tcall_lenient_in_("AZaz__09++-.", from[-1]))
        from--;
    number = tcall_lenient_in_("09++-.", *from);
    if (within || ((from < text->at || where & TCALL_LENIENT_VALUE_) &&
                   (number ? !tcall_lenient_in_(",,//::]]}}", c)
                           : tcall_lenient_letter_(text)))) {
        text->at = from;
        return number ? TCALL_E_BAD_VALUE : TCALL_E_BARE_WORD;
    }
    if (error == TCALL_E_TRAILING && text->over < end &&
        (tcall_lenient_in_("{{[[--09\"\"''", c) ||
         tcall_marker_end_(text->at, end, "\xE2\x80\x9C") ||
         tcall_marker_end_(text->at, end, "\xE2\x80\x98")))
        return TCALL_E_MULTIPLE;
    return error;
}

/* Whether an error is one of grammar, which may be a slip that has one
 * meaning. */
static bool tcall_is_slip_(int error)
{
    return error < TCALL_E_TRUNCATED && error >= TCALL_E_BRACKETS &&
           error != TCALL_E_NUL && error != TCALL_E_UTF8 &&
           error != TCALL_E_DEPTH;
}

/* Notes where what was read before the place at hand ends. */
static void tcall_lenient_passed_(tcall_lenient_ *text)
{
    const char *end = text->at;
    while (end > text->blank && tcall_is_space_(end[-1]))
        end--;
    if (end > text->blank)
        text->token = end;
    if (!text->over && text->machine->syntax.state == TCALL_AT_DONE_)
        text->over = text->token;
}

/* A byte was refused: it is mended, or the error of the text. */
TCALL_NOINLINE_ static void tcall_lenient_refused_(tcall_lenient_ *text)
{
    tcall_machine *machine = text->machine;
    tcall_syntax_ *s = &machine->syntax;
    const struct tcall_lenient_rule_ *rule;
    const char *at = text->at, *to;
    int error = s->error;
    if (!tcall_is_slip_(error)) {
        text->error = error;
        return;
    }
    s->error = TCALL_OK;
    machine->error = machine->fault_count ? TCALL_E_INVALID : TCALL_OK;
    tcall_lenient_passed_(text);
    rule = tcall_lenient_apply_(text, tcall_lenient_where_(s));
    to = text->at;
    if (rule->put) {
        tcall_lenient_fixed_(text, rule->fix, at, error);
        if (rule->states == TCALL_LENIENT_BLANK_)
            text->blank = to;
    } else if ((s->depth || rule->states) && tcall_lenient_is_cut_(text)) {
        text->error = TCALL_E_TRUNCATED;
        text->at = to;
    } else {
        text->at = at;
        text->error = tcall_lenient_blame_(text, error);
    }
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

/* Returns where a key without quotes ends, or what may be the end of a string
 * that has other quotes than JSON's. */
static const char *tcall_lenient_inner_end_(const tcall_lenient_ *text)
{
    const char *at = text->at, *quote = text->quote;
    while (at < text->end &&
           (*quote ? *at != *quote && *at != '"'
                   : tcall_lenient_in_(TCALL_LENIENT_ALPHA_ "$$09", *at)))
        at++;
    return at;
}

/* Goes on with what is put, else with what the text holds next: of a string
 * that has another quote, up to that or to JSON's, which is escaped. */
static void tcall_lenient_step_(tcall_lenient_ *text)
{
    const tcall_syntax_ *s = &text->machine->syntax;
    const char *to = text->end, *put = text->put;
    text->put = NULL;
    if (put) {
        tcall_lenient_put_(text, put);
        return;
    }
    if (s->state == TCALL_AT_VALUE_ && !s->depth)
        text->value = tcall_marker_end_(text->at, to, " ");
    if (text->quote)
        to = tcall_lenient_inner_end_(text);
    if (to > text->at) {
        tcall_lenient_pass_(text, (size_t)(to - text->at));
    } else if (s->state == TCALL_AT_ESCAPE_) {
        tcall_lenient_pass_(text, 1);
    } else if (!*text->quote || tcall_lenient_skip_(text, text->quote)) {
        text->quote = NULL;
        text->put = "\"";
    } else if (tcall_lenient_skip_(text, "\"\0")) {
        text->put = "\\\"";
    } else {
        tcall_lenient_pass_(text, 1);
    }
}

/* Ends the string as which {\"a\":1} is read: all of the text is in it. */
static void tcall_lenient_closes_(tcall_lenient_ *text)
{
    uint8_t state = text->machine->syntax.state;
    if (!text->error && state == TCALL_AT_STRING_) {
        tcall_lenient_put_(text, "\"");
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
static int tcall_lenient_object_(tcall_lenient_ *text, int error)
{
    tcall_machine *machine = text->machine;
    tcall_str object = tcall_str_of("{}");
    int r, fix = machine->len ? TCALL_FIX_I_NULL_ : TCALL_FIX_I_EMPTY_;
    if (machine->len && *machine->text == '"') {
        fix = TCALL_FIX_I_DOUBLE_ENCODED_;
        object = tcall_text_decode_(machine->text);
    }
    text->at = text->slash ? text->slash : text->value;
    if (!text->slash)
        tcall_lenient_fixed_(text, fix, text->at, error);
    tcall_machine_init(machine, machine->is);
    tcall_machine_feed(machine, object.ptr, object.len);
    r = tcall_machine_end(machine);
    if (tcall_is_slip_(r) || (r == TCALL_E_TRUNCATED && !machine->syntax.depth))
        r = text->slash ? TCALL_E_BAD_KEY : TCALL_E_NOT_OBJECT;
    return r;
}

/* Ends the text. Returns what is wrong with it. */
static int tcall_lenient_end_(tcall_lenient_ *text, bool strict)
{
    tcall_machine *machine = text->machine;
    const tcall_syntax_ *s = &machine->syntax;
    bool nothing = tcall_lenient_where_(s) == TCALL_LENIENT_ROOT_ &&
                   !(text->fixes & ~(uint32_t)TCALL_FIX_SPACE);
    int r;
    if (text->slash)
        tcall_lenient_closes_(text);
    r = text->error;
    if (r == TCALL_OK || r == TCALL_E_DUPLICATE)
        r = tcall_machine_end(machine);
    if (nothing ? !text->error
                : r == TCALL_E_NOT_OBJECT &&
                      (*machine->text == '"' || *machine->text == 'n'))
        r = tcall_lenient_object_(text, r);
    if (r == TCALL_E_TRUNCATED && s->state == TCALL_AT_BARE_ && !s->depth &&
        s->within < TCALL_N_LITERAL_)
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
    int r;
    *fixes = 0;
#ifdef TOOLCALL_JSMN /* what is wrong with other text is said as without it */
    r = tcall_machine_read_(machine, desc, bytes);
    if (r == TCALL_OK || r == TCALL_E_INVALID || r == TCALL_E_MEMORY)
        return r;
#endif
    memset(&text, 0, sizeof text);
    text.machine = machine;
    text.start = text.at = bytes.ptr ? bytes.ptr : "";
    text.value = text.token = text.blank = text.start;
    text.end = text.start + bytes.len;
    tcall_machine_init(machine, desc);
    while ((text.put || text.at < text.end) && !text.error)
        tcall_lenient_step_(&text);
    r = tcall_lenient_end_(&text, strict);
    if (r == TCALL_OK || r == TCALL_E_INVALID || r == TCALL_E_MEMORY)
        *fixes = text.fixes;
    machine->at = (size_t)(text.at - text.start);
    return machine->error = r;
}
