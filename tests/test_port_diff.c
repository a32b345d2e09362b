/* HTTP beside http_parser (libhttp-parser-dev): answers that nobody wrote are
 * read by both. Where the two differ, a rule of ours that is stricter must
 * apply to the bytes; each is listed with how often it did. */
#include "script.h"

#include "check.h"

#if defined __has_include
#if __has_include(<http_parser.h>)
#include <http_parser.h>
#define ORACLE 1
#endif
#endif

#ifndef ORACLE
int main(void)
{
    puts("test_port_diff: SKIPPED, http_parser.h is not there: install "
         "libhttp-parser-dev");
    puts("test_port_diff: 0 passed, 0 failed, 1 skipped");
    return 0;
}
#else

#define COUNT(a)          (sizeof(a) / sizeof *(a))

enum { SEED = 20240607, ANSWERS = 150000 };

/* ---- chance: xorshift, the same on every machine ---- */

static uint32_t state = SEED;

static uint32_t chance(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % n;
}

/* ---- the grammar: what stands first is common, the rest is rare ---- */

static char text[8192];
static size_t len;

static void put(const char *s, size_t n)
{
    if (n > sizeof text - len)
        n = sizeof text - len;
    memcpy(text + len, s, n);
    len += n;
}

static void say(const char *s)
{
    put(s, strlen(s));
}

/* The first of the words, but one time in rare any of them. */
static const char *word(const char *const *words, size_t n, uint32_t rare)
{
    return words[chance(rare) ? 0 : chance((uint32_t)n)];
}
#define WORD(words, rare) word(words, COUNT(words), rare)

/* A form with the number for each @, or in hexadecimal for each #. */
static void say_number(const char *form, size_t n)
{
    char digits[24];

    for (; *form; form++) {
        snprintf(digits, sizeof digits, *form == '@' ? "%lu" : "%lx",
                 (unsigned long)n);
        if (*form == '@' || *form == '#')
            say(digits);
        else
            put(form, 1);
    }
}

static void end_line(void)
{
    static const char *const ends[] = {"\r\n",   "\n",   "\r",
                                       "\r\r\n", "\n\r", ""};

    say(WORD(ends, 200));
}

static void status_line(bool interim)
{
    static const char *const versions[] = {
        "HTTP/1.1", "HTTP/1.0", "HTTP/1.0", "HTTP/0.9", "HTTP/1.2",  "HTTP/2.0",
        "HTTP/9.9", "HTTP/1",   "http/1.1", "HTTP/11",  "HTTP/1.10", "HTP/1.1"};
    static const char *const codes[] = {
        "200", "204", "304", "404",  "429", "500", "301", "599", "600",
        "999", "099", "20",  "2000", "+20", "2x0", "101", ""};
    static const char *const interims[] = {"100", "103", "102", "199", "101"};
    static const char *const gaps[] = {" ", "  ", "\t", ""};
    static const char *const reasons[] = {
        " OK",       " ",     "",        " Not Found", "  x  ",
        " \x80\xff", " a\tb", " a\x01-", "\tOK",       "OK"};

    say(WORD(versions, 12));
    say(WORD(gaps, 100));
    if (interim)
        say(WORD(interims, 3));
    else
        say(WORD(codes, 5));
    say(WORD(reasons, 5));
    end_line();
}

/* The value may be a form for the number n. */
static void header(const char *name, const char *value, size_t n)
{
    static const char *const colons[] = {": ", ":", ":\t ", " : ",
                                         " :", "",  "::"};
    static const char *const tails[] = {"", " ", "\t \t"};
    static const char *const starts[] = {"", " ", "\t"};

    say(WORD(starts, 300));
    say(name);
    say(WORD(colons, 60));
    say_number(value, n);
    say(WORD(tails, 20));
    end_line();
}

typedef const char *const field[2];

