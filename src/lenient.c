#pragma once
#include "lenient.h"
#include "machine.c"
#include "syntax.c"

/* ==========================================================================
 * >>lenient
 *
 * A filter in front of a recogniser, which knows JSON's grammar for it: its
 * state says which rewriting may begin here, and it refuses whatever would not
 * be JSON. So what comes out is strict JSON, or it is an error.
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

/* Eats strict JSON, as tcall_syntax_feed_ does. */
typedef size_t (*tcall_feed_)(tcall_syntax_ *s, const char *bytes, size_t len);

/* What the filter says. */
typedef struct tcall_lenient_result_ {
    uint32_t fixes; /* TCALL_FIX_... that were needed */
    size_t at;      /* offset in the text of the error, else of the first fix */
    int error;
} tcall_lenient_result_;

#ifndef TOOLCALL_NO_LENIENT

/* A text that is being read. */
typedef struct tcall_lenient_ {
    tcall_syntax_ string; /* of a string in which the object stands */
    tcall_syntax_ *into;  /* who gets the object, and how */
    tcall_feed_ feed;
    tcall_syntax_ *state;         /* that of what is fed: string or into */
    const char *start, *at, *end; /* the text, and how far it is read */
    int next;                     /* the byte that follows; -1: the end */
    tcall_lenient_result_ *out;
} tcall_lenient_;

/* ---- errors and fixes: both are noted at the place that is read ---- */

/* The first error stays. */
static void tcall_lenient_fail_(tcall_lenient_ *text, int error)
{
    if (text->out->error)
        return;
    text->out->at = (size_t)(text->at - text->start);
    text->out->error = error;
}

static void tcall_lenient_fix_(tcall_lenient_ *text, uint32_t fix)
{
    if (!text->out->fixes && !text->out->error)
        text->out->at = (size_t)(text->at - text->start);
    text->out->fixes |= fix;
}

/* ---- feeding ---- */

/* Feeds all bytes, also those after the end of the value. Returns how many were
 * eaten: all, or those up to the error. */
static size_t tcall_lenient_feed_(tcall_feed_ feed, tcall_syntax_ *s,
                                  const char *bytes, size_t len)
{
    size_t eaten = 0, more;
    do {
        more = feed(s, bytes + eaten, len - eaten);
        eaten += more;
    } while (more && eaten < len && !s->error);
    return eaten;
}

static void tcall_lenient_put_(tcall_lenient_ *text, const char *bytes,
                               size_t len)
{
    tcall_syntax_ *s = text->state;
    size_t eaten = tcall_lenient_feed_(
        s == text->into ? text->feed : tcall_syntax_feed_, s, bytes, len);
    if (s->error) {
        tcall_lenient_fail_(text, s->error);
        if (bytes == text->at)
            text->out->at += eaten;
    }
}

/* Feeds the next len bytes of the text as they are. */
static void tcall_lenient_copy_(tcall_lenient_ *text, size_t len)
{
    tcall_lenient_put_(text, text->at, len);
    text->at += len;
}

/* ---- looking ahead ---- */

static bool tcall_lenient_sees_(const tcall_lenient_ *text, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(text->end - text->at) >= len &&
           memcmp(text->at, word, len) == 0;
}

/* Returns the byte at an offset from here, 0 after the end. */
static char tcall_lenient_ahead_(const tcall_lenient_ *text, size_t offset)
{
    return (size_t)(text->end - text->at) > offset ? text->at[offset] : (char)0;
}

/* Whether one of the characters of set follows, or the end. */
static bool tcall_lenient_ends_(const tcall_lenient_ *text, const char *set)
{
    return text->next < 0 || (text->next && strchr(set, text->next));
}

/* Skips a word that is rewritten or left out, if it follows. */
static bool tcall_lenient_skip_(tcall_lenient_ *text, const char *word,
                                uint32_t fix)
{
    if (!tcall_lenient_sees_(text, word))
        return false;
    tcall_lenient_fix_(text, fix);
    text->at += strlen(word);
    return true;
}

