/*
 * standin.c - a stand-in model: a server that speaks like the real ones
 *
 *     standin --cert FILE --key FILE    https on 127.0.0.1, a free port
 *     standin --plain                   the same without TLS
 *     ... --require KEY                 refuses requests with another key
 *
 * It prints its address as one line and ends when its standard input does. It
 * answers POST /v1/chat/completions as OpenAI does, /v1/messages as Anthropic
 * does and /api/chat as Ollama does, whole or streamed. It is no language
 * model: it chooses tools by rules, see guess.h.
 */
#define _GNU_SOURCE
#include "toolcall.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <mbedtls/net_sockets.h>
#include <mbedtls/ssl.h>
#include <mbedtls/version.h>
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
#include <psa/crypto.h>
#endif
#include "examples/guess.h"

enum {
    MAX_HEAD = 16 * 1024,
    MAX_BODY = 4 * 1024 * 1024,
    MAX_RESULTS = 32,
    CHUNK = 61, /* streams leave in pieces that fit nothing */
    PIECE = 7   /* ... and say about this much at a time */
};

static void die(const char *what)
{
    fprintf(stderr, "standin: %s\n", what);
    exit(1);
}

/* ---- The connection: TLS or plain ---- */

typedef struct tls_server {
    mbedtls_ssl_config conf;
    mbedtls_x509_crt cert;
    mbedtls_pk_context key;
} tls_server;

typedef struct conn {
    mbedtls_net_context net;
    mbedtls_ssl_context ssl;
    bool tls;
} conn;

/* Random numbers are the kernel's, or PSA's, in each process its own. */
#if MBEDTLS_VERSION_NUMBER >= 0x04000000
#define RANDOM
#else
static int random_bytes(void *user, unsigned char *bytes, size_t len)
{
    (void)user;
    return getentropy(bytes, len);
}
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
#define RANDOM , random_bytes, NULL
#else
#define RANDOM
#endif
#endif

static bool random_begin(void)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
    mbedtls_psa_crypto_free();
    return psa_crypto_init() == PSA_SUCCESS;
#else
    return true;
#endif
}

static void tls_load(tls_server *s, const char *cert, const char *key)
{
    bool good;
    mbedtls_ssl_config_init(&s->conf);
    mbedtls_x509_crt_init(&s->cert);
    mbedtls_pk_init(&s->key);
    good = random_begin() && !mbedtls_x509_crt_parse_file(&s->cert, cert) &&
           !mbedtls_pk_parse_keyfile(&s->key, key, NULL RANDOM) &&
           !mbedtls_ssl_config_defaults(&s->conf, MBEDTLS_SSL_IS_SERVER,
                                        MBEDTLS_SSL_TRANSPORT_STREAM,
                                        MBEDTLS_SSL_PRESET_DEFAULT) &&
           !mbedtls_ssl_conf_own_cert(&s->conf, &s->cert, &s->key);
    if (!good)
        die("no certificate: give --cert FILE --key FILE, or --plain");
#if MBEDTLS_VERSION_NUMBER < 0x04000000
    mbedtls_ssl_conf_rng(&s->conf, random_bytes, NULL);
#endif
}

static bool conn_open(conn *c, tls_server *server)
{
    c->tls = server != NULL;
    mbedtls_ssl_init(&c->ssl);
    if (!server)
        return true;
    if (!random_begin() || mbedtls_ssl_setup(&c->ssl, &server->conf) != 0)
        return false;
    mbedtls_ssl_set_bio(&c->ssl, &c->net, mbedtls_net_send, mbedtls_net_recv,
                        NULL);
    return mbedtls_ssl_handshake(&c->ssl) == 0;
}

static int conn_read(conn *c, char *bytes, size_t cap)
{
    return c->tls ? mbedtls_ssl_read(&c->ssl, (void *)bytes, cap)
                  : mbedtls_net_recv(&c->net, (void *)bytes, cap);
}

/* A sink that sends all of it. */
static int conn_write(void *user, const char *bytes, size_t len)
{
    const unsigned char *from = (const unsigned char *)bytes;
    conn *c = user;
    size_t sent = 0;
    while (sent < len) {
        int n = c->tls ? mbedtls_ssl_write(&c->ssl, from + sent, len - sent)
                       : mbedtls_net_send(&c->net, from + sent, len - sent);
        if (n <= 0)
            return TCALL_E_CLOSED;
        sent += (size_t)n;
    }
    return (int)len;
}