static field common[] = {
    {"X-A", "b"},
    {"X-Empty", ""},
    {"Date", "Wed, 21 Oct 2015 07:28:00 GMT"},
    {"Content-Type", "application/json"},
    {"Connection", "close"},
    {"Connection", "keep-alive"},
    {"connection", "Keep-Alive"},
    {"Connection", "keep-alive, close"},
    {"Connection", "x, close"},
    {"Connection", "upgrade"},
    {"Proxy-Connection", "close"},
    {"Upgrade", "h2c"},
    {"Content-Encoding", "identity"},
    {"Retry-After", "5"},
    {"Retry-After", "soon"},
    {"Set-Cookie", "a=b; c=\"d\""},
    {"X-High", "caf\xc3\xa9"},
    {"!#$%&'*+-.^_`|~", "1"},
    {"Trailer", "X-Sum"},
    {"TE", "chunked"},
    {"Content-Lengthy", "7"},
    {"Content-Lengt", "7"},
    {"Transfer-Encodin", "chunked"},
};

static field rare[] = {
    {"Content-Encoding", "gzip"},
    {"X-Control", "a\x01"},
    {"X-Delete", "\x7f"},
    {"X-Fold", "a\r\n b"},
    {"Transfer-Encodingx", "chunked"},
    {"X Y", "1"},
    {"", "1"},
};

static void other_header(void)
{
    field *f = chance(60) ? &common[chance(COUNT(common))]
                          : &rare[chance(COUNT(rare))];

    header((*f)[0], (*f)[1], 0);
}

static void some_headers(void)
{
    uint32_t n = chance(4);

    while (n--)
        other_header();
}

static void body_bytes(size_t n)
{
    static const char some[] = "hello {\"a\":1}\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n"
                               "Content-Length: 3\r\n\r\n\x01\x80\xff\0";

    while (n) {
        size_t from = chance(sizeof some - 1), k = sizeof some - 1 - from;
        k = k < n ? k : n;
        put(some + from, k);
        n -= k;
    }
}

static void chunk(size_t n)
{
    static const char *const sizes[] = {
        "#", "0#", "0#", "000000#", "0x#", "+#", "-#", " #", "# ", "#g", ""};
    static const char *const extensions[] = {
        "", ";", ";a", ";a=b", ";a=\"b c\"", " ;a", ";\x01", ";\x80", " x"};

    if (chance(200) == 0)
        n += 1 + chance(3) * 0x10000000u;
    say_number(WORD(sizes, 20), n);
    say(WORD(extensions, 8));
    end_line();
    body_bytes(n < 200 ? n : 20);
    if (n)
        end_line();
}

static void chunks(void)
{
    uint32_t n = chance(4);

    while (n--)
        chunk(1 + chance(40));
    if (chance(50))
        chunk(0);
    if (chance(6) == 0)
        some_headers();
    if (chance(100))
        end_line();
}

static void coding(void)
{
    static const char *const names[] = {
        "Transfer-Encoding", "transfer-encoding", "TRANSFER-ENCODING"};
    static const char *const codings[] = {
        "chunked",          "Chunked",     "CHUNKED",  "gzip", "gzip, chunked",
        "chunked, chunked", "chunked;q=1", "identity", "",     "xchunked",
        "chunked, gzip",    "chunked x"};

    header(WORD(names, 5), WORD(codings, 12), 0);
}

static void length(size_t n)
{
    static const char *const names[] = {"Content-Length", "content-length",
                                        "CONTENT-LENGTH"};
    static const char *const lengths[] = {
        "@",
        "@ ",
        "0@",
        "00000@",
        "+@",
        "-@",
        "0x@",
        "@x",
        "@ @",
        "@, @",
        "@,@",
        "",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "18446744073709551621",
        "000000000000000000000000000000000000000000@"};

    if (chance(30) == 0)
        n += 1;
    header(WORD(names, 5), WORD(lengths, 12), n);
}

