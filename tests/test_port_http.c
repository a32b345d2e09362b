/* HTTP cut everywhere: each answer in two pieces at every byte and byte by
 * byte must read the same; ended at every byte it must be an error, and no
 * call of a model may run. */
#include "turn.h"

#include "check.h"

#define OK        "HTTP/1.1 200 OK\r\n"
#define CHUNKED   OK "Transfer-Encoding: chunked\r\n\r\n"
#define LEN(n)    "Content-Length: " #n "\r\n\r\n"
#define TEN       "0123456789"
#define HUNDRED   TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define COUNT(a)  (sizeof(a) / sizeof *(a))
#define SSE_TYPE  "Content-Type: text/event-stream\r\n"
#define JSON_TYPE "Content-Type: application/json\r\n"

/* What the connection is worth after the answer. */
enum { GOES, STAYS, ENDS }; /* ENDS: the end of it is the end of the body */

static const struct {
    const char *text, *body;
    int status, after;
    long retry_after_ms;
} right[] = {
    /* Content-Length */
    {OK LEN(5) "hello", "hello", 200, STAYS, -1},
    {OK LEN(0), "", 200, STAYS, -1},
    {OK LEN(00005) "hello", "hello", 200, STAYS, -1},
    {OK LEN(100) HUNDRED, HUNDRED, 200, STAYS, -1},
    {OK LEN(4) "\r\n\r\n", "\r\n\r\n", 200, STAYS, -1},
    {OK LEN(15) "HTTP/1.1 500 X\n", "HTTP/1.1 500 X\n", 200, STAYS, -1},
    {OK "CONTENT-LENGTH: 2\r\n\r\nhi", "hi", 200, STAYS, -1},
    {OK "content-length:2\r\n\r\nhi", "hi", 200, STAYS, -1},
    {OK "Content-Length:\t \t2 \t \r\n\r\nhi", "hi", 200, STAYS, -1},
    {OK "Content-Length-X: 9\r\n" LEN(2) "hi", "hi", 200, STAYS, -1},
    {OK "XContent-Length: 9\r\n" LEN(2) "hi", "hi", 200, STAYS, -1},
    /* status lines */
    {"HTTP/1.1 200 \r\n" LEN(1) "a", "a", 200, STAYS, -1},
    {"HTTP/1.1 200\r\n" LEN(1) "a", "a", 200, STAYS, -1},
    {"HTTP/1.1 200   a  b \r\n" LEN(1) "a", "a", 200, STAYS, -1},
    {"HTTP/1.1 200 \t\r\n" LEN(1) "a", "a", 200, STAYS, -1},
    {"HTTP/1.1 200 caf\xc3\xa9 \xff\r\n" LEN(1) "a", "a", 200, STAYS, -1},
    {"HTTP/1.1 299 ?\r\n" LEN(1) "a", "a", 299, STAYS, -1},
    {"HTTP/1.1 599 ?\r\n" LEN(1) "a", "a", 599, STAYS, -1},
    {"HTTP/1.1 529 Overloaded\r\n" LEN(2) "{}", "{}", 529, STAYS, -1},
    {"HTTP/1.1 302 Found\r\nLocation: https://elsewhere.test/\r\n" LEN(1) "z",
     "z", 302, STAYS, -1},
    {"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\n" LEN(2) "no",
     "no", 401, STAYS, -1},
    /* no body */
    {"HTTP/1.1 204 No Content\r\n\r\n", "", 204, STAYS, -1},
    {"HTTP/1.1 204 No Content\r\n" LEN(0), "", 204, GOES, -1},
    {"HTTP/1.1 304 Not Modified\r\n\r\n", "", 304, STAYS, -1},
    {"HTTP/1.1 304 Not Modified\r\n" LEN(99), "", 304, STAYS, -1},
    /* HTTP/1.0, Connection */
    {"HTTP/1.0 200 OK\r\n" LEN(2) "hi", "hi", 200, GOES, -1},
    {"HTTP/1.0 200 OK\r\n\r\nall of it", "all of it", 200, ENDS, -1},
    {"HTTP/1.0 404\r\n\r\n", "", 404, ENDS, -1},
    {OK "Connection: close\r\n" LEN(2) "hi", "hi", 200, GOES, -1},
    {OK "CONNECTION:CLOSE\r\n" LEN(2) "hi", "hi", 200, GOES, -1},
    {OK "Connection: x, close\r\n" LEN(2) "hi", "hi", 200, GOES, -1},
    {OK "Connection: Keep-Alive\r\nKeep-Alive: timeout=5\r\n" LEN(2) "hi", "hi",
     200, STAYS, -1},
    {OK "Connection: " TEN TEN TEN TEN "\r\n" LEN(2) "hi", "hi", 200, GOES, -1},
    /* ended by the connection */
    {OK "\r\nuntil the end\r\n", "until the end\r\n", 200, ENDS, -1},
    {OK "\r\n", "", 200, ENDS, -1},
    {OK SSE_TYPE "Cache-Control: no-cache\r\n\r\ndata: 1\n\ndata: [DONE]\n\n",
     "data: 1\n\ndata: [DONE]\n\n", 200, ENDS, -1},
    /* chunks */
    {CHUNKED "5\r\nhello\r\n0\r\n\r\n", "hello", 200, STAYS, -1},
    {CHUNKED "0\r\n\r\n", "", 200, STAYS, -1},
    {CHUNKED "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n", "abc", 200, STAYS, -1},
    {CHUNKED "A\r\n" TEN "\r\na\r\n" TEN "\r\n0\r\n\r\n", TEN TEN, 200, STAYS,
     -1},
    {CHUNKED "64\r\n" HUNDRED "\r\n000000000000\r\n\r\n", HUNDRED, 200, STAYS,
     -1},
    {CHUNKED "4\r\n\r\n0\r\r\n4\r\n\n\r\n\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n\n",
     200, STAYS, -1},
    {CHUNKED "5;\r\nhello\r\n0;\r\n\r\n", "hello", 200, STAYS, -1},
    {CHUNKED "5;a;b=c;d=\"e;\t f\"\r\nhello\r\n0;last\r\n\r\n", "hello", 200,
     STAYS, -1},
    {CHUNKED "5; a = b\r\nhello\r\n0; z\r\n\r\n", "hello", 200, STAYS, -1},
    {CHUNKED "2\r\nhi\r\n0\r\nX-Sum: 1\r\nY: \r\n\r\n", "hi", 200, STAYS, -1},
    {CHUNKED "2\r\nhi\r\n0\r\n" LEN(9), "hi", 200, STAYS, -1},
    {CHUNKED "2\r\nhi\r\n0\r\nTransfer-Encoding: gzip\r\nConnection: close\r\n"
             "Retry-After: 3\r\nContent-Encoding: br\r\n\r\n",
     "hi", 200, STAYS, -1},
    {OK "TRANSFER-ENCODING:\tCHUNKED \r\n\r\n2\r\nhi\r\n0\r\n\r\n", "hi", 200,
     STAYS, -1},
    {OK "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nhi\r\n0\r\n\r\n",
     "hi", 200, GOES, -1},
    {OK SSE_TYPE "Transfer-Encoding: chunked\r\n\r\n"
                 "9\r\ndata: 1\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n",
     "data: 1\n\ndata: [DONE]\n\n", 200, STAYS, -1},
    /* answers before the answer */
    {"HTTP/1.1 100 Continue\r\n\r\n" OK LEN(1) "a", "a", 200, STAYS, -1},
    {"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nRetry-After: 9\r\n\r\n"
     "HTTP/1.1 102\r\n\r\n" CHUNKED "1\r\na\r\n0\r\n\r\n",
     "a", 200, STAYS, -1},
    {"HTTP/1.1 100 C\r\nConnection: close\r\n\r\n" OK LEN(1) "a", "a", 200,
     STAYS, -1},
    {"HTTP/1.1 199 ?\r\n" LEN(7) "HTTP/1.0 200\r\n\r\nb", "b", 200, ENDS, -1},
    /* when to come again */
    {"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\n" LEN(0), "", 429, STAYS, 7000},
    {"HTTP/1.1 503 Down\r\nretry-after-ms: 1500\r\nRetry-After: 7\r\n" LEN(0),
     "", 503, STAYS, 1500},
    {"HTTP/1.1 503 Down\r\nRetry-After: 7, 8\r\n" LEN(0), "", 503, STAYS, -1},
    /* other headers */
    {OK "Content-Encoding: identity\r\n" LEN(2) "hi", "hi", 200, STAYS, -1},
    {OK "X:\r\nY: \r\nZ:\t\r\n" LEN(2) "hi", "hi", 200, STAYS, -1},
    {OK "X: a:b::c \t d\r\n" LEN(2) "hi", "hi", 200, STAYS, -1},
    {OK "X: caf\xc3\xa9 \x80\xff\r\n" LEN(2) "hi", "hi", 200, STAYS, -1},
    {OK "!#$%&'*+-.^_`|~09azAZ: 1\r\n" LEN(2) "hi", "hi", 200, STAYS, -1},
    {OK HUNDRED ": " HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
                "\r\n" LEN(2) "hi",
     "hi", 200, STAYS, -1},
    {OK "Set-Cookie: a=b; Path=/\r\nSet-Cookie: c=d\r\n" LEN(2) "hi", "hi", 200,
     STAYS, -1},
    {OK "Date: Wed, 21 Oct 2015 07:28:00 GMT\r\nServer: x\r\n" JSON_TYPE LEN(
         2) "{}",
     "{}", 200, STAYS, -1},
};