static bool conn_print(conn *c, const char *text)
{
    return conn_write(c, text, strlen(text)) >= 0;
}

/* A sink that sends each piece as one chunk of HTTP. */
static int conn_write_chunk(void *user, const char *bytes, size_t len)
{
    char head[16];
    snprintf(head, sizeof head, "%zx\r\n", len);
    return conn_print(user, head) && conn_write(user, bytes, len) >= 0 &&
                   conn_print(user, "\r\n")
               ? (int)len
               : TCALL_E_CLOSED;
}

/* ---- What is asked, whichever format it came in ---- */

typedef enum format { OPENAI, ANTHROPIC, OLLAMA } format;

typedef struct ask {
    format format;
    const char *model;
    bool stream;
    bool none;      /* tool_choice: no call may be made */
    int turns;      /* how often the user said something */
    tcall_str text; /* what the user said last */
    /* Calls since then, with their results as far as they are there. */
    tcall_str names[MAX_RESULTS], results[MAX_RESULTS];
    bool failed[MAX_RESULTS];
    int call_count, result_count;
    const char *fault; /* what is wrong with the request; NULL: nothing */
    guess guess;       /* the tools */
} ask;

static void require(ask *a, bool holds, const char *fault)
{
    if (!holds && !a->fault)
        a->fault = fault;
}

static bool is(tcall_json v, const char *text)
{
    return strcmp(tcall_json_string(v, ""), text) == 0;
}

static void user_said(ask *a, tcall_json text)
{
    require(a, a->call_count == a->result_count,
            "tool calls must be followed by a result for each of them");
    a->text = tcall_json_str(text);
    a->turns++;
    a->call_count = a->result_count = 0;
}

static void model_called(ask *a, tcall_json name)
{
    require(a, a->call_count + 1 < MAX_RESULTS, "too many calls in one turn");
    a->names[a->call_count] = tcall_json_str(name);
    a->call_count += a->call_count + 1 < MAX_RESULTS;
}

/* Results come in the order of the calls. */
static void tool_answered(ask *a, tcall_json m)
{
    tcall_json content = tcall_json_get(m, "content");
    int i = a->result_count;
    require(a, i < a->call_count, "a result answers no call");
    if (tcall_json_type(content) == TCALL_ARRAY)
        content = tcall_json_get(tcall_json_first(content), "text");
    a->results[i] = tcall_str_of(tcall_json_string(content, ""));
    a->failed[i] = tcall_json_bool(tcall_json_get(m, "is_error"), false) ||
                   !strncmp(a->results[i].ptr, "{\"success\":false", 16);
    a->result_count += i < a->call_count;
}

/* A message; the content of those of Anthropic may be blocks. */
static void read_message(ask *a, tcall_json m)
{
    tcall_json role = tcall_json_get(m, "role");
    tcall_json content = tcall_json_get(m, "content");
    tcall_json v = tcall_json_first(tcall_json_get(m, "tool_calls"));
    for (; v.at; v = tcall_json_next(v))
        model_called(a, tcall_json_get(tcall_json_get(v, "function"), "name"));
    if (is(role, "tool"))
        tool_answered(a, m);
    else if (is(role, "user") && tcall_json_type(content) == TCALL_STRING)
        user_said(a, content);
    else if (tcall_json_type(content) == TCALL_ARRAY)
        for (v = tcall_json_first(content); v.at; v = tcall_json_next(v)) {
            tcall_json type = tcall_json_get(v, "type");
            if (is(type, "tool_use"))
                model_called(a, tcall_json_get(v, "name"));
            else if (is(type, "tool_result"))
                tool_answered(a, v);
            else if (is(type, "text") && is(role, "user"))
                user_said(a, tcall_json_get(v, "text"));
        }
}

