/* The catalogue of faults of HTTP (H), TLS and names (T), what a model sends
 * (P) and the network path (N), row by row. A row that another test shows
 * names it, and the test must be there. */
#define _DEFAULT_SOURCE /* usleep */
#include "turn.h"

#include "peer.h"

#include <netdb.h>

#define OK       "HTTP/1.1 200 OK\r\n"
#define CHUNKED  OK "Transfer-Encoding: chunked\r\n\r\n"
#define HELLO    OK "Content-Length: 5\r\n\r\nhello"
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- over a script ---- */

static outcome x;

/* One exchange with a server that says this and then goes; answers its error.
 * A reused connection would show: there is one, and no request is repeated. */
static int ask(const char *text, size_t len, int end)
{
    script s;

    memset(&s, 0, sizeof s);
    s.text = text;
    s.len = len ? len : strlen(text);
    s.end = end;
    script_ask(&s, "GET", 1000, &x);
    return x.error;
}

/* Is each of the texts refused with this error, however the server goes? */
static bool all_are(int error, const char *const *texts, size_t n)
{
    while (n--)
        if (ask(texts[n], 0, 0) != error ||
            ask(texts[n], 0, TCALL_E_CLOSED) != error || !x.why[0]) {
            printf("  %d: %.60s\n", x.error, texts[n]);
            return false;
        }
    return true;
}
#define ALL(error, texts) all_are(error, texts, COUNT(texts))

static bool h01(void)
{
    static const char *const t[] = {OK "Content-Length: 50\r\n\r\nhello"};

    return ALL(TCALL_E_CLOSED, t) && x.len == 5;
}

static bool h02(void)
{
    static const char *const t[] = {
        CHUNKED "5\r\nhel", CHUNKED "5\r\nhello", CHUNKED "5\r\nhello\r\n",
        CHUNKED "5\r\nhello\r\n0\r\n", CHUNKED "5\r\nhello\r\n0\r\n\r"};

    return ALL(TCALL_E_CLOSED, t);
}

static bool h03(void)
{
    static const char *const t[] = {
        CHUNKED "-5\r\nhello\r\n0\r\n\r\n",
        CHUNKED "\r\nhello\r\n0\r\n\r\n",
        CHUNKED "0x5\r\nhello\r\n0\r\n\r\n",
        CHUNKED "+5\r\nhello\r\n0\r\n\r\n",
        CHUNKED "FFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
        CHUNKED "FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
        CHUNKED "100000005\r\nhello\r\n0\r\n\r\n"};

    return ALL(TCALL_E_PROTOCOL, t) && x.len == 0;
}

static bool h04(void)
{
    static const char *const t[] = {
        OK "Content-Length: -5\r\n\r\nhello",
        OK "Content-Length: +5\r\n\r\nhello",
        OK "Content-Length: 5x\r\n\r\nhello",
        OK "Content-Length: 4294967301\r\n\r\nhello",
        OK "Content-Length: 18446744073709551621\r\n\r\nhello"};

    return ALL(TCALL_E_PROTOCOL, t) && x.len == 0;
}