static script server(size_t i)
{
    script s;

    memset(&s, 0, sizeof s);
    s.text = right[i].text;
    s.len = strlen(s.text);
    s.end = right[i].after == ENDS ? 0 : TCALL_E_AGAIN;
    return s;
}

static bool is_right(size_t i, const script *s, const outcome *x)
{
    return x->error == 0 && x->status == right[i].status &&
           x->retry_after_ms == right[i].retry_after_ms &&
           x->kept == (right[i].after == STAYS) &&
           x->len == strlen(right[i].body) &&
           memcmp(x->body, right[i].body, x->len) == 0 &&
           /* each call moved a byte, or was told to come again, or looked for
            * an early answer then, or was one of the few that begin and end
            * the exchange */
           s->calls <= 3 * (s->at + s->written + 4);
}

static void test_splits(void)
{
    static outcome x;
    size_t i, cut, n = 0;
    static const size_t caps[] = {1, 3, sizeof x.body};

    for (i = 0; i < COUNT(right); i++) {
        bool same = true;
        for (cut = 0; cut <= strlen(right[i].text); cut++, n++) {
            script s = server(i);
            s.cut = cut;
            s.stutter = cut % 2;
            script_ask(&s, "GET", caps[cut % 3], &x);
            same = same && is_right(i, &s, &x);
        }
        for (cut = 1; cut <= 6; cut++, n++) {
            script s = server(i);
            s.step = 1 + cut / 3;
            s.stutter = cut % 2;
            script_ask(&s, "GET", caps[cut % 3], &x);
            same = same && is_right(i, &s, &x);
        }
        if (!same)
            printf("  differs: %.70s\n", right[i].text);
        CHECK(same);
    }
    printf("split sweep: %u answers, %u ways to cut them\n",
           (unsigned)COUNT(right), (unsigned)n);
}