static void read_tool(ask *a, tcall_json tool)
{
    bool anthropic = a->format == ANTHROPIC;
    guess *g = &a->guess;
    tcall_tool *t = &g->tools[g->tool_count];
    tcall_json *schema = &g->parameters[g->tool_count];
    if (!anthropic)
        tool = tcall_json_get(tool, "function");
    *schema = tcall_json_get(tool, anthropic ? "input_schema" : "parameters");
    t->run = never_run;
    t->allow_no_schema = true;
    t->name = tcall_json_string(tcall_json_get(tool, "name"), "");
    t->description = tcall_json_string(tcall_json_get(tool, "description"), "");
    require(a, is(tcall_json_get(*schema, "type"), "object"),
            "tools: the type of a schema must be 'object'");
    if (g->tool_count + 1 < GUESS_TOOLS)
        g->tool_count++;
}

static void read_ask(ask *a, tcall_json root)
{
    static char faults[400];
    tcall_json messages = tcall_json_get(root, "messages"), v;
    tcall_json choice = tcall_json_get(root, "tool_choice");
    tcall_json max_tokens = tcall_json_get(root, "max_tokens");
    tcall_writer w;
    a->model = tcall_json_string(tcall_json_get(root, "model"), NULL);
    a->stream =
        tcall_json_bool(tcall_json_get(root, "stream"), a->format == OLLAMA);
    a->none = is(choice, "none") || is(tcall_json_get(choice, "type"), "none");
    require(a, a->model != NULL, "model: Field required");
    require(a, a->format != ANTHROPIC || tcall_json_int(max_tokens, 0) > 0,
            "max_tokens: Field required");
    require(a, tcall_json_count(messages) > 0, "messages: Field required");
    v = tcall_json_first(tcall_json_get(root, "tools"));
    for (; v.at; v = tcall_json_next(v))
        read_tool(a, v);
    for (v = tcall_json_first(messages); v.at; v = tcall_json_next(v))
        read_message(a, v);
    require(a, a->call_count == a->result_count, "a call has no result");
    memset(faults, 0, sizeof faults);
    tcall_writer_init(&w, faults, sizeof faults - 1);
    require(a, guess_tools(&a->guess, &w), faults);
}

/* ---- What is answered ---- */

/* Writes a form, with ' for the quotes of JSON. %s is a JSON string, %d a
 * number (long), %j text as it is. */
static void put_list(tcall_writer *w, const char *form, va_list args)
{
    for (; *form; form++)
        if (*form == '%')
            switch (*++form) {
            case 's': tcall_write_string(w, va_arg(args, char *)); break;
            case 'd': tcall_write_int(w, va_arg(args, long)); break;
            default: tcall_write_text(w, va_arg(args, char *)); break;
            }
        else
            tcall_write_bytes(w, *form == '\'' ? "\"" : form, 1);
}

static void put(tcall_writer *w, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    put_list(w, form, args);
    va_end(args);
}

typedef struct reply {
    const char *model;
    char id[32];
    char text[64 * 1024];
    const guess_call *calls;
    char ids[GUESS_CALLS][32];
    int call_count;
} reply;

/* A result as people read it: of a JSON object its members, of a failure what
 * went wrong, all else as it is. */
static void say_result(tcall_str result, tcall_writer *w)
{
    static char copy[64 * 1024];
    tcall_json object, v;
    int len = snprintf(copy, sizeof copy, "%.*s", (int)result.len, result.ptr);
    if (tcall_json_parse(&object, copy, (size_t)len, NULL) < 0 ||
        tcall_json_type(object) != TCALL_OBJECT) {
        put(w, memchr(result.ptr, '\n', result.len) ? "\n" : " ");
        tcall_write_bytes(w, result.ptr, result.len);
        return;
    }
    v = tcall_json_get(object, "error");
    if (v.at) {
        put(w, " %j", tcall_json_string(v, ""));
        return;
    }
    for (v = tcall_json_first(object); v.at; v = tcall_json_next(v)) {
        tcall_str key = tcall_json_key(v), text = tcall_json_str(v);
        put(w, v.at == tcall_json_first(object).at ? " " : ", ");
        tcall_write_bytes(w, key.ptr, key.len);
        put(w, " ");
        if (tcall_json_type(v) == TCALL_STRING)
            tcall_write_bytes(w, text.ptr, text.len);
        else
            tcall_write_json(w, v);
    }
}

static void say_results(const ask *a, tcall_writer *w)
{
    for (int i = 0; i < a->call_count; i++) {
        put(w, i ? "\nThe tool " : "The tool ");
        tcall_write_bytes(w, a->names[i].ptr, a->names[i].len);
        put(w, a->failed[i] ? " could not do it:" : " answered:");
        say_result(a->results[i], w);
    }
}