/* Skips the first word of "one\0two\0" that follows. */
static bool tcall_lenient_skip_any_(tcall_lenient_ *text, const char *words,
                                    uint32_t fix)
{
    for (; *words; words += strlen(words) + 1)
        if (tcall_lenient_skip_(text, words, fix))
            return true;
    return false;
}

/* ---- white space and comments ---- */

static const char tcall_lenient_spaces_[] =
    "\xEF\xBB\xBF\0" /* byte order mark */
    "\xC2\xA0\0"     /* no-break space */
    "\xE2\x80\x80\0\xE2\x80\x81\0\xE2\x80\x82\0\xE2\x80\x83\0\xE2\x80\x84\0"
    "\xE2\x80\x85\0\xE2\x80\x86\0\xE2\x80\x87\0\xE2\x80\x88\0\xE2\x80\x89\0"
    "\xE2\x80\x8A\0"               /* quads to hair space */
    "\xE2\x80\xA8\0\xE2\x80\xA9\0" /* line and paragraph separator */
    "\xE2\x80\xAF\0"               /* narrow no-break space */
    "\xE2\x81\x9F\0"               /* mathematical space */
    "\xE3\x80\x80\0";              /* ideographic space */

/* Skips a comment up to its end, which the end of the text is for one that
 * lasts a line. */
static void tcall_lenient_comment_(tcall_lenient_ *text, const char *end)
{
    while (!tcall_lenient_skip_(text, end, 0)) {
        if (text->at == text->end) {
            if (*end == '*')
                tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
            return;
        }
        text->at++;
    }
}

/* Skips white space and comments, and looks at what follows. */
static void tcall_lenient_blank_(tcall_lenient_ *text)
{
    for (;;) {
        text->next = text->at == text->end ? -1 : (unsigned char)*text->at;
        if (text->next >= 0 && tcall_is_space_((char)text->next))
            text->at++;
        else if (tcall_lenient_skip_(text, "/*", TCALL_FIX_COMMENT))
            tcall_lenient_comment_(text, "*/");
        else if (tcall_lenient_skip_any_(text, "//\0#\0", TCALL_FIX_COMMENT))
            tcall_lenient_comment_(text, "\n");
        else if (text->next < 0x80 ||
                 !tcall_lenient_skip_any_(text, tcall_lenient_spaces_,
                                          TCALL_FIX_SPACE))
            return;
    }
}

/* ---- what may be around the value ---- */