/* Each answer, ended after every byte but its last. */
static void test_early_ends(void)
{
    static outcome x;
    size_t i, n, ended = 0;

    for (i = 0; i < COUNT(right); i++) {
        size_t whole = strlen(right[i].text);
        bool told = true;
        for (n = 0; n < whole; n++) {
            int end;
            for (end = 0; end < 2; end++, ended++) {
                script s = server(i);
                s.len = n;
                s.end = end ? TCALL_E_CLOSED : 0;
                script_ask(&s, "GET", 100, &x);
                if (x.error == TCALL_E_CLOSED && x.why[0])
                    continue;
                /* Only an orderly end of a body that it ends is no error. */
                told = told && x.error == 0 && s.end == 0 &&
                       right[i].after == ENDS &&
                       n + strlen(right[i].body) >= whole;
            }
        }
        if (!told)
            printf("  an early end is not told: %.70s\n", right[i].text);
        CHECK(told);
    }
    printf("early ends: %u, over a script\n", (unsigned)ended);
}

/* --------------------------------------------------------------------------
 * The same under an agent: a call runs when its answer is whole, or not at all
 */

#define OPENAI_DELTA(x) \
    "data: {\"choices\":[{\"index\":0,\"delta\":{" x "}}]}\n\n"
#define OPENAI_PIECE(x)                                                 \
    OPENAI_DELTA(                                                       \
        "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"" x \
        "\"}}]")
#define EVENT(name, x) "event: " name "\ndata: {\"type\":\"" name "\"" x "}\n\n"
#define PIECE(x)                                                            \
    EVENT("content_block_delta",                                            \
          ",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial" \
          "_json\":\"" x "\"}")

/* A call of fire as the providers send it. last: the end of what says that the
 * answer is complete. When an orderly end of the connection comes later, the
 * provider's reader may take the answer or refuse it. */