static void answer(void)
{
    uint32_t framing = chance(10);
    size_t n = chance(60);

    len = 0;
    if (chance(500) == 0)
        say("\r\n");
    while (chance(10) == 0) {
        status_line(true);
        some_headers();
        end_line();
    }
    status_line(false);
    some_headers();
    if (framing < 4) { /* 0 has both */
        length(n);
        if (chance(60) == 0)
            length(n);
    }
    if (framing == 0 ? chance(4) == 0 : framing >= 4 && framing < 9) {
        coding();
        if (chance(60) == 0)
            coding();
    }
    some_headers();
    end_line();
    if (framing >= 4 && framing < 9)
        chunks();
    else
        body_bytes(n);
    if (chance(20) == 0)
        body_bytes(chance(20));
}

/* Change, drop, double or insert a few bytes; or cut the end off. */
static void mutate(void)
{
    static const char odd[] = "\r\n\t :;,0x9aF-+.\"\\H/\x01\x7f\x80\xff";
    uint32_t times = chance(3) ? 0 : 1 + chance(3);

    while (times-- && len > 1 && len < sizeof text) {
        size_t at = chance((uint32_t)len);
        switch (chance(6)) {
        case 0: text[at] = odd[chance(sizeof odd)]; break;
        case 1: text[at] = (char)chance(256); break;
        case 2: text[at] ^= (char)(1u << chance(8)); break;
        case 3:
            memmove(text + at, text + at + 1, len - at - 1);
            len--;
            break;
        case 4:
            memmove(text + at + 1, text + at, len - at);
            text[at] = odd[chance(sizeof odd)];
            len++;
            break;
        default:
            if (chance(4) == 0)
                len = at;
            break;
        }
    }
}

/* ---- the oracle ---- */

typedef struct verdict {
    bool whole, kept;
    int status;
    size_t len;
    char body[sizeof text];
} verdict;

static bool no_body; /* the request was HEAD */

static int on_body(http_parser *p, const char *at, size_t n)
{
    verdict *v = (verdict *)p->data;

    memcpy(v->body + v->len, at, n);
    v->len += n;
    return 0;
}

static int on_head(http_parser *p)
{
    /* This parser leaves it to its user to know what has no body. */
    return p->status_code < 200 || p->status_code == 204 ||
           p->status_code == 304 || no_body;
}

static int on_whole(http_parser *p)
{
    verdict *v = (verdict *)p->data;

    if (p->status_code / 100 == 1)
        return 0;
    v->whole = true;
    v->kept = http_should_keep_alive(p);
    v->status = (int)p->status_code;
    return 1; /* what follows is nobody's business */
}

static void oracle(verdict *v)
{
    http_parser p;
    http_parser_settings s;
    size_t n;

    http_parser_settings_init(&s);
    s.on_body = on_body;
    s.on_headers_complete = on_head;
    s.on_message_complete = on_whole;
    http_parser_init(&p, HTTP_RESPONSE);
    p.data = v;
    v->whole = false;
    v->len = 0;
    n = http_parser_execute(&p, &s, text, len);
    if (!v->whole && n == len && HTTP_PARSER_ERRNO(&p) == HPE_OK)
        (void)http_parser_execute(&p, &s, text, 0);
}

/* ---- the rules of ours that are stricter ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c | 32 : c;
}

/* Where the text goes on with this, in any case of its letters, or len. */
static size_t find(const char *what, size_t at)
{
    size_t n = strlen(what), i;

    for (; at + n <= len; at++) {
        for (i = 0; i < n && lower(text[at + i]) == lower(what[i]); i++)
            continue;
        if (i == n)
            return at;
    }
    return len;
}

/* Is there a line of which this is true? It ends before its LF. */
static bool any_line(bool (*is)(const char *line, size_t n))
{
    size_t at = 0, n;

    for (; at < len; at += n + 1) {
        const char *lf = (const char *)memchr(text + at, '\n', len - at);
        n = lf ? (size_t)(lf - text) - at : len - at;
        if (is(text + at, n))
            return true;
    }
    return false;
}

static bool is_lf_alone(const char *line, size_t n)
{
    return line + n < text + len && (n == 0 || line[n - 1] != '\r');
}