/* What is said that asks for no tool. */
static const char *const replies[][2] = {
    {" quit leave exit ", "Type /quit, or press Ctrl-D."},
    {" thanks thank danke merci ", "You are welcome."},
    {" you ", "I follow simple requests; no tool of mine does that."},
    {" hello hi hey hallo bonjour hola ", "Hello. Ask for what a tool does."},
    {"", "No tool of mine does that."}};

static void say_tools(const ask *a, tcall_writer *w)
{
    const guess *g = &a->guess;
    size_t i = 0;
    if (g->lonely) {
        put(w,
            *g->elsewhere
                ? "The tool %j takes no place: I cannot do that for %j."
                : "To call the tool %j I need a value for '%j'.",
            g->lonely, *g->elsewhere ? g->elsewhere : g->missing);
        return;
    }
    if (a->none || !g->tool_count) {
        put(w, "There is no tool that I may use.");
        return;
    }
    while (*replies[i][0] && !has_word(g, replies[i][0]))
        i++;
    put(w, "%j I have:", replies[i][1]);
    for (int k = 0; k < g->tool_count; k++)
        put(w, k ? ", %j" : " %j", g->tools[k].name);
    put(w, ".");
}

/* The calls depend on the user's words alone; the first were made already. */
static void decide(ask *a, reply *r)
{
    guess *g = &a->guess;
    tcall_writer w;
    int left;
    r->model = a->model;
    snprintf(r->id, sizeof r->id, "answer_%08x", rand());
    g->call_count = 0;
    if (!a->none)
        guess_calls(g, a->text);
    left = g->call_count - a->call_count;
    r->calls = g->calls + a->call_count;
    r->call_count = left < 0 ? 0 : left;
    for (int i = 0; i < r->call_count; i++)
        snprintf(r->ids[i], sizeof r->ids[i], "call_%08x", rand());
    tcall_writer_init(&w, r->text, sizeof r->text - 1);
    if (!r->call_count) {
        if (a->turns <= 1)
            put(&w, "I am the stand-in model, no real language model. ");
        (a->call_count ? say_results : say_tools)(a, &w);
    }
    r->text[w.fill] = '\0';
}

/* ---- The answer in each format ---- */

/* A few bytes, whole characters only. */
static const char *next_piece(const char **text)
{
    static char piece[PIECE + 4];
    size_t n = 0;
    while (**text && (n < PIECE || ((unsigned char)**text & 0xc0) == 0x80))
        piece[n++] = *(*text)++;
    piece[n] = '\0';
    return piece;
}

/* ---- OpenAI: /v1/chat/completions ---- */

#define OPENAI_CALL \
    "%j{'id':%s,'type':'function','function':{'name':%s,'arguments':%s}}"

static void openai_whole(tcall_writer *w, const reply *r)
{
    put(w, "{'id':%s,'object':'chat.completion','created':1", r->id);
    put(w, ",'model':%s,'choices':[{'index':0,'message':{", r->model);
    put(w, "'role':'assistant','content':");
    put(w, r->call_count ? "null,'tool_calls':[" : "%s", r->text);
    for (int i = 0; i < r->call_count; i++)
        put(w, OPENAI_CALL, i ? "," : "", r->ids[i], r->calls[i].name,
            r->calls[i].arguments);
    put(w, "%j},'finish_reason':%s}],'usage':", r->call_count ? "]" : "",
        r->call_count ? "tool_calls" : "stop");
    put(w, "{'prompt_tokens':9,'completion_tokens':9}}");
}

/* One event; the form gives the members of its delta, none in the last. */
static void openai_event(tcall_writer *w, const reply *r, const char *form, ...)
{
    const char *why = r->call_count ? "\"tool_calls\"" : "\"stop\"";
    va_list args;
    put(w, "data: {'id':%s,'object':'chat.completion.chunk','created':1",
        r->id);
    put(w, ",'model':%s,'choices':[{'index':0,'delta':{", r->model);
    va_start(args, form);
    put_list(w, form, args);
    va_end(args);
    put(w, "},'finish_reason':%j}],'usage':", *form ? "null" : why);
    put(w,
        *form ? "null}\n\n" : "{'prompt_tokens':9,'completion_tokens':9}}\n\n");
}

