/* An agent's turns over HTTP: errors of providers, broken streams, results that
 * do not fit. Nothing runs that should not. */
#define _DEFAULT_SOURCE /* usleep */
#include "turn.h"

#include <stdlib.h>
#include <unistd.h>
#include "rows.h"

#define OK       "HTTP/1.1 200 OK\r\n"
#define CHUNKED  OK "Transfer-Encoding: chunked\r\n\r\n"
#define HELLO    OK "Content-Length: 5\r\n\r\nhello"
#define COUNT(a) (sizeof(a) / sizeof *(a))

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

static bool html_with_status_200(void)
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
           strstr(shown, " [2Jno") && !strpbrk(shown, "\x1b\x9b\r\n");
}

static bool client_errors(void)
{
    static const struct {
        int status, error;
    } t[] = {{400, TCALL_E_REQUEST},
             {401, TCALL_E_AUTH},
             {403, TCALL_E_DENIED},
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

static bool overloaded_in_stream(void)
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

static bool streams_in_pieces(void)
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

static bool endless_lines(void)
{
    char *body =
        many("data: {\"choices\":[{\"index\":0,"
             "\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\","
             "\"function\":{\"name\":\"fire\","
             "\"arguments\":\"{\\\"n\\\":12345",
             " ", 100000, "}\"}}]}}]}\n\n" STOP "\n\ndata: [DONE]\n\n");
    int r = turn_of(&tcall_openai, true, "HTTP/1.1 200 OK", body, 0);
    bool kept_out = runs == 0 && r < 0;

    r = turn_of(&tcall_openai, true, "HTTP/1.1 200 OK",
                CALL("0", ID, NAME, ARGS) "\n\n", 0);
    return kept_out && r < 0 && r != TCALL_E_LIMIT && runs == 0;
}

/* Two calls whose arguments come in turns; those of the second end so. */
#define FIRST  CALL("0", ID, NAME, "{\\\"n\\\"") "\n\n"
#define SECOND CALL("1", ",\"id\":\"c2\"", NAME, "{\\\"n\\\"") "\n\n"
#define IN_TURNS(end)                                      \
    FIRST SECOND CALL("0", "", "", ":12345}") "\n\n" CALL( \
        "1", "", "", ":12345" end) "\n\n" STOP "\n\ndata: [DONE]\n\n"

/* At most what was asked for runs, and what runs is right. */
static bool deltas_in_turns(void)
{
    static const struct {
        const char *body;
        int runs;
    } t[] = {
        /* two calls in turns */
        {IN_TURNS(",\\\"of\\\":2}"), 2},
        /* the same call twice runs once: see >>loops */
        {IN_TURNS("}"), 1},
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

static bool pages_and_wrong_types(void)
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
    const char *length = strstr(sent, "Content-Length: "), *text;
    char *body = strstr(sent, "\r\n\r\n");
    char cut[80];
    tcall_json v;

    if (!length || !body || strlen(body += 4) != (size_t)atol(length + 16) ||
        tcall_json_parse(&v, body, strlen(body), NULL) < 0)
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
static bool results_larger_than_block(void)
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

int main(void)
{
    static const row rows[] = {
        {"HTML with status 200", html_with_status_200},
        {"400, 401, 403, 404", client_errors},
        {"overloaded_error inside a stream", overloaded_in_stream},
        {"SSE in every piece and with every line end", streams_in_pieces},
        {"endless line, no end marker", endless_lines},
        {"deltas in turns, gaps, far indices", deltas_in_turns},
        {"pages and wrong types", pages_and_wrong_types},
        {"a result larger than the block", results_larger_than_block},
    };

    alarm(300);
    return run_rows("test_port_turns", rows, COUNT(rows));
}