/* What a key without quotes may begin with, beside $. */
static bool tcall_lenient_alpha_(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

/* Skips a special token of a chat template: <|name|>, or as DeepSeek writes it,
 * with wide bars (U+FF5C) and blocks (U+2581) for spaces. */
static bool tcall_lenient_token_(tcall_lenient_ *text)
{
    const char *from = text->at, *to;
    bool wide = tcall_lenient_sees_(text, "<\xEF\xBD\x9C"), found;
    if (!tcall_lenient_skip_any_(text, "<\xEF\xBD\x9C\0<|\0", 0))
        return false;
    to = text->at;
    while (tcall_lenient_alpha_(tcall_lenient_ahead_(text, 0)) ||
           tcall_lenient_sees_(text, "\xE2\x96\x81"))
        text->at += *text->at == '\xE2' ? 3 : 1;
    found = text->at > to &&
            tcall_lenient_skip_(text, wide ? "\xEF\xBD\x9C>" : "|>", 0);
    to = found ? text->at : from;
    text->at = from;
    if (found)
        tcall_lenient_fix_(text, TCALL_FIX_TAG);
    text->at = to;
    return found;
}

/* Skips a tag that a chat template put around the call. */
static bool tcall_lenient_tag_(tcall_lenient_ *text)
{
    return tcall_lenient_token_(text) ||
           tcall_lenient_skip_any_(text,
                                   "<tool_call>\0</tool_call>\0"
                                   "<function_call>\0</function_call>\0"
                                   "<s>\0</s>\0",
                                   TCALL_FIX_TAG);
}

/* Whether nothing is left but what may be around the value: where that is open,
 * it was cut. */
static bool tcall_lenient_is_cut_(tcall_lenient_ *text)
{
    const char *from = text->at;
    bool cut;
    do
        tcall_lenient_blank_(text);
    while (tcall_lenient_skip_(text, "```", TCALL_FIX_FENCE) ||
           tcall_lenient_tag_(text));
    cut = text->next < 0;
    text->at = from;
    tcall_lenient_blank_(text);
    return cut;
}

/* ---- strings ---- */

/* Returns the quote that closes the one that follows, or NULL. */
static const char *tcall_lenient_quote_(const tcall_lenient_ *text)
{
    static const char *const quotes[][2] = {{"\"", "\""},
                                            {"'", "'"},
                                            {"\xE2\x80\x9C", "\xE2\x80\x9D"},
                                            {"\xE2\x80\x98", "\xE2\x80\x99"}};
    size_t i;
    for (i = 0; i < sizeof quotes / sizeof *quotes; i++)
        if (tcall_lenient_sees_(text, quotes[i][0]))
            return quotes[i][1];
    return NULL;
}

/* Feeds a byte that JSON wants escaped and that came without. */
static void tcall_lenient_escape_(tcall_lenient_ *text)
{
    static const char digits[] = "0123456789ABCDEF";
    char c = *text->at, escape[6] = {'\\', 'u', '0', '0', '0', '0'};
    if (c != '"')
        tcall_lenient_fix_(text, TCALL_FIX_CONTROL);
    if (!c)
        tcall_lenient_fail_(text, TCALL_E_NUL);
    escape[4] = digits[c >> 4];
    escape[5] = digits[c & 15];
    tcall_lenient_put_(text, escape, sizeof escape);
    text->at++;
}

/* Reads the inside of a string up to its closing quote or the end. */
static void tcall_lenient_content_(tcall_lenient_ *text, const char *quote)
{
    while (text->at < text->end && !text->out->error &&
           !tcall_lenient_sees_(text, quote)) {
        const char *to = text->at;
        if (tcall_lenient_sees_(text, "\\'")) {
            tcall_lenient_fix_(text, TCALL_FIX_APOSTROPHE);
            text->at++;
            tcall_lenient_copy_(text, 1);
        } else if (*text->at == '"' || (unsigned char)*text->at < 0x20) {
            tcall_lenient_escape_(text);
        } else { /* one byte or escape, and all that is plain after it */
            to += *to == '\\' && to + 1 < text->end ? 2 : 1;
            while (to < text->end && *to != *quote && *to != '"' &&
                   *to != '\\' && (unsigned char)*to >= 0x20)
                to++;
            tcall_lenient_copy_(text, (size_t)(to - text->at));
        }
    }
}

/* Reads a whole string, and looks at what follows it: only a comma, a colon, a
 * bracket or the end can. Anything else means that the quote did not close the
 * string. */
static void tcall_lenient_string_(tcall_lenient_ *text, const char *quote)
{
    const char *closed;
    if (*quote != '"')
        tcall_lenient_fix_(text, *quote == '\'' ? TCALL_FIX_SINGLE_QUOTE
                                                : TCALL_FIX_SMART_QUOTE);
    tcall_lenient_put_(text, "\"", 1);
    text->at += strlen(quote);
    tcall_lenient_content_(text, quote);
    closed = text->at;
    if (!tcall_lenient_skip_(text, quote, 0))
        tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
    tcall_lenient_put_(text, "\"", 1);
    tcall_lenient_blank_(text);
    if (!tcall_lenient_ends_(text, ",:]}") &&
        !(text->state->depth ? tcall_lenient_is_cut_(text)
                             : tcall_lenient_sees_(text, "```"))) {
        text->at = closed;
        tcall_lenient_fail_(text, TCALL_E_UNESCAPED_QUOTE);
    }
}

/* ---- numbers, words, keys ---- */

/* Feeds the 0 that is missing before a point or after it, if it is, and returns
 * the state of the number. */
static uint8_t tcall_lenient_zero_(tcall_lenient_ *text, uint8_t state)
{
    char c = tcall_lenient_ahead_(text, 0);
    bool before = c == '.' && state < TCALL_N_ZERO_ &&
                  tcall_is_digit_(tcall_lenient_ahead_(text, 1));
    bool after = state == TCALL_N_POINT_ && !tcall_is_digit_(c);
    if (!before && !after)
        return state;
    tcall_lenient_fix_(text, TCALL_FIX_NUMBER);
    tcall_lenient_put_(text, "0", 1);
    return before ? TCALL_N_ZERO_ : TCALL_N_FRACTION_;
}

/* Reads a number, in JSON's form or as +5, .5 or 5. write it. The recogniser
 * sees its end in the bracket or comma that follows; else in a blank. */
static void tcall_lenient_number_(tcall_lenient_ *text)
{
    const char *from = text->at, *to;
    bool cut;
    uint8_t state = tcall_lenient_skip_(text, "+", TCALL_FIX_NUMBER)
                        ? TCALL_N_MINUS_
                        : TCALL_N_START_;
    for (;;) {
        uint8_t next;
        state = tcall_lenient_zero_(text, state);
        next = tcall_number_next_(state, tcall_lenient_ahead_(text, 0));
        if (!next)
            break;
        tcall_lenient_copy_(text, 1);
        state = next;
    }
    to = text->at;
    if (tcall_number_ends_(state)) {
        tcall_lenient_blank_(text);
        if (text->at > to || tcall_lenient_ends_(text, ",:]}/")) {
            if (!text->state->depth || !tcall_lenient_ends_(text, ",]}"))
                tcall_lenient_put_(text, " ", 1);
            return;
        }
    }
    tcall_lenient_skip_(text, ".", 0);
    cut = text->state->depth && tcall_lenient_is_cut_(text);
    text->at = cut ? text->end : from;
    tcall_lenient_fail_(text, cut ? TCALL_E_TRUNCATED : TCALL_E_BAD_VALUE);
}

static bool tcall_lenient_alnum_(char c)
{
    return tcall_lenient_alpha_(c) || tcall_is_digit_(c);
}

/* Whether a word can begin or go on here. Beyond ASCII most characters are
 * letters; what is left out are signs and spaces, by their first bytes. */
static bool tcall_lenient_letter_(const tcall_lenient_ *text)
{
    unsigned first = (unsigned char)tcall_lenient_ahead_(text, 0);
    unsigned second = (unsigned char)tcall_lenient_ahead_(text, 1);
    if (first < 0x80)
        return tcall_lenient_alnum_((char)first);
    return first >= 0xC3 && first < 0xEF && first != 0xE2 &&
           !(first == 0xE3 && second == 0x80) &&
           !(first == 0xE1 && second == 0xA0);
}

/* Reads true, false, null and what Python makes of them. null in place of all
 * arguments means that there are none. */
static void tcall_lenient_literal_(tcall_lenient_ *text)
{
    static const char *const words[] = {"true", "false", "null",
                                        "True", "False", "None"};
    const char *from = text->at, *json = NULL;
    bool cut = false;
    size_t i, len = 0;
    while (tcall_lenient_alpha_(tcall_lenient_ahead_(text, len)))
        len++;
    for (i = 0; !json && i < sizeof words / sizeof *words; i++) {
        const char *word = words[i];
        if (tcall_lenient_skip_(text, word, i < 3 ? 0 : TCALL_FIX_PYTHON))
            json = words[i % 3];
        cut = cut || (len < strlen(word) && memcmp(word, from, len) == 0);
    }
    if (!json || tcall_lenient_letter_(text)) {
        text->at = from + len;
        cut = cut && tcall_lenient_is_cut_(text);
        text->at = cut ? text->end : from;
        tcall_lenient_fail_(text, cut ? TCALL_E_TRUNCATED : TCALL_E_BARE_WORD);
        return;
    }
    if (*json == 'n' && text->state->depth == 0) {
        tcall_lenient_fix_(text, TCALL_FIX_NULL);
        json = "{}";
    }
    tcall_lenient_put_(text, json, strlen(json));
}

/* Reads a key without quotes. */
static void tcall_lenient_key_(tcall_lenient_ *text)
{
    size_t len = 1;
    while (tcall_lenient_alnum_(tcall_lenient_ahead_(text, len)) ||
           tcall_lenient_ahead_(text, len) == '$')
        len++;
    tcall_lenient_fix_(text, TCALL_FIX_UNQUOTED_KEY);
    tcall_lenient_put_(text, "\"", 1);
    tcall_lenient_copy_(text, len);
    tcall_lenient_put_(text, "\"", 1);
}

/* Reads a comma, which is fed only when no closing bracket follows it. */
static void tcall_lenient_comma_(tcall_lenient_ *text)
{
    text->at++;
    tcall_lenient_blank_(text);
    if (text->next == (text->state->object ? '}' : ']'))
        tcall_lenient_fix_(text, TCALL_FIX_TRAILING_COMMA);
    else
        tcall_lenient_put_(text, ",", 1);
}

/* ---- the value and what may be around it ---- */

/* Reads one piece of the value. What needs no rewriting is left to the
 * recogniser, right or wrong. */
static void tcall_lenient_piece_(tcall_lenient_ *text)
{
    uint8_t state = text->state->state;
    bool value = state == TCALL_AT_VALUE_ || state == TCALL_AT_FIRST_;
    bool key = state == TCALL_AT_NAME_ || state == TCALL_AT_FIRST_NAME_;
    bool after = state == TCALL_AT_NEXT_ || state == TCALL_AT_NUMBER_;
    const char *quote = tcall_lenient_quote_(text);
    if (text->next < 0)
        tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
    else if (quote)
        tcall_lenient_string_(text, quote);
    else if (value && !text->next)
        tcall_lenient_fail_(text, TCALL_E_BAD_VALUE);
    else if (value && strchr("+-.0123456789", text->next))
        tcall_lenient_number_(text);
    else if (value && tcall_lenient_letter_(text))
        tcall_lenient_literal_(text);
    else if (key &&
             (text->next == '$' || tcall_lenient_alpha_((char)text->next)))
        tcall_lenient_key_(text);
    else if (after && text->next == ',')
        tcall_lenient_comma_(text);
    else
        tcall_lenient_copy_(text, 1);
}

/* Skips the language of a fence. Behind a blank it is one only where a value
 * follows it: a word alone is the value. */
static void tcall_lenient_language_(tcall_lenient_ *text)
{
    const char *from = text->at;
    while (tcall_lenient_ahead_(text, 0) == ' ')
        text->at++;
    while (tcall_lenient_letter_(text))
        text->at++;
    tcall_lenient_blank_(text);
    if (from < text->end && *from == ' ' && text->next != '{' &&
        !tcall_lenient_quote_(text))
        text->at = from;
}

/* Skips what may come before the value: tags, and one fence with its
 * language. */
static void tcall_lenient_before_(tcall_lenient_ *text)
{
    do {
        tcall_lenient_blank_(text);
        if (!(text->out->fixes & TCALL_FIX_FENCE) &&
            tcall_lenient_skip_(text, "```", TCALL_FIX_FENCE)) {
            tcall_lenient_language_(text);
            tcall_lenient_blank_(text);
        }
    } while (tcall_lenient_tag_(text));
}

/* Skips the same value again; only white space between its tokens may differ.
 * With comments or smart quotes in the text nothing may. */
static bool tcall_lenient_again_(tcall_lenient_ *text, const char *value,
                                 const char *to)
{
    static const char marks[] = "{}[]:,\"'";
    uint32_t inexact = TCALL_FIX_COMMENT | TCALL_FIX_SMART_QUOTE;
    bool blanks = !(text->out->fixes & inexact), escaped = false;
    const char *at = text->at;
    char quote = 0;
    for (; value < to; value++, at++) {
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
    tcall_lenient_fix_(text, TCALL_FIX_REPEATED);
    text->at = at;
    return true;
}

/* Skips what may come after the value: the same value again, brackets that
 * close nothing, a comma, tags and a fence. */
static void tcall_lenient_after_(tcall_lenient_ *text, const char *value,
                                 const char *to)
{
    bool repeats = true; /* only directly after the value */
    for (;;) {
        tcall_lenient_blank_(text);
        if (text->next < 0)
            return;
        if (repeats && text->next == '{' &&
            tcall_lenient_again_(text, value, to))
            continue;
        if (tcall_lenient_ends_(text, "]},")) {
            tcall_lenient_fix_(text, text->next == ','
                                         ? TCALL_FIX_PUNCTUATION
                                         : TCALL_FIX_EXTRA_CLOSER);
            text->at++;
            repeats = false;
        } else if (tcall_lenient_tag_(text)) {
            repeats = false;
        } else if (!tcall_lenient_skip_(text, "```", TCALL_FIX_FENCE)) {
            break;
        }
    }
    tcall_lenient_fail_(
        text, repeats && (tcall_lenient_ends_(text, "{[-0123456789") ||
                          tcall_lenient_quote_(text))
                  ? TCALL_E_MULTIPLE
                  : TCALL_E_TRAILING);
}

/* ---- an object in a string ---- */

static tcall_ask_ tcall_lenient_begin_(tcall_syntax_ *s, char first)
{
    (void)s;
    (void)first;
    return TCALL_HEAR_;
}

/* What the string says goes on. */
static void tcall_lenient_data_(tcall_syntax_ *s, const char *bytes, size_t len)
{
    tcall_lenient_ *text = (tcall_lenient_ *)(void *)s;
    tcall_lenient_feed_(text->feed, text->into, bytes, len);
}

static void tcall_lenient_end_(tcall_syntax_ *s)
{
    (void)s;
}

static const tcall_syntax_user_ tcall_lenient_user_ TCALL_FLASH_ = {
    NULL, tcall_lenient_begin_, tcall_lenient_data_, tcall_lenient_end_};

/* Returns the first backslash of {\"a\":1}, an object as if inside a string, or
 * NULL. */
static const char *tcall_lenient_slash_(const tcall_lenient_ *text)
{
    const char *at = text->at;
    if (tcall_lenient_ahead_(text, 0) != '{')
        return NULL;
    do
        at++;
    while (at < text->end && tcall_is_space_(*at));
    return at < text->end && *at == '\\' ? at : NULL;
}

/* What was fed is one object, or there is an error at this place. That it is
 * broken JSON says no more than that: only one who hears it can know better. */
static void tcall_lenient_object_(tcall_lenient_ *text, const char *at,
                                  uint32_t fix, int error)
{
    const tcall_syntax_ *s = text->into;
    bool heard =
        s->error && (s->error > TCALL_E_TRUNCATED ||
                     s->error < TCALL_E_BRACKETS || s->error == TCALL_E_NUL);
    text->at = at;
    if (!s->error && s->state == TCALL_AT_DONE_ && s->open[0] & 1)
        tcall_lenient_fix_(text, fix);
    else
        tcall_lenient_fail_(text, heard                   ? s->error
                                  : s->depth && !s->error ? TCALL_E_TRUNCATED
                                                          : error);
}

/* Reads the value and what is after it. A string, or what could be the inside
 * of one, is read for what it says. */
static void tcall_lenient_value_(tcall_lenient_ *text)
{
    const char *from = text->at, *slash = tcall_lenient_slash_(text), *to;
    bool quoted = tcall_lenient_quote_(text) != NULL;
    if (slash || quoted)
        text->state = &text->string;
    if (slash) {
        tcall_lenient_put_(text, "\"", 1);
        tcall_lenient_content_(text, "\"");
        if (!text->out->error && text->at == text->end &&
            text->string.state == TCALL_AT_ESCAPE_) {
            text->at = slash; /* it is cut */
            tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
            return;
        }
        tcall_lenient_put_(text, "\"", 1);
        if (text->out->error || text->at < text->end)
            text->into->error = TCALL_E_BAD_KEY; /* it is no such inside */
        text->out->error = TCALL_OK;
        tcall_lenient_object_(text, slash, TCALL_FIX_ESCAPED_OBJECT,
                              TCALL_E_BAD_KEY);
        return;
    }
    do {
        tcall_lenient_blank_(text);
        if (text->state->depth && tcall_lenient_is_cut_(text))
            tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
        else
            tcall_lenient_piece_(text);
        to = text->at;
    } while (!text->out->error && text->state->state != TCALL_AT_DONE_);
    if (!text->out->error)
        tcall_lenient_after_(text, from, to);
    if (!text->out->error)
        tcall_lenient_object_(text, from, quoted ? TCALL_FIX_DOUBLE_ENCODED : 0,
                              TCALL_E_NOT_OBJECT);
}

/* Reads bytes as leniently as it may, and feeds the object that is meant, in
 * strict JSON, to a recogniser that has just begun, by feed: at most 6 bytes
 * for one of the text, and 2. One pass; the text is neither changed nor kept.
 * Returns out->error, after which what was fed is of no use: that of the text,
 * or of whoever hears the recogniser. With TOOLCALL_NO_LENIENT nothing is read:
 * then it is the error that out came with, that of the strict reading. */
TCALL_SHARED_ int tcall_lenient_read_(tcall_lenient_result_ *out,
                                      tcall_str bytes, tcall_syntax_ *into,
                                      tcall_feed_ feed)
{
    tcall_lenient_ text;
    memset(out, 0, sizeof *out);
    tcall_syntax_begin_(&text.string, &tcall_lenient_user_);
    text.state = text.into = into;
    text.feed = feed;
    text.start = text.at = bytes.ptr ? bytes.ptr : "";
    text.end = text.start + bytes.len;
    text.out = out;
    tcall_lenient_before_(&text);
    if (text.next >= 0 || out->fixes & ~(uint32_t)TCALL_FIX_SPACE) {
        tcall_lenient_value_(&text);
    } else {
        tcall_lenient_fix_(&text, TCALL_FIX_EMPTY);
        tcall_lenient_put_(&text, "{}", 2);
    }
    return out->error;
}

#else

/* What is wrong stays wrong. */
TCALL_SHARED_ int tcall_lenient_read_(tcall_lenient_result_ *out,
                                      tcall_str bytes, tcall_syntax_ *into,
                                      tcall_feed_ feed)
{
    (void)bytes;
    (void)into;
    (void)feed;
    return out->error;
}

#endif /* TOOLCALL_NO_LENIENT */

/* ---- both readings ---- */

/* Whether what a strict reading ended with may be a slip that has one meaning,
 * so that the text is to be read once more. */
TCALL_SHARED_ bool tcall_is_slip_(int error)
{
    return error < 0 && error != TCALL_E_INVALID && error != TCALL_E_MEMORY &&
           error != TCALL_E_DUPLICATE && error != TCALL_E_RANGE &&
           error != TCALL_E_BUDGET && error != TCALL_E_USAGE;
}

static size_t tcall_machine_eats_(tcall_syntax_ *syntax, const char *bytes,
                                  size_t len)
{
    tcall_machine *machine = (tcall_machine *)(void *)syntax;
    size_t before = machine->at;
    tcall_machine_feed(machine, bytes, len);
    return machine->at - before;
}

/* Reads a text as it was meant, with a machine that has just begun. error, at:
 * what the strict reading ended with. strict: nothing may be rewritten, but
 * this reading knows better what is wrong. */
TCALL_SHARED_ int tcall_read_meant_(tcall_machine *machine, tcall_str text,
                                    int error, size_t at, bool strict,
                                    uint32_t *fixes)
{
    tcall_lenient_result_ result;
    result.fixes = 0;
    result.at = at;
    result.error = error;
    tcall_lenient_read_(&result, text, &machine->syntax, tcall_machine_eats_);
    machine->at = result.at;
    if (result.error == TCALL_OK && strict)
        machine->at = at;
    if (result.error == TCALL_OK && !strict) {
        *fixes = result.fixes;
        return tcall_machine_end(machine);
    }
    machine->syntax.error = result.error < 0 ? result.error : error;
    return tcall_machine_end(machine);
}

int tcall_read_arguments(tcall_machine *machine, const tcall_machine_desc *desc,
                         tcall_str text, bool strict, uint32_t *fixes)
{
    int error;
    size_t at;
    *fixes = 0;
    error = tcall_machine_read_(machine, desc, text);
    if (!tcall_is_slip_(error))
        return error;
    at = machine->at;
    tcall_machine_init(machine, desc);
    return tcall_read_meant_(machine, text, error, at, strict, fixes);
}