static void openai_stream(tcall_writer *w, const reply *r)
{
    const char *p = r->text;
    openai_event(w, r, "'role':'assistant','content':''");
    while (*p)
        openai_event(w, r, "'content':%s", next_piece(&p));
    for (long i = 0; i < r->call_count; i++) {
        openai_event(w, r,
                     "'tool_calls':[{'index':%d,'id':%s,'type':'function',"
                     "'function':{'name':%s,'arguments':''}}]",
                     i, r->ids[i], r->calls[i].name);
        for (p = r->calls[i].arguments; *p;)
            openai_event(
                w, r, "'tool_calls':[{'index':%d,'function':{'arguments':%s}}]",
                i, next_piece(&p));
    }
    openai_event(w, r, "");
    put(w, "data: [DONE]\n\n");
}

/* ---- Anthropic: /v1/messages ---- */

static void anthropic_whole(tcall_writer *w, const reply *r)
{
    put(w, "{'id':%s,'type':'message','role':'assistant'", r->id);
    put(w, ",'model':%s,'content':[", r->model);
    if (*r->text)
        put(w, "{'type':'text','text':%s}", r->text);
    for (int i = 0; i < r->call_count; i++)
        put(w, "%j{'type':'tool_use','id':%s,'name':%s,'input':%j}",
            i ? "," : "", r->ids[i], r->calls[i].name, r->calls[i].arguments);
    put(w, "],'stop_reason':%s", r->call_count ? "tool_use" : "end_turn");
    put(w, ",'usage':{'input_tokens':9,'output_tokens':9}}");
}

/* One event. The real ones pad with blanks before the last brace. */
static void anthropic_event(tcall_writer *w, const char *type, const char *form,
                            ...)
{
    va_list args;
    put(w, "event: %j\ndata: {'type':%s", type, type);
    va_start(args, form);
    put_list(w, form, args);
    va_end(args);
    put(w, "   }\n\n");
}

/* A block: how it begins, then its text in pieces. */
static void anthropic_block(tcall_writer *w, long i, const char *begin,
                            const char *delta, const char *text)
{
    anthropic_event(w, "content_block_start", ",'index':%d,'content_block':%j",
                    i, begin);
    while (*text)
        anthropic_event(w, "content_block_delta", ",'index':%d,'delta':{%j:%s}",
                        i, delta, next_piece(&text));
    anthropic_event(w, "content_block_stop", ",'index':%d", i);
}

static void anthropic_stream(tcall_writer *w, const reply *r)
{
    anthropic_event(w, "message_start",
                    ",'message':{'id':%s,'type':'message','role':'assistant',"
                    "'model':%s,'content':[],'usage':{'input_tokens':9}}",
                    r->id, r->model);
    if (*r->text)
        anthropic_block(w, 0, "{\"type\":\"text\",\"text\":\"\"}",
                        "\"type\":\"text_delta\",\"text\"", r->text);
    for (int i = 0; i < r->call_count; i++) {
        char begin[256] = "";
        tcall_writer b;
        tcall_writer_init(&b, begin, sizeof begin - 1);
        put(&b, "{'type':'tool_use','id':%s,'name':%s,'input':{}}", r->ids[i],
            r->calls[i].name);
        anthropic_block(w, i, begin,
                        "\"type\":\"input_json_delta\",\"partial_json\"",
                        r->calls[i].arguments);
    }
    anthropic_event(w, "message_delta",
                    ",'delta':{'stop_reason':%s},'usage':{'output_tokens':9}",
                    r->call_count ? "tool_use" : "end_turn");
    anthropic_event(w, "message_stop", "");
}

/* ---- Ollama: /api/chat ---- */

/* Text and some of the calls, up to the end of the message. */
static void ollama_line(tcall_writer *w, const reply *r, const char *text,
                        int calls)
{
    put(w, "{'model':%s,'created_at':'2025-01-01T00:00:00Z'", r->model);
    put(w, ",'message':{'role':'assistant','content':%s", text);
    for (int i = 0; i < calls; i++)
        put(w, "%j{'id':%s,'function':{'name':%s,'arguments':%j}}",
            i ? "," : ",\"tool_calls\":[", r->ids[i], r->calls[i].name,
            r->calls[i].arguments);
    put(w, calls ? "]},'done':" : "},'done':");
}