static bool h05(void)
{
    static const char *const t[] = {
        OK "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        OK "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        OK "Content-Length: 5, 6\r\n\r\nhello!",
        OK "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        OK "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"};

    return ALL(TCALL_E_PROTOCOL, t);
}

static bool h06(void)
{
    static const char *const t[] = {
        OK "Transfer-Encoding: gzip\r\n\r\nx",
        OK "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        OK "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        OK "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        OK "Transfer-Encoding: identity\r\n\r\nx"};

    return ALL(TCALL_E_PROTOCOL, t);
}

static bool h07(void)
{
    static const char nul[] = OK "X: a\0b\r\nContent-Length: 0\r\n\r\n";
    static const char *const t[] = {"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
                                    OK
                                    "X: a\r\n b\r\nContent-Length: 0\r\n\r\n",
                                    OK ": a\r\nContent-Length: 0\r\n\r\n",
                                    OK "X : a\r\nContent-Length: 0\r\n\r\n"};

    return ALL(TCALL_E_PROTOCOL, t) &&
           ask(nul, sizeof nul - 1, 0) == TCALL_E_PROTOCOL;
}

static bool h08(void)
{
    static const char *const t[] = {
        "<html>hello</html>\n", "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/2 200\r\n\r\n", "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n"};

    return ALL(TCALL_E_PROTOCOL, t);
}

/* first, then n times more, then last. */
static char *many(const char *first, const char *more, size_t n,
                  const char *last)
{
    static char text[1 << 21];
    char *p = text + sprintf(text, "%s", first);

    for (; n; n--, p += strlen(more))
        memcpy(p, more, strlen(more));
    strcpy(p, last);
    return text;
}

static bool h09(void)
{
    static const char early[] = "HTTP/1.1 100 Continue\r\n\r\n";

    return ask("HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\nLink: "
               "<a>\r\n\r\n" HELLO,
               0, 0) == 0 &&
           x.status == 200 && x.len == 5 &&
           ask(many("", early, 500, HELLO), 0, 0) == TCALL_E_LIMIT;
}

/* No more is read than the limit and one buffer. */
static bool stops(const char *text)
{
    script s;

    memset(&s, 0, sizeof s);
    s.text = text;
    s.len = strlen(text);
    script_ask(&s, "GET", 1000, &x);
    return x.error == TCALL_E_LIMIT &&
           s.at <= TPORT_HTTP_MAX_HEAD + TPORT_HTTP_BUFFER;
}

static bool h10(void)
{
    return stops(many(OK "X: ", "y", 1 << 20, "\r\n\r\n")) &&
           stops(many(OK, "X: 1\r\n", 20000, "\r\n")) &&
           stops(many(CHUNKED "1;", "e", 1 << 20, "\r\na\r\n0\r\n\r\n"));
}

static bool h11(void)
{
    script s;

    memset(&s, 0, sizeof s);
    s.text = HELLO;
    s.len = strlen(s.text);
    script_ask(&s, "HEAD", 1000, &x);
    return x.error == 0 && x.len == 0 && !x.kept &&
           ask("HTTP/1.1 204 N\r\nContent-Length: 5\r\n\r\nhello", 0, 0) == 0 &&
           x.len == 0 && !x.kept &&
           ask("HTTP/1.1 304 N\r\nContent-Length: 5\r\n\r\nhello", 0, 0) == 0 &&
           x.len == 0 && !x.kept;
}

static bool h12(void)
{
    static const char *const t[] = {HELLO "more", HELLO HELLO,
                                    CHUNKED "0\r\n\r\n" HELLO};
    size_t i, cut;

    for (i = 0; i < COUNT(t); i++)
        for (cut = 0; cut <= strlen(t[i]); cut++) {
            script s;
            memset(&s, 0, sizeof s);
            s.text = t[i];
            s.len = strlen(t[i]);
            s.cut = cut;
            s.end = TCALL_E_AGAIN;
            script_ask(&s, "GET", 1000, &x);
            if (x.error || x.kept)
                return false;
        }
    return true;
}

static bool h13(void)
{
    static const char *const head[] = {"H", "HTTP/1.1 20", OK, OK "Content-Le",
                                       OK "Content-Length: 5\r\n"};

    return ask("", 0, 0) == TCALL_E_CLOSED && x.status == 0 &&
           strstr(x.why, "before the answer") && ALL(TCALL_E_CLOSED, head) &&
           strstr(x.why, "inside the answer's head") &&
           ask(OK "Content-Length: 5\r\n\r\n", 0, 0) == TCALL_E_CLOSED &&
           strstr(x.why, "inside the answer's body");
}

/* A request of an agent's headers, to a server that must not see a byte. */
static bool unsent(const char *value, const char *secret)
{
    tcall_header header;
    tcall_request q = {"POST", "/", NULL, 1, 0};
    tcall_response res;
    tport_http h;
    script s;
    bool ok;

    header.name = "X";
    header.value = value;
    header.secret = secret;
    q.headers = &header;
    memset(&s, 0, sizeof s);
    tport_http_init(&h, script_stream(&s), "host", "");
    ok = tport_http_open(&h, &q, &res) == TCALL_E_USAGE && s.connects == 0 &&
         s.written == 0 && !strstr(tport_http_why(&h), "canary");
    tport_http_drop(&h);
    return ok;
}

static bool h17(void) /* C strings hold no NUL */
{
    return unsent("a\r\nInjected: 1", NULL) && unsent("a\n", NULL) &&
           unsent("a\rb", NULL) && unsent("a\x01", NULL);
}

static bool p11(void)
{
    return unsent("Bearer ", "canary\n") && unsent("", "canary\r\nX: 1") &&
           unsent(NULL, "can\x7f"
                        "ary");
}

/* ---- turns of an agent ---- */

/* A turn against a body with this status; the calls that ran are in runs. */
static int turn_of(const tcall_provider *p, bool stream, const char *head,
                   const char *body, size_t step)
{
    static char text[1 << 18];
    script s;

    memset(&s, 0, sizeof s);
    s.len = (size_t)sprintf(text, "%s\r\nContent-Length: %u\r\n\r\n%s", head,
                            (unsigned)strlen(body), body);
    s.text = text;
    s.step = step;
    return turn(&s, p, stream);
}

#define WHOLE(args)                                                         \
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","       \
    "\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\"," \
    "\"function\":{\"name\":\"fire\",\"arguments\":\"" args "\"}}]},"       \
    "\"finish_reason\":\"tool_calls\"}]}"
#define ARGS "{\\\"n\\\":12345}"

static bool h18(void)
{
    static const char html[] = "<!DOCTYPE html><html><body>Please log in to "
                               "the network</body></html>";
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/html";
    /* pages that look like an answer for a while */
    static const char *const odd[] = {
        "[Log in first]",
        "[]\n<p>Log in first",
        "Log in first\ndata: yes\n",
        "data:Log in first\n\n",
    };
    size_t step, i;

    for (step = 0; step < 40; step++)
        if (turn_of(&tcall_openai, step % 2, head, html, step) !=
                TCALL_E_PROTOCOL ||
            runs ||
            !strstr(shown, "<!DOCTYPE html><html><body>Please log in")) {
            printf("step %u: %s\n", (unsigned)step, shown);
            return false;
        }
    for (i = 0; i < 2 * COUNT(odd); i++)
        if (turn_of(&tcall_openai, i % 2, head, odd[i / 2], 0) >= 0 || runs ||
            !strstr(shown, "Log in first")) {
            printf("  %s: %s\n", odd[i / 2], shown);
            return false;
        }
    return turn_of(&tcall_anthropic, true, head, html, 0) < 0 && runs == 0 &&
           strstr(shown, "<!DOCTYPE html>") &&
           /* what a terminal would obey is not shown */
           turn_of(&tcall_openai, true, head, "\x1b[2Jno\x9b\r\n!", 0) < 0 &&
           strstr(shown, " [2Jno  !") != NULL;
}

static bool p03(void)
{
    static const struct {
        int status, error;
    } t[] = {{400, TCALL_E_REQUEST},
             {401, TCALL_E_AUTH},
             {403, TCALL_E_AUTH},
             {404, TCALL_E_NOT_FOUND}};
    static const char *const bodies[] = {
        "{\"error\":{\"message\":\"you sk-canary!\",\"type\":\"x\"}}",
        "{\"error\":{\"message\":\"you\",\"type\":\"sk-canary\"}}",
        "{\"error\":{\"message\":\"you\",\"code\":\"sk-canary\"}}",
        "{\"error\":{\"message\":\"you s\\u006b-canary\"}}",
        "{\"error\":\"you sk-canarysk-canary\"}",
        "you sk-canary: no\n",
        "<html>you Bearer sk-canary</html>"};
    size_t i, k, step;

    for (i = 0; i < COUNT(t); i++)
        for (k = 0; k < COUNT(bodies); k++) {
            char head[40];
            sprintf(head, "HTTP/1.1 %d No", t[i].status);
            for (step = 0; step < 20; step++)
                if (turn_of(&tcall_openai, step % 2, head, bodies[k], step) !=
                        t[i].error ||
                    runs || strstr(shown, "canary") || !strstr(shown, "you")) {
                    printf("  %d: %s\n", t[i].status, shown);
                    return false;
                }
        }
    return true;
}

static bool p04(void)
{
    static const char body[] =
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{"
        "\"role\":\"assistant\",\"content\":[]}}\n\n"
        "event: content_block_start\ndata: {\"type\":\"content_block_start\","
        "\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c\","
        "\"name\":\"fire\",\"input\":{}}}\n\n"
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
        "\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":"
        "\"{\\\"n\\\":12345}\"}}\n\n"
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\","
        "\"index\":0}\n\n"
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":"
        "\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";

    return turn_of(&tcall_anthropic, true, "HTTP/1.1 200 OK", body, 0) ==
               TCALL_E_OVERLOAD &&
           runs == 0;
}

#define DELTA(x) "data: {\"choices\":[{\"index\":0,\"delta\":{" x "}}]}"
#define CALL(i, id, name, args)                                     \
    DELTA("\"tool_calls\":[{\"index\":" i id ",\"function\":{" name \
          "\"arguments\":\"" args "\"}}]")
#define STOP                                                           \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":" \
    "\"tool_calls\"}]}"
#define ID   ",\"id\":\"c1\""
#define NAME "\"name\":\"fire\","

static bool p05(void)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    static const char *const lines[] = {
        ": comment",
        "event: x",
        CALL("0", ID, NAME, "{\\\"n\\\""),
        "",
        CALL("0", "", "", ":12345}"),
        "",
        "id: 7",
        "retry: 9",
        "",
        "",
        "data: {\"choices\":[{\"index\":0,", /* one event in two lines */
        "data: \"delta\":{},\"finish_reason\":\"tool_calls\"}]}",
        "",
        "data: [DONE]",
        ""};
    size_t e, i, step;

    for (e = 0; e < COUNT(ends); e++) {
        char body[2048];
        char *p = body + sprintf(body, "\xef\xbb\xbf");
        for (i = 0; i < COUNT(lines); i++)
            p += sprintf(p, "%s%s", lines[i], ends[e]);
        for (step = 0; step < 40; step++) {
            int r = turn_of(&tcall_openai, true, "HTTP/1.1 200 OK", body, step);
            if (r != TCALL_E_LIMIT || runs != 1)
                return false;
        }
    }
    return true;
}

static bool p06(void)
{
    char *body =
        many("data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls"
             "\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":"
             "\"fire\",\"arguments\":\"{\\\"n\\\":12345",
             " ", 100000, "}\"}}]}}]}\n\n" STOP "\n\ndata: [DONE]\n\n");
    int r = turn_of(&tcall_openai, true, "HTTP/1.1 200 OK", body, 0);
    bool kept_out = runs == 0 && r < 0;

    r = turn_of(&tcall_openai, true, "HTTP/1.1 200 OK",
                CALL("0", ID, NAME, ARGS) "\n\n", 0);
    return kept_out && r < 0 && r != TCALL_E_LIMIT && runs == 0;
}

/* At most what was asked for runs, and what runs is right. */
static bool p07(void)
{
    static const struct {
        const char *body;
        int runs;
    } t[] = {
        /* two calls in turns */
        {CALL("0", ID, NAME, "{\\\"n\\\"") "\n\n" CALL(
             "1", ",\"id\":\"c2\"", NAME,
             "{\\\"n\\\"") "\n\n" CALL("0", "", "",
                                       ":12345}") "\n\n" CALL("1", "", "",
                                                              ":12345}") "\n"
                                                                         "\n" STOP
                                                                         "\n\nd"
                                                                         "ata: "
                                                                         "[DONE"
                                                                         "]\n"
                                                                         "\n",
         2},
        /* a gap */
        {CALL("7", ID, NAME, ARGS) "\n\n" STOP "\n\ndata: [DONE]\n\n", 1},
        /* far away */
        {CALL("2147483648", ID, NAME, ARGS) "\n\n" STOP "\n\ndata: [DONE]\n\n",
         -1},
        {CALL("-1", ID, NAME, ARGS) "\n\n" STOP "\n\ndata: [DONE]\n\n", -1},
        /* the name comes late */
        {CALL("0", ID, "", "") "\n\n" CALL(
             "0", "", NAME, ARGS) "\n\n" STOP "\n\ndata: [DONE]\n\n",
         -1},
        /* the id comes again */
        {CALL("0", ID, NAME, "{\\\"n\\\"") "\n\n" CALL(
             "0", ID, NAME, ":12345}") "\n\n" STOP "\n\ndata: [DONE]\n\n",
         -1},
    };
    size_t i;

    for (i = 0; i < COUNT(t); i++) {
        int r = turn_of(&tcall_openai, true, "HTTP/1.1 200 OK", t[i].body, 0);
        if (r >= 0 || (t[i].runs < 0 ? runs > 1 : runs != t[i].runs)) {
            printf("  case %u: %d, %d ran\n", (unsigned)i, r, runs);
            return false;
        }
    }
    return true;
}

static bool p09(void)
{
    static const char *const bodies[] = {
        "<html>502 Bad Gateway</html>",
        "",
        "null",
        "[]",
        "7",
        "\"x\"",
        "{}",
        "{\"error\":7}",
        "{\"error\":{\"message\":[1]}}",
        "{\"error\":[{}]}",
        "{\"choices\":7}",
        "{\"choices\":[7]}",
        "{\"choices\":{\"message\":1}}",
        "{\"choices\":[{\"message\":7}]}",
        "{\"choices\":[{\"message\":{\"tool_calls\":7}}]}",
        "{\"choices\":[{\"message\":{\"tool_calls\":[7]}}]}",
        "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":7,\"function\":7}]"
        "},\"finish_reason\":\"tool_calls\"}]}",
        "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"c\","
        "\"function\":{\"name\":[],\"arguments\":{}}}]}}]}",
        "{\"choices\":[{\"message\":{\"content\":{}},\"finish_reason\":[]}]}",
        "{\"usage\":\"x\",\"choices\":null}"};
    static const tcall_provider *const providers[] = {
        &tcall_openai, &tcall_anthropic, &tcall_ollama, &tcall_responses,
        &tcall_gemini};
    size_t i, k;
    int stream;

    for (i = 0; i < COUNT(bodies); i++)
        for (k = 0; k < COUNT(providers); k++)
            for (stream = 0; stream < 2; stream++) {
                if (turn_of(providers[k], stream, "HTTP/1.1 502 Bad", bodies[i],
                            0) >= 0 ||
                    runs)
                    return false;
                (void)turn_of(providers[k], stream, "HTTP/1.1 200 OK",
                              bodies[i], 0);
                if (runs)
                    return false;
            }
    return true;
}

#define SAYS_DONE                                                            \
    OK "\r\n{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"," \
       "\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}"

/* A turn of two rounds, a connection each, every answer ended by its end; the
 * second request is in sent. */
static char sent[1 << 16];

static int two_rounds(unsigned *connects)
{
    script s;
    int r;

    memset(&s, 0, sizeof s);
    s.text = OK "Connection: close\r\n\r\n" WHOLE(ARGS);
    s.len = strlen(s.text);
    s.next = SAYS_DONE;
    s.heard = sent;
    s.heard_cap = sizeof sent;
    sent[0] = '\0';
    max_rounds = 2;
    r = turn(&s, &tcall_openai, false);
    max_rounds = 1;
    *connects = (unsigned)s.connects;
    return r;
}

/* Is the body that was sent as long as was announced, one JSON value, and is
 * its last message the tool's result: all of it, else its beginning and how
 * long it was? */
static bool is_result_sent(size_t *kept)
{
    static tcall_tok tok[200];
    const char *length = strstr(sent, "Content-Length: "), *text;
    char *body = strstr(sent, "\r\n\r\n");
    char cut[80];
    tcall_json v;

    if (!length || !body || strlen(body += 4) != (size_t)atol(length + 16) ||
        tcall_json_parse(&v, body, strlen(body), tok, COUNT(tok), NULL) < 0)
        return false;
    v = tcall_json_get(v, "messages");
    v = tcall_json_at(v, tcall_json_count(v) - 1);
    text = tcall_json_string(tcall_json_get(v, "content"), "");
    *kept = strspn(text, "x");
    sprintf(cut, "\n[output cut: all of it are %u bytes]",
            (unsigned)result_size + 4);
    return tcall_str_eq(tcall_json_str(tcall_json_get(v, "role")),
                        tcall_str_of("tool")) &&
           tcall_str_eq(tcall_json_str(tcall_json_get(v, "tool_call_id")),
                        tcall_str_of("c")) &&
           (strcmp(text + *kept, "done") == 0 ? *kept == result_size
                                              : strcmp(text + *kept, cut) == 0);
}

/* Of a result that is too long what fits is sent with the note that it was
 * cut, whatever the tool returned of it: whole JSON, and the tool runs once. */
static bool p10(void)
{
    bool ok = true;
    size_t kept = 0, whole = 0, sizes = 0;

    for (result_size = 0; ok && sizes < 80; result_size += 777, sizes++) {
        unsigned connects;
        int r;
        result_strict = sizes % 2;
        r = two_rounds(&connects);
        ok = r == 0 && runs == 1 && connects == 2 && is_result_sent(&kept) &&
             strstr(shown, "Done.");
        whole += kept == result_size;
        if (!ok)
            printf("  a result of %u bytes, %u kept: %d, %d ran, %u "
                   "connections\n",
                   (unsigned)result_size + 4, (unsigned)kept, r, runs,
                   connects);
    }
    result_size = 0;
    result_strict = true;
    return ok && whole > 10 && whole < 40;
}

/* ---- over sockets ---- */

static mkcert_result local, other, wild, past, future;
static heard y;
static tport port;

static visit nothing(unsigned n)
{
    visit v = {"", 0, 1, SILENT, 0, 0};

    (void)n;
    return v;
}

static visit hello(unsigned n)
{
    visit v = {HELLO, 0, 9, ORDERLY, 0, 0};

    (void)n;
    return v;
}

/* One exchange with a server of this kind; answers its error. */
static int visit_once(const mkcert_result *c, const char *ca,
                      visit (*nth)(unsigned), uint32_t ms)
{
    peer p = peer_start(c, nth, 20);
    tport_desc d;
    int r;

    memset(&d, 0, sizeof d);
    d.ca_pem = ca ? ca : c ? c->ca : NULL;
    d.total_ms = ms;
    y.len = 0;
    y.res.status = 0;
    r = peer_port(&port, p, c != NULL || ca, d);
    if (r == 0) {
        peer_ask(tport_transport(&port), &y);
        r = y.error;
    }
    tport_free(&port);
    peer_stop(p);
    return r;
}

#define CUT_TEXT OK "Content-Length: 5\r\nX: y\r\n\r\nhello"
static int cut_end;

/* The n-th connection ends after n bytes; the last gets them all. */
static visit cut_nth(unsigned n)
{
    visit v = {CUT_TEXT, 0, 1, ORDERLY, 0, 0};

    v.len = n + 1;
    v.end = cut_end;
    return v;
}

/* Every early end of one answer over real sockets: an error every time, and
 * one connection for each, so that nothing was sent twice. */
static bool early_ends(bool tls, int end)
{
    peer p;
    tport_desc d;
    size_t n;
    bool told = true;

    cut_end = end;
    p = peer_start(tls ? &local : NULL, cut_nth, 60);
    memset(&d, 0, sizeof d);
    d.ca_pem = local.ca;
    d.total_ms = 5000;
    told = peer_port(&port, p, tls, d) == 0;
    for (n = 1; told && n <= sizeof CUT_TEXT - 1; n++) {
        peer_ask(tport_transport(&port), &y);
        told = n < sizeof CUT_TEXT - 1
                   ? y.error == TCALL_E_CLOSED
                   : end == RESET || (y.error == 0 && y.len == 5);
        if (!told)
            printf("  end %d after %u bytes: %d, %u bytes of body\n", end,
                   (unsigned)n, y.error, (unsigned)y.len);
    }
    tport_free(&port);
    peer_stop(p);
    return told;
}

static bool h14(void)
{
    return early_ends(false, RESET) && early_ends(true, RESET);
}

static bool n_fin(void)
{
    return early_ends(false, FIN);
}

static bool n_notify(void)
{
    return early_ends(true, FIN) && early_ends(true, ORDERLY);
}

static visit endless_fin(unsigned n)
{
    visit v = {OK "\r\nhello", 0, 1, ORDERLY, 0, 0};

    v.end = n % 2 ? ORDERLY : FIN;
    return v;
}

static visit framed_fin(unsigned n)
{
    visit v = {HELLO, 0, 1, FIN, 0, 0};

    (void)n;
    return v;
}

static bool t07(void)
{
    return visit_once(&local, NULL, endless_fin, 5000) == TCALL_E_CLOSED &&
           visit_once(&local, NULL, framed_fin, 5000) == 0 && y.len == 5;
}

/* Sends one big body to a server that goes without reading it. The test would
 * die of SIGPIPE. */
static visit rude(unsigned n)
{
    visit v = {"", 0, -1, RESET, 0, 0};

    (void)n;
    return v;
}

static bool h16(void)
{
    static const tcall_request q = {"POST", "/", NULL, 0, 1 << 22};
    static char bytes[1 << 16];
    peer p = peer_start(NULL, rude, 20);
    script s;
    tport_desc d;
    tcall_transport t;
    int r;

    memset(&d, 0, sizeof d);
    d.total_ms = 5000;
    if (peer_port(&port, p, false, d) < 0)
        return false;
    t = tport_transport(&port);
    r = t.open(t.user, &q, &y.res);
    for (size_t n = 0; r >= 0 && n < q.body_len; n += (size_t)r)
        r = t.write(t.user, bytes,
                    q.body_len - n < sizeof bytes ? q.body_len - n
                                                  : sizeof bytes);
    if (r >= 0)
        r = t.read(t.user, bytes, sizeof bytes);
    t.close(t.user);
    tport_free(&port);
    peer_stop(p);
    memset(&s, 0, sizeof s);
    s.text = HELLO;
    s.len = strlen(s.text);
    s.step = 1;
    s.stutter = true;
    script_ask(&s, "GET", 1, &x);
    /* Reset before or after connecting was seen to be over. */
    return (r == TCALL_E_CLOSED || r == TCALL_E_CONNECT) && x.error == 0 &&
           x.len == 5;
}

static char elsewhere[200];

static visit moved(unsigned n)
{
    visit v = {elsewhere, 0, 1, ORDERLY, 0, 0};

    (void)n;
    return v;
}

static bool h19(void)
{
    uint16_t number;
    int trap = peer_listen(&number), r;
    fd_set set;
    struct timeval soon = {0, 50000};

    sprintf(elsewhere,
            "HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:%u/\r\n"
            "Content-Length: 1\r\n\r\nz",
            (unsigned)number);
    r = visit_once(NULL, NULL, moved, 5000);
    FD_ZERO(&set);
    FD_SET(trap, &set);
    r = r == 0 && y.res.status == 307 && y.len == 1 &&
        select(trap + 1, &set, NULL, NULL, &soon) == 0;
    close(trap);
    return r;
}

/* Slow and silent servers: the whole exchange has one limit. */
static visit slowly(unsigned n)
{
    visit v = {HELLO, 0, 1, ORDERLY, 30, 0};

    (void)n;
    return v;
}

static visit pings(unsigned n)
{
    visit v = {NULL, 0, 1, SILENT, 5, 0};
    static char text[4000];
    size_t i = (size_t)sprintf(text, OK "\r\n");

    (void)n;
    for (; i + 9 < sizeof text; i += 8)
        memcpy(text + i, ": ping\n\n", 9);
    v.text = text;
    return v;
}

static bool is_late(visit (*nth)(unsigned))
{
    uint32_t began = tport_posix_now_ms(), took;
    int r = visit_once(NULL, NULL, nth, 300);

    took = tport_posix_now_ms() - began;
    return r == TCALL_E_TIMEOUT && took >= 290 && took < 3000;
}

static visit steadily(unsigned n)
{
    visit v = {HELLO, 0, 1, ORDERLY, 20, 0};

    (void)n;
    return v;
}

/* As long as bytes come the idle limit does not strike. */
static bool is_patient(void)
{
    peer p = peer_start(NULL, steadily, 20);
    tport_desc d;
    bool ok;

    memset(&d, 0, sizeof d);
    d.idle_ms = 500;
    ok = peer_port(&port, p, false, d) == 0;
    if (ok)
        peer_ask(tport_transport(&port), &y);
    ok = ok && y.error == 0 && y.len == 5;
    tport_free(&port);
    d.max_body = 4;
    ok = ok && peer_port(&port, p, false, d) == 0;
    if (ok)
        peer_ask(tport_transport(&port), &y);
    ok = ok && y.error == TCALL_E_LIMIT;
    tport_free(&port);
    peer_stop(p);
    return ok;
}

/* A server that never reads: writing has the same limit. */
static bool is_deaf(void)
{
    static const tcall_request q = {"POST", "/", NULL, 0, 1 << 28};
    static char bytes[1 << 15];
    peer p = {0, 0};
    int fd = peer_listen(&p.port), r;
    uint32_t began = tport_posix_now_ms(), took;
    tport_desc d;
    tcall_transport t;

    memset(&d, 0, sizeof d);
    d.total_ms = 300;
    r = peer_port(&port, p, false, d);
    t = tport_transport(&port);
    if (r == 0)
        r = t.open(t.user, &q, &y.res);
    while (r >= 0)
        r = t.write(t.user, bytes, sizeof bytes);
    t.close(t.user);
    took = tport_posix_now_ms() - began;
    tport_free(&port);
    close(fd);
    return r == TCALL_E_TIMEOUT && took >= 290 && took < 3000;
}

static bool n_slow(void)
{
    return is_late(slowly) && is_late(nothing) && is_patient() && is_deaf();
}

static bool p08(void)
{
    return is_late(pings);
}

/* ---- TLS ---- */

/* Connects TLS for a name to a server on this machine. */
static int greet(const mkcert_result *c, const char *name, const char *ca)
{
    peer p = peer_start(c, hello, 20);
    tport_posix socket_;
    tport_tls tls;
    tport_tls_desc d;
    tport_stream s;
    int r;

    memset(&d, 0, sizeof d);
    d.host = name;
    d.ca_pem = ca;
    tport_posix_init(&socket_, "127.0.0.1", p.port);
    r = tport_tls_init(&tls, &d, tport_posix_stream(&socket_));
    s = tport_tls_stream(&tls);
    if (r == 0)
        while ((r = s.connect(s.user)) == TCALL_E_AGAIN)
            s.wait(s.user, 5000);
    tport_tls_free(&tls);
    peer_stop(p);
    return r;
}

static bool t01(void)
{
    return greet(&other, "localhost", other.ca) == TCALL_E_WRONG_HOST &&
           greet(&other, "127.0.0.1", other.ca) == TCALL_E_WRONG_HOST &&
           greet(&local, "127.0.0.1", local.ca) == 0 &&
           greet(&local, "127.0.0.2", local.ca) == TCALL_E_WRONG_HOST &&
           greet(&wild, "a.test", wild.ca) == 0 &&
           greet(&wild, "a.b.test", wild.ca) == TCALL_E_WRONG_HOST &&
           greet(&wild, "test", wild.ca) == TCALL_E_WRONG_HOST;
}

static bool t02(void)
{
    return greet(&local, NULL, local.ca) == TCALL_E_USAGE &&
           greet(&local, "", local.ca) == TCALL_E_USAGE;
}

static bool t03(void)
{
    return greet(&past, "localhost", past.ca) == TCALL_E_EXPIRED &&
           greet(&future, "localhost", future.ca) == TCALL_E_NOT_YET;
}

static bool t05(void)
{
    return greet(&local, "localhost", other.ca) == TCALL_E_CERTIFICATE &&
           greet(&local, "localhost", "") == TCALL_E_CERTIFICATE &&
           greet(&local, "localhost", NULL) == TCALL_E_CERTIFICATE;
}

/* Speaks as web servers do to what is no HTTP. */
static visit plain(unsigned n)
{
    visit v = {"HTTP/1.1 400 Bad Request\r\n\r\n", 0, -1, SILENT, 0, 0};

    (void)n;
    return v;
}

static bool t06(void)
{
    uint32_t began = tport_posix_now_ms();
    bool ok = visit_once(NULL, local.ca, plain, 3000) == TCALL_E_TLS;

#if MBEDTLS_VERSION_NUMBER < 0x03000000
    peer_old = true;
    ok = ok && visit_once(&local, NULL, hello, 3000) == TCALL_E_TLS;
    peer_old = false;
#endif
    return ok && y.res.status == 0 && tport_posix_now_ms() - began < 3000;
}

/* A stream that does nothing every second time, and little in between. */
typedef struct slow {
    tport_stream lower;
    unsigned calls;
} slow;

static int slow_connect(void *user)
{
    slow *s = (slow *)user;

    return s->calls++ % 2 ? TCALL_E_AGAIN : s->lower.connect(s->lower.user);
}

static int slow_read(void *user, char *b, size_t n)
{
    slow *s = (slow *)user;

    return s->calls++ % 2 ? TCALL_E_AGAIN
                          : s->lower.read(s->lower.user, b, n < 7 ? n : 7);
}

static int slow_write(void *user, const char *b, size_t n)
{
    slow *s = (slow *)user;

    return s->calls++ % 2 ? TCALL_E_AGAIN
                          : s->lower.write(s->lower.user, b, n < 7 ? n : 7);
}

static void slow_close(void *user)
{
    slow *s = (slow *)user;

    s->lower.close(s->lower.user);
}

static bool t08(void)
{
    static const tcall_request q = {"POST", "/", NULL, 0, 1};
    peer p = peer_start(&local, hello, 20);
    tport_posix socket_;
    tport_tls tls;
    tport_tls_desc d;
    tport_http h;
    slow s;
    tport_stream stream = {slow_connect, slow_read, slow_write, slow_close,
                           NULL,         NULL,      NULL};
    unsigned turns = 0;
    char b[100];
    int r;

    memset(&d, 0, sizeof d);
    d.host = "localhost";
    d.ca_pem = local.ca;
    s.calls = 0;
    tport_posix_init(&socket_, "127.0.0.1", p.port);
    s.lower = tport_posix_stream(&socket_);
    stream.user = &s;
    r = tport_tls_init(&tls, &d, stream);
    tport_http_init(&h, tport_tls_stream(&tls), "localhost", "");
#define REPEAT(call)                                                    \
    while (r >= 0 && (r = (call)) == TCALL_E_AGAIN && turns++ < 5000) { \
        s.lower.wait(s.lower.user, 1);                                  \
        r = 0;                                                          \
    }
    REPEAT(tport_http_open(&h, &q, &y.res))
    REPEAT(tport_http_write(&h, "$", 1))
    REPEAT(tport_http_read(&h, b, sizeof b))
    tport_http_drop(&h);
    tport_tls_free(&tls);
    peer_stop(p);
    /* A handshake and an answer are less than 4 KB, so 600 pieces of 7. */
    return r == 5 && memcmp(b, "hello", 5) == 0 && s.calls < 5000;
}

static size_t stall_after;

static visit stalls(unsigned n)
{
    visit v = {HELLO, 0, 1, SILENT, 0, 0};

    (void)n;
    v.budget = stall_after;
    return v;
}

static bool t09(void)
{
    static const size_t after[] = {1, 5, 60, 100, 700, 1100, 1300};
    size_t i;

    for (i = 0; i < COUNT(after); i++) {
        uint32_t began = tport_posix_now_ms(), took;
        int r;
        stall_after = after[i];
        r = visit_once(&local, NULL, stalls, 150);
        took = tport_posix_now_ms() - began;
        if (r != TCALL_E_TIMEOUT || took < 140 || took > 3000 || y.res.status)
            return false;
    }
    return true;
}

/* "localhost" is [::1] and 127.0.0.1, and the server listens to one. */
static bool t12(void)
{
    struct addrinfo hints, *list;
    int first;

    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(NULL, "80", &hints, &list) != 0)
        return false;
    first = list->ai_family;
    freeaddrinfo(list);
    if (first != AF_INET6)
        puts("  (here 127.0.0.1 is the first address of localhost)");
    return visit_once(NULL, NULL, hello, 5000) == 0 && y.len == 5;
}

