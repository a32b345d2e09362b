#pragma once
#include "lenient.h"
#include "tree.c"

/* ==========================================================================
 * >>lenient
 *
 * Lenient reading has no grammar of its own: what it writes is fed to a
 * scanner, whose state says what must come next and which refuses whatever
 * would not be JSON. So what comes out is JSON, or it is an error.
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
    const char *start, *at, *end; /* the text, and how far it is read */
    int next;                     /* the byte that follows; -1: the end */
    bool inside; /* it is the inside of a string, and is written decoded */
    uint32_t fixes;
    int error;
    size_t where; /* offset of the error, else of the first fix */
    char *out;
    size_t cap, len; /* len counts what does not fit, too */
    tcall_scan scan; /* of what is written */
} tcall_lenient_;

static void tcall_lenient_open_(tcall_lenient_ *text, tcall_str bytes)
{
    text->start = bytes.ptr ? bytes.ptr : "";
    text->end = text->start + bytes.len;
    text->out = NULL;
    text->cap = text->len = 0;
    text->fixes = 0;
    text->where = 0;
    text->error = TCALL_OK;
}

/* Whether the scanner saw one whole object: the bit of the outermost level
 * stays when it is closed. */
static bool tcall_scan_is_object_(tcall_scan *scan)
{
    return tcall_scan_end(scan) == TCALL_OK && scan->open[0] & 1;
}

#ifndef TOOLCALL_NO_LENIENT

/* ---- errors and fixes: both are noted at the place that is read ---- */

/* The first error stays. */
static void tcall_lenient_fail_(tcall_lenient_ *text, int error)
{
    if (text->error)
        return;
    text->where = (size_t)(text->at - text->start);
    text->error = error;
}

static void tcall_lenient_fix_(tcall_lenient_ *text, uint32_t fix)
{
    if (!text->fixes && !text->error)
        text->where = (size_t)(text->at - text->start);
    text->fixes |= fix;
}

/* ---- writing ---- */

/* Writes JSON text, and feeds it to the scanner. The inside of a string need
 * not be JSON, which is known only at its end: that is no error here. */
static void tcall_lenient_put_(tcall_lenient_ *text, const char *bytes,
                               size_t len)
{
    size_t before = text->scan.pos;
    if (tcall_scan_feed(&text->scan, bytes, len) < 0 && !text->inside) {
        tcall_lenient_fail_(text, text->scan.error);
        if (bytes == text->at)
            text->where += text->scan.pos - before;
    }
    if (text->len + len <= text->cap)
        memcpy(text->out + text->len, bytes, len);
    text->len += len;
}

static void tcall_lenient_put_char_(tcall_lenient_ *text, char c)
{
    tcall_lenient_put_(text, &c, 1);
}

/* Writes the next len bytes of the text as they are. */
static void tcall_lenient_copy_(tcall_lenient_ *text, size_t len)
{
    tcall_lenient_put_(text, text->at, len);
    text->at += len;
}

/* ---- looking ahead ---- */

static bool tcall_lenient_sees_bytes_(const tcall_lenient_ *text,
                                      tcall_str bytes)
{
    return (size_t)(text->end - text->at) >= bytes.len &&
           memcmp(text->at, bytes.ptr, bytes.len) == 0;
}