static const struct {
    const tcall_provider *provider;
    bool stream;
    const char *body, *last;
} calls[] = {
    {&tcall_openai, false,
     "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
     "\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
     "\"function\":{\"name\":\"fire\",\"arguments\":\"{\\\"n\\\":12345}\"}}]},"
     "\"finish_reason\":\"tool_calls\"}]}\n",
     "]}"},
    {&tcall_openai, true,
     OPENAI_DELTA("\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,"
                  "\"id\":\"c1\",\"type\":\"function\","
                  "\"function\":{\"name\":\"fire\",\"arguments\":\"\"}}]")
         OPENAI_PIECE("{\\\"n\\\"") OPENAI_PIECE(":12")
             OPENAI_PIECE("345}") "data: "
                                  "{\"choices\":[{\"index\":0,\"delta\":{},"
                                  "\"finish_reason\":"
                                  "\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
     "\"tool_calls\"}]}"},
    {&tcall_anthropic, false,
     "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"
     "\"tool_use\",\"id\":\"c1\",\"name\":\"fire\",\"input\":{\"n\":12345}}],"
     "\"stop_reason\":\"tool_use\"}",
     "}"},
    {&tcall_anthropic, true,
     EVENT("message_start",
           ",\"message\":{\"role\":\"assistant\",\"content\":[]}")
         EVENT("content_block_start",
               ",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":"
               "\"c1\",\"name\":\"fire\",\"input\":{}}") PIECE("{\\\"n\\\":")
             PIECE("12345}") EVENT("content_block_stop", ",\"index\":0") EVENT(
                 "message_delta", ",\"delta\":{\"stop_reason\":\"tool_use\"}")
                 EVENT("message_stop", ""),
     "\"tool_use\"}}"},
    {&tcall_ollama, true,
     "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\","
     "\"tool_calls\":[{\"function\":{\"name\":\"fire\",\"arguments\":{\"n\":"
     "12345}}}]},\"done\":false}\n{\"model\":\"m\",\"message\":{\"role\":"
     "\"assistant\",\"content\":\"\"},\"done_reason\":\"stop\",\"done\":true}"
     "\n",
     "\"done\":true}"},
    {&tcall_gemini, true,
     "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{"
     "\"functionCall\":{\"name\":\"fire\",\"args\":{\"n\":12345}}}]}}]}\r\n\r\n"
     "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{"
     "\"text\":\"\"}]},\"finishReason\":\"STOP\"}]}\r\n\r\n",
     "\"STOP\"}]}"},
};

enum { BY_LENGTH, BY_CHUNKS, BY_END, FRAMINGS };

static size_t frame(char *to, const char *body, int framing)
{
    size_t n = strlen(body), i;
    char *p = to + sprintf(to, OK);

    if (framing == BY_LENGTH)
        p += sprintf(p, "Content-Length: %u\r\n", (unsigned)n);
    if (framing == BY_CHUNKS)
        p += sprintf(p, "Transfer-Encoding: chunked\r\n");
    p += sprintf(p, "\r\n");
    if (framing != BY_CHUNKS)
        return (size_t)(p + sprintf(p, "%s", body) - to);
    for (i = 0; i < n; i += 60)
        p += sprintf(p, "%x\r\n%.60s\r\n", (unsigned)(n - i < 60 ? n - i : 60),
                     body + i);
    return (size_t)(p + sprintf(p, "0\r\n\r\n") - to);
}

static void test_turns(void)
{
    static char text[8192];
    size_t i, n, turns = 0;
    int framing, end;

    for (i = 0; i < COUNT(calls); i++)
        for (framing = 0; framing < FRAMINGS; framing++) {
            size_t whole = frame(text, calls[i].body, framing), early = 0;
            const char *last = text;
            bool told = true;
            if (framing == BY_END)
                while ((last = strstr(last + 1, calls[i].last)) != NULL)
                    early = (size_t)(last - text) + strlen(calls[i].last);
            for (n = 0; n <= whole; n++)
                for (end = 0; end < 2; end++, turns++) {
                    script s;
                    int r;
                    memset(&s, 0, sizeof s);
                    s.text = text;
                    s.len = n;
                    s.cut = n / 2;
                    s.end = end ? TCALL_E_CLOSED : 0;
                    r = turn(&s, calls[i].provider, calls[i].stream);
                    if (n == whole && !(framing == BY_END && end))
                        told = told && runs == 1 && r == TCALL_E_LIMIT;
                    else if (framing == BY_END && !end && n >= early)
                        told = told && runs == (r == TCALL_E_LIMIT);
                    else
                        told = told && runs == 0 && r < 0 && r != TCALL_E_LIMIT;
                    if (!told) {
                        printf("  %s, stream %d, framing %d, end %d: cut at "
                               "%u of %u: %d ran, %s\n",
                               calls[i].provider->name, calls[i].stream,
                               framing, end, (unsigned)n, (unsigned)whole, runs,
                               tcall_error_code(r));
                        n = whole;
                        break;
                    }
                }
            CHECK(told);
        }
    printf("early ends: %u turns of an agent\n", (unsigned)turns);
}

int main(void)
{
    test_splits();
    test_early_ends();
    test_turns();
    return check_sum("test_port_http");
}