static bool is_cr_inside(const char *line, size_t n)
{
    return memchr(line, '\r', n && line[n - 1] == '\r' ? n - 1 : n) != NULL;
}

static bool is_folded(const char *line, size_t n)
{
    return n && is_blank(*line);
}

static bool is_control(const char *line, size_t n)
{
    for (; n--; line++)
        if ((unsigned char)*line < 32 ? *line != '\t' && *line != '\r'
                                      : *line == 0x7f)
            return true;
    return false;
}

/* Something that is no token before the colon, or no colon. */
static bool is_bad_name(const char *line, size_t n)
{
    size_t i = 0;

    while (i < n && line[i] != ':' && line[i] > 32 && line[i] < 0x7f &&
           !strchr("()<>@,;\\\"/[]?={}", line[i]))
        i++;
    return i == 0 || i == n || line[i] != ':';
}

static bool is_odd_version(const char *line, size_t n)
{
    return n > 5 && memcmp(line, "HTTP/", 5) == 0 &&
           (n < 8 ||
            (memcmp(line + 5, "1.0", 3) && memcmp(line + 5, "1.1", 3)));
}

static bool is_version_1_0(const char *line, size_t n)
{
    return n > 8 && memcmp(line, "HTTP/1.0", 8) == 0;
}

/* A status line that is not HTTP/1.x, one blank, three digits, blank. */
static bool is_odd_status(const char *line, size_t n)
{
    size_t i;

    if (n < 5 || memcmp(line, "HTTP/", 5) != 0)
        return false;
    if (n < 12 || line[8] != ' ')
        return true;
    for (i = 9; i < 12; i++)
        if (line[i] < '0' || line[i] > '9')
            return true;
    return n > 12 && line[12] != ' ' && line[12] != '\r';
}

static bool is_far_status(const char *line, size_t n)
{
    char digits[4] = {0};
    int status;

    memcpy(digits, line + 9, n < 12 ? 0 : 3);
    status = atoi(digits);
    return n >= 12 && memcmp(line, "HTTP/", 5) == 0 &&
           (status < 100 || status > 599 || status == 101);
}

/* Does the line begin with this name and colon? */
static bool is_named(const char *line, const char *name)
{
    size_t at = (size_t)(line - text);

    return find(name, at) == at;
}

/* More than 32 bits or 39 characters. */
static bool is_huge_length(const char *line, size_t n)
{
    double v = 0;
    size_t i = 15, from;

    if (!is_named(line, "content-length:"))
        return false;
    while (i < n && is_blank(line[i]))
        i++;
    for (from = i; i < n && line[i] >= '0' && line[i] <= '9'; i++)
        v = v * 10 + line[i] - '0';
    return v > 4294967295.0 || i - from > 39;
}

/* A length or coding with a tab after it, which http_parser cannot read. */
static bool is_tab_tail(const char *line, size_t n)
{
    if (!is_named(line, "content-length:") &&
        !is_named(line, "transfer-encoding:"))
        return false;
    while (n && (line[n - 1] == '\r' || line[n - 1] == ' '))
        n--;
    return n && line[n - 1] == '\t';
}

/* A line that begins with a size but goes on otherwise than with ; or CR. */
static bool is_odd_chunk(const char *line, size_t n)
{
    size_t i = 0;

    while (i < n && strchr("0123456789abcdefABCDEF", line[i]) && line[i])
        i++;
    return i > 0 && (i == n || (line[i] != ';' && line[i] != '\r'));
}

/* http_parser takes this name plus one character for the name. */
static bool is_longer_name(const char *line, size_t n)
{
    return is_named(line, "transfer-encoding") && n > 17 && line[17] != ':' &&
           !is_blank(line[17]);
}

/* A byte above 127 among those of a size, which http_parser reads as 0. */
static bool is_far_digit(const char *line, size_t n)
{
    size_t i = 0;

    while (i < n && line[i] && strchr("0123456789abcdefABCDEF", line[i]))
        i++;
    return i < n && (unsigned char)line[i] > 127;
}