static bool tcall_lenient_sees_(const tcall_lenient_ *text, const char *word)
{
    return tcall_lenient_sees_bytes_(text, tcall_str_of(word));
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

/* Skips the first word of a list, which ends with NULL, that follows. */
static bool tcall_lenient_skip_any_(tcall_lenient_ *text,
                                    const char *const *words, uint32_t fix)
{
    for (; *words; words++)
        if (tcall_lenient_skip_(text, *words, fix))
            return true;
    return false;
}

/* ---- white space and comments ---- */

static const char *const tcall_lenient_spaces_[] = {
    "\xEF\xBB\xBF", /* byte order mark */
    "\xC2\xA0",     /* no-break space */
    "\xE2\x80\x80",
    "\xE2\x80\x81",
    "\xE2\x80\x82", /* quads to hair space */
    "\xE2\x80\x83",
    "\xE2\x80\x84",
    "\xE2\x80\x85",
    "\xE2\x80\x86",
    "\xE2\x80\x87",
    "\xE2\x80\x88",
    "\xE2\x80\x89",
    "\xE2\x80\x8A",
    "\xE2\x80\xA8",
    "\xE2\x80\xA9", /* line and paragraph separator */
    "\xE2\x80\xAF", /* narrow no-break space */
    "\xE2\x81\x9F", /* mathematical space */
    "\xE3\x80\x80", /* ideographic space */
    NULL};

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
        else if (tcall_lenient_skip_(text, "//", TCALL_FIX_COMMENT) ||
                 tcall_lenient_skip_(text, "#", TCALL_FIX_COMMENT))
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

/* Skips a special token of a chat template, <|name|>. */
static bool tcall_lenient_token_(tcall_lenient_ *text)
{
    size_t len = 2;
    if (!tcall_lenient_sees_(text, "<|"))
        return false;
    while (tcall_lenient_alpha_(tcall_lenient_ahead_(text, len)))
        len++;
    if (len == 2 || tcall_lenient_ahead_(text, len) != '|' ||
        tcall_lenient_ahead_(text, len + 1) != '>')
        return false;
    tcall_lenient_fix_(text, TCALL_FIX_TAG);
    text->at += len + 2;
    return true;
}

/* Skips a tag that a chat template put around the call. */
static bool tcall_lenient_tag_(tcall_lenient_ *text)
{
    static const char *const tags[] = {"<tool_call>",
                                       "</tool_call>",
                                       "<function_call>",
                                       "</function_call>",
                                       "<s>",
                                       "</s>",
                                       NULL};
    return tcall_lenient_token_(text) ||
           tcall_lenient_skip_any_(text, tags, TCALL_FIX_TAG);
}

/* Skips one end of a Markdown code block. */
static bool tcall_lenient_fence_(tcall_lenient_ *text)
{
    return tcall_lenient_skip_(text, "```", TCALL_FIX_FENCE);
}

/* Whether nothing is left but what may be around the value: where that is open,
 * it was cut. */
static bool tcall_lenient_is_cut_(tcall_lenient_ *text)
{
    const char *from = text->at;
    bool cut;
    do
        tcall_lenient_blank_(text);
    while (tcall_lenient_fence_(text) || tcall_lenient_tag_(text));
    cut = text->next < 0;
    text->at = from;
    tcall_lenient_blank_(text);
    return cut;
}

/* ---- strings ---- */

/* Returns the quote that closes the one that follows, or NULL. */
static const char *tcall_lenient_quote_(const tcall_lenient_ *text)
{
    static const struct {
        const char *open, *close;
    } quotes[] = {{"\"", "\""},
                  {"'", "'"},
                  {"\xE2\x80\x9C", "\xE2\x80\x9D"},
                  {"\xE2\x80\x98", "\xE2\x80\x99"}};
    size_t i;
    for (i = 0; i < sizeof quotes / sizeof *quotes; i++)
        if (tcall_lenient_sees_(text, quotes[i].open))
            return quotes[i].close;
    return NULL;
}

/* Writes a byte that JSON wants escaped and that came without. */
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
    if (text->inside)
        tcall_lenient_put_char_(text, c);
    else
        tcall_lenient_put_(text, escape, sizeof escape);
    text->at++;
}

/* Writes what a valid escape means; a pair of surrogates is two of them. */
static void tcall_lenient_decode_(tcall_lenient_ *text)
{
    const char *escape = text->at;
    char out[4];
    text->at += tcall_escape_len_(escape);
    tcall_lenient_put_(text, out, tcall_decode_(out, escape, text->at));
}

/* Returns the length of what can be copied at once: one byte or escape, and
 * after it all that is plain. */
static size_t tcall_lenient_plain_(const tcall_lenient_ *text, char quote)
{
    const char *at = text->at;
    at += *at == '\\' && at + 1 < text->end ? 2 : 1;
    while (at < text->end && *at != quote && *at != '"' && *at != '\\' &&
           (unsigned char)*at >= 0x20)
        at++;
    return (size_t)(at - text->at);
}