static bool t13(void)
{
    bool ok;

    peer_second = &other;
    ok = greet(&local, "other.test", other.ca) == 0 &&
         greet(&local, "localhost", local.ca) == 0 &&
         greet(&local, "third.test", local.ca) == TCALL_E_WRONG_HOST;
    peer_second = NULL;
    return ok;
}

static bool p01(void)
{
    static const struct {
        const char *lines;
        long ms;
    } t[] = {{"Retry-After: 2", 2000},
             {"Date: Wed, 21 Oct 2015 07:28:00 GMT\r\n"
              "Retry-After: Wed, 21 Oct 2015 07:28:30 GMT",
              30000},
             {"Retry-After: 99999999", 0x7fffffff},
             {"Retry-After: -5", -1},
             {"Retry-After: soon", -1}};
    size_t i;

    for (i = 0; i < COUNT(t); i++) {
        char text[300];
        sprintf(text, "HTTP/1.1 429 Slow\r\n%s\r\nContent-Length: 0\r\n\r\n",
                t[i].lines);
        if (ask(text, 0, 0) != 0 || x.retry_after_ms != t[i].ms)
            return false;
    }
    return true;
}

/* ---- the table ---- */

static const struct {
    const char *id, *what;
    bool (*run)(void);
    const char *by; /* file of tests:function that shows the row as well */
} rows[] = {
    {"H01", "CL 50, 5 bytes, close", h01, NULL},
    {"H02", "chunked cut anywhere", h02, NULL},
    {"H03", "chunk sizes that are none", h03, NULL},
    {"H04", "lengths that are none", h04, NULL},
    {"H05", "two lengths, length and coding", h05, NULL},
    {"H06", "unknown or stacked transfer coding", h06, NULL},
    {"H07", "LF only, folded, no name, NUL", h07, NULL},
    {"H08", "HTTP/0.9, HTTP/9.9, two-digit status", h08, NULL},
    {"H09", "100 and 103 first; 500 of them", h09, NULL},
    {"H10", "1 MB line, 20,000 headers, 1 MB extension", h10, NULL},
    {"H11", "204, 304, HEAD with a body", h11, NULL},
    {"H12", "bytes after the body", h12, NULL},
    {"H13", "close before status, in it, in a header", h13, NULL},
    {"H14", "RST at every byte, plain and TLS", h14, NULL},
    {"H15", "every answer cut everywhere", NULL,
     "test_port_http.c:test_splits"},
    {"H16", "send takes 1 byte; EAGAIN; no SIGPIPE", h16, NULL},
    {"H17", "CR, LF in a header to send", h17, NULL},
    {"H18", "HTML with status 200", h18, NULL},
    {"H19", "redirect", h19, NULL},
    {"H20", "beside http_parser", NULL, "test_port_diff.c:explain"},
    {"T01", "wrong name, wildcard, address", t01, NULL},
    {"T02", "no host name", t02, NULL},
    {"T03", "expired, not yet valid", t03, NULL},
    {"T04", "clock of 1970", NULL, "test_port.c:test_tls_machine"},
    {"T05", "unknown CA, no CA", t05, NULL},
    {"T06", "TLS 1.1 at most, plain server", t06, NULL},
    {"T07", "FIN without close_notify", t07, NULL},
    {"T08", "again at every step, no spin", t08, NULL},
    {"T09", "stall in each flight of the handshake", t09, NULL},
    {"T10", "no entropy, no memory", NULL, "test_port_faults.c:sweep"},
    {"T11", "names that are not resolved", NULL, "test_port.c:test_names"},
    {"T12", "first address refuses", t12, "test_port.c:test_names"},
    {"T13", "two certificates by SNI", t13, NULL},
    {"T14", "the clock wraps while waiting", NULL,
     "test_port_faults.c:test_wrap"},
    {"P01", "Retry-After of every kind", p01, NULL},
    {"P02", "529, 503 without advice", NULL, "test_retry.c:test_budgets"},
    {"P03", "400, 401, 403, 404", p03, NULL},
    {"P04", "overloaded_error inside a stream", p04, NULL},
    {"P05", "SSE in every piece and with every line end", p05, NULL},
    {"P06", "endless line, no end marker", p06, NULL},
    {"P07", "deltas in turns, gaps, far indices", p07, NULL},
    {"P08", "pings only", p08, NULL},
    {"P09", "pages and wrong types", p09, NULL},
    {"P10", "a result larger than the block", p10, NULL},
    {"P11", "a key with a newline", p11, NULL},
    {"N01", "one byte at a time", NULL, "test_port_http.c:test_splits"},
    {"N02", "FIN at every byte, plain", n_fin, NULL},
    {"N03", "FIN and close_notify at every byte, TLS", n_notify, NULL},
    {"N04", "slow and silent server", n_slow, NULL},
    {"N05", "a dead kept connection", NULL, "test_port.c:test_stale"},
    {"N06", "a call of the system fails", NULL, "test_port_faults.c:sweep"},
    {"N07", "nobody resolves, nobody listens", NULL,
     "test_port.c:test_loopback_plain"},
};