static void ollama_end(tcall_writer *w, const reply *r, const char *text)
{
    ollama_line(w, r, text, r->call_count);
    put(w, "true,'done_reason':'stop','prompt_eval_count':9,'eval_count':9}\n");
}

static void ollama_whole(tcall_writer *w, const reply *r)
{
    ollama_end(w, r, r->text);
}

static void ollama_stream(tcall_writer *w, const reply *r)
{
    for (const char *p = r->text; *p;) {
        ollama_line(w, r, next_piece(&p), 0);
        put(w, "false}\n");
    }
    ollama_end(w, r, "");
}

static const struct {
    const char *path;
    format format;
    const char *type; /* of a stream */
    void (*whole)(tcall_writer *w, const reply *r);
    void (*stream)(tcall_writer *w, const reply *r);
} doors[] = {
    {"/v1/chat/completions", OPENAI, "text/event-stream", openai_whole,
     openai_stream},
    {"/v1/messages", ANTHROPIC, "text/event-stream", anthropic_whole,
     anthropic_stream},
    {"/api/chat", OLLAMA, "application/x-ndjson", ollama_whole, ollama_stream},
};

/* ---- HTTP ---- */

typedef struct http {
    char bytes[MAX_HEAD + MAX_BODY + 1]; /* a request, and what follows it */
    size_t fill;
    char path[128];
    char *body;
    size_t length;
} http;

static const char *option_key; /* --require */

/* The value of a header, as in "\r\nHost:", until the next one is asked for. */
static const char *header(const http *h, const char *name)
{
    static char value[256];
    const char *at = strcasestr(h->bytes, name);
    at = at ? at + strlen(name) : "";
    at += strspn(at, " \t");
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
    return value;
}

static bool read_more(conn *c, http *h)
{
    size_t room = sizeof h->bytes - 1 - h->fill;
    int n = room ? conn_read(c, h->bytes + h->fill, room) : 0;
    if (n > 0)
        h->fill += (size_t)n;
    h->bytes[h->fill] = '\0';
    return n > 0;
}

/* Reads until the body is there; false: it does not come, or is too long. */
static bool read_request(conn *c, http *h)
{
    char *end;
    while (!(end = strstr(h->bytes, "\r\n\r\n")))
        if (h->fill > MAX_HEAD || !read_more(c, h))
            return false;
    end[2] = '\0';
    h->body = end + 4;
    h->length = (size_t)strtoul(header(h, "\r\nContent-Length:"), NULL, 10);
    if (sscanf(h->bytes, "POST %127s HTTP/1.", h->path) != 1)
        return false;
    while (h->bytes + h->fill < h->body + h->length)
        if (h->length > MAX_BODY || !read_more(c, h))
            return false;
    return true;
}

static bool send_head(conn *c, int status, const char *type, long length)
{
    char text[256], size[48] = "Transfer-Encoding: chunked";
    if (length >= 0)
        snprintf(size, sizeof size, "Content-Length: %ld", length);
    snprintf(text, sizeof text,
             "HTTP/1.1 %d Stand-In\r\nContent-Type: %s\r\n"
             "%s\r\n\r\n",
             status, type, size);
    return conn_print(c, text);
}

/* An error as all three formats can be read. */
static bool send_error(conn *c, int status, const char *text)
{
    char body[1024] = "";
    tcall_writer w;
    tcall_writer_init(&w, body, sizeof body - 1);
    put(&w, "{'type':'error','error':{'type':'refused','message':%s}}", text);
    return send_head(c, status, "application/json", (long)w.fill) &&
           conn_print(c, body);
}

/* The same function writes the answer twice: to count it, and to send it. */
static bool send_answer(conn *c, size_t door, bool stream, const reply *r)
{
    const char *type = stream ? doors[door].type : "application/json";
    char piece[CHUNK];
    tcall_writer w;
    tcall_writer_init(&w, NULL, 0);
    doors[door].whole(&w, r);
    if (!send_head(c, 200, type, stream ? -1 : (long)w.len))
        return false;
    tcall_writer_init(&w, piece, sizeof piece);
    tcall_writer_sink(&w, stream ? conn_write_chunk : conn_write, c);
    (stream ? doors[door].stream : doors[door].whole)(&w, r);
    return tcall_writer_flush(&w) == TCALL_OK &&
           (!stream || conn_print(c, "0\r\n\r\n"));
}