/* The header's value is any but this. */
static bool is_field_but(const char *name, const char *value)
{
    size_t at = 0, n = strlen(value);

    while ((at = find(name, at)) < len) {
        size_t v = at += strlen(name);
        while (v < len && is_blank(text[v]))
            v++;
        if (find(value, v) != v)
            return true;
        for (v += n; v < len && is_blank(text[v]); v++)
            continue;
        if (v == len || text[v] != '\r')
            return true;
    }
    return false;
}

static bool lf_alone(void)
{
    return any_line(is_lf_alone);
}
static bool cr_alone(void)
{
    return any_line(is_cr_inside);
}
static bool folded(void)
{
    return any_line(is_folded);
}
static bool control(void)
{
    return any_line(is_control);
}
static bool bad_name(void)
{
    return any_line(is_bad_name);
}
static bool odd_version(void)
{
    return any_line(is_odd_version);
}
static bool version_1_0(void)
{
    return any_line(is_version_1_0);
}
static bool odd_status(void)
{
    return any_line(is_odd_status);
}
static bool far_status(void)
{
    return any_line(is_far_status);
}
static bool huge_length(void)
{
    return any_line(is_huge_length);
}
static bool odd_chunk(void)
{
    return any_line(is_odd_chunk);
}
static bool early_line(void)
{
    return text[0] == '\r' || text[0] == '\n';
}
static bool coded(void)
{
    return is_field_but("content-encoding:", "identity");
}
static bool other_coding(void)
{
    return is_field_but("transfer-encoding:", "chunked");
}
static bool two_codings(void)
{
    return find("transfer-encoding:", find("transfer-encoding:", 0) + 1) < len;
}
static bool chunked(void)
{
    return find("chunked", 0) < len;
}
static bool tab_tail(void)
{
    return any_line(is_tab_tail);
}
/* The answer, or one of the interim ones before it, begins otherwise. */
static bool other_word(void)
{
    size_t at = 0;

    while (find("HTTP/1.", at) == at && memcmp(text + at, "HTTP", 4) == 0 &&
           text[at + 9] == '1')
        at = find("\r\n\r\n", at) + 4;
    return at < len && memcmp(text + at, "HTTP/1.", 7) != 0;
}
static bool longer_name(void)
{
    return any_line(is_longer_name);
}
static bool far_digit(void)
{
    return any_line(is_far_digit);
}

/* Where ours said why, this explains it if it is true of the bytes. Without a
 * why it explains whatever ours made of them. */
static struct {
    const char *rule, *why;
    bool (*is)(void);
    size_t times;
} rules[] = {
    {"a line ends in CR LF: not in LF alone", "the status line is broken",
     lf_alone, 0},
    {"", "a header's value is broken", lf_alone, 0},
    {"", "a header's name is broken", lf_alone, 0},
    {"", "a chunk's size is broken", lf_alone, 0},
    {"", "a chunk's extension is broken", lf_alone, 0},
    {"", "a chunk is longer than its size", lf_alone, 0},
    {"CR stands only before LF", "CR without LF", cr_alone, 0},
    {"no control characters", "the status line is broken", control, 0},
    {"", "a header's value is broken", control, 0},
    {"", "a chunk's extension is broken", control, 0},
    {"no folded lines", "a header's name is broken", folded, 0},
    {"a name is a token, the colon is next", "a header's name is broken",
     bad_name, 0},
    {"nothing before the status line", "this is not an HTTP answer", early_line,
     0},
    {"an answer begins with HTTP/", "this is not an HTTP answer", other_word,
     0},
    {"versions 1.0 and 1.1 only", "an HTTP version other than 1.0 and 1.1",
     odd_version, 0},
    {"", "this is not an HTTP answer", odd_version, 0},
    {"no chunks in HTTP/1.0", "Transfer-Encoding in an answer of HTTP/1.0",
     version_1_0, 0},
    {"one blank, three digits, one blank", "this is not an HTTP answer",
     odd_status, 0},
    {"", "the status is not a number", odd_status, 0},
    {"", "the status line is broken", odd_status, 0},
    {"a status from 100 to 599, but not 101", "an impossible status",
     far_status, 0},
    {"Content-Length below 4 GB, in 39 characters",
     "Content-Length is no number, or too large", huge_length, 0},
    {"no coding but chunked, and that once",
     "a transfer coding other than chunked", other_coding, 0},
    {"", "a transfer coding other than chunked", two_codings, 0},
    {"no content encoding but identity",
     "a content encoding that was not asked for", coded, 0},
    {"a chunk's size is digits, then ; or CR", "a chunk's size is broken",
     odd_chunk, 0},
    {"a size has digits of ASCII (http_parser errs)", "a chunk has no size",
     far_digit, 0},
    {"Transfer-Encodingx is another header (http_parser errs)", NULL,
     longer_name, 0},
    {"CR LF follows a chunk", "a chunk is longer than its size", chunked, 0},
    {"a tab after a length or a coding is a blank (http_parser errs)", NULL,
     tab_tail, 0},
};