/* Reads the inside of a string up to its closing quote or the end. */
static void tcall_lenient_content_(tcall_lenient_ *text, const char *quote)
{
    while (text->at < text->end && !text->error &&
           !tcall_lenient_sees_(text, quote)) {
        if (tcall_lenient_sees_(text, "\\'")) {
            tcall_lenient_fix_(text, TCALL_FIX_APOSTROPHE);
            text->at++;
            tcall_lenient_copy_(text, 1);
        } else if (*text->at == '"' || (unsigned char)*text->at < 0x20) {
            tcall_lenient_escape_(text);
        } else if (text->inside && *text->at == '\\') {
            tcall_lenient_decode_(text);
        } else {
            tcall_lenient_copy_(text, tcall_lenient_plain_(text, *quote));
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
    if (!text->inside)
        tcall_lenient_put_char_(text, '"');
    text->at += strlen(quote);
    tcall_lenient_content_(text, quote);
    closed = text->at;
    if (!tcall_lenient_skip_(text, quote, 0))
        tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
    if (!text->inside)
        tcall_lenient_put_char_(text, '"');
    tcall_lenient_blank_(text);
    if (!tcall_lenient_ends_(text, ",:]}") &&
        !(text->scan.depth ? tcall_lenient_is_cut_(text)
                           : tcall_lenient_sees_(text, "```"))) {
        text->at = closed;
        tcall_lenient_fail_(text, TCALL_E_UNESCAPED_QUOTE);
    }
}

/* ---- numbers, words, keys ---- */

/* Writes the 0 that is missing before a point or after it, if it is, and
 * returns the state of the number. */
static uint8_t tcall_lenient_zero_(tcall_lenient_ *text, uint8_t state)
{
    char c = tcall_lenient_ahead_(text, 0);
    bool before = c == '.' && state < TCALL_N_ZERO_ &&
                  tcall_is_digit_(tcall_lenient_ahead_(text, 1));
    bool after = state == TCALL_N_POINT_ && !tcall_is_digit_(c);
    if (!before && !after)
        return state;
    tcall_lenient_fix_(text, TCALL_FIX_NUMBER);
    tcall_lenient_put_char_(text, '0');
    return before ? TCALL_N_ZERO_ : TCALL_N_FRACTION_;
}

/* Reads a number, in JSON's form or as +5, .5 or 5. write it. */
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
        tcall_scan_feed(&text->scan, " ", 1);
        tcall_lenient_blank_(text);
        if (text->at > to || tcall_lenient_ends_(text, ",:]}/"))
            return;
    }
    tcall_lenient_skip_(text, ".", 0);
    cut = text->scan.depth && tcall_lenient_is_cut_(text);
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
    static const struct {
        const char *word, *json;
        uint32_t fix;
    } literals[] = {
        {"true", "true", 0},
        {"false", "false", 0},
        {"null", "null", 0},
        {"True", "true", TCALL_FIX_PYTHON},
        {"False", "false", TCALL_FIX_PYTHON},
        {"None", "null", TCALL_FIX_PYTHON},
    };
    const char *from = text->at, *json = NULL;
    bool cut = false;
    size_t i, len = 0;
    while (tcall_lenient_alpha_(tcall_lenient_ahead_(text, len)))
        len++;
    for (i = 0; !json && i < sizeof literals / sizeof *literals; i++) {
        const char *word = literals[i].word;
        if (tcall_lenient_skip_(text, word, literals[i].fix))
            json = literals[i].json;
        cut = cut || (len < strlen(word) && memcmp(word, from, len) == 0);
    }
    if (!json || tcall_lenient_letter_(text)) {
        text->at = from + len;
        cut = cut && tcall_lenient_is_cut_(text);
        text->at = cut ? text->end : from;
        tcall_lenient_fail_(text, cut ? TCALL_E_TRUNCATED : TCALL_E_BARE_WORD);
        return;
    }
    if (*json == 'n' && text->scan.depth == 0) {
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
    tcall_lenient_put_char_(text, '"');
    tcall_lenient_copy_(text, len);
    tcall_lenient_put_char_(text, '"');
}

/* Reads a comma, which is written only when no closing bracket follows it. */
static void tcall_lenient_comma_(tcall_lenient_ *text)
{
    text->at++;
    tcall_lenient_blank_(text);
    if (text->next == (text->scan.object ? '}' : ']'))
        tcall_lenient_fix_(text, TCALL_FIX_TRAILING_COMMA);
    else
        tcall_lenient_put_char_(text, ',');
}

/* ---- the value and what may be around it ---- */

/* Reads one piece of the value. What needs no rewriting is left to the scanner,
 * right or wrong. */
static void tcall_lenient_piece_(tcall_lenient_ *text)
{
    uint8_t state = text->scan.state;
    bool value = state == TCALL_S_VALUE_ || state == TCALL_S_FIRST_;
    bool key = state == TCALL_S_KEY_ || state == TCALL_S_FIRST_KEY_;
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
    else if (state == TCALL_S_NEXT_ && text->next == ',')
        tcall_lenient_comma_(text);
    else
        tcall_lenient_copy_(text, 1);
}

/* Skips what may come before the value: tags, and one fence with its
 * language. */
static void tcall_lenient_before_(tcall_lenient_ *text)
{
    do {
        tcall_lenient_blank_(text);
        if (!(text->fixes & TCALL_FIX_FENCE) && tcall_lenient_fence_(text)) {
            while (tcall_lenient_letter_(text))
                text->at++;
            tcall_lenient_blank_(text);
        }
    } while (tcall_lenient_tag_(text));
}

/* Skips what may come after the value: the same value again, brackets that
 * close nothing, a comma, tags and a fence. */
static void tcall_lenient_after_(tcall_lenient_ *text, tcall_str value)
{
    bool repeats = true; /* only directly after the value */
    for (;;) {
        tcall_lenient_blank_(text);
        if (text->next < 0)
            return;
        if (repeats && text->next == '{' &&
            tcall_lenient_sees_bytes_(text, value)) {
            tcall_lenient_fix_(text, TCALL_FIX_REPEATED);
            text->at += value.len;
        } else if (tcall_lenient_ends_(text, "]},")) {
            tcall_lenient_fix_(text, text->next == ','
                                         ? TCALL_FIX_PUNCTUATION
                                         : TCALL_FIX_EXTRA_CLOSER);
            text->at++;
            repeats = false;
        } else if (tcall_lenient_tag_(text)) {
            repeats = false;
        } else if (!tcall_lenient_fence_(text)) {
            break;
        }
    }
    tcall_lenient_fail_(
        text, repeats && (tcall_lenient_ends_(text, "{[-0123456789") ||
                          tcall_lenient_quote_(text))
                  ? TCALL_E_MULTIPLE
                  : TCALL_E_TRAILING);
}

/* Begins to write once more, from a place in the text. */
static void tcall_lenient_restart_(tcall_lenient_ *text, const char *from)
{
    text->at = from;
    text->len = 0;
    text->error = TCALL_OK;
    tcall_scan_init(&text->scan, NULL, NULL, NULL);
}

/* Writes the inside of the string at from, decoded. quote closes the string;
 * without one, all the rest of the text is the inside. */
static void tcall_lenient_inside_(tcall_lenient_ *text, const char *from,
                                  const char *quote)
{
    text->inside = true;
    tcall_lenient_restart_(text, from);
    if (quote)
        tcall_lenient_string_(text, quote);
    else
        tcall_lenient_content_(text, "\"");
    text->at = from;
}

/* Whether what was written ends with a bracket or a string still open. */
static bool tcall_lenient_unclosed_(tcall_lenient_ *text)
{
    return tcall_scan_end(&text->scan) == TCALL_E_TRUNCATED &&
           (text->scan.depth || !text->inside);
}

/* Reads {\"a\":1}, an object with every quote escaped, as if inside a string.
 * It must be a valid inside as a whole, and an object; else the first error
 * stays. */
static void tcall_lenient_escaped_(tcall_lenient_ *text, const char *from)
{
    int error = text->error;
    size_t where = text->where;
    tcall_lenient_restart_(text, from);
    tcall_lenient_put_char_(text, '"');
    tcall_lenient_content_(text, "\"");
    tcall_lenient_put_char_(text, '"');
    if (!text->error && text->at == text->end) {
        bool whole = tcall_scan_done_(&text->scan);
        if (whole)
            tcall_lenient_inside_(text, from, NULL);
        if (whole && tcall_scan_is_object_(&text->scan)) {
            tcall_lenient_fix_(text, TCALL_FIX_ESCAPED_OBJECT);
            return;
        }
        if (tcall_lenient_unclosed_(text))
            error = TCALL_E_TRUNCATED;
    }
    text->error = error;
    text->where = where;
}

/* Reads the value and what is after it. A string is read again: its inside is
 * meant. */
static void tcall_lenient_value_(tcall_lenient_ *text)
{
    const char *from = text->at, *quote = tcall_lenient_quote_(text), *to;
    do {
        tcall_lenient_blank_(text);
        if (text->scan.depth && tcall_lenient_is_cut_(text))
            tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
        else
            tcall_lenient_piece_(text);
        to = text->at;
    } while (!text->error && !tcall_scan_done_(&text->scan));
    if (text->error == TCALL_E_BAD_KEY && text->scan.tokens == 1 &&
        text->start[text->where] == '\\') {
        tcall_lenient_escaped_(text, from);
        return;
    }
    if (!text->error)
        tcall_lenient_after_(text, tcall_slice_(from, (size_t)(to - from)));
    if (!text->error && quote)
        tcall_lenient_inside_(text, from, quote);
    text->at = from;
    if (!text->error && !tcall_scan_is_object_(&text->scan))
        tcall_lenient_fail_(text, tcall_lenient_unclosed_(text)
                                      ? TCALL_E_TRUNCATED
                                      : TCALL_E_NOT_OBJECT);
    else if (text->inside)
        tcall_lenient_fix_(text, TCALL_FIX_DOUBLE_ENCODED);
}

/* Reads the text: an error, or an object of text->len bytes is written. */
static void tcall_lenient_rewrite_(tcall_lenient_ *text)
{
    text->where = 0;
    text->fixes = 0;
    text->inside = false;
    tcall_lenient_restart_(text, text->start);
    tcall_lenient_before_(text);
    if (text->next >= 0 || text->fixes & ~(uint32_t)TCALL_FIX_SPACE) {
        tcall_lenient_value_(text);
    } else {
        tcall_lenient_fix_(text, TCALL_FIX_EMPTY);
        tcall_lenient_put_(text, "{}", 2);
    }
}

#else

/* What is wrong stays wrong. */
static void tcall_lenient_rewrite_(tcall_lenient_ *text)
{
    (void)text;
}

#endif /* TOOLCALL_NO_LENIENT */

/* ---- both readings ---- */

/* Finds out how many bytes and tokens the text makes. The tokens that fit are
 * made if the text is strictly valid. */
static int tcall_arguments_measure_(tcall_lenient_ *text, bool strict,
                                    tcall_tok_ *tok, size_t cap)
{
    tcall_str whole =
        tcall_slice_(text->start, (size_t)(text->end - text->start));
    int error = tcall_scan_tokenize_(&text->scan, whole, tok, cap);
    size_t where = text->scan.pos;
    text->len = whole.len;
    if (tcall_scan_is_object_(&text->scan))
        return TCALL_OK;
    if (error == TCALL_OK) {
        error = TCALL_E_NOT_OBJECT;
        where = 0;
    }
    text->error = error;
    text->where = where;
    tcall_lenient_rewrite_(text);
    if (!strict || text->error)
        return text->error;
    text->where = where;
    return error;
}

/* Writes the JSON text to out, after the tokens, and completes them. */
static int tcall_arguments_write_(tcall_lenient_ *text, char *out,
                                  tcall_tok_ *tok, size_t count)
{
    text->out = out;
    text->cap = text->len;
    if (text->fixes) {
        tcall_lenient_rewrite_(text);
        tcall_scan_tokenize_(&text->scan, tcall_slice_(out, text->len), tok,
                             count);
    } else {
        memcpy(out, text->start, text->len);
    }
    return tcall_tree_finish_(out, tok, (int)count, true, &text->where);
}

int tcall_parse_arguments(tcall_arguments *out, tcall_str text, bool strict,
                          void *mem, size_t size)
{
    tcall_lenient_ reading;
    size_t skew = (size_t)(0 - (uintptr_t)mem) % sizeof(int), count;
    size_t cap = mem && size > skew ? (size - skew) / sizeof(tcall_tok_) : 0;
    tcall_tok_ *tok = mem ? (tcall_tok_ *)(void *)((char *)mem + skew) : NULL;
    int error;
    memset(out, 0, sizeof *out);
    tcall_lenient_open_(&reading, text);
    error = tcall_arguments_measure_(&reading, strict, tok, cap);
    count = reading.scan.tokens;
    if (error == TCALL_OK &&
        (reading.len >= INT_MAX || count > INT_MAX / sizeof *tok))
        error = TCALL_E_LIMIT;
    if (error == TCALL_OK) {
        out->fixes = reading.fixes;
        out->used = skew + count * sizeof *tok + reading.len + 1;
        error = out->used > size ? TCALL_E_MEMORY : TCALL_OK;
    }
    if (error == TCALL_OK) {
        char *json = (char *)(tok + count);
        error = tcall_arguments_write_(&reading, json, tok, count);
        if (error == TCALL_OK)
            out->root = tcall_tree_cursor_(json, tok);
    }
    out->at = reading.where;
    return error < 0 ? error : (int)count;
}
