#pragma once
#include "lenient.h"
#include "json.c"

/* ==========================================================================
 * >>lenient
 */

/* Tolerant reading. It has no grammar of its own: what it writes is fed to a
 * scanner, whose state says what must come next and which refuses what would
 * not be JSON. */

/* All in one string, as the errors are. */
static const char tcall_fixes_[] =
#define TCALL_X_(name, text) text "\0"
    TCALL_FIXES(TCALL_X_)
#undef TCALL_X_
    ;

const char *tcall_fix_name(int i)
{
    const char *p = tcall_fixes_;
    if (i < 0 || i >= TCALL_FIX_COUNT)
        return NULL;
    while (i-- > 0)
        p += strlen(p) + 1;
    return p;
}

typedef struct tcall_mend_ {
    const char *start, *p, *end; /* the text, and how far it is read */
    int c;                       /* the byte at p, -1 at the end */
    bool inner; /* the content of a valid string is written, decoded */
    char *out;
    size_t cap, len;
    size_t at; /* of the error, else of the first fix */
    uint32_t fixes;
    int error;
    tcall_scan scan; /* of what is written */
} tcall_mend_;

/* Whether the scanner saw one whole object: the bit of the outermost level
 * stays when it is closed. */
static bool tcall_scan_is_object_(tcall_scan *s)
{
    return tcall_scan_end(s) == TCALL_OK && s->open[0] & 1;
}

#ifdef TOOLCALL_NO_MEND

/* What is wrong stays wrong. */
static void tcall_mend_run_(tcall_mend_ *m)
{
    (void)m;
}

#else

/* Errors and fixes stand where m->p is. */
static void tcall_mend_fail_(tcall_mend_ *m, int error)
{
    if (!m->error)
        m->at = (size_t)(m->p - m->start);
    if (!m->error)
        m->error = error;
}

static void tcall_mend_fix_(tcall_mend_ *m, uint32_t fix)
{
    if (!m->fixes && !m->error)
        m->at = (size_t)(m->p - m->start);
    m->fixes |= fix;
}

/* A piece of JSON text goes out, and through the scanner. Of the content of a
 * string it is not known beforehand that it is JSON: that is no error here. */
static void tcall_mend_put_(tcall_mend_ *m, const char *p, size_t n)
{
    size_t from = m->scan.pos;
    if (tcall_scan_feed(&m->scan, p, n) < 0 && !m->inner) {
        tcall_mend_fail_(m, m->scan.error);
        if (p == m->p)
            m->at += m->scan.pos - from;
    }
    if (m->len + n <= m->cap)
        memcpy(m->out + m->len, p, n);
    m->len += n;
}

static void tcall_mend_char_(tcall_mend_ *m, char c)
{
    tcall_mend_put_(m, &c, 1);
}

/* The next n bytes as they are. */
static void tcall_mend_copy_(tcall_mend_ *m, size_t n)
{
    tcall_mend_put_(m, m->p, n);
    m->p += n;
}

static bool tcall_mend_same_(const tcall_mend_ *m, const char *p, size_t n)
{
    return (size_t)(m->end - m->p) >= n && memcmp(m->p, p, n) == 0;
}

static bool tcall_mend_at_(const tcall_mend_ *m, const char *text)
{
    return tcall_mend_same_(m, text, strlen(text));
}

/* Steps over the first word of list that stands here, which is the fix named;
 * its index, or -1. Every word of the list ends with NUL, the list with one
 * more. */
static int tcall_mend_skip_(tcall_mend_ *m, const char *list, uint32_t fix)
{
    int i;
    for (i = 0; *list; i++, list += strlen(list) + 1) {
        if (tcall_mend_at_(m, list)) {
            tcall_mend_fix_(m, fix);
            m->p += strlen(list);
            return i;
        }
    }
    return -1;
}

/* Behind the start of a comment: over its end. */
static void tcall_mend_comment_(tcall_mend_ *m, const char *end)
{
    for (; tcall_mend_skip_(m, end, 0) < 0; m->p++)
        if (m->p == m->end) {
            if (*end == '*')
                tcall_mend_fail_(m, TCALL_E_TRUNCATED);
            return;
        }
}