static bool wrong_key(const http *h)
{
    const char *key = header(h, "\r\nX-Api-Key:");
    if (!*key)
        key = header(h, "\r\nAuthorization:");
    key += strncmp(key, "Bearer ", 7) == 0 ? 7 : 0;
    return option_key && strcmp(option_key, key) != 0;
}

static bool answer(conn *c, const http *h)
{
    static ask a;
    static reply r;
    size_t door = 0;
    tcall_json root;
    while (door < TCALL_ARRAY_LEN(doors) &&
           strcmp(h->path, doors[door].path) != 0)
        door++;
    if (door == TCALL_ARRAY_LEN(doors))
        return send_error(c, 404, "there is nothing here");
    if (wrong_key(h))
        return send_error(c, 401, "invalid API key");
    if (tcall_json_parse(&root, h->body, h->length, NULL) < 0)
        return send_error(c, 400, "the body is not JSON");
    memset(&a, 0, sizeof a);
    a.format = doors[door].format;
    require(&a, a.format != ANTHROPIC || *header(h, "\r\nAnthropic-Version:"),
            "anthropic-version: header is required");
    read_ask(&a, root);
    if (a.fault)
        return send_error(c, 400, a.fault);
    decide(&a, &r);
    return send_answer(c, door, a.stream, &r);
}

static void serve(conn *c)
{
    static http h;
    while (read_request(c, &h) && answer(c, &h) &&
           strcasecmp(header(&h, "\r\nConnection:"), "close") != 0) {
        size_t used = (size_t)(h.body + h.length - h.bytes);
        h.fill -= used;
        memmove(h.bytes, h.bytes + used, h.fill + 1);
    }
}

/* One client, in a process of its own. */
static void serve_client(mbedtls_net_context *listener, tls_server *server)
{
    static conn c;
    struct timeval limit = {300, 0} /* seconds of silence */;
    bool came = mbedtls_net_accept(listener, &c.net, NULL, 0, NULL) == 0;
    int on = 1;
    if (came && fork() == 0) {
        close(listener->fd);
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        setsockopt(c.net.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(c.net.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        srand((unsigned)time(NULL) ^ (unsigned)getpid() << 8);
        if (conn_open(&c, server))
            serve(&c);
        if (c.tls)
            mbedtls_ssl_close_notify(&c.ssl);
        _exit(0);
    }
    if (came)
        close(c.net.fd);
}

int main(int argc, char **argv)
{
    static tls_server server;
    mbedtls_net_context listener;
    struct sockaddr_in at = {0};
    socklen_t len = sizeof at;
    const char *cert = "", *key = "";
    bool plain = argc > 1 && strcmp(argv[1], "--plain") == 0;
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return puts("standin --cert FILE --key FILE | --plain "
                    "[--require KEY]\nA stand-in model on 127.0.0.1: it prints "
                    "its address, and ends with its input.") == EOF;
    for (int i = 1 + plain; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--cert") == 0)
            cert = argv[i + 1];
        else if (strcmp(argv[i], "--key") == 0)
            key = argv[i + 1];
        else if (strcmp(argv[i], "--require") == 0)
            option_key = argv[i + 1];
        else
            die("options: --plain, --cert FILE --key FILE, --require KEY");
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    if (!plain)
        tls_load(&server, cert, key);
    mbedtls_net_init(&listener);
    if (mbedtls_net_bind(&listener, "127.0.0.1", "0", MBEDTLS_NET_PROTO_TCP) ||
        getsockname(listener.fd, (struct sockaddr *)&at, &len) != 0)
        die("cannot listen on 127.0.0.1");
    printf("%s://127.0.0.1:%d\n", plain ? "http" : "https", ntohs(at.sin_port));
    fflush(stdout);
    for (;;) {
        struct pollfd wait[2] = {{listener.fd, POLLIN, 0},
                                 {STDIN_FILENO, POLLIN, 0}};
        char byte[64];
        if (poll(wait, 2, -1) > 0 && wait[1].revents &&
            read(STDIN_FILENO, byte, sizeof byte) <= 0)
            return 0;
        if (wait[0].revents)
            serve_client(&listener, plain ? NULL : &server);
    }
}