/* Is there such a function in such a file? -1: no such file. */
static int is_there(const char *by)
{
    static char text[1 << 20];
    const char *colon = strchr(by, ':');
    char path[100], want[100];
    FILE *f;
    size_t n;

    sprintf(path, "tests/%.*s", (int)(colon - by), by);
    f = fopen(path, "r");
    if (!f)
        return -1;
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    sprintf(want, " %s(", colon + 1);
    return strstr(text, want) != NULL;
}

int main(void)
{
    static const struct {
        mkcert_result *to;
        mkcert_request q;
    } certs[] = {{&local, {"localhost", "20200101000000", "20491231235959"}},
                 {&other, {"other.test", "20200101000000", "20491231235959"}},
                 {&wild, {"*.test", "20200101000000", "20491231235959"}},
                 {&past, {"localhost", "20200101000000", "20200201000000"}},
                 {&future, {"localhost", "20480101000000", "20491231235959"}}};
    unsigned passed = 0, failed = 0, skipped = 0;
    size_t i;

    alarm(300);
    for (i = 0; i < COUNT(certs); i++)
        if (mkcert(certs[i].to, &certs[i].q) != 0)
            failed++;
    for (i = 0; i < COUNT(rows); i++) {
        uint32_t began = tport_posix_now_ms();
        int ok = rows[i].by ? is_there(rows[i].by) : 1;
        if (ok == 1 && rows[i].run)
            ok = rows[i].run();
        passed += ok == 1;
        failed += ok == 0;
        skipped += ok < 0;
        printf("%s %-7s %-44s %s", rows[i].id,
               ok < 0 ? "SKIPPED"
               : ok   ? "pass"
                      : "FAILED",
               rows[i].what, rows[i].by ? rows[i].by : "");
        if (rows[i].run)
            printf("%s%u ms", rows[i].by ? ", " : "",
                   (unsigned)(tport_posix_now_ms() - began));
        puts(ok < 0 ? ", which is not there" : "");
    }
    printf("test_port_rows: %u passed, %u failed, %u skipped\n", passed, failed,
           skipped);
    return failed != 0;
}