/* Skips white space and comments. m->c becomes the byte that follows, or -1 at
 * the end. */
static void tcall_mend_blank_(tcall_mend_ *m)
{
    /* byte order mark, no-break, quads to hair space, line and paragraph
     * separator, narrow no-break, mathematical, ideographic */
    static const char spaces[] =
        "\xEF\xBB\xBF\0\xC2\xA0\0\xE2\x80\x80\0\xE2\x80\x81\0\xE2\x80\x82\0"
        "\xE2\x80\x83\0\xE2\x80\x84\0\xE2\x80\x85\0\xE2\x80\x86\0\xE2\x80\x87\0"
        "\xE2\x80\x88\0\xE2\x80\x89\0\xE2\x80\x8A\0\xE2\x80\xA8\0\xE2\x80\xA9\0"
        "\xE2\x80\xAF\0\xE2\x81\x9F\0\xE3\x80\x80\0";
    for (;;) {
        int comment;
        m->c = m->p == m->end ? -1 : (unsigned char)*m->p;
        if (m->c >= 0 && tcall_is_space_((char)m->c)) {
            m->p++;
            continue;
        }
        comment = tcall_mend_skip_(m, "#\0//\0/*\0", TCALL_FIX_COMMENT);
        if (comment >= 0)
            tcall_mend_comment_(m, comment < 2 ? "\n\0" : "*/\0");
        else if (m->c < 0x80 ||
                 tcall_mend_skip_(m, spaces, TCALL_FIX_SPACE) < 0)
            return;
    }
}

/* Whether one of the characters in set follows, or the end. */
static bool tcall_mend_ends_(const tcall_mend_ *m, const char *set)
{
    return m->c < 0 || (m->c && strchr(set, m->c));
}

/* The quote that closes the one that follows; NULL: there is none. */
static const char *tcall_mend_quote_(const tcall_mend_ *m)
{
    static const char quotes[][2][4] = {
        {"\"", "\""},
        {"'", "'"},
        {"\xE2\x80\x9C", "\xE2\x80\x9D"},
        {"\xE2\x80\x98", "\xE2\x80\x99"},
    };
    int i;
    for (i = 0; i < 4; i++)
        if (tcall_mend_at_(m, quotes[i][0]))
            return quotes[i][1];
    return NULL;
}

/* A byte that JSON wants escaped and that came without. */
static void tcall_mend_escape_(tcall_mend_ *m)
{
    char out[6] = {'\\', 'u', '0', '0', '0', '0'}, c = *m->p;
    if (c != '"')
        tcall_mend_fix_(m, TCALL_FIX_CONTROL);
    if (!c)
        tcall_mend_fail_(m, TCALL_E_NUL);
    out[4] = (char)('0' + (c >> 4));
    out[5] = "0123456789ABCDEF"[c & 15];
    if (m->inner)
        tcall_mend_char_(m, c);
    else
        tcall_mend_put_(m, out, 6);
    m->p++;
}

/* A valid escape, decoded; two of them where they are surrogates. */
static void tcall_mend_decode_(tcall_mend_ *m)
{
    const char *p = m->p;
    char out[4];
    m->p += p[1] == 'u' ? 6 : 2;
    if (p[1] == 'u' && (p[2] | 0x20) == 'd' && tcall_hex_(p[3]) >= 8)
        m->p += 6;
    tcall_mend_put_(m, out, tcall_decode_(out, p, m->p));
}