static bool explain(const outcome *x)
{
    size_t i;

    for (i = 0; i < COUNT(rules); i++)
        if ((!rules[i].why || (x->error && !strcmp(rules[i].why, x->why))) &&
            rules[i].is()) {
            rules[i].times++;
            return true;
        }
    return false;
}

static void show(const outcome *x, const verdict *v)
{
    size_t i;

    printf("unexplained: ours %d (%s) %d, %u bytes, kept %d; "
           "theirs %d %d, %u bytes, kept %d, HEAD %d\n  ",
           x->error, x->why, x->status, (unsigned)x->len, x->kept, v->whole,
           v->status, (unsigned)v->len, v->kept, no_body);
    for (i = 0; i < len && i < 400; i++)
        printf((unsigned char)text[i] - 32u < 95 ? "%c" : "\\x%02x",
               (unsigned)(unsigned char)text[i]);
    puts("");
}

int main(void)
{
    static verdict v;
    static outcome x;
    size_t i, accepted = 0, refused = 0, differ = 0, unexplained = 0;

    for (i = 0; i < ANSWERS; i++) {
        script s;
        answer();
        mutate();
        no_body = chance(20) == 0;
        memset(&s, 0, sizeof s);
        s.text = text;
        s.len = len;
        s.cut = chance((uint32_t)len + 1);
        s.step = chance(8) ? 0 : 1 + chance(4);
        script_ask(&s, no_body ? "HEAD" : "GET", sizeof x.body, &x);
        oracle(&v);
        if (!v.whole && x.error != 0) {
            refused++;
        } else if (v.whole && x.error == 0 && v.status == x.status &&
                   v.len == x.len && memcmp(v.body, x.body, v.len) == 0 &&
                   (!x.kept || v.kept)) {
            accepted++;
        } else {
            differ++;
            if (!explain(&x) && unexplained++ < 10)
                show(&x, &v);
        }
    }
    printf("seed %u: %u answers, %u taken by both, %u refused by both, "
           "%u not alike:\n",
           (unsigned)SEED, (unsigned)ANSWERS, (unsigned)accepted,
           (unsigned)refused, (unsigned)differ);
    for (i = 0; i < COUNT(rules); i++) {
        size_t n = rules[i].times, k;
        if (!rules[i].rule[0])
            continue;
        for (k = i + 1; k < COUNT(rules) && !rules[k].rule[0]; k++)
            n += rules[k].times;
        printf("  %6u %s\n", (unsigned)n, rules[i].rule);
        CHECK(n >= 5); /* fewer would be chance: a hole in the list */
    }
    printf("  %6u without an explanation\n", (unsigned)unexplained);
    CHECK(unexplained == 0);
    CHECK(ANSWERS >= 100000 && accepted > ANSWERS / 5 &&
          refused > ANSWERS / 20);
    return check_sum("test_port_diff");
}
#endif