/* The content of a string up to its closing quote or the end. */
static void tcall_mend_content_(tcall_mend_ *m, const char *quote)
{
    while (m->p < m->end && !m->error && !tcall_mend_at_(m, quote)) {
        if (tcall_mend_at_(m, "\\'")) {
            tcall_mend_fix_(m, TCALL_FIX_APOSTROPHE);
            m->p++;
            tcall_mend_copy_(m, 1);
        } else if (*m->p == '"' || (unsigned char)*m->p < 0x20) {
            tcall_mend_escape_(m);
        } else if (m->inner && *m->p == '\\') {
            tcall_mend_decode_(m);
        } else {
            /* one byte or an escape, then all that is plain */
            const char *run = m->p;
            run += *run == '\\' && run + 1 < m->end ? 2 : 1;
            while (!TCALL_LEAN_ && run < m->end && *run != *quote &&
                   *run != '"' && *run != '\\' && (unsigned char)*run >= 0x20)
                run++;
            tcall_mend_copy_(m, (size_t)(run - m->p));
        }
    }
}

/* A whole string, and what follows it: only a comma, a colon, a bracket or the
 * end can. Anything else means that the quote did not close it. */
static void tcall_mend_string_(tcall_mend_ *m, const char *quote)
{
    size_t n = strlen(quote);
    const char *closed;
    if (*quote == '\'')
        tcall_mend_fix_(m, TCALL_FIX_SINGLE_QUOTE);
    else if (*quote != '"')
        tcall_mend_fix_(m, TCALL_FIX_SMART_QUOTE);
    if (!m->inner)
        tcall_mend_char_(m, '"');
    m->p += n;
    tcall_mend_content_(m, quote);
    closed = m->p;
    if (tcall_mend_at_(m, quote))
        m->p += n;
    else
        tcall_mend_fail_(m, TCALL_E_TRUNCATED);
    if (!m->inner)
        tcall_mend_char_(m, '"');
    tcall_mend_blank_(m);
    if (!tcall_mend_ends_(m, ",:]}") &&
        !(m->scan.depth == 0 && tcall_mend_at_(m, "```"))) {
        m->p = closed;
        tcall_mend_fail_(m, TCALL_E_UNESCAPED_QUOTE);
    }
}

/* The byte n behind, 0 beyond the end. */
static char tcall_mend_ahead_(const tcall_mend_ *m, size_t n)
{
    return (size_t)(m->end - m->p) > n ? m->p[n] : (char)0;
}

/* A number, in JSON's form or as +5, .5 or 5. would have it. */
static void tcall_mend_number_(tcall_mend_ *m)
{
    const char *from = m->p, *to;
    uint8_t state = 1, next;
    if (tcall_mend_skip_(m, "+\0", TCALL_FIX_NUMBER) == 0)
        state = 2;
    for (;;) {
        char c = tcall_mend_ahead_(m, 0);
        /* digits are missing before the point or behind it */
        bool before = c == '.' && state < 3;
        if (before ? tcall_is_digit_(tcall_mend_ahead_(m, 1))
                   : state == 5 && !tcall_is_digit_(c)) {
            tcall_mend_fix_(m, TCALL_FIX_NUMBER);
            tcall_mend_char_(m, '0');
            state = before ? 3 : 6;
        }
        next = tcall_number_next_(state, c);
        if (!next)
            break;
        tcall_mend_copy_(m, 1);
        state = next;
    }
    to = m->p;
    if (tcall_number_ends_(state)) {
        tcall_scan_feed(&m->scan, " ", 1);
        tcall_mend_blank_(m);
        if (m->p > to || tcall_mend_ends_(m, ",:]}/"))
            return;
    }
    m->p = from;
    tcall_mend_fail_(m, TCALL_E_BAD_VALUE);
}

static bool tcall_mend_alpha_(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

/* Whether a word can begin or go on here. Beyond ASCII most characters are
 * letters; those below are signs, by their first bytes. */
static bool tcall_mend_letter_(const tcall_mend_ *m)
{
    char c = tcall_mend_ahead_(m, 0), d = tcall_mend_ahead_(m, 1);
    unsigned lead = (unsigned)(unsigned char)c << 8 | (unsigned char)d;
    if (lead < 0x8000)
        return tcall_mend_alpha_(c) || tcall_is_digit_(c);
    return lead >= 0xC300 && lead < 0xEF00 && lead >> 8 != 0xE2 &&
           lead != 0xE380 && lead != 0xE1A0;
}

/* true, false, null and what Python makes of them. null for all arguments
 * means that there are none. */
static void tcall_mend_literal_(tcall_mend_ *m)
{
    const char *from = m->p, *word = "{}";
    int i = tcall_mend_skip_(m, tcall_literals_, 0);
    if (i < 0)
        i = tcall_mend_skip_(m, "True\0False\0None\0", TCALL_FIX_PYTHON);
    if (i < 0 || tcall_mend_letter_(m)) {
        m->p = from;
        tcall_mend_fail_(m, TCALL_E_BARE_WORD);
        return;
    }
    if (i == 2 && m->scan.depth == 0)
        tcall_mend_fix_(m, TCALL_FIX_NULL);
    else
        word = tcall_literals_ + (i < 2 ? 5 * i : 11);
    tcall_mend_put_(m, word, strlen(word));
}

/* A key without quotes. */
static void tcall_mend_key_(tcall_mend_ *m)
{
    size_t n = 1;
    char c;
    while (c = tcall_mend_ahead_(m, n),
           tcall_mend_alpha_(c) || tcall_is_digit_(c) || c == '$')
        n++;
    tcall_mend_fix_(m, TCALL_FIX_UNQUOTED_KEY);
    tcall_mend_char_(m, '"');
    tcall_mend_copy_(m, n);
    tcall_mend_char_(m, '"');
}

/* A comma is written only when it is known that no bracket follows it. */
static void tcall_mend_comma_(tcall_mend_ *m)
{
    m->p++;
    tcall_mend_blank_(m);
    if (m->c == (m->scan.object ? '}' : ']'))
        tcall_mend_fix_(m, TCALL_FIX_TRAILING_COMMA);
    else
        tcall_mend_char_(m, ',');
}

/* One piece. What needs no mending is left to the scanner, right or wrong. */
static void tcall_mend_step_(tcall_mend_ *m)
{
    uint8_t state = m->scan.state;
    bool value = state == TCALL_S_VALUE_ || state == TCALL_S_FIRST_;
    bool key = state == TCALL_S_KEY_ || state == TCALL_S_FIRST_KEY_;
    const char *quote = tcall_mend_quote_(m);
    if (m->c < 0)
        tcall_mend_fail_(m, TCALL_E_TRUNCATED);
    else if (quote)
        tcall_mend_string_(m, quote);
    else if (value && !m->c)
        tcall_mend_fail_(m, TCALL_E_BAD_VALUE);
    else if (value && strchr("+-.0123456789", m->c))
        tcall_mend_number_(m);
    else if (value && tcall_mend_letter_(m))
        tcall_mend_literal_(m);
    else if (key && (m->c == '$' || tcall_mend_alpha_((char)m->c)))
        tcall_mend_key_(m);
    else if (state == TCALL_S_NEXT_ && m->c == ',')
        tcall_mend_comma_(m);
    else
        tcall_mend_copy_(m, 1);
}

/* Steps over a tag that a chat template put around the call. */
static bool tcall_mend_tag_(tcall_mend_ *m)
{
    static const char tags[] = "<tool_call>\0</tool_call>\0<function_call>\0"
                               "</function_call>\0<s>\0</s>\0";
    size_t n = 2;
    if (tcall_mend_at_(m, "<|")) {
        while (tcall_mend_alpha_(tcall_mend_ahead_(m, n)))
            n++;
        if (n > 2 && tcall_mend_ahead_(m, n) == '|' &&
            tcall_mend_ahead_(m, n + 1) == '>') {
            tcall_mend_fix_(m, TCALL_FIX_TAG);
            m->p += n + 2;
            return true;
        }
    }
    return tcall_mend_skip_(m, tags, TCALL_FIX_TAG) >= 0;
}

static bool tcall_mend_fence_(tcall_mend_ *m)
{
    return tcall_mend_skip_(m, "```\0", TCALL_FIX_FENCE) == 0;
}

/* What may stand before the root: tags, and one fence with its language. */
static void tcall_mend_lead_(tcall_mend_ *m)
{
    do {
        tcall_mend_blank_(m);
        if (!(m->fixes & TCALL_FIX_FENCE) && tcall_mend_fence_(m)) {
            while (tcall_mend_letter_(m))
                m->p++;
            tcall_mend_blank_(m);
        }
    } while (tcall_mend_tag_(m));
}

/* What may stand behind the root: the root itself, once more and the same,
 * and what closes nothing. */
static void tcall_mend_tail_(tcall_mend_ *m, tcall_str root)
{
    bool apart = false;
    for (;;) {
        tcall_mend_blank_(m);
        if (m->c < 0)
            return;
        if (!apart && m->c == '{' && tcall_mend_same_(m, root.ptr, root.len)) {
            tcall_mend_fix_(m, TCALL_FIX_REPEATED);
            m->p += root.len;
        } else if (tcall_mend_ends_(m, "]},")) {
            tcall_mend_fix_(m, m->c == ',' ? TCALL_FIX_PUNCTUATION
                                           : TCALL_FIX_EXTRA_CLOSER);
            m->p++;
            apart = true;
        } else if (tcall_mend_tag_(m)) {
            apart = true;
        } else if (!tcall_mend_fence_(m)) {
            break;
        }
    }
    tcall_mend_fail_(m, !apart && (tcall_mend_ends_(m, "{[-0123456789") ||
                                   tcall_mend_quote_(m))
                            ? TCALL_E_MULTIPLE
                            : TCALL_E_TRAILING);
}

/* Begins to write once more, from a place in the text on. */
static void tcall_mend_again_(tcall_mend_ *m, const char *from)
{
    m->p = from;
    m->len = 0;
    m->error = TCALL_OK;
    tcall_scan_init(&m->scan, NULL, NULL, NULL);
}

/* {\"a\":1}, an object with every quote escaped, as if it stood inside a
 * string: taken only if it is one as a whole, else the error stays. */
static void tcall_mend_escaped_(tcall_mend_ *m, const char *from)
{
    int error = m->error;
    size_t at = m->at;
    tcall_mend_again_(m, from);
    tcall_mend_char_(m, '"');
    tcall_mend_content_(m, "\"");
    tcall_mend_char_(m, '"');
    if (!m->error && m->p == m->end && tcall_scan_done(&m->scan)) {
        m->inner = true;
        tcall_mend_again_(m, from);
        tcall_mend_content_(m, "\"");
        m->p = from;
        if (tcall_scan_is_object_(&m->scan)) {
            tcall_mend_fix_(m, TCALL_FIX_ESCAPED_OBJECT);
            return;
        }
    }
    m->error = error;
    m->at = at;
}

/* Reads one value between what may stand around it. */
static void tcall_mend_root_(tcall_mend_ *m)
{
    const char *from = m->p, *to, *quote = tcall_mend_quote_(m);
    do {
        tcall_mend_blank_(m);
        tcall_mend_step_(m);
        to = m->p;
    } while (!m->error && !tcall_scan_done(&m->scan));
    if (m->error == TCALL_E_BAD_KEY && m->scan.tokens == 1 &&
        m->start[m->at] == '\\') {
        tcall_mend_escaped_(m, from);
        return;
    }
    if (!m->error)
        tcall_mend_tail_(m, tcall_slice_(from, (size_t)(to - from)));
    if (!m->error && quote) {
        m->inner = true;
        tcall_mend_again_(m, from);
        tcall_mend_string_(m, quote);
    }
    m->p = from;
    if (!m->error && !tcall_scan_is_object_(&m->scan))
        tcall_mend_fail_(m, TCALL_E_NOT_OBJECT);
    else if (m->inner)
        tcall_mend_fix_(m, TCALL_FIX_DOUBLE_ENCODED);
}

/* Reads the text: m->error, or an object of m->len bytes is written. */
static void tcall_mend_run_(tcall_mend_ *m)
{
    m->at = 0;
    m->fixes = 0;
    m->inner = false;
    tcall_mend_again_(m, m->start);
    tcall_mend_lead_(m);
    if (m->c >= 0 || m->fixes & ~(uint32_t)TCALL_FIX_SPACE) {
        tcall_mend_root_(m);
    } else {
        tcall_mend_fix_(m, TCALL_FIX_EMPTY);
        tcall_mend_put_(m, "{}", 2);
    }
}

#endif /* TOOLCALL_NO_MEND */

static void tcall_mend_open_(tcall_mend_ *m, tcall_str text)
{
    m->start = text.ptr ? text.ptr : "";
    m->end = m->start + text.len;
    m->out = NULL;
    m->cap = 0;
}

#ifndef TOOLCALL_NO_MEND
int tcall_args_mend(tcall_str text, char *out, size_t cap, tcall_mend *report)
{
    tcall_mend_ m;
    tcall_mend_open_(&m, text);
    m.out = out;
    m.cap = cap;
    tcall_mend_run_(&m);
    report->fixes = m.fixes;
    report->at = m.at;
    report->need = m.len;
    report->tokens = m.scan.tokens;
    if (m.error)
        return m.error;
    if (m.len > INT_MAX)
        return TCALL_E_LIMIT;
    return out && m.len > cap ? TCALL_E_MEMORY : (int)m.len;
}
#endif

/* Strictly first: m->len bytes of JSON, m->scan.tokens tokens, of which those
 * that fit are made if the text needs no mending. */
static int tcall_args_measure_(tcall_mend_ *m, bool strict, tcall_tok *tok,
                               size_t cap)
{
    int error;
    size_t at;
    m->len = (size_t)(m->end - m->start);
    m->fixes = 0;
    m->at = 0;
    tcall_scan_init(&m->scan, NULL, NULL, NULL);
    tcall_scan_tokens(&m->scan, m->start, tok, cap);
    tcall_scan_feed(&m->scan, m->start, m->len);
    if (tcall_scan_is_object_(&m->scan))
        return TCALL_OK;
    error = m->scan.error ? m->scan.error : TCALL_E_NOT_OBJECT;
    at = m->scan.error ? m->scan.pos : 0;
    m->error = error;
    m->at = at;
    tcall_mend_run_(m);
    if (!strict || m->error)
        return m->error;
    m->at = at;
    return error;
}

int tcall_args_read(tcall_args *out, tcall_str text, bool strict, void *mem,
                    size_t size)
{
    tcall_mend_ m;
    size_t pad = (size_t)(0 - (uintptr_t)mem) % sizeof(int);
    size_t cap = mem && size > pad ? (size - pad) / sizeof(tcall_tok) : 0;
    size_t count;
    tcall_tok *tok = mem ? (tcall_tok *)(void *)((char *)mem + pad) : NULL;
    int r;
    memset(out, 0, sizeof *out);
    tcall_mend_open_(&m, text);
    r = tcall_args_measure_(&m, strict, tok, cap);
    count = m.scan.tokens;
    if (r == TCALL_OK && (m.len >= INT_MAX || count > INT_MAX / sizeof *tok))
        r = TCALL_E_LIMIT;
    if (r == TCALL_OK) {
        out->fixes = m.fixes;
        out->used = pad + count * sizeof *tok + m.len + 1;
        r = out->used > size ? TCALL_E_MEMORY : TCALL_OK;
    }
    if (r == TCALL_OK) {
        m.out = (char *)(tok + count);
        m.cap = m.len;
        if (m.fixes) {
            tcall_mend_run_(&m);
            tcall_scan_init(&m.scan, NULL, NULL, NULL);
            tcall_scan_tokens(&m.scan, m.out, tok, count);
            tcall_scan_feed(&m.scan, m.out, m.len);
        } else {
            memcpy(m.out, m.start, m.len);
        }
        r = tcall_json_finish_(m.out, tok, (int)count, true, &m.at);
        out->root = tcall_json_cursor_(m.out, tok);
    }
    out->at = m.at;
    if (r < 0)
        out->root = tcall_json_none_();
    return r < 0 ? r : (int)count;
}
